"""Writer of a worksheet's rows: splices for those that an edit addresses, no others.

In a row, only the cells that the edit addresses are written anew.
"""

import re
from collections.abc import Iterator, Mapping

import msgspec

from kbd.sheets.areas import Area, column_letters, whole_number
from kbd_xlsx.parts.cells import (
    BLANK,
    AreaIndex,
    CellEdit,
    Content,
    PendingCells,
    Restyle,
    Result,
    cell_xml,
    inner_xml,
)
from kbd_xlsx.parts.formulas import Groups, SharedFormulas, checked_groups
from kbd_xlsx.parts.markup import ATTRIBUTES, Splice, attribute, with_attributes
from kbd_xlsx.parts.outline import CellMarkup, Outline, RowMarkup, Rows
from kbd_xlsx.parts.result_writer import RESULT_TYPES, ResultWriter, value_element
from kbd_xlsx.parts.sheet_elements import ColumnStyles

__all__ = ["Reach", "RowWriter", "measure", "row_splices", "row_style"]

_NO_EDITS: Mapping[int, CellEdit] = {}
_TRUE = ("1", "true")
_OF_VALUES = re.compile(rb"\s(?:t|cm|vm)\s*=")
"""Attributes that belong to what a cell holds, not to the cell."""


class Reach(msgspec.Struct, frozen=True):
    """Areas of pending edits that reach a row.

    `clears` empty cells, `forgets` drop results of formulas; in `members` what cells without a
    formula hold is such a result, too.
    """

    clears: tuple[Area, ...] = ()
    forgets: tuple[Area, ...] = ()
    members: tuple[Area, ...] = ()

    def at(self, column: int) -> bool:
        """Tell whether anything reaches a column."""
        return _reached(self.clears, column) or _reached(self.forgets, column)


_NO_REACH = Reach()


class RowWriter:
    """Writes the rows of one part.

    Args:
        outline: The part.
        rows: Its rows.
        columns: The styles of its columns.
        pending: What is to change.
        shared: Shared formulas that are taken apart.
        restyle: Gives the styles of edited cells.
    """

    def __init__(
        self,
        outline: Outline,
        rows: Rows,
        columns: ColumnStyles,
        pending: PendingCells,
        shared: SharedFormulas,
        restyle: Restyle,
    ) -> None:
        self._outline, self._rows, self._columns = outline, rows, columns
        self._pending, self._shared, self._restyle = pending, shared, restyle
        self._prefix = outline.prefix
        self._letters: dict[int, str] = {}
        result = b"|".join(re.escape(outline.qualified(name)) for name in (b"v", b"is"))
        self._result = re.compile(
            b"<(" + result + rb")(?=[\s/>])" + ATTRIBUTES + rb">(?:(?<=/>)|.*?</\1\s*+>)", re.DOTALL
        )
        self._filled = re.compile(
            rb"<%b(?:\s[^<>]*)?>[^<]|<%b(?=[\s>])"
            % (re.escape(outline.qualified(b"v")), re.escape(outline.qualified(b"is")))
        )
        self._formula = b"<" + outline.qualified(b"f")
        self._whole_formula = re.compile(
            self._formula + rb"(?=[\s/>])" + ATTRIBUTES + rb">(?:(?<=/>)|.*?</"
            + outline.qualified(b"f") + rb"\s*+>)", re.DOTALL
        )  # fmt: skip
        self._extension = b"<" + outline.qualified(b"extLst")
        self._value = outline.qualified(b"v")

    def new_row(self, number: int) -> bytes:
        """Return a row that there was not; b"" if nothing would be in it."""
        put = self._pending.puts.get(number)
        edits = self._pending.edits.get(number, _NO_EDITS)
        height = self._height(number)
        name = f"{self._prefix}row"
        if put is not None:
            text = f'<{name} r="{number}"{height}>'.encode() + put.cells + f"</{name}>".encode()
            return self._over(text, number)
        cells = [self._new_cell(number, column, edits[column], None) for column in sorted(edits)]
        inner = "".join(cells)
        if not inner and not height:
            return b""
        if not inner:
            return f'<{name} r="{number}"{height}/>'.encode()
        return f'<{name} r="{number}"{height}>{inner}</{name}>'.encode()

    def filled_row(self, row: RowMarkup) -> bytes:
        """Return a row without cells that ready ones are put into."""
        name = self._outline.qualified(b"row")
        changes = self._row_changes(row, has_new_cells=True)
        put = self._pending.puts[row.number]
        tag = b"<" + name + with_attributes(row.attributes, changes) + b">"
        return self._over(tag + put.cells + b"</" + name + b">", row.number)

    def _over(self, text: bytes, number: int) -> bytes:
        """Return a ready row after the edits that came later."""
        edits = self._pending.edits.get(number)
        clears = self._pending.clears_of(number)
        if not edits and not clears:
            return text
        row = self._rows.read(text, text, number, 0, len(text))
        return self.changed_row(row, Reach(clears)) or text

    def changed(self, place: int, reach: Reach) -> Iterator[Splice]:
        """Yield the change of a row by its place, nothing if nothing of it changes."""
        row = self._rows.at(place)
        text = self.changed_row(row, reach)
        if text is not None:
            yield Splice(row.start, row.end, text)

    def changed_row(self, row: RowMarkup, reach: Reach) -> bytes | None:
        """Return a row as it will be, None if nothing of it changes."""
        edits = self._pending.edits.get(row.number, _NO_EDITS)
        own_style = row_style(row.attributes)
        pieces: list[bytes] = []
        place, is_wider = row.inner, False
        # Only its contents tell whether a cell shares a formula that is taken apart.
        reaches_all = bool(self._shared.rows)
        cells = self._rows.cells(row)
        todo = iter(sorted(edits))
        # Columns count from 1, so 0 means that no edit is left.
        column = next(todo, 0)
        for count, cell in enumerate(cells):
            while column and column < cell.column:
                new = self._new_cell(row.number, column, edits[column], own_style)
                if new:
                    pieces += (row.data[place : cell.start], new.encode())
                    place, is_wider = cell.start, True
                column = next(todo, 0)
            edit = None
            if column == cell.column:
                edit, column = edits[column], next(todo, 0)
            elif not reaches_all and not reach.at(cell.column):
                continue
            text = self._changed_cell(row, cell, edit, reach, own_style)
            if text is None:
                continue
            if not text and count + 1 < len(cells) and not cells[count + 1].is_named:
                # The next cell has its place only by this one.
                text = self._placeholder(row, cell)
            pieces += (row.data[place : cell.start], text)
            place = cell.end
        while column:
            new = self._new_cell(row.number, column, edits[column], own_style)
            if new:
                end = cells[-1].end if cells else row.inner
                pieces += (row.data[place:end], new.encode())
                place, is_wider = end, True
            column = next(todo, 0)
        changes = self._row_changes(row, has_new_cells=is_wider)
        if not pieces and not changes:
            return None
        pieces.append(row.data[place : row.inner_end])
        name = self._outline.qualified(b"row")
        tag = b"<" + name + with_attributes(row.attributes, changes)
        inner = b"".join(pieces)
        if not inner and row.inner == row.end:
            return tag + b"/>"
        return tag + b">" + inner + b"</" + name + b">"

    def _placeholder(self, row: RowMarkup, cell: CellMarkup) -> bytes:
        name = f' r="{column_letters(cell.column)}{row.number}"' if cell.is_named else ""
        return f"<{self._prefix}c{name}/>".encode()

    def _row_changes(self, row: RowMarkup, *, has_new_cells: bool) -> dict[bytes, bytes | None]:
        changes: dict[bytes, bytes | None] = {}
        height = self._pending.heights.get(row.number)
        if height is not None:
            # Set by hand (ECMA-376 part 1, 18.3.1.73), so that no program fits it to the contents.
            changes |= {b"ht": measure(height).encode(), b"customHeight": b"1"}
        if has_new_cells and b"spans" in row.attributes:
            # It is a hint for readers that no longer holds.
            changes[b"spans"] = None
        return changes

    def _height(self, number: int) -> str:
        height = self._pending.heights.get(number)
        return "" if height is None else f' ht="{measure(height)}" customHeight="1"'

    def _new_cell(self, number: int, column: int, edit: CellEdit, own_style: int | None) -> str:
        inherited = self._columns.style(column) if own_style is None else own_style
        # A cell that exists no longer inherits from its row or column, so it is given that style.
        style = self._style(inherited, edit)
        content = edit.content or BLANK
        letters = self._letters.get(column)
        if letters is None:
            letters = self._letters[column] = column_letters(column)
        if content.kind == "blank":
            # A blank cell that looks as its row or column does need not be in the file.
            if style == inherited:
                return ""
            return f'<{self._prefix}c r="{letters}{number}" s="{style}"/>'
        return cell_xml(self._prefix, f"{letters}{number}", style, content)

    def _style(self, base: int, edit: CellEdit) -> int:
        content = edit.content
        # A number in a styled cell is checked as well: the style may show it as a date.
        if edit.styles or (
            content is not None and (content.show or (content.kind == "number" and base))
        ):
            return self._restyle(base, edit)
        return base

    def _changed_cell(
        self,
        row: RowMarkup,
        cell: CellMarkup,
        edit: CellEdit | None,
        reach: Reach,
        own_style: int | None,
    ) -> bytes | None:
        """Return a cell as it will be, b"" if it goes, None if it does not change."""
        content = None if edit is None else edit.content
        if content is None and _reached(reach.clears, cell.column):
            content = BLANK
        old = cell.style
        style = old if edit is None else self._style(old, edit)
        changes: dict[bytes, bytes | None] = {}
        if style != old:
            changes[b"s"] = b"%d" % style
        inner = row.data[cell.inner : cell.inner_end]
        if content is not None:
            return self._replaced(cell, inner, content, style, changes, own_style)
        # Where the master of its shared formula goes, the cell gets the formula's text for its
        # place.
        own = self._shared.own_formula(row, cell)
        after = inner if own is None else own
        forgets = (edit is not None and edit.forget) or _reached(reach.forgets, cell.column)
        if forgets and (self._formula in inner or _reached(reach.members, cell.column)):
            is_text = attribute(cell.attributes, b"t") == "str"
            # An element without a value is no result, but of a text.
            if is_text or self._filled.search(after):
                after = self._result.sub(b"", after)
                # Type and value metadata belong to the result that goes.
                changes |= {b"t": None, b"vm": None}
        if edit is not None and edit.result is not None and self._formula in after:
            after = self._with_result(after, edit.result)
            changes |= {b"t": RESULT_TYPES[edit.result.kind], b"vm": None}
        if after == inner and not changes:
            return None
        return self._cell(with_attributes(cell.attributes, changes), after)

    def _with_result(self, inner: bytes, result: Result) -> bytes:
        """Return what is inside a cell with another result, right after its formula."""
        bare = self._result.sub(b"", inner)
        found = self._whole_formula.search(bare)
        if found is None:
            return inner
        return bare[: found.end()] + value_element(self._value, result) + bare[found.end() :]

    def _replaced(
        self,
        cell: CellMarkup,
        inner: bytes,
        content: Content,
        style: int,
        changes: dict[bytes, bytes | None],
        own_style: int | None,
    ) -> bytes | None:
        """Return a cell with another content; what belongs to the old one goes."""
        if _OF_VALUES.search(cell.attributes):
            changes |= {b"t": None, b"cm": None, b"vm": None}
        # Extensions belong to the cell, not to its value, and stand last in it (ECMA-376, CT_Cell).
        found = inner.find(self._extension)
        extension = inner[found:] if found >= 0 else b""
        if content.kind == "blank" and not extension:
            if not inner.strip() and style == cell.style:
                return None
            inherited = self._columns.style(cell.column) if own_style is None else own_style
            # A cell that is left out takes on the style of its row or column.
            if not style and not inherited:
                return b""
        elif content.kind == "text":
            changes[b"t"] = b"inlineStr"
        elif content.kind == "boolean":
            changes[b"t"] = b"b"
        text = b"" if content.kind == "blank" else inner_xml(self._prefix, content).encode()
        return self._cell(with_attributes(cell.attributes, changes), text + extension)

    def _cell(self, attributes: bytes, inner: bytes) -> bytes:
        name = self._outline.qualified(b"c")
        if not inner:
            return b"<" + name + attributes + b"/>"
        return b"<" + name + attributes + b">" + inner + b"</" + name + b">"


def _reached(areas: tuple[Area, ...], column: int) -> bool:
    for area in areas:  # noqa: SIM110 - a third of the time of any()
        if area.left <= column <= area.right:
            return True
    return False


def row_style(attributes: bytes) -> int | None:
    """Return the style that new cells of a row inherit from it, None if they do not."""
    # Without that flag, a row's style does not apply to its cells.
    if b"customFormat" not in attributes or attribute(attributes, b"customFormat") not in _TRUE:
        return None
    word = attribute(attributes, b"s") or "0"
    return whole_number(word)


def measure(height: float) -> str:
    """Return a height or width as it is stored."""
    # Ten significant digits hide the rounding errors of binary fractions.
    return f"{height:.10g}"


def row_splices(
    outline: Outline,
    rows: Rows,
    groups: Groups,
    columns: ColumnStyles,
    pending: PendingCells,
    restyle: Restyle,
) -> Iterator[Splice]:
    """Yield what changes between the tags of sheetData, in order.

    Args:
        outline: The part.
        rows: Its rows; none if they are wiped.
        groups: Its formulas over areas; none if its rows are wiped.
        columns: The styles of its columns.
        pending: What is to change.
        restyle: Gives the styles of edited cells.

    Raises:
        ValidationFailed: An edit reaches what cannot be changed alone.
    """
    # Before anything is written: an array or a data table changes as a whole, or not at all.
    gone = checked_groups(groups, pending, outline)
    shared = SharedFormulas(outline, rows, groups, pending)
    writer = RowWriter(outline, rows, columns, pending, shared, restyle)
    # With no old rows left, all new ones go to the end of the rows, where this splice ends.
    if pending.is_wiped and not outline.is_closed:
        yield Splice(outline.sheet_data[1], outline.rows_end, b"")
    new = _new_rows(rows, pending)
    if outline.is_closed:
        yield from _opened(outline, filter(None, map(writer.new_row, new)))
        return
    reaches = _Reaches(groups, pending, gone)
    touched = _touched(rows, pending, shared, reaches)
    if not new and not shared.rows and not reaches.members and pending.are_results:
        yield from _result_splices(ResultWriter(outline, rows, pending), writer, touched, reaches)
        return
    # New and old rows are merged into one order, because splices are written front to back.
    for number, place in sorted([*((number, -1) for number in new), *touched.items()]):
        if place < 0:
            text = writer.new_row(number)
            if text:
                start = rows.start_after(number)
                yield Splice(start, start, text)
            continue
        reach = reaches.of(number)
        row = rows.at(place)
        if number in pending.puts:
            yield Splice(row.start, row.end, writer.filled_row(row))
            continue
        yield from writer.changed(place, reach)


_ROWS_AT_ONCE = 1_000
"""Rows that are searched together: where one of them is taken apart, all of these are."""


def _result_splices(
    results: ResultWriter, writer: RowWriter, touched: Mapping[int, int], reaches: "_Reaches"
) -> Iterator[Splice]:
    """Yield changes of results, where there are no others."""
    order = sorted(touched.items())
    for first in range(0, len(order), _ROWS_AT_ONCE):
        some = order[first : first + _ROWS_AT_ONCE]
        found = results.splices(some[0][1], some[-1][1])
        if found is not None:
            yield from found
            continue
        for number, place in some:
            yield from writer.changed(place, reaches.of(number))


def _new_rows(rows: Rows, pending: PendingCells) -> list[int]:
    named = {*pending.edits, *pending.puts, *pending.heights}
    return sorted(number for number in named if rows.place(number) is None)


def _touched(
    rows: Rows, pending: PendingCells, shared: SharedFormulas, reaches: "_Reaches"
) -> dict[int, int]:
    """Return the places of the rows that there are and that something reaches, by number."""
    found = {rows.numbers[place]: place for place in shared.rows}
    for number in {*pending.edits, *pending.puts, *pending.heights}:
        place = rows.place(number)
        if place is not None:
            found[number] = place
    for area in reaches.areas:
        for place in rows.places(area):
            found[rows.numbers[place]] = place
    return found


def _opened(outline: Outline, texts: Iterator[bytes]) -> Iterator[Splice]:
    """Yield rows within a sheetData that was closed, and nothing if there are none."""
    start, end = outline.sheet_data
    first = next(texts, b"")
    if not first:
        return
    tag = outline.data[start:end].removesuffix(b"/>").rstrip()
    yield Splice(start, end, tag + b">")
    yield Splice(end, end, first)
    for text in texts:
        yield Splice(end, end, text)
    yield Splice(end, end, b"</" + outline.qualified(b"sheetData") + b">")


class _Reaches:
    """The areas that reach rows, without regard to single cells.

    Attributes:
        areas: All of them.
        members: Arrays and the like whose results are forgotten.
    """

    def __init__(self, groups: Groups, pending: PendingCells, gone: list[Area]) -> None:
        self._pending, self._gone = pending, AreaIndex(gone)
        single = (
            Area(row, column, row, column)
            for row, cells in pending.edits.items()
            for column, edit in cells.items()
            if edit.forget
        )
        forgotten = AreaIndex([*pending.forgets, *single])
        # The results of a group are old together.
        self.members = [each.area for each in groups.areas if forgotten.overlapping(each.area)]
        self._members = AreaIndex(self.members)
        self._forgets = AreaIndex([*pending.forgets, *self.members])
        self.areas = (*pending.clears, *gone, *pending.forgets, *self.members)

    def of(self, row: int) -> Reach:
        """Return what reaches a row."""
        if not self.areas:
            return _NO_REACH
        return Reach(
            (*self._pending.clears_of(row), *self._gone.of_row(row)),
            self._forgets.of_row(row),
            self._members.of_row(row),
        )
