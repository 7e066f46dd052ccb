"""Style sheets to try looks on, and what another library shows of them."""

import io
import zipfile
from functools import cache
from typing import Any

from lxml import etree
from openpyxl import Workbook, load_workbook
from openpyxl.cell.cell import Cell

from kbd_xlsx.parts.stylesheet import XlsxStyleSheet

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/spreadsheetml/main"

HEADING = {
    "font_bold": True,
    "font_name": "Calibri",
    "font_size": 12,
    "font_color": "#FFFFFF",
    "fill_color": "2F5496",
    "h_align": "centre",
    "v_align": "center",
    "wrap_text": True,
}
"""The style of conformance 116."""

RICH = f"""<x:styleSheet xmlns:x="{MAIN}" xmlns:m="urn:mine" m:note="kept">
<x:numFmts count="1"><x:numFmt numFmtId="170" formatCode="0.000"/></x:numFmts>
<x:fonts count="2"><x:font><x:sz val="10"/><x:name val="Arial"/></x:font>
<x:font><x:strike/><x:sz val="10"/><x:color theme="4" tint="0.4"/><x:name val="Arial"/>
<m:own>kept</m:own><x:scheme val="minor"/></x:font></x:fonts>
<x:fills count="2"><x:fill><x:patternFill patternType="none"/></x:fill>
<x:fill><x:patternFill patternType="gray125"/></x:fill></x:fills>
<x:borders count="1"><x:border diagonalUp="1"><x:left/><x:right/><x:top/><x:bottom/>
<x:diagonal style="thin"><x:color indexed="10"/></x:diagonal></x:border></x:borders>
<x:cellStyleXfs count="1"><x:xf/></x:cellStyleXfs>
<x:cellXfs count="2"><x:xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>
<x:xf numFmtId="170" fontId="1" fillId="0" borderId="0" xfId="0" applyProtection="1">
<x:protection locked="0"/><x:extLst><x:ext uri="u"><m:own/></x:ext></x:extLst></x:xf></x:cellXfs>
<x:cellStyles count="1"><x:cellStyle name="Normal" xfId="0" builtinId="0"/></x:cellStyles>
<x:dxfs count="0"/><x:extLst><x:ext uri="all"><m:own/></x:ext></x:extLst></x:styleSheet>"""
"""A style sheet with prefixes, unknown contents, extensions and colours of the theme."""


def sheet_of(text: str) -> XlsxStyleSheet:
    """Parse a style sheet."""
    return XlsxStyleSheet(etree.fromstring(text))


def find(styles: XlsxStyleSheet, path: str) -> list[Any]:
    """Find elements by a path, p being the style sheet's own namespace."""
    namespace = etree.QName(styles.tables.root).namespace or ""
    found = etree.fromstring(styles.xml()).xpath(path, namespaces={"p": namespace, "m": "urn:mine"})
    assert isinstance(found, list)
    return found


@cache
def plain_workbook() -> bytes:
    """Return a workbook with the number 1 in its first cell."""
    book = Workbook()
    book.worksheets[0]["A1"] = 1
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


def shown(styles: XlsxStyleSheet, index: int) -> Cell:
    """Return cell A1 of a workbook with the style sheet, as another library reads it."""
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(plain_workbook())) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "xl/styles.xml":
                data = styles.xml()
            if name == "xl/worksheets/sheet1.xml":
                data = data.replace(b'<c r="A1"', f'<c r="A1" s="{index}"'.encode())
            new.writestr(name, data)
    cell = load_workbook(made).worksheets[0]["A1"]
    assert isinstance(cell, Cell)

    assert cell.value is not None
    return cell
