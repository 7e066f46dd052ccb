"""Tables: made of a range of cells, and resized.

The header of a table names its columns: cells and names must agree, so the header is read from the
cells as they are, and what is no text of its own is refused.
"""

import posixpath
import re
from collections.abc import Sequence
from typing import Any

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.rewriter import xml_bytes
from kbd.sheets.areas import MAX_ROW, Area, cell_name, overlaps, parse_area
from kbd_xlsx.calculation import names_column
from kbd_xlsx.calculation.cells import formula_cells
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.objects.names import check_new_name, forget_users
from kbd_xlsx.edits.objects.ranges import WHOLE
from kbd_xlsx.operations import AddSheetTable, ResizeSheetTable, TableTotal, TotalFunction
from kbd_xlsx.parts.book import TablePart, new_table
from kbd_xlsx.parts.cells import CellEdit, Content
from kbd_xlsx.parts.markup import Tag, area_of, attribute, element, opened, with_attributes
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.parts.stored_cells import StoredCells
from kbd_xlsx.parts.stylesheet import MAIN, STRICT_MAIN
from kbd_xlsx.reader.fallback_parser import text_of_item
from kbd_xlsx.styles.drawings import RELATION_SPACES

__all__ = ["add_table", "find_table", "resize_table"]

_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.table+xml"
_BUILTIN_STYLE = re.compile(
    r"TableStyle(?:Light(?:1?\d|2[01])|Medium(?:1?\d|2[0-8])|Dark(?:\d|1[01]))"
)
_MAX_LISTED = 10
_MAX_HEADER = 255
"""Characters of a column's name, as in Excel."""

_FUNCTIONS: dict[TotalFunction, tuple[str, int]] = {
    "average": ("average", 101),
    "count_numbers": ("countNums", 102),
    "count": ("count", 103),
    "max": ("max", 104),
    "min": ("min", 105),
    "std_dev": ("stdDev", 107),
    "sum": ("sum", 109),
    "var": ("var", 110),
}
"""Of each total its name in a table, and its number in SUBTOTAL; hidden rows do not count."""


def add_table(book: BookEdit, operation: AddSheetTable) -> str:
    """Make a range a table and say which.

    Raises:
        ValidationFailed: The range has no header, or is part of something else; there is no such
            style, or the name cannot be a table's.
    """
    name = operation.name.strip()
    check_new_name(book, name, "a table")
    if any(known.name.casefold() == name.casefold() for known in book.book.names):
        raise ValidationFailed(f"there is a name {name} already")
    style = _checked_style(book, operation.style)
    # What is pending is written first, so that the header is read as it will be.
    book.sheet(operation.sheet)
    book.flush()
    sheet = book.sheet(operation.sheet)
    area = _checked_area(book, sheet, operation.range)
    columns = _header(book, sheet.name, area)
    strict = book.rewriting.is_strict
    tables = [table for title in book.titles for table in book.tables(title)]
    number = max((table.number for table in tables), default=0) + 1
    root = new_table(STRICT_MAIN if strict else MAIN, number, name, area, columns)
    if operation.totals:
        area = _add_totals(book, sheet, root, area, columns, operation.totals)
    _add_style(root, style)
    folder = posixpath.dirname(book.main)
    part = book.rewriting.free_name(posixpath.join(folder, "tables/table{}.xml"))
    book.rewriting.add(part, xml_bytes(root), _TYPE)
    id_ = book.rewriting.relate(book.part(sheet.name), "table", part)
    _list_part(sheet, id_, strict=strict)
    book.tables(sheet.name).append(TablePart(part, root))
    forget_users(book, name)
    return f"{sheet.name}!{area}: table {name} ({len(columns)} columns)"


def _checked_style(book: BookEdit, style: str) -> str:
    """Return a style of tables, "" for none."""
    if not style.strip() or style.strip().casefold() == "none":
        return ""
    if _BUILTIN_STYLE.fullmatch(style):
        return style
    own = [each.get("name", "") for each in book.styles.tables.root.iter("{*}tableStyle")]
    if style in own:
        return style
    listed = f", or {', '.join(own[:_MAX_LISTED])}" if own else ""
    raise ValidationFailed(
        f"there is no table style {style[:60]!r}; there are TableStyleLight1 to 21, "
        f"TableStyleMedium1 to 28, TableStyleDark1 to 11{listed}"
    )


def _checked_area(book: BookEdit, sheet: SheetPart, text: str) -> Area:
    """Return the range of a new table; raises ValidationFailed where it cannot be one."""
    area = parse_area(text, WHOLE)
    if area.bottom == MAX_ROW:
        raise ValidationFailed(f"{text}: a table needs its rows named, as A1:D20")
    if area.top == area.bottom:
        raise ValidationFailed(f"{text}: a table needs a row below its header")
    _check_room(book, sheet, area, "")
    return area


def _check_room(book: BookEdit, sheet: SheetPart, area: Area, but: str) -> None:
    """Refuse an area that is part of something else; `but` is the table that it is for."""
    for table in book.tables(sheet.name):
        if table.name != but and overlaps(table.area, area):
            raise ValidationFailed(f"{area} overlaps table {table.name} ({table.area})")
    merged = next((each for each in sheet.merges if overlaps(each, area)), None)
    if merged is not None:
        raise ValidationFailed(f"{area} holds the merged cells {merged}; unmerge them first")
    seen = sheet.elements.seen("autoFilter")
    filtered = area_of(attribute(opened(seen).attributes, b"ref") or "") if seen else None
    if filtered is not None and overlaps(filtered, area):
        raise ValidationFailed(
            f"{area} overlaps the sheet's filter ({filtered}); a table has a filter of its own, so "
            "that one has to be taken off first in a spreadsheet program"
        )
    part = book.part(sheet.name)
    for relation in book.rewriting.relations(part):
        if relation.kind != "pivotTable" or relation.target not in book.rewriting:
            continue
        root = book.rewriting.root(relation.target)
        place = root.find("{*}location")
        pivot = area_of(place.get("ref", "")) if place is not None else None
        if pivot is not None and overlaps(pivot, area):
            raise ValidationFailed(f"{area} overlaps the pivot table {root.get('name')} ({pivot})")
    for cell in formula_cells(book.rewriting.read(part), sheet.name):
        filled = area_of(cell.area) if cell.kind in ("array", "dataTable") else None
        is_large = filled is not None and (filled.top, filled.left) != (filled.bottom, filled.right)
        if filled is not None and is_large and overlaps(filled, area):
            raise ValidationFailed(f"{area} holds an array formula over {filled}, as no table may")


def _header(book: BookEdit, title: str, area: Area) -> list[str]:
    """Return the texts of an area's first row; raises ValidationFailed where one cannot name."""
    row = Area(area.top, area.left, area.top, area.right)
    found: dict[int, str] = {}
    shared: list[etree._Element] | None = None
    for cell in StoredCells(book.rewriting.read(book.part(title)), title).of(row):
        place = f"{title}!{cell_name(cell.row, cell.column)}"
        if cell.formula is not None or cell.kind not in ("shared", "text"):
            what = "a formula" if cell.formula is not None else "a number or another value"
            raise ValidationFailed(
                f"{place} is in the header of the table and holds {what}; write it as text first"
            )
        text = cell.value
        if cell.kind == "shared":
            if shared is None:
                shared = _shared_items(book)
            number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
            text = text_of_item(shared[number]) if 0 <= number < len(shared) else ""
        found[cell.column] = text
    columns: list[str] = []
    for column in range(area.left, area.right + 1):
        text, place = found.get(column, ""), f"{title}!{cell_name(area.top, column)}"
        if not text.strip():
            raise ValidationFailed(f"{place} is empty; each column of a table needs a header")
        if len(text) > _MAX_HEADER:
            raise ValidationFailed(f"{place} has more than {_MAX_HEADER} characters for a header")
        if text.casefold() in {known.casefold() for known in columns}:
            raise ValidationFailed(f"{place} repeats the header {text!r}; each needs its own")
        columns.append(text)
    return columns


def _shared_items(book: BookEdit) -> list[etree._Element]:
    relations = book.rewriting.relations(book.main)
    part = next((each.target for each in relations if each.kind == "sharedStrings"), "")
    if part not in book.rewriting:
        return []
    return list(book.rewriting.root(part).iterfind("{*}si"))


def _add_totals(
    book: BookEdit,
    sheet: SheetPart,
    root: Any,
    area: Area,
    columns: Sequence[str],
    totals: Sequence[TableTotal],
) -> Area:
    """Add a row of totals below a new table, and return the table's area with it."""
    name = root.get("displayName")
    if area.bottom == MAX_ROW:
        raise ValidationFailed(f"{area} leaves no row for totals")
    row = Area(area.bottom + 1, area.left, area.bottom + 1, area.right)
    data = book.rewriting.read(book.part(sheet.name))
    if next(StoredCells(data, sheet.name).of(row), None) is not None:
        raise ValidationFailed(f"{row} holds values; the row of totals needs it empty")
    whole = msgspec.structs.replace(area, bottom=row.bottom)
    _check_room(book, sheet, whole, "")
    folded = [column.casefold() for column in columns]
    entries = list(root.iterfind("{*}tableColumns/{*}tableColumn"))
    for total in totals:
        if total.column.casefold() not in folded:
            raise ValidationFailed(f"the table has no column {total.column!r} to total")
        place = folded.index(total.column.casefold())
        word, number = _FUNCTIONS[total.function]
        entries[place].set("totalsRowFunction", word)
        formula = f"SUBTOTAL({number},{name}[{_in_brackets(columns[place])}])"
        column = area.left + place
        sheet.set(row.top, column, CellEdit(Content("formula", formula)))
        book.results.formulas_set.setdefault(sheet.name, set()).add((row.top, column))
    if entries[0].get("totalsRowFunction") is None:
        entries[0].set("totalsRowLabel", "Total")
        sheet.set(row.top, area.left, CellEdit(Content("text", "Total")))
    root.set("ref", str(whole))
    root.set("totalsRowCount", "1")
    root.attrib.pop("totalsRowShown")
    return whole


def _in_brackets(column: str) -> str:
    """Return a column's name as structured references write it."""
    return re.sub(r"(['\[\]#@])", r"'\1", column)


def _add_style(root: Any, style: str) -> None:
    space = str(root.tag).rpartition("}")[0] + "}"
    info = etree.SubElement(root, f"{space}tableStyleInfo")
    if style:
        info.set("name", style)
    for key, value in (
        ("showFirstColumn", "0"), ("showLastColumn", "0"), ("showRowStripes", "1"),
        ("showColumnStripes", "0"),
    ):  # fmt: skip
        info.set(key, value)


def _list_part(sheet: SheetPart, id_: str, *, strict: bool) -> None:
    """Enter a table's relation into the list of the sheet's part."""
    old = sheet.elements.text("tableParts")
    tag = opened(old) if old else Tag(f"{sheet.prefix}tableParts".encode(), b"", b"")
    space = RELATION_SPACES[strict].strip("{}")
    entry = f'<{sheet.prefix}tablePart xmlns:r="{space}" r:id="{id_}"/>'.encode()
    count = tag.inner.count(b"<" + f"{sheet.prefix}tablePart".encode()) + 1
    attributes = with_attributes(tag.attributes, {b"count": b"%d" % count})
    sheet.elements.put("tableParts", element(Tag(tag.name, attributes, tag.inner + entry)))


def find_table(book: BookEdit, name: str) -> tuple[str, TablePart]:
    """Return a table with the title of its sheet; raises ValidationFailed."""
    known = [(title, table) for title in book.titles for table in book.tables(title)]
    for title, table in known:
        if table.name.casefold() == name.strip().casefold():
            return title, table
    there = ", ".join(table.name for _, table in known[:_MAX_LISTED])
    raise ValidationFailed(
        f"there is no table {name!r}" + (f"; there are: {there}" if there else "")
    )


def resize_table(book: BookEdit, operation: ResizeSheetTable) -> str:
    """Have a table cover another range and say which; raises ValidationFailed."""
    # What is pending is written first; tables are read anew after that.
    book.flush()
    title, table = find_table(book, operation.table)
    old = table.area
    sheet = book.sheet(title)
    area = parse_area(operation.range, WHOLE)
    if area == old:
        return f"{title}!{area}: table {table.name} is there already"
    _check_resized(table, old, area)
    _check_room(book, sheet, area, table.name)
    kept = {
        column for column in range(old.left, old.right + 1) if area.left <= column <= area.right
    }
    for column, text in enumerate(table.columns, old.left):
        if column not in kept and any(names_column(each, text) for each in book.formula_texts()):
            raise ValidationFailed(
                f"column {text!r} stays in table {table.name}: formulas refer to it by that name"
            )
    added: dict[int, str] = {}
    if table.header_rows:
        header = dict(enumerate(_header(book, title, area), area.left))
        added = {column: text for column, text in header.items() if column not in kept}
    table.reshape(area, added)
    book.results.add(title, (old, area))
    forget_users(book, table.name)
    return f"{title}!{area}: table {table.name}, was {old}"


def _check_resized(table: TablePart, old: Area, area: Area) -> None:
    name = table.name
    if table.is_query:
        raise ValidationFailed(f"table {name} is filled by a query, which says how large it is")
    if area.bottom == MAX_ROW or area.bottom - area.top < table.header_rows + table.totals_rows:
        raise ValidationFailed(f"table {name} needs rows below its header, named as {old}")
    if area.top != old.top:
        raise ValidationFailed(f"the header of table {name} stays in row {old.top}")
    if not overlaps(area, old):
        raise ValidationFailed(f"{area} has no cell of table {name} ({old})")
    if table.totals_rows and area.bottom != old.bottom:
        raise ValidationFailed(
            f"table {name} has its totals in row {old.bottom}, which cannot move so; insert rows "
            "above it instead"
        )
    is_wider = (area.left, area.right) != (old.left, old.right)
    if is_wider and not table.header_rows:
        raise ValidationFailed(f"table {name} has no header to name other columns by")
    if is_wider and table.has_criteria:
        raise ValidationFailed(f"table {name} is filtered; its columns stay until that is lifted")
