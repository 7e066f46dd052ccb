"""Changes of tables on slides: rows and columns that came and went, cells, their formatting.

Columns are paired by what is in them, rows by what stands in the columns that both have.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lxml import etree

from kbd.formats import Change, ChangeList, Place
from kbd.formats.alignment import diff_words
from kbd_pptx.comparison.format_names import Details, Named, name_differences
from kbd_pptx.comparison.markup import Fact, Resolve, differences, read_facts
from kbd_pptx.comparison.places import cell_place
from kbd_pptx.comparison.text import (
    ItemPair,
    add_embedded,
    add_links,
    compare_formats,
    pair_items,
    read_paragraphs,
    text_change,
)
from kbd_pptx.presentation import A
from kbd_pptx.reader.boxes import EMU_PER_INCH, parse_length
from kbd_pptx.reader.text import table_of, table_rows

__all__ = ["TableMatches", "compare_tables", "match_tables", "table_bodies"]


class TableMatches(NamedTuple):
    """Rows and columns that are the same."""

    rows: list[ItemPair]
    columns: list[ItemPair]


def table_bodies(element: etree._Element) -> list[etree._Element]:
    """Return the rows and the widths of columns of the table in a frame."""
    table = table_of(element)
    return [] if table is None else table.findall(f"{A}tr") + table.findall(f"{A}tblGrid")


def match_tables(old: Sequence[Sequence[str]], new: Sequence[Sequence[str]]) -> TableMatches:
    """Return which rows and columns of two tables, as texts, are the same."""
    columns = _match_columns(old, new)
    shared = [(i, j) for i, j in columns if i is not None and j is not None]
    old_rows = [tuple(_at(row, i) for i, _ in shared) for row in old]
    new_rows = [tuple(_at(row, j) for _, j in shared) for row in new]

    def like(i: int, j: int) -> float:
        same = sum(1 for a, b in zip(old_rows[i], new_rows[j], strict=True) if a == b and a)
        filled = max(1, sum(1 for a, b in zip(old_rows[i], new_rows[j], strict=True) if a or b))
        return same / filled

    return TableMatches(pair_items(old_rows, new_rows, like), columns)


def _match_columns(old: Sequence[Sequence[str]], new: Sequence[Sequence[str]]) -> list[ItemPair]:
    width, new_width = max(map(len, old), default=0), max(map(len, new), default=0)
    if width == new_width:
        return [(at, at) for at in range(width)]
    olds = [tuple(_at(row, at) for row in old) for at in range(width)]
    news = [tuple(_at(row, at) for row in new) for at in range(new_width)]

    def like(i: int, j: int) -> float:
        one, other = Counter(olds[i]), Counter(news[j])
        return 2 * (one & other).total() / max(1, one.total() + other.total())

    return pair_items(olds, news, like)


def _at(row: Sequence[str], column: int) -> str:
    return row[column] if column < len(row) else ""


class _TableSide(NamedTuple):
    """One version of a table."""

    table: etree._Element
    texts: list[list[str]]
    rows: list[etree._Element]
    widths: list[str]
    resolve: Resolve
    place: Place

    def cell(self, row: int, column: int) -> etree._Element | None:
        """Return a cell, None if its row has none there."""
        cells = self.rows[row].findall(f"{A}tc")
        return cells[column] if column < len(cells) else None


def _side(element: etree._Element, resolve: Resolve, place: Place) -> _TableSide | None:
    table = table_of(element)
    if table is None:
        return None
    rows = table.findall(f"{A}tr")
    widths = [each.get("w", "") for each in table.iterfind(f"{A}tblGrid/{A}gridCol")]
    return _TableSide(table, table_rows(element), rows, widths, resolve, place)


def compare_tables(
    before: tuple[etree._Element, Resolve, Place],
    after: tuple[etree._Element, Resolve, Place],
    changes: ChangeList,
) -> None:
    """Add what differs between the tables in two frames.

    Args:
        before: The frame, what its relations lead to, and its place.
        after: The same of the version after.
        changes: Where changes go.
    """
    old, new = _side(*before), _side(*after)
    if old is None or new is None:
        return
    found = match_tables(old.texts, new.texts)
    for i, j in found.columns:
        if i is None and j is not None:
            texts = [_at(row, j) for row in new.texts]
            changes.add(Change(cell_place(new.place, None, j), "added", "column", after=texts))
        elif j is None and i is not None:
            texts = [_at(row, i) for row in old.texts]
            changes.add(Change(cell_place(old.place, None, i), "removed", "column", before=texts))
        elif i is not None and j is not None:
            _compare_lengths(
                _at(old.widths, i), _at(new.widths, j), cell_place(new.place, None, j), "width",
                changes,
            )  # fmt: skip
    formats: dict[tuple[int, int], Details] = {}
    for i, j in found.rows:
        if i is None and j is not None:
            place = cell_place(new.place, j)
            changes.add(Change(place, "added", "row", after=list(new.texts[j])))
        elif j is None and i is not None:
            place = cell_place(old.place, i)
            changes.add(Change(place, "removed", "row", before=list(old.texts[i])))
        elif i is not None and j is not None:
            heights = old.rows[i].get("h", ""), new.rows[j].get("h", "")
            _compare_lengths(*heights, cell_place(new.place, j), "height", changes)
            _compare_rows(old, new, (i, j), found.columns, formats, changes)
    _add_formats(formats, new, changes)


def _compare_lengths(before: str, after: str, place: Place, what: str, changes: ChangeList) -> None:
    if before != after:
        changes.add(Change(place, "changed", what, before=_inches(before), after=_inches(after)))


def _inches(text: str) -> float | None:
    length = parse_length(text)
    return None if length is None else round(length / EMU_PER_INCH, 4)


def _compare_rows(
    old: _TableSide,
    new: _TableSide,
    rows: tuple[int, int],
    columns: Sequence[ItemPair],
    formats: dict[tuple[int, int], Details],
    changes: ChangeList,
) -> None:
    i, j = rows
    for old_at, new_at in columns:
        if old_at is None or new_at is None:
            continue
        place = cell_place(new.place, j, new_at)
        texts = _at(old.texts[i], old_at), _at(new.texts[j], new_at)
        if texts[0] != texts[1]:
            changes.add(text_change(place, "cell", *texts))
        one, other = old.cell(i, old_at), new.cell(j, new_at)
        if one is None or other is None:
            continue
        named = name_differences(
            differences(_box_facts(one, old.resolve), _box_facts(other, new.resolve))
        )
        for each in _paragraph_formats(one, old.resolve, other, new.resolve):
            for name, pair in each.details.items():
                named.details.setdefault(name, pair)
            named.links.extend(each.links)
            named.parts.extend(each.parts)
        if named.details:
            formats[j, new_at] = named.details
        add_links(named, place, changes)
        add_embedded(named, place, changes)


def _box_facts(cell: etree._Element, resolve: Resolve) -> list[Fact]:
    """Return what is said of a cell without its paragraphs."""
    return list(read_facts(cell, resolve, frozenset(cell.iterfind(f"{A}txBody/{A}p"))))


def _paragraph_formats(
    old: etree._Element, old_resolve: Resolve, new: etree._Element, new_resolve: Resolve
) -> Iterator[Named]:
    """Yield what differs in the formatting of words that a cell has before and after."""
    olds = read_paragraphs(old.find(f"{A}txBody"), old_resolve)
    news = read_paragraphs(new.find(f"{A}txBody"), new_resolve)
    # Of more or fewer paragraphs nobody can tell which is which.
    pairs = zip(olds, news, strict=True) if len(olds) == len(news) else ()
    for number, (one, other) in enumerate(pairs):
        if one == other:
            continue
        words = (("equal", one.text),) if one.text == other.text else diff_words(
            one.text, other.text
        )  # fmt: skip
        named, _ = compare_formats(one, other, words)
        # The first paragraph, which mostly is the only one, has the plain names.
        before = f"paragraph {number + 1} " if number else ""
        details = {f"{before}{name}": pair for name, pair in named.details.items()}
        yield Named(details, named.links, named.parts)


def _add_formats(
    formats: dict[tuple[int, int], Details], new: _TableSide, changes: ChangeList
) -> None:
    """Add changes of formatting: one of all cells, or one a row where all of its cells share it."""
    width = max(map(len, new.texts), default=0)
    alike = all(details == next(iter(formats.values())) for details in formats.values())
    if alike and len(formats) > 1 and len(formats) == len(new.texts) * width:
        details = next(iter(formats.values()))
        changes.add(Change(new.place, "changed", "format", details=details, note="of all cells"))
        return
    rows: dict[int, list[int]] = {}
    for row, column in formats:
        rows.setdefault(row, []).append(column)
    for row, columns in rows.items():
        first = formats[row, columns[0]]
        if len(columns) == width > 1 and all(formats[row, each] == first for each in columns):
            changes.add(Change(cell_place(new.place, row), "changed", "format", details=first))
            continue
        for column in columns:
            place = cell_place(new.place, row, column)
            changes.add(Change(place, "changed", "format", details=formats[row, column]))
