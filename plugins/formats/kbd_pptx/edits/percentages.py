"""Percentages, which the strict variant writes as "62.5%" and the other one as 62500.

ISO/IEC 29500-1 against 29500-4, 12.1 and 20.1.10.40 and following.
"""

from collections.abc import Mapping
from types import MappingProxyType

from lxml import etree

from kbd_pptx.slides import A

__all__ = ["as_strict"]

_COLOR_CHANGES = (
    "tint", "shade", "alpha", "alphaMod", "alphaOff", "hueMod", "sat", "satMod", "satOff", "lum",
    "lumMod", "lumOff", "red", "redMod", "redOff", "green", "greenMod", "greenOff", "blue",
    "blueMod", "blueOff",
)  # fmt: skip
_RECTANGLES = ("fillToRect", "fillRect", "tileRect", "srcRect")

_ATTRIBUTES: Mapping[str, tuple[str, ...]] = MappingProxyType({
    **{f"{A}{name}": ("val",) for name in (*_COLOR_CHANGES, "spcPct", "buSzPct")},
    **{f"{A}{name}": ("l", "t", "r", "b") for name in _RECTANGLES},
    f"{A}gs": ("pos",),
    f"{A}normAutofit": ("fontScale", "lnSpcReduction"),
    f"{A}tile": ("sx", "sy"),
    f"{A}outerShdw": ("sx", "sy"),
})  # fmt: skip


def as_strict(root: etree._Element) -> None:
    """Write the percentages of a new part as the strict variant does."""
    for element in root.iter(*_ATTRIBUTES):
        for key in _ATTRIBUTES[str(element.tag)]:
            value = element.get(key, "")
            if value.lstrip("-").isdecimal():
                element.set(key, f"{int(value) / 1000:g}%")
