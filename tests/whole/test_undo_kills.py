"""kill -9 at every step of an undo behind a publish, and of a fork: all of it, or none."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from backends import on_trio
from kbd.client.blocking import ConnectionLostError, NoAnswerError
from wired import Wired, wired

STRIKE = """
import os, signal
from pathlib import Path
from kbd.events.disk import Disk
left = Path({path!r})
def strike():
    if left.exists():
        steps = int(left.read_text())
        if steps == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left.write_text(str(steps - 1))
def watched(kind, name):
    original = getattr(kind, name)
    def step(self, *given, **named):
        strike()
        result = original(self, *given, **named)
        strike()
        return result
    setattr(kind, name, step)
for name in (
    "pwrite", "fsync", "fdatasync", "rename", "create", "move", "move_new", "exchange", "unlink",
):
    watched(Disk, name)
"""
"""Has the daemon's process kill itself before and after each step that changes a disk: at the one
whose number a file says, when it is there."""

ALL = range(200)


class Struck:
    """A daemon that is killed at a step of what it is asked."""

    def __init__(self, bench: Wired, left: Path) -> None:
        self.bench, self._left = bench, left

    def asked(self, step: int, method: str, **params: Any) -> bool:
        """Ask, and kill it at a step; start it again. False if it was done before that step."""
        self._left.write_text(str(step))
        try:
            self.bench.ask(method, **params)
        except (ConnectionLostError, NoAnswerError, OSError):
            self._left.unlink()
            self.bench.daemon.kill()
            self.bench.daemon.start()
            return True
        self._left.unlink()
        return False


@contextmanager
def _struck(backend: str) -> Iterator[Struck]:
    folder = Path(tempfile.mkdtemp(prefix="kbd-"))
    try:
        with wired(backend, STRIKE.format(path=str(folder / "left"))) as bench:
            yield Struck(bench, folder / "left")
    finally:
        shutil.rmtree(folder)


def _held(bench: Wired, wb: str) -> object:
    """Return what an undo changes, as clients and people see it."""
    state = bench.ask("StateAt", workbench_id=wb, seq=bench.daemon.events(wb)[-1]["seq"])
    entries = bench.ask("WorkshopGetConversation", workbench_id=wb)["messages"]
    return (
        {path.name: path.read_text() for path in sorted(bench.published(wb).iterdir())},
        state["files"],
        bench.changes(wb),
        [each["message_id"] for each in entries if each["type"] != "system_event"],
    )


def _undo_at_each(struck: Struck, steps: Sequence[int]) -> int:
    """Undo behind a publish of three kinds of changes, killed at each of the steps."""
    bench = struck.bench
    wb = bench.workbench(a__txt="a0", b__txt="b0")
    bench.draft(wb, a__txt="a1", n__txt="n1")
    messages = bench.ask("WorkshopGetConversation", workbench_id=wb)["messages"]
    bench.ask("WorkbenchFilesRemove", workbench_id=wb, workbench_paths=["b.txt"])
    bench.ask("ReviewSetDeletionConfirmations", workbench_id=wb, paths=["b.txt"])
    bench.ask("DraftPublish", workbench_id=wb)
    bench.draft(wb, c__txt="c0")
    answer = bench.ask("WorkshopGetConversation", workbench_id=wb)["messages"][-1]["message_id"]
    late, asked = _held(bench, wb), messages[0]["message_id"]
    bench.ask("WorkshopUndoToMessage", workbench_id=wb, message_id=asked)
    early, kills = _held(bench, wb), 0
    assert early != late
    for step in steps:
        bench.ask("WorkshopUndoToMessage", workbench_id=wb, message_id=answer)
        assert _held(bench, wb) == late
        params = {"workbench_id": wb, "message_id": asked}
        if not struck.asked(step, "WorkshopUndoToMessage", **params):
            break
        kills += 1
        found = _held(bench, wb)
        assert found in (early, late), step
        if found == late:  # It was not decided yet.
            bench.ask("WorkshopUndoToMessage", **params)
        assert _held(bench, wb) == early, step
        events = [event["type"] for event in bench.daemon.events(wb)]
        assert events.count("PublishIntended") == events.count("PublishCompleted")
    assert bench.ask("LogVerify", workbench_id=wb)["ok"]
    return kills


def _fork_at_each(struck: Struck, steps: Sequence[int]) -> int:
    """Fork, killed at each of the steps."""
    bench = struck.bench
    wb = bench.workbench(a__txt="a0", b__txt="b0")
    bench.draft(wb, a__txt="a1")
    bench.ask("DraftPublish", workbench_id=wb)
    said = bench.ask("WorkshopGetConversation", workbench_id=wb)["messages"]
    known, kills = {wb}, 0
    homes = bench.published(wb).parents[1]
    for step in steps:
        named = {"source_workbench_id": wb, "mode": "clone_all", "name": f"fork {step}"}
        if not struck.asked(step, "WorkbenchFork", **named):
            break
        kills += 1
        rows = bench.ask("WorkbenchList")["workbenches"]
        listed = {row["id"] for row in rows if row["name"] != "test" or row["id"] == wb}
        # What is not a workbench is not on the disk either.
        assert {path.name for path in homes.iterdir()} >= listed
        assert {path.name for path in homes.iterdir()} == {row["id"] for row in rows}
        for fork in listed - known:
            tree = {path.name: path.read_text() for path in sorted(bench.published(fork).iterdir())}
            assert tree == {"a.txt": "a1", "b.txt": "b0"}
            messages = bench.ask("WorkshopGetConversation", workbench_id=fork)["messages"]
            kept = {each["message_id"] for each in messages}
            assert {each["message_id"] for each in said if each["role"] == "user"} <= kept
            assert bench.ask("LogVerify", workbench_id=fork)["ok"]
        known |= listed
    return kills


@on_trio
@pytest.mark.full
def test_an_undo_survives_two_kills(anyio_backend: str) -> None:
    """Two kills: while it is staged, and when files have changed places."""
    with _struck(anyio_backend) as struck:
        assert _undo_at_each(struck, (6, 24)) == 2


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_an_undo_survives_a_kill_at_each_step(anyio_backend: str) -> None:
    """Before and after each write, sync and rename."""
    with _struck(anyio_backend) as struck:
        kills = _undo_at_each(struck, ALL)
        print(f"{kills} kills")
        assert kills >= 10


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_a_fork_survives_a_kill_at_each_step(anyio_backend: str) -> None:
    """Either there is a whole workbench, or none, and nothing of it on the disk."""
    with _struck(anyio_backend) as struck:
        kills = _fork_at_each(struck, ALL)
        print(f"{kills} kills")
        assert kills >= 8
