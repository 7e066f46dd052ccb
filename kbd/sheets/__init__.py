"""Sheets of cells, whatever file they are in: formats of workbooks share it.

areas          cells and ranges in A1 style
values         values of cells, and how they are shown
islands        rectangles of filled cells, and whether their first row names columns
cells          what a reader of a sheet offers
table_extent   the table of a sheet: its cells, its names, what else the sheet holds
aggregates     formulas of a table that sum up others of their columns
repeated_headers  the header where it stands again between the rows
row_forms      rows by what they have
table_columns  names and types of a table's columns
table_rows     what is seen of a table's rows, and the table made of it
stored_texts   texts among the numbers or dates of a column
grid_text      an area as text and as typed values
sheet_names    names that sheets may have, legal and unique
sheet_map      a sheet's used range, islands and chunks
"""
