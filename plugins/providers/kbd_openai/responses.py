"""The Responses API: what is sent, and how its events are read. Pure.

Nothing is kept at the server (`store` is false): the whole conversation goes with each request, as
items. A turn is complete when its response is told to be completed or incomplete; an item that was
not told piece by piece is taken when it is told whole, at the latest with the end.
"""

from typing import Any, TypeVar

import msgspec

from kbd.messages import Message, Usage
from kbd.providers import MalformedReply, ModelRequest, ToolSchema
from kbd_openai.assembly import Assembly, Writing
from kbd_openai.faults import ServerFault
from kbd_openai.request_body import effort_of, is_sent, is_strict, mended

__all__ = ["ResponsesReader", "responses_body"]

T = TypeVar("T")


def responses_body(request: ModelRequest) -> dict[str, Any]:
    """Return the body of a request."""
    fields: dict[str, Any] = {
        "model": request.model,
        "input": [item for message in mended(request.messages) for item in _items(message)],
        "stream": True,
        "store": False,
    }
    if request.tools:
        fields["tools"] = [_tool(tool, request) for tool in request.tools]
    if is_sent("tool_choice", request):
        fields["tool_choice"] = request.tool_choice
    if effort := effort_of(request):
        fields["reasoning"] = {"effort": effort}
    if is_sent("max_output_tokens", request):
        fields["max_output_tokens"] = request.max_output_tokens
    return fields


def _items(message: Message) -> list[dict[str, Any]]:
    if message.role == "tool":
        return [
            {
                "type": "function_call_output",
                "call_id": message.tool_call_id,
                "output": message.text,
            }
        ]
    items: list[dict[str, Any]] = []
    if message.text or not message.tool_calls:
        items.append({"role": message.role, "content": message.text})
    for call in message.tool_calls:
        item = {"type": "function_call", "call_id": call.id, "name": call.name}
        items.append(item | {"arguments": call.arguments})
    return items


def _tool(tool: ToolSchema, request: ModelRequest) -> dict[str, Any]:
    told: dict[str, Any] = {"type": "function", "name": tool.name, "description": tool.description}
    if is_strict(tool, request):
        return told | {"parameters": tool.strict, "strict": True}
    told["parameters"] = tool.parameters
    # Left out it means true here; said of a schema that is not strict, it must be said to be false.
    return told if "strict" in request.without else told | {"strict": False}


class _Part(msgspec.Struct):
    text: str | None = None
    refusal: str | None = None


class _Item(msgspec.Struct):
    type: str | None = None
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    content: list[_Part] | None = None


class _Usage(msgspec.Struct):
    input_tokens: int | None = 0
    output_tokens: int | None = 0


class _Reason(msgspec.Struct):
    reason: str | None = None


class _Response(msgspec.Struct):
    status: str | None = None
    output: list[_Item] | None = None
    usage: _Usage | None = None
    incomplete_details: _Reason | None = None
    error: Any = None


class _Kind(msgspec.Struct):
    type: str | None = None
    error: Any = None


class _Delta(msgspec.Struct):
    delta: str | None = None
    arguments: str | None = None
    output_index: int | None = None
    item_id: str | None = None


class _Told(msgspec.Struct):
    item: _Item
    output_index: int | None = None


class _End(msgspec.Struct):
    response: _Response


class ResponsesReader:
    """Reads the events of one turn.

    Args:
        assembly: Where the pieces go.
    """

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._spoken: set[int | str | None] = set()
        self._refused = False

    def feed(self, event: object) -> None:
        """Take an event, as plain JSON values.

        Raises:
            MalformedReply: Its shape makes no sense, or the reply is far too long.
            Fault: It tells that the server failed.
        """
        told = _shaped(event, _Kind)
        if told.error:
            raise ServerFault(told.error)
        match told.type:
            case "response.output_text.delta" | "response.refusal.delta":
                delta = _shaped(event, _Delta)
                self._refused = self._refused or told.type == "response.refusal.delta"
                self._spoken.add(_place(delta.output_index, delta.item_id))
                self._assembly.say(delta.delta)
            case "response.function_call_arguments.delta":
                delta = _shaped(event, _Delta)
                call = self._call(_place(delta.output_index, delta.item_id))
                self._assembly.write(call, delta.delta)
            case "response.function_call_arguments.done":
                delta = _shaped(event, _Delta)
                call = self._call(_place(delta.output_index, delta.item_id))
                self._rewrite(call, delta.arguments)
            case "response.output_item.added" | "response.output_item.done":
                whole = _shaped(event, _Told)
                self._take(whole.item, _place(whole.output_index, whole.item.id))
            case "response.completed" | "response.incomplete" | "response.failed":
                self._end(_shaped(event, _End).response, told.type.partition(".")[2])
            case "error":
                raise ServerFault(event)
            case _:
                pass  # Reasoning, progress, tools of the server's own: no part of the answer.

    def _take(self, item: _Item, place: int | str | None) -> None:
        """Take what is new of an item that is told whole, or begun."""
        if item.type == "function_call":
            call = self._call(place)
            call.id = call.id or item.call_id or ""
            call.name = call.name or item.name or ""
            self._rewrite(call, item.arguments)
        elif item.type == "message" and place not in self._spoken and item.content:
            self._spoken.add(place)
            for part in item.content:
                self._refused = self._refused or bool(part.refusal)
                self._assembly.say(part.text or part.refusal)

    def _call(self, place: int | str | None) -> Writing:
        calls = reversed(self._assembly.calls)
        known = next((call for call in calls if call.place == place), None)
        return known or self._assembly.begin(place)

    def _rewrite(self, call: Writing, arguments: str | None) -> None:
        """Take arguments that are told whole, in the place of the pieces that came before."""
        if arguments and arguments != "".join(call.pieces):
            call.pieces.clear()
            self._assembly.write(call, arguments)

    def _end(self, response: _Response, kind: str) -> None:
        status = response.status or kind
        if status in ("failed", "cancelled"):
            raise ServerFault(response.error or {"message": f"the response was {status}"})
        told = {*self._spoken, *(call.place for call in self._assembly.calls)}
        for place, item in enumerate(response.output or ()):
            # A server that counts no places before has its items told by their ids.
            self._take(item, item.id if item.id in told else place)
        if response.usage:
            spent = Usage(response.usage.input_tokens or 0, response.usage.output_tokens or 0)
            self._assembly.usage = spent
        if status == "incomplete":
            reason = (response.incomplete_details or _Reason()).reason
            cut = reason in (None, "max_output_tokens", "max_tokens")
            self._assembly.finish_reason = "length" if cut else reason
        elif self._refused:
            self._assembly.finish_reason = "refusal"
        else:
            self._assembly.finish_reason = "tool_calls" if self._assembly.calls else "stop"


def _place(output_index: int | None, item_id: str | None) -> int | str | None:
    """Name an item by its place, or by its id where a server counts no places."""
    return item_id if output_index is None else output_index


def _shaped(event: object, kind: type[T]) -> T:
    try:
        return msgspec.convert(event, kind)
    except msgspec.ValidationError as error:
        msg = f"The answer has a shape that makes no sense ({error})."
        raise MalformedReply(msg) from None
