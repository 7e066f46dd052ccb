"""The conversation as it stands, read anew each turn.

The offline provider keeps nothing between turns. A phase is a plain function that asks for the
results of tool calls as it needs them; it runs from its start each turn, and what was called before
is found in the messages. The first result that is not there yet becomes the next call. So a run
that is resumed goes on where it was, whatever happened in between.

What is read of the opening messages:

    <request>…</request>                    the user's words
    <earlier_messages>…</earlier_messages>  the messages before
    <files>```json {"files": […]}```</files>   path, kind … of each file
    <research>…</research>  <plan>…</plan>  texts of the phases before
    <item number="3" attempt="1">…</item>   the item's text
    <results>```json {"items": […]}```</results>  <changes>```json {"changes": […]}```</changes>
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from hashlib import sha256
from itertools import islice
from typing import Any

from kbd.errors import KbdError, ValidationFailed, machine_fault
from kbd.messages import Message, ToolCall
from kbd.providers import ModelRequest
from kbd.types import CallId
from kbd_offline.answers import SaidReading, decode_said, said_in

__all__ = ["CallFailedError", "PendingError", "PlannerConversation"]

_FENCE = re.compile(r"```(?:json)?\s*\n(.*?)\n```", re.DOTALL)
# Below the 64,000 that one recall may ask for.
_RECALL_CHARACTERS = 48_000
_ERROR = "Error: "

MAX_CALLS = 40
"""Of a turn; the daemon takes 50 and answers the rest with an error (contract, section 5)."""


class PendingError(Exception):
    """Tool calls have to be made before the phase can go on."""

    def __init__(self, calls: tuple[ToolCall, ...]) -> None:
        super().__init__()
        self.calls = calls


class CallFailedError(Exception):
    """Failed tool call, with the tool's message."""


class PlannerConversation:
    """Conversation of a phase so far: its opening messages and the results of tool calls.

    Attributes:
        request: The user's words; without delimiters, all that is no JSON. Where they only answer
            what was asked about a table, the request before them.
        read_as: What is said about how tables are read: a plain `ReadAs`; every call has it.
        fault: The first fault of the machine that ended one of several calls, if one did.

    Args:
        request: The turn to be made.
    """

    def __init__(self, request: ModelRequest) -> None:
        self._offered = {tool.name for tool in request.tools}
        opening: list[str] = []
        for message in request.messages:
            if message.role == "assistant":
                break
            if message.role == "user":
                opening.append(message.text)
        self._opening = "\n\n".join(opening)
        self._results = _results(request.messages)
        words = self.block("request") or _FENCE.sub("", self._opening).strip()
        before = self.block("plan") or self.block("research")
        said = SaidReading({}, words) if before else said_in(words, self.block("earlier_messages"))
        self.fault: KbdError | None = None
        self.request, self.read_as = said.request, decode_said(before) or said.read_as

    @property
    def today(self) -> date | None:
        """The day that the opening names, None where it names none."""
        found = re.search(r"<today>(\d{4}-\d{2}-\d{2})</today>", self._opening)
        return date.fromisoformat(found.group(1)) if found else None

    @property
    def paths(self) -> tuple[str, ...]:
        """The names of the files."""
        files = self.json_block("files").get("files", [])
        return tuple(str(file["path"]) for file in files)

    @property
    def item_number(self) -> int:
        """The place of the item to do, from 1.

        Raises:
            ValidationFailed: No item is given.
        """
        # At the start of a line only: values of a table are quoted within the plan's lines.
        found = re.findall(r'^<item\b[^>\n]*\bnumber="(\d+)"', self._opening, re.MULTILINE)
        if not found:
            raise ValidationFailed("the offline provider was given no item of a plan")
        return int(found[-1])

    def block(self, name: str) -> str:
        """Return the text of a delimited block, or ""."""
        # The first closing line ends the block: kbd escapes any that a text within has.
        found = re.search(rf"<{name}(?:\s[^>]*)?>\n(.*?)\n</{name}>", self._opening, re.DOTALL)
        return found.group(1) if found else ""

    def json_block(self, name: str) -> dict[str, Any]:
        """Return the object in a block's fence; outside a block, the first that has the name."""
        text = self.block(name) or self._opening
        for fenced in _FENCE.findall(text):
            try:
                value = json.loads(fenced)
            except ValueError:
                continue
            if isinstance(value, dict) and (name in value or self.block(name)):
                return dict(value)
        return {}

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Return the whole result of a tool call, made now or before.

        Raises:
            PendingError: It has to be made first.
            CallFailedError: It failed.
            ValidationFailed: The tool is not offered.
            KbdError: It failed by a fault of the machine.
        """
        (outcome,) = self.outcomes((tool, arguments))
        if isinstance(outcome, CallFailedError):
            raise machine_fault(str(outcome)) or outcome
        return outcome

    def outcomes(
        self, *wanted: tuple[str, Mapping[str, Any]]
    ) -> list[dict[str, Any] | CallFailedError]:
        """Return what each of several calls led to, failures included.

        Raises:
            PendingError: Some have to be made first.
            ValidationFailed: A tool is not offered.
        """
        wanted = tuple((tool, self._as_said(tool, arguments)) for tool, arguments in wanted)
        self._make(one for one in wanted if _key(*one) not in self._results)
        texts = [self._results[_key(*one)] for one in wanted]
        # Of a large result only a receipt is here; the pages of all receipts are asked for at once.
        pages = [_pages(text) for text in texts]
        self._make(one for some in pages for one in some if _key(*one) not in self._results)
        outcomes = [self._whole(text, some) for text, some in zip(texts, pages, strict=True)]
        for outcome in outcomes:
            if self.fault is None and isinstance(outcome, CallFailedError):
                self.fault = machine_fault(str(outcome))
        return outcomes

    def _as_said(self, tool: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the arguments of a call with what was said about tables; theirs go first."""
        if not self.read_as or not tool.startswith("table_"):
            return arguments
        return {**arguments, "read_as": {**self.read_as, **arguments.get("read_as", {})}}

    def _make(self, missing: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
        """Have calls made, no more in a turn than the daemon takes; the rest follows."""
        once = {_key(*one): one for one in missing}.values()
        calls = tuple(self._made(*one) for one in islice(once, MAX_CALLS))
        if calls:
            raise PendingError(calls)

    def _whole(
        self, text: str, pages: Sequence[tuple[str, Mapping[str, Any]]]
    ) -> dict[str, Any] | CallFailedError:
        """Return a result, put together from its pages if only its receipt is here."""
        try:
            if not pages:
                return _result(text)
            found = (_result(self._results[_key(*page)]) for page in pages)
            return _result("".join(str(page["text"]) for page in found))
        except CallFailedError as failed:
            return failed

    def _made(self, tool: str, arguments: Mapping[str, Any]) -> ToolCall:
        if tool not in self._offered:
            raise ValidationFailed(f"the offline provider needs the tool {tool} here")
        # The opening tells phases, items and attempts apart, so an id is its call's alone.
        named = sha256(f"{self._opening}\0{_key(tool, arguments)}".encode()).hexdigest()
        return ToolCall(CallId(f"offline_{named[:20]}"), tool, _canonical(arguments))


def _results(messages: Sequence[Message]) -> dict[str, str]:
    """Return the text that each call got, by tool and arguments."""
    asked = {call.id: call for message in messages for call in message.tool_calls}
    found: dict[str, str] = {}
    for message in messages:
        call = asked.get(message.tool_call_id) if message.tool_call_id else None
        if call is not None and message.role == "tool":
            found[_key(call.name, json.loads(call.arguments))] = message.text
    return found


def _pages(text: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the calls that recall a result; none if it is no receipt."""
    receipt = {} if text.startswith(_ERROR) else _result(text)
    if not receipt.get("receipt"):
        return []
    # Bytes are never fewer than characters; a page past the end is empty.
    offsets = range(0, int(receipt["size_bytes"]), _RECALL_CHARACTERS)
    return [
        (
            "recall_tool_result",
            {"entry_id": receipt["entry_id"], "offset": offset, "limit": _RECALL_CHARACTERS},
        )
        for offset in offsets
    ]


def _key(tool: str, arguments: Mapping[str, Any]) -> str:
    return f"{tool} {_canonical(arguments)}"


def _canonical(arguments: Mapping[str, Any]) -> str:
    # Sorted: a call is found again by this text, in whatever order its arguments came back.
    return json.dumps(arguments, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def _result(text: str) -> dict[str, Any]:
    """Return a result as an object, a list under the name `items`; raises CallFailedError."""
    if text.startswith(_ERROR):
        raise CallFailedError(text.removeprefix(_ERROR))
    try:
        value = json.loads(text)
    except ValueError:
        raise CallFailedError("a result is not JSON") from None
    return value if isinstance(value, dict) else {"items": value}
