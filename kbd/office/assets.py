"""Copying of assets between packages: references to what is copied, and the copier of parts.

A reference is what a call of `copy_assets` names, and where it shall go: `kbd.formats.styled` reads
the kind and the name, a format's own reading of places joins here. Parts of one package go into the
other with all that they are related to.
"""

import hashlib
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import ClassVar, Generic, TypeVar

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.formats import AssetPick
from kbd.formats.styled import parse_asset
from kbd.office.operations import EditWarnings
from kbd.opc import strict, transitional
from kbd.opc.guard import part_key
from kbd.opc.package import Package, Relation
from kbd.opc.rewriter import Rewriting

__all__ = [
    "MAX_DEPTH",
    "MAX_PARTS",
    "MAX_RELATIONS",
    "AssetRef",
    "PartCopier",
    "fold_name",
    "has_macros",
    "parse_asset_ref",
    "same_name",
]


Kind = TypeVar("Kind", bound=str)
Target = TypeVar("Target")


class AssetRef(msgspec.Struct, Generic[Kind, Target], frozen=True):
    """Something to be copied.

    Args:
        asset_id: As it was given, for messages.
        kind: What it is.
        name: What comes after the kind.
        target: Where it goes, None where that was not given.
    """

    asset_id: str
    kind: Kind
    name: str
    target: Target | None


def parse_asset_ref(
    pick: AssetPick, kinds: Iterable[Kind], parse_target: Callable[[Kind, str], Target]
) -> AssetRef[Kind, Target]:
    """Parse what is to be copied.

    Args:
        pick: The id and target as they were given.
        kinds: The kinds of assets that the format has.
        parse_target: Returns the place that a text means for a kind, or raises ValidationFailed.

    Raises:
        ValidationFailed: It is of no such kind, has no name, or no such place.
    """
    kind, name = parse_asset(pick, {each: each for each in kinds})
    target = parse_target(kind, pick.target) if pick.target else None
    return AssetRef(pick.asset_id, kind, name, target)


def fold_name(name: str) -> str:
    """Fold a name for comparison, blanks and case ignored."""
    return "".join(name.split()).casefold()


def same_name(one: str, other: str) -> bool:
    """Whether two names are the same, blanks and case ignored."""
    return fold_name(one) == fold_name(other)


MAX_PARTS = 300
"""Parts that one asset may bring along."""

MAX_DEPTH = 8
"""How far parts may lead to parts: a drawing to a chart to its shapes to a picture is four."""

MAX_RELATIONS = 200
"""Relations that the elements of one asset may name: more than fits on any page."""

_RELATION_SPACES = (
    "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}",
    "{http://purl.oclc.org/ooxml/officeDocument/relationships}",
)
"""The namespaces of attributes that name a relation, in the usual variant and in the strict one."""

# Also matches the empty place before the suffix of a name that has no number.
_NUMBER = re.compile(r"\d*(\.\w+)?$")
_MEDIA = ("image/", "audio/", "video/")
_MAX_QUOTED = 60


def has_macros(content_type: str) -> bool:
    """Tell whether parts of a type hold macros, or are files that may ([MS-OFFMACRO2], 2.2)."""
    folded = content_type.casefold()
    return "macroenabled" in folded or "vbaproject" in folded


class _Copy(msgspec.Struct):
    """A part that is copied: its name in the target, the relations to come, and those it has."""

    name: str
    left: Iterator[Relation]
    rows: list[Relation]


class PartCopier:
    """Copies parts; each only once, and media that the target has not at all.

    A format derives its own, with the kinds of relations that it follows. `begin_asset` says
    what is copied from then on: the limits hold for each asset, and what is refused is told of it.

    Args:
        source: Where the parts are.
        target: Where they go.
        warnings: Gets what lies outside of the package and copied parts reach out to.

    Attributes:
        source: Where the parts are.
        target: Where they go.
        warnings: What is told of them.
        place: What is being copied, as the sentences of errors begin.
    """

    kinds: ClassVar[frozenset[str]] = frozenset()
    """The kinds of relations that mean in another file what they mean in this one."""

    shares_media: ClassVar[bool] = True
    """Whether a picture or sound that the target has already stands for one of the source."""

    media_suffixes: ClassVar[frozenset[str]] = frozenset()
    """Suffixes that all parts of the target have their type by; none: those of media."""

    relates_early: ClassVar[bool] = False
    """Whether a part's relations lie in the file behind the first part that they lead to, not
    behind the last one."""

    def __init__(self, source: Package, target: Rewriting, warnings: EditWarnings) -> None:
        self.place = "it"
        self.source, self.target, self.warnings = source, target, warnings
        self._types = source.content_types()
        self._copied: dict[str, str] = {}
        self._count = 0
        self._media: dict[int, list[str]] | None = None
        self._digests: dict[str, bytes] = {}

    def begin_asset(self, place: str = "it") -> None:
        """Begin with another asset; `place` names it in errors ("image:Logo")."""
        self.place, self._count = place, 0

    def converted(self, data: bytes, content_type: str) -> bytes:
        """Return a part's bytes as the target may have them; a format may override it."""
        del content_type
        return data

    def check(self, relation: Relation) -> None:
        """Refuse a relation that means nothing in another file; a format may refuse more.

        Raises:
            ValidationFailed: It cannot be copied.
        """
        if relation.kind not in self.kinds:
            kind = relation.kind[:_MAX_QUOTED] or "unknown"
            raise ValidationFailed(
                f"{self.place} holds or is tied to a part of the kind {kind}, which cannot be "
                "copied"
            )
        if relation.kind == "hyperlink" and not relation.external:
            raise ValidationFailed(f"{self.place} leads to a place in its own file")

    def note_external(self, relation: Relation) -> None:
        """Note what a copied part reaches out to; a format may override it."""
        self.warnings.note_external(relation.target)

    def relations(self, part: str) -> dict[str, Relation]:
        """Return the relations of a part of the source by their ids."""
        return {relation.id: relation for relation in self.source.relations(part)}

    def relate(self, part: str, relation: Relation) -> str:
        """Relate a part of the target as one of the source is, and return the relation's id.

        Raises:
            ValidationFailed: The relation cannot be copied.
            FileReadFailed: What it leads to is missing or damaged.
        """
        target = self.goal(relation)
        kind = self._in_variant(relation.type)
        return self.target.relate(part, kind, target, external=relation.external)

    def relate_named(
        self, elements: Iterable[etree._Element], relations: Mapping[str, Relation], part: str
    ) -> None:
        """Have copied elements name what they are related to anew, which is copied.

        Args:
            elements: The elements, changed in place with all in them.
            relations: The relations of the part of the source that they come from, by id.
            part: The part of the target that they go into.

        Raises:
            ValidationFailed: They name a relation that is not there, or cannot be copied.
            FileReadFailed: What one leads to is missing or damaged.
        """
        renamed: dict[str, str] = {}
        for element in (each for root in elements for each in root.iter()):
            for key, value in element.attrib.items():
                # An empty id names nothing: a click with an action alone is written with r:id="".
                if not str(key).startswith(_RELATION_SPACES) or not value:
                    continue
                relation = relations.get(str(value))
                if relation is None:
                    raise ValidationFailed(f"{self.place} names a part that is not there")
                if relation.id not in renamed:
                    # A file decides how many it names.
                    if len(renamed) >= MAX_RELATIONS:
                        raise ValidationFailed(f"{self.place} is too large to be copied")
                    renamed[relation.id] = self.relate(part, relation)
                element.set(key, renamed[relation.id])

    def goal(self, relation: Relation) -> str:
        """Return what a relation of the source leads to in the target; it is copied if need be.

        Raises:
            ValidationFailed: It cannot be copied.
            FileReadFailed: It is missing or damaged.
        """
        goal = self._outside(relation)
        return self.copy(relation.target) if goal is None else goal

    def copy(self, part: str, instead: Mapping[str, str] | None = None) -> str:
        """Copy a part with all that it is related to, and return its name in the target.

        Args:
            part: The part.
            instead: The parts of the target that stand for relations, by their ids; "" leaves a
                relation out. Where it is given, even empty, the part is copied anew.

        Raises:
            ValidationFailed: It is related to what cannot be copied, or to too much.
            FileReadFailed: It is missing or damaged.
        """
        # A stack of its own: a file decides how deep its parts lead.
        stack: list[_Copy] = []
        name = self._placed(part, stack, anew=instead is not None)
        while stack:
            copy = stack[-1]
            # Empty for now: the entry takes its place in the file, before all its rows are known.
            if len(copy.rows) == 1 and self.relates_early:
                self.target.put_relations(copy.name, ())
            relation = next(copy.left, None)
            if relation is None:
                stack.pop()
                if copy.rows:
                    self.target.put_relations(copy.name, copy.rows)
                continue
            # Ids belong to one part each, so `instead` speaks of the part that was asked for only.
            goal = instead.get(relation.id) if instead and len(stack) == 1 else None
            if goal is None:
                goal = self._outside(relation)
            if goal is None:
                goal = self._placed(relation.target, stack)
            if goal:
                type_ = self._in_variant(relation.type)
                copy.rows.append(
                    Relation(relation.id, relation.kind, goal, relation.external, type_)
                )
        return name

    def _outside(self, relation: Relation) -> str | None:
        """Return the address that a relation leads to, None if that is a part to copy."""
        self.check(relation)
        if not relation.external:
            return None
        self.note_external(relation)
        return relation.target

    def _placed(self, part: str, stack: list[_Copy], *, anew: bool = False) -> str:
        """Return a part's name in the target; one that is new there is put on the stack."""
        known = self._copied.get(part_key(part))
        if known is not None and not anew:
            return known
        type_ = self._types.of(part)
        self._check(type_, len(stack))
        self._count += 1
        data = self.converted(self.source.read(part), type_)
        relations = self.source.relations(part)
        # Only what leads nowhere can be shared: the same bytes with other relations are another
        # part.
        name = "" if relations else self._shared(data, type_)
        if not name:
            name = self.target.free_name(_pattern(part))
            self._add(name, data, type_)
            stack.append(_Copy(name, iter(relations), []))
        if not anew:
            # Before its relations are followed, for parts may lead back to each other.
            self._copied[part_key(part)] = name
        return name

    def _check(self, content_type: str, depth: int) -> None:
        """Refuse a part that is never copied, or one too many."""
        if self._count >= MAX_PARTS:
            raise ValidationFailed(f"{self.place} would bring more than {MAX_PARTS} parts along")
        if depth >= MAX_DEPTH:
            raise ValidationFailed(f"{self.place} leads from part to part without an end")
        if has_macros(content_type):
            raise ValidationFailed(f"{self.place} holds macros, which are never copied")

    def _shared(self, data: bytes, content_type: str) -> str:
        """Return the part of the target that is the same picture or sound, "" if none is."""
        if not self.shares_media or not content_type.startswith(_MEDIA):
            return ""
        if self._media is None:
            self._media = {}
            for name in self.target.parts():
                # By the suffix: asking each part for its type would parse all types each time.
                if not name.endswith((".xml", ".rels")):
                    self._media.setdefault(self.target.size(name), []).append(name)
        # By size first: only parts of the same length are read and hashed.
        alike = self._media.get(len(data), ())
        digest = hashlib.sha256(data).digest() if alike else b""
        for name in alike:
            # The type last: each look at one parses all types of the package.
            is_same = name in self.target and self._digest(name) == digest
            if is_same and self.target.content_type(name) == content_type:
                return name
        return ""

    def _digest(self, name: str) -> bytes:
        """Return the SHA-256 of a part of the target; it is read once."""
        if name not in self._digests:
            self._digests[name] = hashlib.sha256(self.target.read(name)).digest()
        return self._digests[name]

    def _add(self, name: str, data: bytes, content_type: str) -> None:
        suffix = posixpath.splitext(name)[1].lstrip(".").casefold()
        is_media = content_type.startswith(_MEDIA)
        # The default first: with one that fits, the part needs no entry of its own among the types.
        if suffix in self.media_suffixes or (is_media and suffix and not self.media_suffixes):
            self.target.set_default_type(suffix, content_type)
        if is_media and self._media is not None:
            self._media.setdefault(len(data), []).append(name)
        if not content_type or self.target.content_type(name) == content_type:
            self.target.put(name, data)
        else:
            self.target.add(name, data, content_type)

    def _in_variant(self, type_: str) -> str:
        """Return a relation's type as the target's variant of the format names it."""
        # By way of the usual name, as the type may come from a file of either variant.
        usual = transitional(type_.encode())
        return (strict(usual) if self.target.is_strict else usual).decode()


def _pattern(part: str) -> str:
    """Return the pattern of names for a part: its own with another number."""
    # Braces in a name would be taken for fields when `format` puts the number in.
    stem = part.replace("{", "_").replace("}", "_").lstrip("/")
    return _NUMBER.sub(lambda found: "{}" + (found[1] or ""), stem, count=1)
