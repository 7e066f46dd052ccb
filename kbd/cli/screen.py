"""The terminal while a run is walked through: taken over, drawn on, given back as it was.

Keys are read unbuffered, without echo, from the terminal itself; Ctrl-C and Ctrl-Z go on to work.
What is drawn stands on the terminal's other screen, so that nothing of it stays behind.
"""

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from kbd.cli.exits import FAILED, OK, Stop
from kbd.cli.framing import Row
from kbd.cli.walking import Walk

__all__ = ["keys_of", "shown"]

ESCAPE_MS = 50
"""How long the rest of a key's sequence may take; a lone Esc is known after that."""

# The other screen, no cursor, no wrapping of what is wider than we think; and back.
_ENTER = "\x1b[?1049h\x1b[?25l\x1b[?7l"
_LEAVE = "\x1b[?7h\x1b[?25h\x1b[0m\x1b[?1049l"

_STYLES = {"bar": "\x1b[7m", "chosen": "\x1b[1m", "found": "\x1b[1m", "dim": "\x1b[2m"}

# What terminals send (xterm's "PC-style function keys"; with ESC O in application mode).
_SEQUENCES = {
    "[A": "up", "[B": "down", "[C": "right", "[D": "left", "[H": "home", "[F": "end",
    "OA": "up", "OB": "down", "OC": "right", "OD": "left", "OH": "home", "OF": "end",
    "[5~": "pgup", "[6~": "pgdn", "[1~": "home", "[4~": "end", "[7~": "home", "[8~": "end",
}  # fmt: skip
_CONTROLS = {"\r": "enter", "\n": "enter", "\x7f": "backspace", "\b": "backspace", "\x15": "kill"}


def keys_of(text: str) -> Iterator[str]:
    """Yield the keys that a terminal's characters stand for; unknown sequences are left out."""
    place = 0
    while place < len(text):
        if text[place] != "\x1b":
            yield _CONTROLS.get(text[place], text[place])
            place += 1
            continue
        end = _end_of_sequence(text, place + 1)
        sequence = text[place + 1 : end]
        place = end
        if not sequence:
            yield "esc"
        elif sequence in _SEQUENCES:
            yield _SEQUENCES[sequence]


def _end_of_sequence(text: str, place: int) -> int:
    """Return where a sequence behind its Esc ends (ECMA-48, 5.4)."""
    if text[place : place + 1] not in ("[", "O"):
        return place
    end = place + 1
    while end < len(text) and not "\x40" <= text[end] <= "\x7e":
        end += 1
    return min(end + 1, len(text))


def shown(walk: Walk) -> int:
    """Show a walk until it is over, and return the exit code.

    Raises:
        Stop: The connection broke, or the terminal is gone; it is as it was.
        KeyboardInterrupt: Ctrl-C; likewise.
    """
    screen = _Screen()
    with screen.taken():
        while not walk.is_over:
            screen.draw(walk)
            for key in screen.pressed():
                walk.press(key)
                if walk.is_over:
                    break
    return OK


class _Screen:
    """The terminal of this process."""

    def __init__(self) -> None:
        self._fd = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._fd)
        self._plain = "NO_COLOR" in os.environ
        self._woken, self._wake = os.pipe()
        os.set_blocking(self._wake, False)
        self._waiting = select.poll()
        self._waiting.register(self._fd, select.POLLIN)
        self._waiting.register(self._woken, select.POLLIN)

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Have the terminal while inside; whatever ends it, it is given back."""
        handled = {
            signal.SIGWINCH: self._resized,
            signal.SIGTSTP: self._stopped,
            signal.SIGCONT: self._resized,
            signal.SIGTERM: self._ended,
        }
        before = {number: signal.signal(number, handler) for number, handler in handled.items()}
        try:
            self._enter()
            yield
        finally:
            self._leave()
            for number, handler in before.items():
                signal.signal(number, handler)
            os.close(self._woken)
            os.close(self._wake)

    def draw(self, walk: Walk) -> None:
        """Draw what there is to see."""
        width, height = os.get_terminal_size(sys.stdout.fileno())
        # Some say 0: they do not know.
        rows = walk.frame(width or 80, height or 24)
        # Cleared before, not after: a cursor behind a full row still stands on its last column.
        told = [
            f"\x1b[{place};1H\x1b[2K{self._styled(row)}" for place, row in enumerate(rows, start=1)
        ]
        self._write("".join(told))

    def pressed(self) -> list[str]:
        """Wait for keys; none came if the terminal has another size now.

        Raises:
            Stop: Nobody can press one any more.
        """
        ready = dict(self._waiting.poll())
        if self._woken in ready:
            os.read(self._woken, 1024)
        data = self._typed(ready.get(self._fd, 0))
        while data and _is_begun(data):
            more = self._typed(dict(self._waiting.poll(ESCAPE_MS)).get(self._fd, 0))
            if not more:
                break
            data += more
        return list(keys_of(data.decode("utf-8", "ignore")))

    def _typed(self, ready: int) -> bytes:
        """Return what has been typed, without waiting: it may be gone since it was told of.

        Raises:
            Stop: The terminal is gone.
        """
        try:
            data = os.read(self._fd, 1024) if ready else b""
        except OSError:
            ready = select.POLLHUP
            data = b""
        if not data and ready & (select.POLLHUP | select.POLLERR | select.POLLNVAL):
            raise Stop("The terminal is gone.", FAILED)
        return data

    def _styled(self, row: Row) -> str:
        style = _STYLES.get(row.style, "")
        return f"{style}{row.text}\x1b[0m" if style and not self._plain else row.text

    def _enter(self) -> None:
        tty.setcbreak(self._fd, termios.TCSADRAIN)
        modes = termios.tcgetattr(self._fd)
        modes[6][termios.VMIN] = 0
        termios.tcsetattr(self._fd, termios.TCSADRAIN, modes)
        self._write(_ENTER)

    def _leave(self) -> None:
        self._write(_LEAVE)
        termios.tcsetattr(self._fd, termios.TCSADRAIN, self._before)

    def _write(self, text: str) -> None:
        # Not through sys.stdout: a signal may come while it writes, and its handler writes, too.
        data = text.encode(sys.stdout.encoding or "utf-8", "replace")
        while data:
            data = data[os.write(sys.stdout.fileno(), data) :]

    def _resized(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        self._ring()

    def _stopped(self, number: int, frame: FrameType | None) -> None:
        """Stop as the shell expects it, and take the terminal again when it goes on."""
        del number, frame
        self._leave()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._stopped)
        self._enter()
        self._ring()

    def _ring(self) -> None:
        with suppress(BlockingIOError):  # It is full: the wait for keys ends all the same.
            os.write(self._wake, b"w")

    def _ended(self, number: int, frame: FrameType | None) -> None:
        del frame
        raise SystemExit(128 + number)


def _is_begun(data: bytes) -> bool:
    """Whether a key's sequence, or a character, may have only begun."""
    text = data.decode("utf-8", "ignore")
    if len(text.encode()) < len(data):
        return True
    _, escape, sequence = text.rpartition("\x1b")
    if not escape or sequence[:1] not in ("", "[", "O"):
        return False
    return not any("\x40" <= character <= "\x7e" for character in sequence[1:])
