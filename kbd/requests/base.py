"""What all requests share: the record that carries one, its answer, the ids, a notification.

The name of a class is the name on the wire: of a method for a request, of a notification for a
notification. Parameters are named, unknown ones are refused by name, and a parameter may be added
with a default; nothing is renamed or removed, for clients know the names.
"""

from typing import Annotated, Any, ClassVar, dataclass_transform

import msgspec

from kbd.types import BlobHash, RunId, Seq, WatchId, WorkbenchId

__all__ = [
    "UNSET",
    "Answer",
    "BlobParam",
    "LogParam",
    "Notification",
    "Request",
    "RunParam",
    "SeqParam",
    "Unset",
    "WatchParam",
    "WorkbenchParam",
]

UNSET = msgspec.UNSET
"""The default of a field that JSON leaves out when there is nothing to say."""

Unset = msgspec.UnsetType

_LAST_SAFE_INTEGER = 2**53 - 1
"""The largest integer that every JSON reader keeps exact."""

WorkbenchParam = Annotated[
    WorkbenchId,
    msgspec.Meta(
        pattern="^[0-9a-f]{16}$", min_length=16, max_length=16, description="A workbench's id."
    ),
]
"""A workbench id: checked before any path is built from it."""

# `(?!\n)`: Python's `$` also matches before a last line feed.
LogParam = Annotated[
    str,
    msgspec.Meta(
        pattern="^([0-9a-f]{16}|daemon)$(?!\\n)",
        max_length=16,
        description='A log: a workbench\'s id, or "daemon".',
    ),
]
"""A workbench id, or "daemon" for the daemon's own log."""

RunParam = Annotated[
    RunId,
    msgspec.Meta(
        pattern="^[0-9a-f]{16}-[1-9][0-9]{0,14}$(?!\\n)", max_length=32, description="A run's id."
    ),
]
"""A run id: its workbench's id, a hyphen and a number."""

WatchParam = Annotated[
    WatchId, msgspec.Meta(pattern="^[0-9a-f]{16}$", min_length=16, max_length=16)
]
"""A watch id."""

BlobParam = Annotated[
    BlobHash,
    msgspec.Meta(
        pattern="^[0-9a-f]{64}$", min_length=64, max_length=64, description="The hash of bytes."
    ),
]
"""The hash of a file's bytes."""

SeqParam = Annotated[
    Seq,
    msgspec.Meta(ge=0, le=_LAST_SAFE_INTEGER, description="A place in a log, from 1; 0 is none."),
]
"""A place in a log; 0 is before the first event."""


# The decorators tell type checkers what msgspec does: frozen is inherited.
@dataclass_transform(frozen_default=True)
class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The root of what methods answer. A field marked `Unset` may be absent."""


@dataclass_transform(frozen_default=True)
class Request(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The root of every request.

    Attributes:
        method: The name on the wire: the class's, unless the class says otherwise.
        answer: The record that the method answers.
        subject: Which part of kbd it is about; the `phase` of an error that names none.

    Args:
        api_version: The version of the contract that the client was written for.
    """

    method: ClassVar[str]
    answer: ClassVar[type[Any]]
    subject: ClassVar[str] = "daemon"

    api_version: str | int | Unset = UNSET

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "method" not in cls.__dict__:
            cls.method = cls.__name__


@dataclass_transform(frozen_default=True)
class Notification(msgspec.Struct, frozen=True, kw_only=True):
    """The root of every notification.

    Args:
        workbench_id: The workbench it tells of.
        run_id: The run it tells of, where there is one.
        seq: The recorded event it tells of, where there is one.
    """

    workbench_id: str
    run_id: RunId | Unset = UNSET
    seq: Seq | Unset = UNSET
