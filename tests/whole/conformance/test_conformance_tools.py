"""Conformance of tools, as a model calls them and is answered: one run makes all calls."""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import pytest

from model_server import Reply, call, calls, phase_of, text
from wired import PLAN, Wired

README = "# Lies mich\n\n\tÄ  ö\n"

BOLD = {"font_bold": True, "number_format": "0.00"}
CELLS = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "A1", "value": 1, "style": BOLD}]}
WORDS = {"op": "set_paragraphs", "paragraphs": [{"text": "old words"}]}
SLIDE = {"op": "add_slide", "layout": "title_only", "title": "One"}
ASSETS = {"source_path": "a.xlsx", "target_path": "b.xlsx"}


def operations(kind: str, path: str, *wanted: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the call that makes a file by operations."""
    return f"{kind}_operations", {"path": path, "operations": list(wanted), "create_new": True}


CALLS: dict[str, tuple[str, dict[str, Any]]] = {
    "listed": ("list_files", {}),
    "read": ("read_file", {"path": "readme.md"}),
    "mapped": ("table_get_map", {"path": "a.csv"}),
    "unknown": ("no_such_tool", {}),
    "written": ("write_text_file", {"path": "output.txt", "content": "Ä\n"}),
    "words": operations(
        "docx", "a.docx", WORDS, {"op": "replace_text", "find": "old", "replace": "new"}
    ),
    "slides": operations(
        "pptx", "a.pptx", SLIDE, {"op": "set_slide_text", "slide_index": 0, "title": "Two"}
    ),
    "words_read": ("read_file", {"path": "a.docx", "section": "0"}),
    "slides_read": ("read_file", {"path": "a.pptx", "slide_index": 0}),
    "styled": operations("xlsx", "a.xlsx", CELLS),
    "plain": operations("xlsx", "b.xlsx", {"op": "ensure_sheet", "sheet": "S"}),
    "styles": ("xlsx_get_styles", {"path": "a.xlsx"}),
    "copied": ("xlsx_copy_assets", ASSETS),
    "not_copied": ("xlsx_copy_assets", {**ASSETS, "assets": ["cell_style:nowhere"]}),
}
"""What the model calls, in order; what "copied" copies is the first that "styles" lists."""


class Worked(NamedTuple):
    """What the run left behind.

    Args:
        wire: The daemon.
        workbench_id: Where.
        told: What the model was told of each call, by its name above.
        tools: The tools that it was shown, by name.
    """

    wire: Wired
    workbench_id: str
    told: Mapping[str, str]
    tools: Mapping[str, Any]


@pytest.fixture(scope="module")
def environment() -> Mapping[str, str]:
    """Room for workbooks, documents and decks."""
    return {"KBD_LIMITS_FILE_BYTES": "1000000"}


@pytest.fixture(scope="module")
def worked(wire: Wired) -> Worked:
    """One run that makes all calls."""
    told: dict[str, str] = {}

    def play(body: dict[str, Any]) -> Reply:
        match phase_of(body):
            case "plan":
                return text(PLAN)
            case "implement":
                said = [each["content"] for each in body["messages"] if each["role"] == "tool"]
                told.update(zip(CALLS, said, strict=False))
                return _next(told)
            case _:
                return text("Done.")

    wire.script.forget()
    wire.script.instead = play
    workbench_id = wire.workbench(readme__md=README, a__csv="Name,Amount\nx,1\ny,2\n")
    run = wire.daemon.run_prompt(workbench_id, "work")
    shown = [each["function"] for body in wire.script.requests for each in body.get("tools", ())]
    wire.script.forget()
    assert run["status"] == "finished", run
    assert set(told) == set(CALLS)
    return Worked(wire, workbench_id, told, {each["name"]: each for each in shown})


def _next(told: Mapping[str, str]) -> Reply:
    """Return the first call that was not made."""
    for name, (tool, arguments) in CALLS.items():
        if name not in told:
            first = json.loads(told["styles"])["assets"][0]["asset_id"] if name == "copied" else ""
            return calls(call(tool, arguments | ({"assets": [first]} if first else {}), name))
    return text("Done.")


def test_files_are_listed(worked: Worked) -> None:
    """Conformance 69: list_files tells path and kind."""
    rows = json.loads(worked.told["listed"])
    assert [(row["path"], row["kind"]) for row in rows] == [
        ("a.csv", "table"), ("readme.md", "text"),
    ]  # fmt: skip


def test_a_file_is_read_as_it_is(worked: Worked) -> None:
    """Conformance 70: read_file gives the exact text."""
    assert json.loads(worked.told["read"])["text"] == README


def test_a_file_is_written_into_the_draft(worked: Worked) -> None:
    """Conformance 71: an answer, a draft, equal content, and nothing published."""
    wire, workbench_id = worked.wire, worked.workbench_id
    assert json.loads(worked.told["written"])["path"] == "output.txt"
    assert wire.ask("DraftGetState", workbench_id=workbench_id)["has_draft"]
    named = {"workbench_id": workbench_id, "path": "output.txt", "root": "draft"}
    assert wire.ask("TextReadLines", **named)["text"] == "Ä\n"
    assert not (wire.published(workbench_id) / "output.txt").exists()


def test_an_unknown_tool_is_an_error_for_the_model(worked: Worked) -> None:
    """Conformance 72: it is told so, and its next call is carried out."""
    assert worked.told["unknown"].startswith("Error: ")
    assert "no_such_tool" in worked.told["unknown"]
    assert not worked.told["written"].startswith("Error: ")


def test_every_tool_has_a_schema(worked: Worked) -> None:
    """Conformance 73: of type function with a name, a description and an object's schema."""
    wanted = {"read_file", "table_query", "xlsx_operations", "recall_tool_result"}
    assert wanted <= set(worked.tools)
    for name, function in worked.tools.items():
        assert function["description"], name
        assert function["parameters"]["type"] == "object"
        assert function["parameters"]["additionalProperties"] is False


def test_aliases_are_taken_and_not_shown(worked: Worked) -> None:
    """Conformance 74: the schemas say search and index; find and slide_index are understood."""
    assert "new words" in worked.told["words_read"]
    assert "Two" in worked.told["slides_read"]
    words, slides = (
        set(_property_names(worked.tools[name]["parameters"]))
        for name in ("docx_operations", "pptx_operations")
    )
    assert "search" in words
    assert "index" in slides
    assert not {"find", "slide_index"} & (words | slides)


def test_a_table_is_read_without_a_draft(worked: Worked) -> None:
    """Conformance 75: table_get_map reads what is published, and opens no draft."""
    assert json.loads(worked.told["mapped"])["row_count"] == 2
    events = worked.wire.daemon.events(worked.workbench_id)
    returned = [each["seq"] for each in events if each["type"] == "ToolReturned"]
    (opened,) = (each["seq"] for each in events if each["type"] == "DraftOpened")
    assert returned[list(CALLS).index("mapped")] < opened


def test_assets_are_copied_within_the_draft(worked: Worked) -> None:
    """Conformance 79: both files are the draft's; a refusal keeps its code."""
    assert json.loads(worked.told["copied"])["copied_count"] == 1
    assert worked.told["not_copied"].startswith("Error: VALIDATION_FAILED: ")
    changes = worked.wire.changes(worked.workbench_id)
    assert {name for name in changes if name.endswith(".xlsx")} == {"a.xlsx", "b.xlsx"}
    named = {"workbench_id": worked.workbench_id, "path": "b.xlsx", "root": "draft"}
    assert "0.00" in json.dumps(worked.wire.ask("XlsxGetStyles", **named))
    assert not (worked.wire.published(worked.workbench_id) / "b.xlsx").exists()


def _property_names(schema: Any) -> Iterator[str]:
    match schema:
        case dict():
            own = schema.get("properties")
            if isinstance(own, dict):
                yield from own
            for each in schema.values():
                yield from _property_names(each)
        case list():
            for each in schema:
                yield from _property_names(each)
        case _:
            pass
