"""Small workbooks given as XML, and what each of the two readers of values makes of a workbook."""

import datetime as dt
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import openpyxl
from python_calamine import CalamineError, CalamineWorkbook

from kbd.formats import Source
from kbd.opc.package import Package
from kbd.sheets.areas import Area, cell_name
from kbd_xlsx.reader.fallback_parser import ParsedBook
from kbd_xlsx.workbook import read_workbook

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"

Rows = list[list[Any]]

FORMATS = (0, 14, 20, 22, 46, 2, 170, 171, 172, 173)
CODES = {170: "[h]:mm", 171: '"days" 0', 172: "0;yyyy", 173: '[Red]"at" [mm]'}
STYLES = (
    f'<styleSheet xmlns="{MAIN}"><numFmts>'
    + "".join(f'<numFmt numFmtId="{n}" formatCode="{escape(code, {chr(34): "&quot;"})}"/>'
              for n, code in CODES.items())
    + "</numFmts><cellXfs>"
    + "".join(f'<xf numFmtId="{number}"/>' for number in FORMATS)
    + "</cellXfs></styleSheet>"
)  # fmt: skip
STRINGS = (
    f'<sst xmlns="{MAIN}"><si><t>plain</t></si><si><t>  cut </t></si><si/>'
    '<si><t xml:space="preserve"> kept </t></si><si><t>a_x000D_b_x005F_x0041_</t></si>'
    '<si><r><rPr><b/></rPr><t>rich </t></r><r><t>text</t></r><rPh sb="0" eb="1"><t>no</t></rPh>'
    "</si></sst>"
)
SHARED = ["plain", "cut", "", " kept ", "a\rb_x0041_", "richtext"]


def book_of(
    path: Path, sheet: str | bytes, *, properties: str = "", strings: str = STRINGS
) -> Path:
    """Make a workbook with a sheet given as XML, and attributes of the workbook's properties."""
    openpyxl.Workbook().save(path.with_suffix(".plain"))
    parts: dict[str, str | bytes] = {
        "xl/worksheets/sheet1.xml": sheet,
        "xl/styles.xml": STYLES,
        "xl/sharedStrings.xml": strings,
    }
    with zipfile.ZipFile(path.with_suffix(".plain")) as old, zipfile.ZipFile(path, "w") as new:
        book = old.read("xl/workbook.xml").decode()
        parts["xl/workbook.xml"] = re.sub("<workbookPr(?=[ /])", f"<workbookPr {properties}", book)
        for name in dict.fromkeys([*old.namelist(), *parts]):
            new.writestr(name, parts[name] if name in parts else old.read(name))
    return path


def sheet_xml(rows: str) -> str:
    return f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'


def parsed(path: Path) -> Iterator[tuple[str, tuple[Area, Rows] | None]]:
    """Each sheet with a part as the second reader has it."""
    with Package(Source(path, path.name)) as package:
        book = ParsedBook(package)
        for sheet in read_workbook(package).sheets:
            cells = book.cells(sheet.name) if sheet.part else None
            yield sheet.name, None if cells is None else (cells.area, list(cells.rows))


def of_one(path: Path) -> tuple[Area, Rows] | None:
    """The only sheet as the second reader has it."""
    [(_, found)] = parsed(path)
    return found


def by_calamine(path: Path) -> dict[str, tuple[Area, Rows] | None]:
    """The sheets as calamine has them; raises CalamineError and what else it raises."""
    found: dict[str, tuple[Area, Rows] | None] = {}
    with path.open("rb") as file, CalamineWorkbook.from_filelike(file) as book:
        for name in book.sheet_names:
            sheet = book.get_sheet_by_name(name)
            start, end = sheet.start, sheet.end
            if start is None or end is None:
                found[name] = None
                continue
            area = Area(start[0] + 1, start[1] + 1, end[0] + 1, end[1] + 1)
            found[name] = area, list(sheet.iter_rows())[start[0] :]
    return found


def typed(rows: Rows) -> list[list[tuple[type, Any]]]:
    """The values with their types, for 1 equals True."""
    return [[(type(value), value) for value in row] for row in rows]


def _is_no_time(theirs: Any, ours: Any) -> bool:
    """Tell a negative number that calamine takes for a time of the day."""
    return isinstance(theirs, dt.time) and isinstance(ours, float | int) and ours < 0


def differences(path: Path) -> list[Any] | None:
    """The cells that the two readers give differently; None if calamine cannot read them."""
    try:
        expected = by_calamine(path)
    except (CalamineError, OverflowError):
        return None
    except BaseException as error:
        # What its Rust code throws derives from no exception that could be named.
        if type(error).__name__ == "PanicException":
            return None
        raise
    found: list[Any] = []
    for name, ours in parsed(path):
        theirs = expected.get(name)
        if ours is None or theirs is None or ours[0] != theirs[0]:
            if ours != theirs:
                found.append((name, ours and ours[0], theirs and theirs[0]))
            continue
        for row, (mine, other) in enumerate(zip(ours[1], theirs[1], strict=True), ours[0].top):
            for column, pair in enumerate(zip(other, mine, strict=True), ours[0].left):
                if typed([[pair[0]]]) != typed([[pair[1]]]) and not _is_no_time(*pair):
                    found.append((name, cell_name(row, column), *pair))
    return found
