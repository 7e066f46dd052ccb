"""draft/ and _rpi/ follow the log; what hinders them hinders nothing else, and not for long."""

from pathlib import Path

import anyio
import pytest

from kbd.core.domain.commands import DiscardDraft
from supervised import draft, files_in, supervised

pytestmark = pytest.mark.anyio


async def test_a_draft_that_cannot_be_shown_fails_nothing(tmp_path: Path) -> None:
    """The change is recorded and answered; when nothing is in the way draft/ follows by itself."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        folder = bench.folders.draft
        (folder / "a.txt").mkdir(parents=True)
        (folder / "a.txt" / "held").symlink_to(tmp_path)
        await draft(bench, a__txt="1", b__txt="2")
        await draft(bench, b__txt="3")
        assert bench.state.draft is not None
        assert (folder / "a.txt").is_dir()

        (folder / "a.txt" / "held").unlink()
        (folder / "a.txt").rmdir()
        with anyio.fail_after(30):
            while files_in(folder) != {"a.txt": "1", "b.txt": "3"}:  # noqa: ASYNC110 - a folder
                await anyio.sleep(0.05)
        await draft(bench, a__txt="4")
        assert files_in(folder) == {"a.txt": "4", "b.txt": "3"}


async def test_only_what_changed_is_written(tmp_path: Path) -> None:
    """A file of the draft that did not change is not touched; after a discard all are gone."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="old")
        folder = bench.folders.draft
        await draft(bench, a__txt="1", b__txt="2")
        before = (folder / "b.txt").stat()
        await draft(bench, a__txt="3")

        after = (folder / "b.txt").stat()
        assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
        assert files_in(folder) == {"a.txt": "3", "b.txt": "2"}
        await draft(bench, a__txt="old")
        assert files_in(folder) == {"b.txt": "2"}
        await bench.keeper.submit(DiscardDraft())
        assert not folder.exists()
