"""What is true, as records folded from the log: nothing here does I/O or decides anything.

Read in this order: `drafts` and `runs` (the parts), `workbench` (the whole of one workbench),
`fold` (how each event changes it, with `fold_runs`, `fold_drafts` and `fold_conversation`),
`daemon` (what the daemon's own log says), with `watches` (one watched folder) and `fold_watches`;
`readable` writes what people read of it.

State is the only mutable thing of the pure floors, and only the folds change it.
"""

from kbd.core.state.daemon import DaemonState, KnownWorkbench, Spent, fold_daemon
from kbd.core.state.drafts import Checkpoint, Draft, DraftFile
from kbd.core.state.fold import fold_workbench
from kbd.core.state.runs import (
    Chain,
    Item,
    ItemState,
    Notice,
    Plan,
    Run,
    RunError,
    RunStatus,
    Turn,
    item_label,
)
from kbd.core.state.watches import Ended, Landing, LandingStage, Watch, WatchStatus
from kbd.core.state.workbench import (
    Consent,
    ContextItem,
    Delivered,
    FileEntry,
    Measured,
    Parent,
    Said,
    SeenFile,
    WorkbenchState,
    folded_name,
)

__all__ = [
    "Chain",
    "Checkpoint",
    "Consent",
    "ContextItem",
    "DaemonState",
    "Delivered",
    "Draft",
    "DraftFile",
    "Ended",
    "FileEntry",
    "Item",
    "ItemState",
    "KnownWorkbench",
    "Landing",
    "LandingStage",
    "Measured",
    "Notice",
    "Parent",
    "Plan",
    "Run",
    "RunError",
    "RunStatus",
    "Said",
    "SeenFile",
    "Spent",
    "Turn",
    "Watch",
    "WatchStatus",
    "WorkbenchState",
    "fold_daemon",
    "fold_workbench",
    "folded_name",
    "item_label",
]
