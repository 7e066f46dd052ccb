"""Events reach every subscriber once and in order; who does not read is dropped, nobody else."""

from pathlib import Path
from typing import Any

import anyio
import pytest

from kbd.core.server.dispatch import ServerLimits
from kbd.requests.notifications import WorkshopAssistantMessageComplete, WorkshopPhaseStarted
from kbd.types import Phase
from served import OTHER, WORKBENCH, Raw, Served, connected, serving, until

pytestmark = pytest.mark.anyio

SMALL = ServerLimits(outbound_bytes=64 * 1024, stall_s=0.3)


async def _seqs(client: Raw, last: int, workbench_id: str = WORKBENCH) -> list[int]:
    """Read EventsAppended until an event; return the numbers of all events on the way."""
    found: list[int] = []
    while not found or found[-1] < last:
        message = await client.line()
        if message["method"] == "EventsAppended":
            assert message["params"]["workbench_id"] == workbench_id
            found += [event["seq"] for event in message["params"]["events"]]
            assert message["params"]["last_seq"] == found[-1]
    return found


async def _subscribe(client: Raw, **params: Any) -> None:
    await client.ask("EventsSubscribe", "sub", **params)
    assert "result" in await client.line()


async def test_history_then_one_synced_then_live(short_dir: Path) -> None:
    """A subscriber gets what is after its cursor, one EventsSynced, then what is new, gapless."""
    async with serving(short_dir) as served, connected(served) as client:
        served.logs.append(WORKBENCH, "old", 700)
        await _subscribe(client, workbench_id=WORKBENCH, after=10)
        assert await _seqs(client, 700) == list(range(11, 701))
        synced = await client.line()
        assert synced["method"] == "EventsSynced"
        assert synced["params"] == {"workbench_id": WORKBENCH, "seq": 700}
        served.logs.append(WORKBENCH, "new", 3)
        assert await _seqs(client, 703) == [701, 702, 703]


async def test_an_empty_history_is_synced_at_once(short_dir: Path) -> None:
    """A subscriber to an empty log is told at once that it has everything."""
    async with serving(short_dir) as served, connected(served) as client:
        await _subscribe(client, workbench_id=WORKBENCH)
        assert (await client.line())["params"]["seq"] == 0


async def test_all_logs_are_followed_with_their_cursors(short_dir: Path) -> None:
    """A subscription to "*" begins in each log at its cursor, or else at the beginning."""
    async with serving(short_dir) as served, connected(served) as client:
        served.logs.append(WORKBENCH, "x", 3)
        served.logs.append(OTHER, "x", 2)
        await _subscribe(client, workbench_id="*", cursors={WORKBENCH: 2})
        first, second, synced = [await client.line() for _ in range(3)]
        seen = {
            message["params"]["workbench_id"]: [e["seq"] for e in message["params"]["events"]]
            for message in (first, second)
        }
        assert seen == {WORKBENCH: [3], OTHER: [1, 2]}
        assert synced["params"] == {"workbench_id": "*", "cursors": {WORKBENCH: 3, OTHER: 2}}


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"workbench_id": WORKBENCH, "after": 1}, "VALIDATION_FAILED"),
        ({"workbench_id": "daemon"}, "NOT_FOUND"),
        ({"workbench_id": "*", "after": 1}, "VALIDATION_FAILED"),
        ({"workbench_id": WORKBENCH, "cursors": {WORKBENCH: 0}}, "VALIDATION_FAILED"),
    ],
)
async def test_a_subscription_that_cannot_be_is_refused(
    short_dir: Path, params: dict[str, Any], code: str
) -> None:
    """A cursor past the end or of the wrong kind, or an unknown log, is refused by its code."""
    async with serving(short_dir) as served, connected(served) as client:
        await client.ask("EventsSubscribe", **params)
        assert (await client.line())["error"]["data"]["error_code"] == code


async def test_a_log_is_followed_once_and_can_be_left(short_dir: Path) -> None:
    """A log is followed once at a time; who leaves it gets nothing until it subscribes again."""
    async with serving(short_dir) as served, connected(served) as client:
        await _subscribe(client, workbench_id=WORKBENCH)
        assert (await client.line())["method"] == "EventsSynced"
        await client.ask("EventsSubscribe", workbench_id=WORKBENCH)
        assert "already subscribed" in (await client.line())["error"]["message"]
        for expected in (True, False):
            await client.ask("EventsUnsubscribe", workbench_id=WORKBENCH)
            assert (await client.line())["result"] == {"unsubscribed": expected}
        served.logs.append(WORKBENCH, "x")
        await client.ask("PluginsList", "next")
        assert (await client.line())["id"] == "next"
        await _subscribe(client, workbench_id=WORKBENCH)
        assert await _seqs(client, 1) == [1]


async def test_a_connection_is_told_of_what_it_has_named(short_dir: Path) -> None:
    """Notifications go to the clients that have named their workbench, and to no others."""
    async with (
        serving(short_dir) as served,
        connected(served) as client,
        connected(served) as other,
    ):
        started = WorkshopPhaseStarted(workbench_id=WORKBENCH, phase=Phase.PLAN)
        await client.ask("WorkshopCancelRun", workbench_id=WORKBENCH)
        await client.line()
        await other.ask("WorkshopCancelRun", workbench_id=OTHER)
        await other.line()
        served.hub.announce(started)
        assert (await client.line())["params"] == {"workbench_id": WORKBENCH, "phase": "plan"}
        await other.ask("PluginsList", "nothing before")
        assert (await other.line())["id"] == "nothing before"
    await until(lambda: not served.hub._listeners)


async def test_who_names_the_daemons_own_log_is_told_of_it(short_dir: Path) -> None:
    """What lands in watched folders is told under its name."""
    async with serving(short_dir) as served, connected(served) as client:
        await client.ask("EventsUnsubscribe", workbench_id="daemon")
        assert (await client.line())["result"] == {"unsubscribed": False}
        served.hub.announce(WorkshopPhaseStarted(workbench_id="daemon", phase=Phase.PLAN))
        assert (await client.line())["params"] == {"workbench_id": "daemon", "phase": "plan"}


async def test_fifty_clients_one_of_them_stalled(short_dir: Path) -> None:
    """The others get every event; the stalled one is dropped with its cursor and loses nothing."""
    total = 6000
    async with serving(short_dir, SMALL) as served, connected(served) as stalled:
        await _subscribe(stalled, workbench_id=WORKBENCH)

        async def reads_all() -> None:
            async with connected(served) as client:
                await _subscribe(client, workbench_id=WORKBENCH)
                assert await _seqs(client, total) == list(range(1, total + 1))

        async with anyio.create_task_group() as tasks:
            for _ in range(49):
                tasks.start_soon(reads_all)
            for _ in range(total // 500):
                served.logs.append(WORKBENCH, "x" * 100, 500)
                await anyio.sleep(0.01)
        await until(lambda: len(served.server._connections) == 0)
        await _resumes_without_a_gap(served, stalled, total)


async def _resumes_without_a_gap(served: Served, stalled: Raw, total: int) -> None:
    *messages, last = await stalled.lines_to_the_end()
    appended = [m["params"] for m in messages if m.get("method") == "EventsAppended"]
    before = [event["seq"] for params in appended for event in params["events"]]
    if last.get("method") == "ConnectionDropped":
        assert last["params"] == {
            "reason": "slow_consumer",
            "cursors": {WORKBENCH: before[-1]},
        }
    assert before[-1] < total
    async with connected(served) as again:
        await _subscribe(again, workbench_id=WORKBENCH, after=before[-1])
        assert before + await _seqs(again, total) == list(range(1, total + 1))


async def test_who_is_slow_but_reads_at_last_is_told_where_to_go_on(short_dir: Path) -> None:
    """The last message to a dropped client gives the cursor of the last event that it was sent."""
    async with (
        serving(short_dir, ServerLimits(outbound_bytes=64 * 1024, stall_s=1.0)) as served,
        connected(served) as slow,
    ):
        await slow.ask("WorkshopCancelRun", workbench_id=WORKBENCH)
        await slow.line()
        await _subscribe(slow, workbench_id=WORKBENCH)
        served.logs.append(WORKBENCH, "x" * 100, 5000)
        started = WorkshopPhaseStarted(workbench_id=WORKBENCH, phase=Phase.PLAN)
        (connection,) = served.server._connections
        while not connection._is_dropped:
            served.hub.announce(started)
            await anyio.lowlevel.checkpoint()
        *messages, last = await slow.lines_to_the_end()
        assert last["method"] == "ConnectionDropped"
        assert last["params"]["reason"] == "slow_consumer"
        sent = [m["params"]["last_seq"] for m in messages if m["method"] == "EventsAppended"]
        assert last["params"]["cursors"] == {WORKBENCH: sent[-1]}


async def test_a_long_notification_drops_nobody(short_dir: Path) -> None:
    """One that is longer than all that may wait reaches who reads; a second one beside it may not.

    A model's answer is up to a million characters, in UTF-8 up to four million bytes.
    """
    text = "ä" * SMALL.outbound_bytes
    complete = WorkshopAssistantMessageComplete(workbench_id=WORKBENCH, message_id="m", text=text)
    async with serving(short_dir, SMALL) as served, connected(served) as client:
        await client.ask("WorkshopCancelRun", workbench_id=WORKBENCH)
        await client.line()
        for _ in range(3):
            served.hub.announce(complete)
            assert (await client.line())["params"]["text"] == text
        (connection,) = served.server._connections
        for _ in range(3):
            served.hub.announce(complete)
        assert connection._is_dropped


async def test_what_gathers_is_sent_together(short_dir: Path) -> None:
    """Events and notifications under backlog cost far fewer sends than there are of them."""
    async with serving(short_dir) as served, connected(served) as client:
        await client.ask("WorkshopCancelRun", workbench_id=WORKBENCH)
        await client.line()
        (connection,) = served.server._connections
        before = connection.outbox.sends
        for _ in range(800):
            served.hub.announce(WorkshopPhaseStarted(workbench_id=WORKBENCH, phase=Phase.PLAN))
        for _ in range(800):
            assert (await client.line())["method"] == "WorkshopPhaseStarted"
        assert connection.outbox.sends - before <= 100
