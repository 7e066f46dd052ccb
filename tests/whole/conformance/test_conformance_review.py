"""Conformance of the review: what a draft changes, compared with what, where to look first."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pptx
import pytest

from kbd.client.blocking import RemoteError
from model_server import Reply, call, calls, phase_of, text, turn_of
from wired import PLAN, Script, Wired

SUMMARY = "Both files are as you wanted them."


@pytest.fixture(scope="module")
def environment() -> Mapping[str, str]:
    """Room for workbooks, documents and decks."""
    return {"KBD_LIMITS_FILE_BYTES": "1000000"}


def run_calls(wire: Wired, workbench_id: str, *wanted: tuple[str, dict[str, Any]]) -> None:
    """Have a run make calls of tools, all in the first turn of its item."""

    def play(body: dict[str, Any]) -> Reply:
        match phase_of(body):
            case "plan":
                return text(PLAN)
            case "implement" if turn_of(body) == 0:
                made = (call(name, given, f"c{n}") for n, (name, given) in enumerate(wanted))
                return calls(*made)
            case "no tools":
                return text(SUMMARY)
            case _:
                return text("Wrote what was asked.")

    wire.script.instead = play
    try:
        run = wire.daemon.run_prompt(workbench_id, "write")
    finally:
        wire.script.forget()
    assert run["status"] == "finished", run


def row(wire: Wired, workbench_id: str, path: str) -> dict[str, Any]:
    """Return a file's entry in the change set."""
    changes = wire.ask("ReviewGetChangeSet", workbench_id=workbench_id)["changes"]
    found: dict[str, Any] = next(each for each in changes if each["path"] == path)
    return found


def focus(wire: Wired, workbench_id: str, path: str) -> Any:
    """Return where to look first in a file."""
    return row(wire, workbench_id, path)["focus_hint"]


def edit(wire: Wired, workbench_id: str, method: str, path: str, *ops: dict[str, Any]) -> None:
    """Edit a file over the socket; one that is missing is made."""
    wire.ask(method, workbench_id=workbench_id, path=path, ops=list(ops), create_if_missing=True)


def refused(wire: Wired, workbench_id: str, method: str, **params: Any) -> RemoteError:
    """Return the error of what must be refused."""
    return wire.refused(method, workbench_id=workbench_id, **params)


def test_a_draft_has_a_source_and_survives_a_restart(wire: Wired, model: Script) -> None:
    """Conformance 34: the first write opens a draft, which names the run that opened it."""
    del model
    workbench_id = wire.workbench()
    run = wire.draft(workbench_id, a__txt="new")
    before = wire.ask("DraftGetState", workbench_id=workbench_id)
    assert before["source"] == {"kind": "run", "ref": run["run_id"]}
    wire.daemon.stop()
    wire.daemon.start()
    assert wire.ask("DraftGetState", workbench_id=workbench_id) == before
    found = wire.ask("ReviewGetDiff", workbench_id=workbench_id, path="a.txt")
    assert [change["kind"] for change in found["changes"]] == ["added"]


def test_one_modified_file_is_one_change(wire: Wired, model: Script) -> None:
    """Conformance 40: exactly one, and it is "modified"."""
    del model
    workbench_id = wire.workbench(a__txt="alpha\n", b__txt="beta\n")
    wire.draft(workbench_id, a__txt="alpha!\n")
    assert wire.changes(workbench_id) == {"a.txt": "modified"}


def test_a_removed_file_is_a_deletion_with_what_it_held(wire: Wired, model: Script) -> None:
    """Conformance 41: a published file that is removed in a draft; its lines are shown as gone."""
    del model
    workbench_id = wire.workbench(a__txt="alpha\n", b__txt="beta\n")
    wire.draft(workbench_id, b__txt="beta!\n")
    wire.ask("WorkbenchFilesRemove", workbench_id=workbench_id, workbench_paths=["a.txt"])
    assert wire.changes(workbench_id) == {"a.txt": "deleted", "b.txt": "modified"}
    found = wire.ask("ReviewGetTextDiff", workbench_id=workbench_id, path="a.txt")
    assert [(each["kind"], each.get("before")) for each in found["changes"]] == [
        ("removed", "alpha\n")
    ]


def test_an_export_says_where_it_begins(wire: Wired) -> None:
    """Conformance 76: a table exported to a workbook is looked at from its first cell."""
    workbench_id = wire.workbench(a__csv="region,amount\nwest,2\n")
    export = {"path": "a.csv", "target_path": "out.xlsx", "format": "xlsx", "sheet": "Rows"}
    run_calls(wire, workbench_id, ("table_export", export))
    first = {"sheet": "Rows", "row_start": 0, "col_start": 0}
    assert focus(wire, workbench_id, "out.xlsx") == first


def test_an_update_says_where_its_rows_begin(wire: Wired) -> None:
    """Conformance 78: the first cell of the range that was written; without rows, the first."""
    workbench_id = wire.workbench(a__csv="region,amount\nwest,2\n")
    update = {
        "path": "a.csv", "target_path": "out.xlsx", "sheet": "Rows", "mode": "write_range",
        "start_cell": "C4",
    }  # fmt: skip
    run_calls(wire, workbench_id, ("table_update_from_export", update))
    first = {"sheet": "Rows", "row_start": 3, "col_start": 2}
    assert focus(wire, workbench_id, "out.xlsx") == first
    nothing = {**update, "query": "select * from data where false", "include_header": False}
    run_calls(wire, workbench_id, ("table_update_from_export", {**nothing, "sheet": "None"}))
    assert focus(wire, workbench_id, "out.xlsx") == {
        "sheet": "None", "row_start": 0, "col_start": 0,
    }  # fmt: skip


def test_a_new_slide_is_looked_at(wire: Wired) -> None:
    """Conformance 80: the slide that makes a deck one of four has the index 3."""
    workbench_id = wire.workbench()
    slide = {"op": "add_slide", "layout": "title_only", "title": "One"}
    edit(wire, workbench_id, "PptxApplyOps", "a.pptx", slide, slide, slide)
    assert focus(wire, workbench_id, "a.pptx") == {"slide_index": 0}
    edit(wire, workbench_id, "PptxApplyOps", "a.pptx", slide)
    assert focus(wire, workbench_id, "a.pptx") == {"slide_index": 3}


def test_the_last_call_says_where_to_look(wire: Wired) -> None:
    """Conformance 81: of two calls the last; of one about a sheet the sheet alone."""
    workbench_id = wire.workbench()
    cells = {"op": "set_cells", "sheet": "S", "cells": [{"cell": "C7", "value": 1}]}
    sheet = {"op": "ensure_sheet", "sheet": "T"}
    run_calls(
        wire, workbench_id,
        ("xlsx_operations", {"path": "a.xlsx", "operations": [sheet, cells], "create_new": True}),
        ("xlsx_operations", {"path": "b.xlsx", "operations": [cells], "create_new": True}),
        ("xlsx_operations", {"path": "b.xlsx", "operations": [sheet]}),
    )  # fmt: skip
    assert focus(wire, workbench_id, "a.xlsx") == {"sheet": "S", "row_start": 6, "col_start": 2}
    assert focus(wire, workbench_id, "b.xlsx") == {"sheet": "T"}


def test_the_runs_words_are_in_the_change_set(wire: Wired) -> None:
    """Conformance 102: the final text is the draft's summary; a file has that of its item."""
    workbench_id = wire.workbench(a__txt="alpha\n")
    written = {"path": "a.txt", "content": "beta\n"}
    run_calls(wire, workbench_id, ("write_text_file", written))
    found = wire.ask("ReviewGetChangeSet", workbench_id=workbench_id)
    assert found["draft_summary"] == SUMMARY
    assert found["changes"][0]["summary"] == "Wrote what was asked."


def test_a_summary_of_categories_is_looked_at(wire: Wired) -> None:
    """Conformance 103: `summarize_by_category` points to the sheet that it made."""
    workbench_id = wire.workbench()
    rows = {
        "op": "set_range", "sheet": "Q1", "start": "A1",
        "values": [["Category", "Amount"], ["Software", 49.99]],
    }  # fmt: skip
    summary = {
        "op": "summarize_by_category", "sheet": "Annual", "source_sheets": ["Q1"],
        "category_col": "A", "amount_col": "B", "category_header": "Category",
    }  # fmt: skip
    wanted = {"path": "a.xlsx", "operations": [rows], "create_new": True}
    again = {"path": "a.xlsx", "operations": [summary]}
    run_calls(wire, workbench_id, ("xlsx_operations", wanted), ("xlsx_operations", again))
    assert focus(wire, workbench_id, "a.xlsx")["sheet"] == "Annual"


def test_a_draft_is_compared_with_what_was_there_when_it_began(wire: Wired, model: Script) -> None:
    """Conformance 104: although a file of that name was published anew meanwhile."""
    del model
    workbench_id = wire.workbench(a__txt="alpha\nbeta\n")
    wire.draft(workbench_id, a__txt="alpha\ngamma\n")
    found = wire.ask("ReviewGetTextDiff", workbench_id=workbench_id, path="a.txt")
    assert found["reference_source"] == "draft_start_snapshot"
    assert found["reference_label"] == "Reference (Draft start)"
    assert not found["baseline_missing"]
    assert "reference_warning" not in found


def lose(wire: Wired, workbench_id: str, content: str) -> Path:
    """Take the blob that holds a content away, and return where it lay."""
    blobs = wire.published(workbench_id).parent / "blobs"
    found = next(
        path
        for path in blobs.rglob("*")
        if path.is_file() and path.read_bytes() == content.encode()
    )
    found.unlink()
    return found


def test_a_lost_reference_falls_back_to_what_is_published(wire: Wired, model: Script) -> None:
    """Conformance 105: it says so, and shows lines; with nothing published it is shown whole."""
    del model
    workbench_id = wire.workbench(a__txt="alpha\nlost one\n")
    wire.draft(workbench_id, a__txt="alpha\ngamma\n")
    lose(wire, workbench_id, "alpha\nlost one\n")
    found = wire.ask("ReviewGetTextDiff", workbench_id=workbench_id, path="a.txt")
    assert found["reference_source"] == "published_current_fallback"
    assert found["reference_label"] == "Published (current preview)"
    assert found["baseline_missing"]
    assert found["reference_warning"]
    assert "baseline" not in found["reference_warning"]
    assert [line["kind"] for line in found["hunks"][0]["lines"]] == ["context", "removed", "added"]
    (wire.published(workbench_id) / "a.txt").unlink()
    found = wire.ask("ReviewGetTextDiff", workbench_id=workbench_id, path="a.txt")
    assert found["reference_source"] == "none"
    assert [(each["kind"], each["after"]) for each in found["changes"]] == [
        ("added", "alpha\ngamma\n")
    ]


def test_one_unreadable_file_spares_the_others(wire: Wired, model: Script) -> None:
    """Conformance 106: a workbook that is none is told by its size; the next is compared."""
    del model
    workbench_id = wire.workbench(bad__xlsx="no workbook", a__txt="alpha\n")
    wire.draft(workbench_id, a__txt="beta\n")
    sheet = {"op": "ensure_sheet", "sheet": "S"}
    refused(wire, workbench_id, "XlsxApplyOps", path="bad.xlsx", ops=[sheet])
    wire.ask("WorkbenchFilesRemove", workbench_id=workbench_id, workbench_paths=["bad.xlsx"])
    broken = wire.ask("ReviewGetXlsxDiff", workbench_id=workbench_id, path="bad.xlsx")
    assert [each["what"] for each in broken["changes"]] == ["file"]
    assert broken["changes"][0]["before"]["size_bytes"] == len("no workbook")
    assert broken["warnings"]
    sound = wire.ask("ReviewGetDiff", workbench_id=workbench_id, path="a.txt")
    assert sound["reference_source"] == "draft_start_snapshot"
    assert sound["hunks"]


def test_each_format_says_where_its_edit_began(wire: Wired) -> None:
    """Conformance 107: a range's first cell, a document's section, a deck's lowest slide."""
    workbench_id = wire.workbench()
    area = {"op": "set_range", "sheet": "Summary", "start": "B2", "values": [[1, 2], [3, 4]]}
    edit(wire, workbench_id, "XlsxApplyOps", "a.xlsx", area)
    first = {"sheet": "Summary", "row_start": 1, "col_start": 1}
    assert focus(wire, workbench_id, "a.xlsx") == first
    paragraph = {"op": "append_paragraph", "text": "one"}
    edit(wire, workbench_id, "DocxApplyOps", "a.docx", paragraph)
    assert focus(wire, workbench_id, "a.docx") == {"section_index": 0}
    slide = {"op": "add_slide", "layout": "title_only", "title": "One"}
    edit(wire, workbench_id, "PptxApplyOps", "a.pptx", slide, slide, slide)
    notes = [{"op": "set_notes", "index": index, "text": "n"} for index in (2, 1)]
    edit(wire, workbench_id, "PptxApplyOps", "a.pptx", *notes)
    assert focus(wire, workbench_id, "a.pptx") == {"slide_index": 1}


def test_lines_of_a_text_are_compared(wire: Wired, model: Script) -> None:
    """Conformance 108: alpha, beta against alpha, gamma: at least one line gone, and one new."""
    del model
    workbench_id = wire.workbench(a__txt="alpha\nbeta\n")
    wire.draft(workbench_id, a__txt="alpha\ngamma\n")
    found = wire.ask("ReviewGetTextDiff", workbench_id=workbench_id, path="a.txt")
    lines = [(each["kind"], each["text"]) for hunk in found["hunks"] for each in hunk["lines"]]
    assert ("removed", "beta") in lines
    assert ("added", "gamma") in lines


@pytest.mark.parametrize(
    "method",
    [
        "ReviewGetDiff", "ReviewGetTextDiff", "ReviewGetTableDiff", "ReviewGetXlsxDiff",
        "ReviewGetDocxContentDiff", "ReviewGetPptxContentDiff",
    ],
)  # fmt: skip
def test_without_a_draft_there_is_nothing_to_review(wire: Wired, method: str) -> None:
    """Conformance 109: VALIDATION_FAILED "draft not found", by each method."""
    workbench_id = wire.workbench(a__txt="alpha\n")
    error = refused(wire, workbench_id, method, path="a.txt")
    assert error.data["error_code"] == "VALIDATION_FAILED"
    assert "draft not found" in error.message


def test_a_grid_shows_a_merged_range_once(wire: Wired, tmp_path: Path) -> None:
    """Conformance 112: of merged A1:B1 the value stands in A1, and B1 is null."""
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    sheet["A1"], sheet["A2"], sheet["B2"] = "Title", 1, 2
    sheet.merge_cells("A1:B1")
    book.save(tmp_path / "m.xlsx")
    workbench_id = wire.workbench()
    wire.add(workbench_id, tmp_path / "m.xlsx")
    found = wire.ask("ReviewGetXlsxPreviewGrid", workbench_id=workbench_id, path="m.xlsx")
    assert found["rows"][0] == ["Title", None]
    assert found["rows"][1] == ["1", "2"]


def test_what_a_comparison_of_each_format_answers(wire: Wired, tmp_path: Path) -> None:
    """Contract 12: place, kind, before, after and who made it, by the method of the format."""
    book = openpyxl.Workbook()
    book.active["B7"] = 341.6  # type: ignore[index]
    book.save(tmp_path / "a.xlsx")
    document = docx.Document()
    document.add_table(1, 2).cell(0, 1).text = "341.60"
    document.save(str(tmp_path / "a.docx"))
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    assert slide.shapes.title is not None
    slide.shapes.title.text = "341.60"
    deck.save(str(tmp_path / "a.pptx"))
    shutil.copy(wire.file("a.csv", "id,amount\n1,10\n2,341.60\n"), tmp_path)
    workbench_id = wire.workbench()
    names = ["a.xlsx", "a.docx", "a.pptx", "a.csv"]
    wire.add(workbench_id, *(tmp_path / name for name in names))
    cell = {"op": "set_cells", "sheet": "Sheet", "cells": [{"cell": "B7", "value": 314.6}]}
    inner = {"op": "set_table_cells", "table": 0, "cells": [{"row": 0, "col": 1, "text": "314.60"}]}
    title = {"op": "set_slide_text", "index": 0, "title": "314.60"}
    run_calls(
        wire, workbench_id,
        ("xlsx_operations", {"path": "a.xlsx", "operations": [cell]}),
        ("docx_operations", {"path": "a.docx", "operations": [inner]}),
        ("pptx_operations", {"path": "a.pptx", "operations": [title]}),
        ("write_text_file", {"path": "a.csv", "content": "id,amount\n1,10\n2,314.60\n"}),
    )  # fmt: skip
    expected = {
        "ReviewGetXlsxDiff": ("a.xlsx", {"sheet": "Sheet", "cell": "B7"}, 341.6, 314.6),
        "ReviewGetDocxContentDiff": (
            "a.docx", {"section": 0, "table": 0, "row": 0, "column": 1}, "341.60", "314.60",
        ),
        "ReviewGetPptxContentDiff": ("a.pptx", {"slide": 0}, "341.60", "314.60"),
        "ReviewGetTableDiff": ("a.csv", {"row": 2, "column": "amount"}, "341.60", "314.60"),
    }  # fmt: skip
    for method, (path, place, before, after) in expected.items():
        found = wire.ask(method, workbench_id=workbench_id, path=path)
        (change,) = (each for each in found["changes"] if each.get("after") == after)
        assert found["total"] == 1, found
        assert place.items() <= change["place"].items()
        assert (change["before"], change["kind"]) == (before, "changed")
        assert change["made_by"]["run_id"] == f"{workbench_id}-1"
        assert change["made_by"]["item"] == 1
        assert change["made_by"]["tool"].endswith(("_operations", "write_text_file"))
        assert found == wire.ask("ReviewGetDiff", workbench_id=workbench_id, path=path)
        assert not wire.ask(method, workbench_id=workbench_id, path=path, offset=1)["changes"]
