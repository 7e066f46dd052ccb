"""Rows of JSON that are arrays: `["Anna", 1.5]`, the names of the columns in the first one."""

from collections.abc import Iterable, Sequence
from itertools import islice

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import ReadingOption, ReadingQuestion
from kbd.formats.headings import unique_names

__all__ = ["ArrayShape", "array_shape", "as_record"]

_SHAPED_ROWS = 200
_LEAST_ROWS = 2
_ALIKE_SHARE = 0.8
"""So many of the first rows are as long as each other, if they are rows and no lists of values."""
_SHOWN_CHARACTERS = 80

Value = msgspec.Raw | str


class ArrayShape(msgspec.Struct, frozen=True):
    """Shape of rows that are arrays.

    Args:
        names: The names of the columns.
        has_header: Whether the first row has them.
        question: What is to be asked, where that is not sure.
    """

    names: tuple[str, ...]
    has_header: bool
    question: ReadingQuestion | None = None


def array_shape(rows: Iterable[tuple[int, Value]], said: int | None) -> ArrayShape | None:
    """Return the shape of rows by the first ones; None where they are no arrays of one length.

    Args:
        rows: The rows, each as its JSON text, with their numbers.
        said: The row of the header as it was said, 0 for none.

    Raises:
        ValidationFailed: What was said is no row that could have the names.
    """
    first = []
    for _, raw in islice(rows, _SHAPED_ROWS):
        try:
            first.append(msgspec.json.decode(raw, type=list[msgspec.Raw]))
        except msgspec.ValidationError:
            return None
        except (msgspec.DecodeError, RecursionError):
            # What is no JSON is no row either.
            continue
    if len(first) < _LEAST_ROWS:
        return None
    lengths = [len(row) for row in first]
    usual = max(lengths, key=lengths.count)
    if not usual or lengths.count(usual) < _ALIKE_SHARE * len(first):
        return None
    if said not in (None, 0, 1):
        raise ValidationFailed("header_row of rows that are arrays is 1, or 0 for no header")
    texts = _texts(first[0])
    may_head = texts is not None and len(set(texts)) == len(texts) == usual
    if not may_head or texts is None or said == 0:
        return ArrayShape(tuple(unique_names([""] * usual)), has_header=False)
    names = tuple(unique_names(" ".join(text.replace("\0", "").split()) for text in texts))
    is_open = said is None and all(_texts(row) is not None for row in first[1:])
    return ArrayShape(names, has_header=True, question=_question(texts) if is_open else None)


def _texts(row: Sequence[msgspec.Raw]) -> list[str] | None:
    """Return the texts of a row that has nothing else, None of others."""
    try:
        texts = [msgspec.json.decode(value, type=str) for value in row]
    except msgspec.DecodeError:
        return None
    return texts if all(text.strip() for text in texts) else None


def _question(texts: Sequence[str]) -> ReadingQuestion:
    shown = ", ".join(texts)[:_SHOWN_CHARACTERS]
    text = (
        f"Row 1 has texts ({shown}), and so have the rows below: does it name the columns, or is "
        "it a row as they are?"
    )
    options = (
        ReadingOption("1", f"{shown} are the names of the columns"),
        ReadingOption("0", f"{shown} are the values of a row"),
    )
    return ReadingQuestion("header_row", (), text, options)


def as_record(row: Sequence[msgspec.Raw], names: Sequence[str]) -> dict[str, str]:
    """Return a row as a record by the names of the columns; more values have columns of their own.

    Args:
        row: Its values.
        names: Those of the columns.
    """
    if len(row) > len(names):
        names = unique_names([*names, *[""] * (len(row) - len(names))])
    return {name: bytes(value).decode() for name, value in zip(names, row, strict=False)}
