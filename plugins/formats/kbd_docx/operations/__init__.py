"""The operations on documents, as records; their fields are the tool's schema.

Values that only say how something looks are lenient by contract: they are plain values here, and
what is wrong in one is skipped and told in the warnings.

    base         the base of the records, and the fields that they share
    paragraphs   operations on paragraphs and their text
    tables       operations on tables: what their cells hold, and how they look
    table_lines  operations on the rows, columns and merged cells of tables
    changes      operations on tracked changes
    templates    operations on templates
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
from kbd_docx.operations.changes import AcceptChanges, RejectChanges, SettledChanges
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
from kbd_docx.operations.templates import FillTemplate, Records

__all__ = [
    "OPERATIONS",
    "AcceptChanges",
    "AddTable",
    "AppendParagraph",
    "Cell",
    "CellLookFields",
    "CellText",
    "DeleteParagraphs",
    "DeleteTableColumns",
    "DeleteTableRows",
    "DocxOperation",
    "FillTemplate",
    "FormatParagraphs",
    "FormatTableCells",
    "InsertParagraph",
    "InsertTableColumns",
    "InsertTableRows",
    "MergeTableCells",
    "Paragraph",
    "ParagraphFields",
    "ParagraphLook",
    "Records",
    "RejectChanges",
    "ReplaceText",
    "Runs",
    "SetParagraphs",
    "SetTable",
    "SetTableCells",
    "SettledChanges",
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
    AcceptChanges,
    RejectChanges,
    FillTemplate,
    FormatTableCells,
    InsertTableRows,
    DeleteTableRows,
    InsertTableColumns,
    DeleteTableColumns,
    MergeTableCells,
    SplitTableCell,
)
