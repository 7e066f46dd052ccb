"""Backups that a stranger made: whole by every hash, and made to lead out, to lie, or to hang."""

import os
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import msgspec
import pytest

from backends import on_trio
from events.failing_disks import FullDisk
from kbd.core.audit.backup import Backup, check_backup
from kbd.core.audit.backup_contents import hash_file
from kbd.core.audit.backup_inventory import (
    INVENTORY_NAME,
    InventoryFile,
    InventoryLog,
    read_inventory,
)
from kbd.core.audit.log_inspection import misleading_name
from kbd.core.audit.restore import RESTORED_NAME, restore
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.runtime.paths import Home
from kbd.errors import DiskFull, FileReadFailed, FileWriteFailed, KbdError, ValidationFailed
from kbd.events.base import FileVersion
from kbd.events.blobs import BlobStore
from kbd.events.codec import wrap_event
from kbd.events.disk import DISK
from kbd.events.drafts import (
    CheckpointCreated,
    EffectIntended,
    FileChanged,
    PlannedFile,
    PublishIntended,
)
from kbd.events.log import EventLog
from kbd.events.restores import WorkbenchRestored
from kbd.events.scan import read_log
from kbd.events.vocabulary import Event
from kbd.events.watches import FileLanded, WatchAdded, WatchRule
from kbd.events.workbenches import (
    ConsentGranted,
    ConversationRewound,
    DraftedThen,
    DraftThen,
    FileAdded,
    FileThen,
    SettingChanged,
    WorkbenchCreated,
)
from kbd.types import BlobHash, FileName, Seq, WatchId, WorkbenchId
from logs.make_golden import ADDED, EVENTS
from supervised import supervised

pytestmark = pytest.mark.anyio

BENCH = WorkbenchId("00112233445566ff")
OTHER = WorkbenchId("ffeeddccbbaa9988")
RULE = WatchRule("in", "/srv/in", "x")
OUT = FileName("../../../out.txt")
DEEP = 100_000


def append(log_dir: Path, events: Sequence[Event]) -> Seq:
    """Write a log that is whole, whatever it says."""
    log = EventLog.open(log_dir)
    log.append([wrap_event(event, 1_700_000_000_000_000) for event in events])
    log.close()
    return log.seq


def forged(
    folder: Path, daemon: Sequence[Event] = (), bench: Sequence[Event] = (), owner: str = BENCH
) -> Path:
    """Make a backup, whole by every hash, of logs that say what a test wants."""
    home = Home(folder=folder / "stranger", socket=folder / "s")
    home.create()
    folders = home.workbench(BENCH)
    folders.create()
    BlobStore(folders.blobs).put_bytes(b"x")
    known = WorkbenchCreated(BENCH, "w")
    seq = append(home.daemon_log, (known, *daemon))
    append(folders.log, (WorkbenchCreated(WorkbenchId(owner), "w"), *bench))
    backup = Backup(home, folder / "b")
    backup.take_daemon(seq, {})
    backup.take(BENCH, "w", None)
    backup.finish("2026-11-22T13:37:00.000000Z")
    backup.close()
    return folder / "b"


def refused(folder: Path, backup: Path, kinds: type[KbdError] = FileReadFailed) -> str:
    """Restore a backup that must be refused, with nothing left behind; return the reason."""
    before = sorted(os.listdir(folder))
    with pytest.raises(kinds) as error:
        restore(backup, folder / "r")
    assert sorted(os.listdir(folder)) == before
    assert str(folder) not in error.value.message
    return error.value.message


X = BlobHash("2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881")
"""The hash of `x`."""

LEADING_OUT: dict[str, Event] = {
    "added": FileAdded(OUT, X, 1),
    "absolute": FileAdded(FileName("/etc/cron.d/x"), X, 1),
    "empty": FileAdded(FileName("a//b"), X, 1),
    "nul": FileAdded(FileName("a\0b"), X, 1),
    "changed": FileChanged(OUT, None, X, 1),
    "checkpoint": CheckpointCreated("c1", "manual", "", (FileVersion(OUT, X, 1),)),
    "checkpoint_id": CheckpointCreated("../../c1", "manual", "", ()),
    "planned": PublishIntended("p1", (PlannedFile(OUT, None, X, 1),)),
    "publish_id": PublishIntended("../../../p1", ()),
    "kept_both": PublishIntended("p1", (), ((FileName("a"), OUT),)),
    "accepted": PublishIntended("p1", (), accepted=((OUT, ("a link",)),)),
    "rewound": PublishIntended(
        "p1", (), rewind=ConversationRewound("m1", 1, files=(FileThen(OUT, X, 1, 1, 1),))
    ),
    "drafted": ConversationRewound("m1", 1, draft=DraftThen("d1", 1, 0, (DraftedThen(OUT, X, X),))),
    "delivered": EffectIntended("e1", "deliver", "/srv/out", FileVersion(OUT, X, 1)),
    "effect_id": EffectIntended(
        "/../../../x", "extract", "/srv/out", FileVersion(FileName("a"), X, 1)
    ),
}
"""An event of a workbench each, with a name in it that leads out."""

OF_THE_DAEMON: dict[str, Event] = {
    "workbench_id": WorkbenchCreated(WorkbenchId("../../x"), "w"),
    "watch_id": WatchAdded(WatchId("../../x"), RULE),
    "absolute": WatchAdded(WatchId("/home/somebody"), RULE),
    "above": WatchAdded(WatchId(".."), RULE),
    "landed": FileLanded(WatchId("1"), "a", "../../../x", 1, "1:1:1:1"),
}
"""The same of the daemon's log."""


@pytest.mark.parametrize("name", LEADING_OUT)
def test_a_name_in_a_log_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    """With the event, before anything has the home's name; `kbd verify` tells it, and its place."""
    backup = forged(tmp_path, bench=(LEADING_OUT[name],))
    (fault,) = (each for each in check_backup(backup).faults if each.kind == "name")
    assert fault.file.startswith(f"workbenches/{BENCH}/log/")
    assert (fault.seq, fault.offset > 0) == (2, True)
    assert f"event 2 of the log {BENCH} names what leads elsewhere" in fault.message
    assert f"event 2 of the log {BENCH} names what leads elsewhere" in refused(tmp_path, backup)


@pytest.mark.parametrize("name", OF_THE_DAEMON)
def test_an_id_in_the_daemons_log_that_leads_out_is_refused(tmp_path: Path, name: str) -> None:
    """It would become the path of a folder that kbd empties when nothing in it is needed."""
    backup = forged(tmp_path, daemon=(OF_THE_DAEMON[name],))
    (fault,) = check_backup(backup).faults
    assert (fault.kind, fault.seq) == ("name", 2)
    assert "event 2 of the log daemon names" in refused(tmp_path, backup)


def test_an_id_that_leads_out_becomes_no_folder(tmp_path: Path) -> None:
    """Nor where a home was copied, and nobody restored it."""
    home = Home(folder=tmp_path, socket=tmp_path / "s")
    for wrong in ("..", ".", "", "a/b", "/etc", "../../x", "a\0"):
        with pytest.raises(ValidationFailed):
            home.landed(WatchId(wrong))
    assert home.landed(WatchId("02f9b4fc6532033c")).parent == home.landings


def test_what_kbd_records_itself_passes() -> None:
    """Of every type of event one, with all its fields: nothing that is true is refused."""
    golden = (*EVENTS, *(event for commit in ADDED for event in commit))
    hashes = ("1", "2", "A", "B")
    named = [misleading_name(event) for event in golden]
    # Their hashes are short on purpose; no name, no id and no folder is refused.
    assert [name for name in named if name is not None and not name.startswith(hashes)] == []


def test_the_log_of_another_workbench_is_refused(tmp_path: Path) -> None:
    """Its consents, files and runs would be taken for those of this one."""
    backup = forged(tmp_path, owner=OTHER)
    assert [(each.kind, each.seq) for each in check_backup(backup).faults] == [("name", 1)]
    assert f"the log of the workbench {BENCH} is another's" in refused(tmp_path, backup)


@pytest.mark.parametrize(
    "path",
    [
        "daemon/snap/00000000000000000002.snap", f"workbenches/{BENCH}/snap/x.snap",
        f"workbenches/{BENCH}/open", f"workbenches/{BENCH}/draft/x", f"workbenches/{BENCH}/cache/x",
        "workbenches/../daemon/x", f"workbenches/{BENCH}/published/../../../x", "landed/../x/y",
        "landed/1/00/x", "kbd.lock", "kbd.sock", "settings.toml", "daemon", "daemon//log/x",
        "daemon/log/../../settings.toml", "/etc/passwd", "daemon/log/a\0b", "",
    ],
)  # fmt: skip
def test_a_list_brings_in_only_what_a_backup_has(tmp_path: Path, path: str) -> None:
    """No settings, no marks, and no snapshot: that would be the state, whatever the log says."""
    backup = forged(tmp_path)
    file = InventoryFile(path=path, size_bytes=1, sha256=X)
    msgspec.structs.replace(read_inventory(backup), files=(file,)).write(backup, DISK)
    assert "none of a home" in refused(tmp_path, backup)
    with pytest.raises(FileReadFailed, match="none of a home"):
        check_backup(backup)


@pytest.mark.parametrize(
    "change",
    [
        {"workbench_id": "../../x"},
        {"workbench_id": "/etc"},
        {"segments": (("../../../x", 1),)},
        {"segments": (("anchor", 1),)},
        {"unsound": (BlobHash("../../../etc/passwd"),)},
    ],
)
def test_a_list_names_no_log_outside(tmp_path: Path, change: dict[str, object]) -> None:
    """Nor are its segments and file versions looked for elsewhere."""
    backup = forged(tmp_path)
    inventory = read_inventory(backup)
    daemon, bench = inventory.logs
    logs: tuple[InventoryLog, ...] = (daemon, msgspec.structs.replace(bench, **change))
    msgspec.structs.replace(inventory, logs=logs).write(backup, DISK)
    refused(tmp_path, backup)
    with pytest.raises(FileReadFailed):
        check_backup(backup)


@on_trio
async def test_what_a_log_says_of_a_restore_and_of_folders_outside(tmp_path: Path) -> None:
    """A restore that the log claims settles nothing, and no folder that it names is touched."""
    (tmp_path / "out").mkdir()
    partial = tmp_path / "out" / ".kbd-e1.part"
    partial.write_text("somebody's")
    claims = (
        WorkbenchRestored("0" * 16),
        ConsentGranted("openai", "openai:m", "0" * 64),
        EffectIntended("e1", "extract", str(partial.parent), FileVersion(FileName("a"), X, 1)),
    )
    backup = forged(tmp_path, bench=claims)
    made = restore(backup, tmp_path / "r")
    assert (made.consents, made.consent_mode, made.rules) == (1, "ask", ())
    async with supervised(tmp_path / "r") as running:
        state = (await running.benches.open(BENCH)).state
        assert (state.consents, state.effects) == ([], {})
    assert partial.exists()
    # In a home of one's own, what a crash left of an extraction is removed.
    async with supervised(tmp_path / "stranger") as running:
        assert len((await running.benches.open(BENCH)).state.consents) == 1
    assert not partial.exists()


def test_a_log_that_is_only_called_damaged_hides_nothing(tmp_path: Path) -> None:
    """Its rules, mode and consents are told as of any other, and end in it, not in a file."""
    rule = msgspec.structs.replace(RULE, on_outcome=("touch", "x"))
    backup = forged(
        tmp_path,
        daemon=(SettingChanged("consent_mode", "allow_all"), WatchAdded(WatchId("ab" * 8), rule)),
        bench=(ConsentGranted("p", "p:m", "s", persist=True),),
    )
    inventory = read_inventory(backup)
    listed = [
        InventoryFile(
            path=path.relative_to(backup).as_posix(),
            size_bytes=path.stat().st_size,
            sha256=hash_file(path),
        )
        for log in ("daemon", f"workbenches/{BENCH}")
        for path in sorted((backup / log).rglob("*"))
        if path.is_file()
    ]
    msgspec.structs.replace(
        inventory,
        logs=tuple(msgspec.structs.replace(log, damage="x") for log in inventory.logs),
        files=tuple(listed),
    ).write(backup, DISK)
    made = restore(backup, tmp_path / "r")
    assert (made.rules, made.consent_mode, made.consents) == ((rule,), "allow_all", 1)
    assert not (tmp_path / "r" / RESTORED_NAME).exists()
    state = DaemonState()
    read_log(tmp_path / "r" / "daemon" / "log", partial(fold_daemon, state))
    assert state.consent_mode == "ask"
    assert [each.restored for each in state.watching.watches.values()] == [True]


def test_a_full_disk_leaves_no_home_without_its_event(tmp_path: Path) -> None:
    """Wherever it is full, also where the restore is recorded: there is a whole home or none."""
    backup = forged(tmp_path, bench=(FileAdded(FileName("a"), X, 1),))
    space, told = 0, 0
    while True:
        try:
            restore(backup, tmp_path / "r", disk=FullDisk(space))
            break
        except DiskFull:
            told, space = told + 1, space + 500
        assert sorted(os.listdir(tmp_path)) == ["b", "stranger"]
    assert told > 10
    state = DaemonState()
    read_log(tmp_path / "r" / "daemon" / "log", partial(fold_daemon, state))
    assert state.workbenches[BENCH].restore_id


@pytest.mark.parametrize("time", ["", "\x1b[2J", "now", "2026-11-22T13:37:00.000000Z\n"])
def test_a_time_that_is_none_is_refused(tmp_path: Path, time: str) -> None:
    """It is shown, and recorded: nothing else may stand in its place."""
    backup = forged(tmp_path)
    msgspec.structs.replace(read_inventory(backup), created_at=time).write(backup, DISK)
    assert "\x1b" not in refused(tmp_path, backup)


def _fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def _loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def _holes(path: Path) -> None:
    os.truncate(path, 1 << 40)


def _nested(path: Path) -> None:
    path.write_bytes(b'{"sha256": "", "inventory": ' + b"[" * DEEP + b"]" * DEEP + b"}\n")


def _half(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


@pytest.mark.parametrize("harm", [_fifo, _link, _holes, _nested, _half])
def test_a_list_that_is_none_is_refused(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    """A pipe does not hang, a terabyte of holes is not read, and no depth ends the process."""
    assert sys.getrecursionlimit() < DEEP
    backup = forged(tmp_path)
    harm(backup / INVENTORY_NAME)
    refused(tmp_path, backup)


@pytest.mark.parametrize(
    ("what", "harm"),
    [
        *((what, harm) for what in ("segment", "anchor") for harm in (_fifo, _link, _half, _holes)),
        *((what, _loop) for what in ("segment", "anchor", "blob")),
        # Not one of holes: its bytes are hashed as long as it takes, for somebody may have so many.
        *(("blob", harm) for harm in (_fifo, _link, _half)),
    ],
)
def test_a_part_that_is_none_is_refused(
    tmp_path: Path, what: str, harm: Callable[[Path], None]
) -> None:
    """A pipe, a link, a loop of links, half a file or one of holes, where a part of a log was."""
    backup = forged(tmp_path, bench=(FileAdded(FileName("a"), X, 1),))
    place = backup / "workbenches" / BENCH
    part = {
        "segment": place / "log" / "00000000000000000001.kbl",
        "blob": place / "blobs" / X[:2] / X,
        "anchor": place / "log" / "anchor",
    }[what]
    part.chmod(0o600)
    harm(part)
    # A link of its own kind may be whole to read; to be taken over it must be a file.
    if not check_backup(backup).faults:
        with pytest.raises(FileWriteFailed):
            restore(backup, tmp_path / "r")
    assert not (tmp_path / "r").exists()
    assert sorted(each.name for each in tmp_path.iterdir()) == ["b", "stranger"]
