"""The metrics of a real daemon: as an answer, at their socket, in their file."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families as parse

from documentation import table
from real_daemon import RealDaemon

NAME = "salaries"
HEADER = "Verdienst"


@pytest.fixture
def daemon(short_dir: Path, anyio_backend: str) -> Iterator[RealDaemon]:
    """A daemon whose metrics go everywhere."""
    environment = {
        "KBD_METRICS_SOCKET": "true", "KBD_METRICS_FILE": str(short_dir / "kbd.prom"),
        "KBD_METRICS_FILE_S": "1",
    }  # fmt: skip
    running = RealDaemon(short_dir / "home", anyio_backend, environment)
    running.start()
    yield running
    running.stop()


def metrics(text: str) -> dict[str, Metric]:
    """Return the families of a text by their names."""
    return {family.name: family for family in parse(text)}


def value(family: Metric, **labels: str) -> float:
    """Return the one sample with some labels."""
    (found,) = (each.value for each in family.samples if labels.items() <= each.labels.items())
    return float(found)


def scraped(path: Path) -> str:
    """Return what the socket answers."""
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        client.sendall(b"GET /metrics HTTP/1.1\r\nHost: kbd\r\n\r\n")
        received = b"".join(iter(lambda: client.recv(65536), b""))
    return received.decode().partition("\r\n\r\n")[2]


def written_after(path: Path, runs: int) -> str:
    """Wait until the file tells of so many runs, and return it."""
    deadline = time.monotonic() + 30
    while f'kbd_runs{{status="finished"}} {runs}' not in path.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return path.read_text()


def test_metrics_tell_what_was_done_and_nothing_that_is_private(
    daemon: RealDaemon, short_dir: Path
) -> None:
    """Alike in all three places, in a form that Prometheus reads, documented name by name."""
    source = short_dir / f"{NAME}.csv"
    source.write_text(f"Shop,{HEADER}\nBaker,4\nGrocer,31\n")
    workbench = daemon.workbench(source, name=NAME)
    assert daemon.run_prompt(workbench, f"total {HEADER} by Shop")["status"] == "finished"
    daemon.ask("RunList")
    texts = [
        daemon.ask("DaemonGetMetrics")["text"],
        scraped(daemon.home / "metrics.sock"),
        written_after(short_dir / "kbd.prom", 1),
    ]
    for text in texts:
        found = metrics(text)
        assert value(found["kbd_runs"], status="finished") == 1
        assert value(found["kbd_workbenches"], status="draft") == 1
        assert value(found["kbd_run_transitions"], status="finished") == 1
        assert value(found["kbd_tool_calls"], tool="run_job") == 1
        assert value(found["kbd_rpc_requests"], method="WorkbenchCreate", code="ok") == 1
        assert value(found["kbd_events_appended"], type="RunStarted") == 1
        assert value(found["kbd_logs_damaged"]) == 0
        assert value(found["process_resident_memory_bytes"]) > 1e6
        assert abs(value(found["process_start_time_seconds"]) - time.time()) < 600
        for private in (NAME, HEADER, workbench, str(short_dir), "Baker"):
            assert private not in text
        named = {line.split()[2] for line in text.splitlines() if line.startswith("# TYPE ")}
        assert named <= table("reference/metrics.md", "Metrics").keys()


def _kbd_metrics(home: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kbd", "--home", str(home), "metrics"]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)


def test_the_command_prints_them_and_starts_no_daemon(daemon: RealDaemon) -> None:
    """One that was just started would have counted nothing."""
    printed = _kbd_metrics(daemon.home)
    assert printed.returncode == 0
    assert value(metrics(printed.stdout)["kbd_rpc_clients"]) == 1
    daemon.stop()
    assert _kbd_metrics(daemon.home).returncode == 69
    assert not (daemon.home / "kbd.sock").exists()


def test_the_ways_out_are_closed_by_default(short_dir: Path) -> None:
    """Without the settings nothing listens and nothing is written."""
    running = RealDaemon(short_dir / "home")
    running.start()
    assert "kbd_build_info" in running.ask("DaemonGetMetrics")["text"]
    running.stop()
    assert not list(short_dir.rglob("*.prom"))
    assert not (running.home / "metrics.sock").exists()


def test_a_file_that_cannot_be_written_is_told_once(short_dir: Path) -> None:
    """The daemon works on."""
    environment = {
        "KBD_METRICS_FILE": str(short_dir / "no" / "kbd.prom"),
        "KBD_METRICS_FILE_S": "1",
    }
    running = RealDaemon(short_dir / "home", environment=environment)
    running.start()
    deadline = time.monotonic() + 30
    while "metrics_not_written" not in running.log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    time.sleep(2.5)  # two more times
    assert running.ask("RunList")["runs"] == []
    assert running.stop() == 0
    assert running.log.read_text().count("metrics_not_written") == 1
    assert str(short_dir / "no") not in running.log.read_text()
