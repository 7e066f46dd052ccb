"""Manifest of the files in a prompt: every file, with as much of its structure as fits.

    {"note": "…",                       what was shortened, and how to see the rest
     "context_items": ["situation"],    the categories that are set
     "files": [{"path": …, "kind": …, "size_bytes": …, "mime_type": …, "is_opaque": …,
                "reason": …,            why it is opaque, or could not be looked into
                "map": {…},             its structure
                "text": …}]}            all its text, if that is at most 4,000 bytes

The list stays within a size, whatever there is in the workbench. When it would be larger, files
lose what they show in steps, until it fits: their text; then the map, of which a summary stays;
then all but name, kind and size; then all but the name. The fewest files are shortened: the largest
first, and those that the request names after all others. Only names that do not fit are an error.

What a file shows depends on its bytes and its name alone, so a run finds it out once.

A map is plain values of some format; only its shape is known here. Its summary keeps counts, names
and sizes: single values stay as they are, of a list its length and as many of its first elements
as fit, each without what is nested in it or says nothing (false, null, "", 0).

    {"sheets": {"count": 3, "first": [{"name": "Jan", "row_count": 812, "col_count": 9}, …]}}
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import anyio
import msgspec

from kbd.core.agent.prompt_blocks import json_text
from kbd.core.plugins.format_calls import FileOverview
from kbd.errors import ContextExhausted
from kbd.formats import FormatHandler
from kbd.providers import ModelInfo
from kbd.tools import FileRef, Files
from kbd.types import BlobHash, FileName

__all__ = ["SUMMARY_BYTES", "FileInspector", "Manifest", "listing_bytes", "summarize_map"]

SUMMARY_BYTES = 400
"""The largest summary: some ten sheets or headings by name."""

_STRING_CHARACTERS = 60


def summarize_map(structure: Mapping[str, Any], max_bytes: int = SUMMARY_BYTES) -> dict[str, Any]:
    """Summarize a map in `max_bytes` bytes of JSON."""
    short: dict[str, Any] = {}
    lists: dict[str, list[Any]] = {}
    for name, value in structure.items():
        match value:
            case list() | tuple():
                if value:
                    lists[name] = list(value)
                    short[name] = {"count": len(value)}
            case dict():
                short[name] = _scalars(value)
            case _:
                if _has_content(value):
                    short[name] = _cut(value)
        if _json_bytes(short) > max_bytes:
            del short[name]
            lists.pop(name, None)
    for name, value in lists.items():
        _add_first(short, name, value, max_bytes)
    return short


def _add_first(short: dict[str, Any], name: str, value: list[Any], max_bytes: int) -> None:
    """Add to a list's count as many of its first elements as fit."""
    entry = short[name]
    left = max_bytes - _json_bytes(short) - len('"first":[],')
    first: list[Any] = []
    for element in value:
        brief = _scalars(element) if isinstance(element, dict) else _cut(element)
        left -= _json_bytes(brief) + 1
        if left < 0 or isinstance(element, list | tuple):
            break
        first.append(brief)
    if first:
        entry["first"] = first


def _scalars(value: Mapping[str, Any]) -> dict[str, Any]:
    single = {name: each for name, each in value.items() if not isinstance(each, dict | list)}
    return {name: _cut(each) for name, each in single.items() if _has_content(each)}


def _has_content(value: Any) -> bool:
    return value not in (None, False, "", 0)


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _STRING_CHARACTERS:
        return value[: _STRING_CHARACTERS - 1] + "…"
    return value


def _json_bytes(value: Any) -> int:
    return len(msgspec.json.encode(value))


MAP_BYTES = 8 * 1024
"""The largest map of one file that goes into a prompt; of a larger one the summary does."""

TEXT_BYTES = 4000
"""A text up to this size stands in the listing (contract, section 6)."""

SMALL_FILE_BYTES = 64 * 1024
"""Larger files are not asked for their text: it is hardly ever that short."""

INSPECTION_S = 20.0
"""So long a prompt waits for maps; the next one has those that were not looked into by then."""

MAX_CONCURRENT_INSPECTIONS = 4
"""So many files are looked into at once: as many as worker calls run at once on two cores."""

_HEAD_BYTES = 640
"""Room kept for what stands beside the files."""

_BARE_BYTES = 40
"""What kind and size take beside a name."""

_BARE_STEP, _NAME_STEP = 3, 4
"""The steps at which a file shows name, kind and size, and its name alone."""


class FileInspector(Protocol):
    """Inspector of files by their formats: `kbd.core.plugins.format_calls.FormatCalls`."""

    def for_name(self, name: str) -> FormatHandler | None:
        """Return the format of a file, or None for an opaque one."""

    async def look(self, file: FileRef, text_bytes: int) -> FileOverview:
        """Return its map, and its text if that has at most so many bytes."""


class _Inspection(msgspec.Struct, frozen=True):
    """Result of inspecting a file; `note` says why there is nothing yet."""

    structure: Mapping[str, Any] | None = None
    text: str | None = None
    fault: str = ""
    note: str = ""


class _Entry(msgspec.Struct, frozen=True):
    """A file's JSON at each of the five steps; where a step changes nothing it is the same."""

    steps: tuple[bytes, ...]


_NOT_INSPECTED = _Inspection()
_NOT_YET = _Inspection(note="not looked into yet: call get_file_map for its structure")
_TOO_SLOW = _Inspection(note="its structure takes long to find out: call get_file_map for it")

_Key = tuple[FileName, BlobHash]


def listing_bytes(model: ModelInfo, max_bytes: int, context_bytes: int = 0) -> int:
    """Return the largest size of a listing in bytes.

    Args:
        model: A quarter of its window, less what is taken.
        max_bytes: The setting; never more than that.
        context_bytes: What a person's context takes of the window, in bytes.
    """
    return min(max_bytes, (int(model.context_tokens * model.bytes_per_token) - context_bytes) // 4)


class Manifest:
    """Builder of one run's file listings, with a cache of what was found in each file.

    Args:
        inspection_s: Seconds that one listing may spend on looking into files.
    """

    def __init__(self, inspection_s: float = INSPECTION_S) -> None:
        self._inspection_s = inspection_s
        self._known: dict[_Key, _Entry] = {}

    async def build(
        self,
        files: Files,
        formats: FileInspector,
        room: int,
        *,
        light: bool = False,
        wanted: str = "",
        context_items: Sequence[str] = (),
        order: Sequence[FileName] = (),
    ) -> dict[str, Any]:
        """List every file as it is now.

        Args:
            files: The files.
            formats: Their formats.
            room: The most bytes that the listing takes, as a block shows it.
            light: Whether files are listed without maps and texts: no file is opened.
            wanted: The words of the request: the files that it names are shortened last.
            context_items: The categories that are set.
            order: Files in the order in which they are listed; others follow, sorted.

        Raises:
            ContextExhausted: Not even the names fit.
        """
        places = {name: place for place, name in enumerate(order)}
        names = sorted(files.names(), key=lambda name: places.get(name, len(places)))
        listed = [files.get(name) for name in names]
        words = wanted.casefold()
        named = {place for place, file in enumerate(listed) if _is_named(file.name, words)}
        if not light:
            first = [listed[place] for place in sorted(named)]
            # Where names, kinds and sizes fill the room, nobody would see the rest.
            least = sum(len(file.name.encode()) + _BARE_BYTES for file in listed)
            await self._inspect([*first, *listed] if least <= room else first, files, formats)
        entries = [self._entry(files, file, light=light) for file in listed]
        steps = _choose_steps(entries, named, room - _HEAD_BYTES)
        listing: dict[str, Any] = {}
        if note := _shortening_note(entries, steps, light=light):
            listing["note"] = note
        if context_items:
            listing["context_items"] = list(context_items)
        listing["files"] = [
            msgspec.Raw(entry.steps[step]) for entry, step in zip(entries, steps, strict=True)
        ]
        return listing

    async def _inspect(
        self, listed: Sequence[FileRef], files: Files, formats: FileInspector
    ) -> None:
        """Inspect the files that were not inspected yet, as far as there is time."""
        unknown = {_file_key(file): file for file in listed if _file_key(file) not in self._known}
        begun: set[_Key] = set()
        limiter = anyio.CapacityLimiter(MAX_CONCURRENT_INSPECTIONS)

        async def inspect(key: _Key, file: FileRef) -> None:
            async with limiter:
                begun.add(key)
                found = await _inspection_of(file, formats)
            # A fault that may pass is not kept, so the next prompt looks again.
            if found is None:
                begun.discard(key)
            else:
                self._known[key] = _detail_steps(files.describe(file), found)

        with anyio.move_on_after(self._inspection_s) as scope:
            async with anyio.create_task_group() as tasks:
                for key, file in unknown.items():
                    tasks.start_soon(inspect, key, file)
        if scope.cancelled_caught:
            # Only what was begun was slow; the rest had no turn, and gets one with the next prompt.
            for key in begun - self._known.keys():
                self._known[key] = _detail_steps(files.describe(unknown[key]), _TOO_SLOW)

    def _entry(self, files: Files, file: FileRef, *, light: bool) -> _Entry:
        if light:
            return _detail_steps(files.describe(file), _NOT_INSPECTED)
        known = self._known.get(_file_key(file))
        return known or _detail_steps(files.describe(file), _NOT_YET)


async def _inspection_of(file: FileRef, formats: FileInspector) -> _Inspection | None:
    """Inspect one file; None if a second try may help."""
    if formats.for_name(file.name) is None:
        return _Inspection()
    overview = await formats.look(file, TEXT_BYTES if file.size_bytes <= SMALL_FILE_BYTES else 0)
    if overview.error is not None:
        return (
            None
            if overview.error.retryable
            else _Inspection(overview.structure, fault=overview.error.message)
        )
    return _Inspection(overview.structure, overview.text)


def _detail_steps(described: Mapping[str, Any], found: _Inspection) -> _Entry:
    """Write a file at each step."""
    path = {"path": described["path"]}
    bare = path | {"kind": described["kind"], "size_bytes": described["size_bytes"]}
    shown, short = dict(described), dict(bare)
    if found.fault:
        shown["reason"] = short["reason"] = found.fault
    elif found.note and not described["is_opaque"]:
        shown["map_note"] = found.note
    structure = found.structure
    if structure is not None:
        short["map_summary"] = summarize_map(structure)
        size = len(msgspec.json.encode(structure))
        if size <= MAP_BYTES:
            shown["map"] = structure
        else:
            shown["map_summary"] = short["map_summary"]
            shown["map_note"] = f"its map has {size:,} bytes: call get_file_map, or read by region"
    if described.get("reason"):
        short |= {"is_opaque": described["is_opaque"], "reason": described["reason"]}
    whole = shown if found.text is None else {**shown, "text": found.text}
    return _Entry(tuple(json_text(each).encode() for each in (whole, shown, short, bare, path)))


def _choose_steps(entries: Sequence[_Entry], named: set[int], room: int) -> list[int]:
    """Return the step at which each file is shown.

    Raises:
        ContextExhausted: Not even the names fit.
    """
    steps = [0] * len(entries)
    size = sum(len(entry.steps[0]) + 1 for entry in entries)
    others = [place for place in range(len(entries)) if place not in named]
    everyone = range(len(entries))
    # Files that the request names are shortened only after all others.
    for places in (others, everyone):
        for step in range(_NAME_STEP):
            if size <= room:
                return steps
            size = _shorten(entries, steps, places, step, size, room)
    if size > room:
        msg = (
            f"the names of the {len(entries)} files take {size:,} bytes and there is room for"
            f" {max(room, 0):,}: remove files, raise run.manifest_bytes, or use a model with a"
            " larger window"
        )
        detail = {"files": len(entries), "needed_bytes": size, "room_bytes": max(room, 0)}
        raise ContextExhausted(msg, detail=detail)
    return steps


def _shorten(
    entries: Sequence[_Entry], steps: list[int], places: Sequence[int], step: int, size: int,
    room: int,
) -> int:  # fmt: skip
    """Take files one step on, those that save most first, until all fits; return the new size."""

    def saved(place: int) -> int:
        forms = entries[place].steps
        return len(forms[step]) - len(forms[step + 1])

    ready = [place for place in places if steps[place] == step]
    for place in sorted(ready, key=saved, reverse=True):
        if size <= room:
            break
        steps[place] = step + 1
        size -= saved(place)
    return size


def _shortening_note(entries: Sequence[_Entry], steps: list[int], *, light: bool) -> str:
    """Return a note of what was shortened and how to see the rest; "" if nothing was.

    The tools that it names are those of the phase: where files are listed lightly that is the plan.
    """
    pairs = list(zip(entries, steps, strict=True))
    counts = {
        "without their text or whole map": sum(
            0 < step < _BARE_STEP and entry.steps[step] != entry.steps[0] for entry, step in pairs
        ),
        "with name, kind and size alone": steps.count(_BARE_STEP),
        "with their name alone": steps.count(_NAME_STEP),
    }
    cuts = [f"{count} of {len(steps)} files {how}" for how, count in counts.items() if count]
    if not cuts:
        return ""
    shortened = f"Shortened, for there is no room for more: {', '.join(cuts)}."
    if light:
        return f"{shortened} read_file returns the content of any file."
    return (
        f"{shortened} get_file_map returns the map of any file, read_file its content, list_files"
        " kind and size of all."
    )


def _is_named(name: FileName, words: str) -> bool:
    return name.rpartition("/")[2].casefold() in words


def _file_key(file: FileRef) -> _Key:
    return file.name, file.blob
