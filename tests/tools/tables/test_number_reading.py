"""Numbers mean what the whole column, the file and the person say, or they are asked about."""

from decimal import Decimal
from typing import Any

import pytest

from backends import on_trio
from kbd.formats import ReadingOption
from kbd.testing.tools import Workbench
from kbd_tables.evidence import figure
from kbd_tables.numbers import number_column
from kbd_tables.shapes import BLANKS, Shape
from tools.tables.conftest import Ask
from tools.tables.loading import LoadedTable, Loading

COMMA = {
    "decimal commas": (["12,50", "-0,5", "7"], [12.5, -0.5, 7]),
    "signs": (["+12,50", "-3"], [12.5, -3]),
    "groups": (["1.234,567", "-12.345.678,9", "1.234"], [1234.567, -12345678.9, 1234]),
    "one tells for all": (["1,234", "12,5"], [1.234, 12.5]),
    "seven places": (["0,1234567", "1,5"], [0.1234567, 1.5]),
    "blanks": (["1 234,5", "12\u00a0345,25", "1\u202f234\u2009567"], [1234.5, 12345.25, 1234567]),
    "no more than a group": (["1.234", "999"], [1234, 999]),
    "groups of one size": (["1.234.567", "2.000.000"], [1234567, 2000000]),
    "euros": (["12,50 €", "1.000,00 €", "-3 EUR"], [12.5, 1000, -3]),
    "percent": (["12,5%", "100 %"], [0.125, 1]),
    "accounts": (["(1.234,50)", "7,00", "3,25-"], [-1234.5, 7, -3.25]),
    "minus signs": (["−5,5", "–3,25", "- 1"], [-5.5, -3.25, -1]),
    "powers": (["1,5E+03", "2,5e-1"], [1500, 0.25]),
    "ungrouped ones with a comma": (["1.234,50", "12345,00"], [1234.5, 12345]),
    "bare fractions": ([",5", "-,25"], [0.5, -0.25]),
    "dashes for cents": (["1.234,-", "-12,--", "95,50"], [1234, -12, 95.5]),
    "lira": (["1.234,50 TL", "-3,00 TL"], [1234.5, -3]),
}  # fmt: skip
"""Columns of a file with decimal commas, and the numbers that they are."""

POINT = {
    "English groups": (["1,234.56", "-0.5", "12"], [1234.56, -0.5, 12]),
    "English millions": (["1,234,567", "1,234"], [1234567, 1234]),
    "English by its points": (["1,234", "12.50"], [1234, 12.5]),
    "Swiss": (["1'234.50", "12’345’678", "99"], [1234.5, 12345678, 99]),
    "Indian": (["12,34,567", "1,23,45,678.50", "999"], [1234567, 12345678.5, 999]),
    "no group before it": (["0.123", "1.234"], [0.123, 1.234]),
    "long ones without groups": (["1.234", "1234.567"], [1.234, 1234.567]),
    "a long one without": (["1.234", "12345"], [1.234, 12345]),
    "dollars": (["$5", "($1,200.50)", "-$3.25", "US$ 4"], None),
    "pounds": (["£5.25", "GBP 7", "£1,000.00"], [5.25, 7, 1000]),
    "pluses": (["+5", "-3", "0"], [5, -3, 0]),
    "rupees": (["Rs. 500", "Rs.1,00,000.50"], [500, 100000.5]),
    "missing": (["n/a", "5.5", "-", "NULL", "#N/A", "–", "nan"],
                [None, 5.5, None, None, None, None, None]),
    "bare points": ([".50", "5.", "-.25"], [0.5, 5, -0.25]),
    "blanks around": ([" 5.25", "7 ", "\u00a08"], [5.25, 7, 8]),
    "signs that are not seen": (["\u200e5.25\u200e", "7\u200b", "-8"], [5.25, 7, -8]),
    "no cents": (["Fr. 1'234.-", "Fr. 95.50", "-Fr. 5.—"], [1234, 95.5, -5]),
    "no amount": (["$ 1,234.50", "$ -", "$ (95.75)"], [1234.5, None, -95.75]),
}  # fmt: skip
"""Columns of a file with decimal points."""

TEXTS = {
    "both": ["1.234,50", "1,234.50"],
    "no groups of three": ["12.34,50", "1,5"],
    "leading zeros": ["007,5", "1,5"],
    "codes": ["007", "010"],
    "phones": ["+49", "+50"],
    "more phones": ["+49 170 123", "+49 170 456"],
    "versions": ["1.2.3", "1.10.4"],
    "addresses": ["192.168.1.1", "10.0.0.1"],
    "accounts": ["DE89 3704 0044 0532 0130 00", "DE02 1203 0000 0000 2020 51"],
    "keys": ["12345678901234567890", "1"],
    "footnotes": ["(1)", "(2)"],
    "ranks": ["1.", "2.", "10."],
    "hex": ["12E4", "1234"],
    "parts": ["123 456", "234 567"],
    "release": ["1.9", "1.10"],
    "half a percentage": ["5%", "3"],
    "currencies": ["5 €", "$3"],
}
"""Columns that are no numbers, or not surely."""


def numbers(values: list[Any]) -> list[Any]:
    """Return values to compare with: what is exact as it is, doubles as they are."""
    return [None if value is None else float(value) for value in values]


@pytest.mark.parametrize(("columns", "mark"), [(COMMA, ","), (POINT, ".")])
def test_numbers_of_one_way_of_writing(loading: Loading, columns: Any, mark: str) -> None:
    """Each column is what a careful person reads, whatever marks, signs and blanks it has."""
    read = {name: values for name, (values, wanted) in columns.items() if wanted}
    table = loading(read)
    for name, (_, wanted) in columns.items():
        if wanted:
            assert (name, numbers(table.values[name])) == (name, wanted)
    assert (table.reading.decimal, table.reading.questions) == (mark, ())


def test_what_is_no_number_stays_text(loading: Loading) -> None:
    """Codes, phones, versions and mixtures are kept to the letter; what looks odd is told."""
    table = loading(TEXTS)
    assert set(table.types.values()) == {"VARCHAR"}
    assert table.values == TEXTS
    told = "\n".join(table.warnings)
    assert "currencies: it mixes currencies: € (1) and $ (1); kept as text" in told
    assert "half a percentage: it mixes percentages (5%) and other numbers (3); kept" in told
    assert "parts: 123 456 may be a number in groups, or a code; kept as text" in told
    assert "both: its numbers are not written alike (1.234,50, 1,234.50); kept as text" in told
    assert "release: by its name it holds versions or sections, of which 1.10 is not" in told
    for name in ("versions", "addresses", "accounts", "codes", "keys"):
        assert f"{name}: " not in told


def asked(table: LoadedTable) -> tuple[tuple[str, ...], tuple[ReadingOption, ...]]:
    """Return the columns and options of the one question about decimals, which is warned of."""
    (question,) = table.reading.questions
    assert question.about == "decimal"
    assert question.text in table.warnings
    assert {table.types[name] for name in question.columns} == {"VARCHAR"}
    return question.columns, question.options


def test_two_readings_are_asked_with_their_sums(loading: Loading) -> None:
    """Where nothing tells, no figure comes out, and the question has the sum by either mark."""
    table = loading({"Betrag": ["1.234", "2.500"], "Name": ["a", "b"]})
    columns, options = asked(table)
    assert table.reading.questions[0].text == "Betrag: is 1.234 1234 or 1.234?"
    assert columns == ("Betrag",)
    assert options == (
        ReadingOption(".", "decimal point: Betrag adds up to 3.734"),
        ReadingOption(",", "decimal comma: Betrag adds up to 3 734"),
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (Decimal("1234567.890"), "1 234 567.89"), (Decimal(-3766), "-3 766"), (0, "0"),
        (440979000, "440 979 000"), (0.1234567, "0.1234567"), (1e-7, "0.0000001"),
        (1e21, "1" + 7 * " 000"),
    ],
)  # fmt: skip
def test_figures_of_questions(value: Decimal | float, shown: str) -> None:
    """They have all their digits, blanks between thousands, and a point before decimals."""
    assert figure(value) == shown


@pytest.mark.full
def test_one_question_for_a_file(loading: Loading) -> None:
    """The answer for one column is that for all, points and commas alike."""
    columns, options = asked(loading({"A": ["1.234 €", "(5.000 €)"], "B": ["-1,234", "7"]}))
    assert columns == ("A", "B")
    assert [option.meaning for option in options] == [
        "decimal point: A adds up to -3.766; B adds up to -1 227",
        "decimal comma: A adds up to -3 766; B adds up to 5.766",
    ]


@pytest.mark.parametrize(
    ("said", "wanted", "sql_type"),
    [(".", [Decimal("1.234"), Decimal("2.500")], "DECIMAL(18, 3)"), (",", [1234, 2500], "BIGINT")],
)
def test_what_is_said_decides(
    loading: Loading, said: str, wanted: list[Any], sql_type: str
) -> None:
    """An answer types the columns that were asked about, and the reading says so."""
    table = loading({"Betrag": ["1.234", "2.500"]}, decimal=said)
    assert (table.values["Betrag"], table.types["Betrag"]) == (wanted, sql_type)
    assert (table.reading.decimal, table.reading.questions) == (said, ())
    assert table.warnings[0].endswith(", as was said")


def test_another_column_decides(loading: Loading) -> None:
    """A file has one way of writing: what one column proves holds for the others."""
    table = loading({"Betrag": ["1.234", "2.500"], "Preis": ["1,50", "2,00"]})
    assert table.values["Betrag"] == [1234, 2500]
    assert "Betrag: 1.234 is 1234, for Preis has decimal commas" in table.warnings
    assert (table.reading.decimal, table.reading.thousands) == (",", ".")


@pytest.mark.parametrize(
    ("values", "told"),
    [
        (["(234)", "456"], "A: (234) is -234 (negative)"),
        (["12.50-", "3.00"], "A: 12.50- is -12.50 (negative)"),
        (["(5%)", "7%"], "A: (5%) is -5% (negative)"),
    ],
    ids=["brackets", "behind", "percent"],
)
def test_a_negative_without_a_minus_before_it_is_told(
    loading: Loading, values: list[str], told: str
) -> None:
    """Brackets are a minus to accountants and a doubt to statisticians: how they are read is said.

    A minus that all can see is not told of.
    """
    assert told in loading({"A": values}).warnings
    assert loading({"A": ["-234", "456"]}).warnings == ()


@pytest.mark.full
def test_columns_that_contradict_each_other_decide_nothing(loading: Loading) -> None:
    """Each is read by its own proof, and what is open is asked."""
    table = loading({"A": ["1.234"], "B": ["1,50"], "C": ["0.123"]})
    assert asked(table)[0] == ("A",)
    assert (table.values["B"], table.values["C"]) == ([Decimal("1.50")], [Decimal("0.123")])
    assert table.reading.decimal == ""


@pytest.mark.full
def test_proof_goes_before_what_was_said(loading: Loading) -> None:
    """What only one reading fits is read so, and the contradiction is told."""
    table = loading({"A": ["12.50"], "B": ["1.234"]}, decimal=",")
    assert table.values == {"A": [Decimal("12.50")], "B": [1234]}
    assert table.warnings == (
        "A: 12.50 is 12.50, which no decimal comma can mean, although one was said",
        "B: 1.234 is 1234, as was said",
    )


@pytest.mark.full
def test_four_digits_need_no_groups(loading: Loading) -> None:
    """2000 beside 12.345 is how thousands are written in Spanish: it is asked, not guessed."""
    assert asked(loading({"x": ["12.345", "2000"]}))[0] == ("x",)
    assert loading({"x": ["1.234", "2000"]}).values["x"] == [Decimal("1.234"), Decimal("2000.000")]


@pytest.mark.full
def test_degrees_have_no_thousands(loading: Loading) -> None:
    """A latitude of 48.137 is not asked about, whichever way the file writes other numbers."""
    table = loading({"lat": ["48.137"], "Preis": ["1,50"]})
    assert table.values["lat"] == [Decimal("48.137")]


@pytest.mark.full
def test_late_values_count(loading: Loading) -> None:
    """Every value is judged: one late text, mark or missing value tells for the column."""
    rows = 3_000
    table = loading(
        {
            "late text": [*["1,5"] * rows, "x"],
            "late proof": [*["1.234"] * rows, "1.5"],
            "late missing": [*["5"] * rows, "n/a"],
            "late comma": [*["5"] * rows, "2,50"],
            "late texts": [*[""] * rows, "x", "5"],
        }
    )
    assert table.types == {
        "late text": "VARCHAR", "late proof": "DECIMAL(18, 3)", "late missing": "BIGINT",
        "late comma": "DECIMAL(18, 2)", "late texts": "VARCHAR",
    }  # fmt: skip
    assert 'late text: 3,000 of 3,001 values are numbers, but not "x" (row 3001)' in "\n".join(
        table.warnings
    )
    assert "late missing: read as empty: n/a (1)" in table.warnings
    assert not any(warning.startswith("late texts") for warning in table.warnings)


@pytest.mark.full
def test_wide_numbers_are_exact_or_told(loading: Loading) -> None:
    """Up to 30 digits are decimals; what a double rounds is said."""
    table = loading(
        {
            "wide": ["1234567890123456,50", "0,125"],
            "too wide": ["1234567890123456789012345678901,5", "1,5"],
            "written by a program": ["0.1234567890123456", "12.5"],
            "infinite": ["1e999", "1.5"],
        }
    )
    assert table.types == {
        "wide": "DECIMAL(38, 3)", "too wide": "DOUBLE", "written by a program": "DOUBLE",
        "infinite": "VARCHAR",
    }  # fmt: skip
    assert table.values["wide"][0] == Decimal("1234567890123456.500")
    assert "too wide: numbers of up to 32 digits, of which doubles keep 15 to 17" in table.warnings


@pytest.mark.full
def test_numbers_that_a_workbook_stores_as_text_are_counted(loading: Loading) -> None:
    """Its own sums leave them out, so the column is text and says how many look like numbers."""
    known: dict[str, Any] = {"n": "string", "code": "string", "f": "float"}
    table = loading({"n": ["1", "2.5", "x", "4", "5"], "code": ["007", "1"], "f": ["1.234"]}, known)
    assert table.types == {"n": "VARCHAR", "code": "VARCHAR", "f": "DECIMAL(18, 3)"}
    (note,) = table.warnings
    assert note.startswith("n: 4 of 5 values look like numbers, but are stored as text or stand")


def shapes(*values: str) -> tuple[Shape, ...]:
    """Return the shapes of some values."""
    nines = str.maketrans("012345678", "9" * 9)
    return tuple(
        Shape(value.translate(nines), value.lstrip("-")[:1] == "0", 1, value, row)
        for row, value in enumerate(values, 1)
    )


@pytest.mark.parametrize("blank", BLANKS)
def test_any_blank_may_stand_between_groups(blank: str) -> None:
    """Plain, no-break, narrow and thin ones are one mark."""
    column = number_column(shapes(f"1{blank}234", "5"))
    assert column is not None
    (notation,) = column.notations
    assert (notation.group, notation.digits, notation.scale) == (" ", 4, 0)


@pytest.mark.anyio
@on_trio
async def test_exports_keep_what_is_written(workbench: Workbench, ask: Ask) -> None:
    """A text table gets numbers with their marks, a workbook gets the numbers."""
    workbench.add("d.csv", "name;Menge;Betrag\na;1.234;1.234,50 €\nb;n/a;-2,00 €\nc;7;(3,00 €)\n")
    await ask("export", path="d.csv", target_path="o.csv", format="csv")
    assert workbench.content("o.csv").decode() == (
        'name,Menge,Betrag\na,1.234,"1.234,50 €"\nb,n/a,"-2,00 €"\nc,7,"(3,00 €)"\n'
    )
    await ask("export", path="d.csv", target_path="n.book", format="book", sheet="S")
    assert (await ask("read_rows", path="n.book", row_start=1, row_count=9))["rows"] == [
        ["a", 1234, 1234.5], ["b", None, -2.0], ["c", 7, -3.0],
    ]  # fmt: skip


@pytest.mark.full
@pytest.mark.anyio
@on_trio
async def test_a_question_is_answered_by_a_call(workbench: Workbench, ask: Ask) -> None:
    """The map has the question; with `read_as` the sums are those that it told."""
    workbench.add("d.csv", "Name;Betrag\na;1.234\nb;2.500\n")
    found = await ask("get_map", path="d.csv")
    (question,) = found["reading"]["questions"]
    assert question["text"] in found["warnings"]
    assert found["columns"][1] == {"name": "Betrag", "type": "string"}
    query = "SELECT sum(Betrag) FROM data"
    for mark, total in ((",", 3734), (".", 3.734)):
        answered = await ask("query", path="d.csv", query=query, read_as={"decimal": mark})
        assert answered["rows"] == [[total]]
        (meaning,) = (one["meaning"] for one in question["options"] if one["value"] == mark)
        assert meaning.endswith(f"Betrag adds up to {total:,}".replace(",", " "))
