"""Inspection of a log that comes from outside: the names in its events lead nowhere else.

kbd takes its own log at its word: it makes paths of the ids and file names in it. In a log that
came with a backup they are a stranger's. Whatever kbd itself records passes: only what leads out of
the place that it is a name in is refused, not what a newer rule of names would refuse.
"""

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

import msgspec

from kbd.core.audit.backup_inventory import InventoryLog
from kbd.errors import FileReadFailed, LogCorrupt
from kbd.events.base import Recorded
from kbd.events.scan import read_log
from kbd.events.workbenches import ConsentGranted, WorkbenchCreated
from kbd.types import BlobHash, FileName, Seq, WatchId, WorkbenchId

__all__ = ["event_objection", "inspect_log", "misleading_name"]

_FOLDER_IDS = frozenset({"checkpoint_id", "draft_id", "effect_id", "publish_id"})
"""Fields whose ids stand in names of files, beside those that have a type of their own."""

_HEX = frozenset("0123456789abcdef")
_HASH_DIGITS = 64


def inspect_log(log_dir: Path, entry: InventoryLog) -> int:
    """Read a log through; return how many consents it holds. Blocking.

    Args:
        log_dir: The log's folder.
        entry: What the backup says of it. A damaged one is read up to its damage.

    Raises:
        FileReadFailed: It is the log of another workbench, or a name in it leads out.
    """
    consents = 0

    def look(seq: Seq, record: Recorded) -> None:
        nonlocal consents
        consents += isinstance(record.data, ConsentGranted)
        if (reason := event_objection(entry.workbench_id, seq, record)) is not None:
            raise FileReadFailed(reason)

    try:
        read_log(log_dir, look)
    except LogCorrupt:
        if not entry.damage:
            raise
    return consents


def event_objection(log_id: str, seq: Seq, record: Recorded) -> str | None:
    """Return why an event is none that kbd wrote into a log; None if nothing is against it.

    Args:
        log_id: The workbench that the log lies in the folder of, or "daemon".
        seq: The event's number.
        record: The event.
    """
    data = record.data
    if log_id != "daemon" and seq == 1 and not _begins(data, log_id):
        return f"the log of the workbench {log_id} is another's: it does not begin with its own id"
    name = misleading_name(data)
    if name is None:
        return None
    return f"event {seq} of the log {log_id} names what leads elsewhere: {name!r}"


def _begins(data: Any, log_id: str) -> bool:
    return isinstance(data, WorkbenchCreated) and data.workbench_id == log_id


def misleading_name(event: Any) -> str | None:
    """Return a file name, an id or a hash in an event that would lead elsewhere as a path."""
    return next(_wrong_names(event), None)


def _wrong_names(record: Any) -> Iterator[str]:
    kind: Any = type(record)
    looks = _looks(kind)
    fields = msgspec.structs.asdict(record) if looks else {}
    for field, look in looks:
        yield from look(fields[field])


_Look = Callable[[Any], Iterator[str]]


@cache
def _looks(kind: type) -> tuple[tuple[str, _Look], ...]:
    """Return how to find wrong names in a record: a look for each field that may have some."""
    if not issubclass(kind, msgspec.Struct):
        return ()
    found: list[tuple[str, _Look]] = []
    for field, hint in get_type_hints(kind).items():
        look = _wrong_id if field in _FOLDER_IDS else _look_for(hint, field)
        if look is not None and field in kind.__struct_fields__:
            found.append((field, look))
    return tuple(found)


@cache
def _look_for(hint: Any, field: str) -> _Look | None:
    """Return how to find wrong names in a value of a type; None if it can have none."""
    if hint is FileName:
        return _wrong_file
    if hint in (WorkbenchId, WatchId):
        return _wrong_id
    if hint is BlobHash or field == "sha256":
        return _wrong_hash
    if get_origin(hint) in (tuple, list, Union, UnionType):
        looks = [_look_for(inner, field) for inner in get_args(hint)]
        return partial(_look_within, hint) if any(looks) else None
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return _wrong_names if _looks(hint) else None
    return None


def _look_within(hint: Any, value: Any) -> Iterator[str]:
    """Look in a value of a union or a sequence; `hint` says of what."""
    if value is None:
        return
    inner = [each for each in get_args(hint) if each not in (Ellipsis, type(None))]
    parts = (
        zip(value, inner * len(value), strict=False)
        if get_origin(hint) in (tuple, list)
        else ((value, each) for each in inner)
    )
    for part, of in parts:
        look = _look_for(of, "")
        if look is not None:
            yield from look(part)


def _wrong_file(name: str) -> Iterator[str]:
    parts = name.split("/")
    if "\0" in name or any(part in ("", ".", "..") for part in parts):
        yield name


def _wrong_id(text: str) -> Iterator[str]:
    if "/" in text or "\0" in text or text in (".", ".."):
        yield text


def _wrong_hash(text: str) -> Iterator[str]:
    # "" stands for a file that could not be read.
    if text and (len(text) != _HASH_DIGITS or not _HEX.issuperset(text)):
        yield text
