"""The parts of a workbook and how they hang together, read with zipfile and lxml alone.

Names are compared without regard to case, back slashes count as slashes, and a name is not
percent-decoded: that is what the readers people use do. XML of any encoding is read; the namespaces
of the strict form count as those of the transitional one: everything goes by local names.
"""

import hashlib
import posixpath
import re
import zipfile
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

from lxml import etree

__all__ = ["Element", "Link", "Parts", "children", "flag", "local", "tree"]

Element = etree._Element

_PARSER = etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=True)


def tree(data: bytes) -> Element:
    """Parse XML; etree.XMLSyntaxError if it is none."""
    return etree.fromstring(data, _PARSER)


@cache
def _plain(tag: str) -> str:
    return tag.rpartition("}")[2]


def local(element: Element) -> str:
    """The name of an element without its namespace, "" for comments and the like."""
    tag = element.tag
    return _plain(tag) if isinstance(tag, str) else ""


def children(element: Element | None, name: str) -> list[Element]:
    """The children of that local name."""
    return [] if element is None else [child for child in element if local(child) == name]


def flag(value: str | None) -> bool:
    """Whether a boolean attribute says yes."""
    return value in ("1", "true", "on")


class Link(NamedTuple):
    """A relation of a part: `kind` is the last word of its type, `target` a part or an address."""

    id: str
    kind: str
    target: str
    external: bool


class Parts:
    """A workbook's members by lower-case name.

    Raises:
        zipfile.BadZipFile: If the file is no archive.
    """

    def __init__(self, path: Path) -> None:
        self._zip = zipfile.ZipFile(path)
        self.entries = [entry for entry in self._zip.infolist() if not entry.is_dir()]
        self.spelt = {self.key(entry.filename): entry for entry in self.entries}
        self._links: dict[str, list[Link]] = {}
        self._roots: dict[str, Element] = {}

    @staticmethod
    def key(name: str) -> str:
        """How a member's name is looked up."""
        return posixpath.normpath(name.replace("\\", "/").lstrip("/")).lower()

    def __contains__(self, part: str) -> bool:
        return self.key(part) in self.spelt

    def __iter__(self) -> Iterator[str]:
        return iter(self.spelt)

    def close(self) -> None:
        """Let go of the file."""
        self._zip.close()

    def data(self, part: str) -> bytes:
        """A part's bytes; KeyError if there is no such part."""
        return self._zip.read(self.spelt[self.key(part)])

    def digest(self, part: str) -> str:
        """A part's bytes in one short text."""
        return hashlib.sha256(self.data(part)).hexdigest()[:16]

    def root(self, part: str) -> Element:
        """A part's root element; it is kept."""
        key = self.key(part)
        if key not in self._roots:
            self._roots[key] = tree(self.data(key))
        return self._roots[key]

    def is_xml(self, part: str) -> bool:
        """Whether a part is XML, by its name."""
        return self.key(part).endswith((".xml", ".rels", ".vml"))

    def links(self, part: str = "") -> list[Link]:
        """What a part refers to, "" is the package; in the order of the file."""
        key = self.key(part) if part else ""
        if key not in self._links:
            folder, name = posixpath.split(key)
            rels = posixpath.join(folder, "_rels", name + ".rels")
            self._links[key] = list(self._read_links(rels, folder)) if rels in self else []
        return self._links[key]

    def _read_links(self, rels: str, folder: str) -> Iterator[Link]:
        for element in self.root(rels):
            if local(element) != "Relationship":
                continue
            target = element.get("Target", "")
            external = element.get("TargetMode") == "External"
            if not external:
                target = target.replace("\\", "/")
                target = self.key(target if target[:1] == "/" else posixpath.join(folder, target))
            kind = re.split(r"[/#]", element.get("Type", ""))[-1]
            yield Link(element.get("Id", ""), kind, target, external)

    def linked(self, part: str, identity: str | None) -> Link | None:
        """The relation of that id."""
        return next((link for link in self.links(part) if link.id == identity), None)

    def of_kind(self, part: str, kind: str) -> list[str]:
        """The parts that a part refers to with that kind and that are there."""
        return [
            link.target
            for link in self.links(part)
            if link.kind.lower() == kind.lower() and not link.external and link.target in self
        ]

    @cached_property
    def workbook(self) -> str:
        """The workbook part; LookupError if there is none."""
        return next(iter(self.of_kind("", "officeDocument")))

    @cached_property
    def types(self) -> dict[str, str]:
        """The content type of every part that has one."""
        defaults: dict[str, str] = {}
        overrides: dict[str, str] = {}
        if "[Content_Types].xml" in self:
            for element in self.root("[Content_Types].xml"):
                kind = element.get("ContentType", "")
                if local(element) == "Default":
                    defaults[element.get("Extension", "").lower()] = kind
                elif local(element) == "Override":
                    overrides[self.key(element.get("PartName", ""))] = kind
        found = {part: defaults.get(part.rpartition(".")[2], "") for part in self}
        return {part: kind for part, kind in (found | overrides).items() if kind}
