"""Operations on charts and pictures."""

from typing import Annotated, Any, Literal

import msgspec

from kbd.formats import FilePath
from kbd_xlsx.operations.base import OperationPart, XlsxOperation

__all__ = [
    "AddChart",
    "AddImage",
    "AxisBound",
    "ChartAxis",
    "ChartSeries",
    "ChartType",
    "DeleteChart",
    "DeleteImage",
    "DrawingSize",
    "LegendPlace",
    "Length",
    "PointLabels",
    "SeriesChange",
    "SetChart",
    "Stacking",
]

ChartType = Literal["bar", "column", "line", "pie", "scatter", "area"]
LegendPlace = Literal["none", "bottom", "right", "top", "left"]
PointLabels = Literal["none", "value", "percent", "category", "category_percent"]
Stacking = bool | Literal["percent"]
Length = int | float | str
AxisBound = Annotated[Any, msgspec.Meta(extra_json_schema={"type": ["number", "string"]})]
"""An end or step of an axis, checked where it is set: so a schema tells it in few bytes."""


class DrawingSize(OperationPart, frozen=True):
    """Size of a chart or picture: numbers count cells; "12cm", "5in" and "480px" are lengths."""

    width: Length | None = None
    height: Length | None = None


class ChartSeries(OperationPart, frozen=True):
    """A series of a chart.

    Args:
        values: "Data!B2:B13", "B2:B13" of the chart's own sheet, or "Table1[Amount]".
        categories: What the values are of (in a scatter chart the x values), as `values`; without
            it the first column beside them that holds texts or dates.
        name: A text, or a cell as "=Data!B1"; without it the header above the values.
    """

    values: str
    categories: str | None = None
    name: str | None = None


class SeriesChange(OperationPart, frozen=True):
    """What a series of a chart is to be; what is not named stays as it is."""

    values: str | None = None
    categories: str | None = None
    name: str | None = None


class ChartAxis(OperationPart, frozen=True):
    """Ends, step and number format of an axis; "auto" for what the program chooses."""

    min: AxisBound = None
    max: AxisBound = None
    unit: AxisBound = None
    format: str | None = None
    log: bool | None = None


class AddChart(XlsxOperation, frozen=True, tag="add_chart"):
    """Add a chart of `series`, or of `columns` of a table: a table's name, or a range with headers.

    Without `columns` all columns of numbers are drawn. `place` is the top left cell, or the range
    that the chart covers; `x_title` is that of the axis of categories. `labels` are of the points.
    """

    sheet: str
    type: ChartType
    series: tuple[ChartSeries, ...] = ()
    table: str | None = None
    columns: tuple[str, ...] = ()
    categories: str | None = None
    title: str | None = None
    x_title: str | None = None
    y_title: str | None = None
    place: str | None = None
    size: DrawingSize | None = None
    legend: LegendPlace | None = None
    labels: PointLabels | None = None
    stacked: Stacking = False
    x_axis: ChartAxis | None = None
    y_axis: ChartAxis | None = None


_CHART = Annotated[
    str | int,
    msgspec.Meta(description="Its name or title as the map lists it, or its index from 0."),
]


class SetChart(XlsxOperation, frozen=True, tag="set_chart"):
    """Change a chart; what is not named stays. "" as a title takes it away.

    `series` are all that the chart is to have, in order: each keeps the look of the one at its
    place and what it does not name.
    """

    sheet: str
    chart: _CHART
    type: ChartType | None = None
    title: str | None = None
    x_title: str | None = None
    y_title: str | None = None
    series: tuple[SeriesChange, ...] | None = None
    place: str | None = None
    size: DrawingSize | None = None
    legend: LegendPlace | None = None
    labels: PointLabels | None = None
    stacked: Stacking | None = None
    x_axis: ChartAxis | None = None
    y_axis: ChartAxis | None = None


class DeleteChart(XlsxOperation, frozen=True, tag="delete_chart"):
    """Delete a chart."""

    sheet: str
    chart: _CHART


class AddImage(XlsxOperation, frozen=True, tag="add_image"):
    """Put a picture of the workbench (PNG, JPEG, GIF, BMP) onto a sheet.

    `place` is its top left cell, or the range that it covers; with one side of `size` the other
    keeps the proportions. `description` is for people who do not see it.
    """

    sheet: str
    image: FilePath
    place: str
    size: DrawingSize | None = None
    description: str | None = None


class DeleteImage(XlsxOperation, frozen=True, tag="delete_image"):
    """Delete a picture from a sheet, by its name as xlsx_get_styles lists it, or index from 0."""

    sheet: str
    image: str | int
