"""Dynamic arrays: they may fill more cells than before, or find no room, after an edit."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calculation_books import area, book, cells, part
from kbd.sheets.areas import cell_name, parse_cell
from kbd_xlsx.calculation.book import FormulaBook
from kbd_xlsx.calculation.dependents import SheetIndex
from kbd_xlsx.calculation.stale import stale_results
from test_calculation import naive_reads

FILTER = "_xlfn._xlws.FILTER(A1:A3,A1:A3)"


def dynamic(place: str, filled: str, formula: str = "A1:A3", attributes: str = "") -> str:
    """A cell with a dynamic array that fills an area, with a stored result."""
    return (
        f'<c r="{place}" {attributes} cm="1"><f t="array" ref="{filled}">{formula}</f><v>1</v></c>'
    )


def after(changed: str, contents: Mapping[str, str], other: Mapping[str, str] | None = None) -> str:
    """The old results of the sheets Data and Other once cells of Data have changed, as a text."""
    stale = stale_results(book(Data=contents, Other=other or {}), {"Data": [area(changed)]})
    return " ".join(sorted(name.removeprefix("Data!") for name in cells(stale)))


READERS = {
    "Z20": "C4*2",
    "Z21": "SUM(C9:C90)",
    "Z22": "E2",
    "Z23": "SUM(H3:J3)",
    "Z24": "H30",
    "Z25": "SUM($1:$1)+SUM(A:B)",
    "Z26": "D1+B9",
    "Z27": "Other!C4",
}
"""Formulas that read below, right, and below right of C2:D3; then above, left, elsewhere."""


@pytest.mark.parametrize(
    "array",
    [
        dynamic("C2", "C2:D3"),
        dynamic("C2", "C2"),
        '<c r="C2" cm="1"><f>A1:A3</f><v>1</v></c>',
        f"<f>{FILTER}</f><v>1</v>",
        "<f>SUM(_xlfn.TAKE(A1:A3,2))</f><v>1</v>",
        f'<f t="shared" si="0" ref="C2">{FILTER}</f><v>1</v>',
    ],
)
def test_an_old_dynamic_array_may_fill_more_cells(array: str) -> None:
    """What reads below and right of it is old with it, and nothing else."""
    found = after("A2", {"C2": array} | READERS, {"A1": "Data!C5", "A2": "Data!B1"}).split()

    assert set(found) - {"C2", "C3", "D2", "D3", "Z25"} == {
        "Other!A1", "Z20", "Z21", "Z22", "Z23", "Z24"
    }  # fmt: skip
    assert "C2" in found
    assert after("B5", {"C2": array} | READERS) == "Z25"


@pytest.mark.parametrize(
    "array",
    [
        '<f t="array" ref="C2:D3">A1:A3</f><v>1</v>',
        '<f t="array" ref="C2">_xlfn.UNIQUE(A1:A3)</f><v>1</v>',
        '<f t="dataTable" ref="C2:D3" r1="A2"/><v>1</v>',
        '<c r="C2" cm="1"><f t="dataTable" ref="C2:D3" r1="A2"/><v>1</v></c>',
        '<f>"_xlfn.FILTER("&amp;A2</f><v>1</v>',
        "<f>_xlfn.XLOOKUP(1,A1:A3,B1:B3)</f><v>1</v>",
    ],
)
def test_other_formulas_keep_their_size(array: str) -> None:
    """A legacy array, a data table or a plain formula makes nothing old beside what it fills."""
    found = after("A2", {"C2": array} | READERS).split()

    assert set(found) - {"C3", "D2", "D3"} == {"C2", "Z25"}


@pytest.mark.parametrize(
    ("formula", "old"), [(FILTER, "C2 Z20 Z21 Z22 Z23 Z24"), ("SUM(A1:A3)", "")]
)
def test_a_new_dynamic_array_may_fill_cells(formula: str, old: str) -> None:
    """Where one is written, what reads the cells that it may fill is old."""
    assert after("C2", {"C2": f"<f>{formula}</f>"} | READERS) == old


def test_formulas_bound_the_room_of_a_dynamic_array() -> None:
    """Beyond the next formula below or right of it there is no cell that it could fill."""
    bounds = {"C6": "1", "G2": "1"}
    readers = {"Z20": "C5", "Z21": "C7", "Z22": "F2", "Z23": "H2", "Z24": "F5", "Z25": "F7"}

    found = after("A2", {"C2": dynamic("C2", "C2:D3")} | bounds | readers)

    assert found == "C2 C3 D2 D3 Z20 Z22 Z24"


def test_dynamic_arrays_pass_it_on() -> None:
    """One that reads where another may spread is old, and so is what reads where it may spread."""
    second = dynamic("H8", "H8", "C5:C9")

    found = after("A2", {"C2": dynamic("C2", "C2"), "H8": second, "Z30": "AA3", "Y40": "H9"})

    assert found == "C2 H8 Y40 Z30"


def test_a_value_in_the_way_of_a_dynamic_array() -> None:
    """A change among the cells that it fills makes it old, one beside them does not."""
    contents = {"C2": dynamic("C2", "C2:D3"), "Z20": "C9", "Z21": "B3"}

    assert after("D3", contents) == "C2 C3 D2 D3 Z20"
    assert after("C4", contents) == ""
    assert after("E2:E9", contents) == ""


@pytest.mark.parametrize(
    "array",
    [
        dynamic("C2", "C2", attributes='t="e" vm="1"'),
        f'<c r="C2" t="e"><f>{FILTER}</f><v>#SPILL!</v></c>',
        f"<c r=\"C2\" t = 'e'><f>{FILTER}</f><v>#SPILL!</v></c>",
    ],
)
def test_a_dynamic_array_that_found_no_room(array: str) -> None:
    """One whose result is an error is old once a cell that it may need has changed."""
    contents = {"C2": array, "Z20": "C9", "Z21": "B3"}

    for place in ("C4", "E2", "F9"):
        assert after(place, contents) == "C2 Z20", place
    for place in ("C1", "B2", "B9"):
        assert after(place, contents) == "", place


def test_many_dynamic_arrays_are_bounded_work() -> None:
    """Where looking for readers takes too long, every result counts as old."""
    places = [f"{chr(65 + column)}{2 + column}" for column in range(1, 20)]
    contents = {place: dynamic(place, place, "A1") for place in places}
    contents |= {f"AB{row}": f"A{row}" for row in range(100, 500)}
    found = book(Data=contents)

    few = cells(stale_results(found, {"Data": [area("T2:T9")]}, max_steps=1_000))
    most = cells(stale_results(found, {"Data": [area("A1")]}, max_steps=1_000))
    all_read = cells(stale_results(found, {"Data": [area("A1")]}))

    assert few == set()
    assert len(most) == 419
    assert all_read == {f"Data!{place}" for place in places}


@pytest.mark.parametrize("count", [3, 3_000])
def test_large_areas_find_single_cells(count: int) -> None:
    """An area up to the sheet's end finds the cells within it, be they few or many."""
    index = SheetIndex()
    for number in range(count):
        index.add(number, 10 + number, 5, 10 + number, 5)
    index.add(count, 900_000, 9, 900_000, 9)

    found = {number for number in index.take(11, 5, 1_048_576, 16_384) if number >= 0}

    assert found == {*range(1, count), count}
    assert set(index.take(1, 1, 1_048_576, 16_384)) - {-1} == {0}


PLACES = [f"{column}{row}" for row in range(1, 7) for column in "ABCDE"]
SHAPES = st.sampled_from(["plain", "one", "wide", "tall", "error"])
FORMULAS = st.sampled_from([*PLACES, "A1:B2", "C3:D4", "$B:$B", "4:5", "D2:E6"])
Cell = tuple[int, int]


class Naive:
    """The same by sets of cells, among the first 8 rows and columns of one sheet."""

    def __init__(self, contents: Mapping[str, tuple[str, str]]) -> None:
        self.filled: dict[Cell, set[Cell]] = {}
        self.reads: dict[Cell, set[Cell]] = {}
        self.spread: dict[Cell, set[Cell]] = {}
        anchors = {parse_cell(place) for place in contents}
        for place, (text, shape) in contents.items():
            row, column = parse_cell(place)
            bottom, right = row + (shape == "tall"), column + (shape == "wide")
            filled = {(y, x) for y in (row, bottom) for x in (column, right)}
            below = {(y, x) for y in range(row, 9) for x in range(column, 9)}
            self.filled[row, column] = self.spread[row, column] = filled
            self.reads[row, column] = {(y, x) for _, y, x in naive_reads("Data", text)}
            if shape == "plain":
                continue
            end = min((y for y, x in anchors if x == column and y > bottom), default=9)
            side = min((x for y, x in anchors if y == row and x > right), default=9)
            self.spread[row, column] = {(y, x) for y, x in below if y < end and x < side} | filled
            self.reads[row, column] |= below if shape == "error" else filled

    def stale(self, changed: set[Cell]) -> set[Cell]:
        """The cells whose results are old, until none is added."""
        reached, stale = set(changed), set[Cell]()
        while more := {at for at, read in self.reads.items() if read & reached} - stale:
            stale |= more
            reached |= {cell for at in more for cell in self.spread[at]}
        return {cell for at in stale for cell in self.filled[at]}


@settings(max_examples=200)
@given(
    contents=st.dictionaries(st.sampled_from(PLACES), st.tuples(FORMULAS, SHAPES), max_size=9),
    changed=st.sets(st.sampled_from(PLACES), min_size=1, max_size=2),
)
def test_as_sets_of_cells_have_it(contents: dict[str, tuple[str, str]], changed: set[str]) -> None:
    """Among random formulas, many of them dynamic arrays, just those are old that must be."""
    naive = Naive(contents)
    written = {}
    for place, (text, shape) in contents.items():
        row, column = parse_cell(place)
        end = cell_name(row + (shape == "tall"), column + (shape == "wide"))
        mark = 't="e"' if shape == "error" else ""
        is_plain = shape == "plain"
        written[place] = text if is_plain else dynamic(place, f"{place}:{end}", text, mark)

    found = FormulaBook([("Data", part(written))])
    stale = stale_results(found, {"Data": [area(place) for place in changed]})

    expected = naive.stale({parse_cell(place) for place in changed})
    assert cells(stale) == {f"Data!{cell_name(*at)}" for at in expected}
