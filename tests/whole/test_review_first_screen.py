"""`kbd review` over a real daemon: an error that somebody planted is on the first screen."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import docx
import openpyxl
import pytest

from backends import mostly
from kbd.cli import main
from wired import Wired, wired

pytestmark = pytest.mark.full

SCREEN_LINES = 24
ROWS = 40_001


@pytest.fixture(scope="module", params=mostly("asyncio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param), more={"KBD_LIMITS_FILE_BYTES": "100000000"}) as running:
        yield running


def first_screen(wire: Wired, workbench_id: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Return what a terminal of 24 lines shows of a review, without scrolling."""
    capsys.readouterr()
    assert main(("--home", str(wire.daemon.home), "review", workbench_id)) == 0
    return "\n".join(capsys.readouterr().out.splitlines()[:SCREEN_LINES])


def test_swapped_digits_in_a_table_of_a_document(
    wire: Wired, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """314.60 for 341.60, deep in a document, beside a new file of many lines."""
    document = docx.Document()
    for number in range(400):
        document.add_paragraph(f"Paragraph {number} of the contract, as it was agreed.")
    table = document.add_table(30, 3)
    table.cell(17, 2).text = "341.60"
    document.save(str(tmp_path / "contract.docx"))
    workbench_id = wire.workbench()
    wire.add(workbench_id, tmp_path / "contract.docx")
    wire.draft(workbench_id, new__txt="a new line\n" * 500)
    cell = {"row": 17, "col": 2, "text": "314.60"}
    planted = {"op": "set_table_cells", "table": 0, "cells": [cell]}
    wire.ask("DocxApplyOps", workbench_id=workbench_id, path="contract.docx", ops=[planted])
    shown = first_screen(wire, workbench_id, capsys)
    assert "table 1, row 18, column 3" in shown
    assert "341.60" in shown
    assert "314.60" in shown


def test_a_figure_far_down_in_a_sheet(
    wire: Wired, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In row 40,000, beside a sheet that the draft adds."""
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("Data")
    for number in range(1, ROWS):
        sheet.append([number, f"item {number % 97}", number * 1.5])
    book.save(tmp_path / "book.xlsx")
    workbench_id = wire.workbench()
    wire.add(workbench_id, tmp_path / "book.xlsx")
    shutil.rmtree(tmp_path)
    values = [[number, "total"] for number in range(300)]
    added = {"op": "set_range", "sheet": "Summary", "start": "A1", "values": values}
    cells = [{"cell": "C40000", "value": 314.6}]
    planted = {"op": "set_cells", "sheet": "Data", "cells": cells}
    made = {"op": "ensure_sheet", "sheet": "Summary"}
    ops = [made, added, planted]
    wire.ask("XlsxApplyOps", workbench_id=workbench_id, path="book.xlsx", ops=ops)
    shown = first_screen(wire, workbench_id, capsys)
    assert "Data!C40000  60000.0 -> 314.6" in shown or "Data!C40000  60000 -> 314.6" in shown
