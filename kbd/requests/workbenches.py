"""Requests about workbenches and the files in them."""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from kbd.requests.base import UNSET, Answer, Request, Unset, WorkbenchParam
from kbd.requests.providers import DefaultModel, ModelParam
from kbd.types import FileName, Seq, WorkbenchId

__all__ = [
    "AddResult",
    "ExtractResult",
    "FileRow",
    "FilesAdded",
    "FilesExtracted",
    "FilesFound",
    "FilesRemoved",
    "Scope",
    "ScopeLimits",
    "SupportedTypes",
    "WorkbenchCreate",
    "WorkbenchCreated",
    "WorkbenchDelete",
    "WorkbenchDeleted",
    "WorkbenchFilesAdd",
    "WorkbenchFilesExtract",
    "WorkbenchFilesList",
    "WorkbenchFilesRemove",
    "WorkbenchGetDefaultModel",
    "WorkbenchGetScope",
    "WorkbenchInfo",
    "WorkbenchList",
    "WorkbenchOpen",
    "WorkbenchOpened",
    "WorkbenchRow",
    "WorkbenchSetDefaultModel",
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
        disk_bytes: What its folder takes.
        reason: Why it can only be read, or not be opened at all; then the rest is as it was made.
    """

    id: WorkbenchId
    name: str
    created_at: str
    updated_at: str
    has_draft: bool
    files: int
    last_seq: Seq
    disk_bytes: int
    reason: str | Unset = UNSET


class WorkbenchInfo(WorkbenchRow, frozen=True, kw_only=True):
    """One workbench in full.

    Args:
        default_model_id: The model of its runs.
        parent_workbench_id: What it was forked from.
    """

    default_model_id: str
    parent_workbench_id: WorkbenchId | Unset = UNSET


class WorkbenchOpened(Answer):
    """The workbench asked for."""

    workbench: WorkbenchInfo


class WorkbenchOpen(_WorkbenchRequest):
    """Ask for a workbench; its log is recovered if need be."""

    answer: ClassVar[type[Any]] = WorkbenchOpened

    workbench_id: WorkbenchParam


class WorkbenchesFound(Answer):
    """All workbenches.

    Args:
        workbenches: Oldest first.
        daemon_disk_bytes: What the daemon's own log takes on disk.
        landed_disk_bytes: What copies of landed files take that are not done.
    """

    workbenches: tuple[WorkbenchRow, ...]
    daemon_disk_bytes: int
    landed_disk_bytes: int


class WorkbenchList(_WorkbenchRequest):
    """List all workbenches."""

    answer: ClassVar[type[Any]] = WorkbenchesFound


class WorkbenchDeleted(Answer):
    """The workbench and all it held is gone."""

    deleted: bool = True


class WorkbenchDelete(_WorkbenchRequest):
    """Delete a workbench with its log; refused while a draft is open."""

    answer: ClassVar[type[Any]] = WorkbenchDeleted

    workbench_id: WorkbenchParam


class ScopeLimits(msgspec.Struct, frozen=True, kw_only=True):
    """How much a workbench holds."""

    max_files: int
    max_file_bytes: int


class SupportedTypes(msgspec.Struct, frozen=True, kw_only=True):
    """Which files can be edited, and which kinds can be read."""

    editable_extensions: tuple[str, ...]
    readable_kinds: tuple[str, ...]


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
        reason: Why not.
    """

    path: FileName
    size: int
    modified_at: str
    added_at: str
    file_kind: str
    mime_type: str
    is_opaque: bool
    reason: str | Unset = UNSET


class FilesFound(Answer):
    """The files of a workbench."""

    files: tuple[FileRow, ...]


class WorkbenchFilesList(_WorkbenchRequest):
    """List the files of a workbench."""

    answer: ClassVar[type[Any]] = FilesFound

    workbench_id: WorkbenchParam


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
