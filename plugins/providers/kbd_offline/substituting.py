"""Doing a replacement: one file, by the tool that keeps all else in it."""

import re
from typing import Any

from kbd.errors import ValidationFailed
from kbd_offline.cells import Cell, cells_with
from kbd_offline.conversation import Conversation
from kbd_offline.files import BOOK_SUFFIXES, DECK_SUFFIXES, DOCUMENT_SUFFIXES
from kbd_offline.intents import Replaced, ReplacePart
from kbd_offline.names import split_suffix
from kbd_offline.texts import WholeText, occurrences, read_texts, replaced
from kbd_offline.wording import UnclearError

__all__ = ["not_found", "substitute"]

_CHECKED_CELLS = 20
_COUNT = re.compile(r"(\d+) replacement")


def substitute(conversation: Conversation, intent: Replaced, number: int) -> str:
    """Replace the text in one file and tell how often; see `Conversation.call` for what it raises.

    Raises:
        ValidationFailed: The file is not as it was when it was looked at.
    """
    part = intent.parts[number - 1]
    suffix = split_suffix(part.path)[1]
    try:
        if suffix in DOCUMENT_SUFFIXES:
            hits = _by_operation(conversation, intent, part, "docx_operations")
        elif suffix in DECK_SUFFIXES:
            hits = _by_operation(conversation, intent, part, "pptx_operations")
        elif suffix in BOOK_SUFFIXES:
            hits = _in_cells(conversation, intent, part)
        else:
            hits = _in_text(conversation, intent, part)
    except UnclearError as unclear:
        raise ValidationFailed(str(unclear)) from None
    path = intent.target or part.path
    if not hits:
        return f'"{intent.search}" was not found in {part.path}; nothing was replaced there.'
    return f"{hits} replacement{'' if hits == 1 else 's'} in {path}."


def not_found(intent: Replaced) -> str:
    """Return what is said where no file has the text."""
    notes = "; ".join(intent.notes)
    return f'"{intent.search}" was not found, and nothing was replaced. {notes}'.strip()


def _copied(intent: Replaced, part: ReplacePart) -> dict[str, Any]:
    """Return the arguments that name the file to change: itself, or a copy to be made of it."""
    return {"path": intent.target, "copy_from": part.path} if intent.target else {"path": part.path}


def _by_operation(
    conversation: Conversation, intent: Replaced, part: ReplacePart, tool: str
) -> int:
    operation = {
        "op": "replace_text",
        "search": intent.search,
        "replace": intent.replacement,
        "match_case": intent.match_case,
    }
    done = conversation.call(tool, **_copied(intent, part), operations=[operation])
    counted = _COUNT.match(str(done["changed"][0]))
    if counted is None:
        raise ValidationFailed(f"{tool} does not say how often it replaced the text.")
    return int(counted.group(1))


def _in_cells(conversation: Conversation, intent: Replaced, part: ReplacePart) -> int:
    found = cells_with(conversation, part.path, intent.search, match_case=intent.match_case)
    if found.hits != part.hits:
        raise ValidationFailed(f"{part.path} has the text {found.hits} times, not {part.hits}.")
    by_sheet = dict[str, list[dict[str, Any]]]()
    after = [_after(intent, cell) for cell in found.cells]
    for cell, text in zip(found.cells, after, strict=True):
        value = {"cell": cell.name, "value": text, "type": "string"}
        by_sheet.setdefault(cell.sheet, []).append(value)
    operations = [
        {"op": "set_cells", "sheet": sheet, "cells": cells} for sheet, cells in by_sheet.items()
    ]
    path = intent.target or part.path
    conversation.call("xlsx_operations", **_copied(intent, part), operations=operations)
    checked = list(zip(found.cells, after, strict=True))[:_CHECKED_CELLS]
    places = [
        ("read_file", {"path": path, "sheet": cell.sheet, "range": cell.name})
        for cell, _ in checked
    ]
    for (cell, text), read in zip(checked, conversation.calls(*places), strict=True):
        # As readings show it, and one word of it, which no line end or quote parts.
        words = text.replace("\\", "\\\\").split()
        if words and words[0] not in str(read["text"]):
            raise ValidationFailed(f"{cell.name} of {cell.sheet} in {path} was not changed.")
    return found.hits


def _after(intent: Replaced, cell: Cell) -> str:
    return replaced(cell.text, intent.search, intent.replacement, match_case=intent.match_case)


def _in_text(conversation: Conversation, intent: Replaced, part: ReplacePart) -> int:
    (text,) = read_texts(conversation, [part.path])
    if not isinstance(text, WholeText):
        raise ValidationFailed(f"{part.path}: {text}")
    hits = occurrences(text.content, intent.search, match_case=intent.match_case)
    if hits != part.hits:
        raise ValidationFailed(f"{part.path} has the text {hits} times, not {part.hits}.")
    content = text.written(
        replaced(text.content, intent.search, intent.replacement, match_case=intent.match_case)
    )
    path = intent.target or part.path
    written = conversation.call("write_text_file", path=path, content=content)
    if int(written["bytes"]) != len(content.encode()):
        raise ValidationFailed(f"{path} was not written whole.")
    return hits
