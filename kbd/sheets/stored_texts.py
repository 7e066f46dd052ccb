"""Texts among the numbers or dates of a sheet's column: numbers stored as text, and missing values.

A cell that somebody typed as text ("12,5", "1.234", "n/a") must not make a text of its column. What
its text means is decided by all such texts of the column, then by other columns of the sheet, then
by what was said; where two readings are left, it is asked, and the column stays text until then.
The numbers beside it prove nothing: a sheet stores them without marks.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Literal

import msgspec

from kbd.formats import MISSING_TEXTS, ReadingOption, ReadingQuestion, TouchedRows

__all__ = ["ReadTexts", "StoredTexts", "read_texts"]

DecimalMark = Literal[".", ","]

NUMBERS = "number stored as text, read as a number"
MISSING = "text for a missing value, read as empty"

_MAX_TEXTS = 10_000
"""Different texts of a column; with more it is one of texts."""

_MOST_ROWS = 10
_SAMPLE_CHARS = 80
_MAX_DIGITS = 15
"""Longer ones are keys: a sheet could not have stored them as numbers."""

_GROUP_MARKS = "'’ \u00a0\u202f\u2009"
_NUMBER = re.compile(rf"([-−–]?) ?((?:[0-9][0-9.,{_GROUP_MARKS}]*)?[0-9]|[.,][0-9]+)")
_GROUPED = re.compile(r"[1-9][0-9]{0,2}(?:([^0-9])[0-9]{3})(?:\1[0-9]{3})*")
_WHOLE = re.compile(r"0|[1-9][0-9]*|")
_MARK_NAMES = {".": "point", ",": "comma"}
_MARKS: tuple[DecimalMark, ...] = (".", ",")


class StoredTexts:
    """Texts of one column, while its rows pass by; given up at the first that is anything else.

    Attributes:
        counts: How often each stands there.
        is_open: Whether all so far are numbers or missing values.
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.is_open = True
        self._rows: dict[str, list[int]] = {}

    def add(self, row: int, text: str) -> None:
        """Add the text of a cell in a row of the sheet."""
        if text not in self.counts:
            is_known = _is_missing(text) or any(_number(text, mark) is not None for mark in _MARKS)
            self.is_open = is_known and len(self.counts) < _MAX_TEXTS
        if not self.is_open:
            self.counts.clear()
            self._rows.clear()
            return
        self.counts[text] += 1
        rows = self._rows.setdefault(NUMBERS if not _is_missing(text) else MISSING, [])
        if len(rows) < _MOST_ROWS:
            rows.append(row)

    @property
    def numbers(self) -> list[str]:
        """Those that are numbers, each once, in the order of the rows."""
        return [text for text in self.counts if not _is_missing(text)]

    def touched(self) -> list[TouchedRows]:
        """Tell what is read of them, and in which rows."""
        found = []
        for what, rows in self._rows.items():
            texts = [text for text in self.counts if _is_missing(text) == (what == MISSING)]
            count = sum(self.counts[text] for text in texts)
            found.append(TouchedRows(what, count, tuple(rows), texts[0][:_SAMPLE_CHARS]))
        return found


class ReadTexts(msgspec.Struct, frozen=True):
    """What the texts of a sheet's columns are read as.

    Args:
        plain: By the place of a column the plain form of each text; "" for none.
        decimal: The decimal mark that these numbers were found to have; "" for none.
        repaired: What was done.
        question: What has to be asked.
    """

    plain: Mapping[int, Mapping[str, str]]
    decimal: str = ""
    repaired: tuple[TouchedRows, ...] = ()
    question: ReadingQuestion | None = None


def read_texts(
    names: Sequence[str],
    columns: Mapping[int, StoredTexts],
    numeric: frozenset[int],
    said: DecimalMark | None,
) -> ReadTexts:
    """Decide what texts among other values are.

    Args:
        names: Of all columns.
        columns: The texts of the columns that have some among numbers, dates or truth values.
        numeric: Which of these have them among numbers; in others only missing values are read.
        said: The decimal mark that was said.
    """
    fitting: dict[int, list[DecimalMark]] = {}
    for place, texts in columns.items():
        numbers = texts.numbers
        if not numbers:
            fitting[place] = [*_MARKS]
        elif place in numeric:
            marks = [mark for mark in _MARKS if all(_number(t, mark) is not None for t in numbers)]
            fitting[place] = marks
    proven = {
        marks[0]
        for place, marks in fitting.items()
        if len(marks) == 1 and any(set(text) & set(_MARKS) for text in columns[place].numbers)
    }
    plain: dict[int, dict[str, str]] = {}
    repaired: list[TouchedRows] = []
    unsure: list[int] = []
    for place, marks in fitting.items():
        chosen = _chosen(columns[place], marks, proven, said)
        if chosen is not None:
            plain[place] = {text: _plain(text, chosen) for text in columns[place].counts}
            repaired += columns[place].touched()
        elif marks:
            unsure.append(place)
    question = _question(names, columns, unsure) if unsure else None
    (decimal,) = proven if len(proven) == 1 else ("",)
    return ReadTexts(plain, decimal, tuple(_merged(repaired)), question)


def _merged(touched: Sequence[TouchedRows]) -> list[TouchedRows]:
    """Join what was done alike in several columns."""
    found: dict[str, TouchedRows] = {}
    for each in touched:
        before = found.get(each.what)
        if before is None:
            found[each.what] = each
            continue
        rows = tuple(sorted({*before.rows, *each.rows})[:_MOST_ROWS])
        found[each.what] = msgspec.structs.replace(
            before, count=before.count + each.count, rows=rows
        )
    return [*found.values()]


def _chosen(
    texts: StoredTexts,
    marks: Sequence[DecimalMark],
    proven: set[DecimalMark],
    said: DecimalMark | None,
) -> DecimalMark | None:
    """Return the decimal mark by which a column's texts are read; None while it is not known."""
    if len(marks) < 2:
        return marks[0] if marks else None
    if all(_number(text, ".") == _number(text, ",") for text in texts.numbers):
        return "."
    if said is not None:
        return said
    return next(iter(proven)) if len(proven) == 1 else None


def _question(
    names: Sequence[str], columns: Mapping[int, StoredTexts], places: Sequence[int]
) -> ReadingQuestion:
    """Return the question which mark is the decimal one in the texts of some columns."""
    first = columns[places[0]]
    example = next(t for t in first.numbers if _number(t, ".") != _number(t, ","))
    options = []
    for mark in _MARKS:
        parts = []
        for place in places[:3]:
            texts = columns[place]
            total = sum(
                ((_number(text, mark) or Decimal()) * texts.counts[text] for text in texts.numbers),
                Decimal(),
            )
            figure = f"{total:,f}".replace(",", " ")
            parts.append(f"numbers stored as text in {names[place]} add up to {figure}")
        options.append(ReadingOption(mark, f"decimal {_MARK_NAMES[mark]}: {'; '.join(parts)}"))
    readings = " or ".join(_plain(example, mark) for mark in _MARKS)
    return ReadingQuestion(
        about="decimal",
        columns=tuple(names[place] for place in places),
        text=f"{names[places[0]]}: is the text {example} {readings}?",
        options=tuple(options),
    )


def _is_missing(text: str) -> bool:
    return text.strip().lower() in MISSING_TEXTS


def _plain(text: str, mark: DecimalMark) -> str:
    number = None if _is_missing(text) else _number(text, mark)
    return "" if number is None else f"{number:f}"


def _number(text: str, mark: DecimalMark) -> Decimal | None:
    """Return the number that a text is with a decimal mark; None if it is none."""
    found = _NUMBER.fullmatch(text.strip())
    if found is None:
        return None
    sign, core = found.groups()
    whole, point, fraction = core.rpartition(mark)
    if not point:
        whole, fraction = core, ""
    digits = re.sub("[^0-9]", "", whole)
    is_whole = _WHOLE.fullmatch(whole) or (
        mark not in whole and (grouped := _GROUPED.fullmatch(whole)) and grouped[1]
    )
    if not is_whole or (point and not fraction.isdecimal()) or len(digits) > _MAX_DIGITS:
        return None
    return Decimal(f"{'-' if sign else ''}{digits or '0'}{'.' if fraction else ''}{fraction}")
