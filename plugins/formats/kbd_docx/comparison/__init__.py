"""Comparison of documents: what differs between two versions, where, and where a place has gone.

    document_comparison   the comparison, top to bottom; a place by its text
    place_traces          where places of one version are in the other
    version               a version, opened: its body by blocks, its notes
    body                  the blocks of a body with cheap keys, in one pass
    digests               digests of XML and parts, in which how they are written does not count
    contents              what paragraphs hold, as records
    lists                 which lists of two versions are the same
    paragraphs            a paragraph read: text apart from formatting
    looks                 formatting in people's words
    drawn                 pictures, charts and text boxes in paragraphs
    matches               which items of two versions are the same, which moved
    differences           what differs between two paragraphs, as changes
    tables                tables by row and cell
    surroundings          headers, footers, notes and comments
    references            what lies outside of the file and is shown or fetched
    definitions           styles, lists, pages, settings, properties, other parts
    places                places and their titles

A paragraph's number is that of the map, the readings and the operations: over the whole body, from
1 in titles and from 0 in `Place.paragraph`; paragraphs in tables and text boxes are not counted.

Time is that of one pass through both files, beside what differs: paragraphs whose XML is the same
are not interpreted.
"""
