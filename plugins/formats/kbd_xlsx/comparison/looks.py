"""Looks of cells in two workbooks: which cell formats look alike, and what differs between two."""

from collections.abc import Iterator, Mapping
from typing import Any

from lxml import etree

from kbd.opc.element_names import local_name
from kbd.opc.package import Package
from kbd_xlsx.parts.stylesheet import StyleTables, blank_styles, number_of
from kbd_xlsx.styles.style_list import StyleDescription, describe_difference, describe_format
from kbd_xlsx.styles.theme import XlsxTheme, read_workbook_theme, style_tables, workbook_parts

__all__ = ["BookLooks", "describe_change"]

_POINTERS = (("fonts", "fontId"), ("fills", "fillId"), ("borders", "borderId"))
_USUAL = {
    "font_bold": False,
    "font_italic": False,
    "font_underline": "none",
    "number_format": "General",
    "h_align": "general",
    "v_align": "bottom",
    "wrap_text": False,
}


class BookLooks:
    """The cell formats of a workbook.

    Args:
        package: The workbook, None for one without formats.
        known: Numbers of contents; of two workbooks that are compared, one mapping.
    """

    def __init__(self, package: Package | None, known: dict[Any, int]) -> None:
        parts = workbook_parts(package) if package is not None else {}
        self.tables: StyleTables | None = None
        self.theme = XlsxTheme()
        if package is not None:
            # Without a style sheet all cells look as the one says that an edit begins with.
            self.tables = (
                style_tables(package, parts["styles"])
                if "styles" in parts
                else StyleTables(blank_styles(strict=False))
            )
            root = self.tables.root if self.tables is not None else None
            self.theme = read_workbook_theme(package, parts.get("theme", ""), root)
        self._known = known
        self._described: dict[int, StyleDescription] = {}
        self._names: dict[int, str] = {}
        self.keys = self._keys()

    def key(self, style: int) -> int:
        """Return a number that is equal for formats of equal contents."""
        keys = self.keys
        return keys[style] if style < len(keys) else keys[0]

    def describe(self, style: int) -> StyleDescription:
        """Describe a cell format."""
        found = self._described.get(style)
        if found is None:
            if self.tables is None:
                found = StyleDescription({}, {})
            else:
                found = describe_format(self.tables, self.theme, style)
            self._described[style] = found
        return found

    def change(
        self, style: int, other: "BookLooks", theirs: int
    ) -> Mapping[str, tuple[Any, Any]] | None:
        """Return what differs between a format and one of another version, None if nothing shows.

        Args:
            style: A format of this version.
            other: The other version.
            theirs: A format of that one.
        """
        found = describe_change(self.describe(style), other.describe(theirs))
        names = self.named_style(style), other.named_style(theirs)
        if names[0] != names[1]:
            found["named_style"] = names
        if not found and not (self.is_exotic(style) or other.is_exotic(theirs)):
            return None
        return found

    def named_style(self, style: int) -> str:
        """Return the named style that a format follows."""
        return self._names.get(style, "Normal")

    def is_exotic(self, style: int) -> bool:
        """Tell whether a format has what words do not describe."""
        if self.tables is None:
            return False
        xf = self.tables.entry("cellXfs", style)
        fill = self.tables.entry("fills", number_of(xf, "fillId"))
        pattern = fill.find("{*}patternFill")
        has_pattern = pattern is not None and pattern.get("patternType", "none") not in (
            "none",
            "solid",
        )
        has_gradient = fill.find("{*}gradientFill") is not None
        border = self.tables.entry("borders", number_of(xf, "borderId"))
        return has_pattern or has_gradient or border.find("{*}diagonal[@style]") is not None

    def difference(self, index: str | None) -> dict[str, Any]:
        """Describe a differential format by its number."""
        if self.tables is None or not index or not index.isdigit() or len(index) > 6:
            return {}
        entries = self.tables.pool("dxfs").entries
        place = int(index)
        if place >= len(entries):
            return {}
        return describe_difference(self.theme, entries[place]).plain()

    def pointed(self, element: etree._Element) -> tuple[tuple[str, str], ...]:
        """Return the looks of the differential formats that are named anywhere in an element."""
        return tuple(
            (str(key), repr(self.difference(str(value))))
            for each in element.iter()
            for key, value in sorted(each.attrib.items())
            if str(key).lower().endswith("dxfid")
        )

    def table_styles(self) -> dict[str, dict[str, Any]]:
        """Return the looks of the workbook's own styles of tables."""
        if self.tables is None:
            return {}
        return {
            style.get("name", ""): {
                f"{part.get('type', '')} {part.get('size', '')}".strip(): self.difference(
                    part.get("dxfId")
                )
                for part in style.iterfind("{*}tableStyleElement")
            }
            for style in self.tables.root.iterfind("{*}tableStyles/{*}tableStyle")
        }

    def named_styles(self) -> dict[str, dict[str, Any]]:
        """Return the looks of the named styles."""
        if self.tables is None:
            return {}
        return {
            entry.get("name", ""): describe_format(
                self.tables, self.theme, number_of(entry, "xfId"), section="cellStyleXfs"
            ).plain()
            for entry in self.tables.pool("cellStyles").entries[:2000]
        }

    def _keys(self) -> list[int]:
        """Return the keys of all cell formats."""
        tables = self.tables
        if tables is None:
            return [self._number(())]
        names = {
            number_of(entry, "xfId"): entry.get("name", "")
            for entry in tables.pool("cellStyles").entries
            if entry.get("builtinId") != "0"
        }
        codes = tables.custom_codes()
        parts = {
            section: [
                self._number((_visible(entry), *self._colors_of(entry)))
                for entry in tables.pool(section).entries
            ]
            for section, _ in _POINTERS
        }
        found = []
        for place, xf in enumerate(tables.pool("cellXfs").entries):
            pointed = tuple(_at(parts[section], number_of(xf, key)) for section, key in _POINTERS)
            number = number_of(xf, "numFmtId")
            beside = tuple(
                _visible(child) for child in xf if local_name(child) in ("alignment", "protection")
            )
            name = names.get(number_of(xf, "xfId"), "")
            if name:
                self._names[place] = name
            if xf.get("quotePrefix") in ("1", "true"):
                beside = (*beside, ("quotePrefix",))
            found.append(self._number((pointed, codes.get(number, number), beside, name)))
        return found or [self._number(())]

    def _colors_of(self, entry: etree._Element) -> Iterator[Any]:
        """Yield what the numbers of an entry's colors stand for."""
        keys = {str(key) for each in entry.iter() for key in each.attrib}
        if "indexed" in keys:
            yield self.theme.indexed
        if "theme" in keys:
            yield self.theme.colors

    def _number(self, content: Any) -> int:
        return self._known.setdefault(content, len(self._known))


def _at(numbers: list[int], index: int) -> int:
    if not numbers:
        return -1
    return numbers[index] if index < len(numbers) else numbers[0]


_INVISIBLE = frozenset(("family", "charset", "scheme", "extLst"))


def _visible(element: etree._Element) -> tuple[Any, ...]:
    """Return what of an element shows, for comparing."""
    name = local_name(element)
    found = []
    for child in element:
        each = local_name(child)
        if not each or each in _INVISIBLE:
            continue
        # A solid fill shows only its front.
        if each == "bgColor" and element.get("patternType") == "solid":
            continue
        content = _visible(child)
        if content != (each, (), "", ()) or each not in (
            "left",
            "right",
            "top",
            "bottom",
            "diagonal",
            "start",
            "end",
        ):
            found.append(content)
    attributes = {
        str(key): value
        for key, value in element.attrib.items()
        if not str(key).startswith("{") and (key, value) not in _DEFAULTS
    }
    return name, tuple(sorted(attributes.items())), "", tuple(sorted(found, key=repr))


_DEFAULTS = frozenset((
    ("val", "1"), ("val", "true"), ("style", "none"), ("auto", "1"), ("horizontal", "general"),
    ("vertical", "bottom"), ("wrapText", "0"), ("textRotation", "0"), ("indent", "0"),
    ("shrinkToFit", "0"), ("locked", "1"), ("hidden", "0"), ("patternType", "none"),
    ("diagonalUp", "0"), ("diagonalDown", "0"), ("applyBorder", "1"),
))  # fmt: skip


def describe_change(one: StyleDescription, two: StyleDescription) -> dict[str, tuple[Any, Any]]:
    """Return what differs between two looks, by name: before and after."""
    found: dict[str, tuple[Any, Any]] = {}
    for key in (*one.style, *(key for key in two.style if key not in one.style)):
        usual = _USUAL.get(key)
        pair = one.style.get(key, usual), two.style.get(key, usual)
        if pair[0] != pair[1]:
            found[key] = pair
    if one.beside != two.beside:
        found["other"] = list(one.beside), list(two.beside)
    return found
