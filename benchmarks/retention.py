"""Landings day after day under a retention of a day: what disk, memory and the daemon's log take.

    python -m benchmarks.retention [--landings 1000] [--days 20]

The clock is moved on by a day after each day's landings; the runs are scripted, all else is kbd's.
Beside what goes by itself, some landings fail, some wait for review, and some are published by a
rule without a retention: they must stay to the end. Prints the state at the end of days, and how
much of the home, of the daemon's memory and of its log a landing leaves that is gone.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import anyio

from kbd.core.runtime.settings import RetentionSettings

# The home lies beside the tests, which are no installed package.
sys.path.append(str(Path(__file__).resolve().parent.parent / "tests"))

from retained_landings import Day, landed_home

HELD = {"review": 10, "unset": 10, "broken": 10, "kept": 10}
SHOWN_DAYS = 20


def rss_mib() -> float:
    """Return the memory of this process."""
    status = Path("/proc/self/status").read_text("ascii")
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024


def show(number: int, landed: int, day: Day) -> None:
    """Print a day."""
    print(
        f"  {number:>4} {landed:>9,} {day.folders:>8,} {day.archived:>9,} {day.removed:>9,}"
        f" {(day.disk_bytes - day.log_bytes) / 1e6:>10,.1f} {day.log_bytes / 1e6:>8,.1f}"
        f" {day.state_bytes / 1e6:>8,.2f} {rss_mib():>8,.0f}",
        flush=True,
    )


async def work(place: Path, landings: int, days: int) -> None:
    """Have files land, and go."""
    a_day, every = max(1, landings // days), max(1, days // SHOWN_DAYS)
    begun = time.perf_counter()
    async with landed_home(place, RetentionSettings(1, 1), concurrency=8) as home:
        print("   day    landed  folders  archived   removed  rest in MB  log MB state MB  RSS MiB")
        await home.land(HELD)
        ends: list[Day] = []
        for number in range(1, days + 1):
            await home.land({"own": a_day})
            ends.append(await home.end_day())
            if number % every == 0 or number <= 3:
                show(number, number * a_day, ends[-1])
        there = home.kinds_there()
    held = {kind: there[kind] for kind in HELD}
    assert held == HELD, held
    seconds = time.perf_counter() - begun
    early, late = ends[days // 4], ends[-1]
    gone = late.removed - early.removed or 1
    print(f"{days * a_day:,} landings in {seconds:,.0f} s, {days * a_day / seconds:.1f} a second")
    print(f"held to the end: {held}")
    grown = (late.disk_bytes - late.log_bytes - early.disk_bytes + early.log_bytes) / gone
    print(f"a landing that is gone leaves {grown:,.0f} bytes of disk beside the daemon's log,")
    print(f"  {(late.log_bytes - early.log_bytes) / gone:,.0f} bytes of that log, and")
    print(f"  {(late.state_bytes - early.state_bytes) / gone:,.0f} bytes of the daemon's state")


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--landings", type=int, default=1000)
    parser.add_argument("--days", type=int, default=20)
    parser.add_argument("--home", type=Path, help="where; else a folder that is removed again")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.home) as place:
        anyio.run(work, Path(place), arguments.landings, arguments.days)


if __name__ == "__main__":
    main()
