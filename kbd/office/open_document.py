"""Package of an OpenDocument file: its XML parts, zipped or flat, and the names in them.

A document is a zip: `mimetype` says what it is, `META-INF/manifest.xml` what is encrypted,
`styles.xml` and `content.xml` hold it. A flat one is one XML file with all of it. OpenDocument 1.3,
parts 2 and 3.

Names of elements and attributes are as lxml has them. OpenDocument 1.3, part 3 (OASIS): 3
(structure), 4-9 (text and tables), 10 (drawings), 16 (styles).
"""

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import IO

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.opc.package import Package, reading_errors

__all__ = [
    "DC",
    "DRAW",
    "META",
    "OFFICE",
    "STYLE",
    "SVG",
    "TABLE",
    "TEXT",
    "XLINK",
    "XML",
    "DocumentKind",
    "count",
    "open_metadata",
    "open_package",
    "open_parts",
    "part_digests",
]

_KIND = "application/vnd.oasis.opendocument."
_KNOWN = {
    "text": "an OpenDocument text",
    "spreadsheet": "an OpenDocument spreadsheet",
    "presentation": "an OpenDocument presentation",
    "graphics": "an OpenDocument drawing",
    "chart": "an OpenDocument chart",
    "formula": "an OpenDocument formula",
    "database": "an OpenDocument database",
    "base": "an OpenDocument database",
}
_MANIFEST = "META-INF/manifest.xml"
_MAX_BYTES = 64 << 20
"""Of XML; parsed in pieces, but one table may be all of it."""
_SHOWN_BYTES = 100

Parts = tuple[IO[bytes], ...]


class DocumentKind(msgspec.Struct, frozen=True):
    """A kind of documents.

    Args:
        what: What one is, for messages ("an OpenDocument text").
        words: The ends of the media types of such packages.
        flat_suffix: The suffix of flat ones, with its dot.
        parts: Those that are wanted of a package, where it has them, the contents last.
        max_bytes: Of XML in a part, unpacked.
    """

    what: str
    words: tuple[str, ...]
    flat_suffix: str
    parts: tuple[str, ...] = ("styles.xml", "content.xml")
    max_bytes: int = _MAX_BYTES


@contextmanager
def open_parts(source: Source, kind: DocumentKind) -> Iterator[Parts]:
    """Open a document and give its XML, in the order of its kind.

    Raises:
        FileReadFailed: It is not of the format, encrypted, damaged, or past a limit.
    """
    if PurePath(source.name).suffix.lower() == kind.flat_suffix:
        with reading_errors(source.name), source.path.open("rb") as file:
            _check_size(source.name, source.path.stat().st_size, kind.max_bytes)
            yield (file,)
        return
    with open_package(source, kind) as package:
        parts = [part for part in kind.parts if part in package]
        if "content.xml" not in parts:
            raise FileReadFailed(f"{source.name} is damaged: it has no part content.xml")
        for part in parts:
            # By the claimed size: the stream that is handed out is held to it.
            _check_size(source.name, package.entry(part).file_size, kind.max_bytes)
        yield tuple(package.open(part) for part in parts)


@contextmanager
def open_metadata(source: Source, kind: DocumentKind) -> Iterator[etree._Element | None]:
    """Open a document and give its metadata; None for a flat one, which has it inside.

    Raises:
        FileReadFailed: It is not of the format, encrypted or damaged.
    """
    if PurePath(source.name).suffix.lower() == kind.flat_suffix:
        with open_parts(source, kind):
            yield None
        return
    with open_package(source, kind) as package:
        yield package.root("meta.xml") if "meta.xml" in package else None


@contextmanager
def open_package(source: Source, kind: DocumentKind) -> Iterator[Package]:
    """Open a document that is a zip, and is what its name says.

    Raises:
        FileReadFailed: It is not, or it is encrypted or damaged.
    """
    with Package(source) as package, reading_errors(source.name):
        _check_kind(package, kind)
        _check_encryption(package)
        yield package


def part_digests(package: Package, passed: tuple[str, ...]) -> dict[str, tuple[int, str]]:
    """Return the size and the digest of each part; what cannot be unpacked counts as it is packed.

    Args:
        package: The document.
        passed: The beginnings of the names of those that are left out.
    """
    found = {}
    for entry in package.entries:
        name = entry.filename
        if name.endswith("/") or name.startswith(passed):
            continue
        digest, size = hashlib.sha256(), 0
        try:
            with package.open(name) as file:
                while data := file.read(1 << 20):
                    digest.update(data)
                    size += len(data)
        except FileReadFailed:
            digest.update(package.packed(entry))
        found[name] = (size, digest.hexdigest())
    return found


def _check_size(name: str, size: int, most: int) -> None:
    if size > most:
        raise FileReadFailed(
            f"{name} is too large: its contents have {size >> 20:,} MiB; the limit is "
            f"{most >> 20} MiB"
        )


def _check_kind(package: Package, wanted: DocumentKind) -> None:
    """Check the media type of the package; one without is known by its contents."""
    name = package.name
    if "mimetype" not in package:
        if "content.xml" in package and _MANIFEST in package:
            return
        what = "an Office file" if "[Content_Types].xml" in package else "a zip archive"
        raise FileReadFailed(
            f"{name} is not {wanted.what}: it is {what} of another kind; give it the "
            "suffix of its kind"
        )
    with package.open("mimetype") as file:
        kind = file.read(_SHOWN_BYTES).decode("ascii", "replace").strip()
    if kind.removeprefix(_KIND) in wanted.words and kind.startswith(_KIND):
        return
    word = kind.removeprefix(_KIND).removesuffix("-template")
    what = _KNOWN.get(word, f"a package of type {kind}")
    raise FileReadFailed(
        f"{name} is not {wanted.what}: it is {what}; give it the suffix of its kind"
    )


def _check_encryption(package: Package) -> None:
    """Refuse what is encrypted: the manifest tells how each such part is to be decrypted."""
    if _MANIFEST not in package:
        return
    try:
        root = package.root(_MANIFEST)
    except (FileReadFailed, etree.LxmlError):
        # Some old programs give it a document type; without it nothing is known to be encrypted.
        return
    if root.find(".//{*}encryption-data") is not None:
        raise FileReadFailed(
            f"{package.name} is encrypted with a password; open it with the password, save it "
            "without one, and try again",
            detail={"encrypted": True},
        )


_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
OFFICE = f"{{{_OASIS}office:1.0}}"
TEXT = f"{{{_OASIS}text:1.0}}"
TABLE = f"{{{_OASIS}table:1.0}}"
DRAW = f"{{{_OASIS}drawing:1.0}}"
STYLE = f"{{{_OASIS}style:1.0}}"
SVG = f"{{{_OASIS}svg-compatible:1.0}}"
META = f"{{{_OASIS}meta:1.0}}"
DC = "{http://purl.org/dc/elements/1.1/}"
XLINK = "{http://www.w3.org/1999/xlink}"
XML = "{http://www.w3.org/XML/1998/namespace}"

_WHOLE = re.compile(r"\s*\+?(\d{1,15})\s*")


def count(text: str | None, most: int, default: int = 1) -> int:
    """Return a whole number that stands in an attribute, at most `most`.

    What is no number is the default; a number of more digits than any that means something is most.
    """
    if not text:
        return default
    found = _WHOLE.fullmatch(text)
    if found:
        return min(int(found[1]), most)
    return most if text.strip().isdecimal() else default
