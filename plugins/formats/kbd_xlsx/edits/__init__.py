"""Changes to a workbook, new or not: what no operation names stays as it is.

book         a workbook on its way to becoming another one: its sheets, its styles, its saving
results      stored results of formulas that an edit made old are taken away
apply        operations applied, in order, all or nothing
cells        values into cells: single ones, ranges, what is cleared
layout       widths, heights, panes, merges, filters
removal      a sheet taken out, where nothing refers to it
categories   amounts of several sheets, added up by category
warnings     what a reader of the result must know: pivot tables, signatures, protection
"""
