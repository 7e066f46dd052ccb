"""Conversation of a phase: the blocks of its opening, and the results of calls that were made.

Nothing is kept between turns. A phase is a function that runs from its start each turn; the first
result that it asks for and is not there yet becomes the next call.
"""

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from kbd.errors import ValidationFailed, machine_fault
from kbd.messages import ToolCall
from kbd.providers import ModelRequest
from kbd.types import CallId

__all__ = ["CallRefusedError", "PendingCallError", "PhaseConversation"]

_ERROR = "Error: "
_RECALL = "recall_tool_result"
_PAGE_CHARACTERS = 48_000
"""Below the 64,000 that one recall may ask for."""


class PendingCallError(Exception):
    """A call has to be made before the phase can go on."""

    def __init__(self, call: ToolCall) -> None:
        super().__init__()
        self.call = call


class CallRefusedError(Exception):
    """A call failed.

    Attributes:
        code: Its error's code.
        reason: Its message.
    """

    def __init__(self, text: str) -> None:
        self.code, _, self.reason = text.partition(": ")
        super().__init__(text)


class PhaseConversation:
    """Conversation of a phase so far.

    Args:
        request: The turn to be made.
    """

    def __init__(self, request: ModelRequest) -> None:
        self._offered = {tool.name for tool in request.tools}
        opening = [message.text for message in request.messages if message.role == "user"]
        self._opening = opening[0] if opening else ""
        self._results = _results(request)

    @property
    def attempt(self) -> int:
        """The attempt at the item, from 1."""
        found = re.search(r'^<item\b[^>\n]*\battempt="(\d+)"', self._opening, re.MULTILINE)
        return int(found[1]) if found else 1

    def block(self, name: str) -> str:
        """Return the text of a block of the opening, or ""."""
        # The first closing line ends it: kbd escapes any that a text within has.
        found = re.search(rf"<{name}(?:\s[^>]*)?>\n(.*?)\n</{name}>", self._opening, re.DOTALL)
        return found[1] if found else ""

    def results(self) -> list[dict[str, Any]]:
        """Return the items of the block of results."""
        fenced = re.search(r"```json\n(.*)\n```", self.block("results"), re.DOTALL)
        return list(json.loads(fenced[1]).get("items", ())) if fenced else []

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the whole result of a call, made now or before.

        Raises:
            PendingCallError: It has to be made first.
            CallRefusedError: It failed.
            ValidationFailed: The tool is not offered.
            KbdError: It failed by a fault of the machine.
        """
        text = self._result(tool, arguments)
        found = _value(text)
        if not found.get("receipt"):
            return found
        # Bytes are never fewer than characters; a page past the end is empty.
        pages = [
            _value(self._result(_RECALL, {
                "entry_id": found["entry_id"], "offset": offset, "limit": _PAGE_CHARACTERS,
            }))["text"]
            for offset in range(0, int(found["size_bytes"]), _PAGE_CHARACTERS)
        ]  # fmt: skip
        return _value("".join(pages))

    def _result(self, tool: str, arguments: Mapping[str, Any]) -> str:
        key = _key(tool, arguments)
        if key in self._results:
            return self._results[key]
        if tool not in self._offered:
            raise ValidationFailed(f"a document is carried out by {tool}, which is not there")
        # The opening tells phases and attempts apart, so that an id is its call's alone.
        digest = sha256("\0".join((self._opening, key)).encode()).hexdigest()
        named = CallId(f"recipe_{digest[:20]}")
        # As it is: the order of a job's columns is a part of it, and of its hash.
        raise PendingCallError(ToolCall(named, tool, json.dumps(arguments, ensure_ascii=False)))


def _results(request: ModelRequest) -> dict[str, str]:
    """Return the text that each call got, by tool and arguments."""
    asked = {call.id: call for message in request.messages for call in message.tool_calls}
    found: dict[str, str] = {}
    for message in request.messages:
        call = asked.get(message.tool_call_id) if message.tool_call_id else None
        if call is not None and message.role == "tool":
            found[_key(call.name, json.loads(call.arguments))] = message.text
    return found


def _key(tool: str, arguments: Mapping[str, Any]) -> str:
    return f"{tool} {json.dumps(arguments, sort_keys=True)}"


def _value(text: str) -> dict[str, Any]:
    if text.startswith(_ERROR):
        told = text.removeprefix(_ERROR)
        raise machine_fault(told) or CallRefusedError(told)
    try:
        value = json.loads(text)
    except ValueError:
        raise CallRefusedError("VALIDATION_FAILED: a result is no JSON") from None
    return dict(value)
