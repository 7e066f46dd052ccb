"""The pictures of a deck: where they stand, what they are called, what they are made of."""

import io
import posixpath
import struct
import warnings
from collections.abc import Iterator

import msgspec
from lxml import etree
from PIL import Image

from kbd.opc.element_names import local_name
from kbd_pptx.presentation import A, P, R
from kbd_pptx.reader.boxes import IDENTITY, Box, group_transform
from kbd_pptx.styles.deck import Deck, DeckParts, shorten, unique_names
from kbd_pptx.styles.inheritance import formatting_scope, inherited_box, shapes

__all__ = [
    "DeckPicture",
    "PictureHost",
    "host_root",
    "media_type",
    "picture_box",
    "picture_hosts",
    "pictures",
    "pixel_size",
]

_MAX_SLIDES = 500
"""Whose pictures are listed; a deck of more is rare, and each costs its parsing."""

_FORMATS = ("PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP")


class PictureHost(msgspec.Struct, frozen=True):
    """Holder of pictures, with its name: "slide:0", "layout:Title Slide", "master:0".

    `layout` is the part of the layout that it follows, or that it is; "" for none.
    """

    part: str
    place: str
    layout: str = ""


class DeckPicture(msgspec.Struct, frozen=True):
    """Picture on a slide, layout or master.

    Args:
        name: What tells it from others: "slide:0/Picture 3".
        host: What it stands on.
        element: The picture.
        media: The part with its bytes, "" if it is linked or missing.
        link: The address of a linked picture.
        alt_text: What it shows, in words.
    """

    name: str
    host: PictureHost
    element: etree._Element
    media: str
    link: str
    alt_text: str


def picture_hosts(parts: DeckParts, deck: Deck) -> Iterator[PictureHost]:
    """Yield the slides, then the layouts, then the masters of a deck."""
    for index, part in enumerate(deck.slides[:_MAX_SLIDES]):
        if part:
            yield PictureHost(part, f"slide:{index}", parts.related(part, "slideLayout"))
    for layout in deck.layouts:
        yield PictureHost(layout.part, f"layout:{layout.label}", layout.part)
    for index, master in enumerate(deck.masters):
        yield PictureHost(master.part, f"master:{index}")


def host_root(parts: DeckParts, host: PictureHost) -> etree._Element:
    """Return the tree of a slide, layout or master; raises FileReadFailed if it is damaged."""
    slide = host.place.startswith("slide:")
    # A slide is looked at once; the trees of layouts and masters are wanted again and again.
    return parts.parse(host.part) if slide else parts.root(host.part)


def pictures(parts: DeckParts, host: PictureHost, root: etree._Element) -> list[DeckPicture]:
    """List the pictures that stand on a slide, layout or master, those in groups too."""
    found = [shape for shape in shapes(root) if local_name(shape) == "pic"]
    if not found:
        return []
    relations = parts.relations(host.part)
    names = unique_names([shorten(_attribute(shape, "name")) or "Picture" for shape in found])
    made = []
    for shape, name in zip(found, names, strict=True):
        blip = shape.find(f"{P}blipFill/{A}blip")
        embedded = relations.get(blip.get(f"{R}embed", "")) if blip is not None else None
        linked = relations.get(blip.get(f"{R}link", "")) if blip is not None else None
        inside_it = embedded is not None and not embedded.external and embedded.target in parts
        made.append(
            DeckPicture(
                name=f"{host.place}/{name}",
                host=host,
                element=shape,
                media=embedded.target if embedded is not None and inside_it else "",
                link=linked.target if linked is not None and linked.external else "",
                alt_text=_attribute(shape, "descr")[:500],
            )
        )
    return made


def picture_box(parts: DeckParts, deck: Deck, picture: DeckPicture) -> Box | None:
    """Return a picture's box on its slide, None if there is none."""
    host = picture.host
    master = deck.master_of(host.layout) if host.layout else None
    picture_scope = formatting_scope(parts, master, host.layout, of=host.place.partition(":")[0])
    found = inherited_box(picture_scope.chain(picture.element))
    outer = IDENTITY
    # From the outermost group inward: each one is placed by the one around it.
    for group in reversed(list(picture.element.iterancestors(f"{P}grpSp"))):
        outer = group_transform(group.find(f"{P}grpSpPr/{A}xfrm"), outer)
    return outer.apply(found) if found is not None else None


def pixel_size(data: bytes) -> tuple[int, int] | None:
    """Return a picture's width and height in pixels, None for drawings and what is damaged."""
    with warnings.catch_warnings():
        # A picture of very many pixels is only measured here, not unpacked.
        warnings.simplefilter("ignore")
        try:
            with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
                return image.size
        except (ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, OSError,
                RuntimeError, SyntaxError, TypeError, ValueError, struct.error,
                Image.DecompressionBombError):  # fmt: skip
            # What a damaged picture makes of the code that reads its head is not told anywhere.
            return None


def media_type(part: str) -> str:
    """Return the kind of a picture by its part's suffix ("png")."""
    return posixpath.splitext(part)[1].lstrip(".").lower()


def _attribute(shape: etree._Element, name: str) -> str:
    properties = shape.find(f"./*/{P}cNvPr")
    return properties.get(name, "") if properties is not None else ""
