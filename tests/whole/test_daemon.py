"""The daemon itself: one a home, 0600, recovered before it listens, stopped in order."""

import os
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from backends import on_asyncio, on_trio
from kbd.client.blocking import ConnectionLostError, RemoteError
from real_daemon import RealDaemon


@on_trio
def test_a_second_daemon_is_refused(daemon: RealDaemon) -> None:
    """The second daemon of a home ends with 75, names the first, and leaves its socket alone."""
    second = subprocess.run(
        [sys.executable, "-m", "kbd", "--home", str(daemon.home), "daemon"],
        capture_output=True, timeout=60, check=False, text=True,
    )  # fmt: skip

    assert second.returncode == 75
    assert str(daemon.pid) in second.stderr
    assert daemon.ask("EngineGetInfo")["pid"] == daemon.pid


def test_a_start_that_fails_says_why(short_dir: Path) -> None:
    """Of a socket's folder that others may enter it is said what it must be, not where it broke."""
    short_dir.chmod(0o755)
    started = subprocess.run(
        [
            sys.executable, "-m", "kbd", "--home", str(short_dir / "h"), "--socket",
            str(short_dir / "s"), "daemon",
        ],
        capture_output=True, timeout=60, check=False, text=True,
    )  # fmt: skip

    assert started.returncode == 1
    assert "0700" in started.stderr
    assert "TaskGroup" not in started.stderr


@pytest.mark.full
def test_a_thread_that_hangs_keeps_no_daemon(short_dir: Path) -> None:
    """As one does on a network disk that is away: the daemon stops all the same, in order."""
    hang = "import threading, time; threading.Thread(target=time.sleep, args=(3600,)).start()"
    running = RealDaemon(short_dir / "home", preface=hang)
    running.start()

    assert running.stop() == 0


@on_asyncio
def test_home_and_socket_are_private(daemon: RealDaemon) -> None:
    """The home is 0700, the socket 0600."""
    assert stat.S_IMODE(daemon.home.stat().st_mode) == 0o700
    assert stat.S_IMODE(os.stat(daemon.socket).st_mode) == 0o600


@on_asyncio
def test_a_stale_socket_is_replaced(daemon: RealDaemon, tmp_path: Path) -> None:
    """After a kill the next start answers on the same path, with the same workbenches."""
    (tmp_path / "a.txt").write_text("hello")
    workbench_id = daemon.workbench(tmp_path / "a.txt")
    daemon.kill()
    daemon.start()

    files = daemon.ask("WorkbenchFilesList", workbench_id=workbench_id)["files"]
    assert [(row["path"], row["size"]) for row in files] == [("a.txt", 5)]
    types = [event["type"] for event in daemon.events("daemon")]
    assert types.count("DaemonStarted") == 2
    assert daemon.stop() == 0
    assert not os.path.exists(daemon.socket)


@on_trio
def test_what_is_damaged_is_read_only_and_the_rest_works(
    daemon: RealDaemon, tmp_path: Path
) -> None:
    """A flipped byte starts that workbench read-only, naming file and offset; others are whole."""
    (tmp_path / "a.txt").write_text("hello")
    damaged, whole = daemon.workbench(tmp_path / "a.txt"), daemon.workbench(tmp_path / "a.txt")
    daemon.ask("WorkshopSendUserMessage", workbench_id=damaged, text="one")
    daemon.ask("WorkshopSendUserMessage", workbench_id=damaged, text="two")
    daemon.stop()
    segment = next((daemon.home / "workbenches" / damaged / "log").glob("*.kbl"))
    data = bytearray(segment.read_bytes())
    data[200] ^= 1
    segment.write_bytes(data)
    daemon.start()

    with pytest.raises(RemoteError) as refused:
        daemon.ask("WorkshopSendUserMessage", workbench_id=damaged, text="three")
    assert refused.value.data["error_code"] == "LOG_CORRUPT"
    # What waits in it may not be listed: that is said, and of no other.
    for named, unread in (({}, [damaged]), ({"workbench_id": damaged}, [damaged])):
        assert daemon.ask("ApprovalList", **named) == {"approvals": [], "unread": unread}
    assert daemon.ask("ApprovalList", workbench_id=whole) == {"approvals": []}
    assert segment.name in str(refused.value.data)
    assert not daemon.ask("LogVerify", workbench_id=damaged)["ok"]
    daemon.ask("WorkshopSendUserMessage", workbench_id=whole, text="three")
    assert daemon.ask("LogVerify", workbench_id=whole)["ok"]


@pytest.fixture
def impatient(short_dir: Path, anyio_backend: str) -> Iterator[RealDaemon]:
    """A daemon that drops a client after half a second without progress."""
    running = RealDaemon(short_dir / "home", anyio_backend, {"KBD_LIMITS_SEND_S": "0.5"})
    running.start()
    yield running
    running.stop()


@pytest.mark.full
@on_asyncio
def test_fifty_clients_of_which_one_is_stalled(impatient: RealDaemon) -> None:
    """The others are served; the stalled one is dropped with its cursor, and misses nothing."""
    daemon = impatient
    workbench_id = daemon.workbench()
    padding = "x" * 20_000
    for number in range(150):
        daemon.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text=f"{number} {padding}")
    clients = [daemon.client() for _ in range(50)]
    opened = [entered.__enter__() for entered in clients]
    stalled = opened[0]
    stalled.send("EventsSubscribe", {"workbench_id": workbench_id, "after": 0})
    served: list[float] = []

    def serve(client: object) -> None:
        for _ in range(20):
            started = time.monotonic()
            client.send("EngineGetInfo")  # type: ignore[attr-defined]
            served.append(time.monotonic() - started)

    threads = [threading.Thread(target=serve, args=(client,)) for client in opened[1:]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(served) == 49 * 20
    time.sleep(1.5)  # three times as long as a client may stall

    seen: list[int] = []
    lost: ConnectionLostError | None = None
    stalled.on_notification = lambda method, params: seen.extend(
        event["seq"] for event in params.get("events", ())
    )
    try:
        while stalled.wait(5):
            pass
    except ConnectionLostError as error:
        lost = error
    last = daemon.ask("LogHead", workbench_id=workbench_id)["seq"]
    assert lost is not None
    assert seen == list(range(1, len(seen) + 1))
    assert len(seen) < last

    with daemon.client() as again:
        for event in again.follow(workbench_id, after=seen[-1]):
            seen.append(event["seq"])
            if event["seq"] == last:
                break
    assert seen == list(range(1, last + 1))
    for entered in clients:
        entered.__exit__(None, None, None)
