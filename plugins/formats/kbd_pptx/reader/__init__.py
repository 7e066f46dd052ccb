"""Reader of slide decks: their map, the text of their slides, and the objects on them.

boxes     where things are on a slide, inside of groups, too
deck      a deck: size, slides, sections, masters and layouts
shapes    the shapes of a slide, with those inside of groups, and their reading order
text      paragraphs as lines, with bullets and levels, and tables as rows
charts    charts with the values that they show
unseen    text in the color of what is behind it, covered, cut off or too small
layout_look  what slides take from their layout and master: colors, fills, drawings
table_look   what cells take from the style of their table
notes     notes, comments, and what a slide points to
slide     all of one slide, with the text of SmartArt, and the slide as text
deck_map  the map
regions   regions, objects as plain values, and passages
"""
