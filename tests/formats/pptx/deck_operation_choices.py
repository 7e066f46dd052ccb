"""One use of each operation on slides' contents for any deck, and what may then differ."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from deck_edits import FORMAT
from kbd.formats import Region, Source

__all__ = ["ALLOWED", "CHOICES", "Allowed", "DeckFacts"]

Operation = dict[str, Any]
Choice = Callable[["DeckFacts"], Operation | None]


class DeckFacts:
    """What a deck has, as a model sees it in the map and in objects of slides."""

    def __init__(self, path: Path) -> None:
        self.source = Source(path, path.name)
        self.map = FORMAT.map(self.source)
        self.slides = [each for each in self.map["slides"] if not each.get("unreadable")]
        self.count = self.map["slide_count"]

    @property
    def first(self) -> int | None:
        """The first slide that can be read."""
        return self.slides[0]["index"] if self.slides else None

    def shapes(self, kind: str) -> Iterator[tuple[int, dict[str, Any]]]:
        """The shapes of a kind with the slides that they are on, those with ids of their own."""
        for slide in self.slides:
            shapes = slide.get("shapes", ())
            ids = [each["id"] for each in shapes]
            for shape in shapes:
                if shape["kind"] == kind and ids.count(shape["id"]) == 1 and shape["id"] > 0:
                    yield slide["index"], shape

    def rows(self, index: int, shape: dict[str, Any]) -> list[list[str]]:
        """The rows of a table."""
        found = FORMAT.objects(self.source, Region(slide_index=index)).objects or {}
        each = next(each for each in found["tables"] if each["shape_id"] == shape["id"])
        rows: list[list[str]] = each["rows"]
        return rows


def _on_first(**fields: Any) -> Choice:
    def choose(facts: DeckFacts) -> Operation | None:
        return None if facts.first is None else {"index": facts.first, **fields}

    return choose


def _of(kind: str, field: str, **fields: Any) -> Choice:
    def choose(facts: DeckFacts) -> Operation | None:
        for index, shape in facts.shapes(kind):
            return {"index": index, field: shape["id"], **fields}
        return None

    return choose


def _cells(facts: DeckFacts) -> Operation | None:
    for index, shape in facts.shapes("table"):
        rows = facts.rows(index, shape)
        if rows and rows[0]:
            at = {"row": len(rows) - 1, "column": 0, "value": "KBD 1,234.5"}
            return {"index": index, "table": shape["id"], "cells": [at]}
    return None


def _deleted_row(facts: DeckFacts) -> Operation | None:
    for index, shape in facts.shapes("table"):
        rows = facts.rows(index, shape)
        if len(rows) > 1:
            return {"index": index, "table": shape["id"], "at": len(rows) - 1}
    return None


def _moved(facts: DeckFacts) -> Operation | None:
    for slide in facts.slides:
        for shape in slide.get("shapes", ()):
            ids = [each["id"] for each in slide["shapes"]]
            is_own = "group" not in shape and shape["id"] > 0 and ids.count(shape["id"]) == 1
            if is_own and "left" in shape and shape["kind"] != "ink":
                width = max(0.1, min(shape["width"] * 0.9, 50))
                left = round(shape["left"] + 0.3, 2)
                if -50 < left < 50:
                    return {
                        "index": slide["index"], "shape": shape["id"], "left": left, "width": width,
                    }  # fmt: skip
    return None


def _layout(facts: DeckFacts) -> Operation | None:
    for slide in facts.slides:
        names = [name for name in facts.map["layouts"] if name.strip()]
        others = [name for name in names if name != slide["layout"] and names.count(name) == 1]
        if others:
            return {"index": slide["index"], "layout": others[0]}
    return None


_SERIES = [
    {"name": "KBD North", "values": [1, 2.5, None]},
    {"name": "KBD South", "values": [3, 4, 5]},
]
_CATEGORIES = ["Q1", "Q2", "Q3"]

CHOICES: dict[str, Choice] = {
    "add_table": _on_first(rows=[["KBD Region", "2023"], ["North", 1200.5], ["South", "7 %"]]),
    "set_table_cells": _cells,
    "insert_table_rows": _of("table", "table", rows=[["KBD row"]]),
    "delete_table_rows": _deleted_row,
    "add_chart": _on_first(
        type="column", categories=_CATEGORIES, series=_SERIES, title="KBD Sales"
    ),
    "set_chart": _of("chart", "chart", title="KBD title", categories=[1, 2, 3],
                     series=_SERIES),
    "add_image": _on_first(image="picture.png", description="KBD picture"),
    "replace_image": _of("picture", "shape", image="picture.png"),
    "add_textbox": _on_first(text="KBD text\nof two lines", left=1, top=1, width=3),
    "add_shape": _on_first(shape="chevron", text="KBD step", fill="accent2", left=2, top=2),
    "set_shape": _moved,
    "duplicate_slide": _on_first(),
    "set_layout": _layout,
    "delete_slide": _on_first(),
}  # fmt: skip


class Allowed(NamedTuple):
    """What an operation may change.

    Args:
        named: What the review has to name, as "what kind place".
        also: What it may name beside that.
        parts: Which parts may differ, beside the slide, what it is related by and what is counted.
        gone: Which parts may go.
    """

    named: str
    also: str = "nothing"
    parts: str = "nothing"
    gone: str = "nothing"


_LISTED = r"ppt/(presentation|_rels/presentation)\.xml(\.rels)?"
_PLACE = "shape removed|picture removed"

ALLOWED = {
    "add_table": Allowed("table added", _PLACE),
    "set_table_cells": Allowed("(cell|paragraph|text|table|row) (changed|added)", "format changed"),
    "insert_table_rows": Allowed("row added", "(position|row|table) changed"),
    "delete_table_rows": Allowed(
        "row removed", "(position|row|table|link) (changed|removed)", gone=r"ppt/media/.*"
    ),
    "add_chart": Allowed("chart added", _PLACE),
    "set_chart": Allowed(
        "(chart|series) (changed|added|removed)",
        "(format|object) (changed|added|removed)",
        r".*/(charts|embeddings)/.*",
        r".*/(embeddings|charts)/.*",
    ),
    "add_image": Allowed("picture added", _PLACE),
    "replace_image": Allowed(
        "(image|picture|embedded) (changed|added|removed)", "format changed", gone=r"ppt/media/.*"
    ),
    "add_textbox": Allowed("shape added"),
    "add_shape": Allowed("shape added"),
    "set_shape": Allowed("position changed", "(width|height|format) changed"),
    "duplicate_slide": Allowed("slide added", "nothing", _LISTED),
    "set_layout": Allowed(
        "(layout|slide) changed",
        "(shape|position|format|order|paragraph|text|background) (changed|removed|moved|added)",
    ),
    "delete_slide": Allowed(
        "slide removed",
        "(link|section|custom show|part|property|slide|notes) (removed|changed|moved)",
        rf"{_LISTED}|ppt/(slides|viewProps|customXml).*|ppt/notes.*",
        ".*",
    ),
}
