"""Search over documents, usable as a library without a daemon; the daemon's tools use it, too.

catalogue   what is in an index: documents and pieces
calling     arguments of a tool, checked against the registry
documents   Document, Chunk
embedding   vectors that are missing, made and kept
finding     from a query to the nearest pieces
folder      the documents of a folder
generation  any object with `generate()` as a model
grids       tables that stand in text (`summaries`)
index       an index that is open, and which one is used
indexfile   the files of an index: made, opened, replaced
lent        what an engine is given: files, a reader of their text, an embedder
local       a worker and an embedder of this machine, for the library
lookup      a workbench's documents as one call sees them
meanings    vectors: which are missing, and all in memory
ranking     one order from what words and meanings found
reading     how the daemon's engines read documents
rooms       the engines that are open, one a workbench
searching   the engine
sentences   text as headings, sentences, items and tables
stop_words  words that say nothing of what a text is about
summaries   a shorter text, of a text's own sentences
titles      which document is meant by an id or a title
tokenizer   text as terms of an index, a query as an expression over them
tools       WorkspaceTools, TOOL_REGISTRY
updating    bringing an index up to date
vectors     a table of what pieces mean
"""

from kbd.core.workspace.documents import Chunk, Document
from kbd.core.workspace.searching import WorkspaceEngine
from kbd.core.workspace.tools import TOOL_REGISTRY, WorkspaceTools

__all__ = ["TOOL_REGISTRY", "Chunk", "Document", "WorkspaceEngine", "WorkspaceTools"]
