"""Scale and number format of the axes of charts: set where it is."""

from math import isfinite

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_name, namespace_of
from kbd_xlsx.drawings.chart_facts import value_of
from kbd_xlsx.drawings.chart_schema import AXIS_ORDER, SCALING_ORDER, put_child, put_value
from kbd_xlsx.operations import AxisBound, ChartAxis
from kbd_xlsx.values import cell_value, checked_text, content_of

__all__ = ["set_scale"]

_AUTO = "auto"
_MAX_FORMAT = 255


def set_scale(axis: etree._Element, wanted: ChartAxis, name: str, *, from_1904: bool) -> None:
    """Set what is named of an axis; the rest stays.

    Args:
        axis: The axis.
        wanted: What it is to be.
        name: What the operation calls it ("y_axis").
        from_1904: Whether the workbook counts days from 1904.

    Raises:
        ValidationFailed: An axis of its kind has no such thing, or its ends are no scale.
    """
    kind = local_name(axis)
    is_scaled = any(each not in (None, _AUTO) for each in (wanted.min, wanted.max, wanted.unit))
    if kind not in ("valAx", "dateAx") and (is_scaled or wanted.log):
        raise ValidationFailed(
            f"{name} is of categories, which have no min, max, unit and log; they are of an axis "
            "of values, or of dates"
        )
    if wanted.log and kind == "dateAx":
        raise ValidationFailed(f"{name} is of dates, which have no logarithmic scale")
    scaling = axis.find("{*}scaling")
    if scaling is None:
        scaling = etree.Element(f"{{{namespace_of(str(axis.tag))}}}scaling")
        put_child(axis, scaling, AXIS_ORDER)
    if wanted.log is not None:
        put_value(scaling, "logBase", "10" if wanted.log else None, SCALING_ORDER)
    for field, bound in (("max", wanted.max), ("min", wanted.min)):
        if bound is not None:
            text = _bound(bound, f"{name}.{field}", is_date=kind == "dateAx", from_1904=from_1904)
            put_value(scaling, field, text, SCALING_ORDER)
    if wanted.unit is not None:
        unit = _bound(wanted.unit, f"{name}.unit", is_date=False, from_1904=from_1904)
        if unit is not None and float(unit) <= 0:
            raise ValidationFailed(f"{name}.unit is {unit}; it is more than 0")
        put_value(axis, "majorUnit", unit, AXIS_ORDER)
    _check(scaling, name)
    if wanted.format is not None:
        _set_format(axis, wanted.format, name)


def _bound(value: AxisBound, name: str, *, is_date: bool, from_1904: bool) -> str | None:
    """Return a number as charts write it, None for one that the program chooses."""
    if value == _AUTO:
        return None
    is_number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
    if not is_number and not (is_date and isinstance(value, str)):
        raise ValidationFailed(f'{name} is a number, or "auto"; not {str(value)[:40]!r}')
    if isinstance(value, str):
        return content_of(cell_value(value, "date", name), from_1904=from_1904).text
    return format(value, ".15g")


def _check(scaling: etree._Element, name: str) -> None:
    """Refuse ends that are no scale: programs call such a chart damaged, or draw nothing."""
    low, high = (value_of(scaling, each) for each in ("min", "max"))
    if low and high and float(low) >= float(high):
        raise ValidationFailed(
            f'{name} would go from {low} to {high}; give both ends, or "auto" for one'
        )
    if value_of(scaling, "logBase") and any(each and float(each) <= 0 for each in (low, high)):
        raise ValidationFailed(f"{name} is logarithmic and needs ends of more than 0")


def _set_format(axis: etree._Element, code: str, name: str) -> None:
    element = axis.find("{*}numFmt")
    if element is None:
        element = etree.Element(f"{{{namespace_of(str(axis.tag))}}}numFmt")
        element.set("formatCode", "General")
        put_child(axis, element, AXIS_ORDER)
    if code == _AUTO:
        element.set("sourceLinked", "1")
        return
    if not code.strip():
        raise ValidationFailed(f'{name}.format is empty; give a number format, or "auto"')
    element.set("formatCode", checked_text(code, f"{name}.format")[:_MAX_FORMAT])
    element.set("sourceLinked", "0")
