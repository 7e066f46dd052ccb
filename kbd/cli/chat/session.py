"""State of a conversation: daemon, workbench, folder, what is shown; and its spinner."""

import argparse
import sys
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from kbd.cli.exits import UNREACHABLE, Stop
from kbd.cli.job import obtain_consent, obtain_consent_to_search
from kbd.cli.link import call, connect
from kbd.cli.readings import settle_readings
from kbd.cli.start import connect_or_start
from kbd.cli.terminal import can_draw
from kbd.client.blocking import Client

__all__ = ["READING", "ChatFolder", "ChatSession", "show_busy", "without_echo"]


READING = "Reading the documents…"
"""The first time it takes as long as reading all of them does; later it is done at once."""


@contextmanager
def without_echo() -> Iterator[None]:
    """Have the terminal not show what is typed meanwhile; it is there at the next prompt."""
    if not sys.stdin.isatty():
        yield
        return
    # By hand: the raw mode of prompt_toolkit takes Ctrl-C as a key, which here must interrupt.
    keyboard = sys.stdin.fileno()
    before = termios.tcgetattr(keyboard)
    silent = [*before]
    silent[3] &= ~termios.ECHO  # the local modes
    termios.tcsetattr(keyboard, termios.TCSANOW, silent)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSANOW, before)


@contextmanager
def show_busy(what: str) -> Iterator[None]:
    """Show what is waited for, where something may be drawn, until it is done."""
    if not can_draw():
        yield
        return
    # Only what is drawn pays for it.
    from rich.console import Console  # noqa: PLC0415 - 49 ms

    with without_echo(), Console(stderr=True, highlight=False).status(what):
        yield


class ChatFolder(NamedTuple):
    """Folder of files that a workbench belongs to.

    Args:
        path: Where it is, links followed.
        left_out: Folders in it that hold something else: an index, kbd's own home.
    """

    path: Path
    left_out: tuple[Path, ...] = ()


class ChatSession:
    """State of one conversation, from `kbd chat` until its end.

    Attributes:
        workbench_id: Where it is held; `/clear` goes on in another one.
        name: That workbench's name.
        folder: The folder whose files it holds, if there is one.
        index_dir: Where its index was asked to lie, or "".
        is_verbose: Whether tool calls are shown in full.
        says_yes: Whether every question is answered with yes.
        declined: What was not to be made vectors of elsewhere: the scopes that were declined.
        runs: The runs of this conversation.
        is_over: Whether somebody said `/quit`.

    Args:
        arguments: With `home` and `socket`, by which a daemon that went away is found again.
        client: A connection to the daemon.
    """

    def __init__(self, arguments: argparse.Namespace, client: Client) -> None:
        self.workbench_id = ""
        self.name = ""
        self.folder: ChatFolder | None = None
        self.index_dir = ""
        self.is_verbose: bool = arguments.verbose
        self.says_yes: bool = arguments.yes
        self.declined: set[str] = set()
        self.runs: list[str] = []
        self.is_over = False
        self._arguments = arguments
        self._client: Client | None = client

    @property
    def client(self) -> Client:
        """The connection; a new one after it broke, to a daemon that is started if need be.

        Raises:
            Stop: None answers, and none can be started.
        """
        if self._client is None:
            self._client = connect_or_start(self._arguments)
        return self._client

    def another_client(self) -> Client:
        """Return another connection to the daemon, for the caller to close.

        Raises:
            Stop: None answers.
        """
        return connect(self._arguments)

    @property
    def label(self) -> str:
        """Short name of the workbench: of a folder, its last part."""
        return self.folder.path.name or str(self.folder.path) if self.folder else self.name

    def drop(self) -> None:
        """Close the connection: it broke, or what was to be read of it was not read."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def drop_if_broken(self) -> None:
        """Close a connection that broke while idle, so that the next call opens a new one."""
        if self._client is None:
            return
        try:
            call(self._client, "EngineGetInfo")
        except Stop as stop:
            if stop.code == UNREACHABLE:
                self.drop()

    def ask(self, method: str, *, slow: bool = False, **params: Any) -> Any:
        """Call a method about the workbench.

        Raises:
            RequestRefused: The daemon answered with an error.
            Stop: It did not answer.
        """
        return call(self.client, method, {"workbench_id": self.workbench_id, **params}, slow=slow)

    def consent_to_search(self) -> None:
        """Ask, once, whether the documents may go to an embedder elsewhere, if there is one."""
        obtain_consent_to_search(
            self.client, self.workbench_id, yes=self.says_yes, declined=self.declined
        )

    def settle_readings(self, job: str = "") -> None:
        """Ask what has to be said about tables before figures can be told from them.

        Raises:
            Stop: Nobody answered.
        """
        settle_readings(self.client, self.workbench_id, {}, job)

    def consent(self) -> None:
        """Ask, unless it was agreed to, whether the files may go where the model is.

        Raises:
            Stop: Nobody agreed.
        """
        obtain_consent(self.client, self.workbench_id, yes=self.says_yes, declined=self.declined)

    def state(self) -> dict[str, Any]:
        """Return the state of the workshop, as `WorkshopGetState` answers it."""
        state: dict[str, Any] = self.ask("WorkshopGetState")
        return state

    def files(self) -> list[dict[str, Any]]:
        """Return the files of the workbench, as `WorkbenchFilesList` answers them."""
        files: list[dict[str, Any]] = self.ask("WorkbenchFilesList")["files"]
        return files

    def file_names(self) -> list[str]:
        """Return the names of the files, or none if the daemon does not answer."""
        try:
            return [str(file["path"]) for file in self.files()]
        except Stop:
            return []
