"""Target document of copied assets: references to assets and places, the part copier."""

import posixpath
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import ClassVar, Literal, get_args

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.formats import AssetPick
from kbd.office.assets import AssetRef, PartCopier, parse_asset_ref
from kbd.office.operations import EditWarnings
from kbd.opc import is_strict_part, strict, transitional
from kbd.opc.element_names import namespace_of
from kbd.opc.package import Package, Relation
from kbd.opc.rewriter import Rewriting, xml_bytes
from kbd_docx.document import PARAGRAPH, DocxParts, R, W, blocks
from kbd_docx.edits.reach import SHOWN_CHARACTERS
from kbd_docx.ignorable import with_ignorable
from kbd_docx.styles.stylesheet import folded

__all__ = [
    "AssetKind",
    "DocumentPartCopier",
    "DocxAssetRef",
    "DocxPlace",
    "PlaceKind",
    "Target",
    "missing_asset",
    "parse_ref",
]


AssetKind = Literal[
    "theme",
    "page_setup",
    "paragraph_style",
    "character_style",
    "table_style",
    "numbering_style",
    "list",
    "header",
    "footer",
    "image",
]
PlaceKind = Literal["section", "paragraph", "table"]

_PLACES: Mapping[AssetKind, PlaceKind] = {
    "page_setup": "section",
    "paragraph_style": "paragraph",
    "table_style": "table",
    "list": "paragraph",
    "header": "section",
    "footer": "section",
    "image": "paragraph",
}
"""What each kind can be put on."""

_PLACE = re.compile(
    r"\s*(section|paragraph|table)s?\s*:?\s*(\d{1,7})(?:\s*-\s*(\d{1,7}))?\s*", re.IGNORECASE
)
_SHOWN = 60


class DocxPlace(msgspec.Struct, frozen=True):
    """Place in a document: a range of sections (from 0), paragraphs (from 1) or tables (from 0)."""

    kind: PlaceKind
    first: int
    last: int


DocxAssetRef = AssetRef[AssetKind, DocxPlace]
"""Something to be copied."""


def parse_ref(pick: AssetPick) -> DocxAssetRef:
    """Parse an asset reference; raises ValidationFailed."""
    kinds = get_args(AssetKind)
    return parse_asset_ref(pick, kinds, lambda kind, text: _parse_place(pick.asset_id, kind, text))


def missing_asset(kind: str, name: str, known: Iterable[str]) -> ValidationFailed:
    """Return the error for a missing asset, with the names nearest to it."""
    names = {folded(each): each for each in known}
    near = get_close_matches(folded(name), names, 3, 0.5)
    hint = f"; near it: {', '.join(f'{kind}:{names[each]}' for each in near)}" if near else ""
    return ValidationFailed(
        f"the source has no {kind} {name[:_SHOWN]!r}{hint} (get_styles lists what there is)"
    )


def _parse_place(asset_id: str, kind: AssetKind, text: str) -> DocxPlace:
    """Parse a target: "section:0", "paragraph:12", "paragraph:3-7", "table:0"."""
    wanted = _PLACES.get(kind)
    if wanted is None:
        raise ValidationFailed(f"{asset_id[:_SHOWN]} takes no target; leave it out")
    found = _PLACE.fullmatch(text)
    if found is None or found[1].lower() != wanted:
        raise ValidationFailed(
            f"{asset_id[:_SHOWN]}: the target {text[:_SHOWN]!r} is none; write {wanted}:1"
        )
    first, last = int(found[2]), int(found[3] or found[2])
    if last < first or (first != last and kind in ("image", "header", "footer")):
        raise ValidationFailed(
            f"{asset_id[:_SHOWN]}: the target {text[:_SHOWN]!r} is no place for it"
        )
    return DocxPlace(wanted, first, last)


_TYPE = "application/vnd.openxmlformats-officedocument.wordprocessingml.{}+xml"
_PLAIN_SPACES = frozenset((W.strip("{}"), R.strip("{}"), "http://www.w3.org/XML/1998/namespace"))
_OLD_DRAWING = ("urn:schemas-microsoft-com:", "http://schemas.openxmlformats.org/")
"""Namespaces of these every program knows."""


class Target(DocxParts):
    """Target document, whose parts may be changed; only those asked for as such are rewritten.

    Args:
        rewriting: The package.
        main: Its main part.

    Attributes:
        warnings: What the user should know, and what the document newly reaches out to.
    """

    def __init__(self, rewriting: Rewriting, main: str) -> None:
        super().__init__(rewriting, main)
        self.rewriting = rewriting
        self.warnings = EditWarnings()
        self._changed: dict[str, bool] = {}
        self._spaces: dict[str, dict[str, str]] = {}

    @property
    def body(self) -> etree._Element:
        """The body, to be changed; raises ValidationFailed where there is none."""
        found = self.editable_root(self.main).find(f"{W}body")
        if found is None:
            raise ValidationFailed(f"{self.rewriting.name} has no body to put anything into")
        return found

    def editable_root(self, part: str) -> etree._Element:
        """Return the root of a part that is about to change.

        Raises:
            ValidationFailed: It cannot be changed without a loss.
        """
        if part not in self._changed:
            # Asked of the bytes, before the names are changed: a part that mixes both variants is
            # refused, since it could not be told afterwards which name was which.
            data = self.rewriting.read(part)
            self._changed[part] = is_strict_part(data, part, self.rewriting.name)
        return self.root(part)

    def add_part(self, part: str, root: etree._Element, type_: str) -> None:
        """Add a part; `type_` is the word for it in its content type ("header")."""
        # Empty so far, which takes the name and enters the type; `finish` writes the contents.
        self.rewriting.add(part, b"", _TYPE.format(type_))
        self._roots[part] = root
        self._changed[part] = self.rewriting.is_strict

    def replace_one(self, kind: str, part: str) -> None:
        """Register a part as the one of its kind."""
        self._single_parts[kind] = part

    def drop_part(self, part: str) -> None:
        """Drop a part that nothing references any more; what it was related to stays."""
        self.rewriting.drop(part)
        # Forgotten here as well, or `finish` would write the part again.
        self._roots.pop(part, None)
        self._changed.pop(part, None)

    def ensure_part(self, kind: str, name: str) -> etree._Element:
        """Return the root of a part that a document has one of, created if it has none.

        Args:
            kind: The kind of its relation, which is the word in its type, too ("styles").
            name: The name of its root element.
        """
        part = self.part(kind)
        if not part:
            part = self.free_part_name(kind, numbered=False)
            self.add_part(part, etree.Element(f"{W}{name}", nsmap={"w": W.strip("{}")}), kind)
            self.rewriting.relate(self.main, kind, part)
            self._single_parts[kind] = part
        return self.editable_root(part)

    def free_part_name(self, stem: str, *, numbered: bool = True) -> str:
        """Return an unused part name beside the main part."""
        folder = posixpath.dirname(self.main)
        plain = posixpath.join(folder, f"{stem}.xml")
        if not numbered and plain not in self.rewriting:
            return plain
        return self.rewriting.free_name(posixpath.join(folder, f"{stem}{{}}.xml"))

    def declare_ignorable(self, part: str, element: etree._Element) -> None:
        """Collect the namespaces of a copied element, to be declared in mc:Ignorable."""
        for each in element.iter():
            if not isinstance(each.tag, str):
                continue
            for name in (each.tag, *each.attrib):
                space = namespace_of(str(name))
                if not space or space in _PLAIN_SPACES or space.startswith(_OLD_DRAWING):
                    continue
                # mc:Ignorable lists prefixes, not namespaces, so the source's prefix is remembered.
                prefix = next((key for key, uri in each.nsmap.items() if uri == space), None)
                self._spaces.setdefault(part, {}).setdefault(space, prefix or "x")

    def paragraphs(self, first: int, last: int) -> list[etree._Element]:
        """Return paragraphs of the body, counted from 1; raises ValidationFailed."""
        return self._block_range(PARAGRAPH, "paragraph", first, last, 1)

    def tables(self, first: int, last: int) -> list[etree._Element]:
        """Return tables of the body, counted from 0; raises ValidationFailed."""
        return self._block_range(f"{W}tbl", "table", first, last, 0)

    def finish(self) -> None:
        """Write the parts that have changed."""
        for part, is_strict in self._changed.items():
            data = xml_bytes(with_ignorable(self.root(part), self._spaces.get(part, {})))
            self.rewriting.put(part, strict(data) if is_strict else data)

    def _block_range(
        self, tag: str, what: str, first: int, last: int, base: int
    ) -> list[etree._Element]:
        found = [each for each in blocks(self.body) if each.tag == tag]
        if not base <= first <= last < len(found) + base:
            raise ValidationFailed(
                f"the target has no {what} {last}; it has {len(found):,}, counted from {base}"
            )
        return found[first - base : last - base + 1]


_XML = re.compile(r"[+/]xml$")


class DocumentPartCopier(PartCopier):
    """Copies parts between documents.

    Args:
        source: Where they are.
        target: Where they go.
    """

    kinds: ClassVar[frozenset[str]] = frozenset(
        (
            *("image", "hdphoto", "chart", "chartEx", "chartStyle", "chartColorStyle"),
            *("chartUserShapes", "themeOverride", "hyperlink", "theme", "package"),
            *(f"diagram{word}" for word in ("Data", "Layout", "QuickStyle", "Colors", "Drawing")),
        )
    )

    def __init__(self, source: Package, target: Target) -> None:
        super().__init__(source, target.rewriting, target.warnings)

    def converted(self, data: bytes, content_type: str) -> bytes:
        """Return XML with the namespaces of the target's variant."""
        if not _XML.search(content_type):
            return data
        return strict(data) if self.target.is_strict else transitional(data)

    def note_external(self, relation: Relation) -> None:
        """Note an external target, with the asset that refers to it."""
        reached = f"{self.place}: {relation.kind} {relation.target[:SHOWN_CHARACTERS]}"
        self.warnings.note_external(reached)

    def relate(self, part: str, relation: Relation) -> str:
        """Relate a part of the target as one of the source is, reusing a relation that it has."""
        wanted = (relation.kind, self.goal(relation), relation.external)
        for known in self.target.relations(part):
            if (known.kind, known.target, known.external) == wanted:
                return known.id
        return super().relate(part, relation)
