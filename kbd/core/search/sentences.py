"""Segmentation of text into headings, sentences, list items and tables, for a summary. Pure.

No language is assumed: a sentence ends where its mark is followed by what may begin one, and not
after an abbreviation, an initial or a number that counts.
"""

import re
from collections import Counter
from collections.abc import Iterator
from enum import Enum

import msgspec

from kbd.core.search.text_tables import TextTable, find_tables

__all__ = ["ENDS", "TextUnit", "UnitKind", "split_sentences", "split_units"]


class UnitKind(Enum):
    """Kind of a text unit."""

    HEADING = "heading"
    SENTENCE = "sentence"
    ITEM = "item"
    TABLE = "table"


class TextUnit(msgspec.Struct, frozen=True):
    """A unit of text that can be understood alone: a heading, sentence, list item or table.

    Args:
        text: Its text, blanks joined; "" of a table.
        kind: What it is.
        is_first: Whether it begins its paragraph.
        grid: The table, if it is one.
    """

    text: str
    kind: UnitKind
    is_first: bool = True
    grid: TextTable | None = None


_HEADING = re.compile(r"#{1,6}\s+(?P<text>\S.*)")
_ITEM = re.compile(r"\s*(?:[-*+•◦▪‣·–○●]|\(?(?:\d{1,3}|[a-zA-Z])[.)])\s+(?P<text>\S.*)")
_RULER = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"\d+")
_END = re.compile(r"(?:[.!?…]+[\"'”’»)\]]*\s+)|(?:[。！？｡]+[」』”）]*\s*)|(?:[؟۔।॥]+\s*)")
ENDS = re.compile(r"[.!?…:;。！？؟।][\"'”’»)\]]*$")

_SHORTENED = """
mr mrs ms dr prof sr sra srta jr st mme mlle mm me hr fr dott sig avv ing dipl lic mag rev hon gen
col capt lt sgt gov sen rep vs etc al cf eg ie resp approx est dept univ inc ltd co corp bros init
fig figs eq eqs sec ch vol vols no nos nr pp ed eds ref refs art arts abs ziff tab abb bzw ca evtl
ggf inkl exkl usw usf vgl sog max min mio mrd tsd str tel bspw geb gest jh av bd env ex réf núm pág
págs ej aprox atte ud uds dña pag tav sez jan feb mar apr jun jul aug sep sept oct nov dec okt dez
janv févr avr juil déc ene abr ago dic bijv enz blz tzn np itd itp ul tj
"""
_ABBREVIATIONS = frozenset(_SHORTENED.split())
_BEFORE_ORDINALS = frozenset({"am", "vom", "zum", "bis", "der", "den", "dem", "des", "im", "und"})
_WRAPPED_CHARACTERS = 140
"""Lines of a page are shorter; longer ones are paragraphs of their own."""


def split_units(text: str) -> list[TextUnit]:
    """Split a text into units, in order, without page numbers and repeated heads and feet."""
    lines = text.splitlines()
    found: list[TextUnit] = []
    width = _line_width(lines)
    blocks = list(find_tables(lines))
    repeated, told = _repeated_shapes(blocks), set[str]()
    for block in blocks:
        if isinstance(block, TextTable):
            if not _is_table_of_contents(block):
                found.append(TextUnit("", UnitKind.TABLE, grid=block))
            continue
        for kind, paragraph in _paragraphs(_blank_repeats(repeated, block, told), width):
            parts = [paragraph] if kind is UnitKind.HEADING else split_sentences(paragraph)
            for place, part in enumerate(parts):
                found.append(TextUnit(part, kind, is_first=place == 0))
    return found


def split_sentences(paragraph: str) -> Iterator[str]:
    """Split a paragraph into sentences, in order, stripped."""
    begin = 0
    for end in _END.finditer(paragraph):
        if _ends_sentence(paragraph, begin, end.start(), end.end()):
            yield paragraph[begin : end.end()].strip()
            begin = end.end()
    rest = paragraph[begin:].strip()
    if rest:
        yield rest


def _ends_sentence(paragraph: str, begin: int, mark: int, after: int) -> bool:
    """Return whether the mark at `mark` ends the sentence that begins at `begin`."""
    if after >= len(paragraph):
        return True
    if paragraph[mark] not in ".…":
        return not paragraph[after].islower()
    if paragraph[after].islower() or paragraph[after] in ",;:":
        return False
    words = paragraph[max(begin, mark - 40) : mark].split()
    if not words or paragraph[mark : mark + 2] == "..":
        return bool(words)
    word = words[-1].lstrip("(\"'“‘«[").casefold()
    if word.isdigit() and len(word) <= 2:
        counts = len(words) == 1 or words[-2].casefold() in _BEFORE_ORDINALS
        return not counts
    if len(word) == 1 and word.isalpha():
        return False
    return word not in _ABBREVIATIONS and not ("." in word and len(word) <= 5)


def _paragraphs(lines: list[str], width: int) -> Iterator[tuple[UnitKind, str]]:
    """Join lines into paragraphs: a line that a page's width has broken is whole again."""
    kind, parts = UnitKind.SENTENCE, list[str]()
    for line in (*lines, ""):
        heading, item = _HEADING.fullmatch(line.strip()), _ITEM.fullmatch(line)
        says = line.strip()
        goes_on = bool(parts) and bool(says) and not heading and not item
        if goes_on and kind is not UnitKind.HEADING and _continues_line(parts[-1], says, width):
            parts.append(says)
            continue
        if parts:
            yield _classify(kind, parts), _join_lines(parts)
        parts = []
        if heading:
            kind, parts = UnitKind.HEADING, [heading["text"]]
        elif item:
            kind, parts = UnitKind.ITEM, [item["text"]]
        elif says and not _RULER.fullmatch(says):
            kind, parts = UnitKind.SENTENCE, [says]


def _classify(kind: UnitKind, parts: list[str]) -> UnitKind:
    """Classify a paragraph: a short line without an end mark is a heading."""
    alone = parts[0]
    if kind is UnitKind.SENTENCE and len(parts) == 1 and len(alone) <= 90:
        return kind if ENDS.search(alone) else UnitKind.HEADING
    return kind


def _continues_line(before: str, line: str, width: int) -> bool:
    """Return whether a line goes on with the one before."""
    if ENDS.search(before) and not line[0].islower():
        return len(before) > 0.8 * width and width <= _WRAPPED_CHARACTERS
    if line[0].islower():
        return len(before) >= 25
    return width <= _WRAPPED_CHARACTERS and len(before) >= 0.6 * width


def _join_lines(parts: list[str]) -> str:
    """Join lines, and words that a line's end has cut."""
    text = parts[0]
    for part in parts[1:]:
        cut_word = text.endswith(("-", "\u00ad")) and text[-2:-1].isalpha() and part[0].islower()
        text = text[:-1] + part if cut_word else f"{text} {part}"
    return " ".join(text.split())


def _line_width(lines: list[str]) -> int:
    """Return how long the long lines of a text are."""
    lengths = sorted(len(line.rstrip()) for line in lines if len(line) > 20)
    return lengths[len(lengths) * 9 // 10] if lengths else 0


def _is_table_of_contents(grid: TextTable) -> bool:
    """Return whether a table only names pages: two columns, the second of growing numbers."""
    pages = [row[1] for row in grid.rows if len(row) == 2]
    numbers = [int(page) for page in pages if page.isdecimal() and len(page) < 5]
    return len(numbers) == len(grid.rows) > 2 and numbers == sorted(numbers) and grid.width == 2


def _line_shape(line: str) -> str:
    return _DIGITS.sub("0", line.strip())


def _repeated_shapes(blocks: list[TextTable | list[str]]) -> frozenset[str]:
    """Return the shapes of the lines that stand on every page: heads, feet, page numbers."""
    counted = Counter(
        _line_shape(line)
        for block in blocks
        if not isinstance(block, TextTable)
        for line in block
        if len(line) <= 80
    )
    return frozenset(shape for shape, count in counted.items() if shape and count >= 4)


def _blank_repeats(repeated: frozenset[str], lines: list[str], told: set[str]) -> list[str]:
    """Blank out page numbers, marks, and repetitions of heads and feet."""
    kept = []
    for line in lines:
        shape = _line_shape(line)
        is_mark = shape[:1] == "[" and shape[-1:] == "]" and len(line) <= 80
        if shape in repeated and (shape in told or "0" in shape or len(shape) < 4):
            is_mark = True
        told.add(shape)
        kept.append("" if is_mark else line)
    return kept
