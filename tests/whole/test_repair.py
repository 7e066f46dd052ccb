"""`kbd repair` of a home of the real daemon: what comes back, what is lost, and what may not be."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from damaged_logs import contents, flip, frame_of, last_segment
from kbd.cli import main
from kbd.events.frame import BODY_AT
from real_daemon import RealDaemon

Captured = pytest.CaptureFixture[str]
Kbd = Callable[..., int]


@pytest.fixture
def kbd(daemon: RealDaemon, monkeypatch: pytest.MonkeyPatch) -> Kbd:
    """Run a command in this process with the daemon's home, and return its exit code."""
    monkeypatch.delenv("KBD_SOCKET", raising=False)
    monkeypatch.setenv("KBD_HOME", str(daemon.home))
    return lambda *arguments: main(arguments)


def _source(daemon: RealDaemon, name: str = "a.csv", text: str = "Shop,Amount\nBaker,1\n") -> Path:
    source = daemon.home.parent / name
    source.write_text(text)
    return source


def _damage(log_dir: Path, kind: str, nth: int = 0) -> int:
    """Flip a bit in a frame with an event of a type; return the number of its first event."""
    at, seq = frame_of(last_segment(log_dir), kind, nth)
    flip(last_segment(log_dir), at + BODY_AT + 1)
    return seq


def _own_log(daemon: RealDaemon) -> Path:
    return daemon.home / "daemon" / "log"


def _log(daemon: RealDaemon, workbench_id: str) -> Path:
    return daemon.home / "workbenches" / workbench_id / "log"


def _listed(daemon: RealDaemon) -> dict[str, dict[str, Any]]:
    return {row["id"]: row for row in daemon.ask("WorkbenchList")["workbenches"]}


def _backup(daemon: RealDaemon) -> str:
    target = daemon.home.parent / "backup"
    daemon.ask("BackupCreate", target=str(target))
    return str(target)


def test_a_backup_brings_a_damaged_log_back_to_the_byte(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """What came after the backup stays, too: nothing is lost, and nobody is asked."""
    taxes = daemon.workbench(_source(daemon), name="taxes")
    daemon.workbench(name="rents")
    backup = _backup(daemon)
    later = daemon.workbench(name="later")
    daemon.ask(
        "WorkbenchFilesAdd", workbench_id=taxes, source_paths=[str(_source(daemon, "b.csv"))]
    )
    daemon.stop()
    whole = {name: data for name, (_, data) in contents(daemon.home / "workbenches").items()}
    _damage(_own_log(daemon), "WorkbenchCreated", nth=1)
    _damage(_log(daemon, taxes), "FileAdded")
    assert kbd("verify") == 1
    capsys.readouterr()

    assert kbd("repair", "--from", backup) == 0
    told = capsys.readouterr().out
    assert told.count("mended: nothing is lost") == 2
    assert kbd("verify") == 0
    now = {name: data for name, (_, data) in contents(daemon.home / "workbenches").items()}
    assert {name: now[name] for name in whole} == whole
    assert [name for name in now if name not in whole] == [
        f"{taxes}/log/{last_segment(_log(daemon, taxes)).name}.damaged-1"
    ]
    daemon.start()
    assert later in _listed(daemon)
    assert all("reason" not in row for row in _listed(daemon).values())


def test_what_is_in_doubt_while_the_log_is_damaged_is_not_when_it_is_mended(
    daemon: RealDaemon, kbd: Kbd
) -> None:
    """What lists said of a hidden workbench is forgotten, though its own log is as it was."""
    daemon.workbench(name="one")
    hidden = daemon.workbench(name="two")
    backup = _backup(daemon)
    daemon.stop()
    _damage(_own_log(daemon), "WorkbenchCreated", nth=1)
    daemon.start()
    assert "reason" in _listed(daemon)[hidden]
    daemon.stop()
    assert kbd("repair", "--from", backup) == 0
    daemon.start()

    assert "reason" not in _listed(daemon)[hidden]


def test_nothing_is_cut_without_a_person_s_word(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """A repair tells what would be lost, and changes nothing: without --cut, and without --yes."""
    taxes = daemon.workbench(_source(daemon), name="taxes")
    assert kbd("repair") == 75
    assert "`kbd stop` first" in capsys.readouterr().err
    daemon.stop()
    seq = _damage(_log(daemon, taxes), "FileAdded")
    before = contents(daemon.home / "workbenches")

    assert kbd("repair", "taxes") == 1
    told = capsys.readouterr().out
    assert f"lost: event {seq}, which cannot be read" in told
    assert "--cut gives it up" in told
    assert kbd("repair", "taxes", "--cut") == 3
    assert kbd("repair", "taxes", "--rebuild") == 2
    assert kbd("repair", "nobody") == 1
    assert contents(daemon.home / "workbenches") == before


def test_a_cut_of_the_daemon_s_log_brings_nothing_back_into_force(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """What was taken back behind the damage stays taken back until a person says so again.

    Workbenches that the rest does not name are listed again, one whose folder is gone is not, and
    what landed is kept.
    """
    inbox = daemon.home.parent / "inbox"
    inbox.mkdir()
    daemon.ask("UserSetConsentMode", mode="allow_all", approved=True)
    added = {"folder": str(inbox), "prompt": "total Amount by Shop", "patterns": ["*.csv"]}
    watch = daemon.ask("WatchAdd", **added, publish="auto")["watch_id"]
    one, gone = daemon.workbench(_source(daemon), name="one"), daemon.workbench(name="gone")
    daemon.ask("UserSetConsentMode", mode="ask")
    two = daemon.workbench(_source(daemon), name="two")
    daemon.ask("WatchRemove", watch_id=watch)
    daemon.ask("WorkbenchDelete", workbench_id=gone)
    daemon.stop()
    copy = daemon.home / "landed" / watch / "00" / ("00" + "1" * 62)
    copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    copy.write_text("landed, and nowhere else")
    seq = _damage(_own_log(daemon), "SettingChanged", nth=1)

    assert kbd("repair", "daemon", "--cut", "--yes") == 0
    told = capsys.readouterr().out
    assert f"lost: event {seq}, which cannot be read" in told
    assert f"workbench {two}" in told or "two" in told
    assert kbd("verify") == 0
    daemon.start()

    assert daemon.ask("UserGetConsentMode")["mode"] == "ask"
    (row,) = daemon.ask("WatchList")["watches"]
    assert (row["status"], row["restored"]) == ("paused", True)
    assert set(_listed(daemon)) == {one, two}
    assert all("reason" not in each for each in _listed(daemon).values())
    (repaired,) = [each for each in daemon.events("daemon") if each["type"] == "LogRepaired"]
    assert (_own_log(daemon) / repaired["data"]["kept_as"]).exists()
    assert "landed, and nowhere else" in [
        path.read_text() for path in (daemon.home / "landed").rglob("*") if path.is_file()
    ]
    daemon.ask("WorkbenchDelete", workbench_id=two)
    daemon.workbench(name="new")


def test_a_lost_log_of_the_daemon_is_made_anew(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Of it nothing can be read: the workbenches say by their own first events who they are."""
    made = [daemon.workbench(_source(daemon), name=name) for name in ("one", "two")]
    daemon.stop()
    segment = last_segment(_own_log(daemon))
    data = b"\xff" * segment.stat().st_size
    segment.write_bytes(data)

    assert kbd("repair", "daemon", "--cut", "--yes") == 1
    assert kbd("repair", "daemon", "--rebuild") == 3
    assert segment.read_bytes() == data
    assert kbd("repair", "daemon", "--rebuild", "--yes") == 0
    assert kbd("verify") == 0
    capsys.readouterr()
    daemon.start()
    assert [(row["id"], row["name"]) for row in _listed(daemon).values()] == list(
        zip(made, ("one", "two"), strict=True)
    )
    assert (segment.parent / f"{segment.name}.damaged-1").read_bytes() == data


def test_a_log_of_the_daemon_that_is_gone_is_made_anew(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """An empty log shows no damage; beside workbenches it is told, and not called whole."""
    taxes = daemon.workbench(_source(daemon), name="taxes")
    daemon.stop()
    shutil.rmtree(_own_log(daemon))

    assert kbd("repair") == 1
    assert "is empty, and workbenches are there" in capsys.readouterr().out
    assert kbd("repair", "daemon", "--rebuild", "--yes") == 0
    assert kbd("repair") == 0
    assert kbd("verify") == 0
    daemon.start()
    assert _listed(daemon)[taxes]["name"] == "taxes"


def test_a_cut_of_a_workbench_is_a_return_to_an_earlier_time(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """It ends as one that was restored: no consent holds, and no extract is taken for unfinished.

    The file of an extract whose outcome is lost is there, whole, and somebody's.
    """
    taxes = daemon.workbench(_source(daemon), name="taxes")
    out = daemon.home.parent / "out"
    out.mkdir()
    daemon.ask("WorkbenchFilesExtract", workbench_id=taxes, destination_dir=str(out))
    written = (out / "a.csv").read_text()
    daemon.stop()
    _damage(_log(daemon, taxes), "EffectDone")

    assert kbd("repair", "taxes", "--cut", "--yes") == 0
    assert "lost: event" in capsys.readouterr().out
    daemon.start()
    assert daemon.ask("WorkbenchOpen", workbench_id=taxes)["workbench"]["status"] == "idle"
    assert (out / "a.csv").read_text() == written
    types = [each["type"] for each in daemon.events(taxes)]
    assert types[types.index("EffectIntended") + 1 :][:2] == ["LogRepaired", "WorkbenchRestored"]
    assert "EffectAborted" not in types
    assert daemon.ask("LogVerify", workbench_id=taxes)["ok"]


def test_file_versions_are_mended_by_bytes_that_prove_right(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """By a published file, by another workbench, by a backup; never by bytes of another hash."""
    one = daemon.workbench(_source(daemon, "a.csv", "a\n1\n"), name="one")
    two = daemon.workbench(_source(daemon, "b.csv", "b\n2\n"), name="two")
    backup = Path(_backup(daemon))
    daemon.stop()
    folders = daemon.home / "workbenches"
    (a,), (b,) = (list((folders / each).glob(f"blobs/{'?' * 64}")) for each in (one, two))
    flip(a, 0)
    b.unlink()
    (folders / two / "published" / "b.csv").unlink()
    assert kbd("verify") == 1

    assert kbd("repair") == 1
    told = capsys.readouterr().out
    assert f"file version {a.name[:16]} mended by" in told
    assert f"file version {b.name[:16]} is lost" in told
    assert a.read_bytes() == b"a\n1\n"
    wrong = next((backup / "workbenches" / two).glob("blobs/*/*"))
    right = wrong.read_bytes()
    wrong.chmod(0o600)
    wrong.write_bytes(b"b\n3\n")
    assert kbd("repair", "two", "--from", str(backup)) == 1
    assert not b.exists()
    wrong.write_bytes(right)
    assert kbd("repair", "two", "--from", str(backup)) == 0
    assert kbd("verify") == 0
    assert b.read_bytes() == b"b\n2\n"


def test_a_backup_of_another_home_brings_nothing(
    daemon: RealDaemon, kbd: Kbd, capsys: Captured
) -> None:
    """Its daemon's log is of another history, as the chain says: the damaged one stays as it is."""
    daemon.workbench(name="one")
    backup = Path(_backup(daemon))
    daemon.stop()
    shutil.copytree(daemon.home, daemon.home.parent / "other")
    shutil.rmtree(_own_log(daemon))
    daemon.start()
    daemon.workbench(name="one")
    daemon.stop()
    _damage(_own_log(daemon), "WorkbenchCreated")
    before = contents(_own_log(daemon))

    assert kbd("repair", "daemon", "--from", str(backup)) == 1
    assert "another history" in capsys.readouterr().out
    assert contents(_own_log(daemon)) == before
    assert kbd("repair", "daemon", "--from", str(daemon.home)) == 2


def test_a_whole_home_is_left_as_it_is(daemon: RealDaemon, kbd: Kbd, capsys: Captured) -> None:
    """There is nothing to mend: no file is written, whatever is asked for."""
    daemon.workbench(_source(daemon), name="taxes")
    daemon.stop()
    before = {name: data for name, (_, data) in contents(daemon.home).items() if name != "kbd.lock"}

    for asked in ((), ("--cut", "--yes"), ("daemon", "--rebuild", "--yes")):
        assert kbd("repair", *asked) == 0
    assert "whole" in capsys.readouterr().out
    after = {name: data for name, (_, data) in contents(daemon.home).items() if name != "kbd.lock"}
    assert after == before
    assert kbd("verify", "--json") == 0
    assert all(each["ok"] for each in json.loads(capsys.readouterr().out).values())
