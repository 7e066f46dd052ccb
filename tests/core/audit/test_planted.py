"""Nondeterminism planted in a format's handler, which works in a process of its own each time."""

import os
from pathlib import Path

import pytest

from agent_rig import Opened
from backends import on_trio
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.settings import Settings
from proof_rig import asks, proved, turns

pytestmark = pytest.mark.anyio

PACKAGES = Path(__file__).with_name("packages")
FOUND = (
    EntryPoint("moods", "kbd_moods"),
    EntryPoint("files", "kbd_files"),
    EntryPoint("edits", "kbd_edits"),
)
MOODS = ("calm", "clock", "times", "order")


def wrote(mood: str) -> tuple[str, dict[str, object]]:
    """A call that writes a file in a mood."""
    operations = [{"op": "write", "mood": mood}]
    arguments = {"path": f"{mood}.mood", "create_new": True, "operations": operations}
    return "moods_operations", arguments


@on_trio
async def test_what_a_handler_does_otherwise_each_time_is_located(
    opened: Opened, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clock in a part, chance in the zip's times, the order of a set: each at its call."""
    assert "PYTHONHASHSEED" not in os.environ
    monkeypatch.syspath_prepend(str(PACKAGES))
    plugins = Plugins.discover(Settings(), found=FOUND)
    script = turns(asks(*map(wrote, MOODS), ("read_file", {"path": "calm.mood"})))
    async with opened(script) as rig:
        rig.catalog = Catalog(plugins)
        async with WorkerPool(plugins, Settings(), extra_paths=[PACKAGES]) as rig.workers:
            await rig.go()
        async with WorkerPool(plugins, Settings(), extra_paths=[PACKAGES]) as rig.workers:
            found = await proved(rig, tmp_path / "scratch")

    assert [each.files[0].path for each in found.divergences[:-1]] == [
        "clock.mood", "times.mood", "order.mood",
    ]  # fmt: skip
    clock, times, order, read = found.divergences
    assert (found.calls, found.equal, found.files) == (5, 1, 4)
    assert [part.part for part in clock.files[0].parts] == ["parts/7.xml"]
    assert times.files[0].note == "all parts are equal; the package's times differ"
    assert order.files[0].note == "all parts are equal; the package's order differ"
    assert (read.tool, read.what) == ("read_file", ("result", "shown"))
    assert read.fields[0].path.startswith("text")
