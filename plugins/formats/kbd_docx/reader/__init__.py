"""Reader of documents: one pass finds what is in a document, map and text are made of that.

    document_map     the map, and the few facts that cost little
    regions          the text of sections and chunks, with tables and pictures
    contents         what is found, as records: sections, chunks, tables, pictures
    builder          a document read from the first paragraph to the last, its notes, its margins
    stories          the text of the body, a header, a note; fields, whose results are read
    tables           tables as text and as rows
    drawings         pictures, charts, diagrams and objects in words
    symbols          signs of fonts that have pictures for letters, and formulas in one line
    findings         what stories hold beside text
    styles           what styles say of headings and hidden text, and the labels of lists
    unseen           text in the color of what is behind it, too small to be read, off the page
    boxes            what is behind the text of boxes, and whether these are on the page
    controls         content controls, with the paragraphs where they begin
    change_marks     paragraphs with tracked changes shown in their text
    direct_formatting
                     formatting that paragraphs have beside their styles
    table_styles     what styles of tables put behind cells

Time and memory are linear in the text, whatever a file claims.
"""
