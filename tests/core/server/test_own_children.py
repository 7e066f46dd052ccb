"""The daemon's own processes are refused at the socket, but for commands that the user gave."""

import socket
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from kbd.core.runtime.peers import MAX_LOOKS, ChildGate
from kbd.core.server.listener import bind_socket
from served import connected, serving

pytestmark = [pytest.mark.anyio, pytest.mark.sampled(2)]

ASK = """
import os, socket, sys, time
def ask(client):
    client.settimeout(20)
    try:
        client.sendall(b'{"jsonrpc":"2.0","id":1,"method":"PluginsList"}\\n')
        return client.recv(65536)
    except ConnectionError:
        return b""
def connect():
    client = socket.socket(socket.AF_UNIX)
    client.connect(sys.argv[1])
    return client
"""
DIRECT = ASK + "print(len(ask(connect())))"
GRANDCHILD = (
    ASK
    + """
if os.fork():
    os.wait()
else:
    os.setsid()
    print(len(ask(connect())), flush=True)
"""
)
HANDED_ON = (
    ASK
    + """
ours, theirs = socket.socketpair()
if os.fork():
    _, (fd,), _, _ = socket.recv_fds(ours, 1, 1)
    os.wait()
    print(len(ask(socket.socket(fileno=fd))), flush=True)
else:
    client = connect()
    socket.send_fds(theirs, [b"x"], [client.fileno()])
"""
)


async def _run(code: str, path: Path) -> int:
    command = [sys.executable, "-I", "-S", "-c", code, str(path)]
    ran = await anyio.run_process(command, stderr=subprocess.STDOUT)
    return int(ran.stdout)


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(DIRECT, id="child"),
        pytest.param(GRANDCHILD, id="grandchild of another session"),
        pytest.param(HANDED_ON, id="connected by one that has ended"),
    ],
)
async def test_a_process_of_the_daemons_own_is_refused(short_dir: Path, code: str) -> None:
    """What it asks is neither carried out nor answered; others are served all the while."""
    async with serving(short_dir, gate=ChildGate()) as served:
        assert await _run(code, served.path) == 0
        async with connected(served) as client:
            await client.ask("PluginsList")
            assert "result" in await client.line()


async def test_a_command_that_was_admitted_is_served_with_what_it_starts(short_dir: Path) -> None:
    """Also when it connects before it is admitted; once it has ended its number means nothing."""
    gate = ChildGate()
    async with serving(short_dir, gate=gate) as served:
        for code in (DIRECT, GRANDCHILD):
            async with gate.starting():
                process = await anyio.open_process(
                    [sys.executable, "-I", "-S", "-c", code, str(served.path)]
                )
                # It waits for its answer meanwhile.
                await anyio.sleep(0.3)
                gate.admit(process.pid)
            assert process.stdout is not None
            assert int(await process.stdout.receive()) > 0
            await process.wait()
            await process.aclose()
            gate.forget(process.pid)
        assert await _run(DIRECT, served.path) == 0


HELD = HANDED_ON.replace("print(len(", "print('held', flush=True); sys.stdin.read(); print(len(")


async def test_a_connection_of_a_process_that_has_ended_is_refused(short_dir: Path) -> None:
    """Whoever holds it now, nothing can be told of who made it; one of our own is admitted."""
    path, gate = short_dir / "s", ChildGate()
    with bind_socket(path) as listening:
        command = [sys.executable, "-I", "-S", "-c", HELD, str(path)]
        async with await anyio.open_process(command) as process:
            assert process.stdout is not None
            assert await process.stdout.receive() == b"held\n"
            accepted, _ = listening.accept()
            with accepted:
                assert not await gate.admits(accepted)
            assert process.stdin is not None
            await process.stdin.aclose()
        with socket.socket(socket.AF_UNIX) as own:
            own.connect(str(path))
            accepted, _ = listening.accept()
            with accepted:
                assert await gate.admits(accepted)


NESTED = """
import os, socket, sys
if os.fork():
    os._exit(0)
for _ in range(6):
    if os.fork():
        os.wait()
        os._exit(0)
client = socket.socket(socket.AF_UNIX)
client.connect(sys.argv[1])
client.recv(1)
"""
"""A chain of processes of somebody else's: the first one's parent has ended."""


async def test_a_chain_of_parents_is_followed_so_far(short_dir: Path) -> None:
    """A stranger's is admitted; one that takes too many looks is refused, and holds up nobody."""
    path = short_dir / "s"
    with bind_socket(path) as listening:
        # No pipes: the chain would hold them open.
        await anyio.run_process(
            [sys.executable, "-I", "-S", "-c", NESTED, str(path)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        await anyio.wait_readable(listening)
        accepted, _ = listening.accept()
        with accepted:
            assert await ChildGate().admits(accepted)
            assert not await ChildGate(looks=5).admits(accepted)
    assert MAX_LOOKS < 1000
