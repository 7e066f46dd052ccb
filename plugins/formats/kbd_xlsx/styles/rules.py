"""Conditional formats in words, with the looks that they give."""

from collections.abc import Iterator
from typing import Any

from lxml import etree

from kbd_xlsx.parts.pool import local_name
from kbd_xlsx.parts.styletables import StyleTables, number_of
from kbd_xlsx.styles.description import describe_difference
from kbd_xlsx.styles.theme import XlsxTheme

__all__ = ["describe_rules"]

MAX_TEXT = 200
"""Characters of a formula or a list of ranges that are shown."""

_SETTINGS = ("operator", "text", "timePeriod", "rank")
_FLAGS = ("percent", "bottom", "equalAverage", "stopIfTrue")
_TRUE = ("1", "true")


def describe_rules(
    block: etree._Element, tables: StyleTables | None, theme: XlsxTheme, *, extended: bool
) -> Iterator[dict[str, Any]]:
    """Describe the rules of one `conditionalFormatting` element.

    Args:
        block: The element.
        tables: The style sheet, for the looks that rules name by position.
        theme: The workbook's colors.
        extended: Whether it is of the extension of 2009, whose rules hold their looks themselves.
    """
    ranges = block.get("sqref") or block.findtext("{*}sqref") or ""
    for rule in block.iterchildren("{*}cfRule"):
        found: dict[str, Any] = {"ranges": ranges[:MAX_TEXT], "type": rule.get("type", "")}
        found.update({name: rule.get(name) for name in _SETTINGS if rule.get(name)})
        found.update({name: True for name in _FLAGS if rule.get(name) in _TRUE})
        if rule.get("aboveAverage") in ("0", "false"):
            found["aboveAverage"] = False
        formulas = [
            (child.text or "")[:MAX_TEXT]
            for child in rule
            if local_name(child) in ("formula", "f") and child.text
        ]
        if formulas:
            found["formulas"] = formulas
        if rule.get("priority"):
            found["priority"] = number_of(rule, "priority")
        for child in rule:
            found.update(_scale(child, theme))
        look = _look(rule, tables)
        if look is not None:
            found.update(describe_difference(theme, look).plain())
        if extended:
            found["extended"] = True
        yield found


def _look(rule: etree._Element, tables: StyleTables | None) -> etree._Element | None:
    """Return the differential format of a rule."""
    own = rule.find("{*}dxf")
    if own is not None or rule.get("dxfId") is None or tables is None:
        return own
    entries = tables.pool("dxfs").entries
    index = number_of(rule, "dxfId")
    return entries[index] if index < len(entries) else None


def _scale(child: etree._Element, theme: XlsxTheme) -> dict[str, Any]:
    """Return what a color scale, a data bar or a set of icons shows."""
    name = local_name(child)
    if name not in ("colorScale", "dataBar", "iconSet"):
        return {}
    points = [_point(point) for point in child.iterchildren("{*}cfvo")]
    found: dict[str, Any] = {"points": points}
    colors = [
        theme.color(color)
        for color in child
        if local_name(color) in ("color", "fillColor", "negativeFillColor")
    ]
    if colors:
        found["colors"] = [color.rgb for color in colors if color]
    if name == "iconSet":
        found["icons"] = child.get("iconSet", "3TrafficLights1")
    return found


def _point(point: etree._Element) -> str:
    """Return where a color or icon begins, as "percent 33"."""
    value = point.get("val") or point.findtext("{*}f") or ""
    return f"{point.get('type', '')} {value}".strip()[:MAX_TEXT]
