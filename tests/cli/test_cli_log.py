"""`kbd log`: one line an event, whatever its type; following goes on where it was."""

import json
from collections.abc import Callable
from string import Formatter
from typing import Any

import pytest

from kbd.cli.describe import TEMPLATES, described
from kbd.cli.phrases import DERIVED
from kbd.cli.placing import Place, Spent
from kbd.events.vocabulary import Event
from scripted_daemon import Notify, ScriptedDaemon
from scripted_job import RUN, WORKBENCH, run_info, workbench

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]


def event(seq: int, kind: str, **data: Any) -> dict[str, Any]:
    """An event as `EventsRead` tells it."""
    return {
        "seq": seq,
        "id": f"{WORKBENCH}:{seq}",
        "type": kind,
        "version": 1,
        "ts": "2026-01-02T03:04:05.000006Z",
        "data": data,
    }


def test_every_type_has_a_line() -> None:
    """Each event of the vocabulary is told in words, and no template is of a type that is gone."""
    assert {kind.__name__ for kind in Event.__args__} == set(TEMPLATES)


def test_every_template_names_what_the_event_has() -> None:
    """What a template has in braces is a field of its event, or derived from its fields."""
    for kind in Event.__args__:
        named = {field for _, field, _, _ in Formatter().parse(TEMPLATES[kind.__name__]) if field}

        assert named <= {*kind.__struct_fields__, *DERIVED}


CALL = Place(1, "implement", 2, 1, 3, "Dining", ("read_file",), "kbd_x 1.0", '{"path":"a"}')
SPENT = CALL._replace(spent=Spent(2.5, 4, 3, 1204, 88))


@pytest.mark.parametrize(
    ("recorded", "place", "told"),
    [
        (event(3, "FileAdded", name="a.csv", size_bytes=2048), Place(), "added a.csv (2.0 KiB)"),
        (event(4, "ItemStarted", item=2), Place(), "item 2 started"),
        (event(4, "ItemStarted", item=2, attempt=2), CALL,
         "item 2 of 3 started, attempt 2: Dining"),
        (
            event(4, "ItemCompleted", item=2, text="Done."), SPENT,
            "item 2 completed in 2.5 s (4 turns, 3 calls, 1,204 in, 88 out): Done.",
        ),
        (event(5, "FileChanged", name="a", after="x", size_bytes=5), Place(),
         "draft: added a (5 bytes)"),
        (event(5, "FileChanged", name="a", before="x", before_size_bytes=5), Place(),
         "draft: deleted a (was 5 bytes)"),
        (event(5, "FileChanged", name="a", before="x", before_size_bytes=2048, after="y",
               size_bytes=5, warnings=["w"]), Place(),
         "draft: changed a (2.0 KiB -> 5 bytes), 1 warning"),
        (event(5, "FileChanged", name="a", before="x", after=None, cause="rollback"), Place(),
         "draft: rolled back a (was 0 bytes)"),
        (event(6, "ToolCalled", tool="read_file", entry_id=9), CALL,
         'tool read_file called, entry 9: {"path":"a"}'),
        (event(6, "ToolReturned", entry_id=9, ok=True), Place(),
         "tool returned 0 bytes in 0 ms, entry 9"),
        (event(6, "ToolReturned", entry_id=9, ok=True, size_bytes=4096, result="{}",
               duration_ms=1200, worked=[{"package": "kbd_csv", "version": "1"}]), CALL,
         "read_file returned 4.0 KiB as a receipt in 1.2 s, entry 9 (kbd_csv)"),
        (event(6, "ToolReturned", entry_id=9, ok=False, shown="Error: NOT_FOUND: no a"), CALL,
         "! read_file failed in 0 ms, entry 9 (kbd_x 1.0): NOT_FOUND: no a"),
        (event(6, "ToolRefused", tool="rm", code="X", shown="Error: X: no"), CALL,
         "! tool rm refused: X: no"),
        (event(7, "ModelReplied", calls=[{"name": "a"}, {"name": "b"}, {"name": "a"}]), SPENT,
         "model replied in 2.5 s (4 turns, 3 calls, 1,204 in, 88 out): a ×2, b"),
        (event(7, "ModelReplied", text="so", finish_reason="length"), Place(),
         "model replied [length]: so"),
        (event(7, "ModelFailed", code="X", message="no", retry_attempt=1, wait_ms=2000), SPENT,
         "! model failed after 2.5 s, retry 1 in 2.0 s: X: no"),
        (event(7, "ModelFailed", code="X", message="no"), Place(),
         "! model failed, no retry: X: no"),
        (event(7, "ModelFailed", code="X", message="no", option="strict"), Place(),
         "! model failed, asked again without strict: X: no"),
        (event(8, "PlanWritten", items=["a", "b"]), Place(), "plan of 2 items: a; b"),
        (event(9, "Newer", x=1, y="z"), Place(), 'Newer x=1 y="z"'),
        (event(10, "UserMessageAdded", text="two\nlines\x1b[2J"), Place(), "asked: two lines"),
    ],
)  # fmt: skip
def test_an_event_is_one_clean_line(recorded: dict[str, Any], place: Place, told: str) -> None:
    """Sequence, time, a mark if something went wrong, and a sentence; an unknown type, too."""
    shown = described(recorded, place, 200)

    assert " ".join(shown.split()) == f"{recorded['seq']} 03:04:05 {told}"


def test_lines_fit_a_terminal_and_show_what_belongs_together() -> None:
    """Phases are set in below the run, items below the phase, calls below the item."""
    shown = [
        described(event(1, "RunStarted", model_id="x:y"), Place(1), 80),
        described(event(2, "PhaseStarted", phase="implement"), Place(1, "implement"), 80),
        described(event(3, "ItemStarted", item=2), CALL, 80),
        described(event(4, "ModelReplied", text="long " * 100), CALL, 80),
        described(event(5, "ModelReplied", text="\u6f22" * 100), CALL, 80),
        described(event(6, "RunFailed"), CALL, 80),
    ]

    assert [len(text[18:]) - len(text[18:].lstrip()) for text in shown] == [0, 2, 4, 6, 6, 0]
    assert [len(text) for text in shown[3:5]] == [80, 24 + 15 + 20 + 1]
    assert all(text.endswith("…") for text in shown[3:5])


def test_the_log_is_read_in_pages(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """Pages follow each other without a gap, from the event after N to the last."""
    events = [event(seq, "RunCancelled") for seq in range(1, 6)]

    def read(params: dict[str, Any], _notify: Notify) -> dict[str, Any]:
        after = params["after"]
        return {"events": events[after : after + 2], "last_seq": 5}

    daemon.answers["EventsRead"] = read

    assert kbd("log", "taxes", "--after", "1", "--json") == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert told == events[1:]


def test_following_tells_how_to_go_on(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """Events appear as they are recorded; when the daemon goes, the cursor is told."""

    def subscribe(_params: dict[str, Any], notify: Notify) -> dict[str, Any]:
        batch = {"workbench_id": WORKBENCH, "events": [event(8, "RunCancelled")], "last_seq": 8}
        notify("EventsAppended", batch)
        notify("EventsAppended", {**batch, "workbench_id": "f" * 16})
        return {"workbench_id": WORKBENCH}

    daemon.answers["EventsRead"] = {
        "events": [event(seq, "RunCancelRequested") for seq in range(1, 8)], "last_seq": 8,
    }  # fmt: skip
    daemon.answers["EventsSubscribe"] = subscribe
    daemon.close_after.add("EventsSubscribe")

    assert kbd("log", "taxes", "--follow", "--after", "7") == 69
    told = capsys.readouterr()
    assert told.out == "2026-01-02 UTC\n     8 03:04:05   run cancelled\n"
    assert f"kbd log {WORKBENCH} --follow --after 8" in told.err


def test_following_ends_with_the_log(daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """When the workbench is deleted, that is said, and nobody waits for more."""

    def subscribe(_params: dict[str, Any], notify: Notify) -> dict[str, Any]:
        notify("EventsEnded", {"workbench_id": WORKBENCH})
        return {"workbench_id": WORKBENCH}

    daemon.answers["EventsRead"] = {"events": [], "last_seq": 8}
    daemon.answers["EventsSubscribe"] = subscribe

    assert kbd("log", "taxes", "--follow", "--after", "8") == 0
    assert "The log was deleted" in capsys.readouterr().err


def test_the_daemons_own_log_has_a_name(daemon: ScriptedDaemon, kbd: Kbd) -> None:
    """`kbd log daemon` reads the daemon's log, without looking for a workbench."""
    daemon.answers["EventsRead"] = {"events": [], "last_seq": 0}

    assert kbd("log", "daemon") == 0
    assert daemon.methods() == ["EventsRead"]


def run_log() -> list[dict[str, Any]]:
    """A run with two items; the second one is refused a call and begins a day later."""
    run = {"run_id": RUN}
    events = [
        event(1, "WorkbenchCreated", name="taxes"),
        {**event(2, "RunStarted", model_id="x:y"), **run},
        {**event(3, "PhaseStarted", phase="implement"), **run},
        {**event(4, "ItemStarted", item=1), **run},
        {**event(5, "ModelReplied", calls=[{"id": "c", "name": "read_file"}]), **run},
        {**event(6, "ToolCalled", call_id="c", tool="read_file", entry_id=1), **run},
        {**event(7, "ToolReturned", call_id="c", entry_id=1, ok=True, shown="Grüße"), **run},
        {**event(8, "ItemCompleted", item=1), **run},
        {**event(9, "ItemStarted", item=2), **run},
        {**event(10, "ToolRefused", tool="write_text_file", call_id="d"), **run},
    ]
    for late in events[8:]:
        late["ts"] = "2026-01-03T00:00:00.000000Z"
    return events


@pytest.fixture
def taxes(daemon: ScriptedDaemon) -> ScriptedDaemon:
    """A daemon whose workbench has that run."""
    daemon.answers["EventsRead"] = lambda params, _: {
        "events": run_log()[params["after"] :][: params["limit"]],
        "last_seq": 10,
    }
    daemon.answers["RunList"] = {"runs": [run_info()]}
    return daemon


@pytest.mark.usefixtures("taxes")
@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ("", [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]),
        ("--after 8", [9, 10]),
        ("--run 1 --after 7", [8, 9, 10]),
        (f"--run {RUN} --phase IMPLEMENT --item 1", [4, 5, 6, 7, 8]),
        ("--item 1 --after 5", [6, 7, 8]),
        ("--tool read_*", [5, 6, 7]),
        ("--tool read_* --type toolreturned,ToolRefused", [7]),
        ("--type ToolReturned --type ToolRefused", [7, 10]),
        ("--since 2026-01-02T04:00Z", [9, 10]),
        ("--until 2026-01-02T04:00Z --phase implement --type ItemStarted", [4]),
        ("--grep GRÜSSE", [7]),
    ],
)
def test_filters_are_combined(kbd: Kbd, capsys: Captured, filters: str, found: list[int]) -> None:
    """Shown is what passes all; with a cursor, too, which hides but does not forget."""
    assert kbd("log", "taxes", "--json", *filters.split()) == 0
    told = [json.loads(text) for text in capsys.readouterr().out.splitlines()]
    assert told == [run_log()[seq - 1] for seq in found]


@pytest.mark.usefixtures("taxes")
def test_a_cursor_does_not_forget_what_was_before(kbd: Kbd, capsys: Captured) -> None:
    """Lines after it know their tool and depth; each day is told once."""
    assert kbd("log", "taxes", "--after", "6") == 0
    assert capsys.readouterr().out.splitlines() == [
        "2026-01-02 UTC",
        "     7 03:04:05         read_file returned 0 bytes in 0 ms, entry 1",
        "     8 03:04:05       item 1 completed in 0 ms (1 turn, 1 call):",
        "2026-01-03 UTC",
        "     9 00:00:00       item 2 started",
        "    10 00:00:00 !       tool write_text_file refused:",
    ]


@pytest.mark.usefixtures("taxes")
def test_nothing_is_said_where_results_go(kbd: Kbd, capsys: Captured) -> None:
    """An empty result is told on stderr, and is no failure."""
    assert kbd("log", "taxes", "--grep", "nowhere") == 0
    assert capsys.readouterr() == ("", "Nothing matched.\n")
    assert kbd("log", "taxes", "--after", "10") == 0
    assert capsys.readouterr() == ("", "There is nothing after event 10.\n")


def test_damage_is_told_after_what_can_be_read(
    taxes: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """The end of what can be read does not pass for the end of the log."""
    taxes.answers["WorkbenchList"] = {"workbenches": [workbench(reason="The log is damaged: x")]}

    assert kbd("log", "taxes", "--type", "ToolRefused") == 0
    told = capsys.readouterr()
    assert "write_text_file" in told.out
    assert told.err == "This is not all. The log is damaged: x\n"


@pytest.mark.usefixtures("taxes")
@pytest.mark.parametrize(
    ("filters", "code", "told"),
    [
        ("--run 2", 1, "There is no run 2 in taxes; it has one."),
        ("--run ffffffffffffffff-1", 1, "There is no run ffffffffffffffff-1 in taxes"),
        ("--phase review", 2, "There is no phase review; there are research, plan, implement"),
        ("--type ToolCald", 2, "There is no type of event ToolCald; near: ToolCalled"),
        ("--item 0", 2, "Items are counted from 1."),
        ("--since soon", 2, "soon is no time"),
        ("--follow --until 10:30", 2, "--follow has no end"),
    ],
)
def test_a_filter_that_cannot_match_is_refused(
    kbd: Kbd, capsys: Captured, filters: str, code: int, told: str
) -> None:
    """Unknown runs, phases, types and times are errors, not empty results."""
    assert kbd("log", "taxes", *filters.split()) == code
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("filters", ["--run 1", "--phase plan", "--item 1", "--tool x"])
def test_the_daemons_own_log_has_no_runs(kbd: Kbd, capsys: Captured, filters: str) -> None:
    """Filters about runs make no sense there; nobody is asked."""
    assert kbd("log", "daemon", *filters.split()) == 2
    assert "has no runs" in capsys.readouterr().err


def test_following_filters_too(taxes: ScriptedDaemon, kbd: Kbd, capsys: Captured) -> None:
    """What comes live is placed by what was before the cursor."""

    def subscribe(_params: dict[str, Any], notify: Notify) -> dict[str, Any]:
        events = run_log()[6:]
        notify("EventsAppended", {"workbench_id": WORKBENCH, "events": events, "last_seq": 10})
        return {"workbench_id": WORKBENCH}

    taxes.answers["EventsSubscribe"] = subscribe
    taxes.close_after.add("EventsSubscribe")

    assert kbd("log", "taxes", "--follow", "--after", "6", "--item", "1", "--json") == 69
    told = capsys.readouterr()
    assert [json.loads(text)["seq"] for text in told.out.splitlines()] == [7, 8]
    assert "--after 10, with the same filters" in told.err
