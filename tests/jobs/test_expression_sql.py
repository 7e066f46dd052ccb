"""Expressions as SQL: the meaning of operators, with empty values, and types that do not fit."""

import itertools
from datetime import date, datetime
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from job_tables import TODAY, JobTables
from kbd.errors import ValidationFailed
from kbd.jobs.columns import ShapeColumn
from kbd.jobs.expression_sql import condition_sql, expression_sql, type_of
from kbd.jobs.terms import ColumnTerm, LiteralTerm, render

COLUMNS = {
    "select": "string", 'a"b': "integer", "Net amount": "float", "Due": "date", "At": "datetime",
    "Paid": "boolean", "Nothing": "float", "Größe": "integer", "it's": "string",
}  # fmt: skip
ROW = [
    "It's", 7, 0.1 + 0.2, date(2024, 3, 31),
    datetime.fromisoformat("2024-03-31 18:00"), True, None, 3, " ",
]  # fmt: skip


@pytest.fixture(scope="module")
def tables() -> JobTables:
    """A table of one row with odd names."""
    return JobTables(t=(COLUMNS, [ROW]))


def value_of(tables: JobTables, expression: str) -> Any:
    """What an expression gives of the row."""
    found = expression_sql(expression, tables.given["t"].columns, TODAY)
    return tables.ask(f"SELECT {found.sql} FROM t")[0][0]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("1 / 2", 0.5),
        ("7 / 7 * 3", 3.0),
        ("1 / 0", None),
        ("5 % 0", None),
        ("5.5 % 0", None),
        ("-7 % 3", -1),
        ('"a""b" / (Größe - 3)', None),
        ("1000000 * 1000000 * 1000", 10**15),
        ("0.1 + 0.2 = 0.3", True),
        ("Nothing = 1", None),
        ("Nothing <> 1", None),
        ("not Nothing = 1", None),
        ("Nothing = 1 or Paid", True),
        ("Nothing = 1 and Paid", None),
        ("Nothing = 1 and not Paid", False),
        ("Nothing in (1, 2)", None),
        ("Nothing is empty", True),
        ("Nothing is not null", False),
        ('"it\'s" is empty', True),
        ('"it\'s" is null', False),
        ('"it\'s" is not empty', False),
        ("\"select\" = 'It''s'", True),
        ("\"select\" = 'it''s'", False),
        ("\"SELECT\" in ('x', 'It''s')", True),
        ("größe not in (1, 2)", True),
        ('"a""b" between 7 and 8', True),
        ('"a""b" not between 7 and 8', False),
        ('"net amount" > 0.3', True),
        ("Due = '2024-03-31'", True),
        ("Due <= '2024-03-30'", False),
        ("Due in ('2024-03-30', date '2024-03-31')", True),
        ("At <= date '2024-03-31'", True),
        ("At = Due", True),
        ("At between '2024-03-01' and '2024-03-31'", True),
        ("At > datetime '2024-03-31 17:59'", True),
        ("At < '2024-03-31 17:59'", False),
        ("At in ('2024-03-31')", True),
        ("Due between '2024-03-01' and '2024-03-15'", False),
        ("Paid", True),
        ("Paid = false", False),
        ('-("a""b")', -7),
        ("case when Nothing > 0 then 1 when Paid then 2.5 end", 2.5),
        ("case when not Paid then 1 end", None),
        ("case when Paid then Due else At end", datetime.fromisoformat("2024-03-31 00:00")),
    ],
)
def test_operators_mean_what_they_do_in_sql(tables: JobTables, expression: str, value: Any) -> None:
    """Empty values make conditions neither true nor false, dates compare by day, 1/2 is a half."""
    found = value_of(tables, expression)

    assert value == (float(found) if isinstance(value, float) else found)


DATABASE = duckdb.connect(config={"threads": 1})

TRUTHS = {"true": True, "false": False, "Nothing = 1": None}


@pytest.mark.parametrize(("one", "other"), list(itertools.product(TRUTHS, TRUTHS)))
def test_and_and_or_have_three_values(tables: JobTables, one: str, other: str) -> None:
    """Both are the least and the greatest of false, unknown and true."""
    order = [False, None, True]
    values = [order.index(TRUTHS[one]), order.index(TRUTHS[other])]

    assert order[min(values)] == value_of(tables, f"{one} and {other}")
    assert order[max(values)] == value_of(tables, f"{one} or {other}")


TEXTS = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=12)


@given(name=TEXTS, value=TEXTS)
def test_no_text_ends_its_quotes(name: str, value: str) -> None:
    """Whatever a column is called and a text holds, each comes back as itself."""
    hostile_name, hostile = f'{name}"; DROP TABLE t; --', f"{value}'; DROP TABLE t; --"
    tables = JobTables(DATABASE, t=({hostile_name: "string"}, [[hostile]]))
    text = f"{render(ColumnTerm(hostile_name))} = {render(LiteralTerm(hostile))}"
    condition = condition_sql(text, tables.given["t"].columns, TODAY)

    assert tables.ask(f"SELECT count(*) FROM t WHERE {condition}") == [(1,)]


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ('"select" + 1', "a text cannot be added; number(text) makes a number of it"),
        ("Due - 1", "a date cannot be subtracted; add_days(date, days)"),
        ("Paid * 2", "true or false cannot be multiplied; if(condition, 1, 0)"),
        ('"select" = 1', "a text is compared with a number; number(text) makes a number"),
        ("Due = 2024", "a date is compared with a number; year(date)"),
        ('Due > "select"', "a date is compared with a text; date_of(text)"),
        ("Due > '31.3.2024'", "'31.3.2024' is no date; write it as '2024-01-31'"),
        ("Größe in (1, 'a')", "a number is compared with a text"),
        ("Größe = null", "null is equal to nothing; write is empty"),
        ("not Größe", "a number is no condition; compare it"),
        ("Größe and Paid", "a number is no condition; compare it"),
        ("Grüße = 1", 'there is no column "Grüße"; did you mean "Größe"?'),
        ("case when Paid then 1 else 'x' end", "a text and a number are in one column"),
        ("Größe", "the condition is a number, not true or false"),
    ],
)
def test_types_that_do_not_fit_are_refused(tables: JobTables, expression: str, said: str) -> None:
    """A type error says what is what, and what makes it fit."""
    with pytest.raises(ValidationFailed) as caught:
        condition_sql(expression, tables.given["t"].columns, TODAY)

    assert said in caught.value.message


def test_names_that_differ_in_capitals_alone_are_told_apart() -> None:
    """Capitals count where two columns differ in nothing else; any other spelling is refused."""
    columns = (ShapeColumn("Id", "string"), ShapeColumn("ID", "integer"))

    assert type_of("ID", columns) == "integer"
    assert type_of('"Id"', columns) == "string"
    with pytest.raises(ValidationFailed, match='"id" may be "Id" and "ID"'):
        type_of("id", columns)


def test_calls_in_calls_stay_bounded() -> None:
    """Functions that need an argument twice do not grow without end in each other."""
    columns = (ShapeColumn("a", "float"),)
    text = "a"
    for _ in range(20):
        text = f"text(number({text}), 1)" if text != "a" else "text(a, 1)"

    with pytest.raises(ValidationFailed, match="it is too involved; derive columns of its parts"):
        expression_sql(text, columns, TODAY)


def test_a_column_that_a_pivot_may_make_is_let_through() -> None:
    """In a table that is open an unknown column is of any type; in others it is refused."""
    found = expression_sql('"2024" + 1', (), TODAY, is_open=True)

    assert found.type == "any"
    with pytest.raises(ValidationFailed, match="there is no column"):
        expression_sql('"2024" + 1', (), TODAY)
