"""Looks of another workbook, entered into a style sheet with all that they name."""

from lxml import etree

from kbd.errors import ValidationFailed
from kbd_xlsx.parts.numberformats import BUILTIN_CODES
from kbd_xlsx.parts.pool import canonical
from kbd_xlsx.parts.style_elements import translated
from kbd_xlsx.parts.styletables import StyleTables, number_of

__all__ = ["adopt_format", "adopt_name", "find_name"]

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
    xf = _carried(tables, other, old)
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
        raise ValidationFailed(f"There is no named style {name!r}.")
    index, is_equal = _adopted_name(tables, other, entry)
    if not is_equal:
        raise ValidationFailed(
            f"The target has a named style {name!r} that looks different; copy the look of a cell "
            "instead (cell_style)."
        )
    xf = translated(tables.entry("cellStyleXfs", index), tables.root)
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
    wanted = entry.get("builtinId"), entry.get("iLevel")
    for own in tables.pool("cellStyles").entries:
        if (own.get("builtinId"), own.get("iLevel")) == wanted:
            return own
    return None


def _adopted_name(
    tables: StyleTables, other: StyleTables, entry: etree._Element
) -> tuple[int, bool]:
    """Return the position of a named style's format, and whether it looks as in the other one."""
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
    index = formats.append(_carried(tables, other, old))
    made = translated(entry, tables.root)
    made.set("xfId", str(index))
    tables.add("cellStyles", made)
    return index, True


def _carried(tables: StyleTables, other: StyleTables, old: etree._Element) -> etree._Element:
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
    if code is None and number in tables.custom_codes():
        return BUILTIN_CODES.get(number)
    return code


def _content(tables: StyleTables, other: StyleTables, xf: etree._Element) -> tuple[object, ...]:
    """Return what a format looks like, for comparing, whatever its positions and flags."""
    parts = [other.entry(section, number_of(xf, key)) for section, key in _POINTERS]
    parts.extend(child for child in xf if isinstance(child.tag, str))
    number = number_of(xf, "numFmtId")
    code = other.custom_codes().get(number) or BUILTIN_CODES.get(number, str(number))
    return code, *(canonical(translated(part, tables.root)) for part in parts)
