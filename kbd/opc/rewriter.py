"""Rewriter of a package: parts replaced, added or dropped, and all else copied as it is.

What is named is replaced, added or dropped; every other entry is copied as it lies in the zip,
compressed bytes and all. Entries stay in their order, new ones come last. The table of content
types and the relations are parts like others, touched only when an entry of theirs is.
"""

import posixpath
from collections.abc import Iterable, Mapping
from pathlib import Path
from zipfile import ZipInfo

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc.element_names import namespace_of
from kbd.opc.entries import ArchiveWriter
from kbd.opc.guard import part_key
from kbd.opc.package import (
    CONTENT_TYPES,
    STRICT,
    Package,
    Relation,
    parse_relations,
    read_types,
    reading_errors,
    relations_part,
    xml_root,
)

__all__ = ["Rewriting", "xml_bytes"]

_TRANSITIONAL_TYPES = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_STRICT_TYPES = f"{STRICT}officeDocument/relationships"
_NO_TYPES = b'<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>'
_RELATIONS_TYPE = "application/vnd.openxmlformats-package.relationships+xml"
_NO_RELATIONS = (
    b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"/>'
)


def xml_bytes(root: etree._Element) -> bytes:
    """Return a part's XML as it is stored."""
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8", standalone=True)


class Rewriting:
    """Rewriting of a package: pending changes, until they are saved.

    Attributes:
        package: What it started from.

    Args:
        package: What to start from, which stays open and is not changed; None begins with nothing
            but an empty table of content types.
        name: The file's name, for messages; the package's if there is one.
    """

    def __init__(self, package: Package | None, name: str = "") -> None:
        self.name = package.name if package else name
        self.is_strict = package is not None and package.is_strict
        self.relation_types = _STRICT_TYPES if self.is_strict else _TRANSITIONAL_TYPES
        self.package = package
        self._new: dict[str, tuple[str, bytes]] = {}
        self._dropped: set[str] = set()
        if package is None:
            self.put(CONTENT_TYPES, _NO_TYPES)

    def __contains__(self, part: str) -> bool:
        key = part_key(part)
        return key in self._new or (key not in self._dropped and key in self._original)

    @property
    def _original(self) -> Mapping[str, ZipInfo]:
        return self.package.by_key if self.package else {}

    @property
    def changed(self) -> frozenset[str]:
        """The keys of the parts that are replaced or added."""
        return frozenset(self._new)

    @property
    def has_original(self) -> bool:
        """Whether there is a package that it started from."""
        return self.package is not None

    def is_changed(self, part: str) -> bool:
        """Tell whether a part is replaced or added."""
        return part_key(part) in self._new

    def original(self, part: str) -> bytes | None:
        """Return a part's bytes as they were, None if the package did not have it."""
        if self.package is None or part_key(part) not in self._original:
            return None
        return self.package.read(part)

    def parts(self) -> list[str]:
        """List the parts that there will be, in order."""
        kept = [info.filename for info in self._original.values() if not info.is_dir()]
        added = [name for key, (name, _) in self._new.items() if key not in self._original]
        return [*(name for name in kept if name in self), *added]

    def read(self, part: str) -> bytes:
        """Return a part's bytes as they will be; raises FileReadFailed if it is not there."""
        found = self._new.get(part_key(part))
        if found is not None:
            return found[1]
        if self.package is None or part not in self:
            raise FileReadFailed(f"{self.name} is damaged: it has no part {part}")
        return self.package.read(part)

    def root(self, part: str) -> etree._Element:
        """Parse a small part as it will be; raises FileReadFailed."""
        data = self.read(part)
        with reading_errors(self.name):
            return xml_root(data, self.name)

    def size(self, part: str) -> int:
        """Return how many bytes a part will have; what is copied as it is is not unpacked."""
        found = self._new.get(part_key(part))
        return len(found[1]) if found is not None else self._original[part_key(part)].file_size

    def put(self, part: str, data: bytes) -> None:
        """Replace a part's bytes, or add a part whose type follows from its suffix."""
        key = part_key(part)
        self._dropped.discard(key)
        # A replaced part keeps the spelling of its name: the file's relations and types use it.
        self._new[key] = (self._original[key].filename if key in self._original else part, data)

    def add(self, part: str, data: bytes, content_type: str) -> None:
        """Add a part and enter its type."""
        self.put(part, data)
        self._set_type(part, content_type)

    def drop(self, part: str) -> None:
        """Remove a part, with its relations and its type."""
        # With its relations: else a part added under this name later would inherit them.
        for name in (part, relations_part(part)):
            self._new.pop(part_key(name), None)
            self._dropped.add(part_key(name))
            # Some programs give each part of relations a type of its own.
            self._set_type(name, None)

    def free_name(self, pattern: str) -> str:
        """Return the first name that no part has; `pattern` has a {} for a number from 1."""
        number = 1
        while pattern.format(number) in self:
            number += 1
        return pattern.format(number)

    def content_type(self, part: str) -> str:
        """Return a part's type, "" if the table of types has none for it."""
        return read_types(self.root(CONTENT_TYPES)).of(part)

    def set_default_type(self, suffix: str, content_type: str) -> None:
        """Have parts with a suffix ("png") be of a type unless they have one of their own."""
        root = self.root(CONTENT_TYPES)
        known = {(entry.get("Extension") or "").casefold() for entry in root}
        # ECMA-376 part 2 allows one default a suffix; the one that the file has stays.
        if suffix.casefold() not in known:
            entry = etree.Element(_named_like(root, "Default"))
            entry.set("Extension", suffix)
            entry.set("ContentType", content_type)
            root.insert(0, entry)
            self.put(CONTENT_TYPES, xml_bytes(root))

    def relations(self, part: str) -> tuple[Relation, ...]:
        """Return a part's relations as they will be ("" for those of the package)."""
        rels = relations_part(part)
        return parse_relations(part, self.root(rels)) if rels in self else ()

    def relate(
        self, part: str, kind: str, target: str, *, external: bool = False, relation_id: str = ""
    ) -> str:
        """Relate a part to another one, or to an address, and return the relation's id.

        Args:
            part: From which.
            kind: The last word of the relation's type, or its whole name.
            target: To which part, or address.
            external: Whether it is an address.
            relation_id: The id, which no other relation of the part has; else the next free one.
        """
        rels = relations_part(part)
        if rels in self:
            root = self.root(rels)
        else:
            root = xml_root(_NO_RELATIONS, self.name)
        relation_id = relation_id or _free_id({element.get("Id", "") for element in root})
        type_ = kind if ":" in kind else f"{self.relation_types}/{kind}"
        _add_relation(root, part, Relation(relation_id, kind, target, external, type_))
        self.put(rels, xml_bytes(root))
        return relation_id

    def put_relations(self, part: str, relations: Iterable[Relation]) -> None:
        """Give a part just these relations, under the ids and of the types that they have."""
        root = xml_root(_NO_RELATIONS, self.name)
        for relation in relations:
            _add_relation(root, part, relation)
        self.put(relations_part(part), xml_bytes(root))

    def unrelate(self, part: str, relation_id: str) -> None:
        """Remove a relation; the part that it names stays."""
        rels = relations_part(part)
        root = self.root(rels)
        for element in list(root):
            if element.get("Id") == relation_id:
                root.remove(element)
        self.put(rels, xml_bytes(root))

    def save(self, target: Path) -> None:
        """Write the package; raises FileReadFailed if an entry to copy is not all there."""
        with target.open("wb") as file:
            if self.package is not None and not self._new and not self._dropped:
                # What nothing was done to is the same file, not a likeness of it.
                self.package.copy_to(file)
                return
            if any(key.endswith(".rels") and key not in self._original for key in self._new):
                self.set_default_type("rels", _RELATIONS_TYPE)
            archive = ArchiveWriter(file)
            for key, info in self._original.items():
                if key in self._new:
                    archive.add(info.filename, self._new[key][1], info)
                elif self.package is not None and key not in self._dropped:
                    # As packed bytes: what no edit named is neither unpacked nor changed by a bit.
                    archive.copy(info, self.package.packed(info))
            for key, (name, data) in self._new.items():
                if key not in self._original:
                    archive.add(name, data)
            archive.finish()

    def _set_type(self, part: str, content_type: str | None) -> None:
        """Enter a part's type, or with None take its entry away."""
        root = self.root(CONTENT_TYPES)
        before = len(root)
        for entry in list(root):
            named = isinstance(entry.tag, str) and entry.get("PartName")
            if named and part_key(named) == part_key(part):
                root.remove(entry)
        if content_type is not None:
            entry = etree.SubElement(root, _named_like(root, "Override"))
            entry.set("PartName", f"/{part.lstrip('/')}")
            entry.set("ContentType", content_type)
        if content_type is not None or len(root) != before:
            self.put(CONTENT_TYPES, xml_bytes(root))


def _add_relation(root: etree._Element, part: str, relation: Relation) -> None:
    """Add a part's relation to the root of the part that holds them."""
    entry = etree.SubElement(root, _named_like(root, "Relationship"))
    entry.set("Id", relation.id)
    entry.set("Type", relation.type)
    if relation.external:
        entry.set("Target", relation.target)
        entry.set("TargetMode", "External")
    else:
        folder = posixpath.dirname(part)
        # Relative to the part's folder, as producers write it.
        entry.set("Target", posixpath.relpath(f"/{relation.target}", f"/{folder}"))


def _free_id(taken: set[str]) -> str:
    # Ids mostly run from rId1, so the first one behind them is mostly free.
    number = len(taken) + 1
    while f"rId{number}" in taken:
        number += 1
    return f"rId{number}"


def _named_like(root: etree._Element, name: str) -> str:
    # In the root's own namespace, so that it is written with the prefix that the table has.
    return f"{{{namespace_of(root.tag)}}}{name}"
