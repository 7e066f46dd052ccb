"""A run of twelve items in the real daemon, killed or cancelled at its events: the same files."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kbd.client.blocking import Client, ConnectionLostError, NoAnswerError
from model_server import model_server
from real_daemon import RealDaemon
from whole.twelve_items import REQUEST, play_over_http, table

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

JOBS, STOPS = 6, 5
"""So many runs, each stopped so many times: thirty in all."""


@pytest.fixture
def twelve(short_dir: Path, anyio_backend: str) -> Iterator[RealDaemon]:
    """A daemon whose model does the twelve items."""
    with model_server(play_over_http) as server:
        environment = {
            "OPENAI_BASE_URL": server.base_url,
            "KBD_MODEL": "openai:clerk",
            "KBD_RUN_RETRY_S": "0.01",
        }
        running = RealDaemon(short_dir / "home", anyio_backend, environment)
        running.start()
        yield running
        running.stop()


def _files(events: list[dict[str, Any]]) -> dict[str, str | None]:
    """Return the hash of what each file of the draft came to."""
    changes = [event["data"] for event in events if event["type"] == "FileChanged"]
    return {change["name"]: change.get("after") for change in changes}


def _at_event(daemon: RealDaemon, workbench_id: str, seq: int, act: Callable[[], None]) -> None:
    """Follow a log and act as soon as an event is shown."""
    try:
        with Client(daemon.socket) as client:
            for event in client.follow(workbench_id):
                if event["seq"] >= seq:
                    act()
                    return
    except (ConnectionLostError, NoAnswerError, OSError):
        return


def _begun(daemon: RealDaemon, source: Path) -> str:
    workbench_id = daemon.workbench(source)
    daemon.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text=REQUEST)
    return workbench_id


def _gone_on(daemon: RealDaemon, workbench_id: str) -> str:
    run = daemon.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)
    return str(run["run_id"])


def _ended(daemon: RealDaemon, workbench_id: str) -> list[dict[str, Any]]:
    """Go on to the end and return the events: each call ended once, the log verifies."""
    run = daemon.wait_for_run(_gone_on(daemon, workbench_id))
    assert run["status"] == "finished", run
    events = daemon.events(workbench_id)
    ended = [event["data"]["call_id"] for event in events if event["type"] == "ToolReturned"]
    assert len(ended) == len(set(ended)) > 20
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert daemon.ask("LogVerify", workbench_id=workbench_id)["ok"]
    states = [item["state"] for item in run["items"]]
    assert states == ["failed" if place == 5 else "done" for place in range(1, len(states) + 1)]
    return events


def _stops(first: int, events: int) -> Iterator[int]:
    """Spread the stops of all jobs over the events of a run, each job's in rising order."""
    step = events / (JOBS * STOPS)
    for number in range(STOPS):
        yield 3 + int(step * (number * JOBS + first))


def test_a_run_is_killed_at_thirty_events(twelve: RealDaemon, tmp_path: Path) -> None:
    """Real kill -9 once an event is shown: what was shown is there, the files are the same."""
    source = table(tmp_path / "sales.csv")
    whole = _ended(twelve, _begun(twelve, source))
    kills = 0
    for job in range(JOBS):
        workbench_id = _begun(twelve, source)
        for seq in _stops(job, len(whole)):
            follower = threading.Thread(
                target=_at_event, args=(twelve, workbench_id, seq, twelve.kill)
            )
            follower.start()
            try:
                _gone_on(twelve, workbench_id)
            except (ConnectionLostError, NoAnswerError, OSError):
                pass  # It was killed before it could answer.
            follower.join()
            kills += 1
            twelve.start()
            assert twelve.events(workbench_id)[-1]["seq"] >= seq
        assert _files(_ended(twelve, workbench_id)) == _files(whole)
    print(f"\n{twelve.backend}: {kills} kills in {JOBS} runs of {len(whole)} events")
    assert kills == JOBS * STOPS


def test_a_run_is_cancelled_at_thirty_events(twelve: RealDaemon, tmp_path: Path) -> None:
    """After the acknowledgement no tool starts and nothing is written; resumed, the same files."""
    source = table(tmp_path / "sales.csv")
    whole = _ended(twelve, _begun(twelve, source))
    cancels = 0
    for job in range(JOBS):
        workbench_id = _begun(twelve, source)
        answers: list[Any] = []

        def cancel(workbench_id: str = workbench_id, answers: list[Any] = answers) -> None:
            answers.append(twelve.ask("WorkshopCancelRun", workbench_id=workbench_id))

        for seq in _stops(job, len(whole)):
            follower = threading.Thread(target=_at_event, args=(twelve, workbench_id, seq, cancel))
            follower.start()
            run_id = _gone_on(twelve, workbench_id)
            follower.join()
            assert answers.pop() == {"cancel_requested": True}
            assert twelve.wait_for_run(run_id)["status"] == "cancelled"
            types = [event["type"] for event in twelve.events(workbench_id)]
            assert types[-2:] == ["RunCancelRequested", "RunCancelled"]
            cancels += 1
        assert _files(_ended(twelve, workbench_id)) == _files(whole)
    print(f"\n{twelve.backend}: {cancels} cancels in {JOBS} runs of {len(whole)} events")
    assert cancels == JOBS * STOPS
