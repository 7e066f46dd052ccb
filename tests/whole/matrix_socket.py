"""Rows of the matrix on the socket: messages, clients that break off or read nothing, others."""

import json
import os
import resource
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from whole.matrix_rig import MatrixRig, MatrixRow, connect, request_line
from whole.watched import eventually
from wired import Wired

__all__ = ["SOCKET_ROWS"]

NOBODY = 65534


def _message(
    number: str, shown: str, due: str, *messages: bytes, ends: bool = False, reason: str = ""
) -> MatrixRow:
    return MatrixRow(number, shown, due, lambda rig: rig.say(*messages, ends=ends), reason)


def _cursor(after: str) -> bytes:
    params = f'{{"workbench_id":"daemon","after":{after}}}'
    return request_line(params, method='"EventsSubscribe"')


# Clients that break off, or are slow.


def _half(rig: MatrixRig) -> str:
    with rig.connect() as client:
        client.sendall(b'{"jsonrpc":')
    return rig.say(request_line())


def _slow(rig: MatrixRig) -> str:
    """A byte at a time, for longer than a message may take."""
    with rig.connect() as client:
        client.settimeout(0.5)
        for letter in request_line():
            client.sendall(bytes([letter]))
            try:
                said = client.recv(1000)
            except TimeoutError:
                continue
            return str(json.loads(said.splitlines()[0])["error"]["code"])
    return "in time"


def _descriptors(wire: Wired) -> list[str]:
    """Return what the daemon has open."""
    found = []
    for entry in Path(f"/proc/{wire.daemon.pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found.append(os.readlink(entry))
    return found


def _sockets(wire: Wired) -> int:
    return sum(each.startswith("socket:") for each in _descriptors(wire))


def _reset(rig: MatrixRig) -> str:
    """Ask for much and go without reading, 200 times: the system resets the daemon's end."""
    before = _sockets(rig.wire)
    asked = b"".join(request_line(ident=str(n)) + b"\n" for n in range(200))
    for _ in range(200):
        with rig.connect() as client:
            client.sendall(asked)
            # Of what is left unread the other side hears as of a reset (unix(7)).
            client.recv(1)
    assert rig.say(request_line()) == "ok"
    eventually("connections stay", lambda: _sockets(rig.wire) <= before, 10)
    return "ok, all closed"


def _crowd(rig: MatrixRig) -> str:
    """Hold 1,000 connections that have asked once, and 25 more."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(soft, 4000), hard), hard))
    before, codes = _sockets(rig.wire), []
    with ExitStack() as stack:
        for _ in range(1025):
            client = stack.enter_context(rig.connect())
            client.sendall(request_line() + b"\n")
            with client.makefile("rb") as lines:
                answer = json.loads(lines.readline())
            codes.append(str(answer["error"]["code"]) if "error" in answer else "ok")
    eventually("connections stay", lambda: _sockets(rig.wire) <= before, 10)
    served, refused = codes[:1000].count("ok"), codes[1000:].count("-32001")
    return f"{served} ok, {refused} -32001, then {rig.write('crowd.txt')}"


def _stalled(rig: MatrixRig) -> str:
    """Subscribe to more than a socket holds and read nothing; then resume where it was left."""
    with rig.other(KBD_LIMITS_SEND_S="0.5") as wire, connect(wire) as client:
        bench = wire.ask("WorkbenchCreate", name="much")["workbench_id"]
        for number in range(300):
            text = f"{number} {'x' * 20_000}"
            wire.ask("WorkshopSendUserMessage", workbench_id=bench, text=text)
        last = wire.ask("EventsRead", workbench_id=bench, limit=10_000)["events"][-1]["seq"]
        asked = request_line(f'{{"workbench_id":"{bench}","after":0}}', method='"EventsSubscribe"')
        client.sendall(asked + b"\n")
        dropped = select.poll()
        dropped.register(client, select.POLLRDHUP)
        assert dropped.poll(5000), "it is not dropped"
        with client.makefile("rb") as lines:
            heard = [json.loads(line) for line in lines if line.endswith(b"\n")]
        told = [each for each in heard if each.get("method") == "ConnectionDropped"]
        seen = _seqs(heard)
        cursor = told[0]["params"]["cursors"][bench] if told else seen[-1]
        assert cursor == seen[-1] < last
        rest = wire.ask("EventsRead", workbench_id=bench, after=cursor, limit=10_000)["events"]
        assert [*seen, *(event["seq"] for event in rest)] == list(range(1, last + 1))
    return "dropped, resumed without a gap"


def _seqs(heard: list[Any]) -> list[int]:
    rows = (each["params"]["events"] for each in heard if each.get("method") == "EventsAppended")
    return [event["seq"] for events in rows for event in events]


def _pipelined(rig: MatrixRig) -> str:
    """Ask 10,000 times in one go, while somebody else asks once."""
    count = 10_000
    asked = b"".join(request_line(ident=str(number)) + b"\n" for number in range(count))
    with rig.connect() as client, client.makefile("rb") as lines:
        sender = threading.Thread(target=client.sendall, args=(asked,))
        sender.start()
        assert rig.say(request_line()) == "ok"
        answers = [json.loads(next(lines)) for _ in range(count)]
        sender.join()
    assert [each["id"] for each in answers] == list(range(count))
    return "ok" if all("result" in each for each in answers) else "refused"


# Cancelling.


def _cancel(ident: int) -> bytes:
    return request_line(f'{{"id":{ident}}}', method='"$/cancelRequest"').replace(b'"id":1,', b"", 1)


def _foreign_cancel(rig: MatrixRig) -> str:
    """Have a client cancel, by its id, what another one waits for: only its own are its to end."""
    script, bench = rig.wire.script, rig.wire.workbench(a__txt="old")
    script.forget()
    script.answers.clear()
    rig.wire.ask("WorkshopSendUserMessage", workbench_id=bench, text="write")
    asked = request_line(
        f'{{"workbench_id":"{bench}","wait":true}}', "7", '"WorkshopRunAgent"'
    )  # fmt: skip
    try:
        with rig.connect() as one, rig.connect() as two:
            one.sendall(asked + b"\n")
            assert script.asked.wait(20)
            # The second one's own call of that number is none of the first one's either.
            two.sendall(_cancel(7) + b"\n" + request_line(ident="7") + b"\n")
            other = _answers(two, 1)
            script.answers.set()
            mine = _answers(one, 1)
    finally:
        script.answers.set()
    return f"{_said(other)} for who cancels; {_said(mine)} for who waits"


def _answers(client: socket.socket, count: int) -> list[Any]:
    found: list[Any] = []
    with client.makefile("rb") as lines:
        while len(found) < count and (line := lines.readline()):
            found += [said for said in [json.loads(line)] if "id" in said]
    return found


def _said(answers: list[Any]) -> str:
    return " ".join(str(each["error"]["code"]) if "error" in each else "ok" for each in answers)


def _reused_ids(rig: MatrixRig) -> str:
    """Use an id again that was answered, cancel it, and cancel what never was."""
    asked = (request_line(), request_line(), _cancel(1), _cancel(99), request_line())
    return rig.say(*asked, ends=True)


def _id_in_flight(rig: MatrixRig) -> str:
    """Use an id that is in flight."""
    script, bench = rig.wire.script, rig.wire.workbench(a__txt="old")
    script.forget()
    script.answers.clear()
    rig.wire.ask("WorkshopSendUserMessage", workbench_id=bench, text="write")
    params = f'{{"workbench_id":"{bench}","wait":true}}'
    try:
        with rig.connect() as client:
            client.sendall(request_line(params, "7", '"WorkshopRunAgent"') + b"\n")
            assert script.asked.wait(20)
            client.sendall(request_line(params, "7", '"WorkshopRunAgent"') + b"\n")
            second = _answers(client, 1)
            client.sendall(_cancel(7) + b"\n")
            return f"{_said(second)}, then {_said(_answers(client, 1))} for the first"
    finally:
        script.answers.set()


# Other users.


def _as_somebody(wire: Wired, group: int) -> str:
    """Ask as another user, in a process of its own, and return what it is told."""
    ours, theirs = os.pipe()
    pid = os.fork()
    if pid == 0:
        said = b"failed"
        with suppress(BaseException):
            os.setgroups([])
            os.setgid(group)
            os.setuid(NOBODY)
            said = _ask_raw(wire.daemon.socket)
        os.write(theirs, said)
        os._exit(0)
    os.close(theirs)
    os.waitpid(pid, 0)
    with open(ours, "rb") as told:
        return told.read().decode()


def _ask_raw(path: str) -> bytes:
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(10)
        try:
            client.connect(path)
        except OSError as error:
            return type(error).__name__.encode()
        with suppress(OSError):
            client.sendall(request_line(method='"DaemonShutdown"') + b"\n")
            return b"an answer" if client.recv(1000) else b"closed"
    return b"closed"


def _other_user(*, group: bool) -> Callable[[MatrixRig], str]:
    """Connect as another user: as the modes are, and with the doors open to all, or to a group."""

    def ask(rig: MatrixRig) -> str:
        if os.geteuid():
            pytest.skip("another user can only be played by root")
        wire = rig.wire
        home, base, path = wire.daemon.home, wire.daemon.home.parent, Path(wire.daemon.socket)
        own = _as_somebody(wire, os.getegid() if group else NOBODY)
        modes = {place: place.stat().st_mode & 0o777 for place in (base, home, path)}
        try:
            for place in modes:
                if group:
                    os.chown(place, -1, NOBODY)
                place.chmod(0o770 if group else 0o777)
            opened = _as_somebody(wire, NOBODY)
        finally:
            for place, mode in modes.items():
                os.chown(place, -1, os.getegid())
                place.chmod(mode)
        return f"{own}; opened: {opened}"

    return ask


def _rights(rig: MatrixRig) -> str:
    """Send descriptors along, with and without a message, and see that the daemon keeps none."""
    before = len(_descriptors(rig.wire))
    ours, theirs = socket.socketpair()
    with rig.connect() as client, ours, open("/etc/passwd", "rb") as file:
        with theirs:
            socket.send_fds(client, [b"\n"], [theirs.fileno()] * 10)
            socket.send_fds(client, [request_line() + b"\n"], [file.fileno()] * 20)
        answer = json.loads(client.makefile("rb").readline())
        held = _descriptors(rig.wire)
        assert not [each for each in held if "passwd" in each]
        assert len(held) <= before + 2
        # Nobody has the other end any more.
        ours.settimeout(5)
        assert ours.recv(1) == b""
    return "ok, none kept" if "result" in answer else str(answer)


# What lies at the socket's path.


@contextmanager
def _begun(home: Path, path: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a daemon, and end it."""
    command = [sys.executable, "-m", "kbd", "--home", str(home), "--socket", str(path), "daemon"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


def _at_path(make: Callable[[Path], object], *, long: int = 0) -> Callable[[MatrixRig], str]:
    """Start a daemon whose socket's path is taken by something."""

    def ask(rig: MatrixRig) -> str:
        folder = rig.place().parent
        folder.chmod(0o700)
        path = folder / ("s" * (long - len(str(folder)) - 1) if long else "s")
        make(path)
        before = path.lstat() if os.path.lexists(path) else None
        with _begun(folder / "h", path) as process:
            deadline = time.monotonic() + 30
            while process.poll() is None and time.monotonic() < deadline:
                with suppress(OSError), socket.socket(socket.AF_UNIX) as client:
                    client.connect(str(path))
                    return "replaced"
                time.sleep(0.02)
            assert process.stderr is not None
            told = process.stderr.read()
        assert "Traceback" not in told
        assert str(folder) not in told
        after = path.lstat() if os.path.lexists(path) else None
        assert (before and before.st_ino) == (after and after.st_ino)
        return f"exit {process.returncode}, left as it is"

    return ask


def _stale(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def _live(rig: MatrixRig) -> str:
    """Start a daemon of another home on the socket of one that runs."""
    home = rig.place().parent / "h"
    with _begun(home, Path(rig.wire.daemon.socket)) as process:
        code = process.wait(30)
    return f"exit {code}, then {rig.say(request_line())}"


def _logged(rig: MatrixRig) -> str:
    """Ask for a method with line breaks and escapes in its name: no line of the log is forged."""
    forged = '{"level":"critical"}'
    said = rig.say(request_line(method=json.dumps(f"X\n{forged}\n\x1b[31m\u2028")))
    log = rig.wire.daemon.log.read_text()
    assert forged not in log.splitlines()
    assert "\x1b" not in log
    return said


_LAST = "reliability, which page wins: duplicate keys are not refused; the last one counts"

SOCKET_ROWS = (
    _message("B1", "100,000 levels", "-32700", b"[" * 100_000),
    _message("B2", "a megabyte of [],", "-32700", b"[" + b"[]," * 340_000 + b"1]"),
    _message("B3", "a message of more than may be", "-32700", b'"' + b"x" * (70 << 20) + b'"'),
    _message("B4", "80 MB without an end", "-32700", b"x" * (80 << 20)),
    _message("B5", "a number of 5,000 digits", "-32602", _cursor("9" * 5000)),
    _message("B6", "2^64", "-32602", _cursor(str(2**64))),
    _message("B7", "1e999", "-32602", _cursor("1e999")),
    _message("B8", "NaN", "-32700", request_line('{"x":NaN}')),
    _message("B9", "-0.0 and 1.0 as ids", "-32600",
             request_line(ident="-0.0"), request_line(ident="1.0")),
    _message("B10", "method twice", "ok", request_line(method='"Nothing","method":"EngineGetInfo"'),
             reason=_LAST),
    MatrixRow("B11", "an id that is in flight", "-32600, then -32800 for the first", _id_in_flight),
    _message("B12", "ids of null, true, an array", "-32600",
             *(request_line(ident=each) for each in ("null", "true", "[]"))),
    _message("B12", "an id of 10,000 characters", "-32600",
             request_line(ident=f'"{"x" * 10_000}"')),
    _message("B13", "no jsonrpc", "-32600", b'{"id":1,"method":"EngineGetInfo"}'),
    _message("B14", "batches: none, 101 parts", "-32600",
             b"[]", b"[" + b",".join([request_line()] * 101) + b"]"),
    _message("B15", "no UTF-8", "-32700", b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}'),
    _message("B16", "a lone surrogate", "-32700", request_line(method='"\\ud800"')),
    _message("B17", "a byte order mark", "-32700", b"\xef\xbb\xbf" + request_line()),
    _message("B18", "UTF-16", "-32700",
             request_line().decode().encode("utf-16-le").replace(b"\n", b" ")),
    _message("B19", "overlong and NUL", "-32700",
             b'{"jsonrpc":"2.0","id":1,"method":"\xc0\x80\0"}'),
    MatrixRow("B20", "half a message, then gone", "ok", _half),
    MatrixRow("B21", "two bytes a second", "-32700", _slow),
    _message("B22", "a half-closed connection", "ok", request_line(), ends=True),
    MatrixRow("B23", "200 clients gone amid 200 answers each", "ok, all closed", _reset),
    MatrixRow("B24", "1,025 connections, 1,000 may be", "1000 ok, 25 -32001, then ok", _crowd),
    MatrixRow("B25", "a subscriber that never reads", "dropped, resumed without a gap", _stalled),
    MatrixRow("B26", "10,000 requests at once", "ok", _pipelined),
    _message("B27", "__proto__ and __class__", "-32602",
             request_line('{"__proto__":{"x":1},"__class__":1}')),
    _message("B28", "a parameter too many", "-32602",
             request_line('{"workbench_id":"x"}', method='"RunGet"')),
    _message("B29", "parameters by place", "-32602", request_line("[1,2,3]")),
    MatrixRow("B30", "cancel of another client's call", "ok for who cancels; ok for who waits",
              _foreign_cancel),
    MatrixRow("B30", "a finished id used again, and canceled", "ok", _reused_ids,
              "an id is free when it is answered (client.md); a cancel of none does nothing"),
    MatrixRow("B31", "another user connects", "PermissionError; opened: closed",
              _other_user(group=False)),
    MatrixRow("B32", "another user by a group's right", "PermissionError; opened: closed",
              _other_user(group=True)),
    MatrixRow("B33", "30 descriptors sent along", "ok, none kept", _rights),
    _message("B34", "a method that does not exist", "-32601",
             request_line(method='"DraftApproveAll"')),
    MatrixRow("B35", "a stale socket at the socket's path", "replaced", _at_path(_stale)),
    MatrixRow("B35", "a file there", "exit 1, left as it is",
              _at_path(lambda path: path.write_text("mine"))),
    MatrixRow("B35", "a link there", "exit 1, left as it is",
              _at_path(lambda path: path.symlink_to("elsewhere"))),
    MatrixRow("B35", "a folder there", "exit 1, left as it is", _at_path(Path.mkdir)),
    MatrixRow("B35", "a path of 108 bytes", "exit 2, left as it is",
              _at_path(lambda path: None, long=108)),
    MatrixRow("B35", "a live one there", "exit 1, then ok", _live),
    _message("B36", "events from -1, 2^63, beyond the end", "-32602 -32000",
             *(_cursor(after) for after in ("-1", str(2**63), "99999999"))),
    MatrixRow("B37", "a method with breaks and escapes", "-32601", _logged),
)  # fmt: skip
