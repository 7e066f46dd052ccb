"""Files that are read as tables and not written: what the writing tools say of them."""

from pathlib import Path
from typing import Any

import pytest

from kbd.errors import ValidationFailed
from kbd.testing.tools import Workbench
from kbd.tools import Tool
from kbd_csv import CsvFormat
from kbd_ods import OdsFormat
from kbd_parquet import ArrowFormat, ParquetFormat
from kbd_tables import kbd_register_tools
from kbd_xlsx import XlsxFormat
from ods_books import ods_book, row, table

pytestmark = pytest.mark.anyio

BOOKS = r"\.xlsx, \.xlsm, \.xltx, \.xltm"
READ_ONLY = {
    "there.ods": "ods", "new.ods": "ods", "new.ots": "ods", "new.fods": "ods",
    "new.arrow": "arrow", "new.feather": "arrow",
}  # fmt: skip


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    """A text table, and a spreadsheet that might be taken for a target."""
    formats = (CsvFormat(), XlsxFormat(), OdsFormat(), ParquetFormat(), ArrowFormat())
    found = Workbench(tmp_path / "workbench", formats)
    found.add("t.csv", b"a,b\n1,2\n")
    book = ods_book(tmp_path / "b.ods", table(rows=row("a", "b") + row(1, 2), name="S"))
    found.add("there.ods", book.read_bytes())
    return found


@pytest.fixture
def tools(workbench: Workbench) -> dict[str, Tool]:
    """The table tools of these formats."""
    return {tool.name: tool for tool in kbd_register_tools({}, workbench.formats)}


@pytest.mark.parametrize(("target", "kind"), READ_ONLY.items())
async def test_nothing_is_written_to_them(
    workbench: Workbench, tools: dict[str, Tool], target: str, kind: str
) -> None:
    """Each mode is refused, with what can be written, before a row is read; no file is touched."""
    before = workbench.content("there.ods")
    given: dict[str, Any] = {"path": "missing.csv", "target_path": target}
    update = tools["table_update_from_export"]
    reason = "read, not written" if kind == "ods" else "not, and no table is written"
    told = rf"must be a workbook \({BOOKS}\); {target} is {reason}.* format {kind}$"
    for mode in ("replace_sheet", "append_rows", "write_range"):
        with pytest.raises(ValidationFailed, match=told):
            await workbench.call(update, **given, sheet="S", mode=mode)
    for name in (kind, "xlsx", "csv"):
        with pytest.raises(ValidationFailed, match=rf"no table is written to {target}.*\.xlsx"):
            await workbench.call(tools["table_export"], **given, format=name)
    assert workbench.content("there.ods") == before
    assert set(workbench.files.names()) == {"t.csv", "there.ods"}


async def test_no_tool_promises_to_write_them(tools: dict[str, Tool]) -> None:
    """Descriptions and schemas name the formats that are written, and no others."""
    export, update = tools["table_export"], tools["table_update_from_export"]
    assert export.description.endswith("Formats: csv, parquet, xlsx.")
    assert "into one sheet of a workbook (xlsx)" in update.description
    assert "text table that exists (csv)" in update.description


async def test_what_is_written_whole_says_so(workbench: Workbench, tools: dict[str, Tool]) -> None:
    """A Parquet file has no sheet to update; the tool that writes it is named."""
    with pytest.raises(ValidationFailed, match=r"o\.parquet is not; table_export writes it whole"):
        await workbench.call(
            tools["table_update_from_export"], path="t.csv", target_path="o.parquet", sheet="S",
            mode="append_rows",
        )  # fmt: skip


async def test_a_file_that_is_written_anew_is_said_to_be(
    workbench: Workbench, tools: dict[str, Tool]
) -> None:
    """A Parquet file and a text table are replaced with a warning, and made without one."""
    for name, kind in (("o.parquet", "parquet"), ("o.csv", "csv")):
        given = {"path": "t.csv", "target_path": name, "format": kind}
        made = await workbench.call(tools["table_export"], **given)
        again = await workbench.call(tools["table_export"], **given)
        assert made.value["warnings"] == []
        assert again.value["warnings"] == [
            f"{name} exists: it was written anew, and nothing of it is kept"
        ]
