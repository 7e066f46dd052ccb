"""What came into a workbench from outside, as its log tells it, and what kbd made there since."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from kbd.cli.exits import Refused
from kbd.cli.link import call
from kbd.cli.reading import events_of
from kbd.client.blocking import Client

__all__ = ["Arrivals", "Held", "hash_of", "held", "made"]


class _Arrival(NamedTuple):
    blob: str
    size_bytes: int
    modified_at_us: int
    source_path: str


class Arrivals:
    """Every content that was ever copied in, by the file's name.

    Those of the workbenches that it was forked from count, too, unless they are gone.
    """

    def __init__(self, client: Client, workbench_id: str) -> None:
        self._came: dict[str, list[_Arrival]] = {}
        for each in reversed(_line_of(client, workbench_id)):
            self._read(client, each)

    def _read(self, client: Client, workbench_id: str) -> None:
        for event in events_of(client, workbench_id, 0):
            data = event["data"]
            # What a fork took over came from nowhere outside.
            if event["type"] == "FileAdded" and data.get("source_path"):
                arrival = _Arrival(
                    str(data["blob"]),
                    int(data["size_bytes"]),
                    int(data.get("modified_at_us", 0)),
                    str(data["source_path"]),
                )
                self._came.setdefault(str(data["name"]), []).append(arrival)

    def came(self, name: str, blob: str) -> bool:
        """Whether a file of this name once came in with this content."""
        return any(each.blob == blob for each in self._came.get(name, ()))

    def last(self, name: str) -> str:
        """Return the content with which a file of this name came in last, or ""."""
        return self._came[name][-1].blob if name in self._came else ""

    def content(self, name: str, path: Path) -> str:
        """Return the hash of a file, which is not read if it is as it was when it came in.

        Raises:
            OSError: It cannot be read.
        """
        found = path.stat()
        for each in self._came.get(name, ()):
            # The log has microseconds.
            if (each.size_bytes, each.modified_at_us, each.source_path) == (
                found.st_size,
                found.st_mtime_ns // 1000,
                str(path),
            ):
                return each.blob
        return hash_of(path)

    def names_from(self, folder: Path) -> Iterator[tuple[str, Path]]:
        """Yield the names that came from a folder last, each with where it was."""
        for name, came in self._came.items():
            source = Path(came[-1].source_path)
            if folder in source.parents:
                yield name, source


def _line_of(client: Client, workbench_id: str) -> list[str]:
    """Return a workbench and those that it was forked from, itself first."""
    line = [workbench_id]
    while True:
        try:
            opened = call(client, "WorkbenchOpen", {"workbench_id": line[-1]})["workbench"]
        except Refused:
            return line[:-1]  # deleted
        parent = str(opened.get("parent_workbench_id", ""))
        if not parent or parent in line:
            return line
        line.append(parent)


class Held(NamedTuple):
    """What a workbench holds.

    Args:
        published: The hash of each file by its name.
        drafted: The files that the draft changes; what is published of them is not told.
        has_draft: Whether there is a draft, be it an empty one.
    """

    published: dict[str, str]
    drafted: frozenset[str]
    has_draft: bool


def held(client: Client, workbench_id: str) -> Held:
    """Return what a workbench holds now."""
    named = {"workbench_id": workbench_id}
    seq = call(client, "LogHead", named)["seq"]
    state = call(client, "StateAt", {**named, "seq": seq}, slow=True)
    files = state["files"]
    published = {str(each["path"]): each for each in files if each["state"] == "published"}
    return Held(
        {name: str(each["hash"]) for name, each in published.items()},
        frozenset(str(each["path"]) for each in files) - published.keys(),
        bool(state.get("draft_id")),
    )


def made(arrivals: Arrivals, now: Held) -> list[str]:
    """Return the published files whose content did not come from outside: kbd made it."""
    return [name for name, blob in now.published.items() if not arrivals.came(name, blob)]


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, as hex.

    Raises:
        OSError: It cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
