"""A new slide in one of the deck's layouts."""

from copy import deepcopy

from pptx.parts.slide import SlidePart

from kbd_pptx.edits.deck import DeckEdit, parents_of
from kbd_pptx.edits.layouts import choose
from kbd_pptx.edits.lines import Line
from kbd_pptx.edits.notes import write_notes
from kbd_pptx.edits.placeholders import FOOTERS, copied, spots, text_body
from kbd_pptx.edits.sections import join_section
from kbd_pptx.edits.text_writer import SlideTexts, texts_of, write_texts
from kbd_pptx.operations import AddSlide
from kbd_pptx.slides import A

__all__ = ["add_slide"]


def add_slide(deck: DeckEdit, operation: AddSlide) -> str:
    """Add a slide with its texts, and return what changed.

    Placeholders that get no text are left out: programs would ask people to click into them. Date,
    footer and number come along if the slide before, or else the one behind, has them.
    """
    entries = deck.entries
    index = len(entries) if operation.index is None else operation.index
    if index > len(entries):
        deck.entry(index)
    given = texts_of(operation, deck)
    texts = SlideTexts(_filled(given.title), _filled(given.body), given.formatting)
    near = [deck.part_of(entry) for entry in entries[max(index - 1, 0) : index + 1]]
    neighbour = next((part for part in near if part is not None), None)
    layout, warning = choose(deck.layouts(neighbour), operation.layout)
    if warning:
        deck.notices.warn(warning)
    part = deck.add(layout, index)
    join_section(deck, index)
    changed = write_texts(deck, index, part, texts)
    if neighbour is not None:
        _take_footers(part, neighbour, index)
    if operation.notes:
        write_notes(deck, part, operation.notes)
        changed.append("notes")
    holding = f" with {', '.join(changed)}" if changed else ""
    return f'slide {index}: new, layout "{layout.name}"{holding}'


def _filled(lines: tuple[Line, ...] | None) -> tuple[Line, ...] | None:
    """Return a text that has any, else None."""
    return lines if lines and any(line.pieces for line in lines) else None


def _take_footers(part: SlidePart, neighbour: SlidePart, index: int) -> None:
    """Give a new slide the date, footer and number that its neighbour shows."""
    layout = {spot.type: spot for spot in spots(parents_of(part)[0])}
    for spot in spots(neighbour.slide.element):
        if spot.type in FOOTERS and spot.type in layout:
            made = text_body(copied(layout[spot.type], part.slide.element))
            for old in made.findall(f"{A}p"):
                made.remove(old)
            for paragraph in text_body(spot.shape).findall(f"{A}p"):
                # Links of the neighbour mean nothing in another part.
                if not any("hlink" in str(each.tag) for each in paragraph.iter()):
                    made.append(deepcopy(paragraph))
            for field in made.iter(f"{A}fld"):
                text = field.find(f"{A}t")
                if field.get("type") == "slidenum" and text is not None:
                    text.text = str(index + 1)
            if made.find(f"{A}p") is None:
                made.append(made.makeelement(f"{A}p"))
