"""What real servers that speak a protocol do beside what it says, row by row, in both protocols.

The rows are those of the project's facts about real servers; each test names its row.
"""

import pytest

from kbd.messages import Message, Usage
from kbd.providers import ModelReply
from kbd.types import CallId
from providers.openai.lent import asking
from providers.openai.playing_both import heard_of, one_each, playing
from providers.openai.protocols import Protocol
from providers.openai.scripted_server import Connection

pytestmark = pytest.mark.anyio


@one_each
async def test_real_servers_turns(kind: type[Protocol]) -> None:
    """Rows of real servers: dozens of parallel calls, odd white space, `stop` with calls, no usage.

    And an empty turn, and a repeated event.
    """

    async def calls(connection: Connection, protocol: Protocol) -> None:
        for number in range(60):
            await protocol.call(connection, f"c{number}", "read_file", ' {"path"', ':\n"a"}\t')
        await protocol.finish(connection, "stop", None)

    async def nothing(connection: Connection, protocol: Protocol) -> None:
        await protocol.finish(connection)
        await protocol.finish(connection)

    many, _, _ = await heard_of(kind, playing(kind, calls))
    empty, _, _ = await heard_of(kind, playing(kind, nothing))

    assert isinstance(many, ModelReply)
    assert [f"c{number}" for number in range(60)] == [call.id for call in many.tool_calls]
    assert {' {"path":\n"a"}\t'} == {call.arguments for call in many.tool_calls}
    assert many.usage_is_estimate
    assert isinstance(empty, ModelReply)
    assert (empty.text, empty.tool_calls, empty.usage) == ("", (), Usage(5, 7))


@one_each
async def test_a_call_to_a_tool_that_was_not_offered(kind: type[Protocol]) -> None:
    """Row `calls to tools that were not offered`: it comes as it is and goes with a legal name."""

    async def script(connection: Connection, protocol: Protocol) -> None:
        await protocol.call(connection, "a", "rm -rf /", "{}")
        await protocol.finish(connection)

    found, _, _ = await heard_of(kind, playing(kind, script))
    assert isinstance(found, ModelReply)
    history = (Message("user", "u"), Message("assistant", tool_calls=found.tool_calls))
    _, _, server = await heard_of(kind, playing(kind, script), asking("m", *history))

    assert [call.name for call in found.tool_calls] == ["rm -rf /"]
    sent = str(server.requests[0].get("messages") or server.requests[0]["input"])
    assert "'name': 'rm_-rf__'" in sent


@one_each
async def test_a_call_cut_by_length_is_never_sent_back(kind: type[Protocol]) -> None:
    """Row `finish_reason length with a cut tool call`: it comes as it is, and goes as `{}`."""

    async def script(connection: Connection, protocol: Protocol) -> None:
        await protocol.call(connection, "a", "read_file", '{"path": "a.t')
        await protocol.finish(connection, "length")

    cut, _, _ = await heard_of(kind, playing(kind, script))
    assert isinstance(cut, ModelReply)
    history = (
        Message("user", "Hello"),
        Message("assistant", tool_calls=cut.tool_calls),
        Message("tool", "Error", tool_call_id=CallId("a")),
    )
    _, _, server = await heard_of(kind, playing(kind, script), asking("m", *history))

    assert (cut.finish_reason, cut.tool_calls[0].arguments) == ("length", '{"path": "a.t')
    sent = str(server.requests[0].get("messages") or server.requests[0]["input"])
    assert "'arguments': '{}'" in sent
    assert "a.t" not in sent
