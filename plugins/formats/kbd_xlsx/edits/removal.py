"""A sheet taken out of a workbook, where nothing that stays refers to it."""

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape

from kbd.errors import ValidationFailed
from kbd.opc.rewriter import Rewriting
from kbd_xlsx.calculation import mentions
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.operations import DeleteSheet

__all__ = ["delete_sheet"]

MAX_LISTED = 5
_HYPERLINK = re.compile(rb"<(?:[\w.-]+:)?hyperlink\b[^>]*>")
_NO_CELLS = b"<worksheet/>"
# Parts in which a sheet's name is text or history, not a reference to its cells.
_TELLS_ONLY = re.compile(r"(?:^|/)(?:sharedStrings|comments\d*|app|core|custom)\.xml$|^docProps/")


def delete_sheet(book: BookEdit, operation: DeleteSheet) -> str:
    """Delete a sheet with the parts that only it needs, and say which.

    Raises:
        ValidationFailed: Something that stays refers to it, or no visible sheet would be left.
    """
    title = book.title(operation.sheet)
    book.settle()
    _check_remaining(book, title)
    _check_formulas(book, title)
    owned = _only_of(book, title)
    _check_parts(book, title, owned)
    if book.book.locks_structure:
        book.notices.warn("The workbook's structure is protected; a sheet was deleted anyway.")
    book.forget_sheet(title)
    for part in sorted(owned):
        book.rewriting.drop(part)
    book.drop_calculation_chain()
    return f"{title}: deleted"


def _check_remaining(book: BookEdit, title: str) -> None:
    kinds = {relation.kind for relation in book.rewriting.relations(book.main)}
    if "vbaProject" in kinds:
        raise ValidationFailed(
            f"{title} stays: the workbook has macros, which know its sheets; delete it in a "
            "spreadsheet program."
        )
    if not any(tab.title != title and not tab.is_hidden for tab in book.book.tabs):
        raise ValidationFailed(f"{title} stays: a workbook needs a sheet that is not hidden.")


def _check_formulas(book: BookEdit, title: str) -> None:
    """Refuse while cells or names of the rest refer to the sheet or its tables."""
    parts = {other: book.rewriting.read(part) for other, part in book.worksheets()}
    owned_tables = [table.name for table in book.tables(title)]
    if title in parts:
        parts[title] = _NO_CELLS
    places = [
        place
        for place in mentions(book.formulas(parts), title)
        if not place.startswith((f"{title}!", f"'{title}'!"))
    ]
    for name in owned_tables:
        mark = f"{name}[".encode()
        places += [f"{other} (table {name})" for other, data in parts.items() if mark in data]
    if places:
        more = f" and {len(places) - MAX_LISTED} more" if len(places) > MAX_LISTED else ""
        raise ValidationFailed(
            f"{title} stays: it is referred to by {', '.join(places[:MAX_LISTED])}{more}."
        )


def _check_parts(book: BookEdit, title: str, owned: set[str]) -> None:
    """Refuse while charts, pivot tables, rules or slicers of the rest refer to the sheet."""
    number = next(tab.sheet_id for tab in book.book.tabs if tab.title == title)
    marks = _marks(title)
    linked = False
    for part in book.rewriting.parts():
        if part in owned or not part.endswith(".xml") or _TELLS_ONLY.search(part):
            continue
        if part == book.main:
            continue
        data = book.rewriting.read(part)
        is_tied = "slicerCache" in part or "timelineCache" in part
        if is_tied and f'tabId="{number}"'.encode() in data:
            raise ValidationFailed(f"{title} stays: a slicer or timeline is tied to it.")
        if not any(mark in data for mark in marks):
            continue
        if any(mark in _HYPERLINK.sub(b"", data) for mark in marks):
            raise ValidationFailed(f"{title} stays: {part.rpartition('/')[2]} refers to it.")
        linked = True
    if linked:
        book.notices.warn(f"Links lead to {title}, which is gone.")


def _marks(title: str) -> list[bytes]:
    """Return how parts name a sheet when they refer to its cells."""
    text = escape(title)
    quoted = escape(title.replace("'", "''"))
    spelt = (f"'{quoted}'!", f"&apos;{quoted}&apos;!", f"{text}!", f'sheet="{text}"')
    return [mark.encode() for mark in spelt]


def _only_of(book: BookEdit, title: str) -> set[str]:
    """Return the parts that nothing would lead to without the sheet."""
    part = book.part(title)
    if not part:
        return set()
    rewriting = book.rewriting
    kept = _reached(rewriting, "", part)
    own = {part, *_reached(rewriting, part, "")} - kept
    return {name for name in own if name in rewriting}


def _reached(rewriting: Rewriting, start: str, without: str) -> set[str]:
    """Return the parts that relations lead to, not through one of them."""
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for target in _targets(rewriting, waiting.pop()):
            if target not in found and target != without:
                found.add(target)
                waiting.append(target)
    return found


def _targets(rewriting: Rewriting, part: str) -> Iterator[str]:
    for relation in rewriting.relations(part):
        if not relation.external and relation.target in rewriting:
            yield relation.target
