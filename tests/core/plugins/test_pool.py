"""Workers: what a call sees, how many run, how they start and end."""

import os
import signal
import sys
from pathlib import Path

import anyio
import pytest

from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool, function_name
from kbd.core.runtime.fairness import serve_for
from kbd.core.runtime.settings import Settings, WorkerLimits
from kbd.errors import FileReadFailed, NotFound, ToolWorkerUnavailable, ValidationFailed
from kbd.events.blobs import BlobStore
from kbd.events.checked_blobs import BlobDamaged
from kbd.types import BlobHash

PACKAGES = Path(__file__).with_name("packages")


@pytest.mark.anyio
async def test_a_call_sees_little(workers: WorkerPool, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key of the environment, no folder or locale of the daemon's, no socket but its own."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")
    for name in ("LANG", "LC_ALL", "TZ"):
        monkeypatch.setenv(name, "elsewhere")
    seen = await workers.call("faults", "kbd_faults.work:environment", {})

    here = {"LC_ALL": "C.UTF-8", "TZ": "UTC", "OPENBLAS_NUM_THREADS": "1"}
    assert set(seen["environ"]) <= {"PATH", "TMPDIR", *here}
    assert {name: seen["environ"][name] for name in here} == here
    assert (seen["cwd"], seen["core"], seen["session"], seen["umask"]) == ("/", 0, True, 0o077)
    # Three streams and the call's channel.
    assert len(seen["fds"]) == 4


@pytest.mark.anyio
async def test_nothing_is_left_for_the_next_call(workers: WorkerPool) -> None:
    """Calls share a parent, and nothing else: each is a new process."""
    before = await workers.call("faults", "kbd_faults.work:zygote", {})
    after = await workers.call("faults", "kbd_faults.work:zygote", {})

    assert before == after
    assert workers.status().workers == 1


@pytest.mark.anyio
async def test_a_dead_zygote_is_replaced(workers: WorkerPool) -> None:
    """One that was killed while idle costs the next call a start, not a failure."""
    before = await workers.call("faults", "kbd_faults.work:zygote", {})
    os.kill(before, signal.SIGKILL)

    assert await workers.call("faults", "kbd_faults.work:zygote", {}) != before


@pytest.mark.anyio
async def test_calls_run_side_by_side_up_to_the_limit(faulty: Plugins) -> None:
    """A third call waits while two run."""
    settings = Settings(workers=WorkerLimits(concurrency=2))
    async with WorkerPool(faulty, settings, extra_paths=[PACKAGES]) as workers:
        async with anyio.create_task_group() as tasks:
            for _ in range(2):
                tasks.start_soon(workers.call, "faults", "kbd_faults.work:kill", {"number": 0})
            with anyio.move_on_after(0.5) as waited:
                await anyio.wait_all_tasks_blocked()
                await workers.call("faults", "kbd_faults.work:echo", {"value": 1})
            tasks.cancel_scope.cancel()

        assert waited.cancelled_caught
        assert await workers.call("faults", "kbd_faults.work:echo", {"value": 1}) == 1


@pytest.mark.anyio
async def test_one_client_alone_does_not_have_all_workers(faulty: Plugins) -> None:
    """However many calls a client has under way and waiting, another's is made meanwhile."""
    settings = Settings(workers=WorkerLimits(concurrency=4))

    async def hang() -> None:
        serve_for(1)
        await workers.call("faults", "kbd_faults.work:kill", {"number": 0})

    async with WorkerPool(faulty, settings, extra_paths=[PACKAGES]) as workers:
        assert await workers.call("faults", "kbd_faults.work:echo", {"value": 0}) == 0
        async with anyio.create_task_group() as tasks:
            for _ in range(12):
                tasks.start_soon(hang)
            await anyio.sleep(0.2)
            serve_for(2)
            with anyio.fail_after(20):
                assert await workers.call("faults", "kbd_faults.work:echo", {"value": 1}) == 1
            tasks.cancel_scope.cancel()


@pytest.mark.anyio
async def test_a_blob_that_changes_under_a_call_is_told(
    loose_workers: WorkerPool, tmp_path: Path
) -> None:
    """What was answered was read from other bytes, or from both: nobody gets it."""
    store = BlobStore(tmp_path / "blobs")
    path = store.path(store.put_bytes(b"as recorded"))
    path.chmod(0o600)
    assert await loose_workers.call("faults", "kbd_faults.work:echo", {"value": path}) == str(path)
    with pytest.raises(BlobDamaged):
        await loose_workers.call("faults", "kbd_faults.work:write", {"target": path, "size": 11})
    path.write_bytes(b"as recorded")
    assert await loose_workers.call("faults", "kbd_faults.work:echo", {"value": path}) == str(path)


@pytest.mark.anyio
async def test_a_blob_that_is_gone_is_told_where_a_file_cannot_be_read(
    workers: WorkerPool, tmp_path: Path
) -> None:
    """Not the file is at fault; who does not need it is not hindered."""
    path = BlobStore(tmp_path / "blobs").path(BlobHash("ab" * 32))
    assert await workers.call("faults", "kbd_faults.work:echo", {"value": path}) == str(path)
    with pytest.raises(BlobDamaged, match="nothing is in their place"):
        await workers.call("faults", "kbd_faults.work:write", {"target": path, "size": 1})
    other = tmp_path / "none" / "a"
    with pytest.raises(FileReadFailed, match="failed with FileNotFoundError"):
        await workers.call("faults", "kbd_faults.work:write", {"target": other, "size": 1})


@pytest.mark.anyio
async def test_leaving_the_context_ends_the_processes(faulty: Plugins) -> None:
    """No zygote outlives its pool."""
    async with WorkerPool(faulty, Settings(), extra_paths=[PACKAGES]) as workers:
        zygote = await workers.call("faults", "kbd_faults.work:zygote", {})

    with pytest.raises(ProcessLookupError):
        os.kill(zygote, 0)
    assert not workers.status().available
    with pytest.raises(ToolWorkerUnavailable, match="stopped"):
        await workers.call("faults", "kbd_faults.work:zygote", {})


@pytest.mark.anyio
async def test_a_cancelled_start_is_made_again(workers: WorkerPool) -> None:
    """Whoever calls first may give up while the zygote imports; the next call starts another."""
    with anyio.move_on_after(0) as scope:
        await workers.call("faults", "kbd_faults.work:echo", {"value": 1})
    with anyio.move_on_after(0.02) as later:
        await workers.call("faults", "kbd_faults.work:echo", {"value": 1})

    assert scope.cancelled_caught
    assert later.cancelled_caught
    assert await workers.call("faults", "kbd_faults.work:echo", {"value": 1}) == 1


@pytest.mark.anyio
async def test_many_calls_at_once(workers: WorkerPool) -> None:
    """Each gets its own answer, whatever the order in which they end."""
    answers: dict[int, int] = {}

    async def ask(value: int) -> None:
        answers[value] = await workers.call("faults", "kbd_faults.work:echo", {"value": value})

    async with anyio.create_task_group() as tasks:
        for value in range(40):
            tasks.start_soon(ask, value)

    assert answers == {value: value for value in range(40)}


@pytest.mark.anyio
async def test_a_large_answer_arrives_whole(workers: WorkerPool) -> None:
    """Some megabytes there and back are the same."""
    value = [b"\x00\xff" * 1_000_000, "ü" * 1_000_000]

    assert await workers.call("faults", "kbd_faults.work:echo", {"value": value}) == value


@pytest.mark.anyio
async def test_what_cannot_be_sent_is_refused(workers: WorkerPool) -> None:
    """Arguments are plain values, records and paths."""
    with pytest.raises(ValidationFailed, match="cannot be sent"):
        await workers.call("faults", "kbd_faults.work:echo", {"value": object()})
    path = {"value": Path("/etc")}
    assert await workers.call("faults", "kbd_faults.work:echo", path) == "/etc"


@pytest.mark.anyio
async def test_only_the_plugins_own_functions_run(workers: WorkerPool) -> None:
    """A name outside its package is refused before anything is imported."""
    for name in ("os:getpid", "kbd_faults_other:f", "kbd.core.plugins.forked_call:run_call"):
        with pytest.raises(Exception, match="not a function of kbd_faults"):
            await workers.call("faults", name, {})
    with pytest.raises(NotFound):
        await workers.call("stranger", "os:getpid", {})


@pytest.mark.anyio
async def test_an_import_that_fails_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plugin whose heavy library is missing in the worker is unavailable, with the reason."""
    package = tmp_path / "kbd_halved"
    package.mkdir()
    declared = (PACKAGES / "kbd_faults" / "__init__.py").read_text()
    (package / "__init__.py").write_text(declared.replace("kbd_faults.work", "kbd_halved.gone"))
    monkeypatch.syspath_prepend(str(tmp_path))
    plugins = Plugins.discover(Settings(), found=[EntryPoint("halved", "kbd_halved")])

    async with WorkerPool(plugins, Settings(), extra_paths=[tmp_path]) as workers:
        with pytest.raises(ToolWorkerUnavailable, match="ModuleNotFoundError") as raised:
            await workers.call("halved", "kbd_halved:f", {})

        assert str(tmp_path) not in raised.value.message
        assert raised.value.detail == {}
        assert "kbd_halved" in (workers.status().error or "")


def test_a_functions_name() -> None:
    """It can be resolved in another process; a local one cannot, and is refused."""
    assert function_name(os.path.join) == "posixpath:join"
    with pytest.raises(ValidationFailed, match="top of its module"):
        function_name(lambda: None)


FORKING = [
    "xlsx",  # openpyxl imports numpy where it finds it, which starts threads unless told not to
    *(pytest.param(name, marks=pytest.mark.full) for name in ("docx", "pdf", "pptx", "image")),
]


@pytest.mark.anyio
@pytest.mark.parametrize("anyio_backend", ["asyncio"])
@pytest.mark.parametrize("name", FORKING)
async def test_what_forks_has_one_thread(name: str) -> None:
    """No library that a built-in format imports starts a thread in the process that forks."""
    plugins = Plugins.discover(Settings())
    async with WorkerPool(plugins, Settings()) as workers:
        process = await workers._process(plugins.get(name))
        assert process.threads == 1


@pytest.mark.anyio
async def test_a_plugin_that_reads_other_files_is_not_left_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Who sends three hostile files does not take a stranger's format from everybody."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(PACKAGES)])
    theirs = Plugins.discover(Settings(), found=[EntryPoint("faults", "kbd_faults")])
    store = BlobStore(tmp_path / "blobs")
    async with WorkerPool(theirs, Settings(), extra_paths=[PACKAGES]) as workers:
        for number in range(4):
            blob = store.path(store.put_bytes(bytes([number])))
            arguments = {"path": blob, "statement": ""}
            with pytest.raises(FileReadFailed):
                await workers.call("faults", "kbd_faults.work:die_of", arguments)
            assert await workers.call("faults", "kbd_faults.work:echo", {"value": blob})
