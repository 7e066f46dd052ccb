"""Folders of a workbench: a closed one has only those in which something lies."""

from pathlib import Path

import pytest

from kbd.core.audit.home_logs import verify_home_log
from kbd.core.runtime.paths import Home
from kbd.core.sessions import recovery
from supervised import crashed, draft, files_in, supervised

pytestmark = pytest.mark.anyio

DERIVED = f"map-6-{'ab' * 32}"


def _folders(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_dir()}


async def test_a_closed_workbench_has_no_empty_folders(tmp_path: Path) -> None:
    """What is needed is there when it is opened again; nothing that lies somewhere goes."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench()
        root = bench.folders.root
        assert {"log", "published", "stage", "cache", "blobs"} <= _folders(root)
    # The stage stays: a publish must not find it gone by a power cut.
    there = {"log", "blobs", "blobs/kept", "published", "stage", "meta", "meta/workshop"}
    assert _folders(root) <= there
    empty = {each for each in _folders(root) if not any((root / each).iterdir())}
    assert empty <= {"blobs", "blobs/kept", "published", "stage"}

    async with supervised(tmp_path / "h") as again:
        bench = await again.benches.open(bench.id)
        await draft(bench, a__txt="made")
        assert files_in(root / "draft") == {"a.txt": "made"}
    assert files_in(root / "draft") == {"a.txt": "made"}
    assert "snap" not in _folders(root)


async def test_what_is_derived_from_little_goes_at_a_close(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a workbench whose files are small; what has no hash in its name is somebody's choice."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="small")
        cache = bench.folders.cache
        (cache / DERIVED).write_bytes(b"map")
        (cache / "chosen").write_bytes(b"elsewhere")
    assert [path.name for path in cache.iterdir()] == ["chosen"]

    monkeypatch.setattr(recovery, "SMALL_BYTES", 4)
    async with supervised(tmp_path / "h") as again:
        await again.benches.open(bench.id)
        (cache / DERIVED).write_bytes(b"map")
    assert (cache / DERIVED).exists()


async def test_a_home_of_an_older_kbd_is_read_as_it_lies(tmp_path: Path) -> None:
    """With a folder for each two digits and all that are empty: nothing is moved by reading."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old", b__txt="other")
        await draft(bench, a__txt="new")
        home = crashed(running.home, tmp_path / "older")
    root = home / "workbenches" / bench.id
    for path in list((root / "blobs").iterdir()):
        (root / "blobs" / path.name[:2]).mkdir(exist_ok=True)
        path.rename(root / "blobs" / path.name[:2] / path.name)
    for part in ("snap", "cache", "draft"):
        (root / part).mkdir(exist_ok=True)
    before = files_in(root / "blobs")

    found = verify_home_log(Home(folder=home, socket=home / "s"), bench.id)
    assert (found.faults, found.blobs) == ((), 3)
    async with supervised(home) as again:
        bench = await again.benches.open(bench.id)
        assert files_in(root / "draft") == {"a.txt": "new"}
        assert files_in(root / "published") == {"a.txt": "old", "b.txt": "other"}
        assert files_in(root / "blobs") == before
        await draft(bench, c__txt="made", b__txt="old")
    kept = files_in(root / "blobs")
    assert {name: kept[name] for name in before} == before
    # One more content, beside the others: the second is there already.
    assert len(kept) == len(before) + 1
    assert verify_home_log(Home(folder=home, socket=home / "s"), bench.id).faults == ()
