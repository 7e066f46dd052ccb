"""A daemon that is stopped for longer than everything it waits for may take, and clocks that jump.

Stopped by a signal, as a debugger, a freezer of control groups or a terminal does, the clocks run
on without it. Each limit is shorter here than the stop, so what an hour does to the usual limits
shows in seconds. A suspended machine is gentler: its monotonic clock stands.
"""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from whole.installed import describe_plugins
from whole.matrix_rig import connect
from wired import Wired, wired

pytestmark = [pytest.mark.full, pytest.mark.timeout(180)]

STOP_S = 13.0
"""Longer than any limit below, and than a message that has begun may take (10 s)."""

LIMITS = {
    "KBD_RUN_TURN_S": "6",
    "KBD_RUN_TOOL_S": "6",
    "KBD_WORKERS_WALL_S": "6",
    "KBD_LIMITS_SEND_S": "4",
    "KBD_LIMITS_OUTBOUND_BYTES": "1000000",
}

LARGE = "x" * 100_000

WANTED = 40
"""How many answers the client asks for that reads late: more than a socket holds."""

SLOW = '''
"""A tool that takes four seconds, in a worker."""

import time

import msgspec

from kbd import hookimpl
from kbd.tools import Tool, ToolResult
from kbd.types import Effect


class Nothing(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No arguments."""


class Slow(Tool):
    """The tool."""

    name = "slow"
    description = "Take four seconds."
    arguments = Nothing
    effect = Effect.READ

    async def run(self, context, arguments):
        """Do it."""
        return ToolResult(await context.isolate(take_long, {"seconds": 4}))


def take_long(seconds):
    """Sleep."""
    time.sleep(seconds)
    return "done"


@hookimpl
def kbd_register_tools():
    """Declare the tool."""
    return [Slow()]
'''


@pytest.fixture(params=["asyncio", "trio"])
def wire(short_dir: Path, request: pytest.FixtureRequest) -> Iterator[Wired]:
    """A daemon with limits of seconds, and the slow tool."""
    site = short_dir / "site"
    (site / "kbd_slow").mkdir(parents=True)
    (site / "kbd_slow" / "__init__.py").write_text(SLOW)
    preface = describe_plugins(site, "slow", {"slow": "kbd_slow"})
    with wired(str(request.param), preface, LIMITS) as running:
        yield running


class _Asked(threading.Thread):
    """One request in a thread of its own.

    Attributes:
        answer: Its answer, or the error.
    """

    def __init__(self, wire: Wired, method: str, **params: Any) -> None:
        super().__init__()
        self.answer: Any = None
        self._wire, self._method, self._params = wire, method, params
        self.start()

    def run(self) -> None:
        """Ask."""
        try:
            self.answer = self._wire.ask(self._method, **self._params)
        except Exception as error:  # noqa: BLE001 - the test looks at it
            self.answer = error

    def wait(self) -> Any:
        """Return the answer."""
        self.join(60)
        return self.answer


def _line(number: int, method: str, **params: Any) -> bytes:
    asked = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    return json.dumps(asked).encode() + b"\n"


def _read_answers(client: socket.socket, count: int) -> list[dict[str, Any]]:
    """Read answers until so many are there, or the end; notifications are left out."""
    with client.makefile("rb") as lines:
        found: list[dict[str, Any]] = []
        for line in lines:
            said = json.loads(line)
            if "id" in said:
                found.append(said)
            if len(found) == count:
                return found
    return found


def _reading(workbench_id: str) -> dict[str, Any]:
    arguments = {"path": "large.txt"}
    return {"workbench_id": workbench_id, "name": "read_file", "arguments": arguments}


def test_a_stop_is_held_against_nobody(wire: Wired) -> None:
    """The lock holds; run, worker and clients go on as if no time had passed."""
    file = wire.file("a.txt", "old\n")
    workbench_id = wire.daemon.workbench(file)
    tool = {"workbench_id": workbench_id, "name": "slow", "arguments": {}}
    assert wire.ask("ToolsCall", **tool) == "done"
    text = {"path": "large.txt", "content": LARGE}
    wire.ask("ToolsCall", workbench_id=workbench_id, name="write_text_file", arguments=text)
    epochs = _epochs(wire)

    # A run whose model thinks, a worker at work, who has said half a word, who reads later.
    wire.script.writes = {"b.txt": "new"}
    wire.script.answers.clear()
    wire.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="write")
    run_id = wire.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)["run_id"]
    assert wire.script.asked.wait(30)
    asked = len(wire.script.requests)
    with connect(wire, 60) as half, connect(wire, 60) as late:
        begun = _line(1, "EngineGetInfo")
        half.sendall(begun[:10])
        late.sendall(
            b"".join(_line(n, "ToolsCall", **_reading(workbench_id)) for n in range(WANTED))
        )
        slow = _Asked(wire, "ToolsCall", **tool)
        time.sleep(2)
        os.kill(wire.daemon.pid, signal.SIGSTOP)
        try:
            began_s = time.monotonic()
            time.sleep(1)
            wire.script.answers.set()
            half.sendall(begun[10:])
            second = _second_daemon(wire)
            time.sleep(STOP_S - (time.monotonic() - began_s))
        finally:
            os.kill(wire.daemon.pid, signal.SIGCONT)
        told = {"half a word": _read_answers(half, 1), "late": _read_answers(late, WANTED)}
    run = wire.daemon.wait_for_run(run_id)
    # Nothing was asked of the model a second time: that costs money.
    prompts = [json.dumps(body["messages"]) for body in wire.script.requests]
    assert len(prompts) > asked
    assert {
        "half a word": [each.get("result", {}).get("pid") for each in told["half a word"]],
        "late": ["error" if "error" in each else "read" for each in told["late"]],
        "worker": str(slow.wait()),
        "run": run["status"],
        "asked again": len(prompts) - len(set(prompts)),
    } == {
        "half a word": [wire.daemon.pid],
        "late": ["read"] * WANTED,
        "worker": "done",
        "run": "finished",
        "asked again": 0,
    }
    assert second == 75
    assert _epochs(wire) == epochs
    assert wire.ask("LogVerify", workbench_id=workbench_id)["ok"]


CLOCK = """
import time
from pathlib import Path
nanoseconds, seconds = time.time_ns, time.time
def ahead():
    try:
        return int(Path({place!r}).read_text() or 0)
    except OSError:
        return 0
time.time_ns = lambda: nanoseconds() + ahead() * 10**9
time.time = lambda: seconds() + ahead()
"""
"""Has a daemon's clock of the day be ahead by the seconds that a file tells."""

YEAR_S = 365 * 86_400


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_a_clock_that_jumps_orders_and_ends_nothing(short_dir: Path, backend: str) -> None:
    """Ten years on in a run, ten back in the next: both end, in order, and took no odd time."""
    ahead = short_dir / "ahead"
    with wired(backend, CLOCK.format(place=str(ahead)), {"KBD_RUN_TURN_S": "20"}) as wire:
        workbench_id = wire.workbench(a__txt="old")
        stamps = []
        for jump_s in (0, 10 * YEAR_S, -10 * YEAR_S):
            wire.script.answers.clear()
            wire.script.writes = {f"j{jump_s}.txt": "new"}
            wire.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="write")
            started = wire.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)
            assert wire.script.asked.wait(30)
            ahead.write_text(str(jump_s))
            wire.script.asked.clear()
            wire.script.answers.set()
            assert wire.daemon.wait_for_run(started["run_id"])["status"] == "finished"
            stamps.append(wire.daemon.events(workbench_id)[-1]["ts"])
        events = wire.daemon.events(workbench_id)
        assert stamps[2] < stamps[0] < stamps[1]
        assert [each["seq"] for each in events] == list(range(1, len(events) + 1))
        took = [
            (name, value)
            for each in events
            for name, value in each["data"].items()
            if name.endswith(("_ms", "_s")) and isinstance(value, int | float)
        ]
        assert took
        assert [each for each in took if not 0 <= each[1] < 60_000] == []
        epochs = _epochs(wire)
        wire.daemon.kill()
        wire.daemon.start()
        assert _epochs(wire) == [*epochs, epochs[-1] + 1]
        assert wire.ask("LogVerify", workbench_id=workbench_id)["ok"]


def _epochs(wire: Wired) -> list[int]:
    events = wire.daemon.events("daemon")
    return [each["data"]["epoch"] for each in events if each["type"] == "DaemonStarted"]


def _second_daemon(wire: Wired) -> int:
    """Start another daemon in the same home, and return its exit code."""
    command = [sys.executable, "-m", "kbd", "--home", str(wire.daemon.home), "daemon"]
    made = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert "another daemon" in made.stderr
    return made.returncode
