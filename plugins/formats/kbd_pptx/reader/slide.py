"""Slide: its shapes with the parts that belong to them, and all of it as text.

Text is what the slide shows in the order of a reader, then what belongs to it unseen. Shapes are
apart by an empty line. What is no text stands in square brackets, and what is not seen in a show is
labeled so: hidden shapes and slides, what lies outside of the slide, notes, comments. The text of
SmartArt are its points as a list, each as deep as it stands below others.
"""

from collections.abc import Iterator

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed, ValidationFailed
from kbd_pptx.presentation import DGM, A, P, R
from kbd_pptx.reader.charts import Chart, parse_chart
from kbd_pptx.reader.deck import DeckReader, SlideLayout
from kbd_pptx.reader.notes import Comment, SlideLink, notes_text, read_comments, read_links
from kbd_pptx.reader.shapes import SlideShape, is_image, reading_order, shapes_of
from kbd_pptx.reader.text import (
    BulletOf,
    Judge,
    TextLine,
    format_lines,
    format_rows,
    labeled_text,
    plain_text,
    read_lines,
    table_rows,
)
from kbd_pptx.reader.unseen import SlideGround, SlideLooks

__all__ = [
    "Slide",
    "chart_part",
    "diagram_lines",
    "diagram_relations",
    "is_off_slide",
    "read_slide",
    "slide_chart",
    "slide_diagram",
    "slide_notes",
    "slide_text",
    "slide_title",
]


_DEEPEST = 8
_SHOWN = ("node", "asst")
"""Types of points that people fill; the others are made by the layout of the diagram."""


def diagram_relations(element: etree._Element) -> etree._Element | None:
    """Return the element in a frame that names the parts of its diagram."""
    return element.find(f"{A}graphic/{A}graphicData/{DGM}relIds")


def diagram_lines(root: etree._Element) -> list[TextLine]:
    """Return the points of a diagram that have text, from the root of its data.

    A point hangs below the one that a connection of type parOf names; those that hang nowhere come
    last, in the order of the file (ECMA-376, part 1, 21.4.3).
    """
    points = {point.get("modelId", ""): point for point in root.iterfind(f"{DGM}ptLst/{DGM}pt")}
    below: dict[str, list[tuple[int, str]]] = {}
    for connection in root.iterfind(f"{DGM}cxnLst/{DGM}cxn"):
        if connection.get("type", "parOf") == "parOf":
            order = connection.get("srcOrd", "0")
            place = int(order) if order.isdecimal() and len(order) < 8 else 0
            below.setdefault(connection.get("srcId", ""), []).append(
                (place, connection.get("destId", ""))
            )
    tops = [id_ for id_, point in points.items() if point.get("type") == "doc"]
    found: list[TextLine] = []
    seen: set[str] = set()
    # The last is taken first: what hangs below the document, then what hangs nowhere.
    waiting = [(id_, 0) for id_ in (*reversed(points), *reversed(tops))]
    while waiting:
        id_, depth = waiting.pop()
        # Connections may lead nowhere, or in a circle.
        if id_ in seen or id_ not in points:
            continue
        seen.add(id_)
        point = points[id_]
        text = plain_text(point.find(f"{DGM}t")).strip()
        is_shown = point.get("type", "node") in _SHOWN and text != ""
        if is_shown:
            found.append(TextLine(text, min(depth, _DEEPEST), "-"))
        # The document itself and points without text add no level.
        deeper = depth + is_shown
        children = sorted(below.get(id_, ()), key=lambda child: child[0])
        # Turned round afterwards: a reversed sort keeps equal ones in order, wrong for a stack.
        waiting.extend((child, deeper) for _, child in reversed(children))
    return found


_HIDDEN = ("0", "false")


class Slide(msgspec.Struct, frozen=True):
    """A slide.

    Args:
        index: Its index, from 0.
        number: The number that is shown on it.
        part: Its part.
        root: The root of that.
        layout: Its layout.
        is_hidden: Whether a show skips it.
        shapes: Its shapes in the order of the file.
    """

    index: int
    number: int
    part: str
    root: etree._Element
    layout: SlideLayout
    is_hidden: bool
    shapes: tuple[SlideShape, ...]

    @property
    def place(self) -> str:
        """Name of the slide, for people and for the next call."""
        return f"slide {self.index + 1} (slide_index {self.index})"


def read_slide(deck: DeckReader, index: int) -> Slide:
    """Return a slide of a deck.

    Raises:
        FileReadFailed: It is missing or damaged, or past a limit.
        ValidationFailed: There is no slide of this index.
    """
    if not 0 <= index < len(deck.slides):
        raise ValidationFailed(_out_of_range(deck, index))
    part = deck.slides[index].part
    if not part:
        raise FileReadFailed(
            f"{deck.name} is damaged: the part of slide {index + 1} (slide_index {index}) is "
            "missing"
        )
    root = deck.parts.root(part)
    layout = deck.layout(deck.parts.target(part, "slideLayout"))
    tree = root.find(f"{P}cSld/{P}spTree")
    if tree is not None:
        deck.parts.count_shapes(tree)
    return Slide(
        index,
        deck.first_number + index,
        part,
        root,
        layout,
        root.get("show") in _HIDDEN,
        () if tree is None else shapes_of(tree, layout),
    )


def slide_title(slide: Slide) -> str | None:
    """Return a slide's title on one line, "" if its placeholder is empty, None without one."""
    title = next((shape for shape in slide.shapes if shape.is_title), None)
    return None if title is None else " ".join(plain_text(title.body, slide.number).split())


def slide_notes(deck: DeckReader, slide: Slide) -> str:
    """Return the notes of a slide, "" if it has none."""
    part = deck.parts.target(slide.part, "notesSlide")
    if part:
        with deck.skip_unreadable(f"The notes page of {slide.place}"):
            root = deck.parts.root(part)
            deck.parts.count_shapes(root)
            return notes_text(root)
    return ""


def slide_chart(deck: DeckReader, slide: Slide, shape: SlideShape) -> Chart | None:
    """Return the chart in a frame; None, with a warning, if it cannot be read."""
    with deck.skip_unreadable(f"The chart {shape.name} of {slide.place}"):
        part = chart_part(deck, slide, shape)
        if not part:
            # The block around it turns this into a warning.
            raise FileReadFailed("its part is missing")
        return parse_chart(deck.parts.root(part))
    return None


def chart_part(deck: DeckReader, slide: Slide, shape: SlideShape) -> str:
    """Return the part of the chart in a frame, "" if there is none."""
    data = shape.element.find(f"{A}graphic/{A}graphicData")
    # By position: c:chart and cx:chart are of different namespaces.
    named = None if data is None or not len(data) else data[0]
    id_ = "" if named is None else named.get(f"{R}id", "")
    relation = deck.parts.relations(slide.part).get(id_)
    return relation.target if relation is not None and deck.parts.has(relation) else ""


def slide_diagram(deck: DeckReader, slide: Slide, shape: SlideShape) -> list[TextLine]:
    """Return the points of the diagram in a frame; none, with a warning, if it cannot be read."""
    with deck.skip_unreadable(f"The diagram {shape.name} of {slide.place}"):
        named = diagram_relations(shape.element)
        id_ = "" if named is None else named.get(f"{R}dm", "")
        relation = deck.parts.relations(slide.part).get(id_)
        if relation is None or not deck.parts.has(relation):
            raise FileReadFailed("its part is missing")
        return diagram_lines(deck.parts.root(relation.target))
    return []


def _out_of_range(deck: DeckReader, index: int) -> str:
    count = len(deck.slides)
    if not count:
        return f"{deck.name} has no slides; there is no slide_index {index}"
    return (
        f"{deck.name} has {count} slide{'s' * (count > 1)}; slide_index {index} is none of them, "
        f"for they are counted from 0 to {count - 1}"
    )


_FOOTERS = {"dt": "Date", "ftr": "Footer", "sldNum": "Slide number"}


def slide_text(deck: DeckReader, slide: Slide, looks: SlideLooks) -> str:
    """Return a slide as text; what of it cannot be read goes into the deck's warnings.

    Args:
        deck: The deck.
        slide: The slide.
        looks: The looks of the deck's layouts, which slides share.
    """
    blocks = ["[This slide is hidden.]"] if slide.is_hidden else []
    outside: list[str] = []
    layout = deck.parts.target(slide.part, "slideLayout")
    ground = SlideGround(looks, layout, slide.root, slide.shapes)
    for place in reading_order(slide.shapes):
        shape = slide.shapes[place]
        is_outside = is_off_slide(deck, shape)
        # Text outside is told as such; what is behind it there nobody sees.
        judge = None if is_outside else ground.judge(place)
        text = "\n".join(filter(None, _shape_text(deck, slide, shape, judge)))
        if text:
            line = text if shape.is_shown else f"[hidden] {text}"
            (outside if is_outside else blocks).append(line)
    if outside:
        blocks.append("\n".join(["Outside of the slide:", *outside]))
    found_notes = slide_notes(deck, slide)
    if found_notes:
        blocks.append(f"Notes:\n{found_notes}")
    found_comments = read_comments(deck, slide.part)
    if found_comments:
        blocks.append("\n".join(["Comments:", *map(_comment, found_comments)]))
    found_links = [_link(link) for link in _links(deck, slide)]
    if found_links:
        blocks.append("\n".join(["Links:", *dict.fromkeys(found_links)]))
    return "\n\n".join(blocks)


def is_off_slide(deck: DeckReader, shape: SlideShape) -> bool:
    """Tell whether a shape lies wholly outside of the slide."""
    box, (width, height) = shape.drawn_box, deck.size
    if box is None:
        return shape.is_beyond
    across = box.x >= width or box.x + box.width <= 0
    # A box at 0, 0 without a size ends where the slide begins; it is not called outside.
    return (across or box.y >= height or box.y + box.height <= 0) and bool(box.width or box.height)


def _shape_text(
    deck: DeckReader, slide: Slide, shape: SlideShape, judge: Judge | None
) -> Iterator[str]:
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
            yield format_rows(table_rows(shape.element, judge))
        case "diagram":
            yield f"[Diagram: {alt_text or shape.name}]"
            yield format_lines(iter(slide_diagram(deck, slide, shape)))
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
            yield _text(slide, shape, judge)


def _chart(deck: DeckReader, slide: Slide, shape: SlideShape, alt_text: str) -> Iterator[str]:
    chart = slide_chart(deck, slide, shape)
    if chart is None:
        yield f"[Chart: {alt_text or shape.name}]"
        return
    title = " ".join((chart.title or alt_text or shape.name).split())
    kinds = f", {' and '.join(chart.kinds)}" if chart.kinds else ""
    yield f"[Chart: {title}{kinds}]"
    rows = chart.rows()
    yield format_rows(rows)
    if chart.is_cut:
        yield f"[The chart goes on; {len(rows) - 1} rows of it are shown.]"


def _program(shape: SlideShape) -> str:
    data = shape.element.find(f"{A}graphic/{A}graphicData")
    # Anywhere inside: newer programs wrap the object into alternatives.
    named = None if data is None else next(data.iter(f"{P}oleObj"), None)
    return (named.get("progId") if named is not None else "") or shape.name


def _text(slide: Slide, shape: SlideShape, judge: Judge | None) -> str:
    body = shape.body
    if body is None:
        return ""
    footer = _FOOTERS.get(shape.placeholder)
    if footer:
        lines = (labeled_text(each, judge, slide.number) for each in body.iterchildren(f"{A}p"))
        text = " ".join(" ".join(lines).split())
        return f"{footer}: {text}" if text else ""
    return format_lines(read_lines(body, _bullet_of(shape), slide.number, judge))


def _bullet_of(shape: SlideShape) -> BulletOf:
    if not shape.placeholder:
        return lambda _: ""
    return lambda level: shape.layout.bullet(shape.placeholder, shape.index, level)


def _comment(comment: Comment) -> str:
    line = ", ".join(filter(None, (comment.author or "unknown", comment.date[:10])))
    before = "  - " if comment.is_reply else "- "
    return f"{before}{line}: {' '.join(comment.text.split())}"


def _links(deck: DeckReader, slide: Slide) -> Iterator[SlideLink]:
    return read_links(slide.root, deck.parts.relations(slide.part), deck.numbers)


def _link(link: SlideLink) -> str:
    on_hover = " (when pointed at)" if link.on_hover else ""
    return f"- {link.text or 'a shape'} -> {link.target}{on_hover}"
