"""The comparison of a workbook before and after an edit."""

import zipfile
from collections.abc import Iterator
from pathlib import Path

from lxml import etree

from judging.belongings import compare_belongings
from judging.book import Book
from judging.contents import compare_cells, holds
from judging.dependents import affected
from judging.differences import Difference, Edit, Formula
from judging.features import compare_features, compare_tables, compare_workbook
from judging.places import name, place
from judging.soundness import UNREADABLE, book_faults
from judging.spills import is_spilling

__all__ = ["compare"]


def compare(before: Path, after: Path, edit: Edit = Edit()) -> list[Difference]:  # noqa: B008 - frozen
    """Tell what differs beside what an edit meant, and what is not as it meant.

    Faults of the file that were not there before count as material differences, too.

    Raises:
        zipfile.BadZipFile, etree.XMLSyntaxError, KeyError, StopIteration, ValueError: If the file
            before is none that can be read. One after that cannot be read is a difference.
    """
    old = Book(before)
    try:
        new = Book(after)
    except (etree.XMLSyntaxError, zipfile.BadZipFile, KeyError, StopIteration, ValueError) as error:
        return [Difference("fault", "file", "", f"{UNREADABLE}: {error!r}")]
    try:
        known = set(book_faults(old))
        news = [fault for fault in book_faults(new) if fault not in known]
        found = [Difference("fault", "file", "", fault) for fault in news]
        if not any(fault.startswith(UNREADABLE) for fault in news):
            found += _differences(old, new, edit)
    finally:
        old.close()
        new.close()
    return found


def _differences(before: Book, after: Book, edit: Edit) -> Iterator[Difference]:
    changed = [(sheet.lower(), place(cell)) for sheet, cell in edit.cells]
    spilling = [
        (sheet.lower(), place(cell))
        for (sheet, cell), value in edit.cells.items()
        if isinstance(value, Formula) and is_spilling(value.text) and sheet not in edit.added
    ]
    touched = affected(before, changed, spilling)
    yield from compare_workbook(before, after, edit)
    yield from compare_belongings(before, after)
    yield from compare_tables(before, after, edit)
    for sheet in before.worksheets:
        partner = next((s for s in after.worksheets if s.title == sheet.title), None)
        if partner is None:
            yield Difference("sheet lost", sheet.title, sheet.part, "")
            continue
        if sheet.kind == "worksheet":
            yield from compare_features(sheet, partner, edit)
        yield from compare_cells(sheet, partner, edit, touched)
    for title in edit.added:
        yield from _added(after, title, edit)


def _added(after: Book, title: str, edit: Edit) -> Iterator[Difference]:
    """A sheet that was made holds what was meant and nothing else."""
    from_edit = edit.on(title)
    sheet = next((s for s in after.worksheets if s.title == title), None)
    for at in set(sheet.cells if sheet else ()) | set(from_edit):
        cell = sheet.cells.get(at) if sheet else None
        if not holds(cell, from_edit.get(at)):
            yield Difference(
                "cell not as meant", f"{title}!{name(at)}", repr(from_edit.get(at)), str(cell)
            )
