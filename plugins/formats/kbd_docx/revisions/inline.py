"""Differences of one paragraph, written into it as tracked changes.

A run that was left is compared by its words; what was put in or taken out is marked whole. A text
box in a run has paragraphs of its own, which are recorded like others.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from typing import Literal

from lxml import etree

from kbd.formats.alignment import align
from kbd_docx.document import PARAGRAPH, W
from kbd_docx.edits.texts import T
from kbd_docx.revisions.marks import INLINE_HOLDERS, Marker, is_sign
from kbd_docx.revisions.runs import (
    RUN,
    RUN_PROPERTIES,
    RunPiece,
    divide_alike,
    emptied,
    made_run,
    word_pieces,
)
from kbd_docx.revisions.snapshot import DocxSnapshot

__all__ = ["InlineRecorder", "same_bytes"]

_TEXTS = frozenset((T, RUN_PROPERTIES, *(f"{W}{name}" for name in ("tab", "br", "cr"))))
_DELETIONS = frozenset((f"{W}del", f"{W}moveFrom"))
_INSERTIONS = frozenset((f"{W}ins", f"{W}moveTo"))


def same_bytes(now: etree._Element, then: etree._Element) -> bool:
    """Tell whether two elements are written alike."""
    return etree.tostring(now, with_tail=False) == etree.tostring(then, with_tail=False)


class InlineRecorder:
    """Recorder of what differs inside of paragraphs.

    Args:
        snapshot: The document as it was.
        marker: Marks what was changed.
        record_blocks: Records an element that holds blocks, such as a text box, and takes what it
            was.
    """

    def __init__(
        self,
        snapshot: DocxSnapshot,
        marker: Marker,
        record_blocks: Callable[[etree._Element, etree._Element], None],
    ) -> None:
        self._snapshot, self._marker, self._record_blocks = snapshot, marker, record_blocks

    def record(self, holder: etree._Element, was: etree._Element) -> None:
        """Record the children of a paragraph, or of a link or control in it."""
        if self._record_as_one(holder, was):
            return
        divide_alike(self._snapshot, holder, was)
        then = [child for child in was if child.tag != f"{W}pPr"]
        left = 0
        for child in [each for each in holder if each.tag != f"{W}pPr"]:
            partner = self._snapshot.original(child)
            if partner is not None and self._snapshot.holder(partner) is was:
                place = then.index(partner)
                if place >= left:
                    self._restore(then[left:place], child.addprevious)
                    left = place + 1
                self._record_child(child, partner)
                continue
            gone = list(takewhile(self._snapshot.is_gone, then[left:]))
            self._restore(gone, child.addprevious)
            left += len(gone)
            if partner is not None and not self._is_in_new_place(partner):
                # It was only moved, such as the end of a bookmark: it comes back where it was.
                holder.remove(child)
            else:
                self._mark_new(child)
        self._restore(then[left:], holder.append)

    def _record_as_one(self, holder: etree._Element, was: etree._Element) -> bool:
        """Record by its words a text that was written anew; tell whether it is such a one.

        An operation that sets the text of a cell makes new runs of it, though most words may be as
        they were.
        """
        now = [child for child in holder if child.tag != f"{W}pPr"]
        then = [child for child in was if child.tag != f"{W}pPr"]
        is_anew = all(self._snapshot.original(child) is None for child in now)
        if not is_anew or not _is_one_text(now) or not _is_one_text(then):
            return False
        run, old = _joined(now), _joined(then)
        now[0].addprevious(run)
        for child in now:
            holder.remove(child)
        self._record_run(run, old)
        return True

    def _restore(
        self, then: Sequence[etree._Element], put: Callable[[etree._Element], object]
    ) -> None:
        """Put back, marked as deleted, what of some children was taken out."""
        gone = [
            each
            for each in then
            if self._snapshot.is_gone(each) and not self._is_in_new_place(each)
        ]
        for element in gone:
            put(element)
        self._marker.mark_inline(gone, "del", self._snapshot.is_kept_sign)

    def _is_in_new_place(self, then: etree._Element) -> bool:
        """Tell whether a mark stands in something new now, where it must not be twice."""
        now = self._snapshot.current(then)
        parent = now.getparent() if now is not None else None
        if parent is None or then.tag in INLINE_HOLDERS or (then.tag == RUN and not is_sign(then)):
            return False
        return self._snapshot.original(parent) is None and self._snapshot.is_present(parent)

    def _record_child(self, child: etree._Element, was: etree._Element) -> None:
        if same_bytes(child, was):
            return
        if child.tag == RUN:
            self._record_run(child, was)
        elif child.tag in INLINE_HOLDERS or child.tag in _DELETIONS:
            # What another has deleted may look otherwise now, with the text around it.
            self.record(child, was)

    def _mark_new(self, child: etree._Element) -> None:
        self._marker.mark_inline([child], "ins")
        around = child.getparent()
        # The child may stand in a new insertion now.
        if around is not None and around.tag == f"{W}ins" and self._marker.is_own(around):
            self._free(around)

    def _free(self, inserted: etree._Element) -> None:
        """Take an insertion out of another author's, which is divided there."""
        outer = inserted.getparent()
        if outer is None or outer.tag not in _INSERTIONS:
            return
        behind = emptied(outer)
        behind.extend(list(inserted.itersiblings()))
        outer.addnext(inserted)
        if len(behind):
            inserted.addnext(behind)
        if not len(outer):
            parent = outer.getparent()
            if parent is not None:
                parent.remove(outer)

    def _record_run(self, run: etree._Element, was: etree._Element) -> None:
        """Record a run that was left: its words, its properties, and text boxes in it."""
        then, now = list(word_pieces(was)), list(self._own_pieces(run))
        same = [piece.key for piece in then] == [piece.key for piece in now]
        properties = was.find(RUN_PROPERTIES)
        if same:
            self._marker.record_properties(run, properties, RUN_PROPERTIES)
            return
        place = run
        insertions: list[etree._Element] = []
        for block in align([piece.key for piece in then], [piece.key for piece in now]):
            removed, added = then[block.i1 : block.i2], now[block.j1 : block.j2]
            if block.kind == "equal":
                kept = made_run(run, run.find(RUN_PROPERTIES), added)
                self._marker.record_properties(kept, properties, RUN_PROPERTIES)
                place.addnext(kept)
                place = kept
                continue
            parts: tuple[tuple[Literal["ins", "del"], list[RunPiece]], ...]
            parts = (("del", removed), ("ins", added))
            for side, pieces in parts:
                if not pieces:
                    continue
                look = properties if side == "del" else run.find(RUN_PROPERTIES)
                made = made_run(was if side == "del" else run, look, pieces)
                place.addnext(made)
                self._marker.mark_inline([made], side)
                wrapper = made.getparent()
                assert wrapper is not None, "it was marked"
                place = wrapper
                if side == "ins":
                    insertions.append(wrapper)
        parent = run.getparent()
        assert parent is not None, "it stands in a paragraph"
        parent.remove(run)
        for insertion in insertions:
            self._free(insertion)

    def _own_pieces(self, run: etree._Element) -> Iterator[RunPiece]:
        """Yield the pieces of a run that was left; text boxes in it are recorded on the way."""
        for piece in word_pieces(run):
            element = piece.element
            was = self._snapshot.original(element) if element is not None else None
            if element is None or was is None or next(element.iter(PARAGRAPH), None) is None:
                yield piece
                continue
            key = etree.tostring(was, with_tail=False)
            self._record_within(element)
            yield RunPiece(key, element)

    def _record_within(self, element: etree._Element) -> None:
        """Record what holds paragraphs in a drawing."""
        for child in list(element):
            then = self._snapshot.original(child)
            if then is None or same_bytes(child, then):
                continue
            if any(block.tag == PARAGRAPH for block in child):
                self._record_blocks(child, then)
            else:
                self._record_within(child)


def _is_one_text(children: Sequence[etree._Element]) -> bool:
    """Tell whether elements are runs of text that look alike."""
    if not children or any(
        child.tag != RUN or any(each.tag not in _TEXTS for each in child) for child in children
    ):
        return False
    looks = [child.find(RUN_PROPERTIES) for child in children]
    return (
        len({b"" if each is None else etree.tostring(each, method="c14n") for each in looks}) == 1
    )


def _joined(runs: Sequence[etree._Element]) -> etree._Element:
    """Return one run with the text of several."""
    pieces = [piece for run in runs for piece in word_pieces(run)]
    return made_run(runs[0], runs[0].find(RUN_PROPERTIES), pieces)
