"""Whether the stored result of a formula is what a calculation would give.

Results that an edit made old are taken out of a file, so one that is there is right, but for
formulas whose result is that of one moment. A name that stands for such a formula is not seen.
"""

import re
from typing import Literal

from kbd_xlsx.calculation.functions import MOMENTARY, known_name

__all__ = ["Standing", "standing", "volatile"]

Standing = Literal["missing", "momentary", "current"]
"""missing: none is stored; momentary: it was right when it was stored; current: it is right."""

# Strings and quoted sheet names are passed over, so that no call is seen in them.
_CALL = re.compile(r"""\"[^"]*"|'[^']*'|([A-Za-z_][A-Za-z0-9_.]*)\(""")


def volatile(text: str) -> bool:
    """Tell whether a formula's result may differ at each calculation, though no cell changed.

    Such functions ask for the time, for chance, for the state of the program or for data from
    elsewhere, or find the cells that they read while they calculate.
    """
    return any(
        known_name(found[1]) in MOMENTARY for found in _CALL.finditer(text) if found[1] is not None
    )


def standing(text: str, *, is_stored: bool) -> Standing:
    """Tell what a formula's stored result is worth.

    Args:
        text: The formula.
        is_stored: Whether its cell has a result: a value that is not empty, or empty text.
    """
    if not is_stored:
        return "missing"
    return "momentary" if volatile(text) else "current"
