"""Charts of a deck: each is a document in the document, with a table of what it shows.

OpenDocument 1.3, part 3: 11 (charts), 10.4.6 (objects).
"""

from collections.abc import Iterator
from contextlib import contextmanager

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.office.open_document import OFFICE, TABLE, TEXT, XLINK, open_package
from kbd.office.open_text.renderer import OpenTextRenderer
from kbd.opc.package import Package, reading_errors, xml_root
from kbd_odp.packages import CHART, KIND

__all__ = ["ChartShown", "EmbeddedObjects", "open_objects"]

_MAX_MARKS = 300_000
"""Angle brackets in one object; a larger one is named, not read."""

_MAX_ROWS = 200
_KINDS = {"circle": "pie", "ring": "doughnut", "filled-radar": "radar", "gantt": "bar"}
"""What people call the classes of charts that have other names."""


class ChartShown(msgspec.Struct, frozen=True):
    """A chart: its title, its kinds ("bar"), and the rows of its own table."""

    title: str
    kinds: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    is_cut: bool = False


class EmbeddedObjects:
    """The objects in a deck.

    Args:
        package: The deck's package, None for a flat one.
    """

    def __init__(self, package: Package | None) -> None:
        self._package = package

    def chart(self, content: etree._Element, renderer: OpenTextRenderer) -> ChartShown | None:
        """Return the chart that an object is; None for what is none.

        Args:
            content: The element that names the object, or holds it.
            renderer: For its texts.

        Raises:
            FileReadFailed: It is missing, damaged, or past a limit.
        """
        # A flat deck holds the object itself.
        held = content.find(f"{OFFICE}document")
        root = self._root(content.get(f"{XLINK}href", "")) if held is None else held
        chart = None if root is None else next(root.iter(f"{CHART}chart"), None)
        if chart is None:
            return None
        kinds = [chart.get(f"{CHART}class", "")]
        kinds += [each.get(f"{CHART}class", "") for each in chart.iter(f"{CHART}series")]
        classes = (kind.rpartition(":")[2] for kind in kinds if kind)
        named = (_KINDS.get(kind, kind) for kind in classes)
        table = chart.find(f"{TABLE}table")
        rows = () if table is None else renderer.table(table).rows
        titles = chart.iterfind(f"{CHART}title/{TEXT}p")
        title = " ".join(renderer.paragraph(each) for each in titles)
        return ChartShown(
            title.strip(), tuple(dict.fromkeys(named)), rows[:_MAX_ROWS], len(rows) > _MAX_ROWS
        )

    def _root(self, href: str) -> etree._Element | None:
        package = self._package
        part = f"{href.removeprefix('./').rstrip('/')}/content.xml"
        if package is None or part not in package:
            return None
        data = package.read(part)
        if data.count(b"<") > _MAX_MARKS:
            raise FileReadFailed(f"it has more than {_MAX_MARKS // 2:,} elements")
        with reading_errors(package.name):
            return xml_root(data, package.name)


@contextmanager
def open_objects(source: Source, *, is_flat: bool) -> Iterator[EmbeddedObjects]:
    """Open a deck for the objects in it; raises FileReadFailed."""
    if is_flat:
        yield EmbeddedObjects(None)
        return
    with open_package(source, KIND) as package:
        yield EmbeddedObjects(package)
