"""Replacement of text on slides and in their notes.

A hit is found across runs and replaced once: what was put in is not searched again. It takes the
formatting of the run in which it began; other characters keep theirs. What programs compute
(numbers of slides, dates) is not searched, and no hit reaches over it.

Where a deck holds a text that replacing does not reach: told, so that nobody thinks it gone.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import islice
from types import MappingProxyType
from typing import Any

import msgspec
from lxml import etree
from pptx.opc.constants import RELATIONSHIP_TYPE as RT
from pptx.opc.package import XmlPart
from pptx.parts.slide import SlidePart

from kbd.errors import ValidationFailed
from kbd_pptx.edits.deck import DeckEdit, notes_of, related_part
from kbd_pptx.edits.warnings import shorten, slides_text
from kbd_pptx.operations import ReplaceText
from kbd_pptx.presentation import CX, MC, A, P

__all__ = [
    "FALLBACK",
    "TextHit",
    "fill_paragraph",
    "paragraph_text",
    "replace_in_paragraph",
    "replace_text",
    "warn_of_other_places",
]

_KINDS = MappingProxyType({
    "chart": "Charts",
    "chartEx": "Charts",
    "diagramData": "SmartArt drawings",
    "comments": "Comments",
})  # fmt: skip
"""What holds text beside a slide, by the last word of the relation's type."""


def warn_of_other_places(
    deck: DeckEdit,
    slides: Sequence[tuple[int, SlidePart]],
    pattern: re.Pattern[str],
    what: str = "the text",
) -> None:
    """Warn where a text stands that was searched for and was not replaced."""
    found: dict[str, list[int]] = {}
    checked: dict[int, bool] = {}
    for index, part in slides:
        for relation in part.rels.values():
            kind = _KINDS.get(relation.reltype.rpartition("/")[2])
            if kind is None or relation.is_external:
                continue
            target = relation.target_part
            if id(target) not in checked:
                checked[id(target)] = _holds(_texts(_root_of(target)), pattern)
            if checked[id(target)]:
                found.setdefault(kind, []).append(index)
        layout = related_part(part, RT.SLIDE_LAYOUT)
        for holder in (
            layout,
            related_part(layout, RT.SLIDE_MASTER) if layout is not None else None,
        ):
            if holder is not None:
                # Slides share layouts and masters, each of which is searched once.
                if id(holder) not in checked:
                    checked[id(holder)] = _holds(_decorative_texts(_root_of(holder)), pattern)
                if checked[id(holder)]:
                    found.setdefault("Layouts", []).append(index)
    for kind, places in found.items():
        where = slides_text(sorted(set(places)))
        deck.warnings.warn(f"{kind}{where} hold {what}, too; they are not reached.")


def _holds(texts: Iterator[str], pattern: re.Pattern[str]) -> bool:
    return any(pattern.search(text) for text in texts)


def _texts(root: etree._Element | None) -> Iterator[str]:
    """Yield the texts of a part: of each paragraph, and of each value."""
    if root is None:
        return
    for element in root.iter(f"{A}p"):
        yield "".join(each.text or "" for each in element.iter(f"{A}t"))
    # In any namespace: c:v and cx:v of charts, p:text of comments of the older kind. Points of
    # newer charts hold their text themselves.
    for element in root.iter("{*}v", "{*}text", f"{CX}pt"):
        yield element.text or ""


def _decorative_texts(root: etree._Element | None) -> Iterator[str]:
    """Yield the texts that a layout or master shows on slides: those of no placeholder."""
    for shape in () if root is None else root.iter(f"{P}sp", f"{P}graphicFrame"):
        if next(shape.iter(f"{P}ph"), None) is None:
            yield from _texts(shape)


def _root_of(part: Any) -> etree._Element | None:
    if isinstance(part, XmlPart):
        return part._element  # noqa: SLF001 - python-pptx has no other way
    try:
        return etree.fromstring(part.blob)
    except etree.LxmlError:
        # Only a warning depends on it, so that a damaged part is passed over.
        return None


_BREAK = "\v"
_BARRIER = "\0"
"""Stands for a field in a paragraph's text; no search holds it."""

FALLBACK = f"{MC}Fallback"
"""Holds the same text again, for older programs (ECMA-376, part 3)."""


class _Tags:
    """The children of a paragraph that are not barriers."""

    RUN = f"{A}r"
    BREAK = f"{A}br"
    PROPERTIES = f"{A}pPr"
    END = f"{A}endParaRPr"


class TextHit(msgspec.Struct, frozen=True):
    """A stretch of a paragraph's text, and what takes its place, breaks in it as in texts."""

    start: int
    end: int
    text: str


class _TextRun(msgspec.Struct, frozen=True):
    """A run or break in a paragraph, and where its text begins in the paragraph's."""

    element: etree._Element
    start: int
    text: str


def replace_text(deck: DeckEdit, operation: ReplaceText) -> str:
    """Replace a text, and return how often it stood there.

    Raises:
        ValidationFailed: There is no such slide, or the search is empty once it is cleaned.
    """
    warnings = deck.warnings
    # Inside of a paragraph only a break ends a line.
    search = warnings.clean_text(operation.search).replace("\n", _BREAK)
    replace = warnings.clean_text(operation.replace).replace("\n", _BREAK)
    if not search:
        raise ValidationFailed("replace_text: search is empty")
    flags = 0 if operation.match_case else re.IGNORECASE
    # Escaped: no pattern that a model wrote is ever compiled (reliability, F1).
    pattern = re.compile(re.escape(search), flags)
    if operation.index is not None:
        parts = [(operation.index, deck.slide(operation.index))]
    else:
        parts = [
            (index, part)
            for index, part in enumerate(map(deck.part_of, deck.entries))
            if part is not None
        ]
    on_slides, in_notes, places = 0, 0, []
    # A deck may list one slide several times, and what was put in is not to be searched again.
    counts: dict[int, int] = {}
    for index, part in parts:
        if id(part) not in counts:
            counts[id(part)] = _replace_in(part.slide.element, pattern, replace)
            on_slides += counts[id(part)]
        if counts[id(part)]:
            places.append(index)
        notes = notes_of(part)
        if notes is not None and id(notes) not in counts:
            counts[id(notes)] = _replace_in(notes.notes_slide.element, pattern, replace)
            in_notes += counts[id(notes)]
    warn_of_other_places(deck, parts, pattern)
    if not on_slides + in_notes:
        where = "" if operation.index is None else f" on slide {operation.index}"
        warnings.warn(f'"{shorten(operation.search)}" was not found{where}; nothing was replaced.')
    count = on_slides + in_notes
    in_notes_text = f", {in_notes} of them in notes" if in_notes else ""
    return f"{count} replacement{'' if count == 1 else 's'}{slides_text(places)}{in_notes_text}"


def replace_in_paragraph(paragraph: etree._Element, pattern: re.Pattern[str], replace: str) -> int:
    """Replace hits in one paragraph, and return their number."""
    found = pattern.finditer(paragraph_text(paragraph))
    hits = [TextHit(hit.start(), hit.end(), replace) for hit in found]
    fill_paragraph(paragraph, hits)
    return len(hits)


def paragraph_text(paragraph: etree._Element) -> str:
    """Return a paragraph's text as it is searched: with signs for breaks and fields."""
    return "".join(text_run.text for text_run in _text_runs(paragraph))


def fill_paragraph(paragraph: etree._Element, hits: Sequence[TextHit]) -> None:
    """Write texts into the places of others in one paragraph, from the left, without overlaps."""
    if not hits:
        return
    runs = list(_text_runs(paragraph))
    whole = "".join(text_run.text for text_run in runs)
    starts = [text_run.start for text_run in runs]
    for text_run, text in zip(runs, _replaced(whole, starts, hits), strict=True):
        if text != text_run.text:
            _write(text_run.element, text)


def _replace_in(root: etree._Element, pattern: re.Pattern[str], replace: str) -> int:
    count = 0
    for paragraph in list(root.iter(f"{A}p")):
        found = replace_in_paragraph(paragraph, pattern, replace)
        # Replaced in both alternatives, counted in the one that people see.
        if found and not any(each.tag == FALLBACK for each in paragraph.iterancestors()):
            count += found
    return count


def _text_runs(paragraph: etree._Element) -> Iterator[_TextRun]:
    start = 0
    for child in paragraph:
        match child.tag:
            case _Tags.RUN:
                text = child.findtext(f"{A}t") or ""
            case _Tags.BREAK:
                text = _BREAK
            case _Tags.PROPERTIES | _Tags.END:
                continue
            case _:
                text = _BARRIER
        # Empty ones are left out, so that each start belongs to one run only.
        if text:
            yield _TextRun(child, start, text)
        start += len(text)


def _replaced(whole: str, starts: Sequence[int], hits: Sequence[TextHit]) -> list[str]:
    """Return the new text of each stretch: a hit's goes to the one in which it begins."""
    ends = [*starts[1:], len(whole)]
    found: list[list[str]] = [[] for _ in starts]
    place = 0
    # The empty hit at the end brings what stands behind the last real one.
    for hit in (*hits, TextHit(len(whole), len(whole), "")):
        start, end = hit.start, hit.end
        owner = bisect_right(starts, place) - 1
        while place < start:
            stop = min(start, ends[owner])
            found[owner].append(whole[place:stop])
            place, owner = stop, owner + 1
        if start < end:
            found[bisect_right(starts, start) - 1].append(hit.text)
        place = end
    return ["".join(parts) for parts in found]


def _write(element: etree._Element, text: str) -> None:
    """Write another text into a run or a break; breaks in it become elements."""
    paragraph = element.getparent()
    if paragraph is None:
        return
    properties = element.find(f"{A}rPr")
    made: list[etree._Element] = []
    for place, part in enumerate(text.split(_BREAK)):
        if place:
            made.append(_with_properties(f"{A}br", properties))
        if part:
            run = _with_properties(f"{A}r", properties)
            etree.SubElement(run, f"{A}t").text = part
            made.append(run)
    others = paragraph.iterchildren(f"{A}r", f"{A}br", f"{A}fld")
    if not made and len(list(islice(others, 2))) == 1:
        # An empty run keeps the formatting for whoever writes there next.
        run = _with_properties(f"{A}r", properties)
        etree.SubElement(run, f"{A}t")
        made.append(run)
    for run in made:
        element.addprevious(run)
    paragraph.remove(element)


def _with_properties(tag: str, properties: etree._Element | None) -> etree._Element:
    made = etree.Element(tag)
    if properties is not None:
        copy = deepcopy(properties)
        # lxml copies an element together with the text behind it.
        copy.tail = None
        made.append(copy)
    return made
