"""Writer of case files: members as they are, in a fixed order, so equal cases have equal bytes.

Everything is read twice: first for the hashes, which the headers and the manifest need, then to be
written. What has changed in between is refused.
"""

import hashlib
import os
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import msgspec

from kbd.core.audit.verify.layout import Seal, regions, seal_bytes
from kbd.core.audit.verify.manifest import MANIFEST, PIECE_BYTES, Case, Member, manifest_of, order
from kbd.errors import FileReadFailed

__all__ = ["MemberSource", "WrittenCase", "hash_member", "sorted_members", "write_case"]

_CHUNK_BYTES = 16 * PIECE_BYTES


class MemberSource(msgspec.Struct, frozen=True):
    """Source of a member's bytes: they are given, or at the beginning of a file.

    Args:
        name: The member's.
        size_bytes: How many there are.
        data: The bytes, where there is no file.
        path: The file.
    """

    name: str
    size_bytes: int
    data: bytes = b""
    path: Path | None = None

    def chunks(self) -> Iterator[bytes]:
        """Yield the bytes in order.

        Raises:
            FileReadFailed: There are fewer.
            OSError: They cannot be read.
        """
        if self.path is None:
            for start in range(0, self.size_bytes, _CHUNK_BYTES):
                yield self.data[start : start + _CHUNK_BYTES]
            return
        left = self.size_bytes
        with self.path.open("rb", buffering=0) as file:
            while left:
                data = file.read(min(left, _CHUNK_BYTES))
                if not data:
                    msg = f"{self.name} is shorter than it was"
                    raise FileReadFailed(msg)
                left -= len(data)
                yield data


class WrittenCase(msgspec.Struct, frozen=True):
    """Size of a written case file, and the hash of all its bytes."""

    size_bytes: int
    sha256: str


def hash_member(source: MemberSource) -> Member:
    """Read a source and return it as a member, with its hashes.

    Raises:
        FileReadFailed: It is shorter than it was.
        OSError: It cannot be read.
    """
    whole, checksum, pieces = hashlib.sha256(), 0, []
    for data in _split_pieces(source.chunks()):
        whole.update(data)
        checksum = zlib.crc32(data, checksum)
        pieces.append((hashlib.sha256(data).hexdigest(), zlib.crc32(data)))
    return Member(source.name, source.size_bytes, whole.hexdigest(), checksum, tuple(pieces))


def write_case(file: BinaryIO, case: Case, sources: Iterable[MemberSource]) -> WrittenCase:
    """Write a case file.

    Args:
        file: Where to, from its beginning.
        case: What the manifest is to say; its members are those of the sources, in `order`.
        sources: The members' bytes.

    Raises:
        FileReadFailed: A source changed meanwhile.
        OSError: A source cannot be read, or the file not be written.
    """
    data = manifest_of(case)
    manifest = MemberSource(MANIFEST, len(data), data)
    weighed_manifest = hash_member(manifest)
    by_name = {source.name: source for source in (*sources, manifest)}
    everything, end, start = hashlib.sha256(), 0, 0
    for region in regions(case, weighed_manifest):
        if region.expected:
            chunks: Iterable[bytes] = (region.expected,)
        else:
            chunks = _checked_chunks(by_name[region.name], region.member)
            start = region.start if region.name == MANIFEST else start
        for chunk in chunks:
            file.write(chunk)
            everything.update(chunk)
            end += len(chunk)
    sealed = Seal(start, len(data), weighed_manifest.sha256, everything.hexdigest())
    seal = seal_bytes(sealed)
    file.write(seal)
    file.flush()
    os.fsync(file.fileno())
    everything.update(seal)
    return WrittenCase(end + len(seal), everything.hexdigest())


def sorted_members(members: Iterable[Member]) -> tuple[Member, ...]:
    """Return members in the order of a case file."""
    return tuple(sorted(members, key=lambda member: order(member.name)))


def _checked_chunks(source: MemberSource, member: Member) -> Iterator[bytes]:
    """Yield a source's bytes, and see at the end that they are those that were weighed."""
    checksum = 0
    for chunk in source.chunks():
        checksum = zlib.crc32(chunk, checksum)
        yield chunk
    if checksum != member.crc32:
        msg = f"{source.name} changed while it was read"
        raise FileReadFailed(msg)


def _split_pieces(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Cut bytes into pieces, however they come."""
    held = b""
    for chunk in chunks:
        held += chunk
        whole = len(held) // PIECE_BYTES * PIECE_BYTES
        for start in range(0, whole, PIECE_BYTES):
            yield held[start : start + PIECE_BYTES]
        held = held[whole:]
    if held:
        yield held
