"""A whole job of a model on a workbook of another program: looked at, edited, published whole."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
from openpyxl.chart import BarChart, Reference

from backends import on_trio
from model_server import Reply, call, calls, model_server, phase_of, text, turn_of
from real_daemon import RealDaemon

PLAN = """# Execution Plan

## Task
Raise the rent in budget.xlsx

## Items
- [ ] 1. Entity: Budget — B2 of sheet Budget in budget.xlsx is 750, in the look of B3

## Notes
- B4 is their sum
"""


def _budget(path: Path) -> bytes:
    """Write a workbook with a chart and a formula whose result is stored; return its bytes."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.title = "Budget"
    for row in (["What", "Cost"], ["Rent", 700], ["Food", 250], ["All", "=SUM(B2:B3)"]):
        sheet.append(row)
    sheet["B3"].number_format = "#,##0.00"
    chart = BarChart()
    chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
    sheet.add_chart(chart, "D2")
    plain = io.BytesIO()
    book.save(plain)
    with zipfile.ZipFile(plain) as old, zipfile.ZipFile(path, "w") as new:
        for info in old.infolist():
            data = old.read(info)
            for empty in (b"</f><v/>", b"</f><v></v>"):
                data = data.replace(empty, b"</f><v>950</v>")
            new.writestr(info.filename, data)
    return path.read_bytes()


def _play(body: dict[str, Any]) -> Reply:
    """Do the job as a model would: look at structure, looks and cells, edit, read back."""
    turn = turn_of(body)
    results = [json.loads(m["content"]) for m in body["messages"] if m["role"] == "tool"]
    match phase_of(body):
        case "research" if turn == 0:
            return calls(
                call("get_file_map", {"path": "budget.xlsx"}),
                call("xlsx_get_styles", {"path": "budget.xlsx", "sheet": "Budget"}),
                call("read_file", {"path": "budget.xlsx", "sheet": "Budget", "range": "A1:B4"}),
            )
        case "research":
            looks = {look["style"].get("number_format", "") for look in results[1]["cell_formats"]}
            charts = results[0]["sheets"][0]["has_charts"]
            return text(f"Charts: {charts}. Looks: {sorted(looks)}. Cells: {results[2]['text']}")
        case "plan":
            return text(PLAN)
        case "implement" if turn == 0:
            style = {"number_format": "#,##0.00", "font_italic": "very"}
            cell = {"cell": "B2", "value": 750, "style": style}
            edit = {"op": "set_cells", "sheet": "Budget", "cells": [cell]}
            return calls(call("xlsx_operations", {"path": "budget.xlsx", "operations": [edit]}))
        case "implement" if turn == 1:
            return calls(call("read_file", {"path": "budget.xlsx", "range": "Budget!A2:B4"}))
        case "implement":
            return text(f"Warned: {results[0]['warnings']}. Read back: {results[1]['text']}")
        case _:
            return text("The rent in budget.xlsx is 750.")


@on_trio
def test_a_model_edits_a_foreign_workbook(
    short_dir: Path, anyio_backend: str, tmp_path: Path
) -> None:
    """It sees chart, looks and results; its edit leaves all else, and no old sum is shown."""
    original = _budget(tmp_path / "budget.xlsx")
    with model_server(_play) as server:
        environment = {"OPENAI_BASE_URL": server.base_url, "KBD_MODEL": "openai:clerk"}
        daemon = RealDaemon(short_dir / "h", anyio_backend, environment)
        daemon.start()
        try:
            workbench_id = daemon.workbench(tmp_path / "budget.xlsx")
            run = daemon.run_prompt(workbench_id, "the rent is 750 from now on")
            assert run["status"] == "finished", run
            assert [item["state"] for item in run["items"]] == ["done"]
            _check_said(daemon.events(workbench_id))
            (change,) = daemon.ask("ReviewGetChangeSet", workbench_id=workbench_id)["changes"]
            assert change["change_type"] == "modified"
            assert [warning.split(" cannot")[0] for warning in change["warnings"]] == [
                "style font_italic"
            ]
            daemon.ask("DraftPublish", workbench_id=workbench_id)
        finally:
            daemon.stop()
        published = short_dir / "h" / "workbenches" / workbench_id / "published" / "budget.xlsx"
        _check_file(original, published.read_bytes())
    assert (tmp_path / "budget.xlsx").read_bytes() == original


def _check_said(events: list[dict[str, Any]]) -> None:
    """What the model saw: the chart, the looks, the stored sum; then the one that is right."""
    research = next(e["data"]["text"] for e in events if e["type"] == "ResearchWritten")
    done = next(e["data"]["text"] for e in events if e["type"] == "ItemCompleted")
    assert "Charts: True" in research
    assert "#,##0.00" in research
    assert "=SUM(B2:B3) [stored: 950]" in research
    assert "font_italic" in done
    assert "=SUM(B2:B3) [stored: 1000]" in done


def _check_file(before: bytes, after: bytes) -> None:
    with zipfile.ZipFile(io.BytesIO(before)) as old, zipfile.ZipFile(io.BytesIO(after)) as new:
        assert old.namelist() == new.namelist()
        changed = {name for name in old.namelist() if old.read(name) != new.read(name)}
    # The workbook part asks for a calculation already.
    assert changed == {"xl/worksheets/sheet1.xml", "xl/styles.xml"}
    sheet = openpyxl.load_workbook(io.BytesIO(after), data_only=True)["Budget"]
    assert (sheet["B2"].value, sheet["B2"].number_format) == (750, "#,##0.00")
    assert (sheet["B3"].value, sheet["B4"].value) == (250, 1000)
