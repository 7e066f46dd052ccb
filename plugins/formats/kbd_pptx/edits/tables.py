"""Tables of slides: added in the style of the deck, their cells set, rows put in and taken out.

A table is a grid of columns and rows of cells (ECMA-376, part 1, 21.1.3). A cell that another one
was merged over stays in the grid, marked by `hMerge` or `vMerge`.
"""

import re
from collections.abc import Sequence
from copy import deepcopy

from lxml import etree

from kbd.errors import ValidationFailed
from kbd_pptx.edits.deck import DeckEdit
from kbd_pptx.edits.fit_warnings import warn_of_table_fit
from kbd_pptx.edits.formatting import SlideTextPiece, ensure_child
from kbd_pptx.edits.found_shapes import (
    FoundShape,
    SlideEdit,
    find_shape,
    slide_at,
    table_of,
)
from kbd_pptx.edits.new_places import NewPlace, emu, graphic_frame, place_element, place_for
from kbd_pptx.edits.placeholders import PlaceholderBox
from kbd_pptx.edits.table_styles import find_table_style
from kbd_pptx.edits.text_fit import EMU_A_POINT, LINE_EM, estimated_ems
from kbd_pptx.edits.textbody import paragraphs_of, rewrite, split_lines
from kbd_pptx.operations import (
    AddSlideTable,
    DeleteSlideRows,
    InsertSlideRows,
    SetSlideTableCells,
    TableCell,
)
from kbd_pptx.presentation import A, P

__all__ = [
    "add_table",
    "copied_row",
    "delete_table_rows",
    "fit_frame",
    "insert_table_rows",
    "is_merged_over",
    "set_table_cells",
    "shown_value",
]

_URI = A.strip("{}").replace("/main", "/table")
_ALIGNMENTS = {"left": "l", "center": "ctr", "right": "r"}
_SIZES = (18, 16, 14, 12, 11, 10)
"""Sizes of text in points, the first that makes a new table fit its place."""
_ROW_HEIGHT = 370_840
"""Of a row of one line of 18 points, as PowerPoint makes them."""
_INSETS = 7.2, 3.6
"""Left and right, above and below of the text of a cell, in points (21.1.3.17)."""
_SMALL_PT = 12
"""Text that people in a room cannot read any more."""
_NARROWEST, _WIDEST = 4.0, 30.0
"""Of columns by their texts, in font sizes, as their widths relate."""
_FIGURE = re.compile(
    r"[(\-\u2212+]?\s*[^\w\s]?\s*\d[\d.,'\u00a0\u202f ]*\s*"
    r"(?:%|[^\w\s]|[A-Z]{3}|[kKmMbB]|bn|m|pp)?\)?"
)
_BLANK = frozenset(("", "-", "\u2013", "\u2014", "n/a", "N/A", "n.a."))


def shown_value(value: TableCell) -> str:
    """Return a cell's value as people write it: digits that only a binary number has are left."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:.15g}"
        case _:
            return str(value)


def add_table(deck: DeckEdit, operation: AddSlideTable) -> str:
    """Add a table to a slide, and return what changed.

    Raises:
        ValidationFailed: There is no such slide or style, or the rows make no table.
    """
    slide = slide_at(deck, operation.index)
    rows = [[deck.warnings.clean_text(shown_value(each)) for each in row] for row in operation.rows]
    columns = max(map(len, rows))
    if not columns:
        raise ValidationFailed("add_table: the rows have no cells")
    rows = [[*row, *[""] * (columns - len(row))] for row in rows]
    for name, given in (
        ("column_widths", operation.column_widths), ("alignment", operation.alignment),
    ):  # fmt: skip
        if given and len(given) != columns:
            raise ValidationFailed(
                f"add_table: {name} has {len(given)} entries; the table has {columns} columns"
            )
    style = find_table_style(deck, operation.style)
    place = place_for(deck, slide, operation, "tbl")
    given_height = None if operation.height is None else emu(operation.height)
    if operation.column_widths and operation.width is None:
        total = sum(map(emu, operation.column_widths))
        place = _resized(place, total, place.box.height)
    widths = _widths(place.box.width, operation.column_widths, rows)
    size, heights = _heights(rows, widths, place.box.height, operation.font_size)
    total = sum(heights)
    if given_height is not None and given_height > total:
        heights = [height * given_height // total for height in heights]
        total = sum(heights)
    table = _table(rows, widths, heights, style, has_header=operation.header)
    _format(table, rows, operation, size)
    place = _resized(place, sum(widths), total)
    data = etree.Element(f"{A}graphicData", {"uri": _URI})
    data.append(table)
    description = deck.warnings.clean_text(operation.description or "")
    frame = graphic_frame(slide, "Table", description, place, data)
    place_element(deck, slide, place, frame, "table")
    if size is not None and size < _SMALL_PT and operation.font_size is None:
        deck.warnings.warn(
            f"Slide {slide.index}: the table is long, its text was made {size:g} points small; "
            "split it over slides."
        )
    warn_of_table_fit(deck, slide, frame)
    name = frame[0][0].get("name", "")
    return f"slide {slide.index}: {name}, {len(rows)} rows by {columns} columns"


def _resized(place: NewPlace, width: int, height: int) -> NewPlace:
    box = PlaceholderBox(place.box.x, place.box.y, width, height)
    return NewPlace(box, place.placeholder, place.gone, place.is_given)


def _widths(total: int, given: Sequence[float], rows: Sequence[Sequence[str]]) -> list[int]:
    """Return the widths of columns, which add up to the table's: as given, else by the texts."""
    if given:
        weights = list(given)
    else:
        weights = []
        for column in zip(*rows, strict=True):
            widest = max(
                estimated_ems(line) for text in column for line in (text.split("\n") or [""])
            )
            # What is cut here wraps.
            weights.append(min(max(widest + 1, _NARROWEST), _WIDEST))
    share = total / sum(weights)
    found = [max(1, round(weight * share)) for weight in weights]
    # What rounding took goes to the last one.
    found[-1] += total - sum(found)
    return found


def _heights(
    rows: Sequence[Sequence[str]], widths: Sequence[int], room: int, given: float | None
) -> tuple[float | None, list[int]]:
    """Return the size of the text, None for the usual one, and the heights of rows."""
    sizes = _SIZES if given is None else (given,)
    size, heights = sizes[0], [0]
    for size in sizes:
        heights = [_height(row, widths, size) for row in rows]
        if sum(heights) <= room:
            break
    return (None if size == _SIZES[0] and given is None else size), heights


def _height(row: Sequence[str], widths: Sequence[int], size: float) -> int:
    lines = 1
    for text, width in zip(row, widths, strict=True):
        room = max((width / EMU_A_POINT - 2 * _INSETS[0]) / size, 1)
        count = sum(max(1, -int(-estimated_ems(line) // room)) for line in text.split("\n") or [""])
        lines = max(lines, count)
    needed = round((lines * size * LINE_EM + 2 * _INSETS[1]) * EMU_A_POINT)
    # The usual height belongs to the usual size; a smaller text has lower rows.
    return max(needed, round(_ROW_HEIGHT * min(1, size / _SIZES[0])))


def _table(
    rows: Sequence[Sequence[str]],
    widths: Sequence[int],
    heights: Sequence[int],
    style: str,
    *,
    has_header: bool,
) -> etree._Element:
    table = etree.Element(f"{A}tbl")
    properties = etree.SubElement(table, f"{A}tblPr")
    if has_header:
        properties.set("firstRow", "1")
    properties.set("bandRow", "1")
    etree.SubElement(properties, f"{A}tableStyleId").text = style
    grid = etree.SubElement(table, f"{A}tblGrid")
    for width in widths:
        etree.SubElement(grid, f"{A}gridCol", {"w": str(width)})
    for row, height in zip(rows, heights, strict=True):
        line = etree.SubElement(table, f"{A}tr", {"h": str(height)})
        for text in row:
            _write(_new_cell(line), text)
    return table


def _new_cell(line: etree._Element) -> etree._Element:
    cell = etree.SubElement(line, f"{A}tc")
    body = etree.SubElement(cell, f"{A}txBody")
    etree.SubElement(body, f"{A}bodyPr")
    etree.SubElement(body, f"{A}lstStyle")
    etree.SubElement(body, f"{A}p")
    etree.SubElement(cell, f"{A}tcPr")
    return cell


def _format(
    table: etree._Element,
    rows: Sequence[Sequence[str]],
    operation: AddSlideTable,
    size: float | None,
) -> None:
    """Align the columns of a new table, figures at the right, and set the size of its text."""
    first = int(operation.header and len(rows) > 1)
    alignments = operation.alignment or [
        "right" if _are_figures(column[first:]) else "left" for column in zip(*rows, strict=True)
    ]
    for line in table.iterchildren(f"{A}tr"):
        for cell, alignment in zip(line.iterchildren(f"{A}tc"), alignments, strict=True):
            for paragraph in cell.iter(f"{A}p"):
                if alignment != "left":
                    ensure_child(paragraph, "pPr", ("pPr",)).set("algn", _ALIGNMENTS[alignment])
                _resize(paragraph, size)


def _resize(paragraph: etree._Element, size: float | None) -> None:
    if size is None:
        return
    runs = list(paragraph.iterchildren(f"{A}r", f"{A}br"))
    for run in runs:
        ensure_child(run, "rPr", ("rPr",)).set("sz", str(round(size * 100)))
    if not runs:
        end = etree.SubElement(paragraph, f"{A}endParaRPr")
        end.set("sz", str(round(size * 100)))


def _are_figures(texts: Sequence[str]) -> bool:
    filled = [text.strip() for text in texts if text.strip() not in _BLANK]
    return bool(filled) and all(len(text) < 40 and _FIGURE.fullmatch(text) for text in filled)


def set_table_cells(deck: DeckEdit, operation: SetSlideTableCells) -> str:
    """Set the texts of cells, and return what changed.

    Raises:
        ValidationFailed: There is no such table or cell, or a cell is merged into another one.
    """
    slide, shape, table = _find(deck, operation.index, operation.table)
    lines = table.findall(f"{A}tr")
    for each in operation.cells:
        if each.row >= len(lines):
            hint = "; insert_table_rows adds some" if each.row == len(lines) else ""
            raise ValidationFailed(
                f"{shape.name} has no row {each.row}: it has {_count(len(lines), 'row')}, counted "
                f"from 0{hint}"
            )
        cells = lines[each.row].findall(f"{A}tc")
        if each.column >= len(cells):
            raise ValidationFailed(
                f"{shape.name} has no column {each.column}: row {each.row} has "
                f"{_count(len(cells), 'column')}, counted from 0"
            )
        _refuse_merged(shape, lines, each.row, each.column)
        _write(cells[each.column], deck.warnings.clean_text(shown_value(each.value)))
    warn_of_table_fit(deck, slide, shape.element)
    return f"slide {slide.index}: {shape.name}, {_count(len(operation.cells), 'cell')} set"


def insert_table_rows(deck: DeckEdit, operation: InsertSlideRows) -> str:
    """Put rows into a table, and return what changed.

    Raises:
        ValidationFailed: There is no such table or row, a row has too many cells, or merged cells
            reach over the place.
    """
    slide, shape, table = _find(deck, operation.index, operation.table)
    lines = table.findall(f"{A}tr")
    at = len(lines) if operation.at is None else operation.at
    if at > len(lines):
        raise ValidationFailed(
            f"{shape.name} has no row {at}: it has {_count(len(lines), 'row')}, counted from 0"
        )
    columns = len(table.findall(f"{A}tblGrid/{A}gridCol"))
    for row in operation.rows:
        if len(row) > columns:
            raise ValidationFailed(
                f"a row of {len(row)} cells is too long: {shape.name} has "
                f"{_count(columns, 'column')}"
            )
    if not lines:
        raise ValidationFailed(f"{shape.name} has no row that new ones could look like")
    if at < len(lines) and is_merged_over(lines[at]):
        raise ValidationFailed(f"merged cells of {shape.name} reach over row {at}")
    # Like the row above, but for a header, which only a table without other rows has to lend.
    model = lines[max(at - 1, 0)]
    if at == 1 and len(lines) > 1 and _on(_properties(table), "firstRow"):
        model = lines[1]
    made = []
    for row in operation.rows:
        line = copied_row(model)
        cells = line.findall(f"{A}tc")
        for place, cell in enumerate(cells):
            text = shown_value(row[place]) if place < len(row) else ""
            _write(cell, deck.warnings.clean_text(text))
        made.append(line)
    for line in made:
        if at < len(lines):
            lines[at].addprevious(line)
        else:
            table.findall(f"{A}tr")[-1].addnext(line)
    _grow(shape.element, table)
    warn_of_table_fit(deck, slide, shape.element)
    where = "at its end" if at == len(lines) else f"before row {at}"
    return f"slide {slide.index}: {shape.name}, {_count(len(made), 'row')} put in {where}"


def delete_table_rows(deck: DeckEdit, operation: DeleteSlideRows) -> str:
    """Delete rows of a table, and return what changed.

    Raises:
        ValidationFailed: There is no such table or row, none would be left, or merged cells reach
            over the rows' ends.
    """
    slide, shape, table = _find(deck, operation.index, operation.table)
    lines = table.findall(f"{A}tr")
    end = operation.at + operation.count
    if end > len(lines):
        raise ValidationFailed(
            f"{shape.name} has no row {end - 1}: it has {_count(len(lines), 'row')}, counted from 0"
        )
    if operation.count == len(lines):
        raise ValidationFailed(f"{shape.name} would have no row left")
    for at in (operation.at, end):
        if at < len(lines) and is_merged_over(lines[at]):
            raise ValidationFailed(f"merged cells of {shape.name} reach over row {at}")
    for line in lines[operation.at : end]:
        table.remove(line)
    if deck.release(slide.part, lines[operation.at : end]):
        deck.warnings.warn(f"Links or pictures of deleted rows of {shape.name} went with them.")
    _grow(shape.element, table)
    return f"slide {slide.index}: {shape.name}, {_count(operation.count, 'row')} deleted"


def _find(
    deck: DeckEdit, index: int, wanted: str | int | None
) -> tuple[SlideEdit, FoundShape, etree._Element]:
    slide = slide_at(deck, index)
    shape = find_shape(slide, wanted, "table", table_of)
    table = table_of(shape.element)
    if table is None:
        raise ValidationFailed(f"{shape.name} is no table")
    return slide, shape, table


def _on(element: etree._Element | None, name: str) -> bool:
    return element is not None and element.get(name) in ("1", "true")


def _properties(table: etree._Element) -> etree._Element | None:
    return table.find(f"{A}tblPr")


def _count(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _refuse_merged(
    shape: FoundShape, lines: Sequence[etree._Element], row: int, column: int
) -> None:
    """Refuse a cell that another one was merged over, and name that one."""
    cells = lines[row].findall(f"{A}tc")
    if not (_on(cells[column], "hMerge") or _on(cells[column], "vMerge")):
        return
    first_row, first_column = row, column
    while first_column > 0 and _on(cells[first_column], "hMerge"):
        first_column -= 1
    while first_row > 0:
        above = lines[first_row].findall(f"{A}tc")
        if first_column >= len(above) or not _on(above[first_column], "vMerge"):
            break
        first_row -= 1
    raise ValidationFailed(
        f"the cell in row {row}, column {column} of {shape.name} is merged into that in row "
        f"{first_row}, column {first_column}; set that one"
    )


def _write(cell: etree._Element, text: str) -> None:
    """Write a text into a cell; how it looked stays."""
    body = cell.find(f"{A}txBody")
    if body is None:
        body = etree.Element(f"{A}txBody")
        etree.SubElement(body, f"{A}bodyPr")
        etree.SubElement(body, f"{A}lstStyle")
        etree.SubElement(body, f"{A}p")
        cell.insert(0, body)
    rewrite(body, split_lines((SlideTextPiece(text),), levels=False))


def is_merged_over(line: etree._Element) -> bool:
    """Tell whether a cell above a row reaches into it."""
    return any(_on(each, "vMerge") for each in line.iterchildren(f"{A}tc"))


def fit_frame(line: etree._Element) -> None:
    """Have the frame of a row's table be as high as its rows."""
    table = line.getparent()
    frame = next(line.iterancestors(f"{P}graphicFrame"), None)
    if frame is not None and table is not None:
        _grow(frame, table)


def copied_row(model: etree._Element) -> etree._Element:
    """Return a row like another one, without its texts' links and what identifies it."""
    line = deepcopy(model)
    line.tail = None
    for extensions in line.findall(f"{A}extLst"):
        # It holds the row's id ([MS-ODRAWXML] 2.18.3), which no other one may have.
        line.remove(extensions)
    for cell in line.iterchildren(f"{A}tc"):
        for key in ("rowSpan", "vMerge"):
            cell.attrib.pop(key, "")
        bodies = cell.findall(f"{A}txBody")
        for paragraph in (each for body in bodies for each in paragraphs_of(body)):
            for link in list(paragraph.iter(f"{A}hlinkClick", f"{A}hlinkMouseOver")):
                parent = link.getparent()
                if parent is not None:
                    parent.remove(link)
    return line


def _grow(frame: etree._Element, table: etree._Element) -> None:
    """Have a frame be as high as the rows of its table, as programs write it."""
    size = frame.find(f"{P}xfrm/{A}ext")
    heights = [line.get("h", "") for line in table.iterchildren(f"{A}tr")]
    if size is not None and all(each.isdecimal() and len(each) < 12 for each in heights):
        size.set("cy", str(sum(map(int, heights))))
