"""The jobs on sheets, duplicates, several tables and texts, through the real tools."""

import csv
import io
from pathlib import Path
from typing import Any

import anyio
import docx
import openpyxl
import pytest

from kbd.errors import ValidationFailed
from providers.offline.playing import Outcome, Player

SALES = "Date,Client,Amount\n2024-01-02,acme,1.50\n2024-01-03,beta,2.25\n2024-01-02,acme,1.50\n"
MORE = "Amount;Client;Date\n3,75;gamma;2024-02-01\n1,00;delta;\n"


def play(root: Path, request: str, files: dict[str, str | bytes]) -> tuple[Player, Outcome]:
    """Run a request and return the player and the outcome."""
    player = Player(root, dict(files))
    return player, anyio.run(player.run, request)


def rows(player: Player, name: str, delimiter: str = ",") -> list[list[str]]:
    """Return the rows of a text table."""
    text = player.workbench.content(name).decode()
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter))


def sheet(player: Player, name: str) -> list[list[Any]]:
    """Return the values of a workbook's first sheet."""
    book = openpyxl.load_workbook(io.BytesIO(player.workbench.content(name)))
    return [[cell.value for cell in row] for row in book.worksheets[0].iter_rows()]


def book(sheets: dict[str, list[list[Any]]]) -> bytes:
    """Return a workbook."""
    made = openpyxl.Workbook()
    made.remove(made.worksheets[0])
    for name, values in sheets.items():
        made.create_sheet(name)
        for row in values:
            made[name].append(row)
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


def letter(*paragraphs: str) -> bytes:
    """Return a document whose first words are bold, and that has a header."""
    made = docx.Document()
    for text in paragraphs:
        first, _, rest = text.partition(" ")
        paragraph = made.add_paragraph()
        paragraph.add_run(f"{first} ").bold = True
        paragraph.add_run(rest)
    made.sections[0].header.paragraphs[0].text = "From Acme"
    out = io.BytesIO()
    made.save(out)
    return out.getvalue()


BOOK = book({
    "Q1": [["Client", "No"], ["acme", "007"], ["1+1;x, y", "12"]],
    "Empty": [],
    "Q2 24": [["Client", "No"], ["beta\nltd", "9"]],
})  # fmt: skip


def test_every_sheet_to_text(tmp_path: Path) -> None:
    """Each sheet that holds anything is a file, texts as they are."""
    player, outcome = play(tmp_path, "convert book.xlsx to csv", {"book.xlsx": BOOK})

    assert rows(player, "book-q1.csv")[1] == ["acme", "007"]
    assert rows(player, "book-q2-24.csv") == [["Client", "No"], ["beta\nltd", "9"]]
    assert "book-q1.csv has 2 rows" in outcome.summary


@pytest.mark.full
def test_a_named_sheet_to_tabs(tmp_path: Path) -> None:
    """A sheet by its name, tabs where they are asked for; two unnamed sheets are not guessed."""
    player, _ = play(tmp_path / "a", "sheet Q1 of book.xlsx to tsv", {"book.xlsx": BOOK})
    assert rows(player, "book-q1.tsv", "\t")[1:] == [["acme", "007"], ["1+1;x, y", "12"]]

    player, outcome = play(tmp_path / "b", "sort book.xlsx by client", {"book.xlsx": BOOK})
    assert player.workbench.files.names() == ["book.xlsx"]
    assert '"Q1", "Q2 24"; say which one' in outcome.summary


def test_whole_rows_that_are_there_twice(tmp_path: Path) -> None:
    """The first of each stays, in order; the source is untouched, and the count is told."""
    player, outcome = play(tmp_path, "remove duplicate rows", {"sales.csv": SALES})

    assert rows(player, "sales-without-duplicates.csv") == list(csv.reader(SALES.splitlines()[:3]))
    assert player.workbench.content("sales.csv").decode() == SALES
    assert "1 row was removed from 3 rows" in outcome.summary


@pytest.mark.full
def test_rows_with_the_same_column(tmp_path: Path) -> None:
    """The last one stays if that is asked; rows without a value are all kept."""
    table = "id,name\n1,x\n,a\n1,y\n,b\n2,z\n"
    player, _ = play(tmp_path, "dedupe by id, keep the last, as Excel", {"t.csv": table})

    assert sheet(player, "t-without-duplicates.xlsx") == [
        ["id", "name"], [None, "a"], [1, "y"], [None, "b"], [2, "z"],
    ]  # fmt: skip


@pytest.mark.full
def test_duplicates_in_place(tmp_path: Path) -> None:
    """Only where it is asked for is the file itself changed, and never its form."""
    player, outcome = play(tmp_path / "a", "dedupe sales.csv in place", {"sales.csv": SALES})
    assert player.workbench.files.names() == ["sales.csv"]
    assert len(rows(player, "sales.csv")) == 3
    assert "Modified: sales.csv" in outcome.summary

    twice = MORE + "3,75;gamma;2024-02-01\n"
    player, outcome = play(tmp_path / "b", "dedupe more.csv in place", {"more.csv": twice})
    assert player.workbench.content("more.csv").decode() == twice
    assert "';' between its fields" in outcome.summary


@pytest.mark.full
def test_tables_below_each_other(tmp_path: Path) -> None:
    """Columns in another order and numbers written in another way come out as one table."""
    files: dict[str, str | bytes] = {"a.csv": SALES, "b.csv": MORE}
    player, outcome = play(tmp_path / "a", "merge a.csv and b.csv with a source column", files)
    found = rows(player, "merged.csv")
    assert found[0] == ["Date", "Client", "Amount", "Source"]
    assert found[1] == ["2024-01-02", "acme", "1.50", "a.csv"]
    assert found[4:] == [
        ["2024-02-01", "gamma", "3.75", "b.csv"], ["", "delta", "1.00", "b.csv"],
    ]  # fmt: skip
    assert "merged.csv has 5 rows" in outcome.summary

    player, _ = play(tmp_path / "b", "combine them into all.xlsx", files)
    assert [row[1:] for row in sheet(player, "all.xlsx")[3:]] == [
        ["acme", 1.5], ["gamma", 3.75], ["delta", 1],
    ]  # fmt: skip


@pytest.mark.full
def test_sheets_below_each_other(tmp_path: Path) -> None:
    """Sheets of a workbook are tables as well; where columns are missing nothing is merged."""
    player, _ = play(tmp_path / "a", "merge all sheets into one sheet", {"book.xlsx": BOOK})
    assert sheet(player, "merged.xlsx") == [
        ["Client", "No"], ["acme", "007"], ["1+1;x, y", "12"], ["beta\nltd", "9"],
    ]  # fmt: skip

    files: dict[str, str | bytes] = {"a.csv": SALES, "b.csv": "Date,Client\n2024-01-01,x\n"}
    player, outcome = play(tmp_path / "b", "merge both", files)
    assert player.workbench.files.names() == ["a.csv", "b.csv"]
    assert 'b.csv has no column "Amount"' in outcome.summary


@pytest.mark.parametrize(
    "target",
    [
        "profile.md",
        *(
            pytest.param(f"profile.{kind}", marks=pytest.mark.full)
            for kind in ("txt", "docx", "xlsx")
        ),
    ],
)
def test_a_report_of_files(tmp_path: Path, target: str) -> None:
    """Rows, blanks, distinct values and figures of tables, headings of documents: in any form."""
    files: dict[str, str | bytes] = {"a|b.csv": MORE, "book.xlsx": BOOK, "note.txt": "x\ny\n"}

    player, outcome = play(tmp_path, f"profile the files as {target}", files)

    data = player.workbench.content(target)
    match target.rpartition(".")[2]:
        case "docx":
            made = docx.Document(io.BytesIO(data))
            found = [p.text for p in made.paragraphs]
            found += [c.text for t in made.tables for r in t.rows for c in r.cells]
        case "xlsx":
            made_book = openpyxl.load_workbook(io.BytesIO(data))
            values = [c for s in made_book.worksheets for r in s.values for c in r]
            found = [str(value) for value in values if value is not None]
        case _:
            found = data.decode().replace("\\|", "|").replace("- ", "").splitlines()
    text = "\n".join(found)
    for told in ("a|b.csv", "book.xlsx", "note.txt", "Amount", "2.375", "2024-02-01", "Q2 24"):
        assert told in text
    assert "tells of 3 files" in outcome.summary


def test_a_text_replaced_everywhere(tmp_path: Path) -> None:
    """Documents keep their looks, cells their neighbours, texts their line ends."""
    files: dict[str, str | bytes] = {
        "letter.docx": letter("Acme greets Acme", "acme not"),
        "book.xlsx": book({"S": [["Acme", 5, "=A1"], [" Acme\tLtd", "x Acme"]]}),
        "note.txt": b"\xef\xbb\xbfAcme\r\nAcme too\r\n",
        "sales.csv": SALES,
    }
    player, outcome = play(tmp_path, 'replace "Acme" with "Beta & Co" in all files', files)

    made = docx.Document(io.BytesIO(player.workbench.content("letter.docx")))
    assert [p.text for p in made.paragraphs] == ["Beta & Co greets Beta & Co", "acme not"]
    assert made.paragraphs[0].runs[0].bold
    assert made.sections[0].header.paragraphs[0].text == "From Beta & Co"
    assert sheet(player, "book.xlsx") == [
        ["Beta & Co", 5, "=A1"], [" Beta & Co\tLtd", "x Beta & Co", None],
    ]  # fmt: skip
    assert player.workbench.content("note.txt") == (b"\xef\xbb\xbfBeta & Co\r\nBeta & Co too\r\n")
    for told in ("letter.docx: replaced 3 times", "book.xlsx: replaced 3 times",
                 "note.txt: replaced 2 times", '"Acme" is not in sales.csv'):  # fmt: skip
        assert told in outcome.summary


def test_texts_like_numbers(tmp_path: Path) -> None:
    """A text of digits is one, with its own quotes or without; the number beside it is none."""
    files: dict[str, str | bytes] = {"book.xlsx": book({"S": [["07", '"07"', "x", 307]]})}

    player, outcome = play(tmp_path, 'replace "07" with "08"', files)

    assert sheet(player, "book.xlsx") == [["08", '"08"', "x", 307]]
    assert "book.xlsx: replaced 2 times" in outcome.summary


def test_a_text_that_is_not_there(tmp_path: Path) -> None:
    """It is said, and no file is another one than before."""
    files: dict[str, str | bytes] = {"letter.docx": letter("Hello there"), "sales.csv": SALES}
    player, outcome = play(tmp_path, 'replace "Zebra" with "Lion"', files)

    assert {name: player.workbench.content(name) for name in files} == {
        "letter.docx": files["letter.docx"], "sales.csv": SALES.encode(),
    }  # fmt: skip
    assert '"Zebra" is in none of letter.docx, sales.csv' in outcome.summary
    player, outcome = play(tmp_path / "b", 'replace "Zebra" with "Lion"', {"sales.csv": SALES})
    assert '"Zebra" is in none of sales.csv. Nothing was changed' in outcome.summary


def test_what_a_replacement_would_break(tmp_path: Path) -> None:
    """Fields of a table keep their ends, an encoding that is not written is left alone."""
    with pytest.raises(ValidationFailed, match="where its fields end"):
        play(tmp_path, 'replace "acme" with "a, b" in sales.csv', {"sales.csv": SALES})

    latin = "Café, Müller und Söhne grüßen aus Köln\n".encode("cp1252")
    with pytest.raises(ValidationFailed, match=r"n\.txt"):
        play(tmp_path / "b", 'replace "und" with "&" in n.txt', {"n.txt": latin})


def test_a_copy_is_changed(tmp_path: Path) -> None:
    """With a name for the result the file itself stays as it is."""
    before = letter("Acme greets")
    player, _ = play(
        tmp_path,
        'replace "Acme" with "Beta" in letter.docx, save as new.docx',
        {"letter.docx": before},
    )

    assert player.workbench.content("letter.docx") == before
    made = docx.Document(io.BytesIO(player.workbench.content("new.docx")))
    assert made.paragraphs[0].text == "Beta greets"


def test_duplicates_beside_a_column_that_is_called_as_the_rank_of_a_row(tmp_path: Path) -> None:
    """Its values are not taken for the places of rows that are alike."""
    name = "time that it is there"
    table = f"Who,{name}\nA,1\nB,1\nB,1\n"
    player, _ = play(tmp_path, "remove duplicates by Who", {"a.csv": table})
    assert rows(player, "a-without-duplicates.csv") == [["Who", name], ["A", "1"], ["B", "1"]]


@pytest.mark.parametrize(
    "request_text", ["what is in it?", "describe it", "welche Spalten gibt es?"]
)
def test_a_look_asks_nothing(tmp_path: Path, request_text: str) -> None:
    """Rows and columns are told, and what a figure would ask; no file is made."""
    files: dict[str, str | bytes] = {
        "a.csv": "Item,Amount\nTea,2\nCup,3\nTotal,6\n",
        "b.xlsx": book({"Staff": [["Name", "Salary"], ["Ann", 20], ["Bob", 35]]}),
    }
    player, outcome = play(tmp_path, request_text, files)
    assert outcome.ends == ["stop"] * 4
    for told in (
        "a.csv", "Rows: 3", "Amount: type integer, filled 3", "Row 4 (Total | 6) may sum others up",
        "Figures that hang on it wait for the answer", "Sheet Staff",
        "Salary: type integer, filled 2, distinct 2, min 20, max 35, mean 27.5",
    ):  # fmt: skip
        assert told in outcome.summary
    assert list(player.workbench.files.names()) == ["a.csv", "b.xlsx"]


def test_a_look_at_one_file(tmp_path: Path) -> None:
    """The one that is named, of several."""
    files: dict[str, str | bytes] = {"a.csv": "Item\nTea\n", "b.csv": "Name\nAnn\n"}
    _, outcome = play(tmp_path, "what's in b.csv?", files)
    assert "Name: type string" in outcome.summary
    assert "Item" not in outcome.summary


WORDS: list[list[Any]] = [
    ["Sheet", "Value", "Name", "Count", "Total"],
    ["A", 2, "Ann", 1, 10], ["A", 3, "Bob", 2, 25], ["B", 5, "Ann", 4, 31], ["B", 7, "Cid", 8, 42],
]  # fmt: skip


@pytest.mark.parametrize(
    ("request_text", "totals"),
    [
        ("total Value per Sheet", {"Total Value": 17}),
        ("total Value for each Sheet", {"Total Value": 17}),
        ("sum of Total of every Sheet", {"Total Total": 108}),
        ("one sheet per Name with totals",
         {"Count": 4, "Total Value": 17, "Total Count": 15, "Total Total": 108}),
        ("one sheet per Name with Value and Total and totals",
         {"Count": 4, "Total Value": 17, "Total Total": 108}),
        ("one sheet per Name with totals of Value", {"Count": 4, "Total Value": 17}),
        ("one sheet per Name with total Total", {"Count": 4, "Total Total": 108}),
    ],
)  # fmt: skip
def test_columns_that_are_called_as_words_are(
    tmp_path: Path, request_text: str, totals: dict[str, int]
) -> None:
    """A column of the name is meant, "totals" are those of all numbers all the same."""
    files: dict[str, str | bytes] = {"w.xlsx": book({"Data": WORDS, "Other": [["Who"], ["x"]]})}
    player, _ = play(tmp_path, request_text, files)
    data = io.BytesIO(player.workbench.content(player.made))
    names, *_, last = openpyxl.load_workbook(data, data_only=True).worksheets[-1].values
    assert dict(zip(names[1:], last[1:], strict=True)) == totals


def test_every_sheet_is_no_table(tmp_path: Path) -> None:
    """Sheets of the workbook, or values of the column Sheet: nobody can tell."""
    files: dict[str, str | bytes] = {"w.xlsx": book({"Data": WORDS, "Other": [["Who"], ["x"]]})}
    player, outcome = play(tmp_path, "count the rows of every sheet", files)
    assert player.workbench.files.names() == ["w.xlsx"]
    assert outcome.ends[2] == "declined"
