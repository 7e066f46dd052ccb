"""Edits of a workbook's objects, each of which keeps what it is not asked to change.

comments             comments of cells, with the drawing in which programs show them
conditional_formats  rules by which cells are formatted
formulas             checks of formulas that stand outside of cells
hyperlinks           links of cells
names                defined names
pivots               pivot tables that are brought up to date when they are opened
print_setup          how a sheet is printed
protection           what people may change on a sheet
ranges               elements that stand for ranges, cut where another one takes their place
removal              objects taken off the cells of a range
tables               tables: made and resized
validations          what people may enter
"""
