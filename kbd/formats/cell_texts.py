"""Texts of cells that are no values: those that stand for a missing one, and remarks. Pure."""

import re

__all__ = ["MISSING_TEXTS", "is_remark"]

MISSING_TEXTS = frozenset(
    (
        "", "-", "--", "–", "—", ".", "..", "...", "…", ":", "\\n", "?",
        "n/a", "na", "n.a.", "#n/a", "#na", "#nv", "nan",
        "null", "none", "nil", "k.a.", "#value!", "#wert!", "#div/0!", "#ref!", "#bezug!",
    )
)  # fmt: skip
"""Texts that stand where a value is missing, in columns of numbers or dates; in lower case, blanks
around them removed. The errors are those of spreadsheets, points and the colon signs of statistics,
and \\N is what MySQL writes."""

_REMARK = re.compile(r"[^\W\d][\w ]{0,30}: \S.*|([*=~†‡]|--)\1*\s?\w.*|\(.*\)", re.DOTALL)


def is_remark(text: str) -> bool:
    """Tell whether a text has the form of a remark: "Source: …", "*** end ***", "(in thousands)".

    Blanks around it do not count. The form alone proves nothing: whoever asks looks at the other
    values of the column.
    """
    return _REMARK.fullmatch(text.strip()) is not None
