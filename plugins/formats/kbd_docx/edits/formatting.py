"""Formatting as operations give it: of runs and paragraphs, in Word's own words, and by styles.

A style is found by id or name, or taken over from the default template: Word lists many styles that
a file does not hold until they are used ("List Bullet", "Table Grid"). One of these that the
default template of new documents has is added from there, with its numbering; the reader is told.
One that neither has is an error that names those like it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from difflib import SequenceMatcher, get_close_matches
from typing import Any, Literal

import msgspec
from docx.document import Document
from docx.enum.text import WD_COLOR_INDEX, WD_PARAGRAPH_ALIGNMENT, WD_UNDERLINE
from docx.opc.constants import CONTENT_TYPE as CT
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.packuri import PackURI
from docx.opc.part import XmlPart
from docx.oxml.parser import parse_xml
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.formatting import (
    COLOR,
    FLAG,
    FormattingField,
    choice,
    folded,
    font_name,
    number,
    parse_color,
    read_formatting,
    read_runs,
    underline,
)
from kbd_docx.document import W
from kbd_docx.edits.blank import template_roots
from kbd_docx.edits.texts import apply_variant
from kbd_docx.operations import CellLookFields, FormatParagraphs, ParagraphFields, ParagraphLook

__all__ = [
    "ALIGNMENTS",
    "NO_HIGHLIGHT",
    "NO_SHADING",
    "DocxCellFormatting",
    "DocxParagraphFormatting",
    "DocxRunFormatting",
    "DocxStyles",
    "StyleType",
    "read_alignment",
    "read_cell",
    "read_paragraph",
    "read_run_look",
    "read_text_runs",
]


MAX_FONT_NAME_CHARACTERS = 31
MAX_FONT_SIZE = 1638
MAX_SPACE_POINTS = 1584
MAX_LINES = 10
"""Beyond it points were meant, which `line_spacing` does not take."""
MAX_INDENT_INCHES = 22
"""These are the limits of Word's dialogs."""

ALIGNMENTS = {
    "left": WD_PARAGRAPH_ALIGNMENT.LEFT,
    "center": WD_PARAGRAPH_ALIGNMENT.CENTER,
    "right": WD_PARAGRAPH_ALIGNMENT.RIGHT,
    "justify": WD_PARAGRAPH_ALIGNMENT.JUSTIFY,
    "distribute": WD_PARAGRAPH_ALIGNMENT.DISTRIBUTE,
}

_HIGHLIGHTS = {
    "black": (WD_COLOR_INDEX.BLACK, 0x000000),
    "blue": (WD_COLOR_INDEX.BLUE, 0x0000FF),
    "cyan": (WD_COLOR_INDEX.TURQUOISE, 0x00FFFF),
    "green": (WD_COLOR_INDEX.BRIGHT_GREEN, 0x00FF00),
    "magenta": (WD_COLOR_INDEX.PINK, 0xFF00FF),
    "red": (WD_COLOR_INDEX.RED, 0xFF0000),
    "yellow": (WD_COLOR_INDEX.YELLOW, 0xFFFF00),
    "white": (WD_COLOR_INDEX.WHITE, 0xFFFFFF),
    "darkblue": (WD_COLOR_INDEX.DARK_BLUE, 0x000080),
    "darkcyan": (WD_COLOR_INDEX.TEAL, 0x008080),
    "darkgreen": (WD_COLOR_INDEX.GREEN, 0x008000),
    "darkmagenta": (WD_COLOR_INDEX.VIOLET, 0x800080),
    "darkred": (WD_COLOR_INDEX.DARK_RED, 0x800000),
    "darkyellow": (WD_COLOR_INDEX.DARK_YELLOW, 0x808000),
    "darkgray": (WD_COLOR_INDEX.GRAY_50, 0x808080),
    "lightgray": (WD_COLOR_INDEX.GRAY_25, 0xC0C0C0),
}
"""The colors that a marker has, by their names in files, with what they look like (ECMA-376,
part 1, 17.18.40)."""

_HIGHLIGHT_ALIASES = {
    "turquoise": "cyan", "brightgreen": "green", "pink": "magenta", "fuchsia": "magenta",
    "lime": "green", "aqua": "cyan", "teal": "darkcyan", "violet": "darkmagenta",
    "purple": "darkmagenta", "navy": "darkblue", "maroon": "darkred", "olive": "darkyellow",
    "gray50": "darkgray", "gray25": "lightgray", "gray": "darkgray", "silver": "lightgray",
}  # fmt: skip


NO_HIGHLIGHT = WD_COLOR_INDEX.INHERITED
"""Takes a marker's color away."""

NO_SHADING = "none"
"""Takes the color behind a cell away."""


class DocxRunFormatting(msgspec.Struct, frozen=True):
    """Formatting of a run; None leaves it to the style. Sizes are in points.

    A highlight is "none", the name of a marker, or RRGGBB, for which the nearest is taken.
    """

    font_name: str | None = None
    font_size: float | None = None
    bold: bool | None = None
    italic: bool | None = None
    underline: WD_UNDERLINE | None = None
    font_color: str | None = None
    highlight_color: WD_COLOR_INDEX | None = None


class DocxParagraphFormatting(msgspec.Struct, frozen=True):
    """Formatting of a paragraph; None leaves it to the style.

    Spaces are in points, `line_spacing` in lines, indents in inches.
    """

    alignment: WD_PARAGRAPH_ALIGNMENT | None = None
    space_before: float | None = None
    space_after: float | None = None
    line_spacing: float | None = None
    indent_left: float | None = None
    indent_right: float | None = None
    indent_first_line: float | None = None


class DocxCellFormatting(msgspec.Struct, frozen=True):
    """Formatting of a cell and of all text in it; None leaves it as it is.

    The shading is "none" or RRGGBB, the size in points.
    """

    alignment: WD_PARAGRAPH_ALIGNMENT | None = None
    vertical_alignment: str | None = None
    shading: str | None = None
    bold: bool | None = None
    italic: bool | None = None
    font_size: float | None = None
    font_color: str | None = None


def read_text_runs(
    runs: Sequence[Mapping[str, Any]], warn: Callable[[str], None]
) -> Iterator[tuple[str, DocxRunFormatting]]:
    """Return the text and the formatting of runs; what is wrong is skipped and warned of.

    Raises:
        ValidationFailed: A run has no text.
    """
    for text, found in read_runs(runs, _RUN_FIELDS, warn):
        if "highlight_color" in found:
            found["highlight_color"] = _nearest_highlight(found["highlight_color"], warn)
        yield text, DocxRunFormatting(**found)


def read_paragraph(
    paragraph: ParagraphFields | ParagraphLook, warn: Callable[[str], None]
) -> DocxParagraphFormatting:
    """Return the formatting of a paragraph; what is wrong is skipped and warned of."""
    named = _named(paragraph, _PARAGRAPH_FIELDS)
    return DocxParagraphFormatting(**read_formatting(named, _PARAGRAPH_FIELDS, warn))


def read_run_look(look: FormatParagraphs, warn: Callable[[str], None]) -> DocxRunFormatting:
    """Return the formatting of all text of a paragraph; what is wrong is skipped and warned of."""
    found = read_formatting(_named(look, _RUN_FIELDS), _RUN_FIELDS, warn)
    if "highlight_color" in found:
        found["highlight_color"] = _nearest_highlight(found["highlight_color"], warn)
    return DocxRunFormatting(**found)


def read_cell(
    look: CellLookFields, warn: Callable[[str], None], where: str = ""
) -> DocxCellFormatting:
    """Return the formatting of a cell; what is wrong is skipped and warned of."""
    named = _named(look, _CELL_FIELDS)
    return DocxCellFormatting(**read_formatting(named, _CELL_FIELDS, warn, where))


def read_alignment(value: Any, warn: Callable[[str], None], where: str) -> DocxCellFormatting:
    """Return the formatting of cells that are aligned; what is wrong is skipped and warned of."""
    field = {where: _CELL_FIELDS["alignment"]}
    return DocxCellFormatting(alignment=read_formatting({where: value}, field, warn).get(where))


def _named(record: msgspec.Struct, fields: Mapping[str, FormattingField]) -> dict[str, Any]:
    given = msgspec.structs.asdict(record)
    return {key: given[key] for key in fields}


def _parse_highlight(value: Any) -> str | None:
    name = folded(value)
    name = _HIGHLIGHT_ALIASES.get(name, name)
    return name if name == "none" or name in _HIGHLIGHTS else parse_color(value)


def _nearest_highlight(name: str, warn: Callable[[str], None]) -> WD_COLOR_INDEX:
    """Return the marker of a name, or the one nearest to RRGGBB."""
    if name == "none":
        return NO_HIGHLIGHT
    if name in _HIGHLIGHTS:
        return _HIGHLIGHTS[name][0]
    wanted = int(name, 16)
    nearest = min(_HIGHLIGHTS, key=lambda each: _distance(_HIGHLIGHTS[each][1], wanted))
    if _HIGHLIGHTS[nearest][1] != wanted:
        warn(f"highlight_color #{name} is none that a marker has; {nearest} is the nearest")
    return _HIGHLIGHTS[nearest][0]


def _distance(one: int, other: int) -> int:
    """Return how far two colors are apart, as the square of the way between them."""
    return sum(((one >> bits & 255) - (other >> bits & 255)) ** 2 for bits in (0, 8, 16))


_RUN_FIELDS: Mapping[str, FormattingField] = {
    "font_name": font_name(MAX_FONT_NAME_CHARACTERS),
    "font_size": number(1, MAX_FONT_SIZE, "pt"),
    "bold": FLAG,
    "italic": FLAG,
    "underline": underline({
        member.xml_value: member for member in WD_UNDERLINE if member.xml_value
    }),
    "font_color": COLOR,
    "highlight_color": FormattingField(_parse_highlight, "none, #RRGGBB or a color's name"),
}  # fmt: skip

_SPACE = number(0, MAX_SPACE_POINTS, "pt")
_INDENT = number(-MAX_INDENT_INCHES, MAX_INDENT_INCHES, "in")
_PARAGRAPH_FIELDS: Mapping[str, FormattingField] = {
    "alignment": choice(ALIGNMENTS),
    "space_before": _SPACE,
    "space_after": _SPACE,
    "line_spacing": number(0.06, MAX_LINES),  # the least that Word's dialog takes
    "indent_left": _INDENT,
    "indent_right": _INDENT,
    "indent_first_line": _INDENT,
}


def _parse_shading(value: Any) -> str | None:
    return NO_SHADING if folded(value) == "none" else parse_color(value)


_CELL_FIELDS: Mapping[str, FormattingField] = {
    "alignment": choice(ALIGNMENTS),
    "vertical_alignment": choice({"top": "top", "center": "center", "bottom": "bottom"}),
    "shading": FormattingField(_parse_shading, "none, #RRGGBB or a color's name"),
    "bold": FLAG,
    "italic": FLAG,
    "font_size": number(1, MAX_FONT_SIZE, "pt"),
    "font_color": COLOR,
}


StyleType = Literal["paragraph", "table"]

_TYPE, _ID, _DEFAULT, _VALUE = f"{W}type", f"{W}styleId", f"{W}default", f"{W}val"
_W_NAMESPACE = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
_MAX_BASES = 12
_SHOWN_CHARACTERS = 60
_NEAR = 4
_ALIKE = 0.5
"""How much two names have in common, of 1, to be near each other."""


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
        """Return the id of the paragraph style that is meant, None for the default one.

        Raises:
            ValidationFailed: There is none of that name.
        """
        return self._style_id("paragraph", name) if name and name.strip() else None

    def table(self, name: str | None) -> str | None:
        """Return the id of the table style that is meant; Table Grid if none is.

        Raises:
            ValidationFailed: There is none of that name.
        """
        return self._style_id("table", name if name and name.strip() else "Table Grid")

    def has_header_look(self, style: str | None) -> bool:
        """Tell whether a table style, or one that it is based on, has a look for first rows."""
        by_id = {each.get(_ID): each for each in self._styles.get("table", {}).values()}
        for _ in range(_MAX_BASES):
            found = by_id.get(style or "")
            if found is None:
                return False
            parts = found.findall(f"{W}tblStylePr")
            if any(each.get(_TYPE) == "firstRow" and len(each) for each in parts):
                return True
            base = found.find(f"{W}basedOn")
            style = base.get(_VALUE) if base is not None else None
        return False

    def known(self, type_: str, name: str) -> str:
        """Return the id of a style of any type that the document has, "" if it has none."""
        found = self._styles.get(type_, {}).get(_folded(name))
        return "" if found is None else found.get(_ID, "")

    def add(self, type_: str, style: etree._Element) -> None:
        """Add a style whose id and names the document does not have."""
        if self._is_strict:
            apply_variant(style, is_strict=True)
        self._root().append(style)
        for key in _names(style):
            self._styles.setdefault(type_, {}).setdefault(key, style)

    def free_id(self, wanted: str) -> str:
        """Return an id that no style has and no text names, the wanted one if it is free.

        A style that is named and not defined would begin to look like something.
        """
        found, number = self._free_id(wanted), 0
        while self._is_named(found):
            number += 1
            found = self._free_id(f"{wanted}{number}")
        return found

    def _is_named(self, id_: str) -> bool:
        main = self._document.part
        parts = [each.target_part for each in main.rels.values() if not each.is_external]
        for part in (main, *parts):
            if isinstance(part, XmlPart):
                names = part.element.iter(f"{W}pStyle", f"{W}rStyle")
                if any(each.get(_VALUE) == id_ for each in names):
                    return True
            elif f'"{id_}"'.encode() in part.blob:
                return True
        return False

    def _style_id(self, type_: StyleType, name: str) -> str | None:
        found = self._find_or_add(type_, name, 0)
        if found is None:
            raise ValidationFailed(self._missing(type_, name))
        # A paragraph that names no style has the default one.
        return None if _is_default(found) else found.get(_ID)

    def _missing(self, type_: StyleType, name: str) -> str:
        """Say that there is no such style, and which ones have names like it."""
        shown = name[:_SHOWN_CHARACTERS]
        kinds = [kind for kind in ("character", "table", "paragraph", "numbering")
                 if kind != type_ and _folded(name) in self._styles.get(kind, {})]  # fmt: skip
        why = f"; it is a {kinds[0]} style" if kinds else ""
        offered: dict[str, str] = {}
        for styles in (self._styles, self._template or {}):
            for style in styles.get(type_, {}).values():
                offered.setdefault(_folded(_name(style)), _name(style))
        wanted = _folded(shown)
        near = get_close_matches(wanted, offered, n=_NEAR**2, cutoff=_ALIKE)
        # Of names that are equally near the first by the alphabet: heading 1, not heading 9.
        near.sort(key=lambda each: (-SequenceMatcher(None, each, wanted).ratio(), each))
        names = [offered[each] for each in near[:_NEAR]]
        hint = f"near: {', '.join(names)}" if names else "get_styles lists those of the document"
        return f"there is no {type_} style {shown!r}{why}; {hint}"

    @property
    def _styles(self) -> dict[str, dict[str, etree._Element]]:
        """The styles by type and by what their names and ids have in common."""
        if self._known is None:
            part = self._part(RT.STYLES)
            self._known = _by_name(part.element) if part is not None else {}
        return self._known

    def _find_or_add(self, type_: StyleType, name: str, depth: int) -> etree._Element | None:
        """Return the document's style of a name, else the template's, which it gets."""
        found = self._styles.get(type_, {}).get(_folded(name))
        return found if found is not None else self._add_from_template(type_, name, depth)

    def _part(self, kind: str) -> XmlPart | None:
        for relation in self._document.part.rels.values():
            if relation.reltype == kind and not relation.is_external:
                part = relation.target_part
                return part if isinstance(part, XmlPart) else None
        return None

    def _add_from_template(self, type_: StyleType, name: str, depth: int) -> etree._Element | None:
        """Add a style of the template, and what it is based on; None if the template has none."""
        if self._template is None:
            self._template = _by_name(template_roots()[0])
        model = self._template.get(type_, {}).get(_folded(name))
        if model is None or depth > _MAX_BASES:
            return None
        style = deepcopy(model)
        if _DEFAULT in style.attrib:
            # The document has a default style of its own.
            del style.attrib[_DEFAULT]
        style.set(_ID, self._free_id(style.get(_ID, "")))
        # The style's other half does not come along, and the editing session is not the document's.
        for passing in ("link", "rsid"):
            for element in style.findall(f"{W}{passing}"):
                style.remove(element)
        self._relink(style, "next", type_)
        self._relink(style, "basedOn", type_, depth)
        self._copy_numbering(style)
        if self._is_strict:
            apply_variant(style, is_strict=True)
        self._root().append(style)
        for key in _names(style):
            self._styles.setdefault(type_, {}).setdefault(key, style)
        self._warn(f"Style {_name(style)!r} was not in the document; it was added as Word has it.")
        return style

    def _relink(
        self, style: etree._Element, kind: str, type_: StyleType, depth: int | None = None
    ) -> None:
        """Relink an added style from a style of the template to the document's own one.

        With a depth one that is missing is added, too; without, the name goes.
        """
        element = style.find(f"{W}{kind}")
        if element is None or self._template is None:
            return
        model = self._template[type_].get(_folded(element.get(_VALUE, "")))
        found = None
        if model is not None and _is_default(model):
            # The document's default stands for that of the template, whatever its id.
            found = next(filter(_is_default, self._styles.get(type_, {}).values()), None)
        elif model is not None and depth is not None:
            found = self._find_or_add(type_, _name(model), depth + 1)
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
        return self._ensure_part(RT.STYLES, CT.WML_STYLES, "styles")

    def _ensure_part(self, kind: str, content_type: str, name: str) -> etree._Element:
        part = self._part(kind)
        if part is not None:
            found: etree._Element = part.element
            return found
        root = parse_xml(f'<w:{name} xmlns:w="{_W_NAMESPACE}"/>')
        whole = self._document.part.package
        made = XmlPart(PackURI(f"/word/{name}.xml"), content_type, root, whole)
        self._document.part.relate_to(made, kind)
        return root

    def _copy_numbering(self, style: etree._Element) -> None:
        """Copy the template's list for an added list style."""
        number = style.find(f"{W}pPr/{W}numPr/{W}numId")
        if number is None:
            return
        lists = template_roots()[1]
        source = _child_with(lists, "num", "numId", number.get(_VALUE, ""))
        kind = source.find(f"{W}abstractNumId") if source is not None else None
        model = _child_with(lists, "abstractNum", "abstractNumId", kind.get(_VALUE, "")) if (
            kind is not None
        ) else None  # fmt: skip
        if source is None or model is None:
            return
        root = self._ensure_part(RT.NUMBERING, CT.WML_NUMBERING, "numbering")
        abstract, made = deepcopy(model), deepcopy(source)
        abstract_id, made_id = _next_id(root, "abstractNum"), _next_id(root, "num")
        abstract.set(f"{W}abstractNumId", abstract_id)
        # The levels name the template's style, whose copy may have got another id.
        for link in abstract.iter(f"{W}pStyle"):
            link.set(_VALUE, style.get(_ID, ""))
        if self._is_strict:
            apply_variant(abstract, is_strict=True)
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


def _child_with(
    root: etree._Element, tag: str, attribute: str, value: str
) -> etree._Element | None:
    return next(
        (each for each in root.iterchildren(f"{W}{tag}") if each.get(f"{W}{attribute}") == value),
        None,
    )


def _next_id(root: etree._Element, tag: str) -> str:
    """Return the number behind the highest that lists, or kinds of them, have."""
    attribute = f"{W}{'numId' if tag == 'num' else 'abstractNumId'}"
    taken = [each.get(attribute, "") for each in root.iterchildren(f"{W}{tag}")]
    return str(max((int(each) for each in taken if each.isdecimal()), default=0) + 1)
