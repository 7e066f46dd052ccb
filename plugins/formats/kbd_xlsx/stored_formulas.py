"""Formulas as files spell them, where that differs from what people type.

Functions that came after the format carry a prefix, and so do the parameters of LET and LAMBDA:
without it they are unknown names. The operators for "this row" (`[@Price]`) and for what a formula
spills (`A1#`) are only typed; a file that holds them counts as damaged.
"""

import re

from kbd_xlsx.calculation.functions import PLAIN, SPILLING, VOLATILE

__all__ = ["OPAQUE", "shown", "spelled"]

# Strings, quoted sheet names, and what stands between brackets of structured references.
# There an apostrophe escapes a bracket that belongs to a column's name.
_INSIDE = r"(?:'[\[\]#'@]|[^\[\]])"
OPAQUE = re.compile(rf'"(?:[^"]|"")*"|\'(?:[^\']|\'\')*\'|\[(?:{_INSIDE}|\[{_INSIDE}*\])*\]')
"""What of a formula is no code: its parts are texts and names."""

_FUNCTION = re.compile(r"(?<![\w.])([A-Za-z][A-Za-z0-9.]*)\(")
_BINDING = re.compile(r"(?<![\w.])(?:_xlfn\.)?(LET|LAMBDA)\(", re.IGNORECASE)
_NAME = re.compile(r"(?!(?i:_xl))[^\W\d][\w.]*")
_SPILL = re.compile(
    r'"(?:[^"]|"")*"'
    r"|(?<![\w.$])((?:'(?:[^']|'')*'!|[^\W\d][\w.]*!)?\$?[A-Za-z]{1,3}\$?\d{1,7})#"
    rf"|'(?:[^']|'')*'|\[(?:{_INSIDE}|\[{_INSIDE}*\])*\]"
)
_PREFIXES = re.compile(r"(?<![\w.])_xl(?:fn\.(?:_xlws\.)?|pm\.)(?=[^\W\d])", re.IGNORECASE)
_ANCHOR = re.compile(r'"(?:[^"]|"")*"|(?<![\w.])ANCHORARRAY\(([^()"]+)\)', re.IGNORECASE)
_THIS_ROW = re.compile(r"\[\s*@\s*(.*)\]", re.DOTALL)

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
ANCHORARRAY CEILING.PRECISE DETECTLANGUAGE ENCODEURL FIELDVALUE FLOOR.PRECISE REGEXEXTRACT
REGEXREPLACE REGEXTEST SINGLE STOCKHISTORY TRANSLATE TRIMRANGE
"""
_BUILT_IN = PLAIN | SPILLING | VOLATILE
_FUTURE = frozenset(_FUTURE_NAMES.split())
_FUTURE_OF_SHEETS = frozenset(("FILTER", "SORT"))


def spelled(body: str) -> str:
    """Return a well-formed formula as files spell it; what is spelled so already stays."""
    spilled = _SPILL.sub(_anchored, body)
    parts = re.split(f"({OPAQUE.pattern})", spilled)
    parts[1::2] = [_row_named(part) for part in parts[1::2]]
    parts[::2] = [_FUNCTION.sub(_prefixed, part) for part in parts[::2]]
    return _with_parameters("".join(parts))


def shown(formula: str) -> str:
    """Return a formula of a file as programs show it, which `spelled` makes the file's again."""
    if "_xl" not in formula.lower():
        return formula
    parts = re.split(f"({OPAQUE.pattern})", formula)
    parts[::2] = [_PREFIXES.sub("", part) for part in parts[::2]]
    return _ANCHOR.sub(lambda found: f"{found[1]}#" if found[1] else found[0], "".join(parts))


def _anchored(found: re.Match[str]) -> str:
    return found[0] if found[1] is None else f"_xlfn.ANCHORARRAY({found[1]})"


def _prefixed(found: re.Match[str]) -> str:
    name = found[1].upper()
    if name in _FUTURE:
        return f"_xlfn.{name}("
    return f"_xlfn._xlws.{name}(" if name in _FUTURE_OF_SHEETS else found[0]


def _row_named(part: str) -> str:
    """Return `[@Price]` as `[[#This Row],[Price]]`; any other part as it is."""
    found = _THIS_ROW.fullmatch(part)
    if found is None:
        return part
    column = found[1].strip()
    if not column:
        return "[#This Row]"
    return f"[[#This Row],{column if column.startswith('[') else f'[{column}]'}]"


def _with_parameters(body: str) -> str:
    """Mark the parameters of LET and LAMBDA, where they are named and where they are used."""
    code = OPAQUE.sub(lambda found: " " * len(found[0]), body)
    places: set[int] = set()
    for call in _BINDING.finditer(code):
        spans = _arguments(code, call.end())
        named = spans[:-1] if call[1].upper() == "LAMBDA" else spans[:-1:2]
        for start, stop in named:
            name = code[start:stop].strip()
            if _NAME.fullmatch(name):
                use = re.compile(rf"(?<![\w.!\\$]){re.escape(name)}(?![\w.!\\])", re.IGNORECASE)
                places |= {
                    each.start()
                    for each in use.finditer(code, call.end(), spans[-1][1])
                    if not _is_call(code, each.end(), name)
                }
    for place in sorted(places, reverse=True):
        body = f"{body[:place]}_xlpm.{body[place:]}"
    return body


def _is_call(code: str, end: int, name: str) -> bool:
    """Tell whether a name calls a function of programs, though a parameter has it, too."""
    return code.startswith("(", end) and name.upper() in _BUILT_IN


def _arguments(code: str, start: int) -> list[tuple[int, int]]:
    """Return where the arguments of a call are; the first one begins at `start`."""
    spans: list[tuple[int, int]] = []
    depth = 0
    for place in range(start, len(code)):
        match code[place]:
            case "(" | "{":
                depth += 1
            case ")" | "}" if depth:
                depth -= 1
            case ")":
                return [*spans, (start, place)]
            case "," if not depth:
                spans.append((start, place))
                start = place + 1
    return [*spans, (start, len(code))]
