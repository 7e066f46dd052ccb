"""Styles of text in other decks: from masters and shapes, to masters and shapes."""

from pathlib import Path

import pytest
from lxml import etree

from deck_judge import DeckFile, tree_without
from styled_decks import (
    A,
    P,
    brand_deck,
    copied,
    courier_deck,
    differing,
    opened,
    plain_deck,
    rewritten,
    styles_of,
)

MASTER = "ppt/slideMasters/slideMaster1.xml"
BODY = "Content Placeholder 2"


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


def test_a_shape_s_text_style_on_another_shape(plain: Path, made: Path, tmp_path: Path) -> None:
    """Conformance 127: a text in Arial, 14 points, is in Courier New, 30 points, bold."""
    source = courier_deck(tmp_path / "courier.pptx")
    asset = f"text_style:slide:0/{BODY}"
    found = copied(source, made, (asset, f"slide:0/{BODY}"), into=plain)

    assert (f"slide:0/{BODY}: {asset}",) == found.changed
    assert (found.warnings, found.external) == ((), ())
    slide = opened(made).slides[0]
    (run,) = slide.placeholders[1].text_frame.paragraphs[0].runs
    assert (
        run.text, run.font.name, run.font.size.pt, run.font.bold,
    ) == ("Target text", "Courier New", 30, True)  # fmt: skip
    assert str(run.font.color.rgb) == "112233"
    assert slide.shapes.title.text == "Target"
    assert ({"ppt/slides/slide1.xml"}, set()) == differing(plain, made)


@pytest.mark.parametrize(
    ("asset", "target"),
    [
        ("text_style:slide:0/1", "slide:0/1"),
        ("text_style:slide:0/body", "slide:0/body"),
        (f"text_style:slide:0/{BODY.upper()}", None),
    ],
    ids=["by its place", "by its kind", "by its name"],
)
def test_a_shape_is_found(
    asset: str, target: str | None, plain: Path, made: Path, tmp_path: Path
) -> None:
    """A shape is named by its place from 0, by its kind, or by name; else its own place counts."""
    source = courier_deck(tmp_path / "courier.pptx")

    found = copied(source, made, (asset, target), into=plain)

    assert found.changed[0].startswith(f"slide:0/{BODY}: ")
    run = opened(made).slides[0].placeholders[1].text_frame.paragraphs[0].runs[0]
    assert run.font.name == "Courier New"


def courier_master(path: Path) -> Path:
    """Write a deck whose master says Courier New for bodies."""
    root = DeckFile(path).root(MASTER)
    for letters in root.iterfind(f".//{P}bodyStyle/*/{A}defRPr/{A}latin"):
        letters.set("typeface", "Courier New")
    return rewritten(path, path.with_name("master.pptx"), {MASTER: etree.tostring(root)})


def test_a_master_s_text_style_on_another_master(brand: Path, plain: Path, made: Path) -> None:
    """Conformance 127 by masters: the body style of the target is the source's, and no other."""
    source = courier_master(brand)
    found = copied(source, made, ("text_style:body", None), into=plain)

    assert found.changed == ("master:0/body: text_style:body",)
    ours, theirs, was = (styles_of(each)["text_styles"] for each in (made, source, plain))
    assert [
        [level["font_name"] for level in each["levels"]] for each in ours if each["kind"] == "body"
    ] == [9 * ["Courier New"]]
    assert theirs[1]["levels"][3]["indent_left"] == ours[1]["levels"][3]["indent_left"]
    assert (was[0], was[2]) == (ours[0], ours[2])
    assert ({MASTER}, set()) == differing(plain, made)
    before, after = DeckFile(plain).root(MASTER), DeckFile(made).root(MASTER)
    styles = [each.find(f"{P}txStyles/{P}bodyStyle") for each in (before, after)]
    assert None not in styles
    assert tree_without(before, [styles[0]]) == tree_without(after, [styles[1]])  # type: ignore[list-item]


def test_themes_that_differ_are_made_plain(brand: Path, plain: Path, made: Path) -> None:
    """What the target's theme would change is written out; what it has alike stays the theme's."""
    copied(brand, made, ("text_style:title", "master:0"), into=plain)

    letters = DeckFile(made).root(MASTER).find(f".//{P}titleStyle/{A}lvl1pPr/{A}defRPr")
    assert letters is not None
    assert letters.find(f"{A}solidFill/{A}srgbClr").get("val") == "00A651"  # type: ignore[union-attr]
    assert letters.find(f"{A}latin").get("typeface") == "Georgia"  # type: ignore[union-attr]
    assert letters.get("cap") == "all"
    copied(brand, made.with_name("again.pptx"), ("text_style:title", "master:0"), into=brand)
    same = DeckFile(made.with_name("again.pptx")).root(MASTER)
    kept = same.find(f".//{P}titleStyle/{A}lvl1pPr/{A}defRPr/{A}solidFill/{A}schemeClr")
    assert kept is not None
    assert kept.get("val") == "accent2"


def test_a_placeholder_that_says_otherwise_gives_way(brand: Path, plain: Path, made: Path) -> None:
    """Some programs write styles into the master's placeholders: these count, and are replaced."""
    root = DeckFile(plain).root(MASTER)
    (title,) = [
        shape
        for shape in root.iterfind(f".//{P}sp")
        if shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph").get("type") == "title"  # type: ignore[union-attr]
    ]
    said = title.find(f"{P}txBody/{A}lstStyle")
    assert said is not None
    level = etree.SubElement(said, f"{A}lvl1pPr", algn="r")
    etree.SubElement(
        etree.SubElement(level, f"{A}defRPr", sz="900"), f"{A}latin", typeface="Impact"
    )
    odd = rewritten(plain, plain.with_name("odd.pptx"), {MASTER: etree.tostring(root)})

    assert styles_of(odd)["text_styles"][0]["levels"][0]["font_name"] == "Impact"
    copied(odd, made, ("text_style:title", None), into=brand)
    assert styles_of(made)["text_styles"][0]["levels"][0]["font_name"] == "Impact"
    copied(brand, made.with_name("back.pptx"), ("text_style:title", None), into=odd)
    back = styles_of(made.with_name("back.pptx"))["text_styles"][0]["levels"][0]
    assert (
        back["font_name"], back["font_size"], back["alignment"],
    ) == ("Georgia", 44.0, "center")  # fmt: skip


def test_from_a_shape_to_a_master_and_back(plain: Path, made: Path, tmp_path: Path) -> None:
    """Letters and lines go; the master keeps its bullets. Layouts that differ are told."""
    source = courier_deck(tmp_path / "courier.pptx")
    found = copied(source, made, (f"text_style:slide:0/{BODY}", "master:0/body"), into=plain)

    (body,) = [each for each in styles_of(made)["text_styles"] if each["kind"] == "body"]
    assert [
        (each["font_name"], each["font_size"], each["bold"]) for each in body["levels"]
    ] == 9 * [("Courier New", 30.0, True)]
    assert (body["levels"][0]["bullet"], body["levels"][0]["indent_left"]) == ("•", 0.375)
    assert "Two Content" in found.warnings[0]
    back = tmp_path / "back.pptx"
    copied(made, back, ("text_style:body", f"slide:0/{BODY}"), into=plain)
    run = opened(back).slides[0].placeholders[1].text_frame.paragraphs[0].runs[0]
    assert (run.font.name, run.font.size.pt) == ("Courier New", 30)


def test_letters_of_the_colour_of_their_ground(brand: Path, plain: Path, made: Path) -> None:
    """White letters come as they are, and are told where the background is white."""
    root = DeckFile(brand).root(MASTER)
    for colour in root.iterfind(f".//{P}titleStyle/*/{A}defRPr/{A}solidFill/{A}schemeClr"):
        colour.set("val", "bg1")
    white = rewritten(brand, brand.with_name("white.pptx"), {MASTER: etree.tostring(root)})

    found = copied(white, made, ("text_style:title", None), into=plain)
    again = copied(brand, made.with_name("again.pptx"), ("text_style:title", None), into=plain)

    assert "letters are FFFFFF" in found.warnings[0]
    assert not any("letters" in each for each in again.warnings)
    shaped = made.with_name("shaped.pptx")
    found = copied(white, shaped, ("text_style:title", "slide:0/title"), into=plain)
    assert "letters are FFFFFF" in found.warnings[0]


def test_text_that_is_still_to_come(plain: Path, made: Path, tmp_path: Path) -> None:
    """An empty shape takes the style on too: what is written into it later has it."""
    deck = opened(plain)
    deck.slides.add_slide(deck.slide_layouts[1])
    deck.save(str(plain))
    copied(
        courier_deck(tmp_path / "courier.pptx"), made,
        (f"text_style:slide:0/{BODY}", f"slide:1/{BODY}"), into=plain,
    )  # fmt: skip

    text = opened(made).slides[1].placeholders[1]._element.txBody
    letters = text.find(f"{A}lstStyle/{A}lvl1pPr/{A}defRPr")
    assert (letters.get("sz"), letters.find(f"{A}latin").get("typeface")) == ("3000", "Courier New")


def test_links_in_text_stay(plain: Path, made: Path, tmp_path: Path) -> None:
    """How letters look is replaced; where they lead to and their language stay."""
    deck = opened(plain)
    run = deck.slides[0].placeholders[1].text_frame.paragraphs[0].runs[0]
    run.hyperlink.address = "https://example.com/"
    run.font.language_id = None
    run._r.rPr.set("lang", "de-DE")
    deck.save(str(plain))
    found = copied(
        courier_deck(tmp_path / "courier.pptx"), made, (f"text_style:slide:0/{BODY}", None),
        into=plain,
    )  # fmt: skip

    run = opened(made).slides[0].placeholders[1].text_frame.paragraphs[0].runs[0]
    assert (run.hyperlink.address, run.font.name) == ("https://example.com/", "Courier New")
    assert run._r.rPr.get("lang") == "de-DE"
    assert found.external == ()
