"""Recipes that run: on the file that they were learned from as before, on others as they must.

What they give is compared with Python's own sums over the same rows.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from job_tables import JobTables, fold, job
from kbd.jobs.columns import ShapeColumn
from kbd.jobs.recipes.column_use import column_use
from kbd.jobs.recipes.documents import decode_recipe, encode_recipe_toml
from kbd.jobs.recipes.facts import ColumnFacts, InputFacts, LearnedFacts
from kbd.jobs.recipes.generalization import generalize, recipe_faults, recipe_of
from kbd.jobs.recipes.trial_checks import (
    ResultTable,
    additive_tables,
    order_free_tables,
    parts_faults,
    same_faults,
)
from kbd.jobs.recipes.trial_tables import TableRow, TrialTable, changed_inputs
from kbd.jobs.records import Job
from kbd.jobs.shapes import GivenTable

COLUMNS = {"Shop": "string", "Status": "string", "Amount": "decimal", "Units": "integer"}
SHAPE = (
    ShapeColumn("Shop", "string"), ShapeColumn("Status", "string"), ShapeColumn("Amount", "float"),
    ShapeColumn("Units", "integer"),
)  # fmt: skip
CONNECTION = duckdb.connect(config={"threads": 1})

TOTAL = {"do": "group", "by": ["Shop"], "make": "total", "figures": [
    {"name": "Amount", "function": "sum", "column": "Amount"},
    {"name": "Rows", "function": "count"},
]}  # fmt: skip
PAID = {"do": "filter", "where": "same(Status, 'paid')"}
PIVOT = {"do": "pivot", "rows": ["Status"], "column": "Shop", "total": "All", "make": "total",
         "figure": {"name": "Sum", "function": "sum", "column": "Amount"}}  # fmt: skip
WRITE = {"do": "write", "file": "t-total.xlsx", "form": {"totals": {"Amount": "sum"}}}

JOBS: Mapping[str, tuple[dict[str, Any], ...]] = {
    "total amount by shop": (TOTAL, WRITE),
    "total amount of paid ones by shop": (PAID, TOTAL, WRITE),
    "pivot: status down, shops across, sum of amount": (PIVOT, {"do": "write", "file": "t.xlsx"}),
}

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["North", "South", "east", "East", "West", None]),
        st.sampled_from(["paid", "Paid", "open", None]),
        st.none() | st.decimals(-9999, 9999, places=2), st.none() | st.integers(-9, 99),
    ).filter(lambda row: row != (None,) * 4),
    min_size=1, max_size=12,
)  # fmt: skip


def facts(rows: Sequence[TableRow]) -> LearnedFacts:
    """What is known of a table that was learned from."""
    columns = []
    for place, column in enumerate(SHAPE):
        values = tuple(dict.fromkeys(str(row[place]) for row in rows if row[place] is not None))
        columns.append(ColumnFacts(column.name, column.type, values, len(values)))
    return LearnedFacts((InputFacts("t", "t.csv", tuple(columns), len(rows)),))


def learned(request: str, rows: Sequence[TableRow]) -> Job:
    """The job of a recipe that was learned on rows, as its document has it."""
    found = generalize(job(*JOBS[request]), request, facts(rows))
    recipe = recipe_of("learned", request, [found])
    again = decode_recipe(encode_recipe_toml(recipe))

    assert again == recipe
    assert recipe_faults(again) == ()
    return again.jobs[0]


def run(asked: Job, rows: Sequence[TableRow], name: str = "total") -> ResultTable:
    """What a job makes of rows."""
    headings, found = JobTables(CONNECTION, t=(COLUMNS, rows)).table(asked, name)
    return ResultTable(tuple(headings), tuple(found))


def totals(rows: Sequence[TableRow], *, is_paid: bool) -> dict[Any, tuple[Any, Any]]:
    """Sum and number of rows by shop, in Python."""
    amounts: dict[str | None, list[Decimal]] = defaultdict(list)
    counts: dict[str | None, int] = defaultdict(int)
    for shop, status, amount, _ in rows:
        if is_paid and fold(None if status is None else str(status)) != "paid":
            continue
        key = fold(None if shop is None else str(shop))
        counts[key] += 1
        if amount is not None:
            amounts[key].append(Decimal(str(amount)))
    return {key: (sum(amounts[key]) if amounts[key] else None, counts[key]) for key in counts}


def found_totals(result: ResultTable) -> dict[Any, tuple[Any, Any]]:
    """The same as a job gave it."""
    return {
        fold(shop): (None if amount is None else round(Decimal(str(amount)), 2), count)  # type: ignore[arg-type]
        for shop, amount, count in result.rows
    }


@pytest.mark.full
@settings(max_examples=8, deadline=None)
@given(st.sampled_from(sorted(JOBS)), ROWS, st.integers(0, 99))
def test_recipes_give_the_same_figures(request_text: str, rows: list[TableRow], seed: int) -> None:
    """On its own file a recipe gives what its job gave, on changed ones what Python gives."""
    asked = job(*JOBS[request_text])
    recipe = learned(request_text, rows)
    given_table = {"t": GivenTable(SHAPE, "t.csv")}
    use = column_use(recipe, given_table)
    compiled = JobTables(CONNECTION, t=(COLUMNS, rows)).compiled(recipe)
    additive = additive_tables(recipe, compiled.shapes, "t")["total"]
    original = run(asked, rows)

    assert run(recipe, rows) == original
    assert "total" in order_free_tables(recipe, compiled.shapes)
    for each in changed_inputs(
        TrialTable(SHAPE, tuple(rows)), [one.column.name for one in use.used],
        [one.column.name for one in use.categories], seed=seed,
    ):  # fmt: skip
        result = run(recipe, each.table.rows)
        if each.change == "shuffled":
            assert same_faults(folded_keys(original), folded_keys(result)) == ()
        if each.parts:
            whole = run(recipe, each.whole)
            parts = [run(recipe, part) for part in each.parts]
            assert parts_faults(whole, parts, additive) == (), each.text
        if request_text.startswith("total"):
            expected = totals(each.table.rows, is_paid="paid" in request_text)
            assert found_totals(result) == expected, each.text


def folded_keys(result: ResultTable) -> ResultTable:
    """A result with folded texts: of two spellings that are as frequent the first one shows."""
    rows = tuple(
        tuple(fold(value) if isinstance(value, str) else value for value in row)
        for row in result.rows
    )
    return ResultTable(tuple(str(fold(name)) for name in result.columns), rows)


SHOPS = ("North", "South", "East", "West", "Center", "Harbor", "Airport")


def sales(shops: Sequence[str], factor: int = 1) -> list[TableRow]:
    """Two sales of each shop."""
    return [
        (shop, "paid", Decimal(number * factor) + Decimal("0.25") * half, 1)
        for number, shop in enumerate(shops, 1)
        for half in (1, 2)
    ]


@pytest.mark.parametrize(
    ("landed", "count"),
    [(sales(SHOPS), 7), (sales(SHOPS[:3]), 3), (sales(SHOPS[:5], 7), 5)],
    ids=["seven shops", "three shops", "new amounts"],
)
def test_five_shops_learned(landed: list[TableRow], count: int) -> None:
    """Learned on five shops, seven, three and other amounts get rows and sums of their own."""
    recipe = learned("total amount by shop", sales(SHOPS[:5]))

    result = run(recipe, landed)

    assert len(result.rows) == count
    assert found_totals(result) == totals(landed, is_paid=False)
    assert sum(Decimal(str(row[1])) for row in result.rows) == sum(row[2] for row in landed)  # type: ignore[misc]


def test_new_shops_are_told_and_no_rows_stop() -> None:
    """A category that was not there is told and still in the result; a file without rows stops."""
    recipe = learned("total amount by shop", sales(SHOPS[:5]))

    told = JobTables(CONNECTION, t=(COLUMNS, sales(SHOPS))).judgments(recipe)
    empty = JobTables(CONNECTION, t=(COLUMNS, [])).judgments(recipe)

    assert [each.text for each in told if each.check and each.outcome == "told"] == [
        "4 rows of t have Shop that is not known: Airport, Harbor"
    ]
    assert [each.text for each in empty if each.outcome == "failed"] == [
        "t has 0 rows, and needs at least 1"
    ]


def test_a_list_of_categories_is_no_recipe() -> None:
    """A job that lists the shops misses a new one, and is refused for each of them."""
    listed = {"do": "filter", "where": f"Shop in ({', '.join(repr(s) for s in SHOPS[:5])})"}
    asked = job(listed, TOTAL, WRITE)
    rows = tuple(sales(SHOPS[:5]))
    changed = changed_inputs(TrialTable(SHAPE, rows), ["Shop", "Amount"], ["Shop"], seed=1)
    new = next(each for each in changed if each.change == "new category")

    assert new.value not in [row[0] for row in run(asked, new.table.rows).rows]
    assert [each.value for each in generalize(asked, "total by shop", facts(rows)).refusals] == [
        f"'{shop}'" for shop in SHOPS[:5]
    ]
