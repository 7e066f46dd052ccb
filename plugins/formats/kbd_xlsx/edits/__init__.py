"""Changes to a workbook, new or not: what no operation names stays as it is.

book         a workbook while it is edited: its sheets, its styles, its warnings, its saving
apply        operations applied, in order, all or nothing
cells        values into cells: single ones, ranges, what is cleared
leftovers    deleted texts that stay elsewhere in the file: erased, or named
totals       results of plain totals, worked out and stored
reach        what the workbook still reaches out to after an edit
sheets       widths, heights, panes, merges, filters, and a sheet's deletion
categories   amounts of several sheets, added up by category
"""
