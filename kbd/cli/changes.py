"""The change set of a draft, as a table for people."""

from collections.abc import Sequence
from typing import Any

from kbd.cli.terminal import line, size, table

__all__ = ["changed_paths", "deleted_paths", "described"]


def described(changes: list[dict[str, Any]]) -> str:
    """Return the changes as a table, each warning below it."""
    if not changes:
        return "No changes."
    rows = [
        (
            str(change["change_type"]),
            str(change["path"]),
            _sizes(change),
            _ranges(change.get("items") or ()),
        )
        for change in changes
    ]
    warnings = [
        f"  ! {line(str(change['path']))}: {line(str(warning))}"
        for change in changes
        for warning in change.get("warnings") or ()
    ]
    return "\n".join([table(("change", "file", "size", "items"), rows), *warnings])


def changed_paths(changes: list[dict[str, Any]]) -> list[str]:
    """Return the files that exist with new content after a publish."""
    return [str(each["path"]) for each in changes if each["change_type"] != "deleted"]


def deleted_paths(changes: list[dict[str, Any]]) -> list[str]:
    """Return the files that a publish would delete."""
    return [str(each["path"]) for each in changes if each["change_type"] == "deleted"]


def _ranges(items: Sequence[int]) -> str:
    """Return the numbers, neighbours as a range: 1-3, 5."""
    told: list[list[int]] = []
    for item in sorted(items):
        if told and item == told[-1][-1] + 1:
            told[-1][1:] = [item]
        else:
            told.append([item])
    return ", ".join("-".join(str(end) for end in ends) for ends in told)


def _sizes(change: dict[str, Any]) -> str:
    before, after = change.get("size_before"), change.get("size_bytes")
    match change["change_type"]:
        case "deleted":
            return "" if before is None else f"was {size(before)}"
        case "modified" if before is not None:
            return f"{size(before)} -> {size(after or 0)}"
        case _:
            return size(after or 0)
