"""Events about a workbench, its files, its consent and its conversation; and the daemon's own."""

from kbd.events.base import Fact
from kbd.types import BlobHash, FileName, WorkbenchId

__all__ = [
    "AssistantMessageAdded",
    "ConsentGranted",
    "DaemonStarted",
    "DaemonStopped",
    "FileAdded",
    "FileRemoved",
    "LogRepaired",
    "ModelChosen",
    "PluginLeftOut",
    "PluginLoaded",
    "UserMessageAdded",
    "WorkbenchCreated",
    "WorkbenchDeleted",
]


class WorkbenchCreated(Fact):
    """A workbench was created. In the daemon's log, and the first event of the workbench's own."""

    workbench_id: WorkbenchId
    name: str


class WorkbenchDeleted(Fact):
    """A workbench was deleted with all it held. In the daemon's log."""

    workbench_id: WorkbenchId


class FileAdded(Fact):
    """A file was copied into the workbench.

    Args:
        name: Its name there.
        blob: The hash of its bytes.
        size_bytes: Its size.
        source_path: Where it was copied from; kbd never writes there.
        modified_at_us: The source's time of change, in microseconds since 1970 UTC.
    """

    name: FileName
    blob: BlobHash
    size_bytes: int
    source_path: str = ""
    modified_at_us: int = 0


class FileRemoved(Fact):
    """A file was taken out of the workbench while no draft was open."""

    name: FileName


class ConsentGranted(Fact):
    """A person agreed that these files may go to this provider.

    Args:
        provider_id: The provider.
        model_id: The model, `provider:model`.
        scope_hash: What was agreed to: a hash of the files' names and contents.
        persist: Whether it holds for later runs, too, or for one.
    """

    provider_id: str
    model_id: str
    scope_hash: str
    persist: bool = True


class ModelChosen(Fact):
    """The workbench's model was chosen."""

    model_id: str


class UserMessageAdded(Fact):
    """A person asked for something; what earlier runs had planned is set aside."""

    message_id: str
    text: str


class AssistantMessageAdded(Fact):
    """A run answered."""

    message_id: str
    text: str


class DaemonStarted(Fact):
    """The daemon started.

    Args:
        epoch: One more than the last start's.
        pid: Its process.
        engine_version: The version of kbd.
        backend: "asyncio" or "trio".
    """

    epoch: int
    pid: int
    engine_version: str
    backend: str


class DaemonStopped(Fact):
    """The daemon stopped in an orderly way."""

    reason: str


class PluginLoaded(Fact):
    """A plugin was loaded, or loaded in another version than at the last start."""

    name: str
    version: str
    source: str


class PluginLeftOut(Fact):
    """A plugin could not be used, for the reason given."""

    name: str
    reason: str


class LogRepaired(Fact):
    """A torn end of the log was cut off at recovery; what was cut is kept beside the log.

    Args:
        segment: The segment's file name.
        offset: Where it was cut, in bytes.
        size_bytes: How many bytes were cut, without zeros at their end.
        kept_as: The file name under which they are kept.
    """

    segment: str
    offset: int
    size_bytes: int
    kept_as: str
