"""How kbd knows a workbook that it wrote itself.

Such a file carries in its custom properties, under the name `kbd`, a digest of all its other
entries (name, size, CRC of each). If it matches, the package is exactly as kbd wrote it, with
openpyxl and nothing that openpyxl would lose; so openpyxl may load, change and write it again.
Any other program that saves the file breaks the digest.
"""

import hashlib
from collections.abc import Iterable
from pathlib import PurePosixPath

from kbd.errors import ValidationFailed
from kbd.formats import Source
from kbd.opc import Package

__all__ = ["MARKER_PART", "NO_DIGEST", "PROPERTY", "check_made_by_kbd", "digest", "refuse_macros"]

MARKER_PART = "docProps/custom.xml"
PROPERTY = "kbd"
NO_DIGEST = "0" * 64
"""Stands in the marker until the digest is known."""


def digest(entries: Iterable[tuple[str, int, int]]) -> str:
    """Return the digest of a package's entries: name, size and CRC-32 of each but the marker."""
    lines = sorted(f"{name} {size} {crc}\n" for name, size, crc in entries if name != MARKER_PART)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def refuse_macros(name: str) -> None:
    """Refuse to write a file whose suffix promises macros; raises ValidationFailed."""
    if PurePosixPath(name).suffix.lower() == ".xlsm":
        # The name is not told: that of a file being written means nothing to anybody.
        raise ValidationFailed("Workbooks with macros (.xlsm) are only read, never written.")


def check_made_by_kbd(source: Source) -> None:
    """Refuse to edit a workbook that kbd did not write.

    Raises:
        ValidationFailed: It was made or saved by another program, or cannot hold edits.
        FileReadFailed: It is no package, or damaged.
    """
    refuse_macros(source.name)
    with Package(source) as package:
        found = (
            package.read(MARKER_PART).decode("utf-8", "replace") if MARKER_PART in package else ""
        )
        expected = digest((i.filename, i.file_size, i.CRC) for i in package.entries)
    if f'name="{PROPERTY}"' not in found or expected not in found:
        raise ValidationFailed(
            f"{source.name} was not made by kbd; editing existing workbooks is not built yet: "
            "write a new workbook instead, or copy the data with table tools."
        )
