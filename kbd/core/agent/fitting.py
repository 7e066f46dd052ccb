"""A tool's result in as many characters as a model is shown: still JSON, and it says what is cut.

Long texts are cut first, all to one length, so that of each part of a result something is seen;
where that does not do, lists are cut to their first elements.
"""

from collections.abc import Callable
from typing import Any

from kbd.toolcall import render_toolresult, wrap_toolresult

__all__ = ["fitted_block"]

_LEAST_TEXT = 60
"""Texts are not cut shorter; lists are, then."""


def fitted_block(value: Any, most: int) -> str:
    """Return the block by which a model is told a result, with at most `most` characters in it.

    What was cut is told under `cut` beside the rest; a result that is no object stands under
    `result` then. Where there is no room for that either, the JSON text is cut.

    Args:
        value: What the tool returned.
        most: The most characters between the tags.

    Raises:
        ValueError: It is no JSON, or nested too deeply.
        TypeError: It holds what JSON has no word for.
    """
    whole = render_toolresult(value)
    empty = len(wrap_toolresult(""))
    size = len(whole) - empty
    if size <= most:
        return whole
    told = f"this is a part: the whole result has {size} characters"
    found = _fitting(value, told, most, most + empty)
    if found is not None:
        return found
    begin = wrap_toolresult("").index("</")
    return wrap_toolresult(f"{whole[begin : begin + max(0, most - 1)]}…"[:most])


def _fitting(value: Any, told: str, most: int, room: int) -> str | None:
    """Return the block of what fits of a result, or None if nothing does."""

    def block(length: int, count: int) -> str:
        return render_toolresult(_cut(value, length, count, told))

    # No more elements than characters.
    count = most
    if len(block(_LEAST_TEXT, count)) > room:
        count = _greatest(lambda tried: len(block(_LEAST_TEXT, tried)) <= room, 0, most)
    if count == 0:
        return None
    length = _greatest(lambda tried: len(block(tried, count)) <= room, _LEAST_TEXT, most)
    return block(length, count)


def _greatest(fits: Callable[[int], bool], low: int, high: int) -> int:
    """Return the greatest number that fits, `low` if none above it does."""
    while low < high:
        middle = (low + high + 1) // 2
        if fits(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _cut(value: Any, length: int, count: int, told: str) -> dict[str, Any]:
    """Cut texts and lists of a result, and say so."""
    lists: list[str] = []
    short = _short(value, length, count, lists, "")
    notice = "; ".join((told, "texts that end with … go on", *lists[:5]))
    return {"cut": notice, **(short if isinstance(short, dict) else {"result": short})}


def _short(value: Any, length: int, count: int, lists: list[str], name: str) -> Any:
    match value:
        case str() if len(value) > length:
            return f"{value[: length - 1]}…"
        case list() | tuple():
            if len(value) > count:
                lists.append(f"{name or 'the list'} has the first {count} of {len(value)}")
            return [_short(each, length, count, lists, name) for each in value[:count]]
        case dict():
            return {
                key: _short(each, length, count, lists, str(key)) for key, each in value.items()
            }
        case _:
            return value
