"""Slide as text: what it shows, its title first and its footers last, then what belongs to it.

Shapes are apart by an empty line. What is no text stands in square brackets, and what is not seen
in a show is labeled so: hidden shapes and slides, what lies outside of the slide, notes, comments.
"""

from collections.abc import Iterator, Sequence

from kbd_odp.charts import ChartShown
from kbd_odp.deck import DeckSlide
from kbd_odp.shapes import FOOTERS, DeckShape

__all__ = ["is_off_slide", "reading_order", "rows_text", "shape_text", "slide_text"]

_FOOTERS = {"date-time": "Date", "footer": "Footer", "page-number": "Slide number"}


def reading_order(shapes: Sequence[DeckShape]) -> list[DeckShape]:
    """Return the shapes of a slide: its title, the others as they are painted, its footers."""
    return sorted(shapes, key=lambda shape: (shape.placeholder in FOOTERS, not shape.is_title))


def is_off_slide(slide: DeckSlide, shape: DeckShape) -> bool:
    """Tell whether a shape lies wholly outside of the slide."""
    box, (width, height) = shape.box, slide.size
    if box is None or not (box.width or box.height):
        return False
    across = box.x >= width or box.x + box.width <= 0
    return across or box.y >= height or box.y + box.height <= 0


def slide_text(slide: DeckSlide) -> str:
    """Return a slide as text."""
    blocks = ["[This slide is hidden.]"] if slide.is_hidden else []
    outside: list[str] = []
    for shape in reading_order(slide.shapes):
        text = "\n".join(filter(None, shape_text(shape)))
        if text:
            line = f"[hidden] {text}" if shape.is_hidden else text
            (outside if is_off_slide(slide, shape) else blocks).append(line)
    blocks += slide.footers
    if outside:
        blocks.append("\n".join(["Outside of the slide:", *outside]))
    if slide.notes:
        blocks.append(f"Notes:\n{slide.notes}")
    if slide.comments:
        blocks.append("\n".join(["Comments:", *(f"- {each}" for each in slide.comments)]))
    if slide.links:
        links = (f"- {link.text or 'a shape'} -> {link.target}" for link in slide.links)
        blocks.append("\n".join(["Links:", *links]))
    return "\n\n".join(blocks)


def rows_text(rows: Sequence[Sequence[str]]) -> str:
    """Write rows, a line each, with " | " between cells."""
    return "\n".join(" | ".join(" / ".join(cell.splitlines()) for cell in row) for row in rows)


def shape_text(shape: DeckShape) -> Iterator[str]:
    """Yield what a shape says, in lines."""
    named = shape.alt_text or shape.name
    match shape.kind:
        case "picture":
            yield f"[Picture: {named}]"
        case "media":
            yield f"[Sound or film: {named}]"
        case "chart":
            yield from _chart(shape.chart, named)
        case "table":
            yield f"[Table: {shape.alt_text}]" if shape.alt_text else ""
            yield rows_text(shape.rows)
        case "ole_object":
            yield f"[Embedded object: {named}]"
        case "graphic":
            yield f"[Drawing: {named}]"
        case "shape" | "text_box" | "group" | "connector":
            if shape.alt_text:
                yield f"[Picture: {shape.alt_text}]"
            yield _text(shape)


def _text(shape: DeckShape) -> str:
    footer = _FOOTERS.get(shape.placeholder)
    if footer is None:
        return shape.text
    text = " ".join(shape.text.split())
    return f"{footer}: {text}" if text else ""


def _chart(chart: ChartShown | None, named: str) -> Iterator[str]:
    if chart is None:
        yield f"[Chart: {named}]"
        return
    kinds = f", {' and '.join(chart.kinds)}" if chart.kinds else ""
    yield f"[Chart: {chart.title or named}{kinds}]"
    yield rows_text(chart.rows)
    if chart.is_cut:
        yield f"[The chart goes on; {len(chart.rows)} rows of it are shown.]"
