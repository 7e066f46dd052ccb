"""A key that a server sends back in every way it can: found nowhere afterwards.

The server puts it into texts, split over pieces, into names, ids and arguments of calls, with
escapes, into errors and their headers; a tool quotes it from a file of the user's; a plugin prints
and logs it. What a person's file holds stays in that file, to the byte.
"""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kbd.client.blocking import Client, RemoteError
from model_server import Reply, call, calls, failure, phase_of, text, turn_of
from wired import PLAN, Heard, Wired, wired

KEY = "sk-canary-7f3a/Zq+0123456789"
MINE = f"line one\nmy own key is {KEY}\n"

LEAKY = """\
import logging, structlog
from kbd import hookimpl
from kbd.core.gateway import outbound_call
lent = outbound_call.ProviderAccess
def noisy(key, *more):
    print("lent", key)
    logging.getLogger("leaky").warning("lent %s", key)
    structlog.get_logger("leaky").warning("lent", key=key, many=[key], **{"at_" + key: 1})
    return lent(key, *more)
outbound_call.ProviderAccess = noisy
"""
"""A plugin's code in the daemon's process could do no worse than this."""


@pytest.fixture(scope="module")
def wire() -> Iterator[Wired]:
    """A daemon with a key of which everything told is searched."""
    with wired("trio", LEAKY, {"OPENAI_API_KEY": KEY}) as running:
        yield running


class Parrot:
    """A model that repeats the key: fails with it now and then, and works with it."""

    def __init__(self) -> None:
        self._failures = iter([500, 0, 429])

    def __call__(self, body: dict[str, Any]) -> Reply:
        """Be the model."""
        status = next(self._failures, 0)
        if status:
            return failure(status, f"the key {KEY} is of no use")
        phase, turn = phase_of(body), turn_of(body)
        escaped = KEY.replace("-", "\\u002d").replace("/", "\\/")
        if phase == "research" and turn == 0:
            return {
                "content": f"I was given {KEY} and {base64.b64encode(KEY.encode()).decode()}",
                "tool_calls": [
                    call("read_file", {"path": "mine.txt"}, f"id-{KEY}"),
                    call(KEY, {"a": KEY}),
                    call("read_file", f'{{"path": "{escaped}"}}', "escaped"),
                    call("read_file", f'{{"path": "{KEY}', "broken"),
                ],
            }
        if phase == "plan":
            return text(f"{PLAN}- a note of {KEY}\n".replace("1. Write", f"1. Write {KEY}"))
        if phase == "implement" and turn == 0:
            content = json.dumps({"path": "out.txt", "content": f"{KEY} " * 4000})
            return calls(call("write_text_file", content.replace("-", "\\u002d"), "w"))
        return text(f"Done with {KEY}.")


def forms(key: str) -> set[bytes]:
    """Every way in which the key could lie there: as it is, and within base64."""
    found = {key.encode(), key.encode().replace(b"/", b"\\/")}
    for before in range(3):
        coded = base64.b64encode(b"x" * before + key.encode())
        found.add(coded[4 * (before > 0) : len(coded) // 4 * 4 - 4])
    return found


def leaks(folder: Path) -> list[str]:
    """The files below a folder that hold the key."""
    looked_for = forms(KEY)
    return [
        str(path.relative_to(folder))
        for path in sorted(folder.rglob("*"))
        if path.is_file() and any(form in path.read_bytes() for form in looked_for)
    ]


def test_a_key_that_comes_back_is_kept_nowhere(wire: Wired) -> None:
    """No file of kbd's holds it, no answer, no notification, no line that the daemon logged."""
    wire.script.instead = Parrot()
    mine = wire.file("mine.txt", MINE)
    workbench_id = wire.daemon.workbench(mine)
    told: list[Any] = []
    with wire.daemon.client() as client:
        heard = Heard(client)
        named = {"workbench_id": workbench_id}
        client.send("WorkshopSendUserMessage", {**named, "text": f"use {KEY} for it"})
        told.append(client.send("WorkshopRunAgent", {**named, "wait": True}, timeout=60))
        methods = ("WorkshopGetConversation", "ReviewGetChangeSet", "EgressListEvents")
        told += [client.send(method, named) for method in methods]
        told.append(client.send("RunGet", {"run_id": told[0]["run_id"]}))
        told.append(client.send("EventsRead", {**named, "limit": 10_000}))
        told.append(client.send("EventsRead", {"workbench_id": "daemon", "limit": 10_000}))
        told.append(client.send("ProvidersGetStatus"))
        heard.until("WorkshopRunFinished")
        notices = list(heard.notices)
    events = told[-3]["events"]

    # It was sent, it came back, and a file of it was written: nothing here is vacuous.
    assert wire.server.authorization == f"Bearer {KEY}"
    assert told[0]["status"] == "finished"
    assert [e["data"]["code"] for e in events if e["type"] == "ModelFailed"] == [
        "PROVIDER_UNAVAILABLE",
        "PROVIDER_RATE_LIMITED",
    ]
    assert json.dumps(events).count("***") > 15
    assert wire.changes(workbench_id) == {"out.txt": "added"}
    pieces = [p["token_delta"] for name, p in notices if name == "WorkshopAssistantStreamDelta"]
    assert "Done with ***." in "".join(pieces)

    assert [each for each in (*told, *notices) if KEY in json.dumps(each)] == []
    assert KEY not in "".join(pieces)
    assert KEY not in wire.daemon.log.read_text()
    assert "lent ***" in wire.daemon.log.read_text()
    # The person's own file is what it was: published, and as a version. Its text for readers is
    # in memory alone, for it is tiny.
    blob = next(e["data"]["blob"] for e in events if e["type"] == "FileAdded")
    kept = wire.published(workbench_id) / "mine.txt"
    assert kept.read_text() == MINE
    own = {kept, *wire.daemon.home.rglob(blob)}
    found = {wire.daemon.home / leak for leak in leaks(wire.daemon.home)}
    assert found == own
    assert len(own) == 2


def test_a_client_that_calls_itself_by_a_key_is_noted_without_it(wire: Wired) -> None:
    """Its name stands in every event that it causes: the key is taken out before it is cut."""
    host = f"{'x' * 70} {KEY}"
    with Client(wire.daemon.socket, client=KEY, version=f"1 {KEY}", host=host) as client:
        workbench_id = client.send("WorkbenchCreate", {"name": "w"})["workbench_id"]
        client.send("WorkshopSendUserMessage", {"workbench_id": workbench_id, "text": "hello"})
        noted = client.send("ClientIdentify", {"client": f"me {KEY}"})
    actor = wire.daemon.events(workbench_id)[-1]["actor"]
    assert (actor["client"], actor["version"]) == ("***", "1 ***")
    assert actor["host"] == f"{'x' * 70} ***"
    assert noted["client"] == "me ***"
    assert leaks(wire.daemon.home / "workbenches" / workbench_id) == []
    assert KEY not in json.dumps(wire.daemon.events("daemon"))


def test_what_a_server_says_of_a_key_is_told_without_it(wire: Wired) -> None:
    """A run that ends in a server's refusal, or a try, quotes it with `***`."""
    wire.script.instead = lambda _: failure(401, f"Incorrect API key provided: {KEY}")
    wire.server.listing = 401
    workbench_id = wire.workbench(a__txt="x")
    wire.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="write")
    refusals: list[RemoteError] = [
        wire.refused("WorkshopRunAgent", workbench_id=workbench_id),
        wire.refused("ProvidersValidate", provider_id="openai"),
    ]

    watch = {"folder": "/nowhere", "prompt": "x", "on_outcome": ["/bin/echo", KEY]}
    refused = wire.refused("WatchAdd", **watch)
    assert (refused.error_code, KEY in refused.message) == ("VALIDATION_FAILED", False)
    assert "on_outcome" in refused.message

    for refused in refusals:
        assert refused.error_code == "PROVIDER_AUTH_FAILED"
        assert KEY not in f"{refused.message}{refused.data}"
    assert "***" in refusals[0].message
    folder = wire.daemon.home / "workbenches" / workbench_id
    assert leaks(folder) == []
