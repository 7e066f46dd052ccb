"""Rows below the last total of a table: remarks on it ("Soll", "davon MwSt"), or rows again.

A row that is filled as those above the total are is one of them, appended later. One that leaves
out what they all have, a date or a category, or that a known label names, remarks on the total. Two
columns tell neither: there it is asked. What a label in doubt, or a subtotal, ends is never taken
out without a question.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Literal

import duckdb
import msgspec

from kbd.formats import remarks_on_total, total_label, weak_label
from kbd_tables.duck import parquet_rows
from kbd_tables.total_notes import SummedColumn
from kbd_tables.total_rows import Judged, TotalCandidate, Verdict

__all__ = ["rows_below"]

_MAX_ROWS = 1_000
"""Rows below a total that are looked at; of more each is a row."""
_MAX_COLUMNS = 100
_SIDES = ("above", "below")
_TAKEN = (*_SIDES, "unsure")
_LEAST_TOTALS = 2
_PLACES = 9
"""Decimals to which doubles are compared."""
_LEAST_ROWS = 2
"""Rows above a total whose form is a rule."""


class _Form(msgspec.Struct, frozen=True):
    """What the rows above a total have in common.

    Args:
        count: How many they are.
        described: The columns that all of them fill, without those that are summed up; and whether
            each value there begins with a figure, as dates and numbers do.
        summed: The columns of figures that all of them fill and the total sums up.
    """

    count: int
    described: Mapping[int, bool]
    summed: tuple[int, ...]


_Evidence = Literal["like them", "remark", "open"]


def rows_below(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    columns: Sequence[SummedColumn],
    judged: Sequence[Judged],
) -> list[Judged]:
    """Judge the rows below the last total: "remark", "doubtful" or "counted" each; rest are rows.

    Args:
        connection: A database.
        raw: The untyped table.
        columns: Its columns.
        judged: The rows that may sum others up.
    """
    total = _last_total(judged)
    if total is None:
        return []
    last = total.candidate.row
    figures = [n for n, each in enumerate(columns) if each.type in ("integer", "float")]
    texts = ", ".join(f"nullif(trim(c{n}), '')" for n in range(len(columns))[:_MAX_COLUMNS])
    values = ", ".join(columns[n].value for n in figures[:_MAX_COLUMNS])
    found = connection.execute(
        f"SELECT file_row_number, [{texts}], {values} FROM {parquet_rows(raw, numbered=True)}"
        f" WHERE file_row_number > {last} ORDER BY 1 LIMIT {_MAX_ROWS + 1}"
    ).fetchall()
    taken = {each.candidate.row for each in judged if each.verdict in _TAKEN}
    rows = [row for row in found if row[0] not in taken]
    if not rows or len(found) > _MAX_ROWS:
        return []
    formula = total.candidate.formula
    # A formula sums its column up even where no result of it is stored.
    computed = () if formula is None else formula.columns
    summed = [
        n
        for n, value in zip(figures, total.candidate.figures, strict=False)
        if value or n in computed
    ]
    form = _form(connection, raw, len(columns), summed, judged, last)
    is_end = _is_end(total, judged)
    below = []
    for row, fields, *numbers in rows:
        # A later figure that counts a row, as a gross amount does a tax, makes one of it.
        if any(low <= row <= high for each in judged for low, high in each.ranges):
            continue
        candidate = _candidate(columns, row, fields, numbers)
        verdict = _verdict(form, candidate, fields, is_end=is_end)
        if verdict == "row" and _is_left_of_totals(candidate, judged):
            verdict = "doubtful"
        if verdict != "row":
            below.append(Judged(candidate, verdict))
    return below


def _is_left_of_totals(candidate: TotalCandidate, judged: Sequence[Judged]) -> bool:
    """Tell whether a row has what is left of the first total without the others.

    So has the last line of accounts: what was earned without what was spent.
    """
    totals = [each.candidate.figures for each in judged if each.verdict == "above"]
    filled = [n for n, figure in enumerate(candidate.figures) if figure]
    if len(totals) < _LEAST_TOTALS or not candidate.text or not filled:
        return False
    exact = [[_exact(own[n]) for own in totals] for n in filled]
    return all(
        _exact(candidate.figures[n]) == first - sum(rest)
        for n, (first, *rest) in zip(filled, exact, strict=True)
    )


def _exact(figure: Any) -> Decimal:
    return round(Decimal(figure or 0), _PLACES)


def _last_total(judged: Sequence[Judged]) -> Judged | None:
    """Return the last row with the label of a sum, if it is a total or may be one."""
    for each in reversed(judged):
        label = each.candidate.label
        if label is None or label.kind != "sum" or label.is_weak:
            continue
        # A figure whose column stays text is no field that only a row has.
        others = each.candidate.others
        is_bare = each.candidate.is_bare or (bool(others) and all(map(_is_figure, others)))
        is_like_one = is_bare and label.is_whole
        if each.verdict == "above" or (each.verdict == "unsure" and is_like_one):
            return each
    return None


def _is_end(total: Judged, judged: Sequence[Judged]) -> bool:
    """Tell whether a total surely sums up all rows above it, so that the table ends with it."""
    label = total.candidate.label
    if total.verdict != "above" or label is None or label.is_part:
        return False
    if not total.ranges:
        return label.is_whole
    before, out = 0, {each.candidate.row for each in judged if each.verdict in _TAKEN}
    for first, last in total.ranges:
        if any(row not in out for row in range(before, first)):
            return False
        before = last + 1
    return True


def _form(
    connection: duckdb.DuckDBPyConnection,
    raw: str,
    width: int,
    summed: Sequence[int],
    judged: Sequence[Judged],
    last: int,
) -> _Form:
    """Return what the plain rows above a total have in common."""
    taken = [each.candidate.row for each in judged if each.verdict in _TAKEN]
    connection.execute("CREATE OR REPLACE TEMP TABLE taken_rows AS SELECT unnest(?) AS n", [taken])
    parts = ", ".join(
        f"count(nullif(trim(c{n}), '')), count_if(regexp_matches(trim(c{n}), '^[^\\pL]*[0-9]'))"
        for n in range(width)[:_MAX_COLUMNS]
    )
    found = connection.execute(
        f"SELECT count(*), {parts} FROM {parquet_rows(raw, numbered=True)}"
        f" WHERE file_row_number < {last} AND file_row_number NOT IN (SELECT n FROM taken_rows)"
    ).fetchone()
    assert found is not None, "an aggregate has one row"
    count = int(found[0])
    filled = {n: bool(count) and found[2 + 2 * n] == count for n in range(len(found) // 2)
              if found[1 + 2 * n] == count}  # fmt: skip
    return _Form(
        count,
        {n: is_figure for n, is_figure in filled.items() if n not in summed},
        tuple(n for n in summed if n in filled),
    )


def _candidate(
    columns: Sequence[SummedColumn], row: int, fields: Sequence[str | None], figures: Sequence[Any]
) -> TotalCandidate:
    """Return a row below a total with what labels it: its first text that is no figure."""
    texts = [value for n, value in enumerate(fields) if value and columns[n].type == "string"]
    text = next((value for value in texts if not _is_figure(value)), texts[0] if texts else "")
    return TotalCandidate(
        row,
        text,
        total_label(text),
        tuple(figures),
        is_bare=False,
        is_alike=False,
        has_others=True,
        is_outer=False,
    )


def _verdict(
    form: _Form, candidate: TotalCandidate, fields: Sequence[str | None], *, is_end: bool
) -> Verdict:
    """Return what a row below a total is."""
    has_figure = any(figure is not None for figure in candidate.figures)
    evidence = _evidence(form, candidate, fields, has_figure=has_figure)
    if evidence == "like them":
        return "counted" if is_end else "row"
    if evidence == "remark" and is_end:
        return "remark"
    return "doubtful" if has_figure and (is_end or evidence == "remark") else "row"


def _evidence(
    form: _Form, candidate: TotalCandidate, fields: Sequence[str | None], *, has_figure: bool
) -> _Evidence:
    """Compare a row with those above the total, and look at its label."""
    text, described = candidate.text, form.described
    alike = [
        n
        for n, is_figure in described.items()
        if (value := fields[n]) and (_is_figure(value) or not is_figure)
    ]
    tells = len(described) > 1 or any(described.values())
    if tells and len(alike) == len(described):
        return "open" if remarks_on_total(text) else "like them"
    if not text:
        return "open"
    if form.count >= _LEAST_ROWS and tells and len(alike) <= int(len(described) > 1):
        return "remark"
    lacks_figures = not has_figure and bool(form.summed)
    return "remark" if lacks_figures or _is_known(text) else "open"


def _is_known(text: str) -> bool:
    """Tell whether a label compares a total, is a part of it, or sums rows up."""
    # Not a statistic: a person called Max may have been added, and its figure does not agree.
    return remarks_on_total(text) or any(find(text) for find in (total_label, weak_label))


def _is_figure(text: str) -> bool:
    """Tell whether a text begins with a figure, whatever signs are before it."""
    for character in text:
        if character.isdigit():
            return True
        if character.isalpha():
            return False
    return False
