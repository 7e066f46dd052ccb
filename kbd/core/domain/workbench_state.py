"""State of one workbench, with the few queries that everybody asks of it.

Among its parts are the draft and the checkpoints; those about runs are in `run_state`.
"""

import unicodedata
from collections.abc import Collection, Iterator, Sequence
from typing import Literal, overload

import msgspec

from kbd.core.domain.long_lists import PagedDict, PagedList
from kbd.core.domain.run_state import Run, RunStatus
from kbd.events.approvals import ApprovalRequested
from kbd.events.approvals import Decision as ApprovalDecision
from kbd.events.base import Actor, FileVersion
from kbd.events.drafts import EffectIntended, PublishIntended
from kbd.types import BlobHash, FileName, FocusHint, ForkMode, ReadAs, RunId, Seq, WorkbenchId

__all__ = [
    "FROM_BACKUP",
    "Approval",
    "Branch",
    "Checkpoint",
    "CollectionNote",
    "Consent",
    "ContextItem",
    "DecidedApproval",
    "Delivered",
    "Draft",
    "DraftFile",
    "EndedDraft",
    "FileEntry",
    "Measured",
    "Parent",
    "PublishNote",
    "Said",
    "SeenBy",
    "SeenFile",
    "WorkbenchState",
    "folded_name",
]


FROM_BACKUP = "came with a backup: what it runs or fetches is not known here"
"""Warning of each drafted file that a restored home has: that nothing was found in it, only the log
of the backup says. It goes with the next edit, for then the file is looked into."""


class DraftFile(msgspec.Struct):
    """A file that differs in the draft.

    Args:
        base: The published bytes that the draft started from, or None for a new file.
        blob: The draft's bytes, or None for a deletion.
        size_bytes: The size of `blob`.
        base_size_bytes: The size of `base`.
        run: The run that changed it last, or 0.
        items: The plan items that changed it, in order.
        warnings: What the review should show, and a publish asks about.
        notes: What the review shows beside it.
        focus: Where the review should look first.
        runs: The runs whose edits made it what it is, in order.
        is_accepted: Whether a person accepted its new active content.
    """

    base: BlobHash | None
    blob: BlobHash | None
    size_bytes: int = 0
    base_size_bytes: int = 0
    run: int = 0
    items: list[int] = []
    warnings: list[str] = []
    notes: list[str] = []
    focus: FocusHint | None = None
    runs: list[int] = []
    is_accepted: bool = False


class Draft(msgspec.Struct):
    """Draft: the changes that are not published yet; never empty.

    Args:
        draft_id: Its name.
        created_at_us: When the first write opened it.
        run: The run whose write opened it, or 0 for a person.
        files: What differs, by name.
        confirmed: Names whose deletion a person confirmed.
    """

    draft_id: str
    created_at_us: int
    run: int = 0
    files: dict[FileName, DraftFile] = {}
    confirmed: list[FileName] = []

    def authors(self) -> set[int]:
        """Return the runs whose edits are in it."""
        return {number for file in self.files.values() for number in file.runs}

    def distrust(self) -> None:
        """Take back what people agreed to, and what was found out of the files' content."""
        self.confirmed.clear()
        for drafted in self.files.values():
            drafted.is_accepted = False
            if drafted.blob is not None and FROM_BACKUP not in drafted.warnings:
                drafted.warnings.append(FROM_BACKUP)


class EndedDraft(msgspec.Struct, frozen=True):
    """A draft that ended without being published. What it held stands in the log before its end.

    Args:
        draft_id: Its name.
        seq: The event that ended it.
        ended_at_us: When.
        reason: What ended it.
    """

    draft_id: str
    seq: Seq
    ended_at_us: int
    reason: Literal["discard", "undo", "regenerate"]


class Checkpoint(msgspec.Struct, frozen=True):
    """Checkpoint: the files of published/ at a moment."""

    checkpoint_id: str
    created_at_us: int
    reason: str
    description: str
    files: tuple[FileVersion, ...]


def folded_name(name: str) -> str:
    """Return what two names share when they would collide on a user's machine (case, NFC)."""
    return unicodedata.normalize("NFC", name).casefold()


class FileEntry(msgspec.Struct, frozen=True):
    """A published file.

    Args:
        blob: Its bytes.
        size_bytes: Their size.
        added_at_us: When it came into the workbench.
        modified_at_us: When its bytes last changed.
        origin: The bytes that a person added; None for what a run made. Consent is about these.
    """

    blob: BlobHash
    size_bytes: int
    added_at_us: int
    modified_at_us: int
    origin: BlobHash | None = None


class PublishNote(msgspec.Struct, frozen=True):
    """A publish that is carried out.

    Args:
        intended_seq: The event of its plan.
        completed_seq: The event of its end.
        receipt: The document that proves what it changed, if it is made.
        receipt_bytes: The size of that.
    """

    intended_seq: Seq
    completed_seq: Seq
    receipt: BlobHash | None = None
    receipt_bytes: int = 0


class SeenFile(msgspec.Struct, frozen=True):
    """Current file of a workbench: the draft's version if there is one.

    `warnings` is what the review shows of it: what it reaches out to and nobody has accepted yet.
    `notes` is what else the review shows, `focus` where it should look first.
    """

    name: FileName
    blob: BlobHash
    size_bytes: int
    modified_at_us: int
    in_draft: bool
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    focus: FocusHint | None = None


class Said(msgspec.Struct, frozen=True):
    """A message of the conversation with the person.

    Args:
        message_id: Its name.
        role: "user" or "assistant".
        text: What was said.
        created_at_us: When.
        run: The run that said it, or 0.
        after: The message before it, or "": what was ever said is a tree, of which the conversation
            is one branch.
        seq: The event after which all stood as it left it: its own, of an answer its run's end.
        model_id: The model that alone reads it, of a document; "" for any.
        document: The SHA-256 of the job or recipe that it is; "" for words.
        before: The place in `heard` of the message before it; -1 if there is none.
        depth: How many messages the conversation had with it.
    """

    message_id: str
    role: str
    text: str
    created_at_us: int
    run: int = 0
    after: str = ""
    seq: Seq = Seq(0)
    model_id: str = ""
    document: str = ""
    before: int = -1
    depth: int = 1


class Branch(Sequence[Said]):
    """Conversation as it stands: one branch of the tree of all that was ever said.

    It is walked from its end, message by message, so that the newest of many cost nothing.

    Args:
        heard: All that was ever said.
        last: The place there of the newest message of the branch; -1 if it has none.
    """

    __slots__ = ("_heard", "_last")

    def __init__(self, heard: "PagedDict[str, Said]", last: int) -> None:
        self._heard, self._last = heard, last

    def __len__(self) -> int:
        return self.last.depth if self.last is not None else 0

    def __reversed__(self) -> Iterator[Said]:
        place = self._last
        while place >= 0:
            message = self._heard.at(place)
            yield message
            place = message.before

    def __iter__(self) -> Iterator[Said]:
        return reversed(list(reversed(self)))

    @overload
    def __getitem__(self, index: int) -> Said: ...
    @overload
    def __getitem__(self, index: slice) -> list[Said]: ...
    def __getitem__(self, index: int | slice) -> Said | list[Said]:
        if isinstance(index, slice):
            return list(self)[index]
        depth = index + 1 if index >= 0 else len(self) + index + 1
        for message in reversed(self):
            if message.depth == depth:
                return message
        raise IndexError(index)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]  # what it is of changes

    @property
    def last(self) -> Said | None:
        """The newest message; None if nothing was said."""
        return self._heard.at(self._last) if self._last >= 0 else None


class ContextItem(msgspec.Struct, frozen=True):
    """Context item: a text that every run is given.

    Args:
        text: What it says.
        source_name: The name of the file that it was read from, or "".
        set_at_us: When it was set.
        revision: How often, since it was last taken out.
    """

    text: str
    source_name: str
    set_at_us: int
    revision: int = 1


class Parent(msgspec.Struct, frozen=True):
    """Parent of a forked workbench, and how much was taken over; the fields are the event's."""

    workbench_id: WorkbenchId
    mode: ForkMode
    source_seq: Seq
    from_message_id: str
    forked_at_us: int


SeenBy = Literal["", "rule", "person"]
"""Who looked at the newest result of a workbench."""


class Measured(msgspec.Struct):
    """Measured ratio of a model: the tokens that its provider counted, for so many bytes."""

    size_bytes: int = 0
    tokens: int = 0


class Approval(msgspec.Struct, frozen=True):
    """Approval that was requested of a person and is not decided.

    Args:
        request: What is asked.
        seq: The event that asked it.
        asked_at_us: When.
        run: The run that asked for it, or 0.
        actor: The client that asked for it, if one did.
    """

    request: ApprovalRequested
    seq: Seq
    asked_at_us: int
    run: int = 0
    actor: Actor | None = None


class DecidedApproval(msgspec.Struct, frozen=True):
    """Decision of an approval, for whoever decides it again."""

    decision: ApprovalDecision
    decided_at_us: int
    actor: Actor | None = None


class CollectionNote(msgspec.Struct, frozen=True):
    """Collection that took a blob away: when, and why."""

    at_us: int
    reason: str


class Consent(msgspec.Struct, frozen=True):
    """Consent that a person gave; one that is not to persist is for the run after `run_count`."""

    provider_id: str
    model_id: str
    scope_hash: str
    persist: bool
    run_count: int
    endpoint: str = ""


class Delivered(msgspec.Struct, frozen=True):
    """A copy that was delivered for a watch, under `final_name` in the directory intended."""

    intended: EffectIntended
    final_name: str


class WorkbenchState(msgspec.Struct):
    """Everything that is true of one workbench after the event `seq`.

    `removed` is what was taken out of published/ and not put there again: a crash may have come
    between the event and the removal on disk. `heard` is all that was ever said, by id, cut off or
    not, and `said_last` the place there of the newest message of the conversation as it stands.
    `undone` and `discarded` are the numbers of the runs that are marked so. `ended_drafts` are
    those that can be recovered, oldest first. `publishes` are those that were carried out, by
    the checkpoint that each left. `readings` is what was said of how a file's tables are to be
    read; that of a file that went is kept, for it may come back. `approvals` are those that
    nobody decided, `decided` the newest of the others. `current` is the run on the newest
    message that can be resumed; 0 once its plan is set aside. `restore_id` names the newest
    restore that it came with, and `restored_seq` the event that says so: what people had
    confirmed before that is not in force. `seen_by` is who looked at the newest result: a person
    who published, discarded or undid it, or the rule that published it by itself; "" for nobody.
    `publish_is_asked` is whether a person asked for `publish`, and `has_new_files` whether files
    were added since a run last began or a publish ended.
    confirmed before that is not in force. `collected` are the blobs whose bytes were removed on
    purpose and that no event has named since.
    """

    workbench_id: WorkbenchId = WorkbenchId("")
    name: str = ""
    created_at_us: int = 0
    updated_at_us: int = 0
    seq: Seq = Seq(0)
    model_id: str | None = None
    files: dict[FileName, FileEntry] = {}
    removed: dict[FileName, BlobHash] = {}
    draft: Draft | None = None
    ended_drafts: list[EndedDraft] = []
    heard: PagedDict[str, Said] = msgspec.field(default_factory=PagedDict)
    said_last: int = -1
    runs: PagedList[Run] = msgspec.field(default_factory=PagedList)
    undone: set[int] = set()
    discarded: set[int] = set()
    current: int = 0
    context: dict[str, ContextItem] = {}
    readings: dict[FileName, ReadAs] = {}
    parent: Parent | None = None
    measured: dict[str, Measured] = {}
    consents: list[Consent] = []
    checkpoints: PagedList[Checkpoint] = msgspec.field(default_factory=PagedList)
    publish: PublishIntended | None = None
    publish_seq: Seq = Seq(0)
    publishes: PagedDict[str, PublishNote] = msgspec.field(default_factory=PagedDict)
    effects: dict[str, EffectIntended] = {}
    delivered: list[Delivered] = []
    approvals: dict[str, Approval] = {}
    decided: dict[str, DecidedApproval] = {}
    entries: PagedDict[int, Seq] = msgspec.field(default_factory=PagedDict)
    next_entry: int = 1
    restore_id: str = ""
    restored_seq: Seq = Seq(0)
    seen_by: SeenBy = ""
    publish_is_asked: bool = False
    has_new_files: bool = False
    collected: dict[BlobHash, CollectionNote] = {}

    @property
    def said(self) -> Branch:
        """The conversation as it stands."""
        return Branch(self.heard, self.said_last)

    def run(self, number: int) -> Run:
        """Return a run by its number, to be read; raises IndexError if there is none."""
        # Without this, run 0 would be the last of the list.
        if number < 1:
            raise IndexError(number)
        return self.runs[number - 1]

    def changed_run(self, number: int) -> Run:
        """Return a run by its number for a fold that changes it."""
        if number < 1:
            raise IndexError(number)
        return self.runs.editable(number - 1)

    def mark_discarded(self, numbers: Collection[int], *, discarded: bool) -> None:
        """Mark runs whose changes were thrown away with a draft, or came back with it."""
        for number in numbers:
            self.changed_run(number).discarded = discarded
        if discarded:
            self.discarded.update(numbers)
        else:
            self.discarded.difference_update(numbers)

    def run_id(self, number: int) -> RunId:
        """Return the id of a run."""
        return RunId(f"{self.workbench_id}-{number}")

    def active_run(self) -> Run | None:
        """Return the run that is under way."""
        # No run starts while another is active, so only the newest one can be under way.
        if self.runs and self.runs[-1].status is RunStatus.RUNNING:
            return self.runs[-1]
        return None

    def last_request(self) -> Said | None:
        """Return the newest message of the person."""
        for message in reversed(self.said):
            if message.role == "user":
                return message
        return None

    def request_of(self, run: Run) -> Said | None:
        """Return the message that a run answers; it is not searched for."""
        return self.heard.at(run.asked_at) if run.asked_at >= 0 else None

    def document_of(self, run: int) -> str:
        """Return the hash of the job or recipe that a run carries out, "" for none.

        A run that is about to begin is on the newest message.
        """
        is_known = 0 < run <= len(self.runs)
        asked = self.request_of(self.run(run)) if is_known else self.last_request()
        return asked.document if asked is not None else ""

    def current_file(self, name: FileName) -> SeenFile | None:
        """Return a current file: the draft's version if there is one."""
        drafted = self.draft.files.get(name) if self.draft else None
        if drafted is not None:
            if drafted.blob is None or self.draft is None:
                return None
            changed_at = max(self.updated_at_us, self.draft.created_at_us)
            warnings, notes = tuple(drafted.warnings), tuple(drafted.notes)
            return SeenFile(
                name,
                drafted.blob,
                drafted.size_bytes,
                changed_at,
                in_draft=True,
                warnings=warnings,
                notes=notes,
                focus=drafted.focus,
            )
        return self.published(name)

    def published(self, name: FileName) -> SeenFile | None:
        """Return a file as it is published."""
        entry = self.files.get(name)
        if entry is None:
            return None
        return SeenFile(name, entry.blob, entry.size_bytes, entry.modified_at_us, in_draft=False)

    def current_files(self) -> Iterator[SeenFile]:
        """Yield all current files, sorted by name."""
        names = set(self.files)
        if self.draft:
            names.update(self.draft.files)
        for name in sorted(names):
            seen = self.current_file(name)
            if seen is not None:
                yield seen
