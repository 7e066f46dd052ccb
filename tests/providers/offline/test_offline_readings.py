"""What requests beyond one table's are read as, and which are declined, by words alone."""

import pytest

from kbd_offline.deduplication import parse_deduplication
from kbd_offline.files import RequestFiles, choose_files, chosen_files, named_files, without_names
from kbd_offline.findings import FileFinding
from kbd_offline.intents import (
    ColumnIntent,
    Declined,
    Grouped,
    Key,
    Measure,
    RowsIntent,
    TableIntent,
)
from kbd_offline.interpretation import JobKind, job_of, understand
from kbd_offline.merge import match_columns, parse_merge, take_origin
from kbd_offline.profiles import parse_profiles
from kbd_offline.replacement import parse_replacement
from kbd_offline.request_text import UnclearError
from kbd_offline.workbooks import take_sheets, wants_each_sheet

DAY = ColumnIntent("Date", "date")
BUYER = ColumnIntent("Customer Name")
AMOUNT = ColumnIntent("Amount", "float")
UNIT = ColumnIntent("Unit Price", "float")
EMAIL = ColumnIntent("Email")
COLUMNS = (DAY, BUYER, AMOUNT, EMAIL)


@pytest.mark.parametrize(
    ("request_text", "job"),
    [
        ("remove duplicates", JobKind.DEDUPE),
        ("please dedupe by email", JobKind.DEDUPE),
        ("give me the list without duplicate rows", JobKind.DEDUPE),
        ("get rid of all the repeated rows", JobKind.DEDUPE),
        ("keep only unique rows", JobKind.DEDUPE),
        ("merge these files", JobKind.MERGE),
        ("Can you combine the csv files into one", JobKind.MERGE),
        ("put both tables together", JobKind.MERGE),
        ("append b to a", JobKind.MERGE),
        ("profile the data", JobKind.PROFILE),
        ("make a data quality report", JobKind.PROFILE),
        ("a report on these files as docx", JobKind.PROFILE),
        ("describe the columns", JobKind.PROFILE),
        ("find and replace foo with bar", JobKind.REPLACE),
        ("please replace 'foo' by 'bar' everywhere", JobKind.REPLACE),
        ('change "foo" to "bar"', JobKind.REPLACE),
        ("one sheet per Merge Status", JobKind.TABLE),
        ("total amount by Duplicate Flag", JobKind.TABLE),
        ("split by profile", JobKind.TABLE),
        ("convert it to csv", JobKind.TABLE),
        ("change it to xlsx", JobKind.TABLE),
        ("rows where Note is 'merge'", JobKind.TABLE),
        ('turn each "Category" into its own sheet', JobKind.TABLE),
        ('turn "foo" into "bar"', JobKind.REPLACE),
        ("the table has duplicates, please remove them", JobKind.DEDUPE),
        ("remove rows with the same email", JobKind.DEDUPE),
        ("remove the word 'foo' from a", JobKind.REPLACE),
    ],
)
def test_jobs_are_told_apart(request_text: str, job: JobKind) -> None:
    """A verb decides where it begins a sentence or a part of one, not in a column's name."""
    assert job_of(request_text) is job


def test_the_name_of_a_file_is_no_text() -> None:
    """A file's name in quotes is not taken for a text to be replaced, nor its words for verbs."""
    request = 'change "merge plan.csv" to "plan.xlsx"'

    assert job_of(without_names(request, ["merge plan.csv"])) is JobKind.TABLE


def test_two_jobs_are_declined() -> None:
    """One is not done while the other is passed over."""
    with pytest.raises(UnclearError, match="dedupe and merge"):
        job_of("merge all files and remove duplicates")


def test_files_that_are_spoken_of() -> None:
    """Those that are named and all of a kind go together; one of several is not guessed."""
    paths = ("a.csv", "b.csv", "c.xlsx", "d.xlsx")

    def chosen(request: str) -> tuple[str, ...]:
        return chosen_files(named_files(request, paths), paths)

    assert chosen("all csv files and c.xlsx") == ("c.xlsx", "a.csv", "b.csv")
    assert chosen("the sheets of the workbook c.xlsx") == ("c.xlsx",)
    assert chosen("all csv files into a workbook") == ("a.csv", "b.csv")
    assert chosen("these") == paths
    with pytest.raises(UnclearError, match="but"):
        parse_profiles("profile all files but a.csv", paths)
    with pytest.raises(UnclearError, match=r"c\.xlsx, d\.xlsx"):
        chosen("in the workbook")


@pytest.mark.parametrize(
    ("request_text", "column"),
    [
        ("total spend per customer", AMOUNT),
        ("total cost by client", AMOUNT),
        ("total price per clients", AMOUNT),
        ("total Kosten per Kunde", AMOUNT),
    ],
)
def test_columns_by_other_words(request_text: str, column: ColumnIntent) -> None:
    """Everyday words for an amount and a customer find their columns, plurals too."""
    intent = understand(request_text, choose_files(request_text, ["a.csv"]), COLUMNS)

    assert isinstance(intent, Grouped)
    assert intent.measures == (Measure("total", column),)
    assert intent.keys == (Key(BUYER),)


def test_month_of_the_date() -> None:
    """The dates of a month may be named; of two that fit, both are told."""
    shipped, ordered = ColumnIntent("Ship Date", "date"), ColumnIntent("Order Date", "date")
    request = "total amount by month of the order date"
    files = choose_files(request, ["a.csv"])

    intent = understand(request, files, (shipped, ordered, AMOUNT))
    assert isinstance(intent, Grouped)
    assert intent.keys == (Key(ordered, "month"),)
    both = "total amount by month of the date"
    unclear = understand(both, choose_files(both, ["a.csv"]), (shipped, ordered, AMOUNT))
    assert isinstance(unclear, Declined)
    assert '"Ship Date" or "Order Date"' in unclear.reason


def test_no_guess_between_synonyms() -> None:
    """Of two columns that a word fits equally well neither is taken; a unit price is no spend."""
    request = "total spend by client"
    files = choose_files(request, ["a.csv"])

    net, gross = ColumnIntent("Net Cost", "float"), ColumnIntent("Gross Cost", "float")
    two = understand(request, files, (net, gross, BUYER))
    assert isinstance(two, Declined)
    assert '"Net Cost" or "Gross Cost"' in two.reason
    other = understand(request, files, (UNIT, ColumnIntent("Discount Amount", "float"), BUYER))
    assert isinstance(other, Declined)


def test_its_own_name_goes_before_a_synonym() -> None:
    """A column called Price is meant by "price" although there is an Amount."""
    request = "sort by price"
    intent = understand(request, choose_files(request, ["a.csv"]), (AMOUNT, UNIT))

    assert isinstance(intent, RowsIntent)
    assert intent.order[0].column == "Unit Price"


@pytest.mark.parametrize(
    ("request_text", "keys", "keeps_last", "target"),
    [
        ("remove duplicates", [], False, "list-deduped.csv"),
        ("drop exact duplicate rows from list.csv", [], False, "list-deduped.csv"),
        ("dedupe by email", [EMAIL], False, "list-deduped.csv"),
        ("remove duplicate emails, keep the last one", [EMAIL], True, "list-deduped.csv"),
        ("remove rows with duplicated Email and Date", [EMAIL, DAY], False, "list-deduped.csv"),
        ("delete duplicates based on the columns date and client as clean.xlsx", [DAY, BUYER],
         False, "clean.xlsx"),
        ("keep one row for each customer, remove the duplicates", [BUYER], False,
         "list-deduped.csv"),
        ("remove duplicates in list.csv in place", [], False, "list.csv"),
        ("remove duplicates, but don't change the original file", [], False, "list-deduped.csv"),
        ("dedupe the lists into Excel", [], False, "list-deduped.xlsx"),
    ],
)  # fmt: skip
def test_duplicates(
    request_text: str, keys: list[ColumnIntent], keeps_last: bool, target: str
) -> None:
    """By whole rows or columns, into a new file unless the file itself shall be changed."""
    intent = parse_deduplication(choose_files(request_text, ["list.csv"]), COLUMNS)

    assert list(intent.keys) == keys
    assert (intent.keeps_last, intent.target) == (keeps_last, target)


@pytest.mark.parametrize(
    ("request_text", "why"),
    [
        ("remove duplicates and sort by date", "sort"),
        ("dedupe by name of the street", "street"),
        ("dedupe by Emial", 'did you mean "Email"'),
        ("dedupe, keep the latest", "keep the first"),
        ("remove all but the duplicates", "take duplicates out"),
        ("keep only the duplicates", "take duplicates out"),
        ("remove duplicates where amount is large", "large"),
    ],
)
def test_duplicates_declined(request_text: str, why: str) -> None:
    """What else is asked, and what is no column, is told instead of passed over."""
    columns = (*COLUMNS, ColumnIntent("Street"))[:4] if "street" in request_text else COLUMNS
    with pytest.raises(UnclearError, match=why):
        parse_deduplication(choose_files(request_text, ["list.csv"]), columns)


def seen(path: str, *columns: ColumnIntent) -> FileFinding:
    return FileFinding(TableIntent(path), columns, 1, {}, (), ())


def test_columns_of_a_merge() -> None:
    """Matched by name whatever case, signs and order; a missing one is named, or stays empty."""
    first = seen("a.csv", ColumnIntent("Order ID", "integer"), AMOUNT)
    second = seen("b.csv", ColumnIntent("amount", "integer"), ColumnIntent("order_id"))

    columns, parts, notes = match_columns([first, second], has_gaps=False)
    assert columns == (ColumnIntent("Order ID"), AMOUNT)
    assert [part.names for part in parts] == [(), ("order_id", "amount")]
    assert notes == (
        '"Order ID" holds integer and string values', '"Amount" holds float and integer values',
    )  # fmt: skip
    third = seen("c.csv", AMOUNT)
    with pytest.raises(UnclearError, match=r'c\.csv has no column "Order ID"'):
        match_columns([first, third], has_gaps=False)
    _, parts, notes = match_columns([first, third], has_gaps=True)
    assert parts[1].names == (None, "Amount")
    assert 'c.csv has no column "Order ID"' in notes
    with pytest.raises(UnclearError, match="no column in common"):
        match_columns([third, seen("d.csv", EMAIL)], has_gaps=True)


@pytest.mark.parametrize(
    ("request_text", "has_gaps", "target"),
    [
        ("merge the files", False, "merged.csv"),
        ("combine them into one Excel workbook", False, "merged.xlsx"),
        ("consolidate everything as tsv", False, "merged.tsv"),
        ("stack these tables, missing columns stay empty", True, "merged.csv"),
    ],
)
def test_merges(request_text: str, has_gaps: bool, target: str) -> None:
    """Gaps and the kind of the result are read."""
    asked = parse_merge(
        request_text, [TableIntent("a.csv"), TableIntent("b.csv")], None, ["a.csv", "b.csv"]
    )

    assert (asked.has_gaps, asked.target) == (has_gaps, target)


@pytest.mark.parametrize(
    ("request_text", "origin"),
    [
        ("merge the files", ""),
        ("merge all the source files", ""),
        ("merge all csv files, with a source column", "Source"),
        ("merge both and add a column with the file name called Origin", "Origin"),
        ("merge them with the source file in a column named From", "From"),
    ],
)
def test_origins_of_a_merge(request_text: str, origin: str) -> None:
    """A column that tells which file a row is from is made where it is asked for."""
    assert take_origin(request_text)[0] == origin


@pytest.mark.parametrize("request_text", ["join a and b on id", "merge by day", "merge and sort"])
def test_merges_declined(request_text: str) -> None:
    """Rows are put below each other, not matched by a value, and nothing else is done."""
    with pytest.raises(UnclearError):
        parse_merge(request_text, [TableIntent("a.csv"), TableIntent("b.csv")], None, [])


@pytest.mark.parametrize(
    ("request_text", "texts", "match_case"),
    [
        ('replace "Acme Ltd" with "Beta" in all files', ("Acme Ltd", "Beta"), True),
        ("find and replace foo with bar, ignoring case", ("foo", "bar"), False),
        ("Replace all occurrences of 2023 by 2024 everywhere", ("2023", "2024"), True),
        ("find “old” and replace it with “new”", ("old", "new"), True),
        ("change 'it' to 'that', case-insensitive", ("it", "that"), False),
        ('substitute "new" for "old"', ("old", "new"), True),
        ('replace "gone" with ""', ("gone", ""), True),
        ('replace "gone" with nothing', ("gone", ""), True),
        ('remove the word "gone" everywhere', ("gone", ""), True),
    ],
)
def test_replacements(request_text: str, texts: tuple[str, str], match_case: bool) -> None:
    """Both texts, with or without quotes, and whether capitals count."""
    wish = parse_replacement(request_text)

    assert ((wish.search, wish.replacement), wish.match_case) == (texts, match_case)


@pytest.mark.parametrize(
    "request_text",
    [
        'replace "a" with "b" in the column City',
        'replace "a" with "b" and "c" with "d"',
        'replace "a" with "b", whole words only',
        "replace missing values with 0",
        "replace foo with nothing",
        'replace "a" with "a"',
        "replace it",
    ],
)
def test_replacements_declined(request_text: str) -> None:
    """More than one plain text in whole files is not replaced by something near."""
    with pytest.raises(UnclearError):
        parse_replacement(request_text)


def test_profiles() -> None:
    """Which files, and the kind of report by the words for it."""
    paths = ("a.csv", "b.xlsx", "c.docx")

    assert parse_profiles("profile these files", paths).paths == paths
    word = parse_profiles("profile all csv files into a Word report", paths)
    assert (word.paths, word.target) == (("a.csv",), "profile.docx")
    assert parse_profiles("profile b.xlsx as facts.xlsx", paths).target == "facts.xlsx"
    with pytest.raises(UnclearError, match="translate"):
        parse_profiles("profile and translate the files", paths)


def test_sheets() -> None:
    """Sheets are named beside the word; every sheet is told from one."""
    sheets = ("Q1", "Q1 2024", "Notes")

    assert take_sheets("sheet Q1 2024 to csv", sheets)[0] == ("Q1 2024",)
    assert take_sheets('the sheets "Q1" and Notes as csv', sheets)[0] == ("Q1", "Notes")
    assert take_sheets("the Notes tab", sheets)[0] == ("Notes",)
    assert take_sheets("one sheet per Notes", sheets)[0] == ()
    with pytest.raises(UnclearError, match='no sheet "Q9"'):
        take_sheets('sheet "Q9"', sheets)
    assert wants_each_sheet("every sheet as its own csv")
    assert not wants_each_sheet("one sheet per kind")


def test_workbooks_are_read_where_no_plain_table_is() -> None:
    """A csv goes before a workbook that nobody named; of two that are named none is guessed."""
    assert choose_files("sort by x", ["a.csv", "b.xlsx"]).source == "a.csv"
    assert choose_files("sort by x", ["b.xlsx", "c.pdf"]).source == "b.xlsx"
    assert choose_files("sort b.xlsx by x", ["a.csv", "b.xlsx"]).source == "b.xlsx"
    with pytest.raises(UnclearError, match="any of"):
        choose_files("sort a.csv and b.xlsx", ["a.csv", "b.xlsx"])
    read = RequestFiles("b.xlsx", None, "sort by date", ("b.xlsx",), "S")
    intent = understand("sort by date", read, COLUMNS)
    assert isinstance(intent, RowsIntent)
    assert (intent.target, intent.selection.sheet) == ("b-sorted.xlsx", "S")
