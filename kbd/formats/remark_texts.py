"""Texts in the form of a remark beside a table: "Source: …", "*** end ***", "(in thousands)"."""

import re

__all__ = ["is_remark"]

_REMARK = re.compile(r"[^\W\d][\w ]{0,30}: \S.*|([*=~†‡]|--)\1*\s?\w.*|\(.*\)", re.DOTALL)


def is_remark(text: str) -> bool:
    """Tell whether a text has the form of a remark, blanks around it aside.

    The form alone proves nothing: whoever asks looks at the other values of the column.
    """
    return _REMARK.fullmatch(text.strip()) is not None
