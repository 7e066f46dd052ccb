"""What stands on a page as text and people do not see: invisible, too small, or beside the page.

Recognised text of a scan is invisible, too: it lies under or over the picture that people see.
Text in the colour of what is behind it is not recognised.
"""

import ctypes
from collections.abc import Iterator
from typing import Any

import msgspec
import pypdfium2 as pdfium
from pypdfium2 import raw

from kbd_pdf.pages import clean, utf16

__all__ = ["Unseen", "has_text", "unseen_of"]

SMALLEST_PT = 1.0
"""Smaller letters nobody reads."""

MOST_OBJECTS = 20_000
"""Things of a page that are looked at."""

MOST_CHARACTERS = 4000
"""Of unseen text that is shown apart; all of it stands in the text of the page, too."""

_DEPTH = 4
_TEXT = raw.FPDF_PAGEOBJ_TEXT
_BLANK = ord(" ")
_INVISIBLE = (raw.FPDF_TEXTRENDERMODE_INVISIBLE, raw.FPDF_TEXTRENDERMODE_CLIP)


class Unseen(msgspec.Struct, frozen=True):
    """What people do not see of a page's text.

    Args:
        text: It, or "".
        is_layer: Whether all text of the page is invisible and lies on a picture: that of a scan.
    """

    text: str = ""
    is_layer: bool = False


def unseen_of(page: pdfium.PdfPage, textpage: pdfium.PdfTextPage) -> Unseen:
    """Find the unseen text of a page, in at most `MOST_OBJECTS` things on it."""
    box = raw.FS_RECTF()
    has_box = raw.FPDF_GetPageBoundingBox(page, box)
    place = _Place(box if has_box else None)
    hidden, shown, pictures = [], 0, 0
    for thing, kind, depth in _things(page):
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            pictures += 1
        elif kind == _TEXT:
            is_seen = raw.FPDFTextObj_GetTextRenderMode(thing) not in _INVISIBLE
            # In a form, its own scale and place would count.
            if is_seen and (depth or place.is_seen(thing)):
                shown += 1
            else:
                hidden.append(thing)
    if not hidden:
        return Unseen()
    if pictures and not shown:
        return Unseen(is_layer=True)
    return Unseen(_joined(hidden, textpage))


def has_text(page: pdfium.PdfPage) -> bool:
    """Tell whether a page has text that is more than blanks; cheaper than its text."""
    if not any(kind == _TEXT for _, kind, _ in _things(page)):
        return False
    textpage = page.get_textpage()
    try:
        # Letters may be painted of which nobody knows which they are: then there is no text.
        count = min(raw.FPDFText_CountChars(textpage), MOST_OBJECTS)
        return any(raw.FPDFText_GetUnicode(textpage, place) > _BLANK for place in range(count))
    finally:
        textpage.close()


def _things(page: pdfium.PdfPage) -> Iterator[tuple[Any, int, int]]:
    """Yield what is on a page and in forms on it, with its kind, and how deep in forms it is."""
    left = MOST_OBJECTS
    waiting = [(raw.FPDFPage_GetObject, page.raw, raw.FPDFPage_CountObjects(page), 0)]
    while waiting:
        get, holder, count, depth = waiting.pop()
        count = min(count, left)
        left -= count
        for place in range(count):
            thing = get(holder, place)
            kind = raw.FPDFPageObj_GetType(thing)
            yield thing, kind, depth
            if kind == raw.FPDF_PAGEOBJ_FORM and depth < _DEPTH:
                inside = raw.FPDFFormObj_CountObjects(thing)
                waiting.append((raw.FPDFFormObj_GetObject, thing, inside, depth + 1))


class _Place:
    """Whether a piece of text stands on the page in letters that can be read."""

    def __init__(self, box: Any | None) -> None:
        self._box = box
        self._sides = tuple(ctypes.c_float() for _ in range(4))
        self._size = ctypes.c_float()
        self._matrix = raw.FS_MATRIX()

    def is_seen(self, thing: Any) -> bool:
        """Tell so of a piece of text that is on the page itself."""
        if not raw.FPDFPageObj_GetBounds(thing, *self._sides):
            return True
        left, bottom, right, top = (side.value for side in self._sides)
        box = self._box
        if box and (right < box.left or left > box.right or top < box.bottom or bottom > box.top):
            return False
        # A full stop is low, too: only then the size of the letters is asked for.
        return top - bottom >= SMALLEST_PT or self._letters_pt(thing) >= SMALLEST_PT

    def _letters_pt(self, thing: Any) -> float:
        is_known = raw.FPDFTextObj_GetFontSize(thing, self._size)
        if not is_known or not raw.FPDFPageObj_GetMatrix(thing, self._matrix):
            return SMALLEST_PT
        matrix = self._matrix
        scale: float = abs(matrix.a * matrix.d - matrix.b * matrix.c) ** 0.5
        return abs(float(self._size.value)) * scale


def _joined(things: list[Any], textpage: pdfium.PdfTextPage) -> str:
    parts: list[str] = []
    size = 0
    for thing in things:
        length = raw.FPDFTextObj_GetText(thing, textpage, None, 0)
        buffer = ctypes.create_string_buffer(length)
        raw.FPDFTextObj_GetText(
            thing, textpage, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), length
        )
        if part := clean(utf16(buffer)).strip():
            parts.append(part)
            size += len(part)
        if size > MOST_CHARACTERS:
            parts.append("…")
            break
    return " ".join(parts)
