"""Which cells are shown around changes, and which row of one version is which of the other."""

from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from kbd.core.audit.review_page.neighborhood import (
    AREA_CELLS,
    BLOCK_COLUMNS,
    BLOCK_ROWS,
    RANGE_ROWS,
    CellArea,
    ChangeMark,
    ColumnNames,
    Pair,
    find_area,
    find_blocks,
    find_windows,
    make_axis,
    sheet_of,
    unit_axis,
)
from kbd.requests.reviews import ChangePlace, ContentChange
from reviewed_drafts import change


def _in_sheet(kind: str, what: str, origin: str = "", **place: Any) -> ContentChange:
    more: dict[str, Any] = {}
    if origin:
        more["moved_from"] = ChangePlace(title=origin, sheet="S", range=origin)
    return change(kind, what, "title", place={"sheet": "S", **place}, **more)


def _blocks(*changes: ContentChange) -> Any:
    return find_blocks(list(enumerate(changes)))


@given(st.sets(st.integers(1, 40)), st.sets(st.integers(1, 40)))
def test_common_rows_are_paired_in_order(added: set[int], removed: set[int]) -> None:
    """Without the added and the removed ones, the rows of both versions follow each other alike."""
    axis = make_axis(
        [("added", each, each) for each in added] + [("removed", each, each) for each in removed]
    )
    after = [row for row in range(1, 60) if row not in added]
    before = [row for row in range(1, 60) if row not in removed]
    for common, (old, new) in enumerate(zip(before, after, strict=False), 1):
        assert (axis.before_of(common), axis.after_of(common)) == (old, new)
        assert (axis.common_before(old), axis.common_after(new)) == (common, common)


def test_places_are_read_as_areas() -> None:
    """Cells, ranges, whole rows and columns, data rows and named columns; nothing else."""
    assert find_area(ChangePlace(title="", sheet="S", cell="B7")) == CellArea(7, 2, 7, 2)
    assert find_area(ChangePlace(title="", sheet="S", range="A5:F6")) == CellArea(5, 1, 6, 6)
    assert find_area(ChangePlace(title="", sheet="S", range="5:7")) == CellArea(5, 0, 7, 0)
    assert find_area(ChangePlace(title="", sheet="S", range="C:AA")) == CellArea(0, 3, 0, 27)
    assert find_area(ChangePlace(title="", row=4, column="b"), ["a", "b"]) == CellArea(4, 2, 4, 2)
    assert find_area(ChangePlace(title="", column="b"), ["a", "b"]) == CellArea(0, 2, 0, 2)
    for text in ("", "B0", "x y", "1:B2", "A1:B2:C3"):
        assert find_area(ChangePlace(title="", sheet="S", range=text)) is None
    assert find_area(ChangePlace(title="", column="gone"), ["a"]) is None


def test_only_places_with_cells_are_of_a_grid() -> None:
    """A sheet as a whole has no cells of its own, a document's table has no window."""
    assert sheet_of(ChangePlace(title="", sheet="S", cell="A1")) == "S"
    assert sheet_of(ChangePlace(title="", sheet="S")) is None
    assert sheet_of(ChangePlace(title="", row=3)) == ""
    assert sheet_of(ChangePlace(title="", section=1, table=0, row=1, column=2)) is None
    assert sheet_of(ChangePlace(title="", paragraph=3)) is None


def test_a_changed_cell_stands_among_its_neighbors() -> None:
    """Two rows above and below, a column at each side, and the first column; marked in both."""
    (block,) = _blocks(_in_sheet("changed", "cell", cell="F9"))

    assert [pair.after for pair in block.rows] == [7, 8, 9, 10, 11]
    assert [pair.after for pair in block.columns] == [1, 5, 6, 7]
    assert block.cells_before == block.cells_after == {(9, 6): ChangeMark("changed", 0)}
    assert block.changes == (0,)


def test_rows_that_came_and_went_shift_the_others() -> None:
    """Below an added row each row stands beside the one that it was; the added one beside none."""
    added, changed = _in_sheet("added", "row", range="5:5"), _in_sheet("changed", "cell", cell="C9")
    (block,) = _blocks(added, changed)

    assert block.rows[:4] == (Pair(3, 3), Pair(4, 4), Pair(None, 5), Pair(5, 6))
    assert block.row_marks == {Pair(None, 5): ChangeMark("added", 0)}
    assert block.cells_after == {(9, 3): ChangeMark("changed", 1)}
    assert block.cells_before == {(8, 3): ChangeMark("changed", 1)}
    (gone,) = _blocks(_in_sheet("removed", "row", range="2:3"))
    assert gone.rows == (Pair(1, 1), Pair(2, None), Pair(3, None), Pair(4, 2), Pair(5, 3))


def test_a_moved_row_stands_at_both_places() -> None:
    """Where it was and where it is, each with the mark of the one change."""
    blocks = _blocks(_in_sheet("moved", "row", "30:30", range="10:10"))

    assert [each.row_marks for each in blocks] == [
        {Pair(None, 10): ChangeMark("moved", 0)},
        {Pair(30, None): ChangeMark("moved", 0)},
    ]


def test_removed_and_added_cells_are_marked_where_they_are() -> None:
    """A value that is gone is marked in both versions, a new one in the newer alone."""
    (block,) = _blocks(
        _in_sheet("removed", "cell", cell="B2"), _in_sheet("added", "cell", cell="C3")
    )

    assert block.cells_before == {(2, 2): ChangeMark("removed", 0)}
    assert block.cells_after == {(2, 2): ChangeMark("removed", 0), (3, 3): ChangeMark("added", 1)}


def test_columns_of_a_table_are_found_by_their_names() -> None:
    """A column that is gone is one of the version before, a new one of the version after."""
    changes = [
        change("removed", "column", "column b", place={"column": "b"}),
        change("changed", "cell", "row 1, d", place={"row": 1, "column": "d"}),
    ]
    names = ColumnNames(("a", "b", "c", "d"), ("a", "c", "d"))
    (block,) = find_blocks(list(enumerate(changes)), names)

    assert block.column_marks == {Pair(2, None): ChangeMark("removed", 0)}
    assert block.cells_after == {(1, 3): ChangeMark("changed", 1)}
    assert block.cells_before == {(1, 4): ChangeMark("changed", 1)}


def test_what_is_drawn_is_bounded() -> None:
    """Rows and columns of a block, rows of a range, cells of an area."""
    (rows,) = _blocks(_in_sheet("added", "row", range="5:900000"))
    assert len(rows.row_marks) == RANGE_ROWS
    (area,) = _blocks(_in_sheet("changed", "format", range="A1:ZZ9"))
    assert len(area.cells_after) == AREA_CELLS
    assert len(area.columns) == BLOCK_COLUMNS
    assert area.more_columns == AREA_CELLS - BLOCK_COLUMNS + 1
    many = _blocks(*(_in_sheet("changed", "cell", cell=f"A{n}") for n in range(1, 200)))
    assert len(many) == 6
    assert all(len(block.rows) <= BLOCK_ROWS for block in many)


@given(st.sets(st.integers(1, 3000), max_size=60), st.sets(st.integers(1, 500), max_size=20))
def test_windows_hold_all_that_is_wanted(rows: set[int], columns: set[int]) -> None:
    """Each cell that is wanted is in a window, and none is larger than may be asked for."""
    windows = list(find_windows(rows, columns))

    for row in rows if columns else ():
        for column in columns:
            assert any(
                top <= row < top + height and left <= column < left + width
                for top, height, left, width in windows
            )
    assert all(height <= 500 and width <= 200 for _, height, _, width in windows)


def test_slides_are_followed_through_what_came_and_went() -> None:
    """A slide behind a new one was one place before; a moved one is at neither of its places."""
    changes = [
        change("added", "slide", "slide 2", place={"slide": 1}),
        change("removed", "slide", "slide 4", place={"slide": 3}),
        change("changed", "text", "slide 3, Title 1", place={"slide": 2}),
    ]
    axis = unit_axis(changes, "slide")

    assert (axis.added, axis.removed) == ((2,), (4,))
    assert axis.before_of(axis.common_after(3)) == 2
