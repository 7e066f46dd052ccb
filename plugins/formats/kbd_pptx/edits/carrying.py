"""Carries operations out, in order, all or nothing: the file is written when all went through."""

from pathlib import Path
from typing import assert_never

import msgspec
import pptx

from kbd.errors import ValidationFailed
from kbd.formats import Applied, Source
from kbd.opc import Identity
from kbd.opc.library_bridge import Lending, library_errors
from kbd.opc.package import Package
from kbd.opc.rewriter import Rewriting
from kbd_pptx.edits.adding import add_slide
from kbd_pptx.edits.blank import blank_deck, unlent
from kbd_pptx.edits.bystanders import tell_of_bystanders
from kbd_pptx.edits.deck import DeckEdit
from kbd_pptx.edits.notes import set_notes
from kbd_pptx.edits.noticing import Notices
from kbd_pptx.edits.order import delete_slide, move_slide
from kbd_pptx.edits.replacing import replace_text
from kbd_pptx.edits.suffixes import check_new_name, fitting_type
from kbd_pptx.edits.writing import append_bullets, set_slide_text
from kbd_pptx.family import PLAIN_TYPE, opened
from kbd_pptx.operations import (
    AddSlide,
    AppendBullets,
    DeleteSlide,
    MoveSlide,
    ReplaceText,
    SetNotes,
    SetSlideText,
)

__all__ = ["apply"]

Operation = (
    AddSlide | SetSlideText | AppendBullets | ReplaceText | SetNotes | DeleteSlide | MoveSlide
)


def apply(source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path) -> Applied:
    """Apply operations and write the result.

    Raises:
        ValidationFailed: An operation cannot be applied, or not without a loss.
        FileReadFailed: The source cannot be read.
    """
    if source is None:
        return _made(operations, target)
    with opened(source) as (package, identity):
        type_ = fitting_type(identity.type, target.suffix)
        notices = Notices()
        rewriting, changed, external = _edited(package, identity, operations, notices)
        if type_ != identity.type:
            rewriting.add(identity.part, rewriting.read(identity.part), type_)
        rewriting.save(target)
    return Applied(len(changed), changed, notices.warnings, external)


def _made(operations: tuple[msgspec.Struct, ...], target: Path) -> Applied:
    type_ = check_new_name(target.suffix)
    notices = Notices()
    deck = DeckEdit(blank_deck(), notices, is_strict=False)
    changed = tuple(_carried_out(deck, operation) for operation in operations)
    unlent(deck.presentation, target.name, type_).save(target)
    return Applied(len(changed), changed, notices.warnings)


def _edited(
    package: Package,
    identity: Identity,
    operations: tuple[msgspec.Struct, ...],
    notices: Notices,
) -> tuple[Rewriting, tuple[str, ...], tuple[str, ...]]:
    """Return the package as it becomes, what changed, and what it newly reaches out to."""
    if not operations:
        return Rewriting(package), (), ()
    tell_of_bystanders(package, identity.part, notices)
    lending = Lending(package, identity, PLAIN_TYPE)
    with library_errors(package.name):
        presentation = pptx.Presentation(lending.copy())
        lending.loaded(presentation.part.package)
        deck = DeckEdit(presentation, notices, is_strict=lending.is_strict)
        changed = tuple(_carried_out(deck, operation) for operation in operations)
        rewriting, external = lending.returned(presentation.part.package)
    return rewriting, changed, external


def _carried_out(deck: DeckEdit, operation: msgspec.Struct) -> str:
    """Apply one operation and return what it changed."""
    if not isinstance(operation, Operation):
        raise ValidationFailed(f"{type(operation).__name__} is not built yet.")
    match operation:
        case AddSlide():
            return add_slide(deck, operation)
        case SetSlideText():
            return set_slide_text(deck, operation)
        case AppendBullets():
            return append_bullets(deck, operation)
        case ReplaceText():
            return replace_text(deck, operation)
        case SetNotes():
            return set_notes(deck, operation)
        case DeleteSlide():
            return delete_slide(deck, operation)
        case MoveSlide():
            return move_slide(deck, operation)
        case other:
            assert_never(other)
