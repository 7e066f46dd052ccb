"""Tables of a page: drawn by rules, between rules, or only standing in columns.

Rules come first: what they part is parted. Where they draw rows, or nothing but a frame, columns
are found by the gaps that stand below each other.
"""

from collections.abc import Iterator, Sequence
from statistics import median

import msgspec
import pypdfium2 as pdfium

from kbd_pdf.layout.blocks import blocks_of, text_columns
from kbd_pdf.layout.cells import Cell, LaidRow, is_split, rows_of_lines
from kbd_pdf.layout.columns import WIDE_GAP, gutters, letter_height, pieces
from kbd_pdf.layout.grids import GridPlace, RuledGrid, grids_of
from kbd_pdf.layout.rules import Rule, Rules, rules_of
from kbd_pdf.layout.words import PageView, PlacedWord, WordBox, WordLine, lines_of, words_of

__all__ = ["PageTable", "tables_of_page"]

_SLACK_PT = 2.0
"""Words may stick out of their cell by so much."""
_LEAST_PT = 5.0
"""Rows and columns of a grid that are narrower and empty are double lines."""
_LONG_PT = 50.0
"""Rules that part rows of a table without columns drawn are at least so long."""
MAX_STACKED = 500
"""Rules of a page that are looked at for tables without columns drawn."""
_ALIKE_PT = 6.0
"""Rules of one table begin and end so near to each other."""
_MOST_WRAPPED = 6
"""Lines of one row, at most, where rules part rows and gaps part columns."""
_PROSE_WORDS = 7
"""Cells of two columns that have more words, of most rows, are text beside text."""


class PageTable(msgspec.Struct, frozen=True):
    """A table of a page.

    Args:
        box: Where it is.
        rows: The texts of its cells; of a merged cell the first has the text.
        merged: Cells that span several rows or columns.
        edges: Where its columns are parted, with its left and right side.
        is_ruled: Whether lines draw its rows and columns.
    """

    box: WordBox
    rows: tuple[tuple[str, ...], ...]
    merged: tuple[GridPlace, ...]
    edges: tuple[float, ...]
    is_ruled: bool


def tables_of_page(page: pdfium.PdfPage, textpage: pdfium.PdfTextPage) -> list[PageTable]:
    """Return the tables of a page, from top to bottom."""
    view = PageView(page)
    words = words_of(textpage, view)
    if not words:
        return []
    return find_tables(words, rules_of(page, view))


def find_tables(words: Sequence[PlacedWord], rules: Rules) -> list[PageTable]:
    """Return the tables that words and rules make, from top to bottom."""
    found: list[PageTable] = []
    left = list(words)
    for grid in _outermost(grids_of(rules)):
        inside, rest = _parted(left, grid.box)
        table = _grid_table(grid, inside)
        if table is not None:
            found.append(table)
            left = rest
    for box, ys in _stacks(rules.across, [table.box for table in found]):
        inside, rest = _parted(left, box)
        table = _banded_table(inside, ys)
        if table is not None:
            found.append(table)
            left = rest
    upright = [word for word in left if word.is_upright]
    for lines in text_columns(upright):
        for block in blocks_of(lines):
            table = _free_table(block)
            if table is not None:
                found.append(table)
    return sorted(found, key=lambda table: (table.box.top, table.box.left))


def _outermost(grids: Sequence[RuledGrid]) -> Iterator[RuledGrid]:
    """Yield grids; of such in each other the one that has more cells."""
    taken: list[WordBox] = []
    for grid in grids:
        box = grid.box
        if not any(_holds(other, box) or _holds(box, other) for other in taken):
            taken.append(box)
            yield grid


def _holds(one: WordBox, other: WordBox) -> bool:
    return (
        one.left - _SLACK_PT <= other.left and other.right <= one.right + _SLACK_PT
        and one.top - _SLACK_PT <= other.top and other.bottom <= one.bottom + _SLACK_PT
    )  # fmt: skip


def _parted(words: Sequence[PlacedWord], box: WordBox) -> tuple[list[PlacedWord], list[PlacedWord]]:
    """Return the words in a box, and the others."""
    inside: list[PlacedWord] = []
    rest: list[PlacedWord] = []
    for word in words:
        is_in = (
            box.left - _SLACK_PT <= word.box.center <= box.right + _SLACK_PT
            and box.top - _SLACK_PT <= word.box.middle <= box.bottom + _SLACK_PT
        )
        (inside if is_in else rest).append(word)
    return inside, rest


def _grid_table(grid: RuledGrid, words: Sequence[PlacedWord]) -> PageTable | None:
    if len(grid.xs) == 2:
        return _banded_table(words, grid.ys)
    cells = _filled(grid, words)
    rows: list[LaidRow] = []
    begins = [0]
    for band in range(len(grid.ys) - 1):
        rows += _rows_of_band(grid, band, cells)
        begins.append(len(rows))
    # A band that was split has made several rows, so that cells over it span more of them.
    merged = [
        GridPlace(
            begins[place.row], place.column,
            begins[place.row + place.row_count] - begins[place.row], place.column_count,
        )
        for place in grid.places
        if place.row_count > 1
    ]  # fmt: skip
    return _made(rows, grid.xs, merged, grid.box, is_ruled=True)


def _rows_of_band(
    grid: RuledGrid, band: int, cells: dict[GridPlace, list[PlacedWord]]
) -> list[LaidRow]:
    """Return a row of a grid, or as many as it holds where no rules part them."""
    places = [place for place in grid.places if place.row == band]
    single = [place for place in places if place.row_count == 1]
    words = [word for place in single for word in cells[place]]
    lines = lines_of([word for word in words if word.is_upright])
    cuts = grid.xs[1:-1]
    top, bottom = grid.ys[band], grid.ys[band + 1]
    if all(word.is_upright for word in words) and is_split(lines, cuts):
        rows = rows_of_lines(lines, cuts, is_one=False)
        over = [place for place in places if place.row_count > 1]
        more = tuple(Cell(each.column, each.column_count, _text(cells[each])) for each in over)
        return [LaidRow((*rows[0].cells, *more), rows[0].top, rows[0].bottom), *rows[1:]]
    texts = tuple(Cell(each.column, each.column_count, _text(cells[each])) for each in places)
    return [LaidRow(texts, top, bottom)]


def _filled(grid: RuledGrid, words: Sequence[PlacedWord]) -> dict[GridPlace, list[PlacedWord]]:
    """Return the words of each cell."""
    found: dict[GridPlace, list[PlacedWord]] = {place: [] for place in grid.places}
    at = {
        (row, column): place
        for place in grid.places
        for row in range(place.row, place.row + place.row_count)
        for column in range(place.column, place.column + place.column_count)
    }
    for word in words:
        row = _index(grid.ys, word.box.middle)
        column = _index(grid.xs, word.box.center)
        found[at[row, column]].append(word)
    return found


def _index(edges: Sequence[float], at: float) -> int:
    return min(max(sum(edge <= at for edge in edges) - 1, 0), len(edges) - 2)


def _text(words: Sequence[PlacedWord]) -> str:
    """Return the text of a cell, its lines one after the other."""
    upright = [word for word in words if word.is_upright]
    turned = [word.text for word in words if not word.is_upright]
    return " ".join([*(word.text for line in lines_of(upright) for word in line.words), *turned])


def _stacks(
    across: Sequence[Rule], taken: Sequence[WordBox]
) -> Iterator[tuple[WordBox, tuple[float, ...]]]:
    """Yield rules that stand below each other and are as long, as a box and their heights."""
    left = [
        rule
        for rule in sorted(across)
        if rule.end - rule.start >= _LONG_PT
        and not any(
            box.top - _SLACK_PT <= rule.at <= box.bottom + _SLACK_PT
            and rule.start < box.right and box.left < rule.end
            for box in taken
        )
    ][:MAX_STACKED]  # fmt: skip
    while left:
        first = left[0]
        own = [
            rule
            for rule in left
            if abs(rule.start - first.start) <= _ALIKE_PT and abs(rule.end - first.end) <= _ALIKE_PT
        ]
        left = [rule for rule in left if rule not in own]
        if len(own) >= 2:
            ys = tuple(rule.at for rule in own)
            yield WordBox(first.start, ys[0], first.end, ys[-1]), ys


def _banded_table(words: Sequence[PlacedWord], ys: Sequence[float]) -> PageTable | None:
    """Return what stands between rules that part rows, with its columns by their gaps."""
    lines = lines_of([word for word in words if word.is_upright])
    if len(lines) < 2:
        return None
    size = letter_height(lines)
    parted = sum(len(pieces(line, WIDE_GAP * size)) > 1 for line in lines)
    if parted < max(2, 0.4 * len(lines)):
        return None
    if len(text_columns([word for line in lines for word in line.words])) > 1:
        return None
    cuts = gutters(lines)
    if not cuts:
        return None
    rows: list[LaidRow] = []
    for top, bottom in zip((float("-inf"), *ys), (*ys, float("inf")), strict=True):
        band = [line for line in lines if top < line.box.middle <= bottom]
        if band:
            if len(band) > _MOST_WRAPPED and len(ys) > 3 and not is_split(band, cuts):
                # Rules under titles and blanks of a worksheet, not between rows.
                return None
            # Only rules between most rows say that what is between two of them is one.
            is_one = len(ys) > 3 and len(band) > 1 and not is_split(band, cuts)
            rows += rows_of_lines(band, cuts, is_one=is_one)
    return _checked(rows, cuts, lines)


def _free_table(lines: Sequence[WordLine]) -> PageTable | None:
    """Return what stands in columns without rules, if it may be a table."""
    cuts = gutters(lines)
    if not cuts or (len(lines) < 3 and len(cuts) < 3):
        return None
    rows = rows_of_lines(lines, cuts, is_one=False)
    texts = [cell.text for row in rows for cell in row.cells]
    if len(cuts) == 1:
        full = [row for row in rows if len(row.cells) == 2]
        if len(full) < 3 or len(full) < 0.7 * len(rows):
            return None
        counts = [max(len(cell.text.split()) for cell in row.cells) for row in full]
        firsts = [row.cells[0].text for row in full]
        if median(counts) > _PROSE_WORDS or all(_is_bullet(text) for text in firsts):
            return None
    elif len(texts) < 0.4 * len(rows) * (len(cuts) + 1):
        return None
    return _checked(rows, cuts, lines)


def _is_bullet(text: str) -> bool:
    """Tell whether a text is what stands before an item of a list: a sign, a letter, a number."""
    bare = text.strip("()[].:•-–*▪◦·")
    return not bare or (len(text) < 4 and text != bare) or (len(bare) < 3 and bare.isalpha())


def _checked(
    rows: list[LaidRow], cuts: Sequence[float], lines: Sequence[WordLine]
) -> PageTable | None:
    box = lines[0].box
    for line in lines[1:]:
        box = box.around(line.box)
    return _made(rows, (box.left, *cuts, box.right), [], box, is_ruled=False)


def _made(
    rows: Sequence[LaidRow],
    edges: Sequence[float],
    merged: Sequence[GridPlace],
    box: WordBox,
    *,
    is_ruled: bool,
) -> PageTable | None:
    """Return rows as a table; None where there are too few texts for one."""
    width = len(edges) - 1
    texts = [[""] * width for _ in rows]
    spans = list(merged)
    for number, row in enumerate(rows):
        for cell in row.cells:
            before = texts[number][cell.column]
            texts[number][cell.column] = f"{before} {cell.text}".strip()
            if cell.column_count > 1 and cell.text:
                spans.append(GridPlace(number, cell.column, 1, cell.column_count))
    keep_columns = [
        column
        for column in range(width)
        if edges[column + 1] - edges[column] >= _LEAST_PT or any(row[column] for row in texts)
    ]
    keep_rows = [
        number
        for number, row in enumerate(rows)
        if row.bottom - row.top >= _LEAST_PT or any(texts[number])
    ]
    kept = tuple(tuple(texts[number][column] for column in keep_columns) for number in keep_rows)
    filled = sum(bool(text) for row in kept for text in row)
    if len(kept) < 2 or len(keep_columns) < 2 or filled < 3:
        return None
    if sum(any(row[column] for row in kept) for column in range(len(keep_columns))) < 2:
        return None
    sides = (*(edges[column] for column in keep_columns), edges[keep_columns[-1] + 1])
    places = _renumbered(spans, keep_rows, keep_columns)
    return PageTable(box, kept, places, sides, is_ruled)


def _renumbered(
    spans: Sequence[GridPlace], rows: Sequence[int], columns: Sequence[int]
) -> tuple[GridPlace, ...]:
    """Return merged cells by the rows and columns that are kept."""
    found: dict[GridPlace, None] = {}
    for place in spans:
        high = [n for n, row in enumerate(rows) if place.row <= row < place.row + place.row_count]
        wide = [
            n
            for n, column in enumerate(columns)
            if place.column <= column < place.column + place.column_count
        ]
        if high and wide and len(high) * len(wide) > 1:
            found[GridPlace(high[0], wide[0], len(high), len(wide))] = None
    return tuple(sorted(found))
