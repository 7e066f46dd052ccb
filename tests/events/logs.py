"""Small logs for the tests of the log."""

from pathlib import Path

from kbd.events import EventLog, codec
from kbd.events.base import Recorded
from kbd.events.disk import Disk
from kbd.events.runs import ResearchWritten
from kbd.events.segment import Tail
from kbd.types import Seq

APRIL = 1_775_000_000_000_000


def note(text: str) -> Recorded:
    """An event that holds a text."""
    return codec.wrap_event(ResearchWritten(text), APRIL)


def notes(count: int) -> list[Recorded]:
    """So many events."""
    return [note(f"note {n}") for n in range(count)]


def body_of(record: Recorded) -> str:
    """The text of a note."""
    assert isinstance(record.data, ResearchWritten)
    return record.data.text


def texts(log: EventLog) -> list[str]:
    """The texts of all notes of a log."""
    return [body_of(record) for _, record in log.read(Seq(0), 1_000_000)]


def tail_of(log: EventLog) -> Tail:
    """The end of a log that is open to be written."""
    assert log._tail is not None
    return log._tail


class Unsynced(Disk):
    """A disk that syncs nothing: for tests that open logs by the thousand."""

    def fsync(self, fd: int) -> None:
        """Do nothing."""

    def fdatasync(self, fd: int) -> None:
        """Do nothing."""


def make_log(directory: Path, commits: list[int]) -> EventLog:
    """An open log with commits of so many events."""
    log = EventLog.open(directory, disk=Unsynced(), entropy=lambda size: b"salt" * (size // 4))
    for commit, size in enumerate(commits):
        log.append([note(f"commit {commit} event {n}") for n in range(size)])
    return log
