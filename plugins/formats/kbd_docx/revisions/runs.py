"""Runs taken apart into pieces and made of pieces, and runs that an edit has only divided.

Where a run ends says nothing. An edit that puts something between words divides the run that they
stand in; what it was is divided alike before both are compared, so that the words count as left.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy

import msgspec
from lxml import etree

from kbd_docx.document import W
from kbd_docx.edits.texts import T, text_node
from kbd_docx.revisions.snapshot import DocxSnapshot

__all__ = ["RUN", "RUN_PROPERTIES", "RunPiece", "divide_alike", "emptied", "made_run"]

RUN, RUN_PROPERTIES = f"{W}r", f"{W}rPr"


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
                _divide(snapshot, new, before, list(_signs(run)) if run is child else [])
                new = []
        new = [] if partner is not None else new


def _divide(
    snapshot: DocxSnapshot,
    new: Sequence[etree._Element],
    partner: etree._Element,
    rest: Sequence[RunPiece],
) -> None:
    """Divide what a run was, if new runs before it hold what it held, and it the rest."""
    then = list(_signs(partner))
    split = len(then) - len(rest)
    if split <= 0 or _keys(then[split:]) != _keys(rest):
        return
    look = _look(partner)
    at = 0
    for half in new:
        signs = _keys(list(_signs(half)))
        start = _place(signs, _keys(then[:split]), at) if _look(half) == look else None
        if start is None:
            continue
        if start > at:
            # What stood between is gone from here, such as the words of a link.
            _put_before(snapshot, partner, then[at:start], None)
        at = start + len(signs)
        _put_before(snapshot, partner, then[start:at], half)
    if at == 0:
        return
    if not rest:
        split = at
    elif at < split:
        _put_before(snapshot, partner, then[at:split], None)
    left = made_run(partner, None, then[split:])
    for child in [each for each in partner if each.tag != RUN_PROPERTIES]:
        partner.remove(child)
    partner.extend(list(left))


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
