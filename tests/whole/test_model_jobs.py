"""Whole jobs of a model behind HTTP: the real tools, and a provider that is not there at first."""

import io
import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from backends import on_asyncio, on_trio
from model_server import Reply, call, calls, model_server, phase_of, text, turn_of
from real_daemon import RealDaemon

SALES = "Day,Kind,Sum\n2024-01-02,Food,1.50\n2024-01-01,Rent,700.00\n2024-01-03,Food,2.25\n"
PROMPT = "a sheet with the food sorted by day, and one with the total of each kind"
PLAN = """# Execution Plan

## Task
Two sheets in report.xlsx

## Items
- [ ] 1. Entity: Food — sheet Food of report.xlsx with the rows of Food
- [ ] 2. Final: Totals — sheet Totals of report.xlsx with a total a kind

## Notes
- sales.csv has 3 rows
"""
QUERIES = {
    "Food": "SELECT Day, Sum FROM data WHERE Kind = 'Food' ORDER BY Day",
    "Totals": "SELECT Kind, sum(Sum) AS Total FROM data GROUP BY Kind ORDER BY Kind",
}


def _results(body: dict[str, Any]) -> list[Any]:
    """Return what the tools answered in this chain; an error fails the script."""
    answers = [m["content"] for m in body["messages"] if m["role"] == "tool"]
    return [json.loads(answer) for answer in answers]


def _play(body: dict[str, Any]) -> Reply:
    """Do the job as a model would: look, plan, write each sheet, read it back, sum up."""
    turn, found = turn_of(body), _results(body)
    match phase_of(body):
        case "research" if turn == 0:
            return calls(call("get_file_map", {"path": "sales.csv"}))
        case "research" if turn == 1:
            assert found[0]["columns"] == ["Day", "Kind", "Sum"]
            query = "SELECT Kind, count(*) AS n FROM data GROUP BY Kind ORDER BY Kind"
            return calls(call("table_query", {"path": "sales.csv", "query": query}))
        case "research":
            return text(f"# Research\n\nKinds with their rows: {found[1]['rows']}")
        case "plan":
            assert "[['Food', 2], ['Rent', 1]]" in json.dumps(body["messages"])
            return text(PLAN)
        case "implement":
            return _item(body, turn, found)
        case _:
            return text("report.xlsx has the sheets Food and Totals.")


def _item(body: dict[str, Any], turn: int, found: list[Any]) -> Reply:
    """Write the sheet of the item that is asked for, and read it back."""
    opening = "\n".join(str(m["content"]) for m in body["messages"] if m["role"] == "user")
    number = re.findall(r'<item number="(\d+)"', opening)[-1]
    sheet = ("Food", "Totals")[int(number) - 1]
    if turn == 0:
        export = {
            "path": "sales.csv", "target_path": "report.xlsx", "sheet": sheet,
            "mode": "replace_sheet", "query": QUERIES[sheet],
        }  # fmt: skip
        return calls(call("table_update_from_export", export, f"export{number}"))
    if turn == 1:
        where = {"path": "draft/report.xlsx", "sheet": sheet, "range": found[0]["written_range"]}
        return calls(call("read_file", where, f"read{number}"))
    return text(f"Sheet {sheet} reads: {found[1]['text']}")


@contextmanager
def _daemon(home: Path, backend: str, base_url: str) -> Iterator[RealDaemon]:
    environment = {
        "OPENAI_BASE_URL": base_url, "KBD_MODEL": "openai:clerk", "KBD_RUN_RETRY_S": "0.01",
    }  # fmt: skip
    daemon = RealDaemon(home, backend, environment)
    daemon.start()
    try:
        yield daemon
    finally:
        daemon.stop()


def _check_result(daemon: RealDaemon, workbench_id: str) -> None:
    """Look at what was published, and at what the items said that they had read back."""
    daemon.ask("DraftPublish", workbench_id=workbench_id)
    folder = daemon.home / "workbenches" / workbench_id / "published"
    book = openpyxl.load_workbook(io.BytesIO((folder / "report.xlsx").read_bytes()))
    food = list(book["Food"].iter_rows(values_only=True))
    totals = list(book["Totals"].iter_rows(values_only=True))

    assert book.sheetnames == ["Food", "Totals"]
    assert [(str(day)[:10], amount) for day, amount in food] == [
        ("Day", "Sum"), ("2024-01-02", 1.5), ("2024-01-03", 2.25),
    ]  # fmt: skip
    assert totals == [("Kind", "Total"), ("Food", 3.75), ("Rent", 700)]
    events = daemon.events(workbench_id)
    said = [e["data"]["text"] for e in events if e["type"] == "ItemCompleted"]
    assert "2\t2024-01-02\t1.5" in said[0]
    assert "3\tRent\t700" in said[1]


@on_asyncio
@pytest.mark.full
def test_a_model_does_a_job(short_dir: Path, anyio_backend: str, tmp_path: Path) -> None:
    """It reads the map, queries, writes two sheets, reads them back; all of it is in the log."""
    (tmp_path / "sales.csv").write_text(SALES)
    with (
        model_server(_play) as server,
        _daemon(short_dir / "h", anyio_backend, server.base_url) as daemon,
    ):
        workbench_id = daemon.workbench(tmp_path / "sales.csv")
        run = daemon.run_prompt(workbench_id, PROMPT)

        assert run["status"] == "finished", run
        assert [item["state"] for item in run["items"]] == ["done", "done"]
        _check_result(daemon, workbench_id)
        called = [
            e["data"]["tool"] for e in daemon.events(workbench_id) if e["type"] == "ToolCalled"
        ]
        assert called == [
            "get_file_map", "table_query", *["table_update_from_export", "read_file"] * 2,
        ]  # fmt: skip


@on_trio
@pytest.mark.full  # In the first tier, runs go on against a faulty server.
def test_a_run_goes_on_when_its_provider_is_back(
    short_dir: Path, anyio_backend: str, tmp_path: Path
) -> None:
    """A refused connection ends the run with its code; the same run is then done to its end."""
    (tmp_path / "sales.csv").write_text(SALES)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with _daemon(short_dir / "h", anyio_backend, f"http://127.0.0.1:{port}/v1") as daemon:
        workbench_id = daemon.workbench(tmp_path / "sales.csv")
        failed = daemon.run_prompt(workbench_id, PROMPT)

        assert failed["status"] == "failed"
        assert failed["error"]["error_code"] in ("NETWORK_UNAVAILABLE", "PROVIDER_UNAVAILABLE")
        assert failed["error"]["subphase"] == "rpi_research"
        assert failed["error"]["retryable"]
        assert str(port) not in failed["error"]["message"]
        with model_server(_play, port):
            again = daemon.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)
            assert again["run_id"] == failed["run_id"]
            assert daemon.wait_for_run(again["run_id"])["status"] == "finished"
        _check_result(daemon, workbench_id)
