"""Changes to a deck, new or not: what no operation names stays as it is.

blank         a new deck, and how it is written
apply         operations applied, in order, all or nothing
deck          a deck while it is edited: its slides, its layouts, and the layout that a label means
slides        slides added, moved and deleted, with the sections that list them
text_writer   titles and bodies, where a slide has its places for them
placeholders  these places, what they inherit from layout and master, and text boxes beside them
textbody      the text of a shape, rewritten so that it goes on looking as it did
formatting    formatting of runs and paragraphs as operations give it, written into properties
text_fit      text that is too long for its shape
notes         speaker notes
replacement   a text replaced wherever it stands, and where it is not reached
warnings      what a reader of the result must know, and what an edit touches without being named
"""
