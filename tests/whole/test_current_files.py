"""draft/ and _rpi/ over the socket: on disk before anybody hears of what changed them."""

import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from backends import mostly
from kbd.client.blocking import Client
from wired import PLAN, Wired, wired

TIMES = 20

TWO_ITEMS = PLAN.replace("- [ ] 1. Write", "- [ ] 1. One\n- [ ] 2. Two")


@pytest.fixture(scope="module", params=mostly("asyncio"))
def served(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param), more={"KBD_LIMITS_FILE_BYTES": "1000000"}) as running:
        yield running


@pytest.fixture
def wire(served: Wired) -> Wired:
    """The daemon, with a model that makes a plan of one item."""
    served.script.forget()
    return served


@pytest.mark.full
def test_an_edit_of_a_workbook_is_in_draft_when_it_is_answered(wire: Wired) -> None:
    """Every one of many, and after a discard the file is gone."""
    workbench_id = wire.workbench()
    shown = _draft(wire, workbench_id) / "sub" / "a.xlsx"
    with wire.daemon.client() as client:
        for number in range(TIMES):
            cell = {"cell": "A1", "value": number}
            _apply(client, "Xlsx", workbench_id, {
                "op": "set_cells", "sheet": "S", "cells": [cell],
            }, path="sub/a.xlsx", create_if_missing=True)  # fmt: skip
            book = openpyxl.load_workbook(shown)
            assert book["S"]["A1"].value == number
        client.send("DraftDiscard", {"workbench_id": workbench_id})
        assert not _draft(wire, workbench_id).exists()


@pytest.mark.full
def test_an_edit_of_a_document_is_in_draft_when_it_is_answered(wire: Wired) -> None:
    """To the byte; a publish and a removal are followed at once, too."""
    workbench_id = wire.workbench()
    folder = _draft(wire, workbench_id)
    named = {"workbench_id": workbench_id}
    with wire.daemon.client() as client:
        for number in range(TIMES):
            _apply(client, "Docx", workbench_id, {
                "op": "append_paragraph", "text": f"paragraph {number}",
            }, path="a.docx", create_if_missing=True)  # fmt: skip
            drafted = client.send("ReviewGetChangeSet", named)["changes"][0]
            assert (drafted["path"], drafted["size_bytes"]) == ("a.docx", _size(folder / "a.docx"))
        content = (folder / "a.docx").read_bytes()
        client.send("DraftPublish", named)
        assert not (folder / "a.docx").exists()
        assert (wire.published(workbench_id) / "a.docx").read_bytes() == content
        _apply(client, "Docx", workbench_id, {
            "op": "append_paragraph", "text": "more",
        }, path="a.docx")  # fmt: skip
        assert _sha256(folder / "a.docx") != hashlib.sha256(content).hexdigest()
        removed = client.send("WorkbenchFilesRemove", named | {"workbench_paths": ["a.docx"]})
        assert removed["in_draft"]
        assert not (folder / "a.docx").exists()


def test_plan_and_draft_are_there_when_a_run_tells_of_them(wire: Wired) -> None:
    """Of items, phases and tools: to notifications and to those who follow events."""
    wire.script.plan, wire.script.writes = TWO_ITEMS, {"a.txt": "written"}
    workbench_id = wire.workbench()
    copies = wire.published(workbench_id).parent / "meta" / "workshop" / "_rpi"
    draft = _draft(wire, workbench_id)
    named = {"workbench_id": workbench_id}
    seen: list[str] = []

    def heard(method: str, params: dict[str, Any]) -> None:
        match method, params:
            case "WorkshopPhaseCompleted", {"phase": "research"}:
                assert (copies / "research.md").exists()
            case "WorkshopPhaseCompleted", {"phase": "plan"}:
                assert (copies / "plan.md").exists()
            case "WorkshopImplementProgress", {"current_item": number}:
                assert _ticks(copies) >= number - 1
            case "WorkshopToolComplete", _:
                assert (draft / "a.txt").read_text() == "written"
            case "WorkshopRunFinished", _:
                assert _ticks(copies) == 2
            case _:
                return
        seen.append(method)

    with wire.daemon.client() as client, wire.daemon.client() as follower:
        client.on_notification = heard
        client.send("WorkshopSendUserMessage", named | {"text": "write"})
        client.send("WorkshopRunAgent", named)
        assert _ticks(copies) == 2
        assert seen.count("WorkshopImplementProgress") == 2
        assert {"WorkshopToolComplete", "WorkshopRunFinished"} <= set(seen)
        client.on_notification = None
        _follow_a_second(client, follower, workbench_id, copies)
        client.send("DraftDiscard", named)
        assert not draft.exists()
        assert list(copies.iterdir()) == []


def _follow_a_second(client: Client, follower: Client, workbench_id: str, copies: Path) -> None:
    """Follow the log while a second message is worked on: the plan ticks before the event comes."""
    named = {"workbench_id": workbench_id}
    after = client.send("EventsRead", named | {"after": 0, "limit": 10_000})["last_seq"]
    client.send("WorkshopSendUserMessage", named | {"text": "again"})
    assert list(copies.iterdir()) == []
    client.send("WorkshopRunAgent", named | {"wait": False})
    done = 0
    for event in follower.follow(workbench_id, after=after):
        if event["type"] == "ItemCompleted":
            done += 1
            assert _ticks(copies) >= done
        elif event["type"] == "RunFinished":
            break
    assert done == 2


def _apply(
    client: Client, kind: str, workbench_id: str, operation: dict[str, Any], **more: Any
) -> None:
    client.send(f"{kind}ApplyOps", {"workbench_id": workbench_id, "ops": [operation], **more})


def _draft(wire: Wired, workbench_id: str) -> Path:
    return wire.published(workbench_id).parent / "draft"


def _ticks(copies: Path) -> int:
    return (copies / "plan.md").read_text().count("- [x]")


def _size(path: Path) -> int:
    return path.stat().st_size


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
