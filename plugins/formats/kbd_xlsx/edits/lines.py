"""Lines put into a sheet of a workbook or taken out of it, with all that refers to its cells."""

import re
from collections.abc import Sequence
from typing import Literal

from kbd.errors import ValidationFailed
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area, column_letters, column_number
from kbd_xlsx.calculation.cells import formula_cells
from kbd_xlsx.edits.book import BookEdit, forget_results, has_formulas
from kbd_xlsx.operations import DeleteColumns, DeleteRows, InsertColumns, InsertRows
from kbd_xlsx.parts.cells import CellEdit, Content
from kbd_xlsx.parts.markup import utf8
from kbd_xlsx.parts.outline import Outline
from kbd_xlsx.shifting.cells import (
    NewLines,
    check_arrays,
    check_count,
    moved_rows,
    with_moved_formulas,
)
from kbd_xlsx.shifting.formulas import LOST, FormulaMover
from kbd_xlsx.shifting.line_map import GrownMap, LineMap, SheetMap, map_with_new, map_without
from kbd_xlsx.shifting.objects import move_objects, move_references_of_parts
from kbd_xlsx.shifting.report import ShiftReport
from kbd_xlsx.shifting.surroundings import Surroundings
from kbd_xlsx.shifting.tables import (
    GrownTable,
    check_pivots,
    move_formulas_of_table,
    move_table,
)

__all__ = [
    "delete_columns",
    "delete_lines",
    "delete_rows",
    "insert_columns",
    "insert_rows",
    "repeat_rows",
]

Axis = Literal["rows", "columns"]

_FILTER = "_xlnm._filterdatabase"
_DRAWINGS = ("drawing", "vmlDrawing", "ctrlProp")


def insert_rows(book: BookEdit, operation: InsertRows) -> str:
    """Put rows in and say where; raises ValidationFailed."""
    row, count = operation.row, operation.count
    _check_end(row, count, MAX_ROW, "row")
    title = _insert_lines(book, operation.sheet, "rows", row, count)
    return f"{title}: {_counted(count, 'row')} put in before row {row}"


def delete_rows(book: BookEdit, operation: DeleteRows) -> str:
    """Take rows out and say which; raises ValidationFailed."""
    row, count = operation.row, operation.count
    _check_end(row, count, MAX_ROW, "row")
    title = delete_lines(book, operation.sheet, "rows", [(row, row + count - 1)])
    places = f"row {row}" if count == 1 else f"rows {row} to {row + count - 1}"
    return f"{title}: {places} deleted"


def insert_columns(book: BookEdit, operation: InsertColumns) -> str:
    """Put columns in and say where; raises ValidationFailed."""
    column, count = _column(operation.column), operation.count
    _check_end(column, count, MAX_COLUMN, "column")
    title = _insert_lines(book, operation.sheet, "columns", column, count)
    return f"{title}: {_counted(count, 'column')} put in before column {column_letters(column)}"


def delete_columns(book: BookEdit, operation: DeleteColumns) -> str:
    """Take columns out and say which; raises ValidationFailed."""
    column, count = _column(operation.column), operation.count
    _check_end(column, count, MAX_COLUMN, "column")
    title = delete_lines(book, operation.sheet, "columns", [(column, column + count - 1)])
    last = column_letters(column + count - 1)
    first = column_letters(column)
    places = f"column {first}" if count == 1 else f"columns {first} to {last}"
    return f"{title}: {places} deleted"


def _column(letters: str) -> int:
    text = letters.strip()
    if not text.isascii() or not text.isalpha():
        raise ValidationFailed(f"{letters[:40]!r} is no column; write its letters, as C")
    return column_number(text)


def _check_end(line: int, count: int, end: int, what: str) -> None:
    if line + count - 1 > end:
        last = f"{end:,}" if what == "row" else column_letters(end)
        raise ValidationFailed(
            f"{count:,} {what}s from there on leave the sheet, whose last {what} is {last}"
        )


def _counted(count: int, what: str) -> str:
    return f"1 {what}" if count == 1 else f"{count:,} {what}s"


def _insert_lines(book: BookEdit, name: str, axis: Axis, line: int, count: int) -> str:
    """Put lines into a sheet; return its title.

    Args:
        book: The workbook.
        name: The sheet.
        axis: Whether they are rows or columns.
        line: Before which they go, from 1.
        count: How many they are.

    Raises:
        ValidationFailed: It would cut what has to stay one thing, or push cells off the sheet.
        FileReadFailed: A part is damaged.
    """
    title = _prepared(book, name)
    end = MAX_ROW if axis == "rows" else MAX_COLUMN
    lines = map_with_new(line, count, end)
    new = NewLines(line, count, _alike(book, title, axis, line))
    if _shift(book, _sheet_map(title, axis, lines), new):
        book.results.add(title, [_area(axis, line, line + count - 1)])
    return title


def repeat_rows(book: BookEdit, title: str, first: int, last: int, count: int) -> None:
    """Put rows in behind some that are to be repeated; ranges that end with these take them in.

    Args:
        book: The workbook.
        title: The sheet's title.
        first: The first of the rows.
        last: The last of them.
        count: How many are put in; their cells are for the caller to write.

    Raises:
        ValidationFailed: As `insert_rows`.
        FileReadFailed: A part is damaged.
    """
    _check_end(last + 1, count, MAX_ROW, "row")
    _prepared(book, title)
    lines = GrownMap(last, count, MAX_ROW)
    new = NewLines(last + 1, count, last if first == last else 0)
    _shift(book, _sheet_map(title, "rows", lines), new, fills_tables=False)
    book.results.add(title, [_area("rows", first, last + count)])


def delete_lines(book: BookEdit, name: str, axis: Axis, spans: Sequence[tuple[int, int]]) -> str:
    """Take lines out of a sheet; return its title.

    Args:
        book: The workbook.
        name: The sheet.
        axis: Whether they are rows or columns.
        spans: First and last of them, in rising order.

    Raises:
        ValidationFailed: It would cut what has to stay one thing, or take a table's header.
        FileReadFailed: A part is damaged.
    """
    title = _prepared(book, name)
    # What reads the lines is told by the formulas as they still are.
    for first, last in spans:
        book.results.add(title, [_area(axis, first, last)])
    forget_results(book)
    end = MAX_ROW if axis == "rows" else MAX_COLUMN
    _shift(book, _sheet_map(title, axis, map_without(spans, end)), None)
    return title


def _area(axis: Axis, first: int, last: int) -> Area:
    if axis == "rows":
        return Area(first, 1, last, MAX_COLUMN)
    return Area(1, first, MAX_ROW, last)


def _sheet_map(title: str, axis: Axis, lines: LineMap) -> SheetMap:
    if axis == "rows":
        return SheetMap(title, title, lines, LineMap())
    return SheetMap(title, title, LineMap(), lines)


def _prepared(book: BookEdit, name: str) -> str:
    """Return the title of a sheet that has cells, all pending changes written into its part."""
    title = book.sheet(name).name
    kinds = {relation.kind for relation in book.rewriting.relations(book.main)}
    if "revisionHeaders" in kinds:
        raise ValidationFailed(
            "the workbook is shared and keeps a history of its changes by place; end that in a "
            "spreadsheet program before rows and columns are put in or taken out"
        )
    if "xlMacrosheet" in kinds or "vbaProject" in kinds:
        book.notices.warn("The workbook has macros; the places that they name did not move.")
    book.flush()
    return title


def _alike(book: BookEdit, title: str, axis: Axis, line: int) -> int:
    """Return the line whose look new ones have: the one before, not the header of a table."""
    if axis == "rows" and any(
        table.header_rows and table.area.top == line - 1 and line <= table.area.bottom
        for table in book.tables(title)
    ):
        return line
    return line - 1


def _shift(
    book: BookEdit, sheet: SheetMap, new: NewLines | None, *, fills_tables: bool = True
) -> bool:
    """Move all of a workbook; tell whether formulas may read lines that were put in."""
    title, rewriting = sheet.before, book.rewriting
    report = ShiftReport()
    mover = FormulaMover(sheet, book.titles)
    part = book.part(title)
    check_pivots(rewriting, part, sheet.placed)
    before = utf8(rewriting.read(part), title)
    outline = Outline(before, title)
    check_arrays(outline, sheet.placed)
    grown = _tables(book, sheet, mover, report)
    filter_gone = _home(book, part, outline, mover, report, new)
    for other, other_part in book.worksheets():
        if other_part != part:
            _other(book, other, other_part, mover, report)
    _names(book, mover, report, filter_gone=filter_gone)
    drawings = [r.target for r in rewriting.relations(part) if r.kind in _DRAWINGS]
    move_references_of_parts(rewriting, mover, report, drawings)
    move_objects(rewriting, part, sheet.placed, title, report)
    if outline.has_formulas:
        # It lists formulas by their cells; programs make it anew.
        book.drop_calculation_chain()
        book.book.ask_for_calculation()
    _note_results(book, sheet, report)
    _fill(book, title, grown if fills_tables else ())
    if mover.unclear:
        report.note(f"Formulas that cannot be read stayed as they are: {mover.unclear}.")
    report.warn(book.notices)
    return mover.may_read_new


def _home(
    book: BookEdit,
    part: str,
    outline: Outline,
    mover: FormulaMover,
    report: ShiftReport,
    new: NewLines | None,
) -> bool:
    """Move the cells of the sheet and what stands around them; tell whether its filter went."""
    title, sheet = outline.name, mover.sheet
    rows = moved_rows(outline, sheet, new)
    data = outline.data
    begin, end = outline.sheet_data[1], outline.rows_end
    moved = Outline(b"".join((data[:begin], rows, data[end:])), title)
    rows = with_moved_formulas(moved, mover, report, before=outline)
    around = Surroundings(moved, mover, report, is_home=True)
    head, tail = around.moved()
    start, inside = moved.sheet_data
    closing = moved.data[moved.rows_end : moved.tail]
    book.rewriting.put(part, b"".join((head, moved.data[start:inside], rows, closing, tail)))
    for relation in around.dropped_relations:
        # Several links may share one.
        if f'"{relation}"'.encode() not in tail:
            book.rewriting.unrelate(part, relation)
    return around.lost_filter


_SPANNING = re.compile(rb":[^!<>\"]{1,80}!")


def _other(book: BookEdit, title: str, part: str, mover: FormulaMover, report: ShiftReport) -> None:
    """Move the formulas of another sheet."""
    data = utf8(book.rewriting.read(part), title)
    # The longest word of the name is written in any spelling of it.
    words = re.findall(r"\w+", mover.sheet.before) or [""]
    word = re.escape(max(words, key=len).encode())
    is_meant = b"!" in data and (
        re.search(word, data, re.IGNORECASE) is not None or _SPANNING.search(data) is not None
    )
    if not is_meant:
        # What their texts do not tell they may read, by a name or a table.
        for cell in formula_cells(data, title) if has_formulas(data) else ():
            mover.moved(cell.text, is_home=False)
            mover.may_read_new = mover.may_read_new or cell.is_dynamic
            if mover.may_read_new:
                break
        return
    outline = Outline(data, title)
    rows = with_moved_formulas(outline, mover, report, before=None)
    head, tail = Surroundings(outline, mover, report, is_home=False).moved()
    start, inside = outline.sheet_data
    closing = outline.data[outline.rows_end : outline.tail]
    new = b"".join((head, outline.data[start:inside], rows, closing, tail))
    if new != outline.data:
        book.rewriting.put(part, new)


def _names(book: BookEdit, mover: FormulaMover, report: ShiftReport, *, filter_gone: bool) -> None:
    place = book.titles.index(mover.sheet.before)
    texts: list[str | None] = []
    for name in book.book.names:
        if filter_gone and name.tab == place and name.name.casefold() == _FILTER:
            texts.append(None)
            continue
        lost = mover.lost
        text = mover.carried(name.text, is_home=False, only_fixed=True)
        if mover.lost > lost:
            report.lose(f"the name {name.name}")
        texts.append(text)
    book.book.put_names(texts)


def _tables(
    book: BookEdit, sheet: SheetMap, mover: FormulaMover, report: ShiftReport
) -> list[GrownTable]:
    """Move the tables; return what the new cells of those of the sheet need."""
    grown = []
    for title, part in book.worksheets():
        for relation in book.rewriting.relations(part):
            if relation.kind != "table" or relation.target not in book.rewriting:
                continue
            is_home = title == sheet.before
            if is_home:
                grown.append(
                    move_table(book.rewriting, relation.target, sheet, book.formula_texts, report)
                )
            move_formulas_of_table(book.rewriting, relation.target, mover, report, is_home=is_home)
    return grown


def _note_results(book: BookEdit, sheet: SheetMap, report: ShiftReport) -> None:
    """Have what is known of old results be where the cells are now."""
    title = sheet.before
    book.results.move(title, sheet)
    places = book.results.formulas_set.get(title, set())
    moved = ((sheet.rows.get(row), sheet.columns.get(column)) for row, column in places)
    if places:
        book.results.formulas_set[title] = {
            (row, column) for row, column in moved if row and column
        }
    for other, areas in report.stale.items():
        book.results.outdate(other, areas)


def _fill(book: BookEdit, title: str, grown: Sequence[GrownTable]) -> None:
    """Write what the new cells of tables need: names of columns, formulas of rows."""
    # The tables are read anew: their parts were moved.
    book.flush()
    for each in grown:
        for row, column, name in each.headers:
            book.sheet(title).set(row, column, CellEdit(Content("text", name)))
        if each.rows is None:
            continue
        check_count((each.rows[1] - each.rows[0] + 1) * max(1, len(each.filled)))
        for column, formula in each.filled:
            if LOST in formula or not _is_same_in_rows(formula):
                book.notices.warn(
                    f"{title}: new rows of a table have no formula in column {column}; fill it."
                )
                continue
            for row in range(each.rows[0], each.rows[1] + 1):
                book.sheet(title).set(row, column, CellEdit(Content("formula", formula)))
                book.results.formulas_set.setdefault(title, set()).add((row, column))


_PLACE = re.compile(r"(?<![\w$.\[])\$?[A-Za-z]{1,3}[0-9]{1,7}(?![\w(.\]])")


def _is_same_in_rows(formula: str) -> bool:
    """Tell whether a formula is written alike in all rows: no place in it is relative."""
    return _PLACE.search(re.sub(r'"[^"]*"', "", formula)) is None
