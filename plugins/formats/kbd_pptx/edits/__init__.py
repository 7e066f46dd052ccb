"""Changes to a deck, new or not: what no operation names stays as it is.

blank         a new deck, and how it is written
apply         operations applied, in order, all or nothing
deck          a deck on its way to becoming another one: its slides and its layouts
new_slide     a new slide in one of the deck's layouts
layouts       the layout that a label means
text_writer   titles and bodies, where a slide has its places for them
placeholders  these places, and what they take over from layout and master
textboxes     text boxes for text that has no place
textbody      the text of a shape, rewritten so that it goes on looking as it did
lines         texts taken apart into paragraphs
formatting    formatting of runs and paragraphs as operations give it
text_properties  the same, written into properties
text_fit      text that is too long for its shape
notes         speaker notes
replacement   a text replaced wherever it stands, and where it is not reached
order         slides moved and deleted
sections      the sections that list slides
percentages   how the strict variant writes them
warnings      what a reader of the result must know, and what an edit touches without being named
"""
