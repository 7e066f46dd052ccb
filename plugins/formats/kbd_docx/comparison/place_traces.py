"""Traces of places: where what stands in one version of a document is in another one.

They follow the same matches of which a comparison is made, and what they call changed is that for
which the comparison has a change.
"""

from contextlib import ExitStack
from functools import cached_property

from kbd.formats import ChangeList, Place, Source, Trace
from kbd_docx.comparison.body import BlockKind
from kbd_docx.comparison.definitions import compare_definitions, compare_parts
from kbd_docx.comparison.differences import ParagraphDifferences
from kbd_docx.comparison.document_comparison import match_bodies
from kbd_docx.comparison.matches import BlockMatches
from kbd_docx.comparison.places import part_place
from kbd_docx.comparison.surroundings import (
    NOTE_KINDS,
    compare_headers_footers,
    compare_notes,
    header_pairs,
    match_notes,
)
from kbd_docx.comparison.tables import TableCells, TableMatch, compare_tables, match_tables
from kbd_docx.comparison.version import DocxVersion, open_version

__all__ = ["trace"]

_NOWHERE = Trace(None)


def trace(
    before: Source, after: Source, places: tuple[Place, ...], *, forward: bool
) -> tuple[Trace, ...]:
    """Return where places of one version stand in the other, and whether they differ there.

    Args:
        before: The version before.
        after: The version after.
        places: Of the version before if forward, else of the one after.
        forward: Which way to look.

    Raises:
        FileReadFailed: A version cannot be read.
    """
    with ExitStack() as stack:
        old = stack.enter_context(open_version(before))
        new = stack.enter_context(open_version(after))
        tracer = _Tracer(old, new, forward=forward)
        return tuple(map(tracer.trace, places))


class _Tracer:
    """Tracer of places between two versions, one way."""

    def __init__(self, before: DocxVersion, after: DocxVersion, *, forward: bool) -> None:
        self._before, self._after, self._forward = before, after, forward
        self._here, self._there = (before, after) if forward else (after, before)
        self._tables: dict[int, _TableTrace] = {}

    def trace(self, place: Place) -> Trace:
        """Return where a place is."""
        if place.table is not None:
            return self._table(place.table, place)
        if place.paragraph is not None:
            return self._paragraph(place.paragraph)
        if place.part is not None:
            return self._part(place.part)
        sections = self._here.contents.sections
        if place.section is not None and 0 <= place.section < len(sections):
            first = sections[place.section].first
            return self._paragraph(first - 1) if first else _NOWHERE
        return _NOWHERE

    @cached_property
    def _bodies(self) -> BlockMatches:
        return match_bodies(self._before, self._after)

    def _block(self, kind: BlockKind, number: int) -> tuple[int, int] | None:
        """Return the indices of a block here and there, None if it is not in both."""
        blocks = self._here.body.places[kind]
        if not 0 <= number < len(blocks):
            return None
        here = blocks[number]
        way = self._bodies.forward if self._forward else self._bodies.backward
        there = way.get(here)
        return None if there is None else (here, there)

    def _paragraph(self, number: int) -> Trace:
        found = self._block("paragraph", number)
        if found is None:
            return _NOWHERE
        place = self._there.places.paragraph(self._there.block(found[1]).number)
        old, new = found if self._forward else found[::-1]
        if new not in self._bodies.changed:
            return Trace(place)
        out = ChangeList()
        differences = ParagraphDifferences(self._before, self._after, out)
        differences.add(self._before.paragraph(old), self._after.paragraph(new), place, "paragraph")
        return Trace(place, is_changed=out.comparison().total > 0)

    def _table(self, number: int, place: Place) -> Trace:
        found = self._block("table", number)
        if found is None:
            return _NOWHERE
        old, new = found if self._forward else found[::-1]
        if new not in self._tables:
            self._tables[new] = _TableTrace(self._before, self._after, (old, new))
        return self._tables[new].trace(place, forward=self._forward)

    @cached_property
    def _around(self) -> dict[str, str]:
        """The headers, footers and notes of here, with what they are called there."""
        pairs = list(header_pairs(self._before, self._after))
        for kind in NOTE_KINDS:
            old, new = self._before.notes(kind), self._after.notes(kind)
            for i, j in match_notes(old, new).forward.items():
                pairs.append((old[i].title, new[j].title))
        return dict(pairs if self._forward else [(new, old) for old, new in pairs])

    @cached_property
    def _differing(self) -> dict[str, set[str]]:
        """What differs beside the body: by part, what happened to it."""
        out = ChangeList()
        differences = ParagraphDifferences(self._before, self._after, out)
        compare_headers_footers(self._before, self._after, differences, out)
        compare_notes(self._before, self._after, differences, out)
        compare_definitions(self._before, self._after, out)
        compare_parts(self._before, self._after, out)
        found: dict[str, set[str]] = {}
        for change in out.comparison().changes:
            found.setdefault(change.place.part or "", set()).add(change.kind)
        return found

    def _part(self, part: str) -> Trace:
        if part.partition(" ")[0] in ("header", "footer", *NOTE_KINDS):
            there = self._around.get(part)
            if there is None:
                return _NOWHERE
            after = there if self._forward else part
            return Trace(part_place(there), is_changed=after in self._differing)
        kinds = self._differing.get(part, set())
        # The properties are one place for many, of which some may have come or gone.
        if part != "properties" and ("removed" if self._forward else "added") in kinds:
            return _NOWHERE
        return Trace(part_place(part), is_changed=bool(kinds))


class _TableTrace:
    """Tracer of places in one table."""

    def __init__(self, before: DocxVersion, after: DocxVersion, blocks: tuple[int, int]) -> None:
        self._old, self._new = TableCells(before, blocks[0]), TableCells(after, blocks[1])
        self._match: TableMatch = match_tables(self._old, self._new)
        out = ChangeList()
        compare_tables(self._old, self._new, ParagraphDifferences(before, after, out), out)
        found = out.comparison()
        self._changed = [change.place for change in found.changes]

    def trace(self, place: Place, *, forward: bool) -> Trace:
        """Return where a place of the table is."""
        here, there = (self._old, self._new) if forward else (self._new, self._old)
        row = column = None
        if place.row is not None:
            row = self._row(here, there, place.row, forward=forward)
            if row is None:
                return _NOWHERE
        if isinstance(place.column, int) and self._match.has_same_columns:
            column = place.column if place.column < there.column_count else None
            if column is None:
                return _NOWHERE
        elif isinstance(place.column, int):
            ways = dict(self._match.columns)
            ways = ways if forward else {new: old for old, new in ways.items()}
            column = ways.get(place.column)
            if column is None:
                return _NOWHERE
        found = there.version.places.table(there.number, row, column)
        after = found if forward else place
        return Trace(found, is_changed=any(_holds(after, each) for each in self._changed))

    def _row(
        self, here: TableCells, there: TableCells, number: int, *, forward: bool
    ) -> int | None:
        """Return the number that a row has there, None if it is not there."""
        index = next(
            (at for at, row in enumerate(here.rows) if row.number == number and not row.is_deleted),
            None,
        )
        way = self._match.rows.forward if forward else self._match.rows.backward
        other = None if index is None else way.get(index)
        return None if other is None else there.rows[other].number


def _holds(place: Place, changed: Place) -> bool:
    """Whether a change of the version after is in a place of it, or is of all that it is in."""
    return all(
        ours is None or theirs is None or ours == theirs
        for ours, theirs in ((place.row, changed.row), (place.column, changed.column))
    )
