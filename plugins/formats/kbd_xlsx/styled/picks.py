"""What is to be copied and where to, parsed."""

from collections.abc import Mapping
from typing import Literal, get_args

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import AssetPick
from kbd.formats.styled import parse_asset
from kbd_xlsx.references import Area, parse_area

__all__ = ["AssetKind", "Pick", "Place", "parse_pick", "parse_place"]

AssetKind = Literal[
    "cell_style",
    "named_style",
    "number_format",
    "column_widths",
    "conditional_formats",
    "image",
    "chart",
]
_KINDS: Mapping[str, AssetKind] = {kind: kind for kind in get_args(AssetKind)}
_NOWHERE = Area(1, 1, 0, 0)


class Place(msgspec.Struct, frozen=True):
    """A place in a workbook: a sheet, or a range on one; `sheet` "" is the sheet it came from."""

    sheet: str = ""
    area: Area | None = None


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
    target: Place | None


def parse_pick(pick: AssetPick) -> Pick:
    """Parse what is to be copied; raises ValidationFailed."""
    kind, name = parse_asset(pick, _KINDS)
    target = parse_place(pick.target) if pick.target else None
    return Pick(pick.asset_id, kind, name, target)


def parse_place(text: str) -> Place:
    """Parse a sheet, a range, or both: "Sheet1", "B2:C4", "'My sheet'!B2".

    Raises:
        ValidationFailed: It is none of them.
    """
    sheet, mark, cells = text.strip().rpartition("!")
    if mark:
        return Place(_unquoted(sheet), _area(cells))
    try:
        return Place("", _area(cells))
    except ValidationFailed:
        # What is no range names a sheet.
        return Place(_unquoted(cells))


def _area(text: str) -> Area:
    area = parse_area(text, _NOWHERE)
    if area.bottom < area.top or area.right < area.left:
        raise ValidationFailed(f"{text[:40]!r} is no range of cells; write it as B2 or B2:C9.")
    return area


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text
