"""Lineage of files: the steps by which each file's current content came to be, as the log has them.

A step is what made one version of a file: a call, a person who added or removed it. A version knows
the step that made it, and each step the one before, so a version's lineage is a linked list that
never changes. What the events do is choose heads:

- a change puts a step in front of the head; a change that ends where it began puts none;
- a rollback takes the head that the file had before the attempt, a discarded draft that of what is
  published, a rewind, a recovered draft and a restored checkpoint those of their moment;
- a publish makes the draft's head the published one.

So content that went away again is no part of a lineage, and content that came back has the makers
that it had. A file that a person adds begins a lineage, and so does what a fork takes over.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import msgspec

from kbd.events.base import Recorded
from kbd.events.drafts import (
    CheckpointCreated,
    CheckpointRestored,
    DraftDiscarded,
    DraftRebased,
    DraftRecovered,
    FileAdopted,
    FileChanged,
    PublishAborted,
    PublishCompleted,
    PublishIntended,
)
from kbd.events.runs import (
    ItemCompleted,
    ItemFailed,
    ItemRetried,
    ItemStarted,
    PhaseCompleted,
    PhaseStarted,
    RunFinished,
    ToolCalled,
    ToolReturned,
)
from kbd.events.workbenches import (
    ConversationRewound,
    FileAdded,
    FileRemoved,
    WorkbenchForked,
)
from kbd.types import BlobHash, CallId, FileName, Seq

__all__ = ["FileLineage", "LineageFold", "LineageStep", "StepKind", "walk_steps"]

StepKind = Literal["tool_call", "client_call", "added", "adopted", "removed", "forked", "unknown"]
"""Who made a version: a run's tool, a method that a client called, a person who added the file,
changed it in published/ beside kbd or removed it, the workbench that this one was forked from;
`unknown` if the log does not tell."""


class LineageStep(msgspec.Struct, frozen=True, eq=False, kw_only=True):
    """Step of a lineage: what made one version of a file.

    Steps are compared by identity, for two may make the same bytes.

    Args:
        seq: Its event.
        ts_us: When that was recorded.
        kind: Who made it.
        name: What the file was called.
        after: The bytes that it made; None if it removed the file.
        size_bytes: Their size.
        older: The step that made what was there before; None if there was nothing.
        run: The run, or 0.
        item: The plan item that the run worked on, from 1, or 0.
        call_id: The call, if one did.
        tool: The tool or method, or "".
        entry_id: The call's number in the tool log, or 0.
        called_seq: The event with which the call began, or 0.
        again: The step whose work it does again, on another version of the file.
    """

    seq: Seq
    ts_us: int
    kind: StepKind
    name: FileName
    after: BlobHash | None
    size_bytes: int = 0
    older: "LineageStep | None" = None
    run: int = 0
    item: int = 0
    call_id: CallId | None = None
    tool: str = ""
    entry_id: int = 0
    called_seq: Seq = Seq(0)
    again: "LineageStep | None" = None

    @property
    def original(self) -> "LineageStep":
        """The step itself, or the one whose work it did again."""
        return self if self.again is None else self.again.original

    @property
    def before(self) -> BlobHash | None:
        """The bytes that were there before, or None."""
        return self.older.after if self.older is not None else None


class FileLineage(msgspec.Struct, frozen=True):
    """Heads of one file's lineage.

    Args:
        published: What made the published version; None if there is none.
        drafted: What made the draft's version, or deleted it there; None if the draft leaves the
            file as it is.
        base: What made the version that the draft's began from; None if there was none.
    """

    published: LineageStep | None = None
    drafted: LineageStep | None = None
    base: LineageStep | None = None

    @property
    def current(self) -> LineageStep | None:
        """What made the current version; the draft's if it has one."""
        return self.drafted or self.published


def walk_steps(head: LineageStep | None) -> Iterator[LineageStep]:
    """Yield the steps of a lineage, newest first."""
    while head is not None:
        yield head
        head = head.older


class _Moment(NamedTuple):
    """Heads of a file from an event on."""

    seq: Seq
    heads: FileLineage


class _Called(NamedTuple):
    """What a call that has begun calls."""

    tool: str
    entry_id: int
    seq: Seq = Seq(0)
    repeats: int = 0


_NOTHING = FileLineage()

_NO_CALL = _Called("", 0, Seq(0))


class LineageFold:
    """Fold of a workbench's log, from its first event on, into the lineages of its files.

    Attributes:
        seq: The last event that it has.
        size: How much it holds: steps, and moments of files.
    """

    def __init__(self) -> None:
        self.seq, self.size = Seq(0), 0
        self._now: dict[FileName, FileLineage] = {}
        # What rewinds and restores go back to: every head that a file ever had, by event.
        self._past: dict[FileName, list[_Moment]] = {}
        self._items: dict[int, int] = {}
        self._attempts: dict[int, dict[FileName, LineageStep | None]] = {}
        self._calls: dict[tuple[int, CallId], _Called] = {}
        self._publish: PublishIntended | None = None
        # While a rebase is told: the steps of the draft that it applies again.
        self._applied: dict[FileName, LineageStep | None] = {}
        # Files that got another name because somebody had changed theirs: their own names.
        self._put_beside: dict[FileName, FileName] = {}
        self._checkpoints: dict[str, tuple[Seq, bool]] = {}
        # When the workbench was forked, while the files that it took over follow.
        self._forking_us = 0

    def add(self, seq: Seq, record: Recorded) -> None:
        """Add the next event; one of an unknown type changes nothing."""
        self.seq = seq
        kind = type(record.data)
        # The files that follow a fork's first event are those of the other workbench.
        if kind is WorkbenchForked:
            self._forking_us = record.ts_us
        elif kind is not FileAdded:
            self._forking_us = 0
        if kind is DraftRebased:
            self._applied = {}
        fold = _FOLDS.get(kind)
        if fold is not None:
            fold(self, record)

    def file(self, name: FileName, at: Seq | None = None) -> FileLineage:
        """Return the heads of a file; nothing but None for one that there is not.

        Args:
            name: The file.
            at: After which event; None is the last one.
        """
        return self._now.get(name, _NOTHING) if at is None else self._at(name, at)

    def file_added(self, record: Recorded) -> None:
        """Begin a lineage."""
        data: FileAdded = record.data
        # A fork's events have one time; a file that a person adds later has another.
        is_forked = self._forking_us == record.ts_us
        step = self._step(
            record, data.name, data.blob, data.size_bytes, kind="forked" if is_forked else "added"
        )
        self._set(data.name, msgspec.structs.replace(self.file(data.name), published=step))

    def file_removed(self, record: Recorded) -> None:
        """End a lineage."""
        self._set(record.data.name, _NOTHING)

    def tool_called(self, record: Recorded) -> None:
        """Remember what a call calls, for the changes that it makes."""
        data: ToolCalled = record.data
        self._calls[record.run, data.call_id] = _Called(
            data.tool, data.entry_id, self.seq, data.repeats
        )

    def tool_returned(self, record: Recorded) -> None:
        """Forget a call; what it wrote stands before its end."""
        self._calls.pop((record.run, record.data.call_id), None)

    def item_started(self, record: Recorded) -> None:
        """Begin an attempt: what it writes may be rolled back."""
        self._items[record.run] = record.data.item
        self._attempts.pop(record.run, None)

    def attempt_failed(self, record: Recorded) -> None:
        """End a rolled back attempt; of a file that is as it was no event tells."""
        for name, head in self._attempts.get(record.run, {}).items():
            heads = self.file(name)
            now = heads.current
            if head is not None and now is not None and now.after == head.after:
                self._set_drafted(name, head)
        self.item_ended(record)

    def item_ended(self, record: Recorded) -> None:
        """End an attempt."""
        self._items.pop(record.run, None)
        self._attempts.pop(record.run, None)

    def phase_turned(self, record: Recorded) -> None:
        """Work on no item."""
        self._items.pop(record.run, None)

    def run_finished(self, record: Recorded) -> None:
        """Forget what only a run that goes on needs."""
        self.item_ended(record)
        for key in [key for key in self._calls if key[0] == record.run]:
            del self._calls[key]

    def file_changed(self, record: Recorded) -> None:
        """Put a step in front of the draft's head, or go back to that before an attempt."""
        data: FileChanged = record.data
        heads = self.file(data.name)
        if data.cause == "rollback":
            head = self._head_before_attempt(record, heads.current)
        else:
            head = self._changed(record, heads.current)
            if record.run and data.cause == "edit":
                attempt = self._attempts.setdefault(record.run, {})
                attempt.setdefault(data.name, heads.current)
        self._set_drafted(data.name, head)

    def _set_drafted(self, name: FileName, head: LineageStep | None) -> None:
        heads = self.file(name)
        base = heads.base if heads.drafted is not None else heads.published
        # As the draft itself: a file that is as it was before is no part of it.
        if head is None or head.after == (base.after if base is not None else None):
            self._set(name, FileLineage(heads.published))
        else:
            self._set(name, FileLineage(heads.published, head, base))

    def _changed(self, record: Recorded, current: LineageStep | None) -> LineageStep:
        data: FileChanged = record.data
        if current is not None and current.after == data.after:
            return current
        key = (record.run, data.call_id) if data.call_id is not None else None
        called = self._calls.get(key) if key is not None else None
        again = self._applied_step(data.name, called.repeats) if called is not None else None
        kind: StepKind = "tool_call" if record.run else "client_call"
        return self._step(
            record,
            data.name,
            data.after,
            data.size_bytes,
            kind="removed" if data.cause == "removal" else kind,
            older=current,
            item=self._items.get(record.run, 0) if record.run else 0,
            call_id=data.call_id,
            called=called or _NO_CALL,
            again=again,
        )

    def _head_before_attempt(
        self, record: Recorded, current: LineageStep | None
    ) -> LineageStep | None:
        data: FileChanged = record.data
        attempt = self._attempts.get(record.run, {})
        if data.name in attempt:
            head = attempt[data.name]
            if (head.after if head is not None else None) == data.after:
                return head
        # Not the nearest of equal bytes, if that can be helped: the attempt may have made them.
        return self._find(record, data.name, data.after, *walk_steps(current))

    def file_adopted(self, record: Recorded) -> None:
        """Put what somebody did beside kbd in front of the published head; the draft begins anew.

        What the draft was is remembered for the changes that are applied again.
        """
        data: FileAdopted = record.data
        heads = self.file(data.name)
        self._applied[data.name] = heads.drafted
        published = heads.published
        if data.blob is None:
            self._set(data.name, _NOTHING)
        elif published is None or published.after != data.blob:
            step = self._step(
                record, data.name, data.blob, data.size_bytes, kind="adopted", older=published
            )
            self._set(data.name, FileLineage(step))
        else:
            self._set(data.name, FileLineage(published))

    def _applied_step(self, name: FileName, repeats: int) -> LineageStep | None:
        """Return the step of the draft before whose call was made again."""
        found = walk_steps(self._applied.get(name)) if repeats else ()
        return next((step for step in found if step.called_seq == repeats), None)

    def draft_discarded(self, record: Recorded) -> None:
        """Leave what is published."""
        del record
        for name, heads in tuple(self._now.items()):
            if heads.drafted is not None:
                self._set(name, FileLineage(heads.published))

    def draft_recovered(self, record: Recorded) -> None:
        """Go back to the draft's heads of before it ended; what is published stays."""
        data: DraftRecovered = record.data
        before = Seq(data.ended_seq - 1)
        for change in data.draft.files:
            then, now = self._at(change.name, before), self.file(change.name)
            head = self._find(
                record, change.name, change.blob, then.drafted, size=change.size_bytes
            )
            base = None
            if change.base is not None:
                base = self._find(
                    record, change.name, change.base, then.base, now.published,
                    size=change.base_size_bytes,
                )  # fmt: skip
            self._set(change.name, FileLineage(now.published, head, base))

    def publish_turned(self, record: Recorded) -> None:
        """Remember what will be published, or that it will not."""
        self._publish = record.data if isinstance(record.data, PublishIntended) else None

    def publish_completed(self, record: Recorded) -> None:
        """Publish the draft's heads, or those of a checkpoint; a rewind tells its own."""
        data: PublishCompleted = record.data
        intended, self._publish = self._publish, None
        beside = dict(data.conflicted)
        self._put_beside = {given: name for name, given in data.conflicted}
        if intended is None or intended.rewind is not None:
            return
        # A file kept beside a changed one is planned under its new name, but drafted under its own.
        drafted_as = {given: name for name, given in intended.kept_both}
        for planned in intended.files:
            own = drafted_as.get(planned.name, planned.name)
            name = beside.get(planned.name, planned.name)
            head: LineageStep | None = None
            if planned.new is not None and intended.restores:
                head = self._restored(record, intended.restores, planned.name, name, planned.new)
            elif planned.new is not None:
                drafted = self.file(own).drafted
                head = self._find(record, own, planned.new, drafted, size=planned.size_bytes)
            if head is not None or planned.name not in beside:
                self._set(name, msgspec.structs.replace(self.file(name), published=head))
            self._set(own, FileLineage(self.file(own).published))

    def _restored(
        self, record: Recorded, checkpoint_id: str, planned: FileName, name: FileName, new: BlobHash
    ) -> LineageStep:
        seq, is_forked = self._checkpoints.get(checkpoint_id, (Seq(0), False))
        then = self._at(planned, seq).published
        kind: StepKind = "forked" if is_forked else "unknown"
        return self._find(record, planned, new, then, self.file(name).published, kind=kind)

    def checkpoint_created(self, record: Recorded) -> None:
        """Remember when it was."""
        data: CheckpointCreated = record.data
        self._checkpoints[data.checkpoint_id] = (self.seq, data.made_at_us != 0)

    def checkpoint_restored(self, record: Recorded) -> None:
        """Go back to a checkpoint's heads where the bytes were the same, so that none were put."""
        data: CheckpointRestored = record.data
        seq, _ = self._checkpoints.get(data.checkpoint_id, (Seq(0), False))
        for name, heads in tuple(self._now.items()):
            then, now = self._at(name, seq).published, heads.published
            if then is not None and now is not None and then.after == now.after:
                self._set(name, msgspec.structs.replace(heads, published=then))

    def rewound(self, record: Recorded) -> None:
        """Go back to the heads of another moment, for the files that the event names."""
        data: ConversationRewound = record.data
        files = {file.name: file for file in data.files}
        drafted = {file.name: file for file in data.draft.files} if data.draft else {}
        beside, self._put_beside = self._put_beside, {}
        for name in {*self._now, *files, *drafted}:
            then, now = self._at(name, Seq(data.to_seq)), self.file(name)
            moved = self._at(beside.get(name, name), Seq(data.to_seq))
            published = head = base = None
            if (file := files.get(name)) is not None:
                near = (then.published, now.published, moved.published)
                published = self._find(record, name, file.blob, *near, size=file.size_bytes)
            if (change := drafted.get(name)) is not None:
                head = self._find(
                    record, name, change.blob, then.drafted, now.drafted, size=change.size_bytes
                )
                if change.base is not None:
                    base = self._find(
                        record, name, change.base, then.base, published, now.base,
                        size=change.base_size_bytes,
                    )  # fmt: skip
            self._set(name, FileLineage(published, head, base))

    def _find(
        self,
        record: Recorded,
        name: FileName,
        blob: BlobHash | None,
        *near: LineageStep | None,
        kind: StepKind = "unknown",
        size: int = 0,
    ) -> LineageStep:
        """Return what made these bytes: the first of those near, else the newest the file had."""
        for step in near:
            if step is not None and step.after == blob:
                return step
        for moment in reversed(self._past.get(name, [])):
            heads = moment.heads
            for step in (heads.drafted, heads.published, heads.base):
                if step is not None and step.after == blob:
                    return step
        return self._step(record, name, blob, size, kind=kind)

    def _step(
        self,
        record: Recorded,
        name: FileName,
        after: BlobHash | None,
        size_bytes: int,
        *,
        kind: StepKind,
        older: LineageStep | None = None,
        item: int = 0,
        call_id: CallId | None = None,
        called: _Called = _NO_CALL,
        again: LineageStep | None = None,
    ) -> LineageStep:
        self.size += 1
        return LineageStep(
            seq=self.seq, ts_us=record.ts_us, kind=kind, name=name, after=after,
            size_bytes=size_bytes, older=older, run=record.run, item=item, call_id=call_id,
            tool=called.tool, entry_id=called.entry_id, called_seq=called.seq, again=again,
        )  # fmt: skip

    def _at(self, name: FileName, seq: Seq) -> FileLineage:
        """Return the heads that a file had after an event."""
        past = self._past.get(name, [])
        place = bisect_right(past, seq, key=lambda moment: moment.seq)
        return past[place - 1].heads if place else _NOTHING

    def _set(self, name: FileName, heads: FileLineage) -> None:
        if heads.current is None:
            self._now.pop(name, None)
        else:
            self._now[name] = heads
        past = self._past.setdefault(name, [])
        if past and past[-1].heads == heads:
            return
        if past and past[-1].seq == self.seq:
            past[-1] = _Moment(self.seq, heads)
            return
        past.append(_Moment(self.seq, heads))
        self.size += 1


_FOLDS: Mapping[type, Callable[[LineageFold, Any], None]] = MappingProxyType(
    {
        FileAdded: LineageFold.file_added,
        FileRemoved: LineageFold.file_removed,
        ToolCalled: LineageFold.tool_called,
        ToolReturned: LineageFold.tool_returned,
        ItemStarted: LineageFold.item_started,
        ItemCompleted: LineageFold.item_ended,
        ItemRetried: LineageFold.attempt_failed,
        ItemFailed: LineageFold.attempt_failed,
        PhaseStarted: LineageFold.phase_turned,
        PhaseCompleted: LineageFold.phase_turned,
        RunFinished: LineageFold.run_finished,
        FileChanged: LineageFold.file_changed,
        DraftDiscarded: LineageFold.draft_discarded,
        DraftRecovered: LineageFold.draft_recovered,
        FileAdopted: LineageFold.file_adopted,
        PublishIntended: LineageFold.publish_turned,
        PublishAborted: LineageFold.publish_turned,
        PublishCompleted: LineageFold.publish_completed,
        CheckpointCreated: LineageFold.checkpoint_created,
        CheckpointRestored: LineageFold.checkpoint_restored,
        ConversationRewound: LineageFold.rewound,
    }
)
"""What each event does to lineages; all others do nothing."""
