"""The check of a case file: every byte of it against its manifest, and what its log says."""

from __future__ import annotations

import hashlib
import os
import zlib
from typing import BinaryIO, NamedTuple

from .history import Broken, History, Part, read_history
from .layout import SEAL_BYTES, Region, Seal, regions, seal_bytes
from .manifest import PIECE_BYTES, Case
from .opening import Opened, Unreadable, opened
from .pinpoint import one_byte

__all__ = ["Fault", "Found", "check"]

_FILE = "case file"
_LOG = "log/"
_MOST_FAULTS = 50

_MOST_SEARCHED = 10
"""In how many pieces the wrong byte is looked for: in a file that is wrong all over, none is."""


class Fault(NamedTuple):
    """Something that is wrong.

    Args:
        kind: "length", "manifest", "header", "content", "directory", "seal", "log", "blob".
        name: The member that it belongs to, or what it is.
        offset: Where in the case file, in bytes.
        size: In how many bytes from there on it lies; 1 is exact, 0 if there are none.
        reason: What is wrong, and where.
        seq: The event that was expected there, or that names the blob; 0 if there is none.
    """

    kind: str
    name: str
    offset: int
    size: int
    reason: str
    seq: int = 0


class Found(NamedTuple):
    """What a check found.

    Args:
        case: What the manifest says; None if there is none to go by.
        history: What the log says; None if it was not read, being damaged.
        blobs: How many blobs were compared with their hash.
        faults: What is wrong.
    """

    case: Case | None
    history: History | None
    blobs: int
    faults: tuple[Fault, ...]


def check(file: BinaryIO, asked: tuple[int, ...] = ()) -> Found:
    """Read a whole case file and compare it with what it must be.

    Args:
        file: Open for reading.
        asked: Events whose chain values are wanted.

    Raises:
        OSError: It cannot be read.
    """
    size = file.seek(0, os.SEEK_END)
    if not size:
        return Found(None, None, 0, (Fault("length", _FILE, 0, 0, "the file is empty"),))
    try:
        found = opened(file, size)
    except Unreadable as error:
        fault = Fault("manifest", "manifest.json", error.offset, error.size, error.reason)
        return Found(None, None, 0, (fault,))
    return _Check(file, size, found).run(asked)


class _Check:
    """One check in progress."""

    def __init__(self, file: BinaryIO, size: int, found: Opened) -> None:
        self.file, self.size = file, size
        self.case, self.manifest = found.case, found.member
        self.regions = list(regions(found.case, found.member))
        self.faults: list[Fault] = []
        self.blobs = 0
        # All bytes as they should be; it means nothing once some of them are not known.
        self.everything, self.is_known = hashlib.sha256(), True

    def run(self, asked: tuple[int, ...]) -> Found:
        last = self.regions[-1]
        end = last.start + len(last.expected)
        if self.size < end + SEAL_BYTES:
            self._fault("length", _FILE, self.size, 0, self._where_it_ends(end))
        for region in self.regions:
            if region.expected:
                self._compare(region.kind, region.name, region.what, region.start, region.expected)
                self.everything.update(region.expected)
            else:
                self._read_content(region)
        self._check_seal(end)
        if self.size > end + SEAL_BYTES:
            more = self.size - end - SEAL_BYTES
            reason = f"{more} bytes follow the end of the case file"
            self._fault("length", _FILE, end + SEAL_BYTES, more, reason)
        history = self._check_log(asked)
        faults = self.faults[:_MOST_FAULTS]
        if len(self.faults) > _MOST_FAULTS:
            more = len(self.faults) - _MOST_FAULTS
            first = self.faults[_MOST_FAULTS]
            faults.append(Fault(first.kind, first.name, first.offset, 0, f"and {more} faults more"))
        return Found(self.case, history, self.blobs, tuple(faults))

    def _fault(self, kind: str, name: str, offset: int, size: int, reason: str) -> None:
        self.faults.append(Fault(kind, name, offset, size, reason))

    def _where_it_ends(self, end: int) -> str:
        within = [region.what for region in self.regions if region.start <= self.size < end]
        what = within[-1] if within else "the seal at the end"
        missing = end + SEAL_BYTES - self.size
        return f"the file ends here, {missing} bytes too early, in {what}"

    def _read(self, offset: int, count: int) -> bytes:
        self.file.seek(offset)
        return self.file.read(count)

    def _compare(self, kind: str, name: str, what: str, start: int, wanted: bytes) -> None:
        """Compare bytes with what they must be; what the file has no more is told elsewhere."""
        found = self._read(start, len(wanted))
        if found == wanted[: len(found)]:
            return
        wrong = [at for at, byte in enumerate(found) if byte != wanted[at]]
        first, span = wrong[0], wrong[-1] - wrong[0] + 1
        if len(wrong) == 1:
            reason = _byte_of(what, first, found[first], wanted[first])
        else:
            reason = f"{what}: bytes {first} to {first + span - 1} of it differ"
        self._fault(kind, name, start + first, span, reason)

    def _read_content(self, region: Region) -> None:
        """Compare a member's bytes with its hashes, piece by piece."""
        member, whole, checksum = region.member, hashlib.sha256(), 0
        is_whole = True
        for place, (sha256, crc32) in enumerate(member.pieces):
            start = place * PIECE_BYTES
            size = min(PIECE_BYTES, member.size - start)
            data = self._read(region.start + start, size)
            if hashlib.sha256(data).hexdigest() != sha256:
                is_whole = False
                data = self._locate(region, start, data, size, sha256, crc32)
            whole.update(data)
            checksum = zlib.crc32(data, checksum)
            self.everything.update(data)
        if is_whole and (whole.hexdigest(), checksum) != (member.sha256, member.crc32):
            reason = f"manifest.json contradicts itself about {member.name}"
            self._fault("manifest", member.name, region.start, member.size, reason)
        if member.name.startswith("blobs/"):
            self.blobs += 1

    def _locate(
        self, region: Region, start: int, data: bytes, size: int, sha256: str, crc32: int
    ) -> bytes:
        """Tell of a piece that is wrong; return it as it was, if that is known."""
        kind = "manifest" if region.name == self.manifest.name else region.kind
        if len(data) < size:
            self.is_known = False
            return data
        is_worth_it = len(self.faults) < _MOST_SEARCHED
        slip = one_byte(data, crc32, sha256) if is_worth_it else None
        if slip is not None:
            reason = _byte_of(region.what, start + slip.at, slip.found, slip.wanted)
            self._fault(kind, region.name, region.start + start + slip.at, 1, reason)
            return slip.data
        self.is_known = False
        last = start + size - 1
        reason = f"{region.what}: its bytes {start} to {last} are not what they were"
        self._fault(kind, region.name, region.start + start, size, reason)
        return data

    def _check_seal(self, end: int) -> None:
        if self.size <= end:
            self.is_known = False
            return
        content = next(
            each for each in self.regions if not each.expected and each.name == self.manifest.name
        )
        everything = self.everything.hexdigest() if self.is_known else ""
        wanted = Seal(content.start, self.manifest.size, self.manifest.sha256, everything)
        sealed = seal_bytes(wanted)
        if not everything:  # Only what comes before that hash can be compared.
            sealed = sealed.rstrip()
        self._compare("seal", "seal", "the seal at the end", end, sealed)

    def _check_log(self, asked: tuple[int, ...]) -> History | None:
        """Read the log, if all of its bytes are there and what they were."""
        contents = [each for each in self.regions if not each.expected]
        logged = [each for each in contents if each.name.startswith(_LOG)]
        if any(fault.name.startswith(_LOG) for fault in self.faults):
            return None
        if any(each.start + each.member.size > self.size for each in logged):
            return None
        parts = {
            each.name[len(_LOG) :]: Part(self.file, each.start, each.member.size) for each in logged
        }
        try:
            history = read_history(parts, asked)
        except Broken as error:
            name = _LOG + error.name
            at = parts[error.name].start if error.name in parts else 0
            reason = f"{name}, its byte {error.offset}: {error.reason}"
            self.faults.append(Fault("log", name, at + error.offset, 0, reason, error.seq))
            return None
        starts = {each.name: each.start for each in contents}
        self.faults += _log_faults(self.case, history, starts)
        return history


def _log_faults(case: Case, history: History, starts: dict[str, int]) -> list[Fault]:
    """Compare what the log says with what the manifest says and the case file holds."""
    faults: list[Fault] = []

    def wrong(kind: str, name: str, reason: str, seq: int = 0) -> None:
        faults.append(Fault(kind, name, starts.get(name, 0), 0, reason, seq))

    if (history.seq, history.head) != (case.seq, case.head):
        wrong("manifest", "manifest.json", "it names another end of the log than the log has")
    if int(case.run.rpartition("-")[2]) not in history.runs:
        wrong("manifest", "manifest.json", "the log holds nothing of the run that it names")
    kept = {member.name: member for member in case.members if member.name.startswith("blobs/")}
    collected = dict(case.collected)
    for blob in collected:
        if blob not in history.blobs:
            wrong("manifest", "manifest.json", f"no event names the collected blob {blob}")
    for blob, seq in history.blobs.items():
        member = kept.pop("blobs/" + blob, None)
        if blob in collected:
            # The log itself can say so only in an event behind the run's end.
            if member is not None:
                wrong("blob", member.name, "the manifest says that it was collected", seq)
        elif member is None:
            reason = f"the blob {blob}, which event {seq} names, is missing"
            wrong("blob", "blobs/" + blob, reason, seq)
        elif member.sha256 != blob:
            reason = f"the blob that event {seq} names does not hold what its name says"
            wrong("blob", member.name, reason, seq)
    for name in kept:
        wrong("blob", name, "no event names this blob")
    return faults


def _byte_of(what: str, at: int, found: int, wanted: int) -> str:
    return f"{what}: byte {at} of it is 0x{found:02x} and was 0x{wanted:02x}"
