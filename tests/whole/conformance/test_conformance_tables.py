"""Conformance of tables: map, columns, statistics, rows, exports, by the methods of clients."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from wired import Wired

SALES = "region,amount,active\nwest,10,true\neast,3,false\nwest,5,true\n"
BY_REGION = "SELECT region, sum(amount) AS total FROM data GROUP BY region ORDER BY region"


@pytest.fixture(scope="module")
def environment() -> Mapping[str, str]:
    """Room for workbooks."""
    return {"KBD_LIMITS_FILE_BYTES": "1000000"}


@pytest.fixture
def sales(wire: Wired) -> str:
    """A workbench with a table."""
    return wire.workbench(sales__csv=SALES)


def ask(wire: Wired, workbench_id: str, method: str, **more: Any) -> Any:
    """Ask one of the seven methods about the table."""
    return wire.ask(method, workbench_id=workbench_id, path="sales.csv", **more)


def drafted(wire: Wired, workbench_id: str, name: str) -> Any:
    """Open a workbook of the draft."""
    return openpyxl.load_workbook(wire.published(workbench_id).parent / "draft" / name)


def test_a_table_is_mapped_described_and_measured(wire: Wired, sales: str) -> None:
    """Conformance 117: rows, columns, encoding; values that are there; figures by type."""
    found = ask(wire, sales, "TabularGetMap")
    assert (found["row_count"], found["column_count"]) == (3, 3)
    assert (found["encoding_detected"], found["reading"]["encoding"]) == ("utf-8", "utf-8")
    described = ask(wire, sales, "TabularDescribe")["columns"]
    assert [(each["name"], each["non_null_count"]) for each in described] == [
        ("region", 3), ("amount", 3), ("active", 3),
    ]  # fmt: skip
    region, amount, active = ask(wire, sales, "TabularGetStats")["columns"]
    assert (amount["min"], amount["max"], amount["sum"]) == (3, 10, 18)
    assert region["most_common"][0] == {"value": "west", "count": 2}
    assert (active["true_count"], active["false_count"]) == (2, 1)
    assert "min_length" not in active


def test_rows_are_read_by_number(wire: Wired, sales: str) -> None:
    """Conformance 118: two rows from the second one on, of three."""
    found = ask(wire, sales, "TabularReadRows", row_start=2, row_count=2)
    assert found["rows"] == [["east", 3, False], ["west", 5, True]]
    assert (found["row_count"], found["total_rows"]) == (2, 3)


def test_an_export_over_its_own_source_is_seen(wire: Wired, sales: str) -> None:
    """Conformance 120: the next map has the new rows, and so has that of what was published."""
    fewer = "SELECT * FROM data WHERE region = 'west' ORDER BY amount"
    done = ask(wire, sales, "TabularExport", target_path="sales.csv", format="csv", query=fewer)
    assert (done["ok"], done["row_count"]) == (True, 2)
    assert ask(wire, sales, "TabularGetMap")["row_count"] == 2
    assert ask(wire, sales, "TabularGetMap", root="published")["row_count"] == 3
    wire.ask("DraftPublish", workbench_id=sales)
    assert ask(wire, sales, "TabularGetMap", root="published")["row_count"] == 2


def test_sheets_are_updated_from_an_export(wire: Wired, sales: str, tmp_path: Path) -> None:
    """Conformance 121: replaced, appended to, written at a cell; other sheets as they were."""
    book = openpyxl.Workbook()
    book.active.title = "Out"  # type: ignore[union-attr]
    book.create_sheet("Other")["B2"] = "kept"
    book.save(tmp_path / "r.xlsx")
    wire.add(sales, tmp_path / "r.xlsx")
    given = {"target_path": "r.xlsx", "sheet": "Out"}

    replaced = ask(
        wire, sales, "TabularUpdateFromExport", mode="replace_sheet", query=BY_REGION, **given
    )
    assert (replaced["ok"], replaced["written_range"]) == (True, "A1:B3")
    one = "SELECT region, amount FROM data ORDER BY amount LIMIT 1"
    appended = ask(wire, sales, "TabularUpdateFromExport", mode="append_rows", query=one, **given)
    assert appended["written_range"] == "A4:B4"
    assert any("header" in each or "column" in each for each in appended["warnings"])
    loose = "SELECT region, sum(amount) AS total FROM data GROUP BY region"
    placed = ask(
        wire, sales, "TabularUpdateFromExport", mode="write_range", start_cell="D2", query=loose,
        include_header=False, **given,
    )  # fmt: skip
    assert placed["written_range"] == "D2:E3"
    assert any("ORDER BY" in each for each in placed["warnings"])
    written = drafted(wire, sales, "r.xlsx")
    assert [[cell.value for cell in row] for row in written["Out"]["A1:B4"]] == [
        ["region", "total"], ["east", 3], ["west", 15], ["east", 3],
    ]  # fmt: skip
    assert written["Other"]["B2"].value == "kept"


UPDATE = {"target_path": "r.xlsx", "sheet": "S", "mode": "replace_sheet"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"target_path": ""}, "target_path is missing"),
        ({"target_path": "r.txt"}, "must be a workbook"),
        ({"sheet": " "}, "sheet is missing"),
        ({"mode": "pour"}, "mode"),
        ({"mode": "write_range", "start_cell": "12"}, "is not a cell"),
        ({"mode": "append_rows", "clear_target_range": True}, "clear_target_range is for"),
    ],
)
def test_faults_of_an_update_have_words_of_their_own(
    wire: Wired, sales: str, changed: dict[str, Any], said: str
) -> None:
    """Conformance 77: each is refused in words that name it, and nothing is written."""
    error = wire.refused(
        "TabularUpdateFromExport", workbench_id=sales, path="sales.csv", **UPDATE | changed
    )
    assert said in error.message
    assert wire.ask("DraftGetState", workbench_id=sales)["has_draft"] is False


def test_no_draft_is_no_root(wire: Wired, sales: str) -> None:
    """A version that is not there is refused, and the published one is not given in its place."""
    error = wire.refused("TabularGetMap", workbench_id=sales, path="sales.csv", root="draft")
    assert error.data["error_code"] == "VALIDATION_FAILED"
    assert "no draft is open" in error.message


def test_workers_tell_what_they_read(wire: Wired) -> None:
    """Every format with its methods; the methods of tables are those of tools."""
    told = wire.ask("WorkerGetInfo")
    formats = {each["name"]: each for each in told["formats"]}
    assert "XlsxApplyOps" in formats["xlsx"]["methods"]
    assert {name for name in told["tool_methods"] if name.startswith("Tabular")} == {
        "TabularGetMap", "TabularDescribe", "TabularGetStats", "TabularReadRows", "TabularQuery",
        "TabularExport", "TabularExportSheets", "TabularUpdateFromExport",
    }  # fmt: skip
