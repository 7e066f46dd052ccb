"""Text of a page as pdfium finds it, and what of it people cannot see.

People do not see text that is invisible, too small, or beside the page. Recognized text of a scan
is invisible, too: it lies under or over the picture that people see. Text that is transparent, or
white with nothing painted in its place but the page, is drawn to be sure: a color may be told in
ways that pdfium does not resolve. Where that cannot be done it is taken for seen.

Which pages have no text is kept on the file's shelf by whoever has looked at all of them.
"""

import ctypes
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import msgspec
import pypdfium2 as pdfium
from pypdfium2 import raw

from kbd.formats.page_numbers import format_page_numbers
from kbd.formats.shelves import keep, kept

__all__ = [
    "CHUNK_PAGES",
    "HiddenText",
    "cache_guessed_pages",
    "cache_textless_pages",
    "cached_guessed_pages",
    "cached_textless_pages",
    "clean",
    "guessed_warning",
    "hidden_text_of",
    "is_guessed",
    "page_label",
    "text_of",
    "text_state",
    "told_by",
]

_CONTROL_CHARACTERS = {code: None for code in range(32) if chr(code) not in "\t\n"}


def text_of(page: pdfium.PdfTextPage) -> str:
    """Return the text of a page, line by line.

    Its own method is not used: it is four times as slow, and leaves out what stands after a
    character that pdfium does not show.
    """
    count = raw.FPDFText_CountChars(page)
    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * (count + 1))()
    # It counts the zero that it writes at the end.
    got = raw.FPDFText_GetText(page, 0, count, buffer)
    return clean(bytes(buffer)[: max(0, got - 1) * 2].decode("utf-16-le", "replace"))


def told_by(ask: Callable[[Any, int], int]) -> str:
    """Return a text that pdfium gives; halves of pairs of surrogates become U+FFFD.

    What pypdfium2 has for it raises of them.

    Args:
        ask: Fills a buffer of so many bytes, if given one, and returns how many there are.
    """
    # It gives the size first; two bytes are the zero at the end of an empty text.
    size = ask(None, 0)
    if size <= 2:
        return ""
    buffer = ctypes.create_string_buffer(size)
    ask(ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return buffer.raw.decode("utf-16-le", "replace").partition("\0")[0]


def page_label(document: pdfium.PdfDocument, index: int) -> str:
    """Return what a page is numbered as, "" for nothing; the first page is 0."""
    return told_by(partial(raw.FPDF_GetPageLabel, document, index))


def clean(text: str) -> str:
    """Return text without control characters, and with words divided as they are on the page.

    pdfium joins a line that ends in a hyphen to the next one, with U+FFFE between.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\ufffe", "-\n")
    return text if text.isprintable() else text.translate(_CONTROL_CHARACTERS)


CHUNK_PAGES = 5
"""Pages of a chunk (contract, section 8)."""

_SHELF_NAME = "silent-pages.2"
"""The name on the shelf, with the version of what is in it."""


_GUESSED_SHELF = "guessed-pages.1"


def cached_guessed_pages(shelf: Path | None) -> list[int]:
    """Return the numbers of pages whose text is guessed, as far as somebody has looked."""
    return kept(shelf, _GUESSED_SHELF, list[int]) or []


def cache_guessed_pages(shelf: Path | None, numbers: Sequence[int]) -> None:
    """Cache the numbers of pages whose text is guessed; without a shelf nothing is done."""
    keep(shelf, _GUESSED_SHELF, list(numbers))


def cached_textless_pages(shelf: Path | None) -> list[int] | None:
    """Return the numbers of all pages without text, or None where nobody has looked yet."""
    return kept(shelf, _SHELF_NAME, list[int])


def cache_textless_pages(shelf: Path | None, numbers: Sequence[int]) -> None:
    """Cache the numbers of all pages without text; without a shelf nothing is done."""
    keep(shelf, _SHELF_NAME, list(numbers))


MIN_SIZE_PT = 1.0
"""Smaller letters nobody reads."""

MAX_OBJECTS = 20_000
"""Things of a page that are looked at."""

MAX_CHARACTERS = 4000
"""Of unseen text that is shown apart; all of it stands in the text of the page, too."""

_DEPTH = 4
_TEXT = raw.FPDF_PAGEOBJ_TEXT
_BLANK = ord(" ")
_FILLED = raw.FPDF_TEXTRENDERMODE_FILL
_CLEAR = 12
"""Letters of this opacity, of 255, nobody sees: five of a hundred."""

_INVISIBLE = (raw.FPDF_TEXTRENDERMODE_INVISIBLE, raw.FPDF_TEXTRENDERMODE_CLIP)


class HiddenText(msgspec.Struct, frozen=True):
    """Hidden text of a page.

    Args:
        text: The text, or "".
        is_layer: Whether all text of the page is invisible and lies on a picture: that of a scan.
    """

    text: str = ""
    is_layer: bool = False


def hidden_text_of(
    page: pdfium.PdfPage, textpage: pdfium.PdfTextPage, may_draw: Callable[[], bool]
) -> HiddenText:
    """Find the hidden text of a page, in at most `MAX_OBJECTS` things on it.

    Args:
        page: The page.
        textpage: Its text.
        may_draw: Tells whether the page can be drawn at little cost; asked only if it has pale
            text.
    """
    box = raw.FS_RECTF()
    has_box = raw.FPDF_GetPageBoundingBox(page, box)
    place = _VisibilityTest(box if has_box else None)
    hidden, shown, pictures = [], 0, 0
    count = 0
    pale, painted = [], []
    for page_object, kind, depth in _page_objects(page):
        count += 1
        if kind != _TEXT and not depth:
            painted.append(page_object)
        if kind == raw.FPDF_PAGEOBJ_IMAGE:
            pictures += 1
        elif kind == _TEXT:
            mode = raw.FPDFTextObj_GetTextRenderMode(page_object)
            is_seen = mode not in _INVISIBLE
            # In a form, its own scale and place would count.
            if is_seen and (depth or place.is_seen(page_object)):
                if not depth and mode == _FILLED and place.is_pale(page_object):
                    pale.append(page_object)
                shown += 1
            else:
                hidden.append(page_object)
    if pale and count <= MAX_DRAWN and not pictures and may_draw():
        # Most pale text stands on something, and then the page need not be drawn.
        behind = [place.sides(each) for each in painted]
        alone = [
            (each, sides)
            for each, sides in ((each, place.sides(each)) for each in pale)
            if not any(_meet(sides, it) for it in behind)
        ]
        unseen = list(_undrawn(page, alone)) if alone else []
        hidden += unseen
        shown -= len(unseen)
    if not hidden:
        return HiddenText()
    if pictures and not shown:
        return HiddenText(is_layer=True)
    return HiddenText(_text_of_objects(hidden, textpage))


_Sides = tuple[float, float, float, float]
"""Left, bottom, right and top."""

_EVERYWHERE: _Sides = (float("-inf"), float("-inf"), float("inf"), float("inf"))


def _meet(one: _Sides, other: _Sides) -> bool:
    """Tell whether two things may touch each other."""
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


MAX_DRAWN = 2000
"""Things of a page that is drawn to see whether its pale text can be read."""

_DRAWN_PX = 1500
_NEAR = 15
"""By how much a part of a color may differ, of 255, that nobody tells it apart."""


def _undrawn(page: pdfium.PdfPage, pale: Sequence[tuple[Any, _Sides]]) -> Iterator[Any]:
    """Yield those texts of which nothing is seen where they stand when the page is drawn."""
    box = raw.FS_RECTF()
    if page.get_rotation() or not raw.FPDF_GetPageBoundingBox(page, box):
        return
    wide, high = page.get_size()
    if not 0 < max(wide, high) < _DRAWN_PX:
        return
    bitmap = page.render(scale=_DRAWN_PX / max(wide, high), may_draw_forms=False)
    try:
        picture = bitmap.to_pil().convert("RGB")
    finally:
        bitmap.close()
    scale = picture.width / wide
    for page_object, (left, bottom, right, top) in pale:
        area = (
            max(0, int((left - box.left) * scale)), max(0, int((box.top - top) * scale)),
            min(picture.width, int((right - box.left) * scale) + 1),
            min(picture.height, int((box.top - bottom) * scale) + 1),
        )  # fmt: skip
        if area[0] >= area[2] or area[1] >= area[3]:
            continue
        bands = picture.crop(area).getextrema()
        if all(least >= 255 - _NEAR for least, _ in bands):
            yield page_object


_SAMPLED = 32
"""Letters of a page that are asked for; each takes 0.5 µs."""
_GUESSED = 0.2
"""A page of which so many letters have no map is told; a sign here and there is none."""


def is_guessed(textpage: pdfium.PdfTextPage) -> bool:
    """Tell whether fonts of a page do not say which letters they draw, so that these are guessed.

    A font may have no map from what it draws to letters (ISO 32000-1, 9.10.2): then its own codes
    are taken for letters, which is right or nonsense.
    """
    count = raw.FPDFText_CountChars(textpage)
    step = max(1, count // _SAMPLED)
    asked = range(0, max(count, 0), step)
    lacking = sum(raw.FPDFText_HasUnicodeMapError(textpage, place) == 1 for place in asked)
    return bool(lacking >= 3 and lacking >= _GUESSED * len(asked))


def guessed_warning(numbers: Sequence[int]) -> str:
    """Return what is said of pages whose text is guessed."""
    return (
        f"The fonts of pages {format_page_numbers(numbers)} do not say which letters they draw: "
        "their text is guessed, and may be other than what is seen. Look at them as pictures."
    )


def text_state(page: pdfium.PdfPage) -> Literal["none", "guessed", "known"]:
    """Tell whether a page has text that is more than blanks, and whether it is guessed.

    That is cheaper than the text itself.
    """
    if not any(kind == _TEXT for _, kind, _ in _page_objects(page)):
        return "none"
    textpage = page.get_textpage()
    try:
        # Letters may be painted of which nobody knows which they are: then there is no text.
        count = min(raw.FPDFText_CountChars(textpage), MAX_OBJECTS)
        if all(raw.FPDFText_GetUnicode(textpage, place) <= _BLANK for place in range(count)):
            return "none"
        return "guessed" if is_guessed(textpage) else "known"
    finally:
        textpage.close()


def _page_objects(page: pdfium.PdfPage) -> Iterator[tuple[Any, int, int]]:
    """Yield the objects of a page and of forms on it: object, kind, depth in forms."""
    left = MAX_OBJECTS
    waiting = [(raw.FPDFPage_GetObject, page.raw, raw.FPDFPage_CountObjects(page), 0)]
    while waiting:
        get, holder, count, depth = waiting.pop()
        count = min(count, left)
        left -= count
        for place in range(count):
            page_object = get(holder, place)
            kind = raw.FPDFPageObj_GetType(page_object)
            yield page_object, kind, depth
            if kind == raw.FPDF_PAGEOBJ_FORM and depth < _DEPTH:
                inside = raw.FPDFFormObj_CountObjects(page_object)
                waiting.append((raw.FPDFFormObj_GetObject, page_object, inside, depth + 1))


class _VisibilityTest:
    """Test whether a text object stands on the page in letters that can be read."""

    def __init__(self, box: Any | None) -> None:
        self._box = box
        self._sides = tuple(ctypes.c_float() for _ in range(4))
        self._size = ctypes.c_float()
        self._matrix = raw.FS_MATRIX()
        self._color = tuple(ctypes.c_uint() for _ in range(4))

    def sides(self, page_object: Any) -> _Sides:
        """Return where a thing of the page itself is painted; everywhere if that is not known."""
        if not raw.FPDFPageObj_GetBounds(page_object, *self._sides):
            return _EVERYWHERE
        left, bottom, right, top = (side.value for side in self._sides)
        return left, bottom, right, top

    def is_pale(self, page_object: Any) -> bool:
        """Tell whether letters may be of the color of paper, or of nothing."""
        if not raw.FPDFPageObj_GetFillColor(page_object, *self._color):
            return False
        *parts, opacity = (each.value for each in self._color)
        return opacity <= _CLEAR or min(parts) >= 255 - _NEAR

    def is_seen(self, page_object: Any) -> bool:
        """Tell whether people see a text object that is on the page itself."""
        if not raw.FPDFPageObj_GetBounds(page_object, *self._sides):
            return True
        left, bottom, right, top = (side.value for side in self._sides)
        box = self._box
        if box and (right < box.left or left > box.right or top < box.bottom or bottom > box.top):
            return False
        # A full stop is low, too: only then the size of the letters is asked for.
        return top - bottom >= MIN_SIZE_PT or self._letters_pt(page_object) >= MIN_SIZE_PT

    def _letters_pt(self, page_object: Any) -> float:
        is_known = raw.FPDFTextObj_GetFontSize(page_object, self._size)
        if not is_known or not raw.FPDFPageObj_GetMatrix(page_object, self._matrix):
            return MIN_SIZE_PT
        matrix = self._matrix
        # The root of the determinant: the scale of an area, whatever the rotation.
        scale: float = abs(matrix.a * matrix.d - matrix.b * matrix.c) ** 0.5
        return abs(float(self._size.value)) * scale


def _text_of_objects(objects: list[Any], textpage: pdfium.PdfTextPage) -> str:
    parts: list[str] = []
    size = 0
    for page_object in objects:
        told = told_by(partial(raw.FPDFTextObj_GetText, page_object, textpage))
        if part := clean(told).strip():
            parts.append(part)
            size += len(part)
        if size > MAX_CHARACTERS:
            parts.append("…")
            break
    return " ".join(parts)
