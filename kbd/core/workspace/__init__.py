"""Search over documents, usable as a library without a daemon; the daemon's tools use it, too.

    commonwords words that say nothing of what a text is about
    documents   Document, Chunk
    grids       tables that stand in text (`summaries`)
    lent        what an engine is given: files, a reader of their text, an embedder
    lookup      a workbench's documents as one call sees them
    ranking     one order from what words and meanings found
    reading     how the daemon's engines read documents
    rooms       the engines that are open, one a workbench
    searching   the engine
    sentences   text as headings, sentences, items and tables
    summaries   a shorter text, of a text's own sentences
    titles      which document is meant by an id or a title
    vectors     a table of what pieces mean
    words       text as terms of an index, a query as an expression over them
"""

from kbd.core.workspace.documents import Chunk, Document

__all__ = ["Chunk", "Document"]
