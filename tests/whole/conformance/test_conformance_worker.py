"""Conformance of workers: what a crash and a deadline of one call come to, and the next call."""

import os
import signal
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from backends import mostly
from kbd.client.errors import RemoteError
from kbd.core.runtime.process_tree import find_children
from wired import Wired, wired

ROWS = 30_000
WORKING_S = 0.15
"""Seconds of processor that only a call uses that is at work."""
"""A map of so many rows takes more than a second on the machines that these tests run on."""

ROOMY = {"KBD_LIMITS_FILE_BYTES": "100000000"}

SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
PACKAGE = "http://schemas.openxmlformats.org/package/2006"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def write_book(path: Path, rows: int) -> Path:
    """Write a workbook of so many rows of ten texts each."""
    cells = "".join(
        f'<c r="{column}{{0}}" t="inlineStr"><is><t>{escape("text")} {{0}}</t></is></c>'
        for column in "ABCDEFGHIJ"
    )
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{PACKAGE}/content-types">'
        '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.'
        'relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.'
        'openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/'
        'worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.'
        'spreadsheetml.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="r1" '
        f'Type="{OFFICE}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}/relationships">'
        f'<Relationship Id="r1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
        "</Relationships>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{SHEET}"><sheetData>'
        + "".join(f'<row r="{row}">{cells.format(row)}</row>' for row in range(1, rows + 1))
        + "</sheetData></worksheet>",
    }
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as book:
        for name, text in parts.items():
            book.writestr(name, text)
    return path


@pytest.fixture(params=mostly("asyncio"))
def backend(request: pytest.FixtureRequest) -> str:
    """Each event loop."""
    return str(request.param)


@pytest.fixture
def wire(backend: str) -> Iterator[Wired]:
    """A daemon of the test's own."""
    with wired(backend, more=ROOMY) as running:
        yield running


def make_workbench(wire: Wired, folder: Path) -> str:
    """Return a workbench with a book that takes long and one that does not."""
    workbench_id: str = wire.workbench()
    long = write_book(folder / "long.xlsx", ROWS)
    added = wire.add(workbench_id, long, write_book(folder / "short.xlsx", 3))
    assert [status for status, _ in added] == ["added", "added"], added
    return workbench_id


def used_processor_s(pid: int) -> float:
    """Return the seconds of processor that a process has used (`proc(5)`, stat)."""
    stat = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    return (int(stat[11]) + int(stat[12])) / os.sysconf("SC_CLK_TCK")


def kill_call(daemon: int) -> None:
    """Kill the first call below the daemon that is at work, as a fault in its code would."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        for zygote in find_children(daemon):
            for child in find_children(zygote):
                # Another one may only wait for a call.
                if used_processor_s(child) > WORKING_S:
                    os.kill(child, signal.SIGSEGV)
                    return
        time.sleep(0.005)


def test_a_crash_fails_the_call_and_not_the_next(wire: Wired, tmp_path: Path) -> None:
    """Conformance 110: the call whose worker crashed is an error, and the next one works."""
    workbench_id = make_workbench(wire, tmp_path)
    # The worker is there by then, so what is killed is the call.
    wire.ask("XlsxGetMap", workbench_id=workbench_id, path="short.xlsx")
    killer = threading.Thread(target=kill_call, args=(wire.daemon.pid,))
    killer.start()
    error = wire.refused("XlsxGetMap", workbench_id=workbench_id, path="long.xlsx")
    killer.join()

    assert error.data["error_code"] in {"FILE_READ_FAILED", "TOOL_WORKER_UNAVAILABLE"}
    assert "SIGSEGV" in error.message
    found = wire.ask("XlsxGetMap", workbench_id=workbench_id, path="short.xlsx")
    assert [sheet["name"] for sheet in found["sheets"]] == ["S"]


def test_a_deadline_that_passes_is_told(backend: str, tmp_path: Path) -> None:
    """Conformance 111: with 200 ms for a call, one that takes seconds is an error that says so."""
    with wired(backend, more={**ROOMY, "KBD_WORKERS_WALL_S": "0.2"}) as wire:
        workbench_id = make_workbench(wire, tmp_path)
        # A start of the worker is not counted, a first call on a busy machine may be late.
        error: RemoteError = wire.refused("XlsxGetMap", workbench_id=workbench_id, path="long.xlsx")

        assert error.data["error_code"] == "TOOL_TIMEOUT"
        assert "0.2 s" in error.message
