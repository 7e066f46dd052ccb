"""A sheet under another name, which all that refers to it follows."""

import re
from collections.abc import Callable
from xml.sax.saxutils import escape

from kbd.errors import ValidationFailed
from kbd.office.operations import listed
from kbd.sheets.areas import cell_name
from kbd_xlsx.calculation.cells import formula_cells
from kbd_xlsx.edits.book import BookEdit, checked_sheet_name
from kbd_xlsx.edits.tabs.sheet_names import SheetRename
from kbd_xlsx.operations import RenameSheet
from kbd_xlsx.parts.shared_items import SharedItems

__all__ = ["check_new_name", "rename_sheet", "with_app_titles"]

# Parts in which a name is a text, or history, not a reference.
_WITHOUT_REFERENCES = re.compile(
    r"(?:^|/)(?:sharedStrings|styles|calcChain|theme\d*|comments\d*|core|custom)\.xml$"
    r"|^docProps/|/threadedComments/|/persons/|/revisions/|/externalLinks/|pivotCacheRecords"
)
_LITERAL = re.compile(r'"((?:[^"]|"")*)"')
_APP = "docProps/app.xml"
_TITLES = re.compile(rb"<(?:\w+:)?TitlesOfParts\b.*?</(?:\w+:)?TitlesOfParts>", re.DOTALL)
_TITLE = re.compile(rb"(<(?:\w+:)?lpstr>)([^<]*)(</)")


def rename_sheet(book: BookEdit, operation: RenameSheet) -> str:
    """Rename a sheet and say how many parts refer to it.

    Raises:
        ValidationFailed: There is no such sheet, or no sheet can have the new name.
    """
    title, name = book.title(operation.sheet), operation.name
    check_new_name(book, name, except_for=title)
    if title == name:
        return f"{title}: has that name"
    book.flush()
    _warn(book, title)
    rename = SheetRename(title, name)
    count = 0
    for part in book.rewriting.parts():
        if not part.endswith((".xml", ".vml", ".rels")) or _WITHOUT_REFERENCES.search(part):
            continue
        if part == book.main:
            continue
        old = book.rewriting.read(part)
        new = rename.part(old)
        if new != old:
            count += 1
            book.rewriting.put(part, new)
    for table in (table for each in book.titles for table in book.tables(each)):
        table.reload(book.rewriting.root(table.part))
    names = book.book.rename(book.titles.index(title), name, rename.formula)
    with_app_titles(book, lambda found: _renamed_title(found, rename))
    book.follow_tabs()
    return f"{title}: named {name}; {count} parts and {names} names follow"


def check_new_name(book: BookEdit, name: str, *, except_for: str = "") -> None:
    """Check a name for a sheet; raises ValidationFailed."""
    checked_sheet_name(name)
    found = book.find(name)
    if found is not None and found != except_for:
        raise ValidationFailed(f"there is a sheet {found} already; give another name")
    if book.book.locks_structure:
        book.notices.warn("The workbook's structure is protected; its sheets were changed anyway.")


def with_app_titles(book: BookEdit, change: Callable[[bytes], bytes]) -> None:
    """Change the titles of sheets that the properties of the file list."""
    if _APP not in book.rewriting:
        return
    old = book.rewriting.read(_APP)
    found = _TITLES.search(old)
    if found is not None:
        new = old[: found.start()] + change(found[0]) + old[found.end() :]
        if new != old:
            book.rewriting.put(_APP, new)


def _renamed_title(titles: bytes, rename: SheetRename) -> bytes:
    def changed(found: re.Match[bytes]) -> bytes:
        text = found[2].decode("utf-8", "replace")
        if text == escape(rename.old):
            return found[1] + escape(rename.new).encode() + found[3]
        new = escape(rename.formula(text))
        return found[1] + new.encode() + found[3] if "!" in text else found[0]

    return _TITLE.sub(changed, titles)


def _warn(book: BookEdit, title: str) -> None:
    """Warn of what names a sheet in a text, which is not followed."""
    folded = title.casefold()
    named, possible = [], []
    for other, part in book.worksheets():
        data = book.rewriting.read(part)
        if b"INDIRECT" not in data.upper() and b"HYPERLINK(" not in data.upper():
            continue
        for cell in formula_cells(data, other):
            text = cell.text.upper()
            if "INDIRECT(" not in text and "HYPERLINK(" not in text:
                continue
            place = f"{other}!{cell_name(cell.row, cell.column)}"
            if any(folded in literal.casefold() for literal in _LITERAL.findall(cell.text)):
                named.append(place)
            elif "INDIRECT(" in text:
                possible.append(place)
    if named:
        book.notices.warn(
            f"Formulas name {title} in a text, which does not follow a rename: {listed(named)}."
        )
    if possible and folded in SharedItems(book.rewriting, book.main).folded():
        book.notices.warn(
            f"INDIRECT may name {title} by a cell that holds its name, which does not follow: "
            f"{listed(possible)}."
        )
    kinds = {relation.kind for relation in book.rewriting.relations(book.main)}
    if "vbaProject" in kinds:
        book.notices.warn(f"The workbook has macros, which may call {title} by its old name.")
