"""Responses API: the body of a request, and a reader of the streamed events. Pure.

Nothing is stored at the server (`store` is false): the whole conversation goes with each request,
as items. A turn is complete when its response is reported as completed or incomplete; an item that
did not come in pieces is taken when it comes whole, at the latest with the end.
"""

from typing import Any

import msgspec

from kbd.messages import Message
from kbd.providers import MalformedReply, ModelRequest, ToolSchema
from kbd_openai.assembly import MAX_CALLS, Assembly, PartialCall
from kbd_openai.event_stream import decoded_event, is_told, read_usage, small_value
from kbd_openai.faults import ServerFault
from kbd_openai.request_body import effort_of, is_sent, is_strict, repaired_history

__all__ = ["ResponsesReader", "responses_body"]


def responses_body(request: ModelRequest) -> dict[str, Any]:
    """Return the body of a request."""
    fields: dict[str, Any] = {
        "model": request.model,
        "input": [
            item for message in repaired_history(request.messages) for item in _items(message)
        ],
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
    fields: dict[str, Any] = {
        "type": "function",
        "name": tool.name,
        "description": tool.description,
    }
    if is_strict(tool, request):
        return fields | {"parameters": tool.strict, "strict": True}
    fields["parameters"] = tool.parameters
    # Left out, `strict` means true in this API; for a schema that is not strict it must be false.
    return fields if "strict" in request.without else fields | {"strict": False}


_ABSENT = msgspec.Raw()


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


class _Reason(msgspec.Struct):
    reason: str | None = None


class _Response(msgspec.Struct):
    status: str | None = None
    output: list[_Item] | None = None
    usage: msgspec.Raw = _ABSENT
    incomplete_details: _Reason | None = None
    error: msgspec.Raw = _ABSENT


class _Kind(msgspec.Struct):
    type: str | None = None
    error: msgspec.Raw = _ABSENT
    delta: msgspec.Raw = _ABSENT


class _Delta(msgspec.Struct):
    delta: str | None = None
    arguments: str | None = None
    output_index: int | None = None
    item_id: str | None = None


class _ItemEvent(msgspec.Struct):
    item: _Item
    output_index: int | None = None


class _End(msgspec.Struct):
    response: _Response


class ResponsesReader:
    """Reader of the streamed events of one turn.

    Args:
        assembly: Where the pieces go.
    """

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly
        self._text_places: set[int | str | None] = set()
        self._refused = False
        self._items: set[tuple[str, int | str | None]] = set()

    def feed(self, data: bytes) -> None:
        """Take the data of an event.

        Raises:
            MalformedReply: Its shape makes no sense, or the reply is far too long.
            ServerFault: It tells that the server failed.
            msgspec.DecodeError: It is no JSON; see `decoded_event`.
        """
        header = decoded_event(data, _Kind)
        # Before the type is looked at: servers send an error with any event, or without a type.
        if is_told(header.error):
            raise ServerFault(small_value(header.error))
        match header.type:
            case "response.output_text.delta" | "response.refusal.delta":
                delta = decoded_event(data, _Delta)
                self._refused = self._refused or header.type == "response.refusal.delta"
                self._add_place(_place(delta.output_index, delta.item_id))
                self._assembly.add_text(delta.delta)
            case "response.function_call_arguments.delta":
                delta = decoded_event(data, _Delta)
                call = self._call(_place(delta.output_index, delta.item_id))
                self._assembly.add_arguments(call, delta.delta)
            case "response.function_call_arguments.done":
                delta = decoded_event(data, _Delta)
                call = self._call(_place(delta.output_index, delta.item_id))
                self._rewrite(call, delta.arguments)
            case "response.output_item.added" | "response.output_item.done":
                whole = decoded_event(data, _ItemEvent)
                place = _place(whole.output_index, whole.item.id)
                self._note_item(header.type, place)
                self._take(whole.item, place)
            case "response.completed" | "response.incomplete" | "response.failed":
                self._end(decoded_event(data, _End).response, header.type.partition(".")[2])
            case "error":
                raise ServerFault(small_value(data))
            case _:
                # Reasoning, progress, tools of the server's own: no part of the answer.
                if is_told(header.delta):
                    self._assembly.note_thinking()

    def _note_item(self, kind: str, place: int | str | None) -> None:
        """Note that an item begins or is done, the first time: one that only thinks says no more.

        As many are noted as there may be calls, so that a server without end fills no memory.
        """
        if (kind, place) not in self._items and len(self._items) < MAX_CALLS:
            self._items.add((kind, place))
            self._assembly.note_thinking()

    def _take(self, item: _Item, place: int | str | None) -> None:
        """Add what is new of an item that comes whole, or is begun."""
        if item.type == "function_call":
            call = self._call(place)
            # The first one counts: an item is told when it begins, when it is done, and with the
            # end.
            self._assembly.name_call(call, item.call_id, item.name)
            self._rewrite(call, item.arguments)
        elif item.type == "message" and place not in self._text_places and item.content:
            self._add_place(place)
            for part in item.content:
                self._refused = self._refused or bool(part.refusal)
                self._assembly.add_text(part.text or part.refusal)

    def _call(self, place: int | str | None) -> PartialCall:
        return self._assembly.call_at(place) or self._assembly.begin_call(place)

    def _rewrite(self, call: PartialCall, arguments: str | None) -> None:
        """Replace the pieces of a call's arguments by the arguments as a whole."""
        if arguments and call.arguments != arguments.encode("utf-8", "replace"):
            call.arguments.clear()
            self._assembly.add_arguments(call, arguments)

    def _add_place(self, place: int | str | None) -> None:
        """Note a place that has a text; there are as many at most as there may be calls."""
        if place not in self._text_places and len(self._text_places) >= MAX_CALLS:
            raise MalformedReply("the answer does not end: it begins ever more texts")
        self._text_places.add(place)

    def _end(self, response: _Response, kind: str) -> None:
        status = response.status or kind
        if status in ("failed", "cancelled"):
            raise ServerFault(
                small_value(response.error) or {"message": f"the response was {status}"}
            )
        known_places = {*self._text_places, *(call.place for call in self._assembly.calls)}
        for place, item in enumerate(response.output or ()):
            # A server that counts no places before has its items told by their ids.
            self._take(item, item.id if item.id in known_places else place)
        usage = read_usage(response.usage, "input_tokens", "output_tokens")
        self._assembly.usage = usage or self._assembly.usage
        if status == "incomplete":
            reason = (response.incomplete_details or _Reason()).reason
            cut = reason in (None, "max_output_tokens", "max_tokens")
            self._assembly.finish("length" if cut else str(reason))
        elif self._refused:
            self._assembly.finish("refusal")
        else:
            self._assembly.finish("tool_calls" if self._assembly.calls else "stop")


def _place(output_index: int | None, item_id: str | None) -> int | str | None:
    """Name an item by its place, or by its id where a server counts no places."""
    return item_id if output_index is None else output_index
