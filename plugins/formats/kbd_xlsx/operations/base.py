"""What operations on workbooks share: the base of their records, values, styles.

`style` objects are lenient by contract: they are plain objects here. What is wrong in one is
skipped and told in the warnings, but refused where its right form is plain. Widths and heights that
are wrong are skipped, too.
"""

from typing import Annotated, Any, Literal

import msgspec

__all__ = [
    "TEXT",
    "LenientNumber",
    "OperationPart",
    "Scalar",
    "Style",
    "ValueType",
    "XlsxOperation",
]

ValueType = Literal["string", "number", "boolean", "date", "datetime", "formula", "blank"]
Scalar = str | int | float | bool | None

TEXT, _NUMBER, _FLAG = {"type": "string"}, {"type": "number"}, {"type": "boolean"}
_BORDER = {
    "type": "object",
    "properties": {"style": TEXT, "color": TEXT},
    "additionalProperties": False,
}

Style = Annotated[
    dict[str, Any],
    msgspec.Meta(
        description=(
            'How cells look; colours #RRGGBB, borders {"style": "thin", "color": "#RRGGBB"}.'
        ),
        # What a model is told; what else is in one is refused with the right key, or skipped.
        extra_json_schema={
            "properties": {
                "font_name": TEXT, "font_size": _NUMBER, "font_bold": _FLAG, "font_italic": _FLAG,
                "font_underline": TEXT, "font_color": TEXT, "fill_color": TEXT,
                "fill_pattern": TEXT, "number_format": TEXT, "h_align": TEXT, "v_align": TEXT,
                "wrap_text": _FLAG, "border_top": _BORDER, "border_bottom": _BORDER,
                "border_left": _BORDER, "border_right": _BORDER,
            },
            "additionalProperties": False,
        },
    ),
]  # fmt: skip

LenientNumber = Annotated[Any, msgspec.Meta(extra_json_schema=_NUMBER)]
"""A number as a schema teaches it; what is none is skipped with a warning."""


class OperationPart(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A part of an operation; a misspelt field is refused."""


class XlsxOperation(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, tag_field="op"
):
    """An operation on a workbook; the field `op` tells which."""
