"""What is tried with one operation on one real workbook, and all that is found wrong with it.

Run in a child: a workbook may make a library hang.
"""

import re
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from every_operation import edited
from judging import Edit, compare
from judging.places import Box, number, place
from judging.places import name as cell_name
from judging_trials import Free, opened
from kbd.errors import KbdError, ValidationFailed
from kbd.formats import Applied, CompareOptions, Source
from kbd_xlsx import XlsxFormat
from leftover_texts import book_texts, deleted_texts, left_behind, unpacked
from operation_choices import ALLOWED, CHOICES, Facts, meant, target_of
from shifted_books import Move, loaded, misplaced, unnamed_differences

__all__ = ["SLOW_S", "OperationTrial", "tried"]

FORMAT = XlsxFormat()
SLOW_S = 20
"""How long one call may take on a real workbook."""


class OperationTrial(NamedTuple):
    """What came of an operation: applied, refused, none to address, no workbook; and findings."""

    outcome: str
    reason: str = ""
    findings: tuple[str, ...] = ()
    seconds: float = 0
    operation: str = ""


def _facts(path: Path) -> Facts | None:
    book = opened(path)
    if book is None:
        return None
    try:
        source = Source(path, path.name)
        return Facts(book, FORMAT.map(source), FORMAT.get_styles(source, None))
    except KbdError:
        return None


def tried(task: tuple[Path, str, Path | None]) -> OperationTrial:
    """Apply an operation to a copy of a workbook and look at the result from all sides.

    Args:
        task: The workbook, the operation's name, and where the result is kept, if so.
    """
    path, op, kept = task
    facts = _facts(path)
    if facts is None:
        return OperationTrial("unreadable")
    chosen = CHOICES[op](facts)
    if chosen is None:
        return OperationTrial("none")
    operation = {"op": op, **chosen}
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, f"book{path.suffix}")
        copy.write_bytes(path.read_bytes())
        once = copy.with_stem("once")
        started = time.monotonic()
        try:
            applied = edited(copy, operation, once)
        except ValidationFailed as error:
            return OperationTrial("refused", error.message, operation=str(operation))
        except KbdError as error:
            return OperationTrial(
                "refused", f"{error.code}: {error.message}", operation=str(operation)
            )
        seconds = time.monotonic() - started
        again = copy.with_stem("again")
        edited(copy, operation, again)
        findings = [] if again.read_bytes() == once.read_bytes() else ["other bytes again"]
        if seconds > SLOW_S:
            findings.append(f"slow: {seconds:.0f} s")
        findings += _lost(copy, once, operation, facts, applied)[:4]
        started = time.monotonic()
        findings += _review(copy, once, operation, facts)
        if time.monotonic() - started > SLOW_S:
            findings.append("slow review")
        if not _is_read(once) and _is_read(copy):
            findings.append("openpyxl does not read it")
        findings += _on_top(once)
        parts = unpacked(once)
        gone = deleted_texts(book_texts(unpacked(copy)), parts)
        left = left_behind(gone, parts, applied.warnings)
        findings += [f"left in the bytes: {each}" for each in left[:3]]
        if kept is not None:
            kept.write_bytes(once.read_bytes())
    return OperationTrial("applied", "", tuple(findings), seconds, str(operation))


def _move(operation: dict[str, Any], facts: Facts) -> Move | None:
    """The lines that an operation puts in or takes out."""
    title = facts.title
    match operation:
        case {"op": "insert_rows" | "delete_rows" as op, "row": row}:
            return Move(title, "rows", row, 1 if op == "insert_rows" else -1)
        case {"op": "insert_columns" | "delete_columns" as op, "column": column}:
            return Move(title, "columns", number(column), 1 if op == "insert_columns" else -1)
        case {"op": "delete_rows_where", "condition": {"value": value}}:
            at = next(at for at, text in reversed(facts.texts()) if text == value)
            return Move(title, "rows", at.row, -1)
    return None


def _lost(
    before: Path, after: Path, operation: dict[str, Any], facts: Facts, applied: Applied
) -> list[str]:
    """What is not as before, but for what the operation means."""
    op = operation["op"]
    if op == "rename_sheet":
        # The judge knows sheets by their titles: what is renamed back is what it was.
        back = {"op": op, "sheet": operation["name"], "name": facts.title}
        after, renamed = after.with_stem("back"), after
        edited(renamed, back, after)
    found = [each for each in compare(before, after, meant(operation, facts)) if each.material]
    # What is wrong with a sheet is wrong with its copy.
    found = [each for each in found if not each.after.startswith("Kbd's copy: ")]
    move = _move(operation, facts)
    if move is not None:
        texts = [f"fault: {each.after}" for each in found if each.kind == "fault"]
        # What openpyxl cannot read it cannot judge.
        if _is_read(before):
            texts += [f"misplaced: {each}" for each in list(misplaced(before, after, move))[:2]]
        parts = unnamed_differences(before, after)
        # The texts of deleted cells are gone from there.
        return texts + [f"part: {p}" for p in parts if move.lines > 0 or "shared" not in p]
    written, pattern = target_of(operation), ALLOWED[op].judged
    return [
        f"{each.kind} at {each.place}: {each.before[:90]!r} -> {each.after[:90]!r}"
        for each in found
        if not (
            re.match(pattern, f"{each.kind} at {each.place}")
            # What they come to is proved elsewhere; one that is lost has been told.
            or each.kind in ("stored result changed", "stale result")
            or (each.kind == "stored result lost" and applied.result_warnings)
            or (written is not None and _is_within(written, each.place, facts.title))
        )
    ]


def _is_within(area: Box, where: str, title: str) -> bool:
    sheet, _, cell = where.rpartition("!")
    return sheet == title and ":" not in cell and area.holds(place(cell))


def _review(before: Path, after: Path, operation: dict[str, Any], facts: Facts) -> list[str]:
    """What the review names and should not, or does not name."""
    allowed = ALLOWED[operation["op"]]
    if _move(operation, facts) is not None and not facts.has_values:
        # Nothing tells the lines of an empty sheet apart.
        return []
    found = FORMAT.compare(Source(before, before.name), Source(after, after.name), CompareOptions())
    named = [f"{each.what} {each.kind} {each.place.title}" for each in found.changes]
    other = [
        text for text in named if not re.match(rf"(?:result|{allowed.named}|{allowed.also}) ", text)
    ]
    wrong = [f"review names {text}" for text in other[:3]]
    is_named = any(re.match(rf"(?:{allowed.named}) ", text) for text in named)
    # Rows that are in order already are sorted without a change.
    differences = (each.kind for each in compare(before, after) if each.material)
    if not is_named and any("result" not in kind for kind in differences):
        wrong.append(f"review does not name it: {named[:3]}")
    return wrong


def _is_read(path: Path) -> bool:
    """Whether openpyxl reads a workbook."""
    try:
        loaded(path)
    except Exception:  # noqa: BLE001 - openpyxl raises anything
        return False
    return True


def _on_top(once: Path) -> list[str]:
    """Whether another edit goes on top, and its cell alone is then another."""
    book = opened(once)
    if book is None:
        return ["the judge does not read it"]
    sheet = [each for each in book.worksheets if "acrosheet" not in each.kind][-1]
    at = sheet.title, cell_name(Free(sheet).below())
    twice = once.with_stem("twice")
    setting = {"cell": at[1], "value": "on top"}
    try:
        edited(once, {"op": "set_cells", "sheet": at[0], "cells": [setting]}, twice)
    except KbdError as error:
        return [f"second edit: {error.message}"]
    found = compare(once, twice, Edit({at: "on top"}, looks=frozenset({at})))
    return [f"second edit: {e.kind} at {e.place}" for e in found if e.material][:2]
