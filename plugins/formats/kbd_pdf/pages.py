"""The text of a page, as pdfium finds it.

Page numbers as people write them: "1-5", "3", "2,7-9"; counted from 1.

Which pages have no text, kept on the file's shelf by whoever has looked at all of them.
"""

import ctypes
import re
from collections.abc import Sequence
from pathlib import Path

import pypdfium2 as pdfium
from pypdfium2 import raw

from kbd.errors import ValidationFailed
from kbd.formats.shelves import keep, kept

__all__ = [
    "CHUNK_PAGES",
    "MOST_PAGES",
    "clean",
    "keep_silent_pages",
    "kept_silent_pages",
    "page_numbers",
    "text_of",
    "utf16",
    "written",
]

_UNSEEN = {code: None for code in range(32) if chr(code) not in "\t\n"}


def text_of(page: pdfium.PdfTextPage) -> str:
    """Return the text of a page, line by line.

    Its own method is not used: it is four times as slow, and leaves out what stands after a
    character that pdfium does not show.
    """
    count = raw.FPDFText_CountChars(page)
    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * (count + 1))()
    got = raw.FPDFText_GetText(page, 0, count, buffer)
    return clean(bytes(buffer)[: max(0, got - 1) * 2].decode("utf-16-le", "replace"))


def utf16(buffer: "ctypes.Array[ctypes.c_char]") -> str:
    """Return a text that pdfium wrote, with a zero at its end, into a buffer."""
    return buffer.raw.decode("utf-16-le", "replace").partition("\0")[0]


def clean(text: str) -> str:
    """Return text without control characters, and with words divided as they are on the page.

    pdfium joins a line that ends in a hyphen to the next one, with U+FFFE between.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufffe", "-\n")
    return text if text.isprintable() else text.translate(_UNSEEN)


CHUNK_PAGES = 5
"""Pages of a chunk (contract, section 8)."""

MOST_PAGES = 2000
"""Pages that one call looks at (reliability, section 4)."""

_PART = re.compile(r"\s*(\d{1,9})\s*(?:[-\u2013]\s*(\d{1,9})\s*)?")


def page_numbers(pages: str, count: int, name: str) -> tuple[int, ...]:
    """Return the pages that a text names, each once, in the order in which it names them.

    Args:
        pages: Numbers and ranges between commas; blanks do not matter.
        count: How many pages there are.
        name: The file, for messages.

    Raises:
        ValidationFailed: It is no such text, a range is reversed, a page is not there, or there are
            more than `MOST_PAGES`.
    """
    found: dict[int, None] = {}
    for part in pages.split(","):
        match = _PART.fullmatch(part)
        if match is None:
            msg = f'pages "{pages[:80]}" are not understood: give them as "1-5", "3" or "2,7-9".'
            raise ValidationFailed(msg)
        first = int(match[1])
        last = int(match[2] or first)
        if last < first:
            raise ValidationFailed(f"pages {first}-{last} are reversed: give {last}-{first}.")
        if first < 1 or last > count:
            missing = first if first < 1 or first > count else last
            told = f"{count} pages, counted from 1" if count != 1 else "1 page"
            raise ValidationFailed(f"{name} has {told}; page {missing} is not one of them.")
        if last - first >= MOST_PAGES:
            raise _too_many(name)
        found.update(dict.fromkeys(range(first, last + 1)))
        if len(found) > MOST_PAGES:
            raise _too_many(name)
    return tuple(found)


def written(numbers: Sequence[int]) -> str:
    """Return pages as `page_numbers` understands them: "2,7-9"."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)


def _too_many(name: str) -> ValidationFailed:
    return ValidationFailed(f"{name} is read {MOST_PAGES:,} pages at a time; give fewer.")


_KEPT = "silent-pages.2"
"""The name on the shelf, with the version of what is in it."""


def kept_silent_pages(shelf: Path | None) -> list[int] | None:
    """Return the numbers of all pages without text, or None where nobody has looked yet."""
    return kept(shelf, _KEPT, list[int])


def keep_silent_pages(shelf: Path | None, numbers: Sequence[int]) -> None:
    """Keep them; where that cannot be, nothing is kept."""
    keep(shelf, _KEPT, list(numbers))
