"""Works on a workbench that tests cut off: what they are made of, do and leave.

A publish, an undo, a restore, a recovery of a draft, a rebase; each with its beginning and steps.
"""

import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from kbd.core.domain.commands import ConfirmDeletions, RecordFacts, SendMessage
from kbd.core.domain.daemon_state import KnownWorkbench
from kbd.core.plugins.hooks import GROUP, installed_entry_points
from kbd.core.runtime.paths import Home, WorkbenchFolders
from kbd.core.runtime.secrets import Secrets
from kbd.core.sessions.rebase import rebase_draft
from kbd.core.sessions.recovery import close_workbench, open_workbench, recover_workbench
from kbd.core.store.redaction import Redaction
from kbd.core.workbench.draft_recovery import find_draft, recover_draft
from kbd.core.workbench.publish import discard, publish
from kbd.core.workbench.rewind import restore_checkpoint, rewind_to
from kbd.core.workbench.transaction import PublishTransaction
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import DiskFull, KbdError, ValidationFailed
from kbd.events.disk import DISK, Disk
from kbd.events.drafts import DraftOpened, FileChanged, PlannedFile
from kbd.events.runs import ToolCalled, ToolReturned
from kbd.requests.drafts import DraftRebased
from kbd.types import BlobHash, CallId, FileName, WorkbenchId
from supervised import CLOCK, add, draft, files_in, supervised

__all__ = [
    "CHANGED",
    "DELETED",
    "MADE",
    "WORKS",
    "View",
    "Work",
    "drafted",
    "named_blobs",
    "opened",
    "publish_draft",
    "view",
]

WORKBENCH = WorkbenchId("0123456789abcdef")

CHANGED = tuple(f"changed{number}.txt" for number in range(12))
DELETED = tuple(f"deleted{number}.txt" for number in range(4))
MADE = ("new0.txt", "new1.txt", "sub/new2.txt", "sub/deep/new3.txt")
"""Twenty files."""


@asynccontextmanager
async def opened(root: Path, disk: Disk = DISK) -> AsyncIterator[OpenWorkbench]:
    """Open and recover a workbench, and close it in order; after a fault only what is held."""
    folders = WorkbenchFolders(WORKBENCH, root)
    secrets = Secrets(Home(folder=root, socket=root / "s"), {})
    bench = await open_workbench(folders, CLOCK, Redaction(secrets), disk)
    try:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(bench.keeper.run)
            await recover_workbench(bench, CLOCK, KnownWorkbench(WORKBENCH, "test", 0))
            yield bench
            tasks.cancel_scope.cancel()
    except BaseException:
        with anyio.CancelScope(shield=True), suppress(KbdError, OSError):
            await bench.keeper.journal.aclose()
            bench.files.close()
        raise
    await close_workbench(bench, disk)


async def _added(root: Path) -> None:
    """Make a workbench with files."""
    async with opened(root) as bench:
        for name in (*CHANGED, *DELETED):
            await add(bench, name, f"old {name}\n" * 100)
        await bench.keeper.submit(SendMessage("m" * 16, "work"))


async def _edit(bench: OpenWorkbench) -> None:
    """Make a draft of twenty files."""
    changes: dict[str, str | None] = {name: f"new {name}\n" * 150 for name in CHANGED + MADE}
    await draft(bench, **changes, **dict.fromkeys(DELETED))
    await bench.keeper.submit(ConfirmDeletions(tuple(map(FileName, DELETED))))


async def drafted(root: Path) -> None:
    await _added(root)
    async with opened(root) as bench:
        await _edit(bench)


async def publish_draft(bench: OpenWorkbench) -> None:
    await publish(
        bench, CLOCK, names=None, keep_both=False, accept_external=False, progress=lambda _: None
    )


async def _fail_to_publish(bench: OpenWorkbench) -> None:
    """Publish while half of the files cannot be put in their places: all is brought back."""
    carry_out = PublishTransaction._put  # A fault between two files.

    def put(self: PublishTransaction, slots: int, slot: str, planned: PlannedFile) -> Any:
        if int(slot) >= 10:
            raise DiskFull("no space is left")
        return carry_out(self, slots, slot, planned)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PublishTransaction, "_put", put)
        with suppress(DiskFull):
            await publish_draft(bench)
    assert bench.state.publish is None


async def _published(root: Path) -> None:
    await drafted(root)
    async with opened(root) as bench:
        await publish_draft(bench)


async def _undo(bench: OpenWorkbench) -> None:
    await rewind_to(bench, CLOCK, "m" * 16)


async def _restore(bench: OpenWorkbench) -> None:
    await restore_checkpoint(bench, CLOCK, bench.state.checkpoints[0].checkpoint_id)


async def _recover(bench: OpenWorkbench) -> None:
    await recover_draft(bench, await find_draft(bench, None, None), None)


REBASED = CHANGED[:3]
"""Files whose lines the draft changed, and somebody others of them beside kbd."""


async def _changed_beside(root: Path) -> None:
    """Make a draft of calls, of which three files are changed in published/ beside it."""
    async with opened(root) as bench:
        for name in (*CHANGED, *DELETED):
            await add(bench, name, f"first of {name}\nmiddle\nlast\n")
        call = CallId("w1")
        written = {name: f"first of {name}\nmiddle\nlast, drafted\n" for name in CHANGED}
        facts: list[ToolCalled | DraftOpened | FileChanged | ToolReturned] = [
            ToolCalled(call, 1, "write_text_file", arguments='{"path": "any", "content": "any"}'),
            DraftOpened("d-test"),
        ]
        for name, content in written.items():
            before = bench.state.files[FileName(name)].blob
            after = await bench.blobs.put(content.encode())
            facts.append(FileChanged(FileName(name), before, after, len(content), call_id=call))
        facts.append(ToolReturned(call, 1, True, "{}"))
        await bench.keeper.submit(RecordFacts(tuple(facts)))
    for name in REBASED:
        (root / "published" / name).write_text(f"first, theirs, of {name}\nmiddle\nlast\n")


async def _rebase(bench: OpenWorkbench) -> None:
    """Rebase with the workers of a real daemon."""
    done: DraftRebased | DiskFull | None = None
    with tempfile.TemporaryDirectory(prefix="kbd-") as home:
        points = installed_entry_points(GROUP, sys.path)
        async with supervised(Path(home), found=points) as running, running.context.workers:
            # Past the task groups, which would wrap it.
            try:
                done = await rebase_draft(running.context, bench, None)
            except DiskFull as fault:
                done = fault
    if isinstance(done, DiskFull):
        raise done
    assert done is not None
    if done.conflicts:  # So a fault of the disk is told, too: of lines there is none here.
        raise ValidationFailed(done.conflicts[0].reason)
    assert len(done.rebased) == len(REBASED)


Work = Callable[[OpenWorkbench], Awaitable[None]]
Made = Callable[[Path], Awaitable[None]]

WORKS: dict[str, tuple[Made, tuple[Work, ...]]] = {
    "publish": (drafted, (publish_draft,)),
    "edit and publish": (_added, (_edit, publish_draft)),
    "fail and publish": (_added, (_edit, _fail_to_publish, publish_draft)),
    "undo": (_published, (_undo,)),
    "restore": (_published, (_restore,)),
    "discard and recover": (drafted, (discard, _recover)),
    "rebase": (_changed_beside, (_rebase,)),
}
"""How each begins, and its steps: between two a power cut may leave what the first one made."""


class View(msgspec.Struct, frozen=True):
    """What is there, on the disk and by the log.

    Args:
        published: The files of published/.
        stated: The same by the log.
        draft: The draft's name and its files, None for one that it deletes; None for no draft.
        ended: How many drafts can be recovered.
    """

    published: dict[str, str]
    stated: dict[str, str]
    draft: tuple[str, dict[str, str | None]] | None
    ended: int


def view(bench: OpenWorkbench) -> View:
    def text(blob: BlobHash) -> str:
        return bench.blobs.path(blob).read_text()

    draft, state = bench.state.draft, bench.state
    held = None
    if draft is not None:
        files = {str(n): text(f.blob) if f.blob else None for n, f in draft.files.items()}
        held = (draft.draft_id, files)
    return View(
        published=files_in(bench.folders.published),
        stated={str(name): text(entry.blob) for name, entry in state.files.items()},
        draft=held,
        ended=len(state.ended_drafts),
    )


async def named_blobs(bench: OpenWorkbench) -> set[BlobHash]:
    """Return all blobs of what is published, of the draft, and of drafts that can be recovered."""
    named = {entry.blob for entry in bench.state.files.values()}
    drafted = bench.state.draft.files.values() if bench.state.draft else ()
    named |= {blob for each in drafted for blob in (each.blob, each.base) if blob}
    for ended in bench.state.ended_drafts:
        then = (await find_draft(bench, ended.draft_id, ended.seq)).draft
        named |= {file.blob for file in then.files if file.blob}
    return named
