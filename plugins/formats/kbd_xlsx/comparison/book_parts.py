"""Changes of what a workbook has beside its sheets: names, settings, properties, other parts."""

import hashlib
import re
from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.formats import Change, ChangeList
from kbd.opc.element_names import local_name
from kbd.opc.package import CONTENT_TYPES, Package, Relation, parse_relations
from kbd_xlsx.comparison.book_side import BookSide
from kbd_xlsx.comparison.formula_texts import FormulaText
from kbd_xlsx.comparison.item_changes import (
    FLAGS,
    SheetItem,
    add_item_changes,
    attribute_changes,
    whole_content,
)
from kbd_xlsx.comparison.line_maps import BookMaps, SheetMap, Shift
from kbd_xlsx.comparison.places import part_place
from kbd_xlsx.workbook import SheetEntry

__all__ = ["OwnedPart", "OwnedParts", "compare_names", "compare_parts", "compare_workbooks"]

MAX_PARSED = 16 * 1024 * 1024
"""Bytes of a part that is parsed to see whether it differs in more than how it is written."""

_TOLD = frozenset((
    "calcchain", "sharedstrings", "styles", "worksheet", "chartsheet", "dialogsheet",
    "core-properties", "extended-properties", "custom-properties", "officedocument",
    "xlmacrosheet", "xlintlmacrosheet", "thumbnail",
))  # fmt: skip
"""Kinds of parts that are compared in other terms, or that follow from others."""

_SHAPE = re.compile(rb"<(?:[\w.-]+:)?shape[\s>]")
_SHAPE_END = re.compile(rb"</(?:[\w.-]+:)?shape>\s*")
_TIMES = frozenset(("modified", "created", "lastPrinted", "revision"))
_APPLICATION = ("Company", "Manager", "HyperlinkBase")
_SETTINGS = {
    "workbookPr": ("date1904", "filterPrivacy", "codeName", "hidePivotFieldList"),
    "calcPr": ("calcMode", "iterate", "iterateCount", "iterateDelta", "fullPrecision", "refMode"),
    "workbookProtection": None,
    "fileSharing": None,
}
_DEFAULTS = {"date1904": "0", "calcMode": "auto", "iterate": "0", "fullPrecision": "1",
             "refMode": "A1", "iterateCount": "100", "iterateDelta": "0.001",
             "filterPrivacy": "0", "hidePivotFieldList": "0"}  # fmt: skip


def compare_names(before: BookSide, after: BookSide, maps: BookMaps, changes: ChangeList) -> None:
    """Add the changes of defined names; those that only followed a shift are none."""
    ours, theirs = list(_names(before, maps)), list(_names(after, None))
    new = {item.name: item for item in theirs}
    followed = []
    for item in ours:
        other = new.get(item.name)
        # A name's range may also have stayed, or kept what lies below the table.
        if other is not None and (
            item.value == other.value
            or maps.follows(FormulaText(item.value), FormulaText(other.value), None)
        ):
            item = item._replace(content=(other.value, *item.content[1:]))
        followed.append(item)
    add_item_changes("name", followed, theirs, changes)


def _names(side: BookSide, maps: BookMaps | None) -> Iterator[SheetItem]:
    if side.root is None:
        return
    for element in side.root.iterfind("{*}definedNames/{*}definedName"):
        name, text = element.get("name", ""), element.text or ""
        # What a sheet's filter is, once more.
        if name in ("_xlnm._FilterDatabase", "_FilterDatabase"):
            continue
        scope = _scope(element.get("localSheetId"), side.sheets)
        known = maps.sheet(scope) if maps is not None and scope else None
        own = known.after if known is not None else scope
        content = (
            maps.translated(text, None) if maps is not None else text,
            FLAGS.get(element.get("hidden", "0"), element.get("hidden", "0")),
            element.get("comment", ""),
        )
        title = f"name {name}" + (f" of {scope}" if scope else "")
        yield SheetItem((name.casefold(), own), content, part_place(title), text)


def _scope(number: str | None, sheets: tuple[SheetEntry, ...]) -> str:
    if number is None or not number.isdigit() or len(number) > 6 or int(number) >= len(sheets):
        return ""
    return sheets[int(number)].name


def compare_workbooks(before: BookSide, after: BookSide, changes: ChangeList) -> None:
    """Add the changes of a workbook's settings, named styles and properties.

    Raises:
        FileReadFailed: A part is damaged.
    """
    details: dict[str, tuple[Any, Any]] = {}
    for name, keys in _SETTINGS.items():
        one, two = (
            side.root.find(f"{{*}}{name}") if side.root is not None else None
            for side in (before, after)
        )
        for key, pair in attribute_changes(_element(one), _element(two)).items():
            ours, theirs = (FLAGS.get(str(v), v) or _DEFAULTS.get(key) for v in pair)
            if (keys is None or key in keys) and ours != theirs:
                details[key] = ours, theirs
    books = _external_books(before), _external_books(after)
    # A book that is another one is told as a part; here it is which number stands for which.
    if books[0] != books[1] and sorted(books[0]) == sorted(books[1]):
        details["external_books"] = books
    if details and before.root is not None and after.root is not None:
        place = part_place("workbook settings")
        changes.add(Change(place=place, kind="changed", what="setting", details=details))
    styles = [
        [SheetItem(name, repr(look), part_place(f"style {name}"), look, look.get("style", {}))
         for name, look in side.looks.named_styles().items() if name != "Normal"]
        for side in (before, after)
    ]  # fmt: skip
    if before.root is not None and after.root is not None:
        # A style that came or went without a cell that has it changes nothing that people see.
        both = {item.name for item in styles[0]} & {item.name for item in styles[1]}
        ours_, theirs_ = ([item for item in items if item.name in both] for items in styles)
        add_item_changes("style", ours_, theirs_, changes)
        own = before.looks.table_styles(), after.looks.table_styles()
        ours_, theirs_ = (
            [SheetItem(name, repr(looks[name]), part_place(f"table style {name}"), looks[name],
                       looks[name]) for name in looks if name in own[0] and name in own[1]]
            for looks in own
        )  # fmt: skip
        add_item_changes("style", ours_, theirs_, changes)
    add_item_changes("property", list(_properties(before)), list(_properties(after)), changes)


def _external_books(side: BookSide) -> list[str]:
    """Return the parts of other workbooks, in the order in which formulas number them."""
    if side.root is None or side.package is None:
        return []
    targets = {each.id: each.target for each in side.package.relations(side.main)}
    return [
        next(
            (targets.get(str(v), "") for k, v in each.attrib.items() if str(k).endswith("}id")), ""
        )
        for each in side.root.iterfind("{*}externalReferences/{*}externalReference")
    ]


def _element(element: etree._Element | None) -> etree._Element:
    return etree.Element("none") if element is None else element


def _usual_kind(relation: Relation) -> str:
    """Return the kind of a relation; the strict variant writes extendedProperties."""
    return re.sub(r"(?<=[a-z])Properties$", "-properties", relation.kind)


def _properties(side: BookSide) -> Iterator[SheetItem]:
    package = side.package
    if package is None:
        return
    for relation in package.relations(""):
        if relation.external or relation.target not in package:
            continue
        kind = _usual_kind(relation)
        if kind not in ("core-properties", "extended-properties", "custom-properties"):
            continue
        for element in package.root(relation.target):
            name = local_name(element)
            text = "".join(map(str, element.itertext())).strip()
            if not name or not text or name in _TIMES:
                continue
            if kind == "extended-properties" and name not in _APPLICATION:
                continue
            if kind == "custom-properties":
                name = element.get("name", name)
            place = part_place("properties", f"property {name}")
            yield SheetItem(name, text, place, text)


class OwnedPart(NamedTuple):
    """A part that belongs to a sheet.

    Args:
        is_told: Whether it is compared in terms of the sheet.
        home: Which lines of the sheet are which, where it is not.
    """

    is_told: bool
    home: SheetMap | None


OwnedParts = dict[str, OwnedPart]
"""The parts that belong to sheets, by their names in lower case."""


def compare_parts(
    before: BookSide,
    after: BookSide,
    owned: tuple[OwnedParts, OwnedParts],
    maps: BookMaps,
    changes: ChangeList,
) -> None:
    """Add a change for each part that differs and that nothing else tells of.

    Args:
        before: The older version.
        after: The newer version.
        owned: The parts of sheets of either version.
        maps: Which cells of one version are which of the other.
        changes: Where the changes go.

    Raises:
        FileReadFailed: A part is damaged.
    """
    one, two = (
        _other_parts(side, parts) for side, parts in zip((before, after), owned, strict=True)
    )
    for key in sorted({*one, *two}):
        ours, theirs = one.get(key), two.get(key)
        if ours is not None and theirs is not None:
            home = owned[0][key].home if key in owned[0] else None
            if _is_same(before.package, ours, after.package, theirs, Shift(maps, home)):
                continue
            kind: Any = "changed"
        else:
            kind = "removed" if theirs is None else "added"
        name = theirs or ours or ""
        changes.add(
            Change(
                place=part_place(name),
                kind=kind,
                what="part",
                before=_facts(before.package, ours),
                after=_facts(after.package, theirs),
            )
        )


def _other_parts(side: BookSide, owned: OwnedParts) -> dict[str, str]:
    """Return the parts that nothing else tells of, by their names in lower case."""
    package = side.package
    if package is None:
        return {}
    told = {part for part, each in owned.items() if each.is_told} | {side.main.casefold()}
    for part in ("", side.main):
        for relation in package.relations(part):
            kind = _usual_kind(relation).casefold()
            if not relation.external and kind in _TOLD | {f"xl{name}" for name in _TOLD}:
                told.add(relation.target.casefold())
    found = {}
    for info in package.entries:
        name = info.filename.replace("\\", "/").lstrip("/")
        is_folder = name.endswith("/")
        if is_folder or name == CONTENT_TYPES or name.casefold() in told:
            continue
        if name.endswith(".rels") and _owner(name).casefold() in {"", *told}:
            continue
        found[name.casefold()] = name
    return found


def _owner(name: str) -> str:
    """Return the part whose relations these are, "" for the package itself."""
    return name.replace("_rels/", "", 1).removesuffix(".rels").lstrip("/")


def _is_same(
    one: Package | None, ours: str, two: Package | None, theirs: str, shift: Shift
) -> bool:
    assert one is not None
    assert two is not None
    first, second = one.entry(ours), two.entry(theirs)
    if first.file_size == second.file_size and one.packed(first) == two.packed(second):
        return True
    left, right = one.read(ours), two.read(theirs)
    if left == right:
        return True
    # The boxes of comments are told with these.
    if ours.endswith(".vml") and _without_notes(left) == _without_notes(right):
        return True
    if max(len(left), len(right)) > MAX_PARSED or not ours.endswith((".xml", ".rels", ".vml")):
        return False
    try:
        if ours.endswith(".rels"):
            pairs = [
                {(each.id, each.kind, each.target) for each in parse_relations("", root)}
                for root in (one.root(ours), two.root(theirs))
            ]
            return pairs[0] == pairs[1]
        followed = _followed(one.root(ours), shift)
        return whole_content(followed) == whole_content(two.root(theirs))
    except (FileReadFailed, RecursionError):
        return False


def _without_notes(drawing: bytes) -> bytes:
    """Return a drawing in VML without the boxes of comments and the ends of shapes."""
    # Cut first: a search for whole shapes takes the square of the time where none ends.
    found = []
    for piece in _SHAPE_END.split(drawing):
        starts = [each.start() for each in _SHAPE.finditer(piece)]
        is_note = starts and b'ObjectType="Note"' in piece[starts[-1] :]
        found.append(piece[: starts[-1]] if is_note else piece)
    return b"".join(found)


def _followed(root: etree._Element, shift: Shift) -> etree._Element:
    """Return a part of a pivot table with its ranges as they have become; any other as it is."""
    kind = local_name(root)
    if kind not in ("pivotCacheDefinition", "pivotTableDefinition"):
        return root
    root = deepcopy(root)
    if kind == "pivotTableDefinition":
        for place in root.iterfind("{*}location"):
            place.set("ref", shift.ranges(place.get("ref", "")))
        return root
    for source in root.iterfind("{*}cacheSource//*[@sheet]"):
        sheet = shift.maps.sheet(source.get("sheet", "")) if shift.maps is not None else None
        # A range of another workbook names a sheet of that.
        if sheet is None or any(str(name).endswith("}id") for name in source.attrib):
            continue
        source.set("sheet", sheet.after)
        if "ref" in source.attrib:
            source.set("ref", sheet.ranges(source.get("ref", "")))
    return root


def _facts(package: Package | None, part: str | None) -> dict[str, Any] | None:
    if package is None or part is None:
        return None
    data = package.read(part)
    return {"size_bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
