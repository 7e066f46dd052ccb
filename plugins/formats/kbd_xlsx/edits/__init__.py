"""Changes to a workbook, new or not: what no operation names stays as it is.

book            a workbook while it is edited: its sheets, its styles, its warnings, its saving
apply           operations applied, in order, all or nothing
cells           values into cells: single ones, ranges, what is cleared
figure_texts    dates and percents that are given as texts, typed by the column's look
style_mistakes  keys and values of styles whose right form is plain
formula_names   functions, sheets, names and tables in formulas, which must exist
focus           where a person looks first
leftovers       deleted texts that stay elsewhere in the file: erased, or named
reach           what the workbook still reaches out to after an edit
ranges          operations on ranges as a whole
sheets          widths, heights, panes, merges, filters, and a sheet's deletion
tabs            operations on sheets among the others
objects         tables, names, rules, links, comments, print settings, protection
charts          charts made, changed and deleted
chart_points    what charts store of cells, brought up to date
images          pictures put onto sheets, and taken off them
pivot_sources   the cells of which pivot tables keep a copy
results         what changed, so that stored results are old
lines           rows and columns put in or taken out, with all that refers to them
row_search      rows that meet a condition, and their deletion
templates       placeholders filled, and rows repeated for records
categories      amounts of several sheets, added up by category
"""
