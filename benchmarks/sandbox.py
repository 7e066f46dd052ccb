"""What the sandbox of a worker call costs: `python -m benchmarks.sandbox`, or `make bench`.

First in a small process of its own, layer by layer, each with a fork, an exit and a reap:

    fork        nothing else: the raw limit
    limits      session, signals and resource limits, which every call has
    landlock    only the files of the call
    seccomp     only the system calls of the list
    whole       all of these

then whole calls of a worker that reads one file, with and without each layer, in slices of random
order in one run. The gate: the whole takes at most 2 ms more than a bare fork.
"""

import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import anyio

from benchmarks._measure import gate, interleave, table
from benchmarks._plugin import MODULE, installed
from kbd.core.plugins.call_paths import CallPaths
from kbd.core.plugins.confinement.layers import NO_LAYERS, Layers, find_layers
from kbd.core.plugins.confinement.process import (
    CallReach,
    confine_process,
    find_filters,
    find_software,
)
from kbd.core.plugins.forked_call import _limit_process, part_from_zygote
from kbd.core.plugins.worker_messages import Request, encode
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.plugins.worker_process import Bounds
from kbd.core.runtime.settings import Settings
from kbd.tools import CallLimits

FORKS, ROUNDS = 40, 15
SLICES, CALLS = 12, 20

LAYERS = {
    "without a layer": NO_LAYERS,
    "landlock alone": Layers(landlock=True, seccomp=False),
    "seccomp alone": Layers(landlock=False, seccomp=True),
    "both layers": Layers(landlock=True, seccomp=True),
}


def forked_ms(work: Callable[[], None]) -> float:
    """Return the milliseconds of one fork whose child does some work and exits."""
    start = time.perf_counter()
    for _ in range(FORKS):
        pid = os.fork()
        if pid == 0:
            work()
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        assert status == 0
    return (time.perf_counter() - start) * 1000 / FORKS


def measure_layers(file: str) -> None:
    """Time the layers apart and together, and print."""
    software, filters = find_software(sys.path, ""), find_filters()
    reach, parent = CallReach(files=(file,), folders=(os.path.dirname(file),)), os.getpid()

    def confined(layers: Layers) -> Callable[[], None]:
        return lambda: confine_process(reach, layers, software, filters)

    def limit() -> None:
        part_from_zygote(parent)
        _limit_process(CallLimits())

    def whole() -> None:
        limit()
        confine_process(reach, LAYERS["both layers"], software, filters)

    works: dict[str, Callable[[], None]] = {
        "fork": lambda: None,
        "limits": limit,
        "landlock": confined(LAYERS["landlock alone"]),
        "seccomp": confined(LAYERS["seccomp alone"]),
        "whole": whole,
    }
    found = interleave({name: partial(forked_ms, work) for name, work in works.items()}, ROUNDS)
    table("a fork that confines itself", "ms", found, "fork")
    for name in ("limits", "landlock", "seccomp"):
        print(f"  {name:<34} {found[name] - found['fork']:>14,.2f} ms more than a bare fork")
    gate("the whole over a bare fork, ms", found["whole"] - found["fork"], most=2)


async def measure_calls(folder: Path, file: Path) -> None:
    """Time whole calls of a worker with and without each layer, and print."""
    plugins = installed(folder)
    async with WorkerPool(plugins, Settings(), extra_paths=[folder]) as workers:
        await workers.call("bench", f"{MODULE}:read", {"path": file})
        # Below the pool, which gives each call the layers that the settings say.
        process = await workers._process(plugins.get("bench"))  # noqa: SLF001
        request = encode(Request(f"{MODULE}:read", {"path": file}))
        paths = CallPaths()
        paths.pack(Request("", {"path": file}))

        async def call_ms(layers: Layers) -> float:
            start = time.perf_counter()
            await process.call(request, CallLimits(), Bounds(paths.reach(""), layers))
            return (time.perf_counter() - start) * 1000

        times: dict[str, list[float]] = {name: [] for name in LAYERS}
        order = list(LAYERS) * SLICES
        random.Random(1).shuffle(order)
        for name in order:
            times[name] += [await call_ms(LAYERS[name]) for _ in range(CALLS)]
    medians = {name: statistics.median(found) for name, found in times.items()}
    table("a worker call that reads a file, p50", "ms", medians, "without a layer")


def main() -> None:
    """Measure the layers before any thread or loop exists, then whole calls."""
    missing = [layer.reason for layer in find_layers() if not layer.holds]
    if missing:
        print(f"nothing to measure: {'; '.join(missing)}")
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "file"
        file.write_bytes(b"x" * 200)
        measure_layers(str(file))
        anyio.run(measure_calls, folder, file)


if __name__ == "__main__":
    main()
