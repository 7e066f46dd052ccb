"""Golden histories: logs of this and of earlier versions fold to what was true then, for ever."""

import json
from pathlib import Path
from typing import Any

import pytest

from kbd.core.audit.steps import fold_steps
from kbd.core.domain.workbench_state import WorkbenchState
from kbd.core.store.history import state_at, state_hash
from kbd.events.base import Recorded
from kbd.events.runs import ToolCalled, ToolReturned
from kbd.events.scan import read_log
from kbd.types import Seq
from logs.make_histories import (
    HASHES,
    HERE,
    HISTORIES,
    STATE,
    History,
    hash_of,
    plain,
    states,
    write,
)

RUN = next(history for history in HISTORIES if history.name == "v1-run")


@pytest.fixture(params=HISTORIES, ids=lambda history: history.name)
def history(request: pytest.FixtureRequest) -> History:
    """A golden history."""
    found: History = request.param
    return found


def events_of(history: History) -> list[tuple[Seq, Recorded]]:
    """Its events, read from its log as it lies there."""
    events: list[tuple[Seq, Recorded]] = []
    found = read_log(HERE / history.name, lambda seq, record: events.append((seq, record)))
    assert found.fault is None
    return events


def missing(recorded: Any, today: Any, where: str = "") -> list[str]:
    """What was recorded and is otherwise today; what today knows beside it is no difference."""
    if isinstance(recorded, dict) and isinstance(today, dict):
        return [
            place
            for key, value in recorded.items()
            for place in missing(value, today.get(key), f"{where}/{key}")
        ]
    if isinstance(recorded, list) and isinstance(today, list) and len(recorded) == len(today):
        pairs = enumerate(zip(recorded, today, strict=True))
        return [place for at, (a, b) in pairs for place in missing(a, b, f"{where}/{at}")]
    return [] if recorded == today else [where]


def test_every_history_lies_there_with_its_state() -> None:
    """Each directory with a state beside its log is a history, and the other way round."""
    kept = {path.parent.name for path in HERE.glob(f"v*/{STATE}")}
    assert kept == {history.name for history in HISTORIES}
    assert set(json.loads(HASHES.read_bytes())) == kept


@pytest.mark.sampled(2)
def test_a_history_is_written_as_it_was(history: History, tmp_path: Path) -> None:
    """The same events give the same bytes today."""
    write(history, tmp_path / "log")
    written = {path.name: path.read_bytes() for path in (tmp_path / "log").iterdir()}
    assert written == {name: (HERE / history.name / name).read_bytes() for name in written}


def test_a_history_folds_to_what_was_true(history: History) -> None:
    """Of all that stood in the state when it was recorded, today's state says the same."""
    recorded = json.loads((HERE / history.name / STATE).read_bytes())
    state = history.shape()
    for seq, record in events_of(history):
        history.fold(state, seq, record)
    assert missing(recorded, plain(state)) == []
    assert missing({**recorded, "seq": -1}, plain(state)) == ["/seq"]


def test_the_state_after_every_event_has_its_hash(history: History) -> None:
    """A fold that changes by accident is noticed, at the event; `make_histories` says how else."""
    hashes = json.loads(HASHES.read_bytes())[history.name]
    assert [hash_of(state) for state in states(history)] == hashes


def test_the_state_at_every_event_is_a_fresh_fold_up_to_it() -> None:
    """From the log on disk, to each of its events: with the recorded hashes."""
    hashes = json.loads(HASHES.read_bytes())[RUN.name]
    places = range(1, len(hashes) + 1)
    assert [state_hash(state_at(HERE / RUN.name, Seq(seq))) for seq in places] == hashes
    assert state_at(HERE / RUN.name, Seq(0)) == WorkbenchState()


def test_the_history_of_a_run_holds_what_a_proof_needs() -> None:
    """The fields by which a call can be repeated are there, and told in the steps of the run."""
    events = events_of(RUN)
    called = [record.data for _, record in events if isinstance(record.data, ToolCalled)]
    returned = [record.data for _, record in events if isinstance(record.data, ToolReturned)]
    assert all(call.plugin and len(call.plugin_sha256) == 64 for call in called)
    assert all(back.saw and back.receipt_bytes == 1024 and back.worked for back in returned)
    assert any(len(back.worked) > 1 for back in returned)

    steps = fold_steps(1, events)
    told = [step.call for step in steps if step.call is not None]
    assert [call.entry_id for call in told] == [1, 2, 3, 0, 4]
    assert not any(call.is_open for call in told)
