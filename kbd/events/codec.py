"""Codec of records: the typed path for current versions, the slow path for all others.

A body is a msgpack array of records `[type, version, data, ts_us, run, cause, flags]`; what a
client asked for has its actor behind that. All events of the current versions are decoded in one
typed call, validation included. A body that this call refuses is read again as plain values, and
each record is looked at by itself: an older version is lifted step by step with a table of
functions, a type or version from the future is kept as `Unknown`, and anything else is damage.
Stored bytes are never rewritten.

Outside the log (on the wire, in `kbd log --json`, in an export) an event has a plain form. On disk
a record says its run as a number within the workbench and its cause as a sequence number of the
same log, both small integers with 0 for "none". Shown, the run is its id `<workbench_id>-<n>`, an
event is `<log>:<seq>`, and what is "none" is left out.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, TypeAlias, TypeVar, Union, cast

import msgpack
import msgspec

from kbd.errors import LogCorrupt, ValidationFailed
from kbd.events.base import MUST_UNDERSTAND, Actor, Recorded
from kbd.events.vocabulary import MUST_BE_UNDERSTOOD, VERSIONS, Event
from kbd.types import Seq

__all__ = [
    "LIFTERS",
    "Lifters",
    "NotUnderstood",
    "Unknown",
    "decode",
    "decode_current",
    "decode_plain",
    "encode",
    "format_time",
    "parse_time",
    "plain_record",
    "utc_day",
    "wrap_event",
]


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def format_time(ts_us: int) -> str:
    """Return microseconds since 1970 UTC as `2026-01-31T09:30:00.123456Z`."""
    seconds, rest = divmod(ts_us, 1_000_000)
    return f"{_second(seconds)}.{rest:06}Z"


def parse_time(text: str) -> int:
    """Return the microseconds since 1970 UTC of a time in ISO 8601 that names its offset, or `Z`.

    Raises:
        ValueError: It is no such time.
    """
    return (datetime.fromisoformat(text) - _EPOCH) // timedelta(microseconds=1)


def utc_day(ts_us: int) -> str:
    """Return the day of a time, as `2026-01-31`."""
    return format_time(ts_us)[:10]


@lru_cache(maxsize=256)
def _second(seconds: int) -> str:
    """Format a second, cached: what is shown together mostly happened in few of them."""
    return (_EPOCH + timedelta(seconds=seconds)).isoformat()[:19]


def plain_record(record: list[Any], seq: Seq, log: str) -> dict[str, Any]:
    """Convert a record to the plain form for clients.

    Args:
        record: The record as `codec.decode_plain` gives it; fields of its data that this kbd does
            not know are shown as they are.
        seq: Its number.
        log: The workbench's id, or "daemon".
    """
    kind, version, data, ts_us, run, cause, _flags, *rest = record
    event = {
        "seq": int(seq),
        "id": f"{log}:{seq}",
        "type": kind,
        "version": version,
        "ts": format_time(ts_us),
        "data": data,
    }
    if run:
        event["run_id"] = f"{log}-{run}"
    if cause:
        event["causation_id"] = f"{log}:{cause}"
    if rest and rest[0] is not None:
        event["actor"] = rest[0]
    if len(rest) > 1 and rest[1]:
        event["document"] = rest[1]
    return event


Lifters: TypeAlias = Mapping[tuple[str, int], Callable[[dict[str, Any]], dict[str, Any]]]
"""By type and version: the pure function that makes the data of the next version from that one's.
It gets a fresh dict and may return the same."""

LIFTERS: Lifters = MappingProxyType({})
"""The liftings of the vocabulary. None yet: every type is in its first version."""


class NotUnderstood(LogCorrupt):
    """The log holds an event that this kbd does not know and that says it must be understood.

    The log is whole; a newer kbd reads it. Until then it may not be written.
    """


class Unknown(msgspec.Struct, frozen=True):
    """An event of an unknown type or version, preserved as it is; folds skip it.

    Args:
        type: The type's name as stored.
        data: The event's data as plain values.
    """

    type: str
    data: Any


class _WithoutActor(msgspec.Struct, frozen=True, array_like=True):
    """The form on disk of a record that no client asked for: it ends with the flags."""

    version: int
    data: Any
    ts_us: int
    run: int
    cause: int
    flags: int


class _WithoutDocument(_WithoutActor, frozen=True, array_like=True):
    """The form on disk of a record that a client asked for, and that is of no document's run."""

    actor: Actor | None


# One class a type, so that the type's name is the tag and `data` is decoded in the same call.
_WRAPPERS: Mapping[type, type[Recorded]] = MappingProxyType(
    {
        kind: cast(
            "type[Recorded]",
            msgspec.defstruct(
                kind.__name__,
                # A literal, so that any other version leaves the typed call for the slow path.
                [("version", Literal[version]), ("data", kind)],
                bases=(Recorded,),
                module=__name__,
                tag=kind.__name__,
                frozen=True,
                array_like=True,
            ),
        )
        for kind, version in VERSIONS.items()
    }
)
_Form = TypeVar("_Form", bound=_WithoutActor)


def _shorter(form: type[_Form]) -> Mapping[type[Recorded], type[_Form]]:
    """Return the classes by which records are written in a form that ends earlier."""
    return MappingProxyType(
        {
            wrapper: cast(
                "type[_Form]",
                msgspec.defstruct(
                    kind.__name__,
                    [],
                    bases=(form,),
                    module=__name__,
                    tag=kind.__name__,
                    frozen=True,
                    array_like=True,
                ),
            )
            for kind, wrapper in _WRAPPERS.items()
        }
    )


# A nil in each record would be a byte for nothing, and other bytes than older ones wrote.
_SHORT, _SHORT_WITH_ACTOR = _shorter(_WithoutActor), _shorter(_WithoutDocument)
_KINDS: Mapping[str, type] = MappingProxyType({kind.__name__: kind for kind in VERSIONS})
# One call for a whole frame, with types checked: twice as fast as msgpack.unpackb, which checks
# none (facts/performance.md B).
decode_current = msgspec.msgpack.Decoder(list[Union[tuple(_WRAPPERS.values())]]).decode  # type: ignore[misc]  # noqa: UP007
"""The typed path alone, for the loop of replay: `msgspec.DecodeError` for whatever it refuses."""

_PLAIN = msgspec.msgpack.Decoder(list[list[Any]])
_encode = msgspec.msgpack.Encoder().encode


def wrap_event(
    event: Event,
    ts_us: int,
    run: int = 0,
    cause: int = 0,
    actor: Actor | None = None,
    document: str = "",
) -> Recorded:
    """Wrap an event for the log, in its current version.

    Args:
        event: What happened.
        ts_us: When it was decided, in microseconds since 1970 UTC.
        run: The number of the run it belongs to within its workbench, or 0.
        cause: The sequence number of the event it follows from, or 0.
        actor: The client that asked for it, if one did.
        document: The SHA-256 of the job or recipe that its run carries out, or "".
    """
    kind = type(event)
    flags = MUST_UNDERSTAND if kind in MUST_BE_UNDERSTOOD else 0
    return _WRAPPERS[kind](VERSIONS[kind], event, ts_us, run, cause, flags, actor, document)


def encode(records: Sequence[Recorded]) -> bytes:
    """Make a frame's body of records that `wrap_event` or `decode` made.

    Raises:
        ValidationFailed: A text in them is no Unicode, or a number passes 64 bits.
        TypeError: One of them is `Unknown`: what is not understood is not written again.
    """
    stored: list[Recorded | _WithoutActor] = []
    for record in records:
        if type(record) is Recorded:
            raise TypeError("a record of an unknown event cannot be written")
        stored.append(record if record.document else _shortened(record))
    try:
        # Half a surrogate pair can come out of JSON and cannot go into UTF-8; it is refused before
        # anything is written.
        return _encode(stored)
    except (UnicodeEncodeError, OverflowError) as error:
        raise ValidationFailed("a text is no Unicode, or a number is too long") from error


def _shortened(record: Recorded) -> Recorded | _WithoutActor:
    short = _SHORT.get(type(record))
    if short is None:  # not one of ours: it is written as it is
        return record
    fields = (record.version, record.data, record.ts_us, record.run, record.cause, record.flags)
    if record.actor is None:
        return short(*fields)
    return _SHORT_WITH_ACTOR[type(record)](*fields, record.actor)


def decode(body: bytes, lifters: Lifters = LIFTERS) -> list[Recorded]:
    """Read the records of a frame's body.

    Args:
        body: The body; its checksum is known to be right.
        lifters: How older versions become current ones.

    Raises:
        NotUnderstood: An event is unknown and must be understood.
        LogCorrupt: The body is no array of records, or a known event's data are ill-formed.
    """
    try:
        return cast("list[Recorded]", decode_current(body))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return [_decode_untyped(item, lifters) for item in _unpack(body)]


def decode_plain(body: bytes) -> list[list[Any]]:
    """Read the records of a body as they are stored, unknown fields and all, for the wire.

    Returns:
        For each `[type, version, data, ts_us, run, cause, flags]`, with plain values throughout;
        the actor behind that where a client asked for it, and behind that, or a nil, the hash of
        the document that its run carries out.

    Raises:
        LogCorrupt: The body is no array of records.
    """
    try:
        return _PLAIN.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise LogCorrupt("a frame's body is no array of records") from error


def _unpack(body: bytes) -> Iterable[Any]:
    """Read a body as plain values; lengths inside it can claim no more than it has."""
    try:
        items = msgpack.unpackb(body, strict_map_key=True)
    except (ValueError, msgpack.UnpackException, RecursionError) as error:
        raise LogCorrupt("a frame's body is no array of records") from error
    if not isinstance(items, list):
        raise LogCorrupt("a frame's body is no array of records")
    return items


def _decode_untyped(item: Any, lifters: Lifters) -> Recorded:
    """Decode one record from plain values."""
    match item:
        # Elements behind the document are a newer kbd's; a reader keeps what it does not know (see
        # `kbd.events`).
        case [str(name), int(version), data, int(ts_us), int(run), int(cause), int(flags), *rest]:
            actor, document = _decode_actor(rest), _decode_document(rest)
        case _:
            raise LogCorrupt("a record is not [type, version, data, ts_us, run, cause, flags]")
    kind = _KINDS.get(name)
    if kind is None or version > VERSIONS[kind]:
        if flags & MUST_UNDERSTAND:
            raise NotUnderstood(
                f"the log holds an event {name} in version {version} that must be understood; "
                "a newer kbd is needed",
                detail={"type": name, "version": version},
            )
        return Recorded(version, Unknown(name, data), ts_us, run, cause, flags, actor, document)
    try:
        event: Any = msgspec.convert(_lift(name, version, VERSIONS[kind], data, lifters), kind)
    except msgspec.ValidationError as error:
        raise LogCorrupt(f"the data of an event {name} are ill-formed: {error}") from error
    return _WRAPPERS[kind](VERSIONS[kind], event, ts_us, run, cause, flags, actor, document)


def _decode_document(rest: list[Any]) -> str:
    """Decode what stands behind the actor of a record, if anything does."""
    try:
        return msgspec.convert(rest[1], str) if len(rest) > 1 else ""
    except msgspec.ValidationError as error:
        raise LogCorrupt(f"the document of a record is ill-formed: {error}") from error


def _decode_actor(rest: list[Any]) -> Actor | None:
    """Decode what stands behind the flags of a record, if anything does."""
    try:
        return msgspec.convert(rest[0], Actor | None) if rest else None
    except msgspec.ValidationError as error:
        raise LogCorrupt(f"the actor of a record is ill-formed: {error}") from error


def _lift(name: str, version: int, current: int, data: Any, lifters: Lifters) -> Any:
    """Lift data from the version in which they are stored to the current one, step by step."""
    for step in range(version, current):
        lift = lifters.get((name, step))
        if lift is None:
            raise LogCorrupt(f"no lifting is known for an event {name} in version {step}")
        data = lift(data)
    return data
