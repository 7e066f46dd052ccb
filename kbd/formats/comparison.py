"""Records of a comparison: what differs between two versions of a file, and where.

A handler that is `Comparable` collects its changes in a `ChangeList`, which bounds them and counts
them all, and answers the `Comparison` that it makes.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from kbd.lookalikes import common_prefix_length

__all__ = [
    "MAX_CHANGES",
    "MAX_CHANGE_CHARACTERS",
    "Change",
    "ChangeCount",
    "ChangeKind",
    "ChangeList",
    "CompareOptions",
    "Comparison",
    "Hunk",
    "HunkLine",
    "Place",
    "Span",
    "Trace",
]

ChangeKind = Literal["added", "removed", "changed", "moved"]
"""What can happen to a part of a file."""

Span = tuple[Literal["equal", "removed", "added"], str]
"""A piece of a text of which words changed: the pieces that are not `added` are the text before,
those that are not `removed` the text after."""

MAX_CHANGES = 10_000
"""Changes that one comparison lists; those past it are counted."""

MAX_LISTED_BYTES = 8 * 1024 * 1024
"""What the values of all listed changes take together; an answer of a worker is at most 64 MiB."""

MAX_CHANGE_CHARACTERS = 20_000
"""As many characters of one text are listed; the rest is cut, and the change says so."""

_EXCERPT_CHARACTERS = 200
"""Of a long text, as much is shown before what differs."""


class Place(msgspec.Struct, frozen=True, omit_defaults=True):
    """Place in a file, in the coordinates that its tools take, with a title for people.

    `title` reads well in a sentence ("Sheet1!B7", "Pricing, paragraph 3", "slide 2, Title 1").
    `sheet` with `cell` ("B7") or `range` ("A5:F5", whole rows "5:5", whole columns "C:C") are of
    workbooks. `section`, `paragraph`, `table` and, in a table, `row` and `column` are of documents,
    counted from 0 as the operations count them; `part` is what lies beside the body or is no text
    at all ("header 1", "footnote 3", "names", "properties"). `slide` is counted from 0, `shape` is
    the shape's id, or its name. Of delimited tables `row` is the data row, counted from 1, and
    `column` a column's name. `line` and `page` are counted from 1.
    """

    title: str
    sheet: str | None = None
    cell: str | None = None
    range: str | None = None
    section: int | None = None
    paragraph: int | None = None
    table: int | None = None
    row: int | None = None
    column: int | str | None = None
    part: str | None = None
    slide: int | None = None
    shape: int | str | None = None
    line: int | None = None
    page: int | None = None


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """One change between two versions of a file.

    Args:
        place: Where, in the version after; of something removed, in the version before.
        kind: What happened to it.
        what: What it is, one noun in the singular ("cell", "row", "paragraph", "slide", "format").
        before: What it was: a plain value or text, a list of them for a row, an object of
            `Reading.rows` for a date or formula. None where it was not there, or was empty.
        after: What it is now, in the same forms.
        moved_from: Where something moved stood before.
        words: Of a changed text, its words.
        details: What else differs, by name: pairs of before and after ({"font_bold": [false,
            true]}).
        note: What the reader must know of it ("the stored result is out of date").
        is_cut: Whether `before` or `after` is too long to be told whole.
    """

    place: Place
    kind: ChangeKind
    what: str
    before: Any = None
    after: Any = None
    moved_from: Place | None = None
    words: tuple[Span, ...] = ()
    details: Mapping[str, tuple[Any, Any]] = {}
    note: str = ""
    is_cut: bool = False


class HunkLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """Line of a hunk; `words` are those of a line that is paired with one of the other side."""

    kind: Literal["context", "removed", "added"]
    text: str
    words: tuple[Span, ...] = ()


class Hunk(msgspec.Struct, frozen=True):
    """Lines that differ, with those around them; the starts count from 1."""

    before_start: int
    before_count: int
    after_start: int
    after_count: int
    lines: tuple[HunkLine, ...]


class ChangeCount(msgspec.Struct, frozen=True):
    """How many changes of a kind there are of a thing."""

    kind: ChangeKind
    what: str
    count: int


class CompareOptions(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a comparison is narrowed to; a format refuses options that are not its own.

    Args:
        sheet: Only this sheet of a workbook, by the name that it has in either version.
        key: The columns by whose values rows are paired; None for those that the format finds.
        context_lines: Lines around a changed one; None for the format's own number, -1 for all.
        singly: Whether each part is listed by itself, as far as the format can: the cells of a new
            row, not the row.
        in_place: Whether it is known that nothing stands elsewhere, so that it need not be found
            out. These two are for the daemon's own use, and a format may leave them aside.
    """

    sheet: str | None = None
    key: tuple[str, ...] | None = None
    context_lines: int | None = None
    singly: bool | None = None
    in_place: bool | None = None

    def named(self) -> tuple[str, ...]:
        """Name the options that are given and that a format must know."""
        given = msgspec.structs.asdict(self)
        return tuple(
            name
            for name, value in given.items()
            if value is not None and name not in ("singly", "in_place")
        )


class Comparison(msgspec.Struct, frozen=True, omit_defaults=True):
    """What differs between two versions of a file.

    Args:
        changes: In the order of the file; at most `MAX_CHANGES`.
        total: How many there are.
        counts: The same by kind and thing.
        warnings: What the reader must know: what was not compared, what is only likely.
        hunks: The lines of a text, where the format has lines; else None.
    """

    changes: tuple[Change, ...]
    total: int
    counts: tuple[ChangeCount, ...]
    warnings: tuple[str, ...] = ()
    hunks: tuple[Hunk, ...] | None = None


class Trace(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a place of one version is in another.

    Args:
        place: There; None if nothing there is it.
        is_changed: Whether what stands there differs.
    """

    place: Place | None
    is_changed: bool = False


class ChangeList:
    """Changes as a handler finds them: all are counted, and the first ones listed."""

    def __init__(self) -> None:
        self._listed: list[Change] = []
        self._counted: Counter[tuple[ChangeKind, str]] = Counter()
        self._bytes_left = MAX_LISTED_BYTES
        self._warnings: dict[str, None] = {}

    def add(self, change: Change) -> None:
        """Add a change; texts that are too long are cut."""
        self._counted[change.kind, change.what] += 1
        if not self.is_full:
            change = _cut(change)
            self._bytes_left -= len(msgspec.json.encode(change))
            self._listed.append(change)

    def count(self, kind: ChangeKind, what: str, more: int) -> None:
        """Count changes that are not worth making once the list is full."""
        if more:
            self._counted[kind, what] += more

    def warn(self, warning: str) -> None:
        """Add a warning, once."""
        self._warnings[warning] = None

    @property
    def is_full(self) -> bool:
        """Whether no more changes are listed."""
        return len(self._listed) >= MAX_CHANGES or self._bytes_left <= 0

    @property
    def total(self) -> int:
        """How many changes were added and counted."""
        return self._counted.total()

    def comparison(self, hunks: tuple[Hunk, ...] | None = None) -> Comparison:
        """Return what was added."""
        total = self.total
        if total > len(self._listed):
            self.warn(f"of {total:,} changes the first {len(self._listed):,} are listed")
        return Comparison(
            changes=tuple(self._listed),
            total=total,
            counts=tuple(ChangeCount(*key, count) for key, count in self._counted.items()),
            warnings=tuple(self._warnings),
            hunks=hunks,
        )


def _cut(change: Change) -> Change:
    """Return the change with long texts cut."""
    change = _shifted(change)
    before, after = _cut_value(change.before), _cut_value(change.after)
    is_cut = before is not change.before or after is not change.after
    if not is_cut and sum(len(text) for _, text in change.words) <= 2 * MAX_CHANGE_CHARACTERS:
        return change
    return msgspec.structs.replace(change, before=before, after=after, words=(), is_cut=True)


def _shifted(change: Change) -> Change:
    """Return the change of a long text with what differs first, if that would be cut away."""
    before, after = change.before, change.after
    if not (isinstance(before, str) and isinstance(after, str)):
        return change
    if before == after or max(len(before), len(after)) <= MAX_CHANGE_CHARACTERS:
        return change
    start = common_prefix_length(before, after)
    begin = start - _EXCERPT_CHARACTERS
    if start <= MAX_CHANGE_CHARACTERS // 2:
        return change
    note = f"the text is long: it differs from character {start + 1:,} on"
    return msgspec.structs.replace(
        change,
        before="…" + before[begin:],
        after="…" + after[begin:],
        words=(),
        note=f"{change.note}; {note}" if change.note else note,
        is_cut=True,
    )


def _cut_value(value: Any) -> Any:
    """Return a value without what is too long; the same object if nothing is.

    Where the texts of a row are too long together, each may have its share.
    """
    if isinstance(value, str):
        return _cut_text(value, MAX_CHANGE_CHARACTERS)
    if not isinstance(value, list | tuple):
        return value
    texts = [each for each in value if isinstance(each, str)]
    if sum(map(len, texts)) <= MAX_CHANGE_CHARACTERS:
        return value
    share = MAX_CHANGE_CHARACTERS // len(texts)
    return [_cut_text(each, share) if isinstance(each, str) else each for each in value]


def _cut_text(text: str, length: int) -> str:
    return text if len(text) <= length else text[:length] + "…"
