"""Diff of two results, field by field, and of two versions of a file.

The diff of results is pure: two outcomes in, a list out. Files are compared by the parts of a
package, else by the first byte that differs; what a file is, its first bytes say. A package is
opened behind the same guard as everywhere, so a hostile one is refused and compared as plain bytes;
parts are hashed in pieces, never parsed.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from zipfile import ZipInfo

import msgspec

from kbd.core.audit.recorded_calls import CallOutcome
from kbd.core.runtime.secrets import REDACTED
from kbd.errors import FileReadFailed, NotFound
from kbd.events.checked_blobs import BlobDamaged
from kbd.formats import Source
from kbd.lookalikes import common_prefix_length
from kbd.opc.entries import PartStream
from kbd.opc.package import Package, reading_errors
from kbd.requests.replays import FieldDiff, FileDiff, PartDiff

__all__ = [
    "MAX_FIELDS",
    "MAX_PARTS",
    "diff_files",
    "diff_outcomes",
    "differing_parts",
]

MAX_FIELDS = 50
"""Fields that are told of one call: enough to see what it is about."""

MAX_SHOWN_CHARACTERS = 300
"""How much of a value is told."""

CONTEXT_CHARACTERS = 40
"""How much of a long text is told from before the first character that differs."""


_STOP = re.compile(r"[.;](?=\s|$)")
"""What ends a sentence or a clause."""


class _Missing:
    """Sentinel of a field that is not there."""


_MISSING = _Missing()


def differing_parts(recorded: CallOutcome, replayed: CallOutcome) -> tuple[str, ...]:
    """Name the parts that differ: none if the call came out as recorded."""
    if recorded.refused and replayed.refused:
        same = recorded.error_code == replayed.error_code
        return () if same and _is_same_error(recorded.shown, replayed.shown) else ("refusal",)
    if recorded.refused != replayed.refused:
        return ("outcome",)
    before = (recorded.ok, recorded.error_code)
    is_same = _is_same_text if recorded.ok else _is_same_error
    parts = {
        "outcome": before != (replayed.ok, replayed.error_code),
        "result": not is_same(recorded.text, replayed.text),
        "shown": not is_same(recorded.shown, replayed.shown),
        "files": recorded.changes != replayed.changes,
    }
    return tuple(name for name, differs in parts.items() if differs)


def _is_same_error(recorded: str, replayed: str) -> bool:
    """Tell whether an error says the same, its stops and capitals aside.

    Errors that kbd 0.1 recorded are sentences ("The file is gone. Add it."); they are clauses now
    ("the file is gone; add it"). Their codes are compared apart, and exactly.
    """
    one, other = (_STOP.sub("", text).casefold() for text in (recorded, replayed))
    return _is_same_text(one, other)


def _is_same_text(recorded: str, replayed: str) -> bool:
    """Return whether a text is as recorded; a redacted key matches anything.

    A proof is made without the daemon's keys, so it cannot tell which.
    """
    first, *others = recorded.split(REDACTED)
    if recorded == replayed or not others:
        return recorded == replayed
    *between, last = others
    at, end = len(first), len(replayed) - len(last)
    # The ends are fixed; what lies between them is looked for from the left.
    if not (replayed.startswith(first) and replayed.endswith(last)):
        return False
    for part in between:
        found = replayed.find(part, at + len(REDACTED), end)
        if found < 0:
            return False
        at = found + len(part)
    return at + len(REDACTED) <= end


def diff_outcomes(recorded: CallOutcome, replayed: CallOutcome) -> tuple[FieldDiff, ...]:
    """Return the fields in which two outcomes differ, at most `MAX_FIELDS`."""
    found: list[FieldDiff] = []
    for path, before, after in _outcome_fields(recorded, replayed):
        if len(found) == MAX_FIELDS:
            break
        found.append(_field_diff(path, before, after))
    if not found and recorded.text != replayed.text:
        # The same values, written in another way.
        found.append(_field_diff(*_diff_texts("result", recorded.text, replayed.text)))
    return tuple(found)


Field = tuple[str, Any, Any]


def _outcome_fields(recorded: CallOutcome, replayed: CallOutcome) -> Iterator[Field]:
    if recorded.refused != replayed.refused:
        yield ("outcome", _outcome_name(recorded), _outcome_name(replayed))
    elif recorded.ok != replayed.ok:
        yield ("ok", recorded.ok, replayed.ok)
    if recorded.error_code != replayed.error_code:
        yield (
            "error_code",
            _MISSING if recorded.error_code is None else recorded.error_code,
            _MISSING if replayed.error_code is None else replayed.error_code,
        )
    if recorded.refused != replayed.refused:
        if replayed.refused:
            yield ("shown", recorded.shown, replayed.shown)
        return
    before, after = _parse_result(recorded), _parse_result(replayed)
    yield from _walk("", before, after)
    # Where the model saw the whole result, it would only be told twice.
    if recorded.shown != replayed.shown and not (
        recorded.shown == recorded.text and replayed.shown == replayed.text
    ):
        yield from _walk("shown", _parse_receipt(recorded.shown), _parse_receipt(replayed.shown))
    yield from _walk("files", _file_messages(recorded), _file_messages(replayed))


def _outcome_name(outcome: CallOutcome) -> str:
    return "refused" if outcome.refused else "done" if outcome.ok else "failed"


def _parse_result(outcome: CallOutcome) -> Any:
    """Return a result as plain values, an error or what is no JSON as its text."""
    if outcome.refused or not outcome.ok:
        return {"error": outcome.text} if outcome.text else {}
    try:
        return msgspec.json.decode(outcome.text)
    except (msgspec.DecodeError, RecursionError):
        return outcome.text


def _parse_receipt(shown: str) -> Any:
    """Return a receipt as plain values; with a note behind it, or an error, as text."""
    try:
        return msgspec.json.decode(shown)
    except (msgspec.DecodeError, RecursionError):
        return shown


def _file_messages(outcome: CallOutcome) -> dict[str, Any]:
    """Return the warnings and notes of each written file; their bytes are compared elsewhere."""
    return {
        change.name: {"warnings": list(change.warnings), "notes": list(change.notes)}
        for change in outcome.changes
    }


def _walk(path: str, before: Any, after: Any) -> Iterator[Field]:
    """Yield the leaves that differ, in the order of what was recorded.

    Values are compared by what they are in JSON: 1 and 1.0 differ there, and so do the orders of
    two objects' names.
    """
    match before, after:
        case dict(), dict():
            if [*before] != [*after] and {*before} == {*after}:
                yield (f"{path or 'result'} (order of names)", [*before], [*after])
            for name in dict.fromkeys((*before, *after)):
                inner = _join_path(path, name)
                yield from _walk(inner, before.get(name, _MISSING), after.get(name, _MISSING))
        case list(), list():
            for place in range(max(len(before), len(after))):
                yield from _walk(
                    f"{path}[{place}]",
                    _item_or_missing(before, place),
                    _item_or_missing(after, place),
                )
        case str(), str() if (
            before != after and max(len(before), len(after)) > MAX_SHOWN_CHARACTERS
        ):
            yield _diff_texts(path, before, after)
        case _ if type(before) is not type(after) or before != after:
            yield (path or "result", before, after)
        case _:
            pass


def _join_path(path: str, name: Any) -> str:
    key = str(name)
    if not key.isidentifier():
        return f"{path}[{msgspec.json.encode(key).decode()}]"
    return f"{path}.{key}" if path else key


def _item_or_missing(values: list[Any], place: int) -> Any:
    return values[place] if place < len(values) else _MISSING


def _diff_texts(path: str, before: str, after: str) -> Field:
    """Truncate two long texts to where they begin to differ, and return that position."""
    at = common_prefix_length(before, after)
    line = before.count("\n", 0, at) + 1
    column = at - (before.rfind("\n", 0, at) + 1) + 1
    start = max(0, at - CONTEXT_CHARACTERS)
    lead = "…" if start else ""
    where = f"{path or 'result'} (line {line}, character {column})"
    end = start + MAX_SHOWN_CHARACTERS
    return where, lead + before[start:end], lead + after[start:end]


def _field_diff(path: str, before: Any, after: Any) -> FieldDiff:
    return FieldDiff(path=path, recorded=_truncate(before), replayed=_truncate(after))


def _truncate(value: Any) -> str:
    if value is _MISSING:
        return ""
    text = msgspec.json.encode(value).decode()
    return text if len(text) <= MAX_SHOWN_CHARACTERS else text[: MAX_SHOWN_CHARACTERS - 1] + "…"


MAX_PARTS = 50
"""Parts that are told of one file."""

_BLOCK_BYTES = 1 << 20
_ZIP = b"PK\x03\x04"


def diff_files(
    name: str,
    recorded: tuple[str, Path] | None,
    replayed: tuple[str, Path] | None,
    check: Callable[[], None] = lambda: None,
) -> FileDiff:
    """Diff two versions of a file. It reads both: call it in a thread.

    Args:
        name: The file's name.
        recorded: The hash and the place of the recorded version; None if there was none.
        replayed: Those of the new one, likewise.
        check: Raises BlobDamaged or NotFound if the recorded version is not what it was: nothing is
            told of its bytes then.
    """
    hashes = recorded[0] if recorded else "", replayed[0] if replayed else ""
    diff = FileDiff(path=name, recorded=hashes[0], replayed=hashes[1])
    if recorded is None or replayed is None:
        return diff
    before, after = recorded[1], replayed[1]
    try:
        check()
        offset, note = _first_difference(before, after)
        parts: tuple[PartDiff, ...] = ()
        if _read_magic(before) == _read_magic(after) == _ZIP:
            parts, note = _diff_parts(name, before, after)
    except (OSError, NotFound, BlobDamaged):
        return FileDiff(
            path=name, recorded=hashes[0], replayed=hashes[1],
            note="one of the two versions cannot be read any more",
        )  # fmt: skip
    return FileDiff(
        path=name, recorded=hashes[0], replayed=hashes[1], parts=parts, offset=offset, note=note
    )


def _read_magic(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(len(_ZIP))


def _first_difference(before: Path, after: Path) -> tuple[int, str]:
    """Return the first byte that differs, and in a text its line."""
    offset = lines = 0
    is_text = True
    with before.open("rb") as left, after.open("rb") as right:
        while True:
            one, other = left.read(_BLOCK_BYTES), right.read(_BLOCK_BYTES)
            is_text = is_text and b"\0" not in one
            if one != other:
                break
            if not one:
                return -1, ""
            lines += one.count(b"\n")
            offset += len(one)
    shared = common_prefix_length(one, other)
    lines += one.count(b"\n", 0, shared)
    return offset + shared, f"line {lines + 1}" if is_text else ""


def _diff_parts(name: str, before: Path, after: Path) -> tuple[tuple[PartDiff, ...], str]:
    """Return the parts whose contents differ, and what else does if none do."""
    try:
        with Package(Source(before, name)) as left, Package(Source(after, name)) as right:
            old, new = _hash_parts(left), _hash_parts(right)
            differing = [
                PartDiff(part=part, recorded=old.get(part, ""), replayed=new.get(part, ""))
                for part in dict.fromkeys((*old, *new))
                if old.get(part) != new.get(part)
            ]
            if not differing:
                return (), _diff_packaging(left.entries, right.entries)
    except FileReadFailed as fault:
        return (), f"its parts cannot be compared: {fault.message}"
    left_out = len(differing) - MAX_PARTS
    note = f"and {left_out} parts more" if left_out > 0 else ""
    return tuple(differing[:MAX_PARTS]), note


def _hash_parts(package: Package) -> dict[str, str]:
    """Return the hash of each part's contents, in the order of the package."""
    found: dict[str, str] = {}
    for info in package.entries:
        digest = hashlib.sha256()
        with reading_errors(package.name):
            stream = PartStream(package.name, info, package.packed(info))
            # In blocks, and not parsed: a part may be hostile, or inflate to much.
            while block := stream.read(_BLOCK_BYTES):
                digest.update(block)
        found[info.filename] = digest.hexdigest()
    return found


def _diff_packaging(left: tuple[ZipInfo, ...], right: tuple[ZipInfo, ...]) -> str:
    """Describe the packaging differences of two packages with equal parts."""
    before = {info.filename: info for info in left}
    pairs = [(before[info.filename], info) for info in right]
    differences = {
        "order": [info.filename for info in left] != [info.filename for info in right],
        "times": any(a.date_time != b.date_time for a, b in pairs),
        "compression": any(
            (a.compress_type, a.compress_size) != (b.compress_type, b.compress_size)
            for a, b in pairs
        ),
    }
    found = [what for what, differs in differences.items() if differs] or ["headers"]
    return f"all parts are equal; the package's {', '.join(found)} differ"
