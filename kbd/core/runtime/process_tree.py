"""Process tree of this machine, as `/proc` shows it: who was started by whom.

Few kernels list a process's children, so all of `/proc` is looked through. Where there is none,
every answer is empty.
"""

import contextlib
import os
import signal
from collections.abc import Iterator

from kbd.errors import KbdError
from kbd.events.shortages import raise_shortage

__all__ = ["find_children", "find_parent", "kill_tree", "signal_name"]


def find_children(parent: int) -> list[int]:
    """Return the children of a process, those that have ended and are not reaped included."""
    return [pid for pid, its_parent in _parents() if its_parent == parent]


def kill_tree(root: int) -> None:
    """Kill a process and all below it.

    It finds what left its parent only below a process that takes such orphans in (a subreaper).
    """
    found: list[int] = []
    fresh = [root]
    while fresh:
        for pid in fresh:
            # Stopped before it is looked below, so that nothing is started behind the look.
            _send(pid, signal.SIGSTOP)
        found += fresh
        fresh = [pid for pid, parent in _parents() if parent in found and pid not in found]
    for pid in found:
        _send(pid, signal.SIGKILL)


def find_parent(pid: int) -> int | None:
    """Return the parent of a process; None if it cannot be looked at.

    Raises:
        KbdError: The machine lacks what looking takes, which says nothing of the process.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as stat:
            # The name in parentheses may hold anything; behind it are state and parent.
            return int(stat.read().rpartition(b")")[2].split()[1])
    except OSError as error:
        raise_shortage(error)
        return None
    except (IndexError, ValueError):
        return None


def signal_name(number: int) -> str:
    """Return a signal's name ("SIGSEGV"); those of real time have none ("signal 40")."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _parents() -> Iterator[tuple[int, int]]:
    """Return each process and its parent."""
    with contextlib.suppress(OSError):
        for name in os.listdir("/proc"):
            with contextlib.suppress(KbdError):
                if name.isdigit() and (parent := find_parent(int(name))) is not None:
                    yield int(name), parent


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)
