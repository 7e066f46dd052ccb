"""Sheet names are legal and unique, file names are free, quoting cannot be left."""

from hypothesis import given
from hypothesis import strategies as st

from kbd_offline.intents import ColumnIntent, Condition, Key, RowSelection, SortOrder
from kbd_offline.names import fold, free_name, sheet_names
from kbd_offline.sql import rows


@given(st.lists(st.text(max_size=40), max_size=12))
def test_sheet_names(wanted: list[str]) -> None:
    """Whatever the values are, each gets a name of its own that a workbook accepts."""
    names = sheet_names(wanted, ("Summary",))

    assert len({name.casefold() for name in (*names, "Summary")}) == len(wanted) + 1
    for name in names:
        assert 0 < len(name) <= 31
        assert not set(name) & set("[]:*?/\\")
        assert name.strip("'") == name
        assert name.isprintable()
        assert name.casefold() != "history"


def test_sheet_names_are_readable() -> None:
    """Names keep what they can, and are numbered where they would be the same."""
    long = "A" * 40

    names = sheet_names(["Rent/Home", "rent home", "", "History", long, long])

    assert names == (
        "Rent Home", "rent home (2)", "(blank)", "(History)", "A" * 31, "A" * 27 + " (2)",
    )  # fmt: skip


def test_free_name() -> None:
    """A taken name is numbered, whatever its case."""
    assert free_name("summary.xlsx", ["Summary.xlsx", "summary-2.xlsx"]) == "summary-3.xlsx"


@given(st.text())
def test_folding_keeps_places(text: str) -> None:
    """A folded text has the length of the original, so that places are the same."""
    assert len(fold(text)) == len(text)


def test_quoting() -> None:
    """Names and values with quotes stay names and values."""
    column = ColumnIntent('a"b')
    condition = Condition(column, "contains", "it's")
    key = Key(ColumnIntent("k"))

    query = rows(
        RowSelection("x.csv", (condition,)), (column,), (SortOrder('a"b'),), (key, "o'clock; DROP")
    )

    assert 'SELECT "a""b" FROM' in query
    assert "lower(nfc_normalize('it''s'))" in query
    assert """CAST("k" AS VARCHAR) = 'o''clock; DROP'""" in query
    assert 'ORDER BY "a""b" NULLS LAST' in query
