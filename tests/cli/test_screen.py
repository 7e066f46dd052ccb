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
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kbd.cli.terminal import cell_width
from scripted_daemon import ScriptedDaemon
from walked import answers

LATEST_S = 30.0
"""How long a busy machine may take to draw; no test waits so long that does not fail."""

_DRAWN = re.compile(r"\x1b\[(\??)([\d;]*)([A-Za-z])|([^\x1b])", re.DOTALL)


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
        modes: The private modes that were set, and not reset.
        drawn: All that was written to it.
    """

    def __init__(self, home: Path, environment: dict[str, str]) -> None:
        self.master, self.slave = pty.openpty()
        self.before = termios.tcgetattr(self.slave)
        self._cells: dict[tuple[int, int], str] = {}
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
                raise AssertionError(self.screen, self.drawn[-300:])
            if waiting.poll(100):
                self._draw(os.read(self.master, 65536))
        return self.screen

    @property
    def screen(self) -> str:
        """What is seen."""
        places = sorted(self._cells)
        rows = {row: "" for row, _ in places}
        for row, column in places:
            rows[row] = rows[row].ljust(column) + self._cells[row, column]
        return "\n".join(rows.values())

    def _draw(self, data: bytes) -> None:  # noqa: C901 - a case a sequence
        # All of it anew: what was read may have ended within a sequence, or a character.
        self._read += data
        self.drawn = self._read.decode("utf-8", "ignore")
        self._cells, self.modes, row, column = {}, set(), 0, 0
        for is_private, numbers, what, written in _DRAWN.findall(self.drawn):
            count = int(numbers or 1) if ";" not in numbers else 0
            if written.isprintable() and written:
                self._cells[row, column] = written
                column += cell_width(written)
                continue
            match what or written:
                case "h" | "l" if is_private:
                    (self.modes.add if what == "h" else self.modes.discard)(numbers)
                    if numbers == "1049":
                        self._cells = {}
                case "H":
                    row, column = [max(int(each), 1) - 1 for each in (numbers or "1;1").split(";")]
                case "A":
                    row -= count
                case "C":
                    column += count
                case "D":
                    column = max(0, column - count)
                case "J" | "K":
                    ended = [
                        (at, place)
                        for at, place in self._cells
                        if (at == row and place >= column) or (what == "J" and at > row)
                    ]
                    for each in ended:
                        del self._cells[each]
                case "\r":
                    column = 0
                case "\n":
                    row += 1
                case "\b":
                    column -= 1

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


def _is_given_back(terminal: Terminal) -> bool:
    """Whether the terminal is as it was: modes, first screen, and the cursor where it stood."""
    terminal.until(lambda _: "1049" not in terminal.modes and {"7", "25"} <= terminal.modes)
    _, _, afterwards = terminal.drawn.rpartition("\x1b[?1049l")
    return (
        terminal.modes == {"7", "25"}
        and termios.tcgetattr(terminal.slave) == terminal.before
        and not re.search(r"\x1b\[[\d;]*[ABCDHJ]", afterwards)
    )


def test_a_walk_takes_the_terminal_and_gives_it_back(terminal: Terminal) -> None:
    """Keys move it, another size draws it anew, a stop and q leave all as it was."""
    first = terminal.until(lambda seen: "? keys" in seen)
    assert "> " in first
    assert "step 1 of 13" in first
    assert "1049" in terminal.modes
    assert not terminal.modes & {"7", "25", "1000", "1002", "1003", "1006"}
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
    assert _is_given_back(terminal)
    assert "evil" in terminal.drawn
    assert "owned" not in terminal.drawn


def test_keys_are_told_apart(terminal: Terminal) -> None:
    """Sequences of terminals, characters of any alphabet, a lone Esc; the unknown is left out."""
    terminal.until(lambda seen: "step 1 of 13" in seen)
    terminal.type("\x1bOB\x1b[B\x1b[1;5C\x1b[A")
    terminal.until(lambda seen: "step 2 of 13" in seen)
    terminal.type("\x1b[F")
    terminal.until(lambda seen: "step 13 of 13" in seen)
    terminal.type("\x1b[Hnix\x15/é報x\x7f")
    terminal.until(lambda seen: "step 1 of 13" in seen and seen.rstrip().endswith("/é報"))
    terminal.type("\x15\x1b[200~NEEDLE\x1b[201~\r")
    terminal.until(lambda seen: "step 4 of 13" in seen and "searching 'needle'" in seen)
    terminal.type("\x1b")
    terminal.until(lambda seen: "j/k step" in seen)


def test_a_walk_that_is_interrupted_gives_the_terminal_back(
    daemon: ScriptedDaemon, short_dir: Path
) -> None:
    """Ctrl-C ends it at once; without colour nothing is styled."""
    daemon.answers.update(answers())
    terminal = Terminal(short_dir, {"NO_COLOR": "1"})
    try:
        terminal.until(lambda seen: "? keys" in seen)
        assert not re.search(r"\x1b\[0?;?[1-9][0-9;]*m", terminal.drawn)
        terminal.type("\x03")
        assert terminal.process.wait(LATEST_S) == 130
        terminal.until(lambda _: "Interrupted." in terminal.drawn)
        assert _is_given_back(terminal)
    finally:
        terminal.close()


def test_a_daemon_that_does_not_answer_keeps_nobody(
    daemon: ScriptedDaemon, terminal: Terminal
) -> None:
    """Ctrl-C ends the walk while an answer is waited for, and gives the terminal back."""
    asked, is_over = threading.Event(), threading.Event()

    def never(*_: object) -> None:
        asked.set()
        is_over.wait(LATEST_S)

    daemon.answers["StateAt"] = never
    try:
        terminal.until(lambda seen: "step 1 of 13" in seen)
        terminal.type("f")
        assert asked.wait(LATEST_S)
        time.sleep(0.3)  # It asked; now it waits.
        terminal.type("\x03")
        assert terminal.process.wait(LATEST_S / 2) == 130
        assert _is_given_back(terminal)
    finally:
        is_over.set()


def test_a_walk_that_is_ended_gives_the_terminal_back(terminal: Terminal) -> None:
    """SIGTERM ends it as a shell expects."""
    terminal.until(lambda seen: "step 1 of 13" in seen)
    terminal.process.terminate()
    assert terminal.process.wait(LATEST_S) == 128 + signal.SIGTERM
    assert _is_given_back(terminal)


def test_an_error_is_told_where_it_stays(daemon: ScriptedDaemon, terminal: Terminal) -> None:
    """It ends the walk; its text stands on the terminal's first screen, with no traceback."""
    terminal.until(lambda seen: "step 1 of 13" in seen)
    daemon.hang_up.add("StateAt")
    terminal.type("f")
    assert terminal.process.wait(LATEST_S) == 69
    assert "connection to kbd broke" in terminal.until(lambda seen: "broke" in seen)
    assert _is_given_back(terminal)
    assert "Traceback" not in terminal.drawn


def test_a_terminal_that_is_gone_ends_the_walk(terminal: Terminal) -> None:
    """Nobody is there to press a key: it does not wait for one."""
    terminal.until(lambda seen: "step 1 of 13" in seen)
    os.close(terminal.master)
    terminal.master = os.open(os.devnull, os.O_RDONLY)
    assert terminal.process.wait(LATEST_S) != 0


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
