"""Footnotes, endnotes and comments: the texts that are cited elsewhere."""

from collections.abc import Iterable, Iterator

from lxml import etree

from kbd.opc.package import Package, Relation
from kbd_docx.blocks import W
from kbd_docx.reader.findings import StoryFindings
from kbd_docx.reader.parts import related, root_of
from kbd_docx.reader.stories import StoryRenderer

__all__ = ["Notes"]

_PARTS = {"footnote": "footnotes", "endnote": "endnotes", "comment": "comments"}
"""The relations that lead to the parts, by what is in them."""

_FORMS = {"footnote": "[^{}]", "endnote": "[^e{}]", "comment": "[comment {}]"}
_SEPARATORS = ("separator", "continuationSeparator", "continuationNotice")
_NAME_CHARS = 100
_DAY_CHARS = 10


class Notes:
    """The notes and comments of a document.

    Args:
        package: The file.
        relations: The relations of the main part.
        findings: Where what they hold is found.
    """

    def __init__(
        self, package: Package, relations: Iterable[Relation], findings: StoryFindings
    ) -> None:
        self._findings = findings
        self._notes: dict[tuple[str, str], tuple[etree._Element, StoryRenderer]] = {}
        by_kind = {relation.kind: relation for relation in reversed(tuple(relations))}
        for kind, name in _PARTS.items():
            root = root_of(package, by_kind.get(name))
            if root is None:
                continue
            story = StoryRenderer(findings, related(package, by_kind[name].target))
            for element in root.iterchildren(f"{W}{kind}"):
                if element.get(f"{W}type") not in _SEPARATORS:
                    key = (kind, element.get(f"{W}id", ""))
                    self._notes.setdefault(key, (element, story))

    def count(self, kind: str) -> int:
        """Return how many there are of a kind."""
        return sum(1 for name, _ in self._notes if name == kind)

    def cited(self) -> list[str]:
        """Return the texts of what was cited since the last call, and of what they cite."""
        found = []
        waiting = self._findings.cited
        at = 0
        while at < len(waiting):
            kind, key = waiting[at]
            at += 1
            found.append(self._text(kind, key))
        waiting.clear()
        return found

    def uncited(self) -> Iterator[str]:
        """Yield the texts of what nothing cites."""
        for kind, key in self._notes:
            if key not in self._findings.numbers(kind):
                self._findings.cite(kind, key)
                yield from self.cited()

    def _text(self, kind: str, key: str) -> str:
        mark = _FORMS[kind].format(self._findings.cite(kind, key))
        found = self._notes.get((kind, key))
        if found is None:
            return f"{mark}: (it has no text)"
        element, story = found
        text = story.text(element).strip()
        author = element.get(f"{W}author", "")[:_NAME_CHARS]
        day = element.get(f"{W}date", "")[:_DAY_CHARS]
        told = ", ".join(filter(None, (author, day)))
        return f"{mark} {told}: {text}" if told else f"{mark}: {text}"
