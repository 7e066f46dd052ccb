"""A slide's shapes, tables, pictures and charts as plain values, in the order of a reader."""

from typing import Any

from kbd_pptx.reader.boxes import inches
from kbd_pptx.reader.deck import DeckReader
from kbd_pptx.reader.names import R
from kbd_pptx.reader.order import reading_order
from kbd_pptx.reader.shapes import SlideShape, is_image, picture_of
from kbd_pptx.reader.slide import Slide, chart_on, diagram_on
from kbd_pptx.reader.slide_text import is_outside
from kbd_pptx.reader.tables import table_rows
from kbd_pptx.reader.text import plain_text

__all__ = ["KINDS", "objects_on"]

KINDS = ("shapes", "tables", "images", "charts")
"""The lists of objects; each is there, if empty."""


def objects_on(deck: DeckReader, slide: Slide) -> dict[str, list[dict[str, Any]]]:
    """Return what stands on a slide, by kind; each entry names its slide and its shape."""
    found: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
    for place in reading_order(slide.shapes):
        shape = slide.shapes[place]
        entry = _described(deck, slide, shape)
        named = {"slide_index": slide.index, "shape_id": entry["id"], "name": shape.name}
        if shape.kind == "table":
            rows = table_rows(shape.element)
            width = max(map(len, rows), default=0)
            entry["rows"] = rows
            found["tables"].append(
                {**named, "rows": rows, "row_count": len(rows), "column_count": width}
            )
        elif shape.kind == "chart":
            chart = _charted(deck, slide, shape)
            entry["chart"] = chart
            found["charts"].append({**named, **chart})
        elif shape.kind == "diagram":
            entry["text"] = "\n".join(line.text for line in diagram_on(deck, slide, shape))
        if is_image(shape):
            blip = picture_of(shape.element)
            picture = {**named, "alt_text": shape.alt_text, "bounds": entry["bounds"]}
            linked = _linked(deck, slide, "" if blip is None else blip.get(f"{R}link", ""))
            found["images"].append({**picture, "linked": linked} if linked else picture)
        found["shapes"].append(entry)
    return found


def _described(deck: DeckReader, slide: Slide, shape: SlideShape) -> dict[str, Any]:
    found: dict[str, Any] = {
        "slide_index": slide.index,
        "id": _number(shape.id),
        "name": shape.name,
        "kind": shape.kind,
        "bounds": None if shape.box is None else inches(shape.box),
    }
    if shape.body is not None:
        found["text"] = plain_text(shape.body, slide.number)
    if shape.placeholder:
        found["placeholder"] = shape.placeholder
        found["placeholder_index"] = _number(shape.index)
    if shape.parent >= 0:
        found["group"] = _number(slide.shapes[shape.parent].id)
    if shape.alt_text:
        found["alt_text"] = shape.alt_text
    if shape.is_hidden:
        found["hidden"] = True
    if is_outside(deck, shape):
        found["outside"] = True
    return found


def _number(text: str) -> int:
    """Return an id as a number, -1 if it is none."""
    return int(text) if text.isdecimal() and len(text) < 16 else -1


def _charted(deck: DeckReader, slide: Slide, shape: SlideShape) -> dict[str, Any]:
    chart = chart_on(deck, slide, shape)
    if chart is None:
        return {"title": "", "kinds": [], "series": []}
    series = [
        {
            "name": each.name,
            "categories": list(each.categories),
            "values": [_value(value) for value in each.values],
        }
        for each in chart.series
    ]
    return {"title": chart.title, "kinds": list(chart.kinds), "series": series}


def _value(text: str) -> float | str | None:
    """Return a value of a chart as the number that it is; None where there is none."""
    try:
        number = float(text)
    except ValueError:
        return text or None
    return number if abs(number) < float("inf") else text


def _linked(deck: DeckReader, slide: Slide, id_: str) -> str:
    relation = deck.parts.relations(slide.part).get(id_)
    return relation.target if relation is not None and relation.external else ""
