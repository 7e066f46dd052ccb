"""Layouts, styles of text, themes and pictures in other decks, where nothing else changes."""

from pathlib import Path

import pptx
import pytest
from pptx.util import Emu, Inches, Pt

from deck_judge import DeckFile, tree_without
from kbd.errors import ValidationFailed
from kbd.formats import Source
from kbd_pptx import PptxFormat
from styled_decks import (
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

MASTER = "ppt/slideMasters/slideMaster1.xml"
DECK = "ppt/presentation.xml"
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


def test_a_layout_in_a_new_deck(brand: Path, made: Path) -> None:
    """A new deck has just the layout, with its master, theme and pictures, and its slides' size."""
    found = copied(brand, made, ("layout:Brand Opening", None))

    assert found.changed == ("layout Brand Opening with its master Brand",)
    deck = opened(made)
    (master,) = deck.slide_masters
    assert [layout.name for layout in master.slide_layouts] == ["Brand Opening"]
    assert (Inches(10), Inches(7.5)) == (deck.slide_width, deck.slide_height)
    slide = deck.slides.add_slide(master.slide_layouts[0])
    slide.shapes.title.text = "It works"
    (logo,) = [each for each in master.slide_layouts[0].shapes if each.name == "Logo"]
    assert picture("green", (60, 20)) == logo.image.blob
    told = styles_of(made)
    assert told["masters"][0]["theme"]["fonts"]["headings"] == "Georgia"
    ours, theirs = (each["layouts"][0] for each in (told, styles_of(brand)))
    assert theirs == ours


def test_a_layout_with_its_master_in_a_deck_of_another_theme(
    brand: Path, plain: Path, made: Path
) -> None:
    """The layout brings its master, without other layouts; all of the target stays as it was."""
    found = copied(brand, made, ("layout:Brand Opening", None), into=plain)

    assert found.warnings == ()
    first, second = opened(made).slide_masters
    told = PptxFormat().map(Source(made, made.name))
    assert [len(each["layouts"]) for each in told["masters"]] == [
        len(first.slide_layouts), len(second.slide_layouts),
    ]  # fmt: skip
    assert len(first.slide_layouts) == 11
    assert [layout.name for layout in second.slide_layouts] == ["Brand Opening"]
    changed, new = differing(plain, made)
    assert {TYPES, DECK, "ppt/_rels/presentation.xml.rels"} == changed
    assert {
        "ppt/slideMasters/slideMaster2.xml", "ppt/slideMasters/_rels/slideMaster2.xml.rels",
        "ppt/slideLayouts/slideLayout12.xml", "ppt/slideLayouts/_rels/slideLayout12.xml.rels",
        "ppt/theme/theme2.xml", "ppt/media/image1.png",
    } == new  # fmt: skip
    before, after = DeckFile(plain).root(DECK), DeckFile(made).root(DECK)
    masters = after.find(f"{P}sldMasterIdLst")
    assert masters is not None
    assert tree_without(before, []) == tree_without(after, [masters[1]])
    ids = every_id(made)
    assert len(ids) == len(set(ids)) == 14
    assert min(ids) >= 2147483648


def every_id(path: Path) -> list[int]:
    """Return the ids of the masters and layouts of a deck."""
    file = DeckFile(path)
    roots = [file.root(name) for name in file.entries if name.endswith(".xml")]
    names = (f"{P}sldMasterId", f"{P}sldLayoutId")
    return [int(each.get("id", "0")) for root in roots for each in root.iter(*names)]


def test_a_layout_goes_to_the_master_that_looks_like_its_own(
    brand: Path, plain: Path, made: Path, tmp_path: Path
) -> None:
    """A second layout joins the master that came with the first; the same one is not doubled."""
    twice, again = tmp_path / "twice.pptx", tmp_path / "again.pptx"
    copied(brand, made, ("layout:Brand Opening", None), into=plain)
    found = copied(brand, twice, ("layout:Title Only", None), into=made)

    assert found.changed == ("layout Title Only (2)",)
    assert "another layout Title Only" in found.warnings[0]
    _, second = opened(twice).slide_masters
    assert [each.name for each in second.slide_layouts] == ["Brand Opening", "Title Only (2)"]
    same = copied(brand, again, ("layout:title only", None), into=twice)
    assert same.changed == ("layout Title Only (2) is there already",)
    assert (set(), set()) == differing(twice, again)


def test_a_layout_goes_to_the_master_that_is_named(brand: Path, plain: Path, made: Path) -> None:
    """With a target the layout takes the looks of that master, and no other comes along."""
    found = copied(brand, made, ("layout:Brand Opening", "master:0"), into=plain)

    assert found.changed == ("layout Brand Opening",)
    (master,) = opened(made).slide_masters
    assert master.slide_layouts[11].name == "Brand Opening"
    changed, _ = differing(plain, made)
    assert {TYPES, MASTER, "ppt/slideMasters/_rels/slideMaster1.xml.rels"} == changed


def test_layouts_that_differ_in_blanks_and_case(brand: Path, plain: Path, made: Path) -> None:
    """The exact name wins; one that is written loosely is refused, with names that are not."""
    deck = opened(brand)
    names = ("Title Slide", "TitleSlide", "TITLESLIDE")
    for layout, name in zip(deck.slide_layouts, names, strict=False):
        layout.name = name
    deck.save(str(brand))
    found = copied(brand, made, *((f"layout:{each}", None) for each in names), into=plain)

    assert found.changed[1:] == ("layout TitleSlide", "layout TITLESLIDE (2)")
    with pytest.raises(ValidationFailed, match=r"write one of: Title Slide, TitleSlide$"):
        copied(brand, made.with_name("b.pptx"), ("layout:title slide", None), into=plain)


def test_pictures_and_texts_that_differ_in_blanks(brand: Path, plain: Path, made: Path) -> None:
    """The exact name wins over one that comes first."""
    deck = opened(brand)
    title, *_, first, second = deck.slides[0].shapes
    box = deck.slides[0].shapes.add_textbox(0, 0, Inches(1), Inches(1))
    for shape, name in zip((first, second, title, box), ("P 1", "P1", "T 1", "T1"), strict=True):
        shape.name = name
    box.text_frame.text = "small"
    box.text_frame.paragraphs[0].runs[0].font.size = Pt(7)
    deck.save(str(brand))
    picks = ("image:slide:0/P1", None), ("text_style:slide:0/T1", "slide:0/Title 1")
    copied(brand, made, *picks, into=plain)

    title, *_, copy = opened(made).slides[0].shapes
    assert (copy.name, copy.left.inches) == ("P1", 4)
    assert b'sz="700"' in DeckFile(made).entries["ppt/slides/slide1.xml"]


def test_a_layout_of_slides_of_another_size(brand: Path, made: Path, tmp_path: Path) -> None:
    """It keeps its measures, which is told."""
    deck = pptx.Presentation()
    deck.slide_width, deck.slide_height = Emu(12192000), Emu(6858000)
    wide = tmp_path / "wide.pptx"
    deck.save(str(wide))
    found = copied(brand, made, ("layout:Brand Opening", None), into=wide)

    assert "made for slides of 10 x 7.5 inches" in found.warnings[0]


def test_several_layouts_and_a_picture_in_a_new_deck(brand: Path, made: Path) -> None:
    """Whatever comes first, a slide that a picture needs is of a layout that came."""
    found = copied(
        brand, made, ("image:slide:0/Photo", None), ("layout:Blank", None), ("theme:Brand", None)
    )

    assert found.changed[0] == "slide:0: image:slide:0/Photo"
    (slide,) = opened(made).slides
    assert slide.slide_layout.name == "Blank"
    assert len(opened(made).slide_masters) == 1


def test_layouts_with_and_without_a_master_in_a_new_deck(brand: Path, made: Path) -> None:
    """In either order the one that brings its master comes first, so that there is a master:0."""
    picks = (("layout:Blank", "master:0"), ("layout:Brand Opening", None))
    for order in (picks, picks[::-1]):
        found = copied(brand, made, *order)

        (master,) = opened(made).slide_masters
        assert [each.name for each in master.slide_layouts] == ["Brand Opening", "Blank"]
        told = {"layout:Blank": "layout Blank", "layout:Brand Opening": "layout Brand Opening "
                "with its master Brand"}  # fmt: skip
        assert found.changed == tuple(told[asset_id] for asset_id, _ in order)
        made.unlink()


def test_a_theme(brand: Path, plain: Path, made: Path) -> None:
    """A theme changes colours and fonts of all that take them from it, and nothing else."""
    found = copied(brand, made, ("theme:Brand", None), into=plain)

    assert found.changed == ("master:0: theme Brand",)
    ours, theirs = styles_of(made)["masters"][0], styles_of(brand)["masters"][0]
    assert theirs["theme"] == ours["theme"]
    changed, new = differing(plain, made)
    rels = {"ppt/_rels/presentation.xml.rels", "ppt/slideMasters/_rels/slideMaster1.xml.rels"}
    assert {TYPES, *rels} == changed
    assert {"ppt/theme/theme2.xml"} == new
    assert "ppt/theme/theme1.xml" not in DeckFile(made).entries


def test_what_cannot_be_carried_is_refused(brand: Path, plain: Path, made: Path) -> None:
    """A layout with an embedded object is refused by name, and nothing is written."""
    rels = "ppt/slideLayouts/_rels/slideLayout1.xml.rels"
    links = DeckFile(brand).entries[rels].replace(
        b"</Relationships>",
        (link("oleObject", "../embeddings/a.bin", "") + "</Relationships>").encode(),
    )  # fmt: skip
    source = rewritten(
        brand, brand.with_name("ole.pptx"),
        {rels: links, "ppt/embeddings/a.bin": b"x"},
    )  # fmt: skip

    with pytest.raises(ValidationFailed, match=r"Brand Opening cannot be copied: .*oleObject"):
        copied(source, made, ("layout:Blank", None), ("layout:Brand Opening", None), into=plain)
    assert not made.exists()


REFUSED = {
    "layout:Brand Openin": "near it: layout:Brand Opening",
    "layout:Zzzzzzz": "there are: layout:Brand Opening",
    "image:slide:0/Photos": "near it: image:slide:0/Photo",
    "text_style:titel": "near it: text_style:title",
    "text_style:slide:0/Titel 1": "near it: slide:0/Title 1",
    "text_style:slide:7/Title 1": "no slide 7",
    "text_style:slide:0": "name a shape",
    "theme:Brandy": "near it: theme:Brand",
    "chart:Sales": "is no asset",
    "layout:": "is no asset",
}


@pytest.mark.parametrize("asset_id", REFUSED)
def test_what_is_not_there_is_refused(asset_id: str, brand: Path, plain: Path, made: Path) -> None:
    """The message names what comes nearest; nothing is written."""
    with pytest.raises(ValidationFailed) as refused:
        copied(brand, made, (asset_id, None), into=plain)

    assert REFUSED[asset_id] in refused.value.message
    assert not made.exists()


PLACES = {
    ("layout:Blank", "slide:0"): "goes to a master",
    ("layout:Blank", "master:3"): "no master 3",
    ("image:slide:0/Photo", "slide:5"): "no slide 5",
    ("image:slide:0/Photo", "master:0"): "goes onto a slide",
    ("text_style:title", "slide:0"): "name a shape",
    ("text_style:title", "slide:0/Nobody"): "has no shape with text",
    ("text_style:title", "master:0/heading"): "write one of master:0/title",
    ("theme:Brand", "slide:0"): "goes to a master",
    ("theme:Brand", "the first"): "is no place in a deck",
}


@pytest.mark.parametrize(("asset_id", "target"), PLACES)
def test_places_that_are_not_there_are_refused(
    asset_id: str, target: str, brand: Path, plain: Path, made: Path
) -> None:
    """The message says what a place is called; nothing is written."""
    with pytest.raises(ValidationFailed) as refused:
        copied(brand, made, (asset_id, target), into=plain)

    assert PLACES[asset_id, target] in refused.value.message
    assert not made.exists()


def test_the_copied_layout_takes_a_slide(brand: Path, plain: Path, made: Path) -> None:
    """An operation adds a slide by the name of the layout that came, and it is of that layout."""
    copied(brand, made, ("layout:Brand Opening", None), into=plain)
    format_ = PptxFormat()
    (kind,) = [each for each in format_.operations if each.__struct_config__.tag == "add_slide"]
    added = made.with_name("added.pptx")
    format_.apply(Source(made, "a.pptx"), (kind(layout="Brand Opening", title="Hello"),), added)

    slide = opened(added).slides[-1]
    assert (slide.slide_layout.name, slide.shapes.title.text) == ("Brand Opening", "Hello")
