"""Formula cells are found however a sheet is written."""

import pytest

from kbd.errors import FileReadFailed
from kbd_xlsx.calculation.cells import formula_cells

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
PLAIN = (
    f'<worksheet xmlns="{MAIN}"><sheetData><row r="2"><c r="B2"><f>A1&amp;"&lt;"</f><v>1</v></c>'
    '<c r="C2" t="str"><f>B2</f><v></v></c></row><row r="3"><c r="A3"><f>B2+C2</f></c></row>'
    "</sheetData><extLst><f>not a cell</f></extLst></worksheet>"
)
WAYS = {
    "plain": PLAIN.encode(),
    "prefixed": PLAIN.replace("<", "<x:").replace("<x:/", "</x:").replace("xmlns=", "xmlns:x=")
    .replace('&lt;"', '&#60;"').encode(),
    "attributes": PLAIN.replace('<c r="B2">', "<c s='4'\n r = 'b2' >").encode(),
    "counted": PLAIN.replace(' r="C2"', "").replace(' r="3"', "").replace(' r="A3"', "").encode(),
    "comment": PLAIN.replace("<f>B2+", "<!-- <f>1</f> --><f>B2+").encode(),
    "two bindings": PLAIN.replace("xmlns=", f'xmlns:y="{MAIN}" xmlns=')
    .replace("<f>B2+C2</f>", "<y:f>B2+C2</y:f>").encode(),
    "utf-16": ('<?xml version="1.0" encoding="UTF-16"?>' + PLAIN).encode("utf-16"),
    "latin": ('<?xml version="1.0" encoding="iso-8859-1"?>' + PLAIN).encode("latin-1"),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_formulas_are_found(way: str) -> None:
    """Prefixes, quotes, counted cells, comments and encodings change nothing of what is found."""
    found = [
        (cell.row, cell.column, cell.text, cell.is_stored)
        for cell in formula_cells(WAYS[way], "Data")
    ]

    assert found == [(2, 2, 'A1&"<"', True), (2, 3, "B2", True), (3, 1, "B2+C2", False)]


def test_damage_is_told() -> None:
    """A sheet that is no XML, or has a cell nowhere, is damaged: a typed error says so."""
    for data in (PLAIN.replace(' r="C2"', ' r="nowhere"'), "<worksheet><sheetData><!--<c><f/>"):
        with pytest.raises(FileReadFailed):
            list(formula_cells(data.encode(), "Data"))
