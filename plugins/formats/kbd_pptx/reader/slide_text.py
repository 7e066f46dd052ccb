"""A slide as text: what it shows in the order of a reader, then what belongs to it unseen.

Shapes are apart by an empty line. What is no text stands in square brackets, and what is not seen
in a show is labelled so: hidden shapes and slides, what lies outside of the slide, notes,
comments.
"""

from collections.abc import Iterator

from kbd_pptx.reader.deck import DeckReader
from kbd_pptx.reader.links import SlideLink, links
from kbd_pptx.reader.names import A, P
from kbd_pptx.reader.notes import Comment, comments
from kbd_pptx.reader.order import reading_order
from kbd_pptx.reader.shapes import SlideShape, is_image
from kbd_pptx.reader.slide import Slide, chart_on, diagram_on, notes_on
from kbd_pptx.reader.tables import table_rows, written_rows
from kbd_pptx.reader.text import BulletOf, lines, plain_text, written_lines

__all__ = ["is_outside", "written_slide"]

_FOOTERS = {"dt": "Date", "ftr": "Footer", "sldNum": "Slide number"}


def written_slide(deck: DeckReader, slide: Slide) -> str:
    """Return a slide as text; what of it cannot be read goes into the deck's warnings."""
    blocks = ["[This slide is hidden.]"] if slide.is_hidden else []
    outside: list[str] = []
    for place in reading_order(slide.shapes):
        shape = slide.shapes[place]
        text = "\n".join(filter(None, _written(deck, slide, shape)))
        if text:
            told = f"[hidden] {text}" if shape.is_hidden else text
            (outside if is_outside(deck, shape) else blocks).append(told)
    if outside:
        blocks.append("\n".join(["Outside of the slide:", *outside]))
    found_notes = notes_on(deck, slide)
    if found_notes:
        blocks.append(f"Notes:\n{found_notes}")
    said = comments(deck, slide.part)
    if said:
        blocks.append("\n".join(["Comments:", *map(_comment, said)]))
    pointed = [_link(link) for link in _links(deck, slide)]
    if pointed:
        blocks.append("\n".join(["Links:", *dict.fromkeys(pointed)]))
    return "\n\n".join(blocks)


def is_outside(deck: DeckReader, shape: SlideShape) -> bool:
    """Tell whether a shape lies wholly outside of the slide."""
    box, (width, height) = shape.box, deck.size
    if box is None:
        return False
    across = box.x >= width or box.x + box.width <= 0
    return (across or box.y >= height or box.y + box.height <= 0) and bool(box.width or box.height)


def _written(deck: DeckReader, slide: Slide, shape: SlideShape) -> Iterator[str]:
    """Yield what a shape says, in lines."""
    alt_text = " ".join(shape.alt_text.split())
    match shape.kind:
        case "picture":
            yield f"[Picture: {alt_text or shape.name}]"
        case "media":
            yield f"[Sound or film: {alt_text or shape.name}]"
        case "chart":
            yield from _chart(deck, slide, shape, alt_text)
        case "table":
            yield f"[Table: {alt_text}]" if alt_text else ""
            yield written_rows(table_rows(shape.element))
        case "diagram":
            yield f"[Diagram: {alt_text or shape.name}]"
            yield written_lines(iter(diagram_on(deck, slide, shape)))
        case "ole_object":
            deck.warnings.append(
                f"What is in the object {shape.name} of {slide.place} is not shown."
            )
            yield f"[Embedded object: {alt_text or _program(shape)}]"
        case "ink" | "model3d" | "graphic":
            yield f"[Drawing: {alt_text or shape.name}]"
        case "shape" | "text_box" | "group" | "connector":
            if alt_text or is_image(shape):
                yield f"[Picture: {alt_text or shape.name}]"
            yield _text(slide, shape)


def _chart(deck: DeckReader, slide: Slide, shape: SlideShape, alt_text: str) -> Iterator[str]:
    chart = chart_on(deck, slide, shape)
    if chart is None:
        yield f"[Chart: {alt_text or shape.name}]"
        return
    title = " ".join((chart.title or alt_text or shape.name).split())
    kinds = f", {' and '.join(chart.kinds)}" if chart.kinds else ""
    yield f"[Chart: {title}{kinds}]"
    rows = chart.rows()
    yield written_rows(rows)
    if chart.is_cut:
        yield f"[The chart goes on; {len(rows) - 1} rows of it are shown.]"


def _program(shape: SlideShape) -> str:
    data = shape.element.find(f"{A}graphic/{A}graphicData")
    named = None if data is None else next(data.iter(f"{P}oleObj"), None)
    return (named.get("progId") if named is not None else "") or shape.name


def _text(slide: Slide, shape: SlideShape) -> str:
    body = shape.body
    if body is None:
        return ""
    footer = _FOOTERS.get(shape.placeholder)
    if footer:
        text = " ".join(plain_text(body, slide.number).split())
        return f"{footer}: {text}" if text else ""
    return written_lines(lines(body, _bullet_of(shape), slide.number))


def _bullet_of(shape: SlideShape) -> BulletOf:
    if not shape.placeholder:
        return lambda _: ""
    return lambda level: shape.layout.bullet(shape.placeholder, shape.index, level)


def _comment(comment: Comment) -> str:
    told = ", ".join(filter(None, (comment.author or "unknown", comment.date[:10])))
    before = "  - " if comment.is_reply else "- "
    return f"{before}{told}: {' '.join(comment.text.split())}"


def _links(deck: DeckReader, slide: Slide) -> Iterator[SlideLink]:
    return links(slide.root, deck.parts.relations(slide.part), deck.numbers)


def _link(link: SlideLink) -> str:
    on_hover = " (when pointed at)" if link.on_hover else ""
    return f"- {link.text or 'a shape'} -> {link.target}{on_hover}"
