"""Preview picture of a deck: programs draw its first slide into the file, and no edit does it anew.

So what was taken away from that slide is still seen there, and the answer says so (ECMA-376, part
2, 11).
"""

import hashlib
from collections import Counter
from typing import Any

import msgspec
from pptx.opc.constants import RELATIONSHIP_TYPE as RT

from kbd_pptx.edits.deck import DeckEdit
from kbd_pptx.presentation import A, R

__all__ = ["PicturedSlide", "pictured_slide", "warn_of_preview"]


class PicturedSlide(msgspec.Struct, frozen=True):
    """The slide that a deck's preview shows: its part, and what stood on it.

    Args:
        part: The part, as python-pptx has it.
        held: Its paragraphs, the points of its charts and its pictures, each as often as it was.
    """

    part: Any
    held: Counter[str]


def pictured_slide(deck: DeckEdit) -> PicturedSlide | None:
    """Return what the preview of a deck shows before an edit; None if it has none."""
    if not _preview(deck) or not deck.entries:
        return None
    part = deck.part_of(deck.entries[0])
    return None if part is None else PicturedSlide(part, _held(part))


def warn_of_preview(deck: DeckEdit, before: PicturedSlide | None) -> None:
    """Warn if the preview shows what an edit took away, or what it deleted with the slide."""
    if before is None:
        return
    is_there = any(deck.part_of(entry) is before.part for entry in deck.entries)
    if not is_there or before.held - _held(before.part):
        deck.warnings.warn(
            f"The preview picture of the file ({_preview(deck)}) still shows its first slide as it "
            "was."
        )


def _preview(deck: DeckEdit) -> str:
    relations = deck.main.package._rels  # noqa: SLF001 - python-pptx has no other way
    for relation in relations.values():
        if relation.reltype == RT.THUMBNAIL and not relation.is_external:
            return str(relation.target_part.partname).removeprefix("/")
    return ""


def _held(part: Any) -> Counter[str]:
    root = part.slide.element
    found = Counter(
        "".join(each.text or "" for each in paragraph.iter(f"{A}t"))
        for paragraph in root.iter(f"{A}p")
    )
    # A paragraph that was empty shows nothing.
    del found[""]
    for blip in root.iter(f"{A}blip"):
        found[_target(part, blip.get(f"{R}embed", ""))] += 1
    for relation in part.rels.values():
        if relation.reltype == RT.CHART and not relation.is_external:
            chart = getattr(relation.target_part, "_element", None)
            found.update(each.text or "" for each in (() if chart is None else chart.iter("{*}v")))
    return found


def _target(part: Any, id_: str) -> str:
    relation = part.rels.get(id_)
    if relation is None or relation.is_external:
        return id_
    # By its bytes: the picture in a part may be replaced.
    digest = hashlib.sha256(relation.target_part.blob).hexdigest()
    return f"{relation.target_part.partname} {digest}"
