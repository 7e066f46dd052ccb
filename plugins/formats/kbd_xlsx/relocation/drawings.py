"""Operations on charts and pictures as they are on another version of a workbook."""

from collections.abc import Callable

import msgspec

from kbd.formats.anchors import UncertainError
from kbd_xlsx.comparison.places import sheet_place
from kbd_xlsx.operations import (
    AddChart,
    AddImage,
    ChartSeries,
    DeleteChart,
    DeleteImage,
    SeriesChange,
    SetChart,
)
from kbd_xlsx.relocation.places import OwnSheet, SheetPlaces

__all__ = ["carry_drawing"]

Carry = Callable[[str], str]
DrawingOperation = AddChart | SetChart | DeleteChart | AddImage | DeleteImage


def carry_drawing(
    operation: DrawingOperation,
    sheet: SheetPlaces | OwnSheet,
    formula: Carry,
    area: Carry,
) -> DrawingOperation:
    """Return an operation on a chart or picture as it is there.

    Args:
        operation: As it is here.
        sheet: Where the places of its sheet are there.
        formula: Carries the text of a range over, with or without the name of a sheet.
        area: Carries a cell or range of the operation's sheet over.

    Raises:
        UncertainError: It is not certain what is meant there.
    """
    replace = msgspec.structs.replace
    match operation:
        case AddChart():
            table = None if operation.table is None else formula(operation.table)
            categories = operation.categories
            # Beside a table it may be the name of a column, and that may look like a cell ("Q1").
            if categories is not None and (table is None or set(categories) & set("!:")):
                categories = formula(categories)
            return replace(
                operation,
                sheet=sheet.name,
                series=tuple(_series(each, formula) for each in operation.series),
                table=table,
                categories=categories,
                place=None if operation.place is None else area(operation.place),
            )
        case SetChart():
            series = operation.series
            return replace(
                operation,
                sheet=sheet.name,
                chart=_named(operation),
                series=None
                if series is None
                else tuple(_changed(each, formula) for each in series),
                place=None if operation.place is None else area(operation.place),
            )
        case DeleteChart():
            return replace(operation, sheet=sheet.name, chart=_named(operation))
        case AddImage():
            return replace(operation, sheet=sheet.name, place=area(operation.place))
        case DeleteImage():
            name = _by_name(operation.image, operation.sheet)
            return replace(operation, sheet=sheet.name, image=name)


def _named(operation: SetChart | DeleteChart) -> str:
    return _by_name(operation.chart, operation.sheet)


def _by_name(wanted: str | int, sheet: str) -> str:
    """Return the name of a chart or picture; an index may be that of another one there."""
    if isinstance(wanted, int) or wanted.isdigit():
        reason = "a chart or picture by its index may be another one there; give its name"
        raise UncertainError(reason, sheet_place(sheet))
    return wanted


def _series(series: ChartSeries, formula: Carry) -> ChartSeries:
    return msgspec.structs.replace(
        series,
        values=formula(series.values),
        categories=None if series.categories is None else formula(series.categories),
        name=_name(series.name, formula),
    )


def _changed(series: SeriesChange, formula: Carry) -> SeriesChange:
    return msgspec.structs.replace(
        series,
        values=None if series.values is None else formula(series.values),
        categories=None if series.categories is None else formula(series.categories),
        name=_name(series.name, formula),
    )


def _name(name: str | None, formula: Carry) -> str | None:
    return f"={formula(name)}" if name is not None and name.startswith("=") else name
