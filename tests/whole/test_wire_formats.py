"""The wire methods of formats, over the socket: what a client of the format layer relies on."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from whole.booked import ROWS, book, booked, types_of
from wired import Wired


@pytest.fixture(scope="module")
def wire() -> Iterator[Wired]:
    """One daemon for all tests here, with the plugin for tests installed.

    How the calls of formats are served is proven on each backend with their edits.
    """
    with booked("asyncio") as running:
        yield running


def test_methods_are_those_that_formats_declare(wire: Wired) -> None:
    """rpc.discover lists them with the records of the operations; CSV declares none yet."""
    found = {each["name"]: each for each in wire.ask("rpc.discover")["methods"]}
    named = {
        prefix: {name for name in found if name.startswith(prefix)}
        for prefix in ("Xlsx", "Text", "Csv", "Book")
    }
    assert named["Xlsx"] == {
        "XlsxApplyOps", "XlsxExtractText", "XlsxReadRange", "XlsxGetInfo", "XlsxGetMap",
        "XlsxGetStyles", "XlsxCopyAssets",
    }  # fmt: skip
    assert named["Text"] == {"TextGetMap", "TextReadLines"}
    assert named["Csv"] == set()
    assert named["Book"] == {
        "BookApplyOps", "BookExtractText", "BookGetInfo", "BookGetMap", "BookGetStyles",
        "BookCopyAssets", "BookReadCells",
    }  # fmt: skip
    read = {each["name"]: each["required"] for each in found["XlsxReadRange"]["params"]}
    assert read == {
        "workbench_id": True, "path": True, "root": False, "sheet": False, "range": False,
        "api_version": False,
    }  # fmt: skip
    (ops,) = (each for each in found["XlsxApplyOps"]["params"] if each["name"] == "ops")
    assert "set_cells" in json.dumps(ops["schema"])


def test_of_two_formats_that_claim_a_method_the_second_is_left_out(wire: Wired) -> None:
    """The format stays; its plugin's status has the reason."""
    (status,) = (each for each in wire.ask("PluginsList")["plugins"] if each["name"] == "books")
    assert status["status"] == "loaded"
    assert "method BookApplyOps is left out: plugin books brings one, too" in status["reason"]


def test_what_a_method_does_not_take_is_refused_by_name(wire: Wired) -> None:
    """An unknown parameter, one of another format's reading, a root that cannot be written."""
    workbench_id = wire.workbench(a__txt="x")
    asked: dict[str, Any] = {"workbench_id": workbench_id, "path": "a.txt"}
    assert "`surprise`" in wire.refused("TextGetMap", **asked, surprise=1).message
    assert "`sheet`" in wire.refused("TextReadLines", **asked, sheet="S").message
    refused = wire.refused("BookApplyOps", **asked, ops=[ROWS], root="published")
    assert "$.root" in refused.message
    assert types_of(wire, workbench_id) == ["WorkbenchCreated", "FileAdded"]


def test_a_workbook_is_made_and_read(wire: Wired) -> None:
    """All the format layer, without a model: made, mapped, described, read."""
    workbench_id = wire.workbench()
    asked: dict[str, Any] = {"workbench_id": workbench_id, "path": "sum.xlsx"}
    values = [["Item", "Amount"], ["desk", 12.5]]
    ops = [{"op": "set_range", "sheet": "Summary", "start": "A1", "values": values}]
    made = wire.ask("XlsxApplyOps", **asked, ops=ops, create_new=True)
    assert made == {"ok": True, "applied": 1, "changed": ["Summary!A1:B2"], "warnings": []}
    found = wire.ask("XlsxGetMap", **asked)
    assert [each["name"] for each in found["sheets"]] == ["Summary"]
    about = wire.ask("XlsxGetInfo", **asked)
    assert (about["path"], about["kind"]) == ("sum.xlsx", "spreadsheet")
    read = wire.ask("XlsxReadRange", **asked, sheet="Summary", range="A2:B2")
    assert "desk" in read["text"]
    assert read["rows"] == [["desk", 12.5]]
    assert read["chunk_info"]["range"] == "A2:B2"
    text = wire.ask("XlsxExtractText", **asked)
    assert "desk" in text["text"]
    assert (text["has_more"], text["places"][0]["start"]) == (False, 0)
    (change,) = wire.ask("ReviewGetChangeSet", workbench_id=workbench_id)["changes"]
    assert (change["path"], change["change_type"], change["run_id"]) == ("sum.xlsx", "added", None)


def test_the_root_says_which_version_is_read(wire: Wired) -> None:
    """The draft's if one is open; the published one if asked for; no draft is no version."""
    workbench_id = wire.workbench(b__book='{"A": {"columns": [], "rows": []}}')
    asked: dict[str, Any] = {"workbench_id": workbench_id, "path": "b.book"}

    def sheets(**more: str) -> list[str]:
        found = wire.ask("BookGetMap", **asked, **more)["sheets"]
        return [each["name"] for each in found]

    assert sheets() == sheets(root="published") == ["A"]
    assert "no draft is open" in wire.refused("BookGetMap", **asked, root="draft").message
    book(wire, workbench_id, create_new=False)
    assert sheets() == sheets(root="draft") == ["A", "S"]
    assert sheets(root="published") == ["A"]
    book(wire, workbench_id, "new.book")
    refused = wire.refused(
        "BookGetInfo", workbench_id=workbench_id, path="new.book", root="published"
    )
    assert refused.data["error_code"] == "NOT_FOUND"


def test_all_text_is_read_in_parts(wire: Wired) -> None:
    """The parts, one after the other, are the whole, whatever their size."""
    workbench_id = wire.workbench()
    rows = [["é" * 40, number] for number in range(60)]
    asked: dict[str, Any] = {"workbench_id": workbench_id, "path": "b.book"}
    wire.ask("BookApplyOps", **asked, ops=[{**ROWS, "rows": rows}], create_new=True)
    whole = wire.ask("BookExtractText", **asked)["text"]
    parts: list[str] = []
    cursor: dict[str, int] = {}
    while True:
        part = wire.ask("BookExtractText", **asked, limit=1000, **cursor)
        parts.append(part["text"])
        assert len(part["text"]) <= 1000
        if not part["has_more"]:
            break
        cursor = {key: part[key] for key in ("passage_start", "character_start")}
    assert len(parts) > 3
    assert "".join(parts) == whole


def test_cells_come_as_values(wire: Wired) -> None:
    """What a format tells of them arrives as it is, beside the text."""
    workbench_id = wire.workbench()
    rows = [[1, 2.5, None, True, "x"], [{"date": "2024-01-31"}, "", 0, False, "é"]]
    asked: dict[str, Any] = {"workbench_id": workbench_id, "path": "b.book"}
    wire.ask("BookApplyOps", **asked, ops=[{**ROWS, "rows": rows}], create_new=True)
    read = wire.ask("BookReadCells", **asked, sheet="S")
    assert read == {
        "text": str(rows), "warnings": ["for tests"], "rows": rows,
        "chunk_info": {"chunk_index": 0, "total_chunks": 1, "has_more": False, "range": "1-2"},
    }  # fmt: skip
    assert wire.refused("BookReadCells", **asked, sheet="Z").data["error_code"] == (
        "VALIDATION_FAILED"
    )


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("XlsxGetMap", {"path": "a.txt"}, "VALIDATION_FAILED"),
        ("BookGetMap", {"path": "nope.book"}, "NOT_FOUND"),
        ("BookGetMap", {"path": "../b.book"}, "SANDBOX_VIOLATION"),
        ("BookGetMap", {"path": "/etc/passwd"}, "SANDBOX_VIOLATION"),
        ("BookGetMap", {"path": "b.book", "workbench_id": "0" * 16}, "NOT_FOUND"),
        ("BookGetStyles", {"path": "b.book", "sheet": "Z"}, "VALIDATION_FAILED"),
        ("XlsxReadRange", {"path": "bad.xlsx", "sheet": "S"}, "FILE_READ_FAILED"),
        ("TextReadLines", {"path": "a.txt", "line_start": 0}, "VALIDATION_FAILED"),
    ],
)
def test_a_reading_that_fails_has_its_code(
    wire: Wired, method: str, params: dict[str, Any], code: str
) -> None:
    """It is not recorded: nothing happened."""
    workbench_id = wire.workbench(a__txt="x", b__book="{}", bad__xlsx="no archive")
    refused = wire.refused(method, **{"workbench_id": workbench_id, **params})
    assert refused.data["error_code"] == code
    assert set(types_of(wire, workbench_id)) == {"WorkbenchCreated", "FileAdded"}


def test_the_command_line_calls_them(wire: Wired) -> None:
    """`kbd rpc` takes any method of the daemon's table."""
    workbench_id = wire.workbench(a__txt="one\ntwo\n")
    params = json.dumps({"workbench_id": workbench_id, "path": "a.txt", "line_start": 2})
    done = subprocess.run(
        [sys.executable, "-m", "kbd", "--home", str(wire.daemon.home), "rpc", "TextReadLines",
         params],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert json.loads(done.stdout)["text"] == "two\n"
