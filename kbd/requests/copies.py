"""Requests that write copies to keep: a run as a case file, all of kbd as a backup."""

from typing import Annotated, Any, ClassVar

import msgspec

from kbd.requests.base import Answer, Request, RunParam
from kbd.types import RunId, Seq, WorkbenchId

__all__ = [
    "ArchiveCopied",
    "BackupCreate",
    "BackupCreated",
    "CopyRequest",
    "LogCopied",
    "RunExport",
    "RunExported",
]

_TargetText = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
"""An absolute path."""


class _CopyRequest(Request):
    """The root of this file's requests."""

    subject: ClassVar[str] = "archive"


class RunExported(Answer):
    """A case file was written.

    Args:
        run_id: The run.
        target: Where.
        size_bytes: Its size.
        seq: The last event in it.
        head: The chain value there (64 hex digits): keep it elsewhere as evidence.
        blobs: How many file versions are in it.
    """

    run_id: RunId
    target: str
    size_bytes: int
    seq: Seq
    head: str
    blobs: int


class RunExport(_CopyRequest):
    """Write a run with all that it rests on to one zip, which can verify itself.

    Args:
        run_id: The run.
        target: The file to write, as an absolute path; nothing of that name may exist.
    """

    answer: ClassVar[type[Any]] = RunExported

    run_id: RunParam
    target: _TargetText


class LogCopied(msgspec.Struct, frozen=True, kw_only=True):
    """A log in a backup: up to which event, and the chain value there (64 hex digits).

    `workbench_id` is "daemon" for the daemon's own.
    """

    workbench_id: str
    name: str
    seq: Seq
    head: str
    blobs: int


class ArchiveCopied(msgspec.Struct, frozen=True, kw_only=True):
    """An archived workbench in a backup: the last event of its log, its file's size and SHA-256."""

    workbench_id: WorkbenchId
    name: str
    seq: Seq
    size_bytes: int
    sha256: str


class BackupCreated(Answer):
    """A backup was written and verified.

    Args:
        target: Where.
        size_bytes: Its size.
        logs: What is in it.
        left_out: What is not, and why, one line each.
        archives: The archived workbenches that are in it.
        damaged: How many logs and archives in it are damaged or missing, as they are in the home.
    """

    target: str
    size_bytes: int
    logs: tuple[LogCopied, ...]
    left_out: tuple[str, ...] = ()
    archives: tuple[ArchiveCopied, ...] = ()
    damaged: int = 0


class BackupCreate(_CopyRequest):
    """Copy all logs, file versions and archives to a new folder, while work goes on.

    Args:
        target: The folder, as an absolute path; it must not exist, or be empty.
    """

    answer: ClassVar[type[Any]] = BackupCreated

    target: _TargetText


CopyRequest = RunExport | BackupCreate
"""The requests of this subject."""
