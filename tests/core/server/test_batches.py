"""Batches: in order, each part by itself, and each part can be cancelled by itself."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from backends import on_asyncio, on_trio
from kbd.requests.notifications import WorkshopPhaseStarted
from kbd.types import Phase
from served import WORKBENCH, Raw, connected, serving, until

pytestmark = pytest.mark.anyio

LIST = {"jsonrpc": "2.0", "method": "PluginsList"}
WAIT = {"jsonrpc": "2.0", "method": "WorkbenchCreate", "params": {"name": "wait"}}


def cancel(message_id: Any) -> dict[str, Any]:
    """The notification that cancels a request."""
    return {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": message_id}}


async def send(client: Raw, message: Any) -> None:
    """Send a message as it is."""
    await client.write(msgspec.json.encode(message) + b"\n")


def outcomes(answers: list[Any]) -> list[tuple[Any, Any]]:
    """Each answer's id, and the code of its error or None."""
    return [(each["id"], each.get("error", {}).get("code")) for each in answers]


@on_trio
async def test_a_slow_part_loses_none_of_the_others(short_dir: Path) -> None:
    """The others are answered with it, in their order; other requests do not wait for it."""
    async with serving(short_dir) as served, connected(served) as client:
        await send(client, [LIST | {"id": 1}, WAIT | {"id": 2}, 7, LIST | {"id": 3}])
        await until(lambda: served.waiting == 1)
        await send(client, LIST | {"id": 4})
        assert (await client.line())["id"] == 4
        served.gate.set()
        found = await client.line()
        assert outcomes(found) == [(1, None), (2, None), (None, -32600), (3, None)]


@on_asyncio
async def test_any_part_of_a_batch_can_be_cancelled(short_dir: Path) -> None:
    """The one under way, and one whose turn has not come, which is then never begun."""
    async with serving(short_dir) as served, connected(served) as client:
        await send(client, [WAIT | {"id": "a"}, WAIT | {"id": "b"}, LIST | {"id": "c"}])
        await until(lambda: served.waiting == 1)
        for named in ("b", "unknown", "a", "a"):
            await send(client, cancel(named))
        found = await client.line()
        assert outcomes(found) == [("a", -32800), ("b", -32800), ("c", None)]
        assert served.waiting == 0
        await send(client, LIST | {"id": "b"})
        assert "result" in await client.line()


@on_asyncio
async def test_a_cancel_in_a_batch_need_not_wait_for_what_it_cancels(short_dir: Path) -> None:
    """It is heeded when the batch arrives; what comes before its request is of no effect."""
    async with serving(short_dir) as served, connected(served) as client:
        parts = [cancel(2), WAIT | {"id": 1}, LIST | {"id": 2}, cancel(1)]
        await send(client, parts)
        assert outcomes(await client.line()) == [(1, -32800), (2, None)]
        assert served.waiting == 0


@on_trio
async def test_an_id_is_used_once_in_a_batch_and_beside_it(short_dir: Path) -> None:
    """The second of one id is refused, the first is answered; afterwards it is free again."""
    async with serving(short_dir) as served, connected(served) as client:
        await send(client, [WAIT | {"id": 1}, LIST | {"id": 2}, LIST | {"id": 2}])
        await until(lambda: served.waiting == 1)
        await send(client, WAIT | {"id": 2})
        assert outcomes([await client.line()]) == [(2, -32600)]
        served.gate.set()
        assert outcomes(await client.line()) == [(1, None), (2, None), (2, -32600)]
        await send(client, LIST | {"id": 2})
        assert "result" in await client.line()


@on_asyncio
@pytest.mark.parametrize("count", [0, 101])
async def test_a_batch_has_one_to_a_hundred_parts(short_dir: Path, count: int) -> None:
    """Another is refused as a whole, with one error; one of a hundred is answered."""
    async with serving(short_dir) as served, connected(served) as client:
        await send(client, [LIST | {"id": n} for n in range(count)])
        assert outcomes([await client.line()]) == [(None, -32600)]
        await send(client, [LIST | {"id": n} for n in range(100)])
        assert outcomes(await client.line()) == [(n, None) for n in range(100)]


@on_asyncio
async def test_who_speaks_headers_is_told_of_workbenches_in_headers(short_dir: Path) -> None:
    """Notifications and batches are framed as answers are."""
    async with serving(short_dir) as served, connected(served) as client:
        ask = {"jsonrpc": "2.0", "method": "WorkshopCancelRun"}
        named = {"params": {"workbench_id": WORKBENCH}}
        body = msgspec.json.encode([ask | named | {"id": 1}, LIST])
        await client.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        answers = await _framed(client)
        served.hub.announce(WorkshopPhaseStarted(workbench_id=WORKBENCH, phase=Phase.PLAN))
        assert outcomes(answers) == [(1, None)]
        assert (await _framed(client))["method"] == "WorkshopPhaseStarted"


async def _framed(client: Raw) -> Any:
    """Return the next message, which must be framed and come alone."""
    head, _, body = (await client.stream.receive()).partition(b"\r\n\r\n")
    assert head == b"Content-Length: %d" % len(body)
    return msgspec.json.decode(body)
