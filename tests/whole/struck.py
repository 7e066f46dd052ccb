"""A daemon that kills itself before or after a step that changes a disk."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kbd.client.blocking import ConnectionLostError, NoAnswerError
from wired import Wired, wired

__all__ = ["ALL", "PUBLISHED", "SHOWN", "Struck", "struck"]

STRIKE = """
import os, signal, threading
from pathlib import Path
from kbd.core.workbench import extraction
from kbd.core.workbench.file_store import FileStore
from kbd.events.disk import Disk
from kbd.events.log import EventLog
left, counting = Path({path!r}), threading.Lock()
asked, steps = None, 0
def strike():
    global asked, steps
    with counting:  # Steps are made in several threads at once.
        try:
            now = left.stat().st_mtime_ns, left.read_text()
        except FileNotFoundError:
            return
        if now != asked:
            asked, steps = now, int(now[1])
        if steps == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        steps -= 1
def watched(kind, name):
    original = getattr(kind, name)
    def step(self, *given, **named):
        strike()
        result = original(self, *given, **named)
        strike()
        return result
    setattr(kind, name, step)
for kind, name in ({steps}):
    watched(kind, name)
"""
"""Has the daemon's process kill itself before and after each step that changes a disk: at the one
whose number a file says, when it is there."""

PUBLISHED = """*((Disk, name) for name in (
    "pwrite", "fsync", "fdatasync", "rename", "create", "move", "move_new", "exchange", "unlink",
)),"""
"""The steps that change the log, published/ and the blobs: each write, sync and rename."""

SHOWN = """(EventLog, "append"), (FileStore, "_write_drafted"), (FileStore, "_remove_drafted"),
    (extraction, "create_partial_file"), (extraction, "_link_free_name"),"""
"""The steps that change the log, draft/ and a folder of the user's."""

ALL = range(200)


class Struck:
    """A daemon that is killed at a step of what it is asked."""

    def __init__(self, bench: Wired, left: Path) -> None:
        self.bench, self._left = bench, left

    def asked(self, step: int, method: str, **params: Any) -> bool:
        """Ask, and kill it at a step; start it again. False if it was done before that step."""
        # Whole at once: the daemon reads it in the middle of something else.
        fresh = self._left.with_name("fresh")
        fresh.write_text(str(step))
        fresh.replace(self._left)
        try:
            self.bench.ask(method, **params)
        except (ConnectionLostError, NoAnswerError, OSError):
            self._left.unlink()
            self.bench.daemon.kill()
            self.bench.daemon.start()
            return True
        self._left.unlink()
        return False


@contextmanager
def struck(backend: str, steps: str = PUBLISHED) -> Iterator[Struck]:
    """Run a daemon that kills itself at one of these steps."""
    folder = Path(tempfile.mkdtemp(prefix="kbd-"))
    try:
        with wired(backend, STRIKE.format(path=str(folder / "left"), steps=steps)) as bench:
            yield Struck(bench, folder / "left")
    finally:
        shutil.rmtree(folder)
