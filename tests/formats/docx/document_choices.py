"""What is tried of each operation on a real document: arguments that fit it, and what may differ.

A new operation gets an entry in `CHOICES`: a function that makes arguments from the document, and
what the operation may change. The document is read here by lxml alone.
"""

import re
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from lxml import etree

__all__ = ["CHOICES", "NEW", "Choice", "DocumentFacts", "W", "texts_of"]

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_STRICT = "{http://purl.oclc.org/ooxml/wordprocessingml/main}"
_WRAPPERS = frozenset(f"{W}{name}" for name in ("sdt", "sdtContent", "customXml"))
_AROUND_ROWS = _WRAPPERS | {f"{W}ins", f"{W}moveTo"}
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"

Arguments = dict[str, Any]


class DocumentFacts:
    """What a document holds, for the choice of arguments.

    Args:
        path: The document.
    """

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            relations = archive.read("_rels/.rels").decode()
            names = re.findall(r"<Relationship[^>]*/officeDocument[\"'][^>]*>", relations)
            goal = re.search(r"Target=[\"']/?([^\"']*)", names[0] if names else "")
            main = goal[1] if goal else "word/document.xml"
            data = archive.read(main) if main in archive.namelist() else b"<w/>"
        parser = etree.XMLParser(remove_comments=True, huge_tree=True)
        self.root = etree.fromstring(data.replace(_STRICT[1:-1].encode(), W[1:-1].encode()), parser)
        body = self.root.find(f"{W}body")
        self.blocks = list(_blocks(body)) if body is not None else []
        self.paragraphs = [each for each in self.blocks if each.tag == f"{W}p"]
        self.tables = [each for each in self.blocks if each.tag == f"{W}tbl"]

    @cached_property
    def grids(self) -> list[list[list[tuple[int, int, str, etree._Element]]]]:
        """Of each table its rows, of these the cells: start, columns, merge, element."""
        return [[list(_cells(row)) for row in _rows(table)] for table in self.tables]

    def table(self, least_rows: int = 1, least_columns: int = 1) -> int | None:
        """The table with the most merged cells of those that have so many rows and columns."""
        found = [
            index for index, rows in enumerate(self.grids)
            if len(rows) >= least_rows and width_of(rows) >= least_columns
        ]  # fmt: skip
        return max(found, key=lambda index: _merges(self.grids[index]), default=None)


def _merges(rows: Sequence[Sequence[tuple[int, int, str, etree._Element]]]) -> int:
    return sum(span > 1 or bool(merge) for row in rows for _, span, merge, _ in row)


def width_of(rows: Sequence[Sequence[tuple[int, int, str, etree._Element]]]) -> int:
    """The columns of the widest of some rows."""
    return max((row[-1][0] + row[-1][1] for row in rows if row), default=0)


def _blocks(body: etree._Element) -> Iterator[etree._Element]:
    for child in body:
        if child.tag in (f"{W}p", f"{W}tbl"):
            yield child
        elif child.tag in _WRAPPERS:
            yield from _blocks(child)
        elif child.tag == f"{_MC}AlternateContent":
            choice = child.find(f"{_MC}Choice")
            if choice is not None:
                yield from _blocks(choice)


def _below(element: etree._Element, tag: str) -> Iterator[etree._Element]:
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag in _AROUND_ROWS:
            yield from _below(child, tag)


def _rows(table: etree._Element) -> list[etree._Element]:
    return [row for row in _below(table, f"{W}tr") if row.find(f"{W}trPr/{W}del") is None]


def _cells(row: etree._Element) -> Iterator[tuple[int, int, str, etree._Element]]:
    column = _value(row.find(f"{W}trPr/{W}gridBefore"), 0)
    for cell in _below(row, f"{W}tc"):
        span = max(1, _value(cell.find(f"{W}tcPr/{W}gridSpan"), 1))
        merge = cell.find(f"{W}tcPr/{W}vMerge")
        kind = "" if merge is None else merge.get(f"{W}val", "continue")
        if cell.find(f"{W}tcPr/{W}hMerge") is not None:
            kind = "old"
        yield column, span, kind, cell
        column += span


def _value(element: etree._Element | None, default: int) -> int:
    text = element.get(f"{W}val", "") if element is not None else ""
    return int(text) if text.isdecimal() else default


def texts_of(*elements: etree._Element) -> Counter[str]:
    """The texts of the paragraphs in elements that have some, deleted text too."""
    found: Counter[str] = Counter()
    for element in elements:
        for paragraph in element.iter(f"{W}p"):
            text = "".join(
                each.text or ""
                for each in paragraph.iter(f"{W}t", f"{W}delText")
                if next(each.iterancestors(f"{W}p"), None) is paragraph
            )
            if text.strip():
                found[text] += 1
    return found


class Choice(NamedTuple):
    """Arguments for an operation, and what of the document's texts comes and goes by it.

    `gone` is None where only what is new is known.
    """

    arguments: Arguments
    new: frozenset[str] = frozenset()
    gone: Counter[str] | None = Counter()  # noqa: RUF012 - nobody adds to it


class Trying(NamedTuple):
    """How an operation is tried; `op` is its name where an operation is tried in several ways.

    `named` is what the review names, as a pattern of "what kind"; `parts` are those beside the main
    part that may differ, as a pattern.
    """

    choose: Callable[[DocumentFacts], Choice | None]
    named: str
    parts: str = r"word/(styles|numbering)\.xml"
    op: str = ""


NEW = "A text that came by a trial"


def _append(facts: DocumentFacts) -> Choice:
    return Choice({"text": NEW, "like": 1} if facts.paragraphs else {"text": NEW}, frozenset([NEW]))


def _insert(facts: DocumentFacts) -> Choice | None:
    at = len(facts.paragraphs) // 2 + 1
    style = {"style": "Heading 2", "like": at} if facts.paragraphs else {}
    return Choice({"at": at, "text": NEW, **style}, frozenset([NEW]))


def _middle(facts: DocumentFacts) -> int | None:
    """A paragraph of plain text that is no alternative, about the middle."""
    numbers = range(len(facts.paragraphs), 0, -1)
    for number in sorted(numbers, key=lambda each: abs(each - len(facts.paragraphs) // 2)):
        paragraph = facts.paragraphs[number - 1]
        if texts_of(paragraph) and paragraph.find(f".//{W}fldChar") is None:
            return number
    return None


def _delete(facts: DocumentFacts) -> Choice | None:
    number = _middle(facts)
    if number is None:
        return None
    return Choice({"from": number}, gone=texts_of(facts.paragraphs[number - 1]))


def _delete_all(facts: DocumentFacts) -> Choice | None:
    if not facts.paragraphs:
        return None
    gone = texts_of(*facts.paragraphs)
    return Choice({"from": 1, "count": len(facts.paragraphs)}, gone=gone)


def _format(facts: DocumentFacts) -> Choice | None:
    number = _middle(facts)
    if number is None:
        return None
    return Choice({"from": number, "alignment": "center", "font_size": 13.5, "space_after": 7})


def _set_all(facts: DocumentFacts) -> Choice:
    gone = texts_of(*(each for each in facts.root.iter(f"{W}body")))
    runs = [{"text": "bold by trial", "bold": True}]
    new = frozenset([NEW, "bold by trial"])
    return Choice({"paragraphs": [{"text": NEW}, {"runs": runs}]}, new, gone)


def _replace(facts: DocumentFacts) -> Choice | None:
    number = _middle(facts)
    if number is None:
        return None
    text = next(iter(texts_of(facts.paragraphs[number - 1])))
    words = sorted((word for word in text.split() if word.isalpha()), key=len)
    if not words:
        return None
    return Choice({"search": words[-1], "replace": f"{words[-1]}s"}, gone=None)


def _add_table(facts: DocumentFacts) -> Choice:
    rows = [["Name", "Figure"], ["one by trial", 1.5], ["two by trial", None]]
    new = frozenset(["Name", "Figure", "one by trial", "1.5", "two by trial"])
    last = len(facts.paragraphs)
    arguments: Arguments = {"rows": rows, "header": True, "alignments": ["left", "right"]}
    return Choice(arguments | ({"after": last} if last else {}), new)


def _free_cell(facts: DocumentFacts) -> tuple[int, int, int, etree._Element] | None:
    for table, rows in enumerate(facts.grids):
        for row in range(len(rows) - 1, -1, -1):
            for start, _, merge, cell in reversed(rows[row]):
                if merge == "" and cell.find(f".//{W}fldChar") is None:
                    return table, row, start, cell
    return None


def _set_cells(facts: DocumentFacts) -> Choice | None:
    found = _free_cell(facts)
    if found is None:
        return None
    table, row, column, cell = found
    look = {"shading": "#DDEEFF", "alignment": "right", "runs": [{"text": NEW, "italic": True}]}
    return Choice({"table": table, "cells": [{"row": row, "col": column, **look}]},
                  frozenset([NEW]), texts_of(cell))  # fmt: skip


def _set_all_cells(facts: DocumentFacts) -> Choice | None:
    for table, rows in enumerate(facts.grids):
        places = [(number, cell) for number, row in enumerate(rows) for cell in row]
        chosen = [(number, cell) for number, cell in places if cell[2] in ("", "restart")]
        if chosen:
            cells = [{"row": number, "col": cell[0], "text": None} for number, cell in chosen]
            gone = texts_of(*(cell[3] for _, cell in chosen))
            return Choice({"table": table, "cells": cells}, gone=gone)
    return None


def _format_cells(facts: DocumentFacts) -> Choice | None:
    table = facts.table()
    if table is None:
        return None
    last = width_of(facts.grids[table]) - 1
    starts = {start for row in facts.grids[table] for start, _, _, _ in row}
    column = max(start for start in starts if start <= last)
    return Choice({"table": table, "col": column, "alignment": "right", "shading": "#FFEEDD",
                   "bold": True})  # fmt: skip


def _set_table(facts: DocumentFacts) -> Choice | None:
    table = facts.table()
    if table is None:
        return None
    return Choice({"table": table, "width": 5.1, "alignment": "center", "header_rows": 1,
                   "borders": "horizontal"})  # fmt: skip


def _insert_rows(facts: DocumentFacts) -> Choice | None:
    table = facts.table()
    if table is None:
        return None
    rows = facts.grids[table]
    at = len(rows) // 2 + 1 if len(rows) > 1 else len(rows)
    merged = {start for start, _, merge, _ in rows[at] if merge} if at < len(rows) else set()
    like = at if at < len(rows) else at - 1
    free = [start for start, _, merge, _ in rows[like] if start not in merged and merge != "old"]
    texts: list[str | None] = [None] * (free[0] if free else 0) + ([NEW] if free else [])
    return Choice({"table": table, "at": at, "rows": [texts, []], "like": like},
                  frozenset([NEW]))  # fmt: skip


def _delete_rows(facts: DocumentFacts) -> Choice | None:
    table = facts.table(2)
    if table is None:
        return None
    rows = facts.grids[table]
    row = len(rows) // 2
    gone = texts_of(*(cell for _, _, _, cell in rows[row]))
    for start, _, merge, cell in rows[row]:
        below = rows[row + 1] if row + 1 < len(rows) else []
        goes_on = any(other == start and kind == "continue" for other, _, kind, _ in below)
        if merge == "restart" and goes_on:
            gone -= texts_of(cell)
    return Choice({"table": table, "from": row}, gone=gone)


def _insert_columns(facts: DocumentFacts) -> Choice | None:
    table = facts.table()
    if table is None:
        return None
    at = width_of(facts.grids[table])
    return Choice({"table": table, "at": at - 1, "columns": [[]]})


def _delete_columns(facts: DocumentFacts) -> Choice | None:
    table = facts.table(1, 2)
    if table is None:
        return None
    column = width_of(facts.grids[table]) // 2
    gone = texts_of(*(
        cell for row in facts.grids[table] for start, span, _, cell in row
        if start == column and span == 1
    ))  # fmt: skip
    return Choice({"table": table, "from": column}, gone=gone)


def _merge(facts: DocumentFacts) -> Choice | None:
    for table, rows in enumerate(facts.grids):
        for number, (row, below) in enumerate(pairwise(rows)):
            for a, b in pairwise(row):
                corner = {cell[:3] for cell in (a, b)}
                if corner <= {cell[:3] for cell in below} and a[2] == b[2] == "":
                    last = b[0] + b[1] - 1
                    return Choice({"table": table, "row": number, "col": a[0],
                                   "to_row": number + 1, "to_col": last})  # fmt: skip
    return None


def _split(facts: DocumentFacts) -> Choice | None:
    for table, rows in enumerate(facts.grids):
        for number, row in enumerate(rows):
            for start, span, merge, _ in row:
                below = rows[number + 1] if number + 1 < len(rows) else []
                goes_on = any(each[0] == start and each[2] == "continue" for each in below)
                if (span > 1 and merge == "") or (merge == "restart" and goes_on):
                    return Choice({"table": table, "row": number, "col": start})
    return None


def _set_control(facts: DocumentFacts) -> Choice | None:
    for control in facts.root.iter(f"{W}sdt"):
        tag = control.find(f"{W}sdtPr/{W}tag")
        name = "" if tag is None else tag.get(f"{W}val", "")
        # Others than those of text are of kinds of their own.
        plain = control.find(f"{W}sdtPr/{W}text") is not None
        # The words of a placeholder are its own, and stay in the file.
        if name and plain and control.find(f"{W}sdtPr/{W}showingPlcHdr") is None:
            return Choice({"tag": name, "text": NEW}, frozenset([NEW]), None)
    return None


def _set_pages(_: DocumentFacts) -> Choice:
    return Choice({"columns": 2, "margins": {"left": 1.1}, "orientation": "landscape"})


def _break(facts: DocumentFacts) -> Choice | None:
    return Choice({"after": 1, "kind": "continuous"}) if facts.paragraphs else None


_TABLE = r"(row|column|cell|width|format|paragraph|table) "
CHOICES: Mapping[str, Trying] = {
    "set_paragraphs": Trying(_set_all, r".*", r".*"),
    "append_paragraph": Trying(_append, r"paragraph added|style added|list added"),
    "insert_paragraph": Trying(_insert, r"paragraph added|style added|list added"),
    "delete_paragraphs": Trying(_delete, r".*", r".*"),
    "delete_all_paragraphs": Trying(_delete_all, r".*", r".*", "delete_paragraphs"),
    "format_paragraphs": Trying(_format, r".* changed"),
    "replace_text": Trying(
        _replace,
        r".* changed|(paragraph|note) (added|removed)",
        r"word/(header|footer|footnotes|endnotes).*",
    ),
    "add_table": Trying(_add_table, r"(table|style|paragraph) added"),
    "set_table": Trying(_set_table, r"(width|format|row|cell|paragraph) changed"),
    "set_table_cells": Trying(_set_cells, r".*", r".*"),
    "set_all_table_cells": Trying(_set_all_cells, r".*", r".*", "set_table_cells"),
    "format_table_cells": Trying(_format_cells, r".* changed"),
    "insert_table_rows": Trying(_insert_rows, r"row added"),
    "delete_table_rows": Trying(_delete_rows, r".*", r".*"),
    "insert_table_columns": Trying(_insert_columns, rf"({_TABLE}.*|comment changed)"),
    "delete_table_columns": Trying(_delete_columns, r".*", r".*"),
    "merge_table_cells": Trying(_merge, r".*", r".*"),
    "split_table_cell": Trying(_split, rf"{_TABLE}.*"),
    "set_content_control": Trying(_set_control, r".*", r".*"),
    "set_section": Trying(_set_pages, r"section (added|changed)"),
    "insert_section_break": Trying(_break, r"section (added|changed)"),
}
"""How each operation is tried; an operation that is not here fails a test."""
