"""Landings of every kind in a real daemon, day after day, for `benchmarks/retention.py`.

    light     a text file, published by its rule, whose folder has a retention of a day
    full      a table, sorted by kbd's offline planner in worker processes, likewise
    review    a person publishes one half of the drafts and discards the other on the same day
    broken    the run fails, and a person dismisses it on the same day

and those that must stay, whatever the clock says:

    waiting   nobody looks at the draft
    stuck     the run fails, and nobody dismisses it
    unset     published by a rule without a retention of its own, and nobody looks at it
    kept      published, in a folder in which nothing is ever archived
"""

import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from benchmarks._homes import ROWS
from benchmarks._light_plugin import FAILING, MODEL
from kbd.client.blocking import Client
from kbd.events import EventLog, Recorded, codec
from kbd.events.frame import BODY_AT
from kbd.events.retention import StorageReclaimed
from kbd.events.watches import WatchRunFinished
from kbd.events.workbenches import WorkbenchArchived, WorkbenchCreated, WorkbenchDeleted

__all__ = ["GOING", "HELD", "Folders", "Told", "disk_bytes", "read_told"]

GOING = ("light", "full", "review", "broken")
HELD = ("waiting", "stuck", "unset", "kept")

_DAY = {"archive_after_days": 1, "remove_after_days": 1}
_RETENTIONS: Mapping[str, dict[str, int] | None] = {
    "light": _DAY, "full": _DAY, "broken": _DAY, "stuck": _DAY, "waiting": _DAY,
    "kept": {}, "review": None, "unset": None,
}  # fmt: skip
_FAIL, _REVIEW = ("broken", "stuck"), ("review", "waiting")
_TIMEOUT_S = 600.0
_POLL_S = 0.05


class Folders:
    """The watched folders of a home, in which files land.

    Args:
        place: Where they are made.

    Attributes:
        reviewed: The workbenches whose drafts a person published or discarded.
        dismissed: Those of the files that a person dismissed after their runs had failed.
        landed: How many files landed, by kind.
    """

    def __init__(self, place: Path) -> None:
        self._place, self._watches = place, dict[str, str]()
        self.reviewed: set[str] = set()
        self.dismissed: set[str] = set()
        self.landed = dict.fromkeys((*GOING, *HELD), 0)

    def watch(self, client: Client) -> None:
        """Have all of them watched."""
        for kind in self.landed:
            folder = self._place / kind
            folder.mkdir(parents=True)
            rule: dict[str, Any] = {
                "folder": str(folder),
                "name": kind,
                "prompt": FAILING if kind in _FAIL else "sort by Day",
                "publish": "review" if kind in _REVIEW else "auto",
                "quiet_s": 0.1,
                "limits": {"runs_per_hour": 100_000},
                "on_failure": {"retries": 0},
                "model_id": "offline:planner" if kind == "full" else MODEL,
            }
            if (own := _RETENTIONS[kind]) is not None:
                rule["retention"] = own
            self._watches[kind] = client.send("WatchAdd", rule, _TIMEOUT_S)["watch_id"]
        while any(each["hints"] != "system" for each in self._rows(client).values()):
            time.sleep(_POLL_S)

    def land(self, client: Client, counts: Mapping[str, int]) -> None:
        """Have files land, and wait until all runs on them have come to their ends.

        Args:
            client: Asks the daemon.
            counts: How many, by kind.
        """
        for kind, count in counts.items():
            for _ in range(count):
                self.landed[kind] += 1
                self._file(kind, self.landed[kind])
        left = set(counts)
        while left:
            time.sleep(_POLL_S)
            rows = self._rows(client)
            left = {kind for kind in left if _ended(rows[kind]) < self.landed[kind]}
        # Worked on: the people who dropped them tidy up.
        for kind in counts:
            for path in (self._place / kind).iterdir():
                path.unlink()

    def review(self, client: Client) -> None:
        """Have a person publish or discard in turn what `review` left, and dismiss the broken."""
        asked = {
            "watch_id": self._watches["review"],
            # A draft that a rule leaves is a decision that waits for a person.
            "status": ["draft", "waiting"],
            "limit": 1000,
        }
        for number, row in enumerate(client.send("WorkbenchList", asked)["workbenches"]):
            bench = {"workbench_id": row["id"]}
            client.send("DraftDiscard" if number % 2 else "DraftPublish", bench, _TIMEOUT_S)
            self.reviewed.add(row["id"])
        named = {"watch_id": self._watches["broken"]}
        failed = client.send("WatchFailedList", named, _TIMEOUT_S)["failed"]
        if failed:
            landings = [row["landing_id"] for row in failed]
            client.send("WatchFailedDismiss", {**named, "landing_ids": landings}, _TIMEOUT_S)
        self.dismissed |= {row["workbench_id"] for row in failed}

    def _file(self, kind: str, number: int) -> None:
        """Put a file of a kind; each has a content of its own."""
        if kind == "full":
            text, name = f"{ROWS}2024-02-01,Kind 1,{number}.00\n", f"{number:06}.csv"
        else:
            text, name = f"{kind} {number}\n" * 20, f"{number:06}.txt"
        (self._place / kind / name).write_text(text, encoding="utf-8")

    def _rows(self, client: Client) -> dict[str, Any]:
        return {row["name"]: row for row in client.send("WatchList", {}, _TIMEOUT_S)["watches"]}


def _ended(row: Mapping[str, Any]) -> int:
    return sum(row["outcomes"].values())


class Told(msgspec.Struct):
    """What the daemon's log tells.

    Args:
        created: The names of the workbenches that were made.
        archived: The reasons why workbenches were archived.
        removed: The reasons why workbenches were removed; "" where a person deleted one.
        outcomes: The last outcome of each run on what landed.
        reclaimed: How many file versions were collected, by kind.
        counts: How many events there are of a type, and how many bytes they take packed.
        header_bytes: What the headers of the frames take.
        unused_bytes: What is reserved for what comes next, on the disk.
    """

    created: dict[str, str] = {}
    archived: dict[str, str] = {}
    removed: dict[str, str] = {}
    outcomes: dict[str, str] = {}
    reclaimed: dict[str, int] = {}
    counts: dict[str, tuple[int, int]] = {}
    header_bytes: int = 0
    unused_bytes: int = 0

    def note(self, _seq: int, record: Recorded) -> None:
        """Take an event."""
        data = record.data
        match data:
            case WorkbenchCreated():
                self.created[data.workbench_id] = data.name
            case WorkbenchArchived():
                self.archived[data.workbench_id] = data.reason
            case WorkbenchDeleted():
                self.removed[data.workbench_id] = data.reason
            case WatchRunFinished():
                self.outcomes[data.workbench_id] = data.outcome
            case StorageReclaimed():
                self.reclaimed[data.kind] = self.reclaimed.get(data.kind, 0) + data.count
            case _:
                pass
        kind = type(data).__name__
        count, size = self.counts.get(kind, (0, 0))
        self.counts[kind] = count + 1, size + len(codec.encode([record]))

    def kinds(self, ids: Iterable[str]) -> dict[str, int]:
        """Return how many workbenches of some there are of each kind, by their names."""
        found: dict[str, int] = {}
        for each in ids:
            kind = self.created[each].partition(":")[0]
            found[kind] = found.get(kind, 0) + 1
        return found


def read_told(log: Path) -> Told:
    """Read all of a daemon's log."""
    told, view = Told(), EventLog.view(log)
    view.replay(told.note)
    written = 0
    for _, body in view.frames():
        told.header_bytes += BODY_AT
        written += BODY_AT + len(body)
    told.unused_bytes = disk_bytes(log) - written
    return told


def disk_bytes(folder: Path) -> int:
    """Return what the files in a folder and below it take on the disk."""
    return sum(each.stat().st_blocks for each in folder.rglob("*")) * 512
