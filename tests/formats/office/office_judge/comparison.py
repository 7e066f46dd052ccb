"""Compares a package before an edit with the one after it."""

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from lxml import etree

from judging.package import Parts
from office_judge.belongings import CONTENT_TYPES, compare_belongings, pairs, relations_part
from office_judge.differences import Difference
from office_judge.edits import Edit, Nothing
from office_judge.meaning import said
from office_judge.soundness import faults
from office_judge.trees import tree_differences

__all__ = ["compare"]


def compare(before: Path, after: Path, edit: Edit | None = None) -> list[Difference]:
    """Tell all that is not as before, but for what the edit meant; empty if nothing is.

    Raises:
        zipfile.BadZipFile, etree.XMLSyntaxError: The file before is none that can be read.
    """
    old = Parts(before)
    try:
        same = _same_parts(before, after)
        known = set(faults(before, same))
        found = [Difference("fault", fault) for fault in faults(after, same) if fault not in known]
        if any(difference.place.startswith("not readable") for difference in found):
            return found
        new = Parts(after)
        try:
            return [*found, *_differences(old, new, edit or Nothing())]
        finally:
            new.close()
    finally:
        old.close()


def _same_parts(before: Path, after: Path) -> frozenset[str]:
    """The parts that are the same to the byte, with their relations, so that their faults are."""
    try:
        old, new = Parts(before), Parts(after)
        with closing(old), closing(new):
            same = {part for part in old if part in new and old.data(part) == new.data(part)}
            return frozenset(
                part for part in same
                if (rels := relations_part(part)) in same or (rels not in old and rels not in new)
            )  # fmt: skip
    except (zipfile.BadZipFile, zlib.error, OSError):
        return frozenset()


def _differences(old: Parts, new: Parts, edit: Edit) -> Iterator[Difference]:
    paired = pairs(old, new)
    edit.begin(old)
    for part, other in paired.items():
        if not part or part == CONTENT_TYPES or part.endswith(".rels"):
            continue
        if old.data(part) != new.data(other):
            yield from _part_differences(old, new, part, other, edit)
    yield from edit.unmet()
    yield from compare_belongings(old, new, paired, edit.freed)
    yield from _bare_differences(old, new)


def _part_differences(
    old: Parts, new: Parts, part: str, other: str, edit: Edit
) -> Iterator[Difference]:
    try:
        one, came = old.root(part), new.root(other)
    except (etree.XMLSyntaxError, zipfile.BadZipFile, zlib.error):
        yield Difference("bytes", part, f"{len(old.data(part))}", f"{len(new.data(other))}")
        return
    if said(one) == said(came):
        yield Difference("bytes", part, material=False)
        return
    yield from edit.take_back(part, one, came)
    yield from tree_differences(one, came, part)


def _bare_differences(old: Parts, new: Parts) -> Iterator[Difference]:
    """Relations and types that say the same in other bytes."""
    for part in old:
        is_bare = part == CONTENT_TYPES or part.endswith(".rels")
        if is_bare and part in new and old.data(part) != new.data(part):
            yield Difference("bytes", part, material=False)
