"""What a format may offer so that recorded edits of a file are applied again on another version.

Between the version that an edit was made on and the one that it shall be applied on, rows,
paragraphs or slides may have moved. A format that is `Relocatable` carries addresses over; one
whose files are lines of text is `Mergeable` instead. Neither ever guesses: what is not certain is
refused with the reason. `touches` tells whether two changes are about the same place.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import msgspec

from kbd.formats.comparison import Change, Place
from kbd.formats.records import Source

__all__ = [
    "MergeClash",
    "Mergeable",
    "Merged",
    "Relocatable",
    "Relocation",
    "places_overlap",
    "touches",
]


class Relocation(msgspec.Struct, frozen=True, omit_defaults=True):
    """Operations as they are on another version.

    Args:
        operations: The same operations, with the addresses that they have there; none where one
            cannot be carried over.
        is_shifted: Whether anything at all stands elsewhere than in the version before.
        is_in_place: Whether `CompareOptions.in_place` is true of the two versions.
        reason: Why an operation cannot be carried over; "" if all can.
        place: What that operation is about, in the version before, where that can be told.
    """

    operations: tuple[Mapping[str, Any], ...] = ()
    is_shifted: bool = False
    is_in_place: bool = False
    reason: str = ""
    place: Place | None = None


class Relocatable(ABC):
    """A format whose operations can be carried over to another version of a file."""

    derived: ClassVar[tuple[str, ...]] = ()
    """What of its changes (`Change.what`) only follows from others: stored results of formulas."""

    shifting: ClassVar[tuple[str, ...]] = ()
    """The operations behind which later ones of the same call count in another way. Without any,
    all operations of a file count as the version does that the first one was made on."""

    laid_on: ClassVar[tuple[str, ...]] = ()
    """What of its changes (`Change.what`) lies on other things and holds none of them, as a comment
    does: that it is taken away takes nothing else away."""

    compares_in_place: ClassVar[bool] = False
    """Whether its comparisons know `CompareOptions.in_place`."""

    @abstractmethod
    def relocate(
        self, operations: tuple[msgspec.Struct, ...], before: Source, after: Source
    ) -> Relocation:
        """Return operations that were made on `before` as they are on `after`.

        Args:
            operations: Instances of the classes in `Editable.operations`; may be none, to ask
                whether anything is shifted.
            before: The version that they were applied to.
            after: Another version, in which things may stand elsewhere.

        Raises:
            FileReadFailed: A version cannot be read.
        """


class MergeClash(msgspec.Struct, frozen=True, omit_defaults=True):
    """Lines that both versions changed, and not in the same way.

    Args:
        place: Where, in `ours`.
        before: The lines in the common version.
        ours: What became of them here.
        theirs: What became of them there.
    """

    place: Place
    before: str = ""
    ours: str = ""
    theirs: str = ""


class Merged(msgspec.Struct, frozen=True, omit_defaults=True):
    """Outcome of a merge: no clashes, or nothing was written."""

    clashes: tuple[MergeClash, ...] = ()


class Mergeable(ABC):
    """A format whose files are merged as a whole: lines of text."""

    @abstractmethod
    def merge(self, base: Source, ours: Source, theirs: Source, target: Path) -> Merged:
        """Write what `theirs` becomes by the changes from `base` to `ours`.

        Args:
            base: The version that both began from.
            ours: It with one set of changes.
            theirs: It with another.
            target: A path that does not exist yet; nothing is written if there are clashes.

        Raises:
            FileReadFailed: A version cannot be read as text.
        """


_CORNER = re.compile(r"\$?([A-Za-z]{0,3})\$?(\d{0,7})")
_LAST = 1 << 30

_Area = tuple[int, int, int, int]


def _area(text: str) -> _Area:
    """Return a range as top, left, bottom and right; of what is none, everything."""
    first, _, last = text.partition(":")
    one, two = _CORNER.fullmatch(first), _CORNER.fullmatch(last or first)
    if one is None or two is None:
        return 0, 0, _LAST, _LAST
    top, left = int(one[2] or 0), _column(one[1])
    bottom, right = int(two[2] or _LAST), _column(two[1]) or _LAST
    return top, left, bottom, right


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def _areas(place: Place) -> tuple[_Area, ...]:
    return tuple(map(_area, (place.cell or place.range or "").split()))


_SINGLE = frozenset(
    ("section", "paragraph", "table", "row", "column", "slide", "shape", "line", "page")
)
_WITHIN = frozenset(("cell", "range", "paragraph", "table", "row", "column", "shape", "line"))


def places_overlap(one: Place, other: Place) -> bool:
    """Tell whether two places of one version have something in common: one may hold the other."""
    if (one.sheet or "").casefold() != (other.sheet or "").casefold():
        return False
    if one.part != other.part:
        # A sheet or a slide holds what lies on it; a cell or paragraph holds no part.
        holder = one if one.part is None else other
        is_part = holder.part is not None or (holder.sheet is None and holder.slide is None)
        if is_part or not _WITHIN.isdisjoint(_named(holder)):
            return False
    elif one.part is None:
        mine, yours = _areas(one), _areas(other)
        if mine and yours and not any(_meet(area, each) for area in mine for each in yours):
            return False
    # A paragraph of the body and a table beside it: neither holds the other.
    if _is_paragraph_beside(one, other) or _is_paragraph_beside(other, one):
        return False
    here, there = _named(one), _named(other)
    return all(here[name] == there[name] for name in _SINGLE & here.keys() & there.keys())


def _named(place: Place) -> dict[str, object]:
    """Return the coordinates that a place has."""
    given = msgspec.structs.asdict(place)
    return {name: value for name, value in given.items() if value is not None}


def _is_paragraph_beside(one: Place, other: Place) -> bool:
    return (
        one.paragraph is not None
        and one.table is None
        and other.table is not None
        and other.paragraph is None
    )


def _meet(one: _Area, other: _Area) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


def touches(one: Change, other: Change, laid_on: tuple[str, ...] = ()) -> bool:
    """Tell whether two changes, with places of one version, are about the same thing.

    A change of something that the other one took away, or put there, is. Changes of other aspects
    of one thing (its text and its look) are not.

    Args:
        one: A change.
        other: Another.
        laid_on: As `Relocatable.laid_on`.
    """
    if not places_overlap(one.place, other.place):
        return False
    if one.what == other.what:
        # What moved as a whole may have changed within.
        return (one.kind == "moved") == (other.kind == "moved")
    return any(each.kind == "removed" and each.what not in laid_on for each in (one, other))
