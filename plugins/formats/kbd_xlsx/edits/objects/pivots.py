"""Pivot tables that programs bring up to date when they open the workbook."""

import re
from collections.abc import Iterator

from kbd.errors import ValidationFailed
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.operations import RefreshPivot
from kbd_xlsx.parts.markup import ATTRIBUTES, attribute, utf8, with_attributes

__all__ = ["refresh_pivot"]

_ROOT = re.compile(rb"<(?:[\w.-]+:)?pivotCacheDefinition(?=[\s/>])(" + ATTRIBUTES + rb")>")
_MAX_LISTED = 10


def refresh_pivot(book: BookEdit, operation: RefreshPivot) -> str:
    """Have a pivot table refreshed on opening and say which; raises ValidationFailed."""
    pivots = list(_pivots(book))
    wanted = operation.pivot.strip().casefold()
    caches = {cache for name, _, cache in pivots if name.casefold() == wanted and cache}
    if not caches:
        there = ", ".join(name for name, _, _ in pivots[:_MAX_LISTED])
        raise ValidationFailed(
            f"there is no pivot table {operation.pivot!r}" + (f"; there are: {there}" * bool(there))
        )
    if len(caches) > 1:
        where = ", ".join(title for name, title, _ in pivots if name.casefold() == wanted)
        raise ValidationFailed(
            f"there are several pivot tables {operation.pivot!r}, on {where}; give each a name of "
            "its own in a spreadsheet program first"
        )
    (cache,) = caches
    data = utf8(book.rewriting.read(cache), cache)
    found = _ROOT.search(data)
    if found is None:
        raise ValidationFailed(f"the data of pivot table {operation.pivot} is of an unknown form")
    is_set = attribute(found[1], b"refreshOnLoad") in ("1", "true")
    if not is_set:
        made = with_attributes(found[1], {b"refreshOnLoad": b"1"})
        book.rewriting.put(cache, data[: found.start(1)] + made + data[found.end(1) :])
    others = [name for name, _, other in pivots if other == cache and name.casefold() != wanted]
    also = f", and with it {', '.join(others[:_MAX_LISTED])}" if others else ""
    state = "is refreshed on opening already" if is_set else "refreshed on opening"
    return f"pivot table {operation.pivot}: {state}{also}"


def _pivots(book: BookEdit) -> Iterator[tuple[str, str, str]]:
    """Yield the names of pivot tables, the titles of their sheets, the parts of their data."""
    rewriting = book.rewriting
    for title, part in book.worksheets():
        for relation in rewriting.relations(part):
            if relation.kind != "pivotTable" or relation.target not in rewriting:
                continue
            name = rewriting.root(relation.target).get("name", "")
            caches = (
                each.target
                for each in rewriting.relations(relation.target)
                if each.kind == "pivotCacheDefinition" and each.target in rewriting
            )
            yield name, title, next(caches, "")
