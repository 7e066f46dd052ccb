"""What charts and diagrams say: their titles, names, values and texts, as they were last drawn.

ECMA-376, part 1, 21.2 (charts) and 21.4 (diagrams).
"""

from collections.abc import Iterator

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc.package import Package, Relation
from kbd_docx.reader.names import A
from kbd_docx.reader.parts import root_of

__all__ = ["Graphics"]

_MOST_CHARS = 2_000
_SERIES, _POINT = "{*}ser", "{*}pt"


class Graphics:
    """The charts and diagrams of a package, each read once.

    Args:
        package: The file.
    """

    def __init__(self, package: Package) -> None:
        self._package = package
        self._told: dict[str, str] = {}

    def text(self, relation: Relation | None) -> str:
        """Return what a chart or diagram says, in a line; "" if it says nothing."""
        if relation is None or relation.external:
            return ""
        found = self._told.get(relation.target)
        if found is None:
            try:
                root = root_of(self._package, relation)
            except FileReadFailed:
                # A chart that is damaged is one that says nothing.
                root = None
            said = "; ".join(filter(None, _said(root))) if root is not None else ""
            found = self._told[relation.target] = said[:_MOST_CHARS]
        return found


def _said(root: etree._Element) -> Iterator[str]:
    """Yield the title and the series of a chart, or the texts of a diagram."""
    if not root.tag.endswith("}chartSpace"):
        for text in root.iter(f"{A}p"):
            yield _line(text)
        return
    for title in root.iter("{*}title"):
        yield " ".join(filter(None, map(_line, title.iter(f"{A}p"))))
    for series in root.iter(_SERIES):
        name = ", ".join(_values(series, "tx"))
        categories = list(_values(series, "cat")) or list(_values(series, "xVal"))
        values = list(_values(series, "val")) or list(_values(series, "yVal"))
        if len(categories) == len(values):
            values = [f"{of} {value}" for of, value in zip(categories, values, strict=True)]
        yield f"{name}: {', '.join(values)}" if name else ", ".join(values)


def _values(series: etree._Element, name: str) -> Iterator[str]:
    """Yield the values that were stored of one side of a series."""
    side = series.find(f"{{*}}{name}")
    size = 0
    for point in side.iter(_POINT) if side is not None else ():
        value = " ".join(point.findtext("{*}v", "").split())
        size += len(value)
        if size > _MOST_CHARS:
            return
        yield value


def _line(paragraph: etree._Element) -> str:
    return " ".join("".join(text.text or "" for text in paragraph.iter(f"{A}t")).split())
