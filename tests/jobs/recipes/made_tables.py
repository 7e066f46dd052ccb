"""Tables with the rows that recipes are learned and tried on, made from seeds.

The rows that are made here are the truth: what a recipe gives of the file they are written to is
compared with SQL over them, not over what kbd reads.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from decimal import Decimal
from random import Random
from typing import Literal

import msgspec

__all__ = [
    "KINDS", "Cell", "FileStyle", "MadeColumn", "MadeTable", "TableKind", "made_table",
]  # fmt: skip

Cell = str | int | Decimal | date | None
"""A value of a row."""

Holds = Literal["text", "number", "integer", "date"]


class MadeColumn(msgspec.Struct, frozen=True):
    """A column.

    Args:
        name: Its heading.
        holds: What its values are.
        pool: The values it may have; of a table some of them.
        some: How many of these a table has at most.
        low, high: The least and the greatest number; of days those after 2024-01-01.
        serial: What its values begin with that count up; "" if they do not.
        is_key: Whether no two rows are alike in it.
        gaps: The share of rows without a value.
    """

    name: str
    holds: Holds = "text"
    pool: tuple[str, ...] = ()
    some: int = 6
    low: int = 1
    high: int = 1000
    serial: str = ""
    is_key: bool = False
    gaps: float = 0.0


class FileStyle(msgspec.Struct, frozen=True):
    """How a table is written.

    Args:
        suffix: `csv` or `xlsx`.
        delimiter, decimal, thousands, encoding: Of a text file.
        dates: Format of dates that are text.
        sign: What stands before each number with decimals, such as a currency.
        titles: Lines above the headings.
        total: The label of a row of sums below; "" for none.
        subtotals: Whether each value of the first column of categories has such a row, too.
        footer: A line below.
        repeat: Whether the headings are written again in the middle.
        blanks: Whether lines without anything are in between.
        padded: Whether blanks are around texts.
        as_text: Columns whose cells of a workbook are text, whatever they hold.
        decoys: Other sheets of other columns.
        twin: Another sheet of the same columns.
        is_gone: Whether its sheet is not there.
        merged: A column whose cells of one value are merged; "" for none.
        below: Lines of another table below, an empty line between them.
        twin_file: Whether another file of the same columns is there.
        other_file: Whether another file of other columns is there.
        data: The bytes of the file; None for those of the table.
    """

    suffix: str = "csv"
    delimiter: str = ","
    decimal: str = "."
    thousands: str = ""
    encoding: str = "utf-8"
    dates: str = "%Y-%m-%d"
    sign: str = ""
    titles: tuple[str, ...] = ()
    total: str = ""
    subtotals: bool = False
    footer: str = ""
    repeat: bool = False
    blanks: bool = False
    padded: bool = False
    as_text: frozenset[str] = frozenset()
    decoys: tuple[str, ...] = ()
    twin: str = ""
    is_gone: bool = False
    merged: str = ""
    below: tuple[tuple[Cell, ...], ...] = ()
    twin_file: bool = False
    other_file: bool = False
    data: bytes | None = None


class TableKind(msgspec.Struct, frozen=True):
    """A kind of table.

    Args:
        columns: Its columns.
        stem: What its files are called before the month.
        style: How it is written.
        sheet: Its sheet, of a workbook.
        book: What its file is called, if others are in it, too.
        least, most: Rows.
    """

    columns: tuple[MadeColumn, ...]
    stem: str
    style: FileStyle = FileStyle()
    sheet: str = "Sheet1"
    book: str = ""
    least: int = 25
    most: int = 60


class MadeTable(msgspec.Struct, frozen=True):
    """A table that was made.

    Args:
        columns: Its columns.
        rows: Its rows as they are meant.
        file: The file that it is in.
        sheet: Its sheet.
        style: How it is written.
        written: Its rows as they are written, where that is otherwise.
    """

    columns: tuple[MadeColumn, ...]
    rows: tuple[tuple[Cell, ...], ...]
    file: str
    sheet: str
    style: FileStyle
    written: tuple[tuple[Cell, ...], ...] | None = None

    def place(self, name: str) -> int:
        """Return where a column stands."""
        return [each.name for each in self.columns].index(name)

    def column(self, name: str) -> MadeColumn:
        """Return a column by its name."""
        return self.columns[self.place(name)]


_REGIONS = ("North", "South", "East", "West", "Center", "Islands", "Overseas", "Coast")
_SHOPS = ("Main Street", "Harbor", "Airport", "Old Town", "Mall", "Station", "Riverside")
_PRODUCTS = ("Lamp", "Chair", "Desk", "Shelf", "Rug", "Mirror", "Vase", "Clock", "Bench")
_STATUSES = ("paid", "open", "cancelled")
_CUSTOMERS = tuple(
    f"{first} {last}"
    for first in ("Ada", "Ben", "Cleo", "Dirk", "Eva", "Finn")
    for last in ("Berg", "Cole", "Diaz", "Eder")
)
_SKUS = tuple(f"SKU-{number:03d}" for number in range(101, 181))
_COST_CENTERS = ("0410", "0420", "0510", "0610", "0710", "1110")
_CATEGORIES = ("Reise", "Büro", "Miete", "Werbung", "Versand", "Bewirtung", "Schulung")
_NAMES = tuple(f"{first} {last}" for first in ("Kim", "Lee", "Max", "Nia", "Oda", "Pia", "Quin")
               for last in ("Abel", "Born", "Card", "Dorn", "Erb", "Funk"))  # fmt: skip
_COUNTRIES = ("Austria", "Chile", "Japan", "Kenya", "Norway")


def _c(name: str, holds: Holds = "text", /, **more: object) -> MadeColumn:
    return msgspec.convert({"name": name, "holds": holds, **more}, MadeColumn)


_ORDERS = (
    _c("Order", serial="A-", is_key=True), _c("Date", "date", high=180),
    _c("Region", pool=_REGIONS, some=4), _c("Shop", pool=_SHOPS, some=4),
    _c("Product", pool=_PRODUCTS), _c("Status", pool=_STATUSES, some=3),
    _c("Amount", "number", low=5, high=3000), _c("Units", "integer", high=40),
    _c("Customer", pool=_CUSTOMERS, some=9),
)  # fmt: skip

KINDS: dict[str, TableKind] = {
    "orders": TableKind(_ORDERS, "orders"),
    "more_orders": TableKind(_ORDERS, "returns", least=8, most=20),
    "order_book": TableKind(
        _ORDERS, "sales", FileStyle("xlsx", titles=("Sales report", ""), decoys=("Notes",)),
        sheet="Orders",
    ),
    "customers": TableKind(
        (_c("Customer", pool=_CUSTOMERS, is_key=True), _c("Country", pool=_COUNTRIES, some=5),
         _c("Segment", pool=("Retail", "Trade", "Public"), some=3), _c("Manager", pool=_NAMES)),
        "customers", least=14, most=22,
    ),
    "expenses": TableKind(
        (_c("Datum", "date", high=180), _c("Kostenstelle", pool=_COST_CENTERS, some=4),
         _c("Kategorie", pool=_CATEGORIES, some=5), _c("Beleg", serial="B", is_key=True),
         _c("Betrag", "number", low=1, high=900), _c("Steuer", "number", low=0, high=90)),
        "ausgaben", FileStyle(delimiter=";", decimal=",", dates="%d.%m.%Y"),
    ),
    "payroll": TableKind(
        (_c("Employee", pool=_NAMES, some=30), _c("Department", pool=(
            "Sales", "Service", "Finance", "Works", "Board"), some=4),
         _c("Level", pool=("junior", "senior", "lead"), some=3),
         _c("Start", "date", low=-3000, high=200), _c("Hours", "number", low=1, high=180),
         _c("Rate", "number", low=15, high=95)),
        "payroll", FileStyle("xlsx", titles=("Payroll", "")), sheet="Payroll",
    ),
    "stock": TableKind(
        (_c("Sku", pool=_SKUS, is_key=True), _c("Warehouse", pool=_SHOPS, some=3),
         _c("Quantity", "integer", low=0, high=400), _c("Price", "number", low=1, high=250)),
        "", FileStyle("xlsx", decoys=("Read me",)), sheet="Stock", book="stock",
    ),
    "suppliers": TableKind(
        (_c("Article", pool=_SKUS, is_key=True), _c("Supplier", pool=_NAMES, some=6)),
        "", FileStyle("xlsx"), sheet="Suppliers", book="stock", least=40, most=60,
    ),
    "invoices": TableKind(
        (_c("Invoice", serial="R-", is_key=True), _c("Customer", pool=_CUSTOMERS, some=8),
         _c("Issued", "date", high=150), _c("Due", "date", low=30, high=210),
         _c("Net", "number", low=10, high=4000), _c("Paid", "date", low=20, high=220, gaps=0.4)),
        "invoices", FileStyle(total="Total"),
    ),
    "bank": TableKind(
        (_c("Date", "date", high=90), _c("Account", pool=("Giro", "Savings", "Card"), some=3),
         _c("Payee", pool=_CUSTOMERS, some=10), _c("Amount", "number", low=-900, high=1200)),
        "bank", FileStyle(delimiter=";", dates="%d/%m/%Y"),
    ),
    "targets": TableKind(
        (_c("Area", pool=_REGIONS, is_key=True), _c("Target", "number", low=500, high=9000)),
        "targets", FileStyle("xlsx"), sheet="Targets", least=5, most=8,
    ),
    "old_prices": TableKind(
        (_c("Sku", pool=_SKUS, is_key=True), _c("Price", "number", low=1, high=20),
         _c("Unit", pool=("box", "piece"), some=2)), "old-prices",
    ),
    "new_prices": TableKind(
        (_c("Sku", pool=_SKUS, is_key=True), _c("Price", "number", low=1, high=20),
         _c("Unit", pool=("box", "piece"), some=2)), "new-prices",
    ),
    "survey": TableKind(
        (_c("Respondent", serial="P", is_key=True), _c("Question", pool=(
            "Service", "Price", "Quality", "Speed"), some=4),
         _c("Score", "integer", low=1, high=10), _c("Comment", pool=(
            "fine", "good, but slow", 'so "so"', "great; really"), some=4, gaps=0.3)),
        "survey", FileStyle(delimiter="\t"),
    ),
    "ledger": TableKind(
        (_c("Region", pool=_REGIONS, some=4), _c("Revenue", "number", low=1, high=900)),
        "ledger", FileStyle("xlsx"), sheet="Ledger", least=3, most=6,
    ),
}  # fmt: skip

_FIRST_DAY = date(2024, 1, 1)
_MONTHS = ("2024-05", "2024-06", "2024-07", "2024-08", "2024-09", "2024-10")


def made_table(kind: TableKind, seed: int) -> MadeTable:
    """Return a table of a kind: of the same seed the same one."""
    rng = Random(f"{kind.stem or kind.sheet} {seed}")
    count = rng.randint(kind.least, kind.most)
    values = [_values(each, rng, count) for each in kind.columns]
    count = min(map(len, values))
    rows = tuple(zip(*(some[:count] for some in values), strict=True))
    month = _MONTHS[seed % len(_MONTHS)]
    file = f"{kind.book or kind.stem}-{month}.{kind.style.suffix}"
    return MadeTable(kind.columns, rows, file, kind.sheet, kind.style)


def _values(column: MadeColumn, rng: Random, count: int) -> Sequence[Cell]:
    """Return the values of a column."""
    if column.is_key and column.pool:
        return rng.sample(column.pool, min(count, len(column.pool)))
    if column.serial:
        first = rng.randint(1000, 8000)
        return [f"{column.serial}{first + number}" for number in range(count)]
    some = rng.sample(column.pool, min(column.some, len(column.pool))) if column.pool else []
    return [None if rng.random() < column.gaps else _value(column, rng, some) for _ in range(count)]


def _value(column: MadeColumn, rng: Random, some: Sequence[str]) -> Cell:
    match column.holds:
        case "text":
            return rng.choice(some)
        case "integer":
            return rng.randint(column.low, column.high)
        case "number":
            return Decimal(rng.randint(column.low * 100, column.high * 100)) / 100
        case "date":
            return _FIRST_DAY + timedelta(rng.randint(column.low, column.high))
