"""Printed documents without what differs each time: the date of printing, an identity by chance.

LibreOffice writes both into the file's information and its trailer (ISO 32000-1, 14.3.3 and 14.4),
as plain text, and so does a checksum of it all that holds them. They are replaced in place by bytes
of the same number, so that no offset changes. A document that a program writes otherwise stays as
it is, and then differs.
"""

import hashlib
import re
from pathlib import Path

from kbd.errors import FileReadFailed
from kbd.formats import Source

__all__ = ["settle_print"]

TRAILER_BYTES = 2048
"""How far before a file's end its trailer begins: behind the table of offsets."""

_DATE = re.compile(rb"\n/(?:CreationDate|ModDate)\(D:\d{14}[^()\n]{0,10}\)")
_IDENTITY = re.compile(rb"/ID\s*\[\s*<([0-9A-F]{32})>\s*<([0-9A-F]{32})>\s*\]", re.IGNORECASE)
_CHECKSUM = re.compile(rb"/DocChecksum\s*/([0-9A-F]{32})", re.IGNORECASE)
_DIGITS = 32


def settle_print(source: Source, target: Path) -> None:
    """Write a printed document without dates, and with an identity that follows from its bytes.

    Raises:
        FileReadFailed: It cannot be read.
    """
    try:
        data = bytearray(source.path.read_bytes())
    except OSError as error:
        msg = f"the printed document of {source.name} cannot be read: {error.strerror}"
        raise FileReadFailed(msg) from None
    for found in [*_DATE.finditer(data)]:
        # White space between two entries means nothing.
        data[found.start() + 1 : found.end()] = b" " * (found.end() - found.start() - 1)
    start = max(0, len(data) - TRAILER_BYTES)
    places = [
        found.start(group)
        for pattern in (_IDENTITY, _CHECKSUM)
        for found in pattern.finditer(data, start)
        for group in range(1, pattern.groups + 1)
    ]
    for place in places:
        data[place : place + _DIGITS] = b"0" * _DIGITS
    identity = hashlib.sha256(data).hexdigest()[:_DIGITS].upper().encode()
    for place in places:
        data[place : place + _DIGITS] = identity
    target.write_bytes(data)
