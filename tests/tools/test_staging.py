"""What tools stage is known to their call: it carries the suffix, and nothing is left behind."""

from pathlib import Path
from typing import Any

import pytest

from kbd.errors import KbdError, ValidationFailed
from kbd.testing.tools import Workbench
from kbd.tools import Tool
from kbd_csv import CsvFormat
from kbd_edits import kbd_register_tools as edits
from kbd_files import kbd_register_tools as files
from kbd_tables import kbd_register_tools as tables
from kbd_xlsx import XlsxFormat

pytestmark = pytest.mark.anyio


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    found = Workbench(tmp_path, [CsvFormat(), XlsxFormat()])
    found.add("a.csv", "day,n\n2024-01-31,1\n2024-02-01,\n")
    return found


@pytest.fixture
def tools(workbench: Workbench) -> dict[str, Tool]:
    formats = workbench.formats
    return {tool.name: tool for tool in (*edits(formats), *files(formats), *tables({}, formats))}


SHEET = {"op": "ensure_sheet", "sheet": "S"}
EXPORT = {"path": "a.csv", "target_path": "b.xlsx", "format": "xlsx"}
CALLS: list[tuple[str, dict[str, Any], bool]] = [
    ("table_get_map", {"path": "a.csv"}, True),
    ("table_export", EXPORT, True),
    ("table_export", EXPORT | {"target_path": "b.tsv", "format": "csv"}, True),
    ("table_export", EXPORT | {"query": "SELECT nothing FROM data"}, False),
    ("table_export", EXPORT | {"target_path": "b.xlsm"}, False),
    ("xlsx_operations", {"path": "c.xlsx", "operations": [SHEET], "create_new": True}, True),
    ("xlsx_operations", {"path": "c.xlsm", "operations": [SHEET], "create_new": True}, False),
    ("write_text_file", {"path": "d.csv", "content": "x"}, True),
]


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("name", "arguments", "works"), CALLS)
async def test_nothing_is_left_on_the_stage(
    workbench: Workbench,
    tools: dict[str, Tool],
    tmp_path: Path,
    name: str,
    arguments: dict[str, Any],
    works: bool,
) -> None:
    """Whether a call works or not, what it staged is gone when it ends."""
    try:
        await workbench.call(tools[name], **arguments)
    except KbdError:
        assert not works
    else:
        assert works

    assert list((tmp_path / "stage").iterdir()) == []


async def test_the_suffix_decides_what_is_written(
    workbench: Workbench, tools: dict[str, Tool]
) -> None:
    """A tsv is delimited by tabs; a suffix that promises macros is refused, no path in the text."""
    await workbench.call(tools["table_export"], path="a.csv", target_path="b.tsv", format="csv")
    assert workbench.content("b.tsv").splitlines()[0] == b"day\tn"

    with pytest.raises(ValidationFailed) as refused:
        await workbench.call(
            tools["xlsx_operations"], path="c.xlsm", operations=[SHEET], create_new=True
        )
    assert refused.value.message == "a new workbook has no macros; name it .xlsx, not .xlsm"
