"""Rig of the matrix of hostile inputs: daemons that are asked, and what it took them to answer.

A row is one line of the list of threats (reliability, 5.3) or a part of one; its input is made
when it is asked for. Most rows share one daemon. Its plugins are kbd's and `kbd_taken`: files
`.taken` order what their worker does, and the tool `say` prints and logs in the daemon.
"""

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

from kbd.client.blocking import RemoteError
from real_daemon import RealDaemon
from wired import Wired, wired

__all__ = [
    "MatrixRig",
    "MatrixRow",
    "PeakMeter",
    "code_of",
    "connect",
    "daemon_at",
    "kbd",
    "request_line",
]

TESTS = Path(__file__).parents[1]
PACKAGES = TESTS / "core/plugins/packages"

FILE_BYTES = 4 << 20
"""The largest file of a workbench here."""

PREFACE = """
from functools import partial
from pathlib import Path
from kbd.core.api import daemon
sys.path += {paths!r}
from measured_pool import MeasuredPool
class TellingPool(MeasuredPool):
    async def _finished(self, *given):
        if not Path({told!r}).exists():
            self.peak_bytes = 0
        finished = await super()._finished(*given)
        # Put in place whole: the test may read at any moment.
        begun = Path({told!r} + ".part")
        begun.write_text(str(self.peak_bytes))
        begun.replace({told!r})
        return finished
daemon.WorkerPool = partial(TellingPool, extra_paths=[Path({site!r})])
"""
"""Has a daemon find the test's plugin, and tell the most memory that a call of a worker had."""


class MatrixRow(NamedTuple):
    """A row of the matrix, or a part of one.

    Args:
        number: Its number in the list.
        shown: The input in words.
        due: The answer that is due.
        ask: Makes the input, asks, and returns the answer.
        reason: Why the answer is another one than the list has, where it is.
    """

    number: str
    shown: str
    due: str
    ask: "Callable[[MatrixRig], str]"
    reason: str = ""


class PeakMeter:
    """Memory of processes while a row is asked for: the most that one of them had, and grew by."""

    def __init__(self) -> None:
        self._begun: dict[int, int] = {}
        self._ended: list[tuple[int, int]] = []

    def begin(self, pid: int) -> None:
        """Measure a process from here on."""
        with suppress(OSError):
            # The highest mark is the present one from then on (proc(5)).
            Path(f"/proc/{pid}/clear_refs").write_text("5")
        self._begun[pid] = _status_kib(pid, "VmRSS")

    def end(self, pid: int) -> None:
        """Take the mark of a process that is about to end."""
        before = self._begun.pop(pid, None)
        peak = _status_kib(pid, "VmHWM")
        if before is not None and peak:
            self._ended.append((peak - before, peak))

    def take(self) -> tuple[int, int]:
        """Return peak and growth of the process that grew most, in MiB, and forget them all."""
        for pid in tuple(self._begun):
            self.end(pid)
        growth, peak = max(self._ended, default=(0, 0))
        self._ended.clear()
        return round(peak / 1024), round(growth / 1024)


def _status_kib(pid: int, name: str) -> int:
    with suppress(FileNotFoundError, ProcessLookupError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1])
    return 0


class MatrixRig:
    """A daemon, a workbench, the user's folder; and other daemons for rows that take one.

    Args:
        folder: A folder with a short path.
        stack: Ends what lasts for several rows.

    Attributes:
        wire: The daemon of most rows.
        wb: The workbench.
        folder: The user's.
        site: Where the test's plugin is installed.
        meter: The memory of the daemons.
    """

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self.site, self._told = folder / "site", folder / "worker-peak"
        _install(self.site)
        self.meter = PeakMeter()
        more = {"KBD_LIMITS_FILES": "200", "KBD_LIMITS_FILE_BYTES": str(FILE_BYTES)}
        self.wire = stack.enter_context(wired("asyncio", self.preface(), more))
        self.folder = self.wire.folder
        self._made = 0
        self.wb = self.wire.workbench(a__txt="old")

    def preface(self) -> str:
        """Return what a daemon runs first that is to have the plugin and to be measured."""
        paths = [str(TESTS), str(self.site)]
        return PREFACE.format(paths=paths, told=str(self._told), site=str(self.site))

    def worker_mib(self) -> int:
        """Return the most memory that a worker's call had since it was asked last, in MiB."""
        try:
            return int(self._told.read_text()) >> 20
        except FileNotFoundError:
            return 0
        finally:
            self._told.unlink(missing_ok=True)

    @contextmanager
    def other(self, preface: str = "", **more: str) -> Iterator[Wired]:
        """Run another daemon, and measure it.

        Args:
            preface: Python that it runs first.
            more: What its environment has beside.
        """
        with wired("asyncio", self.preface() + preface, more) as running:
            self.meter.begin(running.daemon.pid)
            try:
                yield running
            finally:
                self.meter.end(running.daemon.pid)

    # What is asked.

    def write(self, path: str) -> str:
        """Have a tool write a file, and return the code, or "ok"."""
        return self.tool("write_text_file", path=path, content="x")

    def tool(self, name: str, **arguments: Any) -> str:
        """Call a tool in the workbench, and return the code, or "ok"."""
        return self.code("ToolsCall", workbench_id=self.wb, name=name, arguments=arguments)

    def code(self, method: str, **params: Any) -> str:
        """Ask, and return the code of the refusal, or "ok"."""
        return code_of(self.wire, method, **params)

    def add(self, path: str | Path) -> str:
        """Add a file of the user's, and return what became of it."""
        params = {"workbench_id": self.wb, "source_paths": [str(path)]}
        try:
            found = self.wire.ask("WorkbenchFilesAdd", **params)
        except RemoteError as error:
            return error.error_code or str(error.code)
        (row,) = found["add_results"]
        return f"{row['status']}: {row['reason']}" if row.get("reason") else str(row["status"])

    def extract(self, destination: Path, *paths: str) -> str:
        """Extract published files to a folder, and return what became of the first."""
        found = self.wire.ask(
            "WorkbenchFilesExtract",
            workbench_id=self.wb, destination_dir=str(destination), workbench_paths=list(paths),
        )  # fmt: skip
        row = found["extract_results"][0]
        return f"{row['status']}: {row['reason']}" if row.get("reason") else str(row["status"])

    def place(self) -> Path:
        """Return a path in a new folder of the user's."""
        self._made += 1
        folder = self.folder / f"m{self._made}"
        folder.mkdir()
        return folder / f"s{self._made}.txt"

    def root(self) -> Path:
        """Return the folder of the workbench."""
        return self.wire.published(self.wb).parent

    def connect(self) -> socket.socket:
        """Connect without a library."""
        return connect(self.wire)

    def say(self, *messages: bytes, ends: bool = False) -> str:
        """Send lines, and return the answers' codes, or "ok", or "closed"."""
        with self.connect() as client, client.makefile("rb") as lines:
            with suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(b"".join(message + b"\n" for message in messages))
            if ends:
                client.shutdown(socket.SHUT_WR)
            said = []
            with suppress(ConnectionResetError):
                for line in lines:
                    answers = json.loads(line)
                    for answer in answers if isinstance(answers, list) else [answers]:
                        if "id" in answer:
                            error = answer.get("error")
                            said.append(str(error["code"]) if error else "ok")
                    if len(said) >= len(messages) and not ends:
                        break
        return " ".join(dict.fromkeys(said)) or "closed"


@contextmanager
def daemon_at(rig: MatrixRig, home: Path) -> Iterator[RealDaemon]:
    """Run a daemon with a home of its own, and meter it."""
    daemon = RealDaemon(home)
    daemon.start()
    rig.meter.begin(daemon.pid)
    try:
        yield daemon
    finally:
        rig.meter.end(daemon.pid)
        daemon.stop()


def connect(wire: Wired, wait_s: float = 20) -> socket.socket:
    """Connect to a daemon without a library."""
    client = socket.socket(socket.AF_UNIX)
    client.settimeout(wait_s)
    client.connect(wire.daemon.socket)
    return client


def code_of(wire: Wired, method: str, **params: Any) -> str:
    """Ask, and return the code of the refusal, or "ok"."""
    try:
        wire.ask(method, **params)
    except RemoteError as error:
        told = f"{error.message} {error.data}"
        assert str(wire.daemon.home) not in told
        assert "Traceback" not in told
        return error.error_code or str(error.code)
    return "ok"


def request_line(params: str = "{}", ident: str = "1", method: str = '"EngineGetInfo"') -> bytes:
    """Return a request as it goes over the wire, whatever its parts are."""
    return (f'{{"jsonrpc":"2.0","id":{ident},"method":{method},"params":{params}}}').encode(
        "utf-8", "surrogatepass"
    )


def kbd(home: Path, *words: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command of kbd on a home."""
    command = [sys.executable, "-m", "kbd", "--home", str(home), *words]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=60, **options
    )


def _install(site: Path) -> None:
    """Install the test's plugin as an installer would."""
    shutil.copytree(PACKAGES / "kbd_taken", site / "kbd_taken")
    described = site / "taken-1.dist-info"
    described.mkdir()
    (described / "METADATA").write_text("Name: taken\nVersion: 1\n\n")
    points = "taken = kbd_taken\ntaken_speech = kbd_taken.speech\n"
    (described / "entry_points.txt").write_text(f"[kbd]\n{points}")
