"""Requests about workbenches and the files in them."""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from kbd.requests.base import (
    UNSET,
    Answer,
    Request,
    SeqParam,
    Unset,
    WatchParam,
    WorkbenchParam,
)
from kbd.requests.pages import CursorParam, LimitParam, QueryParam
from kbd.requests.providers import DefaultModel, ModelParam
from kbd.types import FileName, ForkMode, ReadAs, Seq, WorkbenchId

__all__ = [
    "AddResult",
    "ExtractResult",
    "FileRow",
    "FilesAdded",
    "FilesExtracted",
    "FilesFound",
    "FilesRemoved",
    "ForkedFrom",
    "Scope",
    "ScopeLimits",
    "SupportedTypes",
    "WorkbenchArchive",
    "WorkbenchArchived",
    "WorkbenchCreate",
    "WorkbenchCreated",
    "WorkbenchDelete",
    "WorkbenchDeleted",
    "WorkbenchFilesAdd",
    "WorkbenchFilesExtract",
    "WorkbenchFilesList",
    "WorkbenchFilesRemove",
    "WorkbenchFilesSetReading",
    "WorkbenchFork",
    "WorkbenchForked",
    "WorkbenchGetDefaultModel",
    "WorkbenchGetQuestions",
    "WorkbenchGetScope",
    "WorkbenchInfo",
    "WorkbenchList",
    "WorkbenchOpen",
    "WorkbenchOpened",
    "WorkbenchRequest",
    "WorkbenchRow",
    "WorkbenchSetDefaultModel",
    "WorkbenchStatus",
    "WorkbenchUnarchive",
    "WorkbenchUnarchived",
    "WorkbenchesFound",
]

_PathText = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]


class _WorkbenchRequest(Request):
    """The root of this file's requests."""

    subject: ClassVar[str] = "workbench"


class WorkbenchCreated(Answer):
    """The new workbench."""

    workbench_id: WorkbenchId


class WorkbenchCreate(_WorkbenchRequest):
    """Create an empty workbench."""

    answer: ClassVar[type[Any]] = WorkbenchCreated

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


WorkbenchStatus = Literal["idle", "running", "waiting", "draft", "damaged", "unread", "archived"]
"""How a workbench stands."""


class WorkbenchRow(msgspec.Struct, frozen=True, kw_only=True):
    """One workbench in a list.

    Args:
        id: Its id.
        name: For people.
        created_at: ISO 8601, UTC.
        updated_at: When its last event was recorded.
        has_draft: Whether changes wait for review.
        files: How many files it holds.
        last_seq: Its last event.
        disk_bytes: What its folder takes, or its archive.
        status: The first of these that is true: its log or a file version of it is damaged; it is
            archived; a run is under way; decisions wait for a person; a draft waits for review;
            nothing. Or its log was not read yet, and only id, name and time of creation are known.
        runs: How many runs it had.
        approvals: How many decisions wait for a person.
        reason: What is damaged: its log, and then the rest is as far as that can be read, or a file
            version, which is not handed out. Of one that is not damaged: what a damaged log of the
            daemon leaves open.
        parent_workbench_id: What it was forked from.
        archived_at: When it was archived, if it is; ISO 8601, UTC.
        is_read_only: Whether its log is damaged, so that nothing is recorded in it.
    """

    id: WorkbenchId
    name: str
    created_at: str
    updated_at: str
    has_draft: bool
    files: int
    last_seq: Seq
    disk_bytes: int
    status: WorkbenchStatus = "idle"
    runs: int = 0
    approvals: int = 0
    reason: str | Unset = UNSET
    parent_workbench_id: WorkbenchId | Unset = UNSET
    archived_at: str | Unset = UNSET
    is_read_only: bool = False


class ForkedFrom(msgspec.Struct, frozen=True, kw_only=True):
    """How a workbench was forked.

    Args:
        workbench_id: From which.
        mode: How much of it was taken over.
        seq: Its event up to which it was.
        from_message_id: The message of it that was named.
        forked_at: ISO 8601, UTC.
    """

    workbench_id: WorkbenchId
    mode: ForkMode
    seq: Seq
    forked_at: str
    from_message_id: str | Unset = UNSET


class WorkbenchInfo(WorkbenchRow, frozen=True, kw_only=True):
    """One workbench in full.

    Args:
        default_model_id: The model of its runs.
        forked: How it was forked, if it was.
        verified_at: When its log and its file versions were verified last (ISO 8601, UTC); absent
            if they never were, or if that is not known.
    """

    default_model_id: str
    forked: ForkedFrom | Unset = UNSET
    verified_at: str | Unset = UNSET


class WorkbenchOpened(Answer):
    """The workbench asked for."""

    workbench: WorkbenchInfo


class WorkbenchOpen(_WorkbenchRequest):
    """Ask for a workbench; its log is recovered if need be."""

    answer: ClassVar[type[Any]] = WorkbenchOpened

    workbench_id: WorkbenchParam


class WorkbenchesFound(Answer):
    """Workbenches, and what all take on disk.

    Args:
        workbenches: In the order asked for; oldest first unless it says otherwise. Rows may be
            ready-made JSON.
        daemon_disk_bytes: What the daemon's own log takes on disk.
        landed_disk_bytes: What copies of landed files take that are not done.
        total: How many match the filters, on this page or on others.
        next_cursor: Where the next page begins; absent behind the last row.
        drafts: How many there are with a draft, whatever the filters.
        damaged: How many there are that are damaged, likewise.
        unread: How many there are whose log was not read yet, likewise.
        disk_bytes: What all of them take on disk, likewise.
        archived: How many there are that are packed in archives, likewise.
        archived_disk_bytes: What their archives take.
    """

    workbenches: tuple[WorkbenchRow | msgspec.Raw, ...]
    daemon_disk_bytes: int
    landed_disk_bytes: int
    total: int = 0
    next_cursor: str | Unset = UNSET
    drafts: int = 0
    damaged: int = 0
    unread: int = 0
    disk_bytes: int = 0
    archived: int = 0
    archived_disk_bytes: int = 0


class WorkbenchList(_WorkbenchRequest):
    """List workbenches; no log is opened for it.

    Args:
        named: Only those that this means: with this id; else of this name; else whose id begins so.
        status: Only those that stand so.
        query: Only those that have all of these words in their name or in their files' names; in
            whatever case.
        file: Only those that have a file of this name, published or in the draft.
        watch_id: Only those in which this watch had its runs.
        order: By when they were created or changed, by name, or by what they take on disk.
        descending: The newest, or largest, first.
        limit: How many at most.
        cursor: Where to begin.
    """

    answer: ClassVar[type[Any]] = WorkbenchesFound

    named: _PathText | Unset = UNSET
    status: tuple[WorkbenchStatus, ...] = ()
    query: QueryParam = ""
    file: _PathText | Unset = UNSET
    watch_id: WatchParam | Unset = UNSET
    order: Literal["created", "updated", "name", "size"] = "created"
    descending: bool = False
    limit: LimitParam | Unset = UNSET
    cursor: CursorParam | Unset = UNSET


class WorkbenchDeleted(Answer):
    """The workbench and all it held is gone."""

    deleted: bool = True


class WorkbenchDelete(_WorkbenchRequest):
    """Delete a workbench with its log; refused while a draft is open."""

    answer: ClassVar[type[Any]] = WorkbenchDeleted

    workbench_id: WorkbenchParam


class WorkbenchArchived(Answer):
    """The archive that a workbench is packed in.

    Args:
        size_bytes: Its size.
        sha256: Its hash.
        archived_at: ISO 8601, UTC.
    """

    size_bytes: int
    sha256: str
    archived_at: str


class WorkbenchArchive(_WorkbenchRequest):
    """Pack a workbench into one compressed file; it is unpacked when it is next asked for."""

    answer: ClassVar[type[Any]] = WorkbenchArchived

    workbench_id: WorkbenchParam


class WorkbenchUnarchived(Answer):
    """The workbench has its folder again."""

    unarchived: Literal[True] = True


class WorkbenchUnarchive(_WorkbenchRequest):
    """Unpack a workbench from its archive."""

    answer: ClassVar[type[Any]] = WorkbenchUnarchived

    workbench_id: WorkbenchParam


class WorkbenchForked(Answer):
    """The fork.

    Args:
        workbench_id: It.
        parent_workbench_id: What it was forked from.
        mode: How much was taken over.
        source_seq: Its event up to which it was.
        files: How many files it holds.
        messages: How many messages its conversation has.
    """

    workbench_id: WorkbenchId
    parent_workbench_id: WorkbenchId
    mode: ForkMode
    source_seq: Seq
    files: int
    messages: int


class WorkbenchFork(_WorkbenchRequest):
    """Make a workbench of what another one holds, or held after a message or an event.

    Its bytes are copied, and it has a log of its own. Neither draft nor consent nor runs are taken
    over. Refused while the other one has a draft open or a run under way.

    Args:
        source_workbench_id: The other one.
        mode: All; all but conversation and checkpoints; or the published files alone.
        name: For people.
        from_message_id: The message, cut off or not, after which it stood so.
        from_seq: The event after which it did.
    """

    answer: ClassVar[type[Any]] = WorkbenchForked

    source_workbench_id: WorkbenchParam
    mode: ForkMode
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
    from_message_id: Annotated[str, msgspec.Meta(min_length=1, max_length=128)] | Unset = UNSET
    from_seq: SeqParam | Unset = UNSET


class ScopeLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much a workbench holds."""

    max_files: int
    max_file_bytes: int


class SupportedTypes(msgspec.Struct, frozen=True, kw_only=True):
    """Which files can be edited, and which can be read: by kind, and how their names end.

    Args:
        editable_extensions: How the names end of files that can be edited.
        readable_kinds: The kinds of files that can be read.
        readable_extensions: How their names end, in small letters; the whole name of some.
    """

    editable_extensions: tuple[str, ...]
    readable_kinds: tuple[str, ...]
    readable_extensions: tuple[str, ...] = ()


class Scope(Answer):
    """What a run may touch.

    Args:
        limits: How much the workbench holds.
        supported_types: What can be done with which files.
        sandbox_root: The folder outside of which nothing is read or written.
    """

    limits: ScopeLimits
    supported_types: SupportedTypes
    sandbox_root: str


class WorkbenchGetScope(_WorkbenchRequest):
    """Ask what a run may touch."""

    answer: ClassVar[type[Any]] = Scope

    workbench_id: WorkbenchParam


class FileRow(msgspec.Struct, frozen=True, kw_only=True):
    """One file.

    Args:
        path: Its name in the workbench.
        size: In bytes.
        modified_at: ISO 8601, UTC.
        added_at: ISO 8601, UTC.
        file_kind: What it is ("spreadsheet", "text" …).
        mime_type: The same for programs.
        is_opaque: Whether its content cannot be read.
        reason: Why not, or why it is not read any more: it killed its workers.
        active_content: What it carries that runs, fetches or is embedded, as its map names it;
            empty if there is nothing, absent if nobody asked to look into it, or it cannot be.
        read_as: What was said about how its tables are to be read; absent if nothing was.
    """

    path: FileName
    size: int
    modified_at: str
    added_at: str
    file_kind: str
    mime_type: str
    is_opaque: bool
    reason: str | Unset = UNSET
    active_content: tuple[str, ...] | Unset = UNSET
    read_as: ReadAs | Unset = UNSET


class FilesFound(Answer):
    """The files of a workbench."""

    files: tuple[FileRow, ...]


class WorkbenchFilesList(_WorkbenchRequest):
    """List the files of a workbench.

    Args:
        workbench_id: Which.
        look_into: Whether the files are looked into for their `active_content`; the first time it
            may take seconds.
    """

    answer: ClassVar[type[Any]] = FilesFound

    workbench_id: WorkbenchParam
    look_into: bool = False


class AddResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one file that was to be added."""

    source_path: str
    file_name: str
    status: Literal["added", "skipped"]
    reason: str | Unset = UNSET


class FilesAdded(Answer):
    """What became of each file, in the order asked."""

    add_results: tuple[AddResult, ...]


class WorkbenchFilesAdd(_WorkbenchRequest):
    """Copy files into a workbench; kbd never writes where they came from."""

    answer: ClassVar[type[Any]] = FilesAdded

    workbench_id: WorkbenchParam
    source_paths: tuple[_PathText, ...]


class FilesRemoved(Answer):
    """What was removed, and whether that is a change in the draft.

    Args:
        removed: The files.
        in_draft: Whether the deletions wait for review and publish.
    """

    removed: tuple[FileName, ...]
    in_draft: bool


class WorkbenchFilesRemove(_WorkbenchRequest):
    """Remove files; with a draft open, as deletions in the draft."""

    answer: ClassVar[type[Any]] = FilesRemoved

    workbench_id: WorkbenchParam
    workbench_paths: tuple[_PathText, ...]


class ReadingSet(Answer):
    """What is said of a file's tables now."""

    path: FileName
    read_as: ReadAs


class WorkbenchFilesSetReading(_WorkbenchRequest):
    """Say how the tables of a file are to be read, in place of what was said before.

    Args:
        path: The file.
        read_as: All that is said; empty to have it found out.
    """

    answer: ClassVar[type[Any]] = ReadingSet

    workbench_id: WorkbenchParam
    path: _PathText
    read_as: ReadAs


class AskedQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """A question about a table, which has to be answered before figures can be told from it.

    Args:
        path: The file.
        sheet: Its sheet, where it has several.
        about: The field of `read_as` that answers it.
        columns: The columns that it is about; none where it is about the whole table.
        text: The question.
        options: The answers.
    """

    path: FileName
    sheet: str | Unset = UNSET
    about: str
    columns: tuple[str, ...]
    text: str
    options: tuple["AnswerOption", ...]


class AnswerOption(msgspec.Struct, frozen=True, kw_only=True):
    """An answer: the value for `read_as`, and what the table then says."""

    value: str
    meaning: str


class QuestionsFound(Answer):
    """All open questions."""

    questions: tuple[AskedQuestion, ...]


class WorkbenchGetQuestions(_WorkbenchRequest):
    """Ask what has to be said about the tables before a run can tell figures from them."""

    answer: ClassVar[type[Any]] = QuestionsFound

    workbench_id: WorkbenchParam
    job: Annotated[
        str,
        msgspec.Meta(description="What is to be done: only what its words read is asked about."),
    ] = ""


class ExtractResult(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one file that was to be extracted."""

    workbench_path: str
    status: Literal["extracted", "skipped", "failed"]
    final_path: str | Unset = UNSET
    reason: str | Unset = UNSET


class FilesExtracted(Answer):
    """What became of each file."""

    extract_results: tuple[ExtractResult, ...]


class WorkbenchFilesExtract(_WorkbenchRequest):
    """Copy published files to a folder; a taken name becomes `a(1).txt`, nothing is overwritten."""

    answer: ClassVar[type[Any]] = FilesExtracted

    workbench_id: WorkbenchParam
    destination_dir: _PathText
    workbench_paths: tuple[_PathText, ...] | Unset = UNSET


class WorkbenchGetDefaultModel(_WorkbenchRequest):
    """Ask which model a workbench's runs use."""

    answer: ClassVar[type[Any]] = DefaultModel

    workbench_id: WorkbenchParam


class WorkbenchSetDefaultModel(_WorkbenchRequest):
    """Choose the model that a workbench's runs use."""

    answer: ClassVar[type[Any]] = DefaultModel

    workbench_id: WorkbenchParam
    model_id: ModelParam


WorkbenchRequest = (
    WorkbenchCreate
    | WorkbenchOpen
    | WorkbenchList
    | WorkbenchDelete
    | WorkbenchArchive
    | WorkbenchUnarchive
    | WorkbenchFork
    | WorkbenchGetScope
    | WorkbenchFilesList
    | WorkbenchFilesAdd
    | WorkbenchFilesRemove
    | WorkbenchFilesSetReading
    | WorkbenchGetQuestions
    | WorkbenchFilesExtract
    | WorkbenchGetDefaultModel
    | WorkbenchSetDefaultModel
)
"""The requests of this subject."""
