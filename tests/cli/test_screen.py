"""The walk in a real terminal: what it draws, and that it gives the terminal back as it was."""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from scripted_daemon import ScriptedDaemon
from walked import answers

LATEST_S = 30.0
"""How long a busy machine may take to draw; no test waits so long that does not fail."""

_DRAWN = re.compile(r"\x1b\[(?:(\d+);1H|\?(\d+)([hl])|[0-9;]*[A-Za-z])|([^\x1b]+)")


# Who runs the tests in the background may have Ctrl-C ignored, and children inherit that.
WALK = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from kbd.cli import main
sys.exit(main())
"""


class Terminal:
    """A pseudo terminal with a command in it, and what is on its screen.

    Attributes:
        rows: The screen by its rows, from 1.
        modes: The private modes that were set, and not reset.
    """

    def __init__(self, home: Path, environment: dict[str, str]) -> None:
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self.rows: dict[int, str] = {}
        self.modes: set[str] = set()
        self.drawn, self._read = "", b""
        self.resize(80, 24)
        # The first terminal that the leader of a session opens sends it its signals (tty(4)).
        opening = ["sh", "-c", 'exec "$@" <"$0" >"$0" 2>&1', os.ttyname(self.slave)]
        self.process = subprocess.Popen(
            [*opening, sys.executable, "-c", WALK, "--home", str(home), "replay", "taxes"],
            start_new_session=True,
            env={**os.environ, "TERM": "xterm-256color", **environment},
        )

    def resize(self, width: int, height: int) -> None:
        """Give the terminal another size; whoever has it is told."""
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def type(self, keys: str) -> None:
        """Press keys."""
        os.write(self.master, keys.encode())

    def until(self, is_seen: Callable[[str], bool]) -> str:
        """Read what is drawn until it is on the screen, and return the screen."""
        deadline = time.monotonic() + LATEST_S
        waiting = select.poll()  # select() takes no descriptor above 1023
        waiting.register(self.master, select.POLLIN)
        while not is_seen(self.screen):
            if time.monotonic() > deadline:
                raise AssertionError(self.screen)
            if waiting.poll(100):
                self._draw(os.read(self.master, 65536))
        return self.screen

    @property
    def screen(self) -> str:
        """What is seen."""
        return "\n".join(self.rows[row] for row in sorted(self.rows))

    def _draw(self, data: bytes) -> None:
        # All of it anew: what was read may have ended within a sequence, or a character.
        self._read += data
        self.drawn = self._read.decode("utf-8", "ignore")
        self.rows, self.modes, at = {}, set(), 0
        for row, mode, switch, written in _DRAWN.findall(self.drawn):
            if row:
                at = int(row)
                self.rows[at] = ""
            elif mode:
                (self.modes.add if switch == "h" else self.modes.discard)(mode)
                if mode == "1049":
                    self.rows = {}
            elif written:
                self.rows[at] = self.rows.get(at, "") + written

    def close(self) -> None:
        """End what still runs."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.master)
        os.close(self.slave)


@pytest.fixture
def terminal(daemon: ScriptedDaemon, short_dir: Path) -> Iterator[Terminal]:
    """A terminal in which a run is walked through."""
    daemon.answers.update(answers())
    running = Terminal(short_dir, {})
    yield running
    running.close()


def test_a_walk_takes_the_terminal_and_gives_it_back(terminal: Terminal) -> None:
    """Keys move it, another size draws it anew, a stop and q leave all as it was."""
    first = terminal.until(lambda seen: "? keys" in seen)
    assert "> " in first
    assert "step 1 of 13" in first
    assert terminal.modes == {"1049"}
    assert termios.tcgetattr(terminal.slave) != terminal.before

    terminal.type("\x1b[B\x1b[Bj")
    terminal.until(lambda seen: "step 4 of 13" in seen)
    terminal.type("/needle\x1b")
    terminal.until(lambda seen: "j/k step" in seen)
    terminal.resize(40, 12)
    os.kill(terminal.process.pid, signal.SIGWINCH)
    small = terminal.until(lambda seen: "q quit" in seen and "j/k step  ? keys" in seen)
    assert "\x1b" not in small

    # Nobody could let it go on: so the system does not stop it, and it goes on by itself.
    terminal.type("\x1a")
    terminal.until(lambda _: "\x1b[?1049l" in terminal.drawn)
    terminal.until(lambda seen: "step 4 of 13" in seen)

    terminal.type("q")
    assert terminal.process.wait(LATEST_S) == 0
    terminal.until(lambda _: not terminal.modes - {"7", "25"})
    assert terminal.modes == {"7", "25"}
    assert termios.tcgetattr(terminal.slave) == terminal.before
    assert "evil" in terminal.drawn
    assert "owned" not in terminal.drawn


def test_a_walk_that_is_interrupted_gives_the_terminal_back(
    daemon: ScriptedDaemon, short_dir: Path
) -> None:
    """Ctrl-C ends it at once; without colour nothing is styled."""
    daemon.answers.update(answers())
    terminal = Terminal(short_dir, {"NO_COLOR": "1"})
    try:
        terminal.until(lambda seen: "? keys" in seen)
        assert not re.search(r"\x1b\[[0-9;]*m", terminal.drawn)
        terminal.type("\x03")
        assert terminal.process.wait(LATEST_S) == 130
        terminal.until(lambda _: "Interrupted." in terminal.drawn)
        assert "1049" not in terminal.modes
        assert termios.tcgetattr(terminal.slave) == terminal.before
    finally:
        terminal.close()


def test_a_dumb_terminal_gets_text(daemon: ScriptedDaemon, short_dir: Path) -> None:
    """Nothing is drawn where nothing can be."""
    daemon.answers.update(answers())
    terminal = Terminal(short_dir, {"TERM": "dumb"})
    try:
        terminal.until(lambda _: "no answer is recorded" in terminal.drawn)
        assert terminal.process.wait(LATEST_S) == 0
        assert "\x1b" not in terminal.drawn
    finally:
        terminal.close()
