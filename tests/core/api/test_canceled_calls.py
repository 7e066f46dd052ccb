"""A client's call that is canceled while it is recorded has landed before the next one begins."""

import sys
from pathlib import Path

import anyio
import pytest

from kbd.core.api.client_calls import recorded_call
from kbd.core.plugins.hooks import GROUP, installed_entry_points
from kbd.events.drafts import FileChanged
from kbd.types import FileName
from supervised import supervised

pytestmark = pytest.mark.anyio


async def test_the_next_call_begins_behind_what_was_recorded(tmp_path: Path) -> None:
    """Else it would see the file as it was, and be refused for what nobody else changed."""
    found = installed_entry_points(GROUP, sys.path)
    async with supervised(tmp_path / "h", found=found) as running:
        context, bench = running.context, await running.bench(a__txt="old")
        plugin = next(iter(context.catalog.tools())).plugin
        # In a thread the first time, where a cancel would end the call before it is recorded.
        await context.catalog.hash_of(plugin)
        name = FileName("a.txt")
        before, after = bench.state.files[name].blob, await bench.blobs.put(b"new")
        with anyio.CancelScope() as asking:
            async with recorded_call(context, bench, plugin, "write_text_file", b"{}") as call:
                asking.cancel()
                await call.record("{}", (FileChanged(name, before, after, 3, call_id=call.id),))
        seen = bench.state.current_file(name)

        assert seen is not None
        assert seen.blob == after
        assert not bench.editing.locked()
