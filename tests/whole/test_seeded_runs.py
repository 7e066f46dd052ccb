"""Runs made of seeds over real files are done again, and every call comes out equal to the byte."""

import shutil
from pathlib import Path

import pytest

from backends import on_trio
from kbd.core.catalog import Catalog
from kbd.core.plugins.host import Plugins
from kbd.core.proof.proving import prove
from kbd.core.settings import Settings
from kbd.core.workers.pool import Workers
from whole.seeded_runs import LIMITS, Coverage, chosen, seeded_run

pytestmark = [pytest.mark.anyio, pytest.mark.corpora]

SMALL_BYTES = 40_000


@on_trio
async def test_short_runs_are_the_same_twice(corpora: Path, tmp_path: Path) -> None:
    """Ten runs: refusals, failures, loops and rolled back items too, all as they were recorded.

    The proof has an empty cache; its calls run in other processes of the same workers.
    """
    settings = Settings()
    plugins = Plugins.discover(settings)
    catalog, seen = Catalog(plugins), Coverage()
    async with Workers(plugins, settings) as workers:
        for seed in range(10):
            folder, scratch = tmp_path / f"{seed}", tmp_path / f"scratch {seed}"
            files = chosen(corpora, seed, 3, 1, SMALL_BYTES)
            folders, events = await seeded_run(folder, seed, 1, files, catalog, workers)
            seen.add(events)
            scratch.mkdir()
            found = await prove(
                folders, 1, scratch, catalog=catalog, workers=workers, limits=LIMITS
            )
            assert not found.divergences, f"seed {seed}: {found.divergences[0]}"
            assert found.equal == found.calls > 0, f"seed {seed}"
            shutil.rmtree(folder)
    assert len(seen.tools) >= 12
    assert len(seen.operations) >= 8
