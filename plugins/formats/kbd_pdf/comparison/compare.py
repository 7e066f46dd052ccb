"""Comparison of two versions of a PDF file, and the way of a place from one to the other."""

import re
from collections.abc import Callable
from contextlib import ExitStack

from kbd.errors import ValidationFailed
from kbd.formats import (
    Change,
    ChangeList,
    CompareOptions,
    Comparison,
    Place,
    Source,
    Trace,
)
from kbd_pdf.comparison.pages import (
    PageMatches,
    add_whole_page,
    annotation_place,
    compare_page,
    compare_pages,
    line_place,
    match_pages,
    page_place,
    pair_lines,
)
from kbd_pdf.comparison.record import compare_records, pair_outlines, record_places
from kbd_pdf.comparison.version import PdfVersion, open_version

__all__ = ["compare", "locate", "trace"]

HOW = 'write "page 3", "page 3, line 5" or "property title"'

_PAGE = re.compile(
    r"(?i)\s*(?:pages?|p\.?)?\s*#?\s*(\d{1,7})\s*(?:[,:;]\s*(line|annotation)\s*(\d{1,7}))?\s*"
)
_GONE = Trace(None)


def compare(before: Source | None, after: Source | None, options: CompareOptions) -> Comparison:
    """Return what differs between two versions of a file; see `Comparable.compare`."""
    source = after or before
    assert source is not None
    if options.named():
        raise ValidationFailed(
            f"{source.name} is compared whole; a PDF file takes no {options.named()[0]}"
        )
    changes = ChangeList()
    if before is None or after is None:
        with open_version(source, with_looks=False) as version:
            for index in range(len(version.pages)):
                add_whole_page(version, index, "added" if before is None else "removed", changes)
            _add_warnings(version, changes)
    elif before.path.read_bytes() == after.path.read_bytes():
        # Opened all the same: what cannot be read is refused, and what is odd is told.
        with open_version(after, with_looks=False) as version:
            _add_warnings(version, changes)
    else:
        with ExitStack() as stack:
            old, new = (
                stack.enter_context(open_version(each, with_looks=True)) for each in (before, after)
            )
            matches = match_pages(old, new)
            compare_pages(old, new, matches, changes)
            compare_records(old, new, matches, changes)
            _add_warnings(old, changes)
            _add_warnings(new, changes)
    return changes.comparison()


def _add_warnings(version: PdfVersion, changes: ChangeList) -> None:
    for warning in version.warnings:
        changes.warn(warning)


def trace(
    before: Source, after: Source, places: tuple[Place, ...], *, forward: bool
) -> tuple[Trace, ...]:
    """Return where places of one version stand in the other; raises FileReadFailed."""
    with ExitStack() as stack:
        old, new = (
            stack.enter_context(open_version(each, with_looks=True)) for each in (before, after)
        )
        route = _Route(old, new, match_pages(old, new), forward=forward)
        return tuple(route.trace(place) for place in places)


class _Route:
    """The way from one version to the other, over the pairs that a comparison finds."""

    def __init__(
        self, before: PdfVersion, after: PdfVersion, matches: PageMatches, *, forward: bool
    ) -> None:
        self._before, self._after = before, after
        self._matches = matches
        self._forward = forward
        self._records: tuple[Change, ...] | None = None

    def trace(self, place: Place) -> Trace:
        """Return where a place stands in the other version."""
        if place.page is None:
            return self._trace_record(place)
        ends = self._ends(self._matches.pairs, place.page - 1)
        if ends is None:
            return _GONE
        i, j = ends
        end = j if self._forward else i
        old, new = self._before.pages[i], self._after.pages[j]
        if place.line is None and place.part is None:
            found = ChangeList()
            compare_page(self._before, i, self._after, j, found)
            return Trace(page_place(end), is_changed=found.total > 0)
        if place.line is not None:
            olds, news, number = old.text.split("\n"), new.text.split("\n"), place.line
            place_of: Callable[[int, int], Place] = line_place
        else:
            digits = (place.part or "").rpartition(" ")[2]
            olds, news = list(old.notes), list(new.notes)
            number = int(digits) if digits.isdecimal() else 0
            place_of = annotation_place
        lines = self._ends(pair_lines(olds, news), number - 1)
        if lines is None:
            return _GONE
        at = lines[1] if self._forward else lines[0]
        return Trace(place_of(end, at), is_changed=olds[lines[0]] != news[lines[1]])

    def _ends(self, pairs: list[tuple[int | None, int | None]], at: int) -> tuple[int, int] | None:
        """Return both indices of an item by that on this side, None if it is not on both."""
        for i, j in pairs:
            if i is not None and j is not None and (i if self._forward else j) == at:
                return i, j
        return None

    def _trace_record(self, place: Place) -> Trace:
        part = place.part or ""
        if self._records is None:
            found = ChangeList()
            compare_records(self._before, self._after, self._matches, found)
            self._records = found.comparison().changes
        there = record_places(self._after if self._forward else self._before)
        after = part
        if part.startswith("outline entry "):
            number = part.rpartition(" ")[2]
            at = int(number) - 1 if number.isdecimal() else -1
            ends = self._ends(pair_outlines(self._before, self._after), at)
            if ends is None:
                return _GONE
            after = f"outline entry {ends[1] + 1}"
            part = after if self._forward else f"outline entry {ends[0] + 1}"
        target = next((each for each in there if each.part == part), None)
        if target is None:
            return _GONE
        changed = any(
            each.place.part == after and each.kind == "changed" and each.place.page is None
            for each in self._records
        )
        return Trace(target, is_changed=changed)


def locate(source: Source, text: str) -> Place:
    """Return the place that a text means; see `Comparable.locate`."""
    with open_version(source, with_looks=False) as version:
        found = _PAGE.fullmatch(text)
        if found is not None:
            return _locate_page(version, int(found[1]), (found[2] or "").lower(), found[3])
        wanted = " ".join(text.split()).casefold()
        for place in record_places(version):
            if place.title.casefold() == wanted:
                return place
        raise ValidationFailed(f'"{text[:80]}" is no place of {source.name}; {HOW}')


def _locate_page(version: PdfVersion, page: int, what: str, number: str | None) -> Place:
    count = len(version.pages)
    if not 1 <= page <= count:
        raise ValidationFailed(
            f"{version.name} has no page {page}; it has {count} page{'s' * (count != 1)}"
        )
    if number is None:
        return page_place(page - 1)
    facts = version.pages[page - 1]
    most = len(facts.notes) if what == "annotation" else facts.text.count("\n") + 1
    if not 1 <= int(number) <= most:
        raise ValidationFailed(
            f"page {page} of {version.name} has {most} {what}s, not {number}; {HOW}"
        )
    place_of = annotation_place if what == "annotation" else line_place
    return place_of(page - 1, int(number) - 1)
