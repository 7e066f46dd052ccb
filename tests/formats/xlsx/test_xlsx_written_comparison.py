"""What the comparison of workbooks told wrongly, or not at all, of what libraries do not write."""

from pathlib import Path
from typing import Any

import pytest

from compared_books import compared, told
from kbd.formats import Source
from written_books import MAIN, OFFICE, relations, written

Book = dict[str, Any]


def _cell(cell: str, **more: Any) -> Book:
    return {"rows": f"<row r='1'><c r='A1'><v>5</v></c>{cell}</row>", **more}


def _shared(item: str) -> Book:
    return _cell("<c r='B1' t='s'><v>0</v></c>", texts=f"<si>{item}</si>")


def _encoded(letter: str, encoding: str) -> Book:
    text = f'<?xml version="1.0" encoding="{encoding}"?><sst xmlns="{MAIN}"><si><t>{letter}</t>'
    return _cell("<c r='B1' t='s'><v>0</v></c>", texts=f"{text}</si></sst>".encode(encoding))


def _inline(letter: str, encoding: str) -> Book:
    sheet = (
        f'<?xml version="1.0" encoding="{encoding}"?><worksheet xmlns="{MAIN}"><sheetData>'
        f'<row r="1"><c r="B1" t="inlineStr"><is><t>{letter}</t></is></c></row></sheetData>'
        "</worksheet>"
    )
    return {"sheet": sheet.encode(encoding)}


_BOLD = "<r><t>ab</t></r><r><rPr><b/><sz val='11'/></rPr><t>cd</t></r>".replace("'", '"')
_DAY = "<cellXfs><xf/><xf numFmtId='14'/></cellXfs>".replace("'", '"')
_FROM_1904 = '<workbookPr date1904="1"/>'


def _day(number: str, settings: str = "", kind: str = "") -> Book:
    return _cell(f"<c r='B1' s='1'{kind}><v>{number}</v></c>", looks=_DAY, settings=settings)


def _rules(*rules: str) -> Book:
    return {
        "rest": f'<conditionalFormatting sqref="A1:A9">{"".join(rules)}</conditionalFormatting>',
        "looks": "<cellXfs><xf/></cellXfs><dxfs><dxf><font><b/></font></dxf></dxfs>",
    }


def _rule(number: int, rank: int, more: str = "") -> str:
    return (
        f'<cfRule type="cellIs" operator="greaterThan" dxfId="0" priority="{rank}"{more}>'
        f"<formula>{number}</formula></cfRule>"
    )


def _average(more: str) -> str:
    return f'<cfRule type="aboveAverage" dxfId="0" priority="1"{more}/>'


def _look(xf: str) -> Book:
    return _cell("<c r='B1' s='1'><v>1</v></c>", looks=f"<cellXfs><xf/>{xf}</cellXfs>")


def _palette(color: str) -> Book:
    return _cell(
        "<c r='B1' s='1'><v>1</v></c>",
        looks='<fonts><font/><font><color indexed="0"/></font></fonts><fills><fill/></fills>'
        '<borders><border/></borders><cellXfs><xf/><xf fontId="1"/></cellXfs>'
        "<colors><indexedColors>"
        f'<rgbColor rgb="00{color}"/></indexedColors></colors>',
    )


def _hidden(state: str) -> Book:
    return {"beside": f'<sheet name="B" sheetId="2" state="{state}" r:id="rId4"/>'}


def _break(line: int) -> Book:
    return {"rest": f'<rowBreaks><brk id="{line}" max="16383" man="1"/></rowBreaks>'}


def _item(data: str) -> Book:
    return {"parts": {"customXml/item1.xml": data}}


_DRAWN = "http://schemas.openxmlformats.org/drawingml/2006"
_COMPATIBLE = "http://schemas.openxmlformats.org/markup-compatibility/2006"


def _shape(text: str, *, link: str = "http://a", picture: bytes = b"1", wrapped: int = 0) -> Book:
    """A shape with a text, a link and a picture as its fill."""
    corner = "<x:col>{0}</x:col><x:row>{0}</x:row>"
    anchor = (
        f"<x:twoCellAnchor><x:from>{corner.format(1)}</x:from><x:to>{corner.format(3)}</x:to>"
        '<x:sp><x:nvSpPr><x:cNvPr id="2" name="Box"><a:hlinkClick r:id="rId1"/></x:cNvPr>'
        '</x:nvSpPr><x:spPr><a:blipFill><a:blip r:embed="rId2"/></a:blipFill></x:spPr>'
        f"<x:txBody><a:p><a:r><a:t>{text}</a:t></a:r></a:p></x:txBody></x:sp></x:twoCellAnchor>"
    )
    if wrapped:
        anchor = (
            f'<m:AlternateContent xmlns:m="{_COMPATIBLE}"><m:Choice Requires="a14">{anchor}'
            "</m:Choice></m:AlternateContent>"
        )
    return {
        "rest": '<drawing r:id="rId1"/>',
        "related": [("rId1", "drawing", "../drawings/drawing1.xml")],
        "parts": {
            "xl/drawings/drawing1.xml": f'<x:wsDr xmlns:x="{_DRAWN}/spreadsheetDrawing" '
            f'xmlns:a="{_DRAWN}/main" xmlns:r="{OFFICE}">{anchor}</x:wsDr>',
            "xl/drawings/_rels/drawing1.xml.rels": relations(
                ("rId1", "hyperlink", link), ("rId2", "image", "../media/i.png")
            ),
            "xl/media/i.png": picture,
        },
    }


def _header(picture: bytes) -> Book:
    """A page with a picture in its header."""
    return {
        "rest": '<legacyDrawingHF r:id="rId1"/>',
        "related": [("rId1", "vmlDrawing", "../drawings/v.vml")],
        "parts": {
            "xl/drawings/v.vml": "<xml/>",
            "xl/drawings/_rels/v.vml.rels": relations(("rId1", "image", "../media/i.png")),
            "xl/media/i.png": picture,
        },
    }


def _table(more: str = "", look: str = "b", number: int = 0) -> Book:
    return {
        "rest": '<tableParts><tablePart r:id="rId1"/></tableParts>',
        "related": [("rId1", "table", "../tables/table1.xml")],
        "looks": f"<cellXfs><xf/></cellXfs><dxfs>{'<dxf/>' * number}<dxf><font><{look}/></font>"
        "</dxf></dxfs>",
        "parts": {
            "xl/tables/table1.xml": f'<table xmlns="{MAIN}" id="1" name="T" displayName="T" '
            f'ref="A1:A2"{more}><tableColumns><tableColumn id="1" name="h" '
            f'dataDxfId="{number}"/></tableColumns></table>'
        },
    }


_LONG = "".join(f"<row r='{n}'><c r='A{n}'><v>{n * 7}</v></c></row>" for n in range(1, 15))
_SHORT = "".join(f"<row r='{n}'><c r='A{n}'><v>{n * 7 + 21}</v></c></row>" for n in range(1, 12))


def _ranges(ranges: str, rows: str) -> Book:
    return {"rows": rows, "rest": _rules(_rule(1, 1))["rest"].replace("A1:A9", ranges)}


DIFFERENT: dict[str, tuple[Book, Book, tuple[str, str, str]]] = {
    "numbers of one hash": (
        _cell("<c r='B1'><v>-1</v></c>"),
        _cell("<c r='B1'><v>-2</v></c>"),
        ("changed", "cell", "Data!B1"),
    ),
    "results of one hash": (
        _cell("<c r='B1'><f>A1</f><v>-1</v></c>"),
        _cell("<c r='B1'><f>A1</f><v>-2</v></c>"),
        ("changed", "result", "Data!B1"),
    ),
    "zero and an empty text": (
        _cell("<c r='B1'><v>0</v></c>"),
        _cell("<c r='B1' t='str'><v></v></c>"),
        ("changed", "cell", "Data!B1"),
    ),
    "shared texts in Latin-1": (
        _encoded("é", "ISO-8859-1"),
        _encoded("è", "ISO-8859-1"),
        ("changed", "cell", "Data!B1"),
    ),
    "a sheet in Latin-1": (
        _inline("é", "ISO-8859-1"),
        _inline("è", "ISO-8859-1"),
        ("changed", "cell", "Data!B1"),
    ),
    "days of another system": (
        _day("45000"),
        _day("45000", _FROM_1904),
        ("changed", "cell", "Data!B1"),
    ),
    "the order of rules": (
        _rules(_rule(5, 1), _rule(3, 2)),
        _rules(_rule(5, 2), _rule(3, 1)),
        ("changed", "conditional format", "Data!A1:A9"),
    ),
    "above and below average": (
        _rules(_average("")),
        _rules(_average(' aboveAverage="0"')),
        ("changed", "conditional format", "Data!A1:A9"),
    ),
    "a page break": (_break(5), _break(9), ("added", "page break", "Data!10:10")),
    "a sheet that is very hidden": (
        _hidden("hidden"),
        _hidden("veryHidden"),
        ("changed", "sheet", "B"),
    ),
    "a quote before a text": (
        _look("<xf/>"),
        _look('<xf quotePrefix="1"/>'),
        ("changed", "format", "Data!B1"),
    ),
    "the direction of a text": (
        _look("<xf/>"),
        _look('<xf><alignment readingOrder="2"/></xf>'),
        ("changed", "format", "Data!B1"),
    ),
    "what a color's number stands for": (
        _palette("FF0000"),
        _palette("00FF00"),
        ("changed", "format", "Data!B1"),
    ),
    "an id in custom data": (
        _item('<a id="1"/>'),
        _item('<a id="2"/>'),
        ("changed", "part", "customXml/item1.xml"),
    ),
    "a text after an element": (
        _item("<a>x<b/>y</a>"),
        _item("<a>x<b/>z</a>"),
        ("changed", "part", "customXml/item1.xml"),
    ),
    "the link of a shape": (
        _shape("a"),
        _shape("a", link="http://b"),
        ("changed", "shape", "Data, shape Box"),
    ),
    "the picture in a shape": (
        _shape("a"),
        _shape("a", picture=b"2"),
        ("changed", "shape", "Data, shape Box"),
    ),
    "a shape for some programs": (
        _shape("a", wrapped=1),
        _shape("b", wrapped=1),
        ("changed", "shape", "Data, shape Box"),
    ),
    "the picture of a header": (
        _header(b"1"),
        _header(b"2"),
        ("changed", "part", "xl/media/i.png"),
    ),
    "a table without headers": (
        _table(),
        _table(' headerRowCount="0"'),
        ("changed", "table", "Data!A1:A2"),
    ),
    "the look of a table's column": (
        _table(),
        _table(look="i"),
        ("changed", "table", "Data!A1:A2"),
    ),
}

SAME: dict[str, tuple[Book, Book]] = {
    "another encoding": (_encoded("é", "ISO-8859-1"), _encoded("é", "UTF-8")),
    "blanks that count anyway": (
        _shared(_BOLD),
        _shared(_BOLD.replace("<t>", '<t xml:space="preserve">')),
    ),
    "the order of what a run looks like": (
        _shared(_BOLD),
        _shared(_BOLD.replace('<b/><sz val="11"/>', '<sz val="11"/><b val="1"/>')),
    ),
    "a text in two runs": (
        _shared("<t>abcd</t>"),
        _shared("<r><t>ab</t></r><r><t>cd</t></r>"),
    ),
    "a day by its name": (_day("45000"), _day("2023-03-15", kind=" t='d'")),
    "true and 1": (
        _rules(_rule(5, 1, ' stopIfTrue="1"')),
        _rules(_rule(5, 1, ' stopIfTrue="true"')),
    ),
    "other numbers of ranks": (
        _rules(_rule(5, 1), _rule(3, 2)),
        _rules(_rule(3, 7), _rule(5, 4)),
    ),
    "what is so anyway": (
        _rules(_average("")),
        _rules(_average(' aboveAverage="1"')),
    ),
    "a look under another number": (_table(), _table(number=1)),
    "attributes in another order": (_item('<a b="1" c="2"/>'), _item("<a c='2'  b='1'></a>")),
}


@pytest.mark.parametrize("which", DIFFERENT)
def test_what_was_passed_over_is_told(which: str, tmp_path: Path) -> None:
    """Each is told where it is."""
    before, after, change = DIFFERENT[which]

    found = compared(written(tmp_path / "a.xlsx", **before), written(tmp_path / "b.xlsx", **after))

    assert change in told(found)


@pytest.mark.parametrize("which", SAME)
def test_the_same_in_another_form_is_no_change(which: str, tmp_path: Path) -> None:
    """Programs write the same in their own ways."""
    before, after = SAME[which]

    found = compared(written(tmp_path / "a.xlsx", **before), written(tmp_path / "b.xlsx", **after))

    assert told(found) == []


def test_days_that_were_written_for_another_system_are_the_same(tmp_path: Path) -> None:
    """Only the setting changed."""
    before = written(tmp_path / "a.xlsx", **_day("45000"))
    after = written(tmp_path / "b.xlsx", **_day("43538", _FROM_1904))

    assert told(compared(before, after)) == [("changed", "setting", "workbook settings")]


_BELOW = "<row r='1'><c r='A1'><v>1</v></c></row>{}<row r='5'><c r='A5'><v>1</v></c></row>"
_WRAPPED = '<cellXfs><xf/><xf><alignment wrapText="1"/></xf></cellXfs>'


def test_what_blank_rows_look_like_is_told_if_a_value_stands_below_them(tmp_path: Path) -> None:
    """They are none of the table's rows, but not out of sight."""
    blank = "<row r='3' ht='40' customHeight='1'><c r='B3' s='1'/></row>"
    before = written(tmp_path / "a.xlsx", looks=_WRAPPED)
    after = written(tmp_path / "b.xlsx", _BELOW.format(blank), looks=_WRAPPED)

    for one, two, kind in ((before, after, "added"), (after, before, "removed")):
        assert {what for what in told(compared(one, two)) if what[1] not in ("cell", "row")} == {
            ("changed", "format", "Data!B3"),
            ("changed", "height", "Data!3:3"),
        }
        assert {each[0] for each in told(compared(one, two)) if each[1] in ("cell", "row")} == {
            kind
        }


def test_a_rule_of_which_some_rows_went_is_the_same(tmp_path: Path) -> None:
    """The rest of its ranges moved up."""
    before = written(tmp_path / "a.xlsx", **_ranges("A1:A3 A10:A12", _LONG))
    after = written(tmp_path / "b.xlsx", **_ranges("A7:A9", _SHORT))

    assert {what for _, what, _ in told(compared(before, after))} == {"row"}


@pytest.mark.parametrize("kind", ["extended-properties", "extendedProperties"])
def test_properties_of_either_variant_are_told_by_name(tmp_path: Path, kind: str) -> None:
    """Titles that follow the sheets are none of their own; the strict variant spells the kind."""
    main = ("rId1", "officeDocument", "xl/workbook.xml")
    related = relations(main, ("rId2", kind, "docProps/app.xml"))

    def made(name: str, company: str, title: str) -> Source:
        properties = f"<Properties><Company>{company}</Company><TitlesOfParts>{title}"
        parts = {
            "_rels/.rels": related,
            "docProps/app.xml": f"{properties}</TitlesOfParts></Properties>",
        }
        return written(tmp_path / name, parts=parts)

    one, two = made("one.xlsx", "Us", "Data"), made("two.xlsx", "Us", "Other")
    assert told(compared(one, two)) == []
    other = told(compared(one, made("three.xlsx", "Them", "Data")))
    assert other == [("changed", "property", "property Company")]
