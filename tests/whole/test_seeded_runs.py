"""Runs made of seeds over real files are done again, and every call comes out equal to the byte."""

import os
import shutil
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from backends import on_trio
from kbd.core.audit.proof import prove
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.settings import Settings
from kbd.formats import Editable
from kbd.requests.replays import RunReplayed
from model_server import Reply, call, calls, model_server, text
from real_daemon import RealDaemon
from whole.seeded_calls import EDITED
from whole.seeded_runs import (
    LIMITS,
    Coverage,
    asked_over_http,
    chosen,
    made,
    reply,
    seeded_run,
)

SMALL_BYTES, LARGE_BYTES = 40_000, 400_000
RUNS = 50
"""Long runs on each of the two backends."""
TURNS = 5
KILLED_RUNS = 6

HERE = {"TZ": "Asia/Kathmandu", "LC_ALL": "C", "PYTHONHASHSEED": "1"}
THERE = {"TZ": "America/St_Johns", "LC_ALL": "C.UTF-8", "PYTHONHASHSEED": "4000000000"}


@asynccontextmanager
async def _workers(plugins: Plugins) -> AsyncIterator[tuple[Catalog, WorkerPool]]:
    async with WorkerPool(plugins, Settings()) as workers:
        yield Catalog(plugins), workers


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Another time zone, folder and mask than those of the machine."""
    (tmp_path / "some where").mkdir()
    monkeypatch.chdir(tmp_path / "some where")
    monkeypatch.setenv("TZ", "Pacific/Chatham")
    time.tzset()
    mask = os.umask(0o007)
    yield
    os.umask(mask)
    monkeypatch.undo()
    time.tzset()


def _check(seed: int, found: RunReplayed) -> None:
    assert not found.divergences, f"seed {seed} diverges first at {found.divergences[0]}"
    assert found.equal == found.calls > 0, f"seed {seed}"


@pytest.mark.full
@pytest.mark.anyio
@pytest.mark.corpora
@on_trio
async def test_short_runs_are_the_same_twice(corpora: Path, tmp_path: Path) -> None:
    """Four runs: refusals, failures, loops and rolled back items too, all as they were recorded.

    The proof has an empty cache; its calls run in other processes of the same workers.
    """
    seen = Coverage()
    async with _workers(Plugins.discover(Settings())) as (catalog, workers):
        for seed in range(4):
            folder, scratch = tmp_path / f"{seed}", tmp_path / f"scratch {seed}"
            files = chosen(corpora, seed, 3, 1, SMALL_BYTES)
            folders, events = await seeded_run(folder, seed, 1, files, catalog, workers)
            seen.add(events)
            scratch.mkdir()
            _check(
                seed,
                await prove(
                    folders,
                    1,
                    scratch,
                    catalog=catalog,
                    workers=workers,
                    settings=Settings(run=LIMITS),
                ),
            )
    assert len(seen.tools) >= 8
    assert len(seen.operations) >= 4


@pytest.mark.anyio
@pytest.mark.corpora
@pytest.mark.soak
@pytest.mark.timeout(3600)
@pytest.mark.usefixtures("elsewhere")
async def test_long_runs_are_the_same_twice(
    corpora: Path, tmp_path: Path, anyio_backend: str
) -> None:
    """Fifty runs on each backend, proven by workers of their own with nothing cached.

    Every tool, every format and every operation of the editable ones was called with success.
    """
    plugins = Plugins.discover(Settings())
    seen, total, reasons = Coverage(), Counter[str](), Counter[str]()
    first = 0 if anyio_backend == "asyncio" else RUNS
    async with _workers(plugins) as (catalog, workers), _workers(plugins) as (_, others):
        for seed in range(first, first + RUNS):
            folder, scratch = tmp_path / f"{seed}", tmp_path / f"scratch {seed}"
            files = [*chosen(corpora, seed, 6, 2, LARGE_BYTES), *made(tmp_path / "made")]
            folders, events = await seeded_run(folder, seed, TURNS, files, catalog, workers)
            seen.add(events)
            scratch.mkdir()
            found = await prove(
                folders, 1, scratch, catalog=catalog, workers=others, settings=Settings(run=LIMITS)
            )
            _check(seed, found)
            total.update(runs=1, calls=found.calls, files=found.files, refused=found.refusals)
            reasons.update(skipped.reason for skipped in found.skipped)
            shutil.rmtree(folder)
            shutil.rmtree(scratch)
        print(f"\n{anyio_backend}: {dict(total)}, skipped {dict(reasons)}")
        print(f"tools {dict(seen.tools)}\noperations {dict(seen.operations)}")
        print(f"suffixes {dict(seen.suffixes)}\nfailures {dict(seen.failures)}")
        _check_coverage(seen, catalog)
    assert sum(reasons.values()) < total["calls"] // 50


def _check_coverage(seen: Coverage, catalog: Catalog) -> None:
    assert set(seen.tools) == {entry.tool.name for entry in catalog.tools()}
    formats = {handler.name for handler in map(catalog.for_name, seen.names) if handler}
    assert formats == {handler.name for handler in catalog.handlers()}
    for handler in catalog.handlers():
        if isinstance(handler, Editable):
            assert handler.name in EDITED
            wanted = {str(record.__struct_config__.tag) for record in handler.operations}
            called = {operation for kind, operation in seen.operations if kind == handler.name}
            assert called == wanted


class _Model:
    """A seeded model behind HTTP that has the daemon killed at some of its turns.

    Args:
        seed: Its seed.
        turns: The turns, over all conversations, at which that happens.

    Attributes:
        kill: Kills the daemon.
    """

    def __init__(self, seed: int, turns: frozenset[int]) -> None:
        self._seed, self._turns, self._asked = seed, turns, 0
        self.kill: Callable[[], None] | None = None

    def __call__(self, body: dict[str, Any]) -> Reply:
        """Make a turn."""
        self._asked += 1
        if self._asked in self._turns and self.kill is not None:
            self.kill()
        said, wanted = reply(self._seed, 3, asked_over_http(body))
        if not wanted:
            return text(said)
        return calls(*(call(name, given, f"c{n}") for n, (name, given) in enumerate(wanted)))


@pytest.mark.corpora
@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_a_daemon_that_was_killed_proves_its_runs(
    corpora: Path, short_dir: Path, tmp_path: Path, anyio_backend: str
) -> None:
    """Killed with -9 and gone on with, and proven under another hash seed, zone and locale.

    The proof is the daemon's own, in a process of its own, with nothing cached.
    """
    total = Counter[str]()
    for seed in range(200, 200 + KILLED_RUNS):
        home = short_dir / f"h{seed}"
        files = [*chosen(corpora, seed, 6, 1, LARGE_BYTES), *made(tmp_path / "made")]
        workbench_id, kills = _recorded(home, anyio_backend, seed, files)
        daemon = RealDaemon(home, anyio_backend, THERE)
        daemon.start()
        with daemon.client() as client:
            run = {"run_id": f"{workbench_id}-1"}
            found: dict[str, Any] = client.send("ReplayRun", run, timeout=600)
        daemon.stop()
        assert not found["divergences"], f"seed {seed}: {found['divergences'][0]}"
        assert found["equal"] == found["calls"] > 0
        total.update(kills=kills, calls=found["calls"], files=found["files"])
        total["skipped"] += len(found["skipped"])
    print(f"\n{anyio_backend}, daemons: {dict(total)}")
    assert total["kills"] >= KILLED_RUNS
    assert total["skipped"] <= total["kills"]


def _recorded(home: Path, backend: str, seed: int, files: list[Path]) -> tuple[str, int]:
    """Have a run recorded by a daemon that is killed meanwhile; return it and the kills."""
    model = _Model(seed, frozenset((3 + seed % 3, 7, 9)))
    with model_server(model) as server:
        environment = {
            **HERE, "OPENAI_BASE_URL": server.base_url, "KBD_MODEL": "openai:seeded",
            "KBD_RUN_RETRY_S": "0.01", "KBD_RUN_ITEM_TURNS": str(LIMITS.item_turns),
        }  # fmt: skip
        daemon = RealDaemon(home, backend, environment)
        model.kill = daemon.kill
        daemon.start()
        workbench_id = daemon.workbench(*files)
        kills = _run_to_the_end(daemon, workbench_id)
        daemon.stop()
    return workbench_id, kills


def _run_to_the_end(daemon: RealDaemon, workbench_id: str) -> int:
    """Run a request, start the daemon again whenever it was killed, and return how often."""
    kills = 0
    daemon.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="do many things")
    while True:
        try:
            started = daemon.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)
            run = daemon.wait_for_run(started["run_id"])
        except (OSError, ConnectionError):
            kills += 1
            daemon.start()
            continue
        assert run["status"] == "finished", run
        return kills
