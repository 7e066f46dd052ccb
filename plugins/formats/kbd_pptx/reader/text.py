"""Text of shapes and tables: paragraphs as lines, with bullets and levels, and tables as rows.

Every cell of a table has its element, also those that a merged one covers: these are empty, and
what is said of spans need not be believed.
"""

from collections.abc import Callable, Iterator
from itertools import groupby

import msgspec
from lxml import etree

from kbd.office.paint import Verdict
from kbd_pptx.presentation import A14, MC, A, M
from kbd_pptx.reader.deck import Bullets, read_bullets

__all__ = [
    "Judge",
    "TextLine",
    "format_lines",
    "format_rows",
    "labeled_text",
    "paragraph_pieces",
    "paragraph_text",
    "plain_text",
    "read_lines",
    "table_of",
    "table_rows",
]


_RUN, _FIELD, _BREAK = f"{A}r", f"{A}fld", f"{A}br"
_TEXT, _MATH, _ALTERNATE = f"{A}t", f"{A14}m", f"{MC}AlternateContent"
_MATH_TEXT = f"{M}t"
_DEEPEST = 8
"""Levels are 0 to 8 (ECMA-376, part 1, 21.1.2.2.7)."""

BulletOf = Callable[[int], str]
"""What stands before a paragraph of a level where neither it nor its shape says: "", "-", "1"."""


Judge = Callable[[etree._Element], Verdict]  # noqa: SLF001 - lxml has no public name for it
"""Tells of a piece of a paragraph whether people see it."""


class TextLine(msgspec.Struct, frozen=True):
    """A paragraph: its text, its level, and "", "-" or its number ("1.") that stand before it."""

    text: str
    level: int
    mark: str


def paragraph_text(paragraph: etree._Element, number: int | None = None) -> str:
    """Return the text of a paragraph; a break is a line end, a formula its letters.

    Args:
        paragraph: The paragraph.
        number: What fields for the slide's number show; what was stored in them if None.
    """
    return "".join(text for _, text in paragraph_pieces(paragraph, number))


def paragraph_pieces(
    paragraph: etree._Element, number: int | str | None = None
) -> Iterator[tuple[etree._Element, str]]:
    """Yield what a paragraph is made of, each piece with its text; see `paragraph_text`."""
    for child in paragraph:
        tag = child.tag
        if tag == _RUN:
            yield child, _run_text(child)
        elif tag == _BREAK:
            yield child, "\n"
        elif tag == _FIELD:
            is_number = number is not None and child.get("type") == "slidenum"
            yield child, str(number) if is_number else _run_text(child)
        elif tag == _MATH:
            yield child, "".join(text.text or "" for text in child.iter(_MATH_TEXT))
        elif tag == _ALTERNATE and len(child):
            # The first choice; others show the same to older programs.
            yield child, "".join(text.text or "" for text in child[0].iter(_MATH_TEXT, _TEXT))


def plain_text(body: etree._Element | None, number: int | None = None) -> str:
    """Return the paragraphs of a text body, a line each."""
    if body is None:
        return ""
    return "\n".join(paragraph_text(each, number) for each in body.iterchildren(f"{A}p"))


def labeled_text(
    paragraph: etree._Element, judge: Judge | None = None, number: int | None = None
) -> str:
    """Return the text of a paragraph with labels: "[hidden: …]", "[maybe hidden: …]"."""
    if judge is None:
        return paragraph_text(paragraph, number)
    pieces = (
        (judge(piece) if text.strip() else "", text)
        for piece, text in paragraph_pieces(paragraph, number)
    )
    return "".join(
        f"[{label}: {text}]" if label else text
        for label, group in groupby(pieces, key=lambda piece: piece[0])
        for text in ("".join(text for _, text in group),)
    )


def read_lines(
    body: etree._Element,
    bullet_of: BulletOf,
    number: int | None = None,
    judge: Judge | None = None,
) -> Iterator[TextLine]:
    """Yield the paragraphs of a text body that have text.

    Args:
        body: The body.
        bullet_of: For what its paragraphs and its own styles do not say.
        number: The number of the slide.
        judge: What tells whether a piece is seen; what is not is labeled so.
    """
    own = read_bullets(body.find(f"{A}lstStyle"))
    counts: dict[int, int] = {}
    for paragraph in body.iterchildren(f"{A}p"):
        if not len(paragraph):
            continue
        text = labeled_text(paragraph, judge, number).strip("\n")
        properties = paragraph.find(f"{A}pPr")
        level = _level(properties)
        # Deeper lists begin anew behind a paragraph above them, as programs number them.
        for deeper in [each for each in counts if each > level]:
            del counts[deeper]
        if not text.strip():
            continue
        mark = _mark(properties, level, own, bullet_of)
        if mark == "1":
            counts[level] = counts.get(level, _start(properties) - 1) + 1
            mark = f"{counts[level]}."
        else:
            counts.pop(level, None)
        yield TextLine(text, level, mark)


def format_lines(found: Iterator[TextLine]) -> str:
    """Write paragraphs as text: two blanks a level, a bullet or number before those that have one.

    Lines of one paragraph stand under each other.
    """
    written = []
    for line in found:
        before = "  " * line.level + (f"{line.mark} " if line.mark else "")
        first, *others = line.text.split("\n")
        written.append(before + first)
        written.extend(" " * len(before) + other for other in others)
    return "\n".join(written)


def _run_text(run: etree._Element) -> str:
    text = run.find(_TEXT)
    return "" if text is None else text.text or ""


def _level(properties: etree._Element | None) -> int:
    text = "0" if properties is None else properties.get("lvl", "0")
    return min(int(text), _DEEPEST) if text.isdecimal() and len(text) < 4 else 0


def _mark(properties: etree._Element | None, level: int, own: Bullets, bullet_of: BulletOf) -> str:
    for child in () if properties is None else properties:
        if child.tag == f"{A}buNone":
            return ""
        if child.tag == f"{A}buAutoNum":
            return "1"
        if child.tag in (f"{A}buChar", f"{A}buBlip"):
            return "-"
    # An entry of "" counts: it takes away the bullet that the layout has.
    return own[level] if level in own else bullet_of(level)


def _start(properties: etree._Element | None) -> int:
    """Return the number that a list begins with."""
    numbering = None if properties is None else properties.find(f"{A}buAutoNum")
    text = "1" if numbering is None else numbering.get("startAt", "1")
    return int(text) if text.isdecimal() and len(text) < 6 else 1


_COVERED = ("1", "true")


def table_of(element: etree._Element) -> etree._Element | None:
    """Return the table in a frame, if there is one."""
    return element.find(f"{A}graphic/{A}graphicData/{A}tbl")


def table_rows(element: etree._Element, judge: Judge | None = None) -> list[list[str]]:
    """Return the texts of the cells of the table in a frame; a cell may have several lines.

    Args:
        element: The frame.
        judge: What tells whether a piece is seen; what is not is labeled so.
    """
    table = table_of(element)
    rows = () if table is None else table.iterchildren(f"{A}tr")
    return [_row(row, judge) for row in rows]


def format_rows(rows: list[list[str]]) -> str:
    """Write rows, a line each, with " | " between cells; line ends inside of cells become " / "."""
    return "\n".join(" | ".join(" / ".join(cell.splitlines()) for cell in row) for row in rows)


def _row(row: etree._Element, judge: Judge | None) -> list[str]:
    texts = []
    for cell in row.iterchildren(f"{A}tc"):
        is_covered = cell.get("hMerge") in _COVERED or cell.get("vMerge") in _COVERED
        texts.append("" if is_covered else _cell_text(cell.find(f"{A}txBody"), judge).strip())
    return texts


def _cell_text(body: etree._Element | None, judge: Judge | None) -> str:
    if body is None or judge is None:
        return plain_text(body)
    return "\n".join(labeled_text(each, judge) for each in body.iterchildren(f"{A}p"))
