"""Full-screen application of `kbd replay`, by prompt_toolkit: frames of a walk, keys by name.

It draws on the terminal's other screen, so that nothing of it stays behind, and gives the terminal
back as it was however it ends: a key, an error, Ctrl-C, SIGTERM, a terminal that is gone.
"""

import os
import signal
import sys
import termios
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.input.vt100 import Vt100Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import Layout, UIContent, UIControl, Window
from prompt_toolkit.utils import get_cwidth

from kbd.cli.exits import FAILED, OK, Stop
from kbd.cli.terminal import cell_width
from kbd.cli.walk import ScreenRow, Walk

__all__ = ["run_screen"]

ESCAPE_S = 0.05
"""How long the rest of a key's sequence may take; a lone Esc is known after that."""

_STYLES = {"bar": "reverse", "chosen": "bold", "found": "bold", "dim": "dim"}

_NAMES = {
    Keys.Up: "up", Keys.Down: "down", Keys.Left: "left", Keys.Right: "right",
    Keys.PageUp: "pgup", Keys.PageDown: "pgdn", Keys.Home: "home", Keys.End: "end",
    Keys.Enter: "enter", Keys.ControlJ: "enter", Keys.Escape: "esc",
    Keys.Backspace: "backspace", Keys.ControlU: "kill",
}  # fmt: skip
"""What a walk calls the keys that are no characters; it knows no others."""


def run_screen(walk: Walk) -> int:
    """Show a walk until it is over, and return the exit code.

    Raises:
        Stop: The connection broke, or the terminal is gone; it is as it was.
        KeyboardInterrupt: Ctrl-C; likewise.
        SystemExit: SIGTERM; likewise.
    """
    screen = _Screen(walk)
    with screen.signals():
        try:
            screen.application.run(handle_sigint=False)
        except EOFError:
            raise Stop("the terminal is gone", FAILED) from None
    return OK


class _Keyboard(Vt100Input):
    """The keyboard, whose Ctrl-C is a signal and ends what waits for an answer.

    As prompt_toolkit has it it is a key as others are, seen when nothing else is at work.
    """

    @contextmanager
    def raw_mode(self) -> Iterator[None]:
        with super().raw_mode():
            modes = termios.tcgetattr(self.fileno())
            modes[3] |= termios.ISIG
            termios.tcsetattr(self.fileno(), termios.TCSANOW, modes)
            yield


class _Screen(UIControl):
    """Full-screen control that shows the frames of a walk."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        self._is_plain = "NO_COLOR" in os.environ
        self._is_asking = self._is_uneven = False
        keys = KeyBindings()
        keys.add(Keys.Any)(self._press)
        keys.add(Keys.BracketedPaste)(self._paste)
        self.application = Application[None](
            Layout(Window(self)),
            key_bindings=keys,
            full_screen=True,
            # Else it would draw a last frame when it is over, and ask the daemon for it.
            erase_when_done=True,
            input=_Keyboard(sys.stdin),
            before_render=self._before_render,
            after_render=self._after_render,
        )
        self.application.ttimeoutlen = ESCAPE_S

    def create_content(self, width: int, height: int) -> UIContent:
        """Return the frame; none when that failed, which ends the application."""
        rows: list[ScreenRow] = []
        self._attempt(lambda: rows.extend(self._walk.frame(width, height)))
        self._is_uneven = any(get_cwidth(row.text) != cell_width(row.text) for row in rows)
        return UIContent(lambda at: [self._fragment(rows[at])], len(rows), show_cursor=False)

    @contextmanager
    def signals(self) -> Iterator[None]:
        """Have signals end or stop the application while inside."""
        handlers = {
            signal.SIGINT: self._exit,
            signal.SIGTERM: self._exit,
            signal.SIGHUP: self._exit,
            signal.SIGTSTP: self._stopped,
            signal.SIGCONT: self._continued,
        }
        before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _attempt(self, do: Callable[[], None]) -> None:
        """Do what may ask the daemon; an error, or a signal meanwhile, ends the application.

        Raised on, prompt_toolkit would print it and wait for Enter.
        """
        try:
            self._is_asking = True
            do()
        except BaseException as error:  # noqa: BLE001 - raised again when the terminal is as it was
            self._end(error)
        finally:
            self._is_asking = False

    def _end(self, error: BaseException) -> None:
        if not self.application.is_done:
            self.application.exit(exception=error)

    def _press(self, event: KeyPressEvent) -> None:
        key = event.key_sequence[0].key
        self._type(_NAMES.get(key, "") if isinstance(key, Keys) else key)

    def _paste(self, event: KeyPressEvent) -> None:
        for character in event.data:
            self._type("enter" if character in "\r\n" else character)

    def _type(self, name: str) -> None:
        if name and not self.application.is_done:
            self._attempt(lambda: self._walk.press(name))
            if self._walk.is_over and not self.application.is_done:
                self.application.exit()

    def _fragment(self, row: ScreenRow) -> tuple[str, str]:
        # prompt_toolkit underlines blanks that do not break, and draws a mark of no width that is
        # the last of a row twice.
        text = row.text.replace("\xa0", " ") + " "
        return "" if self._is_plain else _STYLES.get(row.style, ""), text

    def _before_render(self, _: Application[None]) -> None:
        # prompt_toolkit adds up the widths of characters, a terminal draws emoji that are joined as
        # one: what is changed behind them would be written into another place, so all is drawn.
        if self._is_uneven:
            self._erase()

    def _after_render(self, _: Application[None]) -> None:
        # For the same reason the cursor may be elsewhere than where it was left. When it is over,
        # it is where it was before, on the first screen.
        if not self.application.is_done:
            self.application.output.cursor_goto(0, 0)
            self.application.output.flush()

    def _erase(self) -> None:
        self.application.renderer.erase(leave_alternate_screen=False)

    def _exit(self, number: int, frame: FrameType | None) -> None:
        """End the application: at once if an answer is waited for, else when it has drawn.

        An error raised while it draws would leave the terminal as it is then.
        """
        del frame
        error = KeyboardInterrupt() if number == signal.SIGINT else SystemExit(128 + number)
        if self._is_asking or self.application.loop is None:
            raise error
        self.application.loop.call_soon_threadsafe(self._end, error)

    def _stopped(self, number: int, frame: FrameType | None) -> None:
        """Stop as the shell expects it, and take the terminal again when it goes on."""
        del number, frame
        if self.application.loop is not None:
            self.application.loop.call_soon_threadsafe(run_in_terminal, self._stop)

    def _stop(self) -> None:
        # By the default action, which stops the process; a handler of ours would only be called.
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        signal.signal(signal.SIGTSTP, self._stopped)

    def _continued(self, number: int, frame: FrameType | None) -> None:
        """Draw all anew: the shell may have written meanwhile."""
        del number, frame
        if self.application.loop is not None:
            self.application.loop.call_soon_threadsafe(self._erase)
            self.application.invalidate()
