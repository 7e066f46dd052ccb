"""Series of a chart whose type is changed: their elements, and their look in the same color."""

from collections.abc import Sequence
from copy import deepcopy

from lxml import etree

from kbd.opc.element_names import local_name
from kbd_xlsx.drawings.chart_markup import accent_fill, fragment
from kbd_xlsx.drawings.chart_schema import SERIES_ORDER, put_child, put_value
from kbd_xlsx.operations import ChartType

__all__ = ["FILLED", "SeriesRetyping", "has_usual_slices"]

FILLED: Sequence[ChartType] = ("bar", "column", "area", "pie")
"""Types whose series are filled; those of the others are lines and marks."""

_OF_KIND = ("invertIfNegative", "pictureOptions", "explosion", "shape", "spPr")
_BAR_LOOK = "{6F2FDCE9-48DA-4B69-8628-5D25D57E5C99}"
"""The extension that keeps the color of negative bars."""

_LOOKS = ("marker", "spPr", "pictureOptions")
_FILLS = ("solidFill", "gradFill", "pattFill")


def has_usual_slices(series: etree._Element) -> bool:
    """Tell whether the points of a series look as programs have slices of pies look."""
    points = series.findall("{*}dPt")
    for point in points:
        if not any(local_name(each) in _LOOKS for each in point):
            continue
        colors = [each.get("val", "") for each in point.iterfind("{*}spPr/{*}solidFill/*")]
        number = point.find("{*}idx")
        index = int(number.get("val", "0")) if number is not None else 0
        if colors != [f"accent{index % 6 + 1}"]:
            return False
    return bool(points)


class SeriesRetyping:
    """Makes series of one type of those of another.

    Args:
        was: The type that they are of.
        wanted: The type that they are to be of.
        spaces: The namespaces of charts and of drawings.
        dropped: Looks that the new type does not have; some are added.
    """

    def __init__(
        self,
        was: ChartType,
        wanted: ChartType,
        spaces: tuple[str, str],
        dropped: dict[str, None],
    ) -> None:
        self._was, self._wanted, self._spaces, self._dropped = was, wanted, spaces, dropped

    def series(self, series: etree._Element, number: int) -> etree._Element:
        """Return a series with the elements of the new type, in their order; it takes them over."""
        wanted = self._wanted
        made, looks = etree.Element(str(series.tag)), self._look(series, number)
        renamed = self._renamed()
        drops = set(_OF_KIND)
        if not {self._was, wanted} <= {"line", "scatter"}:
            drops |= {"marker", "smooth"}
            self._tell_looks(series)
        if has_usual_slices(series):
            drops.add("dPt")
        for pulled in list(series.iter("{*}explosion")):
            if pulled.get("val", "0") != "0":
                self._dropped["slices that are pulled out"] = None
            parent = pulled.getparent()
            if parent is not None:
                parent.remove(pulled)
        for child in list(series):
            name = local_name(child)
            if name in renamed:
                moved = etree.SubElement(made, f"{{{self._spaces[0]}}}{renamed[name]}")
                moved.extend(list(child))
            elif name not in drops:
                made.append(child)
        for look in looks:
            put_child(made, look, SERIES_ORDER)
        if wanted in ("bar", "column"):
            put_value(made, "invertIfNegative", "0", SERIES_ORDER)
        if wanted in ("line", "scatter") and made.find("{*}smooth") is None:
            put_value(made, "smooth", "0", SERIES_ORDER)
        _drop_bar_look(made)
        return made

    def _renamed(self) -> dict[str, str]:
        if self._wanted == "scatter":
            return {"cat": "xVal", "val": "yVal"}
        return {"xVal": "cat", "yVal": "val"} if self._was == "scatter" else {}

    def _tell_looks(self, series: etree._Element) -> None:
        smooth = series.find("{*}smooth")
        if smooth is not None and smooth.get("val", "1") in ("1", "true"):
            self._dropped["smoothed lines"] = None
        symbol = series.find("{*}marker/{*}symbol")
        if self._was == "line" and symbol is not None and symbol.get("val") not in ("none", "auto"):
            self._dropped["markers"] = None
        if any(True for _ in series.iterfind("{*}spPr/{*}ln/{*}prstDash")):
            self._dropped["dashes"] = None

    def _look(self, series: etree._Element, number: int) -> list[etree._Element]:
        """Return the look of a series in the color that it has."""
        was, wanted = self._was, self._wanted
        properties = series.find("{*}spPr")
        own = [] if properties is None else [deepcopy(properties)]
        if wanted == "pie":
            # A color of the series would be that of all slices.
            return []
        if was in FILLED:
            return own if wanted in FILLED else self._lines(own, number)
        is_drawn = series.find("{*}spPr/{*}ln/{*}noFill") is None
        if wanted == "scatter" or (wanted == "line" and is_drawn):
            return own
        found = _line_fill(series)
        fill = self._made(accent_fill(number)) if found is None else found
        if wanted == "line":
            return [self._line(fill)]
        made = self._made("<c:spPr/>")
        made.append(fill)
        return [made] if own else []

    def _lines(self, own: Sequence[etree._Element], number: int) -> list[etree._Element]:
        """Return the look of lines or marks for a series that was filled."""
        found = next((each for look in own if (each := _fill(look)) is not None), None)
        fill = self._made(accent_fill(number)) if found is None else found
        if self._wanted == "line":
            none = self._made('<c:marker><c:symbol val="none"/></c:marker>')
            return [self._line(fill), none] if own else [none]
        marker = self._made('<c:marker><c:symbol val="circle"/><c:size val="5"/></c:marker>')
        if own:
            etree.SubElement(marker, f"{{{self._spaces[0]}}}spPr").append(fill)
        line = '<c:spPr><a:ln w="25400" cap="rnd"><a:noFill/><a:round/></a:ln></c:spPr>'
        return [self._made(line), marker]

    def _line(self, fill: etree._Element) -> etree._Element:
        made = self._made('<c:spPr><a:ln w="28575" cap="rnd"><a:round/></a:ln></c:spPr>')
        made[0].insert(0, fill)
        return made

    def _made(self, xml: str) -> etree._Element:
        return fragment(xml, *self._spaces)


def _drop_bar_look(series: etree._Element) -> None:
    for extension in list(series.iterfind("{*}extLst/{*}ext")):
        parent = extension.getparent()
        if parent is not None and extension.get("uri", "").upper() == _BAR_LOOK:
            parent.remove(extension)
            if not len(parent):
                series.remove(parent)


def _fill(look: etree._Element) -> etree._Element | None:
    """Return what a shape is filled with, a copy, or the color of its outline."""
    for path in (*_FILLS, "ln/{*}solidFill"):
        found = look.find(f"{{*}}{path}")
        if found is not None:
            return deepcopy(found)
    return None


def _line_fill(series: etree._Element) -> etree._Element | None:
    """Return the color of a line, or of its marks where it is not drawn; a copy."""
    for path in ("spPr/{*}ln", "marker/{*}spPr", "marker/{*}spPr/{*}ln", "spPr"):
        for name in _FILLS:
            found = series.find(f"{{*}}{path}/{{*}}{name}")
            if found is not None:
                return deepcopy(found)
    return None
