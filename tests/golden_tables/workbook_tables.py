"""Cases of workbooks: titles, notes, totals, types, gaps and several tables on a sheet."""

import io
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Any

from openpyxl import Workbook as Book
from openpyxl.worksheet.table import Table as Listing
from openpyxl.worksheet.worksheet import Worksheet

from golden_tables.cases import Case, Column, day, flag, number, text, written
from golden_tables.samples import ABOVE, AMOUNTS, NAMES, THREE
from golden_tables.styles import english, german

__all__ = ["BOOKS", "CASES"]

ABOVE_TABLE = (*ABOVE, "not in it")
TOTALS = ("total", "sum", "not in it")

Fill = Callable[[Worksheet], object]
Made = tuple[Case, Book, Mapping[str, float]]
"""A case, the workbook that it was made of, and the results that are stored of its formulas."""

_FORMULA = re.compile(rb'<c r="([A-Z]+[0-9]+)"([^>]*)><f>([^<]*)</f><v(?: ?/>|></v>)</c>')


def _native(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def _put(
    sheet: Worksheet,
    columns: Sequence[Column],
    top: int = 1,
    left: int = 1,
    *,
    header: bool = True,
    as_text: bool = False,
) -> int:
    """Write columns into a sheet, typed or as texts, and return the row below them."""
    for at, column in enumerate(columns, left):
        if header:
            sheet.cell(top, at, column.name)
        values = column.texts if as_text else column.values
        for row, value in enumerate(values, top + header):
            if value is not None and value != "":
                sheet.cell(row, at, _native(value))
    return top + header + len(columns[0].values)


def _book(fill: Fill, *more: tuple[str, Fill]) -> Book:
    """Return a workbook with the sheets that functions fill."""
    book = Book()
    first = book.active
    assert isinstance(first, Worksheet)
    first.title = "Data"
    fill(first)
    for name, each in more:
        each(book.create_sheet(name))
    return book


def _case(
    name: str,
    fill: Fill,
    columns: Sequence[Column],
    *more: tuple[str, Fill],
    results: Mapping[str, float] | None = None,
    **facts: Any,
) -> Made:
    """Return a case; `results` are stored with the formulas, by their cells."""
    book, stored = _book(fill, *more), results or {}
    buffer = io.BytesIO()
    book.save(buffer)
    content = _with_results(buffer, stored) if stored else buffer.getvalue()
    return written(f"workbooks/{name}.xlsx", content, columns, **facts), book, stored


def _with_results(book: io.BytesIO, results: Mapping[str, float]) -> bytes:
    """Return a workbook with the results of formulas, as programs store them that calculate."""

    def stored(found: re.Match[bytes]) -> bytes:
        result = results.get(found[1].decode())
        if result is None:
            return found[0]
        return b'<c r="%b"%b><f>%b</f><v>%b</v></c>' % (
            found[1], found[2], found[3], str(result).encode()
        )  # fmt: skip

    buffer = io.BytesIO()
    with zipfile.ZipFile(book) as source, zipfile.ZipFile(buffer, "w") as target:
        for name in source.namelist():
            target.writestr(name, _FORMULA.sub(stored, source.read(name)))
    return buffer.getvalue()


def _rows(*rows: Sequence[Any]) -> Fill:
    """Return what writes rows as they are given."""

    def fill(sheet: Worksheet) -> None:
        for row in rows:
            sheet.append([_native(value) for value in row])

    return fill


def _plain() -> list[Made]:
    """Typed cells, and where the table stands."""
    dates = day("Day", "2024-03-01 2024-03-15 2024-12-31 2023-02-28", "%Y-%m-%d")
    return [
        _case("plain", lambda sheet: _put(sheet, THREE), THREE),
        _case("dates", lambda sheet: _put(sheet, [NAMES, dates, AMOUNTS]), [NAMES, dates, AMOUNTS]),
        _case("offset", lambda sheet: _put(sheet, THREE, 4, 3), THREE),
        _case("no_header", lambda sheet: _put(sheet, THREE, header=False),
              [text(None, "Anna|Bert|Cleo|Dora"), number(None, "1.5 2.25 -3 40"),
               number(None, "1 2 3 4")], header_row=0),
        _case("flags", lambda sheet: _put(sheet, [NAMES, flag("Paid", "1 0 1 1", "", "")]),
              [NAMES, flag("Paid", "1 0 1 1", "", "")]),
        _case("years", lambda sheet: _put(sheet, [NAMES, number("2023", "1 2 3 4"), number("2024", "5 6 7 8")]),
              [NAMES, number("2023", "1 2 3 4"), number("2024", "5 6 7 8")]),
        _case("doubled_names", _rows(["Name", "Amount", "Amount"], ["Anna", 1.5, 5], ["Bert", 2.25, 6]),
              [text("Name", "Anna|Bert"), number("Amount", "1.5 2.25"), number(None, "5 6")]),
        _case("empty_name", _rows(["Name", None, "Count"], ["Anna", 1.5, 5], ["Bert", 2.25, 6]),
              [text("Name", "Anna|Bert"), number(None, "1.5 2.25"), number("Count", "5 6")]),
        _case("number_names", _rows(["Name", 2023, 2024], ["Anna", 1.5, 5], ["Bert", 2.25, 6]),
              [text("Name", "Anna|Bert"), number("2023", "1.5 2.25"), number("2024", "5 6")]),
        _case("gaps", _rows(["Name", "Amount"], ["Anna", 1.5], [None, None], ["Bert", 2.25], ["Cleo", None],
                            ["Dora", 4]),
              [NAMES, number("Amount", "1.5 2.25 ~ 4")], words=("not in it",)),
        _case("large_numbers", _rows(["Name", "Amount"], ["Anna", 123456789012], ["Bert", 0.1], ["Cleo", 0.2]),
              [text("Name", "Anna|Bert|Cleo"), number("Amount", "123456789012 0.1 0.2")]),
        _case("midnights", _rows(["Name", "At"], ["Anna", datetime(2024, 3, 1, 0, 0)], ["Bert", datetime(2024, 3, 2, 8, 30)]),
              [text("Name", "Anna|Bert"),
               Column("At", "datetime", (datetime(2024, 3, 1), datetime(2024, 3, 2, 8, 30)))]),
        _case("header_alone", _rows(["Name", "Amount"]),
              [Column("Name", "text", ()), Column("Amount", "text", ())]),
    ]  # fmt: skip


def _stored_texts() -> list[Made]:
    """Numbers and dates that are stored as texts, as exports leave them."""
    money = number("Betrag", "1234.50 -3.20 1000000.00 0.99", german, decimal=",")
    dollars = number("Amount", "1234.50 -3.20 1000000.00 0.99", english, decimal=".")
    days = day("Datum", "2024-03-01 2024-03-15 2024-12-31 2023-02-28", "%d.%m.%Y", order="dmy")
    ids = text("Id", "007|0123|00001|0999")
    found = []
    for name, column in (("german", money), ("english", dollars), ("dates", days), ("ids", ids),
                         ("points", AMOUNTS)):  # fmt: skip
        # A cell that holds text may be text on purpose.
        loose = _loose(column)
        columns = [NAMES, loose]
        found.append(
            _case(f"stored_{name}", partial(_put, columns=[NAMES, column], as_text=True), columns)
        )
    mixed = _rows(["Name", "Amount"], ["Anna", 1.5], ["Bert", "2.25"], ["Cleo", 3], ["Dora", "n/a"])
    found.append(_case("mixed_cells", mixed, [NAMES, number("Amount", "1.5 2.25 3 ~")]))
    dash = _rows(["Name", "Amount"], ["Anna", 1.5], ["Bert", "-"], ["Cleo", 3], ["Dora", 4])
    found.append(_case("dash_cell", dash, [NAMES, number("Amount", "1.5 ~ 3 4")]))
    return found


def _loose(column: Column) -> Column:
    """Return a column that may be read as it is stored."""
    return Column(
        column.name, column.kind, column.values, column.texts, True,
        decimal=column.decimal, date_order=column.date_order,
    )  # fmt: skip


def _around() -> list[Made]:
    """Titles, notes and totals around a table."""

    def titled(sheet: Worksheet) -> None:
        sheet.cell(1, 1, "Sales report")
        _put(sheet, THREE, 3)

    def titled_at_once(sheet: Worksheet) -> None:
        sheet.cell(1, 1, "Sales report")
        _put(sheet, THREE, 2)

    def merged(sheet: Worksheet) -> None:
        sheet.cell(1, 1, "Sales report")
        sheet.merge_cells("A1:C1")
        _put(sheet, THREE, 2)

    def facts(sheet: Worksheet) -> None:
        sheet.append(["Report", "Sales"])
        sheet.append(["Date", date(2024, 3, 1)])
        sheet.append(["User", "abc"])
        _put(sheet, THREE, 5)

    def noted(sheet: Worksheet) -> None:
        below = _put(sheet, THREE)
        sheet.cell(below + 1, 1, "Source: books")

    def beside(sheet: Worksheet) -> None:
        _put(sheet, THREE)
        sheet.cell(2, 7, "checked by Anna")

    return [
        _case("title", titled, THREE, left_out=1, words=ABOVE_TABLE),
        _case("title_at_once", titled_at_once, THREE, left_out=1, words=ABOVE_TABLE),
        _case("title_merged", merged, THREE, left_out=1, words=ABOVE_TABLE),
        _case("facts_above", facts, THREE, left_out=3, words=ABOVE_TABLE),
        _case(
            "note_below", noted, THREE, left_out=1, words=(*ABOVE_TABLE, "below", "foot", "note")
        ),
        _case("note_beside", beside, THREE, left_out=0),
    ]


def _line(sheet: Worksheet, row: int, values: Sequence[Any]) -> None:
    """Write values into a row."""
    for at, value in enumerate(values, 1):
        sheet.cell(row, at, value)


def _sums() -> list[Made]:
    """Rows that sum up: as values, as formulas, after a gap, between."""
    total: list[Any] = ["Total", 40.75, 10]

    def with_total(*, gap: int = 0, formulas: bool = False, label: str = "Total") -> Fill:
        def fill(sheet: Worksheet) -> None:
            row = _put(sheet, THREE) + gap
            values = [label, "=SUM(B2:B5)", "=SUM(C2:C5)"] if formulas else [label, *total[1:]]
            _line(sheet, row, values)

        return fill

    found = [
        _case("total", with_total(), THREE, left_out=1, words=TOTALS),
        _case("total_gap", with_total(gap=1), THREE, left_out=1, words=TOTALS),
        _case("total_german", with_total(label="Summe"), THREE, left_out=1, words=TOTALS),
        # Written without its value, as programs do that do not calculate.
        _case("total_formulas", with_total(formulas=True), THREE, left_out=1,
              words=(*TOTALS, "formula")),
    ]  # fmt: skip
    grouped = _rows(
        ["Region", "Shop", "Amount"], ["North", "a", 10], ["North", "b", 20],
        ["North Total", None, 30], ["South", "c", 30], ["South", "d", 40],
        ["South Total", None, 70], ["Grand Total", None, 100],
    )  # fmt: skip
    found.append(
        _case(
            "subtotals",
            grouped,
            [text("Region", "North|North|South|South"), text("Shop", "a|b|c|d"),
             number("Amount", "10 20 30 40")],
            left_out=3,
            words=TOTALS,
        )
    )  # fmt: skip

    def listing(sheet: Worksheet) -> None:
        row = _put(sheet, THREE)
        _line(sheet, row, total)
        table = Listing(displayName="Sales", ref=f"A1:C{row}")
        table.totalsRowCount = 1
        sheet.add_table(table)

    found.append(_case("listing_totals", listing, THREE, left_out=1, words=TOTALS))
    brands = [text("Brand", "Shell|Total|Esso|Aral"), AMOUNTS]
    found.append(_case("brand_total", lambda sheet: _put(sheet, brands), brands, totals="keep"))
    return found


SUMS = (*TOTALS, "formula")


def _formulas() -> list[Made]:
    """Rows whose own formulas sum others up, without a label that is known, and such as do not."""
    items = [text("Item", "a|b|c"), number("Amount", "10 20 5")]
    rows: list[list[Any]] = [["Item", "Amount"], ["a", 10], ["b", 20], ["c", 5]]
    shops: list[list[Any]] = [
        ["Region", "Shop", "Amount"], ["North", "a", 10], ["North", "b", 20],
        ["North", None, "=SUBTOTAL(9,C2:C3)"], ["South", "c", 30], ["South", "d", 50],
        ["South", None, "=SUBTOTAL(9,C5:C6)"], [None, None, "=SUBTOTAL(9,C2:C6)"],
    ]  # fmt: skip
    above: list[list[Any]] = [
        ["Shop", "Amount"], ["Nord", "=SUM(B3:B4)"], ["a", 10], ["b", 21],
        ["Sud", "=SUM(B6:B7)"], ["c", 30], ["d", 41],
    ]  # fmt: skip
    grouped = [text("Region", "North|North|South|South"), text("Shop", "a|b|c|d"),
               number("Amount", "10 20 30 50")]  # fmt: skip
    found = [
        _case(f"formula_{name}", _rows(*rows, [label, formula]), items, left_out=1, words=SUMS,
              results=None if result is None else {"B5": result})
        for name, label, formula, result in (
            ("no_label", None, "=SUM(B2:B4)", 35), ("odd_label", "Ens.", "=SUM(B2:B4)", 35),
            ("rounded", "Ens.", "=ROUND(SUM(B2:B4),0)", 35),
            ("old_result", "Ens.", "=SUM(B2:B4)", 99),
            ("filtered", None, "=SUBTOTAL(109,B2:B4)", 15),
            ("average", None, "=AVERAGE(B2:B4)", 11.666666666666666),
            ("no_result", "Ens.", "=SUM(B2:B4)", None),
            ("nothing", None, "=SUM(B2:B4)", None),
        )
    ]  # fmt: skip
    found += [
        _case("formula_count", _rows(*rows, ["=COUNTA(A2:A4)", "=SUM(B2:B4)"]), items, left_out=1,
              words=SUMS, results={"A5": 3, "B5": 35}),
        _case("formula_groups", _rows(*shops), grouped, left_out=3, words=SUMS,
              results={"C4": 30, "C7": 80, "C8": 110}),
        _case("formula_groups_above", _rows(*above), [text("Shop", "a|b|c|d"), number("Amount", "10 21 30 41")],
              left_out=2, words=SUMS, results={"B2": 31, "B5": 71}),
        _case("formula_target", _rows(*rows, ["Total", "=SUM(B2:B4)"], ["Soll", 40]), items, left_out=2,
              words=SUMS),
        _case("formula_target_odd", _rows(*rows, ["Ens.", "=SUM(B2:B4)"], ["Soll", 40]), items, left_out=2,
              words=SUMS, results={"B5": 35}),
        _case("formula_target_nothing", _rows(*rows, [None, "=SUM(B2:B4)"], ["Soll", 40], ["Differenz", "=B5-B6"]),
              items, left_out=3, words=SUMS),
    ]  # fmt: skip
    return [*found, *_additions(), *_no_sums()]


def _additions() -> list[Made]:
    """Sums of a few cells that somebody has written one by one, and series that look so."""
    two = [text("Item", "a|b"), number("Amount", "10 21")]
    rows: list[list[Any]] = [["Item", "Amount"], ["a", 10], ["b", 21]]
    found = [
        _case(f"addition_{name}", _rows(*rows, [label, "=B2+B3"]), two, left_out=1, words=SUMS,
              results=None if result is None else {"B4": result})
        for name, label, result in (
            ("label", "Total", 31), ("no_label", None, 31), ("odd_label", "Ens.", 31),
            ("old_result", "Ens.", 30), ("no_result", "Ens.", None), ("nothing", None, None),
        )
    ]  # fmt: skip
    profit = _rows(
        ["Item", "Amount"], ["Revenue", 100], ["Goods", -40], ["Gross", "=B2+B3"],
        ["Staff", -25], ["Result", "=B4+B5"],
    )  # fmt: skip
    groups = _rows(
        *rows, ["North", "=B2+B3"], ["c", 5], ["d", 8], ["South", "=B5+B6"], ["Both", "=B4+B7"]
    )
    series = _rows(
        ["Month", "Units"], ["m1", 1], ["m2", 2], ["m3", "=B2+B3"], ["m4", "=B3+B4"], ["m5", 50],
        ["m6", 60], ["m7", 71],
    )  # fmt: skip
    part = _rows(*rows, ["c", 5], ["Ens.", "=B2+B4"])
    found += [
        _case("addition_profit", profit, [text("Item", "Revenue|Goods|Staff"), number("Amount", "100 -40 -25")],
              left_out=2, words=SUMS, results={"B4": 60, "B6": 35}),
        _case("addition_groups", groups, [text("Item", "a|b|c|d"), number("Amount", "10 21 5 8")],
              left_out=3, words=SUMS, results={"B4": 31, "B7": 13, "B8": 44}),
        _case("addition_series", series, [text("Month", "m1|m2|m3|m4|m5|m6|m7"), number("Units", "1 2 3 5 50 60 71")],
              results={"B4": 3, "B5": 5}),
        _case("addition_part", part, [text("Item", "a|b|c|Ens."), number("Amount", "10 21 5 15")],
              results={"B5": 15}),
    ]  # fmt: skip
    return found


def _no_sums() -> list[Made]:
    """Formulas with functions that sum up, in rows that are data."""
    moves: list[list[Any]] = [
        ["Day", "Move", "So far"],
        ["d1", 5, 5],
        ["d2", 6, 11],
        ["d3", 7, 18],
        ["d4", 1, 19],
    ]

    def with_last(*formulas: str) -> Fill:
        pairs = zip(moves[1:], formulas, strict=True)
        return _rows(moves[0], *([*row[:2], formula] for row, formula in pairs))

    columns = [
        text("Day", "d1|d2|d3|d4"),
        number("Move", "5 6 7 1"),
        number("So far", "5 11 18 19"),
    ]
    so_far = {f"C{row}": float(moves[row - 1][2]) for row in range(2, 6)}
    elsewhere = _rows(
        ["Shop", "Amount"], ["a", "=SUM(Other!B2:B3)"], ["b", "=SUM(Other!B4:B5)"], ["c", 31]
    )
    quarters = _rows(
        ["Shop", "Q1", "Q2", "Year"],
        *([f"s{row}", row, row * 3, f"=SUM(B{row}:C{row})"] for row in range(2, 6)),
    )
    months: list[list[Any]] = [
        ["m1", 3],
        ["m2", 7],
        ["m3", 8],
        ["m4", 13],
        ["m5", 15],
        ["m6", 17],
        ["m7", "=AVERAGE(B2:B7)"],
        ["m8", "=AVERAGE(B3:B8)"],
    ]
    return [
        _case("formula_running", with_last(*(f"=SUM($B$2:B{row})" for row in range(2, 6))), columns,
              results=so_far),
        _case("formula_balance", with_last("=B2", *(f"=C{row - 1}+B{row}" for row in range(3, 6))), columns,
              results=so_far),
        _case("formula_elsewhere", elsewhere, [text("Shop", "a|b|c"), number("Amount", "12 27 31")],
              ("Other", _rows(["x", "y"], ["p", 5], ["q", 7], ["r", 13], ["s", 14])), sheet="Data",
              results={"B2": 12, "B3": 27}),
        _case("formula_rows", quarters, [text("Shop", "s2|s3|s4|s5"), number("Q1", "2 3 4 5"),
              number("Q2", "6 9 12 15"), number("Year", "8 12 16 20")],
              results={f"D{row}": row * 4.0 for row in range(2, 6)}),
        _case("formula_moving", _rows(["Month", "Units"], *months),
              [text("Month", "m1|m2|m3|m4|m5|m6|m7|m8"), number("Units", "3 7 8 13 15 17 10.5 11.75")],
              results={"B8": 10.5, "B9": 11.75}),
    ]  # fmt: skip


def _several() -> list[Made]:
    """Several tables on a sheet, and several sheets."""

    def side_by_side(sheet: Worksheet) -> None:
        _put(sheet, THREE)
        _put(sheet, [text("City", "Rome|Oslo"), number("Year", "2001 2002")], 1, 6)

    def below(sheet: Worksheet) -> None:
        row = _put(sheet, THREE)
        _put(sheet, [text("City", "Rome|Oslo"), number("Year", "2001 2002")], row + 2)

    def same_below(sheet: Worksheet) -> None:
        row = _put(sheet, THREE)
        _put(
            sheet,
            [text("Name", "Emil|Fred"), number("Amount", "5 6"), number("Count", "5 6")],
            row + 2,
        )

    words = ("not in it", "table", "below", "header")
    six = [
        text("Name", "Anna|Bert|Cleo|Dora|Emil|Fred"),
        number("Amount", "1.5 2.25 -3 40 5 6"),
        number("Count", "1 2 3 4 5 6"),
    ]

    def other(sheet: Worksheet) -> None:
        _put(sheet, [text("City", "Rome|Oslo"), number("Year", "2001 2002")])

    second = _case("two_sheets", lambda sheet: _put(sheet, THREE), [
        text("City", "Rome|Oslo"), number("Year", "2001 2002")],
        ("Other", other), sheet="Other")  # fmt: skip
    return [
        _case("side_by_side", side_by_side, THREE, left_out=0, words=words),
        _case("below", below, THREE, left_out=3, words=words),
        _case("same_below", same_below, six, left_out=1, words=words),
        second,
    ]


def _pages() -> list[Made]:
    """Sheets as they were printed: the header again on each page, with what stands between."""
    items = [
        text("Item", "a|b|c|d|e"),
        number("Price", "1.5 2 3 4 5"),
        number("Count", "1 2 3 4 5"),
    ]
    head: list[Any] = ["Item", "Price", "Count"]
    rows: list[list[Any]] = [["a", 1.5, 1], ["b", 2, 2], ["c", 3, 3], ["d", 4, 4], ["e", 5, 5]]
    first, second = [head, *rows[:2]], [head, *rows[2:]]
    total: list[Any] = ["Total", None, 15]
    words = (*ABOVE_TABLE, *TOTALS, "repeated", "carried")
    printed: list[tuple[str, int, list[list[Any]]]] = [
        ("plain", 1, [*first, *second]),
        ("total", 2, [*first, *second, total]),
        ("gap", 1, [*first, [], *second]),
        ("titles", 3, [["Stock"], *first, ["Stock (2)"], *second]),
        ("feet", 2, [*first, [], ["Page 1"], [], *second]),
        ("carried", 4, [*first, ["Carried forward", None, 3], head,
                        ["Brought forward", None, 3], *rows[2:], total]),
        ("capitals", 1, [*first, ["ITEM", "PRICE", "COUNT"], *rows[2:]]),
        ("small_first", 1, [head, rows[0], [], head, *rows[1:]]),
        ("three", 2, [*first, *second[:2], head, *rows[3:]]),
    ]  # fmt: skip
    found = [
        _case(f"pages_{name}", _rows(*lines), items, left_out=count, words=words)
        for name, count, lines in printed
    ]
    summed = _rows(*first, *second, [None, None, "=SUM(C2:C7)"])
    found.append(_case("pages_formula", summed, items, left_out=2, words=words, results={"C8": 15}))
    years = [["Shop", 2022, 2023], ["a", 1, 2], ["b", 3, 4]]
    columns = [text("Shop", "a|b|a|b"), number("2022", "1 3 1 3"), number("2023", "2 4 2 4")]
    found.append(_case("pages_years", _rows(*years, *years), columns, left_out=1, words=words))
    return found


def _labels_below() -> list[Made]:
    """Labels of totals in columns of dates and of years, which are such without them."""
    days = day("Day", "2024-03-01 2024-03-15 2024-12-31", "%Y-%m-%d", order="")
    years = number("Year", "2021 2022 2023")
    amounts = number("Amount", "10 25 7")

    def with_total(column: Column) -> Fill:
        def fill(sheet: Worksheet) -> None:
            row = _put(sheet, [column, amounts])
            _line(sheet, row, ["Total", 42])

        return fill

    return [
        _case(f"total_of_{name}", with_total(column), [column, amounts], left_out=1, words=TOTALS)
        for name, column in (("days", days), ("years", years))
    ]


def _units() -> list[Made]:
    """Units in a row below the header, and a first row that only resembles them."""
    items = [text("Item", "a|b|c"), number("Weight", "1.5 2 3"), number("Price", "10 20 30")]
    rows: list[list[Any]] = [["a", 1.5, 10], ["b", 2, 20], ["c", 3, 30]]
    head: list[Any] = ["Item", "Weight", "Price"]
    found = [
        _case(f"units_{name}", _rows(head, units, *rows), items, left_out=1, words=("unit",))
        for name, units in (
            ("plain", [None, "kg", "EUR"]), ("brackets", [None, "(kg)", "[€]"]),
            ("dash", ["-", "kg", "EUR"]), ("word", ["Unit", "kg", "EUR"]),
        )
    ]  # fmt: skip
    numbered = _rows(head, [1, 2, 3], *rows)
    found.append(_case("units_numbers", numbered, items, left_out=1, words=("numbers",)))
    open_ = [text("Item", "x|a|b|c"), number("Weight", "~ 1.5 2 3"), number("Price", "~ 10 20 30")]
    found.append(_case("units_missing", _rows(head, ["x", "n/a", "n/a"], *rows), open_))
    return found


def _sums_above() -> list[Made]:
    """Totals above the header, as people write them who filter the rows below."""
    words = (*ABOVE_TABLE, *TOTALS)
    columns = [NAMES, AMOUNTS]
    lines: list[list[Any]] = [
        ["Name", "Amount"],
        ["Anna", 1.5],
        ["Bert", 2.25],
        ["Cleo", -3],
        ["Dora", 40],
    ]
    above: list[tuple[str, list[list[Any]], dict[str, float]]] = [
        ("value", [["Total", 40.75]], {}),
        ("formula", [["Total", "=SUM(B3:B6)"]], {"B1": 40.75}),
        ("uncalculated", [["Total", "=SUM(B3:B6)"]], {}),
        ("no_label", [[None, "=SUBTOTAL(9,B3:B6)"]], {"B1": 40.75}),
        ("title", [["Sales"], ["Summe", "=SUM(B4:B7)"]], {"B2": 40.75}),
        ("average", [["Total", "=SUM(B4:B7)"], ["Average", "=AVERAGE(B4:B7)"]],
         {"B1": 40.75, "B2": 10.1875}),
    ]  # fmt: skip
    return [
        _case(f"above_{name}", _rows(*rows, *lines), columns, left_out=len(rows), words=words,
              results=results, header_row=len(rows) + 1)
        for name, rows, results in above
    ]  # fmt: skip


BOOKS = (
    *_plain(),
    *_stored_texts(),
    *_around(),
    *_sums(),
    *_formulas(),
    *_several(),
    *_pages(),
    *_sums_above(),
    *_units(),
    *_labels_below(),
)
CASES = tuple(each for each, _, _ in BOOKS)
