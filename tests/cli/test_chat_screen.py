"""`kbd chat` in a real terminal: the answer as it comes, Ctrl-C, and the terminal afterwards."""

import os
import pty
import select
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chatted import answers, deltas, said
from scripted_daemon import Notify, ScriptedDaemon
from scripted_job import RUN, WORKBENCH, run_info

pytestmark = pytest.mark.full

LATEST_S = 30.0
"""How long a busy machine may take; no test waits so long that does not fail."""

# Who runs the tests in the background may have Ctrl-C ignored, and children inherit that.
CHAT = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from kbd.cli import main
sys.exit(main())
"""


class Terminal:
    """A pseudo terminal with a conversation in it.

    Attributes:
        drawn: All that was written to it.
    """

    def __init__(self, home: Path) -> None:
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.drawn = ""
        # The first terminal that the leader of a session opens sends it its signals (tty(4)).
        opening = ["sh", "-c", 'exec "$@" <"$0" >"$0" 2>&1', os.ttyname(self.slave)]
        self.process = subprocess.Popen(
            [*opening, sys.executable, "-c", CHAT, "--home", str(home), "chat", "taxes"],
            start_new_session=True,
            # Nobody answers here when it is asked where the cursor is.
            env={**os.environ, "TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"},
        )

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self.master, keys.encode())

    def until(self, text: str) -> str:
        """Read until a text was written, and return all up to then; later reading begins there."""
        deadline = time.monotonic() + LATEST_S
        waiting = select.poll()
        waiting.register(self.master, select.POLLIN)
        while text not in self.drawn:
            if time.monotonic() > deadline:
                raise AssertionError(self.drawn)
            if waiting.poll(100):
                self.drawn += os.read(self.master, 65536).decode("utf-8", "ignore")
        seen, _, self.drawn = self.drawn.partition(text)
        return seen

    def close(self) -> None:
        """End what still runs."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def terminal(daemon: ScriptedDaemon, short_dir: Path) -> Iterator[Terminal]:
    """A terminal in which somebody talks with the workbench."""
    daemon.answers |= answers()
    running = Terminal(short_dir)
    yield running
    running.close()


def test_an_answer_is_written_once_and_clean(daemon: ScriptedDaemon, terminal: Terminal) -> None:
    """As it comes; what came before the summary is not part of it."""
    whole = "There are \x1b]0;owned\x07twelve."
    daemon.answers["WorkshopGetConversation"] = {"messages": [said("assistant", whole, "a")]}
    daemon.answers["WorkshopRunAgent"] = deltas("There are \x1b]0;", "owned\x07twel", "ve.")
    terminal.until("taxes>")
    terminal.type("how many\r")
    terminal.until("There are twelve.")
    rest = terminal.until(" took ")
    assert "There are" not in rest
    assert "owned" not in rest
    terminal.until("taxes>")
    terminal.type("\x04")
    assert terminal.process.wait(LATEST_S) == 0
    assert termios.tcgetattr(terminal.slave) == terminal.before


def test_ctrl_c_cancels_the_run_and_not_the_conversation(
    daemon: ScriptedDaemon, terminal: Terminal
) -> None:
    """The answer stops, the run is cancelled, the next line is asked for; Ctrl-C there clears."""
    cancelled = threading.Event()

    def cancel(_params: dict[str, Any], _notify: Notify) -> dict[str, Any]:
        cancelled.set()
        return {"cancel_requested": True}

    daemon.answers["WorkshopRunAgent"] = deltas("One", " two")
    daemon.answers["WorkshopCancelRun"] = cancel
    daemon.answers["RunGet"] = lambda *_: run_info("cancelled" if cancelled.is_set() else "running")
    terminal.until("taxes>")
    terminal.type("count\r")
    terminal.until("One")
    terminal.type("\x03")
    terminal.until("Press Ctrl-C again to stop waiting.")
    terminal.until("Cancelled; what was done is kept. /resume goes on")
    terminal.until("taxes>")
    assert daemon.params_of("WorkshopCancelRun") == {"workbench_id": WORKBENCH}
    daemon.answers["RunGet"] = run_info(run_id=RUN)
    terminal.type("never sent\x03/resume\r")
    terminal.until("Made one sheet a category.")
    terminal.until("taxes>")
    terminal.type("/quit\r")
    assert terminal.process.wait(LATEST_S) == 0
    assert daemon.methods().count("WorkshopSendUserMessage") == 1
