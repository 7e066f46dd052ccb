"""Streams of a PDF file, measured before a library has the file.

pdfium unpacks a stream up to 1 GiB and keeps three copies; it ends the process where there is no
memory for that, and makes some 500 bytes of each thing that a page paints. So the bytes are looked
through first, in a way that needs no object: whatever stands after `stream` and begins as zlib data
is unpacked, a piece at a time. Streams of an encrypted file cannot be looked at like this, nor
those packed in older ways; what they do to a process is the process's limits' to stop.

What a form paints it paints each time it is drawn, and forms draw forms, as do the patterns of
fillings and the letters of fonts that are made of drawings: that is counted in `forms` where the
bytes show that it may be much.
"""

import mmap
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from isal import igzip_lib, isal_zlib

from kbd.errors import FileReadFailed

__all__ = [
    "MAX_PAINTED",
    "STREAM_BYTES",
    "check_streams",
    "count_painted",
    "may_paint_often",
    "text_parts",
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

_PIECE_BYTES = 1 << 20
_MIN_PAINTED_BYTES = 4
_MAX_FILTERS = 4
_HEADER_BYTES = 2
_HEAD_BYTES = 1024

# It begins with plain letters, which are found some ten times as fast as anything before them.
_STREAM = re.compile(rb"stream(?:\r\n|\n|\r)")
_FILTERS = re.compile(rb"/F(?:ilter)?\s*(\[[^\]]*/[^\]]*/|\d+\s+\d+\s+R)")
_DATA = re.compile(rb"/Subtype\s*/Image\b|/Type\s*/EmbeddedFile\b")
_DRAWS = re.compile(rb"\bDo\b")
_NO_FORM = re.compile(rb"/Subtype\s*/(?:Image|XML|Type1C|CIDFontType0C|OpenType)\b")
_PATTERN = re.compile(rb"/PatternType\b")
_DRAWN_FONT = re.compile(rb"/(?:T|#54)(?:y|#79)(?:p|#70)(?:e|#65)(?:3|#33)(?![\w#])")
"""The kind of a font whose letters are drawings, also in numbers of letters."""

_FLATE_ALONE = re.compile(rb"/Filter\s*(?:/FlateDecode\b|/Fl\b|\[\s*/FlateDecode\s*\])")

_PICTURE_ALONE = re.compile(
    rb"/Filter\s*\[?\s*/(?:DCTDecode|DCT|JPXDecode|CCITTFaxDecode|CCF|JBIG2Decode)\b"
)
"""What is packed like this first is no text that paints."""

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


class _Drawn(NamedTuple):
    """What streams paint and draw: so far as their bytes tell it."""

    painted: int
    draws: int


def may_paint_often(path: Path) -> bool:
    """Tell whether forms may paint more than `MAX_PAINTED` things, by how often they are drawn.

    It is an upper bound, and far above what nearly all files can come to; where it is passed, or
    cannot be told, forms have to be followed.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        try:
            return _may_paint_often(data)
        except igzip_lib.IsalError:  # type: ignore[misc] # its stub declares an instance
            # Damaged: pdfium paints what came before, which is not known here.
            return True


def _may_paint_often(data: mmap.mmap) -> bool:
    if _draws_letters(data):
        return True
    forms = []
    is_encrypted = data.find(b"/Encrypt") >= 0
    for head, start, end in _places(data):
        if _PATTERN.search(head):
            # How often it is laid beside itself, and over what, the bytes do not tell.
            return True
        if _may_be_form(head):
            if is_encrypted or _is_packed_otherwise(head):
                return True
            forms.append(_drawn(data, start, end))
    if not forms:
        return False
    nested = sum(form.draws for form in forms)
    heaviest = max(form.painted for form in forms)
    # Of so many times that forms draw forms, most come of threes that each draw the next.
    most = heaviest * 3 ** (nested / 3) if nested <= _MAX_NESTED else MAX_PAINTED + 1.0
    if most > MAX_PAINTED:
        return True
    draws = 0
    # Whatever they are said to be: a page takes any stream for its content.
    for head, start, end in _places(data):
        if _is_packed_otherwise(head):
            return True
        draws += _drawn(data, start, end).draws
    return draws * most > MAX_PAINTED


def _draws_letters(data: mmap.mmap) -> bool:
    """Tell whether a font may be made of drawings; it stands in the file or in a packed part."""
    if _DRAWN_FONT.search(data):
        return True
    if data.find(b"/Encrypt") >= 0 and data.find(b"/ObjStm") >= 0:
        return True
    return any(_DRAWN_FONT.search(part) for part in text_parts(data))


def text_parts(data: mmap.mmap) -> Iterator[bytes]:
    """Yield the parts of a file in which objects are packed, unpacked; a damaged one raises.

    What it raises is `igzip_lib.IsalError`, for each caller has an answer of its own to damage.
    """
    for head, start, end in _places(data):
        if b"/ObjStm" in head or b"#" in head:
            yield b"".join(_painting(data, start, end))


def _is_packed_otherwise(head: bytes) -> bool:
    return b"/F" in head and not (_FLATE_ALONE.search(head) or _PICTURE_ALONE.search(head))


_MAX_NESTED = 30


def _may_be_form(head: bytes) -> bool:
    # Also where the kind is told elsewhere or in a roundabout way, or the dictionary is long.
    if b"/Subtype" in head:
        return not _NO_FORM.search(head)
    return b"#" in head or b"bj" not in head


def _drawn(data: mmap.mmap, start: int, end: int) -> _Drawn:
    """Count in a stream; one that is not packed is taken as it stands."""
    painted = draws = 0
    for piece in _painting(data, start, end):
        painted += count_painted(piece)
        draws += len(_DRAWS.findall(piece))
    return _Drawn(painted + 1, draws)


def _painting(data: mmap.mmap, start: int, end: int) -> Iterator[bytes]:
    if not _is_zlib(data[start : min(end, start + 3)]):
        yield from _pieces(data, start, end)
        return
    # Without the header: readers of these files let a wrong checksum at the end pass.
    unpacker = isal_zlib.decompressobj(-isal_zlib.MAX_WBITS)
    packed = data[start + _HEADER_BYTES : end]
    while packed and not unpacker.eof:
        yield unpacker.decompress(packed, _PIECE_BYTES)
        packed = unpacker.unconsumed_tail


def _places(data: mmap.mmap) -> Iterator[tuple[bytes, int, int]]:
    """Yield of each stream the end of its dictionary, and where its bytes begin and end."""
    for found in _STREAM.finditer(data):
        start = found.end()
        # The same word ends a stream: "endstream".
        if data[found.start() - 3 : found.start()] == b"end":
            continue
        head = data[max(0, found.start() - _HEAD_BYTES) : found.start()]
        head = head[head.rfind(b"obj") + 1 :]
        end = data.find(b"endstream", start)
        yield head, start, len(data) if end < 0 else end


def _check_data(data: mmap.mmap, name: str) -> None:
    total = 0
    for head, start, end in _places(data):
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
            painted += sum(map(count_painted, waiting))
            waiting = []
        if painted > MAX_PAINTED:
            msg = (
                f"{name} holds a page that paints more than {MAX_PAINTED:,} things: it is not read"
            )
            raise FileReadFailed(msg)
    return size


def count_painted(piece: bytes) -> int:
    """Count the operators that paint; few among very much may be taken for none."""
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
    # Without the header, so that no checksum is looked at: where it is wrong the last piece would
    # not be given, and pdfium shows that one, too.
    unpacker = isal_zlib.decompressobj(-isal_zlib.MAX_WBITS)
    packed = first[_HEADER_BYTES:]
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
