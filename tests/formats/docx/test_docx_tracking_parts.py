"""Notes, sections, content controls and appended documents with their changes tracked."""

from pathlib import Path
from typing import Any

import docx
import pytest

from edited_documents import applied, text_of
from kbd.errors import ValidationFailed
from made_documents import W, body_of, edit, made, para, part_of
from settled_documents import TRACKED, content_of, tracked

PAGE = '<w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1440" w:right="1440" w:bottom="1440" '
SECTION = f'<w:sectPr>{PAGE}w:left="1440" w:header="1" w:footer="1" w:gutter="0"/></w:sectPr>'


def control(tag: str, content: str, kind: str = "<w:text/>") -> str:
    settings = f'<w:sdtPr><w:tag w:val="{tag}"/>{kind}</w:sdtPr>'
    return f"<w:sdt>{settings}<w:sdtContent>{content}</w:sdtContent></w:sdt>"


INLINE = control("price", "<w:r><w:t>12 EUR net</w:t></w:r>")
BLOCK = control("terms", para("Old terms") + para("apply"), "")
CITED = '<w:r><w:footnoteReference w:id="{}"/></w:r>'
BODY = (
    para("First of all")
    + f"<w:p><w:r><w:t>Second</w:t></w:r>{CITED.format(2)}</w:p>"
    + f"<w:p><w:r><w:t>It costs </w:t></w:r>{INLINE}</w:p>"
    + BLOCK
    + para("Last", '<w:jc w:val="center"/>')
    + SECTION
)
LINE = '<w:footnote w:type="separator" w:id="0"><w:p><w:r><w:separator/></w:r></w:p></w:footnote>'
NOTES = {"footnotes": f'{LINE}<w:footnote w:id="2">{para("a note")}</w:footnote>'}
MARGINS = {"left": 2, "top": 0.5}
EDITS: dict[str, list[dict[str, Any]]] = {
    "a footnote before another": [
        {"op": "add_footnote", "paragraph": 1, "text": "new\nof two", "search": "First"}
    ],
    "a footnote behind another": [{"op": "add_footnote", "paragraph": 3, "text": "new"}],
    "two footnotes": [
        {"op": "add_footnote", "paragraph": 2, "text": "one", "search": "Sec"},
        {"op": "add_footnote", "paragraph": 1, "text": "two"},
        {"op": "replace_text", "search": "First", "replace": "Before"},
    ],
    "a footnote where a note was deleted": [
        {"op": "delete_paragraphs", "from": 2},
        {"op": "add_footnote", "paragraph": 1, "text": "instead"},
    ],
    "the first endnote": [{"op": "add_endnote", "paragraph": 1, "text": "at the end"}],
    "pages": [{"op": "set_section", "orientation": "landscape", "margins": MARGINS, "columns": 2}],
    "a section": [{"op": "insert_section_break", "after": 1, "kind": "continuous"}],
    "a section set up": [
        {"op": "insert_section_break", "after": 2},
        {"op": "set_section", "section": 0, "columns": 3},
        {"op": "format_paragraphs", "from": 2, "alignment": "right"},
    ],
    "a section before the last paragraph": [{"op": "insert_section_break", "after": 5}],
    "a section with a new paragraph": [
        {"op": "insert_paragraph", "at": 2, "text": "new"},
        {"op": "insert_section_break", "after": 2},
    ],
    "a control in a line": [{"op": "set_content_control", "tag": "price", "text": "14 EUR net"}],
    "a control of blocks": [
        {"op": "set_content_control", "tag": "terms", "text": "New terms\napply\nto all"}
    ],
}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", EDITS)
def test_such_a_tracked_edit_is_the_plain_one_once_accepted(tmp_path: Path, name: str) -> None:
    """Accepting all gives what the operations make without tracking, rejecting what there was."""
    path = made(tmp_path / "a.docx", BODY, NOTES)
    edit(path, *EDITS[name], to=tmp_path / "plain.docx")
    edit(path, *tracked(*EDITS[name]), to=tmp_path / "tracked.docx")
    edit(path, *tracked(*EDITS[name]), to=tmp_path / "again.docx")
    edit(tmp_path / "tracked.docx", {"op": "accept_changes"}, to=tmp_path / "accepted.docx")
    edit(tmp_path / "tracked.docx", {"op": "reject_changes"}, to=tmp_path / "rejected.docx")
    edit(tmp_path / "plain.docx", {"op": "accept_changes"})

    assert content_of(tmp_path / "accepted.docx") == content_of(tmp_path / "plain.docx")
    assert content_of(tmp_path / "rejected.docx") == content_of(path)
    assert content_of(tmp_path / "tracked.docx") != content_of(tmp_path / "plain.docx")
    assert (tmp_path / "tracked.docx").read_bytes() == (tmp_path / "again.docx").read_bytes()
    assert docx.Document(str(tmp_path / "tracked.docx")).paragraphs


def test_a_new_note_is_an_insertion_with_its_text(tmp_path: Path) -> None:
    """The sign and the note's words are marked by the author; a rejected note leaves no words."""
    path = made(tmp_path / "a.docx", BODY, NOTES)
    note = {"op": "add_footnote", "paragraph": 1, "text": "confidential"}
    edit(path, *tracked(note), to=tmp_path / "t.docx")
    root = part_of(tmp_path / "t.docx", "word/footnotes.xml")
    marks = [*body_of(tmp_path / "t.docx").iter(f"{W}ins"), *root.iter(f"{W}ins")]

    assert {each.get(f"{W}author") for each in marks} == {TRACKED["author"]}
    assert len({each.get(f"{W}id") for each in marks}) == len(marks)
    assert not list(body_of(tmp_path / "t.docx").iter(f"{W}del"))
    edit(tmp_path / "t.docx", {"op": "reject_changes"})
    assert b"confidential" not in (tmp_path / "out.docx").read_bytes()
    assert "confidential" not in text_of(tmp_path / "out.docx")


def test_a_header_is_not_set_with_marks(tmp_path: Path) -> None:
    """Which header a section shows has no mark: the operation is refused, and says what to do."""
    path = made(tmp_path / "a.docx", BODY, NOTES)

    with pytest.raises(ValidationFailed, match="has no mark of a change: set it without"):
        edit(path, *tracked({"op": "set_section", "header": "Draft"}))


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        ("<w:date/>", {"text": "2026-05-31"}),
        ('<w:text/><w:dataBinding w:xpath="/a" w:storeItemID="{1}"/>', {"text": "x"}),
    ],
)
def test_what_a_control_keeps_beside_its_text_is_not_set_with_marks(
    tmp_path: Path, kind: str, given: dict[str, Any]
) -> None:
    """A date or data behind a control would stay when the change is rejected: it is refused."""
    path = made(tmp_path / "a.docx", control("d", para("x"), kind) + para(""))

    with pytest.raises(ValidationFailed, match="fill it in without track_changes"):
        edit(path, *tracked({"op": "set_content_control", "tag": "d", **given}))


def _other(tmp_path: Path) -> Path:
    out = tmp_path / "other.docx"
    found: list[dict[str, Any]] = [
        {"op": "append_paragraph", "text": "Other", "style": "Heading 1"},
        {"op": "append_paragraph", "text": "Its own words", "alignment": "right"},
        {"op": "add_footnote", "paragraph": 2, "text": "its note", "search": "own"},
        {"op": "add_bookmark", "paragraph": 1, "name": "here"},
        {"op": "add_table", "rows": [["a", "b"]]},
        {"op": "append_paragraph", "text": "end"},
    ]
    applied(None, out, *found)
    return out


@pytest.mark.parametrize("notes", [NOTES, {}])
@pytest.mark.parametrize("new_page", [False, True])
def test_an_appended_document_is_an_insertion(
    tmp_path: Path, notes: dict[str, str], *, new_page: bool
) -> None:
    """All of its paragraphs, tables and notes come with the change, and go with it."""
    path = made(tmp_path / "a.docx", BODY if notes else para("x"), notes)
    operation = {"op": "append_document", "file": "other", "new_page": new_page}
    other = _other(tmp_path)
    applied(path, tmp_path / "plain.docx", operation, other=other)
    applied(path, tmp_path / "t.docx", *tracked(operation), other=other)
    edit(tmp_path / "t.docx", {"op": "accept_changes"})
    assert content_of(tmp_path / "out.docx") == content_of(tmp_path / "plain.docx")

    edit(tmp_path / "t.docx", {"op": "reject_changes"})
    assert content_of(tmp_path / "out.docx") == content_of(path)
    assert "its note" not in text_of(tmp_path / "out.docx")


def test_a_document_with_changes_of_its_own_is_not_appended_as_one(tmp_path: Path) -> None:
    """A change in a change could not be rejected apart: the answer says what to do first."""
    path, other = made(tmp_path / "a.docx", para("x")), made(tmp_path / "b.docx", para("y"))
    edit(other, *tracked({"op": "append_paragraph", "text": "z"}), to=tmp_path / "t.docx")

    with pytest.raises(ValidationFailed, match="has tracked changes of its own"):
        applied(path, tmp_path / "out.docx", *tracked({"op": "append_document", "file": "other"}),
                other=tmp_path / "t.docx")  # fmt: skip


@pytest.mark.parametrize(
    ("operation", "deleted", "inserted"),
    [
        ({"op": "add_footnote", "paragraph": 1, "text": "n", "search": "First"}, [], []),
        ({"op": "add_field", "paragraph": 1, "field": "PAGE", "search": "of"}, [], ["1"]),
        ({"op": "add_hyperlink", "paragraph": 1, "search": "of", "address": "https://a.example"},
         ["of"], ["of"]),
        ({"op": "add_hyperlink", "paragraph": 1, "search": "all", "address": "https://a.example"},
         ["all"], ["all"]),
        ({"op": "add_hyperlink", "paragraph": 1, "search": "First", "address": "https://a.example"},
         ["First"], ["First"]),
    ],
)  # fmt: skip
def test_words_around_what_is_put_between_them_are_not_marked(
    tmp_path: Path, operation: dict[str, Any], deleted: list[str], inserted: list[str]
) -> None:
    """A run that is divided for a note or a link says what it said: its words count as left."""
    path = made(tmp_path / "a.docx", para("First of all"))
    edit(path, *tracked(operation))
    body = body_of(tmp_path / "out.docx")

    assert [each.text for each in body.iter(f"{W}delText")] == deleted
    shown = [each.text for mark in body.iter(f"{W}ins") for each in mark.iter(f"{W}t")]
    assert shown == inserted


def test_words_are_compared_where_a_run_was_divided_and_changed(tmp_path: Path) -> None:
    """Of a text that was replaced in part, with a note behind a word, only the part is marked."""
    path = made(tmp_path / "a.docx", para("The price is 1,200 EUR a month"))
    edit(
        path,
        *tracked(
            {"op": "replace_text", "search": "1,200", "replace": "1,350"},
            {"op": "add_footnote", "paragraph": 1, "text": "n", "search": "EUR"},
            {"op": "replace_text", "search": "month", "replace": "year"},
        ),
        to=tmp_path / "t.docx",
    )
    body = body_of(tmp_path / "t.docx")

    assert [each.text for each in body.iter(f"{W}delText")] == ["1,200", "month"]
    shown = [each.text for mark in body.iter(f"{W}ins") for each in mark.iter(f"{W}t")]
    assert shown == ["1,350", "year"]
    edit(tmp_path / "t.docx", {"op": "reject_changes"})
    assert content_of(tmp_path / "out.docx") == content_of(path)
