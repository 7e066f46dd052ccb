"""Lists: paragraphs made items of one, with levels (ECMA-376, part 1, 17.9).

An item of a kind goes on with the list right before it. Else a list begins, as those of the
document look that have the same kind of labels at its level; where there is none, as defined here.
A numbered list that begins counts from one by an override of its own, since lists of one definition
count on together (17.9.26).
"""

from collections.abc import Mapping

from docx.opc.constants import CONTENT_TYPE as CT
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.oxml.parser import parse_xml
from lxml import etree

from kbd.errors import ValidationFailed
from kbd_docx.document import PARAGRAPH, VAL, W
from kbd_docx.edits.formatting import DocxStyles
from kbd_docx.edits.library_parts import LibraryParts
from kbd_docx.edits.texts import apply_variant
from kbd_docx.operations import ListKind, ParagraphFields
from kbd_docx.styles.properties import ensure_child
from kbd_docx.styles.stylesheet import value_of

__all__ = ["ListWriter"]

_SPACE = W.strip("{}")
_EMPTY = f'<w:numbering xmlns:w="{_SPACE}"/>'.encode()
_LEVELS = 9
_INDENT_TWIPS, _HANGING_TWIPS = 720, 360
_FORMATS = ("decimal", "lowerLetter", "lowerRoman")
_BULLETS = "•◦▪"
_SIGNATURES: Mapping[ListKind, str] = {"bullet": "5A1D0B01", "number": "5A1D0B02"}
"""What the definitions that are made here are known by (`nsid`, 17.9.14)."""


class ListWriter:
    """Makes paragraphs of one document items of its lists.

    Args:
        parts: Its parts.
        styles: Its styles.
        is_strict: Whether it is of the strict variant.
        body: Its body.
    """

    def __init__(
        self, parts: LibraryParts, styles: DocxStyles, body: etree._Element, *, is_strict: bool
    ) -> None:
        self._parts, self._styles, self._body = parts, styles, body
        self._is_strict = is_strict

    def apply(
        self, paragraph: etree._Element, given: ParagraphFields, before: etree._Element | None
    ) -> None:
        """Make a paragraph an item if it is given as one.

        Args:
            paragraph: The paragraph, whose style and text are set.
            given: What it is made of.
            before: The block right before it.

        Raises:
            ValidationFailed: It has a level, or a restart, and no list.
        """
        if given.list is None:
            if given.level is not None or given.restart:
                raise ValidationFailed("level and restart need list: bullet or number")
            return
        level = given.level or 0
        number = "" if given.restart else self._number_before(before, given.list, level)
        number = number or self._begin(given.list, level)
        settings = ensure_child(paragraph, "pPr")
        if settings.find(f"{W}pStyle") is None and (
            style := self._styles.known("paragraph", "List Paragraph")
        ):
            ensure_child(settings, "pStyle").set(VAL, style)
        listed = ensure_child(settings, "numPr")
        ensure_child(listed, "ilvl").set(VAL, str(level))
        ensure_child(listed, "numId").set(VAL, number)

    def _number_before(self, block: etree._Element | None, kind: ListKind, level: int) -> str:
        """Return the number of the list that the items right before are of, "" if of none."""
        while block is not None and block.tag == PARAGRAPH:
            listed = block.find(f"{W}pPr/{W}numPr")
            number = "" if listed is None else value_of(listed, "numId")
            if listed is None or number == "0":
                return ""
            at = value_of(listed, "ilvl") or "0"
            if self._kind(number, level) == kind and self._kind(number, int(at)) is not None:
                return number
            # Items of another kind below it do not end a list.
            if not at.isdecimal() or int(at) <= level:
                return ""
            block = block.getprevious()
        return ""

    def _begin(self, kind: ListKind, level: int) -> str:
        """Begin a list and return its number."""
        root = self._root()
        abstract = self._like(root, kind, level)
        if abstract is None:
            abstract = self._own(root, kind)
        key = abstract.get(f"{W}abstractNumId", "")
        if kind == "bullet":
            for each in root.iterchildren(f"{W}num"):
                if value_of(each, "abstractNumId") == key and each.find(f"{W}lvlOverride") is None:
                    return each.get(f"{W}numId", "")
        number = str(_highest(root, "num", "numId") + 1)
        made = root.makeelement(f"{W}num", {f"{W}numId": number})
        etree.SubElement(made, f"{W}abstractNumId", {VAL: key})
        if kind == "number":
            override = etree.SubElement(made, f"{W}lvlOverride", {f"{W}ilvl": str(level)})
            etree.SubElement(override, f"{W}startOverride", {VAL: "1"})
        last = root.findall(f"{W}num") or root.findall(f"{W}abstractNum")
        last[-1].addnext(made)
        return number

    def _like(self, root: etree._Element, kind: ListKind, level: int) -> etree._Element | None:
        """Return the definition of a list of the body with the same kind of labels."""
        used = dict.fromkeys(
            each.get(VAL, "") for each in self._body.iter(f"{W}numId") if each.get(VAL) != "0"
        )
        for number in used:
            abstract = self._abstract(root, number)
            if abstract is None or self._kind(number, level) != kind:
                continue
            # The levels of headings number headings.
            if not any(each.find(f"{W}pStyle") is not None for each in abstract.iter(f"{W}lvl")):
                return abstract
        return None

    def _kind(self, number: str, level: int) -> ListKind | None:
        """Return what kind of labels a list has at a level, None if it has none."""
        abstract = self._abstract(self._root(), number)
        for each in abstract.iterchildren(f"{W}lvl") if abstract is not None else ():
            if each.get(f"{W}ilvl") == str(level):
                form = value_of(each, "numFmt") or "decimal"
                kinds: dict[str, ListKind | None] = {"bullet": "bullet", "none": None}
                return kinds.get(form, "number")
        return None

    def _abstract(self, root: etree._Element, number: str) -> etree._Element | None:
        for each in root.iterchildren(f"{W}num"):
            if each.get(f"{W}numId") == number:
                key = value_of(each, "abstractNumId")
                return next(
                    (
                        found
                        for found in root.iterchildren(f"{W}abstractNum")
                        if found.get(f"{W}abstractNumId") == key
                    ),
                    None,
                )
        return None

    def _own(self, root: etree._Element, kind: ListKind) -> etree._Element:
        """Return the definition that is made here, added if the document does not have it."""
        for each in root.iterchildren(f"{W}abstractNum"):
            if value_of(each, "nsid") == _SIGNATURES[kind]:
                return each
        key = str(_highest(root, "abstractNum", "abstractNumId") + 1)
        made: etree._Element = parse_xml(_definition(kind, key))
        if self._is_strict:
            apply_variant(made, is_strict=True)
        first = root.find(f"{W}num")
        # All definitions stand before all lists (CT_Numbering).
        if first is None:
            root.append(made)
        else:
            first.addprevious(made)
        return made

    def _root(self) -> etree._Element:
        found = self._parts.root(RT.NUMBERING)
        if found is None:
            found = parse_xml(_EMPTY)
            self._parts.add(RT.NUMBERING, CT.WML_NUMBERING, "numbering", found)
        return found


def _definition(kind: ListKind, key: str) -> str:
    levels = "".join(
        f'<w:lvl w:ilvl="{level}"><w:start w:val="1"/>'
        f'<w:numFmt w:val="{"bullet" if kind == "bullet" else _FORMATS[level % 3]}"/>'
        f'<w:lvlText w:val="{_BULLETS[level % 3] if kind == "bullet" else f"%{level + 1}."}"/>'
        f'<w:lvlJc w:val="left"/><w:pPr><w:ind w:left="{_INDENT_TWIPS * (level + 1)}" '
        f'w:hanging="{_HANGING_TWIPS}"/></w:pPr></w:lvl>'
        for level in range(_LEVELS)
    )
    return (
        f'<w:abstractNum xmlns:w="{_SPACE}" w:abstractNumId="{key}">'
        f'<w:nsid w:val="{_SIGNATURES[kind]}"/><w:multiLevelType w:val="hybridMultilevel"/>'
        f"{levels}</w:abstractNum>"
    )


def _highest(root: etree._Element, tag: str, name: str) -> int:
    taken = [each.get(f"{W}{name}", "") for each in root.iterchildren(f"{W}{tag}")]
    return max((int(each) for each in taken if each.isdecimal()), default=0)
