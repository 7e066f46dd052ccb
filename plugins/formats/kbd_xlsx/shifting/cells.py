"""Rows and cells of a sheet, moved by its map: their names, and the formulas of any sheet.

A cell that moves keeps its bytes but for its name. Rows that are put in have the look of the row
above, columns that of the column to the left.
"""

import re
from array import array
from collections.abc import Iterator
from typing import NamedTuple

from kbd.errors import ValidationFailed
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area, cell_name, column_letters, column_number
from kbd_xlsx.parts.cells import escaped
from kbd_xlsx.parts.formulas import Groups
from kbd_xlsx.parts.markup import (
    ATTRIBUTES,
    area_of,
    attribute,
    plain,
    with_attributes,
    without_mark,
)
from kbd_xlsx.parts.outline import CellMarkup, Outline, RowMarkup, Rows
from kbd_xlsx.parts.row_pieces import is_regular
from kbd_xlsx.shifting.formulas import FormulaMover, SharedFormula
from kbd_xlsx.shifting.line_map import LineMap, SheetMap
from kbd_xlsx.shifting.report import ShiftReport

__all__ = ["NewLines", "check_arrays", "check_count", "moved_rows", "with_moved_formulas"]


MAX_NEW_CELLS = 2_000_000
"""Cells that one call may make by putting lines in, as many as it may set."""


class NewLines(NamedTuple):
    """Lines that are put in: before which, how many, and the line whose look they have (or 0)."""

    line: int
    length: int
    like: int


def check_arrays(outline: Outline, sheet: SheetMap) -> None:
    """Refuse to move a part of what is one thing: an array, what spills, a data table.

    Raises:
        ValidationFailed: Lines are put into one, or part of one goes.
    """
    for group in Groups(outline).areas:
        whole = group.area
        if group.is_table:
            # The values and formulas that it tries out stand above it and to its left.
            whole = Area(max(1, whole.top - 1), max(1, whole.left - 1), whole.bottom, whole.right)
        new = sheet.area(whole)
        if new is None or _size(new) == _size(whole):
            continue
        kind = "a data table (what-if)" if group.is_table else "one array formula"
        raise ValidationFailed(
            f"sheet {outline.name}: {whole} holds {kind}, which rows and columns cannot be "
            f"put into or taken out of; choose a place outside of it, or clear {whole} first"
        )


def check_count(cells: int) -> None:
    """Refuse to make more cells than one call may; raises ValidationFailed."""
    if cells > MAX_NEW_CELLS:
        raise ValidationFailed(
            f"that would make {cells:,} cells that look as those before them; one call may make "
            f"{MAX_NEW_CELLS:,}: put fewer in"
        )


def _size(area: Area) -> tuple[int, int]:
    return area.bottom - area.top, area.right - area.left


def moved_rows(outline: Outline, sheet: SheetMap, new: NewLines | None) -> bytes:
    """Return the rows of the sheet that is mapped under their new names, formulas as they were.

    Args:
        outline: Its part.
        sheet: Its map, which moves rows or columns.
        new: What is put in; None where lines go.

    Raises:
        ValidationFailed: Cells would be pushed off the sheet, or rows are out of order.
        FileReadFailed: The part is damaged.
    """
    if outline.is_closed:
        return b""
    rows = Rows(outline)
    if not is_regular(outline, len(rows)):
        head = outline.data[: outline.sheet_data[1]]
        regular = b"".join((head, *_regular(outline, rows), outline.data[outline.rows_end :]))
        outline = Outline(regular, outline.name)
        rows = Rows(outline)
    if sheet.rows.is_identity:
        return b"".join(_moved_columns(outline, rows, sheet, new))
    return b"".join(_moved_rows(outline, rows, sheet, new))


def _regular(outline: Outline, rows: Rows) -> Iterator[bytes]:
    """Yield the rows with every name written first, comments left out."""
    row_name, cell_name_ = outline.qualified(b"row"), outline.qualified(b"c")
    for place in range(len(rows)):
        row = rows.at(place)
        attributes = with_attributes(row.attributes, {b"r": None})
        yield b'<%b r="%d"%b>' % (row_name, row.number, _spaced(attributes))
        for cell in rows.cells(row):
            rest = _spaced(with_attributes(cell.attributes, {b"r": None}))
            inner = without_mark(row.data[cell.inner : cell.inner_end])
            name = cell_name(row.number, cell.column).encode()
            end = b">" + inner + b"</" + cell_name_ + b">" if inner else b"/>"
            yield b'<%b r="%b"%b%b' % (cell_name_, name, rest, end)
        yield b"</" + row_name + b">"


def _spaced(attributes: bytes) -> bytes:
    text = attributes.strip()
    return b" " + text if text else b""


_ROWS_AT_ONCE = 4_000
"""Rows that are renamed together: the pieces of all of them take many times their bytes."""


def _moved_rows(
    outline: Outline, rows: Rows, sheet: SheetMap, new: NewLines | None
) -> Iterator[bytes]:
    data, lines = outline.data, sheet.rows
    starts = array("Q", rows.starts)
    starts.append(outline.rows_end)
    yield data[outline.sheet_data[1] : starts[0]]
    renamer = _Renamer(outline, lines)
    waiting = None if new is None else _new_rows(outline, rows, new)
    place = 0
    while place < len(rows):
        number = rows.numbers[place]
        if waiting is not None and new is not None and number >= new.line:
            yield waiting
            waiting = None
        become = lines.get(number)
        if become is None or become > MAX_ROW:
            if become is not None or new is not None:
                _check_room(rows, place, outline)
            place += 1
            continue
        stop = place + 1
        last = min(len(rows), place + _ROWS_AT_ONCE)
        shift = become - number
        while stop < last and lines.get(rows.numbers[stop]) == rows.numbers[stop] + shift:
            if waiting is not None and new is not None and rows.numbers[stop] >= new.line:
                break
            stop += 1
        if shift:
            yield b"".join(
                [
                    renamer.renamed(data[starts[at] : starts[at + 1]], rows.numbers[at], shift)
                    for at in range(place, stop)
                ]
            )
        else:
            yield data[starts[place] : starts[stop]]
        place = stop
    if waiting is not None:
        yield waiting


_CAPITALS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class _Renamer:
    """Gives rows and their cells the names that they have after a move."""

    def __init__(self, outline: Outline, lines: LineMap) -> None:
        self._lines = lines
        row, cell = outline.qualified(b"row"), outline.qualified(b"c")
        self._row, self._cell = b"<" + row + b' r="', b"<" + cell + b' r="'
        self._mark = re.compile(
            rb'(<(?:%b r="[A-Z]{1,3}|%b r="))([0-9]{1,7})(?=")' % (re.escape(cell), re.escape(row))
        )

    def renamed(self, row: bytes, number: int, shift: int) -> bytes:
        """Return a row with its cells under other names.

        Args:
            row: All of it.
            number: Its number so far.
            shift: How many rows it moves down.
        """
        old = b'%d"' % number
        bare = row.translate(None, _CAPITALS)
        named = bare.count(self._cell + old)
        # All cells are named by the row, and nothing else ends as their names and its own do.
        is_plain = named == bare.count(self._cell) and row.startswith(self._row + old)
        if is_plain and row.count(old) == named + 1:
            return row.replace(old, b'%d"' % (number + shift))
        pieces = self._mark.split(row)
        pieces[2::3] = [b"%d" % (self._lines.get(int(each)) or 0) for each in pieces[2::3]]
        return b"".join(pieces)


_CONTENT = re.compile(rb"<(?:[\w.-]+:)?(?:v|f|is)[\s/>]")


def _check_room(rows: Rows, place: int, outline: Outline) -> None:
    """Refuse to push a row off the sheet that holds anything."""
    row = rows.at(place)
    if _CONTENT.search(row.data, row.inner, row.inner_end):
        raise ValidationFailed(
            f"sheet {outline.name} has cells in row {row.number}, which would be pushed off the "
            f"sheet: it ends with row {MAX_ROW:,}"
        )


def _new_rows(outline: Outline, rows: Rows, new: NewLines) -> bytes:
    """Return the rows that are put in, with the look of another, b"" if that has none."""
    place = rows.place(new.like) if new.like else None
    if place is None:
        return b""
    row = rows.at(place)
    kept = {}
    for name in (b"s", b"customFormat"):
        value = attribute(row.attributes, name)
        if value is not None:
            kept[name] = value.encode()
    level = _outline_level(rows, place)
    if level:
        kept[b"outlineLevel"] = b"%d" % level
    attributes = b"".join(b' %b="%b"' % item for item in kept.items())
    styled = [(column_letters(cell.column), cell.style) for cell in rows.cells(row) if cell.style]
    if not styled and not attributes:
        return b""
    check_count(new.length * max(1, len(styled)))
    cell, tag = outline.qualified(b"c").decode(), outline.qualified(b"row").decode()
    found = []
    for number in range(new.line, new.line + new.length):
        cells = "".join(f'<{cell} r="{letters}{number}" s="{style}"/>' for letters, style in styled)
        opening = f'<{tag} r="{number}"{attributes.decode()}'
        found.append(f"{opening}>{cells}</{tag}>" if cells else f"{opening}/>")
    return "".join(found).encode()


def _outline_level(rows: Rows, place: int) -> int:
    """Return the level of the group that goes on from a row to the next one."""
    if place + 1 >= len(rows) or rows.numbers[place + 1] != rows.numbers[place] + 1:
        return 0
    levels = []
    for at in (place, place + 1):
        word = attribute(rows.at(at).attributes, b"outlineLevel") or "0"
        levels.append(int(word) if word.isdigit() and len(word) == 1 else 0)
    return min(levels)


def _moved_columns(
    outline: Outline, rows: Rows, sheet: SheetMap, new: NewLines | None
) -> Iterator[bytes]:
    if new is not None:
        check_count(new.length * max(1, len(rows)))
    place = rows.starts[0] if len(rows) else outline.rows_end
    yield outline.data[outline.sheet_data[1] : place]
    for at in range(len(rows)):
        row = rows.at(at)
        end = rows.starts[at + 1] if at + 1 < len(rows) else outline.rows_end
        yield _row_of(outline, rows, row, sheet, new)
        # Blanks between rows stay.
        yield outline.data[row.end : end]


def _row_of(
    outline: Outline, rows: Rows, row: RowMarkup, sheet: SheetMap, new: NewLines | None
) -> bytes:
    """Return a row whose cells have moved along it."""
    columns = sheet.columns
    cells = rows.cells(row)
    pieces = [_row_tag(outline, row, sheet)]
    place = row.inner
    styles = {cell.column: cell.style for cell in cells} if new is not None else {}
    waiting = b""
    if new is not None and new.like and styles.get(new.like):
        waiting = _new_cells(outline, row.number, new, styles[new.like])
    for cell in cells:
        if waiting and new is not None and cell.column >= new.line:
            pieces.append(row.data[place : cell.start])
            pieces.append(waiting)
            place, waiting = cell.start, b""
        become = columns.get(cell.column)
        if become == cell.column:
            continue
        pieces.append(row.data[place : cell.start])
        place = cell.end
        if become is None or become > MAX_COLUMN:
            if new is not None and _CONTENT.search(row.data, cell.inner, cell.inner_end):
                raise ValidationFailed(
                    f"sheet {outline.name} has a value in "
                    f"{cell_name(row.number, cell.column)}, which would be pushed off the sheet: "
                    "it ends with column XFD"
                )
            continue
        pieces.append(_renamed(outline, row, cell, become))
    pieces.append(row.data[place : row.inner_end])
    pieces.append(waiting)
    pieces.append(row.data[row.inner_end : row.end])
    return b"".join(pieces)


def _new_cells(outline: Outline, row: int, new: NewLines, style: int) -> bytes:
    name = outline.qualified(b"c").decode()
    return "".join(
        f'<{name} r="{cell_name(row, column)}" s="{style}"/>'
        for column in range(new.line, new.line + new.length)
    ).encode()


def _renamed(outline: Outline, row: RowMarkup, cell: CellMarkup, column: int) -> bytes:
    """Return a cell under another column; in a regular row its name comes first."""
    old = len(outline.qualified(b"c")) + 5 + cell.start
    name = cell_name(row.number, column).encode()
    end = row.data.index(b'"', old)
    return row.data[cell.start : old] + name + row.data[end : cell.end]


_SPANS = re.compile(r"([0-9]{1,5}):([0-9]{1,5})")


def _row_tag(outline: Outline, row: RowMarkup, sheet: SheetMap) -> bytes:
    """Return a row's tag; which columns it spans moves along."""
    tag = row.data[row.start : row.inner]
    spans = attribute(row.attributes, b"spans")
    if spans is None:
        return tag
    found = []
    for first, last in _SPANS.findall(spans):
        new = sheet.columns.first(int(first)), sheet.columns.last(int(last))
        if new[0] <= new[1]:
            found.append(f"{new[0]}:{min(new[1], MAX_COLUMN)}")
    written = " ".join(found).encode() or None
    attributes = with_attributes(row.attributes, {b"spans": written})
    end = b"/>" if tag.endswith(b"/>") else b">"
    return b"<" + outline.qualified(b"row") + attributes + end


def with_moved_formulas(
    outline: Outline, mover: FormulaMover, report: ShiftReport, *, before: Outline | None
) -> bytes:
    """Return a sheet's rows with their formulas moved.

    Args:
        outline: The part; of the sheet that is mapped, with its cells under their new names.
        mover: What moves formulas.
        report: What was lost, and which results are old.
        before: The part of the sheet that is mapped as it was; None for any other sheet.
    """
    rows = outline.data[outline.sheet_data[1] : outline.rows_end]
    if not outline.has_formulas:
        return rows
    return _FormulaPass(outline, mover, report, before).result()


class _FormulaPass:
    """One pass over the formulas of a part."""

    def __init__(
        self, outline: Outline, mover: FormulaMover, report: ShiftReport, before: Outline | None
    ) -> None:
        self._outline, self._mover, self._report = outline, mover, report
        self._is_home = before is not None
        name = re.escape(outline.qualified(b"f"))
        self._pattern = re.compile(
            rb"<" + name + rb"(?:>|(\s" + ATTRIBUTES + rb")(?:(?<=/)>|>))(?:(?<=/>)|([^<]*)</"
            + name + rb"\s*>)"
        )  # fmt: skip
        self._cell = b"<" + outline.qualified(b"c")
        self._name = outline.qualified(b"f")
        self._rows_back = mover.sheet.rows.inverted()
        self._columns_back = mover.sheet.columns.inverted()
        # Of each shared formula: as it was, and as it is written now.
        self._old: dict[str, SharedFormula] = {}
        self._new: dict[str, SharedFormula] = {}
        self._areas: dict[str, str] = {}
        if before is not None:
            self._find_masters(before, is_before=True)
        else:
            self._find_masters(outline, is_before=False)

    def result(self) -> bytes:
        """Return the rows."""
        outline, mover = self._outline, self._mover
        data, scan = outline.data, outline.scan
        start, end = outline.sheet_data[1], outline.rows_end
        pieces: list[bytes] = []
        place = start
        is_plain, is_home = data is scan, self._is_home
        for found in self._pattern.finditer(scan, start, end):
            attributes, inner = found.group(1, 2)
            text = b""
            if inner is not None:
                text = inner if is_plain else without_mark(data[found.start(2) : found.end(2)])
            if attributes:
                new = self._with_attributes(found, attributes, text)
                if new is not None:
                    pieces += (data[place : found.start()], new)
                    place = found.end()
                continue
            formula = _formula_text(text)
            lost, spanning = mover.lost, mover.spanning
            moved = mover.moved(formula, is_home=is_home)
            if mover.lost > lost or mover.spanning > spanning:
                self._tell(found.start(), is_lost=mover.lost > lost)
            if mover.tells_place:
                self._outdate(found.start(), is_changed=moved != formula)
            if moved != formula:
                pieces += (
                    data[place : found.start(2)], escaped(moved).encode()
                )  # fmt: skip
                place = found.end(2)
        pieces.append(data[place:end])
        return b"".join(pieces)

    def _find_masters(self, outline: Outline, *, is_before: bool) -> None:
        if outline.scan.find(b"shared", outline.sheet_data[1], outline.rows_end) < 0:
            return
        for found in self._pattern.finditer(outline.scan, outline.sheet_data[1], outline.rows_end):
            if not found[1] or not found[2] or attribute(found[1], b"t") != "shared":
                continue
            number = attribute(found[1], b"si") or ""
            if number in self._old:
                continue
            row, column = _place_of(outline, self._cell, found.start())
            text = _formula_text(without_mark(outline.data[found.start(2) : found.end(2)]))
            self._old[number] = SharedFormula(text, row, column, self._mover, is_home=is_before)
            self._areas[number] = attribute(found[1], b"ref") or ""
            new_row, new_column = row, column
            if is_before:
                sheet = self._mover.sheet
                new_row, new_column = sheet.rows.get(row) or 0, sheet.columns.get(column) or 0
            if new_row and new_column:
                self._set_master(number, new_row, new_column)

    def _set_master(self, number: str, row: int, column: int) -> str:
        """Have a shared formula begin in a cell by its name now; return its text there."""
        old = self._old[number]
        lost, spanning = self._mover.lost, self._mover.spanning
        text = old.of(self._before(row, column))
        self._mover.lost, self._mover.spanning = lost, spanning
        self._new[number] = SharedFormula(text, row, column, self._mover, is_home=self._is_home)
        return text

    def _before(self, row: int, column: int) -> tuple[int, int]:
        if not self._is_home:
            return row, column
        return self._rows_back.get(row) or row, self._columns_back.get(column) or column

    def _with_attributes(
        self, found: re.Match[bytes], attributes: bytes, text: bytes
    ) -> bytes | None:
        """Return a formula with attributes as it becomes, None if it stays."""
        attributes = attributes.removesuffix(b"/").rstrip()
        kind = attribute(attributes, b"t")
        number = attribute(attributes, b"si") or ""
        if kind == "shared" and number in self._old:
            return self._shared(found, attributes, number, has_text=bool(text))
        formula = _formula_text(text)
        lost, spanning = self._mover.lost, self._mover.spanning
        moved = self._mover.moved(formula, is_home=self._is_home)
        if self._mover.lost > lost or self._mover.spanning > spanning:
            self._tell(found.start(), is_lost=self._mover.lost > lost)
        if self._mover.tells_place:
            self._outdate(found.start(), is_changed=moved != formula)
        if kind in ("array", "dataTable"):
            # What they fill may depend on more than their text says.
            self._mover.may_read_new = True
        changes = self._moved_attributes(found, attributes)
        if moved == formula and not changes:
            return None
        return self._formula(with_attributes(attributes, changes), moved)

    def _moved_attributes(
        self, found: re.Match[bytes], attributes: bytes
    ) -> dict[bytes, bytes | None]:
        """Return what changes of the area of an array, and of the inputs of a data table."""
        changes: dict[bytes, bytes | None] = {}
        if not self._is_home:
            return changes
        for name in (b"ref", b"r1", b"r2"):
            written = attribute(attributes, name)
            area = area_of(written) if written else None
            if written is None or area is None:
                continue
            new = self._mover.sheet.placed.area(area)
            if new is None:
                # So a program writes an input cell that was deleted.
                changes[b"del1" if name == b"r1" else b"del2"] = b"1"
                self._tell(found.start(), is_lost=True)
            elif new != area:
                changes[name] = _like(written, new).encode()
        return changes

    def _shared(
        self, found: re.Match[bytes], attributes: bytes, number: str, *, has_text: bool
    ) -> bytes | None:
        row, column = _place_of(self._outline, self._cell, found.start())
        old = self._before(row, column)
        master = self._old[number]
        if master.tells_place:
            self._outdate(found.start(), is_changed=True)
        is_master = old == (master.row, master.column)
        if has_text and not is_master:
            # A second formula under one number: whose formula later cells share is not certain.
            raise ValidationFailed(
                f"sheet {self._outline.name}: {cell_name(row, column)} holds a shared formula "
                "under a number that another one has; set it anew first"
            )
        if not is_master and number in self._new:
            first = self._new[number]
            if master.follows(old, (row, column), first):
                return None
            lost = self._mover.lost
            text = master.of(old)
            if self._mover.lost > lost:
                self._tell(found.start(), is_lost=True)
            bare = with_attributes(attributes, {b"t": None, b"ref": None, b"si": None})
            return self._formula(bare, text)
        lost, spanning = self._mover.lost, self._mover.spanning
        text = master.of(old)
        if self._mover.lost > lost or self._mover.spanning > spanning:
            self._tell(found.start(), is_lost=self._mover.lost > lost)
        # Its first cell went: the next one carries the text from here on.
        self._set_master(number, row, column)
        area = area_of(self._areas[number])
        new = area
        if area is not None and self._is_home:
            new = self._mover.sheet.placed.area(area)
        ref = _like(self._areas[number], new) if new is not None else cell_name(row, column)
        if is_master and text == master.text and ref == self._areas[number]:
            return None
        changes: dict[bytes, bytes | None] = {b"ref": ref.encode()}
        return self._formula(with_attributes(attributes, changes), text)

    def _formula(self, attributes: bytes, text: str) -> bytes:
        opening = b"<" + self._name + attributes
        if not text:
            return opening + b"/>"
        return opening + b">" + escaped(text).encode() + b"</" + self._name + b">"

    def _tell(self, place: int, *, is_lost: bool) -> None:
        row, column = _place_of(self._outline, self._cell, place)
        if is_lost:
            self._report.lose_cell(self._outline.name, row, column)
        else:
            self._report.spanning.setdefault(f"{self._outline.name}!{cell_name(row, column)}")
            # The places that it names hold other cells.
            self._report.outdate(self._outline.name, row, column)

    def _outdate(self, place: int, *, is_changed: bool) -> None:
        row, column = _place_of(self._outline, self._cell, place)
        if is_changed or self._before(row, column) != (row, column):
            self._report.outdate(self._outline.name, row, column)


def _formula_text(text: bytes) -> str:
    """Return a formula as XML has it: ends of lines are line feeds."""
    if b"\r" in text:
        text = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    return plain(text) if b"&" in text else text.decode("utf-8", "replace")


_LETTERS_AND_DIGITS = re.compile(r"([A-Za-z]{1,3})([0-9]{1,7})")


def _place_of(outline: Outline, cell: bytes, place: int) -> tuple[int, int]:
    """Return the row and column of the cell that a formula is in."""
    start = outline.scan.rfind(cell, 0, place)
    while start >= 0 and outline.scan[start + len(cell) : start + len(cell) + 1] not in b" \t\r\n":
        start = outline.scan.rfind(cell, 0, start)
    end = outline.scan.find(b">", start)
    name = attribute(outline.scan[start + len(cell) : end], b"r") or ""
    found = _LETTERS_AND_DIGITS.fullmatch(name)
    if found is not None:
        return int(found[2]), column_number(found[1])
    # A cell without a name: its row is taken apart to count it.
    rows = Rows(outline)
    row = rows.at(rows.holding(place))
    for each in rows.cells(row):
        if each.start <= place < each.end:
            return row.number, each.column
    raise outline.damaged(f"a formula of row {row.number} is in no cell")


def _like(text: str, area: Area) -> str:
    """Write an area as another is written: with both ends, or as one cell."""
    written = str(area)
    return f"{written}:{written}" if ":" in text and ":" not in written else written
