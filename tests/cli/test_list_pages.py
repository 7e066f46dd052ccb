"""Long lists from the command line: read page by page, or only the newest rows of them."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from kbd.cli.exits import RequestRefused
from kbd.cli.pages import PAGE_ROWS, all_pages
from kbd.client.blocking import Client
from scripted_daemon import AnswerError, Notify, ScriptedDaemon
from scripted_job import WORKBENCH
from told_watches import ANSWERS, FAILED, WATCH

Kbd = Callable[..., int]
Captured = pytest.CaptureFixture[str]

WHEN = "2026-11-22T16:53:00Z"
BENCH = {"workbench_id": WORKBENCH}


class Listed:
    """A list that a daemon answers in pages; a cursor is the number of rows before it."""

    def __init__(self, field: str, rows: list[dict[str, Any]], **more: Any) -> None:
        self.field, self.rows, self.more = field, rows, more

    def __call__(self, params: dict[str, Any], _notify: Notify) -> dict[str, Any]:
        """Answer a page."""
        types = params.get("types")
        rows = [row for row in self.rows if types is None or row["type"] in types]
        total, begin = len(rows), int(params.get("cursor", 0))
        rows = rows[::-1] if params.get("descending") else rows
        end = begin + params["limit"]
        answer = {self.field: rows[begin:end], "total": total, **self.more}
        return {**answer, "next_cursor": str(end)} if end < total else answer


def checkpoint(number: int) -> dict[str, Any]:
    """Return the row of a checkpoint."""
    return {
        "checkpoint_id": f"c{number:05}", "created_at": WHEN, "reason": "manual",
        "description": "", "stats": {"files": 1, "total_bytes": 1},
    }  # fmt: skip


def entry(number: int, kind: str, **more: Any) -> dict[str, Any]:
    """Return an entry of a conversation."""
    role = {"user_message": "user", "assistant_message": "assistant"}.get(kind, "tool")
    return {
        "type": kind, "message_id": f"m{number}", "role": role, "text": f"text {number}",
        "created_at": WHEN, "seq": number, **more,
    }  # fmt: skip


CALLS = [{"id": "c", "function": {"name": "read_file", "arguments": "{}"}}]


def talk(exchanges: int, calls: int) -> list[dict[str, Any]]:
    """Return a conversation: of each exchange the question, so many calls, and the answer."""
    kinds = ["user_message", *["call", "tool_result"] * calls, "assistant_message"] * exchanges
    return [
        entry(number, "assistant_message", tool_calls=CALLS)
        if kind == "call"
        else entry(number, kind)
        for number, kind in enumerate(kinds, 1)
    ]


def test_a_command_that_needs_all_rows_reads_page_by_page(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """No answer has more than a thousand rows, and none is missing, in the order of the list."""
    rows = [checkpoint(number) for number in range(2 * PAGE_ROWS + 1)]
    daemon.answers["CheckpointsList"] = Listed("checkpoints", rows)

    assert kbd("checkpoints", "taxes", "--json") == 0
    assert json.loads(capsys.readouterr().out) == rows
    asked = [params for method, params in daemon.asked if method == "CheckpointsList"]
    assert asked == [
        {**BENCH, "limit": 1000, **more} for more in ({}, {"cursor": "1000"}, {"cursor": "2000"})
    ]
    daemon.answers["CheckpointRestore"] = {
        "checkpoint_id": "c02000", "pre_restore_checkpoint_id": "c9", "files_changed": [],
    }  # fmt: skip
    assert kbd("checkpoints", "taxes", "restore", "c02000", "--yes") == 0


def test_pages_leave_the_parameters_and_refusals_as_they_are(daemon: ScriptedDaemon) -> None:
    """A list that has no pages is one; what is refused on the way is refused."""
    params = {"running": True}
    run = {"run_id": "1", "workbench_name": "w"}
    daemon.answers["RunList"] = {"runs": [run]}
    with Client(str(daemon.path)) as client:
        assert all_pages(client, "RunList", params, "runs") == [run]
        assert all_pages(client, "RunList", None, "runs") == [run]
        assert params == {"running": True}

        def refuse(params: dict[str, Any], _notify: Notify) -> dict[str, Any]:
            if "cursor" in params:
                raise AnswerError("VALIDATION_FAILED", "the cursor is of another list")
            return {"runs": [], "next_cursor": "x"}

        daemon.answers["RunList"] = refuse
        with pytest.raises(RequestRefused, match="another list"):
            all_pages(client, "RunList", None, "runs")


def test_the_newest_checkpoints_are_listed(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """In the order of the whole list, with a line that says how many there are in all."""
    daemon.answers["CheckpointsList"] = Listed("checkpoints", [checkpoint(n) for n in range(5)])

    assert kbd("checkpoints", "taxes", "--limit", "2") == 0
    shown = capsys.readouterr().out.splitlines()
    assert [text.split()[0] for text in shown[1:3]] == ["c00003", "c00004"]
    assert shown[3:] == ["… the newest 2 of 5 checkpoints"]
    assert daemon.params_of("CheckpointsList") == {**BENCH, "limit": 2, "descending": True}
    assert kbd("checkpoints", "taxes", "--limit", "5") == 0
    assert len(capsys.readouterr().out.splitlines()) == 6
    assert kbd("checkpoints", "taxes", "--limit", "2", "--json") == 0
    assert json.loads(capsys.readouterr().out) == [checkpoint(3), checkpoint(4)]


@pytest.mark.parametrize("limit", ["0", "-1", "x", "²", "1.5"])
def test_a_limit_is_a_number_from_1(limit: str, kbd: Kbd, capsys: Captured) -> None:
    """Anything else is told what it has to be."""
    with pytest.raises(SystemExit) as stopped:
        kbd("checkpoints", "taxes", f"--limit={limit}")
    assert stopped.value.code == 2
    assert f"{limit} is no number from 1" in capsys.readouterr().err


def test_more_rows_than_a_page_has_may_be_the_newest(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """They are read in pages, too."""
    rows = [checkpoint(number) for number in range(3000)]
    daemon.answers["CheckpointsList"] = Listed("checkpoints", rows)

    assert kbd("checkpoints", "taxes", "--limit", "1500", "--json") == 0
    assert json.loads(capsys.readouterr().out) == rows[1500:]
    assert daemon.methods().count("CheckpointsList") == 2


def test_the_newest_entries_of_a_conversation_are_shown(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """So many of what is shown, though most are calls; with `--tools` those count, too."""
    whole = talk(exchanges=3, calls=200)
    daemon.answers["WorkshopGetConversation"] = Listed("messages", whole)

    assert kbd("conversation", "taxes", "--limit", "3") == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "… the newest 3 of 606 entries"
    assert [text.split()[-3] for text in shown if "(event" in text] == ["m804", "m805", "m1206"]
    assert kbd("conversation", "taxes", "--limit", "6") == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].startswith("You  ")
    assert sum("(event" in text for text in shown) == 6
    assert kbd("conversation", "taxes", "--tools", "--limit", "2") == 0
    shown = capsys.readouterr().out.splitlines()
    assert shown[:2] == ["… the newest 2 of 1206 entries", "    <- text 1205"]
    assert kbd("conversation", "taxes", "--json", "--limit", "2") == 0
    assert json.loads(capsys.readouterr().out) == whole[-2:]


def test_a_long_conversation_is_read_whole(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Page by page, where all of it is wanted."""
    whole = talk(exchanges=600, calls=1)
    daemon.answers["WorkshopGetConversation"] = Listed("messages", whole)

    assert kbd("conversation", "taxes", "--json") == 0
    assert json.loads(capsys.readouterr().out) == whole
    assert daemon.methods().count("WorkshopGetConversation") == 3


def test_the_newest_files_that_failed_are_shown(
    daemon: ScriptedDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """All of those that were asked for, oldest of them first, and how many there are."""
    rows = [{**FAILED, "landing_id": n, "message": f"reason {n}"} for n in range(1, 1201)]
    daemon.answers |= ANSWERS
    daemon.answers["WatchFailedList"] = Listed("failed", rows, suspended=[])

    assert kbd("watch", "failed", "invoices", "--limit", "30") == 0
    shown = capsys.readouterr().out.splitlines()
    found = [text.split()[0] for text in shown if "march.csv" in text]
    assert found == [str(number) for number in range(1171, 1201)]
    assert shown[-1] == "… the newest 30 of 1200 files"
    assert daemon.params_of("WatchFailedList") == {
        "watch_id": WATCH, "limit": 30, "descending": True,
    }  # fmt: skip
    assert kbd("watch", "failed", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found == {"failed": rows, "total": 1200, "suspended": []}
    # One behind the first thousand is found, too.
    daemon.answers["WatchFailedDismiss"] = {"landing_ids": [1150]}
    assert kbd("watch", "failed", "--dismiss", "1150") == 0
    asked = {"watch_id": WATCH, "landing_ids": [1150]}
    assert daemon.params_of("WatchFailedDismiss") == asked
