"""Provenance of literals: each is traced to the request or the language, or is refused."""

from decimal import Decimal
from typing import Any

import pytest

from job_tables import job
from kbd.jobs.recipes.facts import ColumnFacts, InputFacts, KnownFigure, LearnedFacts
from kbd.jobs.recipes.generalization import Generalized, generalize

SHOPS = ("North", "South", "East", "West", "Center")
COLUMNS = (
    ColumnFacts("Shop", "string", SHOPS, 5),
    ColumnFacts(
        "Amount", "float", ("10.5", "20"), 12,
        (KnownFigure(Decimal("340.5"), "the sum of Amount in t.csv"),),
    ),
    ColumnFacts("Date", "date", ("2024-03-05", "2024-04-06"), 9),
    ColumnFacts("Status", "string", ("paid", "open", "cancelled", "A"), 4),
    ColumnFacts("Paid", "boolean", ("true", "false"), 2),
    ColumnFacts("Level", "integer", ("0", "1", "2"), 3),
)  # fmt: skip
FACTS = LearnedFacts(
    (InputFacts("t", "t.csv", COLUMNS, row_count=23),),
    (KnownFigure(Decimal("77.25"), "the total of North that the run told"),),
)


def learned(request: str, *steps: Any, agreed: tuple[str, ...] = (), **more: Any) -> Generalized:
    """A job of steps over the table of shops, for other files."""
    return generalize(job(*steps, **more), request, FACTS, agreed)


def where(request: str, condition: str, agreed: tuple[str, ...] = ()) -> Generalized:
    """A filter for other files."""
    return learned(request, {"do": "filter", "where": condition}, agreed=agreed)


@pytest.mark.parametrize(
    ("request_text", "condition"),
    [
        ("only cancelled ones", "same(Status, 'cancelled')"),
        ("all but CANCELLED", "Status is empty or Status <> 'cancelled'"),
        ("orders over 1,000", "Amount > 1000"),
        ("expenses", "Amount < 0"),
        ("between 10.50 and twenty", "Amount between 10.5 and 20"),
        ("only 2024", "Date >= date '2024-01-01' and Date < date '2025-01-01'"),
        ("only 2024", "year(Date) = 2024"),
        ("only March", "month(Date) = 3"),
        ("March to May 2024", "month(Date) in (3, 4, 5) and year(Date) = 2024"),
        ("im März 2024", "month_of(Date) = '2024-03'"),
        ("in Q2", "quarter(Date) = 2"),
        ("only on Mondays", "weekday(Date) = 1"),
        ("nur montags", "weekday_name(Date) = 'Monday'"),
        ("until 31 March 2024", "Date < date '2024-04-01'"),
        ("since 2024-03-03", "Date >= '2024-03-03'"),
        ("the paid ones", "Paid = true"),
        ("names beginning with No", "starts_with(fold(Shop), 'no')"),
        ("last month", "Date >= add_months(start_of_month(today()), -1)"),
        ("last week", "Date > add_days(today(), -7)"),
        ("only Level 2", "Level = 2"),
        ("fiscal year 2024 from April", "fiscal_year(Date, 4) = 2024"),
    ],
)
def test_what_the_request_says_stays(request_text: str, condition: str) -> None:
    """A literal that the words say, in whatever notation, is traced and no reason to refuse."""
    found = where(request_text, condition)

    assert found.refusals == ()
    assert found.provenance


@pytest.mark.parametrize(
    ("request_text", "condition", "value", "reason"),
    [
        ("total by shop", "Shop = 'North'", "'North'", "a value of Shop in t.csv"),
        ("total by shop", "Shop in ('North', 'South')", "'South'", "a value of Shop in t.csv"),
        ("a total by shop", "Status = 'A'", "'A'", "a value of Status in t.csv"),
        ("only unpaid ones", "Status = 'paid'", "'paid'", "a value of Status in t.csv"),
        ("total by shop", "Amount > 5", "5", "the number of different Shop in t.csv"),
        ("total by shop", "Amount > 23", "23", "the number of rows of t.csv"),
        ("total by shop", "Amount > 24", "24", "an offset, one more than the number of rows"),
        ("total by shop", "Amount < 340.50", "340.50", "the sum of Amount in t.csv"),
        ("total by shop", "Amount < -77.25", "-77.25", "the total of North that the run told"),
        ("total by shop", "Amount > 99", "99", "where it comes from is not known"),
        ("total by shop", "Level = 1", "1", "a value of Level in t.csv"),
        ("total by shop", "left(Shop, 8) = Status", "8", "where it comes from is not known"),
        ("only March", "year(Date) = 2024", "2024", "where it comes from is not known"),
        ("only March", "Date = date '2024-03-05'", "date '2024-03-05'", "a value of Date in t.csv"),
        ("last month", "month(Date) = 10", "10", 'the request says "last month"'),
        ("this year", "year(Date) = 2026", "2026", 'the request says "this year"'),
        (
            "last month",
            "Date >= date '2026-10-01'",
            "date '2026-10-01'",
            "hangs on the day of the run",
        ),
        ("last month, March 2024", "month(Date) = 3", "3", "hangs on the day of the run"),
        ("top of sales-2024.csv", "year(Date) = 2024", "2024", "not known"),
    ],
)
def test_what_comes_from_the_data_is_refused(
    request_text: str, condition: str, value: str, reason: str
) -> None:
    """A value, a count, a sum, an offset or the day of the run is named with its source."""
    found = {each.value: each for each in where(request_text, condition).refusals}

    assert found[value].place == "steps[0].where"
    assert reason in found[value].reason


@pytest.mark.parametrize(
    ("request_text", "expression"),
    [
        ("add 19 % VAT", "Amount * 1.19"), ("amount in percent", "Amount * 100"),
        ("the rest", "1 - Amount"), ("rounded", "round(Amount, 2)"), ("initials", "left(Shop, 1)"),
        ("join them", "Shop || ' - ' || Status"), ("without spaces", "replace(Shop, ' ', '')"),
        ("fill the gaps", "coalesce(Amount, 0)"), ("in hours", "Amount / 60"),
        ("in thousands", "Amount / 1000"), ("by year", "date_of(year(Date), 1, 1)"),
        ("money in", "if(Amount > 0, Amount, 0)"),
        ("large if over 100, else small", "case when Amount > 100 then 'large' else 'small' end"),
    ],
)  # fmt: skip
def test_the_language_itself_is_no_constant(request_text: str, expression: str) -> None:
    """Zeros, ones, roundings, factors of units and signs between texts belong to the language."""
    assert learned(request_text, {"do": "derive", "columns": {"New": expression}}).refusals == ()


@pytest.mark.parametrize(
    ("request_text", "expression", "value"),
    [
        ("add VAT", "Amount * 1.19", "1.19"), ("share of each", "Amount * 100", "100"),
        ("share of each", "Amount / 340.5", "340.5"), ("in euros", "Amount / 1000", "1000"),
        ("mark them", "if(Amount > 0, 'good', 'bad')", "'good'"),
        ("the code", "substring(Shop, 4, 2)", "4"), ("cut it", "replace(Shop, 'th', '')", "'th'"),
        ("5% of it", "0.05", "0.05"),
    ],
)  # fmt: skip
def test_the_language_has_no_other_constants(
    request_text: str, expression: str, value: str
) -> None:
    """A factor, an offset or a label that nobody said is refused."""
    found = learned(request_text, {"do": "derive", "columns": {"New": expression}})

    assert value in [each.value for each in found.refusals]


@pytest.mark.parametrize(
    ("request_text", "step", "place"),
    [
        ("total by shop", {"do": "top", "count": 5, "by": [{"column": "Amount"}]}, "count"),
        ("rows", {"do": "top", "count": 1, "by": [{"column": "Amount"}]}, "count"),
        ("tell me", {"do": "report", "rows": 5}, "rows"),
        ("tell me", {"do": "report", "text": "The 5 shops sold 340.50."}, "text"),
        ("tell me", {"do": "report", "text": "What North sold:"}, "text"),
        ("write it", {"do": "write", "file": "summary-2024-05.xlsx"}, "file"),
        ("write it", {"do": "write", "file": "a.xlsx", "sheet": "March"}, "sheet"),
        ("write it", {"do": "write", "file": "a.xlsx", "form": {"title": "23 rows"}}, "form.title"),
        (
            "split it",
            {"do": "split", "by": "Shop", "file": "a.xlsx", "sheet": "{value} 2024"},
            "sheet",
        ),
        (
            "sum",
            {"do": "group", "figures": [{"name": "Sum of 5", "function": "count"}]},
            "figures[0].name",
        ),
        ("rename", {"do": "select", "rename": {"Amount": "Amount of North"}}, "rename.Amount"),
        (
            "mend it",
            {"do": "replace", "files": ["a.docx"], "search": "North", "replacement": ""},
            "search",
        ),
    ],
)
def test_steps_hold_nothing_of_the_data(
    request_text: str, step: dict[str, Any], place: str
) -> None:
    """Counts, names, titles and texts of steps are traced as expressions are."""
    found = learned(request_text, step)

    assert [each.place for each in found.refusals] == [f"steps[0].{place}"]


@pytest.mark.parametrize(
    ("request_text", "step"),
    [
        ("top 5 by amount", {"do": "top", "count": 5, "by": [{"column": "Amount"}]}),
        ("the largest", {"do": "top", "count": 1, "by": [{"column": "Amount"}]}),
        ("write summary-2024.xlsx", {"do": "write", "file": "summary-2024.xlsx"}),
        ("sales of March 2024", {"do": "write", "file": "t-march-2024.xlsx", "sheet": "2024-03"}),
        ("paid ones", {"do": "write", "file": "t-paid.csv", "form": {"title": "Paid by shop"}}),
        ("replace Acme with Beta", {"do": "replace", "files": ["a.docx"], "search": "Acme",
                                    "replacement": "Beta"}),
    ],
)  # fmt: skip
def test_steps_hold_what_the_request_says(request_text: str, step: dict[str, Any]) -> None:
    """Names and counts that the request says stay."""
    assert learned(request_text, step).refusals == ()


def test_columns_of_a_pivot_are_values() -> None:
    """A column that is called like a value is refused unless the request names it."""
    pivot = {"do": "pivot", "rows": ["Status"], "column": "Shop",
             "figure": {"name": "Sum", "function": "sum", "column": "Amount"}}  # fmt: skip
    steps = (pivot, {"do": "derive", "columns": {"Both": "North + South"}},
             {"do": "write", "file": "a.xlsx", "form": {"formats": {"West": "0.00"}}})  # fmt: skip

    refused = learned("shops by status, North too", *steps).refusals

    assert [(each.place, each.value) for each in refused] == [
        ("steps[1].columns.Both", "'South'"), ("steps[2].form.formats.West", "'West'"),
    ]  # fmt: skip
    assert "a value of Shop in t.csv" in refused[0].reason


def test_a_person_agrees_to_values_but_not_to_figures() -> None:
    """What a person agreed to is a constant; a figure of the data is none whatever is agreed."""
    agreed = ("'North'", "1.5", "5", "date '2026-10-01'")

    assert where("total", "Shop = 'North' and Amount > 1.5", agreed).refusals == ()
    kinds = {each.origin for each in where("total", "Shop = 'North'", agreed).provenance}
    assert kinds == {"agreed"}
    assert [each.value for each in where("total", "Amount > 5", agreed).refusals] == ["5"]
    assert not where("total", "Amount > 5").refusals[0].may_agree
    assert not where("last month", "Date > date '2026-10-01'").refusals[0].may_agree
    assert where("total", "Shop = 'North'").refusals[0].may_agree


def test_a_figure_is_said_as_often_as_it_stands() -> None:
    """A number that is a figure of the data, too, stands in no more places than it is said."""
    steps = ({"do": "filter", "where": "Amount > 5"},
             {"do": "top", "count": 5, "by": [{"column": "Amount"}]})  # fmt: skip

    assert len(learned("top 5 by amount", *steps).refusals) == 2
    assert learned("top 5 of those over 5", *steps).refusals == ()


def test_a_factor_that_is_a_figure_is_asked_about() -> None:
    """Of a factor of units that is a figure of the data, too, nobody knows which was meant."""
    facts = LearnedFacts((InputFacts("t", "t.csv", COLUMNS, row_count=7),))
    weekly = job({"do": "derive", "columns": {"Mean": "Amount / 7"}})

    found = generalize(weekly, "the weekly amount by day", facts)

    assert [(each.value, each.may_agree) for each in found.refusals] == [("7", True)]
    assert "the number of rows of t.csv" in found.refusals[0].reason
    assert generalize(weekly, "the weekly amount by day", facts, ["7"]).refusals == ()
    assert generalize(weekly, "the weekly amount by day", FACTS).refusals == ()


def test_checks_hold_no_count_of_the_data() -> None:
    """A limit of a check that is a count is refused; known values are the ones that were known."""
    checks = [
        {"check": "row_count", "table": "t", "maximum": 23},
        {"check": "known_values", "table": "t", "column": "Shop", "values": list(SHOPS)},
        {"check": "holds", "table": "t", "condition": "Amount < 500"},
    ]

    found = learned("total", {"do": "report"}, checks=checks)

    assert [each.place for each in found.refusals] == [
        "checks[0].maximum", "checks[2].condition"
    ]  # fmt: skip
