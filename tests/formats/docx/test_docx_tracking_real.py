"""Tracked changes on real documents: accepted they are the plain edit, rejected the original."""

import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import docx
import pytest

from edited_documents import applied
from kbd.errors import KbdError
from kbd.formats import Region, Source
from made_documents import FORMAT, edit
from settled_documents import TRACKED, content_of, tracked
from test_docx_corpus import documents, readable_by_library

pytestmark = [pytest.mark.corpora]

EVERY = int(os.environ.get("KBD_SOAK_EVERY", "1"))
"""Of how many documents one is tried, for a shorter run."""

EVERY_FULL = 40
"""Of so many documents one is tried, of two parts in `make test-full`; `make soak` tries all."""

_UNMARKED = re.compile(
    r"<w:(headerReference|footerReference|bookmarkStart|bookmarkEnd) [^>]*></w:\1>"
)
_OTHER = "other.docx"
_WITHOUT_MARKS = (
    # A table is not there twice with what may be in a document once.
    "cannot be in both",
    "holds another document, for whose deletion there is no mark",
    "shows data kept elsewhere in the file, for which there is no mark",
)
_PLACEHOLDER = "<w:showingPlcHdr></w:showingPlcHdr>"

Edits = Sequence[Mapping[str, Any]]


def edits_of(path: Path) -> dict[str, Edits]:
    """Return operations for a document: of its most frequent word, its paragraphs, its table."""
    text = FORMAT.read(Source(path, path.name), Region()).text
    words = Counter(re.findall(r"[^\W\d_]{3,}", text)).most_common(1)
    word = words[0][0] if words else "the"
    cells = [{"row": 0, "col": 0, "text": "new text"}, {"row": 1, "col": 0, "text": 5}]
    body = [{"text": "1"}, {"text": "2", "style": "Heading 2"}]
    runs = [{"text": "n "}, {"text": "b", "bold": True}]
    replace = {"op": "replace_text", "search": word, "replace": "R", "match_case": True}
    return {
        "a word": [replace],
        "a letter": [{"op": "replace_text", "search": "e", "replace": ""}],
        "first deleted": [{"op": "delete_paragraphs", "from": 1}],
        "next deleted": [{"op": "delete_paragraphs", "from": 2, "count": 2}],
        "inserted": [
            {"op": "insert_paragraph", "at": 1, "runs": runs},
            {"op": "insert_paragraph", "at": 3, "text": "again", "alignment": "center"},
        ],
        "appended": [
            {"op": "append_paragraph", "text": "The end", "style": "Heading 1"},
            {"op": "append_paragraph", "text": "Really"},
        ],
        "a table": [{"op": "add_table", "rows": [["a", "b"], ["c", "d"]], "after": 1}],
        "a table at the end": [{"op": "add_table", "rows": [["a", "b"], ["c", "d"]]}],
        "cells": [{"op": "set_table_cells", "table": 0, "cells": cells}],
        "the body": [{"op": "set_paragraphs", "paragraphs": body}],
        "a template": [
            {"op": "append_paragraph", "text": "{{a}} and {{b.c}}"},
            {
                "op": "fill_template",
                "values": [{"name": "a", "value": 1}],
                "lists": [{"name": "b", "columns": ["c"], "rows": [["x"], ["y"]]}],
            },
        ],
        "a look": [
            {"op": "format_paragraphs", "from": 1, "count": 2, "bold": True, "alignment": "right"},
        ],
        **_edits_of_table(),
        **_edits_of_parts(path, replace),
        "several": [
            replace,
            {"op": "delete_paragraphs", "from": 2},
            {"op": "insert_paragraph", "at": 2, "text": "mixed"},
            {"op": "append_paragraph", "text": "end"},
        ],
    }


def _edits_of_table() -> dict[str, Edits]:
    return {
        "rows": [
            {"op": "insert_table_rows", "table": 0, "at": 1, "rows": [["new"]]},
            {"op": "delete_table_rows", "table": 0, "from": 0},
        ],
        "a column": [{"op": "delete_table_columns", "table": 0, "from": 0}],
        "cells of a table": [
            {
                "op": "format_table_cells",
                "table": 0,
                "col": 0,
                "to_col": 0,
                "shading": "#FFEE00",
                "bold": True,
                "alignment": "right",
            },
            {"op": "set_table", "table": 0, "header_rows": 1, "alignment": "center"},
        ],
    }


def _edits_of_parts(path: Path, replace: Mapping[str, Any]) -> dict[str, Edits]:
    """Return operations on notes, pages, the first control that holds text, another document."""
    found: dict[str, Edits] = {
        "notes": [
            {"op": "add_footnote", "paragraph": 1, "text": "a note"},
            {"op": "add_endnote", "paragraph": 1, "text": "at the\nend"},
        ],
        "between words": [
            replace,
            {"op": "add_footnote", "paragraph": 1, "text": "a note", "search": "e"},
            {
                "op": "add_hyperlink",
                "paragraph": 1,
                "search": "a",
                "address": "https://a.example",
            },
        ],
        "pages": [{"op": "set_section", "columns": 2, "margins": {"left": 1.25}}],
        "a section": [{"op": "insert_section_break", "after": 1, "kind": "continuous"}],
        "another document": [{"op": "append_document", "file": _OTHER, "new_page": True}],
    }
    for each in FORMAT.map(Source(path, path.name)).get("content_controls", []):
        by = next((name for name in ("tag", "title") if each.get(name)), "")
        if by and each["kind"] in ("text", "rich text"):
            fill = {"op": "set_content_control", by: each[by], "text": "filled in"}
            found["a control"] = [fill]
            break
    return found


def refusal(path: Path, operations: Edits, target: Path) -> str:
    """Apply operations; return why they were refused, "" if they were applied."""
    try:
        applied(path, target, *operations, **{_OTHER: target.with_name(_OTHER)})
    except KbdError as error:
        return error.message
    return ""


def settled(path: Path, target: Path, operation: str, **more: str) -> dict[str, str]:
    edit(path, {"op": operation, **more}, to=target)
    return content_of(target)


def tried(
    path: Path, name: str, operations: Edits, tmp_path: Path, found: Counter[str]
) -> list[str]:
    """Try one edit of one document; return what is wrong."""
    plain, marked, out = (tmp_path / f"{each}{path.suffix}" for each in ("plain", "marked", "out"))
    before = refusal(path, operations, plain)
    refused = refusal(path, tracked(*operations), marked)
    if before or refused:
        found["refused"] += 1
        if not before and any(reason in refused for reason in _WITHOUT_MARKS):
            return []
        return [] if before == refused else [f"{path.name}, {name}: {before!r} but {refused!r}"]
    original, wrong = content_of(path), []
    if content_of(marked) == original:
        found["changes nothing"] += 1
        same = content_of(plain) == original
        return [] if same else [f"{path.name}, {name}: but nothing is marked"]
    found["tried"] += 1
    whole = name == "the body"
    wanted = settled(plain, out, "accept_changes")
    if _bare(settled(marked, out, "accept_changes"), whole=whole) != _bare(wanted, whole=whole):
        wrong.append(f"{path.name}, {name}: accepted it is not the plain edit")
    by = {"author": TRACKED["author"]}
    if _has_pending_looks(original):
        # There is room for one change of a look, which is another author's: both go together.
        by, original = {}, settled(path, out, "reject_changes")
    rejected = settled(marked, out, "reject_changes", **by)
    if _bare(rejected, whole=whole) != _bare(original, whole=whole):
        wrong.append(f"{path.name}, {name}: rejected it is not the original")
    if readable_by_library(path):
        docx.Document(str(marked))
        found["read by python-docx"] += 1
    return wrong


def _has_pending_looks(content: Mapping[str, str]) -> bool:
    return any(re.search(r"<w:[a-zA-Z]+PrChange ", text) for text in content.values())


def _bare(content: Mapping[str, str], *, whole: bool) -> dict[str, str]:
    """Return content without what has no mark of a change.

    A control that was filled holds no placeholder any more. Where the whole body was replaced,
    headers that came down from sections before are named by the last one, and bookmarks stand
    around what came in place of their text.
    """
    found = {name: text.replace(_PLACEHOLDER, "") for name, text in content.items()}
    return {name: _UNMARKED.sub("", text) if whole else text for name, text in found.items()}


def tried_all(paths: Sequence[Path], tmp_path: Path) -> tuple[list[str], Counter[str]]:
    wrong: list[str] = []
    found: Counter[str] = Counter()
    other: list[dict[str, Any]] = [
        {"op": "append_paragraph", "text": "Other", "style": "Heading 1"},
        {"op": "add_footnote", "paragraph": 1, "text": "its note"},
        {"op": "add_table", "rows": [["a", "b"]]},
    ]
    applied(None, tmp_path / _OTHER, *other)
    for path in paths:
        try:
            edits = edits_of(path)
        except KbdError:
            found["unreadable"] += 1
            continue
        for name, operations in edits.items():
            wrong += tried(path, name, operations, tmp_path, found)
    return wrong, found


@pytest.mark.full
@pytest.mark.seeded(2)
@pytest.mark.parametrize("part", [0, 1])
def test_tracked_edits_of_some_real_documents(corpora: Path, tmp_path: Path, part: int) -> None:
    """Accepted they are the plain edit, rejected the original; python-docx reads them."""
    chosen = documents(corpora)[part * EVERY_FULL :: 2 * EVERY_FULL]
    wrong, found = tried_all(chosen, tmp_path)

    assert not wrong, "\n".join(wrong)
    assert found["tried"] > found["refused"]


# What differs: a bookmark or comment over what was deleted in part ends beside another paragraph.
_MOVED = 10
"""In so many edits of all documents at most."""


@pytest.mark.soak
@pytest.mark.timeout(1_800)
@pytest.mark.parametrize("share", range(8))
def test_tracked_edits_of_all_real_documents(corpora: Path, tmp_path: Path, share: int) -> None:
    """Accepted they are the plain edit, rejected the original; python-docx reads them."""
    wrong, found = tried_all(documents(corpora)[share::8][::EVERY], tmp_path)
    print("\n".join([str(dict(found)), *wrong]))

    assert not [each for each in wrong if "but" in each or "rejected" in each]
    assert len(wrong) <= _MOVED


@pytest.mark.soak
def test_an_office_program_shows_who_changed_what_and_when(corpora: Path, tmp_path: Path) -> None:
    """LibreOffice opens documents with tracked changes, and knows their author and date."""
    office = shutil.which("soffice")
    if office is None:
        pytest.skip("LibreOffice is not installed")
    seen = 0
    for path in documents(corpora)[:: 25 * EVERY]:
        target = tmp_path / f"{path.stem}.docx"
        operation = {"op": "append_paragraph", "text": "The very end"}
        if refusal(path, tracked(operation), target):
            continue
        command = [office, "--headless", f"-env:UserInstallation=file://{tmp_path}/profile",
                   "--convert-to", "fodt", "--outdir", str(tmp_path), str(target)]  # fmt: skip
        subprocess.run(command, capture_output=True, timeout=120, check=False)
        shown = (tmp_path / f"{path.stem}.fodt").read_text(encoding="utf-8")
        assert f"<dc:creator>{TRACKED['author']}</dc:creator>" in shown, path.name
        assert TRACKED["date"].rstrip("Z") in shown, path.name
        seen += 1
    assert seen
