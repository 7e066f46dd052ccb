"""Checks: what holds is told with figures, what does not is found, in one statement."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from job_tables import JobTables, job
from kbd.errors import ValidationFailed
from kbd.jobs.check_rules import AgreeRule, BalanceRule, NoneRule, NoteRule, RangeRule, judged
from kbd.jobs.checks import judge_checks, plan_checks

COLUMNS = {"Region": "string", "Amount": "float", "n": "integer"}
ROWS: list[list[Any]] = [
    ["North", 0.1, 1], ["north", 0.2, 2], [None, 5.0, 2], ["South", None, None], ["{0}", -1.0, 4],
]  # fmt: skip
PEOPLE = {"Area": "string", "Boss": "string"}


@pytest.fixture
def tables() -> JobTables:
    """Sales and people, with spellings, blanks and a key that is there twice."""
    return JobTables(
        t=(COLUMNS, ROWS), p=(PEOPLE, [["NORTH", "Ann"], ["East", "Bob"], [None, "Cy"]]),
        q=(PEOPLE, [["North", "Ann"], ["north", "Bob"], ["South", "Cy"]]),
    )  # fmt: skip


FIGURES = [
    {"name": "Total", "function": "sum", "column": "Amount"},
    {"name": "Rows", "function": "count"}, {"name": "Filled", "function": "count", "column": "n"},
]  # fmt: skip


@pytest.mark.parametrize(
    ("step", "told"),
    [
        ({"do": "filter", "where": "same(Region, 'north')"}, [
            "passed: 5 rows: 2 kept, 3 left out",
            "told: 1 of 5 rows has no Region and is left out",
        ]),
        ({"do": "filter", "where": "Amount > 0 and n > 1"}, [
            "passed: 5 rows: 2 kept, 3 left out",
            "told: 1 of 5 rows has an empty Amount or n and is left out",
        ]),
        ({"do": "sort", "by": [{"column": "n"}]}, ["passed: 5 rows, as before"]),
        ({"do": "derive", "columns": {"Half": "n / 2"}}, [
            "passed: 5 rows, as before", "told: 1 of 5 rows has no Half",
        ]),
        ({"do": "group", "by": ["Region"], "figures": FIGURES}, [
            "passed: Total: 4.3 in all, as in the rows",
            "told: 1 of 5 rows has no Amount, and Total is without them",
            "passed: Rows: 5 in all, as counted in the rows",
            "passed: Filled: 4 in all, as counted in the rows",
            "told: 1 of 5 rows has no Region and is in a group of its own",
            "told: 1 value of Region is written in several ways that count as one: North, north",
        ]),
        ({"do": "pivot", "rows": ["Region"], "column": "n", "figure": FIGURES[0]}, [
            "passed: Total: 4.3 in all, as in the rows",
            "told: 1 of 5 rows has no Amount, and Total is without them",
            "told: 1 of 5 rows has no Region and is in a group of its own",
            "told: 1 of 5 rows has no n and is in a group of its own",
            "told: 1 value of Region is written in several ways that count as one: North, north",
        ]),
        ({"do": "join", "other": "p", "on": {"Region": "Area"}, "kind": "full"}, [
            "passed: no two rows of p have one key, so no row is repeated",
            "told: 3 of 5 rows have no partner in p and stay without one",
            "told: 2 of 3 rows of p have no partner and are added below",
            ("told: 2 of 5 rows have a partner in p whose key is written otherwise: in capitals or"
            " accents"),
        ]),
        ({"do": "join", "other": "q", "on": {"Region": "Area"}}, [
            ("failed: 1 key of q is there more than once, such as North, and would repeat rows;"
            " deduplicate it first, or say many"),
            "told: 2 of 5 rows have no partner in q and stay without one",
        ]),
        ({"do": "join", "other": "q", "on": {"Region": "Area"}, "many": True, "kind": "inner"}, [
            "told: 2 of 5 rows have no partner in q and are left out",
        ]),
        ({"do": "union", "tables": ["p", "q"]}, ["passed: 6 rows: 3 + 3"]),
        ({"do": "deduplicate", "by": ["Region"]}, [
            "passed: 5 rows: 4 stay, 1 taken out", "told: 1 of 5 rows has no Region and stays",
        ]),
        ({"do": "top", "count": 2, "by": [{"column": "n", "descending": True}]}, [
            "told: 1 more row is alike with the last one that is taken, and left out",
        ]),
        ({"do": "top", "count": 2, "by": [{"column": "n"}], "ties": True}, []),
        ({"do": "share", "column": "Amount", "name": "s", "within": ["Region"]}, [
            "passed: 5 rows, as before", "passed: the shares of each whole are 1 in all",
            "told: 1 whole is 0 or has no Amount, and no shares",
            "told: 1 of 5 rows has Amount below 0, so that shares may be more than 1",
        ]),
        ({"do": "running", "column": "Amount", "name": "r", "by": [{"column": "n"}]},
         ["passed: 5 rows, as before"]),
        ({"do": "compare", "of": "p", "other": "q", "on": ["Area"]}, [
            "passed: no two rows of the earlier table have one key",
            "told: 1 of 3 rows of the earlier table has no whole key, so that none matches",
            ("failed: 1 key of q is there more than once, such as North; name more columns of the"
            " key"),
        ]),
        ({"do": "split", "by": "Region", "file": "x.xlsx"}, [
            "passed: 5 rows, each in the part of its Region",
            "told: 1 of 5 rows has no Region and is in the part (empty)",
            "told: 1 value of Region is written in several ways that count as one: North, north",
        ]),
        ({"do": "report"}, []),
    ],
)  # fmt: skip
def test_every_step_checks_itself(
    tables: JobTables, step: Mapping[str, Any], told: list[str]
) -> None:
    """Each step tells that its rows and sums add up, and what people should know of them."""
    assert told == tables.told(step)


@pytest.mark.parametrize(
    ("check", "told"),
    [
        ({"check": "unique", "table": "t", "columns": ["Region", "Amount"]},
         "passed: no two rows of t have one Region, Amount"),
        ({"check": "unique", "table": "q", "columns": ["Area"]},
         "failed: 1 value of Area in q is there more than once, such as North"),
        ({"check": "known_values", "table": "t", "column": "region",
          "values": ["NORTH", "south", "{0}"]}, "passed: each Region in t is one that is known"),
        ({"check": "known_values", "table": "t", "column": "Region", "values": ["North"]},
         "failed: 2 rows of t have Region that is not known: South, {0}"),
        ({"check": "known_values", "table": "t", "column": "n", "values": ["1", "2"],
          "otherwise": "tell"}, "told: 1 row of t has n that is not known: 4"),
        ({"check": "sums_agree", "table": "t", "column": "n", "other_table": "t",
          "other_column": "n"}, "passed: the sum of n in t is 9, and the sum of n in t as well"),
        ({"check": "sums_agree", "table": "t", "column": "n", "other_table": "t",
          "other_column": "Amount"},
         "failed: the sum of n in t is 9, but the sum of Amount in t is 4.3"),
        ({"check": "sums_agree", "table": "t", "column": "n", "other_table": "t",
          "other_column": "Amount", "tolerance": 4.7},
         "passed: the sum of n in t is 9, and the sum of Amount in t as well"),
        ({"check": "row_count", "table": "t", "minimum": 5},
         "passed: t has 5 rows, at least 5"),
        ({"check": "row_count", "table": "t", "minimum": 1, "maximum": 4},
         "failed: t has 5 rows, and needs at least 1 and at most 4"),
        ({"check": "row_count", "table": "p", "same_as": "q"},
         "passed: p has 3 rows, as many as q"),
        ({"check": "row_count", "table": "p", "same_as": "t"}, "failed: p has 3 rows, and t 5"),
        ({"check": "holds", "table": "t", "condition": "n > 0 or n is empty"},
         "passed: of each row of t it is true: n > 0 or n is empty"),
        ({"check": "holds", "table": "t", "condition": "n > 0", "text": "there is a {number}"},
         "failed: of 1 of 5 rows of t it is not true: there is a {number}"),
    ],
)  # fmt: skip
def test_what_a_job_says_is_checked(tables: JobTables, check: Mapping[str, Any], told: str) -> None:
    """Each check that a job says holds or does not, with its figures; a name may hold braces."""
    assert [told] == tables.told({"do": "report"}, checks=[check])


def test_names_with_braces_are_names() -> None:
    """A column that is called like a place in a text is told as it is called."""
    tables = JobTables(t=({"{0} {x}": "string"}, [["a"], [None]]))

    assert tables.told({"do": "split", "by": "{0} {x}", "file": "x.xlsx", "empty": "{1}"}) == [
        "passed: 2 rows, each in the part of its {0} {x}",
        "told: 1 of 2 rows has no {0} {x} and is in the part {1}",
    ]


@pytest.mark.parametrize(
    ("check", "said"),
    [
        ({"check": "unique", "table": "tt", "columns": ["n"]},
         'check 1 (unique): there is no table "tt"; did you mean "t"?'),
        ({"check": "unique", "table": "t", "columns": ["regoin"]}, 'did you mean "Region"?'),
        ({"check": "row_count", "table": "t", "same_as": "x"}, 'there is no table "x"'),
        ({"check": "holds", "table": "t", "condition": "n +"}, "check 1 (holds): character 4 of"),
        ({"check": "sums_agree", "table": "t", "column": "Region", "other_table": "t",
          "other_column": "n"}, 'column "Region" is a text, of which there is no sum'),
    ],
)  # fmt: skip
def test_checks_of_what_is_not_there_are_refused(
    tables: JobTables, check: Mapping[str, Any], said: str
) -> None:
    """A check that names a table or column that is not there says so, with its number."""
    with pytest.raises(ValidationFailed) as caught:
        tables.told({"do": "report"}, checks=[check])

    assert said in caught.value.message


def test_tables_without_rows_pass() -> None:
    """Of nothing everything adds up."""
    tables = JobTables(t=(COLUMNS, []), p=(PEOPLE, []))
    steps: list[dict[str, Any]] = [
        {"do": "filter", "where": "n > 1"},
        {"do": "group", "by": ["Region"], "figures": FIGURES},
        {"do": "pivot", "of": "t", "rows": ["n"], "column": "Region", "figure": FIGURES[0]},
        {"do": "join", "of": "t", "other": "p", "on": {"Region": "Area"}},
        {"do": "deduplicate"}, {"do": "share", "column": "Amount", "name": "s"},
        {"do": "split", "by": "Region", "file": "x.xlsx"},
    ]  # fmt: skip
    found = tables.judgments(job(*steps, inputs=["t", "p"]))

    assert {"passed", "told"} == {each.outcome for each in found}
    assert [each.text for each in found if each.outcome == "told"] == [
        "1 whole is 0 or has no Amount, and no shares"
    ]


def test_one_statement_answers_all_but_of_the_longest_jobs() -> None:
    """Steps by the hundred, with long names, are asked in statements that are taken each."""
    tables = JobTables(t=({"a" * 200: "integer"}, [[1], [2]]))
    steps = [{"do": "filter", "where": f"{'a' * 200} > 0", "of": "t"} for _ in range(150)]
    asked = job(*steps)
    plan = plan_checks(tables.compiled(asked))

    assert len(plan.statements) > 1
    assert all(len(sql) <= 100_000 for sql in plan.statements)
    assert len(tables.judgments(asked)) == 150
    assert len(plan_checks(tables.compiled(job(*steps[:20]))).statements) == 1


def test_checks_without_all_answers_are_no_checks() -> None:
    """A question that has no answer is an error, not a check that held."""
    tables = JobTables(t=(COLUMNS, ROWS))
    plan = plan_checks(tables.compiled(job({"do": "sort", "by": [{"column": "n"}]})))

    with pytest.raises(ValidationFailed, match="the checks were not all answered"):
        judge_checks(plan, [[1, "5"]])


@pytest.mark.parametrize(
    ("rule", "answers", "outcome"),
    [
        (BalanceRule((), (), "", ""), ["5", "2", "3"], "passed"),
        (BalanceRule((), (), "", ""), ["5", "2", "2"], "failed"),
        (BalanceRule((), (), "", ""), [str(2**70), str(2**70), "1"], "failed"),
        (AgreeRule((), (), "", ""), ["0.3", "0.30000000000000004", "0.3", "1"], "passed"),
        (AgreeRule((), (), "", ""), ["1e+20", "100000000000000000000", "1e20", "0"], "passed"),
        (AgreeRule((), (), "", ""), ["0.3", "0.31", "0.3", "1"], "failed"),
        (AgreeRule((), (), "", ""), [None, None, None, "0"], "passed"),
        (AgreeRule((), (), "", ""), [None, "0.01", "0.01", "0"], "failed"),
        (AgreeRule((), (), "", "", 0.5), ["1", "1.5", "2.5", "0"], "passed"),
        (AgreeRule((), (), "", ""), [str(2**60), str(2**60 + 10**7), str(2**60), "0"], "failed"),
        (NoneRule((), (), "", ""), ["0", None], "passed"),
        (NoneRule((), (), "", ""), ["1", "x"], "failed"),
        (NoneRule((), (), "", "", "told"), ["1", "x"], "told"),
        (NoteRule((), (), "{0}"), ["1"], "told"),
        (RangeRule((), (), "", ""), ["0"], "passed"),
        (RangeRule((), (), "", "", 1), ["0"], "failed"),
        (RangeRule((), (), "", "", 0, 1), ["2"], "failed"),
        (RangeRule((), (), "", ""), ["2", "2"], "passed"),
        (RangeRule((), (), "", ""), ["2", "3"], "failed"),
    ],
)  # fmt: skip
def test_rules_judge_their_answers(rule: Any, answers: list[str | None], outcome: str) -> None:
    """A rule is broken by the least difference that is one, and by none that rounding makes."""
    found = judged(rule, answers)

    assert found is not None
    assert outcome == found[0]


def test_a_note_on_nothing_is_none() -> None:
    """What concerns no row is not told."""
    assert judged(NoteRule((), (), "{0}"), ["0"]) is None
    assert judged(
        NoteRule((), (), "{0} and {1} and {2}"), [str(Decimal("1234.50")), "x", None]
    ) == ("told", "1,234.5 and x and nothing")


@pytest.mark.parametrize(
    ("rows", "is_refused"),
    [
        ([["North", 1.0, 2], ["South", 2.0, 3], [None, 3.0, None]], True),
        ([["North", 1.0, 2], ["South", 2.0, 3], ["", 1.5, None]], False),
        ([["North", 1.0, 2], [None, 2.0, 3], [None, 3.0, None]], False),
        ([[None, 1.0, 2], ["South", 2.0, 3], ["North", 3.0, None]], False),
        ([["North", 1.0, 2], [None, 3.0, None]], False),
    ],
)
def test_a_last_row_of_figures_alone_stops_a_recipe(rows: list[Any], is_refused: bool) -> None:
    """It may sum the others up, or be their average; a job by itself takes it as a row."""
    tables, count = JobTables(t=(COLUMNS, rows)), {"do": "group", "figures": FIGURES}
    asked = job(count)
    inputs = tuple(msgspec.structs.replace(each, doubts="refuse") for each in asked.inputs)

    found = tables.judgments(msgspec.structs.replace(asked, inputs=inputs))

    failed = [each.text for each in found if each.outcome == "failed"]
    text = "the last row of t has figures alone, unlike all others, and may sum them up"
    assert failed == ([text] if is_refused else [])
    assert "failed" not in {each.outcome for each in tables.judgments(asked)}
