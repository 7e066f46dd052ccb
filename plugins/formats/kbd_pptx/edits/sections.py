"""The sections that a deck's slides are listed in, kept in step with the slides' order.

PowerPoint keeps them in an extension of the main part, by the slides' ids ([MS-PPTX] 2.6.3).
"""

from lxml import etree

from kbd_pptx.edits.deck import DeckEdit

__all__ = ["join_section", "leave_section"]

_P14 = "{http://schemas.microsoft.com/office/powerpoint/2010/main}"


def leave_section(deck: DeckEdit, slide_id: str) -> None:
    """Take a slide out of the section that lists it."""
    for listed in list(deck.root.iter(f"{_P14}sldId")):
        parent = listed.getparent()
        if parent is not None and listed.get("id") == slide_id:
            parent.remove(listed)


def join_section(deck: DeckEdit, index: int, *, home: etree._Element | None = None) -> None:
    """List a slide in the section of the slide before it, or of the one behind it.

    Args:
        deck: The deck, in which the slide is in its place.
        index: The slide.
        home: The section's list that it comes from; it stays in it if a neighbour is of it.
    """
    lists = list(deck.root.iter(f"{_P14}sldIdLst"))
    if not lists:
        return
    entries = deck.entries
    made = etree.Element(f"{_P14}sldId", {"id": entries[index].get("id", "")})
    places = {each.get("id"): each for one in lists for each in one}
    before = places.get(entries[index - 1].get("id")) if index else None
    behind = places.get(entries[index + 1].get("id")) if index + 1 < len(entries) else None
    stays = home is not None and behind is not None and behind.getparent() is home
    if before is not None and not (stays and before.getparent() is not home):
        before.addnext(made)
    elif behind is not None:
        behind.addprevious(made)
    else:
        (lists[0] if home is None else home).insert(0, made)


def section_of(deck: DeckEdit, slide_id: str) -> etree._Element | None:
    """Return the list of the section that a slide is in."""
    for listed in deck.root.iter(f"{_P14}sldId"):
        if listed.get("id") == slide_id:
            return listed.getparent()
    return None
