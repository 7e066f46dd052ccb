"""Columns of times such as 7:30: they stay text, and what sums them up is no row."""

import pytest

from kbd_tables.clock_times import clock_text
from tools.tables.loading import LoadedTable, Loading


def load(loading: Loading, hours: str, items: str) -> LoadedTable:
    """Load a table of projects and hours, each parted by bars."""
    return loading({"Projekt": items.split("|"), "Stunden": hours.split("|")})


def left_out(table: LoadedTable) -> list[tuple[str, tuple[int, ...], str]]:
    """Return what was left out, which rows, and their text."""
    return [(each.what, each.rows, each.sample) for each in table.reading.left_out]


def test_times_stay_text_and_are_told(loading: Loading) -> None:
    """Nobody knows whether 7:30 is a time of day: it is said that no sum is made of it."""
    table = load(loading, "7:30|8:15|0:45", "a|b|c")
    assert table.types["Stunden"] == "VARCHAR"
    assert table.values["Stunden"] == ["7:30", "8:15", "0:45"]
    (warning,) = table.warnings
    assert "Stunden: times such as 7:30" in warning
    assert "kept as text" in warning


@pytest.mark.parametrize(
    ("name", "times"),
    [
        ("Start", "08:15|17:30|07:05"), ("end_time", "08:15|17:30|"), ("Uhrzeit", "0:15|1:30|2:00"),
        ("Von", "7:30|8:15|0:45"), ("Time", "08:15:00|17:30:00|09:00:00"),
        ("Ankunft (Uhr)", "8:15|9:30|closed"), ("StartTime", "8:15|9:30|10:00"),
    ],
)  # fmt: skip
def test_times_of_day_are_no_news(loading: Loading, name: str, times: str) -> None:
    """Nobody would sum up what a name says to be when something was."""
    table = loading({"Day": ["a", "b", "c"], name: times.split("|")})
    assert (table.types[name], table.warnings) == ("VARCHAR", ())


@pytest.mark.parametrize(
    ("name", "times"),
    [
        ("Dauer", "08:15|17:30|07:05"), ("Start", "08:15|24:30|07:05"), ("End", "8:15|-1:30|7:05"),
        ("Time", "1:15:20|0:58:00|1:02:10"), ("Total time", "08:15|17:30|07:05"),
        ("Start-up hours", "8:15|9:30|7:05"), ("Travel time", "8:15|13:30|7:05"),
        ("x", "8:15|13:30|7:05"),
    ],
)  # fmt: skip
def test_what_may_be_a_duration_is_told(loading: Loading, name: str, times: str) -> None:
    """By its name, as it is too long for a day, or as nothing says that it is none."""
    (warning,) = loading({"Day": ["a", "b", "c"], name: times.split("|")}).warnings
    assert f"{name}: times such as" in warning


def test_a_sum_of_times_is_no_row(loading: Loading) -> None:
    """It is known by its label and by what the times above it come to, minutes and seconds."""
    for hours in "7:30|8:15|23:00|38:45", "0:07:30|0:08:15|0:23:00|0:38:45":
        table = load(loading, hours, "a|b|c|Summe")
        shown = "38:45" if hours.endswith("|38:45") else "0:38:45"
        assert left_out(table) == [("total of the rows above", (4,), f"Summe | {shown}")]
        assert table.values["Stunden"][3:] == []


def test_a_sum_that_does_not_agree_is_asked_about(loading: Loading) -> None:
    """The question shows the times as they are written, also where some rows have a word."""
    table = load(loading, "7:30|8:15|1:00|40:00", "a|b|c|Summe")
    (question,) = table.reading.questions
    assert "Summe | 40:00" in question.text
    assert [each.meaning for each in question.options] == [
        "Stunden adds up to 16:45 in 3 rows", "Stunden adds up to 56:45 in 4 rows",
    ]  # fmt: skip
    table = load(loading, "7:30|8:15|1:00|2:00|Urlaub|18:45", "a|b|c|d|e|Summe")
    assert [each[0] for each in left_out(table)] == ["total of the rows above"]


def test_remarks_below_a_sum_of_times_are_none_of_the_rows(loading: Loading) -> None:
    """A target and a difference stand below the last total, as beside other figures."""
    table = load(loading, "7:30|8:15|23:00|38:45|40:00|-1:15", "a|b|c|Summe|Soll|Differenz")
    assert [each[:2] for each in left_out(table)] == [
        ("total of the rows above", (4,)),
        ("remark below the last total", (5, 6)),
    ]


def test_times_of_day_prove_nothing_without_a_label(loading: Loading) -> None:
    """A last row whose times come to those above it by chance is a row."""
    table = load(loading, "1:00|2:00|3:00|6:00", "a|b|c|d")
    assert left_out(table) == []
    assert table.reading.questions == ()


def test_times_alone_in_a_row_are_asked_about(loading: Loading) -> None:
    """A row that has nothing else, and what those above it come to, sums them up, or may."""
    table = load(loading, "7:30|8:15|6:00|21:45", "a|b|c|")
    (question,) = table.reading.questions
    assert "(no label) | 21:45" in question.text


def test_times_are_shown_as_clocks_show_them() -> None:
    """With seconds where there are some, and a sign."""
    assert [clock_text(each) for each in (27000, -4500, 3661, 0)] == [
        "7:30", "-1:15", "1:01:01", "0:00",
    ]  # fmt: skip
