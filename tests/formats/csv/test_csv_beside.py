"""Lines beside a table in all that counts its rows: map, grid, comparison, search, added rows."""

import random
from pathlib import Path

import pytest

from kbd.errors import ValidationFailed
from kbd.formats import CompareOptions, GridWindow, Placement, Source, Written
from kbd.testing.formats import write_rows
from kbd_csv.comparison.version import read_rows, read_table_version, trimmed
from tables_of_text import FORMAT

ABOVE = "Account 12\nPeriod: January\n\n"
ROWS = "id,name,v\n1,Ann,2.5\n2,Bob,3.5\n3,Cem,4.5\n"
BELOW = "\nGenerated on Monday\n"
COMMENTED = "# log\nid,name,v\n1,Ann,2.5\n# pause\n2,Bob,3.5\n3,Cem,4.5\n"
TWICE = "id,name,v\n1,Ann,2.5\nid,name,v\n2,Bob,3.5\n3,Cem,4.5\n"
SEPARATOR = "sep=;\n" + ROWS.replace(",", ";")
TWO = ROWS + "\ncity,size\nBern,1\n"

DRAWN = "-----\nid,name,v\n--,----,-\n1,Ann,2.5\n2,Bob,3.5\n3,Cem,4.5\n"
MARKED = "id,name,v\n1,Ann,2.5\n\ufeffid,name,v\n2,Bob,3.5\n3,Cem,4.5\n"

SHAPES = [
    DRAWN,
    MARKED,
    ROWS,
    ABOVE + ROWS,
    ROWS + BELOW,
    ABOVE + ROWS + BELOW,
    COMMENTED,
    TWICE,
    SEPARATOR,
    TWO,
]


def source_of(folder: Path, data: str, name: str = "blob") -> Source:
    """Write a file."""
    path = folder / name
    path.write_bytes(data.encode())
    return Source(path, "a.csv")


@pytest.mark.parametrize("data", SHAPES)
def test_rows_are_the_same_whatever_stands_beside_them(tmp_path: Path, data: str) -> None:
    """Map, grid and comparison count the same rows under the same names."""
    source = source_of(tmp_path, data)
    found = FORMAT.map(source)
    grid = FORMAT.grid(source, GridWindow())
    version = read_table_version(source)
    rows = [row for batch in read_rows(version, version.start, trimmed) for row in batch.items]

    assert (found["row_count"], found["columns"]) == (3, ["id", "name", "v"])
    assert found["has_header"]
    lines = data.replace(";", ",").splitlines()
    assert found["reading"]["header_row"] == 1 + lines.index("id,name,v")
    assert [list(row) for row in grid.rows] == [
        ["1", "Ann", "2.5"],
        ["2", "Bob", "3.5"],
        ["3", "Cem", "4.5"],
    ]
    assert [row.fields for row in rows] == [
        ["id", "name", "v"],
        ["1", "Ann", "2.5"],
        ["2", "Bob", "3.5"],
        ["3", "Cem", "4.5"],
    ]


def test_the_map_has_the_reading_and_what_it_had(tmp_path: Path) -> None:
    """The reading stands beside the fields of the contract; warnings are made of it."""
    found = FORMAT.map(source_of(tmp_path, ABOVE + ROWS + BELOW))

    assert (found["encoding_detected"], found["encoding_confidence"]) == ("utf-8", 1.0)
    assert (found["delimiter"], found["quote_char"]) == (",", "")
    assert found["reading"]["encoding_reason"] == "ASCII"
    assert [each["what"] for each in found["reading"]["left_out"]] == [
        "line above the header",
        "line below the table",
    ]
    assert len(found["warnings"]) == 2


def test_search_names_the_columns_below_titles(tmp_path: Path) -> None:
    """Passages have the names of the header, not the titles above it."""
    (passage, *_) = FORMAT.passages(source_of(tmp_path, ABOVE + ROWS))

    assert "id" in passage.heading
    assert "Account" not in passage.heading


@pytest.mark.parametrize("data", SHAPES)
def test_a_changed_cell_is_found_beside_other_lines(tmp_path: Path, data: str) -> None:
    """Rows keep their numbers: a cell that changed is told in its row, and nothing else is."""
    before = source_of(tmp_path, data, "before")
    after = source_of(tmp_path, data.replace("Bob", "Bea"), "after")
    found = FORMAT.compare(before, after, CompareOptions())

    assert [(each.what, each.place.title, each.before, each.after) for each in found.changes] == [
        ("cell", "row 2, name", "Bob", "Bea")
    ]
    assert FORMAT.locate(after, "row 2, name").row == 2


def test_a_changed_line_beside_the_table_is_told(tmp_path: Path) -> None:
    """A title or a remark that changed is a change; rows are not."""
    before = source_of(tmp_path, ABOVE + ROWS + BELOW, "before")
    for other in (ABOVE.replace("12", "13"), ABOVE.replace("Period: January\n", "")):
        after = source_of(tmp_path, other + ROWS + BELOW, "after")
        (change, *rest) = FORMAT.compare(before, after, CompareOptions()).changes

        assert (change.what, change.kind, rest) == ("lines beside the table", "changed", [])
    plain = source_of(tmp_path, ROWS, "plain")
    (added,) = FORMAT.compare(plain, before, CompareOptions()).changes
    assert (added.kind, added.after) == ("added", "Account 12")


@pytest.mark.full
@pytest.mark.parametrize("seed", range(6))
def test_large_tables_with_titles_are_compared_in_their_rows(tmp_path: Path, seed: int) -> None:
    """Rows that are skipped by their bytes keep their numbers below titles of other lengths."""
    chance = random.Random(seed)
    rows = [f"{n},name {chance.randrange(99)},{n}.5\n" for n in range(20_000)]
    before = source_of(tmp_path, ABOVE + "id,name,v\n" + "".join(rows), "before")
    number = chance.randrange(20_000)
    rows[number] = f"{number},changed,{number}.5\n"
    after = source_of(tmp_path, "Account 7, of Ann\n\nid,name,v\n" + "".join(rows), "after")
    found = FORMAT.compare(before, after, CompareOptions())

    titles = [each.place.title for each in found.changes]
    assert titles == ["lines beside the table", f"row {number + 1}, name"]


def append(folder: Path, data: bytes) -> Written:
    """Add a row to a file."""
    path = folder / "blob"
    path.write_bytes(data)
    columns = [["id", "integer"], ["name", "string"], ["v", "float"]]
    stream = write_rows(folder / "rows", columns, [[9, 'x "y"', 1.5]])
    target = folder / "out.csv"
    return FORMAT.write_table(Source(path, "a.csv"), stream, Placement(mode="append_rows"), target)


@pytest.mark.parametrize(
    ("data", "added"),
    [
        (ABOVE + ROWS, '9,"x ""y""",1.5\n'),
        (COMMENTED, '9,"x ""y""",1.5\n'),
        (TWICE, '9,"x ""y""",1.5\n'),
        (SEPARATOR, '9;"x ""y""";1.5\n'),
        (ROWS.replace("\n", "\r"), '9,"x ""y""",1.5\r'),
        (ROWS.replace("Ann", '"say \\"A\\" x"'), '9,"x \\"y\\"",1.5\n'),
        ("'id','name','v'\n'1','x, y','2'\n", "'9','x \"y\"','1.5'\n"),
    ],
)
def test_added_rows_are_rows_of_the_table(tmp_path: Path, data: str, added: str) -> None:
    """Every byte that was there stays, and what is added is read as the row that it was."""
    before = FORMAT.map(source_of(tmp_path, data))["row_count"]
    append(tmp_path, data.encode())

    assert (tmp_path / "out.csv").read_bytes() == (data + added).encode()
    after = Source(tmp_path / "out.csv", "a.csv")
    grid = FORMAT.grid(after, GridWindow())
    assert grid.total_rows == before + 1
    assert grid.rows[-1] == ("9", 'x "y"', "1.5")


@pytest.mark.parametrize(("data", "line"), [(ROWS + BELOW, 6), (TWO, 6)])
def test_nothing_is_added_below_what_ends_a_table(tmp_path: Path, data: str, line: int) -> None:
    """Below a remark or another table rows would be lost, so they are refused."""
    with pytest.raises(ValidationFailed, match=f"from line {line} on"):
        append(tmp_path, data.encode())
    assert not (tmp_path / "out.csv").exists()


def test_rows_below_a_total_are_told(tmp_path: Path) -> None:
    """A total stays where it is, and the warning says that rows stand below it."""
    written = append(tmp_path, (ROWS + "Total,,10.5\n").encode())

    assert 'The last row looks like a total ("Total"): the new rows stand below it.' in (
        written.warnings
    )
    with pytest.raises(ValidationFailed, match="set with blanks"):
        append(tmp_path, b"id  name  v\n1   Ann   2\n2   Bob   3\n")
