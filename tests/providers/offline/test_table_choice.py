"""Which of several tables a request is about: the one that has what it names, else a question."""

from pathlib import Path

import anyio
import pyarrow as pa
import pytest
from pyarrow import parquet

from ods_books import ods_book, row, table, typed
from providers.offline.playing import Outcome, Player

SALES = "Kunde;Umsatz;Datum\nA;1.234,50;2024-01-02\nB;2,50;2024-01-03\n"
PEOPLE = "Name,Stadt\nA,Berlin\nB,Bonn\n"
STOCK = "Artikel,Menge\nx,3\ny,4\nx,4\n"
FILES: dict[str, str | bytes] = {"sales.csv": SALES, "people.csv": PEOPLE, "stock.csv": STOCK}
QUESTION = "it may be about any of"


def play(root: Path, request: str, files: dict[str, str | bytes]) -> tuple[Player, Outcome]:
    """Run a request and return the player and the outcome."""
    player = Player(root, files)
    return player, anyio.run(player.run, request)


def test_the_only_file_with_the_column_is_read_and_said(tmp_path: Path) -> None:
    """A figure of it is answered, and the answer names the file."""
    _, outcome = play(tmp_path, "total Umsatz", FILES)
    assert "Total Umsatz 1,237.00" in outcome.summary
    assert 'sales.csv was read, of 3 tables the only one with "Umsatz"' in outcome.summary


def test_duplicates_go_by_the_column_that_is_named(tmp_path: Path) -> None:
    """The file that has it loses rows, in a copy."""
    player, outcome = play(tmp_path, "remove duplicates by Artikel", FILES)
    assert player.workbench.content("stock-without-duplicates.csv") == b"Artikel,Menge\nx,3\ny,4\n"
    assert 'stock.csv was read, of 3 tables the only one with "Artikel"' in outcome.summary


@pytest.mark.parametrize(
    ("request_text", "other"),
    [
        ("total Umsatz", "Kunde,Umsatz\nA,3\n"),
        # A column that has no figure yet may be the one that is meant.
        ("total Umsatz", "Kunde,Umsatz\nA,three\n"),
        # What names no column may be about any of them.
        ("count rows", PEOPLE),
        ("total", PEOPLE),
        ("convert to xlsx", PEOPLE),
    ],
)
def test_where_two_fit_it_asks(tmp_path: Path, request_text: str, other: str) -> None:
    """Nothing is read of a file that nobody chose."""
    _, outcome = play(tmp_path, request_text, {**FILES, "other.csv": other})
    assert QUESTION in outcome.summary
    assert "other.csv" in outcome.summary


def test_a_whole_name_goes_before_a_part_of_one(tmp_path: Path) -> None:
    """As it does among the columns of one table."""
    files = {**FILES, "other.csv": "Kunde,Umsatz Vorjahr\nA,3\n"}
    _, outcome = play(tmp_path, "total Umsatz", files)
    assert "Total Umsatz 1,237.00" in outcome.summary


def test_a_parquet_file_and_sheets_are_chosen_alike(tmp_path: Path) -> None:
    """Whatever kind the table is of, also the only sheet of several that answers."""
    path = tmp_path / "made.parquet"
    parquet.write_table(pa.table({"Region": ["N", "S"], "Profit": [1, 2]}), path)
    sheets = table(rows=row("Kunde", "Ort") + row("A", "X"), name="Wer") + table(
        rows=row("Kunde", "Betrag") + row("A", typed("float", "7", "7")), name="Wieviel"
    )
    files: dict[str, str | bytes] = {"sales.csv": SALES, "made.parquet": path.read_bytes()}
    _, outcome = play(tmp_path / "p", "total Profit", files)
    assert "Total Profit 3" in outcome.summary
    assert "made.parquet was read" in outcome.summary
    book = ods_book(tmp_path / "made.ods", sheets).read_bytes()
    _, outcome = play(tmp_path / "s", "total Betrag", {"b.ods": book, "people.csv": PEOPLE})
    assert "Total Betrag 7" in outcome.summary
    assert 'b.ods: Wieviel was read, of 2 tables the only one with "Betrag"' in outcome.summary
    _, outcome = play(tmp_path / "k", "count rows", {"b.ods": book})
    assert 'any of the sheets "Wer", "Wieviel"; say which one' in outcome.summary


def test_a_text_table_beside_a_workbook_is_said(tmp_path: Path) -> None:
    """It goes before, as ever, and the answer tells how to have the other."""
    book = ods_book(tmp_path / "a.ods", table(rows=row("Menge") + row(typed("float", "1", "1"))))
    files: dict[str, str | bytes] = {"stock.csv": STOCK, "b.ods": book.read_bytes()}
    _, outcome = play(tmp_path / "w", "total Menge", files)
    assert "Total Menge 11" in outcome.summary
    assert "stock.csv was read; name a file to have it read: b.ods" in outcome.summary


MONTHS = ("Jan", "Feb", "Q1 2024", "Betrag")


def months(folder: Path) -> bytes:
    """A workbook of which each sheet has the same columns, and another amount."""
    sheets = "".join(
        table(rows=row("Wer", "Betrag") + row("A", typed("float", str(at), str(at))), name=name)
        for at, name in enumerate(MONTHS, 1)
    )
    return ods_book(folder / "m.ods", sheets).read_bytes()


@pytest.mark.sampled(5)
@pytest.mark.parametrize(
    ("request_text", "figure"),
    [
        ("total Betrag of Jan", "Total Betrag 1"),
        ("sum of Betrag in m.ods Feb", "Total Betrag 2"),
        ("sum of Betrag in feb of m.ods", "Total Betrag 2"),
        ('total Betrag in the sheet "Jan"', "Total Betrag 1"),
        ('what is the total Betrag in "Q1 2024"?', "Total Betrag 3"),
        ("total Betrag of Q1 2024", "Total Betrag 3"),
        ("total Betrag of sheet Betrag", "Total Betrag 4"),
        ("sort Jan by Betrag", "Rows sorted by Betrag, in m-jan-sorted.xlsx"),
        ("sort the rows of Feb by Wer", "Rows sorted by Wer, in m-feb-sorted.xlsx"),
        ("convert jan to parquet", "m-jan.parquet has 1 row"),
        ("remove duplicates in Jan", "in m-jan-without-duplicates.xlsx"),
        # None is named, or what is named may be a column, or two are.
        ("total Betrag", "say which one"),
        ("total of Betrag", "say which one"),
        ("total Betrag of Jan and Feb", "This was not done"),
        ("total Betrag of Mar", "Mar"),
        ("total Betrag by Jan", "This was not done"),
        ("remove duplicates", "say which one"),
    ],
)
def test_a_sheet_is_named_without_the_word_for_it(
    tmp_path: Path, request_text: str, figure: str
) -> None:
    """By its name behind the words that lead to a table, or in quotes; also beside other files."""
    files: dict[str, str | bytes] = {"m.ods": months(tmp_path)}
    _, outcome = play(tmp_path / "one", request_text, files)
    assert figure in outcome.summary
    assert "the only one with" not in outcome.summary
    if "say which" not in figure and "not done" not in figure and figure != "Mar":
        more = {**files, "people.csv": PEOPLE}
        _, outcome = play(tmp_path / "two", request_text, more)
        assert figure in outcome.summary


def test_a_named_sheet_goes_before_a_text_table_with_its_columns(tmp_path: Path) -> None:
    """With the word "sheet" before its name nothing else can be meant."""
    files: dict[str, str | bytes] = {"m.ods": months(tmp_path), "b.csv": "Wer,Betrag\nA,9\n"}
    _, outcome = play(tmp_path / "p", "total Betrag of sheet Feb", files)
    assert "Total Betrag 2" in outcome.summary


def test_a_copy_of_a_sheet_keeps_its_totals(tmp_path: Path) -> None:
    """The sheet that is named goes over as it is, and the answer says nothing else of it."""
    amounts = (("A", "1"), ("B", "2"), ("Total", "3"))
    rows = "".join(row(name, typed("float", at, at)) for name, at in amounts)
    sheets = "".join(table(rows=row("Wer", "Betrag") + rows, name=name) for name in MONTHS[:2])
    files: dict[str, str | bytes] = {"m.ods": ods_book(tmp_path / "m.ods", sheets).read_bytes()}
    player, outcome = play(tmp_path / "p", "convert Jan to csv", files)
    assert player.workbench.content("m-jan.csv").count(b"\n") == 4
    assert "left out" not in outcome.summary


def test_a_value_goes_before_a_sheet_that_is_called_so(tmp_path: Path) -> None:
    """What can be read without the name of a sheet is read without it."""
    sheets = "".join(
        table(rows=row("Ort", "Betrag") + row("Nord", typed("float", at, at)), name=name)
        for name, at in (("Nord", "1"), ("Alle", "2"))
    )
    files: dict[str, str | bytes] = {"m.ods": ods_book(tmp_path / "m.ods", sheets).read_bytes()}
    _, outcome = play(tmp_path / "p", "total Betrag where Ort is Nord", files)
    assert "say which one" in outcome.summary
