"""One line of plain English for each event of the log.

The line is made from a template by type; a type that has none (of a newer daemon) is told with its
name and its first fields. What templates name and an event leaves out is empty: defaults are not
recorded.
"""

import json
from collections.abc import Callable
from typing import Any

from kbd.cli.terminal import line, size

__all__ = ["DERIVED", "TEMPLATES", "described"]

WIDTH = 160
"""How long a line may become; the whole event is in `kbd log --json`."""

TEMPLATES = {
    "WorkbenchCreated": "workbench {name} was created",
    "WorkbenchDeleted": "workbench {workbench_id} was deleted",
    "FileAdded": "added {name} ({size})",
    "FileRemoved": "removed {name}",
    "ConsentGranted": "consent: files may go to {provider_id} ({model_id})",
    "ModelChosen": "model {model_id} was chosen",
    "UserMessageAdded": "asked: {text}",
    "AssistantMessageAdded": "answered: {text}",
    "RunStarted": "run started with {model_id}",
    "RunResumed": "run resumed with {model_id}",
    "RunInterrupted": "run interrupted: {reason}",
    "RunCancelRequested": "cancel was requested",
    "RunCancelled": "run cancelled",
    "RunFailed": "run failed in {subphase}: {code}: {message}",
    "RunFinished": "run finished",
    "PhaseStarted": "phase {phase} started",
    "PhaseCompleted": "phase {phase} completed",
    "ResearchWritten": "research: {text}",
    "PlanWritten": "plan of {count} items: {items}",
    "ItemStarted": "item {item} started, attempt {attempt}",
    "ItemCompleted": "item {item} completed: {text}",
    "ItemRetried": "item {item} will be retried: {code}: {reason}",
    "ItemFailed": "item {item} failed: {code}: {reason}",
    "ItemsAdded": "items added: {items}",
    "ItemsRefused": "items refused ({reason}): {items}",
    "SummaryWritten": "summary: {text}",
    "ModelRequested": "asked {model_id}, turn {turn}",
    "ModelReplied": "model replied: {calls} {text}",
    "ModelFailed": "model failed: {code}: {message}",
    "ToolCalled": "tool {tool} called, entry {entry_id}",
    "ToolReturned": "tool returned {outcome}, entry {entry_id}, {duration_ms} ms",
    "ToolRefused": "tool {tool} refused: {code}: {shown}",
    "DraftOpened": "draft {draft_id} opened",
    "FileChanged": "draft: {change} {name} ({size})",
    "DraftDiscarded": "draft {draft_id} discarded",
    "DeletionConfirmed": "deletion confirmed: {names}",
    "PublishIntended": "publish {publish_id} of {files} began",
    "PublishCompleted": "publish {publish_id} completed, checkpoint {checkpoint_id}",
    "PublishAborted": "publish {publish_id} given up: {reason}",
    "CheckpointCreated": "checkpoint {checkpoint_id} ({reason}) of {files}",
    "EffectIntended": "{kind} to {directory} began",
    "EffectDone": "written as {final_name}",
    "EffectAborted": "not written: {reason}",
    "DaemonStarted": "daemon {engine_version} started, process {pid}, {backend}",
    "DaemonStopped": "daemon stopped: {reason}",
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
"""By the event's type; in braces a field of its data, or one of `DERIVED`."""


def described(event: dict[str, Any]) -> str:
    """Return an event, as `EventsRead` tells it, as one clean line."""
    data = event.get("data")
    data = data if isinstance(data, dict) else {}
    template = TEMPLATES.get(event["type"])
    told = template.format_map(_Fields(data)) if template else _generic(event["type"], data)
    time = str(event.get("ts", ""))[11:19]
    return line(f"{event['seq']:>6}  {time}  {told}", WIDTH)


class _Fields(dict[str, Any]):
    """An event's data as a template sees it."""

    def __getitem__(self, name: str) -> str:
        if name in DERIVED:
            return DERIVED[name](self)
        value = self.get(name, "")
        return value if isinstance(value, str) else json.dumps(value)

    def __missing__(self, name: str) -> str:
        return ""


def _change(data: dict[str, Any]) -> str:
    if data.get("cause") == "rollback":
        return "rolled back"
    if data.get("after") is None:
        return "deleted"
    return "changed" if data.get("before") else "added"


def _count(of: str) -> Callable[[dict[str, Any]], str]:
    def count(data: dict[str, Any]) -> str:
        return str(len(data.get(of, ())))

    return count


def _joined(of: str) -> Callable[[dict[str, Any]], str]:
    def joined(data: dict[str, Any]) -> str:
        return "; ".join(str(each) for each in data.get(of, ()))

    return joined


def _files(data: dict[str, Any]) -> str:
    names = [str(each.get("name", "")) for each in data.get("files", ())]
    return f"{len(names)} files: {', '.join(names)}" if names else "no files"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _rule(data: dict[str, Any]) -> str:
    rule = data.get("rule", {})
    return f"{rule.get('folder', '')} ({rule.get('name', '')})"


def _landings(data: dict[str, Any]) -> str:
    """Name landed files by the numbers of the events that tell of them."""
    numbers = [str(number) for number in data.get("landings", ())]
    more = f" and {len(numbers) - 5} more" if len(numbers) > 5 else ""
    return f"no. {', '.join(numbers[:5])}{more}"


def _became(data: dict[str, Any]) -> str:
    match data.get("outcome", ""):
        case "moved":
            return f", known before as {data.get('moved_from', '')}: no run"
        case "own":
            return ", written by kbd itself: no run"
        case "failed":
            return f", put aside: {data.get('code', '')}: {data.get('message', '')}"
        case _:
            return ""


def _ended(data: dict[str, Any]) -> str:
    if data.get("outcome") == "failed":
        again = "to be tried again: " if data.get("retry_at_us") else ""
        return f"failed, {again}{data.get('code', '')}: {data.get('message', '')}"
    delivered = ", ".join(data.get("delivered", ()))
    return f"{data.get('outcome', '')}{f', delivered {delivered}' if delivered else ''}"


def _exit(data: dict[str, Any]) -> str:
    code = data.get("exit_code")
    return f" with code {code}" if code is not None else f" badly: {data.get('message', '')}"


DERIVED: dict[str, Callable[[dict[str, Any]], str]] = {
    "agreed": lambda data: ", with consent" if data.get("consent") else "",
    "attempt": lambda data: str(data.get("attempt", 1)),
    "became": _became,
    "because": lambda data: f": {data['reason']}" if data.get("reason") else "",
    "calls": lambda data: ", ".join(str(each.get("name")) for each in data.get("calls", ())),
    "change": _change,
    "count": _count("items"),
    "ended": _ended,
    "exit": _exit,
    "files": _files,
    "items": _joined("items"),
    "landings": _landings,
    "names": _joined("names"),
    "outcome": lambda data: "ok" if data.get("ok") else f"an error ({data.get('error_code')})",
    "passed": lambda data: _counted(len(data.get("files", ())), "file"),
    "rule": _rule,
    "size": lambda data: size(int(data.get("size_bytes", 0))),
    "duration_ms": lambda data: str(data.get("duration_ms", 0)),
    "watch": lambda data: str(data.get("watch_id", ""))[:8],
    "written": lambda data: _counted(len(data.get("hashes", ())), "file"),
}


def _generic(kind: str, data: dict[str, Any]) -> str:
    return " ".join([kind, *(f"{name}={json.dumps(value)}" for name, value in data.items())])
