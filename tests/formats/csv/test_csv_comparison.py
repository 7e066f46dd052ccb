"""Comparison of tables: rows, cells and columns, and whatever else differs; nothing unseen."""

import csv
import io
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from kbd.errors import FileReadFailed, KbdError, ValidationFailed
from kbd.formats import Change, CompareOptions, Comparison, Place, Source
from kbd.plaintext import differences, stretches
from kbd_csv import CsvFormat
from kbd_csv.comparison import version
from kbd_csv.comparison.version import read_rows, read_table_version, trimmed

FORMAT = CsvFormat()
Table = list[list[str]]
HEADER = ["Id", "Name", "City", "Amount"]


class Versions:
    """Two versions of a table in a folder."""

    def __init__(self, folder: Path) -> None:
        self.paths = folder / "before", folder / "after"

    def write(self, before: bytes | str, after: bytes | str) -> tuple[Source, Source]:
        """Write both."""
        for path, data in zip(self.paths, (before, after), strict=True):
            path.write_bytes(data.encode() if isinstance(data, str) else data)
        return Source(self.paths[0], "a.csv"), Source(self.paths[1], "a.csv")

    def compare(self, before: bytes | str, after: bytes | str, *key: str) -> Comparison:
        """Write and compare both."""
        return FORMAT.compare(*self.write(before, after), CompareOptions(key=key or None))


@pytest.fixture
def versions(tmp_path: Path) -> Versions:
    """A folder for two versions."""
    return Versions(tmp_path)


def text(rows: Table, *, delimiter: str = ",", header: Sequence[str] = HEADER) -> str:
    """Rows below their header as delimited text."""
    file = io.StringIO()
    csv.writer(file, delimiter=delimiter, lineterminator="\n").writerows([header, *rows])
    return file.getvalue()


def table(count: int, chance: random.Random) -> Table:
    """Rows with an id, two texts of which some have quotes, and a figure."""
    cities = ["Bern", "Ulm", 'Rome, "old"', "", "two\nlines"]
    return [
        [f"K{n}", f"name {n % 7}", chance.choice(cities), str(chance.randrange(10**6))]
        for n in range(count)
    ]


def brief(change: Change) -> tuple[object, ...]:
    return (change.kind, change.what, change.place.title, change.before, change.after)


def briefs(found: Comparison) -> list[tuple[object, ...]]:
    assert found.total == len(found.changes) == sum(each.count for each in found.counts)
    return [brief(each) for each in found.changes]


def applied(before: Table, found: Comparison, count: int, header: Sequence[str]) -> Table:
    """Make the rows after of the rows before, by what the changes say and nothing else."""
    after: list[list[str] | None] = [None] * count
    gone = set()
    for change in found.changes:
        row = change.place.row
        if change.what != "row":
            continue
        assert row is not None
        if change.kind == "removed":
            assert before[row - 1] == change.before
            gone.add(row)
        elif change.kind == "added":
            after[row - 1] = [*change.after]
        else:
            assert change.moved_from is not None
            assert change.moved_from.row is not None
            gone.add(change.moved_from.row)
            after[row - 1] = [*before[change.moved_from.row - 1]]
    rest = iter([*row] for number, row in enumerate(before, 1) if number not in gone)
    made = [next(rest) if row is None else row for row in after]

    assert next(rest, None) is None
    for change in found.changes:
        if change.what == "cell":
            assert change.place.row is not None
            column = list(header).index(str(change.place.column))
            assert made[change.place.row - 1][column] == (change.before or "")
            made[change.place.row - 1][column] = change.after or ""
    return made


def edited(rows: Table, chance: random.Random, edits: int) -> Table:
    """The rows after some edits of every kind."""
    after = [[*row] for row in rows]
    for number in range(edits):
        place = chance.randrange(len(after))
        match chance.randrange(4):
            case 0:
                after[place][chance.randrange(1, 4)] = f"new {number}"
            case 1:
                after.insert(place, [f"N{number}", "new name", "Oslo", "7"])
            case 2:
                del after[place]
            case _:
                after.insert(chance.randrange(len(after)), after.pop(place))
    return after


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("has_key", [True, False])
def test_changes_make_the_rows_after_of_those_before(
    versions: Versions, seed: int, has_key: bool
) -> None:
    """Whatever was edited, the changes tell all of it, in the places of both versions."""
    chance = random.Random(seed)
    rows = table(chance.randrange(5, 60), chance)
    if not has_key:
        rows = [[str(chance.randrange(3)), *row[1:]] for row in rows]
    after = edited(rows, chance, chance.randrange(1, 15))
    found = versions.compare(text(rows), text(after))

    assert applied(rows, found, len(after), HEADER) == after
    assert (found.total == 0) == (rows == after)


@pytest.fixture
def small_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows and blocks that small tables do not fit into."""
    monkeypatch.setattr(differences, "FIRST_ITEMS", 16)
    monkeypatch.setattr(differences, "MAX_ITEMS", 64)
    monkeypatch.setattr(differences, "SYNC_ITEMS", 4)
    monkeypatch.setattr(differences, "SAMPLED", 4)
    monkeypatch.setattr(differences, "BLOCK_BYTES", 256)
    monkeypatch.setattr(version, "BATCH_CHARS", 200)


@pytest.mark.usefixtures("small_windows")
@pytest.mark.parametrize("seed", range(12))
def test_small_windows_and_skips_tell_the_same(versions: Versions, seed: int) -> None:
    """A large table, of which equal blocks are skipped, is compared as a small one is."""
    chance = random.Random(seed)
    rows = table(chance.randrange(300, 500), chance)
    after = edited(rows, chance, 8)
    if seed % 3 == 0:
        # More is inserted or removed than a window holds.
        block = [[f"B{n}", "block", "Kiel", str(n)] for n in range(150)]
        after[100:100] = block
    found = versions.compare(text(rows), text(after))

    assert applied(rows, found, len(after), HEADER) == after
    assert len(found.changes) < 250


def test_an_inserted_row_is_one_change(versions: Versions) -> None:
    """With a key and without; the rows behind it are the same rows."""
    rows = table(50, random.Random(1))
    after = [*rows[:10], ["K99", "x", "y", "1"], *rows[10:]]
    expected = [("added", "row", "row 11", None, ["K99", "x", "y", "1"])]

    assert briefs(versions.compare(text(rows), text(after))) == expected
    assert briefs(versions.compare(text(after), text(rows))) == [
        ("removed", "row", "row 11", ["K99", "x", "y", "1"], None)
    ]


def test_a_cell_is_told_as_it_stands_in_the_file(versions: Versions) -> None:
    """Strings are those of the file, no value is None, and texts have their words."""
    found = versions.compare(
        "Id,Amount,Note\n1,0010,\n2,1.50,the old note\n", "Id,Amount,Note\n1,10,x\n2,1.5,the note\n"
    )

    assert briefs(found) == [
        ("changed", "cell", "row 1, Amount", "0010", "10"),
        ("changed", "cell", "row 1, Note", None, "x"),
        ("changed", "cell", "row 2, Amount", "1.50", "1.5"),
        ("changed", "cell", "row 2, Note", "the old note", "the note"),
    ]
    assert found.changes[1].place == Place("row 1, Note", row=1, column="Note")
    assert ("removed", "old ") in found.changes[3].words
    assert found.warnings == ("rows are paired by Id",)


def test_rows_with_a_key_are_followed(versions: Versions) -> None:
    """A row that moved and changed is one move and its cells; a new key is another row."""
    rows = [[f"{n}", f"name {n}", "Bern", f"{n}"] for n in range(1, 21)]
    after = [*rows[1:12], ["1", "other", "Ulm", "9"], *rows[12:]]
    found = versions.compare(text(rows), text(after))

    assert [brief(each)[:3] for each in found.changes] == [
        ("moved", "row", "row 12"),
        ("changed", "cell", "row 12, Name"),
        ("changed", "cell", "row 12, City"),
        ("changed", "cell", "row 12, Amount"),
    ]
    assert found.changes[0].moved_from == Place("row 1", row=1)


def test_a_named_key_pairs_rows(versions: Versions) -> None:
    """Columns that are named, together, in any case, say which rows are the same."""
    header = ["region", "year", "amount"]
    rows = [["west", "2023", "1"], ["west", "2024", "2"], ["east", "2023", "3"]]
    after = [["east", "2023", "30"], ["west", "2023", "1"], ["west", "2025", "2"]]
    pair = text(rows, header=header), text(after, header=header)
    found = versions.compare(*pair, "Region", "year")

    assert applied(rows, found, 3, header) == after
    assert ("removed", "row", "row 2", ["west", "2024", "2"], None) in briefs(found)
    assert ("added", "row", "row 3", None, ["west", "2025", "2"]) in briefs(found)
    assert not any("paired" in warning for warning in found.warnings)


def test_a_key_that_identifies_nothing_is_refused(versions: Versions) -> None:
    """Repeated values, in either version, and columns that are not there."""
    header = ["region", "amount"]
    one, two = [["west", "1"], ["east", "2"]], [["west", "1"], ["west", "2"]]
    for before, after, which in ((one, two, "after"), (two, one, "before"), (two, two, "before")):
        with pytest.raises(ValidationFailed, match=f"region does not identify.*2.*{which}.*west"):
            versions.compare(text(before, header=header), text(after, header=header), "region")
    with pytest.raises(ValidationFailed, match=r"'town' is no column.*region, amount"):
        versions.compare(text(one, header=header), text(two, header=header), "town")


def test_columns(versions: Versions) -> None:
    """Columns come, go, move and get other names; none of it changes a cell."""
    rows = table(40, random.Random(2))
    swapped = [[row[3], row[0], row[1], row[2]] for row in rows]
    moved = versions.compare(text(rows), text(swapped, header=[HEADER[3], *HEADER[:3]]))
    more = [[*row[:2], str(n), *row[2:]] for n, row in enumerate(rows)]
    added = versions.compare(text(rows), text(more, header=[*HEADER[:2], "Rank", *HEADER[2:]]))
    named = versions.compare(text(rows), text(rows, header=["Id", "Full name", *HEADER[2:]]))

    assert briefs(moved) == [("moved", "column", "column Amount", 4, 1)]
    assert briefs(added) == [("added", "column", "column Rank", None, "Rank")]
    assert added.changes[0].note == "its first values: 0, 1, 2"
    assert briefs(named) == [("changed", "column", "column Full name", "Name", "Full name")]


def test_cells_beside_a_new_column(versions: Versions) -> None:
    """Cells of the columns that both versions have are compared; rows are one change each."""
    rows = table(30, random.Random(3))
    after = [[*row, "x"] for row in rows]
    after[4][1] = "other"
    after.insert(9, ["N", "n", "c", "1", "y"])
    del after[20]

    assert briefs(versions.compare(text(rows), text(after, header=[*HEADER, "New"]))) == [
        ("added", "column", "column New", None, "New"),
        ("changed", "cell", "row 5, Name", rows[4][1], "other"),
        ("added", "row", "row 10", None, ["N", "n", "c", "1", "y"]),
        ("removed", "row", "row 20", rows[19], None),
    ]


PLAIN = "Id,Name,Amount\n1,Zoé,2\n2,b,4\n"


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (PLAIN.replace(",", ";"), [("changed", "delimiter", "delimiter", ",", ";")]),
        (PLAIN.encode("cp1252"), [("changed", "encoding", "encoding", "utf-8", "cp1252")]),
        (PLAIN.encode("utf-16"), [("changed", "encoding", "encoding", "utf-8", "utf-16")]),
        (
            PLAIN.encode("utf-8-sig"),
            [("added", "byte order mark", "byte order mark", None, None)],
        ),
        (
            PLAIN.replace("\n", "\r\n"),
            [("changed", "line ending", "line ending", "LF", "CRLF")],
        ),
        (PLAIN[:-1], [("removed", "final newline", "final newline", None, None)]),
        (PLAIN.replace("b", '"b"'), [("changed", "notation", "notation", None, None)]),
        (PLAIN.replace("2,b", "\n2,b"), [("changed", "notation", "notation", None, None)]),
        (PLAIN.replace("4\n", "4,\n"), [("changed", "notation", "notation", None, None)]),
        (PLAIN.replace("b", "b\0"), [("changed", "zero bytes", "zero bytes", 0, 1)]),
    ],
)
def test_how_a_table_is_written_differs(
    versions: Versions, after: str | bytes, expected: list[tuple[object, ...]]
) -> None:
    """What no cell shows is a change of its own, and the cells are equal."""
    assert briefs(versions.compare(PLAIN, after)) == expected


def test_bytes_that_no_reader_sees_are_a_change(versions: Versions) -> None:
    """Where two files read the same and are not, their sizes and sums are told."""
    found = versions.compare(PLAIN, PLAIN + "\n")

    assert [brief(each)[:3] for each in found.changes] == [("changed", "bytes", "bytes")]
    assert found.changes[0].before["size_bytes"] + 1 == found.changes[0].after["size_bytes"]


def test_a_header_comes(versions: Versions) -> None:
    """Names above the same rows are one change."""
    rows = "1,2.5\n2,3.5\n3,4.5\n"

    assert briefs(versions.compare(rows, "n,amount\n" + rows)) == [
        ("added", "header", "header", None, ["n", "amount"])
    ]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("a,b\n1,2\n3,4,5\n6\n", "a,b\n1,2\n3,4,6\n6,7\n"),
        ("a,b\n", "a,b\n1,2\n"),
        ("", "a,b\n1,2\n"),
        ("one\n\ntwo\n", "one\n\n\ntwo\n"),
        ('a,b\n1,"x\n2,y\n', 'a,b\n1,"x\n2,z\n'),
        ('a,b\n1,x"y\n2,"p\nq"\n', 'a,b\n1,x"y\n2,"p\nr"\n'),
        ("a,b\r1,2\r", "a,b\r1,3\r"),
    ],
)
def test_odd_tables_are_compared(versions: Versions, before: str, after: str) -> None:
    """Ragged rows, headers alone, empty files, quotes without end: a change, both ways."""
    for one, other in ((before, after), (after, before)):
        found = versions.compare(one, other)
        assert found.total >= 1
        assert found.total == len(found.changes)
    assert versions.compare(before, before).changes == ()


@pytest.mark.usefixtures("small_windows")
def test_more_than_is_held_is_counted(versions: Versions, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where everything differs the first rows are paired, the others counted, and it says so."""
    monkeypatch.setattr(stretches, "MAX_HELD", 100)
    rows = [[str(n), "a", "b", str(n)] for n in range(400)]
    found = versions.compare(text(rows), text([[*row[:3], "9999"] for row in rows]))
    counts = {(each.kind, each.what): each.count for each in found.counts}

    changed = counts["changed", "cell"] + counts["changed", "row"]
    for kind in ("removed", "added"):
        assert changed + counts.get((kind, "row"), 0) == 400
    assert 50 <= counts["changed", "cell"] < 200
    assert any("only counted" in warning for warning in found.warnings)


def test_what_takes_too_long_is_left_out(
    versions: Versions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the time for it the comparison ends, with what it has and a warning."""
    monkeypatch.setattr(stretches, "MAX_SECONDS", -1)
    found = versions.compare(text([["1", "a", "b", "c"]]), text([["1", "a", "b", "d"]]))

    assert any("the rest would take too long" in warning for warning in found.warnings)


def test_a_new_table_and_one_that_is_gone(versions: Versions) -> None:
    """Each row was added, or removed, and so was the header."""
    source, _ = versions.write(PLAIN, PLAIN)
    new = FORMAT.compare(None, source, CompareOptions())
    gone = FORMAT.compare(source, None, CompareOptions())

    assert briefs(new) == [
        ("added", "header", "header", None, ["Id", "Name", "Amount"]),
        ("added", "row", "row 1", None, ["1", "Zoé", "2"]),
        ("added", "row", "row 2", None, ["2", "b", "4"]),
    ]
    assert [(each.kind, each.before) for each in gone.changes] == [
        ("removed", each.after) for each in new.changes
    ]


@pytest.mark.parametrize("seed", range(8))
def test_places_are_followed_there_and_back(versions: Versions, seed: int) -> None:
    """A row that is in both versions is found from either; what differs there is known."""
    chance = random.Random(seed)
    rows = table(40, chance)
    after = edited(rows, chance, 10)
    old, new = versions.write(text(rows), text(after))
    places = tuple(Place(f"row {n}", row=n) for n in range(1, len(rows) + 1))
    cells = tuple(Place("cell", row=n, column="Name") for n in range(1, len(rows) + 1))
    traces = FORMAT.trace(old, new, (*places, *cells), forward=True)
    backwards = {
        trace.place: back
        for trace, back in zip(
            traces,
            FORMAT.trace(old, new, tuple(t.place or Place("") for t in traces), forward=False),
            strict=True,
        )
    }
    ids = [row[0] for row in after]
    for number, place in enumerate(places):
        trace, cell, row = traces[number], traces[number + len(rows)], rows[number]
        assert (trace.place is not None) == (cell.place is not None) == (row[0] in ids)
        if trace.place is not None and trace.place.row is not None:
            there = after[trace.place.row - 1]
            assert trace.place.row == ids.index(row[0]) + 1
            assert trace.is_changed == (there != row)
            assert cell.is_changed == (there[1] != row[1])
            back = backwards[trace.place]
            assert (back.place, back.is_changed) == (place, trace.is_changed)


def test_columns_and_parts_are_followed(versions: Versions) -> None:
    """A column by its new name; what is no row is in both versions."""
    rows = table(20, random.Random(4))
    after = [[*row] for row in rows]
    after[3][2] = "Kiel"
    old, new = versions.write(text(rows), text(after, header=["Id", "Full name", *HEADER[2:]]))
    places = (
        Place("column Name", column="Name"),
        Place("column City", column="City"),
        Place("delimiter", part="delimiter"),
        Place("row 99", row=99),
        Place("row 1, Gone", row=1, column="Gone"),
    )
    found = FORMAT.trace(old, new, places, forward=True)

    assert [each.place and each.place.title for each in found] == [
        "column Full name", "column City", "delimiter", None, None,
    ]  # fmt: skip
    assert [each.is_changed for each in found[:2]] == [False, True]


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("row 2", "row 2"),
        ("2", "row 2"),
        ("Row #2", "row 2"),
        ("row 2, amount", "row 2, Amount"),
        ("Amount row 2", "row 2, Amount"),
        ("Amount in row 2", "row 2, Amount"),
        ("column amount", "column Amount"),
        ("AMOUNT", "column Amount"),
        ("row 1, column 2", "row 1, Name"),
        ("delimiter", "delimiter"),
    ],
)
def test_places_are_understood_as_people_write_them(
    versions: Versions, written: str, title: str
) -> None:
    """Rows, cells and columns, in any case, in either order."""
    source, _ = versions.write(PLAIN, PLAIN)

    assert FORMAT.locate(source, written).title == title


@pytest.mark.parametrize("written", ["row 3", "row 0", "sheet 1", "", "row 1, Town"])
def test_other_places_are_refused(versions: Versions, written: str) -> None:
    """With how places are written, or how many rows there are."""
    source, _ = versions.write(PLAIN, PLAIN)
    with pytest.raises(ValidationFailed, match=r"row"):
        FORMAT.locate(source, written)


@pytest.mark.parametrize("seed", range(6))
def test_titles_locate_what_they_are_of(versions: Versions, seed: int) -> None:
    """Every title of a change is understood, and means the change's own place."""
    chance = random.Random(seed)
    rows = table(30, chance)
    found = versions.compare(text(rows), text(edited(rows, chance, 12)))
    for change in found.changes:
        path = versions.paths[change.kind != "removed"]

        assert FORMAT.locate(Source(path, "a.csv"), change.place.title) == change.place


def corpus(corpora: Path) -> list[Path]:
    return sorted((corpora / "csv").glob("*"))


def check_with_itself(path: Path) -> None:
    """A file is equal to itself, and its rows are those that reading the table gives."""
    source = Source(path, path.name if path.suffix else "a.csv")
    try:
        FORMAT.map(source)
    except FileReadFailed:
        with pytest.raises(FileReadFailed):
            FORMAT.compare(source, source, CompareOptions())
        return
    found = FORMAT.compare(source, source, CompareOptions())

    assert (found.changes, found.total) == ((), 0)


@pytest.mark.corpora
def test_real_tables_equal_themselves(corpora: Path) -> None:
    """The diff of a file with itself is empty, whatever the file."""
    for path in corpus(corpora)[::12]:
        check_with_itself(path)


@pytest.mark.full
@pytest.mark.corpora
def test_all_real_tables_equal_themselves(corpora: Path) -> None:
    """The diff of every file of the corpus with itself is empty."""
    for path in corpus(corpora):
        check_with_itself(path)


def check_rows(path: Path) -> None:
    """The rows of a comparison are numbered as those of the map."""
    source = Source(path, path.name)
    try:
        count = FORMAT.map(source)["row_count"]
    except FileReadFailed:
        return
    found = read_table_version(source)
    rows = sum(len(each.items) for each in read_rows(found, found.start, trimmed))

    assert rows - found.has_header == count, path.name


def test_records_of_other_types_are_no_rows_of_a_comparison(tmp_path: Path) -> None:
    """A head and a trailer are counted as the map counts them, among the rows and below them."""
    path = tmp_path / "records.csv"
    path.write_text("H,20240131,ACME\nD,1,a,10.00\nS,30.00\nD,2,b,20.00\nT,2,30.00\n")

    assert FORMAT.map(Source(path, path.name))["row_count"] == 2
    check_rows(path)


def check_planted(path: Path, folder: Path, chance: random.Random) -> None:
    """A cell that is changed in a real file is found, at its place, and nothing else is."""
    source = Source(path, path.name)
    try:
        known = read_table_version(source)
        items = [row for each in read_rows(known, known.start, trimmed) for row in each.items]
    except FileReadFailed:
        return
    rows = items[known.has_header :]
    if known.text.encoding.name != "utf-8" or known.text.encoding.repairs or not rows:
        return
    data = path.read_bytes()
    number = chance.randrange(len(rows))
    row = rows[number]
    at = sum(len(each.text.encode()) for each in items[: number + known.has_header])
    line = row.text.encode()
    if not row.fields[0].isalnum() or data.count(b"\0") or not line.strip():
        return
    target = folder / "after"
    start = data[at:].index(row.fields[0].encode()) + at
    planted = data[:start] + b"Planted7" + data[start + len(row.fields[0].encode()) :]
    target.write_bytes(planted)
    try:
        found = FORMAT.compare(source, Source(target, path.name), CompareOptions())
    except FileReadFailed:
        return

    assert found.total >= 1, path.name
    assert any("Planted7" in str(change.after) for change in found.changes), path.name


@pytest.mark.corpora
def test_planted_values_are_found(corpora: Path, tmp_path: Path) -> None:
    """Rows are numbered as the map counts them, and a value that was changed is named."""
    for path in corpus(corpora)[::9]:
        check_rows(path)
        check_planted(path, tmp_path, random.Random(path.name))


@pytest.mark.full
@pytest.mark.corpora
def test_all_planted_values_are_found(corpora: Path, tmp_path: Path) -> None:
    """The same in every file of the corpus."""
    for path in corpus(corpora):
        check_rows(path)
        check_planted(path, tmp_path, random.Random(path.name))


@pytest.mark.corpora
def test_unlike_files_are_compared(corpora: Path) -> None:
    """Any two tables: a comparison or an error of kbd, and a change at least."""
    paths = corpus(corpora)
    chance = random.Random(11)
    for _ in range(40):
        one, other = chance.sample(paths, 2)
        try:
            found = FORMAT.compare(Source(one, "a.csv"), Source(other, "a.csv"), CompareOptions())
        except KbdError:
            continue

        assert found.total or one.read_bytes() == other.read_bytes(), (one.name, other.name)


@pytest.mark.parametrize("call", ["compare", "trace", "locate"])
def test_files_that_are_no_tables_are_refused(versions: Versions, call: str) -> None:
    """A line of nine megabytes, and a file that is not there, are errors of kbd."""
    good, bad = versions.write(PLAIN, b"a,b\n1," + b"x" * 9_000_000)
    calls: dict[str, Callable[[Source], object]] = {
        "compare": lambda source: FORMAT.compare(good, source, CompareOptions()),
        "trace": lambda source: FORMAT.trace(good, source, (), forward=True),
        "locate": lambda source: FORMAT.locate(source, "row 2"),
    }
    for source in (bad, Source(versions.paths[0].with_name("none"), "a.csv")):
        with pytest.raises(FileReadFailed):
            calls[call](source)
