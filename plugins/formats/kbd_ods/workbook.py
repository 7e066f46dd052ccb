"""Workbook as it is read: its sheets, from the shelf where that has them, else from the file.

A file is a package of XML parts, or flat: one part that has all.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import IO

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Source
from kbd.formats.shelves import keep, kept
from kbd.office.open_document import DocumentKind, open_parts
from kbd.opc.package import prolog_fault
from kbd_ods.content_parser import parse_contents
from kbd_ods.sheet_builder import FoundSheet
from kbd_ods.sheets import OdsSheet

__all__ = ["find_sheet", "first_sheet", "read_sheets"]

_FLAT_SUFFIX = ".fods"

_SPREADSHEET = DocumentKind(
    "an OpenDocument spreadsheet",
    ("spreadsheet", "spreadsheet-template"),
    _FLAT_SUFFIX,
    parts=("settings.xml", "styles.xml", "content.xml"),
    # Read in pieces, none of which is kept but its values: the limit of parts of any package.
    max_bytes=150 << 20,
)

_SHELVED = "sheets-2"
"""Name on the shelf, with the version of what is kept there."""


def read_sheets(source: Source) -> list[OdsSheet]:
    """Return the sheets of a workbook, in the order of their tabs.

    Raises:
        FileReadFailed: It is not of the format, encrypted, damaged, or past a limit.
    """
    found = kept(source.shelf, _SHELVED, list[FoundSheet])
    if found is None:
        with _open_xml(source) as parts:
            found = parse_contents(source.name, parts)
        keep(source.shelf, _SHELVED, found)
    return list(map(OdsSheet, found))


@contextmanager
def _open_xml(source: Source) -> Iterator[tuple[IO[bytes], ...]]:
    """Open a spreadsheet and give its XML: settings, styles, contents.

    Raises:
        FileReadFailed: It is not of the format, encrypted, damaged, or past a limit.
    """
    with open_parts(source, _SPREADSHEET) as parts:
        if PurePath(source.name).suffix.lower() == _FLAT_SUFFIX:
            (file,) = parts
            # What a package's parts are held to; entities of a flat file could grow as well.
            fault = prolog_fault(io.BytesIO(file.read(1 << 20)))
            file.seek(0)
            if fault:
                raise FileReadFailed(f"{source.name} holds {fault}")
        yield parts


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
