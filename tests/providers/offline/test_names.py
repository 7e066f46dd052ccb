"""File names are free, quoting cannot be left."""

from hypothesis import given
from hypothesis import strategies as st

from kbd_offline.intents import ColumnIntent, Condition, Key, RowSelection, SortOrder
from kbd_offline.names import fold, free_name
from kbd_offline.sql import rows


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
