"""A worksheet's XML as a stream: what comes before the cells, blocks of whole rows, what follows.

No tree is built: a sheet of a hundred megabytes passes through in pieces of one.
"""

import re
from collections.abc import Iterator
from typing import IO, Literal

import msgspec

from kbd.opc.package import Package, reading_errors
from kbd_xlsx.extents import OVERLAP_BYTES

__all__ = ["UTF_16", "XmlPiece", "overlapping", "pieces"]

_BLOCK = 1 << 20
_BEGIN = re.compile(rb"<([\w.-]+:)?sheetData(?:\s[^>]*)?(/?)>")
UTF_16 = (b"\xff\xfe", b"\xfe\xff")
"""How a part begins that is not written in UTF-8."""


class XmlPiece(msgspec.Struct, frozen=True):
    """A piece of a sheet's XML in UTF-8.

    Args:
        kind: "head", once, up to the cells; "rows", whole rows; "tail", once, what follows them.
        data: The bytes.
        prefix: What stands before the names of elements of the sheet, as "x:"; mostly nothing.
    """

    kind: Literal["head", "rows", "tail"]
    data: bytes
    prefix: bytes = b""


def pieces(package: Package, part: str) -> Iterator[XmlPiece]:
    """Cut a sheet's part into pieces; a part without cells is one head. Raises FileReadFailed."""
    with package.open(part) as file, reading_errors(package.name):
        stream = _utf_8(file)
        before: list[bytes] = []
        seam = b""
        for block in stream:
            found = _BEGIN.search(seam + block)
            if found is not None:
                break
            before.append(block)
            seam = (seam + block)[-OVERLAP_BYTES:]
        else:
            yield XmlPiece("head", b"".join(before))
            return
        cut = found.end() - len(seam)
        yield XmlPiece("head", b"".join(before) + block[:cut])
        if found[2]:
            yield XmlPiece("tail", block[cut:] + b"".join(stream))
        else:
            yield from _cells(block[cut:], stream, found[1] or b"")


def _cells(rest: bytes, stream: Iterator[bytes], prefix: bytes) -> Iterator[XmlPiece]:
    """Cut at the ends of rows until the cells end."""
    row_end, data_end = b"</" + prefix + b"row>", b"</" + prefix + b"sheetData"
    looked = 0
    while True:
        # An end may lie across the seam of two blocks.
        start = max(0, looked - len(data_end))
        end = rest.find(data_end, start)
        if end >= 0:
            yield XmlPiece("rows", rest[:end], prefix)
            yield XmlPiece("tail", rest[end:] + b"".join(stream))
            return
        cut = rest.rfind(row_end, start)
        if cut >= 0:
            cut += len(row_end)
            yield XmlPiece("rows", rest[:cut], prefix)
            rest = rest[cut:]
        looked = len(rest)
        block = next(stream, b"")
        if not block:
            yield XmlPiece("rows", rest, prefix)
            return
        rest += block


def overlapping(package: Package, part: str) -> Iterator[bytes]:
    """Yield a part in blocks that overlap, so that no tag is cut in two. Raises FileReadFailed."""
    with package.open(part) as file, reading_errors(package.name):
        tail = b""
        for block in _utf_8(file):
            yield tail + block
            tail = (tail + block)[-OVERLAP_BYTES:]


def _utf_8(file: IO[bytes]) -> Iterator[bytes]:
    head = file.read(2)
    if head in UTF_16:
        yield (head + file.read()).decode("utf-16", "replace").encode()
        return
    yield head
    while block := file.read(_BLOCK):
        yield block
