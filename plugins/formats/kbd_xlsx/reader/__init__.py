"""Looking into workbooks: once into each, what is found kept on a shelf, whole or a part at a time.

parts      a sheet's XML as a stream of pieces
features   what a sheet holds beside its cells
formulas   formulas and errors, of which the reader of values knows nothing
scan       one pass over a sheet: the guard, and all of the above
calamine   the values, as the library of that name reads them
parsed     the values, where it cannot
moments    what numbers mean that are shown as dates
blocks     values packed by columns
islands    rectangles of cells with blank ones around them, and their headers
keeping    the file on the shelf
building   a sheet, packed
sheet      what a packed sheet tells
book       a workbook: from the shelf, or from the file
shown      how values are shown
"""
