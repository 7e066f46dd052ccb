"""Gathers paragraphs and tables into sections, and these into chunks."""

import re

from kbd_odt.document import CHUNK_CHARS, Chunk, Section

__all__ = ["Sections"]

_LINE_BREAKS = re.compile(r"\s+")
_MOST_HEADING_CHARS = 500


class Sections:
    """The sections so far; a heading begins one, and text before the first heading is one, too."""

    def __init__(self) -> None:
        self.paragraph_count = 0
        self._done: list[Section] = []
        self._heading, self._level = "", 0
        self._chunks: list[Chunk] = []
        self._lines: list[str] = []
        self._length = 0
        self._first = self._last = 0
        self._table = -1
        self._tables = self._pictures = 0

    @property
    def index(self) -> int:
        """The index of the section that is being gathered."""
        return len(self._done)

    def paragraph(self, text: str, level: int) -> None:
        """Take in a paragraph; one with a level is a heading."""
        if level:
            self._close()
            self._heading = _LINE_BREAKS.sub(" ", text).strip()[:_MOST_HEADING_CHARS]
            self._level = level
        self.paragraph_count += 1
        self._add(f"{'#' * level} {text}" if level else text)
        self._first = self._first or self.paragraph_count
        self._last = self.paragraph_count

    def line(self, text: str) -> None:
        """Take in what is no paragraph and stands between them."""
        self._add(text)

    def table(self, index: int, rows: list[str], title: str) -> None:
        """Take in a table; a large one is parted between its rows."""
        for text in (title, *rows):
            self._add(text)
            self._table = index
        self._tables += 1

    def picture(self) -> None:
        """Count a picture of what was taken in last."""
        self._pictures += 1

    def closed(self) -> tuple[Section, ...]:
        """Return all sections; nothing may be taken in afterwards."""
        self._close()
        return tuple(self._done) or (Section("", 0, (Chunk("", 0, 0, -1),), 0, 0),)

    def _add(self, text: str) -> None:
        if self._lines and self._length + len(text) > CHUNK_CHARS:
            self._cut()
        self._lines.append(text)
        self._length += len(text) + 1

    def _cut(self) -> None:
        if self._lines:
            text = "\n".join(self._lines)
            self._chunks.append(Chunk(text, self._first, self._last, self._table))
        self._lines = []
        self._length = self._first = self._last = 0
        self._table = -1

    def _close(self) -> None:
        self._cut()
        has_text = any(chunk.text.strip() for chunk in self._chunks)
        # Blank lines before the first heading are no section, unless there is nothing else.
        if self._chunks and (self._level or has_text or self._pictures):
            self._done.append(
                Section(
                    self._heading, self._level, tuple(self._chunks), self._tables, self._pictures
                )
            )
        self._chunks = []
        self._heading, self._level = "", 0
        self._tables = self._pictures = 0
