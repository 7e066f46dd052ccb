"""Decks to compare: what the tests of comparisons share."""

import copy
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pptx
from lxml import etree
from PIL import Image
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from deck_edits import FORMAT, talk_deck
from kbd.formats import Change, CompareOptions, Comparison, Source

__all__ = [
    "changes_of",
    "chart_data",
    "compared",
    "full_deck",
    "planted",
    "rewritten",
    "source",
    "told",
]


def source(path: Path) -> Source:
    """Name a file."""
    return Source(path, path.name)


def compared(before: Path | None, after: Path | None) -> Comparison:
    """Compare two files."""
    old, new = (None if path is None else source(path) for path in (before, after))
    return FORMAT.compare(old, new, CompareOptions())


def changes_of(before: Path, after: Path) -> tuple[Change, ...]:
    """Return what differs in two files."""
    return compared(before, after).changes


def told(change: Change) -> tuple[str, str, str]:
    """Return what a change says first."""
    return change.kind, change.what, change.place.title


def chart_data(last: int) -> Any:
    """Return the data of the chart, with the last value of its first series."""
    # python-pptx tells no types of it.
    made: Any = CategoryChartData
    data = made()
    data.categories = ["Q1", "Q2", "Q3"]
    data.add_series("Sales", (1, 2, last))
    data.add_series("Cost", (4, 5, 6))
    return data


def full_deck(folder: Path) -> Path:
    """Write a deck of three slides; on the third are a text, a table, a chart and a picture."""
    Image.new("RGB", (9, 9), "blue").save(folder / "blue.png")
    (folder / "full.pptx").write_bytes(_full_deck())
    return folder / "full.pptx"


@cache
def _full_deck() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return _write_deck(Path(folder)).read_bytes()


def _write_deck(folder: Path) -> Path:
    picture = folder / "red.png"
    Image.new("RGB", (9, 9), "red").save(picture)
    deck: Any = pptx.Presentation(str(talk_deck(folder / "talk.pptx")))
    shapes = deck.slides[2].shapes
    table = shapes.add_table(3, 3, Inches(1), Inches(3), Inches(5), Inches(2)).table
    for row in range(3):
        for column in range(3):
            table.cell(row, column).text = f"r{row}c{column}"
    data = chart_data(3)
    where = (Inches(5), Inches(1), Inches(4), Inches(3))
    shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, *where, data)
    shapes.add_picture(str(picture), Inches(8), Inches(5))
    deck.slides[1].notes_slide.notes_text_frame.text = "Say this\nand that"
    deck.save(str(folder / "full.pptx"))
    return folder / "full.pptx"


def planted(path: Path, change: Callable[[Any], object]) -> Path:
    """Write a deck again with a change made by python-pptx."""
    deck: Any = pptx.Presentation(str(path))
    change(deck)
    found = path.with_name(f"planted-{path.name}")
    deck.save(str(found))
    return found


def rewritten(path: Path, target: Path, part: Callable[[str, bytes], bytes | None]) -> Path:
    """Write a package again, each part as a function has it; None leaves it out."""
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for name in reversed(old.namelist()):
            data = part(name, old.read(name))
            if data is not None:
                new.writestr(name, data)
    return target


def written_otherwise(name: str, data: bytes) -> bytes:
    """Return a part with the same contents in other bytes: prefixes, order of attributes."""
    if not name.endswith(".xml") or name.startswith("[Content"):
        return data
    root = copy.deepcopy(etree.fromstring(data))
    for element in root.iter():
        if isinstance(element.tag, str):
            items = list(element.attrib.items())[::-1]
            element.attrib.clear()
            for key, value in items:
                element.set(key, value)
    return b"<?xml version='1.0'?>\n" + etree.tostring(root)
