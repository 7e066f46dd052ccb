"""Sheet names are legal and unique, whatever they are made of."""

from hypothesis import given
from hypothesis import strategies as st

from kbd.sheets.sheet_names import sheet_names


@given(st.lists(st.text(max_size=40), max_size=12))
def test_sheet_names(wanted: list[str]) -> None:
    """Whatever the values are, each gets a name of its own that a workbook accepts."""
    names = sheet_names(wanted, ("Summary",))

    assert len({name.casefold() for name in (*names, "Summary")}) == len(wanted) + 1
    for name in names:
        assert 0 < len(name.encode("utf-16-le")) // 2 <= 31
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


def test_emoji_count_twice() -> None:
    """Excel counts code units: 31 emoji in a name make it repair the file."""
    (name,) = sheet_names(["\N{BAR CHART}" * 31])

    assert name == "\N{BAR CHART}" * 15
