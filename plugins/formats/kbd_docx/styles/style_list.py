"""Answer of `get_styles`: the formatting of a document in words, and what of it can be copied.

Formatting is told in the words of operations: names, points, inches, #RRGGBB. It is for a model to
read, so it is bounded everywhere; `left_out` says what there is more of.
"""

import re
from collections import Counter
from typing import Any

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.formats import Source
from kbd.formats.styled import Answer
from kbd_docx.document import EMU_PER_INCH, PARAGRAPH, DocxParts, W, open_document
from kbd_docx.styles.pictures import DocumentPicture, pictures
from kbd_docx.styles.properties import TWIPS_PER_POINT, Properties, inches, measure, rounded, twips
from kbd_docx.styles.sections import has_title_page, header_text, headers_footers, page_sections
from kbd_docx.styles.stylesheet import (
    STYLE_TYPES,
    DocxStyleSheet,
    Style,
    StyleFormatting,
    read_lists,
)
from kbd_docx.styles.theme import read_document_theme

__all__ = ["describe_formatting", "get_styles", "page_setup"]


_LIMITS = {
    "paragraph_styles": 80,
    "character_styles": 40,
    "table_styles": 40,
    "numbering_styles": 20,
    "page_setups": 20,
    "headers": 20,
    "footers": 20,
    "images": 60,
    "lists": 20,
    "assets": 300,
}
_SHOWN = 300
"""How many characters of a header's text or an alternative text are shown."""

_NAMED_BY = {"paragraph": "pStyle", "character": "rStyle", "table": "tblStyle"}


def get_styles(source: Source, sheet: str | None) -> dict[str, Any]:
    """Return a document's styles, formatting and assets as plain values.

    Args:
        source: The document.
        sheet: Always None; documents have no sheets.

    Raises:
        FileReadFailed: The file cannot be read.
        ValidationFailed: A sheet is named.
    """
    if sheet is not None:
        raise ValidationFailed("documents have no sheets; leave sheet out")
    with open_document(source) as (package, identity):
        return _Listing(DocxParts(package, identity.part)).build()


class _Listing:
    """Builder of the answer for one document."""

    def __init__(self, document: DocxParts) -> None:
        self._document = document
        self._theme = read_document_theme(document)
        self._sheet = DocxStyleSheet(document.part_root("styles"), self._theme)
        self._lists = read_lists(document)
        self._answer = Answer(_LIMITS)

    def build(self) -> dict[str, Any]:
        """Build the answer."""
        body = self._document.root(self._document.main)
        # Few and nowhere else to be seen first.
        self._add_headers_footers()
        self._add_pictures()
        self._add_pages(body)
        self._add_styles(body)
        self._add_lists(body)
        if self._document.part("theme"):
            self._answer.add_asset("theme", "theme")
        bare = self._sheet.formatting(None, "paragraph")
        defaults = {type_: found.id for type_ in STYLE_TYPES.values()
                    if (found := self._sheet.default(type_))}  # fmt: skip
        return {
            "document_defaults": describe_formatting(bare, has_paragraph=True),
            "default_styles": defaults,
            "theme": {
                "fonts": {
                    "headings": self._theme.fonts.get("major-latin", ""),
                    "body": self._theme.fonts.get("minor-latin", ""),
                },
                "colors": {slot: f"#{value}" for slot, value in self._theme.colors.items()},
            },
            **self._answer.plain(),
        }

    def _add_styles(self, body: etree._Element) -> None:
        """Add the styles, those first that the body uses most."""
        used = _usage(body, self._sheet)
        order = sorted(self._sheet, key=lambda style: -used[style.type, style.id])
        for style in order:
            key = f"{style.type}_styles"
            kind = f"{style.type}_style"
            uses = used[style.type, style.id]
            entry: dict[str, Any] = {"id": style.id, "name": style.name, "used": uses}
            # Working out what a style comes to takes time, so it is done only while there is room.
            if self._answer.room(key):
                entry |= self._describe_style(style)
            if style.type != "paragraph" and style.is_default:
                self._answer.add(key, entry)
                continue
            entry["asset_id"] = f"{kind}:{style.id}"
            if self._answer.add(key, entry):
                self._answer.add_asset(kind, style.id, name=style.name)

    def _describe_style(self, style: Style) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for word, key in (("based_on", "basedOn"), ("next", "next"), ("linked", "link")):
            if style.named(key) and style.named(key) != style.id:
                found[word] = style.named(key)
        if style.is_default:
            found["is_default"] = True
        if style.type == "numbering":
            number, _ = self._sheet.numbering(style)
            return found | {"levels": self._lists.describe_levels(number)}
        formatting = self._sheet.formatting(style, style.type)
        if style.type != "paragraph":
            return found | describe_formatting(formatting, has_paragraph=False)
        number, level = self._sheet.numbering(style)
        if number not in ("", "0"):
            found["list"] = {"id": number, "level": level or "0"}
        return found | describe_formatting(formatting, has_paragraph=True)

    def _add_headers_footers(self) -> None:
        for header in headers_footers(self._document):
            text = header_text(self._document.root(header.part))
            entry: dict[str, Any] = {
                "type": header.type,
                "sections": list(header.sections[:20]),
                "text": text[:_SHOWN],
                "asset_id": f"{header.kind}:{header.name}",
            }
            if not header.is_shown:
                entry["is_shown"] = False
            self._answer.add(f"{header.kind}s", entry)
            self._answer.add_asset(header.kind, header.name, type=header.type)

    def _add_pictures(self) -> None:
        for picture in pictures(self._document):
            entry: dict[str, Any] = {
                "name": picture.name,
                "type": _type_of(self._document, picture),
                "width": round(picture.width / EMU_PER_INCH, 3),
                "height": round(picture.height / EMU_PER_INCH, 3),
                "alt_text": picture.alt_text[:_SHOWN],
                "where": picture.where,
            }
            if picture.is_floating:
                entry["is_floating"] = True
            if picture.is_linked:
                entry["is_linked"] = True
            else:
                entry["asset_id"] = f"image:{picture.name}"
                self._answer.add_asset("image", picture.name, where=picture.where)
            self._answer.add("images", entry)

    def _add_pages(self, body: etree._Element) -> None:
        for index, section in enumerate(page_sections(body)):
            entry = {"section": index, **page_setup(section)}
            if has_title_page(section):
                entry["has_title_page"] = True
            self._answer.add("page_setups", entry | {"asset_id": f"page_setup:section{index}"})
            self._answer.add_asset("page_setup", f"section{index}")

    def _add_lists(self, body: etree._Element) -> None:
        """Add the lists that the body or a style uses."""
        used = Counter(each.get(f"{W}val", "") for each in body.iter(f"{W}numId"))
        values = self._sheet.root.iter(f"{W}numId") if self._sheet.root is not None else ()
        styled = {each.get(f"{W}val", "") for each in values}
        for number in self._lists.numbers:
            if number != "0" and (used[number] or number in styled):
                entry: dict[str, Any] = {"id": number, "used": used[number]}
                if self._answer.room("lists"):
                    entry["levels"] = self._lists.describe_levels(number)
                if self._answer.add("lists", entry | {"asset_id": f"list:{number}"}):
                    self._answer.add_asset("list", number)


def _usage(body: etree._Element, sheet: DocxStyleSheet) -> Counter[tuple[str, str]]:
    """Count how often each style is used in the body, by type and id."""
    used: Counter[tuple[str, str]] = Counter()
    for type_, name in _NAMED_BY.items():
        for element in body.iter(f"{W}{name}"):
            holder = element.getparent()
            owner = holder.getparent() if holder is not None else None
            # A tracked change holds what was; a style in a list's definition is another matter.
            if owner is not None and owner.tag not in (f"{W}pPrChange", f"{W}rPrChange"):
                used[type_, element.get(f"{W}val", "")] += 1
    default = sheet.default("paragraph")
    if default is not None:
        named = sum(count for (type_, _), count in used.items() if type_ == "paragraph")
        paragraphs = sum(1 for _ in body.iter(PARAGRAPH))
        used["paragraph", default.id] += max(0, paragraphs - named)
    return used


def _type_of(document: DocxParts, picture: DocumentPicture) -> str:
    """Return the type of a picture: "image/png"."""
    return "" if picture.is_linked else document.parts.content_type(picture.relation.target)


_HEX = re.compile(r"[0-9A-Fa-f]{6}")
_ALIGNMENTS = {"left": "left", "center": "center", "right": "right", "both": "justify",
               "distribute": "distribute"}  # fmt: skip
_EFFECTS = {"caps": "all_caps", "smallCaps": "small_caps", "strike": "strike", "vanish": "hidden"}
_PARAGRAPH_SWITCHES = {
    "keepNext": "keep_with_next",
    "keepLines": "keep_lines_together",
    "pageBreakBefore": "page_break_before",
}
_LINE = 240
"""A line's height where it is told as a share of the font's."""

_SHOWN_NAME_CHARS = 100
"""How many characters of a font's name or another word are shown."""


def describe_formatting(formatting: StyleFormatting, *, has_paragraph: bool) -> dict[str, Any]:
    """Describe formatting in words.

    Args:
        formatting: What is described.
        has_paragraph: Whether what paragraphs come to belongs to it.
    """
    return _run_words(formatting.run) | (
        _paragraph_words(formatting.paragraph) if has_paragraph else {}
    )


def page_setup(section: etree._Element) -> dict[str, Any]:
    """Return the size, orientation, margins (in inches) and columns of a section (sectPr)."""
    found: dict[str, Any] = {}
    size = section.find(f"{W}pgSz")
    if size is not None:
        for key, name in (("width", "w"), ("height", "h")):
            if (length := inches(size.get(f"{W}{name}"))) is not None:
                found[key] = length
        is_wide = found.get("width", 0) > found.get("height", 0)
        found["orientation"] = size.get(f"{W}orient") or ("landscape" if is_wide else "portrait")
    margins = section.find(f"{W}pgMar")
    if margins is not None:
        names = ("top", "bottom", "left", "right", "header", "footer", "gutter")
        values = {name: inches(margins.get(f"{W}{name}")) for name in names}
        found["margins"] = {name: value for name, value in values.items() if value is not None}
    columns = section.find(f"{W}cols")
    if columns is not None and measure(columns.get(f"{W}num", "")) not in (None, 1):
        found["columns"] = int(measure(columns.get(f"{W}num", "")) or 1)
    return found


def _run_words(run: Properties) -> dict[str, Any]:
    found: dict[str, Any] = {}
    font = _text(run, "rFonts/ascii") or _text(run, "rFonts/hAnsi")
    if font:
        found["font_name"] = font[:_SHOWN_NAME_CHARS]
    size = measure(_text(run, "sz"))
    if size is not None:
        found["font_size"] = size / 2
    for key, word in (("b", "bold"), ("i", "italic")):
        if key in run:
            found[word] = _text(run, key) == "1"
    if "u" in run:
        found["underline"] = _text(run, "u") not in ("none", "")
    if _HEX.fullmatch(_text(run, "color")):
        found["font_color"] = f"#{_text(run, 'color').upper()}"
    if _text(run, "highlight") not in ("", "none"):
        found["highlight_color"] = _text(run, "highlight")[:_SHOWN_NAME_CHARS]
    fill = dict(run.get("shd", ())).get("fill", "")
    if _HEX.fullmatch(fill):
        found["fill_color"] = f"#{fill.upper()}"
    found |= {word: True for key, word in _EFFECTS.items() if _text(run, key) == "1"}
    if _text(run, "vertAlign") in ("superscript", "subscript"):
        found[_text(run, "vertAlign")] = True
    return found


def _paragraph_words(paragraph: Properties) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if _text(paragraph, "jc") in _ALIGNMENTS:
        found["alignment"] = _ALIGNMENTS[_text(paragraph, "jc")]
    for key, word in (("spacing/before", "space_before"), ("spacing/after", "space_after")):
        space = twips(_text(paragraph, key))
        if space is not None:
            found[word] = rounded(space / TWIPS_PER_POINT)
    found |= _line_words(paragraph)
    for key, word in (
        ("ind/left", "indent_left"),
        ("ind/right", "indent_right"),
        ("ind/firstLine", "indent_first_line"),
    ):
        length = inches(_text(paragraph, key))
        if length:
            found[word] = length
    level = measure(_text(paragraph, "outlineLvl"))
    # Counted from 0; 9 says that it is body text.
    if level is not None and 0 <= level < 9:
        found["outline_level"] = int(level) + 1
    for key, word in _PARAGRAPH_SWITCHES.items():
        if _text(paragraph, key) == "1":
            found[word] = True
    fill = dict(paragraph.get("shd", ())).get("fill", "")
    if _HEX.fullmatch(fill):
        found["paragraph_fill_color"] = f"#{fill.upper()}"
    sides = [key.partition("/")[2] for key, value in paragraph.items() if key.startswith("pBdr/")
             and dict(value).get("val") not in ("nil", "none")]  # fmt: skip
    return found | ({"borders": sorted(sides)} if sides else {})


def _line_words(paragraph: Properties) -> dict[str, Any]:
    """Return how far lines are apart: as a multiple, or in points where it is a length."""
    line = twips(_text(paragraph, "spacing/line"))
    if line is None:
        return {}
    match _text(paragraph, "spacing/lineRule"):
        case "exact":
            return {"line_spacing_exactly_pt": rounded(line / TWIPS_PER_POINT)}
        case "atLeast":
            return {"line_spacing_at_least_pt": rounded(line / TWIPS_PER_POINT)}
        case _:
            return {"line_spacing": rounded(line / _LINE)}


def _text(properties: Properties, key: str) -> str:
    """Return a property's value, "" if it is not said."""
    value = dict(properties.get(key, ()))
    return value.get("val", value.get("", ""))
