"""What is wrong with a workbook's file, whatever it holds: faults that make a program repair it."""

import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from judging.book import Book, Sheet
from judging.cells import MISSING
from judging.package import Element, Parts, children, local
from judging.places import Box, Place, box, name

__all__ = ["UNREADABLE", "book_faults", "faults"]

UNREADABLE = "not readable"
"""How the fault begins that leaves nothing to compare."""

_COUNTED = {
    "mergeCells": "mergeCell", "fonts": "font", "fills": "fill", "borders": "border",
    "cellXfs": "xf", "cellStyleXfs": "xf", "cellStyles": "cellStyle", "dxfs": "dxf",
    "numFmts": "numFmt", "tableColumns": "tableColumn", "tableParts": "tablePart",
    "dataValidations": "dataValidation",
}  # fmt: skip
"""Lists that say how many they hold."""

_ORDER = (
    "sheetPr", "dimension", "sheetViews", "sheetFormatPr", "cols", "sheetData", "sheetCalcPr",
    "sheetProtection", "protectedRanges", "scenarios", "autoFilter", "sortState",
    "dataConsolidate", "customSheetViews", "mergeCells", "phoneticPr", "conditionalFormatting",
    "dataValidations", "hyperlinks", "printOptions", "pageMargins", "pageSetup", "headerFooter",
    "rowBreaks", "colBreaks", "customProperties", "cellWatches", "ignoredErrors", "smartTags",
    "drawing", "legacyDrawing", "legacyDrawingHF", "drawingHF", "picture", "oleObjects",
    "controls", "webPublishItems", "tableParts", "extLst",
)  # fmt: skip
"""The order of a worksheet's elements (ECMA-376 part 1, 18.3.1.99)."""


def faults(path: Path) -> list[str]:
    """Name what is wrong with a file; empty if nothing is."""
    try:
        book = Book(path)
    except zipfile.BadZipFile as error:
        return [f"{UNREADABLE}: {error}"]
    except (etree.XMLSyntaxError, KeyError, StopIteration, ValueError) as error:
        return [f"{UNREADABLE}: {error!r}"]
    try:
        return book_faults(book)
    finally:
        book.close()


def book_faults(book: Book) -> list[str]:
    """Name what is wrong with a workbook that is open."""
    try:
        found = list(_package_faults(book.parts))
        return [*found, *_book_faults(book)]
    except (etree.XMLSyntaxError, zipfile.BadZipFile, zlib.error, KeyError, ValueError) as error:
        return [f"{UNREADABLE}: {error!r}"]


def _package_faults(parts: Parts) -> Iterator[str]:
    for key, count in Counter(parts.key(entry.filename) for entry in parts.entries).items():
        if count > 1:
            yield f"{key}: {count} members of that name"
    for part in parts:
        # Reading a part to its end checks it against its sum.
        parts.digest(part)
        if part.endswith((".rels", "[content_types].xml")):
            continue
        if part not in parts.types:
            yield f"{part}: has no content type"
        yield from _link_faults(parts, part)
        if parts.is_xml(part) and not part.endswith(".vml"):
            try:
                parts.root(part)
            except etree.XMLSyntaxError as error:
                yield f"{part}: {error}"
                continue
            if part.startswith("xl/"):
                yield from _unlinked(parts, part)
    yield from (
        f"{part}: has a content type and is not there" for part in parts.types if part not in parts
    )


def _link_faults(parts: Parts, part: str) -> Iterator[str]:
    identities = [link.id for link in parts.links(part)]
    if len(identities) != len(set(identities)):
        yield f"{part}: two relations of one id"
    for link in parts.links(part):
        if not link.external and link.target.partition("#")[0] not in parts:
            yield f"{part}: {link.kind} leads to {link.target}, which is not there"


def _unlinked(parts: Parts, part: str) -> Iterator[str]:
    known = {link.id for link in parts.links(part)}
    for element in parts.root(part).iter():
        for key, value in element.attrib.items():
            if "/officeDocument/" not in str(key) or "relationships" not in str(key):
                continue
            if value and str(value) not in known:
                yield f"{part}: {local(element)} names {value!s}, which is no relation of it"


def _book_faults(book: Book) -> Iterator[str]:
    titles = [sheet.title.lower() for sheet in book.sheets]
    if len(titles) != len(set(titles)):
        yield "two sheets of one title"
    numbers = [
        element.get("sheetId")
        for group in children(book.root, "sheets")
        for element in children(group, "sheet")
    ]
    if len(numbers) != len(set(numbers)):
        yield "two sheets of one number"
    if book.looks.root is not None:
        yield from _style_faults(book)
    for sheet in book.worksheets:
        yield from (f"{sheet.title}: {fault}" for fault in _sheet_faults(sheet))


def _counts(root: Element) -> Iterator[str]:
    for element in root.iter():
        said = element.get("count")
        kind = _COUNTED.get(local(element))
        if said and kind and int(said) != len(children(element, kind)):
            yield f"{local(element)} says {said}, holds {len(children(element, kind))}"


def _style_faults(book: Book) -> Iterator[str]:
    root = book.looks.root
    assert root is not None
    yield from (f"styles: {fault}" for fault in _counts(root))
    sizes = {"fontId": "fonts", "fillId": "fills", "borderId": "borders", "xfId": "cellStyleXfs"}
    for group in children(root, "cellXfs"):
        for xf in children(group, "xf"):
            for key, kind in sizes.items():
                size = sum(1 for g in children(root, kind) for child in g if local(child))
                if int(xf.get(key, "0")) >= max(size, 1):
                    yield f"styles: {key} {xf.get(key)} of {size}"


def _sheet_faults(sheet: Sheet) -> Iterator[str]:
    yield from _counts(sheet.root)
    order = [_ORDER.index(local(e)) for e in sheet.root if local(e) in _ORDER]
    if order != sorted(order):
        yield "elements out of order"
    names = Counter(local(e) for e in sheet.root)
    yield from (
        f"{name} twice"
        for name, count in names.items()
        if count > 1 and name in _ORDER and name != "conditionalFormatting"
    )
    count = sheet.book.looks.count
    last = 0
    used: list[tuple[int, int]] = []
    for row in sheet.rows:
        if row.number <= last:
            yield f"row {row.number} after row {last}"
        last, column = row.number, 0
        for cell in row.cells:
            if cell.at.row != row.number or cell.at.column <= column:
                yield f"cell {name(cell.at)} out of its place in row {row.number}"
            column = cell.at.column
            if cell.style >= count:
                yield f"cell {name(cell.at)} has style {cell.style} of {count}"
            if cell.kind == "text" and cell.value == MISSING:
                yield f"cell {name(cell.at)} has a text that is not there"
            if cell.kind != "blank" or cell.formula is not None:
                used.append((cell.at.row, cell.at.column))
    yield from _extent_faults(sheet, used)
    yield from _merge_faults(sheet)


def _extent_faults(sheet: Sheet, used: list[tuple[int, int]]) -> Iterator[str]:
    for element in children(sheet.root, "dimension"):
        if not used or not element.get("ref"):
            continue
        said = box(element.get("ref", ""))
        rows, columns = [row for row, _ in used], [column for _, column in used]
        is_whole = Box(min(rows), min(columns), max(rows), max(columns))
        if said.top > is_whole.top or said.left > is_whole.left:
            yield "dimension begins after the cells"
        if said.bottom < is_whole.bottom or said.right < is_whole.right:
            yield "dimension ends before the cells"
    space = "{http://www.w3.org/XML/1998/namespace}space"
    for element in sheet.root.iter():
        text = (element.text or "") if local(element) == "t" else ""
        if text.strip() != text and element.get(space) != "preserve":
            yield "an inline text loses its outer blanks"
    column = 0
    for group in children(sheet.root, "cols"):
        for record in children(group, "col"):
            if int(record.get("min", "0")) <= column:
                yield f"columns overlap at {record.get('min')}"
            column = int(record.get("max", "0"))


def _merge_faults(sheet: Sheet) -> Iterator[str]:
    taken: set[tuple[int, int]] = set()
    for area in sheet.merges:
        if (area.bottom - area.top + 1) * (area.right - area.left + 1) > 100_000:
            continue
        cells = {
            (row, column)
            for row in range(area.top, area.bottom + 1)
            for column in range(area.left, area.right + 1)
        }
        if taken & cells:
            yield f"merges overlap at {name(Place(area.top, area.left))}"
        taken |= cells
