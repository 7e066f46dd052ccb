"""A paragraph taken apart: each character with its look, and the marks between them.

Where a run ends and the next begins says nothing, if both look alike; so an edit may split runs.
"""

from typing import NamedTuple

from judging.package import Element, local
from office_judge.meaning import attributes, own_text, said

__all__ = ["PARAGRAPH", "Spelling", "respelt", "spelling"]

PARAGRAPH = "p"
_WIDTHLESS = frozenset(
    (
        "bookmarkStart", "bookmarkEnd", "commentRangeStart", "commentRangeEnd", "proofErr",
        "permStart", "permEnd", "moveFromRangeStart", "moveFromRangeEnd", "moveToRangeStart",
        "moveToRangeEnd", "customXmlInsRangeStart", "customXmlInsRangeEnd",
        "lastRenderedPageBreak", "softHyphen",
    )
)  # fmt: skip
"""Marks that stand between characters and part no word."""
_RUNS = frozenset(("hyperlink", "ins", "smartTag", "sdt", "sdtContent", "moveTo", "fldSimple",
                   "customXml", "bdo", "dir"))  # fmt: skip
"""What holds runs."""
_OTHER = "\ufffc"
"""What stands for anything that is no text and parts words."""


class Spelling(NamedTuple):
    """A paragraph: its text, the look of each character, and marks by where they stand."""

    text: str
    looks: tuple[bytes, ...]
    marks: tuple[tuple[int, bytes], ...]


class _Speller:
    """Goes through a paragraph and notes what stands where."""

    def __init__(self) -> None:
        self.text: list[str] = []
        self.looks: list[bytes] = []
        self.marks: list[tuple[int, bytes]] = []

    def visit(self, element: Element, around: bytes) -> None:
        """Go through what holds runs."""
        for child in element:
            name = local(child)
            if name == "r" or (name == "fld" and local(element) == PARAGRAPH):
                self.visit_run(child, around)
            elif name in _RUNS:
                self._mark(b"<" + _tag(child))
                self.visit(child, around + _tag(child))
                self._mark(b">" + _tag(child))
            elif name:
                self._note(child, name, b"")

    def visit_run(self, run: Element, around: bytes) -> None:
        """Go through a run."""
        look = around + b"".join(said(child) for child in run if local(child) == "rPr")
        if local(run) == "fld":
            look += _tag(run)
        for child in run:
            name = local(child)
            if name == "t":
                words = own_text(child)
                self.text.extend(words)
                self.looks.extend([look] * len(words))
            elif name and name != "rPr":
                self._note(child, name, look)

    def _note(self, element: Element, name: str, look: bytes) -> None:
        if name in _WIDTHLESS:
            self._mark(said(element))
        else:
            self.text.append(_OTHER)
            self.looks.append(look + said(element))

    def _mark(self, mark: bytes) -> None:
        self.marks.append((len(self.text), mark))


def spelling(paragraph: Element) -> Spelling:
    """Take a paragraph apart; paragraphs inside of what stands in it are part of a look."""
    speller = _Speller()
    speller.visit(paragraph, b"")
    return Spelling("".join(speller.text), tuple(speller.looks), tuple(speller.marks))


def respelt(was: Spelling, now: Spelling, word: str, by: str) -> str:
    """Tell what is wrong with a paragraph in which each `word` was to become `by`, "" if nothing.

    What stays looks as it did; what came looks like some of what went; marks are where they were.
    """
    if now.text != was.text.replace(word, by):
        return f"reads {now.text!r}"
    starts = _starts(was.text, word)
    shift, at = len(by) - len(word), 0
    for count, start in enumerate(starts):
        moved = count * shift
        if was.looks[at:start] != now.looks[at + moved : start + moved]:
            return "what stayed looks otherwise"
        came = now.looks[start + moved : start + moved + len(by)]
        if not set(came) <= set(was.looks[start : start + len(word)]):
            return "what came looks otherwise"
        at = start + len(word)
    if was.looks[at:] != now.looks[at + len(starts) * shift :]:
        return "what stayed looks otherwise"
    return _marks_moved(was, now, starts, len(word), len(by))


def _marks_moved(was: Spelling, now: Spelling, starts: list[int], length: int, came: int) -> str:
    if [mark for _, mark in was.marks] != [mark for _, mark in now.marks]:
        return "its marks are not the same"
    for (old, _), (new, _) in zip(was.marks, now.marks, strict=True):
        before = [start for start in starts if start + length <= old]
        moved = len(before) * (came - length)
        inside = next((start for start in starts if start < old < start + length), None)
        if inside is None:
            if new != old + moved:
                return "a mark is elsewhere"
        elif not inside + moved <= new <= inside + moved + came:
            return "a mark is elsewhere"
    return ""


def _starts(text: str, word: str) -> list[int]:
    found, at = [], text.find(word)
    while at >= 0:
        found.append(at)
        at = text.find(word, at + len(word))
    return found


def _tag(element: Element) -> bytes:
    return repr((element.tag, sorted(attributes(element).items()))).encode()
