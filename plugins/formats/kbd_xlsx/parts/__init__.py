"""The parts of a workbook, changed so that what an edit does not name stays byte for byte.

book        the workbook part: its sheets, its names
table       the part of a table on a sheet
stylesheet  the styles: looks are added, indices never move; what it needs is beside it: adoption,
            blankstyles, formatting, numberformats, pool, style_elements, styletables
cells       what an edit writes into a cell, and its XML
sheet       one worksheet: what is to change, merged cells, and the part as it will be

The worksheet is made of these, the lowest first:

markup      tags and attributes as bytes
areas       areas among very many
outline     where the pieces of a part lie, and whether it can be spliced
rows        its rows and cells
pending_cells  edits of cells until they are made
formulas    shared formulas, arrays, data tables
columns     widths, and styles that cells inherit
views       frozen panes
splices     rows written anew
body        all rows together
contents    what a sheet holds once its edits are made
ends        the elements around the rows
"""
