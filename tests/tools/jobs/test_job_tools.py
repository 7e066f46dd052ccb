"""Jobs checked and carried out: what they write is what the rows say, or nothing is written."""

import csv
import io
from typing import Any

import docx
import openpyxl
import pptx
import pytest
from pptx.util import Inches

from backends import on_asyncio, on_trio
from kbd.errors import ValidationFailed
from kbd.testing.tools import Workbench, check_tool
from kbd_jobs import kbd_register_tools
from small_pictures import png
from tools.jobs.conftest import Ask

pytestmark = pytest.mark.anyio

SALES = """Date,Category,Region,Amount,Status
2024-01-03,Food,North,10.50,paid
2024-02-05,Rent,South,800.00,paid
2024-02-07,food,North,7.25,cancelled
2023-12-31,Travel,,99.10,paid
2024-03-01,Food,South,0.10,paid
2024-03-02,Food,South,0.20,paid
"""
INPUT = {"name": "sales", "file": "sales*.csv", "columns": {"Amount": "number"}}
BY_CATEGORY = [
    {"do": "split", "by": "Category", "file": "{sales}-split.xlsx"},
    {
        "do": "group",
        "by": ["Category"],
        "figures": [{"name": "Total", "function": "sum", "column": "Amount"}],
    },
    {
        "do": "write",
        "file": "{sales}-split.xlsx",
        "sheet": "Summary",
        "form": {"totals": {"Total": "sum"}},
    },
]


def sheets_of(workbench: Workbench, name: str) -> dict[str, list[tuple[Any, ...]]]:
    """The values of each sheet, those of formulas as they are stored."""
    book = openpyxl.load_workbook(io.BytesIO(workbench.content(name)), data_only=True)
    return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book.worksheets}


def sums() -> dict[str, float]:
    """The sums by category, capitals aside, by plain Python."""
    found: dict[str, float] = {}
    for row in csv.DictReader(io.StringIO(SALES)):
        key = row["Category"].capitalize()
        found[key] = round(found.get(key, 0) + float(row["Amount"]), 2)
    return found


@pytest.mark.parametrize("tool", kbd_register_tools(), ids=lambda tool: tool.name)
def test_tools_keep_the_contract(tool: Any) -> None:
    """As every tool does."""
    check_tool(tool)


@on_asyncio
async def test_a_split_with_a_summary_is_one_call(workbench: Workbench, ask: Ask) -> None:
    """A sheet for each value, capitals aside, totals as the rows say, under a telling name."""
    workbench.add("sales-may.csv", SALES)

    done = await ask("run", inputs=[INPUT], steps=BY_CATEGORY)

    sheets = sheets_of(workbench, "sales-may-split.xlsx")
    assert list(sheets) == ["Food", "Rent", "Travel", "Summary"]
    assert len(sheets["Food"]) == 5, "a heading and four rows"
    body = {row[0]: row[1] for row in sheets["Summary"][1:]}
    assert body == {**sums(), "Total": pytest.approx(sum(sums().values()))}
    assert done["outputs"][0]["target_path"] == "sales-may-split.xlsx"
    assert "sales-may.csv" in done["words"]


@on_trio
async def test_a_new_value_gets_its_sheet(workbench: Workbench, ask: Ask) -> None:
    """The same job on another file: no value is known beforehand, none is missed."""
    workbench.add("sales.csv", SALES + "2024-05-05,Brandneu,West,5.00,paid\n")

    await ask("run", inputs=[INPUT], steps=BY_CATEGORY)

    sheets = sheets_of(workbench, "sales-split.xlsx")
    assert sheets["Brandneu"][1][1:4] == ("Brandneu", "West", 5)
    assert ("Brandneu", 5) in sheets["Summary"]


@on_asyncio
async def test_check_writes_nothing_and_tells_all(workbench: Workbench, ask: Ask) -> None:
    """The words, the SQL of each step that writes, and the checks with their figures."""
    workbench.add("sales.csv", SALES)

    found = await ask("check", inputs=[INPUT], steps=BY_CATEGORY)

    assert list(workbench.files.names()) == ["sales.csv"]
    assert found["failed"] == []
    assert [each["step"] for each in found["sql"]] == [1, 3]
    assert any("6 rows" in text for text in found["checks"])
    assert len(found["job"]) == 64


@on_trio
async def test_a_failed_check_stops_all(workbench: Workbench, ask: Ask) -> None:
    """Nothing is written, and the error has the figures."""
    workbench.add("sales.csv", SALES)
    checks = [{"check": "unique", "table": "sales", "columns": ["Category"]}]

    with pytest.raises(ValidationFailed, match=r"nothing is written.*Category"):
        await ask("run", inputs=[INPUT], steps=BY_CATEGORY, checks=checks)

    assert list(workbench.files.names()) == ["sales.csv"]
    found = await ask("check", inputs=[INPUT], steps=BY_CATEGORY, checks=checks)
    assert len(found["failed"]) == 1


@on_asyncio
async def test_a_failed_check_is_told_before_a_sheet_that_is_refused(
    workbench: Workbench, ask: Ask
) -> None:
    """Both are found by one call; the check is what is wrong with the rows."""
    workbench.add("sales.csv", SALES)
    refused = [{"do": "write", "file": "x.csv", "sheet": name} for name in "AB"]
    checks = [{"check": "unique", "table": "sales", "columns": ["Category"]}]

    with pytest.raises(ValidationFailed, match=r"nothing is written.*Category"):
        await ask("run", inputs=[INPUT], steps=refused, checks=checks)
    with pytest.raises(ValidationFailed, match=r"x\.csv: .*sheet"):
        await ask("run", inputs=[INPUT], steps=refused)

    assert list(workbench.files.names()) == ["sales.csv"]


@pytest.mark.parametrize("extra", [0, 100_000], ids=["small", "large"])
@on_asyncio
async def test_checks_of_tables_of_any_size_are_judged(
    workbench: Workbench, ask: Ask, extra: int
) -> None:
    """Those of a large table are judged before anything is written, those of a small one beside."""
    more = "".join(f"2024-04-01,Bulk,North,{n},paid\n" for n in range(extra))
    workbench.add("sales.csv", SALES + more)
    steps = [{"do": "group", "figures": [{"name": "n", "function": "count"}]}]
    wanted = {"check": "row_count", "table": "sales", "minimum": 1}

    done = await ask("run", inputs=[INPUT], steps=[*steps, {"do": "write", "file": "x.xlsx"}],
                     checks=[wanted])  # fmt: skip

    assert any(f"sales has {6 + extra:,} rows" in text for text in done["checks"])
    with pytest.raises(ValidationFailed, match="nothing is written, because a check failed"):
        await ask(
            "run", inputs=[INPUT], steps=[*steps, {"do": "write", "file": "y.xlsx"}],
            checks=[{**wanted, "maximum": 5}],
        )  # fmt: skip
    assert set(workbench.files.names()) == {"sales.csv", "x.xlsx"}


@on_trio
async def test_spellings_that_count_as_one_are_not_told_apart(
    workbench: Workbench, ask: Ask
) -> None:
    """Where the job says how they are counted, no warning says the opposite; else it stays."""
    workbench.add("sales.csv", SALES)
    figures = [{"name": "Total", "function": "sum", "column": "Amount"}]
    group = {"do": "group", "by": ["Category"], "figures": figures}
    write = {"do": "write", "file": "x.xlsx"}

    folded = await ask("run", inputs=[INPUT], steps=[group, write])
    exact = await ask("run", inputs=[INPUT], steps=[{**group, "exact": True}, write])

    assert any("Category" in note and "count as one" in note for note in folded["notes"])
    assert not any("SQL tells them apart" in text for text in folded["outputs"][0]["warnings"])
    assert any("SQL tells them apart" in text for text in exact["outputs"][0]["warnings"])


@on_asyncio
async def test_doubtful_figures_stop_a_job_that_says_so(workbench: Workbench, ask: Ask) -> None:
    """Amounts in two currencies, a formula nobody computed: told, or nothing is written."""
    workbench.add("sales.csv", "Amount,Currency\n10.00,EUR\n12.00,USD\n10.50,EUR\n")
    book = openpyxl.Workbook()
    book.worksheets[0].append(["Item", "Amount"])
    book.worksheets[0].append(["a", 1.5])
    book.worksheets[0].append(["b", "=B2*2"])
    made = io.BytesIO()
    book.save(made)
    workbench.add("items.xlsx", made.getvalue())
    total = {"do": "group", "figures": [{"name": "T", "function": "sum", "column": "Amount"}]}
    steps = [total, {"do": "write", "file": "out.xlsx"}]

    for file, text in (
        ("sales.csv", r"it is in several currencies \(Currency: EUR, USD\)"),
        ("items.xlsx", "formula without a stored result, read as empty"),
    ):
        asked = {"name": "t", "file": file}
        with pytest.raises(ValidationFailed, match=rf'column "Amount" of t: .*{text}'):
            await ask("run", inputs=[{**asked, "doubts": "refuse"}], steps=steps)
        assert list(workbench.files.names()) == ["items.xlsx", "sales.csv"]
        assert (await ask("check", inputs=[asked], steps=steps))["failed"] == []


@on_asyncio
async def test_a_later_failure_undoes_what_was_written(workbench: Workbench, ask: Ask) -> None:
    """All of a job or nothing: a step that fails takes back the files before it."""
    workbench.add("sales.csv", SALES)
    replaced = {"do": "replace", "files": ["sales.csv"], "search": "nowhere", "replacement": "x"}

    with pytest.raises(ValidationFailed, match=r"is in none of sales\.csv"):
        await ask("run", inputs=[INPUT], steps=[*BY_CATEGORY, replaced])

    assert list(workbench.files.names()) == ["sales.csv"]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"file": "orders.csv"}, "there is no file orders.csv; there are: other.csv"),
        ({"file": "*.csv", "columns": {}}, r"2 files fit \*.csv: other.csv, sales.csv"),
        ({"file": "*.csv", "columns": {"x": "any"}}, "2 files are called so, and none fits"),
        ({"columns": {"Amuont": "number"}}, 'did you mean "Amount"'),
        ({"columns": {"Status": "number"}}, "number is needed"),
        ({"columns": {"Amount": "number"}, "others": False}, '"Date" is new'),
    ],
    ids=["missing", "several", "none", "column", "type", "others"],
)
@on_trio
async def test_inputs_that_do_not_fit_are_refused(
    workbench: Workbench, ask: Ask, changed: dict[str, Any], told: str
) -> None:
    """With the input, the file, what differs and what is near; nothing is written."""
    workbench.add("sales.csv", SALES)
    workbench.add("other.csv", "a,b\n1,2\n")
    named = {**INPUT, "file": "sales.csv", **changed}

    with pytest.raises(ValidationFailed, match=told) as refused:
        await ask("run", inputs=[named], steps=[{"do": "write", "file": "x.xlsx"}])

    assert 'input "sales"' in str(refused.value)


@on_asyncio
async def test_of_several_files_the_one_with_the_columns_is_the_input(
    workbench: Workbench, ask: Ask
) -> None:
    """A pattern may fit more than one file: the shape tells."""
    workbench.add("sales.csv", SALES)
    workbench.add("other.csv", "a,b\n1,2\n")

    done = await ask("run", inputs=[{**INPUT, "file": "*.csv"}], steps=[{"do": "report"}])

    assert done["inputs"][0]["path"] == "sales.csv"


@on_trio
async def test_a_column_without_values_fits_whatever_is_due(workbench: Workbench, ask: Ask) -> None:
    """Such a column has no type that could be wrong."""
    workbench.add("sales.csv", "Region,Amount\nNorth,\nSouth,\n")
    figures = [{"name": "Total", "function": "sum", "column": "Amount"}]
    steps = [{"do": "group", "figures": figures}, {"do": "report"}]

    done = await ask("run", inputs=[INPUT], steps=steps)

    assert done["answers"][0]["rows"] == [[None]]


@on_asyncio
async def test_the_only_sheet_with_the_columns_is_the_input(workbench: Workbench, ask: Ask) -> None:
    """Others may be there; where two have them it is asked to name one."""
    book = openpyxl.Workbook()
    del book["Sheet"]
    notes = book.create_sheet("Notes")
    notes.append(["Remark", "Who"])
    notes.append(["none", "me"])
    for title in ("Jan", "Feb"):
        sheet = book.create_sheet(title)
        sheet.append(["Region", "Amount"])
        sheet.append(["North", 2.5])
        data = io.BytesIO()
        book.save(data)
        workbench.add("book.xlsx", data.getvalue())
        named = {**INPUT, "file": "book.xlsx"}
        steps = [{"do": "report"}]
        if title == "Jan":
            done = await ask("run", inputs=[named], steps=steps)
            assert done["inputs"][0]["sheet"] == "Jan"
            assert done["answers"][0]["rows"] == [["North", 2.5]]
        else:
            with pytest.raises(ValidationFailed, match=r"several sheets .*Jan, Feb"):
                await ask("run", inputs=[named], steps=steps)


@on_trio
async def test_a_pivot_finds_its_columns(workbench: Workbench, ask: Ask) -> None:
    """The values of the column, in their order; the last column has all of them."""
    workbench.add("sales.csv", SALES)
    pivot = {
        "do": "pivot",
        "rows": ["Category"],
        "column": "Region",
        "figure": {"name": "Sum", "function": "sum", "column": "Amount"},
        "total": "All",
    }

    done = await ask("run", inputs=[INPUT], steps=[pivot, {"do": "report"}])

    (answer,) = done["answers"]
    assert answer["columns"] == ["Category", "North", "South", "(empty)", "All"]
    assert [row[-1] for row in answer["rows"]] == [sums()[row[0]] for row in answer["rows"]]


@on_asyncio
async def test_a_split_of_too_many_values_is_refused(workbench: Workbench, ask: Ask) -> None:
    """A sheet for each row of a long table is nobody's wish."""
    rows = "\n".join(f"id{n},{n}" for n in range(600))
    workbench.add("sales.csv", f"Id,Amount\n{rows}\n")
    split = {"do": "split", "by": "Id", "file": "x.xlsx"}

    with pytest.raises(ValidationFailed, match="more than 500 values"):
        await ask("run", inputs=[INPUT], steps=[split])


@on_trio
async def test_files_for_each_value_have_its_name(workbench: Workbench, ask: Ask) -> None:
    """A value with signs that no name has becomes one that is; nothing leaves the folder."""
    workbench.add("sales.csv", "Shop,Amount\nA/../../B,1\n.hidden,2\n,7\n")
    split = {"do": "split", "by": "Shop", "into": "files", "file": "shop {value}.csv"}

    await ask("run", inputs=[INPUT], steps=[split])

    names = set(workbench.files.names()) - {"sales.csv"}
    assert names == {"shop A .. .. B.csv", "shop hidden.csv", "shop (empty).csv"}


@on_asyncio
async def test_a_report_tells_the_values_of_its_only_row(workbench: Workbench, ask: Ask) -> None:
    """In the sentence that the job has for it."""
    workbench.add("sales.csv", SALES)
    figures = [{"name": "Total", "function": "sum", "column": "Amount"}]
    steps = [{"do": "group", "figures": figures}, {"do": "report", "text": "In all {Total}."}]

    done = await ask("run", inputs=[INPUT], steps=steps)

    assert done["answers"][0]["text"] == "In all 917.15."


@on_trio
async def test_a_conversion_keeps_the_rows_of_totals(workbench: Workbench, ask: Ask) -> None:
    """The table goes over as it stands; a sum over it leaves them out."""
    workbench.add("sales.csv", "Shop,Amount\nA,1.5\nB,2.5\nTotal,4.0\n")
    figures = [{"name": "Total", "function": "sum", "column": "Amount"}]
    steps = [
        {"do": "convert", "table": "sales", "file": "{sales}.xlsx"},
        {"do": "group", "figures": figures},
        {"do": "report"},
    ]

    done = await ask("run", inputs=[INPUT], steps=steps)

    assert done["answers"][0]["rows"] == [[4.0]]
    (rows,) = sheets_of(workbench, "sales.xlsx").values()
    assert [row[0] for row in rows] == ["Shop", "A", "B", "Total"]


@on_asyncio
async def test_texts_are_replaced_in_every_kind_of_file(workbench: Workbench, ask: Ask) -> None:
    """In documents, cells and texts; numbers and the rest of a file stay as they were."""
    document, data = docx.Document(), io.BytesIO()
    document.add_paragraph("Acme owes Acme")
    document.save(data)
    workbench.add("a.docx", data.getvalue())
    workbench.add("b.csv", "Name;Sum\r\nAcme;1,50\r\n")
    workbench.add("c.txt", "\ufeffno word of it")
    files = [{"name": "any", "file": "a.docx", "kind": "file"}]
    step = {"do": "replace", "files": ["*.docx", "*.csv", "*.txt"], "search": "Acme"}

    done = await ask("run", inputs=files, steps=[{**step, "replacement": "Beta"}])

    counts = {each["target_path"]: each["replacements"] for each in done["outputs"]}
    assert counts == {"a.docx": 2, "b.csv": 1}
    assert workbench.content("b.csv") == b"Name;Sum\r\nBeta;1,50\r\n"
    changed = docx.Document(io.BytesIO(workbench.content("a.docx")))
    assert changed.paragraphs[-1].text == "Beta owes Beta"


@on_trio
async def test_a_separator_is_not_replaced_in_a_table(workbench: Workbench, ask: Ask) -> None:
    """It would move all fields behind it."""
    workbench.add("b.csv", "Name;Sum\nAcme;1\n")
    step = {"do": "replace", "files": ["b.csv"], "search": "Acme", "replacement": "A;B"}
    files = [{"name": "any", "file": "b.csv", "kind": "file"}]

    with pytest.raises(ValidationFailed, match="where its fields end"):
        await ask("run", inputs=files, steps=[step])


@on_asyncio
async def test_a_template_is_filled_for_each_row(workbench: Workbench, ask: Ask) -> None:
    """A file for each row, with its values, and the rows of a list in each."""
    document, data = docx.Document(), io.BytesIO()
    document.add_paragraph("Dear {{name}}, you owe {{sum}}.")
    document.save(data)
    workbench.add("letter.docx", data.getvalue())
    workbench.add("sales.csv", "Client,Amount\nAnn,3\nBob,4.5\n")
    files = [INPUT, {"name": "letter", "file": "letter.docx", "kind": "file"}]
    fill = {
        "do": "fill",
        "template": "letter",
        "file": "letter {value}.docx",
        "each": "Client",
        "values": {"name": "upper(Client)", "sum": "round(Amount * 2, 1)"},
    }

    await ask("run", inputs=files, steps=[fill])

    texts = [
        docx.Document(io.BytesIO(workbench.content(f"letter {name}.docx"))).paragraphs[0].text
        for name in ("Ann", "Bob")
    ]
    assert texts == ["Dear ANN, you owe 6.00.", "Dear BOB, you owe 9.00."]


@on_asyncio
async def test_a_workbook_is_filled_with_typed_values(workbench: Workbench, ask: Ask) -> None:
    """Numbers and dates are such, a row is repeated for each of a table, totals take them in."""
    book, data = openpyxl.Workbook(), io.BytesIO()
    sheet = book.worksheets[0]
    for row in (
        ("Bill for {{name}}", "{{sum}}"),
        ("{{rows.Date}}", "{{rows.Amount}}", "=B2*2"),
        ("Total", "=SUM(B2:B2)"),
    ):
        sheet.append(row)
    book.save(data)
    workbench.add("bill.xlsx", data.getvalue())
    workbench.add("sales.csv", SALES)
    workbench.add("clients.csv", "Client,Paid\nAnn,1234.5\n")
    inputs = [
        INPUT,
        {"name": "clients", "file": "clients.csv"},
        {"name": "bill", "file": "bill.xlsx", "kind": "file"},
    ]
    fill = {
        "do": "fill",
        "template": "bill",
        "file": "filled.xlsx",
        "of": "clients",
        "values": {"name": "Client", "sum": "round(Paid / 3, 2)"},
        "rows": {"rows": "sales"},
    }

    await ask("run", inputs=inputs, steps=[fill])

    filled = openpyxl.load_workbook(io.BytesIO(workbench.content("filled.xlsx"))).worksheets[0]
    assert [cell.value for cell in filled[1][:2]] == ["Bill for Ann", 411.5]
    days = [str(cell.value)[:10] for (cell,) in filled["A2:A7"]]
    assert days == [line[:10] for line in SALES.splitlines()[1:]]
    assert {cell.is_date for (cell,) in filled["A2:A7"]} == {True}
    assert [filled.cell(7, 2).value, filled["C7"].value] == [0.2, "=B7*2"]
    assert filled["B8"].value == "=SUM(B2:B7)"


@on_asyncio
async def test_a_deck_is_filled_with_a_table_and_a_picture(workbench: Workbench, ask: Ask) -> None:
    """The figures as texts, a row for each of a table, a picture in the place of a shape."""
    deck, data = pptx.Presentation(), io.BytesIO()
    slide: Any = deck.slides.add_slide(deck.slide_layouts[5])
    slide.shapes.title.text = "Sales {{year}}"
    place = Inches(1), Inches(2), Inches(4), Inches(1)
    table = slide.shapes.add_table(2, 2, *place).table
    for at, text in enumerate(("Region", "Amount", "{{rows.Region}}", "{{rows.Amount}}")):
        table.cell(at // 2, at % 2).text = text
    slide.shapes.add_textbox(*place).text_frame.text = "{{logo}}"
    deck.save(data)
    workbench.add("deck.pptx", data.getvalue())
    workbench.add("sales.csv", "Region,Amount,Year\nNorth,1234.5,2024\n")
    workbench.add("logo.png", png(4, 2))
    files = [
        {"name": name, "file": file, "kind": "file"}
        for name, file in (("deck", "deck.pptx"), ("logo", "logo.png"))
    ]
    fill = {
        "do": "fill",
        "template": "deck",
        "file": "filled.pptx",
        "values": {"year": "Year"},
        "rows": {"rows": "sales"},
        "pictures": {"logo": "logo"},
    }

    await ask("run", inputs=[INPUT, *files], steps=[fill])

    filled: Any = pptx.Presentation(io.BytesIO(workbench.content("filled.pptx"))).slides[0]
    shapes = list(filled.shapes)
    assert shapes[0].text == "Sales 2024"
    assert [cell.text for cell in shapes[1].table.rows[1].cells] == ["North", "1,234.50"]
    assert (shapes[2].shape_type, shapes[2].width) == (13, Inches(2))


@on_trio
async def test_an_input_may_be_called_data(workbench: Workbench, ask: Ask) -> None:
    """As the table tools call the table of a call; first or not."""
    workbench.add("sales.csv", SALES)
    workbench.add("other.csv", "Region,Chief\nNorth,Ann\n")
    other = {"name": "Data", "file": "other.csv"}
    join = {"do": "join", "of": "sales", "other": "Data", "on": {"Region": "Region"}}
    top = {"do": "top", "count": 1, "by": [{"column": "Amount"}], "of": "step_1"}

    for inputs in ([INPUT, other], [other, INPUT]):
        steps = [{**join, "make": "step_1"}, {**top, "per": ["Chief"]}, {"do": "report"}]
        done = await ask("run", inputs=inputs, steps=steps)
        assert [row[-1] for row in done["answers"][0]["rows"]] == ["Ann", None]
