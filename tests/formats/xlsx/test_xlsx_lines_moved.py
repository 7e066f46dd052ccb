"""Moved references, judged by others: an engine that moves them, LibreOffice, real workbooks."""

import csv
import random
import subprocess
import tempfile
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import ironcalc
import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.utils import get_column_letter

from compared_books import book as compared_book
from compared_books import source, table
from kbd.errors import KbdError
from kbd.formats import CompareOptions
from real_workbooks import real_workbooks
from shifted_books import FORMAT, Move, edit, loaded, misplaced, unnamed_differences

SEED = 23
SHEETS = ("Data", "My Sums")
ROWS, COLUMNS = 9, 5

_PREFIXES = st.sampled_from(["", "", "", "Data!", "'My Sums'!"])
_SIGNS = st.sampled_from(["", "$"])


@st.composite
def _corners(draw: st.DrawFn) -> str:
    column = get_column_letter(draw(st.integers(1, COLUMNS + 2)))
    return f"{draw(_SIGNS)}{column}{draw(_SIGNS)}{draw(st.integers(1, ROWS + 3))}"


@st.composite
def _areas(draw: st.DrawFn) -> str:
    top, bottom = sorted((draw(st.integers(1, ROWS + 3)), draw(st.integers(1, ROWS + 3))))
    left, right = sorted((draw(st.integers(1, COLUMNS + 2)), draw(st.integers(1, COLUMNS + 2))))
    one, two = draw(_SIGNS), draw(_SIGNS)
    ends = f"{one}{get_column_letter(left)}{two}{top}", f"{get_column_letter(right)}{bottom}"
    return f"{draw(_PREFIXES)}{':'.join(ends)}"


@st.composite
def _formulas(draw: st.DrawFn) -> str:
    area = draw(st.one_of(_areas(), st.sampled_from(["$A:B", "Data!C:C", "SUM(B2:C3)"])))
    cell = draw(_prefixed())
    return f"=SUM({area})+{cell}*{draw(st.integers(2, 99))}"


@st.composite
def _prefixed(draw: st.DrawFn) -> str:
    return draw(_PREFIXES) + draw(_corners())


_BOOKS = st.lists(
    st.tuples(st.integers(0, 1), st.integers(1, ROWS), st.integers(1, COLUMNS), _formulas()),
    min_size=1, max_size=12, unique_by=lambda each: each[:3],
)  # fmt: skip
_MOVES = st.builds(
    Move,
    st.sampled_from(SHEETS),
    st.sampled_from(["rows", "columns"]),
    st.integers(1, COLUMNS),
    st.sampled_from([1, 2, -1, -2]),
)


def _sequences(most: int) -> st.SearchStrategy[list[Move]]:
    """Moves of which one at most takes lines out.

    A range of which the engine lost an end with one loses the other with a second.
    """
    moves = st.lists(_MOVES, min_size=1, max_size=most)
    return moves.filter(lambda found: sum(move.lines < 0 for move in found) <= 1)


def written(path: Path, cells: list[tuple[int, int, int, str]]) -> None:
    book = openpyxl.Workbook()
    book.worksheets[0].title = SHEETS[0]
    book.create_sheet(SHEETS[1])
    for sheet, row, column, formula in cells:
        book.worksheets[sheet].cell(row, column, formula)
    book.save(path)


def by_engine(cells: list[tuple[int, int, int, str]], moves: list[Move]) -> dict[Any, str]:
    """The formulas of a book after moves, as an engine moves them."""
    model = ironcalc.create("book", "en", "UTC", "en")
    model.rename_sheet(0, SHEETS[0])
    model.add_sheet(SHEETS[1])
    for cell in cells:
        model.set_user_input(*cell)
    for move in moves:
        does = "insert" if move.lines > 0 else "delete"
        change = getattr(model, f"{does}_{move.axis}")
        change(SHEETS.index(move.sheet), move.line, abs(move.lines))
    return {
        (sheet, row, column): str(model.get_cell_formula(sheet, row, column))
        for sheet in (0, 1)
        for row in range(1, ROWS + 8)
        for column in range(1, COLUMNS + 8)
        if model.get_cell_formula(sheet, row, column)
    }


def compare_with_engine(cells: list[tuple[int, int, int, str]], moves: list[Move]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "book.xlsx"), Path(folder, "out.xlsx")
        written(path, cells)
        edit(path, *(move.operation() for move in moves), to=out)
        found = {
            (number, cell.row, cell.column): cell.value
            for number, sheet in enumerate(loaded(out).worksheets)
            for row in sheet.iter_rows()
            for cell in row
            if isinstance(cell.value, str)
        }
    right = {key: plain(text) for key, text in by_engine(cells, moves).items()}
    assert found.keys() == right.keys()
    for key, text in right.items():
        # Of a range that loses its first or last line the engine loses that end; programs keep
        # what is left of it, as LibreOffice shows.
        if "#REF!:" not in text and ":#REF!" not in text:
            assert plain(found[key]) == text


def plain(formula: str) -> str:
    """A formula without what is written in several ways: lost references."""
    formula = formula.replace("#REF!:#REF!", "#REF!")
    for title in SHEETS:
        for name in (title, f"'{title}'"):
            formula = formula.replace(f"{name}!#REF!", "#REF!")
    return formula


@settings(max_examples=15, deadline=None)
@given(cells=_BOOKS, moves=_sequences(2))
def test_an_engine_moves_references_alike(
    cells: list[tuple[int, int, int, str]], moves: list[Move]
) -> None:
    """Formulas of both sheets name the cells that IronCalc has them name."""
    compare_with_engine(cells, moves)


@pytest.mark.full
@settings(max_examples=100, deadline=None)
@given(cells=_BOOKS, moves=_sequences(4))
def test_an_engine_moves_references_alike_in_many_books(
    cells: list[tuple[int, int, int, str]], moves: list[Move]
) -> None:
    """The same of more books and longer sequences."""
    compare_with_engine(cells, moves)


@settings(max_examples=15, deadline=None)
@given(cells=_BOOKS, move=_MOVES)
def test_what_comes_and_goes_leaves_nothing(
    cells: list[tuple[int, int, int, str]], move: Move
) -> None:
    """Insert, then delete: the parts of all sheets are what they were, byte for byte."""
    there = move._replace(lines=abs(move.lines))
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder, "book.xlsx"), Path(folder, "out.xlsx")
        written(path, cells)
        edit(path, there.operation(), there._replace(lines=-there.lines).operation(), to=out)
        with zipfile.ZipFile(path) as one, zipfile.ZipFile(out) as two:
            for name in one.namelist():
                if "worksheets" in name:
                    assert one.read(name) == two.read(name)


@pytest.mark.parametrize(
    ("move", "places"),
    [
        (Move("Data", "rows", 5, 2), ["Data!5:5", "Data!6:6"]),
        (Move("Data", "rows", 5, -2), ["Data!5:5", "Data!6:6"]),
        (Move("Data", "columns", 3, 1), ["Data!C:C"]),
        (Move("Data", "columns", 2, -1), ["Data!B:B"]),
        (Move("Data", "columns", 1, 1), ["Data!A:A"]),
    ],
    ids=str,
)
def test_the_review_names_just_these_lines(tmp_path: Path, move: Move, places: list[str]) -> None:
    """A comparison shows the rows or columns that came or went, and nothing else."""
    path, out = tmp_path / "book.xlsx", tmp_path / "out.xlsx"
    compared_book(path, table(30))

    edit(path, move.operation(), to=out)

    changes = FORMAT.compare(source(path), source(out), CompareOptions()).changes
    assert [change.place.title for change in changes if change.place] == places
    assert {change.what for change in changes} == {move.axis[:-1]}


def test_the_review_names_a_comment_that_went_once(tmp_path: Path) -> None:
    """The drawing that the last comment leaves without a shape is no change of its own."""
    bare, path, out = (tmp_path / f"{name}.xlsx" for name in ("bare", "book", "out"))
    compared_book(bare, table(9))
    edit(bare, {"op": "set_comment", "sheet": "Data", "cell": "A5", "text": "why"}, to=path)

    edit(path, Move("Data", "rows", 5, -1).operation(), to=out)

    changes = FORMAT.compare(source(path), source(out), CompareOptions()).changes
    assert {change.what for change in changes} <= {"row", "comment"}


def moves_of(path: Path, rng: random.Random, count: int) -> list[Move]:
    """Moves at the edges and in the middle of a workbook's sheets."""
    found = []
    sheets = [each for each in loaded(path).worksheets if each.max_row * each.max_column < 20_000]
    for _ in range(count if sheets else 0):
        sheet = rng.choice(sheets)
        axis = rng.choice(["rows", "rows", "columns"])
        end = sheet.max_row if axis == "rows" else sheet.max_column
        line = rng.choice([1, 2, max(1, end // 2), end])
        found.append(Move(sheet.title, axis, line, rng.choice([1, 3, -1, -2])))
    return found


@pytest.mark.full
@pytest.mark.corpora
@pytest.mark.parametrize("part", range(4))
def test_cells_of_real_workbooks_are_at_their_places(
    corpora: Path, tmp_path: Path, part: int
) -> None:
    """Values, styles and formulas of all sheets, judged by openpyxl and its tokenizer."""
    paths = real_workbooks(corpora) + sorted((corpora / "spreadsheetbench").rglob("*_input.xlsx"))
    rng, out = random.Random(SEED + part), tmp_path / "out.xlsx"
    done: Counter[str] = Counter()
    wrong: list[Any] = []
    # A quarter of them: each was tried, but all take minutes.
    for path in paths[part::16]:
        try:
            moves = moves_of(path, rng, 1)
        except Exception:  # noqa: BLE001 - openpyxl raises anything
            continue
        for move in moves:
            try:
                applied = edit(path, move.operation(), to=out)
            except KbdError:
                done["refused"] += 1
                continue
            done["done"] += 1
            found: list[Any] = [*list(misplaced(path, out, move))[:2]]
            differences = unnamed_differences(path, out)
            if move.lines < 0:
                # Texts of deleted cells are gone from there; the values prove the others.
                differences = [key for key in differences if key != "xl/sharedstrings.xml"]
            found += differences
            if move.lines > 0 and any("#REF!" in text for text in applied.warnings):
                found.append(("lost", applied.warnings))
            if found:
                wrong.append((path.name, move, found))
    assert wrong == []
    assert done["refused"] < 0.15 * done["done"]


def calculated(paths: list[Path], folder: Path) -> list[dict[str, list[list[str]]]]:
    """The values of workbooks by sheet, once LibreOffice has calculated all formulas anew."""
    every = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,true,false,false,false,-1"
    subprocess.run(
        ["soffice", f"-env:UserInstallation={(folder / 'profile').as_uri()}", "--headless",
         "--convert-to", every, "--outdir", folder, *paths],
        check=True, capture_output=True, timeout=300,
    )  # fmt: skip
    return [
        {
            file.stem.removeprefix(f"{path.stem}-"): list(
                csv.reader(file.read_text("utf-8").splitlines())
            )
            for file in folder.glob(f"{path.stem}-*.csv")
        }
        for path in paths
    ]


def without_results(path: Path) -> None:
    """Take the stored results out, so that whoever shows one has calculated it."""
    book = loaded(path)
    book.save(path)


def moved_rows(rows: list[list[str]], move: Move) -> dict[tuple[int, int], str]:
    """Values that are not empty, by the place to which they move."""
    found = {}
    for row, values in enumerate(rows, 1):
        for column, value in enumerate(values, 1):
            place = move.of(row, "rows"), move.of(column, "columns")
            if value and place[0] and place[1]:
                found[place[0], place[1]] = value
    return found


def _at(rows: list[list[str]]) -> dict[tuple[int, int], str]:
    return moved_rows(rows, Move("", "rows", 1_048_576, 1))


# Their results are of the moment, or tell where a cell stands.
_OTHERWISE = ("ROW", "COLUMN", "CELL(", "INDIRECT", "OFFSET", "NOW(", "TODAY(", "RAND", "ADDRESS")


@pytest.mark.full
@pytest.mark.corpora
@pytest.mark.libreoffice
def test_libreoffice_calculates_the_same(corpora: Path, tmp_path: Path) -> None:
    """Rows put into real workbooks with formulas: the same values at the moved places."""
    rng = random.Random(SEED)
    paths = sorted((corpora / "spreadsheetbench").rglob("*_input.xlsx"))
    rng.shuffle(paths)
    trials = []
    for number, path in enumerate(paths):
        texts = [
            cell.value
            for sheet in loaded(path).worksheets
            for row in sheet.iter_rows()
            for cell in row
            if cell.data_type == "f"
        ]
        if not texts or any(word in str(text) for text in texts for word in _OTHERWISE):
            continue
        one, two = tmp_path / f"{number}a.xlsx", tmp_path / f"{number}b.xlsx"
        one.write_bytes(path.read_bytes())
        move = next(iter(moves_of(path, rng, 1)), None)
        if move is None:
            continue
        move = move._replace(lines=abs(move.lines))
        try:
            edit(one, move.operation(), to=two)
        except KbdError:
            continue
        for each in (one, two):
            without_results(each)
        trials.append((path.name, move, one, two))
        if len(trials) == 8:
            break
    shown = calculated([path for _, _, *both in trials for path in both], tmp_path)

    assert len(trials) > 3
    for number, (name, move, _, _) in enumerate(trials):
        before, after = shown[2 * number], shown[2 * number + 1]
        for title, rows in before.items():
            right = moved_rows(rows, move) if title == move.sheet else _at(rows)
            found = _at(after[title])
            assert {place: found.get(place) for place in right} == right, (name, move, title)
            # New columns of a table have names.
            assert all(found[place].startswith("Column") for place in found.keys() - right.keys())
