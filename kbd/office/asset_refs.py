"""Asset references: what a call of `copy_assets` names to be copied, and where it shall go.

`kbd.formats.styled` reads the kind and the name; here a format's own reading of places joins.
"""

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

import msgspec

from kbd.formats import AssetPick
from kbd.formats.styled import parse_asset

__all__ = ["AssetRef", "parse_asset_ref", "same_name"]

Kind = TypeVar("Kind", bound=str)
Target = TypeVar("Target")


class AssetRef(msgspec.Struct, Generic[Kind, Target], frozen=True):
    """Something to be copied.

    Args:
        asset_id: As it was given, for messages.
        kind: What it is.
        name: What comes after the kind.
        target: Where it goes, None where that was not given.
    """

    asset_id: str
    kind: Kind
    name: str
    target: Target | None


def parse_asset_ref(
    pick: AssetPick, kinds: Iterable[Kind], parse_target: Callable[[Kind, str], Target]
) -> AssetRef[Kind, Target]:
    """Parse what is to be copied.

    Args:
        pick: The id and target as they were given.
        kinds: The kinds of assets that the format has.
        parse_target: Returns the place that a text means for a kind, or raises ValidationFailed.

    Raises:
        ValidationFailed: It is of no such kind, has no name, or no such place.
    """
    kind, name = parse_asset(pick, {each: each for each in kinds})
    target = parse_target(kind, pick.target) if pick.target else None
    return AssetRef(pick.asset_id, kind, name, target)


def same_name(one: str, other: str) -> bool:
    """Whether two names are the same, blanks and case ignored."""
    return "".join(one.split()).casefold() == "".join(other.split()).casefold()
