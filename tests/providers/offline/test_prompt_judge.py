"""The judge of the prompts: strict in figures and rows, lenient in form; and its data is whole."""

import re
from collections import Counter
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from providers.offline.prompt_judge import PromptEntry, PromptOutcome, judge, load_entries
from providers.offline.prompt_tables import PROMPTS, PromptTables

Rows = list[list[Any]]

FILES = ("budget.xlsx",)


@pytest.fixture(scope="module")
def tables() -> PromptTables:
    """All tables, loaded as they are asked for."""
    return PromptTables(date(2026, 3, 31))


def entry(**changed: Any) -> PromptEntry:
    """Return an entry over the budgets."""
    kept: dict[str, Any] = {
        "id": "x", "files": FILES, "request": "budget by department", "language": "en",
        "kind": "group", "also": ("columns", "totals row"),
        "sql": "select Department, sum(Budget) Sum, count(*) n from budget group by 1 order by 1",
    }  # fmt: skip
    return PromptEntry(**(kept | changed))


def rows_of(entry: PromptEntry, tables: PromptTables) -> Rows:
    """Return the heading and the rows that are right."""
    columns, rows = tables.rows(entry.files, entry.statements[0])
    plain = [[float(v) if isinstance(v, Decimal) else v for v in row] for row in rows]
    return [columns, *plain]


def written(rows: Rows) -> PromptOutcome:
    """Return the outcome of a run that wrote a sheet."""
    return PromptOutcome("finished", {"result.xlsx": {"Result": rows}})


def test_what_is_right_in_another_form(tables: PromptTables) -> None:
    """Other headings, another order of rows and columns, a title, totals and text are right."""
    asked = entry()
    rows = rows_of(asked, tables)
    turned = [list(reversed(row)) for row in [rows[0], *reversed(rows[1:])]]
    titled: Rows = [
        ["Budgets", None, None],
        [None, None, None],
        ["Dept", "Amount", "Rows"],
        *rows[1:],
    ]
    totals = [*rows, ["Total", sum(row[1] for row in rows[1:]), 30]]
    texts = [rows[0], *([f" {a.upper()} ", f"€{b:,.2f}", str(c)] for a, b, c in rows[1:])]
    german = [
        rows[0],
        *([a, f"{b:_.2f}".replace(".", ",").replace("_", "."), c] for a, b, c in rows[1:]),
    ]
    told = "So it is:\n" + "\n".join(f"- {a}: {b:,.0f} in {c} rows" for a, b, c in rows[1:])
    for outcome in (
        *(written(form) for form in (rows, turned, titled, totals, texts, german)),
        PromptOutcome("finished", answer=told),
    ):
        assert judge(asked, outcome, tables) == "right", outcome


def _added(rows: Rows, amount: float) -> Rows:
    name, figure, count = rows[-1]
    return [*rows[:-1], [name, figure + amount, count]]


def _shifted(rows: Rows) -> Rows:
    return [rows[0], *([a, rows[-at][1], c] for at, (a, _, c) in enumerate(rows[1:], 1))]


def _more(rows: Rows) -> Rows:
    return [[*rows[0], "Head"], *([*row, 1] for row in rows[1:])]


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda rows: _added(rows, 1), id="figure"),
        pytest.param(lambda rows: _added(rows, 0.01), id="cent"),
        pytest.param(lambda rows: rows[:-1], id="missing"),
        pytest.param(lambda rows: [*rows, rows[-1]], id="twice"),
        pytest.param(lambda rows: [*rows, ["Other", 5, 1]], id="extra"),
        pytest.param(lambda rows: [[rows[0][0], rows[0][2], rows[0][1]], *rows[1:]], id="swapped"),
        pytest.param(lambda rows: [[a, b] for a, b, _ in rows], id="narrow"),
        pytest.param(_shifted, id="shifted"),
        pytest.param(lambda rows: [rows[0]], id="empty"),
    ],
)  # fmt: skip
def test_what_is_wrong(tables: PromptTables, change: Callable[[Rows], Rows]) -> None:
    """A changed figure, a row too few or too many, a swapped or missing column are wrong."""
    asked = entry()
    assert judge(asked, written(change(rows_of(asked, tables))), tables) == "wrong"


def test_columns_and_totals_must_be_allowed(tables: PromptTables) -> None:
    """Without `also` nothing more than the rows is right; with `headings` the names count."""
    strict = entry(also=())
    rows = rows_of(strict, tables)
    assert judge(strict, written(rows), tables) == "right"
    assert judge(strict, written(_more(rows)), tables) == "wrong"
    assert judge(entry(), written(_more(rows)), tables) == "right"
    assert judge(strict, written([*rows, ["Total", 1, 30]]), tables) == "wrong"
    named = [["Department", "Sum of Budget", "n"], *rows[1:]]
    assert judge(entry(headings=True), written(named), tables) == "wrong"
    assert judge(entry(), written(named), tables) == "right"


def test_order_where_it_counts(tables: PromptTables) -> None:
    """With `ordered` the columns of `by` come in order; rows that are alike in them may change."""
    asked = entry(
        sql="select Department, Budget from budget order by Budget", ordered=True, by=("Budget",)
    )
    rows = rows_of(asked, tables)
    tie = next(at for at in range(1, len(rows) - 1) if rows[at][1] == rows[at + 1][1])
    alike = [*rows[:tie], rows[tie + 1], rows[tie], *rows[tie + 2 :]]
    assert judge(asked, written(alike), tables) == "right"
    assert judge(asked, written([rows[0], *reversed(rows[1:])]), tables) == "wrong"
    loose = entry(sql=asked.sql)
    assert judge(loose, written([rows[0], *reversed(rows[1:])]), tables) == "right"


def test_figures_in_words(tables: PromptTables) -> None:
    """The expected figure must be told, in any form, and before any other one that is news."""
    asked = entry(request="how much did IT spend in 2024?", kind="figure",
                  sql="select sum(Spent) s from budget where Department = 'IT'")  # fmt: skip
    spent = rows_of(asked, tables)[1][0]
    right = [
        f"IT spent {spent:,.2f}.",
        f"{spent:.1f} of 7 rows",
        f"In 2024: ${spent:,.0f} (of 9,999)",
    ]
    german = f"{spent:_.2f}".replace(".", ",").replace("_", ".")
    for told in (*right, f"Das sind {german} €"):
        assert judge(asked, PromptOutcome("finished", answer=told), tables) == "right", told
    for told in (f"IT spent {spent + 1:,.2f}.", "2024", "", f"9,999.00, not {spent:,.2f}"):
        assert judge(asked, PromptOutcome("finished", answer=told), tables) == "wrong", told


def test_lists_in_words(tables: PromptTables) -> None:
    """A list tells each row once; one that is changed, missing or further is wrong."""
    asked = entry()
    lines = [f"| {a} | {b:,.2f} | {c} |" for a, b, c in rows_of(asked, tables)[1:]]
    heading = ["| Department | Sum | n |", "| --- | ---: | ---: |"]

    def told(*lines: str) -> str:
        return judge(asked, PromptOutcome("finished", answer="\n".join(lines)), tables)

    assert told(*heading, *lines, "| Total | 1,390,000 | 30 |") == "right"
    assert told(*heading, *lines[:-1]) == "wrong"
    assert told(*heading, *lines, "| Other | 1.00 | 1 |") == "wrong"


def test_a_sheet_for_each_value(tables: PromptTables) -> None:
    """Each value has its rows, with or without its column; a sheet too few is wrong."""
    asked = entry(sql="select * from budget", kind="split", split="Department")
    header, *rows = rows_of(asked, tables)
    sheets = {
        str(value): [header, *(row for row in rows if row[1] == value)]
        for value in {row[1] for row in rows}
    }
    cut = {name: [[*row[:1], *row[2:]] for row in sheet] for name, sheet in sheets.items()}
    files = {f"{name}.csv": {"": sheet} for name, sheet in sheets.items()}
    for found in ({"x.xlsx": sheets}, {"x.xlsx": cut}, files):
        assert judge(asked, PromptOutcome("finished", found), tables) == "right"
    for lost in sheets:
        fewer = {name: rows for name, rows in sheets.items() if name != lost}
        assert judge(asked, PromptOutcome("finished", {"x.xlsx": fewer}), tables) == "wrong"


def test_shares_and_months(tables: PromptTables) -> None:
    """A share may be a fraction or a percentage; a month stands there in any usual form."""
    whole = "(select sum(Budget) from budget)"
    by = f"select Department, sum(Budget) / {whole} Share from budget group by 1"
    asked = entry(sql=by, shares=("Share",))
    header, *rows = rows_of(asked, tables)
    for form in (lambda v: v, lambda v: round(v * 100, 1), lambda v: f"{v:.1%}"):
        assert judge(asked, written([header, *([a, form(b)] for a, b in rows)]), tables) == "right"
    assert judge(asked, written([header, *([a, b * 99] for a, b in rows)]), tables) == "wrong"
    by = (
        "select date_trunc('month', Date)::date as Month, sum(Revenue) r from sales"
        " where year(Date) = 2024 group by 1"
    )
    asked = entry(files=("sales.csv",), sql=by)
    header, *rows = rows_of(asked, tables)
    for written_as in ("%Y-%m", "%B %Y", "%m/%Y", "%b"):
        told = [header, *([a.strftime(written_as), b] for a, b in rows)]
        assert judge(asked, written(told), tables) == "right", written_as
    moved = [header, *([a.replace(month=a.month % 12 + 1), b] for a, b in rows)]
    assert judge(asked, written(moved), tables) == "wrong"


def test_zeros_before_numbers_count(tables: PromptTables) -> None:
    """An id that lost its zeros is wrong, as is a date that became another day."""
    asked = entry(files=("inventory.csv",), sql="select SKU, Quantity from inventory")
    header, *rows = rows_of(asked, tables)
    assert judge(asked, written([header, *([str(a), str(b)] for a, b in rows)]), tables) == "right"
    assert judge(asked, written([header, *([int(a), b] for a, b in rows)]), tables) == "wrong"


def test_spelling_where_it_was_asked_for(tables: PromptTables) -> None:
    """With `exact` a blank or a capital that stayed is wrong."""
    asked = entry(files=("survey.csv",), sql="select * from survey", exact=True)
    header, *rows = rows_of(asked, tables)
    raw = [[value if value is not None else "" for value in row] for row in rows]
    assert judge(asked, written([header, *raw]), tables) == "right"
    raw[3][3] = raw[3][3].upper()
    assert judge(asked, written([header, *raw]), tables) == "wrong"
    assert (
        judge(entry(files=asked.files, sql=asked.sql), written([header, *raw]), tables) == "right"
    )


def test_questions_and_declines(tables: PromptTables) -> None:
    """A question and a decline are never wrong, and right where nothing else is."""
    answered, asks, declines = (
        entry(),
        entry(sql=(), answer="asks"),
        entry(sql=(), answer="declines"),
    )
    asked, declined = PromptOutcome("asked"), PromptOutcome("declined")
    done = written([["a"], [1]])
    found = [
        [judge(one, outcome, tables) for outcome in (asked, declined, done)]
        for one in (answered, asks, declines)
    ]
    assert found == [
        ["asked", "declined", "wrong"], ["right", "right", "wrong"], ["asked", "right", "wrong"],
    ]  # fmt: skip


@pytest.mark.full
def test_every_entry_has_rows_and_is_right_by_itself(tables: PromptTables) -> None:
    """Each statement runs and gives rows; written as they are they are right, without one wrong."""
    for one in load_entries():
        assert bool(one.sql) != bool(one.answer), one.id
        for sql in one.statements:
            columns, found = tables.rows(one.files, sql)
            assert any(value is not None for row in found for value in row), one.id
            assert len(set(columns)) == len(columns), one.id
            if one.split:
                continue
            rows: Rows = [columns, *map(list, found)]
            assert judge(one, written(rows), tables) == "right", one.id
            assert judge(one, written([*rows, rows[-1]]), tables) == "wrong", one.id


def test_no_entry_hangs_on_a_tie(tables: PromptTables) -> None:
    """Where the first n are asked for, the n-th and the next differ: only one result is right."""
    for one in load_entries():
        for sql in one.statements:
            limit = re.search(r'order by (\w+|"[\w ]+")[^()]* limit (\d+)$', sql)
            if limit is None:
                continue
            columns, rows = tables.rows(
                one.files, sql.replace(f"limit {limit[2]}", f"limit {int(limit[2]) + 1}")
            )
            place = columns.index(limit[1].strip('"'))
            assert rows[-1][place] != rows[-2][place], one.id


def test_there_are_enough_entries() -> None:
    """300 entries over 40 tables, a third of them German, at most 15 % without rows."""
    entries = load_entries()
    languages = Counter(one.language for one in entries)
    assert len({one.id for one in entries}) == len(entries) == 300
    assert len({name for one in entries for name in one.files}) >= 40
    assert 0.3 <= languages["de"] / 300 <= 0.4
    assert 0.85 <= sum(not one.answer for one in entries) / 300 <= 0.9
    assert {name for one in entries for name in one.files} == {
        path.name for path in (PROMPTS / "tables").iterdir()
    }


def test_files_of_today(tables: PromptTables, tmp_path: Path) -> None:
    """A table that is relative to today is given with its dates moved, the others as they are."""
    moved, kept = tables.stage(("recent_orders.csv", "sales.csv"), tmp_path)
    columns, rows = tables.rows(
        ("recent_orders.csv",), 'select max("Order Date") from recent_orders'
    )
    assert columns
    assert str(rows[0][0]) in moved.read_text()
    assert date(2026, 3, 1) <= rows[0][0] <= date(2026, 3, 31)
    assert kept.read_bytes() == (PROMPTS / "tables" / "sales.csv").read_bytes()
