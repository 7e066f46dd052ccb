"""Comparison of tables: what could differ unseen, or seem to differ, in odd but real files."""

from pathlib import Path

import pytest

from kbd.formats import CompareOptions, Comparison, Source
from kbd_csv import CsvFormat

FORMAT = CsvFormat()


class Versions:
    """Two versions of a table in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def compare(self, before: str, after: str) -> Comparison:
        """Write and compare both."""
        paths = self._folder / "before", self._folder / "after"
        for path, data in zip(paths, (before, after), strict=True):
            path.write_bytes(data.encode())
        one, other = (Source(path, "a.csv") for path in paths)
        return FORMAT.compare(one, other, CompareOptions())


@pytest.fixture
def versions(tmp_path: Path) -> Versions:
    """A folder for two versions."""
    return Versions(tmp_path)


def briefs(found: Comparison) -> list[tuple[object, ...]]:
    return [
        (each.kind, each.what, each.place.title, each.before, each.after) for each in found.changes
    ]


def test_what_a_header_says_is_told_as_it_is_written(versions: Versions) -> None:
    """Blanks and repeated names, which no column's name has, are not passed over."""
    before = "id, amount ,x,x,\n1,2,3,4,5\n2,3,4,5,6\n"
    after = "id,amount,x,x_2,column_5\n1,2,3,4,7\n2,3,4,5,6\n"

    assert briefs(versions.compare(before, after)) == [
        ("changed", "column", "column amount", " amount ", "amount"),
        ("changed", "column", "column x_2", "x", "x_2"),
        ("changed", "column", "column column_5", None, "column_5"),
        ("changed", "cell", "row 1, column_5", "5", "7"),
    ]


@pytest.mark.parametrize("header", ["a,b,c\n", ""])
def test_fields_beyond_the_header_keep_their_column(versions: Versions, header: str) -> None:
    """A long row at the start makes no column new whose fields stood further down before."""
    rows = [f"{n}.5,{n},{n}" for n in range(300)]
    rows[250] += ",far"
    before = header + "\n".join(rows) + "\n"
    rows[10] += ",near"
    after = header + "\n".join(rows) + "\n"

    title = "row 11, column_4"
    assert briefs(versions.compare(before, after)) == [("changed", "cell", title, None, "near")]
    assert briefs(versions.compare(after, before)) == [("changed", "cell", title, "near", None)]


def test_line_ends_of_changed_and_moved_rows_are_told(versions: Versions) -> None:
    """A row that ends otherwise and has other values, too, has both changes."""
    before = "Id,Name\nA,x\r\nB,y\nC,z\r\n"
    found = versions.compare(before, before.replace("B,y\n", "B,w\r\n"))

    assert [each[1:3] for each in briefs(found)] == [
        ("line ending", "line ending"),
        ("cell", "row 2, Name"),
    ]
    assert found.changes[0].note == "1 line of both versions, from line 3 on"


def test_a_long_field_shows_what_differs(versions: Versions) -> None:
    """Of a field that is too long to be listed whole, what differs is listed, not its beginning."""
    text_before = "Id,Note\n1,short\n2," + "x" * 50_000 + "314.60" + "y" * 50_000 + "\n"
    found = versions.compare(text_before, text_before.replace("314.60", "341.60"))

    (change,) = found.changes
    assert change.is_cut
    assert change.before.startswith("…" + "x" * 199)
    assert "314.60" in change.before
    assert "341.60" in change.after
    assert change.note == "the text is long: it differs from character 50,002 on"


def test_keys_that_are_repeated_far_down_pair_nothing_wrong(versions: Versions) -> None:
    """Past the rows in which a key is looked for twice, each change is of its own row."""
    rows = [f"K{n},name {n},{n}" for n in range(51_000)]
    rows[50_500], rows[50_600] = "K7,first,1", "K7,second,2"
    before = "Id,Name,Amount\n" + "\n".join(rows) + "\n"
    rows[50_500], rows[7] = "K7,first,new", "K7,name 7,other"
    del rows[50_600]
    after = "Id,Name,Amount\n" + "\n".join(rows) + "\n"

    assert briefs(versions.compare(before, after)) == [
        ("changed", "cell", "row 8, Amount", "7", "other"),
        ("changed", "cell", "row 50501, Amount", "1", "new"),
        ("removed", "row", "row 50601", ["K7", "second", "2"], None),
    ]
