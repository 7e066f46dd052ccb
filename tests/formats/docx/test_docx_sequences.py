"""Operations one after the other, beside a model, and on documents that are hardly any."""

import zipfile
from pathlib import Path
from typing import Any

import pytest

from kbd.errors import ValidationFailed
from made_documents import body_of, edit, made, para, shown


def test_replacing_sees_what_came_before(tmp_path: Path) -> None:
    """Text that an operation brought is found by the next one, that of cells, too."""
    path = made(tmp_path / "a.docx", para("one"))
    applied = edit(
        path,
        {"op": "replace_text", "search": "one", "replace": "two"},
        {"op": "append_paragraph", "text": "one two"},
        {"op": "add_table", "rows": [["two"]]},
        {"op": "replace_text", "search": "two", "replace": "three"},
        {"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "col": 0, "text": "two"}]},
        {"op": "replace_text", "search": "two", "replace": "four"},
    )

    assert [each for each in applied.changed if "replace" in each] == [
        "1 replacement", "3 replacements", "1 replacement",
    ]  # fmt: skip
    assert shown(body_of(tmp_path / "out.docx")) == ["three", "one three", "four", ""]


@pytest.mark.parametrize(
    "body",
    [
        "<w:r><w:fldChar w:fldCharType='begin'/></w:r>" * 5_000,
        "<w:r><w:fldChar w:fldCharType='begin'/></w:r>",
        "<w:r><w:fldChar w:fldCharType='end'/></w:r>",
        "<w:bookmarkEnd w:id='7'/><w:commentRangeEnd/><w:r><w:commentReference/></w:r>",
        "<w:sdt/><w:sdt><w:sdtContent/></w:sdt><mc:AlternateContent/><w:hyperlink/><w:ruby/>",
        "<w:r><w:t/><w:t>x<!-- y -->z</w:t><w:br/><w:drawing/><w:pict/></w:r><?pi?>",
    ],
)
def test_odd_paragraphs(tmp_path: Path, body: str) -> None:
    """What no program writes is edited or refused by name, whichever operation meets it."""
    path = made(tmp_path / "a.docx", f"<w:p>{body}</w:p>{para('x')}")
    found: list[dict[str, Any]] = [
        {"op": "replace_text", "search": "x", "replace": "y"},
        {"op": "delete_paragraphs", "from": 1},
        {"op": "set_paragraphs", "paragraphs": [{"text": "new"}]},
    ]
    refused = []
    for operation in found:
        try:
            edit(path, operation)
        except ValidationFailed as error:
            refused.append(error.message)

    assert all("field" in message for message in refused)
    assert len(refused) < len(found)
    assert shown(body_of(tmp_path / "out.docx")) == ["new"]


@pytest.mark.parametrize("root", ["<w:body/>", "<w:p/>", ""])
def test_a_document_without_a_body_is_refused(tmp_path: Path, root: str) -> None:
    """So are two of them; the message has no more than the file's name."""
    path = made(tmp_path / "a.docx", "")
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    whole = parts["word/document.xml"].replace(b"<w:body></w:body>", root.encode())
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {**parts, "word/document.xml": whole}.items():
            archive.writestr(name, data)
    operation = {"op": "append_paragraph", "text": "x"}
    if root == "<w:body/>":
        edit(path, operation)
        assert shown(body_of(tmp_path / "out.docx")) == ["x"]
        return
    with pytest.raises(ValidationFailed, match=r"a\.docx is not built as its kind of file should"):
        edit(path, operation)
