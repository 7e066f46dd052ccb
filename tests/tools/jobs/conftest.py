"""A workbench with the tools for jobs, those that they call, and the formats of office files."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kbd.testing.tools import Workbench
from kbd_csv import kbd_register_formats as csv
from kbd_docx import kbd_register_formats as docx
from kbd_edits import kbd_register_tools as edit_tools
from kbd_files import kbd_register_tools as file_tools
from kbd_jobs import kbd_register_tools as job_tools
from kbd_pptx import kbd_register_formats as pptx
from kbd_tables import kbd_register_tools as table_tools
from kbd_text import kbd_register_formats as text
from kbd_xlsx import kbd_register_formats as xlsx

Ask = Callable[..., Awaitable[Any]]


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    made = Workbench(tmp_path / "workbench", [*csv(), *docx(), *pptx(), *text(), *xlsx()])
    tools = [
        *table_tools({}, made.formats),
        *file_tools(made.formats),
        *edit_tools(made.formats),
        *job_tools(),
    ]
    made.tools = {tool.name: tool for tool in tools}
    return made


@pytest.fixture
def ask(workbench: Workbench) -> Ask:
    """Call `<name>_job` with a job and return its value."""

    async def call(name: str, **job: Any) -> Any:
        return (await workbench.call(workbench.tools[f"{name}_job"], job=job)).value

    return call
