"""Text of a shape: texts split into lines, written with the formatting that the shape had.

A new paragraph is made like an old one: its level and bullet, the formatting of its first run,
and that of its end. Paragraphs that the new text has in the same place, from the front and from
the back, stay untouched with all their runs.
"""

from collections.abc import Sequence
from copy import deepcopy

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd_pptx.edits.formatting import (
    PptxRunFormatting,
    SlideTextPiece,
    ensure_child,
    format_run,
    set_level,
)
from kbd_pptx.presentation import A

__all__ = [
    "Line",
    "append_lines",
    "level_of",
    "paragraphs_of",
    "rewrite",
    "split_at_empty",
    "split_lines",
    "text_of",
]


_MAX_LEVEL = 8
"""The deepest level that a deck has (ECMA-376, part 1, 21.1.2.2.7)."""


_MAX_LINES = 5_000
"""More paragraphs than any slide shows."""


class Line(msgspec.Struct, frozen=True):
    """Line of a text, which becomes a paragraph.

    Args:
        pieces: Its text; none for an empty one.
        level: How deep it is, from 0; None where nothing tells.
    """

    pieces: tuple[SlideTextPiece, ...]
    level: int | None = None

    @property
    def text(self) -> str:
        """The text of all pieces."""
        return "".join(piece.text for piece in self.pieces)

    @property
    def is_plain(self) -> bool:
        """Whether no piece has formatting of its own."""
        return all(piece == SlideTextPiece(piece.text) for piece in self.pieces)


def split_lines(pieces: Sequence[SlideTextPiece], *, levels: bool) -> tuple[Line, ...]:
    """Split a text into lines.

    Args:
        pieces: The text; a plain one is one piece.
        levels: Whether tabs before a line tell its level. They do where any line has one; then a
            line without is at level 0.

    Raises:
        ValidationFailed: It has more lines than a slide can have.
    """
    found: list[list[SlideTextPiece]] = [[]]
    for piece in pieces:
        first, *rest = piece.text.split("\n")
        found[-1].append(SlideTextPiece(first, piece.formatting))
        found.extend([SlideTextPiece(part, piece.formatting)] for part in rest)
    if len(found) > _MAX_LINES:
        raise ValidationFailed(
            f"a text of {len(found)} lines is too long for a slide; it may have {_MAX_LINES}"
        )
    filled = [[piece for piece in line if piece.text] for line in found]
    if len(filled) > 1 and not filled[-1]:
        # The end of the last line is no paragraph.
        del filled[-1]
    if not levels or not any(line and line[0].text.startswith("\t") for line in filled):
        return tuple(Line(tuple(line)) for line in filled)
    return tuple(_leveled(line) for line in filled)


def split_at_empty(lines: Sequence[Line]) -> tuple[tuple[Line, ...], tuple[Line, ...]]:
    """Split lines at the first empty one; the second half is empty if there is none."""
    for place, line in enumerate(lines):
        if not line.pieces:
            rest = list(lines[place:])
            while rest and not rest[0].pieces:
                del rest[0]
            return tuple(lines[:place]), tuple(rest)
    return tuple(lines), ()


def _leveled(line: list[SlideTextPiece]) -> Line:
    if not line:
        return Line((), 0)
    text = line[0].text.lstrip("\t")
    depth = len(line[0].text) - len(text)
    pieces = [SlideTextPiece(text, line[0].formatting), *line[1:]]
    return Line(tuple(piece for piece in pieces if piece.text), min(depth, _MAX_LEVEL))


_RUNS = (f"{A}r", f"{A}br", f"{A}fld")
_LINKS = (f"{A}hlinkClick", f"{A}hlinkMouseOver")


def paragraphs_of(body: etree._Element) -> list[etree._Element]:
    """Return the paragraphs of a text body."""
    return body.findall(f"{A}p")


def text_of(paragraph: etree._Element) -> str:
    """Return a paragraph's text, a break in it as a vertical tab."""
    found = []
    for run in paragraph:
        if run.tag == f"{A}br":
            found.append("\v")
        elif run.tag in _RUNS:
            found.append(run.findtext(f"{A}t") or "")
    return "".join(found)


def level_of(paragraph: etree._Element) -> int:
    """Return a paragraph's level from 0."""
    properties = paragraph.find(f"{A}pPr")
    level = properties.get("lvl", "0") if properties is not None else "0"
    return int(level) if len(level) == 1 and level.isdecimal() else 0


def rewrite(body: etree._Element, lines: Sequence[Line]) -> list[etree._Element]:
    """Rewrite a text body with lines, and return its paragraphs."""
    # The schema wants at least one paragraph (CT_TextBody).
    lines = lines or (Line(()),)
    old = paragraphs_of(body)
    front = _count_unchanged(old, lines)
    # Only among what the front leaves over, or a paragraph might count twice.
    back = _count_unchanged(old[front:][::-1], lines[front:][::-1])
    replaced = old[front : len(old) - back]
    models = _ModelParagraphs(old)
    fresh = [
        _paragraph(models.model_for(line, replaced[place] if place < len(replaced) else None), line)
        for place, line in enumerate(lines[front : len(lines) - back])
    ]
    for paragraph in replaced:
        body.remove(paragraph)
    if front:
        anchor = old[front - 1]
        # Backwards, because each one goes directly behind the anchor.
        for paragraph in reversed(fresh):
            anchor.addnext(paragraph)
    elif back:
        for paragraph in fresh:
            old[len(old) - back].addprevious(paragraph)
    else:
        body.extend(fresh)
    return paragraphs_of(body)


def append_lines(body: etree._Element, lines: Sequence[Line]) -> list[etree._Element]:
    """Add lines behind the last paragraph that has text, and return the paragraphs made.

    A line without a level is at the outermost that the body has.
    """
    old = paragraphs_of(body)
    models = _ModelParagraphs(old)
    fresh = [_paragraph(models.model_for(line, None), line) for line in lines]
    if models.last is not None and text_of(models.last):
        for paragraph in reversed(fresh):
            models.last.addnext(paragraph)
        return fresh
    # None of them has text; if they stayed, the text would begin below blank lines.
    for paragraph in old:
        body.remove(paragraph)
    body.extend(fresh)
    return fresh


def _count_unchanged(old: Sequence[etree._Element], lines: Sequence[Line]) -> int:
    """Return how many of the first lines are there already."""
    count = 0
    for paragraph, line in zip(old, lines, strict=False):
        is_level = line.level is None or line.level == level_of(paragraph)
        if not (is_level and line.is_plain and line.text == text_of(paragraph)):
            break
        count += 1
    return count


class _ModelParagraphs:
    """Models of new paragraphs: of each level the last paragraph that has text."""

    def __init__(self, old: Sequence[etree._Element]) -> None:
        # Where no paragraph has text, the empty ones still tell how it should look.
        full = [paragraph for paragraph in old if text_of(paragraph)] or list(old)
        self._by_level = {level_of(paragraph): paragraph for paragraph in full}
        self.last = full[-1] if full else None

    def model_for(self, line: Line, replaced: etree._Element | None) -> etree._Element | None:
        """Return the model of a new paragraph.

        It is the one in whose place it comes; else one of its level, which is the outermost if
        the line tells none; else the last one.
        """
        if replaced is not None and line.level in {None, level_of(replaced)}:
            return replaced
        outermost = min(self._by_level, default=0)
        level = outermost if line.level is None else line.level
        return self._by_level.get(level, self.last)


def _paragraph(model: etree._Element | None, line: Line) -> etree._Element:
    """Return a new paragraph with the text of a line and the formatting of a model."""
    made = etree.Element(f"{A}p")
    properties = deepcopy(model.find(f"{A}pPr")) if model is not None else None
    if properties is not None:
        properties.tail = None
        made.append(properties)
    if line.level is not None and line.level != level_of(made):
        set_level(ensure_child(made, "pPr", ("pPr",)), line.level)
    run_properties = _run_properties(model)
    for piece in line.pieces:
        made.extend(_runs(piece, run_properties))
    end = deepcopy(model.find(f"{A}endParaRPr")) if model is not None else None
    if end is None and not line.pieces and run_properties is not None:
        # An empty paragraph is as high as its end says.
        end = deepcopy(run_properties)
        end.tag = f"{A}endParaRPr"
    if end is not None:
        made.append(end)
    return made


def _runs(piece: SlideTextPiece, run_properties: etree._Element | None) -> list[etree._Element]:
    """Return the runs of a piece, with breaks between them."""
    found = []
    for place, part in enumerate(piece.text.split("\v")):
        if place:
            found.append(_formatted(etree.Element(f"{A}br"), piece.formatting, run_properties))
        if part:
            run = _formatted(etree.Element(f"{A}r"), piece.formatting, run_properties)
            etree.SubElement(run, f"{A}t").text = part
            found.append(run)
    return found


def _formatted(
    run: etree._Element, change: PptxRunFormatting, run_properties: etree._Element | None
) -> etree._Element:
    if run_properties is not None:
        run.append(deepcopy(run_properties))
    if change != PptxRunFormatting():
        format_run(ensure_child(run, "rPr", ("rPr",)), change)
    return run


def _run_properties(model: etree._Element | None) -> etree._Element | None:
    """Return the properties that new runs in a paragraph get, None if it has none.

    They are those of its first run, else of its end. A link stays if it is that of all runs; one
    on some words does not spread over the new text.
    """
    if model is None:
        return None
    runs = [run for run in model if run.tag in _RUNS]
    all_properties = [run.find(f"{A}rPr") for run in runs]
    first = all_properties[0] if runs else model.find(f"{A}endParaRPr")
    if first is None:
        return None
    made = deepcopy(first)
    made.tag, made.tail = f"{A}rPr", None
    # The mark of a spelling error is the old text's.
    made.attrib.pop("err", "")
    for name in _LINKS:
        targets = {
            None if run_properties is None else _address(run_properties.find(name))
            for run_properties in all_properties
        }
        link = made.find(name)
        if link is not None and len(targets) > 1:
            made.remove(link)
    return made


def _address(link: etree._Element | None) -> tuple[tuple[str, str], ...] | None:
    return None if link is None else tuple(sorted((str(k), str(v)) for k, v in link.items()))
