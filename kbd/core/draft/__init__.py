"""Files on disk: what a name may be, one confined root, and the projections of the log.

Read in this order: `names` (what a path of a client or a model may mean), `sandbox` (the only way
to a file below a root), `blobs` (bytes by hash, without blocking the loop), `store` (published/ and
draft/ of one workbench), `files` (what one tool call sees and writes), `listing` (what a listing
shows of one), `recall` (earlier results), `extract` (copies outside).
"""

from kbd.core.draft.blobs import Blobs
from kbd.core.draft.files import CallFiles
from kbd.core.draft.listing import describe_file
from kbd.core.draft.names import file_name
from kbd.core.draft.recall import LogRecall
from kbd.core.draft.sandbox import ConfinedRoot
from kbd.core.draft.store import FileStore

__all__ = [
    "Blobs",
    "CallFiles",
    "ConfinedRoot",
    "FileStore",
    "LogRecall",
    "describe_file",
    "file_name",
]
