"""A draft rebased over the socket, on what somebody did in published/ with another program."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import docx
import openpyxl
import pytest
from openpyxl.comments import Comment
from openpyxl.formatting.formatting import ConditionalFormattingList
from openpyxl.formatting.rule import Rule
from openpyxl.worksheet.datavalidation import DataValidation
from openpyxl.worksheet.formula import ArrayFormula

from backends import mostly
from wired import Wired, wired

ROWS = 20


@pytest.fixture(scope="module", params=mostly("asyncio"))
def bench(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param), more={"KBD_LIMITS_FILE_BYTES": "1000000"}) as running:
        yield running


@pytest.fixture(autouse=True)
def _fresh(bench: Wired) -> None:
    bench.script.forget()


def _book(bench: Wired) -> str:
    """Make a workbench with a workbook: names, numbers, formulas."""
    path = bench.file("book.xlsx")
    book = openpyxl.Workbook()
    sheet = book.create_sheet("Data")
    del book["Sheet"]
    for row in range(1, ROWS + 1):
        sheet.append([f"name {row}", row, row * 2])
    book.save(path)
    return bench.daemon.workbench(path)


def _set(bench: Wired, wb: str, **cells: Any) -> None:
    """Edit the draft as a client does."""
    settings = [{"cell": cell, "value": value} for cell, value in cells.items()]
    edit = {"op": "set_cells", "sheet": "Data", "cells": settings}
    bench.ask("XlsxApplyOps", workbench_id=wb, path="book.xlsx", ops=[edit])


def _beside(bench: Wired, wb: str, *, inserted: int = 0, **cells: Any) -> None:
    """Change published/ beside kbd."""
    path = bench.published(wb) / "book.xlsx"
    book = openpyxl.load_workbook(path)
    for cell, value in cells.items():
        book["Data"][cell] = value
    if inserted:
        book["Data"].insert_rows(inserted)
        book["Data"].cell(inserted, 1, "a row of somebody's")
    book.save(path)


def _cells(path: Path) -> dict[str, Any]:
    """Return all that a workbook's sheet holds."""
    sheet = openpyxl.load_workbook(path)["Data"]
    return {cell.coordinate: cell.value for row in sheet for cell in row if cell.value is not None}


def _types(bench: Wired, wb: str) -> list[str]:
    return [event["type"] for event in bench.daemon.events(wb)]


def _differing(bench: Wired, wb: str) -> dict[str, tuple[Any, Any]]:
    found = bench.ask("ReviewGetXlsxDiff", workbench_id=wb, path="book.xlsx")
    return {
        each["place"]["title"]: (each.get("before"), each.get("after")) for each in found["changes"]
    }


def test_edits_are_applied_again_where_somebody_changed_other_cells(bench: Wired) -> None:
    """The publish is refused and says what helps; the new draft differs by its edits alone."""
    wb = _book(bench)
    _set(bench, wb, B3=99, C25="below")
    _set(bench, wb, A10="renamed")
    before = bench.ask("DraftGetState", workbench_id=wb)["draft_id"]
    _beside(bench, wb, C7="theirs")
    refused = bench.refused("DraftPublish", workbench_id=wb)

    assert refused.data["error_code"] == "CONFLICT_PUBLISHED_CHANGED"
    assert "rebase" in refused.data["actions"][0]
    done = bench.ask("DraftRebase", workbench_id=wb)
    assert done["rebased"] == [{"path": "book.xlsx", "calls": 2, "in_draft": True}]
    assert (done["conflicts"], done["unchanged"]) == ([], [])
    assert bench.ask("DraftGetState", workbench_id=wb)["draft_id"] == done["draft_id"] != before
    assert _differing(bench, wb) == {
        "Data!B3": (3, 99), "Data!A10": ("name 10", "renamed"), "Data!C25": (None, "below"),
    }  # fmt: skip
    bench.ask("DraftPublish", workbench_id=wb)
    cells = _cells(bench.published(wb) / "book.xlsx")
    assert [cells[cell] for cell in ("B3", "C25", "A10", "C7")] == [
        99, "below", "renamed", "theirs",
    ]  # fmt: skip
    assert bench.ask("LogVerify", workbench_id=wb)["ok"]


def test_who_made_an_edit_is_told_behind_a_rebase(bench: Wired) -> None:
    """Blame names the call that was first made, and what somebody did beside kbd as theirs."""
    wb = _book(bench)
    _set(bench, wb, B3=99)
    _beside(bench, wb, C7="theirs")
    bench.ask("DraftRebase", workbench_id=wb)
    events = bench.daemon.events(wb)
    called = next(each for each in events if each["type"] == "ToolCalled")
    again = [each for each in events if each["data"].get("repeats")]

    assert [each["data"]["repeats"] for each in again] == [called["seq"]]
    chain = bench.ask("ReviewGetBlame", workbench_id=wb, path="book.xlsx", place="Data!B3")
    newest = chain["chain"][0]
    assert (newest["kind"], newest["call_id"]) == ("client_call", called["data"]["call_id"])
    assert chain["complete"]
    theirs = bench.ask("ReviewGetBlame", workbench_id=wb, path="book.xlsx", place="Data!C7")
    assert [step["kind"] for step in theirs["chain"]] == ["adopted", "added"]


def test_edits_go_along_with_rows_that_somebody_inserted(bench: Wired) -> None:
    """Addresses and formulas are those of the same cells, wherever they stand now."""
    wb = _book(bench)
    _set(bench, wb, B3=99, C10="=SUM(B1:B9)", C25="below")
    _beside(bench, wb, inserted=5)
    done = bench.ask("DraftRebase", workbench_id=wb)

    assert done["conflicts"] == []
    bench.ask("DraftPublish", workbench_id=wb)
    cells = _cells(bench.published(wb) / "book.xlsx")
    wanted = {
        "A5": "a row of somebody's", "B3": 99, "C11": "=SUM(B1:B10)", "A11": "name 10",
        "C26": "below",
    }  # fmt: skip
    assert {cell: cells.get(cell) for cell in wanted} == wanted
    assert "C10" in cells
    assert cells["C10"] == 18


def test_rows_of_the_draft_go_along_with_rows_of_somebody(bench: Wired) -> None:
    """Operations behind rows that the draft puts in count as the sheet is then, there too."""
    wb = _book(bench)
    new = {"op": "set_cells", "sheet": "Data", "cells": [{"cell": "A10", "value": "new"}]}
    rows = {"op": "insert_rows", "sheet": "Data", "row": 10}
    bench.ask("XlsxApplyOps", workbench_id=wb, path="book.xlsx", ops=[rows, new])
    _set(bench, wb, B15=99)
    _beside(bench, wb, inserted=5)
    done = bench.ask("DraftRebase", workbench_id=wb)

    assert done["conflicts"] == []
    bench.ask("DraftPublish", workbench_id=wb)
    cells = _cells(bench.published(wb) / "book.xlsx")
    wanted = {"A5": "a row of somebody's", "A11": "new", "A12": "name 10", "B16": 99}
    assert {cell: cells.get(cell) for cell in wanted} == wanted


def test_conflicts_are_named_and_nothing_is_done(bench: Wired) -> None:
    """With what was there, what the draft made of it, what is published, and who made it."""
    wb = _book(bench)
    _set(bench, wb, B3=99, B4=98, C25="below")
    _set(bench, wb, A10="renamed", C12=7)
    _beside(bench, wb, B3=100, A10="renamed", C25="theirs", C7="theirs", C12=None)
    before, events = bench.ask("DraftGetState", workbench_id=wb), _types(bench, wb)
    done = bench.ask("DraftRebase", workbench_id=wb)

    assert done["draft_id"] == before["draft_id"]
    assert done["rebased"] == []
    found = {
        each["place"]["title"]: (each["before"], each["ours"], each["theirs"])
        for each in done["conflicts"]
    }
    # Of A10 both made the same.
    assert found == {
        "Data!B3": (3, 99, 100), "Data!C12": (24, 7, None), "Data!C25": (None, "below", "theirs"),
    }  # fmt: skip
    seqs = [
        each["seq"] for each in bench.daemon.events(wb) if each["type"] == "FileChanged"
    ]  # fmt: skip
    made = {each["place"]["title"]: each.get("seq") for each in done["conflicts"]}
    assert made["Data!B3"] == seqs[0]
    assert made["Data!C12"] == seqs[1]
    assert bench.ask("DraftGetState", workbench_id=wb) == before
    assert _types(bench, wb) == events


def test_a_draft_that_nobody_disturbed_stays(bench: Wired) -> None:
    """Nothing is recorded, and no other draft is made."""
    wb = _book(bench)
    _set(bench, wb, B3=99)
    draft_id = bench.ask("DraftGetState", workbench_id=wb)["draft_id"]
    done = bench.ask("DraftRebase", workbench_id=wb)

    assert done == {
        "draft_id": draft_id, "rebased": [], "conflicts": [], "unchanged": ["book.xlsx"],
    }  # fmt: skip
    assert "DraftRebased" not in _types(bench, wb)


def test_what_both_did_is_no_part_of_the_draft_any_more(bench: Wired) -> None:
    """Equal bytes, or a file that both removed: the draft is closed if that was all."""
    wb = _book(bench)
    _set(bench, wb, B3=99)
    drafted = bench.daemon.home / "workbenches" / wb / "draft" / "book.xlsx"
    (bench.published(wb) / "book.xlsx").write_bytes(drafted.read_bytes())
    done = bench.ask("DraftRebase", workbench_id=wb)

    assert done["draft_id"] is None
    assert done["rebased"] == [{"path": "book.xlsx", "calls": 0, "in_draft": False}]
    assert not bench.ask("DraftGetState", workbench_id=wb)["has_draft"]
    assert not drafted.exists()


def test_a_removal_against_a_change_is_a_conflict_of_the_file(bench: Wired) -> None:
    """Either way, and for a file that both added."""
    wb = bench.workbench(a__txt="one\n", b__txt="one\n")
    bench.draft(wb, a__txt="two\n", new__txt="ours\n")
    bench.ask("WorkbenchFilesRemove", workbench_id=wb, workbench_paths=["b.txt"])
    published = bench.published(wb)
    (published / "a.txt").unlink()
    (published / "b.txt").write_text("changed\n")
    (published / "new.txt").write_text("theirs\n")
    done = bench.ask("DraftRebase", workbench_id=wb)

    assert {each["path"]: each["reason"] for each in done["conflicts"]} == {
        "a.txt": "the draft changed the file, somebody else removed it",
        "b.txt": "the draft deletes the file, somebody else changed it",
        "new.txt": "the draft added the file, somebody else added another one",
    }
    assert bench.changes(wb) == {"a.txt": "modified", "b.txt": "deleted", "new.txt": "added"}


def test_a_link_in_published_is_not_followed(bench: Wired) -> None:
    """What it leads to never becomes a version of the file."""
    wb = _book(bench)
    _set(bench, wb, B3=99)
    path = bench.published(wb) / "book.xlsx"
    secret = bench.file("secret.xlsx", "secret")
    path.unlink()
    path.symlink_to(secret)

    assert bench.refused("DraftRebase", workbench_id=wb).data["error_code"] == "SANDBOX_VIOLATION"
    assert "FileAdopted" not in _types(bench, wb)


def test_a_link_hinders_no_other_file(bench: Wired) -> None:
    """What is not asked for is not read, whatever somebody put in its place."""
    wb = bench.workbench(a__txt="one\ntwo\n", b__txt="one\n")
    bench.draft(wb, a__txt="one\nours\n", b__txt="ours\n")
    published = bench.published(wb)
    (published / "a.txt").write_text("theirs\none\ntwo\n")
    (published / "b.txt").unlink()
    (published / "b.txt").symlink_to(bench.file("secret.txt", "secret"))
    done = bench.ask("DraftRebase", workbench_id=wb, paths=["a.txt"])

    assert [each["path"] for each in done["rebased"]] == ["a.txt"]
    bench.ask("DraftPublish", workbench_id=wb, paths=["a.txt"])
    assert (published / "a.txt").read_text() == "theirs\none\nours\n"
    assert (published / "b.txt").is_symlink()


def test_edits_go_along_with_a_sheet_that_somebody_renamed(bench: Wired) -> None:
    """Its cells are the same ones under the new name; what both changed there is a conflict."""
    wb = _book(bench)
    _set(bench, wb, B3=99, E1="=SUM(B1:B9)")
    path = bench.published(wb) / "book.xlsx"
    book = openpyxl.load_workbook(path)
    book["Data"].title = "Renamed"
    book["Renamed"]["C7"] = "theirs"
    book.save(path)
    assert bench.ask("DraftRebase", workbench_id=wb)["conflicts"] == []
    bench.ask("DraftPublish", workbench_id=wb)
    sheet = openpyxl.load_workbook(path)["Renamed"]

    assert [sheet[cell].value for cell in ("B3", "E1", "C7")] == [99, "=SUM(B1:B9)", "theirs"]
    edit = {"op": "set_cells", "sheet": "Renamed", "cells": [{"cell": "B4", "value": 1}]}
    bench.ask("XlsxApplyOps", workbench_id=wb, path="book.xlsx", ops=[edit])
    book = openpyxl.load_workbook(path)
    book["Renamed"].title = "Data"
    book["Data"]["B4"] = 2
    book.save(path)
    found = bench.ask("DraftRebase", workbench_id=wb)["conflicts"]
    assert [(each["place"]["cell"], each["ours"], each["theirs"]) for each in found] == [
        ("B4", 1, 2)
    ]


def test_a_call_that_read_what_somebody_changed_is_a_conflict(bench: Wired) -> None:
    """What it took from the other file, it took from a version that is no longer the one there."""
    paths = [bench.file(name) for name in ("book.xlsx", "other.xlsx")]
    for path in paths:
        book = openpyxl.Workbook()
        sheet = book.create_sheet("Data")
        del book["Sheet"]
        sheet.append(["name", 1, 2])
        if path.name == "other.xlsx":
            sheet.column_dimensions["A"].width = 33
        book.save(path)
    wb = bench.daemon.workbench(*paths)
    edit = {"op": "set_cells", "sheet": "Data", "cells": [{"cell": "B1", "value": 7}]}
    bench.ask("XlsxApplyOps", workbench_id=wb, path="other.xlsx", ops=[edit])
    bench.ask(
        "XlsxCopyAssets", workbench_id=wb, source_path="other.xlsx", target_path="book.xlsx",
        assets=["column_widths:Data"],
    )  # fmt: skip
    for path in paths:
        published = bench.published(wb) / path.name
        book = openpyxl.load_workbook(published)
        book["Data"]["C1"] = "theirs"
        book.save(published)
    found = bench.ask("DraftRebase", workbench_id=wb)["conflicts"]

    assert [(each["path"], each["reason"]) for each in found] == [
        ("book.xlsx", "the call read other.xlsx, which somebody changed, too")
    ]


def test_what_lies_on_cells_may_be_taken_away_by_somebody(bench: Wired) -> None:
    """A filter, a rule, a comment: the cells below are not gone, and the draft's edits stay."""
    path = bench.file("book.xlsx")
    book = openpyxl.Workbook()
    sheet = book.create_sheet("Data")
    del book["Sheet"]
    for row in range(1, ROWS + 1):
        sheet.append([f"name {row}", row, row * 2])
    sheet.auto_filter.ref = f"A1:C{ROWS}"
    small = Rule(type="cellIs", operator="lessThan", formula=["3"])
    sheet.conditional_formatting.add("B1:B9", small)
    rule = DataValidation(type="whole", operator="greaterThan", formula1="0")
    rule.add("B1:B9")
    sheet.add_data_validation(rule)
    sheet["B3"].comment = Comment("why?", "somebody")
    sheet.protection.sheet = True
    sheet.page_setup.orientation = "landscape"
    book.save(path)
    wb = bench.daemon.workbench(path)
    _set(bench, wb, B3=99)
    published = bench.published(wb) / "book.xlsx"
    book = openpyxl.load_workbook(published)
    sheet = book["Data"]
    sheet.auto_filter.ref = None
    sheet.conditional_formatting = ConditionalFormattingList()
    sheet.data_validations.dataValidation = []
    sheet["B3"].comment = None
    sheet.protection.sheet = False
    sheet.page_setup.orientation = None
    book.save(published)

    assert bench.ask("DraftRebase", workbench_id=wb)["conflicts"] == []
    bench.ask("DraftPublish", workbench_id=wb)
    sheet = openpyxl.load_workbook(published)["Data"]
    assert (sheet["B3"].value, sheet["B3"].comment, sheet.auto_filter.ref) == (99, None, None)
    assert not list(sheet.conditional_formatting)
    assert not sheet.data_validations.dataValidation


def test_a_total_of_what_somebody_changed_is_a_conflict(bench: Wired) -> None:
    """Made again it says another thing than what was reviewed, though it is new in the draft."""
    wb = _book(bench)
    totals = {
        "op": "summarize_by_category", "sheet": "Totals", "source_sheets": ["Data"],
        "category_col": "A", "amount_col": "B",
    }  # fmt: skip
    bench.ask("XlsxApplyOps", workbench_id=wb, path="book.xlsx", ops=[totals])
    _beside(bench, wb, B7=1000)
    found = bench.ask("DraftRebase", workbench_id=wb)["conflicts"]

    assert {each["place"]["sheet"] for each in found} == {"Totals"}
    assert {(each["ours"], each["theirs"]) for each in found} == {(7, 1000)}


def test_a_file_that_is_damaged_or_too_large_is_a_conflict(bench: Wired) -> None:
    """Its bytes do not become the published version."""
    wb = _book(bench)
    _set(bench, wb, B3=99)
    (bench.published(wb) / "book.xlsx").write_bytes(b"no workbook")
    done = bench.ask("DraftRebase", workbench_id=wb)

    assert [each["path"] for each in done["conflicts"]] == ["book.xlsx"]
    (bench.published(wb) / "book.xlsx").write_bytes(b"0" * 1_000_001)
    refused = bench.refused("DraftRebase", workbench_id=wb)
    assert refused.data["error_code"] == "VALIDATION_FAILED"
    assert "FileAdopted" not in _types(bench, wb)


def test_a_rebase_waits_for_nobody(bench: Wired) -> None:
    """Without a draft, or while a run works on it, it is refused."""
    wb = bench.workbench(a__txt="one\n")
    assert bench.refused("DraftRebase", workbench_id=wb).data["error_code"] == "VALIDATION_FAILED"
    bench.draft(wb, a__txt="two\n")
    unknown = bench.refused("DraftRebase", workbench_id=wb, paths=["b.txt"])
    assert unknown.data["error_code"] == "NOT_FOUND"
    bench.script.answers.clear()
    try:
        bench.ask("WorkshopSendUserMessage", workbench_id=wb, text="more")
        run = bench.ask("WorkshopRunAgent", workbench_id=wb, wait=False)
        refused = bench.refused("DraftRebase", workbench_id=wb)
        assert run["run_id"] in refused.message
    finally:
        bench.script.answers.set()
    bench.daemon.wait_for_run(run["run_id"])


@pytest.mark.full
def test_the_past_and_a_restart_know_a_rebase(bench: Wired) -> None:
    """The log gives the same state; an undo goes behind it, a discarded draft leaves theirs."""
    wb = _book(bench)
    bench.draft(wb, notes__txt="x\n")
    _set(bench, wb, B3=99)
    _beside(bench, wb, C7="theirs")
    bench.ask("DraftRebase", workbench_id=wb)
    seq = bench.daemon.events(wb)[-1]["seq"]
    state = bench.ask("StateAt", workbench_id=wb, seq=seq)
    changes = bench.ask("ReviewGetChangeSet", workbench_id=wb)
    bench.daemon.kill()
    bench.daemon.start()

    assert bench.ask("ReviewGetChangeSet", workbench_id=wb) == changes
    assert bench.ask("StateAt", workbench_id=wb, seq=seq) == state
    assert {row["path"]: row["change_type"] for row in changes["changes"]} == {
        "book.xlsx": "modified", "notes.txt": "added",
    }  # fmt: skip
    bench.ask("DraftDiscard", workbench_id=wb)
    assert _cells(bench.published(wb) / "book.xlsx")["C7"] == "theirs"
    message = bench.ask("WorkshopGetConversation", workbench_id=wb)["messages"][0]["message_id"]
    bench.ask("WorkshopUndoToMessage", workbench_id=wb, message_id=message)
    assert _cells(bench.published(wb) / "book.xlsx")["C7"] == 14


def test_what_somebody_published_is_agreed_to_anew(bench: Wired) -> None:
    """The bytes of a person are not what consent was given for."""
    wb = _book(bench)
    _set(bench, wb, B3=99)
    before = bench.ask("EgressGetConsentStatus", workbench_id=wb)["scope_hash"]
    _beside(bench, wb, C7="theirs")
    bench.ask("DraftRebase", workbench_id=wb)

    assert bench.ask("EgressGetConsentStatus", workbench_id=wb)["scope_hash"] != before


@pytest.mark.full
def test_texts_are_merged_by_their_lines(bench: Wired) -> None:
    """What a run wrote whole is put together with what somebody changed in other lines."""
    lines = [f"line {n}" for n in range(12)]
    wb = bench.workbench(a__txt="\n".join(lines), b__csv="n,x\n1,2\n3,4\n5,6\n")
    ours = "\n".join([*lines[:2], "ours", *lines[3:]])
    bench.draft(wb, a__txt=ours)
    bench.draft(wb, a__txt=ours.replace("line 5", "ours, too"), b__csv="n,x\n1,2\n3,4\n5,60\n")
    published = bench.published(wb)
    (published / "a.txt").write_text("\n".join([*lines[:8], "theirs", *lines[9:]]))
    (published / "b.csv").write_text("n,x\n1,20\n3,4\n5,6\n")
    done = bench.ask("DraftRebase", workbench_id=wb)

    assert done["conflicts"] == []
    assert [(each["path"], each["calls"]) for each in done["rebased"]] == [
        ("a.txt", 2), ("b.csv", 1),
    ]  # fmt: skip
    found = bench.ask("ReviewGetTextDiff", workbench_id=wb, path="a.txt")["changes"]
    made = {
        each["place"]["title"]: (each["made_by"]["run_id"], each["made_by"]["tool"])
        for each in found
    }
    assert made == {
        "line 3": (f"{wb}-1", "write_text_file"), "line 6": (f"{wb}-2", "write_text_file"),
    }  # fmt: skip
    rows = bench.ask("ReviewGetChangeSet", workbench_id=wb)["changes"]
    assert [row["run_id"] for row in rows] == [f"{wb}-2"] * 2
    bench.ask("DraftPublish", workbench_id=wb)
    assert (published / "a.txt").read_text().splitlines()[2:9] == [
        "ours", "line 3", "line 4", "ours, too", "line 6", "line 7", "theirs",
    ]  # fmt: skip
    assert (published / "b.csv").read_text() == "n,x\n1,20\n3,4\n5,60\n"


def test_lines_that_both_changed_are_conflicts(bench: Wired) -> None:
    """With their numbers in the draft's version, and the run that wrote them."""
    wb = bench.workbench(a__txt="one\ntwo\nthree\n")
    bench.draft(wb, a__txt="zero\none\nTWO\nthree\n")
    (bench.published(wb) / "a.txt").write_text("one\n2\nthree\n")
    (conflict,) = bench.ask("DraftRebase", workbench_id=wb)["conflicts"]

    assert conflict["place"] == {"title": "line 3", "line": 3}
    assert [conflict[name] for name in ("before", "ours", "theirs")] == ["two", "TWO", "2"]
    assert (conflict["run_id"], conflict["tool"]) == (f"{wb}-1", "write_text_file")


def test_a_second_rebase_goes_on_from_the_first(bench: Wired) -> None:
    """The calls of the new draft are those that were carried over; who first made them is known."""
    wb = _book(bench)
    _set(bench, wb, B10=99)
    _beside(bench, wb, inserted=5)
    bench.ask("DraftRebase", workbench_id=wb)
    _set(bench, wb, C3="another")
    _beside(bench, wb, inserted=2, C20="theirs")
    done = bench.ask("DraftRebase", workbench_id=wb)

    assert done["rebased"] == [{"path": "book.xlsx", "calls": 2, "in_draft": True}]
    assert _differing(bench, wb) == {"Data!B12": (10, 99), "Data!C4": (6, "another")}
    events = bench.daemon.events(wb)
    first = next(each["data"] for each in events if each["type"] == "ToolCalled")
    chain = bench.ask("ReviewGetBlame", workbench_id=wb, path="book.xlsx", place="Data!B12")
    assert chain["chain"][0]["call_id"] == first["call_id"]


def test_an_edit_that_would_reach_further_than_it_did_is_a_conflict(bench: Wired) -> None:
    """What somebody else wrote, the draft's replacement never saw, and nobody reviewed it."""
    path = bench.file("a.docx")
    document = docx.Document()
    for text in ("one about Bern", "two", "three"):
        document.add_paragraph(text)
    document.save(str(path))
    wb = bench.daemon.workbench(path)
    edit = {"op": "replace_text", "search": "Bern", "replace": "Basel"}
    bench.ask("DocxApplyOps", workbench_id=wb, path="a.docx", ops=[edit])
    published = bench.published(wb) / "a.docx"
    document = docx.Document(str(published))
    document.paragraphs[2].add_run(" about Bern")
    document.save(str(published))
    (conflict,) = bench.ask("DraftRebase", workbench_id=wb)["conflicts"]

    assert conflict["place"]["paragraph"] == 2
    assert (conflict["ours"], conflict["theirs"]) == ("three about Basel", "three about Bern")
    assert "DraftRebased" not in _types(bench, wb)


def test_results_that_somebody_made_unknown_are_no_loss(bench: Wired) -> None:
    """The draft replaces an array; somebody else changed what it read, with kbd, and no more."""
    path = bench.file("book.xlsx")
    book = openpyxl.Workbook()
    sheet = book.create_sheet("Data")
    del book["Sheet"]
    sheet["A1"] = ArrayFormula("A1:A3", "=LEN(B1:B3)")
    sheet["A2"] = sheet["A3"] = 0
    book.save(path)
    wb, other = bench.daemon.workbench(path), bench.daemon.workbench(path)
    _set(bench, other, B2="theirs")
    bench.ask("DraftPublish", workbench_id=other)
    clear = {"op": "clear_range", "sheet": "Data", "range": "A1:A3"}
    bench.ask("XlsxApplyOps", workbench_id=wb, path="book.xlsx", ops=[clear])
    _set(bench, wb, A1="ours")
    published = bench.published(wb) / "book.xlsx"
    published.write_bytes((bench.published(other) / "book.xlsx").read_bytes())

    assert bench.ask("DraftRebase", workbench_id=wb)["conflicts"] == []
    bench.ask("DraftPublish", workbench_id=wb)
    assert _cells(published) == {"A1": "ours", "B2": "theirs"}
