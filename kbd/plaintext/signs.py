"""Signs as a text's only characters beyond ASCII: degrees, currencies, fractions, where they stand.

A file in a language with letters of its own has more of them than one. So what reads as a sign in
all its places, beside figures or between blanks and nowhere beside a letter, is that sign, although
each of its bytes is a letter in some other encoding. A module of its own, as `wide` is: `encodings`
asks one kind of text after the other, and this is what decides for one of them.
"""

import re

__all__ = ["SIGN_CODECS", "are_signs"]

SIGN_CODECS = ("cp1252", "mac_roman", "cp850")
"""Encodings whose signs are looked for, the commonest first."""

_FREE = "€£¥§½¼¾±×–—•"
"""Signs that stand between blanks, too."""

_BESIDE = "°ºª‰¢²³÷\xa0"
"""Signs that only stand beside figures."""

_MICRO = "(?:Sv|Gy|mol|Ci|Pa|bar|Hz|eq|rad|IE|IU|[gmlLsAVWFHJNTCM])"
"""Units that a thousandth of a thousandth is told of."""

_FITTING = re.compile(
    rf"""(?<![^\W\d_]) (?:
        (?<=[0-9]) [{_FREE}{_BESIDE}] (?![^\W\d_])
        | [{_FREE}] (?![^\W\d_])
        | (?<=[0-9]\ ) [°º‰¢] (?![^\W\d_])
        | (?<![0-9]) ° [CF] (?![^\W_])
        | (?:(?<=[0-9])|(?<=[0-9]\ )) (?: ° [CFKNESW] | µ [A-Za-z] ) (?![^\W_])
        | (?<![0-9]) µ {_MICRO} (?![^\W_] | \ [a-z])
    )""",
    re.VERBOSE,
)
_NOT_ASCII = re.compile("[^\x00-\x7f]")


def are_signs(text: str) -> bool:
    """Tell whether all characters beyond ASCII are signs in places where these stand.

    No two of them stand beside each other, as the two bytes of an ideograph do.
    """
    rest = _FITTING.sub("", text)
    return not _NOT_ASCII.search(rest) and not re.search("[^\x00-\x7f]{2}", text)
