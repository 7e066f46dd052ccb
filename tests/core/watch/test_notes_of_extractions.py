"""What a person has extracted into a watched folder is noted before it is there."""

from pathlib import Path

import pytest

from kbd.core.api.files import FileMethods
from kbd.core.domain.watch_decisions import AddWatch, RemoveWatch
from kbd.core.domain.watch_state import Written
from kbd.core.workbench.destination import resolve_destination
from kbd.core.workbench.extraction import record_planned_writes
from kbd.events.base import FileVersion
from kbd.events.watches import WatchRule
from kbd.requests.workbenches import WorkbenchFilesExtract
from kbd.types import BlobHash, FileName, WatchId
from quiet import Quiet
from supervised import Supervised, supervised

pytestmark = pytest.mark.anyio

WATCH = WatchId("00000000000000aa")
FILES = (
    FileVersion(FileName("a.txt"), BlobHash("a" * 64), 1),
    FileVersion(FileName("sub/b.txt"), BlobHash("b" * 64), 1),
)


@pytest.fixture
def inbox(tmp_path: Path) -> Path:
    """A watched folder with another beside it, and a link to the first."""
    folder = (tmp_path / "inbox").resolve()
    for made in (folder, tmp_path / "inbox2", folder / "deep"):
        made.mkdir()
    (tmp_path / "link").symlink_to(folder)
    return folder


async def _noted(running: Supervised, directory: Path) -> dict[str, tuple[Written, ...]]:
    destination = resolve_destination(str(directory), running.home.folder)
    await record_planned_writes(running.benches.daemon, destination.real, FILES)
    return running.benches.daemon.state.watching.written


async def test_only_what_goes_into_a_watched_folder_is_noted(tmp_path: Path, inbox: Path) -> None:
    """Each file where it really goes, behind a link that was named; once."""
    async with supervised(tmp_path / "h") as running:
        daemon = running.benches.daemon
        assert await _noted(running, inbox) == {}
        await daemon.submit(AddWatch(WATCH, WatchRule("reports", str(inbox), "do it")))
        # It only begins like the watched one.
        assert await _noted(running, tmp_path / "inbox2") == {}
        found = await _noted(running, tmp_path / "link" / "deep")
        deep = str(inbox / "deep")
        assert found == {
            "a" * 64: (Written(deep, "", 0),),
            "b" * 64: (Written(f"{deep}/sub", "", 0),),
        }
        seq = daemon.state.seq
        await _noted(running, inbox / "deep")
        assert daemon.state.seq == seq


async def test_nobody_asks_once_a_watch_is_removed(tmp_path: Path, inbox: Path) -> None:
    """Nothing is noted for it any more."""
    async with supervised(tmp_path / "h") as running:
        daemon = running.benches.daemon
        await daemon.submit(AddWatch(WATCH, WatchRule("reports", str(inbox), "do it")))
        await daemon.submit(RemoveWatch(WATCH))
        assert await _noted(running, inbox) == {}


async def test_an_extraction_is_noted_before_it_is_made(tmp_path: Path, inbox: Path) -> None:
    """A client's own: only the files that it wants and that are there."""
    async with supervised(tmp_path / "h") as running:
        bench = await running.bench(a__txt="x", b__txt="y")
        daemon = running.benches.daemon
        await daemon.submit(AddWatch(WATCH, WatchRule("reports", str(inbox), "do it")))
        request = WorkbenchFilesExtract(
            workbench_id=bench.id,
            destination_dir=str(inbox),
            workbench_paths=("a.txt", "../a.txt", "none.txt"),
        )
        extract = FileMethods(running.context, running.benches).extract
        (found, *_) = (await extract(request, Quiet())).extract_results

        assert found.final_path == str(inbox / "a.txt")
        entry = bench.state.files[FileName("a.txt")]
        assert daemon.state.watching.written == {entry.blob: (Written(str(inbox), "", 0),)}
        assert daemon.state.watching.is_written_by_kbd(entry.blob, str(inbox), WATCH)
