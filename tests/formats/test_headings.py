"""Names of a table's columns."""

import sys
from typing import Any

from kbd.formats.headings import unique_names


def test_names_are_unique() -> None:
    """Without regard to case; a name that a number makes is taken, too, and none is empty."""
    assert unique_names(["a", "A", "a_2", "", "a"]) == ["a", "A_2", "a_2_2", "column_4", "a_3"]
    assert unique_names(["column_2", "", "column_2"]) == ["column_2", "column_2_2", "column_2_3"]


def test_equal_names_are_not_tried_one_by_one() -> None:
    """The work grows with the columns, not with their square."""
    tried = 0

    def count(frame: object, event: str, called: Any) -> None:
        nonlocal tried
        del frame
        tried += event == "c_call" and called.__name__ == "casefold"

    sys.setprofile(count)
    try:
        names = unique_names(["same"] * 500)
    finally:
        sys.setprofile(None)
    assert names[-1] == "same_500"
    assert tried < 10 * 500
