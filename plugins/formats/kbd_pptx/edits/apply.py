"""Operations applied in order, all or nothing: the file is written when all went through."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import pptx

from kbd.formats import Applied, FocusHint, Source
from kbd.office.operations import OperationTable, apply_in_order
from kbd.office.reach import external_targets, reach_after
from kbd.opc import Identity
from kbd.opc.library_bridge import LibraryBridge, library_errors
from kbd.opc.package import Package
from kbd.opc.rewriter import Rewriting
from kbd_pptx.edits.app_properties import told_slides, update_app_properties
from kbd_pptx.edits.blank import blank_deck, new_package
from kbd_pptx.edits.charts import add_chart, set_chart
from kbd_pptx.edits.deck import DeckEdit
from kbd_pptx.edits.drawn_shapes import add_shape, add_textbox, set_shape
from kbd_pptx.edits.duplicates import duplicate_slide
from kbd_pptx.edits.layout_change import set_layout
from kbd_pptx.edits.notes import set_notes
from kbd_pptx.edits.pictures import add_image, replace_image
from kbd_pptx.edits.preview_picture import pictured_slide, warn_of_preview
from kbd_pptx.edits.replacement import replace_text
from kbd_pptx.edits.slides import add_slide, delete_slide, move_slide
from kbd_pptx.edits.tables import (
    add_table,
    delete_table_rows,
    insert_table_rows,
    set_table_cells,
)
from kbd_pptx.edits.template import fill_template
from kbd_pptx.edits.text_writer import append_bullets, set_slide_text
from kbd_pptx.edits.warnings import DeckWarnings, warn_of_protection
from kbd_pptx.operations import (
    AddShape,
    AddSlide,
    AddSlideChart,
    AddSlideImage,
    AddSlideTable,
    AddTextbox,
    AppendBullets,
    DeleteSlide,
    DeleteSlideRows,
    DuplicateSlide,
    FillDeckTemplate,
    InsertSlideRows,
    MoveSlide,
    ReplaceImage,
    ReplaceText,
    SetLayout,
    SetNotes,
    SetShape,
    SetSlideChart,
    SetSlideTableCells,
    SetSlideText,
)
from kbd_pptx.presentation import PLAIN_TYPE, SUFFIXES, open_presentation

__all__ = ["apply"]


def apply(
    source: Source | None,
    operations: tuple[msgspec.Struct, ...],
    target: Path,
    files: Mapping[str, Source] = MappingProxyType({}),
) -> Applied:
    """Apply operations and write the result.

    Args:
        source: The deck; None for a new one.
        operations: The records, in order.
        target: Where the result goes.
        files: The other files that they name, by their paths.

    Raises:
        ValidationFailed: An operation cannot be applied, or not without a loss.
        FileReadFailed: The source cannot be read.
    """
    if source is None:
        return _apply_to_new(operations, target, files)
    with open_presentation(source) as (package, identity):
        type_ = SUFFIXES.fitting_type(identity.type, target.name)
        warnings = DeckWarnings()
        slides, rewriting, changed, external = _apply_to(
            package, identity, operations, warnings, files
        )
        # After the edits, so that the part goes under its new type as they left it.
        if type_ != identity.type:
            rewriting.add(identity.part, rewriting.read(identity.part), type_)
        rewriting.save(target)
        reach = reach_after(external, source, partial(external_targets, rewriting))
    focus = _focus(operations, slides)
    return Applied(len(changed), changed, warnings.texts, *reach, focus)


def _apply_to_new(
    operations: tuple[msgspec.Struct, ...], target: Path, files: Mapping[str, Source]
) -> Applied:
    type_ = SUFFIXES.type_of_new(target.name)
    warnings = DeckWarnings()
    deck = DeckEdit(blank_deck(), warnings, is_strict=False, files=files)
    changed = apply_in_order(operations, _operation_table(deck))
    new_package(deck.presentation, target.name, type_).save(target)
    return Applied(len(changed), changed, warnings.texts, focus=_focus(operations, 0))


def _focus(operations: tuple[msgspec.Struct, ...], slides: int) -> FocusHint | None:
    """Return the first slide that operations name or add, of a deck that had so many slides."""
    named: list[int] = []
    for operation in operations:
        match operation:
            case AddSlide(index=index):
                named.append(slides if index is None else index)
                slides += 1
            case ReplaceText(index=None) | FillDeckTemplate():
                continue
            case DeleteSlide(index=index):
                slides -= 1
                # What is gone cannot be looked at: the slide in its place can, or the last one.
                named.append(max(min(index, slides - 1), 0))
            case DuplicateSlide(index=index, to=to):
                named.append(index + 1 if to is None else to)
                slides += 1
            case _:
                named.append(operation.index)  # type: ignore[attr-defined]  # all others have one
    return FocusHint(slide_index=min(named)) if named else None


def _apply_to(
    package: Package,
    identity: Identity,
    operations: tuple[msgspec.Struct, ...],
    warnings: DeckWarnings,
    files: Mapping[str, Source],
) -> tuple[int, Rewriting, tuple[str, ...], tuple[str, ...]]:
    """Apply operations to a package; return it, what changed, and new external targets.

    The first of what is returned is how many slides there were.
    """
    # Nothing was asked of the file, so nothing of it is loaded or warned of.
    if not operations:
        return 0, Rewriting(package), (), ()
    warn_of_protection(package, identity.part, warnings)
    # python-pptx opens no template and no strict variant, and writes all anew: it is lent a copy
    # that it can open, and only what it changed comes back.
    lending = LibraryBridge(package, identity, PLAIN_TYPE)
    with library_errors(package.name):
        presentation = pptx.Presentation(lending.copy())
        lending.loaded(presentation.part.package)
        deck = DeckEdit(
            presentation,
            warnings,
            is_strict=lending.is_strict,
            files=files,
            contents=partial(_contents, package, lending),
        )
        # By the entries: python-pptx adds a list of slides where there is none.
        slides = len(deck.entries)
        told, reached = told_slides(deck), _external_addresses(presentation.part.package)
        pictured = pictured_slide(deck)
        changed = apply_in_order(operations, _operation_table(deck))
        update_app_properties(deck, told)
        warn_of_preview(deck, pictured)
        rewriting, external = lending.returned(presentation.part.package)
    # A slide that was copied reaches out to what its original did before.
    new = tuple(each for each in external if each not in reached)
    return slides, rewriting, changed, new


def _external_addresses(package: Any) -> frozenset[str]:
    """Return the addresses that the parts of a deck reach out to."""
    return frozenset(
        relation.target_ref
        for part in package.iter_parts()
        for relation in part.rels.values()
        if relation.is_external
    )


def _contents(package: Package, lending: LibraryBridge, part: Any) -> bytes:
    """Return the bytes of a part: those of the file, if it is of it and no edit changed it."""
    name = lending.name_of(part)
    blob: bytes = part.blob
    return package.read(name) if name and blob == name.encode() else blob


def _operation_table(deck: DeckEdit) -> OperationTable:
    """Return the function that applies each type of operation to a deck."""
    return {
        AddSlide: partial(add_slide, deck),
        SetSlideText: partial(set_slide_text, deck),
        AppendBullets: partial(append_bullets, deck),
        ReplaceText: partial(replace_text, deck),
        SetNotes: partial(set_notes, deck),
        DeleteSlide: partial(delete_slide, deck),
        MoveSlide: partial(move_slide, deck),
        DuplicateSlide: partial(duplicate_slide, deck),
        SetLayout: partial(set_layout, deck),
        AddSlideTable: partial(add_table, deck),
        SetSlideTableCells: partial(set_table_cells, deck),
        InsertSlideRows: partial(insert_table_rows, deck),
        DeleteSlideRows: partial(delete_table_rows, deck),
        AddSlideChart: partial(add_chart, deck),
        SetSlideChart: partial(set_chart, deck),
        AddSlideImage: partial(add_image, deck),
        ReplaceImage: partial(replace_image, deck),
        AddTextbox: partial(add_textbox, deck),
        AddShape: partial(add_shape, deck),
        SetShape: partial(set_shape, deck),
        FillDeckTemplate: partial(fill_template, deck),
    }
