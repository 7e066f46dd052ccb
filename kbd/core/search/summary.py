"""Extractive summary: the sentences of a text that say most of what it says. Pure.

The text is cut into headings, sentences, list items and tables. No language is assumed: a sentence
ends where its mark is followed by what may begin one, and not after an abbreviation, an initial or
a number that counts.

A word weighs more the oftener it stands in the text and the fewer sentences share it; a sentence
is worth what its words weigh, more at the beginning, less if it is very short, long or a question.
Sentences are taken best first, and what was said weighs less from then on, so that the next one
says something else (SumBasic, Nenkova and Vanderwende 2005). They stay in the text's order.
"""

import heapq
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import Enum

import msgspec

from kbd.core.search.text_tables import TextTable, describe_table, find_tables
from kbd.core.search.tokenizer import STOP_WORDS

__all__ = [
    "ELLIPSIS",
    "ENDS",
    "TextUnit",
    "UnitKind",
    "extract_summary",
    "split_sentences",
    "split_units",
    "truncate_text",
]


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
    repeated, seen_texts = _repeated_shapes(blocks), set[str]()
    for block in blocks:
        if isinstance(block, TextTable):
            if not _is_table_of_contents(block):
                found.append(TextUnit("", UnitKind.TABLE, grid=block))
            continue
        for kind, paragraph in _paragraphs(_blank_repeats(repeated, block, seen_texts), width):
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
    # Only the last words count, and a long sentence may hold many marks.
    words = paragraph[max(begin, mark - 40) : mark].split()
    if not words or paragraph[mark : mark + 2] == "..":
        return bool(words)
    word = words[-1].lstrip("(\"'“‘«[").casefold()
    if word.isdigit() and len(word) <= 2:
        # A number that leads a line counts it, and one after these words is a German ordinal ("am
        # 3. Mai").
        counts = len(words) == 1 or words[-2].casefold() in _BEFORE_ORDINALS
        return not counts
    if len(word) == 1 and word.isalpha():
        return False
    # A short word with a point inside is "e.g" or "z.B", before its last point.
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


def _blank_repeats(repeated: frozenset[str], lines: list[str], seen_texts: set[str]) -> list[str]:
    """Blank out page numbers, marks, and repetitions of heads and feet."""
    kept = []
    for line in lines:
        shape = _line_shape(line)
        is_mark = shape[:1] == "[" and shape[-1:] == "]" and len(line) <= 80
        if shape in repeated and (shape in seen_texts or "0" in shape or len(shape) < 4):
            is_mark = True
        seen_texts.add(shape)
        kept.append("" if is_mark else line)
    return kept


ELLIPSIS = "…"

_MAX_CHARACTERS = 500_000
"""Of a longer text, this much is read, in pieces from all over it."""

_WINDOWS = 20
_MAX_CANDIDATES = 400
"""As many sentences, the best by themselves, are compared with what was said."""

_REPEAT_WEIGHT = 0.3
"""What a word still weighs once it was said."""

_STOP_WORDS = frozenset().union(*STOP_WORDS.values())
"""Of all languages; in one without a list the words in most sentences weigh least anyway."""

_DEPENDENT = """
this that these those it its he she they his her their then so but and or also thus therefore
however moreover furthermore instead otherwise such here there
dies diese dieser dieses dabei dadurch damit daher deshalb dann aber und auch er sie es jedoch
außerdem ferner dort hier
ceci cela ce cette ces il elle ils elles donc mais et aussi ainsi toutefois cependant
esto esta este estos estas ello él ella ellos pero y además así también sin
isto ele ela mas e além assim também questo questa questi esso essa ma inoltre
dit deze dat hij zij maar en ook to ten ta te ale i jednak также это этот эта но и однако
"""
_DEPENDENT_WORDS = frozenset(_DEPENDENT.split())
"""A sentence that begins with one leans on what was said before it."""

_WORD = re.compile(r"[^\W\d_]{2,}")
_IDEOGRAMS = re.compile(r"(?=([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]{2}))")
_HAS_IDEOGRAM = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]")
_ADDRESS = re.compile(r"https?://|www\.|\S@\S|\w[\\/]\w+[\\/]|__")
_BRACKET_PAIRS = (("(", ")"), ("“", "”"), ("«", "»"), ("（", "）"), ("「", "」"))


def extract_summary(text: str, max_length: int) -> str:
    """Summarize a text by its own sentences.

    A text that is short enough is returned as it is, without blanks around it. Of tables the
    columns and the first rows are told. Of a text that is hardly made of sentences, and no table,
    the beginning is returned.

    Args:
        text: The text, in any language; of more than half a million characters, parts are read.
        max_length: The most characters of the summary.

    Returns:
        At most `max_length` characters; a sentence that had to be cut ends with an ellipsis.
    """
    if len(text.strip()) <= max_length:
        return text.strip()
    # Blanks before the first word may be a table's first cell.
    read = _sample_windows(text) if max_length > 0 else ""
    found = split_units(read)
    chosen = _choose_units(found, max_length, is_part=len(read) < len(text))
    picked = _join_units(found, chosen)
    has_table = any(found[place].kind is UnitKind.TABLE for place in chosen)
    return (
        picked if has_table or len(picked) >= max_length // 4 else truncate_text(text, max_length)
    )


def truncate_text(text: str, max_length: int) -> str:
    """Truncate a text to whole words, with an ellipsis for what is left out."""
    text = " ".join(text.split())
    if len(text) <= max_length:
        return text
    if max_length <= 0:
        return ""
    head = text[: max_length - 1]
    if text[max_length - 1 : max_length].strip() and (blank := head.rfind(" ")) > len(head) // 2:
        head = head[:blank]
    return head.rstrip(" ,;:") + ELLIPSIS


def _sample_windows(text: str) -> str:
    """Return the part of a text that is read: of a long one, windows of whole lines."""
    if len(text) <= _MAX_CHARACTERS:
        return text
    size, step = _MAX_CHARACTERS // _WINDOWS, len(text) // _WINDOWS
    parts = []
    for window in range(_WINDOWS):
        begin = window * step
        if window:
            begin = max(begin, text.find("\n", begin, begin + size // 2) + 1)
        line_end = text.rfind("\n", begin + size // 2, begin + size)
        parts.append(text[begin : line_end if line_end > 0 else begin + size])
    return "\n".join(parts)


def _choose_units(found: Sequence[TextUnit], max_length: int, *, is_part: bool) -> dict[int, str]:
    """Return the best units that have room together, as they are told, by their places."""
    chosen: dict[int, str] = {}
    _add_title(found, chosen, max_length)
    _add_tables(found, chosen, max_length, is_part=is_part)
    _add_sentences(found, chosen, max_length)
    return chosen


def _join_units(found: Sequence[TextUnit], chosen: dict[int, str]) -> str:
    """Return what was chosen in the text's order: sentences in a line, all else on its own."""
    order = sorted(chosen)
    parts = []
    for before, place in zip((None, *order), order, strict=False):
        kinds = {found[at].kind for at in (before, place) if at is not None}
        parts.append("" if before is None else " " if kinds == {UnitKind.SENTENCE} else "\n")
        parts.append(chosen[place])
    return "".join(parts)


def _required_characters(chosen: dict[int, str], max_length: int) -> int:
    return max_length - sum(len(text) + 1 for text in chosen.values())


def _add_title(found: Sequence[TextUnit], chosen: dict[int, str], max_length: int) -> None:
    """Choose the first heading, if it stands before all else."""
    for place, unit in enumerate(found[:5]):
        if unit.kind is not UnitKind.HEADING:
            return
        letters = sum(map(str.isalpha, unit.text))
        says = letters >= 0.6 * len(unit.text) and not _ADDRESS.search(unit.text)
        if says and len(unit.text) <= max_length // 3:
            chosen[place] = unit.text
            return


def _add_tables(
    found: Sequence[TextUnit], chosen: dict[int, str], max_length: int, *, is_part: bool
) -> None:
    """Give tables as much of the room as they have of the text, the largest first."""
    grids = {place: unit.grid for place, unit in enumerate(found) if unit.grid is not None}
    size = sum(grid.size for grid in grids.values())
    share = size / max(1, size + sum(len(unit.text) for unit in found))
    room = min(
        int(max_length * share) if share < 0.8 else max_length,
        _required_characters(chosen, max_length),
    )
    if share < 0.1 or room < 40:
        return
    count = min(len(grids), max(1, room // 150))
    largest = sorted(grids, key=lambda place: -grids[place].size)[:count]
    for left, place in zip(range(count, 0, -1), largest, strict=True):
        text = describe_table(grids[place], room // left - 1, is_part=is_part)
        if text:
            chosen[place] = text
            room -= len(text) + 1


def _add_sentences(found: Sequence[TextUnit], chosen: dict[int, str], max_length: int) -> None:
    """Choose sentences, best first, until there is no room for another.

    What was said only takes worth away, so a sentence whose worth is looked up again and is still
    the best needs no look at the others.
    """
    # What is repeated word for word counts once.
    # Reversed, so that of equal texts the first place is the one that stays.
    first = {unit.text: place for place, unit in reversed(list(enumerate(found)))}
    terms = {place: _content_terms(text) for text, place in first.items()}
    weights = _term_weights(list(terms.values()))
    for place in chosen.keys() & terms.keys():
        _damp(weights, terms[place])
    factors = _position_factors(found, max_length)
    seen_texts = {found[place].text for place in chosen}
    worth = {
        place: factors[place] * _sentence_worth(weights, terms[place])
        for text, place in first.items()
        if factors[place] and text not in seen_texts
    }
    waiting = sorted((-value, place) for place, value in worth.items())[:_MAX_CANDIDATES]
    least = 0.1 * -waiting[0][0] if waiting else 0.0
    while waiting:
        _, place = heapq.heappop(waiting)
        now = factors[place] * _sentence_worth(weights, terms[place])
        if now < least or _length(found[place]) > _required_characters(chosen, max_length):
            continue
        if waiting and (-now, place) > waiting[0]:
            heapq.heappush(waiting, (-now, place))
            continue
        chosen[place] = f"- {found[place].text}" if _is_item(found[place]) else found[place].text
        _damp(weights, terms[place])


def _is_item(unit: TextUnit) -> bool:
    return unit.kind is UnitKind.ITEM and unit.is_first


def _length(unit: TextUnit) -> int:
    return len(unit.text) + (2 if _is_item(unit) else 0)


def _content_terms(text: str) -> frozenset[str]:
    """Return the words that count; of writing without blanks, its pairs of signs."""
    words = {word for word in _WORD.findall(text.casefold()) if word not in _STOP_WORDS}
    if _HAS_IDEOGRAM.search(text):
        words = {word for word in words if not _HAS_IDEOGRAM.search(word)}
        words.update(_IDEOGRAMS.findall(text))
    return frozenset(words)


def _term_weights(terms: Sequence[frozenset[str]]) -> dict[str, float]:
    """Weigh words: more for those of many sentences, less for those of nearly all."""
    counted: Counter[str] = Counter()
    for words in terms:
        counted.update(words)
    total = len(terms)
    return {word: math.log1p(count) * math.log1p(total / count) for word, count in counted.items()}


def _sentence_worth(weights: dict[str, float], words: frozenset[str]) -> float:
    # The constant keeps a short sentence of one weighty word from being worth most.
    # Sorted, for the order of a set of texts differs between processes, and a sum with its order.
    return sum(weights[word] for word in sorted(words)) / (len(words) + 6)


def _damp(weights: dict[str, float], words: frozenset[str]) -> None:
    for word in words:
        weights[word] *= _REPEAT_WEIGHT


def _position_factors(found: Sequence[TextUnit], max_length: int) -> list[float]:
    prose = sum(len(unit.text) for unit in found if unit.kind is UnitKind.SENTENCE)
    is_prose = prose >= 0.3 * sum(len(unit.text) for unit in found)
    return [
        _unit_factor(unit, place, is_prose=is_prose, max_length=max_length)
        for place, unit in enumerate(found)
    ]


def _unit_factor(unit: TextUnit, place: int, *, is_prose: bool, max_length: int) -> float:
    """Return how much a unit counts for where it stands and what it looks like; 0 for not."""
    text = unit.text
    letters = sum(map(str.isalpha, text))
    is_dense = _HAS_IDEOGRAM.search(text) is not None
    if (
        unit.kind is UnitKind.TABLE
        or letters < 0.5 * len(text)
        or letters < (4 if is_dense else 12)
    ):
        return 0.0
    factor = 1.0 + math.exp(-place / 8)
    match unit.kind:
        case UnitKind.HEADING:
            factor *= 0.35 if is_prose else 0.8
        case UnitKind.ITEM:
            factor *= 0.8 if is_prose else 1.0
        case _:
            factor *= 1.15 if unit.is_first else 1.0
    faults = (
        text.endswith(("?", "？", ":", "…")),
        _ADDRESS.search(text) is not None,
        len(text) > 0.6 * max_length,
        len(text) < 40 and not is_dense,
        *_unit_faults(text, unit.kind),
    )
    return float(factor * 0.6 ** sum(faults))


def _unit_faults(text: str, kind: UnitKind) -> tuple[bool, ...]:
    """Return the faults of a unit, a flag each: half a sentence, figures, a list of names."""
    words = text.split()
    with_digits = sum(any(map(str.isdigit, word)) for word in words)
    capitals = sum(word[0].isupper() for word in words)
    is_figures = with_digits > 0.25 * len(words)
    is_sentence = kind is UnitKind.SENTENCE
    is_names = is_sentence and len(words) > 6 and capitals > 0.7 * len(words)
    return (
        words[0].casefold().strip(",") in _DEPENDENT_WORDS,
        is_sentence and (text[0].islower() or not ENDS.search(text)),
        any(text.count(opening) != text.count(closing) for opening, closing in _BRACKET_PAIRS),
        # These say nothing alone, and count twice.
        *(is_figures, is_figures, is_names, is_names),
    )
