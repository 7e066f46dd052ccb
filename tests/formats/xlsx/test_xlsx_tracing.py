"""Places of workbooks, found by what people write and followed from one version to the other."""

from pathlib import Path
from typing import Any

import pytest
from openpyxl.chart import BarChart, Reference

from compared_books import book, compared, table
from kbd.errors import ValidationFailed
from kbd.formats import Place, Source
from kbd_xlsx import XlsxFormat

FORMAT = XlsxFormat()
NEW = ["new", "x", 1, 2]


def _dress(made: Any, sheet: Any) -> None:
    """Give a book a second sheet, with a name that needs quotes, and a chart."""
    made.create_sheet("My data")["B2"] = 5
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=4, min_row=1, max_row=9))
    sheet.add_chart(chart, "H2")


@pytest.fixture
def before(tmp_path: Path) -> Source:
    """A table of 50 rows, a chart, and another sheet."""
    return book(tmp_path / "before.xlsx", table(50), _dress)


@pytest.fixture
def after(tmp_path: Path) -> Source:
    """The same with a row inserted at 6, row 11 gone, and another figure in C21."""
    rows = table(50, (5, NEW))
    del rows[10]
    rows[20][2] = 77
    for number, row in enumerate(rows[1:-1], 2):
        row[4] = f"=C{number}*D{number}"
    rows[-1][2], rows[-1][4] = "=SUM(C2:C51)", "=SUM(E2:E51)"
    return book(tmp_path / "after.xlsx", rows, _dress)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("Data!B7", "Data!B7"),
        ("data!$b$7", "Data!B7"),
        ("'My data'!B2:A1", "My data!A1:B2"),
        ("My data, B2", "My data!B2"),
        ("Data!5:5", "Data!5:5"),
        ("Data, row 5", "Data!5:5"),
        ("Data rows 5-7", "Data!5:7"),
        ("Data!C:C", "Data!C:C"),
        ("Data, column c", "Data!C:C"),
        ("My data", "My data"),
        ("Data, chart Chart 1", "Data, chart Chart 1"),
        ("xl/styles.xml", "xl/styles.xml"),
    ],
)
def test_places_are_found_as_people_write_them(text: str, title: str, before: Source) -> None:
    """And a place's title leads to the same place."""
    place = FORMAT.locate(before, text)

    assert place.title == title
    assert FORMAT.locate(before, title) == place


@pytest.mark.parametrize("text", ["Nowhere!B7", "Data!ZZZZ1", "Data!row x", "", "Data, chart 9"])
def test_what_is_no_place_is_refused_with_how_places_are_written(text: str, before: Source) -> None:
    """Whatever it lacks."""
    with pytest.raises(ValidationFailed, match="write places as"):
        FORMAT.locate(before, text)


def test_a_cell_alone_is_of_the_only_sheet(tmp_path: Path, before: Source) -> None:
    """With several sheets it could be on any."""
    assert FORMAT.locate(book(tmp_path / "one.xlsx", [[1]]), "a1").title == "Data!A1"
    with pytest.raises(ValidationFailed, match="on every sheet"):
        FORMAT.locate(before, "A1")


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("text", "title", "is_changed"),
    [
        ("Data!B3", "Data!B3", False),
        ("Data!B8", "Data!B9", False),
        ("Data!C21", "Data!C21", True),
        ("Data!D21", "Data!D21", False),
        ("Data!21:21", "Data!21:21", True),
        ("Data!A2:B4", "Data!A2:B4", False),
        ("Data!A2:B8", "Data!A2:B9", True),
        ("Data!B10", None, True),
        ("Data!C:C", "Data!C:C", True),
        ("Data", "Data", True),
        ("My data", "My data", False),
        ("My data!B2", "My data!B2", False),
    ],
)
def test_places_are_followed(
    text: str, title: str | None, is_changed: bool, before: Source, after: Source
) -> None:
    """Through rows that were inserted and removed; a row that is gone is nowhere."""
    (trace,) = FORMAT.trace(before, after, (FORMAT.locate(before, text),), forward=True)

    assert (trace.place and trace.place.title, trace.is_changed) == (title, is_changed)


def test_places_lead_back(before: Source, after: Source) -> None:
    """What was followed forward is found again backward; a new row was nowhere."""
    places = tuple(FORMAT.locate(before, text) for text in ("Data!B3", "Data!B8", "Data!E40"))
    there = [trace.place for trace in FORMAT.trace(before, after, places, forward=True)]
    assert None not in there
    back = FORMAT.trace(before, after, tuple(filter(None, there)), forward=False)

    assert tuple(trace.place for trace in back) == places
    (new,) = FORMAT.trace(before, after, (FORMAT.locate(after, "Data!A6"),), forward=False)
    assert (new.place, new.is_changed) == (None, True)


def test_titles_of_changes_lead_to_their_places(before: Source, after: Source) -> None:
    """In the version that they are of."""
    found = compared(before, after)

    assert found.total == 3
    for change in found.changes:
        version = before if change.kind == "removed" else after
        assert FORMAT.locate(version, change.place.title) == change.place


def test_a_sheet_that_is_gone_is_nowhere(before: Source, tmp_path: Path) -> None:
    """And what was on it."""
    after = book(tmp_path / "one.xlsx", table(50))
    places = Place("My data", sheet="My data"), Place("My data!B2", sheet="My data", cell="B2")

    traces = FORMAT.trace(before, after, places, forward=True)

    assert [(trace.place, trace.is_changed) for trace in traces] == [(None, True)] * 2
