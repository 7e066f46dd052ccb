"""Documents edited with files beside them, and what differs, for tests of operations."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PIL import Image

from kbd.formats import Applied, CompareOptions, Relocation, Source
from kbd_docx import DocxFormat
from made_documents import operations

__all__ = ["applied", "differences", "mapped", "picture", "relocated", "source", "text_of"]

FORMAT = DocxFormat()


def source(path: Path) -> Source:
    """Return a document as a source under its own name."""
    return Source(path, path.name)


def applied(path: Path | None, to: Path, *found: Mapping[str, Any], **files: Path) -> Applied:
    """Apply operations that name files as "picture" or the like; the result is `to`."""
    given = {name: source(file) for name, file in files.items()}
    start = None if path is None else source(path)
    return FORMAT.apply_with_files(start, operations(*found), to, given)


def picture(path: Path, size: tuple[int, int] = (300, 100)) -> Path:
    """Write a picture of one color and return its path."""
    Image.new("RGB", size, "teal").save(path)
    return path


def mapped(path: Path) -> dict[str, Any]:
    """Return the map of a document."""
    return FORMAT.map(source(path))


def text_of(path: Path) -> str:
    """Return all text of a document, its chunks and what stands around it."""
    return "\n".join(each.text for each in FORMAT.passages(source(path)))


def differences(before: Path, after: Path) -> list[tuple[str, str]]:
    """Return what the review tells: the kind of each change and what it is about."""
    found = FORMAT.compare(source(before), source(after), CompareOptions())
    return [(change.kind, change.what) for change in found.changes]


def relocated(found: Mapping[str, Any], before: Path, after: Path) -> Relocation:
    """Carry one operation over from one version to the other."""
    return FORMAT.relocate(operations(found), source(before), source(after))
