"""Rows and columns put in or taken out, with every reference of the workbook carried along.

line_map     which line of a sheet becomes which: the map that all else follows
formulas     references of formulas, moved by a map
markup_tree  elements of a part found in its bytes, changed where they stand
cells        the rows and cells of a sheet: their names, their formulas
surroundings what stands around the rows: merges, rules, links, views, widths
anchors      where drawings stand
objects      drawings, charts, comments, controls, sources of pivot tables
tables       tables and pivot tables
report       what was lost on the way
"""
