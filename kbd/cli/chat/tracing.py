"""Tool calls in full, as the log records them: what was asked, how much came back."""

from typing import Any

from kbd.cli.chat.session import Session
from kbd.cli.terminal import duration, line, size

__all__ = ["Trace", "follow", "unfollow"]

ARGUMENTS_COLUMNS = 160


class Trace:
    """Turns events of a run into lines."""

    def __init__(self) -> None:
        self._asked: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def lines(self, events: list[dict[str, Any]]) -> list[str]:
        """Return what is to be told of these events, which follow those before."""
        return [text for event in events if (text := self._line(event["type"], event["data"]))]

    def _line(self, kind: str, data: dict[str, Any]) -> str:
        match kind:
            case "ModelReplied":
                for call in data.get("calls", ()):
                    self._asked[str(call["id"])] = str(call.get("arguments") or "")
                return ""
            case "ToolCalled":
                call_id, name = str(data["call_id"]), line(str(data["tool"]), 60)
                self._names[call_id] = name
                asked = self._asked.get(call_id, "")
                return f"  → {name} {line(asked, ARGUMENTS_COLUMNS)}".rstrip()
            case "ToolReturned":
                name = self._names.get(str(data["call_id"]), "")
                took = duration(int(data.get("duration_ms", 0)) / 1000)
                if data["ok"]:
                    return f"  ← {name} {size(int(data.get('size_bytes', 0)))} in {took}"
                return f"  ← {name} {line(str(data['shown']), ARGUMENTS_COLUMNS)} in {took}"
            case "ToolRefused":
                return f"  ← {line(str(data['tool']), 60)} {line(str(data['shown']))}"
            case _:
                return ""


def follow(session: Session) -> None:
    """Have the workbench's events sent from now on."""
    session.ask("EventsSubscribe", after=session.ask("LogHead")["seq"])


def unfollow(session: Session) -> None:
    """Have them sent no more."""
    session.ask("EventsUnsubscribe")
