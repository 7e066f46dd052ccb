"""Logs of a newer kbd, for each type of event: what must be understood stops who would write.

It is row H11 of the fault matrix (upgrade while running, downgrade with a newer log) over the whole
vocabulary; `tests/whole` asks a daemon of one type.
"""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgpack
import msgspec
import pytest
from msgspec import inspect

from events.logs import APRIL, Unsynced, body_of, note
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.events import VERSIONS, EventLog, codec
from kbd.events import workbenches as w
from kbd.events.base import MUST_UNDERSTAND, RecordedReadAs
from kbd.events.verification import verify_log
from kbd.types import FileName, ReadAs, Seq
from logs.make_golden import ADDED, EVENTS

SAMPLES = {type(event): event for event in (*(e for commit in ADDED for e in commit), *EVENTS)}
NEWER = 99


def newer_log(directory: Path, event: Any, *, flags: int) -> EventLog:
    """A log with a note, and behind it an event as a newer kbd would record it."""
    log = EventLog.open(directory, disk=Unsynced())
    record = msgspec.structs.replace(codec.wrap_event(event, APRIL), version=NEWER, flags=flags)
    log.append([note("before")])
    log.append([record])
    log.close()
    return EventLog.open(directory, disk=Unsynced())


def hashes(directory: Path) -> dict[str, str]:
    """The bytes of a log's segments, as hashes."""
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in directory.glob("*.kbl")
    }


def test_each_type_has_a_sample() -> None:
    """The table is the vocabulary: a new type is asked like the others."""
    assert set(SAMPLES) == set(VERSIONS)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", VERSIONS, ids=lambda kind: kind.__name__)
def test_a_newer_event_that_must_be_understood_stops_writing(kind: type, tmp_path: Path) -> None:
    """It is named, what stands before it is read, nothing is written, and no byte changes."""
    log = newer_log(tmp_path / "log", SAMPLES[kind], flags=MUST_UNDERSTAND)
    before = hashes(tmp_path / "log")
    seen: list[int] = []
    with pytest.raises(codec.NotUnderstood, match="a newer kbd is needed") as caught:
        log.replay(lambda seq, _: seen.append(seq))
    detail = caught.value.detail
    assert (detail["type"], detail["version"], detail["seq"]) == (kind.__name__, NEWER, 2)
    assert seen == [1]
    assert log.damage is not None
    with pytest.raises(codec.NotUnderstood):
        log.append([note("behind")])
    log.close()
    fault = verify_log(tmp_path / "log").fault
    assert fault is not None
    assert (fault.kind, fault.seq) == ("unknown", 2)
    assert hashes(tmp_path / "log") == before


@pytest.mark.sampled(5)
@pytest.mark.parametrize("kind", VERSIONS, ids=lambda kind: kind.__name__)
def test_any_other_newer_event_is_kept_and_changes_nothing(kind: type, tmp_path: Path) -> None:
    """It is read with its data, neither state takes it for what it knows, and writing goes on."""
    log = newer_log(tmp_path / "log", SAMPLES[kind], flags=0)
    log.append([note("behind")])
    read = [record for _, record in log.read(Seq(0), 10)]
    log.close()
    assert verify_log(tmp_path / "log").fault is None
    (stored,) = codec.decode_plain(codec.encode([codec.wrap_event(SAMPLES[kind], APRIL)]))
    assert read[1].data == codec.Unknown(kind.__name__, stored[2])
    assert [body_of(read[place]) for place in (0, 2)] == ["before", "behind"]

    bench, daemon = WorkbenchState(), DaemonState()
    fold_workbench(bench, Seq(1), read[1])
    fold_daemon(daemon, Seq(1), read[1])
    assert bench == WorkbenchState(seq=Seq(1), updated_at_us=APRIL)
    assert daemon == DaemonState(seq=Seq(1), updated_at_us=APRIL)


def records_in(kind: type) -> Iterator[inspect.StructType]:
    """All records that an event is made of."""
    seen: set[type] = set()
    found: list[Any] = [inspect.type_info(kind)]
    while found:
        info = found.pop()
        match info:
            case inspect.StructType():
                if info.cls not in seen:
                    seen.add(info.cls)
                    yield info
                    found += [field.type for field in info.fields]
            case inspect.UnionType():
                found += info.types
            case inspect.DictType():
                found.append(info.value_type)
            case inspect.TupleType():
                found += info.item_types
            case inspect.CollectionType():
                found.append(info.item_type)


@pytest.mark.parametrize("kind", VERSIONS, ids=lambda kind: kind.__name__)
def test_no_record_of_an_event_refuses_a_newer_field(kind: type) -> None:
    """Else one field that a later kbd adds would make the whole log a damaged one."""
    assert [each.cls for each in records_in(kind) if each.forbid_unknown_fields] == []


def test_a_newer_field_of_what_was_said_is_passed_over() -> None:
    """A reading that says more than this kbd knows counts by what it does know."""
    event = w.ReadingChosen(FileName("a.csv"), RecordedReadAs(decimal=","))
    plain = codec.decode_plain(codec.encode([codec.wrap_event(event, APRIL)]))
    plain[0][2]["read_as"]["of_a_newer_kbd"] = "."
    (record,) = codec.decode(msgpack.packb(plain))
    state = WorkbenchState()
    fold_workbench(state, Seq(1), record)

    assert record.data == event
    assert state.readings == {"a.csv": ReadAs(decimal=",")}
