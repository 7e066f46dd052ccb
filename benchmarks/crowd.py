"""A healthy client beside a crowd: `python benchmarks/crowd.py [clients] [seconds] [seed]`.

The daemon, the crowd (benchmarks/_crowd.py) and the measuring client are processes of their own. A
twentieth of the crowd each does not read, sends a byte a second, breaks off amid a message, or
sends mutated requests. Prints the healthy client's round trips with and without the crowd, and the
daemon's memory and descriptors before, during and after; ends with 1 if a gate is missed.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks._daemon import started
from benchmarks._measure import gate, table
from kbd.client.blocking import Client

PAUSE_S = 0.005
SETTLE_S = 15.0
"""Within it what a crowd has left is seen off: a message that was begun, a client that stalls."""

UNHANDLED = ("connection failed", "request failed", "subscription failed", "Traceback")


def healthy(path: str, seconds: float) -> list[float]:
    """Ask now and then for so long; returns the round trips in ms, sorted."""
    taken = []
    with Client(path) as client:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            begun = time.perf_counter()
            client.send("EngineGetInfo")
            taken.append((time.perf_counter() - begun) * 1e3)
            time.sleep(PAUSE_S)
    return sorted(taken)


def memory_mib(pid: int) -> float:
    """Return what a process holds of memory."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def descriptors(pid: int) -> int:
    """Return how many descriptors a process has."""
    return len(os.listdir(f"/proc/{pid}/fd"))


def crowd_command(path: str, clients: int, seconds: float, seed: int) -> Sequence[str]:
    """Return the command that runs a crowd."""
    given = (path, str(clients), str(seconds), str(seed))
    return [sys.executable, "-m", "benchmarks._crowd", *given]


def measure(path: str, pid: int, clients: int, seconds: float, seed: int) -> tuple[bool, str]:
    """Print all figures; returns whether the gates hold, and what the crowd counted."""
    # What the daemon makes once and keeps is made by a first crowd.
    fresh_mib = memory_mib(pid)
    subprocess.run(crowd_command(path, clients, 6, seed), stdout=subprocess.DEVNULL, check=True)
    time.sleep(SETTLE_S)
    alone = healthy(path, 3)
    base_mib, base_fds = memory_mib(pid), descriptors(pid)
    with subprocess.Popen(
        crowd_command(path, clients, seconds + 4, seed), stdout=subprocess.PIPE, text=True
    ) as crowd:
        time.sleep(3)  # they connect
        beside = healthy(path, seconds)
        peak_mib, most_fds = memory_mib(pid), descriptors(pid)
        counted = crowd.communicate()[0]
    time.sleep(SETTLE_S)
    left_mib, left_fds = memory_mib(pid), descriptors(pid)

    def at(found: list[float], share: float) -> float:
        return found[int(len(found) * share)]

    table("median round trip", "ms", {"crowd": at(beside, 0.5), "alone": at(alone, 0.5)}, "alone")
    table("p99 of it", "ms", {"crowd": at(beside, 0.99), "alone": at(alone, 0.99)}, "alone")
    print(f"  longest: {beside[-1]:.1f} ms of {len(beside)}")
    print(f"  memory {fresh_mib:.1f} MiB at first, {base_mib:.1f} after a first crowd,")
    print(f"  {peak_mib:.1f} beside the second and {left_mib:.1f} after it")
    print(f"  descriptors {base_fds}, {most_fds} beside the crowd, {left_fds} after it")
    print(f"  the crowd: {counted.strip()}")
    met = [
        gate(f"ms, p99 of a healthy client beside {clients}", at(beside, 0.99), most=50),
        gate("MiB more beside the crowd", peak_mib - fresh_mib, most=256),
        gate("MiB more after it", left_mib - base_mib, most=16),
        gate("descriptors more after it", left_fds - base_fds, most=0),
    ]
    return all(met), counted


def main() -> None:
    """Run all of it."""
    clients, seconds, seed = (*map(int, sys.argv[1:]), *(990, 20, 1)[len(sys.argv) - 1 :])
    with started() as daemon:
        met, counted = measure(daemon.path, daemon.pid, clients, seconds, seed)
        text = daemon.log.read_text(errors="replace")
    unhandled = sum(text.count(words) for words in UNHANDLED)
    faults = json.loads(counted).get("faults", 0)
    met &= gate("unhandled exceptions in the daemon's own log", unhandled, most=0)
    met &= gate("internal errors answered", faults, most=0)
    sys.exit(not met)


if __name__ == "__main__":
    main()
