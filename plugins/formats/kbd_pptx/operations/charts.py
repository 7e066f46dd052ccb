"""Operations on charts of slides."""

from typing import Annotated, Literal

import msgspec

from kbd_pptx.operations.base import PlacedOperation, PptxOperation, PptxRecord, SlideIndex

__all__ = [
    "AddSlideChart",
    "SetSlideChart",
    "SlideChartLabels",
    "SlideChartLegend",
    "SlideChartSeries",
    "SlideChartType",
]

_MAX_SERIES, _MAX_POINTS = 50, 2_000

SlideChartType = Literal["bar", "column", "line", "pie", "doughnut", "area", "scatter"]
SlideChartLegend = Literal["none", "bottom", "right", "top", "left"]
SlideChartLabels = Literal["none", "value", "percent", "category", "category_percent"]
_Categories = Annotated[tuple[str | int | float, ...], msgspec.Meta(max_length=_MAX_POINTS)]


class SlideChartSeries(PptxRecord, frozen=True):
    """A series: its values, one for each category; null is a gap."""

    name: str
    values: Annotated[tuple[int | float | None, ...], msgspec.Meta(max_length=_MAX_POINTS)]


_Series = Annotated[
    tuple[SlideChartSeries, ...], msgspec.Meta(min_length=1, max_length=_MAX_SERIES)
]


class AddSlideChart(PlacedOperation, frozen=True, tag="add_chart"):
    """Add a native chart with its data; without a place it takes an empty placeholder or free room.

    `categories` of a scatter chart are the x values. `number_format` is of values and labels.
    """

    index: SlideIndex
    type: SlideChartType
    categories: _Categories
    series: _Series
    title: str | None = None
    x_title: str | None = None
    y_title: str | None = None
    stacked: bool | Literal["percent"] = False
    legend: SlideChartLegend | None = None
    labels: SlideChartLabels | None = None
    number_format: str | None = None
    description: str | None = None


class SetSlideChart(PptxOperation, frozen=True, tag="set_chart"):
    """Change a chart and its workbook; its look stays, and what is not named.

    `series` are all that it is to have: each looks like the one at its place. "" as a title takes
    it away.
    """

    index: SlideIndex
    chart: Annotated[
        int | str | None,
        msgspec.Meta(description="Its id, name or title; not needed where it is the only."),
    ] = None
    type: SlideChartType | None = None
    categories: _Categories | None = None
    series: _Series | None = None
    title: str | None = None
    number_format: str | None = None
