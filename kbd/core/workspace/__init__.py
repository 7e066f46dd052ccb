"""Search over documents, usable as a library without a daemon; the daemon's tools use it, too.

    documents   Document, Chunk
    lent        what an engine is given: files, a reader of their text, an embedder
    lookup      a workbench's documents as one call sees them
    ranking     one order from what words and meanings found
    reading     how the daemon's engines read documents
    rooms       the engines that are open, one a workbench
    searching   the engine
    vectors     a table of what pieces mean
    words       text as terms of an index, a query as an expression over them
"""

from kbd.core.workspace.documents import Chunk, Document

__all__ = ["Chunk", "Document"]
