"""Text of OpenDocument files, whatever they hold beside it: paragraphs, lists, tables, drawings.

    renderer  renders paragraphs and tables, with what stands among them in brackets
    styles    what styles say of a text: hidden, seen, and how lists are labeled
    looks     the colors and sizes of letters and what is behind them
    pieces    reads a part in pieces
    pages     what pages of texts are painted with

It does not know which kind of file it reads.
"""
