"""Where a passage is cut, and the coordinates of a part of it.

A passage that is read by lines, or by rows that begin with their numbers, can tell where each part
of it stands; the parts of any other have the place of the whole.
"""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec

from kbd.formats import Passage

__all__ = ["MOST_BYTES", "Lines", "narrowed", "spans"]

MOST_BYTES = 1150
"""The longest piece: some 190 words of English, which a small sentence model reads whole (256 word
pieces). Bytes, since a letter of a script without blanks counts for more than one of Latin."""

FEW = 0.55
"""A piece may end with a paragraph once it is as full as this."""

SHORT_BYTES = 60
"""Lines and sentences are kept together up to this: it is not worth a choice where to cut."""

RUN_CHARACTERS = MOST_BYTES // 4
"""What no script makes longer than a piece."""

_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？])")
_BORDER = re.compile(r"\s+|[,;|]")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_RANGE = re.compile(r"([A-Z]+)(\d+):([A-Z]+)(\d+)")
_ROW = re.compile(r"(\d+)\t")


class _Unit(msgspec.Struct):
    """What is not cut: characters from `start` to `end`, and how many bytes they are."""

    start: int
    end: int
    size: int
    is_last_of_paragraph: bool = False
    is_heading: bool = False


class Lines:
    """The lines of a passage, for what can be told of a part of it.

    Args:
        passage: The passage; its text ends with a line break.
    """

    def __init__(self, passage: Passage) -> None:
        self.passage = passage
        self.rows = _rows(passage)
        region = passage.region
        count = passage.text.count("\n")
        self.is_by_lines = (
            region is not None
            and region.named() == ("line_start", "line_count")
            and region.line_count == count
        )


def spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield where the pieces of a text begin and end; none is blank unless all of it is."""
    units = list(_units(text))
    left = sum(unit.size for unit in units)
    start = size = 0
    for number, unit in enumerate(units):
        size += unit.size
        left -= unit.size
        following = units[number + 1] if number + 1 < len(units) else None
        if following is None:
            yield start, unit.end
        elif _is_end(unit, following, size, size + left):
            yield start, unit.end
            start, size = unit.end, 0


def narrowed(lines: Lines, first: int, last: int) -> tuple[str, dict[str, Any]]:
    """Return the place and the coordinates of a part of a passage, as near as can be told.

    Args:
        lines: The passage.
        first: The part's first line in it, from 0.
        last: Its last.
    """
    passage, region = lines.passage, lines.passage.region
    if region is None:
        return passage.place, {}
    given = msgspec.to_builtins(region)
    if lines.is_by_lines:
        begin = region.line_start or 1
        first, last = begin + first, begin + last
        place = f"line {first}" if first == last else f"lines {first}-{last}"
        return place, {"line_start": first, "line_count": last - first + 1}
    if lines.rows and region.range:
        left, _, right, _ = _RANGE.fullmatch(region.range).groups()  # type: ignore[union-attr]
        part = f"{left}{lines.rows[first]}:{right}{lines.rows[last]}"
        place = passage.place.removesuffix(region.range) + part
        return place, given | {"range": part}
    return passage.place, given


def _is_end(unit: _Unit, following: _Unit, size: int, rest: int) -> bool:
    """Tell whether a piece ends with a unit: pieces are as even as paragraphs allow."""
    if size + following.size > MOST_BYTES:
        return True
    # What is left, with this piece, makes at least so many pieces.
    even = rest / -(-rest // MOST_BYTES)
    is_good = unit.is_last_of_paragraph or following.is_heading
    return size >= even or (is_good and rest > MOST_BYTES and size >= FEW * MOST_BYTES)


def _units(text: str) -> Iterator[_Unit]:
    """Yield lines, each with the blank ones after it, short ones together, long ones in parts."""
    held: _Unit | None = None
    start = 0
    for found in _LINE.finditer(text):
        end = found.end()
        if not found[0].strip():
            # Blank lines at the very start belong to what follows.
            if held is not None:
                held.end, held.is_last_of_paragraph = end, True
                held.size += end - start
                start = end
            continue
        for unit in _parts(text, start, end):
            if held is not None and _are_short(held, unit):
                held.end = unit.end
                held.size += unit.size
                continue
            if held is not None:
                yield held
            held = unit
        start = end
    yield held or _Unit(0, len(text), len(text))


def _are_short(unit: _Unit, following: _Unit) -> bool:
    """Tell whether two units are too short to be worth a choice between them."""
    is_border = unit.is_last_of_paragraph or unit.is_heading or following.is_heading
    return not is_border and unit.size + following.size <= SHORT_BYTES


def _parts(text: str, start: int, end: int) -> Iterator[_Unit]:
    """Yield a line, in sentences if it is long, and those in runs of words."""
    size = len(text[start:end].encode())
    if size <= MOST_BYTES:
        yield _Unit(start, end, size, is_heading=text.startswith("#", start))
        return
    ends = (found.end() for found in _SENTENCE.finditer(text, start, end))
    for stop in (*ends, end):
        if stop - start < SHORT_BYTES and stop < end:
            continue
        size = len(text[start:stop].encode())
        if size <= MOST_BYTES and stop > start:
            yield _Unit(start, stop, size)
            start = stop
        while start < stop:
            part = _run(text, start, stop)
            yield _Unit(start, part, len(text[start:part].encode()))
            start = part


def _run(text: str, start: int, stop: int) -> int:
    """Return where a run of words ends that is not too long in any script."""
    most = min(start + RUN_CHARACTERS, stop)
    if most == stop:
        return stop
    *_, last = (0, *(found.end() for found in _BORDER.finditer(text, start, most)))
    return last if last > start else most


def _rows(passage: Passage) -> tuple[int, ...]:
    """Return the number of the row on each line, where a line of letters stands above rows.

    Empty where any line tells none, as where a value goes over several.
    """
    area = passage.region.range if passage.region is not None else None
    found = _RANGE.fullmatch(area or "")
    if found is None or not passage.place.endswith(found[0]):
        return ()
    rows = [int(found[2])]
    for line in passage.text.splitlines()[1:]:
        number = _ROW.match(line)
        rows.append(int(number[1]) if number else 0)
    is_rising = all(one < two for one, two in pairwise(rows[1:]))
    is_within = all(int(found[2]) <= row <= int(found[4]) for row in rows[1:])
    return tuple(rows) if is_rising and is_within else ()
