"""Methods of a workbench's files: add, list, remove, extract.

A client names files of its own by their path; which of them may be read is decided here, too.
"""

import shutil
import uuid
from contextlib import suppress
from pathlib import Path

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.domain.commands import AddFiles, RemoveFiles
from kbd.core.domain.workbench_state import WorkbenchState, folded_name
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.extraction import extract_files, record_planned_writes
from kbd.core.workbench.rows import file_rows
from kbd.core.workbench.sandbox import file_name
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import DiskFull, KbdError, ValidationFailed
from kbd.events.base import FileVersion
from kbd.events.blobs import BlobStore
from kbd.events.workbenches import FileAdded, FileRemoved
from kbd.formats import Region
from kbd.requests import workbenches as wire
from kbd.requests.base import Request
from kbd.tools import FileRef
from kbd.types import FileName

__all__ = ["FileMethods", "read_client_file", "refusal_reason"]

MAX_COUNTED_CHARACTERS = 2_000_000
"""A longer text is only said to be longer; nobody need wait for the rest."""


async def read_client_file(
    context: ApiContext, bench: OpenWorkbench, source_path: str
) -> tuple[str, str]:
    """Read the text of a client's file; return it with the file's name.

    It is read as a file that is added would be: copied first, and looked into in a worker. The
    copy is gone when this returns. Of a very long text the beginning is returned.

    Raises:
        ValidationFailed: The path is not absolute, or names something that cannot be read as text.
        SandboxViolation: The name would not do in a workbench, or it is a link.
        NotFound: It is not there.
        FileReadFailed: It cannot be read, or is damaged.
        DiskFull: There is no room for the copy.
    """
    source = Path(source_path)
    if not source.is_absolute():
        msg = "source_path is not absolute"
        raise ValidationFailed(msg)
    name = file_name(source.name)
    reason = await run_sync(refusal_reason, source, context.settings.limits.file_bytes)
    if reason is not None:
        msg = f"{name} cannot be read: {reason}"
        raise ValidationFailed(msg)
    folder = bench.folders.stage / f"source-{uuid.uuid4().hex}"
    store = BlobStore(folder)
    try:
        blob, size_bytes = await run_sync(store.put_file, source)
        file = FileRef(name, blob, size_bytes, store.path(blob))
        formats = FormatCalls(context.catalog, context.workers)
        found = await formats.extract(file, Region(), 0, 0, MAX_COUNTED_CHARACTERS)
    finally:
        with anyio.CancelScope(shield=True):
            await run_sync(shutil.rmtree, folder, True)  # noqa: FBT003 - ignore_errors
    return found.text, name


def refusal_reason(source: Path, limit: int) -> str | None:
    """Return why a file cannot be added, as far as a look at it tells."""
    reason: str | None = None
    try:
        found = source.lstat()
    except FileNotFoundError:
        return "there is no such file"
    except ValueError:
        return "the path holds what no path can"
    except OSError as error:
        return f"it cannot be looked at: {error.strerror}"
    if source.is_symlink():
        reason = "symlink"
    elif source.is_dir():
        reason = "directory"
    elif not source.is_file():
        reason = "not a regular file"
    elif found.st_size > limit:
        reason = f"larger than {limit} bytes"
    return reason


_NAME_TAKEN = "a file of this name is there already"


class FileMethods:
    """Handlers of a workbench's files: list, add, remove, extract."""

    def __init__(self, context: ApiContext, benches: Workbenches) -> None:
        self._context, self._benches = context, benches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.WorkbenchFilesList: self.list,
            wire.WorkbenchFilesAdd: self.add,
            wire.WorkbenchFilesRemove: self.remove,
            wire.WorkbenchFilesExtract: self.extract,
        }

    async def list(self, request: wire.WorkbenchFilesList, session: Session) -> wire.FilesFound:
        """List the files as runs see them."""
        del session
        bench = await self._benches.open(request.workbench_id)
        return wire.FilesFound(files=file_rows(bench, self._context.catalog))

    async def add(self, request: wire.WorkbenchFilesAdd, session: Session) -> wire.FilesAdded:
        """Copy files in; what cannot be added is said, the rest is done."""
        del session
        bench = await self._benches.open(request.workbench_id)
        results: list[wire.AddResult] = []
        copied: list[FileAdded] = []
        taken = {folded_name(seen.name) for seen in bench.state.current_files()}
        for source_path in request.source_paths:
            result, added = await self._copy(bench, source_path, taken)
            results.append(result)
            if added is not None:
                copied.append(added)
        recorded = await self._record_added(bench, tuple(copied))
        return wire.FilesAdded(
            add_results=tuple(
                result
                if result.status == "skipped" or result.file_name in recorded
                else _skipped_result(result.source_path, result.file_name, _NAME_TAKEN)
                for result in results
            )
        )

    async def remove(
        self, request: wire.WorkbenchFilesRemove, session: Session
    ) -> wire.FilesRemoved:
        """Remove files; with a draft open, as deletions in the draft."""
        del session
        bench = await self._benches.open(request.workbench_id)
        names = tuple(file_name(path) for path in request.workbench_paths)
        # Held: what an undo brings back must not be taken away by what was recorded before it.
        with anyio.CancelScope(shield=True):
            async with bench.publishing:
                outcome = await bench.keeper.submit(RemoveFiles(names))
                removed = [e.name for e in outcome.events if isinstance(e, FileRemoved)]
                for name in removed:
                    await run_sync(bench.files.remove, name)
        return wire.FilesRemoved(removed=names, in_draft=bool(names) and not removed)

    async def extract(
        self, request: wire.WorkbenchFilesExtract, session: Session
    ) -> wire.FilesExtracted:
        """Copy published files to a folder of the user's; a watch there starts nothing for them."""
        del session
        bench = await self._benches.open(request.workbench_id)
        given = request.workbench_paths
        paths = None if isinstance(given, msgspec.UnsetType) else given
        directory = request.destination_dir
        if Path(directory).is_absolute():
            files = _published(bench.state, paths)
            await record_planned_writes(self._benches.daemon, directory, files)
        results = await extract_files(bench, self._context.clock, directory, paths)
        return wire.FilesExtracted(extract_results=results)

    async def _record_added(
        self, bench: OpenWorkbench, copied: tuple[FileAdded, ...]
    ) -> set[FileName]:
        """Record files whose bytes are durable, show them, and return which they are.

        One whose name was taken meanwhile, or is that of a file deleted in the draft, is not among
        them. What is recorded is shown, too, whatever becomes of the client.
        """
        limit = self._context.settings.limits.files
        with anyio.CancelScope(shield=True):
            async with bench.publishing:
                outcome = await bench.keeper.submit(AddFiles(copied, limit))
                added = [event for event in outcome.events if isinstance(event, FileAdded)]
                for event in added:
                    await run_sync(bench.files.place, event.name, event.blob)
        return {event.name for event in added}

    async def _copy(
        self, bench: OpenWorkbench, source_path: str, taken: set[str]
    ) -> tuple[wire.AddResult, FileAdded | None]:
        """Copy one file's bytes in, durably; the caller records it."""
        source = Path(source_path)

        def skipped(reason: str) -> tuple[wire.AddResult, None]:
            return _skipped_result(source_path, source.name, reason), None

        if not source.is_absolute():
            return skipped("the path is not absolute")
        try:
            name = file_name(source.name)
        except KbdError as error:
            return skipped(error.message)
        if folded_name(name) in taken:
            return skipped(_NAME_TAKEN)
        reason = await run_sync(refusal_reason, source, self._context.settings.limits.file_bytes)
        if reason is not None:
            return skipped(reason)
        try:
            blob, size_bytes = await bench.blobs.put_file(source)
            modified_at_us = await run_sync(_modified_at_us, source)
        except DiskFull:
            raise
        except KbdError as error:
            return skipped(error.message)
        taken.add(folded_name(name))
        added = FileAdded(name, blob, size_bytes, source_path, modified_at_us)
        result = wire.AddResult(source_path=source_path, file_name=name, status="added")
        return result, added


def _published(state: WorkbenchState, paths: tuple[str, ...] | None) -> list[FileVersion]:
    """Return the published files among some, or all."""
    names = set(state.files)
    if paths is not None:
        wanted: set[FileName] = set()
        for path in paths:
            with suppress(KbdError):
                wanted.add(file_name(path))
        names &= wanted
    entries = ((name, state.files[name]) for name in sorted(names))
    return [FileVersion(name, entry.blob, entry.size_bytes) for name, entry in entries]


def _skipped_result(source_path: str, file_name: str, reason: str) -> wire.AddResult:
    return wire.AddResult(
        source_path=source_path, file_name=file_name, status="skipped", reason=reason
    )


def _modified_at_us(source: Path) -> int:
    try:
        return source.stat().st_mtime_ns // 1000
    except OSError:
        return 0
