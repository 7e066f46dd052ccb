"""Comparison of two versions of an OpenDocument text; places followed, and found by titles."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Any

from kbd.errors import ValidationFailed
from kbd.formats import Change, ChangeList, CompareOptions, Comparison, Place, Source, Trace
from kbd.formats.alignment import align, diff_words, match_rows
from kbd_odt.comparison.text_matches import BlockMatches, match_blocks
from kbd_odt.comparison.text_version import Inset, Look, OdtVersion, TextBlock, read_version
from kbd_odt.document import Margin, OdtDocument, Section, read_document

__all__ = ["compare", "locate", "trace"]

_HEADING_CHARS = 80
_MAX_ROWS = 500
_NO_WORDS = "it is made otherwise in a way that has no words here"
_PLACE = re.compile(
    r"(?:.*\S\s*[,:;]\s*)?(?:(paragraph|table)\s*(\d{1,9}))"
    r"(?:\s*,?\s*row\s*(\d{1,9}))?(?:\s*,?\s*col(?:umn)?\s*(\d{1,9}))?",
    re.IGNORECASE | re.DOTALL,
)
_MARGIN = re.compile(r"(header|footer)\s*(\d{1,9})", re.IGNORECASE)
_BESIDE = re.compile(r"properties|style .+|page layout .+", re.IGNORECASE)


def compare(before: Source | None, after: Source | None, options: CompareOptions) -> Comparison:
    """Compare two versions of a text; one of them may be none.

    Raises:
        FileReadFailed: A version cannot be read.
    """
    del options
    out = ChangeList()
    old = read_version(before) if before is not None else None
    new = read_version(after) if after is not None else None
    if old is not None and new is not None:
        _compare_bodies(old, new, match_blocks(old.blocks, new.blocks), out)
        _compare_margins(old, new, out)
        _compare_around(old, new, out)
        if old.digest != new.digest:
            place = Place("contents", part="contents")
            out.add(Change(place, "changed", "part", note=_NO_WORDS))
        return out.comparison()
    whole = old or new
    for block in whole.blocks if whole is not None else ():
        if whole is not None and (block.text or block.rows or block.insets):
            _add_block(whole, block, out, is_after=new is not None)
    return out.comparison()


def trace(
    before: Source, after: Source, places: tuple[Place, ...], *, forward: bool
) -> tuple[Trace, ...]:
    """Return where places of one version stand in the other, and whether they differ there.

    Raises:
        FileReadFailed: A version cannot be read.
    """
    old, new = read_version(before), read_version(after)
    found = match_blocks(old.blocks, new.blocks)
    out = ChangeList()
    _compare_margins(old, new, out)
    _compare_around(old, new, out)
    beside = {change.place.part: change.kind for change in out.comparison().changes}
    return tuple(_traced(place, old, new, found, beside, forward=forward) for place in places)


def locate(source: Source, text: str) -> Place:
    """Return the place that a person means by a text.

    Raises:
        FileReadFailed: The text cannot be read.
        ValidationFailed: It is no place, or the text has none such.
    """
    document = read_document(source)
    wanted = text.strip()
    if _MARGIN.fullmatch(wanted) or _BESIDE.fullmatch(wanted):
        return Place(wanted.lower() if _MARGIN.fullmatch(wanted) else wanted, part=wanted)
    found = _PLACE.fullmatch(wanted)
    if found is None:
        folded = "".join(wanted.split()).casefold()
        for section in document.sections:
            first = _first(section)
            if first and folded and "".join(section.heading.split()).casefold() == folded:
                return _paragraph_place(document, first - 1)
        raise ValidationFailed(
            f'"{wanted[:_HEADING_CHARS]}" is no place of {source.name}; places are written '
            '"Pricing, paragraph 12", "table 1, row 2, column 3", "header 1" or as a heading; '
            "numbers count from 1 over the whole text"
        )
    kind, number = found[1].lower(), int(found[2])
    total = document.paragraph_count if kind == "paragraph" else len(document.tables)
    if not 1 <= number <= total:
        raise ValidationFailed(
            f"there is no {kind} {number} in {source.name}: it has {total}, counted from 1"
        )
    if kind == "paragraph":
        return _paragraph_place(document, number - 1)
    row, column = (int(each) - 1 if each else None for each in (found[3], found[4]))
    table = document.tables[number - 1]
    if (row is not None and not 0 <= row < table.row_count) or (
        column is not None and not 0 <= column < table.column_count
    ):
        raise ValidationFailed(
            f"table {number} of {source.name} has {table.row_count} rows and {table.column_count} "
            "columns, counted from 1"
        )
    return _table_place(document, number - 1, row, column)


def _compare_bodies(old: OdtVersion, new: OdtVersion, found: BlockMatches, out: ChangeList) -> None:
    for event in found.events:
        if event.kind == "removed":
            _add_block(old, old.blocks[event.before], out, is_after=False)
        elif event.kind == "added":
            _add_block(new, new.blocks[event.after], out, is_after=True)
        else:
            one, other = old.blocks[event.before], new.blocks[event.after]
            place = _place(new.document, other)
            if event.kind == "moved":
                source = _place(old.document, one)
                values = _value(one), _value(other)
                out.add(Change(place, "moved", other.kind, *values, moved_from=source))
            if one.digest != other.digest:
                _compare_blocks(one, other, new, place, out)


def _compare_blocks(
    one: TextBlock, other: TextBlock, new: OdtVersion, place: Place, out: ChangeList
) -> None:
    found = ChangeList()
    details = _difference(one.look, other.look)
    values = (one.text or None, other.text or None)
    if one.text != other.text:
        words = diff_words(one.text, other.text)
        texts = one.text, other.text
        found.add(Change(place, "changed", other.kind, *texts, words=words, details=details))
    elif details:
        found.add(Change(place, "changed", "format", *values, details=details))
    if other.kind == "table":
        _compare_tables(one, other, new, found)
    _compare_runs(one, other, place, found)
    _compare_insets(one.insets, other.insets, place, found)
    changes = found.comparison().changes
    for change in changes:
        out.add(change)
    if not changes or _is_more(one, other):
        out.add(Change(place, "changed", "format", *values, note=_NO_WORDS))


def _is_more(one: TextBlock, other: TextBlock) -> bool:
    """Whether blocks differ in more than their texts, formatting, pictures and notes."""
    if other.kind == "table":
        # Rows that came or went bring their own.
        return one.marks != other.marks and len(one.rows) == len(other.rows)
    if one.text == other.text:
        return one.marks != other.marks and one.insets == other.insets
    # In another text marks are not where they were.
    sides = [Counter(mark.partition(" ")[2] for mark in each.marks) for each in (one, other)]
    for side, each in zip(sides, (one, other), strict=True):
        side.subtract(f"{inset.kind} stands here" for inset in each.insets)
    return +sides[0] != +sides[1]


def _compare_runs(one: TextBlock, other: TextBlock, place: Place, out: ChangeList) -> None:
    """Add how stretches of text that is in both look otherwise, or link elsewhere."""
    looks = [[look for text, look in each.runs for _ in text] for each in (one, other)]
    texts = ["".join(text for text, _ in each.runs) for each in (one, other)]
    if len({look for each in (one, other) for _, look in each.runs}) < 2:
        return
    words = diff_words(*texts) if texts[0] != texts[1] else (("equal", texts[0]),)
    i = j = 0
    for kind, text in words:
        if kind == "equal":
            span = looks[0][i : i + len(text)], looks[1][j : j + len(text)]
            _compare_looks(*span, text, place, out)
        i += len(text) if kind != "added" else 0
        j += len(text) if kind != "removed" else 0


def _compare_looks(
    before: Sequence[Look], after: Sequence[Look], text: str, place: Place, out: ChangeList
) -> None:
    start = 0
    for at in range(1, len(text) + 1):
        if at < len(text) and (before[at], after[at]) == (before[start], after[start]):
            continue
        if details := _difference(before[start], after[start]):
            piece = text[start:at]
            if "link" in details:
                out.add(Change(place, "changed", "link", *details["link"]))
                del details["link"]
            if details:
                out.add(Change(place, "changed", "format", piece, piece, details=details))
        start = at


def _compare_insets(
    old: Sequence[Inset], new: Sequence[Inset], place: Place, out: ChangeList
) -> None:
    for stretch in align(old, new):
        if stretch.kind == "equal":
            continue
        gone, come = old[stretch.i1 : stretch.i2], new[stretch.j1 : stretch.j2]
        for one, other in zip_longest(gone, come):
            if one is None:
                out.add(Change(place, "added", other.kind, after=other.text))
            elif other is None:
                out.add(Change(place, "removed", one.kind, before=one.text))
            else:
                words = diff_words(one.text, other.text) if one.text != other.text else ()
                note = "" if words else "how it is drawn, or what it shows, differs"
                out.add(
                    Change(place, "changed", other.kind, one.text, other.text, words=words,
                           note=note)
                )  # fmt: skip


def _compare_tables(one: TextBlock, other: TextBlock, new: OdtVersion, out: ChangeList) -> None:
    for i, j in match_rows(one.rows, other.rows):
        row = _table_place(new.document, other.number, max(i, 0) if j < 0 else j)
        if i < 0:
            out.add(Change(row, "added", "row", after=list(other.rows[j])))
        elif j < 0:
            out.add(Change(row, "removed", "row", before=list(one.rows[i])))
        else:
            for column, (was, now) in enumerate(
                zip_longest(one.rows[i], other.rows[j], fillvalue="")
            ):
                if was != now:
                    place = _table_place(new.document, other.number, j, column)
                    words = diff_words(was, now)
                    out.add(Change(place, "changed", "cell", was, now, words=words))


def _compare_margins(old: OdtVersion, new: OdtVersion, out: ChangeList) -> None:
    """Add what differs between headers and footers."""
    before, after = dict(_margins(old.document.margins)), dict(_margins(new.document.margins))
    for key in [*after, *(each for each in before if each not in after)]:
        was, now = before.get(key), after.get(key)
        title, kind = (now or was or ("", ""))[0], key[0]
        place = Place(title, part=title)
        if was is None and now is not None:
            out.add(Change(place, "added", kind, after=now[1]))
        elif now is None and was is not None:
            out.add(Change(place, "removed", kind, before=was[1]))
        elif was is not None and now is not None and was[1] != now[1]:
            words = diff_words(was[1], now[1])
            out.add(Change(place, "changed", kind, was[1], now[1], words=words))
        elif now is not None and old.margins.get(key) != new.margins.get(key):
            out.add(Change(place, "changed", "format", now[1], now[1], note=_NO_WORDS))


def _margins(margins: Sequence[Margin]) -> Iterator[tuple[tuple[str, str, str], tuple[str, str]]]:
    """Yield headers and footers by what tells them apart, with their titles and texts."""
    counts: Counter[str] = Counter()
    for margin in margins:
        counts[margin.kind] += 1
        title = f"{margin.kind} {counts[margin.kind]}"
        yield (margin.kind, margin.page_style, margin.type), (title, margin.text)


def _compare_around(old: OdtVersion, new: OdtVersion, out: ChangeList) -> None:
    """Add what differs in styles, pages, properties and parts."""
    for name in sorted({*old.styles, *new.styles}):
        place = Place(name, part=name)
        what = "section" if name.startswith("page layout") else "style"
        if name not in old.styles:
            out.add(Change(place, "added", what, after=name))
        elif name not in new.styles:
            out.add(Change(place, "removed", what, before=name))
        elif details := _difference(old.styles[name], new.styles[name]):
            out.add(Change(place, "changed", what, details=details))
    properties = Place("properties", part="properties")
    for name in sorted({*old.properties, *new.properties}):
        was, now = old.properties.get(name), new.properties.get(name)
        if was != now:
            kind = "added" if was is None else "removed" if now is None else "changed"
            details = {name: (was, now)}
            match kind:
                case "added":
                    out.add(Change(properties, "added", "property", after=now, details=details))
                case "removed":
                    out.add(Change(properties, "removed", "property", was, details=details))
                case _:
                    out.add(Change(properties, "changed", "property", was, now, details=details))
    _compare_parts(old, new, out)


def _compare_parts(old: OdtVersion, new: OdtVersion, out: ChangeList) -> None:
    """Add the parts that differ; what has another name than before has changed for nobody."""
    ours, theirs = set(old.parts.values()), set(new.parts.values())
    for name in sorted({*old.parts, *new.parts}):
        was, now = old.parts.get(name), new.parts.get(name)
        # Pictures are told where they are shown, by what they hold.
        if was == now or name.startswith(("Pictures/", "media/")):
            continue
        place = Place(name, part=name)
        if was is None and now is not None and now not in ours:
            out.add(Change(place, "added", "part", after=_facts(now)))
        elif now is None and was is not None and was not in theirs:
            out.add(Change(place, "removed", "part", before=_facts(was)))
        elif was is not None and now is not None:
            out.add(Change(place, "changed", "part", _facts(was), _facts(now)))


def _facts(part: tuple[int, str]) -> dict[str, Any]:
    return {"size_bytes": part[0], "sha256": part[1]}


def _add_block(version: OdtVersion, block: TextBlock, out: ChangeList, *, is_after: bool) -> None:
    place = _place(version.document, block)
    what = block.kind
    if not block.text and not block.rows and block.insets:
        what = block.insets[0].kind
    value, is_cut = _value(block), len(block.rows) > _MAX_ROWS
    if is_after:
        out.add(Change(place, "added", what, after=value, is_cut=is_cut))
    else:
        out.add(Change(place, "removed", what, before=value, is_cut=is_cut))


def _value(block: TextBlock) -> Any:
    if block.kind == "table":
        return [list(row) for row in block.rows[:_MAX_ROWS]]
    return block.text or " ".join(each.text for each in block.insets)


_COPIES = ("-asian", "-complex")
"""Twins of a property for other scripts; programs write all, and people see one."""


def _difference(before: Look, after: Look) -> dict[str, tuple[Any, Any]]:
    old, new = dict(before), dict(after)
    found = {
        name: (old.get(name), new.get(name))
        for name in sorted({*old, *new})
        if old.get(name) != new.get(name)
    }
    values = {pair[1] for name, pair in found.items() if not name.endswith(_COPIES)}
    return {
        name: pair for name, pair in found.items()
        if not name.endswith(_COPIES) or pair[1] not in values
    }  # fmt: skip


def _place(document: OdtDocument, block: TextBlock) -> Place:
    if block.kind == "table":
        return _table_place(document, block.number)
    if block.kind == "paragraph":
        return _paragraph_place(document, block.number)
    return Place(f"shape {block.number + 1} between paragraphs", part=f"shape {block.number + 1}")


def _paragraph_place(document: OdtDocument, number: int) -> Place:
    # Only the first section can be without a paragraph: each other one has its heading.
    index = max(0, bisect_right(document.sections, number + 1, key=_first) - 1)
    title = _titled(document, index, f"paragraph {number + 1}")
    return Place(title, section=index, paragraph=number)


def _first(section: Section) -> int:
    """Return the number of a section's first paragraph, 0 if it has none."""
    return next((chunk.first for chunk in section.chunks if chunk.first), 0)


def _table_place(
    document: OdtDocument, number: int, row: int | None = None, column: int | None = None
) -> Place:
    index = document.tables[number].section if number < len(document.tables) else 0
    title = f"table {number + 1}"
    title += "" if row is None else f", row {row + 1}"
    title += "" if column is None else f", column {column + 1}"
    title = _titled(document, index, title)
    return Place(title, section=index, table=number, row=row, column=column)


def _titled(document: OdtDocument, section: int, title: str) -> str:
    heading = document.sections[section].heading if section < len(document.sections) else ""
    return f"{heading[:_HEADING_CHARS]}, {title}" if heading else title


def _traced(
    place: Place,
    old: OdtVersion,
    new: OdtVersion,
    found: BlockMatches,
    beside: Mapping[str | None, str],
    *,
    forward: bool,
) -> Trace:
    """Return where one place is."""
    here, there = (old, new) if forward else (new, old)
    if place.part is not None:
        kind = beside.get(place.part)
        if kind == ("removed" if forward else "added") and place.part != "properties":
            return Trace(None)
        return Trace(place, is_changed=kind is not None)
    kind = "paragraph" if place.paragraph is not None else "table"
    number = place.paragraph if place.paragraph is not None else place.table
    ways = found.forward if forward else {j: i for i, j in found.forward.items()}
    at = next((index for index, each in enumerate(here.blocks)
               if each.kind == kind and each.number == number), -1)  # fmt: skip
    other = ways.get(at)
    if other is None:
        return Trace(None)
    one, two = here.blocks[at], there.blocks[other]
    if kind == "paragraph" or place.row is None:
        return Trace(_place(there.document, two), is_changed=one.digest != two.digest)
    rows = match_rows(one.rows, two.rows) if forward else (
        (i, j) for j, i in match_rows(two.rows, one.rows)
    )  # fmt: skip
    row = next((j for i, j in rows if i == place.row and j >= 0), None)
    if row is None:
        return Trace(None)
    was, now = one.rows[place.row], two.rows[row]
    column = place.column if isinstance(place.column, int) else None
    if column is not None:
        was, now = was[column : column + 1], now[column : column + 1]
    return Trace(_table_place(there.document, two.number, row, column), is_changed=was != now)
