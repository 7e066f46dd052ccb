"""Changes to a document, new or not: what no operation names stays as it is.

apply        operations applied, in order, all or nothing; warnings of what they touch unnamed
document     a document while it is edited: its body, and paragraphs and tables made for it
paragraphs   operations on paragraphs
tables       operations on tables
changes      tracked changes accepted or rejected
template     placeholders filled, and rows repeated for records
replacement  text replaced in body, headers, footers and notes
formatting   formatting of runs and paragraphs as operations give it, and styles that they name
texts        text as documents hold it, and values that the strict variant spells otherwise
reach        what the document still reaches out to after an edit
removal      content taken out without breaking what goes on around it, and what goes with it
blank        the document that new ones begin as
"""
