"""Texts that look the same and are not, written so that people see in what they differ.

A no-break space, a mark without width, a letter of another script or a blank at the end is a change
like any other; shown as it is, both sides of it read the same.
"""

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, AnyStr

__all__ = [
    "common_prefix_length",
    "excerpt",
    "excerpts",
    "mark_hidden",
    "mark_piece",
    "tell_apart",
    "tell_values_apart",
]

_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00a0\u00ad\u061c\u180e\u2000-\u200b\u200e\u200f\u2028-\u202f"
    "\u205f-\u206f\u3164\ud800-\udfff\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""What nobody sees, what looks like a blank, and what turns the direction of writing."""

_MARKS = re.compile("[\u0300-\u036f\u200c\u200d\ufe00-\ufe0f]")
"""What belongs to the character before it; seen, or not, by the font."""

# Escaped, for here too they would look like others.
_CYRILLIC_AND_GREEK = (
    "\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0408\u0405"
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0501\u04bb\u0391\u0392"
    "\u0395\u0396\u0397\u0399\u039a\u039c\u039d\u039f\u03a1\u03a4\u03a5\u03a7\u03bf\u0475"
    "\u03bd"
)
_LATIN = "ABEKMHOPCTXIJSaeopcyxijsdhABEZHIKMNOPTYXovv"
_ALIKE = str.maketrans(_CYRILLIC_AND_GREEK, _LATIN)
_FOREIGN = re.compile(f"[{_CYRILLIC_AND_GREEK}]")
_ASCII_LETTER = re.compile("[A-Za-z]")


def mark_hidden(text: str) -> str:
    """Return a text with each character that nobody sees written by its number."""
    return text if text.isprintable() else _HIDDEN.sub(_number, text)


def mark_piece(piece: str) -> str:
    """Return a changed piece of a text so that it is seen, a lone blank or mark, too."""
    if piece.isascii() and not piece.isspace():
        return mark_hidden(piece)
    marked = _MARKS.sub(_number, mark_hidden(piece))
    if _ASCII_LETTER.search(piece):
        marked = _FOREIGN.sub(_number, marked)
    return _mark_blanks(marked) if marked.isspace() else marked


def tell_apart(before: str, after: str) -> tuple[str, str]:
    """Return two texts that differ so that they do not look the same."""
    if before == after or _look(before) != _look(after):
        return mark_hidden(before), mark_hidden(after)
    start = common_prefix_length(before, after)
    behind = common_prefix_length(before[start:][::-1], after[start:][::-1])
    one, other = (
        mark_hidden(text[:start])
        + "".join(map(_spell, text[start : len(text) - behind]))
        + mark_hidden(text[len(text) - behind :])
        for text in (before, after)
    )
    return one, other


def tell_values_apart(
    before: object, after: object, render: Callable[[Any], str]
) -> tuple[str, str]:
    """Return two plain values that differ as texts that do not look the same.

    Args:
        before: The older one.
        after: The newer one.
        render: Makes a text of a value; where both are the same, they get the names of their types.
    """
    old, new = tell_apart(render(before), render(after))
    if old != new or before == after:
        return old, new
    return f"{old} ({_type_name(before)})", f"{new} ({_type_name(after)})"


def excerpts(before: str, after: str, around: int) -> tuple[str, str]:
    """Return what differs in two texts, with so many characters before it, and all behind it."""
    start = common_prefix_length(before, after)
    if start <= 2 * around:
        return before, after
    begin = start - around
    return f"…{before[begin:]}", f"…{after[begin:]}"


def excerpt(words: Iterable[tuple[str, str]], around: int) -> list[tuple[str, str]]:
    """Return the words of a text with what is equal cut down to what is near a changed one."""
    segments: Sequence[tuple[str, str]] = [*words]
    found = []
    last = len(segments) - 1
    for number, (kind, text) in enumerate(segments):
        if kind == "equal":
            # Of a side without words of its own nobody knows where the other one has some.
            left = text[:around] if number or not last else ""
            right = text[-around:] if number != last or not last else ""
            if len(left) + len(right) + 3 < len(text):
                text = f"{left}…{right}"
        found.append((kind, text))
    return found


def common_prefix_length(one: AnyStr, other: AnyStr) -> int:
    """Return how much of their beginning two texts, or two blocks of bytes, have in common."""
    # By halves: slices are compared in C, a loop over megabytes is not.
    low, high = 0, min(len(one), len(other))
    while low < high:
        # Rounded up, or two neighbors would be halved for ever.
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _type_name(value: object) -> str:
    match value:
        case None:
            return "none"
        case bool():
            return "truth value"
        case int() | float():
            return "number"
        case str():
            return "text"
        case list() | tuple():
            return "list"
        case _:
            return ", ".join(map(str, value)) if isinstance(value, Mapping) else "other"


def _look(text: str) -> str:
    plain = _HIDDEN.sub(" ", unicodedata.normalize("NFKC", text).translate(_ALIKE))
    # Where blanks stand, and how many, is seen by nobody.
    return "".join(_MARKS.sub("", unicodedata.normalize("NFC", plain)).split())


def _spell(character: str) -> str:
    if character.isspace():
        return _mark_blanks(mark_hidden(character))
    return character if character.isascii() and character.isprintable() else _named(character)


def _mark_blanks(text: str) -> str:
    return text.replace(" ", "␣").replace("\t", "→").replace("\n", "⏎\n")


def _number(found: re.Match[str]) -> str:
    return _named(found[0])


def _named(character: str) -> str:
    return f"⟨U+{ord(character):04X}⟩"
