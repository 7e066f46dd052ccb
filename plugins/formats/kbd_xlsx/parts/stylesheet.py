"""Style sheet of a workbook, which only ever grows.

A cell names its formatting by a position among the cell formats (`cellXfs`); each of these names a
font, a fill, a border and a number format by positions again. What exists never moves and never
changes: formatting that is not there yet is appended, one that is there is found by its content.
Formatting of another workbook is entered with all that it names. A section that is missing is made
in its place.
"""

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_name, namespace_of
from kbd.opc.rewriter import xml_bytes
from kbd_xlsx.parts.formatting import (
    BUILTIN_CODES,
    BUILTIN_IDS,
    FIRST_CUSTOM_ID,
    CellFormatting,
    read_cell_formatting,
    shows_date,
)
from kbd_xlsx.parts.style_elements import (
    EntryPool,
    aligned,
    bordered,
    canonical,
    differential,
    filled,
    new_element,
    placed,
    translated,
    with_font,
)

__all__ = [
    "MAIN",
    "MAX_CELL_FORMATS",
    "STRICT_MAIN",
    "StyleTables",
    "XlsxStyleSheet",
    "adopt_format",
    "adopt_name",
    "blank_styles",
    "find_name",
    "number_of",
]

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
STRICT_MAIN = "http://purl.oclc.org/ooxml/spreadsheetml/main"

# The first two fills are fixed by the format, and the first font is the one that column widths are
# measured with.
_BLANK = """<styleSheet xmlns="{namespace}"><fonts count="1"><font><sz val="11"/>\
<color theme="1"/><name val="Calibri"/><family val="2"/><scheme val="minor"/></font></fonts>\
<fills count="2"><fill><patternFill patternType="none"/></fill>\
<fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border>{sides}\
<top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1">\
<xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="1">\
<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/></cellXfs><cellStyles count="1">\
<cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles><dxfs count="0"/>\
<tableStyles count="0" defaultTableStyle="TableStyleMedium2" \
defaultPivotStyle="PivotStyleLight16"/></styleSheet>"""


def blank_styles(*, strict: bool) -> etree._Element:
    """Return the root of a style sheet with what programs expect: one font, two fills, Normal.

    Args:
        strict: Whether it is of the strict variant.
    """
    namespace = STRICT_MAIN if strict else MAIN
    sides = "<start/><end/>" if strict else "<left/><right/>"
    return etree.fromstring(_BLANK.format(namespace=namespace, sides=sides))


MAX_CELL_FORMATS = 64_000
"""Excel opens 65,490 at most."""

MAX_ENTRIES = 65_000
"""Of the other sections."""

_ORDER = (
    *("numFmts", "fonts", "fills", "borders", "cellStyleXfs", "cellXfs", "cellStyles", "dxfs"),
    *("tableStyles", "colors", "extLst"),
)
_ENTRIES = {
    "fonts": "font",
    "fills": "fill",
    "borders": "border",
    "cellStyleXfs": "xf",
    "cellXfs": "xf",
    "cellStyles": "cellStyle",
    "dxfs": "dxf",
}
_MAY_BE_EMPTY = frozenset(("cellXfs", "dxfs"))
_NOT_OF_RULES = ("font_name", "font_size", "h_align", "v_align", "wrap_text")
"""Fields of a style object that conditional formats leave as they are, as in Excel."""

_NORMAL = "0"
"""The number of the named style that every workbook has."""


class StyleTables:
    """A style sheet as tables, whose entries are named by their positions.

    Args:
        root: The root of the part, which is changed in place.

    Attributes:
        is_changed: Whether an entry was added.

    Raises:
        ValidationFailed: The root is of no form that can be changed.
    """

    def __init__(self, root: etree._Element) -> None:
        namespace = namespace_of(root.tag)
        if local_name(root) != "styleSheet" or namespace not in (MAIN, STRICT_MAIN):
            raise ValidationFailed("the styles cannot be changed: they are of an unknown form")
        self.root = root
        self.is_strict = namespace == STRICT_MAIN
        self.is_changed = False
        self._pools: dict[str, EntryPool] = {}
        self._codes: dict[int, str] | None = None

    def pool(self, section: str) -> EntryPool:
        """Return the entries of a section; one that must not be empty has at least one.

        Raises:
            ValidationFailed: The positions of its entries cannot be told.
        """
        known = self._pools.get(section)
        if known is None:
            element = placed(self.root, section, _ORDER)
            limit = MAX_CELL_FORMATS if section == "cellXfs" else MAX_ENTRIES
            known = self._pools[section] = EntryPool(element, _ENTRIES[section], limit)
            # A format that names none of its entries means the first one, so there must be one.
            if not known.entries and section not in _MAY_BE_EMPTY:
                blank = blank_styles(strict=self.is_strict)
                for entry in blank.iterfind(f"{{*}}{section}/*"):
                    known.add(translated(entry, self.root))
        return known

    def entry(self, section: str, index: int) -> etree._Element:
        """Return an entry, the first where there is none at that position."""
        found = self.pool(section).get(index)
        return self.plain_format() if found is None else found

    def add(self, section: str, element: etree._Element) -> int:
        """Return the position of an entry of this content, appended if there is none.

        Raises:
            ValidationFailed: There are too many.
        """
        pool = self.pool(section)
        before = len(pool.entries)
        # The whitespace that followed it in its old place must not come along.
        element.tail = None
        index = pool.add(element)
        self.is_changed = self.is_changed or len(pool.entries) > before
        return index

    def plain_format(self) -> etree._Element:
        """Return a new cell format without any formatting."""
        xf = new_element(self.root, "xf")
        for name in ("numFmtId", "fontId", "fillId", "borderId"):
            xf.set(name, "0")
        return xf

    def custom_codes(self) -> dict[int, str]:
        """Return the codes of the number formats that the file itself defines, by number."""
        if self._codes is None:
            self._codes = {}
            for entry in self.root.iterfind("{*}numFmts/{*}numFmt"):
                self._codes.setdefault(number_of(entry, "numFmtId"), entry.get("formatCode", ""))
        return self._codes

    def number_format(self, code: str) -> int:
        """Return the number of a number format, which is entered if it is new."""
        codes = self.custom_codes()
        # A file may redefine a built-in number, which then no longer means this code.
        builtin = BUILTIN_IDS.get(code)
        if builtin is not None and codes.get(builtin, code) == code:
            return builtin
        for number, known in codes.items():
            if known == code:
                return number
        # Smaller numbers are those of built-in formats (ECMA-376 part 1, 18.8.30).
        number = max(FIRST_CUSTOM_ID, 1 + max(codes, default=0))
        section = placed(self.root, "numFmts", _ORDER)
        entry = new_element(section, "numFmt")
        entry.set("numFmtId", str(number))
        entry.set("formatCode", code)
        section.append(entry)
        codes[number] = code
        # A damaged file may define a number twice, and the codes have only the first.
        section.set("count", str(len(section.findall("{*}numFmt"))))
        self.is_changed = True
        return number

    def name_of(self, index: int) -> etree._Element | None:
        """Return the named style of a position in `cellStyleXfs`, None for Normal or none."""
        for entry in self.pool("cellStyles").entries:
            if number_of(entry, "xfId") == index:
                return None if entry.get("builtinId") == _NORMAL else entry
        return None

    def normal(self) -> int:
        """Return the position of Normal in `cellStyleXfs`."""
        # Asking for a section creates it if it is missing, so that the position exists.
        names, _ = self.pool("cellStyles").entries, self.pool("cellStyleXfs")
        found = (entry for entry in names if entry.get("builtinId") == _NORMAL)
        return number_of(next(found, None), "xfId")


def number_of(element: etree._Element | None, name: str) -> int:
    """Return an attribute as a number, 0 where it is none."""
    text = element.get(name, "0") if element is not None else "0"
    # Nothing here is counted in more than nine digits, and huge ones cost much to read.
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


_POINTERS = (("fonts", "fontId"), ("fills", "fillId"), ("borders", "borderId"))


def adopt_format(tables: StyleTables, other: StyleTables, index: int) -> tuple[int, str]:
    """Enter a cell format of another workbook.

    Its named style comes along, unless there is one of that name: that one is kept as it is.

    Args:
        tables: Where it goes.
        other: Where it is.
        index: Which one; the first if there is none at that position.

    Returns:
        Its position, and the name of the named style that was kept though it looks different.

    Raises:
        ValidationFailed: There are too many formats.
    """
    old = other.entry("cellXfs", index)
    if not tables.pool("cellXfs").entries:
        # The first format is that of every cell without one, so it must be a plain one.
        tables.add("cellXfs", tables.plain_format())
    xf = _copied_entry(tables, other, old)
    name = other.name_of(number_of(old, "xfId"))
    kept = ""
    if name is None:
        xf.set("xfId", str(tables.normal()))
    else:
        named, is_equal = _adopted_name(tables, other, name)
        xf.set("xfId", str(named))
        kept = "" if is_equal else name.get("name", "")
    return tables.add("cellXfs", xf), kept


def adopt_name(tables: StyleTables, other: StyleTables, name: str) -> int:
    """Enter a named style of another workbook.

    Returns:
        The position of a cell format that follows it.

    Raises:
        ValidationFailed: There is no such style, or here is one that looks different.
    """
    entry = find_name(other, name)
    if entry is None:
        raise ValidationFailed(f"there is no named style {name!r}")
    index, is_equal = _adopted_name(tables, other, entry)
    if not is_equal:
        raise ValidationFailed(
            f"the target has a named style {name!r} that looks different; copy the look of a cell "
            "instead (cell_style)"
        )
    xf = translated(tables.entry("cellStyleXfs", index), tables.root)
    # In a cell format these flags mark what departs from the named style, and nothing does here.
    for key in [key for key in xf.attrib if str(key).startswith("apply")]:
        del xf.attrib[key]
    xf.set("xfId", str(index))
    if not tables.pool("cellXfs").entries:
        tables.add("cellXfs", tables.plain_format())
    return tables.add("cellXfs", xf)


def find_name(tables: StyleTables, name: str) -> etree._Element | None:
    """Return the entry of a named style, found without regard to case."""
    for entry in tables.pool("cellStyles").entries:
        if entry.get("name", "").casefold() == name.casefold():
            return entry
    return None


def _same_builtin(tables: StyleTables, entry: etree._Element) -> etree._Element | None:
    """Return the named style that is the same one in another language."""
    if entry.get("builtinId") is None:
        return None
    # The levels of an outline share one number, so iLevel is needed to tell them apart.
    wanted = entry.get("builtinId"), entry.get("iLevel")
    for own in tables.pool("cellStyles").entries:
        if (own.get("builtinId"), own.get("iLevel")) == wanted:
            return own
    return None


def _adopted_name(
    tables: StyleTables, other: StyleTables, entry: etree._Element
) -> tuple[int, bool]:
    """Return the position of a named style's format, and whether both are equal."""
    old = other.entry("cellStyleXfs", number_of(entry, "xfId"))
    known = find_name(tables, entry.get("name", ""))
    if known is None:
        known = _same_builtin(tables, entry)
    if known is not None:
        index = number_of(known, "xfId")
        there = tables.entry("cellStyleXfs", index)
        return index, _content(tables, tables, there) == _content(tables, other, old)
    # Not found by content: two named styles of one look are still two.
    formats = tables.pool("cellStyleXfs")
    index = formats.append(_copied_entry(tables, other, old))
    made = translated(entry, tables.root)
    made.set("xfId", str(index))
    tables.add("cellStyles", made)
    return index, True


def _copied_entry(tables: StyleTables, other: StyleTables, old: etree._Element) -> etree._Element:
    """Return a format with its positions in another style sheet, where its parts are entered."""
    xf = translated(old, tables.root)
    xf.tail = None
    for section, key in _POINTERS:
        entry = translated(other.entry(section, number_of(old, key)), tables.root)
        xf.set(key, str(tables.add(section, entry)))
    code = _code(tables, other, old)
    if code is not None:
        xf.set("numFmtId", str(tables.number_format(code)))
    return xf


def _code(tables: StyleTables, other: StyleTables, xf: etree._Element) -> str | None:
    """Return the number format's code, None where its number means the same everywhere."""
    number = number_of(xf, "numFmtId")
    code = other.custom_codes().get(number)
    # The number is built-in there but redefined here, so its usual code gets another number.
    if code is None and number in tables.custom_codes():
        return BUILTIN_CODES.get(number)
    return code


def _content(tables: StyleTables, other: StyleTables, xf: etree._Element) -> tuple[object, ...]:
    """Return a format's contents for comparing, whatever its positions and flags."""
    parts = [other.entry(section, number_of(xf, key)) for section, key in _POINTERS]
    parts.extend(child for child in xf if isinstance(child.tag, str))
    number = number_of(xf, "numFmtId")
    code = other.custom_codes().get(number) or BUILTIN_CODES.get(number, str(number))
    return code, *(canonical(translated(part, tables.root)) for part in parts)


class XlsxStyleSheet:
    """The styles part of one workbook.

    Args:
        root: The root of the part, which is changed in place; None makes a new one.
        strict: Whether a new one is of the strict variant.

    Attributes:
        tables: Its sections.
        warnings: What was skipped, each once, in order.

    Raises:
        ValidationFailed: The root is of no form that can be changed.
    """

    def __init__(self, root: etree._Element | None, *, strict: bool = False) -> None:
        self.tables = StyleTables(blank_styles(strict=strict) if root is None else root)
        self.warnings: dict[str, None] = {}
        self._is_new = root is None
        self._known: dict[tuple[int, int], int] = {}
        self._unchanged: dict[int, Mapping[str, Any]] = {}
        self._by_text: dict[tuple[int, str], int] = {}
        self._known_formats: dict[str, CellFormatting] = {}
        self._dates: dict[int, bool] = {}

    @property
    def is_changed(self) -> bool:
        """Whether `xml` differs from the part."""
        return self._is_new or self.tables.is_changed

    def styled(self, base: int, style: Mapping[str, Any]) -> int:
        """Return the position of the cell format that is `base` with a style object applied.

        Args:
            base: A cell format; one that does not exist counts as the first.
            style: As in operations; it must not change afterwards. What is wrong in it is
                skipped and told in `warnings`.

        Raises:
            ValidationFailed: There are too many formats.
        """
        # A cell's style is mostly the very object of many other cells.
        known = self._known.get((base, id(style)))
        if known is None:
            known = self._styled(base, style)
            self._known[base, id(style)] = known
            # Held, so that no other object gets its id.
            self._unchanged[id(style)] = style
        return known

    def formatted(self, base: int, code: str) -> int:
        """Return the position of the format that is `base` with another number format.

        Raises:
            ValidationFailed: There are too many formats.
        """
        return self._with_formatting(base, CellFormatting(number_format=code))

    def differential(self, style: Mapping[str, Any]) -> int:
        """Return the position of the differential format of a style object.

        What is wrong in it, and what no rule can change, is skipped and told in `warnings`.

        Raises:
            ValidationFailed: There are too many formats.
        """
        look, warnings = read_cell_formatting(style)
        self.warnings.update(dict.fromkeys(warnings))
        for field in _NOT_OF_RULES:
            if getattr(look, field) is not None:
                self.warnings.setdefault(f"style {field} was skipped: a rule cannot change it")
        look = msgspec.structs.replace(look, **dict.fromkeys(_NOT_OF_RULES))
        tables = self.tables
        code = look.number_format
        number = 0 if code is None else tables.number_format(code)
        made = differential(tables.root, look, number, strict=tables.is_strict)
        if not tables.pool("cellXfs").entries:
            # Some programs read no part of a style sheet that has no cell formats.
            tables.add("cellXfs", tables.plain_format())
        return tables.add("dxfs", made)

    def is_date(self, index: int) -> bool:
        """Tell whether a cell format shows dates or times."""
        known = self._dates.get(index)
        if known is None:
            number = number_of(self.tables.entry("cellXfs", index), "numFmtId")
            known = shows_date(number, self.tables.custom_codes().get(number))
            self._dates[index] = known
        return known

    def is_general(self, index: int) -> bool:
        """Tell whether a cell format has no number format of its own."""
        return number_of(self.tables.entry("cellXfs", index), "numFmtId") == 0

    def adopt(self, other: "XlsxStyleSheet", index: int) -> int:
        """Return the position of a cell format with the look of another workbook's.

        Its named style comes along, unless there is one of that name: that one is kept, and
        `warnings` tell if it looks different. Colors of the theme stay names of its slots.

        Raises:
            ValidationFailed: There are too many formats.
        """
        adopted, kept = adopt_format(self.tables, other.tables, index)
        if kept:
            self.warnings.setdefault(
                f"named style {kept} looks different in this workbook and was kept so"
            )
        return adopted

    def adopt_name(self, other: "XlsxStyleSheet", name: str) -> int:
        """Return the position of a cell format that follows a named style of another workbook.

        Raises:
            ValidationFailed: There is no such style, or here is one that looks different.
        """
        return adopt_name(self.tables, other.tables, name)

    def xml(self) -> bytes:
        """Return the part as it is now."""
        return xml_bytes(self.tables.root)

    def _styled(self, base: int, style: Mapping[str, Any]) -> int:
        # Equal style objects need not be identical, so they are compared by their text.
        text = repr(style)
        known = self._by_text.get((base, text))
        if known is None:
            look = self._known_formats.get(text)
            if look is None:
                look, warnings = read_cell_formatting(style)
                self._known_formats[text] = look
                self.warnings.update(dict.fromkeys(warnings))
            known = self._with_formatting(base, look)
            self._by_text[base, text] = known
        return known

    def _with_formatting(self, base: int, look: CellFormatting) -> int:
        tables = self.tables
        formats = tables.pool("cellXfs")
        if not formats.entries:
            # The first format is that of every cell without one, so it must be a plain one.
            tables.add("cellXfs", tables.plain_format())
        if look == CellFormatting():
            return base if 0 <= base < len(formats.entries) else 0
        xf = deepcopy(tables.entry("cellXfs", base))
        if _names(look, "font_"):
            font = with_font(tables.entry("fonts", number_of(xf, "fontId")), look)
            _point(xf, "fontId", tables.add("fonts", font), "applyFont")
        if _names(look, "fill_"):
            fill = filled(tables.entry("fills", number_of(xf, "fillId")), look)
            _point(xf, "fillId", tables.add("fills", fill), "applyFill")
        if _names(look, "border_"):
            border = tables.entry("borders", number_of(xf, "borderId"))
            border = bordered(border, look, strict=tables.is_strict)
            _point(xf, "borderId", tables.add("borders", border), "applyBorder")
        if look.number_format is not None:
            _point(xf, "numFmtId", tables.number_format(look.number_format), "applyNumberFormat")
        if _names(look, "h_align", "v_align", "wrap_text"):
            aligned(xf, look)
            xf.set("applyAlignment", "1")
        return tables.add("cellXfs", xf)


def _point(xf: etree._Element, name: str, index: int, flag: str) -> None:
    """Have a format name a part of its look, and say that it is its own."""
    xf.set(name, str(index))
    xf.set(flag, "1")


def _names(look: CellFormatting, *beginnings: str) -> bool:
    """Tell whether a look changes a field whose name begins so."""
    fields = msgspec.structs.asdict(look)
    return any(value is not None for key, value in fields.items() if key.startswith(beginnings))
