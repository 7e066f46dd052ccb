"""Formulas as operations give them: checked, and spelt as files have them.

A formula that programs cannot parse makes them call the whole file damaged, so what is plainly
malformed is refused. Functions that came after the format carry a prefix in files, without which
they are unknown names; people and models leave it out.
"""

import re

from kbd.errors import ValidationFailed
from kbd_xlsx.calculation.functions import SPILLING

__all__ = ["checked_formula", "looks_like_formula", "reach_of", "spills"]

MAX_FORMULA = 8_192
"""Characters that a formula may have."""

_ILLEGAL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
# Strings, quoted sheet names, and what stands between brackets of structured references.
_OPAQUE = re.compile(r'"(?:[^"]|"")*"|\'(?:[^\']|\'\')*\'|\[(?:[^\[\]]|\[[^\[\]]*\])*\]')
_STRING = re.compile(r'"(?:[^"]|"")*"')
_FUNCTION = re.compile(r"(?<![\w.])([A-Za-z][A-Za-z0-9.]*)\(")
_PREFIX = re.compile(r"_xl(?:fn|ws)\.", re.IGNORECASE)
_PAIRS = {")": "(", "}": "{"}

# They reach out of the workbook: to the network, to other files, to programs (reliability, 5.4).
_REACH = re.compile(
    r"\b(?:WEBSERVICE|FILTERXML|RTD|DDE|CALL|REGISTER(?:\.ID)?|EXEC|HYPERLINK|IMAGE|STOCKHISTORY"
    r"|IMPORT\w+)\s*(?=\()|\[\d+\](?=[^\[\]]*!)|\[[^\[\]]*\.\w{2,4}\]|\|[^\"]*!|\\\\|\b\w+://",
    re.IGNORECASE,
)
_ADDRESS = re.compile(r"\b\w+://|\\\\")
_INNER_LINK = re.compile(r'HYPERLINK\(\s*"#[^"]*"\s*(?:,|\))', re.IGNORECASE)

_TEXT_LIKE_FORMULA = re.compile(r"=.|[-+@]\s*[A-Za-z_'\"(].*[(!|]", re.DOTALL)

# Functions that files spell with the prefix, from the file format's list of future functions.
_FUTURE_NAMES = """
ACOT ACOTH AGGREGATE ARABIC BASE BETA.DIST BETA.INV BINOM.DIST BINOM.DIST.RANGE BINOM.INV BITAND
BITLSHIFT BITOR BITRSHIFT BITXOR CEILING.MATH CHISQ.DIST CHISQ.DIST.RT CHISQ.INV CHISQ.INV.RT
CHISQ.TEST COMBINA CONCAT CONFIDENCE.NORM CONFIDENCE.T COT COTH COVARIANCE.P COVARIANCE.S CSC
CSCH DAYS DECIMAL ERF.PRECISE ERFC.PRECISE EXPON.DIST F.DIST F.DIST.RT F.INV F.INV.RT F.TEST
FILTERXML FLOOR.MATH FORECAST.ETS FORECAST.ETS.CONFINT FORECAST.ETS.SEASONALITY
FORECAST.ETS.STAT FORECAST.LINEAR FORMULATEXT GAMMA GAMMA.DIST GAMMA.INV GAMMALN.PRECISE GAUSS
HYPGEOM.DIST IFNA IFS IMCOSH IMCOT IMCSC IMCSCH IMSEC IMSECH IMSINH IMTAN ISFORMULA ISOWEEKNUM
LOGNORM.DIST LOGNORM.INV MAXIFS MINIFS MODE.MULT MODE.SNGL MUNIT NEGBINOM.DIST NORM.DIST
NORM.INV NORM.S.DIST NORM.S.INV NUMBERVALUE PDURATION PERCENTILE.EXC PERCENTILE.INC
PERCENTRANK.EXC PERCENTRANK.INC PERMUTATIONA PHI POISSON.DIST QUARTILE.EXC QUARTILE.INC RANK.AVG
RANK.EQ RRI SEC SECH SHEET SHEETS SKEW.P STDEV.P STDEV.S SWITCH T.DIST T.DIST.2T T.DIST.RT T.INV
T.INV.2T T.TEST TEXTJOIN UNICHAR UNICODE VAR.P VAR.S WEBSERVICE WEIBULL.DIST XOR Z.TEST
ARRAYTOTEXT BYCOL BYROW CHOOSECOLS CHOOSEROWS DROP EXPAND HSTACK ISOMITTED LAMBDA LET MAKEARRAY
MAP RANDARRAY REDUCE SCAN SEQUENCE SORTBY TAKE TEXTAFTER TEXTBEFORE TEXTSPLIT TOCOL TOROW UNIQUE
VALUETOTEXT VSTACK WRAPCOLS WRAPROWS XLOOKUP XMATCH IMAGE GROUPBY PIVOTBY PERCENTOF
"""
_FUTURE = frozenset(_FUTURE_NAMES.split())
_FUTURE_OF_SHEETS = frozenset(("FILTER", "SORT"))


def checked_formula(text: str, place: str) -> str:
    """Return a formula as files spell it, without its equals sign.

    Args:
        text: With or without "=" at its beginning.
        place: Where it goes, for messages.

    Raises:
        ValidationFailed: It is too long or malformed.
    """
    body = text.strip().removeprefix("=").strip()
    if not body:
        raise ValidationFailed(f"{place}: a formula is a text like =SUM(B2:B9).")
    if _ILLEGAL.search(body):
        raise ValidationFailed(f"{place}: the formula has a control character.")
    _check_form(body, place)
    spelt = "".join(
        part if place % 2 else _FUNCTION.sub(_prefixed, part)
        for place, part in enumerate(_parts(body))
    )
    if len(spelt) > MAX_FORMULA:
        raise ValidationFailed(f"{place}: the formula is longer than {MAX_FORMULA:,} characters.")
    return spelt


def reach_of(formula: str) -> str | None:
    """Return what of a formula reaches out of its workbook, None if nothing does."""
    inner = _INNER_LINK.sub("", formula)
    code = _STRING.sub('""', inner)
    found = _REACH.search(code) or _ADDRESS.search(inner)
    return None if found is None else found.group().strip()


def spills(formula: str) -> str | None:
    """Return the function of a formula whose result is more than one cell, None without one."""
    names: list[str] = _FUNCTION.findall(_PREFIX.sub("", _OPAQUE.sub("", formula)))
    return next((name.upper() for name in names if name.upper() in SPILLING), None)


def looks_like_formula(text: str) -> bool:
    """Tell whether a text could be meant, or taken, for a formula."""
    return _TEXT_LIKE_FORMULA.match(text) is not None


def _parts(body: str) -> list[str]:
    """Split a formula: what is code stands at even places, what is opaque at odd ones."""
    return re.split(f"({_OPAQUE.pattern})", body)


def _prefixed(found: re.Match[str]) -> str:
    name = found[1].upper()
    if name in _FUTURE:
        return f"_xlfn.{name}("
    return f"_xlfn._xlws.{name}(" if name in _FUTURE_OF_SHEETS else found[0]


def _check_form(body: str, place: str) -> None:
    """Refuse what no program can parse: open quotes and brackets, wrong separators."""
    code = _OPAQUE.sub("x", body)
    if '"' in code or "'" in code:
        raise ValidationFailed(f"{place}: a quote in the formula is not closed.")
    if "[" in code or "]" in code:
        raise ValidationFailed(f"{place}: the square brackets of the formula do not match.")
    opened: list[str] = []
    for sign in code:
        if sign in "({":
            opened.append(sign)
        elif sign in _PAIRS and (not opened or opened.pop() != _PAIRS[sign]):
            raise ValidationFailed(f"{place}: the brackets of the formula do not match.")
        elif sign == ";" and "{" not in opened:
            raise ValidationFailed(
                f"{place}: arguments of a formula are separated by commas, not semicolons."
            )
    if opened:
        raise ValidationFailed(f"{place}: the brackets of the formula do not match.")
    if code.rstrip()[-1] in "+-*/^&=<>,":
        raise ValidationFailed(f"{place}: the formula ends with {code.rstrip()[-1]}.")
