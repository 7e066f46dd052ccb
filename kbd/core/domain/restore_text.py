"""Words for the events of a restore, and for what a person confirmed after one."""

import shlex
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from kbd.core.domain.event_context import EventContext
from kbd.events import restores, watches

__all__ = ["RESTORE_TEXTS"]

WATCH_DIGITS = 8
"""How much of a watch's id tells it apart, as in `event_text`."""


def _home_restored(data: restores.HomeRestored, _context: EventContext) -> str:
    when = data.created_at[:16].replace("T", " ")
    return (
        f"home restored from a backup of {when} UTC: consent is asked for, and every watch is "
        "paused until a person resumes it"
    )


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
        restores.WorkbenchRestored: lambda _, __: (
            "restored from a backup: what people had agreed to or confirmed is asked again"
        ),
        watches.WatchResumed: _resumed,
    }
)
"""What each type of event tells."""
