"""Changes to a deck, new or not: what no operation names stays as it is.

blank           a new deck, and how it is written
apply           operations applied, in order, all or nothing
deck            a deck while it is edited: its slides, its layouts, what a label means among them
app_properties  the count and the titles of slides that the file tells of itself
slides          slides added, moved and deleted, with the sections that list them
duplicates      slides copied, with parts of their own where a copy is edited alone
layout_change   slides given another layout, and where their texts go there
text_writer     titles and bodies, where a slide has its places for them
placeholders    these places, what they inherit from layout and master, and text boxes beside them
textbody        the text of a shape, rewritten so that it goes on looking as it did
formatting      formatting of runs and paragraphs as operations give it, written into properties
found_shapes    shapes found by id or name, and what is told where there is none
new_places      where something new goes: a placeholder that it takes over, or free room
tables          tables added, their cells set, rows put in and taken out
table_styles    styles of tables by name
charts          charts added, and their data and titles changed
chart_data      the data of a chart, and the workbook behind it
chart_markup    the elements of charts
chart_types     a chart made one of another type
preview_picture  what the preview in the file still shows
pictures        pictures put onto slides, or in the place of others
drawn_shapes    text boxes and shapes added; shapes moved, resized and described
text_fit        text that is too long for its shape
fit_warnings    what is told of text that does not fit
fonts           fonts that are installed, which measure what is told
notes           speaker notes
replacement     a text replaced wherever it stands, and where it is not reached
template        placeholders filled, rows and paragraphs repeated for records
warnings        what a reader of the result must know, and what an edit touches without being named
"""
