"""A PDF file, opened by pdfium or pypdf after its streams were measured.

pdfium is fast and opens damaged files; pypdf opens some that pdfium refuses, and knows structure
that pdfium does not give. pypdf reports what it finds odd through logging, which nobody reads here.

pdfium unpacks a stream up to 1 GiB and keeps three copies; it ends the process where there is no
memory for that, and makes some 500 bytes of each thing that a page paints. So the bytes are looked
through first, in a way that needs no object: whatever stands after `stream` and begins as zlib data
is unpacked, a piece at a time. Streams of an encrypted file cannot be looked at like this, nor
those packed in older ways; what they do to a process is the process's limits' to stop.
"""

import contextlib
import logging
import mmap
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pypdfium2 as pdfium
from isal import igzip_lib, isal_zlib
from pypdf import PdfReader, apply_configuration
from pypdfium2 import raw

from kbd.errors import FileReadFailed, KbdError
from kbd.formats import Source

__all__ = [
    "MAX_ENTRIES",
    "STREAM_BYTES",
    "OpenedPdf",
    "check_streams",
    "has_end_mark",
    "may_have_actions",
    "open_by_pypdf",
    "open_pdf",
    "table_entries",
]

STREAM_BYTES = 64 << 20
"""Bytes that a stream may unpack to (reliability, section 4)."""

TOTAL_BYTES = 256 << 20
"""Bytes that the large ones may unpack to all together (likewise)."""

DATA_BYTES = 300 << 20
"""What a picture or an attached file may unpack to: nobody unpacks them but to draw."""

LARGE_BYTES = 16 << 10
"""A smaller stream is not looked at: deflate makes at most 1,032 bytes of one, so 16 MiB of it."""

MAX_PAINTED = 1_000_000
"""What one stream may paint, each a line or a piece of text: 500 MB for pdfium."""

MAX_ENTRIES = 300_000
"""Objects that pypdf is given: it needs 4 µs and 250 bytes for each."""

_PIECE_BYTES = 1 << 20
_MIN_PAINTED_BYTES = 4
_MAX_FILTERS = 4
_HEAD_BYTES = 1024

# Both begin with plain letters, which are found some ten times as fast as anything before them.
_STREAM = re.compile(rb"stream(?:\r\n|\n|\r)")
_TABLE = re.compile(rb"xref\s+\d+\s+(\d{1,12})\s")

_FILTERS = re.compile(rb"/F(?:ilter)?\s*(\[[^\]]*/[^\]]*/|\d+\s+\d+\s+R)")
_DATA = re.compile(rb"/Subtype\s*/Image\b|/Type\s*/EmbeddedFile\b")
_ESCAPED = re.compile(rb"/[A-Za-z]{0,8}#(?:41|4[eE]|6[eE]|6[fF]|74|4[fF]|62|6[aA]|53|6[dD])")
"""A letter of those names as a number (ISO 32000-1, 7.3.5)."""

_BETWEEN = b"\0\t\n\f\r[]()<>"
_BLANKS = bytes.maketrans(_BETWEEN, b" " * len(_BETWEEN))
_PAINTS = (
    *(b" S ", b" s ", b" f ", b" f* ", b" F ", b" B ", b" B* ", b" b ", b" b* ", b" Tj ", b" TJ "),
    *(b" ' ", b' " ', b" Do ", b" sh ", b" BI "),
)
"""The operators that paint (ISO 32000-1, table 51)."""

_NO_LETTERS = bytes(sorted(set(range(256)) - set(b"SsfFBbjJ'\"ohI")))
"""All but one letter of each of them."""

_SPARSE = STREAM_BYTES // MAX_PAINTED


def check_streams(path: Path, name: str) -> None:
    """Check that no stream of a file unpacks to more than the limits.

    Args:
        path: Where the file is.
        name: How it is called in messages.

    Raises:
        FileReadFailed: One does, or the file cannot be opened or is empty.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            _check_data(data, name)
    except ValueError as error:
        raise FileReadFailed(f"{name} is empty") from error
    except OSError as error:
        raise FileReadFailed(f"{name} cannot be opened") from error


def table_entries(path: Path) -> int:
    """Return how many entries the tables of objects claim that stand in the file as text."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return sum(int(found[1]) for found in _TABLE.finditer(data))


def may_have_actions(path: Path) -> bool:
    """Tell whether a page may have annotations or actions.

    Where no object is packed and no name is written in a roundabout way, the bytes tell that none
    has; that saves pypdf half of its work on most plain files.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        marks = (b"/Annot", b"/AA", b"/ObjStm", b"/Encrypt")
        if any(data.find(mark) >= 0 for mark in marks):
            return True
        return _ESCAPED.search(data) is not None


def has_end_mark(path: Path) -> bool:
    """Tell whether the mark that ends a file stands near its end."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 2048))
        return b"%%EOF" in file.read()


def _check_data(data: mmap.mmap, name: str) -> None:
    total = 0
    for found in _STREAM.finditer(data):
        start = found.end()
        # The same word ends a stream: "endstream".
        if data[found.start() - 3 : found.start()] == b"end":
            continue
        head = data[max(0, found.start() - _HEAD_BYTES) : found.start()]
        head = head[head.rfind(b"obj") + 1 :]
        end = data.find(b"endstream", start)
        end = len(data) if end < 0 else end
        # Two filters, or some that are told elsewhere, may unpack a little to very much.
        if end - start < LARGE_BYTES and not _FILTERS.search(head):
            continue
        is_data = _DATA.search(head) is not None
        pieces = _unpacked(_pieces(data, start, end), 0)
        if is_data:
            sum(map(len, _bounded(pieces, DATA_BYTES, name)))
            continue
        total += _page_bytes(_bounded(pieces, STREAM_BYTES, name), name)
        if total > TOTAL_BYTES:
            msg = f"{name} unpacks to more than {TOTAL_BYTES >> 20} MiB: it is not read"
            raise FileReadFailed(msg)


def _bounded(pieces: Iterator[bytes], limit: int, name: str) -> Iterator[bytes]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > limit:
            msg = (
                f"{name} holds a stream that unpacks to more than {limit >> 20} MiB: it is not read"
            )
            raise FileReadFailed(msg)
        yield piece


def _page_bytes(pieces: Iterator[bytes], name: str) -> int:
    """Return the size of what may be painted on a page; raises FileReadFailed if it is too much."""
    size, painted = 0, 0
    waiting: list[bytes] = []
    for piece in pieces:
        size += len(piece)
        waiting.append(piece)
        # Most streams are small, and then there is no need to count.
        if size > MAX_PAINTED * _MIN_PAINTED_BYTES:
            painted += sum(map(_count_painted, waiting))
            waiting = []
        if painted > MAX_PAINTED:
            msg = (
                f"{name} holds a page that paints more than {MAX_PAINTED:,} things: it is not read"
            )
            raise FileReadFailed(msg)
    return size


def _count_painted(piece: bytes) -> int:
    # Letters are counted forty times as fast as operators, and where so few of them are that a
    # stream of the largest size could not paint too much, that is enough.
    if len(piece.translate(None, _NO_LETTERS)) * _SPARSE < len(piece):
        return 0
    plain = piece.translate(_BLANKS)
    return sum(plain.count(operator) for operator in _PAINTS)


def _pieces(data: mmap.mmap, start: int, end: int) -> Iterator[bytes]:
    for place in range(start, end, _PIECE_BYTES):
        yield data[place : min(end, place + _PIECE_BYTES)]


def _unpacked(pieces: Iterator[bytes], filters: int) -> Iterator[bytes]:
    """Yield what zlib data unpacks to, and that in turn if it is zlib data, too."""
    first = next(pieces, b"")
    if filters > _MAX_FILTERS or not _is_zlib(first):
        # Of what is not packed, or not in this way, only what is under the packing counts.
        if filters:
            yield first
            yield from pieces
        return
    yield from _unpacked(_inflated(first, pieces), filters + 1)


def _inflated(first: bytes, rest: Iterator[bytes]) -> Iterator[bytes]:
    unpacker = isal_zlib.decompressobj()
    packed = first
    try:
        while packed and not unpacker.eof:
            if piece := unpacker.decompress(packed, _PIECE_BYTES):
                yield piece
            packed = unpacker.unconsumed_tail or next(rest, b"")
    except igzip_lib.IsalError:  # type: ignore[misc] # its stub declares an instance
        # Damaged: pdfium shows what came before, and so much has been counted.
        return


def _is_zlib(data: bytes) -> bool:
    """Tell whether bytes begin with a header of zlib (RFC 1950, section 2.2)."""
    return len(data) > 2 and data[0] & 15 == 8 and int.from_bytes(data[:2]) % 31 == 0


for _name in ("pypdf", "pypdfium2"):
    _logger = logging.getLogger(_name)
    _logger.addHandler(logging.NullHandler())
    _logger.propagate = False

_CATALOG = re.compile(rb"/Type\s{0,5}/Catalog\b")
_OBJECT_START = re.compile(rb"\b(\d{1,10}\s{1,5}\d{1,5})\s{1,5}obj\b")
_OBJECT_START_BYTES = 1000
"""How far before its type an object is expected to begin."""

_LIMITS: dict[str, Any] = {
    "zlib_maximum_output_length": STREAM_BYTES,
    "lzw_maximum_output_length": STREAM_BYTES,
    "run_length_maximum_output_length": STREAM_BYTES,
    "array_based_stream_maximum_output_length": STREAM_BYTES,
    # No program of this machine is started for a picture.
    "jbig2dec_binary": None,
}


class OpenedPdf(msgspec.Struct, frozen=True):
    """An open PDF file.

    Args:
        name: How it is called in messages.
        page_count: How many pages it has.
        document: As pdfium has it; None where pdfium cannot open it and pypdf can.
        warnings: What the reader must know of the whole file.
    """

    name: str
    page_count: int
    document: pdfium.PdfDocument | None
    warnings: tuple[str, ...]


@contextlib.contextmanager
def open_pdf(source: Source) -> Iterator[OpenedPdf]:
    """Open a file.

    Raises:
        FileReadFailed: Neither library can, it needs a password, or it is past a limit.
    """
    # Before a library has the file: pdfium ends the process where memory for a stream runs out.
    check_streams(source.path, source.name)
    notes = () if has_end_mark(source.path) else (_TRUNCATED,)
    # pdfium goes first: all text of 1,000 pages takes it 1.5 s, pypdf 7.7 s.
    document, is_locked = _open_by_pdfium(source)
    if document is None:
        count = _count_pages_by_pypdf(source, is_locked=is_locked)
        yield OpenedPdf(source.name, count, None, (*notes, _OPENED_BY_PYPDF))
        return
    with document:
        # Needed for the values of forms and for drawing them; nothing that they do is run.
        with contextlib.suppress(pdfium.PdfiumError):
            document.init_forms()
        yield OpenedPdf(source.name, len(document), document, notes)


@contextlib.contextmanager
def open_by_pypdf(source: Source) -> Iterator[PdfReader]:
    """Open a file with pypdf; what goes wrong inside the `with` is told as a damaged file, too.

    Raises:
        FileReadFailed: It cannot be opened, needs a password, or has more objects than pypdf is
            good for.
    """
    # Counted in the bytes: pypdf takes 12.5 s and 732 MB for a table of 3 million entries.
    if table_entries(source.path) > MAX_ENTRIES:
        raise FileReadFailed(f"{source.name} claims more than {MAX_ENTRIES:,} objects")
    with (
        source.path.open("rb") as file,
        apply_configuration(**_LIMITS),
        warnings.catch_warnings(action="ignore"),
    ):
        try:
            reader = PdfReader(file)
            # A file that anybody may open, but not change, is encrypted with an empty password.
            if reader.is_encrypted and not reader.decrypt(""):
                raise _password_error(source.name)
            yield reader
        # Memory that runs out is the end of the worker, not damage of the file.
        except (KbdError, MemoryError):
            raise
        except Exception as error:
            # Of a damaged file pypdf raises what Python does: KeyError, TypeError, RecursionError…
            raise FileReadFailed(f"{source.name} is damaged ({type(error).__name__})") from error


def _open_by_pdfium(source: Source) -> tuple[pdfium.PdfDocument | None, bool]:
    """Return the file as pdfium opens it, or None and whether it wants a password."""
    try:
        return pdfium.PdfDocument(source.path), False
    except pdfium.PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            return None, True
    with contextlib.suppress(pdfium.PdfiumError):
        return pdfium.PdfDocument(_repaired(source)), False
    return None, False


def _repaired(source: Source) -> bytes:
    """Return a file's bytes with what pdfium cannot do without: a first line and a last entry.

    A file that was cut off has lost the entry that names its catalog, though that itself often
    stands near the beginning.
    """
    data = source.path.read_bytes()
    head = b"" if b"%PDF" in data[:1024] else b"%PDF-1.7\n"
    roots = [found.start() for found in _CATALOG.finditer(data)]
    end = roots[-1] if roots else 0
    begun = _OBJECT_START.findall(data[max(0, end - _OBJECT_START_BYTES) : end])
    tail = b"\nendobj\ntrailer\n<</Root %s R>>\n%%%%EOF\n" % begun[-1] if begun else b""
    return head + data + tail


def _count_pages_by_pypdf(source: Source, *, is_locked: bool) -> int:
    """Return how many pages pypdf finds; raises FileReadFailed in the words that fit best."""
    try:
        with open_by_pypdf(source) as reader:
            count = len(reader.pages)
    except FileReadFailed as error:
        if is_locked:
            raise _password_error(source.name) from error
        if not _has_pdf_header(source):
            raise FileReadFailed(f"{source.name} is no PDF file") from error
        raise
    if count == 0:
        raise FileReadFailed(f"{source.name} is damaged: no page of it is found")
    return count


def _has_pdf_header(source: Source) -> bool:
    with source.path.open("rb") as file:
        return b"%PDF" in file.read(4096)


def _password_error(name: str) -> FileReadFailed:
    return FileReadFailed(
        f"{name} is encrypted and needs a password",
        actions=("save a copy without the password and add that",),
    )


_TRUNCATED = "The file has no proper end: it may be cut off, and was read as far as it goes."
_OPENED_BY_PYPDF = "The file is damaged: it was opened in a way that finds less text than usual."
