"""Names of columns that are written in full, whatever their words mean otherwise; proposals."""

from datetime import date

import msgspec
import pytest

from kbd.jobs.records import FilterStep, GroupStep, Job, SelectStep, SortStep, TopStep
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.request import Declined, Question, Reading, Understood, read_request

TODAY = date(2026, 11, 30)
ROWS = 60
HIGH, LOW, MEAN = "maximum_temperature", "minimum_temperature", "average_temperature"


def number(name: str) -> KnownColumn:
    """Return a column of amounts."""
    return KnownColumn(name, "float", "", ROWS, 40, minimum="1", maximum="900")


DAY = KnownColumn("date", "date", "", ROWS, ROWS, minimum="2024-01-02", maximum="2024-12-20")
WEATHER = KnownTable(
    "weather.csv", "", (DAY, number(HIGH), number(LOW), number(MEAN), number("snow_fall")), ROWS
)
SHOP = KnownColumn("Shop", "string", "", ROWS, 2, {"Ely": 20, "Ware": 40}, is_listed=True)
SALES = KnownTable("sales.csv", "", (DAY, SHOP, number("Amount"), number("Total Amount")), ROWS)


def read(request: str, table: KnownTable) -> Reading:
    """Return what a request asks of a table."""
    return read_request(request, [table], (table.path,), TODAY)


def job_of(request: str, table: KnownTable) -> Job:
    """Return the job of a request that must be understood."""
    found = read(request, table)
    assert isinstance(found, Understood), (request, found)
    return found.job


def ranked_by(job: Job) -> tuple[str, bool]:
    """Return by what rows are ranked, and whether the greatest come first."""
    ((key,),) = [step.by for step in job.steps if isinstance(step, TopStep)]
    return key.column, key.descending


@pytest.mark.parametrize("name", [HIGH, "Maximum_Temperature", "Maximum Temperature", f'"{HIGH}"'])
def test_a_word_within_a_name_means_nothing_else(name: str) -> None:
    """Of three columns of temperatures the one that is named is ranked, chosen by and shown."""
    assert ranked_by(job_of(f"top 5 rows by {name}", WEATHER)) == (HIGH, True)
    for request in (f"rows where {name} over 90", f"days with {name} over 90"):
        (kept,) = [s for s in job_of(request, WEATHER).steps if isinstance(s, FilterStep)]
        assert kept.where == f"{HIGH} > 90"
    (shown,) = [s for s in job_of(f"show date and {name}", WEATHER).steps
                if isinstance(s, SelectStep)]  # fmt: skip
    assert shown.columns == ("date", HIGH)


@pytest.mark.parametrize(
    ("request_text", "function", "column"),
    [
        ("average temperature by month", "average", MEAN),
        ("what is the maximum temperature?", "maximum", HIGH),
        ("minimum temperature in March 2024", "minimum", LOW),
        ("average maximum temperature by month", "average", HIGH),
        ("highest minimum_temperature", "maximum", LOW),
    ],
)
def test_a_figure_is_of_the_column_that_is_called_so(
    request_text: str, function: str, column: str
) -> None:
    """A name that says a figure as well is both; before it another figure may stand."""
    (group,) = [s for s in job_of(request_text, WEATHER).steps if isinstance(s, GroupStep)]
    assert [(one.function, one.column) for one in group.figures] == [(function, column)]


def test_a_temperature_that_may_be_any_is_asked_about() -> None:
    """What all three have in their names tells none of them apart."""
    for request in ("top 5 rows by temperature", "maximum of temperature", "highest temperature"):
        found = read(request, WEATHER)
        assert isinstance(found, Question), found
        assert len(found.options) == 3


@pytest.mark.parametrize(
    "request_text",
    ["total amount by Shop", "total amount", "Total Amount by Shop", "top 2 Shop by total amount",
     "shop with the highest total amount"],
)  # fmt: skip
def test_a_name_that_is_a_figure_of_another_is_asked_about(request_text: str) -> None:
    """The total amount may be that column, or the total of the column Amount."""
    found = read(request_text, SALES)

    assert isinstance(found, Question), found
    columns: set[tuple[str, str | None]] = set()
    for option in found.options:
        (group,) = [s for s in job_of(option, SALES).steps if isinstance(s, GroupStep)]
        columns.update((one.function, one.column) for one in group.figures)
    assert columns == {("sum", "Amount"), ("sum", "Total Amount")}


@pytest.mark.parametrize(
    ("request_text", "function"),
    [("average total amount by Shop", "average"), ("highest total amount", "maximum"),
     ("sum of Total Amount by Shop", "sum")],
)  # fmt: skip
def test_a_figure_of_a_name_that_has_one(request_text: str, function: str) -> None:
    """Behind another figure the whole name is the column's, and not the shorter one's."""
    (group,) = [s for s in job_of(request_text, SALES).steps if isinstance(s, GroupStep)]
    assert [(one.function, one.column) for one in group.figures] == [(function, "Total Amount")]


def test_a_count_may_be_of_rows_or_that_column() -> None:
    """Where a column is called Count, which of both is asked, and either answer is understood."""
    table = KnownTable("cities.csv", "", (SHOP, number("Count"), number("Fee")), ROWS)
    figures = []
    for request in ("count by Shop", "count"):
        found = read(request, table)
        assert isinstance(found, Question), found
        for option in found.options:
            (group,) = [s for s in job_of(option, table).steps if isinstance(s, GroupStep)]
            figures += [(one.function, one.column) for one in group.figures]
    assert figures == [("count", None), ("sum", "Count")] * 2
    for request in ("count rows by Shop", "number of rows by Shop", 'total "Count" by Shop'):
        job_of(request, table)


def test_rows_by_the_highest_or_lowest_of_a_column() -> None:
    """Single rows have one temperature: the first ones by the lowest are the coldest."""
    for what in ("rows", "days"):
        highest = job_of(f'top 5 {what} by the highest "{HIGH}"', WEATHER)
        lowest = job_of(f"top 5 {what} by the lowest {LOW}", WEATHER)
        assert (ranked_by(highest), ranked_by(lowest)) == ((HIGH, True), (LOW, False))
    assert isinstance(read("top 2 Shop by lowest amount", SALES), Question)


@pytest.mark.parametrize(
    ("behind", "order"),
    [
        ("sorted", []),
        ("sorted descending", []),
        (f"sorted by {HIGH}", []),
        ("sorted ascending", [(HIGH, False)]),
        ("sorted by date", [("date", False)]),
        (f"sorted by {LOW} descending", [(LOW, True)]),
    ],
)
def test_the_first_rows_are_sorted_as_asked(behind: str, order: list[tuple[str, bool]]) -> None:
    """An order behind a ranking is carried out and told, and one that it has already is none."""
    found = read(f"top 5 rows by {HIGH}, {behind}", WEATHER)

    assert isinstance(found, Understood), found
    steps = [step for step in found.job.steps if isinstance(step, TopStep | SortStep)]
    assert isinstance(steps[0], TopStep)
    sorts = [(key.column, key.descending) for step in steps[1:] for key in step.by]
    assert sorts == order
    assert ("sorted" in found.words) == bool(order)


@pytest.mark.parametrize(
    ("request_text", "column", "descending"),
    [
        ("sorted by Shop, first 5 rows", "Shop", False),
        ("first 5 rows sorted by Shop", "Shop", False),
        ("top 5 rows sorted by Shop", "Shop", False),
        ("sorted by Shop descending, first 5 rows", "Shop", True),
        ("sorted by date, first 5 rows", "date", False),
        ("sorted by Amount, first 5 rows", "Amount", False),
        ("top 5 rows sorted by Amount", "Amount", True),
    ],
)
def test_the_first_rows_of_an_order(request_text: str, column: str, descending: bool) -> None:
    """An order rises where it says no way; only the top ones of an amount are the greatest."""
    assert ranked_by(job_of(request_text, SALES)) == (column, descending)


def test_an_order_of_nothing_is_declined() -> None:
    """Only what is ranked has an order of its own."""
    found = read("show date and snow_fall, sorted", WEATHER)
    assert isinstance(found, Declined), found
    assert found.reason == "it does not say what to sort by"


def test_the_largest_order_is_no_count() -> None:
    """A word for the rows that a column's name has as well is not ranked by that."""
    count = msgspec.structs.replace(number("Order Count"), type="integer")
    table = KnownTable("orders.csv", "", (DAY, number("Amount"), count, number("Fee")), ROWS)
    for request in ("largest order", "the highest order"):
        found = read(request, table)
        assert isinstance(found, Question), found
        assert found.text == "it does not say what is ranked by"


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("request_text", "table"),
    [
        ("top 5 rows by temperature", WEATHER),
        ("top 5 by max temperature", WEATHER),
        ("rows where temperature over 90", WEATHER),
        ("bottom 5 rows by lowest snow_fall", WEATHER),
        ("maximum and minimum temperature by month", WEATHER),
        ("top 5 rows by total amount", SALES),
        ("top 2 Shop by lowest amount", SALES),
        ("best temperature", WEATHER),
    ],
)
def test_proposals_can_be_answered(request_text: str, table: KnownTable) -> None:
    """What is proposed is understood, or asks for something else until it is."""

    def is_answered(request: str, depth: int) -> bool:
        match read(request, table):
            case Understood():
                return True
            case Question(_, options):
                return depth > 0 and any(is_answered(one, depth - 1) for one in options)
            case Declined():
                return False

    match read(request_text, table):
        case Question(_, options) | Declined(_, options):
            assert all(is_answered(one, 2) for one in options)
        case Understood():
            pytest.fail("it is understood, and proposes nothing")
