"""Text of two or four bytes a character without a byte order mark, told from text of single bytes.

In such a text bytes in even and in odd places are of two kinds: one names a script's page, and is
nearly always the same, the other the letter. In a text of single bytes both are alike. Apart from
`encodings`, its only caller, which has room for no second subject.
"""

import unicodedata
from collections import Counter

__all__ = ["wide_codec"]

_MOST_ODD = 0.05
"""How many characters may be none of a text, as a share."""

_MOST_PAGES = 0.95
"""How many characters must be of the commonest scripts, as a share."""

_PAGES = 4
"""How many scripts a text has beside ASCII: its own, punctuation, signs."""

_FEW = 16
"""Of fewer characters most have to be ASCII: a few bytes differ by chance."""


def wide_codec(head: bytes) -> str | None:
    """Return the codec of a text's first bytes if it is UTF-32 or UTF-16, or None."""
    if not any(byte < 9 or 13 < byte < 32 for byte in head):
        return None
    for codec, unit in (("utf-32-le", 4), ("utf-32-be", 4)):
        text = _decoded(head, codec, unit)
        if text and len(text) > 1 and _is_text(text):
            return codec
    even, odd = Counter(head[::2]), Counter(head[1::2])
    if len(head) < 4 or not _differ(even, odd, len(head) // 2):
        return None
    found = [
        (_oddness(text), codec)
        for codec in ("utf-16-le", "utf-16-be")
        if (text := _decoded(head, codec, 2)) and _is_text(text)
    ]
    return min(found)[1] if found else None


def _decoded(head: bytes, codec: str, unit: int) -> str:
    """Return the characters, "" where bytes are none; one that the end cuts off is left out."""
    whole = head[: len(head) // unit * unit]
    try:
        return whole.decode(codec)
    except UnicodeDecodeError as error:
        return whole[: error.start].decode(codec) if error.start >= len(whole) - 2 else ""


def _differ(even: Counter[int], odd: Counter[int], count: int) -> bool:
    """Tell whether bytes in even and odd places are of two kinds: half of them have no like."""
    if sum(abs(even[byte] - odd[byte]) for byte in even | odd) <= count:
        return False
    zeros = max(even[0], odd[0])
    if count < _FEW:
        return zeros > 0.4 * count
    if zeros > 0.5 * count:
        return True
    # Of pages there are few, but of ideographs; and of those hardly all bytes are ASCII, too.
    pages = max(sum(each for _, each in kind.most_common(_PAGES)) for kind in (even, odd))
    is_plain = all(not byte or 9 <= byte <= 13 or 32 <= byte < 127 for byte in even | odd)
    return pages >= _MOST_PAGES * count or (zeros > 0 and not is_plain)


def _is_text(text: str) -> bool:
    if _oddness(text) > _MOST_ODD:
        return False
    pages = Counter(_page(character) for character in text)
    most = sum(count for _, count in pages.most_common(_PAGES + 1))
    return "A" in pages and most >= _MOST_PAGES * len(text)


def _oddness(text: str) -> float:
    """Return the share of characters that no text has: controls, private and unassigned ones."""
    odd = sum(unicodedata.category(one)[0] == "C" and one not in "\t\n\r\x0c\ufeff" for one in text)
    return odd / len(text)


def _page(character: str) -> str:
    """Return what a character is of: ASCII, ideographs, or a block of 256."""
    code = ord(character)
    if code < 0x80:
        return "A"
    if 0x3400 <= code < 0xA000 or 0xF900 <= code < 0xFB00:
        return "ideograph"
    if 0xAC00 <= code < 0xD7A4:
        return "syllable"
    return str(code >> 8)
