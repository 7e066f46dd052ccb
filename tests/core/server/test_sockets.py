"""The socket is this user's alone, replaced when stale and never when live; crowds are told."""

import os
import socket
import stat
from pathlib import Path

import pytest

from kbd.core.server.dispatch import ServerLimits
from kbd.core.server.listener import bind_socket
from kbd.errors import ValidationFailed
from served import connected, serving, until


def test_the_socket_is_for_its_owner_only(short_dir: Path) -> None:
    """The socket is made 0600 whatever the umask, and the umask is put back."""
    before = os.umask(0o022)
    try:
        with bind_socket(short_dir / "s"):
            assert stat.S_IMODE((short_dir / "s").lstat().st_mode) == 0o600
        assert os.umask(0o022) == 0o022
    finally:
        os.umask(before)


def test_a_stale_socket_is_replaced_and_a_live_one_is_not(short_dir: Path) -> None:
    """A socket that nobody answers on is replaced; one that is answered on is left alone."""
    path = short_dir / "s"
    bind_socket(path).close()
    assert path.exists()
    with bind_socket(path), pytest.raises(ValidationFailed, match="another daemon"):
        bind_socket(path)


@pytest.mark.parametrize("kind", ["file", "symlink", "folder"])
def test_what_is_no_socket_is_never_replaced(short_dir: Path, kind: str) -> None:
    """A file, link or folder at the socket's path is refused and stays as it is."""
    path = short_dir / "s"
    if kind == "file":
        path.write_text("keep")
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to(short_dir / "elsewhere")
    before = path.lstat()
    with pytest.raises(ValidationFailed, match="not a socket"):
        bind_socket(path)
    after = path.lstat()
    assert (after.st_ino, after.st_mode) == (before.st_ino, before.st_mode)
    assert kind != "file" or path.read_text() == "keep"


def test_a_folder_that_others_may_enter_is_refused(short_dir: Path) -> None:
    """The socket is not made in a folder that is open to anybody else."""
    short_dir.chmod(0o755)
    with pytest.raises(ValidationFailed, match="0700"):
        bind_socket(short_dir / "s")


def test_a_path_that_is_too_long_is_refused_clearly(short_dir: Path) -> None:
    """A path of 107 bytes is taken; one of 108 is refused, with both numbers."""
    path = short_dir / ("x" * (107 - len(str(short_dir))))
    assert len(str(path)) == 108
    with pytest.raises(ValidationFailed, match="108 bytes; 107"):
        bind_socket(path)
    bind_socket(path.with_name(path.name[:-1])).close()


def test_a_missing_folder_is_an_error_without_its_path(short_dir: Path) -> None:
    """A folder that is not there is refused, and the message does not tell its path."""
    with pytest.raises(ValidationFailed) as raised:
        bind_socket(short_dir / "none" / "s")
    assert str(short_dir) not in raised.value.message


@pytest.mark.anyio
async def test_another_user_is_refused_before_a_byte_is_read(short_dir: Path) -> None:
    """Another user's request is neither carried out nor answered; the connection just ends."""
    async with serving(short_dir, uid=os.geteuid() + 1) as served, connected(served) as client:
        await client.ask("DaemonShutdown")
        assert await client.lines_to_the_end() == []
        # It was not carried out: the server still accepts, and refuses.
        async with connected(served) as again:
            assert await again.lines_to_the_end() == []


@pytest.mark.anyio
async def test_one_client_too_many_is_told_so(short_dir: Path) -> None:
    """A client past the limit is told so and closed, and there is room again when others leave.

    What it asked first is refused, as it frames it: a stock client heeds no error without an id.
    """
    async with serving(short_dir, ServerLimits(connections=2)) as served:
        async with connected(served) as first, connected(served) as second:
            for client in (first, second):
                await client.ask("PluginsList")
                assert "result" in await client.line()
            async with connected(served) as third:
                await third.ask("PluginsList")
                (told,) = await third.lines_to_the_end()
                assert (told["id"], told["error"]["code"]) == (1, -32001)
            async with connected(served) as framed:
                body = b'{"jsonrpc":"2.0","id":7,"method":"PluginsList"}'
                await framed.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
                head, _, told = (await framed.stream.receive()).partition(b"\r\n\r\n")
                assert head == b"Content-Length: %d" % len(told)
                assert b'"id":7,' in told
            async with connected(served) as silent:
                await silent.stream.send_eof()
                (told,) = await silent.lines_to_the_end()
                assert (told["id"], told["error"]["code"]) == (None, -32001)
        await until(lambda: not served.server._connections)
        async with connected(served) as fourth:
            await fourth.ask("PluginsList")
            assert "result" in await fourth.line()


@pytest.mark.anyio
async def test_file_descriptors_that_are_sent_along_are_not_kept(short_dir: Path) -> None:
    """A file descriptor sent beside a request is closed, and the client served on."""
    async with serving(short_dir) as served, connected(served) as client:
        await client.ask("PluginsList", 0)
        await client.line()
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                await client.stream.send_fds(b"\n", [theirs.fileno()])  # type: ignore[attr-defined]
            await client.ask("PluginsList", 1)
            assert (await client.line())["id"] == 1
            ours.settimeout(5)
            assert ours.recv(1) == b""


@pytest.mark.anyio
async def test_stopping_answers_what_is_in_flight_and_takes_nothing_new(short_dir: Path) -> None:
    """A server that stops leaves its path at once, ends the idle and answers what is in flight."""
    async with serving(short_dir) as served, connected(served) as client, connected(served) as idle:
        await client.ask("WorkbenchCreate", "long", name="wait")
        await until(lambda: served.waiting == 1)
        await client.ask("DaemonShutdown", "stop")
        assert (await client.line())["result"] == {"stopping": True}
        assert await idle.lines_to_the_end() == []
        assert not served.path.exists()
        served.gate.set()
        assert [answer["id"] for answer in await client.lines_to_the_end()] == ["long"]


@pytest.mark.anyio
async def test_stopping_waits_no_longer_than_its_time(short_dir: Path) -> None:
    """A request that outlasts the grace period is cancelled when the server stops."""
    async with (
        serving(short_dir, ServerLimits(grace_s=0.05)) as served,
        connected(served) as client,
    ):
        await client.ask("WorkbenchCreate", "long", name="wait")
        await until(lambda: served.waiting == 1)
        served.server.stop()
        assert await client.lines_to_the_end() == []
        assert served.waiting == 0
