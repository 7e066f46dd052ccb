"""Rows of workbenches, files, runs and watched folders in answers to clients."""

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Literal, assert_never, cast

import msgspec

from kbd.core.domain.approval_decisions import pending_approvals
from kbd.core.domain.daemon_state import DaemonState, KnownWorkbench
from kbd.core.domain.found_damage import damage_text
from kbd.core.domain.run_state import ItemState, Run, RunStatus, item_label
from kbd.core.domain.watch_state import Ended, Landing, LandingStage, Watch, WatchStatus
from kbd.core.domain.workbench_state import WorkbenchState, folded_name
from kbd.core.plugins.catalog import Catalog
from kbd.core.plugins.set_aside import SetAsideFiles
from kbd.core.runtime.paths import WorkbenchFolders
from kbd.core.runtime.settings import Limits, RunLimits
from kbd.core.workbench.workbench import OpenWorkbench
from kbd.errors import (
    DiskFull,
    EgressConsentRequired,
    FileReadFailed,
    FileWriteFailed,
    ProviderNotConfigured,
    SandboxViolation,
)
from kbd.events.codec import format_time, utc_day
from kbd.events.watches import RuleRetention, WatchRule
from kbd.requests.base import Unset
from kbd.requests.pages import page_of
from kbd.requests.watches import (
    FailedFound,
    FailedRow,
    FailureParam,
    LandingRow,
    LimitsParam,
    OutcomeRow,
    RetentionParam,
    WatchConsentParam,
    WatchFailedList,
    WatchInfo,
    WatchRow,
    WatchRuleShown,
)
from kbd.requests.workbenches import (
    FileRow,
    ForkedFrom,
    Scope,
    ScopeLimits,
    SupportedTypes,
    WorkbenchInfo,
    WorkbenchRow,
    WorkbenchStatus,
)
from kbd.requests.workshop import (
    ImplementProgress,
    RunAnswered,
    RunBudget,
    RunError,
    RunInfo,
    RunItem,
    RunRow,
    WorkshopState,
)
from kbd.types import FileName, Phase, ReadAs

__all__ = [
    "MAX_LANDINGS",
    "FolderSizes",
    "Hints",
    "disk_bytes",
    "failed_landings",
    "file_rows",
    "folder_sizes",
    "run_answer",
    "run_budget",
    "run_info",
    "run_row",
    "unread_row",
    "watch_info",
    "watch_row",
    "workbench_info",
    "workbench_row",
    "workbench_scope",
    "workshop_state",
]


def disk_bytes(folder: Path) -> int:
    """Return the size of a folder on disk, in bytes. Blocks."""
    return sum(size_bytes for _, size_bytes in _file_sizes(folder))


def _file_sizes(folder: Path) -> Iterator[tuple[str, int]]:
    """Yield the folder and the size on disk of each file below a folder. Blocks."""
    for root, _, names in os.walk(folder):
        for name in names:
            try:
                yield root, os.lstat(os.path.join(root, name)).st_blocks * 512
            except FileNotFoundError:
                continue  # It went while we looked: a stage file, a snapshot.


class FolderSizes(msgspec.Struct, frozen=True, array_like=True):
    """What a workbench's folder takes on disk, by what is in it; in bytes.

    Args:
        log: Its log.
        blobs: The contents of its file versions.
        published: Its published files.
        other: What is made anew where it is missing: draft, snapshots, caches, readable copies.
    """

    log: int = 0
    blobs: int = 0
    published: int = 0
    other: int = 0

    @property
    def total(self) -> int:
        """All of it."""
        return self.log + self.blobs + self.published + self.other


def folder_sizes(folders: WorkbenchFolders) -> FolderSizes:
    """Return what a workbench's folder takes on disk. Blocks."""
    parts, before = dict.fromkeys(("log", "blobs", "published", "other"), 0), len(str(folders.root))
    for root, size_bytes in _file_sizes(folders.root):
        part = root[before + 1 :].partition("/")[0]
        parts[part if part in parts else "other"] += size_bytes
    return FolderSizes(**parts)


def workbench_row(
    known: KnownWorkbench, state: WorkbenchState, size_bytes: int, damage: str
) -> WorkbenchRow:
    """Return one line of the list of workbenches.

    Args:
        known: The workbench, as the daemon's log knows it.
        state: Its state; blank if nothing of its log can be read.
        size_bytes: What its folder takes.
        damage: Why its log can only be read; "" if it is whole.
    """
    created_at_us = state.created_at_us or known.created_at_us
    # What is seen of the log now goes before what was found once.
    found = damage or damage_text(known.damage)
    return WorkbenchRow(
        id=known.workbench_id,
        name=state.name or known.name,
        created_at=format_time(created_at_us),
        updated_at=format_time(state.updated_at_us or created_at_us),
        has_draft=state.draft is not None,
        files=sum(1 for _ in state.current_files()),
        last_seq=state.seq,
        disk_bytes=size_bytes,
        status=_workbench_status(known, state, found),
        runs=len(state.runs),
        approvals=sum(1 for _ in pending_approvals(state)),
        reason=found or known.doubt or msgspec.UNSET,
        parent_workbench_id=state.parent.workbench_id if state.parent else msgspec.UNSET,
        archived_at=format_time(known.archive.archived_at_us) if known.archive else msgspec.UNSET,
        is_read_only=bool(damage),
    )


def _workbench_status(known: KnownWorkbench, state: WorkbenchState, damage: str) -> WorkbenchStatus:
    # In the order of what a person has to see to first.
    if damage:
        return "damaged"
    if known.archive is not None:
        return "archived"
    if state.active_run() is not None:
        return "running"
    if any(pending_approvals(state)):
        return "waiting"
    return "draft" if state.draft is not None else "idle"


def unread_row(known: KnownWorkbench) -> WorkbenchRow:
    """Return the line of a workbench of which only the daemon's log was read."""
    archive = known.archive
    row = workbench_row(known, WorkbenchState(), 0, "")
    if archive is None:
        return msgspec.structs.replace(row, status="unread")
    return msgspec.structs.replace(row, last_seq=archive.seq, disk_bytes=archive.size_bytes)


def workbench_info(
    known: KnownWorkbench, workbench: OpenWorkbench, size_bytes: int, default_model_id: str
) -> WorkbenchInfo:
    """Return the full description of one workbench; `known` is it in the daemon's log."""
    damage = workbench.damage.message if workbench.damage is not None else ""
    row = workbench_row(known, workbench.state, size_bytes, damage)
    parent = workbench.state.parent
    forked: ForkedFrom | msgspec.UnsetType = msgspec.UNSET
    if parent is not None:
        forked = ForkedFrom(
            workbench_id=parent.workbench_id,
            mode=parent.mode,
            seq=parent.source_seq,
            forked_at=format_time(parent.forked_at_us),
            from_message_id=parent.from_message_id or msgspec.UNSET,
        )
    return WorkbenchInfo(
        **msgspec.structs.asdict(row), default_model_id=default_model_id, forked=forked
    )


def file_rows(
    workbench: OpenWorkbench,
    catalog: Catalog,
    set_aside: SetAsideFiles,
    carried: Mapping[FileName, tuple[str, ...]],
) -> tuple[FileRow, ...]:
    """Return rows of the files; of one that the draft changes, its draft version.

    Args:
        workbench: The workbench.
        catalog: The formats.
        set_aside: The files that are not read any more.
        carried: The active content of those that were looked into.
    """
    rows: list[FileRow] = []
    for seen in workbench.state.current_files():
        kind = catalog.kind_of(seen.name)
        entry = workbench.state.files.get(seen.name)
        reason = kind.reason or set_aside.reason(seen.name, seen.blob)
        rows.append(
            FileRow(
                path=seen.name,
                size=seen.size_bytes,
                modified_at=format_time(seen.modified_at_us),
                added_at=format_time(entry.added_at_us if entry else seen.modified_at_us),
                file_kind=kind.kind,
                mime_type=kind.mime_type,
                is_opaque=kind.is_opaque,
                reason=reason or msgspec.UNSET,
                active_content=carried.get(seen.name, msgspec.UNSET),
                read_as=workbench.state.readings.get(seen.name, msgspec.UNSET),
            )
        )
    return tuple(rows)


def workbench_scope(workbench: OpenWorkbench, catalog: Catalog, limits: Limits) -> Scope:
    """Return the scope of a workbench: what a run may touch."""
    return Scope(
        limits=ScopeLimits(max_files=limits.files, max_file_bytes=limits.file_bytes),
        supported_types=SupportedTypes(
            editable_extensions=catalog.editable_suffixes(),
            readable_kinds=catalog.readable_kinds(),
            readable_extensions=catalog.readable_suffixes(),
        ),
        sandbox_root=str(workbench.folders.root),
    )


REQUEST_CHARACTERS = 200
"""How much of a request stands in a list of runs; the conversation has all of it."""


def run_budget(limits: RunLimits, daemon: DaemonState, now_us: int) -> RunBudget:
    """Return the caps of runs, and how much of the day's is used."""
    usage = daemon.day_usage(utc_day(now_us))
    return RunBudget(
        tokens=limits.tokens,
        cost=limits.cost,
        day_tokens=limits.day_tokens,
        day_cost=limits.day_cost,
        day_tokens_gone=usage.tokens,
        day_cost_gone=round(usage.cost, 6),
    )


def run_info(
    state: WorkbenchState,
    run: Run,
    budget: RunBudget | msgspec.UnsetType = msgspec.UNSET,
    *,
    damage: str = "",
) -> RunInfo:
    """Return a run in full.

    Args:
        state: The state of its workbench.
        run: The run.
        budget: The caps that it works under, if it is not finished.
        damage: Why the workbench's log can only be read; "" if it is whole.
    """
    items = tuple(
        RunItem(
            index=index,
            label=item_label(item.text),
            state="active"
            if index == run.item and item.state is ItemState.OPEN
            else item.state.value,
            reason=item.reason if item.state is ItemState.FAILED else msgspec.UNSET,
        )
        for index, item in enumerate(run.plan.items if run.plan else (), 1)
    )
    error: RunError | msgspec.UnsetType = msgspec.UNSET
    if run.error is not None:
        error = RunError(
            error_code=run.error.code,
            message=run.error.message,
            subphase=run.error.subphase,
            retryable=run.error.retryable,
        )
    refusal = run.refusal
    understood = refusal.understood if refusal is not None else ""
    return RunInfo(
        run_id=state.run_id(run.number),
        workbench_id=state.workbench_id,
        request=_request_line(state, run.message_id),
        model_id=run.model_id,
        # Nothing can be recorded of it any more, so nothing works on it.
        status="interrupted" if damage and run.status is RunStatus.RUNNING else run.status.value,
        phase=run.phase,
        items=items,
        usage=run.usage,
        cost=round(run.cost, 6),
        error=error,
        reason=refusal.reason if refusal is not None else msgspec.UNSET,
        understood=understood or msgspec.UNSET,
        suggestions=refusal.suggestions if refusal is not None else msgspec.UNSET,
        started_at=format_time(run.started_at_us),
        ended_at=format_time(run.ended_at_us) if run.ended_at_us else msgspec.UNSET,
        undone=run.undone,
        budget=budget,
        damage=damage or msgspec.UNSET,
    )


def run_row(info: RunInfo, name: str) -> RunRow:
    """Return one line of the list of runs; `name` is what its workbench is called."""
    return RunRow(**msgspec.structs.asdict(info), workbench_name=name)


def _request_line(state: WorkbenchState, message_id: str) -> str:
    """Return the first line of a message that says something."""
    request = state.heard.get(message_id)
    text = request.text if request is not None else ""
    first = text.strip().partition("\n")[0].rstrip()
    too_long = len(first) > REQUEST_CHARACTERS
    return f"{first[: REQUEST_CHARACTERS - 1]}…" if too_long else first


def run_answer(state: WorkbenchState, run: Run) -> RunAnswered:
    """Return what `WorkshopRunAgent` answers of a run."""
    refusal = run.refusal
    return RunAnswered(
        run_id=state.run_id(run.number),
        message_id=run.message_id,
        has_draft=state.draft is not None,
        completed=run.status.is_final,
        status=run.status.value,
        reason=refusal.reason if refusal is not None else msgspec.UNSET,
        suggestions=refusal.suggestions if refusal is not None else msgspec.UNSET,
    )


def workshop_state(
    state: WorkbenchState, active_model_id: str, default_model_id: str
) -> WorkshopState:
    """Return the state of the workshop."""
    run = state.active_run()
    progress = None
    if run is not None and run.item and run.plan is not None and run.phase is Phase.IMPLEMENT:
        progress = ImplementProgress(
            current=run.item,
            total=len(run.plan.items),
            label=item_label(run.plan.items[run.item - 1].text),
        )
    return WorkshopState(
        active_model_id=active_model_id,
        default_model_id=default_model_id,
        has_draft=state.draft is not None,
        current_phase=run.phase if run and run.phase_open else None,
        implement_progress=progress,
        run_id=state.run_id(run.number) if run else None,
    )


MAX_LANDINGS = 200
"""How many landings that are not done one answer tells of; the others are counted."""

MAX_OUTCOME_PATHS = 100
"""The most paths that are listed of one outcome."""

MAX_FAILED = 1000
"""How many parked files one answer tells of where no limit is given."""

Hints = Literal["system", "scan", "missing"]
"""As in `WatchRow`."""

Outcome = Literal["published", "review", "unchanged", "failed", "moved", "own"]
"""As in `OutcomeRow`."""


def watch_row(watch: Watch, hints: Hints, problem: str) -> WatchRow:
    """Return one line of the list of watches.

    Args:
        watch: The watch.
        hints: How changes of its folder are noticed.
        problem: What keeps files from landing, or "".
    """
    return WatchRow(
        watch_id=watch.watch_id,
        name=watch.rule.name,
        folder=watch.rule.folder,
        status=_status(watch),
        code=watch.code or msgspec.UNSET,
        reason=watch.reason or problem or msgspec.UNSET,
        created_at=format_time(watch.created_at_us),
        hints=hints,
        landed=watch.landed,
        waiting=len(watch.in_stage(LandingStage.WAITING, LandingStage.RETRYING)),
        running=len(watch.in_stage(LandingStage.RUNNING)),
        failed=len(watch.in_stage(LandingStage.PARKED)),
        outcomes=dict(watch.ended),
        publish=watch.rule.publish,
        deliver_to=watch.rule.deliver_to or msgspec.UNSET,
        on_outcome=watch.rule.on_outcome,
        restored=watch.restored,
    )


def watch_info(watch: Watch, hints: Hints, problem: str) -> WatchInfo:
    """Return one watch in full; arguments as for `watch_row`."""
    landings = tuple(watch.landings.values())[:MAX_LANDINGS]
    return WatchInfo(
        **msgspec.structs.asdict(watch_row(watch, hints, problem)),
        rule=_rule_row(watch.rule, watch.retention),
        landings=tuple(_landing_row(landing) for landing in landings),
        recent=tuple(_outcome(ended) for ended in reversed(watch.recent)),
    )


def failed_landings(
    watches: tuple[Watch, ...], row: Callable[[Watch], WatchRow], asked: WatchFailedList
) -> FailedFound:
    """Return a page of the failed landings, each with its remedies, and the stalled watches.

    Args:
        watches: The watches asked about.
        row: Makes the line of one.
        asked: The filters, the order and the page.

    Raises:
        ValidationFailed: The cursor is none of this list.
    """
    words = () if isinstance(asked.query, Unset) else tuple(folded_name(asked.query).split())
    parked = [
        (each, watch)
        for watch in watches
        for each in watch.in_stage(LandingStage.PARKED)
        if asked.error_code in (each.code, msgspec.UNSET) and _has_words(each, words)
    ]
    # A landing's number is that of its event, so no two share one, of different watches neither.
    sign = -1 if asked.descending else 1
    parked.sort(key=lambda pair: sign * pair[0].landing_id)
    limit = MAX_FAILED if isinstance(asked.limit, Unset) else asked.limit
    of = (asked.method, asked.watch_id or "", asked.error_code or "", words, asked.descending)
    page, next_cursor = page_of(
        parked, lambda pair: (sign * pair[0].landing_id,), (int,), of, limit, asked.cursor
    )
    return FailedFound(
        failed=tuple(_failed_row(watch, landing) for landing, watch in page),
        total=len(parked),
        suspended=tuple(row(watch) for watch in watches if _is_stalled(watch)),
        next_cursor=next_cursor,
    )


def _has_words(landing: Landing, words: tuple[str, ...]) -> bool:
    """Return whether each of the folded words stands in the path or the reason of a landing."""
    if not words:
        return True
    text = folded_name(f"{landing.path}\n{landing.message}")
    return all(word in text for word in words)


def _failed_row(watch: Watch, landing: Landing) -> FailedRow:
    return FailedRow(
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


def _rule_row(rule: WatchRule, retention: RuleRetention | None) -> WatchRuleShown:
    consent = rule.consent
    return WatchRuleShown(
        folder=rule.folder,
        prompt=rule.prompt,
        patterns=rule.patterns,
        model_id=rule.model_id or msgspec.UNSET,
        mode=rule.mode,
        quiet_s=rule.quiet_s,
        deliver_to=rule.deliver_to or msgspec.UNSET,
        publish=rule.publish,
        limits=LimitsParam(**msgspec.structs.asdict(rule.limits)),
        on_failure=FailureParam(**msgspec.structs.asdict(rule.on_failure)),
        on_outcome=rule.on_outcome,
        consent=WatchConsentParam(provider_id=consent.provider_id, model_id=consent.model_id)
        if consent is not None
        else msgspec.UNSET,
        read_as=said if (said := rule.read_as.said()) != ReadAs() else msgspec.UNSET,
        recipe=rule.recipe.name if rule.recipe is not None else msgspec.UNSET,
        otherwise=rule.recipe.otherwise if rule.recipe is not None else msgspec.UNSET,
        retention=RetentionParam(**msgspec.structs.asdict(retention))
        if retention is not None
        else msgspec.UNSET,
    )


def _landing_row(landing: Landing) -> LandingRow:
    retry_at_us = landing.retry_at_us
    return LandingRow(
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


def _outcome(ended: Ended) -> OutcomeRow:
    return OutcomeRow(
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
    named, workbench = watch.watch_id, landing.workbench_id
    match landing.code:
        case EgressConsentRequired.code:
            first = [f"kbd watch resume {named} --consent"]
        case ProviderNotConfigured.code:
            first = ["kbd doctor"]
        case SandboxViolation.code if not landing.run_id:
            first = ["rename the file: under its new name it lands anew"]
        case FileReadFailed.code if not landing.run_id:
            first = ["see that the file is whole and that kbd may read it"]
        case DiskFull.code if watch.rule.deliver_to:
            first = [f"make room in {watch.rule.deliver_to} and in the home of kbd"]
        case FileWriteFailed.code if given := watch.rule.deliver_to:
            # Which of these, the message says.
            first = [
                f"see that {given} is there, can be written, and has no link where a folder is due"
            ]
        case _:
            first = []
    ran = [f"kbd log {workbench}", f"kbd review {workbench}"] if landing.run_id else []
    itself = f"kbd watch failed {named}"
    number = landing.landing_id
    return (*first, *ran, f"{itself} --retry {number}", f"{itself} --dismiss {number}")
