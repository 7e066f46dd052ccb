"""What documents, decks and pages cost: `python benchmarks/documents.py`, or `make bench`.

Processor time and peak memory of single calls, each in a fresh process without anything kept from
earlier calls, beside the plain libraries on the same file; the median of some processes, except
where a library takes long. The peak is of the whole process, with the libraries of all formats.
Gates: facts of the formats, goals.
"""

import sys
import tempfile
from pathlib import Path

from benchmarks._child import Spent, median
from benchmarks._documents import write_deck, write_document, write_pages
from benchmarks._measure import gate, table

ROUNDS = 5
MIB = 1024 * 1024
PARAGRAPHS, MANY_PARAGRAPHS = 5_000, 50_000
SLIDES, PAGES = 500, 1_000


def spent(work: str, path: Path, rounds: int = ROUNDS) -> Spent:
    """Return the medians of a work."""
    return median("benchmarks._document_works", work, path, rounds)


def row(title: str, found: dict[str, Spent], most_ms: float | None = None) -> bool:
    """Print what a work cost, kbd's first, and return whether its gate is met, if it has one."""
    figures = {name: each.cpu_s * 1e3 for name, each in found.items()}
    ours = next(iter(found))
    table(title, "ms CPU", figures, ours)
    peaks = ", ".join(f"{name} {each.peak_bytes / MIB:.0f}" for name, each in found.items())
    print(f"  peak, MiB: {peaks}")
    return most_ms is None or gate(f"{title}, ms CPU", figures[ours], most=most_ms)


def documents(folder: Path) -> list[bool]:
    """Measure what is done with documents."""
    path, large = folder / "document.docx", folder / "large.docx"
    write_document(path, PARAGRAPHS)
    write_document(large, MANY_PARAGRAPHS, tables=200)
    some = f"docx, {PARAGRAPHS:,} paragraphs"
    many = f"docx, {MANY_PARAGRAPHS:,} paragraphs and 200 tables"
    peer = spent("python-docx map", path, 1)
    print(f"\npython-docx maps {PARAGRAPHS:,} paragraphs only; its time grows by their number")
    return [
        row(f"{some}: map", {"kbd": spent("kbd docx map", path), "python-docx": peer}, 100),
        row(f"{some}: one section", {
            "kbd": spent("kbd docx section", path),
            "kbd, again": spent("kbd docx section again", path),
            "python-docx": spent("python-docx section", path, 1),
        }, 50),
        row(f"{many}: map", {
            "kbd": spent("kbd docx map", large, 3),
            f"python-docx, {PARAGRAPHS:,} only": peer,
        }, 500),
        row(f"{some}: append one", {
            "kbd": spent("kbd docx append", path, 3),
            "python-docx": spent("python-docx append", path, 3),
        }),
        row(f"{many}: append one", {
            "kbd": spent("kbd docx append", large, 3),
            "python-docx": spent("python-docx append", large, 3),
        }),
    ]  # fmt: skip


def decks(folder: Path) -> list[bool]:
    """Measure what is done with decks."""
    path = folder / "deck.pptx"
    write_deck(path, SLIDES)
    most = {"map": 150.0, "slide": None, "retitle": None}
    return [
        row(f"pptx, {SLIDES} slides: {work}", {
            "kbd": spent(f"kbd pptx {work}", path),
            "python-pptx": spent(f"python-pptx {work}", path),
        }, most_ms)
        for work, most_ms in most.items()
    ]  # fmt: skip


def pages(folder: Path) -> list[bool]:
    """Measure what is done with pages."""
    path = folder / "pages.pdf"
    write_pages(path, PAGES)
    title = f"pdf, {PAGES:,} pages"
    met = [row(f"{title}: map", {"kbd": spent("kbd pdf map", path)})]
    for what, work, most_ms in (
        ("count, outline, five pages", "first", 300), ("all text", "all", 2_000),
    ):  # fmt: skip
        found = {
            "kbd": spent(f"kbd pdf {work}", path, 3),
            "pypdfium2": spent(f"pypdfium2 {work}", path, 3),
            "pypdf": spent(f"pypdf {work}", path, 1),
        }
        met.append(row(f"{title}: {what}", found, most_ms))
    return met


def main() -> None:
    """Measure and print; exit with 1 if a gate is missed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        met = [*documents(folder), *decks(folder), *pages(folder)]
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
