"""What an edit of a deck changed, judged by zipfile and lxml alone."""

import zipfile
from collections.abc import Iterable
from pathlib import Path

from lxml import etree

__all__ = ["DeckFile", "changed_parts", "tree_without"]

_TEXTS = frozenset(("t", "text", "v", "f"))
"""Elements in which a blank is text, by local name."""


class DeckFile:
    """The entries of a deck by name."""

    def __init__(self, path: Path) -> None:
        with zipfile.ZipFile(path) as archive:
            assert archive.testzip() is None
            self.entries = {info.filename: archive.read(info) for info in archive.infolist()}

    def root(self, name: str) -> etree._Element:
        """Parse an entry."""
        return etree.fromstring(self.entries[name])


def changed_parts(before: DeckFile, after: DeckFile) -> tuple[set[str], set[str], set[str]]:
    """Return the names of entries that changed, that are new and that are gone."""
    old, new = before.entries, after.entries
    changed = {name for name in old.keys() & new.keys() if old[name] != new[name]}
    return changed, new.keys() - old.keys(), old.keys() - new.keys()


def tree_without(root: etree._Element, gone: Iterable[etree._Element]) -> bytes:
    """Return a part in canonical form, without elements of it and blanks between elements."""
    for element in list(gone):
        parent = element.getparent()
        if parent is not None:
            parent.remove(element)
    for each in root.iter():
        is_text = str(each.tag).rpartition("}")[2] in _TEXTS
        if not is_text and each.text is not None and not each.text.strip():
            each.text = None
        if each.tail is not None and not each.tail.strip():
            each.tail = None
    return etree.tostring(root, method="c14n2")
