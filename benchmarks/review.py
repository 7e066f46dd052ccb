"""What a review costs: `python benchmarks/review.py`, or `make bench`.

Comparisons of two versions of large files: processor time and peak memory, each in a fresh process,
beside the raw limit (the bytes, or the XML, of both versions read once) and beside peers that tell
less. Peers that would take minutes get a smaller pair, and kbd is measured on that one, too. Gate:
the issue's goal for workbooks.
"""

import random
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import docx
import msgspec

from benchmarks._child import Spent, median
from benchmarks._documents import write_document
from benchmarks._measure import gate, table
from benchmarks._workbooks import HEADERS, rows, write_workbook
from kbd.formats import Source
from kbd_xlsx import XlsxFormat

MIB = 1024 * 1024
SHEET_ROWS, SMALL_ROWS = 200_000, 20_000
PARAGRAPHS = 40_000
"""Of about 1,000 pages."""
CSV_MIB, SMALL_CSV_MIB = 300, 15
CHANGED = 10


def compared(title: str, path: Path, works: Sequence[str]) -> dict[str, float]:
    """Print what works cost on a pair of files, and return their seconds."""
    found: dict[str, Spent] = {
        work: median("benchmarks._review_works", work, path, 3 if work.startswith("kbd") else 1)
        for work in works
    }
    seconds = {work: spent.cpu_s for work, spent in found.items()}
    table(title, "s CPU", seconds, works[0])
    peaks = ", ".join(f"{work} {spent.peak_bytes / MIB:.0f}" for work, spent in found.items())
    print(f"  peak, MiB: {peaks}")
    return seconds


def pair(folder: Path, name: str) -> tuple[Path, Path]:
    """Return where the older and the newer version lie."""
    (folder / "before").mkdir(parents=True, exist_ok=True)
    return folder / "before" / name, folder / name


def workbooks(folder: Path, count: int) -> Path:
    """Make a workbook, and the same with some cells changed by kbd's own edit."""
    before, after = pair(folder, f"{count}.xlsx")
    write_workbook(before, count)
    chance = random.Random(3)
    handler = XlsxFormat()
    cells = [{"cell": f"G{chance.randrange(2, count)}", "value": n} for n in range(CHANGED)]
    edit = {"op": "set_cells", "sheet": "Data", "cells": cells}
    record = next(each for each in handler.operations if each.__struct_config__.tag == edit["op"])
    handler.apply(Source(before, before.name), (msgspec.convert(edit, record),), after)
    return after


def documents(folder: Path) -> Path:
    """Make a document of a thousand pages, and the same with three paragraphs changed."""
    before, after = pair(folder, "a.docx")
    write_document(before, PARAGRAPHS, tables=100)
    document = docx.Document(str(before))
    for number in (400, 20_000, 39_000):
        document.paragraphs[number].runs[0].text = f"Changed words of paragraph {number}. "
    document.save(str(after))
    return after


def texts(folder: Path, size_mib: int) -> Path:
    """Make a table as text, and the same with some cells changed and a row inserted."""
    before, after = pair(folder, f"{size_mib}.csv")
    lines = [",".join(str(value) for value in row) for row in rows(100_000)]
    with before.open("w", encoding="utf-8") as old, after.open("w", encoding="utf-8") as new:
        header = ",".join(HEADERS)
        old.write(header + "\n")
        new.write(header + "\n")
        number = 0
        while old.tell() < size_mib * MIB:
            for line in lines:
                number += 1
                text = f"{number},{line.partition(',')[2]}\n"
                old.write(text)
                if number % 200_000 == 77:
                    text = text.replace("Region", "Area", 1)
                if number == 5_000:
                    new.write(f"-1,{line.partition(',')[2]}\n")
                new.write(text)
    return after


def main() -> int:
    """Measure and print; 1 if a gate is missed."""
    folder = Path(tempfile.mkdtemp(prefix="kbd-review-"))
    try:
        met = _measure(folder)
    finally:
        shutil.rmtree(folder)
    return 0 if all(met) else 1


def _measure(folder: Path) -> list[bool]:
    title = "{}: {} changed cells"
    path = workbooks(folder, SHEET_ROWS)
    works = ["kbd xlsx", "xlsx, XML of both sheets"]
    sheet = compared(title.format(f"workbook of {SHEET_ROWS:,} rows", CHANGED), path, works)
    small = workbooks(folder, SMALL_ROWS)
    peers = ["kbd xlsx", "openpyxl"]
    compared(title.format(f"workbook of {SMALL_ROWS:,} rows", CHANGED), small, peers)
    works = ["kbd docx", "docx, XML of both bodies", "python-docx and difflib"]
    compared("document of 1,000 pages, 3 changed paragraphs", documents(folder), works)
    works = ["kbd csv", "csv, bytes of both files"]
    compared(f"csv of {CSV_MIB} MiB, some cells and a row", texts(folder, CSV_MIB), works)
    works = ["kbd csv", "daff"]
    small = texts(folder, SMALL_CSV_MIB)
    compared(f"csv of {SMALL_CSV_MIB} MiB, some cells and a row", small, works)
    print()
    ratio = sheet["kbd xlsx"] / sheet["xlsx, XML of both sheets"]
    return [gate("workbook against the XML of both sheets", ratio, most=2.0)]


if __name__ == "__main__":
    sys.exit(main())
