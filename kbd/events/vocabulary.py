"""Vocabulary of the log: every type of event, once, as one closed union; and the blobs each names.

A name here is for ever: it is what stands on disk. Deltas, progress and spinners are not events.
Plugins cannot add types, so a log reads with no plugin installed.

Each subject's module ends with the union of its events; a new type is added there.
"""

from collections.abc import Callable, Iterable, Mapping, MutableMapping
from types import MappingProxyType
from typing import Any, TypeVar

from kbd.events.approvals import ApprovalEvent, ApprovalRequested
from kbd.events.damages import DamageEvent
from kbd.events.drafts import (
    CheckpointCreated,
    DraftEvent,
    DraftRecovered,
    EffectIntended,
    FileAdopted,
    FileChanged,
    PublishIntended,
    ReceiptMade,
)
from kbd.events.recipes import RecipeEvent
from kbd.events.restores import HomeRestored, RestoreEvent, WorkbenchRestored
from kbd.events.retention import BlobsCollected, RetentionEvent
from kbd.events.runs import ModelReplied, ModelRequested, RunEvent, ToolCalled, ToolReturned
from kbd.events.watches import WatchEvent
from kbd.events.workbenches import ConversationRewound, DraftThen, FileAdded, WorkbenchEvent
from kbd.types import BlobHash

__all__ = ["MUST_BE_UNDERSTOOD", "VERSIONS", "Event", "named_blobs", "note_named"]

Event = (
    WorkbenchEvent
    | RunEvent
    | DraftEvent
    | ApprovalEvent
    | WatchEvent
    | RecipeEvent
    | RestoreEvent
    | DamageEvent
    | RetentionEvent
)
"""Everything that can be recorded."""

VERSIONS: dict[type, int] = dict.fromkeys(Event.__args__, 1)
"""The version in which each type is written today; what is older is lifted when it is read."""

MUST_BE_UNDERSTOOD: frozenset[type] = frozenset({HomeRestored, WorkbenchRestored})
"""The types that a reader which does not know them must not pass over: they take back consent."""

T = TypeVar("T")


def _rewound_blobs(event: ConversationRewound) -> Iterable[BlobHash | None]:
    """The versions of files that a rewind brings back, and those that they are about."""
    for file in event.files:
        yield from (file.blob, file.origin)
    if event.draft is not None:
        yield from _drafted_blobs(event.draft)


def _drafted_blobs(draft: DraftThen) -> Iterable[BlobHash | None]:
    for drafted in draft.files:
        yield from (drafted.base, drafted.blob)


def _planned(event: PublishIntended) -> Iterable[BlobHash | None]:
    for file in event.files:
        yield from (file.old, file.new)
    if event.rewind is not None:
        yield from _rewound_blobs(event.rewind)


# By type, for whoever asks asks of every event of a log: one look instead of nine.
_FIELDS: Mapping[type, Callable[[Any], Iterable[BlobHash | None]]] = MappingProxyType(
    {
        FileAdded: lambda event: (event.blob,),
        FileAdopted: lambda event: (event.blob,),
        ToolReturned: lambda event: (event.blob,),
        ModelRequested: lambda event: (event.opening,),
        ToolCalled: lambda event: (event.arguments_blob,),
        FileChanged: lambda event: (event.before, event.after),
        ModelReplied: lambda event: [call.blob for call in event.calls],
        PublishIntended: _planned,
        ConversationRewound: _rewound_blobs,
        DraftRecovered: lambda event: _drafted_blobs(event.draft),
        CheckpointCreated: lambda event: [file.blob for file in event.files],
        EffectIntended: lambda event: (event.file.blob,),
        ReceiptMade: lambda event: (event.blob,),
        ApprovalRequested: lambda event: [
            blob for file in event.files for blob in (file.base, file.blob)
        ],
    }
)


def named_blobs(event: object) -> Iterable[BlobHash]:
    """Return the blobs that an event names; without them it is worth nothing."""
    fields = _FIELDS.get(type(event))
    if fields is None:
        return ()
    return [blob for blob in fields(event) if blob is not None]


def note_named(named: MutableMapping[BlobHash, T], event: object, place: T) -> int:
    """Keep up the blobs that a log needs, event by event from its first on.

    Args:
        named: Those so far, each with the place where it was first named; it is changed.
        event: The next event.
        place: What is noted of those that it names.

    Returns:
        How many it says are collected: they are needed no more, until an event names them again.
    """
    if isinstance(event, BlobsCollected):
        known = [blob for blob in dict.fromkeys(event.blobs) if blob in named]
        for blob in known:
            del named[blob]
        return len(known)
    for blob in named_blobs(event):
        named.setdefault(blob, place)
    return 0
