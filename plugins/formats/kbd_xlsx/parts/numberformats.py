"""Number formats: those that every program knows by number, and which ones show dates.

The codes are those of ECMA-376 part 1, 18.8.30. Where a program shows them as its user's language
has it (14 to 22, 37 to 49), that is meant; other built-in numbers differ by language and are never
written here, only kept.
"""

import re
from collections.abc import Mapping

__all__ = ["BUILTIN_CODES", "BUILTIN_IDS", "FIRST_CUSTOM_ID", "LANGUAGE_CODES", "shows_date"]

FIRST_CUSTOM_ID = 164
"""Below it the numbers belong to the programs."""

BUILTIN_CODES: Mapping[int, str] = {
    0: "General",
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    9: "0%",
    10: "0.00%",
    11: "0.00E+00",
    12: "# ?/?",
    13: "# ??/??",
    14: "mm-dd-yy",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "m/d/yy h:mm",
    37: "#,##0 ;(#,##0)",
    38: "#,##0 ;[Red](#,##0)",
    39: "#,##0.00;(#,##0.00)",
    40: "#,##0.00;[Red](#,##0.00)",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mmss.0",
    48: "##0.0E+0",
    49: "@",
}
LANGUAGE_CODES: Mapping[int, str] = {
    5: '"$"#,##0_);\\("$"#,##0\\)',
    6: '"$"#,##0_);[Red]\\("$"#,##0\\)',
    7: '"$"#,##0.00_);\\("$"#,##0.00\\)',
    8: '"$"#,##0.00_);[Red]\\("$"#,##0.00\\)',
    41: '_(* #,##0_);_(* \\(#,##0\\);_(* "-"_);_(@_)',
    42: '_("$"* #,##0_);_("$"* \\(#,##0\\);_("$"* "-"_);_(@_)',
    43: '_(* #,##0.00_);_(* \\(#,##0.00\\);_(* "-"??_);_(@_)',
    44: '_("$"* #,##0.00_);_("$"* \\(#,##0.00\\);_("$"* "-"??_);_(@_)',
}
"""Formats that each program shows in its user's language and currency, as in the United States."""

BUILTIN_IDS: Mapping[str, int] = {code: number for number, code in BUILTIN_CODES.items()}

# Dates in the languages of East Asia, whose codes differ by language.
_OTHER_DATE_IDS = frozenset((*range(27, 37), *range(50, 59)))

# What is not part of the format proper: quoted text, a character that is escaped, repeated or left
# room for, and brackets with a color, a condition or a language, but not elapsed time.
_LITERAL = re.compile(r'"[^"]*"?|[\\_*].|\[(?!(?:h+|m+|s+)\])[^\]]*\]', re.IGNORECASE | re.DOTALL)
_DATE_LETTER = re.compile(r"[dmhys]", re.IGNORECASE)
_NOT_DATES = re.compile(r"general|standard", re.IGNORECASE)


def shows_date(number: int, code: str | None) -> bool:
    """Tell whether a format shows a date or a time.

    Args:
        number: The format's number.
        code: Its code as the file gives it, None where it gives none.
    """
    if code is None:
        if number in _OTHER_DATE_IDS:
            return True
        code = BUILTIN_CODES.get(number, "General")
    first = _NOT_DATES.sub("", _LITERAL.sub("", code).partition(";")[0])
    return _DATE_LETTER.search(first) is not None
