"""The style sheet: looks are added, what exists neither moves nor changes."""

import io
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree
from openpyxl import Workbook, load_workbook
from openpyxl.cell.cell import Cell

from kbd.errors import ValidationFailed
from kbd_xlsx.parts.numberformats import shows_date
from kbd_xlsx.parts.stylesheet import StyleSheet
from kbd_xlsx.parts.styletables import MAX_CELL_FORMATS

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


def sheet_of(text: str) -> StyleSheet:
    """Parse a style sheet."""
    return StyleSheet(etree.fromstring(text))


def find(styles: StyleSheet, path: str) -> list[Any]:
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


def shown(styles: StyleSheet, index: int) -> Cell:
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


def test_a_style_object_shows_as_it_says() -> None:
    """Bold, Calibri 12, FFFFFF on solid 2F5496, centred twice, wrapped; the rest is as usual."""
    styles = StyleSheet(None)
    cell = shown(styles, styles.styled(0, HEADING))

    assert (cell.font.b, cell.font.name, cell.font.sz) == (True, "Calibri", 12)
    assert cell.font.color is not None
    assert cell.font.color.rgb == "FFFFFFFF"
    assert (cell.fill.fill_type, cell.fill.fgColor.rgb) == ("solid", "FF2F5496")
    assert (cell.alignment.horizontal, cell.alignment.vertical) == ("center", "center")
    assert cell.alignment.wrap_text is True
    assert cell.number_format == "General"
    assert not styles.warnings


def test_every_other_key_shows_as_it_says() -> None:
    """Italic, underline, pattern, number format and each side of the border."""
    styles = StyleSheet(None)
    style = {
        "font_italic": True,
        "font_underline": "double",
        "fill_pattern": "lightGrid",
        "fill_color": "#00FF00",
        "number_format": "#,##0.00",
        "border_top": {"style": "thin", "color": "#112233"},
        "border_bottom": "double",
        "border_left": {"style": "dashed"},
        "border_right": {"color": "ABCDEF"},
    }
    cell = shown(styles, styles.styled(0, style))

    assert (cell.font.i, cell.font.u) == (True, "double")
    assert (cell.fill.fill_type, cell.fill.fgColor.rgb) == ("lightGrid", "FF00FF00")
    assert cell.number_format == "#,##0.00"
    sides = [getattr(cell.border, name) for name in ("top", "bottom", "left", "right")]
    assert [(side.style, side.color.rgb) for side in sides] == [
        ("thin", "FF112233"),
        ("double", "FF000000"),
        ("dashed", "FF000000"),
        ("thin", "FFABCDEF"),
    ]


@pytest.mark.parametrize(
    ("style", "warning"),
    [
        ({"font_italic": "yes"}, 'style font_italic cannot be "yes" and was skipped'),
        ({"italic": True}, "style italic is unknown and was skipped"),
        ({"border_top": {"style": "wavy"}}, "style border_top cannot be"),
        ({"border_top": {"style": []}}, "style border_top cannot be"),
        ({"font_color": "red"}, 'style font_color cannot be "red"'),
        ({"font_size": 0}, "style font_size cannot be 0"),
        ({"font_size": float("nan")}, "style font_size cannot be NaN"),
        ({"font_underline": ["single"]}, "style font_underline cannot be"),
        ({"number_format": ""}, "style number_format cannot be"),
        ({"number_format": "0\x00"}, "style number_format cannot be"),
        ({"h_align": 3}, "style h_align cannot be 3"),
        ({"fill_pattern": "plaid"}, "style fill_pattern cannot be"),
    ],
)
def test_bad_values_are_skipped_with_a_warning(style: dict[str, Any], warning: str) -> None:
    """What is wrong is left out and told once; what is right beside it applies."""
    styles = StyleSheet(None)
    index = styles.styled(0, {**style, "font_bold": True})
    styles.styled(0, {**style, "font_bold": True})

    assert [text[: len(warning)] for text in styles.warnings] == [warning]
    cell = shown(styles, index)
    assert cell.font.b is True


def test_nothing_that_exists_moves_or_changes() -> None:
    """After many looks the former entries, extensions and unknown contents are as they were."""
    before = sheet_of(RICH)
    styles = sheet_of(RICH)
    for style in (HEADING, {"font_color": "00FF00"}, {"number_format": "0.0"}, {"fill_color": "1"}):
        styles.styled(1, style)

    for name in ("fonts", "fills", "borders", "cellXfs", "numFmts"):
        old, new = (find(each, f"/p:styleSheet/p:{name}")[0] for each in (before, styles))
        kept = [etree.tostring(entry, method="c14n") for entry in new][: len(old)]
        assert [etree.tostring(entry, method="c14n") for entry in old] == kept
        assert new.get("count") == str(len(new))
    order = [etree.QName(each).localname for each in find(styles, "/p:styleSheet/*")]
    assert order == [etree.QName(each).localname for each in find(before, "/p:styleSheet/*")]
    assert find(styles, "/p:styleSheet/p:extLst/p:ext/m:own")
    assert find(styles, "/p:styleSheet/@m:note") == ["kept"]
    assert b":ns0" not in styles.xml()


def test_what_a_style_does_not_name_is_kept() -> None:
    """Strike, theme colour, unknown child, protection, extension, diagonal, number format stay."""
    styles = sheet_of(RICH)
    index = styles.styled(1, {"font_bold": True, "border_top": "thin"})

    xf = find(styles, f"//p:cellXfs/p:xf[{index + 1}]")[0]
    assert (xf.get("numFmtId"), xf.get("xfId"), xf.get("applyProtection")) == ("170", "0", "1")
    assert [etree.QName(child).localname for child in xf] == ["protection", "extLst"]
    font = find(styles, f"//p:fonts/p:font[{int(xf.get('fontId')) + 1}]")[0]
    names = [etree.QName(child).localname for child in font]
    assert names == ["b", "strike", "sz", "color", "name", "own", "scheme"]
    assert dict(font[3].attrib) == {"theme": "4", "tint": "0.4"}
    border = find(styles, f"//p:borders/p:border[{int(xf.get('borderId')) + 1}]")[0]
    assert border.get("diagonalUp") == "1"
    assert border[4].get("style") == "thin"


def test_a_colour_and_a_name_win_over_the_theme() -> None:
    """A font colour replaces that of the theme, a font name drops the scheme."""
    styles = sheet_of(RICH)
    index = styles.styled(1, {"font_color": "112233", "font_name": "Consolas"})

    font_id = int(find(styles, f"//p:cellXfs/p:xf[{index + 1}]/@fontId")[0])
    font = find(styles, f"//p:fonts/p:font[{font_id + 1}]")[0]
    children = {etree.QName(child).localname: dict(child.attrib) for child in font}
    assert children["color"] == {"rgb": "FF112233"}
    assert children["name"] == {"val": "Consolas"}
    assert "scheme" not in children


def test_equal_looks_are_one_format() -> None:
    """The same look, however it is asked for, has one position; nothing named changes nothing."""
    styles = StyleSheet(None)
    first = styles.styled(0, HEADING)

    assert first == 1
    assert first == styles.styled(0, dict(reversed(HEADING.items())))
    assert first == styles.styled(first, {"font_bold": True})
    assert first == styles.styled(first, {})
    assert first == styles.styled(styles.styled(first, {"font_bold": False}), {"font_bold": True})
    assert len(find(styles, "//p:cellXfs/p:xf")) == 3


def test_a_position_that_does_not_exist_counts_as_the_first() -> None:
    """A cell whose style index is past the end, or below zero, looks like the first format."""
    styles = sheet_of(RICH)
    expected = styles.styled(0, HEADING)

    assert expected == styles.styled(99, HEADING)
    assert expected == styles.styled(-1, HEADING)
    assert styles.styled(99, {}) == 0
    assert styles.is_date(99) is False


def test_number_formats() -> None:
    """A built-in code has its number, one of the file is found again, a new one comes from 164."""
    styles = sheet_of(RICH)
    codes = ("0.00%", "0.000", '0.0 "kg"', '0.0 "kg"', "General")
    found = [styles.formatted(0, code) for code in codes]

    numbers = [find(styles, f"//p:cellXfs/p:xf[{index + 1}]/@numFmtId")[0] for index in found]
    assert numbers == ["10", "170", "171", "171", "0"]
    assert find(styles, "//p:numFmts/@count") == ["2"]
    assert find(StyleSheet(None), "//p:numFmts") == []
    fresh = StyleSheet(None)
    fresh.formatted(0, "0.0")
    assert find(fresh, "//p:numFmt/@numFmtId") == ["164"]
    assert etree.QName(find(fresh, "/p:styleSheet/*")[0]).localname == "numFmts"


@pytest.mark.parametrize(
    ("number", "code", "is_date"),
    [
        (0, None, False),
        (14, None, True),
        (22, None, True),
        (30, None, True),
        (46, None, True),
        (49, None, False),
        (164, "yyyy-mm-dd", True),
        (164, "[h]:mm", True),
        (164, "[$-409]d. mmmm;@", True),
        (164, '0.00 "days"', False),
        (164, "[Red]0.00;[Blue]-0.00", False),
        (164, '_-* #,##0.00 "DM"_-', False),
        (164, "0.00E+00", False),
        (164, r"0\d", False),
        (164, "GENERAL", False),
        (14, "0.00", False),
    ],
)
def test_formats_that_show_dates(number: int, code: str | None, *, is_date: bool) -> None:
    """Letters of dates count, quoted, escaped and bracketed ones do not."""
    assert is_date is shows_date(number, code)


def test_the_strict_variant() -> None:
    """A strict style sheet stays strict, and its border has start and end."""
    styles = StyleSheet(None, strict=True)
    styles.styled(0, {"border_left": "thin", "font_bold": True})

    root = etree.fromstring(styles.xml())
    assert {etree.QName(element).namespace for element in root.iter()} == {STRICT}
    assert find(styles, "//p:border[2]/p:start/@style") == ["thin"]
    assert find(styles, "//p:border/p:left") == []


def test_missing_sections_are_made_in_their_places() -> None:
    """A style sheet with next to nothing becomes one that others can read."""
    styles = sheet_of(f'<styleSheet xmlns="{MAIN}"><dxfs/><colors/></styleSheet>')
    index = styles.styled(0, HEADING)

    assert index == 1
    names = [etree.QName(each).localname for each in find(styles, "/p:styleSheet/*")]
    assert names == ["fonts", "fills", "cellXfs", "dxfs", "colors"]
    assert find(styles, "//p:cellXfs/p:xf[1]/@fontId") == ["0"]


def test_forms_that_cannot_be_changed_are_refused() -> None:
    """A draft of the format, and entries whose positions are open, are refused by name."""
    with pytest.raises(ValidationFailed, match="unknown form"):
        sheet_of('<styleSheet xmlns="http://schemas.microsoft.com/office/excel/2005/8/styles"/>')
    styles = sheet_of(
        f'<styleSheet xmlns="{MAIN}"><fonts><mc:AlternateContent xmlns:mc="urn:mc"/></fonts>'
        '<cellXfs count="1"><xf/></cellXfs></styleSheet>'
    )
    with pytest.raises(ValidationFailed, match="fonts has alternative contents"):
        styles.styled(0, {"font_bold": True})


def test_too_many_formats_are_refused() -> None:
    """Past 64,000 cell formats a new one is refused; those that are there still serve."""
    entries = "".join(f'<xf numFmtId="{number}"/>' for number in range(MAX_CELL_FORMATS))
    styles = sheet_of(f'<styleSheet xmlns="{MAIN}"><cellXfs>{entries}</cellXfs></styleSheet>')

    with pytest.raises(ValidationFailed, match="64,000"):
        styles.styled(0, {"font_bold": True})
    assert styles.styled(7, {}) == 7


def test_a_look_of_another_workbook() -> None:
    """A format is adopted with font, fill, border, number format and protection, and only once."""
    styles, other = StyleSheet(None), sheet_of(RICH)
    source = other.styled(1, {"fill_color": "AABBCC"})
    index = styles.adopt(other, source)

    assert index == styles.adopt(other, source)
    cell = shown(styles, index)
    assert (cell.font.strike, cell.number_format) == (True, "0.000")
    assert cell.fill.fgColor.rgb == "FFAABBCC"
    assert cell.protection.locked is False
    assert cell.border.diagonal is not None
    assert cell.border.diagonal.style == "thin"
    assert find(styles, "//p:numFmt/@numFmtId") == ["164"]


def test_a_named_style_comes_along() -> None:
    """The named style of an adopted cell is made; one of its name that differs is kept and told."""
    named = '<x:cellStyles count="2"><x:cellStyle name="Mine" xfId="1"/>'
    text = RICH.replace('<x:cellStyles count="1">', named)
    text = text.replace("<x:xf/>", '<x:xf/><x:xf fontId="1"/>')
    other = sheet_of(text.replace('borderId="0" xfId="0" applyP', 'borderId="0" xfId="1" applyP'))
    styles = StyleSheet(None)
    index = styles.adopt(other, 1)

    assert find(styles, "//p:cellStyle/@name") == ["Normal", "Mine"]
    assert shown(styles, index).style == "Mine"
    assert not styles.warnings
    assert index == styles.adopt(other, 1)
    changed = sheet_of(text.replace('<x:xf fontId="1"/>', '<x:xf fontId="0"/>'))
    assert changed.adopt(other, 1)
    assert list(changed.warnings) == [
        "named style Mine looks different in this workbook and was kept so"
    ]


SOME_STYLES = st.fixed_dictionaries(
    {},
    optional={
        "font_bold": st.booleans(),
        "font_italic": st.booleans(),
        "font_size": st.integers(1, 409),
        "font_name": st.sampled_from(["Calibri", "Arial", "MS Gothic"]),
        "font_color": st.from_regex("[0-9A-F]{6}", fullmatch=True),
        "fill_color": st.from_regex("[0-9A-F]{6}", fullmatch=True),
        "number_format": st.sampled_from(["0.00", "yyyy-mm-dd", '0 "x"', "@"]),
        "h_align": st.sampled_from(["left", "center", "right"]),
        "wrap_text": st.booleans(),
    },
)


@settings(max_examples=50)
@given(st.lists(SOME_STYLES, min_size=1, max_size=8))
def test_looks_add_up(applied: list[dict[str, Any]]) -> None:
    """Styles applied one after the other show as the last value of each key."""
    styles = StyleSheet(None)
    index = 0
    expected: dict[str, Any] = {}
    for style in applied:
        index = styles.styled(index, style)
        expected |= style

    cell = shown(styles, index)
    found = {
        "font_bold": bool(cell.font.b),
        "font_italic": bool(cell.font.i),
        "font_size": cell.font.sz,
        "font_name": cell.font.name,
        "font_color": str(cell.font.color.rgb)[2:] if cell.font.color else "",
        "fill_color": str(cell.fill.fgColor.rgb)[2:],
        "number_format": cell.number_format,
        "h_align": cell.alignment.horizontal,
        "wrap_text": bool(cell.alignment.wrap_text),
    }
    assert expected == {key: found[key] for key in expected}
    assert not styles.warnings


@pytest.mark.corpora
def test_real_files_keep_their_styles(corpora: Path) -> None:
    """Every style sheet of a sample takes a look and keeps all that it had."""
    checked = 0
    for path in sorted((corpora / "xlsx").iterdir())[::6]:
        try:
            with zipfile.ZipFile(path) as package:
                data = package.read("xl/styles.xml")
        except (zipfile.BadZipFile, KeyError, NotImplementedError):
            continue
        old, root = etree.fromstring(data), etree.fromstring(data)
        try:
            styles = StyleSheet(root)
        except ValidationFailed:
            continue
        formats = len(old.findall("{*}cellXfs/{*}xf"))
        assert styles.styled(formats - 1, HEADING) in (formats, formats - 1), path.name
        for section in old:
            new = root.find(str(section.tag))
            assert new is not None
            if isinstance(section.tag, str) and not str(section.tag).endswith("numFmts"):
                kept = [etree.tostring(entry, method="c14n") for entry in new]
                was = [etree.tostring(entry, method="c14n") for entry in section]
                assert was == kept[: len(was)], path.name
        checked += 1

    assert checked > 40
