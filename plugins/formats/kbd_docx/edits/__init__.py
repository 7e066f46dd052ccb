"""Changes to a document, new or not: what no operation names stays as it is.

apply          operations applied, in order, all or nothing; warnings of what they touch unnamed
document       a document while it is edited: its body, and paragraphs and tables made for it
paragraphs     operations on paragraphs
tables         operations on tables: new ones, and what cells hold
table_looks    operations on how tables and ranges of their cells look
table_lines    operations on the rows of tables
table_columns  operations on the columns of tables, and on merged cells
table_grid     tables by rows and columns: which cell covers which places
widths         widths of the text and of the columns of tables
changes        tracked changes accepted or rejected
template       placeholders filled, and rows repeated for records
replacement    text replaced in body, headers, footers and notes
formatting     formatting of runs, paragraphs and cells as operations give it, and styles by name
looks          looks put on paragraphs, on the runs in them, and on cells
likeness       paragraphs, rows and cells that look like others
settings       settings of tables, rows, cells and paragraphs, put where the schema has them
texts          text as documents hold it, and values that the strict variant spells otherwise
reach          what the document still reaches out to after an edit
removal        content taken out without breaking what goes on around it, and what goes with it
leftovers      what an edit would leave behind of what it deletes: remarks and copies
lists          paragraphs made items of lists
comments       operations on comments
images         pictures of the workbench put in
hyperlinks     links
bookmarks      bookmarks
notes          footnotes and endnotes; `note_lines` are the lines above them
fields         fields, and tables of contents
sections       sections of pages, their headers and footers
controls       content controls filled in; `bound_data` is what they show
ranges         words of a paragraph, cut out as runs of their own
inline         runs put behind words of a paragraph
library_parts  parts beside the main one, found, made and dropped
document_settings
               settings of the document switched on
builtin_styles
               styles that every program knows, added where they are missing
blank          the document that new ones begin as
"""
