"""What is to be copied and where to, parsed."""

import difflib
from collections.abc import Iterable, Mapping
from typing import Literal, get_args

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import AssetPick
from kbd.formats.styled import parse_asset

__all__ = ["AssetKind", "Pick", "Spot", "not_there", "parse_pick", "parse_spot", "same_name"]

AssetKind = Literal["layout", "text_style", "theme", "image"]
_KINDS: Mapping[str, AssetKind] = {kind: kind for kind in get_args(AssetKind)}
_SHOWN = 100


class Spot(msgspec.Struct, frozen=True):
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


class Pick(msgspec.Struct, frozen=True):
    """Something to be copied.

    Args:
        asset_id: As it was given, for messages.
        kind: What it is.
        name: What comes after the kind.
        target: Where it goes, None where that was not given.
    """

    asset_id: str
    kind: AssetKind
    name: str
    target: Spot | None


def parse_pick(pick: AssetPick) -> Pick:
    """Parse what is to be copied; raises ValidationFailed."""
    kind, name = parse_asset(pick, _KINDS)
    target = None
    if pick.target:
        target = parse_spot(pick.target)
        if target is None:
            raise ValidationFailed(
                f"{pick.target[:_SHOWN]!r} is no place in a deck; write slide:0, slide:0/Title 1, "
                "master:0 or master:0/title, counted from 0."
            )
    return Pick(pick.asset_id, kind, name, target)


def parse_spot(text: str) -> Spot | None:
    """Parse a place: "slide:2", "slide:2/Title 1", "master:0/body"; None if it is none."""
    where, _, name = text.strip().partition("/")
    word, _, number = where.partition(":")
    number = number.strip()
    if not (number.isascii() and number.isdigit() and len(number) < 7):
        return None
    match word.strip().lower():
        case "slide":
            return Spot("slide", int(number), name.strip())
        case "master":
            return Spot("master", int(number), name.strip())
        case _:
            return None


def same_name(one: str, other: str) -> bool:
    """Tell whether two names are the same, blanks and case ignored."""
    return "".join(one.split()).casefold() == "".join(other.split()).casefold()


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
