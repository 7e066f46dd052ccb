"""The sections of a style sheet, each made in its place when it is missing."""

from lxml import etree

from kbd.errors import ValidationFailed
from kbd_xlsx.parts.blankstyles import MAIN, STRICT_MAIN, blank_styles
from kbd_xlsx.parts.numberformats import BUILTIN_IDS, FIRST_CUSTOM_ID
from kbd_xlsx.parts.pool import Pool
from kbd_xlsx.parts.style_elements import new_element, placed, translated

__all__ = ["MAX_CELL_FORMATS", "StyleTables", "number_of"]

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
        name = etree.QName(root)
        if name.localname != "styleSheet" or name.namespace not in (MAIN, STRICT_MAIN):
            raise ValidationFailed("The styles cannot be changed: they are of an unknown form.")
        self.root = root
        self.is_strict = name.namespace == STRICT_MAIN
        self.is_changed = False
        self._pools: dict[str, Pool] = {}
        self._codes: dict[int, str] | None = None

    def pool(self, section: str) -> Pool:
        """Return the entries of a section; one that must not be empty has at least one.

        Raises:
            ValidationFailed: The positions of its entries cannot be told.
        """
        known = self._pools.get(section)
        if known is None:
            element = placed(self.root, section, _ORDER)
            limit = MAX_CELL_FORMATS if section == "cellXfs" else MAX_ENTRIES
            known = self._pools[section] = Pool(element, _ENTRIES[section], limit)
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
        element.tail = None
        index = pool.add(element)
        self.is_changed = self.is_changed or len(pool.entries) > before
        return index

    def plain_format(self) -> etree._Element:
        """Return a new cell format that looks like nothing in particular."""
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
        builtin = BUILTIN_IDS.get(code)
        if builtin is not None and codes.get(builtin, code) == code:
            return builtin
        for number, known in codes.items():
            if known == code:
                return number
        number = max(FIRST_CUSTOM_ID, 1 + max(codes, default=0))
        section = placed(self.root, "numFmts", _ORDER)
        entry = new_element(section, "numFmt")
        entry.set("numFmtId", str(number))
        entry.set("formatCode", code)
        section.append(entry)
        codes[number] = code
        section.set("count", str(len(codes)))
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
        names, _ = self.pool("cellStyles").entries, self.pool("cellStyleXfs")
        found = (entry for entry in names if entry.get("builtinId") == _NORMAL)
        return number_of(next(found, None), "xfId")


def number_of(element: etree._Element | None, name: str) -> int:
    """Return an attribute as a number, 0 where it is none."""
    text = element.get(name, "0") if element is not None else "0"
    # Nothing here is counted in more than nine digits, and huge ones cost much to read.
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
