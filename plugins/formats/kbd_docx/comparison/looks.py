"""Looks of runs and paragraphs by the words that people have for them, in plain values.

Sizes and spaces are in points, indents in inches, colors as #RRGGBB.
"""

from collections.abc import Mapping
from typing import Any

from lxml import etree

from kbd.opc.element_names import local_name
from kbd_docx.comparison.contents import Look, look_of
from kbd_docx.comparison.digests import element_digest
from kbd_docx.document import W
from kbd_docx.styles.properties import (
    TWIPS_PER_POINT,
    Kind,
    Properties,
    inches,
    measure,
    read_properties,
    rounded,
    twips,
)
from kbd_docx.styles.stylesheet import DocxStyleSheet, ListDefinitions, StyleType, value_of

__all__ = ["LookDifference", "Looks", "attributes_text", "look_difference"]

LookDifference = dict[str, tuple[Any, Any]]
"""What differs, by name: before and after."""

_NAMES: Mapping[str, str] = {
    "b": "bold", "i": "italic", "u": "underline", "strike": "strikethrough",
    "dstrike": "double_strikethrough", "caps": "all_caps", "smallCaps": "small_caps",
    "vanish": "hidden", "color": "color", "sz": "size", "highlight": "highlight", "shd": "shading",
    "vertAlign": "vertical_alignment", "rFonts/ascii": "font", "rFonts/hAnsi": "font_high_ansi",
    "rFonts/eastAsia": "font_east_asian", "rFonts/cs": "font_complex", "bCs": "bold_complex",
    "iCs": "italic_complex", "szCs": "size_complex", "spacing": "character_spacing",
    "jc": "alignment", "spacing/before": "space_before", "spacing/after": "space_after",
    "spacing/line": "line_spacing", "spacing/lineRule": "line_rule", "ind/left": "indent_left",
    "ind/right": "indent_right", "ind/firstLine": "indent_first_line", "keepNext": "keep_with_next",
    "keepLines": "keep_together", "pageBreakBefore": "page_break_before",
    "widowControl": "widow_control", "outlineLvl": "outline_level", "lang": "language",
    "bidi": "right_to_left", "rtl": "right_to_left",
}  # fmt: skip
_SECONDARY = {
    "font_high_ansi": "font", "font_east_asian": "font", "font_complex": "font",
    "bold_complex": "bold", "italic_complex": "italic", "size_complex": "size",
}  # fmt: skip
"""Twins of a property for other scripts; programs write both, and people see one."""

_OFF_BY_DEFAULT = frozenset((
    "bold", "italic", "strikethrough", "double_strikethrough", "all_caps", "small_caps", "hidden",
    "keep_with_next", "keep_together", "page_break_before",
))  # fmt: skip

_POINTS = ("spacing/before", "spacing/after", "spacing", "position")
_FLAG_VALUES = {"0": False, "1": True}
_NOT_LOOK = frozenset((
    "pStyle", "rStyle", "rPr", "sectPr", "pPrChange", "rPrChange", "numPr", "noProof", "cnfStyle",
    "divId", "ins", "del", "moveFrom", "moveTo",
))  # fmt: skip
_CHANGES = ("ins", "del", "moveFrom", "moveTo")
_KNOWN_IGNORED = ("lang", "eastAsianLayout", "fitText")
"""What `read_properties` passes over, and a comparison does not."""

_MAX_CACHED = 20_000
_LINE_UNITS = 240

_FlatKey = tuple[tuple[str, tuple[tuple[str, str], ...]], ...]


class Looks:
    """Reader of the formatting of one document.

    Args:
        sheet: Its styles.
        lists: Its lists.
    """

    def __init__(self, sheet: DocxStyleSheet, lists: ListDefinitions) -> None:
        self.sheet = sheet
        self._lists = lists
        self._cached: dict[tuple[str, _FlatKey], Look] = {}
        self._inherited: dict[tuple[str, Kind], dict[str, Any]] = {}

    def run(self, properties: etree._Element | None) -> Look:
        """Return the look of a run from its properties (`w:rPr`)."""
        if properties is None or not len(properties):
            return ()
        return self._read(properties, "r")

    def paragraph(self, properties: etree._Element | None) -> Look:
        """Return the look of a paragraph from its properties (`w:pPr`)."""
        if properties is None or not len(properties):
            return ()
        return self._read(properties, "p")

    def style_name(self, kind: StyleType, id_: str) -> str:
        """Return the name of a style by its id; without a name, or a style, the id."""
        found = self.sheet.get(kind, id_)
        return found.name if found is not None else id_

    def style(self, element: etree._Element) -> Look:
        """Return what a style itself says of paragraphs and runs."""
        values = dict(self._properties(element.find(f"{W}rPr"), "r"))
        values |= self._properties(element.find(f"{W}pPr"), "p")
        return look_of(values)

    def inherited(self, style: str, name: str) -> Any:
        """Return what a paragraph style makes of a property, with what it is based on."""
        paragraph = self._inherited_values(style, "p")
        return paragraph[name] if name in paragraph else self._run_value(style, name)

    def _run_value(self, style: str, name: str) -> Any:
        found = self._inherited_values(style, "r").get(name)
        # What nothing switches on is off.
        return False if found is None and name in _OFF_BY_DEFAULT else found

    def _inherited_values(self, style: str, kind: Kind) -> dict[str, Any]:
        key = (style, kind)
        if key not in self._inherited:
            named = self.sheet.get("paragraph", style) if style else None
            formatting = self.sheet.formatting(
                named or self.sheet.default("paragraph"), "paragraph"
            )
            properties = formatting.paragraph if kind == "p" else formatting.run
            self._inherited[key] = _named(properties)
        return self._inherited[key]

    def _read(self, properties: etree._Element, kind: Kind) -> Look:
        flat = _flat_key(properties)
        if flat is None:
            return look_of(self._properties(properties, kind))
        found = self._cached.get((kind, flat))
        if found is None:
            found = look_of(self._properties(properties, kind))
            if len(self._cached) < _MAX_CACHED:
                self._cached[kind, flat] = found
        return found

    def _properties(self, properties: etree._Element | None, kind: Kind) -> dict[str, Any]:
        if properties is None:
            return {}
        found = _named(read_properties(properties, kind, self.sheet.theme))
        for child in properties:
            name = local_name(child)
            if not name or (name in _NOT_LOOK and str(child.tag).startswith(W)):
                continue
            if name in _KNOWN_IGNORED:
                found[_NAMES.get(name, name)] = attributes_text(child)
            elif not str(child.tag).startswith(W) or (name not in _FLAT_NAMES and len(child)):
                # Effects of newer programs; what they are is told by name only.
                found[f"{name} effect"] = element_digest(child).hex()
        if id_ := value_of(properties, "pStyle"):
            found["style"] = self.style_name("paragraph", id_)
        if id_ := value_of(properties, "rStyle"):
            found["character_style"] = self.style_name("character", id_)
        numbered = properties.find(f"{W}numPr")
        if numbered is not None:
            found |= self._listed(numbered)
        mark = properties.find(f"{W}rPr") if kind == "p" else None
        if mark is not None and len(mark):
            # That the end itself came or went is told as a tracked change.
            found |= {
                f"mark_{name}": value for name, value in self.run(mark) if name not in _CHANGES
            }
        return found

    def _listed(self, numbered: etree._Element) -> dict[str, Any]:
        number, level = value_of(numbered, "numId"), value_of(numbered, "ilvl") or "0"
        if number in ("", "0"):
            return {"list": "none"} if number else {"list_level": level}
        told = self._lists.level(number, level)
        described = "unknown"
        if told is not None:
            described = f"{value_of(told, 'numFmt') or 'decimal'} {value_of(told, 'lvlText')}"
        return {"list": described.strip(), "list_level": int(level) if level.isdecimal() else level}


_FLAT_NAMES = ("pBdr", "tabs")
"""Elements whose children are told one by one."""


def look_difference(before: Look, after: Look) -> LookDifference:
    """Return what differs between two looks; twins of other scripts only where they differ by it.

    A name that one of them lacks has None there.
    """
    if before == after:
        return {}
    old, new = dict(before), dict(after)
    found = {
        name: (old.get(name), new.get(name))
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    }
    for twin, name in _SECONDARY.items():
        for prefix in ("", "mark_"):
            pair, main = found.get(prefix + twin), found.get(prefix + name)
            if pair is not None and main is not None and pair[1] in (main[1], None):
                del found[prefix + twin]
    return found


def attributes_text(element: etree._Element) -> str:
    """Return an element's attributes as text; its value alone where it has no other."""
    found = {local: str(value) for key, value in sorted(element.attrib.items())
             if not (local := str(key).rpartition("}")[2]).startswith("rsid")}  # fmt: skip
    if tuple(found) == ("val",):
        return found["val"]
    return ", ".join(f"{name} {value}" for name, value in found.items())


def _named(properties: Properties) -> dict[str, Any]:
    found = {_name(key): _value(key, value) for key, value in properties.items()}
    line, rule = properties.get("spacing/line"), found.get("line_rule", "auto")
    if line is not None:
        # In 240ths of a line, or by a rule that makes it a length.
        length = measure(line[0][1]) if rule == "auto" else twips(line[0][1])
        unit = _LINE_UNITS if rule == "auto" else TWIPS_PER_POINT
        found["line_spacing"] = line[0][1] if length is None else rounded(length / unit)
    return found


def _name(key: str) -> str:
    found = _NAMES.get(key)
    if found is not None:
        return found
    name, _, part = key.partition("/")
    match name:
        case "pBdr":
            return f"border_{part}"
        case "tabs":
            return f"tab_{part}"
        case "ind" | "spacing":
            return f"{name}_{part}"
        case _:
            return name


def _value(key: str, value: tuple[tuple[str, str], ...]) -> Any:
    """Return the plain value of a property."""
    if len(value) != 1:
        return ", ".join(f"{name} {text}" for name, text in value)
    text = value[0][1]
    if key in ("sz", "szCs"):
        size = measure(text)
        return text if size is None else rounded(size / 2)
    if key in _POINTS:
        length = twips(text)
        return text if length is None else rounded(length / TWIPS_PER_POINT)
    if key in ("ind/left", "ind/right", "ind/firstLine"):
        length = inches(text)
        return text if length is None else length
    if key == "color":
        return text if text == "auto" else f"#{text}"
    if key != "outlineLvl" and value[0][0] == "val" and text in _FLAG_VALUES:
        return _FLAG_VALUES[text]
    return text


def _flat_key(properties: etree._Element) -> _FlatKey | None:
    """Return what tells properties apart that have no children of their own, None if some have."""
    found = []
    for child in properties:
        if len(child):
            return None
        items = tuple((str(name), str(value)) for name, value in child.attrib.items())
        found.append((str(child.tag), items))
    return tuple(found)
