"""Operations applied to a document: edits of it, and other documents appended, in order.

An edit goes through a library and an appended document does not, so operations are applied in
stretches, each to what the one before wrote beside the target.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.formats import Applied, Source
from kbd.opc.rewriter import Rewriting
from kbd_docx.assets.append_document import append_document
from kbd_docx.assets.target import Target
from kbd_docx.document import open_document
from kbd_docx.edits.apply import apply as apply_edits
from kbd_docx.edits.reach import reach_after
from kbd_docx.operations import AppendDocument
from kbd_docx.revisions.snapshot import DocxSnapshot
from kbd_docx.revisions.tracker import record_changes, tracking_of

__all__ = ["apply"]

Operations = tuple[msgspec.Struct, ...]


def apply(
    source: Source | None,
    operations: Operations,
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
        FileReadFailed: The source, or a file that is appended, cannot be read.
    """
    if not any(isinstance(each, AppendDocument) for each in operations):
        return apply_edits(source, operations, target, files)
    stretches = list(_stretches(operations, is_new=source is None))
    passing = [target.with_name(f"{number}-{target.name}") for number in range(len(stretches) - 1)]
    name = target.name if source is None else source.name
    earlier: tuple[str, ...] = () if source is None else source.external
    found: list[Applied] = []
    start = source
    try:
        for stretch, path in zip(stretches, [*passing, target], strict=True):
            found.append(_apply(start, stretch, path, files or {}))
            known = (each for applied in found for each in applied.external)
            start = Source(path, name, external=tuple(dict.fromkeys((*earlier, *known))))
    finally:
        for path in passing:
            path.unlink(missing_ok=True)
    return _together(found, earlier)


def _stretches(operations: Operations, *, is_new: bool) -> Iterator[Operations]:
    """Yield operations in stretches of edits, and of documents to be appended."""
    if is_new and isinstance(operations[0], AppendDocument):
        # A new document is made by an edit, be it one of nothing.
        yield ()
    for _, group in groupby(operations, lambda each: isinstance(each, AppendDocument)):
        yield tuple(group)


def _appends(stretch: Operations) -> bool:
    return bool(stretch) and isinstance(stretch[0], AppendDocument)


def _apply(
    start: Source | None, stretch: Operations, path: Path, files: Mapping[str, Source]
) -> Applied:
    if start is None or not _appends(stretch):
        return apply_edits(start, stretch, path, files)
    with open_document(start) as (package, identity):
        rewriting = Rewriting(package)
        made = Target(rewriting, identity.part)
        made.warnings.warn_of_signature(package.relations(""), "document")
        changed = []
        for operation in stretch:
            assert isinstance(operation, AppendDocument), "stretches are of one kind"
            other = files.get(operation.file)
            if other is None:
                raise ValidationFailed(
                    f"the document {operation.file!r} was not given with the operations"
                )
            changed.append(_appended(made, other, operation))
        made.finish()
        rewriting.save(path)
        reach = reach_after(rewriting, made.warnings.external, start)
    return Applied(len(changed), tuple(changed), made.warnings.texts, *reach)


def _appended(made: Target, other: Source, operation: AppendDocument) -> str:
    """Append a document, its content marked as inserted if the operation says so."""
    tracking = tracking_of(operation)
    if tracking is None:
        return append_document(made, other, operation)
    snapshot = DocxSnapshot(_trees(made))
    words = append_document(made, other, operation)
    record_changes(snapshot, _trees(made), tracking, made.warnings.warn)
    return words


def _trees(made: Target) -> list[etree._Element]:
    """Return the roots of what an appended document goes into."""
    parts = [made.main, *filter(None, map(made.part, ("footnotes", "endnotes")))]
    return [made.root(part) for part in parts]


def _together(found: list[Applied], earlier: tuple[str, ...]) -> Applied:
    """Return what several stretches did as one."""
    last = found[-1]
    new = dict.fromkeys(each for applied in found for each in applied.external)
    there = {*last.external, *(new if last.remaining is None else last.remaining)}
    return msgspec.structs.replace(
        last,
        applied=sum(each.applied for each in found),
        changed=tuple(words for each in found for words in each.changed),
        warnings=tuple(dict.fromkeys(text for each in found for text in each.warnings)),
        external=tuple(each for each in new if each in there and each not in earlier),
        remaining=tuple(each for each in earlier if each in there),
        focus=found[0].focus,
    )
