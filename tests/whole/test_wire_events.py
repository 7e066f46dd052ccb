"""Logs over the socket: subscriptions, pages, blobs, heads, and errors that tell no secrets."""

import base64
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from backends import mostly
from kbd.requests import METHODS
from wired import Heard, Wired, wired

HERE = "0123456789abcdef"
ILL_FORMED = ("", ".", "..", "x" * 16, HERE + "0", HERE[:-1], "../" + HERE[3:], HERE.upper())


@pytest.fixture(scope="module", params=mostly("trio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param)) as running:
        yield running


def _say(wire: Wired, workbench_id: str, *texts: str) -> None:
    for text in texts:
        wire.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text=text)


def _seqs(heard: Heard, log_id: str) -> list[int]:
    return [
        event["seq"]
        for told in heard.of("EventsAppended")
        if told["workbench_id"] == log_id
        for event in told["events"]
    ]


def _until(heard: Heard, log_id: str, seq: int) -> list[int]:
    """Read until an event of a log has come, and return all of that log."""
    count = len(heard.of("EventsAppended"))
    while not (found := _seqs(heard, log_id)) or found[-1] < seq:
        count += 1
        heard.until("EventsAppended", count)
    return found


def test_a_subscription_is_history_a_mark_and_live(wire: Wired) -> None:
    """Each event once and in order, the mark where history ends; after a cursor only the rest."""
    workbench_id = wire.workbench()
    _say(wire, workbench_id, "one", "two")
    with wire.daemon.client() as client, wire.daemon.client() as late:
        heard, heard_late = Heard(client), Heard(late)
        client.send("EventsSubscribe", {"workbench_id": workbench_id})
        late.send("EventsSubscribe", {"workbench_id": workbench_id, "after": 2})
        (synced,) = heard.until("EventsSynced")
        assert synced == {"workbench_id": workbench_id, "seq": 3}
        assert _seqs(heard, workbench_id) == [1, 2, 3]
        _say(wire, workbench_id, "three")
        assert _until(heard, workbench_id, 4) == [1, 2, 3, 4]
        assert _until(heard_late, workbench_id, 4) == [3, 4]
        assert heard.of("EventsSynced") == [synced]
        last = heard.of("EventsAppended")[-1]
        assert last["last_seq"] == 4

        params = {"workbench_id": workbench_id}
        assert client.send("EventsUnsubscribe", params) == {"unsubscribed": True}
        assert client.send("EventsUnsubscribe", params) == {"unsubscribed": False}
        _say(wire, workbench_id, "four")
        assert _until(heard_late, workbench_id, 5)[-1] == 5
        client.send("EngineGetInfo")
        assert _seqs(heard, workbench_id)[-1] == 4


def test_a_subscription_to_all_follows_what_is_created_and_survives_what_is_deleted(
    wire: Wired,
) -> None:
    """With cursors it goes on where each log was left; one that is new starts at its beginning."""
    first, second = wire.workbench(), wire.workbench()
    _say(wire, first, "one", "two")
    heads = {
        log_id: wire.ask("LogHead", workbench_id=log_id)["seq"]
        for log_id in ("daemon", *(row["id"] for row in wire.ask("WorkbenchList")["workbenches"]))
    }
    with wire.daemon.client() as client:
        heard = Heard(client)
        cursors = {**heads, first: 1, "f" * 16: 7}
        client.send("EventsSubscribe", {"workbench_id": "*", "cursors": cursors})
        (synced,) = heard.until("EventsSynced")
        assert synced == {"workbench_id": "*", "cursors": heads}
        assert _seqs(heard, first) == [2, 3]
        assert _seqs(heard, second) == _seqs(heard, "daemon") == []

        later = wire.workbench()
        _say(wire, later, "hello")
        assert _until(heard, later, 2) == [1, 2]
        for _ in range(3):
            gone = wire.workbench()
            wire.ask("WorkbenchDelete", workbench_id=gone)
        _say(wire, second, "still here")
        assert _until(heard, second, 2) == [2]
        _until(heard, "daemon", wire.ask("LogHead", workbench_id="daemon")["seq"])
        types = [
            event["type"]
            for told in heard.of("EventsAppended")
            if told["workbench_id"] == "daemon"
            for event in told["events"]
        ]
        assert types == ["WorkbenchCreated"] + ["WorkbenchCreated", "WorkbenchDeleted"] * 3


def test_a_follower_of_all_outlives_logs_that_are_deleted_while_it_reads(wire: Wired) -> None:
    """Forty workbenches come and go at once; it hears of each in the daemon's log, and stays."""
    with wire.daemon.client() as client:
        heard = Heard(client)
        head = wire.ask("LogHead", workbench_id="daemon")["seq"]
        client.send("EventsSubscribe", {"workbench_id": "*", "cursors": {"daemon": head}})
        heard.until("EventsSynced")

        def come_and_go() -> None:
            with wire.daemon.client() as other:
                for _ in range(10):
                    made = other.send("WorkbenchCreate", {"name": "brief"})["workbench_id"]
                    for text in ("one", "two"):
                        message = {"workbench_id": made, "text": text}
                        other.send("WorkshopSendUserMessage", message)
                    other.send("WorkbenchDelete", {"workbench_id": made})

        with ThreadPoolExecutor(4) as pool:
            for done in [pool.submit(come_and_go) for _ in range(4)]:
                done.result()
        last = wire.ask("LogHead", workbench_id="daemon")["seq"]
        assert last == head + 80
        assert _until(heard, "daemon", last) == list(range(head + 1, last + 1))


def test_a_cursor_past_the_end_is_refused(wire: Wired) -> None:
    """For one log and for all: who has it, has it from somewhere else."""
    workbench_id = wire.workbench()
    for params in (
        {"workbench_id": workbench_id, "after": 99},
        {"workbench_id": "*", "cursors": {workbench_id: 99}},
        {"workbench_id": "*", "after": 1},
        {"workbench_id": workbench_id, "cursors": {workbench_id: 1}},
    ):
        refused = wire.refused("EventsSubscribe", **params)
        assert refused.data["error_code"] == "VALIDATION_FAILED"
    with wire.daemon.client() as client:
        client.send("EventsSubscribe", {"workbench_id": "*"})
        with pytest.raises(Exception, match="subscri"):
            client.send("EventsSubscribe", {"workbench_id": "*"})


def test_events_are_read_in_pages(wire: Wired) -> None:
    """Joined they are the log; each has its id, its time and its data."""
    workbench_id = wire.workbench()
    _say(wire, workbench_id, *(f"message {number}" for number in range(7)))
    pages: list[dict[str, Any]] = []
    after = 0
    while page := wire.ask("EventsRead", workbench_id=workbench_id, after=after, limit=3)["events"]:
        pages += page
        after = page[-1]["seq"]

    assert [event["seq"] for event in pages] == list(range(1, 9))
    assert [event["id"] for event in pages] == [f"{workbench_id}:{n}" for n in range(1, 9)]
    assert pages[1]["data"]["text"] == "message 0"
    assert pages[0]["ts"].endswith("Z")
    assert wire.ask("EventsRead", workbench_id=workbench_id, after=99)["events"] == []
    for limit in (0, -1, 10_001, "1", 1.5):
        assert wire.refused("EventsRead", workbench_id=workbench_id, limit=limit).code == -32602


def test_blobs_are_read_in_pieces(wire: Wired) -> None:
    """Whole or in pieces, past the end nothing; an unknown hash is not found."""
    workbench_id = wire.workbench(a__txt="0123456789")
    (added,) = [e for e in wire.daemon.events(workbench_id) if e["type"] == "FileAdded"]
    named: dict[str, Any] = {"workbench_id": workbench_id, "hash": added["data"]["blob"]}
    whole = wire.ask("BlobRead", **named)
    assert (base64.b64decode(whole["base64"]), whole["size_bytes"], whole["has_more"]) == (
        b"0123456789", 10, False,
    )  # fmt: skip
    parts, offset, more = b"", 0, True
    while more:
        part = wire.ask("BlobRead", offset=offset, limit=4, **named)
        parts += base64.b64decode(part["base64"])
        offset, more = len(parts), part["has_more"]
    assert parts == b"0123456789"
    assert wire.ask("BlobRead", offset=10, **named) == {
        "base64": "", "size_bytes": 10, "has_more": False,
    }  # fmt: skip
    missing = wire.refused("BlobRead", workbench_id=workbench_id, hash="0" * 64)
    assert missing.data["error_code"] == "NOT_FOUND"
    for bad in ("../" * 21 + "x", "A" * 64, "0" * 63):
        assert wire.refused("BlobRead", workbench_id=workbench_id, hash=bad).code == -32602


def test_a_head_moves_with_each_event(wire: Wired) -> None:
    """Number and chain value change with what is recorded, and with nothing else."""
    workbench_id = wire.workbench()
    before = wire.ask("LogHead", workbench_id=workbench_id)
    assert wire.ask("LogHead", workbench_id=workbench_id) == before
    _say(wire, workbench_id, "one")
    after = wire.ask("LogHead", workbench_id=workbench_id)

    assert (before["seq"], after["seq"]) == (1, 2)
    assert after["hash"] != before["hash"]
    verified = wire.ask("LogVerify", workbench_id=workbench_id)
    assert (verified["ok"], verified["head"]) == (True, after["hash"])


def test_a_head_that_was_kept_is_compared(wire: Wired) -> None:
    """A true one fits whatever came after it; another hash, half of one, and the future do not."""
    workbench_id = wire.workbench()
    kept = wire.ask("LogHead", workbench_id=workbench_id)
    _say(wire, workbench_id, "one")

    def faults(seq: int, value: str) -> list[tuple[str, int]]:
        found = wire.ask("LogVerify", workbench_id=workbench_id, seq=seq, hash=value)
        assert found["ok"] is not bool(found["faults"])
        return [(fault["kind"], fault["seq"]) for fault in found["faults"]]

    assert faults(kept["seq"], kept["hash"]) == []
    assert faults(kept["seq"], "0" * 64) == [("head", 1)]
    assert faults(9, kept["hash"]) == [("truncated", 3)]
    for half in ({"seq": 1}, {"hash": kept["hash"]}):
        refused = wire.refused("LogVerify", workbench_id=workbench_id, **half)
        assert refused.data["error_code"] == "VALIDATION_FAILED"


def test_the_last_event_of_an_open_log_is_guarded(wire: Wired) -> None:
    """What was acknowledged is missed at once, though the anchor on disk may lag behind it."""
    workbench_id = wire.workbench()
    _say(wire, workbench_id, "one")
    (segment,) = (wire.daemon.home / "workbenches" / workbench_id / "log").glob("*.kbl")
    whole = segment.read_bytes()
    last = whole.rindex(b"KB\x01\x00")
    try:
        segment.write_bytes(whole[:last] + bytes(len(whole) - last))
        found = wire.ask("LogVerify", workbench_id=workbench_id)
        (fault,) = found["faults"]
        assert (fault["kind"], fault["file"], fault["offset"]) == ("truncated", segment.name, last)
        assert (found["ok"], found["seq"], fault["seq"]) == (False, 1, 2)
    finally:
        segment.write_bytes(whole)
    assert wire.ask("LogVerify", workbench_id=workbench_id)["ok"]


OTHERS: dict[str, dict[str, Any]] = {
    "WorkbenchFilesAdd": {"source_paths": ["/x"]},
    "WorkbenchFilesRemove": {"workbench_paths": ["x"]},
    "WorkbenchFilesExtract": {"destination_dir": "/nowhere"},
    "WorkbenchFilesSetReading": {"path": "x", "read_as": {}},
    "WorkbenchSetDefaultModel": {"model_id": "offline:planner"},
    "WorkshopSetActiveModel": {"model_id": "offline:planner"},
    "WorkshopSendUserMessage": {"text": "x"},
    "EgressGrantWorkshopConsent": {
        "provider_id": "offline", "model_id": "offline:planner", "scope_hash": "", "persist": True,
    },
    "ReviewSetDeletionConfirmations": {"paths": ["x"]},
    "ReviewGetDiff": {"path": "x"},
    "ReviewGetBlame": {"path": "x", "place": "line 1"},
    "RecipeTest": {"name": "none"},
    "BlobRead": {"hash": "0" * 64},
    "ToolsCall": {"name": "list_files"},
    "StateAt": {"seq": 1},
    "CheckpointGet": {"checkpoint_id": "0" * 16},
    "CheckpointRestore": {"checkpoint_id": "0" * 16},
    "ContextGet": {"category": "situation"},
    "ContextSet": {"category": "situation", "text": "x"},
    "ContextDelete": {"category": "situation"},
    "WorkshopUndoToMessage": {"message_id": "m1"},
    "WorkspaceSearch": {"query": "x"},
}  # fmt: skip
"""What a method wants beside the workbench."""

NAMING = sorted(
    name
    for name, kind in METHODS.items()
    if "workbench_id" in kind.__struct_fields__ and name != "EventsUnsubscribe"
)


@pytest.mark.parametrize("method", NAMING)
def test_workbench_ids_are_checked(wire: Wired, method: str) -> None:
    """Every method that names a workbench refuses what is no id, and one that is not there."""
    others = OTHERS.get(method, {})
    for ill_formed in ILL_FORMED:
        refused = wire.refused(method, workbench_id=ill_formed, **others)
        assert refused.code == -32602, (method, ill_formed)
    unknown = wire.refused(method, workbench_id=HERE, **others)
    assert unknown.data["error_code"] == "NOT_FOUND", method


def test_run_ids_are_checked(wire: Wired) -> None:
    """A run that is not there, in a workbench that is or is not; and what is no run id."""
    workbench_id = wire.workbench()
    for unknown in (f"{workbench_id}-1", f"{HERE}-1", f"{workbench_id}-{'9' * 15}"):
        assert wire.refused("RunGet", run_id=unknown).data["error_code"] == "NOT_FOUND"
    for ill_formed in ("", workbench_id, f"{workbench_id}-0", f"{workbench_id}-x", "../x-1"):
        assert wire.refused("RunGet", run_id=ill_formed).code == -32602


# A shutdown that was taken would stop the daemon that the other tests use.
@pytest.mark.parametrize("method", sorted(METHODS.keys() - {"DaemonShutdown"}))
def test_unknown_parameters_are_named(wire: Wired, method: str) -> None:
    """No method takes what it does not know, and each says which parameter that was."""
    params = {name: "x" for name in ("workbench_id",) if name in METHODS[method].__struct_fields__}
    refused = wire.refused(method, **{**params, "colour": "red"})

    assert refused.code == -32602
    if not params:
        assert "colour" in refused.message


def test_another_api_version_is_told_the_right_one(wire: Wired) -> None:
    """Requests may carry the version of the contract, which is a text; another is refused."""
    wire.ask("EngineGetInfo", api_version="1")
    for wrong in ("2", "", 1, "1.0"):
        refused = wire.refused("EngineGetInfo", api_version=wrong)
        assert refused.message == "incompatible api_version", wrong
        assert refused.data == {"expected": "1"}


def test_a_page_of_long_events_ends_early_and_goes_on(wire: Wired) -> None:
    """An answer stays near 8 MiB, whatever was asked for; from there on the rest comes in order."""
    workbench_id = wire.ask("WorkbenchCreate", name="long")["workbench_id"]
    for _ in range(12):
        text = "x" * 900_000
        wire.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text=text)
    found, sizes = list[dict[str, Any]](), list[int]()
    while True:
        after = len(found)
        page = wire.ask("EventsRead", workbench_id=workbench_id, after=after, limit=10_000)
        found += page["events"]
        sizes.append(len(page["events"]))
        if len(found) == page["last_seq"]:
            break
    assert [event["seq"] for event in found] == list(range(1, len(found) + 1))
    assert len(sizes) == 2
    assert max(sizes) < 12
    whole = wire.ask("EventsRead", workbench_id=workbench_id, after=sizes[0], limit=1)["events"]
    # What has the title of an event is told of it also where a page ends.
    assert whole[0] == found[sizes[0]]


def test_the_newest_events_are_read_from_the_end(wire: Wired) -> None:
    """Descending, before an event, of types, of a time: what the whole log has of them."""
    workbench_id = wire.workbench()
    _say(wire, workbench_id, *(f"message {number}" for number in range(9)))
    whole = wire.ask("EventsRead", workbench_id=workbench_id)
    assert whole["read_to"] == whole["last_seq"] == len(whole["events"])

    def ask(**params: Any) -> list[dict[str, Any]]:
        found = wire.ask("EventsRead", workbench_id=workbench_id, **params)
        return list(found["events"])

    events = whole["events"]
    assert ask(descending=True, limit=3) == events[:-4:-1]
    assert ask(descending=True, limit=3, before=6) == events[4:1:-1]
    assert ask(before=6, after=2) == events[2:5]
    assert ask(types=["WorkbenchCreated"]) == events[:1]
    said = [event for event in events if event["type"] == "UserMessageAdded"]
    assert ask(types=["UserMessageAdded", "RunStarted"]) == said
    middle = said[4]["ts"]
    assert ask(since=middle) == [event for event in events if event["ts"] >= middle]
    assert ask(until=middle, descending=True) == [e for e in events[::-1] if e["ts"] < middle]
    assert ask(run_id=f"{workbench_id}-1") == []
    assert ask(after=99, descending=True) == ask(before=1) == []


def test_a_filter_that_makes_no_sense_is_refused(wire: Wired) -> None:
    """An unknown type, a run of another workbench, a day that is none: with the reason."""
    workbench_id = wire.workbench()
    for params, said in (
        ({"types": ["NoSuchType"]}, "there is no type of event NoSuchType"),
        ({"run_id": f"{'0' * 16}-1"}, "of another workbench"),
        ({"since": "2026-02-31T00:00:00Z"}, "is no time"),
    ):
        refused = wire.refused("EventsRead", workbench_id=workbench_id, **params)
        assert refused.data["error_code"] == "VALIDATION_FAILED"
        assert said in str(refused)
    ill_formed: tuple[dict[str, Any], ...] = (
        {"types": []}, {"types": ["x" * 101]}, {"until": "yesterday"}, {"before": -1},
    )  # fmt: skip
    for params in ill_formed:
        assert wire.refused("EventsRead", workbench_id=workbench_id, **params).code == -32602
