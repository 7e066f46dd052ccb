"""Search over documents for programs without a daemon; the daemon's own tools use the same engine.

`WorkspaceEngine` keeps an index of a folder's documents and searches it, `WorkspaceTools` offers
that to a model as tools, which `TOOL_REGISTRY` describes. What stands behind them is in
`kbd.core.search`.
"""

from kbd.core.search.documents import Chunk, Document
from kbd.core.search.engine import WorkspaceEngine
from kbd.core.search.tools import TOOL_REGISTRY, WorkspaceTools

__all__ = ["TOOL_REGISTRY", "Chunk", "Document", "WorkspaceEngine", "WorkspaceTools"]
