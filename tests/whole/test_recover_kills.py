"""kill -9 at every step of a recovery, as the draft and into a folder: all of it, or none."""

import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from backends import halved, on_trio
from whole.struck import ALL, SHOWN, Struck, struck
from wired import Wired


def _drafted(bench: Wired, wb: str) -> dict[str, str]:
    folder = bench.published(wb).parent / "draft"
    return {path.name: path.read_text() for path in sorted(folder.iterdir())}


def _whole(bench: Wired, wb: str) -> None:
    assert bench.ask("LogVerify", workbench_id=wb)["ok"]
    published = {path.name: path.read_text() for path in bench.published(wb).iterdir()}
    assert published == {"a.txt": "a0", "b.txt": "b0"}


def _recover_at_each(daemon: Struck, steps: Sequence[int]) -> int:
    """Recover a draft of three kinds of changes, killed at each of the steps."""
    bench = daemon.bench
    wb = bench.workbench(a__txt="a0", b__txt="b0")
    bench.draft(wb, a__txt="a1", n__txt="n1")
    bench.ask("WorkbenchFilesRemove", workbench_id=wb, workbench_paths=["b.txt"])
    wanted = {"a.txt": "modified", "b.txt": "deleted", "n.txt": "added"}
    assert bench.changes(wb) == wanted
    kills = 0
    for step in steps:
        bench.ask("DraftDiscard", workbench_id=wb)
        if not daemon.asked(step, "WorkbenchRecover", workbench_id=wb):
            break
        kills += 1
        found, listed = bench.changes(wb), bench.ask("DraftListDiscarded", workbench_id=wb)
        assert found in ({}, wanted), step
        # It is either the draft or on the list, never both and never neither.
        assert listed["total"] == (0 if found else 1), step
        assert _drafted(bench, wb) == ({"a.txt": "a1", "n.txt": "n1"} if found else {}), step
        _whole(bench, wb)
        if not found:
            bench.ask("WorkbenchRecover", workbench_id=wb)
        assert bench.changes(wb) == wanted, step
    return kills


def _extract_at_each(daemon: Struck, steps: Sequence[int]) -> int:
    """Recover two files into a folder, killed at each of the steps."""
    bench, kills = daemon.bench, 0
    wb = bench.workbench(a__txt="a0", b__txt="b0")
    bench.draft(wb, a__txt="a1", n__txt="n1")
    bench.ask("DraftDiscard", workbench_id=wb)
    for step in steps:
        with tempfile.TemporaryDirectory(prefix="kbd-") as place:
            folder = Path(place)
            (folder / "a.txt").write_text("mine")
            params = {"workbench_id": wb, "destination_dir": place}
            is_killed = daemon.asked(step, "WorkbenchRecover", **params)
            bench.ask("DraftListDiscarded", workbench_id=wb)  # opens it: leftovers are removed
            left = {path.name: path.read_text() for path in folder.iterdir()}
            # Each copy is whole or not there, and nothing half-written or hidden stays.
            assert left.items() <= {"a.txt": "mine", "a(1).txt": "a1", "n.txt": "n1"}.items(), step
            assert left["a.txt"] == "mine"
            _whole(bench, wb)
            assert bench.ask("DraftListDiscarded", workbench_id=wb)["total"] == 1
            kinds = [event["type"] for event in bench.daemon.events(wb)]
            ended = kinds.count("EffectDone") + kinds.count("EffectAborted")
            assert kinds.count("EffectIntended") == ended, step
            if not is_killed:
                assert len(left) == 3
                break
            kills += 1
    return kills


@on_trio
@halved
@pytest.mark.full
def test_a_recovery_survives_kills(anyio_backend: str) -> None:
    """Before and after it is recorded, and while draft/ is written; and between two copies."""
    with struck(anyio_backend, SHOWN) as daemon:
        assert _recover_at_each(daemon, (0, 1, 3)) == 3
        assert _extract_at_each(daemon, (1, 3, 5)) == 3


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_a_recovery_survives_a_kill_at_each_step(anyio_backend: str) -> None:
    """Before and after each append, and each file of draft/."""
    with struck(anyio_backend, SHOWN) as daemon:
        kills = _recover_at_each(daemon, ALL)
        print(f"{kills} kills")
        assert kills >= 6


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_a_recovery_into_a_folder_survives_a_kill_at_each_step(anyio_backend: str) -> None:
    """Before and after each append, each name that a copy gets, each folder that is synced."""
    with struck(anyio_backend, SHOWN) as daemon:
        kills = _extract_at_each(daemon, ALL)
        print(f"{kills} kills")
        assert kills >= 12
