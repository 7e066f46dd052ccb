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
    RunParam,
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
    """Events in order, and the last one that there is; rows may be ready-made JSON.

    Args:
        events: Those that match.
        last_seq: The last event of the log.
        read_to: The event up to which all were looked at, the newest first down to which; to go on,
            ask with it as `after`, or as `before`. There are no more if it is the last one before
            `before`, or the first one behind `after`.
    """

    events: tuple[EventRow | msgspec.Raw, ...]
    last_seq: Seq
    read_to: Seq = Seq(0)


EventTypesParam = Annotated[
    tuple[Annotated[str, msgspec.Meta(min_length=1, max_length=100)], ...],
    msgspec.Meta(min_length=1, max_length=100),
]
"""Names of types of events."""

TimeParam = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,6})?Z$(?!\n)", max_length=27
    ),
]
"""A time in UTC, as `2026-01-31T09:30:00Z`, with up to six digits of a second."""


class EventsRead(_EventsRequest):
    """Read events after a place in the log, or the newest before one; of types, a run, a time.

    An answer may have fewer events than were asked for, or none, where many others were looked at
    for them: `read_to` says from where to go on.

    Args:
        workbench_id: The log.
        after: The event before the first.
        limit: How many at most.
        before: The event behind the last; without it, all up to the last of the log.
        descending: Whether the newest come first.
        types: Only events of these types.
        run_id: Only events of this run.
        since: Only events that are not earlier.
        until: Only events that are earlier.
    """

    answer: ClassVar[type[Any]] = EventsFound

    workbench_id: LogParam
    after: SeqParam = Seq(0)
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 1000
    before: SeqParam | Unset = UNSET
    descending: bool = False
    types: EventTypesParam | Unset = UNSET
    run_id: RunParam | Unset = UNSET
    since: TimeParam | Unset = UNSET
    until: TimeParam | Unset = UNSET


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
