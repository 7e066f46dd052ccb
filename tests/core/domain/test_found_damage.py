"""What a verification changes in what is known to be damaged: told once, and until it is mended."""

from kbd.core.domain.daemon_decisions import CreateWorkbench, decide_daemon
from kbd.core.domain.daemon_state import DaemonState, fold_daemon
from kbd.core.domain.found_damage import MAX_KNOWN, EndVerification, FoundDamage, damage_text
from kbd.events.codec import wrap_event
from kbd.events.damages import DamageFound, DamageMended
from kbd.types import Seq, WorkbenchId

BENCH, DAEMON = WorkbenchId("00112233445566ff"), WorkbenchId("daemon")
LOG = FoundDamage("damaged", "00000000000000000001.kbl", 64, 3, "flipped")


def blob(number: int, kind: str = "blob damaged") -> FoundDamage:
    """Make damage of the blob that an event names."""
    return FoundDamage(kind, f"aa/{number:064x}", 0, number, "other bytes")


class Verified:
    """A daemon's state, by what verifications found."""

    def __init__(self) -> None:
        self.state = DaemonState()
        self._fold(decide_daemon(self.state, CreateWorkbench(BENCH, "taxes")).events)

    def find(self, *faults: FoundDamage, log_id: WorkbenchId = BENCH) -> list[str]:
        """End a verification; return what is recorded, each by type and file."""
        events = decide_daemon(self.state, EndVerification(log_id, faults)).events
        self._fold(events)
        return [
            f"{type(each).__name__} {each.file}"
            for each in events
            if isinstance(each, DamageFound | DamageMended)
        ]

    def _fold(self, events: object) -> None:
        assert isinstance(events, tuple)
        for event in events:
            fold_daemon(self.state, Seq(self.state.seq + 1), wrap_event(event, 1))

    def known(self, log_id: str = BENCH) -> tuple[FoundDamage, ...]:
        """Return what is known to be damaged."""
        return self.state.damage_of(log_id)


def test_damage_is_recorded_once_and_until_it_is_mended() -> None:
    """Found again it is no news; what is gone is mended, and what is new is found beside it."""
    verified = Verified()
    assert verified.find(blob(1), blob(2)) == [f"DamageFound {blob(n).file}" for n in (1, 2)]
    assert verified.find(blob(1), blob(2)) == []
    assert verified.find(blob(2), blob(3)) == [
        f"DamageMended {blob(1).file}", f"DamageFound {blob(3).file}",
    ]  # fmt: skip
    assert verified.known() == (blob(2), blob(3))
    assert len(verified.find()) == 2
    assert verified.known() == ()


def test_the_daemons_log_has_damage_of_its_own() -> None:
    """It is no workbench's; of a workbench that is not there nothing is recorded."""
    verified = Verified()
    assert verified.find(LOG, log_id=DAEMON) == [f"DamageFound {LOG.file}"]
    assert (verified.known(DAEMON), verified.known()) == ((LOG,), ())
    assert verified.find(LOG, log_id=WorkbenchId("ff" * 8)) == []
    assert verified.find(log_id=DAEMON) == [f"DamageMended {LOG.file}"]


def test_behind_damage_of_a_log_no_blob_is_called_mended() -> None:
    """Nothing was looked at there; the log itself may be mended and damaged elsewhere."""
    verified = Verified()
    verified.find(blob(7))
    assert verified.find(LOG) == [f"DamageFound {LOG.file}"]
    assert verified.known() == (blob(7), LOG)
    assert verified.find(blob(7)) == [f"DamageMended {LOG.file}"]


def test_a_folder_of_blobs_that_is_gone_is_told_in_part() -> None:
    """So many are recorded; as they are mended the others come up."""
    verified = Verified()
    gone = [blob(number, "blob missing") for number in range(MAX_KNOWN + 5)]
    assert len(verified.find(*gone)) == MAX_KNOWN
    assert len(verified.find(*gone[3:])) == 3 + 3
    assert len(verified.known()) == MAX_KNOWN


def test_what_says_nothing_of_the_disk_is_no_damage() -> None:
    """A head that somebody kept elsewhere, and a log of a newer kbd."""
    verified = Verified()
    assert verified.find(FoundDamage("head", ""), FoundDamage("unknown", "1.kbl")) == []


def test_the_reason_says_what_where_and_how_much() -> None:
    """In one line, for lists; nothing of what is whole."""
    assert damage_text(()) == ""
    told = damage_text((blob(5), blob(6)))
    assert told.startswith(f"blob damaged ({blob(5).file}, event 5, and 1 more): other bytes; ")
