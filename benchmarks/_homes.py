"""Homes of many workbenches, as a watched folder leaves them behind.

Two workbenches are made by a real daemon: a small table lands in a watched folder and is sorted,
and the result is published in one and waits for review in the other. All others are copies of
these: their logs are written anew, with an id, a file name and times of their own, so that
`kbd verify` finds nothing wrong; file versions are linked. The daemon's log tells of each what it
would have told, and the watched folders hold the files. There is no index, nor a snapshot.

Of each thousand workbenches ten have a draft open, and one has a damaged log.
"""

import errno
import itertools
import os
import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks._daemon import running
from benchmarks._history import Unsynced
from kbd.client.blocking import Client
from kbd.events import EventLog, Recorded, codec, wrap_event
from kbd.events.retention import StorageReclaimed
from kbd.events.watches import FileLanded, WatchRunFinished, WatchRunStarted
from kbd.events.workbenches import DaemonStopped, WorkbenchCreated
from kbd.types import RunId, Seq, WatchId, WorkbenchId

__all__ = [
    "DAMAGED", "DRAFT", "ROWS", "MadeHome", "file_name", "made_by", "make_home", "watch_folder",
]  # fmt: skip

DAMAGED, DRAFT = 7, 5
"""The first workbench whose log is damaged, and the first with a draft, counted from 0."""
DAMAGED_EVERY, DRAFT_EVERY = 1000, 100

APART_US = 60_000_000
"""A file lands each minute: fewer than a rule may have in an hour."""

LINKED = 1000
"""So many workbenches share the inodes of their file versions; a file system has a limit."""

ROWS = "Day,Kind,Sum\n" + "".join(
    f"2024-01-{28 - row % 28:02},Kind {row % 5},{row * 3.25:.2f}\n" for row in range(55)
)
"""What lands: a table of about 1.3 KB."""


class MadeHome(msgspec.Struct, frozen=True):
    """A home that was made.

    Args:
        folder: Holds `home`, and the watched folders beside it.
        ids: The workbenches, oldest first.
        seconds: How long it took to make.
        disk_bytes: What the home takes on disk.
        inodes: How many files and folders are in it.
    """

    folder: Path
    ids: tuple[WorkbenchId, ...]
    seconds: float
    disk_bytes: int
    inodes: int

    @property
    def home(self) -> Path:
        """The home itself."""
        return self.folder / "home"

    def damaged(self) -> tuple[WorkbenchId, ...]:
        """Return the workbenches whose logs are damaged."""
        return self.ids[DAMAGED::DAMAGED_EVERY]

    def drafts(self) -> tuple[WorkbenchId, ...]:
        """Return the workbenches with a draft."""
        return self.ids[DRAFT::DRAFT_EVERY]


class _Unreserved(Unsynced):
    """A disk that syncs nothing and reserves nothing, which takes as long as all else."""

    def reserve(self, fd: int, offset: int, size: int) -> None:
        """Say that it cannot be done here."""
        del fd, offset, size
        raise OSError(errno.ENOTSUP, os.strerror(errno.ENOTSUP))


class _Template(msgspec.Struct, frozen=True):
    """A workbench that a real daemon made, to be copied.

    Args:
        id: Its id.
        watch_id: The watch that it was made by.
        watched: The watched folder.
        file: The name of its file.
        frames: Its events, a frame each, as they lie in the log.
        folders: The folders in it but its log's, by their paths in it.
        files: The paths of other files in it, each with its bytes.
        blobs: The paths of file versions.
        root: Where it lies.
        began_us: When its file landed.
        landed: The event that tells so.
        ended: The event that tells how its run ended.
        swept: The event that tells that the copy of its file is removed.
        delays_us: How long after that the others were recorded: the start of the job, the creation,
            the end of the run, and the removal of the copy.
    """

    id: WorkbenchId
    watch_id: WatchId
    watched: Path
    file: str
    frames: tuple[bytes, ...]
    folders: tuple[str, ...]
    files: tuple[tuple[str, bytes], ...]
    blobs: tuple[str, ...]
    root: Path
    began_us: int
    landed: FileLanded
    ended: WatchRunFinished
    swept: StorageReclaimed
    delays_us: tuple[int, int, int, int]


def file_name(number: int) -> str:
    """Return the name of the file that a workbench is about; all have the same length."""
    return f"statement-{number:07}.csv"


def make_home(folder: Path, count: int) -> MadeHome:
    """Make a home of so many workbenches.

    Args:
        folder: Where; made if it is not there. Sockets need a short path.
        count: How many.
    """
    begun = time.monotonic()
    (folder / "home").mkdir(mode=0o700, parents=True)
    apart = folder / "apart"
    published, drafted = _make_templates(folder)
    apart.mkdir()
    for part in ("daemon", "workbenches"):
        (folder / "home" / part).rename(apart / part)
    shutil.rmtree(folder / "home" / "landed")
    (folder / "home" / "workbenches").mkdir(mode=0o700)
    templates = _load(apart, published), _load(apart, drafted)
    ids = tuple(_write_workbenches(folder / "home", count, templates))
    _write_daemon_log(folder / "home", apart / "daemon" / "log", ids, templates)
    shutil.rmtree(apart)
    seconds = time.monotonic() - begun
    return MadeHome(folder, ids, seconds, _used(folder, "-k") * 1024, _used(folder, "--inodes"))


def _used(folder: Path, of: str) -> int:
    command = ["du", "-s", of, str(folder / "home")]
    return int(subprocess.check_output(command).split()[0])


# The templates.


def _make_templates(folder: Path) -> tuple[str, str]:
    """Let a daemon make one workbench that published, and one with a draft; return their ids."""
    with running(folder / "home") as daemon, Client(daemon.path) as client:
        watches = [
            watch_folder(client, folder / name, publish)
            for name, publish in (("inbox", "auto"), ("review", "review"))
        ]
        for number, name in enumerate(("inbox", "review")):
            (folder / name / file_name(number)).write_text(ROWS, encoding="utf-8")
        made = [made_by(client, watch_id) for watch_id in watches]
        # A few seconds later: the copies of what landed are removed, which is told, too.
        while {data["watch_id"] for data in _told(client, "StorageReclaimed")} != set(watches):
            time.sleep(0.1)
    # A copy of a workbench that was open would be one that a crash left.
    assert not any((folder / "home" / "workbenches" / each / "open").exists() for each in made)
    return made[0], made[1]


def watch_folder(client: Client, folder: Path, publish: str) -> str:
    """Watch a folder; return the watch once the system tells of changes."""
    folder.mkdir()
    rule = {"folder": str(folder), "prompt": "sort by Day", "publish": publish, "quiet_s": 0.1}
    watch_id = client.send("WatchAdd", {**rule, "model_id": "offline:planner"}, 300)["watch_id"]
    while client.send("WatchGet", {"watch_id": watch_id})["watch"]["hints"] != "system":
        time.sleep(0.05)
    return str(watch_id)


def made_by(client: Client, watch_id: str, number: int = 0) -> str:
    """Wait until a watch has worked on so many files before one; return the workbench of that."""
    while True:
        ended = _told(client, "WatchRunFinished")
        found = [data for data in ended if data["watch_id"] == watch_id]
        if len(found) > number:
            assert found[number]["outcome"] in ("published", "review"), found[number]
            return str(found[number]["workbench_id"])
        time.sleep(0.1)


def _told(client: Client, kind: str) -> list[dict[str, Any]]:
    """Return the events of a type in the daemon's log."""
    events = client.send("EventsRead", {"workbench_id": "daemon"})["events"]
    return [event["data"] for event in events if event["type"] == kind]


def _load(apart: Path, workbench_id: str) -> _Template:
    """Read a template and what the daemon's log tells of it."""
    root = apart / "workbenches" / workbench_id
    told: dict[type, tuple[Seq, Recorded]] = {}
    swept: dict[WatchId, Recorded] = {}
    for seq, record in EventLog.view(apart / "daemon" / "log").read(Seq(0), 10_000):
        match record.data:
            case StorageReclaimed(watch_id=watch_id):
                swept[WatchId(watch_id)] = record
            case (
                WatchRunStarted(workbench_id=of)
                | WorkbenchCreated(workbench_id=of)
                | WatchRunFinished(workbench_id=of)
            ) if of == workbench_id:
                told[type(record.data)] = seq, record
            case _:
                pass
    ended = told[WatchRunFinished][1].data
    (landing,) = ended.landings
    ((_, landed),) = EventLog.view(apart / "daemon" / "log").read(Seq(landing - 1), 1)
    places = sorted(root.rglob("*"))
    files = [each for each in places if each.is_file() and each.parent.name != "log"]
    blobs = [each for each in files if each.is_relative_to(root / "blobs")]
    records = [told[kind][1] for kind in (WatchRunStarted, WorkbenchCreated, WatchRunFinished)]
    records.append(swept[ended.watch_id])
    return _Template(
        id=WorkbenchId(workbench_id),
        watch_id=ended.watch_id,
        watched=apart.parent / ("inbox" if ended.outcome == "published" else "review"),
        file=landed.data.path,
        frames=tuple(body for _, body in EventLog.view(root / "log").frames()),
        folders=tuple(str(each.relative_to(root)) for each in places if each.is_dir()),
        files=tuple(
            (str(each.relative_to(root)), each.read_bytes()) for each in files if each not in blobs
        ),
        blobs=tuple(str(each.relative_to(root)) for each in blobs),
        root=root,
        began_us=landed.ts_us,
        landed=landed.data,
        ended=ended,
        swept=records[-1].data,
        delays_us=tuple(each.ts_us - landed.ts_us for each in records),  # type: ignore[arg-type]
    )


# The copies.


def _of(number: int, templates: tuple[_Template, _Template]) -> _Template:
    return templates[number % DRAFT_EVERY == DRAFT]


def _earlier_us(number: int, count: int) -> int:
    """Return how long before the templates a workbench was made; the newest is about as old."""
    return (count - number) * APART_US


def _write_workbenches(
    home: Path, count: int, templates: tuple[_Template, _Template]
) -> Iterator[WorkbenchId]:
    """Write all workbenches; yield their ids."""
    chance, disk = random.Random(1), _Unreserved()
    linked: dict[WorkbenchId, Path] = {}
    for number in range(count):
        workbench_id = WorkbenchId(f"{chance.getrandbits(64):016x}")
        template = _of(number, templates)
        if not number % LINKED:
            linked.clear()
        root = home / "workbenches" / workbench_id
        renamed = _renaming(template, workbench_id, number)
        _write_files(root, template, renamed, linked)
        log = EventLog.open(root / "log", disk=disk)
        for body in template.frames:
            shifted = -_earlier_us(number, count)
            log.append([_shifted(each, shifted) for each in codec.decode(renamed(body))])
        log.close()
        if number % DAMAGED_EVERY == DAMAGED:
            _damage(root / "log")
        yield workbench_id


def _renaming(
    template: _Template, workbench_id: WorkbenchId, number: int
) -> Callable[[bytes], bytes]:
    """Return what puts an id and a file name in the place of the template's.

    They are as long as those, so that even what is encoded stays well-formed.
    """
    old_id, new_id = template.id.encode(), workbench_id.encode()
    old_name, new_name = (Path(each).stem.encode() for each in (template.file, file_name(number)))
    return lambda text: text.replace(old_id, new_id).replace(old_name, new_name)


def _write_files(
    root: Path,
    template: _Template,
    renamed: Callable[[bytes], bytes],
    linked: dict[WorkbenchId, Path],
) -> None:
    """Write all of a workbench but its log; versions are linked to those of an earlier copy."""
    root.mkdir(mode=0o700)
    for name in template.folders:
        os.mkdir(f"{root}/{name}", 0o700)
    for name, content in template.files:
        path = f"{root}/{renamed(name.encode()).decode()}"
        with open(path, "xb", opener=_private) as file:
            file.write(renamed(content))
    source = linked.get(template.id)
    for name in template.blobs:
        if source is None:
            shutil.copy2(template.root / name, root / name)
        else:
            os.link(f"{source}/{name}", f"{root}/{name}")
    linked.setdefault(template.id, root)


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _shifted(record: Recorded, shift_us: int) -> Recorded:
    return msgspec.structs.replace(record, ts_us=record.ts_us + shift_us)


def _damage(log: Path) -> None:
    """Change a byte amid a log, as a disk does that fails."""
    (path,) = log.glob("*.kbl")
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


# The daemon's log.


def _write_daemon_log(
    home: Path,
    source: Path,
    ids: Sequence[WorkbenchId],
    templates: tuple[_Template, _Template],
) -> None:
    """Write what the daemon's log tells of all workbenches, and put the files that landed."""
    (home / "daemon").mkdir(mode=0o700)
    log = EventLog.open(home / "daemon" / "log", disk=_Unreserved())
    told = [record for _, record in EventLog.view(source).read(Seq(0), 10_000)]
    before = itertools.takewhile(lambda record: not isinstance(record.data, FileLanded), told)
    log.append([_shifted(each, -_earlier_us(0, len(ids))) for each in before])
    for template in templates:
        (template.watched / template.file).unlink()
    for number, workbench_id in enumerate(ids):
        template = _of(number, templates)
        _tell(log, template, workbench_id, number, _earlier_us(number, len(ids)))
    last = told[-1]
    assert isinstance(last.data, DaemonStopped), last
    log.append([last])
    log.close()


def _tell(
    log: EventLog, template: _Template, workbench_id: WorkbenchId, number: int, earlier_us: int
) -> None:
    """Tell of one workbench: its file landed and was copied, it was made, and its run ended."""
    path = template.watched / file_name(number)
    path.write_text(ROWS, encoding="utf-8")
    seen = path.stat()
    signature = f"{seen.st_size}:{seen.st_mtime_ns}:{seen.st_ctime_ns}:{seen.st_ino}"
    landed_us = template.began_us - earlier_us
    started_us, created_us, ended_us, swept_us = (landed_us + each for each in template.delays_us)
    fact = msgspec.structs.replace(template.landed, path=path.name, signature=signature)
    landing = log.append([wrap_event(fact, landed_us)])
    job = WatchRunStarted(template.watch_id, (landing,), workbench_id)
    log.append([wrap_event(job, started_us, 0, landing)])
    name = f"{template.watched.name}: {path.name}"
    log.append([wrap_event(WorkbenchCreated(workbench_id, name), created_us)])
    ended = msgspec.structs.replace(
        template.ended,
        landings=(landing,),
        workbench_id=workbench_id,
        run_id=RunId(template.ended.run_id.replace(template.id, workbench_id)),
    )
    log.append([wrap_event(ended, ended_us)])
    log.append([wrap_event(template.swept, swept_us)])
