"""Operations on what cells of a range follow: conditional formats and validations of entries."""

from typing import Annotated, Literal

import msgspec

from kbd_xlsx.operations.base import OperationPart, Scalar, Style, XlsxOperation

__all__ = [
    "AverageRule",
    "CellIsRule",
    "ColorScaleRule",
    "Comparing",
    "DataBarRule",
    "DuplicatesRule",
    "FormatRule",
    "FormulaRule",
    "IconSet",
    "IconSetRule",
    "ScalePoint",
    "SetConditionalFormat",
    "SetDataValidation",
    "TextRule",
    "TopRule",
]

Comparing = Literal[
    "between", "not_between", "equal", "not_equal", "greater_than", "less_than",
    "greater_or_equal", "less_or_equal",
]  # fmt: skip

IconSet = Literal[
    "3Arrows", "3ArrowsGray", "3Flags", "3Signs", "3Symbols", "3Symbols2", "3TrafficLights1",
    "3TrafficLights2", "4Arrows", "4ArrowsGray", "4Rating", "4RedToBlack", "4TrafficLights",
    "5Arrows", "5ArrowsGray", "5Quarters", "5Rating",
]  # fmt: skip


class CellIsRule(OperationPart, frozen=True, tag_field="type", tag="cell_is"):
    """Cells whose value compares so with `value` (and `value2` of between); "=..." is a formula."""

    operator: Comparing
    value: Scalar
    style: Style
    value2: Scalar = None


class FormulaRule(OperationPart, frozen=True, tag_field="type", tag="formula"):
    """Cells for which a formula is true; it is written as for the range's first cell."""

    formula: str
    style: Style


class TextRule(OperationPart, frozen=True, tag_field="type", tag="text"):
    """Cells whose text is so."""

    operator: Literal["contains", "not_contains", "begins_with", "ends_with"]
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
    style: Style


class TopRule(OperationPart, frozen=True, tag_field="type", tag="top"):
    """The largest `count` values, or the smallest; `percent` counts in percent of the cells."""

    style: Style
    count: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 10
    percent: bool = False
    bottom: bool = False


class AverageRule(OperationPart, frozen=True, tag_field="type", tag="average"):
    """Values above the average of the range, or below."""

    style: Style
    below: bool = False


class DuplicatesRule(OperationPart, frozen=True, tag_field="type", tag="duplicates"):
    """Values that the range has several times; with `unique` those that it has once."""

    style: Style
    unique: bool = False


class ScalePoint(OperationPart, frozen=True):
    """Where a color or an icon begins; min and max have no value."""

    type: Literal["min", "max", "number", "percent", "percentile", "formula"]
    value: float | str | None = None


class ColorScaleRule(OperationPart, frozen=True, tag_field="type", tag="color_scale"):
    """Ground from color to color, from the smallest value to the largest."""

    colors: Annotated[tuple[str, ...], msgspec.Meta(min_length=2, max_length=3)]
    points: tuple[ScalePoint, ...] = ()


class DataBarRule(OperationPart, frozen=True, tag_field="type", tag="data_bar"):
    """A bar in each cell, as long as its value is large."""

    color: str = "#638EC6"
    points: tuple[ScalePoint, ...] = ()
    show_value: bool = True


class IconSetRule(OperationPart, frozen=True, tag_field="type", tag="icon_set"):
    """An icon in each cell; `points` are where each begins, equal shares if there are none."""

    icons: IconSet = "3TrafficLights1"
    points: tuple[ScalePoint, ...] = ()
    reverse: bool = False
    show_value: bool = True


FormatRule = (
    CellIsRule
    | FormulaRule
    | TextRule
    | TopRule
    | AverageRule
    | DuplicatesRule
    | ColorScaleRule
    | DataBarRule
    | IconSetRule
)


class SetConditionalFormat(XlsxOperation, frozen=True, tag="set_conditional_format"):
    """Format the cells of a range by a rule, behind the rules that they have; `replace` ends those.

    `range` may name several, separated by commas. Rules that come first win.
    """

    sheet: str
    range: str
    rule: FormatRule
    replace: bool = False
    stop_if_true: bool = False


class SetDataValidation(XlsxOperation, frozen=True, tag="set_data_validation"):
    """Check what people enter into a range, instead of what was checked there so far.

    A list has `choices`, or a `source`: a range ("Lists!A2:A9") or a name. Others compare with
    `value` (and `value2` of between), dates as ISO texts, times as "08:30", "=..." as formulas;
    custom has a `formula`, written as for the range's first cell.
    """

    sheet: str
    range: str
    type: Literal["list", "whole", "decimal", "date", "time", "text_length", "custom"]
    choices: tuple[Scalar, ...] = ()
    source: str | None = None
    operator: Comparing = "between"
    value: Scalar = None
    value2: Scalar = None
    formula: str | None = None
    allow_blank: bool = True
    prompt_title: str | None = None
    prompt: str | None = None
    error_title: str | None = None
    error: str | None = None
    error_style: Literal["stop", "warning", "information"] = "stop"
