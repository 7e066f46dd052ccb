"""Engines that calculate, and what both of them say.

Each is given the same small book, whose formulas and values it reads by its own loader. Neither
sees the time: TODAY and NOW are values by then.
"""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

import formualizer
import ironcalc

from kbd.errors import ValidationFailed
from kbd_xlsx.calculation.operand_ranges import Place
from kbd_xlsx.parts.cells import Result

__all__ = ["NO_RESULTS", "agreed", "ask_engines"]

TOLERANCE = 1e-9
"""How far two numbers may be apart, by their size, that come from the same formula: sums of floats
in another order differ in their last digits."""

_ERRORS = {
    "Div": "#DIV/0!", "Na": "#N/A", "Name": "#NAME?", "Null": "#NULL!", "Num": "#NUM!",
    "Ref": "#REF!", "Value": "#VALUE!", "Circ": "#CIRC!",
}  # fmt: skip
"""Kinds of errors of the one engine, as files have them; the other has these texts. What is not
among them, such as a function that is not built, is no answer."""

NO_RESULTS = ("#NAME?", "#CIRC!")
"""Errors that say of an engine, or of a formula, that there is no result."""

_EXACT = 1e15
_SHOWN_DIGITS = 15
"""Digits that spreadsheet programs show of a number."""

_NOISE = 4
_UNKNOWN = ("#ERROR!", "#N/IMPL!", "#SPILL!", "#CALC!")
MAX_WORK_UNITS = 2_000_000_000
MAX_EVAL_MS = 20_000


def ask_engines(
    book: Path, titles: Sequence[str], places: Sequence[Place]
) -> Iterator[tuple[Place, Result | None, Result | None]]:
    """Yield what each engine says of some cells.

    Args:
        book: The small book.
        titles: Of its sheets, in order.
        places: The cells.

    Raises:
        ValidationFailed: An engine failed on all of it.
    """
    first, second = _Formualizer(book.read_bytes(), titles), _Ironcalc(book)
    if not (first.has_loaded and second.has_loaded):
        raise ValidationFailed("one of the engines failed")
    for place in places:
        one, other = first.answer(*place), second.answer(*place)
        if isinstance(one, float) and one == other:
            # Most answers are the same number of both; it is written once.
            result = _number(one)
            yield place, result, result
        else:
            yield place, _result(one), _result(other)


def _result(answer: Result | float | None) -> Result | None:
    return _number(answer) if isinstance(answer, float) else answer


def agreed(one: Result | None, other: Result | None) -> Result | None:
    """Return what both engines say, None if they differ or one does not know."""
    if one is None or other is None or one.kind != other.kind:
        return None
    if one is other and one.kind == "number":
        return one
    # What neither knows is unknown to both, and that a formula leads to itself is no result.
    if one.kind == "error" and one.text in NO_RESULTS:
        return None
    if one.kind != "number":
        return one if one.text == other.text else None
    mine, theirs = float(one.text), float(other.text)
    if abs(mine - theirs) > TOLERANCE * max(abs(mine), abs(theirs)):
        return None
    return one


class _Formualizer:
    """The engine `formualizer`."""

    def __init__(self, data: bytes, titles: Sequence[str]) -> None:
        self._titles = titles
        config = formualizer.EvaluationConfig()
        # A worker is one process of few threads, and answers must not hang on their order.
        config.enable_parallel = False
        config.max_threads = 1
        config.max_work_units = MAX_WORK_UNITS
        config.max_eval_time_ms = MAX_EVAL_MS
        self._book = None
        with _engine_faults():
            book = formualizer.Workbook.from_bytes(
                data, config=formualizer.WorkbookConfig(eval_config=config)
            )
            book.set_temporal_egress("serial")
            book.evaluate_all()
            self._book = book

    @property
    def has_loaded(self) -> bool:
        """Whether it has read and calculated the book."""
        return self._book is not None

    def answer(self, sheet: int, row: int, column: int) -> Result | float | None:
        """Return what a cell comes to; a number as it is."""
        value = None
        try:
            if self._book is not None:
                value = self._book.get_value(self._titles[sheet], row, column)
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException:  # noqa: BLE001 - as _engine_faults, which takes as long as the call
            return None
        if type(value) is float:
            return value
        match value:
            case bool():
                return Result("boolean", str(int(value)))
            case int() | float():
                return float(value)
            case str():
                return Result("text", value)
            case {"type": "Error", "kind": str(kind)} if kind in _ERRORS:
                return Result("error", _ERRORS[kind])
            case _:
                return None


class _Ironcalc:
    """The engine `ironcalc`."""

    def __init__(self, path: Path) -> None:
        self._book = None
        with _engine_faults():
            book = ironcalc.load_from_xlsx(str(path), "en", "UTC")
            book.evaluate()
            self._book = book

    @property
    def has_loaded(self) -> bool:
        """Whether it has read and calculated the book."""
        return self._book is not None

    def answer(self, sheet: int, row: int, column: int) -> Result | float | None:
        """Return what a cell comes to; a number as it is."""
        if self._book is None:
            return None
        try:
            value = self._book.get_cell_value(sheet, row, column)
            kind = self._book.get_cell_type(sheet, row, column)
        except (KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException:  # noqa: BLE001 - as _engine_faults, which takes as long as the call
            return None
        match kind:
            case ironcalc.CellType.Number if isinstance(value, int | float):
                return float(value)
            case ironcalc.CellType.ErrorValue if value not in _UNKNOWN:
                return Result("error", str(value))
            case ironcalc.CellType.LogicalValue:
                return Result("boolean", str(int(bool(value))))
            case ironcalc.CellType.Text:
                return Result("text", str(value))
            case _:
                return None


def _number(value: float) -> Result | None:
    if value != value or value in (float("inf"), float("-inf")):
        return None
    # As few digits as tell the number from all others, and none after the point of whole ones.
    if value.is_integer() and abs(value) < _EXACT:
        return Result("number", str(int(value)))
    exact = repr(value)
    # With the point or the exponent among its characters, it has no more digits than are shown.
    if len(exact) <= _SHOWN_DIGITS + 1:
        return Result("number", exact)
    shown = repr(float(f"{value:.{_SHOWN_DIGITS}g}"))
    # 124.99000000000001 is 124.99 after some additions; a third keeps all of its digits.
    return Result("number", shown if len(shown) + _NOISE <= len(exact) else exact)


@contextlib.contextmanager
def _engine_faults() -> Iterator[None]:
    """Have an engine that fails give no answer: a panic of Rust is no Exception in Python."""
    try:
        yield
    except (KeyboardInterrupt, SystemExit, MemoryError):
        raise
    except BaseException:  # noqa: BLE001
        return
