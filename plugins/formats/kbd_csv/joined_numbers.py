"""Numbers that a comma split in two fields: decimal commas in files with commas between fields."""

from collections.abc import Sequence

__all__ = ["joined_decimals"]

_MOST_JOINED = 64
"""Fields of a row whose numbers are joined at most; all ways to do so are looked at."""


def joined_decimals(fields: Sequence[str], width: int) -> list[str] | None:
    """Join digits on both sides of a comma that split a number, so that a row has `width` fields.

    Returns:
        The fields, or None if there is no way to do so, or more than one.
    """
    if len(fields) > _MOST_JOINED:
        return None
    # The ways to make some fields of those so far: none, one, or several.
    ways: list[dict[int, list[str] | None]] = [{0: []}]
    for place, field in enumerate(fields):
        found: dict[int, list[str] | None] = {}
        steps = [(1, field)]
        if place and _splits(fields[place - 1], field):
            steps.append((2, f"{fields[place - 1]},{field}"))
        for taken, value in steps:
            for count, before in ways[place + 1 - taken].items():
                if count < width:
                    # A second way to the same number of fields says that none is sure.
                    known = count + 1 in found or before is None
                    found[count + 1] = None if known or before is None else [*before, value]
        ways.append(found)
    return ways[-1].get(width)


def _splits(one: str, other: str) -> bool:
    """Tell whether two fields can be the whole and the decimal part of one number."""
    whole = one.strip().lstrip("+-(€$£¥ ")
    return whole.isdecimal() and other.strip().rstrip(")%€$£¥ ").isdecimal() and other[:1] != " "
