"""Office files made of XML in a package: what their formats do alike, on top of `kbd.opc`.

    handler      a handler that is a table of what does the work of each capability
    operations   operation records applied in order, by a table; an edit's warnings
    templates    placeholders of texts, and what they are filled with
    suffixes     what a suffix promises: macros, a template
    assets       what a call names to be copied; parts copied with all that they are related to
    formatting   lenient reader of fonts, sizes, colors and alignments in operations
    active_content  what a package refers to, runs, fetches or embeds
    reach        what a package still reaches out to after an edit
    receipts     facts for receipts: parts by their hashes, changed ones by what they hold
    theme        colors and fonts of themes, and what a color of a drawing comes to
    open_document  package of an OpenDocument file, and the names in it
    open_text    the text of such files: paragraphs, lists, tables, what is seen of them
    open_active  what such a file runs, fetches or has embedded
    pictures     pictures that are put in: what they are by their bytes, and how large
    paint        the colors that a fill of a drawing shows, and letters on them

A format plugin brings what truly differs (its elements, its places, its operations) and takes the
rest from here. But for `handler`, only modules that a worker preloads import it.
"""
