"""The map of a text file; reading and passages are those of `kbd.plaintext`."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import msgspec

from kbd.formats import Passage, Source
from kbd.plaintext import TextFacts, line_chunks, line_passages, measure, open_text, read_lines

__all__ = ["passages", "read_lines", "text_map"]

MAX_JSON_CHARS = 32 * 1024 * 1024
"""Larger JSON is mapped by its lines only: parsing it would take some ten times as much memory."""

MAX_KEYS = 200
"""Keys that a map lists; `key_count` tells how many there are."""


def text_map(source: Source) -> dict[str, Any]:
    """Map a text file.

    Raises:
        FileReadFailed: It cannot be opened or is not text.
    """
    facts = measure(source)
    found: dict[str, Any] = {
        "line_count": facts.line_count,
        "char_count": facts.char_count,
        "encoding_detected": facts.encoding.name,
        "encoding_confidence": facts.encoding.confidence,
        "chunks": line_chunks(facts.line_count),
    }
    if facts.encoding.warnings:
        found["warnings"] = list(facts.encoding.warnings)
    if PurePosixPath(source.name).suffix.lower() == ".json" and facts.char_count <= MAX_JSON_CHARS:
        found.update(_json_hints(source, facts))
    return found


def passages(source: Source) -> Iterator[Passage]:
    """Yield the text in pieces of up to 200 lines; raises FileReadFailed if it is not text."""
    return line_passages(source)


def _json_hints(source: Source, facts: TextFacts) -> dict[str, Any]:
    """Tell what stands at the top of a JSON file, or that it is not valid."""
    with open_text(source.path, facts.encoding) as file:
        text = file.read()
    try:
        top = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError) as error:
        return {"json_error": str(error)}
    if isinstance(top, dict):
        return {"top_level": "object", "key_count": len(top), "keys": list(top)[:MAX_KEYS]}
    if not isinstance(top, list):
        return {}
    first = top[0] if top else None
    keys = list(first)[:MAX_KEYS] if isinstance(first, dict) else []
    return {"top_level": "array", "item_count": len(top), "keys": keys}
