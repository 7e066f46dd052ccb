"""Rows of the matrix on keys, the daemon's log, workers and disks."""

import ctypes
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from kbd.client.blocking import ConnectionLostError, RemoteError
from kbd.core.plugins.confinement.layers import find_layers
from kbd.core.runtime.process_tree import find_children
from model_server import failure
from real_daemon import RealDaemon
from whole.disks import loop_disk, tiny_disk
from whole.matrix_rig import MatrixRig, MatrixRow, code_of, daemon_at
from wired import Wired

__all__ = ["OPERATION_ROWS"]

FROM_ENVIRONMENT = "sk-matrix-env-2f8c6a90b1d7"
FROM_SETTINGS = "sk-matrix-set-7e41c05d93fa"

_PR_CAPBSET_DROP = 24


def _hits(data: bytes) -> int:
    return sum(data.count(key.encode()) for key in (FROM_ENVIRONMENT, FROM_SETTINGS))


# Keys.


@contextmanager
def _keyed(rig: MatrixRig, preface: str = "") -> Iterator[Wired]:
    """Run a daemon with one key in its environment and another in its settings."""
    with rig.other(preface, OPENAI_API_KEY=FROM_ENVIRONMENT) as wire:
        rig.meter.end(wire.daemon.pid)
        wire.daemon.stop()
        settings = wire.daemon.home / "settings.toml"
        settings.touch(mode=0o600)
        settings.write_text(f'[plugins.spare]\napi_key = "{FROM_SETTINGS}"\n')
        wire.daemon.start()
        rig.meter.begin(wire.daemon.pid)
        yield wire


def _found(wire: Wired) -> int:
    """Return how often a key is in what the daemon wrote, but for its settings."""
    written = [path for path in wire.daemon.home.rglob("*") if path.is_file()]
    texts = [path.read_bytes() for path in written if path.name != "settings.toml"]
    assert texts, "nothing was written"
    return sum(map(_hits, [*texts, wire.daemon.log.read_bytes()]))


def _descendants(pid: int) -> Iterator[int]:
    for child in find_children(pid):
        yield child
        yield from _descendants(child)


def _drop_capabilities() -> None:
    # As a plain user's program is: whoever starts the tests.
    for capability in range(64):
        ctypes.CDLL(None).prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def _canaries(rig: MatrixRig) -> str:
    """Have a daemon use a key, then look for both wherever anybody could look."""
    with _keyed(rig) as wire:
        bench = wire.workbench(a__txt="mine")
        wire.draft(bench, b__txt="new")
        wire.ask("DraftPublish", workbench_id=bench)
        assert wire.server.authorization == f"Bearer {FROM_ENVIRONMENT}"
        call = _map(wire, bench, "look.taken", {"deed": "look"})
        count = _found(wire) + _hits(json.dumps(call).encode())
        processes = [*_descendants(wire.daemon.pid)]
        assert processes, "no worker is there"
        for pid in processes:
            count += _hits(Path(f"/proc/{pid}/environ").read_bytes())
        listed = subprocess.run(["ps", "-eww", "-o", "args"], capture_output=True, check=True)
        count += _hits(listed.stdout)
        looked = subprocess.run(
            ["cat", f"/proc/{wire.daemon.pid}/environ"],
            capture_output=True, check=False, preexec_fn=_drop_capabilities,
        )  # fmt: skip
        count += _hits(looked.stdout)
        refused = b"Permission denied" in looked.stderr
    return f"{count} hits; the daemon's environment: {'refused' if refused else 'read'}"


def _map(wire: Wired, bench: str, name: str, order: dict[str, Any]) -> Any:
    """Have a worker do a deed."""
    assert wire.add(bench, wire.file(name, json.dumps(order))) == [("added", None)]
    params = {"workbench_id": bench, "name": "get_file_map", "arguments": {"path": name}}
    return wire.ask("ToolsCall", **params)


def _quoted(rig: MatrixRig) -> str:
    """Have the server's refusal quote a key, and a plugin print, log and raise both."""
    with _keyed(rig) as wire:
        wire.script.instead = lambda _: failure(401, f"wrong key: {FROM_ENVIRONMENT}")
        bench = wire.workbench(a__txt="mine")
        wire.ask("WorkshopSendUserMessage", workbench_id=bench, text="write")
        refused = wire.refused("WorkshopRunAgent", workbench_id=bench)
        told = f"{refused.message} {refused.data}"
        say = {"text": f"{FROM_ENVIRONMENT} {FROM_SETTINGS}", "fails": True}
        code = code_of(wire, "ToolsCall", workbench_id=bench, name="say", arguments=say)
        log = wire.daemon.log.read_text()
        # Said, and crossed out: it was not merely left unsaid.
        assert "***" in told
        for text in ("told: *** ***", "RuntimeError: *** ***"):
            assert text in log
        count = _found(wire) + _hits(told.encode())
    return f"{refused.error_code}, {code}; {count} hits"


_CRASH = "import faulthandler; faulthandler.enable()\n"


def _crashed(number: signal.Signals) -> Callable[[MatrixRig], str]:
    """Have a daemon with keys die of a fault, and look at its limits, its log and for a core."""

    def ask(rig: MatrixRig) -> str:
        before = {*Path.cwd().glob("core*")}
        with _keyed(rig, _CRASH) as wire:
            wire.draft(wire.workbench(a__txt="mine"), b__txt="new")
            pids = [wire.daemon.pid, *_descendants(wire.daemon.pid)]
            limits = {_core_limit(pid) for pid in pids}
            rig.meter.end(wire.daemon.pid)
            os.kill(wire.daemon.pid, number)
            assert wire.daemon.wait() == -number
            # Its last words wait there for the next start.
            output = wire.daemon.home / "daemon" / "output"
            assert "Fatal Python error" in output.read_text()
            count = _found(wire)
            left = [path for path in wire.daemon.home.parent.rglob("core*") if path.is_file()]
            left += {*Path.cwd().glob("core*")} - before
        return f"core limit {' '.join(limits)}, {len(left)} cores, {count} hits"

    return ask


def _core_limit(pid: int) -> str:
    for line in Path(f"/proc/{pid}/limits").read_text().splitlines():
        if line.startswith("Max core file size"):
            return "/".join(line.split()[4:6])
    raise AssertionError(pid)


# The log.

FORGED = '{"event": "forged", "level": "critical"}'
HOSTILE = f"x\n{FORGED}\r{FORGED}\u2028{FORGED}\x1b[2J\x9b\x00"


def _forged(log_format: str) -> Callable[[MatrixRig], str]:
    """Say what would be lines of its own, by a plugin, a method, names of a bench and of files."""

    def ask(rig: MatrixRig) -> str:
        with rig.other(f"sys.argv[-1] = {log_format!r}\n") as wire:
            bench = str(wire.ask("WorkbenchCreate", name="x")["workbench_id"])
            for arguments in ({"text": HOSTILE}, {"text": HOSTILE, "fails": True}):
                params = {"workbench_id": bench, "name": "say", "arguments": arguments}
                code_of(wire, "ToolsCall", **params)
            code_of(wire, HOSTILE, **{HOSTILE: HOSTILE})
            code_of(wire, "WorkbenchCreate", name=HOSTILE)
            inbox = wire.folder / "in"
            inbox.mkdir()
            wire.ask("WatchAdd", folder=str(inbox), prompt="x", quiet_s=0.1, name=HOSTILE)
            (inbox / HOSTILE.strip("\0").replace("/", "")).write_text("x")
            time.sleep(0.5)
            log = wire.daemon.log.read_text()
        assert "forged" in log
        assert not set("\x1b\r\u2028\x00\x9b") & set(log)
        lines = log.splitlines()
        if log_format == "json":
            return f"{[json.loads(line)['event'] for line in lines].count('forged')} forged"
        # Of an entry's traceback each line is indented.
        return f"{sum(line.startswith('{') for line in lines)} forged"

    return ask


def _flood(rig: MatrixRig) -> str:
    """Have a plugin print and log 100,000 times each, beside a client that asks."""
    with rig.other() as wire:
        bench = str(wire.ask("WorkbenchCreate", name="x")["workbench_id"])
        before, began_s = len(wire.daemon.log.read_text().splitlines()), time.monotonic()
        say = {"text": "flood", "times": 100_000}
        code = code_of(wire, "ToolsCall", workbench_id=bench, name="say", arguments=say)
        took_s = time.monotonic() - began_s
        # There is room for an entry again, which tells of the rest.
        time.sleep(0.1)
        code_of(wire, "ToolsCall", workbench_id=bench, name="say", arguments={"text": "end"})
        lines = wire.daemon.log.read_text().splitlines()[before:]
    dropped = sum(json.loads(line).get("dropped", 0) for line in lines)
    assert len(lines) <= 1100 + 50 * took_s, len(lines)
    assert len(lines) + dropped >= 200_000
    return f"{code}, limited, and each counted"


# Workers.


def _stray(rig: MatrixRig) -> str:
    """Fork twice in a call, with a session between: refused, or killed with the call."""
    if not all(layer.holds for layer in find_layers()):
        pytest.skip("this kernel has not all layers")
    confined = _left_behind(rig, rig.wire)
    with rig.other(KBD_WORKERS_SANDBOX="off") as wire:
        return f"{confined}; without the sandbox: {_left_behind(rig, wire)}"


def _left_behind(rig: MatrixRig, wire: Wired) -> str:
    name = f"stray{os.getpid()}"
    targets = {"stray": name}
    order = {"deed": "attempt", "act": "leave a stray", "targets": targets}
    bench = str(wire.ask("WorkbenchCreate", name="x")["workbench_id"])
    refusal = _map(wire, bench, "stray.taken", order)["refused"]
    alive = []
    for comm in Path("/proc").glob("[0-9]*/comm"):
        with suppress(OSError):
            alive += [comm] * (comm.read_text().strip() == name)
    return f"{refusal or 'made'}, {len(alive)} alive"


def _died(order: dict[str, Any]) -> Callable[[MatrixRig], str]:
    """Have a worker do what ends it; then another file is read by the same plugin."""

    def ask(rig: MatrixRig) -> str:
        wire, bench = rig.wire, str(rig.wire.ask("WorkbenchCreate", name="x")["workbench_id"])
        wire.add(bench, wire.file("a.taken", json.dumps(order)))
        arguments = {"path": "a.taken"}
        error = wire.refused(
            "ToolsCall", workbench_id=bench, name="get_file_map", arguments=arguments
        )
        retried = ", retryable" if error.data.get("retryable") else ""
        after = _map(wire, bench, "b.taken", {"deed": "nothing"})
        return f"{error.error_code}{retried}, then {after['done']}"

    return ask


def _signaled(name: str) -> Callable[[MatrixRig], str]:
    return _died({"deed": "signal", "signal": name})


def _garbage(head: bytes, data: bytes = b"", times: int = 1) -> Callable[[MatrixRig], str]:
    order = {"deed": "garbage", "head": head.hex(), "bytes": data.hex(), "times": times}
    return _died(order)


def _framed(data: bytes, times: int = 1) -> Callable[[MatrixRig], str]:
    """Answer these bytes, with their length before them as is due."""
    return _garbage(len(data * times).to_bytes(4), data, times)


# Disks.


def _begun(rig: MatrixRig, daemon: RealDaemon) -> tuple[str, list[dict[str, Any]]]:
    place = rig.place()
    place.write_text("mine")
    bench = daemon.workbench(place)
    return bench, daemon.events(bench)


def _add_more(rig: MatrixRig, daemon: RealDaemon, bench: str) -> str:
    """Add a file of a megabyte, and return the code."""
    place = rig.place()
    place.write_bytes(os.urandom(1 << 20))
    try:
        found = daemon.ask("WorkbenchFilesAdd", workbench_id=bench, source_paths=[str(place)])
    except RemoteError as error:
        return str(error.error_code)
    (row,) = found["add_results"]
    assert row["status"] == "added" or "file system" in row["reason"], row
    return str(row["status"])


def _is_whole(daemon: RealDaemon, bench: str, before: list[dict[str, Any]]) -> str:
    """Return whether all that was acknowledged is there."""
    kept = daemon.events(bench)[: len(before)] == before
    whole = daemon.ask("LogVerify", workbench_id=bench)["ok"]
    return "whole" if kept and whole else "lost"


def _full(rig: MatrixRig) -> str:
    """Fill the disk of a home to its last page, add, make room, and add again."""
    disk = rig.place().parent / "disk"
    with tiny_disk(disk, 64 << 20), daemon_at(rig, disk / "h") as daemon:
        bench, before = _begun(rig, daemon)
        # Not buffered: what does not fit would be tried again when it is closed.
        with (disk / "ballast").open("wb", buffering=0) as ballast, suppress(OSError):
            while True:
                ballast.write(bytes(1 << 16))
        code = _add_more(rig, daemon, bench)
        (disk / "ballast").unlink()
        again = _add_more(rig, daemon, bench)
        return f"{code}, then {again}, {_is_whole(daemon, bench, before)}"


def _file_limit(rig: MatrixRig) -> str:
    """Let the daemon write no file longer than 100 KB any more, as a limit of its user may."""
    disk = rig.place().parent
    with daemon_at(rig, disk / "h") as daemon:
        bench, before = _begun(rig, daemon)
        limited = ["prlimit", f"--pid={daemon.pid}", "--fsize=100000:"]
        if subprocess.run(limited, capture_output=True, check=False).returncode:
            pytest.skip("the limits of a process cannot be set here")
        code = _add_more(rig, daemon, bench)
        subprocess.run(["prlimit", f"--pid={daemon.pid}", "--fsize=unlimited:"], check=True)
        again = _add_more(rig, daemon, bench)
        return f"{code}, then {again}, {_is_whole(daemon, bench, before)}"


def _read_only(rig: MatrixRig) -> str:
    """Have a home's disk turn read-only, as ext4 does when its disk fails; start on it again."""
    disk, image = rig.place().parent / "disk", rig.place().parent / "image"
    with loop_disk(image, disk):
        daemon = RealDaemon(disk / "h")
        daemon.start()
        try:
            rig.meter.begin(daemon.pid)
            bench, before = _begun(rig, daemon)
            remount = ["mount", "-o", "remount,abort", str(disk)]
            subprocess.run(remount, check=True, capture_output=True)
            said = _add_more(rig, daemon, bench)
            # What cannot be recorded ends the daemon; a file that cannot be copied does not.
            with suppress(RemoteError, ConnectionLostError):
                daemon.ask("WorkshopSendUserMessage", workbench_id=bench, text="x")
                said += ", recorded"
            code = daemon.wait()
        finally:
            rig.meter.end(daemon.pid)
            daemon.stop()
    with loop_disk(image, disk), daemon_at(rig, disk / "h") as daemon:
        return f"{said}, exit {code}, then {_is_whole(daemon, bench, before)}"


_RETURNED = b"\x92\xa8Returned"

OPERATION_ROWS = (
    MatrixRow("H1", "a key in the environment, one in settings",
              "0 hits; the daemon's environment: refused", _canaries),
    MatrixRow("H2", "a server and a plugin that quote keys",
              "PROVIDER_AUTH_FAILED, FILE_READ_FAILED; 0 hits", _quoted),
    MatrixRow("H3", "SIGSEGV of a daemon with keys", "core limit 0/0, 0 cores, 0 hits",
              _crashed(signal.SIGSEGV)),
    MatrixRow("H3", "SIGABRT of it, with faulthandler", "core limit 0/0, 0 cores, 0 hits",
              _crashed(signal.SIGABRT)),
    MatrixRow("H4", "breaks, escapes, U+2028 in all that is said", "0 forged", _forged("json")),
    MatrixRow("H4", "the same in a log for a terminal", "0 forged", _forged("console")),
    MatrixRow("H5", "200,000 entries at once", "ok, limited, and each counted", _flood),
    MatrixRow("H6", "a double fork in a call",
              "EPERM, 0 alive; without the sandbox: made, 0 alive", _stray),
    MatrixRow("H7", "bytes that are no answer", "TOOL_WORKER_UNAVAILABLE, retryable, then nothing",
              _garbage(b"\x00\x00\x00\x02\xff\xff")),
    MatrixRow("H7", "4 GiB announced, 4 MB sent",
              "TOOL_WORKER_UNAVAILABLE, retryable, then nothing",
              _garbage(b"\xff\xff\xff\xff", b"\x90", 4_000_000)),
    MatrixRow("H7", "half an answer", "TOOL_WORKER_UNAVAILABLE, retryable, then nothing",
              _garbage((100).to_bytes(4) + _RETURNED + b"\xa5he")),
    MatrixRow("H7", "a list of 4 billion announced",
              "TOOL_WORKER_UNAVAILABLE, retryable, then nothing",
              _framed(_RETURNED + b"\xdd\xff\xff\xff\xff")),
    MatrixRow("H7", "2,000,000 levels", "TOOL_WORKER_UNAVAILABLE, retryable, then nothing",
              _framed(b"\x91", 2_000_000)),
    MatrixRow("H7", "an answer of 80 MB", "VALIDATION_FAILED, then nothing",
              _died({"deed": "much", "size": 80_000_000})),
    MatrixRow("H8", "a worker killed by SIGKILL", "TOOL_TIMEOUT, then nothing",
              _signaled("SIGKILL")),
    MatrixRow("H8", "by SIGSEGV", "FILE_READ_FAILED, then nothing", _signaled("SIGSEGV")),
    MatrixRow("H8", "by SIGABRT", "FILE_READ_FAILED, then nothing", _signaled("SIGABRT")),
    MatrixRow("H8", "by SIGSYS", "FILE_READ_FAILED, then nothing", _signaled("SIGSYS")),
    MatrixRow("H8", "by 8 GiB of memory", "TOOL_TIMEOUT, then nothing",
              _died({"deed": "memory", "size": 8 << 30})),
    MatrixRow("H9", "a full disk", "DISK_FULL, then added, whole", _full),
    MatrixRow("H9", "a limit of files' sizes", "DISK_FULL, then added, whole", _file_limit),
    MatrixRow("H9", "a disk that turns read-only", "skipped, exit 74, then whole", _read_only),
)  # fmt: skip
