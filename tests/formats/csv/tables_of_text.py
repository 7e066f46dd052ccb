"""Delimited text read as a table, with what its reading says, for the tests of this folder."""

from pathlib import Path

import msgspec

from kbd.formats import ReadAs, Source, Table
from kbd_csv import CsvFormat

__all__ = ["FORMAT", "ReadTable", "left_out", "read", "repaired"]

FORMAT = CsvFormat()


class ReadTable(msgspec.Struct, frozen=True):
    """A table, and the lines of its plain form."""

    table: Table
    lines: list[str]


def read(
    folder: Path, data: bytes | str, name: str = "a.csv", said: ReadAs | None = None
) -> ReadTable:
    """Write a file into a folder and read it."""
    path, plain = folder / "blob", folder / "plain"
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    table = FORMAT.read_table(Source(path, name), None, said or ReadAs(), plain)
    return ReadTable(table, plain.read_bytes().decode().splitlines())


def left_out(found: ReadTable) -> list[tuple[str, int, tuple[int, ...]]]:
    """Return what was left out: why, how many rows, and the first of them."""
    return [(each.what, each.count, each.rows) for each in found.table.reading.left_out]


def repaired(found: ReadTable) -> list[tuple[str, int, tuple[int, ...]]]:
    """Return what was mended: how, how many rows, and the first of them."""
    return [(each.what, each.count, each.rows) for each in found.table.reading.repaired]
