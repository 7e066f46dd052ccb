"""Rows of watched folders, as clients see them: rules, landings, failures and their remedies."""

from collections.abc import Callable
from typing import Literal, assert_never, cast

import msgspec

from kbd.core.domain.watch_state import Ended, Landing, LandingStage, Watch, WatchStatus
from kbd.errors import (
    DiskFull,
    EgressConsentRequired,
    FileReadFailed,
    FileWriteFailed,
    ProviderNotConfigured,
    SandboxViolation,
)
from kbd.events.plain_form import format_time
from kbd.events.watches import WatchRule
from kbd.requests import watched as wire
from kbd.requests.watches import FailedFound

__all__ = ["MAX_LANDINGS", "Hints", "failed_landings", "watch_info", "watch_row"]

MAX_LANDINGS = 200
"""How many landings that are not done one answer tells of; the others are counted."""

MAX_OUTCOME_PATHS = 100
"""The most paths that are listed of one outcome."""

MAX_FAILED = 1000
"""How many parked files one answer tells of; the others are counted."""

Hints = Literal["system", "scan", "missing"]
"""As in `WatchRow`."""

Outcome = Literal["published", "review", "unchanged", "failed", "moved", "own"]
"""As in `OutcomeRow`."""


def watch_row(watch: Watch, hints: Hints, trouble: str) -> wire.WatchRow:
    """Return one line of the list of watches.

    Args:
        watch: The watch.
        hints: How changes of its folder are noticed.
        trouble: What keeps files from landing, or "".
    """
    return wire.WatchRow(
        watch_id=watch.watch_id,
        name=watch.rule.name,
        folder=watch.rule.folder,
        status=_status(watch),
        code=watch.code or msgspec.UNSET,
        reason=watch.reason or trouble or msgspec.UNSET,
        created_at=format_time(watch.created_at_us),
        hints=hints,
        landed=watch.landed,
        waiting=len(watch.in_stage(LandingStage.WAITING, LandingStage.RETRYING)),
        running=len(watch.in_stage(LandingStage.RUNNING)),
        failed=len(watch.in_stage(LandingStage.PARKED)),
        outcomes=dict(watch.ended),
    )


def watch_info(watch: Watch, hints: Hints, trouble: str) -> wire.WatchInfo:
    """Return one watch in full; arguments as for `watch_row`."""
    landings = tuple(watch.landings.values())[:MAX_LANDINGS]
    return wire.WatchInfo(
        **msgspec.structs.asdict(watch_row(watch, hints, trouble)),
        rule=_rule_row(watch.rule),
        landings=tuple(_landing_row(landing) for landing in landings),
        recent=tuple(_outcome(ended) for ended in reversed(watch.recent)),
    )


def failed_landings(
    watches: tuple[Watch, ...], row: Callable[[Watch], wire.WatchRow]
) -> FailedFound:
    """Return the failed landings of watches, each with its remedies, and the stalled watches.

    Args:
        watches: The watches.
        row: Makes the line of one.
    """
    parked = [(each, watch) for watch in watches for each in watch.in_stage(LandingStage.PARKED)]
    parked.sort(key=lambda pair: pair[0].landing_id)
    return FailedFound(
        failed=tuple(_failed_row(watch, landing) for landing, watch in parked[:MAX_FAILED]),
        total=len(parked),
        suspended=tuple(row(watch) for watch in watches if _is_stalled(watch)),
    )


def _failed_row(watch: Watch, landing: Landing) -> wire.FailedRow:
    return wire.FailedRow(
        **msgspec.structs.asdict(_landing_row(landing)),
        watch_id=watch.watch_id,
        watch_name=watch.rule.name,
        actions=_actions(watch, landing),
    )


def _is_stalled(watch: Watch) -> bool:
    """Return whether a watch starts no runs, for a reason that a person should know."""
    return watch.status is WatchStatus.SUSPENDED or (
        watch.status is WatchStatus.PAUSED and bool(watch.reason)
    )


def _status(watch: Watch) -> Literal["active", "paused", "suspended"]:
    match watch.status:
        case WatchStatus.ACTIVE:
            return "active"
        case WatchStatus.SUSPENDED:
            return "suspended"
        case WatchStatus.PAUSED | WatchStatus.REMOVED:
            # One that was removed is shown to nobody; it starts no runs either.
            return "paused"
        case _:
            assert_never(watch.status)


def _rule_row(rule: WatchRule) -> wire.WatchRuleShown:
    consent = rule.consent
    return wire.WatchRuleShown(
        folder=rule.folder,
        prompt=rule.prompt,
        patterns=rule.patterns,
        model_id=rule.model_id or msgspec.UNSET,
        mode=rule.mode,
        quiet_s=rule.quiet_s,
        deliver_to=rule.deliver_to or msgspec.UNSET,
        publish=rule.publish,
        limits=wire.LimitsParam(**msgspec.structs.asdict(rule.limits)),
        on_failure=wire.FailureParam(**msgspec.structs.asdict(rule.on_failure)),
        on_outcome=rule.on_outcome,
        consent=wire.WatchConsentParam(provider_id=consent.provider_id, model_id=consent.model_id)
        if consent is not None
        else msgspec.UNSET,
    )


def _landing_row(landing: Landing) -> wire.LandingRow:
    retry_at_us = landing.retry_at_us
    return wire.LandingRow(
        landing_id=landing.landing_id,
        path=landing.path,
        size_bytes=landing.size_bytes,
        landed_at=format_time(landing.landed_at_us),
        stage=landing.stage.value,
        attempt=landing.attempt,
        retry_at=format_time(retry_at_us) if retry_at_us else msgspec.UNSET,
        workbench_id=landing.workbench_id or msgspec.UNSET,
        run_id=landing.run_id or msgspec.UNSET,
        code=landing.code or msgspec.UNSET,
        message=landing.message or msgspec.UNSET,
    )


def _outcome(ended: Ended) -> wire.OutcomeRow:
    return wire.OutcomeRow(
        landing_ids=ended.landings,
        paths=ended.paths[:MAX_OUTCOME_PATHS],
        outcome=cast("Outcome", ended.outcome),
        ended_at=format_time(ended.ended_at_us),
        workbench_id=ended.workbench_id or msgspec.UNSET,
        run_id=ended.run_id or msgspec.UNSET,
        code=ended.code or msgspec.UNSET,
        message=ended.message or msgspec.UNSET,
        delivered=ended.delivered,
    )


def _actions(watch: Watch, landing: Landing) -> tuple[str, ...]:
    """Return the actions that may help, the likeliest first."""
    named, bench = watch.watch_id, landing.workbench_id
    match landing.code:
        case EgressConsentRequired.code:
            first = [f"kbd watch resume {named} --consent"]
        case ProviderNotConfigured.code:
            first = ["kbd doctor"]
        case SandboxViolation.code if not landing.run_id:
            first = ["rename the file: under its new name it lands anew"]
        case FileReadFailed.code if not landing.run_id:
            first = ["see that the file is whole and that kbd may read it"]
        case FileWriteFailed.code | DiskFull.code if watch.rule.deliver_to:
            first = [f"see to it that {watch.rule.deliver_to} is there and has room"]
        case _:
            first = []
    ran = [f"kbd log {bench}", f"kbd review {bench}"] if landing.run_id else []
    itself = f"kbd watch failed {named}"
    number = landing.landing_id
    return (*first, *ran, f"{itself} --retry {number}", f"{itself} --dismiss {number}")
