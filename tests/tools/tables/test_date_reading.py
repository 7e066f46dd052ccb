"""Dates mean what the whole column, the file and the person say, or they are asked about."""

from datetime import date, datetime
from typing import Any

import pytest

from kbd.formats import ReadingOption
from tools.tables.loading import LoadedTable, Loading

at = datetime.fromisoformat

JAN_3, FEB_1, MAR_4 = date(2024, 1, 3), date(2024, 2, 1), date(2024, 3, 4)

WRITTEN: dict[str, tuple[list[str], list[Any]]] = {
    "ISO": (["2024-01-03", "n/a", "2024-03-04"], [JAN_3, None, MAR_4]),
    "slashes": (["2024/1/3", "2024/03/04"], [JAN_3, MAR_4]),
    "points": (["3.1.2024", "04.03.2024"], [JAN_3, MAR_4]),
    "year and points": (["2024.01.03", "2024.03.04"], [JAN_3, MAR_4]),
    "short German": (["03.01.24", "31.12.99"], [JAN_3, date(1999, 12, 31)]),
    "English": (["3 Jan 2024", "4 March 2024", "4th Mar 2024"], [JAN_3, MAR_4, MAR_4]),
    "American": (["Jan 3, 2024", "Mar. 4th, 2024"], [JAN_3, MAR_4]),
    "Oracle": (["03-Jan-24", "04-MAR-24"], [JAN_3, MAR_4]),
    "German": (["3. Januar 2024", "4. März 2024", "3 Mai 2024"],
               [JAN_3, MAR_4, date(2024, 5, 3)]),
    "French": (["3 janvier 2024", "1er février 2024", "4 mars 2024"], [JAN_3, FEB_1, MAR_4]),
    "Spanish": (["3 de enero de 2024", "4 de marzo del 2024"], [JAN_3, MAR_4]),
    "day first": (["03/01/2024", "31/12/2024"], [JAN_3, date(2024, 12, 31)]),
    "hyphens": (["3-1-2024", "31-12-2024"], [JAN_3, date(2024, 12, 31)]),
    "Datum": (["20240103", "20240304"], [JAN_3, MAR_4]),
    "five of eight": (["20240103", "20240304", "20240105", "20240106", "20240107"],
                      [JAN_3, MAR_4]),
    "number": (["20240103", "20240304"], [20240103, 20240304]),
    "times": (["2024-01-03 10:30", "2024-01-03T24:00"],
              [at("2024-01-03 10:30"), at("2024-01-04 00:00")]),
    "German times": (["03.01.2024 10:30:15,5", "3.1.2024, 24:00", "04.03.2024"],
                     [at("2024-01-03 10:30:15.500000"), at("2024-01-04 00:00"),
                      at("2024-03-04 00:00")]),
    "named times": (["3 Jan 2024 10:30", "13 Jan 2024 11:30"],
                    [at("2024-01-03 10:30"), at("2024-01-13 11:30")]),
    "offset": (["2024-01-03T00:30:00+01:00", "2024-03-04 10:00:00+01:00"],
               [at("2024-01-03 00:30"), at("2024-03-04 10:00")]),
    "offsets": (["2024-01-03T00:30:00+01:00", "2024-03-04T10:00:00-0530"],
                [at("2024-01-02 23:30"), at("2024-03-04 15:30")]),
    "an offset and days": (["2024-01-03T00:30:00+01:00", "2024-01-03"],
                           [at("2024-01-03 00:30"), at("2024-01-03 00:00")]),
    "halves and an offset": (["2024-01-03 10:00 PM -05", "2024-01-03 12:10 am -05"],
                             [at("2024-01-03 22:00"), at("2024-01-03 00:10")]),
    "halves and offsets": (["2024-01-03 10:00 PM -05:00", "2024-01-03 10:00 AM +0100"],
                           [at("2024-01-04 03:00"), at("2024-01-03 09:00")]),
}  # fmt: skip
"""Columns of a file that has the day first, with the values that they are."""


def test_dates_of_all_kinds(loading: Loading) -> None:
    """Each column is what a careful person reads; what is not plain is told."""
    table = loading({name: values for name, (values, _) in WRITTEN.items()})
    for name, (_, wanted) in WRITTEN.items():
        assert (name, table.values[name][: len(wanted)]) == (name, wanted)
    assert table.reading.questions == ()
    assert "ISO: read as empty: n/a (1)" in table.warnings
    assert "short German: years of two digits are those from 1969 to 2068" in table.warnings
    kept = "offset: times are kept as written, all of them with the offset +01:00"
    assert kept in table.warnings
    moved = "offsets: times are brought to UTC, for their offsets differ (+01:00, -0530)"
    assert moved in table.warnings


@pytest.mark.full
def test_month_first(loading: Loading) -> None:
    """An American file is read as such, halves of the day included."""
    table = loading(
        {
            "day": ["01/03/2024", "12/31/2024"],
            "at": ["1/3/2024 3:45 PM", "1/3/2024 12:10 AM", "12/31/2024 12:00 pm"],
        }
    )
    assert table.values["day"] == [JAN_3, date(2024, 12, 31)]
    assert table.values["at"] == [
        at("2024-01-03 15:45"),
        at("2024-01-03 00:10"),
        at("2024-12-31 12:00"),
    ]
    assert (table.reading.date_order, table.warnings) == ("mdy", ())


TEXTS = {
    "impossible": ["31.02.2024", "01.01.2024"],
    "two orders": ["31/01/2024", "01/31/2024"],
    "no hour": ["2024-01-31 25:00", "2024-01-31 10:00"],
    "some offsets": ["2024-01-31T10:00:00+01:00", "2024-01-31T10:00:00"],
    "days": ["2024-01-31T10:00+01:00", "2024-01-31T10:00-02:00", "2024-01-07"],
    "version": ["1.2.24", "1.10.12"],
    "sort code": ["40-12-05", "40-11-04"],
    "geboren": ["01.02.45", "13.04.66"],
    "no month": ["3 Foo 2024", "4 Bar 2024"],
    "two ways": ["2024-01-31", "31.01.2024"],
    "ends": ["yes", "no"],
}


def test_what_is_no_date_stays_text(loading: Loading) -> None:
    """A value that is no date keeps its column text and is named with its row."""
    table = loading(TEXTS)
    assert set(table.types.values()) == {"VARCHAR"}
    assert table.values == TEXTS
    told = "\n".join(table.warnings)
    for note in (
        "impossible: kept as text, for this is no date: 31.02.2024 (row 1)",
        "this is no date with the day first, as others are: 01/31/2024 (row 2)",
        "some offsets: some of its times have an offset and others none; kept as text",
        "days: the offsets of its times differ (+01:00, -02:00), and some days have no time; kept",
        "version: 1.2.24 may be a date, or a version or another code; kept as text",
        "sort code: 40-12-05 may be a date, or a code; kept as text",
        "geboren: 01.02.45 may be of either century, for its year has two digits; kept as text",
    ):
        assert note in told


def asked(table: LoadedTable) -> tuple[tuple[str, ...], tuple[ReadingOption, ...]]:
    """Return the columns and options of the one question about dates, which is warned of."""
    (question,) = table.reading.questions
    assert question.about == "date_order"
    assert question.text in table.warnings
    assert {table.types[name] for name in question.columns} == {"VARCHAR"}
    return question.columns, question.options


def test_two_orders_are_asked(loading: Loading) -> None:
    """The question shows a value that the orders read differently, and the days of either."""
    table = loading({"a": ["05/05/2024", "01/02/2024"], "b": ["3/4/2024 10:00"]})
    columns, options = asked(table)
    assert columns == ("a", "b")
    assert options == (
        ReadingOption("dmy", "day first: a goes from 2024-02-01 to 2024-05-05"),
        ReadingOption("mdy", "month first: a goes from 2024-01-02 to 2024-05-05"),
    )
    assert table.reading.questions[0].text == "a, b: is 01/02/2024 2024-02-01 or 2024-01-02?"


@pytest.mark.full
def test_three_orders_are_asked(loading: Loading) -> None:
    """With two digits of the year it may come first, too."""
    _, options = asked(loading({"a": ["01/02/03"]}))
    assert [option.meaning for option in options] == [
        "day first: a is 2003-02-01",
        "month first: a is 2003-01-02",
        "year first: a is 2001-02-03",
    ]


@pytest.mark.full
@pytest.mark.parametrize(("said", "wanted"), [("dmy", FEB_1), ("mdy", date(2024, 1, 2))])
def test_what_is_said_decides_the_order(loading: Loading, said: str, wanted: date) -> None:
    """An answer types the columns that were asked about, and the reading says so."""
    table = loading({"a": ["01/02/2024"]}, date_order=said)
    assert table.values["a"] == [wanted]
    assert (table.reading.date_order, table.reading.questions) == (said, ())
    assert table.warnings == (f"a: 01/02/2024 is {wanted}, as was said",)


@pytest.mark.full
def test_another_column_decides_the_order(loading: Loading) -> None:
    """What one column proves holds for the others, unless a third one proves the contrary."""
    proven = {"a": ["01/02/2024"], "b": ["31/01/2024"]}
    table = loading(proven)
    assert table.values["a"] == [FEB_1]
    assert table.warnings == ("a: 01/02/2024 is 2024-02-01, for b has the day first",)
    assert asked(loading({**proven, "c": ["01/31/2024"]}))[0] == ("a",)


@pytest.mark.full
def test_proof_goes_before_the_order_that_was_said(loading: Loading) -> None:
    """What only one order fits is read so, and the contradiction is told."""
    table = loading({"a": ["31/01/2024"]}, date_order="mdy")
    assert table.values["a"] == [date(2024, 1, 31)]
    assert table.warnings == ("a: 31/01/2024 is 2024-01-31, although month first was said",)


@pytest.mark.full
def test_an_order_that_makes_no_difference_is_not_asked(loading: Loading) -> None:
    """05/05/2024 is one day, and proves nothing for other columns."""
    table = loading({"a": ["05/05/2024"], "b": ["01/02/2024"]})
    assert table.values["a"] == [date(2024, 5, 5)]
    assert asked(table)[0] == ("b",)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (["05/01/2567", "31/12/2566"], ["2566 to 2567"]),
        (["1402-10-15", "1402-12-29"], ["1402"]),
        (["2024-01-05", "9999-12-31"], []),
        (["1402-10-15", "1999-12-29"], []),
    ],
    ids=["Thai", "Persian", "open end", "history"],
)
def test_years_of_other_calendars_are_told(
    loading: Loading, values: list[str], told: list[str]
) -> None:
    """Dates that are of this century by another calendar only are not taken silently for others."""
    found = loading({"when": values}).warnings
    assert [w for w in found if "calendar" in w] == [
        f"when: its years are {years}, as written: those of another calendar are not converted"
        for years in told
    ]
