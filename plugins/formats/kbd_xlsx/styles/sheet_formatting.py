"""Formatting of a sheet, read from its part as a stream: rows are forgotten as they pass.

Where on a sheet each look is, as ranges, found row by row.
"""

import msgspec
from lxml import etree

from kbd.opc.element_names import local_name, namespace_of
from kbd.opc.package import Package, free_element, reading_errors
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area, column_letters
from kbd_xlsx.parts.stylesheet import number_of

__all__ = [
    "MAX_RANGES",
    "ColumnSpan",
    "Occurrence",
    "Occurrences",
    "RowSpan",
    "SheetFormatting",
    "read_sheet_formatting",
]

MAX_RANGES = 12
"""Ranges that are listed of one cell format on one sheet."""


class Occurrence(msgspec.Struct):
    """Ranges of one cell format on a sheet.

    Args:
        cells: How many cells have it.
        ranges: The first ranges of them, also whole rows and columns.
        more: How many ranges are not listed.
        first: A cell that has it, its row and column.
    """

    cells: int = 0
    ranges: list[str] = []
    more: int = 0
    first: tuple[int, int] = (0, 0)


class Occurrences:
    """Ranges of the cell formats of one sheet, gathered while its rows are read in order.

    Runs of equal formats in a row join the same run of the row above to one range.

    Attributes:
        by_style: What was found, by the index of the style.
    """

    def __init__(self) -> None:
        self.by_style: dict[int, Occurrence] = {}
        # The ranges that the next row may continue: (style, left, right) -> (top, bottom).
        self._open: dict[tuple[int, int, int], tuple[int, int]] = {}
        self._whole: dict[int, tuple[int, int]] = {}

    def add_columns(self, style: int, left: int, right: int) -> None:
        """Note that whole columns have a look."""
        self._list(style, f"{column_letters(left)}:{column_letters(right)}")
        self._whole.setdefault(style, (MAX_ROW, left))

    def add_row(self, row: int, cells: list[tuple[int, int]], whole: int | None = None) -> None:
        """Add the cell formats of a row.

        Args:
            row: Its number.
            cells: Column and style of its cells, by rising column.
            whole: The style of the row itself, if it has one.
        """
        opened: dict[tuple[int, int, int], tuple[int, int]] = {}
        for style, left, right in _runs(cells):
            top, bottom = self._open.pop((style, left, right), (row, row))
            # The file has no rows in between, so the range ends above them.
            if bottom < row - 1:
                self._close(style, Area(top, left, bottom, right))
                top = row
            opened[style, left, right] = top, row
        for (style, left, right), (top, bottom) in self._open.items():
            self._close(style, Area(top, left, bottom, right))
        self._open = opened
        if whole is not None:
            self._list(whole, f"{row}:{row}")
            self._whole.setdefault(whole, (row, MAX_COLUMN))

    def finish(self) -> None:
        """Close what is open: no row follows."""
        for (style, left, right), (top, bottom) in self._open.items():
            self._close(style, Area(top, left, bottom, right))
        self._open = {}
        for style, place in self._whole.items():
            if not self.by_style[style].cells:
                # No cell of its own has it, so a cell that nobody will have written to does.
                self.by_style[style].first = place

    def _close(self, style: int, area: Area) -> None:
        self._list(style, str(area))
        found = self.by_style[style]
        if not found.cells:
            found.first = area.top, area.left
        found.cells += (area.bottom - area.top + 1) * (area.right - area.left + 1)

    def _list(self, style: int, text: str) -> None:
        found = self.by_style.setdefault(style, Occurrence())
        if len(found.ranges) < MAX_RANGES:
            found.ranges.append(text)
        else:
            found.more += 1


def _runs(cells: list[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Return runs of adjacent cells of one style: (style, left, right)."""
    runs: list[tuple[int, int, int]] = []
    for column, style in cells:
        if runs and runs[-1][0] == style and runs[-1][2] == column - 1:
            runs[-1] = style, runs[-1][1], column
        elif 0 < column <= MAX_COLUMN:
            runs.append((style, column, column))
    return runs


MAX_CELLS = 1_000_000
"""Cells of a sheet that are looked at; some 4 s."""

MAX_RULES = 500
"""Blocks of conditional formats that are read of a sheet."""

_EXTENDED = "http://schemas.microsoft.com/office/spreadsheetml/2009/9/main"
_KEPT = ("{*}row", "{*}cols", "{*}sheetViews", "{*}sheetFormatPr", "{*}conditionalFormatting")
_PASSED = ("{*}mergeCell", "{*}ignoredError", "{*}brk")
"""Elements that may be many and are not needed here."""

MAX_OBJECTS = 200
"""Elements of objects that are kept of a sheet, of each name; the rest is counted."""

_OBJECTS = ("dataValidation", "hyperlink", "sheetProtection", "pageSetUpPr", "pageSetup")
_FALSE = ("0", "false")


class ColumnSpan(msgspec.Struct, frozen=True):
    """Columns from `first` to `last` that are alike; a width in characters, if they have one."""

    first: int
    last: int
    width: float | None
    hidden: bool
    style: int


class RowSpan(msgspec.Struct):
    """Rows from `first` to `last` of one height in points, if they have one of their own."""

    first: int
    last: int
    height: float | None
    hidden: bool


class SheetFormatting(msgspec.Struct):
    """Formatting of a sheet.

    Args:
        cells: Where each style is.
        columns: Widths, as the file spans them.
        rows: Heights, spans of equal adjacent ones.
        default_width: Of columns without a width, None where the program decides.
        default_height: Of rows without a height.
        frozen: Rows and columns that stay in view.
        objects: Elements that tell of validations, links, protection and printing.
        more_objects: How many of a name are left out of those.
        rules: `conditionalFormatting` elements.
        extended_rules: The same of the extension of 2009.
        unread_from: The first row that was not looked at, 0 if all were.
    """

    cells: Occurrences
    columns: list[ColumnSpan] = []
    rows: list[RowSpan] = []
    default_width: float | None = None
    default_height: float | None = None
    frozen: tuple[int, int] = (0, 0)
    objects: list[etree._Element] = []
    more_objects: dict[str, int] = {}
    rules: list[etree._Element] = []
    extended_rules: list[etree._Element] = []
    unread_from: int = 0


def read_sheet_formatting(package: Package, part: str) -> SheetFormatting:
    """Read a worksheet's part.

    Raises:
        FileReadFailed: It is damaged.
    """
    found = SheetFormatting(Occurrences())
    row = count = 0
    known: dict[str, int] = {}
    with package.open(part) as file, reading_errors(package.name):
        events = etree.iterparse(
            file,
            events=("end",),
            tag=(*_KEPT, *_PASSED, *(f"{{*}}{name}" for name in _OBJECTS)),
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
        )
        for _, element in events:
            match local_name(element):
                case "row" if not found.unread_from:
                    row = _row_number(element, row)
                    count += _add_row(found, row, element, known)
                    if count > MAX_CELLS:
                        found.unread_from = row + 1
                case "cols":
                    _add_columns(found, element)
                case "sheetViews":
                    found.frozen = _frozen(element)
                case "sheetFormatPr":
                    found.default_width = _measure(element.get("defaultColWidth"))
                    found.default_height = _measure(element.get("defaultRowHeight"))
                case "conditionalFormatting":
                    # Not freed below: rules are kept as elements and copied from there.
                    _add_rules(found, element)
                    continue
                case name if name in _OBJECTS and _add_object(found, name, element):
                    continue
            free_element(element)
    found.cells.finish()
    return found


def _add_object(found: SheetFormatting, name: str, element: etree._Element) -> bool:
    """Keep an element, and tell whether there was room."""
    count = sum(local_name(each) == name for each in found.objects)
    if count < MAX_OBJECTS:
        found.objects.append(element)
        return True
    found.more_objects[name] = found.more_objects.get(name, 0) + 1
    return False


def _add_rules(found: SheetFormatting, element: etree._Element) -> None:
    is_extended = namespace_of(element.tag) == _EXTENDED
    rules = found.extended_rules if is_extended else found.rules
    if len(rules) < MAX_RULES:
        rules.append(element)


def _row_number(element: etree._Element, before: int) -> int:
    return min(number_of(element, "r") or before + 1, MAX_ROW)


def _add_row(
    found: SheetFormatting, row: int, element: etree._Element, known: dict[str, int]
) -> int:
    """Note a row and return how many cells it has; `known` keeps what letters and digits mean."""
    column = 0
    cells = []
    for cell in element.iterchildren("{*}c"):
        letters = cell.get("r", "").rstrip("0123456789")
        if letters:
            # One dict serves for columns and styles, because letters and digits never collide.
            column = known.get(letters) or known.setdefault(letters, _column(letters))
        else:
            column += 1
        style = cell.get("s", "0")
        cells.append((column, known.get(style) or known.setdefault(style, number_of(cell, "s"))))
    # Finding runs needs rising columns, and a damaged row may not have them.
    cells.sort()
    whole = None
    if element.get("customFormat", "0") not in _FALSE:
        whole = number_of(element, "s")
    found.cells.add_row(row, cells, whole)
    height = _measure(element.get("ht"))
    # A height that a program worked out from the contents is no formatting.
    if element.get("customHeight", "0") in _FALSE:
        height = None
    hidden = element.get("hidden", "0") not in _FALSE
    if height is not None or hidden:
        last = found.rows[-1] if found.rows else None
        if last and (last.last, last.height, last.hidden) == (row - 1, height, hidden):
            last.last = row
        else:
            found.rows.append(RowSpan(row, row, height, hidden))
    return len(cells)


def _column(place: str) -> int:
    """Return the column of a cell's name; 0 for none, which is skipped."""
    number = 0
    for letter in place:
        if not "A" <= letter <= "Z":
            break
        number = number * 26 + ord(letter) - 64
    return number if number <= MAX_COLUMN else 0


def _add_columns(found: SheetFormatting, element: etree._Element) -> None:
    for column in element.iterchildren("{*}col"):
        first, last = number_of(column, "min"), min(number_of(column, "max"), MAX_COLUMN)
        if not 1 <= first <= last:
            continue
        style = number_of(column, "style")
        hidden = column.get("hidden", "0") not in _FALSE
        width = _measure(column.get("width"))
        span = ColumnSpan(first, last, width, hidden, style)
        before = found.columns[-1] if found.columns else None
        joins = before is not None and before.last == first - 1
        if before and joins and msgspec.structs.replace(before, first=first, last=last) == span:
            found.columns[-1] = msgspec.structs.replace(before, last=last)
        else:
            found.columns.append(span)
    spans: list[tuple[int, int, int]] = []
    for span in found.columns:
        if spans and spans[-1][0] == span.style and spans[-1][2] == span.first - 1:
            spans[-1] = span.style, spans[-1][1], span.last
        else:
            spans.append((span.style, span.first, span.last))
    for style, first, last in spans:
        if style:
            found.cells.add_columns(style, first, last)


def _frozen(views: etree._Element) -> tuple[int, int]:
    pane = views.find("{*}sheetView/{*}pane")
    if pane is None or not pane.get("state", "").startswith("frozen"):
        return 0, 0
    rows, columns = (_measure(pane.get(name)) or 0 for name in ("ySplit", "xSplit"))
    return int(rows), int(columns)


def _measure(text: str | None) -> float | None:
    """Return a width or height, rounded to hundredths."""
    try:
        value = round(float(text or ""), 2)
    except ValueError:
        return None
    if not 0 <= value < MAX_ROW:
        return None
    return int(value) if value == int(value) else value
