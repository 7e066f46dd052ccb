"""Base of all events: the record that wraps one on disk, and the parts that several use."""

from typing import Any, Self, dataclass_transform

import msgspec

from kbd.messages import Usage
from kbd.types import BlobHash, CallId, FileName, ReadAs

__all__ = [
    "Actor",
    "CallNotes",
    "Fact",
    "FileVersion",
    "ModelShare",
    "NestedCall",
    "PluginUsed",
    "Recorded",
    "RecordedReadAs",
    "ReplyCall",
    "TableRead",
]

MUST_UNDERSTAND = 1
"""Flag of a record: a reader that does not know its type must not go on without it."""


# `omit_defaults`: a field that is added takes no space in records that do not use it.
@dataclass_transform(frozen_default=True)
class Fact(msgspec.Struct, frozen=True, omit_defaults=True):
    """The root of every event: a frozen record of something that happened, without behavior.

    A field may be added with a default; a change of meaning is a new version with a lifting in
    `codec`. Nothing is ever renamed or removed, for old logs are read for ever.
    """


class Actor(msgspec.Struct, frozen=True, omit_defaults=True):
    """The client that an event was caused by, as it named itself; a name is no proof.

    Args:
        client: Its name.
        connection: The number of its connection, unique while the daemon runs.
        version: Its version, or "".
        host: The program that it works for, or "".
    """

    client: str
    connection: int
    version: str = ""
    host: str = ""


class Recorded(msgspec.Struct, frozen=True, array_like=True):
    """An event as it lies in a frame: `[type, version, data, ts_us, run, cause, flags]`, and more.

    The type is the class's tag. Sequence numbers are not stored: the frame's header has the first
    one and the rest count on.

    Args:
        version: The version of the type's data.
        data: The event.
        ts_us: When it was decided, in microseconds since 1970 UTC; informational, never an order.
        run: The number of the run it belongs to within its workbench, or 0.
        cause: The sequence number of the event it follows from, or 0.
        flags: `MUST_UNDERSTAND` or 0.
        actor: The client that asked for it, or None; it is written only where there is one, or a
            document.
        document: The SHA-256 of the job or recipe that its run carries out; "" for other runs,
            where it is not written.
    """

    version: int
    data: Any
    ts_us: int
    run: int = 0
    cause: int = 0
    flags: int = 0
    actor: Actor | None = None
    document: str = ""


class FileVersion(msgspec.Struct, frozen=True):
    """A file at one moment: its name, its bytes' hash, its size."""

    name: FileName
    blob: BlobHash
    size_bytes: int


class PluginUsed(msgspec.Struct, frozen=True, omit_defaults=True):
    """A plugin that did some of a call's work.

    Args:
        package: Its package ("kbd_xlsx").
        version: The version of its distribution.
        sha256: The hash of its source files with their names; what it was, whatever it is called.
    """

    package: str
    version: str
    sha256: str = ""


class RecordedReadAs(ReadAs, frozen=True, forbid_unknown_fields=False):
    """How a table is to be read, as the log has it: what a newer kbd added to it is passed over.

    `ReadAs` itself refuses what it does not know, for whoever says it may have misspelt it.
    """

    @classmethod
    def of(cls, said: ReadAs) -> Self:
        """Return what was said, for the log."""
        return cls(**msgspec.structs.asdict(said))

    def said(self) -> ReadAs:
        """Return what was said."""
        return ReadAs(**msgspec.structs.asdict(self))


class TableRead(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a call read a table.

    Args:
        name: The table's file.
        sheet: Its sheet; "" where none was named.
        settings: What was found out or said, by its name in the table's reading, as text: what a
            later version decides as well can be compared, whatever it knows beside.
        columns: The first columns, each with its type.
        row_count: Its rows.
    """

    name: FileName
    sheet: str = ""
    settings: dict[str, str] = {}
    columns: tuple[tuple[str, str], ...] = ()
    row_count: int = 0


class NestedCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """Call of a tool that another call made as a part of its own.

    Args:
        tool: The tool.
        arguments: What it was given, as JSON text; of a long one the beginning, and "…".
        job: The hash of the job that it is a step of, or "".
        error_code: Why it failed; None if it did not.
    """

    tool: str
    arguments: str
    job: str = ""
    error_code: str | None = None


class CallNotes(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a call noted of how its figures came about.

    Args:
        told: What the run's answer tells people of it.
        readings: How the tables were read that it worked with.
        is_look: Whether it only looked at them: what it tells counts where no other call worked
            with tables.
        nested: The calls of other tools that it made, in order.
    """

    told: tuple[str, ...] = ()
    readings: tuple[TableRead, ...] = ()
    is_look: bool = False
    nested: tuple[NestedCall, ...] = ()


class ModelShare(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a model did for a tool's call: a summary, or the vectors of a search.

    Args:
        model_id: The model (`provider:model`).
        usage: What the call consumed of it.
        cost: The same in US dollars.
    """

    model_id: str
    usage: Usage = Usage()
    cost: float = 0.0


class ReplyCall(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call as a model asked for it.

    Args:
        id: The call's id, made unique within the run.
        name: The tool's name, as written.
        arguments: The arguments as JSON text, valid or "{}"; empty if they are in `blob`.
        blob: The hash of arguments that are too long for the log, or of those that were ill-formed.
        fault: What is wrong with the arguments, if they were ill-formed or too long.
    """

    id: CallId
    name: str
    arguments: str = ""
    blob: BlobHash | None = None
    fault: str | None = None
