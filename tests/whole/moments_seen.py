"""What a real daemon's workbenches looked like at each event, seen while it happened."""

import hashlib
import shutil
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from kbd.core.audit.moment_folder import folder_files
from kbd.core.store.history import state_at, state_hash
from kbd.types import Seq
from real_daemon import RealDaemon

__all__ = ["LIVE", "Moments", "strip", "tree"]

LIVE = """
import kbd.core.sessions.recovery as opening
from kbd.core.store.history import state_hash
folded, heard = opening.fold_workbench, open({path!r}, "a", buffering=1)
def heard_fold(state, seq, record):
    folded(state, seq, record)
    heard.write(f"{{state.workbench_id}} {{seq}} {{state_hash(state)}}\\n")
opening.fold_workbench = heard_fold
"""
"""Has a daemon's process write down the state of each workbench whenever an event changed it: live,
at recovery, on top of a snapshot."""

PROJECTIONS = ("snap", "cache", "draft", "published", "stage", "meta")
"""Everything in a workbench but its log and its blobs."""

SETTLE_S = 20.0


def tree(folder: Path) -> dict[str, bytes]:
    """Return the files below a folder with their bytes."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def strip(home: Path) -> None:
    """Delete whatever of a home can be made again from logs and blobs."""
    shutil.rmtree(home / "daemon" / "snap", ignore_errors=True)
    for workbench in (home / "workbenches").iterdir():
        for part in PROJECTIONS:
            shutil.rmtree(workbench / part, ignore_errors=True)


def _are_of(lines: list[str], ids: list[str]) -> bool:
    """Tell whether lines of the conversation's copy are those of the messages with these ids."""
    return len(lines) == len(ids) and all(
        f'"{i}"' in line for i, line in zip(ids, lines, strict=True)
    )


class Moments:
    """One workbench of a running daemon, and what was seen of it.

    Attributes:
        held: By event, what published/ and draft/ held when it was the last one.

    Args:
        daemon: The daemon; its process began with `LIVE`.
        heard: The file that this writes.
        workbench_id: The workbench.
    """

    def __init__(self, daemon: RealDaemon, heard: Path, workbench_id: str) -> None:
        self.held: dict[int, dict[str, dict[str, bytes]]] = {}
        self._daemon, self._heard, self._id = daemon, heard, workbench_id
        self.folder = daemon.home / "workbenches" / workbench_id

    def last(self) -> int:
        """Return the last event's number."""
        found = self._daemon.ask("EventsRead", workbench_id=self._id, limit=1)
        return int(found["last_seq"])

    def files(self, seq: int) -> dict[str, dict[str, bytes]]:
        """Return what each folder has to hold after an event: a fresh fold, and the blobs."""
        state = state_at(self.folder / "log", Seq(seq))
        return {
            part: {str(name): self._blob(blob) for name, blob in held.items()}
            for part, held in folder_files(state).items()
        }

    def hold(self) -> None:
        """Remember what both folders hold now, once they show what is recorded."""
        deadline = time.monotonic() + SETTLE_S
        while True:
            seq = self.last()
            seen = {part: tree(self.folder / part) for part in ("published", "draft")}
            wanted = self.files(seq)
            if all(seen[part] == wanted[part] for part in seen):
                self.held[seq] = seen
                return
            assert time.monotonic() < deadline, (seq, {part: list(seen[part]) for part in seen})
            time.sleep(0.05)

    def picture(self) -> dict[str, Any]:
        """Return all that clients and people see of the workbench now."""
        self._copied()
        # A receipt is an event, made behind its publish.
        self.hold()
        seq, named = self.last(), {"workbench_id": self._id}
        methods = (
            "WorkbenchFilesList", "WorkshopGetConversation", "WorkshopGetState", "RunList",
            "DraftGetState", "ReviewGetChangeSet", "CheckpointsList", "EgressGetConsentStatus",
        )  # fmt: skip
        answers = {method: self._daemon.ask(method, **named) for method in methods}
        state = self._daemon.ask("StateAt", **named, seq=seq)
        return {
            **answers, "state": state, "seq": seq, "live": self.live()[seq],
            "folders": {p: tree(self.folder / p) for p in ("published", "draft", "meta")},
        }  # fmt: skip

    def _copied(self) -> None:
        """Wait until the readable copies have all of the conversation and each receipt."""
        copy = self.folder / "meta" / "workshop" / "conversation.jsonl"
        messages = self._daemon.ask("WorkshopGetConversation", workbench_id=self._id)["messages"]
        deadline = time.monotonic() + SETTLE_S
        ids = [each["message_id"] for each in messages]
        # By their ids: after an undo an older copy may have as many lines.
        while not _are_of(copy.read_text().splitlines(), ids):
            assert time.monotonic() < deadline, copy.read_text()[-2000:]
            time.sleep(0.05)
        publishes = state_at(self.folder / "log", Seq(self.last())).publishes
        while missing := [
            each for each in publishes
            if not (self.folder / "meta" / "receipts" / f"{each}.json").exists()
        ]:  # fmt: skip
            assert time.monotonic() < deadline, missing
            time.sleep(0.05)

    def live(self) -> dict[int, set[str]]:
        """Return by event the hashes of all states that the daemon's processes had after it."""
        found: dict[int, set[str]] = defaultdict(set)
        for text in self._heard.read_text().splitlines():
            workbench_id, seq, state = text.split()
            if workbench_id == self._id:
                found[int(seq)].add(state)
        return found

    def prove(self, target: Path, *, every: int = 1) -> int:
        """Compare what is restored at each event with what was and with a fresh fold.

        Args:
            target: A folder that is not there yet.
            every: How many events to go on by; those at which files were seen are all proved.

        Returns:
            How many events were proved.
        """
        live, last = self.live(), self.last()
        seqs = sorted({*range(1, last + 1, every), *self.held, last})
        for seq in seqs:
            found = self._daemon.ask(
                "StateAt", workbench_id=self._id, seq=seq, destination_dir=str(target)
            )
            fresh = state_hash(state_at(self.folder / "log", Seq(seq)))
            assert {found["state_hash"]} == {fresh} == live[seq], seq
            assert hashlib.sha256((target / "state.json").read_bytes()).hexdigest() == fresh
            restored = {part: tree(target / part) for part in ("files", "published", "draft")}
            assert restored == self.files(seq), seq
            for part, seen in self.held.get(seq, {}).items():
                assert restored[part] == seen, (seq, part)
            shutil.rmtree(target)
        return len(seqs)

    def _blob(self, blob: str) -> bytes:
        found = (self.folder / "blobs" / blob).read_bytes()
        assert hashlib.sha256(found).hexdigest() == blob
        return found
