"""Conformance of tools, as a model calls them and is answered."""

import json
from collections.abc import Mapping
from typing import Any

import pytest

from model_server import Reply, call, calls, phase_of, text, turn_of
from wired import PLAN, Script, Wired


@pytest.fixture(scope="module")
def environment() -> Mapping[str, str]:
    """Room for workbooks, documents and decks."""
    return {"KBD_LIMITS_FILE_BYTES": "1000000"}


def told(wire: Wired, model: Script, workbench_id: str, *wanted: dict[str, Any]) -> list[str]:
    """Have the model make calls in the one item of its plan; return what it is told of each."""
    seen: list[str] = []

    def play(body: dict[str, Any]) -> Reply:
        match phase_of(body):
            case "plan":
                return text(PLAN)
            case "implement":
                said = [each["content"] for each in body["messages"] if each["role"] == "tool"]
                seen[:] = said or seen
                turn = turn_of(body)
                return calls(wanted[turn]) if turn < len(wanted) else text("Done.")
            case _:
                return text("Done.")

    model.instead = play
    run = wire.daemon.run_prompt(workbench_id, "work")
    assert run["status"] == "finished", run
    assert len(seen) == len(wanted)
    return seen


def draft_of(wire: Wired, workbench_id: str, name: str) -> bytes:
    """Return a file of the draft."""
    return (wire.published(workbench_id).parent / "draft" / name).read_bytes()


def test_files_are_listed(wire: Wired, model: Script) -> None:
    """Conformance 69: list_files tells path and kind."""
    workbench_id = wire.workbench(test__txt="x")
    (listed,) = told(wire, model, workbench_id, call("list_files", {}))
    found = json.loads(listed)
    rows = found if isinstance(found, list) else found["files"]
    assert [(row["path"], row["kind"]) for row in rows] == [("test.txt", "text")]


def test_a_file_is_read_as_it_is(wire: Wired, model: Script) -> None:
    """Conformance 70: read_file gives the exact text."""
    content = "# Lies mich\n\n\tÄ  ö\n"
    workbench_id = wire.workbench(readme__md=content)
    (read,) = told(wire, model, workbench_id, call("read_file", {"path": "readme.md"}))
    assert json.loads(read)["text"] == content


def test_a_file_is_written_into_the_draft(wire: Wired, model: Script) -> None:
    """Conformance 71: an answer, a draft, equal content, and nothing published."""
    workbench_id = wire.workbench()
    wanted = call("write_text_file", {"path": "output.txt", "content": "Ä\n"})
    (written,) = told(wire, model, workbench_id, wanted)
    assert json.loads(written)["path"] == "output.txt"
    assert wire.ask("DraftGetState", workbench_id=workbench_id)["has_draft"]
    assert draft_of(wire, workbench_id, "output.txt").decode() == "Ä\n"
    assert not (wire.published(workbench_id) / "output.txt").exists()


def test_an_unknown_tool_is_an_error_for_the_model(wire: Wired, model: Script) -> None:
    """Conformance 72: it is told so, and its next call is carried out."""
    workbench_id = wire.workbench()
    write = call("write_text_file", {"path": "a.txt", "content": "x"})
    failed, written = told(wire, model, workbench_id, call("no_such_tool", {}), write)
    assert failed.startswith("Error: ")
    assert "no_such_tool" in failed
    assert not written.startswith("Error: ")


def test_every_tool_has_a_schema(wire: Wired, model: Script) -> None:
    """Conformance 73: JSON of type function with a name, a description and an object's schema."""
    told(wire, model, wire.workbench())
    tools = {each["function"]["name"]: each for body in model.requests for each in _tools(body)}
    assert {"read_file", "table_query", "xlsx_operations", "recall_tool_result"} <= set(tools)
    for name, tool in tools.items():
        assert set(tool) == {"type", "function"}, name
        assert tool["type"] == "function"
        function = tool["function"]
        assert function["description"]
        assert function["parameters"]["type"] == "object"
        assert function["parameters"]["additionalProperties"] is False


def test_aliases_are_taken_and_not_shown(wire: Wired, model: Script) -> None:
    """Conformance 74: the schemas say search and index; find and slide_index are understood."""
    workbench_id = wire.workbench()
    paragraphs = {"op": "set_paragraphs", "paragraphs": [{"text": "old words"}]}
    replace = {"op": "replace_text", "find": "old", "replace": "new"}
    slide = {"op": "add_slide", "layout": "title_only", "title": "One"}
    retitle = {"op": "set_slide_text", "slide_index": 0, "title": "Two"}
    found = told(
        wire, model, workbench_id,
        _operations("docx", "a.docx", paragraphs, replace),
        _operations("pptx", "a.pptx", slide, retitle),
        call("read_file", {"path": "a.docx", "section": "0"}),
        call("read_file", {"path": "a.pptx", "slide_index": 0}),
    )  # fmt: skip
    assert not [each for each in found if each.startswith("Error: ")], found
    assert "new words" in found[2]
    assert "Two" in found[3]
    names = {
        each["function"]["name"]: set(_property_names(each["function"]["parameters"]))
        for body in model.requests
        for each in _tools(body)
    }
    assert "search" in names["docx_operations"]
    assert "find" not in names["docx_operations"]
    assert "index" in names["pptx_operations"]
    assert "slide_index" not in names["pptx_operations"]


def test_a_table_is_read_without_a_draft(wire: Wired, model: Script) -> None:
    """Conformance 75: table_get_map reads what is published, and opens no draft."""
    workbench_id = wire.workbench(a__csv="Name,Amount\nx,1\ny,2\n")
    (found,) = told(wire, model, workbench_id, call("table_get_map", {"path": "a.csv"}))
    assert json.loads(found)["row_count"] == 2
    assert wire.ask("DraftGetState", workbench_id=workbench_id) == {"has_draft": False}


def test_assets_are_copied_within_the_draft(wire: Wired, model: Script) -> None:
    """Conformance 79: a draft is opened and both files are its own; a refusal keeps its code."""
    workbench_id = wire.workbench()
    bold = {"style": {"font_bold": True, "number_format": "0.00"}}
    cells = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "A1", "value": 1, **bold}]}
    sheet = {"op": "ensure_sheet", "sheet": "S"}
    made = [_operations("xlsx", "a.xlsx", cells), _operations("xlsx", "b.xlsx", sheet)]
    *_, styles = told(wire, model, workbench_id, *made, call("xlsx_get_styles", {"path": "a.xlsx"}))
    asset = json.loads(styles)["assets"][0]["asset_id"]
    named = {"source_path": "a.xlsx", "target_path": "b.xlsx"}
    copied, refused = told(
        wire, model, workbench_id,
        call("xlsx_copy_assets", {**named, "assets": [asset]}),
        call("xlsx_copy_assets", {**named, "assets": ["cell_style:nowhere"]}),
    )  # fmt: skip
    assert json.loads(copied)["copied_count"] == 1
    assert refused.startswith("Error: VALIDATION_FAILED: ")
    assert wire.changes(workbench_id) == {"a.xlsx": "added", "b.xlsx": "added"}
    assert list(wire.published(workbench_id).iterdir()) == []


def _operations(kind: str, path: str, *operations: dict[str, Any]) -> dict[str, Any]:
    wanted = {"path": path, "operations": list(operations), "create_new": True}
    return call(f"{kind}_operations", wanted)


def _tools(body: dict[str, Any]) -> list[dict[str, Any]]:
    tools: list[dict[str, Any]] = body.get("tools", [])
    return tools


def _property_names(schema: Any) -> list[str]:
    match schema:
        case dict():
            own = schema.get("properties")
            names = list(own) if isinstance(own, dict) else []
            return names + [name for each in schema.values() for name in _property_names(each)]
        case list():
            return [name for each in schema for name in _property_names(each)]
        case _:
            return []
