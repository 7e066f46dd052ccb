"""Stretches of a paragraph's text: found by their words, and cut out as runs of their own.

A range is found in the text that people see (see `replacement`); runs are divided where it begins
and ends, each half with the formatting of the whole.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import NamedTuple

from lxml import etree

from kbd.errors import ValidationFailed
from kbd_docx.document import W
from kbd_docx.edits.replacement import BARRIER, find_matches, fold_case, read_flow
from kbd_docx.edits.texts import T, set_text, text_node

__all__ = ["RunRange", "find_range", "next_id"]

_RUN, _LOOK, _SETTINGS = f"{W}r", f"{W}rPr", f"{W}pPr"
_SHOWN_CHARACTERS = 80
_MAX_DIGITS = 9


class RunRange(NamedTuple):
    """A stretch of a paragraph: its first run and its last one."""

    first: etree._Element
    last: etree._Element


def find_range(paragraph: etree._Element, search: str, warn: Callable[[str], None]) -> RunRange:
    """Return the runs of the first stretch of a paragraph that has a text, cut out for it.

    Args:
        paragraph: The paragraph.
        search: The text; where it is not there exactly, its case does not count.
        warn: Is told if the text stands there more than once.

    Raises:
        ValidationFailed: It is not there, or stands where runs cannot be divided.
    """
    text, _, _ = read_flow(paragraph, ())
    found = list(find_matches(text, search)) or list(
        find_matches(fold_case(text), fold_case(search))
    )
    if not found:
        shown = text.replace(BARRIER, "…")
        more = "…" if len(shown) > _SHOWN_CHARACTERS else ""
        raise ValidationFailed(
            f"{search[:_SHOWN_CHARACTERS]!r} is not in the paragraph; it says "
            f"{shown[:_SHOWN_CHARACTERS]!r}{more}"
        )
    if len(found) > 1:
        warn(
            f"{search[:_SHOWN_CHARACTERS]!r} stands {len(found)} times in the paragraph; the first "
            "one was taken."
        )
    start, end = found[0]
    # The end first: where the range begins is not changed by that.
    _divide_at(paragraph, end)
    _divide_at(paragraph, start)
    _, pieces, _ = read_flow(paragraph, ())
    inside = [
        _run_of(piece.element)
        for piece in pieces
        if piece.text and start <= piece.start and piece.start + len(piece.text) <= end
    ]
    return RunRange(inside[0], inside[-1])


def next_id(root: etree._Element, *tags: str) -> int:
    """Return the number behind the highest that elements of some names have as their id."""
    taken = [each.get(f"{W}id", "") for each in root.iter(*tags)]
    numbers = (int(each) for each in taken if each.isdecimal() and len(each) <= _MAX_DIGITS)
    return max(numbers, default=-1) + 1


def _run_of(element: etree._Element) -> etree._Element:
    run = element.getparent()
    if run is None or run.tag != _RUN:
        raise ValidationFailed(
            "these words stand where nothing can be put around them; choose others"
        )
    return run


def _divide_at(paragraph: etree._Element, offset: int) -> None:
    """Divide the run in which a place of a paragraph's text lies, if it lies within one."""
    _, pieces, _ = read_flow(paragraph, ())
    for piece in pieces:
        inside = offset - piece.start
        if not piece.text or inside >= len(piece.text):
            continue
        if inside < 0:
            return
        run = _run_of(piece.element)
        if inside == 0:
            _move_before(run, piece.element, None)
        elif piece.element.tag == T:
            text = piece.element.text or ""
            set_text(piece.element, text[inside:])
            _move_before(run, piece.element, text_node(text[:inside]))
        return


def _move_before(run: etree._Element, child: etree._Element, half: etree._Element | None) -> None:
    """Move what stands in a run before a child, and half of that if it is divided, to a new run."""
    moved = [each for each in child.itersiblings(preceding=True) if each.tag != _LOOK]
    if not moved and half is None:
        return
    made = run.makeelement(_RUN, {str(key): str(value) for key, value in run.attrib.items()})
    look = run.find(_LOOK)
    if look is not None:
        made.append(deepcopy(look))
    run.addprevious(made)
    for each in reversed(moved):
        made.append(each)
    if half is not None:
        made.append(half)
