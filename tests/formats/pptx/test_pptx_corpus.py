"""Real decks: their texts and bounds are those that another library finds."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pptx
import pytest
from pptx.shapes.group import GroupShape

from kbd.formats import Region, Source
from kbd_pptx import PptxFormat

FORMAT = PptxFormat()

EVERY = 12
"""Of each so many decks `make test` opens one; `make test-full` opens all."""


def decks(corpora: Path) -> list[Source]:
    """The whole corpus: none is large, and what hostile ones may cost is bounded elsewhere."""
    return [Source(path, path.name) for path in sorted((corpora / "pptx").iterdir())]


def opened_by_peer(source: Source) -> Any:
    """What python-pptx makes of a deck, None if it cannot open it."""
    try:
        deck = pptx.Presentation(str(source.path))
        len(deck.slides)
    except Exception:  # noqa: BLE001 - it raises anything
        return None
    return deck


def peer_texts(shapes: Any) -> Iterator[tuple[int, str]]:
    """The ids and texts of python-pptx's shapes, those in groups too."""
    for shape in shapes:
        if isinstance(shape, GroupShape):
            yield from peer_texts(shape.shapes)
        elif shape.has_text_frame and shape.text_frame.text:
            yield shape.shape_id, shape.text_frame.text.replace("\v", "\n")
        elif getattr(shape, "has_table", False) and shape.has_table:
            cells = [cell for row in shape.table.rows for cell in row.cells]
            yield shape.shape_id, "|".join(cell.text.replace("\v", "\n").strip() for cell in cells)


def our_texts(shapes: Any) -> Iterator[tuple[int, str]]:
    """The same of ours."""
    for shape in shapes:
        if "rows" in shape:
            yield shape["id"], "|".join(cell for row in shape["rows"] for cell in row)
        elif "text" in shape and shape["kind"] in ("shape", "text_box"):
            yield shape["id"], shape["text"]


def peer_bounds(shapes: Any) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The ids and bounds of python-pptx's shapes outside of groups, in inches / 10,000."""
    for shape in shapes:
        sides = (shape.left, shape.top, shape.width, shape.height)
        if None not in sides:
            yield shape.shape_id, tuple(round(side / 91.44) for side in sides)


def differences(sources: list[Source]) -> tuple[int, list[Any]]:
    """Compare all shapes of decks that both open; return how many, and what differs."""
    compared, wrong = 0, list[Any]()
    for source in sources:
        deck = opened_by_peer(source)
        if deck is None:
            continue
        for index, slide in enumerate(deck.slides):
            shapes = (FORMAT.objects(source, Region(slide_index=index)).objects or {})["shapes"]
            if b'type="slidenum"' in slide.part.blob:
                continue
            ours, theirs = dict(our_texts(shapes)), dict(peer_texts(slide.shapes))
            wrong += [(source.name, index, each) for each in theirs.items() - ours.items()]
            ids = Counter(shape["id"] for shape in shapes)
            places = {
                shape["id"]: tuple(round(side * 1e4) for side in shape["bounds"].values())
                for shape in shapes
                if shape["bounds"] is not None
            }
            for id_, sides in peer_bounds(slide.shapes):
                near = all(abs(a - b) < 2 for a, b in zip(places[id_], sides, strict=True))
                if ids[id_] == 1 and not near:
                    wrong.append((source.name, index, (id_, places.get(id_), sides)))
            compared += len(theirs)
    return compared, wrong


@pytest.mark.corpora
def test_texts_and_bounds_are_those_of_python_pptx(corpora: Path) -> None:
    """Every shape of a sample has the text and the place that python-pptx finds."""
    compared, wrong = differences(decks(corpora)[1::EVERY])

    assert compared > 100
    assert wrong == []


@pytest.mark.full
@pytest.mark.corpora
def test_all_texts_and_bounds_are_those_of_python_pptx(corpora: Path) -> None:
    """The same of all decks."""
    compared, wrong = differences(decks(corpora))

    assert compared > 2000
    assert wrong == []
