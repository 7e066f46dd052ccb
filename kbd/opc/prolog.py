"""What comes before the root element of a part, looked at before anything parses it.

No part needs a document type declaration, and one can make a small part endless. It is found in
any encoding that a package may have, however many comments hide it; what is in another encoding is
refused, since there it could not be found.
"""

import io
import re

from kbd.opc.unpacking import PartStream

__all__ = ["prolog_fault"]

_FIRST_BYTES = 1024
_MOST_BYTES = 1 << 20
"""Longer prologs hide something: the longest of real files has some hundred bytes."""

_SKIPPED = re.compile(r"\s+|<\?.*?\?>|<!--.*?-->", re.DOTALL)
_ENCODING = re.compile(r"<\?xml\b[^>]*?\bencoding\s*=\s*[\"']([^\"']*)[\"']", re.DOTALL)
# In each of these what is searched for is written as in ASCII, and nothing else looks like it.
_KNOWN = re.compile(
    r"utf-?8|utf-?16(-?[lb]e)?|(us-)?ascii|latin-?1|iso-?8859-\d+|(windows-|cp)125\d|koi8-[ru]"
    r"|shift_jis|gbk|gb2312|gb18030|big5|euc-(jp|kr)",
    re.IGNORECASE,
)
# How nearly all parts begin: nothing stands between the declaration and the root.
_PLAIN = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:<\?xml version=[\"']1\.0[\"'](?: encoding=[\"'](?:utf|UTF)-8[\"'])?"
    rb"(?: standalone=[\"'](?:yes|no)[\"'])?[ ]?\?>[\r\n]{0,2})?<[A-Za-z]"
)
# How the Unicode of four bytes and the code of mainframes begin; parsers guess them.
_FOREIGN = (
    b"\0\0\xfe\xff", b"\xff\xfe\0\0", b"\0\0\0<", b"<\0\0\0",
    b"\0\0<\0", b"\0<\0\0", b"\x4c\x6f\xa7\x94",
)  # fmt: skip


def prolog_fault(file: PartStream | io.BytesIO) -> str:
    """Return what is wrong before the root element, "" if nothing is or the part is no XML.

    Reads as little of the file as it takes.
    """
    head = b""
    wanted = _FIRST_BYTES
    while len(head) < _MOST_BYTES:
        more = file.read(wanted)
        head += more
        fault = _judged(head, is_whole=len(more) < wanted)
        if fault is not None:
            return fault
        wanted = len(head)
    return "a part that begins with too much before its contents"


def _judged(head: bytes, *, is_whole: bool) -> str | None:
    """Return the fault, "" for none, None if more must be read to know."""
    if _PLAIN.match(head):
        return ""
    if head.startswith(_FOREIGN):
        return "a part in an encoding that is not allowed"
    text = _decoded(head)
    declared = _ENCODING.match(text)
    if declared and not _KNOWN.fullmatch(declared[1]):
        return "a part in an encoding that is not allowed"
    at = 0
    while found := _SKIPPED.match(text, at):
        at = found.end()
    rest = text[at : at + 9]
    if rest.startswith("<!DOCTYPE"):
        return "a document type declaration, which is not allowed"
    # An element, or no XML at all: that is for whoever reads it.
    begun = rest and not rest.startswith(("<!", "<?")) and rest != "<"
    return "" if begun or is_whole else None


def _decoded(head: bytes) -> str:
    """Decode what can be judged: UTF-16 as such, all else by what it shares with ASCII."""
    if head.startswith(b"\xff\xfe") or head[1:2] == b"\0":
        return head.decode("utf-16-le", "replace").lstrip("\ufeff")
    if head.startswith((b"\xfe\xff", b"\0")):
        return head.decode("utf-16-be", "replace").lstrip("\ufeff")
    return head.removeprefix(b"\xef\xbb\xbf").decode("latin-1")
