"""Random tables in random ways of writing: what is read is what was written, or it stays text."""

from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tools.tables.loading import LoadedTable, Loading

pytestmark = pytest.mark.full

MISSING = ("", "n/a", "-", "NULL")


class WayOfWriting(msgspec.Struct, frozen=True):
    """How a program writes numbers.

    Args:
        decimal: Its decimal mark.
        group: Its mark between groups of digits.
        lakhs: Whether groups are those of India.
        least: The least number of digits that are grouped.
        affixes: What stands before and after a number.
        negative: What stands before and after one below zero.
    """

    decimal: str
    group: str
    lakhs: bool
    least: int
    affixes: tuple[str, str]
    negative: tuple[str, str]

    def text(self, value: Decimal, places: int) -> str:
        """Return a number as it is written with so many digits after the mark."""
        whole, _, fraction = f"{abs(value):.{places}f}".partition(".")
        if self.group and len(whole) >= self.least:
            head, tail = whole[:-3], whole[-3:]
            size, parts = 2 if self.lakhs else 3, [tail]
            while head:
                head, part = head[:-size], head[-size:]
                parts.insert(0, part)
            whole = self.group.join(parts)
        before, after = self.negative if value < 0 else ("", "")
        digits = f"{whole}{self.decimal}{fraction}" if places else whole
        return f"{self.affixes[0]}{before}{digits}{after}{self.affixes[1]}"


@st.composite
def ways(draw: st.DrawFn) -> WayOfWriting:
    """Draw a way of writing that some program has."""
    decimal = draw(st.sampled_from(".,"))
    marks = ["", " ", "\u00a0", "\u202f", "'", "’", "," if decimal == "." else "."]
    return WayOfWriting(
        decimal,
        draw(st.sampled_from(marks)),
        draw(st.booleans()) and decimal == ".",
        draw(st.sampled_from([4, 4, 5])),
        draw(
            st.sampled_from([("", ""), ("", ""), ("", " €"), ("$", ""), ("CHF ", ""), ("", " kr")])
        ),
        draw(st.sampled_from([("-", ""), ("-", ""), ("−", ""), ("(", ")"), ("", "-")])),
    )


def places_of(value: Decimal) -> int:
    """Return how many digits a number has after the mark, zeros at its end not counted."""
    exponent = value.normalize().as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


@st.composite
def columns(draw: st.DrawFn, way: WayOfWriting) -> tuple[list[str], list[Decimal | None]]:
    """Draw the texts of a column and the numbers that they are."""
    scale = draw(st.integers(0, 4))
    bound = draw(st.sampled_from([10, 1_000, 100_000, 10_000_000]))
    is_fixed = draw(st.booleans())
    texts: list[str] = []
    values: list[Decimal | None] = []
    for _ in range(draw(st.integers(1, 6))):
        if draw(st.integers(0, 9)) == 0:
            texts.append(draw(st.sampled_from(MISSING)))
            values.append(None)
            continue
        number = draw(st.integers(-(bound * 10**scale) // 3, bound * 10**scale))
        value = Decimal(number).scaleb(-scale)
        texts.append(way.text(value, scale if is_fixed else places_of(value)))
        values.append(value)
    return texts, values


def loaded(table: dict[str, list[str]]) -> LoadedTable:
    with TemporaryDirectory() as folder:
        return Loading(Path(folder))(table)


def check(table: LoadedTable, name: str, texts: list[str], values: list[Any]) -> None:
    """Check that a column is what was written, or text to the letter."""
    if table.types[name] == "VARCHAR":
        assert table.values[name] == [text or None for text in texts]
    else:
        assert table.values[name] == values, (texts, table.types[name], table.warnings)


@settings(max_examples=120, deadline=None)
@given(st.data())
def test_numbers_are_right_or_text(data: st.DataObject) -> None:
    """No column is ever read as other numbers than those that were written."""
    way = data.draw(ways())
    drawn = {f"x{place}": data.draw(columns(way)) for place in range(data.draw(st.integers(1, 4)))}
    table = loaded({name: texts for name, (texts, _) in drawn.items()})
    for name, (texts, values) in drawn.items():
        check(table, name, texts, values)
    for question in table.reading.questions:
        assert {table.types[name] for name in question.columns} == {"VARCHAR"}


@settings(max_examples=50, deadline=None)
@given(st.data())
def test_an_answer_gives_what_was_written(data: st.DataObject) -> None:
    """What is asked about is right once the mark is said."""
    way = data.draw(ways())
    drawn = {f"x{place}": data.draw(columns(way)) for place in range(2)}
    with TemporaryDirectory() as folder:
        table = Loading(Path(folder))(
            {name: texts for name, (texts, _) in drawn.items()}, decimal=way.decimal
        )
    assert table.reading.questions == ()
    for name, (texts, values) in drawn.items():
        check(table, name, texts, values)


ORDERS: dict[str, Callable[[date], str]] = {
    "iso": lambda day: day.isoformat(),
    "points": lambda day: f"{day:%d.%m.%Y}",
    "short points": lambda day: f"{day:%d.%m.%y}",
    "dmy": lambda day: f"{day:%d/%m/%Y}",
    "mdy": lambda day: f"{day.month}/{day.day}/{day.year}",
    "short dmy": lambda day: f"{day:%d/%m/%y}",
    "short mdy": lambda day: f"{day:%m/%d/%y}",
    "short ymd": lambda day: f"{day:%y/%m/%d}",
    "hyphens": lambda day: f"{day:%d-%m-%Y}",
    "short ymd hyphens": lambda day: f"{day:%y-%m-%d}",
    "named": lambda day: f"{day.day} {day:%b %Y}",
    "American": lambda day: f"{day:%B} {day.day}, {day.year}",
    "compact": lambda day: f"{day:%Y%m%d}",
}


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(sorted(ORDERS)),
    st.lists(st.lists(st.integers(0, 20_000), min_size=1, max_size=4), min_size=1, max_size=3),
)
def test_dates_are_right_or_text(order: str, days: list[list[int]]) -> None:
    """No column is ever read as other dates than those that were written."""
    written = {
        f"date {place}": [date(1980, 1, 1) + timedelta(days=number) for number in numbers]
        for place, numbers in enumerate(days)
    }
    texts = {name: [ORDERS[order](day) for day in column] for name, column in written.items()}
    table = loaded(texts)
    for name, column in written.items():
        check(table, name, texts[name], column)
