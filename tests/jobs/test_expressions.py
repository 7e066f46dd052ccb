"""Expressions: how tightly operators bind, and what is said of a text that is none."""

import pytest

from kbd.errors import ValidationFailed
from kbd.jobs.expressions import MAX_DEPTH, parse_expression
from kbd.jobs.terms import JunctionTerm, render


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a or b and c", "a or (b and c)"),
        ("not a = b and c", "(not (a = b)) and c"),
        ("a + b * c", "a + (b * c)"),
        ("a - b - c", "(a - b) - c"),
        ("a / b / c", "(a / b) / c"),
        ("-a * b", "(-a) * b"),
        ("a || b + c", "a || (b + c)"),
        ("a + 1 between b and c + 2 and d", "((a + 1) between b and (c + 2)) and d"),
        ("a NOT IN (1, 2) OR b IS NOT EMPTY", "(a not in (1, 2)) or (b is not empty)"),
        ("a != 1", "a <> 1"),
        ("YEAR(a)", "year(a)"),
    ],
)
def test_operators_bind_as_in_sql(text: str, same: str) -> None:
    """Without brackets the text means what it means in SQL."""
    assert render(parse_expression(same)) == render(parse_expression(text))


def test_a_long_list_of_conditions_is_one_level() -> None:
    """Two hundred conditions joined by one word are no deep nesting."""
    term = parse_expression(" or ".join(f"a = {number}" for number in range(200)))

    assert isinstance(term, JunctionTerm)
    assert len(term.operands) == 200


@pytest.mark.parametrize(
    "text",
    [
        "(" * 2000 + ")" * 2000,
        "(" * 1000 + "a" + ")" * 1000,
        "-" * 3000 + "a",
        "not " * 900 + "a",
        "a" + " + a" * 900,
        "a" + " || a" * 700,
        "coalesce(" * 400 + "a",
        "case when " * 300,
        "a in (" * 500,
        "a between " * 300,
        "a and (" * 400,
        "if(" * 1300,
    ],
)
def test_deep_nesting_is_refused(text: str) -> None:
    """However levels are made, past fifty it is an error of the expression, never a crash."""
    with pytest.raises(ValidationFailed, match=f"more than {MAX_DEPTH} levels|expected|a value"):
        parse_expression(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a >", "at its end: expected a value, found the end"),
        ("a > )", "character 5 of the expression, at ')': expected a value, found )"),
        ("(a", "expected ')', found the end"),
        ("a b", 'a name of several words has double quotes: "a …"'),
        ("a > 1,5", "the decimal mark of expressions is a point"),
        ("1 < a < 5", "a comparison has two sides; join two of them with and"),
        ("a like 'x%'", "like is not known; use contains(text, part)"),
        ("cast(a, b)", "cast is not known; use number(text)"),
        ("sum(a) > 1", "sum is of several rows, and an expression of one"),
        ("yaer(a)", "did you mean year(date)?"),
        ("xyz(a)", "there is no function xyz; there are: if, coalesce"),
        ("year()", "it is written year(date), not with 0 values"),
        ("round(a, 1, 2)", "it is written round(number[, places]), not with 3 values"),
        ("concat()", "it is written concat(value, other, …), not with 0 values"),
        ("a is 1", "expected empty or null, found 1"),
        ("date '31.01.2024'", "is no date such as date '2024-01-31'"),
        ("date '2024-02-30'", "is no date such as date '2024-01-31'"),
        ("datetime 'x'", "is no datetime such as"),
        ("datetime '2024-01-31T10:00Z'", "is no datetime such as"),
        ("empty = 1", "a column of that name has double quotes"),
        ("case a when 1 then 2 end", "expected when, found a"),
        ("case when a then b", "expected 'end', found the end"),
        ("a between 1 or 2", "expected 'and', found or"),
        ("t.a = 1", "expected an operator or the end, found ."),
        ("a not b", "expected an operator or the end, found not"),
    ],
)
def test_errors_tell_place_and_remedy(text: str, said: str) -> None:
    """What is wrong is told with its place, what was expected, and what there is instead."""
    with pytest.raises(ValidationFailed) as caught:
        parse_expression(text)

    assert said in caught.value.message
