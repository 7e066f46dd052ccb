"""Reader of workbooks: one pass over each sheet, what it finds cached as sections of a file.

parts            a sheet's XML as a stream of pieces
features         what a sheet holds beside its cells
formulas         formulas and errors, of which the reader of values knows nothing
scan             one pass over a sheet: the guard, and all of the above
calamine         the values, as the library of that name reads them
fallback_parser  the values, where it cannot
dates            what numbers mean that are shown as dates
blocks           values packed by columns
islands          rectangles of cells with blank ones around them, and their headers
section_file     the file on the shelf
builder          a sheet, packed
sheet            what a packed sheet tells
book             a workbook: from the shelf, or from the file
display          how values are shown
"""
