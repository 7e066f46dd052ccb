"""Changes of things of a kind of which a workbook has several: names, merged ranges, links, charts.

Equal ones belong together, then those of the same name; what is left is gone, or new.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from lxml import etree

from kbd.formats import Change, ChangeKind, ChangeList, Place
from kbd.formats.alignment import diff_words
from kbd.opc.element_names import local_name
from kbd.sheets.areas import overlaps
from kbd_xlsx.comparison.line_maps import NO_SHIFT, Shift
from kbd_xlsx.parts.markup import area_of

__all__ = [
    "FLAGS",
    "SheetItem",
    "add_item_changes",
    "add_rank_changes",
    "as_followed",
    "attribute_changes",
    "content_of",
    "whole_content",
]

_FORMULAS = frozenset((
    "formula", "formula1", "formula2", "f", "calculatedColumnFormula", "totalsRowFormula",
))  # fmt: skip
_RANGES = frozenset(("ref", "sqref"))
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/"
_FALSE_BY_DEFAULT = frozenset(("dataValidation", "cfRule", "table", "tableColumn"))
_IGNORED = frozenset((
    "id", "uid", "priority", "dxfId", "count", "dataDxfId", "headerRowDxfId", "totalsRowDxfId",
    "headerRowBorderDxfId", "tableBorderDxfId", "totalsRowBorderDxfId",
))  # fmt: skip
"""Numbers of other things; of formats `BookLooks.pointed` tells which they are."""

_USUAL = {
    ("cfRule", "aboveAverage"): "1",
    ("table", "headerRowCount"): "1",
    ("table", "totalsRowShown"): "1",
    ("dataValidation", "type"): "none",
    ("dataValidation", "operator"): "between",
    ("dataValidation", "errorStyle"): "stop",
    ("dataValidation", "imeMode"): "noControl",
    ("sheetProtection", "sheet"): "0",
    ("sheetProtection", "objects"): "0",
    ("sheetProtection", "scenarios"): "0",
    ("sheetProtection", "selectLockedCells"): "0",
    ("sheetProtection", "selectUnlockedCells"): "0",
    ("sheetProtection", "formatCells"): "1",
    ("sheetProtection", "formatColumns"): "1",
    ("sheetProtection", "formatRows"): "1",
    ("sheetProtection", "insertColumns"): "1",
    ("sheetProtection", "insertRows"): "1",
    ("sheetProtection", "insertHyperlinks"): "1",
    ("sheetProtection", "deleteColumns"): "1",
    ("sheetProtection", "deleteRows"): "1",
    ("sheetProtection", "sort"): "1",
    ("sheetProtection", "autoFilter"): "1",
    ("sheetProtection", "pivotTables"): "1",
}
"""What attributes mean that are not there (ECMA-376, part 1, 18.2, 18.3 and 18.5)."""

FLAGS = {"true": "1", "false": "0"}
"""Both ways of writing a boolean, as one."""


MAX_RANKED = 500
"""Things of a kind whose order is looked at."""


class SheetItem(NamedTuple):
    """A thing of some kind.

    Args:
        name: What it is known by; equal in both versions for the same thing.
        content: What it is; equal in both versions if nothing of it changed.
        place: Where it is.
        value: How it is listed.
        details: What of it is compared by name.
        rank: Which comes first, where that matters.
    """

    name: Hashable
    content: Any
    place: Place
    value: Any
    details: Mapping[str, Any] = {}
    rank: int = 0


def add_item_changes(
    what: str, before: Sequence[SheetItem], after: Sequence[SheetItem], changes: ChangeList
) -> None:
    """Add what was added, removed and changed.

    Args:
        what: What the things are.
        before: Those of the older version, their names and contents as of the newer one.
        after: Those of the newer version.
        changes: Where the changes go.
    """
    equal = Counter((item.name, item.content) for item in before)
    equal &= Counter((item.name, item.content) for item in after)
    gone, new = _without(before, equal), _without(after, equal)
    by_name: dict[Hashable, list[SheetItem]] = {}
    for item in gone:
        by_name.setdefault(item.name, []).append(item)
    paired: set[int] = set()
    found: list[tuple[SheetItem | None, SheetItem]] = []
    for item in new:
        same = by_name.get(item.name)
        old = same.pop(0) if same else None
        if old is not None:
            paired.add(id(old))
        found.append((old, item))
    for item in gone:
        if id(item) not in paired:
            _add(changes, what, "removed", item.place, item.value, None)
    for old, item in found:
        if old is None:
            _add(changes, what, "added", item.place, None, item.value)
        else:
            _add(
                changes, what, "changed", item.place, old.value, item.value,
                _details(old.details, item.details),
            )  # fmt: skip


def add_rank_changes(
    what: str, before: Sequence[SheetItem], after: Sequence[SheetItem], changes: ChangeList
) -> None:
    """Add what equal things now come before others that they came after, where they overlap.

    Args:
        what: What the things are.
        before: Those of the older version, their names and contents as of the newer one; the names
            are ranges.
        after: Those of the newer version.
        changes: Where the changes go.
    """
    known: dict[Hashable, list[int]] = {}
    for place, item in enumerate(sorted(before, key=_rank), 1):
        known.setdefault((item.name, item.content), []).append(place)
    both: list[tuple[int, int, SheetItem]] = []
    for place, item in enumerate(sorted(after, key=_rank), 1):
        places = known.get((item.name, item.content))
        if places:
            both.append((places.pop(0), place, item))
    if all(one[0] < two[0] for one, two in pairwise(both)):
        return
    for number, (old, new, item) in enumerate(both[:MAX_RANKED]):
        overtaken = [other for place, _, other in both[number + 1 : MAX_RANKED] if place < old]
        if any(_overlap(item, other) for other in overtaken):
            changes.add(
                Change(
                    place=item.place,
                    kind="changed",
                    what=what,
                    before=item.value,
                    after=item.value,
                    details={"rank": (old, new)},
                    note="it comes before others now that it came after",
                )
            )


def _rank(item: SheetItem) -> int:
    return item.rank


def _overlap(one: SheetItem, two: SheetItem) -> bool:
    ours, theirs = (list(map(area_of, str(item.name).split())) for item in (one, two))
    return any(
        first is not None and second is not None and overlaps(first, second)
        for first in ours
        for second in theirs
    )


def as_followed(
    shifted: Sequence[SheetItem], literal: Sequence[SheetItem], after: Sequence[SheetItem]
) -> list[SheetItem]:
    """Return the things of the older version as they would be if they only followed a shift.

    What is written as it was did not change either, whatever moved.

    Args:
        shifted: The things with references as they have become.
        literal: The same with references as they are written.
        after: The things of the newer version.
    """
    there = {(item.name, item.content) for item in after}
    return [
        unmoved
        if (moved.name, moved.content) not in there and (unmoved.name, unmoved.content) in there
        else moved
        for moved, unmoved in zip(shifted, literal, strict=True)
    ]


def _without(items: Sequence[SheetItem], equal: Counter[Any]) -> list[SheetItem]:
    """Return the items but for as many of each as are equal in both versions."""
    left = Counter(equal)
    found = []
    for item in items:
        key = item.name, item.content
        if left[key] > 0:
            left[key] -= 1
        else:
            found.append(item)
    return found


def _add(
    changes: ChangeList,
    what: str,
    kind: ChangeKind,
    place: Place,
    before: Any,
    after: Any,
    details: Mapping[str, tuple[Any, Any]] | None = None,
) -> None:
    is_text = isinstance(before, str) and isinstance(after, str)
    note = "its looks changed" if kind == "changed" and before == after and not details else ""
    changes.add(
        Change(
            place=place,
            kind=kind,
            what=what,
            before=before,
            after=after,
            words=diff_words(before, after) if is_text and before != after else (),
            details=details or {},
            note=note,
        )
    )


def _details(before: Mapping[str, Any], after: Mapping[str, Any]) -> Mapping[str, tuple[Any, Any]]:
    return {
        name: (before.get(name), after.get(name))
        for name in (*before, *(name for name in after if name not in before))
        if before.get(name) != after.get(name)
    }


def content_of(element: etree._Element, shift: Shift = NO_SHIFT) -> tuple[Any, ...]:
    """Return what is equal for elements of equal contents, whatever their prefixes and ids."""
    name = local_name(element)
    attributes = []
    for key, value in element.attrib.items():
        text = str(key)
        # Those of other namespaces are ids of relations and of revisions.
        if text.startswith("{") or text in _IGNORED:
            continue
        # Programs write what is so by default, or do not.
        if _is_usual(name, text, str(value)):
            continue
        if text in _RANGES:
            value = shift.ranges(str(value))
        attributes.append((text, FLAGS.get(str(value), str(value))))
    text = (element.text or "").strip()
    if name in _FORMULAS:
        text = shift.formula(text)
    elif name in _RANGES:
        text = shift.ranges(text)
    children = tuple(content_of(child, shift) for child in element if isinstance(child.tag, str))
    return name, tuple(sorted(attributes)), text, children


def whole_content(element: etree._Element) -> tuple[Any, ...]:
    """Return all of an element but for how it is written: of one whose meaning nobody knows."""
    attributes = [
        (str(key), str(value))
        for key, value in element.attrib.items()
        # Revisions are of a program's session, compatibility is of its version.
        if not str(key).startswith(("{http://schemas.microsoft.com/office/spreadsheetml/20", _MC))
    ]
    children = [child for child in element if isinstance(child.tag, str)]
    texts = [element.text or "", *(child.tail or "" for child in element)]
    # Blanks between elements lay the text out.
    if children and not any(text.strip() for text in texts):
        texts = []
    text = "".join(texts) if not children else tuple(texts)
    return str(element.tag), tuple(sorted(attributes)), text, tuple(map(whole_content, children))


def _is_usual(element: str, name: str, value: str) -> bool:
    usual = _USUAL.get((element, name), "0" if element in _FALSE_BY_DEFAULT else None)
    return FLAGS.get(value, value) == usual


def attribute_changes(
    before: etree._Element | None, after: etree._Element | None
) -> dict[str, tuple[Any, Any]]:
    """Return the attributes and texts of children that differ, by name."""
    one, two = _named(before), _named(after)
    return dict(_details(one, two))


def _named(element: etree._Element | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if element is None:
        return found
    for key, value in element.attrib.items():
        name, text = str(key), str(value)
        if not name.startswith("{") and not _is_usual(local_name(element), name, text):
            found[name] = FLAGS.get(text, text)
    for child in element:
        if isinstance(child.tag, str) and not len(child) and child.text:
            found[local_name(child)] = child.text
    return found
