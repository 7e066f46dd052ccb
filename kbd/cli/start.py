"""Start of the daemon in the background, unless it already runs."""

import argparse
import io
import json
import os
import subprocess
import sys
import time

from kbd.cli.exits import ANOTHER_DAEMON, UNREACHABLE, RequestRefused, Stop
from kbd.cli.link import call, client_name, resolve_home, resolve_socket
from kbd.cli.terminal import line, note
from kbd.client.blocking import Client
from kbd.client.errors import ConnectionLostError

__all__ = ["connect_or_start", "start"]

START_TIMEOUT_S = 30.0
"""How long a start may take; recovering a damaged home is the slow case."""

POLL_S = 0.05

LOG_NAME = "daemon.log"

OUTPUT_NAME = "output"
"""The file beside it with what the daemon wrote past it and has not told yet."""

TAIL_BYTES = 64 * 1024
"""How much of each is read to find its last line; an entry of the log may have a traceback."""


def connect_or_start(arguments: argparse.Namespace) -> Client:
    """Connect to the daemon; start it first if none answers.

    Raises:
        Stop: It could not be started.
    """
    client = _daemon_answers(
        resolve_socket(arguments.socket, arguments.home), client_name(arguments)
    )
    if client is not None:
        return client
    note("Starting kbd…")
    return start(arguments)


def start(arguments: argparse.Namespace, *extra: str) -> Client:
    """Start the daemon detached from this terminal and wait until it answers.

    Its log goes to `daemon/daemon.log` in the home. If another start wins the race for the
    home, that daemon is the one that is waited for.

    Args:
        arguments: With `home` and `socket`.
        extra: More arguments for `kbd daemon`.

    Raises:
        Stop: It ended early, with the last that it said; or it did not answer in time.
    """
    home = resolve_home(arguments.home)
    path = resolve_socket(arguments.socket, arguments.home)
    _make_folders(home)
    begin = _size(os.path.join(home, "daemon", LOG_NAME))
    # -P: the folder that kbd is called from must not be where Python looks for modules.
    python = [sys.executable, "-P", "-m", "kbd"]
    daemon = ["daemon", "--home", home, "--socket", path, "--log-to", "file", *extra]
    # What it says before it has a log, and of why it cannot have one.
    with os.fdopen(os.memfd_create("start"), "r+b") as early:
        process = subprocess.Popen(
            [*python, *daemon],
            stdin=subprocess.DEVNULL,
            stdout=early,
            stderr=early,
            # A Ctrl-C in this terminal goes to its process group, where the daemon must not be.
            start_new_session=True,
            # It outlives this shell, and must not hold its folder, or the disk that this is on.
            cwd="/",
            # Nor is it the service that this may be called in: it says nothing in that one's name.
            env={name: value for name, value in os.environ.items() if name != "NOTIFY_SOCKET"},
        )
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            client = _daemon_answers(path, client_name(arguments))
            if client is not None:
                # The daemon lives on; without this Python warns that nobody waited for it.
                process.returncode = 0
                return client
            ended = process.poll()
            if ended not in {None, ANOTHER_DAEMON}:
                # A signal that ended it is a negative number here, and no exit code.
                code = ended if ended and ended > 0 else UNREACHABLE
                raise Stop(f"kbd did not start: {_last_words(home, early, begin)}", code)
            time.sleep(POLL_S)
    if process.poll() == ANOTHER_DAEMON:
        msg = f"another daemon has the home {home}, but does not answer at {path}"
        raise Stop(msg, ANOTHER_DAEMON)
    msg = f"kbd does not answer after {START_TIMEOUT_S:.0f} s; see daemon/{LOG_NAME} in {home}"
    raise Stop(msg, UNREACHABLE)


def _make_folders(home: str) -> None:
    try:
        # Private from the first moment: what lies in it are people's files.
        os.makedirs(home, mode=0o700, exist_ok=True)
        os.makedirs(os.path.join(home, "daemon"), mode=0o700, exist_ok=True)
    except OSError as error:
        raise Stop(f"the home {home} cannot be used: {error.strerror}") from error


def _size(path: str) -> int:
    try:
        return os.stat(path, follow_symlinks=False).st_size
    except OSError:
        return 0


def _last_words(home: str, early: io.BufferedRandom, begin: int) -> str:
    """Return the last line of what the daemon wrote past its log; without any, of its log.

    Args:
        home: Its home.
        early: What it wrote before it had a log.
        begin: Where its log ended before this start.
    """
    early.seek(0)
    for text in (_end_of(home, OUTPUT_NAME, 0), early.read()[-TAIL_BYTES:]):
        if said := _last_line(text):
            return line(said, 400)
    if entry := _last_line(_end_of(home, LOG_NAME, begin)):
        return line(_entry_text(entry), 400)
    return "it ended without a word"


def _entry_text(entry: str) -> str:
    """Return what an entry of the log says went wrong."""
    try:
        facts = json.loads(entry)
    except ValueError:
        return entry
    return str(facts.get("error") or facts.get("event")) if isinstance(facts, dict) else entry


def _last_line(text: bytes) -> str:
    lines = text.decode("utf-8", "replace").strip("\0 \n").splitlines()
    return lines[-1] if lines else ""


def _end_of(home: str, name: str, begin: int) -> bytes:
    """Return the end of a file of the daemon's, as far as it is behind a place."""
    try:
        held = os.open(os.path.join(home, "daemon", name), os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return b""
    with os.fdopen(held, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        # One that has shrunk was rotated: all of it is new.
        file.seek(max(0, size - TAIL_BYTES, begin if begin <= size else 0))
        return file.read(TAIL_BYTES)


def _daemon_answers(path: str, name: str) -> Client | None:
    try:
        client = Client(path, client=name)
    except ConnectionLostError:
        return None
    try:
        # A connection is not enough: the system accepts for a daemon that does not any more.
        call(client, "EngineGetInfo")
    except RequestRefused:
        return client
    except Stop:
        client.close()
        return None
    return client
