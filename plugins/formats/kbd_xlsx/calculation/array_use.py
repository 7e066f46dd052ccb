"""Use of whole ranges by a formula where functions and operators take one value.

Entered by hand today, `=SUM(A1:A3*B1:B3)` multiplies all pairs. Stored as a plain formula it does
not: programs then take the one cell of a range that stands in the formula's row or column, or give
#VALUE!. It has to be stored as an array formula to mean what was written (ECMA-376 part 1,
18.3.1.40, t="array"; 18.17.2.7, implicit intersection).

The formula is read by openpyxl's tokenizer. What each part of it comes to is one of: one value, a
range, several values that were calculated.
"""

import re
from collections.abc import Callable, Container, Mapping
from enum import IntEnum
from types import MappingProxyType
from typing import NamedTuple

from openpyxl.formula.tokenizer import Token, Tokenizer, TokenizerError

from kbd_xlsx.calculation.functions import SPILLING, known_name

__all__ = ["ArrayUse", "ArrayUses", "array_use"]

MAX_DEPTH = 64
"""Calls in one another; Excel takes as many."""

_MAX_KNOWN = 10_000

_ALL = range(1_000)
_EVERY_SECOND = range(0, 1_000, 2)
_FIRST_AND_EVERY_SECOND = (0, *range(1, 1_000, 2))


def _places(text: str, places: Container[int]) -> dict[str, Container[int]]:
    return dict.fromkeys(text.split(), places)


_RANGE_ARGUMENTS: Mapping[str, Container[int]] = MappingProxyType(
    _places(
        """
        AGGREGATE AND AREAS ARRAYTOTEXT AVEDEV AVERAGE AVERAGEA CHISQ.TEST CHITEST COLUMN COLUMNS
        CONCAT CORREL COUNT COUNTA COUNTBLANK COVAR COVARIANCE.P COVARIANCE.S DAVERAGE DCOUNT
        DCOUNTA DEVSQ DGET DMAX DMIN DPRODUCT DSTDEV DSTDEVP DSUM DVAR DVARP F.TEST FORMULATEXT
        FREQUENCY FTEST GCD GEOMEAN GETPIVOTDATA GROUPBY GROWTH HARMEAN HSTACK INTERCEPT IRR ISREF
        KURT LCM LINEST LOGEST MAX MAXA MDETERM MEDIAN MIN MINA MINVERSE MIRR MMULT MODE MODE.MULT
        MODE.SNGL MULTINOMIAL N NPV OR PEARSON PERCENTOF PHONETIC PIVOTBY PRODUCT ROW ROWS RSQ
        SHEET SHEETS SINGLE SKEW SKEW.P SLOPE SORTBY STDEV STDEV.P STDEV.S STDEVA STDEVP STDEVPA
        STEYX SUBTOTAL SUM SUMPRODUCT SUMSQ SUMX2MY2 SUMX2PY2 SUMXMY2 T TOCOL TOROW TRANSPOSE
        TREND TRIMRANGE TYPE UNIQUE VAR VAR.P VAR.S VARA VARP VARPA VSTACK XOR
        """,
        _ALL,
    )
    | _places(
        """
        CHOOSECOLS CHOOSEROWS COUNTIF DROP EXPAND INDEX LARGE OFFSET PERCENTILE
        PERCENTILE.EXC PERCENTILE.INC PERCENTRANK PERCENTRANK.EXC PERCENTRANK.INC QUARTILE
        QUARTILE.EXC QUARTILE.INC SMALL SORT TAKE TRIMMEAN WRAPCOLS WRAPROWS Z.TEST ZTEST
        """,
        (0,),
    )
    | _places("AVERAGEIF SUMIF", (0, 2))
    | _places("AVERAGEIFS MAXIFS MINIFS SUMIFS", _FIRST_AND_EVERY_SECOND)
    | _places("COUNTIFS", _EVERY_SECOND)
    | _places("FVSCHEDULE HLOOKUP MATCH RANK RANK.AVG RANK.EQ VLOOKUP XMATCH", (1,))
    | _places("FORECAST FORECAST.LINEAR LOOKUP XLOOKUP XNPV", (1, 2))
    | _places("FILTER PROB T.TEST TTEST XIRR", (0, 1))
    | _places("NETWORKDAYS WORKDAY", (2,))
    | _places("NETWORKDAYS.INTL SERIESSUM WORKDAY.INTL", (3,))
    | _places("CELL", (1,))
    | _places("TEXTJOIN", range(2, 1_000))
)
"""Which arguments of a function may be ranges, counted from 0; all others are one value."""

_PASSING: Mapping[str, range] = MappingProxyType({"IF": range(1, 3), "CHOOSE": range(1, 1_000)})
"""Arguments that a function gives back as they are."""

_ARRAYS = SPILLING | frozenset(
    ("FREQUENCY", "GROWTH", "LINEST", "LOGEST", "MINVERSE", "MMULT", "MODE.MULT", "MUNIT",
     "TRANSPOSE", "TREND")
)  # fmt: skip
_FITTING = frozenset(("GROWTH", "TREND"))
_NEW_VALUES = 2
"""The argument of these for each value of which they give one."""

_OWN_PLACES = frozenset(("COLUMN", "ROW"))
_FOR_ALL = frozenset(("LOOKUP", "SUMPRODUCT"))
"""Functions whose arguments are calculated for all cells in plain formulas, too."""

_NOT_FOR_ALL = frozenset(("CHOOSE", "IF", "IFERROR", "IFNA", "IFS", "SWITCH", "TRANSPOSE"))
"""Functions that take one value even in the arguments of such a function."""

_CALLING = frozenset(("BYCOL", "BYROW", "LAMBDA", "MAKEARRAY", "MAP", "REDUCE", "SCAN"))
"""Functions that call formulas."""

_ROW = re.compile(r"(?<![\w.])(\$?[A-Za-z]{1,3}\$?)[1-9][0-9]*(?![\w.(])")
_CELL = re.compile(r"\$?[A-Za-z]{1,3}\$?[0-9]{1,7}")


class ArrayUse(NamedTuple):
    """How a formula uses ranges.

    Args:
        is_needed: Whether it means what was written only as an array formula.
        gives_many: Whether it comes to several values.
        lifted: The functions that are called for each of several values.
    """

    is_needed: bool
    gives_many: bool
    lifted: frozenset[str]


class _Shape(IntEnum):
    ONE, CONSTANTS, RANGE, MANY = range(4)


class _Argument(NamedTuple):
    """An argument: what it comes to, and its tokens."""

    shape: _Shape
    tokens: list[Token]

    @property
    def is_all(self) -> bool:
        """Whether as a row or column it stands for all of them: 0, or left out."""
        return not self.tokens or [token.value for token in self.tokens] == ["0"]


class _Unclear(Exception):
    """The formula cannot be told."""


def array_use(text: str, is_range: Callable[[str], bool]) -> ArrayUse | None:
    """Return how a formula uses ranges; None where that cannot be told.

    Args:
        text: The formula, with or without "=".
        is_range: Tells of a defined name whether it stands for several cells.
    """
    try:
        items = Tokenizer(f"={text.removeprefix('=')}").items
        reader = _Reader([each for each in items if each.type != Token.WSPACE], is_range)
        shape = reader.read()
    except (TokenizerError, _Unclear, IndexError, ValueError):
        return None
    return ArrayUse(reader.is_needed, shape is not _Shape.ONE, frozenset(reader.lifted))


class ArrayUses:
    """How the formulas of one workbook use ranges; each shape of a formula is read once.

    Args:
        meaning: Returns what a defined name stands for, "" for no name.
    """

    def __init__(self, meaning: Callable[[str], str]) -> None:
        self._meaning = meaning
        self._known: dict[str, ArrayUse | None] = {}

    def of(self, text: str) -> ArrayUse | None:
        """Return how a formula uses ranges; None where that cannot be told."""
        # Those of a filled column differ in rows alone; which row it is makes no difference.
        shape = _ROW.sub(r"\g<1>1", text)
        if shape not in self._known:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            self._known[shape] = array_use(shape, self._is_range)
        return self._known[shape]

    def _is_range(self, name: str) -> bool:
        meant = self._meaning(name)
        # Names that stand for names are not followed.
        use = array_use(meant, lambda _: False) if meant else None
        return use is not None and use.gives_many


class _Reader:
    """The tokens of one formula, read from left to right.

    Attributes:
        is_needed: As of `ArrayUse`, so far; so is `lifted`.
    """

    def __init__(self, tokens: list[Token], is_range: Callable[[str], bool]) -> None:
        self._tokens, self._at = tokens, 0
        self._is_range = is_range
        self._for_all = 0
        self._bound: dict[str, _Shape] = {}
        self.is_needed = False
        self.lifted: set[str] = set()

    def read(self) -> _Shape:
        """Return what all of the formula comes to."""
        shape = self._expression(0)
        if self._at < len(self._tokens):
            raise _Unclear
        return shape

    def _expression(self, depth: int) -> _Shape:
        """Return what the operands up to the next separator or bracket come to."""
        if depth > MAX_DEPTH:
            raise _Unclear
        most, calculates = _Shape.ONE, False
        while self._at < len(self._tokens):
            token = self._tokens[self._at]
            if token.type == Token.SEP or token.subtype == Token.CLOSE:
                break
            self._at += 1
            if token.type in (Token.OP_PRE, Token.OP_POST, Token.OP_IN):
                # A comma in brackets joins ranges.
                is_union = token.value == ","
                most = max(most, _Shape.RANGE) if is_union else most
                calculates = calculates or not is_union
            else:
                most = max(most, self._operand(token, depth))
        if not calculates or most <= _Shape.CONSTANTS:
            return most
        self._need()
        return _Shape.MANY

    def _need(self) -> None:
        self.is_needed = self.is_needed or not self._for_all

    def _operand(self, token: Token, depth: int) -> _Shape:
        match token.type:
            case Token.OPERAND:
                return self._named(token)
            case Token.FUNC:
                return self._call(token, depth)
            case Token.PAREN:
                shape = self._expression(depth + 1)
                if self._next().subtype != Token.CLOSE:
                    raise _Unclear
                return shape
            case Token.ARRAY:
                while self._next().type != Token.ARRAY:
                    pass
                return _Shape.CONSTANTS
            case _:
                raise _Unclear

    def _next(self) -> Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _named(self, token: Token) -> _Shape:
        """Return what a constant, a reference or a name stands for."""
        word = token.value.rpartition("!")[2]
        if word.casefold() in self._bound:
            return self._bound[word.casefold()]
        if token.subtype != Token.RANGE or word.startswith("@"):
            return _Shape.ONE
        if "[" in word:
            inside = word[word.index("[") :].casefold()
            is_row = "[@" in inside or "#this row" in inside
            # Several columns of this row are several cells.
            return _Shape.ONE if is_row and ":" not in inside else _Shape.RANGE
        if ":" in word:
            return _Shape.RANGE
        is_many = _CELL.fullmatch(word) is None and self._is_range(word)
        return _Shape.RANGE if is_many else _Shape.ONE

    def _call(self, token: Token, depth: int) -> _Shape:
        # "A1:INDEX(" is one token: a range that begins there.
        start, _, name = token.value.removesuffix("(").rpartition(":")
        name = known_name(name)
        if name in _CALLING:
            raise _Unclear
        if name == "LET":
            return self._let(depth)
        self._for_all += name in _FOR_ALL
        arguments = self._arguments(depth)
        self._for_all -= name in _FOR_ALL
        found = self._result(name, arguments)
        return _Shape.RANGE if start else found

    def _let(self, depth: int) -> _Shape:
        """Return what the last argument of LET comes to; those before are names and values."""
        while self._tokens[self._at + 1].subtype == Token.ARG:
            name = self._next().value.casefold()
            self._next()
            self._bound[name] = self._expression(depth + 1)
            if self._next().subtype != Token.ARG:
                raise _Unclear
        shape = self._expression(depth + 1)
        if self._next().subtype != Token.CLOSE:
            raise _Unclear
        return shape

    def _arguments(self, depth: int) -> list[_Argument]:
        found = []
        while True:
            start = self._at
            shape = self._expression(depth + 1)
            found.append(_Argument(shape, self._tokens[start : self._at]))
            token = self._next()
            if token.subtype == Token.CLOSE:
                return found
            if token.subtype != Token.ARG:
                raise _Unclear

    def _result(self, name: str, arguments: list[_Argument]) -> _Shape:
        """Return what a call comes to."""
        allowed = _RANGE_ARGUMENTS.get(name, ())
        passing = _PASSING.get(name, range(0))
        passed = lifted = _Shape.ONE
        for place, argument in enumerate(arguments):
            if place in passing:
                passed = max(passed, argument.shape)
            elif place not in allowed:
                lifted = max(lifted, argument.shape)
        if lifted is not _Shape.ONE:
            self.lifted.add(name)
            if max(lifted, passed) is _Shape.CONSTANTS:
                return _Shape.CONSTANTS
            self.is_needed = self.is_needed or name in _NOT_FOR_ALL
            self._need()
            return _Shape.MANY
        if name in _FITTING and len(arguments) > _NEW_VALUES:
            return arguments[_NEW_VALUES].shape
        if name in _ARRAYS or (name in _OWN_PLACES and _is_many(arguments)):
            self.is_needed = self.is_needed or name in _NOT_FOR_ALL
            self._need()
            return _Shape.MANY
        if name == "INDEX" and any(argument.is_all for argument in arguments[1:]):
            return arguments[0].shape
        if name == "OFFSET":
            return _Shape.RANGE if len(arguments) > _WITHOUT_SIZE else arguments[0].shape
        if name == "INDIRECT":
            is_area = any(":" in token.value for token in arguments[0].tokens)
            return _Shape.RANGE if is_area else _Shape.ONE
        return passed


_WITHOUT_SIZE = 3
"""Arguments of OFFSET that give no size: it is as large as what it begins at."""


def _is_many(arguments: list[_Argument]) -> bool:
    return any(argument.shape is not _Shape.ONE for argument in arguments)
