"""Sheets built with their plain cells searched for, and with all values by the general readers."""

from contextlib import ExitStack
from functools import cache
from pathlib import Path

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.opc.package import Package
from kbd_xlsx.reader.book_values import BookValues, open_values
from kbd_xlsx.reader.builder import build, read_shared, scan_sheet
from kbd_xlsx.workbook import read_workbook

NEVER = 1 << 60
"""As many bytes of rows no sheet has: all values are those of the general readers."""


def built(path: Path, bytes_of_column: int = 0) -> list[tuple[str, list[bytes] | str]]:
    """All that is kept of each sheet, or why it is refused; plain cells are searched for."""
    source = Source(path, path.name)
    found: list[tuple[str, list[bytes] | str]] = []
    with ExitStack() as stack:
        package = stack.enter_context(Package(source))

        @cache
        def opened() -> BookValues:
            return stack.enter_context(open_values(source, package))

        shared = read_shared(package, bytes_of_column)
        for sheet in read_workbook(package).sheets:
            try:
                sections, _ = build(package, sheet, shared, opened)
                found.append((sheet.name, sections.parts()))
            except FileReadFailed as refused:
                found.append((sheet.name, refused.message))
    return found


def differing(path: Path) -> list[str]:
    """The sheets of which anything differs by whether plain cells are searched for."""
    pairs = zip(built(path), built(path, NEVER), strict=True)
    return [plain[0] for plain, general in pairs if plain != general]


def plain_sheets(path: Path) -> list[bool]:
    """Of each sheet, whether all of its cells are plain."""
    with Package(Source(path, path.name)) as package:
        shared = read_shared(package, 0)
        return [
            scan_sheet(package, sheet, shared).plain is not None
            for sheet in read_workbook(package).sheets
        ]
