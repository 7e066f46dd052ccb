"""kill -9 at random moments: nothing acknowledged is lost, nothing finished is done twice."""

import hashlib
import random
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from backends import on_asyncio
from kbd.client.blocking import Client, ConnectionLostError, NoAnswerError
from real_daemon import RealDaemon

PROMPT = "one sheet per category with Date, Amount sorted by date, and a summary sheet with totals"
CATEGORIES = ("Food", "Travel", "Rent", "Gifts")


def _csv(path: Path) -> Path:
    rows = ["Date,Category,Amount"]
    for number in range(60):
        day = 28 - number % 28
        rows.append(f"2024-0{number % 9 + 1}-{day:02},{CATEGORIES[number % 4]},{number}.50")
    path.write_text("\n".join(rows) + "\n")
    return path


class _Witness:
    """Follows a log and remembers every event that the daemon showed."""

    def __init__(self, daemon: RealDaemon, workbench_id: str) -> None:
        self.seen: list[dict[str, Any]] = []
        self._daemon, self._workbench_id = daemon, workbench_id

    def follow(self) -> threading.Thread:
        """Follow from where it is until the daemon dies."""
        thread = threading.Thread(target=self._follow)
        thread.start()
        return thread

    def _follow(self) -> None:
        after = self.seen[-1]["seq"] if self.seen else 0
        try:
            with Client(self._daemon.socket) as client:
                for event in client.follow(self._workbench_id, after=after):
                    self.seen.append(event)
        except (ConnectionLostError, NoAnswerError, OSError):
            return


def _resume(daemon: RealDaemon, workbench_id: str) -> str:
    answer = daemon.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)
    return str(answer["run_id"])


def _drafted(events: list[dict[str, Any]]) -> str:
    """Return the hash of the last version of the workbook that was recorded."""
    changes = [e["data"] for e in events if e["type"] == "FileChanged"]
    return str(changes[-1]["after"])


def _calls(events: list[dict[str, Any]]) -> list[str]:
    return [e["data"]["call_id"] for e in events if e["type"] == "ToolReturned"]


def _run_with_kills(
    daemon: RealDaemon, source: Path, kills: int, seed: int, longest_s: float
) -> str:
    """Run the job, killing the daemon at random moments; return the hash of the result."""
    chance = random.Random(seed)
    workbench_id = daemon.workbench(source)
    witness = _Witness(daemon, workbench_id)
    daemon.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text=PROMPT)
    for _ in range(kills):
        follower = witness.follow()
        _resume(daemon, workbench_id)
        time.sleep(chance.uniform(0.0, longest_s))
        daemon.kill()
        follower.join()
        daemon.start()
        recorded = daemon.events(workbench_id)
        assert witness.seen == recorded[: len(witness.seen)]
    run = daemon.wait_for_run(_resume(daemon, workbench_id))
    assert run["status"] == "finished", run
    events = daemon.events(workbench_id)

    assert witness.seen == events[: len(witness.seen)]
    assert [e["seq"] for e in events] == list(range(1, len(events) + 1))
    returned = _calls(events)
    assert len(returned) == len(set(returned))
    assert [item["state"] for item in run["items"]] == ["done"]
    published = daemon.ask("DraftPublish", workbench_id=workbench_id)
    assert len(published["published"]) == 1
    assert daemon.ask("LogVerify", workbench_id=workbench_id)["ok"]
    return _drafted(events)


def _undisturbed(daemon: RealDaemon, source: Path) -> tuple[str, float]:
    workbench_id = daemon.workbench(source)
    started = time.monotonic()
    run = daemon.run_prompt(workbench_id, PROMPT)
    assert run["status"] == "finished", run
    return _drafted(daemon.events(workbench_id)), time.monotonic() - started


def _prove(daemon: RealDaemon, folder: Path, *, rounds: int, kills: int) -> None:
    source = _csv(folder / "data.csv")
    digest = hashlib.sha256(source.read_bytes()).hexdigest()
    expected, took_s = _undisturbed(daemon, source)
    for number in range(rounds):
        found = _run_with_kills(daemon, source, kills, seed=number, longest_s=took_s / kills)
        assert found == expected
    assert digest == hashlib.sha256(source.read_bytes()).hexdigest()


@on_asyncio
@pytest.mark.full
def test_a_run_survives_kills(daemon: RealDaemon, tmp_path: Path) -> None:
    """One kill: the same bytes come out, and no finished call ran again."""
    _prove(daemon, tmp_path, rounds=1, kills=1)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_runs_survive_a_hundred_kills(daemon: RealDaemon, tmp_path: Path) -> None:
    """A hundred kills on each backend, in twenty jobs."""
    _prove(daemon, tmp_path, rounds=20, kills=5)


@pytest.mark.full
@pytest.mark.parametrize(
    ("anyio_backend", "kills"),
    [
        ("trio", 2),
        pytest.param("asyncio", 20, marks=pytest.mark.soak),
        pytest.param("trio", 20, marks=pytest.mark.soak),
    ],
)
def test_a_publish_survives_kills(daemon: RealDaemon, tmp_path: Path, kills: int) -> None:
    """Killed around the publish: it is completed once, or did not happen; never half of it."""
    chance = random.Random(7)
    source = _csv(tmp_path / "data.csv")
    workbench_id = daemon.workbench(source)
    for number in range(kills):
        name = f"out{number}.xlsx"
        run = daemon.run_prompt(workbench_id, f"convert data.csv to {name}")
        assert [item["state"] for item in run["items"]] == ["done"], run
        thread = threading.Thread(target=_publish, args=(daemon, workbench_id))
        thread.start()
        time.sleep(chance.uniform(0.0, 0.03))
        daemon.kill()
        thread.join()
        daemon.start()
        events = [event["type"] for event in daemon.events(workbench_id)]
        assert events.count("PublishIntended") == events.count("PublishCompleted")
        published = daemon.home / "workbenches" / workbench_id / "published" / name
        if events.count("PublishIntended") <= number:
            assert not published.exists()
            daemon.ask("DraftPublish", workbench_id=workbench_id)
        blob = _drafted(daemon.events(workbench_id))
        assert blob == hashlib.sha256(published.read_bytes()).hexdigest()
    names = [
        row["path"] for row in daemon.ask("WorkbenchFilesList", workbench_id=workbench_id)["files"]
    ]
    assert sorted(["data.csv", *(f"out{number}.xlsx" for number in range(kills))]) == sorted(names)
    assert daemon.ask("LogVerify", workbench_id=workbench_id)["ok"]


def _publish(daemon: RealDaemon, workbench_id: str) -> None:
    try:
        daemon.ask("DraftPublish", workbench_id=workbench_id)
    except (ConnectionLostError, NoAnswerError, OSError):
        return
