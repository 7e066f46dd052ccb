"""Events about a workbench, its files, its consent and its conversation; and the daemon's own."""

from typing import Literal

import msgspec

from kbd.events.base import Fact, RecordedReadAs
from kbd.types import BlobHash, FileName, FocusHint, ForkMode, Seq, WorkbenchId

__all__ = [
    "AssistantMessageAdded",
    "BudgetCharged",
    "BudgetReserved",
    "ConsentGranted",
    "ContextRemoved",
    "ContextSet",
    "ConversationRewound",
    "DaemonStarted",
    "DaemonStopped",
    "DraftThen",
    "DraftedThen",
    "FileAdded",
    "FileRemoved",
    "FileThen",
    "HomePlace",
    "LogRepaired",
    "ModelChosen",
    "PluginEndedDaemon",
    "PluginLeftOut",
    "PluginLoaded",
    "ReadingChosen",
    "RequestSent",
    "RetentionPlanned",
    "RunsThen",
    "SettingChanged",
    "TraceSent",
    "UserMessageAdded",
    "WorkbenchArchived",
    "WorkbenchCreated",
    "WorkbenchDeleted",
    "WorkbenchEvent",
    "WorkbenchForked",
    "WorkbenchUnarchived",
]


class WorkbenchCreated(Fact):
    """A workbench was created. In the daemon's log, and the first event of the workbench's own."""

    workbench_id: WorkbenchId
    name: str


class WorkbenchDeleted(Fact):
    """A workbench was deleted with all it held. In the daemon's log.

    Args:
        workbench_id: Which.
        reason: By which rule its archive was removed; "" where a person deleted it.
    """

    workbench_id: WorkbenchId
    reason: str = ""


class WorkbenchArchived(Fact):
    """A workbench was packed into an archive, which was read back. In the daemon's log.

    From this event on the archive is the workbench; its folder is removed.

    Args:
        workbench_id: Which.
        sha256: The hash of the archive.
        size_bytes: Its size.
        seq: The last event of the workbench's log.
        reason: Why: a person's command, or a rule.
    """

    workbench_id: WorkbenchId
    sha256: str
    size_bytes: int
    seq: Seq
    reason: str


class WorkbenchUnarchived(Fact):
    """A workbench was unpacked from its archive, which is removed. In the daemon's log.

    Args:
        workbench_id: Which.
        reason: What it was unpacked for.
    """

    workbench_id: WorkbenchId
    reason: str


class WorkbenchForked(Fact):
    """The workbench begins as a copy of another; what it took over follows in the same frame.

    Args:
        source_workbench_id: Of which.
        mode: How much of it.
        source_seq: Its event up to which it was taken over.
        from_message_id: The message of it that was named, or "".
    """

    source_workbench_id: WorkbenchId
    mode: ForkMode
    source_seq: int
    from_message_id: str = ""


class RetentionPlanned(Fact):
    """Archives will be removed by a rule; nothing of it happens within a day of this.

    It is recorded before a rule removes its first archive, after the rule changed, and after a time
    of which the daemon's log cannot say that it went by.

    Args:
        watch_id: The watch whose rule it is; "" for `[retention]`.
        remove_after_days: What the rule says: days since the archiving; 0 if it removes nothing any
            more.
        count: How many archives are due.
        size_bytes: Their size.
        reason: Why it is told now.
    """

    watch_id: str
    remove_after_days: int
    count: int = 0
    size_bytes: int = 0
    reason: str = ""


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
        scope_hash: What was agreed to: a hash of names and contents, context items included.
        persist: Whether it holds for later runs, too, or for one.
        endpoint: The host and port that they may go to; "" in what was agreed to before this was
            recorded, or for a provider that goes nowhere.
    """

    provider_id: str
    model_id: str
    scope_hash: str
    persist: bool = True
    endpoint: str = ""


class ModelChosen(Fact):
    """The workbench's model was chosen."""

    model_id: str


class ReadingChosen(Fact):
    """A person or a rule said how the tables of a file are to be read.

    Args:
        name: The file.
        read_as: All that is said of it from now on; empty if it is to be found out.
    """

    name: FileName
    read_as: RecordedReadAs


class ContextSet(Fact):
    """A person wrote what every run shall know, or gave a file that says it.

    Args:
        category: "company-context", "department-context", "situation" or "document-style".
        text: What it says.
        source_name: The name of the file that it was read from, or "".
    """

    category: str
    text: str
    source_name: str = ""


class ContextRemoved(Fact):
    """A context item was taken out."""

    category: str


class UserMessageAdded(Fact):
    """A person asked for something; what earlier runs had planned is set aside.

    Args:
        message_id: Its name.
        text: What was asked.
        said_at_us: When, if that was in the workbench that this one was forked from; else 0.
        model_id: The model that alone reads it, of a job or a recipe as a document; "" for any.
        document: The SHA-256 of that job or recipe; each event of its runs has it.
    """

    message_id: str
    text: str
    said_at_us: int = 0
    model_id: str = ""
    document: str = ""


class AssistantMessageAdded(Fact):
    """A run answered; the fields are those of UserMessageAdded."""

    message_id: str
    text: str
    said_at_us: int = 0


class FileThen(msgspec.Struct, frozen=True, omit_defaults=True):
    """A published file as it was at an earlier event; the fields are those of the state."""

    name: FileName
    blob: BlobHash
    size_bytes: int
    added_at_us: int
    modified_at_us: int
    origin: BlobHash | None = None


class DraftedThen(msgspec.Struct, frozen=True, omit_defaults=True):
    """A file of the draft as it was at an earlier event; the fields are those of the state."""

    name: FileName
    base: BlobHash | None
    blob: BlobHash | None
    size_bytes: int = 0
    base_size_bytes: int = 0
    run: int = 0
    items: tuple[int, ...] = ()
    warnings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    focus: FocusHint | None = None
    runs: tuple[int, ...] = ()


class DraftThen(msgspec.Struct, frozen=True, omit_defaults=True):
    """The draft as it was at an earlier event."""

    draft_id: str
    created_at_us: int
    run: int = 0
    files: tuple[DraftedThen, ...] = ()
    confirmed: tuple[FileName, ...] = ()


class RunsThen(msgspec.Struct, frozen=True, omit_defaults=True):
    """How the runs stood at an earlier event.

    Args:
        count: How many there were; those that began since are undone.
        current: The one on the newest message that could be resumed, or 0.
        undone: Those that were undone then.
        discarded: Those whose draft was discarded then.
    """

    count: int = 0
    current: int = 0
    undone: tuple[int, ...] = ()
    discarded: tuple[int, ...] = ()


class ConversationRewound(Fact):
    """The conversation, the files, the draft and the runs stand again as they did at a message.

    What came after it is cut off, not gone: rewinding to a message that was cut off brings it back.

    Args:
        message_id: The message that is the last one now.
        to_seq: The event after which all stood as it does again.
        reason: Whether a person undid, or wants another answer.
        files: The published files.
        draft: The draft, if there was one.
        runs: The runs.
        checkpoint_id: The checkpoint of what published/ held until now, if that is changed.
    """

    message_id: str
    to_seq: int
    reason: Literal["undo", "regenerate"] = "undo"
    files: tuple[FileThen, ...] = ()
    draft: DraftThen | None = None
    runs: RunsThen = RunsThen()
    checkpoint_id: str = ""


class RequestSent(Fact):
    """A request is about to leave for a provider: recorded first, so that none can be missing.

    Args:
        provider_id: The provider.
        model_id: The model, or "" where the request is about none.
        endpoint: Host and port.
        method: The HTTP method.
        path: The path of the address, without its query.
        bytes_out: What is sent, in bytes: request line, headers and body.
        purpose: A turn of a run, whether a key works, vectors of texts for the search, or a summary
            of a text.
    """

    provider_id: str
    model_id: str
    endpoint: str
    method: str
    path: str
    bytes_out: int
    purpose: Literal["turn", "validate", "embed", "summarize"] = "turn"


class TraceSent(Fact):
    """The trace of a run is about to leave for a collector: recorded first. In the daemon's log.

    Args:
        workbench_id: Whose run it is.
        run: The run's number.
        endpoint: Host and port of the collector.
        path: The path of its address.
        bytes_out: What is sent, in bytes: request line, headers and body.
        has_content: Whether texts are in it.
    """

    workbench_id: WorkbenchId
    run: int
    endpoint: str
    path: str
    bytes_out: int
    has_content: bool = False


class SettingChanged(Fact):
    """A person changed how the daemon works, for all workbenches. In the daemon's log.

    Args:
        name: "enabled", "consent_mode" or "reasoning_effort".
        value: What it is now.
        provider_id: Of which provider, where it is about one.
        phase: Of which phase, where it is about one.
    """

    name: str
    value: str
    provider_id: str = ""
    phase: str = ""


class BudgetReserved(Fact):
    """A turn is about to be asked for: what it may cost counts as spent. In the daemon's log.

    Args:
        reservation: Its name.
        day: The day that it counts for, as "2026-11-22", UTC.
        workbench_id: Whose run.
        run: Its number there.
        model_id: The model.
        tokens: The most that it may consume, as estimated.
        cost: The same in US dollars.
    """

    reservation: str
    day: str
    workbench_id: WorkbenchId
    run: int
    model_id: str
    tokens: int
    cost: float = 0.0


class BudgetCharged(Fact):
    """A turn ended: what it did consume takes the place of what was reserved.

    Args:
        reservation: Whose.
        tokens: What it consumed.
        cost: The same in US dollars.
    """

    reservation: str
    tokens: int
    cost: float = 0.0


class HomePlace(msgspec.Struct, frozen=True):
    """Place of a home, which a copy of it does not share.

    Args:
        folder: Its path, absolute.
        device: The file system that it lies on, as stat(2) numbers it.
        inode: The folder's number there.
    """

    folder: str
    device: int
    inode: int


class DaemonStarted(Fact):
    """The daemon started.

    Args:
        epoch: One more than the last start's.
        pid: Its process.
        engine_version: The version of kbd.
        backend: "asyncio" or "trio".
        home: Where the home lies; None in a log of an older kbd.
        known_at: Where an earlier start had it, if that is another folder: it was moved, copied,
            or restored from a backup of that one. Told again as long as it is a copy.
        is_copy: Whether that other folder was there, too.
    """

    epoch: int
    pid: int
    engine_version: str
    backend: str
    home: HomePlace | None = None
    known_at: HomePlace | None = None
    is_copy: bool = False


class DaemonStopped(Fact):
    """The daemon stopped in an orderly way."""

    reason: str


class PluginLoaded(Fact):
    """A plugin was loaded, or loaded in another version than at the last start."""

    name: str
    version: str
    source: str


class PluginLeftOut(Fact):
    """A plugin could not be used when the daemon started, or was left out after its faults.

    Args:
        name: Its entry point's name.
        reason: What was wrong, or how many faults there were and what the last one was.
        is_blocked: Whether the settings leave it out.
    """

    name: str
    reason: str
    is_blocked: bool = False


class PluginEndedDaemon(Fact):
    """The daemon before this one ended, without having been asked to, while a plugin's code ran.

    Args:
        name: The plugin's entry point's name.
        version: Its version then.
    """

    name: str
    version: str


class LogRepaired(Fact):
    """The end of the log was cut off; what was cut is kept beside the log.

    A torn end is cut off at recovery, a damaged one by `kbd repair --cut`.

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


WorkbenchEvent = (
    WorkbenchCreated
    | WorkbenchDeleted
    | WorkbenchArchived
    | WorkbenchUnarchived
    | FileAdded
    | FileRemoved
    | ConsentGranted
    | ModelChosen
    | UserMessageAdded
    | AssistantMessageAdded
    | DaemonStarted
    | DaemonStopped
    | PluginLoaded
    | PluginLeftOut
    | PluginEndedDaemon
    | LogRepaired
    | WorkbenchForked
    | ReadingChosen
    | ContextSet
    | ContextRemoved
    | ConversationRewound
    | RequestSent
    | SettingChanged
    | BudgetReserved
    | BudgetCharged
    | TraceSent
    | RetentionPlanned
)
"""Events of workbenches, of the daemon and of what it spends and sends."""
