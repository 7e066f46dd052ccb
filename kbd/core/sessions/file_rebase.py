"""Rebase of one file: the calls that made the draft's version, made again on what is published now.

Step by step: what a call made of one version, it makes of the other. Addresses are carried over by
the file's format, lines are merged, and of whatever is not certain the file is refused with the
places. What came of it all is proven by what the versions hold. Nothing is recorded here.
"""

from collections.abc import Mapping
from typing import Any

import anyio
import msgspec

from kbd.core.agent.tool_execution import INLINE_BYTES
from kbd.core.domain.commands import RebasedCall, RebasedFile
from kbd.core.domain.lineage import FileLineage, LineageStep
from kbd.core.domain.workbench_state import DraftFile, SeenFile
from kbd.core.plugins.format_calls import parse_operations
from kbd.core.runtime.clock import Clock
from kbd.core.sessions.drafted_calls import DraftedCall, state_of_view
from kbd.core.sessions.repeated_calls import NotedFiles, Repeated, Repeater
from kbd.core.workbench.attribution import Attribution, StepFormats, steps_of_draft
from kbd.core.workbench.rebase_proof import Clash, ThreeVersions
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.editing import find_named_files
from kbd.errors import DiskFull, KbdError, LogCorrupt
from kbd.events.base import FileVersion
from kbd.events.disk import LogPoisoned
from kbd.events.drafts import FileAdopted, FileChanged
from kbd.events.runs import ToolCalled, ToolReturned
from kbd.formats import Comparable, Editable, FormatHandler, Mergeable, Place, Relocatable
from kbd.tools import FileRef
from kbd.types import BlobHash, CallId, FileName, Seq

__all__ = ["FileRebase", "FoundClash", "RebaseRefusedError"]

_MAX_SHOWN_CHARACTERS = 2000


class FoundClash(msgspec.Struct, frozen=True):
    """A clash, and the step of the draft that it is about, as far as that is certain."""

    clash: Clash
    step: LineageStep | None = None


class RebaseRefusedError(Exception):
    """A file cannot be rebased without guessing; nothing was done.

    Args:
        clashes: What is in the way.
    """

    def __init__(self, clashes: list[FoundClash]) -> None:
        super().__init__(f"{len(clashes)} clashes")
        self.clashes = clashes


class FileRebase:
    """The rebase of one file.

    Args:
        workbench: The workbench.
        repeater: Makes its calls again.
        clock: Names calls.
        name: The file.
        drafted: What the draft has of it.
        lineage: How that came to be.
        calls: The calls of that, by the events of their starts.
        changed: All files that somebody changed in published/.
    """

    def __init__(
        self,
        workbench: OpenWorkbench,
        repeater: Repeater,
        clock: Clock,
        *,
        name: FileName,
        drafted: DraftFile,
        lineage: FileLineage,
        calls: Mapping[Seq, DraftedCall],
        changed: frozenset[FileName],
    ) -> None:
        self._workbench, self._repeater, self._clock = workbench, repeater, clock
        self._name, self._drafted, self._lineage = name, drafted, lineage
        self._calls, self._changed = calls, changed
        self._formats = repeater.formats
        newest_first, self._is_whole = steps_of_draft(lineage)
        self._steps = newest_first[::-1]
        self._warned: tuple[str, ...] = ()
        self._began: tuple[FileRef, FileRef] | None = None
        self._adopted: FileVersion | None = None

    async def run(self, adopted: FileAdopted) -> RebasedFile:
        """Rebase the file.

        Args:
            adopted: What is published now.

        Raises:
            RebaseRefusedError: Something would have to be guessed.
            DiskFull: There is no room.
        """
        drafted, known = self._drafted, RebasedFile(self._drafted.base, self._drafted.blob, adopted)
        if drafted.blob == adopted.blob:
            return known
        if drafted.blob is None:
            raise self._refusal("the draft deletes the file, somebody else changed it")
        if adopted.blob is None:
            raise self._refusal("the draft changed the file, somebody else removed it")
        if drafted.base is None:
            raise self._refusal("the draft added the file, somebody else added another one")
        base = self._file(drafted.base, drafted.base_size_bytes)
        ours = self._file(drafted.blob, drafted.size_bytes)
        theirs = self._file(adopted.blob, adopted.size_bytes)
        self._adopted = FileVersion(self._name, adopted.blob, adopted.size_bytes)
        handler = self._formats.for_name(self._name)
        try:
            if isinstance(handler, Mergeable):
                await self._check_merge(base, ours, theirs)
                made, _ = await self._apply_all(handler, theirs)
            elif isinstance(handler, Comparable) and isinstance(handler, Relocatable):
                made = await self._prove(handler, base, ours, theirs)
            else:
                raise self._refusal(
                    "somebody else changed it, too, and what differs within files of this kind is "
                    "not known"
                )
        except (DiskFull, LogCorrupt, LogPoisoned):
            raise
        except KbdError as error:
            raise self._refusal(error.message) from None
        return msgspec.structs.replace(known, calls=tuple(made))

    async def _prove(
        self, handler: Relocatable, base: FileRef, ours: FileRef, theirs: FileRef
    ) -> list[RebasedCall]:
        """Look for clashes, apply the calls, and see that nothing was lost."""
        assert isinstance(handler, FormatHandler)
        # Where no operation shifts anything, the draft's version counts as the base does.
        in_place, self._began = (False, False), None
        if not await self._shifts(handler):
            moved = await self._formats.relocate((), base, theirs)
            in_place = handler.compares_in_place, handler.compares_in_place and moved.is_in_place
            self._began = base, theirs
        versions = ThreeVersions(self._formats, base, ours, theirs, stays=in_place)
        if clashes := await versions.clashes():
            raise RebaseRefusedError(await self._with_makers(clashes))
        made, result = await self._apply_all(handler, theirs)
        if clashes := await versions.losses(result):
            raise RebaseRefusedError(await self._with_makers(clashes))
        return made

    async def _shifts(self, handler: Relocatable) -> bool:
        """Tell whether operations of the draft count in another way than those before them."""
        # Of a format that is compared by parts in order, the draft's version always counts.
        if not handler.shifting or not handler.compares_in_place:
            return bool(handler.shifting)
        for step in self._steps:
            call = self._calls.get(step.called_seq)
            arguments = await call.text(self._workbench.blobs) if call is not None else ""
            if not arguments or any(f'"{name}"' in arguments for name in handler.shifting):
                return True
        return False

    async def _with_makers(self, clashes: list[Clash]) -> list[FoundClash]:
        changes = [clash.change for clash in clashes if clash.change is not None]
        attribution = Attribution(
            self._steps[::-1],
            StepFormats(self._formats, self._workbench.blobs),
            is_whole=self._is_whole,
        )
        makers = iter(await attribution.find_makers(changes))
        return [
            FoundClash(clash, next(makers) if clash.change is not None else None)
            for clash in clashes
        ]

    async def _check_merge(self, base: FileRef, ours: FileRef, theirs: FileRef) -> None:
        """Merge both versions as wholes, to name all clashes with the lines that they have now."""
        files = self._repeater.files(state_of_view({}))
        try:
            merged = await self._formats.merge(base, ours, theirs, files.stage())
        finally:
            await self._drop(files)
        if not merged.clashes:
            return
        reason = "the draft and somebody else both changed these lines"
        maker = self._steps[0] if len(self._steps) == 1 else None
        raise RebaseRefusedError(
            [
                FoundClash(
                    Clash(
                        place=each.place,
                        reason=reason,
                        before=each.before,
                        ours=each.ours,
                        theirs=each.theirs,
                    ),
                    maker,
                )
                for each in merged.clashes
            ]
        )

    async def _apply_all(
        self, handler: FormatHandler, theirs: FileRef
    ) -> tuple[list[RebasedCall], FileRef]:
        """Make all calls again; return them and the version that they made."""
        if not self._is_whole or not self._steps:
            raise self._refusal("how the draft's version came to be is not in the log")
        result = theirs
        made: list[RebasedCall] = []
        for step in self._steps:
            call = self._calls.get(step.called_seq)
            older = step.older
            if step.after is None or older is None or older.after is None or call is None:
                reason = "the draft deleted the file and made it anew"
                if call is None:
                    reason = "what was asked for is not in the log"
                raise self._refusal(reason, step)
            before = self._file(older.after, older.size_bytes)
            after = self._file(step.after, step.size_bytes)
            again = await self._apply(handler, step, call, (before, after, result))
            made.append(again)
            change = again.change
            assert change.after is not None
            self._warned = change.warnings
            result = self._file(change.after, change.size_bytes)
        return made, result

    async def _apply(
        self,
        handler: FormatHandler,
        step: LineageStep,
        call: DraftedCall,
        versions: tuple[FileRef, FileRef, FileRef],
    ) -> RebasedCall:
        """Make one call again.

        Args:
            handler: The file's format.
            step: The call's step.
            call: The call.
            versions: What it was made on, what it made of that, and what it is made on now.
        """
        before, after, onto = versions
        arguments = await call.text(self._workbench.blobs)
        if not arguments:
            raise self._refusal("what was asked for is not in the log", step)
        call_id = CallId(f"rebase-{self._clock.new_id()}")
        files = self._repeater.files(self._view(call, onto))
        began_s = self._clock.monotonic_s()
        try:
            if isinstance(handler, Mergeable):
                again = await self._merge(step, (before, after, onto), call_id, files)
            else:
                arguments = await self._carried(handler, step, arguments, (before, onto), files)
                again = await self._repeater.repeat(
                    call.called.tool, arguments, call_id, files, call.ts_us
                )
        except (DiskFull, LogCorrupt, LogPoisoned):
            raise
        except KbdError as error:
            raise self._refusal(error.message, step) from None
        finally:
            await self._drop(files)
        changes = [change for change in again.changes if change.name == self._name]
        if len(changes) != 1 or len(again.changes) != 1:
            raise self._refusal("the call wrote other files, too", step)
        if also := sorted((again.noted & self._changed) - {self._name}):
            reason = f"the call read {', '.join(also)}, which somebody changed, too"
            raise self._refusal(reason, step)
        took_ms = int((self._clock.monotonic_s() - began_s) * 1000)
        return await self._recorded(call, arguments, again, changes[0], call_id, took_ms)

    async def _merge(
        self,
        step: LineageStep,
        versions: tuple[FileRef, FileRef, FileRef],
        call_id: CallId,
        files: NotedFiles,
    ) -> Repeated:
        staged = files.stage()
        merged = await self._formats.merge(*versions, staged)
        if merged.clashes:
            raise self._refusal(
                "the draft changed these lines in between, and somebody else did, too",
                step, merged.clashes[0].place,
            )  # fmt: skip
        files.put(self._name, staged)
        await files.inspect(self._formats)
        changes = await files.land(call_id)
        plugin = self._repeater.plugin_of(step.original.tool)
        text = msgspec.json.encode({"path": self._name, "merged": True}).decode()
        return Repeated(text, changes, plugin, frozenset())

    async def _carried(
        self,
        handler: FormatHandler,
        step: LineageStep,
        arguments: str,
        versions: tuple[FileRef, FileRef],
        files: NotedFiles,
    ) -> str:
        """Return a call's arguments as they are on another version."""
        before, onto = self._began or versions
        given: dict[str, Any] = msgspec.json.decode(arguments, type=dict[str, Any])
        tool = step.tool
        key = "operations" if tool == f"{handler.name}_operations" else "ops"
        is_edit = tool in (f"{handler.name}_operations", f"{handler.wire_name}ApplyOps")
        if not is_edit or not isinstance(handler, Editable):
            moved = await self._formats.relocate((), before, onto)
            if moved.is_shifted:
                reason = f"{tool} cannot be carried over: somebody inserted, removed or moved parts"
                raise self._refusal(reason, step)
            return arguments
        plain = [msgspec.to_builtins(record) for record in parse_operations(handler, given[key])]
        assert isinstance(handler, Relocatable)
        carried: list[Any] = []
        at, onto_at = before, onto
        groups = _groups(plain, handler.shifting)
        for number, group in enumerate(groups):
            moved = await self._formats.relocate(group, at, onto_at)
            if moved.reason:
                raise self._refusal(moved.reason, step, moved.place)
            carried += moved.operations
            if not moved.is_shifted and not number:
                # What stands where it stood stays so, whatever both versions go through.
                return arguments
            if number + 1 < len(groups):
                at = await self._half_way(handler, group, at, files)
                onto_at = await self._half_way(handler, moved.operations, onto_at, files)
        return msgspec.json.encode({**given, key: carried}).decode()

    async def _half_way(
        self, handler: FormatHandler, operations: Any, source: FileRef, seen: NotedFiles
    ) -> FileRef:
        """Return the version that some of a call's operations make, with the files it saw."""
        files = self._repeater.files(state_of_view({}))
        try:
            staged = files.stage()
            named = find_named_files(seen, handler, operations)
            await self._formats.apply(handler, source, operations, staged, named)
            blob, size_bytes = await self._workbench.blobs.adopt(staged)
        finally:
            await self._drop(files)
        return self._file(blob, size_bytes)

    async def _recorded(
        self,
        call: DraftedCall,
        arguments: str,
        again: Repeated,
        change: FileChanged,
        call_id: CallId,
        took_ms: int,
    ) -> RebasedCall:
        """Return the events of a call that was made again."""
        inline, blob = await self._stored(arguments)
        plugin = again.plugin
        called = ToolCalled(
            call_id=call_id,
            entry_id=0,
            tool=call.called.tool,
            plugin=f"{plugin.package} {plugin.version}",
            plugin_sha256=await self._repeater.hash_of(plugin),
            arguments=inline,
            arguments_blob=blob,
            repeats=call.seq,
        )
        shown, result = await self._stored(again.text)
        returned = ToolReturned(
            call_id=call_id,
            entry_id=0,
            ok=True,
            shown=shown if result is None else again.text[:_MAX_SHOWN_CHARACTERS] + "…",
            blob=result,
            size_bytes=len(again.text.encode()),
            duration_ms=took_ms,
        )
        return RebasedCall(called, returned, msgspec.structs.replace(change, cause="rebase"))

    async def _stored(self, text: str) -> tuple[str, BlobHash | None]:
        """Return a text for the log, or the hash of the blob that it is too long for."""
        data = text.encode()
        if len(data) <= INLINE_BYTES:
            return text, None
        return "", await self._workbench.blobs.put(data)

    def _view(self, call: DraftedCall, onto: FileRef) -> Any:
        """Return the files as the call saw them, but for the one that it is made on now."""
        seen = SeenFile(
            self._name, onto.blob, onto.size_bytes, 0, in_draft=True, warnings=self._warned
        )
        return state_of_view({**call.view, self._name: seen}, self._adopted)

    def _file(self, blob: BlobHash, size_bytes: int) -> FileRef:
        return FileRef(self._name, blob, size_bytes, self._workbench.blobs.path(blob))

    def _refusal(
        self, reason: str, step: LineageStep | None = None, place: Place | None = None
    ) -> RebaseRefusedError:
        clash = Clash(place=place or Place(title=self._name), reason=reason)
        return RebaseRefusedError([FoundClash(clash, step)])

    async def _drop(self, files: NotedFiles) -> None:
        # Also after a cancel: staged files that no event names must not stay.
        with anyio.CancelScope(shield=True):
            await files.drop()


def _groups(operations: list[Any], shifting: tuple[str, ...]) -> list[list[Any]]:
    """Return operations in groups, each of which counts as the version before it does."""
    groups: list[list[Any]] = [[]]
    for operation in operations:
        groups[-1].append(operation)
        if operation.get("op") in shifting:
            groups.append([])
    return [group for group in groups if group]
