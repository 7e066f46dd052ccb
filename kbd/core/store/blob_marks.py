"""Marks of the blobs that a log needs: what is in a store and in none of its events may go.

A blob counts as named if its hash stands anywhere in the bytes of the log, whatever the event: so a
type or a field of a newer kbd names what it names. What only drafts had that ended without being
published is found by the events themselves, and where one of them is not known nothing is.

What is in the store is listed before the log is read, and never more is kept in memory than that
list: a log may have millions of events. All blocks, and reads only; nobody may be writing.
"""

import re
import time
from collections.abc import Collection
from pathlib import Path

import msgspec

from kbd.core.domain.fold import fold_workbench
from kbd.core.domain.workbench_state import CollectionNote, WorkbenchState
from kbd.errors import LogCorrupt
from kbd.events import codec
from kbd.events.approvals import ApprovalRequested
from kbd.events.base import Recorded
from kbd.events.codec import Unknown
from kbd.events.drafts import (
    DraftDiscarded,
    DraftRebased,
    DraftRecovered,
    FileChanged,
    PublishIntended,
)
from kbd.events.frame import BODY_AT
from kbd.events.retention import BlobsCollected
from kbd.events.scan import read_log, survey_log
from kbd.events.segment import Block, Segment
from kbd.events.vocabulary import named_blobs
from kbd.events.workbenches import AssistantMessageAdded, ConversationRewound, UserMessageAdded
from kbd.types import BlobHash, Seq

__all__ = ["BlobMarks", "mark_discarded", "mark_named", "read_collected"]

_NAME = re.compile(rb"[0-9a-f]{64}")
_TEXT_NAME = re.compile(r"[0-9a-f]{64}")
_COLLECTED = BlobsCollected.__name__.encode()

_REST_S = 0.001
"""How long the reading rests after each block, which takes about 5 ms: others want to compute."""


class BlobMarks(msgspec.Struct, frozen=True):
    """What a log says of the blobs of a store.

    Args:
        unnamed: Those that none of its events names.
        collected: Those of which it says last that they are collected.
        seq: Its last event.
    """

    unnamed: frozenset[BlobHash]
    collected: frozenset[BlobHash]
    seq: Seq


def mark_named(log_dir: Path, stored: Collection[BlobHash], *, in_use: bool = False) -> BlobMarks:
    """Mark the stored blobs that a log names, and return the others.

    Args:
        log_dir: The log's folder.
        stored: The blobs of the store, listed before this is called.
        in_use: Whether somebody may be writing it, so that its end may look torn.

    Raises:
        LogCorrupt: The log is damaged or its end torn: what cannot be read may name any of them.
        OSError: It cannot be read.
    """
    marking = _Marking(stored)
    found = survey_log(log_dir, visit=marking.visit)
    if found.fault is not None:
        raise found.fault
    if found.tear is not None and not in_use:
        raise LogCorrupt("the log ends in a write that was not finished")
    return BlobMarks(
        unnamed=frozenset(BlobHash(blob.hex()) for blob in marking.stored - marking.named),
        collected=frozenset(BlobHash(blob.hex()) for blob in marking.collected),
        seq=found.seq,
    )


def read_collected(log_dir: Path, until: Seq | None = None) -> dict[BlobHash, CollectionNote]:
    """Return the blobs that a log says are collected; one may have been named, and stored, since.

    Args:
        log_dir: The log's folder; it may be in use, or damaged.
        until: The last event that counts; all that are there if None.

    Raises:
        LogCorrupt: An event of a collection cannot be read.
        OSError: It cannot be read.
    """
    found: dict[BlobHash, CollectionNote] = {}

    def visit(segment: Segment, block: Block) -> None:
        del segment
        # Of most logs no event is decoded.
        for first, _, at, stop in block.spans() if _COLLECTED in block.data else ():
            if until is not None and first > until:
                return
            for record in codec.decode(block.data[at + BODY_AT : stop]):
                if isinstance(record.data, BlobsCollected):
                    note = CollectionNote(record.ts_us, record.data.reason)
                    found.update(dict.fromkeys(record.data.blobs, note))

    survey_log(log_dir, visit=visit)
    return found


class _Marking:
    """One marking in progress: which of the stored blobs were named, and which collected since."""

    def __init__(self, stored: Collection[BlobHash]) -> None:
        # As bytes they take half of what texts do.
        self.stored = {bytes.fromhex(blob) for blob in stored}
        self.named, self.collected = set[bytes](), set[bytes]()

    def visit(self, segment: Segment, block: Block) -> None:
        """Take the frames of a block."""
        del segment
        if _COLLECTED in block.data:
            for _, _, at, stop in block.spans():
                self._take(block.data[at + BODY_AT : stop])
        else:
            self._mark(block.data)
        time.sleep(_REST_S)

    def _take(self, body: bytes) -> None:
        """Take a frame; one that says what is collected says nothing else."""
        facts = [record.data for record in codec.decode(body)] if _COLLECTED in body else []
        if facts and all(isinstance(fact, BlobsCollected) for fact in facts):
            said = {blob for fact in facts for blob in fact.blobs if _TEXT_NAME.fullmatch(blob)}
            self.collected |= {bytes.fromhex(blob) for blob in said} & self.named
        # What stands beside it in a frame may name them anew: then they stay.
        else:
            self._mark(body)

    def _mark(self, data: bytes) -> None:
        for match in _NAME.finditer(data):
            blob = bytes.fromhex(match[0].decode())
            if blob in self.stored:
                self.named.add(blob)
                self.collected.discard(blob)


def mark_discarded(
    log_dir: Path, stored: Collection[BlobHash], undo_seqs: frozenset[Seq], ended_before_us: int
) -> frozenset[BlobHash]:
    """Mark the stored blobs that only drafts had which ended long ago without being published.

    A draft does not count while it is open, nor if anything of it was published, was found in an
    event that is not known here, or is open again after an undo in the conversation as it stands.
    Nor does one that is named by an event of any other kind.

    Args:
        log_dir: The log's folder.
        stored: The blobs of the store.
        undo_seqs: The events to which an undo in the conversation as it stands can go back.
        ended_before_us: When they must have ended at the latest.

    Raises:
        LogCorrupt: The log is damaged.
        OSError: It cannot be read.
    """
    drafts = _DraftBlobs(frozenset(stored), undo_seqs)
    found = read_log(log_dir, drafts.apply)
    if found.fault is not None:
        raise found.fault
    return drafts.abandoned(ended_before_us)


class _DraftBlobs:
    """Fold of a log into which drafts had which blobs, and what became of the drafts.

    Args:
        stored: The blobs that count.
        undo_seqs: The events to which an undo can go back.
    """

    def __init__(self, stored: frozenset[BlobHash], undo_seqs: frozenset[Seq]) -> None:
        self._stored, self._undo_seqs = stored, undo_seqs
        self._state = WorkbenchState()
        self._drafts_of: dict[BlobHash, set[str]] = {}
        self._needed: set[BlobHash] = set()
        # By draft: when it ended last; those of which something was published are left out.
        self._ended_us: dict[str, int] = {}
        self._published: set[str] = set()
        # A draft that was rebased goes on under another name.
        self._first_names: dict[str, str] = {}
        self._is_known = True

    def apply(self, seq: Seq, record: Recorded) -> None:
        """Take an event."""
        before = self._open_draft()
        fold_workbench(self._state, seq, record)
        after = self._open_draft()
        data = record.data
        self._is_known &= not isinstance(data, Unknown)
        if isinstance(data, DraftRebased):
            self._first_names[data.draft_id] = before
            after = before
        self._note_blobs(data, after or before)
        # A publish of the draft; an undo and a restore leave it as it is.
        is_publish = isinstance(data, PublishIntended) and not (data.rewind or data.restores)
        if is_publish:
            self._published.add(before)
        if after and after in self._ended_us:
            del self._ended_us[after]
        if before and before != after and isinstance(data, DraftDiscarded | ConversationRewound):
            self._ended_us[before] = record.ts_us
        if seq in self._undo_seqs and self._state.draft is not None:
            held = self._state.draft.files.values()
            self._needed.update(file.blob for file in held if file.blob is not None)

    def abandoned(self, ended_before_us: int) -> frozenset[BlobHash]:
        """Return the blobs that only drafts had which had ended by then; none where in doubt."""
        if not self._is_known:
            return frozenset()
        gone = {
            draft
            for draft, ended_us in self._ended_us.items()
            if ended_us <= ended_before_us and draft not in self._published
        }
        return frozenset(
            blob
            for blob, drafts in self._drafts_of.items()
            if drafts <= gone and blob not in self._needed
        )

    def _open_draft(self) -> str:
        draft = self._state.draft
        return self._first_names.get(draft.draft_id, draft.draft_id) if draft is not None else ""

    def _note_blobs(self, data: object, draft: str) -> None:
        """Note what an event names: as a version of the draft, or as needed for good."""
        versions: set[BlobHash | None] = set()
        if isinstance(data, FileChanged):
            versions = {data.before, data.after}
        elif isinstance(data, ConversationRewound | DraftRecovered) and data.draft is not None:
            versions = {file.blob for file in data.draft.files}
        elif isinstance(data, ApprovalRequested):
            versions = {file.blob for file in data.files}
        for blob in self._stored.intersection(named_blobs(data)):
            # A draft of an old log may have no name: nothing is known of its end.
            if blob in versions and draft:
                self._drafts_of.setdefault(blob, set()).add(draft)
            else:
                self._needed.add(blob)
        if isinstance(data, UserMessageAdded | AssistantMessageAdded):
            self._needed.update(self._stored.intersection(_TEXT_NAME.findall(data.text)))
