"""Rows whose own formulas sum others up are totals, whatever labels them and whatever is stored."""

from collections.abc import Sequence

import pytest

from kbd.formats import AggregateRow, ColumnType
from tools.tables.loading import LoadedTable, Loading

ABOVE = AggregateRow(3, "sum", "above", (1,), (1,), ((0, 2),))
KNOWN: dict[str, ColumnType] = {"Item": "string", "Amount": "integer", "Qty": "integer"}


def load(
    loading: Loading, items: str, amounts: str, *aggregates: AggregateRow, **columns: Sequence[str]
) -> LoadedTable:
    """Load a table of items and amounts, each parted by bars."""
    return loading(
        {"Item": items.split("|"), "Amount": amounts.split("|"), **columns}, KNOWN, aggregates
    )


def left_out(table: LoadedTable) -> list[tuple[str, tuple[int, ...], str]]:
    """Return what was left out, which rows of a file without a header, and their text."""
    return [(each.what, each.rows, each.sample) for each in table.reading.left_out]


LABELS = {
    "none": ("", "(no label) | 35"),
    "a word of any language": ("Ens.", "Ens. | 35"),
    "a known one": ("Total", "Total | 35"),
    "a weak one": ("Q1", "Q1 | 35"),
}


@pytest.mark.parametrize("case", LABELS)
def test_a_sum_of_its_own_column_is_left_out(loading: Loading, case: str) -> None:
    """By its formula alone: nothing is asked, where the figures agree and where they are old."""
    label, sample = LABELS[case]
    for figure in "35", "99":
        table = load(loading, f"a|b|c|{label}", f"10|20|5|{figure}", ABOVE)
        told = sample.replace("35", figure)
        assert left_out(table) == [("total of the rows above", (4,), told)]
        assert table.reading.questions == ()


def test_a_sum_without_a_stored_result_is_a_total_and_its_remarks_are_none(
    loading: Loading,
) -> None:
    """A target below it is no amount: the table ends there, as below one with a figure."""
    table = load(loading, "a|b|c|Total|Soll", "10|20|5||40", ABOVE)
    assert left_out(table) == [
        ("total of the rows above", (4,), "Total"),
        ("remark below the last total", (5,), "Soll | 40"),
    ]


def test_sums_of_groups_end_their_groups(loading: Loading) -> None:
    """Sums of groups and the sum of all, with a label or without; the rows between them stay."""
    sums = (
        AggregateRow(2, "sum", "above", (1,), (1,), ((0, 1),)),
        AggregateRow(5, "sum", "above", (1,), (1,), ((3, 4),)),
        AggregateRow(6, "sum", "above", (1,), (1,), ((0, 5),)),
    )
    table = load(loading, "a|b|North|c|d|South|", "1|2|3|4|5|9|12", *sums)
    assert left_out(table) == [
        ("total of the rows above", (3, 6, 7), "North | 3; South | 9; (no label) | 12")
    ]
    below = AggregateRow(0, "sum", "below", (1,), (1,), ((1, 2),))
    table = load(loading, "Food|a|b|c", "30|10|20|5", below)
    assert left_out(table) == [("total of the rows below", (1,), "Food | 30")]


STATISTICS = {
    "an average at the end": ("a|b|c|Keskim.", "10|20|6|12", "average of the rows above"),
    "one without a label": ("a|b|c||d", "10|20|6|12|1", "average of the rows above"),
    "one with its label": ("a|b|c|Average|d", "10|20|6|12|1", "average of the rows above"),
    "one among rows": ("a|b|c|d|e", "10|20|6|12|1", ""),
}


@pytest.mark.parametrize("case", STATISTICS)
def test_an_average_is_none_of_the_rows_where_more_than_its_formula_tells(
    loading: Loading, case: str
) -> None:
    """Among rows it may stand in for a value that was missing: it is asked about."""
    items, amounts, what = STATISTICS[case]
    average = AggregateRow(3, "average", "above", (1,), (1,), ((0, 2),))
    table = load(loading, items, amounts, average)
    assert [each[0] for each in left_out(table)] == ([what] if what else [])
    assert [each.about for each in table.reading.questions] == ([] if what else ["totals"])


def test_typed_figures_beside_a_formula_are_asked_about(loading: Loading) -> None:
    """A sum in a row of other figures may be either; an average there is a value like others."""
    quantities = {"Qty": ["1", "2", "3", "7"]}
    table = load(loading, "a|b|c|d", "10|20|5|35", ABOVE, **quantities)
    assert [each.about for each in table.reading.questions] == ["totals"]
    average = AggregateRow(3, "average", "above", (1,), (1,), ((0, 2),))
    table = load(loading, "a|b|c|d", "10|20|6|12", average, **quantities)
    assert (left_out(table), table.reading.questions) == ([], ())


def test_totals_that_are_kept_stay(loading: Loading) -> None:
    """Who says that totals stay has the row, formula and all."""
    columns = {"Item": ["a", "b", "c", "Ens."], "Amount": ["10", "20", "5", "35"]}
    table = loading(columns, KNOWN, [ABOVE], totals="keep")
    assert table.values["Amount"] == [10, 20, 5, 35]
