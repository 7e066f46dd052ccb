"""Operations applied in order, all or nothing: the file is written when all went through.

Warnings name what an edit touches without being named: signatures, protection, tracked changes.
"""

from collections.abc import Mapping
from functools import partial
from pathlib import Path, PurePath

import docx
import msgspec
from docx.document import Document
from docx.opc.constants import RELATIONSHIP_TYPE as RT
from docx.opc.part import XmlPart
from lxml import etree

from kbd.formats import Applied, FocusHint, Source
from kbd.office.operations import EditWarnings, OperationTable, apply_in_order
from kbd.opc import Identity, suffix_mismatch
from kbd.opc.library_bridge import LibraryBridge, library_errors
from kbd.opc.package import Package
from kbd.opc.rewriter import Rewriting
from kbd_docx.document import FAMILY, OFF, PLAIN_TYPE, SUFFIXES, W, is_on, open_document
from kbd_docx.edits.blank import TEMPLATE, strip_template, update_settings
from kbd_docx.edits.bookmarks import add_bookmark
from kbd_docx.edits.changes import settle_changes
from kbd_docx.edits.comments import (
    add_comment,
    delete_comment,
    reply_comment,
    resolve_comment,
)
from kbd_docx.edits.controls import set_content_control
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.fields import add_field
from kbd_docx.edits.hyperlinks import add_hyperlink
from kbd_docx.edits.images import add_image
from kbd_docx.edits.leftovers import DocxLeftovers
from kbd_docx.edits.notes import add_endnote, add_footnote
from kbd_docx.edits.paragraphs import (
    append_paragraph,
    delete_paragraphs,
    format_paragraphs,
    insert_paragraph,
    set_paragraphs,
)
from kbd_docx.edits.reach import reach_after
from kbd_docx.edits.sections import insert_section_break, set_section
from kbd_docx.edits.table_columns import (
    delete_table_columns,
    insert_table_columns,
    merge_table_cells,
    split_table_cell,
)
from kbd_docx.edits.table_lines import delete_table_rows, insert_table_rows
from kbd_docx.edits.table_looks import format_table_cells, set_table
from kbd_docx.edits.tables import add_table, set_table_cells
from kbd_docx.edits.template import fill_template
from kbd_docx.operations import (
    AcceptChanges,
    AddBookmark,
    AddComment,
    AddDocumentImage,
    AddEndnote,
    AddField,
    AddFootnote,
    AddHyperlink,
    AddTable,
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
    RejectChanges,
    ReplaceText,
    ReplyComment,
    ResolveComment,
    SetContentControl,
    SetParagraphs,
    SetSection,
    SetTable,
    SetTableCells,
    SplitTableCell,
)

__all__ = ["apply", "warn_of_protection"]


def apply(
    source: Source | None,
    operations: tuple[msgspec.Struct, ...],
    target: Path,
    files: Mapping[str, Source] | None = None,
) -> Applied:
    """Apply operations and write the result.

    Args:
        source: The document, None for a new one.
        operations: The records.
        target: Where the result goes.
        files: Files that operations name, by the paths that operations have.

    Raises:
        ValidationFailed: An operation cannot be applied, or not without a loss.
        FileReadFailed: The source cannot be read.
    """
    if source is None:
        SUFFIXES.type_of_new(target.name)
    with open_document(source or TEMPLATE) as (package, identity):
        # python-docx opens no template, no strict variant and no dangling relation, and writes all
        # anew: it is lent a copy that it can open, and only what it changed comes back.
        lending = LibraryBridge(package, identity, PLAIN_TYPE)
        with library_errors(package.name):
            document = docx.Document(lending.copy())
            whole = document.part.package
            lending.loaded(whole)
            edit = DocumentEdit(document, is_strict=lending.is_strict, files=files)
            if source is None:
                update_settings(document.settings.element)
            else:
                warn_of_protection(package, document, edit.warnings)
            changed = apply_in_order(operations, _operation_table(edit), edit.prepare)
            edit.finish()
            rewriting, external = lending.returned(whole)
            if source is not None:
                leftovers = DocxLeftovers(rewriting, identity.part, edit.warnings)
                leftovers.erase(edit.gone_texts, edit.stories.replaced)
        _fit_suffix(package, identity, source, rewriting, edit, target)
        rewriting.save(target)
        reach = reach_after(rewriting, external, source)
    focus = FocusHint(section_index=0)
    return Applied(len(changed), changed, edit.warnings.texts, *reach, focus)


def _operation_table(edit: DocumentEdit) -> OperationTable:
    """Return the function that applies each type of operation to a document."""
    return {
        ReplaceText: edit.stories.replace,
        SetParagraphs: partial(set_paragraphs, edit),
        AppendParagraph: partial(append_paragraph, edit),
        InsertParagraph: partial(insert_paragraph, edit),
        DeleteParagraphs: partial(delete_paragraphs, edit),
        FormatParagraphs: partial(format_paragraphs, edit),
        AddTable: partial(add_table, edit),
        SetTable: partial(set_table, edit),
        SetTableCells: partial(set_table_cells, edit),
        FillTemplate: partial(fill_template, edit),
        AcceptChanges: partial(settle_changes, edit, accept=True),
        RejectChanges: partial(settle_changes, edit, accept=False),
        FormatTableCells: partial(format_table_cells, edit),
        InsertTableRows: partial(insert_table_rows, edit),
        DeleteTableRows: partial(delete_table_rows, edit),
        InsertTableColumns: partial(insert_table_columns, edit),
        DeleteTableColumns: partial(delete_table_columns, edit),
        MergeTableCells: partial(merge_table_cells, edit),
        SplitTableCell: partial(split_table_cell, edit),
        AddComment: partial(add_comment, edit),
        ReplyComment: partial(reply_comment, edit),
        ResolveComment: partial(resolve_comment, edit),
        DeleteComment: partial(delete_comment, edit),
        AddDocumentImage: partial(add_image, edit),
        AddHyperlink: partial(add_hyperlink, edit),
        AddFootnote: partial(add_footnote, edit),
        AddEndnote: partial(add_endnote, edit),
        AddBookmark: partial(add_bookmark, edit),
        AddField: partial(add_field, edit),
        SetSection: partial(set_section, edit),
        InsertSectionBreak: partial(insert_section_break, edit),
        SetContentControl: partial(set_content_control, edit),
    }


def _fit_suffix(
    package: Package,
    identity: Identity,
    source: Source | None,
    rewriting: Rewriting,
    edit: DocumentEdit,
    target: Path,
) -> None:
    """Fit the main part's type to the file name; a mismatch that was there before is kept."""
    if source is None:
        strip_template(rewriting, identity.part)
        SUFFIXES.fit(rewriting, identity.part, target.name)
    elif PurePath(source.name).suffix.lower() != target.suffix.lower():
        SUFFIXES.fit(rewriting, identity.part, target.name)
    elif warning := suffix_mismatch(identity, FAMILY, package.name):
        edit.warnings.warn(warning)


_PROTECTIONS = {
    "comments": "only comments may be made",
    "forms": "only forms may be filled in",
    "readOnly": "nothing may be changed",
    "trackedChanges": "changes must be tracked",
}


def warn_of_protection(package: Package, document: Document, warnings: EditWarnings) -> None:
    """Warn of a signature, of protection, and of changes that are to be tracked."""
    warnings.warn_of_signature(package.relations(""), "document")
    settings = _settings(document)
    if settings is None:
        return
    for protection in settings.findall(f"{W}documentProtection"):
        kind = protection.get(f"{W}edit", "none")
        # Word keeps the settings of protection that was lifted, and does not enforce them.
        if kind in _PROTECTIONS and protection.get(f"{W}enforcement", "0") not in OFF:
            warnings.warn(
                f"The document is protected ({_PROTECTIONS[kind]}): a person would have to lift "
                "that before making this change."
            )
    for tracking in settings.findall(f"{W}trackRevisions"):
        if is_on(tracking):
            warnings.warn(
                "The document tracks changes; an operation without track_changes is made directly "
                "and not marked as a change."
            )


def _settings(document: Document) -> etree._Element | None:
    """Return the document's settings, None if it has none; the library would make some."""
    for relation in document.part.rels.values():
        if relation.reltype == RT.SETTINGS and not relation.is_external:
            part = relation.target_part
            return part.element if isinstance(part, XmlPart) else None
    return None
