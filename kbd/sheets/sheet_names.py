"""Names of sheets: made legal and unique, as workbooks demand."""

from collections.abc import Collection, Iterable

__all__ = ["MAX_NAME_UNITS", "sheet_name", "sheet_names"]

MAX_NAME_UNITS = 31
"""Code units of UTF-16 that a sheet's name may have: one for most characters, two for emoji."""

_FORBIDDEN = frozenset("[]:*?/\\")


def sheet_name(wanted: str, taken: Collection[str]) -> str:
    """Return a legal sheet name that is not among the taken ones, whatever their case."""
    shown = "".join(c if c.isprintable() and c not in _FORBIDDEN else " " for c in wanted)
    # Excel takes no apostrophe at either end, and the cut may bring one to the end.
    name = _cut(" ".join(shown.split()).strip("' "), MAX_NAME_UNITS).strip("' ") or "(blank)"
    # Workbooks keep this name for themselves.
    name = f"({name})" if name.casefold() == "history" else name
    known = {other.casefold() for other in taken}
    candidate, number = name, 2
    while candidate.casefold() in known:
        ending = f" ({number})"
        candidate = _cut(name, MAX_NAME_UNITS - len(ending)).rstrip() + ending
        number += 1
    return candidate


def sheet_names(wanted: Iterable[str], taken: Collection[str] = ()) -> tuple[str, ...]:
    """Return a legal, unique sheet name for each wanted one, in their order."""
    names: list[str] = []
    for name in wanted:
        names.append(sheet_name(name, [*taken, *names]))
    return tuple(names)


def _cut(text: str, units: int) -> str:
    """Return the beginning of a text that has at most so many code units of UTF-16."""
    left = units
    for place, character in enumerate(text):
        left -= 2 if ord(character) > 0xFFFF else 1
        if left < 0:
            return text[:place]
    return text
