"""Tables of JSON: a list of records, or one record a line.

A column is a key, in the order in which the keys come first. Records may be arrays of one length,
the first of them the names. Nested values are their JSON text. A
number keeps its digits; what is written as a text may still be typed by whoever reads the table, as
in a text format. Texts among the numbers of a column are read as those in a sheet are.

A list is taken apart into its records without decoding it whole, and each record is decoded alone,
so memory is that of the file, not of its objects. Lines are read one by one. Both are gone over
twice: once for the keys, once for the rows.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Column, ColumnType, ReadAs, Source, Table, TableReading, TouchedRows
from kbd.formats.headings import unique_names
from kbd.formats.plain_rows import writing_plain_rows
from kbd.plaintext import Encoding, bounded_lines, detect, open_text
from kbd.sheets.stored_texts import ReadTexts, StoredTexts, read_texts
from kbd_text.json_arrays import ArrayShape, array_shape, as_record

__all__ = ["MAX_FILE_CHARS", "TABLE_SUFFIXES", "read_table"]

TABLE_SUFFIXES = (".json", ".jsonl", ".ndjson")
"""Suffixes of files that are tables."""

MAX_FILE_CHARS = 400 * 1024 * 1024
"""Of a list; lines have no such limit."""

MAX_RECORD_CHARS = 8 * 1024 * 1024
"""Of one line."""

_PIECE_CHARS = 1024 * 1024

MAX_KEYS = 16_384
"""Columns, as many as a worksheet has."""

_Scalar = str | int | float | bool | None

_VALUE = "value"
"""What the column of values that are no records is called."""

_MAX_TOUCHED = 10
_SAMPLE_CHARS = 80


class _Raws(msgspec.Struct):
    """Records of a file, each as its JSON text, and how they can be gone over again.

    With their shape if they are arrays.
    """

    again: Callable[[], Iterator[tuple[int, str | msgspec.Raw]]]
    details: dict[str, Any]
    shape: ArrayShape | None = None


class _Tally(msgspec.Struct):
    """What one pass over the records found.

    Args:
        kinds: Of each key the kinds of its values.
        rows: How many records there are.
        odd: The rows that are arrays of another length than the others, with the first one's text.
        zeros: How many zero characters were left out of texts.
        left_out: The lines that are no JSON, counted from 1, with the first one's text.
        texts: Of each key its texts, as long as they may be read as numbers.
        read: What these are read as.
    """

    kinds: dict[str, set[str]]
    rows: int = 0
    odd: list[int] = []
    odd_sample: str = ""
    zeros: int = 0
    left_out: list[int] = []
    sample: str = ""
    texts: dict[str, StoredTexts] = {}
    read: ReadTexts = ReadTexts({})


def read_table(source: Source, sheet: str | None, read_as: ReadAs, target: Path) -> Table:
    """Write the records in the plain form and describe them.

    Args:
        source: The file.
        sheet: The key of the list, in an object that has several.
        read_as: What was said of it; of JSON only the encoding can be said, and of arrays whether
            the first one has the names.
        target: Where to.

    Raises:
        FileReadFailed: It is no JSON.
        ValidationFailed: It holds no list of records, or several and none is named; or something
            was said that has no meaning here.
    """
    suffix = PurePosixPath(source.name).suffix.lower()
    if suffix not in TABLE_SUFFIXES:
        raise ValidationFailed(f"{source.name} is not a table; {', '.join(TABLE_SUFFIXES)} are")
    _check_said(source, read_as, ("delimiter", "header_sheet"))
    encoding = Encoding(read_as.encoding, 1.0) if read_as.encoding else detect(source.path)
    try:
        raws = (
            _list(source, sheet, encoding)
            if suffix == ".json"
            else _Raws(lambda: _lines(source, encoding), {})
        )
        raws.shape = array_shape(raws.again(), read_as.header_row)
        if raws.shape is None:
            _check_said(source, read_as, ("header_row",))
        tally = _write(source, raws, target, read_as)
    except LookupError:
        raise ValidationFailed(f"there is no encoding {read_as.encoding}") from None
    return _table(tally, raws, encoding, is_said=read_as.encoding is not None)


def _check_said(source: Source, read_as: ReadAs, names: Sequence[str]) -> None:
    """Refuse what was said and has no meaning here."""
    strange = [name for name in names if getattr(read_as, name) is not None]
    if strange:
        raise ValidationFailed(f"{source.name} is JSON, which has no {' and no '.join(strange)}")


def _list(source: Source, sheet: str | None, encoding: Encoding) -> _Raws:
    """Take a file's list of records apart."""
    text = _text_of(source, encoding)
    begins = text.lstrip("\ufeff \t\r\n")[:1]
    details: dict[str, Any] = {}
    try:
        if begins == "{":
            lists = _lists_of(text)
            named = _chosen(source, lists, sheet)
            details["records_at"] = named
            records = msgspec.json.decode(lists[named], type=list[msgspec.Raw])
        elif begins == "[" and sheet is None:
            records = msgspec.json.decode(text.lstrip("\ufeff"), type=list[msgspec.Raw])
        elif begins == "[":
            raise ValidationFailed(f"{source.name} is one list; it has no {str(sheet)[:80]}")
        else:
            raise ValidationFailed(f"{source.name} holds no list of records")
    except (msgspec.DecodeError, RecursionError) as error:
        raise FileReadFailed(f"{source.name} is no valid JSON: {error}") from None
    return _Raws(lambda: enumerate(records, 1), details)


def _text_of(source: Source, encoding: Encoding) -> str:
    """Return a file's text.

    Raises:
        FileReadFailed: It is too long.
    """
    pieces, count = [], 0
    with open_text(source.path, encoding) as file:
        # In pieces: Python takes memory for as much as is asked for, however short the file is.
        while piece := file.read(_PIECE_CHARS):
            pieces.append(piece)
            count += len(piece)
            if count > MAX_FILE_CHARS:
                raise FileReadFailed(
                    f"{source.name} has more than {MAX_FILE_CHARS:,} characters; "
                    "write a record a line"
                )
    return "".join(pieces)


def _lists_of(text: str) -> dict[str, msgspec.Raw]:
    """Return the lists of an object that hold records, by their keys."""
    members = msgspec.json.decode(text.lstrip("\ufeff"), type=dict[str, msgspec.Raw])
    return {
        key: raw for key, raw in members.items() if bytes(memoryview(raw)[:200]).split() != []
        and bytes(memoryview(raw)[:200]).translate(None, b" \t\r\n").startswith((b"[{", b"[]"))
    }  # fmt: skip


def _chosen(source: Source, lists: dict[str, msgspec.Raw], sheet: str | None) -> str:
    """Return the key of the list that is meant."""
    if sheet is not None and sheet in lists:
        return sheet
    named = ", ".join(key[:80] for key in list(lists)[:50])
    if sheet is not None:
        raise ValidationFailed(f"{source.name} has no list {sheet[:80]}; it has: {named or 'none'}")
    if not lists:
        raise ValidationFailed(f"{source.name} is an object without a list of records")
    if len(lists) > 1:
        raise ValidationFailed(f"{source.name} has several lists; name one of: {named}")
    return next(iter(lists))


def _lines(source: Source, encoding: Encoding) -> Iterator[tuple[int, str]]:
    """Yield the lines that are not blank, with their numbers."""
    number = 1
    with open_text(source.path, encoding) as file:
        for piece, ends in bounded_lines(file, MAX_RECORD_CHARS):
            if not ends:
                raise FileReadFailed(
                    f"line {number} of {source.name} has more than {MAX_RECORD_CHARS:,} characters"
                )
            if piece.strip("\ufeff \t\r\n"):
                yield number, piece.lstrip("\ufeff")
            number += 1


def _records(raws: _Raws, tally: _Tally) -> Iterator[dict[str, str]]:
    """Yield the records, each value as its JSON text; count the lines that are no JSON.

    What is no record is one with the value alone.
    """
    names = [_VALUE] if raws.shape is None else [*raws.shape.names]
    is_header = raws.shape is not None and raws.shape.has_header
    decoder = msgspec.json.Decoder(dict[str, msgspec.Raw] | list[msgspec.Raw] | _Scalar)
    for number, raw in raws.again():
        text = raw if isinstance(raw, str) else bytes(raw).decode()
        try:
            found = decoder.decode(text)
        except (msgspec.DecodeError, RecursionError):
            tally.sample = tally.sample or text.strip()[:_SAMPLE_CHARS]
            tally.left_out.append(number)
            continue
        if is_header:
            is_header = False
        elif isinstance(found, list) and raws.shape is not None:
            if len(found) != len(names):
                tally.odd_sample = tally.odd_sample or text.strip()[:_SAMPLE_CHARS]
                tally.odd.append(number)
            yield as_record(found, names)
        elif isinstance(found, dict) and raws.shape is None:
            yield {key: bytes(value).decode() for key, value in found.items()}
        else:
            yield {names[0]: text.strip()}


def _write(source: Source, raws: _Raws, target: Path, read_as: ReadAs) -> _Tally:
    """Write all records; what is found on the way is returned."""
    names = () if raws.shape is None else raws.shape.names
    tally = _Tally({name: set() for name in names})
    for record in _records(raws, tally):
        tally.rows += 1
        for key, value in record.items():
            kind = _kind(value)
            tally.kinds.setdefault(key, set()).add(kind)
            if kind == "text":
                _note_text(tally, key, value)
        if len(tally.kinds) > MAX_KEYS:
            raise FileReadFailed(f"{source.name} has records of more than {MAX_KEYS:,} keys")
    if tally.left_out and len(tally.left_out) > tally.rows:
        raise FileReadFailed(f"{source.name} is no list of records: most lines are no JSON")
    keys = list(tally.kinds)
    tally.read = _read_texts(tally, keys, read_as)
    plain = [tally.read.plain.get(place, {}) for place in range(len(keys))]
    ignored = _Tally({})
    with writing_plain_rows(target) as writer:
        if keys:
            writer.writerow(_column_names(keys))
        for record in _records(raws, ignored):
            writer.writerow(
                [
                    _field(record.get(key), tally, known)
                    for key, known in zip(keys, plain, strict=True)
                ]
            )
    return tally


def _note_text(tally: _Tally, key: str, text: str) -> None:
    """Note the text of the last record; lists and objects are nothing else."""
    texts = tally.texts.setdefault(key, StoredTexts())
    if texts.is_open:
        # An empty text is no value, as everywhere.
        value = msgspec.json.decode(text, type=str) if text[0] == '"' else text
        if value.strip():
            texts.add(tally.rows, value)


def _read_texts(tally: _Tally, keys: Sequence[str], read_as: ReadAs) -> ReadTexts:
    """Decide what texts among numbers are."""
    mixed = {
        place: texts
        for place, key in enumerate(keys)
        if (texts := tally.texts.get(key)) is not None
        and texts.is_open
        and texts.counts
        and _numbers(tally.kinds[key])
    }
    return read_texts(_column_names(keys), mixed, frozenset(mixed), read_as.decimal)


def _numbers(kinds: set[str]) -> bool:
    """Tell whether all values but texts are numbers, and some are."""
    others = kinds - {"", "text"}
    return bool(others) and others <= {"integer", "float"}


def _kind(text: str) -> str:
    """Name the kind of a value in JSON: "", boolean, integer, float or text."""
    match text[:1]:
        case "n":
            return ""
        case "t" | "f":
            return "boolean"
        case '"' | "{" | "[":
            return "text"
        case _:
            return "float" if any(mark in text for mark in ".eE") else "integer"


def _field(text: str | None, tally: _Tally, known: Mapping[str, str]) -> str:
    """Return a value in JSON as a field of the plain form: texts decoded, others as they are.

    Args:
        text: The value.
        tally: Counts what is left out of it.
        known: What texts of its column are read as; numbers are what they are.
    """
    if text is None or text == "null":
        return ""
    if text[0] != '"':
        return text
    value = msgspec.json.decode(text, type=str)
    if "\0" in value:
        tally.zeros += value.count("\0")
        value = value.replace("\0", "")
    return known.get(value, value)


def _type(tally: _Tally, place: int, kinds: set[str], unsure: Sequence[str]) -> ColumnType | None:
    """Return the type that JSON itself says; None where it says none, as for texts.

    Texts among numbers are numbers if they are read so, and texts while that is not known.
    """
    known = kinds - {""}
    if place in tally.read.plain:
        fields = "".join(tally.read.plain[place].values())
        known = (known - {"text"}) | ({"float"} if "." in fields else {"integer"})
    elif _column_names(tally.kinds)[place] in unsure:
        return "string"
    if known == {"boolean"}:
        return "boolean"
    if known == {"integer"}:
        return "integer"
    return "float" if known and known <= {"integer", "float"} else None


def _column_names(keys: Iterable[str]) -> list[str]:
    return unique_names(" ".join(key.replace("\0", "").split()) for key in keys)


def _table(tally: _Tally, raws: _Raws, encoding: Encoding, *, is_said: bool) -> Table:
    """Describe what was written."""
    warnings = list(encoding.warnings)
    left_out: tuple[TouchedRows, ...] = ()
    if tally.left_out:
        count = len(tally.left_out)
        rows = tuple(tally.left_out[:_MAX_TOUCHED])
        left_out = (TouchedRows("no valid JSON", count, rows, tally.sample),)
        listed = ", ".join(map(str, rows)) + (" …" if count > len(rows) else "")
        warnings.append(f"{count} line(s) are no valid JSON and were left out: {listed}.")
    if tally.zeros:
        warnings.append(f"{tally.zeros} zero character(s) were left out.")
    names, read = _column_names(tally.kinds), tally.read
    questions = () if read.question is None else (read.question,)
    shape, repaired = raws.shape, (*read.repaired, *_odd_rows(tally))
    if shape is not None and shape.question is not None:
        questions = (shape.question, *questions)
    unsure = [name for each in questions for name in each.columns]
    warnings += [f"{each.count} {each.what}: {each.sample!r} …" for each in repaired]
    warnings += [each.text for each in questions]
    is_asked = shape is not None and shape.question is not None
    columns = [
        # What is asked has no figures until it is answered.
        Column(name, "string" if is_asked else _type(tally, place, kinds, unsure))
        for place, (name, kinds) in enumerate(zip(names, tally.kinds.values(), strict=True))
    ]
    reading = TableReading(
        encoding=encoding.name,
        encoding_confidence=encoding.confidence,
        encoding_reason="said" if is_said else "",
        decimal=read.decimal,
        header_row=int(shape is not None and shape.has_header),
        left_out=left_out,
        repaired=repaired,
        questions=questions,
    )
    return Table(tuple(columns), tally.rows, reading, raws.details, tuple(warnings))


def _odd_rows(tally: _Tally) -> tuple[TouchedRows, ...]:
    """Return what is told of arrays that are shorter or longer than the others."""
    if not tally.odd:
        return ()
    rows = tuple(tally.odd[:_MAX_TOUCHED])
    what = "row(s) with another number of values"
    return (TouchedRows(what, len(tally.odd), rows, tally.odd_sample),)
