"""Changes to a document, new or not: what no operation names stays as it is.

apply        operations applied, in order, all or nothing
document     a document while it is edited
body         its paragraphs and tables, counted, and how more come in
paragraphs   operations on paragraphs
tables       operations on tables
stories      all text of a document, for replacing: body, headers, footers, notes
flow         a paragraph as the text that people see, and where each piece of it stands
replacing    text replaced in a flow
writing      paragraphs and tables made as operations describe them
formatting   formatting of runs and paragraphs as operations give it
styles       styles that operations name: found, or taken over from the template
variants     values that the strict variant spells otherwise
texts        text as documents hold it
removal      content taken out without breaking what goes on around it
losses       what goes with content beside its text, in words
blank        the document that new ones begin as
warnings     what an edit touches without being named: signatures, protection, tracking
"""
