"""Runs taken apart into pieces and made of pieces, and runs that an edit has only divided.

Where a run ends says nothing. An edit that puts something between words divides the run that they
stand in; what it was is divided alike before both are compared, so that the words count as left.
"""

import re
from collections.abc import Iterator, Sequence
from copy import deepcopy

import msgspec
from lxml import etree

from kbd.formats.alignment import AlignedBlock, align
from kbd_docx.document import W
from kbd_docx.edits.texts import T, text_node
from kbd_docx.revisions.snapshot import DocxSnapshot

__all__ = [
    "RUN",
    "RUN_PROPERTIES",
    "RunPiece",
    "divide_alike",
    "emptied",
    "made_run",
    "word_pieces",
]

RUN, RUN_PROPERTIES = f"{W}r", f"{W}rPr"
# A figure is one word with its separators: half of one between marks reads as another figure.
_WORDS = re.compile(r"\d+(?:[.,'\u2019\u00a0\u202f]\d+)+|\w+|\s+|[^\w\s]")


class RunPiece(msgspec.Struct, frozen=True):
    """A stretch of a run's text, or what is no text in it, as its element.

    `key` is alike for pieces that are the same.
    """

    key: bytes | str
    element: etree._Element | None = None


def emptied(element: etree._Element) -> etree._Element:
    """Return an element with the same attributes and nothing in it."""
    made = etree.Element(element.tag)
    made.attrib.update(element.attrib)
    return made


def made_run(
    like: etree._Element, properties: etree._Element | None, pieces: Sequence[RunPiece]
) -> etree._Element:
    """Return a run with the attributes of another one that holds pieces."""
    made = emptied(like)
    if properties is not None:
        made.append(deepcopy(properties))
    text = ""
    for piece in (*pieces, None):
        if piece is not None and isinstance(piece.key, str):
            text += piece.key
            continue
        if text:
            made.append(text_node(text))
            text = ""
        if piece is not None and piece.element is not None:
            made.append(piece.element)
    return made


def word_pieces(run: etree._Element) -> Iterator[RunPiece]:
    """Yield the words of a run, and what is no text in it."""
    for child in run:
        if child.tag == T:
            yield from (RunPiece(word) for word in _WORDS.findall(child.text or ""))
        elif child.tag != RUN_PROPERTIES:
            yield RunPiece(etree.tostring(child, with_tail=False), child)


def divide_alike(snapshot: DocxSnapshot, holder: etree._Element, was: etree._Element) -> None:
    """Divide what the runs of a paragraph were as an edit has divided the runs.

    Args:
        snapshot: The document as it was, which knows the halves afterwards.
        holder: The paragraph, or a link or control in it.
        was: What it was.
    """
    new: list[etree._Element] = []
    for child in holder:
        partner = snapshot.original(child)
        if partner is None and child.tag == RUN:
            new.append(child)
            continue
        for run in [child] if partner is not None else list(child.iter(RUN)) if new else []:
            before = snapshot.original(run)
            if new and run.tag == RUN and before is not None and snapshot.holder(before) is was:
                # One that stands in a new link holds nothing of what is left here.
                _divide(snapshot, new, before, run if run is child else None)
                new = []
        new = [] if partner is not None else new


def _divide(
    snapshot: DocxSnapshot,
    new: Sequence[etree._Element],
    partner: etree._Element,
    left: etree._Element | None,
) -> None:
    """Divide what a run was, if new runs before it hold what it held.

    Args:
        snapshot: The document as it was.
        new: The runs.
        partner: What the run was.
        left: The run itself, which holds the rest, None if it stands elsewhere now.
    """
    look = _look(partner)
    halves = [each for each in new if _look(each) == look]
    if halves and not _divide_by_signs(snapshot, halves, partner, left):
        _divide_by_words(snapshot, halves, partner, left)


def _divide_by_signs(
    snapshot: DocxSnapshot,
    halves: Sequence[etree._Element],
    partner: etree._Element,
    left: etree._Element | None,
) -> bool:
    """Divide what a run was where the runs say just what it said; tell whether they do."""
    then, rest = list(_signs(partner)), [] if left is None else list(_signs(left))
    split = len(then) - len(rest)
    if split <= 0 or _keys(then[split:]) != _keys(rest):
        return False
    places: list[tuple[int, int, etree._Element]] = []
    at, unplaced = 0, 0
    for half in halves:
        signs = _keys(list(_signs(half)))
        start = _place(signs, _keys(then[:split]), at)
        if start is None:
            unplaced += 1
            continue
        at = start + len(signs)
        places.append((start, at, half))
    if not places or (unplaced and at < split):
        return False
    at = 0
    for start, end, half in places:
        if start > at:
            # What stood between is gone from here, such as the words of a link.
            _put_before(snapshot, partner, then[at:start], None)
        _put_before(snapshot, partner, then[start:end], half)
        at = end
    if left is not None and at < split:
        _put_before(snapshot, partner, then[at:split], None)
    _leave(partner, then[at if left is None else split :])
    return True


def _divide_by_words(
    snapshot: DocxSnapshot,
    halves: Sequence[etree._Element],
    partner: etree._Element,
    left: etree._Element | None,
) -> None:
    """Divide what a run was where some of its words are others now, too."""
    every = [*halves, *([left] if left is not None else [])]
    then, parts = list(word_pieces(partner)), [list(word_pieces(each)) for each in every]
    now = [piece for part in parts for piece in part]
    blocks = align(_keys(then), _keys(now))
    if not any(block.kind == "equal" for block in blocks):
        return
    start = end = 0
    for half, part in zip(halves, parts, strict=False):
        end += len(part)
        place = max(start, _before(blocks, end))
        if place > start:
            _put_before(snapshot, partner, then[start:place], half)
            start = place
    _leave(partner, then[start:])


def _before(blocks: Sequence[AlignedBlock], end: int) -> int:
    """Return how much of what was stands before a place of what is."""
    block = next(each for each in blocks if end <= each.j2)
    if block.kind == "equal":
        return block.i1 + end - block.j1
    return block.i2 if end == block.j2 else block.i1


def _leave(partner: etree._Element, pieces: Sequence[RunPiece]) -> None:
    """Leave in a run what was not put before it."""
    made = made_run(partner, None, pieces)
    for child in [each for each in partner if each.tag != RUN_PROPERTIES]:
        partner.remove(child)
    partner.extend(list(made))


def _put_before(
    snapshot: DocxSnapshot,
    partner: etree._Element,
    signs: Sequence[RunPiece],
    now: etree._Element | None,
) -> None:
    made = made_run(partner, partner.find(RUN_PROPERTIES), signs)
    partner.addprevious(made)
    snapshot.add(made, now)


def _signs(run: etree._Element) -> Iterator[RunPiece]:
    """Yield the characters of a run, and what is no text in it."""
    for child in run:
        if child.tag == T:
            yield from map(RunPiece, child.text or "")
        elif child.tag != RUN_PROPERTIES:
            yield RunPiece(etree.tostring(child, method="c14n", with_tail=False), child)


def _keys(pieces: Sequence[RunPiece]) -> list[bytes | str]:
    return [piece.key for piece in pieces]


def _look(run: etree._Element) -> bytes:
    found = run.find(RUN_PROPERTIES)
    return b"" if found is None else etree.tostring(found, method="c14n", with_tail=False)


def _place(wanted: Sequence[bytes | str], keys: Sequence[bytes | str], start: int) -> int | None:
    """Return where some keys stand in others, from a place on; None if they do not."""
    if not wanted:
        return None
    last = len(keys) - len(wanted)
    return next(
        (at for at in range(start, last + 1) if keys[at : at + len(wanted)] == wanted), None
    )
