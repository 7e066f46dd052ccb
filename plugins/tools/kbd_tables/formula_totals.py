"""Rows whose own formulas sum others up: what these prove, where a label or figures need not."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from kbd.formats import AggregateRow, TotalLabel, statistic_label, total_label
from kbd_tables.total_rows import TotalCandidate, TotalsColumn

__all__ = ["FormulaRows"]


class FormulaRows:
    """The rows of a table that have such formulas.

    Args:
        rows: They, as the format found them.
        columns: The columns of figures, by their place among all columns.
        count: How many rows the table has.
    """

    def __init__(
        self, rows: Sequence[AggregateRow], columns: Mapping[int, TotalsColumn], count: int
    ) -> None:
        self._rows = {each.row: each for each in rows}
        self._columns = columns
        self._first, self._last = 0, count - 1
        while self._first in self._rows:
            self._first += 1
        while self._last in self._rows:
            self._last -= 1

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    def proven(self, candidate: TotalCandidate) -> TotalCandidate:
        """Return a candidate with what its formulas prove of it.

        A sum of a column's own rows is no row like others, whatever labels it; beside figures that
        somebody typed it is asked about. An average, a count or the like may be what somebody has
        put in for a value that was missing, so that more has to tell: nothing but a label that is
        known, or no label, or a place at the end of the table.
        """
        formula = self._rows.get(candidate.row)
        if formula is None:
            return candidate
        typed = any(
            figure and column.is_additive and place not in formula.computed
            for (place, column), figure in zip(
                self._columns.items(), candidate.figures, strict=True
            )
        )
        text, known = candidate.text, candidate.label
        if not text:
            labels = {other: _known_label(other) for other in candidate.others}
            text = next(filter(labels.get, labels), next(iter(labels), ""))
            known = labels.get(text)
        rest = tuple(other for other in candidate.others if other != text)
        is_proven = not typed
        if formula.kind != "sum":
            if typed or rest:
                return candidate
            is_outer = not self._first <= candidate.row <= self._last
            is_proven = not text or is_outer or (known is not None and known.kind == formula.kind)
        if not is_proven and not any(candidate.figures):
            # Nothing that could be counted twice, and no figure to ask about.
            return candidate
        return msgspec.structs.replace(
            candidate,
            text=text,
            label=_label(known, formula),
            is_bare=candidate.is_bare or (known is not None and not rest),
            formula=formula,
            is_proven=is_proven,
        )


def _known_label(text: str) -> TotalLabel | None:
    return total_label(text) or statistic_label(text)


def _label(label: TotalLabel | None, formula: AggregateRow) -> TotalLabel:
    """Return what labels a row, by its formulas where its text says less or something else."""
    kinds = ("sum", "carried") if formula.kind == "sum" else (formula.kind,)
    if label is not None and not label.is_weak and label.kind in kinds:
        return label
    return TotalLabel(formula.kind, is_whole=False)
