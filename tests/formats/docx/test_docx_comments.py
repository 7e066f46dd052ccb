"""Comments: made, replied to, resolved, deleted, and read with all that is said of them."""

import zipfile
from pathlib import Path
from typing import Any

import docx
import pytest

from edited_documents import applied, differences, mapped, relocated, text_of
from kbd.errors import ValidationFailed
from made_documents import W, body_of, edit, made, para, part_of, shown

ADDED: dict[str, Any] = {
    "op": "add_comment", "paragraph": 1, "text": "why?\nreally", "author": "Anna Bee",
    "date": "2026-01-02T10:00:00+02:00", "search": "two",
}  # fmt: skip
REPLIED: dict[str, Any] = {
    "op": "reply_comment", "comment": 1, "text": "because", "author": "Bo",
}  # fmt: skip


def two(path: Path) -> Path:
    return made(path, para("one two three") + para("second"))


def test_a_comment_is_about_its_words_and_read_with_its_state(tmp_path: Path) -> None:
    """Words, author, date, reply and state are in the map and the reading; python-docx reads it."""
    path, out = two(tmp_path / "a.docx"), tmp_path / "out.docx"
    edit(path, ADDED, REPLIED, {"op": "resolve_comment", "comment": 1})

    first, second = mapped(out)["comments"]
    assert first == {
        "comment": 1, "author": "Anna Bee", "text": "why?\nreally", "words": "two",
        "date": "2026-01-02T08:00:00Z", "paragraph": 1, "resolved": True,
    }  # fmt: skip
    assert (second["comment"], second["reply_to"], second["resolved"]) == (2, 1, True)
    assert "date" not in second
    assert '[comment 1] Anna Bee, 2026-01-02, on "two", resolved: why?' in text_of(out)
    assert "[comment 2] Bo, reply to 1, resolved: because" in text_of(out)
    assert shown(body_of(out)) == ["one two three", "second"]
    assert [each.author for each in docx.Document(str(out)).comments] == ["Anna Bee", "Bo"]


def test_the_review_tells_comments_and_their_state(tmp_path: Path) -> None:
    """A comment is added, resolved and replied to, and nothing else is told."""
    path = two(tmp_path / "a.docx")
    states = [path]
    for number, operation in enumerate((ADDED, REPLIED, {"op": "resolve_comment", "comment": 1})):
        states.append(tmp_path / f"{number}.docx")
        edit(states[-2], operation, to=states[-1])

    assert differences(states[0], states[1]) == [("added", "comment")]
    assert differences(states[1], states[2]) == [("added", "comment")]
    assert differences(states[2], states[3]) == [("changed", "format")] * 2


def test_no_clock_and_no_chance(tmp_path: Path) -> None:
    """The same operations make the same bytes, and no date is written that was not given."""
    path = two(tmp_path / "a.docx")
    outs = [tmp_path / "1.docx", tmp_path / "2.docx"]
    for out in outs:
        applied(path, out, ADDED | {"date": None}, REPLIED)

    assert outs[0].read_bytes() == outs[1].read_bytes()
    assert b"w:date" not in zipfile.ZipFile(outs[0]).read("word/comments.xml")


def test_a_deleted_comment_is_gone_from_the_bytes(tmp_path: Path) -> None:
    """With its replies, marks and parts; what it was about stays, and other comments do."""
    path, out = two(tmp_path / "a.docx"), tmp_path / "out.docx"
    other = {"op": "add_comment", "paragraph": 2, "text": "stays", "author": "C"}
    edit(path, ADDED, REPLIED, other, to=tmp_path / "b.docx")
    edit(tmp_path / "b.docx", {"op": "delete_comment", "comment": 1})
    with zipfile.ZipFile(out) as archive:
        every = b"".join(archive.read(name) for name in archive.namelist())
    assert b"because" not in every
    assert b"really" not in every
    assert [each["text"] for each in mapped(out)["comments"]] == ["stays"]

    edit(out, {"op": "delete_comment", "comment": 1}, to=tmp_path / "c.docx")
    assert not [
        name for name in zipfile.ZipFile(tmp_path / "c.docx").namelist() if "omment" in name
    ]
    assert shown(body_of(tmp_path / "c.docx")) == ["one two three", "second"]
    assert not list(body_of(tmp_path / "c.docx").iter(f"{W}commentRangeStart"))


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (ADDED | {"search": "four"}, "'four' is not in the paragraph; it says 'one two three'"),
        (ADDED | {"date": "tomorrow"}, "no date in ISO form"),
        (ADDED | {"paragraph": 9}, "there is no paragraph 9; the body has 2 paragraphs"),
        (REPLIED, "there is no comment 1; there is none"),
    ],
)
def test_what_cannot_be_commented_is_told(
    tmp_path: Path, operation: dict[str, Any], message: str
) -> None:
    """The error says what is there."""
    with pytest.raises(ValidationFailed, match=message):
        edit(two(tmp_path / "a.docx"), operation)


def test_numbers_of_comments_are_carried_over(tmp_path: Path) -> None:
    """A comment put in before another one shifts its number, and the paragraph's does as well."""
    path = two(tmp_path / "a.docx")
    before, after = tmp_path / "b.docx", tmp_path / "c.docx"
    edit(path, ADDED | {"paragraph": 2, "search": "second"}, to=before)
    edit(
        before,
        ADDED | {"text": "first"},
        {"op": "insert_paragraph", "at": 1, "text": "x"},
        to=after,
    )

    reply, comment = (relocated(each, before, after) for each in (REPLIED, ADDED))
    assert reply.operations[0]["comment"] == 2
    assert comment.operations[0]["paragraph"] == 2
    gone = tmp_path / "d.docx"
    edit(before, {"op": "delete_comment", "comment": 1}, to=gone)
    assert "comment 1" in relocated(REPLIED, before, gone).reason


def test_a_range_in_the_middle_of_a_run_keeps_its_look(tmp_path: Path) -> None:
    """Both halves of a divided run have the formatting of the whole."""
    body = "<w:p><w:r><w:rPr><w:b/></w:rPr><w:t>one two</w:t><w:tab/><w:t>x</w:t></w:r></w:p>"
    path = made(tmp_path / "a.docx", body)
    edit(path, ADDED)

    runs = [run for run in body_of(tmp_path / "out.docx").iter(f"{W}r") if list(run.iter(f"{W}t"))]
    assert len(runs) == 3
    assert all(run.find(f"{W}rPr/{W}b") is not None for run in runs)
    assert part_of(tmp_path / "out.docx", "word/comments.xml").tag == f"{W}comments"
