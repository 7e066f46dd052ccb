"""kill -9 while a run is proved, exported, restored or backed up: nothing lost, no half copy."""

import os
import random
import shutil
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kbd.client.blocking import ConnectionLostError, NoAnswerError
from kbd.core.audit.backup import check_backup
from kbd.core.audit.case_file import check_case
from real_daemon import RealDaemon
from whole.moments_seen import Moments, tree

pytestmark = [pytest.mark.soak, pytest.mark.timeout(3600)]

KILLS = 8
BULK_BYTES = 2_000_000
PROMPT = "one sheet per category with Date, Amount sorted by date, and a summary sheet with totals"


class Kept(NamedTuple):
    """A workbench's folder, its last event, and the files that a moment of that has."""

    folder: Path
    seq: int
    files: dict[str, dict[str, bytes]]


def _worked(daemon: RealDaemon, folder: Path) -> str:
    """Return a workbench with a run, a draft and files that take a while to copy."""
    rows = [f"2024-0{n % 9 + 1}-{28 - n % 28:02},{'ABCD'[n % 4]},{n}.50" for n in range(60)]
    (folder / "data.csv").write_text("\n".join(["Date,Category,Amount", *rows, ""]))
    chance = random.Random(1)
    bulk = [folder / f"bulk{n}.bin" for n in range(10)]
    for path in bulk:
        path.write_bytes(chance.randbytes(BULK_BYTES))
    workbench_id = daemon.workbench(folder / "data.csv", *bulk)
    run = daemon.run_prompt(workbench_id, PROMPT)
    assert run["status"] == "finished", run
    return workbench_id


def _proved(answer: dict[str, Any], target: Path, kept: Kept) -> None:
    assert answer["equal"] == answer["calls"] > 0
    assert not target.exists()
    assert list((kept.folder / "stage").iterdir()) == []


def _exported(answer: dict[str, Any], target: Path, kept: Kept) -> None:
    del answer, kept
    assert check_case(target).faults == ()


def _restored(answer: dict[str, Any], target: Path, kept: Kept) -> None:
    del answer
    held = {part: tree(target / part) for part in ("files", "published", "draft")}
    assert held == kept.files
    assert (target / "state.json").stat().st_size > 0


def _backed_up(answer: dict[str, Any], target: Path, kept: Kept) -> None:
    del answer
    checked = check_backup(target)
    assert checked.faults == ()
    assert checked.logs == 2
    assert checked.blobs > 10
    assert kept.folder.name in {path.name for path in (target / "workbenches").iterdir()}


Check = Callable[[dict[str, Any], Path, Kept], None]

CHECKS: dict[str, Check] = {
    "ReplayRun": _proved,
    "RunExport": _exported,
    "StateAt": _restored,
    "BackupCreate": _backed_up,
}


def _params(method: str, kept: Kept, target: Path) -> dict[str, Any]:
    """Return what a method is asked with, to write to a target if it writes."""
    workbench_id = kept.folder.name
    match method:
        case "ReplayRun":
            return {"run_id": f"{workbench_id}-1"}
        case "RunExport":
            return {"run_id": f"{workbench_id}-1", "target": str(target)}
        case "StateAt":
            return {
                "workbench_id": workbench_id, "seq": kept.seq, "destination_dir": str(target),
            }  # fmt: skip
        case _:
            return {"target": str(target)}


def _left_by(daemon: RealDaemon) -> list[int]:
    """Return the processes that work in the daemon's home though it is dead."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            told = (entry / "cmdline").read_bytes()
            held = [os.readlink(each) for each in (entry / "fd").iterdir()]
        except OSError:
            continue
        if b"kbd" in told and any(each.startswith(str(daemon.home)) for each in held):
            found.append(int(entry.name))
    return found


def _ask(daemon: RealDaemon, method: str, params: dict[str, Any], answers: list[Any]) -> None:
    """Ask for something whose answer may never come."""
    with suppress(ConnectionLostError, NoAnswerError, OSError):
        answers.append(daemon.ask(method, **params))


@pytest.mark.parametrize("method", CHECKS)
def test_a_kill_leaves_nothing_half(daemon: RealDaemon, short_dir: Path, method: str) -> None:
    """What has its final name is whole; log and files are what they were; it works again."""
    check, chance = CHECKS[method], random.Random(method)
    workbench_id = _worked(daemon, short_dir)
    moments = Moments(daemon, Path(os.devnull), workbench_id)
    kept = Kept(moments.folder, moments.last(), moments.files(moments.last()))
    events = daemon.events(workbench_id)
    out = short_dir / "out"
    out.mkdir()
    begun = time.monotonic()
    daemon.ask(method, **_params(method, kept, out / "first"))
    took_s = time.monotonic() - begun
    answers: list[Any] = []
    for number in range(KILLS):
        target = out / f"{number}"
        params = _params(method, kept, target)
        asking = threading.Thread(target=_ask, args=(daemon, method, params, answers))
        asking.start()
        time.sleep(chance.uniform(0.0, took_s))
        daemon.kill()
        asking.join()
        if target.exists():
            check({"equal": 1, "calls": 1}, target, kept)
            _remove(target)
        daemon.start()
        check(daemon.ask(method, **params), target, kept)
        assert [path.name for path in out.iterdir() if path.name.startswith(".")] == []
        _remove(target)
    assert len(answers) < KILLS
    assert daemon.events(workbench_id) == events
    assert moments.files(kept.seq) == kept.files
    for log in (workbench_id, "daemon"):
        assert daemon.ask("LogVerify", workbench_id=log)["ok"]
    daemon.stop()
    assert _left_by(daemon) == []


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
