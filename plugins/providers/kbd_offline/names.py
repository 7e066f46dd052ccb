"""Names: folding them for comparison, free file names. Pure."""

import re
import unicodedata
from collections.abc import Iterable

__all__ = ["fold", "free_name", "split_suffix", "tokens"]

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")


def fold(text: str) -> str:
    """Return text in lower case and without accents, of the same length."""
    return "".join(_fold_character(character) for character in text)


def _fold_character(character: str) -> str:
    # One character for each: a ligature would become two, and shift all places behind it.
    base = unicodedata.normalize("NFKD", character)[:1] or character
    return base.lower()[:1] or character


def tokens(name: str) -> tuple[str, ...]:
    """Return the words of a name, folded and in the singular."""
    return tuple(singular(word) for word in _WORD.findall(fold(_CAMEL.sub(" ", name))))


def singular(word: str) -> str:
    """Return a folded word without its plural ending; both sides of a comparison go through it."""
    # Three letters are too few to tell a plural by: "gas", "bus".
    if len(word) <= 3 or word.endswith("ss"):
        return word
    if word.endswith("ies"):
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "xes", "sses")):
        return word[:-2]
    return word.removesuffix("s")


def split_suffix(path: str) -> tuple[str, str]:
    """Return a path without its suffix, and the suffix in lower case with its dot."""
    stem, dot, suffix = path.rpartition(".")
    # A name that only begins with a dot has no suffix.
    return (stem, f".{suffix.lower()}") if dot and stem else (path, "")


def free_name(wanted: str, taken: Iterable[str]) -> str:
    """Return a file name that is not among the taken ones: `summary.xlsx`, `summary-2.xlsx`."""
    known = {other.casefold() for other in taken}
    stem, suffix = split_suffix(wanted)
    candidate, number = wanted, 2
    while candidate.casefold() in known:
        candidate, number = f"{stem}-{number}{suffix}", number + 1
    return candidate
