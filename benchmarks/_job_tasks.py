"""Tasks of tables in two ways: by typed operations, as the items of a plan make them, and as a job.

Both make the same figures, which `benchmarks/_job_models.py` compares. The typed calls are what a
model needs that makes no mistake: what it must know before it writes SQL, the rows, their look, and
one look at what came out.
"""

import csv
import io
from collections.abc import Mapping
from typing import Any

import msgspec

from benchmarks.transactions import CATEGORIES, transactions

__all__ = ["FILE", "TASKS", "Call", "Item", "Task", "demo_items", "demo_job", "files_of"]

FILE = "transactions.csv"
COLUMNS = ("Date", "Description", "Amount")
OWNERS = (("Current", "Ann"), ("Card", "Bob"), ("Savings", "Ann"))
"""Each account with who owns it: the table of the join."""

OTHER = "accounts.csv"


class Call(msgspec.Struct, frozen=True):
    """Call of a tool, which is a turn of a model."""

    tool: str
    arguments: dict[str, Any]


class Item(msgspec.Struct, frozen=True):
    """Item of a plan, and the calls that do it."""

    text: str
    calls: tuple[Call, ...]


class Task(msgspec.Struct, frozen=True):
    """Task of tables.

    Args:
        name: What it is called here.
        request: What a person asks.
        items: The items of a plan that does it by typed operations.
        job: The same as a job.
        look: What a model looks at after the job.
        sheets: Items that write all sheets by one typed call, where there is such a way.
    """

    name: str
    request: str
    items: tuple[Item, ...]
    job: dict[str, Any]
    look: Call
    sheets: tuple[Item, ...] = ()


def files_of() -> Mapping[str, bytes]:
    """Return the files that the tasks are about, by name."""
    text = io.StringIO()
    csv.writer(text).writerows([("Account", "Owner"), *OWNERS])
    return {FILE: transactions(), OTHER: text.getvalue().encode()}


def _looked_at(path: str, sheet: str | None = "Sheet1") -> Call:
    where: dict[str, Any] = {"path": path, "row_start": 1, "row_count": 3}
    if sheet is not None:
        where["source_sheet"] = sheet
    return Call("table_read_rows", {**where, "read_as": {"totals": "keep"}})


def _styled(path: str, sheet: str, columns: str, last: int | None = None) -> Call:
    """Return the call that gives a sheet its look.

    Args:
        path: The workbook.
        sheet: The sheet.
        columns: A letter for each column, "n" for one that is summed.
        last: The last row, below which the sums come; None for none.
    """
    heading = {"font_bold": True, "fill_color": "#D9E1F2"}
    operations: list[dict[str, Any]] = [
        {
            "op": "format_range",
            "sheet": sheet,
            "range": f"A1:{chr(64 + len(columns))}1",
            "style": heading,
        },
        {
            "op": "set_column_widths",
            "sheet": sheet,
            "columns": [{"column": chr(65 + n), "width": 24} for n in range(len(columns))],
        },
        {"op": "freeze_panes", "sheet": sheet, "row": 1, "column": 0},
    ]
    if last is not None:
        operations.append(
            _totals(sheet, last, [chr(65 + n) for n, c in enumerate(columns) if c == "n"])
        )
    return Call("xlsx_operations", {"path": path, "operations": operations})


def _totals(sheet: str, last: int, columns: list[str]) -> dict[str, Any]:
    cells = [{"cell": f"A{last + 1}", "value": "Total", "type": "string"}]
    cells += [
        {
            "cell": f"{column}{last + 1}",
            "value": f"=SUM({column}2:{column}{last})",
            "type": "formula",
        }
        for column in columns
    ]
    return {"op": "set_cells", "sheet": sheet, "cells": cells}


def _exported(target: str, query: str, kind: str = "xlsx") -> Call:
    return Call(
        "table_export", {"path": FILE, "target_path": target, "format": kind, "query": query}
    )


def _asked(query: str) -> Call:
    return Call("table_query", {"path": FILE, "query": query})


def _data(**columns: str) -> dict[str, Any]:
    return {"name": "data", "file": FILE, "columns": columns}


# The demo: a sheet for each category, and one of totals.


def demo_items() -> tuple[Item, ...]:
    """Return the thirteen items of the demo's plan."""
    items = [
        Item(
            f"Sheet {name} in typed.xlsx: its rows, sorted by date",
            _sheet(
                name,
                COLUMNS,
                f"SELECT {', '.join(COLUMNS)} FROM data WHERE Category = '{name}' ORDER BY Date",
            ),
        )
        for name in sorted(CATEGORIES)
    ]
    query = (
        "SELECT Category, count(*) AS Count, sum(Amount) AS Total FROM data GROUP BY 1 ORDER BY 1"
    )
    totals = _totals("Summary", len(CATEGORIES) + 1, ["B", "C"])
    calls = (
        *_sheet("Summary", ("Category", "Count", "Total"), query),
        Call("xlsx_operations", {"path": "typed.xlsx", "operations": [totals]}),
    )
    return (*items, Item("Sheet Summary in typed.xlsx: rows and sums by category", calls))


def _sheet(name: str, columns: tuple[str, ...], query: str) -> tuple[Call, ...]:
    headings = [{"value": column, "type": "string"} for column in columns]
    style = {"font_bold": True, "fill_color": "#D9E1F2"}
    operations = [
        {"op": "ensure_sheet", "sheet": name},
        {"op": "set_range", "sheet": name, "start": "A1", "values": [headings], "style": style},
        {
            "op": "set_column_widths",
            "sheet": name,
            "columns": [{"column": "ABC"[place], "width": 24} for place in range(len(columns))],
        },
        {"op": "freeze_panes", "sheet": name, "row": 1, "column": 0},
    ]
    target = {"path": "typed.xlsx", "operations": operations, "create_if_missing": True}
    rows = {"target_path": "typed.xlsx", "sheet": name, "mode": "write_range", "start_cell": "A2"}
    where = {"path": "typed.xlsx", "source_sheet": name, "row_start": 1, "row_count": 1}
    return (
        Call("xlsx_operations", target),
        Call(
            "table_update_from_export",
            {"path": FILE, "query": query, "include_header": False, **rows},
        ),
        Call("table_read_rows", {**where, "read_as": {"totals": "keep"}}),
    )


def demo_job() -> dict[str, Any]:
    """Return the same as a job."""
    figures = [
        {"name": "Count", "function": "count"},
        {"name": "Total", "function": "sum", "column": "Amount"},
    ]
    return {
        "inputs": [_data(Category="text")],
        "steps": [
            {"do": "sort", "by": [{"column": "Date"}], "make": "sorted"},
            {"do": "select", "columns": [*COLUMNS, "Category"]},
            {"do": "split", "by": "Category", "file": "job.xlsx", "keep_column": False},
            {"do": "group", "of": "sorted", "by": ["Category"], "figures": figures},
            {
                "do": "write",
                "file": "job.xlsx",
                "sheet": "Summary",
                "form": {"totals": {"Count": "sum", "Total": "sum"}},
            },
        ],
    }


def _demo() -> Task:
    return Task(
        "thirteen sheets",
        "a sheet for each category, sorted by date, and one of totals",
        demo_items(),
        demo_job(),
        _looked_at("job.xlsx", "Summary"),
        (_demo_by_sheets(),),
    )


def _demo_by_sheets() -> Item:
    """Return the demo's thirteen sheets as one item, by the typed call for many sheets."""
    *rows, summary = demo_items()
    queries = [item.calls[1].arguments for item in (*rows, summary)]
    sheets: list[dict[str, Any]] = [
        {"sheet": each["sheet"], "query": each["query"]} for each in queries
    ]
    sheets[-1]["form"] = {"totals": {"Count": "sum", "Total": "sum"}}
    outputs = [{"target_path": "typed.xlsx", "sheets": sheets}]
    calls = (
        _asked("SELECT Category, count(*) FROM data GROUP BY 1 ORDER BY 1"),
        Call("table_export_sheets", {"path": FILE, "outputs": outputs}),
        _looked_at("typed.xlsx", "Summary"),
    )
    return Item("Thirteen sheets in typed.xlsx", calls)


def _one_item(name: str, request: str, calls: tuple[Call, ...], job: dict[str, Any]) -> Task:
    """Return a task that one item does; both ways end with the same look."""
    return Task(name, request, (Item(request, calls),), job, calls[-1])


def _grouped() -> Task:
    query = "SELECT Category, sum(Amount) AS Total FROM data GROUP BY 1 ORDER BY 1"
    calls = (
        _exported("sums.xlsx", query),
        _styled("sums.xlsx", "Sheet1", "tn", last=len(CATEGORIES) + 1),
        _looked_at("sums.xlsx"),
    )
    steps = [
        {
            "do": "group",
            "by": ["Category"],
            "figures": [{"name": "Total", "function": "sum", "column": "Amount"}],
        },
        {
            "do": "write",
            "file": "sums.xlsx",
            "sheet": "Sheet1",
            "form": {"totals": {"Total": "sum"}},
        },
    ]
    job = {"inputs": [_data(Amount="number")], "steps": steps}
    return _one_item("sums by category", "sums by category, with a total", calls, job)


def _filtered() -> Task:
    query = (
        f"SELECT {', '.join(COLUMNS)} FROM data WHERE Category = 'Dining' AND Amount > 50"
        " ORDER BY Amount DESC, Date"
    )
    calls = (
        _exported("dining.xlsx", query),
        _styled("dining.xlsx", "Sheet1", "dtn"),
        _looked_at("dining.xlsx"),
    )
    steps = [
        {"do": "filter", "where": "Category = 'Dining' and Amount > 50"},
        {"do": "sort", "by": [{"column": "Amount", "descending": True}, {"column": "Date"}]},
        {"do": "select", "columns": list(COLUMNS)},
        {"do": "write", "file": "dining.xlsx", "sheet": "Sheet1"},
    ]
    job = {"inputs": [_data(Category="text", Amount="number")], "steps": steps}
    request = "dining above 50, the largest first"
    return _one_item("filtered and sorted", request, calls, job)


def _pivoted() -> Task:
    accounts = [name for name, _ in sorted(OWNERS)]
    cells = ", ".join(f"sum(Amount) FILTER (Account = '{name}') AS \"{name}\"" for name in accounts)
    query = f'SELECT Category, {cells}, sum(Amount) AS "All" FROM data GROUP BY 1 ORDER BY 1'
    calls = (
        _asked("SELECT Account, count(*) FROM data GROUP BY 1 ORDER BY 1"),
        _exported("pivot.xlsx", query),
        _styled("pivot.xlsx", "Sheet1", "tnnnn"),
        _looked_at("pivot.xlsx"),
    )
    steps = [
        {
            "do": "pivot",
            "rows": ["Category"],
            "column": "Account",
            "figure": {"name": "Sum", "function": "sum", "column": "Amount"},
            "total": "All",
        },
        {"do": "write", "file": "pivot.xlsx", "sheet": "Sheet1"},
    ]
    job = {"inputs": [_data(Account="text", Amount="number")], "steps": steps}
    return _one_item("pivot", "sums by category, a column for each account", calls, job)


def _joined() -> Task:
    partner = f'LEFT JOIN "{OTHER}" AS o ON lower(data.Account) = lower(o.Account)'
    query = (
        "SELECT Owner, count(*) AS Count, sum(Amount) AS Total FROM data"
        f" {partner} GROUP BY 1 ORDER BY 1"
    )
    calls = (
        _asked(f"SELECT count(*) FROM data {partner} WHERE o.Account IS NULL"),
        _exported("owners.xlsx", query),
        _styled("owners.xlsx", "Sheet1", "tnn", last=3),
        _looked_at("owners.xlsx"),
    )
    figures = [
        {"name": "Count", "function": "count"},
        {"name": "Total", "function": "sum", "column": "Amount"},
    ]
    steps = [
        {
            "do": "join",
            "of": "data",
            "other": "accounts",
            "on": {"Account": "Account"},
            "columns": ["Owner"],
        },
        {"do": "group", "by": ["Owner"], "figures": figures},
        {
            "do": "write",
            "file": "owners.xlsx",
            "sheet": "Sheet1",
            "form": {"totals": {"Count": "sum", "Total": "sum"}},
        },
    ]
    other = {"name": "accounts", "file": OTHER, "columns": {"Account": "text", "Owner": "text"}}
    job = {"inputs": [_data(Account="text", Amount="number"), other], "steps": steps}
    return _one_item("join", "sums by owner of the account", calls, job)


def _files() -> Task:
    calls = (
        _asked("SELECT Account, count(*) FROM data GROUP BY 1 ORDER BY 1"),
        *(
            _exported(f"of {name}.csv", f"SELECT * FROM data WHERE Account = '{name}'", "csv")
            for name, _ in sorted(OWNERS)
        ),
        _looked_at("of Card.csv", None),
    )
    steps = [{"do": "split", "by": "Account", "into": "files", "file": "of {value}.csv"}]
    job = {"inputs": [_data(Account="text")], "steps": steps}
    return _one_item("files", "a file for each account", calls, job)


def _deduplicated() -> Task:
    query = (
        "SELECT Description, Category FROM data"
        " QUALIFY row_number() OVER (PARTITION BY lower(Description), lower(Category)) = 1"
        " ORDER BY Category, Description"
    )
    calls = (
        _asked("SELECT count(*), count(DISTINCT (lower(Description), lower(Category))) FROM data"),
        _exported("kinds.xlsx", query),
        _styled("kinds.xlsx", "Sheet1", "tt"),
        _looked_at("kinds.xlsx"),
    )
    steps = [
        {"do": "select", "columns": ["Description", "Category"]},
        {"do": "deduplicate"},
        {"do": "sort", "by": [{"column": "Category"}, {"column": "Description"}]},
        {"do": "write", "file": "kinds.xlsx", "sheet": "Sheet1"},
    ]
    job = {"inputs": [_data(Description="text", Category="text")], "steps": steps}
    return _one_item("without doubles", "each description once", calls, job)


TASKS = (
    _demo(), _grouped(), _filtered(), _pivoted(), _joined(), _files(), _deduplicated()
)  # fmt: skip
