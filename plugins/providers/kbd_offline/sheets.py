"""Sheets that a request names, beside the word "sheet" or without it."""

import re
from collections.abc import Sequence

from kbd_offline.names import blanked, fold

__all__ = ["take_sheets", "wants_each_sheet", "without_each_sheet", "without_sheet"]

_SHEET = r"(?:work)?(?:sheets?|tabs?)|(?:tabellen)?blatt"
_EACH = (
    rf"\b(?:each|every|all|both)\s+(?:of\s+)?(?:(?:the|its|my|single|different)\s+)*(?:{_SHEET})\b"
    rf"|\b(?:{_SHEET})\s+(?:each|separately|individually)\b"
)
_QUOTES = "\"'“”‘’`"
_LEADS_TO_TABLE = (
    r"(?:of|in|from|on|for|within|convert|copy|export|filter|order|save|sort|transform|turn)"
)


def take_sheets(text: str, sheets: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Return the sheets that a text names beside the word "sheet", and the text without them.

    Raises:
        UnclearError: A sheet that is named in quotes is not there.
    """
    # The longest first: "Q1 2024" is not "Q1".
    names = "|".join(re.escape(fold(name)) for name in sorted(sheets, key=len, reverse=True))
    one = rf"[{_QUOTES}]?(?:{names})(?![\w-])[{_QUOTES}]?"
    many = rf"{one}(?:\s*(?:,|and|&|,\s*and)\s*{one})*"
    pattern = (
        rf"\b(?:{_SHEET})\s+(?:(?:called|named)\s+)?(?P<after>{many})"
        rf"|(?P<before>{many})\s+(?:{_SHEET})\b"
    )
    folded = fold(text)
    found = re.search(pattern, folded) if sheets else None
    if found is None:
        return (), text
    listed = found.group("after") or found.group("before")
    by_name = {fold(name): name for name in sheets}
    chosen = [by_name[match] for match in re.findall(rf"(?:{names})(?![\w-])", listed)]
    return tuple(dict.fromkeys(chosen)), blanked(text, *found.span())


def without_sheet(text: str, sheet: str) -> str | None:
    """Return a text without the name of a sheet that it is about, None where it names it nowhere.

    Without the word "sheet" only what leads to a table, or quotes, tell that a sheet is meant.
    """
    name = re.escape(fold(sheet))
    plain = rf"(?:^|\b{_LEADS_TO_TABLE}\s+)(?:the\s+)?(?P<plain>{name})(?![\w-])"
    quoted = rf"[{_QUOTES}]{name}[{_QUOTES}]"
    found = re.search(rf"{quoted}|{plain}", fold(text))
    if found is None:
        return None
    return blanked(text, *found.span("plain" if found.group("plain") else 0))


def wants_each_sheet(text: str) -> bool:
    """Tell whether a request speaks of every sheet."""
    return re.search(_EACH, fold(text)) is not None


def without_each_sheet(text: str) -> str:
    """Return a text without the words that speak of every sheet, of the same length."""
    found = re.search(_EACH, fold(text))
    return text if found is None else blanked(text, *found.span())
