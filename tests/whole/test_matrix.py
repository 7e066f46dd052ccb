"""The matrix of hostile paths, messages and operation: each row asked of a daemon, or by its test.

`.venv/bin/pytest -s -m full tests/whole/test_matrix.py` prints it: row, input, answer, the time
that the answer took, and the most memory that the daemon had meanwhile.
"""

import ast
import json
import mmap
import os
import socket
import subprocess
import threading
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kbd.client.blocking import RemoteError
from whole.disks import tiny_disk
from whole.matrix import CALLED_ROWS, ROWS, TESTED_ROWS
from wired import Wired, wired

pytestmark = [pytest.mark.full, pytest.mark.timeout(300)]

ROOT = Path(__file__).parents[2]


class _Rig:
    """A daemon, a workbench, and the user's folder.

    Attributes:
        wire: The daemon.
        wb: The workbench.
        folder: The user's.
    """

    def __init__(self, wire: Wired) -> None:
        self.wire, self.folder = wire, wire.folder
        self._made = 0
        self.wb = wire.workbench(a__txt="old")

    def write(self, path: str) -> str:
        """Have a tool write a file, and return the code, or "ok"."""
        arguments = {"path": path, "content": "x"}
        params = {"workbench_id": self.wb, "name": "write_text_file", "arguments": arguments}
        return self.code("ToolsCall", **params)

    def code(self, method: str, **params: Any) -> str:
        """Ask, and return the code of the refusal, or "ok"."""
        try:
            self.wire.ask(method, **params)
        except RemoteError as error:
            told = f"{error.message} {error.data}"
            assert str(self.wire.daemon.home) not in told
            assert "Traceback" not in told
            return error.error_code or str(error.code)
        return "ok"

    def add(self, path: str | Path) -> str:
        """Add a file of the user's, and return what became of it."""
        params = {"workbench_id": self.wb, "source_paths": [str(path)]}
        try:
            found = self.wire.ask("WorkbenchFilesAdd", **params)
        except RemoteError as error:
            return error.error_code or str(error.code)
        (row,) = found["add_results"]
        return f"{row['status']}: {row['reason']}" if row.get("reason") else str(row["status"])

    def place(self) -> Path:
        """Return a path in a new folder of the user's."""
        self._made += 1
        folder = self.folder / f"m{self._made}"
        folder.mkdir()
        return folder / f"s{self._made}.txt"

    def connect(self) -> socket.socket:
        """Connect without a library."""
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(20)
        client.connect(self.wire.daemon.socket)
        return client

    def say(self, *messages: bytes, ends: bool = False) -> str:
        """Send lines, and return the answers' codes, or "ok", or "closed"."""
        with self.connect() as client, client.makefile("rb") as lines:
            with suppress(BrokenPipeError, ConnectionResetError):
                client.sendall(b"".join(message + b"\n" for message in messages))
            if ends:
                client.shutdown(socket.SHUT_WR)
            said = []
            with suppress(ConnectionResetError):
                for line in lines:
                    answers = json.loads(line)
                    for answer in answers if isinstance(answers, list) else [answers]:
                        if "id" in answer:
                            error = answer.get("error")
                            said.append(str(error["code"]) if error else "ok")
                    if len(said) >= len(messages) and not ends:
                        break
        return " ".join(dict.fromkeys(said)) or "closed"


def _asked(params: str = "{}", ident: str = "1", method: str = '"EngineGetInfo"') -> bytes:
    return (f'{{"jsonrpc":"2.0","id":{ident},"method":{method},"params":{params}}}').encode(
        "utf-8", "surrogatepass"
    )


class _Fixture(NamedTuple):
    """One row: the input in words, the answer that is due, and how it is asked for."""

    shown: str
    due: str
    ask: Callable[[_Rig], str]


def _named(path: str, due: str = "SANDBOX_VIOLATION", shown: str = "") -> _Fixture:
    return _Fixture(shown or ascii(path)[:40], due, lambda rig: rig.write(path))


def _source(shown: str, due: str, make: Callable[[_Rig, Path], Path | None]) -> _Fixture:
    def ask(rig: _Rig) -> str:
        place = rig.place()
        return rig.add(make(rig, place) or place)

    return _Fixture(shown, due, ask)


def _message(shown: str, due: str, *messages: bytes, ends: bool = False) -> _Fixture:
    return _Fixture(shown, due, lambda rig: rig.say(*messages, ends=ends))


def _outside(rig: _Rig) -> Path:
    path = rig.folder / "outside.txt"
    path.write_text("secret")
    return path


def _link(target: str) -> Callable[[_Rig, Path], None]:
    return lambda rig, place: place.symlink_to(target)


def _linked_folder(rig: _Rig, place: Path) -> Path:
    _outside(rig)
    (place.parent / "d").symlink_to(rig.folder)
    return place.parent / "d" / "outside.txt"


def _published(rig: _Rig, change: Callable[[Path], object]) -> str:
    """Change a published file behind kbd's back, publish over it, and return the code."""
    rig.wb = rig.wire.workbench(a__txt="old")
    rig.wire.draft(rig.wb, a__txt="new")
    target = rig.wire.published(rig.wb) / "a.txt"
    change(target)
    try:
        code = rig.code("DraftPublish", workbench_id=rig.wb)
    finally:
        subprocess.run(["chattr", "-i", str(target)], capture_output=True, check=False)
    stage = target.parent.parent / "stage"
    assert list(stage.iterdir()) == []
    return code


def _replace(make: Callable[[Path], object]) -> Callable[[Path], object]:
    def change(target: Path) -> None:
        target.unlink()
        make(target)

    return change


def _immutable(rig: _Rig) -> str:
    """Publish over a file that the file system lets nobody change."""

    def change(target: Path) -> None:
        done = subprocess.run(["chattr", "+i", str(target)], capture_output=True, check=False)
        if done.returncode:
            pytest.skip("no file can be made immutable here: that takes root, and ext4")

    code = _published(rig, change)
    target = rig.wire.published(rig.wb) / "a.txt"
    assert target.read_text() == "old"
    assert rig.wire.ask("LogVerify", workbench_id=rig.wb)["ok"]
    return f"{code}, then {rig.code('DraftPublish', workbench_id=rig.wb)}"


def _twin(first: str, second: str) -> Callable[[_Rig], str]:
    return lambda rig: f"{rig.write(first)}, then {rig.write(second)}"


def _spelled_twice(rig: _Rig) -> str:
    """Write a name in its two spellings: it is one name, in the composed one."""
    said = _twin("é.txt", unicodedata.normalize("NFD", "é.txt"))(rig)
    made = [name for name in rig.wire.changes(rig.wb) if len(name) < 7 and name.endswith(".txt")]
    return f"{said}; one file" if "é.txt" in made and len(made) == len(set(made)) else f"{made}"


def _mounted(rig: _Rig) -> str:
    """Publish below a folder that another file system was mounted on."""
    rig.wb = rig.wire.workbench(a__txt="old")
    folder = rig.wire.published(rig.wb) / "d"
    with tiny_disk(folder, 1 << 20):
        rig.wire.draft(rig.wb, d__x="new")
        arguments = {"path": "d/x.txt", "content": "new"}
        params = {"workbench_id": rig.wb, "name": "write_text_file", "arguments": arguments}
        rig.code("ToolsCall", **params)
        code = rig.code("DraftPublish", workbench_id=rig.wb)
        assert list(folder.iterdir()) == []
    return code


def _growing(rig: _Rig, place: Path) -> None:
    """A file that changes while it is read is copied once: what is there is one of its states."""
    place.write_bytes(b"a" * 500)
    with place.open("r+b") as file, mmap.mmap(file.fileno(), 0) as held:
        held[:10] = b"b" * 10
    os.truncate(place, 400)


def _sparse(rig: _Rig, place: Path) -> None:
    place.touch()
    os.truncate(place, 1 << 43)


def _odd_mode(rig: _Rig, place: Path) -> None:
    place.write_text("x")
    place.chmod(0o6777)
    os.setxattr(place, "user.odd", b"1")


def _socket(rig: _Rig, place: Path) -> Path:
    short = rig.folder / "s"
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(short))
    return short


A_ROWS = {
    "A1": _named("../x"),
    "A2": _named("a/../../x"),
    "A3": _named("/etc/passwd"),
    "A4": _named("~/x"),
    "A5": _named("//host/share/x"),
    "A6": _named("C:\\x"),
    "A7": _named("..\\..\\x"),
    "A8": _named("a%2e%2e/x.txt", "ok"),
    "A9": _named("a/./../x.txt"),
    "A10": _named("…/x.txt", "ok"),
    "A11": _named("a\0.xlsx"),
    "A12": _named("x" * 256, shown="a part of 256 bytes"),
    "A13": _named("x" * 5000, shown="5,000 bytes"),
    "A14": _named("d/" * 1000 + "x", shown="1,000 levels"),
    "A15": _source("a link to a file outside", "skipped: symlink", _link("/etc/passwd")),
    "A16": _source("a file behind a linked folder", "added", _linked_folder),
    "A17": _Fixture(
        "a link inside, published over",
        "CONFLICT_PUBLISHED_CHANGED",
        lambda rig: _published(rig, _replace(lambda path: path.symlink_to("b.txt"))),
    ),
    "A19": _Fixture(
        "a second name of a file outside, published over",
        "CONFLICT_PUBLISHED_CHANGED",
        lambda rig: _published(rig, _replace(lambda path: os.link(_outside(rig), path))),
    ),
    "A20": _source("a pipe", "skipped: not a regular file", lambda rig, place: os.mkfifo(place)),
    "A21": _source(
        "/dev/zero", "skipped: not a regular file", lambda rig, place: Path("/dev/zero")
    ),
    "A22": _source("a socket", "skipped: not a regular file", _socket),
    "A23": _source(
        "/dev/vda or /dev/loop0",
        "skipped: not a regular file",
        lambda rig, place: Path("/dev/loop0"),
    ),
    "A24": _source(
        "/proc/self/root/etc/passwd",
        "skipped: it cannot be read: Too many levels of symbolic links",
        lambda rig, place: Path("/proc/self/root/etc/passwd"),
    ),
    "A25": _source(
        "/proc/self/fd/3", "skipped: symlink", lambda rig, place: Path("/proc/self/fd/3")
    ),
    "A26": _source("/dev/stdin", "skipped: symlink", lambda rig, place: Path("/dev/stdin")),
    "A27": _Fixture(
        "é as one letter, then as two",
        "ok, then ok; one file",
        _spelled_twice,
    ),
    "A28": _Fixture("B.TXT, then b.txt", "ok, then VALIDATION_FAILED", _twin("B.TXT", "b.txt")),
    "A29": _named("a\u202eb.txt"),
    "A30": _named("a\u200bb.txt"),
    "A31": _named("a\nb.txt"),
    "A32": _named("\x1b[31mred.txt"),
    "A33": _source(
        "a name that is no UTF-8",
        "-32700",
        lambda rig, place: Path(os.fsdecode(os.fsencode(place.parent) + b"/bad\xff.txt")),
    ),
    "A34": _named("CON.xlsx"),
    "A35": _named("x.xlsx."),
    "A36": _named("x.xlsx::$DATA"),
    "A37": _named("../draft-evil/x"),
    "A38": _Fixture(
        "another file system within published/", "CONFLICT_PUBLISHED_CHANGED", _mounted
    ),
    "A40": _Fixture("a target that is immutable", "FILE_WRITE_FAILED, then ok", _immutable),
    "A41": _source("a file that is cut and written", "added", _growing),
    "A42": _source("8 TiB of nothing", "skipped: larger than 1000 bytes", _sparse),
    "A43": _source("setuid, and attributes", "added", _odd_mode),
}

LONG = 2 << 20


def _half(rig: _Rig) -> str:
    with rig.connect() as client:
        client.sendall(b'{"jsonrpc":')
    return rig.say(_asked())


def _slow(rig: _Rig) -> str:
    """A byte at a time, for longer than a message may take."""
    with rig.connect() as client:
        client.settimeout(0.5)
        for letter in _asked():
            client.sendall(bytes([letter]))
            try:
                said = client.recv(1000)
            except TimeoutError:
                continue
            return str(json.loads(said.splitlines()[0])["error"]["code"])
    return "in time"


def _pipelined(rig: _Rig) -> str:
    """Ask 10,000 times in one go, while somebody else asks once."""
    count = 10_000
    asked = b"".join(_asked(ident=str(number)) + b"\n" for number in range(count))
    with rig.connect() as client, client.makefile("rb") as lines:
        sender = threading.Thread(target=client.sendall, args=(asked,))
        sender.start()
        assert rig.say(_asked()) == "ok"
        answers = [json.loads(next(lines)) for _ in range(count)]
        sender.join()
    assert [each["id"] for each in answers] == list(range(count))
    return "ok" if all("result" in each for each in answers) else "refused"


def _foreign_cancel(rig: _Rig) -> str:
    cancel = b'{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}'
    return rig.say(cancel, _asked(), _asked(), ends=True)


def _descriptors(rig: _Rig) -> str:
    """Send descriptors along, and see that the daemon keeps none."""
    folder = Path(f"/proc/{rig.wire.daemon.pid}/fd")
    before = len(list(folder.iterdir()))
    with rig.connect() as client:
        with open("/etc/passwd", "rb") as file:
            socket.send_fds(client, [_asked() + b"\n"], [file.fileno()] * 20)
        answer = json.loads(client.makefile("rb").readline())
        held = [os.readlink(each) for each in folder.iterdir() if each.is_symlink()]
    assert not [each for each in held if "passwd" in each]
    assert len(held) <= before + 2
    return "ok" if "result" in answer else str(answer)


def _cursor(after: str) -> bytes:
    return _asked(f'{{"workbench_id":"daemon","after":{after}}}', method='"EventsSubscribe"')


def _logged(rig: _Rig) -> str:
    """Ask for a method with line breaks and escapes in its name: no line of the log is forged."""
    forged = '{"level":"critical"}'
    said = rig.say(_asked(method=json.dumps(f"X\n{forged}\n\x1b[31m\u2028")))
    log = rig.wire.daemon.log.read_text()
    assert forged not in log.splitlines()
    assert "\x1b" not in log
    return said


B_ROWS = {
    "B1": _message("100,000 levels", "-32700", b"[" * 100_000),
    "B2": _message("a megabyte of [],", "-32700", b"[" + b"[]," * 340_000 + b"1]"),
    "B3": _message("a message of more than may be", "-32700", b'"' + b"x" * (70 << 20) + b'"'),
    "B4": _message("80 MB without an end", "-32700", b"x" * (80 << 20)),
    "B5": _message("a number of 5,000 digits", "-32602", _cursor("9" * 5000)),
    "B6": _message("2^64", "-32602", _cursor(str(2**64))),
    "B7": _message("1e999", "-32602", _cursor("1e999")),
    "B8": _message("NaN", "-32700", _asked('{"x":NaN}')),
    "B9": _message("-0.0 and 1.0 as ids", "-32600", _asked(ident="-0.0"), _asked(ident="1.0")),
    "B10": _message("method twice", "ok", _asked(method='"Nothing","method":"EngineGetInfo"')),
    "B11": _message(
        "ids of null, true, an array", "-32600", *(_asked(ident=i) for i in ("null", "true", "[]"))
    ),
    "B12": _message("an id of 10,000 characters", "-32600", _asked(ident=f'"{"x" * 10_000}"')),
    "B13": _message("no jsonrpc", "-32600", b'{"id":1,"method":"EngineGetInfo"}'),
    "B14": _message(
        "batches: none, 101 parts", "-32600", b"[]", b"[" + b",".join([_asked()] * 101) + b"]"
    ),
    "B15": _message("no UTF-8", "-32700", b'{"jsonrpc":"2.0","id":1,"method":"\xff\xfe"}'),
    "B16": _message("a lone surrogate", "-32700", _asked(method='"\\ud800"')),
    "B17": _message("a byte order mark", "-32700", b"\xef\xbb\xbf" + _asked()),
    "B18": _message("UTF-16", "-32700", _asked().decode().encode("utf-16-le").replace(b"\n", b" ")),
    "B19": _message(
        "overlong and NUL", "-32700", b'{"jsonrpc":"2.0","id":1,"method":"\xc0\x80\0"}'
    ),
    "B20": _Fixture("half a message, then gone", "ok", _half),
    "B21": _Fixture("two bytes a second", "-32700", _slow),
    "B22": _message("a half-closed connection", "ok", _asked(), ends=True),
    "B26": _Fixture("10,000 requests at once", "ok", _pipelined),
    "B27": _message(
        "__proto__ and __class__", "-32602", _asked('{"__proto__":{"x":1},"__class__":1}')
    ),
    "B28": _message(
        "a parameter too many", "-32602", _asked('{"workbench_id":"x"}', method='"RunGet"')
    ),
    "B29": _message("parameters by place", "-32602", _asked("[1,2,3]")),
    "B30": _Fixture("cancel of nothing, an id used again", "ok", _foreign_cancel),
    "B33": _Fixture("20 descriptors with a message", "ok", _descriptors),
    "B34": _message("a method that does not exist", "-32601", _asked(method='"DraftApproveAll"')),
    "B36": _message(
        "events from -1, 2^63, beyond the end",
        "-32602 -32000",
        *(_cursor(n) for n in ("-1", str(2**63), "99999999")),
    ),
    "B37": _Fixture("a method with breaks and escapes", "-32601", _logged),
}


FIXTURES = {**A_ROWS, **B_ROWS}


@pytest.fixture(scope="module")
def rig() -> Iterator[_Rig]:
    """One daemon for all rows."""
    with wired("asyncio", more={"KBD_LIMITS_FILES": "200"}) as running:
        yield _Rig(running)


def _status_kib(pid: int, name: str) -> int:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    return 0


def _print(row: str, shown: str, answer: str, more: str) -> None:
    print(f"{row:<5}{shown:<44}{answer:<46}{more}")


@pytest.mark.parametrize("row", CALLED_ROWS)
def test_a_row_is_answered_as_listed(rig: _Rig, row: str) -> None:
    """The answer that is due, whatever the input, and the daemon answers the next one, too."""
    fixture, pid = FIXTURES[row], rig.wire.daemon.pid
    with suppress(OSError):
        # From here on the peak is this row's (proc(5)).
        Path(f"/proc/{pid}/clear_refs").write_text("5")
    before, began_s = _status_kib(pid, "VmRSS"), time.monotonic()
    answer = fixture.ask(rig)
    took_s = time.monotonic() - began_s
    peak = _status_kib(pid, "VmHWM")
    more = f"{took_s * 1000:8.1f} ms  {peak / 1024:6.0f} MiB ({(peak - before) / 1024:+.0f})"
    _print(row, fixture.shown, answer, more)
    assert answer == fixture.due
    assert rig.wire.ask("EngineGetInfo")["pid"] == pid


def test_every_row_has_a_fixture_or_a_test() -> None:
    """None is left out, and the tests that are named exist."""
    assert set(FIXTURES) | set(TESTED_ROWS) == set(ROWS)
    assert not set(FIXTURES) & set(TESTED_ROWS)
    for row in TESTED_ROWS:
        shown, answer, named = TESTED_ROWS[row]
        _print(row, shown[:43], answer[:45], named)
        path, _, test = named.partition("::")
        tree = ast.parse((ROOT / path).read_text())
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
        tests = {each.name for each in tree.body if isinstance(each, kinds)}
        assert test in tests, named
