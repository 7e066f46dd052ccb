"""What a file is that is no zip, by its first bytes, and what its owner can do about it."""

import mmap
import re
from pathlib import PurePath
from typing import IO

from kbd.errors import FileReadFailed

__all__ = ["check_magic"]

_ZIP = b"PK\x03\x04"
_OLE = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED_ENTRY = "EncryptedPackage".encode("utf-16-le")
_MARKUP = re.compile(rb"\s*<(\?xml|!doctype\s+html|html|table|meta)\b", re.IGNORECASE)
_HEAD_BYTES = 512
_SHOWN_CHARS = 40


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
        raise FileReadFailed(f"{name} is empty.")
    if head.startswith(_OLE):
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as whole:
            encrypted = whole.find(_ENCRYPTED_ENTRY) >= 0
        if encrypted:
            raise FileReadFailed(
                f"{name} is encrypted with a password; open it with the password, remove that, and "
                "save it."
            )
        raise FileReadFailed(f"{name} is an old binary Office file; {save}.")
    if head.startswith(b"PK"):
        raise FileReadFailed(f"{name} is a zip file without contents.")
    raise FileReadFailed(
        f"{name} is not an Office file: it is {_described(head)}, whatever its name says; {save}."
    )


def _described(head: bytes) -> str:
    """Name what the first bytes show: markup, text, or only that it is something else."""
    encoding = "utf-16" if head[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    # The last character may be cut.
    text = head.decode(encoding, "ignore") if encoding == "utf-16" or b"\0" not in head else ""
    markup = _MARKUP.match(text.encode())
    if markup:
        return "an XML file" if markup[1].startswith(b"?") else "a web page"
    lines = text.split("\n", 1)[0].strip()
    shown = "".join(char for char in lines[:_SHOWN_CHARS] if char.isprintable())
    begins = f" that begins with {shown!r}" if shown else ""
    is_text = all(char.isprintable() or char in "\t\r\n\f" for char in text) and text.strip()
    return f"text{begins}" if is_text else f"something else{begins if len(shown) > 3 else ''}"
