"""Formulas as they are of another cell: what is not absolute in their references moves along."""

from functools import lru_cache

from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, column_letters
from kbd_xlsx.comparison.formula_texts import FormulaReference, parse_formula

__all__ = ["moved_formula", "names_other_rows"]


@lru_cache(maxsize=4096)
def moved_formula(text: str, rows: int, columns: int) -> str:
    """Return a formula without "=" as it is after a copy; what leaves the sheet is #REF!.

    Args:
        text: The formula.
        rows: How far down the cell is.
        columns: How far to the right it is.
    """
    if not rows and not columns:
        return text
    parsed = parse_formula(text)
    written = [parsed.pieces[0]]
    for piece, reference in zip(parsed.pieces[1:], parsed.references, strict=True):
        written.extend((_written(reference, rows, columns), piece))
    return "".join(written)


def names_other_rows(text: str, row: int) -> bool:
    """Tell whether a formula names rows of its own sheet relative to its own, but not its own."""
    return any(
        not reference.sheet
        and (
            (bool(reference.top) and not reference.fixed[0] and reference.top != row)
            or (bool(reference.bottom) and not reference.fixed[2] and reference.bottom != row)
        )
        for reference in parse_formula(text).references
    )


def _written(reference: FormulaReference, rows: int, columns: int) -> str:
    prefix = f"{reference.sheet}!" if reference.sheet else ""
    moved = reference.moved(rows, columns)
    sides = ((reference.top, moved.top), (reference.bottom, moved.bottom))
    edges = ((reference.left, moved.left), (reference.right, moved.right))
    lines = (
        *((old, new, MAX_ROW) for old, new in sides),
        *((old, new, MAX_COLUMN) for old, new in edges),
    )
    # Whole rows and columns have no sides of the other kind.
    if any(old and not 1 <= new <= most for old, new, most in lines):
        return f"{prefix}#REF!"
    top, left, bottom, right = moved.fixed
    first = _corner(moved.top, moved.left, is_row_fixed=top, is_column_fixed=left)
    if not moved.is_area:
        return prefix + first
    last = _corner(moved.bottom, moved.right, is_row_fixed=bottom, is_column_fixed=right)
    return f"{prefix}{first}:{last}"


def _corner(row: int, column: int, *, is_row_fixed: bool, is_column_fixed: bool) -> str:
    letters = f"{'$' * is_column_fixed}{column_letters(column)}" if column else ""
    return letters + (f"{'$' * is_row_fixed}{row}" if row else "")
