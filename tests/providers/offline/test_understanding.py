"""What requests are read as, and which are declined, by words and columns alone."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kbd_offline.files import choose_files
from kbd_offline.intents import (
    ColumnIntent,
    Condition,
    Declined,
    Grouped,
    Intent,
    Key,
    Measure,
    RowsIntent,
    SortOrder,
    Split,
    decode_intent,
    encode_intent,
)
from kbd_offline.interpretation import understand
from kbd_offline.request_text import UnclearError

DATE = ColumnIntent("Date", "date")
TEXT = ColumnIntent("Description")
KIND = ColumnIntent("Category")
AMOUNT = ColumnIntent("Amount", "float")
PLACE = ColumnIntent('Größe "netto"', "float")
COLUMNS = (
    DATE,
    TEXT,
    KIND,
    AMOUNT,
    ColumnIntent("Account Name"),
    ColumnIntent("Order ID", "integer", "id"),
)
PATHS = ("transactions.csv", "notes.docx")


def read(request: str, columns: tuple[ColumnIntent, ...] = COLUMNS) -> Intent:
    """Return the reading of a request about transactions.csv."""
    return understand(request, choose_files(request, PATHS), columns)


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
    intent = read(request_text)

    assert isinstance(intent, Split)
    assert intent.key == Key(KIND)
    assert intent.columns == (DATE, TEXT, AMOUNT)
    assert intent.order == (SortOrder("Date"),)
    assert intent.measures == (Measure("count"), Measure("total", AMOUNT))
    assert intent.target == "summary.xlsx"


def test_from_a_file_is_no_condition() -> None:
    """A key of numbers before "from FILE" is a key; before "from 5" it is compared with that."""
    intent = read("one sheet per Order ID from transactions.csv with Date and Amount")
    assert isinstance(intent, Split)
    assert intent.key == Key(COLUMNS[5])
    assert not intent.selection.conditions

    intent = read("show Date and Amount where Order ID from 5")
    assert isinstance(intent, RowsIntent)
    assert intent.selection.conditions == (Condition(COLUMNS[5], ">=", "5"),)


@pytest.mark.parametrize(
    ("request_text", "keys", "measures", "target"),
    [
        ("total amount by category", [KIND], [Measure("total", AMOUNT)], "summary.xlsx"),
        ("Sum of Amount per account", [COLUMNS[4]], [Measure("total", AMOUNT)], "summary.xlsx"),
        ("what's the total per category in Excel?", [KIND], [Measure("total", AMOUNT)],
         "summary.xlsx"),
        ("totals per category", [KIND], [Measure("total", AMOUNT)], "summary.xlsx"),
        ("Summarize amount by category", [KIND], [Measure("total", AMOUNT)], "summary.xlsx"),
        ("average of Amount by Category into report.xlsx", [KIND], [Measure("average", AMOUNT)],
         "report.xlsx"),
        ("mean amount grouped by category as csv", [KIND], [Measure("average", AMOUNT)],
         "summary.csv"),
        ("count rows for each category", [KIND], [Measure("count")], "summary.xlsx"),
        ("total and average amount by category and account name", [KIND, COLUMNS[4]],
         [Measure("total", AMOUNT), Measure("average", AMOUNT)], "summary.xlsx"),
        ("how many transactions per category?", [KIND], [Measure("count")], None),
        ("What is the total amount?", [], [Measure("total", AMOUNT)], None),
    ],
)  # fmt: skip
def test_figures(
    request_text: str, keys: list[ColumnIntent], measures: list[Measure], target: str | None
) -> None:
    """Totals, averages and counts by columns; a question gets an answer instead of a file."""
    intent = read(request_text)

    assert isinstance(intent, Grouped)
    assert [key.column for key in intent.keys] == keys
    assert list(intent.measures) == measures
    assert intent.target == target


def test_parts_of_dates() -> None:
    """Months, quarters and years are taken from the one column of dates."""
    intent = read("total amount per month, sorted by total descending")

    assert isinstance(intent, Grouped)
    assert intent.keys == (Key(DATE, "month"),)
    assert intent.order == (SortOrder("Total Amount", descending=True),)


@pytest.mark.parametrize(
    ("request_text", "conditions", "order", "target"),
    [
        ("only rows where Amount > 100, sorted by date descending",
         [Condition(AMOUNT, ">", "100")], [SortOrder("Date", descending=True)],
         "transactions-filtered.csv"),
        ("Keep rows where category is 'Café, Bar' and amount is at least 1,000.50 into big.xlsx",
         [Condition(KIND, "=", "Café, Bar"), Condition(AMOUNT, ">=", "1000.50")], [],
         "big.xlsx"),
        ("filter by description contains rent", [Condition(TEXT, "contains", "rent")], [],
         "transactions-filtered.csv"),
        ("rows with Date between 2024-01-01 and 2024-03-31 in an Excel file",
         [Condition(DATE, ">=", "2024-01-01"), Condition(DATE, "<=", "2024-03-31")], [],
         "transactions-filtered.xlsx"),
        ("rows where amount is empty", [Condition(AMOUNT, "empty")], [],
         "transactions-filtered.csv"),
        ("only category = Food sorted by Amount into food.xlsx",
         [Condition(KIND, "=", "Food")], [SortOrder("Amount")], "food.xlsx"),
        ("sort the transactions in descending order by date", [], [SortOrder("Date",
         descending=True)], "transactions-sorted.csv"),
        ("sort by Amount, largest first, then by date", [],
         [SortOrder("Amount", descending=True), SortOrder("Date")], "transactions-sorted.csv"),
        ("convert transactions.csv to Excel", [], [], "transactions.xlsx"),
        ("csv to xlsx please, convert it", [], [], "transactions.xlsx"),
    ],
)  # fmt: skip
def test_rows(
    request_text: str, conditions: list[Condition], order: list[SortOrder], target: str
) -> None:
    """Rows are filtered, sorted and converted."""
    intent = read(request_text)

    assert isinstance(intent, RowsIntent)
    assert list(intent.selection.conditions) == conditions
    assert list(intent.order) == order
    assert intent.columns == COLUMNS
    assert intent.target == target


def test_chosen_columns() -> None:
    """Columns are chosen by name, without regard to accents, case and plural."""
    columns = (PLACE, ColumnIntent("Prix unitaire", "float"), ColumnIntent("Été"))

    intent = read('only the columns "grosse netto" and prix unitaires as csv', columns)
    assert isinstance(intent, Declined)  # ß is no s: it is not guessed

    intent = read("only the columns GRÖßE NETTO, ete", columns)
    assert isinstance(intent, RowsIntent)
    assert intent.columns == (PLACE, columns[2])


@pytest.mark.parametrize(
    ("request_text", "why"),
    [
        ("Translate transactions.csv into German", "translate"),
        ("Summarize the document", "summarise a document"),
        ("Write an e-mail to the customers about transactions.csv", "write prose"),
        ("Edit the Word document", "edit a document"),
        ("total amount by supplier", "supplier"),
        ("total amount for Groceries by month", "Groceries"),
        ("the transactions of 2024", "2024"),
        ("with Date, Amont", "Amont"),
        ("only the big ones where it matters", "big"),
        ("total description by category", "Description"),
        ("rows where amount > 5 or amount < 1 and category is Food", "mixes"),
        ("rows where date is after yesterday", "YYYY-MM-DD"),
        ("rows where amount > 10%", "hundredth"),
        ("rows where amount is between 5 and 10 %", "hundredth"),
        ("chart of amount by category", "draw charts"),
        ("one sheet per category with totals by date", "several"),
        ("one sheet per category. Amount!", "Amount"),
        ("split by category into separate csv files", "one workbook"),
        ("hello", "hello"),
        ("list the transactions", "nothing in it"),
    ],
)
def test_declined(request_text: str, why: str) -> None:
    """What has no reading is declined with the reason, never half done."""
    intent = read(request_text)

    assert isinstance(intent, Declined)
    assert why in intent.reason


def test_two_readings() -> None:
    """Two columns, two dates, two numbers or two files that may be meant: all are named."""
    orders = (ColumnIntent("Order Date", "date"), ColumnIntent("Ship Date", "date"),
              ColumnIntent("Net", "float"), ColumnIntent("Gross", "float"), KIND)  # fmt: skip

    for request in ("count by date", "total net per month", "totals by category"):
        intent = read(request, orders)
        assert isinstance(intent, Declined)
        assert intent.reason.count('"') >= 4
    with pytest.raises(UnclearError, match=r"a\.csv, b\.csv"):
        choose_files("sort by date", ("a.csv", "b.csv"))


@pytest.mark.parametrize(
    "request_text", ["total Distance by UniqueCarrier", "total distance by unique carrier"]
)
def test_a_name_that_begins_like_a_filler_word_is_read_whole(request_text: str) -> None:
    """By "UniqueCarrier" is not by "Carrier": no part of a name is passed over."""
    unique, distance = ColumnIntent("UniqueCarrier"), ColumnIntent("Distance", "float")

    intent = read(request_text, (unique, ColumnIntent("Carrier"), distance))

    assert isinstance(intent, Grouped)
    assert intent.keys == (Key(unique),)


def test_a_whole_name_wins() -> None:
    """A column that is named in full is meant, though another one has the word in its name."""
    columns = (ColumnIntent("Date", "date"), ColumnIntent("Order Date", "date"))

    intent = read("sort by date", columns)
    assert isinstance(intent, RowsIntent)
    assert intent.order == (SortOrder("Date"),)


@pytest.mark.parametrize(
    ("request_text", "source", "target"),
    [
        ("sort b.csv by x", "b.csv", None),
        ('convert "my file.csv" to out.xlsx', "my file.csv", "out.xlsx"),
        ("convert my file.csv to Excel", "my file.csv", None),
        ("total by x of b.csv, called totals", "b.csv", "totals"),
        ("split b.csv into 'per place.xlsx'", "b.csv", "per place.xlsx"),
    ],
)
def test_files(request_text: str, source: str, target: str | None) -> None:
    """Files are found by name, blanks included, and a result is told from a source."""
    files = choose_files(request_text, ("a.csv", "b.csv", "my file.csv"))

    assert (files.source, files.target) == (source, target)
    assert len(files.text) == len(request_text)


@pytest.mark.parametrize(
    "request_text",
    ["sort c.csv by x", "convert a.csv to pdf.pdf", "sort a.csv by x into a.csv", "sort a.docx"],
)
def test_files_that_cannot_be(request_text: str) -> None:
    """A missing file, a foreign format and a result over its source are refused."""
    with pytest.raises(UnclearError):
        choose_files(request_text, ("a.csv", "a.docx"))


def test_nothing_is_overwritten() -> None:
    """A default name gives way to one that is taken; a name that was given is refused."""
    taken = ("transactions.csv", "summary.xlsx")

    default = understand("count by category", choose_files("count by category", taken), COLUMNS)
    given = "count by category into Summary.xlsx"
    refused = understand(given, choose_files(given, taken), COLUMNS)

    assert isinstance(default, Grouped)
    assert default.target == "summary-2.xlsx"
    assert isinstance(refused, Declined)


VOCABULARY = """
one sheet per each by for category Date, amount Amount. sorted sort descending and or , total totals
average count how many where > < is between 5 2024-01-01 'Food' "x with only summary into out.xlsx
as csv convert month description ( ) ; empty not zebra account name
"""


@given(st.lists(st.sampled_from(VOCABULARY.split()), max_size=14))
@settings(max_examples=60, deadline=None)
def test_any_request_is_read_or_declined(words: list[str]) -> None:
    """Whatever the words and their order, there is a reading or a reason."""
    request = " ".join(words)
    try:
        files = choose_files(request, PATHS)
    except UnclearError as unclear:
        assert str(unclear)  # noqa: PT017 - either way is right here
        return

    assert decode_intent(encode_intent(understand(request, files, COLUMNS))) is not None


def test_a_book_is_no_request() -> None:
    """A text beyond what rules can understand is refused, not searched."""
    with pytest.raises(UnclearError, match="too long"):
        choose_files("sort by date " * 1000, PATHS)


def test_intents_travel() -> None:
    """An intent is found again in a text, with or without its fence, whatever it quotes."""
    intent = Declined('</plan> ``` "x"\n', "{}")

    text = f"# Notes\n- a\n{encode_intent(intent)}\n- b"
    assert decode_intent(text) == intent
    assert decode_intent(text.replace("```json\n", "").replace("\n```", "")) == intent
    assert "</plan>" not in text
    assert decode_intent('{"offline":"unknown"}\n{"offline":') is None


def test_a_column_called_order_is_no_sorting() -> None:
    """The word "order" in a name does not swallow the list of columns that it stands in."""
    intent = read("one sheet per category with Order ID and Amount sorted by date")

    assert isinstance(intent, Split)
    assert [column.name for column in intent.columns] == ["Order ID", "Amount"]
    assert intent.order == (SortOrder("Date"),)


@pytest.mark.parametrize("words", ["> 100", "at least 5", "is less than 12,50", "below 'x'"])
def test_texts_are_not_compared_by_size(words: str) -> None:
    """Numbers that came as text ("12,50") are not silently compared letter by letter."""
    intent = read(f"only rows where Description {words}")

    assert isinstance(intent, Declined)
    assert "none is more or less" in intent.reason


def test_a_misspelt_column_is_not_guessed_but_named() -> None:
    """A column that is not there is declined, with the one that was probably meant."""
    intent = read("average Amount by Categorie")

    assert isinstance(intent, Declined)
    assert 'there is no column "Categorie"; did you mean "Category"?' in intent.reason


@pytest.mark.parametrize(
    "name",
    ["Weight", "Height", "Order", "Group", "By", "Total", "Count", "Date", "Name", "Income",
     "Offers", "Theft", "Sheet", "Sort", "Per", "In", "You", "Up", "Sum", "Value", "Max", "Month"],
)  # fmt: skip
def test_columns_that_are_called_like_words(name: str) -> None:
    """A column whose name is, or begins as, a word of the rules is the one that is asked for."""
    item, asked = ColumnIntent("Item"), ColumnIntent(name, "integer")
    columns = (item, asked, ColumnIntent("Amount", "integer"))
    for request in (f"total {name}", f"what is the total {name}?", f"total {name.lower()}"):
        intent = read(request, columns)
        assert isinstance(intent, Grouped), intent
        assert (intent.keys, intent.measures) == ((), (Measure("total", asked),))
    grouped = read(f"total {name} by Item", columns)
    assert isinstance(grouped, Grouped), grouped
    assert (grouped.keys, grouped.measures) == ((Key(item),), (Measure("total", asked),))
    other = read(f"total Amount by {name}", columns)
    assert isinstance(other, Grouped), other
    assert (other.keys, other.measures) == ((Key(asked),), (Measure("total", columns[2]),))


def test_why_a_column_has_no_figure() -> None:
    """The refusal says why the values are texts."""
    money = ColumnIntent("Amount", why_text="it mixes currencies: EUR (2) and USD (2)")
    when = ColumnIntent("Datum", why_text="its dates are written in several ways")
    paid = ColumnIntent("Paid", "float")
    for request, why in (
        ("total Amount", "it mixes currencies: EUR (2) and USD (2)"),
        ("total Paid by month", '"Datum": its dates are written in several ways'),
    ):
        intent = read(request, (money, when, paid))
        assert isinstance(intent, Declined)
        assert why in intent.reason


def test_a_part_of_a_name_that_begins_as_a_small_word() -> None:
    """Weight is no "we", and an offer no "of"."""
    columns = (ColumnIntent("Net Weight (kg)", "float"), ColumnIntent("Open Offers", "integer"))
    for word, column in (("weight", columns[0]), ("offers", columns[1])):
        intent = read(f"total {word}", columns)
        assert isinstance(intent, Grouped), intent
        assert intent.measures == (Measure("total", column),)


CALLED = ("In", "You", "Each", "By", "The", "All", "For", "Total", "Count", "Only", "Per", "Order")


@pytest.mark.parametrize("name", CALLED)
def test_a_column_that_is_called_as_a_word_of_the_language(name: str) -> None:
    """Its name finds it, in quotes or not: of a figure, a group, a list, beside another number."""
    columns = (ColumnIntent("Region"), ColumnIntent(name, "integer"), ColumnIntent("Cost", "float"))

    def read(request: str) -> Any:
        return understand(request, choose_files(request, ["t.csv"]), columns)

    for spelt in (name, f'"{name}"'):
        total = Measure("total", columns[1])
        assert read(f"sum of {spelt}").measures == (total,)
        assert read(f"total {spelt} by Region").measures == (total,)
        assert read(f"average of {spelt}").measures == (Measure("average", columns[1]),)
        assert read(f"total Cost by {spelt}").keys == (Key(columns[1]),)
        assert read(f"only {spelt} and Cost as csv").columns == columns[1:]
        assert read(f"sort by {spelt}").order == (SortOrder(name),)


def test_a_list_and_figures_at_once_are_two_readings() -> None:
    """Neither is passed over."""
    columns = (ColumnIntent("Count", "integer"), ColumnIntent("Cost", "float"))
    request = "only Count and Cost, and the total"
    intent = understand(request, choose_files(request, ["t.csv"]), columns)
    assert isinstance(intent, Declined)
    assert "asks for figures or groups, too" in intent.reason


@pytest.mark.parametrize(
    ("text", "decimal", "value"),
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
    text: str, decimal: str, value: str | None
) -> None:
    """A limit of fifteen hundred is never one and a half without a word."""
    columns = (ColumnIntent("Betrag", "float", decimal=decimal), ColumnIntent("Ort"))
    request = f"rows where Betrag > {text} into b.csv"
    intent = understand(request, choose_files(request, ["a.csv"]), columns)
    if value is None:
        assert isinstance(intent, Declined)
        assert f'"Betrag" is compared with {text}' in intent.reason
    else:
        assert isinstance(intent, RowsIntent)
        assert intent.selection.conditions[0].value == value


def test_a_name_in_quotes_ends_where_they_do() -> None:
    """The total of "Amount" is another column than "Total Amount"."""
    columns = (ColumnIntent("Total Amount", "float"), ColumnIntent("Amount", "float"))
    for request, measure in (
        ('total "Amount"', Measure("total", columns[1])),
        ('sum of "Total Amount"', Measure("total", columns[0])),
    ):
        intent = understand(request, choose_files(request, ["a.csv"]), columns)
        assert isinstance(intent, Grouped)
        assert intent.measures == (measure,)


def test_a_name_in_quotes_is_found_with_its_signs() -> None:
    """Names that differ in signs alone are told apart, in figures, groups, lists and conditions."""
    columns = tuple(ColumnIntent(name, "integer") for name in ("30 days", ">30 days", "<30 days"))
    request = 'total ">30 days"'
    intent = understand(request, choose_files(request, ["a.csv"]), columns)
    assert isinstance(intent, Grouped)
    assert intent.measures == (Measure("total", columns[1]),)
    request = 'rows where "<30 days" > 5 sorted by ">30 days", with "30 days" and ">30 days" as csv'
    intent = understand(request, choose_files(request, ["a.csv"]), columns)
    assert isinstance(intent, RowsIntent)
    assert intent.selection.conditions == (Condition(columns[2], ">", "5"),)
    assert intent.columns == columns[:2]
    assert intent.order == (SortOrder(">30 days"),)
