"""Conditional formats, validations and links that go along with copied cells.

A copy gets what the copied cells have, in the place of what was there. Formulas move as those of
cells do. Rules of pivot tables, those that later versions keep in extensions, and comments, which
have a drawing each, stay behind.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from xml.sax.saxutils import escape

import msgspec

from kbd.sheets.areas import Area, overlaps
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.objects.conditional_formats import next_priority, take_rules
from kbd_xlsx.edits.objects.hyperlinks import add_hyperlink, take_hyperlinks
from kbd_xlsx.edits.objects.validations import add_validations, take_validations
from kbd_xlsx.edits.ranges.moved_formulas import moved_formula
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
from kbd_xlsx.styles.drawings import RELATION_SPACES

__all__ = ["Copies", "carry_objects"]

_FORMULA = re.compile(rb"(<((?:[\w.-]+:)?formula[12]?)(?:\s[^<>]*)?(?<!/)>)([^<]*)(</\2\s*>)")
_RANGES = re.compile(rb"<(?:[\w.-]+:)?sqref(?:\s[^<>]*)?>([^<]*)<")
_PRIORITY = re.compile(rb"(\bpriority=[\"'])\d+")
_PREFIXED = re.compile(rb"\s([\w.-]+:[\w.-]+)\s*=")
_TAG_NAME = re.compile(rb"</?([\w.-]+:)?[\w.-]+")
_MAX_PIECES = 2_000
"""Elements that one operation adds of a kind; a range of more stays without."""

Offset = tuple[int, int]


class Copies(msgspec.Struct, frozen=True):
    """What is copied where to.

    Args:
        source: The title of the sheet that is copied from.
        area: The cells that are copied.
        target: The title of the sheet that is copied to.
        place: All cells that are written.
        offsets: How far each copy is from what is copied, in rows and columns.
    """

    source: str
    area: Area
    target: str
    place: Area
    offsets: tuple[Offset, ...]


class _Found(msgspec.Struct):
    """Elements of a kind for the new place, and whether some stay behind."""

    made: list[bytes]
    is_left: bool = False


def carry_objects(book: BookEdit, copies: Copies) -> tuple[list[str], list[str]]:
    """Copy what lies on cells; return what went along, and what stayed behind.

    Raises:
        ValidationFailed: What lies on the new place cannot be cut there.
    """
    source = book.sheet(copies.source)
    rules = _copied(source.elements.texts("conditionalFormatting"), source, copies, "sqref")
    validations = _copied(_inside(source, "dataValidations"), source, copies, "sqref")
    links = _links(book, source, copies)
    target = book.sheet(copies.target)
    if source.prefix != target.prefix:
        # Elements are spelt otherwise there.
        rules, validations = (_Found([], bool(each.made)) for each in (rules, validations))
        links = None if links else links
    gone: list[str] = []
    left = [
        name
        for name, is_left in (
            ("conditional formats", rules.is_left), ("validations", validations.is_left),
            ("links", links is None), ("comments", _has_comments(book, copies)),
            ("what later versions keep in extensions", _has_extensions(source, copies.area)),
        )
        if is_left
    ]  # fmt: skip
    if rules.made:
        take_rules(target, [copies.place])
        known = target.elements.texts("conditionalFormatting")
        new = _ranked(rules.made, next_priority(target))
        target.elements.put_all("conditionalFormatting", [*known, *new])
        gone.append("conditional formats")
    if validations.made:
        take_validations(target, [copies.place])
        add_validations(target, b"".join(validations.made))
        gone.append("validations")
    if links:
        take_hyperlinks(book, target, [copies.place])
        for link in links:
            add_hyperlink(target, _related(book, copies.target, *link))
        gone.append("links")
    return gone, left


def _has_comments(book: BookEdit, copies: Copies) -> bool:
    """Tell whether copied cells have comments."""
    for relation in book.rewriting.relations(book.part(copies.source)):
        if relation.kind != "comments" or relation.target not in book.rewriting:
            continue
        for comment in book.rewriting.root(relation.target).iterfind("{*}commentList/{*}comment"):
            at = area_of(comment.get("ref", ""))
            if at is not None and overlaps(at, copies.area):
                return True
    return False


def _has_extensions(sheet: SheetPart, area: Area) -> bool:
    """Tell whether extensions hold something for copied cells: rules, validations, sparklines."""
    if not sheet.elements.seen("extLst"):
        return False
    words = b" ".join(_RANGES.findall(sheet.elements.text("extLst"))).decode("utf-8", "replace")
    known = [found for word in words.split() if (found := area_of(word)) is not None]
    return any(overlaps(each, area) for each in known)


def _inside(sheet: SheetPart, name: str) -> list[bytes]:
    """Return the elements that an element of a sheet holds."""
    text = sheet.elements.text(name)
    if not text:
        return []
    inner = opened(text).inner
    return [inner[each.start : each.end] for each in children(inner, 0, len(inner))]


def _copied(texts: Sequence[bytes], sheet: SheetPart, copies: Copies, name: str) -> _Found:
    """Return the elements that the copied cells have, as they are for the new cells."""
    found, are_there = _Found([]), True
    for text in filter(None, texts):
        tag = opened(text)
        areas = _areas(tag, name)
        pieces = [piece for area in areas if (piece := _common(area, copies.area)) is not None]
        if not pieces:
            continue
        if not _is_plain(tag, sheet.prefix) or (made := _moved(tag, areas, pieces, copies)) is None:
            found.is_left = True
            continue
        found.made += made
        are_there = are_there and _covers(areas, pieces, copies)
    if are_there and copies.source == copies.target:
        # The new cells lie in the same ranges: what they have is the same already.
        found.made = []
    if len(found.made) > _MAX_PIECES:
        found.made, found.is_left = [], True
    return found


def _areas(tag: Tag, name: str) -> list[Area]:
    words = (attribute(tag.attributes, name.encode()) or "").split()
    return [area for word in words if (area := area_of(word)) is not None]


def _common(one: Area, other: Area) -> Area | None:
    if not overlaps(one, other):
        return None
    return Area(
        max(one.top, other.top), max(one.left, other.left),
        min(one.bottom, other.bottom), min(one.right, other.right),
    )  # fmt: skip


def _is_plain(tag: Tag, prefix: str) -> bool:
    """Tell whether an element is known in full: no part of a pivot table, of a later version."""
    if attribute(tag.attributes, b"pivot") in ("1", "true") or b"extLst" in tag.inner:
        return False
    return {found[1] or b"" for found in _TAG_NAME.finditer(tag.inner)} <= {prefix.encode()}


def _moved(
    tag: Tag, areas: Sequence[Area], pieces: Sequence[Area], copies: Copies
) -> list[bytes] | None:
    """Return an element for each new range; None where its formulas' first cell is not clear."""
    corner = min(area.top for area in areas), min(area.left for area in areas)
    is_clear = (areas[0].top, areas[0].left) == corner
    formulas = [plain(found[3]) for found in _FORMULA.finditer(tag.inner)]
    if not is_clear and any(moved_formula(each, 1, 1) != each for each in formulas):
        return None
    own = dict.fromkeys(_PREFIXED.findall(tag.attributes))
    made = []
    for rows, columns in copies.offsets:
        for piece in pieces:
            area = _shifted(piece, rows, columns)
            attributes = with_attributes(tag.attributes, {**own, b"sqref": str(area).encode()})
            inner = _FORMULA.sub(_mover(area.top - corner[0], area.left - corner[1]), tag.inner)
            made.append(element(Tag(tag.name, attributes, inner)))
    return made


def _mover(rows: int, columns: int) -> Callable[[re.Match[bytes]], bytes]:
    def moved(found: re.Match[bytes]) -> bytes:
        text = moved_formula(plain(found[3]), rows, columns)
        return found[1] + escape(text).encode() + found[4]

    return moved


def _shifted(area: Area, rows: int, columns: int) -> Area:
    return Area(area.top + rows, area.left + columns, area.bottom + rows, area.right + columns)


def _covers(areas: Sequence[Area], pieces: Sequence[Area], copies: Copies) -> bool:
    """Tell whether all new ranges of an element lie in one of its own."""
    new = (_shifted(piece, *offset) for piece in pieces for offset in copies.offsets)
    return all(any(_common(area, each) == each for area in areas) for each in new)


def _ranked(texts: Sequence[bytes], first: int) -> Iterator[bytes]:
    """Yield rules behind the others, in the order that they had among one another."""
    ranks = sorted({int(n) for t in texts for n in re.findall(rb"\bpriority=[\"'](\d+)", t)})
    places = {rank: first + place for place, rank in enumerate(ranks)}

    def ranked(found: re.Match[bytes]) -> bytes:
        rank = int(re.findall(rb"\d+", found[0])[-1])
        return found[1] + b"%d" % places[rank]

    for text in texts:
        yield _PRIORITY.sub(ranked, text)


def _links(book: BookEdit, sheet: SheetPart, copies: Copies) -> list[tuple[str, str]] | None:
    """Return the links of new cells, as attributes and the address; None where one is not known."""
    targets = {
        each.id: each.target
        for each in book.rewriting.relations(book.part(copies.source))
        if each.kind == "hyperlink"
    }
    found = []
    for text in _inside(sheet, "hyperlinks"):
        tag = opened(text)
        for area in _areas(tag, "ref"):
            piece = _common(area, copies.area)
            if piece is None:
                continue
            names = _PREFIXED.findall(tag.attributes)
            ids = [attribute(tag.attributes, name) for name in names if name.endswith(b":id")]
            address = targets.get(ids[0] or "") if ids else ""
            if address is None or tag.inner.strip():
                return None
            for offset in copies.offsets:
                new = str(_shifted(piece, *offset)).encode()
                changes: dict[bytes, bytes | None] = dict.fromkeys(names)
                attributes = with_attributes(tag.attributes, {**changes, b"ref": new})
                found.append((attributes.decode("utf-8", "replace"), address))
    return found if len(found) <= _MAX_PIECES else None


def _related(book: BookEdit, title: str, attributes: str, address: str) -> str:
    """Return the attributes of a link with the relation that its address needs."""
    if not address:
        return attributes
    id_ = book.rewriting.relate(book.part(title), "hyperlink", address, external=True)
    space = RELATION_SPACES[book.rewriting.is_strict].strip("{}")
    return f'{attributes} xmlns:r="{space}" r:id="{id_}"'
