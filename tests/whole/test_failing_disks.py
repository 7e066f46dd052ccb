"""A disk that fails in the middle of a run: the quota is used up, or it turns read-only.

What was acknowledged is there afterwards, what was refused is told, and the log is whole.
"""

import subprocess
import time
from pathlib import Path

import pytest

from kbd.client.blocking import ConnectionLostError, RemoteError
from model_server import model_server
from real_daemon import RealDaemon
from whole.disks import loop_disk
from wired import MODEL, Script, Wired

pytestmark = [pytest.mark.full, pytest.mark.timeout(300)]

QUOTA_CODES = ("DISK_FULL",)

READ_ONLY_CODES = (
    "gone",
    "FILE_WRITE_FAILED",
    "TOOL_WORKER_UNAVAILABLE",
    "skipped a file's bytes cannot be stored: Read-only file system",
)
"""Which one depends on what is written first: the log, the bytes, or what a worker needs."""

QUOTA = """
import errno
import os
from pathlib import Path
NAMES = ("pwrite", "write", "pwritev", "writev", "posix_fallocate", "copy_file_range")
real = {{name: getattr(os, name) for name in NAMES}}
def bounded(name):
    def call(*arguments, **more):
        fd = arguments[1 if name == "copy_file_range" else 0]
        if Path({mark!r}).exists() and os.readlink(f"/proc/self/fd/{{fd}}").startswith({home!r}):
            # What was reserved before is counted already.
            grows = name != "pwrite" or arguments[2] + len(arguments[1]) > os.fstat(fd).st_size
            if grows:
                raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
        return real[name](*arguments, **more)
    return call
for name in real:
    setattr(os, name, bounded(name))
"""
"""Has a daemon find its quota used up while a file is there: no kernel of a test has quotas."""


def _begin(wire: Wired) -> tuple[str, str]:
    """Begin a run whose model thinks; return the workbench and the run."""
    workbench_id = wire.workbench(a__txt="old")
    wire.script.writes = {"b.txt": "new " * 500}
    wire.script.answers.clear()
    wire.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="write")
    run = wire.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)["run_id"]
    assert wire.script.asked.wait(30)
    return workbench_id, str(run)


def _code(wire: Wired, workbench_id: str) -> str:
    """Add a file, and return the code of the refusal."""
    paths = [str(wire.file("c.txt", "more " * 500))]
    try:
        found = wire.ask("WorkbenchFilesAdd", workbench_id=workbench_id, source_paths=paths)
    except RemoteError as error:
        return str(error.error_code)
    except ConnectionLostError:
        return "gone"
    (row,) = found["add_results"]
    return f"{row['status']} {row.get('reason', '')}"


def _after(wire: Wired, workbench_id: str, before: list[dict[str, object]]) -> None:
    """Nothing that was acknowledged is lost, and work goes on."""
    events = wire.daemon.events(workbench_id)
    assert events[: len(before)] == before
    assert wire.ask("LogVerify", workbench_id=workbench_id)["ok"]
    wire.script.forget()
    assert wire.draft(workbench_id, d__txt="new")["status"] == "finished"
    wire.ask("DraftPublish", workbench_id=workbench_id)
    assert (wire.published(workbench_id) / "d.txt").read_text() == "new"


@pytest.mark.parametrize("kind", ["quota", "read-only"])
def test_a_disk_that_fails_in_a_run(
    short_dir: Path, anyio_backend: str, kind: str, request: pytest.FixtureRequest
) -> None:
    """A code for who asks, exit 74 where nothing can be recorded; then all goes on."""
    disk, mark, user = short_dir / "disk", short_dir / "mark", short_dir / "user"
    user.mkdir()
    script = Script()
    preface = QUOTA.format(mark=str(mark), home=str(disk)) if kind == "quota" else ""
    with model_server(script.play) as server:
        environment = {
            "OPENAI_BASE_URL": server.base_url, "KBD_MODEL": MODEL, "KBD_RUN_RETRY_S": "0.01",
        }  # fmt: skip
        daemon = RealDaemon(disk / "h", anyio_backend, environment, preface)
        # Also where the test fails: it would hold the disk.
        request.addfinalizer(daemon.stop)
        wire = Wired(daemon, user, script)
        began_s = time.monotonic()
        with loop_disk(short_dir / "image", disk):
            daemon.start()
            workbench_id, run_id = _begin(wire)
            other = wire.workbench(a__txt="old")
            before = daemon.events(workbench_id)
            if kind == "quota":
                mark.touch()
            else:
                # What ext4 does when its disk fails: nothing is written to it any more.
                remount = ["mount", "-o", "remount,abort", str(disk)]
                subprocess.run(remount, check=True, capture_output=True)
            script.answers.set()
            code = _code(wire, other)
            if kind == "quota":
                run = daemon.wait_for_run(run_id)
                status = run["status"]
                assert status in ("failed", "finished", "paused"), run
                mark.unlink()
                _after(wire, workbench_id, before)
                daemon.stop()
            else:
                status = f"exit {daemon.wait()}"
        if kind == "read-only":
            with loop_disk(short_dir / "image", disk):
                daemon.start()
                _after(wire, workbench_id, before)
                daemon.stop()
    print(f"\nH9   {kind:<12}{code:<20}{status:<12}{time.monotonic() - began_s:.1f} s")
    # The daemon's log lies on the same disk: that it cannot be written changes nothing.
    assert status == ("failed" if kind == "quota" else "exit 74")
    assert code in (QUOTA_CODES if kind == "quota" else READ_ONLY_CODES)
