"""Styles that operations name: found by id or name, or taken over from the default template.

Word lists many styles that a file does not hold until they are used ("List Bullet", "Table Grid").
One of these that the default template of new documents has is added from there, with its
numbering; the reader is told.
"""

from collections.abc import Callable
from copy import deepcopy
from typing import Literal

from docx.document import Document
from docx.opc.constants import CONTENT_TYPE as CT
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.packuri import PackURI
from docx.opc.part import XmlPart
from docx.oxml.parser import parse_xml
from lxml import etree

from kbd_docx.blocks import W
from kbd_docx.edits.blank import template_roots
from kbd_docx.edits.variants import respell

__all__ = ["DocxStyles", "StyleType"]

StyleType = Literal["paragraph", "table"]

_TYPE, _ID, _DEFAULT, _VALUE = f"{W}type", f"{W}styleId", f"{W}default", f"{W}val"
_SPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_MOST_BASES = 12
_SHOWN_CHARACTERS = 60


class DocxStyles:
    """The styles of one document, read when the first one is asked for.

    Args:
        document: The document.
        is_strict: Whether it is of the strict variant.
        warn: Gets what the reader must know.
    """

    def __init__(self, document: Document, *, is_strict: bool, warn: Callable[[str], None]) -> None:
        self._document, self._is_strict, self._warn = document, is_strict, warn
        self._known: dict[str, dict[str, etree._Element]] | None = None
        self._template: dict[str, dict[str, etree._Element]] | None = None

    def paragraph(self, name: str | None) -> str | None:
        """Return the id of the paragraph style that is meant, None for the default one."""
        return self._chosen("paragraph", name, "Normal") if name and name.strip() else None

    def table(self, name: str | None) -> str | None:
        """Return the id of the table style that is meant; Table Grid if none is."""
        return self._chosen("table", name or "Table Grid", "Table Grid")

    def _chosen(self, type_: StyleType, name: str, instead: str) -> str | None:
        found = self._found(type_, name, 0)
        if found is None:
            kinds = [kind for kind in ("character", "table", "paragraph", "numbering")
                     if kind != type_ and _folded(name) in self._styles.get(kind, {})]  # fmt: skip
            why = f"is a {kinds[0]} style" if kinds else "is not in the document"
            self._warn(f"Style {name[:_SHOWN_CHARACTERS]!r} {why}; {instead} was used.")
            if type_ == "table" and _folded(name) != _folded(instead):
                return self._chosen(type_, instead, instead)
            return None
        return None if _is_default(found) else found.get(_ID)

    @property
    def _styles(self) -> dict[str, dict[str, etree._Element]]:
        """The styles by type and by what their names and ids have in common."""
        if self._known is None:
            part = self._part(RT.STYLES)
            self._known = _by_name(part.element) if part is not None else {}
        return self._known

    def _found(self, type_: StyleType, name: str, depth: int) -> etree._Element | None:
        """Return the document's style of a name, else the template's, which it gets."""
        found = self._styles.get(type_, {}).get(_folded(name))
        return found if found is not None else self._adopted(type_, name, depth)

    def _part(self, kind: str) -> XmlPart | None:
        for relation in self._document.part.rels.values():
            if relation.reltype == kind and not relation.is_external:
                part = relation.target_part
                return part if isinstance(part, XmlPart) else None
        return None

    def _adopted(self, type_: StyleType, name: str, depth: int) -> etree._Element | None:
        """Add a style of the template, and what it is based on; None if the template has none."""
        if self._template is None:
            self._template = _by_name(template_roots()[0])
        model = self._template.get(type_, {}).get(_folded(name))
        if model is None or depth > _MOST_BASES:
            return None
        style = deepcopy(model)
        if _DEFAULT in style.attrib:
            del style.attrib[_DEFAULT]
        style.set(_ID, self._free_id(style.get(_ID, "")))
        for passing in ("link", "rsid"):
            for element in style.findall(f"{W}{passing}"):
                style.remove(element)
        self._set_relative(style, "next", type_)
        self._set_relative(style, "basedOn", type_, depth)
        self._bring_numbering(style)
        if self._is_strict:
            respell(style, is_strict=True)
        self._root().append(style)
        for key in _names(style):
            self._styles.setdefault(type_, {}).setdefault(key, style)
        self._warn(f"Style {_name(style)!r} was not in the document; it was added as Word has it.")
        return style

    def _set_relative(
        self, style: etree._Element, kind: str, type_: StyleType, depth: int | None = None
    ) -> None:
        """Have an added style name the document's own style where it names one of the template.

        With a depth one that is missing is added, too; without, the name goes.
        """
        element = style.find(f"{W}{kind}")
        if element is None or self._template is None:
            return
        model = self._template[type_].get(_folded(element.get(_VALUE, "")))
        found = None
        if model is not None and _is_default(model):
            found = next(filter(_is_default, self._styles.get(type_, {}).values()), None)
        elif model is not None and depth is not None:
            found = self._found(type_, _name(model), depth + 1)
        elif model is not None:
            found = self._styles.get(type_, {}).get(_folded(_name(model)))
        if found is None:
            style.remove(element)
        else:
            element.set(_VALUE, found.get(_ID, ""))

    def _free_id(self, wanted: str) -> str:
        taken = {each.get(_ID) for named in self._styles.values() for each in named.values()}
        found, number = wanted, 0
        while found in taken:
            number += 1
            found = f"{wanted}{number}"
        return found

    def _root(self) -> etree._Element:
        """Return the root of the styles' part, which is made where there is none."""
        return self._made(RT.STYLES, CT.WML_STYLES, "styles")

    def _made(self, kind: str, content_type: str, name: str) -> etree._Element:
        part = self._part(kind)
        if part is not None:
            found: etree._Element = part.element
            return found
        root = parse_xml(f'<w:{name} xmlns:w="{_SPACE}"/>')
        whole = self._document.part.package
        made = XmlPart(PackURI(f"/word/{name}.xml"), content_type, root, whole)
        self._document.part.relate_to(made, kind)
        return root

    def _bring_numbering(self, style: etree._Element) -> None:
        """Give an added list style a list of its own, as the template has it."""
        number = style.find(f"{W}pPr/{W}numPr/{W}numId")
        if number is None:
            return
        lists = template_roots()[1]
        source = _with(lists, "num", "numId", number.get(_VALUE, ""))
        kind = source.find(f"{W}abstractNumId") if source is not None else None
        model = _with(lists, "abstractNum", "abstractNumId", kind.get(_VALUE, "")) if (
            kind is not None
        ) else None  # fmt: skip
        if source is None or model is None:
            return
        root = self._made(RT.NUMBERING, CT.WML_NUMBERING, "numbering")
        abstract, made = deepcopy(model), deepcopy(source)
        abstract_id, made_id = _next(root, "abstractNum"), _next(root, "num")
        abstract.set(f"{W}abstractNumId", abstract_id)
        for link in abstract.iter(f"{W}pStyle"):
            link.set(_VALUE, style.get(_ID, ""))
        if self._is_strict:
            respell(abstract, is_strict=True)
        made.set(f"{W}numId", made_id)
        for element in made.findall(f"{W}abstractNumId"):
            element.set(_VALUE, abstract_id)
        number.set(_VALUE, made_id)
        # All kinds of lists stand before all lists.
        first = root.find(f"{W}num")
        if first is None:
            root.append(abstract)
        else:
            first.addprevious(abstract)
        last = root.findall(f"{W}num")
        if last:
            last[-1].addnext(made)
        else:
            abstract.addnext(made)


def _by_name(root: etree._Element) -> dict[str, dict[str, etree._Element]]:
    """Return styles by type and by names; names go before ids, the first of two goes first."""
    found: dict[str, dict[str, etree._Element]] = {}
    styles = root.findall(f"{W}style")
    for names in (lambda style: [_name(style)], _names):
        for style in styles:
            if style.get(_ID):
                of_type = found.setdefault(style.get(_TYPE, "paragraph"), {})
                for key in names(style):
                    of_type.setdefault(_folded(key), style)
    return found


def _names(style: etree._Element) -> list[str]:
    """Return what a style is called: its id, its name, other names for it."""
    aliases = style.find(f"{W}aliases")
    others = aliases.get(_VALUE, "").split(",") if aliases is not None else []
    return [_folded(each) for each in (style.get(_ID, ""), _name(style), *others)]


def _name(style: etree._Element) -> str:
    element = style.find(f"{W}name")
    named = element.get(_VALUE, "") if element is not None else ""
    return named or style.get(_ID, "")


def _folded(name: str) -> str:
    return "".join(name.split()).casefold()


def _is_default(style: etree._Element) -> bool:
    return style.get(_DEFAULT, "0") in ("1", "true", "on")


def _with(root: etree._Element, tag: str, attribute: str, value: str) -> etree._Element | None:
    return next(
        (each for each in root.iterchildren(f"{W}{tag}") if each.get(f"{W}{attribute}") == value),
        None,
    )


def _next(root: etree._Element, tag: str) -> str:
    """Return the number behind the highest that lists, or kinds of them, have."""
    attribute = f"{W}{'numId' if tag == 'num' else 'abstractNumId'}"
    taken = [each.get(attribute, "") for each in root.iterchildren(f"{W}{tag}")]
    return str(max((int(each) for each in taken if each.isdecimal()), default=0) + 1)
