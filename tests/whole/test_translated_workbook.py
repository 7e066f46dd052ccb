"""The seeds' scenario: a large workbook, "translate it to English, prices in USD"."""

import hashlib
import shutil
import subprocess
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from backends import on_trio
from model_server import model_server
from real_daemon import RealDaemon
from whole.translator import (
    MARK,
    RATE,
    TARGET,
    WORD,
    WORDS,
    Marker,
    Translator,
    german_book,
)

REQUEST = "translate it to English, prices in USD"


def _translate(
    home: Path, backend: str, source: Path, model: Translator
) -> tuple[Path, list[dict[str, Any]]]:
    """Have the workbook translated and published; return the result and the events."""
    original = hashlib.sha256(source.read_bytes()).hexdigest()
    with model_server(model) as server:
        environment = {
            "OPENAI_BASE_URL": server.base_url,
            "KBD_MODEL": "openai:translator",
            "KBD_RUN_RETRY_S": "0.01",
        }
        daemon = RealDaemon(home, backend, environment)
        daemon.start()
        try:
            workbench_id = daemon.workbench(source)
            daemon.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text=REQUEST)
            run_id = daemon.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)["run_id"]
            run = daemon.wait_for_run(run_id, 3000)
            assert run["status"] == "finished", run
            assert {item["state"] for item in run["items"]} == {"done"}
            changes = daemon.ask("ReviewGetChangeSet", workbench_id=workbench_id)["changes"]
            assert [(row["path"], row["change_type"]) for row in changes] == [(TARGET, "added")]
            daemon.ask("DraftPublish", workbench_id=workbench_id)
            events = daemon.events(workbench_id)
        finally:
            daemon.stop()
    published = home / "workbenches" / workbench_id / "published"
    for path in (source, published / source.name):
        assert hashlib.sha256(path.read_bytes()).hexdigest() == original
    return published / TARGET, events


def _check_every_row(source: Path, result: Path) -> int:
    """Every cell is there, translated or as it was, with its type and its style."""
    old, new = openpyxl.load_workbook(source), openpyxl.load_workbook(result)
    assert old.sheetnames == new.sheetnames
    rows = 0
    for name in old.sheetnames:
        before, after = old[name], new[name]
        assert before.dimensions == after.dimensions
        assert (before.freeze_panes, before.column_dimensions["A"].width) == (
            after.freeze_panes, after.column_dimensions["A"].width,
        )  # fmt: skip
        for was, now in zip(before.iter_rows(), after.iter_rows(), strict=True):
            rows += 1
            is_head = was[0].row == 1
            said: list[Any] = [cell.value for cell in was]
            expected = [
                WORDS[str(said[0])], said[1], said[2] * RATE, said[3],
                WORDS[said[4] or ""] or None, said[5],
            ] if not is_head else [WORDS[head] for head in said]  # fmt: skip
            assert [cell.value for cell in now] == expected, (name, was[0].row)
            for column, (cell, translated) in enumerate(zip(was, now, strict=True)):
                assert translated.data_type == cell.data_type
                assert repr(translated.font) == repr(cell.font)
                assert repr(translated.fill) == repr(cell.fill)
                is_price = column == 2 and not is_head
                wanted = '"$"#,##0.00' if is_price else cell.number_format
                assert translated.number_format == wanted
    return rows


def _called(events: list[dict[str, Any]]) -> list[str]:
    return [event["data"]["tool"] for event in events if event["type"] == "ToolCalled"]


@on_trio
@pytest.mark.full
def test_a_workbook_is_translated(short_dir: Path, anyio_backend: str, tmp_path: Path) -> None:
    """A small one: it maps, copies, reads in pieces, writes in pieces, and reads back."""
    source = german_book(tmp_path / "data.xlsx", 1, 120)
    result, events = _translate(short_dir / "h", anyio_backend, source, Translator())
    assert _check_every_row(source, result) == 121
    assert _called(events) == [
        "get_file_map", "read_file", "xlsx_operations", "read_file",
        "read_file", "recall_tool_result", "xlsx_operations", "read_file",
    ]  # fmt: skip


@pytest.mark.full
@pytest.mark.libreoffice
@pytest.mark.timeout(3600)
def test_a_large_workbook_is_translated(
    short_dir: Path, anyio_backend: str, tmp_path: Path
) -> None:
    """Twenty thousand rows on four sheets; LibreOffice opens the result and calculates it."""
    source = german_book(tmp_path / "data.xlsx", 4, 5000)
    result, events = _translate(short_dir / "h", anyio_backend, source, Translator())
    assert _check_every_row(source, result) == 20_004
    called = _called(events)
    assert called.count("xlsx_operations") == 21
    command = ["soffice", "--headless", "--convert-to", "csv", "--outdir", str(tmp_path)]
    subprocess.run([*command, str(result)], check=True, capture_output=True, timeout=300)
    lines = (tmp_path / "data_english.csv").read_bytes().splitlines()
    assert len(lines) == 5001
    assert lines[0] == b"Item,Quantity,Price (USD),Date,Remark,Amount"
    print(f"\n{anyio_backend}: 20,000 rows, {len(called)} calls, {len(events)} events")


@pytest.mark.full
@pytest.mark.corpora
@pytest.mark.timeout(3600)
@pytest.mark.filterwarnings("ignore::UserWarning:openpyxl")
def test_a_foreign_workbook_keeps_all_but_what_is_written(
    short_dir: Path, anyio_backend: str, tmp_path: Path, corpora: Path
) -> None:
    """A book of somebody else's: its words are marked, every other cell is as it was."""
    source = tmp_path / "data.xlsx"
    shutil.copy(corpora / "xlsx" / "poi__Excel_file_with_trash_item.xlsx", source)
    result, events = _translate(short_dir / "h", anyio_backend, source, Marker())
    old, new = openpyxl.load_workbook(source), openpyxl.load_workbook(result)
    assert old.sheetnames == new.sheetnames
    rows, marked = 0, 0
    for before, after in zip(old.worksheets, new.worksheets, strict=True):
        assert before.dimensions == after.dimensions
        assert before.merged_cells.ranges == after.merged_cells.ranges
        for row, (was, now) in enumerate(
            zip(before.iter_rows(), after.iter_rows(), strict=True), before.min_row
        ):
            rows += 1
            for cell, found in zip(was, now, strict=True):
                is_word = row > 1 and WORD.fullmatch(str(cell.value)) is not None
                is_word = is_word and cell.data_type == "s"
                marked += is_word
                assert found.value == (f"{cell.value}{MARK}" if is_word else cell.value)
                assert found.data_type == cell.data_type
                assert found.number_format == cell.number_format
                assert repr(found.font) == repr(cell.font)
    assert rows > 600
    assert marked > 2000
    print(f"\n{anyio_backend}: {rows:,} rows, {marked:,} cells, {len(_called(events))} calls")
