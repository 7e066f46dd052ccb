"""Words for the events of a restore, for a start, and for what a person confirmed after one."""

import shlex
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from kbd.core.domain.event_context import EventContext
from kbd.core.domain.watch_text import WATCH_DIGITS
from kbd.events import restores, watches, workbenches

__all__ = ["RESTORE_TEXTS", "home_warning"]


def _home_restored(data: restores.HomeRestored, _context: EventContext) -> str:
    when = data.created_at[:16].replace("T", " ")
    return (
        f"home restored from a backup of {when} UTC: consent is asked for, and every watch is "
        "paused until a person resumes it"
    )


def home_warning(started: workbenches.DaemonStarted) -> str:
    """Return what a person should know of a home that is not where it was known; "" for nothing."""
    known = started.known_at
    if known is None:
        return ""
    told = f"{known.folder} (device {known.device}, inode {known.inode})"
    if started.is_copy:
        return (
            f"this home is a copy of {told}, which is there, too: both watch the same folders and "
            "know the same consents; `kbd backup` and `kbd restore` make one that does not"
        )
    return f"this home was moved, copied or restored: it was known at {told}"


def _started(data: workbenches.DaemonStarted, _context: EventContext) -> str:
    warning = home_warning(data)
    start = f"daemon {data.engine_version} started, process {data.pid}, {data.backend}"
    return f"{start}; {warning}" if warning else start


def _resumed(data: watches.WatchResumed, _context: EventContext) -> str:
    consent = ", with consent" if data.consent else ""
    return f"watch {data.watch_id[:WATCH_DIGITS]} resumed{consent}{_confirmed(data.confirmed)}"


def _confirmed(confirmed: watches.RuleConfirmation | None) -> str:
    if confirmed is None:
        return ""
    named = [f"command {shlex.join(confirmed.on_outcome)}"] if confirmed.on_outcome else []
    named += [f"publish {confirmed.publish}"] if confirmed.publish else []
    named += [f"delivery to {confirmed.deliver_to}"] if confirmed.deliver_to else []
    return f", confirmed: {', '.join(named) or 'its rule'}"


RESTORE_TEXTS: Mapping[type, Callable[[Any, EventContext], str]] = MappingProxyType(
    {
        restores.HomeRestored: _home_restored,
        workbenches.DaemonStarted: _started,
        restores.WorkbenchRestored: lambda _, __: (
            "restored from a backup: what people had agreed to or confirmed is asked again"
        ),
        watches.WatchResumed: _resumed,
    }
)
"""What each type of event tells."""
