"""Copies that charts keep of cells: points that differ must be what the cells hold by now."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from judging.book import Book
from judging.cells import Value
from judging.contents import plain
from judging.package import Element, local
from judging.places import box

__all__ = ["COPIED", "wrong_points"]

COPIED = ("pt", "ptCount")
"""Elements of a copy, by local name."""

_RANGE = re.compile(r"(?:'((?:[^']|'')+)'|([^'!\[\]]+))!(\$?[A-Z]+\$?\d+(?::\$?[A-Z]+\$?\d+)?)")


class Copy(NamedTuple):
    """What is kept of the cells that a formula names, for points or a title: texts by number."""

    formula: str
    is_number: bool
    is_title: bool
    points: dict[str, str]


def _copies(root: Element) -> list[Copy]:
    found = []
    for reference in root.iter("{*}numRef", "{*}strRef", "{*}multiLvlStrRef", "{*}datalabelsRange"):
        formula = (reference.findtext("{*}f") or "").strip()
        points = {}
        for level, holder in enumerate([*reference.iter("{*}lvl")] or [reference]):
            for point in holder.iter("{*}pt"):
                key = f"{level}:{point.get('idx')}"
                points[key] = (point.findtext("{*}v") or "").strip()
        is_title = any(local(above) == "title" for above in reference.iterancestors())
        found.append(Copy(formula, local(reference) == "numRef", is_title, points))
    return found


def wrong_points(was: Element, now: Element, book: Book, texts: set[str]) -> Iterator[str]:
    """Yield what a chart keeps otherwise than before though no cell says so.

    Args:
        was: The chart before.
        now: The chart after.
        book: The workbook after.
        texts: Those that some cell still holds.
    """
    before, after = _copies(was), _copies(now)
    if len(before) != len(after):
        # A title that is no longer linked keeps no copy; that it is another is told elsewhere.
        before, after = ([each for each in side if not each.is_title] for side in (before, after))
    if len(before) != len(after):
        yield f"{len(before)} copies, then {len(after)}"
        return
    for old, new in zip(before, after, strict=True):
        if old.points == new.points:
            continue
        held = _held(book, new.formula)
        if held is None:
            gone = {text for key, text in old.points.items() if new.points.get(key) != text}
            if gone & texts or set(new.points) - set(old.points):
                yield f"{new.formula} cannot be found, and its points differ"
            continue
        shown = {text for value in held if (text := _text(value, is_number=new.is_number))}
        stored = {_number(text) if new.is_number else text for text in new.points.values()}
        # A number among texts is stored as somebody saw it.
        has_looks = not new.is_number and any(isinstance(value, float) for value in held)
        if (wrong := stored - shown) and not has_looks:
            yield f"{new.formula} has points that no cell holds: {sorted(wrong)[:5]}"
        if missing := shown - stored:
            yield f"{new.formula} lacks {sorted(missing)[:5]}"


def _held(book: Book, formula: str) -> list[Value] | None:
    """Return what the cells of a range hold; None where it is none of the workbook."""
    found = _RANGE.fullmatch(formula)
    if found is None:
        return None
    title = (found[1] or "").replace("''", "'") or found[2]
    try:
        cells = book.sheet(title).cells
    except KeyError:
        return None
    area = box(found[3].replace("$", ""))
    return [cell.value for at, cell in cells.items() if area.holds(at) and cell.kind != "blank"]


def _text(value: Value, *, is_number: bool) -> str:
    if isinstance(value, bool):
        return "" if is_number else str(value).upper()
    if value is None or is_number != isinstance(value, float):
        return ""
    return format(value, ".14g") if isinstance(value, float) else str(plain(value)).strip()


def _number(text: str) -> str:
    try:
        return format(float(text), ".14g")
    except ValueError:
        return text
