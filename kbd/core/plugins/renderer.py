"""Renderer of previews: the office program that prints documents, and what it has printed.

A document is printed once, whole, one at a time in this daemon, in a worker (`print_job`); its
pages are shown by the format that printed documents are in. Printed documents are a cache, by the
content of the file and the program that printed it.
"""

import contextlib
import hashlib
import os
import shutil
import stat
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from math import inf
from pathlib import Path

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.plugins import forked_call
from kbd.core.plugins.call_paths import CallFolder
from kbd.core.plugins.derived_cache import ShelfCache
from kbd.core.plugins.print_job import PrintOrder, printed_path, profile_url
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.fairness import FairLimiter
from kbd.core.runtime.folder_trees import remove_tree
from kbd.core.runtime.settings import Settings
from kbd.errors import (
    DiskFull,
    FileReadFailed,
    FileWriteFailed,
    KbdError,
    ToolTimeout,
    ToolWorkerUnavailable,
)
from kbd.events.disk import is_full
from kbd.events.shortages import raise_shortage
from kbd.tools import FileRef
from kbd.types import BlobHash

__all__ = ["PageCounts", "PrintRequest", "PrintedDocuments", "Renderer", "RendererProgram"]

PROGRAMS = ("soffice", "libreoffice")
"""Names under which LibreOffice is looked for on the search path."""

PRINTS_AT_ONCE = 1
"""Documents that a daemon has printed at once: the program takes a processor and 200 MB."""

RETRY_AFTER_S = 600.0
"""A document that took the program too long is printed again after so many seconds: until then each
page that a client asks for would cost the limit again, and hold up all other documents."""

MAX_TIMEOUTS = 256
"""Documents whose timeout is remembered; the oldest goes first."""

NONE = "none"
"""The setting that turns previews by a program off."""

PRINT_EDITION = 1
"""Part of what a printed document is kept under: another one where the program is run otherwise."""

_ACTIONS = (
    "install LibreOffice",
    "name a program in the setting preview_renderer (KBD_PREVIEW_RENDERER), then restart kbd",
)

_log = get_logger(__name__)


class RendererProgram(msgspec.Struct, frozen=True):
    """Program that prints documents.

    Args:
        path: Where it lies.
        name: What it is called, for people.
        identity: Its path, size and time of change: another one may print otherwise.
    """

    path: Path
    name: str
    identity: str


class _SharedJob:
    """Job that several may wait for: one does it, and the others take what it made, or failed."""

    def __init__(self) -> None:
        self.lock = anyio.Lock()
        self.waiting = 0
        self.failure: KbdError | None = None


class Renderer:
    """The renderer of one daemon: finds the program, and lets it print one document at a time.

    Args:
        settings: Names the program, and has its limits.
    """

    def __init__(self, settings: Settings) -> None:
        self._named = settings.preview_renderer
        self.limits = settings.preview
        self.turns = FairLimiter(PRINTS_AT_ONCE)
        self._jobs: dict[str, _SharedJob] = {}
        self._timeouts: dict[str, tuple[float, ToolTimeout]] = {}

    def find(self) -> RendererProgram:
        """Find the program. Looks at the disk each time, so that one installed now is found.

        Raises:
            ToolWorkerUnavailable: There is none, or it is turned off.
        """
        if self._named == NONE:
            msg = "the setting preview_renderer is none, so that documents are not printed"
            raise ToolWorkerUnavailable(msg, retryable=False)
        names = (os.path.expanduser(self._named),) if self._named else PROGRAMS
        for name in names:
            # A path that hangs on the daemon's folder means nothing to who sets it.
            is_meant = "/" not in name or name.startswith("/")
            found = shutil.which(name) if is_meant else None
            if found is None:
                continue
            with contextlib.suppress(OSError):
                path = Path(found).absolute()
                facts = path.stat()
                marks = (str(path.resolve()), facts.st_size, facts.st_mtime_ns)
                return RendererProgram(path, path.name, msgspec.json.encode(marks).decode())
        if self._named:
            msg = (
                f"the preview renderer {Path(self._named).name!r} is not a program that can be run;"
                " the setting preview_renderer takes an absolute path, or a name on the search path"
            )
        else:
            msg = (
                "no office program is there to print the document; install LibreOffice, or name "
                "another in the setting preview_renderer"
            )
        raise ToolWorkerUnavailable(msg, retryable=False, actions=_ACTIONS)

    @asynccontextmanager
    async def shared(self, key: str) -> AsyncIterator[None]:
        """Do a job alone; whoever waited while it failed gets the same error.

        One who is cancelled leaves the job to the next. After a timeout the job is not begun again
        for a while.

        Args:
            key: What the job is about.

        Raises:
            KbdError: With which the job failed while this one waited, or a while ago.
        """
        job = self._jobs.setdefault(key, _SharedJob())
        job.waiting += 1
        try:
            async with job.lock:
                failed = job.failure or self._known_timeout(key)
                if failed is not None:
                    raise failed
                try:
                    yield
                except KbdError as failure:
                    job.failure = failure
                    self._remember(key, failure)
                    raise
        finally:
            job.waiting -= 1
            if not job.waiting:
                del self._jobs[key]

    def _known_timeout(self, key: str) -> ToolTimeout | None:
        at_s, failure = self._timeouts.get(key, (-inf, None))
        return failure if anyio.current_time() < at_s + RETRY_AFTER_S else None

    def _remember(self, key: str, failure: KbdError) -> None:
        """Remember a timeout; another failure is quick to come again."""
        if not isinstance(failure, ToolTimeout):
            return
        self._timeouts.pop(key, None)
        self._timeouts[key] = anyio.current_time(), failure
        if len(self._timeouts) > MAX_TIMEOUTS:
            del self._timeouts[next(iter(self._timeouts))]


class PrintRequest(msgspec.Struct, frozen=True):
    """Request for a printed document.

    Args:
        file: The file.
        suffix: The suffix that tells its format.
        target_suffix: That of the printed document.
        export_filter: The program's export filter with its options.
        plugin: The plugin in whose workers the program is run.
    """

    file: FileRef
    suffix: str
    target_suffix: str
    export_filter: str
    plugin: str


class PageCounts(msgspec.Struct, frozen=True):
    """Counts of pages, each asked for where a document is printed anew.

    Args:
        due: Checks the file, and returns how many pages must be printed; None if that is not known.
        printed: Returns how many a printed document has.
    """

    due: Callable[[], Awaitable[int | None]]
    printed: Callable[[FileRef], Awaitable[int]]


class PrintedDocuments:
    """Cache of one workbench's printed documents, which prints those that are not in it.

    Args:
        renderer: Prints them.
        workers: Where it is run.
        cache: The workbench's folder of derived files.
        stage: Its folder of files that are being written.
    """

    def __init__(self, renderer: Renderer, workers: WorkerPool, cache: Path, stage: Path) -> None:
        self._renderer, self._workers = renderer, workers
        self._shelves = ShelfCache(cache / "printed", renderer.limits.cache_bytes)
        self._stage = stage

    def has_program(self) -> bool:
        """Tell whether there is a program to print with. Looks at the disk."""
        try:
            self._renderer.find()
        except ToolWorkerUnavailable:
            return False
        return True

    async def print(
        self, request: PrintRequest, counts: PageCounts
    ) -> tuple[FileRef, RendererProgram]:
        """Return a file's printed document, under the file's name, and what has printed it.

        Raises:
            FileReadFailed: The file cannot be read, or the program cannot print it, or not so that
                its pages are those of the file.
            ToolTimeout: The program passed a limit.
            ToolWorkerUnavailable: There is no program, or it cannot be run.
        """
        program = await run_sync(self._renderer.find)
        file = request.file
        parts = (request.suffix, request.target_suffix, request.export_filter, program.identity)
        shelf = self._shelves.shelf(str(PRINT_EDITION), file.blob, *parts)
        document = shelf / f"document{request.target_suffix}"
        async with self._renderer.shared(str(shelf)):
            if not await run_sync(document.is_file):
                await self._print(request, program, counts, document)
        await run_sync(self._shelves.used, shelf)
        return _printed_file(request, document), program

    async def _print(
        self, request: PrintRequest, program: RendererProgram, counts: PageCounts, document: Path
    ) -> None:
        """Print a document to its place in the cache."""
        # First, for a damaged file is told by its own format in better words, and a fake of another
        # format never gets to the program's many parsers.
        due = await counts.due()
        order = PrintOrder(
            program=str(program.path),
            source=str(request.file.path),
            name=request.file.name,
            suffix=request.suffix,
            target_suffix=request.target_suffix,
            export_filter=request.export_filter,
            folder=str(self._stage / f"print-{uuid.uuid4().hex}"),
        )
        # Clients take turns: one may have asked for the pages of a thousand documents.
        async with self._renderer.turns.place():
            try:
                await run_sync(_make_folder, Path(order.folder))
                await self._call(request, program, order)
                await run_sync(_check_plain, order, program)
                made = _printed_file(request, printed_path(order))
                await _check_pages(made, program, due, counts)
                await run_sync(_store, made.path, document)
            finally:
                # Also after a cancel; by now all processes of the call are dead.
                with anyio.CancelScope(shield=True):
                    await run_sync(_clear, order)

    async def _call(
        self, request: PrintRequest, program: RendererProgram, order: PrintOrder
    ) -> None:
        """Have the program print, at most twice.

        LibreOffice starts itself anew when its profile is new, and ends at once where the socket of
        its first start is still there. Where the sandbox does not let it remove the socket, it is
        removed here, and the profile is not new any more.
        """
        try:
            try:
                await self._run(request, program, order)
            except FileReadFailed:
                if not await run_sync(_remove_sockets, order):
                    raise
                await self._run(request, program, order)
        except KbdError as error:
            printed = error.detail.pop("trace", "")
            _log.warning("renderer.failed", reason=error.message, printed=printed)
            raise

    async def _run(
        self, request: PrintRequest, program: RendererProgram, order: PrintOrder
    ) -> None:
        await self._workers.call(
            request.plugin,
            f"{forked_call.ENTRY}:print_file",
            # As paths, as which the pool knows what is read and where is written.
            {
                "order": msgspec.to_builtins(order)
                | {"source": request.file.path, "folder": CallFolder(Path(order.folder))}
            },
            self._renderer.limits.call_limits(),
            what=f"{program.name}: print {order.name}",
            failure=FileReadFailed,
            program=program.path,
        )


def _check_plain(order: PrintOrder, program: RendererProgram) -> None:
    """Check that a printed document is a file of its own, in its own folder.

    Else its pages would be those of any document on this machine. By now nobody can change it: all
    processes of the call are dead.
    """
    document = printed_path(order)
    with contextlib.suppress(OSError):
        folder, file = document.parent.lstat(), document.lstat()
        if stat.S_ISDIR(folder.st_mode) and stat.S_ISREG(file.st_mode) and file.st_nlink == 1:
            document.chmod(0o600)
            return
    msg = f"{program.name} has left something that is no document in the place of {order.name}"
    raise FileReadFailed(msg)


async def _check_pages(
    made: FileRef, program: RendererProgram, due: int | None, counts: PageCounts
) -> None:
    """Check that a printed document can be shown, and has the pages that are due."""
    try:
        printed = await counts.printed(made)
    except FileReadFailed:
        msg = f"what {program.name} printed of {made.name} is no document that can be shown"
        raise FileReadFailed(msg) from None
    # Else a picture would be that of another slide than the one that was asked for.
    if due is not None and printed != due:
        msg = f"{program.name} printed {printed} pages of {made.name}, which has {due}"
        raise FileReadFailed(f"{msg}; a newer version may print all of them")


def _printed_file(request: PrintRequest, path: Path) -> FileRef:
    """Return a printed document as a file that a format can be asked about."""
    name = hashlib.sha256(str(path).encode()).hexdigest()
    return FileRef(request.file.name, BlobHash(name), 0, path)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(mode=0o700)
    except OSError as error:
        if is_full(error):
            msg = "no space is left to print a document"
            raise DiskFull(msg) from None
        raise_shortage(error)
        msg = f"a document cannot be printed: {os.strerror(error.errno or 0)}"
        raise FileWriteFailed(msg) from None


def _store(made: Path, document: Path) -> None:
    """Move a printed document to its place; what is there is whole."""
    try:
        document.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        made.replace(document)
    except OSError as error:
        raise_shortage(error)
        msg = f"a printed document cannot be kept: {os.strerror(error.errno or 0)}"
        raise FileWriteFailed(msg) from None


def _clear(order: PrintOrder) -> None:
    remove_tree(order.folder)
    _remove_sockets(order)


def _remove_sockets(order: PrintOrder) -> bool:
    """Remove what a program left that could not end by itself; return whether there was any."""
    removed = False
    for folder in ("/tmp", "/var/tmp"):
        with contextlib.suppress(OSError):
            Path(folder, _socket_name(profile_url(order))).unlink()
            removed = True
    return removed


def _socket_name(profile: str) -> str:
    """Return the name of the socket that LibreOffice makes for a profile.

    It removes the socket only if it ends by itself.
    """
    digest = hashlib.md5(profile.encode("utf-16-le"), usedforsecurity=False).digest()
    # Its own way to write a hash: a byte below 16 has one digit.
    return f"OSL_PIPE_{os.getuid()}_SingleOfficeIPC_{''.join(f'{byte:x}' for byte in digest)}"
