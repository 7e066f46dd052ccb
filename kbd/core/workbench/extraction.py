"""Extraction: copies of published files in a user's folder, each with intent and outcome.

Nothing is ever overwritten, and no link is followed (`kbd.core.workbench.destination`). A copy is
written under a hidden name, the partial, and gets its own name as a second link to the same file. A
delivery keeps the partial until the log says that it is
done: after a crash it tells whether the copy was made, and under which name.

Before kbd writes below a watched folder, the daemon's log is told, so that the watch starts no work
on what kbd wrote itself.
"""

import errno
import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.domain.commands import RecordFacts
from kbd.core.domain.daemon_decisions import DaemonCommand
from kbd.core.domain.daemon_state import DaemonState
from kbd.core.domain.watch_decisions import RecordWrites
from kbd.core.domain.watch_state import Watching, WatchStatus, Written
from kbd.core.runtime.clock import Clock
from kbd.core.runtime.held_folder import (
    FOLDER_FLAGS,
    hold_exact,
    is_link_error,
    open_below,
)
from kbd.core.runtime.paths import OWN_UMASK
from kbd.core.store.keeper import Keeper
from kbd.core.workbench.destination import (
    Destination,
    create_partial_file,
    describe_error,
    hold_destination,
    link_partial,
    set_mode,
)
from kbd.core.workbench.sandbox import file_name
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import DiskFull, FileWriteFailed, KbdError, ValidationFailed
from kbd.events.base import Actor, FileVersion
from kbd.events.blobs import BlobStore
from kbd.events.disk import is_full
from kbd.events.drafts import EffectAborted, EffectDone, EffectIntended
from kbd.events.shortages import raise_shortage
from kbd.events.watches import FilesWritten
from kbd.requests.workbenches import ExtractResult

__all__ = [
    "CopyRefused",
    "close_unfinished_effects",
    "copy_to_folder",
    "extract_files",
    "extract_version",
    "find_copy",
    "numbered_names",
    "partial_name",
    "record_planned_writes",
    "remove_partial",
]


class CopyRefused(FileWriteFailed):
    """A copy would go through a link, below what is no folder, or into the home of kbd.

    That does not pass: a person has to change the folder, or the name.
    """


def numbered_names(name: str) -> Iterator[str]:
    """Yield a name, then numbered alternatives: `a(1).txt`, `a(2).txt`.

    `a.txt`, `a(1).txt`, `a(2).txt` …; `archive.tar.gz`, `archive.tar(1).gz`; `.env`, `.env(1)`.
    """
    yield name
    stem, suffix = os.path.splitext(name)
    count = 1
    while True:
        yield f"{stem}({count}){suffix}"
        count += 1


def copy_to_folder(
    effect: EffectIntended, blobs: BlobStore, home: Path, umask: int = OWN_UMASK
) -> str:
    """Copy a file to its effect's folder and return the name it got, relative to the folder.

    The copy is complete and durable before it has its name, and the name was free. An extraction
    makes the folder if it is missing. A delivery does not, for it may be a disk that is not there
    now; and it keeps the partial, so `remove_partial` is called when its end is recorded.

    Args:
        effect: What is copied where; the path of the folder is a resolved one.
        blobs: The bytes.
        home: The home of kbd, in which nothing is written.
        umask: What the copy and new folders are made with.

    Raises:
        NotFound: The stored bytes are missing.
        BlobDamaged: The stored bytes are damaged; nothing was copied.
        DiskFull: No space is left.
        CopyRefused: The folder is behind a link, is none, or is kbd's own.
        FileWriteFailed: It is missing or cannot be written.
    """
    below, _, last = effect.file.name.rpartition("/")
    is_delivery = effect.kind == "deliver"
    try:
        with hold_destination(
            effect.directory, below, home, make=not is_delivery, umask=umask
        ) as folder:
            final = _copy_below(effect, blobs, folder, last, 0o666 & ~umask)
    except ValidationFailed as refused:
        msg = f"{effect.file.name!r} cannot be {effect.kind}ed: {refused.message}"
        raise CopyRefused(msg) from None
    except OSError as error:
        raise _copy_failure(effect, error) from None
    return f"{below}/{final}" if below else final


def _copy_below(effect: EffectIntended, blobs: BlobStore, folder: int, last: str, mode: int) -> str:
    """Copy a file into a held folder; what fails leaves nothing."""
    partial, final = partial_name(effect), ""
    held = create_partial_file(folder, partial)
    try:
        blobs.copy_to(effect.file.blob, held)
        set_mode(held, mode)
        os.fsync(held)  # Bytes before the name: whoever sees the name sees them all.
        final = _link_free_name(partial, folder, held, last)
        if effect.kind != "deliver":
            os.unlink(partial, dir_fd=folder)
        os.fsync(folder)
    except BaseException:
        for name in (partial, final):
            with suppress(OSError):
                if name:
                    os.unlink(name, dir_fd=folder)
        raise
    finally:
        os.close(held)
    return final


def find_copy(effect: EffectIntended) -> str | None:
    """Find the copy of a delivery that a crash cut off: its name, or None if it was not made.

    One that somebody has moved away since was made, under the name that was intended.

    Raises:
        FileWriteFailed: The folder is missing or cannot be read: nobody knows.
    """
    try:
        with hold_exact(effect.directory) as root:
            return _find_below(effect, root)
    except OSError as error:
        raise _copy_failure(effect, error) from None


def _find_below(effect: EffectIntended, root: int) -> str | None:
    below, _, _ = effect.file.name.rpartition("/")
    try:
        folder = open_below(root, below or ".", FOLDER_FLAGS)
    except FileNotFoundError:
        return None
    try:
        names = _second_names(folder, partial_name(effect))
        if names is None:
            return None
        # Before it is recorded as done: the crash may have come before the name was durable.
        os.fsync(folder)
    finally:
        os.close(folder)
    if not names:
        return effect.file.name
    return f"{below}/{min(names)}" if below else min(names)


def _second_names(folder: int, partial: str) -> list[str] | None:
    """Return the other names of a partial in its folder; None if no copy was made of it."""
    try:
        found = os.stat(partial, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    # The copy's own name is the partial's second link: with one link no copy is there.
    if found.st_nlink < 2:
        return None
    with os.scandir(folder) as entries:
        return [
            entry.name
            for entry in entries
            if entry.inode() == found.st_ino and entry.name != partial
        ]


def remove_partial(effect: EffectIntended) -> None:
    """Remove the partial from the user's folder, if it is there."""
    below, _, _ = effect.file.name.rpartition("/")
    # It was never begun, or the folder is gone or behind a link: nothing of ours is there.
    with suppress(OSError), hold_exact(os.path.join(effect.directory, below)) as folder:
        os.unlink(partial_name(effect), dir_fd=folder)


def _copy_failure(effect: EffectIntended, error: OSError) -> DiskFull | FileWriteFailed:
    """Return the error of a copy that could not be made."""
    if is_full(error):
        return DiskFull(f"no space is left to {effect.kind} {effect.file.name!r}")
    msg = f"{effect.file.name!r} cannot be {effect.kind}ed: {describe_error(error)}"
    raise_shortage(error)
    return CopyRefused(msg) if is_link_error(error) else FileWriteFailed(msg)


def partial_name(effect: EffectIntended) -> str:
    """Return the hidden name that a copy has until it has its own."""
    return f".kbd-{effect.effect_id}.part"


def _link_free_name(partial: str, folder: int, held: int, last: str) -> str:
    """Give a complete file the first free name; a link fails where a rename would overwrite."""
    for candidate in numbered_names(last):
        try:
            link_partial(folder, partial, held, candidate)
        except FileExistsError:
            continue
        except OSError as error:
            # So a file system says that it has no hard links, or no more for this file (link(2)).
            if error.errno not in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK):
                raise
            if not _copy_exclusively(held, folder, candidate):
                continue
        return candidate
    raise AssertionError


def _copy_exclusively(held: int, folder: int, name: str) -> bool:
    """Copy without links (FAT, some network disks): create the name, then fill it."""
    try:
        made = create_partial_file(folder, name)
    except FileExistsError:
        return False
    try:
        with open(made, "wb") as copy, open(held, "rb", closefd=False) as original:
            set_mode(made, stat.S_IMODE(os.fstat(held).st_mode))
            original.seek(0)
            shutil.copyfileobj(original, copy, 1 << 20)
            copy.flush()
            os.fsync(copy.fileno())
    except OSError:
        os.unlink(name, dir_fd=folder)
        raise
    return True


async def extract_files(
    workbench: OpenWorkbench,
    clock: Clock,
    destination: Destination,
    paths: tuple[str, ...] | None,
) -> tuple[ExtractResult, ...]:
    """Copy published files to a folder; a failure is one file's result, and the rest is copied.

    Args:
        workbench: The workbench.
        clock: Names the effects.
        destination: Where; made if it is not there.
        paths: Which files, or None for all.
    """
    wanted = paths if paths is not None else tuple(sorted(workbench.state.files))
    results: list[ExtractResult] = []
    for path in wanted:
        # Between two files a client may go away; within one, intent and outcome belong together.
        await anyio.lowlevel.checkpoint()
        with anyio.CancelScope(shield=True):
            results.append(await _extract_file(workbench, clock, destination, path))
    return tuple(results)


async def close_unfinished_effects(workbench: OpenWorkbench) -> None:
    """Abort the extractions that a stopped daemon left open; half-written files are removed.

    Deliveries stay open: the job that they belong to is gone on with, and finds out about them. It
    may have to wait for a disk that is not there, and a start does not.
    """
    for effect in tuple(workbench.state.effects.values()):
        if effect.kind == "deliver":
            continue
        await run_sync(remove_partial, effect)
        aborted = EffectAborted(effect.effect_id, "the daemon stopped meanwhile")
        await workbench.submit(RecordFacts((aborted,)))


async def _extract_file(
    workbench: OpenWorkbench, clock: Clock, destination: Destination, path: str
) -> ExtractResult:
    try:
        name = file_name(path)
    except KbdError as error:
        return ExtractResult(workbench_path=path, status="skipped", reason=error.message)
    entry = workbench.state.files.get(name)
    if entry is None:
        reason = "not published" if workbench.state.current_file(name) else "no such file"
        return ExtractResult(workbench_path=path, status="skipped", reason=reason)
    version = FileVersion(name, entry.blob, entry.size_bytes)
    result = await extract_version(workbench, clock, destination, version)
    return msgspec.structs.replace(result, workbench_path=path)


async def extract_version(
    workbench: OpenWorkbench, clock: Clock, destination: Destination, version: FileVersion
) -> ExtractResult:
    """Copy one version of a file to a folder; a failure is its result."""
    folders = workbench.folders
    effect = EffectIntended(
        effect_id=clock.new_id(), kind="extract", directory=destination.real, file=version
    )
    # Before anything is written: by this event the next start finds what a crash left.
    await workbench.submit(RecordFacts((effect,)))
    try:
        final = await run_sync(
            copy_to_folder, effect, workbench.blobs.store, folders.find_home(), folders.umask
        )
    except KbdError as error:
        await workbench.submit(RecordFacts((EffectAborted(effect.effect_id, error.message),)))
        return ExtractResult(workbench_path=version.name, status="failed", reason=error.message)
    await workbench.submit(RecordFacts((EffectDone(effect.effect_id, final),)))
    return ExtractResult(
        workbench_path=version.name,
        status="extracted",
        final_path=str(Path(destination.named, final)),
        reason=msgspec.UNSET,
    )


async def record_planned_writes(
    daemon: Keeper[DaemonState, DaemonCommand],
    directory: str,
    files: Iterable[FileVersion],
    *,
    watch_id: str = "",
    depth: int = 0,
    actor: Actor | None = None,
) -> None:
    """Record the files that are about to be written below a folder, each by its real path.

    What was recorded before is not recorded again. What a person wants written is only recorded if
    somebody watches there: nobody else asks.

    Args:
        daemon: The Keeper of the daemon's log.
        directory: The folder, an absolute path without links in it.
        files: The files; their names may have folders in them.
        watch_id: The watch that delivers them; "" for a person.
        depth: How deep in a chain of rules they were made.
        actor: The client that asks, if one does.
    """
    folders: dict[str, list[str]] = {}
    for file in files:
        # No link is followed below the folder, so this is where the file will be.
        folder = os.path.join(directory, file.name.rpartition("/")[0]).rstrip("/")
        folders.setdefault(folder, []).append(file.blob)
    watching = daemon.state.watching
    for folder, hashes in folders.items():
        if not watch_id and not _is_watched(watching, folder):
            continue
        place = Written(folder, watch_id, depth)
        fresh = tuple(
            blob for blob in dict.fromkeys(hashes) if place not in watching.written.get(blob, ())
        )
        if fresh:
            written = FilesWritten(folder, fresh, watch_id, depth)
            await daemon.submit(RecordWrites(written), actor)


def _is_watched(watching: Watching, folder: str) -> bool:
    """Return whether a folder is a watched one or lies below one."""
    return any(
        f"{folder}/".startswith(f"{watch.rule.folder.rstrip('/')}/")
        for watch in watching.watches.values()
        if watch.status is not WatchStatus.REMOVED
    )
