"""Golden logs: what any version of kbd wrote is read by this one, to the same values."""

import shutil
from pathlib import Path

import msgspec
import pytest

from kbd.events import VERSIONS, EventLog, codec
from kbd.events.verification import verify_log
from kbd.types import Seq
from logs.make_golden import ADDED, CURRENT, EVENTS, HERE, SHOWN, commits, write

GOLDEN = sorted(HERE.glob("v*"))


@pytest.fixture(params=GOLDEN, ids=lambda path: path.name)
def golden(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of a golden log, for opening may write."""
    return Path(shutil.copytree(request.param, tmp_path / "log"))


def test_there_is_a_golden_log_with_every_event() -> None:
    """The golden values hold each type of the vocabulary."""
    golden_events = [*EVENTS, *(event for commit in ADDED for event in commit)]
    assert {type(event) for event in golden_events} == set(VERSIONS)
    assert CURRENT in GOLDEN


def test_golden_logs_are_whole(golden: Path) -> None:
    """Every golden log passes verification and opens for writing."""
    assert verify_log(golden).fault is None
    log = EventLog.open(golden)
    assert (log.damage, log.repairs) == (None, ())
    log.close()


def test_golden_logs_hold_what_was_recorded(golden: Path) -> None:
    """Each record is what stands beside the log as text, numbered from 1; every one decodes."""
    log = EventLog.open(golden)
    stored = [item for _, body in log.frames() for item in codec.decode_plain(body)]
    expected = [msgspec.json.decode(line) for line in (golden / SHOWN).read_bytes().splitlines()]
    assert stored == expected
    assert [seq for seq, _ in log.read(Seq(0), 10_000)] == list(range(1, len(stored) + 1))
    log.close()


def test_the_current_golden_log_decodes_to_the_golden_values() -> None:
    """The records of today's format equal the values that made them."""
    stored: list[object] = []
    for segment in sorted(CURRENT.glob("*.kbl")):
        assert segment.stat().st_size > 64
    log_copy = [record for commit in commits() for record in commit]
    for line in (CURRENT / SHOWN).read_bytes().splitlines():
        stored += codec.decode(msgspec.msgpack.encode([msgspec.json.decode(line)]))
    assert stored == log_copy


def test_the_same_bytes_are_written_today(tmp_path: Path) -> None:
    """Writing the golden values again gives the golden files, byte for byte."""
    write(tmp_path / "log")
    written = {path.name: path.read_bytes() for path in (tmp_path / "log").iterdir()}
    kept = {path.name: path.read_bytes() for path in CURRENT.iterdir() if path.name != SHOWN}
    assert written == kept
    assert len([name for name in kept if name.endswith(".kbl")]) > 1
