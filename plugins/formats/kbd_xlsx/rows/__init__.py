"""What `filling` needs to put the rows of a table into a sheet of a workbook, new or not.

spots       where on a sheet the rows go, and what is emptied for them
neighbours  what else stands there: tables that grow along, things that are not written over
placing     puts rows on a sheet: as ready text where there are no cells, else cell by cell
header      the names that a sheet has at its top
text        the ready text of rows: some five times as fast as cells
typed       what a cell holds for a value of a typed column
formatting  the style that a cell needs for what it holds
widths      how wide the columns of a new sheet are
"""
