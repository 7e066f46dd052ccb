"""Pictures on slides of other decks, with all that they are made of."""

import io
from pathlib import Path

import pptx
import pytest
from pptx.util import Inches

from deck_judge import DeckFile, tree_without
from kbd.errors import ValidationFailed
from kbd.formats import Source
from kbd.office.assets import MAX_RELATIONS
from kbd.opc import strict
from kbd_pptx import PptxFormat
from kbd_pptx.operations import AddSlide, DeleteSlide
from styled_decks import (
    A,
    P,
    brand_deck,
    copied,
    differing,
    link,
    opened,
    picture,
    plain_deck,
    rewritten,
    styles_of,
)

TYPES = "[Content_Types].xml"


@pytest.fixture
def brand(tmp_path: Path) -> Path:
    """A deck with a theme of its own."""
    return brand_deck(tmp_path / "brand.pptx")


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    """A deck of the usual looks."""
    return plain_deck(tmp_path / "plain.pptx")


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """Where copies go."""
    return tmp_path / "made.pptx"


def test_a_picture(brand: Path, plain: Path, made: Path) -> None:
    """A picture stands on the last slide with its size, place and words; nothing else changes."""
    found = copied(brand, made, ("image:slide:0/Photo", None), into=plain)

    assert found.changed == ("slide:0: image:slide:0/Photo",)
    (shape,) = [each for each in opened(made).slides[0].shapes if each.name == "Photo"]
    assert picture() == shape.image.blob
    assert [each.inches for each in (shape.left, shape.top, shape.width, shape.height)] == [
        1,
        2,
        2,
        1.5,
    ]
    assert shape._element.nvPicPr.cNvPr.get("descr") == "A red field"
    changed, new = differing(plain, made)
    assert {TYPES, "ppt/slides/slide1.xml", "ppt/slides/_rels/slide1.xml.rels"} == changed
    assert {"ppt/media/image1.png"} == new
    before, after = (DeckFile(each).root("ppt/slides/slide1.xml") for each in (plain, made))
    assert tree_without(before, []) == tree_without(after, list(after.iter(f"{P}pic")))


def test_the_same_picture_twice(brand: Path, plain: Path, made: Path) -> None:
    """Pictures of the same bytes lie in a deck once, also if it had them before."""
    deck = opened(plain)
    deck.slides.add_slide(deck.slide_layouts[6]).shapes.add_picture(io.BytesIO(picture()), 0, 0)
    deck.save(str(plain))
    copied(
        brand, made, ("image:slide:0/Photo", "slide:0"), ("image:slide:0/Photo#2", "slide:1"),
        ("image:layout:Brand Opening/Logo", "slide:0"), into=plain,
    )  # fmt: skip

    media = [name for name in DeckFile(made).entries if name.startswith("ppt/media/")]
    assert len(media) == 2
    first, second = opened(made).slides
    assert len(first.shapes) == 4
    assert len(second.shapes) == 2


def test_a_picture_in_a_new_deck(brand: Path, made: Path) -> None:
    """A new deck gets a slide for it, of the blank layout."""
    found = copied(brand, made, ("image:slide:0/Photo", None))

    assert found.changed == ("slide:0: image:slide:0/Photo",)
    (slide,) = opened(made).slides
    assert slide.slide_layout.name == "Blank"
    assert [slide.shapes[0].width.inches, slide.shapes[0].height.inches] == [2, 1.5]


def test_a_picture_that_has_no_room(brand: Path, made: Path, tmp_path: Path) -> None:
    """On a slide too small for its place a picture is scaled with the slide."""
    deck = pptx.Presentation()
    deck.slide_width, deck.slide_height = Inches(5), Inches(3.75)
    deck.slides.add_slide(deck.slide_layouts[6])
    small = tmp_path / "small.pptx"
    deck.save(str(small))
    copied(brand, made, ("image:slide:0/Photo#2", None), into=small)

    shape = opened(made).slides[0].shapes[0]
    assert [each.inches for each in (shape.left, shape.top, shape.width, shape.height)] == [
        2,
        1,
        1,
        0.75,
    ]


def test_pictures_in_groups_and_placeholders(brand: Path, plain: Path, made: Path) -> None:
    """What says where they stand is not the picture itself: they stand there all the same."""
    deck = opened(brand)
    layout = next(each for each in deck.slide_layouts if each.name == "Picture with Caption")
    slide = deck.slides.add_slide(layout)
    held = slide.placeholders[1].insert_picture(io.BytesIO(picture("blue", (50, 50))))
    wanted = [held.left, held.top, held.width, held.height]
    group = slide.shapes.add_group_shape()
    group.shapes.add_picture(io.BytesIO(picture("navy")), 0, 0, Inches(2), Inches(1)).name = "In it"
    group.left, group.top, group.width, group.height = (
        Inches(3), Inches(4), Inches(1), Inches(0.5),
    )  # fmt: skip
    deck.save(str(brand))
    copied(
        brand, made, (f"image:slide:1/{held.name}", None), ("image:slide:1/In it", None),
        into=plain,
    )  # fmt: skip

    blue, navy = [each for each in opened(made).slides[0].shapes if each.shape_type == 13]
    assert wanted == [blue.left, blue.top, blue.width, blue.height]
    assert [each.inches for each in (navy.left, navy.top, navy.width, navy.height)] == [
        3,
        4,
        1,
        0.5,
    ]


def with_photo(brand: Path, change: dict[str, str], relation: str = "") -> Path:
    """Change the markup of the first photo, and add a relation to its slide."""
    part, rels = "ppt/slides/slide1.xml", "ppt/slides/_rels/slide1.xml.rels"
    entries = DeckFile(brand).entries
    data = entries[part]
    for old, new in change.items():
        assert old.encode() in data
        data = data.replace(old.encode(), new.encode(), 1)
    links = entries[rels].replace(b"</Relationships>", f"{relation}</Relationships>".encode())
    return rewritten(brand, brand.with_name("changed.pptx"), {part: data, rels: links})


FILM = f'<a:videoFile xmlns:a="{A[1:-1]}" r:link="rId90"/>'
CLICK = '<a:hlinkClick xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" '


def test_what_reaches_out_is_named(brand: Path, plain: Path, made: Path) -> None:
    """A click to a page, a linked picture, a linked film: each address is told."""
    click = {'descr="A red field"/>': f'descr="A red field">{CLICK}r:id="rId90"/></p:cNvPr>'}
    source = with_photo(brand, click, link("hyperlink", "https://example.com/a"))
    found = copied(source, made, ("image:slide:0/Photo", None), into=plain)

    assert found.external == ("https://example.com/a",)
    linked = {"<a:stretch>": "<a:stretch>", "r:embed=": 'r:link="rId90" r:embed='}
    source = with_photo(brand, linked, link("image", "file:///c:/a.png"))
    found = copied(source, made.with_name("b.pptx"), ("image:slide:0/Photo", None), into=plain)
    assert found.external == ("file:///c:/a.png",)
    film = {"</p:cNvPicPr><p:nvPr/>": f"</p:cNvPicPr><p:nvPr>{FILM}</p:nvPr>"}
    source = with_photo(brand, film, link("video", "https://example.com/v.mp4"))
    found = copied(source, made.with_name("c.pptx"), ("image:slide:0/Photo", None), into=plain)
    assert found.external == ("https://example.com/v.mp4",)


def test_what_is_deleted_does_not_reach_out_any_more(brand: Path, plain: Path, made: Path) -> None:
    """What an edit brought remains through others, and is gone with the slide that had it."""
    click = {'descr="A red field"/>': f'descr="A red field">{CLICK}r:id="rId90"/></p:cNvPr>'}
    far = with_photo(brand, click, link("hyperlink", "https://example.com/a"))
    reached = copied(far, made, ("image:slide:0/Photo", None), into=plain).external
    known, more = Source(made, made.name, external=reached), made.with_name("more.pptx")
    slide = AddSlide(layout="blank")

    added = PptxFormat().apply(known, (slide,), more)
    assert (added.external, added.remaining) == ((), reached)
    known = Source(more, more.name, external=reached)
    deleted = PptxFormat().apply(known, (DeleteSlide(index=0),), made.with_name("last.pptx"))
    assert (deleted.external, deleted.remaining) == ((), ())


def test_a_click_within_its_own_deck_is_taken_off(brand: Path, plain: Path, made: Path) -> None:
    """A picture that leads to another slide comes without that, and it is told."""
    inner = f'{CLICK}r:id="rId90" action="ppaction://hlinksldjump"/></p:cNvPr>'
    change = {'descr="A red field"/>': f'descr="A red field">{inner}'}
    source = with_photo(brand, change, link("slide", "slide1.xml", ""))
    found = copied(source, made, ("image:slide:0/Photo", None), into=plain)

    assert "did something in its own deck" in found.warnings[0]
    assert b"hlinkClick" not in DeckFile(made).entries["ppt/slides/slide1.xml"]


def as_strict(path: Path) -> Path:
    """Write a deck anew with the strict names."""
    parts = {
        name: strict(data) if name.endswith((".xml", ".rels")) and name != TYPES else data
        for name, data in DeckFile(path).entries.items()
    }
    return rewritten(path, path.with_name("strict.pptx"), parts)


@pytest.mark.parametrize("is_strict", [False, True])
def test_words_with_percentages_stay(brand: Path, plain: Path, made: Path, is_strict: bool) -> None:
    """What a picture is called and what it shows are words, whatever they look like."""
    words = 'name="50%" descr="75%" title="-12.5%"'
    source = with_photo(brand, {'name="Photo" descr="A red field"': words})
    source = as_strict(source) if is_strict else source
    copied(source, made, ("image:slide:0/50%", None), into=plain)

    assert words in DeckFile(made).entries["ppt/slides/slide1.xml"].decode()


def test_percentages_are_written_as_the_target_has_them(
    brand: Path, plain: Path, made: Path
) -> None:
    """Between the variants the shares of DrawingML change their spelling, both ways."""
    spelt = {
        variant: f'><a:alphaModFix amt="{share}"/><a:lum bright="{less}"/></a:blip><a:srcRect '
        f'l="{share}"/><a:stretch>'
        for variant, share, less in (("usual", "62500", "-20000"), ("strict", "62.5%", "-20%"))
    }
    usual = with_photo(brand, {"/><a:stretch>": spelt["usual"]})
    copied(usual, made, ("image:slide:0/Photo", None), into=as_strict(plain))
    assert spelt["strict"] in DeckFile(made).entries["ppt/slides/slide1.xml"].decode()

    source = as_strict(with_photo(brand, {"/><a:stretch>": spelt["strict"]}))
    back = made.with_name("back.pptx")
    copied(source, back, ("image:slide:0/Photo", None), into=plain)
    assert spelt["usual"] in DeckFile(back).entries["ppt/slides/slide1.xml"].decode()


def test_drawings_of_other_makers_are_copied_as_they_are(
    brand: Path, plain: Path, made: Path
) -> None:
    """An SVG is no part of the format: between the variants not a byte of it changes."""
    drawing = b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="100%" />\n'
    main = "http://schemas.microsoft.com/office/drawing/2016/SVG/main"
    held = f'><a:extLst><a:ext uri="x"><s:svgBlip xmlns:s="{main}" r:embed="rId90"/></a:ext>'
    change = {"/><a:stretch>": f"{held}</a:extLst></a:blip><a:stretch>"}
    source = with_photo(brand, change, link("image", "../media/a.svg", ""))
    types = (
        DeckFile(source)
        .entries[TYPES]
        .replace(
            b"<Default ", b'<Default Extension="svg" ContentType="image/svg+xml"/><Default ', 1
        )
    )
    parts = {TYPES: types, "ppt/media/a.svg": drawing}
    source = as_strict(rewritten(source, source.with_name("svg.pptx"), parts))
    copied(source, made, ("image:slide:0/Photo", None), into=plain)

    (part,) = [name for name in DeckFile(made).entries if name.endswith(".svg")]
    assert DeckFile(made).entries[part] == drawing


def test_a_picture_whose_name_has_a_slash(brand: Path, plain: Path, made: Path) -> None:
    """It is found by the name that is listed, on slides and on layouts with such names."""
    deck = opened(with_photo(brand, {'name="Photo"': 'name="A/B"'}))
    deck.slide_layouts[0].name = "Open/Close"
    (logo,) = [each for each in deck.slide_layouts[0].shapes if each.name == "Logo"]
    logo._element.nvPicPr.cNvPr.set("name", "x/y/")
    deck.save(str(brand))
    listed = [each["asset_id"] for each in styles_of(brand)["assets"]]
    asked = ("image:slide:0/A/B", "image:layout:Open/Close/x/y/")
    assert set(asked) <= set(listed)
    copied(brand, made, *((each, None) for each in asked), into=plain)

    names = [shape.name for shape in opened(made).slides[0].shapes]
    assert names[-2:] == ["A/B", "x/y/"]


def test_a_picture_names_so_many_parts_and_no_more(brand: Path, plain: Path, made: Path) -> None:
    """The limit holds to the one, and naming a part again counts nothing."""
    main = "http://schemas.microsoft.com/office/drawing/2016/SVG/main"

    def source(*named: int) -> Path:
        marks = "".join(f'<s:svgBlip r:embed="n{i}"/>' for i in named)
        held = f'><a:extLst><a:ext xmlns:s="{main}" uri="x">{marks}</a:ext></a:extLst></a:blip>'
        links = (link("image", "../media/image1.png", "").replace("rId90", f"n{i}")
                 for i in set(named))  # fmt: skip
        return with_photo(brand, {"/><a:stretch>": f"{held}<a:stretch>"}, "".join(links))

    # One more is the picture's own.
    copied(source(*range(MAX_RELATIONS - 1), 0), made, ("image:slide:0/Photo", None), into=plain)
    with pytest.raises(ValidationFailed, match="too large to be copied"):
        copied(source(*range(MAX_RELATIONS)), made, ("image:slide:0/Photo", None), into=plain)
