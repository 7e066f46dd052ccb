"""Changes of charts: what they show, then how they look."""

from collections.abc import Sequence
from typing import Any

from lxml import etree

from kbd.formats import Change, ChangeList, Place
from kbd_pptx.comparison.format_names import name_differences
from kbd_pptx.comparison.markup import differences
from kbd_pptx.comparison.text import add_embedded, add_links, pair_items
from kbd_pptx.comparison.version import DeckVersion
from kbd_pptx.presentation import CX, A, C
from kbd_pptx.reader.charts import Chart, Series, parse_chart, point_value

__all__ = ["compare_charts"]

_POINTS = (f"{C}pt", f"{C}ptCount", f"{CX}pt")


def compare_charts(
    before: tuple[DeckVersion, str],
    after: tuple[DeckVersion, str],
    place: Place,
    changes: ChangeList,
) -> None:
    """Add what differs between two charts.

    Args:
        before: The version before, and the part of the chart in it.
        after: The same after.
        place: Where it is.
        changes: Where changes go.

    Raises:
        FileReadFailed: A chart cannot be read.
    """
    roots = [version.deck.parts.root(part) for version, part in (before, after)]
    old, new = (parse_chart(root) for root in roots)
    details: dict[str, tuple[Any, Any]] = {}
    if old.title != new.title:
        details["title"] = (old.title or None, new.title or None)
    if old.kinds != new.kinds:
        details["kinds"] = (" and ".join(old.kinds), " and ".join(new.kinds))
    categories = [each.series[0].categories if each.series else () for each in (old, new)]
    if categories[0] != categories[1]:
        details["categories"] = (list(categories[0]), list(categories[1]))
    if details:
        changes.add(Change(place, "changed", "chart", details=details))
    same_series = _compare_series(old, new, place, changes)
    skipped = [_shown(root, is_cut=old.is_cut or new.is_cut) for root in roots]
    if not same_series:
        for root, apart in zip(roots, skipped, strict=True):
            apart.update(root.iter(f"{C}ser", f"{CX}series"))
    if not (old.title and new.title):
        for root, apart in zip(roots, skipped, strict=True):
            apart.update(root.iterfind(f"{C}chart/{C}title"))
            apart.update(root.iterfind(f"{C}chart/{C}autoTitleDeleted"))
    facts = [
        version.part_facts(part, root, apart)
        for (version, part), root, apart in zip((before, after), roots, skipped, strict=True)
    ]
    named = name_differences(differences(*facts))
    if named.details:
        changes.add(Change(place, "changed", "format", details=named.details, note="of the chart"))
    add_links(named, place, changes)
    add_embedded(named, place, changes, "the file behind the chart")


def _shown(root: etree._Element, *, is_cut: bool) -> set[etree._Element]:
    """Return the elements of a chart that say what it shows, which is compared as such."""
    found: set[etree._Element] = set()
    # Points past those that are read are compared as all else is.
    if not is_cut:
        for values in root.iter(f"{C}tx", f"{C}cat", f"{C}val", f"{C}xVal", f"{C}yVal", f"{CX}lvl"):
            found.update(values.iter(*_POINTS))
    title = root.find(f"{C}chart/{C}title")
    if title is not None:
        found.update(title.iter(f"{A}t"))
    return found


def _compare_series(old: Chart, new: Chart, place: Place, changes: ChangeList) -> bool:
    """Add the series that differ; return whether the same ones are there."""
    pairs = pair_items(
        [each.name for each in old.series],
        [each.name for each in new.series],
        lambda i, j: _share(old.series[i].values, new.series[j].values),
    )
    for i, j in pairs:
        if i is None and j is not None:
            changes.add(Change(place, "added", "series", after=_told(new.series[j])))
        elif j is None and i is not None:
            changes.add(Change(place, "removed", "series", before=_told(old.series[i])))
        elif i is not None and j is not None:
            own = old.series[0].categories, new.series[0].categories
            _compare_pair(old.series[i], new.series[j], own, place, changes)
    return all(i is not None and j is not None for i, j in pairs)


def _share(before: Sequence[str], after: Sequence[str]) -> float:
    same = sum(1 for one, other in zip(before, after, strict=False) if one == other)
    return same / max(1, len(before), len(after))


def _compare_pair(
    old: Series,
    new: Series,
    shared: tuple[Sequence[str], Sequence[str]],
    place: Place,
    changes: ChangeList,
) -> None:
    details: dict[str, tuple[Any, Any]] = {}
    if old.name != new.name:
        details["name"] = (old.name, new.name)
    if old.categories != new.categories and (old.categories, new.categories) != shared:
        details["categories"] = (list(old.categories), list(new.categories))
    if not details and old.values == new.values:
        return
    if old.categories == new.categories and len(old.values) == len(new.values):
        for at, (one, other) in enumerate(zip(old.values, new.values, strict=True)):
            if one != other:
                name = new.categories[at] if at < len(new.categories) else ""
                details[name or f"point {at + 1}"] = (point_value(one), point_value(other))
    values = old.values != new.values
    changes.add(
        Change(
            place,
            "changed",
            "series",
            before=list(map(point_value, old.values)) if values else None,
            after=list(map(point_value, new.values)) if values else None,
            details=details,
            note=f"the series {new.name}" if new.name else "",
        )
    )


def _told(series: Series) -> dict[str, Any]:
    return {
        "name": series.name,
        "categories": list(series.categories),
        "values": list(map(point_value, series.values)),
    }
