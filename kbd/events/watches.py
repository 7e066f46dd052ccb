"""Events about watched folders: the rule, what landed, what became of it. In the daemon's log.

A landed file is named by the number of its `FileLanded` (its landing). Each landing ends in a
recorded outcome: in `FileLanded` itself, in `WatchRunFinished`, or in `LandingsParked`.
"""

from typing import Literal

import msgspec

from kbd.events.base import Fact, RecordedReadAs
from kbd.types import RunId, Seq, WatchId, WorkbenchId

__all__ = [
    "FailurePolicy",
    "FileLanded",
    "FilesPassedOver",
    "FilesWritten",
    "LandingsDismissed",
    "LandingsParked",
    "LandingsRetried",
    "PassedFile",
    "RuleConfirmation",
    "RuleLimits",
    "RuleRecipe",
    "RuleRetention",
    "WatchAdded",
    "WatchCommandEnded",
    "WatchConsent",
    "WatchEvent",
    "WatchPaused",
    "WatchRemoved",
    "WatchResumed",
    "WatchRule",
    "WatchRunFinished",
    "WatchRunStarted",
    "WatchSuspended",
]

Settled = Literal["published", "review", "unchanged", "failed"]
"""How a watch's run ended: its changes are published; they wait for a person's review; there are
none; or it failed."""

Passed = Literal["", "moved", "own", "failed"]
"""What became of a file the moment it landed: "" for nothing yet, "moved" for content that landed
before under a name that is gone, "own" for what kbd itself wrote there, "failed" for what could
not be taken."""


class RuleLimits(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a rule's runs may add up to (reliability, section 2.6).

    Args:
        runs_per_hour: Past so many the watch is suspended until a person resumes it.
        runs_per_path_hour: Past so many for one path, its newest content is parked.
        chain_depth: How many rules may work in turn on each other's results.
        batch_files: The most files of one run in batch mode.
    """

    runs_per_hour: int = 100
    runs_per_path_hour: int = 5
    chain_depth: int = 3
    batch_files: int = 100


class FailurePolicy(msgspec.Struct, frozen=True, omit_defaults=True):
    """What happens when a run fails.

    Args:
        retries: How often it is resumed where that may help, before it is parked.
        wait_s: Seconds before the first retry; twice as long before each further one.
        then: "park" to go on with the next file, "pause" to park and pause the watch.
    """

    retries: int = 2
    wait_s: float = 60.0
    then: Literal["park", "pause"] = "park"


class WatchConsent(msgspec.Struct, frozen=True, omit_defaults=True):
    """A person agreed that whatever lands may be sent to this model.

    Args:
        provider_id: The provider.
        model_id: The model, `provider:model`.
        endpoint: The host and port that it may go to; "" as in ConsentGranted.
    """

    provider_id: str
    model_id: str
    endpoint: str = ""


class RuleRecipe(msgspec.Struct, frozen=True, omit_defaults=True):
    """The recipe by which a rule's files are worked on.

    Args:
        name: Its name; what is saved under it when a file lands is carried out.
        otherwise: What becomes of files that a guard of it stops: they are parked with the guard,
            or the model is asked with the prompt.
    """

    name: str
    otherwise: Literal["park", "model"] = "park"


class RuleRetention(msgspec.Struct, frozen=True, omit_defaults=True):
    """After how long what a rule made is archived and removed; it wins over `[retention]`.

    With it, what the rule publishes by itself counts as seen: a person said so of this folder.

    Args:
        archive_after_days: Days without a change; 0 for never.
        remove_after_days: Days since it was archived; 0 for never.
    """

    archive_after_days: int = 0
    remove_after_days: int = 0


class WatchRule(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person wants done with what lands in a folder.

    Args:
        name: For people.
        folder: The folder, an absolute path without links in it.
        prompt: What is asked of each run.
        patterns: Which files: a pattern without a slash is for the name, one with a slash for the
            path below the folder; `!` in front leaves out. Case does not count.
        model_id: The model, or None for the default one at the time of the run.
        mode: One run a file, or one for all that landed within a quiet window.
        quiet_s: So long a file must not change before it counts, and a batch must not grow.
        deliver_to: Where published results are copied, an absolute path, or None for nowhere.
        publish: Whether changes wait for a person's review, or are published by the run.
        limits: What its runs may add up to.
        on_failure: What happens when one fails.
        on_outcome: A program and its arguments, run for each outcome; () for none.
        consent: What a person agreed to when the rule was made, or None.
        read_as: How the tables that land are to be read, as far as it is said.
        recipe: The recipe by which it is done, without a model; None for none.
    """

    name: str
    folder: str
    prompt: str
    patterns: tuple[str, ...] = ("*",)
    model_id: str | None = None
    mode: Literal["file", "batch"] = "file"
    quiet_s: float = 2.0
    deliver_to: str | None = None
    publish: Literal["review", "auto"] = "review"
    limits: RuleLimits = RuleLimits()
    on_failure: FailurePolicy = FailurePolicy()
    on_outcome: tuple[str, ...] = ()
    consent: WatchConsent | None = None
    read_as: RecordedReadAs = RecordedReadAs()
    recipe: RuleRecipe | None = None


class RuleConfirmation(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a person confirmed of a rule that came with a restored home, word for word.

    Args:
        on_outcome: The program and its arguments that may be run; () for none.
        publish: "auto" if its runs may publish.
        deliver_to: Where its results may go, or None.
    """

    on_outcome: tuple[str, ...] = ()
    publish: str = ""
    deliver_to: str | None = None


class WatchAdded(Fact):
    """A folder is watched from now on.

    Args:
        watch_id: Its id.
        rule: What is wanted.
        retention: After how long what the rule made goes; None for what `[retention]` says.
    """

    watch_id: WatchId
    rule: WatchRule
    retention: RuleRetention | None = None


class PassedFile(msgspec.Struct, frozen=True):
    """A file that was there before its folder was watched.

    Args:
        path: Its path below the folder.
        signature: What tells that it is unchanged: `size:mtime_ns:ctime_ns:inode`.
    """

    path: str
    signature: str


class FilesPassedOver(Fact):
    """These files were there when the watch was added and were not to be worked on."""

    watch_id: WatchId
    files: tuple[PassedFile, ...]


class WatchRemoved(Fact):
    """A folder is not watched any more; a run that is under way goes on to its end."""

    watch_id: WatchId


class WatchPaused(Fact):
    """A watch was paused, by a person or by its rule; what lands is recorded and waits."""

    watch_id: WatchId
    reason: str = ""


class WatchSuspended(Fact):
    """A watch passed a limit and starts no run until a person resumes it."""

    watch_id: WatchId
    code: str
    reason: str


class WatchResumed(Fact):
    """A person resumed a watch, and may have agreed to what was missing.

    Args:
        watch_id: Which.
        consent: What may be sent from now on; None changes nothing, but for a watch of a restored
            home: what its rule said before is not in force any more.
        confirmed: What the rule of such a watch does by itself, as the person confirmed it.
    """

    watch_id: WatchId
    consent: WatchConsent | None = None
    confirmed: RuleConfirmation | None = None


class FileLanded(Fact):
    """A file landed whole and was copied; only the copy is worked on.

    Args:
        watch_id: Where.
        path: Its path below the folder.
        sha256: The hash of the copy; "" if the file could not be read.
        size_bytes: Its size.
        signature: `size:mtime_ns:ctime_ns:inode` at the time of the copy.
        depth: 1, or one more than that of the rule whose run wrote this content.
        outcome: What became of it at once, if anything did.
        moved_from: The path under which the same content landed before.
        code: Why it failed.
        message: The same for people.
    """

    watch_id: WatchId
    path: str
    sha256: str
    size_bytes: int
    signature: str
    depth: int = 1
    outcome: Passed = ""
    moved_from: str = ""
    code: str = ""
    message: str = ""


class WatchRunStarted(Fact):
    """A run on landed files will be carried out, by this daemon or the next.

    Args:
        watch_id: Whose.
        landings: The numbers of their `FileLanded`.
        workbench_id: Where; named before it is made, so that it is made once.
        attempt: Counted from 1 in that workbench, whoever asked for it.
    """

    watch_id: WatchId
    landings: tuple[Seq, ...]
    workbench_id: WorkbenchId
    attempt: int = 1


class WatchRunFinished(Fact):
    """The run ended.

    Args:
        watch_id: Whose.
        landings: The files it worked on.
        workbench_id: Where its log is.
        outcome: How it ended.
        run_id: The run; "" if it came to none.
        code: Why it failed.
        message: The same for people; if nothing changed, what the run said.
        delivered: The paths of the copies in `deliver_to`.
        retry_at_us: When it is tried again; 0 if it is not, and a failed one is then parked.
    """

    watch_id: WatchId
    landings: tuple[Seq, ...]
    workbench_id: WorkbenchId
    outcome: Settled
    run_id: RunId = RunId("")
    code: str = ""
    message: str = ""
    delivered: tuple[str, ...] = ()
    retry_at_us: int = 0


class LandingsParked(Fact):
    """Landed files were put aside before a run, for the reason given."""

    watch_id: WatchId
    landings: tuple[Seq, ...]
    code: str
    message: str


class LandingsRetried(Fact):
    """A person wants parked files worked on after all."""

    watch_id: WatchId
    landings: tuple[Seq, ...]


class LandingsDismissed(Fact):
    """A person wants nothing more done about parked files."""

    watch_id: WatchId
    landings: tuple[Seq, ...]


class WatchCommandEnded(Fact):
    """The rule's command was run for an outcome.

    Args:
        watch_id: Whose.
        landings: For which files.
        exit_code: What it ended with; None if it could not be started or took too long.
        message: Why not.
    """

    watch_id: WatchId
    landings: tuple[Seq, ...]
    exit_code: int | None = None
    message: str = ""


class FilesWritten(Fact):
    """Files will be written into a folder by kbd; there they are not taken for work.

    Args:
        folder: The folder, an absolute path without links in it.
        hashes: The hashes of the files.
        watch_id: The watch that delivers them; "" for an extraction that a person asked for.
        depth: How deep in a chain of rules they were made; 0 for a person's.
    """

    folder: str
    hashes: tuple[str, ...]
    watch_id: str = ""
    depth: int = 0


WatchEvent = (
    WatchAdded
    | FilesPassedOver
    | WatchRemoved
    | WatchPaused
    | WatchSuspended
    | WatchResumed
    | FileLanded
    | WatchRunStarted
    | WatchRunFinished
    | LandingsParked
    | LandingsRetried
    | LandingsDismissed
    | WatchCommandEnded
    | FilesWritten
)
"""Events of watched folders."""
