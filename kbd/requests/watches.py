"""Requests about watched folders: rules, what landed, what failed, what would run."""

from typing import Annotated, Any, ClassVar, Literal

import msgspec

from kbd.requests.base import UNSET, Answer, Request, Unset
from kbd.requests.providers import ModelParam
from kbd.requests.watched import (
    FailedRow,
    FailureParam,
    LimitsParam,
    TriedFile,
    TriedRun,
    WatchConsentParam,
    WatchInfo,
    WatchRow,
)
from kbd.types import Seq, WatchId

__all__ = [
    "FailedFound",
    "WatchAdd",
    "WatchAdded",
    "WatchFailedChanged",
    "WatchFailedDismiss",
    "WatchFailedList",
    "WatchFailedRetry",
    "WatchFound",
    "WatchGet",
    "WatchList",
    "WatchPause",
    "WatchRemove",
    "WatchRemoved",
    "WatchRequest",
    "WatchResume",
    "WatchTest",
    "WatchTested",
    "WatchesFound",
]

WatchParam = Annotated[
    WatchId, msgspec.Meta(pattern="^[0-9a-f]{16}$", min_length=16, max_length=16)
]
"""A watch id."""

_PathText = Annotated[str, msgspec.Meta(min_length=1, max_length=4096)]
_Pattern = Annotated[str, msgspec.Meta(min_length=1, max_length=256)]
_Patterns = Annotated[tuple[_Pattern, ...], msgspec.Meta(min_length=1, max_length=50)]
_Argument = Annotated[str, msgspec.Meta(max_length=4096)]
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
    """

    answer: ClassVar[type[Any]] = WatchAdded

    folder: _PathText
    prompt: Annotated[str, msgspec.Meta(min_length=1, max_length=100_000)]
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
        consent: What is agreed to from now on, in place of what the rule says.
    """

    answer: ClassVar[type[Any]] = WatchFound

    watch_id: WatchParam
    consent: WatchConsentParam | Unset = UNSET


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
        failed: The parked files, oldest first; at most 1,000.
        total: How many there are.
        suspended: The watches that start no runs, with the reason of each.
    """

    failed: tuple[FailedRow, ...]
    total: int
    suspended: tuple[WatchRow, ...]


class WatchFailedList(_WatchRequest):
    """List what failed and why, of one watch or of all."""

    answer: ClassVar[type[Any]] = FailedFound

    watch_id: WatchParam | Unset = UNSET


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
