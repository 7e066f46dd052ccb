"""Tables of PDF pages, by kbd and by others: `python benchmarks/pdf_tables.py`, or `make bench`.

Real pages of KBD_CORPORA whose tables a person has read go through kbd, pdfplumber (by lines and by
gaps), camelot (lattice and stream) and pypdf (text in layout, parted at two blanks). One judge
counts the cells that stand at their place; of a reader with two ways the better one counts, a table
at a time. Without the folder there is nothing to read.
"""

import logging
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

import camelot
import pdfplumber
import pypdf

# The truth lies beside the tests, which are no installed package.
sys.path.append(str(Path(__file__).resolve().parent.parent / "tests/formats/pdf"))

from benchmarks._measure import gate
from kbd.formats import Region, Source
from kbd_pdf import PdfFormat
from table_truth import cells_right, load_truth

Rows = Sequence[Sequence[str]]

_GAPS = {"vertical_strategy": "text", "horizontal_strategy": "text"}


def by_kbd(path: Path, page: int) -> list[Rows]:
    """Find tables with kbd."""
    found = PdfFormat().layout(Source(path, path.name), Region(pages=str(page)), "tables")
    return [table.rows for table in found.tables]


def by_pdfplumber(path: Path, page: int) -> list[Rows]:
    """Find tables with pdfplumber, by lines and by gaps."""
    with pdfplumber.open(path) as document:
        tables = [
            table
            for settings in ({}, _GAPS)
            for table in document.pages[page - 1].extract_tables(settings)
        ]
    return [[[cell or "" for cell in row] for row in table] for table in tables]


def by_camelot(path: Path, page: int) -> list[Rows]:
    """Find tables with camelot, by lines and by gaps."""
    found: list[Rows] = []
    for flavor in ("lattice", "stream"):
        try:
            tables = camelot.read_pdf(  # type: ignore[attr-defined,unused-ignore] # without types
                str(path), pages=str(page), flavor=flavor
            )
        except Exception as error:  # noqa: BLE001 - whatever a page makes it raise
            print(f"  camelot, {flavor}, {path.name}, page {page}: {type(error).__name__}")
            continue
        found += [table.df.to_numpy().tolist() for table in tables]
    return found


def by_pypdf(path: Path, page: int) -> list[Rows]:
    """Part the text in layout of pypdf at its wide gaps."""
    text = pypdf.PdfReader(path).pages[page - 1].extract_text(extraction_mode="layout")
    return [[re.split(r"\s{2,}", line.strip()) for line in text.splitlines() if line.strip()]]


READERS: dict[str, Callable[[Path, int], list[Rows]]] = {
    "kbd": by_kbd,
    "pdfplumber": by_pdfplumber,
    "camelot": by_camelot,
    "pypdf": by_pypdf,
}


def measured(folder: Path, reader: Callable[[Path, int], list[Rows]]) -> tuple[int, int, float]:
    """Return how many cells a reader has right, of how many, and the seconds that it took."""
    right = judged = 0
    spent = 0.0
    found: dict[tuple[str, int], list[Rows]] = {}
    for truth in load_truth():
        place = truth.file, truth.page
        if place not in found:
            begun = time.perf_counter()
            found[place] = reader(folder / truth.file, truth.page)
            spent += time.perf_counter() - begun
        right += cells_right(truth, found[place])
        judged += truth.cell_count
    return right, judged, spent


def main() -> None:
    """Read, judge and print; exit with 1 if kbd has less than 98 of 100 cells right."""
    corpora = os.environ.get("KBD_CORPORA")
    if not corpora:
        print("KBD_CORPORA names no folder of real files: no tables are read")
        return
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    truth = load_truth()
    pages = len({(table.file, table.page) for table in truth})
    print(f"\n{len(truth)} tables on {pages} pages, read by a person")
    shares = {}
    for name, reader in READERS.items():
        right, judged, spent = measured(Path(corpora) / "pdf", reader)
        shares[name] = 100 * right / judged
        told = f"{right:>6} of {judged} cells right {shares[name]:>6.1f} %"
        print(f"  {name:<12}{told}{spent:>8.1f} s")
    sys.exit(0 if gate("kbd, % of cells right", shares["kbd"], least=98) else 1)


if __name__ == "__main__":
    main()
