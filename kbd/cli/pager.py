"""Pager of the command line: styled lines on stdout, through the user's pager on a terminal.

As `git` does it: `$KBD_PAGER`, else `$PAGER`, else `less` if it is there; "cat" or "" for none.
What fits on the screen needs no pager, so `less` is asked to leave then.
"""

import contextlib
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping

from kbd.cli.diff_view import Line, Style
from kbd.cli.terminal import clean

__all__ = ["has_color", "show_lines"]

# As git colors a diff; SGR codes of ECMA-48, 8.3.117.
_CODES: Mapping[Style, str] = {
    "bold": "1",
    "dim": "2",
    "added": "32",
    "removed": "31",
    "moved": "36",
    "added word": "1;7;32",
    "removed word": "1;7;31",
    "warning": "33",
}


def has_color(choice: str) -> bool:
    """Return whether stdout gets color: "always", "never", or "auto" for a terminal.

    `NO_COLOR` in the environment means never, if nobody chose (no-color.org).
    """
    if choice != "auto":
        return choice == "always"
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def show_lines(lines: Iterable[Line], *, color: bool, paged: bool) -> None:
    """Print lines, through a pager if they are for a terminal and one is wanted.

    Args:
        lines: What to print; each text is cleaned of control sequences.
        color: Whether styles are drawn.
        paged: Whether a pager may be used.
    """
    command = _pager_command() if paged and sys.stdout.isatty() else None
    drawn = (_draw(line, color=color) for line in lines)
    if command is None:
        for text in drawn:
            print(text)
        sys.stdout.flush()
        return
    _print_through(command, drawn)


def _pager_command() -> list[str] | None:
    """Return the user's pager, or None if there is none, or none is wanted."""
    for name in ("KBD_PAGER", "PAGER"):
        if name in os.environ:
            command = shlex.split(os.environ[name])
            return command if command and command[0] != "cat" else None
    return ["less"] if shutil.which("less") else None


def _print_through(command: list[str], drawn: Iterator[str]) -> None:
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    try:
        # The user's own command, as git runs it; without a shell.
        pager = subprocess.Popen(
            command, stdin=subprocess.PIPE, text=True, env=environment, errors="replace"
        )
    except OSError:
        for text in drawn:
            print(text)
        return
    assert pager.stdin is not None
    # Who leaves the pager early has seen enough.
    with contextlib.suppress(BrokenPipeError):
        for text in drawn:
            pager.stdin.write(text + "\n")
        pager.stdin.close()
    while True:
        # Ctrl-C is the pager's to handle, as long as it runs.
        with contextlib.suppress(KeyboardInterrupt):
            pager.wait()
            return


def _draw(line: Line, *, color: bool) -> str:
    if not color:
        return "".join(clean(text) for _, text in line).rstrip()
    return "".join(
        f"\x1b[{_CODES[style]}m{clean(text)}\x1b[0m" if style in _CODES else clean(text)
        for style, text in line
    ).rstrip(" ")
