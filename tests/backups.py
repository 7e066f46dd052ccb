"""What a backup must be, compared with the home that it is of."""

from pathlib import Path

from kbd.core.audit.backup import check_backup
from kbd.core.audit.backup_contents import verify_and_list_blobs
from kbd.core.audit.backup_inventory import INVENTORY_NAME, Inventory, InventoryLog, read_inventory
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.store.history import state_at, state_hash
from kbd.events.blobs import BlobStore
from kbd.events.log import EventLog
from kbd.events.restores import HomeRestored
from kbd.events.scan import read_log
from kbd.types import Seq

__all__ = ["assert_beginning", "folder_of", "kept", "known_in"]


def folder_of(home: Path, log_id: str) -> Path:
    """Return the folder that has the log, in a home or a backup."""
    return home / "daemon" if log_id == "daemon" else home / "workbenches" / log_id


def kept(inventory: Inventory, log_id: str) -> InventoryLog:
    """Return what a backup says of a log."""
    return next(log for log in inventory.logs if log.workbench_id == log_id)


def known_in(home: Path) -> set[str]:
    """Return the workbenches that the daemon's log of a home or a backup knows."""
    state = DaemonState()

    def apply(seq: Seq, record: object) -> None:
        fold_daemon(state, seq, record)  # type: ignore[arg-type]

    read_log(home / "daemon" / "log", apply)
    return {str(each) for each in state.workbenches}


def assert_beginning(home: Path, copy: Path, inventory: Inventory, *, folds: bool = True) -> None:
    """See that each log of a backup, or of a home made from it, is a beginning of the home's.

    Byte for byte, opened without repair, with the same state, and with all blobs that it names. The
    daemon's log of a home that was made from it ends with one event more.

    Args:
        home: The home.
        copy: The other.
        inventory: What the backup holds.
        folds: Whether to fold both, which takes as long as the logs are.
    """
    assert {log.workbench_id for log in inventory.logs} == {"daemon", *known_in(copy)}
    is_restored = not (copy / INVENTORY_NAME).exists()
    for log in inventory.logs:
        ours, theirs = folder_of(copy, log.workbench_id), folder_of(home, log.workbench_id)
        for name, size in log.segments:
            data = (ours / "log" / name).read_bytes()
            assert len(data) == size or (is_restored and log.workbench_id == "daemon")
            data = data[:size]
            assert (theirs / "log" / name).read_bytes()[:size] == data
        opened = EventLog.open(ours / "log")
        assert (opened.repairs, opened.damage) == ((), None)
        chain = opened.chain_at(log.seq)
        assert chain is not None
        assert chain.hex() == log.head
        added = [record.data for _, record in opened.read(log.seq, 10)]
        expected = [HomeRestored] if is_restored and log.workbench_id == "daemon" else []
        assert [type(event) for event in added] == expected
        opened.close()
        if log.workbench_id != "daemon":
            if folds:
                folded = state_hash(state_at(ours / "log", log.seq))
                assert folded == state_hash(state_at(theirs / "log", log.seq))
            found = BlobStore(ours / "blobs").verify(verify_and_list_blobs(ours / "log")[1])
            assert (found.missing, found.damaged) == ((), ())
            assert found.checked == log.blobs


def checked(backup: Path) -> Inventory:
    """Check a backup as `kbd verify` does, and return what it holds."""
    assert check_backup(backup).faults == ()
    return read_inventory(backup)
