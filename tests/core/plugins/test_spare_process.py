"""Spare process: what a call gets that did not wait for a fork, and what becomes of the process."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import msgspec
import pytest

from kbd.core.plugins.confinement.layers import NO_LAYERS
from kbd.core.plugins.confinement.process import CallReach
from kbd.core.plugins.hooks import EntryPoint
from kbd.core.plugins.host import Plugins
from kbd.core.plugins.worker_messages import (
    LENGTH_BYTES,
    PACKET_BYTES,
    Begun,
    Call,
    Ended,
    Ready,
    Report,
    Request,
    Start,
    encode,
)
from kbd.core.plugins.worker_pool import WorkerPool
from kbd.core.runtime.process_tree import find_children
from kbd.core.runtime.settings import Settings
from kbd.tools import CallLimits

PACKAGES = Path(__file__).with_name("packages")

WORK = '''
import os
import time

warmed = 0
steps = 0


def warm_up():
    """Note that it was called, or do what the test wants."""
    global warmed
    warmed += 1
    {body}


def seen():
    """Return how often this process was warmed up, and which process it is."""
    return [warmed, os.getpid(), os.getppid()]


def steps_seen():
    """Return how often this process was warmed up, and how many steps that took."""
    return [warmed, steps]


def sleep(seconds):
    """Take a while."""
    time.sleep(seconds)
'''


@asynccontextmanager
async def warmed_workers(
    folder: Path, monkeypatch: pytest.MonkeyPatch, body: str = "pass"
) -> AsyncIterator[WorkerPool]:
    """Workers of a plugin that has a warm-up."""
    package = folder / "kbd_warmed"
    package.mkdir()
    declared = (PACKAGES / "kbd_faults" / "__init__.py").read_text()
    preload = declared.replace(
        '("kbd_faults.work",)', '("kbd_warmed.work", "kbd_warmed.work:warm_up")'
    )
    assert preload != declared
    (package / "__init__.py").write_text(preload)
    (package / "work.py").write_text(WORK.format(body=body))
    monkeypatch.syspath_prepend(str(folder))
    plugins = Plugins.discover(Settings(), found=[EntryPoint("warmed", "kbd_warmed")])
    async with WorkerPool(plugins, Settings(), extra_paths=[folder]) as workers:
        yield workers


async def seen(workers: WorkerPool) -> list[int]:
    """Return what a call sees: warm-ups, its process, its zygote."""
    found: list[int] = await workers.call("warmed", "kbd_warmed.work:seen", {})
    return found


async def spare_of(zygote: int, *, other_than: int = 0) -> int:
    """Return the process that waits for a call, once there is one."""
    with anyio.fail_after(20):
        while True:
            for pid in find_children(zygote):
                if pid != other_than and _waits(pid):
                    return pid
            await anyio.sleep(0.01)


async def end_of(pid: int) -> None:
    """Wait until a process is gone and reaped."""
    with anyio.fail_after(20):
        while _exists(pid):  # noqa: ASYNC110 - the system ends it
            await anyio.sleep(0.01)


def _exists(pid: int) -> bool:
    return Path(f"/proc/{pid}").exists()


def _waits(pid: int) -> bool:
    """Tell whether a process sleeps; one that has ended, or is about to, does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] == b"S"
    except OSError:
        return False


@pytest.mark.anyio
async def test_the_next_call_gets_a_process_that_is_warm(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first call has a process forked for it; the next one that which waits, warmed up once."""
    async with warmed_workers(tmp_path, monkeypatch) as workers:
        cold, _, zygote = await seen(workers)
        spare = await spare_of(zygote)
        warm = await seen(workers)

    assert cold == 0
    assert warm == [1, spare, zygote]


STEPS = """
    global steps
    for steps in range(1, 101):
        time.sleep(0.01)
        yield
"""


@pytest.mark.anyio
async def test_a_call_that_comes_while_it_warms_up_need_not_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once warm-ups are known to end, a call cuts one short, which is done in steps."""

    async def steps_seen(workers: WorkerPool) -> list[int]:
        found: list[int] = await workers.call("warmed", "kbd_warmed.work:steps_seen", {})
        return found

    async with warmed_workers(tmp_path, monkeypatch, STEPS) as workers:
        with anyio.fail_after(20):
            first = [await steps_seen(workers)]
            while first[-1] != [1, 100]:
                first.append(await steps_seen(workers))
            found = first[-1]
            while not 0 < found[1] < 100:
                await anyio.sleep(0.1)
                found = await steps_seen(workers)

    # Before that, each has a process forked for it while the spare one goes on.
    assert first[:-1] == [[0, 0]] * (len(first) - 1)
    assert found[0] == 1


AT_ONCE = """
import os, socket
from kbd.core.plugins.confinement.process import Software
from kbd.core.plugins.forked_call import Workplace
from kbd.core.plugins.spare_process import wait_for_call

place = Workplace("kbd_warmed", Software(), None, os.getpid())
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
ours.close()
if not (pid := os.fork()):
    wait_for_call(theirs, ["this:warm_up"], place, must_warm={must_warm})
os.waitpid(pid, 0)
"""


@pytest.mark.parametrize("must_warm", [False, True])
def test_what_comes_at_once_finds_no_warm_up(*, must_warm: bool) -> None:
    """Where calls follow each other no processor time goes there, once warm-ups are known to end.

    The module `this` prints a text when it is imported for its warm-up; the channel was closed.
    """
    command = [sys.executable, "-c", AT_ONCE.format(must_warm=must_warm)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)

    assert ("Zen" in done.stdout) == must_warm


@pytest.mark.anyio
async def test_each_call_has_a_process_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls together, and one after the other: no process does two."""
    pids: list[int] = []

    async def note(workers: WorkerPool) -> None:
        pids.append((await seen(workers))[1])

    async with warmed_workers(tmp_path, monkeypatch) as workers:
        for _ in range(5):
            async with anyio.create_task_group() as tasks:
                for _ in range(4):
                    tasks.start_soon(note, workers)

    assert len(set(pids)) == len(pids) == 20


@pytest.mark.anyio
async def test_a_call_in_it_sees_what_any_call_sees(workers: WorkerPool) -> None:
    """The same descriptors, limits, session and environment as in a process forked for the call."""
    forked = await workers.call("faults", "kbd_faults.work:environment", {})
    spare = await spare_of(await workers.call("faults", "kbd_faults.work:zygote", {}))
    waited = await workers.call("faults", "kbd_faults.work:environment", {})

    assert len(waited.pop("fds")) == len(forked.pop("fds")) == 4
    assert waited == forked
    await end_of(spare)


@pytest.mark.sampled(3)
@pytest.mark.anyio
@pytest.mark.parametrize(
    "body", ["time.sleep(600)", "raise RuntimeError('cold')", "os._exit(3)", "os.abort()"]
)
async def test_a_warm_up_that_fails_costs_no_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str
) -> None:
    """Hang, raise, exit or break down as it may: all calls are answered."""
    async with warmed_workers(tmp_path, monkeypatch, body) as workers:
        with anyio.fail_after(20):
            for _ in range(4):
                warmed, _, _ = await seen(workers)
                # One that only raised has still tried.
                assert warmed <= 1
                await anyio.sleep(0.05)


@pytest.mark.anyio
async def test_a_spare_process_that_was_killed_costs_no_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next call has a process forked for it, and the one after it a spare one again."""
    async with warmed_workers(tmp_path, monkeypatch) as workers:
        _, _, zygote = await seen(workers)
        killed = await spare_of(zygote)
        os.kill(killed, signal.SIGKILL)
        await end_of(killed)
        _, pid, _ = await seen(workers)
        again = await spare_of(zygote, other_than=pid)

        assert (await seen(workers))[1:] == [again, zygote]
        assert killed not in {pid, again}


@pytest.mark.anyio
async def test_a_call_that_a_spare_process_does_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever gives up a call ends its process, forked ahead or not."""
    async with warmed_workers(tmp_path, monkeypatch) as workers:
        _, _, zygote = await seen(workers)
        spare = await spare_of(zygote)
        with anyio.move_on_after(0.5) as scope:
            await workers.call("warmed", "kbd_warmed.work:sleep", {"seconds": 600})

        assert scope.cancelled_caught
        await end_of(spare)


@pytest.mark.anyio
async def test_it_ends_with_its_zygote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A zygote that is killed leaves no process that waits for a call."""
    async with warmed_workers(tmp_path, monkeypatch) as workers:
        _, _, zygote = await seen(workers)
        spare = await spare_of(zygote)
        os.kill(zygote, signal.SIGKILL)
        await end_of(spare)
        assert (await seen(workers))[2] != zygote


def test_an_idle_zygote_keeps_none(tmp_path: Path) -> None:
    """The spare process takes memory of its own: it goes where no call comes for a while."""
    code = "from kbd.core.plugins import zygote\nzygote.SPARE_MS = 300\nzygote.main()\n"
    control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    control.settimeout(30)
    command = [sys.executable, "-c", code, "kbd_faults", str(theirs.fileno())]
    with subprocess.Popen(command, pass_fds=[theirs.fileno()]) as process, control:
        theirs.close()
        control.send(encode(Start((str(PACKAGES),), ("kbd_faults.work",), "")))
        assert isinstance(msgspec.msgpack.decode(control.recv(PACKET_BYTES), type=Report), Ready)
        ours, call = socket.socketpair()
        with ours, call:
            order = Call(1, CallLimits(), NO_LAYERS, spawns=False)
            socket.send_fds(control, [encode(order)], [call.fileno()])
            for message in (CallReach(), Request("kbd_faults.work:echo", {"value": 1})):
                packed = encode(message)
                ours.sendall(len(packed).to_bytes(LENGTH_BYTES) + packed)
            reports = [control.recv(PACKET_BYTES) for _ in range(2)]
        begun, ended = (msgspec.msgpack.decode(packet, type=Report) for packet in reports)
        assert (begun, type(ended)) == (Begun(1), Ended)
        there: list[bool] = []
        deadline = time.monotonic() + 20
        # First one, then none.
        while time.monotonic() < deadline and there[-2:] != [True, False]:
            if (is_there := bool(find_children(process.pid))) not in there[-1:]:
                there.append(is_there)
            time.sleep(0.01)
        control.close()
        assert process.wait(20) == 0
    assert there[-2:] == [True, False]
