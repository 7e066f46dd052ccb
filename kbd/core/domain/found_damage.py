"""Damage that verifications found: what is known of a log, what another one changes, and its words.

The known faults of a log are in the daemon's state, so lists tell of them while the log is closed.
"""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from kbd.core.domain.event_context import EventContext
from kbd.events.damages import DamageFound, DamageMended
from kbd.events.vocabulary import Event
from kbd.types import WorkbenchId

__all__ = [
    "DAMAGE_TEXTS",
    "MAX_KNOWN",
    "EndVerification",
    "FoundDamage",
    "add_found",
    "damage_events",
    "damage_text",
    "remove_mended",
]

MAX_KNOWN = 20
"""So many faults of a log are recorded one by one; `kbd verify` tells of all."""

_NO_DAMAGE = frozenset({"head", "unknown"})
"""Kinds of faults that say nothing of the disk: a head that somebody kept, a log of a newer kbd."""


class FoundDamage(msgspec.Struct, frozen=True, omit_defaults=True):
    """A fault that is known of a log or of its blobs; its fields are those of `DamageFound`."""

    kind: str
    file: str
    offset: int = 0
    seq: int = 0
    reason: str = ""

    @property
    def place(self) -> tuple[str, str]:
        """What tells it from the other faults of its log."""
        return self.kind, self.file

    @property
    def is_of_blob(self) -> bool:
        """Whether the log itself may be whole."""
        return self.kind.startswith("blob ")


class EndVerification(msgspec.Struct, frozen=True):
    """Record what a whole verification of a log found: faults that are new, and what is mended.

    Args:
        workbench_id: Whose log; "daemon" for the daemon's own.
        faults: All that it found, in the order in which it tells them.
    """

    workbench_id: WorkbenchId
    faults: tuple[FoundDamage, ...]


def damage_events(known: Sequence[FoundDamage], command: EndVerification) -> tuple[Event, ...]:
    """Return what a verification changes in what is known; nothing of what was known before."""
    found = [each for each in command.faults if each.kind not in _NO_DAMAGE]
    # Behind damage of a log nothing was looked at.
    is_read = all(each.is_of_blob for each in found)
    places, before = {each.place for each in found}, {each.place for each in known}
    gone = [each for each in known if each.place not in places and (is_read or not each.is_of_blob)]
    room = max(0, MAX_KNOWN - len(known) + len(gone))
    fresh = [each for each in found if each.place not in before][:room]
    return (
        *(DamageMended(command.workbench_id, each.kind, each.file) for each in gone),
        *(
            DamageFound(
                command.workbench_id, each.kind, each.file, each.offset, each.seq, each.reason
            )
            for each in fresh
        ),
    )


def add_found(known: tuple[FoundDamage, ...], event: DamageFound) -> tuple[FoundDamage, ...]:
    """Return what is known of a log after damage was found in it."""
    found = FoundDamage(event.kind, event.file, event.offset, event.seq, event.reason)
    return (*(each for each in known if each.place != found.place), found)


def remove_mended(known: tuple[FoundDamage, ...], event: DamageMended) -> tuple[FoundDamage, ...]:
    """Return what is known of a log after damage of it was mended."""
    return tuple(each for each in known if each.place != (event.kind, event.file))


def damage_text(known: Sequence[FoundDamage]) -> str:
    """Say what is known to be damaged, as the reason that lists show; "" for nothing."""
    if not known:
        return ""
    first = known[0]
    event = f", event {first.seq}" if first.seq else ""
    more = f", and {len(known) - 1} more" if len(known) > 1 else ""
    told = f"{first.kind} ({first.file}{event}{more}): {first.reason}"
    return f"{told}; `kbd verify` tells more, `kbd repair` mends what it can"


def _log_name(workbench_id: str) -> str:
    return "the daemon's log" if workbench_id == "daemon" else f"workbench {workbench_id}"


def _found_text(data: DamageFound, _context: EventContext) -> str:
    event = f", event {data.seq}" if data.seq else ""
    place = f"{data.kind} in {data.file}, byte {data.offset}{event}"
    return f"damage found in {_log_name(data.workbench_id)}: {place}: {data.reason}"


def _mended_text(data: DamageMended, _context: EventContext) -> str:
    return f"damage mended in {_log_name(data.workbench_id)}: {data.file} ({data.kind})"


DAMAGE_TEXTS: Mapping[type, Callable[[Any, EventContext], str]] = MappingProxyType(
    {DamageFound: _found_text, DamageMended: _mended_text}
)
"""What each type of event tells."""
