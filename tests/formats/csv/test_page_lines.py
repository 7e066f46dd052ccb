"""Lines of pages between rows, and last lines that say how many rows there are."""

from pathlib import Path

import pytest

from kbd.formats import ReadAs, Source
from kbd_csv.tables import table_end
from tables_of_text import left_out, read

PAGE = "line of a page"
BELOW = "line below the table"
REPEATED = "header repeated between rows"

HEADER = "Day,Customer,City,Amount\n"
ONE = "2024-01-01,Anna,Ulm,20.00\n2024-01-02,Bert,Bonn,25.00\n"
TWO = "2024-01-03,Cleo,Kiel,35.00\n2024-01-04,Dora,Jena,15.00\n"


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Page 1 of 2\n", "Page 2 of 2\n"),
        ("Page 1 of 2,,,\n", "Page 2 of 2,,,\n"),
        (",,,Seite 1 von 2\n", ",,,Seite 2 von 2\n"),
        ("Seite: 1/2,,,\n", "Seite: 2/2,,,\n"),
        (",,Page 1,\n", ",,Page 2,\n"),
        ("- Pág. 1 de 2 -,,,\n", "- Pág. 2 de 2 -,,,\n"),
        ("第1页,,,\n", "第2页,,,\n"),
    ],
)
def test_numbers_of_pages_are_no_rows(tmp_path: Path, first: str, second: str) -> None:
    """They are left out and named, with the header again behind them or without."""
    found = read(tmp_path, HEADER + ONE + first + HEADER + TWO + second)

    assert found.table.row_count == 4
    assert left_out(found) == [(PAGE, 2, (4, 8)), (REPEATED, 1, (5,))]
    found = read(tmp_path, HEADER + ONE + first + TWO + second)
    assert found.table.row_count == 4
    assert left_out(found) == [(PAGE, 2, (4, 7))]


def test_what_stood_above_a_header_again_stands_below_the_last_page(tmp_path: Path) -> None:
    """A line with the date of the print and the page's number is one on each page."""
    lines = "Printed 2024-02-01,,,Page 1\n", "Printed 2024-02-01,,,Page 2\n"
    found = read(tmp_path, HEADER + ONE + lines[0] + HEADER + TWO + lines[1])

    assert found.table.row_count == 4
    assert (PAGE, 1, (8,)) in left_out(found)


@pytest.mark.parametrize(
    "data",
    [
        "Page,Note\nPage 1 of 3,\nPage 2 of 3,blurry\nPage 3 of 3,\n",
        "Page,Note,By\nPage 1,ok,A\nPage 2,,\nPage 3,bad,B\n",
        "Name,Amount\nPage 3,\nAnna,1\nBert,2\n",
        "Line\nPage 1 of 2\nPage 2 of 2\nEnd\n",
    ],
)
def test_pages_that_a_table_is_about_are_rows(tmp_path: Path, data: str) -> None:
    """Other rows have such values, too, or there is but one column."""
    found = read(tmp_path, data)

    assert found.table.row_count == 3
    assert left_out(found) == []


def test_what_is_added_stands_above_the_last_line_of_a_page(tmp_path: Path) -> None:
    """The end of the table is where its last row is, not where the last page ends."""
    lines = HEADER + ONE + "Page 1 of 2,,,\n" + TWO
    path = tmp_path / "a.csv"
    for added, below in (("", 0), ("Page 2 of 2,,,\n", 7)):
        path.write_text(lines + added)
        assert table_end(Source(path, "a.csv"), ReadAs()).below == below


SHOPS = "Shop,City,Amount\na,Ulm,10\nb,Bonn,20\nc,Kiel,5\n"


@pytest.mark.parametrize(
    ("below", "rows"),
    [
        ("Items: 3,,\n", 3),
        (",(3 rows),\n", 3),
        ("3 rows\n", 3),
        ("Total: 35.00 EUR,,\n", 3),
        ("Total: 35,,\nItems: 3,,\nEnd,,\n", 3),
        ("Items: 7,,\n", 4),
        ("Room: 1,,\n", 4),
        ("Items: 3,,\nd,Jena,7\n", 5),
    ],
)
def test_a_last_line_that_counts_the_rows_is_none(tmp_path: Path, below: str, rows: int) -> None:
    """It is left out where the count is right, or where it is a total in one field."""
    found = read(tmp_path, SHOPS + below)

    assert found.table.row_count == rows
    assert bool(left_out(found)) is (rows == 3)
