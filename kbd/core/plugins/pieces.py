"""Pieces of a document's text: cut for an index, or one after the other to read on.

For an index they are cut in the worker that reads the document, and carried in a file: one msgpack
array a piece, one after the other, so it is written and read with no more than a piece in memory.
An `Extract` is a part of all text of a file: cut where it is long enough, with where to go on.

A passage that is read by lines, or by rows that begin with their numbers, can tell where each part
of it stands, in coordinates of its own; the parts of any other have the place of the whole.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec

from kbd.formats import Passage, Region

__all__ = [
    "CUT_EDITION",
    "MAX_BYTES",
    "Extract",
    "PassageLines",
    "TextPiece",
    "cut_pieces",
    "extract",
    "narrow_place",
    "read_pieces",
    "short_text",
    "split_spans",
    "write_pieces",
]

MAX_BYTES = 1150
"""The longest piece: some 190 words of English, which a small sentence model reads whole (256 word
pieces). Bytes, since a letter of a script without blanks counts for more than one of Latin."""

MIN_FILL = 0.55
"""A piece may end with a paragraph once it is as full as this."""

SHORT_BYTES = 60
"""Lines and sentences are kept together up to this: it is not worth a choice where to cut."""

RUN_CHARACTERS = MAX_BYTES // 4
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


class PassageLines:
    """Lines of a passage, with the place and coordinates of each.

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


def split_spans(text: str) -> Iterator[tuple[int, int]]:
    """Split a text: yield where its pieces begin and end; none is blank unless all of it is."""
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


def narrow_place(lines: PassageLines, first: int, last: int) -> tuple[str, dict[str, Any]]:
    """Narrow a passage's place and coordinates to a part of it, as closely as is known.

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
    if size + following.size > MAX_BYTES:
        return True
    # What is left, with this piece, makes at least so many pieces.
    even = rest / -(-rest // MAX_BYTES)
    is_good = unit.is_last_of_paragraph or following.is_heading
    return size >= even or (is_good and rest > MAX_BYTES and size >= MIN_FILL * MAX_BYTES)


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
    if size <= MAX_BYTES:
        yield _Unit(start, end, size, is_heading=text.startswith("#", start))
        return
    ends = (found.end() for found in _SENTENCE.finditer(text, start, end))
    for stop in (*ends, end):
        if stop - start < SHORT_BYTES and stop < end:
            continue
        size = len(text[start:stop].encode())
        if size <= MAX_BYTES and stop > start:
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


CUT_EDITION = "4"
"""Goes up when the same text would be read or cut otherwise; what is indexed is then cut again."""

TINY_BYTES = 400
"""Passages are joined up to this size: some 60 words."""

BUFFER_BYTES = 1 << 16


class TextPiece(msgspec.Struct, frozen=True, array_like=True):
    """A piece of a document's text.

    The texts of all pieces, one after the other, are the document's whole text.

    Args:
        text: What is indexed; it begins where the piece before ends.
        place: Where it stands, as people would name it.
        line_start: Its first line in the document's whole text, from 1.
        line_end: Its last line there.
        region: The coordinates that read the place again, as plain values; empty if none do.
        heading: What stands above it, such as the names of columns; no part of the text.
    """

    text: str
    place: str
    line_start: int
    line_end: int
    region: dict[str, Any]
    heading: str = ""


def cut_pieces(passages: Iterable[Passage], most_characters: int) -> Iterator[TextPiece]:
    """Yield the pieces of a document, in order.

    Each is of one passage, or of small ones that one region can name; passages without any text
    are left out. Pieces end with a paragraph, a line, a sentence or a word, the first of these that
    is near enough, and hold up to some 190 words.

    Args:
        passages: All its text.
        most_characters: Where to stop: a text that is cut short there has exactly so many.
    """
    left, line = most_characters, 1
    for passage in _merge_passages(passages):
        if left <= 0:
            return
        text = passage.text[:left]
        left -= len(text)
        lines = PassageLines(passage)
        breaks = 0
        for start, end in split_spans(text):
            piece = text[start:end]
            inner = piece.count("\n")
            last = breaks + inner - piece.endswith("\n")
            place, region = narrow_place(lines, breaks, max(breaks, last))
            ends = line + max(breaks, last)
            yield TextPiece(piece, place, line + breaks, ends, region, passage.heading)
            breaks += inner
        line += breaks


def write_pieces(pieces: Iterable[TextPiece], target: Path) -> int:
    """Write pieces to a new file and return how many they are.

    Raises:
        OSError: The file exists, or cannot be written.
    """
    encoder = msgspec.msgpack.Encoder()
    count = 0
    with target.open("xb", BUFFER_BYTES) as file:
        for piece in pieces:
            body = encoder.encode(piece)
            # msgpack does not say beforehand where an array ends; so a reader holds one piece at a
            # time.
            file.write(len(body).to_bytes(4))
            file.write(body)
            count += 1
    return count


def read_pieces(target: Path) -> Iterator[TextPiece]:
    """Yield what `write_pieces` wrote.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not whole, or something else.
    """
    decoder = msgspec.msgpack.Decoder(TextPiece)
    with target.open("rb", BUFFER_BYTES) as file:
        while header := file.read(4):
            size = int.from_bytes(header)
            body = file.read(size)
            if len(header) < 4 or len(body) < size:
                msg = "the pieces end within one"
                raise ValueError(msg)
            yield decoder.decode(body)


def _merge_passages(passages: Iterable[Passage]) -> Iterator[Passage]:
    """Yield passages that say something, each on lines of its own, small neighbors as one."""
    held: Passage | None = None
    first = ""
    for passage in passages:
        if not passage.text.strip():
            continue
        found = msgspec.structs.replace(passage, text=_clean_text(passage.text))
        both = None if held is None else _merge_pair(held, found, first)
        if held is not None and both is None:
            yield held
        if both is None:
            first = found.place
        held = both or found
    if held is not None:
        yield held


def _clean_text(text: str) -> str:
    """End the last line, too, and leave nothing in the text that UTF-8 cannot hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-8", "replace").decode()
    return text if text.endswith("\n") else text + "\n"


def _merge_pair(first: Passage, second: Passage, begin: str) -> Passage | None:
    """Return two passages as one, if they are small and one region can name them.

    Args:
        first: The one, perhaps joined itself.
        second: The other.
        begin: The place where the first begins.
    """
    if first.heading != second.heading:
        return None
    text, heading = first.text + second.text, first.heading
    # No character takes less than a byte, so a long text need not be encoded.
    if len(text) > TINY_BYTES or len(text.encode()) > TINY_BYTES:
        return None
    place = f"{begin} – {second.place}"
    if first.region == second.region:
        place = first.place if first.place == second.place else place
        return Passage(text, place, first.region, heading)
    if first.region is None or second.region is None:
        return None
    pages = first.region.pages, second.region.pages
    if first.region.named() == second.region.named() == ("pages",) and all(pages):
        low, high = str(pages[0]).partition("-")[0], str(pages[1]).rpartition("-")[2]
        return Passage(text, place, Region(pages=f"{low}-{high}"), heading)
    return None


class Extract(msgspec.Struct, frozen=True):
    """A part of all text.

    Args:
        text: Passages, each on lines of its own, the last line ended, too.
        places: The place of each, and the character of `text` where it starts.
        following: The passage and the character of it to go on with; None at the end.
    """

    text: str
    places: tuple[tuple[str, int], ...]
    following: tuple[int, int] | None = None


def extract(passages: Iterable[Passage], passage: int, character: int, limit: int) -> Extract:
    """Return the text from a place on; the parts, one after the other, are the whole.

    Args:
        passages: All passages of the file.
        passage: The first one that is wanted, from 0; past the end there is no text.
        character: The first character of it that is wanted.
        limit: The most characters, at least 1.
    """
    parts: list[str] = []
    places: list[tuple[str, int]] = []
    length = 0
    following = None
    for number, found in enumerate(passages):
        if number < passage:
            continue
        begin = character if number == passage else 0
        room = limit - length
        if room == 0:
            following = (number, begin)
            break
        lines = found.text if found.text.endswith("\n") else found.text + "\n"
        places.append((found.place, length))
        parts.append(lines[begin : begin + room])
        length += len(parts[-1])
        if begin + room < len(lines):
            following = (number, begin + room)
            break
    return Extract("".join(parts), tuple(places), following)


def short_text(passages: Iterable[Passage], most_bytes: int) -> str | None:
    """Return all text if it is at most so many bytes, else None."""
    found = extract(passages, 0, 0, most_bytes)
    fits = found.following is None and len(found.text.encode()) <= most_bytes
    return found.text if fits else None
