"""The operations on documents, as records; their fields are the tool's schema.

Values that only say how something looks are lenient by contract: they are plain values here, and
what is wrong in one is skipped and told in the warnings.

    base        the base of the records, and the fields that they share
    documents   another document appended
    comments    operations on comments
    controls    operations on content controls
    insertions  pictures, links, notes, bookmarks and fields put in
    paragraphs  operations on paragraphs and their text
    sections    sections of pages, with headers and footers
    tables      operations on tables
"""

import msgspec

from kbd_docx.operations.base import Cell, DocxOperation, ListKind, ParagraphFields, Runs
from kbd_docx.operations.comments import (
    AddComment,
    DeleteComment,
    ReplyComment,
    ResolveComment,
)
from kbd_docx.operations.controls import SetContentControl
from kbd_docx.operations.documents import AppendDocument
from kbd_docx.operations.insertions import (
    AddBookmark,
    AddDocumentImage,
    AddEndnote,
    AddField,
    AddFootnote,
    AddHyperlink,
)
from kbd_docx.operations.paragraphs import (
    AppendParagraph,
    DeleteParagraphs,
    InsertParagraph,
    Paragraph,
    ReplaceText,
    SetParagraphs,
)
from kbd_docx.operations.sections import InsertSectionBreak, Margins, SetSection
from kbd_docx.operations.tables import AddTable, CellText, SetTableCells

__all__ = [
    "OPERATIONS",
    "AddBookmark",
    "AddComment",
    "AddDocumentImage",
    "AddEndnote",
    "AddField",
    "AddFootnote",
    "AddHyperlink",
    "AddTable",
    "AppendDocument",
    "AppendParagraph",
    "Cell",
    "CellText",
    "DeleteComment",
    "DeleteParagraphs",
    "DocxOperation",
    "InsertParagraph",
    "InsertSectionBreak",
    "ListKind",
    "Margins",
    "Paragraph",
    "ParagraphFields",
    "ReplaceText",
    "ReplyComment",
    "ResolveComment",
    "Runs",
    "SetContentControl",
    "SetParagraphs",
    "SetSection",
    "SetTableCells",
]

OPERATIONS: tuple[type[msgspec.Struct], ...] = (
    SetParagraphs,
    AppendParagraph,
    InsertParagraph,
    DeleteParagraphs,
    ReplaceText,
    AddTable,
    SetTableCells,
    AddComment,
    ReplyComment,
    ResolveComment,
    DeleteComment,
    AddDocumentImage,
    AddHyperlink,
    AddFootnote,
    AddEndnote,
    AddBookmark,
    AddField,
    SetSection,
    InsertSectionBreak,
    SetContentControl,
    AppendDocument,
)
