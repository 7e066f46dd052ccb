"""What it costs to start: `python benchmarks/start.py [rounds]`.

Processor time and elapsed time of whole processes, in an order of its own each round, against
`python -c pass` with the same interpreter: that of the environment, for a shim before it would cost
more than what is measured. The daemon runs meanwhile, for `kbd status` to ask. The peer is `llm`,
the command line for models, asked for no more than its version.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks._measure import gate, interleave, table
from benchmarks.commands import started
from kbd.client.blocking import Client, ConnectionLostError

BARE = "python -c pass"
DAEMON = "import kbd.core.api.daemon"
PEER = "llm --version"


def run(arguments: list[str]) -> tuple[float, float]:
    """Run a process to its end; returns its processor time and its elapsed time, in ms."""
    begun = time.perf_counter()
    process = subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return ended(process, arguments, begun)


def ended(process: subprocess.Popen[bytes], of: list[str], begun: float) -> tuple[float, float]:
    """Wait for a process; returns its processor time, and the time since it began, in ms."""
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{of} ended with {process.returncode}")
    return (usage.ru_utime + usage.ru_stime) * 1000, (time.perf_counter() - begun) * 1000


def first_answer(folder: Path, turns: list[int], backend: str) -> tuple[float, float]:
    """Start a daemon in an empty home, ask it once, and stop it.

    Returns:
        The processor time of its whole life and the time until its answer, in ms.
    """
    turns.append(len(turns))
    place = ["--home", str(folder / f"home-{turns[-1]}"), "--socket", str(folder / "other.sock")]
    arguments = [sys.executable, "-m", "kbd", *place, "daemon", "--backend", backend]
    begun = time.perf_counter()
    process = subprocess.Popen(arguments, stderr=subprocess.DEVNULL)
    while True:
        try:
            with Client(place[-1]) as client:
                client.send("EngineGetInfo")
                waited = (time.perf_counter() - begun) * 1000
                client.send("DaemonShutdown")
            return ended(process, arguments, begun)[0], waited
        except ConnectionLostError:
            if process.poll() is not None:
                sys.exit(f"{arguments} ended with {process.returncode}")
            time.sleep(0.002)


def measure(folder: Path, place: list[str], rounds: int) -> None:
    """Measure all, print, and judge."""
    kbd = [str(Path(sys.executable).with_name("kbd"))]
    turns: list[int] = []
    jobs: dict[str, Callable[[], tuple[float, float]]] = {
        BARE: partial(run, [sys.executable, "-c", "pass"]),
        "kbd --version": partial(run, [*kbd, "--version"]),
        "kbd --help": partial(run, [*kbd, "--help"]),
        "kbd status": partial(run, [*kbd, *place, "status"]),
        PEER: partial(run, [str(Path(sys.executable).with_name("llm")), "--version"]),
        DAEMON: partial(run, [sys.executable, "-c", DAEMON]),
    }
    for backend in ("asyncio", "trio"):
        jobs[f"daemon's first answer, {backend}"] = partial(first_answer, folder, turns, backend)
    waits: dict[str, list[float]] = {name: [] for name in jobs}
    spent = interleave(
        {name: partial(noted, job, waits[name]) for name, job in jobs.items()}, rounds
    )
    wall = {name: statistics.median(found) for name, found in waits.items()}
    table("processor time", "ms", spent, BARE)
    table("elapsed time", "ms", wall, BARE)
    print()
    gate(
        "kbd status against bare python, processor time", spent["kbd status"] / spent[BARE], most=3
    )
    gate("kbd --version against bare python", spent["kbd --version"] / spent[BARE], most=3)
    gate(f"{PEER} against kbd status", spent[PEER] / spent["kbd status"], least=15)
    gate("importing the daemon against bare python", spent[DAEMON] / spent[BARE], most=20)


def noted(job: Callable[[], tuple[float, float]], waits: list[float]) -> float:
    """Do a job; returns its processor time and notes the other."""
    cpu, wall = job()
    waits.append(wall)
    return cpu


def main() -> None:
    """Run a daemon, and measure."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    # The first round warms the caches of compiled modules, as a user's first start does.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory(prefix="kbd-") as name:
        folder = Path(name)
        os.environ["LLM_USER_PATH"] = str(folder / "llm")
        place = ["--home", str(folder / "home"), "--socket", str(folder / "kbd.sock")]
        with started(["-m", "kbd", *place, "daemon"], place[-1]):
            measure(folder, place, rounds)


if __name__ == "__main__":
    main()
