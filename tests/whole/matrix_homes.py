"""Rows of the matrix on homes and plugins: newer logs, copies, two starts, what was installed."""

import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec

from kbd.events import EventLog, wrap_event
from kbd.events.workbenches import ModelChosen
from real_daemon import RealDaemon
from whole.matrix_rig import MatrixRig, MatrixRow, code_of, daemon_at, kbd
from wired import Wired

__all__ = ["HOME_ROWS"]

MUST_UNDERSTAND = 1
"""The flag of an event that a reader must know (`kbd.events`)."""


def _newer(log: Path, *, flags: int) -> None:
    """Record in a log what a newer kbd would: a known event, in a version of the future."""
    opened = EventLog.open(log)
    try:
        event = wrap_event(ModelChosen("a:b"), 1_800_000_000_000_000)
        opened.append([msgspec.structs.replace(event, version=99, flags=flags)])
    finally:
        opened.close()


def _hashes(folder: Path) -> dict[str, str]:
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.glob("*.kbl")
    }


def _newer_home(rig: MatrixRig) -> str:
    """Start a daemon on a home of which a newer kbd wrote the daemon's log."""
    with rig.other() as wire:
        wire.daemon.stop()
        log = wire.daemon.home / "daemon" / "log"
        _newer(log, flags=MUST_UNDERSTAND)
        before = _hashes(log)
        done = kbd(wire.daemon.home, "daemon")
        assert _hashes(log) == before
        assert "Traceback" not in done.stderr
    why = "a newer kbd is needed" if "a newer kbd is needed" in done.stderr else done.stderr
    return f"exit {done.returncode}: {why}; the log as it was"


def _newer_bench(rig: MatrixRig) -> str:
    """Open workbenches whose logs a newer kbd wrote: what must be understood, and what need not."""
    with rig.other() as wire:
        benches = [wire.workbench(a__txt="old") for _ in range(3)]
        wire.daemon.stop()
        logs = [wire.daemon.home / "workbenches" / bench / "log" for bench in benches]
        _newer(logs[0], flags=MUST_UNDERSTAND)
        _newer(logs[1], flags=0)
        before = _hashes(logs[0])
        wire.daemon.start()
        rig.meter.begin(wire.daemon.pid)
        opened = wire.ask("WorkbenchOpen", workbench_id=benches[0])["workbench"]
        told = "told, " * ("a newer kbd is needed" in opened.get("reason", ""))
        arguments = {"path": "c.txt", "content": "x"}
        write = {"name": "write_text_file", "arguments": arguments}
        codes = [code_of(wire, "ToolsCall", workbench_id=bench, **write) for bench in benches]
        assert _hashes(logs[0]) == before
    return f"{told}writing: {codes[0]}; need not: {codes[1]}; another: {codes[2]}"


# Two of one home.


def _epoch(daemon: RealDaemon) -> int:
    starts = [e["data"] for e in daemon.events("daemon") if e["type"] == "DaemonStarted"]
    return int(starts[-1]["epoch"])


def _two_starts(rig: MatrixRig) -> str:
    """Start a second daemon on a home, also with another socket."""
    with rig.other() as wire:
        codes = []
        for more in ([], ["--socket", str(wire.folder.parent / "s")]):
            done = kbd(wire.daemon.home, *more, "daemon")
            assert "another daemon" in done.stderr
            codes.append(str(done.returncode))
        return f"exit {' and '.join(codes)}; the first: {code_of(wire, 'EngineGetInfo')}"


def _beside(make: Callable[[Wired, Path], None]) -> Callable[[MatrixRig], str]:
    """Make another home of one, start a daemon on it beside the first, and let both write."""

    def ask(rig: MatrixRig) -> str:
        with rig.other() as wire:
            bench = wire.workbench(a__txt="old")
            second = wire.folder.parent / "second"
            make(wire, second)
            with daemon_at(rig, second) as daemon:
                told = daemon.ask("EngineGetInfo").get("home_warning", "")
                later = _epoch(daemon) - _epoch(wire.daemon)
                for each in (wire.daemon, daemon):
                    each.ask("WorkshopSendUserMessage", workbench_id=bench, text="mine")
                    assert each.ask("LogVerify", workbench_id=bench)["ok"]
                doctor = kbd(second, "doctor").stdout
        named = str(wire.daemon.home) in told and "device" in told and "inode" in told
        assert told in doctor
        return f"epoch {later:+}, {'told' if named else told}, in doctor"

    return ask


def _copied(wire: Wired, second: Path) -> None:
    subprocess.run(["cp", "-a", str(wire.daemon.home), str(second)], check=True)


def _restored(wire: Wired, second: Path) -> None:
    backup = second.with_name("backup")
    wire.ask("BackupCreate", target=str(backup))
    done = kbd(second, "restore", str(backup))
    assert done.returncode == 0, done.stderr


# Plugins.

_FORMAT = """
from kbd import hookimpl
from kbd.formats import FormatHandler
class Shadow(FormatHandler):
    name = "csv"
    wire_name = "Shadow"
    kind = "text"
    suffixes = {".shadow": "text/plain"}
@hookimpl
def kbd_register_formats(settings):
    return [Shadow()]
"""


SITE = {
    "raises": "raise RuntimeError('no')",
    "exits": "import sys; sys.exit(3)",
    "xlsx": _FORMAT,
    "shadow": _FORMAT,
}
"""Entry points by name, with their modules."""


def _installed(rig: MatrixRig) -> str:
    """Start a daemon that finds them; each is left out, with an event and a line in doctor."""
    site = rig.place().parent / "site"
    for point, text in SITE.items():
        (site / f"p_{point}").mkdir(parents=True)
        (site / f"p_{point}" / "__init__.py").write_text(text)
        described = site / f"{point}_dist-99.dist-info"
        described.mkdir()
        (described / "METADATA").write_text(f"Name: {point}_dist\nVersion: 99\n\n")
        (described / "entry_points.txt").write_text(f"[kbd]\n{point} = p_{point}\n")
    with rig.other(f"sys.path.append({str(site)!r})\n") as wire:
        found = [each for each in wire.ask("PluginsList")["plugins"] if each["version"] == "99"]
        out = {each["name"] for each in found if each["status"] == "left_out"}
        events = {each["data"]["name"].split(" of ")[0] for each in _left_out(wire)}
        doctor = kbd(wire.daemon.home, "doctor").stdout
        told = {point for point in SITE if f"WRONG plugin    {point} 99 left out: " in doctor}
        bench = wire.workbench(a__csv="a,b\n1,2\n")
        read = {"name": "read_file", "arguments": {"path": "a.csv"}}
        assert wire.ask("ToolsCall", workbench_id=bench, **read)["text"] == "a,b\n1,2\n"
    assert out == events == told
    return f"left out, told, in doctor: {' '.join(sorted(out))}"


def _left_out(wire: Wired) -> list[dict[str, Any]]:
    return [each for each in wire.daemon.events("daemon") if each["type"] == "PluginLeftOut"]


HOME_ROWS = (
    MatrixRow("H11", "a daemon's log of a newer kbd",
              "exit 1: a newer kbd is needed; the log as it was", _newer_home),
    MatrixRow("H11", "workbenches' logs of a newer kbd",
              "told, writing: LOG_CORRUPT; need not: ok; another: ok", _newer_bench,
              "what stands before it can be read, and nothing is written (kbd.events)"),
    MatrixRow("H12", "two starts of one home", "exit 75 and 75; the first: ok", _two_starts),
    MatrixRow("H12", "a copy beside the first", "epoch +1, told, in doctor", _beside(_copied)),
    MatrixRow("H12", "a backup restored beside its origin", "epoch +1, told, in doctor",
              _beside(_restored)),
    MatrixRow("H13", "raising, exiting, of another one's name or format",
              "left out, told, in doctor: exits raises shadow xlsx", _installed),
)  # fmt: skip
