"""Text of events: every type has a sentence, a clean line that says what the event holds."""

import json
from typing import Any

import pytest

from folding import blob
from kbd.core.domain.event_context import (
    ContextFold,
    EventCall,
    EventContext,
    WorkTotals,
    event_place,
)
from kbd.core.domain.event_text import (
    EVENT_TEXTS,
    TITLE_CHARACTERS,
    call_text,
    event_text,
    turn_text,
)
from kbd.events import VERSIONS
from kbd.events import drafts as d
from kbd.events import runs as r
from kbd.events import workbenches as w
from kbd.events.base import PluginUsed, ReplyCall
from kbd.events.codec import Unknown
from kbd.messages import Usage
from kbd.types import CallId, FileName, Phase
from logs import make_golden

CALL = EventCall("read_file", '{"path":"a"}', None, "kbd_x 1.0")
ITEM = EventContext(1, Phase.IMPLEMENT, 2, 1, 3, "Dining — all of it", CALL)
SPENT = EventContext(
    1, Phase.IMPLEMENT, 2, 1, 3, "Dining", CALL, WorkTotals(2_500_000, 4, 3, Usage(1204, 88))
)
TURN = EventContext(1, Phase.PLAN, spent=WorkTotals(2_500_000, usage=Usage(1204, 88)))
NONE = EventContext()
C, A, B, NAME = CallId("c"), blob("a"), blob("b"), FileName("a")


def test_every_type_has_words() -> None:
    """A type of event without a sentence cannot be added, and none outlives its type."""
    assert set(EVENT_TEXTS) == set(VERSIONS)


def test_every_golden_event_is_one_clean_line() -> None:
    """One event of each type at least: printable, not too long, and no name of a class."""
    fold = ContextFold()
    seen = set()
    for commit in make_golden.commits():
        for record in commit:
            text = event_text(record.data, fold.add(record))
            seen.add(type(record.data))
            assert 0 < len(text) <= TITLE_CHARACTERS
            assert text.isprintable()
            assert text == " ".join(text.split())
            assert type(record.data).__name__ not in text
    assert seen == set(VERSIONS)


@pytest.mark.parametrize(
    ("event", "context", "told"),
    [
        (w.FileAdded(FileName("a.csv"), A, 2048), NONE, "added a.csv (2.0 KiB)"),
        (w.UserMessageAdded("m", "two\nlines\x1b[2J"), NONE, "asked: two lines"),
        (r.ItemStarted(2), NONE, "item 2 started"),
        (r.ItemStarted(2, 2), ITEM, "item 2 of 3 started, attempt 2: Dining — all of it"),
        (
            r.ItemCompleted(2, "Done."), SPENT,
            "item 2 completed in 2.5 s (4 turns, 3 calls, 1,204 in, 88 out): Done.",
        ),
        (r.ItemFailed(2, "X", "no"), SPENT, "item 2 failed after 2.5 s: X: no"),
        (
            r.ItemRetried(2, "X", "no"), EventContext(rolled_back=1),
            "item 2 failed, 1 file rolled back, to be tried again: X: no",
        ),
        (d.FileChanged(NAME, None, A, 5), NONE, "draft: added a (5 bytes)"),
        (d.FileChanged(NAME, A, None, 0, 5), NONE, "draft: deleted a (was 5 bytes)"),
        (
            d.FileChanged(NAME, A, B, 5, 2048, warnings=("w",)), NONE,
            "draft: modified a (2.0 KiB -> 5 bytes), 1 warning",
        ),
        (d.FileChanged(NAME, A, None, cause="rollback"), NONE,
         "draft: rolled back a (was 0 bytes)"),
        (r.ToolCalled(C, 9, "read_file"), ITEM, "tool read_file called, entry 9: path=a"),
        (r.ToolCalled(C, 9, "X", "", "{}"), NONE, "client called X, entry 9"),
        (r.ToolReturned(C, 9, ok=True, shown=""), NONE, "tool returned 0 bytes in 0 ms, entry 9"),
        (
            r.ToolReturned(C, 9, ok=True, shown="", result="{}", size_bytes=4096, duration_ms=1200,
                           worked=(PluginUsed("kbd_csv", "1"),)), ITEM,
            "read_file returned 4.0 KiB as a receipt in 1.2 s, entry 9 (kbd_csv)",
        ),
        (
            r.ToolReturned(C, 9, ok=False, shown="Error: NOT_FOUND: no a", error_code="NOT_FOUND"),
            ITEM, "read_file failed in 0 ms, entry 9 (kbd_x 1.0): NOT_FOUND: no a",
        ),
        (r.ToolRefused(C, "rm", "X", "Error: no"), ITEM, "tool rm refused: X: no"),
        (
            r.ModelReplied("so", tuple(ReplyCall(C, name) for name in "aba")), TURN,
            "model replied in 2.5 s (1,204 in, 88 out), asks for a ×2, b: so",
        ),
        (r.ModelReplied("so", (), "length"), NONE, "model replied [length]: so"),
        (r.ModelReplied(), NONE, "model replied, says nothing"),
        (
            r.ModelReplied("so", usage_is_estimate=True), TURN,
            "model replied in 2.5 s (~1,204 in, ~88 out): so",
        ),
        (
            r.ModelFailed("X", "no", 1, 2000), SPENT,
            "model failed after 2.5 s, retry 1 in 2.0 s: X: no",
        ),
        (r.ModelFailed("X", "no"), NONE, "model failed, no retry: X: no"),
        (
            r.ModelFailed("X", "no", option="strict"), NONE,
            "model failed, asked again without strict: X: no",
        ),
        (r.PlanWritten("t", ("a", "b")), NONE, "plan of 2 items: a; b"),
        (
            d.CheckpointCreated("k", "undo", "", ()), NONE,
            "checkpoint k (before an undo), no files",
        ),
        (
            d.CheckpointCreated("k", "manual", "mine", ()), NONE,
            "checkpoint k (made by hand: mine), no files",
        ),
        (Unknown("Newer", {"x": 1, "y": "z"}), NONE, "Newer, of a newer kbd: x=1, y=z"),
        (Unknown("Newer", None), NONE, "Newer, of a newer kbd"),
    ],
)  # fmt: skip
def test_an_event_is_a_sentence(event: Any, context: EventContext, told: str) -> None:
    """What it holds, and what the events before say of it."""
    assert event_text(event, context) == told


def test_what_is_long_is_cut_and_what_is_not_printable_goes() -> None:
    """However long a text is, and whatever stands in it."""
    told = event_text(r.SummaryWritten("\u202e\x1b]0;own\x07" + "word " * 100_000), NONE)

    assert len(told) == TITLE_CHARACTERS
    assert told.startswith("summary: word word")
    assert told.endswith("…")


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("", "t"),
        ("not JSON", "t: not JSON"),
        ("[1]", "t: [1]"),
        ("[" * 5000, f"t: {'[' * 5000}"),
        (json.dumps({"a": "x" * 99, "b": [1, {}]}), f"t: a={'x' * 47}…, b=[1,{{}}]"),
    ],
)
def test_a_call_is_told_with_what_it_was_given(given: str, told: str) -> None:
    """Names and values, each cut; what is no object stands as it is."""
    assert call_text("t", given) == told


def test_a_turn_is_told_by_what_came_of_it() -> None:
    """With the attempts that failed; without an answer the last of them says why."""
    assert turn_text(1, (), None) == "turn 1, no reply"
    assert turn_text(1, ("X: a", "Y: b"), None) == "turn 1, no reply after 2 failures: Y: b"
    assert turn_text(2, ("X",), ("", ("t",), "")) == "turn 2 after 1 failure asks for t"


def test_a_place_is_told_in_words_and_figures() -> None:
    """Beside runs there is none; in them it says how far in, and about which tools."""
    place = event_place(r.ToolRefused(C, "rm", "X", ""), ITEM)
    again = EventContext(1, Phase.IMPLEMENT, 2, 2, 3, "x")

    assert (place.text, place.label) == ("phase implement, item 2 of 3", "Dining")
    assert (place.phase, place.item, place.items, place.attempt) == (Phase.IMPLEMENT, 2, 3, 1)
    assert (place.tools, place.level, place.is_failure) == (("read_file",), 3, True)
    assert event_place(r.ItemStarted(2), again).text == "phase implement, item 2 of 3, attempt 2"
    levels = [
        r.RunFailed("X", "", ""),
        r.PhaseStarted(Phase.PLAN),
        r.ItemStarted(2),
        r.ModelReplied(),
    ]
    assert [event_place(event, again).level for event in levels] == [0, 1, 2, 3]
    assert event_place(w.FileRemoved(NAME), NONE) == event_place(w.ModelChosen("m"), NONE)
    assert event_place(w.FileRemoved(NAME), NONE).text == ""


@pytest.mark.parametrize(
    ("event", "is_failure"),
    [
        (r.ToolReturned(C, 1, ok=True, shown=""), False),
        (r.ToolReturned(C, 1, ok=False, shown=""), True),
        (r.ItemRetried(1, "", ""), True),
        (r.ItemCompleted(1), False),
        (d.PublishAborted("p", ""), True),
    ],
)
def test_what_went_wrong_is_marked(event: Any, is_failure: bool) -> None:
    """By its type, or by its outcome."""
    assert event_place(event, NONE).is_failure is is_failure
