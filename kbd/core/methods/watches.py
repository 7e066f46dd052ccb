"""Methods about watched folders: rules, what landed, what failed, what would run."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.domain.watch_decisions import (
    AddWatch,
    DismissLandings,
    PauseWatch,
    RemoveWatch,
    ResumeWatch,
    RetryLandings,
)
from kbd.core.domain.watch_state import Watch, WatchStatus, carries_consent
from kbd.core.methods.rules import (
    asked_rule,
    checked_consent,
    checked_patterns,
    files_there,
    placed_rule,
    watched_folder,
)
from kbd.core.methods.shop import Shop
from kbd.core.server.dispatch import Handler, Session
from kbd.core.watch.dry_run import Trial, snapshot, trial
from kbd.core.workbench.watch_rows import Hints, failed_found, watch_info, watch_row
from kbd.errors import KbdError, NotFound, ValidationFailed
from kbd.events.watches import (
    LandingsDismissed,
    LandingsRetried,
    WatchRule,
)
from kbd.requests import watches as wire
from kbd.requests.base import Request
from kbd.requests.watched import WatchRow
from kbd.types import Seq, WatchId, WorkbenchId

__all__ = ["WatchMethods"]

T = TypeVar("T")

LOG = WorkbenchId("daemon")
"""Whose notifications tell of watches."""

LOOKS = 4
"""How many folders are looked through at once: a disk that hangs must not hold up others' work."""


class WatchMethods:
    """Adds, shows, pauses and removes watches, and lists what failed."""

    def __init__(self, shop: Shop) -> None:
        self._shop, self._parts = shop, shop.parts
        self._looks = anyio.CapacityLimiter(LOOKS)

    def table(self) -> dict[type[Request], Handler]:
        """Return what answers which request."""
        return {
            wire.WatchAdd: self.add,
            wire.WatchList: self.list,
            wire.WatchGet: self.get,
            wire.WatchTest: self.test,
            wire.WatchPause: self.pause,
            wire.WatchResume: self.resume,
            wire.WatchRemove: self.remove,
            wire.WatchFailedList: self.failed,
            wire.WatchFailedRetry: self.retry,
            wire.WatchFailedDismiss: self.dismiss,
        }

    async def add(self, request: wire.WatchAdd, session: Session) -> wire.WatchAdded:
        """Watch a folder; what is passed over is recorded together with the watch."""
        session.name(LOG)
        asked = asked_rule(request, self._parts.egress)
        rule = await self._look(partial(placed_rule, asked, self._parts.home))
        there = await self._look(partial(files_there, rule.folder, rule.patterns))
        passed = there if request.existing == "pass_over" else ()
        watch_id = WatchId(self._parts.clock.new_id())
        await self._shop.benches.daemon.submit(AddWatch(watch_id, rule, passed))
        return wire.WatchAdded(
            watch_id=watch_id, passed_over=len(passed), waiting=len(there) - len(passed)
        )

    def list(self, request: wire.WatchList, session: Session) -> wire.WatchesFound:
        """List all watches, oldest first."""
        del request
        session.name(LOG)
        return wire.WatchesFound(watches=tuple(self._row(watch) for watch in self._all()))

    def get(self, request: wire.WatchGet, session: Session) -> wire.WatchFound:
        """Show a watch in full."""
        session.name(LOG)
        return self._found(request.watch_id)

    async def pause(self, request: wire.WatchPause, session: Session) -> wire.WatchFound:
        """Start no runs until the watch is resumed."""
        session.name(LOG)
        await self._shop.benches.daemon.submit(PauseWatch(request.watch_id))
        return self._found(request.watch_id)

    async def resume(self, request: wire.WatchResume, session: Session) -> wire.WatchFound:
        """Start runs again."""
        session.name(LOG)
        model_id = self._watch(request.watch_id).rule.model_id
        consent = checked_consent(self._parts.egress, request.consent, model_id)
        await self._shop.benches.daemon.submit(ResumeWatch(request.watch_id, consent))
        return self._found(request.watch_id)

    async def remove(self, request: wire.WatchRemove, session: Session) -> wire.WatchRemoved:
        """Watch a folder no more."""
        session.name(LOG)
        await self._shop.benches.daemon.submit(RemoveWatch(request.watch_id))
        return wire.WatchRemoved()

    def failed(self, request: wire.WatchFailedList, session: Session) -> wire.FailedFound:
        """List what failed and which watches stand still, of one watch or of all."""
        session.name(LOG)
        named = request.watch_id
        watches = self._all() if isinstance(named, msgspec.UnsetType) else (self._watch(named),)
        return failed_found(watches, self._row)

    async def retry(
        self, request: wire.WatchFailedRetry, session: Session
    ) -> wire.WatchFailedChanged:
        """Work on parked files after all."""
        session.name(LOG)
        command = RetryLandings(request.watch_id, _numbers(request))
        outcome = await self._shop.benches.daemon.submit(command)
        retried = [event for event in outcome.events if isinstance(event, LandingsRetried)]
        return wire.WatchFailedChanged(landing_ids=retried[0].landings if retried else ())

    async def dismiss(
        self, request: wire.WatchFailedDismiss, session: Session
    ) -> wire.WatchFailedChanged:
        """Forget parked files."""
        session.name(LOG)
        command = DismissLandings(request.watch_id, _numbers(request))
        outcome = await self._shop.benches.daemon.submit(command)
        gone = [event for event in outcome.events if isinstance(event, LandingsDismissed)]
        return wire.WatchFailedChanged(landing_ids=gone[0].landings if gone else ())

    async def test(self, request: wire.WatchTest, session: Session) -> wire.WatchTested:
        """Show what would run, without running it."""
        session.name(LOG)
        watch, rule = await self._meant(request)
        model_id, of_model = self._model(rule)
        problems = [*of_model]
        if watch is not None and watch.status is not WatchStatus.ACTIVE:
            why = f": {watch.reason}" if watch.reason else ""
            problems.append(f"the watch is {watch.status.value}{why}; resume it first")
        watching = snapshot(self._shop.benches.daemon.state.watching, watch)
        watch_id = watch.watch_id if watch is not None else None
        limit_bytes = self._parts.settings.limits.file_bytes
        try:
            tried = await self._look(partial(trial, watching, watch_id, rule, limit_bytes))
        except KbdError as error:
            problems.append(error.message)
            tried = Trial()
        problems += tried.problems
        hourly = rule.limits.runs_per_hour
        if tried.run_count > hourly:
            problems.append(
                f"after {hourly} runs within an hour the watch is suspended until it is resumed"
            )
        return wire.WatchTested(
            files=tried.files,
            counts=tried.counts,
            runs=tried.runs,
            run_count=tried.run_count,
            model_id=model_id,
            consented=bool(model_id) and self._agreed(rule, model_id),
            problems=tuple(problems),
        )

    async def _meant(self, request: wire.WatchTest) -> tuple[Watch | None, WatchRule]:
        """Return the watch and its rule, or none and the rule that is only tried."""
        if not isinstance(request.watch_id, msgspec.UnsetType):
            watch = self._watch(request.watch_id)
            return watch, watch.rule
        if isinstance(request.folder, msgspec.UnsetType):
            msg = "name what is to be tried: a watch by its watch_id, or a folder"
            raise ValidationFailed(msg)
        model_id = None if isinstance(request.model_id, msgspec.UnsetType) else request.model_id
        if model_id is not None:
            self._parts.egress.models.provider(model_id)
        patterns = checked_patterns(request.patterns)
        folder = await self._look(partial(watched_folder, request.folder, self._parts.home))
        return None, WatchRule("", folder, "", patterns, model_id, request.mode)

    def _model(self, rule: WatchRule) -> tuple[str, tuple[str, ...]]:
        """Return the model of a rule's runs, or "", and why they would not get far with it."""
        egress = self._parts.egress
        try:
            model_id = rule.model_id or self._shop.default_model()
            egress.check_set_up(model_id)
        except KbdError as error:
            return self._shop.model_shown(rule.model_id), (error.message,)
        if self._agreed(rule, model_id):
            return model_id, ()
        endpoint = egress.endpoint(model_id)
        problem = (
            f"what lands would be sent to {endpoint or model_id}, and nobody has agreed to that: "
            "the rule needs consent"
        )
        return model_id, (problem,)

    def _agreed(self, rule: WatchRule, model_id: str) -> bool:
        """Tell whether what lands may go to a model."""
        try:
            egress = self._parts.egress
            if egress.mode == "allow_all" or not egress.needs_consent(model_id):
                return True
            return carries_consent(rule, model_id, egress.endpoint(model_id))
        except KbdError:
            return False

    async def _look(self, look: Callable[[], T]) -> T:
        """Look at the disk in a thread that nobody else waits for."""
        return await run_sync(look, limiter=self._looks, abandon_on_cancel=True)

    def _all(self) -> tuple[Watch, ...]:
        watches = self._shop.benches.daemon.state.watching.watches.values()
        return tuple(each for each in watches if each.status is not WatchStatus.REMOVED)

    def _watch(self, watch_id: WatchId) -> Watch:
        for watch in self._all():
            if watch.watch_id == watch_id:
                return watch
        msg = f"there is no watch {watch_id}"
        raise NotFound(msg)

    def _row(self, watch: Watch) -> WatchRow:
        return watch_row(watch, *self._seen(watch.watch_id))

    def _found(self, watch_id: WatchId) -> wire.WatchFound:
        watch = self._watch(watch_id)
        return wire.WatchFound(watch=watch_info(watch, *self._seen(watch_id)))

    def _seen(self, watch_id: WatchId) -> tuple[Hints, str]:
        """Return how a folder's changes are noticed, and what keeps files from landing, or ""."""
        health = self._shop.watcher.health(watch_id)
        # That a folder is looked through again and again has its reason, too: that is no trouble.
        return health.hints, health.reason if health.hints != "scan" else ""


def _numbers(request: wire.WatchFailedRetry | wire.WatchFailedDismiss) -> tuple[Seq, ...] | None:
    """Return which parked files are meant; None for all of the watch."""
    numbers = request.landing_ids
    return None if isinstance(numbers, msgspec.UnsetType) else numbers
