"""One version of a deck as it is compared: its slides, and the other parts by what they hold."""

from collections.abc import Mapping
from pathlib import PurePath

import msgspec

from kbd.formats import Source
from kbd.office.open_document import open_package, part_digests
from kbd_odp.deck import DeckSlide, open_deck
from kbd_odp.deck_map import facts
from kbd_odp.packages import KIND
from kbd_odp.warnings import deck_warnings

__all__ = ["OdpVersion", "read_version"]

_DERIVED = ("Thumbnails/", "META-INF/", "mimetype", "Configurations2/", "ObjectReplacements/")
"""Parts that are made of others at each save."""

_READ = ("content.xml", "meta.xml", "settings.xml")
_STAMPS = ("format", "slide_count", "modified_at")
"""Facts that are no properties, or are set anew at each save."""


class OdpVersion(msgspec.Struct, frozen=True):
    """All of a version.

    Args:
        slides: In order.
        parts: Size and digest of all parts beside the contents; pictures and objects are told
            where they are shown.
        properties: What the file says of itself, by name.
        warnings: What the reader must know.
    """

    slides: tuple[DeckSlide, ...]
    parts: Mapping[str, tuple[int, str]]
    properties: Mapping[str, str]
    warnings: tuple[str, ...]


def read_version(source: Source) -> OdpVersion:
    """Read a version of a deck.

    Raises:
        FileReadFailed: It is no deck, encrypted, damaged, or past a limit.
    """
    with open_deck(source, has_digests=True) as deck:
        slides = tuple(deck.slides())
        warnings = deck_warnings(deck)
    parts: dict[str, tuple[int, str]] = {}
    if PurePath(source.name).suffix.lower() != KIND.flat_suffix:
        with open_package(source, KIND) as package:
            parts = part_digests(package, (*_DERIVED, *_READ))
    told = facts(source)
    properties = {name: str(value) for name, value in told.items() if name not in _STAMPS}
    return OdpVersion(tuple(_held(each, parts) for each in slides), parts, properties, warnings)


def _held(slide: DeckSlide, parts: Mapping[str, tuple[int, str]]) -> DeckSlide:
    """Return a slide whose shapes count by what their pictures and objects hold."""
    shapes = []
    for shape in slide.shapes:
        part = parts.get(shape.file) or parts.get(f"{shape.file}/content.xml")
        if part is not None:
            shape = msgspec.structs.replace(shape, digest=f"{shape.digest} {part[1]}")
        shapes.append(shape)
    return msgspec.structs.replace(slide, shapes=tuple(shapes))
