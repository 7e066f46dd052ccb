"""What a job costs: `python benchmarks/jobs.py [rounds [files]]`.

The demo's job (1,204 transactions, a sheet for each of 12 categories sorted by date, and a sheet of
totals), written in two ways over the socket into a draft that is thrown away:

    typed    the calls that thirteen items of a plan make: for each sheet headings and styles, its
             rows, a look at what came out; then the totals
    job      one `JobRun`

with the seconds, the processor seconds of the daemon and all its workers, and what a model would
write and read for it: calls, and characters of arguments and results. Then small files one after
the other on several connections, each a workbench of its own with a job that groups 200 rows into a
workbook, by a recipe's run with all its phases and by one `JobRun`: files a minute, and the
processor time of a file by the part that spends it. Then what a model reads and writes for seven
tasks, by typed operations and by job (`_job_models`).

The machine is not ours, so the ratio of the two ways in one run is the figure that counts.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import msgspec

from benchmarks._daemon import Daemon, started
from benchmarks._job_models import compare_models
from benchmarks._job_tasks import FILE, demo_items, demo_job
from benchmarks._measure import gate, interleave, table
from benchmarks.transactions import transactions
from kbd.client.blocking import Client
from kbd.jobs.recipes.documents import encode_recipe_toml
from kbd.jobs.recipes.records import Recipe
from kbd.jobs.records import Job

CONNECTIONS = 4
FASTER = 3.0
"""How many times the seconds of the typed calls are those of the job, at least."""

A_MINUTE = 1_000
"""Files a minute, the goal on two cores."""

CORES = 2
"""Those that the goal is for."""

TICKS = os.sysconf("SC_CLK_TCK")

Calls = Iterator[tuple[str, dict[str, Any]]]


def typed_calls() -> Calls:
    """Yield the calls of tools by which the thirteen sheets are written one by one."""
    for item in demo_items():
        yield from ((call.tool, call.arguments) for call in item.calls)


class Spent:
    """Processor seconds of a process and all that it started, by their names.

    The daemon's are those of its event loop, its first thread, and of the threads that hash, write
    and sync for it. Those of a process that has ended are its parent's (`cutime`, proc(5)).
    """

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._begin = self._read()

    def seconds(self) -> dict[str, float]:
        """Return what was spent since the beginning; names without any are left out."""
        now = self._read()
        spent = {name: now[name] - self._begin.get(name, 0.0) for name in now}
        return {name: value for name, value in spent.items() if value > 0}

    def _read(self) -> dict[str, float]:
        found: dict[str, float] = {}
        parents: dict[int, int] = {}
        times: dict[int, float] = {}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            pid = int(folder.name)
            parents[pid] = int(fields[1])
            times[pid] = sum(map(int, fields[_TIMES])) / TICKS
        for pid, value in times.items():
            if pid != self._pid and self._is_below(pid, parents):
                name = _name_of(pid)
                found[name] = found.get(name, 0.0) + value
        loop = _ticks(Path(f"/proc/{self._pid}/task/{self._pid}/stat"))[:2]
        whole = _ticks(Path(f"/proc/{self._pid}/stat"))
        found["event loop"] = sum(loop) / TICKS
        found["its threads"] = (sum(whole[:2]) - sum(loop)) / TICKS
        found["ended"] = sum(whole[2:]) / TICKS
        return found

    def _is_below(self, pid: int, parents: dict[int, int]) -> bool:
        while pid > 1:
            if pid == self._pid:
                return True
            pid = parents.get(pid, 0)
        return False


_TIMES = slice(11, 15)
"""Of its own (`utime`, `stime`), and of its ended children, behind the name in `stat` (proc(5))."""


def _ticks(stat: Path) -> list[int]:
    """Return the times of a process or a thread, in ticks."""
    return list(map(int, stat.read_text().rpartition(")")[2].split()[_TIMES]))


def _name_of(pid: int) -> str:
    """Return the plugin that a worker process is for, as its command line has it."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    except OSError:
        return "workers"
    return next((word for word in words if word.startswith("kbd_")), "workers")


def compare(client: Client, workbench_id: str, pid: int, rounds: int) -> bool:
    """Compare the two ways; return whether the gate is met."""
    sizes: dict[str, tuple[int, int, int]] = {}
    processor: dict[str, dict[str, float]] = {}

    def measured(name: str, calls: Callable[[], Calls]) -> Callable[[], float]:
        def slice_s() -> float:
            count = given = answered = 0
            spent, began = Spent(pid), time.perf_counter()
            for tool, arguments in calls():
                found = client.send(
                    "ToolsCall",
                    {"workbench_id": workbench_id, "name": tool, "arguments": arguments},
                )
                count += 1
                given += len(json.dumps(arguments))
                answered += len(json.dumps(found))
            took = time.perf_counter() - began
            processor[name] = spent.seconds()
            sizes[name] = count, given, answered
            client.send("DraftDiscard", {"workbench_id": workbench_id})
            return took

        return slice_s

    def job_calls() -> Calls:
        yield "run_job", {"job": demo_job()}

    figures = interleave(
        {"typed": measured("typed", typed_calls), "job": measured("job", job_calls)}, rounds
    )
    table("The demo's thirteen sheets", "s", figures, "typed")
    for name, (count, given, answered) in sizes.items():
        parts = processor[name]
        print(
            f"  {name:<10} {count:>3} calls, {given:>7,} characters written, {answered:>7,} read,"
            f" {sum(parts.values()):.2f} s of processor (last round):"
        )
        for part, seconds in sorted(parts.items(), key=lambda each: -each[1]):
            print(f"  {'':<10} {part:<14} {seconds * 1000:>7.0f} ms")
    return gate("typed / job", figures["typed"] / figures["job"], least=FASTER)


Way = Callable[[Client, Path], None]
"""Has a file done, by the time that it returns."""

BY_SHOP: dict[str, Any] = {
    "inputs": [{"name": "day", "file": "*.csv", "columns": {"Amount": "number"}}],
    "steps": [
        {
            "do": "group",
            "by": ["Shop"],
            "figures": [{"name": "Total", "function": "sum", "column": "Amount"}],
        },
        {"do": "write", "file": "{day}-by-shop.xlsx", "form": {"totals": {"Total": "sum"}}},
    ],
}
"""The job of each small file."""


def by_job_run(client: Client, source: Path) -> None:
    """Have a file done by `JobRun`, in a workbench of its own."""
    where = {"workbench_id": client.send("WorkbenchCreate", {"name": source.stem})["workbench_id"]}
    client.send("WorkbenchFilesAdd", {**where, "source_paths": [str(source)]})
    client.send("JobRun", {**where, "job": BY_SHOP})


RECIPE = "by-shop"


def by_recipe(client: Client, source: Path) -> None:
    """Have a file done by a run of the recipe, in a workbench of its own."""
    where = {"workbench_id": client.send("WorkbenchCreate", {"name": source.stem})["workbench_id"]}
    client.send("WorkbenchFilesAdd", {**where, "source_paths": [str(source)]})
    client.send("WorkshopSendUserMessage", {**where, "recipe": RECIPE})
    run = client.send("WorkshopRunAgent", where)
    if run["status"] != "finished":
        raise SystemExit(f"{source.name}: the run is {run['status']}")


def save_recipe(client: Client) -> None:
    """Save the job of each small file as a recipe."""
    made = Recipe(RECIPE, "total Amount by Shop", (msgspec.convert(BY_SHOP, Job),))
    client.send("RecipeSave", {"document": encode_recipe_toml(made)})


def small_files(folder: Path, count: int) -> list[Path]:
    """Write files of 200 rows, each of another content, and return where they lie."""
    sources = []
    for number in range(count):
        source = folder / f"day{number}.csv"
        rows = [f"2024-01-{n % 28 + 1:02},Shop {n % 7},{n * 1.25 + number}" for n in range(200)]
        source.write_text("Day,Shop,Amount\n" + "\n".join(rows) + "\n")
        sources.append(source)
    return sources


def files_a_minute(daemon: Daemon, sources: list[Path], way: Way) -> float:
    """Have many small files done; return how many a minute.

    Args:
        daemon: By which daemon.
        sources: The files.
        way: How one is done.
    """

    def run(mine: list[Path]) -> None:
        with Client(daemon.path) as client:
            for source in mine:
                way(client, source)

    run(sources[:2])  # the first calls start the workers
    rest = sources[2:]
    spent, began = Spent(daemon.pid), time.perf_counter()
    with ThreadPoolExecutor(CONNECTIONS) as pool:
        list(pool.map(run, (rest[place::CONNECTIONS] for place in range(CONNECTIONS))))
    took = time.perf_counter() - began
    parts = spent.seconds()
    print(f"\nSmall files {way.__name__}, {CONNECTIONS} connections: {len(rest)} in {took:.1f} s")
    for name, seconds in sorted(parts.items(), key=lambda each: -each[1]):
        print(f"  {name:<14} {seconds * 1000 / len(rest):>7.1f} ms of processor a file")
    whole = sum(parts.values()) / len(rest)
    print(f"  {'in all':<14} {whole * 1000:>7.1f} ms: {CORES * 60 / whole:,.0f} files a minute"
          f" if {CORES} cores had nothing else to do")  # fmt: skip
    return len(rest) * 60 / took


def main() -> int:
    """Run all parts; the exit code is 1 if a gate is missed."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    files = int(sys.argv[2]) if len(sys.argv) > 2 else 202
    with tempfile.TemporaryDirectory() as name, started() as daemon:
        folder = Path(name)
        (folder / FILE).write_bytes(transactions())
        with Client(daemon.path) as client:
            made = client.send("WorkbenchCreate", {"name": "demo"})
            where = {"workbench_id": made["workbench_id"]}
            client.send("WorkbenchFilesAdd", {**where, "source_paths": [str(folder / FILE)]})
            is_faster = compare(client, made["workbench_id"], daemon.pid, rounds)
            save_recipe(client)
        sources = small_files(folder, files)
        by_run = files_a_minute(daemon, sources, by_recipe)
        by_call = files_a_minute(daemon, sources, by_job_run)
        print(f"  a recipe's run takes {by_call / by_run:.2f} times as long as one call")
        is_enough = gate("files a minute, by recipe", by_run, least=A_MINUTE)
    is_shorter = compare_models()
    return 0 if is_faster and is_enough and is_shorter else 1


if __name__ == "__main__":
    sys.exit(main())
