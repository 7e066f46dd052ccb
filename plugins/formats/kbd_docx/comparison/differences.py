"""Differences of paragraphs as changes: text first, then formatting and what is no text.

A paragraph whose text changed is one change, which tells how its formatting differs as well. What
differs and has no words here is told all the same, as a format.
"""

from collections import Counter, deque
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from kbd.formats import Change, ChangeList, Place
from kbd.formats.alignment import align, diff_words
from kbd_docx.comparison.contents import (
    InlineMark,
    InlineObject,
    Look,
    ParagraphContent,
    ParagraphRun,
    Tracked,
)
from kbd_docx.comparison.looks import LookDifference, look_difference
from kbd_docx.comparison.version import DocxVersion

__all__ = ["ParagraphDifferences", "joined"]

_NOTES = ("footnote", "endnote", "comment")
_UNTOLD = ("field", "range", "end", "sign")
"""Marks that nobody knows by a name: that they differ is told of the paragraph."""

_NO_WORDS = "it is made otherwise in a way that has no words here"
_MAX_TRACKED = 5
_TEXTUAL = ("text box", "formula")
Inherited = Callable[[str, str], Any]


class ParagraphDifferences:
    """Differences between paragraphs of two versions, added to a list of changes.

    Args:
        before: The version before.
        after: The version after.
        out: The list.
        lists: The numbers of lists after by those before; at first those of one number are one.
    """

    def __init__(
        self,
        before: DocxVersion,
        after: DocxVersion,
        out: ChangeList,
        lists: Mapping[str, str] | None = None,
    ) -> None:
        self._before, self._after, self._out = before, after, out
        self._made = 0
        self._lists = _same_lists(before, after) | dict(lists or {})
        texts = Counter(after.note_texts.values())
        self._in_both = {text for text in before.note_texts.values() if text in texts}

    def add(
        self,
        before: ParagraphContent,
        after: ParagraphContent,
        place: Place,
        what: str,
        moved_from: Place | None = None,
    ) -> None:
        """Add what differs between two paragraphs.

        Args:
            before: The one before.
            after: The one after.
            place: Where it is.
            what: What it is ("paragraph").
            moved_from: Where it stood before if it moved.
        """
        self.add_story((before,), (after,), place, what, moved_from)

    def add_story(
        self,
        before: Sequence[ParagraphContent],
        after: Sequence[ParagraphContent],
        place: Place,
        what: str,
        moved_from: Place | None = None,
        details: Mapping[str, tuple[Any, Any]] | None = None,
    ) -> None:
        """Add what differs between a cell, a note or a header before and after; as `add` does.

        Args:
            before: Its paragraphs before.
            after: Its paragraphs after.
            place: Where it is.
            what: What it is.
            moved_from: Where it stood before if it moved.
            details: What differs of it beside its paragraphs.
        """
        old, new = joined(before), joined(after)
        if self._out.is_full:
            self._made += 1
            is_format = old.text == new.text and moved_from is None
            self._out.count(
                "changed" if moved_from is None else "moved", "format" if is_format else what, 1
            )
            return
        start = self._made
        formats = list(self._paragraph_looks(before, after))
        if old.text != new.text or moved_from is not None:
            self._add_text(old, new, place, what, moved_from, formats, details or {})
        else:
            if details:
                formats.insert(0, (dict(details), old.text))
            formats += _run_differences(old, new, self._value_of)
            for found, text in _gathered(formats):
                change = Change(place, "changed", "format", text, text, details=found)
                self._put(change)
            self._add_tracked(old, new, place)
        self._add_items(old, new, place)
        self._add_links(old, new, place)
        self._add_fields(old, new, place)
        self._add_marks(old, new, place)
        if _is_unsaid(old, new, is_all=self._made == start):
            shown = new.shown
            self._put(Change(place, "changed", "format", old.shown, shown, note=_NO_WORDS))

    def _put(self, change: Change) -> None:
        self._made += 1
        self._out.add(change)

    def _add_text(
        self,
        old: ParagraphContent,
        new: ParagraphContent,
        place: Place,
        what: str,
        moved_from: Place | None,
        formats: Sequence[tuple[LookDifference, str]],
        details: Mapping[str, tuple[Any, Any]],
    ) -> None:
        found: dict[str, tuple[Any, Any]] = dict(details)
        for difference, _ in (*formats, *_run_differences(old, new, self._value_of)):
            for name, pair in difference.items():
                found.setdefault(name, pair)
        self._put(
            Change(
                place,
                "moved" if moved_from is not None else "changed",
                what,
                old.text,
                new.text,
                moved_from=moved_from,
                words=() if old.text == new.text else diff_words(old.text, new.text),
                details=found,
                note=_tracked_note(old, new),
            )
        )

    def _paragraph_looks(
        self, before: Sequence[ParagraphContent], after: Sequence[ParagraphContent]
    ) -> Iterator[tuple[LookDifference, str]]:
        """Yield how the formatting of whole paragraphs differs."""
        if len(before) != len(after):
            return
        for old, new in zip(before, after, strict=True):
            found = self._value_of(look_difference(old.look, new.look), old, new)
            if old.list_id and new.list_id and "list" not in found:
                same = self._lists.setdefault(old.list_id, new.list_id)
                if same != new.list_id:
                    found["list"] = (f"list {same}", f"list {new.list_id}")
            if found:
                yield found, new.shown

    def _value_of(
        self, found: LookDifference, old: ParagraphContent, new: ParagraphContent
    ) -> LookDifference:
        """Return a difference with what the styles say where the paragraph says nothing."""
        told: LookDifference = {}
        for name, (before, after) in found.items():
            plain = name.removeprefix("mark_")
            if name == "style":
                told[name] = (
                    before or _default_style(self._before), after or _default_style(self._after),
                )  # fmt: skip
                continue
            was = self._before.looks.inherited(old.style, plain) if before is None else before
            now = self._after.looks.inherited(new.style, plain) if after is None else after
            # It is said here and was not, though nothing looks different for it.
            told[name] = (before, after) if was == now else (was, now)
        return told

    def _add_tracked(self, old: ParagraphContent, new: ParagraphContent, place: Place) -> None:
        gone, come, both = _tracked_pairs(old.tracked, new.tracked)
        for tracked in gone:
            self._put(Change(place, "removed", "tracked change", before=tracked.words))
        for tracked in come:
            self._put(Change(place, "added", "tracked change", after=tracked.words))
        for one, other in both:
            details, note = {}, ""
            if one.date != other.date:
                details["date"] = (one.date, other.date)
            if one.look != other.look:
                note = "what rejecting it brings back looks otherwise"
            elif one.at != other.at:
                note = "it stands elsewhere"
            if details or note:
                self._put(Change(place, "changed", "tracked change", one.words, other.words,
                                 details=details, note=note))  # fmt: skip

    def _add_items(self, old: ParagraphContent, new: ParagraphContent, place: Place) -> None:
        before, after = ([(each.kind, each.digest, each.link, each.look) for each in side.items]
                         for side in (old, new))  # fmt: skip
        for stretch in align(before, after):
            if stretch.kind == "equal":
                continue
            gone = list(old.items[stretch.i1 : stretch.i2])
            come = list(new.items[stretch.j1 : stretch.j2])
            for item in come:
                same = next((each for each in gone if each.kind == item.kind), None)
                if same is None:
                    self._put(Change(place, "added", item.kind, after=_item_value(item)))
                else:
                    gone.remove(same)
                    self._put(_changed_item(same, item, place))
            for item in gone:
                self._put(Change(place, "removed", item.kind, before=_item_value(item)))

    def _add_links(self, old: ParagraphContent, new: ParagraphContent, place: Place) -> None:
        before, after = _links(old.runs), _links(new.runs)
        for stretch in align(before, after):
            gone = before[stretch.i1 : stretch.i2] if stretch.kind != "equal" else []
            come = after[stretch.j1 : stretch.j2] if stretch.kind != "equal" else []
            for (text, link), (other, target) in zip(gone, come, strict=False):
                if link != target or (text != other and old.text == new.text):
                    details = {"text": (text, other)}
                    self._put(Change(place, "changed", "link", link, target, details=details))
            for text, link in gone[len(come) :]:
                self._put(Change(place, "removed", "link", before=f"{text} <{link}>"))
            for text, link in come[len(gone) :]:
                self._put(Change(place, "added", "link", after=f"{text} <{link}>"))

    def _add_fields(self, old: ParagraphContent, new: ParagraphContent, place: Place) -> None:
        for stretch in align(old.fields, new.fields):
            if stretch.kind == "equal":
                continue
            gone, come = old.fields[stretch.i1 : stretch.i2], new.fields[stretch.j1 : stretch.j2]
            for before, after in zip(gone, come, strict=False):
                self._put(Change(place, "changed", "field", before, after))
            for before in gone[len(come) :]:
                self._put(Change(place, "removed", "field", before=before))
            for after in come[len(gone) :]:
                self._put(Change(place, "added", "field", after=after))

    def _add_marks(self, old: ParagraphContent, new: ParagraphContent, place: Place) -> None:
        before = Counter((each.kind, each.key) for each in old.marks if each.kind not in _UNTOLD)
        after = Counter((each.kind, each.key) for each in new.marks if each.kind not in _UNTOLD)
        for kind, key in before - after:
            # What was written into or taken out of a note is told where the note is.
            if kind not in _NOTES:
                self._put(Change(place, "removed", kind, before=key))
            elif key in self._in_both:
                note = "it is not cited here any more"
                self._put(Change(place, "changed", kind, key, key, note=note))
        for kind, key in after - before:
            if kind not in _NOTES:
                self._put(Change(place, "added", kind, after=key))
            elif key in self._in_both:
                note = "it was not cited here"
                self._put(Change(place, "changed", kind, key, key, note=note))
        for one, other in _same_marks(old.marks, new.marks):
            note = "its settings differ" if one.settings != other.settings else ""
            details = look_difference(one.look, other.look)
            if note or details:
                change = Change(place, "changed", other.kind, other.key, other.key,
                                details=details, note=note)  # fmt: skip
                self._put(change)
        if before == after and old.text == new.text:
            notes = [[each for each in side.marks if each.kind in _NOTES] for side in (old, new)]
            for one, other in zip(*notes, strict=True):
                if (one.kind, one.at, one.key) != (other.kind, other.at, other.key):
                    change = Change(place, "changed", other.kind, other.key, other.key,
                                    note="its mark stands elsewhere")  # fmt: skip
                    self._put(change)
                    break


def joined(paragraphs: Sequence[ParagraphContent]) -> ParagraphContent:
    """Return paragraphs as one, whose lines they are; its own formatting is none."""
    if len(paragraphs) == 1:
        return paragraphs[0]
    runs: list[ParagraphRun] = []
    at = 0
    items, marks, tracked = [], [], []
    for number, each in enumerate(paragraphs):
        if number:
            runs.append(ParagraphRun("\n"))
            at += 1
        runs += each.runs
        items += [msgspec.structs.replace(item, at=item.at + at) for item in each.items]
        marks += [msgspec.structs.replace(mark, at=mark.at + at) for mark in each.marks]
        tracked += [msgspec.structs.replace(one, at=one.at + at) for one in each.tracked]
        at += len(each.text)
    return ParagraphContent(
        text="".join(run.text for run in runs),
        runs=tuple(runs),
        look=(),
        style=paragraphs[0].style if paragraphs else "",
        items=tuple(items),
        marks=tuple(marks),
        fields=tuple(field for each in paragraphs for field in each.fields),
        tracked=tuple(tracked),
        rest=tuple(rest for each in paragraphs for rest in each.rest),
        list_id="",
    )


def _run_differences(
    old: ParagraphContent,
    new: ParagraphContent,
    value_of: Callable[[LookDifference, ParagraphContent, ParagraphContent], LookDifference],
) -> Iterator[tuple[LookDifference, str]]:
    """Yield how the formatting of text that is there before and after differs, with that text."""
    if len({run.look for run in (*old.runs, *new.runs)}) < 2:
        return
    for start, other, length in _common(old.text, new.text):
        looks = _looks_between(old.runs, start, length)
        others = _looks_between(new.runs, other, length)
        waiting: tuple[LookDifference, str] | None = None
        for text, before, after in _both(looks, others):
            found = value_of(look_difference(before, after), old, new)
            if waiting is not None and waiting[0] == found:
                waiting = (found, waiting[1] + text)
                continue
            if waiting is not None and waiting[0]:
                yield waiting
            waiting = (found, text)
        if waiting is not None and waiting[0]:
            yield waiting


def _common(before: str, after: str) -> Iterator[tuple[int, int, int]]:
    """Yield the stretches of two texts that are equal: where they begin and how long they are."""
    if before == after:
        yield 0, 0, len(before)
        return
    i = j = 0
    for kind, text in diff_words(before, after):
        if kind == "equal":
            yield i, j, len(text)
        i += len(text) if kind != "added" else 0
        j += len(text) if kind != "removed" else 0


def _looks_between(
    runs: Sequence[ParagraphRun], start: int, length: int
) -> Iterator[tuple[str, Look]]:
    """Yield the runs of a stretch of text, cut to it."""
    at = 0
    for run in runs:
        first, last = max(start - at, 0), min(start + length - at, len(run.text))
        if first < last:
            yield run.text[first:last], run.look
        at += len(run.text)
        if at >= start + length:
            return


def _both(
    before: Iterator[tuple[str, Look]], after: Iterator[tuple[str, Look]]
) -> Iterator[tuple[str, Look, Look]]:
    """Yield two divisions of the same text as the finest one that both are made of."""
    one, other = next(before, None), next(after, None)
    while one is not None and other is not None:
        size = min(len(one[0]), len(other[0]))
        yield one[0][:size], one[1], other[1]
        one = (one[0][size:], one[1]) if len(one[0]) > size else next(before, None)
        other = (other[0][size:], other[1]) if len(other[0]) > size else next(after, None)


def _gathered(
    formats: Sequence[tuple[LookDifference, str]],
) -> Iterator[tuple[LookDifference, str]]:
    """Yield what differs in the same way once, with all texts concerned."""
    found: dict[str, tuple[LookDifference, list[str]]] = {}
    for difference, text in formats:
        key = repr(sorted(difference.items()))
        found.setdefault(key, (difference, []))[1].append(text)
    for difference, texts in found.values():
        yield difference, " … ".join(texts)


def _links(runs: Sequence[ParagraphRun]) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    last = ""
    for run in runs:
        if run.link and run.link == last:
            found[-1] = (found[-1][0] + run.text, run.link)
        elif run.link:
            found.append((run.text, run.link))
        last = run.link
    return found


def _item_value(item: InlineObject) -> Any:
    facts = dict(item.facts)
    return facts.get("text", facts) if facts else item.label


def _changed_item(before: InlineObject, after: InlineObject, place: Place) -> Change:
    old, new = _item_value(before), _item_value(after)
    words = diff_words(old, new) if isinstance(old, str) and isinstance(new, str) else ()
    details = look_difference(before.look, after.look)
    if before.link != after.link:
        details["link"] = (before.link or None, after.link or None)
    is_drawn = old == new and before.digest != after.digest
    note = "how it is drawn or placed differs" if is_drawn else ""
    return Change(place, "changed", after.kind, old, new,
                  words=words if old != new else (), details=details, note=note)  # fmt: skip


def _tracked_note(old: ParagraphContent, new: ParagraphContent) -> str:
    gone, come, _ = _tracked_pairs(old.tracked, new.tracked)
    pieces = []
    for label, found in (("tracked", come), ("tracked before", gone)):
        if found:
            more = f" and {len(found) - _MAX_TRACKED} more" if len(found) > _MAX_TRACKED else ""
            words = ", ".join(each.words for each in found[:_MAX_TRACKED])
            pieces.append(f"{label}: {words}{more}")
    return "; ".join(pieces)


Item = TypeVar("Item")


def _paired(
    before: Sequence[Item], after: Sequence[Item], key: Callable[[Item], Hashable]
) -> tuple[list[Item], list[Item], list[tuple[Item, Item]]]:
    """Return what only one side has, and the pairs of what has one key on both, in order."""
    waiting: dict[Hashable, deque[Item]] = {}
    for one in before:
        waiting.setdefault(key(one), deque()).append(one)
    come: list[Item] = []
    both: list[tuple[Item, Item]] = []
    for other in after:
        same = waiting.get(key(other))
        if same:
            both.append((same.popleft(), other))
        else:
            come.append(other)
    gone = [one for each in waiting.values() for one in each]
    return gone, come, both


def _tracked_pairs(
    before: Sequence[Tracked], after: Sequence[Tracked]
) -> tuple[list[Tracked], list[Tracked], list[tuple[Tracked, Tracked]]]:
    return _paired(before, after, lambda each: each.words)


def _same_marks(
    before: Sequence[InlineMark], after: Sequence[InlineMark]
) -> list[tuple[InlineMark, InlineMark]]:
    return _paired(before, after, lambda each: (each.kind, each.key))[2]


def _is_unsaid(old: ParagraphContent, new: ParagraphContent, *, is_all: bool) -> bool:
    """Whether something differs between paragraphs that no change says.

    Args:
        old: The one before.
        new: The one after.
        is_all: Whether nothing was told of them.
    """
    if is_all:
        return _unsaid(old) != _unsaid(new)
    if Counter(old.rest) != Counter(new.rest):
        return True
    # Where the text differs marks are not where they were.
    return old.text == new.text and _have_moved(old.marks, new.marks)


def _have_moved(before: Sequence[InlineMark], after: Sequence[InlineMark]) -> bool:
    """Whether marks without a name differ, beside those that came or went with what was told."""
    found = [[(each.kind, each.key, each.at) for each in marks if each.kind in _UNTOLD]
             for marks in (before, after)]  # fmt: skip
    names = [sorted(each[:2] for each in marks) for marks in found]
    if names[0] == names[1]:
        return found[0] != found[1]
    signs = [[each for each in marks if each[0] == "sign"] for marks in found]
    return signs[0] != signs[1]


def _unsaid(content: ParagraphContent) -> bytes:
    """Return the key of what is told of a paragraph itself: notes are told where they are."""
    marks = tuple(each for each in content.marks if each.kind not in _NOTES)
    return msgspec.structs.replace(content, marks=marks, style="").key


def _default_style(version: DocxVersion) -> str | None:
    found = version.sheet.default("paragraph")
    return None if found is None else found.name


def _same_lists(before: DocxVersion, after: DocxVersion) -> dict[str, str]:
    """Return which list of the version before is which after: at first those of one number."""
    common = before.lists.numbers.keys() & after.lists.numbers.keys()
    return {number: number for number in common}
