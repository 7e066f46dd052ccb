"""A sheet in another position, hidden or shown."""

import re

from kbd.errors import ValidationFailed
from kbd.office.operations import listed
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.tabs.renames import with_app_titles
from kbd_xlsx.edits.tabs.sheet_names import sheet_spans
from kbd_xlsx.operations import HideSheet, MoveSheet
from kbd_xlsx.parts.markup import with_attributes
from kbd_xlsx.parts.sheet_elements import with_changed

__all__ = ["hide_sheet", "move_sheet", "with_selected"]

_WHOLE = Area(1, 1, MAX_ROW, MAX_COLUMN)
_VIEW = re.compile(rb"(<(?:[\w.-]+:)?sheetView)((?:\s[^<>]*?)?)(/?>)")
_TITLE = re.compile(rb"(<(?:\w+:)?lpstr>)([^<]*)(</)")


def move_sheet(book: BookEdit, operation: MoveSheet) -> str:
    """Put a sheet into another position and say which.

    Raises:
        ValidationFailed: There is no such sheet or position.
    """
    title = book.title(operation.sheet)
    titles = book.titles
    if operation.to > len(titles):
        raise ValidationFailed(
            f"there is no position {operation.to}: the workbook has {len(titles)} sheets"
        )
    old, new = titles.index(title), operation.to - 1
    if old == new:
        return f"{title}: is in position {operation.to}"
    book.flush()
    _warn_of_structure(book)
    moved = list(titles)
    moved.insert(new, moved.pop(old))
    _spans(book, titles, moved)
    book.book.move(old, new)
    with_app_titles(book, lambda found: _in_order(found, titles, moved))
    book.follow_tabs()
    return f"{title}: in position {operation.to} of {len(titles)}"


def hide_sheet(book: BookEdit, operation: HideSheet) -> str:
    """Hide a sheet, or show it, and say so.

    Raises:
        ValidationFailed: There is no such sheet, or no other one is in sight.
    """
    title = book.title(operation.sheet)
    tabs = book.book.tabs
    place = book.titles.index(title)
    if tabs[place].is_hidden == operation.hidden:
        return f"{title}: is {'hidden' if operation.hidden else 'shown'}"
    if operation.hidden and all(tab.is_hidden for tab in tabs if tab.title != title):
        raise ValidationFailed(
            f"{title} stays in sight: a workbook needs a sheet that is not hidden"
        )
    book.flush()
    _warn_of_structure(book)
    shown = book.book.hide(place, is_hidden=operation.hidden)
    if operation.hidden:
        with_selected(book, title, is_selected=False)
    if shown is not None:
        with_selected(book, book.titles[shown], is_selected=True)
    book.follow_tabs()
    return f"{title}: {'hidden' if operation.hidden else 'shown'}"


def with_selected(book: BookEdit, title: str, *, is_selected: bool) -> None:
    """Have a sheet be selected, or not: several that are get each other's changes."""
    part = book.part(title)
    if not part or (title, part) not in book.worksheets():
        return
    data = book.rewriting.read(part)
    value = b"1" if is_selected else None

    def changed(old: bytes, _: str) -> bytes:
        return _VIEW.sub(
            lambda view: view[1] + with_attributes(view[2], {b"tabSelected": value}) + view[3], old
        )

    if is_selected or b"tabSelected" in data:
        book.rewriting.put(part, with_changed(data, title, {"sheetViews": changed}))


def _warn_of_structure(book: BookEdit) -> None:
    if book.book.locks_structure:
        book.notices.warn("The workbook's structure is protected; its sheets were changed anyway.")


def _spans(book: BookEdit, before: list[str], after: list[str]) -> None:
    """Warn of references over several sheets that now span others; their results are old."""
    found = {span for text in book.formula_texts() for span in sheet_spans(text)}
    told = []
    for first, last in sorted(found):
        ends = [book.find(first), book.find(last)]
        if ends[0] is None or ends[1] is None:
            continue
        sets = [
            set(titles[min(places) : max(places) + 1])
            for titles in (before, after)
            if (places := [titles.index(end) for end in ends if end is not None])
        ]
        if sets[0] != sets[1]:
            told.append(f"{first}:{last}")
            for title in sets[0] | sets[1]:
                book.results.add(title, [_WHOLE])
    if told:
        book.notices.warn(
            f"Formulas over several sheets now span others than before: {listed(told)}."
        )


def _in_order(titles: bytes, before: list[str], after: list[str]) -> bytes:
    """Return the titles that the file's properties list, in the new order."""
    entries = [found[2].decode("utf-8", "replace") for found in _TITLE.finditer(titles)]
    count = len(before)
    escaped = [title.replace("&", "&amp;").replace("<", "&lt;") for title in before]
    # Sheets come first; charts' sheets and names are listed by kind, which a move does not change.
    if [entry.replace("&gt;", ">") for entry in entries[:count]] != escaped:
        return titles
    order = iter(after)
    left = count

    def changed(found: re.Match[bytes]) -> bytes:
        nonlocal left
        if not left:
            return found[0]
        left -= 1
        text = next(order).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        return found[1] + text.encode() + found[3]

    return _TITLE.sub(changed, titles)
