"""What stays of a map when there is no room for it: counts, names and sizes. Pure.

A map is plain values of some format; nothing is known of it here but its shape. Single values stay
as they are, of a list its length and as many of its first elements as fit, each without what is
nested in it or says nothing (false, null, "", 0).

    {"sheets": {"count": 3, "first": [{"name": "Jan", "row_count": 812, "col_count": 9}, …]}}
"""

from collections.abc import Mapping
from typing import Any

import msgspec

__all__ = ["SUMMARY_BYTES", "summary"]

SUMMARY_BYTES = 400
"""The largest summary: some ten sheets or headings by name."""

_STRING_CHARACTERS = 60


def summary(structure: Mapping[str, Any], most: int = SUMMARY_BYTES) -> dict[str, Any]:
    """Return what fits of a map into `most` bytes of JSON."""
    short: dict[str, Any] = {}
    lists: dict[str, list[Any]] = {}
    for name, value in structure.items():
        match value:
            case list() | tuple():
                if value:
                    lists[name] = list(value)
                    short[name] = {"count": len(value)}
            case dict():
                short[name] = _plain(value)
            case _:
                if _says(value):
                    short[name] = _cut(value)
        if _size(short) > most:
            del short[name]
            lists.pop(name, None)
    for name, value in lists.items():
        _add_first(short, name, value, most)
    return short


def _add_first(short: dict[str, Any], name: str, value: list[Any], most: int) -> None:
    """Add to a list's count as many of its first elements as fit."""
    told = short[name]
    left = most - _size(short) - len('"first":[],')
    first: list[Any] = []
    for element in value:
        brief = _plain(element) if isinstance(element, dict) else _cut(element)
        left -= _size(brief) + 1
        if left < 0 or isinstance(element, list | tuple):
            break
        first.append(brief)
    if first:
        told["first"] = first


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    single = {name: each for name, each in value.items() if not isinstance(each, dict | list)}
    return {name: _cut(each) for name, each in single.items() if _says(each)}


def _says(value: Any) -> bool:
    return value not in (None, False, "", 0)


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _STRING_CHARACTERS:
        return value[: _STRING_CHARACTERS - 1] + "…"
    return value


def _size(value: Any) -> int:
    return len(msgspec.json.encode(value))
