"""Links of cells: to addresses outside, and to places in the workbook.

An address is a relation of the sheet's part, so it counts as what the workbook reaches out to, and
a person agrees to it before it is published.
"""

import re
from collections.abc import Sequence

from kbd.errors import ValidationFailed
from kbd.sheets.areas import Area, cell_name, parse_area, parse_cell
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.cells import CellWriter
from kbd_xlsx.edits.objects.formulas import quoted_sheet
from kbd_xlsx.edits.objects.names import bare_sheet
from kbd_xlsx.edits.objects.ranges import WHOLE, attribute_text, cut_areas
from kbd_xlsx.operations import CellSetting, SetCells, SetHyperlink
from kbd_xlsx.parts.cells import CellEdit
from kbd_xlsx.parts.markup import (
    Tag,
    area_of,
    attribute,
    children,
    element,
    opened,
    with_attributes,
)
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.styles.drawings import RELATION_SPACES
from kbd_xlsx.values import checked_text

__all__ = ["add_hyperlink", "set_hyperlink", "take_hyperlinks"]

MAX_ADDRESS = 2_079
"""Characters of an address, as in Excel."""

MAX_TOOLTIP = 255

MAX_LINKS = 65_530
"""Of a sheet, as in Excel."""

_ADDRESS = re.compile(r"(?:https?|ftp|mailto|tel):[^\s\x00-\x1f<>\"]+", re.IGNORECASE)
_RELATION = re.compile(rb"(?:[\w.-]+:)id")
_LOOK = {"font_color": "#0563C1", "font_underline": "single"}
"""As Excel shows links."""


def set_hyperlink(book: BookEdit, writer: CellWriter, operation: SetHyperlink) -> str:
    """Link a cell and say where it leads; raises ValidationFailed."""
    sheet = book.sheet(operation.sheet)
    row, column = parse_cell(operation.cell)
    place = f"{sheet.name}!{cell_name(row, column)}"
    if (operation.target is None) == (operation.location is None):
        raise ValidationFailed(f"{place}: a link needs either a target or a location")
    merged = next((a for a in sheet.merges if a.top <= row <= a.bottom
                   and a.left <= column <= a.right), None)  # fmt: skip
    if merged is not None and (merged.top, merged.left) != (row, column):
        raise ValidationFailed(f"{place} is inside of the merged cells {merged}; link their first")
    area = Area(row, column, row, column)
    taken = take_hyperlinks(book, sheet, [area])
    attributes = f' ref="{area}"'
    if operation.target is not None:
        target = _checked_address(operation.target, place)
        id_ = book.rewriting.relate(book.part(sheet.name), "hyperlink", target, external=True)
        space = RELATION_SPACES[book.rewriting.is_strict].strip("{}")
        attributes += f' xmlns:r="{space}" r:id="{id_}"'
        book.notices.note_external(f"{place}: {target}")
        goes_to = target
    else:
        goes_to = _checked_location(book, sheet.name, operation.location or "", place)
        attributes += f' location="{attribute_text(goes_to)}"'
    if operation.tooltip:
        if len(operation.tooltip) > MAX_TOOLTIP:
            raise ValidationFailed(f"{place}: a tooltip has {MAX_TOOLTIP} characters at most")
        attributes += f' tooltip="{attribute_text(checked_text(operation.tooltip, place))}"'
    add_hyperlink(sheet, attributes)
    sheet.set(row, column, CellEdit(None, (_LOOK,)))
    if operation.text is not None:
        # As any text: the header of a table is renamed with it.
        setting = CellSetting(operation.cell, operation.text, "string")
        writer.set_cells(SetCells(sheet.name, (setting,)))
    instead = " instead of another link" if taken else ""
    return f"{place}: link to {goes_to}{instead}"


def _checked_address(target: str, place: str) -> str:
    address = target.strip()
    if not _ADDRESS.fullmatch(address) or len(address) > MAX_ADDRESS:
        raise ValidationFailed(
            f"{place}: {address[:60]!r} is no address that a cell may lead to: https:, http:, "
            f"ftp:, mailto: or tel:, without blanks, {MAX_ADDRESS:,} characters at most; a place "
            "in the workbook goes into location"
        )
    return address


def _checked_location(book: BookEdit, own: str, location: str, place: str) -> str:
    """Return a place in the workbook as files have it: with its sheet, or a name."""
    text = location.strip().removeprefix("#")
    title, mark, cells = text.rpartition("!")
    names = {name.name.casefold(): name.name for name in book.book.names}
    tables = [table.name for each in book.titles for table in book.tables(each)]
    names |= {name.casefold(): name for name in tables}
    if not mark and text.casefold() in names:
        return names[text.casefold()]
    found = book.title(bare_sheet(title)) if mark else own
    try:
        area = parse_area(cells, WHOLE)
    except ValidationFailed as error:
        raise ValidationFailed(
            f"{place}: {text[:60]!r} is no place in the workbook; write it as Data!A1, or a name"
        ) from error
    whole = area.bottom - area.top >= WHOLE.bottom - 1 or area.right - area.left >= WHOLE.right - 1
    return f"{quoted_sheet(found)}!{cells.replace('$', '') if whole else area}"


def add_hyperlink(sheet: SheetPart, attributes: str) -> None:
    """Put a link behind those of a sheet; raises ValidationFailed for too many."""
    old = sheet.elements.text("hyperlinks")
    tag = opened(old) if old else Tag(f"{sheet.prefix}hyperlinks".encode(), b"", b"")
    count = sum(1 for _ in children(tag.inner, 0, len(tag.inner)))
    if count >= MAX_LINKS:
        raise ValidationFailed(
            f"{sheet.name} has {count:,} links already, as many as a sheet holds"
        )
    made = f"<{sheet.prefix}hyperlink{attributes}/>".encode()
    sheet.elements.put("hyperlinks", element(Tag(tag.name, tag.attributes, tag.inner + made)))


def take_hyperlinks(book: BookEdit, sheet: SheetPart, areas: Sequence[Area]) -> int:
    """Take the links off some cells, with relations that nothing names then; return how many."""
    old = sheet.elements.text("hyperlinks")
    if not old:
        return 0
    tag = opened(old)
    pieces: list[bytes] = []
    place = count = 0
    gone: set[str] = set()
    for child in children(tag.inner, 0, len(tag.inner)):
        text = tag.inner[child.start : child.end]
        cut = _cut(text, areas)
        pieces += (tag.inner[place : child.start], cut)
        place = child.end
        if cut != text:
            count += 1
            gone |= set() if cut else _ids(text)
    if not count:
        return 0
    inner = b"".join((*pieces, tag.inner[place:]))
    made = element(Tag(tag.name, tag.attributes, inner)) if inner.strip() else b""
    sheet.elements.put("hyperlinks", made)
    kept = {id_ for child in children(inner, 0, len(inner))
            for id_ in _ids(inner[child.start : child.end])}  # fmt: skip
    part = book.part(sheet.name)
    for relation in book.rewriting.relations(part):
        if relation.id in gone - kept and relation.kind == "hyperlink":
            book.rewriting.unrelate(part, relation.id)
    return count


def _cut(text: bytes, areas: Sequence[Area]) -> bytes:
    """Return a link without some cells: one for each range that is left of its own."""
    tag = opened(text)
    area = area_of(attribute(tag.attributes, b"ref") or "")
    if area is None:
        return text
    left = cut_areas([area], areas)
    if left == [area]:
        return text
    return b"".join(
        element(Tag(tag.name, with_attributes(tag.attributes, {b"ref": str(each).encode()}),
                    tag.inner))
        for each in left
    )  # fmt: skip


def _ids(text: bytes) -> set[str]:
    """Return the ids of relations that a link names."""
    attributes = opened(text).attributes
    names = {found[0] for found in _RELATION.finditer(attributes)}
    return {id_ for name in names if (id_ := attribute(attributes, name)) is not None}
