"""Items of lists with levels."""

from pathlib import Path
from typing import Any

import docx
import pytest

from edited_documents import applied, text_of
from kbd.errors import ValidationFailed
from made_documents import W, body_of, edit, made, para


def item(text: str, kind: str, level: int = 0, **more: Any) -> dict[str, Any]:
    return {"op": "append_paragraph", "text": text, "list": kind, "level": level, **more}


def test_items_join_the_list_before_them_and_begin_others(tmp_path: Path) -> None:
    """Levels nest, another kind below does not end a list, and `restart` counts from one."""
    out = tmp_path / "out.docx"
    plain = {"op": "append_paragraph", "text": "then"}
    found = [
        item("a", "number"), item("b", "number", 1), item("dot", "bullet", 1), item("c", "number"),
        plain, item("d", "number"), item("e", "number"), item("f", "number", restart=True),
        {"op": "insert_paragraph", "at": 2, "text": "put in", "list": "number"},
    ]  # fmt: skip
    applied(None, out, *found)

    assert text_of(out).splitlines() == [
        "1. a", "2. put in", "  a. b", "  - dot", "3. c", "then", "1. d", "2. e", "1. f",
    ]  # fmt: skip
    docx.Document(str(out))


def test_a_new_list_looks_as_those_of_the_document(tmp_path: Path) -> None:
    """The definition that the document uses for such labels is used again, and none is made."""
    levels = "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/><w:numFmt w:val="upperRoman"/>'
        f'<w:lvlText w:val="%{level + 1})"/></w:lvl>'
        for level in range(2)
    )
    numbering = (
        f'<w:abstractNum w:abstractNumId="4">{levels}</w:abstractNum>'
        '<w:num w:numId="3"><w:abstractNumId w:val="4"/></w:num>'
    )
    listed = '<w:numPr><w:ilvl w:val="0"/><w:numId w:val="3"/></w:numPr>'
    path = made(tmp_path / "a.docx", para("x", listed) + para("y"), {"numbering": numbering})
    edit(path, item("new", "number"))

    assert text_of(tmp_path / "out.docx").splitlines() == ["I) x", "y", "I) new"]


def test_the_items_of_a_new_body(tmp_path: Path) -> None:
    """`set_paragraphs` takes items, too, whose lists begin anew."""
    path = made(tmp_path / "a.docx", para("old"))
    paragraphs = [{"text": "a", "list": "bullet"}, {"text": "b", "list": "bullet", "level": 2}]
    edit(path, {"op": "set_paragraphs", "paragraphs": paragraphs})

    numbers = [each.get(f"{W}val") for each in body_of(tmp_path / "out.docx").iter(f"{W}numId")]
    assert numbers == ["1", "1"]
    assert text_of(tmp_path / "out.docx").splitlines() == ["- a", "    - b"]


def test_a_level_needs_a_list(tmp_path: Path) -> None:
    """A level without a list is refused."""
    with pytest.raises(ValidationFailed, match="need list"):
        edit(None, {"op": "append_paragraph", "text": "x", "level": 1}, to=tmp_path / "a.docx")
