"""What may happen: commands, and the pure functions that answer them with events or a refusal.

`decide(state, command)` looks and never changes; the Keeper records what it returns. A refusal is a
`KbdError`. Read `commands` first, then `decide` (the one `match` over them), then the subjects:
`files`, `context`, `runs` and `calls` with what they ask of the `standing` of the active run,
`drafts`, `rewinds` (an earlier moment once more), `forks` (what another workbench takes over).
`decision` is what they return; `daemon` does the same for the daemon's own log, with `budget` for
the day's money and `watches`, with `watch_runs`, for the folders that it watches.
"""

from kbd.core.decisions.calls import refuse_client
from kbd.core.decisions.commands import (
    AbortPublish,
    AddFiles,
    ChooseModel,
    Command,
    CompletePublish,
    ConfirmDeletions,
    CreateCheckpoint,
    DiscardDraft,
    EndRun,
    FailAttempt,
    FinishCall,
    GrantConsent,
    IntendPublish,
    InterruptRun,
    Record,
    RecordCall,
    RecordRun,
    RemoveContext,
    RemoveFiles,
    RequestCancel,
    RestoreCheckpoint,
    Rewind,
    SendMessage,
    SetContext,
    StartCall,
    StartRun,
)
from kbd.core.decisions.decide import decide
from kbd.core.decisions.decision import Decision

__all__ = [
    "AbortPublish",
    "AddFiles",
    "ChooseModel",
    "Command",
    "CompletePublish",
    "ConfirmDeletions",
    "CreateCheckpoint",
    "Decision",
    "DiscardDraft",
    "EndRun",
    "FailAttempt",
    "FinishCall",
    "GrantConsent",
    "IntendPublish",
    "InterruptRun",
    "Record",
    "RecordCall",
    "RecordRun",
    "RemoveContext",
    "RemoveFiles",
    "RequestCancel",
    "RestoreCheckpoint",
    "Rewind",
    "SendMessage",
    "SetContext",
    "StartCall",
    "StartRun",
    "decide",
    "refuse_client",
]
