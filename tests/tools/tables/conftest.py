"""A workbench with the table tools and the formats that they read and write."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from kbd.testing.tools import Workbench
from kbd.tools import Tool
from kbd_csv import CsvFormat
from kbd_tables import kbd_register_tools
from tools.small_formats import BookFormat, LinesFormat
from tools.tables.loading import Loading

Ask = Callable[..., Awaitable[Any]]


@pytest.fixture
def workbench(tmp_path: Path) -> Workbench:
    return Workbench(tmp_path / "workbench", [CsvFormat(), BookFormat(), LinesFormat()])


@pytest.fixture
def tools(workbench: Workbench) -> dict[str, Tool]:
    return {tool.name: tool for tool in kbd_register_tools({}, workbench.formats)}


@pytest.fixture
def ask(workbench: Workbench, tools: dict[str, Tool]) -> Ask:
    """Call `table_<name>` and return its value."""

    async def call(name: str, **arguments: Any) -> Any:
        return (await workbench.call(tools[f"table_{name}"], **arguments)).value

    return call


@pytest.fixture
def loading(tmp_path: Path) -> Loading:
    return Loading(tmp_path)
