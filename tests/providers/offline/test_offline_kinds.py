"""Jobs of the offline provider on files that it reads and does not write, and on Parquet."""

import io
import json
from pathlib import Path
from typing import Any

import anyio
import duckdb
import pyarrow as pa
import pytest
from openpyxl import load_workbook
from pyarrow import ipc

from kbd.jobs.records import ConvertStep
from kbd_offline.request import Declined, Question
from ods_books import ods_book, row, table, typed
from providers.offline.playing import Outcome, Player
from providers.offline.test_understanding import job, number, read, target, text, where

ROWS = (("Food", 3.5), ("Rent", 12.0), ("Food", -1.25), ("Food", -1.25))


def spreadsheet(folder: Path, *, sheets: int = 1) -> bytes:
    """The rows as an OpenDocument spreadsheet, whose cells show other figures than they hold."""
    rows = row("Category", "Amount")
    for category, amount in ROWS:
        rows += row(category, typed("float", str(amount), "1.234"))
    tables = "".join(table(rows=rows, name=f"S{number}") for number in range(1, sheets + 1))
    return ods_book(folder / "made.ods", tables).read_bytes()


def arrow() -> bytes:
    """The rows as an Arrow file."""
    columns = {"Category": [one for one, _ in ROWS], "Amount": [amount for _, amount in ROWS]}
    sink = pa.BufferOutputStream()
    made = pa.table(columns)
    with ipc.new_file(sink, made.schema) as writer:
        writer.write_table(made)
    return bytes(sink.getvalue())


def play(root: Path, request: str, files: dict[str, str | bytes]) -> tuple[Player, Outcome]:
    """Run a request and return the player and the outcome."""
    player = Player(root, files)
    return player, anyio.run(player.run, request)


def sheet(player: Player, name: str) -> list[tuple[Any, ...]]:
    """Return the values of the first sheet of a workbook."""
    found = load_workbook(io.BytesIO(player.workbench.content(name)), data_only=True)
    return list(found.worksheets[0].iter_rows(values_only=True))


def parquet(player: Player, folder: Path, name: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the types and rows of a Parquet file, as DuckDB reads it."""
    path = folder / "read.parquet"
    path.write_bytes(player.workbench.content(name))
    with duckdb.connect() as connection:
        found = connection.execute(f"FROM '{path}'")
        return [str(column[1]) for column in found.description], found.fetchall()


@pytest.mark.full
def test_groups_of_a_spreadsheet_and_an_arrow_file(tmp_path: Path) -> None:
    """Their figures are those that they hold; the result is a file of a kind that is written."""
    request = "total Amount by Category"
    expected = [("Category", "Total Amount"), ("Food", 1), ("Rent", 12), ("Total", 13)]
    player, _ = play(tmp_path / "ods", request, {"a.ods": spreadsheet(tmp_path)})
    assert sheet(player, player.made) == expected
    player, _ = play(tmp_path / "arrow", f"{request} into sums.csv", {"a.arrow": arrow()})
    assert player.workbench.content("sums.csv") == b"Category,Total Amount\nFood,1.00\nRent,12.00\n"


@pytest.mark.full
def test_a_spreadsheet_becomes_a_parquet_file(tmp_path: Path) -> None:
    """Typed, with every row; nothing else is written."""
    player, outcome = play(
        tmp_path / "w", "convert a.ods to parquet", {"a.ods": spreadsheet(tmp_path)}
    )
    types, rows = parquet(player, tmp_path, "a.parquet")
    assert types == ["VARCHAR", "DECIMAL(18,2)"]
    assert [(one, float(amount)) for one, amount in rows] == list(ROWS)
    assert "a.parquet has 4 rows." in outcome.summary


@pytest.mark.full
def test_duplicates_go_into_a_new_file(tmp_path: Path) -> None:
    """Never in place: neither kind is written again."""
    files: dict[str, str | bytes] = {"a.arrow": arrow()}
    player, _ = play(tmp_path / "new", "remove duplicates into b.parquet", files)
    assert len(parquet(player, tmp_path, "b.parquet")[1]) == 3
    for name, data in (*files.items(), ("a.ods", spreadsheet(tmp_path))):
        player, outcome = play(tmp_path / name, f"dedupe {name} in place", {name: data})
        assert "I make a new" in outcome.summary
        assert set(player.workbench.files.names()) == {name}


@pytest.mark.full
def test_they_are_merged_profiled_and_taken_apart(tmp_path: Path) -> None:
    """With text tables, too; of several sheets each becomes a file."""
    files: dict[str, str | bytes] = {
        "a.ods": spreadsheet(tmp_path), "b.arrow": arrow(), "c.csv": "Category,Amount\nNew,7\n",
    }  # fmt: skip
    player, _ = play(tmp_path / "m", "merge a.ods, b.arrow and c.csv into all.csv", files)
    assert len(player.workbench.content("all.csv").splitlines()) == 10
    player, _ = play(tmp_path / "p", "profile these files as a markdown report", files)
    report = player.workbench.content(player.made).decode()
    assert report.count("| Amount | float | 4 | 0 | 3 |") == 2
    player, _ = play(
        tmp_path / "s", "convert every sheet to csv", {"a.ods": spreadsheet(tmp_path, sheets=2)}
    )
    assert {"a-s1.csv", "a-s2.csv"} <= set(player.workbench.files.names())


WORDS = {
    "xlsx": ".xlsx", "Excel": ".xlsx", "csv": ".csv", "tsv": ".tsv", "psv": ".psv",
    "a pipe-separated file": ".psv", "parquet": ".parquet", "a parquet file": ".parquet",
}  # fmt: skip


@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.parametrize("source", ["a.csv", "a.tsv", "a.parquet", "a.arrow", "a.json", "a.jsonl"])
def test_each_kind_that_is_read_becomes_each_that_is_written(source: str, kind: str) -> None:
    """By its word, with a verb or without one; a total, too."""
    columns = (text("Category"), number("Amount"))
    for words in ("convert {} to {}", "{} to {}", "export {} as {}"):
        found = job(words.format(source, kind), columns, (source,))
        assert isinstance(found.steps[-1], ConvertStep)
        assert str(target(found)).endswith(WORDS[kind])
    found = job(f"total Amount by Category of {source} as {kind}", columns, (source,))
    assert target(found) == f"a-amount-by-category{WORDS[kind]}"


@pytest.mark.parametrize("kind", ["ods", "json", "jsonl", "arrow", "feather", "html", "xls"])
def test_a_kind_that_is_not_written_is_refused_by_name(kind: str) -> None:
    """For a copy and for figures; a value may be called so all the same."""
    columns = (text("Format", kind, "other"), number("Amount"))
    for words in ("convert a.csv to {}", "a.csv as {}"):
        found = read(words.format(kind), columns, ("a.csv",))
        assert isinstance(found, Declined)
        assert f"I do not write {kind} files, only xlsx, csv, tsv, psv and parquet" in found.reason
    rows = job(f"rows where Format is equal to {kind}", columns, ("a.csv",))
    assert where(rows) == f"same(Format, '{kind}')"


def test_sheets_are_not_made_of_a_kind_without_them() -> None:
    """The word is not passed over."""
    found = read("one sheet per Category as parquet", (text("Category"),), ("a.csv",))
    assert isinstance(found, Declined)
    assert "sheets need a workbook" in found.reason


def test_records_are_a_table(tmp_path: Path) -> None:
    """Figures, a copy, and a merge with another kind, where JSON is named or all that there is."""
    lines = "\n".join(json.dumps({"Category": one, "Amount": two}) for one, two in ROWS)
    files: dict[str, str | bytes] = {"a.jsonl": lines}
    player, _ = play(tmp_path / "g", "total Amount by Category as csv", files)
    assert (
        player.workbench.content(player.made) == b"Category,Total Amount\nFood,1.00\nRent,12.00\n"
    )
    player, _ = play(tmp_path / "p", "a.jsonl to parquet", files)
    assert parquet(player, tmp_path, "a.parquet")[1][1][0] == "Rent"
    more = {**files, "b.csv": "Category,Amount\nNew,7\n", "settings.json": '{"x": 1}'}
    player, _ = play(tmp_path / "m", "merge a.jsonl and b.csv into all.csv", more)
    assert len(player.workbench.content("all.csv").splitlines()) == 6
    player, _ = play(tmp_path / "s", "convert to tsv", {"b.csv": "x\n1\n", "settings.json": "{}"})
    assert player.workbench.content("b.tsv") == b"x\n1\n"


def test_every_sheet_becomes_a_parquet_file(tmp_path: Path) -> None:
    """As it becomes a text table."""
    made = spreadsheet(tmp_path, sheets=2)
    player, _ = play(tmp_path / "s", "every sheet to parquet", {"a.ods": made})
    assert {"a-s1.parquet", "a-s2.parquet"} <= set(player.workbench.files.names())
    assert len(parquet(player, tmp_path, "a-s1.parquet")[1]) == 4


@pytest.mark.parametrize(
    ("request_text", "result"),
    [
        ("rows where x > 1 into big.parquet", "big.parquet"),
        ('rows where x > 1 into "my big.parquet"', "my big.parquet"),
        ('rows where Name = "J.Johnson"', "a-j-johnson.csv"),
        ("convert a.csv to Excel", "a.xlsx"),
    ],
)
def test_when_a_result_is_named(request_text: str, result: str) -> None:
    """By what leads to its name, in quotes or not."""
    columns = (number("x"), text("Name", "J.Johnson", "K"))
    assert target(job(request_text, columns, ("a.csv",))) == result


def test_kinds_that_are_not_written_are_declined() -> None:
    """With those that are."""
    for name in ("b.ods", "b.arrow", "b.feather"):
        found = read(f"convert a.csv to {name}", (number("x"),), ("a.csv",))
        assert not isinstance(found, Question)
        assert isinstance(found, Declined)
        assert "only xlsx, csv, tsv, psv and parquet" in found.reason
