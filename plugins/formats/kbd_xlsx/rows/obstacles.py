"""What stands where rows are to go: filled cells that they would write over, a total above them.

Rows are written over filled cells only with a word, over formulas only where that was asked for,
and never below a total, which would not count them.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from kbd.errors import ValidationFailed
from kbd.formats import total_label
from kbd.sheets.areas import MAX_COLUMN, Area, cell_name, column_number
from kbd_xlsx.parts.stored_cells import StoredCell, StoredCells

__all__ = ["check_no_total", "last_row_texts", "overwritten_note"]

_MAX_NAMED = 5
_SUMS = re.compile(r"(?i)\b(?:SUM|SUBTOTAL|AGGREGATE|AVERAGE|MIN|MAX|COUNTA?|MEDIAN)\(")
_RANGE = re.compile(
    r"(?<![!A-Za-z0-9_.])\$?([A-Za-z]{1,3})\$?(\d{1,7}):\$?[A-Za-z]{1,3}\$?(\d{1,7})"
)


def overwritten_note(data: bytes, title: str, area: Area, emptied: Area | None) -> str | None:
    """Return the note on filled cells that rows are written over, None if there are none.

    Args:
        data: The sheet's part as it was.
        title: The sheet's title.
        area: The cells of the rows.
        emptied: What was asked to be emptied for them; formulas may go with it.

    Raises:
        ValidationFailed: A formula would be written over without having been asked for.
    """
    filled, formulas = list[str](), list[StoredCell]()
    for cell in StoredCells(data, title).of(emptied or area):
        filled.append(cell_name(cell.row, cell.column))
        if cell.formula is not None:
            formulas.append(cell)
    if formulas and emptied is None:
        named = _named([f"{cell_name(c.row, c.column)}{_shown(c)}" for c in formulas])
        raise ValidationFailed(
            f"the rows would take {title}!{area}, where {len(formulas):,} cell(s) hold formulas"
            f" ({named}): write elsewhere, empty these cells first (clear_range), or set"
            " clear_target_range, which empties all below and right of start_cell"
        )
    if not filled:
        return None
    what = "were overwritten" if emptied is None else "were emptied"
    kept = f", {len(formulas):,} of them with formulas" if formulas else ""
    return f"{len(filled):,} filled cell(s) of {title} {what}{kept}: {_named(filled)}."


def check_no_total(data: bytes, title: str, used: Area, texts: Mapping[str, str]) -> str | None:
    """Check that a sheet does not end with a total; return a note where it may do.

    Args:
        data: The sheet's part as it was.
        title: The sheet's title.
        used: What the sheet holds.
        texts: The texts that cells share, by number, those of the last row at least.

    Raises:
        ValidationFailed: It does: rows below would not count.
    """
    cells = StoredCells(data, title)
    last = list(cells.of(Area(used.bottom, 1, used.bottom, MAX_COLUMN)))
    summing = [cell for cell in last if cell.formula is not None and _sums_above(cell)]
    label = next((text for cell in last if (text := _text(cell, texts)) and total_label(text)), "")
    if summing:
        raise ValidationFailed(_refusal(title, used.bottom, [_named_cell(c) for c in summing]))
    words = [cell for cell in last if _text(cell, texts)]
    numbers = [cell for cell in last if cell.kind == "number" and cell.value]
    if not label or len(words) > 1 or not numbers:
        return None
    if all(_adds_up(cells, cell) for cell in numbers):
        raise ValidationFailed(_refusal(title, used.bottom, [label, *map(_value, numbers)]))
    return (
        f"Row {used.bottom} of {title} ({label}) may be a total; the rows were appended below it."
    )


def last_row_texts(data: bytes, title: str, row: int) -> set[int]:
    """Return the numbers of the shared texts that a row holds."""
    cells = StoredCells(data, title).of(Area(row, 1, row, MAX_COLUMN))
    return {int(cell.value) for cell in cells if cell.kind == "shared" and cell.value.isdigit()}


def _refusal(title: str, row: int, shown: Sequence[str]) -> str:
    return (
        f"row {row} of sheet {title} is a total ({', '.join(shown[:_MAX_NAMED])}), and rows below "
        f"it would not be counted in: empty row {row} (clear_range), append the rows, and write "
        "the total below them again as a formula over all rows (=SUM(...)), or write the rows into "
        "another sheet"
    )


def _named(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_NAMED:,} more" if len(names) > _MAX_NAMED else ""
    return ", ".join(names[:_MAX_NAMED]) + more


def _named_cell(cell: StoredCell) -> str:
    return f"{cell_name(cell.row, cell.column)}{_shown(cell)}"


def _shown(cell: StoredCell) -> str:
    return f" ={cell.formula}" if cell.formula else ""


def _value(cell: StoredCell) -> str:
    return f"{cell_name(cell.row, cell.column)} {cell.value}"


def _text(cell: StoredCell, texts: Mapping[str, str]) -> str:
    match cell.kind:
        case "shared":
            return texts.get(cell.value, "").strip()
        case "text":
            return cell.value.strip()
        case _:
            return ""


def _sums_above(cell: StoredCell) -> bool:
    """Tell whether a formula adds up cells of its own column above it."""
    formula = cell.formula or ""
    return _SUMS.search(formula) is not None and any(
        column_number(found[1].upper()) == cell.column and int(found[3]) < cell.row
        for found in _RANGE.finditer(formula)
    )


def _adds_up(cells: StoredCells, total: StoredCell) -> bool:
    """Tell whether the numbers above a cell come to its own, all of them or some next to it."""
    wanted, found, size = _number(total), 0.0, 0.0
    above = list(_numbers(cells, Area(1, total.column, total.row - 1, total.column)))
    if wanted is None:
        return False
    for number in reversed(above):
        found, size = found + number, size + abs(number)
        if abs(found - wanted) <= 1e-12 * size:
            return True
    return False


def _numbers(cells: StoredCells, area: Area) -> Iterator[float]:
    for cell in cells.of(area):
        value = _number(cell)
        if value is not None:
            yield value


def _number(cell: StoredCell) -> float | None:
    if cell.kind != "number" or not cell.value:
        return None
    try:
        return float(cell.value)
    except ValueError:
        return None
