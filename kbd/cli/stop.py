"""`kbd stop`: stop the daemon and wait until it is gone."""

import argparse
import os
import time
from collections.abc import Callable

from kbd.cli.exits import FAILED, OK, UNREACHABLE, Stop
from kbd.cli.link import call, connect
from kbd.cli.terminal import say

__all__ = ["command"]

STOP_TIMEOUT_S = 30.0
POLL_S = 0.05


def command(parser: argparse.ArgumentParser) -> Callable[[argparse.Namespace], int]:
    """Add the arguments of `kbd stop` and return what runs it."""
    parser.epilog = """\
A run that is under way is interrupted; nothing of it is lost, and it can be resumed."""
    return _stop


def _stop(arguments: argparse.Namespace) -> int:
    try:
        client = connect(arguments)
    except Stop as stop:
        if stop.code != UNREACHABLE:
            raise
        say("kbd is not running.")
        return OK
    with client:
        pid = call(client, "EngineGetInfo")["pid"]
        call(client, "DaemonShutdown")
    deadline = time.monotonic() + STOP_TIMEOUT_S
    while _lives(pid):
        if time.monotonic() > deadline:
            msg = f"kbd (process {pid}) is still there after {STOP_TIMEOUT_S:.0f} s"
            raise Stop(msg, FAILED)
        time.sleep(POLL_S)
    say("kbd has stopped.")
    return OK


def _lives(pid: int) -> bool:
    """Whether the process is there and not merely waiting to be buried by its parent."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # there, and another user's
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # The program's name stands in brackets before, and may itself hold blanks and brackets.
            return file.read().rpartition(b")")[2].split()[0] != b"Z"
    except FileNotFoundError:
        # Gone meanwhile; or a system without /proc, where the signal's word is all there is.
        return not os.path.exists("/proc/self")
