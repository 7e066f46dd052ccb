"""Requests about watched folders: rules, what landed, what failed, what would run."""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from kbd.requests.base import UNSET, Answer, Request, Unset, WatchParam
from kbd.requests.pages import CursorParam, LimitParam, QueryParam
from kbd.requests.providers import ModelParam
from kbd.types import ReadAs, RunId, Seq, WatchId, WorkbenchId

__all__ = [
    "FailedFound",
    "FailedRow",
    "FailureParam",
    "LandingRow",
    "LimitsParam",
    "OutcomeRow",
    "RetentionParam",
    "TriedFile",
    "TriedRun",
    "WatchAdd",
    "WatchAdded",
    "WatchConfirmParam",
    "WatchConsentParam",
    "WatchFailedChanged",
    "WatchFailedDismiss",
    "WatchFailedList",
    "WatchFailedRetry",
    "WatchFound",
    "WatchGet",
    "WatchInfo",
    "WatchList",
    "WatchPause",
    "WatchRemove",
    "WatchRemoved",
    "WatchRequest",
    "WatchResume",
    "WatchRow",
    "WatchRuleShown",
    "WatchTest",
    "WatchTested",
    "WatchesFound",
]


class LimitsParam(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a rule's runs may add up to.

    Args:
        runs_per_hour: Past so many the watch is suspended until it is resumed.
        runs_per_path_hour: Past so many for one path, its newest content is parked.
        chain_depth: How many rules may work in turn on each other's results.
        batch_files: The most files of one run in batch mode.
    """

    runs_per_hour: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 100
    runs_per_path_hour: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 5
    chain_depth: Annotated[int, msgspec.Meta(ge=1, le=10)] = 3
    batch_files: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100


class FailureParam(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What happens when a run fails.

    Args:
        retries: How often it is resumed where that may help, before it is parked.
        wait_s: Seconds before the first retry; twice as long before each further one.
        then: Whether the next file runs, or the watch is paused.
    """

    retries: Annotated[int, msgspec.Meta(ge=0, le=20)] = 2
    wait_s: Annotated[float, msgspec.Meta(gt=0, le=86_400)] = 60.0
    then: Literal["park", "pause"] = "park"


class RetentionParam(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """After how long what a rule made is archived and removed; it wins over `[retention]`.

    Args:
        archive_after_days: Days without a change; 0 for never.
        remove_after_days: Days since it was archived; 0 for never.
    """

    archive_after_days: Annotated[int, msgspec.Meta(ge=0, le=36_500)] = 0
    remove_after_days: Annotated[int, msgspec.Meta(ge=0, le=36_500)] = 0


class WatchConsentParam(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """That whatever lands may be sent to this model."""

    provider_id: str
    model_id: ModelParam


class WatchConfirmParam(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a person confirms that the rule of a restored home does by itself, word for word.

    Args:
        on_outcome: The program and its arguments that may be run.
        publish: That its runs may publish.
        deliver_to: The folder that its results may go to.
    """

    on_outcome: tuple[str, ...] = ()
    publish: Literal["auto"] | Unset = UNSET
    deliver_to: str | Unset = UNSET


class WatchRuleShown(msgspec.Struct, frozen=True, kw_only=True):
    """A rule as it was made, with the consent that came later; fields as in `WatchAdd`.

    While the watch is `restored`, it is the rule of the backup, and the consent does not hold.
    """

    folder: str
    prompt: str
    patterns: tuple[str, ...]
    model_id: str | Unset = UNSET
    mode: Literal["file", "batch"]
    quiet_s: float
    deliver_to: str | Unset = UNSET
    publish: Literal["review", "auto"]
    limits: LimitsParam
    on_failure: FailureParam
    on_outcome: tuple[str, ...]
    consent: WatchConsentParam | Unset = UNSET
    read_as: ReadAs | Unset = UNSET
    recipe: str | Unset = UNSET
    otherwise: Literal["park", "model"] | Unset = UNSET
    retention: RetentionParam | Unset = UNSET


class WatchRow(msgspec.Struct, frozen=True, kw_only=True):
    """One watch in a list.

    Args:
        watch_id: Its id.
        name: For people.
        folder: The folder.
        status: Whether it starts runs.
        code: Why it is suspended.
        reason: Why it is paused or suspended, or what keeps files from landing: a folder that
            cannot be read, a full disk.
        created_at: ISO 8601, UTC.
        hints: How changes are noticed: the system tells, or the folder is looked through again and
            again, or it is not there.
        landed: How many files landed.
        waiting: How many wait for their run, a retry included.
        running: How many are worked on.
        failed: How many are parked.
        outcomes: How many files came to which outcome.
        publish: Whether changes wait for review, or are published by the run.
        deliver_to: Where published results are copied.
        on_outcome: The program and its arguments, run for each outcome.
        restored: Whether the rule came with a restored home and nobody resumed the watch since:
            its folder is not looked at, and what it does by itself must be confirmed.
    """

    watch_id: WatchId
    name: str
    folder: str
    status: Literal["active", "paused", "suspended"]
    code: str | Unset = UNSET
    reason: str | Unset = UNSET
    created_at: str
    hints: Literal["system", "scan", "missing"]
    landed: int
    waiting: int
    running: int
    failed: int
    outcomes: dict[str, int]
    publish: Literal["review", "auto"] = "review"
    deliver_to: str | Unset = UNSET
    on_outcome: tuple[str, ...] = ()
    restored: bool = False


class LandingRow(msgspec.Struct, frozen=True, kw_only=True):
    """A landed file that is not done.

    Args:
        landing_id: Its number: that of its event in the daemon's log.
        path: Its path below the folder.
        size_bytes: Its size.
        landed_at: ISO 8601, UTC.
        stage: How far it is.
        attempt: How many attempts were begun.
        retry_at: When it is tried again.
        workbench_id: Where its run is.
        run_id: The run.
        code: Why it failed last.
        message: The same for people.
    """

    landing_id: Seq
    path: str
    size_bytes: int
    landed_at: str
    stage: Literal["waiting", "running", "retrying", "parked"]
    attempt: int
    retry_at: str | Unset = UNSET
    workbench_id: WorkbenchId | Unset = UNSET
    run_id: RunId | Unset = UNSET
    code: str | Unset = UNSET
    message: str | Unset = UNSET


class OutcomeRow(msgspec.Struct, frozen=True, kw_only=True):
    """An outcome: of a run on landed files, or of files that came to none.

    Args:
        landing_ids: The files' numbers.
        paths: Their paths below the folder; at most 100.
        outcome: What became of them.
        ended_at: ISO 8601, UTC.
        workbench_id: Where the run is.
        run_id: The run.
        code: Why it failed.
        message: The same for people; if nothing changed, what the run said.
        delivered: The paths of the copies in `deliver_to`.
    """

    landing_ids: tuple[Seq, ...]
    paths: tuple[str, ...]
    outcome: Literal["published", "review", "unchanged", "failed", "moved", "own"]
    ended_at: str
    workbench_id: WorkbenchId | Unset = UNSET
    run_id: RunId | Unset = UNSET
    code: str | Unset = UNSET
    message: str | Unset = UNSET
    delivered: tuple[str, ...] = ()


class WatchInfo(WatchRow, frozen=True, kw_only=True):
    """One watch in full.

    Args:
        rule: What is wanted.
        landings: What is not done, oldest first; at most 200.
        recent: The newest outcomes, newest first.
    """

    rule: WatchRuleShown
    landings: tuple[LandingRow, ...]
    recent: tuple[OutcomeRow, ...]


class FailedRow(LandingRow, frozen=True, kw_only=True):
    """A parked file.

    Args:
        watch_id: Whose.
        watch_name: The same for people.
        actions: What can be done, as short imperative texts.
    """

    watch_id: WatchId
    watch_name: str
    actions: tuple[str, ...] = ()


class TriedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file of the folder, and what the rule would do with it.

    Args:
        path: Its path below the folder.
        size_bytes: Its size.
        verdict: "run" for what a run would work on; "known" for content that landed before;
            "passed_over" for what was there before the watch; "own" for what kbd wrote there;
            "no_match", "temporary", "link", "special" for what is not looked at; "failed" for what
            could not be taken.
        reason: Why, where that is not plain.
    """

    path: str
    size_bytes: int
    verdict: Literal[
        "run", "known", "passed_over", "own", "no_match", "temporary", "link", "special", "failed"
    ]
    reason: str | Unset = UNSET


class TriedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run that would be started, with the paths it would work on."""

    paths: tuple[str, ...]


_PathText = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
_Pattern = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
_Patterns = Annotated[tuple[_Pattern, ...], msgspec.Meta(min_length=1, max_length=50)]
_Argument = Annotated[str, msgspec.Meta(max_length=4096)]
_RecipeParam = Annotated[str, msgspec.Meta(pattern=r"^([a-z0-9][a-z0-9._-]{0,63})?\Z")]
_LandingParam = Annotated[Seq, msgspec.Meta(ge=1)]


class _WatchRequest(Request):
    """The root of this file's requests."""

    subject: ClassVar[str] = "watch"


class WatchAdded(Answer):
    """The folder is watched.

    Args:
        watch_id: The new watch.
        passed_over: How many files were there already and are left alone.
        waiting: How many files were there already and will be worked on.
    """

    watch_id: WatchId
    passed_over: int
    waiting: int


class WatchAdd(_WatchRequest):
    """Watch a folder: run the prompt on what lands there.

    Args:
        folder: The folder, an absolute path; it must be there.
        prompt: What is asked of each run.
        patterns: Which files; without a slash for the name, with one for the path below the
            folder; `!` in front leaves out. Case does not count.
        name: For people; the folder's name if absent.
        model_id: The model; the default one at the time of each run if absent.
        mode: One run a file, or one for all that landed within a quiet window.
        quiet_s: So long a file must not change before it counts, and a batch must not grow.
        deliver_to: Where published results are copied, an absolute path; made if it is not there.
            Only with `publish` "auto".
        publish: Whether changes wait for review, or are published by the run.
        limits: What its runs may add up to.
        on_failure: What happens when one fails.
        on_outcome: A program and its arguments, run for each outcome, which it gets as JSON.
        consent: What is agreed to; without it a run whose model is not on this machine is parked.
        existing: Whether files that are there already are worked on, too, or passed over.
        read_as: How the tables that land are to be read, as far as it is said. A file of which
            something has to be said, and is not, is parked with the question.
        recipe: The recipe by which it is done, without a model; a prompt is only needed where
            `otherwise` is "model".
        otherwise: What becomes of files that a guard of the recipe stops: they are parked with the
            guard, or the model is asked with the prompt.
        retention: After how long what its runs made is archived and removed; with it, what they
            publish by themselves counts as seen. `[retention]` says it if absent.
    """

    answer: ClassVar[type[Any]] = WatchAdded

    folder: _PathText
    prompt: Annotated[str, msgspec.Meta(max_length=100_000)] = ""
    patterns: _Patterns = ("*",)
    name: Annotated[str, msgspec.Meta(min_length=1, max_length=200)] | Unset = UNSET
    model_id: ModelParam | Unset = UNSET
    mode: Literal["file", "batch"] = "file"
    quiet_s: Annotated[float, msgspec.Meta(ge=0.1, le=86_400)] = 2.0
    deliver_to: _PathText | Unset = UNSET
    publish: Literal["review", "auto"] = "review"
    limits: LimitsParam = LimitsParam()
    on_failure: FailureParam = FailureParam()
    on_outcome: Annotated[tuple[_Argument, ...], msgspec.Meta(max_length=100)] = ()
    consent: WatchConsentParam | Unset = UNSET
    existing: Literal["run", "pass_over"] = "pass_over"
    read_as: ReadAs = ReadAs()
    recipe: _RecipeParam = ""
    otherwise: Literal["park", "model"] = "park"
    retention: RetentionParam | Unset = UNSET


class WatchFound(Answer):
    """The watch asked for."""

    watch: WatchInfo


class WatchGet(_WatchRequest):
    """Ask for a watch in full."""

    answer: ClassVar[type[Any]] = WatchFound

    watch_id: WatchParam


class WatchesFound(Answer):
    """All watches."""

    watches: tuple[WatchRow, ...]


class WatchList(_WatchRequest):
    """List all watches."""

    answer: ClassVar[type[Any]] = WatchesFound


class WatchPause(_WatchRequest):
    """Start no runs until the watch is resumed; what lands is recorded and waits."""

    answer: ClassVar[type[Any]] = WatchFound

    watch_id: WatchParam


class WatchResume(_WatchRequest):
    """Start runs again after a pause or a suspension.

    Args:
        watch_id: The watch.
        consent: What is agreed to from now on, in place of what the rule says; of a restored one
            nothing holds that is not agreed to here.
        confirm: What the rule of a restored watch does by itself; needed for each that it has.
    """

    answer: ClassVar[type[Any]] = WatchFound

    watch_id: WatchParam
    consent: WatchConsentParam | Unset = UNSET
    confirm: WatchConfirmParam | Unset = UNSET


class WatchRemoved(Answer):
    """The folder is not watched any more; a run that is under way goes on to its end."""

    removed: bool = True


class WatchRemove(_WatchRequest):
    """Watch a folder no more; what waits is not worked on, what was made stays."""

    answer: ClassVar[type[Any]] = WatchRemoved

    watch_id: WatchParam


class FailedFound(Answer):
    """What is parked, and which watches stand still.

    Args:
        failed: The parked files, oldest first unless asked for otherwise; at most 1,000 where no
            limit is given.
        total: How many there are that match the filters, on all pages.
        suspended: The watches that start no runs, with the reason of each.
        next_cursor: Where the next page begins, if there are more.
    """

    failed: tuple[FailedRow, ...]
    total: int
    suspended: tuple[WatchRow, ...]
    next_cursor: str | Unset = UNSET


class WatchFailedList(_WatchRequest):
    """List what failed and why, of one watch or of all.

    Args:
        watch_id: Only files of this watch.
        error_code: Only files that failed with this code.
        query: Only files in whose path or reason each of these words stands; case does not count.
        descending: Whether the newest come first.
        limit: How many files at most; 1,000 without it.
        cursor: Where to begin. A file that is parked again keeps its place.
    """

    answer: ClassVar[type[Any]] = FailedFound

    watch_id: WatchParam | Unset = UNSET
    error_code: Annotated[str, msgspec.Meta(min_length=1, max_length=64)] | Unset = UNSET
    query: QueryParam | Unset = UNSET
    descending: bool = False
    limit: LimitParam | Unset = UNSET
    cursor: CursorParam | Unset = UNSET


class WatchFailedChanged(Answer):
    """Which parked files were taken up again, or dismissed."""

    landing_ids: tuple[Seq, ...]


class WatchFailedRetry(_WatchRequest):
    """Work on parked files after all: the named ones, or all of the watch."""

    answer: ClassVar[type[Any]] = WatchFailedChanged

    watch_id: WatchParam
    landing_ids: tuple[_LandingParam, ...] | Unset = UNSET


class WatchFailedDismiss(_WatchRequest):
    """Forget parked files: the named ones, or all of the watch; their workbenches stay."""

    answer: ClassVar[type[Any]] = WatchFailedChanged

    watch_id: WatchParam
    landing_ids: tuple[_LandingParam, ...] | Unset = UNSET


class WatchTested(Answer):
    """What a rule would do with what is in its folder now; nothing was done.

    Args:
        files: What is in the folder, sorted by path; at most 1,000.
        counts: How many files have which verdict, also those that are not listed.
        runs: The runs that would be started, with at most 1,000 paths in all.
        run_count: How many there would be.
        model_id: The model they would use; "" if none is named yet.
        consented: Whether they may be sent there.
        problems: Why runs would not get far: consent, a missing key, a folder that is not there.
    """

    files: tuple[TriedFile, ...]
    counts: dict[str, int]
    runs: tuple[TriedRun, ...]
    run_count: int
    model_id: str
    consented: bool
    problems: tuple[str, ...]


class WatchTest(_WatchRequest):
    """Show what would run, without running it: for a watch, or for a rule that is not made yet.

    Args:
        watch_id: The watch; without it `folder` is needed.
        folder: A folder that is not watched yet.
        patterns: Which files.
        mode: As in `WatchAdd`.
        model_id: As in `WatchAdd`.
    """

    answer: ClassVar[type[Any]] = WatchTested

    watch_id: WatchParam | Unset = UNSET
    folder: _PathText | Unset = UNSET
    patterns: _Patterns = ("*",)
    mode: Literal["file", "batch"] = "file"
    model_id: ModelParam | Unset = UNSET


WatchRequest = (
    WatchAdd
    | WatchList
    | WatchGet
    | WatchTest
    | WatchPause
    | WatchResume
    | WatchRemove
    | WatchFailedList
    | WatchFailedRetry
    | WatchFailedDismiss
)
"""The requests of this subject."""
