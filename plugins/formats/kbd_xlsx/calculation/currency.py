"""Whether the stored result of a formula is what a calculation would give."""

from typing import Literal

__all__ = ["Standing", "standing", "volatile"]

Standing = Literal["missing", "momentary", "current"]
"""missing: no result is stored; momentary: it was right when it was stored; current: it still is."""


def volatile(text: str) -> bool:
    """Tell whether a formula's result may differ at each calculation, though no cell changed."""
    raise NotImplementedError


def standing(text: str, *, is_stored: bool) -> Standing:
    """Tell what a formula's stored result is worth."""
    raise NotImplementedError
