"""Columns: found by name, told where there is none, named where a name is taken."""

import pytest

from kbd.errors import ValidationFailed
from kbd.jobs.columns import ShapeColumn, column_named, folded, free_name, near_name

COLUMNS = (ShapeColumn("Net amount", "float"), ShapeColumn("Größe", "integer"))


@pytest.mark.parametrize("name", ["Net amount", "NET AMOUNT", " net amount "])
def test_capitals_do_not_matter(name: str) -> None:
    """A column is found however its capitals are written."""
    assert COLUMNS[0] == column_named(name, COLUMNS)


@pytest.mark.parametrize("name", ["Gro\u0308ße", "GRÖSSE"])
def test_accents_may_be_written_in_two_ways(name: str) -> None:
    """A letter with its accent apart is the same letter."""
    assert COLUMNS[1] == column_named(name, COLUMNS)


def test_what_is_not_there_is_none() -> None:
    """There is no guess: a near name is told, and not taken."""
    assert column_named("Netamount", COLUMNS) is None
    assert near_name("netamount", ["Größe", "Net amount"]) == '; did you mean "Net amount"?'
    assert near_name("xyz", ["Größe"]) == '; there are: "Größe"'
    assert near_name("xyz", []) == "; there are none"
    assert near_name("xyz", [f"column {n}" for n in range(31)]).endswith('"column 29", …')


def test_columns_that_differ_in_capitals_alone_need_their_own() -> None:
    """Of two such columns only the exact name means one."""
    columns = (ShapeColumn("a"), ShapeColumn("A"))

    assert columns[1] == column_named("A", columns)
    with pytest.raises(ValidationFailed, match='"ä" may be "Ä" and "A\u0308"; write it as'):
        column_named("ä", (ShapeColumn("Ä"), ShapeColumn("A\u0308")))


def test_a_free_name_is_like_no_other() -> None:
    """A number is put behind a name until it is free."""
    assert free_name("a", []) == "a"
    assert free_name("a", ["A", "a (2)"]) == "a (3)"
    assert folded("A (2)") == folded(free_name("A", ["a"]))


@pytest.mark.parametrize(
    ("kind", "holds"),
    [("string", "text"), ("integer", "number"), ("float", "number"), ("date", "date"),
     ("datetime", "datetime"), ("boolean", "boolean"), ("any", "any")],
)  # fmt: skip
def test_types_are_told_in_the_words_of_inputs(kind: str, holds: str) -> None:
    """Each type that a table reports is one that an input may ask for."""
    assert holds == ShapeColumn("a", kind).holds  # type: ignore[arg-type]
