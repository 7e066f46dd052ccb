"""Merge of two sets of changed lines in one text, or the lines that stand in its way.

Changes are put together if they are about other lines: between what one side put in or took out
and what the other side touched, a line must stay that both have. Where lines are alike it cannot
be told at which of them something was put in; a change at any of those is in the way, too.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from kbd.errors import FileReadFailed
from kbd.formats import MergeClash, Merged, Place, Source
from kbd.formats.alignment import align
from kbd.plaintext.encodings import detect

__all__ = ["LineClash", "merge_files", "merge_lines"]

_MAX_SHOWN_CHARACTERS = 2000


class LineClash(NamedTuple):
    """Lines that cannot be merged, as ranges of line numbers from 0, ends not included.

    Args:
        base: In the text that both began from.
        ours: What they are here.
        theirs: What they are there.
    """

    base: tuple[int, int]
    ours: tuple[int, int]
    theirs: tuple[int, int]


class _Edit(NamedTuple):
    """A change: lines `[i1:i2]` of the base are `[j1:j2]` now.

    `first` and `last` is the stretch of the base in which it may as well have been made.
    """

    i1: int
    i2: int
    j1: int
    j2: int
    first: int
    last: int

    @property
    def keeps_count(self) -> bool:
        """Whether lines were replaced one by one, or only taken out: nothing stands between."""
        return self.i2 > self.i1 and (self.j2 - self.j1 in (0, self.i2 - self.i1))


def merge_lines(
    base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]
) -> tuple[list[str], list[LineClash]]:
    """Merge two sets of changes.

    Args:
        base: The lines that both began from.
        ours: They with one set of changes.
        theirs: They with another.

    Returns:
        The merged lines, and what is in the way; the lines are right only if nothing is.
    """
    mine, yours = _edits(base, ours), _edits(base, theirs)
    merged: list[str] = []
    clashes: list[LineClash] = []
    at = first = second = 0
    while first < len(mine) or second < len(yours):
        one = mine[first] if first < len(mine) else None
        two = yours[second] if second < len(yours) else None
        if one is not None and two is not None and _meet(one, two):
            group, first, second = _group(mine, yours, first, second)
            sides = _side(group[0], group), _side(group[1], group)
            start, end = min(each[0].i1 for each in group), max(each[-1].i2 for each in group)
            merged += base[at:start]
            texts = [
                list(lines[low:high])
                for lines, (low, high) in zip((ours, theirs), sides, strict=True)
            ]
            if texts[0] != texts[1]:
                clashes.append(LineClash((start, end), *sides))
            merged += texts[0]
            at = end
            continue
        is_mine = two is None or (one is not None and one.i1 <= two.i1)
        edit = one if is_mine else two
        assert edit is not None
        merged += base[at : edit.i1]
        merged += (ours if is_mine else theirs)[edit.j1 : edit.j2]
        at = edit.i2
        first, second = first + is_mine, second + (not is_mine)
    merged += base[at:]
    return merged, clashes


def _edits(base: Sequence[str], after: Sequence[str]) -> list[_Edit]:
    found: list[_Edit] = []
    for kind, i1, i2, j1, j2 in align(base, after):
        if kind == "equal":
            continue
        first, last = i1, i2
        if kind == "added":
            first -= _slide(base, i1 - 1, -1, after[j1:j2][::-1])
            last += _slide(base, i2, 1, after[j1:j2])
        elif kind == "removed":
            first -= _slide(base, i1 - 1, -1, base[i1:i2][::-1])
            last += _slide(base, i2, 1, base[i1:i2])
        found.append(_Edit(i1, i2, j1, j2, first, last))
    return found


def _slide(base: Sequence[str], at: int, step: int, lines: Sequence[str]) -> int:
    """Return along how many lines a stretch of lines may be slid to the same effect.

    Args:
        base: The text.
        at: The line beside the stretch.
        step: 1 to look at those below it, -1 above.
        lines: The stretch, beginning with what would come to stand beside it.
    """
    count = 0
    while 0 <= at < len(base) and base[at] == lines[count % len(lines)]:
        at, count = at + step, count + 1
    return count


def _meet(one: _Edit, two: _Edit) -> bool:
    """Tell whether two changes are in each other's way, or may be."""
    if one.first < two.last and two.first < one.last:
        return True
    if one.first > two.last or two.first > one.last:
        return False
    # They touch. Lines that were replaced one by one, or taken out, leave no doubt.
    return not (one.keeps_count and two.keeps_count)


def _group(
    mine: list[_Edit], yours: list[_Edit], first: int, second: int
) -> tuple[tuple[list[_Edit], list[_Edit]], int, int]:
    """Return the changes of both sides that are in each other's way, and what is next."""
    group: tuple[list[_Edit], list[_Edit]] = [mine[first]], [yours[second]]
    nexts = [first + 1, second + 1]
    is_grown = True
    while is_grown:
        is_grown = False
        for side, edits in enumerate((mine, yours)):
            other = group[1 - side]
            while nexts[side] < len(edits) and any(
                _meet(edits[nexts[side]], each) for each in other
            ):
                group[side].append(edits[nexts[side]])
                nexts[side] += 1
                is_grown = True
    return group, nexts[0], nexts[1]


def _side(edits: list[_Edit], group: tuple[list[_Edit], list[_Edit]]) -> tuple[int, int]:
    """Return the lines that one side has for all that a group is about."""
    start, end = min(each[0].i1 for each in group), max(each[-1].i2 for each in group)
    return edits[0].j1 - (edits[0].i1 - start), edits[-1].j2 + (end - edits[-1].i2)


class _Text(NamedTuple):
    """A text, its encoding and how its lines end; "" for ends that are mixed."""

    lines: list[str]
    encoding: str
    end: str


def _read(source: Source) -> _Text:
    encoding = detect(source.path)
    try:
        data = source.path.read_bytes()
    except OSError as error:
        raise FileReadFailed("the file cannot be opened") from error
    text = ""
    try:
        text = data.decode(encoding.name)
        is_whole = text.encode(encoding.name) == data
    except UnicodeError:
        is_whole = False
    if not is_whole or "\0" in text:
        msg = f"{source.name} is not text in one encoding, so its lines cannot be merged"
        raise FileReadFailed(msg)
    bare = text.replace("\r\n", "")
    kinds = [end for end, held in (("\r\n", text), ("\n", bare), ("\r", bare)) if end in held]
    if len(kinds) > 1:
        # Kept with the lines: then each is compared, too.
        return _Text(text.split("\n"), encoding.name, "")
    end = kinds[0] if kinds else "\n"
    return _Text(text.split(end), encoding.name, end)


def merge_files(base: Source, ours: Source, theirs: Source, target: Path) -> Merged:
    """Merge two versions of a text file; see `Mergeable.merge`.

    Raises:
        FileReadFailed: A version is not text, or the result has characters that its encoding has
            not.
    """
    versions = [_read(source) for source in (base, ours, theirs)]
    if not all(each.end for each in versions):
        versions = [_with_ends(each) for each in versions]
    one, two, three = versions
    merged, clashes = merge_lines(one.lines, two.lines, three.lines)
    if clashes:
        return Merged(tuple(_clash(each, one, two, three) for each in clashes))
    # What the edits did not change is as it is published now.
    end = three.end if two.end == one.end else two.end
    encoding = three.encoding if two.encoding == one.encoding else two.encoding
    try:
        data = (end or "\n").join(merged).encode(encoding)
    except UnicodeError:
        msg = f"{theirs.name} is {encoding}, which has no character for some of the draft's text"
        raise FileReadFailed(msg) from None
    target.write_bytes(data)
    return Merged()


def _with_ends(text: _Text) -> _Text:
    """Return a text whose lines have their ends, but for line feeds."""
    if text.end in ("", "\n"):
        return text._replace(end="\n")
    return text._replace(lines=text.end.join(text.lines).split("\n"), end="\n")


def _clash(clash: LineClash, base: _Text, ours: _Text, theirs: _Text) -> MergeClash:
    first, last = clash.ours[0] + 1, max(clash.ours[1], clash.ours[0] + 1)
    title = f"line {first}" if first == last else f"lines {first}-{last}"
    shown = [
        "\n".join(text.lines[low:high])[:_MAX_SHOWN_CHARACTERS]
        for text, (low, high) in zip((base, ours, theirs), clash, strict=True)
    ]
    return MergeClash(Place(title=title, line=first), *shown)
