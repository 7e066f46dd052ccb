"""Text of a comparison for a model: a line a change, with its place, what was there and what is."""

from collections.abc import Mapping
from typing import Any

from kbd.formats.comparison import Change, Comparison
from kbd.lookalikes import excerpts, tell_values_apart

__all__ = ["describe_change", "describe_changes"]

MAX_VALUE_CHARACTERS = 160
"""Of one side of a change; of a longer text, what is around its first changed word."""

_CONTEXT_CHARACTERS = 40


def describe_changes(found: Comparison, most: int, start: int = 0) -> dict[str, Any]:
    """Describe a comparison: changes as lines, and how many there are of each kind.

    Args:
        found: The comparison.
        most: Lines at the most.
        start: The first change that is a line; all are counted.

    Returns:
        `{counts: {"cell changed": 2}, changed: [line], not_shown?, warnings?}`; `not_shown` is how
        many follow the last line.
    """
    shown = found.changes[start : start + most]
    described: dict[str, Any] = {
        "counts": {f"{each.what} {each.kind}": each.count for each in found.counts},
        "changed": [describe_change(change) for change in shown],
    }
    if found.total > start + len(shown):
        described["not_shown"] = found.total - start - len(shown)
    if found.warnings:
        described["warnings"] = list(found.warnings)
    return described


def describe_change(change: Change) -> str:
    """Describe a change in a line: `changed Sheet1!B7: 341.6 -> 314.6`."""
    head = f"{change.kind} {change.place.title}"
    if change.what not in {"cell", "paragraph", "row", "line", "text"}:
        head = f"{head} ({change.what})"
    if change.moved_from is not None:
        head = f"{head} from {change.moved_from.title}"
    sides = _describe_sides(change)
    details = "; ".join(
        f"{name}: {_shorten_sides(old, new)}" for name, (old, new) in change.details.items()
    )
    parts = [part for part in (sides, details, change.note) if part]
    return f"{head}: {'; '.join(parts)}" if parts else head


def _describe_sides(change: Change) -> str:
    if change.words:
        return f"{_around(change, 'removed')} -> {_around(change, 'added')}"
    if change.before is None and change.after is None:
        return ""
    match change.kind:
        case "added":
            return _shorten(_value(change.after))
        case "removed":
            return _shorten(_value(change.before))
        case _:
            return _shorten_sides(change.before, change.after)


def _shorten_sides(before: Any, after: Any) -> str:
    """Return both sides of a change within their bounds, so that they do not look the same."""
    old, new = tell_values_apart(before, after, _value)
    if max(len(old), len(new)) > MAX_VALUE_CHARACTERS:
        old, new = excerpts(old, new, _CONTEXT_CHARACTERS)
    return f"{_shorten(old)} -> {_shorten(new)}"


def _around(change: Change, side: str) -> str:
    """Return one side of a changed text, from a little before its first changed word."""
    before = 0
    for kind, text in change.words:
        if kind != "equal":
            break
        before += len(text)
    whole = "".join(text for kind, text in change.words if kind in ("equal", side))
    start = max(0, before - _CONTEXT_CHARACTERS)
    return _shorten(f"…{whole[start:]}" if start else whole)


def _shorten(text: str) -> str:
    text = " ".join(text.split()) or "(empty)"
    if len(text) <= MAX_VALUE_CHARACTERS:
        return text
    return text[: MAX_VALUE_CHARACTERS - 1] + "…"


def _value(value: Any) -> str:
    """Return a plain value as text; of an object its parts."""
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case list() | tuple():
            return " | ".join(_value(each) for each in value)
        case {"formula": formula, **rest}:
            return f"{formula} = {_value(rest.get('value'))}" if rest.get("current") else formula
        case Mapping() if len(value) == 1:
            return _value(next(iter(value.values())))
        case Mapping():
            return ", ".join(f"{name} {_value(each)}" for name, each in value.items())
        case _:
            return str(value)
