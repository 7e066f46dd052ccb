"""Many files through real runs while the daemon is killed: each once, to its end."""

import csv
import io
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kbd.client.blocking import Client, ConnectionLostError, NoAnswerError
from real_daemon import RealDaemon
from whole.watched import QUIET_S, Inbox, Watched

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

FILES, KILLS = 200, 10

STAGES = (
    "FileLanded", "WatchRunStarted", "WorkbenchCreated", "FileAdded", "RunStarted", "ToolReturned",
    "RunFinished", "PublishIntended", "PublishCompleted", "FilesWritten", "EffectIntended",
    "EffectDone", "WatchRunFinished",
)  # fmt: skip
"""What is recorded between a file's landing and its outcome: after each, the daemon is killed."""


@pytest.fixture
def shop(short_dir: Path, anyio_backend: str) -> Iterator[Watched]:
    """A daemon with watched folders, on each backend."""
    daemon = RealDaemon(short_dir / "h", anyio_backend, {"KBD_WATCH_RESCAN_S": "5"})
    daemon.start()
    yield Watched(daemon, short_dir)
    daemon.stop()


def _table(number: int) -> str:
    """Return a table that no other number has."""
    return f"Day,Kind,Sum\n2024-01-02,Late,{number}.50\n2024-01-01,Early,{number}.25\n"


def _is_sorted_table(content: bytes, number: int) -> bool:
    rows = list(csv.reader(io.StringIO(content.decode())))
    late, early = (["2024-01-02", "Late", f"{number}.50"], ["2024-01-01", "Early", f"{number}.25"])
    return rows == [["Day", "Kind", "Sum"], early, late]


def _drop_all(inbox: Inbox, chance: random.Random) -> None:
    """Let the files land in the ways in which files land, a few at a time."""
    for number in range(FILES):
        name, content = f"f{number:03}.csv", _table(number)
        match chance.randrange(4):
            case 0:
                inbox.drop(name, content)
            case 1:
                with (inbox.folder / name).open("w") as slow:
                    slow.write(content[:30])
                    slow.flush()
                    time.sleep(QUIET_S * 2)
                    slow.write(content[30:])
            case 2:
                below = inbox.folder / f"new{number:03}" / "deep"
                below.mkdir(parents=True)
                (below / name).write_text(content)
            case _:
                moved = inbox.folder.parent / f"moved{number:03}"
                moved.mkdir()
                (moved / name).write_text(content)
                moved.rename(inbox.folder / moved.name)
        time.sleep(chance.uniform(0, 0.3))


def test_two_hundred_files_each_run_once_through_kills(shop: Watched) -> None:
    """Killed by -9 at ten random moments: 200 workbenches, one run each, one copy each."""
    began_s, chance = time.monotonic(), random.Random(FILES)
    inbox = shop.inbox("in", limits={"runs_per_hour": 10_000})
    dropper = threading.Thread(target=_drop_all, args=(inbox, random.Random(1)))
    dropper.start()
    for _ in range(KILLS):
        time.sleep(chance.uniform(0.5, 10))
        shop.daemon.kill()
        shop.daemon.start()
    dropper.join()
    watch = inbox.settled(FILES, timeout_s=1800)
    took_s = time.monotonic() - began_s

    assert watch["outcomes"] == {"published": FILES}
    counts = _check_logs(shop, inbox)
    delivered = {Path(path).name: content for path, content in inbox.delivered().items()}
    assert sorted(delivered) == [f"f{number:03}-sorted.csv" for number in range(FILES)]
    assert all(_is_sorted_table(delivered[f"f{n:03}-sorted.csv"], n) for n in range(FILES))
    assert len(inbox.delivered()) == FILES
    shop.daemon.kill()
    shop.daemon.start()
    time.sleep(3)
    assert inbox.shown()["landed"] == FILES
    assert len(shop.daemon.ask("WorkbenchList")["workbenches"]) == FILES
    print(
        f"\n{shop.daemon.backend}: {FILES} files, {KILLS} kills, {took_s:.0f} s; "
        f"{counts['RunStarted']} runs, resumed {counts['RunResumed']} times, "
        f"{counts['PublishCompleted']} publishes, {counts['EffectIntended']} deliveries begun and "
        f"{len(delivered)} copies; {FILES + 1} logs verified"
    )


def _check_logs(shop: Watched, inbox: Inbox) -> Counter[str]:
    """See that each file has one workbench and each workbench one run; count what was recorded."""
    recorded = inbox.recorded()
    landed = [event["data"]["path"] for event in recorded if event["type"] == "FileLanded"]
    benches = {e["data"]["workbench_id"] for e in recorded if e["type"] == "WatchRunFinished"}
    assert len(landed) == len(set(landed)) == len(benches) == FILES
    found = {row["id"] for row in shop.daemon.ask("WorkbenchList")["workbenches"]}
    assert found == benches
    counts: Counter[str] = Counter()
    for workbench_id in sorted(benches):
        types = Counter(shop.types(workbench_id))
        once = ("FileAdded", "RunStarted", "RunFinished", "PublishCompleted", "EffectDone")
        assert [types[each] for each in once] == [1] * len(once), (workbench_id, types)
        shop.verify(workbench_id)
        counts += types
    shop.verify()
    return counts


def test_killed_between_any_two_steps_the_work_is_done_once(shop: Watched) -> None:
    """Killed right after each record on the way from landing to outcome: one run, one copy."""
    inbox = shop.inbox("in", limits={"runs_per_hour": 10_000})
    for number, stage in enumerate(STAGES):
        with _killed_after(shop.daemon, stage):
            inbox.drop(f"f{number:03}.csv", _table(number))
        shop.daemon.start()
        watch = inbox.settled(number + 1)
        assert watch["outcomes"] == {"published": number + 1}, (stage, watch)
    ended = [e["data"] for e in inbox.recorded() if e["type"] == "WatchRunFinished"]
    assert len(ended) == len(STAGES)
    for number, (stage, data) in enumerate(zip(STAGES, ended, strict=True)):
        types = Counter(shop.types(data["workbench_id"]))
        once = ("FileAdded", "RunStarted", "RunFinished", "PublishCompleted", "EffectDone")
        assert [types[each] for each in once] == [1] * len(once), (stage, types)
        assert _is_sorted_table(inbox.delivered()[f"f{number:03}-sorted.csv"], number)
        shop.verify(data["workbench_id"])
    assert len(inbox.delivered()) == len(STAGES)
    shop.verify()


@contextmanager
def _killed_after(daemon: RealDaemon, stage: str) -> Iterator[None]:
    """Kill the daemon when it tells of the next event of a type in any log; the block causes it."""
    synced, seen = threading.Event(), set[str]()

    def follow() -> None:
        with Client(daemon.socket) as client:

            def heard(method: str, params: dict[str, Any]) -> None:
                if method == "EventsSynced":
                    synced.set()
                elif method == "EventsAppended" and synced.is_set():
                    seen.update(event["type"] for event in params["events"])
                    if stage in seen:
                        daemon.kill()

            client.on_notification = heard
            client.send("EventsSubscribe", {"workbench_id": "*"})
            try:
                while client.wait(60):
                    pass
            except (ConnectionLostError, NoAnswerError):
                return
            daemon.kill()
            raise AssertionError(stage)

    thread = threading.Thread(target=follow)
    thread.start()
    assert synced.wait(30)
    yield
    thread.join()
