"""Reading by the outline of a log: what a reader of the whole log finds, wherever one begins."""

import random
from array import array
from bisect import bisect_right
from itertools import islice
from pathlib import Path

import msgspec
import pytest

from events.logs import Unsynced
from kbd.core.domain.event_context import ContextFold
from kbd.core.domain.log_outline import BLOCK_EVENTS, EventQuery, LogOutline, entry_type
from kbd.core.domain.long_lists import copy_state
from kbd.core.store.log_reader import LogReader, StoredEvent
from kbd.core.workbench.conversation import (
    conversation_entry,
    count_branch,
    read_branch,
)
from kbd.events import EventLog, codec
from kbd.events.base import Recorded, ReplyCall
from kbd.events.drafts import CheckpointCreated
from kbd.events.runs import (
    ItemStarted,
    ModelReplied,
    ModelRequested,
    PhaseStarted,
    PlanWritten,
    RunFailed,
    RunFinished,
    RunStarted,
    ToolCalled,
    ToolReturned,
)
from kbd.events.vocabulary import Event
from kbd.events.workbenches import (
    AssistantMessageAdded,
    ConversationRewound,
    ModelChosen,
    UserMessageAdded,
)
from kbd.requests.workshop import ConversationMessage
from kbd.types import BlobHash, CallId, Phase, Seq

OPENING = BlobHash("0" * 64)


def story(chance: random.Random, count: int) -> list[Recorded]:
    """A log of about so many events: runs, some failed, undos, and what clients do meanwhile."""
    made: list[Recorded] = []
    ts_us, run = 1_700_000_000_000_000, 0

    def add(fact: Event, of: int = 0) -> None:
        nonlocal ts_us
        # A clock goes back now and then.
        ts_us += chance.randrange(-2_000_000, 5_000_000)
        made.append(codec.wrap_event(fact, ts_us, of))

    while len(made) < count:
        if chance.random() < 0.3:
            add(ModelChosen(f"p:{len(made)}"))
        if chance.random() < 0.05 and made:
            add(ConversationRewound(f"u{run}", chance.randrange(len(made))))
        if chance.random() < 0.1:
            add(
                CheckpointCreated(f"c{len(made)}", chance.choice(["manual", "pre_restore"]), "", ())
            )
        run += 1
        add(UserMessageAdded(f"u{run}", "do it"))
        for fact in (RunStarted(f"u{run}", "p:m"), PlanWritten("t", ("One", "Two"))):
            add(fact, run)
        add(PhaseStarted(Phase.IMPLEMENT), run)
        for item in (1, 2):
            add(ItemStarted(item), run)
            add(ModelRequested("p:m", 1, OPENING), run)
            call = CallId(f"c{run}-{item}")
            add(ModelReplied(calls=(ReplyCall(call, "look", "{}"),)), run)
            add(ToolCalled(call, len(made), "look", "p", ""), run)
            add(ToolReturned(call, len(made), ok=True, shown="seen"), run)
        if chance.random() < 0.2:
            add(RunFailed("TOOL_TIMEOUT", "slow", ""), run)
        else:
            add(AssistantMessageAdded(f"a{run}", "done"), run)
            add(RunFinished(has_draft=False), run)
    return made


def written(folder: Path, records: list[Recorded], chance: random.Random) -> EventLog:
    """The log of these, in frames of any size and several segments."""
    log = EventLog.open(folder, segment_bytes=60_000, disk=Unsynced())
    at = 0
    while at < len(records):
        size = chance.choice([1, 2, 7, 40, 1500])
        log.append(records[at : at + size])
        at += size
    return log


def readers(log: EventLog) -> list[LogReader]:
    """A reader that knows nothing yet, one with a whole outline, and one with half of it."""
    whole, half = LogReader(log).outline(), LogOutline()
    for place, body in log.located_frames(Seq(0)):
        half.add(place, codec.decode(body))
        if half.seq > log.seq // 2:
            break
    return [LogReader(log), LogReader(log, whole), LogReader(log, copy_state(half, LogOutline))]


def names(records: list[Recorded]) -> list[str]:
    """The types that there are."""
    return sorted({type(record.data).__name__ for record in records})


def some_query(chance: random.Random, records: list[Recorded]) -> EventQuery:
    """A query that may ask for anything."""
    types = chance.sample(names(records), chance.randrange(3))
    times = sorted(chance.choice(records).ts_us for _ in range(2))
    return EventQuery(
        types=frozenset(types),
        run=chance.choice([0, 0, chance.choice(records).run]),
        since_us=chance.choice([0, times[0]]),
        until_us=chance.choice([0, times[1]]),
    )


def searched(
    reader: LogReader, query: EventQuery, after: int, before: int, *, down: bool
) -> list[StoredEvent]:
    """All that a search finds that is gone on with until its end."""
    found: list[StoredEvent] = []
    low, high = Seq(after), Seq(before)
    while low + 1 < high:
        for looked_to, events in reader.find(
            query, low, high, lambda event: event, descending=down
        ):
            found += events
            low, high = (low, looked_to) if down else (looked_to, high)
    return found


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(3))
def test_a_search_finds_what_a_walk_finds(tmp_path: Path, seed: int) -> None:
    """By type, run and time, forward and back, between any two events, with the same contexts."""
    chance = random.Random(seed)
    records = story(chance, 4 * BLOCK_EVENTS)
    log = written(tmp_path, records, chance)
    fold = ContextFold()
    contexts = [fold.add(record) for record in records]
    for reader in readers(log):
        for _ in range(20):
            query, down = some_query(chance, records), chance.random() < 0.5
            after, before = sorted(chance.randrange(len(records) + 2) for _ in range(2))
            expected = [
                seq
                for seq, record in enumerate(records, 1)
                if after < seq < before
                and query.matches(type(record.data).__name__, record.ts_us, record.run)
            ]
            found = searched(reader, query, after, before, down=down)
            assert [event.seq for event in found] == (expected[::-1] if down else expected)
            assert all(event.record == records[event.seq - 1] for event in found)
            assert all(event.context == contexts[event.seq - 1] for event in found)
            seq = chance.randrange(len(records) + 1)
            said = ContextFold()
            for record in records[:seq]:
                said.add(record)
            assert msgspec.msgpack.encode(reader.context_after(Seq(seq))) == msgspec.msgpack.encode(
                said
            )
            assert list(reader.read(Seq(after), Seq(before))) == list(
                islice(enumerate(records, 1), after, before)
            )
    log.close()


def branch_of(records: list[Recorded]) -> list[ConversationMessage]:
    """The conversation as a tree of entries that is walked from the last one back."""
    entries: list[ConversationMessage] = []
    before, seqs, last = array("q"), array("q"), -1
    for seq, record in enumerate(records, 1):
        if isinstance(record.data, ConversationRewound):
            last = bisect_right(seqs, record.data.to_seq) - 1
        if (entry := conversation_entry(Seq(seq), record)) is not None:
            before.append(last)
            entries.append(entry)
            last = len(entries) - 1
            seqs.append(seq)
    found = []
    while last >= 0:
        found.append(entries[last])
        last = before[last]
    return found[::-1]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(4))
def test_the_conversation_is_read_from_anywhere(tmp_path: Path, seed: int) -> None:
    """Whatever was undone, forward and back, of some types or all, and counted."""
    chance = random.Random(seed)
    records = story(chance, 3 * BLOCK_EVENTS)
    log = written(tmp_path, records, chance)
    whole = branch_of(records)
    assert 0 < len(whole) < len(records) / 2, "something was undone"
    kinds = sorted({entry.type for entry in whole})
    for reader in readers(log):
        assert list(read_branch(reader)) == whole
        for _ in range(10):
            types = frozenset(chance.sample(kinds, chance.randrange(1, 3)))
            expected = [entry for entry in whole if entry.type in types]
            assert count_branch(reader, types) == len(expected)
            after = chance.randrange(len(records) + 1)
            assert list(read_branch(reader, types, after)) == [e for e in expected if e.seq > after]
            down = read_branch(reader, types, after, descending=True)
            assert list(down) == [e for e in expected[::-1] if e.seq < after]
        assert count_branch(reader) == len(whole)
    log.close()


def test_only_the_segments_that_are_asked_for_are_read(tmp_path: Path) -> None:
    """With the files of earlier events gone, the newest are found all the same."""
    chance = random.Random(5)
    records = story(chance, 6 * BLOCK_EVENTS)
    log = written(tmp_path, records, chance)
    reader = LogReader(log, LogReader(log).outline())
    end = Seq(len(records) + 1)
    segments = sorted(tmp_path.glob("*.kbl"))
    assert len(segments) > 4
    for path in segments[: len(segments) // 2]:
        path.unlink()

    def first(query: EventQuery) -> StoredEvent:
        found = reader.find(query, Seq(0), end, lambda event: event, descending=True)
        return next(event for _, events in found for event in events)

    assert first(EventQuery()).seq == len(records)
    assert first(EventQuery(types=frozenset({"RunStarted"}))).record is not None
    newest = list(islice(read_branch(reader, descending=True), 20))
    assert len(newest) == 20
    none = reader.find(EventQuery(types=frozenset({"WatchAdded"})), Seq(0), end, str)
    assert not [event for _, events in none for event in events]
    with pytest.raises(FileNotFoundError):
        list(reader.read(Seq(0), Seq(5)))
    log.close()


def test_what_precedes_a_run_is_found(tmp_path: Path) -> None:
    """Behind it come all events of the run, and one of the run before."""
    chance = random.Random(7)
    records = story(chance, 3 * BLOCK_EVENTS)
    log = written(tmp_path, records, chance)
    outline = LogReader(log).outline()
    runs = max(record.run for record in records)
    for run in range(1, runs + 2):
        after = outline.before_run(run)
        first = next((seq for seq, each in enumerate(records, 1) if each.run == run), len(records))
        assert after < first
        earlier = [each for each in records[after : first - 1] if each.run]
        assert not after or earlier
    log.close()


def test_of_very_many_runs_that_did_not_finish_the_newest_are_kept() -> None:
    """A fold of a log of failures stays small, and what may be resumed is told with its place."""
    fold = ContextFold()
    for run in range(1, 300):
        for fact in (RunStarted("m", "p:m"), PhaseStarted(Phase.PLAN)):
            fold.add(codec.wrap_event(fact, 1, run))
        assert fold.add(codec.wrap_event(RunFailed("X", "y", ""), 1, run)).phase is Phase.PLAN
    assert len(msgspec.msgpack.encode(fold)) < 5000
    resumed = fold.add(codec.wrap_event(ModelRequested("p:m", 1, OPENING), 2, 299))
    assert resumed.phase is Phase.PLAN


def test_every_event_that_is_an_entry_is_told_so(tmp_path: Path) -> None:
    """What the outline counts is what the conversation shows."""
    del tmp_path
    records = story(random.Random(1), 800)
    for seq, record in enumerate(records, 1):
        entry = conversation_entry(Seq(seq), record)
        assert entry_type(record) == ("" if entry is None else entry.type)
