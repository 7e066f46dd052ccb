"""The works on two versions of a file that benchmarks/review.py measures.

A work is given the newer version; the older one lies in a folder `before` beside it, under the same
name.
"""

import csv
import difflib
import io
import zipfile
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from xml.parsers import expat

import daff
import docx
import openpyxl

from benchmarks._child import Run, Work, answer
from kbd.formats import Comparable, CompareOptions, Source
from kbd_csv import CsvFormat
from kbd_docx import DocxFormat
from kbd_xlsx import XlsxFormat

__all__ = ["WORKS"]

_BLOCK = 1 << 20


def _versions(path: Path) -> tuple[Path, Path]:
    return path.parent / "before" / path.name, path


def kbd_compare(handler: Comparable) -> Work:
    """Compare as the review does, in one process."""

    def made(path: Path, _: Path) -> Run:
        before, after = (Source(each, each.name) for each in _versions(path))
        return lambda: handler.compare(before, after, CompareOptions())

    return made


def read_bytes(path: Path, _: Path) -> Run:
    """Read both versions to their ends and compare the blocks: the raw limit of a text."""

    def run() -> int:
        before, after = _versions(path)
        with before.open("rb") as one, after.open("rb") as other:
            # A sum, for the first block that differs must not end it.
            return sum(one.read(_BLOCK) != block for block in iter(lambda: other.read(_BLOCK), b""))

    return run


def read_parts(part: str) -> Work:
    """Parse a part of both versions with expat and look at nothing: the raw limit of a package."""

    def made(path: Path, _: Path) -> Run:
        def run() -> None:
            for version in _versions(path):
                with zipfile.ZipFile(version) as package, package.open(part) as xml:
                    expat.ParserCreate().ParseFile(xml)

        return run

    return made


def openpyxl_cells(path: Path, _: Path) -> Run:
    """Compare cell by cell with openpyxl, read-only: values at the same place, nothing moved."""

    def run() -> int:
        books = [openpyxl.load_workbook(each, read_only=True) for each in _versions(path)]
        sheets = [book.worksheets[0].iter_rows(values_only=True) for book in books]
        return sum(one != other for one, other in zip(*sheets, strict=False))

    return run


def docx_lines(path: Path, _: Path) -> Run:
    """Compare the paragraphs' texts with difflib, read by python-docx: no tables, no formatting."""

    def run() -> list[str]:
        before, after = (docx.Document(str(each)).paragraphs for each in _versions(path))
        return list(difflib.unified_diff([p.text for p in before], [p.text for p in after]))

    return run


def daff_rows(path: Path, _: Path) -> Run:
    """Compare with daff, by the first column."""

    def run() -> object:
        tables = []
        for each in _versions(path):
            rows = list(csv.reader(io.StringIO(each.read_text(encoding="utf-8"))))
            tables.append(daff.PythonTableView(rows))
        flags = daff.CompareFlags()
        flags.addPrimaryKey("Id")
        found = daff.PythonTableView([])
        alignment = daff.Coopy.compareTables(*tables, flags).align()
        return daff.TableDiff(alignment, flags).hilite(found)

    return run


WORKS: Mapping[str, Work] = MappingProxyType(
    {
        "kbd xlsx": kbd_compare(XlsxFormat()),
        "xlsx, XML of both sheets": read_parts("xl/worksheets/sheet1.xml"),
        "openpyxl": openpyxl_cells,
        "kbd docx": kbd_compare(DocxFormat()),
        "docx, XML of both bodies": read_parts("word/document.xml"),
        "python-docx and difflib": docx_lines,
        "kbd csv": kbd_compare(CsvFormat()),
        "csv, bytes of both files": read_bytes,
        "daff": daff_rows,
    }
)

_PRELOAD = (*XlsxFormat.preload, *DocxFormat.preload, *CsvFormat.preload)

if __name__ == "__main__":
    answer(WORKS, _PRELOAD)
