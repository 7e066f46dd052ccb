"""Paragraphs with tracked changes shown in their text: what was put in or taken out, and by whom.

Readings give the text as if all changes were accepted; here both states stand side by side
(ECMA-376, part 1, 17.13.5).
"""

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter

from lxml import etree

from kbd_docx.document import MC, PARAGRAPH, TABLE, W
from kbd_docx.reader.contents import DocxMarked

__all__ = ["END_SIGN", "MarkedParagraphs"]

END_SIGN = "¶"
"""Stands for the end of a paragraph that was put in or taken out."""

_MAX_MARKED = 200
"""Paragraphs that are kept, as many as changes."""

_MAX_CHARS = 1_000
_UNCHANGED_CHARS = 80
"""Kept of unchanged text at each side of a change."""

_AUTHOR_CHARS = 60
_KINDS = {
    f"{W}ins": "inserted", f"{W}moveTo": "inserted",
    f"{W}del": "deleted", f"{W}moveFrom": "deleted",
}  # fmt: skip
_LOOKS = tuple(
    f"{W}{name}PrChange" for name in ("r", "p", "sect", "tbl", "tblEx", "tr", "tc")
)  # fmt: skip
_TEXTS = frozenset((f"{W}t", f"{W}delText"))
_SIGNS = {
    f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-",
    f"{W}footnoteReference": "[footnote]", f"{W}endnoteReference": "[endnote]",
    f"{W}drawing": "[picture]", f"{W}pict": "[picture]",
}  # fmt: skip
_PASSED = frozenset(
    f"{W}{name}" for name in ("pPr", "rPr", "sdtPr", "instrText", "delInstrText", "txbxContent")
)
_ENDS = f"{W}pPr/{W}rPr"

_Piece = tuple[str, str]
"""What was done to a stretch of text, in words ("inserted by Ann", "" for nothing), and it."""


class MarkedParagraphs:
    """The paragraphs of a body that have tracked changes, found one after the other.

    Attributes:
        found: The first of them.
        looks: How many changes of looks each author has made.
    """

    def __init__(self) -> None:
        self.found: list[DocxMarked] = []
        self.looks: Counter[str] = Counter()

    def add(self, number: int, block: etree._Element) -> None:
        """Look at a block of the body: a paragraph, or a table with the paragraphs in its cells.

        Args:
            number: The paragraph's number, or that of the last one before a table.
            block: The block.
        """
        for change in block.iter(*_LOOKS):
            self.looks[change.get(f"{W}author", "")] += 1
        if next(block.iter(*_KINDS), None) is None:
            return
        for paragraph in block.iter(PARAGRAPH):
            if len(self.found) == _MAX_MARKED:
                return
            if text := _marked(paragraph):
                self.found.append(DocxMarked(number, text, block.tag == TABLE))


def _marked(paragraph: etree._Element) -> str:
    """Return a paragraph's text with its changes, "" if it has none."""
    pieces = [*_pieces(paragraph, ""), *_end(paragraph)]
    if not any(change for change, _ in pieces):
        return ""
    grouped = [
        (change, "".join(text for _, text in group))
        for change, group in groupby(pieces, itemgetter(0))
    ]
    return "".join(
        f"[{change}: {text}]" if change else _shortened(text) for change, text in grouped
    )[:_MAX_CHARS]


def _pieces(holder: etree._Element, change: str) -> Iterator[_Piece]:
    """Yield the text of what stands in a paragraph, each stretch with what was done to it."""
    for child in holder.iterchildren(tag=etree.Element):
        tag = str(child.tag)
        if tag in _TEXTS:
            yield change, (child.text or "").replace("\n", " ")
        elif tag in _SIGNS:
            yield change, _SIGNS[tag]
        elif tag in _KINDS:
            yield from _pieces(child, f"{change}, {_words(child)}" if change else _words(child))
        elif tag == f"{MC}AlternateContent":
            yield change, "[drawing]"
        elif tag not in _PASSED:
            yield from _pieces(child, change)


def _end(paragraph: etree._Element) -> Iterator[_Piece]:
    properties = paragraph.find(_ENDS)
    marks = [] if properties is None else [each for each in properties if each.tag in _KINDS]
    if marks:
        yield ", ".join(_words(each) for each in marks), END_SIGN


def _words(change: etree._Element) -> str:
    author = " ".join(change.get(f"{W}author", "").split())[:_AUTHOR_CHARS]
    return f"{_KINDS[str(change.tag)]} by {author}" if author else _KINDS[str(change.tag)]


def _shortened(text: str) -> str:
    """Return unchanged text without the middle of much."""
    if len(text) <= 2 * _UNCHANGED_CHARS + len(" … "):
        return text
    return f"{text[:_UNCHANGED_CHARS]} … {text[-_UNCHANGED_CHARS:]}"
