"""Asset references of workbooks: kinds, and the places that assets go to."""

from typing import Literal, get_args

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import AssetPick
from kbd.office.asset_refs import AssetRef, parse_asset_ref
from kbd_xlsx.references import Area, parse_area

__all__ = ["AssetKind", "WorkbookPlace", "XlsxAssetRef", "parse_place", "parse_ref"]

AssetKind = Literal[
    "cell_style",
    "named_style",
    "number_format",
    "column_widths",
    "conditional_formats",
    "image",
    "chart",
]
_NOWHERE = Area(1, 1, 0, 0)


class WorkbookPlace(msgspec.Struct, frozen=True):
    """A place in a workbook: a sheet, or a range on one; `sheet` "" is the sheet it came from."""

    sheet: str = ""
    area: Area | None = None


XlsxAssetRef = AssetRef[AssetKind, WorkbookPlace]
"""Something to be copied."""


def parse_ref(pick: AssetPick) -> XlsxAssetRef:
    """Parse what is to be copied; raises ValidationFailed."""
    return parse_asset_ref(pick, get_args(AssetKind), lambda _, text: parse_place(text))


def parse_place(text: str) -> WorkbookPlace:
    """Parse a sheet, a range, or both: "Sheet1", "B2:C4", "'My sheet'!B2".

    Raises:
        ValidationFailed: It is none of them.
    """
    sheet, mark, cells = text.strip().rpartition("!")
    if mark:
        return WorkbookPlace(_unquoted(sheet), _area(cells))
    try:
        return WorkbookPlace("", _area(cells))
    except ValidationFailed:
        # What is no range names a sheet.
        return WorkbookPlace(_unquoted(cells))


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
