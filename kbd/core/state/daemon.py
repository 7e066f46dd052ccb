"""What the daemon's own log says: which workbenches, plugins and watched folders there are."""

from collections.abc import Callable
from typing import Any

import msgspec

from kbd.core.state.fold_watches import WATCH_FOLDS
from kbd.core.state.watches import Watching
from kbd.events.base import Recorded
from kbd.events.workbenches import (
    DaemonStarted,
    DaemonStopped,
    LogRepaired,
    ModelChosen,
    PluginLeftOut,
    PluginLoaded,
    WorkbenchCreated,
    WorkbenchDeleted,
)
from kbd.types import Seq, WorkbenchId

__all__ = ["DAEMON_FOLDS", "DaemonState", "KnownWorkbench", "fold_daemon"]


class KnownWorkbench(msgspec.Struct, frozen=True):
    """A workbench as the daemon's log knows it."""

    workbench_id: WorkbenchId
    name: str
    created_at_us: int


class DaemonState(msgspec.Struct):
    """Everything that is true of the daemon after the event `seq`."""

    seq: Seq = Seq(0)
    epoch: int = 0
    model_id: str | None = None
    workbenches: dict[WorkbenchId, KnownWorkbench] = {}
    plugins: dict[str, str] = {}
    watching: Watching = msgspec.field(default_factory=Watching)


def _created(state: DaemonState, record: Recorded) -> None:
    data: WorkbenchCreated = record.data
    state.workbenches[data.workbench_id] = KnownWorkbench(
        data.workbench_id, data.name, record.ts_us
    )


def _deleted(state: DaemonState, record: Recorded) -> None:
    data: WorkbenchDeleted = record.data
    state.workbenches.pop(data.workbench_id, None)


def _started(state: DaemonState, record: Recorded) -> None:
    data: DaemonStarted = record.data
    state.epoch = data.epoch


def _loaded(state: DaemonState, record: Recorded) -> None:
    data: PluginLoaded = record.data
    state.plugins[data.name] = data.version


def _left_out(state: DaemonState, record: Recorded) -> None:
    data: PluginLeftOut = record.data
    state.plugins[data.name] = f"left out: {data.reason}"


def _chosen(state: DaemonState, record: Recorded) -> None:
    data: ModelChosen = record.data
    state.model_id = data.model_id


def _nothing(state: DaemonState, record: Recorded) -> None:
    """Change nothing: the fact is for readers of the log."""


DAEMON_FOLDS: dict[type, Callable[[DaemonState, Any], None]] = {
    WorkbenchCreated: _created,
    WorkbenchDeleted: _deleted,
    DaemonStarted: _started,
    DaemonStopped: _nothing,
    PluginLoaded: _loaded,
    PluginLeftOut: _left_out,
    ModelChosen: _chosen,
    LogRepaired: _nothing,
}
"""What each event of the daemon's log changes, with `WATCH_FOLDS`; others do not occur in it."""


def fold_daemon(state: DaemonState, seq: Seq, record: Recorded) -> None:
    """Change the state as an event says; an event of another log changes nothing."""
    kind = type(record.data)
    if (fold := DAEMON_FOLDS.get(kind)) is not None:
        fold(state, record)
    elif (fold_watch := WATCH_FOLDS.get(kind)) is not None:
        fold_watch(state.watching, seq, record)
    state.seq = seq
