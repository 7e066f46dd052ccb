"""The families of metrics: all that there are stand in the reference, and the other way round."""

from pathlib import Path

import anyio
import pytest

from documentation import names, table
from kbd.core.api.metrics import MetricsMethods
from kbd.core.metrics.exposition import render
from kbd.core.runtime.settings import RetentionSettings, Settings
from supervised import supervised

pytestmark = pytest.mark.anyio


async def test_metrics_are_documented(tmp_path: Path, anyio_backend: str) -> None:
    """Each by its name, kind and labels."""
    # A home without a quota is not measured.
    settings = Settings(retention=RetentionSettings(quota_bytes=1 << 40))
    async with supervised(tmp_path, settings) as daemon:
        families = await MetricsMethods(daemon.context, daemon.benches).families()
    rows = table("reference/metrics.md", "Metrics")

    assert {each.name for each in families} == rows.keys()
    assert len({each.name for each in families}) == len(families)
    for family in families:
        assert family.kind == rows[family.name]["kind"]
        assert family.name.endswith("_total") == (family.kind == "counter")
        for sample in family.samples:
            labels = [name for name, _ in sample.labels if name != "le"]
            assert labels == names(rows[family.name]["labels"])


async def test_what_is_open_and_recorded_is_counted(tmp_path: Path, anyio_backend: str) -> None:
    """Of a workbench that is there, and of its log as it is now."""
    async with supervised(tmp_path) as daemon:
        bench = await daemon.bench(a__txt="x")
        with anyio.fail_after(30):
            text = render(await MetricsMethods(daemon.context, daemon.benches).families())
        seq = bench.state.seq + daemon.benches.daemon.state.seq

    assert 'kbd_workbenches{status="idle"} 1\n' in text
    assert "kbd_workbenches_open 1\n" in text
    assert f"kbd_log_events {seq}\n" in text
    assert 'kbd_events_appended_total{type="FileAdded"} 1\n' in text
