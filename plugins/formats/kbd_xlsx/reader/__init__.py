"""Reader of workbooks: one pass over each sheet, what it finds cached as sections of a file.

parts            a sheet's XML as a stream of pieces, and the extent of its cells
features         what a sheet holds beside its cells, and its islands with their headers
formulas         formulas and errors, of which the reader of values knows nothing
cell_currencies  currencies of cells by their number formats
cell_looks       colors, grounds and number formats of cells, and what they hide
unseen           where cells are whose look may hide what they hold
conditions       conditional formats that may, and whether one applies
rich_text        runs within a cell that are not seen
sheet_sight      what is not seen of an area, of all that together
merged_rows      merged ranges, emptied but for the first cell
fallback_parser  the values, where calamine cannot read them
blocks           values packed by columns, and how they are shown
section_file     the file on the shelf
plain_cells      values of plain cells, searched for in their bytes
book_values      the values of all others, by calamine
builder          a sheet in one pass, packed
book             a workbook and its sheets: from the shelf, or from the file
"""
