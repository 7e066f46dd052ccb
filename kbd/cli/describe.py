"""One line of plain English for each event of the log.

The line is made from a template by type; a type that has none (of a newer daemon) is told with its
name and its first fields. What templates name and an event leaves out is empty: defaults are not
recorded. Lines of a run are indented by phase and item, and what did not go as it should is marked.
"""

import json
from typing import Any

from kbd.cli.phrases import Told, trouble
from kbd.cli.placing import Place
from kbd.cli.terminal import line

__all__ = ["TEMPLATES", "described", "told"]

TEMPLATES = {
    "WorkbenchCreated": "workbench {name} was created",
    "WorkbenchDeleted": "workbench {workbench_id} was deleted",
    "WorkbenchForked": "forked from {source_workbench_id} at its event {source_seq}: {took}",
    "FileAdded": "added {name} ({size})",
    "FileRemoved": "removed {name}",
    "ConsentGranted": "consent: files may go to {provider_id} ({model_id})",
    "ModelChosen": "model {model_id} was chosen",
    "ContextSet": "{category} set{source}: {text}",
    "ContextRemoved": "{category} taken out",
    "UserMessageAdded": "asked: {text}",
    "AssistantMessageAdded": "answered: {text}",
    "ConversationRewound": "{rewound}",
    "RequestSent": "request sent to {endpoint}: {method} {path}, {sent}",
    "NoticeGiven": "notice: {code}: {message}",
    "RunStarted": "{run} started with {model_id}",
    "RunResumed": "{run} resumed with {model_id}",
    "RunInterrupted": "run interrupted{after}: {reason}",
    "RunCancelRequested": "cancel was requested",
    "RunCancelled": "run cancelled{after}",
    "RunFailed": "run failed in {subphase}{after}: {code}: {message}",
    "RunFinished": "run finished{spent}",
    "PhaseStarted": "phase {phase} started",
    "PhaseCompleted": "phase {phase} completed{spent}",
    "ResearchWritten": "research: {text}",
    "PlanWritten": "plan of {count}: {items}",
    "ItemStarted": "{begun}",
    "ItemCompleted": "item {item} completed{spent}: {text}",
    "ItemRetried": "item {item} failed{after}, to be tried again: {code}: {reason}",
    "ItemFailed": "item {item} failed{after}: {code}: {reason}",
    "ItemsAdded": "items added: {items}",
    "ItemsRefused": "items refused ({reason}): {items}",
    "SummaryWritten": "summary: {text}",
    "ModelRequested": "asked {model_id}, turn {turn}",
    "ModelReplied": "model replied{spent}{replied}",
    "ModelFailed": "model failed{after}{again}: {code}: {message}",
    "ToolCalled": "{called}",
    "ToolReturned": "{returned}",
    "ToolRefused": "tool {tool} refused: {refused}",
    "DraftOpened": "draft {draft_id} opened",
    "FileChanged": "draft: {change} {name} ({sizes}){warned}",
    "DraftDiscarded": "draft {draft_id} discarded",
    "DeletionConfirmed": "deletion confirmed: {names}",
    "PublishIntended": "{published} of {files} began",
    "PublishCompleted": "publish {publish_id} completed, checkpoint {checkpoint_id}",
    "PublishAborted": "publish {publish_id} given up: {reason}",
    "CheckpointCreated": "checkpoint {checkpoint_id} ({reason}) of {files}",
    "CheckpointRestored": "checkpoint {checkpoint_id} restored, {pre_restore_checkpoint_id} before",
    "EffectIntended": "{kind} to {directory} began",
    "EffectDone": "written as {final_name}",
    "EffectAborted": "not written: {reason}",
    "DaemonStarted": "daemon {engine_version} started, process {pid}, {backend}",
    "DaemonStopped": "daemon stopped: {reason}",
    "SettingChanged": "setting {name}{whose} is now {value}",
    "BudgetReserved": "up to {tokens} tokens{costing} reserved for {model_id}, {workbench_id}",
    "BudgetCharged": "{tokens} tokens{costing} charged",
    "PluginLoaded": "plugin {name} {version} loaded",
    "PluginLeftOut": "plugin {name} left out: {reason}",
    "WatchAdded": "watching {rule} as {watch}",
    "FilesPassedOver": "watch {watch}: {passed} there already, passed over",
    "WatchRemoved": "watch {watch} was removed",
    "WatchPaused": "watch {watch} paused{because}",
    "WatchSuspended": "watch {watch} suspended: {code}: {reason}",
    "WatchResumed": "watch {watch} resumed{agreed}",
    "FileLanded": "watch {watch}: {path} landed ({size}){became}",
    "WatchRunStarted": "watch {watch}: {landings} worked on in {workbench_id}, attempt {attempt}",
    "WatchRunFinished": "watch {watch}: {landings} ended: {ended}",
    "LandingsParked": "watch {watch}: {landings} put aside: {code}: {message}",
    "LandingsRetried": "watch {watch}: {landings} taken up again",
    "LandingsDismissed": "watch {watch}: {landings} dismissed",
    "WatchCommandEnded": "watch {watch}: command for {landings} ended{exit}",
    "FilesWritten": "kbd writes {written} into {folder}: no reason for a run",
    "LogRepaired": "torn end of {segment} cut off at byte {offset}, kept as {kept_as}",
}
"""By the event's type; in braces a field of its data, or one of `phrases.DERIVED`."""

_AROUND = frozenset({"ItemStarted", "ItemCompleted", "ItemRetried", "ItemFailed"})
"""What stands around the lines of an item, less deep than they."""


def described(event: dict[str, Any], place: Place, width: int) -> str:
    """Return an event as one clean line.

    Args:
        event: As `EventsRead` tells it.
        place: Where it belongs.
        width: The columns that the line may take.
    """
    kind, data = str(event["type"]), event.get("data")
    data = data if isinstance(data, dict) else {}
    mark = "!" if trouble(kind, data) else " "
    start = f"{event['seq']:>6} {event['ts'][11:19]} {mark} {'  ' * _depth(kind, place)}"
    return start + line(told(event, place), max(width - len(start), 20))


def told(event: dict[str, Any], place: Place) -> str:
    """Return what an event tells, as a sentence that may be long and is not clean."""
    kind, data = str(event["type"]), event.get("data")
    data = data if isinstance(data, dict) else {}
    template = TEMPLATES.get(kind)
    return template.format_map(Told(data, place)) if template else _generic(kind, data)


def _depth(kind: str, place: Place) -> int:
    if not place.phase or kind.startswith("Run"):
        return 0
    if kind in {"PhaseStarted", "PhaseCompleted"}:
        return 1
    return 3 if place.item and kind not in _AROUND else 2


def _generic(kind: str, data: dict[str, Any]) -> str:
    return " ".join([kind, *(f"{name}={json.dumps(value)}" for name, value in data.items())])
