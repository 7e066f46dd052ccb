"""The README's examples of a plugin and of a client work as they are printed."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from kbd.core.plugins.host import Plugins
from kbd.core.plugins.installed import Installed
from kbd.core.settings import Settings
from kbd.core.workers.pool import Workers, name_of
from kbd.testing.tools import Workbench
from readme import code, section
from real_daemon import RealDaemon


@pytest.mark.anyio
async def test_the_plugin_of_the_readme_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The README's plugin is loaded, its tool answers, and its work is done in a worker."""
    package = tmp_path / "kbd_words"
    package.mkdir()
    (package / "__init__.py").write_text(code("Write a plugin", "python"), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "kbd_words", raising=False)
    found = Installed(name="words", value="kbd_words")

    plugins = Plugins.discover(Settings(), found=[found])

    assert [(each.status, each.reason) for each in plugins.statuses] == [("loaded", None)]
    (owned,) = plugins.tools
    bench = Workbench(tmp_path / "bench")
    file = bench.add("notes.txt", "one two\nthree\n")
    result = await bench.call(owned.item, path="notes.txt")
    assert result.value == {"path": "notes.txt", "words": 3}
    count = name_of(vars(sys.modules["kbd_words"])["count"])
    async with Workers(plugins, Settings(), extra_paths=[tmp_path]) as workers:
        assert await workers.call("words", count, {"path": str(file.path)}) == 3


def test_the_client_of_the_readme_works(short_dir: Path) -> None:
    """The README's client has a daemon do a job and lists what it changed."""
    receipts = short_dir / "receipts.csv"
    table_of_readme = re.search(r"(Date,.*\n(?:20.*\n)+)", section("Do a job on your own files"))
    assert table_of_readme
    receipts.write_text(table_of_readme[1], "utf-8")
    running = RealDaemon(short_dir / "home")
    running.start()
    try:
        done = subprocess.run(
            [sys.executable, "-c", code("Write a client", "python"), running.socket, str(receipts)],
            capture_output=True, text=True, check=False, timeout=60,
        )  # fmt: skip
    finally:
        running.stop()

    assert (done.stdout, done.stderr) == ("finished\nadded summary.xlsx\n", "")
