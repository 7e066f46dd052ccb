"""Guard against hostile zips: a package's zip is checked before anything opens a part.

All of it is known from the directory and the headers, so that bombs are refused in milliseconds,
and two readers of the zip can never see two different packages in it. The zipfile module of Python
3.11.7 checks neither overlaps (CVE-2024-0450) nor the records of zip64. Limits: reliability,
section 4, with the sizes that its first page sets.

Of a file that is no zip, its first bytes tell what it is and what its owner can do about it.
"""

import mmap
import os
import re
import struct
from itertools import pairwise
from pathlib import PurePath
from typing import IO, NoReturn
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from kbd.errors import FileReadFailed

__all__ = ["check_magic", "open_archive", "part_key", "raw_name"]

_ZIP = b"PK\x03\x04"
_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED_ENTRY = "EncryptedPackage".encode("utf-16-le")
_MARKUP = re.compile(rb"\s*<(\?xml|!doctype\s+html|html|table|meta)\b", re.IGNORECASE)
_HEAD_BYTES = 512
_MAX_QUOTED_CHARS = 40


def check_magic(name: str, file: IO[bytes]) -> None:
    """Return for a file that begins as a zip does.

    Raises:
        FileReadFailed: It does not; the message says what it is and what to do.
    """
    head = file.read(_HEAD_BYTES)
    if head.startswith(_ZIP):
        return
    save = f"open it in its program and save it as {PurePath(name).suffix or 'a current format'}"
    if not head:
        raise FileReadFailed(f"{name} is empty")
    if head.startswith(_OLE):
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            # Office puts an encrypted package into an OLE file, as a stream of this name.
            encrypted = whole.find(_ENCRYPTED_ENTRY) >= 0
        if encrypted:
            raise FileReadFailed(
                f"{name} is encrypted with a password; open it with the password, remove that, and "
                "save it",
                detail={"encrypted": True},
            )
        raise FileReadFailed(f"{name} is an old binary Office file; {save}")
    # An empty zip is its last record alone, which begins with the same letters (APPNOTE 4.3.16).
    if head.startswith(b"PK"):
        raise FileReadFailed(f"{name} is a zip file without contents")
    raise FileReadFailed(
        f"{name} is not an Office file: it is {_describe(head)}, whatever its name says; {save}"
    )


def _describe(head: bytes) -> str:
    """Name what the first bytes show: markup, text, or only that it is something else."""
    encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    # The last character may be cut.
    text = head.decode(encoding, "ignore") if encoding == "utf-16" or b"\0" not in head else ""
    markup = _MARKUP.match(text.encode())
    if markup:
        return "an XML file" if markup[1].startswith(b"?") else "a web page"
    lines = text.split("\n", 1)[0].strip()
    shown = "".join(char for char in lines[:_MAX_QUOTED_CHARS] if char.isprintable())
    begins = f" that begins with {shown!r}" if shown else ""
    is_text = all(char.isprintable() or char in "\t\r\n\f" for char in text) and text.strip()
    return f"text{begins}" if is_text else f"something else{begins if len(shown) > 3 else ''}"


MAX_ENTRIES = 10_000
MAX_PART_BYTES = 150 * 1024 * 1024
MAX_TOTAL_BYTES = 300 * 1024 * 1024
MAX_RATIO = 200
"""Of XML that is long enough to count; the highest of 25,000 parts of real files is 60."""
RATIO_FROM_BYTES = 4 * 1024 * 1024

_MAX_DIRECTORY_BYTES = MAX_ENTRIES * 512
_MAX_DEFLATED = 1032
"""To how many bytes one can inflate at most."""

_LOCAL = struct.Struct("<4s5H3I2H")
_END = struct.Struct("<4s4H2IH")
_LOCATOR = struct.Struct("<4sIQI")
_END64 = struct.Struct("<4sQ2H2I4Q")
_MAX_COMMENT_BYTES = 0xFFFF
# General purpose bits (APPNOTE 4.4.4): 0 and 6 are encryption, 3 says that the sizes follow the
# data, 11 that names are UTF-8.
_ENCRYPTED = 0x1 | 0x40
_SIZES_FOLLOW = 0x8
_UTF8 = 0x800
# Stands in for a size that is in the zip64 field of the entry (APPNOTE 4.4.1.4).
_OVERFLOWN = 0xFFFFFFFF

_XML = re.compile(r"\.(xml|rels|vml)$", re.IGNORECASE)
_ESCAPING = re.compile(r"^[/\\]|^[A-Za-z]:|(^|[/\\])\.\.([/\\]|$)|[\x00-\x1f]")


def part_key(part: str) -> str:
    """Return what two spellings of one part's name have in common."""
    # Some producers write backslashes; case does not tell parts of a package apart.
    return part.replace("\\", "/").lstrip("/").casefold()


def raw_name(info: ZipInfo) -> bytes:
    """Return the raw bytes of an entry's name."""
    return info.orig_filename.encode("utf-8" if info.flag_bits & _UTF8 else "cp437")


def _name(info: ZipInfo) -> str:
    """Return an entry's name; many producers write UTF-8 without saying so."""
    try:
        return raw_name(info).decode()
    except UnicodeDecodeError:
        return info.orig_filename


def open_archive(name: str, file: IO[bytes]) -> tuple[ZipFile, dict[str, ZipInfo], dict[int, int]]:
    """Check a package's zip and return it with its entries, in order, by the key of their names.

    An entry's `filename` is its name as the producer meant it, backslashes and all. The last that
    is returned tells where an entry's data begin, by where its own header does.

    Args:
        name: The file's name, for messages.
        file: A real file, which stays open as long as the zip is read.

    Raises:
        FileReadFailed: It is no zip, or breaks a limit or a rule; the message says which.
    """
    check_magic(name, file)
    # Before zipfile, which reads the whole directory into memory, however large it says it is.
    count = _count_entries(name, file)
    try:
        archive = ZipFile(file)
    except (BadZipFile, ValueError, OverflowError, struct.error, NotImplementedError) as error:
        raise FileReadFailed(f"{name} is damaged: its directory cannot be read") from error
    infos = archive.infolist()
    # zipfile reads on for as many bytes as the directory has, and compares no count.
    if len(infos) != count:
        _damaged(name, "its directory is cut")
    starts = _checked_places(name, file, infos, archive.start_dir)
    return archive, _checked_entries(name, infos), starts


def _data_offset(name: str, file: IO[bytes], info: ZipInfo) -> int:
    """Return where an entry's data begin, by its own header, which must agree with the directory.

    Raises:
        FileReadFailed: It does not.
    """
    fixed = os.pread(file.fileno(), _LOCAL.size, info.header_offset)
    if len(fixed) < _LOCAL.size or not fixed.startswith(b"PK\x03\x04"):
        _damaged(name, "a part is not where it should be")
    _, _, flags, method, _, _, crc, packed, size, names, extra = _LOCAL.unpack(fixed)
    after = info.header_offset + _LOCAL.size
    if (flags | info.flag_bits) & _ENCRYPTED:
        raise FileReadFailed(
            f"{name} is encrypted; remove the encryption, and save it", detail={"encrypted": True}
        )
    # Some readers go by the entry's own header, others by the directory: both must agree.
    if os.pread(file.fileno(), names, after) != raw_name(info) or method != info.compress_type:
        _damaged(name, "a part is described in two ways")
    # Where the sizes follow the data, the header has zeros in their place.
    if not flags & _SIZES_FOLLOW:
        local = (crc, packed, size)
        known = (info.CRC, info.compress_size, info.file_size)
        if any(a not in (b, _OVERFLOWN) for a, b in zip(local, known, strict=True)):
            _damaged(name, "a part has two sizes")
    return after + int(names) + int(extra)


def _damaged(name: str, why: str) -> NoReturn:
    raise FileReadFailed(f"{name} is damaged: {why}")


def _count_entries(name: str, file: IO[bytes]) -> int:
    """Return how many entries the zip's last record tells, after checking where it points."""
    length = os.fstat(file.fileno()).st_size
    # The last record may be followed by a comment of up to 64 KiB (APPNOTE 4.3.16).
    start = max(0, length - _END.size - _MAX_COMMENT_BYTES)
    tail = os.pread(file.fileno(), length - start, start)
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) - at < _END.size:
        _damaged(name, "it ends too early")
    _, disk, first, here, count, size, offset, comment = _END.unpack_from(tail, at)
    # Blanks do no harm, and some programs end a file with one; another file may stand there, too.
    if tail[at + _END.size + comment :].strip(b"\0 \t\r\n"):
        _damaged(name, "something else follows its end")
    end = start + at
    # A locator before it makes it a zip64: the record that it leads to counts (APPNOTE 4.3.15).
    if at >= _LOCATOR.size and tail.startswith(b"PK\x06\x07", at - _LOCATOR.size):
        _, _, end, _ = _LOCATOR.unpack_from(tail, at - _LOCATOR.size)
        record = os.pread(file.fileno(), _END64.size, end) if end < length else b""
        if len(record) < _END64.size or not record.startswith(b"PK\x06\x06"):
            _damaged(name, "its directory cannot be read")
        # Python before 3.11.14 does not compare these (CVE-2025-8291): two readers could take two
        # directories.
        if end + _END64.size + _LOCATOR.size != start + at:
            _damaged(name, "it has two directories")
        _, _, _, _, disk, first, here, count, size, offset = _END64.unpack(record)
    if disk or first or here != count:
        _damaged(name, "it is a piece of a zip in several files")
    if count > MAX_ENTRIES or size > _MAX_DIRECTORY_BYTES:
        raise FileReadFailed(f"{name} has {count:,} parts; the limit is {MAX_ENTRIES:,}")
    # zipfile would take what stands before the first entry for a prefix and shift all offsets;
    # another reader might not.
    if offset + size != end:
        _damaged(name, "its directory is not where it should be")
    return int(count)


def _checked_places(
    name: str, file: IO[bytes], infos: list[ZipInfo], directory: int
) -> dict[int, int]:
    """Check that entries and the directory lie one after the other; return where data begin."""
    starts = {info.header_offset: _data_offset(name, file, info) for info in infos}
    spans = sorted(
        (info.header_offset, starts[info.header_offset] + info.compress_size) for info in infos
    )
    # The last entry may not reach into the directory either.
    spans.append((directory, directory))
    # Entries that share bytes unpack to far more than the file holds (CVE-2024-0450).
    if any(end > start for (_, end), (start, _) in pairwise(spans)):
        _damaged(name, "its parts overlap")
    return starts


def _checked_entries(name: str, infos: list[ZipInfo]) -> dict[str, ZipInfo]:
    found: dict[str, ZipInfo] = {}
    total = 0
    for info in infos:
        part = info.filename = _name(info)
        if _ESCAPING.search(part):
            raise FileReadFailed(f"{name} holds a part whose name leaves the package")
        total += info.file_size
        for size, limit in ((info.file_size, MAX_PART_BYTES), (total, MAX_TOTAL_BYTES)):
            if size > limit:
                raise FileReadFailed(
                    f"{name} is too large unpacked: {size >> 20:,} MiB; the limit is "
                    f"{limit >> 20:,} MiB{' a part' if limit == MAX_PART_BYTES else ''}"
                )
        _check_size(name, part, info)
        key = part_key(part)
        # Which of the two counts is each reader's choice: one could be checked and the other
        # opened.
        if key in found and not info.is_dir():
            _damaged(name, "two parts have one name")
        found[key] = info
    return found


def _check_size(name: str, part: str, info: ZipInfo) -> None:
    """Check that an entry's sizes can be true, and that it is not a bomb."""
    size, packed = info.file_size, info.compress_size
    # ECMA-376 part 2 allows these two methods alone, and `PartStream` knows no other.
    if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise FileReadFailed(
            f"{name} is compressed in a way that Office files are not; save it once more in the "
            "program that made it"
        )
    most = packed * (_MAX_DEFLATED if info.compress_type == ZIP_DEFLATED else 1)
    if size > most or (info.compress_type == ZIP_STORED and size != packed):
        _damaged(name, "a part cannot be as large as it says")
    if size > RATIO_FROM_BYTES and size > packed * MAX_RATIO and _XML.search(part):
        raise FileReadFailed(
            f"{name} is refused: a part of it unpacks to {size // packed:,} times its size, as "
            "files do that are made to fill the memory"
        )
