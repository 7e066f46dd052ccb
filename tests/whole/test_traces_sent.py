"""Traces sent to a collector: once each, without anybody waiting, and nowhere else."""

import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from real_daemon import RealDaemon
from trace_collector import TraceCollector, collecting

PROMPT = "total Amount by Shop"
QUIET_S = 1.5


@pytest.fixture
def collector() -> Iterator[TraceCollector]:
    """A collector that answers."""
    with collecting() as made:
        yield made


@pytest.fixture
def start(short_dir: Path, anyio_backend: str) -> Iterator[Callable[..., RealDaemon]]:
    """Start a daemon that sends to an address."""
    with ExitStack() as stack:

        def begin(address: str, **settings: str) -> RealDaemon:
            environment = {"KBD_OTEL_ENDPOINT": address, **settings}
            daemon = RealDaemon(short_dir / "home", anyio_backend, environment)
            stack.callback(daemon.stop)
            daemon.start()
            return daemon

        yield begin


def run_once(daemon: RealDaemon, folder: Path) -> str:
    """Run a prompt to its end; return the run's id."""
    source = folder / "t.csv"
    source.write_text("Shop,Amount\nBaker,4\nGrocer,31\n")
    workbench = daemon.workbench(source)
    return str(daemon.run_prompt(workbench, PROMPT)["run_id"])


def run_of(spans: list[dict[str, Any]] | None) -> str:
    """Return the run that a trace is of."""
    assert spans is not None
    (found,) = (each["value"] for each in spans[0]["attributes"] if each["key"] == "kbd.run.id")
    return str(found["stringValue"])


def marks(daemon: RealDaemon) -> list[str]:
    """Return the runs whose traces are still to be sent."""
    return sorted(path.name for path in (daemon.home / "daemon" / "traces").glob("*"))


def _egress(daemon: RealDaemon, workbench_id: str) -> Any:
    """Return what `kbd egress` tells of a workbench."""
    command = ["-m", "kbd", "--home", str(daemon.home), "egress", workbench_id, "--json"]
    told = subprocess.run([sys.executable, *command], check=True, capture_output=True, timeout=60)
    return json.loads(told.stdout)


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something is so."""
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_each_run_is_sent_once_when_it_ends(
    start: Callable[..., RealDaemon], collector: TraceCollector, short_dir: Path
) -> None:
    """Recorded first, without content, and not again by the next daemon."""
    daemon = start(collector.address)
    runs = [run_once(daemon, short_dir) for _ in range(2)]
    traces = [collector.receive() for _ in runs]

    assert [run_of(each) for each in traces] == runs
    assert PROMPT not in str(traces)
    assert {head["path"] for head in collector.heads} == {"/v1/traces"}
    assert {head["Content-Type"] for head in collector.heads} == {"application/json"}
    wait_for(lambda: marks(daemon) == [])
    listed = daemon.ask("EgressListEvents", workbench_id="daemon")["events"]
    assert [(each["purpose"], each["run_id"]) for each in listed] == [("trace", r) for r in runs]
    assert {each["endpoint"] for each in listed} == {collector.address.split("/")[2]}
    assert listed[0]["bytes_out"] > len(str(traces[0])) / 2
    # Whoever asks for one workbench is told of its traces, and of no other's.
    told = [_egress(daemon, run_id.partition("-")[0])["events"] for run_id in runs]
    assert told == [listed[:1], listed[1:]]
    daemon.stop()
    daemon.start()
    assert collector.receive(QUIET_S) is None


def test_content_is_sent_if_the_settings_say_so(
    start: Callable[..., RealDaemon], collector: TraceCollector, short_dir: Path
) -> None:
    """And the log says that it was."""
    daemon = start(collector.address, KBD_OTEL_CONTENT="true")
    run_once(daemon, short_dir)
    assert PROMPT in str(collector.receive())
    (sent,) = (each for each in daemon.events("daemon") if each["type"] == "TraceSent")
    assert sent["data"]["has_content"] is True


def test_a_dead_collector_delays_nothing_and_gets_the_trace_later(
    start: Callable[..., RealDaemon], short_dir: Path
) -> None:
    """Also after a crash: what was not taken is still to be sent, once it answers."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # Bound and not listening: nobody answers there.
        port = held.getsockname()[1]
        daemon = start(f"http://127.0.0.1:{port}/v1/traces")
        runs = [run_once(daemon, short_dir) for _ in range(2)]
        wait_for(lambda: "trace_not_sent" in daemon.log.read_text())
        assert marks(daemon) == sorted(runs)
        daemon.kill()
    with collecting(port) as collector:
        daemon.start()
        assert sorted(run_of(collector.receive()) for _ in runs) == sorted(runs)
        wait_for(lambda: marks(daemon) == [])
        assert daemon.stop() == 0
    assert daemon.log.read_text().count("trace_not_sent") == 1


@pytest.mark.parametrize(("status", "times"), [(503, 2), (400, 1), (307, 1)])
def test_a_refusal_is_told_and_what_passes_is_tried_again(
    start: Callable[..., RealDaemon],
    collector: TraceCollector,
    short_dir: Path,
    status: int,
    times: int,
) -> None:
    """No redirect is followed: it names another address than a person did."""
    collector.answers.append(status)
    daemon = start(collector.address)
    run_id = run_once(daemon, short_dir)
    assert [run_of(collector.receive()) for _ in range(times)] == [run_id] * times
    wait_for(lambda: marks(daemon) == [])
    assert collector.receive(QUIET_S) is None
    assert {head["path"] for head in collector.heads} == {"/v1/traces"}
    assert str(status) in daemon.log.read_text()


def test_hosts_that_the_settings_do_not_name_get_nothing(
    start: Callable[..., RealDaemon], collector: TraceCollector, short_dir: Path
) -> None:
    """`egress.hosts` holds for collectors, too."""
    daemon = start(collector.address, KBD_EGRESS_HOSTS="models.example")
    run_once(daemon, short_dir)
    wait_for(lambda: "trace_not_sent" in daemon.log.read_text())
    assert "egress.hosts does not name it" in daemon.log.read_text()
    assert collector.receive(0.1) is None


def test_without_the_setting_nothing_is_marked_and_nothing_sent(
    start: Callable[..., RealDaemon], short_dir: Path
) -> None:
    """There is no telemetry."""
    daemon = start("")
    run_once(daemon, short_dir)
    assert not (daemon.home / "daemon" / "traces").exists()
    assert "TraceSent" not in {each["type"] for each in daemon.events("daemon")}


def test_a_workbench_that_is_deleted_leaves_no_mark(
    start: Callable[..., RealDaemon], collector: TraceCollector, short_dir: Path
) -> None:
    """What is not there any more is not sent again."""
    collector.answers.append(503)
    daemon = start(collector.address)
    run_id = run_once(daemon, short_dir)
    assert run_of(collector.receive()) == run_id
    workbench_id = run_id.partition("-")[0]
    daemon.ask("DraftDiscard", workbench_id=workbench_id)
    daemon.ask("WorkbenchDelete", workbench_id=workbench_id)
    wait_for(lambda: marks(daemon) == [])
    assert collector.receive(QUIET_S) is None
