"""The map of a text file; reading and passages are those of `kbd.plaintext`."""

from collections.abc import Iterator
from typing import Any

from kbd.formats import Passage, Source
from kbd.plaintext import line_chunks, line_passages, measure, read_lines
from kbd_text.hints import hints

__all__ = ["MAX_CHUNKS", "passages", "read_lines", "text_map"]

MAX_CHUNKS = 500
"""Chunks that a map lists, that is 100,000 lines; `chunk_count` tells how many there are."""


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
