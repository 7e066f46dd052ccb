"""The operations on documents, as records; their fields are the tool's schema.

Values that only say how something looks are lenient by contract: they are plain values here, and
what is wrong in one is skipped and told in the warnings.

    base         the base of the records, and the fields that they share
    paragraphs   operations on paragraphs and their text
    tables       operations on tables: what their cells hold, and how they look
    table_lines  operations on the rows, columns and merged cells of tables
    comments     operations on comments
    insertions   pictures, links, notes, bookmarks and fields put in
    sections     sections of pages, with headers and footers
    controls     operations on content controls
    templates    operations on templates
    documents    another document appended
    changes      operations on tracked changes
"""

import msgspec

from kbd_docx.operations.base import (
    Cell,
    CellLookFields,
    DocxOperation,
    ListKind,
    ParagraphFields,
    ParagraphLook,
    Runs,
)
from kbd_docx.operations.changes import (
    AcceptChanges,
    RejectChanges,
    SettledChanges,
)
from kbd_docx.operations.comments import (
    AddComment,
    DeleteComment,
    ReplyComment,
    ResolveComment,
)
from kbd_docx.operations.controls import (
    SetContentControl,
)
from kbd_docx.operations.documents import (
    AppendDocument,
)
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
    FormatParagraphs,
    InsertParagraph,
    Paragraph,
    ReplaceText,
    SetParagraphs,
)
from kbd_docx.operations.sections import (
    InsertSectionBreak,
    Margins,
    SetSection,
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
from kbd_docx.operations.templates import (
    FillTemplate,
    TemplateList,
    TemplatePicture,
    TemplateValue,
)

__all__ = [
    "OPERATIONS",
    "AcceptChanges",
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
    "CellLookFields",
    "CellText",
    "DeleteComment",
    "DeleteParagraphs",
    "DeleteTableColumns",
    "DeleteTableRows",
    "DocxOperation",
    "FillTemplate",
    "FormatParagraphs",
    "FormatTableCells",
    "InsertParagraph",
    "InsertSectionBreak",
    "InsertTableColumns",
    "InsertTableRows",
    "ListKind",
    "Margins",
    "MergeTableCells",
    "Paragraph",
    "ParagraphFields",
    "ParagraphLook",
    "RejectChanges",
    "ReplaceText",
    "ReplyComment",
    "ResolveComment",
    "Runs",
    "SetContentControl",
    "SetParagraphs",
    "SetSection",
    "SetTable",
    "SetTableCells",
    "SettledChanges",
    "SplitTableCell",
    "TemplateList",
    "TemplatePicture",
    "TemplateValue",
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
    AcceptChanges,
    RejectChanges,
    FillTemplate,
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
