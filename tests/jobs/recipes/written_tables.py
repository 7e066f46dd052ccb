"""Files that tables are written to, in the styles that people's files have, without kbd."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal

import openpyxl
from openpyxl.worksheet.worksheet import Worksheet

from jobs.recipes.made_tables import Cell, FileStyle, MadeColumn, MadeTable

__all__ = ["file_bytes", "files_of"]


def files_of(tables: Sequence[MadeTable]) -> dict[str, bytes]:
    """Return the files that tables are in, by their names."""
    by_file: dict[str, list[MadeTable]] = {}
    for each in tables:
        by_file.setdefault(each.file, []).append(each)
    files = {file: file_bytes(some) for file, some in by_file.items()}
    for each in tables:
        stem, _, suffix = each.file.rpartition(".")
        if each.style.twin_file:
            files[f"{stem}-copy.{suffix}"] = files[each.file]
        if each.style.other_file:
            other = (MadeColumn("Checked by"), MadeColumn("Remark"))
            style = FileStyle(each.style.suffix)
            kind = MadeTable(other, (("Kim", "as agreed"),), "", "Sheet1", style)
            files[f"{stem}-notes.{suffix}"] = file_bytes([kind])
    return files


def file_bytes(tables: Sequence[MadeTable]) -> bytes:
    """Return one file with some tables: of a text file one, of a workbook a sheet each."""
    said = [each.style.data for each in tables if each.style.data is not None]
    if said:
        return said[0]
    if tables[0].style.suffix != "xlsx":
        return _text_bytes(tables[0])
    book = openpyxl.Workbook()
    del book["Sheet"]
    for each in tables:
        for name in each.style.decoys:
            book.create_sheet(name).append(["Checked by", "Remark"])
            book[name].append(["Kim", "as agreed"])
        for name in () if each.style.is_gone else (each.sheet, each.style.twin):
            if name:
                sheet = book.create_sheet(name)
                for row in _lines(each):
                    sheet.append([_cell(cell) for cell in row])
                _merge(sheet, each)
    if not book.sheetnames:
        book.create_sheet("Other").append(["nothing"])
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def _merge(sheet: Worksheet, table: MadeTable) -> None:
    """Merge the cells of a column that have one value, row below row."""
    if not table.style.merged:
        return
    place, first = table.place(table.style.merged), len(table.style.titles) + 2
    values = [row[place] for row in table.rows]
    start = 0
    for number in range(1, len(values) + 1):
        if number == len(values) or values[number] != values[start]:
            sheet.merge_cells(
                start_row=first + start, end_row=first + number - 1,
                start_column=place + 1, end_column=place + 1,
            )  # fmt: skip
            start = number


def _cell(value: Cell) -> str | int | float | date | None:
    return float(value) if isinstance(value, Decimal) else value


def _text_bytes(table: MadeTable) -> bytes:
    style = table.style
    made = io.StringIO()
    writer = csv.writer(made, delimiter=style.delimiter, lineterminator="\r\n")
    for line in _lines(table):
        writer.writerow(["" if cell is None else str(cell) for cell in line])
    return made.getvalue().encode(style.encoding)


def _lines(table: MadeTable) -> Iterator[Sequence[Cell]]:
    """Yield all lines of a table as its style has them."""
    style, names = table.style, [each.name for each in table.columns]
    rows = list(table.rows if table.written is None else table.written)
    for title in style.titles:
        yield [title] if title else []
    yield names
    for number, row in enumerate(_with_subtotals(table, rows)):
        if style.repeat and number == len(rows) // 2:
            yield names
        if style.blanks and number in (1, len(rows) // 2):
            yield [None] * len(names)
        yield [
            _written(value, column, style) for value, column in zip(row, table.columns, strict=True)
        ]
    if style.total:
        yield _sums(table.columns, rows, style, style.total)
    if style.footer:
        yield from ([], [style.footer])
    if style.below:
        yield []
        yield from style.below


def _with_subtotals(
    table: MadeTable, rows: Sequence[tuple[Cell, ...]]
) -> Iterator[tuple[Cell, ...]]:
    """Yield rows, with those of sums behind each value of the first column of categories."""
    places = [n for n, each in enumerate(table.columns) if each.pool and not each.is_key]
    if not table.style.subtotals or not places:
        yield from rows
        return
    values = list(dict.fromkeys(row[places[0]] for row in rows))
    for value in values:
        some = [row for row in rows if row[places[0]] == value]
        yield from some
        yield tuple(
            _sum(some, n)
            if column.holds in ("number", "integer")
            else f"Total {value}" if n == places[0] else None
            for n, column in enumerate(table.columns)
        )  # fmt: skip


def _sums(
    columns: Sequence[MadeColumn], rows: Sequence[tuple[Cell, ...]], style: FileStyle, label: str
) -> list[Cell]:
    """Return the row of sums; its label stands in the first column of texts."""
    sums: list[Cell] = []
    is_labeled = False
    for place, column in enumerate(columns):
        if column.holds in ("number", "integer"):
            sums.append(_written(_sum(rows, place), column, style))
        elif column.holds == "text" and not is_labeled:
            sums.append(label)
            is_labeled = True
        else:
            sums.append(None)
    return sums


def _sum(rows: Sequence[tuple[Cell, ...]], place: int) -> Decimal:
    values = [row[place] for row in rows]
    return sum((Decimal(v) for v in values if isinstance(v, int | Decimal)), Decimal(0))


def _written(value: Cell, column: MadeColumn, style: FileStyle) -> Cell:
    """Return a value as a file has it."""
    is_text = style.suffix != "xlsx" or column.name in style.as_text
    if value is None or (isinstance(value, str) and column.holds != "text"):
        return value
    match column.holds:
        case "text":
            return f"  {value} " if style.padded else value
        case "date":
            return f"{value:{style.dates}}" if is_text else value
        case "integer":
            return str(value) if is_text else value
        case "number":
            return _number_text(Decimal(str(value)), style) if is_text else value


def _number_text(value: Decimal, style: FileStyle) -> str:
    plain = f"{value:,.2f}"
    signs: Mapping[str, str] = {",": style.thousands, ".": style.decimal}
    text = "".join(signs.get(sign, sign) for sign in plain)
    return f"{'-' if text.startswith('-') else ''}{style.sign}{text.removeprefix('-')}"
