"""Search over documents, usable as a library without a daemon; the daemon's tools use it, too.

documents   Document, Chunk
lent        what an engine is given: files, a reader of their text, an embedder
"""

from kbd.core.workspace.documents import Chunk, Document

__all__ = ["Chunk", "Document"]
