"""Following with either client: each event once, from a cursor, and the caller knows how far."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest

from backends import on_asyncio, on_trio
from kbd.client.aio import connect
from kbd.client.blocking import Client, FollowedEvents
from kbd.client.errors import ConnectionLostError, RemoteError
from kbd.core.server.dispatch import ServerLimits
from kbd.requests.notifications import WorkshopPhaseStarted
from kbd.types import Phase
from served import OTHER, WORKBENCH, Served, serving

pytestmark = pytest.mark.anyio

STARTED = WorkshopPhaseStarted(workbench_id=WORKBENCH, phase=Phase.PLAN)


def test_an_event_counts_once_and_if_it_comes_next() -> None:
    """Whatever subscription tells it again, or tells what lies further on."""
    followed = FollowedEvents("*", {"a": 2})

    def take(log: str, *seqs: int) -> list[tuple[str, int]]:
        followed.add(log, [{"seq": seq} for seq in seqs])
        return [(log, event["seq"]) for log, event in _given(followed)]

    assert take("a", 1, 2, 3, 4) == [("a", 3), ("a", 4)]
    assert take("a", 3, 4) == take("a", 6, 7) == take("a") == []
    assert take("a", 5) == [("a", 5)]
    assert take("b", 1) == [("b", 1)]
    assert followed.delivered == {"a": 5, "b": 1}


def test_all_logs_after_one_number() -> None:
    """Of each what comes behind it; a shorter log is gone on with at its own end."""
    followed = FollowedEvents.of("*", 2)
    assert followed.subscription == {"workbench_id": "*", "cursors": {}}
    for log, seqs in {"a": (1, 2, 3), "b": (1,), "c": (1, 2)}.items():
        followed.add(log, [{"seq": seq} for seq in seqs])

    assert followed.delivered == {"b": 1, "c": 2}
    assert [(log, event["seq"]) for log, event in _given(followed)] == [("a", 3)]
    assert followed.delivered == {"a": 3, "b": 1, "c": 2}
    assert followed.subscription["cursors"] == followed.delivered
    followed.add("b", [{"seq": 2}, {"seq": 3}])
    assert [(log, event["seq"]) for log, event in _given(followed)] == [("b", 3)]
    assert FollowedEvents.of("a", 2).subscription == {"workbench_id": "a", "after": 2}


def _given(followed: FollowedEvents) -> Iterator[tuple[str, Any]]:
    while len(followed):
        yield followed.pop()


async def _blocking(served: Served, work: Callable[[Client], Any]) -> Any:
    """Run blocking work with a client in a thread, as a program of its own would."""

    def run() -> Any:
        with Client(str(served.path)) as client:
            return work(client)

    return await anyio.to_thread.run_sync(run)


@on_asyncio
async def test_who_stops_early_can_follow_again(short_dir: Path) -> None:
    """Leaving the loop ends the subscription; two logs are followed side by side, and all."""
    async with serving(short_dir) as served:
        served.logs.append(WORKBENCH, "x", 3)
        served.logs.append(OTHER, "y", 2)

        def work(client: Client) -> None:
            for _ in range(2):
                assert next(client.follow(WORKBENCH, after=1))["seq"] == 2
            one, other = client.follow(WORKBENCH), client.follow(OTHER)
            every = client.follow_all({WORKBENCH: 2})
            assert [next(one)["data"], next(other)["data"], next(one)["seq"]] == ["x", "y", 2]
            told = [next(every) for _ in range(3)]
            assert sorted((log, event["seq"]) for log, event in told) == [
                (WORKBENCH, 3), (OTHER, 1), (OTHER, 2),
            ]  # fmt: skip
            assert next(one)["seq"] == 3

        await _blocking(served, work)


@on_trio
async def test_the_loss_of_the_connection_says_what_was_given(short_dir: Path) -> None:
    """Not what was sent: what waits in the client was not seen by anybody."""
    async with serving(short_dir, ServerLimits(grace_s=0.05)) as served:
        served.logs.append(WORKBENCH, "x", 9)

        def work(client: Client) -> ConnectionLostError:
            events = client.follow(WORKBENCH, after=3)
            assert next(events)["seq"] == 4
            anyio.from_thread.run_sync(served.server.stop)
            with pytest.raises(ConnectionLostError) as raised:
                _ask_until_it_breaks(client)
            return raised.value

        assert (await _blocking(served, work)).cursors == {WORKBENCH: 4}


def _ask_until_it_breaks(client: Client) -> None:
    while True:  # what is on its way when the daemon stops is still answered
        client.send("PluginsList")


@on_asyncio
async def test_a_log_that_is_deleted_ends(short_dir: Path) -> None:
    """With either client; nobody waits for ever for what cannot come."""
    async with serving(short_dir) as served, connect(str(served.path)) as client:
        served.logs.append(WORKBENCH, "x", 2)
        async with client.follow(WORKBENCH) as events:
            assert (await anext(events))["seq"] == 1
            served.logs.delete(WORKBENCH)
            with anyio.fail_after(20):
                assert [event["seq"] async for event in events] == [2]
        served.logs.append(OTHER, "x", 2)

        def work(client: Client) -> list[int]:
            found = []
            for event in client.follow(OTHER):
                found.append(event["seq"])
                if event["seq"] == 2:
                    anyio.from_thread.run_sync(served.logs.delete, OTHER)
            return found

        assert await _blocking(served, work) == [1, 2]


@on_trio
async def test_who_asks_while_many_events_wait_is_answered(short_dir: Path) -> None:
    """Events that nobody takes do not stop the client from reading, and none of them is lost."""
    async with serving(short_dir) as served, connect(str(served.path)) as client:
        served.logs.append(WORKBENCH, "x" * 200, 8000)
        found = []
        async with client.follow(WORKBENCH) as events:
            async for event in events:
                found.append(event["seq"])
                if event["seq"] in (1, 2, 5000):
                    await client.send("PluginsList", timeout=20)
                if event["seq"] == 8000:
                    break
        assert found == list(range(1, 8001))


@on_asyncio
async def test_all_logs_are_followed_at_once(short_dir: Path) -> None:
    """Beside one of them: each follower gets each event once; a second of one log is refused."""
    async with serving(short_dir) as served, connect(str(served.path)) as client:
        served.logs.append(WORKBENCH, "x", 3)
        served.logs.append(OTHER, "y", 1)
        async with client.follow(WORKBENCH) as one, client.follow_all({OTHER: 0}) as every:
            told = [await anext(every) for _ in range(4)]
            assert sorted((log, event["seq"]) for log, event in told) == [
                (WORKBENCH, 1), (WORKBENCH, 2), (WORKBENCH, 3), (OTHER, 1),
            ]  # fmt: skip
            with pytest.raises(RemoteError, match="already subscribed"):
                async with client.follow(WORKBENCH):
                    pass
            served.logs.append(WORKBENCH, "z", 1)
            assert [(await anext(one))["seq"] for _ in range(4)] == [1, 2, 3, 4]
            assert (await anext(every))[1]["data"] == "z"


@on_asyncio
async def test_all_logs_are_followed_by_their_sign(short_dir: Path) -> None:
    """With either client `follow("*")` is answered: recorded events, then new ones."""
    async with serving(short_dir) as served, connect(str(served.path)) as client:
        served.logs.append(WORKBENCH, "x", 3)
        served.logs.append(OTHER, "y", 1)
        async with client.follow("*", after=2) as every:
            assert (await anext(every))["data"] == "x"
            served.logs.append(OTHER, "z", 2)
            assert (await anext(every))["seq"] == 3

        def work(blocking: Client) -> list[tuple[str, int]]:
            every = blocking.follow("*", after=2)
            found = [next(every) for _ in range(2)]
            return sorted((event["data"], event["seq"]) for event in found)

        assert await _blocking(served, work) == [("x", 3), ("z", 3)]


@on_asyncio
async def test_notifications_are_heard_one_after_the_other(short_dir: Path) -> None:
    """With either client, also those that came before they were asked for."""
    async with serving(short_dir) as served:

        def work(client: Client) -> list[tuple[str, str]]:
            client.send("WorkshopCancelRun", {"workbench_id": WORKBENCH})
            anyio.from_thread.run_sync(served.hub.announce, STARTED)
            client.send("PluginsList")
            anyio.from_thread.run_sync(served.hub.announce, STARTED)
            return [(method, params["phase"]) for method, params in client.notifications(0.2)]

        assert await _blocking(served, work) == [("WorkshopPhaseStarted", "plan")] * 2
        async with connect(str(served.path)) as client, client.notifications() as told:
            await client.send("WorkshopCancelRun", {"workbench_id": WORKBENCH})
            served.hub.announce(STARTED)
            assert (await anext(told))[0] == "WorkshopPhaseStarted"
            served.server.stop()
            with anyio.fail_after(20):
                assert [each async for each in told] == []
