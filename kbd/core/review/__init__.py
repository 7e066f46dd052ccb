"""What a person decides about a draft: publish it, or take files out of the workbench.

`publish` (crash-safe, with intent and outcome), `returning` (an earlier moment once more: undo and
restore), `extracting` (copies into a folder of the user's) and `written` (what kbd writes where
people watch). The change set is a query; discarding and confirming are plain commands.
"""

from kbd.core.review.extracting import extract_files, forget_effects
from kbd.core.review.publish import carry_out, publish
from kbd.core.review.returning import Returned, restore_checkpoint, rewind_to
from kbd.core.review.written import note_written

__all__ = [
    "Returned",
    "carry_out",
    "extract_files",
    "forget_effects",
    "note_written",
    "publish",
    "restore_checkpoint",
    "rewind_to",
]
