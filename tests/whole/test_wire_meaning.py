"""Searching by meaning over the socket, with an embedder that is not of this machine."""

import time
from collections.abc import Iterator
from typing import Any

import pytest

from wired import Wired, wired

EMBEDDER = "openai:meanings"
CAR = "The company car of the sales office is a blue estate.\n"
DOG = "Dogs are welcome in the garden behind the canteen.\n"
CAT = "The cat of the night porter sleeps in the lift.\n"


@pytest.fixture(scope="module", params=["asyncio", "trio"])
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here; its embedder is elsewhere, as far as it can tell."""
    more = {"KBD_SEARCH_EMBEDDER": EMBEDDER}
    with wired(str(request.param), more=more, host="ai.example") as running:
        running.server.meanings = {"vehicle": "car", "hound": "dogs"}
        yield running


def _searched(wire: Wired, named: dict[str, str], query: str) -> dict[str, Any]:
    """Search until every piece is known by meaning."""
    deadline = time.monotonic() + 60
    found: dict[str, Any] = {}
    while time.monotonic() < deadline:
        found = wire.ask("WorkspaceSearch", query=query, **named)
        if not any("not yet" in warning for warning in found["warnings"]):
            return found
        time.sleep(0.05)
    raise AssertionError(found)


def _consent(wire: Wired, named: dict[str, str]) -> None:
    status = wire.ask("EgressGetConsentStatus", model_id=EMBEDDER, **named)
    assert not status["consented"]
    agreed = {name: status[name] for name in ("provider_id", "model_id", "scope_hash")}
    wire.ask("EgressGrantWorkshopConsent", persist=True, **agreed, **named)


@pytest.mark.full
def test_nothing_is_sent_before_a_person_agreed_and_then_meaning_counts(wire: Wired) -> None:
    """Words alone and a reason before; a hybrid ranking after; each request on record first."""
    workbench_id = wire.workbench(car__txt=CAR, dog__txt=DOG)
    named = {"workbench_id": workbench_id}
    before = len(wire.server.embedded)
    found = wire.ask("WorkspaceSearch", query="vehicle", **named)
    assert (found["documents"], found["ranker"]) == ([], "bm25")
    time.sleep(0.3)
    found = wire.ask("WorkspaceSearch", query="vehicle", **named)
    assert "agree" in " ".join(found["warnings"])
    assert len(wire.server.embedded) == before

    _consent(wire, named)
    found = _searched(wire, named, "vehicle")
    assert found["warnings"] == []
    assert found["ranker"] in ("hybrid", "embeddings")
    assert found["documents"][0]["filename"] == "car.txt"
    sent = [e["data"] for e in wire.daemon.events(workbench_id) if e["type"] == "RequestSent"]
    assert {each["purpose"] for each in sent} == {"embed"}
    assert len(sent) == len(wire.server.embedded) - before

    asked = len(wire.server.embedded)
    wire.daemon.stop()
    wire.daemon.start()
    assert _searched(wire, named, "hound")["documents"][0]["filename"] == "dog.txt"
    assert [len(body["input"]) for body in wire.server.embedded[asked:]] == [1]

    wire.add(workbench_id, wire.file("cat.txt", CAT))
    asked = len(wire.server.embedded)
    found = wire.ask("WorkspaceSearch", query="hound", **named)
    assert found["ranker"] == "bm25"
    assert len(wire.server.embedded) == asked


@pytest.mark.full
def test_a_server_that_fails_leaves_the_search_by_words(wire: Wired) -> None:
    """While it answers 500, words find what they find, and the answer says what is missing."""
    named = {"workbench_id": wire.workbench(car__txt=CAR)}
    _consent(wire, named)
    wire.server.troubles = [{"status": 500, "said": "down"}] * 20
    try:
        found = wire.ask("WorkspaceSearch", query="company car", **named)
        time.sleep(1)
        again = wire.ask("WorkspaceSearch", query="company car", **named)
    finally:
        wire.server.troubles = []
    assert found["total"] == again["total"] == 1
    assert again["ranker"] == "bm25"
    assert "not yet known by meaning: " in again["warnings"][0]
    assert _searched(wire, named, "vehicle")["documents"][0]["filename"] == "car.txt"
