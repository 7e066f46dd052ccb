"""Comparison of two versions of a text.

Lines that were changed, added, removed or moved; and what no line shows: the encoding, the byte
order mark, the line ends, whether the last line has one.
"""

import time
from collections.abc import Iterator, Sequence
from typing import Literal

from kbd.errors import ValidationFailed
from kbd.formats import Change, ChangeList, CompareOptions, Comparison, HunkLine, Place, Source
from kbd.formats.alignment import Move
from kbd.formats.comparison import MAX_CHANGE_CHARACTERS
from kbd.plaintext import line_passages
from kbd.plaintext.stretches import Stretches
from kbd.plaintext.versions import EndCount, add_bytes, add_facts, is_same_file, read_version
from kbd_text.comparison.hunks import HunkWriter, make_hunks
from kbd_text.comparison.line_match import Match, match_lines
from kbd_text.comparison.lines import (
    MAX_LINE_CHARS,
    collect_stretches,
    excerpts,
    line_end,
    read_lines,
    text_of,
)

__all__ = ["compare", "line_place"]

CONTEXT_LINES = 3
"""Lines around those that differ, where no number is given."""

MAX_CONTEXT_LINES = 1_000

MAX_WHOLE_BYTES = 1024 * 1024
"""Of both versions, if they are to be shown whole: a message is at most 10 MiB, and a character
takes up to six bytes there."""


def compare(before: Source | None, after: Source | None, options: CompareOptions) -> Comparison:
    """Return the lines that differ, with hunks; nothing for equal texts.

    Raises:
        FileReadFailed: A version cannot be opened, or is binary.
        ValidationFailed: The number of lines around is none.
    """
    begun = time.monotonic()
    context = _context(options)
    changes = ChangeList()
    if before is None or after is None:
        return _whole(before or after, "removed" if after is None else "added")
    old = read_version(before)
    if is_same_file(before, after):
        return changes.comparison(())
    new = read_version(after)
    if context is None and before.path.stat().st_size + after.path.stat().st_size > MAX_WHOLE_BYTES:
        context = CONTEXT_LINES
        changes.warn(f"the file is too long to be shown whole: {context} lines are shown around")
    ends = EndCount()

    def observe(_: int, at: int, equal: Sequence[str], others: Sequence[str]) -> None:
        for number, (one, other) in enumerate(zip(equal, others, strict=True), at + 1):
            if one != other:
                ends.add(number, line_end(one), line_end(other))

    stretches = collect_stretches(old, new, context, observe, begun)
    match = match_lines(stretches)
    _add_ends(ends, match)
    add_facts(changes, old, new, ends)
    for change in _line_changes(match):
        changes.add(change)
    _add_rest(changes, stretches)
    hunks, is_cut = make_hunks(match, context)
    if is_cut:
        changes.warn("the hunks are too long to be shown whole; more lines differ behind their end")
    if not changes.comparison().total and stretches.is_whole:
        add_bytes(changes, before, after)
    return changes.comparison(hunks)


def _add_ends(ends: EndCount, match: Match) -> None:
    """Add how lines end that were changed or moved."""
    old, new = ({
        at + place: line_end(line)
        for at, lines in sides
        for place, line in enumerate(lines)
    } for sides in (
        [(each.before_at, each.before) for each in match.stretches],
        [(each.after_at, each.after) for each in match.stretches],
    ))  # fmt: skip
    pairs = [
        (stretch.before_at + i, stretch.after_at + j)
        for stretch, found in zip(match.stretches, match.pairs, strict=True)
        for i, j in found
    ]
    for i, j in pairs:
        ends.add(j + 1, old[i], new[j], is_same_text=False)
    for move in match.moves:
        for step in range(move.length):
            number = move.after + step
            ends.add(number + 1, old[move.before + step], new[number])


def _context(options: CompareOptions) -> int | None:
    """Return how many lines around a difference are wanted; None for all."""
    lines = CONTEXT_LINES if options.context_lines is None else options.context_lines
    if lines < -1 or lines > MAX_CONTEXT_LINES:
        msg = f"context_lines is from 0 to {MAX_CONTEXT_LINES:,}, or -1 for the whole file"
        raise ValidationFailed(msg)
    return None if lines == -1 else lines


def _whole(source: Source | None, kind: Literal["added", "removed"]) -> Comparison:
    """Return all of a text as added or removed, in blocks of lines."""
    assert source is not None
    version = read_version(source)
    changes = ChangeList()
    for passage in line_passages(source):
        if changes.is_full:
            changes.count(kind, "text", 1)
            continue
        region = passage.region
        place = Place(passage.place, line=region.line_start if region else None)
        texts = (None, passage.text) if kind == "added" else (passage.text, None)
        changes.add(Change(place, kind, "text", *texts))
    writer = HunkWriter()
    writer.begin(0, 0)
    for batch in read_lines(version, are_long=version.longest > MAX_LINE_CHARS):
        for line in batch.items:
            writer.add(HunkLine(kind, text_of(line)))
        if writer.is_full:
            changes.warn("the hunk is too long to be shown whole")
            break
    return changes.comparison(writer.hunks())


def _line_changes(match: Match) -> Iterator[Change]:
    """Yield the changes of lines in their order."""
    moves_from = {move.before + step for move in match.moves for step in range(move.length)}
    moves_to = {move.after: move for move in match.moves}
    skipped_to = 0
    for stretch, pairs in zip(match.stretches, match.pairs, strict=True):
        partners = {j: i for i, j in pairs}
        changed = {i for i, _ in pairs}
        old = [
            i
            for i in range(len(stretch.before))
            if i not in changed and stretch.before_at + i not in moves_from
        ]
        # What was removed stands before the first line that followed it and is still there.
        for j in range(len(stretch.after)):
            number = stretch.after_at + j
            if number < skipped_to:
                continue
            i = partners.get(j)
            while i is not None and old and old[0] < i:
                yield _removed(stretch.before_at + old[0], stretch.before[old.pop(0)])
            if number in moves_to:
                move = moves_to[number]
                skipped_to = number + move.length
                yield _moved(move, stretch.after[j : j + move.length])
            elif i is not None:
                yield _changed(match, number, stretch.before[i], stretch.after[j])
            else:
                place = line_place(number)
                yield Change(place, "added", "line", after=text_of(stretch.after[j]))
        for i in old:
            yield _removed(stretch.before_at + i, stretch.before[i])


def line_place(number: int, length: int = 1) -> Place:
    """Return the place of lines by the number of the first, from 0."""
    title = f"line {number + 1}" if length == 1 else f"lines {number + 1}-{number + length}"
    return Place(title, line=number + 1)


def _removed(number: int, line: str) -> Change:
    return Change(line_place(number), "removed", "line", before=text_of(line))


def _moved(move: Move, lines: Sequence[str]) -> Change:
    text = "\n".join(map(text_of, lines))
    place = line_place(move.after, move.length)
    start = line_place(move.before, move.length)
    return Change(place, "moved", "line", before=text, after=text, moved_from=start)


def _changed(match: Match, number: int, before: str, after: str) -> Change:
    """Return the change of a line; of a very long one what differs, with what is around it."""
    place = line_place(number)
    old, new = text_of(before), text_of(after)
    if max(len(old), len(new)) <= MAX_CHANGE_CHARACTERS:
        return Change(place, "changed", "line", old, new, words=match.words(old, new))
    one, other, start = excerpts(old, new)
    note = f"the line is long: it differs from character {start + 1:,} on"
    words = match.words(one, other)
    return Change(place, "changed", "line", one, other, words=words, note=note, is_cut=True)


def _add_rest(changes: ChangeList, stretches: Stretches[str]) -> None:
    """Add what was not looked at closely: how many lines, and a warning."""
    changes.count("removed", "line", stretches.removed)
    changes.count("added", "line", stretches.added)
    if stretches.removed or stretches.added:
        last = stretches.found[-1]
        line = last.after_at + len(last.after)
        changes.warn(f"too much differs: behind line {line:,} what differs is only counted")
    if not stretches.is_whole:
        line = stretches.after_end
        changes.warn(f"the texts were compared up to line {line:,}; the rest would take too long")
