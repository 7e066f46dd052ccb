"""How a sheet is printed: its area, titles, paper and margins; what is not named stays."""

import re
from collections.abc import Mapping

from kbd.errors import ValidationFailed
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area, parse_area
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.objects.formulas import quoted_sheet
from kbd_xlsx.edits.objects.ranges import WHOLE, absolute, local_of, parse_ranges
from kbd_xlsx.operations import PrintMargins, SetPrint
from kbd_xlsx.parts.markup import Tag, attribute, children, element, opened, with_attributes
from kbd_xlsx.parts.sheet import SheetPart

__all__ = ["set_print"]

_AREA_NAME, _TITLES_NAME = "_xlnm.Print_Area", "_xlnm.Print_Titles"
_PAPERS = {"letter": 1, "legal": 5, "a3": 8, "a4": 9, "a5": 11}
"""Numbers of papers (ECMA-376 part 1, 18.3.1.63)."""

_USUAL_MARGINS = {
    "left": 0.7, "right": 0.7, "top": 0.75, "bottom": 0.75, "header": 0.3, "footer": 0.3,
}  # fmt: skip
_ROWS = re.compile(r"\$?\d{1,7}(?::\$?\d{1,7})?")
_COLUMNS = re.compile(r"\$?[A-Za-z]{1,3}(?::\$?[A-Za-z]{1,3})?")


_MIN_SCALE, _MAX_SCALE = 10, 400
"""Percent (ECMA-376 part 1, 18.3.1.63)."""


def set_print(book: BookEdit, operation: SetPrint) -> str:
    """Set how a sheet is printed and say what of it; raises ValidationFailed."""
    sheet = book.sheet(operation.sheet)
    told = [
        *_set_area(book, sheet, operation.area),
        *_set_titles(book, sheet, operation.title_rows, operation.title_columns),
        *_set_page(sheet, operation),
        *_set_margins(sheet, operation.margins),
        *_set_options(sheet, operation),
    ]
    if not told:
        raise ValidationFailed(f"{sheet.name}: set_print names nothing to set")
    return f"{sheet.name}: printed with {', '.join(told)}"


def _set_area(book: BookEdit, sheet: SheetPart, text: str | None) -> list[str]:
    if text is None:
        return []
    tab = book.titles.index(sheet.name)
    if not text.strip():
        book.book.remove_name(_AREA_NAME, tab)
        return ["no area"]
    areas = parse_ranges(text)
    written = [f"{quoted_sheet(sheet.name)}!{absolute(area)}" for area in areas]
    book.book.set_name(_AREA_NAME, tab, ",".join(written), hidden=False)
    return [f"area {','.join(map(str, areas))}"]


def _set_titles(
    book: BookEdit, sheet: SheetPart, rows: str | None, columns: str | None
) -> list[str]:
    if rows is None and columns is None:
        return []
    tab = book.titles.index(sheet.name)
    old = next((n.text for n in book.book.names
                if n.tab == tab and n.name.casefold() == _TITLES_NAME.casefold()), "")  # fmt: skip
    kept_columns, kept_rows = _old_titles(old)
    new_rows = kept_rows if rows is None else _lines(rows, _ROWS, "title_rows", "1:2")
    new_columns = (
        kept_columns if columns is None else _lines(columns, _COLUMNS, "title_columns", "A:B")
    )
    quoted = quoted_sheet(sheet.name)
    # Columns come first, as Excel writes them.
    text = ",".join(f"{quoted}!{lines}" for lines in (new_columns, new_rows) if lines)
    if text:
        book.book.set_name(_TITLES_NAME, tab, text, hidden=False)
    else:
        book.book.remove_name(_TITLES_NAME, tab)
    told = []
    if rows is not None:
        told.append(f"title rows {new_rows.replace('$', '') or 'none'}")
    if columns is not None:
        told.append(f"title columns {new_columns.replace('$', '') or 'none'}")
    return told


def _old_titles(text: str) -> tuple[str, str]:
    """Return the columns and the rows of a name of titles."""
    columns = rows = ""
    for piece in re.split(r",(?=(?:[^']*'[^']*')*[^']*$)", text):
        lines = piece.rpartition("!")[2]
        if re.fullmatch(r"\$?[A-Z]{1,3}:\$?[A-Z]{1,3}", lines):
            columns = lines
        elif re.fullmatch(r"\$?\d+:\$?\d+", lines):
            rows = lines
    return columns, rows


def _lines(text: str, form: re.Pattern[str], field: str, example: str) -> str:
    """Return whole rows or columns as names have them, "" for none."""
    text = text.strip()
    if not text:
        return ""
    if not form.fullmatch(text):
        raise ValidationFailed(f"{field} is as {example!r}, not {text[:40]!r}")
    first, _, last = text.partition(":")
    area: Area = parse_area(f"{first}:{last or first}", WHOLE)
    assert area.bottom == MAX_ROW or area.right == MAX_COLUMN
    return absolute(area)


def _set_page(sheet: SheetPart, operation: SetPrint) -> list[str]:
    changes: dict[bytes, bytes | None] = {}
    told: list[str] = []
    if operation.orientation is not None:
        changes[b"orientation"] = operation.orientation.encode()
        told.append(operation.orientation)
    if operation.paper is not None:
        changes[b"paperSize"] = b"%d" % _PAPERS[operation.paper]
        # What a printer's driver measured of another paper.
        changes |= {b"paperWidth": None, b"paperHeight": None}
        told.append(f"paper {operation.paper}")
    is_fitted = operation.fit_to_width is not None or operation.fit_to_height is not None
    if operation.scale is not None and not _MIN_SCALE <= operation.scale <= _MAX_SCALE:
        raise ValidationFailed(
            f"{sheet.name}: a scale is {_MIN_SCALE} to {_MAX_SCALE} percent, not {operation.scale}"
        )
    if is_fitted and operation.scale is not None:
        raise ValidationFailed(f"{sheet.name}: a scale and a fit to pages exclude each other")
    if is_fitted:
        told.append(f"{_fit(sheet, operation, changes)} pages")
        _fit_to_page(sheet, on=True)
    if operation.scale is not None:
        changes[b"scale"] = b"%d" % operation.scale
        told.append(f"scale {operation.scale} %")
        _fit_to_page(sheet, on=False)
    if changes:
        _put_attributes(sheet, "pageSetup", changes)
    return told


def _fit(sheet: SheetPart, operation: SetPrint, changes: dict[bytes, bytes | None]) -> str:
    """Add the numbers of pages to fit to, and return them in words."""
    old = sheet.elements.text("pageSetup")
    words = []
    for name, pages in (
        (b"fitToWidth", operation.fit_to_width),
        (b"fitToHeight", operation.fit_to_height),
    ):
        known = attribute(opened(old).attributes, name) if old else None
        # One direction alone: as many pages as it takes in the other one, unless that is set.
        number = (known or "0") if pages is None else str(pages)
        changes[name] = number.encode()
        words.append("any" if number == "0" else number)
    return " by ".join(words)


def _put_attributes(sheet: SheetPart, name: str, changes: Mapping[bytes, bytes | None]) -> None:
    old = sheet.elements.text(name)
    tag = opened(old) if old else Tag(f"{sheet.prefix}{name}".encode(), b"", b"")
    made = element(Tag(tag.name, with_attributes(tag.attributes, changes), tag.inner))
    if made != old:
        sheet.elements.put(name, made)


def _fit_to_page(sheet: SheetPart, *, on: bool) -> None:
    """Have programs go by the pages to fit to, or by the scale."""
    old = sheet.elements.text("sheetPr")
    tag = opened(old) if old else Tag(f"{sheet.prefix}sheetPr".encode(), b"", b"")
    value = {b"fitToPage": b"1" if on else None}
    pieces: list[bytes] = []
    place, is_there = 0, False
    for child in children(tag.inner, 0, len(tag.inner)):
        text = tag.inner[child.start : child.end]
        if local_of(child.name) == "pageSetUpPr":
            inner, is_there = opened(text), True
            text = element(Tag(inner.name, with_attributes(inner.attributes, value), inner.inner))
        pieces += (tag.inner[place : child.start], text)
        place = child.end
    pieces.append(tag.inner[place:])
    if not is_there and on:
        # It is the last one of its parent's children in the schema.
        pieces.append(f'<{sheet.prefix}pageSetUpPr fitToPage="1"/>'.encode())
    made = element(Tag(tag.name, tag.attributes, b"".join(pieces)))
    if made != old and (old or on):
        sheet.elements.put("sheetPr", made)


def _set_margins(sheet: SheetPart, margins: PrintMargins | None) -> list[str]:
    if margins is None:
        return []
    given = {name: getattr(margins, name) for name in _USUAL_MARGINS}
    given = {name: value for name, value in given.items() if value is not None}
    if not given:
        return []
    # The schema wants all six of them.
    usual = {} if sheet.elements.text("pageMargins") else _USUAL_MARGINS
    changes = {name.encode(): f"{value:g}".encode() for name, value in (usual | given).items()}
    _put_attributes(sheet, "pageMargins", changes)
    return [f"margin {name} {value:g} in" for name, value in given.items()]


def _set_options(sheet: SheetPart, operation: SetPrint) -> list[str]:
    options = {
        "horizontalCentered": operation.center_horizontally,
        "verticalCentered": operation.center_vertically,
        "gridLines": operation.gridlines,
    }
    changes: dict[bytes, bytes | None] = {
        name.encode(): b"1" if value else None for name, value in options.items()
        if value is not None
    }  # fmt: skip
    if not changes:
        return []
    if operation.gridlines:
        # Programs print the lines if both are set.
        changes[b"gridLinesSet"] = b"1"
    if any(changes.values()) or sheet.elements.text("printOptions"):
        _put_attributes(sheet, "printOptions", changes)
    words = {"horizontalCentered": "centered across", "verticalCentered": "centered down",
             "gridLines": "grid lines"}  # fmt: skip
    return [
        words[name] if value else f"not {words[name]}"
        for name, value in options.items()
        if value is not None
    ]
