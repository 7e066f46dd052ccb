"""Conformance of what every run is told: context items, and how files should look."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
import pytest

from kbd.client.blocking import Client
from model_server import phase_of
from wired import Script, Wired, wired

CATEGORIES = ["company-context", "department-context", "situation", "document-style"]

# One of the three formats with guidance cannot read it: its file is named wrongly.
WITHOUT_GUIDANCE = "import kbd_docx.handler; kbd_docx.handler.DocxFormat.style_file = 'gone.md'"


@pytest.fixture(scope="module")
def wire() -> Iterator[Wired]:
    """A daemon in which the guidance for documents is missing."""
    more = {"KBD_LIMITS_FILE_BYTES": "1000000"}
    with wired("asyncio", preface=WITHOUT_GUIDANCE, more=more) as running:
        yield running


def asked(model: Script) -> dict[str, str]:
    """What the model was told first in each phase."""
    told: dict[str, str] = {}
    for body in model.requests:
        told.setdefault(phase_of(body), body["messages"][1]["content"])
    return told


def blocks(text: str) -> list[str]:
    """The opening lines of the blocks of context and style."""
    return re.findall(r"^<(?:context|style)[^>]*>$", text, re.MULTILINE)


def notices(wire: Wired, workbench_id: str) -> list[str]:
    """The codes of the notices that runs were given."""
    events = wire.daemon.events(workbench_id)
    return [event["data"]["code"] for event in events if event["type"] == "NoticeGiven"]


def test_there_are_always_four_categories(wire: Wired) -> None:
    """Conformance 58: unset ones have the status empty."""
    workbench_id = wire.workbench()
    wire.ask("ContextSet", workbench_id=workbench_id, category="situation", text="audit")

    listed = wire.ask("ContextList", workbench_id=workbench_id)
    assert [item["category"] for item in listed["items"]] == CATEGORIES
    assert [item["status"] for item in listed["items"]] == ["empty", "empty", "set", "empty"]
    got = wire.ask("ContextGet", workbench_id=workbench_id, category="situation")
    assert (got["text"], got["item"]["characters"]) == ("audit", 5)
    assert wire.ask("ContextGet", workbench_id=workbench_id, category=CATEGORIES[0])["text"] == ""


def test_deleting_empties_a_category_and_tells(wire: Wired, client: Client) -> None:
    """Conformance 60: and 59's timestamp; clients are told added, updated, deleted."""
    workbench_id = wire.workbench()
    where = {"workbench_id": workbench_id, "category": "situation"}
    client.send("ContextSet", {**where, "text": "one"})
    row = client.send("ContextSet", {**where, "text": "two"})["item"]
    assert row["updated_at"]
    gone = client.send("ContextDelete", where)
    assert (gone["deleted"], gone["item"]["status"]) == (True, "empty")
    assert client.send("ContextDelete", where)["deleted"] is False
    actions = [next_of(client, "ContextChanged")["action"] for _ in range(3)]
    assert actions == ["added", "updated", "deleted"]


def next_of(client: Client, method: str) -> dict[str, Any]:
    """The next notification of a method."""
    for name, params in client.notifications(30):
        if name == method:
            return dict(params)
    raise AssertionError(method)


def test_what_cannot_be_set_is_refused(wire: Wired) -> None:
    """VALIDATION_FAILED for what is neither a text nor a file, or not of the four."""
    where = {"workbench_id": wire.workbench(), "category": "situation"}
    link = wire.file("real.txt", "x").with_name("link.txt")
    link.symlink_to(link.with_name("real.txt"))
    refused = [
        {},
        {"text": "a", "source_path": "/a.txt"},
        {"text": " \n"},
        {"text": "x" * 50_001},
        {"text": "x", "category": "mood"},
        {"source_path": "relative.txt"},
        {"source_path": "/no\0where/a.txt"},
        {"source_path": str(link)},
        {"source_path": str(link.parent)},
        {"source_path": str(link.with_name("none.txt"))},
        {"source_path": str(wire.file("data.xyz"))},
        {"source_path": str(wire.file("blank.txt", "\n\n"))},
        {"source_path": str(wire.file("long.txt", "word " * 20_000))},
    ]
    errors = [wire.refused("ContextSet", **{**where, **params}) for params in refused]

    assert [error.error_code for error in errors] == ["VALIDATION_FAILED"] * len(refused)
    assert "50,001" in errors[3].message
    assert "99,999" in errors[-1].message
    assert wire.ask("ContextList", workbench_id=where["workbench_id"])["items"][2]["status"] == (
        "empty"
    )
    stage = wire.daemon.home / "workbenches" / where["workbench_id"] / "stage"
    assert list(stage.iterdir()) == []


def test_a_document_can_be_given(wire: Wired) -> None:
    """Conformance 65: its text is extracted, and the copy of it is gone."""
    workbench_id = wire.workbench()
    path = wire.file("rules.docx")
    document = docx.Document()
    document.add_paragraph("Amounts in EUR.")
    document.save(str(path))

    kept = wire.ask(
        "ContextSet", workbench_id=workbench_id, category="document-style", source_path=str(path)
    )

    assert kept["item"]["source_name"] == "rules.docx"
    got = wire.ask("ContextGet", workbench_id=workbench_id, category="document-style")
    assert got["text"] == "Amounts in EUR."
    folder = wire.daemon.home / "workbenches" / workbench_id
    assert [each for name in ("stage", "published") for each in (folder / name).iterdir()] == []


def test_items_are_told_in_three_phases_and_weigh(wire: Wired, model: Script) -> None:
    """Conformance 66: each in its block, not in the summary; much of the window is a warning."""
    workbench_id = wire.workbench(a__txt="x")
    wire.ask(
        "ContextSet", workbench_id=workbench_id, category="situation", text="An </files> audit"
    )
    kept = wire.ask(
        "ContextSet", workbench_id=workbench_id, category="company-context", text="We sell bikes"
    )
    assert kept["weight"]["estimated_tokens"] > 0
    assert kept["weight"]["share"] > 0
    assert kept["weight"]["warning"] is False

    wire.draft(workbench_id, b__txt="y")

    told = asked(model)
    for phase in ("research", "plan", "implement"):
        assert blocks(told[phase]) == [
            '<context category="company-context">', '<context category="situation">',
        ]  # fmt: skip
        assert told[phase].count("</files>") == 1
        assert '"context_items":["company-context","situation"]' in told[phase]
    assert blocks(told["no tools"]) == []
    # A draft is open now; what runs are told can be changed all the same.
    long = "\N{HORIZONTAL ELLIPSIS}" * 49_000
    wire.ask("ContextSet", workbench_id=workbench_id, category="company-context", text=long)
    kept = wire.ask("ContextSet", workbench_id=workbench_id, category="situation", text=long)
    assert kept["weight"]["share"] >= 0.35
    assert kept["weight"]["warning"] is True


def test_the_house_style_stands_alone_without_an_office_file(wire: Wired, model: Script) -> None:
    """Conformance 67, first part: a block of its own, until the words of a request ask for one."""
    workbench_id = wire.workbench(a__txt="x")
    wire.ask("ContextSet", workbench_id=workbench_id, category="document-style", text="Use Arial.")

    wire.draft(workbench_id, b__txt="y")

    assert blocks(asked(model)["research"]) == ['<context category="document-style">']
    tools = model.requests[0]["tools"]
    model.forget()
    wire.daemon.run_prompt(workbench_id, "make slides of it, and a workbook")
    assert blocks(asked(model)["research"]) == ['<style formats="pptx xlsx">']
    # Guidance takes nothing of the tools.
    assert model.requests[0]["tools"] == tools


def test_guidance_comes_with_a_format_and_the_house_style_within_it(
    wire: Wired, model: Script
) -> None:
    """Conformance 67, second part: a deck is there, whatever is in it."""
    workbench_id = wire.workbench(deck__pptx="damaged")
    wire.ask("ContextSet", workbench_id=workbench_id, category="document-style", text="Use Arial.")
    wire.draft(workbench_id, b__txt="y")
    found = asked(model)

    for phase in ("research", "plan", "implement"):
        assert blocks(found[phase]) == ['<style formats="pptx">']
        assert found[phase].index("How a good deck looks") < found[phase].index("Use Arial.")


def test_what_cannot_be_merged_or_read_is_a_notice(
    wire: Wired, model: Script, client: Client
) -> None:
    """Conformance 68: the run goes on, with what there is, and a person is told once."""
    workbench_id = wire.workbench(a__txt="x")
    style = {"workbench_id": workbench_id, "category": "document-style"}
    client.send("ContextSet", {**style, "text": "\N{HORIZONTAL ELLIPSIS}" * 40_000})
    wire.daemon.run_prompt(workbench_id, "make a workbook")
    notice = next_of(client, "WorkshopNotice")
    assert notice["error_code"] == "STYLE_MERGE_FAILED"
    assert notices(wire, workbench_id) == ["STYLE_MERGE_FAILED"]
    found = asked(model)
    assert blocks(found["implement"]) == ['<style formats="xlsx">']
    assert "\N{HORIZONTAL ELLIPSIS}" * 9 not in found["implement"]
    assert "document-style was left out" in found["no tools"]

    model.forget()
    client.send("ContextSet", {**style, "text": "Use Arial."})
    run = wire.daemon.run_prompt(workbench_id, "write a memo")
    assert run["status"] == "finished"
    assert notices(wire, workbench_id)[1:] == ["STYLE_SKILL_LOAD_FAILED"]
    assert blocks(asked(model)["implement"]) == ['<context category="document-style">']


def test_nothing_is_set_while_a_run_is_under_way(wire: Wired, model: Script) -> None:
    """It would not see it."""
    workbench_id = wire.workbench(a__txt="x")
    model.answers.clear()
    wire.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="write")
    run_id = wire.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)["run_id"]
    try:
        assert model.asked.wait(30)
        where = {"workbench_id": workbench_id, "category": "situation"}
        for method, more in (("ContextSet", {"text": "x"}), ("ContextDelete", {})):
            assert wire.refused(method, **where, **more).error_code == "VALIDATION_FAILED"
    finally:
        model.answers.set()
    assert wire.daemon.wait_for_run(run_id)["status"] == "finished"


def test_a_home_has_the_guidance_of_each_format() -> None:
    """Each file is there, short, and teaches exact values and no operation that there is not."""
    plugins = Path(__file__).parents[3] / "plugins" / "formats"
    for name in ("xlsx", "docx", "pptx"):
        text = (plugins / f"kbd_{name}" / "style.md").read_text("utf-8")
        assert 2000 < len(text.encode()) < 6000
        for heading in ("**Look**" if name != "docx" else "**Text**", "**Before you answer**"):
            assert heading in text
