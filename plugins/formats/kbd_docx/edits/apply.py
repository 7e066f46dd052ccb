"""Operations applied in order, all or nothing: the file is written when all went through."""

from functools import partial
from pathlib import Path, PurePath

import docx
import msgspec

from kbd.formats import Applied, Source
from kbd.office.operations import OperationTable, apply_in_order
from kbd.opc import Identity, suffix_mismatch
from kbd.opc.library_bridge import LibraryBridge, library_errors
from kbd.opc.package import Package
from kbd.opc.rewriter import Rewriting
from kbd_docx.edits.blank import TEMPLATE, cleaned, modernized
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.paragraphs import (
    append_paragraph,
    delete_paragraphs,
    insert_paragraph,
    set_paragraphs,
)
from kbd_docx.edits.tables import add_table, set_table_cells
from kbd_docx.edits.warnings import warn_of_bystanders
from kbd_docx.family import FAMILY, PLAIN_TYPE, SUFFIXES, opened
from kbd_docx.operations import (
    AddTable,
    AppendParagraph,
    DeleteParagraphs,
    InsertParagraph,
    ReplaceText,
    SetParagraphs,
    SetTableCells,
)

__all__ = ["apply"]


def apply(source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path) -> Applied:
    """Apply operations and write the result.

    Raises:
        ValidationFailed: An operation cannot be applied, or not without a loss.
        FileReadFailed: The source cannot be read.
    """
    if source is None:
        SUFFIXES.type_of_new(target.name)
    with opened(source or TEMPLATE) as (package, identity):
        lending = LibraryBridge(package, identity, PLAIN_TYPE)
        with library_errors(package.name):
            document = docx.Document(lending.copy())
            whole = document.part.package
            lending.loaded(whole)
            edit = DocumentEdit(document, is_strict=lending.is_strict)
            if source is None:
                modernized(document.settings.element)
            else:
                warn_of_bystanders(package, document, edit.notices)
            changed = apply_in_order(operations, _table(edit), edit.prepare)
            edit.finish()
            rewriting, external = lending.returned(whole)
        _settle_kind(package, identity, source, rewriting, edit, target)
        rewriting.save(target)
    return Applied(len(changed), changed, edit.notices.texts, external)


def _table(edit: DocumentEdit) -> OperationTable:
    """Return what applies each operation to a document."""
    return {
        ReplaceText: edit.stories.replace,
        SetParagraphs: partial(set_paragraphs, edit),
        AppendParagraph: partial(append_paragraph, edit),
        InsertParagraph: partial(insert_paragraph, edit),
        DeleteParagraphs: partial(delete_paragraphs, edit),
        AddTable: partial(add_table, edit),
        SetTableCells: partial(set_table_cells, edit),
    }


def _settle_kind(
    package: Package,
    identity: Identity,
    source: Source | None,
    rewriting: Rewriting,
    edit: DocumentEdit,
    target: Path,
) -> None:
    """Have the file be what its name says; one that was not, and keeps its name, stays so."""
    if source is None:
        cleaned(rewriting, identity.part)
        SUFFIXES.fit(rewriting, identity.part, target.name)
    elif PurePath(source.name).suffix.lower() != target.suffix.lower():
        SUFFIXES.fit(rewriting, identity.part, target.name)
    elif told := suffix_mismatch(identity, FAMILY, package.name):
        edit.notices.warn(told)
