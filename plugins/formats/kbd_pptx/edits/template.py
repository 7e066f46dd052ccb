"""Filling of templates: placeholders by their values, rows and paragraphs repeated for records.

A placeholder is `{{name}}` in the text of a slide or its notes, however many runs it goes over; the
value takes the look of its beginning. A picture takes the place of a shape that holds nothing but
its placeholder.
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy

import msgspec
from lxml import etree
from pptx.parts.slide import BaseSlidePart

from kbd.errors import ValidationFailed
from kbd.office.templates import (
    PLACEHOLDER,
    ListRecord,
    PlaceholderHit,
    TemplateAnswers,
    find_placeholders,
    list_records,
)
from kbd_pptx.edits.deck import DeckEdit, notes_of
from kbd_pptx.edits.fit_warnings import fit_text, warn_of_table_fit
from kbd_pptx.edits.found_shapes import SlideEdit, names_of, shapes_on, slide_at, table_of
from kbd_pptx.edits.pictures import put_picture
from kbd_pptx.edits.replacement import (
    FALLBACK,
    TextHit,
    fill_paragraph,
    paragraph_text,
    warn_of_other_places,
)
from kbd_pptx.edits.tables import copied_row, fit_frame, is_merged_over, shown_value
from kbd_pptx.operations import FillDeckTemplate, TableCell
from kbd_pptx.presentation import A, P

__all__ = ["fill_template"]

_ROW, _PARAGRAPH, _BODY, _SHAPE = f"{A}tr", f"{A}p", f"{P}txBody", f"{P}sp"


def fill_template(deck: DeckEdit, operation: FillDeckTemplate) -> str:
    """Fill the placeholders of a deck.

    Raises:
        ValidationFailed: A placeholder has no value and none may be missing, a picture is asked
            for where no shape is only that, merged cells reach over rows that are repeated, or
            there is nothing to be filled.
        FileReadFailed: A picture cannot be read.
    """
    filler = _DeckFiller(deck, operation)
    parts: dict[int, None] = {}
    for index, entry in enumerate(deck.entries):
        part = deck.part_of(entry)
        # A deck may list one slide several times.
        if part is None or id(part) in parts:
            continue
        parts[id(part)] = None
        slide = slide_at(deck, index)
        filler.fill(slide, slide.root, part)
        notes = notes_of(part)
        if notes is not None:
            filler.fill(slide, notes.notes_slide.element, notes)
    filler.answers.check(filler.count, deck.warnings.warn, "deck")
    filler.draw()
    slides = [
        (index, part)
        for index, part in enumerate(map(deck.part_of, deck.entries))
        if part is not None
    ]
    warn_of_other_places(deck, slides, PLACEHOLDER, "placeholders")
    return filler.answers.told(filler.count)


class _DrawnPlace(msgspec.Struct, frozen=True):
    """A shape in whose place a picture goes."""

    slide: SlideEdit
    shape: etree._Element
    picture: str


class _DeckFiller:
    """Filler of one deck.

    Args:
        deck: The deck.
        operation: The values.

    Attributes:
        answers: What placeholders are filled with.
        count: How many that people see were filled so far.
    """

    def __init__(self, deck: DeckEdit, operation: FillDeckTemplate) -> None:
        self._deck = deck
        self.answers: TemplateAnswers[TableCell] = TemplateAnswers(
            {each.name: each.value for each in operation.values},
            {
                each.name: list_records(each.name, each.columns, each.rows)
                for each in operation.lists
            },
            {each.name: each.image for each in operation.pictures},
            operation.missing,
        )
        self.count = 0
        # The record of what stands in a row or paragraph that was repeated, by the paragraph.
        self._records: dict[etree._Element, ListRecord[TableCell]] = {}
        self._pictures: list[_DrawnPlace] = []
        self._changed: set[etree._Element] = set()

    def fill(self, slide: SlideEdit, root: etree._Element, part: BaseSlidePart) -> None:
        """Fill a slide or its notes."""
        for name, blocks in list(self._groups(root)):
            self._repeat(name, blocks, part)
        for paragraph in list(root.iter(_PARAGRAPH)):
            text = paragraph_text(paragraph)
            hits = list(find_placeholders(text))
            if not hits or self._is_drawn(slide, paragraph, text, hits):
                continue
            found = self._hits(paragraph, hits)
            fill_paragraph(paragraph, found)
            if found:
                self._changed.update(_shapes_around(paragraph))
            # Filled in both alternatives, counted in the one that people see.
            if not any(each.tag == FALLBACK for each in paragraph.iterancestors()):
                self.count += len(found)
        if root is slide.root:
            self._fit(slide)

    def draw(self) -> None:
        """Put the pictures into the places of the shapes that asked for them."""
        for each in self._pictures:
            put_picture(self._deck, each.slide, each.shape, each.picture)

    def _hits(self, paragraph: etree._Element, hits: Sequence[PlaceholderHit]) -> list[TextHit]:
        found = []
        for hit in hits:
            answer = self.answers.answer(hit.name, self._records.get(paragraph))
            if answer is not None:
                text = self._deck.warnings.clean_text(shown_value(answer.value))
                # Inside of a paragraph only a break ends a line.
                found.append(TextHit(hit.start, hit.end, text.replace("\n", "\v")))
        return found

    def _is_drawn(
        self, slide: SlideEdit, paragraph: etree._Element, text: str, hits: Sequence[PlaceholderHit]
    ) -> bool:
        """Note a picture that takes the place of a shape."""
        for hit in hits:
            picture = self.answers.picture(hit.name)
            if picture is None:
                continue
            shape = next(paragraph.iterancestors(_SHAPE), None)
            bodies = [] if shape is None else shape.findall(f"{_BODY}/{_PARAGRAPH}")
            whole = "".join(map(paragraph_text, bodies)).strip()
            is_on_slide = paragraph.getroottree().getroot() is slide.root
            if shape is None or not is_on_slide or whole != text[hit.start : hit.end]:
                raise ValidationFailed(
                    f"slide {slide.index}: {{{{{hit.name}}}}} is a picture and needs a shape of "
                    "its own"
                )
            self._pictures.append(_DrawnPlace(slide, shape, picture))
            self.count += 1
            return True
        return False

    def _groups(self, root: etree._Element) -> Iterator[tuple[str, list[etree._Element]]]:
        """Yield the runs of neighboring rows or paragraphs that ask for the same list."""
        found: list[tuple[str, list[etree._Element]]] = []
        seen: set[etree._Element] = set()
        for paragraph in root.iter(_PARAGRAPH):
            hits = find_placeholders(paragraph_text(paragraph))
            asked = self.answers.list_in(hit.name for hit in hits)
            block = next(paragraph.iterancestors(_ROW), paragraph)
            if asked is None or block in seen:
                continue
            seen.add(block)
            last = found[-1] if found else None
            if last is not None and last[0] == asked and block.getprevious() is last[1][-1]:
                last[1].append(block)
            else:
                found.append((asked, [block]))
        yield from found

    def _repeat(self, name: str, blocks: list[etree._Element], part: BaseSlidePart) -> None:
        records = self.answers.repeat(name, len(blocks))
        self._changed.update(_shapes_around(blocks[0]))
        is_row = blocks[0].tag == _ROW
        after = blocks[-1].getnext()
        if is_row and len(records) != 1 and any(
            is_merged_over(each) for each in (*blocks, after) if each is not None
        ):  # fmt: skip
            raise ValidationFailed(f"merged cells reach over a row that is repeated for {name}")
        if not records:
            self._remove(name, blocks, part)
            return
        copies = [
            [copied_row(block) if is_row else _copied(block) for block in blocks]
            for _ in records[1:]
        ]
        place = blocks[-1]
        for block in (each for group in copies for each in group):
            place.addnext(block)
            place = block
        for record, group in zip(records, [blocks, *copies], strict=True):
            for block in group:
                self._records.update((each, record) for each in block.iter(_PARAGRAPH))
        if is_row:
            fit_frame(blocks[0])

    def _remove(self, name: str, blocks: list[etree._Element], part: BaseSlidePart) -> None:
        """Remove what would be repeated for no record; the last one of its kind is emptied."""
        holder = blocks[0].getparent()
        assert holder is not None
        if len(holder.findall(str(blocks[0].tag))) == len(blocks):
            kept, blocks = blocks[0], blocks[1:]
            for paragraph in kept.iter(_PARAGRAPH):
                text = paragraph_text(paragraph)
                fill_paragraph(paragraph, [TextHit(0, len(text), "")] if text else [])
            if kept.tag == _ROW:
                self._deck.warnings.warn(f"{name} is empty: a row of its table stays, emptied.")
        for block in blocks:
            holder.remove(block)
        self._deck.release(part, blocks)
        if holder.tag == f"{A}tbl":
            fit_frame(holder.findall(_ROW)[0])

    def _fit(self, slide: SlideEdit) -> None:
        """Shrink the changed texts that do so, and warn of what does not fit."""
        for shape in shapes_on(slide.root):
            if shape.element not in self._changed:
                continue
            if table_of(shape.element) is not None:
                warn_of_table_fit(self._deck, slide, shape.element)
            else:
                names = names_of(shape.element)
                name = "shape" if names is None else names.get("name", "")
                fit_text(self._deck, slide, shape.element, f"text of {name}")


def _shapes_around(element: etree._Element) -> Iterator[etree._Element]:
    """Yield the shape or table that a text is of."""
    yield from element.iterancestors(_SHAPE, f"{P}graphicFrame")


def _copied(paragraph: etree._Element) -> etree._Element:
    made = deepcopy(paragraph)
    made.tail = None
    return made
