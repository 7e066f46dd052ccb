"""Themes and the colors that refer to them, as all office formats read them."""

import pytest
from lxml import etree

from kbd.office.theme import (
    SLOTS,
    Theme,
    drawing_color,
    parse_rgb,
    parse_share,
    read_theme,
    with_lightness,
)

A = "http://schemas.openxmlformats.org/drawingml/2006/main"
STRICT = "http://purl.oclc.org/ooxml/drawingml/main"


def theme(colors: str, fonts: str = "", space: str = A) -> etree._Element:
    """The root of a theme's part."""
    return etree.fromstring(
        f'<a:theme xmlns:a="{space}" name="Brand"><a:themeElements>'
        f"<a:clrScheme name='c'>{colors}</a:clrScheme>"
        f"<a:fontScheme name='f'>{fonts}</a:fontScheme></a:themeElements></a:theme>"
    )


def color(inside: str) -> etree._Element:
    """A fill of one color."""
    return etree.fromstring(f'<a:solidFill xmlns:a="{A}">{inside}</a:solidFill>')


@pytest.mark.parametrize("space", [A, STRICT])
def test_a_theme_names_colors_and_fonts(space: str) -> None:
    """Of either variant; a slot that is missing or cannot be told is left out."""
    colors = (
        "<a:lt1><a:sysClr val='window' lastClr='fefefe'/></a:lt1>"
        "<a:dk1><a:sysClr val='windowText'/></a:dk1><a:dk2><a:srgbClr val='1f497d'/></a:dk2>"
        "<a:accent1><a:srgbClr val='broken'/></a:accent1><a:accent2/>"
        "<a:accent3><a:prstClr val='orange'/></a:accent3>"
    )
    fonts = (
        "<a:majorFont><a:latin typeface='Georgia'/><a:ea typeface=''/></a:majorFont>"
        "<a:minorFont><a:latin typeface='Verdana'/><a:cs typeface='Arial'/></a:minorFont>"
    )
    found = read_theme(theme(colors, fonts, space))

    assert found.name == "Brand"
    assert dict(found.colors) == {
        "dk1": "000000", "lt1": "FEFEFE", "dk2": "1F497D", "accent3": "FFA500",
    }  # fmt: skip
    assert list(found.colors) == [slot for slot in SLOTS if slot in found.colors]
    assert found.fonts == {
        "major-latin": "Georgia", "minor-latin": "Verdana", "minor-cs": "Arial",
    }  # fmt: skip


def test_themes_from_before_the_standard() -> None:
    """What holds the colors and fonts may bear another name, as in files of the first betas."""
    root = theme("<a:dk2><a:srgbClr val='1F497D'/></a:dk2>")
    root[0].tag = f"{{{A}}}baseStyles"

    assert read_theme(root) == Theme("Brand", {"dk2": "1F497D"})


def test_no_theme_is_an_empty_one() -> None:
    """A file without a theme, or with one that holds nothing, names no color and no font."""
    assert read_theme(None) == Theme()
    assert read_theme(etree.fromstring(f'<a:theme xmlns:a="{A}"/>')) == Theme()


@pytest.mark.parametrize(
    ("inside", "rgb"),
    [
        ("<a:srgbClr val='80ff00'/>", "80FF00"),
        ("<a:schemeClr val='accent1'/>", "4F81BD"),
        ("<a:schemeClr val='phClr'/>", ""),
        ("<a:scrgbClr r='100%' g='0' b='50000'/>", "FF00BC"),
        ("<a:srgbClr val='4F81BD'><a:lumMod val='50000'/></a:srgbClr>", "254061"),
        ("<a:srgbClr val='4F81BD'><a:lumMod val='40%'/><a:lumOff val='60%'/></a:srgbClr>",
         "B9CDE5"),
        ("<a:srgbClr val='000000'><a:tint val='50000'/></a:srgbClr>", "BCBCBC"),
        ("<a:srgbClr val='FFFFFF'><a:shade val='50000'/></a:srgbClr>", "BCBCBC"),
        ("<a:srgbClr val='FF0000'><a:satMod val='0'/></a:srgbClr>", "808080"),
        ("<!-- none --><a:noFill/>", ""),
    ],
)  # fmt: skip
def test_a_color_comes_to_rrggbb(inside: str, rgb: str) -> None:
    """RGB, shares of light, names of the theme and changes of a color come to RRGGBB."""
    assert drawing_color(color(inside), lambda name: {"accent1": "4F81BD"}.get(name, "")) == rgb


def test_numbers_of_colors_are_checked() -> None:
    """What is no color is none; a share is written in two ways."""
    assert [parse_rgb(text) for text in ("ff00aa", "FF00AA00", "#FF00A", None)] == [
        "FF00AA", "", "", "",
    ]  # fmt: skip
    assert parse_rgb("80ff00aa", alpha=True) == "FF00AA"
    assert [parse_share(text) for text in ("75000", "75%", "x", "1e400", None)] == [
        0.75, 0.75, 0.0, 0.0, 0.0,
    ]  # fmt: skip
    assert with_lightness("4F81BD", lambda light: light * 0.4 + 0.6) == "B9CDE5"
