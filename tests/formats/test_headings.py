"""Names of a table's columns."""

from kbd.formats.headings import unique_names


def test_names_are_unique() -> None:
    """Without regard to case; a name that a number makes is taken, too, and none is empty."""
    assert unique_names(["a", "A", "a_2", "", "a"]) == ["a", "A_2", "a_2_2", "column_4", "a_3"]
    assert unique_names(["column_2", "", "column_2"]) == ["column_2", "column_2_2", "column_2_3"]


def test_equal_names_are_not_tried_one_by_one() -> None:
    """The work grows with the columns: five thousand million tries would not end in time."""
    assert unique_names(["same"] * 100_000)[-1] == "same_100000"
