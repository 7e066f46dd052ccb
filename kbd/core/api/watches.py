"""Methods of watched folders: rules, what landed, what failed, dry runs.

A rule is checked before it is recorded, so that one that is taken can be carried out. What looks at
the disk blocks: call it in a thread.
"""

import os
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

import anyio
import msgspec
from anyio.to_thread import run_sync

from kbd.core.domain.recipe_state import saved_recipe
from kbd.core.domain.watch_decisions import (
    AddWatch,
    DismissLandings,
    PauseWatch,
    RemoveWatch,
    ResumeWatch,
    RetryLandings,
    unconfirmed,
)
from kbd.core.domain.watch_state import Watch, WatchStatus, carries_consent
from kbd.core.gateway.gateway import Egress
from kbd.core.runtime.held_folder import hold_named, lies_within, real_path
from kbd.core.runtime.paths import Home
from kbd.core.server.dispatch import Handler, Session
from kbd.core.sessions.api_context import ApiContext
from kbd.core.sessions.recipes import request_of_recipe
from kbd.core.sessions.workbenches import Workbenches
from kbd.core.watch.dry_run import DryRun, copy_watch_state, dry_run
from kbd.core.watch.tree import NamePatterns, WatchedTree
from kbd.core.watch.watcher import Watcher
from kbd.core.workbench.destination import (
    check_path_text,
    describe_error,
    hold_destination,
    is_folder_path,
    resolve_destination,
)
from kbd.core.workbench.rows import Hints, failed_landings, watch_info, watch_row
from kbd.errors import KbdError, NotFound, ValidationFailed
from kbd.events.base import RecordedReadAs
from kbd.events.shortages import raise_shortage
from kbd.events.watches import (
    FailurePolicy,
    LandingsDismissed,
    LandingsRetried,
    PassedFile,
    RuleConfirmation,
    RuleLimits,
    RuleRecipe,
    RuleRetention,
    WatchConsent,
    WatchRule,
)
from kbd.requests import watches as wire
from kbd.requests.base import Request, Unset
from kbd.requests.watches import (
    RetentionParam,
    WatchAdd,
    WatchConfirmParam,
    WatchConsentParam,
    WatchRow,
)
from kbd.types import Seq, WatchId, WorkbenchId

__all__ = [
    "WatchMethods",
    "matching_files",
    "parse_rule",
    "resolve_rule",
    "resolve_watched_folder",
    "validate_consent",
    "validate_patterns",
]

_T = TypeVar("_T")


def parse_rule(request: WatchAdd, egress: Egress) -> WatchRule:
    """Parse the rule that a client asks for; nothing on disk is read yet.

    Raises:
        ValidationFailed: Something in it makes no sense.
        NotFound: There is no such provider or model.
        ProviderNotConfigured: The model's provider is disabled.
    """
    model_id = _none_if_unset(request.model_id)
    if model_id is not None:
        # For its refusal alone: no rule is recorded for a model whose provider does not exist.
        egress.models.provider(model_id)
        egress.models.check_model_enabled(model_id)
    asks_model = not request.recipe or request.otherwise == "model"
    if asks_model and not request.prompt.strip():
        msg = "the prompt is empty: say what is to be done with what lands"
        raise ValidationFailed(msg)
    if request.otherwise == "model" and not request.recipe:
        msg = 'otherwise is of rules with a recipe: name one, or leave "otherwise" out'
        raise ValidationFailed(msg)
    deliver_to = _none_if_unset(request.deliver_to)
    if deliver_to is not None and request.publish != "auto":
        msg = (
            "results go to deliver_to when they are published, and this rule leaves that to a "
            'person: set publish to "auto", or leave deliver_to out'
        )
        raise ValidationFailed(msg)
    # Refused, and not blanked out like other keys in the log: such a command would not work.
    if any(map(egress.contains_key, request.on_outcome)):
        msg = "on_outcome holds an API key, which the log may not: have the program get it itself"
        raise ValidationFailed(msg)
    return WatchRule(
        # Normalized first: a path that ends in a slash has an empty last part.
        name=_none_if_unset(request.name) or os.path.basename(os.path.normpath(request.folder)),
        folder=request.folder,
        prompt=request.prompt,
        patterns=validate_patterns(request.patterns),
        model_id=model_id,
        mode=request.mode,
        quiet_s=request.quiet_s,
        deliver_to=deliver_to,
        publish=request.publish,
        limits=RuleLimits(**msgspec.structs.asdict(request.limits)),
        on_failure=FailurePolicy(**msgspec.structs.asdict(request.on_failure)),
        on_outcome=request.on_outcome,
        consent=validate_consent(egress, request.consent, model_id),
        read_as=RecordedReadAs.of(request.read_as),
        recipe=RuleRecipe(request.recipe, request.otherwise) if request.recipe else None,
    )


def _parse_retention(asked: RetentionParam | Unset) -> RuleRetention | None:
    """Parse a rule's own retention.

    Raises:
        ValidationFailed: Archives are to be removed, and none are made.
    """
    if isinstance(asked, msgspec.UnsetType):
        return None
    if asked.remove_after_days and not asked.archive_after_days:
        msg = "only archives are removed: remove_after_days needs archive_after_days"
        raise ValidationFailed(msg)
    return RuleRetention(asked.archive_after_days, asked.remove_after_days)


def resolve_rule(rule: WatchRule, home: Home) -> WatchRule:
    """Resolve a rule's folders, without links; the one for results is made. Blocks.

    Raises:
        ValidationFailed: A folder is not one that the rule can be for, or its program is not there.
        NotFound: The folder to be watched is not there.
    """
    _check_program(rule.on_outcome)
    folder = resolve_watched_folder(rule.folder, home)
    # Last, for it makes the folder: a rule that is refused leaves none behind.
    deliver_to = rule.deliver_to and _resolve_results_folder(rule.deliver_to, home)
    return msgspec.structs.replace(rule, folder=folder, deliver_to=deliver_to)


def resolve_watched_folder(folder: str, home: Home) -> str:
    """Resolve a folder that may be watched, without links in its path. Blocks.

    Raises:
        ValidationFailed: It is no folder, or kbd's home is in it, or it in the home: kbd would
            watch itself work.
        NotFound: It is not there.
    """
    if not is_folder_path(folder):
        msg = "folder must be an absolute path"
        raise ValidationFailed(msg)
    try:
        with hold_named(folder) as held:
            real = check_path_text(real_path(held, folder), "folder")
            # Compared by what they are, not by how they are called: the home could be watched
            # under another name.
            with hold_named(str(home.folder)) as own:
                is_near = lies_within(held, home.folder) or lies_within(own, Path(real))
    except NotADirectoryError:
        msg = "what is to be watched is not a folder"
        raise ValidationFailed(msg) from None
    except OSError as error:
        raise_shortage(error)
        msg = "the folder to be watched is not there, or cannot be reached: make it first"
        raise NotFound(msg) from None
    if is_near:
        msg = "the home of kbd and a watched folder must lie beside each other: name another folder"
        raise ValidationFailed(msg)
    return real


def matching_files(folder: str, patterns: tuple[str, ...]) -> tuple[PassedFile, ...]:
    """Return the files of a folder that a rule would take. Blocks.

    Raises:
        NotFound: The folder is not there.
        FileReadFailed: It cannot be read.
    """
    taken = NamePatterns(patterns)
    with WatchedTree(folder) as tree:
        return tuple(
            PassedFile(found.path, found.signature)
            for found in tree.walk()
            if found.kind == "file" and taken.takes(found.path)
        )


def validate_patterns(patterns: tuple[str, ...]) -> tuple[str, ...]:
    """Validate patterns of files below a folder.

    Raises:
        ValidationFailed: One of them could not.
    """
    for pattern in patterns:
        path = pattern.removeprefix("!")
        if not path or path.startswith("/") or ".." in path.split("/") or "\0" in path:
            msg = (
                f"the pattern {pattern!r} is for no file below the folder: a pattern is for names "
                "(`*.txt`) or for paths below the folder (`letters/*.txt`), without `..`"
            )
            raise ValidationFailed(msg)
    return patterns


def validate_consent(
    egress: Egress, asked: WatchConsentParam | Unset, model_id: str | None
) -> WatchConsent | None:
    """Validate the consent that a person gave.

    Args:
        egress: Knows the providers.
        asked: The consent as it was sent.
        model_id: The rule's model, if it names one.

    Raises:
        ValidationFailed: It is for another model than the rule's, or its parts do not fit.
        NotFound: There is no such provider or model.
    """
    if isinstance(asked, msgspec.UnsetType):
        return None
    if asked.provider_id != asked.model_id.partition(":")[0]:
        msg = f"{asked.model_id} is not a model of the provider {asked.provider_id}"
        raise ValidationFailed(msg)
    endpoint = egress.endpoint(asked.model_id)
    if model_id not in (None, asked.model_id):
        msg = f"the rule's model is {model_id}, and the consent is for {asked.model_id}"
        raise ValidationFailed(msg)
    return WatchConsent(asked.provider_id, asked.model_id, endpoint)


def _resolve_results_folder(asked: str, home: Home) -> str:
    real = resolve_destination(asked, home.folder, "deliver_to").real
    try:
        with hold_destination(real, "", home.folder, make=True) as held:
            is_writable = os.access(".", os.W_OK | os.X_OK, dir_fd=held)
    except OSError as error:
        raise_shortage(error)
        msg = f"deliver_to is not a folder and cannot be made one: {describe_error(error)}"
        raise ValidationFailed(msg) from None
    if not is_writable:
        msg = "deliver_to cannot be written to: name another folder, or change its permissions"
        raise ValidationFailed(msg)
    return real


def _check_program(command: tuple[str, ...]) -> None:
    if not command:
        return
    program = command[0]
    # Relative paths are refused: the daemon's current folder is nobody's.
    is_path = "/" in program
    if any("\0" in part for part in command) or (is_path and not program.startswith("/")):
        msg = "on_outcome begins with the name of a program, or its absolute path"
        raise ValidationFailed(msg)
    if shutil.which(program) is None:
        msg = (
            f"the program {program!r} of on_outcome is not found, or may not be run: the daemon "
            "looks for names in its own PATH"
        )
        raise ValidationFailed(msg)


def _as_added(rule: WatchRule) -> WatchAdd:
    """Return the request that would make a rule: it has the limits that each part must keep.

    Raises:
        ValidationFailed: No request makes such a rule.
    """
    given = msgspec.to_builtins(rule)
    # Which consent holds, the request says that resumes it.
    fields = {name: value for name, value in given.items() if name != "consent"}
    fields = {name: value for name, value in fields.items() if value is not None}
    if rule.recipe is not None:
        fields |= {"recipe": rule.recipe.name, "otherwise": rule.recipe.otherwise}
    try:
        return msgspec.convert(fields, WatchAdd)
    except msgspec.ValidationError as error:
        msg = f"the rule of the backup is none that can be made: {error}"
        raise ValidationFailed(msg) from None


def _confirmation(asked: WatchConfirmParam | Unset) -> RuleConfirmation:
    if isinstance(asked, msgspec.UnsetType):
        return RuleConfirmation()
    return RuleConfirmation(
        on_outcome=asked.on_outcome,
        publish=_none_if_unset(asked.publish) or "",
        deliver_to=_none_if_unset(asked.deliver_to),
    )


def _none_if_unset(value: _T | Unset) -> _T | None:
    return None if isinstance(value, msgspec.UnsetType) else value


T = TypeVar("T")

DAEMON_LOG = WorkbenchId("daemon")
"""Whose notifications tell of watches."""

MAX_CONCURRENT_SCANS = 4
"""How many folders are looked through at once: a disk that hangs must not hold up others' work."""


class WatchMethods:
    """Handlers of watches: add, show, pause, remove, retry, dry run."""

    def __init__(self, context: ApiContext, workbenches: Workbenches, watcher: Watcher) -> None:
        self._context, self._workbenches, self._watcher = context, workbenches, watcher
        self._scan_threads = anyio.CapacityLimiter(MAX_CONCURRENT_SCANS)

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
        session.name(DAEMON_LOG)
        asked = parse_rule(request, self._context.egress)
        retention = _parse_retention(request.retention)
        if asked.recipe is not None:
            saved_recipe(self._workbenches.daemon.state.recipes, asked.recipe.name)
        # Before anything is recorded: the log holds only folders that are there, without links.
        rule = await self._in_thread(partial(resolve_rule, asked, self._context.home))
        there = await self._in_thread(partial(matching_files, rule.folder, rule.patterns))
        # What comes after this look is not among them, so it lands.
        passed = there if request.existing == "pass_over" else ()
        watch_id = WatchId(self._context.clock.new_id())
        command = AddWatch(watch_id, rule, passed, retention)
        await self._workbenches.daemon.submit(command, session.actor)
        return wire.WatchAdded(
            watch_id=watch_id, passed_over=len(passed), waiting=len(there) - len(passed)
        )

    def list(self, request: wire.WatchList, session: Session) -> wire.WatchesFound:
        """List all watches, oldest first."""
        del request
        session.name(DAEMON_LOG)
        return wire.WatchesFound(watches=tuple(self._row(watch) for watch in self._all()))

    def get(self, request: wire.WatchGet, session: Session) -> wire.WatchFound:
        """Show a watch in full."""
        session.name(DAEMON_LOG)
        return self._watch_found(request.watch_id)

    async def pause(self, request: wire.WatchPause, session: Session) -> wire.WatchFound:
        """Start no runs until the watch is resumed."""
        session.name(DAEMON_LOG)
        await self._workbenches.daemon.submit(PauseWatch(request.watch_id), session.actor)
        return self._watch_found(request.watch_id)

    async def resume(self, request: wire.WatchResume, session: Session) -> wire.WatchFound:
        """Start runs again; the rule of a restored watch is checked as if it were added now."""
        session.name(DAEMON_LOG)
        watch, confirmed = self._watch(request.watch_id), _confirmation(request.confirm)
        consent = validate_consent(self._context.egress, request.consent, watch.rule.model_id)
        # What nobody confirmed is told first: until then no folder that it names is touched.
        if watch.restored and not unconfirmed(watch.rule, confirmed):
            asked = parse_rule(_as_added(watch.rule), self._context.egress)
            rule = await self._in_thread(partial(resolve_rule, asked, self._context.home))
            if (rule.folder, rule.deliver_to) != (watch.rule.folder, watch.rule.deliver_to):
                msg = "a folder of this rule is a link by now: remove the watch, and add it anew"
                raise ValidationFailed(msg)
        command = ResumeWatch(request.watch_id, consent, confirmed)
        await self._workbenches.daemon.submit(command, session.actor)
        return self._watch_found(request.watch_id)

    async def remove(self, request: wire.WatchRemove, session: Session) -> wire.WatchRemoved:
        """Watch a folder no more."""
        session.name(DAEMON_LOG)
        await self._workbenches.daemon.submit(RemoveWatch(request.watch_id), session.actor)
        return wire.WatchRemoved()

    def failed(self, request: wire.WatchFailedList, session: Session) -> wire.FailedFound:
        """List what failed and which watches stand still, of one watch or of all.

        Raises:
            NotFound: There is no such watch.
            ValidationFailed: The cursor is none of this list.
        """
        session.name(DAEMON_LOG)
        named = request.watch_id
        watches = self._all() if isinstance(named, msgspec.UnsetType) else (self._watch(named),)
        return failed_landings(watches, self._row, request)

    async def retry(
        self, request: wire.WatchFailedRetry, session: Session
    ) -> wire.WatchFailedChanged:
        """Work on parked files after all."""
        session.name(DAEMON_LOG)
        command = RetryLandings(request.watch_id, _parse_landing_ids(request))
        outcome = await self._workbenches.daemon.submit(command, session.actor)
        retried = [event for event in outcome.events if isinstance(event, LandingsRetried)]
        return wire.WatchFailedChanged(landing_ids=retried[0].landings if retried else ())

    async def dismiss(
        self, request: wire.WatchFailedDismiss, session: Session
    ) -> wire.WatchFailedChanged:
        """Forget parked files."""
        session.name(DAEMON_LOG)
        command = DismissLandings(request.watch_id, _parse_landing_ids(request))
        outcome = await self._workbenches.daemon.submit(command, session.actor)
        gone = [event for event in outcome.events if isinstance(event, LandingsDismissed)]
        return wire.WatchFailedChanged(landing_ids=gone[0].landings if gone else ())

    async def test(self, request: wire.WatchTest, session: Session) -> wire.WatchTested:
        """Show what would run, without running it."""
        session.name(DAEMON_LOG)
        watch, rule = await self._rule_to_test(request)
        model_id, of_model = self._model(rule)
        problems = [*of_model]
        if watch is not None and watch.status is not WatchStatus.ACTIVE:
            why = f": {watch.reason}" if watch.reason else ""
            problems.append(f"the watch is {watch.status.value}{why}; resume it first")
        watching = copy_watch_state(self._workbenches.daemon.state.watching, watch)
        watch_id = watch.watch_id if watch is not None else None
        limit_bytes = self._context.settings.limits.file_bytes
        try:
            tried = await self._in_thread(partial(dry_run, watching, watch_id, rule, limit_bytes))
        except KbdError as error:
            problems.append(error.message)
            tried = DryRun()
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
            consented=bool(model_id) and self._has_consent(rule, model_id),
            problems=tuple(problems),
        )

    async def _rule_to_test(self, request: wire.WatchTest) -> tuple[Watch | None, WatchRule]:
        """Return the watch and its rule, or none and the rule that is only tried."""
        if not isinstance(request.watch_id, msgspec.UnsetType):
            watch = self._watch(request.watch_id)
            rule = watch.rule
            return watch, msgspec.structs.replace(rule, consent=None) if watch.restored else rule
        if isinstance(request.folder, msgspec.UnsetType):
            msg = "name what is to be tried: a watch by its watch_id, or a folder"
            raise ValidationFailed(msg)
        model_id = None if isinstance(request.model_id, msgspec.UnsetType) else request.model_id
        if model_id is not None:
            self._context.egress.models.provider(model_id)
        patterns = validate_patterns(request.patterns)
        folder = await self._in_thread(
            partial(resolve_watched_folder, request.folder, self._context.home)
        )
        return None, WatchRule("", folder, "", patterns, model_id, request.mode)

    def _model(self, rule: WatchRule) -> tuple[str, tuple[str, ...]]:
        """Return the model of a rule's runs, or "", and the problems that they would have."""
        egress = self._context.egress
        try:
            if rule.recipe is not None:
                asked = request_of_recipe(self._workbenches.daemon.state, rule.recipe.name)
                if rule.recipe.otherwise == "park":
                    return asked.model_id, ()
            model_id = rule.model_id or self._context.egress.models.default()
            egress.check_set_up(model_id)
        except KbdError as error:
            return self._context.egress.models.chosen_or_default(rule.model_id), (error.message,)
        if self._has_consent(rule, model_id):
            return model_id, ()
        endpoint = egress.endpoint(model_id)
        problem = (
            f"what lands would be sent to {endpoint or model_id}, and nobody has agreed to that: "
            "the rule needs consent"
        )
        return model_id, (problem,)

    def _has_consent(self, rule: WatchRule, model_id: str) -> bool:
        """Return whether consent covers sending what lands to a model."""
        if rule.recipe is not None and rule.recipe.otherwise == "park":
            return True
        try:
            egress = self._context.egress
            if egress.mode == "allow_all" or not egress.needs_consent(model_id):
                return True
            return carries_consent(rule, model_id, egress.endpoint(model_id))
        except KbdError:
            return False

    async def _in_thread(self, work: Callable[[], T]) -> T:
        """Run blocking disk work in a thread that nobody else waits for."""
        return await run_sync(work, limiter=self._scan_threads, abandon_on_cancel=True)

    def _all(self) -> tuple[Watch, ...]:
        daemon = self._workbenches.daemon
        watches = daemon.state.watching.watches.values()
        there = tuple(each for each in watches if each.status is not WatchStatus.REMOVED)
        if (damage := daemon.journal.log.damage) is None:
            return there
        # They stand still whatever the readable part of the log says, and no resume helps.
        still = {"status": WatchStatus.SUSPENDED, "code": damage.code, "reason": damage.message}
        return tuple(msgspec.structs.replace(each, **still) for each in there)

    def _watch(self, watch_id: WatchId) -> Watch:
        for watch in self._all():
            if watch.watch_id == watch_id:
                return watch
        msg = f"there is no watch {watch_id}"
        raise NotFound(msg)

    def _row(self, watch: Watch) -> WatchRow:
        return watch_row(watch, *self._folder_health(watch.watch_id))

    def _watch_found(self, watch_id: WatchId) -> wire.WatchFound:
        watch = self._watch(watch_id)
        return wire.WatchFound(watch=watch_info(watch, *self._folder_health(watch_id)))

    def _folder_health(self, watch_id: WatchId) -> tuple[Hints, str]:
        """Return how a folder's changes are noticed, and what keeps files from landing, or ""."""
        health = self._watcher.health(watch_id)
        # That a folder is looked through again and again has its reason, too: that is no trouble.
        return health.hints, health.reason if health.hints != "scan" else ""


def _parse_landing_ids(
    request: wire.WatchFailedRetry | wire.WatchFailedDismiss,
) -> tuple[Seq, ...] | None:
    """Return which parked files are meant; None for all of the watch."""
    numbers = request.landing_ids
    return None if isinstance(numbers, msgspec.UnsetType) else numbers
