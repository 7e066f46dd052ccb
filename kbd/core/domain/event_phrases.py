"""Phrases in texts of events: one clean line, a list of files, the arguments of a call."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

import msgspec

from kbd.figures import counted

__all__ = [
    "FIELD_CHARACTERS",
    "TITLE_CHARACTERS",
    "argument_list",
    "count_repeats",
    "field_list",
    "file_list",
    "labeled_text",
    "title_line",
]

TITLE_CHARACTERS = 240
"""How long a title is at most; all of what it names is in the event."""

FIELD_CHARACTERS = 400
"""How much of a long text is looked at for a title."""

VALUE_CHARACTERS = 48
"""How much a title shows of one argument of a call."""

# What a terminal takes for a command (ECMA-48: CSI and OSC); the rest of it would be rubbish.
_SEQUENCES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")


def title_line(text: str, most: int = TITLE_CHARACTERS) -> str:
    """Return a text as one line of printable characters, cut if it is long.

    What is not printable could redraw a terminal or turn the direction of writing.
    """
    if len(text) <= most and text.isprintable() and "  " not in text:
        return text.strip(" ")
    # What is cut away need not be looked at: texts may be long, titles are many.
    one = " ".join(_SEQUENCES.sub("", text[: 8 * most]).split())
    if not one.isprintable():
        seen = (char if char.isprintable() else " " for char in one)
        one = " ".join("".join(seen).split())
    return one if len(one) <= most and len(text) <= 8 * most else one[: most - 1] + "…"


def count_repeats(texts: Iterable[str]) -> str:
    """Join texts in their order, each once, with its count if it occurs several times."""
    counts = Counter(texts)
    return ", ".join(text if count == 1 else f"{text} ×{count}" for text, count in counts.items())


def file_list(names: Iterable[str]) -> str:
    """Return how many files there are, and which."""
    found = list(names)
    return f"{counted(len(found), 'file')}: {', '.join(found)}" if found else "no files"


def argument_list(text: str) -> str:
    """Return arguments as `name=value, …`, each value cut; what is no JSON object as it is."""
    try:
        given = msgspec.json.decode(text) if text else {}
    except (msgspec.DecodeError, RecursionError):
        return text
    if not isinstance(given, dict):
        return text
    return field_list(given)


def field_list(record: dict[str, Any]) -> str:
    """Return a record as `name=value, …`, each value cut."""
    return ", ".join(f"{name}={_value(value)}" for name, value in record.items())


def _value(value: Any) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return title_line(text, VALUE_CHARACTERS)


def labeled_text(what: str) -> Callable[[Any, Any], str]:
    """Return a renderer of events as their text, behind a word that labels it."""
    return lambda data, _context: f"{what}: {data.text[:FIELD_CHARACTERS]}"
