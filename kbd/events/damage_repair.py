"""Repair of a damaged log: by a copy of the same history, or by a cut where reading ends.

The log is made anew in a folder beside it, `<log>.repair`, and the two change places in one step:
whatever ends the process, the log is either as it was or mended. Segments are laid together byte by
byte: what a copy vouches for, and behind that what the log has. That it is the same history the
chain of hashes proves, over all of it; a copy that is of another history changes nothing.

Every segment that is replaced or cut is kept as `<segment>.damaged-<n>`.
"""

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import msgspec

from kbd.errors import DiskFull, FileWriteFailed, LogCorrupt, ValidationFailed
from kbd.events import codec
from kbd.events.anchor import ANCHOR_NAME, Anchor, read_anchor, write_anchor
from kbd.events.base import Recorded
from kbd.events.disk import DISK, Disk, is_full
from kbd.events.frame import BODY_AT, SEGMENT_BYTES, announced_length, find_valid_frame
from kbd.events.log import EventLog
from kbd.events.repair import cut_log, free_name
from kbd.events.scan import LogSurvey, survey_log
from kbd.events.segment import Block, Segment, open_segment, segment_names
from kbd.types import Seq

__all__ = ["KEPT", "DamageRepair", "events_behind"]

KEPT = "damaged"
"""What the names of kept files have behind the segment's."""


class DamageRepair:
    """A damaged log that is made anew beside itself. Nobody has the log open meanwhile.

    Use it as a context manager: unless it was committed, nothing is left of it.

    Args:
        log_dir: The log's folder.
        disk: What writes.

    Attributes:
        folder: Where it is made anew.
        before: The log as it lies there.
        after: The log as it is made anew so far.
        is_proven: Whether the log itself vouches for all of that, by a frame of its own or by its
            anchor. The end of a copy that reaches further only the copy vouches for.
    """

    def __init__(self, log_dir: Path, disk: Disk = DISK) -> None:
        self._log_dir, self._disk = log_dir, disk
        self.folder = log_dir.with_name(f"{log_dir.name}.repair")
        self._kept: list[str] = []
        self.is_proven = True
        try:
            self.before: LogSurvey = survey_log(log_dir, chained=True)
        except IsADirectoryError:
            self.before = self._survey_files()
        self.after = self.before

    def __enter__(self) -> Self:
        """Copy the log to the folder beside, if it is damaged.

        Raises:
            DiskFull: There is no space for the copy.
            OSError: The log cannot be read, or the copy not be written.
        """
        try:
            if self.before.fault is not None:
                self._begin()
            else:
                # What an earlier repair left that was killed behind the exchange.
                self._remove()
        except OSError as error:
            self._remove()
            if is_full(error):
                raise DiskFull("no space is left to mend the log; nothing was changed") from error
            raise
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Remove the folder beside, which after a commit is the damaged log."""
        self._remove()

    def lay_over(self, copy_dir: Path, *, is_vouched: bool = False) -> bool:
        """Take from a copy of the log what it vouches for; return whether that brought anything.

        Args:
            copy_dir: The copy's folder, such as that of a backup.
            is_vouched: Whether a person vouches for it being of the same history, where nothing of
                the log can be read. Then only the copy is known to be right, as for `is_proven`.

        Raises:
            ValidationFailed: It is not the same history, or nothing shows that it is.
            OSError: It cannot be read.
        """
        copy = survey_log(copy_dir, chained=True)
        replaced: list[str] = []
        for place, segment in enumerate(copy.segments):
            last = place == len(copy.segments) - 1
            end = copy.link.offset if last else segment.path.stat().st_size
            if self._overlay(segment.path, end):
                replaced.append(segment.name)
        if not replaced and self._anchor() is not None and not is_vouched:
            return False
        is_trusted = is_vouched and not self.before.seq
        # An anchor that contradicts whom a person vouches for is another log's.
        if is_trusted or read_anchor(self.folder) is None:
            # A copy's end was durable, so that is all that an anchor must say.
            write_anchor(self.folder, Anchor(copy.seq, copy.chain), self._disk)
        found, known = survey_log(self.folder, chained=True), self.after
        try:
            if not is_trusted:
                self._check_same(copy, found)
        except ValidationFailed:
            # Nothing of it may stay.
            self._begin()
            raise
        for name in replaced:
            if (self._log_dir / name).is_file():
                self._kept.append(free_name(self.folder, name, KEPT))
                self._copy(self._log_dir / name, self._kept[-1])
        self.after = found
        self.is_proven = not is_trusted and self._is_vouched_for(found)
        return found.seq > known.seq or found.fault is None

    def cut(self) -> None:
        """Cut behind the last event that can be read."""
        self._kept += cut_log(self.folder, self.after.seq, self._disk, KEPT).kept
        self.after = survey_log(self.folder, chained=True)

    def begin_anew(self) -> None:
        """Begin the log anew, without an event; all segments and the anchor are kept."""
        if not self.folder.exists():
            self._begin()
        for name in (*segment_names(self.folder), ANCHOR_NAME):
            if (self.folder / name).exists():
                kept_as = free_name(self.folder, name, KEPT)
                self._disk.rename(self.folder / name, self.folder / kept_as)
                self._kept.append(kept_as)
        self._disk.sync_directory(self.folder)
        self.after = survey_log(self.folder, chained=True)

    @property
    def kept(self) -> tuple[str, ...]:
        """The names of the files that this one keeps beside the log."""
        return tuple(self._kept)

    def append(self, frames: Sequence[Sequence[Recorded]]) -> None:
        """Record events behind what is left; a torn end is cut off before, and its bytes kept.

        Raises:
            LogCorrupt: The log is damaged still.
        """
        log = EventLog.open(self.folder, disk=self._disk)
        try:
            for frame in frames:
                log.append(frame)
        finally:
            log.close()
        self.after = survey_log(self.folder, chained=True)

    def commit(self) -> None:
        """Put the new log in the place of the damaged one, in one step; durable on return.

        Raises:
            LogCorrupt: It is damaged still.
            FileWriteFailed: The file system cannot exchange two folders in one step.
        """
        if self.after.fault is not None:
            raise self.after.fault
        # Bytes and names before the exchange: a crash behind it must find the whole log.
        self._disk.sync_directory(self.folder)
        parent = os.open(self._log_dir.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            places = (parent, self.folder.name), (parent, self._log_dir.name)
            if not self._disk.exchange(*places):
                raise FileWriteFailed(
                    "this file system cannot exchange two folders in one step: copy the home to"
                    " another one, and repair it there"
                )
            self._disk.sync(parent)
            self._keep_folders()
        finally:
            os.close(parent)

    def _survey_files(self) -> LogSurvey:
        """Survey what is left of a log in which a folder stands in the place of a file."""
        self._disk.make_directory(self.folder)
        try:
            self._copy_files()
            found = survey_log(self.folder, chained=True)
        finally:
            self._remove()
        if found.fault is None:
            found.fault = LogCorrupt(
                "a folder stands in the place of a file of the log",
                detail={"file": ANCHOR_NAME, "offset": 0, "seq": found.seq + 1},
            )
        return found

    def _keep_folders(self) -> None:
        """Keep folders that stood in the place of files: somebody may have put something there."""
        for entry in list(os.scandir(self.folder)):
            if entry.is_dir(follow_symlinks=False):
                kept_as = free_name(self._log_dir, entry.name, KEPT)
                self._disk.rename(Path(entry.path), self._log_dir / kept_as)
                self._kept.append(kept_as)
        self._disk.sync_directory(self._log_dir)

    def _begin(self) -> None:
        # Also what an earlier repair left that was killed before the exchange.
        self._remove()
        self._disk.make_directory(self.folder)
        self._kept, self.after, self.is_proven = [], self.before, True
        self._copy_files()

    def _copy_files(self) -> None:
        for entry in sorted(os.scandir(self._log_dir), key=lambda each: each.name):
            if entry.is_file(follow_symlinks=False) and not entry.name.endswith(".tmp"):
                self._copy(Path(entry.path), entry.name)

    def _check_same(self, copy: LogSurvey, found: LogSurvey) -> None:
        """Check that a copy that was laid over is of the same history, as the chain says.

        Raises:
            ValidationFailed: It is not, or nothing shows that it is.
        """
        anchor, whole = self._anchor(), self.before
        proofs = [Anchor(whole.seq, whole.chain)] if whole.seq else []
        proofs += [anchor] if anchor is not None and anchor.seq else []
        named = {each.seq: each.chain for each in proofs}
        met = _chain_values(self.folder, found, set(named))
        # What can be read of the log must be the beginning of what is made of it.
        is_whole = whole.seq <= found.seq and met.get(whole.seq, b"") == named.get(whole.seq, b"")
        is_known = any(met.get(seq) == chain for seq, chain in named.items())
        if not is_whole or not is_known:
            raise ValidationFailed(
                f"the copy, which ends with event {copy.seq}, is of another history than this log,"
                " or nothing shows that it is of the same: nothing was taken from it"
            )

    def _anchor(self) -> Anchor | None:
        try:
            return read_anchor(self._log_dir)
        except IsADirectoryError:
            return None

    def _is_vouched_for(self, found: LogSurvey) -> bool:
        anchor = self._anchor()
        if found.seq <= max(self.before.seq, anchor.seq if anchor is not None else 0):
            return True
        last = self._log_dir / found.segments[-1].name
        # The chain value of the last frame: nobody but who wrote all before it could have had it.
        return last.is_file() and found.chain in last.read_bytes()

    def _overlay(self, source: Path, end: int) -> bool:
        """Lay the beginning of a segment over that in the new log; return whether it differs."""
        target = self.folder / source.name
        taken = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            # A pipe, or a file that shrinks, must not hang or fill with zeros what was good.
            if not stat.S_ISREG(os.fstat(taken).st_mode):
                return False
            data = os.pread(taken, end, 0)
        finally:
            os.close(taken)
        there = target.read_bytes() if target.exists() else b""
        if len(data) < end or there[:end] == data:
            return False
        self._disk.write_file(target, [data, there[end:]])
        return True

    def _copy(self, source: Path, name: str) -> None:
        """Copy a file into the new log, durably but for its name; never a link (`log_copy`)."""
        taken = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            facts = os.fstat(taken)
            folder = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
            try:
                given = self._disk.create(name, folder)
            finally:
                os.close(folder)
            try:
                self._disk.copy(taken, given, 0, facts.st_size)
                os.fchmod(given, stat.S_IMODE(facts.st_mode))
                self._disk.sync(given)
            finally:
                os.close(given)
        finally:
            os.close(taken)

    def _remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)


def _chain_values(log_dir: Path, found: LogSurvey, wanted: set[int]) -> dict[int, bytes]:
    """Return the chain values behind some events of a log; of those that end a frame."""
    met: dict[int, bytes] = {found.seq: found.chain}

    def visit(_segment: Segment, block: Block) -> None:
        for _, last, at, _ in block.spans():
            if last in wanted:
                met[last] = block.data[at + BODY_AT - len(found.chain) : at + BODY_AT]

    survey_log(log_dir, visit=visit)
    return met


class _Known(msgspec.Struct):
    """How far events were told already: each is told once."""

    seq: int


def events_behind(log_dir: Path, after: Seq) -> Iterator[tuple[Seq, Recorded]]:
    """Yield the events behind a place that can be read past damage, each frame by itself.

    That a frame is valid its checksum says; that it belongs where it stands nothing does, so this
    tells what is lost, and restores nothing.

    Args:
        log_dir: The log's folder.
        after: The last event before them.
    """
    known = _Known(after)
    for name in segment_names(log_dir):
        try:
            seed = open_segment(log_dir / name).seed
        except (LogCorrupt, IsADirectoryError):
            continue  # Every checksum begins with what its header says.
        data, at = (log_dir / name).read_bytes(), SEGMENT_BYTES
        while (found := _next_frame(data, at, known.seq + 1, seed)) is not None:
            at = found + announced_length(data, found)
            try:
                records = codec.decode(data[found + BODY_AT : at])
            except LogCorrupt:
                continue
            first = _first_of(data, found)
            for seq, record in enumerate(records, first):
                if seq > known.seq:
                    known.seq = seq
                    yield Seq(seq), record


def _next_frame(data: bytes, at: int, seq: int, seed: int) -> int | None:
    """Return where the next frame that is valid by itself begins; None if there is none."""
    # Frames mostly follow each other: only behind damage are all bytes searched.
    length = announced_length(data, at)
    if length and find_valid_frame(data[at : at + length], 1, seed) == 0:
        return at if _first_of(data, at) >= seq else _next_frame_behind(data, at, seq, seed)
    found = find_valid_frame(data[at:], seq, seed)
    # It gives up at a place where no frame begins, too.
    is_frame = found is not None and announced_length(data, at + found) > 0
    return at + found if found is not None and is_frame else None


def _next_frame_behind(data: bytes, at: int, seq: int, seed: int) -> int | None:
    found = find_valid_frame(data[at + 1 :], seq, seed)
    return None if found is None else at + 1 + found


def _first_of(data: bytes, at: int) -> int:
    """Return the number of a frame's first event."""
    return int.from_bytes(data[at + 16 : at + 24], "little")
