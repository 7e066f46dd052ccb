"""Renderer of text: of paragraphs, tables, notes, headers and what is drawn among them.

A paragraph is a line. What a person would see as something else than text stands in brackets:
[image: alt text], [footnote 1: …]; what a person would not see is labeled, [hidden: …], what may
not be seen [maybe hidden: …]. Blanks
that stand in a row in the file are one; `text:s` stands for more. OpenDocument 1.3, part 3, 6.

Tables become rows of texts; repeats of cells and rows are attributes and may be huge.
"""

import re
from collections.abc import Callable, Iterator
from itertools import groupby

import msgspec
from lxml import etree

from kbd.office.open_document import DRAW, OFFICE, SVG, TABLE, TEXT, XLINK, count
from kbd.office.open_text.styles import ListNumbering, OpenStyles
from kbd.office.paint import Verdict

__all__ = ["BLOCKS", "WRAPPERS", "Drawn", "OpenGrid", "OpenNotices", "OpenTextRenderer", "grid"]

_MAX_ROWS = 1_048_576
_MAX_COLUMNS = 16_384

_CELLS = (f"{TABLE}table-cell", f"{TABLE}covered-table-cell")
_HEADER = f"{TABLE}table-header-rows"
_GROUPS = (_HEADER, f"{TABLE}table-rows", f"{TABLE}table-row-group")


class OpenGrid(msgspec.Struct, frozen=True):
    """A table: what it says of its size, whether its first row is a header, and its texts."""

    row_count: int
    column_count: int
    has_header: bool
    rows: tuple[tuple[str, ...], ...]


def grid(
    element: etree._Element,
    cell_text: Callable[[etree._Element], str],
    expansion: Callable[[int, int], int],
) -> OpenGrid:
    """Return a table.

    Args:
        element: The table.
        cell_text: Gives the text of a cell in one line.
        expansion: Tells how many repeats of a length are to be shown, of so many.
    """
    rows: list[tuple[str, ...]] = []
    row_count = column_count = 0
    has_header = False
    for row, is_header in _rows(element, is_header=False):
        has_header = has_header or (is_header and not row_count)
        repeats = count(row.get(f"{TABLE}number-rows-repeated"), _MAX_ROWS)
        texts, width = _row(row, cell_text, expansion)
        row_count = min(row_count + repeats, _MAX_ROWS)
        column_count = max(column_count, width)
        length = sum(map(len, texts))
        # A blank row may be repeated a million times: one stands for all.
        shown = expansion(length, repeats) if length else 1
        rows += [texts] * shown
    return OpenGrid(row_count, column_count, has_header, tuple(rows))


def _rows(element: etree._Element, *, is_header: bool) -> Iterator[tuple[etree._Element, bool]]:
    """Yield the rows of a table, those in groups as well, each with whether it is of the header."""
    # A stack of its own: a file decides how deep groups of rows are nested.
    pending = [(iter(element), is_header)]
    while pending:
        children, inside = pending[-1]
        child = next(children, None)
        if child is None:
            pending.pop()
        elif child.tag == f"{TABLE}table-row":
            yield child, inside
        elif child.tag in _GROUPS:
            pending.append((iter(child), inside or child.tag == _HEADER))


def _row(
    row: etree._Element,
    cell_text: Callable[[etree._Element], str],
    expansion: Callable[[int, int], int],
) -> tuple[tuple[str, ...], int]:
    """Return the texts of a row, without blank ones at its end, and how wide it is."""
    texts: list[str] = []
    blanks = width = 0
    for cell in row.iterchildren(*_CELLS):
        repeats = count(cell.get(f"{TABLE}number-columns-repeated"), _MAX_COLUMNS)
        width = min(width + repeats, _MAX_COLUMNS)
        text = cell_text(cell)
        if not text:
            blanks += repeats
            continue
        # Only now that a text follows: rows may end in thousands of blank cells.
        texts += [""] * (expansion(1, blanks) if blanks else 0)
        blanks = 0
        texts += [text] * expansion(len(text), repeats)
    return tuple(texts), width


_BLANKS = re.compile(r"[ \t\r\n]+")
_MAX_BLANKS, _MAX_REPEATS = 1_000, 64
"""Of one element; of a cell or a row."""
_MAX_DEPTH = 60
"""How many elements may hold one another before what is deeper is taken as plain text."""
_EXPANDED_CHARS = 1_000_000
"""How many characters repeats of blanks, cells and rows may come to in a document."""

_PARAGRAPHS = (f"{TEXT}p", f"{TEXT}h")
BLOCKS = (*_PARAGRAPHS, f"{TABLE}table")
WRAPPERS = frozenset(
    f"{TEXT}{name}"
    for name in (
        "section", "list", "list-item", "list-header", "index-body", "index-title",
        "table-of-content", "illustration-index", "table-index", "object-index", "user-index",
        "alphabetical-index", "bibliography", "numbered-paragraph",
    )
)  # fmt: skip
"""Elements that hold paragraphs and tables and are none."""

_SKIPPED = frozenset(
    (
        f"{SVG}title", f"{SVG}desc", f"{TEXT}script", f"{OFFICE}annotation-end",
        f"{OFFICE}event-listeners", f"{OFFICE}forms", f"{TEXT}tracked-changes",
        f"{DRAW}control", f"{DRAW}glue-point", f"{DRAW}image-map", f"{DRAW}enhanced-geometry",
    )
)  # fmt: skip

Drawn = tuple[str, str, str]
"""A picture: name, alt text, file."""


class _Line:
    """Text of a paragraph while it is put together."""

    def __init__(self) -> None:
        self.pieces: list[str] = []
        self.is_hidden = False
        # Whether what is added is seen for its look, and the places of pieces that are not.
        self.verdict: Verdict = ""
        self.unseen: dict[int, Verdict] = {}
        # Blanks at the beginning of a paragraph are not shown, just as those behind a blank.
        self._after_blank = True

    def add_flowing(self, text: str | None) -> None:
        """Add text as it stands in the file; blanks in a row become one (part 3, 6.1.2)."""
        if not text:
            return
        shown = _BLANKS.sub(" ", text)
        if self._after_blank and shown.startswith(" "):
            shown = shown[1:]
        if shown:
            if self.verdict:
                self.unseen[len(self.pieces)] = self.verdict
            self.pieces.append(shown)
            self._after_blank = shown.endswith(" ")

    def add(self, text: str) -> None:
        """Add text as it is."""
        if text:
            self.pieces.append(text)
            self._after_blank = False


class OpenNotices(msgspec.Struct):
    """Counts of what a text shows with a label, or does not show."""

    insertions: int = 0
    deletions: int = 0
    hidden: int = 0
    doubtful: int = 0
    comments: int = 0
    footnotes: int = 0
    endnotes: int = 0
    shortened: int = 0


class OpenTextRenderer:
    """Renders the contents of one text; `drawn` collects its pictures until they are taken."""

    def __init__(self, styles: OpenStyles, notices: OpenNotices) -> None:
        self._styles, self._notices = styles, notices
        self._left_chars = _EXPANDED_CHARS
        self.drawn: list[Drawn] = []
        handlers: dict[str, Callable[[etree._Element, _Line, int], None]] = {
            f"{TEXT}span": self._span,
            f"{TEXT}s": self._blanks,
            f"{TEXT}tab": lambda _, line, __: line.add("\t"),
            f"{TEXT}line-break": lambda _, line, __: line.add("\n"),
            f"{TEXT}note": self._note,
            f"{TEXT}ruby-text": self._ruby,
            f"{TEXT}hidden-text": self._hidden_text,
            f"{TEXT}hidden-paragraph": self._hidden_paragraph,
            f"{OFFICE}annotation": self._comment,
            f"{DRAW}frame": self._frame,
            f"{DRAW}g": self._render_children,
            f"{DRAW}a": self._render_children,
        }
        self._handlers = handlers

    def paragraph(self, element: etree._Element, depth: int = 0) -> str:
        """Return a paragraph or a heading as text."""
        line = _Line()
        line.verdict = self._styles.verdict(element)
        self._render_inline(element, line, depth)
        text = self._joined(line).rstrip(" ")
        hides = self._styles.is_hidden("paragraph", element.get(f"{TEXT}style-name"))
        return self.hidden(text) if text and (hides or line.is_hidden) else text

    def _joined(self, line: _Line) -> str:
        """Return the text of a paragraph, what is not seen for its look with labels."""
        if not line.unseen:
            return "".join(line.pieces)
        parts = []
        for verdict, pieces in groupby(
            enumerate(line.pieces), lambda each: line.unseen.get(each[0], "")
        ):
            text = "".join(piece for _, piece in pieces)
            if not verdict or not text.strip():
                parts.append(text)
            elif verdict == "maybe hidden":
                self._notices.doubtful += 1
                parts.append(f"[maybe hidden: {text}]")
            else:
                parts.append(self.hidden(text))
        return "".join(parts)

    def hidden(self, text: str) -> str:
        """Label a text that people would not see."""
        self._notices.hidden += 1
        return f"[hidden: {text}]"

    def other(self, element: etree._Element) -> str:
        """Return the text of a shape that stands between paragraphs, "" if it has none."""
        line = _Line()
        self._render_element(element, line, 0)
        return "".join(line.pieces).strip()

    def table(self, element: etree._Element, depth: int = 0) -> OpenGrid:
        """Return a table with the text of its cells, each in one line."""
        return grid(element, lambda cell: self._short(cell, depth), self._expansion)

    def _expansion(self, length: int, times: int, most: int = _MAX_REPEATS) -> int:
        """Return how many of so many repeats of a length are shown; at least one is."""
        allowed = max(1, min(times, most, self._left_chars // max(length, 1)))
        # The first one stands in the file itself, and costs nothing.
        self._left_chars -= (allowed - 1) * max(length, 1)
        if allowed < times:
            self._notices.shortened += 1
        return allowed

    def text(self, parent: etree._Element, depth: int = 0) -> str:
        """Return the text of all that stands in a header, a note, a cell or a text box."""
        return "\n".join(self._lines(parent, ListNumbering(self._styles), depth))

    def _short(self, parent: etree._Element, depth: int) -> str:
        return " / ".join(line for line in self.text(parent, depth).split("\n") if line.strip())

    def _lines(self, parent: etree._Element, lists: ListNumbering, depth: int) -> Iterator[str]:
        # Deeper nesting would end in a RecursionError: elements may hold one another without end.
        if depth > _MAX_DEPTH:
            yield _BLANKS.sub(" ", "".join(map(str, parent.itertext()))).strip()
            return
        for child in parent:
            tag = child.tag
            if tag in _PARAGRAPHS:
                yield lists.label() + self.paragraph(child, depth + 1)
            elif tag == f"{TABLE}table":
                yield from (" | ".join(row) for row in self.table(child, depth + 1).rows)
            elif tag in WRAPPERS:
                is_list = tag == f"{TEXT}list"
                if is_list:
                    lists.open_list(child)
                elif tag in (f"{TEXT}list-item", f"{TEXT}list-header"):
                    lists.begin_item(child)
                yield from self._lines(child, lists, depth + 1)
                if is_list:
                    lists.close_list()
            elif isinstance(tag, str) and tag.startswith(DRAW):
                line = _Line()
                self._render_element(child, line, depth + 1)
                yield "".join(line.pieces)

    def _render_inline(self, element: etree._Element, line: _Line, depth: int) -> None:
        line.add_flowing(element.text)
        for child in element:
            if isinstance(child.tag, str):
                self._render_element(child, line, depth + 1)
            # What follows a comment in the XML is text of the paragraph all the same.
            line.add_flowing(child.tail)

    def _render_element(self, element: etree._Element, line: _Line, depth: int) -> None:
        tag = str(element.tag)
        if tag in _SKIPPED:
            return
        if depth > _MAX_DEPTH:
            line.add_flowing("".join(map(str, element.itertext())))
            return
        handler = self._handlers.get(tag)
        if handler is not None:
            handler(element, line, depth)
        elif tag.startswith(DRAW):
            self._shape(element, line, depth)
        else:
            self._render_inline(element, line, depth)

    def _render_children(self, element: etree._Element, line: _Line, depth: int) -> None:
        for child in element:
            if isinstance(child.tag, str):
                self._render_element(child, line, depth + 1)

    def _span(self, element: etree._Element, line: _Line, depth: int) -> None:
        if not self._styles.is_hidden("text", element.get(f"{TEXT}style-name")):
            around = line.verdict
            line.verdict = self._styles.verdict(element)
            self._render_inline(element, line, depth)
            line.verdict = around
            return
        inner = _Line()
        self._render_inline(element, inner, depth)
        if inner.pieces:
            line.add(self.hidden("".join(inner.pieces)))

    def _blanks(self, element: etree._Element, line: _Line, depth: int) -> None:
        del depth
        repeats = count(element.get(f"{TEXT}c"), 1 << 31)
        line.add(" " * self._expansion(1, repeats, _MAX_BLANKS))

    def _ruby(self, element: etree._Element, line: _Line, depth: int) -> None:
        line.add("(")
        self._render_inline(element, line, depth)
        line.add(")")

    def _hidden_text(self, element: etree._Element, line: _Line, depth: int) -> None:
        if element.get(f"{TEXT}is-hidden") == "true":
            line.add(self.hidden(element.get(f"{TEXT}string-value", "")))
        else:
            self._render_inline(element, line, depth)

    def _hidden_paragraph(self, element: etree._Element, line: _Line, depth: int) -> None:
        line.is_hidden = line.is_hidden or element.get(f"{TEXT}is-hidden") == "true"
        self._render_inline(element, line, depth)

    def _note(self, element: etree._Element, line: _Line, depth: int) -> None:
        kind = "endnote" if element.get(f"{TEXT}note-class") == "endnote" else "footnote"
        if kind == "endnote":
            self._notices.endnotes += 1
        else:
            self._notices.footnotes += 1
        cited = element.findtext(f"{TEXT}note-citation", "").strip()
        body = element.find(f"{TEXT}note-body")
        text = "" if body is None else self._short(body, depth + 1)
        line.add(f"[{kind}{f' {cited}' if cited else ''}: {text}]")

    def _comment(self, element: etree._Element, line: _Line, depth: int) -> None:
        self._notices.comments += 1
        author = element.findtext("{*}creator", "").strip()
        text = self._short(element, depth + 1)
        line.add(f"[comment{f' by {author}' if author else ''}: {text}]")

    def _frame(self, element: etree._Element, line: _Line, depth: int) -> None:
        for child in element:
            if child.tag == f"{DRAW}text-box":
                self._box(child, line, depth)
                return
            if child.tag == f"{TABLE}table":
                rows = self.table(child, depth + 1).rows
                line.add(f"[table: {' / '.join(' | '.join(row) for row in rows)}]")
                return
            if isinstance(child.tag, str) and child.tag not in _SKIPPED:
                # What follows is shown where this cannot be.
                is_image = child.tag == f"{DRAW}image"
                self._picture(element, "image" if is_image else "object", child, line)
                return

    def _picture(
        self, frame: etree._Element, kind: str, content: etree._Element, line: _Line
    ) -> None:
        alt = _alt_text(frame)
        file = content.get(f"{XLINK}href", "").removeprefix("./")
        self.drawn.append((frame.get(f"{DRAW}name", ""), alt, file))
        line.add(f"[{kind}: {alt}]" if alt else f"[{kind}]")

    def _shape(self, element: etree._Element, line: _Line, depth: int) -> None:
        if any(child.tag in _PARAGRAPHS or child.tag in WRAPPERS for child in element):
            self._box(element, line, depth)
        elif alt := _alt_text(element):
            line.add(f"[drawing: {alt}]")

    def _box(self, element: etree._Element, line: _Line, depth: int) -> None:
        text = self._short(element, depth + 1)
        if text:
            line.add(f"[text box: {text}]")


def _alt_text(element: etree._Element) -> str:
    """Return what the author says that a shape shows: the description, else the title."""
    for name in ("desc", "title"):
        text = _BLANKS.sub(" ", element.findtext(f"{SVG}{name}", "")).strip()
        if text:
            return text
    return ""
