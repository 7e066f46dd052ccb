"""A home whose logs are damaged: what is checked, told and kept, with a daemon and without."""

import hashlib
import json
import shutil
import struct
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from damaged_logs import contents, flip, frame_of, last_segment
from kbd.cli import main
from kbd.client.blocking import RemoteError
from kbd.core.runtime.home_lock import HomeLockedError, lock_home, share_home
from kbd.core.runtime.paths import Home
from kbd.events.frame import BODY_AT
from model_server import Reply, model_server, text
from real_daemon import RealDaemon
from wired import MODEL

Captured = pytest.CaptureFixture[str]
Kbd = Callable[..., int]


@pytest.fixture
def kbd(daemon: RealDaemon, monkeypatch: pytest.MonkeyPatch) -> Kbd:
    """Run a command in this process with the daemon's home, and return its exit code."""
    monkeypatch.delenv("KBD_SOCKET", raising=False)
    monkeypatch.setenv("KBD_HOME", str(daemon.home))
    return lambda *arguments: main(arguments)


def _source(daemon: RealDaemon) -> Path:
    source = daemon.home.parent / "a.csv"
    source.write_text("Shop,Amount\nBaker,1\n")
    return source


def _damage_daemon(daemon: RealDaemon, kind: str = "WorkbenchCreated", nth: int = 0) -> int:
    """Flip a bit in the daemon's log; return the number of the event that is damaged."""
    segment = last_segment(daemon.home / "daemon" / "log")
    at, seq = frame_of(segment, kind, nth)
    flip(segment, at + BODY_AT + 3)
    return seq


def test_verify_needs_no_daemon_and_writes_nothing(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Without a daemon it prints the same of the same logs, by name and by id, and of a head."""
    taxes = daemon.workbench(_source(daemon), name="taxes")
    assert kbd("log", taxes, "--head") == 0
    head = capsys.readouterr().out.strip()
    assert daemon.stop() == 0
    before = contents(daemon.home)
    assert kbd("verify") == 0
    alone = capsys.readouterr().out
    assert kbd("verify", taxes[:6], "--head", head) == 0
    assert f"{taxes} (taxes) whole" in capsys.readouterr().out
    assert kbd("verify", "taxes", "--json") == 0
    assert json.loads(capsys.readouterr().out)[taxes]["blobs"] == 1
    assert kbd("verify", "daemon") == 0
    assert kbd("verify", "taxes", "--head", f"1{head[head.index(':') :]}") == 1
    assert kbd("verify", "rents") == 1
    assert "there is no workbench rents" in capsys.readouterr().err

    assert contents(daemon.home) == before

    daemon.start()
    assert kbd("verify", "taxes") == 0
    assert capsys.readouterr().out.splitlines() == alone.splitlines()[:1]


def test_verify_without_a_daemon_finds_every_log_behind_the_damage(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Workbenches that the damage hides are found by their folders, called by their first event."""
    first, second = (daemon.workbench(_source(daemon), name=name) for name in ("one", "two"))
    daemon.stop()
    seq = _damage_daemon(daemon, nth=1)

    assert kbd("verify") == 1
    told = capsys.readouterr().out
    assert f"{first} (one) whole" in told
    assert f"{second} (two) whole" in told
    assert "daemon (the daemon's own) DAMAGED:" in told
    assert f"event {seq}: " in told

    assert kbd("verify", "two") == 0
    flip(next(path for path in (daemon.home / "workbenches" / second).glob(f"blobs/{'?' * 64}")), 0)
    assert kbd("verify", "two") == 1
    assert "blob damaged" in capsys.readouterr().out


def test_verify_waits_for_nobody_who_has_the_home(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """A home that is held by who does not answer is not read; while it is read no daemon starts."""
    daemon.stop()
    home = Home(daemon.home, daemon.home / "kbd.sock")
    with lock_home(home):
        assert kbd("verify") == 69
    said = capsys.readouterr().err
    assert "has this home already, but nothing answers at" in said
    refused = pytest.raises(HomeLockedError, match="kbd verify")
    with share_home(home), share_home(home), refused, lock_home(home):
        pytest.fail("two have the home")


def test_doctor_tells_of_damage_without_a_daemon(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """A flipped bit in either log ends it with 1 and is told with its place; whole ones with 0."""
    taxes = daemon.workbench(_source(daemon), name="taxes")
    daemon.stop()

    def told() -> tuple[int, list[str]]:
        code = kbd("doctor")
        return code, [row for row in capsys.readouterr().out.splitlines() if "logs " in row]

    code, rows = told()
    assert code == 0
    assert rows == [
        "ok    logs      2 logs begin and end as they should; `kbd verify` reads all of them"
    ]
    segment = last_segment(daemon.home / "workbenches" / taxes / "log")
    at, seq = frame_of(segment, "FileAdded")
    flip(segment, at + BODY_AT + 1)

    code, (row,) = told()
    assert code == 1
    assert row.startswith(f"WRONG logs      {taxes} (taxes): the log is damaged: ")
    assert f"event {seq})" in row
    _damage_daemon(daemon)
    code, rows = told()
    assert code == 1
    assert rows[0].startswith("WRONG logs      the daemon's own log: the log is damaged: ")
    assert rows[1].startswith(f"WRONG logs      {taxes} (taxes): ")


def test_doctor_tells_of_damage_that_the_daemon_knows(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """A workbench that is listed as damaged is something that is wrong."""
    taxes = daemon.workbench(_source(daemon), name="taxes")
    assert kbd("doctor") == 0
    assert "no workbench is known to be damaged" in capsys.readouterr().out
    daemon.stop()
    segment = last_segment(daemon.home / "workbenches" / taxes / "log")
    flip(segment, frame_of(segment, "FileAdded")[0] + BODY_AT + 1)
    daemon.start()

    kbd("wb", "show", taxes)
    capsys.readouterr()
    assert kbd("doctor") == 1
    assert "WRONG logs      1 workbench is damaged" in capsys.readouterr().out


def _refused(daemon: RealDaemon, method: str, **params: Any) -> str:
    """Ask for what the daemon's log would have to take; return why it is refused."""
    with pytest.raises(RemoteError) as refused:
        daemon.ask(method, **params)
    assert refused.value.data["error_code"] == "LOG_CORRUPT"
    return str(refused.value)


def test_a_daemon_starts_with_a_damaged_log_of_its_own(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """What is before the damage works as always; what must be recorded is refused with what helps.

    The damaged log is not written, and workbenches that it hides are listed with their doubt.
    """
    one, two, three = (daemon.workbench(_source(daemon), name=each) for each in "123")
    daemon.ask("WorkbenchDelete", workbench_id=daemon.workbench(name="gone"))
    daemon.stop()
    seq = _damage_daemon(daemon, nth=1)
    before = contents(daemon.home / "daemon" / "log")
    daemon.start()

    rows = {row["id"]: row for row in daemon.ask("WorkbenchList")["workbenches"]}
    assert [(row["name"], row["status"]) for row in rows.values()] == [
        ("1", "idle"), ("2", "idle"), ("3", "idle")
    ]  # fmt: skip
    assert list(rows) == [one, two, three]
    assert "reason" not in rows[one]
    assert "may have been deleted" in rows[two]["reason"]
    for workbench_id in rows:
        run = daemon.run_prompt(workbench_id, "only rows where Shop is Baker")
        assert run["status"] == "finished"

    said = _refused(daemon, "WorkbenchCreate", name="4")
    assert f"event {seq})" in said
    assert "`kbd verify daemon`" in said
    assert "`kbd repair daemon`" in said
    inbox = daemon.home.parent / "inbox"
    inbox.mkdir()
    daemon.ask("DraftDiscard", workbench_id=one)
    _refused(daemon, "WorkbenchFork", source_workbench_id=one, mode="clone_all", name="5")
    _refused(daemon, "WorkbenchDelete", workbench_id=one)
    _refused(daemon, "WatchAdd", folder=str(inbox), prompt="x", patterns=["*.csv"])
    _refused(daemon, "UserSetConsentMode", mode="allow_all", approved=True)
    assert daemon.ask("EngineGetInfo")["damage"] == said
    assert sorted(path.name for path in (daemon.home / "workbenches").iterdir()) == sorted(rows)
    assert kbd("status") == 1
    assert said[:80] in capsys.readouterr().out
    assert kbd("doctor") == 1
    assert "WRONG logs      the daemon's own log is damaged" in capsys.readouterr().out
    assert kbd("up") == 0
    assert said[:80] in capsys.readouterr().err
    assert kbd("verify") == 1
    assert daemon.stop() == 0
    assert contents(daemon.home / "daemon" / "log") == before


def test_a_start_with_a_damaged_log_removes_no_folder_and_brings_none_back(
    daemon: RealDaemon,
) -> None:
    """What a crash left of a deleted workbench stays where it is, and is not listed.

    Nor is one whose folder is gone: its deletion may be what is damaged, and to open it would make
    an empty one.
    """
    left, gone, kept = (daemon.workbench(_source(daemon), name=name) for name in "abc")
    folders = daemon.home / "workbenches"
    shutil.copytree(folders / left, daemon.home.parent / "left")
    daemon.ask("WorkbenchDelete", workbench_id=left)
    daemon.ask("WorkbenchDelete", workbench_id=gone)
    daemon.stop()
    shutil.copytree(daemon.home.parent / "left", folders / left)
    (folders / "0123456789abcdef").mkdir()
    _damage_daemon(daemon, "WorkbenchDeleted", nth=1)
    daemon.start()

    listed = [row["id"] for row in daemon.ask("WorkbenchList")["workbenches"]]
    assert listed == [kept]
    with pytest.raises(RemoteError, match="there is no workbench"):
        daemon.ask("WorkbenchOpen", workbench_id=gone)
    assert sorted(path.name for path in folders.iterdir()) == sorted(
        ["0123456789abcdef", left, kept]
    )


def test_a_log_that_a_newer_kbd_wrote_is_not_damaged(daemon: RealDaemon, kbd: Kbd) -> None:
    """It starts nothing, and repairs nothing: the log is whole, and only cannot be read here."""
    daemon.workbench(name="taxes")
    daemon.stop()
    segment = last_segment(daemon.home / "daemon" / "log")
    data = bytearray(segment.read_bytes())
    data[8:12] = struct.pack("<HH", 99, 99)
    data[60:64] = struct.pack("<I", zlib.crc32(data[:60]))
    segment.write_bytes(data)
    before = contents(segment.parent)

    with pytest.raises(AssertionError, match="did not start"):
        daemon.start()
    assert kbd("repair", "daemon", "--cut", "--yes") == 1
    assert kbd("repair", "daemon", "--rebuild", "--yes") == 1
    assert contents(segment.parent) == before


def test_watched_folders_stand_still_while_the_daemon_s_log_is_damaged(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Nothing lands, nothing that landed is removed, and each row says why."""
    folder = daemon.home.parent / "inbox"
    folder.mkdir()
    watch = daemon.ask(
        "WatchAdd", folder=str(folder), prompt="total Amount by Shop", patterns=["*.csv"]
    )
    daemon.workbench(name="later")
    daemon.stop()
    copies = daemon.home / "landed" / watch["watch_id"]
    copies.mkdir(mode=0o700, exist_ok=True)
    (copies / "00").mkdir()
    (copies / "00" / ("00" + "1" * 62)).write_text("a copy that no landing needs")
    before = contents(copies)
    _damage_daemon(daemon)
    daemon.start()
    (folder / "a.csv").write_text("Shop,Amount\nBaker,1\n")
    time.sleep(1.5)

    (row,) = daemon.ask("WatchList")["watches"]
    assert (row["status"], row["code"], row["landed"]) == ("suspended", "LOG_CORRUPT", 0)
    assert "`kbd repair daemon`" in row["reason"]
    _refused(daemon, "WatchResume", watch_id=watch["watch_id"])
    assert contents(copies) == before
    assert kbd("watch", "list") in {0, 1}
    assert "suspended" in capsys.readouterr().out


def test_no_model_that_money_goes_to_is_asked_while_the_daemon_s_log_is_damaged(
    short_dir: Path, anyio_backend: str
) -> None:
    """A turn reserves its part of the day's budget first, which cannot be recorded."""
    asked: list[dict[str, Any]] = []

    def play(body: dict[str, Any]) -> Reply:
        asked.append(body)
        return text("All done.")

    with model_server(play) as server:
        environment = {"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": "sk-test"}
        daemon = RealDaemon(short_dir / "home", anyio_backend, environment)
        daemon.start()
        try:
            daemon.ask("UserSetConsentMode", mode="allow_all", approved=True)
            taxes = daemon.workbench(_source(daemon), name="taxes")
            daemon.ask("WorkbenchSetDefaultModel", workbench_id=taxes, model_id=MODEL)
            daemon.workbench(name="later")
            daemon.stop()
            _damage_daemon(daemon, nth=1)
            daemon.start()
            run = daemon.run_prompt(taxes, "say something")

            assert run["status"] == "failed"
            assert "`kbd repair daemon`" in run["error"]["message"]
            assert asked == []
        finally:
            daemon.stop()


def test_a_backup_of_a_damaged_home_says_so_and_has_all_of_it(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """The daemon's log is in it as it lies there: its readable part would pass for a whole one.

    The home that is made of it is damaged as its origin is, and a repair of it is as good.
    """
    one, two = (daemon.workbench(_source(daemon), name=name) for name in ("one", "two"))
    daemon.stop()
    _damage_daemon(daemon, nth=1)
    digest = hashlib.sha256(b"landed").hexdigest()
    copy = daemon.home / "landed" / "0123456789abcdef" / digest[:2] / digest
    copy.parent.mkdir(mode=0o700, parents=True)
    copy.write_bytes(b"landed")
    daemon.start()
    backup, again = str(daemon.home.parent / "backup"), daemon.home.parent / "again"
    assert kbd("backup", backup) == 1
    assert "is damaged and was copied as it is" in capsys.readouterr().err
    daemon.stop()

    assert kbd("--home", str(again), "restore", backup) == 0
    assert "daemon (daemon) was damaged when it was copied." in capsys.readouterr().err
    assert (again / copy.relative_to(daemon.home)).read_bytes() == b"landed"
    restored = RealDaemon(again, daemon.backend)
    restored.start()
    try:
        assert [row["id"] for row in restored.ask("WorkbenchList")["workbenches"]] == [one, two]
        assert "damage" in restored.ask("EngineGetInfo")
    finally:
        restored.stop()
    assert kbd("--home", str(again), "repair", "daemon", "--cut", "--yes") == 0
    restored.start()
    try:
        types = [each["type"] for each in restored.events("daemon")]
        assert types.count("HomeRestored") == 2
        assert "damage" not in restored.ask("EngineGetInfo")
    finally:
        restored.stop()
