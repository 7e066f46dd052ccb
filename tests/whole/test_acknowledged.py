"""kill -9 while many clients are answered: what was acknowledged is in the log, once."""

import random
import threading
import time
from pathlib import Path

import pytest

from kbd.client.blocking import ConnectionLostError
from real_daemon import RealDaemon

CLIENTS = 16


def _write(daemon: RealDaemon, workbench_id: str, length: int, acknowledged: list[str]) -> None:
    """Send message after message until the daemon dies; note each that it has answered."""
    params = {"workbench_id": workbench_id, "text": "t" * length}
    try:
        with daemon.client() as client:
            while True:
                answer = client.send("WorkshopSendUserMessage", params)
                acknowledged.append(str(answer["message_id"]))
    except ConnectionLostError:
        pass  # it was killed


@pytest.mark.parametrize(
    ("backend", "kills"),
    [
        ("asyncio", 2),
        pytest.param("asyncio", 20, marks=pytest.mark.soak),
        pytest.param("trio", 20, marks=pytest.mark.soak),
    ],
)
def test_what_was_acknowledged_outlives_a_kill(short_dir: Path, backend: str, kills: int) -> None:
    """Commands that are committed together are all there after a crash if one was answered."""
    chance = random.Random(7)
    daemon = RealDaemon(short_dir / "home", backend)
    daemon.start()
    acknowledged: list[str] = []
    try:
        workbench_id = daemon.workbench()
        for _ in range(kills):
            before = len(acknowledged)
            writers = [
                threading.Thread(
                    target=_write,
                    args=(daemon, workbench_id, chance.randint(1, 3000), acknowledged),
                )
                for _ in range(CLIENTS)
            ]
            for writer in writers:
                writer.start()
            while len(acknowledged) < before + 50:
                time.sleep(0.01)
            time.sleep(chance.uniform(0, 0.05))
            daemon.kill()
            for writer in writers:
                writer.join()
            daemon.start()
        events = daemon.events(workbench_id)
        assert daemon.ask("LogVerify", workbench_id=workbench_id)["ok"]
    finally:
        daemon.stop()
    recorded = [
        event["data"]["message_id"] for event in events if event["type"] == "UserMessageAdded"
    ]

    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert len(set(recorded)) == len(recorded)
    assert set(acknowledged) <= set(recorded)
