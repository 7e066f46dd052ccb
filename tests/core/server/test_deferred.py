"""Answers that are told later, with no task that waits for them."""

from pathlib import Path

import msgspec
import pytest

from kbd.core.server.dispatch import ServerLimits
from kbd.errors import DiskFull
from kbd.requests.workshop import ActiveModel
from served import Served, connected, serving, until

pytestmark = pytest.mark.anyio

CHOOSE = (
    b'{"jsonrpc":"2.0","id":%d,"method":"WorkshopSetActiveModel",'
    b'"params":{"workbench_id":"00000000000000aa","model_id":"a:%b"}}\n'
)


def tell(served: Served, number: int) -> None:
    """Tell the n-th of the promised answers."""
    served.promised[number](ActiveModel(active_model_id=f"m{number}"))


async def test_an_answer_comes_when_it_is_told(short_dir: Path) -> None:
    """What is asked meanwhile is answered before; the answers come in the order of the telling."""
    async with serving(short_dir) as served, connected(served) as client:
        await client.write(CHOOSE % (1, b"later") + CHOOSE % (2, b"later") + CHOOSE % (3, b"now"))
        assert (await client.line())["id"] == 3
        tell(served, 1)
        tell(served, 0)
        assert [(await client.line())["id"] for _ in range(2)] == [2, 1]


async def test_an_error_is_told_like_an_answer(short_dir: Path) -> None:
    """An error in an answer's place, or raised at once, reaches the client with its code."""
    async with serving(short_dir) as served, connected(served) as client:
        await client.write(CHOOSE % (1, b"later") + CHOOSE % (2, b"refused"))
        refused = await client.line()
        served.promised[0](DiskFull("no space"))
        told = await client.line()
    assert (refused["id"], refused["error"]["data"]["error_code"]) == (2, "VALIDATION_FAILED")
    assert (told["id"], told["error"]["data"]["error_code"]) == (1, "DISK_FULL")


async def test_an_answer_that_cannot_be_said_is_an_internal_error(short_dir: Path) -> None:
    """What JSON has no form for is the daemon's fault; the client is told so and served on."""
    async with serving(short_dir) as served, connected(served) as client:
        await client.write(CHOOSE % (1, b"later"))
        await until(lambda: served.promised)
        served.promised[0](object())
        assert (await client.line())["error"]["code"] == -32603
        await client.write(CHOOSE % (2, b"now"))
        assert (await client.line())["id"] == 2


async def test_promised_answers_are_bounded_and_all_told(short_dir: Path) -> None:
    """Past the limit a client is not read on; what it sent then is served in its order."""
    limits = ServerLimits(in_flight=4)
    async with serving(short_dir, limits) as served, connected(served) as client:
        await client.write(b"".join(CHOOSE % (n, b"later") for n in range(10)))
        await until(lambda: len(served.promised) == 4)
        for number in range(10):
            await until(lambda n=number: len(served.promised) > n)
            tell(served, number)
            assert (await client.line())["id"] == number
        assert len(served.promised) == 10


async def test_an_id_whose_answer_is_promised_cannot_be_used_again(short_dir: Path) -> None:
    """The second request is refused; the first is answered when it is told."""
    async with serving(short_dir) as served, connected(served) as client:
        await client.write(CHOOSE % (1, b"later") + CHOOSE % (1, b"later"))
        assert (await client.line())["error"]["code"] == -32600
        tell(served, 0)
        assert (await client.line())["result"] == {"active_model_id": "m0"}
        await client.write(CHOOSE % (1, b"now"))
        assert (await client.line())["id"] == 1


async def test_a_fast_handler_may_ask_for_a_task(short_dir: Path) -> None:
    """What has to wait for more than the disk is waited for in a task, and can be cancelled."""
    async with serving(short_dir) as served, connected(served) as client:
        cancel = b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}\n'
        await client.write(CHOOSE % (1, b"waiting") + CHOOSE % (2, b"waiting") + cancel)
        assert (await client.line())["error"]["code"] == -32800
        served.gate.set()
        assert (await client.line())["id"] == 2


async def test_all_kinds_of_answers_go_into_one_batch(short_dir: Path) -> None:
    """A batch is answered in one line when the last of its answers is there."""
    names = (b"later", b"now", b"waiting", b"refused")
    parts = b",".join((CHOOSE % (n, name)).strip() for n, name in enumerate(names))
    async with serving(short_dir) as served, connected(served) as client:
        await client.write(b"[%b]\n" % parts)
        await until(lambda: served.promised)
        tell(served, 0)
        served.gate.set()
        answers = await client.line()
    assert [answer["id"] for answer in answers] == [0, 1, 2, 3]
    assert ["error" in answer for answer in answers] == [False, False, False, True]


async def test_who_has_left_is_told_nothing(short_dir: Path) -> None:
    """An answer to a client that is gone is dropped, and others are served."""
    async with serving(short_dir, ServerLimits(grace_s=0.05)) as served:
        async with connected(served) as client:
            await client.write(CHOOSE % (1, b"later"))
            await until(lambda: served.promised)
        await until(lambda: not served.server._connections)
        tell(served, 0)
        async with connected(served) as other:
            await other.write(CHOOSE % (2, b"now"))
            assert msgspec.json.encode(await other.line())
