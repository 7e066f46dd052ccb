"""The operations on documents, as records; their fields are the tool's schema.

Values that only say how something looks are lenient by contract: they are plain values here, and
what is wrong in one is skipped and told in the warnings.

    base         the base of the records, and the fields that they share
    paragraphs   operations on paragraphs and their text
    tables       operations on tables: what their cells hold, and how they look
    table_lines  operations on the rows, columns and merged cells of tables
"""

import msgspec

from kbd_docx.operations.base import (
    Cell,
    CellLookFields,
    DocxOperation,
    ParagraphFields,
    ParagraphLook,
    Runs,
)
from kbd_docx.operations.paragraphs import (
    AppendParagraph,
    DeleteParagraphs,
    FormatParagraphs,
    InsertParagraph,
    Paragraph,
    ReplaceText,
    SetParagraphs,
)
from kbd_docx.operations.table_lines import (
    DeleteTableColumns,
    DeleteTableRows,
    InsertTableColumns,
    InsertTableRows,
    MergeTableCells,
    SplitTableCell,
)
from kbd_docx.operations.tables import (
    AddTable,
    CellText,
    FormatTableCells,
    SetTable,
    SetTableCells,
)

__all__ = [
    "OPERATIONS",
    "AddTable",
    "AppendParagraph",
    "Cell",
    "CellLookFields",
    "CellText",
    "DeleteParagraphs",
    "DeleteTableColumns",
    "DeleteTableRows",
    "DocxOperation",
    "FormatParagraphs",
    "FormatTableCells",
    "InsertParagraph",
    "InsertTableColumns",
    "InsertTableRows",
    "MergeTableCells",
    "Paragraph",
    "ParagraphFields",
    "ParagraphLook",
    "ReplaceText",
    "Runs",
    "SetParagraphs",
    "SetTable",
    "SetTableCells",
    "SplitTableCell",
]

OPERATIONS: tuple[type[msgspec.Struct], ...] = (
    SetParagraphs,
    AppendParagraph,
    InsertParagraph,
    DeleteParagraphs,
    FormatParagraphs,
    ReplaceText,
    AddTable,
    SetTable,
    SetTableCells,
    FormatTableCells,
    InsertTableRows,
    DeleteTableRows,
    InsertTableColumns,
    DeleteTableColumns,
    MergeTableCells,
    SplitTableCell,
)
