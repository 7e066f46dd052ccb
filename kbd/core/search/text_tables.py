"""Tables in delimited text: detection, and a short description. Pure."""

import csv
import re
from collections.abc import Iterator, Sequence

import msgspec

__all__ = ["TextTable", "describe_table", "find_tables"]

_MIN_ROWS = 3
_DELIMITERS = "\t|;,"
_HEAD_ROWS = 12
"""Among as many rows the one that names the columns is looked for."""

_CELL_CHARACTERS = 40
_LETTERS = re.compile(r"[A-Z]{1,3}")
_STORED = re.compile(r"=.*\[stored(?: then)?: (?P<value>.*)\]")
_NUMBER = re.compile(r"[-+(]?[$€£]?\s*\d[\d\s.,:/()%€$£-]*(?:[eE][-+]?\d+)?")
_FRACTION = re.compile(r"-?\d{1,4}\.\d+")
_THOUSANDS = re.compile(r"\d,\d{3}(?!\d)")
_SENTENCE_END = re.compile(r"[.!?:][\"')]?\s*$")


class TextTable(msgspec.Struct, frozen=True):
    """A table found in a text.

    Args:
        title: What stands above its columns; "" for nothing.
        columns: Their names; empty if no row names them.
        row_count: How many rows there are below the names.
        rows: The first of them that hold anything, without columns that are empty in all.
        size: How many characters of the text are its.
        width: How many cells its rows have.
    """

    title: str
    columns: tuple[str, ...]
    row_count: int
    rows: tuple[tuple[str, ...], ...]
    size: int
    width: int


def find_tables(lines: Sequence[str]) -> Iterator[TextTable | list[str]]:
    """Find tables in lines: yield them, and the lines between them, in order."""
    prose: list[str] = []
    before: TextTable | None = None
    begin = 0
    while begin < len(lines):
        delimiter, end = _find_run(lines, begin)
        if end == begin:
            prose.append(lines[begin])
            begin += 1
            continue
        grid = _parse_table(lines[begin:end], delimiter)
        begin = end
        if before is not None and _continues_columns(before, grid) and not "".join(prose).strip():
            before = _join_tables(before, grid)
            continue
        if before is not None:
            yield before
        if prose:
            yield prose
        prose, before = [], grid
    if before is not None:
        yield before
    if prose:
        yield prose


def describe_table(grid: TextTable, most: int, *, is_part: bool = False) -> str:
    """Describe a table in at most `most` characters: its title, columns, first rows.

    Args:
        grid: The table.
        most: The room there is.
        is_part: Whether there may be more rows than were looked at.

    Returns:
        "" where there is no room to say more than its size.
    """
    size = f"Table of {'more than ' if is_part else ''}{_counted(grid.row_count, 'row')}"
    plain = f"{size} and {_counted(grid.width, 'column')}"
    listed = _join_names(
        [_shorten_cell(name) for name in grid.columns if name], most * 2 // 3 - len(size)
    )
    out = f"{size}. Columns: {listed}" if listed else plain
    if len(out) > most:
        return ""
    if grid.title and len(grid.title) + 2 + len(out) <= most * 3 // 4:
        out = f"{grid.title}. {out}"
    says = bool(listed)
    for place, row in enumerate(grid.rows):
        text = " | ".join(_shorten_cell(cell) for cell in row).rstrip("| ")
        longer = f"{out}; {text}" if place else f"{out}. First rows: {text}"
        if len(longer) > most:
            break
        out, says = longer, True
    return out if says else ""


def _find_run(lines: Sequence[str], begin: int) -> tuple[str, int]:
    """Return the delimiter of the table that begins at a line, and the line after its last."""
    first = lines[begin]
    for delimiter in _DELIMITERS:
        count = first.count(delimiter)
        if count < (2 if delimiter == "|" else 1) or not first.strip():
            continue
        end = begin + 1
        while end < len(lines) and _continues_table(lines[end], delimiter, count):
            end += 1
        # Commas are in sentences, too; in tables seldom before a blank.
        is_doubtful = delimiter == "," and (count == 1 or ", " in first)
        if is_doubtful and _THOUSANDS.search(first):
            continue
        if end - begin >= (2 * _MIN_ROWS if is_doubtful else _MIN_ROWS):
            return delimiter, end
    return "", begin


def _continues_table(line: str, delimiter: str, count: int) -> bool:
    """Return whether a line goes on with a table."""
    if delimiter == "\t":
        # A sheet's rows end with their last cell; another sheet begins with its column letters.
        return "\t" in line and not (line[0] == "\t" and _are_letters(line.split("\t")[1:]))
    if delimiter in ";," and _SENTENCE_END.search(line) and len(line) > 60:
        return False
    # Cells in quotation marks may hold the delimiter.
    return line.count(delimiter) == count or ('"' in line and line.count(delimiter) > count)


def _parse_table(lines: Sequence[str], delimiter: str) -> TextTable:
    full = [line for line in lines if re.search(r"[^\W_]", line) is not None]
    rows = [_split_cells(line, delimiter) for line in full[: 3 * _HEAD_ROWS]]
    count = len(full)
    if rows and delimiter == "\t" and not rows[0][0] and _are_letters(rows[0][1:]):
        # A sheet's coordinates: its column letters, and the number of each row.
        rows = [row[1:] for row in rows[1:]]
        count -= 1
    head = _header_row(rows[:_HEAD_ROWS])
    below = rows if head is None else rows[head + 1 :]
    above = [] if head is None else rows[:head]
    names = [] if head is None else rows[head]
    first = [row for row in below if any(row)][:_HEAD_ROWS]
    width = max((len(row) for row in rows), default=0)
    # By slices: a row that ends before a column has an empty cell there.
    used = [at for at in range(width) if any(row[at : at + 1] > [""] for row in (names, *first))]
    return TextTable(
        title=", ".join(_shorten_cell(cell) for row in above for cell in row if cell)[:200],
        columns=_at(names, used) if names else (),
        row_count=count - len(above) - (head is not None),
        rows=tuple(dict.fromkeys(_at(row, used) for row in first)),
        size=sum(len(line) + 1 for line in lines),
        width=width,
    )


def _at(row: Sequence[str], columns: Sequence[int]) -> tuple[str, ...]:
    return tuple(row[at] if at < len(row) else "" for at in columns)


def _continues_columns(before: TextTable, grid: TextTable) -> bool:
    """Return whether a table is the rest of the one before it: as wide, and nothing names it."""
    return grid.width == before.width and (
        not grid.columns or grid.columns in (before.columns, *before.rows)
    )


def _join_tables(before: TextTable, grid: TextTable) -> TextTable:
    return msgspec.structs.replace(
        before, row_count=before.row_count + grid.row_count, size=before.size + grid.size
    )


def _header_row(rows: Sequence[Sequence[str]]) -> int | None:
    """Return the row of the column names: the first that is full, of words, and not repeated."""
    named = [_header_width(row, rows[place + 1 :]) for place, row in enumerate(rows)]
    most = max(named, default=0)
    full = (place for place, count in enumerate(named) if count >= max(2, 0.75 * most))
    return next(full, None)


def _header_width(row: Sequence[str], below: Sequence[Sequence[str]]) -> int:
    """Return how many columns a row can be the names of; 0 if it is none of names."""
    cells = [cell for cell in row if cell]
    words = sum(_NUMBER.fullmatch(cell) is None and len(cell) <= 80 for cell in cells)
    if words < 0.8 * len(cells) or len(set(cells)) < 0.8 * len(cells) or not below:
        return 0
    if any(cell.endswith(":") for cell in cells):
        return 0
    said_again = any(
        name and name == cell for other in below for name, cell in zip(row, other, strict=False)
    )
    return 0 if said_again else len(cells)


def _split_cells(line: str, delimiter: str) -> list[str]:
    if delimiter == "|":
        line = line.strip().strip("|")
    try:
        (row,) = csv.reader([line], delimiter=delimiter)
    except (csv.Error, ValueError):
        row = line.split(delimiter)
    return [_cell_value(cell) for cell in row]


def _cell_value(cell: str) -> str:
    """Return a cell as people see it: of a formula, its value."""
    cell = " ".join(cell.split())
    stored = _STORED.fullmatch(cell)
    return (stored["value"] if stored else cell).strip(' "')


def _are_letters(cells: Sequence[str]) -> bool:
    return bool(cells) and all(_LETTERS.fullmatch(cell) for cell in cells)


def _shorten_cell(cell: str) -> str:
    if len(cell) > 10 and _FRACTION.fullmatch(cell):
        return f"{cell[:8]}…"
    return cell if len(cell) <= _CELL_CHARACTERS else f"{cell[: _CELL_CHARACTERS - 1].rstrip()}…"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _join_names(names: Sequence[str], room: int) -> str:
    """Join as many names as there is room for, and say how many are left; "" for hardly any."""
    out = ""
    for place, name in enumerate(names):
        longer = f"{out}, {name}" if out else name
        # Room for " and N more" stays.
        if len(longer) > room - 12:
            return f"{out} and {len(names) - place} more" if place > 1 else ""
        out = longer
    return out
