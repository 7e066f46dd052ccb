"""Start of the daemon in the background, unless it already runs."""

import argparse
import io
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

TAIL_BYTES = 4096
"""How much of each is read to find its last line."""


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

    Its output goes to `daemon/daemon.log` in the home. If another start wins the race for the
    home, that daemon is the one that is waited for.

    Args:
        arguments: With `home` and `socket`.
        extra: More arguments for `kbd daemon`.

    Raises:
        Stop: It ended early, with the log's last line; or it did not answer in time.
    """
    home = resolve_home(arguments.home)
    path = resolve_socket(arguments.socket, arguments.home)
    with _open_log(home) as log:
        begin = log.seek(0, os.SEEK_END)
        # -P: the folder that kbd is called from must not be where Python looks for modules.
        process = subprocess.Popen(
            [sys.executable, "-P", "-m", "kbd", "daemon", "--home", home, "--socket", path, *extra],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
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
                raise Stop(f"kbd did not start: {_last_words(home, log, begin)}", code)
            time.sleep(POLL_S)
    if process.poll() == ANOTHER_DAEMON:
        msg = f"another daemon has the home {home}, but does not answer at {path}"
        raise Stop(msg, ANOTHER_DAEMON)
    msg = f"kbd does not answer after {START_TIMEOUT_S:.0f} s; see daemon/{LOG_NAME} in {home}"
    raise Stop(msg, UNREACHABLE)


def _open_log(home: str) -> io.BufferedRandom:
    folder = os.path.join(home, "daemon")
    try:
        # Private from the first moment: what lies in it are people's files.
        os.makedirs(home, mode=0o700, exist_ok=True)
        os.makedirs(folder, mode=0o700, exist_ok=True)
        # Appended to: two starts may write to it at once.
        file = os.open(os.path.join(folder, LOG_NAME), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    except OSError as error:
        raise Stop(f"the home {home} cannot be used: {error.strerror}") from error
    return os.fdopen(file, "a+b")


def _last_words(home: str, log: io.BufferedRandom, begin: int) -> str:
    """Return the last line of what the daemon wrote past its log; without any, of its log."""
    # What stands before is of an earlier start.
    log.seek(begin)
    for text in (_end_of_output(home), log.read()[-TAIL_BYTES:]):
        lines = text.decode("utf-8", "replace").strip("\0 \n").splitlines()
        if lines:
            return line(lines[-1], 400)
    return "it ended without a word"


def _end_of_output(home: str) -> bytes:
    try:
        held = os.open(os.path.join(home, "daemon", OUTPUT_NAME), os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return b""
    with os.fdopen(held, "rb") as output:
        output.seek(max(0, output.seek(0, os.SEEK_END) - TAIL_BYTES))
        return output.read(TAIL_BYTES)


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
