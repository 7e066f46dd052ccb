"""Workbook as it is read: its sheets, from the shelf where that has them, else from the file."""

from kbd.errors import ValidationFailed
from kbd.formats import Source
from kbd.formats.shelves import keep, kept
from kbd_ods.content_parser import parse_contents
from kbd_ods.packages import open_parts
from kbd_ods.sheet_builder import FoundSheet
from kbd_ods.sheets import OdsSheet

__all__ = ["find_sheet", "first_sheet", "read_sheets"]

_SHELVED = "sheets-2"
"""Name on the shelf, with the version of what is kept there."""


def read_sheets(source: Source) -> list[OdsSheet]:
    """Return the sheets of a workbook, in the order of their tabs.

    Raises:
        FileReadFailed: It is not of the format, encrypted, damaged, or past a limit.
    """
    found = kept(source.shelf, _SHELVED, list[FoundSheet])
    if found is None:
        with open_parts(source) as parts:
            found = parse_contents(source.name, parts)
        keep(source.shelf, _SHELVED, found)
    return list(map(OdsSheet, found))


def find_sheet(sheets: list[OdsSheet], name: str) -> OdsSheet:
    """Return a sheet by its name, without regard to case; raises ValidationFailed."""
    for sheet in sheets:
        if sheet.name == name:
            return sheet
    for sheet in sheets:
        if sheet.name.casefold() == name.casefold():
            return sheet
    names = ", ".join(sheet.name for sheet in sheets[:20])
    raise ValidationFailed(f"there is no sheet {name!r}; there are: {names}")


def first_sheet(sheets: list[OdsSheet]) -> OdsSheet:
    """Return the sheet that is read where none is named: the first one that people see."""
    return next((sheet for sheet in sheets if not sheet.found.hidden), sheets[0])
