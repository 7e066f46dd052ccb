"""Patterns of the files that a recipe reads, and templates of the names of those that it writes.

orders-2024-05.csv      orders-*.csv
sales.csv               *.csv, where it is the only one of its kind
sales-by-region.xlsx    {sales}-by-region.xlsx
"""

import re
from collections.abc import Callable, Mapping, Sequence

from kbd.jobs.recipes.facts import InputFacts
from kbd.jobs.recipes.request_days import MONTH_NUMBERS

__all__ = [
    "file_stem",
    "file_template",
    "fits_pattern",
    "has_period",
    "input_patterns",
    "stem_pattern",
    "without_period",
]

_MONTH = "|".join(sorted(MONTH_NUMBERS, key=len, reverse=True))
_VARYING = re.compile(
    rf"(?<![^\W\d_])(?:[qhvw]|kw|fy|wk)?\d[\d]*(?![^\W_])|\d+|(?<![^\W\d_])(?:{_MONTH})(?![^\W\d_])",
    re.IGNORECASE,
)
"""A part of a name that says when, or which: figures, a quarter, a month."""


def has_period(name: str) -> bool:
    """Tell whether a name has figures or a month in it."""
    return _VARYING.search(name) is not None


def without_period(name: str) -> str:
    """Return a name without its figures and months, and what stood between them."""
    found = re.sub(r"[-_. ]*\0(?:[-_. ]*\0)*", "\0", _VARYING.sub("\0", name))
    return found.replace("\0", "")


def stem_pattern(file: str) -> str:
    """Return the pattern of files that are called alike but for figures and months."""
    stem, suffix = _parts(file)
    found = _VARYING.sub("*", re.sub(r"[\[*?]", "?", stem))
    found = re.sub(r"\*(?:[-_. ]*\*)+", "*", found)
    return f"{found if '*' in found else f'{found}*'}{suffix}"


def input_patterns(
    inputs: Sequence[InputFacts], is_other: Callable[[str, str], bool]
) -> tuple[dict[str, str], tuple[tuple[str, str], ...]]:
    """Return the pattern of each input's file by its name, and the pairs that nothing tells apart.

    Args:
        inputs: The inputs; several of one file are told apart by their sheets.
        is_other: Whether the table of the second input has not the columns of the first one.
    """
    patterns: dict[str, str] = {}
    unclear: list[tuple[str, str]] = []
    for each in inputs:
        suffix = _parts(each.file)[1]
        # Inputs that are sheets of one file are of one file again.
        peers = [one for one in inputs if one.file != each.file and _parts(one.file)[1] == suffix]
        if all(_are_apart(each, one, is_other) for one in peers):
            patterns[each.name] = f"*{suffix}"
            continue
        patterns[each.name] = stem_pattern(each.file)
        unclear += [
            (each.name, one.name)
            for one in peers
            if fits_pattern(one.file, patterns[each.name]) and not _are_apart(each, one, is_other)
        ]
    return patterns, tuple(unclear)


def _are_apart(one: InputFacts, other: InputFacts, is_other: Callable[[str, str], bool]) -> bool:
    """Tell whether the columns of two tables say which is which, whatever they are called."""
    return one.kind == other.kind == "table" and is_other(one.name, other.name)


def fits_pattern(file: str, pattern: str) -> bool:
    """Tell whether a name is one that a pattern with `*` and `?` means."""
    signs = {"*": ".*", "?": "."}
    expression = "".join(signs.get(sign, re.escape(sign)) for sign in pattern)
    return re.fullmatch(expression, file, re.DOTALL) is not None


def file_template(name: str, stems: Mapping[str, str]) -> str:
    """Return the name of a result with `{input}` where it held the name of that input's file.

    Args:
        name: The name.
        stems: The name of each input's file without its suffix, by the input's name.
    """
    # What is a placeholder already holds no name.
    parts = re.split(r"(\{[^{}]*\})", name)
    for label, stem in sorted(stems.items(), key=lambda each: len(each[1]), reverse=True):
        slug = "-".join(re.findall(r"[^\W_]+", stem.casefold()))
        for part in {stem, slug} - {""}:
            # A plain word may be one of the request's behind the beginning: "hours-by-project".
            before = r"(?<![^\W_])" if has_period(stem) else r"(?:(?<=\A)|(?<=/))"
            found = re.compile(rf"{before}{re.escape(part)}(?![^\W_])", re.IGNORECASE)
            parts = [
                piece
                for number, each in enumerate(parts)
                for piece in (
                    (each,)
                    if each.startswith("{") or (number and before.startswith("(?:"))
                    else _split(found, each, label)
                )
            ]
    return "".join(parts)


def _split(found: re.Pattern[str], text: str, label: str) -> list[str]:
    """Return the pieces of a text with a placeholder wherever something was found."""
    pieces = found.split(text)
    return [part for piece in pieces for part in (f"{{{label}}}", piece)][1:]


def file_stem(file: str) -> str:
    """Return the name of a file without its folder and its suffix."""
    return _parts(file)[0]


def _parts(file: str) -> tuple[str, str]:
    """Return the name of a file without its folder, and its suffix with the point."""
    base = file.rpartition("/")[2]
    stem, dot, suffix = base.rpartition(".")
    return (stem, f"{dot}{suffix}") if stem else (base, "")
