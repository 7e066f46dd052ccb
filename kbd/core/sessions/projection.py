"""Projections of an open workbench: draft/ and the readable copies follow the log.

They are refreshed after a frame, never before it.

meta/workshop/conversation.jsonl is the conversation for people, an entry a line. It is a copy: the
log has everything. What is new is added at its end, so that a message costs the same after a
thousand others; after an undo it is written anew, and so is one that cannot be gone on with. Each
line says which event it is of, so a start reads no more of the log than came since.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.agent.readable_copies import write_copies, write_tool_log
from kbd.core.runtime.diagnostics import get_logger
from kbd.core.runtime.event_loop import Notifier
from kbd.core.store.journal import Journal
from kbd.core.workbench.conversation import ConversationBranch, conversation_entry
from kbd.core.workbench.workbench import OpenWorkbench, draft_view
from kbd.errors import KbdError
from kbd.events.base import Recorded
from kbd.events.drafts import DraftDiscarded, FileChanged, PublishCompleted
from kbd.events.runs import (
    ItemCompleted,
    ItemFailed,
    ItemRetried,
    ItemsAdded,
    RunCancelled,
    RunFailed,
    RunFinished,
    RunInterrupted,
    ToolReturned,
)
from kbd.events.workbenches import ConversationRewound, UserMessageAdded
from kbd.requests.workshop import ConversationMessage
from kbd.types import Seq

__all__ = ["ConversationCopy", "Projection"]

_NAME = "conversation.jsonl"

_TAIL_BYTES = 256 * 1024
"""How much of its end is looked at; one that ends in a longer line is written anew."""

_PAGE = 1000

_log = get_logger(__name__)


class _CopyLine(msgspec.Struct):
    """Line of the copy, as far as it is read: its event's number."""

    seq: Seq


class ConversationCopy:
    """The readable copy of one workbench's conversation, kept in step with its log.

    Args:
        folder: Where it lies (`meta/workshop`).
        journal: The workbench's log.
    """

    def __init__(self, folder: Path, journal: Journal) -> None:
        self._path, self._journal = folder / _NAME, journal
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
        covered = await run_sync(_last_event, self._path)
        # A copy that is ahead of the log is not of this log: nothing is shown before it is durable.
        self._anew = covered is None or covered > self._journal.seq
        if covered is not None and not self._anew:
            self._new = []
            await self._read(covered, self.note)
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
            if anew or not await run_sync(_append_lines, self._path, new):
                await self._write_all()
        except (OSError, KbdError) as fault:
            self._anew = True
            _log.warning("copy_not_written", copy=_NAME, fault=str(fault))

    async def _write_all(self) -> None:
        branch = ConversationBranch()
        last = await self._read(Seq(0), branch.add)
        await run_sync(_replace_copy, self._path, branch.messages())
        # What was noted meanwhile, and is written already.
        self._new = [message for message in self._new if message.seq > last]

    async def _read(self, after: Seq, take: Callable[[Seq, Recorded], object]) -> Seq:
        """Pass all events after one to `take`, and return the last one's number."""
        while page := await self._journal.read(after, _PAGE):
            for seq, record in page:
                take(seq, record)
            after = page[-1][0]
        return after


def _last_event(path: Path) -> Seq | None:
    """Return the event of the last line; None for no copy, a torn one or somebody else's file."""
    try:
        with path.open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _TAIL_BYTES))
            *_, last, after = file.read().rsplit(b"\n", 2)
        return None if after else msgspec.json.decode(last, type=_CopyLine).seq
    except (OSError, ValueError, msgspec.DecodeError):
        return None


def _append_lines(path: Path, new: Iterable[ConversationMessage]) -> bool:
    """Add lines to the copy; False if there is none."""
    try:
        with path.open("r+b") as file:
            file.seek(0, os.SEEK_END)
            file.write(_encode_lines(new))
    except FileNotFoundError:
        return False
    return True


def _replace_copy(path: Path, messages: Iterable[ConversationMessage]) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.new")
    fresh.write_bytes(_encode_lines(messages))
    # Not synced: what a crash takes is written anew from the log.
    os.replace(fresh, path)


def _encode_lines(messages: Iterable[ConversationMessage]) -> bytes:
    return b"".join(msgspec.json.encode(each) + b"\n" for each in messages)


_CHANGES_DRAFT = FileChanged | DraftDiscarded | PublishCompleted | ConversationRewound
_ENDS_EARLY = RunCancelled | RunFailed | RunInterrupted
_CHANGES_PLAN = ItemCompleted | ItemRetried | ItemFailed | ItemsAdded | RunFinished
"""What the agent does not write down itself: of a long plan each item would cost all others."""

_CHANGES_COPIES = (
    UserMessageAdded | DraftDiscarded | ConversationRewound | _ENDS_EARLY | _CHANGES_PLAN
)
"""What the agent, which writes the copies at the ends of phases, is not there to see."""

_PAUSE_S = 0.1
_PAUSE_SHARE = 20
"""Between two refreshes: some seconds, and so many times as long as the last one took. Each reads
all that was said, some even the whole log: at every message of a busy client that would cost more
than to record the messages, and nobody looks so often."""


class Projection:
    """Refreshes draft/ and the readable copies in one workbench's folder.

    A refresh that fails is logged and tried again at the next change: the log has everything.

    Args:
        workbench: The workbench.
    """

    def __init__(self, workbench: OpenWorkbench) -> None:
        self._workbench = workbench
        self._changed = Notifier()
        self._draft = self._copies = self._tool_log = False
        self._conversation = ConversationCopy(workbench.folders.workshop, workbench.keeper.journal)

    async def catch_up(self) -> None:
        """Bring the copy of the conversation up to date; call it before anything is observed."""
        if self._workbench.damage is None:
            await self._conversation.catch_up()

    def observe(self, seq: Seq, record: Recorded) -> None:
        """Note what an event makes stale, and wake `run`."""
        if self._conversation.note(seq, record):
            self._changed.ring()
        if isinstance(record.data, _CHANGES_DRAFT):
            self._draft = True
            self._changed.ring()
        if isinstance(record.data, _CHANGES_COPIES):
            self._copies = True
            self._tool_log |= isinstance(record.data, _ENDS_EARLY)
            self._changed.ring()
        if isinstance(record.data, ToolReturned) and not record.run:
            self._tool_log = True  # a client's own call: no agent is there to write it down
            self._changed.ring()

    async def run(self) -> None:
        """Refresh after every change, for ever; changes that gather are one refresh."""
        while True:
            while not self._is_behind:
                await self._changed.wait()
            begun = anyio.current_time()
            draft, copies, tool_log = self._draft, self._copies, self._tool_log
            # Cleared before the work: what is recorded meanwhile is refreshed in the next round.
            self._draft = self._copies = self._tool_log = False
            try:
                if draft:
                    await run_sync(
                        self._workbench.files.show_draft, draft_view(self._workbench.state)
                    )
                await self._conversation.write()
                if copies:
                    await write_copies(self._workbench.folders.workshop, self._workbench.state)
                if tool_log:
                    await write_tool_log(
                        self._workbench.folders.workshop, self._workbench.keeper.journal
                    )
            except (KbdError, OSError) as error:
                _log.warning("not_shown", workbench=self._workbench.id, error=str(error))
            spent = anyio.current_time() - begun
            await anyio.sleep(max(_PAUSE_S, _PAUSE_SHARE * spent))

    @property
    def _is_behind(self) -> bool:
        return self._draft or self._copies or self._tool_log or self._conversation.is_behind
