"""What stands on slides as plain values: where each shape is, and the same each time."""

from pathlib import Path
from typing import Any

import msgspec

from kbd.formats import Region, Source
from kbd_pptx import PptxFormat
from read_decks import box, deck, group, placeholder, shape, slide_xml

FORMAT = PptxFormat()


def shapes(source: Source) -> list[dict[str, Any]]:
    objects = FORMAT.objects(source, Region(slide_index=0)).objects
    assert objects is not None
    return list(objects["shapes"])


def test_bounds_are_the_slides_the_layouts_or_the_masters(tmp_path: Path) -> None:
    """A placeholder without a place of its own has that of its layout, else of the master."""
    found = shapes(deck(tmp_path, [slide_xml(
        placeholder("ctrTitle", "t"), placeholder("", "b", index=1),
        shape("own", at=(1.5, 2.25, 3, 4)), shape("nowhere"),
    )]))  # fmt: skip

    bounds = {each["text"]: each["bounds"] for each in found}
    assert bounds["t"] == {"x": 1.0, "y": 0.5, "width": 8.0, "height": 1.0}
    assert bounds["b"] == {"x": 1.0, "y": 2.0, "width": 8.0, "height": 4.0}
    assert bounds["own"] == {"x": 1.5, "y": 2.25, "width": 3.0, "height": 4.0}
    assert bounds["nowhere"] is None


def test_groups_move_and_scale_what_is_in_them(tmp_path: Path) -> None:
    """In a group in a group a shape's bounds are those on the slide; flips mirror it."""
    child = '<a:chOff x="0" y="0"/><a:chExt cx="914400" cy="914400"/>'
    inner = box(0, 0, 1, 1).replace("</a:xfrm>", f"{child}</a:xfrm>")
    outer = box(2, 1, 4, 2).replace("</a:xfrm>", f"{child}</a:xfrm>")
    leaf = shape("leaf", at=(0, 0.5, 0.25, 0.25))
    plain = deck(tmp_path, [slide_xml(group(group(leaf, inner, 21), outer))])
    flipped = outer.replace("<a:xfrm>", '<a:xfrm flipH="1">')
    mirrored = deck(tmp_path, [slide_xml(group(leaf, flipped))], name="b.pptx")

    leaf_of = {each["kind"]: each for each in shapes(plain)}["text_box"]

    assert leaf_of["bounds"] == {"x": 2.0, "y": 2.0, "width": 1.0, "height": 0.5}
    assert leaf_of["group"] == 21
    assert shapes(mirrored)[1]["bounds"] == {"x": 5.0, "y": 2.0, "width": 1.0, "height": 0.5}


def test_a_slide_is_the_same_each_time(tmp_path: Path) -> None:
    """Repeated calls give the same bytes; all lists are there, and bounds have x and width."""
    found = deck(tmp_path, [slide_xml(placeholder("title", "T"), shape("x", at=(1, 2, 3, 1)))])

    answers = {msgspec.json.encode(FORMAT.objects(found, Region(slide_index=0))) for _ in range(3)}
    objects = FORMAT.objects(found, Region(slide_index=0)).objects

    assert len(answers) == 1
    assert objects is not None
    assert list(objects) == ["shapes", "tables", "images", "charts"]
    assert [set(each["bounds"]) for each in objects["shapes"]] == [
        {"x", "y", "width", "height"}
    ] * 2
    assert objects["shapes"][1]["bounds"]["x"] == 1.0
    assert objects["shapes"][1]["bounds"]["width"] == 3.0


def test_strict_decks_are_read_like_others(tmp_path: Path) -> None:
    """The names of the strict variant, and lengths with units, change nothing."""
    slide = slide_xml(placeholder("title", "T"), shape("x", at=(1, 2, 3, 1)))
    usual = deck(tmp_path, [slide])
    units = slide.replace('x="914400"', 'x="2.54cm"').replace('cx="2743200"', 'cx="216pt"')
    strict = deck(tmp_path, [units], name="b.pptx", is_strict=True)

    assert shapes(strict) == shapes(usual)
    assert FORMAT.read(strict, Region()) == FORMAT.read(usual, Region())
