"""Elements that stand for ranges (`sqref`), cut where another one takes their place.

A formula of such an element is written as for its first cell. Where the first cell is cut off, the
formula is written anew for the one that is first then. Extensions of later versions hold the same
elements once more, with their ranges and formulas as elements of their own.
"""

import re
from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape

from openpyxl.formula.translate import TranslatorError

from kbd.errors import ValidationFailed
from kbd.sheets.areas import (
    MAX_COLUMN,
    MAX_ROW,
    Area,
    cell_name,
    column_letters,
    overlaps,
    parse_area,
)
from kbd_xlsx.parts.markup import (
    Tag,
    area_of,
    attribute,
    children,
    element,
    opened,
    plain,
    with_attributes,
)
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.translator import FormulaTranslator

__all__ = [
    "WHOLE",
    "absolute",
    "attribute_text",
    "cut_areas",
    "cut_element",
    "cut_extension",
    "local_of",
    "parse_ranges",
    "unquoted",
    "with_children",
    "written_ranges",
]

WHOLE = Area(1, 1, MAX_ROW, MAX_COLUMN)

_MAX_RANGES = 200
_RANGES = re.compile(rb"(<((?:[\w.-]+:)?sqref)(?:\s[^<>]*)?>)([^<]*)(</\2\s*>)")
_QUOTED = re.compile(r"\"(?:[^\"]|\"\")*\"|'(?:[^']|'')*'")
_FORMULA = re.compile(rb"(<((?:[\w.-]+:)?(?:formula[12]?|f))(?:\s[^<>]*)?(?<!/)>)([^<]*)(</\2\s*>)")


def parse_ranges(text: str) -> list[Area]:
    """Return the ranges that an operation names, separated by commas or blanks.

    Raises:
        ValidationFailed: One is none, or two of them overlap.
    """
    found = [parse_area(part, WHOLE) for part in re.split(r"[,\s]+", text.strip())]
    if len(found) > _MAX_RANGES:
        raise ValidationFailed(f"one operation may name {_MAX_RANGES} ranges at most")
    for number, area in enumerate(found):
        if other := next((each for each in found[:number] if overlaps(each, area)), None):
            raise ValidationFailed(f"the ranges {other} and {area} overlap")
    return found


def unquoted(formula: str) -> str:
    """Return a formula without its texts and the names of sheets in quotes."""
    return _QUOTED.sub("", formula)


def written_ranges(areas: Sequence[Area]) -> str:
    """Return ranges as files have them."""
    return " ".join(map(str, areas))


def absolute(area: Area) -> str:
    """Return an area as names have it: $A$1:$B$2, and whole columns and rows as such."""
    left, right = (f"${column_letters(column)}" for column in (area.left, area.right))
    if area.top == 1 and area.bottom == MAX_ROW:
        return f"{left}:{right}"
    if area.left == 1 and area.right == MAX_COLUMN:
        return f"${area.top}:${area.bottom}"
    first, last = f"{left}${area.top}", f"{right}${area.bottom}"
    return first if first == last else f"{first}:{last}"


def attribute_text(text: str) -> str:
    """Return a text as an attribute's value, whose line breaks a parser would make blanks."""
    return escape(text, {'"': "&quot;", "\n": "&#10;", "\r": "&#13;", "\t": "&#9;"})


def cut_areas(areas: Sequence[Area], cuts: Sequence[Area]) -> list[Area]:
    """Return what is left of areas without others, the one with the first cell first."""
    left = list(areas)
    for cut in cuts:
        left = [rest for area in left for rest in _without(area, cut)]
    if left != list(areas):
        left.sort(key=lambda area: (area.top, area.left))
    return left


def _without(area: Area, cut: Area) -> list[Area]:
    if not overlaps(area, cut):
        return [area]
    top, bottom = max(area.top, cut.top), min(area.bottom, cut.bottom)
    pieces = [
        Area(area.top, area.left, top - 1, area.right),
        Area(top, area.left, bottom, cut.left - 1),
        Area(top, cut.right + 1, bottom, area.right),
        Area(bottom + 1, area.left, area.bottom, area.right),
    ]
    return [piece for piece in pieces if piece.top <= piece.bottom and piece.left <= piece.right]


def cut_element(text: bytes, cuts: Sequence[Area], what: str) -> bytes:
    """Return an element without some areas, b"" if nothing is left of its ranges.

    Args:
        text: The element.
        cuts: The areas.
        what: What it is, for messages ("a validation").

    Raises:
        ValidationFailed: Its formulas cannot be written for the cell that would be its first.
    """
    tag = opened(text)
    ranges = attribute(tag.attributes, b"sqref")
    inner = _RANGES.search(tag.inner) if ranges is None else None
    if ranges is None:
        ranges = plain(inner[3]) if inner is not None else ""
    areas = [area for word in ranges.split() if (area := area_of(word)) is not None]
    left = cut_areas(areas, cuts)
    # A range that cannot be read stays, since another program may understand it.
    if left == areas or len(areas) != len(ranges.split()):
        return text
    if not left:
        return b""
    made = written_ranges(left).encode()
    if inner is None:
        attributes = with_attributes(tag.attributes, {b"sqref": made})
        text = element(Tag(tag.name, attributes, tag.inner))
    else:
        text = text.replace(inner[0], inner[1] + made + inner[4], 1)
    return _moved_formulas(text, areas, left, what)


def _first(areas: Sequence[Area]) -> tuple[int, int] | None:
    """Return the cell that formulas are written for, None where programs may differ in it."""
    corner = min(area.top for area in areas), min(area.left for area in areas)
    return corner if (areas[0].top, areas[0].left) == corner else None


def _moved_formulas(text: bytes, old: list[Area], new: list[Area], what: str) -> bytes:
    before, after = _first(old), _first(new)
    if before is not None and before == after:
        return text
    refusal = ValidationFailed(
        f"{what} of {written_ranges(old)[:60]} has a formula that is written for its first cell "
        "and cannot be cut in this way; name all of that range, or a smaller part of it"
    )

    def moved(found: re.Match[bytes]) -> bytes:
        formula = "=" + plain(found[3])
        if _translated(formula, (1, 1), (2, 2)) == formula:
            return found[0]
        written = _translated(formula, before, after) if before and after else None
        if written is None:
            raise refusal
        return found[1] + escape(written[1:]).encode() + found[4]

    return _FORMULA.sub(moved, text)


def _translated(formula: str, before: tuple[int, int], after: tuple[int, int]) -> str | None:
    try:
        mover = FormulaTranslator(formula, cell_name(*before))
        return str(mover.translate_formula(cell_name(*after)))
    except (TranslatorError, ValueError):
        return None


def local_of(name: bytes) -> str:
    """Return an element's name without its prefix."""
    return name.rpartition(b":")[2].decode("utf-8", "replace")


def with_children(text: bytes, change: Callable[[str, bytes], bytes]) -> bytes:
    """Return an element with what a function makes of each child, by its name without prefix."""
    tag = opened(text)
    pieces, place = [], 0
    for child in children(tag.inner, 0, len(tag.inner)):
        pieces.append(tag.inner[place : child.start])
        pieces.append(change(local_of(child.name), tag.inner[child.start : child.end]))
        place = child.end
    pieces.append(tag.inner[place:])
    inner = b"".join(pieces)
    return text if inner == tag.inner else element(Tag(tag.name, tag.attributes, inner))


def cut_extension(
    sheet: SheetPart, container: str, item: str, change: Callable[[bytes], bytes]
) -> None:
    """Change elements of a kind that the extensions of a sheet hold; empty ones go.

    Args:
        sheet: The sheet.
        container: The name of the element that holds them, without prefix.
        item: Their name.
        change: Returns what one becomes, b"" takes it out.

    Raises:
        ValidationFailed: The extensions hold comments.
    """
    if container.encode() not in sheet.elements.seen("extLst"):
        return
    old = sheet.elements.text("extLst")
    if not old:
        return

    def changed_container(text: bytes) -> bytes:
        made = with_children(text, lambda name, each: change(each) if name == item else each)
        tag = opened(made)
        count = sum(local_of(each.name) == item for each in children(tag.inner, 0, len(tag.inner)))
        if made == text or not count:
            return made if count else b""
        known = attribute(tag.attributes, b"count")
        counted: dict[bytes, bytes | None] = {b"count": b"%d" % count} if known else {}
        return element(Tag(tag.name, with_attributes(tag.attributes, counted), tag.inner))

    def changed_extension(text: bytes) -> bytes:
        made = with_children(
            text, lambda name, each: changed_container(each) if name == container else each
        )
        return made if made == text or opened(made).inner.strip() else b""

    new = with_children(old, lambda name, each: changed_extension(each) if name == "ext" else each)
    if new != old:
        sheet.elements.put("extLst", new if opened(new).inner.strip() else b"")
