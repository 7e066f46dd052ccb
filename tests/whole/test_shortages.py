"""A daemon that is refused files, memory, threads and processes at each n-th call.

It answers each request with a code of what has run out, tells no path, lives on, and serves as
before when there is enough again.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backends import halved
from kbd.client.blocking import Client, RemoteError
from real_daemon import RealDaemon

pytestmark = [halved, pytest.mark.timeout(300)]

PREFACE = """
import builtins, errno, io, os, subprocess, threading
from pathlib import Path
stat, calls = os.stat, [0]
def is_due():
    try:
        stat({mark!r})
    except OSError:
        return False
    calls[0] += 1
    return calls[0] % {every} == 0
def refuse(room, name, error):
    real = getattr(room, name)
    def call(*given, **named):
        if is_due():
            raise error()
        return real(*given, **named)
    setattr(room, name, call)
def failed():
    number = getattr(errno, {error!r})
    return OSError(number, os.strerror(number), "/secret/path")
for name in {names}:
    refuse(os, name, failed)
refuse(io, "open", failed)
builtins.open = io.open
if {error!r} == "EAGAIN":
    refuse(threading.Thread, "start", lambda: RuntimeError("can't start new thread"))
    refuse(subprocess.Popen, "_execute_child", failed)
"""
"""Has each n-th of some calls of a daemon fail while a file is there."""

CASES = {
    "files": ("EMFILE", ("open", "scandir", "listdir", "pipe"), 11, "TOO_MANY_OPEN_FILES"),
    "memory": ("ENOMEM", ("open", "pread", "mkdir"), 7, "OUT_OF_MEMORY"),
    "processes": ("EAGAIN", (), 2, "TOO_MANY_PROCESSES"),
    "disk": ("EIO", ("open", "scandir", "listdir", "pread"), 13, "FILE_READ_FAILED"),
}  # fmt: skip

TABLE = "Shop,Amount\nBaker,1\nGrocer,2\n"


def requests(workbench_id: str, source: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """What a client asks: it adds, reads, writes, publishes, runs, watches and looks back."""
    bench: dict[str, Any] = {"workbench_id": workbench_id}
    note = {"path": "n.txt", "content": "note"}
    yield "EngineGetInfo", {}
    yield "WorkbenchList", {}
    yield "WorkbenchCreate", {"name": "other"}
    yield "WorkbenchFilesAdd", {**bench, "source_paths": [str(source)]}
    yield "WorkbenchFilesList", {**bench, "look_into": True}
    for name, arguments in {"table_describe": {"path": "t.csv"}, "write_text_file": note}.items():
        yield "ToolsCall", {**bench, "name": name, "arguments": arguments}
    yield "EventsRead", bench
    yield "LogVerify", bench
    yield "DraftPublish", bench
    yield "WorkspaceSearch", {**bench, "query": "baker"}
    yield "WorkshopSendUserMessage", {**bench, "text": "total Amount by Shop"}
    yield "WorkshopRunAgent", bench
    yield "RunList", {}
    yield "WatchAdd", {"folder": str(source.parent), "prompt": "total Amount", "name": "w"}
    yield "DraftDiscard", bench


@pytest.mark.parametrize(
    "case",
    [
        "files",
        "processes",
        *(pytest.param(each, marks=pytest.mark.full) for each in ("memory", "disk")),
    ],
)
def test_what_runs_out_is_told_and_ends_no_daemon(
    short_dir: Path, anyio_backend: str, case: str
) -> None:
    """Nothing is told as an internal error or with a path, and the next requests are served."""
    error, names, every, code = CASES[case]
    mark, user = short_dir / "mark", short_dir / "user"
    user.mkdir()
    source = user / "t.csv"
    source.write_text(TABLE)
    preface = PREFACE.format(mark=str(mark), every=every, error=error, names=names)
    daemon = RealDaemon(short_dir / "h", anyio_backend, preface=preface)
    daemon.start()
    told: dict[str, str] = {}
    try:
        workbench_id = daemon.workbench(source)
        with Client(daemon.socket) as client:
            client.send("EngineGetInfo")
            mark.touch()
            for _ in range(3):
                for method, params in requests(workbench_id, source):
                    try:
                        client.send(method, params, timeout=60)
                    except RemoteError as refused:
                        told[str(refused.error_code)] = str(refused)
            mark.unlink()
        assert code in told
        assert "None" not in told, "an internal error"
        for text in told.values():
            assert "/secret" not in text
            assert str(short_dir) not in text
            assert "Group" not in text
        other = daemon.workbench(source)
        run = daemon.run_prompt(other, "total Amount by Shop")
        assert run["status"] == "finished", run.get("reason")
        assert daemon.ask("LogVerify", workbench_id=workbench_id)["ok"]
    finally:
        mark.unlink(missing_ok=True)
        assert daemon.stop() == 0
