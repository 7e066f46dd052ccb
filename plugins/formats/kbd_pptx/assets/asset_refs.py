"""Asset references of decks: kinds, places that assets go to, and lookup of the assets."""

import difflib
import operator
from collections.abc import Iterable
from itertools import product
from typing import Literal, get_args

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.formats import AssetPick
from kbd.office.assets import AssetRef, fold_name, parse_asset_ref, same_name
from kbd.opc.element_names import local_name
from kbd.opc.package import Package
from kbd_pptx.presentation import P
from kbd_pptx.styles.deck import Deck, DeckLayout, DeckParts, Master, read_deck
from kbd_pptx.styles.inheritance import (
    KINDS,
    FormattingScope,
    formatting_scope,
    placeholder_key,
    shape_names,
    style_label,
)
from kbd_pptx.styles.pictures import DeckPicture, PictureHost, host_root, picture_hosts, pictures

__all__ = [
    "AssetKind",
    "DeckPlace",
    "PptxAssetRef",
    "SourceDeck",
    "TextShape",
    "find_master",
    "find_shape",
    "missing_asset",
    "parse_place",
    "parse_ref",
]


AssetKind = Literal["layout", "text_style", "theme", "image"]
_SHOWN = 100


class DeckPlace(msgspec.Struct, frozen=True):
    """A place in a deck.

    Args:
        kind: "slide" or "master".
        index: Which one, from 0.
        name: What is meant on it: a shape, or a kind of text; "" for all of it.
    """

    kind: Literal["slide", "master"]
    index: int
    name: str = ""

    def __str__(self) -> str:
        return f"{self.kind}:{self.index}" + (f"/{self.name}" if self.name else "")


PptxAssetRef = AssetRef[AssetKind, DeckPlace]
"""Something to be copied."""


def parse_ref(pick: AssetPick) -> PptxAssetRef:
    """Parse an asset reference; raises ValidationFailed."""
    return parse_asset_ref(pick, get_args(AssetKind), lambda _, text: _parse_target(text))


def parse_place(text: str) -> DeckPlace | None:
    """Parse a place: "slide:2", "slide:2/Title 1", "master:0/body"; None if it is none."""
    # At the first slash: a shape's own name may have more of them.
    where, _, name = text.strip().partition("/")
    word, _, number = where.partition(":")
    number = number.strip()
    if not (number.isascii() and number.isdigit() and len(number) < 7):
        return None
    match word.strip().lower():
        case "slide":
            return DeckPlace("slide", int(number), name.strip())
        case "master":
            return DeckPlace("master", int(number), name.strip())
        case _:
            return None


def _parse_target(text: str) -> DeckPlace:
    place = parse_place(text)
    if place is None:
        raise ValidationFailed(
            f"{text[:_SHOWN]!r} is no place in a deck; write slide:0, slide:0/Title 1, master:0 or "
            "master:0/title, counted from 0"
        )
    return place


def missing_asset(what: str, name: str, known: Iterable[str]) -> ValidationFailed:
    """Return the error for a missing asset, with the names nearest to it.

    Args:
        what: Of what, with where ("the source has no layout").
        name: The name that was asked for.
        known: What there is.
    """
    names = list(known)
    # Bounded: a comparison costs up to the product of two lengths, and there is one a name.
    folded = {each.casefold(): each for each in names[:2000]}
    near = [folded[each] for each in difflib.get_close_matches(name[:200].casefold(), folded, 5)]
    shown = near or names[:12]
    rest = f"; near it: {', '.join(near)}" if near else f"; there are: {', '.join(shown)}"
    return ValidationFailed(f"{what} {name[:_SHOWN]!r}{rest if names else ''}")


class TextShape(msgspec.Struct, frozen=True):
    """Shape with text on a slide, and where its formatting comes from.

    Args:
        place: Where it is, by its own name.
        part: The slide's part.
        root: The slide.
        shape: The shape.
        scope: Where its formatting comes from.
        master: The master that it follows, None if there is none.
    """

    place: DeckPlace
    part: str
    root: etree._Element
    shape: etree._Element
    scope: FormattingScope
    master: etree._Element | None


class SourceDeck:
    """Source deck of assets, which references name.

    Args:
        package: Its package.
        main: The part of its presentation.
    """

    def __init__(self, package: Package, main: str) -> None:
        self.package = package
        self.parts = DeckParts(package, main)
        self.deck = read_deck(self.parts)

    def layout(self, name: str) -> tuple[DeckLayout, Master]:
        """Return a layout with its master; raises ValidationFailed if there is none."""
        deck = self.deck
        # Labels before names: of layouts with the same name only the labels differ.
        for is_same, label in product((operator.eq, same_name), (True, False)):
            found = [
                layout
                for layout in deck.layouts
                if is_same(layout.label if label else layout.name, name)
            ]
            if len(found) > 1:
                labels = ", ".join(each.label for each in found)
                raise ValidationFailed(
                    f"several layouts are called {name!r}; write one of: {labels}"
                )
            master = deck.master_of(found[0].part) if found else None
            if master is not None:
                return found[0], master
        known = (f"layout:{each.label}" for each in deck.layouts)
        raise missing_asset("the source has no layout", f"layout:{name}", known)

    def master(self, name: str) -> Master:
        """Return the master that has a theme of a name; raises ValidationFailed if none has."""
        masters = {each.label: each for each in self.deck.masters if each.theme}
        found = _matching(masters, name)
        if found is not None:
            return masters[found]
        known = (f"theme:{label}" for label in masters)
        raise missing_asset("the source has no theme", f"theme:{name}", known)

    def style(self, name: str) -> tuple[Master, str]:
        """Return the master and the kind of a style of text; raises ValidationFailed."""
        known: list[str] = []
        for several in (len(self.deck.masters) > 1, True):
            styles = {
                style_label(master, kind, several=several): (master, kind)
                for master in self.deck.masters
                for kind in KINDS
            }
            found = _matching(styles, name)
            if found is not None:
                return styles[found]
            known = known or [f"text_style:{label}" for label in styles]
        known.append("text_style:slide:0/Name of a shape")
        raise missing_asset("the source has no style of text", f"text_style:{name}", known)

    def picture(self, name: str) -> DeckPicture:
        """Return a picture; raises ValidationFailed if there is none."""
        folded = fold_name(name)
        known: list[str] = []
        near: DeckPicture | None = None
        for host in picture_hosts(self.parts, self.deck):
            # What stands on other slides matters only where nothing is found. Where a place ends
            # is not said: layouts and pictures may have slashes in their names.
            if folded.startswith(f"{fold_name(host.place)}/"):
                for picture in pictures(self.parts, host, host_root(self.parts, host)):
                    if picture.name == name:
                        return picture
                    if near is None and same_name(picture.name, name):
                        near = picture
        if near is not None:
            return near
        for host in picture_hosts(self.parts, self.deck):
            root = host_root(self.parts, host)
            known += [f"image:{each.name}" for each in pictures(self.parts, host, root)]
            if len(known) > 200:
                break
        raise missing_asset("the source has no picture", f"image:{name}", known)

    def host_scope(self, host: PictureHost) -> FormattingScope:
        """Return the formatting scope of a slide, a layout or a master."""
        kind, _, number = host.place.partition(":")
        if kind == "master":
            return formatting_scope(self.parts, self.deck.masters[int(number)], of="master")
        master = self.deck.master_of(host.layout)
        return formatting_scope(self.parts, master, host.layout if master else "", of=kind)


def _matching(names: Iterable[str], wanted: str) -> str | None:
    """Return the name that is wanted: just so, else with blanks and case ignored."""
    loosely = [each for each in names if same_name(each, wanted)]
    return wanted if wanted in loosely else next(iter(loosely), None)


def find_master(deck: Deck, index: int, whose: str) -> Master:
    """Return a master by its place; raises ValidationFailed."""
    if index < len(deck.masters):
        return deck.masters[index]
    there = f"0 to {len(deck.masters) - 1}" if deck.masters else "none"
    raise ValidationFailed(f"the {whose} has no master {index}; there are: {there}")


def find_shape(parts: DeckParts, deck: Deck, place: DeckPlace, whose: str) -> TextShape:
    """Return a shape with text by its name, its kind as a placeholder, or its place from 0.

    Args:
        parts: The deck.
        deck: The same, as it was read.
        place: Where the shape is.
        whose: "source" or "target", for messages.

    Raises:
        ValidationFailed: There is no such slide or shape.
        FileReadFailed: The slide is damaged.
    """
    part = deck.slides[place.index] if place.index < len(deck.slides) else ""
    if not part:
        there = f"slide:0 to slide:{len(deck.slides) - 1}" if deck.slides else "none"
        raise ValidationFailed(f"the {whose} has no slide {place.index}; there are: {there}")
    root = parts.parse(part)
    names = shape_names(root)
    found = _matching(names, place.name)
    if found is None:
        found = next((name for name, one in names.items() if _is_kind(one, place.name)), None)
    if found is None and place.name.isascii() and place.name.isdigit() and len(place.name) < 6:
        tree = root.find(f"{P}cSld/{P}spTree")
        drawn = (
            [each for each in tree if local_name(each) in _SHAPE_NAMES] if tree is not None else []
        )
        wanted = drawn[int(place.name)] if int(place.name) < len(drawn) else None
        found = next((name for name, one in names.items() if one is wanted), None)
    if found is None:
        known = (f"slide:{place.index}/{name}" for name in names)
        raise missing_asset(f"the {whose} has no shape with text", str(place), known)
    layout = parts.related(part, "slideLayout")
    master = deck.master_of(layout)
    shape_scope = formatting_scope(parts, master, layout if master else "", of="slide")
    above = parts.root(master.part) if master else None
    return TextShape(
        DeckPlace("slide", place.index, found), part, root, names[found], shape_scope, above
    )


_SHAPE_NAMES = frozenset(("sp", "pic", "graphicFrame", "cxnSp", "grpSp", "contentPart"))


def _is_kind(shape: etree._Element, kind: str) -> bool:
    place = placeholder_key(shape)
    if place is None:
        return False
    if kind.casefold() == "body":
        return place.style == "body"
    return kind.casefold() in (place.kind.casefold(), place.style)
