"""Results worked out where kbd has them worked out: in a worker, which may write in one folder."""

import os
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.settings import Settings

FORMULAS = 10_000
FORMULA = f'=ROW()+$A$1+LEN("{"x" * 200}")-200'
"""Both together are more than an engine holds in memory: it keeps them in a file."""


@pytest.mark.full
@pytest.mark.anyio
async def test_a_large_workbook_is_calculated(tmp_path: Path) -> None:
    """All its formulas have results, and nothing lies beside the file."""
    target = tmp_path / "book.xlsx"
    operations: list[dict[str, Any]] = [
        {"op": "ensure_sheet", "sheet": "S"},
        {"op": "set_cells", "sheet": "S", "cells": [{"cell": "A1", "value": 7}]},
        {"op": "fill_formula", "sheet": "S", "range": f"B1:B{FORMULAS}", "formula": FORMULA},
    ]
    plugins, settings = Plugins.discover(Settings()), Settings()
    async with WorkerPool(plugins, settings) as workers:
        formats = FormatCalls(Catalog(plugins), workers, tmp_path / "cache").at(7)
        handler = next(each for each in formats.handlers() if each.name == "xlsx")
        done = await formats.apply(handler, None, operations, target)

    assert done.result_warnings == ()
    sheet = openpyxl.load_workbook(target, data_only=True)["S"]
    assert [sheet[f"B{row}"].value for row in (1, 2, FORMULAS)] == [8, 9, FORMULAS + 7]
    assert {*os.listdir(tmp_path)} <= {target.name, "cache"}
