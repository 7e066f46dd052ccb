"""Retention: what holds a workbench, since when it is settled, and when it is due.

Nothing that a person has not seen is ever archived or removed by a rule: in doubt it stays. What
counts as seen is in `find_hold`; docs/reference/retention.md has it as a table.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType

import msgspec

from kbd.core.domain.approval_decisions import pending_approvals
from kbd.core.domain.daemon_state import DaemonState, KnownWorkbench
from kbd.core.domain.run_state import RunStatus
from kbd.core.domain.watch_state import LandingStage, Watch
from kbd.core.domain.workbench_state import SeenBy, WorkbenchState
from kbd.events.codec import format_time
from kbd.types import WatchId, WorkbenchId

__all__ = [
    "DAY_US",
    "NOTICE_US",
    "UNREAD",
    "Hold",
    "Policies",
    "Settling",
    "due_at_us",
    "find_hold",
    "hold_of_known",
    "landing_holds",
    "may_be_dismissed",
    "settling_of",
    "why_archived",
    "why_removed",
]

DAY_US = 86_400_000_000
"""A day, in microseconds."""

NOTICE_US = DAY_US
"""How long a removal is announced in the daemon's log before it happens."""


class Hold(StrEnum):
    """Why a workbench is neither archived nor removed by a rule."""

    UNREAD = "unread"
    DAMAGED = "damaged"
    RUN = "run"
    DRAFT = "draft"
    REVIEW = "review"
    PUBLISH = "publish"
    DECISION = "decision"
    LANDING_WAITING = "landing_waiting"
    LANDING_RUNNING = "landing_running"
    LANDING_RETRYING = "landing_retrying"
    LANDING_PARKED = "landing_parked"
    NEW_FILES = "new_files"
    MESSAGE = "message"
    NO_RESULT = "no_result"
    FAILED = "failed"
    CANCELED = "canceled"
    INTERRUPTED = "interrupted"
    DECLINED = "declined"
    UNSEEN = "unseen"
    RULE = "rule"

    @property
    def reason(self) -> str:
        """The same for people."""
        return _REASONS[self]


_REASONS: Mapping[Hold, str] = MappingProxyType(
    {
        Hold.UNREAD: "its log was not read yet",
        Hold.DAMAGED: "its log, or the daemon's, is damaged",
        Hold.RUN: "a run is under way",
        Hold.DRAFT: "a draft is open",
        Hold.REVIEW: "what was made of a file that landed was not reviewed: its draft is open",
        Hold.PUBLISH: "a publish or a copy is under way",
        Hold.DECISION: "a decision waits for a person",
        Hold.LANDING_WAITING: "a file that landed waits to be worked on",
        Hold.LANDING_RUNNING: "a file that landed is worked on",
        Hold.LANDING_RETRYING: "a file that landed failed and is tried again",
        Hold.LANDING_PARKED: "a file that landed failed: retry or dismiss it (kbd watch failed)",
        Hold.NEW_FILES: "files were added that nothing was done with",
        Hold.MESSAGE: "a message was not answered",
        Hold.NO_RESULT: "it never had a result",
        Hold.FAILED: "its last run failed",
        Hold.CANCELED: "its last run was canceled",
        Hold.INTERRUPTED: "its last run was interrupted",
        Hold.DECLINED: "its last run was declined",
        Hold.UNSEEN: "nobody published, discarded or undid its last result",
        Hold.RULE: "a rule without a retention of its own published it, and no person looked at it",
    }
)

_LANDINGS: Mapping[LandingStage, Hold] = MappingProxyType(
    {
        LandingStage.PARKED: Hold.LANDING_PARKED,
        LandingStage.RETRYING: Hold.LANDING_RETRYING,
        LandingStage.WAITING: Hold.LANDING_WAITING,
        LandingStage.RUNNING: Hold.LANDING_RUNNING,
    }
)
"""Of several files of one workbench the furthest down counts: it is what happens next."""

_DISMISSIBLE = frozenset(
    (
        Hold.NEW_FILES, Hold.MESSAGE, Hold.NO_RESULT, Hold.FAILED, Hold.CANCELED, Hold.INTERRUPTED,
        Hold.DECLINED,
    )
)  # fmt: skip


class Settling(msgspec.Struct, frozen=True):
    """How settled a workbench is, by its own log.

    Args:
        hold: What holds it; None if nothing does.
        since_us: Its last event.
        seen_by: Who looked at its newest result.
    """

    hold: Hold | None
    since_us: int
    seen_by: SeenBy


UNREAD = Settling(Hold.UNREAD, 0, "")
"""Of a workbench whose log was not read yet."""


def may_be_dismissed(hold: Hold) -> bool:
    """Return whether a person who dismisses all that landed lets go of what holds a workbench."""
    return hold in _DISMISSIBLE


def settling_of(state: WorkbenchState, damage: str = "") -> Settling:
    """Return how settled a workbench is.

    Args:
        state: Its state.
        damage: Why its log can only be read; "" if it is whole.
    """
    hold = Hold.DAMAGED if damage else find_hold(state)
    return Settling(hold, max(state.updated_at_us, 0), state.seen_by)


def find_hold(state: WorkbenchState) -> Hold | None:
    """Return what in its own log holds a workbench; None if it is settled.

    The first of these that is so: something is under way; something waits for a person; something
    was begun and came to no result; nobody has looked at the result.
    """
    if state.active_run() is not None:
        return Hold.RUN
    if state.publish is not None or state.effects:
        return Hold.PUBLISH
    if state.draft is not None:
        return Hold.DRAFT
    if any(pending_approvals(state)):
        return Hold.DECISION
    return _unfinished(state) or (None if state.seen_by else Hold.UNSEEN)


def _unfinished(state: WorkbenchState) -> Hold | None:
    """Return what was begun and came to no result."""
    run = next((each for each in reversed(state.runs) if not each.undone), None)
    match run.status if run is not None else None:
        case RunStatus.FAILED:
            return Hold.FAILED
        case RunStatus.CANCELLED:
            return Hold.CANCELED
        case RunStatus.INTERRUPTED:
            return Hold.INTERRUPTED
        case RunStatus.DECLINED:
            return Hold.DECLINED
        case _:
            pass
    last = state.said.last
    if last is not None and last.role == "user":
        return Hold.MESSAGE
    # What a person published of their own edits is a result, too.
    if not state.runs and not state.publishes:
        return Hold.NO_RESULT
    return Hold.NEW_FILES if state.has_new_files else None


class Policies(msgspec.Struct, frozen=True):
    """After how long what is archived and removed, by whose word.

    Args:
        archive_after_days: What `[retention]` says; 0 for never.
        remove_after_days: Likewise, after the archiving.
        watches: The watched folders by id.
    """

    archive_after_days: int
    remove_after_days: int
    watches: Mapping[WatchId, Watch]

    def own(self, watch_id: WatchId) -> Watch | None:
        """Return the watch if its rule has a retention of its own."""
        watch = self.watches.get(watch_id)
        return watch if watch is not None and watch.retention is not None else None

    def scope(self, watch_id: WatchId) -> WatchId:
        """Return whose word counts for what a watch made; "" for `[retention]`."""
        return watch_id if self.own(watch_id) is not None else WatchId("")

    def scopes(self) -> tuple[WatchId, ...]:
        """Return all whose word counts, `[retention]` as "" first."""
        return (WatchId(""), *(each for each in self.watches if self.own(each) is not None))

    def archive_days(self, scope: WatchId) -> int:
        """Return after how many days a settled workbench is archived; 0 for never."""
        rule = self._rule(scope)
        return self.archive_after_days if rule is None else rule[0]

    def remove_days(self, scope: WatchId) -> int:
        """Return after how many days an archive is removed; 0 for never."""
        rule = self._rule(scope)
        return self.remove_after_days if rule is None else rule[1]

    def _rule(self, scope: WatchId) -> tuple[int, int] | None:
        watch = self.own(scope)
        if watch is None or watch.retention is None:
            return None
        # Nothing of a rule that came with a backup is in force before a person resumes it.
        own = watch.retention
        return (0, 0) if watch.restored else (own.archive_after_days, own.remove_after_days)

    def named(self, scope: WatchId) -> str:
        """Return whose word it is, as people know it."""
        watch = self.own(scope)
        return "[retention]" if watch is None else f"watch {watch.rule.name!r}"


def hold_of_known(
    known: KnownWorkbench, settling: Settling, policies: Policies, watch_id: WatchId
) -> Hold | None:
    """Return what holds a workbench, with what the daemon's log says of it.

    Args:
        known: It, as that log knows it.
        settling: How settled it is by its own log.
        policies: Whose word counts.
        watch_id: The watch that made it; "" for none.
    """
    if known.doubt or known.damage:
        return Hold.DAMAGED
    hold, is_dismissed = settling.hold, known.dismissed_at_us >= settling.since_us > 0
    if hold is Hold.DRAFT and watch_id:
        return Hold.REVIEW
    if hold is not None:
        return None if is_dismissed and may_be_dismissed(hold) else hold
    # That a rule publishes by itself says nothing of what may go: only a retention of its own does.
    own = policies.own(watch_id)
    is_said = own is not None and not own.restored
    return None if settling.seen_by == "person" or is_said else Hold.RULE


def landing_holds(state: DaemonState) -> Mapping[WorkbenchId, Hold]:
    """Return what holds the workbenches of landed files that are not done, by how far they are."""
    landings = [
        landing
        for watch in state.watching.watches.values()
        for landing in watch.landings.values()
        if landing.workbench_id
    ]
    stages = list(_LANDINGS)
    landings.sort(key=lambda each: stages.index(each.stage))
    return {landing.workbench_id: _LANDINGS[landing.stage] for landing in landings}


def due_at_us(since_us: int, days: int) -> int:
    """Return when something is due that rests since a moment; 0 for never."""
    return since_us + days * DAY_US if days else 0


def why_archived(policies: Policies, scope: WatchId, settling: Settling) -> str:
    """Return for people why a workbench is archived by a rule."""
    days, since = policies.archive_days(scope), format_time(settling.since_us)[:10]
    seen = {"person": "seen by a person", "rule": "published by its rule", "": "dismissed"}
    return (
        f"{policies.named(scope)} archive_after_days = {days}: {seen[settling.seen_by]},"
        f" unchanged since {since}"
    )


def why_removed(policies: Policies, scope: WatchId, archived_at_us: int) -> str:
    """Return for people why an archive is removed by a rule."""
    days, at = policies.remove_days(scope), format_time(archived_at_us)[:10]
    return f"{policies.named(scope)} remove_after_days = {days}: archived on {at}"
