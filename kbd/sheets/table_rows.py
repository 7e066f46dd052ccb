"""Rows of a sheet's table as they pass by: what is seen of its columns, and the table made of it.

A reader writes the rows once. Where a column has texts among values of another kind, it is decided
what they mean, and the reader writes the rows again with these texts read so.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from kbd.formats import (
    AggregateRow,
    Column,
    ColumnType,
    ReadAs,
    Table,
    TableReading,
    TouchedRows,
    total_label,
)
from kbd.formats.headings import RENAMED, changed_names
from kbd.sheets.areas import Area, cell_name, overlaps
from kbd.sheets.repeated_headers import HeaderMark
from kbd.sheets.stored_texts import ReadTexts, StoredTexts, read_texts
from kbd.sheets.table_columns import column_type, kind_of
from kbd.sheets.table_extent import TableExtent
from kbd.sheets.values import Value, plain_text

__all__ = [
    "ERROR",
    "MERGED",
    "MOST_BLANK",
    "UNSTORED",
    "EmptiedCells",
    "SeenColumn",
    "SeenRows",
    "decide_texts",
    "emptied_cells",
    "make_table",
    "merged_below",
    "mixed_currencies",
    "read_values",
]

UNSTORED = "formula without a stored result, read as empty"
ERROR = "error, read as empty"
MERGED = "cell merged with the one above it, read as empty"
_MOST_LABELS = 1_000
MOST_BLANK = 10
"""Blank rows that are named."""


class SeenColumn:
    """What was seen of a column.

    Attributes:
        kinds: The kinds of its values.
        texts: Its texts.
    """

    def __init__(self) -> None:
        self.kinds: set[str] = set()
        self.texts = StoredTexts()
        self._labels: int | None = 0

    @property
    def is_open(self) -> bool:
        """Whether its texts may be read as others, or are all labels of totals."""
        return self.texts.is_open or self._labels is not None

    def add_texts(self, cells: Iterable[tuple[int, str]]) -> None:
        """Add texts, each with its row in the sheet, as long as the column is open."""
        for row, text in cells:
            if not text:
                continue
            if self.texts.is_open:
                self.texts.add(row, text)
            if self._labels is not None:
                is_label = self._labels < _MOST_LABELS and total_label(text) is not None
                self._labels = self._labels + 1 if is_label else None
            if not self.is_open:
                return

    def column_type(self) -> ColumnType | None:
        """Return the type of its values, None while only labels of totals keep it from having one.

        Without the rows that these label it is one of dates or of whole numbers, which look the
        same in every reading.
        """
        others = self.kinds - {"string"}
        is_plain = others == {"integer"} or (others and others <= {"date", "datetime"})
        return None if self._labels and is_plain else column_type(self.kinds)


class SeenRows(msgspec.Struct):
    """One pass over a table's rows.

    Args:
        columns: What was seen of each.
        mark: What the header would be told by.
        count: How many rows are not blank.
        blank: Numbers of the first rows that are.
        marked: Those that have the header's first name in its column.
    """

    columns: list[SeenColumn]
    mark: HeaderMark | None = None
    count: int = 0
    blank: list[int] = msgspec.field(default_factory=list)
    marked: list[int] = msgspec.field(default_factory=list)

    def look_out(self, first: int, columns: Sequence[Sequence[str]]) -> None:
        """Note which of some rows may be the header again.

        Args:
            first: The number of the first one in the sheet.
            columns: Their texts, column by column.
        """
        if self.mark is None or self.mark.texts.isdisjoint(texts := columns[self.mark.place]):
            return
        self.marked += [row for row, text in enumerate(texts, first) if text in self.mark.texts]


def decide_texts(names: Sequence[str], seen: SeenRows, read_as: ReadAs) -> ReadTexts:
    """Decide what the texts are that stand among other values."""
    columns = seen.columns
    mixed = {
        place: each.texts
        for place, each in enumerate(columns)
        if each.texts.is_open and each.texts.counts and _one_kind(each.kinds)
    }
    numeric = frozenset(place for place in mixed if columns[place].kinds & {"integer", "float"})
    return read_texts(names, mixed, numeric, read_as.decimal)


def _one_kind(kinds: set[str]) -> bool:
    """Tell whether values beside texts are of one kind: numbers, dates or truth values."""
    others = kinds - {"string"}
    return bool(others) and any(
        others <= alike for alike in ({"integer", "float"}, {"date", "datetime"}, {"boolean"})
    )


def read_values(values: Iterable[Value], plain: Mapping[str, str], kinds: set[str]) -> list[str]:
    """Return values in the plain form, texts among them as they are read, and add their kinds."""
    texts = []
    for value in values:
        if isinstance(value, str):
            text = plain.get(value, value)
            if text:
                kinds.add("float" if "." in text else "integer")
        else:
            text = plain_text(value)
            kinds.add(kind_of(value))
        texts.append(text)
    return texts


class EmptiedCells(msgspec.Struct, frozen=True):
    """Cells of a table that hold something and are read as empty.

    A figure over them is without what they stand for.

    Args:
        rows: Their rows, by the reason.
        columns: The reasons by the columns of the sheet, counted from 1.
    """

    rows: tuple[TouchedRows, ...]
    columns: Mapping[int, tuple[str, ...]]

    def details(self, names: Sequence[str], left: int) -> dict[str, Any]:
        """Return the reasons by the names of columns, as the details of a table have them.

        Args:
            names: Of the columns.
            left: The first column of the table in the sheet.
        """
        found = {
            names[column - left]: list(reasons)
            for column, reasons in sorted(self.columns.items())
            if 0 <= column - left < len(names)
        }
        return {"unread": found} if found else {}


def emptied_cells(
    cells: Iterable[tuple[str, int, int]], skipped: frozenset[int] = frozenset()
) -> EmptiedCells:
    """Return the cells of a table that hold something and are read as empty.

    Args:
        cells: The reason, the row and the column of each, from top to bottom.
        skipped: Rows that are not in the table.
    """
    rows: dict[str, dict[int, int]] = {}
    columns: dict[int, dict[str, None]] = {}
    for what, row, column in cells:
        if row not in skipped:
            rows.setdefault(what, {}).setdefault(row, column)
            columns.setdefault(column, {})[what] = None
    touched = tuple(
        TouchedRows(
            what, len(found), tuple(islice(found, MOST_BLANK)),
            ", ".join(cell_name(*place) for place in islice(found.items(), 3)),
        )
        for what, found in rows.items()
    )  # fmt: skip
    return EmptiedCells(touched, {column: tuple(each) for column, each in columns.items()})


def merged_below(merged: Iterable[Area], body: Area) -> Iterator[tuple[str, int, int]]:
    """Yield the cells of a table that are merged with one above, as `emptied_cells` takes them.

    A label that is merged over several rows stands in the first of them alone: a group by it is
    without the others.

    Args:
        merged: The merged ranges of the sheet.
        body: The rows of the table, without its header.
    """
    for area in merged:
        if overlaps(area, body):
            for row in range(max(area.top + 1, body.top), min(area.bottom, body.bottom) + 1):
                yield MERGED, row, area.left


def mixed_currencies(
    names: Sequence[str], left: int, found: Mapping[int, Sequence[str]]
) -> dict[str, Any]:
    """Return the currencies of columns that have several, as the details of a table have them.

    Args:
        names: Of the columns.
        left: The first column of the table in the sheet.
        found: The currencies of columns of the sheet.
    """
    inside = {column - left: codes for column, codes in found.items() if len(codes) > 1}
    mixed = {
        names[place]: list(codes) for place, codes in inside.items() if 0 <= place < len(names)
    }
    return {"currencies": mixed} if mixed else {}


def make_table(
    extent: TableExtent,
    names: Sequence[str],
    seen: SeenRows,
    read: ReadTexts,
    notes: Iterable[str],
    details: Mapping[str, Any],
    emptied: EmptiedCells,
    aggregates: tuple[AggregateRow, ...] = (),
) -> Table:
    """Return the table whose rows were written.

    Args:
        extent: Where it is, and what the sheet holds beside it.
        names: Of its columns.
        seen: By the last pass over its rows.
        read: What the texts among its values are read as.
        notes: Warnings of its format.
        details: Of its format.
        emptied: Cells that are read as empty though they hold something.
        aggregates: Rows whose formulas sum others up.
    """
    area = extent.area
    left_out, repaired = extent.left_out, (*extent.repaired, *read.repaired, *emptied.rows)
    warnings = [*extent.warnings, *notes]
    if skipped := area.bottom - extent.top + 1 - seen.count - len(extent.skipped):
        warnings.append(f"{skipped} blank row(s) between others were skipped.")
        blank = TouchedRows("blank row between others", skipped, tuple(seen.blank))
        left_out = (*left_out, blank)
    warnings += [f"{each.count} {each.what}: {each.sample!r} …" for each in read.repaired]
    if told := changed_names(extent.headers or (), names):
        warnings.append(f"Column names are empty or repeated: {told}.")
        repaired = (*repaired, TouchedRows(RENAMED, 1, (extent.header_row,), told))
    questions = () if read.question is None else (read.question,)
    warnings += [each.text for each in questions]
    reading = TableReading(
        header_row=extent.header_row,
        decimal=read.decimal,
        left_out=left_out,
        repaired=repaired,
        questions=questions,
    )
    kinds = zip(names, seen.columns, strict=True)
    return Table(
        tuple(Column(name, each.column_type()) for name, each in kinds),
        seen.count,
        reading,
        {
            **details,
            **emptied.details(names, area.left),
            "range": str(area),
            "has_header": extent.headers is not None,
        },
        tuple(warnings),
        aggregates,
    )
