"""Placeholders of a workbook filled: in cells, headers and footers, drawings and titles of charts.

A cell that is nothing but a placeholder gets the value, as a number, a date or a boolean if it is
one; in a longer text the value is written out, in the look of its placeholder's beginning.
"""

import re
from collections.abc import Mapping
from itertools import zip_longest

import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import Source
from kbd.office.operations import listed
from kbd.office.templates import (
    Filled,
    ListRecord,
    PlaceholderHit,
    TemplateAnswers,
    find_placeholders,
    list_records,
)
from kbd.sheets.areas import Area, cell_name
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.edits.cells import CellWriter
from kbd_xlsx.edits.images import put_picture
from kbd_xlsx.edits.ranges.places import WHOLE, opened_blocks, put_cells
from kbd_xlsx.edits.ranges.replacement import item_runs, rich_inner, runs_with_hits
from kbd_xlsx.edits.templates.repeated_rows import repeat_group
from kbd_xlsx.edits.templates.row_readers import (
    RowGroup,
    SheetFormulas,
    check_formulas,
    warn_of_readers,
)
from kbd_xlsx.operations import BookTemplateList, FillBookTemplate, TypedValue
from kbd_xlsx.parts.cell_blocks import CellBlocks, LooseCell
from kbd_xlsx.parts.cells import Content, escaped, inner_xml
from kbd_xlsx.parts.markup import plain, with_attributes
from kbd_xlsx.parts.shared_items import SharedItems, inline_item
from kbd_xlsx.reader.fallback_parser import text_of_item
from kbd_xlsx.values import stored_text

__all__ = ["fill_template"]

_Place = tuple[int, int]


def fill_template(
    book: BookEdit, writer: CellWriter, operation: FillBookTemplate, files: Mapping[str, Source]
) -> str:
    """Fill the placeholders of a workbook.

    Raises:
        ValidationFailed: A placeholder has no value and none may be missing, a list is asked for
            where no row is repeated, a formula would read the wrong rows, or there is nothing to
            be filled.
        FileReadFailed: A picture cannot be read.
    """
    filler = _BookFiller(book, writer, operation, files)
    records = filler.repeat()
    for title, _ in book.worksheets():
        filler.fill(title, records.get(title, {}))
    filler.fill_drawings()
    filler.answers.check(filler.count, book.notices.warn, "workbook")
    filler.draw()
    return filler.answers.told(filler.count)


class _Asking(msgspec.Struct, frozen=True):
    """A cell whose text has placeholders."""

    cell: LooseCell
    text: str
    hits: list[PlaceholderHit]


class _BookFiller:
    """Filler of one workbook.

    Args:
        book: The workbook.
        writer: Sets its cells.
        operation: The values.
        files: The pictures, by their paths.

    Attributes:
        answers: What placeholders are filled with.
        count: How many were filled so far.
    """

    def __init__(
        self,
        book: BookEdit,
        writer: CellWriter,
        operation: FillBookTemplate,
        files: Mapping[str, Source],
    ) -> None:
        self._book, self._writer, self._files = book, writer, files
        self.answers: TemplateAnswers[TypedValue] = TemplateAnswers(
            {each.name: TypedValue(each.value, each.type) for each in operation.values},
            {
                each.name: list_records(each.name, each.columns, _typed_rows(each))
                for each in operation.lists
            },
            {each.name: each.image for each in operation.pictures},
            operation.missing,
        )
        self.count = 0
        book.flush()
        self._shared = SharedItems(book.rewriting, book.main)
        self._pictures: list[tuple[str, _Place, str]] = []

    def repeat(self) -> dict[str, dict[int, ListRecord[TypedValue]]]:
        """Repeat the rows that ask for lists; return the record of each, by sheet and row."""
        groups: list[RowGroup] = []
        formulas: SheetFormulas = {}
        for title, _ in self._book.worksheets():
            _, blocks = opened_blocks(self._book, title)
            cells = blocks.cells(WHOLE)
            formulas[title] = {
                (row, column): text
                for row, found in cells.items()
                for column, cell in found.items()
                if (text := blocks.formula(cell)) is not None
            }
            groups += self._groups(title, blocks, cells)
        self._tell_of_formulas(formulas)
        grown = [each for each in groups if len(self.answers.lists[each.name]) > 1]
        check_formulas(grown, formulas)
        warn_of_readers(self._book, grown, formulas)
        return self._repeated(groups, formulas)

    def _repeated(
        self, groups: list[RowGroup], formulas: SheetFormulas
    ) -> dict[str, dict[int, ListRecord[TypedValue]]]:
        found: dict[str, dict[int, ListRecord[TypedValue]]] = {}
        # From below, so that rows above are still where they were found.
        for group in reversed(groups):
            records = self.answers.repeat(group.name, group.height)
            more = repeat_group(self._book, group, len(records), formulas)
            rows = {row + more: each for row, each in found.get(group.title, {}).items()}
            for number, record in enumerate(records):
                start = group.first + number * group.height
                rows.update(dict.fromkeys(range(start, start + group.height), record))
            found[group.title] = rows
        return found

    def _groups(
        self, title: str, blocks: CellBlocks, cells: Mapping[int, Mapping[int, LooseCell]]
    ) -> list[RowGroup]:
        """Return the rows of a sheet that ask for lists, neighbors of one list together."""
        found: list[RowGroup] = []
        for row, each in sorted(cells.items()):
            name = self.answers.list_in(
                hit.name
                for cell in each.values()
                for hit in find_placeholders(self._text(blocks, cell))
            )
            if name is None:
                continue
            last = found[-1] if found else None
            if last is not None and (last.last, last.name) == (row - 1, name):
                found[-1] = msgspec.structs.replace(last, last=row)
            else:
                found.append(RowGroup(title, row, row, name))
        return found

    def _tell_of_formulas(self, formulas: SheetFormulas) -> None:
        for title, texts in formulas.items():
            for place, text in texts.items():
                if any(True for _ in find_placeholders(text)):
                    self._book.notices.gather(
                        "A placeholder in a formula is not filled", f"{title}!{cell_name(*place)}"
                    )

    def _text(self, blocks: CellBlocks, cell: LooseCell) -> str:
        """Return the text of a cell, "" for one with a formula or another value."""
        kind = cell.kind
        if kind not in ("s", "inlineStr", "str") or blocks.formula(cell) is not None:
            return ""
        if kind == "inlineStr":
            item = inline_item(cell.inner, blocks.prefix)
            return "" if item is None else text_of_item(item)
        value = blocks.value(cell)
        return self._shared.text(value) if kind == "s" else value

    def fill(self, name: str, records: Mapping[int, ListRecord[TypedValue]]) -> None:
        """Fill the cells of a sheet, and its headers and footers."""
        title, blocks = opened_blocks(self._book, name)
        texts: dict[int, dict[int, LooseCell | None]] = {}
        values: dict[_Place, TypedValue] = {}
        for row, cells in blocks.cells(WHOLE).items():
            for column, cell in cells.items():
                text = self._text(blocks, cell)
                hits = list(find_placeholders(text))
                if not hits:
                    continue
                asking, place = _Asking(cell, text, hits), (row, column)
                if self._is_drawn(title, place, asking):
                    values[place] = TypedValue(None)
                elif len(hits) == 1 and text.strip() == text[hits[0].start : hits[0].end]:
                    answer = self._answer(hits[0], records.get(row))
                    if answer is not None:
                        values[place] = answer.value or TypedValue(None)
                elif (made := self._filled(blocks, title, place, asking, records)) is not None:
                    texts.setdefault(row, {})[column] = made
        if texts:
            areas = [Area(row, column, row, column) for row in texts for column in texts[row]]
            put_cells(self._book, title, blocks, texts, areas)
        for (row, column), value in values.items():
            self._writer.set_value(title, row, column, value)
        self._fill_margins(title)

    def _answer(
        self, hit: PlaceholderHit, record: ListRecord[TypedValue] | None
    ) -> Filled[TypedValue] | None:
        found = self.answers.answer(hit.name, record)
        self.count += found is not None
        return found

    def _is_drawn(self, title: str, place: _Place, asking: _Asking) -> bool:
        """Note a picture that takes the place of a cell's text."""
        for hit in asking.hits:
            picture = self.answers.picture(hit.name)
            if picture is None:
                continue
            if asking.text.strip() != asking.text[hit.start : hit.end]:
                raise ValidationFailed(
                    f"{title}!{cell_name(*place)}: {{{{{hit.name}}}}} is a picture and needs a "
                    "cell of its own"
                )
            self._pictures.append((title, place, picture))
            self.count += 1
            return True
        return False

    def _filled(
        self,
        blocks: CellBlocks,
        title: str,
        place: _Place,
        asking: _Asking,
        records: Mapping[int, ListRecord[TypedValue]],
    ) -> LooseCell | None:
        """Return a cell whose text is filled, None for one that stays."""
        found = [(hit, self._answer(hit, records.get(place[0]))) for hit in asking.hits]
        hits = [(hit.start, hit.end, _shown(answer)) for hit, answer in found if answer is not None]
        if not hits:
            return None
        cell, name = asking.cell, f"{title}!{cell_name(*place)}"
        if cell.kind == "inlineStr":
            item = inline_item(cell.inner, blocks.prefix)
        else:
            item = self._shared.element(blocks.value(cell)) if cell.kind == "s" else None
        runs = runs_with_hits([(asking.text, None)] if item is None else item_runs(item), hits)
        text = "".join(piece for piece, _ in runs)
        self._writer.check_header(title, place, Content("text", text))
        if any(look is not None for _, look in runs):
            inner = rich_inner(runs, blocks.prefix, name)
        else:
            inner = inner_xml(blocks.prefix, Content("text", stored_text(text, name)))
        attributes = with_attributes(cell.attributes, {b"t": b"inlineStr"})
        return LooseCell(attributes, inner.encode())

    def _fill_margins(self, title: str) -> None:
        """Fill the headers and footers of a sheet's pages."""
        elements = self._book.sheet(title).elements
        if b"{{" not in elements.seen("headerFooter"):
            return
        old = elements.text("headerFooter")
        # A single & begins a code (ECMA-376, part 1, 18.3.1.46).
        new = _MARGIN.sub(lambda found: self._filled_markup(found, "&", "&&"), old)
        if new != old:
            elements.put("headerFooter", new)

    def _filled_markup(self, found: re.Match[bytes], old: str = "", new: str = "") -> bytes:
        """Return a stretch of markup with its text filled; `old` is written as `new` in values."""
        text = plain(found[2])
        pieces, place = [], 0
        for hit in find_placeholders(text):
            answer = self._answer(hit, None)
            if answer is not None:
                shown = _shown(answer)
                pieces += [text[place : hit.start], shown.replace(old, new) if old else shown]
                place = hit.end
        if not place:
            return found[0]
        return found[1] + escaped("".join((*pieces, text[place:]))).encode() + found[3]

    def fill_drawings(self) -> None:
        """Fill the texts of shapes and charts; warn where a placeholder stays."""
        rewriting, left = self._book.rewriting, []
        for part in rewriting.parts():
            if not _DRAWN.search(part):
                continue
            old = rewriting.read(part)
            new = _DRAWN_TEXT.sub(self._filled_markup, old) if b"{{" in old else old
            if new != old:
                rewriting.put(part, new)
            paragraphs = ("".join(map(plain, _TEXT.findall(each))) for each in new.split(b"</a:p>"))
            if b"{{" in new and any(True for each in paragraphs for _ in find_placeholders(each)):
                left.append(part.rpartition("/")[2])
        if left:
            self._book.notices.warn(
                f"Placeholders are left in comments, or go over changes of formatting in shapes "
                f"and charts: {listed(left)}."
            )

    def draw(self) -> None:
        """Put the pictures onto the cells that asked for them."""
        for title, place, picture in self._pictures:
            merges = self._book.sheet(title).merges
            own = Area(*place, *place)
            area = next((each for each in merges if (each.top, each.left) == place), own)
            put_picture(self._book, title, area, picture, self._files)


_MARGIN = re.compile(rb"(<(?:[\w.-]+:)?(?:odd|even|first)(?:Header|Footer)[^>]*>)([^<]*)(</)")
_DRAWN = re.compile(r"/(?:drawings/drawing|charts/chart|comments|threadedComments/)[^/]*\.xml$")
_DRAWN_TEXT = re.compile(rb"(<a:t(?:\s[^>]*)?>)([^<]*)(</a:t>)")
_TEXT = re.compile(rb"<(?:[\w.-]+:)?t(?:\s[^>]*)?>([^<]*)<")


def _typed_rows(given: BookTemplateList) -> list[list[TypedValue]]:
    """Return the values of a list, each with its column's type.

    Raises:
        ValidationFailed: There are types for more or fewer columns than there are.
    """
    types = given.types or (None,) * len(given.columns)
    if len(types) != len(given.columns):
        raise ValidationFailed(
            f"list {given.name} has {len(given.columns)} columns, and types for {len(types)}"
        )
    # A row that has another number of values is refused with all others, so none is cut here.
    return [
        [TypedValue(value, kind) for value, kind in zip_longest(row, types[: len(row)])]
        for row in given.rows
    ]


def _shown(answer: Filled[TypedValue]) -> str:
    """Return a value as it is written into a text."""
    value = None if answer.value is None else answer.value.value
    match value:
        case None:
            return ""
        case bool():
            return "TRUE" if value else "FALSE"
        case float():
            return f"{value:.15g}"
        case _:
            return str(value)
