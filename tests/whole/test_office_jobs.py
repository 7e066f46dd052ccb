"""Five jobs of office work on real files, by a scripted model over HTTP, from prompt to publish.

Each plays what a model does: look at the files, edit by what the tools answered, say what it did.
What is published is judged by other libraries than kbd's own readers.
"""

import csv
import io
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest

from backends import on_asyncio, on_trio
from model_server import Reply, call, calls, phase_of, text, turn_of
from whole.played_jobs import run_job

pytestmark = [pytest.mark.full, pytest.mark.corpora]

Played = Callable[[dict[str, Any]], Reply]
Step = Callable[[list[Any]], list[tuple[str, dict[str, Any]]]]
"""The calls of one turn, made of what the tools have answered before."""

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
TRACKED = {"author": "Clerk", "date": "2026-05-31T09:00:00Z"}


def playing(item: str, *steps: Step) -> Played:
    """Return a model that has one item, which it does by these steps."""
    items = f"## Items\n- [ ] 1. Entity: Job — {item}\n\n## Notes\n- none\n"
    plan = f"# Execution Plan\n\n## Task\n{item}\n\n{items}"

    def play(body: dict[str, Any]) -> Reply:
        results = [json.loads(m["content"]) for m in body["messages"] if m["role"] == "tool"]
        match phase_of(body):
            case "research":
                return text("All that is needed is in the files.")
            case "plan":
                return text(plan)
            case "implement" if turn_of(body) < len(steps):
                made = steps[turn_of(body)](results)
                return calls(
                    *(call(tool, arguments, f"{n}") for n, (tool, arguments) in enumerate(made))
                )
            case "implement":
                return text(f"Done: {results[-1].get('changed')}")
            case _:
                return text("The job is done.")

    return play


def renamed(corpora: Path, source: str, target: Path) -> Path:
    """Copy a file of the corpora under a name that a person would give it."""
    target.write_bytes((corpora / source).read_bytes())
    return target


@on_asyncio
def test_a_table_is_updated_from_a_workbook_with_changes_tracked(
    corpora: Path, short_dir: Path, anyio_backend: str, tmp_path: Path
) -> None:
    """Figures of the workbook stand in table 2, marked as changes, and a sentence explains them."""
    proposal = renamed(corpora, "docx/officecli__project-proposal.docx", tmp_path / "proposal.docx")
    budget = tmp_path / "budget.xlsx"
    book: Any = openpyxl.Workbook()
    for row in (("Item", "Q1", "Q2", "Q3", "Q4"), ("Hardware Procurement", 170, 90, 50, 20)):
        book.active.append(row)
    book.save(budget)

    def read(_: list[Any]) -> list[tuple[str, dict[str, Any]]]:
        return [
            ("read_file", {"path": "budget.xlsx", "sheet": "Sheet", "range": "A1:E2"}),
            ("get_file_map", {"path": "proposal.docx"}),
        ]

    def edit(results: list[Any]) -> list[tuple[str, dict[str, Any]]]:
        figures = [
            int(each) for each in re.findall(r"\b\d{2,3}\b", results[0]["text"].splitlines()[-1])
        ]
        cells = [{"row": 1, "col": n, "text": figure} for n, figure in enumerate(figures, 1)]
        cells.append({"row": 1, "col": 5, "text": sum(figures)})
        why = f"Hardware now costs {sum(figures)}, as budget.xlsx says."
        operations: list[dict[str, Any]] = [
            {"op": "set_table_cells", "table": 2, "cells": cells},
            {"op": "append_paragraph", "text": why},
        ]
        tracked = [each | {"track_changes": TRACKED} for each in operations]
        return [("docx_operations", {"path": "proposal.docx", "operations": tracked})]

    play = playing("the budget in proposal.docx from budget.xlsx", read, edit)
    _, published = run_job(short_dir / "h", anyio_backend, play, "update table 2", proposal, budget)
    made = docx.Document(io.BytesIO(published("proposal.docx")))
    body = made.element.body
    inserted = ["".join(t.text or "" for t in mark.iter(f"{W}t")) for mark in body.iter(f"{W}ins")]

    assert {"170", "90", "330"} <= set(inserted)
    assert "Hardware now costs 330, as budget.xlsx says." in inserted
    assert {"150", "80", "300"} <= {each.text for each in body.iter(f"{W}delText")}
    assert {mark.get(f"{W}author") for mark in body.iter(f"{W}ins", f"{W}del")} == {"Clerk"}


@on_trio
def test_slides_in_a_template_have_a_native_table_and_chart(
    corpora: Path, short_dir: Path, anyio_backend: str, tmp_path: Path
) -> None:
    """Five slides in the template's layouts; the figures are a table and a chart to programs."""
    template = renamed(
        corpora, "pptx/keenbench__keenbench_pitch_deck.pptx", tmp_path / "template.pptx"
    )
    figures = renamed(
        corpora, "xlsx/officebench__company_revenues.xlsx", tmp_path / "revenues.xlsx"
    )

    def read(_: list[Any]) -> list[tuple[str, dict[str, Any]]]:
        return [
            ("table_read_rows", {"path": "revenues.xlsx", "row_start": 1, "row_count": 5}),
            ("get_file_map", {"path": "template.pptx"}),
        ]

    def edit(results: list[Any]) -> list[tuple[str, dict[str, Any]]]:
        columns, rows = results[0]["columns"], results[0]["rows"]
        first = results[1]["slide_count"]
        titles = ("Revenues", "The figures", "The trend", "What they mean", "Next steps")
        slides: list[dict[str, Any]] = [
            {"op": "add_slide", "layout": "title_only", "title": title} for title in titles
        ]
        slides[0] = {"op": "add_slide", "layout": "title_slide", "title": titles[0]}
        for place in (3, 4):
            slides[place] |= {"layout": "title_and_content", "body": "One\nTwo"}
        table = [[str(each) for each in columns], *([str(each) for each in row] for row in rows)]
        values = [float(str(row[-1]).replace(",", "")) for row in rows]
        more = [
            {"op": "add_table", "index": first + 1, "rows": table, "header": True},
            {"op": "add_chart", "index": first + 2, "type": "line",
             "categories": [str(row[0]) for row in rows],
             "series": [{"name": str(columns[-1]), "values": values}]},
        ]  # fmt: skip
        return [("pptx_operations", {"path": "template.pptx", "operations": [*slides, *more]})]

    play = playing("five slides in template.pptx", read, edit)
    _, published = run_job(short_dir / "h", anyio_backend, play, "five slides", template, figures)
    deck = pptx.Presentation(io.BytesIO(published("template.pptx")))
    new = list(deck.slides)[-5:]

    assert [slide.shapes.title.text_frame.text for slide in new][1:3] == [
        "The figures",
        "The trend",
    ]
    table = next(shape.table for shape in new[1].shapes if shape.has_table)
    chart = next(shape.chart for shape in new[2].shapes if shape.has_chart)
    shown = [cell.text for cell in list(table.iter_cells())[-len(table.columns) :]]
    assert list(chart.plots[0].series[0].values)[-1] == float(shown[-1].replace(",", ""))
    data = chart.part.chart_workbook.xlsx_part.blob
    stored: Any = openpyxl.load_workbook(io.BytesIO(data))
    assert [row[1] for row in stored.active.iter_rows(min_row=2, values_only=True)] == list(
        chart.plots[0].series[0].values
    )


@on_asyncio
def test_a_contract_is_filled_from_a_row_of_a_table(
    corpora: Path, short_dir: Path, anyio_backend: str, tmp_path: Path
) -> None:
    """No placeholder is left, rows of the list are there, and the total is theirs."""
    template = renamed(corpora, "docx/keenbench__invoice_template.docx", tmp_path / "invoice.docx")
    row = tmp_path / "customers.csv"
    with row.open("w", newline="") as file:
        csv.writer(file).writerows(
            [
                ("company", "date", "items_table", "total"),
                ("Müller & Co", "2026-05-31", "3 chairs", 270),
            ]
        )

    def read(_: list[Any]) -> list[tuple[str, dict[str, Any]]]:
        return [("table_read_rows", {"path": "customers.csv", "row_start": 1, "row_count": 1})]

    def edit(results: list[Any]) -> list[tuple[str, dict[str, Any]]]:
        pairs = zip(results[0]["columns"], results[0]["rows"][0], strict=True)
        values = [{"name": str(name), "value": value} for name, value in pairs]
        operations = [{"op": "fill_template", "values": values}]
        return [("docx_operations", {"path": "invoice.docx", "operations": operations})]

    play = playing("invoice.docx filled from customers.csv", read, edit)
    _, published = run_job(short_dir / "h", anyio_backend, play, "fill it", template, row)
    made = docx.Document(io.BytesIO(published("invoice.docx")))
    said = "\n".join(
        "".join(t.text or "" for t in p.iter(f"{W}t")) for p in made.element.iter(f"{W}p")
    )

    assert "Müller & Co" in said
    assert "270" in said
    assert "{{" not in said


@on_trio
def test_tables_of_a_pdf_are_put_into_a_workbook(
    corpora: Path, short_dir: Path, anyio_backend: str, tmp_path: Path
) -> None:
    """Each printed row is a row of the sheet, blank ones too, and figures are numbers."""
    report = renamed(corpora, "pdf/officebench__sales_report.pdf", tmp_path / "sales.pdf")

    def read(_: list[Any]) -> list[tuple[str, dict[str, Any]]]:
        return [("pdf_tables", {"path": "sales.pdf", "pages": "1"})]

    def edit(results: list[Any]) -> list[tuple[str, dict[str, Any]]]:
        rows = results[0]["tables"][0]["rows"]
        numbers = [
            [int(cell.replace(",", "")) if re.fullmatch(r"[\d,]+", cell) else cell for cell in row]
            for row in rows
        ]
        operations = [
            {"op": "ensure_sheet", "sheet": "Sales"},
            {"op": "set_range", "sheet": "Sales", "start": "A1", "values": numbers},
        ]
        return [
            (
                "xlsx_operations",
                {"path": "sales.xlsx", "operations": operations, "create_new": True},
            )
        ]

    play = playing("the table of sales.pdf in sales.xlsx", read, edit)
    _, published = run_job(short_dir / "h", anyio_backend, play, "into a workbook", report)
    sheet = openpyxl.load_workbook(io.BytesIO(published("sales.xlsx")))["Sales"]
    rows: list[Any] = list(sheet.iter_rows(values_only=True))

    assert rows[0] == ("Month", "Units Sold", "Sales Revenue ($)", "Region", "Product Line")
    assert rows[1] == ("January", 212, 7844, "North America", "Electronics")
    assert len(rows) == 23
    filled = [row for row in rows[1:] if any(row)]
    assert len(filled) == 11
    assert all(isinstance(row[1], int) and isinstance(row[2], int) for row in filled)
    assert sum(row[2] for row in filled) == 339_335


@on_asyncio
def test_a_memo_has_a_table_with_a_header_row_and_figures_at_the_right(
    corpora: Path, short_dir: Path, anyio_backend: str, tmp_path: Path
) -> None:
    """The header row repeats on each page, and the columns of figures are set right."""
    figures = renamed(
        corpora, "xlsx/officebench__company_revenues.xlsx", tmp_path / "revenues.xlsx"
    )

    def read(_: list[Any]) -> list[tuple[str, dict[str, Any]]]:
        return [("table_read_rows", {"path": "revenues.xlsx", "row_start": 1, "row_count": 10})]

    def edit(results: list[Any]) -> list[tuple[str, dict[str, Any]]]:
        columns, rows = results[0]["columns"], results[0]["rows"]
        operations = [
            {"op": "append_paragraph", "text": "Memo", "style": "Title"},
            {"op": "append_paragraph", "text": "The revenues of the last years:"},
            {"op": "add_table", "rows": [columns, *rows], "header": True,
             "alignments": ["left", *["right"] * (len(columns) - 1)]},
        ]  # fmt: skip
        return [
            ("docx_operations", {"path": "memo.docx", "operations": operations, "create_new": True})
        ]

    play = playing("memo.docx with the revenues", read, edit)
    _, published = run_job(short_dir / "h", anyio_backend, play, "a memo", figures)
    table = docx.Document(io.BytesIO(published("memo.docx"))).tables[0]

    assert table.rows[0]._tr.find(f"{W}trPr/{W}tblHeader") is not None
    for line in table.rows[1:]:
        assert [cell.paragraphs[0].alignment for cell in line.cells[1:]] == [2] * (
            len(line.cells) - 1
        )
