"""Words of a job: which tables it reads, and whether it looks or converts."""

import pytest

from kbd.job_words import NamedTable, is_conversion, is_look, tables_meant

TABLES: dict[NamedTable, tuple[str, ...]] = {
    ("de.csv", None): ("Artikel", "Umsatz"),
    ("people.csv", None): ("Name", "Stadt"),
    ("orders.csv", None): ("Artikel", "Name", "Menge"),
    ("a.xlsx", None): ("Betrag",),
}
BOOK: dict[NamedTable, tuple[str, ...]] = {
    ("b.xlsx", "Jan"): ("Item", "Amount"),
    ("b.xlsx", "Staff"): ("Name", "Salary"),
    ("b.xlsx", "Item"): ("Item", "Price"),
}


@pytest.mark.parametrize(
    ("job", "meant"),
    [
        ("sort people.csv by Name", {"people.csv"}),
        ("sort people.csv by Name into de.xlsx", {"people.csv"}),
        ("total Umsatz of de.csv", {"de.csv"}),
        ("list Umsatz and Menge of orders.csv and de", {"orders.csv", "de.csv"}),
        # By its columns, where no file is named.
        ("rows with Stadt Bonn", {"people.csv"}),
        ("sum Menge by Artikel", {"orders.csv"}),
        ("sum Umsatz", {"de.csv"}),
        ("sum Umsatz by Stadt", {"de.csv", "people.csv"}),
        # What tells nothing may be about any of them.
        ("sum it up", {path for path, _ in TABLES}),
        ("merge these", {path for path, _ in TABLES}),
        ("merge orders.csv and people.csv", {"orders.csv", "people.csv"}),
        ("profile every file beside people.csv", {path for path, _ in TABLES}),
        ("Umsatz in jeder Datei", {path for path, _ in TABLES}),
        ("", {path for path, _ in TABLES}),
    ],
)
def test_files_that_a_job_reads(job: str, meant: set[str]) -> None:
    """Those that it names, else those with its columns, else all that it may be about."""
    assert {path for path, _ in tables_meant(job, TABLES)} == meant


@pytest.mark.parametrize(
    ("job", "meant"),
    [
        ("total Amount of sheet Jan", {"Jan"}),
        ("total Salary in Staff", {"Staff"}),
        ('copy "Staff" to a csv file', {"Staff"}),
        ("total Salary by Name of b.xlsx", {"Staff"}),
        ("total Amount by Item", {"Jan"}),
        # A sheet that is called as one of its columns is named by the word "sheet" alone.
        ("how many rows of Item", {"Jan", "Item"}),
        ("how many rows of the Item sheet", {"Item"}),
        ("how many rows?", {"Jan", "Staff", "Item"}),
        ("every sheet of b.xlsx to csv", {"Jan", "Staff", "Item"}),
        ("merge the tabs", {"Jan", "Staff", "Item"}),
    ],
)
def test_sheets_that_a_job_reads(job: str, meant: set[str]) -> None:
    """One that is named, or the ones with its columns; what is beside it is not asked about."""
    assert {sheet for _, sheet in tables_meant(job, BOOK)} == meant


def test_a_sheet_beside_a_file() -> None:
    """A file that is named stays, whatever sheet of another one is."""
    job = "join people.csv with sheet Staff of b.xlsx"
    assert tables_meant(job, {**TABLES, **BOOK}) == {("people.csv", None), ("b.xlsx", "Staff")}


@pytest.mark.parametrize(
    ("job", "is_one"),
    [
        ("convert a.csv to xlsx", True),
        ("every sheet of b.xlsx to parquet", True),
        ('please turn "my file.csv" into an Excel file', True),
        ("save it as out.xlsx.", True),
        ("total Umsatz as csv", False),
        ("convert a.csv to xlsx and add a total", False),
        ("convert the paid rows to csv", False),
        ("convert a.csv to xlsx sorted by date", False),
        ("sum a.csv to xlsx", False),
        ("remove duplicates to b.csv", False),
        ("convert a.csv to totals", False),
        ("convert " + "a.csv " * 20_000 + "to xlsx", True),
        ("convert " + "a.csv " * 20_000 + "by month", False),
    ],
)
def test_what_a_conversion_is(job: str, *, is_one: bool) -> None:
    """Nothing but tables and the kind that they become; another word may be the one that counts."""
    assert is_conversion(job) is is_one


@pytest.mark.parametrize(
    "job",
    [
        "what is in it?", "What's in this file?", "what’s in sales.csv?", "describe it",
        "describe sales.csv", "describe the table", "which columns are there?",
        "what columns does it have", "show me the columns", "list the columns of a.csv",
        "Give me an overview of the data", "what is this?", "what does sales.csv contain?",
        "what's in a.csv and b.csv?", "please describe the files", "what sheets are there?",
        "what is in the file sales.csv?", "what is in the sales table?",
        "was steht drin?", "was ist in der Datei?",
        "welche Spalten gibt es?", "beschreibe die Datei", "zeig mir die Spalten, bitte",
    ],
)  # fmt: skip
def test_what_a_look_is(job: str) -> None:
    """It asks what files hold, in the words of people."""
    assert is_look(job)


@pytest.mark.parametrize(
    "job",
    [
        "", "what is in it, and the total?", "what is the total?", "how many rows?",
        "describe the total of Amount", "list Name and City", "show rows where A is 3",
        "what columns add up to 5", "overview by month", "list the totals",
        "what is in the total sheet?", "summary of the data",
        "what is the sum of the columns", "welche Summe hat die Datei", "total",
        "describe it " * 10_000,
    ],
)  # fmt: skip
def test_what_makes_figures_is_no_look(job: str) -> None:
    """A word beside it may ask for a figure, which hangs on what is not known."""
    assert not is_look(job)
