"""Names: folding them for comparison, their words and stems, and how far two are apart. Pure."""

import re
import unicodedata

__all__ = ["blanked", "distance", "fold", "singular", "slug", "split_suffix", "stem", "tokens"]

_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_ENDINGS = ("en", "er", "e", "n")


def fold(text: str) -> str:
    """Return text in lower case and without accents, of the same length."""
    if text.isascii():
        return text.lower()
    return "".join(_fold_character(character) for character in text)


def _fold_character(character: str) -> str:
    # One character for each: a ligature would become two, and shift all places behind it.
    base = unicodedata.normalize("NFKD", character)[:1] or character
    return base.lower()[:1] or character


def blanked(text: str, start: int, end: int) -> str:
    """Return a text with blanks in the place of a stretch, of the same length."""
    return text[:start] + " " * (end - start) + text[end:]


def tokens(name: str) -> tuple[str, ...]:
    """Return the words of a name, folded."""
    return tuple(_WORD.findall(fold(_CAMEL.sub(" ", name))))


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


def stem(word: str) -> str:
    """Return a folded word without the endings of English and German plurals."""
    one = singular(word)
    for ending in _ENDINGS:
        if one.endswith(ending) and len(one) - len(ending) >= 4:
            return one.removesuffix(ending)
    return one


def split_suffix(path: str) -> tuple[str, str]:
    """Return a path without its suffix, and the suffix in lower case with its dot."""
    head, dot, suffix = path.rpartition(".")
    # A name that only begins with a dot has no suffix.
    return (head, f".{suffix.lower()}") if dot and head else (path, "")


def slug(text: str) -> str:
    """Return a text as a part of a file's name: small letters and digits with hyphens."""
    return "-".join(_WORD.findall(text.casefold()))


def distance(first: str, second: str) -> int:
    """Return how many letters have to be changed, added, removed or swapped with the next one."""
    before: list[int] = []
    row = list(range(len(second) + 1))
    for place, letter in enumerate(first, 1):
        last, before, row = before, row, [place]
        for other, against in enumerate(second, 1):
            cost = min(before[other] + 1, row[-1] + 1, before[other - 1] + (letter != against))
            swapped = place > 1 and other > 1 and letter == second[other - 2]
            if swapped and first[place - 2] == against:
                cost = min(cost, last[other - 2] + 1)
            row.append(cost)
    return row[-1]
