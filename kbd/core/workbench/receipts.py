"""Receipts of publishes: documents that prove what each one changed, made from log and blobs.

A receipt is a function of the log, the blobs and the code: made again it has the same bytes. What
differs inside a file its format tells, in a worker. `docs/reference/receipts.md` has the document.
"""

import hashlib
from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import msgspec
from anyio.to_thread import run_sync

from kbd import __version__
from kbd.core.domain.lineage import FileLineage, LineageStep
from kbd.core.domain.workbench_state import PublishNote, WorkbenchState
from kbd.core.plugins.format_calls import FormatCalls
from kbd.core.workbench.attribution import steps_of_draft
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import (
    FileReadFailed,
    NotFound,
    ToolTimeout,
    ToolWorkerUnavailable,
    ValidationFailed,
)
from kbd.events.codec import format_time
from kbd.events.drafts import PlannedFile, PublishCompleted, PublishIntended
from kbd.events.runs import ModelReplied, ToolCalled
from kbd.formats.receipts import MAX_LISTED_OF_FILE, canonical_json
from kbd.tools import FileRef
from kbd.types import BlobHash, FileName, Seq

__all__ = ["FORMAT", "VERSION", "build_receipt", "find_publish", "is_current"]

FORMAT = "kbd-receipt"
VERSION = 2
"""Which kind of document it is; the check knows this one alone."""

MAX_STEPS = 100
"""Steps of a file that are told apart; older ones are one step, number 0."""

MAX_LISTED = 20_000
"""Entries of lists that are shown in a receipt."""

UNTOLD = 0
"""The number of what the log names no step for."""

_PAGE = 500
_LOOKED_BACK = 20
"""Pages that are read in search of the reply in which a model asked for a call."""

MAX_ATTEMPTS = 2
"""How often a file's format is asked whose worker dies of it."""


class _Kind(msgspec.Struct):
    """What tells receipts of different kinds apart."""

    version: int


def is_current(data: bytes) -> bool:
    """Return whether a receipt is of the kind that is made and checked now."""
    return msgspec.json.decode(data, type=_Kind).version == VERSION


def find_publish(state: WorkbenchState, checkpoint_id: str | None) -> tuple[str, PublishNote]:
    """Return a publish by its checkpoint; the newest one for None.

    Raises:
        NotFound: There is none.
    """
    if checkpoint_id is None:
        if not state.publishes:
            raise NotFound("nothing was published in this workbench")
        checkpoint_id, _ = next(state.publishes.newest())
    note = state.publishes.get(checkpoint_id)
    if note is None:
        msg = f"no publish of this workbench left the checkpoint {checkpoint_id}"
        raise NotFound(msg)
    return checkpoint_id, note


async def build_receipt(
    workbench: OpenWorkbench, formats: FormatCalls, checkpoint_id: str, note: PublishNote
) -> bytes:
    """Return the receipt of a publish.

    Raises:
        NotFound: The log does not hold the publish any more.
        KbdError: The log cannot be read.
    """
    intended = await _event(workbench, note.intended_seq, PublishIntended)
    completed = await _event(workbench, note.completed_seq, PublishCompleted)
    done: PublishCompleted = completed.data
    files = _Files(workbench, formats, intended.data, done, note.intended_seq)
    receipt = {
        "format": FORMAT,
        "version": VERSION,
        "kbd": __version__,
        "workbench": {"id": workbench.id, "name": workbench.state.name},
        "publish": {
            "publish_id": done.publish_id,
            "checkpoint_id": checkpoint_id,
            "kind": _kind(intended.data),
            "time": format_time(completed.ts_us),
            "intended": await run_sync(_head, workbench, note.intended_seq),
            "completed": await run_sync(_head, workbench, note.completed_seq),
        },
        "files": await files.facts(),
    }
    # In a thread: the largest ones take 100 ms.
    return await run_sync(canonical_json, receipt) + b"\n"


def _head(workbench: OpenWorkbench, seq: Seq) -> dict[str, Any]:
    """Return an event with the next head of the log: the chain is known at the ends of frames."""
    log = workbench.keeper.journal.log
    for head in range(seq, log.seq + 1):
        chain = log.chain_at(Seq(head))
        if chain is not None:
            return {"seq": seq, "head_seq": head, "hash": chain.hex()}
    msg = f"event {seq} of the log is not the publish"
    raise NotFound(msg)


def _kind(intended: PublishIntended) -> str:
    if intended.rewind is not None:
        return intended.rewind.reason
    return "restore" if intended.restores else "publish"


async def _event(workbench: OpenWorkbench, seq: Seq, kind: type) -> Any:
    found = await workbench.keeper.journal.read(Seq(seq - 1), 1)
    if not found or not isinstance(found[0][1].data, kind):
        msg = f"event {seq} of the log is not the publish"
        raise NotFound(msg)
    return found[0][1]


class _Files:
    """The files of one publish.

    Args:
        workbench: The workbench.
        formats: Its formats.
        intended: What was planned.
        completed: What came of it.
        seq: The event of the plan: lineages are those of that moment.
    """

    def __init__(
        self,
        workbench: OpenWorkbench,
        formats: FormatCalls,
        intended: PublishIntended,
        completed: PublishCompleted,
        seq: Seq,
    ) -> None:
        self._workbench, self._formats, self._seq = workbench, formats, seq
        self._planned = intended.files
        self._is_back = intended.rewind is not None or bool(intended.restores)
        self._moved = dict(completed.conflicted)
        self._drafted_as = {given: name for name, given in intended.kept_both}
        self._renamed = _renames(intended.files)
        self._arguments = _CallArguments(workbench)
        self._limit = max(20, min(MAX_LISTED_OF_FILE, MAX_LISTED // max(1, len(intended.files))))

    async def facts(self) -> list[dict[str, Any]]:
        """Return what the receipt says of each file, by name."""
        sources = set(self._renamed.values())
        told = []
        for planned in sorted(self._planned, key=lambda each: each.name):
            if planned.name in sources:
                continue
            told.append(await self._file(planned))
        # What is put beside another file has another name than was planned.
        return sorted(told, key=itemgetter("path"))

    async def _file(self, planned: PlannedFile) -> dict[str, Any]:
        own = self._drafted_as.get(planned.name, planned.name)
        name = self._moved.get(planned.name, planned.name)
        lineage = await self._workbench.lineages.read(
            self._workbench.keeper.journal, own, self._seq
        )
        steps, is_whole = self._steps(lineage)
        is_beside = own != name
        base = lineage.base.after if lineage.base is not None and not self._is_back else None
        before = base if is_beside else planned.old
        previous = self._renamed.get(planned.name)
        begins = bool(steps) and (previous is not None or steps[0].before == before)
        is_whole = is_whole and begins and steps[-1].after == planned.new
        told: dict[str, Any] = {
            "path": name,
            "change": _change(planned, is_beside=is_beside),
            "before": await self._version(before, lineage),
            "after": await self._version(planned.new, lineage),
            "steps": [await self._step(step) for step in steps],
            "steps_complete": is_whole,
        }
        if is_beside:
            told["beside"] = own
        if planned.name in self._moved and planned.new is None:
            told["change"] = "left"
        if previous is not None:
            told |= {"change": "renamed", "previous_path": previous}
            told["before"] = told["after"]
        elif planned.new is not None and before != planned.new:
            told["inside"], told["steps_complete"] = await self._inside(
                name, before, planned.new, steps if is_whole else ()
            )
        return told

    def _steps(self, lineage: FileLineage) -> tuple[tuple[LineageStep, ...], bool]:
        """Return the steps of the draft's version, oldest first, and whether those are all."""
        if self._is_back:
            return (), False
        found, is_whole = steps_of_draft(lineage)
        return tuple(reversed(found)), is_whole

    async def _version(self, blob: BlobHash | None, lineage: FileLineage) -> dict[str, Any] | None:
        """Return what is said of a version.

        Raises:
            KbdError: Its stored bytes are damaged, and the log does not have its size either.
        """
        if blob is None:
            return None
        try:
            await run_sync(self._workbench.blobs.store.check, blob)
            size = (await run_sync(self._workbench.blobs.path(blob).stat)).st_size
        except (FileReadFailed, NotFound):
            heads = (lineage.published, lineage.drafted, lineage.base)
            sizes = (each.size_bytes for each in heads if each is not None and each.after == blob)
            size = next(sizes, 0)
            if not size:
                raise
        return {"sha256": blob, "size_bytes": size}

    async def _step(self, step: LineageStep) -> dict[str, Any]:
        told = await self._call(step)
        told |= {"before": step.before, "after": step.after}
        if step.original is not step:
            # A rebase made it: who asked for the change is told with the call that it repeats.
            made = step.original
            told["repeats"] = await self._call(made)
            told["repeats"] |= {"before": made.before, "after": made.after}
        return told

    async def _call(self, step: LineageStep) -> dict[str, Any]:
        """Return who made a step, and when."""
        told: dict[str, Any] = {
            "seq": step.seq, "time": format_time(step.ts_us), "kind": step.kind,
        }  # fmt: skip
        if step.tool:
            told["tool"] = step.tool
        if step.run:
            told["run_id"] = self._workbench.state.run_id(step.run)
        if step.item:
            told["item"] = step.item
        if step.call_id is not None:
            told |= {"call_id": step.call_id, "entry_id": step.entry_id}
            digest = await self._arguments.digest(step)
            if digest is not None:
                told["arguments_sha256"] = digest
        return told

    async def _inside(
        self,
        name: FileName,
        before: BlobHash | None,
        after: BlobHash,
        steps: Sequence[LineageStep],
    ) -> tuple[dict[str, Any], bool]:
        """Have the file's format tell what differs, and whether it could tell each step's share.

        Args:
            name: The file.
            before: Its version before.
            after: Its version after.
            steps: What leads from the one to the other; none if that is not known.
        """
        whole: dict[str, Any] | None = None
        if steps:
            numbers: Sequence[int] = [step.seq for step in steps][-MAX_STEPS:]
            chain = [before, *(step.after for step in steps)]
            if len(steps) > MAX_STEPS:
                numbers, chain = [UNTOLD, *numbers], [before, *chain[-MAX_STEPS - 1 :]]
            whole = await self._compared(name, chain, numbers)
            if "unread" not in whole:
                return whole, True
        if len(steps) == 1:
            return whole or {}, True
        # One between may be damaged, or all of them too much: then no call is named.
        found = await self._compared(name, [before, after], [UNTOLD])
        if whole is not None and "unread" in found:
            return whole, True
        return found, False

    async def _compared(
        self, name: FileName, blobs: Sequence[BlobHash | None], numbers: Sequence[int]
    ) -> dict[str, Any]:
        """Have the file's format tell what differs between versions; or say why it does not."""
        versions = [self._file_ref(name, blob) for blob in blobs]
        for attempt in range(MAX_ATTEMPTS):
            try:
                found = await self._formats.receipt_facts(name, versions, numbers, self._limit)
            except ToolTimeout:
                return {"kind": "file", "unread": "time"}
            except ToolWorkerUnavailable:
                # Somebody may have ended it, or the memory was short: what it died of is not known.
                if attempt == MAX_ATTEMPTS - 1:
                    return {"kind": "file", "unread": "worker"}
            except ValidationFailed:
                return {"kind": "file", "unread": "large"}
            except (FileReadFailed, NotFound):
                return {"kind": "file", "unread": "damaged"}
            else:
                return found if found is not None else {"kind": "file"}
        raise AssertionError  # The last attempt returns.

    def _file_ref(self, name: FileName, blob: BlobHash | None) -> FileRef | None:
        if blob is None:
            return None
        return FileRef(name, blob, 0, self._workbench.blobs.path(blob))


def _change(planned: PlannedFile, *, is_beside: bool) -> str:
    if is_beside:
        return "kept_both"
    if planned.new is None:
        return "deleted"
    return "added" if planned.old is None else "modified"


def _renames(files: Sequence[PlannedFile]) -> dict[FileName, FileName]:
    """Return new names with the old ones, where a deletion and an addition have equal bytes."""
    deleted: dict[BlobHash, list[FileName]] = {}
    for file in sorted(files, key=lambda each: each.name, reverse=True):
        if file.new is None and file.old is not None:
            deleted.setdefault(file.old, []).append(file.name)
    renamed: dict[FileName, FileName] = {}
    for file in sorted(files, key=lambda each: each.name):
        if file.old is None and file.new is not None and deleted.get(file.new):
            renamed[file.name] = deleted[file.new].pop()
    return renamed


class _CallArguments:
    """The hashes of what calls were given, from the log; each call is looked up once."""

    def __init__(self, workbench: OpenWorkbench) -> None:
        self._journal = workbench.keeper.journal
        self._known: dict[Seq, str | None] = {}

    async def digest(self, step: LineageStep) -> str | None:
        """Return the hash of the JSON text that a step's call was given; None if it is not found.

        A client's stands with the call, a run's in the reply in which the model asked for it.
        """
        if not step.called_seq:
            return None
        if step.called_seq not in self._known:
            self._known[step.called_seq] = await self._find(step)
        return self._known[step.called_seq]

    async def _find(self, step: LineageStep) -> str | None:
        found = await self._journal.read(Seq(step.called_seq - 1), 1)
        called = found[0][1].data if found else None
        if not isinstance(called, ToolCalled):
            return None
        if not step.run:
            return _digest(called.arguments, called.arguments_blob)
        end = step.called_seq
        for _ in range(_LOOKED_BACK):
            start = Seq(max(0, end - _PAGE))
            page = await self._journal.read(start, end - start)
            for _, record in reversed(page):
                if record.run != step.run or not isinstance(record.data, ModelReplied):
                    continue
                for call in record.data.calls:
                    if call.id == step.call_id:
                        return _digest(call.arguments, call.blob)
            if not start:
                break
            end = start
        return None


def _digest(arguments: str, blob: BlobHash | None) -> str:
    return blob or hashlib.sha256(arguments.encode("utf-8", "replace")).hexdigest()
