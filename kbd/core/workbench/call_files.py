"""Files of one tool call: a snapshot that it reads, a stage that it writes to, earlier results.

What a call writes is staged, and recorded only if the call succeeds. A listing shows a file by its
format's description. The results of earlier calls are read from the log.
"""

import copy
import difflib
import hashlib
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from anyio.to_thread import run_sync

from kbd.core.domain.run_state import Run
from kbd.core.domain.workbench_state import SeenFile, WorkbenchState, folded_name
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.store.journal import Journal
from kbd.core.workbench.active_content import find_active_content
from kbd.core.workbench.change_set import find_renames
from kbd.core.workbench.file_store import Blobs
from kbd.core.workbench.sandbox import check_visible, file_name
from kbd.errors import NotFound, SandboxViolation, ValidationFailed
from kbd.events.base import FileVersion
from kbd.events.drafts import FileChanged
from kbd.events.runs import ToolReturned
from kbd.tools import FileRef, Moment
from kbd.types import BlobHash, CallId, FileName, FocusHint, ReadAs, Seq

__all__ = ["CallFiles", "LogRecall", "describe_file"]

Describe = Callable[[FileRef], dict[str, Any]]
"""Tells kind, MIME type and whether a file is opaque."""


MAX_NOTES = 20
"""Notes that the review shows of one file."""


_Earlier = dict[FileName, FileVersion | None]
"""Earlier versions of files that were changed since; None of those that were not there."""


class _StagedVersion(msgspec.Struct, frozen=True):
    """A staged version of a file, with its active content, notes and focus for the review.

    `remaining` is what is left of those of the version before; None is all.
    """

    staged: Path
    external: tuple[str, ...]
    remaining: tuple[str, ...] | None
    notes: tuple[str, ...]
    focus: FocusHint | None


class CallFiles:
    """`kbd.tools.Files` for one call: a snapshot of the files, and a stage for new versions.

    Args:
        state: The workbench; what it holds now is what the call sees.
        blobs: Its blobs.
        stage: The folder for staged files, on the same disk as the blobs.
        cache: The folder for derived files.
        describe: Tells what a listing shows of a file.
        published: Whether to see what is published instead of the draft.
    """

    def __init__(
        self,
        state: WorkbenchState,
        blobs: Blobs,
        stage: Path,
        cache: Path,
        describe: Describe,
        *,
        published: bool = False,
    ) -> None:
        files = map(state.published, state.files) if published else state.current_files()
        self._files: dict[FileName, SeenFile] = {seen.name: seen for seen in files if seen}
        self._readings = dict(state.readings)
        self._added = frozenset(name for name, file in state.files.items() if file.origin)
        # What is published is where every draft begins.
        self._earlier: dict[Moment, _Earlier] = (
            {"draft": {}} if published else _earlier_versions(state)
        )
        self._published = {
            name: FileRef(name, entry.blob, entry.size_bytes, blobs.path(entry.blob))
            for name, entry in state.files.items()
        }
        self._blobs, self._stage, self._cache = blobs, stage, cache
        self._describe = describe
        self._staged: list[Path] = []
        self._written: dict[FileName, _StagedVersion] = {}
        self._settled: dict[FileName, FileRef] = {}

    def afresh(self) -> "CallFiles":
        """Return the same snapshot with nothing staged, for a repetition of the call."""
        fresh = copy.copy(self)
        fresh._staged, fresh._written, fresh._settled = [], {}, {}  # noqa: SLF001 - its own copy
        return fresh

    def seen_versions(self) -> Iterator[tuple[FileName, BlobHash]]:
        """Yield the files as they were before the call, each with its bytes' hash."""
        for name, seen in self._files.items():
            yield name, seen.blob

    def names(self) -> Sequence[FileName]:
        """Return the names of all files, sorted."""
        return sorted(self._files.keys() | self._settled.keys())

    def find(self, path: str) -> FileRef | None:
        """Return the file at a path, or None.

        Raises:
            SandboxViolation: The path would leave the workbench.
        """
        # What is a name as it stands needs no second look: a listing asks for every file.
        is_known = FileName(path) in self._files or FileName(path) in self._settled
        name = FileName(path) if is_known else file_name(path)
        return self._settled.get(name) or self._seen(name)

    def _seen(self, name: FileName) -> FileRef | None:
        """Return a file as it was before the call."""
        seen = self._files.get(name)
        if seen is None:
            return None
        blob = self._blobs.path(seen.blob)
        return FileRef(
            seen.name, seen.blob, seen.size_bytes, blob, seen.warnings, self._read_as(seen.name)
        )

    def get(self, path: str) -> FileRef:
        """Return the file at a path.

        Raises:
            SandboxViolation: The path would leave the workbench.
            NotFound: There is no such file; the message names near matches.
        """
        found = self.find(path)
        if found is None:
            near = difflib.get_close_matches(file_name(path), self.names(), n=3, cutoff=0.5)
            hint = f"; near matches: {', '.join(near)}" if near else ""
            msg = f"there is no file {file_name(path)!r}{hint}"
            raise NotFound(msg)
        return found

    def _read_as(self, name: FileName) -> ReadAs:
        return self._readings.get(name, ReadAs())

    def moments(self) -> Sequence[Moment]:
        """Return the moments that files can be compared with, the latest first."""
        return tuple(self._earlier)

    def before(self, path: str, moment: Moment) -> FileRef | None:
        """Return a file as it was at one of the moments, or None if it was not there.

        Raises:
            SandboxViolation: The path would leave the workbench.
        """
        name, earlier = file_name(path), self._earlier[moment]
        if name not in earlier:
            return self._seen(name)
        version = earlier[name]
        if version is None:
            return None
        blob, size = self._blobs.path(version.blob), version.size_bytes
        return FileRef(name, version.blob, size, blob, read_as=self._read_as(name))

    def new(self, path: str) -> FileName:
        """Return the name under which a new file may be written.

        Raises:
            SandboxViolation: The path would leave the workbench, or be hidden.
            ValidationFailed: The file, or one that differs only in case or spelling, exists.
        """
        name = file_name(path)
        check_visible(name, self._added)
        # Folded, for names that differ in case or normal form are one file on other machines.
        folded = folded_name(name)
        for taken in self.names():
            other = folded_name(taken)
            if other == folded:
                msg = f"{taken!r} exists already"
                raise ValidationFailed(msg)
            if other.startswith(folded + "/") or folded.startswith(other + "/"):
                msg = f"{name!r} and {taken!r} cannot both exist: one would be a folder"
                raise ValidationFailed(msg)
        return name

    def describe(self, file: FileRef) -> dict[str, Any]:
        """Return what a listing shows of a file."""
        return self._describe(file)

    def stage(self, suffix: str = "") -> Path:
        """Return a path where a worker may write a new version of a file."""
        path = self._stage / f"call-{uuid.uuid4().hex}{suffix}"
        self._staged.append(path)
        return path

    def cached(self, key: str) -> Path:
        """Return the path for a derived file."""
        return self._cache / key

    def put(
        self,
        name: FileName,
        staged: Path,
        *,
        external: Sequence[str] = (),
        remaining: Sequence[str] | None = None,
        notes: Sequence[str] = (),
        focus: FocusHint | None = None,
    ) -> None:
        """Make a staged file the draft's version of `name`, once the call succeeds.

        What it reaches out to is added to what remains of what the draft's version reached out to
        already: an edit cannot hide what an earlier one brought, but take it out. Of notes the last
        ones are kept.

        Raises:
            SandboxViolation: A tool made the name up without `new`, and it may not be made.
        """
        if name not in self._files:
            if file_name(name) != name:
                msg = f"{name!r} is no name of a file"
                raise SandboxViolation(msg)
            check_visible(name, self._added)
        left = None if remaining is None else tuple(remaining)
        version = _StagedVersion(staged, tuple(external), left, tuple(notes), focus)
        earlier = self._written.get(name)
        self._written[name] = version if earlier is None else _merged(earlier, version)

    def written(self) -> "dict[FileName, _StagedVersion]":
        """Return what was put so far, for `restore`."""
        return dict(self._written)

    def restore(self, written: "dict[FileName, _StagedVersion]") -> None:
        """Take back what was put since `written` was asked for."""
        self._written = dict(written)

    async def settle(self) -> None:
        """Let `find` and `names` see what was put so far, as versions of their files."""
        for name, put in self._written.items():
            known = self._settled.get(name)
            if known is None or known.path != put.staged:
                blob, size_bytes = await run_sync(_measure, put.staged)
                external = self._warnings(name, put)
                self._settled[name] = FileRef(
                    name, blob, size_bytes, put.staged, external, self._read_as(name)
                )

    async def inspect(self, formats: FormatCalls) -> tuple[str, ...]:
        """Look into what was put for active content that no person added; return its texts.

        It becomes part of what the staged versions reach out to, whatever the writer told of them.

        Raises:
            ToolTimeout: A worker took too long.
            ToolWorkerUnavailable: A worker died.
        """
        texts: list[str] = []
        for name, put in self._written.items():
            found = await find_active_content(
                formats, name, put.staged, self._base(name), self._published
            )
            # An edit may have named the same already, with the place that it brought it to.
            found = tuple(text for text in found if not _is_named(text, put.external))
            external = tuple(dict.fromkeys((*put.external, *found)))
            self._written[name] = msgspec.structs.replace(put, external=external)
            texts += found
        return tuple(texts)

    def _base(self, name: FileName) -> FileRef | None:
        """Return what the draft started from under a name; None for a new file."""
        return self.before(name, "draft") if name in self._files else None

    async def land(self, call_id: CallId) -> tuple[FileChanged, ...]:
        """Make the staged versions durable and return the changes; the caller records them.

        Raises:
            DiskFull: No space is left; nothing of the call will land.
        """
        changes: list[FileChanged] = []
        for name, put in self._written.items():
            # Before the change is recorded: an event names only what is durable.
            blob, size_bytes = await self._blobs.adopt(put.staged)
            changes.append(self._change(name, blob, size_bytes, call_id, put))
        return tuple(changes)

    def _change(
        self,
        name: FileName,
        blob: BlobHash,
        size_bytes: int,
        call_id: CallId,
        put: _StagedVersion,
    ) -> FileChanged:
        before = self._files.get(name)
        known = before.warnings if before else ()
        noted = before.notes if before else ()
        return FileChanged(
            name=name,
            before=before.blob if before else None,
            after=blob,
            size_bytes=size_bytes,
            before_size_bytes=before.size_bytes if before else 0,
            call_id=call_id,
            warnings=self._warnings(name, put),
            before_warnings=known,
            notes=tuple(dict.fromkeys((*noted, *put.notes)))[-MAX_NOTES:],
            before_notes=noted,
            focus=put.focus,
            before_focus=before.focus if before else None,
        )

    def _warnings(self, name: FileName, put: _StagedVersion) -> tuple[str, ...]:
        """Return what a version reaches out to: what is left of the one before, and its own."""
        before = self._files.get(name)
        known = before.warnings if before else ()
        left = known if put.remaining is None else [each for each in known if each in put.remaining]
        return tuple(dict.fromkeys((*left, *put.external)))

    async def drop(self) -> None:
        """Remove staged files that did not become blobs."""
        await run_sync(_remove_staged, tuple(self._staged))


def _merged(earlier: _StagedVersion, later: _StagedVersion) -> _StagedVersion:
    """Return a version that was written over another of the same call, which never lands."""
    external, remaining = earlier.external, earlier.remaining
    if later.remaining is not None:
        external = tuple(each for each in external if each in later.remaining)
        left = remaining if remaining is not None else later.remaining
        remaining = tuple(each for each in left if each in later.remaining)
    return msgspec.structs.replace(
        later, external=tuple(dict.fromkeys((*external, *later.external))), remaining=remaining,
        notes=tuple(dict.fromkeys((*earlier.notes, *later.notes))),
    )  # fmt: skip


def _is_named(text: str, external: Sequence[str]) -> bool:
    """Return whether what a text is about is the end of another one."""
    content = text.partition(": ")[2]
    return bool(content) and any(each.endswith(f" {content}") for each in external)


def _earlier_versions(state: WorkbenchState) -> dict[Moment, _Earlier]:
    """Return the moments that there are, the latest first, with the files changed since."""
    run = state.active_run()
    earlier: dict[Moment, _Earlier] = {}
    if run is not None and run.item:
        earlier["item"] = _before_item(run)
    earlier["draft"] = _before_draft(state)
    return earlier


def _before_item(run: Run) -> _Earlier:
    """Return what the open attempt at an item found of each file that it wrote."""
    found: _Earlier = {}
    for change in run.attempt_changes:
        # The first change of a file tells what was there before the attempt.
        if change.name not in found:
            found[change.name] = _version(change.name, change.before, change.before_size_bytes)
    return found


def _before_draft(state: WorkbenchState) -> _Earlier:
    """Return what the draft's files were when it began; of a renamed one under its other name."""
    if state.draft is None:
        return {}
    drafted, renamed = state.draft.files, find_renames(state)
    found: _Earlier = {}
    for name in drafted:
        was = drafted[renamed.get(name, name)]
        found[name] = _version(name, was.base, was.base_size_bytes)
    return found


def _version(name: FileName, blob: BlobHash | None, size_bytes: int) -> FileVersion | None:
    return None if blob is None else FileVersion(name, blob, size_bytes)


def _measure(path: Path) -> tuple[BlobHash, int]:
    """Return the hash and size of a file."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
        return BlobHash(found), file.tell()


def _remove_staged(paths: tuple[Path, ...]) -> None:
    for path in paths:
        try:
            os.unlink(path)
        except FileNotFoundError:
            continue


def describe_file(catalog: Catalog, file: FileRef) -> dict[str, Any]:
    """Return what a listing shows of a file."""
    kind = catalog.kind_of(file.name)
    described: dict[str, Any] = {
        "path": file.name,
        "kind": kind.kind,
        "size_bytes": file.size_bytes,
        "mime_type": kind.mime_type,
        "is_opaque": kind.is_opaque,
    }
    if kind.reason:
        described["reason"] = kind.reason
    return described


class LogRecall:
    """`kbd.tools.Recall` over a workbench's log.

    Args:
        state: The workbench.
        journal: Its log.
        blobs: Its blobs.
    """

    def __init__(self, state: WorkbenchState, journal: Journal, blobs: Blobs) -> None:
        self._state, self._journal, self._blobs = state, journal, blobs

    async def result(self, entry_id: int) -> bytes:
        """Return the whole result of an earlier call.

        Raises:
            NotFound: No call of this workbench has that entry id, or it has not ended.
        """
        seq = self._state.entries.get(entry_id)
        if seq is None:
            msg = f"no tool result has the entry id {entry_id}"
            raise NotFound(msg)
        for _, record in await self._journal.read(Seq(seq - 1), 1):
            if isinstance(record.data, ToolReturned):
                returned = record.data
                if returned.blob is not None:
                    return await self._blobs.read(returned.blob)
                return (returned.result or returned.shown).encode()
        msg = f"the tool result {entry_id} is not in the log"
        raise NotFound(msg)
