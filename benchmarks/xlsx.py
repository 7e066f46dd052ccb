"""What workbooks cost: `python benchmarks/xlsx.py`, or `make bench`.

Processor time and peak memory of single calls, each in a fresh process, beside openpyxl used
plainly on the same file; the median of some processes, except where openpyxl takes long. The call
that loads all values goes through a worker, as the daemon's do, and is timed as its caller sees it.
Gates: facts of the formats, goals.
"""

import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import anyio

from benchmarks._child import Spent, median
from benchmarks._measure import gate, table
from benchmarks._workbooks import write_workbook
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.settings import Settings
from kbd.tools import FileRef
from kbd.types import BlobHash, FileName

ROUNDS = 5
MIB = 1024 * 1024
SMALL, MIDDLE, LARGE = 5_000, 100_000, 200_000
PEER_ROWS = 20_000
"""Of large workbooks, for openpyxl: the whole of them takes it up to a minute each."""


def spent(work: str, path: Path, rounds: int = ROUNDS) -> Spent:
    """Return the medians of a work."""
    return median("benchmarks._xlsx_works", work, path, rounds)


def row(title: str, found: dict[str, Spent], most_ms: float) -> bool:
    """Print what a work cost, kbd's first, and return whether its gate is met."""
    figures = {name: each.cpu_s * 1e3 for name, each in found.items()}
    ours = next(iter(found))
    table(title, "ms CPU", figures, ours)
    peaks = ", ".join(f"{name} {each.peak_bytes / MIB:.0f}" for name, each in found.items())
    print(f"  peak, MiB: {peaks}")
    return gate(f"{title}, ms CPU", figures[ours], most=most_ms)


async def loaded(path: Path) -> list[float]:
    """Return the seconds that loading all values takes in a worker, without what was kept."""
    plugins = Plugins.discover(Settings())
    size, seconds = await anyio.Path(path).stat(), []
    async with WorkerPool(plugins, Settings()) as workers:
        for turn in range(4):
            with tempfile.TemporaryDirectory() as cache:
                calls = FormatCalls(Catalog(plugins), workers, Path(cache))
                blob = BlobHash(f"{turn:064}")
                file = FileRef(FileName(path.name), blob, size.st_size, path)
                start = time.perf_counter()
                await calls.map(file)
                seconds.append(time.perf_counter() - start)
    # The first call starts the worker's process, too.
    return seconds[1:]


def small(folder: Path) -> list[bool]:
    """Measure what is done with a workbook of some thousand rows."""
    path = folder / "small.xlsx"
    write_workbook(path, SMALL - 1)
    met = []
    for title, work, most_ms in (
        ("map", "map", 70), ("read 50 rows, warm", "read", 10), ("set 2 cells", "set 2", 100),
        ("create, plain", "plain", 300), ("create, every cell styled", "styled", 1_000),
    ):  # fmt: skip
        rounds = 1 if work == "styled" else 3
        found = {"kbd": spent(f"kbd {work}", path)}
        if work == "styled":
            found["kbd, a style object a cell"] = spent("kbd each styled", path)
        if work == "map":
            found["python-calamine, alone"] = spent("calamine values", path)
        found["openpyxl"] = spent(f"openpyxl {work}", path, rounds)
        met.append(row(f"{SMALL:,} x 10: {title}", found, most_ms))
    return met


def large(folder: Path) -> list[bool]:
    """Measure one cell of a large workbook, and all values of a larger one."""
    path, bigger, part = (folder / name for name in ("middle.xlsx", "large.xlsx", "part.xlsx"))
    write_workbook(path, MIDDLE - 1)
    write_workbook(bigger, LARGE - 1)
    write_workbook(part, PEER_ROWS - 1)
    ours, peer = spent("kbd set 1", path, 3), spent("openpyxl set 1", part, 1)
    print(f"\n{MIDDLE:,} x 10: set 1 cell")
    shown("kbd", ours)
    shown("openpyxl", peer, MIDDLE)
    met = [
        gate("set 1 cell, s CPU", ours.cpu_s, most=1.0),
        gate("the same, peak, MiB", ours.peak_bytes / MIB, most=200),
    ]
    lines, lines_part = folder / "formulas.xlsx", folder / "formulas_part.xlsx"
    write_workbook(lines, MIDDLE, with_formulas=True)
    write_workbook(lines_part, PEER_ROWS - 1, with_formulas=True)
    ours = spent("kbd insert row", lines, 3)
    print(f"\n{MIDDLE:,} x 10 with {MIDDLE:,} formulas: insert a row above them")
    shown("kbd", ours)
    shown("openpyxl, formulas not moved", spent("openpyxl insert row", lines_part, 1), MIDDLE)
    met.append(gate("insert a row, s CPU", ours.cpu_s, most=2.0))
    met.append(calculation(lines, folder))
    print(f"\n{LARGE:,} x 10: all values")
    shown("kbd, looked into and kept", spent("kbd map", bigger, 3))
    shown("python-calamine, alone", spent("calamine values", bigger, 3))
    shown("openpyxl", spent("openpyxl values", part, 1), LARGE)
    seconds = anyio.run(loaded, bigger)
    met.append(gate("in a worker, s as its caller sees it", statistics.median(seconds), most=2.0))
    return met


def calculation(path: Path, folder: Path) -> bool:
    """Print what it costs to calculate a workbook, beside what else does; tell if it is met."""
    print(f"\n{MIDDLE:,} x 10 with {MIDDLE:,} formulas: calculate all, store their results")
    ours = spent("kbd calculate", path, 3)
    shown("kbd, by both engines", ours)
    met = gate("calculate all, s CPU", ours.cpu_s, most=5.0)
    shown("formualizer alone, nothing stored", spent("formualizer calculate", path, 3))
    shown("ironcalc alone, nothing stored", spent("ironcalc calculate", path, 3))
    office = shutil.which("soffice")
    if office is None:
        print("  LibreOffice is not installed here")
        return met
    profile = (folder / "profile").as_uri()
    command = [office, f"-env:UserInstallation={profile}", "--headless", "--convert-to", "xlsx",
               "--outdir", str(folder / "office"), str(path)]  # fmt: skip
    seconds = []
    for _ in range(2):
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        seconds.append(time.perf_counter() - start)
    # The first start makes a profile.
    print(f"  {'LibreOffice, loaded and saved':<34} {seconds[-1]:>6.2f} s")
    return met


def shown(name: str, cost: Spent, rows: int = 0) -> None:
    """Print what a work cost; with `rows`, it was done for the first PEER_ROWS of so many."""
    line = f"  {name:<34} {cost.cpu_s:>6.2f} s CPU, peak {cost.peak_bytes / MIB:.0f} MiB"
    if rows:
        times = rows // PEER_ROWS
        line += f", for {PEER_ROWS:,} rows only: {times} times that is {times * cost.cpu_s:.1f} s"
    print(line)


def main() -> None:
    """Measure and print; exit with 1 if a gate is missed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        met = [*small(folder), *large(folder)]
    sys.exit(0 if all(met) else 1)


if __name__ == "__main__":
    main()
