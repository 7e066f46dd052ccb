"""Headers of sheets, told by their cells."""

import pytest

from kbd.sheets.islands import gives_number, names_columns


class CountedText(str):
    """A text that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        type(self).compared += 1
        return str(self) == str(other)

    __hash__ = str.__hash__


def test_equal_names_are_not_compared_with_all_others() -> None:
    """A wide row of one name costs what its cells do, not their square."""
    first = [CountedText("name") for _ in range(300)]

    assert names_columns([first, [1.0] * 300])
    assert CountedText.compared < 20 * 300


def test_years_that_count_on_are_names_without_a_corner() -> None:
    """Above figures they name columns; years above years, and numbers of another step, do not."""
    assert names_columns([["", 2022.0, 2023.0], ["North", 10.0, 20.0], ["South", 11.0, 21.0]])
    assert names_columns([[2022.0, 2023.0], [10.0, 20.0]])
    assert not names_columns([["", 2022.0, 2023.0], ["North", 2023.0, 2024.0]])
    assert not names_columns([["", 2022.0, 2020.0, 2021.0], ["North", 1.0, 2.0, 3.0]])


@pytest.mark.parametrize(
    ("formula", "is_number"),
    [
        ("=SUM(B2:B9)", True),
        ('=-(COUNTIF(A:A,"x"))', True),
        ("=B2*'a & b'!C2", True),
        ("=Sales[Net / gross]*2", True),
        ("#DIV/0!", True),
        ("=Sheet1!B1", False),
        ("=B1+1", False),
        ('=SUM(B2:B9)&" in all"', False),
        ('=TEXT(B1/2,"0")', False),
        ('="a/b"', False),
        ("='in/out'!A1", False),
    ],
)
def test_formulas_that_surely_have_a_number_for_a_result(formula: str, *, is_number: bool) -> None:
    """Sums, products and errors name no column; what may be a text, a date or a year may."""
    assert gives_number(formula) is is_number
