"""What a publish costs: `python benchmarks/publish.py [rounds] [MiB]`.

100 changed files, 1 GiB in all, on one disk, each durable at the end:

    copy           each file copied to its place and synced, then the folder
    stage, rename  each copied beside and synced, the folder synced, then renamed over the old one
                   and the folder synced: what a publish cannot do without
    publish        a publish of a draft of the same files: conflicts looked for, a checkpoint, blobs
                   checked by their hashes, staged, recorded, put in place

The files change in every round, so that nothing is there already. The disk is not ours: what counts
are the ratios in one run.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import anyio

from benchmarks._measure import interleave, table
from kbd.core.domain.commands import RecordFacts
from kbd.core.domain.daemon_state import KnownWorkbench
from kbd.core.runtime.clock import SystemClock
from kbd.core.runtime.paths import Home, WorkbenchFolders
from kbd.core.runtime.secrets import Secrets
from kbd.core.sessions.recovery import close_workbench, open_workbench, recover_workbench
from kbd.core.store.redaction import Redaction
from kbd.core.workbench.publish import publish
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.events.drafts import DraftOpened, FileChanged
from kbd.types import FileName, WorkbenchId

FILES = 100
TOTAL_MIB = 1024
CHUNK_BYTES = 1 << 20
BENCH = WorkbenchId("0123456789abcdef")
CLOCK = SystemClock()


def make_sources(folder: Path, size_bytes: int) -> list[Path]:
    """Make new files of bytes that no disk can squeeze."""
    folder.mkdir(exist_ok=True)
    paths = [folder / f"file{number}.bin" for number in range(FILES)]
    for path in paths:
        with path.open("wb") as file:
            left = size_bytes
            while left:
                left -= file.write(os.urandom(min(CHUNK_BYTES, left)))
            file.flush()
            os.fsync(file.fileno())
    return paths


def sync_folder(folder: Path) -> None:
    """Make the names in a folder durable."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    os.fsync(held)
    os.close(held)


def copy_durably(source: Path, target: Path) -> None:
    """Copy a file through memory, and sync it."""
    with source.open("rb") as read, target.open("wb") as write:
        while chunk := read.read(CHUNK_BYTES):
            write.write(chunk)
        write.flush()
        os.fsync(write.fileno())


def copied(folder: Path, size_bytes: int) -> float:
    """A bare copy; returns MiB a second."""
    sources, target = make_sources(folder / "sources", size_bytes), folder / "copied"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    start = time.perf_counter()
    for source in sources:
        copy_durably(source, target / source.name)
    sync_folder(target)
    spent = time.perf_counter() - start
    shutil.rmtree(target)
    return FILES * size_bytes / (1 << 20) / spent


def renamed(folder: Path, size_bytes: int) -> float:
    """A copy beside and a rename over what is there; returns MiB a second."""
    sources = make_sources(folder / "sources", size_bytes)
    target, stage = folder / "renamed", folder / "stage"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    stage.mkdir(exist_ok=True)
    for source in sources:
        (target / source.name).write_bytes(b"old")
    start = time.perf_counter()
    for source in sources:
        copy_durably(source, stage / source.name)
    sync_folder(stage)
    for source in sources:
        (stage / source.name).rename(target / source.name)
    sync_folder(target)
    spent = time.perf_counter() - start
    shutil.rmtree(target)
    return FILES * size_bytes / (1 << 20) / spent


async def edit(bench: OpenWorkbench, sources: list[Path]) -> None:
    """Make a draft of new versions."""
    facts: list[DraftOpened | FileChanged] = [DraftOpened(CLOCK.new_id())]
    for source in sources:
        name = FileName(source.name)
        entry = bench.state.files.get(name)
        blob, size_bytes = await bench.blobs.put_file(source)
        facts.append(FileChanged(name, entry.blob if entry else None, blob, size_bytes))
    await bench.keeper.submit(RecordFacts(tuple(facts)))


async def publish_draft(bench: OpenWorkbench) -> None:
    """Publish the draft."""
    await publish(
        bench, CLOCK, names=None, keep_both=False, accept_external=False, progress=lambda _: None
    )


async def publish_once(root: Path, sources: list[Path], base: list[Path]) -> float:
    """Publish in a new workbench that has other versions of the files; returns seconds."""
    secrets = Secrets(Home(folder=root, socket=root / "s"), {})
    bench = await open_workbench(WorkbenchFolders(BENCH, root), CLOCK, Redaction(secrets))
    spent = 0.0
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(bench.keeper.run)
        await recover_workbench(bench, CLOCK, KnownWorkbench(BENCH, "publish", 0))
        for versions in (base, sources):
            await edit(bench, versions)
            start = time.perf_counter()
            await publish_draft(bench)
            spent = time.perf_counter() - start
        tasks.cancel_scope.cancel()
    await close_workbench(bench)
    return spent


def published(folder: Path, size_bytes: int) -> float:
    """A publish over old versions of the same size; returns MiB a second."""
    base = make_sources(folder / "base", size_bytes)
    sources, root = make_sources(folder / "sources", size_bytes), folder / "root"
    spent = anyio.run(publish_once, root, sources, base)
    assert all((root / "published" / path.name).stat().st_size == size_bytes for path in sources)
    shutil.rmtree(root)
    shutil.rmtree(folder / "base")
    return FILES * size_bytes / (1 << 20) / spent


def main() -> None:
    """Measure and print."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    total_mib = int(sys.argv[2]) if len(sys.argv) > 2 else TOTAL_MIB
    size_bytes = total_mib * (1 << 20) // FILES
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as name:
        folder = Path(name)
        candidates: dict[str, Callable[[], float]] = {
            "copy": lambda: copied(folder, size_bytes),
            "stage, rename": lambda: renamed(folder, size_bytes),
            "publish": lambda: published(folder, size_bytes),
        }
        found = interleave(candidates, rounds)
    table(f"a publish of {FILES} files, {total_mib:,} MiB", "MiB/s", found, "copy")
    print(f"\n  a publish takes {found['copy'] / found['publish']:.2f} times a bare copy")


if __name__ == "__main__":
    main()
