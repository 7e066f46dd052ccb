"""Reader of documents: one pass finds what is in a document, map and text are made of that.

    mapping          the map, and the few facts that cost little
    reading          the text of sections and chunks, with tables and pictures
    section_lookup   which section is meant
    document         what is found: sections, chunks, tables, pictures
    builder          a document looked through, from the first paragraph to the last
    sections         sections and chunks put together
    stories          the text of the body, a header, a note
    tables           tables as text and as rows
    drawings         pictures, charts and objects in words
    graphics         what charts and diagrams say
    fields           fields, whose results are read
    mathematics      formulas in one line
    symbols          signs of fonts that have pictures for letters
    notes            footnotes, endnotes, comments
    headers_footers  headers and footers
    findings         what stories hold beside text
    lists            the labels of lists
    styles           what styles say of headings, lists and hidden text
    parts            the parts that belong to a part
    names            the names of elements and attributes

Time and memory are linear in the text, whatever a file claims.
"""
