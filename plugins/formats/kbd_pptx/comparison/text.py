"""Changes of paragraphs: their words, and the formatting of words that stayed.

Pieces of one formatting are one run, however a program cut them. The number of its own slide that a
field shows is no change where the slide stands elsewhere.
"""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from typing import NamedTuple

import msgspec
from lxml import etree

from kbd.formats import Change, ChangeKind, ChangeList, Place, Span
from kbd.formats.alignment import align, diff_words, find_moves, pair_similar
from kbd_pptx.comparison.format_names import Details, Named, name_differences
from kbd_pptx.comparison.markup import (
    Difference,
    Fact,
    PartValue,
    Resolve,
    differences,
    digest,
    read_facts,
)
from kbd_pptx.presentation import A
from kbd_pptx.reader.text import paragraph_pieces

__all__ = [
    "ItemPair",
    "SlideParagraph",
    "add_embedded",
    "add_links",
    "compare_formats",
    "compare_paragraphs",
    "pair_items",
    "pair_with_moved",
    "plain_paragraphs",
    "read_paragraphs",
    "text_change",
    "words_in_common",
]

LIKE = 0.4
"""The share of words that a changed paragraph has in common with what it was."""

NUMBER = "‹#›"
"""What the field for a slide's number is called, as office programs call it."""

MAX_COMPARED_CHARACTERS = 2_000
MAX_NOTE_CHARACTERS = 120

_RUN_PROPERTIES, _PROPERTIES, _END = f"{A}rPr", f"{A}pPr", f"{A}endParaRPr"
_WORD = re.compile(r"\w+")


class TextRun(NamedTuple):
    """A piece of text in one formatting."""

    text: str
    facts: tuple[Fact, ...]


class SlideParagraph(NamedTuple):
    """A paragraph: its text, the runs that it is made of, and what is said of all of it."""

    text: str
    runs: tuple[TextRun, ...] = ()
    facts: tuple[Fact, ...] = ()


ItemPair = tuple[int | None, int | None]
"""The index of a paragraph, row or column before and after; None where it is not there."""

PlaceOf = Callable[[int], Place]


def read_paragraphs(body: etree._Element | None, resolve: Resolve) -> list[SlideParagraph]:
    """Return the paragraphs of a text body; none for no body."""
    if body is None:
        return []
    return [_paragraph(each, resolve) for each in body.iterchildren(f"{A}p")]


def plain_paragraphs(text: str) -> list[SlideParagraph]:
    """Return the lines of a text without formatting as paragraphs; none for no text."""
    return [SlideParagraph(line) for line in text.split("\n")] if text else []


def _paragraph(paragraph: etree._Element, resolve: Resolve) -> SlideParagraph:
    runs: list[TextRun] = []
    for element, text in paragraph_pieces(paragraph, NUMBER):
        if not text:
            continue
        facts = tuple(_run_facts(element, resolve))
        if runs and runs[-1].facts == facts:
            runs[-1] = TextRun(runs[-1].text + text, facts)
        else:
            runs.append(TextRun(text, facts))
    found: list[Fact] = []
    properties = paragraph.find(_PROPERTIES)
    if properties is not None:
        found += [(f"pPr{_below(path)}", v) for path, v in read_facts(properties, resolve) if path]
    end = paragraph.find(_END)
    # What is said of the end of a paragraph shows in the height of an empty one alone.
    if end is not None and not runs:
        found += [fact for fact in read_facts(end, resolve) if fact[0] not in ("", "@lang")]
    return SlideParagraph("".join(run.text for run in runs), tuple(runs), tuple(found))


def _below(path: str) -> str:
    return path if path.startswith("@") else f"/{path}"


def _run_facts(element: etree._Element, resolve: Resolve) -> list[Fact]:
    properties = element.find(_RUN_PROPERTIES)
    found = [] if properties is None else [f for f in read_facts(properties, resolve) if f[0]]
    kind = element.get("type")
    if kind is not None:
        found.append(("field", kind))
    elif not element.tag.startswith(A):
        # A formula: its letters are the text, and how they stand is known by this alone.
        found.append(("formula", digest(read_facts(element, resolve))))
    return found


def words_in_common(before: str, after: str) -> float:
    """Return the share of words that two texts have in common, from 0 to 1."""
    old = Counter(_WORD.findall(before[:MAX_COMPARED_CHARACTERS]))
    new = Counter(_WORD.findall(after[:MAX_COMPARED_CHARACTERS]))
    total = old.total() + new.total()
    return 2 * (old & new).total() / total if total else 0.0


Likeness = Callable[[int, int], float]


def pair_items(
    old_keys: Sequence[Hashable], new_keys: Sequence[Hashable], like: Likeness
) -> list[ItemPair]:
    """Pair items of two sequences in order: equal ones, similar ones, and those between.

    Args:
        old_keys: By which those before are equal to others.
        new_keys: The same of those after.
        like: Returns how similar two are, from 0 to 1.
    """
    found: list[ItemPair] = []
    for block in align(old_keys, new_keys):
        olds, news = range(block.i1, block.i2), range(block.j1, block.j2)
        if block.kind == "equal":
            found += zip(olds, news, strict=True)
            continue
        pairs = [*pair_similar(olds, news, like, LIKE), (len(olds), len(news))]
        i = j = 0
        for next_i, next_j in pairs:
            found += _between(olds[i:next_i], news[j:next_j])
            if next_i < len(olds):
                found.append((olds[next_i], news[next_j]))
            i, j = next_i + 1, next_j + 1
    return found


def _between(olds: Sequence[int], news: Sequence[int]) -> list[ItemPair]:
    """Pair what has nothing in common: as many as before took their places, others came or went."""
    if len(olds) == len(news):
        return list(zip(olds, news, strict=True))
    return [*((i, None) for i in olds), *((None, j) for j in news)]


def _pair_paragraphs(
    before: Sequence[SlideParagraph], after: Sequence[SlideParagraph]
) -> list[ItemPair]:
    """Pair the paragraphs of two versions of a text, in order."""
    return pair_items(
        [each.text for each in before],
        [each.text for each in after],
        lambda i, j: words_in_common(before[i].text, after[j].text),
    )


def _moved(
    before: Sequence[SlideParagraph], after: Sequence[SlideParagraph], pairs: Sequence[ItemPair]
) -> dict[int, int]:
    """Return where paragraphs that stand elsewhere stood, by where they are."""
    old, new = [each.text for each in before], [each.text for each in after]
    gone = {i for i, j in pairs if j is None}
    come = {j for i, j in pairs if i is None}
    found = {
        move.after + step: move.before + step
        for move in find_moves(align(old, new), old, new)
        for step in range(move.length)
    }
    return {j: i for j, i in found.items() if j in come and i in gone and after[j].text.strip()}


def pair_with_moved(
    before: Sequence[SlideParagraph], after: Sequence[SlideParagraph]
) -> list[ItemPair]:
    """Pair the paragraphs of two versions of a text, with those that stand elsewhere."""
    pairs = _pair_paragraphs(before, after)
    return [*pairs, *((i, j) for j, i in _moved(before, after, pairs).items())]


def compare_paragraphs(
    before: Sequence[SlideParagraph],
    after: Sequence[SlideParagraph],
    place_of: PlaceOf,
    old_place_of: PlaceOf,
    changes: ChangeList,
    what: str = "text",
) -> None:
    """Add what differs between two texts.

    Args:
        before: The paragraphs before.
        after: Those after.
        place_of: Returns the place of a paragraph after.
        old_place_of: That of a paragraph before.
        changes: Where changes go.
        what: What a changed text is called.
    """
    pairs = _pair_paragraphs(before, after)
    come = _moved(before, after, pairs)
    gone = set(come.values())
    single = "paragraph" if what == "text" else what
    for i, j in pairs:
        if i is not None and j is not None:
            _compare_pair(before[i], after[j], place_of(j), changes, what)
        elif j is not None and j in come:
            old = come[j]
            changes.add(Change(
                place_of(j), "moved", single, before=before[old].text, after=after[j].text,
                moved_from=old_place_of(old),
            ))  # fmt: skip
            _compare_pair(before[old], after[j], place_of(j), changes, what)
        elif j is not None:
            changes.add(Change(place_of(j), "added", single, after=after[j].text or None))
        elif i is not None and i not in gone:
            changes.add(Change(old_place_of(i), "removed", single, before=before[i].text or None))


def text_change(
    place: Place, what: str, before: str, after: str, details: Details | None = None
) -> Change:
    """Return the change of a text; one that was or is empty was added or removed."""
    kind: ChangeKind = "changed" if before and after else "added" if after else "removed"
    words = diff_words(before, after) if kind == "changed" else ()
    return Change(
        place, kind, what, before=before or None, after=after or None, words=words,
        details=details or {},
    )  # fmt: skip


def _compare_pair(
    before: SlideParagraph, after: SlideParagraph, place: Place, changes: ChangeList, what: str
) -> None:
    if before == after:
        return
    if before.text != after.text:
        change = text_change(place, what, before.text, after.text)
        named, _ = compare_formats(before, after, change.words)
        changes.add(msgspec.structs.replace(change, details=named.details))
    else:
        named, note = compare_formats(before, after, (("equal", before.text),))
        if named.details:
            changes.add(Change(place, "changed", "format", details=named.details, note=note))
    add_links(named, place, changes)
    add_embedded(named, place, changes)


def add_links(named: Named, place: Place, changes: ChangeList) -> None:
    """Add the links that differ."""
    for old, new in dict.fromkeys(named.links):
        if old == new:
            continue
        kind: ChangeKind = "changed" if old and new else "added" if new else "removed"
        changes.add(Change(place, kind, "link", before=old, after=new))


_EMBEDDED = {
    "image": "picture", "hdphoto": "picture", "chart": "chart", "video": "media",
    "audio": "media", "media": "media", "oleObject": "object", "package": "object",
}  # fmt: skip


def add_embedded(named: Named, place: Place, changes: ChangeList, note: str = "") -> None:
    """Add the parts that differ, each once: a film is named twice where it stands."""
    for old, new in dict.fromkeys(named.parts):
        kind: ChangeKind = "changed" if old and new else "added" if new else "removed"
        what = _EMBEDDED.get((new or old or PartValue("", "", 0)).kind, "part")
        changes.add(Change(place, kind, what, before=_told(old), after=_told(new), note=note))


def _told(part: PartValue | None) -> dict[str, object] | None:
    return None if part is None else {"size_bytes": part.size_bytes, "sha256": part.digest}


class _Cursor:
    """The runs of a paragraph, taken piece by piece."""

    def __init__(self, runs: Sequence[TextRun]) -> None:
        self._runs = runs
        self._at = 0
        self._offset = 0

    def take(self, length: int) -> list[tuple[int, tuple[Fact, ...]]]:
        """Return the next characters as lengths with their formatting."""
        found = []
        while length and self._at < len(self._runs):
            run = self._runs[self._at]
            size = min(length, len(run.text) - self._offset)
            found.append((size, run.facts))
            length -= size
            self._offset += size
            if self._offset == len(run.text):
                self._at, self._offset = self._at + 1, 0
        return found


def compare_formats(
    before: SlideParagraph, after: SlideParagraph, spans: Sequence[Span]
) -> tuple[Named, str]:
    """Return what differs in words that are on both sides, and a note which they are.

    Args:
        before: The paragraph before.
        after: The paragraph after.
        spans: The words of both.
    """
    old, new = _Cursor(before.runs), _Cursor(after.runs)
    seen: dict[str, dict[Difference, None]] = {}
    texts: list[str] = []
    for kind, text in spans:
        if kind == "removed":
            old.take(len(text))
        elif kind == "added":
            new.take(len(text))
        else:
            _gather(old.take(len(text)), new.take(len(text)), text, seen, texts)
    found = {path: next(iter(each)) for path, each in seen.items() if len(each) == 1}
    named = name_differences({**differences(before.facts, after.facts), **found})
    for path, several in seen.items():
        if len(several) > 1:
            _add_several(named, path, several)
    note = ""
    if texts and "".join(texts) != before.text:
        note = f"of “{' … '.join(texts)[:MAX_NOTE_CHARACTERS]}”"
    return named, note


def _gather(
    old: list[tuple[int, tuple[Fact, ...]]],
    new: list[tuple[int, tuple[Fact, ...]]],
    text: str,
    seen: dict[str, dict[Difference, None]],
    texts: list[str],
) -> None:
    """Gather the formatting that differs in a text that is on both sides."""
    at = i = j = 0
    old_left = old[0][0] if old else 0
    new_left = new[0][0] if new else 0
    while i < len(old) and j < len(new):
        size = min(old_left, new_left)
        if old[i][1] != new[j][1]:
            for path, pair in differences(old[i][1], new[j][1]).items():
                seen.setdefault(path, {})[pair] = None
            texts.append(text[at : at + size])
        at, old_left, new_left = at + size, old_left - size, new_left - size
        if not old_left:
            i += 1
            old_left = old[i][0] if i < len(old) else 0
        if not new_left:
            j += 1
            new_left = new[j][0] if j < len(new) else 0


def _add_several(named: Named, path: str, several: dict[Difference, None]) -> None:
    """Add a difference that is not the same in all words."""
    for pair in several:
        each = name_differences({path: pair})
        named.links.extend(each.links)
        named.parts.extend(each.parts)
        for name, (old, new) in each.details.items():
            olds, news = named.details.get(name, ([], []))
            if isinstance(olds, list) and isinstance(news, list):
                olds, news = [*olds, old], [*news, new]
                named.details[name] = (olds, news)
