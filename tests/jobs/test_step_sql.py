"""Table steps in a real DuckDB against the same worked out in Python, on generated nasty rows."""

import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import date
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from job_tables import JobTables, fold, job

COLUMNS = {"select": "string", 'a"b': "integer", "Amount": "decimal", "Day": "date"}
NAMES: st.SearchStrategy[str | None] = st.sampled_from([
    None, "North", "north", "NORTH", "A\u0308pfel", "\u00c4pfel", "\u00e4pfel",
    "O'Hara", " ", "zebra",
])  # fmt: skip
NUMBERS = st.none() | st.sampled_from([0, 1, 2, -3, 2**53, 2**53 + 1])
AMOUNTS = st.none() | st.decimals(-1000, 1000, places=2)
DAYS = st.none() | st.dates(date(2023, 12, 30), date(2024, 1, 3))
# A row without any value is none of a job.
ROWS = st.lists(
    st.tuples(NAMES, NUMBERS, AMOUNTS, DAYS).filter(lambda row: row != (None,) * 4), max_size=12
)

DATABASE = duckdb.connect(config={"threads": 1})

Row = tuple[Any, ...]


def shown(rows: Sequence[Sequence[Any]]) -> list[Row]:
    """Rows as a sheet gets them: decimals as binary fractions."""
    return [(name, number, None if amount is None else float(amount), *rest)
            for name, number, amount, *rest in rows]  # fmt: skip


def filled(value: str | None) -> str | None:
    """A text, or None where it is blank."""
    return None if value is None or not value.strip() else value


def order(value: Any, *, descending: bool = False) -> tuple[bool, Any]:
    """A key to sort by: empty values last, texts by their letters without accents first."""
    if isinstance(value, str):
        text = fold(value)
        if text is None:
            return (True, 0)
        plain = "".join(
            each for each in unicodedata.normalize("NFD", text) if not unicodedata.combining(each)
        )
        value = (plain, text)
    if value is None:
        return (True, 0)
    return (False, -value if descending else value)


def groups(rows: Sequence[Row], key: Callable[[Row], Any]) -> dict[Any, list[Row]]:
    """Rows by a key, in the order of their first rows."""
    found: dict[Any, list[Row]] = {}
    for row in rows:
        found.setdefault(key(row), []).append(row)
    return found


def spelled(rows: Sequence[Row]) -> str | None:
    """The spelling that most of the rows have; of several the first by its letters."""
    counts = Counter(filled(row[0]) for row in rows)
    return min(counts, key=lambda value: (-counts[value], value or ""))


@given(ROWS)
def test_filters_keep_what_is_true_in_the_order_of_the_file(rows: list[Row]) -> None:
    """Rows of which the condition is false or unknown go, the others stay where they were."""
    tables = JobTables(DATABASE, t=(COLUMNS, rows))
    kept = tables.rows({"do": "filter", "where": '"a""b" > 0 or same("select", \'north\')'})

    assert kept == [
        row for row in shown(rows) if (row[1] is not None and row[1] > 0) or fold(row[0]) == "north"
    ]


@given(ROWS)
def test_sorted_rows_that_are_alike_stay_in_order(rows: list[Row]) -> None:
    """Empty fields come last either way, and what is alike keeps the file's order."""
    tables = JobTables(DATABASE, t=(COLUMNS, rows))
    found = tables.rows(
        {"do": "sort", "by": [{"column": 'a"b', "descending": True}, {"column": "SELECT"}]}
    )

    assert found == sorted(
        shown(rows), key=lambda row: (order(row[1], descending=True), order(row[0]))
    )


@given(ROWS)
def test_columns_are_chosen_renamed_and_left_out(rows: list[Row]) -> None:
    """Columns come in the order that is said, under the names that are said."""
    tables = JobTables(DATABASE, t=(COLUMNS, rows))
    asked = {"do": "select", "columns": ["Day", "select"], "rename": {"day": 'a"b', "select": "t"}}

    assert (['a"b', "t"], [(row[3], row[0]) for row in rows]) == tables.table(job(asked))
    assert tables.table(job({"do": "select", "without": ["amount"]}))[0] == ["select", 'a"b', "Day"]


@given(ROWS)
def test_derived_columns_use_those_before_them(rows: list[Row]) -> None:
    """A later expression sees what an earlier one made, also in the place of a column."""
    tables = JobTables(DATABASE, t=(COLUMNS, rows))
    asked = {
        "do": "derive",
        "columns": {"Twice": '"a""b" * 2', 'a"b': '"a""b" + 1', "Both": 'Twice + "a""b"'},
    }
    names, found = tables.table(job(asked))

    assert names == ["select", 'a"b', "Amount", "Day", "Twice", "Both"]
    assert found == [
        (*row[:1], None if row[1] is None else row[1] + 1, *row[2:],
         None if row[1] is None else row[1] * 2, None if row[1] is None else row[1] * 3 + 1)
        for row in shown(rows)
    ]  # fmt: skip


@given(ROWS)
def test_groups_count_spellings_as_one(rows: list[Row]) -> None:
    """Groups go by letters without capitals, under the most frequent spelling, empty ones last."""
    tables = JobTables(DATABASE, t=(COLUMNS, rows))
    found = tables.rows({
        "do": "group", "by": ["select"], "figures": [
            {"name": "Sum", "function": "sum", "column": 'a"b'},
            {"name": "Rows", "function": "count"},
            {"name": "Days", "function": "count", "column": "Day"},
            {"name": "Different", "function": "distinct", "column": "Day"},
            {"name": "First", "function": "minimum", "column": "Day"},
            {"name": "Most", "function": "maximum", "column": "Amount"},
        ],
    })  # fmt: skip
    wanted = []
    for key, members in groups(rows, lambda row: fold(row[0])).items():
        numbers = [row[1] for row in members if row[1] is not None]
        days = [row[3] for row in members if row[3] is not None]
        amounts = [float(row[2]) for row in members if row[2] is not None]
        wanted.append((
            None if key is None else spelled(members), sum(numbers) if numbers else None,
            len(members), len(days), len(set(days)), min(days, default=None),
            max(amounts, default=None),
        ))  # fmt: skip

    assert found == sorted(wanted, key=lambda row: order(row[0]))


@given(ROWS)
def test_exact_groups_tell_capitals_apart(rows: list[Row]) -> None:
    """Where a step is exact, each spelling is a group of its own."""
    tables = JobTables(DATABASE, t=(COLUMNS, rows))
    found = tables.rows({
        "do": "group", "by": ["select", "Day"], "exact": True,
        "figures": [{"name": "n", "function": "count"}],
    })  # fmt: skip

    assert Counter((filled(row[0]), row[3]) for row in rows) == {row[:2]: row[2] for row in found}
    assert len(found) == len({row[:2] for row in found})


@given(ROWS)
def test_figures_over_all_rows_are_one_row(rows: list[Row]) -> None:
    """Without groups there is one row, of a table without rows as well."""
    tables = JobTables(DATABASE, t=(COLUMNS, rows))
    found = tables.rows({
        "do": "group", "figures": [
            {"name": "n", "function": "count"},
            {"name": "s", "function": "sum", "column": "Amount"},
            {"name": "d", "function": "distinct", "column": "select"},
        ],
    })  # fmt: skip
    amounts = [row[2] for row in rows if row[2] is not None]

    assert found == [(
        len(rows), float(sum(amounts)) if amounts else None,
        len({fold(row[0]) for row in rows} - {None}),
    )]  # fmt: skip


@given(ROWS)
def test_pivots_have_a_column_for_each_value(rows: list[Row]) -> None:
    """Each value is a column in its order, rows without one the last, and cells add up to it."""
    tables = JobTables(DATABASE, t=(COLUMNS, rows))
    names, found = tables.table(job({
        "do": "pivot", "rows": ["Day"], "column": "select", "total": "All",
        "figure": {"name": "n", "function": "sum", "column": 'a"b'},
    }))  # fmt: skip
    parts = groups(rows, lambda row: fold(row[0]))
    keys = sorted(parts, key=order)
    headings = ["(empty)" if key is None else spelled(parts[key]) for key in keys]

    assert ["Day", *headings, "All"] == names
    wanted = []
    for day, members in groups(rows, lambda row: row[3]).items():
        cells = []
        for key in (*keys, ...):
            numbers = [
                row[1] for row in members
                if row[1] is not None and (key is ... or fold(row[0]) == key)
            ]  # fmt: skip
            cells.append(sum(numbers) if numbers else None)
        wanted.append((day, *cells))

    assert found == sorted(wanted, key=lambda row: order(row[0]))


OTHER = st.lists(
    st.tuples(NAMES, st.integers(0, 5)), max_size=5, unique_by=lambda row: fold(row[0])
)


@pytest.mark.parametrize("kind", ["left", "inner", "full", "missing"])
@given(rows=ROWS, other=OTHER)
def test_joins_match_keys_without_regard_to_capitals(
    kind: str, rows: list[Row], other: list[Row]
) -> None:
    """Rows come with their partner's columns in their order; an empty key has no partner."""
    tables = JobTables(
        DATABASE, t=(COLUMNS, rows), o=({"Area": "string", "Boss": "integer"}, other)
    )
    found = tables.rows({"do": "join", "other": "o", "on": {"select": "Area"}, "kind": kind})
    bosses = {fold(area): boss for area, boss in other if fold(area) is not None}
    wanted: list[Row] = []
    for row in shown(rows):
        key = fold(row[0])
        if kind == "missing":
            wanted += [row] if key not in bosses else []
        elif key in bosses:
            wanted.append((*row, bosses[key]))
        elif kind != "inner":
            wanted.append((*row, None))
    if kind == "full":
        mine = {fold(row[0]) for row in rows}
        wanted += [
            (area, None, None, None, boss) for area, boss in other
            if fold(area) is None or fold(area) not in mine
        ]  # fmt: skip

    assert found == wanted


@given(ROWS, OTHER)
def test_unions_match_columns_by_name(rows: list[Row], other: list[Row]) -> None:
    """Tables come one below the other, each row with its file; a column that lacks is empty."""
    tables = JobTables(
        DATABASE, t=(COLUMNS, rows), o=({"SELECT": "string", "New": "integer"}, other)
    )
    names, found = tables.table(job(
        {"do": "union", "tables": ["o", "t"], "origin": "File", "missing": "empty"},
        inputs=["t", "o"],
    ))  # fmt: skip

    assert names == ["SELECT", "New", 'a"b', "Amount", "Day", "File"]
    assert found == [
        *((name, number, None, None, None, "o.csv") for name, number in other),
        *((row[0], None, *row[1:], "t.csv") for row in shown(rows)),
    ]


@pytest.mark.parametrize("keep", ["first", "last"])
@given(rows=ROWS)
def test_duplicates_leave_one_row_in_its_place(keep: str, rows: list[Row]) -> None:
    """Of rows that are alike the first or last stays where it is; those without a key all stay."""
    tables = JobTables(DATABASE, t=(COLUMNS, rows))
    found = tables.rows({"do": "deduplicate", "by": ["select", "Day"], "keep": keep})
    keys = [(fold(row[0]), row[3]) for row in rows]
    places = {}
    for place, key in enumerate(keys):
        if keep == "last" or key not in places:
            places[key] = place

    assert found == [
        row for place, row in enumerate(shown(rows))
        if keys[place] == (None, None) or places[keys[place]] == place
    ]  # fmt: skip


@pytest.mark.parametrize("ties", [False, True])
@given(rows=ROWS)
def test_top_rows_of_each_group(ties: bool, rows: list[Row]) -> None:
    """The first rows of each group in the order, with those alike to the last one if wanted."""
    tables = JobTables(DATABASE, t=(COLUMNS, rows))
    found = tables.rows({
        "do": "top", "count": 2, "by": [{"column": 'a"b', "descending": True}], "per": ["Day"],
        "ties": ties,
    })  # fmt: skip
    wanted: list[Row] = []
    parts = groups(shown(rows), lambda row: row[3])
    for day in sorted(parts, key=order):
        members = sorted(parts[day], key=lambda row: order(row[1], descending=True))
        last = members[min(2, len(members)) - 1][1]
        wanted += members[:2]
        wanted += [row for row in members[2:] if ties and row[1] == last]

    assert found == wanted


@given(ROWS)
def test_shares_are_of_their_whole(rows: list[Row]) -> None:
    """Each share is the value by the sum of its group; of a sum of 0 there is none."""
    tables = JobTables(DATABASE, t=(COLUMNS, rows))
    found = tables.rows({"do": "share", "column": "Amount", "name": "Share", "within": ["select"]})
    sums: Counter[str | None] = Counter()
    for row in rows:
        sums[fold(row[0])] += row[2] or 0

    for row, result in zip(rows, found, strict=True):
        whole = sums[fold(row[0])]
        if row[2] is None or whole == 0:
            assert result[-1] is None
        else:
            assert pytest.approx(float(row[2] / whole), rel=1e-9) == result[-1]


@given(ROWS)
def test_running_totals_go_by_their_order(rows: list[Row]) -> None:
    """Rows come in the order that is added up by; an empty value adds nothing."""
    tables = JobTables(DATABASE, t=(COLUMNS, rows))
    found = tables.rows({
        "do": "running", "column": "Amount", "name": "Run", "by": [{"column": "Day"}],
        "within": ["select"],
    })  # fmt: skip
    totals: Counter[str | None] = Counter()
    wanted = []
    for row in sorted(rows, key=lambda row: order(row[3])):
        totals[fold(row[0])] += row[2] or 0
        wanted.append((*shown([row])[0], float(totals[fold(row[0])])))

    assert found == wanted


KEYED = st.lists(
    st.tuples(st.sampled_from(["a", "b", "B\u0308", "c d", "e"]), AMOUNTS, NAMES),
    max_size=5, unique_by=lambda row: fold(row[0]),
)  # fmt: skip


@given(KEYED, KEYED)
def test_compared_tables_list_what_differs(before: list[Row], after: list[Row]) -> None:
    """What was added, removed or changed, each with both values; what is the same is not there."""
    kinds = {"Key": "string", "Amount": "decimal", "Name": "string"}
    tables = JobTables(DATABASE, t=(kinds, before), o=({**kinds, "Amount": "float"}, after))
    names, found = tables.table(
        job({"do": "compare", "other": "o", "on": ["key"]}, inputs=["t", "o"])
    )
    wanted: list[Row] = []
    old = {fold(row[0]): (row[0], _float(row[1]), row[2]) for row in before}
    new = {fold(row[0]): (row[0], _float(row[1]), row[2]) for row in after}
    for key, row in old.items():
        later = new.get(key)
        if later is None:
            wanted.append((row[0], "removed", row[1], None, row[2], None))
        elif row[1] != later[1] or _composed(row[2]) != _composed(later[2]):
            wanted.append((row[0], "changed", row[1], later[1], row[2], later[2]))
    wanted += [
        (row[0], "added", None, row[1], None, row[2]) for key, row in new.items() if key not in old
    ]

    assert names == ["Key", "Change", "Amount before", "Amount after", "Name before", "Name after"]
    assert found == wanted


def _float(value: Any) -> float | None:
    return None if value is None else float(value)


def _composed(value: str | None) -> str | None:
    return None if filled(value) is None else unicodedata.normalize("NFC", value or "")
