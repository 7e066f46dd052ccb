"""Comparison of two versions of a picture, and the way of a place from one to the other."""

import re
from collections.abc import Sequence
from typing import Any

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import (
    Change,
    ChangeKind,
    ChangeList,
    CompareOptions,
    Comparison,
    Place,
    Source,
    Trace,
)
from kbd.formats.alignment import diff_words
from kbd.plaintext import detect, open_text
from kbd_image.comparison.frames import (
    Frame,
    differing_pixels,
    pair_frames,
    pair_in_order,
    read_frames,
)
from kbd_image.comparison.metadata import read_properties
from kbd_image.decoder import is_vector
from kbd_image.facts import metadata

__all__ = ["compare", "locate", "trace"]

HOW = 'write "picture", "frame 2", "property dpi" or, of an svg file, "line 12"'

MAX_MARKUP_CHARACTERS = 8_000_000
"""Of an svg file that are compared line by line."""

_NUMBERED = re.compile(r"(?i)\s*(frame|page|line)\s*#?\s*(\d{1,7})\s*")
_PICTURE = Place("picture", part="picture")
_SIZE = Place("size", part="size")
_GONE = Trace(None)


def compare(before: Source | None, after: Source | None, options: CompareOptions) -> Comparison:
    """Return what differs between two versions of a picture; see `Comparable.compare`."""
    source = after or before
    assert source is not None
    if options.named():
        raise ValidationFailed(
            f"{source.name} is compared whole; a picture takes no {options.named()[0]}"
        )
    changes = ChangeList()
    if before is None:
        changes.add(Change(_PICTURE, "added", "picture", after=_facts(source)))
    elif after is None:
        changes.add(Change(_PICTURE, "removed", "picture", before=_facts(source)))
    else:
        _compare(before, after, changes)
    return changes.comparison()


def _facts(source: Source) -> dict[str, Any]:
    found = metadata(source)
    return {name: found[name] for name in ("format", "width", "height", "frames") if name in found}


def _compare(before: Source, after: Source, changes: ChangeList) -> None:
    old, new = _facts(before), _facts(after)
    if before.path.read_bytes() == after.path.read_bytes():
        return
    sizes = [(each.get("width"), each.get("height")) for each in (old, new)]
    if sizes[0] != sizes[1]:
        changes.add(Change(
            _SIZE, "changed", "size", before=_size(sizes[0]), after=_size(sizes[1])
        ))  # fmt: skip
    _compare_properties(read_properties(before), read_properties(after), changes)
    vectors = is_vector(before), is_vector(after)
    if all(vectors):
        _compare_markup(before, after, changes)
    elif any(vectors):
        note = "one version is markup, whose look is not drawn here"
        changes.add(Change(_PICTURE, "changed", "picture", note=note))
    else:
        _compare_frames(before, after, changes)


def _size(size: tuple[Any, Any]) -> dict[str, Any]:
    return {"width": size[0], "height": size[1]}


def _property_place(name: str) -> Place:
    return Place(f"property {name}", part=f"property {name}")


def _compare_properties(old: dict[str, Any], new: dict[str, Any], changes: ChangeList) -> None:
    for name in {**old, **new}:
        was, now = old.get(name), new.get(name)
        if was == now:
            continue
        kind: ChangeKind = "changed"
        if name not in old or name not in new:
            kind = "added" if name in new else "removed"
        changes.add(Change(_property_place(name), kind, "property", before=was, after=now))


def _frame_place(index: int, count: int) -> Place:
    if count < 2:
        return _PICTURE
    return Place(f"frame {index + 1}", page=index + 1)


def _compare_frames(before: Source, after: Source, changes: ChangeList) -> None:
    warnings: dict[str, None] = {}
    old, new = _frames(before, warnings), _frames(after, warnings)
    for warning in warnings:
        changes.warn(warning)
    if old is None or new is None:
        note = "its pixels were not compared; the bytes of the file differ"
        changes.add(Change(_PICTURE, "changed", "picture", note=note))
        return
    count = max(len(old), len(new))
    for i, j in pair_frames(old, new):
        if i is None and j is not None:
            changes.add(Change(_frame_place(j, count), "added", "frame"))
        elif j is None and i is not None:
            changes.add(Change(_frame_place(i, count), "removed", "frame"))
        elif i is not None and j is not None:
            change = _frame_change(before, (i, old[i]), after, (j, new[j]), count)
            if change is not None:
                changes.add(change)


def _frames(source: Source, warnings: dict[str, None]) -> list[Frame] | None:
    """Return the frames of a picture; None, with a warning, if they cannot be decoded."""
    try:
        return read_frames(source, warnings)
    except FileReadFailed as error:
        warnings[f"Pixels were not compared: {error.message}."] = None
        return None


def _frame_change(
    before: Source, old: tuple[int, Frame], after: Source, new: tuple[int, Frame], count: int
) -> Change | None:
    """Return the change of a frame, None if it is the same."""
    (i, was), (j, now) = old, new
    details: dict[str, tuple[Any, Any]] = {}
    note = ""
    if was.duration_ms != now.duration_ms:
        details["duration_ms"] = (was.duration_ms, now.duration_ms)
    if was.size != now.size:
        details["size"] = (list(was.size), list(now.size))
        note = "the sizes differ, so pixels were not compared one by one"
    elif was.digest != now.digest:
        found = differing_pixels(before, i, after, j)
        if found is None:
            note = "its pixels differ"
        elif found.box is None:
            note = "what differs is not seen: too small, wholly transparent, or the same in RGB"
        else:
            left, top, width, height = found.box
            box = {"left": left, "top": top, "width": width, "height": height}
            details["differing_share"] = (0.0, round(found.share, 6))
            details["differing_box"] = (None, box)
            note = (
                f"{_percent(found.share)} of its pixels differ, by at most "
                f"{found.most} of 255, within {width} x {height} pixels from {left}, {top}"
            )
    if not details and not note:
        return None
    what = "frame" if count > 1 else "picture"
    return Change(_frame_place(j, count), "changed", what, details=details, note=note)


def _percent(share: float) -> str:
    return "under 0.01 %" if share < 0.0001 else f"{100 * share:.3g} %"


def _markup(source: Source) -> list[str]:
    with open_text(source.path, detect(source.path)) as file:
        return file.read(MAX_MARKUP_CHARACTERS).split("\n")


def _compare_markup(before: Source, after: Source, changes: ChangeList) -> None:
    old, new = _markup(before), _markup(after)
    for version, lines in ((before, old), (after, new)):
        if sum(map(len, lines)) + len(lines) > MAX_MARKUP_CHARACTERS:
            changes.warn(
                f"Of {version.name} the first {MAX_MARKUP_CHARACTERS:,} characters were compared."
            )
    for i, j in pair_in_order(old, new):
        if i is None and j is not None:
            changes.add(Change(_line_place(j), "added", "line", after=new[j] or None))
        elif j is None and i is not None:
            changes.add(Change(_line_place(i), "removed", "line", before=old[i] or None))
        elif i is not None and j is not None and old[i] != new[j]:
            changes.add(Change(
                _line_place(j), "changed", "line", before=old[i] or None, after=new[j] or None,
                words=diff_words(old[i], new[j]),
            ))  # fmt: skip
    if old == new:
        note = "in how its text is encoded, or past what is compared"
        changes.add(Change(_PICTURE, "changed", "picture", note=note))


def _line_place(index: int) -> Place:
    return Place(f"line {index + 1}", line=index + 1)


def trace(
    before: Source, after: Source, places: tuple[Place, ...], *, forward: bool
) -> tuple[Trace, ...]:
    """Return where places of one version stand in the other; raises FileReadFailed."""
    found = ChangeList()
    _compare(before, after, found)
    changes = found.comparison().changes
    return tuple(_trace(before, after, place, changes, forward=forward) for place in places)


def _trace(
    before: Source, after: Source, place: Place, changes: Sequence[Change], *, forward: bool
) -> Trace:
    there = after if forward else before
    if place.page is not None or place.line is not None:
        return _trace_numbered(before, after, place, forward=forward)
    if place.part == "picture":
        # The picture is all of the file.
        return Trace(place, is_changed=bool(changes))
    name = (place.part or "").removeprefix("property ")
    if place.part != "size" and name not in read_properties(there):
        return _GONE
    return Trace(place, is_changed=any(each.place.part == place.part for each in changes))


def _trace_numbered(before: Source, after: Source, place: Place, *, forward: bool) -> Trace:
    if place.line is not None:
        if not (is_vector(before) and is_vector(after)):
            return _GONE
        old: Sequence[Any] = _markup(before)
        new: Sequence[Any] = _markup(after)
        pairs, at = pair_in_order(old, new), place.line - 1
    else:
        warnings: dict[str, None] = {}
        if is_vector(before) or is_vector(after):
            return _GONE
        old, new = read_frames(before, warnings), read_frames(after, warnings)
        pairs, at = pair_frames(old, new), (place.page or 0) - 1
    for i, j in pairs:
        if i is not None and j is not None and (i if forward else j) == at:
            end = j if forward else i
            count = max(len(old), len(new))
            found = _line_place(end) if place.line is not None else _frame_place(end, count)
            return Trace(found, is_changed=old[i] != new[j])
    return _GONE


def locate(source: Source, text: str) -> Place:
    """Return the place that a text means; see `Comparable.locate`."""
    words = " ".join(text.split()).casefold()
    facts = metadata(source)
    if words in ("picture", "the picture", "image"):
        return _PICTURE
    if words == "size":
        return _SIZE
    if found := _NUMBERED.fullmatch(text):
        return _locate_numbered(source, found[1].lower(), int(found[2]), facts.get("frames", 1))
    for name in read_properties(source):
        if words in (name.casefold(), f"property {name}".casefold()):
            return _property_place(name)
    raise ValidationFailed(f'"{text[:80]}" is no place of {source.name}; {HOW}')


def _locate_numbered(source: Source, what: str, number: int, frames: int) -> Place:
    if what == "line":
        if not is_vector(source):
            raise ValidationFailed(f"{source.name} is no svg file: it has no lines; {HOW}")
        count = len(_markup(source))
    else:
        count = frames
    if not 1 <= number <= count:
        raise ValidationFailed(f"{source.name} has {count} {what}s, not {number}; {HOW}")
    return _line_place(number - 1) if what == "line" else Place(f"frame {number}", page=number)
