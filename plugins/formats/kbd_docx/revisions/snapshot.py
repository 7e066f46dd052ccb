"""Snapshot of a document: its trees as they were, and which elements are which of then.

An edit changes trees in place, so that an element which it left is the same object before and
after. What was taken out has no element now, what was put in had none then.
"""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy

from lxml import etree

from kbd_docx.document import W
from kbd_docx.revisions.marks import is_sign

__all__ = ["DocxSnapshot"]


class DocxSnapshot:
    """The trees of a document at one time.

    Args:
        roots: The roots of its trees.

    Attributes:
        roots: Each root with the copy of it as it was.
    """

    def __init__(self, roots: Iterable[etree._Element]) -> None:
        self.roots = [(root, deepcopy(root)) for root in roots]
        # lxml keeps an element's object only while something holds it, as these do.
        self._then: dict[etree._Element, etree._Element] = {}
        self._now: dict[etree._Element, etree._Element] = {}
        self._parents: dict[etree._Element, etree._Element | None] = {}
        self._kept_signs: set[etree._Element] = set()
        for root, copied in self.roots:
            for now, then in zip(root.iter(), copied.iter(), strict=True):
                self._then[now] = then
                self._now[then] = now
                self._parents[then] = then.getparent()

    def original(self, element: etree._Element) -> etree._Element | None:
        """Return what an element of the document was, None for a new one."""
        return self._then.get(element)

    def current(self, element: etree._Element) -> etree._Element | None:
        """Return what an element of the snapshot is now, in the document or taken out of it."""
        return self._now.get(element)

    def holder(self, element: etree._Element) -> etree._Element | None:
        """Return what held an element of the snapshot, wherever that element is now."""
        return self._parents.get(element)

    def is_gone(self, then: etree._Element) -> bool:
        """Tell whether an element of the snapshot does not stand in what held it."""
        now = self._now.get(then)
        parent = now.getparent() if now is not None else None
        return parent is None or self._then.get(parent) is not self._parents.get(then)

    def pair(self, now: etree._Element, then: etree._Element) -> None:
        """Take a new element for what became of one that is not there any more."""
        former = self._now[then]
        del self._then[former]
        self._then[now] = then
        self._now[then] = now

    def renumber(self, tags: Sequence[str], renamed: Mapping[str | None, str]) -> None:
        """Give elements of the snapshot the ids that they have now.

        Args:
            tags: What the elements are.
            renamed: Ids now by those of before.
        """
        key = f"{W}id"
        for _, copied in self.roots:
            for each in copied.iter(*tags):
                each.set(key, renamed.get(each.get(key), each.get(key, "")))

    def add(self, then: etree._Element, now: etree._Element | None) -> None:
        """Know an element that was put into the snapshot, and what it is now, None for nothing."""
        self._parents[then] = then.getparent()
        if now is not None:
            self._then[now] = then
            self._now[then] = now

    def is_kept_sign(self, then: etree._Element) -> bool:
        """Tell whether an element was a run with a comment's sign that the edit has kept."""
        return then in self._kept_signs

    def is_present(self, now: etree._Element) -> bool:
        """Tell whether an element stands in the document, not in what was taken out of it."""
        return any(_root(now) is root for root, _ in self.roots)

    def compare(self) -> None:
        """Look at the document as it is now, before what differs is written into it."""
        for _, copied in self.roots:
            for sign in copied.iter(f"{W}commentReference"):
                run = sign.getparent()
                now = self._now.get(run) if run is not None else None
                is_there = now is not None and self.is_present(now)
                if run is not None and is_sign(run) and is_there:
                    self._kept_signs.add(run)


def _root(element: etree._Element) -> etree._Element:
    """Return the topmost element around one: of what was taken out it is not the document's."""
    while (around := element.getparent()) is not None:
        element = around
    return element
