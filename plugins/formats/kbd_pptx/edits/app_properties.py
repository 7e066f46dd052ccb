"""The application properties of a deck, which count its slides and list their titles again.

They are kept true, so that what an edit took away is not read there (ECMA-376, part 1, 22.2.2).
"""

from collections.abc import Sequence
from typing import Any

import msgspec
from lxml import etree
from pptx.opc.constants import RELATIONSHIP_TYPE as RT

from kbd.errors import FileReadFailed
from kbd.opc.element_names import local_name
from kbd.opc.package import xml_root
from kbd.opc.rewriter import xml_bytes
from kbd_pptx.edits.deck import DeckEdit, notes_of
from kbd_pptx.edits.placeholders import title_placeholder
from kbd_pptx.edits.textbody import paragraphs_of, text_of
from kbd_pptx.presentation import P

__all__ = ["ToldSlides", "told_slides", "update_app_properties"]

_NAME = "docProps/app.xml"
_UNTITLED = "PowerPoint Presentation"
"""What PowerPoint lists for a slide without a title."""


class ToldSlides(msgspec.Struct, frozen=True):
    """What properties tell of the slides: each with its title, how many have notes, are hidden."""

    titles: tuple[tuple[int, str], ...]
    notes: int
    hidden: int


def told_slides(deck: DeckEdit) -> ToldSlides:
    """Return what the properties of a deck should tell of its slides as they are now."""
    titles: list[tuple[int, str]] = []
    notes = hidden = 0
    for entry in deck.entries:
        part = deck.part_of(entry)
        if part is None:
            titles.append((0, ""))
            continue
        root = part.slide.element
        titles.append((id(part), _title(root)))
        notes += notes_of(part) is not None
        hidden += root.get("show") in ("0", "false")
    return ToldSlides(tuple(titles), notes, hidden)


def _title(root: etree._Element) -> str:
    if root.find(f"{P}cSld/{P}spTree") is None:
        return ""
    title = title_placeholder(root)
    body = None if title is None else title.shape.find(f"{P}txBody")
    if body is None:
        return ""
    return " ".join(" ".join(map(text_of, paragraphs_of(body))).split())


def update_app_properties(deck: DeckEdit, before: ToldSlides) -> None:
    """Bring the properties of a deck up to date; what no edit changed stays as it is.

    Args:
        deck: The deck after the edits.
        before: What was told before them.
    """
    after = told_slides(deck)
    if after == before:
        return
    part = _part(deck)
    if part is None:
        return
    try:
        root, unchanged = (xml_root(part.blob, _NAME) for _ in range(2))
    except (FileReadFailed, etree.LxmlError):
        return
    for name, old, new in (
        ("Slides", len(before.titles), len(after.titles)),
        ("Notes", before.notes, after.notes),
        ("HiddenSlides", before.hidden, after.hidden),
    ):
        count = root.find(f"{{*}}{name}")
        if count is not None and old != new:
            count.text = str(new)
    if before.titles != after.titles and not _list_titles(root, before.titles, after.titles):
        # Both are optional; lists that do not agree cannot be brought up to date.
        gone = {title for _, title in before.titles} - {title for _, title in after.titles}
        texts = {" ".join((each.text or "").split()) for each in root.iter() if each.text}
        for child in list(root):
            if gone & texts and local_name(child) in ("TitlesOfParts", "HeadingPairs"):
                root.remove(child)
    made = xml_bytes(root)
    if made != xml_bytes(unchanged):
        part.blob = made


def _part(deck: DeckEdit) -> Any:
    relations = deck.main.package._rels  # noqa: SLF001 - python-pptx has no other way
    for relation in relations.values():
        if relation.reltype == RT.EXTENDED_PROPERTIES and not relation.is_external:
            return relation.target_part
    return None


def _list_titles(
    root: etree._Element, before: Sequence[tuple[int, str]], after: Sequence[tuple[int, str]]
) -> bool:
    """List the titles of slides anew; return whether it was certain which ones they are."""
    titles = root.find("{*}TitlesOfParts/{*}vector")
    pairs = root.find("{*}HeadingPairs/{*}vector")
    if titles is None and pairs is None:
        return True
    if titles is None or pairs is None or not after:
        return False
    counts = [each for each in pairs.iterfind("{*}variant/{*}i4") if each.text is not None]
    numbers = [int(each.text or "0") if (each.text or "").isdecimal() else -1 for each in counts]
    entries = [child for child in titles if isinstance(child.tag, str)]
    # Slides come last; embedded servers, fonts and themes before them.
    if not numbers or min(numbers) < 0 or sum(numbers) != len(entries):
        return False
    if numbers[-1] != len(before):
        return False
    listed = entries[len(entries) - len(before) :]
    if not listed:
        return False
    texts = {key: entry.text or "" for key, entry in zip(before, listed, strict=True)}
    tag = listed[0].tag
    for entry in listed:
        titles.remove(entry)
    for key in after:
        made = titles.makeelement(tag)
        # A title that nobody changed stays as its program wrote it.
        made.text = texts.get(key) or key[1] or _UNTITLED
        titles.append(made)
    counts[-1].text = str(len(after))
    titles.set("size", str(len(entries) - len(before) + len(after)))
    return True
