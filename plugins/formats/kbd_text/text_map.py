"""Map of a text file, with hints where it is JSON or rows; reading is that of `kbd.plaintext`.

Hints come from the name and the beginning of a text, and cost little: JSON is parsed whole only up
to a size, of all else the first lines are looked at.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import Any

import msgspec

from kbd.formats import Passage, Source
from kbd.plaintext import bounded_lines, open_text
from kbd.plaintext.lines import TextFacts, line_chunks, line_passages, measure, read_lines

__all__ = [
    "MAX_CHUNKS",
    "MAX_JSON_CHARS",
    "MAX_KEYS",
    "hints",
    "passages",
    "read_lines",
    "text_map",
]

MAX_JSON_CHARS = 32 * 1024 * 1024
"""Of larger JSON only the top level is given: parsing takes some ten times as much memory."""

MAX_KEYS = 200
"""Keys that a map lists; `key_count` is the number of all."""

MAX_RECORD_CHARS = 1024 * 1024
"""Of one line that holds a record."""

_JSON = (".json", ".geojson", ".har", ".ipynb")
_RECORDS = (".jsonl", ".ndjson")
_ROWS = ("", ".txt", ".text", ".log", ".out")
"""Suffixes of files that may be tables without saying so."""

_SAMPLE_LINES = 50
_MIN_LINES = 3
_SAMPLE_CHARS = 2_000
_DELIMITERS = "\t;|,"
_NUMBER = re.compile(r"\s*[-+]?[\d.,:/ -]*\d\s*%?\s*")


def hints(source: Source, facts: TextFacts) -> dict[str, Any]:
    """Return the hints of a map: the top level of JSON, or the columns of rows; {} for none."""
    suffix = PurePosixPath(source.name).suffix.lower()
    if suffix in _JSON:
        return _of_json(source, facts)
    if suffix in _RECORDS:
        return _of_records(source, facts)
    return _of_rows(source, facts) if suffix in _ROWS else {}


def _of_json(source: Source, facts: TextFacts) -> dict[str, Any]:
    """Tell what stands at the top of a JSON file, or that it is not valid."""
    with open_text(source.path, facts.encoding) as file:
        if facts.char_count > MAX_JSON_CHARS:
            begun = file.read(MAX_RECORD_CHARS).lstrip()[:1]
            top_level = {"{": "object", "[": "array"}.get(begun)
            return {"top_level": top_level} if top_level else {}
        text = file.read()
    try:
        top = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        return {"json_error": str(error)}
    if isinstance(top, dict):
        return {"top_level": "object", "key_count": len(top), "keys": list(top)[:MAX_KEYS]}
    if not isinstance(top, list):
        return {}
    return {"top_level": "array", "item_count": len(top), "keys": _keys(top[0] if top else None)}


def _of_records(source: Source, facts: TextFacts) -> dict[str, Any]:
    """Tell the keys of the first record of a file that has one a line."""
    with open_text(source.path, facts.encoding) as file:
        first = next((line for line in _lines(file, MAX_RECORD_CHARS) if line.strip()), "")
    if not first:
        return {}
    try:
        record = msgspec.json.decode(first)
    except (msgspec.DecodeError, RecursionError) as error:
        return {"json_error": f"The first line is no record: {error}"}
    return {"top_level": "lines", "keys": _keys(record)}


def _keys(value: object) -> list[str]:
    return [str(key) for key in islice(value, MAX_KEYS)] if isinstance(value, dict) else []


def _of_rows(source: Source, facts: TextFacts) -> dict[str, Any]:
    """Tell the delimiter and the columns of a text whose first lines all have as many fields."""
    with open_text(source.path, facts.encoding) as file:
        sample = list(islice(_lines(file, _SAMPLE_CHARS), _SAMPLE_LINES))
    sample = [line for line in sample if line.strip()]
    if len(sample) < _MIN_LINES or any(len(line) >= _SAMPLE_CHARS for line in sample):
        return {}
    for delimiter in _DELIMITERS:
        try:
            rows = list(csv.reader(sample, delimiter=delimiter))
        except csv.Error:
            continue
        widths = {len(row) for row in rows}
        if len(widths) == 1 and widths != {1} and len(rows) >= _MIN_LINES:
            return {
                "looks_like": "table",
                "delimiter": delimiter,
                "column_count": len(rows[0]),
                "columns": _header(rows[0]),
            }
    return {}


def _header(first: Sequence[str]) -> list[str]:
    """Return the names of columns if the first row can be names: all filled, none a number."""
    names = [field.strip() for field in first]
    is_header = all(names) and not any(_NUMBER.fullmatch(name) for name in names)
    return names if is_header and len(set(names)) == len(names) else []


def _lines(file: io.TextIOWrapper, limit: int) -> Iterator[str]:
    """Yield lines, of each as much as the limit lets through."""
    begins = True
    for piece, ends in bounded_lines(file, limit):
        if begins:
            yield piece
        begins = ends


MAX_CHUNKS = 500
"""Chunks that a map lists, that is 100,000 lines; `chunk_count` is the number of all."""


def text_map(source: Source) -> dict[str, Any]:
    """Map a text file.

    Raises:
        FileReadFailed: It cannot be opened or is not text.
    """
    facts = measure(source)
    chunks = line_chunks(facts.line_count)
    found: dict[str, Any] = {
        "line_count": facts.line_count,
        "char_count": facts.char_count,
        "encoding_detected": facts.encoding.name,
        "encoding_confidence": facts.encoding.confidence,
        "encoding_reason": facts.encoding.reason,
        "chunks": chunks[:MAX_CHUNKS],
    }
    if len(chunks) > MAX_CHUNKS:
        found["chunk_count"] = len(chunks)
    if facts.encoding.warnings:
        found["warnings"] = list(facts.encoding.warnings)
    return found | hints(source, facts)


def passages(source: Source) -> Iterator[Passage]:
    """Yield the text in pieces of up to 200 lines; raises FileReadFailed if it is not text."""
    return line_passages(source)
