"""Asset references of decks: kinds, and the places that assets go to."""

import difflib
from collections.abc import Iterable
from typing import Literal, get_args

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import AssetPick
from kbd.office.assets import AssetRef, parse_asset_ref

__all__ = ["AssetKind", "DeckPlace", "PptxAssetRef", "not_there", "parse_place", "parse_ref"]

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
    """Parse what is to be copied; raises ValidationFailed."""
    return parse_asset_ref(pick, get_args(AssetKind), lambda _, text: _target(text))


def parse_place(text: str) -> DeckPlace | None:
    """Parse a place: "slide:2", "slide:2/Title 1", "master:0/body"; None if it is none."""
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


def _target(text: str) -> DeckPlace:
    place = parse_place(text)
    if place is None:
        raise ValidationFailed(
            f"{text[:_SHOWN]!r} is no place in a deck; write slide:0, slide:0/Title 1, master:0 or "
            "master:0/title, counted from 0."
        )
    return place


def not_there(what: str, name: str, known: Iterable[str]) -> ValidationFailed:
    """Return the error that names the nearest of what there is.

    Args:
        what: Of what, with where ("The source has no layout").
        name: The name that was asked for.
        known: What there is.
    """
    names = list(known)
    folded = {each.casefold(): each for each in names[:2000]}
    near = [folded[each] for each in difflib.get_close_matches(name[:200].casefold(), folded, 5)]
    shown = near or names[:12]
    rest = f"; near it: {', '.join(near)}" if near else f"; there are: {', '.join(shown)}"
    return ValidationFailed(f"{what} {name[:_SHOWN]!r}{rest if names else ''}.")
