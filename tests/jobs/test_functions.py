"""Functions of expressions: what each gives, in a real DuckDB."""

from datetime import date, datetime
from typing import Any

import pytest

from job_tables import TODAY, JobTables
from kbd.errors import ValidationFailed
from kbd.jobs.expression_sql import expression_sql, type_of
from kbd.jobs.functions import FUNCTIONS

ROW: dict[str, tuple[str, Any]] = {
    "Name": ("string", " A\u0308pfel GmbH "), "Blank": ("string", "  "), "None": ("string", None),
    "Code": ("string", "12.50"), "Day": ("date", date(2024, 1, 31)),
    "At": ("datetime", datetime.fromisoformat("2024-12-30 23:30")),
    "Born": ("date", date(2000, 2, 29)),
    "Count": ("integer", 7), "Amount": ("float", 2.675), "Exact": ("decimal", "1234567890.10"),
    "Nothing": ("float", None), "Paid": ("boolean", True), "Big": ("integer", 2**53 + 1),
    "NoDay": ("date", None),
}  # fmt: skip

CASES: list[tuple[str, Any]] = [
    ("if(Amount > 2, 'big', 'small')", "big"),
    ("if(Nothing > 2, 'big', 'small')", "small"),
    ("if(Nothing > 2, 'big')", None),
    ("coalesce(Nothing, Amount, 0)", 2.675),
    ("min_of(Count, Amount, Nothing)", 2.675),
    ("max_of(Day, Born, NoDay)", date(2024, 1, 31)),
    ("today()", TODAY),
    ("year(Day)", 2024),
    ("year('2023-05-01')", 2023),
    ("quarter(At)", 4),
    ("month(Day)", 1),
    ("week(At)", 1),
    ("day(Day)", 31),
    ("weekday(date '2024-01-29')", 1),
    ("weekday(date '2024-02-04')", 7),
    ("hour(At)", 23),
    ("hour(Day)", 0),
    ("month_of(Day)", "2024-01"),
    ("quarter_of(Day)", "2024-Q1"),
    ("week_of(At)", "2025-W01"),
    ("month_name(Day)", "January"),
    ("weekday_name(Day)", "Wednesday"),
    ("fiscal_year(Day, 1)", 2024),
    ("fiscal_year(date '2024-03-31', 4)", 2024),
    ("fiscal_year(date '2024-04-01', 4)", 2025),
    ("fiscal_year(date '2024-12-31', 12)", 2025),
    ("fiscal_year(At, 10)", 2025),
    ("date_of(At)", date(2024, 12, 30)),
    ("date_of(' 2024-02-29 10:00')", date(2024, 2, 29)),
    ("date_of('2023-02-29')", None),
    ("date_of('infinity')", None),
    ("date_of(2024, 2, 29)", date(2024, 2, 29)),
    ("date_of(2023, 2, 29)", None),
    ("date_of(2024, 3)", date(2024, 3, 1)),
    ("start_of_month(At)", date(2024, 12, 1)),
    ("end_of_month(Born)", date(2000, 2, 29)),
    ("add_days(Day, 1)", date(2024, 2, 1)),
    ("add_days(At, -1)", datetime.fromisoformat("2024-12-29 23:30")),
    ("add_months(Day, 1)", date(2024, 2, 29)),
    ("add_months(Day, -11)", date(2023, 2, 28)),
    ("days_between(Born, Day)", (date(2024, 1, 31) - date(2000, 2, 29)).days),
    ("days_between(At, Day)", -334),
    ("months_between(date '2024-01-31', date '2024-03-30')", 1),
    ("years_between(Born, date '2024-02-28')", 23),
    ("years_between(Born, date '2024-02-29')", 24),
    ("lower('\u00c4B')", "\u00e4b"),
    ("upper('\u00e4b')", "\u00c4B"),
    ("trim('\u00a0\t a b\n')", "a b"),
    ("fold(Name)", "\u00e4pfel gmbh"),
    ("same(Name, '\u00c4PFEL gmbh')", True),
    ("same(Name, None)", None),
    ("length('A\u0308b')", 2),
    ("left('A\u0308bc', 2)", "\u00c4b"),
    ("left('abc', -1)", ""),
    ("right('abc', 2)", "bc"),
    ("right('abc', -1)", ""),
    ("substring('abcdef', 2, 3)", "bcd"),
    ("substring('abcdef', 3)", "cdef"),
    ("substring('abcdef', -2, 2)", "ab"),
    ("replace('a-b-c', '-', '')", "abc"),
    ("contains(Name, '\u00c4pfel')", True),
    ("contains(Name, 'gmbh')", False),
    ("starts_with('abc', 'ab')", True),
    ("ends_with('abc', 'bc')", True),
    ("concat('a', None, 1, '-', 2.50, Day)", "a1-2.52024-01-31"),
    ("'Q' || quarter(Day)", "Q1"),
    ("'a' || None", None),
    ("text(Exact)", "1234567890.1"),
    ("text(Amount)", "2.675"),
    ("text(3.00)", "3"),
    ("text(100)", "100"),
    ("text(Big)", "9007199254740993"),
    ("text(Amount, 2)", "2.68"),
    ("text(Count, 2)", "7.00"),
    ("text(0.1 + 0.2)", "0.3"),
    ("text(Day)", "2024-01-31"),
    ("text(Paid)", "true"),
    ("number(Code)", 12.5),
    ("number(' -3 ')", -3.0),
    ("number('1,5')", None),
    ("number('1e5')", None),
    ("number('nan')", None),
    ("number('1234567890123456')", None),
    ("round(Amount, 2)", 2.68),
    ("round(1.005, 2)", 1.01),
    ("round(-2.5)", -3),
    ("round(2.4)", 2),
    ("round(1234.5, -2)", 1200.0),
    ("round(Exact * 1.19, 2)", 1469135789.22),
    ("floor(-2.5)", -3),
    ("ceil(Amount)", 3),
    ("abs(-2.5)", 2.5),
    ("abs(-2)", 2),
    ("sign(-0.1)", -1),
]


@pytest.fixture(scope="module")
def tables() -> JobTables:
    """A table of one row."""
    columns = {name: kind for name, (kind, _) in ROW.items()}
    return JobTables(t=(columns, [[value for _, value in ROW.values()]]))


def value_of(tables: JobTables, expression: str) -> Any:
    """What an expression gives of the row."""
    found = expression_sql(expression, tables.given["t"].columns, TODAY)
    return tables.ask(f"SELECT {found.sql} FROM t")[0][0]


@pytest.mark.parametrize(("expression", "value"), CASES)
def test_functions_give_what_they_say(tables: JobTables, expression: str, value: Any) -> None:
    """Each function gives the value that its words promise, of the type that is told."""
    found = value_of(tables, expression)

    if isinstance(value, float):
        assert pytest.approx(value, rel=1e-15) == float(found)
    else:
        assert value == found
    if value is not None:
        kinds = {bool: "boolean", int: "integer", float: "float", str: "string", date: "date"}
        kind = kinds.get(type(value), "datetime")
        assert kind == type_of(expression, tables.given["t"].columns)


@pytest.mark.parametrize(("expression", "value"), CASES)
def test_functions_of_nothing_are_whole_statements(
    tables: JobTables, expression: str, value: Any
) -> None:
    """In a table without rows each of these runs as well."""
    found = expression_sql(expression, tables.given["t"].columns, TODAY)

    assert tables.ask(f"SELECT {found.sql} FROM t WHERE Count < 0") == [], value


def test_each_function_is_tried() -> None:
    """No function is without an example here."""
    tried = {name for name in FUNCTIONS for text, _ in CASES if f"{name}(" in text}

    assert set(FUNCTIONS) == tried


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("year(Name)", "year takes a date as date, not a text; date_of(text) makes a date"),
        ("year('x')", "'x' is no date; write it as '2024-01-31'"),
        ("add_days(Day, Amount)", "days, not a fraction; round(number) makes it whole"),
        ("round(Name)", "round takes a number as number, not a text; number(text)"),
        ("lower(Count)", "lower takes a text as text, not a number; number(text) makes a number"),
        ("if(Count, 1, 2)", "if takes true or false as condition, not a number"),
        ("coalesce(Name, 0)", "a number and a text are in one column; make them alike"),
        ("fiscal_year(Day, 13)", "the first month of a fiscal year is written out, as 1 to 12"),
        ("fiscal_year(Day, Count)", "the first month of a fiscal year is written out"),
    ],
)
def test_arguments_of_another_type_are_refused(
    tables: JobTables, expression: str, said: str
) -> None:
    """An argument that a function cannot take is refused, with what makes one that it can."""
    with pytest.raises(ValidationFailed) as caught:
        value_of(tables, expression)

    assert said in caught.value.message
