"""The Responses API: what is sent, and what its events come to."""

from typing import Any

import msgspec
import pytest

from backends import on_asyncio, on_trio
from kbd.errors import (
    KbdError,
    ProviderNotConfigured,
    ProviderRateLimited,
    ProviderUnavailable,
    ValidationFailed,
)
from kbd.messages import Message, ToolCall, Usage
from kbd.providers import DECLINED, ModelReply, ModelRequest, ToolSchema
from kbd.testing.providers import check_provider
from kbd.types import CallId
from kbd_openai import OpenAIProvider
from kbd_openai.assembly import Assembly
from kbd_openai.faults import ServerFault, fault_of_stream
from kbd_openai.responses import ResponsesReader
from providers.openai.lent import asking, lending
from providers.openai.protocols import Responses
from providers.openai.scripted_server import Connection, listing, serving, streamed

Event = dict[str, Any]

MESSAGE: Event = {"type": "message", "content": [{"type": "output_text", "text": "whole"}]}
CALL: Event = {"type": "function_call", "call_id": "c", "name": "look", "arguments": '{"a":1}'}


def told(*events: Event) -> tuple[ModelReply, list[str]]:
    """Return the reply that events come to, and the pieces that were heard."""
    heard: list[str] = []
    assembly = Assembly(asking("m"), heard.append)
    reader = ResponsesReader(assembly)
    for event in events:
        reader.feed(msgspec.json.encode(event))
    return assembly.reply(), heard


def end(status: str = "completed", **fields: Any) -> Event:
    """Return the event of an end."""
    return {"type": f"response.{status}", "response": {"status": status, **fields}}


SCHEMA: Event = {"type": "object", "properties": {}}
STRICT: Event = {"type": "object", "required": []}
_CALLS = (ToolCall(CallId("a"), "look", '{"x":1}'), ToolCall(CallId("b"), "look"))
REQUEST = ModelRequest(
    model="m",
    messages=(
        Message("system", "Be brief"),
        Message("user", "Hello"),
        Message("assistant", "Let me see", _CALLS),
        Message("tool", "one", tool_call_id=CallId("a")),
        Message("tool", "two", tool_call_id=CallId("b")),
    ),
    tools=(ToolSchema("look", "Looks", SCHEMA, STRICT), ToolSchema("any", "Any", SCHEMA)),
    tool_choice="required",
    max_output_tokens=100,
    effort="low",
)


@on_trio
@pytest.mark.anyio
async def test_what_is_sent() -> None:
    """The whole conversation as items, tools, choice and effort; nothing is kept at the server."""

    @streamed
    async def answer(connection: Connection) -> None:
        await Responses().finish(connection)

    async with serving(m=answer) as server, lending(server.port) as access:
        provider = OpenAIProvider({"api": "responses"})
        await provider.complete(REQUEST, access, lambda _: None)
        held = ModelRequest(**{**_fields(REQUEST), "without": ("tool_choice", "strict", "effort")})
        await provider.complete(held, access, lambda _: None)

    def tool(name: str, parameters: Any, **more: Any) -> Event:
        described = {"type": "function", "name": name, "description": name.title()}
        return described | {"parameters": parameters, **more}

    looks = {"description": "Looks"}
    whole = {
        "model": "m",
        "input": [
            {"role": "system", "content": "Be brief"},
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Let me see"},
            {"type": "function_call", "call_id": "a", "name": "look", "arguments": '{"x":1}'},
            {"type": "function_call", "call_id": "b", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "one"},
            {"type": "function_call_output", "call_id": "b", "output": "two"},
        ],
        "stream": True,
        "store": False,
        "tools": [
            tool("look", STRICT, strict=True) | looks, tool("any", SCHEMA, strict=False),
        ],
        "tool_choice": "required",
        "reasoning": {"effort": "low"},
        "max_output_tokens": 100,
    }  # fmt: skip
    assert server.requests[0] == whole
    for left_out in ("tool_choice", "reasoning"):
        del whole[left_out]
    assert server.requests[1] == whole | {
        "tools": [tool("look", SCHEMA) | looks, tool("any", SCHEMA)]
    }
    assert server.paths == ["/v1/responses"] * 2


def _fields(request: ModelRequest) -> dict[str, Any]:
    return {name: getattr(request, name) for name in request.__struct_fields__}


def test_what_is_told_whole_only_is_taken_once() -> None:
    """An item that came in pieces is not taken again; one that did not is taken with its end."""
    pieces = {"type": "response.output_text.delta", "output_index": 0, "delta": "in pieces"}
    done = {"type": "response.output_item.done"}

    in_pieces = told(pieces, done | {"output_index": 0, "item": MESSAGE}, end(output=[MESSAGE]))
    with_item = told(
        done | {"output_index": 0, "item": MESSAGE},
        done | {"output_index": 1, "item": CALL},
        end(output=[MESSAGE, CALL]),
    )
    with_end = told(end(output=[MESSAGE, CALL]))

    assert in_pieces[1] == ["in pieces"]
    assert with_item == with_end
    assert with_end[1] == ["whole"]
    assert with_end[0].tool_calls == (ToolCall(CallId("c"), "look", '{"a":1}'),)
    assert with_end[0].finish_reason == "tool_calls"


def test_arguments_told_whole_take_the_place_of_pieces() -> None:
    """What `done` says holds; items without a place are told apart by their ids."""

    def part(item: str, text: str) -> Event:
        kind = "response.function_call_arguments"
        if text.startswith("="):
            return {"type": f"{kind}.done", "item_id": item, "arguments": text[1:]}
        return {"type": f"{kind}.delta", "item_id": item, "delta": text}

    def begin(item: str, call_id: str) -> Event:
        named = {"type": "function_call", "id": item, "call_id": call_id, "name": "look"}
        return {"type": "response.output_item.added", "item": named}

    spoken = {"type": "response.output_text.delta", "item_id": "z", "delta": "said"}
    output = [MESSAGE | {"id": "z"}, CALL | {"id": "x"}, CALL | {"id": "y"}]
    reply, heard = told(
        spoken, begin("x", "1"), begin("y", "2"), part("x", '{"a'), part("y", '{"b":2}'),
        part("x", '={"a":1}'), end(output=[item | {"arguments": None} for item in output]),
    )  # fmt: skip

    assert heard == ["said"]
    assert [(c.id, c.arguments) for c in reply.tool_calls] == [("1", '{"a":1}'), ("2", '{"b":2}')]


def test_how_a_turn_ends() -> None:
    """Cut by length, filtered, refused, or complete: the reason and the usage say so."""
    text = {"type": "response.output_text.delta", "output_index": 0, "delta": "x"}
    no = {"type": "response.refusal.delta", "output_index": 0, "delta": "I will not"}
    spent = {"input_tokens": 3, "output_tokens": 4}

    cut, _ = told(text, end("incomplete", incomplete_details={"reason": "max_output_tokens"}))
    filtered, _ = told(text, end("incomplete", incomplete_details={"reason": "content_filter"}))
    refused, _ = told(no, end())
    whole, _ = told({"type": "response.reasoning.delta", "delta": {}}, text, end(usage=spent))

    assert (cut.finish_reason, cut.usage_is_estimate) == ("length", True)
    assert filtered.finish_reason in DECLINED
    assert (refused.finish_reason in DECLINED, refused.text) == (True, "I will not")
    assert (whole.finish_reason, whole.usage) == ("stop", Usage(3, 4))


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        (end("failed", error={"code": "server_error", "message": "no"}), ProviderUnavailable),
        (end("failed", error={"code": "rate_limit_exceeded"}), ProviderRateLimited),
        (end("failed"), ProviderUnavailable),
        ({"type": "error", "code": "invalid_prompt", "message": "no"}, ValidationFailed),
        ({"type": "error", "error": {"message": "no", "code": 503}}, ProviderUnavailable),
        (end("completed") | {"response": {"status": "cancelled"}}, ProviderUnavailable),
    ],
)
def test_a_failure_within_the_stream(event: Event, kind: type[KbdError]) -> None:
    """It is told by its code, whichever event it comes with."""
    with pytest.raises(ServerFault) as caught:
        told(event)

    assert type(fault_of_stream(caught.value.body, "", None)) is kind


@on_asyncio
@pytest.mark.anyio
async def test_the_contract_of_a_provider() -> None:
    """It keeps what every provider promises; a protocol that is none is refused by the setting."""

    @streamed
    async def answer(connection: Connection) -> None:
        protocol = Responses()
        await protocol.say(connection, "Good ")
        await protocol.say(connection, "day")
        await protocol.finish(connection)

    async with serving(m=answer, models=listing) as server, lending(server.port) as access:
        settings = {"base_url": access.base_url, "model": "m", "api": "responses"}
        await check_provider(OpenAIProvider(settings), access, asking("m"))
        wrong = OpenAIProvider(settings | {"api": "graphql"})
        with pytest.raises(ProviderNotConfigured, match=r"plugins\.openai\.api"):
            await wrong.complete(asking("m"), access, lambda _: None)

    assert not wrong.status().configured
