"""New slides: the layout that a label means, and where texts go on it."""

from pathlib import Path
from typing import Any

import pptx
import pytest

from deck_edits import edit, make, slides, talk_deck, texts
from kbd.errors import ValidationFailed


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Where edits go."""
    return tmp_path / "out.pptx"


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A formatted title and body, two contents, a text box."""
    return talk_deck(tmp_path / "talk.pptx")


def test_an_unknown_layout_is_an_error(out: Path) -> None:
    """A label that no layout has is refused with those that there are (item 130)."""
    with pytest.raises(ValidationFailed, match=r"no layout 'fancy_grid'; .*there are: \"Title Sl"):
        make(out, {"op": "add_slide", "layout": "fancy_grid", "title": "T"})

    assert not out.exists()


def test_a_near_layout_is_named(out: Path) -> None:
    """A misspelt layout is told with the one that it may have meant."""
    with pytest.raises(ValidationFailed, match='near it: "Comparison"; there are: '):
        make(out, {"op": "add_slide", "layout": "Comparisson", "title": "T"})


def test_a_kind_that_a_deck_lacks_is_an_error_and_the_default_is_not(talk: Path, out: Path) -> None:
    """Only where an operation names no layout the nearest one is taken, with a warning."""
    deck: Any = pptx.Presentation(str(talk))
    for layout in list(deck.slide_layouts)[::-1]:
        if layout.element.get("type") != "titleOnly" and not layout.used_by_slides:
            deck.slide_layouts.remove(layout)
    for layout in deck.slide_layouts:
        if layout.element.get("type") != "titleOnly":
            layout.element.set("type", "chart")
            layout.name = f"Own {layout.name}"
    deck.save(str(talk))

    with pytest.raises(ValidationFailed, match="no layout for section_header; there are: "):
        edit(talk, {"op": "add_slide", "layout": "section_header"}, to=out)
    applied = edit(talk, {"op": "add_slide", "title": "T"}, to=out)

    assert applied.warnings == (
        'The deck has no layout for title_and_content; "Title Only" was taken.',
    )


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("title_slide", "Title Slide"), ("title_and_content", "Title and Content"),
        ("section_header", "Section Header"), ("title_only", "Title Only"), ("blank", "Blank"),
        ("two_content", "Two Content"), ("picture WITH caption", "Picture with Caption"),
        ("TitleSlide", "Title Slide"),
    ],
)  # fmt: skip
def test_labels_find_their_layouts(label: str, name: str, out: Path) -> None:
    """The six labels and every name of the deck, case and blanks ignored, without a warning."""
    applied = make(out, {"op": "add_slide", "layout": label})

    assert applied.warnings == ()
    assert slides(out)[0].slide_layout.name == name


def test_labels_find_layouts_of_any_language(talk: Path, out: Path) -> None:
    """In a deck with German names layouts are found by type, and without one by their room."""
    deck: Any = pptx.Presentation(str(talk))
    for layout, name in zip(deck.slide_layouts, ("Titelfolie", "Titel und Inhalt"), strict=False):
        layout.name = name
    for layout in deck.slide_layouts:
        if layout.element.get("type") in {"obj", "twoObj", "blank"}:
            del layout.element.attrib["type"]
            layout.name = f"Eigenes {layout.name}"
    deck.save(str(talk))
    labels = ("title_slide", "title_and_content", "two_content", "blank")
    applied = edit(talk, *({"op": "add_slide", "layout": label} for label in labels), to=out)

    found = [slide.slide_layout.name for slide in slides(out)[3:]]
    assert found == ["Titelfolie", "Eigenes Titel und Inhalt", "Eigenes Two Content",
                     "Eigenes Blank"]  # fmt: skip
    assert applied.warnings == ()


def test_a_layouts_name_counts_before_its_kind(talk: Path, out: Path) -> None:
    """Where a layout is named as asked, it is taken, whatever its type says."""
    deck: Any = pptx.Presentation(str(talk))
    deck.slide_layouts[1].name = "Standard"
    deck.slide_layouts[5].name = "title AND content"
    deck.save(str(talk))
    edit(talk, {"op": "add_slide", "layout": "title_and_content", "title": "T"}, to=out)

    assert slides(out)[-1].slide_layout.name == "title AND content"


def test_a_body_never_overwrites_a_title(out: Path) -> None:
    """On title_only a body goes into a text box below the title, and the warnings say so."""
    applied = make(
        out, {"op": "add_slide", "layout": "title_only", "title": "Title", "body": "one\ntwo"}
    )

    title, box = slides(out)[0].shapes
    assert (title.text_frame.text, box.text_frame.text) == ("Title", "one\ntwo")
    layout = slides(out)[0].slide_layout.placeholders[0]
    assert box.top >= layout.top + layout.height
    assert "text box" in applied.warnings[0]
    after = out.with_name("after.pptx")
    again = edit(out, {"op": "set_slide_text", "index": 0, "body": "three"}, to=after)
    assert (texts(after), again.warnings) == ([["Title", "three"]], ())


def test_two_contents_are_parted_by_an_empty_line(out: Path) -> None:
    """What stands before the empty line goes left, the rest right; without one all goes left."""
    make(
        out,
        {"op": "add_slide", "layout": "two_content", "title": "T", "body": "a\nb\n\nc\nd"},
        {"op": "add_slide", "layout": "two_content", "title": "T", "body": "a\nb"},
        {"op": "set_slide_text", "index": 1, "body": "left\n\nright"},
    )

    assert texts(out) == [["T", "a\nb", "c\nd"], ["T", "left", "right"]]
    left, right = slides(out)[0].placeholders[1], slides(out)[0].placeholders[2]
    assert left.left < right.left


def test_empty_placeholders_are_left_out_and_come_back(out: Path) -> None:
    """A slide shows no "Click to add text"; a later operation brings the place back."""
    make(out, {"op": "add_slide", "title": "T", "body": ""})
    after = out.with_name("after.pptx")
    edit(out, {"op": "append_bullets", "index": 0, "bullets": ["a", "b"]}, to=after)

    assert [len(slides(each)[0].placeholders) for each in (out, after)] == [1, 2]
    assert texts(after) == [["T", "a\nb"]]


def test_footers_come_along(talk: Path, out: Path) -> None:
    """A new slide shows the footer and number that the slide before it shows."""
    deck: Any = pptx.Presentation(str(talk))
    first = deck.slides[0]
    for place in deck.slide_layouts[1].placeholders:
        if place.placeholder_format.idx in {11, 12}:
            first.shapes.clone_placeholder(place)
    first.placeholders[11].text_frame.text = "Confidential"
    deck.save(str(talk))
    edit(talk, {"op": "add_slide", "title": "New", "index": 1}, to=out)

    assert texts(out)[1] == ["New", "Confidential", ""]


def test_slides_are_added_where_they_are_wanted(talk: Path, out: Path) -> None:
    """With an index a slide goes there, and the others move on."""
    edit(
        talk,
        {"op": "add_slide", "layout": "title_slide", "title": "First", "index": 0},
        {"op": "add_slide", "layout": "section_header", "title": "Middle", "index": 2},
        to=out,
    )

    titles = [each[0] for each in texts(out)]
    assert titles == ["First", "Old title", "Middle", "Two", "free text"]
