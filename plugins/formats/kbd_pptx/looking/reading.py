"""Regions of a deck, what stands in them, and all of its text."""

from collections.abc import Iterator

import msgspec

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import ChunkInfo, Passage, Reading, Region, Source
from kbd_pptx.looking.deck import Deck, opened_deck
from kbd_pptx.looking.objects import KINDS, objects_on
from kbd_pptx.looking.slide import Slide, slide_at
from kbd_pptx.looking.written import written_slide

__all__ = ["passages", "read_objects", "read_region"]

CHUNK_CHARS = 20_000
"""A deck without more text than this is read whole; else its first slides up to it are."""

MAX_READ_CHARS = 200_000
"""What one reading holds at most, as of plain text: about 50,000 tokens."""


class _Read(msgspec.Struct, frozen=True):
    """The slides that a region means, each with its text."""

    slides: tuple[tuple[Slide, str], ...]
    chunk_info: ChunkInfo | None
    warnings: tuple[str, ...]


def read_region(source: Source, region: Region) -> Reading:
    """Return the text of a slide, or of a deck from its first one.

    Slides are the chunks: `range` names those that are shown by their indices ("0-6").

    Raises:
        FileReadFailed: The deck, or the slide that is asked for, cannot be read.
        ValidationFailed: There is no such slide, or the coordinates are another format's.
    """
    with opened_deck(source) as deck:
        return _reading(_read(deck, region))


def read_objects(source: Source, region: Region) -> Reading:
    """Return what `read_region` does, with the shapes, tables, images and charts.

    Raises as `read_region` does.
    """
    with opened_deck(source) as deck:
        found = _read(deck, region)
        objects: dict[str, tuple[dict[str, object], ...]] = dict.fromkeys(KINDS, ())
        for slide, _ in found.slides:
            for kind, entries in objects_on(deck, slide).items():
                objects[kind] += tuple(entries)
        return msgspec.structs.replace(_reading(found), objects=objects)


def passages(source: Source) -> Iterator[Passage]:
    """Yield the text of each slide, long ones in pieces; a slide that cannot be read is left out.

    Raises:
        FileReadFailed: The deck cannot be read.
    """
    with opened_deck(source) as deck:
        for index in range(len(deck.slides)):
            with deck.spared("A slide"):
                slide = slide_at(deck, index)
                text = written_slide(deck, slide)
                for start in range(0, max(1, len(text)), MAX_READ_CHARS):
                    yield Passage(text[start : start + MAX_READ_CHARS], slide.place)


def _read(deck: Deck, region: Region) -> _Read:
    foreign = set(region.named()) - {"slide_index"}
    if foreign:
        raise ValidationFailed(f"{deck.name} is read by slide_index, not by {min(foreign)}.")
    count, index = len(deck.slides), region.slide_index
    if index is not None:
        slide = slide_at(deck, index)
        text, notes = _limited(written_slide(deck, slide), slide)
        chunk = ChunkInfo(index, count, index + 1 < count, str(index)) if count > 1 else None
        return _Read(((slide, text),), chunk, _told(deck, notes))
    return _from_first(deck)


def _from_first(deck: Deck) -> _Read:
    """Read the slides from the first one as far as they fit."""
    found: list[tuple[Slide, str]] = []
    notes: tuple[str, ...] = ()
    size = shown = 0
    for index in range(len(deck.slides)):
        try:
            slide = slide_at(deck, index)
            text, cut = _limited(written_slide(deck, slide), slide)
        except FileReadFailed as error:
            deck.warnings.append(f"Slide {index + 1} (slide_index {index}): {error.message}")
            shown = index + 1
            continue
        if found and size + len(text) > CHUNK_CHARS:
            break
        found.append((slide, text))
        size, shown, notes = size + len(text), index + 1, notes + cut
    if shown == len(deck.slides):
        return _Read(tuple(found), None, _told(deck, notes))
    count = len(deck.slides)
    note = f"Of {count} slides the first {shown} are shown; go on with slide_index {shown}."
    chunk = ChunkInfo(0, count, has_more=True, range=f"0-{shown - 1}")
    return _Read(tuple(found), chunk, _told(deck, (*notes, note)))


def _limited(text: str, slide: Slide) -> tuple[str, tuple[str, ...]]:
    if len(text) <= MAX_READ_CHARS:
        return text, ()
    note = f"Of {slide.place} the first {MAX_READ_CHARS:,} of {len(text):,} characters are shown."
    return text[:MAX_READ_CHARS], (note,)


def _told(deck: Deck, notes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*deck.warnings, *notes)))


def _reading(found: _Read) -> Reading:
    """Join the texts of slides, each under its name if there are several."""
    if len(found.slides) == 1:
        text = found.slides[0][1]
    else:
        text = "\n\n\n".join(f"{slide.place}\n\n{text}" for slide, text in found.slides)
    return Reading(text, found.chunk_info, found.warnings)
