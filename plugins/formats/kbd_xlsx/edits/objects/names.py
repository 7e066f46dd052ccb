"""Defined names: made, changed, deleted; and what the names of tables and ranges may be."""

import re
from collections.abc import Iterator

from kbd.errors import ValidationFailed
from kbd.office.operations import listed
from kbd.sheets.areas import Area, cell_name, parse_area
from kbd_xlsx.calculation.cells import formula_cells
from kbd_xlsx.calculation.operands import read_operands
from kbd_xlsx.edits.book import BookEdit, has_formulas
from kbd_xlsx.edits.objects.formulas import checked_object_formula, quoted_sheet
from kbd_xlsx.edits.objects.ranges import WHOLE, absolute
from kbd_xlsx.edits.pivot_sources import pivot_sources
from kbd_xlsx.operations import DefineName, DeleteName
from kbd_xlsx.parts.markup import plain

__all__ = ["bare_sheet", "check_new_name", "define_name", "delete_name", "forget_users"]

MAX_NAME = 255
"""Characters of a name, as in Excel."""

_MAX_LISTED = 5
_NAME = re.compile(r"[^\W\d][\w.]*|\\[\w.]*")
_CELL = re.compile(r"([A-Za-z]{1,3})\d+")
_OTHER_STYLE = re.compile(r"r\d*(?:c\d*)?|c\d*", re.IGNORECASE)
_OUTSIDE_CELLS = re.compile(
    rb"<(?:[\w.-]+:)?(?:formula[12]?|f)(?:\s[^<>]*)?>([^<]*)<|\slocation=\"([^\"<]*)\""
)
_WITHOUT_NAMES = re.compile(
    r"(?:^|/)(?:sharedStrings|styles|calcChain|(?:threaded)?[cC]omments?\d*)\.xml$|^docProps/"
)


def check_new_name(book: BookEdit, name: str, what: str) -> None:
    """Check that a table or a name may be called so, and that no table is; raises ValidationFailed.

    Args:
        book: The workbook.
        name: The name.
        what: What it is for: "a table" or "a name".
    """
    found = _CELL.fullmatch(name)
    is_cell = found is not None and len(found[1]) <= 3 and found[1].upper() <= _last_of(found[1])
    if not _NAME.fullmatch(name) or len(name) > MAX_NAME or name.casefold().startswith("_xlnm"):
        raise ValidationFailed(
            f"{name[:40]!r} cannot be the name of {what}: a letter or _ first, then letters, "
            "digits, _ and . up to 255"
        )
    if is_cell or _OTHER_STYLE.fullmatch(name) or name.casefold() in ("true", "false"):
        raise ValidationFailed(
            f"{name!r} cannot be the name of {what}: it reads as a cell or value"
        )
    for title in book.titles:
        for table in book.tables(title):
            if table.name.casefold() == name.casefold():
                raise ValidationFailed(f"there is a table {table.name} on sheet {title} already")


def _last_of(letters: str) -> str:
    """Return the last column of as many letters."""
    return "Z" * len(letters) if len(letters) < 3 else "XFD"


def define_name(book: BookEdit, operation: DefineName) -> str:
    """Make a name, or change what it means, and say which; raises ValidationFailed."""
    name, title = operation.name.strip(), None
    tab = None
    if operation.sheet is not None:
        title = book.title(operation.sheet)
        tab = book.titles.index(title)
    check_new_name(book, name, "a name")
    text = _meaning(book, operation.refers_to, name, title)
    known = next(
        (each for each in book.book.names
         if each.tab == tab and each.name.casefold() == name.casefold()),
        None,
    )  # fmt: skip
    where = f"name {name}" + (f" of {title}" if title else "")
    if known is not None and known.text == text:
        return f"{where}: is {text} already"
    book.book.set_name(name, tab, text, hidden=False)
    forget_users(book, name)
    return f"{where}: {text}" + (f", was {known.text}" if known is not None else "")


def _meaning(book: BookEdit, refers_to: str, name: str, title: str | None) -> str:
    """Return what a name refers to as files have it."""
    place = f"name {name}"
    text = checked_object_formula(book, refers_to, place, title)
    if (area := _single(text)) is not None:
        sheet = text.rpartition("!")[0]
        found = book.title(bare_sheet(sheet)) if sheet else title
        if found is None:
            raise ValidationFailed(f"{place}: {text} needs its sheet, as Data!{text}")
        return f"{quoted_sheet(found)}!{absolute(area)}"
    operands = read_operands(text)
    if name.casefold() in {
        other.name.casefold() for other in operands.others if hasattr(other, "sheet")
    }:
        raise ValidationFailed(f"{place}: it would refer to itself")
    for reference in operands.references:
        if reference.sheet is None:
            raise ValidationFailed(f"{place}: cells in {text[:80]} need their sheet, as Data!$A$1")
        if reference.moves:
            raise ValidationFailed(
                f"{place}: cells in {text[:80]} need dollar signs, as Data!$A$1: others would "
                "mean another cell in each cell that uses the name"
            )
    return text


def _single(text: str) -> Area | None:
    """Return the area of a text that is one reference, None of any other."""
    cells = text.rpartition("!")[2]
    # A number alone would be read as a row.
    if "," in text or cells.replace(".", "").isdigit():
        return None
    try:
        return parse_area(cells, WHOLE)
    except ValidationFailed:
        return None


def bare_sheet(written: str) -> str:
    """Return a sheet's title from what formulas write before "!"."""
    if written.startswith("'") and written.endswith("'"):
        return written[1:-1].replace("''", "'")
    return written.lstrip("$")


def _mark(name: str) -> re.Pattern[str]:
    """Return what finds a name where it is no part of a longer one."""
    return re.compile(rf"(?<![\w.\\?]){re.escape(name)}(?![\w.\\?(!])", re.IGNORECASE)


def _also_meant(book: BookEdit, name: str) -> list[re.Pattern[str]]:
    """Return marks of a name and of the names that are made of it."""
    found, waiting = {name.casefold()}, [name]
    while waiting:
        mark = _mark(waiting.pop())
        for other in book.book.names:
            if other.name.casefold() not in found and mark.search(other.text):
                found.add(other.name.casefold())
                waiting.append(other.name)
    return [_mark(each) for each in sorted(found)]


def forget_users(book: BookEdit, name: str) -> None:
    """Have the formulas that use a name, or a table, forget their results: it means other cells."""
    book.flush()
    marks = _also_meant(book, name)
    for title, part in book.worksheets():
        data = book.rewriting.read(part)
        if not has_formulas(data):
            continue
        cells = list(formula_cells(data, title))
        using = [cell for cell in cells if any(mark.search(cell.text) for mark in marks)]
        groups = {cell.group for cell in using} - {None}
        using += [cell for cell in cells if not cell.text and cell.group in groups]
        for cell in using:
            area = Area(cell.row, cell.column, cell.row, cell.column)
            book.sheet(title).forget(area)
            book.results.add(title, [area])


def delete_name(book: BookEdit, operation: DeleteName) -> str:
    """Delete a name and say which; raises ValidationFailed while something uses it."""
    title = None if operation.sheet is None else book.title(operation.sheet)
    tab = None if title is None else book.titles.index(title)
    name = operation.name.strip()
    known = [each for each in book.book.names if not each.name.startswith("_xlnm.")]
    if not any(each.tab == tab and each.name.casefold() == name.casefold() for each in known):
        there = listed([each.name for each in known if each.tab == tab], 20)
        raise ValidationFailed(
            f"there is no name {name!r}" + (f"; there are: {there}" * bool(there))
        )
    book.flush()
    if uses := list(_uses(book, name)):
        raise ValidationFailed(f"name {name} stays: it is used by {listed(uses, _MAX_LISTED)}")
    book.book.remove_name(name, tab)
    return f"name {name}: deleted"


def _uses(book: BookEdit, name: str) -> Iterator[str]:
    """Yield the places that use a name."""
    mark = _mark(name)
    for other in book.book.names:
        if other.name.casefold() != name.casefold() and mark.search(other.text):
            yield f"name {other.name}"
    sheets = {part: title for title, part in book.worksheets()}
    for source in pivot_sources(book.rewriting, book.main):
        if source.get("name", "").casefold() == name.casefold():
            yield "a pivot table"
    for part in book.rewriting.parts():
        if not part.endswith(".xml") or part == book.main or _WITHOUT_NAMES.search(part):
            continue
        data = book.rewriting.read(part)
        title = sheets.get(part, "")
        cells = formula_cells(data, title) if title and has_formulas(data) else ()
        places = [cell_name(cell.row, cell.column) for cell in cells if mark.search(cell.text)]
        yield from (f"{title}!{place}" for place in places)
        texts = (plain(found[1] or found[2] or b"") for found in _OUTSIDE_CELLS.finditer(data))
        if not places and any(mark.search(text) for text in texts):
            yield title or part.rpartition("/")[2]
