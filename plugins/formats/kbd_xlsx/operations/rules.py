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


_ColorPoints = Annotated[
    tuple[str, ...],
    msgspec.Meta(
        description='One a color: "min", "max", "percentile 50", "percent 10", "number 5", "=$A$1".'
    ),
]
_BarPoints = Annotated[tuple[str, ...], msgspec.Meta(description="Where it is empty, and full.")]
_IconPoints = Annotated[
    tuple[str, ...],
    msgspec.Meta(description='Where each begins ("percent 33"); else equal shares.'),
]
_Source = Annotated[str, msgspec.Meta(description='A range ("Lists!A2:A9") or name, for choices.')]
_Limit = Annotated[
    Scalar, msgspec.Meta(description='Dates as ISO texts, times as "08:30", formulas as "=A1".')
]
_Custom = Annotated[str, msgspec.Meta(description="Of custom, as for the first cell.")]


class CellIsRule(OperationPart, frozen=True, tag_field="type", tag="cell_is"):
    """Cells whose value compares so with `value` (and `value2` of between); "=..." is a formula."""

    operator: Comparing
    value: Scalar
    value2: Scalar = None


class FormulaRule(OperationPart, frozen=True, tag_field="type", tag="formula"):
    """Cells for which a formula is true; it is written as for the range's first cell."""

    formula: str


class TextRule(OperationPart, frozen=True, tag_field="type", tag="text"):
    """Cells whose text is so."""

    operator: Literal["contains", "not_contains", "begins_with", "ends_with"]
    text: Annotated[str, msgspec.Meta(min_length=1, max_length=255)]


class TopRule(OperationPart, frozen=True, tag_field="type", tag="top"):
    """The largest `count` values, or the smallest; `percent` counts in percent of the cells."""

    count: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 10
    percent: bool = False
    bottom: bool = False


class AverageRule(OperationPart, frozen=True, tag_field="type", tag="average"):
    """Values above the average of the range, or below."""

    below: bool = False


class DuplicatesRule(OperationPart, frozen=True, tag_field="type", tag="duplicates"):
    """Values that the range has several times; with `unique` those that it has once."""

    unique: bool = False


class ColorScaleRule(OperationPart, frozen=True, tag_field="type", tag="color_scale"):
    """Ground from color to color, from the smallest value to the largest."""

    colors: Annotated[tuple[str, ...], msgspec.Meta(min_length=2, max_length=3)]
    points: _ColorPoints = ()


class DataBarRule(OperationPart, frozen=True, tag_field="type", tag="data_bar"):
    """A bar in each cell, as long as its value is large."""

    color: str = "#638EC6"
    points: _BarPoints = ()
    show_value: bool = True


class IconSetRule(OperationPart, frozen=True, tag_field="type", tag="icon_set"):
    """An icon in each cell, by how large its value is."""

    icons: IconSet = "3TrafficLights1"
    points: _IconPoints = ()
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
    """Format the cells of a range by a rule, behind the rules that they have."""

    sheet: str
    range: Annotated[str, msgspec.Meta(description='One or several: "A1:A9, C1:C9".')]
    rule: FormatRule
    style: Style | None = None
    replace: Annotated[bool, msgspec.Meta(description="Whether it ends those.")] = False
    stop_if_true: bool = False


class SetDataValidation(XlsxOperation, frozen=True, tag="set_data_validation"):
    """Check what people enter into a range, instead of what was checked there so far."""

    sheet: str
    range: str
    type: Literal["list", "whole", "decimal", "date", "time", "text_length", "custom"]
    choices: tuple[Scalar, ...] = ()
    source: _Source | None = None
    operator: Comparing = "between"
    value: _Limit = None
    value2: Scalar = None
    formula: _Custom | None = None
    allow_blank: bool = True
    prompt_title: str | None = None
    prompt: str | None = None
    error_title: str | None = None
    error: str | None = None
    error_style: Literal["stop", "warning", "information"] = "stop"
