"""Comparison of two versions of a document: all changes, places followed, places found by text."""

from collections.abc import Iterator
from contextlib import ExitStack

from kbd.formats import (
    Change,
    ChangeList,
    CompareOptions,
    Comparison,
    Place,
    Source,
)
from kbd.opc.element_names import local_name
from kbd_docx.comparison.definitions import (
    compare_definitions,
    compare_page_ends,
    compare_parts,
)
from kbd_docx.comparison.differences import ParagraphDifferences, joined
from kbd_docx.comparison.lists import match_lists
from kbd_docx.comparison.matches import BlockMatches, Event, MatchSide, match_items
from kbd_docx.comparison.places import DocxPlaces, part_place
from kbd_docx.comparison.references import compare_references
from kbd_docx.comparison.surroundings import (
    NOTE_KINDS,
    compare_headers_footers,
    compare_notes,
    read_headers,
)
from kbd_docx.comparison.tables import TableCells, compare_tables
from kbd_docx.comparison.version import DocxVersion, open_version
from kbd_docx.reader.builder import read_contents

__all__ = ["compare", "locate", "match_bodies"]

_MAX_TRACKED = 5
_OTHERS = {"oMathPara": "formula", "oMath": "formula", "altChunk": "inserted file"}


def compare(before: Source | None, after: Source | None, options: CompareOptions) -> Comparison:
    """Compare two versions of a document; one of them may be none.

    Raises:
        FileReadFailed: A version cannot be read.
    """
    del options
    out = ChangeList()
    with ExitStack() as stack:
        old = stack.enter_context(open_version(before)) if before is not None else None
        new = stack.enter_context(open_version(after)) if after is not None else None
        if old is not None and new is not None:
            _compare_versions(old, new, out)
        elif new is not None:
            _add_whole(new, out, is_after=True)
        elif old is not None:
            _add_whole(old, out, is_after=False)
    return out.comparison()


def match_bodies(before: DocxVersion, after: DocxVersion) -> BlockMatches:
    """Return which blocks of two bodies are the same."""
    sides = []
    is_otherwise = _mean_otherwise(before, after)
    for version in (before, after):
        # Where a prefix means something else equal XML is not equal.
        salt = b"before" if is_otherwise and version is before else b""
        sides.append(
            MatchSide(
                raw=[block.key + salt for block in version.body.blocks],
                key=version.key,
                move_key=version.move_key,
                words=version.words,
                traits=version.traits,
            )
        )
    found = match_items(*sides)
    others = dict(match_lists(before, after, found).others)
    found.changed.update(others.values())
    found.events += (Event("paired", i, j) for i, j in others.items())
    if others:
        found.events.sort(key=lambda event: event.after)
    return found


def locate(source: Source, text: str) -> Place:
    """Return the place that a person means by a text.

    Raises:
        FileReadFailed: The document cannot be read.
        ValidationFailed: The text is no place, or the document has no such place.
    """
    return DocxPlaces(source.name, read_contents(source)).locate(text)


def _mean_otherwise(before: DocxVersion, after: DocxVersion) -> bool:
    ours, theirs = before.body.spaces, after.body.spaces
    return any(theirs.get(prefix, space) != space for prefix, space in ours.items())


def _compare_versions(before: DocxVersion, after: DocxVersion, out: ChangeList) -> None:
    found = match_bodies(before, after)
    lists = match_lists(before, after, found).same
    differences = ParagraphDifferences(before, after, out, lists)
    for event in found.events:
        match event.kind:
            case "removed":
                _add_block(before, event.before, out, is_after=False)
            case "added":
                _add_block(after, event.after, out, is_after=True)
            case "moved":
                _add_moved(before, after, event, differences, out)
            case "paired":
                _compare_blocks(before, after, (event.before, event.after), differences, out)
    compare_headers_footers(before, after, differences, out)
    compare_notes(before, after, differences, out)
    compare_definitions(before, after, out)
    compare_page_ends(before, after, found, out)
    compare_references(before, after, out)
    compare_parts(before, after, out)


def _compare_blocks(
    before: DocxVersion,
    after: DocxVersion,
    blocks: tuple[int, int],
    differences: ParagraphDifferences,
    out: ChangeList,
) -> None:
    """Add what differs between two blocks that are the same one."""
    old, new = blocks
    place = _place(after, new)
    if after.block(new).kind == "paragraph":
        differences.add(before.paragraph(old), after.paragraph(new), place, "paragraph")
    elif out.is_full:
        out.count("changed", "table", 1)
    else:
        compare_tables(TableCells(before, old), TableCells(after, new), differences, out)


def _add_moved(
    before: DocxVersion,
    after: DocxVersion,
    event: Event,
    differences: ParagraphDifferences,
    out: ChangeList,
) -> None:
    """Add blocks that moved together as one change; what differs in them beside it follows."""
    what = _what(after, event.after)
    place, source = _place(after, event.after), _place(before, event.before)
    old = [_block_text(before, event.before + offset) for offset in range(event.length)]
    new = [_block_text(after, event.after + offset) for offset in range(event.length)]
    note = f"{event.length} blocks that stand together" if event.length > 1 else ""
    out.add(
        Change(place, "moved", what, "\n".join(old), "\n".join(new), moved_from=source, note=note)
    )
    for offset in range(event.length):
        pair = event.before + offset, event.after + offset
        if before.key(pair[0]) != after.key(pair[1]):
            _compare_blocks(before, after, pair, differences, out)


def _add_block(version: DocxVersion, index: int, out: ChangeList, *, is_after: bool) -> None:
    """Add a block that came or went."""
    what = _what(version, index)
    if out.is_full:
        out.count("added" if is_after else "removed", what, 1)
        return
    value: object
    note, is_cut = "", False
    if version.block(index).kind == "table":
        value, is_cut = TableCells(version, index).listed()
    elif version.block(index).kind == "paragraph":
        content = version.paragraph(index)
        value = content.shown
        note = "; ".join(each.words for each in content.tracked[:_MAX_TRACKED])
        if not content.text.strip() and len(content.items) == 1:
            what = content.items[0].kind
    else:
        value = _block_text(version, index)
    place = _place(version, index)
    if is_after:
        change = Change(place, "added", what, after=value, note=note, is_cut=is_cut)
    else:
        change = Change(place, "removed", what, before=value, note=note, is_cut=is_cut)
    out.add(change)


def _add_whole(version: DocxVersion, out: ChangeList, *, is_after: bool) -> None:
    """Add all that a document holds as added or removed; blank paragraphs are none."""
    for index, block in enumerate(version.body.blocks):
        if block.kind != "paragraph" or out.is_full or not version.paragraph(index).is_blank:
            _add_block(version, index, out, is_after=is_after)
    for what, place, text in _around(version):
        if is_after:
            out.add(Change(place, "added", what, after=text))
        else:
            out.add(Change(place, "removed", what, before=text))


def _around(version: DocxVersion) -> Iterator[tuple[str, Place, str]]:
    """Yield what stands around the body and says something."""
    for header in read_headers(version):
        text = joined(header.paragraphs).shown
        if text.strip():
            yield header.kind, part_place(header.title), text
    for kind in NOTE_KINDS:
        for note in version.notes(kind):
            yield "comment" if kind == "comment" else "note", part_place(note.title), note.text


def _what(version: DocxVersion, index: int) -> str:
    block = version.block(index)
    if block.kind != "other":
        return block.kind
    return _OTHERS.get(local_name(version.element(index)), "mark between paragraphs")


def _place(version: DocxVersion, index: int) -> Place:
    block = version.block(index)
    if block.kind == "table":
        return version.places.table(block.number)
    count = len(version.body.places["paragraph"])
    # What stands between paragraphs has the place of the next one.
    return version.places.paragraph(max(0, min(block.number, count - 1)))


def _block_text(version: DocxVersion, index: int) -> str:
    block = version.block(index)
    if block.kind == "paragraph":
        return version.paragraph(index).shown
    if block.kind == "table":
        rows, _ = TableCells(version, index).listed()
        return "\n".join(" | ".join(row) for row in rows)
    element = version.element(index)
    text = " ".join(str(text) for text in element.itertext()).strip()
    return text or local_name(element)
