"""Reader of documents: one pass finds what is in a document, map and text are made of that.

    document_map     the map, and the few facts that cost little
    regions          the text of sections and chunks, with tables and pictures
    document         what is found: sections, chunks, tables, pictures
    builder          a document read from the first paragraph to the last, its notes, its margins
    sections         sections and chunks put together
    stories          the text of the body, a header, a note
    tables           tables as text and as rows
    drawings         pictures, charts and objects in words
    graphics         what charts and diagrams say
    fields           fields, whose results are read
    mathematics      formulas in one line
    symbols          signs of fonts that have pictures for letters
    findings         what stories hold beside text
    lists            the labels of lists
    styles           what styles say of headings, lists and hidden text
    parts            the parts that belong to a part
    names            the names of elements and attributes

Time and memory are linear in the text, whatever a file claims.
"""
