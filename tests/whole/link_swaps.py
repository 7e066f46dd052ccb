"""A swap of a folder and a link, over and over, while somebody opens what is behind the name.

It runs in a process of its own, so that it is as quick as an attacker's would be.
"""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from kbd.events.disk import DISK

__all__ = ["LinkSwaps"]

SWAPS_AT_ONCE = 5
"""So often each is swapped before a pause, in which it is looked whether to end."""

PAUSE_S = 0.0005


class LinkSwaps:
    """Swaps names with links beside them, each at once (RENAME_EXCHANGE), while it is held.

    Attributes:
        count: How many swaps there were; known at the end.
    """

    def __init__(self) -> None:
        self.count = 0
        self._paths: list[Path] = []

    def add(self, path: Path, leads_to: Path) -> None:
        """Have a name, of a folder or a file, swapped with a link."""
        _beside(path).symlink_to(leads_to)
        self._paths.append(path)

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from whole.link_swaps import run; run()", *self._paths],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )  # fmt: skip
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == "begun\n"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        said, _ = self._process.communicate()
        self.count = int(said)
        # The links are gone afterwards, whichever name they have.
        for path in self._paths:
            if path.is_symlink():
                path.unlink()
                # Whoever owns the folder may have removed it meanwhile.
                with suppress(FileNotFoundError):
                    _beside(path).rename(path)
            else:
                _beside(path).unlink()


def run() -> None:
    """Swap the paths that the process is given, until its input ends; tell how often."""
    names = [os.path.split(path) for path in sys.argv[1:]]
    pairs = [(os.open(folder, os.O_RDONLY | os.O_DIRECTORY), name) for folder, name in names]
    count = 0
    os.set_blocking(0, False)
    print("begun", flush=True)
    while True:
        with suppress(BlockingIOError):
            if not os.read(0, 1):
                break
        # Who opens needs the processor, too.
        time.sleep(PAUSE_S)
        for folder, name in pairs * SWAPS_AT_ONCE:
            try:
                count += DISK.exchange((folder, name), (folder, f"{name}.link"))
            except FileNotFoundError:
                # Whoever owns the folder removed it when it was empty.
                with suppress(OSError):
                    os.mkdir(name, dir_fd=folder)
    print(count, flush=True)


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.link")
