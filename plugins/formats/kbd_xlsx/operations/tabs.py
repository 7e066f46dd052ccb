"""Operations on sheets among the others: their names, their order, whether they show."""

from typing import Annotated

import msgspec

from kbd_xlsx.operations.base import XlsxOperation

__all__ = ["CopySheet", "HideSheet", "MoveSheet", "RenameSheet"]


class RenameSheet(XlsxOperation, frozen=True, tag="rename_sheet"):
    """Rename a sheet; formulas, names, charts, pivot tables and links that refer to it follow."""

    sheet: str
    name: str


class MoveSheet(XlsxOperation, frozen=True, tag="move_sheet"):
    """Move a sheet among the others; `to` is its position afterwards, from 1."""

    sheet: str
    to: Annotated[int, msgspec.Meta(ge=1, le=10_000)]


class CopySheet(XlsxOperation, frozen=True, tag="copy_sheet"):
    """Copy a sheet with all that is on it under a new name, behind the last sheet."""

    sheet: str
    name: str


class HideSheet(XlsxOperation, frozen=True, tag="hide_sheet"):
    """Hide a sheet, or show a hidden one; one has to stay in sight."""

    sheet: str
    hidden: bool = True
