"""What `table_writer` needs to put the rows of a table into a sheet of a workbook, new or not.

spots       where on a sheet the rows go, what is emptied for them, the names at the top
neighbours  what else stands there: tables that grow along, things that are not written over
placement   puts rows on a sheet: as ready text where there are no cells, else cell by cell
text        the ready text of rows: some five times as fast as cells
row_types   what a cell holds for a value of a typed column
formatting  the style that a cell needs for what it holds
widths      how wide the columns of a new sheet are
"""
