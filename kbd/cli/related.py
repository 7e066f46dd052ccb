"""What an event answers: the call, the reply that asked for it; what a model saw before a turn."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from kbd.cli.terminal import line

__all__ = ["Related", "related"]

SAID_COLUMNS = 100
"""How much is shown of each message that a model saw; `kbd show` of its event has all of it."""


class Related(NamedTuple):
    """Something said elsewhere that belongs to an event: under a heading, fields as they stand."""

    heading: str
    fields: dict[str, Any]


def related(history: Sequence[dict[str, Any]]) -> list[Related]:
    """Return what belongs to the last of these events.

    Args:
        history: Events in order, as `EventsRead` tells them, from the begin of the run on.
    """
    event = history[-1]
    data = event.get("data") or {}
    match event["type"]:
        case "ToolCalled" | "ToolReturned" | "ToolRefused" if data.get("call_id"):
            return _of_call(history, str(data["call_id"]))
        case "FileChanged" if data.get("call_id"):
            return [_named(each) for each in _of_call(history, str(data["call_id"]))[:1]]
        case "ModelRequested":
            return _seen(history)
        case "ModelReplied" | "ModelFailed":
            return _asked(history)
        case _:
            return []


def _of_call(history: Sequence[dict[str, Any]], call_id: str) -> list[Related]:
    """Return a call with its arguments, and the reply that asked for it."""
    call: dict[str, Any] = {}
    number = 0
    for event in reversed(history):
        data = event.get("data") or {}
        if event["type"] == "ToolCalled" and data.get("call_id") == call_id and not number:
            number = int(event["seq"])
            kept = ("tool", "plugin", "arguments", "arguments_blob")
            call = {name: data[name] for name in kept if data.get(name)}
        elif event["type"] == "ModelReplied":
            asked = [each for each in data.get("calls", ()) if each.get("id") == call_id]
            if asked:
                return [
                    _call(number, {**asked[0], **call}),
                    Related(f"asked for by the model, event {event['seq']}", _reply(data)),
                ]
    return [_call(number, call)] if call else []


def _call(number: int, fields: dict[str, Any]) -> Related:
    """Return a call: as it was made, or as it was only asked for."""
    shown = {"tool": fields.get("tool") or fields.get("name", "")}
    kept = ("plugin", "arguments", "arguments_blob", "blob", "fault")
    shown |= {name: fields[name] for name in kept if fields.get(name)}
    return Related(f"the call, event {number}" if number else "the call", shown)


def _named(call: Related) -> Related:
    """Return a call without what it was given, which `kbd show` of it has."""
    kept = {"tool", "plugin"}
    return Related(call.heading, {name: call.fields[name] for name in call.fields if name in kept})


def _reply(data: dict[str, Any]) -> dict[str, Any]:
    calls = [str(call.get("name")) for call in data.get("calls", ())]
    return {**({"text": data["text"]} if data.get("text") else {}), "calls": calls}


def _asked(history: Sequence[dict[str, Any]]) -> list[Related]:
    """Return the request that a reply answers."""
    for event in reversed(history):
        if event["type"] == "ModelRequested":
            kept = ("model_id", "turn", "tool_choice")
            fields = {name: value for name, value in event["data"].items() if name in kept}
            return [Related(f"asked in event {event['seq']}", fields)]
    return []


def _seen(history: Sequence[dict[str, Any]]) -> list[Related]:
    """Return the replies and results that a model saw after its opening messages."""
    seen: dict[str, Any] = {}
    for event in history[:-1]:
        data = event.get("data") or {}
        match event["type"]:
            case "PhaseStarted" | "ItemStarted":
                seen.clear()
            case "ModelReplied":
                calls = ", ".join(str(call.get("name")) for call in data.get("calls", ()))
                said = " ".join(part for part in (calls, str(data.get("text", ""))) if part)
                seen[f"event {event['seq']}, model"] = line(said, SAID_COLUMNS)
            case "ToolReturned" | "ToolRefused":
                shown = line(str(data.get("shown", "")), SAID_COLUMNS)
                seen[f"event {event['seq']}, tool"] = shown
    return [Related("after the opening messages it saw", seen)] if seen else []
