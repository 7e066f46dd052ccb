"""Comparison of two versions of a deck: what differs, slide by slide, and where things went.

markup         elements as facts, by which equal contents are equal however they are written
format_names   what those facts are called where formatting differs
version        one version of a deck: its parts, their digests, its slides
matches        which slides and which shapes of two versions are the same
places         where something is, as people write it
text           paragraphs: their words and their formatting
tables         tables on slides: rows, columns, cells
charts         charts: titles, series, values
shapes         shapes: all of one, and those of a slide
slides         slides: what stands on one and what belongs to it
deck           what belongs to the whole deck: masters, sections, properties, other parts
routes         the way of a place from one version to the other
compare        the comparison; places by their titles
"""
