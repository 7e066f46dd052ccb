"""kill -9 at every step of an undo behind a publish, and of a fork: all of it, or none."""

from collections.abc import Sequence

import pytest

from backends import halved, on_trio
from whole.struck import ALL, Struck, struck
from wired import Wired


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


def _undo_at_each(daemon: Struck, steps: Sequence[int]) -> int:
    """Undo behind a publish of three kinds of changes, killed at each of the steps."""
    bench = daemon.bench
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
        if not daemon.asked(step, "WorkshopUndoToMessage", **params):
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


def _fork_at_each(daemon: Struck, steps: Sequence[int]) -> int:
    """Fork, killed at each of the steps."""
    bench = daemon.bench
    wb = bench.workbench(a__txt="a0", b__txt="b0")
    bench.draft(wb, a__txt="a1")
    bench.ask("DraftPublish", workbench_id=wb)
    said = bench.ask("WorkshopGetConversation", workbench_id=wb)["messages"]
    known, kills = {wb}, 0
    homes = bench.published(wb).parents[1]
    for step in steps:
        named = {"source_workbench_id": wb, "mode": "clone_all", "name": f"fork {step}"}
        if not daemon.asked(step, "WorkbenchFork", **named):
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
@halved
@pytest.mark.full
def test_an_undo_survives_two_kills(anyio_backend: str) -> None:
    """Two kills: while it is staged, and when files have changed places."""
    with struck(anyio_backend) as daemon:
        assert _undo_at_each(daemon, (6, 24)) == 2


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_an_undo_survives_a_kill_at_each_step(anyio_backend: str) -> None:
    """Before and after each write, sync and rename."""
    with struck(anyio_backend) as daemon:
        kills = _undo_at_each(daemon, ALL)
        print(f"{kills} kills")
        assert kills >= 10


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_a_fork_survives_a_kill_at_each_step(anyio_backend: str) -> None:
    """Either there is a whole workbench, or none, and nothing of it on the disk."""
    with struck(anyio_backend) as daemon:
        kills = _fork_at_each(daemon, ALL)
        print(f"{kills} kills")
        assert kills >= 8
