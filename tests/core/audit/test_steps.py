"""The story of a run: every event is told once, and what is told is what happened."""

from pathlib import Path

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from folding import blob
from kbd.core.audit.steps import Numbered, find_span, fold_step_events, fold_steps
from kbd.core.domain.event_text import TITLE_CHARACTERS
from kbd.events.base import FileVersion, PluginUsed, Recorded, ReplyCall
from kbd.events.codec import Unknown, wrap_event
from kbd.events.drafts import (
    CheckpointCreated,
    DraftDiscarded,
    DraftOpened,
    EffectAborted,
    EffectDone,
    EffectIntended,
    FileChanged,
    PublishAborted,
    PublishCompleted,
    PublishIntended,
)
from kbd.events.runs import (
    ItemCompleted,
    ItemFailed,
    ItemRetried,
    ItemsAdded,
    ItemStarted,
    ModelFailed,
    ModelReplied,
    ModelRequested,
    PhaseCompleted,
    PhaseStarted,
    PlanWritten,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunResumed,
    RunStarted,
    SummaryWritten,
    ToolCalled,
    ToolRefused,
    ToolReturned,
)
from kbd.events.scan import read_log
from kbd.events.workbenches import (
    AssistantMessageAdded,
    ConsentGranted,
    ConversationRewound,
    UserMessageAdded,
)
from kbd.requests.replays import Step
from kbd.types import CallId, FileName, Phase, Seq
from logs import make_golden
from troubled_run import whole_log, with_clients

CALLS = st.sampled_from([CallId("c1"), CallId("c2")])
NAMES = st.sampled_from([FileName("a.txt"), FileName("b\x1b[2J.txt")])
HASHES = st.sampled_from([None, blob("a"), blob("b")])

FACTS = st.one_of(
    st.builds(UserMessageAdded, st.sampled_from(["m1", "m2"]), st.text(max_size=9)),
    st.builds(AssistantMessageAdded, st.just("m9"), st.text(max_size=9)),
    st.builds(RunStarted, st.sampled_from(["m1", "m2"]), st.just("x:y")),
    st.builds(RunResumed, st.just("x:y")),
    st.builds(RunInterrupted, st.text(max_size=9)),
    st.builds(RunFailed, st.just("CODE"), st.text(max_size=9), st.just("rpi_plan")),
    st.builds(RunFinished, st.booleans()),
    st.builds(PhaseStarted, st.sampled_from(Phase)),
    st.builds(PhaseCompleted, st.sampled_from(Phase)),
    st.builds(PlanWritten, st.text(max_size=9), st.just(("one", "two"))),
    st.builds(ItemStarted, st.integers(-1, 4), st.integers(0, 3)),
    st.builds(ItemCompleted, st.integers(-1, 4)),
    st.builds(ItemRetried, st.integers(-1, 4), st.just("CODE"), st.text(max_size=9)),
    st.builds(ItemFailed, st.integers(-1, 4), st.just("CODE"), st.text(max_size=9)),
    st.builds(ItemsAdded, st.just(("three",))),
    st.builds(SummaryWritten, st.text(max_size=9)),
    st.builds(ModelRequested, st.just("x:y"), st.integers(0, 3), st.just(blob("a"))),
    st.builds(ModelFailed, st.just("CODE"), st.text(max_size=9)),
    st.builds(
        ModelReplied,
        st.text(max_size=9),
        st.builds(lambda call_id: (ReplyCall(call_id, "tool", '{"a": 1}'),), CALLS),
    ),
    st.builds(ToolCalled, CALLS, st.integers(1, 3), st.just("tool")),
    st.builds(ToolReturned, CALLS, st.integers(1, 3), st.booleans(), st.text(max_size=9)),
    st.builds(ToolRefused, CALLS, st.just("tool"), st.just("CODE"), st.text(max_size=9)),
    st.builds(DraftOpened, st.just("d")),
    st.builds(
        FileChanged, NAMES, HASHES, HASHES, call_id=st.one_of(st.none(), CALLS),
        cause=st.sampled_from(["edit", "rollback", "removal"]),
    ),
    st.builds(DraftDiscarded, st.just("d")),
    st.builds(
        EffectIntended, st.just("e"), st.just("extract"), st.just("/x"),
        st.builds(FileVersion, NAMES, st.just(blob("a")), st.just(1)),
    ),
    st.builds(EffectDone, st.just("e"), st.text(max_size=9)),
    st.builds(EffectAborted, st.just("e"), st.text(max_size=9)),
    st.builds(PublishIntended, st.just("p"), st.just(())),
    st.builds(PublishCompleted, st.just("p"), st.just("k")),
    st.builds(PublishAborted, st.just("p"), st.text(max_size=9)),
    st.builds(CheckpointCreated, st.just("k"), st.just("publish"), st.just(""), st.just(())),
    st.builds(Unknown, st.text(max_size=9), st.none()),
)  # fmt: skip


def numbered(records: list[Recorded]) -> list[Numbered]:
    """Return records as a log holds them."""
    return [(Seq(seq), record) for seq, record in enumerate(records, 1)]


def check_told_once(run: int, log: list[Numbered]) -> list[Step]:
    """Assert that each event of a run's span belongs to just one step, and return the steps."""
    span = find_span(run, log)
    told = fold_step_events(run, span)
    assert sorted(seq for one in told for seq in one.seqs) == [seq for seq, _ in span]
    steps = [one.step for one in told]
    assert [step.index for step in steps] == list(range(1, len(steps) + 1))
    assert [step.seq for step in steps] == sorted({step.seq for step in steps})
    for one in told:
        assert (one.step.first_seq, one.step.seq) == (one.seqs[0], one.seqs[-1])
        assert one.step.title.isprintable()
        assert 0 < len(one.step.title) <= TITLE_CHARACTERS
    return steps


@settings(max_examples=25)
@given(st.lists(st.tuples(FACTS, st.sampled_from([0, 1, 1, 1, 2])), max_size=40))
def test_no_log_is_too_strange_to_be_told(facts: list[tuple[object, int]]) -> None:
    """Whatever stands in a log, in whatever order: each event of a run is told once."""
    begun = [(UserMessageAdded("m1", "x"), 0), (RunStarted("m1", "x:y"), 1), *facts]
    log = numbered(
        [
            Recorded(1, fact, place, run) if isinstance(fact, Unknown)
            else wrap_event(fact, place, run)  # type: ignore[arg-type]
            for place, (fact, run) in enumerate(begun)
        ]
    )  # fmt: skip

    check_told_once(1, log)
    check_told_once(2, log)


@pytest.fixture(scope="module")
def troubles(tmp_path_factory: pytest.TempPathFactory) -> list[Numbered]:
    """The log of two runs in which much went wrong."""
    return anyio.run(whole_log, tmp_path_factory.mktemp("troubles"))


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.full)])
def test_a_run_cut_off_anywhere_is_told_as_far_as_it_came(
    troubles: list[Numbered], step: int
) -> None:
    """Every beginning of a log of two runs is told whole, with what clients did in between."""
    log = with_clients(troubles)
    second = next(seq for seq, one in log if getattr(one.data, "message_id", "") == "u-2")
    begun = next(seq for seq, one in log if isinstance(one.data, RunStarted) and one.run == 2)
    ends = [seq for seq, one in log if isinstance(one.data, RunFinished)]

    assert len(log) > 200
    for cut in range(0, len(log) + 1, step):
        steps = check_told_once(1, log[:cut])
        if not steps:
            assert cut < 5
            continue
        assert steps[-1].seq == (cut if cut < begun else second - 1)
        assert (steps[0].kind, steps[0].first_seq) == ("asked", 1)
        finished = [step for step in steps if step.title.startswith("run finished")]
        assert bool(finished) == (cut >= ends[0])
    assert check_told_once(2, log)[0].first_seq == second
    assert fold_steps(3, log) == []


def test_what_went_wrong_is_told(troubles: list[Numbered]) -> None:
    """A call that was cut off and repeated, refusals, rollbacks, plans: as what happened."""
    steps = fold_steps(1, troubles)
    told = [(step.kind, step.title) for step in steps]

    cut = told.index(("run", "run interrupted: restart"))
    assert told[cut - 1] == (
        "tool",
        "write_note not ended: path=1.txt, content=item 1.1",
    )
    assert told[cut + 1][1] == "run 1 resumed with scripted:script"
    assert told[cut + 2] == ("tool", "write_note: path=1.txt, content=item 1.1")
    opened, repeated = steps[cut - 1], steps[cut + 2]
    assert opened.call is not None
    assert repeated.call is not None
    assert opened.call.is_open
    assert not repeated.call.is_open
    assert opened.call.call_id == repeated.call.call_id
    assert not opened.files
    assert [(file.path, file.change) for file in repeated.files] == [("1.txt", "added")]
    assert "tool no_such_tool refused: NOT_FOUND: " in "".join(title for _, title in told)
    assert ("tool", "read_file failed with NOT_FOUND: path=nowhere.txt") in told
    retried = next(step for step in steps if "to be tried again" in step.title)
    assert retried.title.startswith("item 1 failed, 1 file rolled back, to be tried again: ")
    assert [(file.path, file.change) for file in retried.files] == [("1.txt", "rolled back")]
    assert (retried.item, retried.attempt, retried.phase) == (1, 1, Phase.IMPLEMENT)
    assert [item.state for item in retried.items] == ["open", "open"]
    states = [[item.state for item in step.items] for step in steps if step.items]
    assert states[0] == ["open", "open"]
    assert ["active", "open"] in states
    assert ["done", "open", "open"] in states
    assert states[-1] == ["done", "failed", "done"]
    assert told[-1][0] == "draft"
    assert told[-1][1].endswith(" discarded")


def test_runs_of_golden_logs_are_told() -> None:
    """What any version of kbd recorded can be walked through for ever."""
    logs = sorted(path.parent for path in Path(make_golden.__file__).parent.glob("*/anchor"))
    told = 0
    for log in logs:
        events: list[Numbered] = []
        read_log(log, lambda seq, record, kept=events: kept.append((seq, record)))  # type: ignore[misc]
        runs = {one.run for _, one in events if isinstance(one.data, RunStarted)} - {0}
        told += sum(len(check_told_once(run, events)) for run in runs)
    assert told > 10


def test_a_turn_is_told_with_its_failures_and_a_call_with_its_arguments() -> None:
    """What was asked, what failed, what came back, how long it took; who did the work."""
    arguments = '{"path": "a.txt", "rows": [1, 2]}'
    reply = ModelReplied("so", (ReplyCall(CallId("c1"), "tool", arguments),))
    worked = (PluginUsed("kbd_a", "1.0", "ab"), PluginUsed("kbd_b", "2.0", "cd"))
    facts = [
        (UserMessageAdded("m1", "do\nit"), 0, 0), (RunStarted("m1", "x:y"), 1, 0),
        (PhaseStarted(Phase.RESEARCH), 1, 0), (ModelRequested("x:y", 1, blob("a")), 1, 1_000_000),
        (ModelFailed("PROVIDER_UNAVAILABLE", "down", 1, 10), 1, 2_000_000),
        (ConsentGranted("x", "x:y", ""), 0, 2_100_000), (reply, 1, 3_500_000),
        (ToolCalled(CallId("c1"), 1, "tool", "kbd_a 1.0"), 1, 4_000_000),
        (FileChanged(FileName("a.txt"), None, blob("b"), 5, call_id=CallId("c1")), 1, 4_000_000),
        (ToolReturned(CallId("c1"), 1, ok=True, shown="{}", duration_ms=77, worked=worked), 1, 1),
    ]  # fmt: skip
    log = numbered([wrap_event(fact, ts_us, run) for fact, run, ts_us in facts])  # type: ignore[arg-type]

    steps = check_told_once(1, log)
    asked, _, _, consent, model, tool = steps

    assert (asked.title, asked.text) == ("asked: do it", "do\nit")
    assert (consent.kind, consent.seq, consent.phase) == ("other", 6, None)
    assert (model.first_seq, model.seq, model.duration_ms) == (4, 7, 2500)
    assert model.title == "turn 1 after 1 failure asks for tool: so"
    assert model.model is not None
    assert model.model.failures == ("PROVIDER_UNAVAILABLE: down",)
    assert model.model.calls[0].arguments == arguments
    assert tool.call is not None
    assert (tool.call.arguments, tool.duration_ms) == (arguments, 77)
    assert tool.call.plugins == ("kbd_a 1.0 ab", "kbd_b 2.0 cd")
    assert tool.title == "tool: path=a.txt, rows=[1,2]"


def test_a_run_that_stood_still_did_not_work() -> None:
    """What lies between the last that was heard of it and the resumption counts for nothing."""
    second = 1_000_000
    facts = [
        (UserMessageAdded("m1", "x"), 0, 0), (RunStarted("m1", "x:y"), 1, 0),
        (PhaseStarted(Phase.RESEARCH), 1, second), (RunInterrupted("off"), 1, 3 * second),
        (RunResumed("x:y"), 1, 40_003 * second),
        (PhaseCompleted(Phase.RESEARCH), 1, 40_005 * second),
        (RunFinished(has_draft=False), 1, 40_006 * second),
    ]  # fmt: skip
    log = numbered([wrap_event(fact, ts_us, run) for fact, run, ts_us in facts])  # type: ignore[arg-type]

    took = {step.title: step.duration_ms for step in check_told_once(1, log)}

    assert took["phase research completed"] == 2000
    assert took["run finished, without a draft"] == 4000


def test_another_answer_is_a_story_of_its_own() -> None:
    """Both runs are on one message: neither takes the other's story away."""
    facts = [
        (UserMessageAdded("m1", "x"), 0), (RunStarted("m1", "x:y"), 1),
        (RunFinished(has_draft=False), 1), (ConversationRewound("m1", 1, "regenerate"), 0),
        (RunStarted("m1", "x:z", "a1"), 2), (RunFinished(has_draft=False), 2),
    ]  # fmt: skip
    log = numbered([wrap_event(fact, 0, run) for fact, run in facts])  # type: ignore[arg-type]

    first, second = (check_told_once(number, log) for number in (1, 2))

    assert [step.title for step in first] == [
        "asked: x", "run 1 started with x:y", "run finished, without a draft",
    ]  # fmt: skip
    assert [step.title for step in second] == [
        "set back to message m1 (event 1), to answer it once more", "run 2 started with x:z",
        "run finished, without a draft",
    ]  # fmt: skip
