"""Comparison of two versions of a workbook."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from contextlib import ExitStack
from functools import cached_property
from typing import Any, Self

from kbd.errors import ValidationFailed
from kbd.formats import Change, ChangeKind, ChangeList, CompareOptions, Comparison, Source
from kbd.formats.alignment import align
from kbd.opc.package import Package
from kbd.sheets.areas import Area
from kbd_xlsx.comparison.book_parts import (
    OwnedPart,
    OwnedParts,
    compare_names,
    compare_parts,
    compare_workbooks,
)
from kbd_xlsx.comparison.book_side import BookSide, SheetSide
from kbd_xlsx.comparison.cell_changes import compare_cells, list_rows
from kbd_xlsx.comparison.line_maps import BookMaps, LineMap, SheetMap
from kbd_xlsx.comparison.places import sheet_place
from kbd_xlsx.comparison.raw_cells import filled_columns, raw_cells
from kbd_xlsx.comparison.row_alignment import SheetAlignment, align_sheets
from kbd_xlsx.comparison.row_tokens import tokenize
from kbd_xlsx.comparison.sheet_objects import compare_objects, own_parts
from kbd_xlsx.comparison.sheet_settings import compare_settings, tab_color
from kbd_xlsx.parts.shared_strings import string_uses
from kbd_xlsx.workbook import SheetEntry

__all__ = ["BookComparison", "SheetPair", "compare"]

SAMPLE_ROWS = 300
"""Rows by which a renamed sheet is recognised."""

MAX_RENAMED = 30
"""Sheets without a counterpart of their name that are looked at for having been renamed."""

_SIMILAR = 0.5


def compare(before: Source | None, after: Source | None, options: CompareOptions) -> Comparison:
    """Compare two versions of a workbook.

    Raises:
        FileReadFailed: A version cannot be read.
        ValidationFailed: Neither version has the sheet that is named.
    """
    with BookComparison(before, after, in_place=options.in_place is True) as book:
        changes = ChangeList()
        book.compare(options.sheet, changes, singly=options.singly is True)
        return changes.comparison()


class SheetPair:
    """A sheet in both versions; one of them may not have it.

    Args:
        before: The sheet in the older version.
        after: The sheet in the newer version.
        is_comparable: Whether numbers of texts and looks mean the same in both versions.
        in_place: Whether it is known that all rows and columns are where they were.
    """

    def __init__(
        self, before: SheetSide, after: SheetSide, *, is_comparable: bool, in_place: bool = False
    ) -> None:
        self.before = before
        self.after = after
        self.is_comparable = is_comparable
        self._in_place = in_place

    @property
    def is_in_both(self) -> bool:
        """Whether both versions have the sheet."""
        return self.before.entry is not None and self.after.entry is not None

    @cached_property
    def has_equal_bytes(self) -> bool:
        """Whether the sheet's part is the same, byte for byte."""
        packages = self.before.book.package, self.after.book.package
        parts = self.before.part, self.after.part
        if packages[0] is None or packages[1] is None or not all(parts):
            return parts[0] == parts[1]
        one, two = packages[0].entry(parts[0]), packages[1].entry(parts[1])
        if (one.file_size, one.CRC, one.compress_type) != (
            two.file_size, two.CRC, two.compress_type
        ):  # fmt: skip
            return False
        return packages[0].packed(one) == packages[1].packed(two)

    @cached_property
    def alignment(self) -> SheetAlignment:
        """How its rows and columns belong together; raises FileReadFailed."""
        is_same = self.is_comparable and self.has_equal_bytes
        if is_same or not (self.before.has_rows and self.after.has_rows):
            return SheetAlignment(LineMap(), LineMap())
        return align_sheets(
            self.before,
            self.after,
            is_comparable=self.is_comparable,
            in_place=self._in_place,
        )

    @cached_property
    def map(self) -> SheetMap:
        """The same as a map; raises FileReadFailed."""
        alignment = self.alignment
        return SheetMap(self.before.name, self.after.name, alignment.rows, alignment.columns)


class BookComparison:
    """Two versions of a workbook, opened; a context manager.

    Args:
        before: The older version, None for none.
        after: The newer version, None for none.
        in_place: Whether it is known that all rows and columns are where they were.

    Raises:
        FileReadFailed: A version cannot be read.
    """

    def __init__(
        self, before: Source | None, after: Source | None, *, in_place: bool = False
    ) -> None:
        self._in_place = in_place
        self._open = ExitStack()
        known: dict[Any, int] = {}
        try:
            packages = [
                self._open.enter_context(Package(source)) if source is not None else None
                for source in (before, after)
            ]
            self.before, self.after = (BookSide(package, known) for package in packages)
            values = self.before.values, self.after.values
            counts_alike = None in packages or values[0].from_1904 == values[1].from_1904
            for each in values:
                each.counts_from_1900 = not counts_alike
            self.is_comparable = counts_alike and _is_comparable(self.before, self.after)
            self.pairs = tuple(self._paired())
        except BaseException:
            self._open.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def compare(self, sheet: str | None, changes: ChangeList, *, singly: bool = False) -> None:
        """Add all changes, or those of one sheet; singly, the cells of rows are listed for them.

        Raises:
            FileReadFailed: A version is damaged.
            ValidationFailed: Neither version has the sheet.
        """
        pairs: Sequence[SheetPair] = self.pairs
        if sheet is not None:
            pairs = [self.pair(sheet)]
        elif self._are_two:
            compare_workbooks(self.before, self.after, changes)
            self._compare_order(changes)
        for pair in pairs:
            self.compare_sheet(pair, changes, singly=singly)
        if sheet is None:
            compare_names(self.before, self.after, self.maps, changes)
        if sheet is None and self._are_two:
            compare_parts(self.before, self.after, self._owned_parts, self.maps, changes)

    def compare_beside(self, changes: ChangeList) -> None:
        """Add the changes of what is on no sheet; raises FileReadFailed."""
        compare_workbooks(self.before, self.after, changes)
        compare_names(self.before, self.after, self.maps, changes)
        compare_parts(self.before, self.after, self._owned_parts, self.maps, changes)

    @property
    def _are_two(self) -> bool:
        """Whether there are two versions."""
        return self.before.package is not None and self.after.package is not None

    def pair(self, name: str) -> SheetPair:
        """Return a sheet by the name that it has in either version; raises ValidationFailed."""
        for fold in (str, str.casefold):
            for pair in self.pairs:
                names = [
                    fold(side.name) for side in (pair.after, pair.before) if side.entry is not None
                ]
                if fold(name) in names:
                    return pair
        all_names = dict.fromkeys(
            side.name for pair in self.pairs for side in (pair.after, pair.before)
        )
        listed = ", ".join(list(filter(None, all_names))[:20])
        raise ValidationFailed(f"neither version has a sheet {name!r}; there are: {listed}")

    @cached_property
    def maps(self) -> BookMaps:
        """Which cells are which, on all sheets; raises FileReadFailed."""
        return BookMaps(pair.map for pair in self.pairs if pair.is_in_both)

    def compare_sheet(self, pair: SheetPair, changes: ChangeList, *, singly: bool = False) -> None:
        """Add the changes of one sheet; raises FileReadFailed."""
        if not pair.is_in_both:
            self._add_whole_sheet(pair, changes)
            return
        self._add_sheet_details(pair, changes)
        if pair.before.has_rows and pair.after.has_rows:
            compare_cells(
                (pair.before, pair.after),
                pair.alignment,
                self.maps,
                pair.map,
                changes,
                is_comparable=self.is_comparable,
                singly=singly,
            )
        if pair.before.part and pair.after.part:
            # Equal bytes may mean other looks of rules, or other addresses of links.
            is_same = self.is_comparable and pair.has_equal_bytes
            compare_settings(
                (pair.before, pair.after), self.maps, pair.map, changes, has_equal_rows=is_same
            )
            compare_objects(pair.before, pair.after, self.maps, pair.map, changes)

    def _paired(self) -> Iterator[SheetPair]:
        """Yield the sheets of both versions, in the order of the newer one."""
        old = list(self.before.sheets)
        partners: dict[int, SheetEntry] = {}
        for fold in (str, str.casefold):
            for place, entry in enumerate(self.after.sheets):
                same = next((each for each in old if fold(each.name) == fold(entry.name)), None)
                if place not in partners and same is not None:
                    partners[place] = same
                    old = [each for each in old if each is not same]
        self._add_renamed(old, partners)
        rest = [each for each in old if all(each is not one for one in partners.values())]
        for place, entry in enumerate(self.after.sheets):
            yield self._pair(partners.get(place), entry)
        for entry in rest:
            yield self._pair(entry, None)

    def _pair(self, before: SheetEntry | None, after: SheetEntry | None) -> SheetPair:
        return SheetPair(
            SheetSide(self.before, before),
            SheetSide(self.after, after),
            is_comparable=self.is_comparable,
            in_place=self._in_place,
        )

    def _add_renamed(self, old: list[SheetEntry], partners: dict[int, SheetEntry]) -> None:
        """Pair sheets that have another name but the same contents."""
        new = [place for place in range(len(self.after.sheets)) if place not in partners]
        if not old or not new or max(len(old), len(new)) > MAX_RENAMED:
            return
        ours = [self._sample(SheetSide(self.before, entry)) for entry in old]
        theirs = [self._sample(SheetSide(self.after, self.after.sheets[place])) for place in new]
        found = []
        for i, one in enumerate(ours):
            for j, two in enumerate(theirs):
                most = max(one.total(), two.total())
                share = (one & two).total() / most if most else 0.0
                same_part = old[i].part == self.after.sheets[new[j]].part != ""
                if not most and same_part and old[i].kind == self.after.sheets[new[j]].kind:
                    share = _SIMILAR
                elif same_part and share < _SIMILAR:
                    # A column that was filled differs in every row, and in one cell of each.
                    share = self._shared_cells(old[i], self.after.sheets[new[j]])
                if share >= _SIMILAR:
                    found.append((share + same_part / 10, i, j))
        taken: set[int] = set()
        for _, i, j in sorted(found, reverse=True):
            if i not in taken and new[j] not in partners:
                taken.add(i)
                partners[new[j]] = old[i]

    def _sample(self, side: SheetSide) -> Counter[int]:
        """Return the first rows of a sheet with what they hold."""
        if not side.has_rows:
            return Counter()
        rows = range(1, SAMPLE_ROWS + 1)
        count = min(SAMPLE_ROWS, len(side.scan.hashes))
        return Counter(filter(None, tokenize(side, rows, count).by_row))

    def _shared_cells(self, before: SheetEntry, after: SheetEntry) -> float:
        """Return which share of the cells of the sheet with fewer both hold, in the first rows."""
        ours = self._cell_sample(SheetSide(self.before, before))
        theirs = self._cell_sample(SheetSide(self.after, after))
        least = min(ours.total(), theirs.total())
        return (ours & theirs).total() / least if least else 0.0

    def _cell_sample(self, side: SheetSide) -> Counter[Hashable]:
        """Return what the cells of the first rows hold."""
        if not side.has_rows:
            return Counter()
        rows = range(1, min(SAMPLE_ROWS, len(side.scan.hashes)) + 1)
        return Counter(
            content
            for _, _, cells in side.rows(rows)
            for cell in raw_cells(cells)
            if cell.formula is None and (content := side.book.values.content(cell)) is not None
        )

    def _compare_order(self, changes: ChangeList) -> None:
        both = [pair for pair in self.pairs if pair.is_in_both]
        places = {id(pair.before.entry): place for place, pair in enumerate(both)}
        old = [places[id(each)] for each in self.before.sheets if id(each) in places]
        new = list(range(len(both)))
        for block in align(old, new):
            for place in range(block.j1, block.j2):
                if block.kind in ("replaced", "added"):
                    pair = both[place]
                    positions = (
                        self._position(self.before.sheets, pair.before.entry),
                        self._position(self.after.sheets, pair.after.entry),
                    )
                    changes.add(
                        Change(
                            place=sheet_place(pair.after.name),
                            kind="moved",
                            what="sheet",
                            moved_from=sheet_place(pair.before.name),
                            details={"position": positions},
                        )
                    )

    def _position(self, sheets: Sequence[SheetEntry], entry: SheetEntry | None) -> int:
        """Return which tab a sheet is, from 1 on."""
        return next(place for place, each in enumerate(sheets, 1) if each is entry)

    def _add_sheet_details(self, pair: SheetPair, changes: ChangeList) -> None:
        one, two = pair.before.entry, pair.after.entry
        assert one is not None
        assert two is not None
        details: dict[str, tuple[Any, Any]] = {}
        if one.name != two.name:
            details["name"] = one.name, two.name
        if one.hidden != two.hidden:
            details["hidden"] = one.hidden, two.hidden
        if one.is_very_hidden != two.is_very_hidden:
            details["very_hidden"] = one.is_very_hidden, two.is_very_hidden
        if one.kind != two.kind:
            details["kind"] = one.kind, two.kind
        if one.part and two.part:
            colors = tab_color(pair.before), tab_color(pair.after)
            if colors[0] != colors[1]:
                details["tab_color"] = colors
        elif one.part or two.part:
            details["has_contents"] = bool(one.part), bool(two.part)
        if details:
            changes.add(
                Change(
                    place=sheet_place(two.name), kind="changed", what="sheet",
                    before=one.name, after=two.name, details=details,
                )
            )  # fmt: skip

    def _add_whole_sheet(self, pair: SheetPair, changes: ChangeList) -> None:
        """Add a sheet that is new, or gone, with its rows and what is on it."""
        is_new = pair.after.entry is not None
        side = pair.after if is_new else pair.before
        kind: ChangeKind = "added" if is_new else "removed"
        size = _size(side)
        changes.add(
            Change(
                place=sheet_place(side.name),
                kind=kind,
                what="sheet",
                before=None if is_new else size,
                after=size if is_new else None,
            )
        )
        if side.has_rows:
            list_rows(side, kind, changes)
        if side.part:
            compare_objects(pair.before, pair.after, self.maps, pair.map, changes)

    @cached_property
    def _owned_parts(self) -> tuple[OwnedParts, OwnedParts]:
        """The parts of either version that belong to its sheets."""
        found: tuple[OwnedParts, OwnedParts] = ({}, {})
        for pair in self.pairs:
            before, after = (own_parts(side) for side in (pair.before, pair.after))
            for parts, own, other in zip(found, (before, after), (after, before), strict=True):
                # Where some came and others went, they may be the same under other names.
                replaces = any(each.goes_with not in {"", *own} for each in other.values())
                for name, part in own.items():
                    goes = part.goes_with not in {"", *other} and not replaces
                    # What is only of a sheet that is new or gone goes with that sheet.
                    told = part.is_told or goes or not pair.is_in_both
                    parts[name.casefold()] = OwnedPart(told, pair.map if not told else None)
        return found


def _size(side: SheetSide) -> dict[str, Any]:
    """Return the range that a sheet uses, and how many rows and columns that is."""
    if not side.has_rows:
        return {"range": "", "rows": 0, "columns": 0}
    top = bottom = right = 0
    left = 1 << 30
    for number, _, cells in side.rows(range(1, len(side.scan.hashes) + 1)):
        columns = filled_columns(cells)
        if columns is not None:
            top, bottom = top or number, number
            left, right = min(left, columns[0]), max(right, columns[1])
    if not top:
        return {"range": "", "rows": 0, "columns": 0}
    area = Area(top, left, bottom, right)
    return {"range": str(area), "rows": bottom - top + 1, "columns": right - left + 1}


def _is_comparable(before: BookSide, after: BookSide) -> bool:
    """Tell whether numbers of texts and looks mean the same in both versions."""
    looks = zip(before.looks.keys, after.looks.keys, strict=False)
    if not all(one == two for one, two in looks):
        return False
    emptied = before.texts.emptied(after.texts)
    # Edits empty a text that no cell uses any more: where no cell has its number, none differs.
    return emptied is not None and not (
        _uses_any(before, emptied[0]) or _uses_any(after, emptied[1])
    )


def _uses_any(book: BookSide, places: set[int]) -> bool:
    """Tell whether a cell has one of some numbers of texts; raises FileReadFailed."""
    if book.package is None or not places:
        return False
    parts = {sheet.part for sheet in book.sheets if sheet.part}
    return any(not places.isdisjoint(string_uses(book.package.read(part), part)) for part in parts)
