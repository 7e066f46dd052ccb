"""Carries operations out, in order, all or nothing: the file is written when all went through."""

from pathlib import Path, PurePath
from typing import assert_never

import docx
import msgspec

from kbd.errors import ValidationFailed
from kbd.formats import Applied, Source
from kbd.opc import Identity, doubt
from kbd.opc.library_bridge import Lending, library_errors
from kbd.opc.package import Package
from kbd.opc.rewriter import Rewriting
from kbd_docx.edits.blank import TEMPLATE, check_new_name, cleaned, fit, modernized
from kbd_docx.edits.bystanders import tell_bystanders
from kbd_docx.edits.document import DocumentEdit
from kbd_docx.edits.paragraphs import (
    append_paragraph,
    delete_paragraphs,
    insert_paragraph,
    set_paragraphs,
)
from kbd_docx.edits.tables import add_table, set_table_cells
from kbd_docx.family import FAMILY, PLAIN_TYPE, opened
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

Operation = (
    SetParagraphs
    | AppendParagraph
    | InsertParagraph
    | DeleteParagraphs
    | ReplaceText
    | AddTable
    | SetTableCells
)


def apply(source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path) -> Applied:
    """Apply operations and write the result.

    Raises:
        ValidationFailed: An operation cannot be applied, or not without a loss.
        FileReadFailed: The source cannot be read.
    """
    if source is None:
        check_new_name(target.name)
    with opened(source or TEMPLATE) as (package, identity):
        lending = Lending(package, identity, PLAIN_TYPE)
        with library_errors(package.name):
            document = docx.Document(lending.copy())
            whole = document.part.package
            lending.loaded(whole)
            edit = DocumentEdit(document, is_strict=lending.is_strict)
            if source is None:
                modernized(document.settings.element)
            else:
                tell_bystanders(package, document, edit.notices)
            changed = tuple(_carried_out(edit, operation) for operation in operations)
            edit.finish()
            rewriting, external = lending.returned(whole)
        _settle_kind(package, identity, source, rewriting, edit, target)
        rewriting.save(target)
    return Applied(len(changed), changed, edit.notices.warnings, external)


def _carried_out(edit: DocumentEdit, operation: msgspec.Struct) -> str:
    """Apply one operation and return what it changed."""
    if not isinstance(operation, Operation):
        raise ValidationFailed(f"{type(operation).__name__} is not built yet.")
    if isinstance(operation, ReplaceText):
        return edit.stories.replace(operation)
    edit.stories.forget_body()
    match operation:
        case SetParagraphs():
            return set_paragraphs(edit, operation)
        case AppendParagraph():
            return append_paragraph(edit, operation)
        case InsertParagraph():
            return insert_paragraph(edit, operation)
        case DeleteParagraphs():
            return delete_paragraphs(edit, operation)
        case AddTable():
            return add_table(edit, operation)
        case SetTableCells():
            return set_table_cells(edit, operation)
        case other:
            assert_never(other)


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
        fit(rewriting, identity.part, target.suffix)
    elif PurePath(source.name).suffix.lower() != target.suffix.lower():
        fit(rewriting, identity.part, target.suffix)
    elif told := doubt(identity, FAMILY, package.name):
        edit.notices.warn(told)
