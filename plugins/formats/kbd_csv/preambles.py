"""Lines of data above a header, as exports of programs have them: who, when, which account.

Such a line has as many values as a row, or more, so that it is no title by its size. The form tells
it: its fields do not fit the columns below, and a row of names below it plainly heads these.
"""

from collections.abc import Sequence

from kbd_csv.kinds import heads_figures, heads_series, kind

__all__ = ["names_below"]

_MOST_LINES = 20
_SHARE = 0.8
"""So many fields of a header are filled, and have a name of their own."""
_LEAST_NAMES = 2
_LEAST_ROWS = 2
_TYPED = frozenset(("number", "date"))


def names_below(rows: Sequence[Sequence[str]], width: int) -> int:
    """Return the place of the header below lines that are none of its table, 0 without such lines.

    Args:
        rows: The fields of the first rows, from the first one that might be the header.
        width: How many fields most rows have.
    """
    for place, row in enumerate(rows[: _MOST_LINES + 1]):
        if not place or len(row) != width or not _are_names(row):
            continue
        table = [each for each in rows[place:] if len(each) == width]
        above = [each for each in rows[:place] if any(each)]
        others = sum(1 for each in rows[place:] if any(each)) - len(table)
        is_table = len(table) > _LEAST_ROWS and others <= (1 - _SHARE) * len(table)
        if not is_table or not heads_figures(table):
            return 0
        are_unlike = all(_is_unlike(each, table) for each in above)
        has_data = any(kind(field) in _TYPED for each in above for field in each)
        return place if are_unlike and has_data else 0
    return 0


def _are_names(row: Sequence[str]) -> bool:
    """Tell whether a row can name columns: texts alone, nearly all of them different."""
    filled = [field.strip() for field in row if field.strip()]
    if len(filled) < max(_LEAST_NAMES, _SHARE * len(row)):
        return False
    return all(kind(field) == "text" for field in filled) and (
        len({*filled}) >= _SHARE * len(filled)
    )


def _is_unlike(line: Sequence[str], table: Sequence[Sequence[str]]) -> bool:
    """Tell whether a line above a header is no row of its table, and no header of it either."""
    filled = [field for field in line if field.strip()]
    if len(filled) < 2:
        return True
    has_data = any(kind(field) in _TYPED for field in filled)
    if len(line) != len(table[0]):
        return has_data and not heads_series([line, *table[1:]])
    columns = [{kind(row[place]) for row in table[1:]} - {""} for place in range(len(table[0]))]
    own = [kind(field) for field in line]
    has_text = any(
        one == "text" and kinds and "text" not in kinds
        for one, kinds in zip(own, columns, strict=True)
    )
    has_figure = any(
        one in _TYPED and kinds == {"text"} for one, kinds in zip(own, columns, strict=True)
    )
    return has_text and has_figure
