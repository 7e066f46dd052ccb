"""Projections of an open workbench: draft/ and the readable copies follow the log.

They are refreshed after a frame, never before it: what a person opens (draft/, research.md and
plan.md) before anybody is told of the frame, so that an answer finds it on disk; the copies that
cost more, with pauses.

meta/workshop/conversation.jsonl is the conversation for people, an entry a line. It is a copy: the
log has everything. What is new is added at its end, so that a message costs the same after a
thousand others; after an undo it is written anew, and so is one that cannot be gone on with, with
what is newest (`LineCopy`). Each line says which event it is of, so a start reads no more of the
log than came since.
"""

from collections.abc import Sequence
from pathlib import Path

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.agent.readable_copies import copy_texts, write_copies, write_tool_log
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.event_loop import Notifier
from kbd.core.store.journal import Journal
from kbd.core.store.line_copy import LineCopy
from kbd.core.workbench.conversation import conversation_entry, read_branch
from kbd.core.workbench.workbench import OpenWorkbench, draft_view
from kbd.errors import KbdError
from kbd.events.base import Recorded
from kbd.events.drafts import (
    DraftDiscarded,
    DraftRebased,
    DraftRecovered,
    FileChanged,
    PublishCompleted,
)
from kbd.events.runs import (
    ItemCompleted,
    ItemFailed,
    ItemRetried,
    ItemsAdded,
    PlanWritten,
    ResearchWritten,
    RunCancelled,
    RunFailed,
    RunFinished,
    RunInterrupted,
    RunStarted,
    ToolReturned,
)
from kbd.events.shortages import SYSTEM_FAILURES
from kbd.events.workbenches import ConversationRewound, UserMessageAdded
from kbd.requests.workshop import ConversationMessage
from kbd.types import BlobHash, FileName, Seq

__all__ = ["ConversationCopy", "Projection"]

_NAME = "conversation.jsonl"

_MAX_QUEUED = 50_000
"""A copy that is so many events behind is written anew, with what is newest."""

_log = get_logger(__name__)


class ConversationCopy:
    """The readable copy of one workbench's conversation, kept in step with its log.

    Args:
        folder: Where it lies (`meta/workshop`).
        journal: The workbench's log.
    """

    def __init__(self, folder: Path, journal: Journal) -> None:
        self._copy, self._journal = LineCopy(folder / _NAME), journal
        self._new: list[ConversationMessage] = []
        self._anew = True

    @property
    def is_behind(self) -> bool:
        """Whether there is something to write."""
        return bool(self._new)

    def note(self, seq: Seq, record: Recorded) -> bool:
        """Queue an event's entry; return whether it has one."""
        message = conversation_entry(seq, record)
        if message is None:
            return False
        self._anew |= isinstance(record.data, ConversationRewound)
        self._new.append(message)
        return True

    async def catch_up(self) -> None:
        """Bring the copy up to date with the log, however it was left."""
        covered = await run_sync(self._copy.last_event)
        end = self._journal.seq
        # A copy that is ahead of the log is not of this log: nothing is shown before it is durable.
        self._anew = covered is None or not end - _MAX_QUEUED <= covered <= end
        if covered is not None and not self._anew:
            self._new = []
            for seq, record in await run_sync(
                lambda: list(self._journal.reader.read(covered, end))
            ):
                self.note(seq, record)
        if self._anew or self._new:
            await self._write()

    async def write(self) -> None:
        """Write the queued entries."""
        if self._new:
            await self._write()

    async def _write(self) -> None:
        """Write the queue; a failure is logged, and the next entry rewrites the file."""
        # Taken before the write: what is noted while a thread writes is for the next round.
        new, anew = self._new, self._anew
        self._new, self._anew = [], False
        try:
            if anew or not await run_sync(self._copy.append, map(_encode, new)):
                await self._write_newest()
        except (KbdError, *SYSTEM_FAILURES) as fault:
            self._anew = True
            _log.warning("copy_not_written", copy=_NAME, fault=str(fault))

    async def _write_newest(self) -> None:
        reader = self._journal.reader
        last = await run_sync(lambda: reader.outline().seq)
        newest = map(_encode, read_branch(reader, after=last + 1, descending=True))
        await run_sync(self._copy.replace, newest)
        # What was noted meanwhile, and is written already.
        self._new = [message for message in self._new if message.seq > last]


_encode = msgspec.json.Encoder().encode


_CHANGES_WHOLE_DRAFT = (
    DraftDiscarded | DraftRebased | DraftRecovered | PublishCompleted | ConversationRewound
)
_CHANGES_DRAFT = FileChanged | _CHANGES_WHOLE_DRAFT
_ENDS_EARLY = RunCancelled | RunFailed | RunInterrupted
_CHANGES_COPIES = (
    UserMessageAdded
    | RunStarted
    | ResearchWritten
    | PlanWritten
    | ItemCompleted
    | ItemRetried
    | ItemFailed
    | ItemsAdded
    | RunFinished
    | DraftDiscarded
    | ConversationRewound
    | _ENDS_EARLY
)

_PAUSE_S = 0.1
_PAUSE_SHARE = 20
"""Between two refreshes: some seconds, and so many times as long as the last one took. Each reads
all that was said, some even the whole log: at every message of a busy client that would cost more
than to record the messages, and nobody looks so often."""

_RETRY_S = 2.0
_MAX_RETRY_S = 60.0
"""The pause after a refresh that failed, doubled with each one that fails again: a disk has room
when somebody has made some."""


class Projection:
    """Refreshes draft/ and the readable copies in one workbench's folder.

    A refresh that fails fails nothing else: it is logged and tried again, for the log has
    everything.

    Args:
        workbench: The workbench.
    """

    def __init__(self, workbench: OpenWorkbench) -> None:
        self._workbench = workbench
        self._changed = Notifier()
        self._tool_log = False
        self._conversation = ConversationCopy(workbench.folders.workshop, workbench.keeper.journal)
        # What the disk shows; None where that is not known.
        self._shown: dict[FileName, BlobHash | None] | None = None
        self._texts: dict[str, str | None] | None = None
        self._has_failed = False
        self._retry_s = _RETRY_S
        # Two refreshes at once could leave the older version in place.
        self._showing = anyio.Lock()

    async def catch_up(self) -> None:
        """Bring the copy of the conversation up to date, when all else was just recovered.

        Call it before anything is observed.
        """
        if self._workbench.damage is None:
            self._shown = dict(draft_view(self._workbench.state))
            self._texts = copy_texts(self._workbench.state)
            await self._conversation.catch_up()

    async def refresh(self, records: Sequence[Recorded]) -> None:
        """Bring draft/, research.md and plan.md in line with a frame's events.

        Only what differs is written. Nothing is raised, and a cancellation waits for the end. While
        it is not known what the disk shows, `run` finds out, for that takes time.

        Args:
            records: The events; they are folded.
        """
        facts = [record.data for record in records]
        draft = any(isinstance(fact, _CHANGES_DRAFT) for fact in facts)
        copies = any(isinstance(fact, _CHANGES_COPIES) for fact in facts)
        if not draft and not copies:
            return
        is_all_named = not any(isinstance(fact, _CHANGES_WHOLE_DRAFT) for fact in facts)
        names = {fact.name for fact in facts if isinstance(fact, FileChanged)}
        with anyio.CancelScope(shield=True):
            async with self._showing:
                if draft and self._shown is not None:
                    await self._show_draft(names if is_all_named else None)
                if copies and self._texts is not None:
                    await self._show_copies()

    def observe(self, seq: Seq, record: Recorded) -> None:
        """Note what an event makes stale of what has time, and wake `run`."""
        if self._conversation.note(seq, record):
            self._changed.ring()
        is_last_call = isinstance(record.data, _ENDS_EARLY)
        # A client's own call has no agent that would write it down.
        is_own_call = isinstance(record.data, ToolReturned) and not record.run
        if is_last_call or is_own_call:
            self._tool_log = True
            self._changed.ring()

    async def run(self) -> None:
        """Refresh what has time, for ever; changes that gather are one refresh."""
        while True:
            while not self._is_behind:
                await self._changed.wait()
            begun = anyio.current_time()
            if self._has_failed:
                await self._show_again()
            # Cleared before the work: what is recorded meanwhile is refreshed in the next round.
            tool_log, self._tool_log = self._tool_log, False
            try:
                await self._conversation.write()
                if tool_log:
                    await write_tool_log(
                        self._workbench.folders.workshop, self._workbench.keeper.journal
                    )
            except (KbdError, *SYSTEM_FAILURES) as error:
                _log.warning("not_shown", workbench=self._workbench.id, error=str(error))
            spent = anyio.current_time() - begun
            pause_s = max(_PAUSE_S, _PAUSE_SHARE * spent)
            if self._has_failed:
                pause_s = max(pause_s, self._retry_s)
                self._retry_s = min(2 * self._retry_s, _MAX_RETRY_S)
            else:
                self._retry_s = _RETRY_S
            await anyio.sleep(pause_s)

    async def _show_again(self) -> None:
        """Try again what could not be shown."""
        self._has_failed = False
        async with self._showing:
            if self._shown is None:
                await self._show_draft(None)
            if self._texts is None:
                await self._show_copies()

    async def _show_draft(self, names: set[FileName] | None) -> None:
        """Write what differs in draft/; `names` are those that may, None is all."""
        files, shown = self._workbench.files, self._shown
        view = dict(draft_view(self._workbench.state))
        # Until the work is done nobody knows what the disk shows.
        self._shown = None
        try:
            if shown is None:
                await run_sync(files.show_draft, view)
            else:
                names = view.keys() | shown.keys() if names is None else names
                stale = {name: view.get(name) for name in names}
                stale = {name: blob for name, blob in stale.items() if shown.get(name) != blob}
                if stale:
                    await run_sync(files.show_drafted, stale)
        except (KbdError, *SYSTEM_FAILURES) as error:
            self._fail("draft", str(error))
        else:
            self._shown = view

    async def _show_copies(self) -> None:
        """Write research.md and plan.md if they differ."""
        shown, texts = self._texts, copy_texts(self._workbench.state)
        self._texts = None
        if shown == texts or await write_copies(self._workbench.folders.workshop, texts):
            self._texts = texts
        else:
            self._fail("_rpi", "a copy could not be written")

    def _fail(self, what: str, error: str) -> None:
        _log.warning("not_shown", workbench=self._workbench.id, what=what, error=error)
        self._has_failed = True
        self._changed.ring()

    @property
    def _is_behind(self) -> bool:
        return self._has_failed or self._tool_log or self._conversation.is_behind
