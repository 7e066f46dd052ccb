"""Vocabulary of the log: every type of event, once, as one closed union.

A name here is for ever: it is what stands on disk. Deltas, progress and spinners are not events.
Plugins cannot add types, so a log reads with no plugin installed.
"""

from kbd.events.drafts import (
    CheckpointCreated,
    CheckpointRestored,
    DeletionConfirmed,
    DraftDiscarded,
    DraftOpened,
    EffectAborted,
    EffectDone,
    EffectIntended,
    FileChanged,
    PublishAborted,
    PublishCompleted,
    PublishIntended,
)
from kbd.events.runs import (
    ItemCompleted,
    ItemFailed,
    ItemRetried,
    ItemsAdded,
    ItemsRefused,
    ItemStarted,
    ModelFailed,
    ModelReplied,
    ModelRequested,
    NoticeGiven,
    PhaseCompleted,
    PhaseStarted,
    PlanWritten,
    ResearchWritten,
    RunCancelled,
    RunCancelRequested,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunResumed,
    RunStarted,
    SummaryWritten,
    ToolCalled,
    ToolRefused,
    ToolReturned,
)
from kbd.events.watches import (
    FileLanded,
    FilesPassedOver,
    FilesWritten,
    LandingsDismissed,
    LandingsParked,
    LandingsRetried,
    WatchAdded,
    WatchCommandEnded,
    WatchPaused,
    WatchRemoved,
    WatchResumed,
    WatchRunFinished,
    WatchRunStarted,
    WatchSuspended,
)
from kbd.events.workbenches import (
    AssistantMessageAdded,
    BudgetCharged,
    BudgetReserved,
    ConsentGranted,
    ContextRemoved,
    ContextSet,
    ConversationRewound,
    DaemonStarted,
    DaemonStopped,
    FileAdded,
    FileRemoved,
    LogRepaired,
    ModelChosen,
    PluginLeftOut,
    PluginLoaded,
    RequestSent,
    SettingChanged,
    UserMessageAdded,
    WorkbenchCreated,
    WorkbenchDeleted,
    WorkbenchForked,
)

__all__ = ["VERSIONS", "Event"]

Event = (
    WorkbenchCreated
    | WorkbenchDeleted
    | FileAdded
    | FileRemoved
    | ConsentGranted
    | ModelChosen
    | UserMessageAdded
    | AssistantMessageAdded
    | RunStarted
    | RunResumed
    | RunInterrupted
    | RunCancelRequested
    | RunCancelled
    | RunFailed
    | RunFinished
    | PhaseStarted
    | PhaseCompleted
    | ResearchWritten
    | PlanWritten
    | ItemStarted
    | ItemCompleted
    | ItemRetried
    | ItemFailed
    | ItemsAdded
    | ItemsRefused
    | SummaryWritten
    | ModelRequested
    | ModelReplied
    | ModelFailed
    | ToolCalled
    | ToolReturned
    | ToolRefused
    | DraftOpened
    | FileChanged
    | DraftDiscarded
    | DeletionConfirmed
    | PublishIntended
    | PublishCompleted
    | PublishAborted
    | CheckpointCreated
    | EffectIntended
    | EffectDone
    | EffectAborted
    | DaemonStarted
    | DaemonStopped
    | PluginLoaded
    | PluginLeftOut
    | LogRepaired
    | WatchAdded
    | FilesPassedOver
    | WatchRemoved
    | WatchPaused
    | WatchSuspended
    | WatchResumed
    | FileLanded
    | WatchRunStarted
    | WatchRunFinished
    | LandingsParked
    | LandingsRetried
    | LandingsDismissed
    | WatchCommandEnded
    | FilesWritten
    | WorkbenchForked
    | ContextSet
    | ContextRemoved
    | ConversationRewound
    | CheckpointRestored
    | NoticeGiven
    | RequestSent
    | SettingChanged
    | BudgetReserved
    | BudgetCharged
)
"""Everything that can be recorded."""

VERSIONS: dict[type, int] = dict.fromkeys(Event.__args__, 1)
"""The version in which each type is written today; what is older is lifted when it is read."""
