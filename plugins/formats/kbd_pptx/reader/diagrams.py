"""The text of SmartArt: its points as a list, each as deep as it stands below others."""

from lxml import etree

from kbd_pptx.reader.names import DGM, A
from kbd_pptx.reader.text import TextLine, plain_text

__all__ = ["data_of", "diagram_lines"]

_DEEPEST = 8
_SHOWN = ("node", "asst")
"""Types of points that people fill; the others are made by the layout of the diagram."""


def data_of(element: etree._Element) -> etree._Element | None:
    """Return what names the parts of a diagram in its frame."""
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
    waiting = [(id_, 0) for id_ in (*reversed(points), *reversed(tops))]
    while waiting:
        id_, depth = waiting.pop()
        if id_ in seen or id_ not in points:
            continue
        seen.add(id_)
        point = points[id_]
        text = plain_text(point.find(f"{DGM}t")).strip()
        is_shown = point.get("type", "node") in _SHOWN and text != ""
        if is_shown:
            found.append(TextLine(text, min(depth, _DEEPEST), "-"))
        deeper = depth + is_shown
        children = sorted(below.get(id_, ()), key=lambda child: child[0], reverse=True)
        waiting.extend((child, deeper) for _, child in children)
    return found
