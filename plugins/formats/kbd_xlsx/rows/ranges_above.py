"""Ranges that end where appended rows begin: formulas, names, charts and filters without them.

They are not moved: whoever made them may have meant these rows alone. What does not count the new
rows is named, for its figures look whole.
"""

import re
from collections.abc import Iterator

from kbd.sheets.areas import Area, cell_name, column_number
from kbd_xlsx.calculation.cells import formula_cells
from kbd_xlsx.edits.book import BookEdit

__all__ = ["ranges_note"]

_MAX_NAMED = 5
_SHOWN = 60
_RANGE = re.compile(
    r"(?:(?P<sheet>'(?:[^']|'')+'|[^\W\d][\w.]*)!)?"
    r"\$?(?P<left>[A-Za-z]{1,3})\$?(?P<top>\d{1,7}):\$?(?P<right>[A-Za-z]{1,3})\$?(?P<bottom>\d{1,7})"
    r"(?![\w(])"
)
_FILTER = re.compile(rb'<(?:\w+:)?autoFilter\b[^>]*\bref="([^"]+)"')


def ranges_note(book: BookEdit, title: str, area: Area) -> str | None:
    """Return the note on what ends right above appended rows, None if nothing does.

    Args:
        book: The workbook, its pending changes not among what is looked at.
        title: The sheet that rows were appended to.
        area: Their cells.
    """
    found = list(_formulas(book, title, area))
    found += _names(book, title, area)
    found += _charts(book, title, area)
    found += _filters(book, title, area)
    if not found:
        return None
    more = f" and {len(found) - _MAX_NAMED:,} more" if len(found) > _MAX_NAMED else ""
    return (
        f"The new rows are not counted in what ends above them: {', '.join(found[:_MAX_NAMED])}"
        f"{more}; extend it to row {area.bottom} if it is to hold them."
    )


def _formulas(book: BookEdit, title: str, area: Area) -> Iterator[str]:
    for name, part in book.worksheets():
        for cell in formula_cells(book.rewriting.read(part), name):
            if any(_ends_above(found, name, title, area) for found in _RANGE.finditer(cell.text)):
                yield f"{name}!{cell_name(cell.row, cell.column)} ={cell.text[:_SHOWN]}"


def _names(book: BookEdit, title: str, area: Area) -> Iterator[str]:
    for name in book.book.names:
        # Those of programs (the filter's own, print areas) are told as what they are.
        if not name.name.startswith("_xlnm.") and any(
            _ends_above(found, "", title, area) for found in _RANGE.finditer(name.text)
        ):
            yield f"the name {name.name} ({name.text[:_SHOWN]})"


def _charts(book: BookEdit, title: str, area: Area) -> Iterator[str]:
    for part in _chart_parts(book):
        texts = dict.fromkeys(
            element.text or "" for element in book.rewriting.root(part).iter("{*}f")
        )
        ranges = [
            text
            for text in texts
            if any(_ends_above(found, "", title, area) for found in _RANGE.finditer(text))
        ]
        if ranges:
            yield f"a chart ({ranges[-1][:_SHOWN]})"


def _chart_parts(book: BookEdit) -> Iterator[str]:
    """Yield the parts of the charts on worksheets."""
    for _, sheet in book.worksheets():
        for drawing in book.rewriting.relations(sheet):
            if drawing.kind == "drawing" and drawing.target in book.rewriting:
                for chart in book.rewriting.relations(drawing.target):
                    if chart.kind == "chart" and chart.target in book.rewriting:
                        yield chart.target


def _filters(book: BookEdit, title: str, area: Area) -> Iterator[str]:
    data = book.rewriting.read(book.part(title))
    for found in _FILTER.finditer(data):
        text = found[1].decode(errors="replace")
        match = _RANGE.fullmatch(text)
        if match is not None and _ends_above(match, title, title, area):
            yield f"the filter {text}"


def _ends_above(found: re.Match[str], own: str, title: str, area: Area) -> bool:
    """Tell whether a range of a sheet ends in the row above an area, over columns of it."""
    sheet = found["sheet"]
    named = own if sheet is None else sheet.strip("'").replace("''", "'")
    if named.casefold() != title.casefold() or int(found["bottom"]) != area.top - 1:
        return False
    left, right = column_number(found["left"].upper()), column_number(found["right"].upper())
    return left <= area.right and right >= area.left
