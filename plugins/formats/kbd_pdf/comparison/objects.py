"""What is in a file's attachments, scripts and metadata, as sums: whether it changed, not how."""

import hashlib
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec
from pypdf import PdfReader
from pypdf.generic import ArrayObject, DictionaryObject, StreamObject

from kbd_pdf.file_map import INFO_FIELDS
from kbd_pdf.pages import clean
from kbd_pdf.structure import MAX_WHOLE, Structure

__all__ = ["ObjectFacts", "numbered", "read_objects"]

MAX_UNPACKED = 128 << 20
"""Bytes that are unpacked of one file; what comes behind them is compared as it is packed."""

MAX_ENTRIES = 1000
"""Entries of a file's own properties, and packets of a form."""


class ObjectFacts(msgspec.Struct):
    """What objects of a file hold, by name.

    Args:
        properties: Properties that only some programs write, and the metadata in XML.
        files: The size and sum of each attached file; None where it is not in the file.
        scripts: The number and sum of all scripts; empty without any.
    """

    properties: dict[str, Any] = {}
    files: dict[str, Any] = {}
    scripts: dict[str, Any] = {}


def numbered(items: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return values by name; further ones of a name are numbered."""
    seen: Counter[str] = Counter()
    found: dict[str, Any] = {}
    for name, value in items:
        seen[name] += 1
        found[name if seen[name] == 1 else f"{name} [{seen[name]}]"] = value
    return found


def read_objects(reader: PdfReader, structure: Structure) -> ObjectFacts:
    """Read what the objects of a file hold; pypdf raises anything of a damaged one."""
    sums = _Sums()
    files = numbered(
        (name, sums.of(data)) for name, data in zip(structure.files, structure.data, strict=True)
    )
    root, info = (_resolved(reader.trailer.get(name)) for name in ("/Root", "/Info"))
    properties: dict[str, Any] = {}
    for key in sorted(info)[:MAX_ENTRIES] if isinstance(info, DictionaryObject) else ():
        name = clean(str(key)).lstrip("/")
        value = _resolved(info.get(key))
        if name not in INFO_FIELDS and value is not None:
            properties[name] = clean(str(value)).strip()[:MAX_WHOLE]
    if isinstance(root, DictionaryObject):
        properties |= _sum_of("XMP metadata", [root.get("/Metadata")], sums)
        form = _resolved(root.get("/AcroForm"))
        packets = _resolved(form.get("/XFA")) if isinstance(form, DictionaryObject) else None
        parts = list(packets)[:MAX_ENTRIES] if isinstance(packets, ArrayObject) else [packets]
        properties |= _sum_of("XFA form", parts, sums)
    scripts = _sum_of("", structure.actions.scripts, sums).get("", {})
    return ObjectFacts(properties, files, scripts)


def _sum_of(name: str, parts: Iterable[Any], sums: "_Sums") -> dict[str, Any]:
    """Return the sum of all parts under a name; nothing if there is none."""
    found = [each for part in parts if (each := sums.of(part)) is not None]
    if not found:
        return {}
    whole = hashlib.sha256("".join(each["sha256"] for each in found).encode()).hexdigest()
    digest = found[0]["sha256"] if len(found) == 1 else whole
    return {name: {"size_bytes": sum(each["size_bytes"] for each in found), "sha256": digest}}


class _Sums:
    """Sums of objects, of which so many bytes are unpacked."""

    def __init__(self) -> None:
        self._left = MAX_UNPACKED

    def of(self, value: Any) -> dict[str, Any] | None:
        """Return the size and sum of a text or a stream; None for anything else."""
        found = _resolved(value)
        if isinstance(found, StreamObject):
            data = self._unpacked(found)
        elif isinstance(found, str | bytes):
            data = found.encode("utf-8", "replace") if isinstance(found, str) else found
        else:
            return None
        return {"size_bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}

    def _unpacked(self, stream: StreamObject) -> bytes:
        packed: bytes = stream._data  # noqa: SLF001 - the only name of the bytes as they stand
        if self._left <= 0:
            return packed
        try:
            data = bytes(stream.get_data())
        # Memory that runs out is the end of the worker, not damage of a stream.
        except MemoryError:
            raise
        except Exception:  # noqa: BLE001 - whatever a damaged stream makes pypdf raise
            return packed
        self._left -= len(data)
        return data


def _resolved(value: Any) -> Any:
    return None if value is None else value.get_object()
