"""Proofs in the real daemon: by the command line, for a client that goes, and when it dies."""

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import kbd_offline
import kbd_tables
import kbd_xlsx
from benchmarks.transactions import transactions
from proof_rig import contents
from real_daemon import RealDaemon

pytestmark = pytest.mark.full

PROMPT = (
    "one sheet per category with Date, Description, Amount sorted by date, and a summary sheet"
    " with totals"
)
OFFLINE = Path(kbd_offline.__file__).parent
IMPORT = "from kbd import hookimpl\n"
SHORT = "total Amount by Category"
PATIENT = "import time\ntime.sleep(60)\n"
GONE_S = 15.0


def worked(daemon: RealDaemon, folder: Path, prompt: str = PROMPT) -> str:
    """Have the offline planner do a job; return the workbench."""
    source = folder / "transactions.csv"
    source.write_bytes(transactions())
    workbench = daemon.workbench(source, name="taxes")
    assert daemon.run_prompt(workbench, prompt)["status"] == "finished"
    return workbench


def kbd(daemon: RealDaemon, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command."""
    command = [sys.executable, "-m", "kbd", "--home", str(daemon.home), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def settled(root: Path) -> dict[str, str]:
    """What a workbench holds when its draft and its readable copies have followed a run's end."""
    before: dict[str, str] = {}
    after = contents(root)
    while before != after:
        time.sleep(2)
        before, after = after, contents(root)
    return after


def version(folder: Path, source: Path, module: str, old: str, new: str) -> Path:
    """A copy of a plugin with a change."""
    copy = folder / "version"
    shutil.copytree(source, copy / source.name, ignore=shutil.ignore_patterns("__pycache__"))
    changed = copy / source.name / module
    text = changed.read_text()
    assert old in text
    changed.write_text(text.replace(old, new))
    return copy


def proof_of(daemon: RealDaemon) -> int:
    """Wait for the process of a proof of this daemon, and return it."""
    deadline = time.monotonic() + GONE_S
    while time.monotonic() < deadline:
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit() and _is_proof(entry, daemon.pid):
                return int(entry.name)
        time.sleep(0.01)
    raise AssertionError


def _is_proof(entry: Path, daemon: int) -> bool:
    try:
        words = (entry / "cmdline").read_bytes()
        parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return False
    return b"kbd.core.audit.proof_main" in words and parent == daemon


def wait_until_gone(pid: int) -> None:
    """Wait until a process has ended."""
    deadline = time.monotonic() + GONE_S
    while time.monotonic() < deadline:
        try:
            if (Path("/proc") / str(pid) / "stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return
        except OSError:
            return
        time.sleep(0.05)
    raise AssertionError(pid)


@contextmanager
def asking(daemon: RealDaemon, run_id: str, with_plugin: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Have a command ask for a proof that takes long; end the command, at the latest at the end."""
    command = [sys.executable, "-m", "kbd", "--home", str(daemon.home)]
    command += ["replay", run_id, "--verify", "--with-plugin", str(with_plugin)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as asked:
        try:
            yield asked
        finally:
            asked.kill()


def test_the_demos_run_is_proved_and_another_version_found_out(
    daemon: RealDaemon, tmp_path: Path
) -> None:
    """All calls equal by the command line; changed widths are found in just the sheets."""
    workbench = worked(daemon, tmp_path)
    root = daemon.home / "workbenches" / workbench
    before = settled(root)
    equal = kbd(daemon, "replay", "taxes", "--verify")

    assert equal.returncode == 0, equal.stdout + equal.stderr
    assert "7 calls done again, all came out as recorded (1 file version" in equal.stdout
    source = Path(kbd_xlsx.__file__).parent
    width = "* 9 // 8 + _MARGIN"
    copy = version(tmp_path, source, "rows/sheet_form.py", width, f"{width} + 40")
    other = kbd(daemon, "replay", "taxes", "--verify", "--with-plugin", str(copy), "--json")
    found = json.loads(other.stdout)
    assert other.returncode == 1
    (divergence,) = found["divergences"]
    assert (divergence["tool"], divergence["what"][0]) == ("run_job", "files")
    parts = [part["part"] for part in divergence["files"][0]["parts"]]
    assert len(parts) == 13
    assert all(part.startswith("xl/worksheets/sheet") for part in parts)
    assert contents(root) == before


def test_a_version_that_reads_a_table_otherwise_is_told_by_its_reading(
    daemon: RealDaemon, tmp_path: Path
) -> None:
    """The divergence says first that rows are counted now which were left out as a total then."""
    source = tmp_path / "orders.csv"
    source.write_text("Region,Amount\nNorth,10\nSouth,20\nNorth,12\nTotal,42\n")
    workbench = daemon.workbench(source, name="orders")
    assert daemon.run_prompt(workbench, "total Amount by Region")["status"] == "finished"
    equal = daemon.ask("ReplayRun", run_id=f"{workbench}-1")
    assert (equal["divergences"], equal["equal"] > 0) == ([], True)

    asked = "columns, read_as, reading, among"
    kept = 'columns, read_as | {"totals": "keep"}, reading, among'
    copy = version(tmp_path, Path(kbd_tables.__file__).parent, "loader.py", asked, kept)
    found = daemon.ask("ReplayRun", run_id=f"{workbench}-1", with_plugin=str(copy))
    assert found["divergences"]
    for divergence in found["divergences"]:
        assert divergence["what"][0] == "reading"
        (table,) = divergence["readings"]
        assert (table["path"], table["is_recorded"]) == ("orders.csv", True)
        assert table["fields"][-1] == {"path": "rows", "recorded": "3", "replayed": "4"}
        left_out = next(field for field in table["fields"] if field["path"] == "left_out")
        assert "total of the rows above: 1 (row 5)" in left_out["recorded"]
        assert left_out["replayed"] == ""


def test_a_client_that_goes_takes_its_proof_along(daemon: RealDaemon, tmp_path: Path) -> None:
    """The process ends, an import that hangs and all, its scratch is gone, the daemon answers."""
    workbench = worked(daemon, tmp_path, SHORT)
    patient = version(tmp_path, OFFLINE, "__init__.py", IMPORT, PATIENT + IMPORT)
    with asking(daemon, f"{workbench}-1", patient) as command:
        pid = proof_of(daemon)
        began = time.monotonic()
        daemon.ask("EngineGetInfo")
        assert time.monotonic() - began < GONE_S
        # Not SIGINT: a process that was begun in the background of a shell ignores it.
        command.terminate()
        wait_until_gone(pid)
    stage = daemon.home / "workbenches" / workbench / "stage"
    deadline = time.monotonic() + GONE_S
    while [*stage.iterdir()] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [*stage.iterdir()] == []
    assert daemon.stop() == 0


def test_a_daemon_that_dies_takes_its_proofs_along(daemon: RealDaemon, tmp_path: Path) -> None:
    """Killed, it leaves no process; what was left on the stage goes when it starts again."""
    workbench = worked(daemon, tmp_path, SHORT)
    patient = version(tmp_path, OFFLINE, "__init__.py", IMPORT, PATIENT + IMPORT)
    with asking(daemon, f"{workbench}-1", patient):
        pid = proof_of(daemon)
        daemon.kill()
        wait_until_gone(pid)
    daemon.start()
    daemon.ask("WorkbenchOpen", workbench_id=workbench)
    assert [*(daemon.home / "workbenches" / workbench / "stage").iterdir()] == []
    assert daemon.ask("ReplayRun", run_id=f"{workbench}-1")["divergences"] == []


def test_a_daemon_that_stops_ends_its_proofs(daemon: RealDaemon, tmp_path: Path) -> None:
    """It does not wait for them, and leaves nothing."""
    workbench = worked(daemon, tmp_path, SHORT)
    patient = version(tmp_path, OFFLINE, "__init__.py", IMPORT, PATIENT + IMPORT)
    with asking(daemon, f"{workbench}-1", patient):
        pid = proof_of(daemon)
        assert daemon.stop() == 0
        wait_until_gone(pid)
    assert [*(daemon.home / "workbenches" / workbench / "stage").iterdir()] == []
