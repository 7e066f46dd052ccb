"""Operations carried over to another version of a document, in which blocks may stand elsewhere.

Paragraphs are counted over the whole body, so an operation is about a block, or about the gap
between two; comments and sections of pages are counted as well. A gap is certain if both blocks
are, and nothing came between them: what two put into one gap has no order that anybody gave it.
"""

from collections.abc import Sequence
from contextlib import ExitStack

import msgspec

from kbd.formats import Place, Relocation, Source
from kbd.formats.anchors import Anchors, UncertainError
from kbd_docx.comparison.body import BlockKind
from kbd_docx.comparison.definitions import match_pages
from kbd_docx.comparison.document_comparison import match_bodies
from kbd_docx.comparison.place_traces import trace
from kbd_docx.comparison.surroundings import match_notes
from kbd_docx.comparison.version import DocxVersion, open_version
from kbd_docx.operations import (
    AddBookmark,
    AddComment,
    AddDocumentImage,
    AddEndnote,
    AddField,
    AddFootnote,
    AddHyperlink,
    AddTable,
    AppendDocument,
    AppendParagraph,
    DeleteComment,
    DeleteParagraphs,
    DeleteTableColumns,
    DeleteTableRows,
    FillTemplate,
    FormatParagraphs,
    FormatTableCells,
    InsertParagraph,
    InsertSectionBreak,
    InsertTableColumns,
    InsertTableRows,
    MergeTableCells,
    ReplaceText,
    ReplyComment,
    ResolveComment,
    SetContentControl,
    SetParagraphs,
    SetSection,
    SetTable,
    SetTableCells,
    SettledChanges,
    SplitTableCell,
)

__all__ = ["relocate"]


def relocate(operations: tuple[msgspec.Struct, ...], before: Source, after: Source) -> Relocation:
    """Carry operations over; see `Relocatable.relocate`.

    Raises:
        FileReadFailed: A version cannot be read.
    """
    with ExitStack() as stack:
        old = stack.enter_context(open_version(before))
        new = stack.enter_context(open_version(after))
        carrier = _Carrier(old, new, before, after)
        if not carrier.is_shifted:
            return Relocation(tuple(map(msgspec.to_builtins, operations)))
        try:
            carried = [carrier.carried(operation) for operation in operations]
        except UncertainError as doubt:
            return Relocation(is_shifted=True, reason=doubt.reason, place=doubt.place)
        return Relocation(tuple(map(msgspec.to_builtins, carried)), is_shifted=True)


class _Carrier:
    """Carries operations over from one version to the other.

    Attributes:
        is_shifted: Whether any block, comment or section of pages stands elsewhere, or the insides
            of a table differ.
    """

    def __init__(self, before: DocxVersion, after: DocxVersion, old: Source, new: Source) -> None:
        self._before, self._after = before, after
        self._sources = old, new
        self._matches = match_bodies(before, after)
        blocks = before.body.blocks, after.body.blocks
        self._counts = len(blocks[0]), len(blocks[1])
        forward = self._matches.forward
        notes = before.notes("comment"), after.notes("comment")
        self._comments = match_notes(*notes).forward
        pages = match_pages(before, after).forward
        self.is_shifted = (
            len(notes[0]) != len(notes[1])
            or any(index != other for index, other in (*self._comments.items(), *pages.items()))
            or len(before.body.sections) != len(after.body.sections)
            or self._counts[0] != self._counts[1]
            or any(index != other for index, other in forward.items())
            or any(blocks[1][index].kind == "table" for index in self._matches.changed)
        )
        self._anchors = Anchors(self._keys(before), self._keys(after), forward.get)
        self._blocks: dict[BlockKind, list[int]] = {"paragraph": [], "table": [], "other": []}
        for index, block in enumerate(blocks[0]):
            self._blocks[block.kind].append(index)

    def carried(self, operation: msgspec.Struct) -> msgspec.Struct:
        """Return an operation as it is there; raises UncertainError."""
        replace = msgspec.structs.replace
        match operation:
            case ReplaceText() | FillTemplate() | SettledChanges(first=None):
                return operation
            case SettledChanges(first=int(first), count=count):
                return replace(operation, first=self._run(first, count))
            case SetParagraphs(paragraphs=given):
                carried = tuple(replace(each, like=self._model(each.like)) for each in given)
                return replace(operation, paragraphs=carried)
            case AppendParagraph(like=like):
                self._gap(self._counts[0])
                return replace(operation, like=self._model(like))
            case InsertParagraph(at=at, like=like):
                paragraphs = self._blocks["paragraph"]
                if at > len(paragraphs):
                    self._gap(self._counts[0])
                    moved = len(self._after.body.places["paragraph"]) + 1
                else:
                    self._gap(paragraphs[at - 1])
                    moved = self._paragraph(at)
                return replace(operation, at=moved, like=self._model(like))
            case DeleteParagraphs(first=first, count=count):
                return replace(operation, first=self._run(first, count))
            case FormatParagraphs(first=first, count=count, like=like):
                return replace(operation, first=self._run(first, count), like=self._model(like))
            case AddTable(after=None):
                self._gap(self._counts[0])
                return operation
            case AddTable(after=0):
                self._gap(0)
                return operation
            case AddTable(after=int(number)):
                return replace(operation, after=self._behind(number))
            case _:
                return self._carried_in_table(operation)

    def _carried_in_table(self, operation: msgspec.Struct) -> msgspec.Struct:
        """Return an operation on a table that is there already."""
        replace = msgspec.structs.replace
        match operation:
            case SetTableCells(table=table, cells=cells):
                return replace(operation, table=self._table(table, [(c.row, c.col) for c in cells]))
            case MergeTableCells(table=table, row=row, col=col, to_row=to_row):
                places = [(each, col) for each in range(row, to_row + 1)]
                return replace(operation, table=self._table(table, places))
            case SplitTableCell(table=table, row=row, col=col):
                return replace(operation, table=self._table(table, [(row, col)]))
            case (
                SetTable(table=table)
                | FormatTableCells(table=table)
                | InsertTableRows(table=table)
                | DeleteTableRows(table=table)
                | InsertTableColumns(table=table)
                | DeleteTableColumns(table=table)
            ):
                # Lines are counted, so that the same shape is not enough: their texts must be, too.
                return replace(operation, table=self._table(table, None))
            case _:
                return self._mark(operation)

    def _mark(self, operation: msgspec.Struct) -> msgspec.Struct:
        """Return an operation on what stands in or around paragraphs as it is there."""
        replace = msgspec.structs.replace
        match operation:
            case SetContentControl() | SetSection(section=None):
                return operation
            case AppendDocument() | AddDocumentImage(after=None, paragraph=None):
                self._gap(self._counts[0])
                return operation
            case AddDocumentImage(after=0, paragraph=None):
                self._gap(0)
                return operation
            case (
                AddDocumentImage(after=int(number), paragraph=None)
                | InsertSectionBreak(after=number)
            ):
                return replace(operation, after=self._behind(number))
            case AddField(field="TOC", paragraph=number):
                return replace(operation, paragraph=self._behind(number))
            case (
                AddComment(paragraph=int(number))
                | AddDocumentImage(paragraph=int(number))
                | AddHyperlink(paragraph=int(number))
                | AddFootnote(paragraph=int(number))
                | AddEndnote(paragraph=int(number))
                | AddBookmark(paragraph=int(number))
                | AddField(paragraph=int(number))
            ):
                return replace(operation, paragraph=self._paragraph(number))
            case ReplyComment() | ResolveComment() | DeleteComment():
                return replace(operation, comment=self._comment(operation.comment))
            case SetSection(section=int(section)):
                found = match_pages(self._before, self._after).forward.get(section)
                if found is None:
                    raise UncertainError(f"section {section} is not there any more")
                return replace(operation, section=found)
            case _:
                raise UncertainError("this operation cannot be carried over to shifted paragraphs")

    def _behind(self, number: int) -> int:
        """Return the number of a paragraph there behind which something goes."""
        moved = self._paragraph(number)
        self._gap(self._blocks["paragraph"][number - 1] + 1)
        return moved

    def _comment(self, number: int) -> int:
        """Return the number that a comment has there."""
        found = self._comments.get(number - 1)
        if found is None:
            raise UncertainError(f"comment {number} is not there any more, or was changed")
        return found + 1

    def _keys(self, version: DocxVersion) -> list[bytes | None]:
        return [version.move_key(index) for index in range(len(version.body.blocks))]

    def _place(self, number: int) -> Place:
        return self._before.places.paragraph(number - 1)

    def _paragraph(self, number: int) -> int:
        """Return the number that a paragraph has there, from 1."""
        paragraphs = self._blocks["paragraph"]
        if not 1 <= number <= len(paragraphs):
            raise UncertainError(f"there is no paragraph {number}")
        found = self._anchors.get(paragraphs[number - 1])
        if found is None:
            msg = f"paragraph {number} is not there any more, or it is not certain where"
            raise UncertainError(msg, self._place(number))
        return self._after.block(found).number + 1

    def _gap(self, index: int) -> None:
        """See that nothing came into the gap before a block."""
        shifts = self._anchors.shift(index - 1), self._anchors.shift(index)
        if shifts[0] is None or shifts[0] != shifts[1]:
            count = len(self._blocks["paragraph"])
            behind = sum(each < index for each in self._blocks["paragraph"])
            place = self._before.places.paragraph(max(0, min(behind, count - 1)))
            raise UncertainError("something was inserted or removed right there", place)

    def _run(self, first: int, count: int) -> int:
        """Return where paragraphs in a row begin there."""
        start = self._paragraph(first)
        for number in range(first, first + count):
            if self._paragraph(number) != start + number - first:
                msg = "something was inserted between these paragraphs, or removed"
                raise UncertainError(msg, self._place(number))
        return start

    def _model(self, number: int | None) -> int | None:
        return None if number is None else self._paragraph(number)

    def _table(self, index: int, cells: Sequence[tuple[int, int]] | None) -> int:
        """Return which table one is there.

        Args:
            index: The table.
            cells: The rows and columns of the cells that an operation names; None for one that
                counts its lines, which may be anywhere if some came or went.
        """
        tables = self._blocks["table"]
        if index >= len(tables):
            raise UncertainError(f"there is no table {index}")
        place = self._before.places.table(index)
        found = self._anchors.get(tables[index])
        if found is None:
            # A table that was changed inside is like no other, so it is no anchor by itself.
            found = self._only_table(tables[index])
        if found is None:
            msg = f"table {index} is not there any more, or it is not certain where"
            raise UncertainError(msg, place)
        shapes = self._before.shape(tables[index]), self._after.shape(found)
        if shapes[0] != shapes[1]:
            raise UncertainError("rows or columns of the table were inserted or removed", place)
        places = self._before.places
        wanted = tuple(places.table(index, row, column) for row, column in cells or ())
        if cells is None and found in self._matches.changed and shapes[0] is not None:
            wanted = tuple(places.table(index, row) for row in range(shapes[0][0]))
        traces = trace(*self._sources, wanted, forward=True) if wanted else ()
        for each, traced in zip(wanted, traces, strict=True):
            there = traced.place
            if there is None or (there.row, there.column) != (each.row, each.column):
                raise UncertainError("it is not certain where this cell is now", each)
        return self._after.block(found).number

    def _only_table(self, index: int) -> int | None:
        """Return where a table is that has changed, if it has just one table's place to be."""
        found = self._matches.forward.get(index)
        if found is None:
            return None
        above, below = self._anchors.shift(index - 1), self._anchors.shift(index + 1)
        return found if above == below == found - index else None
