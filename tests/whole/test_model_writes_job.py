"""A model behind HTTP that writes a job: one call, all or nothing, in the log, replayed."""

import io
import json
import re
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from model_server import Reply, call, calls, model_server, phase_of, text, turn_of
from real_daemon import RealDaemon

SALES = "Day,Kind,Sum\n2024-01-02,Food,1.50\n2024-01-01,Rent,700.00\n2024-01-03,Food,2.25\n"
PLAN = """# Execution Plan

## Task
A sheet a kind in report.xlsx

## Items
- [ ] 1. Job: a sheet a kind, with totals

## Notes
- sales.csv has 3 rows
"""
JOB: dict[str, Any] = {
    "inputs": [{"name": "sales", "file": "sales.csv", "columns": {"Sum": "number"}}],
    "steps": [
        {"do": "split", "by": "Kind", "file": "report.xlsx"},
        {
            "do": "group",
            "by": ["Kind"],
            "figures": [{"name": "Total", "function": "sum", "column": "Sum"}],
        },
        {"do": "write", "file": "report.xlsx", "sheet": "Totals"},
    ],
}
WRONG = {**JOB, "inputs": [{**JOB["inputs"][0], "columns": {"Summ": "number"}}]}


def _play(body: dict[str, Any]) -> Reply:
    """Plan one item, write a job with a misspelt column, mend it by the error, and be done."""
    turn = turn_of(body)
    match phase_of(body):
        case "research":
            return text("# Research\n\nsales.csv has Day, Kind, Sum.")
        case "plan":
            return text(PLAN)
        case "implement" if turn == 0:
            return calls(call("run_job", {"job": WRONG}, "c1"))
        case "implement" if turn == 1:
            answer = [m["content"] for m in body["messages"] if m["role"] == "tool"][-1]
            named = re.search(r'did you mean "(\w+)"', str(answer))
            assert named is not None, answer
            columns = {named.group(1): "number"}
            mended = {**JOB, "inputs": [{**JOB["inputs"][0], "columns": columns}]}
            return calls(call("run_job", {"job": mended}, "c2"))
        case _:
            return text("report.xlsx has a sheet a kind, and Totals.")


@pytest.mark.parametrize("anyio_backend", [pytest.param("trio")])
def test_a_model_writes_a_job_and_mends_it(
    short_dir: Path, anyio_backend: str, tmp_path: Path
) -> None:
    """Two calls do what typed tools need a dozen for; log, replay and proof have each step."""
    (tmp_path / "sales.csv").write_text(SALES)
    with model_server(_play) as server:
        environment = {"OPENAI_BASE_URL": server.base_url, "KBD_MODEL": "openai:clerk"}
        daemon = RealDaemon(short_dir / "h", anyio_backend, environment)
        daemon.start()
        try:
            workbench_id = daemon.workbench(tmp_path / "sales.csv")
            run = daemon.run_prompt(workbench_id, "a sheet a kind, and the totals")
            assert run["status"] == "finished", run
            _check(daemon, workbench_id, run["run_id"])
        finally:
            daemon.stop()


def _check(daemon: RealDaemon, workbench_id: str, run_id: str) -> None:
    events = daemon.events(workbench_id)
    returned = [e["data"] for e in events if e["type"] == "ToolReturned"]
    assert [each["ok"] for each in returned] == [False, True]
    nested = returned[1]["noted"]["nested"]
    job = json.loads(returned[1]["shown"])["job"]
    assert {each["job"] for each in nested} == {job}
    # The checks are asked for by the call that writes, and nowhere else.
    assert [each["tool"] for each in nested] == [
        "table_get_map", "table_query", "table_export_sheets"
    ]  # fmt: skip
    assert "count(*)" in json.loads(nested[-1]["arguments"])["ask"][0]

    steps = daemon.ask("ReplaySteps", run_id=run_id)["steps"]
    shown = [step["call"] for step in steps if "call" in step]
    assert [each["job"] for each in shown[-1]["nested"]] == [job] * len(nested)
    assert "SELECT" in shown[-1]["nested"][-1]["arguments"]

    proof = daemon.ask("ReplayRun", run_id=run_id)
    assert proof["divergences"] == []
    assert proof["skipped"] == []

    daemon.ask("DraftPublish", workbench_id=workbench_id)
    folder = daemon.home / "workbenches" / workbench_id / "published"
    data = io.BytesIO((folder / "report.xlsx").read_bytes())
    book = openpyxl.load_workbook(data, data_only=True)
    assert book.sheetnames == ["Food", "Rent", "Totals"]
    totals = list(book["Totals"].iter_rows(values_only=True))
    assert totals == [("Kind", "Total"), ("Food", 3.75), ("Rent", 700)]
