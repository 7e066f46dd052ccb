"""Words of a page with the boxes in which they stand, as pdfium places their letters.

Boxes are those of the page as people see it: in points, from its top left corner, after the page
was turned as it says. A word ends at a blank, at a wider gap, and where its line ends.
"""

import ctypes
import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import pypdfium2 as pdfium
from pypdfium2 import raw

__all__ = ["MAX_LETTERS", "PageView", "PlacedWord", "WordBox", "WordLine", "lines_of", "words_of"]

MAX_LETTERS = 60_000
"""Letters of a page that are placed; a page of small print has some ten thousand."""

_WORD_GAP = 0.28
"""Gap in parts of the letters' height that parts words where no blank is written: blanks are a
quarter of it in most fonts, but letters of narrow ones are set with kerning."""

_LINE_SHIFT = 0.5
"""By how much of their height letters stand lower in the next line."""

_HYPHEN = "\ufffe"
"""What pdfium has in place of a hyphen that ends a line."""


class WordBox(NamedTuple):
    """Place on a page as it is shown: points from its top left corner."""

    left: float
    top: float
    right: float
    bottom: float

    @property
    def middle(self) -> float:
        """The height of its middle."""
        return (self.top + self.bottom) / 2

    @property
    def center(self) -> float:
        """Its middle from left to right."""
        return (self.left + self.right) / 2

    @property
    def height(self) -> float:
        """How high it is."""
        return self.bottom - self.top

    def around(self, other: "WordBox") -> "WordBox":
        """Return the box that holds both."""
        return WordBox(
            min(self.left, other.left), min(self.top, other.top),
            max(self.right, other.right), max(self.bottom, other.bottom),
        )  # fmt: skip


class PlacedWord(NamedTuple):
    """A word and its box; of one that is written upwards or downwards `is_upright` is false."""

    text: str
    box: WordBox
    is_upright: bool = True


class WordLine(NamedTuple):
    """The words of a line from left to right, and the box around them."""

    words: tuple[PlacedWord, ...]
    box: WordBox


class PageView:
    """A page as it is shown: which way it is turned, and where its corners are."""

    def __init__(self, page: pdfium.PdfPage) -> None:
        sides = raw.FS_RECTF()
        if not raw.FPDF_GetPageBoundingBox(page, sides):
            width, height = page.get_size()
            sides = raw.FS_RECTF(0, height, width, 0)
        self._sides = (sides.left, sides.bottom, sides.right, sides.top)
        self.turn = int(page.get_rotation()) % 360

    def point(self, x: float, y: float) -> tuple[float, float]:
        """Return where a point of the page's own coordinates is seen."""
        left, bottom, right, top = self._sides
        match self.turn:
            case 90:
                return y - bottom, x - left
            case 180:
                return right - x, y - bottom
            case 270:
                return top - y, right - x
            case _:
                return x - left, top - y

    def box(self, left: float, bottom: float, right: float, top: float) -> WordBox:
        """Return where a rectangle of the page's own coordinates is seen."""
        one, other = self.point(left, bottom), self.point(right, top)
        return WordBox(
            min(one[0], other[0]), min(one[1], other[1]),
            max(one[0], other[0]), max(one[1], other[1]),
        )  # fmt: skip

    def holds(self, box: WordBox) -> bool:
        """Tell whether the middle of a box is on the page."""
        left, bottom, right, top = self._sides
        wide, high = right - left, top - bottom
        if self.turn in (90, 270):
            wide, high = high, wide
        return bool(-1 <= box.center <= wide + 1 and -1 <= box.middle <= high + 1)


class _Letter(NamedTuple):
    text: str
    box: WordBox
    quarter: int


def words_of(textpage: pdfium.PdfTextPage, view: PageView) -> list[PlacedWord]:
    """Return the words of a page in the order in which the file has them, up to `MAX_LETTERS`."""
    words: list[PlacedWord] = []
    letters: list[_Letter] = []
    for letter in _letters(textpage, view):
        if letter is None or (letters and _parts(letters[-1], letter)):
            _end_word(letters, words)
        if letter is not None:
            letters.append(letter)
    _end_word(letters, words)
    return [word for word in words if view.holds(word.box)]


def _letters(textpage: pdfium.PdfTextPage, view: PageView) -> Iterator[_Letter | None]:
    """Yield each letter with its box; None for a blank and for the end of a line."""
    count = min(raw.FPDFText_CountChars(textpage), MAX_LETTERS)
    box = raw.FS_RECTF()
    tight = tuple(ctypes.c_double() for _ in range(4))
    high = 0
    for place in range(count):
        code = raw.FPDFText_GetUnicode(textpage, place)
        # Halves of a pair of surrogates come one after the other.
        if 0xD800 <= code < 0xDC00:
            high = code
            continue
        if 0xDC00 <= code < 0xE000 and high:
            code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00)
        high = 0
        # A broken map of letters may name characters that there are not.
        text = chr(code) if code <= 0x10FFFF and not 0xD800 <= code < 0xE000 else "\ufffd"
        if code <= 32 or text.isspace():
            yield None
            continue
        if text == _HYPHEN:
            text = "-"
        if not raw.FPDFText_GetLooseCharBox(textpage, place, box):
            continue
        sides = (box.left, box.bottom, box.right, box.top)
        if sides[2] <= sides[0] or sides[3] <= sides[1]:
            # A font that does not tell how high it is: then the letter itself does.
            if not raw.FPDFText_GetCharBox(textpage, place, tight[0], tight[2], tight[1], tight[3]):
                continue
            sides = (tight[0].value, tight[1].value, tight[2].value, tight[3].value)
        angle = raw.FPDFText_GetCharAngle(textpage, place)
        quarter = round(math.degrees(angle) / 90) if angle > 0 else 0
        # The angle is that of the page before it was turned.
        yield _Letter(text, view.box(*sides), (quarter + view.turn // 90) % 4)


def _parts(before: _Letter, letter: _Letter) -> bool:
    """Tell whether a letter begins another word than the one before it."""
    one, other = before.box, letter.box
    if before.quarter != letter.quarter:
        return True
    if letter.quarter % 2:
        size = max(one.right - one.left, 1.0)
        shift = abs(one.center - other.center)
        gap = max(other.top - one.bottom, one.top - other.bottom)
    else:
        size = max(one.height, 1.0)
        shift = abs(one.middle - other.middle)
        gap = other.left - one.right
        # Of a line that is written from right to left the next letter stands on the left.
        if gap < -size:
            gap = one.left - other.right
    return shift > _LINE_SHIFT * size or (abs(gap) > max(_WORD_GAP * size, 0.5) and gap > -size / 2)


def _end_word(letters: list[_Letter], words: list[PlacedWord]) -> None:
    if letters:
        box = letters[0].box
        for letter in letters[1:]:
            box = box.around(letter.box)
        text = "".join(letter.text for letter in letters)
        words.append(PlacedWord(text, box, letters[0].quarter % 2 == 0))
        letters.clear()


def lines_of(words: Sequence[PlacedWord]) -> list[WordLine]:
    """Return upright words as lines, from top to bottom; what overlaps in height by half is one."""
    lines: list[list[PlacedWord]] = []
    spans: list[tuple[float, float]] = []
    for word in sorted(words, key=lambda each: (each.box.middle, each.box.left)):
        box = word.box
        if lines:
            top, bottom = spans[-1]
            shared = min(bottom, box.bottom) - max(top, box.top)
            if shared > 0.5 * min(bottom - top, box.height):
                lines[-1].append(word)
                continue
        lines.append([word])
        spans.append((box.top, box.bottom))
    return [_line(each) for each in lines]


def _line(words: list[PlacedWord]) -> WordLine:
    words.sort(key=lambda each: each.box.left)
    box = words[0].box
    for word in words[1:]:
        box = box.around(word.box)
    return WordLine(tuple(words), box)
