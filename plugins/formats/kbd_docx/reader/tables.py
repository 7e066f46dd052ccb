"""Tables as text: a line a row, and as rows of texts by column.

A merged cell is shown once: it stands in the first of its columns and rows, what it covers is
blank. The widths that cells claim are bounded, for a file may claim anything.
"""

from collections.abc import Callable, Iterator

import msgspec
from lxml import etree

from kbd_docx.document import VAL, W, number
from kbd_docx.reader.contents import DocxTable
from kbd_docx.reader.findings import StoryFindings

__all__ = ["TableGrid", "cell_line", "grid_cells", "grid_rows", "read_table"]

_ROW, _CELL = f"{W}tr", f"{W}tc"
_WRAPPERS = frozenset((f"{W}sdt", f"{W}sdtContent", f"{W}customXml", f"{W}ins", f"{W}moveTo"))

_MAX_SPAN = 63
"""Columns that a table of Word can have."""

_MAX_COLUMNS = 1_000
"""Columns that are listed."""

_MAX_CELLS = 20_000
"""Cells that are listed of one table."""

_NEW_LINE = "\n"
_MAX_LINES = 5
"""Of a cell that is a row by itself and is shown in one line; others hold a page's text."""

_MAX_NAMES = 30
_NAME_CHARS = 80


class _Row(msgspec.Struct):
    """A row: its texts by column, and its line."""

    texts: list[str]
    width: int
    line: str
    is_open: bool


class TableGrid(msgspec.Struct):
    """A table.

    Args:
        lines: Its text, a line a row; a row of one cell with several paragraphs takes more.
        rows: Its texts by column, of as many rows as are listed.
        row_count: All rows.
        column_count: The columns of the widest one.
        is_open: Whether a row takes several lines, so that its end must be told.
    """

    lines: list[str]
    rows: list[list[str]]
    row_count: int
    column_count: int
    is_open: bool

    def text(self) -> str:
        """Return it as the text of a table within a cell or a text box."""
        lines = [line.strip("| ") for line in self.lines]
        return f"[table: {_NEW_LINE.join(lines)}]" if any(lines) else ""

    def record(self, after: int) -> DocxTable:
        """Return the record of the table; `after` is the number of the paragraph before it."""
        # Rows are stored at the full width of the table, which therefore decides how many fit.
        most = max(1, _MAX_CELLS // max(1, min(self.column_count, _MAX_COLUMNS)))
        width = min(self.column_count, _MAX_COLUMNS)
        rows = [[*row, *[""] * (width - len(row))] for row in self.rows[:most]]
        header = self._header()
        cells = msgspec.msgpack.encode(rows)
        return DocxTable(self.row_count, self.column_count, header, after, cells, len(rows))

    def _header(self) -> tuple[str, ...]:
        """Return the first row where it names the columns: a short text each, and more below."""
        first = self.rows[0] if self.rows else []
        if self.row_count < 2 or len(first) < 2 or len(first) < self.column_count:
            return ()
        names = [cell_line(text) for text in first[:_MAX_NAMES]]
        if not all(names) or any(len(name) > _NAME_CHARS for name in names):
            return ()
        return tuple(names)


def cell_line(text: str) -> str:
    """Return a cell's text in one line."""
    if "\n" not in text:
        return text.strip()
    return " / ".join(line.strip() for line in text.split("\n") if line.strip())


def read_table(
    table: etree._Element, text_of: Callable[[etree._Element], str], findings: StoryFindings
) -> TableGrid:
    """Return a table with the texts of its cells."""
    found = TableGrid([], [], 0, 0, is_open=False)
    cells = 0
    for element in _children(table, _ROW):
        properties = element.find(f"{W}trPr")
        before = 0
        if properties is not None:
            if _is_deleted(properties, findings):
                continue
            skipped = properties.find(f"{W}gridBefore")
            before = 0 if skipped is None else number(skipped.get(VAL), 0, 0, _MAX_SPAN)
        row = _row(element, before, text_of)
        found.lines.append(row.line)
        found.is_open |= row.is_open
        found.row_count += 1
        found.column_count = max(found.column_count, row.width)
        if cells < _MAX_CELLS:
            found.rows.append(row.texts)
            # A row without cells counts as well: a file may have millions of them.
            cells += max(1, len(row.texts))
    return found


def grid_rows(table: etree._Element) -> Iterator[tuple[etree._Element, bool]]:
    """Yield the rows of a table, each with whether it is a tracked deletion: not counted."""
    for element in _children(table, _ROW):
        yield element, element.find(f"{W}trPr/{W}del") is not None


def grid_cells(row: etree._Element) -> Iterator[tuple[int, int, bool, etree._Element]]:
    """Yield a row's cells: where each begins, how many columns it takes, if it is covered."""
    skipped = row.find(f"{W}trPr/{W}gridBefore")
    column = 0 if skipped is None else number(skipped.get(VAL), 0, 0, _MAX_SPAN)
    for cell in _children(row, _CELL):
        span, is_covered, goes_on = _merged(cell.find(f"{W}tcPr"))
        yield column, span, is_covered or goes_on, cell
        column += span


def _is_deleted(properties: etree._Element, findings: StoryFindings) -> bool:
    """Whether a row is a tracked deletion; counts it, or that it is an insertion."""
    deleted, inserted = properties.find(f"{W}del"), properties.find(f"{W}ins")
    if deleted is not None:
        findings.count_change(deleted, is_deletion=True)
    elif inserted is not None:
        findings.count_change(inserted, is_deletion=False)
    return deleted is not None


def _row(element: etree._Element, before: int, text_of: Callable[[etree._Element], str]) -> _Row:
    texts: list[str] = [""] * before
    shown: list[str] = []
    width = before
    for cell in _children(element, _CELL):
        properties = cell.find(f"{W}tcPr")
        span, is_covered, goes_on = _merged(properties)
        if goes_on:
            # In the old way of merging each covered cell is there.
            width += span
            continue
        # A covered cell has a paragraph of its own, which programs do not show.
        text = "" if is_covered else text_of(cell)
        shown.append(text)
        # Cells stand in their columns, whatever those before them claim.
        if width < _MAX_COLUMNS:
            texts += [""] * (width - len(texts))
            texts.append(text.strip("\n"))
        width += span
    if len(texts) < width:
        texts += [""] * (min(width, _MAX_COLUMNS) - len(texts))
    if len(shown) == 1 and shown[0].count("\n") > _MAX_LINES:
        return _Row(texts, width, shown[0].strip("\n"), is_open=True)
    return _Row(texts, width, f"| {' | '.join(map(cell_line, shown))} |", is_open=False)


def _merged(properties: etree._Element | None) -> tuple[int, bool, bool]:
    """Return a cell's columns, whether one above covers it, and whether the one before does."""
    if properties is None:
        return 1, False, False
    span = 1
    is_covered = goes_on = False
    for child in properties:
        if child.tag == f"{W}gridSpan":
            span = number(child.get(VAL), 1, 1, _MAX_SPAN)
        elif child.tag == f"{W}vMerge":
            # A merge without a value goes on (ECMA-376, CT_VMerge).
            is_covered = child.get(VAL, "continue") == "continue"
        elif child.tag == f"{W}hMerge":
            goes_on = child.get(VAL, "continue") == "continue"
    return span, is_covered, goes_on


def _children(element: etree._Element, wanted: str) -> Iterator[etree._Element]:
    """Yield rows or cells, those in content controls too."""
    for child in element:
        if child.tag == wanted:
            yield child
        elif child.tag in _WRAPPERS:
            yield from _children(child, wanted)
