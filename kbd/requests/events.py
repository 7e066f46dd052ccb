"""Requests about the log: reading it, following it, reading the blobs that it names."""

from typing import Annotated, Any, ClassVar

import msgspec

from kbd.events.base import Actor
from kbd.requests.base import (
    UNSET,
    Answer,
    BlobParam,
    LogParam,
    Request,
    SeqParam,
    Unset,
    WorkbenchParam,
)
from kbd.types import Phase, RunId, Seq

__all__ = [
    "EVERY_LOG",
    "BlobPart",
    "BlobRead",
    "EventPlace",
    "EventRow",
    "EventsFound",
    "EventsRead",
    "EventsSubscribe",
    "EventsSubscribed",
    "EventsUnsubscribe",
    "EventsUnsubscribed",
    "LogRequest",
    "SubscriptionParam",
]

EVERY_LOG = "*"
"""Names every workbench's log and the daemon's."""

SubscriptionParam = Annotated[
    str, msgspec.Meta(pattern="^([0-9a-f]{16}|daemon|\\*)$(?!\\n)", max_length=16)
]
"""A workbench id, "daemon" or "*"."""


class _EventsRequest(Request):
    """The root of this file's requests."""

    subject: ClassVar[str] = "events"


class EventPlace(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where an event stands in its run, as the events before it tell; a step likewise.

    Args:
        text: The same in words, as "phase implement, item 1 of 2, attempt 2".
        phase: The phase that was open.
        item: The item that was worked on, from 1, or 0.
        items: How many items the plan had.
        attempt: The attempt at the item, from 1, or 0.
        label: What the item is called.
        tools: The tools that it is about: asked for, called, refused, returned, or having written.
        level: How far it is set in: 0 is the run or beside it, 1 a phase, 2 in a phase, 3 in an
            item.
        is_failure: Whether it tells of something that did not go as it should.
    """

    text: str = ""
    phase: Phase | None = None
    item: int = 0
    items: int = 0
    attempt: int = 0
    label: str = ""
    tools: tuple[str, ...] = ()
    level: int = 0
    is_failure: bool = False


class EventRow(msgspec.Struct, frozen=True, kw_only=True):
    """An event as a client sees it.

    Args:
        seq: Its place in the log, from 1.
        id: `<log>:<seq>`, the same for ever.
        type: Its name.
        version: The version of its data.
        ts: ISO 8601, UTC, with microseconds; informational, never an order.
        run_id: The run it belongs to.
        causation_id: The event it follows from.
        actor: The client that caused it, as it named itself; absent where none did.
        document: The SHA-256 of the job or recipe that its run carries out; absent for other runs.
        data: What happened.
        title: The same as a sentence for people, one line of at most 240 printable characters;
            absent in what is sent to followers, who read it with `EventsRead`.
        place: Where it stands, likewise; absent, too, where there is nothing to say.
    """

    seq: Seq
    id: str
    type: str
    version: int
    ts: str
    run_id: RunId | Unset = UNSET
    causation_id: str | Unset = UNSET
    actor: Actor | Unset = UNSET
    document: str | Unset = UNSET
    data: Any = None
    title: str | Unset = UNSET
    place: EventPlace | Unset = UNSET


class EventsFound(Answer):
    """Events in order, and the last one that there is; rows may be ready-made JSON."""

    events: tuple[EventRow | msgspec.Raw, ...]
    last_seq: Seq


class EventsRead(_EventsRequest):
    """Read events after a place in the log."""

    answer: ClassVar[type[Any]] = EventsFound

    workbench_id: LogParam
    after: SeqParam = Seq(0)
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 1000


class EventsSubscribed(Answer):
    """Events follow as notifications, from the cursor on."""

    workbench_id: str


class EventsSubscribe(_EventsRequest):
    """Follow a log from a cursor: what is recorded, one EventsSynced, then live.

    Args:
        workbench_id: The log, or "*" for all.
        after: The last event that the client has; with one log.
        cursors: The same by workbench; with "*". A log that is not named starts at its beginning.
    """

    answer: ClassVar[type[Any]] = EventsSubscribed

    workbench_id: SubscriptionParam
    after: SeqParam | Unset = UNSET
    cursors: dict[LogParam, SeqParam] | Unset = UNSET


class EventsUnsubscribed(Answer):
    """Whether there was a subscription to end."""

    unsubscribed: bool


class EventsUnsubscribe(_EventsRequest):
    """Stop following a log."""

    answer: ClassVar[type[Any]] = EventsUnsubscribed

    workbench_id: SubscriptionParam


class BlobPart(Answer):
    """A part of a file's bytes.

    Args:
        base64: The bytes.
        size_bytes: The size of the whole.
        has_more: Whether bytes follow.
    """

    base64: str
    size_bytes: int
    has_more: bool


class BlobRead(_EventsRequest):
    """Read a part of a file version that the log names."""

    answer: ClassVar[type[Any]] = BlobPart

    workbench_id: WorkbenchParam
    hash: BlobParam
    offset: Annotated[int, msgspec.Meta(ge=0)] = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=4 * 1024 * 1024)] = 256 * 1024


LogRequest = EventsRead | EventsSubscribe | EventsUnsubscribe | BlobRead
"""The requests of this subject."""
