"""The operations on documents, as records; their fields are the tool's schema.

Values that only say how something looks are lenient by contract: they are plain values here, and
what is wrong in one is skipped and told in the warnings.

    base        the base of the records, and the fields that they share
    paragraphs  operations on paragraphs and their text
    tables      operations on tables
    changes     operations on tracked changes
    templates   operations on templates
"""

import msgspec

from kbd_docx.operations.base import Cell, DocxOperation, ParagraphFields, Runs
from kbd_docx.operations.changes import AcceptChanges, RejectChanges, SettledChanges
from kbd_docx.operations.paragraphs import (
    AppendParagraph,
    DeleteParagraphs,
    InsertParagraph,
    Paragraph,
    ReplaceText,
    SetParagraphs,
)
from kbd_docx.operations.tables import AddTable, CellText, SetTableCells
from kbd_docx.operations.templates import FillTemplate, Records

__all__ = [
    "OPERATIONS",
    "AcceptChanges",
    "AddTable",
    "AppendParagraph",
    "Cell",
    "CellText",
    "DeleteParagraphs",
    "DocxOperation",
    "FillTemplate",
    "InsertParagraph",
    "Paragraph",
    "ParagraphFields",
    "Records",
    "RejectChanges",
    "ReplaceText",
    "Runs",
    "SetParagraphs",
    "SetTableCells",
    "SettledChanges",
]

OPERATIONS: tuple[type[msgspec.Struct], ...] = (
    SetParagraphs,
    AppendParagraph,
    InsertParagraph,
    DeleteParagraphs,
    ReplaceText,
    AddTable,
    SetTableCells,
    AcceptChanges,
    RejectChanges,
    FillTemplate,
)
