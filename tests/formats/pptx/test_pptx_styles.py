"""What is told of how a deck looks: as it comes out, with themes and inheritance resolved."""

from pathlib import Path
from typing import Any

import pptx
import pytest
from lxml import etree
from pptx.util import Emu

from deck_judge import DeckFile
from styled_decks import A, P, brand_deck, courier_deck, plain_deck, rewritten, styles_of


@pytest.fixture
def brand(tmp_path: Path) -> Path:
    """A deck with a theme of its own."""
    return brand_deck(tmp_path / "brand.pptx")


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A deck of the usual looks."""
    return plain_deck(tmp_path / "plain.pptx")


def text_style(told: dict[str, Any], kind: str) -> dict[str, Any]:
    """Return the first level of a style of text."""
    (found,) = [each for each in told["text_styles"] if each["kind"] == kind]
    first: dict[str, Any] = found["levels"][0]
    return first


def test_masters_with_their_themes(brand: Path) -> None:
    """A master is told with its theme's name, fonts and colours, and its background."""
    told = styles_of(brand)

    assert told["slide_size"] == {"width": 10.0, "height": 7.5}
    (master,) = told["masters"]
    assert "Brand" == master["name"] == master["theme"]["name"]
    assert master["theme"]["fonts"] == {"headings": "Georgia", "body": "Verdana"}
    colours = master["theme"]["colors"]
    assert tuple(colours[name] for name in ("dark1", "light1", "dark2")) == (
        "000000",
        "FFFFFF",
        "102030",
    )
    assert colours["accent2"] == "00A651"
    assert master["background"] == {"kind": "theme", "color": "FFFFFF"}
    assert 11 == master["layouts"] == len(told["layouts"])
    fonts = {each["name"]: each for each in told["fonts"]}
    assert fonts["Georgia"]["of_theme"] is fonts["Verdana"]["of_theme"] is True


def test_text_styles_come_out(brand: Path) -> None:
    """A style's fonts, sizes, colours, bullets and spacing are told as people see them."""
    told = styles_of(brand)

    title = text_style(told, "title")
    assert (
        title["font_name"], title["font_size"], title["font_color"], title["theme_color"],
    ) == ("Georgia", 44.0, "00A651", "accent2")  # fmt: skip
    assert (title["caps"], title["alignment"], title["bold"]) == ("all", "center", False)
    body = text_style(told, "body")
    assert (
        body["font_name"], body["font_size"], body["font_color"], body["bullet"],
        body["space_before"],
    ) == ("Verdana", 32.0, "000000", "•", "20%")  # fmt: skip
    assert (body["indent_left"], body["indent_first_line"]) == (0.375, -0.375)
    (levels,) = [each["levels"] for each in told["text_styles"] if each["kind"] == "body"]
    assert [each["font_size"] for each in levels] == [
        32.0,
        28.0,
        24.0,
        20.0,
        20.0,
        20.0,
        20.0,
        20.0,
        20.0,
    ]
    assert list(range(1, 10)) == [each["level"] for each in levels]
    assert text_style(told, "other")["font_size"] == 18.0


def test_changed_colours_come_out(brand: Path, tmp_path: Path) -> None:
    """Changes of a theme's colour count: half of the lightness of accent 2, a tint of black."""
    root = DeckFile(brand).root("ppt/slideMasters/slideMaster1.xml")
    colour = root.find(f".//{P}titleStyle/{A}lvl1pPr/{A}defRPr/{A}solidFill/{A}schemeClr")
    assert colour is not None
    etree.SubElement(colour, f"{A}lumMod", val="50000")
    changed = {"ppt/slideMasters/slideMaster1.xml": etree.tostring(root)}
    told = styles_of(rewritten(brand, tmp_path / "darker.pptx", changed))

    # 00A651 is 32.5 % light; half of that is 00532A or, by the other way of rounding, 005329.
    assert text_style(told, "title")["font_color"] in ("00532A", "005329", "005328")
    (opening,) = [each for each in told["layouts"] if each["name"] == "Brand Opening"]
    (under,) = [each for each in opening["placeholders"] if each["kind"] == "subTitle"]
    # As PowerPoint shows the template's subtitle: black with a tint of 75 %.
    assert under["font_color"] == "898989"


def test_placeholders_as_another_library_places_them(brand: Path) -> None:
    """Bounds are those that python-pptx finds, which looks into masters as well."""
    told = styles_of(brand)

    compared = 0
    for layout, entry in zip(
        pptx.Presentation(str(brand)).slide_layouts, told["layouts"], strict=True
    ):
        assert layout.name == entry["name"]
        for shape, told_shape in zip(layout.placeholders, entry["placeholders"], strict=True):
            assert shape.name == told_shape["name"]
            assert str(shape.placeholder_format.idx) == told_shape["idx"]
            bounds = told_shape["bounds"]
            for value, key in ((shape.left, "x"), (shape.top, "y"), (shape.width, "width")):
                assert Emu(value).inches == pytest.approx(bounds[key], abs=1e-4)
                compared += 1
    assert compared > 100


def test_pictures(brand: Path) -> None:
    """A picture is told once, with its size, its words and all of its places."""
    told = styles_of(brand)

    photo, logo = told["images"]
    assert (
        photo["type"], photo["width_px"], photo["height_px"], photo["slides"], photo["alt_text"],
    ) == ("png", 40, 30, [0], "A red field")  # fmt: skip
    assert photo["places"] == ["slide:0/Photo", "slide:0/Photo#2"]
    assert (logo["asset_id"], logo["slides"]) == ("image:layout:Brand Opening/Logo", [])
    assert {photo["asset_id"], logo["asset_id"]} <= {each["asset_id"] for each in told["assets"]}


def test_what_can_be_copied_is_listed(brand: Path, tmp_path: Path) -> None:
    """Layouts, styles, the theme, pictures, and texts that have looks of their own."""
    ids = {each["asset_id"] for each in styles_of(brand)["assets"]}
    own = {each["asset_id"] for each in styles_of(courier_deck(tmp_path / "c.pptx"))["assets"]}

    assert {
        "layout:Brand Opening", "text_style:title", "text_style:body", "text_style:other",
        "theme:Brand", "image:slide:0/Photo",
    } <= ids  # fmt: skip
    assert "text_style:slide:0/Content Placeholder 2" in own
    assert not any(each.startswith("text_style:slide:0/Title") for each in own)


def test_names_that_come_twice(plain: Path, tmp_path: Path) -> None:
    """Two layouts of one name have two ids, so that each can be copied."""
    part = "ppt/slideLayouts/slideLayout2.xml"
    data = DeckFile(plain).entries[part].replace(b'name="Title and Content"', b'name="Blank"')
    told = styles_of(rewritten(plain, tmp_path / "twice.pptx", {part: data}))

    ids = [each["asset_id"] for each in told["assets"]]
    assert len(ids) == len(set(ids))
    assert {"layout:Blank", "layout:Blank#2"} <= set(ids)


def test_a_master_without_anything(plain: Path, tmp_path: Path) -> None:
    """What a deck leaves out is not told, and nothing fails."""
    bare = (
        f'<p:sldMaster xmlns:p="{P[1:-1]}" xmlns:a="{A[1:-1]}"><p:cSld><p:spTree/></p:cSld>'
        "</p:sldMaster>"
    ).encode()
    parts: dict[str, bytes | None] = {
        "ppt/slideMasters/slideMaster1.xml": bare,
        "ppt/slideMasters/_rels/slideMaster1.xml.rels": None,
    }
    told = styles_of(rewritten(plain, tmp_path / "bare.pptx", parts))

    assert [each["name"] for each in told["masters"]] == ["Master"]
    assert [] == told["layouts"] == told["text_styles"]
