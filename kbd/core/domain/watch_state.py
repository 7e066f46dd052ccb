"""State of watched folders: the rule of each, what waits, what runs, what is parked."""

from enum import StrEnum

import msgspec

from kbd.events.watches import WatchRule
from kbd.types import RunId, Seq, WatchId, WorkbenchId

__all__ = [
    "HOUR_US",
    "Ended",
    "Landing",
    "LandingStage",
    "Start",
    "Watch",
    "WatchStatus",
    "Watching",
    "Written",
    "carries_consent",
]

HOUR_US = 3_600_000_000
"""The time over which a rule's runs are counted."""


class WatchStatus(StrEnum):
    """Whether a watch starts runs; what lands is recorded in all but the last."""

    ACTIVE = "active"
    PAUSED = "paused"
    SUSPENDED = "suspended"
    REMOVED = "removed"


class LandingStage(StrEnum):
    """How far a landed file is; one that is done is no landing any more."""

    WAITING = "waiting"
    RUNNING = "running"
    RETRYING = "retrying"
    PARKED = "parked"


class Landing(msgspec.Struct):
    """A landed file that is not done.

    Args:
        landing_id: The number of its `FileLanded`.
        path: Its path below the folder.
        sha256: The hash of its copy; "" if there is none.
        size_bytes: Its size.
        depth: How deep in a chain of rules.
        landed_at_us: When it was recorded.
        stage: How far it is.
        group: The landings of its last run, itself among them; () before the first.
        workbench_id: Where that run is; "" before the first.
        run_id: The run, as far as one is known.
        attempt: How many attempts were begun in that workbench.
        pardoned: How many of them do not count as retries any more: a person asked for another.
        retry_at_us: When it is tried again, while it is retrying.
        code: Why it failed last.
        message: The same for people.
    """

    landing_id: Seq
    path: str
    sha256: str
    size_bytes: int
    depth: int
    landed_at_us: int
    stage: LandingStage = LandingStage.WAITING
    group: tuple[Seq, ...] = ()
    workbench_id: WorkbenchId = WorkbenchId("")
    run_id: RunId = RunId("")
    attempt: int = 0
    pardoned: int = 0
    retry_at_us: int = 0
    code: str = ""
    message: str = ""


class Ended(msgspec.Struct, frozen=True):
    """An outcome: of a run on landed files, or of files that came to none.

    Args:
        landings: Their numbers.
        paths: Their paths below the folder.
        outcome: "published", "review", "unchanged", "failed", "moved" or "own".
        ended_at_us: When it was recorded.
        workbench_id: Where the run is; "" if there was none.
        run_id: The run.
        code: Why it failed.
        message: The same for people; if nothing changed, what the run said.
        delivered: The paths of the copies in `deliver_to`.
    """

    landings: tuple[Seq, ...]
    paths: tuple[str, ...]
    outcome: str
    ended_at_us: int
    workbench_id: WorkbenchId = WorkbenchId("")
    run_id: RunId = RunId("")
    code: str = ""
    message: str = ""
    delivered: tuple[str, ...] = ()


class Start(msgspec.Struct, frozen=True):
    """A first attempt that was begun; what the limits of an hour count."""

    at_us: int
    paths: tuple[str, ...]


class Watch(msgspec.Struct):
    """A watched folder.

    Args:
        watch_id: Its id.
        rule: What is wanted; with the consent that came later.
        created_at_us: When it was added.
        status: Whether it starts runs.
        code: Why it is suspended.
        reason: Why it is paused or suspended.
        landings: What is not done, by number, oldest first.
        contents: Under which paths each content landed, by its hash.
        signatures: What each path looked like when it last landed or was passed over.
        starts: The runs of the hour before the newest, oldest first.
        recent: The newest outcomes, oldest first.
        due: Outcomes for which the rule's command was not run yet, oldest first.
        landed: How many files landed.
        ended: How many outcomes were recorded, by name.
    """

    watch_id: WatchId
    rule: WatchRule
    created_at_us: int
    status: WatchStatus = WatchStatus.ACTIVE
    code: str = ""
    reason: str = ""
    landings: dict[Seq, Landing] = {}
    contents: dict[str, tuple[str, ...]] = {}
    signatures: dict[str, str] = {}
    starts: list[Start] = []
    recent: list[Ended] = []
    due: list[Ended] = []
    landed: int = 0
    ended: dict[str, int] = {}

    def has_landed(self, path: str, sha256: str) -> bool:
        """Tell whether this content landed under this path before."""
        return path in self.contents.get(sha256, ())

    def in_stage(self, *stages: LandingStage) -> list[Landing]:
        """Return the landings that are so far, oldest first."""
        return [landing for landing in self.landings.values() if landing.stage in stages]


def carries_consent(rule: WatchRule, model_id: str, endpoint: str) -> bool:
    """Return whether a person agreed, with the rule, that what lands may go to a model.

    Args:
        rule: The rule.
        model_id: The model.
        endpoint: The host and port that it is at now.
    """
    given = rule.consent
    if given is None or given.endpoint not in ("", endpoint):
        return False
    return (given.provider_id, given.model_id) == (model_id.partition(":")[0], model_id)


class Written(msgspec.Struct, frozen=True):
    """That kbd wrote a content somewhere.

    Args:
        folder: Where.
        watch_id: The watch that delivered it, or "".
        depth: How deep in a chain of rules it was made.
    """

    folder: str
    watch_id: str
    depth: int


class Watching(msgspec.Struct):
    """All watched folders.

    Args:
        watches: By id, oldest first.
        written: What kbd wrote where people may watch, by the content's hash.
    """

    watches: dict[WatchId, Watch] = {}
    written: dict[str, tuple[Written, ...]] = {}

    def depth_of(self, sha256: str) -> int:
        """Return how deep in a chain of rules a landed content is; 1 for a person's."""
        return 1 + max((each.depth for each in self.written.get(sha256, ())), default=0)

    def is_own(self, sha256: str, folder: str, watch_id: WatchId) -> bool:
        """Tell whether kbd wrote this content into this folder, and not for this watch to take.

        What another watch delivered there is a link of a chain that somebody made on purpose.
        """
        return any(
            each.folder == folder and each.watch_id in ("", watch_id)
            for each in self.written.get(sha256, ())
        )
