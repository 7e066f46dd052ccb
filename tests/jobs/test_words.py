"""Words of jobs: everything that decides about a row or a figure is said, in one sentence."""

from collections.abc import Mapping
from typing import Any

import pytest

from job_tables import job
from kbd.jobs.documents import job_of
from kbd.jobs.expression_words import condition_words, value_words
from kbd.jobs.words import check_lines, input_lines, job_sentence, step_lines


def test_a_job_is_one_sentence() -> None:
    """The sources, each step in order, what is checked and what is taken for granted."""
    asked = job_of({
        "inputs": [{"name": "sales", "file": "sales.csv"}],
        "steps": [
            {"do": "filter", "where": "not same(Status, 'cancelled')"},
            {"do": "group", "by": ["Region"],
             "figures": [{"name": "Amount", "function": "sum", "column": "Amount"}]},
            {"do": "sort", "by": [{"column": "Amount", "descending": True}]},
            {"do": "write", "file": "sales-revenue-by-region.xlsx"},
        ],
        "checks": [{"check": "row_count", "table": "sales", "minimum": 1}],
        "assumptions": ["amounts are in euros"],
    })  # fmt: skip

    assert job_sentence(asked) == (
        "Of sales.csv, keep rows where Status is neither empty nor cancelled, total Amount by"
        " Region, sort by Amount, largest first, and write sales-revenue-by-region.xlsx; it stops"
        " unless sales has at least 1 row; taken for granted: amounts are in euros."
    )  # fmt: skip


@pytest.mark.parametrize(
    ("step", "words"),
    [
        ({"do": "filter", "where": "Amount > 5", "of": "o", "make": "x"},
         "of o, keep rows where Amount is more than 5 (called x)"),
        ({"do": "sort", "by": [{"column": "a"}, {"column": "b", "descending": True}]},
         "sort by a, then b, in descending order"),
        ({"do": "select", "columns": ["a", "b"], "rename": {"a": "c"}},
         "keep the columns a and b and name a as c"),
        ({"do": "select", "without": ["a"]}, "leave out the column a"),
        ({"do": "select"}, "keep all columns"),
        ({"do": "derive", "columns": {"a": "b * 1.19", "m": "month_of(Day)"}},
         "work out a as b × 1.19 and m as the month of Day"),
        ({"do": "group", "exact": True, "by": ["a"], "figures": [
            {"name": "n", "function": "count"},
            {"name": "f", "function": "count", "column": "b"},
            {"name": "d", "function": "distinct", "column": "b"},
            {"name": "v", "function": "average", "column": "b"},
            {"name": "m", "function": "median", "column": "b"},
            {"name": "l", "function": "minimum", "column": "b"},
            {"name": "b", "function": "maximum", "column": "b"}]},
         ("count rows as n, count rows with b as f, count different b as d, average b as v, take"
         " the median of b as m, take the least b as l and take the greatest b by a, capitals"
         " counting")),
        ({"do": "pivot", "rows": ["a"], "column": "b", "total": "All",
          "figure": {"name": "n", "function": "count"}},
         "count rows by a, with a column for each b, and All over all of them"),
        ({"do": "join", "other": "o", "on": {"a": "A", "b": "c"}, "columns": ["x"]},
         "add x of o by a and b (there c) (rows without a partner stay)"),
        ({"do": "join", "other": "o", "on": {"a": "a"}, "kind": "inner", "many": True},
         ("add all columns of o by a (rows without a partner are left out, and rows with several"
         " are repeated)")),
        ({"do": "join", "other": "o", "on": {"a": "a"}, "kind": "full"},
         "add all columns of o by a (rows without a partner stay, those of o too)"),
        ({"do": "join", "other": "o", "on": {"a": "a"}, "kind": "missing"},
         "keep rows that have no partner in o by a"),
        ({"do": "union", "tables": ["t", "o"], "origin": "File", "missing": "empty"},
         ("put t and o below each other, with the file of each row as File, empty where one lacks a"
         " column")),
        ({"do": "deduplicate", "by": ["a", "b"], "keep": "last"},
         "keep the last row of each a and b; rows without a or b all stay"),
        ({"do": "deduplicate", "exact": True},
         "keep the first of the rows that are alike in all columns, capitals counting"),
        ({"do": "top", "count": 10, "by": [{"column": "a", "descending": True}], "per": ["b"],
          "ties": True},
         ("keep the first 10 rows of each b by a, in descending order, and those that are alike"
         " with the last one")),
        ({"do": "share", "column": "a", "name": "s", "within": ["b"]},
         "work out s as the share of each row in all a within each b"),
        ({"do": "running", "column": "a", "name": "r", "by": [{"column": "d"}]},
         "work out r as the running total of a by d"),
        ({"do": "compare", "other": "o", "on": ["a"]},
         ("list what was added, removed or changed against o by a, comparing any column that both"
         " have")),
        ({"do": "write", "file": "x.xlsx", "sheet": "S", "mode": "append"},
         "add the rows below those in sheet S of x.xlsx"),
        ({"do": "write", "file": "x.xlsx", "form": {
            "title": "T", "totals": {"a": "sum", "b": "average"}, "formats": {"a": "0.00"},
            "widths": {"a": 12}, "plain": True,
            "chart": {"kind": "bar", "category": "c", "values": ["a"], "title": "C"}}},
         ("write x.xlsx with the title “T”, the sum of a and the average b below, at “Total”, a as"
         " 0.00, a 12 wide, plain headings and a bar chart called “C” of a by c")),
        ({"do": "split", "by": "a", "file": "x.xlsx"},
         "write a sheet for each a into x.xlsx, rows without one under (empty)"),
        ({"do": "split", "by": "a", "file": "x.xlsx", "sheet": "S {value}", "exact": True,
          "keep_column": False},
         ("write a sheet for each a, capitals counting, into x.xlsx, each called S {value}, rows"
         " without one under (empty), without the column a")),
        ({"do": "split", "by": "a", "file": "{value}.csv", "into": "files", "empty": "rest"},
         "write a file for each a, {value}.csv, rows without one under rest"),
        ({"do": "fill", "template": "l", "file": "{value}.docx", "each": "a",
          "values": {"total": "text(b, 2)"}, "rows": {"lines": "t"}, "pictures": {"logo": "p"}},
         ("fill l in as {value}.docx, one for each row, called by a, where total is text(b, 2), the"
         " rows of lines are those of t and the picture logo is p")),
        ({"do": "replace", "files": ["a.docx", "b.docx"], "search": "x", "replacement": "y",
          "match_case": False},
         "replace “x”, in any capitals, with “y” in a.docx and b.docx"),
        ({"do": "replace", "files": ["a.docx"], "search": "x", "replacement": "y",
          "file": "b.docx"}, "replace “x” with “y” in a copy of a.docx called b.docx"),
        ({"do": "convert", "table": "t", "file": "x.json"}, "write t as it stands into x.json"),
        ({"do": "report", "text": "In all"}, "tell up to 50 rows after “In all”"),
    ],
)  # fmt: skip
def test_each_step_is_a_line(step: Mapping[str, Any], words: str) -> None:
    """A step says all that it was told."""
    assert (words,) == step_lines(job(step, inputs=["t", "o"]))


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("Status = 'paid'", "Status is exactly paid"),
        ("Status <> 'not paid'", "Status is neither empty nor exactly “not paid”"),
        ("not Status = 'a'", "Status is neither empty nor exactly a"),
        ("same(Status, 'paid')", "Status is paid"),
        ("Status = Paid", "Status is the same as Paid"),
        ("same(Status, Paid)", "Status is the same in any capitals as Paid"),
        ("Status in ('a', 'b')", "Status is one of exactly a or b"),
        ("n not in (1, 2)", "n is neither empty nor one of 1 or 2"),
        ("not n between 1 and 2", "n is neither empty nor between 1 and 2, both included"),
        ("Day between '2024-01-01' and date '2024-03-31'",
         "Day is between 2024-01-01 and 2024-03-31, both included"),
        ("Day < '2024-01-01'", "Day is before 2024-01-01"),
        ("date '2024-01-01' <= Day", "Day is on or after 2024-01-01"),
        ("year(Day) = 2024", "the year of Day is 2024"),
        ("5 < n", "n is more than 5"),
        ("not n < 5", "n is at least 5"),
        ("n is empty or not (n is empty)", "n is empty or n is filled"),
        ("a is empty or not same(a, 'x')", "a is empty or not x"),
        ("a is empty or a <> 1", "a is empty or not 1"),
        ("a is empty or b = 1", "a is empty or b is 1"),
        ("a = 1 and (b = 2 or c = 3)", "a is 1 and (b is 2 or c is 3)"),
        ("not (a = 1 and b = 2)", "it is not so that (a is 1 and b is 2)"),
        ("contains(fold(Name), 'gmbh')", "Name contains gmbh"),
        ("not contains(Name, 'GmbH')", "Name is filled and does not contain exactly GmbH"),
        ("starts_with(Name, 'A')", "Name begins with exactly A"),
        ("Paid", "Paid is true"),
        ("not Paid", "Paid is false"),
        ("round(a, 2) > 1", "round(a, 2) is more than 1"),
        ("if(a > 1, true, false)", "if(a > 1, true, false) is true"),
    ],
)  # fmt: skip
def test_conditions_are_told_in_words(condition: str, words: str) -> None:
    """A condition says where capitals count and where empty fields are left out."""
    assert words == condition_words(condition)


def test_what_has_no_words_is_told_as_written() -> None:
    """A value that no few words tell is the expression itself."""
    assert value_words("(a + 1) * 2") == "(a + 1) * 2"
    assert value_words("CASE WHEN a THEN 1 ELSE 2 END") == "case when a then 1 else 2 end"


def test_inputs_and_checks_are_lines() -> None:
    """Each input says its file and how it is read, each check what must hold."""
    asked = job_of({
        "inputs": [
            {"name": "s", "file": "s.xlsx", "sheet": "A", "columns": {"n": "number"},
             "others": False, "read_as": {"decimal": ",", "header_row": 2}},
            {"name": "l", "file": "l.docx", "kind": "file"},
        ],
        "steps": [{"do": "report"}],
        "checks": [
            {"check": "unique", "table": "s", "columns": ["a", "b"]},
            {"check": "known_values", "table": "s", "column": "a", "values": ["x", "y"],
             "otherwise": "tell"},
            {"check": "sums_agree", "table": "s", "column": "a", "other_table": "o",
             "other_column": "b", "tolerance": 0.01},
            {"check": "row_count", "table": "s", "same_as": "o"},
            {"check": "row_count", "table": "s", "minimum": 1, "maximum": 9},
            {"check": "holds", "table": "s", "condition": "a > 0", "text": "no debts"},
        ],
    })  # fmt: skip

    assert input_lines(asked) == (
        (
            "s: sheet A of s.xlsx, with n (number) and no other columns; read with header row 2 and"
            " decimal ,"
        ),
        "l: l.docx, as a whole",
    )
    assert check_lines(asked) == (
        "no two rows of s have the same a and b",
        "each a of s is x or y (others are only told)",
        "the sums of a of s and of b of o agree up to 0.01",
        "s has as many rows as o",
        "s has at least 1 row and at most 9",
        "in each row of s a is more than 0 (no debts)",
    )
