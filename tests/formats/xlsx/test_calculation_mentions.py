"""Who refers to a sheet, and what a stored result is worth."""

import pytest

from calculation_books import book
from kbd_xlsx.calculation import mentions, result_state, volatile


def test_mentions() -> None:
    """Cells and names that refer to a sheet are named, with 3D ranges, tables and texts."""
    found = book(
        Data={"A1": "Data!B1", "A2": "A1"},
        My_Sheet={"A1": "data!B1", "A2": "SUM(Sales)", "A3": "Rate", "A4": '"Data!A1"'},
        Other={"B1": 'INDIRECT("Data!A"&C1)', "B2": "SUM('My Sheet:Data'!A1)", "B3": "Last!A1"},
        Last={"C3": "SUM(Data:Other!A1)", "C4": "'[1]Data'!A1"},
    )

    assert mentions(found, "DATA") == [
        "the name Rate",
        "the name Rate",
        "the name Ring",
        "the name Knot",
        "the name Moving",
        "the name ราคา",
        "the name Double",
        "'My Sheet'!A1",
        "'My Sheet'!A2",
        "Other!B1 (possibly, in a text)",
        "Other!B2",
        "Last!C3",
    ]
    assert mentions(found, "Other") == ["Last!C3"]
    assert mentions(found, "Nowhere") == []


def test_mentions_are_bounded() -> None:
    """Of many mentions the first are named and the others counted, shared formulas with them."""
    sharing = {f"A{row}": '<f t="shared" si="0"/>' for row in range(2, 41)}
    master = {"A1": '<f t="shared" si="0" ref="A1:A40">Last!B1</f>'}
    found = mentions(book(Data={**master, **sharing}, Last={}), "Last")

    assert found[:2] == ["Data!A1", "Data!A2"]
    assert len(found) == 21
    assert found[-1] == "and 20 more"


@pytest.mark.parametrize(
    ("text", "is_volatile"),
    [
        ("NOW()-A1", True),
        ("sum(a1,rand())", True),
        ("_xlfn.RANDARRAY(2)", True),
        ("SUM(OFFSET(A1,1,0))", True),
        ('"NOW()"&A1', False),
        ("'NOW('!A1", False),
        ("KNOW(A1)", False),
        ("SUM(A1:A3)", False),
    ],
)
def test_volatile(text: str, *, is_volatile: bool) -> None:
    """A formula is volatile by the functions that it calls, not by what its texts say."""
    assert volatile(text) == is_volatile
    assert result_state(text, is_stored=True) == ("momentary" if is_volatile else "current")
    assert result_state(text, is_stored=False) == "missing"
