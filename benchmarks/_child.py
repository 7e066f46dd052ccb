"""A work done in a process of its own, and what it cost: processor time and peak memory.

A module of works is run as `python -m MODULE WORK PATH`; it calls `answer`.
"""

import importlib
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import msgspec

__all__ = ["Run", "Spent", "Work", "answer", "measured", "median"]

Run = Callable[[], object]

Work = Callable[[Path, Path], Run]
"""Makes a work ready, given its file and an empty folder; what it returns is what is measured."""


class Spent(msgspec.Struct, frozen=True):
    """What a work cost: processor seconds, and the most memory of its process, in bytes."""

    cpu_s: float
    peak_bytes: int


def measured(module: str, work: str, path: Path) -> Spent:
    """Do a work in a fresh process."""
    command = [sys.executable, "-m", module, work, str(path)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return msgspec.json.decode(done.stdout, type=Spent)


def median(module: str, work: str, path: Path, rounds: int) -> Spent:
    """Do a work in several fresh processes and return the medians."""
    found = [measured(module, work, path) for _ in range(rounds)]
    return Spent(
        statistics.median(spent.cpu_s for spent in found),
        statistics.median_high(spent.peak_bytes for spent in found),
    )


def answer(works: Mapping[str, Work], preload: Iterable[str]) -> None:
    """Do the work that the command line names, and print what it cost as JSON.

    Args:
        works: The works by name.
        preload: Modules that are loaded before, as kbd's workers load them once for all calls.
    """
    for module in preload:
        importlib.import_module(module)
    work, path = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        run = works[work](Path(path), Path(folder))
        start = time.process_time()
        run()
        spent = time.process_time() - start
    print(msgspec.json.encode(Spent(spent, _peak_bytes())).decode())


def _peak_bytes() -> int:
    """Return the most memory that this process had.

    `getrusage` tells the memory of the process that started this one if that had more.
    """
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text("ascii"))
    if found is None:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return int(found[1]) * 1024
