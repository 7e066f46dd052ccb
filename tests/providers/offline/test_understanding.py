"""What requests are read as, and which are declined, by words and columns alone."""

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbd.jobs.records import (
    ConvertStep,
    DeriveStep,
    FilterStep,
    GroupStep,
    Job,
    ReportStep,
    SelectStep,
    SortStep,
    SplitStep,
    WriteStep,
)
from kbd_offline.facts import KnownColumn, KnownTable
from kbd_offline.intents import DeclinedIntent, decode_intent, encode_intent
from kbd_offline.request import Declined, Question, Reading, Understood, read_request
from kbd_offline.request_files import named_files

TODAY = date(2026, 11, 29)
PATHS = ("transactions.csv", "notes.docx")


def text(name: str, *values: str, distinct: int = 0) -> KnownColumn:
    """Return a column of texts."""
    counts = dict.fromkeys(values, 1)
    return KnownColumn(
        name, "string", "", 9, distinct or len(values) or 5, counts, is_listed=bool(values)
    )


def number(name: str, role: str = "", kind: str = "float", decimal: str = ".") -> KnownColumn:
    """Return a column of numbers."""
    distinct = 9 if role == "id" else 5
    return KnownColumn(name, kind, role, 9, distinct, decimal=decimal, minimum="1", maximum="900")


def day(name: str) -> KnownColumn:
    """Return a column of dates in 2023 and 2024."""
    return KnownColumn(name, "date", "", 9, 9, minimum="2023-05-01", maximum="2024-08-30")


DATE, TEXT, KIND, AMOUNT = (
    day("Date"),
    text("Description"),
    text("Category", "Food", "Rent"),
    number("Amount"),
)
ACCOUNT, NUMBER = text("Account Name"), number("Order ID", "id", "integer")
COLUMNS = (DATE, TEXT, KIND, AMOUNT, ACCOUNT, NUMBER)


def read(
    request: str,
    columns: tuple[KnownColumn, ...] = COLUMNS,
    paths: tuple[str, ...] = PATHS,
) -> Reading:
    """Return the reading of a request about the first file."""
    return read_request(request, [KnownTable(paths[0], "", columns, 9)], paths, TODAY)


def job(
    request: str,
    columns: tuple[KnownColumn, ...] = COLUMNS,
    paths: tuple[str, ...] = PATHS,
) -> Job:
    """Return the job of a request that has one reading."""
    found = read(request, columns, paths)
    assert isinstance(found, Understood), found
    return found.job


def group(found: Job) -> GroupStep:
    """Return the step that groups."""
    return next(step for step in found.steps if isinstance(step, GroupStep))


def figures(found: Job) -> list[tuple[str, str | None]]:
    """Return the figures of a job, each its function and column."""
    return [(one.function, one.column) for one in group(found).figures]


def where(found: Job) -> str:
    """Return the condition of a job, "" for none."""
    return next((step.where for step in found.steps if isinstance(step, FilterStep)), "")


def order(found: Job) -> list[tuple[str, bool]]:
    """Return the columns that a job sorts by, each with whether it descends."""
    sorts = [step for step in found.steps if isinstance(step, SortStep)]
    return [(key.column, key.descending) for step in sorts for key in step.by]


def chosen(found: Job) -> list[str]:
    """Return the columns that a job chooses."""
    return [name for step in found.steps if isinstance(step, SelectStep) for name in step.columns]


def target(found: Job) -> str | None:
    """Return the file that a job writes, None for an answer."""
    files = [
        step.file for step in found.steps if isinstance(step, WriteStep | SplitStep | ConvertStep)
    ]
    return files[0] if files else None


SPLITS = """\
one sheet per category with Date, Description, Amount sorted by date, and a summary with totals
Put each Category on its own sheet with date, description and amount, sorted by Date; add a summary
Split by categories into sheets with "Date", "Description" & Amount, ordered by date, plus totals
a separate tab for every category with Date, Description, Amount sorted by date, with an overview
one sheet per category with Date, Description, Amount sorted by date, and totals per category
"""


@pytest.mark.parametrize("request_text", SPLITS.splitlines())
def test_split(request_text: str) -> None:
    """A sheet for each value, in several wordings, with a sheet of totals."""
    found = job(request_text)

    split = next(step for step in found.steps if isinstance(step, SplitStep))
    assert (split.by, split.into, split.keep_column) == ("Category", "sheets", False)
    assert chosen(found) == ["Date", "Description", "Amount", "Category"]
    assert order(found) == [("Date", False)]
    assert figures(found) == [("count", None), ("sum", "Amount")]
    assert (split.file, target(found)) == ("transactions-by-category.xlsx",) * 2


def test_from_a_file_is_no_condition() -> None:
    """A key of numbers before "from FILE" is a key; before "from 5" it is compared with that."""
    found = job("one sheet per Order ID from transactions.csv with Date and Amount")
    assert next(step for step in found.steps if isinstance(step, SplitStep)).by == "Order ID"
    assert not where(found)


@pytest.mark.parametrize(
    ("request_text", "keys", "measures", "result"),
    [
        ("total amount by category", ["Category"], [("sum", "Amount")],
         "transactions-amount-by-category.xlsx"),
        ("Sum of Amount per account", ["Account Name"], [("sum", "Amount")],
         "transactions-amount-by-account-name.xlsx"),
        ("what's the total per category in Excel?", ["Category"], [("sum", "Amount")],
         "transactions-amount-by-category.xlsx"),
        ("totals per category", ["Category"], [("sum", "Amount")],
         "transactions-amount-by-category.xlsx"),
        ("Summarize amount by category", ["Category"], [("sum", "Amount")],
         "transactions-amount-by-category.xlsx"),
        ("average of Amount by Category into report.xlsx", ["Category"], [("average", "Amount")],
         "report.xlsx"),
        ("mean amount grouped by category as csv", ["Category"], [("average", "Amount")],
         "transactions-average-amount-by-category.csv"),
        ("count rows for each category", ["Category"], [("count", None)],
         "transactions-count-by-category.xlsx"),
        ("total and average amount by category and account name", ["Category", "Account Name"],
         [("sum", "Amount"), ("average", "Amount")],
         "transactions-amount-average-amount-by-category-account-name.xlsx"),
        ("how many transactions per category?", ["Category"], [("count", None)], None),
        ("What is the total amount?", [], [("sum", "Amount")], None),
        ("Umsatz je Category", ["Category"], [("sum", "Amount")],
         "transactions-amount-by-category.xlsx"),
        ("Durchschnitt Amount pro Category", ["Category"], [("average", "Amount")],
         "transactions-average-amount-by-category.xlsx"),
    ],
)  # fmt: skip
def test_figures(
    request_text: str, keys: list[str], measures: list[tuple[str, str | None]], result: str | None
) -> None:
    """Totals, averages and counts by columns; a question gets an answer instead of a file."""
    found = job(request_text)

    assert list(group(found).by) == keys
    assert figures(found) == measures
    assert target(found) == result
    assert (result is None) == any(isinstance(step, ReportStep) for step in found.steps)


def test_parts_of_dates() -> None:
    """Months, quarters and years are taken from the one column of dates."""
    found = job("total amount per month, sorted by total descending")

    assert next(step for step in found.steps if isinstance(step, DeriveStep)).columns == {
        "Month": "month_of(Date)"
    }
    assert group(found).by == ("Month",)
    assert order(found) == [("Total Amount", True)]


@pytest.mark.parametrize(
    ("request_text", "condition", "ways", "result"),
    [
        ("only rows where Amount > 100, sorted by date descending", "Amount > 100",
         [("Date", True)], "transactions-amount-over-100.csv"),
        ("Keep rows where category is 'Food' and amount is at least 1,000.50 into big.xlsx",
         "same(Category, 'Food') and Amount >= 1000.50", [], "big.xlsx"),
        ("filter by description contains rent", "contains(lower(Description), 'rent')", [],
         "transactions-description-rent.csv"),
        ("rows with Date between 2024-01-01 and 2024-03-31 in an Excel file",
         "Date >= date '2024-01-01' and Date < date '2024-04-01'", [],
         "transactions-2024-01-01-to-2024-03-31.xlsx"),
        ("rows where amount is empty", "Amount is empty", [], "transactions-without-amount.csv"),
        ("only category = Food sorted by Amount into food.xlsx", "same(Category, 'Food')",
         [("Amount", False)], "food.xlsx"),
        ("sort the transactions in descending order by date", "", [("Date", True)],
         "transactions-sorted.csv"),
        ("sort by Amount, largest first, then by date", "", [("Amount", True), ("Date", False)],
         "transactions-sorted.csv"),
        ("convert transactions.csv to Excel", "", [], "transactions.xlsx"),
        ("csv to xlsx please, convert it", "", [], "transactions.xlsx"),
        ("the transactions of 2024", "Date >= date '2024-01-01' and Date < date '2025-01-01'", [],
         "transactions-2024.csv"),
        ("nur Food, absteigend nach Amount sortiert", "same(Category, 'Food')", [("Amount", True)],
         "transactions-food.csv"),
    ],
)  # fmt: skip
def test_rows(request_text: str, condition: str, ways: list[tuple[str, bool]], result: str) -> None:
    """Rows are filtered, sorted and converted."""
    found = job(request_text)

    assert where(found) == condition
    assert order(found) == ways
    assert not chosen(found)
    assert target(found) == result


def test_chosen_columns() -> None:
    """Columns are chosen by name, without regard to accents, case and plural."""
    columns = (number('Größe "netto"'), number("Prix unitaire"), text("Été"))

    assert isinstance(
        read('only the columns "grosse netto" and prix unitaires as csv', columns), Declined
    )
    assert chosen(job("only the columns GRÖßE NETTO, ete", columns)) == ['Größe "netto"', "Été"]


@pytest.mark.parametrize(
    ("request_text", "why"),
    [
        ("Translate transactions.csv into German", "translate"),
        ("Summarize the document", "document"),
        ("Write an e-mail to the customers about transactions.csv", "texts"),
        ("Edit the Word document", "edit a document"),
        ("total amount by supplier", "supplier"),
        ("total amount for Groceries by month", "Groceries"),
        ("with Date, Amont and Zebra", "Zebra"),
        ("only the big ones where it matters", "big"),
        ("total description by category", "Description"),
        ("rows where amount > 5 or amount < 1 and category is Food", "with or"),
        ("chart of amount by category", "draw charts"),
        ("one sheet per category with totals by date", "several"),
        ("split by category into separate sheets as csv", "need a workbook"),
        ("frobnicate", "frobnicate"),
        ("list the transactions", "nothing in it"),
        ("only rows where category is Foot", 'did you mean "Food"?'),
        ("top 10 percent of the rows", "percent"),
    ],
)
def test_declined(request_text: str, why: str) -> None:
    """What has no reading is declined with the reason, never half done."""
    found = read(request_text)

    assert isinstance(found, Declined), found
    assert why in found.reason


def test_what_is_declined_comes_with_requests_that_are_understood() -> None:
    """At most two, each of which has a reading on the same table."""
    found = read("frobnicate the amount by category")

    assert isinstance(found, Declined)
    assert 1 <= len(found.suggestions) <= 2
    assert all(isinstance(read(one), Understood) for one in found.suggestions)


def test_two_readings() -> None:
    """Two columns, two dates, two numbers or two files that may be meant: all are named."""
    orders = (day("Order Date"), day("Ship Date"), number("Net"), number("Gross"), KIND)

    for request in ("count by date", "total net per month", "totals by category"):
        found = read(request, orders)
        assert isinstance(found, Question), found
        assert found.text.count('"') >= 4
        assert len(found.options) == 2
        for option in found.options:
            assert isinstance(read(option, orders), Understood), option
    tables = [KnownTable(path, "", (DATE,), 3) for path in ("a.csv", "b.csv")]
    asked = read_request("sort by date", tables, ("a.csv", "b.csv"), TODAY)
    assert isinstance(asked, Question)
    assert "a.csv, b.csv" in asked.text


@pytest.mark.parametrize(
    "request_text", ["total Distance by UniqueCarrier", "total distance by unique carrier"]
)
def test_a_name_that_begins_like_a_filler_word_is_read_whole(request_text: str) -> None:
    """By "UniqueCarrier" is not by "Carrier": no part of a name is passed over."""
    columns = (text("UniqueCarrier"), text("Carrier"), number("Distance"))

    assert group(job(request_text, columns)).by == ("UniqueCarrier",)


def test_a_whole_name_wins() -> None:
    """A column that is named in full is meant, though another one has the word in its name."""
    assert order(job("sort by date", (DATE, day("Order Date")))) == [("Date", False)]


@pytest.mark.parametrize(
    ("request_text", "source", "result"),
    [
        ("sort b.csv by x", "b.csv", ""),
        ('convert "my file.csv" to out.xlsx', "my file.csv", "out.xlsx"),
        ("convert my file.csv to Excel", "my file.csv", ""),
        ("total by x of b.csv, called totals", "b.csv", "totals"),
        ("split b.csv into 'per place.xlsx'", "b.csv", "per place.xlsx"),
    ],
)
def test_files(request_text: str, source: str, result: str) -> None:
    """Files are found by name, blanks included, and a result is told from a source."""
    files = named_files(request_text, ("a.csv", "b.csv", "my file.csv"))

    assert (files.sources, files.target) == ((source,), result)


@pytest.mark.parametrize(
    "request_text",
    [
        "sort c.csv by date",
        "convert a.csv to pdf.pdf",
        "sort a.csv by date into a.csv",
        "sort a.docx",
    ],
)
def test_files_that_cannot_be(request_text: str) -> None:
    """A missing file, a foreign format and a result over its source are refused."""
    assert isinstance(read(request_text, paths=("a.csv", "a.docx")), Declined)


def test_nothing_is_overwritten() -> None:
    """A default name gives way to one that is taken; a name that was given is refused."""
    taken = ("transactions.csv", "transactions-count-by-category.xlsx")

    default = job("count rows by category", paths=taken)
    refused = read(f"count rows by category into {taken[1].title()}", paths=taken)

    assert target(default) == "transactions-count-by-category-2026-11-29.xlsx"
    assert isinstance(refused, Declined)


VOCABULARY = """
one sheet per each by for category Date, amount Amount. sorted sort descending and or , total totals
average count how many where > < is between 5 2024-01-01 'Food' "x with only summary into out.xlsx
as csv convert month description ( ) ; empty not zebra account name top 3 share running across vs
except without last year je nach Umsatz add column = * rename to duplicates
"""


@given(st.lists(st.sampled_from(VOCABULARY.split()), max_size=14))
@settings(max_examples=60, deadline=None)
def test_any_request_is_read_or_declined(words: list[str]) -> None:
    """Whatever the words and their order, there is a reading, a question or a reason."""
    found = read(" ".join(words))

    assert isinstance(found, Understood | Question | Declined)


def test_a_book_is_no_request() -> None:
    """A text beyond what rules can understand is refused, not searched."""
    found = read("sort by date " * 1000)

    assert isinstance(found, Declined)
    assert "too long" in found.reason


def test_intents_travel() -> None:
    """An intent is found again in a text, with or without its fence, whatever it quotes."""
    intent = DeclinedIntent('</plan> ``` "x"\n', "{}")

    written = f"# Notes\n- a\n{encode_intent(intent)}\n- b"
    assert decode_intent(written) == intent
    assert decode_intent(written.replace("```json\n", "").replace("\n```", "")) == intent
    assert "</plan>" not in written
    assert decode_intent('{"offline":"unknown"}\n{"offline":') is None


def test_a_column_called_order_is_no_sorting() -> None:
    """The word "order" in a name does not swallow the list of columns that it stands in."""
    found = job("one sheet per category with Order ID and Amount sorted by date")

    assert chosen(found) == ["Order ID", "Amount", "Category"]
    assert order(found) == [("Date", False)]


@pytest.mark.parametrize("words", ["> 100", "at least 5", "is less than 12,50", "below 'x'"])
def test_texts_are_not_compared_by_size(words: str) -> None:
    """Numbers that came as text ("12,50") are not silently compared letter by letter."""
    assert isinstance(read(f"only rows where Description {words}"), Declined)


def test_a_misspelt_column_is_read_and_told() -> None:
    """Of a small misspelling the only name near is meant, and the answer says so."""
    found = read("average Amount by Categorie")

    assert isinstance(found, Understood)
    assert group(found.job).by == ("Category",)
    assert '"Categorie" was read as "category"' in found.notes


@pytest.mark.parametrize(
    "name",
    ["Weight", "Height", "Order", "Group", "By", "Total", "Count", "Date", "Name", "Income",
     "Offers", "Theft", "Sheet", "Sort", "Per", "In", "You", "Up", "Sum", "Value", "Max", "Month"],
)  # fmt: skip
def test_columns_that_are_called_like_words(name: str) -> None:
    """A column whose name is, or begins as, a word of the rules is the one that is asked for."""
    columns = (text("Item"), number(name, "", "integer"), number("Amount", "", "integer"))
    for request in (f"total {name}", f"what is the total {name}?", f"total {name.lower()}"):
        found = job(request, columns)
        assert (list(group(found).by), figures(found)) == ([], [("sum", name)])
    grouped = job(f"total {name} by Item", columns)
    assert (list(group(grouped).by), figures(grouped)) == (["Item"], [("sum", name)])
    other = job(f"total Amount by {name}", columns)
    assert (list(group(other).by), figures(other)) == ([name], [("sum", "Amount")])


def test_why_a_column_has_no_figure() -> None:
    """The refusal says why the values are texts."""
    money = KnownColumn("Amount", why_text="it mixes currencies: EUR (2) and USD (2)")
    found = read("total Amount", (money, number("Paid")))
    assert isinstance(found, Declined)
    assert "it mixes currencies: EUR (2) and USD (2)" in found.reason
    when = KnownColumn("Datum", why_text="its dates are written in several ways")
    found = read("total Paid by month", (when, number("Paid")))
    assert isinstance(found, Declined)
    assert '"Datum": its dates are written in several ways' in found.reason


def test_a_part_of_a_name_that_begins_as_a_small_word() -> None:
    """Weight is no "we", and an offer no "of"."""
    columns = (number("Net Weight (kg)"), number("Open Offers", "", "integer"))
    assert figures(job("total weight", columns)) == [("sum", "Net Weight (kg)")]
    assert figures(job("total offers", columns)) == [("sum", "Open Offers")]


CALLED = ("In", "You", "Each", "By", "The", "All", "For", "Total", "Count", "Only", "Per", "Order")


@pytest.mark.parametrize("name", CALLED)
def test_a_column_that_is_called_as_a_word_of_the_language(name: str) -> None:
    """Its name finds it, in quotes or not: of a figure, a group, a list, beside another number."""
    columns = (text("Region"), number(name, "", "integer"), number("Cost"))
    for spelt in (name, f'"{name}"'):
        assert figures(job(f"sum of {spelt}", columns)) == [("sum", name)]
        assert figures(job(f"total {spelt} by Region", columns)) == [("sum", name)]
        assert figures(job(f"average of {spelt}", columns)) == [("average", name)]
        assert list(group(job(f"total Cost by {spelt}", columns)).by) == [name]
        assert chosen(job(f"only {spelt} and Cost as csv", columns)) == [name, "Cost"]
        assert order(job(f"sort by {spelt}", columns)) == [(name, False)]


def test_a_list_and_figures_at_once_are_two_readings() -> None:
    """Neither is passed over."""
    found = read("only Region and Cost, and the total", (text("Region"), number("Cost")))
    assert isinstance(found, Declined)
    assert "asks for figures or groups, too" in found.reason


@pytest.mark.parametrize(
    ("written", "decimal", "value"),
    [
        # What has one reading is read, whatever the file has.
        ("1500", ",", "1500"),
        ("1.000,50", ",", "1000.50"),
        ("1,000.50", ",", "1000.50"),
        ("0.125", "", "0.125"),
        ("12.5", ",", "12.5"),
        ("1.234.567", "", "1234567"),
        ("2,5", ",", "2.5"),
        # What has two, as the file is written.
        ("1.500", ".", "1.500"),
        ("1,500", ".", "1500"),
        ("1,500", "", "1500"),
        # Nothing says which is meant.
        ("1.500", ",", None),
        ("1.500", "", None),
        ("1,500", ",", None),
        ("2,5", ".", None),
        ("1,2,3", "", None),
    ],
)
def test_a_number_with_two_readings_is_asked_about(
    written: str, decimal: str, value: str | None
) -> None:
    """A limit of fifteen hundred is never one and a half without a word."""
    columns = (number("Betrag", decimal=decimal), text("Ort"))
    found = read(f"rows where Betrag > {written} into b.csv", columns, ("a.csv",))
    if value is None:
        assert isinstance(found, Declined | Question)
        told = found.reason if isinstance(found, Declined) else found.text
        assert f'"Betrag" is compared with {written}' in told
    else:
        assert isinstance(found, Understood)
        assert where(found.job) == f"Betrag > {value}"


def test_a_name_in_quotes_ends_where_they_do() -> None:
    """The total of "Amount" is another column than "Total Amount"."""
    columns = (number("Total Amount"), number("Amount"))
    assert figures(job('total "Amount"', columns)) == [("sum", "Amount")]
    assert figures(job('sum of "Total Amount"', columns)) == [("sum", "Total Amount")]


def test_a_name_in_quotes_is_found_with_its_signs() -> None:
    """Names that differ in signs alone are told apart, in figures, groups, lists and conditions."""
    columns = tuple(number(name, "", "integer") for name in ("30 days", ">30 days", "<30 days"))
    assert figures(job('total ">30 days"', columns)) == [("sum", ">30 days")]
    request = 'rows where "<30 days" > 5 sorted by ">30 days", with "30 days" and ">30 days" as csv'
    found = job(request, columns)
    assert where(found) == '"<30 days" > 5'
    assert chosen(found) == ["30 days", ">30 days"]
    assert order(found) == [(">30 days", False)]
