"""Jobs made one are kept only if all of what they write is what the jobs wrote apart."""

import sys
from pathlib import Path

import pytest

from kbd.core.plugins.hooks import GROUP, installed_entry_points
from kbd.core.sessions.chained_jobs import _are_alike
from kbd.core.sessions.scratch_calls import ScratchCalls
from kbd.types import FileName
from supervised import supervised

pytestmark = pytest.mark.anyio

_LONG = "x" * 20_000
"""A text of which a window, which has at most 4 MiB, holds some 200 rows of the 500 asked for."""


def _notes(changed: int | None = None) -> str:
    rows = (f"{at},{_LONG}{'!' if at == changed else ''}" for at in range(260))
    return "\n".join(("Number,Note", *rows, ""))


async def test_rows_that_a_page_leaves_out_are_compared(tmp_path: Path) -> None:
    """A page of long texts is cut: what is behind the cut is looked at all the same."""
    found = installed_entry_points(GROUP, sys.path)
    async with supervised(tmp_path, found=found) as running, running.context.workers:
        first = await running.bench(notes__csv=_notes())
        for content, is_alike in ((_notes(), True), (_notes(250), False)):
            second = await running.bench(notes__csv=content)
            async with (
                ScratchCalls(running.context, first) as before,
                ScratchCalls(running.context, second) as after,
            ):
                assert await _are_alike(before, after, FileName("notes.csv")) == is_alike
