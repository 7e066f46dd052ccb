"""Text of a record for people: fields below each other, and JSON inside texts unfolded.

call_id   c1
calls
  - name  write_text_file
    arguments
      path     notes.txt
      content
        first line
        second line
"""

import json
from collections.abc import Iterable
from typing import Any

from kbd.cli.terminal import cell_width

__all__ = ["indent_lines", "render_fields", "render_value", "truncate_lines"]

INLINE_CHARACTERS = 72
"""What is no longer than this, and has nothing to unfold, stands on one line as JSON."""

NAME_COLUMNS = 24
"""The widest column of names; longer ones push their value on."""


def render_value(value: Any) -> list[str]:
    """Render a JSON value as lines.

    Args:
        value: A text that is itself a JSON object or array is unfolded, too.
    """
    value = _parse_embedded(value)
    match value:
        case dict() if value and not _is_short(value):
            return [text for lines in render_fields(value) for text in lines]
        case list() if value and not _is_short(value):
            return [text for inner in value for text in _render_item(render_value(inner))]
        case str():
            return value.removesuffix("\n").split("\n") if value else ['""']
        case _:
            return [json.dumps(value, ensure_ascii=False)]


def render_fields(record: dict[str, Any]) -> list[list[str]]:
    """Return the lines of each field of a record: its name beside its value, or above it."""
    width = min(max(map(cell_width, record), default=0), NAME_COLUMNS)
    found: list[list[str]] = []
    for name, value in record.items():
        inner = render_value(value)
        if len(inner) == 1:
            found.append([f"{name}{' ' * (width - cell_width(name))}  {inner[0]}"])
        else:
            found.append([name, *indent_lines(inner)])
    return found


def truncate_lines(lines: list[str], characters: int) -> list[str]:
    """Return the lines up to so many characters, with a last one that tells how many are left."""
    taken = 0
    for place, text in enumerate(lines):
        if taken + len(text) > characters:
            more = sum(len(each) + 1 for each in lines[place:]) - (characters - taken) - 1
            head = text[: characters - taken]
            return [*lines[:place], *([head] if head else []), f"… {more:,} characters more"]
        taken += len(text) + 1
    return lines


def indent_lines(lines: Iterable[str]) -> list[str]:
    """Return the lines two columns further in."""
    return [f"  {text}" if text else "" for text in lines]


def _render_item(lines: list[str]) -> list[str]:
    return [f"- {lines[0]}", *indent_lines(lines[1:])]


def _parse_embedded(value: Any) -> Any:
    """Return what a text says if it is a JSON object or array, else the value itself."""
    if isinstance(value, str) and value[:1] in {"{", "["} and value[-1:] in {"}", "]"}:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _is_short(value: Any) -> bool:
    """Return whether a record or list is short and hides nothing when it is written as JSON."""
    text = json.dumps(value, ensure_ascii=False)
    return len(text) <= INLINE_CHARACTERS and "\\" not in text
