"""Files of record types, and lines of data above a header: neither is a row of the table."""

from pathlib import Path

import pytest

from kbd.formats import ReadAs
from tables_of_text import left_out, read

ABOVE = "line above the header"
RECORD = "record of another type than the table's rows"

RECORDS = {
    "letters": "H,20240131,ACME\nD,1001,Widget,10.00\nD,1002,Gadget,20.00\nT,2,30.00\n",
    "one width": "H;20240131;ACME;\nD;1001;10,00;Miete\nD;1002;20,00;Strom\nT;2;30,00;\n",
    "gaps": "H;20240131;001;\nD;1001;10,00;Miete\nD;1002;20,00;Strom\nT;2;30,00;\n",
    "numbers": "00,ACME,20240131\n10,1,5.00,a\n10,2,6.00,b\n10,3,7.00,c\n99,3,18.00\n",
    "words": "HEADER|ACME|1\nDETAIL|1|5.00|a\nDETAIL|2|6.00|b\nTRAILER|2|11.00\n",
    "texts above": "HDR,ACME,Export\nDTL,1,5.00,a\nDTL,2,6.00,b\nTRL,2,11.00\n",
    "groups": "H,1,ACME\nL,1,a,2,10.00\nL,2,b,1,5.00\nH,2,Foo\nL,1,c,5,1.00\n",
    "groups of one width": "H,1,20240105,Ann\nL,1,Wire,3\nL,1,Box,5\nH,2,20240106,May\nL,2,Box,1\n",
    "no trailer": "H,20240131,ACME\nD,1001,Widget,10.00\nD,1002,Gadget,20.00\n",
}
"""Files whose first row, and last but for the last of them, are records of another type."""


@pytest.mark.parametrize("name", RECORDS)
def test_records_of_other_types_are_no_rows(tmp_path: Path, name: str) -> None:
    """The table is that of the details; what else there is is told, and can be had."""
    text = RECORDS[name]
    lines = text.splitlines()
    codes = [line[:1] if name != "numbers" else line[:2] for line in lines]
    others = [place for place, code in enumerate(codes, 1) if code != codes[1]]
    found = read(tmp_path, text)

    assert found.table.row_count == len(lines) - len(others)
    assert found.table.details["has_header"] is False
    assert left_out(found) == [(RECORD, len(others), tuple(others))]
    assert any("header_row 0 reads all records" in each for each in found.table.warnings)
    whole = read(tmp_path, text, said=ReadAs(header_row=0))
    assert whole.table.row_count == len(lines)


def test_a_trailer_behind_many_details_is_left_out(tmp_path: Path) -> None:
    """The first rows tell the type of the others, however many follow."""
    details = "".join(f"D,{number},{number}.50,x\n" for number in range(3_000))
    found = read(tmp_path, f"H,20240131,ACME\n{details}T,3000,4500000.00\n")

    assert found.table.row_count == 3_000
    assert left_out(found) == [(RECORD, 2, (1, 3_002))]


NO_RECORDS = {
    "a header": "TYP,NR,BETRAG\nD,1,2.50\nD,2,3.50\nD,3,4.50\n",
    "a header of one length": "T,NR,SUM,X\nD,1,2\nD,2,3\nD,3,4\n",
    "countries with a gap": "DE,,10\nFR,Paris,20\nFR,Nice,30\nIT,Rom,40\n",
    "countries": "DE,Ulm,10\nFR,Paris,20\nFR,Nice,30\nIT,Rom,40\n",
    "countries of two lengths": "DE,1,2\nDE,2,3\nFR,1,2,3\nFR,2,3,4\nFR,3,4,5\n",
    "a type of values": "T,name,Smith\nN,age,45\nT,name,Jones\nN,age,44\nN,size,4\n",
    "sides of a ledger": "D,20240105,Ann,5\nC,20240106,Jo,3\nD,20240107,May,2\nC,20240107,Al,2\n",
    "a value that is missing": "D,1,Smith,5\nC,2,3,n\nC,2,4,n\nD,1,May,2\nC,2,4,n\nC,,Ann,5\n",
    "names": "Anna,1,2,3\nBen,1,2\nBen,2,3\nCleo,1\n",
}


@pytest.mark.parametrize("name", NO_RECORDS)
def test_codes_of_rows_alike_are_values(tmp_path: Path, name: str) -> None:
    """A table may begin with a short code in each row, and a header be as short."""
    found = read(tmp_path, NO_RECORDS[name])

    rows = len(NO_RECORDS[name].splitlines()) - found.table.details["has_header"]
    assert found.table.row_count == rows
    assert left_out(found) == []


META = '"EXTF";700;21;"Buchungsstapel";13;20240131120000;"RE";"";1001;20240101;4;"EUR";0\n'
NAMES = "Umsatz;Soll/Haben;Konto;Belegfeld\n"
BOOKED = "100,50;S;1200;A1\n20,00;H;8400;A2\n30,25;S;1200;A3\n"
PREAMBLES = {
    "wider": (META, NAMES, BOOKED),
    "narrower": ("Export;20240131;4711\n", NAMES, BOOKED),
    "two lines": (META + "Mandant;1001;Stapel;5;6;7\n", NAMES, BOOKED),
    "of one width": ("EXTF;Stapel;Mai;4711\n", NAMES, BOOKED),
    "padded": ("Export;20240131;4711;\n", NAMES, BOOKED.replace(";A", ";1")),
}


@pytest.mark.parametrize("name", PREAMBLES)
def test_lines_of_data_above_a_header_are_left_out(tmp_path: Path, name: str) -> None:
    """Their fields do not fit the columns below, and a row of names heads these."""
    above, names, rows = PREAMBLES[name]
    found = read(tmp_path, above + names + rows)

    count = above.count("\n")
    assert found.table.reading.header_row == count + 1
    assert [column.name for column in found.table.columns] == names.strip().split(";")
    assert found.table.row_count == rows.count("\n")
    assert left_out(found) == [(ABOVE, count, tuple(range(1, count + 1)))]


HEADERS = {
    "a longer header": "Name,City,Score,Remark,Note\nAnna,Rome,none,x\nBen,Oslo,5,y\nC,Ulm,6,z\n",
    "years": "Region,2022,2023,2024,\nNorth,a,b,c\nSouth,1,2,3\nWest,4,5,6\n",
    "a shorter header": "Name,City,Score\nAnna,Rome,absent,x\nBen,Oslo,5,y\nCleo,Ulm,6,z\n",
}  # fmt: skip


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_stays_one_above_a_row_of_texts(tmp_path: Path, name: str) -> None:
    """A first row of names is the header, whatever the lengths of the rows below."""
    found = read(tmp_path, HEADERS[name])

    assert found.table.reading.header_row == 1
    assert found.table.row_count == 3


UNITS = {
    "a word for them": "Name,Weight,Price\nunit,kg,EUR\na,1.5,2\nb,2.5,3\n",
    "a dash": "Name;Weight;Price\n-;(kg);[EUR]\na;1,5;2\nb;2,5;3\n",
    "some columns": "Name,Weight,Count\n,kg,\na,1.5,2\nb,2.5,3\n",
    "some columns and a word": "Name,Weight,Count\nUnits:,kg,\na,1.5,2\nb,2.5,3\n",
    "squares": "Plot,Area,CO2\n,m2,CO2e\na,1.5,2\nb,2.5,3\n",
    "thousands": "Plot,Area,Price\n,km²,1000 EUR\na,1.5,2\nb,2.5,3\n",
}


@pytest.mark.parametrize("name", UNITS)
def test_a_row_of_units_is_no_row(tmp_path: Path, name: str) -> None:
    """Units have figures of squares and thousands, and a word for them beside them."""
    found = read(tmp_path, UNITS[name])

    assert found.table.row_count == 2
    assert left_out(found) == [("units below the header", 1, (2,))]


def test_a_row_without_some_figures_is_one(tmp_path: Path) -> None:
    """A text in one column of figures, with a name before it or none to tell, is a value."""
    for text in (
        "Name,Weight,Count\nz,kg,\na,1.5,2\nb,2.5,3\n",
        "Weight,Count\nkg,\n1.5,2\n2.5,3\n",
        "Name,Weight,Count\n,Q1,Q2\na,1.5,2\nb,2.5,3\n",
    ):
        assert read(tmp_path, text).table.row_count == 3, text


def test_years_above_years_are_names_or_asked_about(tmp_path: Path) -> None:
    """Three that count on are names; two may be the first row as well."""
    three = "Region,2021,2022,2023\nNorth,1950,2010,1990\nSouth,1999,2040,1980\n"
    assert read(tmp_path, three).table.reading.header_row == 1
    two = "Region,2022,2023\nNorth,1950,2010\nSouth,1999,2040\n"
    found = read(tmp_path, two)
    (question,) = found.table.reading.questions
    assert [question.about, *(each.value for each in question.options)] == ["header_row", "1", "0"]
    assert {column.type for column in found.table.columns} == {"string"}
    for said, rows in ((1, 2), (0, 3)):
        answered = read(tmp_path, two, said=ReadAs(header_row=said))
        assert (answered.table.row_count, answered.table.reading.questions) == (rows, ())
    for text in ("Firm,1950,1990\nAcme,1960,1970\n", "Firm,1950,1951\nAcme,1960,1961\n"):
        assert read(tmp_path, text).table.reading.questions == ()


@pytest.mark.parametrize("first", ["# made by a program\n", ""])
def test_a_row_that_begins_with_a_number_sign_is_never_lost_in_silence(
    tmp_path: Path, first: str
) -> None:
    """It is a row, or it is told as a comment."""
    text = f"{first}Name,City,Amount\nAnna,Rome,1\n#Dora,Oslo,2\nBen,Bern,3\n"
    found = read(tmp_path, text)

    told = sum(count for _, count, _ in left_out(found))
    assert found.table.row_count + told == 3 + bool(first)
    assert len(found.table.warnings) >= bool(told)
