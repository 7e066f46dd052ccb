"""Which stored results an edit makes old: each rule by an example, then all by a naive closure."""

from collections.abc import Mapping

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from openpyxl.formula import Tokenizer
from openpyxl.formula.translate import Translator, TranslatorError
from openpyxl.utils.cell import range_boundaries

from calculation_books import MAIN, area, book, cells, part
from kbd.sheets.areas import Area, cell_name, parse_cell
from kbd_xlsx.calculation import DefinedName
from kbd_xlsx.calculation.book import FormulaBook, OperandReader
from kbd_xlsx.calculation.operands import read_operands
from kbd_xlsx.calculation.stale import stale_results


def reads(formula: str, changed: str, at: str = "H9") -> bool:
    """Whether a formula of the sheet Other is old once a cell has changed ("Data!A1")."""
    title, _, place = changed.rpartition("!")
    found = book(Data={}, My_Sheet={}, Other={at: formula}, Last={})
    stale = cells(stale_results(found, {title: [area(place)]}))
    assert stale <= {f"Other!{at}"}
    return bool(stale)


@pytest.mark.parametrize(
    ("formula", "changed", "unchanged"),
    [
        ("A1*2", "Other!A1", "Other!A2"),
        ("A1*2", "other!A1", "Data!A1"),
        ("$A$1+$B2+C$3", "Other!C3", "Other!C2"),
        ("SUM(B2:D4)", "Other!C3", "Other!E3"),
        ("SUM(D4:B2)", "Other!C3", "Other!C5"),
        ("SUM(A:C)", "Other!B1048576", "Other!D1"),
        ("SUM($2:4)", "Other!XFD3", "Other!A5"),
        ("Data!A1", "Data!A1", "Other!A1"),
        ("data!A1", "Data!A1", "My Sheet!A1"),
        ("'My Sheet'!A1:B2", "My Sheet!B2", "Data!B2"),
        ("SUM(Data:Other!A1)", "My Sheet!A1", "Last!A1"),
        ("SUM('My Sheet:Last'!A1)", "Last!A1", "Data!A1"),
        ("[1]Data!A1+B1", "Other!B1", "Data!A1"),
        ("'C:\\[x.xlsx]Data'!A1+B1", "Other!B1", "Data!A1"),
        ("[0]!Rate", "Data!A1", "Data!B1"),
        ("Rate", "Data!B1", "Data!A1"),
        ("Data!Rate", "Data!A1", "Data!B1"),
        ("LOG10(B1)+ATAN2(C1,D1)", "Other!C1", "Other!LOG10"),
        ('IF(A1>0,"B1:B9 ""C1""",D1)', "Other!D1", "Other!C1"),
        ("SUM((A1:B2,D4) A1:A9)", "Other!D4", "Other!C3"),
        ("SUM(A1:INDEX(A:A,C1))", "Other!A70", "Other!B1"),
        ("SUM(A1:INDEX(A:C,D1))", "Other!B2", "Other!E1"),
        ("SUM(INDEX(A2:A9,1):INDEX(C2:C9,2))", "Other!B5", "Other!B10"),
        ("SUM(A1:IF(B1,C4,D5))", "Other!D2", "Other!E2"),
        ("SUM(Data!A1:Data!C3)", "Data!B2", "Data!D4"),
        ("_xlfn.ANCHORARRAY(B2)*2", "Other!B2", "Other!B3"),
        ("B2#*2", "Other!B2", "Other!B3"),
        ("Twice*2", "Data!B1", "Data!C1"),
        ("Data!Twice", "Data!A1", "Data!C1"),
        ("Ring", "Data!D1", "Data!A1"),
        ("Left", "Other!H9", "Other!A1"),
        ("ราคา/2", "Data!A1", "Data!A2"),
        ("Double(B1)", "Data!C1", "Data!D1"),
        ("SUM(Moving)", "Data!F70", "Other!A1"),
        ("SUM(OFFSET(A1,B1,0))", "Other!Z99", "Data!A1"),
        ("R1C1+RC+Unknown+A1", "Other!A1", "Other!C1"),
        ("XFE1+A0+A1048577+A2", "Other!A2", "Other!A1"),
        ("SUBTOTAL(9,A1:A3)+AGGREGATE(9,4,B1:B3)", "Other!B2", "Other!C2"),
        ("#REF!A1+'My Sheet'!#REF!+C1", "Other!C1", "Other!A1"),
        ("SUM(Sales[Net '[a']])", "Data!B4", "Data!C4"),
        ("SUM(Sales)", "Data!C5", "Data!C6"),
        ("SUM(sales[])", "Data!A3", "Data!A2"),
        ("Sales[[#Headers],[Tax]]", "Data!C2", "Data!C3"),
        ("Sales[[#Totals],[Item]:[Tax]]", "Data!B6", "Data!B5"),
        ("SUM(Sales[#All])", "Data!C6", "Data!D6"),
        ("Sales[[#Headers],[#Data],[Tax]]", "Data!C2", "Data!B3"),
        ("SUM(Sales[No such column])", "Data!B4", "Data!B6"),
        ("[1]!Sales[Tax]+A1", "Other!A1", "Data!C4"),
        ('CELL("contents",B1)', "Other!B1", "Other!C1"),
        ('IFERROR(__xludf.DUMMYFUNCTION("GOOGLEFINANCE(A1)"),B1)', "Other!B1", "Other!A1"),
        ("_xlfn.LET(_xlpm.a,A1,_xlpm.a*_xlpm.a)", "Other!A1", "Other!B1"),
        ("NOW()+A1", "Other!A1", "Other!B1"),
    ],
)
def test_references(formula: str, changed: str, unchanged: str) -> None:
    """A formula is old if a cell changed that it names, and keeps its result otherwise."""
    assert reads(formula, changed)
    assert not reads(formula, unchanged)


@pytest.mark.parametrize(
    "formula",
    [
        'INDIRECT("Z9")',
        "GETPIVOTDATA(A1,Data!B2)",
        "MyMacro(A1)",
        "[1]!Func(A1)",
        "_xll.Addin(A1)",
        "Macro",
        'CELL("contents")',
        "Nothing[Column]",
        "SUM('unclosed)",
        '"unclosed',
        "A1:Data!B2",
        "'My Sheet':Data!A1",
    ],
)
def test_what_may_read_any_cell(formula: str) -> None:
    """A formula whose text does not tell what it reads is old after any edit."""
    assert reads(formula, "Last!Q77")


def test_this_row() -> None:
    """A structured reference to its own row reads that row of the table, and no other."""
    stale = stale_results(
        book(Data={"E3": "Sales[@Tax]", "E4": "Sales[[#This Row],[Tax]]", "C5": "[@Item]"}),
        {"Data": [area("C4"), area("A5")]},
    )

    assert cells(stale) == {"Data!E4", "Data!C5"}


def test_shared_formulas_move() -> None:
    """Cells that share a formula read what its text means at their place, at the edges too."""
    shared = '<f t="shared" si="3" ref="M2:M4">B1*$B1*B$1+SUM(C1:C$9)</f><v>1</v>'
    child = '<f t="shared" si="3"/><v>1</v>'
    found = book(Data={"M2": shared, "M3": child, "N4": child, "L1": child})

    for changed, stale in {
        "B1": {"M2", "M3", "L1"},
        "B2": {"M3", "L1"},
        "B3": {"N4", "L1"},
        "C1": {"M2", "N4"},
        "C3": {"M2", "M3", "N4"},
        "D5": {"N4"},
        "A1": {"L1"},
        "A1048576": {"L1"},
        "E1": set(),
    }.items():
        named = cells(stale_results(found, {"Data": [area(changed)]}))
        assert named == {f"Data!{place}" for place in stale}, changed


def test_a_shared_formula_without_its_text_reads_anything() -> None:
    """A cell that shares a formula which is not in the file is old after any edit."""
    orphan = '<f t="shared" si="8"/><v>1</v>'
    late = '<f t="shared" si="1"/><v>1</v>'
    master = '<f t="shared" si="1" ref="B1:B2">A2</f><v>1</v>'
    found = book(Data={"A9": orphan, "B1": late, "B2": master})

    assert cells(stale_results(found, {"Data": [area("Z1")]})) == {"Data!A9"}
    assert cells(stale_results(found, {"Data": [area("A1")]})) == {"Data!A9", "Data!B1"}


def test_arrays_are_old_together() -> None:
    """All cells of an array formula are old with it, and who reads one of them is."""
    array = '<f t="array" ref="B1:B3">A1:A3*2</f><v>1</v>'
    found = book(Data={"B1": array, "C1": "B3+1", "C2": "B4+1"})

    stale = stale_results(found, {"Data": [area("A2")]})
    assert cells(stale) == {"Data!B1", "Data!B2", "Data!B3", "Data!C1"}


def test_data_tables() -> None:
    """A data table reads its input cells, and the row and the column that it stands beside."""
    table = '<f t="dataTable" ref="C4:D5" dt2D="1" dtr="1" r1="A1" r2="A2"/><v>1</v>'
    found = book(Data={"C4": table, "F1": "D5"})
    filled = {"Data!C4", "Data!C5", "Data!D4", "Data!D5", "Data!F1"}

    for place in ("A1", "A2", "B3", "C3", "B5"):
        assert cells(stale_results(found, {"Data": [area(place)]})) == filled, place
    assert stale_results(found, {"Data": [area("B2"), area("E4")]}) == {}


def test_spills_depend_on_their_room() -> None:
    """A formula that fills its room is old when a value lands in it, or one in its way goes."""
    sheet = part({"B1": "<f/>", "E1": "<f/>"}).decode()
    sheet = sheet.replace(
        '<c r="B1"><f/>', '<c r="B1" cm="1"><f t="array" ref="B1:B3">A1:A3</f><v>1</v>'
    ).replace(
        '<c r="E1"><f/>', '<c r="E1" cm="1" t="e"><f t="array" ref="E1">F:F</f><v>#VALUE!</v>'
    )
    found = FormulaBook([("Data", sheet.encode())])

    assert "Data!B1" in cells(stale_results(found, {"Data": [area("B2")]}))
    assert cells(stale_results(found, {"Data": [area("E7")]})) == {"Data!E1"}
    assert stale_results(found, {"Data": [area("C9")]}) == {}


def test_results_spread_over_sheets_and_rings() -> None:
    """What reads an old result is old, across sheets, and rings of formulas end."""
    found = book(
        Data={"A2": "A1", "A3": "Other!B1+A3", "B7": "B8", "B8": "B7"},
        Other={"B1": "Data!A2+Data!A3", "B2": "Data!A9"},
    )

    stale = stale_results(found, {"Data": [area("A1")]})
    assert cells(stale) == {"Data!A2", "Data!A3", "Other!B1"}


def test_a_missing_result_is_as_open_as_an_old_one() -> None:
    """A formula without a stored result is listed, too: what it comes to is another now."""
    found = book(Data={"A2": "<f>A1</f>", "A3": "<f>A2</f><v>1</v>", "A4": "<f>A2</f><v/>"})

    assert cells(stale_results(found, {"Data": [area("A1")]})) == {"Data!A2", "Data!A3", "Data!A4"}


def test_nothing_changed() -> None:
    """Without a change nothing is old, not even what may read any cell."""
    found = book(Data={"A1": 'INDIRECT("B1")'})

    assert stale_results(found, {}) == {}
    assert stale_results(found, {"Data": []}) == {}
    assert stale_results(found, {"No such sheet": [area("A1")]}) == {}
    assert stale_results(FormulaBook([("Data", b"")]), {"Data": [area("A1")]}) == {}


def test_past_the_limit_of_work_all_is_old() -> None:
    """Where the work is too much every stored result counts as old."""
    sums = {f"B{row}": f"SUM(A$1:A{row})" for row in range(1, 60)}
    found = book(Data=sums, Other={"A1": "1+1"})

    narrow = stale_results(found, {"Data": [area("A59")]})
    assert cells(narrow) == {"Data!B59"}
    assert len(cells(stale_results(found, {"Data": [area("A1")]}, max_steps=10))) == 60


def test_names_that_multiply() -> None:
    """Names that each use the one before twice cost no more than their number."""
    names = [DefinedName("n0_", None, "Data!$A$1")]
    names += [DefinedName(f"n{i}_", None, f"n{i - 1}_+n{i - 1}_") for i in range(1, 60)]
    found = FormulaBook([("Data", part({"B1": "n59_"}))], names)

    assert cells(stale_results(found, {"Data": [area("A1")]})) == {"Data!B1"}
    assert stale_results(found, {"Data": [area("A2")]}) == {}


@pytest.mark.full
def test_long_chains() -> None:
    """A chain of 100,000 cells is followed to its end; what comes before is kept."""
    count = 100_000
    rows = "".join(
        f'<row r="{row}"><c r="A{row}"><f>A{row - 1}+1</f><v>1</v></c></row>'
        for row in range(2, count + 1)
    )
    data = f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>'.encode()

    stale = stale_results(FormulaBook([("Data", data)]), {"Data": [area("A50001")]})
    assert stale == {"Data": [Area(50_002, 1, count, 1)]}


SHAPES = [
    "A{}+B${}",
    "SUM(A{}:$C{})*{}",
    "'S{}'!A{}+S{}!A1:B{}",
    "LOG{}(A{})",
    "T{}[C{}]+A{}",
    "A0{}+A{}",
    "{}:${}",
    '"x{}"&A{}',
    "Name{}+$A${}",
    "SUM(A:C)+A{}",
    "A{}:INDEX(A:A,{})",
    "XFE{}+'{}",
    "1E{}+A{}#-.{}",
    "[{}]Data!A{}",
]
NUMBERS = [
    "0",
    "1",
    "7",
    "10",
    "010",
    "900000",
    "900001",
    "1048576",
    "1048577",
    "12345678",
    "9" * 5000,
]


@settings(max_examples=100)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(SHAPES), st.lists(st.sampled_from(NUMBERS), min_size=4, max_size=4)
        ),
        max_size=12,
    )
)
def test_shapes_are_read_as_texts(formulas: list[tuple[str, list[str]]]) -> None:
    """A formula is read the same, whatever formulas of its shape were read before."""
    reader = OperandReader()
    for shape, numbers in formulas:
        text = shape.format(*numbers)
        assert reader.read(text) == read_operands(text), text


PLACES = [f"{column}{row}" for row in range(1, 6) for column in "ABC"]
REFERENCES = st.one_of(
    st.sampled_from(PLACES),
    st.sampled_from([f"$A{row}" for row in range(1, 6)]),
    st.tuples(st.sampled_from(PLACES), st.sampled_from(PLACES)).map(":".join),
    st.sampled_from(["A:B", "$C:$C", "2:3", "Other!B2", "'Data'!A1:B$2", "Other!1:1"]),
)
FORMULAS = st.lists(REFERENCES, max_size=3).map(
    lambda found: f'SUM({",".join(["1", *found])})&"A1"'
)
BOOKS = st.fixed_dictionaries(
    {
        title: st.dictionaries(
            st.sampled_from(PLACES), st.tuples(FORMULAS, st.booleans()), max_size=9
        )
        for title in ("Data", "Other")
    }
)


def naive_reads(title: str, text: str) -> set[tuple[str, int, int]]:
    """The cells that a formula reads among the first 8 rows and columns."""
    found = set()
    for token in Tokenizer(f"={text}").items:
        if token.type != "OPERAND" or token.subtype != "RANGE":
            continue
        sheet, _, place = token.value.rpartition("!")
        left, top, right, bottom = (side or 0 for side in range_boundaries(place))
        rows = range(min(top, bottom) or 1, (max(top, bottom) or 8) + 1)
        columns = range(min(left, right) or 1, (max(left, right) or 8) + 1)
        name = sheet.strip("'") or title
        found |= {(name, row, column) for row in rows if row <= 8 for column in columns}
    return {(name, row, column) for name, row, column in found if column <= 8}


def naive_closure(
    texts: Mapping[tuple[str, int, int], str], changed: set[tuple[str, int, int]]
) -> set[tuple[str, int, int]]:
    """The formulas that read changed cells, or results of such formulas, until none is added."""
    wanted = {place: naive_reads(place[0], text) for place, text in texts.items()}
    stale: set[tuple[str, int, int]] = set()
    while True:
        more = {place for place, read in wanted.items() if read & (changed | stale)} - stale
        if not more:
            return stale
        stale |= more


@settings(max_examples=120)
@given(
    sheets=BOOKS,
    changed=st.lists(
        st.tuples(st.sampled_from(["Data", "Other"]), st.sampled_from(PLACES)), max_size=3
    ),
)
def test_as_a_naive_closure_has_it(
    sheets: dict[str, dict[str, tuple[str, bool]]], changed: list[tuple[str, str]]
) -> None:
    """In books of random formulas, some of them shared, just those are old that must be."""
    parts, texts = [], {}
    for title, formulas in sheets.items():
        contents = {}
        master = ""
        for place, (text, is_shared) in formulas.items():
            written = text
            contents[place] = text
            if is_shared and master:
                contents[place] = '<f t="shared" si="0"/><v>1</v>'
                origin = Translator(f"={formulas[master][0]}", master)
                try:
                    written = origin.translate_formula(place)[1:]
                except TranslatorError:
                    reject()
                if "#REF!" in written:
                    reject()
            elif is_shared:
                master = place
                escaped = text.replace("&", "&amp;")
                contents[place] = f'<f t="shared" si="0" ref="A1:C5">{escaped}</f><v>1</v>'
            texts[title, *parse_cell(place)] = written
        parts.append((title, part(contents)))
    areas: dict[str, list[Area]] = {}
    for title, place in changed:
        areas.setdefault(title, []).append(area(place))

    stale = stale_results(FormulaBook(parts), areas)

    edited = {(title, *parse_cell(place)) for title, place in changed}
    expected = naive_closure(texts, edited)
    assert cells(stale) == {f"{name}!{cell_name(row, column)}" for name, row, column in expected}
