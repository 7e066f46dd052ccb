"""The reader of lineages: what the log has by now, and what a damaged one had before."""

from pathlib import Path

import pytest

from kbd.core.workbench import lineage
from kbd.types import FileName
from supervised import add, draft, supervised

pytestmark = pytest.mark.anyio

A = FileName("a.txt")


@pytest.mark.parametrize("kept", [0, 1_000])
async def test_it_follows_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    """Whether what it folded is kept or not, and in whatever pages it reads."""
    monkeypatch.setattr(lineage, "MAX_KEPT", kept)
    monkeypatch.setattr(lineage, "PAGE_EVENTS", 2)
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="1")
        journal = bench.keeper.journal
        first = await bench.lineages.read(journal, A)
        await draft(bench, a__txt="2")
        await add(bench, "b.txt", "x")
        await draft(bench, a__txt="3")
        found = await bench.lineages.read(journal, A)

        assert first.current is not None
        assert first.current.kind == "added"
        assert found.current is not None
        assert found.current.after == bench.state.draft.files[A].blob  # type: ignore[union-attr]
        assert found.current.older is not None
        assert found.current.older.older is found.base
        assert (await bench.lineages.read(journal, FileName("none"))).current is None


async def test_a_damaged_log_tells_what_was_before_the_damage(tmp_path: Path) -> None:
    """The rest is not known, and nothing is raised."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="1")
        await draft(bench, a__txt="2")
        journal, folder = bench.keeper.journal, running.folders(bench).log
        intact = await bench.lineages.read(journal, A)
        (segment,) = folder.glob("*.kbl")
        data = bytearray(segment.read_bytes())
        data[data.rindex(b"FileChanged")] ^= 1
        segment.write_bytes(data)
        found = await lineage.LineageReader().read(journal, A)

        assert intact.current is not None
        assert found.current is not None
        assert found.current.after == bench.state.files[A].blob
