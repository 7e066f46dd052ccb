"""`kbd log`: one line an event, whatever its type; following goes on where it was."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from kbd.cli.log import render_event
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


def test_lines_fit_a_terminal_and_show_what_belongs_together() -> None:
    """Sequence, time, a mark if something went wrong, and the title, set in by its level."""
    long = {"level": 3, "is_failure": True}
    shown = [
        render_event({**event(1, "RunStarted"), "title": "run 1 started"}, 80),
        render_event({**event(2, "PhaseStarted"), "title": "phase", "place": {"level": 1}}, 80),
        render_event({**event(3, "ModelReplied"), "title": "long " * 100, "place": long}, 80),
        render_event({**event(4, "ModelReplied"), "title": "\u6f22" * 100, "place": long}, 80),
    ]

    assert shown[0] == "     1 03:04:05   run 1 started"
    assert shown[1] == "     2 03:04:05     phase"
    assert shown[2].startswith("     3 03:04:05 !       long long")
    assert [len(text) for text in shown[2:]] == [80, 80 - 28]
    assert all(text.endswith("…") for text in shown[2:])


def test_an_older_daemon_is_told_by_types() -> None:
    """Who says no titles still names what happened; what it says is cleaned."""
    assert render_event(event(9, "ModelFailed", code="X"), 80) == "     9 03:04:05   ModelFailed"
    titled = {**event(10, "X"), "title": "two\nlines\x1b[2J"}
    assert render_event(titled, 80) == "    10 03:04:05   two lines"


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

    read = {"events": [{**event(8, "RunCancelled"), "title": "run cancelled"}], "last_seq": 8}
    daemon.answers["EventsRead"] = read
    daemon.answers["EventsSubscribe"] = subscribe
    daemon.close_after.add("EventsRead")

    assert kbd("log", "taxes", "--follow", "--after", "7") == 69
    told = capsys.readouterr()
    assert told.out == "2026-01-02 UTC\n     8 03:04:05   run cancelled\n"
    assert f"kbd log {WORKBENCH} --follow --after 8" in told.err
    assert daemon.params_of("EventsRead")["after"] == 7

    daemon.close_after = {"EventsSubscribe"}  # What was sent cannot be read any more.
    assert kbd("log", "taxes", "--follow", "--after", "7") == 69
    told = capsys.readouterr()
    assert told.out == ""
    assert f"kbd log {WORKBENCH} --follow --after 7" in told.err


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
    for each in events[3:]:
        item = 1 if each["seq"] < 9 else 2
        each["place"] = {"phase": "implement", "item": item, "level": 3}
        each["title"] = f"{each['type']} told"
    for call in events[4:7]:
        call["place"]["tools"] = ["read_file"]
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


def test_a_cursor_does_not_forget_what_was_before(
    taxes: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """What was before is not read: the daemon knows it. Each day is told once."""
    assert kbd("log", "taxes", "--after", "8") == 0
    assert capsys.readouterr().out.splitlines() == [
        "2026-01-03 UTC",
        "     9 00:00:00         ItemStarted told",
        "    10 00:00:00         ToolRefused told",
    ]
    assert [params["after"] for name, params in taxes.asked if name == "EventsRead"] == [8]


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
    taxes.answers["WorkbenchList"] = {"workbenches": [workbench(reason="the log is damaged: x")]}

    assert kbd("log", "taxes", "--type", "ToolRefused") == 0
    told = capsys.readouterr()
    assert "ToolRefused told" in told.out
    assert told.err == "This is not all: the log is damaged: x\n"


@pytest.mark.usefixtures("taxes")
@pytest.mark.parametrize(
    ("filters", "code", "told"),
    [
        ("--run 2", 1, "there is no run 2 in taxes; it has one"),
        ("--run ffffffffffffffff-1", 1, "there is no run ffffffffffffffff-1 in taxes"),
        ("--phase review", 2, "there is no phase review; there are research, plan, implement"),
        ("--type ToolCald", 2, "there is no type of event ToolCald; near: ToolCalled"),
        ("--item 0", 2, "items are counted from 1"),
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
    """What comes live has no place: it is read again, with its place."""

    def subscribe(_params: dict[str, Any], notify: Notify) -> dict[str, Any]:
        events = run_log()[6:]
        notify("EventsAppended", {"workbench_id": WORKBENCH, "events": events, "last_seq": 10})
        return {"workbench_id": WORKBENCH}

    taxes.answers["EventsSubscribe"] = subscribe
    taxes.close_after.add("EventsRead")

    assert kbd("log", "taxes", "--follow", "--after", "6", "--item", "1", "--json") == 69
    told = capsys.readouterr()
    assert [json.loads(text)["seq"] for text in told.out.splitlines()] == [7, 8]
    assert "--after 10, with the same filters" in told.err


def test_the_last_events_are_asked_for_from_the_end(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Only as many as it takes to find those that match; they are shown in the log's order."""
    asked: list[dict[str, Any]] = []
    events = [
        {**event(seq, "ToolCalled"), "place": {"tools": ["look" if seq % 3 else "edit"]}}
        for seq in range(1, 301)
    ]

    def read(params: dict[str, Any], _notify: Notify) -> dict[str, Any]:
        asked.append(params)
        before = params.get("before", 301)
        page = events[max(before - 1 - 50, 0) : before - 1][::-1]
        return {"events": page, "last_seq": 300, "read_to": page[-1]["seq"]}

    daemon.answers["EventsRead"] = read
    daemon.answers["LogHead"] = {"seq": 300, "hash": "0" * 64}
    words = ("log", "taxes", "--last", "20", "--tool", "edit", "--type", "toolcalled", "--json")
    assert kbd(*words) == 0
    told = [json.loads(line)["seq"] for line in capsys.readouterr().out.splitlines()]
    assert told == list(range(243, 301, 3))
    assert len(asked) == 2
    assert all(params["descending"] and params["types"] == ["ToolCalled"] for params in asked)
    assert kbd("log", "taxes", "--last", "500", "--tool", "edit", "--json") == 0
    assert len(capsys.readouterr().out.splitlines()) == 100
    assert kbd("log", "taxes", "--last", "1", "--tool", "none") == 0
    assert "Nothing matched." in capsys.readouterr().err
    assert kbd("log", "taxes", "--last", "0") == 2
    assert "--last is 1 or more" in capsys.readouterr().err


def test_following_begins_behind_the_last_events(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """`--last` with `--follow`: so much of what was, then what happens; nothing twice."""
    subscribed: list[dict[str, Any]] = []

    def read(params: dict[str, Any], _notify: Notify) -> dict[str, Any]:
        if params.get("descending"):
            return {"events": [event(5, "RunCancelled")], "last_seq": 5, "read_to": 5}
        daemon.close_after.add("EventsRead")
        return {"events": [event(6, "RunCancelled")], "last_seq": 6, "read_to": 6}

    def subscribe(params: dict[str, Any], notify: Notify) -> dict[str, Any]:
        subscribed.append(params)
        batch = {"workbench_id": WORKBENCH, "events": [event(6, "RunCancelled")], "last_seq": 6}
        notify("EventsAppended", batch)
        return {"workbench_id": WORKBENCH}

    daemon.answers["EventsRead"] = read
    daemon.answers["LogHead"] = {"seq": 5, "hash": "0" * 64}
    daemon.answers["EventsSubscribe"] = subscribe

    assert kbd("log", "taxes", "--last", "1", "--follow", "--json") == 69
    told = [json.loads(line)["seq"] for line in capsys.readouterr().out.splitlines()]
    assert told == [5, 6]
    assert subscribed[0]["after"] == 5
