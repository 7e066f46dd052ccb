"""Marks of blobs: whatever a log names is found, in little memory, and damage is no answer."""

import shutil
import tracemalloc
from pathlib import Path

import msgspec
import pytest

from events.logs import Unsynced
from kbd.core.store.blob_marks import mark_discarded, mark_named, read_collected
from kbd.errors import LogCorrupt
from kbd.events import EventLog, codec
from kbd.events.base import Recorded
from kbd.events.drafts import DraftDiscarded, DraftOpened, FileChanged
from kbd.events.retention import BlobsCollected
from kbd.events.scan import read_log
from kbd.events.vocabulary import Event, named_blobs
from kbd.events.workbenches import FileAdded
from kbd.types import BlobHash, FileName, Seq
from logs.make_golden import HERE

A, B, C = (BlobHash(digit * 64) for digit in "abc")
NAME = FileName("a.txt")
EVER_US = 1 << 62


def _log(folder: Path, *commits: tuple[Event, ...], newer: frozenset[int] = frozenset()) -> Path:
    """A log with such commits; of the ones named the events are as a newer kbd would write them."""
    log = EventLog.open(folder, disk=Unsynced())
    for number, commit in enumerate(commits):
        records = [codec.wrap_event(event, 1) for event in commit]
        if number in newer:
            records = [msgspec.structs.replace(record, version=99) for record in records]
        log.append(records)
    log.close()
    return folder


DISCARDED: tuple[tuple[Event, ...], ...] = (
    (FileAdded(NAME, A, 1),),
    (DraftOpened("d1"), FileChanged(NAME, A, B, 1)),
    (FileAdded(NAME, C, 1),),
    (DraftDiscarded("d1"),),
)


@pytest.mark.parametrize("golden", sorted(HERE.glob("v*")), ids=lambda path: path.name)
def test_all_that_events_name_is_marked(golden: Path, tmp_path: Path) -> None:
    """Of every type there is, in every log that a kbd wrote; what is in none of them is not."""
    copy = Path(shutil.copytree(golden, tmp_path / "log"))
    named: set[BlobHash] = set()
    collected: set[BlobHash] = set()

    def take(_seq: Seq, record: Recorded) -> None:
        named.update(named_blobs(record.data))
        if isinstance(record.data, BlobsCollected):
            collected.update(record.data.blobs)

    read_log(copy, take)
    marks = mark_named(copy, {*named, BlobHash("0123456789abcdef" * 4)})
    assert marks.unnamed == {"0123456789abcdef" * 4}
    assert set(read_collected(copy)) == collected


def test_an_event_of_a_newer_kbd_names_what_it_names(tmp_path: Path) -> None:
    """Its type is not known here, and its blob stays; no draft of such a log is judged."""
    log = _log(tmp_path / "log", *DISCARDED, newer=frozenset({2}))
    assert mark_named(log, {A, B, C}).unnamed == set()
    assert mark_discarded(log, {A, B, C}, frozenset(), EVER_US) == set()
    plain = _log(tmp_path / "plain", *DISCARDED)
    assert mark_discarded(plain, {A, B, C}, frozenset(), EVER_US) == {B}


def test_the_last_word_counts(tmp_path: Path) -> None:
    """Collected is what no event has named since; in a frame with others it is not believed."""
    said = BlobsCollected((A, B, C), 3, "why")
    log = _log(tmp_path / "log", (FileAdded(NAME, A, 1),), (FileAdded(NAME, B, 1),), (said,))
    assert mark_named(log, {A, B, C}).collected == {A, B}
    assert mark_named(log, {A, B, C}).unnamed == {C}
    _log(tmp_path / "log", (FileAdded(NAME, B, 1),))
    assert mark_named(log, {A, B, C}).collected == {A}
    _log(tmp_path / "log", (FileAdded(NAME, C, 1), said))
    assert mark_named(log, {A, B, C}).collected == set()


def test_a_torn_end_is_no_answer(tmp_path: Path) -> None:
    """What was being written may name anything; of a log in use it is the end as it is."""
    log = _log(tmp_path / "log", (FileAdded(NAME, A, 1),))
    (segment,) = log.glob("*.kbl")
    with segment.open("ab") as file:
        file.write(b"KB\x01\x00 half a frame")
    with pytest.raises(LogCorrupt):
        mark_named(log, {A, B})
    assert mark_named(log, {A, B}, in_use=True).unnamed == {B}


def test_a_long_log_takes_no_more_memory_than_a_store(tmp_path: Path) -> None:
    """Of 20,000 names of which two are stored, two are remembered."""
    blobs = [BlobHash(f"{number:064x}") for number in range(20_000)]
    commit = tuple(FileAdded(NAME, blob, 1) for blob in blobs)
    log = _log(tmp_path / "log", *(commit[at : at + 500] for at in range(0, len(commit), 500)))
    tracemalloc.start()
    try:
        marks = mark_named(log, {blobs[7], A})
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert marks.unnamed == {A}
    assert peak < sum(map(len, msgspec.msgpack.encode(blobs).split(b"@")))
    assert peak < 16 * 1024 * 1024
