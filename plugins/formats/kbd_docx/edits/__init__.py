"""Changes to a document, new or not: what no operation names stays as it is.

apply        operations applied, in order, all or nothing; warnings of what they touch unnamed
document     a document while it is edited: its body, and paragraphs and tables made for it
paragraphs   operations on paragraphs
tables       operations on tables
lists        paragraphs made items of lists
comments     operations on comments
images       pictures of the workbench put in
hyperlinks   links
bookmarks    bookmarks
notes        footnotes and endnotes; `note_lines` are the lines above them
fields       fields, and tables of contents
sections     sections of pages, their headers and footers
controls     content controls filled in; `bound_data` is what they show
replacement  text replaced in body, headers, footers and notes
formatting   formatting of runs and paragraphs as operations give it, and styles that they name
texts        text as documents hold it, and values that the strict variant spells otherwise
reach        what the document still reaches out to after an edit
ranges       words of a paragraph, cut out as runs of their own
inline       runs put behind words of a paragraph
library_parts
             parts beside the main one, found, made and dropped
settings     settings switched on
builtin_styles
             styles that every program knows, added where they are missing
removal      content taken out without breaking what goes on around it, and what goes with it
blank        the document that new ones begin as
"""
