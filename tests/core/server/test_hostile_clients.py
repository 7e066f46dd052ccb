"""What hostile clients send and do over the socket: all are answered or dropped, nobody is harmed.

The numbers are those of the table of hostile inputs of the design: B1 to B37.
"""

import os
import resource
import socket
import struct
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from kbd.core.server import listener
from kbd.core.server.dispatch import ServerLimits
from served import OTHER, WORKBENCH, Raw, Served, connected, serving, until

pytestmark = [pytest.mark.anyio, pytest.mark.sampled(2)]

PARSE, INVALID, NO_METHOD, BAD_PARAMS = -32700, -32600, -32601, -32602
REFUSED = -32000


def _call(method: str = "PluginsList", params: str = "{}", message_id: str = "1") -> bytes:
    text = f'{{"jsonrpc":"2.0","id":{message_id},"method":"{method}","params":{params}}}'
    return text.encode("utf-8", "surrogatepass")


def _after(cursor: str) -> bytes:
    return _call("EventsSubscribe", f'{{"workbench_id":"{WORKBENCH}","after":{cursor}}}')


ANSWERED: dict[str, tuple[bytes, int]] = {
    "B1 100,000 brackets": (b"[" * 100_000, PARSE),
    "B1 closed, too": (b"[" * 100_000 + b"]" * 100_000, PARSE),
    "B1 65 levels in a request": (
        _call(params='{"a":' + "[" * 65 + "]" * 65 + "}"),
        PARSE,
    ),
    "B2 1 MiB of empty arrays": (b"[" + b"[]," * 350_000 + b"[]]", PARSE),
    "B2 10 MiB of empty arrays": (b"[" + b"[]," * 3_400_000 + b"[]]", PARSE),
    "B2 10 MiB of numbers": (b"[" + b"300," * 2_500_000 + b"1]", PARSE),
    "B2 10 MiB of keys": (b'{"a":1' + b',"b":1' * 1_600_000 + b"}", PARSE),
    "B5 an id of 5,000 digits": (_call(message_id="9" * 5000), INVALID),
    "B5 a number of 5,000 digits": (_after("9" * 5000), BAD_PARAMS),
    "B6 2**64": (_after(str(2**64)), BAD_PARAMS),
    "B6 an id of 2**64": (_call(message_id=str(2**64)), INVALID),
    "B7 1e999": (_after("1e999"), BAD_PARAMS),
    "B8 NaN": (_after("NaN"), PARSE),
    "B8 Infinity": (_after("-Infinity"), PARSE),
    "B9 an id of 1.0": (_call(message_id="1.0"), INVALID),
    "B9 an id of -0.0": (_call(message_id="-0.0"), INVALID),
    "B12 an id of null": (_call(message_id="null"), INVALID),
    "B12 an id that is an array": (_call(message_id="[1]"), INVALID),
    "B12 an id of 10 kB": (_call(message_id='"' + "x" * 10_000 + '"'), INVALID),
    "B12 an id of true": (_call(message_id="true"), INVALID),
    "B13 no jsonrpc": (b'{"id":1,"method":"PluginsList"}', INVALID),
    "B14 an empty batch": (b"[]", INVALID),
    "B14 a batch of 101": (b"[" + b",".join([_call()] * 101) + b"]", INVALID),
    "B14 a batch of a million": (b"[" + b"1," * 1_000_000 + b"1]", PARSE),
    "B15 bytes that are no UTF-8": (b'{"a":"\xff"}', PARSE),
    "B16 a lone surrogate": (_call("\ud800"), PARSE),
    "B16 the same escaped": (_call("\\ud800"), PARSE),
    "B17 a byte order mark": (b"\xef\xbb\xbf" + _call(), PARSE),
    "B18 UTF-16": (_call().decode().encode("utf-16-le"), PARSE),
    "B19 an overlong slash": (b'{"a":"\xc0\xaf"}', PARSE),
    "B19 NUL": (b"\0", PARSE),
    "B27 __proto__": (_call("WorkbenchOpen", '{"__proto__":{"a":1}}'), BAD_PARAMS),
    "B27 a dunder": (_call("WorkbenchOpen", '{"__class__":"x"}'), BAD_PARAMS),
    "B28 a parameter too many": (
        _call("WorkbenchOpen", f'{{"workbench_id":"{WORKBENCH}","x":1}}'),
        BAD_PARAMS,
    ),
    "B29 parameters by place": (_call("WorkbenchOpen", f'["{WORKBENCH}"]'), BAD_PARAMS),
    "B34 no such method": (_call("DraftPublishQuietly"), NO_METHOD),
    "B36 after -1": (_after("-1"), BAD_PARAMS),
    "B36 after 2**63": (_after(str(2**63)), BAD_PARAMS),
    "B36 after what comes": (_after("1000"), REFUSED),
    "B37 a method that is a line feed and an escape": (_call("a\\n\\u001b[31mb"), NO_METHOD),
}


@pytest.mark.parametrize("framing", ["lines", "headers"])
async def test_hostile_messages_are_answered_with_their_codes(
    short_dir: Path, framing: str
) -> None:
    """Each gets one answer with its code, in both framings; the connection serves on afterwards.

    What the answer quotes has nothing in it that acts in a terminal.
    """
    async with serving(short_dir) as served:
        for name, (message, code) in ANSWERED.items():
            if framing == "headers" and len(message) > 2_000_000:
                continue  # the same bytes as a line
            async with connected(served) as client:
                await _write(client, message, framing)
                answer = await _read(client, framing)
                assert answer.get("error", {}).get("code") == code, (name, answer)
                assert answer["error"]["message"].isprintable(), name
                await _write(client, _call(message_id='"again"'), framing)
                assert (await _read(client, framing))["id"] == "again", name


async def _write(client: Raw, message: bytes, framing: str) -> None:
    if framing == "headers":
        await client.write(b"Content-Length: %d\r\n\r\n%b" % (len(message), message))
    else:
        # UTF-16 has a NUL behind its line feed; what follows is a message of its own.
        await client.write(message + b"\n")


async def _read(client: Raw, framing: str) -> Any:
    if framing == "lines":
        return await client.line()
    with anyio.fail_after(20):
        found = b""
        while b"\r\n\r\n" not in found:
            found += await client.stream.receive()
        head, _, body = found.partition(b"\r\n\r\n")
        while len(body) < int(head.partition(b":")[2]):
            body += await client.stream.receive()
    return msgspec.json.decode(body)


@pytest.mark.parametrize(
    "stream",
    [
        pytest.param(b"x" * 70_000, id="B3 a line that is too long"),
        pytest.param(b"Content-Length: -5\r\n\r\n", id="a negative length"),
        pytest.param(b"Content-Length: 2000000000\r\n\r\n", id="B4 2 GB announced"),
        pytest.param(b"Content-Length: " + b"9" * 3000 + b"\r\n\r\n", id="a giant length"),
        pytest.param(
            b"Content-Length: 2\r\nContent-Length: 40\r\n\r\n{}", id="two lengths that differ"
        ),
        pytest.param(b"Content-Length: 2\r\n" + b"X: y\r\n" * 2000, id="headers without end"),
    ],
)
async def test_what_cannot_be_framed_is_said_once_and_ends_the_connection(
    short_dir: Path, stream: bytes
) -> None:
    """It is answered with -32700 and the connection ends; nothing behind it is carried out."""
    async with (
        serving(short_dir, ServerLimits(message_bytes=65_536)) as served,
        connected(served) as client,
    ):
        await client.write(stream + b"\n" + _call("DaemonShutdown") + b"\n")
        text = b""
        try:
            with anyio.fail_after(20):
                while True:
                    text += await client.stream.receive()
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            pass
        assert text.count(b'"code":-32700') == 1
        assert text.count(b'"jsonrpc"') == 1
        async with connected(served) as other:
            await other.ask("PluginsList")
            assert "result" in await other.line()


async def test_ids_that_are_used_or_foreign_cancel_nothing(short_dir: Path) -> None:
    """B11, B30: an id in flight is refused; to cancel another's or a finished one does nothing."""
    async with serving(short_dir) as served, connected(served) as one, connected(served) as two:
        await one.ask("WorkbenchCreate", 7, name="wait")
        await until(lambda: served.waiting == 1)
        await one.ask("PluginsList", 8)
        await one.ask("WorkbenchCreate", 7, name="wait")
        assert [(await one.line())["id"] for _ in range(2)] == [8, 7]
        await two.write(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7}}\n')
        await one.write(b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":8}}\n')
        for client in (one, two):
            await client.ask("PluginsList", 9)
            assert (await client.line())["id"] == 9
        assert served.waiting == 1
        served.gate.set()
        assert "result" in await one.line()


async def test_of_a_key_that_occurs_twice_the_last_counts(short_dir: Path) -> None:
    """B10: the method that is named last is the one that is carried out."""
    async with serving(short_dir) as served, connected(served) as client:
        twice = b'{"jsonrpc":"2.0","id":1,"method":"DaemonShutdown","method":"PluginsList"}\n'
        await client.write(twice)
        assert "plugins" in (await client.line())["result"]


async def test_clients_that_break_off_leave_no_descriptor(short_dir: Path) -> None:
    """B20 to B23, B33: half a frame, half-closed, reset amid an answer, descriptors sent along."""
    async with serving(short_dir, ServerLimits(grace_s=0.1, stall_s=0.1)) as served:
        async with connected(served) as first:
            await first.ask("PluginsList")
            await first.line()
        await until(lambda: not served.server._connections)
        before = len(os.listdir("/proc/self/fd"))
        for turn in range(20):
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(served.path))
                client.setblocking(False)
                match turn % 4:
                    case 0:
                        client.send(b'{"jsonrpc"')
                    case 1:
                        client.send(_call() + b"\n" + b"Content-Len")
                        client.shutdown(socket.SHUT_WR)
                    case 2:
                        # Bytes that are never read have the kernel reset the other end.
                        client.send((_call("WorkbenchList") + b"\n") * 100)
                        client.setsockopt(
                            socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0)
                        )
                    case _:
                        rights = struct.pack("2i", *os.pipe())
                        client.sendmsg([b"{"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
                        for fd in struct.unpack("2i", rights):
                            os.close(fd)
                await anyio.sleep(0.01)
        await until(lambda: not served.server._connections)
        await until(lambda: len(os.listdir("/proc/self/fd")) <= before)


async def test_who_sends_a_byte_at_a_time_is_late_all_the_same(short_dir: Path) -> None:
    """B21: the time of a message runs from its first byte, however it trickles in."""
    async with (
        serving(short_dir, ServerLimits(partial_s=0.3)) as served,
        connected(served) as client,
    ):
        with anyio.fail_after(20):
            try:
                for byte in _call() * 10:
                    await client.write(bytes([byte]))
                    await anyio.sleep(0.02)
            except anyio.BrokenResourceError:
                pass
        (told,) = await client.lines_to_the_end()
        assert "not finished" in told["error"]["message"]


async def test_a_crowd_is_served_up_to_the_limit_and_told_beyond(short_dir: Path) -> None:
    """B24: up to the limit clients are served; each one past it is refused with -32001."""
    async with (
        serving(short_dir, ServerLimits(connections=20)) as served,
        anyio.create_task_group() as tasks,
    ):
        held = anyio.Event()
        ready: list[int] = []

        async def hold() -> None:
            async with connected(served) as client:
                await client.ask("PluginsList")
                assert "result" in await client.line()
                ready.append(1)
                await held.wait()

        for _ in range(20):
            tasks.start_soon(hold)
        await until(lambda: len(ready) == 20)
        for _ in range(5):
            async with connected(served) as late:
                await late.ask("PluginsList", 3)
                (told,) = await late.lines_to_the_end()
                assert (told["id"], told["error"]["code"]) == (3, -32001)
        async with connected(served) as long:
            # It is given no room for a long message either.
            await long.write(_call(message_id="9")[:-1] + b" " * 70_000 + b"}\n")
            (told,) = await long.lines_to_the_end()
            assert (told["id"], told["error"]["code"]) == (None, -32001)
        held.set()


async def test_a_client_that_takes_nothing_is_dropped_with_its_cursors(short_dir: Path) -> None:
    """B25: answers that nobody reads count: after `stall_s` the client is told where to resume.

    Without a subscription, too; and one that reads, however much waits for it, is not dropped.
    """
    async with (
        serving(short_dir, ServerLimits(stall_s=0.5)) as served,
        connected(served) as stalled,
        connected(served) as reader,
    ):
        for client in (stalled, reader):
            for number in range(64):
                await client.ask("WorkbenchList", number)
        for number in range(64):
            assert (await reader.line())["id"] == number
        await until(lambda: any(each._is_dropped for each in served.server._connections))
        told = await stalled.lines_to_the_end()
        assert told[-1]["method"] == "ConnectionDropped"
        assert told[-1]["params"] == {"reason": "slow_consumer", "cursors": {}}
        await reader.ask("PluginsList", "on")
        assert (await reader.line())["id"] == "on"


async def test_what_waits_for_all_clients_is_bounded(short_dir: Path) -> None:
    """Past the bound of all together, who has taken nothing longest goes, however long that is."""
    limits = ServerLimits(stall_s=60, outbound_bytes=200_000, backlog_bytes=500_000)
    async with (
        serving(short_dir, limits) as served,
        connected(served) as one,
        connected(served) as two,
        connected(served) as three,
    ):
        for client in (one, two, three):
            for number in range(8):
                await client.ask("WorkbenchList", number)
            # Each of them has taken nothing for longer than the next.
            await anyio.sleep(1.1 if client is not three else 0)
        lines = await one.lines_to_the_end()
        assert lines[-1]["method"] == "ConnectionDropped"


async def test_pipelined_requests_wait_while_others_are_served(short_dir: Path) -> None:
    """B26: of 10,000 requests no more are begun than may be in flight; others go between."""
    async with serving(short_dir) as served, connected(served) as much, connected(served) as other:
        line = _call("WorkbenchCreate", '{"name":"wait"}', "%d") + b"\n"
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(much.write, b"".join(line % number for number in range(10_000)))
            await until(lambda: served.waiting == 32)
            await other.ask("PluginsList", "mine")
            assert (await other.line())["id"] == "mine"
            assert served.waiting == 32
            served.gate.set()
            answered = {(await much.line())["id"] for _ in range(10_000)}
            assert answered == set(range(10_000))


@pytest.mark.parametrize("junk", [b"\n", b"x\n", b"{}\n"], ids=["empty", "garbage", "objects"])
async def test_lines_that_are_nothing_do_not_hold_up_others(short_dir: Path, junk: bytes) -> None:
    """However many come in one chunk, another client's request goes between them."""
    async with (
        serving(short_dir) as served,
        connected(served) as flood,
        connected(served) as other,
        anyio.create_task_group() as tasks,
    ):

        async def drain() -> None:
            with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
                while True:
                    await flood.stream.receive()

        async def fill() -> None:
            with suppress(anyio.BrokenResourceError):
                await flood.write(junk * 200_000)

        tasks.start_soon(drain)
        tasks.start_soon(fill)
        for number in range(20):
            await other.ask("PluginsList", number)
            assert (await other.line())["id"] == number
        flood.hang_up()


async def test_a_chunk_of_one_client_is_answered_in_slices(short_dir: Path) -> None:
    """Who asks one thing is answered before all that came in one chunk of another client."""
    async with serving(short_dir) as served:
        with socket.socket(socket.AF_UNIX) as much, socket.socket(socket.AF_UNIX) as other:
            for client in (much, other):
                client.connect(str(served.path))
                client.sendall(_call() + b"\n")
                client.settimeout(0)
                with anyio.fail_after(20):
                    await anyio.wait_readable(client)
                assert b'"result"' in client.recv(65_536)
            slow = b'{"jsonrpc":"2.0","method":"WorkshopCancelRun","params":%b}\n'
            line = slow % b'{"workbench_id":"00000000000000bb"}'
            count = 60_000 // len(line)
            # Both are there before the server looks.
            much.send(line * count)
            other.send(_call() + b"\n")
            with anyio.fail_after(20):
                await anyio.wait_readable(other)
            assert served.slow < count
            await until(lambda: served.slow == count)


async def test_a_batch_has_no_longer_answer_than_a_message_may_be(short_dir: Path) -> None:
    """Past that its calls are refused, each with its id, and not carried out."""
    limits = ServerLimits(message_bytes=100_000)
    async with serving(short_dir, limits) as served, connected(served) as client:
        calls = [_call("WorkbenchList", message_id=str(number)) for number in range(4)]
        slow = _call("WorkshopCancelRun", f'{{"workbench_id":"{OTHER}"}}', '"done"')
        untold = slow.replace(b'"id":"done",', b"")
        await client.write(b"[" + b",".join([*calls, slow, untold]) + b"]\n")
        answers: Any = await client.line()
        codes = [each.get("error", {}).get("code") for each in answers]
        assert [each["id"] for each in answers] == [0, 1, 2, 3, "done"]
        assert codes == [None, -32001, -32001, -32001, -32001]
        assert served.slow == 0
        await client.ask("PluginsList", "again")
        assert (await client.line())["id"] == "again"


async def test_a_batch_of_what_waits_for_nothing_lets_others_between(short_dir: Path) -> None:
    """Calls that are answered at once follow each other in slices, as those of a chunk do."""
    async with serving(short_dir) as served, connected(served) as much, connected(served) as other:
        slow = _call("WorkshopCancelRun", f'{{"workbench_id":"{OTHER}"}}', '"%d"')
        await much.write(b"[" + b",".join(slow % number for number in range(100)) + b"]\n")
        await other.ask("PluginsList", "mine")
        assert (await other.line())["id"] == "mine"
        assert served.slow < 100
        assert len(await much.line()) == 100


async def test_long_messages_wait_for_room_and_all_arrive(short_dir: Path) -> None:
    """Long messages are held within the budget of all clients; each has its turn and its answer."""
    limits = ServerLimits(message_bytes=300_000, long_bytes=300_000)
    async with serving(short_dir, limits) as served:

        async def ask(number: int) -> None:
            async with connected(served) as client:
                await client.write(_long_call(number, "long"))
                answer = await client.line()
                assert (answer["id"], "result" in answer) == (number, True)
                answered.append(number)

        answered: list[int] = []
        async with anyio.create_task_group() as tasks:
            for number in range(8):
                tasks.start_soon(ask, number)
        assert sorted(answered) == list(range(8))


async def test_who_finds_no_room_for_a_long_message_is_told_in_time(short_dir: Path) -> None:
    """A long message that has to wait for room too long is refused with -32001, and not held.

    What is in flight takes room until it is answered; others' short messages need none.
    """
    limits = ServerLimits(message_bytes=300_000, long_bytes=300_000, partial_s=0.3)
    async with serving(short_dir, limits) as served, connected(served) as holder:
        await holder.write(_long_call(1, "wait"))
        await until(lambda: served.waiting == 1)
        async with connected(served) as late:
            with suppress(anyio.BrokenResourceError):
                await late.write(_long_call(2, "late"))
            assert _held(served) <= 192 * 1024
            (told,) = await late.lines_to_the_end()
            assert told["error"]["code"] == -32001
        async with connected(served) as short:
            await short.ask("PluginsList")
            assert "result" in await short.line()
        served.gate.set()
        assert "result" in await holder.line()
        # The room is free again.
        async with connected(served) as late:
            await late.write(_long_call(3, "late"))
            assert "result" in await late.line()


def _long_call(number: int, name: str) -> bytes:
    """Return a request of 250,000 bytes."""
    call = _call("WorkbenchCreate", f'{{"name":"{name}"}}', str(number))
    return call[:-1] + b" " * 250_000 + b"}\n"


def _held(served: Served) -> int:
    return sum(each._intake._framer.held for each in served.server._connections)


async def test_no_descriptors_left_neither_spins_nor_ends_the_server(short_dir: Path) -> None:
    """EMFILE at accept is waited out: when descriptors are free, who waited is served."""
    async with serving(short_dir) as served, connected(served) as before:
        await before.ask("PluginsList", 0)
        await before.line()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        waiting = socket.socket(socket.AF_UNIX)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, _fds())) + 1, hard))
        try:
            fillers = _fill()
            waiting.connect(str(served.path))
            await anyio.sleep(0.3)
            await before.ask("PluginsList", 1)
            assert (await before.line())["id"] == 1
            for fd in fillers:
                os.close(fd)
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        with waiting:
            waiting.sendall(_call() + b"\n")
            with anyio.fail_after(20):
                waiting.setblocking(False)
                await anyio.wait_readable(waiting)
            assert b'"result"' in waiting.recv(65_536)


async def test_a_client_that_waits_in_vain_for_a_descriptor_is_told(
    short_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused by the code of a crowd, with a descriptor that was kept for it."""
    monkeypatch.setattr(listener, "_ACCEPT_RETRY_S", 0.01)
    async with serving(short_dir) as served:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        with socket.socket(socket.AF_UNIX) as waiting:
            waiting.setblocking(False)
            resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, _fds())) + 1, hard))
            fillers = _fill()
            try:
                waiting.connect(str(served.path))
                waiting.send(_call() + b"\n")
                with anyio.fail_after(20):
                    await anyio.wait_readable(waiting)
                refused = waiting.recv(65_536)
            finally:
                for fd in fillers:
                    os.close(fd)
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        assert b'"code":-32001,"message":"too many open files; try again later"' in refused
        async with connected(served) as after:
            await after.ask("PluginsList", 1)
            assert (await after.line())["id"] == 1


def _fds() -> list[str]:
    return os.listdir("/proc/self/fd")


def _fill() -> list[int]:
    """Take all descriptors that are left."""
    taken = []
    try:
        while True:
            taken.append(os.dup(0))
    except OSError:
        return taken
