"""Landings day after day under a retention of a day: what a year of them leaves.

    python -m benchmarks.retention [--landings 1000] [--daily 250] [--home FOLDER]

What is real: each landing, from the file that lands to the archive that is removed. The daemon is
a process of its own with its socket; the watched folders, the runs, the drafts, the publishes with
their receipts, the index, the archives, retention and the collection of blobs are its own code, and
nothing is written but by it.

What is not: its clocks are moved on by a day after each day's landings, retention is told to look
then and does not rest between two workbenches (benchmarks/_moved_daemon.py), and the home lies on
a RAM disk where there is one, so that syncs cost nothing. Two of a hundred landings are tables that
the offline planner sorts in worker processes; they land on the first day of each tenth. The others
are files of no known format, whose runs have a model that answers at once and a tool that writes in
the daemon (benchmarks/_light_plugin.py). The daemon has no built-in plugin on their days, so that
they need no worker process and the model is told of no tool that it does not use. It is started
twice in each tenth, once for either. Of what a collection removes there are only the copies of what
landed: benchmarks/soak.py has the others.

The kinds of landings are in benchmarks/_landings.py. After each tenth a line says how the home
stands. At the end it is proven that all that is gone is told of in the daemon's log with the reason
and nothing else is gone, that what nobody looked at and what failed is there, that all is whole,
and that the disk is flat but for the daemon's log and the snapshots of its state, which remember
all that landed. Exits with 1 if something of that is not so.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path

import msgspec

from benchmarks._daemon import Daemon, running
from benchmarks._growth import cpu_s, timed
from benchmarks._landings import GOING, HELD, Folders, Told, disk_bytes, read_told
from benchmarks._light_plugin import installed
from benchmarks._moved_daemon import Order, order
from kbd.client.blocking import Client

DAY_S = 86_400
DAILY, TENTHS = 250, 10
FULL, REVIEW, BROKEN = 0.02, 0.05, 0.05
"""Which part of the landings is of these kinds: of a tenth's, and of a day's; the rest is light."""

COLLECT_EVERY = 5
"""Blobs are collected on each so manyth day."""

FIRST_HELD, MORE_HELD = 10, 1
"""How many of each kind that must stay land at first, and in each tenth."""

SETTLING_DAYS = 3
"""Behind the last landings: one until they are archived, one until they are removed, and one more
for what was used when its time came."""

FLAT_FACTOR, FLAT_BYTES = 1.1, 3_000_000
"""By how much the rest of the home may differ between the second tenth and the last, beside what
is held: a sample is taken in the middle of what comes and goes."""

NEEDED = ("csv", "files", "jobs", "offline", "tables")
"""The built-in plugins by which a table is sorted; on other days there are none of them."""

SETTINGS = """\
[watch]
concurrency = 8

[retention]
archive_after_days = 1
remove_after_days = 1
discarded_after_days = 1

[search]
embedder = "none"
"""
RAM_DISK = Path("/dev/shm")
KBD = str(Path(sys.executable).with_name("kbd"))
REMOVED = re.compile(r"the archive of workbench ([0-9a-f]{16}) was removed: (\S.*)")


class Sample(msgspec.Struct, frozen=True):
    """How a home stands.

    Args:
        landings: How many files landed so far.
        folders: How many workbenches have a folder.
        archives: How many are archived.
        log_bytes: The daemon's log, with what is reserved for what comes next: as much again, up to
            a limit.
        snap_bytes: The snapshots of its state, which remembers all files that landed.
        archive_bytes: The archives.
        workbench_bytes: The folders of workbenches, but for their file versions.
        blob_bytes: Those.
        index_bytes: The index.
        held_bytes: What the workbenches take that must stay; in the two before.
        rss_mib: The daemon's memory.
        full_s: What a landing in worker processes took, until it was published.
        landing_s: The same of the others, until each was published or waited.
        day_s: What the end of the day took for each: reviewing, collecting, archiving, removing.
        cpu_s: The daemon's processor time for each of the others, the end of its day included.
        start_s: What the last start took.
        status_s: What `kbd status` took.
    """

    landings: int
    folders: int
    archives: int
    log_bytes: int
    snap_bytes: int
    archive_bytes: int
    workbench_bytes: int
    blob_bytes: int
    index_bytes: int
    held_bytes: int
    rss_mib: float
    full_s: float
    landing_s: float
    day_s: float
    cpu_s: float
    start_s: float
    status_s: float

    @property
    def rest_bytes(self) -> int:
        """What the home takes beside what the daemon remembers for good, and what is held."""
        parts = self.archive_bytes + self.workbench_bytes + self.blob_bytes
        return parts + self.index_bytes - self.held_bytes


HEAD = (
    " landings folders archives | daemon's log |    state archives  folders    blobs    index |"
    "    held | RSS MiB |    ms full   ms light     ms day     ms cpu |  start  status"
)


def show(sample: Sample) -> None:
    """Print a sample as a line; sizes in MB."""
    sizes = (
        sample.snap_bytes,
        sample.archive_bytes,
        sample.workbench_bytes,
        sample.blob_bytes,
        sample.index_bytes,
    )
    parts = " ".join(f"{each / 1e6:>8.2f}" for each in sizes)
    times = (sample.full_s, sample.landing_s, sample.day_s, sample.cpu_s)
    milliseconds = " ".join(f"{each * 1e3:>10.1f}" for each in times)
    print(
        f"{sample.landings:>9,} {sample.folders:>7,} {sample.archives:>8,} |"
        f" {sample.log_bytes / 1e6:>12.2f} | {parts} | {sample.held_bytes / 1e6:>7.2f} |"
        f" {sample.rss_mib:>7.1f} | {milliseconds} |"
        f" {sample.start_s:>4.1f} s {sample.status_s * 1e3:>4.0f} ms",
        flush=True,
    )


class Year:
    """A home, its daemon, and the days that pass in it.

    Args:
        place: What is the home's, and what lies beside it.
        profile: A file for the profiles of the daemons; behind its name comes the day of the start.

    Attributes:
        home: The home.
        folders: Its watched folders.
        days: How many days have passed.
    """

    def __init__(self, place: Path, profile: Path | None = None) -> None:
        self._place, self._profile = place, profile
        self.home, self.folders, self.days = place / "h", Folders(place / "in"), 0
        self._environment, self._start_s = installed(place / "site"), 0.0
        self.home.mkdir(mode=0o700)
        (self.home / "settings.toml").write_text(SETTINGS, encoding="utf-8")

    @contextmanager
    def started(self, *needed: str) -> Iterator[Daemon]:
        """Run the daemon of the day, with these of the built-in plugins."""
        orders = self._place / "orders"
        orders.unlink(missing_ok=True)
        words = ["-m", "benchmarks._moved_daemon", str(self.home), str(orders)]
        words += ["--ahead-s", str(self.days * DAY_S)]
        if self._profile is not None:
            words += ["--profile", f"{self._profile.absolute()}.{self.days}"]
        blocked = ",".join(built_in() - set(needed))
        environment = {**self._environment, "KBD_BLOCKED_PLUGINS": blocked}
        begun = time.perf_counter()
        with running(self.home, environment, words) as daemon:
            self._start_s = time.perf_counter() - begun
            yield daemon

    def pass_tenth(self, landings: int, daily: int) -> Sample:
        """Have so many files land on some days; return how the home stands then."""
        full = round(landings * FULL)
        full_s = day_s = landing_s = 0.0
        if full:
            with self.started(*NEEDED) as daemon, Client(daemon.path) as client:
                full_s = timed(partial(self.folders.land, client, {"full": full}))
                day_s += timed(partial(self.end_day, client))
        left = landings - full
        with self.started() as daemon, Client(daemon.path) as client:
            used_s = cpu_s(daemon.pid)
            while left:
                given = _mixed(min(daily, left))
                landing_s += timed(partial(self.folders.land, client, given))
                day_s += timed(partial(self.end_day, client))
                left -= sum(given.values())
            used_s = cpu_s(daemon.pid) - used_s
            self.folders.land(client, dict.fromkeys(HELD, MORE_HELD))
            others = landings - full
            times = full_s / (full or 1), landing_s / others, day_s / landings, used_s / others
            return self._sample(daemon, client, times)

    def end_day(self, client: Client) -> None:
        """See to what waits for a person, and go on to the next day."""
        self.days += 1
        self.folders.review(client)
        order(self._place / "orders", Order(DAY_S, not self.days % COLLECT_EVERY))

    def _sample(
        self, daemon: Daemon, client: Client, times: tuple[float, float, float, float]
    ) -> Sample:
        status_s = timed(partial(kbd, self.home, "status"))
        found = client.send("StorageGet", {"limit": 1000}, 600)
        shares, log_bytes = found["shares"], disk_bytes(self.home / "daemon" / "log")
        held = [row for row in found["workbenches"] if row["name"].partition(":")[0] in HELD]
        status = Path(f"/proc/{daemon.pid}/status").read_text("ascii")
        return Sample(
            landings=sum(self.folders.landed[kind] for kind in GOING),
            folders=found["total"],
            archives=found["archived"],
            log_bytes=log_bytes,
            snap_bytes=shares["daemon"] - log_bytes,
            archive_bytes=shares["archives"],
            workbench_bytes=shares["logs"] + shares["published"] + shares["caches"],
            blob_bytes=shares["blobs"],
            index_bytes=shares["index"],
            held_bytes=sum(row["disk_bytes"] for row in held),
            rss_mib=int(status.partition("VmRSS:")[2].split()[0]) / 1024,
            full_s=times[0],
            landing_s=times[1],
            day_s=times[2],
            cpu_s=times[3],
            start_s=self._start_s,
            status_s=status_s,
        )


def _mixed(landings: int) -> dict[str, int]:
    """Return how many of a day's landings are of which kind."""
    counts = {"review": round(landings * REVIEW), "broken": round(landings * BROKEN)}
    counts["light"] = landings - sum(counts.values())
    return {kind: count for kind, count in counts.items() if count}


def built_in() -> set[str]:
    """Return the names of kbd's own plugins."""
    return {point.name for point in entry_points(group="kbd")}


def kbd(home: Path, *words: str) -> str:
    """Run a command, and return what it says.

    Raises:
        subprocess.CalledProcessError: It says that something is wrong.
    """
    command = [KBD, "--home", str(home), *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


# What is proven.


def _tell(what: str, *, is_so: bool) -> bool:
    print(f"  {'so  ' if is_so else 'NOT '} {what}")
    return is_so


def prove(home: Path, folders: Folders, told: Told) -> list[bool]:
    """Prove of a home that is settled what is gone, and why; print it."""
    there = {each.name for each in (home / "workbenches").iterdir()}
    archived = {each.name.partition(".")[0] for each in (home / "archives").glob("*.tar.gz")}
    gone = told.created.keys() - there - archived
    lines = [
        line
        for line in kbd(home, "log", "daemon", "--type", "WorkbenchDeleted").splitlines()
        if not line.endswith(" UTC")  # above each day stands its date
    ]
    shown = {found[1]: found[2] for found in map(REMOVED.search, lines) if found}
    both = f"{len(gone):,} are gone, {len(told.removed):,} removals in the log"
    by_outcome = {
        outcome: {each for each in gone if told.outcomes.get(each) == outcome}
        for outcome in ("review", "failed")
    }
    kinds, expected = told.kinds(there), {kind: folders.landed[kind] for kind in HELD}
    landed = sum(folders.landed.values())
    print(f"  file versions that the log says were collected: {told.reclaimed}")
    return [
        _tell(
            f"{landed:,} landings made {len(told.created):,} workbenches",
            is_so=landed == len(told.created),
        ),
        _tell(f"{both}, of the same workbenches", is_so=gone == told.removed.keys()),
        _tell(
            f"`kbd log daemon` shows {len(lines):,} removals, {len(shown):,} with the reason",
            is_so=len(lines) == len(shown) and shown.keys() == gone,
        ),
        _tell(
            "each was archived before, with a reason in the log",
            is_so=all(told.archived.get(each) for each in gone),
        ),
        _tell(f"there are {kinds} and {len(archived)} archives", is_so=kinds == expected),
        _tell(
            f"of what waited for review {len(by_outcome['review']):,} are gone,"
            f" which a person published or discarded, of {len(folders.reviewed):,}",
            is_so=by_outcome["review"] <= folders.reviewed,
        ),
        _tell(
            f"of what failed {len(by_outcome['failed']):,} are gone, which a person dismissed,"
            f" of {len(folders.dismissed):,}",
            is_so=by_outcome["failed"] <= folders.dismissed,
        ),
    ]


def verify(home: Path) -> bool:
    """Verify all logs and file versions; print what it says."""
    begun = time.perf_counter()
    done = subprocess.run(
        [KBD, "--home", str(home), "verify"], check=False, stdout=subprocess.PIPE, text=True
    )
    lines = done.stdout.splitlines()
    whole, seconds = sum(" whole: " in line for line in lines), time.perf_counter() - begun
    said = f"{whole:,} logs are whole, {lines[-1] if lines else 'nothing'}"
    return _tell(f"kbd verify, in {seconds:.1f} s: {said}", is_so=not done.returncode)


def judge(samples: Sequence[Sample]) -> bool:
    """Judge whether the disk is flat; print that, and what grows with each landing."""
    early, late = samples[len(samples) // 5], samples[-1]
    count = late.landings - early.landings
    grown = {
        "bytes of the daemon's log": late.log_bytes - early.log_bytes,
        "bytes of its snapshots": late.snap_bytes - early.snap_bytes,
        "bytes of its memory": int((late.rss_mib - early.rss_mib) * 2**20),
        "bytes of all else on the disk but what is held": late.rest_bytes - early.rest_bytes,
        "bytes of the index, in that": late.index_bytes - early.index_bytes,
    }
    print(f"each landing from {early.landings:,} to {late.landings:,} leaves")
    for what, size in grown.items():
        print(f"  {size / count:>10,.1f} {what}")
    most = early.rest_bytes * FLAT_FACTOR + FLAT_BYTES
    rest = f"{early.rest_bytes / 1e6:.2f} -> {late.rest_bytes / 1e6:.2f}"
    return _tell(
        f"flat: MB beside log, snapshots and what is held {rest} (at most {most / 1e6:.2f})",
        is_so=late.rest_bytes <= most,
    )


def show_log(told: Told, landings: int) -> None:
    """Print what of the daemon's log a landing takes, by the types of events."""
    print("of the daemon's log a landing takes, in bytes by type, and how many events of how much")
    for kind, (count, size) in sorted(told.counts.items(), key=lambda each: -each[1][1])[:10]:
        print(f"  {size / landings:>8.1f} {kind:<22} {count / landings:.3f} of {size / count:.0f}")
    print(f"  {told.header_bytes / landings:>8.1f} headers of frames")
    packed = sum(size for _, size in told.counts.values()) + told.header_bytes
    print(f"  {packed / landings:>8.1f} in all; {told.unused_bytes:,} bytes are reserved or unused")


def work(place: Path, landings: int, daily: int, profile: Path | None) -> bool:
    """Have files land and go; return whether all is as it should be."""
    year, samples, begun = Year(place, profile), list[Sample](), time.perf_counter()
    with year.started(*NEEDED) as daemon, Client(daemon.path) as client:
        year.folders.watch(client)
        year.folders.land(client, dict.fromkeys(HELD, FIRST_HELD))
    print(HEAD, flush=True)
    for tenth in range(TENTHS):
        count = landings * (tenth + 1) // TENTHS - landings * tenth // TENTHS
        samples.append(year.pass_tenth(count, daily))
        show(samples[-1])
    seconds = time.perf_counter() - begun
    each = f"{seconds:,.0f} s, {seconds / landings * 1e3:.1f} ms each"
    print(f"{landings:,} landings on {year.days:,} days in {each}")
    with year.started(*NEEDED) as daemon, Client(daemon.path) as client:
        for _ in range(SETTLING_DAYS):
            year.end_day(client)
        told = read_told(daemon.home / "daemon" / "log")
        proven = [*prove(daemon.home, year.folders, told), verify(daemon.home)]
    proven.append(judge(samples))
    show_log(told, landings)
    return all(proven)


def main() -> int:
    """Run it; return 1 if something is not as it should be."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--landings", type=int, default=1000)
    parser.add_argument("--daily", type=int, default=DAILY, help="how many land on a day")
    parser.add_argument("--home", type=Path, help="where; a RAM disk if there is one")
    parser.add_argument("--profile", type=Path, help="a file for profiles of the daemons")
    given = parser.parse_args()
    above = given.home or (RAM_DISK if RAM_DISK.is_dir() else None)
    daily = max(1, min(given.daily, given.landings // TENTHS))
    with tempfile.TemporaryDirectory(prefix="kbd-", dir=above) as place:
        where = "a RAM disk, where syncs cost nothing" if above == RAM_DISK else place
        print(f"real landings, {daily} a day by a clock that is moved; the home is on {where};")
        print(f"{FULL:.0%} in worker processes, the others with a model and a tool that need none")
        return 0 if work(Path(place), given.landings, daily, given.profile) else 1


if __name__ == "__main__":
    sys.exit(main())
