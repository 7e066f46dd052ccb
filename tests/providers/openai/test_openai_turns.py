"""A turn is sent as servers want it, and comes back as kbd wants it."""

from typing import Any

import pytest

from kbd.messages import Message, ToolCall, Usage
from kbd.providers import ModelReply, ModelRequest, ToolSchema
from kbd.testing.providers import check_provider
from kbd.types import CallId
from kbd_openai import OpenAIProvider
from providers.openai.lent import asking, lending
from providers.openai.scripted_server import Answer, Connection, deltas, listing, serving, streamed

pytestmark = [
    pytest.mark.anyio,
    # The client library abandons its generators when a stream ends early; trio says so.
    pytest.mark.filterwarnings("ignore:Async generator:ResourceWarning"),
]


def call_piece(index: int | None, arguments: str, name: str | None = None, **more: Any) -> Any:
    """Return a delta with a piece of one tool call."""
    function = {"arguments": arguments} | ({"name": name} if name else {})
    place = {} if index is None else {"index": index}
    return {"tool_calls": [{**place, **more, "function": function}]}


async def reply_to(answer: Answer, request: ModelRequest | None = None) -> ModelReply:
    """Return the reply to a scripted answer."""
    async with serving(m=answer) as server, lending(server.port) as access:
        return await OpenAIProvider({}).complete(request or asking("m"), access, lambda _: None)


async def test_text_streams() -> None:
    """Text is emitted piece by piece and is whole in the reply, with the usage that was told."""

    @streamed
    async def answer(connection: Connection) -> None:
        await connection.part(b": a comment\n\n")
        await connection.delta(role="assistant", content="Good ")
        await connection.delta(content="day")
        await connection.delta("stop")
        usage = {"prompt_tokens": 5, "completion_tokens": 7, "total_tokens": 12}
        await connection.event({"choices": [], "usage": usage})
        await connection.done()

    heard: list[str] = []
    async with serving(m=answer) as server, lending(server.port) as access:
        reply = await OpenAIProvider({}).complete(asking("m"), access, heard.append)

    assert heard == ["Good ", "day"]
    assert reply == ModelReply(text="Good day", usage=Usage(5, 7))


async def test_no_end_mark_is_needed() -> None:
    """A finish reason makes a turn complete, also without the end mark; usage is estimated."""

    @streamed
    async def answer(connection: Connection) -> None:
        await connection.delta(content="12345678")
        await connection.delta("stop")

    reply = await reply_to(answer)

    assert reply.usage_is_estimate
    assert reply.usage.output_tokens == 2
    assert reply.usage.input_tokens > 0


async def test_parallel_calls() -> None:
    """Two calls in pieces come back whole, in order, with their white space."""
    pieces = [
        call_piece(0, "", "read_file", id="a", type="function"),
        call_piece(0, '{"pa'),
        call_piece(0, 'th": "a.txt"} \n'),
        call_piece(1, "  ", "list_files", id="b", type="function"),
    ]

    reply = await reply_to(deltas(pieces, "stop"))

    assert reply.tool_calls == (
        ToolCall(CallId("a"), "read_file", '{"path": "a.txt"} \n'),
        ToolCall(CallId("b"), "list_files", "{}"),
    )
    assert reply.finish_reason == "stop"


async def test_ids_are_made_unique() -> None:
    """Missing, doubled and used ids are replaced, by the same ones when the turn is repeated."""
    pieces = [
        call_piece(0, "{}", "one", id="x"),
        call_piece(1, "{}", "two", id="x"),
        call_piece(2, "{}", "three"),
        call_piece(3, "{}", "four", id="used"),
    ]
    earlier = Message("assistant", tool_calls=(ToolCall(CallId("used"), "one"),))
    request = asking("m", Message("user", "Hello"), earlier)
    answer = deltas(pieces, "tool_calls")

    first = await reply_to(answer, request)
    again = await reply_to(answer, request)

    ids = [call.id for call in first.tool_calls]
    assert [call.name for call in first.tool_calls] == ["one", "two", "three", "four"]
    assert ids[0] == "x"
    assert len({*ids, "used"}) == 5
    assert again == first


async def test_calls_under_one_index() -> None:
    """Servers that give every call the index 0, or none, or an object for text, are understood."""
    same = [call_piece(0, "{}", "one", id="a"), call_piece(0, "{}", "two", id="b")]
    none = [
        call_piece(None, '{"k"', "one"),
        call_piece(None, ":1}"),
        call_piece(None, "{}", "two"),
    ]

    as_object = {"index": 0, "id": "a", "function": {"name": "one", "arguments": {"k": 1}}}

    by_id = await reply_to(deltas(same, "tool_calls"))
    whole = await reply_to(deltas([{"tool_calls": [as_object]}], "tool_calls"))
    by_name = await reply_to(deltas(none, "tool_calls"))

    assert [call.name for call in by_id.tool_calls] == ["one", "two"]
    assert [call.arguments for call in whole.tool_calls] == ['{"k":1}']
    assert [call.arguments for call in by_name.tool_calls] == ['{"k":1}', "{}"]


async def test_a_call_cut_by_length() -> None:
    """A cut call comes back as it is, and is not sent to the server that way again."""
    cut = deltas([call_piece(0, '{"path": "a.t', "read_file", id="a")], "length")

    async with serving(m=cut) as server, lending(server.port) as access:
        provider = OpenAIProvider({})
        reply = await provider.complete(asking("m"), access, lambda _: None)
        history = (
            Message("user", "Hello"),
            Message("assistant", tool_calls=reply.tool_calls),
            Message("tool", "Error", tool_call_id=CallId("a")),
        )
        await provider.complete(asking("m", *history), access, lambda _: None)

    assert reply.finish_reason == "length"
    assert reply.tool_calls[0].arguments == '{"path": "a.t'
    assert server.requests[1]["messages"][1] == {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": "a", "type": "function", "function": {"name": "read_file", "arguments": "{}"}}
        ],
    }
    assert server.requests[1]["messages"][2]["tool_call_id"] == "a"


async def test_what_is_sent() -> None:
    """The request names tools and choice, asks for usage, and is sent once with the key."""
    schema = {"type": "object", "properties": {}}
    request = ModelRequest(
        model="m",
        messages=(Message("system", "Be brief"), Message("user", "Hello")),
        tools=(ToolSchema("list_files", "Lists", schema),),
        tool_choice="required",
        max_output_tokens=100,
    )
    answer = deltas([{"content": "x"}])
    async with serving(m=answer) as server, lending(server.port) as access:
        await OpenAIProvider({}).complete(request, access, lambda _: None)

    function = {"name": "list_files", "description": "Lists", "parameters": schema}
    assert server.requests == [
        {
            "model": "m",
            "messages": [
                {"role": "system", "content": "Be brief"},
                {"role": "user", "content": "Hello"},
            ],
            "stream": True,
            "stream_options": {"include_usage": True},
            "tools": [{"type": "function", "function": function}],
            "tool_choice": "required",
            "max_tokens": 100,
        }
    ]
    assert server.headers[0]["authorization"] == f"Bearer {access.api_key}"


async def test_the_contract_of_a_provider() -> None:
    """It keeps what every provider promises."""
    answer = deltas([{"content": "Good "}, {"content": "day"}])
    async with serving(m=answer, models=listing) as server, lending(server.port) as access:
        settings = {"base_url": access.base_url, "model": "m"}
        await check_provider(OpenAIProvider(settings), access, asking("m"))
