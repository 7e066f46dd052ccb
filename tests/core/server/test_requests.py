"""Requests over the socket are answered as JSON-RPC says, whatever way the bytes arrive."""

import json
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from kbd.core.server.dispatch import ServerLimits
from served import OTHER, WORKBENCH, Raw, Served, connected, serving, until

pytestmark = pytest.mark.anyio

PLUGINS = b'{"jsonrpc":"2.0","id":%d,"method":"PluginsList"}\n'


async def test_fast_and_waiting_handlers_answer(short_dir: Path) -> None:
    """A plain function and a coroutine function both answer, under the id that was sent."""
    async with serving(short_dir) as served, connected(served) as client:
        await client.ask("PluginsList", "a")
        assert (await client.line())["result"]["plugins"][0]["name"] == "a"
        await client.ask("WorkbenchCreate", 2, name="x")
        assert await client.line() == {
            "jsonrpc": "2.0",
            "id": 2,
            "result": {"workbench_id": WORKBENCH},
        }


async def test_a_message_may_arrive_byte_by_byte(short_dir: Path) -> None:
    """Requests that arrive a byte at a time are answered; empty lines between them are not."""
    async with serving(short_dir) as served, connected(served) as client:
        for byte in PLUGINS % 1 + b"\r\n \n" + PLUGINS % 2:
            await client.write(bytes([byte]))
        assert [(await client.line())["id"] for _ in range(2)] == [1, 2]


async def test_ten_thousand_pipelined_requests_are_all_answered_in_order(short_dir: Path) -> None:
    """A flood of requests is answered whole and in order, and does not keep others from theirs."""
    async with (
        serving(short_dir) as served,
        connected(served) as client,
        connected(served) as other,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(client.write, b"".join(PLUGINS % n for n in range(10_000)))
        await other.ask("PluginsList", "fair")
        assert (await other.line())["id"] == "fair"
        assert [(await client.line())["id"] for _ in range(10_000)] == list(range(10_000))


async def test_who_asks_much_does_not_go_before_everybody_else(short_dir: Path) -> None:
    """While some clients' requests fill turn after turn, another one's is answered between them."""
    ask = b'{"jsonrpc":"2.0","id":%d,"method":"WorkshopCancelRun","params":{"workbench_id":"%b"}}\n'
    lines = b"".join(ask % (n, OTHER.encode()) for n in range(1500))
    async with AsyncExitStack() as stack, serving(short_dir) as served:
        greedy = [await stack.enter_async_context(connected(served)) for _ in range(5)]
        other = await stack.enter_async_context(connected(served))
        await other.write(PLUGINS % 1)
        assert (await other.line())["id"] == 1
        async with anyio.create_task_group() as tasks:
            for client in greedy:
                tasks.start_soon(client.write, lines)
            await until(lambda: served.slow)
            await other.write(PLUGINS % 2)
            assert (await other.line())["id"] == 2
            assert served.slow < 5 * 1500
            for client in greedy:
                assert [(await client.line())["id"] for _ in range(1500)] == list(range(1500))


async def test_pipelined_waiting_requests_are_bounded_and_all_answered(short_dir: Path) -> None:
    """At most 32 requests of a client are in flight; the rest wait their turn and are answered."""
    async with serving(short_dir) as served, connected(served) as client:
        line = b'{"jsonrpc":"2.0","id":%d,"method":"WorkbenchCreate","params":{"name":"wait"}}\n'
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(client.write, b"".join(line % n for n in range(200)))
            await until(lambda: served.waiting == 32)
            served.gate.set()
            assert {(await client.line())["id"] for _ in range(200)} == set(range(200))


async def test_a_client_that_does_not_read_its_answers_is_not_read(short_dir: Path) -> None:
    """What it has asked for is bounded in memory, and still answered when it reads at last."""
    ask = b'{"jsonrpc":"2.0","id":%d,"method":"WorkbenchList"}\n'
    written = []
    async with serving(short_dir) as served, connected(served) as client:

        async def writes() -> None:
            with suppress(anyio.BrokenResourceError):
                await client.write(b"".join(ask % n for n in range(10_000)))
                written.append(10_000)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(writes)
            await until(lambda: any(not each.outbox.is_idle for each in served.server._connections))
            await anyio.wait_all_tasks_blocked()
            (connection,) = served.server._connections
            assert connection.outbox._bytes <= ServerLimits().outbound_bytes + 101_000
            assert written == []
            assert [(await client.line())["id"] for _ in range(300)] == list(range(300))
            client.hang_up()


async def test_content_length_framing_is_spoken_to_who_speaks_it(short_dir: Path) -> None:
    """A client that begins with Content-Length gets its answers framed in the same way."""
    async with serving(short_dir) as served, connected(served) as client:
        body = (PLUGINS % 1).rstrip()
        await client.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        received = b""
        while b"}]}}\n" not in received:
            received += await client.stream.receive()
        head, _, answer = received.partition(b"\r\n\r\n")
        assert head == b"Content-Length: %d" % len(answer)
        assert json.loads(answer)["id"] == 1


async def test_a_batch_is_answered_in_one_line(short_dir: Path) -> None:
    """A batch gets one array, silent parts left out; one of silent parts only gets no answer."""
    async with serving(short_dir) as served, connected(served) as client:
        parts = [
            {"jsonrpc": "2.0", "id": 1, "method": "WorkbenchCreate", "params": {"name": "x"}},
            {"jsonrpc": "2.0", "method": "PluginsList"},
            {"jsonrpc": "2.0", "id": 2, "method": "PluginsList"},
            {"jsonrpc": "2.0", "id": 3, "method": "NoSuchMethod"},
        ]
        await client.write(msgspec.json.encode(parts) + b"\n")
        answers = await client.line()
        assert [answer["id"] for answer in answers] == [1, 2, 3]
        assert answers[2]["error"]["code"] == -32601
        await client.write(msgspec.json.encode(parts[1:2]) + b"\n" + PLUGINS % 9)
        assert (await client.line())["id"] == 9


async def test_an_application_error_carries_its_data_and_a_fault_does_not(short_dir: Path) -> None:
    """A KbdError reaches the client whole; any other exception only as a reference."""
    async with serving(short_dir) as served, connected(served) as client:
        await client.ask("WorkbenchOpen", workbench_id=WORKBENCH)
        error = (await client.line())["error"]
        assert error["code"] == -32000
        assert error["data"] == {
            "error_code": "NOT_FOUND",
            "phase": "workbench",
            "retryable": False,
            "workbench_id": OTHER,
        }
        for method in ("LogVerify", "WorkbenchDelete"):
            await client.ask(method, workbench_id=WORKBENCH)
            error = (await client.line())["error"]
            assert (error["code"], error["message"]) == (-32603, "internal error")
            assert set(error["data"]) == {"reference"}


async def test_a_disk_that_fails_is_told_without_a_path(short_dir: Path) -> None:
    """By its reason, and by the reference to the daemon's own log, which has all of it."""
    async with serving(short_dir) as served, connected(served) as client:
        await client.ask("WorkbenchDelete", workbench_id=OTHER)
        error = (await client.line())["error"]
        assert error["message"] == "a file of kbd's own cannot be used: Input/output error"
        assert error["data"]["error_code"] == "FILE_READ_FAILED"
        assert error["data"]["detail"]["reference"]
        assert "secret" not in str(error)


async def test_a_request_can_be_cancelled_by_who_made_it(short_dir: Path) -> None:
    """Its own client can cancel a request, once; another client's cancel does nothing."""
    cancel = b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"long"}}\n'
    async with (
        serving(short_dir) as served,
        connected(served) as client,
        connected(served) as other,
    ):
        await client.ask("WorkbenchCreate", "long", name="wait")
        await until(lambda: served.waiting == 1)
        await other.write(cancel + PLUGINS % 1)
        assert (await other.line())["id"] == 1
        assert served.waiting == 1
        await client.write(cancel)
        assert await client.line() == {
            "jsonrpc": "2.0",
            "id": "long",
            "error": {"code": -32800, "message": "request cancelled"},
        }
        assert served.waiting == 0
        await client.write(cancel + PLUGINS % 2)
        assert (await client.line())["id"] == 2


async def test_a_request_that_waits_holds_up_none_that_came_with_it(short_dir: Path) -> None:
    """Of requests that arrive at once, those that need not wait are answered before the others."""
    ask = b'{"jsonrpc":"2.0","id":%d,"method":"WorkbenchCreate","params":{"name":"%b"}}\n'
    names = [b"x", b"wait", b"x", b"wait", b"wait", b"x"]
    async with serving(short_dir) as served, connected(served) as client:
        await client.write(b"".join(ask % (n, name) for n, name in enumerate(names)))
        assert {(await client.line())["id"] for _ in range(3)} == {0, 2, 5}
        assert served.waiting == 3
        served.gate.set()
        assert {(await client.line())["id"] for _ in range(3)} == {1, 3, 4}


async def test_a_request_can_be_cancelled_before_it_has_begun(short_dir: Path) -> None:
    """A cancel that arrives together with its request leaves the ones beside it alone."""
    ask = b'{"jsonrpc":"2.0","id":%d,"method":"WorkbenchCreate","params":{"name":"wait"}}\n'
    cancel = b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":%d}}\n'
    async with serving(short_dir) as served, connected(served) as client:
        await client.write(ask % 1 + ask % 2 + ask % 3 + cancel % 1 + cancel % 2)
        told = [await client.line() for _ in range(2)]
        assert {(each["id"], each["error"]["code"]) for each in told} == {(1, -32800), (2, -32800)}
        await until(lambda: served.waiting == 1)
        served.gate.set()
        assert (await client.line())["id"] == 3


async def test_an_id_in_flight_cannot_be_used_again(short_dir: Path) -> None:
    """A second request with an id in flight is refused, and the first is still answered."""
    async with serving(short_dir) as served, connected(served) as client:
        await client.ask("WorkbenchCreate", 1, name="wait")
        await client.ask("WorkbenchCreate", 1, name="x")
        error = (await client.line())["error"]
        assert (error["code"], error["message"]) == (
            -32600,
            "a request with this id is in flight",
        )
        served.gate.set()
        assert "result" in await client.line()


async def test_discover_answers_the_methods_that_are_served(short_dir: Path) -> None:
    """`rpc.discover` names the methods that have a handler; others are no methods."""
    async with serving(short_dir) as served, connected(served) as client:
        await client.ask("rpc.discover")
        document = (await client.line())["result"]
        names = {method["name"] for method in document["methods"]}
        assert {"rpc.discover", "WorkbenchCreate", "EventsSubscribe"} <= names
        assert "DraftPublish" not in names
        await client.ask("DraftPublish", workbench_id=WORKBENCH)
        assert (await client.line())["error"]["code"] == -32601


@pytest.mark.parametrize(
    "hostile",
    [
        b"x" * 70_000,
        b"Content-Length: 99999999\r\n\r\n",
        b"Content-Length: x\r\n\r\n",
    ],
)
async def test_what_cannot_be_cut_into_messages_ends_the_connection(
    short_dir: Path, hostile: bytes
) -> None:
    """A stream that cannot be cut gets one last error and its end; others are still served."""
    limits = ServerLimits(message_bytes=65_536)
    async with serving(short_dir, limits) as served:
        async with connected(served) as client:
            await client.write(hostile)
            last = b""
            while not last.endswith(b"\n"):
                last += await client.stream.receive()
            assert b'"code":-32700' in last
            assert await client.lines_to_the_end() == []
        await _still_serves(served)


async def test_a_message_that_is_never_finished_ends_the_connection(short_dir: Path) -> None:
    """Half a message is told off and cut off after its time; what came before it is answered."""
    async with serving(short_dir, ServerLimits(partial_s=0.05)) as served:
        async with connected(served) as client:
            await client.write(PLUGINS % 1 + b'{"jsonrpc"')
            answer, last = await client.lines_to_the_end()
            assert answer["id"] == 1
            assert last["error"]["message"] == "parse error: a message was not finished"
        await _still_serves(served)


async def test_who_has_said_his_last_word_still_gets_his_answers(short_dir: Path) -> None:
    """A client that has closed its side gets the answers to what it asked, then the end."""
    async with serving(short_dir) as served, connected(served) as client:
        await client.ask("WorkbenchCreate", 1, name="wait")
        await client.write(PLUGINS % 2 + b'{"half')
        await client.stream.send_eof()
        assert (await client.line())["id"] == 2
        served.gate.set()
        assert [answer["id"] for answer in await client.lines_to_the_end()] == [1]


async def test_clients_that_vanish_leave_nothing_behind(short_dir: Path) -> None:
    """Whatever a client was at when it went, its connection and its requests end."""
    async with serving(short_dir, ServerLimits(grace_s=0.05)) as served:
        for sent in (b"", b'{"half', PLUGINS % 1, PLUGINS % 1 * 2000):
            async with connected(served) as client:
                await client.write(sent or b"\n")
                await client.ask("WorkbenchCreate", 5, name="wait")
                await until(lambda: served.server._connections)
            await until(lambda: not served.server._connections)
            assert served.waiting == 0
        await _still_serves(served)


async def _still_serves(served: Served) -> Any:
    async with connected(served) as client:
        await client.ask("PluginsList")
        assert "result" in await Raw(client.stream).line()
