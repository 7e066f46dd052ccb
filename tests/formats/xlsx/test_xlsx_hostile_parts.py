"""Parts of workbooks that are made to do harm: odd rows and sheets, and endless ranges."""

from collections.abc import Callable
from pathlib import Path

import pytest

from confined import ACTIONS, Confined, opened, refused
from zipforge import forge, members

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
WORKSHEET, BOOK = "xl/worksheets/sheet1.xml", "xl/workbook.xml"
TYPES, RELATIONS = "[Content_Types].xml", "_rels/.rels"
FAR_CELL = "XFD1048576"

Parts = dict[str, bytes]


def sheet(body: str, head: str = "", tail: str = "") -> bytes:
    """A worksheet part of given rows."""
    return (
        f'<worksheet xmlns="{MAIN}">{head}<sheetData>{body}</sheetData>{tail}</worksheet>'.encode()
    )


def with_sheet(parts: Parts, data: bytes) -> bytes:
    return forge(members({**parts, WORKSHEET: data}))


def swapped(parts: Parts, part: str, old: str, new: str) -> bytes:
    """The workbook with a text in a part replaced."""
    assert old.encode() in parts[part]
    return forge(members({**parts, part: parts[part].replace(old.encode(), new.encode())}))


ODD_PARTS: dict[str, Callable[[Parts], bytes]] = {
    "20,000 levels before the root's end": lambda p: forge(
        members({**p, BOOK: b"<a>" * 20_000 + b"</a>" * 20_000})
    ),
    "a row number of 5,000 digits": lambda p: with_sheet(
        p, sheet(f"<row r='{'9' * 5000}'><c r='A1'><f>1</f></c></row>")
    ),
    "two workbooks": lambda p: forge(
        members({**p, "other/workbook.xml": p[BOOK], RELATIONS: p[RELATIONS].replace(
            b"xl/workbook.xml", b"other/workbook.xml")})
    ),
    "a thousand sheets for one part": lambda p: swapped(
        p, BOOK, "<sheets>", "<sheets>" + "".join(
            f'<sheet xmlns="{MAIN}" name="S{n}" sheetId="{n + 9}" r:id="rId1" xmlns:r='
            '"http://schemas.openxmlformats.org/officeDocument/2006/relationships"/>'
            for n in range(1_000)
        )
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", ODD_PARTS)
def test_odd_parts_end_in_an_answer(
    which: str, cell: Confined, parts: Parts, tmp_path: Path
) -> None:
    """Each is read or refused with a reason, at little cost."""
    found = opened(cell, tmp_path / "blob", ODD_PARTS[which](parts))

    assert max(answer.peak_bytes for answer in found.values()) <= 200 << 20, found
    assert max(answer.cpu_s for answer in found.values()) <= 10, found


KIND = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"
BINARY = "application/vnd.ms-excel.sheet.binary.macroEnabled.main"


def test_a_binary_workbook_is_refused(cell: Confined, parts: Parts, tmp_path: Path) -> None:
    """Its parts are no XML; the message says what it is."""
    found = opened(cell, tmp_path / "blob", swapped(parts, TYPES, KIND, BINARY))

    refused(found, "a binary workbook")


TOO_FAR = {
    "two cells": '<row r="1"><c r="A1"><v>1</v></c></row>'
    f'<row r="1048576"><c r="{FAR_CELL}"><v>1</v></c></row>',
    "a cell that is not in its row": '<row r="1"><c r="A1"><v>1</v></c></row>'
    f'<row r="2"><c r="{FAR_CELL}"><v>1</v></c></row>',
    "other quotes": f"<row><c r='A1'><v>1</v></c><c r='{FAR_CELL}'><v>1</v></c></row>",
    "spaces": f'<row><c r="A1"><v>1</v></c><c\n r = "{FAR_CELL}"><v>1</v></c></row>',
    "other attributes first": '<row><c r="A1"><v>1</v></c>'
    f'<c s="0" r="{FAR_CELL}"><v>1</v></c></row>',
    "a long tag": f'<row><c r="A1"><v>1</v></c><c{" " * 3000}r="{FAR_CELL}"><v>1</v></c></row>',
    "a bracket in an attribute": '<row><c r="A1"><v>1</v></c>'
    f'<c r="{FAR_CELL}" x="/>"><v>1</v></c></row>',
    "a reference to a letter": '<row><c r="A1"><v>1</v></c>'
    '<c r="&#88;FD1048576"><v>1</v></c></row>',
    "small letters": f'<row><c r="A1"><v>1</v></c><c r="{FAR_CELL.lower()}"><v>1</v></c></row>',
    "no addresses": '<row r="1">' + "<c><v>1</v></c>" * 16_384 + "</row>"
    '<row r="1048576"><c><v>1</v></c></row>',
    "only formulas": '<row r="1"><c r="A1"><f>1</f></c></row>'
    f'<row r="1048576"><c r="{FAR_CELL}"><f>1</f></c></row>',
}


@pytest.mark.parametrize("which", TOO_FAR)
@pytest.mark.sampled(3)
def test_cells_too_far_apart_are_refused(
    which: str, cell: Confined, parts: Parts, tmp_path: Path
) -> None:
    """A rectangle that no memory holds is refused before a library makes it, however it is told."""
    found = opened(cell, tmp_path / "blob", with_sheet(parts, sheet(TOO_FAR[which])))

    read = {action: found[action] for action in ("map", "read", "read_table")}
    refused(read, "too large")
    assert max(answer.cpu_s for answer in read.values()) <= 1


def test_a_sheet_said_to_be_a_chart_is_measured_too(
    cell: Confined, parts: Parts, tmp_path: Path
) -> None:
    """What kind a sheet is said to be does not hide how far its cells reach."""
    far = {**parts, WORKSHEET: sheet(TOO_FAR["two cells"])}

    found = opened(
        cell,
        tmp_path / "blob",
        swapped(far, "xl/_rels/workbook.xml.rels", '/worksheet"', '/chartsheet"'),
    )

    refused({"map": found["map"]}, "too large")


WHOLE = f"A1:{FAR_CELL}"
ONE = '<row r="1"><c r="A1"><v>2</v></c><c r="B1"><v>3</v></c><c r="C1" t="str"><v>x</v></c></row>'
WIDE = {
    "a merge": sheet(
        ONE, tail=f'<mergeCells count="1"><mergeCell ref="A2:{FAR_CELL}"/></mergeCells>'
    ),
    "10,000 merges": sheet(
        ONE, tail="<mergeCells>" + '<mergeCell ref="B2:XFD1048576"/>' * 10_000 + "</mergeCells>"
    ),
    "a link": sheet(ONE, tail=f'<hyperlinks><hyperlink ref="{WHOLE}" location="A1"/></hyperlinks>'),
    "a conditional format": sheet(
        ONE,
        tail=f'<conditionalFormatting sqref="{WHOLE}"><cfRule type="expression" priority="1">'
        f"<formula>SUM({WHOLE})</formula></cfRule></conditionalFormatting>",
    ),
    "a validation": sheet(
        ONE,
        tail=f'<dataValidations count="1"><dataValidation type="list" sqref="{WHOLE}">'
        f"<formula1>{WHOLE}</formula1></dataValidation></dataValidations>",
    ),
    "columns": sheet(ONE, head='<cols><col min="1" max="16384" width="9" style="0"/></cols>'),
    "a dimension": sheet(ONE, head=f'<dimension ref="{WHOLE}"/>'),
    "a shared formula": sheet(
        ONE.replace("<v>3</v>", f'<f t="shared" si="0" ref="{WHOLE}">SUM({WHOLE})</f><v>3</v>')
    ),
    "an array formula": sheet(
        ONE.replace("<v>3</v>", f'<f t="array" ref="B1:{FAR_CELL}">SUM({WHOLE})</f><v>3</v>')
    ),
    "a filter": sheet(ONE, tail=f'<autoFilter ref="{WHOLE}"/>'),
    "a styled far cell": sheet(ONE + f'<row r="1048576"><c r="{FAR_CELL}" s="0"/></row>'),
}


@pytest.mark.parametrize("which", WIDE)
@pytest.mark.sampled(3)
def test_ranges_over_the_whole_sheet_cost_nothing(
    which: str, cell: Confined, parts: Parts, tmp_path: Path
) -> None:
    """A range of seventeen thousand million cells is a range: the file is read, and cheaply."""
    found = opened(cell, tmp_path / "blob", with_sheet(parts, WIDE[which]))

    for action in set(ACTIONS) - {"apply"}:
        assert found[action].kind == "returned", (action, found[action])
        assert found[action].peak_bytes <= 64 << 20, (action, found[action])
        assert found[action].cpu_s <= 2, (action, found[action])
    # An edit may be refused, as inside a merge, but not at any price.
    assert found["apply"].peak_bytes <= 64 << 20, found["apply"]
    assert found["apply"].cpu_s <= 2, found["apply"]
    assert "3" in found["read"].text
