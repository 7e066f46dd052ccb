"""The process of a proof: answers, is ended, dies; and leaves nothing behind."""

import os
import shutil
import signal
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync

import kbd_files
from agent_rig import Rig, open_rig
from backends import on_asyncio, on_trio
from kbd.core.audit.proof_process import Proofs
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.paths import WorkbenchFolders
from kbd.core.runtime.settings import Settings
from kbd.errors import NotFound, ToolWorkerUnavailable, ValidationFailed
from proof_rig import BENCH, asks, contents, turns

pytestmark = pytest.mark.anyio

WORK = turns(
    asks(
        ("write_text_file", {"path": "a.md", "content": "# Title\n\nSome words.\n"}),
        ("read_file", {"path": "a.md"}),
        ("list_files", {}),
        ("write_text_file", {"path": "b.txt", "content": "other words\n"}),
    )
)


@asynccontextmanager
async def worked(folder: Path) -> AsyncIterator[Rig]:
    """A run of the built-in plugins."""
    async with open_rig(folder, WORK) as rig:
        plugins = await run_sync(Plugins.discover, Settings())
        rig.catalog = await run_sync(Catalog, plugins)
        async with WorkerPool(plugins, Settings()) as rig.workers:
            await rig.go()
        yield rig


def folders(rig: Rig) -> WorkbenchFolders:
    """Where its log and its blobs lie."""
    return WorkbenchFolders(id=BENCH, root=rig.folder)


def children() -> set[int]:
    """The processes of proofs that this process has started and that are alive."""
    found = set()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (OSError, IndexError):
                continue
            if b"kbd.core.audit.proof_main" in words and parent == os.getpid():
                found.add(int(entry.name))
    return found


async def first_child() -> int:
    """Wait for the process of the proof."""
    found: set[int] = set()
    while not found:
        await anyio.sleep(0.005)
        found = children()
    return found.pop()


@on_asyncio
async def test_a_run_of_real_plugins_is_proved_elsewhere(tmp_path: Path) -> None:
    """In a process of its own, which leaves the workbench as it was, to the byte."""
    async with worked(tmp_path / "bench") as rig:
        before = contents(rig.folder)
        found = await Proofs(Settings()).prove(folders(rig), 1, rig.state.seq)

        assert contents(rig.folder) == before
    assert (found.calls, found.equal, found.files) == (4, 4, 2)
    assert found.divergences == ()
    assert {plugin.package for plugin in found.plugins} == {"kbd_files", "kbd_text"}
    assert all(plugin.sha256 == plugin.recorded_sha256 != "" for plugin in found.plugins)
    assert children() == set()


@contextmanager
def changed_plugin(folder: Path, code: str) -> Iterator[Path]:
    """A copy of a built-in plugin with more code at its end."""
    source = Path(kbd_files.__file__).parent
    copy = folder / "version"
    shutil.copytree(source, copy / source.name)
    with (copy / source.name / "file_tools.py").open("a") as module:
        module.write(code)
    yield copy


LISTS_LESS = """

async def _less(self, context, arguments):
    return ToolResult([])


ListFiles.run = _less
"""


@pytest.mark.full
async def test_another_version_of_a_plugin_is_tried(tmp_path: Path) -> None:
    """Just the calls that it does otherwise are listed; the installed one is not touched."""
    async with worked(tmp_path / "bench") as rig:
        before = contents(rig.folder)
        installed = contents(Path(kbd_files.__file__).parent)
        with changed_plugin(tmp_path, LISTS_LESS) as version:
            mine = contents(version)
            found = await Proofs(Settings()).prove(folders(rig), 1, rig.state.seq, str(version))
            assert contents(version) == mine

        assert contents(rig.folder) == before
    assert {k: v for k, v in contents(Path(kbd_files.__file__).parent).items()
            if "__pycache__" not in k} == {k: v for k, v in installed.items()
            if "__pycache__" not in k}  # fmt: skip
    (divergence,) = found.divergences
    assert (divergence.tool, divergence.what) == ("list_files", ("result", "shown"))
    assert divergence.plugins == ("kbd_files",)
    assert divergence.fields[0].path == "[0]"
    assert divergence.fields[0].replayed == ""
    assert (found.calls, found.equal) == (4, 3)


@pytest.mark.full
@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("\nimport nothing_of_that_name\n", "No module named 'nothing_of_that_name'"),
        ("\nraise SystemExit('enough')\n", "enough"),
        ("\nprint('no answer', flush=True)\nimport os; os._exit(0)\n", "process of the proof"),
    ],
)
@on_asyncio
async def test_a_version_that_cannot_be_imported_is_told(
    code: str, words: str, tmp_path: Path
) -> None:
    """With its reason, also where it ends the process."""
    async with worked(tmp_path / "bench") as rig:
        with changed_plugin(tmp_path, code) as version:
            proofs = Proofs(Settings())
            with pytest.raises((ValidationFailed, ToolWorkerUnavailable), match=words):
                await proofs.prove(folders(rig), 1, rig.state.seq, str(version))
        assert [*(rig.folder / "stage").iterdir()] == []


@pytest.mark.full
async def test_a_killed_proof_is_told_and_the_next_one_works(tmp_path: Path) -> None:
    """The answer is clear at once, the scratch folder is gone, and nothing else was changed."""
    async with worked(tmp_path / "bench") as rig:
        before = contents(rig.folder)
        proofs = Proofs(Settings())

        async def kill() -> None:
            os.kill(await first_child(), signal.SIGKILL)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(kill)
            with pytest.raises(ToolWorkerUnavailable, match="SIGKILL"):
                await proofs.prove(folders(rig), 1, rig.state.seq)
        assert contents(rig.folder) == before
        again = await proofs.prove(folders(rig), 1, rig.state.seq)
        assert (again.calls, again.equal) == (4, 4)


@pytest.mark.full
async def test_a_cancelled_proof_is_ended(tmp_path: Path) -> None:
    """Whoever waited has gone: the process goes, too, with its scratch folder."""
    async with worked(tmp_path / "bench") as rig:
        before = contents(rig.folder)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(Proofs(Settings()).prove, folders(rig), 1, rig.state.seq)
            await first_child()
            await anyio.sleep(0.3)
            tasks.cancel_scope.cancel()
        assert children() == set()
        assert contents(rig.folder) == before


@pytest.mark.full
@on_trio
async def test_errors_come_through(tmp_path: Path) -> None:
    """As the error that they were."""
    async with worked(tmp_path / "bench") as rig:
        proofs = Proofs(Settings())
        with pytest.raises(NotFound, match="no run 2"):
            await proofs.prove(folders(rig), 2, rig.state.seq)
        with pytest.raises(ValidationFailed, match="holds no package"):
            await proofs.prove(folders(rig), 1, rig.state.seq, str(tmp_path))


@pytest.mark.full
@on_trio
async def test_no_more_than_two_are_under_way(tmp_path: Path) -> None:
    """The third waits until one has ended; all are answered."""
    most = 0
    async with worked(tmp_path / "bench") as rig:
        proofs = Proofs(Settings())
        answers = []

        async def ask() -> None:
            answers.append(await proofs.prove(folders(rig), 1, rig.state.seq))

        async with anyio.create_task_group() as tasks:
            for _ in range(4):
                tasks.start_soon(ask)
            while len(answers) < 4:
                most = max(most, len(await run_sync(children)))
                await anyio.sleep(0.01)
    assert most == 2
    assert [answer.equal for answer in answers] == [4] * 4
