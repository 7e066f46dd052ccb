"""The parts of a workbook, changed so that what an edit does not name stays byte for byte.

book            the workbook part, and the parts of tables
stylesheet      the styles: formatting is added, indices never move
style_elements  the sections of the styles, and changed copies of their elements
formatting      style objects of operations, and the built-in number formats
cells           edits of cells, their areas, and the XML of a cell
shared_strings  which shared strings cells use, and items made empty
app_properties  the titles of sheets in the properties
sheet           one worksheet: what is to change, merged cells, and the part as it will be

The worksheet is made of these, the lowest first:

markup          tags and attributes as bytes
outline         where the pieces of a part lie, and its rows and cells
row_pieces      rows cut before each cell, where their form is the usual one
formulas        shared formulas, arrays, data tables
sheet_elements  the elements around the rows: widths, frozen panes and others
result_writer   results of formulas written or taken out
row_writer      rows written anew
row_styles      styles of whole rows
cell_blocks     cells taken from their places and put into others
shared_items    the texts that cells share, read only
stored_cells    what the cells of an area hold in the file
contents        what a sheet holds once its edits are made
"""
