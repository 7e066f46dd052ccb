"""Traces of runs, from a real daemon to a file or stdout."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kbd.client.blocking import RemoteError
from real_daemon import RealDaemon

SHOP = "Baecker"


def spans_of(trace: str) -> list[dict[str, Any]]:
    """Return the spans of a trace."""
    (resource,) = json.loads(trace)["resourceSpans"]
    return list(resource["scopeSpans"][0]["spans"])


def _kbd(daemon: RealDaemon, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kbd", "--home", str(daemon.home), *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


def test_a_run_is_written_as_a_trace(daemon: RealDaemon, short_dir: Path) -> None:
    """The same each time, also after a restart; with content only if asked; nothing overwritten."""
    source = short_dir / "t.csv"
    source.write_text(f"Shop,Amount\n{SHOP},4\nGrocer,31\n")
    workbench = daemon.workbench(source)
    run = daemon.run_prompt(workbench, "total Amount by Shop")
    target = short_dir / "trace.json"
    made = _kbd(daemon, "export", workbench, "--otel", "--out", str(target))
    spans = spans_of(target.read_text())

    assert made.returncode == 0, made.stderr
    assert made.stdout == f"{target}: run {run['run_id']}, {len(spans)} spans\n"
    names = [each["name"] for each in spans]
    assert names[0] == "invoke_agent kbd"
    assert {"phase research", "phase plan", "phase implement", "phase summary"} < {*names}
    assert {"chat planner", "execute_tool run_job"} < {*names}
    assert all(int(each["startTimeUnixNano"]) <= int(each["endTimeUnixNano"]) for each in spans)
    ids = {each["spanId"] for each in spans}
    assert [each["name"] for each in spans if each.get("parentSpanId") not in ids] == names[:1]
    for private in (SHOP, "Amount", str(short_dir)):
        assert private not in target.read_text()

    again = _kbd(daemon, "export", workbench, "--otel", "--out", str(target))
    assert (again.returncode, again.stdout) == (1, "")
    assert "cannot be written: File exists" in again.stderr
    daemon.stop()
    daemon.start()
    told = _kbd(daemon, "export", run["run_id"], "--otel", "--out", "-")
    assert spans_of(told.stdout) == spans
    second = daemon.run_prompt(workbench, "total Amount by Shop")
    told = _kbd(daemon, "export", workbench, "--otel", "--all", "--out", "-")
    first_trace, second_trace = map(spans_of, told.stdout.splitlines())
    assert first_trace == spans
    assert second["run_id"] in str(second_trace[0]["attributes"])
    assert _kbd(daemon, "export", workbench, "--all").returncode == 2
    told = _kbd(daemon, "export", run["run_id"], "--otel", "--content", "--out", "-")
    assert "total Amount by Shop" in told.stdout


def test_a_run_that_is_not_there_has_no_trace(daemon: RealDaemon) -> None:
    """It is refused by its code."""
    workbench = daemon.workbench()
    with pytest.raises(RemoteError) as refused:
        daemon.ask("RunGetSpans", run_id=f"{workbench}-1")
    assert refused.value.error_code == "NOT_FOUND"
