"""Operations on tables."""

from typing import Annotated

from msgspec import Meta

from kbd_docx.operations.base import Cell, DocxRecord, Place, TrackedOperation

__all__ = ["AddTable", "CellText", "SetTableCells"]

MAX_COLUMNS = 63
"""Of a table, as Word has it."""


class CellText(DocxRecord, frozen=True):
    """The new text of one cell."""

    row: Annotated[Place, Meta(description="From 0.")]
    col: Annotated[Place, Meta(description="From 0.")]
    text: Cell


class AddTable(TrackedOperation, frozen=True, tag="add_table"):
    """Add a table, its texts row by row."""

    rows: Annotated[
        tuple[Annotated[tuple[Cell, ...], Meta(max_length=MAX_COLUMNS)], ...],
        Meta(min_length=1, max_length=5_000),
    ]
    style: Annotated[
        str | None, Meta(description="A table style by id or name; else Table Grid.")
    ] = None
    after: Annotated[
        Place | None,
        Meta(
            description="The number of the paragraph after which it comes, from 1, as the map "
            "counts; 0: at the beginning. Without it: at the end of the document."
        ),
    ] = None


class SetTableCells(TrackedOperation, frozen=True, tag="set_table_cells"):
    """Set the texts of cells; how they look stays."""

    table: Annotated[Place, Meta(description="The table's index, from 0, as the map has it.")]
    cells: Annotated[tuple[CellText, ...], Meta(min_length=1, max_length=50_000)]
