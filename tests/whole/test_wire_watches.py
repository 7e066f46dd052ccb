"""Watched folders over the socket: what a rule may be, what is told of it, what it would do."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from backends import mostly
from wired import Heard, Wired, wired

PROMPT = "total Amount by Shop"
NOTHING_FAILED: dict[str, Any] = {"failed": [], "total": 0, "suspended": []}
AWAY = {"provider_id": "openai", "model_id": "openai:far"}


@pytest.fixture(scope="module", params=mostly("asyncio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param)) as running:
        yield running


@pytest.fixture
def inbox(wire: Wired) -> Path:
    """A folder of its own, with one file in it."""
    return wire.file("old.txt", "old").parent


def add(wire: Wired, inbox: Path, **rule: Any) -> Any:
    """Have a folder watched, paused, and return what was answered."""
    added = wire.ask("WatchAdd", folder=str(inbox), prompt=PROMPT, quiet_s=0.1, **rule)
    wire.ask("WatchPause", watch_id=added["watch_id"])
    return added


def test_a_rule_that_cannot_be_is_refused(wire: Wired, inbox: Path) -> None:
    """A folder that is none, or kbd's own; results without publishing; what is not there."""
    (inbox / "file.txt").write_text("x")
    home = wire.daemon.home
    (home / "below").mkdir(exist_ok=True)
    link = inbox / "link"
    link.symlink_to(home)
    refused: list[tuple[dict[str, Any], str]] = [
        ({"folder": "inbox"}, "absolute"),
        ({"folder": str(inbox / "none")}, "not there"),
        ({"folder": str(inbox / "file.txt")}, "not a folder"),
        ({"folder": str(home)}, "home of kbd"),
        ({"folder": str(home / "below")}, "home of kbd"),
        ({"folder": str(home.parent)}, "home of kbd"),
        ({"folder": str(link)}, "home of kbd"),
        ({"prompt": " \n"}, "prompt"),
        ({"patterns": ["/etc/*"]}, "pattern"),
        ({"patterns": ["!../*"]}, "pattern"),
        ({"model_id": "nobody:x"}, "nobody"),
        ({"deliver_to": str(inbox)}, "publish"),
        ({"publish": "auto", "deliver_to": "out"}, "absolute"),
        ({"publish": "auto", "deliver_to": str(home / "out")}, "home of kbd"),
        ({"publish": "auto", "deliver_to": str(inbox / "file.txt" / "out")}, "not a folder"),
        ({"on_outcome": ["kbd-has-no-such-program"]}, "not found"),
        ({"on_outcome": ["bin/told"]}, "absolute path"),
        ({"consent": {"provider_id": "offline", "model_id": "openai:far"}}, "not a model of"),
        ({"consent": AWAY, "model_id": "offline:planner"}, "the consent is for"),
        ({"recipe": "tidy"}, "recipe"),
        ({"limits": {"runs_per_hour": 0}}, "runs_per_hour"),
    ]  # fmt: skip

    for wrong, words in refused:
        asked: dict[str, Any] = {"folder": str(inbox), "prompt": PROMPT, **wrong}
        assert words in wire.refused("WatchAdd", **asked).message
    assert wire.ask("WatchList") == {"watches": []}
    assert not (home / "out").exists()


def test_a_rule_is_shown_as_it_was_made(wire: Wired, inbox: Path) -> None:
    """Links are followed once, folders for results are made, and consent may come later."""
    link = inbox.parent / f"{inbox.name}-link"
    link.symlink_to(inbox)
    results = inbox.parent / f"{inbox.name}-results" / "deep"
    added = add(wire, link, publish="auto", deliver_to=str(results), patterns=["*.txt"])
    watch_id = added["watch_id"]
    shown = wire.ask("WatchGet", watch_id=watch_id)["watch"]

    assert (added["passed_over"], added["waiting"]) == (1, 0)
    assert (shown["name"], shown["status"]) == (link.name, "paused")
    assert shown["folder"] == shown["rule"]["folder"] == str(inbox)
    assert shown["rule"]["deliver_to"] == str(results)
    assert results.is_dir()
    assert "consent" not in shown["rule"]
    resumed = wire.ask("WatchResume", watch_id=watch_id, consent=AWAY)["watch"]
    assert (resumed["rule"]["consent"], resumed["status"]) == (AWAY, "active")
    assert wire.ask("WatchRemove", watch_id=watch_id) == {"removed": True}
    for method in ("WatchGet", "WatchPause", "WatchRemove", "WatchTest", "WatchFailedRetry"):
        assert wire.refused(method, watch_id=watch_id).data["error_code"] == "NOT_FOUND"
    assert wire.ask("WatchList") == {"watches": []}


def test_what_lands_is_told_and_waits_while_paused(wire: Wired, inbox: Path) -> None:
    """Who asked about watches hears of it; a trial says what will run, and that it may not."""
    with wire.daemon.client() as client:
        heard = Heard(client)
        watch_id = add(wire, inbox, model_id="openai:far")["watch_id"]
        client.send("WatchList")
        (inbox / "new.txt").write_text("new")
        (told,) = heard.until("WatchFileLanded")
    (row,) = wire.ask("WatchList")["watches"]
    shown = wire.ask("WatchGet", watch_id=watch_id)["watch"]
    tested = wire.ask("WatchTest", watch_id=watch_id)

    assert (told["watch_id"], told["path"], told["workbench_id"]) == (watch_id, "new.txt", "daemon")
    assert (row["landed"], row["waiting"], row["failed"]) == (1, 1, 0)
    (landing,) = shown["landings"]
    assert (landing["landing_id"], landing["stage"]) == (told["seq"], "waiting")
    assert tested["counts"] == {"run": 1, "passed_over": 1}
    assert tested["runs"] == [{"paths": ["new.txt"]}]
    assert (tested["model_id"], tested["consented"]) == ("openai:far", True)
    assert ["paused" in problem for problem in tested["problems"]] == [True]
    assert wire.ask("WatchFailedList") == NOTHING_FAILED
    asked = {"watch_id": watch_id, "landing_ids": [told["seq"]]}
    assert wire.refused("WatchFailedRetry", **asked).data["error_code"] == "NOT_FOUND"
    assert wire.ask("WatchFailedDismiss", watch_id=watch_id) == {"landing_ids": []}
    wire.ask("WatchRemove", watch_id=watch_id)


def test_what_cannot_be_taken_is_explained_and_can_be_dismissed(wire: Wired, inbox: Path) -> None:
    """A file that is too large fails at once; the list says why and what can be done."""
    with wire.daemon.client() as client:
        heard = Heard(client)
        watch_id = add(wire, inbox)["watch_id"]
        client.send("WatchList")
        (inbox / "large.txt").write_text("x" * 2000)
        (told,) = heard.until("WatchFileLanded")
    (failed,) = wire.ask("WatchFailedList", watch_id=watch_id)["failed"]

    assert (told["outcome"], failed["landing_id"]) == ("failed", told["seq"])
    assert (failed["code"], failed["watch_id"]) == ("VALIDATION_FAILED", watch_id)
    assert "limits.file_bytes" in failed["message"]
    assert any(f"--retry {told['seq']}" in action for action in failed["actions"])
    dismissed = wire.ask("WatchFailedDismiss", watch_id=watch_id, landing_ids=[told["seq"]])
    assert dismissed == {"landing_ids": [told["seq"]]}
    assert wire.ask("WatchFailedList") == NOTHING_FAILED
    wire.ask("WatchRemove", watch_id=watch_id)


def test_what_failed_is_read_in_pages(wire: Wired, inbox: Path) -> None:
    """Each file on one page, in both orders, though one is dismissed between; or by its words."""
    with wire.daemon.client() as client:
        heard = Heard(client)
        watch_id = add(wire, inbox)["watch_id"]
        client.send("WatchList")
        for name in ("One.txt", "two.txt", "three.txt"):
            (inbox / name).write_text(name * 1000)
        numbers = sorted(told["seq"] for told in heard.until("WatchFileLanded", 3))
    asked = {"watch_id": watch_id}
    first = wire.ask("WatchFailedList", limit=2, **asked)
    back = wire.ask("WatchFailedList", limit=2, descending=True, **asked)
    found = wire.ask("WatchFailedList", query="ONE File_Bytes", **asked)
    wire.ask("WatchFailedDismiss", landing_ids=[numbers[1]], **asked)
    rest = wire.ask("WatchFailedList", limit=2, cursor=first["next_cursor"], **asked)
    front = wire.ask(
        "WatchFailedList", limit=2, descending=True, cursor=back["next_cursor"], **asked
    )

    pages = (first, rest, back, front)
    assert [[row["landing_id"] for row in page["failed"]] for page in pages] == [
        numbers[:2], numbers[2:], numbers[:0:-1], numbers[:1],
    ]  # fmt: skip
    assert [page["total"] for page in pages] == [3, 2, 3, 2]
    assert [row["path"] for row in found["failed"]] == ["One.txt"]
    assert wire.ask("WatchFailedList", error_code="DISK_FULL", **asked)["total"] == 0
    wrong: list[dict[str, Any]] = [
        {"cursor": "nonsense"}, {"cursor": first["next_cursor"], "descending": True},
        {"cursor": first["next_cursor"], "query": "one"},
    ]  # fmt: skip
    for each in wrong:
        refused = wire.refused("WatchFailedList", **asked, **each)
        assert refused.data["error_code"] == "VALIDATION_FAILED"
    for limit in (0, 10_001):
        assert wire.refused("WatchFailedList", limit=limit).code == -32602
    wire.ask("WatchRemove", watch_id=watch_id)


def test_a_folder_is_tried_before_it_is_watched(wire: Wired, inbox: Path) -> None:
    """What is there would run; what is no folder to be watched cannot be tried."""
    tested = wire.ask("WatchTest", folder=str(inbox), patterns=["*.txt"])

    assert (tested["run_count"], tested["problems"]) == (1, [])
    assert "name what is to be tried" in wire.refused("WatchTest").message
    refused = wire.refused("WatchTest", folder=str(wire.daemon.home))
    assert refused.data["error_code"] == "VALIDATION_FAILED"
    assert wire.ask("WatchList") == {"watches": []}
