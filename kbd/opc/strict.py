"""Namespaces of the strict variant, and the names that all others use for them.

ISO 29500 has two variants that differ in the names of their namespaces, and in few values. What
reads or edits parts knows one of them; the other is named over on the way in, and back on the way
out. Names: ISO/IEC 29500-1, annex A, against 29500-4, annex A.
"""

import codecs
import re
from collections.abc import Mapping

from kbd.errors import ValidationFailed
from kbd.opc.package import STRICT, Package

__all__ = [
    "TRANSITIONAL",
    "is_strict_part",
    "read_transitional",
    "strict",
    "transitional",
    "variants",
]

TRANSITIONAL = "http://schemas.openxmlformats.org/"
"""How the names of the usual variant begin."""

_DASHED = {
    "extendedProperties": "extended-properties",
    "customProperties": "custom-properties",
}
"""Last words that are spelt otherwise in the usual variant."""

_UNDASHED = {usual: strict for strict, usual in _DASHED.items()}

_STRICT_NAME = re.compile(rb"http://purl\.oclc\.org/ooxml/(\w+)/([\w/]+)")
# These families alone have strict names; those of packages and of later additions are the same in
# both variants.
_USUAL_NAME = re.compile(
    rb"http://schemas\.openxmlformats\.org/"
    rb"(wordprocessingml|presentationml|spreadsheetml|drawingml|officeDocument|schemaLibrary)"
    rb"/2006/([\w/-]+)"
)
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_DECLARED = re.compile(r"""(<\?xml[^>]*encoding=["'])[^"']*""")


def transitional(part: bytes) -> bytes:
    """Return a part with the usual names in place of the strict ones; the same bytes if none."""
    narrow = _narrow(part)
    if STRICT.encode() not in narrow:
        return part
    return _STRICT_NAME.sub(_usual, narrow)


def strict(part: bytes) -> bytes:
    """Return a part with the strict names in place of the usual ones."""
    return _USUAL_NAME.sub(_strict, _narrow(part))


def is_strict_part(data: bytes, part: str, file: str) -> bool:
    """Tell whether a part that is about to change has the strict names.

    Args:
        data: Its bytes.
        part: Its name, and that of the file, for messages.
        file: The file's name.

    Raises:
        ValidationFailed: It has both: naming over loses which was which.
    """
    found = variants(data)
    if len(found) > 1:
        raise ValidationFailed(f"{file}: {part} mixes the two variants of its format; save it anew")
    return "strict" in found


def variants(part: bytes) -> frozenset[str]:
    """Return which names a part has: "strict", "transitional", both, or none."""
    narrow = _narrow(part)
    found = set()
    if STRICT.encode() in narrow:
        found.add("strict")
    if _USUAL_NAME.search(narrow):
        found.add("transitional")
    return frozenset(found)


def read_transitional(package: Package, part: str) -> bytes:
    """Return a part's bytes with the usual names; raises FileReadFailed if there is none."""
    return transitional(package.read(part))


def _narrow(part: bytes) -> bytes:
    """Return a part in UTF-8, where it is in UTF-16; else the same bytes."""
    if not part.startswith(_WIDE):
        return part
    # Names are replaced as bytes, and UTF-16 would spell them otherwise.
    text = part.decode("utf-16", "replace")
    return _DECLARED.sub(r"\g<1>UTF-8", text, count=1).encode()


def _usual(found: re.Match[bytes]) -> bytes:
    return f"{TRANSITIONAL}{found[1].decode()}/2006/{_renamed(found[2], _DASHED)}".encode()


def _strict(found: re.Match[bytes]) -> bytes:
    return f"{STRICT}{found[1].decode()}/{_renamed(found[2], _UNDASHED)}".encode()


def _renamed(rest: bytes, words: Mapping[str, str]) -> str:
    folder, slash, word = rest.decode().rpartition("/")
    return f"{folder}{slash}{words.get(word, word)}"
