"""A text replaced in cells: in those that are asked for alone, whoever shares their texts.

A text of one look is written into its cell. One of several looks keeps its runs: a hit gets the
look of its first sign, as in documents.
"""

import re
from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import quoteattr

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_name
from kbd.sheets.areas import Area, cell_name
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.cells import CellWriter
from kbd_xlsx.edits.ranges.places import WHOLE, note_formula, opened_blocks, put_cells
from kbd_xlsx.operations import ReplaceCellText
from kbd_xlsx.parts.cell_blocks import CellBlocks, LooseCell
from kbd_xlsx.parts.cells import Content, escaped, inner_xml
from kbd_xlsx.parts.markup import with_attributes
from kbd_xlsx.parts.shared_items import SharedItems, inline_item
from kbd_xlsx.reader.fallback_parser import without_escapes
from kbd_xlsx.values import checked_formula, stored_text

__all__ = ["item_runs", "replace_text", "rich_inner", "runs_with_hits"]

_PRESERVED = "{http://www.w3.org/XML/1998/namespace}space"
_SPACE = " \t\r\n"
Run = tuple[str, Any]
"""A text and the element of its look, None for none."""


def replace_text(book: BookEdit, writer: CellWriter, operation: ReplaceCellText) -> str:
    """Replace a text and say how often, and where.

    Raises:
        ValidationFailed: A text becomes one that its cell cannot hold, or a formula is malformed.
    """
    titles = [book.title(operation.sheet)] if operation.sheet else [t for t, _ in book.worksheets()]
    book.flush()
    shared = SharedItems(book.rewriting, book.main)
    hits, places = 0, []
    for title in titles:
        replacer = _Replacer(book, title, shared, operation)
        found, cells = replacer.replace(writer)
        hits += found
        places += [f"{title}!{cell_name(*place)}" for place in cells]
    if not hits:
        book.notices.warn(f"replace_text: {operation.search!r} was not found.")
    shown = ", ".join(places[:10]) + (f" and {len(places) - 10} more" if len(places) > 10 else "")
    return f"{hits} replaced in {len(places)} cells{': ' * bool(places)}{shown}"


class _Replacer:
    """Replaces a text in one sheet.

    Args:
        book: The workbook.
        title: The sheet's title.
        shared: The texts that cells share.
        operation: What is replaced.
    """

    def __init__(
        self, book: BookEdit, title: str, shared: SharedItems, operation: ReplaceCellText
    ) -> None:
        self._book, self._title, self._shared = book, title, shared
        self._operation = operation
        flags = re.NOFLAG if operation.match_case else re.IGNORECASE
        self._pattern = re.compile(re.escape(operation.search), flags)
        self._known: dict[str, int] = {}

    def replace(self, writer: CellWriter) -> tuple[int, list[tuple[int, int]]]:
        """Return how many hits there were, and in which cells."""
        title, blocks = opened_blocks(self._book, self._title)
        hits = 0
        new: dict[int, dict[int, LooseCell | None]] = {}
        places: list[tuple[int, int]] = []
        for row, cells in blocks.cells(WHOLE).items():
            for column, cell in cells.items():
                found, made = self._replaced(writer, blocks, cell, (row, column))
                if found:
                    hits += found
                    places.append((row, column))
                    new.setdefault(row, {})[column] = made
        if new:
            areas = [Area(row, column, row, column) for row, column in places]
            put_cells(self._book, title, blocks, new, areas)
        return hits, places

    def _replaced(
        self, writer: CellWriter, blocks: CellBlocks, cell: LooseCell, place: tuple[int, int]
    ) -> tuple[int, LooseCell]:
        formula = blocks.formula(cell) if b"f" in cell.inner else None
        if formula is not None:
            return self._in_formula(blocks, cell, formula, place)
        runs = self._runs(blocks, cell)
        hits = self._hits("".join(text for text, _ in runs))
        if not hits:
            return 0, cell
        name = f"{self._title}!{cell_name(*place)}"
        new = self._operation.replace
        runs = runs_with_hits(runs, [(start, end, new) for start, end in hits])
        text = "".join(piece for piece, _ in runs)
        writer.check_header(self._title, place, Content("text", text))
        stored = stored_text(text, name)
        attributes = with_attributes(cell.attributes, {b"t": b"inlineStr"})
        if not text:
            return len(hits), LooseCell(with_attributes(cell.attributes, {b"t": None}), b"")
        if any(look is not None for _, look in runs):
            inner = rich_inner(runs, blocks.prefix, name).encode()
        else:
            inner = inner_xml(blocks.prefix, Content("text", stored)).encode()
        return len(hits), LooseCell(attributes, inner)

    def _runs(self, blocks: CellBlocks, cell: LooseCell) -> list[Run]:
        """Return the text of a cell without a formula, none where it is no text."""
        match cell.kind:
            case "s":
                number = blocks.value(cell)
                count = self._known.get(number)
                if count is None:
                    count = self._known[number] = len(self._hits(self._shared.text(number)))
                item = self._shared.element(number) if count else None
            case "inlineStr":
                item = inline_item(cell.inner, blocks.prefix)
            case "str":
                # Of a formula's kind, and without one: some programs write all texts so.
                return [(without_escapes(blocks.value(cell)), None)]
            case _:
                return []
        return [] if item is None else item_runs(item)

    def _in_formula(
        self, blocks: CellBlocks, cell: LooseCell, text: str, place: tuple[int, int]
    ) -> tuple[int, LooseCell]:
        hits = self._hits(text) if self._operation.in_formulas else []
        if not hits:
            return 0, cell
        name = f"{self._title}!{cell_name(*place)}"
        if blocks.groups.areas and any(
            area.area.top <= place[0] <= area.area.bottom
            and area.area.left <= place[1] <= area.area.right
            for area in blocks.groups.areas
        ):
            raise ValidationFailed(
                f"{name} is of an array formula or a data table, which replace_text cannot change"
            )
        changed = _with_hits(text, hits, self._operation.replace)
        formula = checked_formula(changed, name)
        note_formula(self._book, self._title, place, formula)
        return len(hits), blocks.without_result(blocks.with_formula(cell, formula))

    def _hits(self, text: str) -> list[tuple[int, int]]:
        if self._operation.whole_cell:
            whole = self._pattern.fullmatch(text)
            return [whole.span()] if whole else []
        return [found.span() for found in self._pattern.finditer(text)]


def _with_hits(text: str, hits: Sequence[tuple[int, int]], new: str) -> str:
    pieces: list[str] = []
    place = 0
    for start, end in hits:
        pieces += (text[place:start], new)
        place = end
    return "".join((*pieces, text[place:]))


def item_runs(item: etree._Element) -> list[Run]:
    """Return the texts of an item with their looks; phonetic guides go with a changed text."""
    found: list[Run] = []
    for part in item.iterfind("*"):
        name = local_name(part)
        look = part.find("{*}rPr") if name == "r" else None
        pieces = [part] if name == "t" else list(part.iterfind("{*}t")) if name == "r" else []
        for piece in pieces:
            text = piece.text or ""
            if piece.get(_PRESERVED) != "preserve":
                text = text.strip(_SPACE)
            found.append((without_escapes(text), look))
    return found


def runs_with_hits(runs: Sequence[Run], hits: Sequence[tuple[int, int, str]]) -> list[Run]:
    """Return runs with each hit replaced in the run where it begins.

    Args:
        runs: The runs.
        hits: Where each begins and ends in the text of all, and what takes its place.
    """
    found: list[Run] = []
    place = 0
    for text, look in runs:
        end = place + len(text)
        pieces, at = [], place
        for start, stop, new in hits:
            if stop <= place or start >= end:
                continue
            pieces.append(text[at - place : max(start, place) - place])
            if start >= place:
                pieces.append(new)
            at = min(stop, end)
        pieces.append(text[at - place :])
        if written := "".join(pieces):
            found.append((written, look))
        place = end
    return found


def rich_inner(runs: Sequence[Run], prefix: str, place: str) -> str:
    """Return the element of a text in runs, as a cell holds it."""
    pieces = []
    for text, look in runs:
        stored = escaped(stored_text(text, place))
        shown = "" if look is None else _written(look, prefix)
        pieces.append(
            f'<{prefix}r>{shown}<{prefix}t xml:space="preserve">{stored}</{prefix}t></{prefix}r>'
        )
    return f"<{prefix}is>{''.join(pieces)}</{prefix}is>"


def _written(element: etree._Element, prefix: str) -> str:
    """Return an element of the main namespace with another prefix."""
    name = f"{prefix}{local_name(element)}"
    attributes = "".join(
        f" {key!s}={quoteattr(str(value))}"
        for key, value in element.attrib.items()
        if not str(key).startswith("{")
    )
    inner = "".join(_written(child, prefix) for child in element if isinstance(child.tag, str))
    return f"<{name}{attributes}>{inner}</{name}>" if inner else f"<{name}{attributes}/>"
