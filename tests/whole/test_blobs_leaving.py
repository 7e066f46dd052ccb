"""Stored bytes that are not what they were: told at each place where they would leave the store.

`test_damaged_blobs` shows what is left as it was where one is met. Here all places stand in one
table, each is met with every kind of harm, and every blob of a workbench is damaged in turn.
"""

import base64
import hashlib
import json
import os
import shutil
import threading
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from backends import WHOLE, halved, mostly, share_of
from kbd.client.blocking import RemoteError
from model_server import Reply, call, calls, phase_of, text, turn_of
from real_daemon import START_S, RealDaemon
from wired import PLAN, Wired, wired

OLD, NEW = "old " * 50, "new " * 50
"""What is published, and what is drafted."""

LONG = "a long line of a long file " * 15 + "\n"
"""Of some hundred the text is too long to lie in an event, as arguments or as a result."""

DAMAGE = "DAMAGED"

ROOM = {"KBD_LIMITS_FILE_BYTES": "1000000"}


@pytest.fixture(scope="module", params=mostly("asyncio"))
def wire(request: pytest.FixtureRequest) -> Iterator[Wired]:
    """One daemon a backend for all tests here."""
    with wired(str(request.param), more=ROOM) as running:
        yield running


def _blob(wire: Wired, workbench_id: str, content: str) -> Path:
    digest = hashlib.sha256(content.encode()).hexdigest()
    return wire.published(workbench_id).parent / "blobs" / digest


def _mark(path: Path) -> None:
    """Damage a blob so that its bytes are known wherever they go; size and time stay."""
    before = path.stat()
    data = bytearray(path.read_bytes())
    middle = max(0, len(data) // 2 - len(DAMAGE))
    data[middle : middle + len(DAMAGE)] = DAMAGE.encode()[: len(data)]
    path.chmod(0o600)
    path.write_bytes(data[: before.st_size])
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def _cut(path: Path) -> None:
    path.chmod(0o600)
    os.truncate(path, path.stat().st_size // 2)


def _in_its_place(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def harm(path: Path) -> None:
        path.unlink()
        make(path)

    return harm


HARMS: dict[str, Callable[[Path], None]] = {
    "flipped": _mark,
    "cut": _cut,
    "empty": _in_its_place(Path.touch),
    "gone": Path.unlink,
    "pipe": _in_its_place(os.mkfifo),
    "folder": _in_its_place(Path.mkdir),
    "link": _in_its_place(lambda path: path.symlink_to("/etc/hostname")),
}


class _Place(NamedTuple):
    """Where bytes leave the store.

    `ask` does it, and returns what was answered; `content` is what it would hand out. Before it the
    draft was published (`is_published`) or discarded (`is_discarded`).
    """

    ask: Callable[[Wired, str, Path], str]
    content: str = NEW
    is_published: bool = False
    is_discarded: bool = False


def _answer(daemon: RealDaemon, method: str, **params: Any) -> str:
    """Return an answer or a refusal as text; what the daemon did not expect fails the test."""
    with daemon.client() as client:
        try:
            found = client.send(method, params, timeout=START_S)
        except RemoteError as error:
            refused = error
        else:
            return json.dumps(found, ensure_ascii=False)
    assert refused.data is not None, (method, refused.message)
    return f"{refused.data['error_code']}: {refused.message}"


def _asking(method: str, **params: Any) -> Callable[[Wired, str, Path], str]:
    """Ask a method; "@" in a parameter is the test's folder."""

    def ask(wire: Wired, workbench_id: str, folder: Path) -> str:
        given = {
            name: str(folder / value[1:]) if str(value).startswith("@") else value
            for name, value in params.items()
        }
        return _answer(wire.daemon, method, workbench_id=workbench_id, **given)

    return ask


def _restore(wire: Wired, workbench_id: str, folder: Path) -> str:
    del folder
    (made,) = wire.ask("CheckpointsList", workbench_id=workbench_id)["checkpoints"]
    named = {"checkpoint_id": made["checkpoint_id"]}
    return _answer(wire.daemon, "CheckpointRestore", workbench_id=workbench_id, **named)


def _undo(wire: Wired, workbench_id: str, folder: Path) -> str:
    del folder
    first = wire.ask("WorkshopGetConversation", workbench_id=workbench_id)["messages"][0]
    named = {"workbench_id": workbench_id, "message_id": first["message_id"]}
    return _answer(wire.daemon, "WorkshopUndoToMessage", **named)


def _moment(wire: Wired, workbench_id: str, folder: Path) -> str:
    seq = wire.daemon.events(workbench_id)[-1]["seq"]
    named = {"workbench_id": workbench_id, "seq": seq}
    return _answer(wire.daemon, "StateAt", **named, destination_dir=str(folder / "moment"))


def _part(wire: Wired, workbench_id: str, folder: Path) -> str:
    del folder
    named = {"hash": _blob(wire, workbench_id, NEW).name, "offset": 3, "limit": 9}
    return _answer(wire.daemon, "BlobRead", workbench_id=workbench_id, **named)


def _fork(wire: Wired, workbench_id: str, folder: Path) -> str:
    del folder
    more = {"mode": "clone_all", "name": "fork"}
    return _answer(wire.daemon, "WorkbenchFork", source_workbench_id=workbench_id, **more)


def _rebase(wire: Wired, workbench_id: str, folder: Path) -> str:
    (wire.published(workbench_id) / "a.txt").write_text(OLD + "theirs")
    return _asking("DraftRebase")(wire, workbench_id, folder)


def _export(wire: Wired, workbench_id: str, folder: Path) -> str:
    target = str(folder / "case.zip")
    return _answer(wire.daemon, "RunExport", run_id=f"{workbench_id}-1", target=target)


def _backup(wire: Wired, workbench_id: str, folder: Path) -> str:
    del workbench_id
    return str(wire.ask("BackupCreate", target=str(folder / "backup"))["left_out"])


def _page(wire: Wired, workbench_id: str, folder: Path) -> str:
    target = folder / "page.html"
    named = {"workbench_id": workbench_id, "target": str(target)}
    return _answer(wire.daemon, "ReviewGetHtml", **named) + target.read_text()


def _read_in_a_run(wire: Wired, workbench_id: str, folder: Path) -> str:
    """Have a model read the file; what it was answered stands in its next request."""
    del folder
    wire.script.forget()

    def play(body: dict[str, Any]) -> Reply:
        match phase_of(body):
            case "plan":
                return text(PLAN)
            case "implement" if turn_of(body) == 0:
                return calls(call("read_file", {"path": "a.txt"}, "r0"))
            case _:
                return text("All done.")

    wire.script.instead = play
    try:
        run = wire.daemon.run_prompt(workbench_id, "read it")
    finally:
        wire.script.instead = None
    assert run["status"] == "finished", run
    return str([
        each["content"]
        for body in wire.script.requests
        for each in body["messages"]
        if each["role"] == "tool"
    ])  # fmt: skip


PLACES: dict[str, _Place] = {
    "publish": _Place(_asking("DraftPublish")),
    "publish beside": _Place(_asking("DraftPublish", on_conflict="keep_both")),
    "extract": _Place(_asking("WorkbenchFilesExtract", destination_dir="@out"), OLD),
    "restore": _Place(_restore, OLD, is_published=True),
    "undo": _Place(_undo, OLD, is_published=True),
    "recover": _Place(_asking("WorkbenchRecover"), is_discarded=True),
    "recover to a folder": _Place(
        _asking("WorkbenchRecover", destination_dir="@out"), is_discarded=True
    ),
    "fork": _Place(_fork, is_published=True),
    "rebase": _Place(_rebase),
    "moment": _Place(_moment),
    "blob": _Place(_part),
    "case": _Place(_export),
    "backup": _Place(_backup),
    "verify": _Place(_asking("LogVerify")),
    "diff": _Place(_asking("ReviewGetDiff", path="a.txt")),
    "text diff": _Place(_asking("ReviewGetTextDiff", path="a.txt")),
    "page": _Place(_page),
    "blame": _Place(_asking("ReviewGetBlame", path="a.txt", place="line 1")),
    "lines": _Place(_asking("TextReadLines", path="a.txt")),
    "map": _Place(_asking("TextGetMap", path="a.txt")),
    "tool": _Place(_asking("ToolsCall", name="read_file", arguments={"path": "a.txt"})),
    "run": _Place(_read_in_a_run),
    "search": _Place(_asking("WorkspaceSearch", query="new")),
    "document": _Place(_asking("WorkspaceGetDoc", title="a.txt")),
}


TOLD = ("damaged", "missing", "not what they were", "cannot be opened", "no such blob")


def _kept(wire: Wired, workbench_id: str) -> dict[str, str]:
    """Return what published/ and draft/ hold."""
    root = wire.published(workbench_id).parent
    return {
        str(path.relative_to(root)): path.read_text()
        for part in ("published", "draft")
        for path in sorted((root / part).rglob("*"))
        if path.is_file()
    }


def _written(folder: Path) -> bytes:
    """Return the bytes of all files below a folder, a zip's members in the place of the zip."""
    found = b""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as packed:
                found += b"".join(packed.read(name) for name in packed.namelist())
        elif path.is_file():
            found += path.read_bytes()
    return found


@halved
@pytest.mark.sampled(29)
@pytest.mark.parametrize(("harm", "place"), [(harm, place) for harm in HARMS for place in PLACES])
def test_it_is_told_at_each_place(wire: Wired, tmp_path: Path, harm: str, place: str) -> None:
    """Whatever lies in a blob's place: it is said in time, and nothing wrong is handed out.

    What lies on the disk does not hang on the event loop, so each pair is tried on one of them.
    """
    where = PLACES[place]
    workbench_id = wire.workbench(a__txt=OLD)
    wire.draft(workbench_id, a__txt=NEW)
    if where.is_published:
        wire.ask("DraftPublish", workbench_id=workbench_id)
        wire.ask("ReceiptGet", workbench_id=workbench_id)  # It is made of these bytes.
    if where.is_discarded:
        wire.ask("DraftDiscard", workbench_id=workbench_id)
    if place == "publish beside":
        (wire.published(workbench_id) / "a.txt").write_text("theirs")
    HARMS[harm](_blob(wire, workbench_id, where.content))
    # What was found when the bytes were right may be shown, but is no proof here.
    shutil.rmtree(wire.published(workbench_id).parent / "cache")
    before = _kept(wire, workbench_id)
    answer = where.ask(wire, workbench_id, tmp_path)

    assert any(word in answer for word in TOLD), answer
    assert str(wire.daemon.home) not in answer
    assert DAMAGE not in answer
    # A backup takes what is damaged as it is, and says so.
    if place != "backup":
        assert DAMAGE.encode() not in _written(tmp_path)
    assert _kept(wire, workbench_id).keys() <= {*before, "published/a.txt"}
    assert DAMAGE not in str(_kept(wire, workbench_id))
    if place not in ("rebase", "publish beside"):
        assert _kept(wire, workbench_id) == before


def _history(wire: Wired) -> str:
    """Make a workbench whose blobs are of every kind, with a draft that a cut run left open."""
    workbench_id = wire.workbench(a__txt=OLD, t__csv="name,amount\n" + "north,5\n" * 40)
    wire.ask(
        "ContextSet", workbench_id=workbench_id, category="situation", text="a situation " * 300
    )
    wire.draft(workbench_id, a__txt=NEW, l__txt=LONG * 200)
    wire.ask("DraftPublish", workbench_id=workbench_id)
    wire.ask("ReceiptGet", workbench_id=workbench_id)
    wire.draft(workbench_id, a__txt="discarded " * 30, n__txt="never published " * 30)
    wire.ask("DraftDiscard", workbench_id=workbench_id)
    _cut_run(wire, workbench_id)
    return workbench_id


def _cut_run(wire: Wired, workbench_id: str) -> None:
    """Run until a file is drafted and a long one read, and cancel while the model thinks on."""
    thinks, goes_on = threading.Event(), threading.Event()

    def play(body: dict[str, Any]) -> Reply:
        match phase_of(body):
            case "plan":
                return text(PLAN)
            case "implement" if turn_of(body) == 0:
                written = {"path": "a.txt", "content": "drafted " * 30}
                read = call("read_file", {"path": "l.txt"}, "r0")
                return calls(call("write_text_file", written, "w0"), read)
            case "implement":
                thinks.set()
                goes_on.wait(60)
        return text("All done.")

    wire.script.forget()
    wire.script.instead = play
    wire.ask("WorkshopSendUserMessage", workbench_id=workbench_id, text="write " * 100)
    run = wire.ask("WorkshopRunAgent", workbench_id=workbench_id, wait=False)
    assert thinks.wait(60)
    wire.ask("WorkshopCancelRun", workbench_id=workbench_id)
    goes_on.set()
    assert wire.daemon.wait_for_run(run["run_id"])["status"] == "cancelled"
    wire.script.forget()


def _ask_everything(daemon: RealDaemon, workbench_id: str, blobs: list[str], out: Path) -> str:
    """Ask for all that can be had of a workbench, at last what changes it; return all answers."""

    def ask(method: str, **params: Any) -> str:
        return _answer(daemon, method, workbench_id=workbench_id, **params)

    said = [ask("LogVerify"), ask("EventsRead", limit=10_000), ask("WorkshopGetConversation")]
    for blob in blobs:
        part = ask("BlobRead", hash=blob, limit=100_000)
        if part.startswith("{"):
            said.append(base64.b64decode(json.loads(part)["base64"]).decode())
    seq = json.loads(said[1])["last_seq"]
    moments = [(at, str(out / f"at{at}")) for at in range(1, seq, 9)]
    said += [ask("StateAt", seq=at, destination_dir=folder) for at, folder in moments]
    for path in ("a.txt", "l.txt", "n.txt", "t.csv"):
        named = {"name": "read_file", "arguments": {"path": path}}
        said += [
            ask("ReviewGetDiff", path=path), ask("ReviewGetBlame", path=path, place="line 1"),
            ask("ToolsCall", **named), ask("WorkspaceGetDoc", title=path),
        ]  # fmt: skip
    for entry in range(1, 7):
        recalled = {"name": "recall_tool_result", "arguments": {"entry_id": entry}}
        said.append(ask("ToolsCall", **recalled))
    said += [ask("WorkspaceSearch", query=word) for word in ("new", "north", "long")]
    said.append(ask("ReviewGetHtml", target=str(out / "page.html")))
    for number in (1, 2, 3):
        run_id = f"{workbench_id}-{number}"
        said.append(_answer(daemon, "RunExport", run_id=run_id, target=str(out / f"c{number}.zip")))
        said.append(_answer(daemon, "ReplayRun", run_id=run_id))
        said.append(_answer(daemon, "RunGet", run_id=run_id))
    said.append(ask("WorkbenchFilesExtract", destination_dir=str(out / "extracted")))
    said += [ask("ContextGet", category="situation"), ask("ReceiptGet"), ask("CheckpointsList")]
    said.append(ask("WorkbenchRecover", destination_dir=str(out / "recovered")))
    # From here on it is changed.
    said.append(ask("WorkshopRunAgent", wait=True))
    said += [ask("DraftRebase"), ask("DraftPublish"), ask("DraftDiscard"), ask("WorkbenchRecover")]
    said += [ask("DraftDiscard"), ask("WorkshopRegenerate"), ask("DraftDiscard")]
    made = json.loads(ask("CheckpointsList"))["checkpoints"]
    said += [ask("CheckpointRestore", checkpoint_id=each["checkpoint_id"]) for each in made[-1:]]
    more = {"mode": "clone_all", "name": "fork"}
    said.append(_answer(daemon, "WorkbenchFork", source_workbench_id=workbench_id, **more))
    first = json.loads(ask("WorkshopGetConversation"))["messages"][0]["message_id"]
    said.append(ask("WorkshopUndoToMessage", message_id=first))
    return "\n".join(said)


@pytest.mark.parametrize(
    "every", [pytest.param(8, marks=pytest.mark.full), pytest.param(1, marks=pytest.mark.soak)]
)
def test_any_blob_damaged_in_turn(wire: Wired, tmp_path: Path, every: int) -> None:
    """Of a whole workbench: it is named, and no answer, file or prompt has a byte of it.

    The second tier damages one in so many, one half of them on each event loop.
    """
    workbench_id = _history(wire)
    wire.daemon.stop()
    root = Path("workbenches") / workbench_id
    blobs = sorted(path.name for path in (wire.daemon.home / root / "blobs").glob("?" * 64))
    assert len(blobs) >= 20
    stride = WHOLE if every == 1 else share_of(wire.daemon.backend).wider(every)
    # Other tests have harmed blobs of theirs; what is forked here is none of these.
    known = {path.name for path in (wire.daemon.home / "workbenches").iterdir()}
    home = wire.folder / "copy"
    try:
        for blob in blobs[stride.start :: stride.step]:
            shutil.copytree(wire.daemon.home, home, ignore=_left_out)
            _mark(home / root / "blobs" / blob)
            wire.script.forget()
            daemon = RealDaemon(home, wire.daemon.backend, wire.daemon.environment)
            daemon.start()
            try:
                said = _ask_everything(daemon, workbench_id, blobs, tmp_path / blob)
            finally:
                daemon.stop()
            assert blob in said
            for place in (said, str(wire.script.requests), daemon.log.read_text()):
                assert DAMAGE not in place, blob
            written = _written(tmp_path / blob) + _written(home / root / "published")
            assert DAMAGE.encode() not in written + _written(home / root / "draft"), blob
            for other in (home / "workbenches").iterdir():
                if other.name not in known:
                    assert DAMAGE.encode() not in _written(other), blob
            shutil.rmtree(home)
    finally:
        shutil.rmtree(home, ignore_errors=True)
        wire.daemon.start()


def _left_out(folder: str, names: list[str]) -> list[str]:
    """Leave out of a copy what is made anew, sockets, and pipes of other tests' workbenches."""
    paths = [Path(folder, name) for name in names]
    return [
        path.name for path in paths if path.name == "cache" or not (path.is_dir() or path.is_file())
    ]
