"""Pictures, links, notes, bookmarks and fields put into paragraphs."""

import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest

from edited_documents import applied, differences, mapped, picture, relocated, text_of
from kbd.errors import ValidationFailed
from made_documents import W, body_of, edit, made, para, part_of

PICTURE = {"op": "add_image", "image": "picture"}


def two(path: Path) -> Path:
    return made(path, para("See the plan, it is long.") + para("More."))


def test_a_picture_keeps_its_ratio_and_says_what_it_shows(tmp_path: Path) -> None:
    """With one side the other follows; it is a paragraph, with a numbered caption below."""
    path, out = two(tmp_path / "a.docx"), tmp_path / "out.docx"
    shown = PICTURE | {"after": 1, "width": 1.5, "alt_text": "a box", "caption": "Boxes"}
    applied(path, out, shown, picture=picture(tmp_path / "p.png"))

    (image,) = mapped(out)["images"]
    assert (image["width"], image["height"], image["alt_text"]) == (1.5, 0.5, "a box")
    assert text_of(out).splitlines() == [
        "See the plan, it is long.", "[image: a box]", "Figure 1: Boxes", "More.",
    ]  # fmt: skip
    assert docx.Document(str(out)).inline_shapes[0].width.inches == 1.5
    assert ("added", "picture") in differences(path, out)


def test_one_picture_is_stored_once_in_an_edit(tmp_path: Path) -> None:
    """Without a size it is as large as it says, no wider than the text."""
    out = tmp_path / "out.docx"
    wide = picture(tmp_path / "p.png", (3000, 100))
    applied(two(tmp_path / "a.docx"), out, PICTURE, PICTURE | {"paragraph": 1}, picture=wide)

    names = [name for name in zipfile.ZipFile(out).namelist() if "media" in name]
    assert names == ["word/media/image1.png"]
    assert all(each["width"] < 7 for each in mapped(out)["images"])


def test_what_is_no_picture_is_refused(tmp_path: Path) -> None:
    """By its bytes, whatever its name says."""
    (tmp_path / "p.png").write_text("<svg/>")
    with pytest.raises(ValidationFailed, match="no picture that can be put in"):
        applied(
            two(tmp_path / "a.docx"), tmp_path / "out.docx", PICTURE, picture=tmp_path / "p.png"
        )


def test_words_become_a_link_and_the_address_is_told(tmp_path: Path) -> None:
    """The words stay, the style is added, and the new address is among the external ones."""
    path, out = two(tmp_path / "a.docx"), tmp_path / "out.docx"
    link = {"op": "add_hyperlink", "paragraph": 1, "search": "the plan"}
    found = edit(path, link | {"address": "https://example.org/a?b=1&c=2"})

    assert found.external == ("https://example.org/a?b=1&c=2",)
    assert text_of(out).startswith("See the plan <https://example.org/a?b=1&c=2>, it is long.")
    assert differences(path, out) == [
        ("changed", "format"), ("added", "link"), ("added", "style"),
    ]  # fmt: skip
    with pytest.raises(ValidationFailed, match="in a link already"):
        edit(out, link | {"address": "https://other.example"}, to=tmp_path / "b.docx")


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"search": "the plan", "address": "example"}, "'example' is no address"),
        ({"search": "the plan", "address": "javascript:alert(1)"}, "would run something"),
        ({"search": "the plan", "bookmark": "plans"}, "no bookmark 'plans'; is it plan?"),
        ({"search": "the plan"}, "an address or to a bookmark"),
        ({"search": "x", "text": "y", "bookmark": "plan"}, "words that are there"),
    ],
)
def test_links_that_lead_nowhere_are_refused(
    tmp_path: Path, given: dict[str, Any], message: str
) -> None:
    """The error names what is there."""
    mark = {"op": "add_bookmark", "paragraph": 2, "name": "plan"}
    with pytest.raises(ValidationFailed, match=message):
        edit(two(tmp_path / "a.docx"), mark, {"op": "add_hyperlink", "paragraph": 1, **given})


@pytest.mark.parametrize("kind", ["footnote", "endnote"])
def test_notes_have_their_parts_with_lines_and_settings(tmp_path: Path, kind: str) -> None:
    """A document without notes gets all that they need; the second note joins the first."""
    path, out = two(tmp_path / "a.docx"), tmp_path / "out.docx"
    note = {"op": f"add_{kind}", "paragraph": 1, "search": "plan", "text": "the note\nmore"}
    edit(path, note, {"op": f"add_{kind}", "paragraph": 2, "text": "second"},
         {"op": "replace_text", "search": "the note", "replace": "its note"})  # fmt: skip

    root = part_of(out, f"word/{kind}s.xml")
    assert [each.get(f"{W}type") for each in root] == [
        "separator", "continuationSeparator", None, None,
    ]  # fmt: skip
    named = part_of(out, "word/settings.xml").find(f"{W}{kind}Pr")
    assert named is not None
    assert len(named) == 2
    mark = "[^1]" if kind == "footnote" else "[^e1]"
    assert f"See the plan{mark}, it is long." in text_of(out)
    assert f"{mark}: its note\nmore" in text_of(out)
    assert mapped(out)[f"{kind}_count"] == 2
    assert [each for each in differences(path, out) if each[1] == "note"] == [("added", "note")] * 2


def test_bookmarks_and_fields_that_name_them(tmp_path: Path) -> None:
    """REF shows the words of its bookmark; what programs compute is marked as dirty."""
    path, out = two(tmp_path / "a.docx"), tmp_path / "out.docx"
    mark = {"op": "add_bookmark", "paragraph": 1, "name": "plan", "search": "the plan"}
    edit(path, mark, {"op": "add_field", "paragraph": 2, "field": "REF", "bookmark": "plan"},
         {"op": "add_field", "paragraph": 2, "field": "PAGE"})  # fmt: skip

    assert "More.the plan1" in text_of(out)
    begins = [each for each in body_of(out).iter(f"{W}fldChar")
              if each.get(f"{W}fldCharType") == "begin"]  # fmt: skip
    assert [each.get(f"{W}dirty") for each in begins] == ["true", None]
    assert ("added", "bookmark") in differences(path, out)
    assert differences(path, out).count(("added", "field")) == 2
    for bad, message in (
        ({"name": "1st"}, "cannot be the name of a bookmark"),
        ({"name": "PLAN"}, "there is a bookmark 'PLAN' already"),
    ):
        with pytest.raises(ValidationFailed, match=message):
            edit(out, mark | bad, to=tmp_path / "b.docx")


def test_notes_lie_in_the_order_of_citing(tmp_path: Path) -> None:
    """Some programs read notes by their places and not by their ids."""
    path, out = two(tmp_path / "a.docx"), tmp_path / "out.docx"
    edit(path, {"op": "add_footnote", "paragraph": 2, "text": "second"},
         {"op": "add_footnote", "paragraph": 1, "text": "first"})  # fmt: skip

    root = part_of(out, "word/footnotes.xml")
    assert [each.text for each in root.iter(f"{W}t")] == [" first", " second"]
    assert [each.get(f"{W}id") for each in root] == ["-1", "0", "1", "2"]
    assert "long.[^1]\nMore.[^2]\n[^1]: first\n[^2]: second" in text_of(out)


CARRIED: list[tuple[dict[str, Any], str]] = [
    ({"op": "add_footnote", "paragraph": 2, "text": "n"}, "paragraph"),
    ({"op": "add_endnote", "paragraph": 2, "text": "n"}, "paragraph"),
    ({"op": "add_bookmark", "paragraph": 2, "name": "n"}, "paragraph"),
    ({"op": "add_field", "paragraph": 2, "field": "PAGE"}, "paragraph"),
    ({"op": "add_field", "paragraph": 2, "field": "TOC"}, "paragraph"),
    ({"op": "add_hyperlink", "paragraph": 2, "text": "n", "bookmark": "m"}, "paragraph"),
    (PICTURE | {"paragraph": 2}, "paragraph"),
    (PICTURE | {"after": 2}, "after"),
    ({"op": "insert_section_break", "after": 2}, "after"),
]


@pytest.mark.parametrize(("operation", "field"), CARRIED)
def test_numbers_are_carried_over_to_shifted_paragraphs(
    tmp_path: Path, operation: dict[str, Any], field: str
) -> None:
    """A paragraph put in before shifts the number; where the paragraph went nothing is carried."""
    path = made(tmp_path / "a.docx", para("one here") + para("two there") + para("three"))
    shifted, gone = tmp_path / "b.docx", tmp_path / "c.docx"
    edit(path, {"op": "insert_paragraph", "at": 1, "text": "zero"}, to=shifted)
    edit(path, {"op": "delete_paragraphs", "from": 2}, to=gone)

    assert relocated(operation, path, shifted).operations[0][field] == 3
    assert "paragraph 2 is not there any more" in relocated(operation, path, gone).reason


def test_a_table_of_contents_has_the_headings_and_is_updated(tmp_path: Path) -> None:
    """An entry a heading down to the level, and a setting by which programs update it."""
    out = tmp_path / "out.docx"
    headings = [("Heading 1", "One"), ("Heading 2", "Two"), ("Heading 3", "Three")]
    made_ = [{"op": "append_paragraph", "style": style, "text": text} for style, text in headings]
    toc = {"op": "add_field", "paragraph": 1, "field": "TOC", "levels": 2}
    found = applied(None, out, {"op": "append_paragraph", "text": "Title"}, *made_, toc)

    lines = [each.text for each in docx.Document(str(out)).paragraphs]
    assert lines == ["Title", "One", "Two", "One", "Two", "Three"]
    assert part_of(out, "word/settings.xml").find(f"{W}updateFields") is not None
    assert any("page numbers" in warning for warning in found.warnings)
    inside = applied(out, tmp_path / "b.docx", {"op": "insert_paragraph", "at": 3, "text": "x"})
    assert any("inside a field" in warning for warning in inside.warnings)
