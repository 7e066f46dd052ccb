"""Verification of a log: proof that it is whole, or what is wrong with it and where.

It covers frames, numbers, chain, anchor, the contents of each record, the blobs that they name,
and, if somebody kept one, a head from an earlier day: only that shows a history that was written
anew.
"""

from collections.abc import Callable
from pathlib import Path

import msgspec

from kbd.errors import LogCorrupt
from kbd.events import codec
from kbd.events.anchor import Anchor
from kbd.events.base import Recorded
from kbd.events.blobs import BlobStore
from kbd.events.faults import FaultKind, damage_error, fault_kind
from kbd.events.frame import BODY_AT, GENESIS, HEADER_BYTES
from kbd.events.scan import LogSurvey, TornWrite, survey_log
from kbd.events.segment import Block, Segment
from kbd.events.vocabulary import note_named
from kbd.types import BlobHash, Seq

__all__ = ["LogDamage", "Objection", "Verification", "verify_log"]

_MAX_BLOB_FAULTS = 100
"""How many blobs are named one by one; a folder of blobs that is gone is one story."""

_MAX_OBJECTIONS = 100
"""How many frames with events that are objected to are told."""

Objection = Callable[[Seq, Recorded], str | None]
"""What is wrong with an event beside its place in the log; None if nothing is."""


class LogDamage(msgspec.Struct, frozen=True):
    """Damage that a verification found.

    Args:
        kind: What sort of fault it is.
        file: The file's name, within the folder of the log or of the blobs.
        offset: Where in it, in bytes. A blob has one hash for all of it: 0.
        seq: The event that was expected there, or that names the blob.
        reason: What is wrong.
    """

    kind: FaultKind
    file: str
    offset: int
    seq: int
    reason: str


class Verification(msgspec.Struct, frozen=True):
    """Result of verifying a log.

    Args:
        frames: How many frames are whole.
        seq: The last event of the whole part.
        head: The chain value there, in hex: print, sign or keep it elsewhere, and nobody can
            change the history unnoticed.
        anchored: The event that the anchor names.
        segments: How many files of the log were read.
        blobs_checked: How many blobs were read.
        blobs_collected: How many that it names were removed on purpose, as it says itself.
        tear: What a write that was not finished left; the next start cuts it off. Not a fault.
        faults: What is wrong: first damage of the log, behind which nothing can be said of it;
            then the head that does not fit, the events that are objected to, and the blobs in the
            order in which they are named.
    """

    frames: int
    seq: Seq
    head: str
    anchored: int | None
    segments: int
    blobs_checked: int
    blobs_collected: int
    tear: TornWrite | None
    faults: tuple[LogDamage, ...]

    @property
    def fault(self) -> LogDamage | None:
        """The first fault, or None."""
        return self.faults[0] if self.faults else None

    @property
    def is_whole(self) -> bool:
        """Whether the log is whole."""
        return not self.faults


def verify_log(
    log_dir: Path,
    blobs: BlobStore | None = None,
    on_progress: Callable[[int], object] = lambda _: None,
    *,
    durable: Anchor | None = None,
    expected_head: Anchor | None = None,
    objection: Objection | None = None,
) -> Verification:
    """Verify everything that a log promises: frames, numbers, chain, anchor, events, blobs.

    Reads only; the log may be in use, when its last frame may look unfinished (`tear`).

    Args:
        log_dir: The log's directory.
        blobs: Where the blobs lie that its events name; None leaves them out.
        on_progress: Called now and then with the last event that was checked.
        durable: Its end, as whoever has it open knows it; taken before this is called.
        expected_head: A head of this log from earlier, which somebody kept elsewhere.
        objection: Looks at each event beside.

    Raises:
        OSError: A file of the log cannot be read.
    """
    reading = _VerifyingReader(expected_head, on_progress, objection, wants_blobs=blobs is not None)
    # `chained`: only that finds a body that was changed together with its checksums.
    found = survey_log(log_dir, chained=True, visit=reading.visit, durable=durable)
    faults = [] if found.fault is None else [_log_fault(found.fault)]
    if expected_head is not None and (unfit := reading.head_mismatch(found)) is not None:
        faults.append(unfit)
    faults += reading.objections
    checked = 0
    if blobs is not None:
        result = blobs.verify(reading.named)
        checked = result.checked
        wrong: dict[BlobHash, FaultKind] = dict.fromkeys(result.missing, "blob missing")
        wrong |= dict.fromkeys(result.damaged, "blob damaged")
        faults += _blob_faults(blobs, reading.named, wrong)
    return Verification(
        reading.frames,
        found.seq,
        found.chain.hex(),
        found.anchored,
        len(found.segments),
        checked,
        reading.collected,
        found.tear,
        tuple(faults),
    )


class _VerifyingReader:
    """One verification in progress: what is counted and compared on the way."""

    def __init__(
        self,
        expected_head: Anchor | None,
        on_progress: Callable[[int], object],
        objection: Objection | None,
        *,
        wants_blobs: bool,
    ) -> None:
        self._wants_blobs = wants_blobs
        self._objection = objection
        self.objections: list[LogDamage] = []
        self.frames = 0
        self.named: dict[BlobHash, int] = {}
        self.collected = 0
        self._expected_head = expected_head
        self._on_progress = on_progress
        self._mismatch: LogDamage | None = None
        self._is_met = expected_head is None or expected_head == (0, GENESIS)

    def visit(self, segment: Segment, block: Block) -> None:
        """Read the records of a block's frames."""
        for first, last, at, stop in block.spans():
            offset = block.base + at
            try:
                records = codec.decode(block.data[at + BODY_AT : stop])
            except LogCorrupt as error:
                error.detail |= {"file": segment.name, "offset": offset, "seq": first}
                raise
            # Events carry no numbers: those of a frame must reach up to the next one's first.
            if len(records) != last + 1 - first:
                reason = "the numbers of the events have a gap behind this frame"
                raise damage_error(reason, segment.name, offset, first, "edited")
            self.frames += 1
            if self._expected_head is not None and first <= self._expected_head.seq <= last:
                value = block.data[at + HEADER_BYTES : at + BODY_AT]
                self._compare(
                    self._expected_head,
                    (last, value),
                    LogDamage("head", segment.name, offset, first, ""),
                )
            if self._objection is not None and len(self.objections) < _MAX_OBJECTIONS:
                for seq, record in enumerate(records, first):
                    if (why := self._objection(Seq(seq), record)) is not None:
                        self.objections.append(LogDamage("name", segment.name, offset, seq, why))
            if self._wants_blobs:
                for seq, record in enumerate(records, first):
                    # The first event that names one: there its loss is told.
                    self.collected += note_named(self.named, record.data, seq)
        self._on_progress(block.link.seq - 1)

    def _compare(self, expected_head: Anchor, end: tuple[int, bytes], place: LogDamage) -> None:
        """Compare the head that was kept with the end of the frame that holds its event."""
        self._is_met = expected_head == end
        if self._is_met:
            return
        reason = f"the history up to event {expected_head.seq} is not the one whose head was kept"
        if expected_head.seq != end[0]:
            reason = f"{reason}: none of its frames ends with that event"
        self._mismatch = msgspec.structs.replace(place, reason=reason)

    def head_mismatch(self, found: LogSurvey) -> LogDamage | None:
        """Damage, if the log does not match the expected head."""
        if self._expected_head is None or self._is_met or self._mismatch is not None:
            return self._mismatch
        if found.fault is not None:
            return None  # The log cannot be read that far, and it is said why.
        if self._expected_head.seq == 0:
            return LogDamage(
                "head", "", 0, 0, "before the first event the chain value is all zeros"
            )
        name = found.segments[-1].name if found.segments else ""
        reason = f"events up to {self._expected_head.seq}, whose head was kept, are missing"
        return LogDamage("truncated", name, found.link.offset, found.link.seq, reason)


def _log_fault(error: LogCorrupt) -> LogDamage:
    detail = error.detail
    kind: FaultKind = "unknown" if isinstance(error, codec.NotUnderstood) else fault_kind(error)
    reason = str(detail.get("reason", error.message))
    return LogDamage(kind, str(detail["file"]), int(detail["offset"]), int(detail["seq"]), reason)


def _blob_faults(
    blobs: BlobStore, named: dict[BlobHash, int], wrong: dict[BlobHash, FaultKind]
) -> list[LogDamage]:
    faults = []
    for blob in sorted(wrong, key=lambda blob: named[blob])[:_MAX_BLOB_FAULTS]:
        path, seq = blobs.path(blob), named[blob]
        reason = f"the file version that event {seq} names is not there"
        if wrong[blob] == "blob damaged":
            size = path.lstat().st_size
            reason = f"its {size} bytes are not those that its name and event {seq} promise"
        # As it lies in the store: in a folder of its first two digits if an older kbd put it there.
        file = f"{blob[:2]}/{blob}" if path.parent.name == blob[:2] else blob
        faults.append(LogDamage(wrong[blob], file, 0, seq, reason))
    if len(wrong) > _MAX_BLOB_FAULTS:
        more = f"{faults[-1].reason}; {len(wrong) - _MAX_BLOB_FAULTS} more are missing or damaged"
        faults[-1] = msgspec.structs.replace(faults[-1], reason=more)
    return faults
