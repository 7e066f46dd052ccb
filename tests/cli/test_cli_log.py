"""`kbd log`: one line an event, whatever its type; following goes on where it was."""

import json
from collections.abc import Callable
from string import Formatter
from typing import Any

import pytest

from kbd.cli.describe import DERIVED, TEMPLATES, described
from kbd.events.vocabulary import Event
from scripted_daemon import Notify, ScriptedDaemon
from scripted_job import WORKBENCH

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


@pytest.mark.parametrize(
    ("recorded", "told"),
    [
        (event(3, "FileAdded", name="a.csv", size_bytes=2048), "added a.csv (2.0 KiB)"),
        (event(4, "ItemStarted", item=2), "item 2 started, attempt 1"),
        (event(5, "FileChanged", name="a", after="x", size_bytes=5), "draft: added a (5 bytes)"),
        (event(5, "FileChanged", name="a", before="x"), "draft: deleted a (0 bytes)"),
        (event(6, "ToolReturned", entry_id=9, ok=True), "tool returned ok, entry 9, 0 ms"),
        (event(7, "ModelReplied", calls=[{"name": "read_file"}]), "model replied: read_file"),
        (event(8, "PlanWritten", items=["a", "b"]), "plan of 2 items: a; b"),
        (event(9, "Newer", x=1, y="z"), 'Newer x=1 y="z"'),
        (event(10, "UserMessageAdded", text="two\nlines\x1b[2J"), "asked: two lines"),
    ],
)
def test_an_event_is_one_clean_line(recorded: dict[str, Any], told: str) -> None:
    """Sequence, time and a sentence; an unknown type is told with its fields."""
    assert described(recorded) == f"{recorded['seq']} 03:04:05 {told}"


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

    daemon.answers["EventsSubscribe"] = subscribe
    daemon.close_after.add("EventsSubscribe")

    assert kbd("log", "taxes", "--follow", "--after", "7") == 69
    told = capsys.readouterr()
    assert told.out == "8 03:04:05 run cancelled\n"
    assert f"kbd log {WORKBENCH} --follow --after 8" in told.err


def test_the_daemons_own_log_has_a_name(daemon: ScriptedDaemon, kbd: Kbd) -> None:
    """`kbd log daemon` reads the daemon's log, without looking for a workbench."""
    daemon.answers["EventsRead"] = {"events": [], "last_seq": 0}

    assert kbd("log", "daemon") == 0
    assert daemon.methods() == ["EventsRead"]
