"""The examples of a plugin and of a client in the documentation work as they are printed."""

import re
import shutil
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest

from documentation import code, section
from kbd.client import aio, blocking
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool, function_name
from kbd.core.runtime.settings import Settings
from kbd.testing.tools import Workbench
from real_daemon import RealDaemon

PLUGIN = "how-to/plugin.md"
CLIENT = "how-to/client.md"


@pytest.mark.anyio
async def test_the_plugin_of_the_guide_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guide's plugin is loaded, its tool answers, and its work is done in a worker."""
    package = tmp_path / "kbd_words"
    package.mkdir()
    (package / "__init__.py").write_text(code(PLUGIN, "A tool as an example", "python"), "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "kbd_words", raising=False)
    found = EntryPoint(name="words", value="kbd_words")

    plugins = Plugins.discover(Settings(), found=[found])

    assert [(each.status, each.reason) for each in plugins.statuses] == [("loaded", None)]
    (owned,) = plugins.tools
    bench = Workbench(tmp_path / "bench")
    file = bench.add("notes.txt", "one two\nthree\n")
    result = await bench.call(owned.item, path="notes.txt")
    assert result.value == {"path": "notes.txt", "words": 3}
    count = function_name(vars(sys.modules["kbd_words"])["count"])
    async with WorkerPool(plugins, Settings(), extra_paths=[tmp_path]) as workers:
        assert await workers.call("words", count, {"path": str(file.path)}) == 3


@pytest.fixture(scope="module")
def daemon() -> Iterator[RealDaemon]:
    """One daemon for all examples of a client."""
    folder = Path(tempfile.mkdtemp(prefix="kbd-"))
    running = RealDaemon(folder / "home")
    running.start()
    yield running
    running.stop()
    shutil.rmtree(folder)


@pytest.fixture
def receipts(tmp_path: Path) -> Path:
    """The file of receipts that the documentation shows."""
    file = tmp_path / "receipts.csv"
    shown = section("how-to/run-a-job.md", "Do a job on your own files")
    rows = re.search(r"(Date,.*\n(?:20.*\n)+)", shown)
    assert rows
    file.write_text(rows[1], "utf-8")
    return file


@pytest.fixture
def run(daemon: RealDaemon, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Run a program and return what it printed, so far as it runs in another thread."""
    monkeypatch.setenv("KBD_SOCKET", daemon.socket)

    def run(program: str, *arguments: str, said: list[str] | None = None) -> list[str]:
        said = [] if said is None else said

        def say(*what: object) -> None:
            said.append(" ".join(map(str, what)))

        monkeypatch.setattr(sys, "argv", ["-c", *arguments])
        exec(compile(program, CLIENT, "exec"), {"print": say})
        return said

    return run


def test_the_blocking_client_of_the_guide_works(
    run: Callable[..., list[str]], receipts: Path
) -> None:
    """It has a daemon do a job, lists what it changed, and is refused with a code."""
    assert run(code(CLIENT, "A whole job", "python"), str(receipts)) == [
        "finished", "added receipts-amount-by-shop.xlsx", "-32000 VALIDATION_FAILED True",
    ]  # fmt: skip


def test_the_asynchronous_client_of_the_guide_works(
    run: Callable[..., list[str]], receipts: Path
) -> None:
    """It tells each phase as it begins, and the end of the run."""
    assert run(code(CLIENT, "Asynchronous, with progress", "python"), str(receipts)) == [
        "research", "plan", "implement", "summary", "finished True",
    ]  # fmt: skip


def test_the_follower_of_the_guide_outlives_the_daemon(
    run: Callable[..., list[str]], daemon: RealDaemon
) -> None:
    """It goes on where it was after a kill, each event once, and ends with its workbench."""
    workbench_id = daemon.workbench()
    said: list[str] = []
    program = code(CLIENT, "Follow a log", "python")
    thread = threading.Thread(target=run, args=(program, workbench_id), kwargs={"said": said})
    thread.start()
    _wait_for(said, ["1 WorkbenchCreated"])
    daemon.kill()
    daemon.start()
    daemon.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="more")
    _wait_for(said, ["1 WorkbenchCreated", "2 UserMessageAdded"])
    daemon.ask("WorkbenchDelete", workbench_id=workbench_id)
    thread.join(20)
    assert not thread.is_alive()
    assert len(said) == 2


def _wait_for(said: list[str], wanted: list[str]) -> None:
    deadline = time.monotonic() + 20
    while said != wanted:
        assert time.monotonic() < deadline, said
        time.sleep(0.01)


@pytest.mark.parametrize("module", [blocking, aio])
def test_the_examples_of_the_clients_work(
    run: Callable[..., list[str]], module: ModuleType
) -> None:
    """What a client's documentation begins with is a program."""
    example = re.search(r"\n\n((?:    .*\n|\n)+)", module.__doc__ or "")
    assert example
    assert run(textwrap.dedent(example[1])) == ["1 WorkbenchCreated"]


def test_the_examples_of_the_methods_work(
    run: Callable[..., list[str]], daemon: RealDaemon
) -> None:
    """Each is a statement or a loop for a client that is at hand."""
    before = "from kbd.client.blocking import Client\nclient = Client()\nwith client:\n"
    bench = "    bench = client.send('WorkbenchCreate', {'name': 'x'})\n"
    message = "    client.send('WorkshopSendUserMessage', {**bench, 'text': 'look'})\n"
    examples = {
        method.__name__: textwrap.dedent(found[1])
        for method in (
            blocking.Client.send,
            blocking.Client.notifications,
            blocking.Client.follow_all,
        )
        if (found := re.search(r"\n\n((?: {12}.*\n)+)", method.__doc__ or ""))
    }
    program = before + bench + message + textwrap.indent("".join(examples.values()), "    ")
    said = run(program.replace("seconds=60", "seconds=0.2"))
    assert set(examples) == {"send", "notifications", "follow_all"}
    assert said[-1] == "daemon 1 DaemonStarted"
    assert "WorkshopPhaseStarted summary" in said
