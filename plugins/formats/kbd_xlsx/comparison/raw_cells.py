"""Cells of a raw row: taken apart by one search, or parsed where they are written otherwise."""

import re
from typing import NamedTuple

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc.element_names import local_name
from kbd_xlsx.comparison.sheet_rows import plain_markup

__all__ = [
    "RawCell",
    "RowLook",
    "column_number",
    "filled_columns",
    "is_filled_row",
    "of_attributes",
    "raw_cells",
    "row_look",
]

_CELL = re.compile(
    rb'<c r="([A-Z]{1,3})\d{1,7}"([^>]*?)(?:/>|>\s*'
    rb"(?:<f((?:\s[^>]*?)?)(?:/>|>([^<]*)</f>)\s*)?"
    rb"(?:<v(?:\s[^>]*)?(?:/>|>([^<]*)</v>)\s*)?"
    rb"(?:<is>(.*?)</is>\s*)?</c>)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(rb'([\w:.-]+)="([^"]*)"')
_ADDRESS = re.compile(r"\$?([A-Za-z]{1,3})\$?\d{1,7}")
_ADDRESS_OF_CELL = re.compile(rb'\s*<c r="([A-Z]{1,3})\d{1,7}"[^>]*[^/]>')
_MAX_CACHED = 20_000


class RawCell(NamedTuple):
    """A cell as its row has it.

    Args:
        column: Counted from 1.
        style: The number of its cell format.
        kind: What the file says of its value ("s", "str", "b" ...), "" for a number.
        value: The markup of what is stored, None if nothing is; of kind "inlineStr" what is
            inside of `is`.
        formula: The markup of its formula's text, None if it has none.
        details: The attributes of its formula, as written.
        metadata: Numbers of its metadata, as written.
    """

    column: int
    style: int
    kind: str
    value: bytes | None
    formula: bytes | None
    details: bytes
    metadata: bytes

    @property
    def is_filled(self) -> bool:
        """Whether it holds a value or a formula."""
        return self.value is not None or self.formula is not None


class RowLook(NamedTuple):
    """What a row has beside its cells.

    Args:
        style: The number of its cell format, None if it has none.
        height: In points, as written, "" for the usual one.
        is_fixed: Whether the height was set, and is not that of the contents.
        is_hidden: Whether it is not shown.
        level: Of its outline.
    """

    style: int | None = None
    height: str = ""
    is_fixed: bool = False
    is_hidden: bool = False
    level: int = 0


_columns: dict[bytes, int] = {}
_attributes: dict[bytes, tuple[int, str, bytes]] = {}


def raw_cells(cells: bytes) -> list[RawCell]:
    """Take the cells of a row apart; what is no cell is left out.

    Raises:
        FileReadFailed: They are not valid XML.
    """
    found = _CELL.findall(cells)
    if len(found) != cells.count(b"<c ") + cells.count(b"<c>") + cells.count(b"<c/"):
        return _parsed(cells)
    result = []
    new, known_columns, known = tuple.__new__, _columns.get, _attributes.get
    for letters, written, details, formula, value, inline in found:
        column = known_columns(letters) or column_number(letters)
        style, kind, metadata = known(written) or of_attributes(written)
        text: bytes | None = value
        if not value:
            # Of a group that did not take part the search tells nothing: empty, or not there.
            text = inline or None
            # An empty text is a value, where it is said to be a text.
            if kind == "str" and (b"<v></v>" in cells or b"<v/>" in cells):
                text = b""
        # A formula without attributes and without a text is none.
        own = formula if formula or details else None
        # The constructor of a named tuple takes twice the time.
        result.append(new(RawCell, (column, style, kind, text, own, details, metadata)))
    return result


def is_filled_row(cells: bytes) -> bool:
    """Tell whether a row holds a value or a formula."""
    if b"<v" not in cells and b"<f" not in cells and b"<is" not in cells:
        return False
    # Nearly all rows have a value that is not empty.
    return b"<v>" in cells or any(cell.is_filled for cell in raw_cells(cells))


def filled_columns(cells: bytes) -> tuple[int, int] | None:
    """Return the first and the last column of a row that hold something."""
    last = cells.rfind(b'<c r="')
    ends = _ADDRESS_OF_CELL.match(cells), _ADDRESS_OF_CELL.match(cells, last) if last > 0 else None
    # The ends of a row are mostly filled; else all cells are looked at.
    if ends[0] is not None and ends[1] is not None and cells.count(b"<v>", last) == 1:
        return column_number(ends[0][1]), column_number(ends[1][1])
    columns = [cell.column for cell in raw_cells(cells) if cell.is_filled]
    return (min(columns), max(columns)) if columns else None


def column_number(letters: bytes) -> int:
    """Return the number of a column, counted from 1."""
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    _columns[letters] = number
    return number


def of_attributes(written: bytes) -> tuple[int, str, bytes]:
    """Return the style, the kind and the metadata that the attributes of a cell say."""
    style, kind, metadata = 0, "", []
    for name, value in _ATTRIBUTE.findall(written):
        if name == b"s":
            style = _whole(value)
        elif name == b"t":
            kind = value.decode("ascii", "replace")
        elif name in (b"cm", b"vm"):
            metadata.append(name + b"=" + value)
    if kind == "n":
        kind = ""
    found = style, kind, b" ".join(metadata)
    if len(_attributes) < _MAX_CACHED:
        _attributes[written] = found
    return found


def _whole(digits: bytes) -> int:
    return int(digits) if digits.isdigit() and len(digits) < 10 else 0


def _parsed(cells: bytes) -> list[RawCell]:
    """Parse a row whose cells are written in another way."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, recover=True, remove_comments=True,
        huge_tree=True,
    )  # fmt: skip
    root = etree.fromstring(b"<row>" + cells + b"</row>", parser)
    # Prefixes are declared at the begin of the sheet, and may well be unknown here.
    if root is None or any(each.domain_name != "NAMESPACE" for each in parser.error_log):
        raise FileReadFailed("a sheet is damaged: a row of it is not valid XML")
    result: list[RawCell] = []
    column = 0
    for cell in root:
        if local_name(cell) != "c":
            continue
        address = _ADDRESS.fullmatch(cell.get("r") or "")
        column = column_number(address[1].upper().encode()) if address else column + 1
        inner = {local_name(child): child for child in cell}
        formula, value, inline = inner.get("f"), inner.get("v"), inner.get("is")
        kind = cell.get("t", "")
        stored: bytes | None = None
        if value is not None and (value.text or kind == "str"):
            stored = _escaped(value.text or "")
        elif inline is not None:
            stored = "".join(plain_markup(child) for child in inline).encode("utf-8", "replace")
        details = b""
        if formula is not None:
            details = "".join(
                f' {key!s}="{item!s}"' for key, item in formula.attrib.items()
            ).encode()
        metadata = b" ".join(
            f"{name}={cell.get(name)}".encode() for name in ("cm", "vm") if cell.get(name)
        )
        result.append(
            RawCell(
                column,
                _whole((cell.get("s") or "").encode()),
                "" if kind == "n" else kind,
                stored,
                None if formula is None else _escaped(formula.text or ""),
                details,
                metadata,
            )
        )
    return result


def _escaped(text: str) -> bytes:
    return text.replace("&", "&amp;").replace("<", "&lt;").encode("utf-8", "replace")


def row_look(attributes: bytes) -> RowLook:
    """Read the attributes of a row."""
    found = dict(_ATTRIBUTE.findall(attributes.replace(b"'", b'"')))
    true = (b"1", b"true")
    return RowLook(
        _whole(found[b"s"]) if b"s" in found and found.get(b"customFormat") in true else None,
        found.get(b"ht", b"").decode("ascii", "replace"),
        found.get(b"customHeight") in true,
        found.get(b"hidden") in true,
        _whole(found.get(b"outlineLevel", b"0")),
    )
