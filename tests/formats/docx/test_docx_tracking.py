"""Changes that operations make, written as tracked changes, and settled again."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import docx
import pytest
from lxml import etree

from kbd.errors import ValidationFailed
from made_documents import W, at, body_of, edit, made, para, part_of, shown
from settled_documents import TRACKED, content_of, tracked


def table(*rows: tuple[str, ...]) -> str:
    """Return a table of texts, as wide as its first row."""
    grid = '<w:gridCol w:w="1000"/>' * len(rows[0])
    lines = (
        "<w:tr>" + "".join(f"<w:tc><w:tcPr/>{para(text)}</w:tc>" for text in row) + "</w:tr>"
        for row in rows
    )
    return f"<w:tbl><w:tblPr/><w:tblGrid>{grid}</w:tblGrid>{''.join(lines)}</w:tbl>"


def run(text: str, properties: str = "") -> str:
    look = f"<w:rPr>{properties}</w:rPr>" if properties else ""
    return f'<w:r>{look}<w:t xml:space="preserve">{text}</w:t></w:r>'


BODY = (
    f"<w:p>{run('The old ', '<w:b/>')}{run('house of Mr. Miller')}</w:p>"
    + para("Second")
    + para("Third", '<w:jc w:val="center"/>')
    + table(("a", "b"), ("c", "d"))
    + para("Last", '<w:pStyle w:val="Quote"/>')
    + "<w:sectPr/>"
)
REPLACE = {"op": "replace_text", "search": "old house", "replace": "new home"}
EDITS: dict[str, list[dict[str, Any]]] = {
    "text over two runs": [REPLACE],
    "a paragraph put in": [{"op": "insert_paragraph", "at": 2, "text": "x", "alignment": "right"}],
    "one put in first": [{"op": "insert_paragraph", "at": 1, "text": "x"}],
    "one put behind all": [{"op": "append_paragraph", "text": "x", "indent_left": 1}],
    "several put behind all": [{"op": "append_paragraph", "text": text} for text in "xyz"],
    "one taken out": [{"op": "delete_paragraphs", "from": 2}],
    "the last taken out": [{"op": "delete_paragraphs", "from": 4}],
    "most taken out": [{"op": "delete_paragraphs", "from": 2, "count": 3}],
    "all taken out": [{"op": "delete_paragraphs", "from": 1, "count": 4}],
    "the body replaced": [{"op": "set_paragraphs", "paragraphs": [{"text": "x"}, {"text": "y"}]}],
    "a table put in": [{"op": "add_table", "rows": [["x", 1], ["y", 2]], "after": 1}],
    "a table put behind all": [{"op": "add_table", "rows": [["x"]]}],
    "a cell": [{"op": "set_table_cells", "table": 0, "cells": [{"row": 1, "col": 0, "text": 7}]}],
    "a link": [
        {"op": "add_hyperlink", "paragraph": 1, "search": "house", "address": "https://a.example"}
    ],
    "a field": [{"op": "add_field", "paragraph": 2, "field": "PAGE"}],
    "contents": [{"op": "add_field", "paragraph": 1, "field": "TOC"}],
    "looks": [
        {"op": "format_paragraphs", "from": 1, "count": 2, "bold": True, "alignment": "right"}
    ],
    "rows": [
        {"op": "insert_table_rows", "table": 0, "at": 1, "rows": [["e", "f"]]},
        {"op": "delete_table_rows", "table": 0, "from": 0},
    ],
    "a column put in": [{"op": "insert_table_columns", "table": 0, "at": 1, "columns": [["x"]]}],
    "a column taken out": [{"op": "delete_table_columns", "table": 0, "from": 0}],
    "cells merged": [
        {"op": "merge_table_cells", "table": 0, "row": 0, "col": 0, "to_row": 1, "to_col": 0}
    ],
    "looks of cells": [
        {"op": "format_table_cells", "table": 0, "col": 1, "bold": True, "shading": "#FFEE00"},
        {"op": "set_table", "table": 0, "header_rows": 1, "alignment": "center"},
    ],
    "a list": [{"op": "append_paragraph", "text": "x", "list": "bullet"}],
    "one after the other": [
        REPLACE,
        {"op": "delete_paragraphs", "from": 2},
        {"op": "insert_paragraph", "at": 2, "text": "instead"},
        {"op": "replace_text", "search": "instead", "replace": "in its place"},
        {"op": "append_paragraph", "text": "end"},
    ],
}


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", EDITS)
def test_a_tracked_edit_is_the_plain_one_once_accepted(tmp_path: Path, name: str) -> None:
    """Accepting all gives what the operations make without tracking, rejecting what there was."""
    path = made(tmp_path / "a.docx", BODY)
    edit(path, *EDITS[name], to=tmp_path / "plain.docx")
    edit(path, *tracked(*EDITS[name]), to=tmp_path / "tracked.docx")
    edit(tmp_path / "tracked.docx", {"op": "accept_changes"}, to=tmp_path / "accepted.docx")
    edit(tmp_path / "tracked.docx", {"op": "reject_changes"}, to=tmp_path / "rejected.docx")

    assert content_of(tmp_path / "accepted.docx") == content_of(tmp_path / "plain.docx")
    assert content_of(tmp_path / "rejected.docx") == content_of(path)
    assert content_of(tmp_path / "tracked.docx") != content_of(tmp_path / "plain.docx")
    assert docx.Document(str(tmp_path / "tracked.docx")).paragraphs


@pytest.mark.sampled(7)
@pytest.mark.parametrize("name", EDITS)
def test_a_tracked_edit_is_the_same_each_time(tmp_path: Path, name: str) -> None:
    """The same operations on the same bytes give the same bytes, so that a run can be replayed."""
    path = made(tmp_path / "a.docx", BODY)
    for target in ("one.docx", "two.docx"):
        edit(path, *tracked(*EDITS[name]), to=tmp_path / target)

    assert (tmp_path / "one.docx").read_bytes() == (tmp_path / "two.docx").read_bytes()


def test_only_the_words_that_differ_are_marked(tmp_path: Path) -> None:
    """A replacement is a deletion and an insertion of its words, by the author, with a date."""
    path = made(tmp_path / "a.docx", para("The price is 12 EUR."))
    edit(path, *tracked({"op": "replace_text", "search": "12", "replace": "14"}))
    paragraph = at(body_of(tmp_path / "out.docx"), "p")

    assert [each.text for each in paragraph.iter(f"{W}delText")] == ["12"]
    assert [each.text for each in paragraph.iter(f"{W}t")] == ["The price is ", "14", " EUR."]
    for mark in (at(paragraph, "ins"), at(paragraph, "del")):
        assert mark.get(f"{W}author") == TRACKED["author"]
        assert mark.get(f"{W}date") == TRACKED["date"]


@pytest.mark.parametrize(
    ("text", "deleted", "inserted"),
    [
        ("Costs of 1,235.50 EUR", ["1,234.50"], ["1,235.50"]),
        ("Costs of 1,234.50 EUR", [], []),
        ("", ["Costs of 1,234.50 EUR"], []),
    ],
)
def test_a_text_that_is_set_anew_is_marked_by_its_words(
    tmp_path: Path, text: str, deleted: list[str], inserted: list[str]
) -> None:
    """Words of a cell that are as they were are not marked; of a figure the whole is."""
    path = made(tmp_path / "a.docx", table(("Costs of 1,234.50 EUR",)) + para(""))
    cells = [{"row": 0, "col": 0, "text": text}]
    edit(path, *tracked({"op": "set_table_cells", "table": 0, "cells": cells}))
    body = body_of(tmp_path / "out.docx")

    assert [each.text for each in body.iter(f"{W}delText")] == deleted
    assert [text for mark in body.iter(f"{W}ins") for text in shown_runs(mark)] == inserted


def test_a_change_that_names_nobody_is_of_kbd(tmp_path: Path) -> None:
    """`on` is enough: the author is kbd, and no date is made up."""
    path = made(tmp_path / "a.docx", para("one"))
    edit(path, {"op": "append_paragraph", "text": "two", "track_changes": "on"})
    mark = next(body_of(tmp_path / "out.docx").iter(f"{W}ins"))

    assert mark.get(f"{W}author") == "kbd"
    assert mark.get(f"{W}date") is None


@pytest.mark.parametrize("off", [False, "off", None])
def test_tracking_may_be_switched_off(tmp_path: Path, off: object) -> None:
    """An operation that says so is made directly."""
    path = made(tmp_path / "a.docx", para("one"))
    edit(path, {"op": "append_paragraph", "text": "two", "track_changes": off})

    assert not list(body_of(tmp_path / "out.docx").iter(f"{W}ins"))


@pytest.mark.parametrize("date", ["yesterday", "31.5.2026", "2026-13-31T09:00:00Z"])
def test_what_is_no_date_is_refused(tmp_path: Path, date: str) -> None:
    """A date that programs could not read is not written; the answer shows how one looks."""
    path = made(tmp_path / "a.docx", para("one"))

    with pytest.raises(ValidationFailed, match="no date in ISO form"):
        edit(path, {"op": "append_paragraph", "text": "x", "track_changes": {"date": date}})


def upper(word: str, author: str) -> dict[str, Any]:
    """Return the replacement of a word by itself in capitals, by an author."""
    by = {"author": author}
    return {"op": "replace_text", "search": word, "replace": word.upper(), "track_changes": by}


def test_each_author_has_marks_of_their_own(tmp_path: Path) -> None:
    """In one call, and over calls, changes are by who made them, and numbered apart."""
    path = made(tmp_path / "a.docx", para("one two three"))
    words = (("one", "Ann"), ("two", "Bob"))
    edit(path, *(upper(word, name) for word, name in words))
    edit(tmp_path / "out.docx", *tracked({"op": "append_paragraph", "text": "x"}),
         to=tmp_path / "more.docx")  # fmt: skip
    marks = [
        each for each in body_of(tmp_path / "more.docx").iter(f"{W}*") if each.get(f"{W}author")
    ]

    assert {each.get(f"{W}author") for each in marks} == {"Ann", "Bob", "Ann Other"}
    assert len({each.get(f"{W}id") for each in marks}) == len(marks)


def test_one_author_is_settled_and_others_stay(tmp_path: Path) -> None:
    """Accepting or rejecting the changes of one leaves those of another as they are."""
    path = made(tmp_path / "a.docx", para("one two"))
    for word, name in (("one", "Ann"), ("two", "Bob")):
        edit(path, upper(word, name), to=tmp_path / f"{name}.docx")
        path = tmp_path / f"{name}.docx"
    edit(path, {"op": "reject_changes", "author": "Ann"}, {"op": "accept_changes", "author": "Bob"})
    body = body_of(tmp_path / "out.docx")

    assert shown(body) == ["one TWO"]
    assert not [each for each in body.iter(f"{W}*") if each.get(f"{W}author")]


def test_changes_of_a_range_are_settled(tmp_path: Path) -> None:
    """Paragraphs by their numbers, with the tables between them, and nothing around them."""
    path = made(tmp_path / "a.docx", para("a x") + table(("b x",)) + para("c x") + para("d x"))
    edit(path, *tracked({"op": "replace_text", "search": "x", "replace": "y"}),
         to=tmp_path / "t.docx")  # fmt: skip
    applied = edit(tmp_path / "t.docx", {"op": "reject_changes", "from": 1, "count": 2})
    body = body_of(tmp_path / "out.docx")

    assert applied.changed == ("6 tracked changes: rejected",)
    assert shown(body) == ["a x", "b x", "c x", "d y"]
    assert len(list(body.iter(f"{W}ins"))) == 1


def test_an_author_who_is_not_there_is_named_with_those_who_are(tmp_path: Path) -> None:
    """A misspelt name is refused, with the near one."""
    path = made(tmp_path / "a.docx", para("one"))
    edit(path, *tracked({"op": "append_paragraph", "text": "x"}), to=tmp_path / "t.docx")

    with pytest.raises(ValidationFailed, match="nearest is 'Ann Other'"):
        edit(tmp_path / "t.docx", {"op": "accept_changes", "author": "Ann Othr"})
    with pytest.raises(ValidationFailed, match="no tracked changes"):
        edit(path, {"op": "accept_changes", "author": "Ann"})


def shown_runs(mark: etree._Element) -> list[str]:
    return [each.text or "" for each in mark.iter(f"{W}t")]


INSERTED = '<w:ins w:id="7" w:author="Bob"><w:r><w:t>one two three</w:t></w:r></w:ins>'


@pytest.mark.parametrize(
    ("operation", "rejected", "accepted"),
    [
        ({"op": "replace_text", "search": "two", "replace": "2"}, "one two three", "one 2 three"),
        ({"op": "replace_text", "search": "two ", "replace": ""}, "one two three", "one three"),
        ({"op": "delete_paragraphs", "from": 1}, "one two three", None),
    ],
)
def test_what_another_has_inserted_stays_theirs(
    tmp_path: Path, operation: Mapping[str, Any], rejected: str, accepted: str | None
) -> None:
    """A change in another author's insertion can be rejected alone, and leaves it an insertion."""
    path = made(tmp_path / "a.docx", f"<w:p>{INSERTED}</w:p>{para('end')}")
    edit(path, *tracked(operation), to=tmp_path / "t.docx")
    edit(tmp_path / "t.docx", {"op": "reject_changes", "author": "Ann Other"})
    body = body_of(tmp_path / "out.docx")

    assert shown(body)[0] == rejected
    theirs = [text for mark in body.iter(f"{W}ins") for text in shown_runs(mark)]
    assert "".join(theirs) == rejected
    edit(tmp_path / "t.docx", {"op": "accept_changes"})
    assert shown(body_of(tmp_path / "out.docx")) == [*([accepted] if accepted else []), "end"]


def test_headers_and_notes_are_tracked(tmp_path: Path) -> None:
    """Text in headers and notes is marked like that of the body, and settled with it."""
    note = f'<w:footnote w:id="1">{para("old note")}</w:footnote>'
    parts = {"header1": para("old header"), "footnotes": note}
    path = made(tmp_path / "a.docx", para("text"), parts)
    edit(path, *tracked({"op": "replace_text", "search": "old", "replace": "new"}),
         to=tmp_path / "t.docx")  # fmt: skip

    for name, text in (("header1", "header"), ("footnotes", "note")):
        root = part_of(tmp_path / "t.docx", f"word/{name}.xml")
        assert [each.text for each in root.iter(f"{W}delText")] == ["old"]
        assert shown(root) == [f"new {text}"]
    edit(tmp_path / "t.docx", {"op": "reject_changes"})
    assert content_of(tmp_path / "out.docx") == content_of(path)


def test_text_boxes_are_tracked_by_their_words(tmp_path: Path) -> None:
    """A text box stays where it is; the words in it are marked."""
    text = f"<w:txbxContent>{para('old box')}</w:txbxContent>"
    box = f"<w:pict><v:shape><v:textbox>{text}</v:textbox></v:shape></w:pict>"
    path = made(tmp_path / "a.docx", f"<w:p><w:r>{box}</w:r>{run(' beside')}</w:p>")
    edit(path, *tracked({"op": "replace_text", "search": "old", "replace": "new"}))
    body = body_of(tmp_path / "out.docx")

    assert [each.text for each in body.iter(f"{W}delText")] == ["old"]
    assert len(list(body.iter(f"{W}txbxContent"))) == 1


def test_a_subdocument_cannot_be_deleted_with_a_mark(tmp_path: Path) -> None:
    """What has no mark of a deletion is refused by name, not deleted without one."""
    path = made(tmp_path / "a.docx", f"<w:p><w:subDoc/>{run('x')}</w:p>{para('y')}")

    with pytest.raises(ValidationFailed, match="without track_changes"):
        edit(path, *tracked({"op": "delete_paragraphs", "from": 1}))


def test_a_paragraph_before_a_control_at_the_end_comes_back_there(tmp_path: Path) -> None:
    """What was deleted is marked where it was, also where a body ends in a content control."""
    control = f"<w:sdt><w:sdtPr/><w:sdtContent>{para('in it')}</w:sdtContent></w:sdt>"
    path = made(tmp_path / "a.docx", para("first") + para("gone") + control)
    edit(
        path,
        *tracked({"op": "delete_paragraphs", "from": 2}, {"op": "append_paragraph", "text": "new"}),
        to=tmp_path / "t.docx",
    )
    edit(tmp_path / "t.docx", {"op": "reject_changes"})

    assert content_of(tmp_path / "out.docx") == content_of(path)


def test_a_table_with_a_note_is_not_there_twice(tmp_path: Path) -> None:
    """Other columns are tracked as a new table; one whose note would be cited twice is refused."""
    body = table(("a", "b")).replace("<w:t>a</w:t>", '<w:t>a</w:t><w:footnoteReference w:id="2"/>')
    path = made(tmp_path / "a.docx", body + para(""))

    with pytest.raises(ValidationFailed, match="without track_changes"):
        edit(path, *tracked({"op": "delete_table_columns", "table": 0, "from": 1}))


def test_a_comment_on_text_that_stays_in_part_is_kept(tmp_path: Path) -> None:
    """A comment over two paragraphs is there while one of them is only marked as deleted."""
    start, end = '<w:commentRangeStart w:id="3"/>', '<w:commentRangeEnd w:id="3"/>'
    sign = '<w:r><w:commentReference w:id="3"/></w:r>'
    body = f"<w:p>{start}{run('one')}</w:p><w:p>{run('two')}{end}{sign}</w:p>{para('three')}"
    path = made(tmp_path / "a.docx", body)
    delete = {"op": "delete_paragraphs", "from": 2}
    edit(path, *tracked(delete), to=tmp_path / "t.docx")
    edit(path, delete, to=tmp_path / "plain.docx")

    for operation, like in (("accept_changes", "plain.docx"), ("reject_changes", "a.docx")):
        edit(tmp_path / "t.docx", {"op": operation})
        assert content_of(tmp_path / "out.docx") == content_of(tmp_path / like)
    assert len(list(body_of(tmp_path / "t.docx").iter(f"{W}commentReference"))) == 1


CHANGED_LOOK = (
    '<w:p><w:pPr><w:jc w:val="right"/><w:pPrChange w:id="1" w:author="B"><w:pPr>'
    '<w:jc w:val="left"/></w:pPr></w:pPrChange></w:pPr>'
    '<w:r><w:rPr><w:b/><w:rPrChange w:id="2" w:author="B"><w:rPr><w:i/></w:rPr></w:rPrChange>'
    "</w:rPr><w:t>x</w:t></w:r></w:p>"
)


@pytest.mark.parametrize(
    ("operation", "alignment", "look"),
    [("accept_changes", "right", f"{W}b"), ("reject_changes", "left", f"{W}i")],
)
def test_changes_of_looks_are_settled(
    tmp_path: Path, operation: str, alignment: str, look: str
) -> None:
    """Of a changed look the new one stays, or the one from before comes back."""
    path = made(tmp_path / "a.docx", CHANGED_LOOK + para("y"))
    edit(path, {"op": operation})
    body = body_of(tmp_path / "out.docx")

    assert at(body, "p/pPr/jc").get(f"{W}val") == alignment
    assert [each.tag for each in at(body, "p/r/rPr")] == [look]


def test_a_look_that_another_has_changed_is_not_noted_twice(tmp_path: Path) -> None:
    """A file notes one change of a look: who made it is named, and rejecting both goes back."""
    path = made(tmp_path / "a.docx", CHANGED_LOOK + para("y"))
    applied = edit(
        path,
        *tracked({"op": "format_paragraphs", "from": 1, "alignment": "center"}),
        to=tmp_path / "t.docx",
    )
    edit(tmp_path / "t.docx", {"op": "reject_changes"})

    assert "has a tracked change of B pending" in " ".join(applied.warnings)
    assert at(body_of(tmp_path / "out.docx"), "p/pPr/jc").get(f"{W}val") == "left"


def test_the_end_of_a_bookmark_stays_in_its_paragraph(tmp_path: Path) -> None:
    """A paragraph that holds no text but ends a bookmark is there again once changes go."""
    begin = '<w:bookmarkStart w:id="4" w:name="all"/>'
    last = '<w:p><w:pPr><w:pStyle w:val="Quote"/></w:pPr><w:bookmarkEnd w:id="4"/></w:p>'
    path = made(tmp_path / "a.docx", f"<w:p>{begin}{run('one')}</w:p>{table(('a',))}{last}")
    edit(path, *tracked({"op": "append_paragraph", "text": "x"}), to=tmp_path / "t.docx")
    edit(tmp_path / "t.docx", {"op": "reject_changes"})

    assert content_of(tmp_path / "out.docx") == content_of(path)


def test_rows_that_came_or_went_are_settled(tmp_path: Path) -> None:
    """A row goes with its mark: a deleted one when accepted, an inserted one when rejected."""
    marks = (
        '<w:trPr><w:ins w:id="1" w:author="B"/></w:trPr>',
        '<w:trPr><w:del w:id="2" w:author="B"/></w:trPr>',
    )
    rows = "".join(
        f"<w:tr>{mark}<w:tc>{para(text)}</w:tc></w:tr>"
        for mark, text in zip(("", *marks), ("stays", "new", "gone"), strict=True)
    )
    path = made(tmp_path / "a.docx", f"<w:tbl>{rows}</w:tbl>{para('end')}")
    for operation, expected in (("accept_changes", "new"), ("reject_changes", "gone")):
        edit(path, {"op": operation})
        assert shown(body_of(tmp_path / "out.docx")) == ["stays", expected, "end"]


def test_a_paragraph_whose_end_goes_joins_the_next(tmp_path: Path) -> None:
    """Text before a deleted end and text behind it become one paragraph, with the looks behind."""
    mark = '<w:rPr><w:del w:id="1" w:author="B"/></w:rPr>'
    ended = f"<w:p><w:pPr>{mark}</w:pPr>{run('one ')}</w:p>"
    path = made(tmp_path / "a.docx", ended + para("two", '<w:jc w:val="center"/>'))
    edit(path, {"op": "accept_changes"})
    body = body_of(tmp_path / "out.docx")

    assert shown(body) == ["one two"]
    assert at(body, "p/pPr/jc").get(f"{W}val") == "center"
