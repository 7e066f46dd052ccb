"""Methods of a workbench's files and context items: add, list, remove, extract; get, set, delete.

Context items are what every run of a workbench is given. A client names files of its own by their
path; which of them may be read is decided here, too.
"""

import shutil
import uuid
from contextlib import suppress
from pathlib import Path

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.agent.prompt_blocks import weigh_context
from kbd.core.domain.commands import AddFiles, ChooseReading, RemoveContext, RemoveFiles, SetContext
from kbd.core.domain.workbench_decisions import parse_category
from kbd.core.domain.workbench_state import WorkbenchState, folded_name
from kbd.core.plugins.derived_cache import drop_derived
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.questions import open_questions
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.workbench.destination import resolve_destination
from kbd.core.workbench.extraction import extract_files, record_planned_writes
from kbd.core.workbench.rows import file_rows
from kbd.core.workbench.sandbox import file_name
from kbd.core.workbench.sources import copy_source
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import DiskFull, KbdError, NotFound, SandboxViolation, ValidationFailed
from kbd.events.base import FileVersion
from kbd.events.blobs import BlobStore
from kbd.events.codec import format_time
from kbd.events.disk import LogPoisoned
from kbd.events.workbenches import FileAdded, FileRemoved
from kbd.formats import Region
from kbd.requests import contexts
from kbd.requests import workbenches as wire
from kbd.requests.base import Request
from kbd.tools import FileRef
from kbd.types import ContextCategory, FileName

__all__ = ["ContextMethods", "FileMethods", "read_client_file"]


MAX_COUNTED_CHARACTERS = 2_000_000
"""A longer text is only said to be longer; nobody need wait for the rest."""


async def read_client_file(
    context: ApiContext, workbench: OpenWorkbench, source_path: str
) -> tuple[str, str]:
    """Read the text of a client's file; return it with the file's name.

    It is read as a file that is added would be: copied first, and looked into in a worker. The
    copy is gone when this returns. Of a very long text the beginning is returned.

    Raises:
        ValidationFailed: The path is not absolute, or names nothing that can be read as text.
        SandboxViolation: The name would not do in a workbench, or it is a link.
        FileReadFailed: It cannot be read, or is damaged.
        DiskFull: There is no room for the copy.
    """
    if "\0" in source_path or not Path(source_path).is_absolute():
        msg = "source_path is not absolute"
        raise ValidationFailed(msg)
    name = file_name(Path(source_path).name)
    folder = workbench.folders.stage / f"source-{uuid.uuid4().hex}"
    # In the stage, which the next start empties: a crash leaves no copy behind.
    store = BlobStore(folder / "blobs")
    limit_bytes = context.settings.limits.file_bytes
    try:
        try:
            copied = await run_sync(copy_source, store, source_path, limit_bytes)
        except (ValidationFailed, NotFound) as refused:
            msg = f"{name} cannot be read: {refused.message}"
            raise ValidationFailed(msg) from None
        file = FileRef(name, copied.blob, copied.size_bytes, store.path(copied.blob))
        formats = FormatCalls(context.catalog, context.workers)
        found = await formats.extract(file, Region(), 0, 0, MAX_COUNTED_CHARACTERS)
    finally:
        with anyio.CancelScope(shield=True):
            await run_sync(shutil.rmtree, folder, True)  # noqa: FBT003 - ignore_errors
    return found.text, name


_NAME_TAKEN = "a file of this name is there already"


class FileMethods:
    """Handlers of a workbench's files: list, add, remove, extract."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.WorkbenchFilesList: self.list,
            wire.WorkbenchFilesAdd: self.add,
            wire.WorkbenchFilesRemove: self.remove,
            wire.WorkbenchFilesSetReading: self.set_reading,
            wire.WorkbenchGetQuestions: self.questions,
            wire.WorkbenchFilesExtract: self.extract,
        }

    async def list(self, request: wire.WorkbenchFilesList, session: Session) -> wire.FilesFound:
        """List the files as runs see them."""
        del session
        workbench = await self._workbenches.open(request.workbench_id)
        context = self._context
        carried = await _find_carried(context, workbench) if request.look_into else {}
        return wire.FilesFound(
            files=file_rows(workbench, context.catalog, context.workers.set_aside, carried)
        )

    async def add(self, request: wire.WorkbenchFilesAdd, session: Session) -> wire.FilesAdded:
        """Add files by copying them; each that cannot be added is reported with its reason."""
        opened = await self._workbenches.open(request.workbench_id)
        workbench = opened.acting(session.actor)
        results: list[wire.AddResult] = []
        copied: list[FileAdded] = []
        taken = {folded_name(seen.name) for seen in workbench.state.current_files()}
        for source_path in request.source_paths:
            result, added = await self._copy(workbench, source_path, taken)
            results.append(result)
            if added is not None:
                copied.append(added)
        recorded = await self._record_added(workbench, tuple(copied))
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
        opened = await self._workbenches.open(request.workbench_id)
        workbench = opened.acting(session.actor)
        names = tuple(file_name(path) for path in request.workbench_paths)
        # Held: what an undo brings back must not be taken away by what was recorded before it.
        with anyio.CancelScope(shield=True):
            async with workbench.publishing:
                before = {name: file.blob for name, file in workbench.state.files.items()}
                outcome = await workbench.submit(RemoveFiles(names))
                removed = [e.name for e in outcome.events if isinstance(e, FileRemoved)]
                with workbench.fail_stop():
                    for name in removed:
                        # A link, say, stays: it is not what was removed.
                        with suppress(SandboxViolation):
                            await run_sync(workbench.files.remove, name)
                gone = {before[name] for name in removed if name in before}
                gone -= {file.blob for file in workbench.state.files.values()}
                gone -= {seen.blob for seen in workbench.state.current_files()}
                if gone:
                    await run_sync(drop_derived, workbench.folders.cache, gone)
        return wire.FilesRemoved(removed=names, in_draft=bool(names) and not removed)

    async def set_reading(
        self, request: wire.WorkbenchFilesSetReading, session: Session
    ) -> wire.ReadingSet:
        """Say how the tables of a file are to be read."""
        opened = await self._workbenches.open(request.workbench_id)
        name = file_name(request.path)
        await opened.acting(session.actor).submit(ChooseReading(name, request.read_as))
        return wire.ReadingSet(path=name, read_as=request.read_as)

    async def questions(
        self, request: wire.WorkbenchGetQuestions, session: Session
    ) -> wire.QuestionsFound:
        """Return what has to be said about the tables."""
        del session
        workbench = await self._workbenches.open(request.workbench_id)
        asked = await open_questions(self._context, workbench, request.job)
        return wire.QuestionsFound(
            questions=tuple(
                wire.AskedQuestion(
                    path=each.path,
                    sheet=msgspec.UNSET if each.sheet is None else each.sheet,
                    about=each.question.about,
                    columns=each.question.columns,
                    text=each.question.text,
                    options=tuple(
                        wire.AnswerOption(value=option.value, meaning=option.meaning)
                        for option in each.question.options
                    ),
                )
                for each in asked
            )
        )

    async def extract(
        self, request: wire.WorkbenchFilesExtract, session: Session
    ) -> wire.FilesExtracted:
        """Copy published files to a folder of the user's; a watch there starts nothing for them."""
        opened = await self._workbenches.open(request.workbench_id)
        workbench = opened.acting(session.actor)
        given = request.workbench_paths
        paths = None if isinstance(given, msgspec.UnsetType) else given
        home = self._context.home.folder
        destination = await run_sync(resolve_destination, request.destination_dir, home)
        files = _published(workbench.state, paths)
        # Before the first copy: a watched folder must not see one that kbd did not say is its own.
        await record_planned_writes(
            self._workbenches.daemon, destination.real, files, actor=session.actor
        )
        results = await extract_files(workbench, self._context.clock, destination, paths)
        return wire.FilesExtracted(extract_results=results)

    async def _record_added(
        self, workbench: OpenWorkbench, copied: tuple[FileAdded, ...]
    ) -> set[FileName]:
        """Record files whose bytes are durable, show them, and return which they are.

        One whose name was taken meanwhile, or is that of a file deleted in the draft, is not among
        them. What is recorded is shown, too, whatever becomes of the client.
        """
        limit = self._context.settings.limits.files
        with anyio.CancelScope(shield=True):
            # No publish or undo may run between the record and the disk: it would see one without
            # the other.
            async with workbench.publishing:
                outcome = await workbench.submit(AddFiles(copied, limit))
                added = [event for event in outcome.events if isinstance(event, FileAdded)]
                with workbench.fail_stop():
                    for event in added:
                        # Somebody put a link there, say: that is theirs, and the file is added.
                        with suppress(SandboxViolation):
                            await run_sync(workbench.files.place, event.name, event.blob)
        return {event.name for event in added}

    async def _copy(
        self, workbench: OpenWorkbench, source_path: str, taken: set[str]
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
        limit_bytes = self._context.settings.limits.file_bytes
        try:
            # Those before it may have reached the quota.
            await self._context.usage.require_room()
            copied = await workbench.blobs.put_source(source_path, limit_bytes)
        # The other files would meet the same full or failing disk.
        except (DiskFull, LogPoisoned):
            raise
        except KbdError as error:
            return skipped(error.message)
        taken.add(folded_name(name))
        added = FileAdded(name, copied.blob, copied.size_bytes, source_path, copied.modified_at_us)
        result = wire.AddResult(source_path=source_path, file_name=name, status="added")
        return result, added


LOOK_S = 20.0
"""So long a list waits for maps that are not made yet; the next one has what was found by then."""

MAX_CONCURRENT_LOOKS = 4
"""So many files are looked into at once, as for a prompt (`kbd.core.agent.manifest`)."""


async def _find_carried(
    context: ApiContext, workbench: OpenWorkbench
) -> dict[FileName, tuple[str, ...]]:
    """Return what the current files run, fetch or have embedded, as their maps name it.

    A map is made once for a content and kept, so only the first list of a file costs something. A
    file that cannot be looked into, or not in time, is left out; one that carries nothing is not.
    """
    formats = FormatCalls(context.catalog, context.workers, workbench.folders.cache)
    found: dict[FileName, tuple[str, ...]] = {}
    limiter = anyio.CapacityLimiter(MAX_CONCURRENT_LOOKS)

    async def look(file: FileRef) -> None:
        structure = await formats.known_map(file)
        if structure is None:
            async with limiter:
                # Damaged, or of no format: the list goes on without it.
                try:
                    structure = await formats.map(file)
                except KbdError:
                    return
        found[file.name] = tuple(structure.get("active_content", ()))

    with anyio.move_on_after(LOOK_S):
        async with anyio.create_task_group() as tasks:
            for seen in workbench.state.current_files():
                place = workbench.blobs.path(seen.blob)
                tasks.start_soon(look, FileRef(seen.name, seen.blob, seen.size_bytes, place))
    return found


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


class ContextMethods:
    """Handlers of context items: list, get, set, delete."""

    def __init__(self, context: ApiContext, workbenches: Workbenches) -> None:
        self._context, self._workbenches = context, workbenches

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            contexts.ContextList: self.list,
            contexts.ContextGet: self.get,
            contexts.ContextSet: self.set,
            contexts.ContextDelete: self.delete,
        }

    async def list(self, request: contexts.ContextList, session: Session) -> contexts.ContextsFound:
        """List all four categories."""
        del session
        state = (await self._workbenches.open(request.workbench_id)).state
        rows = tuple(_render_row(state, category) for category in ContextCategory)
        return contexts.ContextsFound(items=rows, weight=self._weight(state))

    async def get(self, request: contexts.ContextGet, session: Session) -> contexts.ContextFound:
        """Return one category's text."""
        del session
        state = (await self._workbenches.open(request.workbench_id)).state
        category = parse_category(request.category)
        item = state.context.get(category)
        return contexts.ContextFound(
            item=_render_row(state, category), text=item.text if item else ""
        )

    async def set(self, request: contexts.ContextSet, session: Session) -> contexts.ContextKept:
        """Set one category, from a text or from a client's file."""
        opened = await self._workbenches.open(request.workbench_id)
        workbench = opened.acting(session.actor)
        category = parse_category(request.category)
        text, name = await self._given(workbench, request)
        limit = self._context.settings.limits.context_characters
        await workbench.submit(SetContext(category, text, name, limit))
        return contexts.ContextKept(
            item=_render_row(workbench.state, category), weight=self._weight(workbench.state)
        )

    async def delete(
        self, request: contexts.ContextDelete, session: Session
    ) -> contexts.ContextDeleted:
        """Delete one category."""
        opened = await self._workbenches.open(request.workbench_id)
        workbench = opened.acting(session.actor)
        outcome = await workbench.submit(RemoveContext(request.category))
        row = _render_row(workbench.state, parse_category(request.category))
        return contexts.ContextDeleted(item=row, deleted=bool(outcome.events))

    async def _given(
        self, workbench: OpenWorkbench, request: contexts.ContextSet
    ) -> tuple[str, str]:
        """Return the text that is given, with the name of the file that it is of, or ""."""
        text, path = request.text, request.source_path
        if isinstance(text, str) and isinstance(path, msgspec.UnsetType):
            return text, ""
        if isinstance(path, str) and isinstance(text, msgspec.UnsetType):
            return await read_client_file(self._context, workbench, path)
        msg = "give either text or source_path"
        raise ValidationFailed(msg)

    def _weight(self, state: WorkbenchState) -> contexts.ContextWeight:
        models = self._context.egress.models
        try:
            model = models.model(models.of_workbench(state))
        except KbdError:  # No model is named yet, or its provider is not installed any more.
            return contexts.ContextWeight(estimated_tokens=weigh_context(state.context).tokens)
        weight = weigh_context(state.context, model)
        return contexts.ContextWeight(
            estimated_tokens=weight.tokens,
            warning=weight.is_much,
            model_id=model.id,
            context_tokens=model.context_tokens,
            share=round(weight.share, 4),
        )


def _render_row(state: WorkbenchState, category: ContextCategory) -> contexts.ContextRow:
    item = state.context.get(category)
    if item is None:
        return contexts.ContextRow(category=category, status="empty")
    return contexts.ContextRow(
        category=category,
        status="set",
        characters=len(item.text),
        source_name=item.source_name or msgspec.UNSET,
        updated_at=format_time(item.set_at_us),
    )
