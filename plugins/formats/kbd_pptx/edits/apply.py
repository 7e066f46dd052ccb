"""Operations applied in order, all or nothing: the file is written when all went through."""

from functools import partial
from pathlib import Path

import msgspec
import pptx

from kbd.formats import Applied, Source
from kbd.office.operations import OperationTable, apply_in_order
from kbd.opc import Identity
from kbd.opc.library_bridge import LibraryBridge, library_errors
from kbd.opc.package import Package
from kbd.opc.rewriter import Rewriting
from kbd_pptx.edits.blank import blank_deck, unlent
from kbd_pptx.edits.deck import DeckEdit
from kbd_pptx.edits.new_slide import add_slide
from kbd_pptx.edits.notes import set_notes
from kbd_pptx.edits.order import delete_slide, move_slide
from kbd_pptx.edits.replacement import replace_text
from kbd_pptx.edits.text_writer import append_bullets, set_slide_text
from kbd_pptx.edits.warnings import DeckWarnings, warn_of_bystanders
from kbd_pptx.family import PLAIN_TYPE, SUFFIXES, opened
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


def apply(source: Source | None, operations: tuple[msgspec.Struct, ...], target: Path) -> Applied:
    """Apply operations and write the result.

    Raises:
        ValidationFailed: An operation cannot be applied, or not without a loss.
        FileReadFailed: The source cannot be read.
    """
    if source is None:
        return _made(operations, target)
    with opened(source) as (package, identity):
        type_ = SUFFIXES.fitting_type(identity.type, target.name)
        notices = DeckWarnings()
        rewriting, changed, external = _edited(package, identity, operations, notices)
        if type_ != identity.type:
            rewriting.add(identity.part, rewriting.read(identity.part), type_)
        rewriting.save(target)
    return Applied(len(changed), changed, notices.texts, external)


def _made(operations: tuple[msgspec.Struct, ...], target: Path) -> Applied:
    type_ = SUFFIXES.type_of_new(target.name)
    notices = DeckWarnings()
    deck = DeckEdit(blank_deck(), notices, is_strict=False)
    changed = apply_in_order(operations, _table(deck))
    unlent(deck.presentation, target.name, type_).save(target)
    return Applied(len(changed), changed, notices.texts)


def _edited(
    package: Package,
    identity: Identity,
    operations: tuple[msgspec.Struct, ...],
    notices: DeckWarnings,
) -> tuple[Rewriting, tuple[str, ...], tuple[str, ...]]:
    """Return the package as it becomes, what changed, and what it newly reaches out to."""
    if not operations:
        return Rewriting(package), (), ()
    warn_of_bystanders(package, identity.part, notices)
    lending = LibraryBridge(package, identity, PLAIN_TYPE)
    with library_errors(package.name):
        presentation = pptx.Presentation(lending.copy())
        lending.loaded(presentation.part.package)
        deck = DeckEdit(presentation, notices, is_strict=lending.is_strict)
        changed = apply_in_order(operations, _table(deck))
        rewriting, external = lending.returned(presentation.part.package)
    return rewriting, changed, external


def _table(deck: DeckEdit) -> OperationTable:
    """Return what applies each operation to a deck."""
    return {
        AddSlide: partial(add_slide, deck),
        SetSlideText: partial(set_slide_text, deck),
        AppendBullets: partial(append_bullets, deck),
        ReplaceText: partial(replace_text, deck),
        SetNotes: partial(set_notes, deck),
        DeleteSlide: partial(delete_slide, deck),
        MoveSlide: partial(move_slide, deck),
    }
