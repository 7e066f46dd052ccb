"""What requests beyond one table's are read as, and which are declined, by words alone."""

import pytest

from kbd.jobs.records import (
    CompareStep,
    ConvertStep,
    DeduplicateStep,
    Job,
    JoinStep,
    ReplaceStep,
    UnionStep,
    WriteStep,
)
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.profiles import asks_for_profile, parse_look, parse_profiles
from kbd_offline.request import Declined, Question, Reading, Understood, read_request
from kbd_offline.request_files import files_of_kinds, free_target
from kbd_offline.scan import UnclearError
from kbd_offline.sheets import take_sheets, wants_each_sheet, without_sheet
from kbd_offline.substitution import replaced
from providers.offline.test_understanding import (
    TODAY,
    day,
    figures,
    group,
    job,
    number,
    order,
    read,
    text,
)

DAY, BUYER, AMOUNT = day("Date"), text("Customer Name"), number("Amount")
UNIT, EMAIL = number("Unit Price", "unit price"), text("Email")
COLUMNS = (DAY, BUYER, AMOUNT, EMAIL)


@pytest.mark.parametrize(
    "request_text",
    [
        "total spend per customer", "total cost by client", "total price per clients",
        "total Kosten per Kunde", "Gesamtkosten je Kunde",
    ],
)  # fmt: skip
def test_columns_by_other_words(request_text: str) -> None:
    """Everyday words for an amount and a customer find their columns, plurals too."""
    found = job(request_text, COLUMNS, ("a.csv",))

    assert figures(found) == [("sum", "Amount")]
    assert group(found).by == ("Customer Name",)


def test_month_of_the_date() -> None:
    """The dates of a month may be named; of two that fit, both are told."""
    columns = (day("Ship Date"), day("Order Date"), AMOUNT)
    found = job("total amount by month of the order date", columns)
    assert 'month_of("Order Date")' in str(found.steps[0])

    both = read("total amount by month of the date", columns)
    assert isinstance(both, Question)
    assert '"Ship Date" or "Order Date"' in both.text


def test_no_guess_between_synonyms() -> None:
    """Of two columns that a word fits equally well neither is taken; a unit price is no spend."""
    both = (number("Net Cost"), number("Gross Cost"), BUYER)
    found = read("total spend by client", both)
    assert isinstance(found, Question)
    assert '"Net Cost" or "Gross Cost"' in found.text
    other = read("total spend by client", (UNIT, number("Discount Amount"), BUYER))
    assert isinstance(other, Declined)


def test_its_own_name_goes_before_a_synonym() -> None:
    """A column called Price is meant by "price" although there is an Amount."""
    assert order(job("sort by price", (AMOUNT, UNIT))) == [("Unit Price", False)]


def deduplication(request: str) -> tuple[DeduplicateStep, str | None]:
    """Return the step that takes duplicates out, and the file that is written."""
    table = KnownTable("list.csv", "", COLUMNS, 9, delimiter=",", encoding="utf-8")
    found = read_request(request, [table], ("list.csv",), TODAY)
    assert isinstance(found, Understood), found
    steps = found.job.steps
    written = next(step.file for step in steps if isinstance(step, WriteStep))
    return next(step for step in steps if isinstance(step, DeduplicateStep)), written


NEW = "list-without-duplicates.csv"


@pytest.mark.parametrize(
    ("request_text", "keys", "keep", "result"),
    [
        ("remove duplicates", (), "first", NEW),
        ("drop exact duplicate rows from list.csv", (), "first", NEW),
        ("dedupe by email", ("Email",), "first", NEW),
        ("remove duplicate emails, keep the last one", ("Email",), "last", NEW),
        ("remove rows with duplicated Email and Date", ("Email", "Date"), "first", NEW),
        ("delete duplicates based on the columns date and client as clean.xlsx",
         ("Date", "Customer Name"), "first", "clean.xlsx"),
        ("keep one row for each customer, remove the duplicates", ("Customer Name",), "first", NEW),
        ("remove duplicates in list.csv in place", (), "first", "list.csv"),
        ("remove duplicates, but don't change the original file", (), "first", NEW),
        ("dedupe the list into Excel", (), "first", "list-without-duplicates.xlsx"),
        ("Duplikate entfernen nach Email", ("Email",), "first", NEW),
    ],
)  # fmt: skip
def test_duplicates(request_text: str, keys: tuple[str, ...], keep: str, result: str) -> None:
    """By whole rows or columns, into a new file unless the file itself shall be changed."""
    step, written = deduplication(request_text)

    assert (step.by, step.keep, written) == (keys, keep, result)


@pytest.mark.parametrize(
    ("request_text", "why"),
    [
        ("dedupe by name of the street", "street"),
        ("dedupe by Zebra", "Zebra"),
        ("remove duplicates where amount is large", "large"),
    ],
)
def test_duplicates_declined(request_text: str, why: str) -> None:
    """What else is asked, and what is no column, is told instead of passed over."""
    found = read(request_text, COLUMNS, ("list.csv",))
    assert isinstance(found, Declined)
    assert why in found.reason


def test_duplicates_are_listed() -> None:
    """They are counted where they are asked for, not taken out."""
    found = job("find duplicate emails", COLUMNS)
    assert group(found).by == ("Email",)
    assert "Count > 1" in str(found.steps)


A = KnownTable("a.csv", "", (number("Order ID", "id", "integer"), BUYER, AMOUNT), 9)
SAME_COLUMNS = KnownTable(
    "b.csv", "", (number("amount"), number("order_id", "id", "integer"), text("customer name")), 9
)
PEOPLE = KnownTable("people.csv", "", (text("Customer Name", distinct=9), text("City")), 9)


def together(request: str, *tables: KnownTable) -> Reading:
    """Return the reading of a request about several tables."""
    return read_request(request, tables, [table.path for table in tables], TODAY)


def steps(request: str, *tables: KnownTable) -> Job:
    """Return the job of a request about several tables."""
    found = together(request, *tables)
    assert isinstance(found, Understood), found
    return found.job


@pytest.mark.parametrize(
    ("request_text", "result"),
    [
        ("merge the files", "merged.csv"),
        ("combine them into one Excel workbook", "merged.xlsx"),
        ("consolidate everything as tsv", "merged.tsv"),
        ("append b.csv to a.csv", "merged.csv"),
        ("beide Dateien zusammenführen", "merged.csv"),
    ],
)
def test_merges(request_text: str, result: str) -> None:
    """Tables with the same columns, whatever their case, signs and order, go below each other."""
    found = steps(request_text, A, SAME_COLUMNS)

    (step,) = (step for step in found.steps if isinstance(step, UnionStep))
    assert set(step.tables) == {"a", "b"}
    assert (step.origin, step.missing) == (None, "refuse")
    (written,) = (step.file for step in found.steps if isinstance(step, WriteStep))
    assert written == result


def test_the_order_of_a_merge_is_that_of_the_request_or_of_the_files() -> None:
    """The file that is named first comes first; without names it is the one given first."""
    (step, *_) = steps("merge b.csv and a.csv", A, SAME_COLUMNS).steps
    assert isinstance(step, UnionStep)
    assert step.tables == ("b", "a")
    (step, *_) = steps("merge all files", A, SAME_COLUMNS).steps
    assert isinstance(step, UnionStep)
    assert step.tables == ("a", "b")


def test_columns_of_a_merge() -> None:
    """One that is missing somewhere is named, or stays empty where the request says so."""
    fewer = KnownTable("c.csv", "", (AMOUNT, BUYER), 9)
    found = together("merge the files", A, fewer)
    assert isinstance(found, Declined)
    assert 'c.csv has no column "Order ID"' in found.reason
    (step, *_) = steps("stack these tables, missing columns stay empty", A, fewer).steps
    assert isinstance(step, UnionStep)
    assert step.missing == "empty"
    other = KnownTable("d.csv", "", (EMAIL,), 9)
    found = together("merge the files, missing columns stay empty", A, other)
    assert isinstance(found, Declined)
    assert "no column in common" in found.reason


def test_the_origin_of_a_merge() -> None:
    """A column that tells which file a row is from is made where it is asked for."""
    (step, *_) = steps("merge all csv files, with a source column", A, SAME_COLUMNS).steps
    assert isinstance(step, UnionStep)
    assert step.origin == "Source"


def test_a_merge_and_what_comes_then() -> None:
    """What else is asked is asked of the tables together."""
    found = steps("merge all files and total amount by customer name", A, SAME_COLUMNS)
    assert group(found).by == ("Customer Name",)
    assert isinstance(found.steps[0], UnionStep)


@pytest.mark.parametrize(
    "request_text",
    [
        "join a.csv and people.csv on customer name",
        "join a and people",
        "add the city from people.csv to a.csv",
        "look up the city of each customer in people.csv",
        "total amount by city",
    ],
)
def test_joins(request_text: str) -> None:
    """By a named key or the evident one: the column that both have and one of them has once."""
    found = steps(request_text, A, PEOPLE)
    step = found.steps[0]

    assert ("Total" in found.title) == ("total" in request_text)
    assert isinstance(step, JoinStep)
    assert (step.of, step.other, step.on) == ("a", "people", {"Customer Name": "Customer Name"})
    assert (step.kind, step.columns, step.many) == ("left", ("City",), False)


def test_a_join_that_would_repeat_rows_is_declined() -> None:
    """A key that several rows of the other table have is named."""
    several = KnownTable("people.csv", "", (text("Customer Name"), text("City")), 9)
    found = together("add the city from people.csv to a.csv", A, several)
    assert isinstance(found, Declined)
    assert "evidently the key" in found.reason
    found = together("join a.csv and people.csv on customer name", A, several)
    assert isinstance(found, Declined)
    assert "several rows" in found.reason


def test_rows_without_a_partner() -> None:
    """Those of one table whose key the other one does not have."""
    (step, *_) = steps("which customers of people.csv are not in a.csv?", PEOPLE, A).steps
    assert isinstance(step, JoinStep)
    assert (step.kind, step.of, step.other) == ("missing", "people", "a")


def test_two_files_are_compared() -> None:
    """By the column that is unique in both; the first one is the earlier one."""
    new = KnownTable("new.csv", "", A.columns, 9)
    (step, *_) = steps("what changed between a.csv and new.csv?", A, new).steps
    assert isinstance(step, CompareStep)
    assert (step.of, step.other, step.on) == ("a", "new", ("Order ID",))


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
        ('ersetze "alt" durch "neu"', ("alt", "neu"), True),
    ],
)
def test_replacements(request_text: str, texts: tuple[str, str], match_case: bool) -> None:
    """Both texts, with or without quotes, and whether capitals count."""
    found = replaced(request_text, ("a.csv",))

    assert found is not None
    (step,) = found.steps
    assert isinstance(step, ReplaceStep)
    assert ((step.search, step.replacement), step.match_case) == (texts, match_case)


@pytest.mark.parametrize(
    "request_text",
    [
        'replace "a" with "b" in the column City',
        'replace "a" with "b" and "c" with "d"',
        'replace "a" with "b", whole words only',
        'replace "a" with "a"',
        "replace foo with nothing but the best",
        "replace it",
    ],
)
def test_replacements_declined(request_text: str) -> None:
    """More than one plain text in whole files is not replaced by something near."""
    found = read(request_text, COLUMNS, ("a.csv",))
    assert isinstance(found, Declined), found


def test_profiles() -> None:
    """Which files, and the kind of report by the words for it."""
    paths = ("a.csv", "b.xlsx", "c.docx")

    assert asks_for_profile("make a data quality report")
    assert not asks_for_profile("one sheet per Profile")
    assert not asks_for_profile('rows where Note is "profile the data"')
    assert parse_profiles("profile these files", paths).paths == paths
    word = parse_profiles("profile all csv files into a Word report", paths)
    assert (word.paths, word.target) == (("a.csv",), "a-profile.docx")
    assert parse_profiles("profile b.xlsx as facts.xlsx", paths).target == "facts.xlsx"
    assert parse_look("what is in b.xlsx?", paths).paths == ("b.xlsx",)
    with pytest.raises(UnclearError, match="translate"):
        parse_profiles("profile and translate the files", paths)
    with pytest.raises(UnclearError, match="but"):
        parse_profiles("profile all files but a.csv", paths)


def test_files_that_are_spoken_of() -> None:
    """All of a kind, unless the kind is that of the result."""
    paths = ("a.csv", "b.csv", "c.xlsx", "d.docx")
    assert files_of_kinds("in all csv files", paths) == ("a.csv", "b.csv")
    assert files_of_kinds("in all Word documents", paths) == ("d.docx",)
    assert files_of_kinds("all csv files into a workbook", paths) == ("a.csv", "b.csv")
    assert files_of_kinds("these", paths) == ()


def test_sheets() -> None:
    """Sheets are named beside the word, or behind what leads to one."""
    sheets = ("Q1", "Q1 2024", "Notes")

    assert take_sheets("sheet Q1 2024 to csv", sheets)[0] == ("Q1 2024",)
    assert take_sheets('the sheets "Q1" and Notes as csv', sheets)[0] == ("Q1", "Notes")
    assert take_sheets("the Notes tab", sheets)[0] == ("Notes",)
    assert take_sheets("one sheet per Notes", sheets)[0] == ()
    assert without_sheet("total of Notes", "Notes") == "total of      "
    assert without_sheet("notes by Q1", "Notes") == "      by Q1"
    assert without_sheet("total by Notes", "Notes") is None
    assert wants_each_sheet("every sheet as its own csv")
    assert not wants_each_sheet("one sheet per kind")


def test_every_sheet_is_converted() -> None:
    """Each into a file that is called by it."""
    books = [KnownTable("book.xlsx", name, (EMAIL,), 3) for name in ("Q1", "Notes")]
    found = read_request("convert every sheet to csv", books, ("book.xlsx",), TODAY)
    assert isinstance(found, Understood)
    files = [step.file for step in found.job.steps if isinstance(step, ConvertStep)]
    assert files == ["book-q1.csv", "book-notes.csv"]


def test_workbooks_are_read_where_no_plain_table_is() -> None:
    """A csv goes before a workbook that nobody named; what is named is read."""
    plain = KnownTable("a.csv", "", (AMOUNT,), 3)
    book = KnownTable("b.xlsx", "S", (AMOUNT,), 3)
    paths = ("a.csv", "b.xlsx")

    def source(request: str) -> str:
        found = read_request(request, [plain, book], paths, TODAY)
        assert isinstance(found, Understood), found
        return found.job.inputs[0].file

    assert source("sort by amount") == "a.csv"
    assert source("sort b.xlsx by amount") == "b.xlsx"
    asked = read_request("sort a.csv and b.xlsx by amount", [plain, book], paths, TODAY)
    assert isinstance(asked, Question)


def test_free_names() -> None:
    """With the day behind them, then with a number."""
    taken = ["a.csv", "A-2026-11-29.csv"]
    assert free_target("b.csv", taken, "2026-11-29") == "b.csv"
    assert free_target("a.csv", taken, "2026-11-29") == "a-2026-11-29-2.csv"


def test_an_open_question_is_asked_only_where_a_job_hangs_on_it() -> None:
    """Of a column that is compared, summed or grouped by, not of one that is only shown."""
    asked = {
        "about": "decimal", "columns": ["Amount"], "text": "Amount: is 1.234 1234 or 1.234?",
        "options": [{"value": ",", "meaning": "1234"}, {"value": ".", "meaning": "1.234"}],
    }  # fmt: skip
    table = KnownTable("a.csv", "", COLUMNS, 9, (asked,))

    def reading(request: str) -> Reading:
        return read_request(request, [table], ("a.csv",), TODAY)

    found = reading("total amount by customer name")
    assert isinstance(found, Question)
    assert 'Answer "decimal comma" or "decimal point"' in found.text
    assert isinstance(reading("count rows by customer name"), Understood)
    assert isinstance(reading("only date and amount"), Understood)


def test_facts_are_plain() -> None:
    """A column without values is none of the listed ones."""
    assert not KnownColumn("x").is_listed
