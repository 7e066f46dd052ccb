"""Operations carried out: a new PDF file, written whole from what others have.

Nothing depends on the clock or on chance: the same operations on the same files give the same
bytes. Objects that nothing leads to are not written, so that what was left out is gone.
"""

import contextlib
import io
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from pypdf import PdfReader, PdfWriter

from kbd.errors import ValidationFailed
from kbd.formats import Applied, Source
from kbd.formats.page_numbers import MAX_PAGES, format_page_numbers, parse_page_numbers
from kbd_pdf.documents import open_by_pypdf
from kbd_pdf.making.form_values import fill_form
from kbd_pdf.making.operations import AddPages, FillForm, KeepPages, RotatePages
from kbd_pdf.making.page_sets import drop_signatures, drop_xfa, take_pages, turn
from kbd_pdf.streams import check_streams
from kbd_pdf.structure import read_structure

__all__ = ["apply"]

_NEW = "the new file"


def _called(numbers: Sequence[int]) -> str:
    listed = format_page_numbers(numbers)
    return f"page {listed}" if len(numbers) == 1 else f"pages {listed}"


def apply(
    source: Source | None,
    operations: tuple[msgspec.Struct, ...],
    target: Path,
    files: Mapping[str, Source],
) -> Applied:
    """Write the file that results from operations, on a copy of `source` if there is one.

    Raises:
        ValidationFailed: An operation does not fit, or a file cannot be taken from.
        FileReadFailed: A file cannot be read.
    """
    if source is not None and not operations:
        shutil.copyfile(source.path, target)
        return Applied(0, ())
    with contextlib.ExitStack() as stack:
        draft = _Draft(stack, files)
        if source is not None:
            draft.begin(source)
        changed = tuple(draft.apply(operation) for operation in operations)
        warnings = draft.write(target)
    return Applied(len(operations), changed, warnings)


class _Draft:
    """The new file while operations are carried out on it.

    Args:
        stack: What holds the files open that it is made from; objects are read from them late.
        files: The files that operations name.
    """

    def __init__(self, stack: contextlib.ExitStack, files: Mapping[str, Source]) -> None:
        self._stack = stack
        self._files = files
        self._readers: dict[Path, PdfReader] = {}
        self._writer = PdfWriter()
        self._warnings: dict[str, None] = {}

    def begin(self, source: Source) -> None:
        """Begin with a copy of a file.

        Raises:
            ValidationFailed: It is signed or encrypted.
        """
        reader = self._reader(source)
        if read_structure(reader, with_pages=False).is_signed:
            raise ValidationFailed(
                f"{source.name} is signed, and a signature does not hold for a changed copy: make "
                "a new file with add_pages, which leaves the signature out"
            )
        self._writer = PdfWriter(clone_from=reader)

    def apply(self, operation: msgspec.Struct) -> str:
        """Carry out an operation; return what it changed."""
        match operation:
            case AddPages():
                return self._add(operation)
            case KeepPages():
                return self._keep(operation)
            case RotatePages():
                numbers = self._numbers(operation.pages)
                turn(self._writer, numbers, operation.degrees)
                return f"{_called(numbers)} turned by {operation.degrees} degrees"
            case FillForm():
                return self._fill(operation)
            case _:
                raise AssertionError(operation)

    def write(self, target: Path) -> tuple[str, ...]:
        """Write the file; return what should be known of it.

        Raises:
            ValidationFailed: It has no pages.
        """
        writer = self._writer
        if not len(writer.pages):
            raise ValidationFailed("the new file has no pages: give add_pages")
        drop_signatures(writer)
        if drop_xfa(writer):
            self._warn(
                "The form was kept in a second way, too (XFA), which does not come along: programs "
                "show the fields as they are listed."
            )
        # Unreferenced: old values and pages that were left out must not stay in the bytes.
        writer.compress_identical_objects(remove_duplicates=False, remove_unreferenced=True)
        with target.open("xb") as file:
            writer.write(file)
        structure = read_structure(writer)
        return (*self._warnings, *structure.actions.warnings())

    def _add(self, operation: AddPages) -> str:
        source = self._files[operation.file]
        if not source.name.lower().endswith(".pdf"):
            raise ValidationFailed(f"{source.name} is no PDF file: pages are taken from such")
        reader = self._reader(source)
        count = len(reader.pages)
        every = f"1-{count}"
        numbers = parse_page_numbers(operation.pages or every, count, source.name)
        before = len(self._writer.pages)
        if before + len(numbers) > MAX_PAGES:
            raise ValidationFailed(f"a new file has at most {MAX_PAGES:,} pages")
        self._warn(*take_pages(self._writer, reader, numbers, source.name))
        if operation.degrees is not None:
            turn(self._writer, range(before + 1, before + len(numbers) + 1), operation.degrees)
        return f"{_called(numbers)} of {source.name} added"

    def _keep(self, operation: KeepPages) -> str:
        numbers = self._numbers(operation.pages)
        # Read again from its bytes: what leads to pages that go is then left out as of any file.
        made = io.BytesIO()
        self._writer.write(made)
        reader = PdfReader(made)
        about = self._writer.metadata
        self._writer = PdfWriter()
        self._warn(*take_pages(self._writer, reader, numbers, _NEW))
        if about is not None:
            self._writer.metadata = about
        return f"{_called(numbers)} kept"

    def _fill(self, operation: FillForm) -> str:
        changed, warnings = fill_form(self._writer, operation, _NEW)
        self._warn(*warnings)
        return changed

    def _numbers(self, pages: str | None) -> tuple[int, ...]:
        count = len(self._writer.pages)
        if not count:
            raise ValidationFailed("the new file has no pages yet: give add_pages first")
        return parse_page_numbers(pages or f"1-{count}", count, _NEW)

    def _warn(self, *warnings: str) -> None:
        self._warnings.update(dict.fromkeys(warnings))

    def _reader(self, source: Source) -> PdfReader:
        """Return a file, held open; it may be named more than once.

        Raises:
            ValidationFailed: It is encrypted.
            FileReadFailed: It cannot be read.
        """
        reader = self._readers.get(source.path)
        if reader is None:
            check_streams(source.path, source.name)
            reader = self._stack.enter_context(open_by_pypdf(source))
            if reader.is_encrypted:
                raise ValidationFailed(
                    f"{source.name} is encrypted: what is made from it would be open to all"
                )
            self._readers[source.path] = reader
        return reader
