"""The style sheet: looks are added, what exists neither moves nor changes."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from kbd_xlsx.parts.stylesheet import XlsxStyleSheet
from style_sheets import HEADING, RICH, find, sheet_of, shown


def test_a_style_object_shows_as_it_says() -> None:
    """Bold, Calibri 12, FFFFFF on solid 2F5496, centred twice, wrapped; the rest is as usual."""
    styles = XlsxStyleSheet(None)
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
    styles = XlsxStyleSheet(None)
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


def test_a_null_leaves_a_thing_as_it_is() -> None:
    """A model that must write every field says so what it leaves out; that is no mistake."""
    styles, nulls = XlsxStyleSheet(None), dict.fromkeys(("font_name", "h_align", "border_left"))
    top = {"style": None, "color": None}
    cell = shown(styles, styles.styled(0, {"font_bold": True, "border_top": top, **nulls}))

    assert (cell.font.b, cell.border.top.style, cell.border.left.style) == (True, "thin", None)
    assert not styles.warnings


@pytest.mark.parametrize(
    ("style", "warning"),
    [
        ({"font_italic": "yes"}, 'style font_italic cannot be "yes" and was skipped'),
        ({"italic": True}, "style italic is unknown and was skipped"),
        ({"border_top": {"style": "wavy"}}, "style border_top cannot be"),
        ({"border_top": {"style": []}}, "style border_top cannot be"),
        ({"font_color": "sparkly"}, 'style font_color cannot be "sparkly"'),
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
    styles = XlsxStyleSheet(None)
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
    styles = XlsxStyleSheet(None)
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
    assert find(XlsxStyleSheet(None), "//p:numFmts") == []
    fresh = XlsxStyleSheet(None)
    fresh.formatted(0, "0.0")
    assert find(fresh, "//p:numFmt/@numFmtId") == ["164"]
    assert etree.QName(find(fresh, "/p:styleSheet/*")[0]).localname == "numFmts"


def test_number_formats_of_one_number_count_each() -> None:
    """Where a damaged file defines a number twice, the count is that of the elements."""
    entry = '<x:numFmt numFmtId="170" formatCode="0.000"/>'
    assert entry in RICH
    styles = sheet_of(RICH.replace(entry, entry + entry.replace("0.000", "0.0000")))
    styles.formatted(0, '0.0 "kg"')

    assert len(find(styles, "//p:numFmts/p:numFmt")) == 3
    assert find(styles, "//p:numFmts/@count") == ["3"]


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
    styles = XlsxStyleSheet(None)
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
