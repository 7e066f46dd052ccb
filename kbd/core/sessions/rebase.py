"""Rebase of a draft on what is published now: all files that changed there, or nothing.

What somebody did in published/ beside kbd is found by hashes, copied in as blobs, and becomes the
published version; the draft's calls are made again on it. The one frame that says so comes last: a
crash before it leaves the draft as it was.
"""

from pathlib import Path

import msgspec
from anyio.to_thread import run_sync

from kbd.core.domain.commands import RebasedFile, RecordRebase
from kbd.core.domain.lineage import FileLineage, LineageStep
from kbd.core.domain.rebase_decisions import files_to_rebase, rebased_draft
from kbd.core.domain.workbench_state import Draft, DraftFile, WorkbenchState
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.drafted_calls import read_drafted_calls
from kbd.core.sessions.file_rebase import FileRebase, FoundClash, RebaseRefusedError
from kbd.core.sessions.repeated_calls import Repeater
from kbd.core.workbench.adoption import adopt_published, published_hash
from kbd.core.workbench.attribution import steps_of_draft
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import SandboxViolation
from kbd.requests import drafts as wire
from kbd.requests.base import UNSET
from kbd.requests.reviews import ChangePlace
from kbd.types import BlobHash, FileName, Seq

__all__ = ["rebase_draft"]


async def rebase_draft(
    context: ApiContext, workbench: OpenWorkbench, names: tuple[FileName, ...] | None
) -> wire.DraftRebased:
    """Rebase a draft, or some of its files.

    Args:
        context: The daemon's.
        workbench: The workbench.
        names: Which files, or None for all.

    Returns:
        What was done; with conflicts nothing was, and the draft is as it was.

    Raises:
        ValidationFailed: There is no draft, a run or a publish is under way, or the draft changed
            meanwhile.
        NotFound: A name is not in the draft.
        SandboxViolation: What stands in published/ is a link or not a regular file.
        DiskFull: There is no room for the new versions; nothing was done.
    """
    # As a client's own call: the next one sees what this one left.
    async with workbench.editing:
        draft = rebased_draft(workbench.state)
        asked = files_to_rebase(draft, names)
        # A copy: what is decided later is compared with what was seen here.
        seen = {name: msgspec.structs.replace(draft.files[name]) for name in asked}
        changed = await _changed_files(workbench, draft)
        wanted = tuple(name for name in asked if name in changed)
        unchanged = tuple(name for name in asked if name not in changed)
        if not wanted:
            return wire.DraftRebased(
                draft_id=draft.draft_id, rebased=(), conflicts=(), unchanged=unchanged
            )
        draft_id = draft.draft_id
        files, conflicts = await _rebase_files(
            context, workbench, {name: seen[name] for name in wanted}, changed
        )
        if conflicts:
            return wire.DraftRebased(
                draft_id=draft_id, rebased=(), conflicts=conflicts, unchanged=unchanged
            )
        await workbench.submit(RecordRebase(draft_id, context.clock.new_id(), tuple(files)))
    return _answer(workbench.state, files, unchanged)


async def _changed_files(workbench: OpenWorkbench, draft: Draft) -> frozenset[FileName]:
    """Return which files of the draft are not in published/ what the draft began from."""
    bases = {name: drafted.base for name, drafted in draft.files.items()}

    def differing() -> frozenset[FileName]:
        return frozenset(
            name
            for name, base in bases.items()
            if _differs(workbench.folders.published, name, base)
        )

    return await run_sync(differing)


def _differs(published: Path, name: FileName, base: BlobHash | None) -> bool:
    """Tell whether a file of published/ is another than the draft began from."""
    try:
        return published_hash(published, name) != base
    except SandboxViolation:
        # A link, say: who asks for this file is refused when it is to be read.
        return True


async def _rebase_files(
    context: ApiContext,
    workbench: OpenWorkbench,
    drafted: dict[FileName, DraftFile],
    changed: frozenset[FileName],
) -> tuple[list[RebasedFile], tuple[wire.RebaseConflict, ...]]:
    """Rebase files, each by itself; return what came of them, and all that is in the way."""
    lineages: dict[FileName, FileLineage] = {}
    for name in drafted:
        lineages[name] = await workbench.lineages.read(workbench.keeper.journal, name)
    wanted: set[Seq] = set()
    for lineage in lineages.values():
        wanted.update(step.called_seq for step in steps_of_draft(lineage)[0] if step.called_seq)
    calls = await read_drafted_calls(workbench.keeper.journal, wanted)
    repeater = Repeater(context, workbench)
    limit = context.settings.limits.file_bytes
    files: list[RebasedFile] = []
    conflicts: list[wire.RebaseConflict] = []
    for name, file in drafted.items():
        # Durable before anything names it, and the same bytes for all that follows.
        with workbench.fail_stop():
            adopted = await run_sync(
                adopt_published, workbench.folders.published, workbench.blobs.store, name, limit
            )
        rebase = FileRebase(
            workbench, repeater, context.clock, name=name, drafted=file, lineage=lineages[name],
            calls=calls, changed=changed,
        )  # fmt: skip
        try:
            files.append(await rebase.run(adopted))
        except RebaseRefusedError as refused:
            conflicts += [
                _render_conflict(workbench.state, name, found) for found in refused.clashes
            ]
    return files, tuple(conflicts)


def _answer(
    state: WorkbenchState, files: list[RebasedFile], unchanged: tuple[FileName, ...]
) -> wire.DraftRebased:
    draft = state.draft
    left = draft.files if draft is not None else {}
    return wire.DraftRebased(
        draft_id=draft.draft_id if draft is not None else None,
        rebased=tuple(
            wire.RebasedPath(
                path=file.adopted.name,
                calls=len(file.calls),
                in_draft=file.adopted.name in left,
            )
            for file in files
        ),
        conflicts=(),
        unchanged=unchanged,
    )


def _render_conflict(
    state: WorkbenchState, name: FileName, found: FoundClash
) -> wire.RebaseConflict:
    clash, step = found.clash, found.step
    made: LineageStep | None = step.original if step is not None else None
    is_known = clash.before is not None or clash.ours is not None or clash.theirs is not None
    return wire.RebaseConflict(
        path=name,
        place=msgspec.convert(msgspec.to_builtins(clash.place), ChangePlace),
        reason=clash.reason,
        before=clash.before if is_known else UNSET,
        ours=clash.ours if is_known else UNSET,
        theirs=clash.theirs if is_known else UNSET,
        seq=step.seq if step is not None else UNSET,
        tool=made.tool or UNSET if made is not None else UNSET,
        run_id=state.run_id(made.run) if made is not None and made.run else UNSET,
        item=made.item or UNSET if made is not None else UNSET,
    )
