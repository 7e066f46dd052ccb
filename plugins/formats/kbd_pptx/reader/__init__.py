"""Reader of slide decks: their map, the text of their slides, and the objects on them.

names       the names of elements and relations
parts       parts parsed as they are asked for, within what a deck may hold
boxes       where things are on a slide, inside of groups, too
layouts     layouts and masters: what placeholders of slides take from them
deck        a deck: size, slides, sections, masters
shapes      the shapes of a slide, with those inside of groups
order       the order in which a reader goes over them
text        paragraphs as lines, with bullets and levels
tables      tables as rows
charts      charts with the values that they show
links       what a slide points to
notes       notes and comments
slide       all of one slide, with the text of SmartArt
slide_text  a slide as text
deck_map    the map
regions     regions, objects as plain values, and passages
"""
