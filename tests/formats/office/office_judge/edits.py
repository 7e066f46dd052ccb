"""Edits that may be meant. Each takes itself back from what came out, and says what is wrong.

What is taken back is replaced by what stood there before, so that the rest of the part must say
what it said. What was not done as meant is told.
"""

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy

from judging.package import Element, Parts, children, local
from office_judge.differences import Difference
from office_judge.meaning import own_text, said
from office_judge.places import paragraph_places, paragraphs, title_place, title_shape
from office_judge.spelling import PARAGRAPH, respelt, spelling

__all__ = ["Appended", "Edit", "Nothing", "Replaced", "Retitled"]

AMISS = "not as meant"


class Edit:
    """What was meant to change.

    Attributes:
        freed: Relations, by part and id, that may go because what named them was replaced.
    """

    freed: frozenset[tuple[str, str]] = frozenset()

    def begin(self, before: Parts) -> None:
        """Look at the package as it was, before any part is compared."""
        del before

    def take_back(self, part: str, before: Element, after: Element) -> Iterator[Difference]:
        """Change a tree back to what it was, where that was meant; tell what is amiss."""
        del part, before, after
        yield from ()

    def unmet(self) -> Iterator[Difference]:
        """Tell what was meant and is nowhere."""
        yield from ()


class Nothing(Edit):
    """No change at all."""


class Appended(Edit):
    """A paragraph at the end of a document's body, before the settings of its last section."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._main = ""
        self._is_met = False

    def begin(self, before: Parts) -> None:
        """Find the main part."""
        self._main = before.workbook

    def take_back(self, part: str, before: Element, after: Element) -> Iterator[Difference]:
        """Take the last paragraph out of the body, if it is a new one."""
        if part != self._main:
            return
        for old, body in zip(children(before, "body"), children(after, "body"), strict=True):
            blocks = [child for child in body if local(child) not in ("", "sectPr")]
            count = sum(local(child) not in ("", "sectPr") for child in old)
            if len(blocks) != count + 1 or local(blocks[-1]) != PARAGRAPH:
                continue
            self._is_met = True
            text = spelling(blocks[-1]).text
            if text != self.text:
                yield Difference(AMISS, part, self.text, text)
            _remove(blocks[-1])

    def unmet(self) -> Iterator[Difference]:
        """Tell that there is no new paragraph."""
        if not self._is_met:
            yield Difference(AMISS, self._main, self.text, "no new paragraph at the end")


class Replaced(Edit):
    """A word, as it is spelt, wherever it stands in a text that people read, by another text.

    `count` is how often it stood in paragraphs where it had to be replaced.
    """

    def __init__(self, word: str, by: str) -> None:
        self.word, self.by = word, by
        self.count = 0
        self._due: dict[str, set[int]] = {}

    def begin(self, before: Parts) -> None:
        """Find where the word stands."""
        for part, number, paragraph in paragraph_places(before):
            hits = spelling(paragraph).text.count(self.word)
            if hits:
                self.count += hits
                self._due.setdefault(part, set()).add(number)

    def take_back(self, part: str, before: Element, after: Element) -> Iterator[Difference]:
        """Put each paragraph that was rightly changed back to what it was."""
        due = self._due.pop(part, set())
        _mind_placeholders(before, after, self.word)
        olds, news = paragraphs(before), paragraphs(after)
        if len(olds) != len(news):
            yield Difference(AMISS, part, f"{len(olds)} paragraphs", f"{len(news)}")
            return
        # From the end: what stands inside of a paragraph comes after it, and is put back first.
        for number in reversed(range(len(olds))):
            old, new = olds[number], news[number]
            if said(old) == said(new):
                if number in due:
                    due.discard(number)
                    yield from self._unchanged(part, number, old)
                continue
            due.discard(number)
            was, now = spelling(old), spelling(new)
            if self.word not in was.text:
                continue
            wrong = respelt(was, now, self.word, self.by)
            if wrong:
                yield Difference(AMISS, f"{part}: paragraph {number + 1}", was.text, wrong)
            else:
                _put_back(old, new)

    def _unchanged(self, part: str, number: int, old: Element) -> Iterator[Difference]:
        # What stood inside of it may have been put back just now; then it is as it was.
        if self.word in spelling(old).text and self.word != self.by:
            yield Difference(AMISS, f"{part}: paragraph {number + 1}", self.by, "not replaced")

    def unmet(self) -> Iterator[Difference]:
        """Tell the parts in which nothing changed."""
        for part, numbers in self._due.items():
            yield Difference(AMISS, part, self.by, f"not replaced {len(numbers)} times")


class Retitled(Edit):
    """The text of the title of a slide, which keeps the look of its beginning."""

    def __init__(self, slide: int, title: str) -> None:
        self.slide, self.title = slide, title
        self._part = ""
        self._is_met = False

    def begin(self, before: Parts) -> None:
        """Find the slide, and what only its title names."""
        place = title_place(before, self.slide)
        self._part = place.part
        there = _named_relations(before.root(place.part))
        named = _named_relations(place.shape)
        self.freed = frozenset((place.part, name) for name in named if named[name] == there[name])

    def take_back(self, part: str, before: Element, after: Element) -> Iterator[Difference]:
        """Put the title's text back, if it is what was meant."""
        if part != self._part:
            return
        old, new = title_shape(before), title_shape(after)
        if old is None or new is None:
            return
        self._is_met = True
        was, now = children(old, "txBody"), children(new, "txBody")
        if not now:
            return
        text = "\n".join(_read(paragraph) for paragraph in children(now[0], PARAGRAPH))
        if text != self.title:
            yield Difference(AMISS, part, self.title, text)
        if was:
            yield from _look_differences(part, was[0], now[0])
            _put_back(was[0], now[0])
        else:
            _remove(now[0])

    def unmet(self) -> Iterator[Difference]:
        """Tell that the title did not change."""
        if not self._is_met:
            yield Difference(AMISS, self._part, self.title, "the title is as it was")


def _read(paragraph: Element) -> str:
    texts = [own_text(e) for e in paragraph.iter() if local(e) in ("t", "br")]
    return "".join(texts)


def _mind_placeholders(before: Element, after: Element, word: str) -> None:
    """Put back that a control shows what is to be typed there, where that text was changed.

    Once it holds something else it is filled in (ECMA-376 part 1, 17.5.2.39).
    """
    olds = [element for element in before.iter() if local(element) == "sdt"]
    news = [element for element in after.iter() if local(element) == "sdt"]
    for old, new in zip(olds, news, strict=False):
        read = "".join(own_text(e) for e in old.iter() if local(e) == "t")
        for was, now in zip(children(old, "sdtPr"), children(new, "sdtPr"), strict=False):
            flags = children(was, "showingPlcHdr")
            if word in read and flags and not children(now, "showingPlcHdr"):
                now.insert(was.index(flags[0]), deepcopy(flags[0]))


_UNSEEN = ("lang", "altLang", "dirty", "err", "smtClean", "smtId", "bmk", "kumimoji", "noProof")
"""Attributes of a run that its spelling checker is told."""


def _look(holder: Element, name: str) -> str:
    """What can be seen of a paragraph's or a run's properties; "" if there are none."""
    shown = []
    for element in children(holder, name):
        seen = deepcopy(element)
        for unseen in _UNSEEN:
            seen.attrib.pop(unseen, "")
        # How far a text is shrunk to fit its frame comes of the text.
        for scale in children(seen, "normAutofit"):
            seen.remove(scale)
        if len(seen) or seen.attrib:
            shown.append(said(seen).hex())
    return " ".join(shown)


def _look_differences(part: str, was: Element, now: Element) -> Iterator[Difference]:
    """What of a text's frame, list styles, first paragraph and first run is not as before."""
    for name in ("bodyPr", "lstStyle"):
        if _look(was, name) != _look(now, name):
            yield Difference(f"title's {name}", part)
    old_first, new_first = children(was, PARAGRAPH)[:1], children(now, PARAGRAPH)[:1]
    for one, other in zip(old_first, new_first, strict=False):
        if _look(one, "pPr") != _look(other, "pPr"):
            yield Difference("title's paragraph", part)
        old_run, new_run = children(one, "r")[:1], children(other, "r")[:1]
        for run, came in zip(old_run, new_run, strict=False):
            if _look(run, "rPr") != _look(came, "rPr"):
                yield Difference("title's look", part)


def _named_relations(element: Element) -> Counter[str]:
    return Counter(
        str(value)
        for inner in element.iter()
        if local(inner)
        for name, value in inner.attrib.items()
        if "/relationships}" in str(name)
    )


def _remove(element: Element) -> None:
    parent = element.getparent()
    assert parent is not None
    parent.remove(element)


def _put_back(old: Element, new: Element) -> None:
    """Put a copy of what was in the place of what is."""
    parent = new.getparent()
    assert parent is not None
    copy = deepcopy(old)
    copy.tail = new.tail
    parent.replace(new, copy)
