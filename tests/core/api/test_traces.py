"""What the sender of traces makes of runs that go on while their trace is on its way."""

import threading
from pathlib import Path

import anyio
import pytest
from anyio.to_thread import run_sync

from kbd.core.api.traces import TraceSender
from kbd.core.runtime.paths import Home
from kbd.core.runtime.settings import OtelSettings, Settings
from kbd.errors import ValidationFailed
from kbd.events.base import Recorded
from kbd.events.runs import RunFailed, RunFinished, RunResumed, RunStarted
from served import until
from supervised import supervised
from trace_collector import TraceCollector, collecting

pytestmark = pytest.mark.anyio

STARTED = RunStarted("m1", "offline:planner")
FAILED = RunFailed("DISK_FULL", "no space", "rpi_plan")
RESUMED = RunResumed("offline:planner")
FINISHED = RunFinished(has_draft=False)


class SlowCollector:
    """Holds the answers of a collector back.

    Args:
        collector: The collector.
    """

    def __init__(self, collector: TraceCollector) -> None:
        self.asked, self.may_answer = threading.Event(), threading.Event()
        take = collector.take

        def held(head: dict[str, str], body: str) -> int:
            self.asked.set()
            self.may_answer.wait(30)
            return take(head, body)

        collector.take = held  # type: ignore[method-assign]  # the one of this test


async def test_a_run_that_goes_on_while_its_trace_is_sent_is_sent_again(
    tmp_path: Path, anyio_backend: str
) -> None:
    """When it ends, also if that was before the first answer; then its mark goes."""
    with collecting() as collector:
        slow = SlowCollector(collector)
        settings = Settings(otel=OtelSettings(collector.address))
        async with supervised(tmp_path, settings) as daemon:
            sender = TraceSender(daemon.context, daemon.benches)
            bench = await daemon.bench()

            def tell(event: object) -> None:
                sender._observe(bench.id, Recorded(1, event, 1_000_000, 1))

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(sender.run)
                tell(STARTED)
                tell(FAILED)
                assert await run_sync(slow.asked.wait, 30)
                tell(RESUMED)
                tell(FINISHED)
                slow.may_answer.set()
                for _ in range(2):
                    assert await run_sync(collector.receive) is not None
                mark = daemon.home.unsent_traces / f"{bench.id}-1"
                await until(lambda: not mark.exists())
                assert await run_sync(collector.receive, 0.5) is None
                tasks.cancel_scope.cancel()


async def test_a_run_that_only_failed_and_went_on_waits_for_its_end(
    tmp_path: Path, anyio_backend: str
) -> None:
    """It keeps its mark, so that a crash does not lose it."""
    with collecting() as collector:
        slow = SlowCollector(collector)
        settings = Settings(otel=OtelSettings(collector.address))
        async with supervised(tmp_path, settings) as daemon:
            sender = TraceSender(daemon.context, daemon.benches)
            bench = await daemon.bench()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(sender.run)
                for event in (STARTED, FAILED):
                    sender._observe(bench.id, Recorded(1, event, 1_000_000, 1))
                assert await run_sync(slow.asked.wait, 30)
                sender._observe(bench.id, Recorded(1, RESUMED, 1_000_000, 1))
                slow.may_answer.set()
                assert await run_sync(collector.receive) is not None
                assert await run_sync(collector.receive, 0.5) is None
                assert (daemon.home.unsent_traces / f"{bench.id}-1").exists()
                tasks.cancel_scope.cancel()


async def test_names_that_are_no_runs_are_left_alone(tmp_path: Path, anyio_backend: str) -> None:
    """And a run of a workbench that is gone loses its mark."""
    with collecting() as collector:
        settings = Settings(otel=OtelSettings(collector.address))
        async with supervised(tmp_path, settings) as daemon:
            folder = daemon.home.unsent_traces
            await anyio.Path(folder).mkdir()
            for name in ("notes.txt", "0123456789abcdef-0", "0123456789abcdef-1"):
                await anyio.Path(folder / name).touch()
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(TraceSender(daemon.context, daemon.benches).run)
                await until(lambda: not (folder / "0123456789abcdef-1").exists())
                tasks.cancel_scope.cancel()
            kept = sorted([path.name async for path in anyio.Path(folder).iterdir()])

    assert kept == ["0123456789abcdef-0", "notes.txt"]
    assert collector.heads == []


@pytest.mark.parametrize(
    "address",
    [
        "localhost:4318", "ftp://h/x", "http:///v1", "http://u:p@h/v1", "http://h", "http://h/v#x",
        "http://h h/v1",
    ],
)  # fmt: skip
def test_an_address_that_is_none_keeps_kbd_from_starting(tmp_path: Path, address: str) -> None:
    """With the setting's name, and without the address, which may hold a password."""
    with pytest.raises(ValidationFailed) as refused:
        Settings.read(Home(tmp_path, tmp_path / "s"), {"KBD_OTEL_ENDPOINT": address})
    assert refused.value.message.startswith("setting otel.endpoint: expected http://")
    assert "u:p" not in refused.value.message
