"""A run exported over the socket, and the file checked by itself and by kbd."""

import hashlib
import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from kbd.cli import main
from kbd.client.blocking import RemoteError
from kbd.core.audit.case_file import check_case
from real_daemon import RealDaemon
from wired import wired


def refused(daemon: RealDaemon, run_id: str, target: Path | str) -> str:
    """Export what must be refused; return the code."""
    with pytest.raises(RemoteError) as error:
        daemon.ask("RunExport", run_id=run_id, target=str(target))
    data = error.value.data
    assert isinstance(data, dict)
    return str(data["error_code"])


@pytest.mark.parametrize(
    "anyio_backend", ["trio", pytest.param("asyncio", marks=pytest.mark.full)], indirect=True
)
@pytest.mark.corpora
def test_a_run_is_exported(
    daemon: RealDaemon, corpora: Path, short_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A run on a real file: `kbd export`, twice the same, whole, and nothing is recorded."""
    source = min((corpora / "csv").glob("*.csv"), key=lambda path: path.stat().st_size)
    workbench_id = daemon.workbench(source, name="taxes")
    run = daemon.run_prompt(workbench_id, "convert to Excel")
    events = daemon.events(workbench_id)
    target = short_dir / "case.zip"
    place = ["--home", str(daemon.home), "export", "taxes"]

    assert main([*place, "--out", str(target)]) == 0
    assert f"{target}: run {run['run_id']}, {len(events)} events, " in capsys.readouterr().out
    assert main([*place, "--out", str(short_dir / "again.zip"), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert (short_dir / "again.zip").read_bytes() == target.read_bytes()
    assert daemon.events(workbench_id) == events

    head = daemon.ask("LogHead", workbench_id=workbench_id)
    assert (made["seq"], made["head"]) == (head["seq"], head["hash"])
    told = subprocess.run(
        [sys.executable, "-I", "-S", target, "--head", f"{head['seq']}:{head['hash']}"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (told.returncode, told.stderr) == (0, "")
    assert f"is the log's at event {head['seq']}" in told.stdout
    checked = check_case(target)
    assert (checked.faults, checked.events, checked.head) == ((), head["seq"], head["hash"])
    with zipfile.ZipFile(target) as archive:
        assert run["run_id"] in archive.read("report.html").decode()

    _export_into_a_watched_folder(daemon, run["run_id"], short_dir / "inbox")
    assert refused(daemon, run["run_id"], target) == "VALIDATION_FAILED"
    assert refused(daemon, run["run_id"], "case.zip") == "VALIDATION_FAILED"
    assert refused(daemon, f"{workbench_id}-2", short_dir / "two.zip") == "NOT_FOUND"
    assert refused(daemon, "0" * 16 + "-1", short_dir / "two.zip") == "NOT_FOUND"
    _damage(daemon, workbench_id)
    assert refused(daemon, run["run_id"], short_dir / "two.zip") == "LOG_CORRUPT"
    assert not (short_dir / "two.zip").exists()
    assert list(short_dir.glob(".kbd*")) == []


@pytest.mark.full
@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_run_is_exported_while_it_works(backend: str, short_dir: Path) -> None:
    """What is durable by then is in the file; later there is more, and it begins the same."""
    with wired(backend) as wire:
        wire.script.writes = {"a.txt": "x"}
        workbench_id = wire.workbench()
        wire.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="write")
        wire.script.answers.clear()
        run = wire.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)
        assert wire.script.asked.wait(60)
        early = wire.ask("RunExport", run_id=run["run_id"], target=str(short_dir / "early.zip"))
        wire.script.answers.set()
        wire.daemon.wait_for_run(run["run_id"])
        late = wire.ask("RunExport", run_id=run["run_id"], target=str(short_dir / "late.zip"))
    logs = []
    for made in (early, late):
        checked = check_case(Path(made["target"]))
        assert (checked.faults, checked.events, checked.head) == ((), made["seq"], made["head"])
        with zipfile.ZipFile(made["target"]) as archive:
            logs.append(archive.read("log/00000000000000000001.kbl"))
    assert early["seq"] < late["seq"]
    assert logs[1].startswith(logs[0])


def _export_into_a_watched_folder(daemon: RealDaemon, run_id: str, inbox: Path) -> None:
    """What kbd writes there itself is no work for it: it is told so before the file is there."""
    inbox.mkdir()
    daemon.ask("WatchAdd", folder=str(inbox), prompt="convert to Excel", quiet_s=0.1)
    daemon.ask("RunExport", run_id=run_id, target=str(inbox / "case.zip"))
    (written,) = [event for event in daemon.events("daemon") if event["type"] == "FilesWritten"]
    with (inbox / "case.zip").open("rb") as file:
        assert written["data"]["hashes"] == [hashlib.file_digest(file, "sha256").hexdigest()]


def _damage(daemon: RealDaemon, workbench_id: str) -> None:
    """Change a byte in the middle of a log while it is in use."""
    (segment,) = (daemon.home / "workbenches" / workbench_id / "log").glob("*.kbl")
    with segment.open("r+b") as file:
        file.seek(2000)
        byte = file.read(1)
        file.seek(2000)
        file.write(bytes((byte[0] ^ 1,)))
