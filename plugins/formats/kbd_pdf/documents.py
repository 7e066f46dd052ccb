"""A file, opened by whichever of the two libraries can.

pdfium is fast and opens damaged files; pypdf opens some that pdfium refuses, and knows structure
that pdfium does not tell. pypdf says what it finds odd through logging, which nobody reads here.
"""

import contextlib
import logging
import re
import warnings
from collections.abc import Iterator
from typing import Any

import msgspec
import pypdfium2 as pdfium
from pypdf import PdfReader, apply_configuration
from pypdfium2 import raw

from kbd.errors import FileReadFailed, KbdError
from kbd.formats import Source
from kbd_pdf.streams import MOST_ENTRIES, STREAM_BYTES, check_streams, has_end, table_entries

__all__ = ["OpenedPdf", "opened", "read_by_pypdf"]

for _name in ("pypdf", "pypdfium2"):
    _logger = logging.getLogger(_name)
    _logger.addHandler(logging.NullHandler())
    _logger.propagate = False

_CATALOGUE = re.compile(rb"/Type\s{0,5}/Catalog\b")
_BEGINNING = re.compile(rb"\b(\d{1,10}\s{1,5}\d{1,5})\s{1,5}obj\b")
_BEGINNING_BYTES = 1000
"""How far before its type an object is expected to begin."""

_LIMITS: dict[str, Any] = {
    "zlib_maximum_output_length": STREAM_BYTES,
    "lzw_maximum_output_length": STREAM_BYTES,
    "run_length_maximum_output_length": STREAM_BYTES,
    "array_based_stream_maximum_output_length": STREAM_BYTES,
    # No program of this machine is started for a picture.
    "jbig2dec_binary": None,
}


class OpenedPdf(msgspec.Struct, frozen=True):
    """A file that is open.

    Args:
        name: How it is called in messages.
        page_count: How many pages it has.
        document: As pdfium has it; None where pdfium cannot open it and pypdf can.
        warnings: What the reader must know of the whole file.
    """

    name: str
    page_count: int
    document: pdfium.PdfDocument | None
    warnings: tuple[str, ...]


@contextlib.contextmanager
def opened(source: Source) -> Iterator[OpenedPdf]:
    """Open a file.

    Raises:
        FileReadFailed: Neither library can, it needs a password, or it is past a limit.
    """
    check_streams(source.path, source.name)
    notes = () if has_end(source.path) else (_CUT,)
    document, is_locked = _by_pdfium(source)
    if document is None:
        count = _pages_by_pypdf(source, is_locked=is_locked)
        yield OpenedPdf(source.name, count, None, (*notes, _SLOWLY))
        return
    with document:
        # Needed for the values of forms and for drawing them; nothing that they do is run.
        with contextlib.suppress(pdfium.PdfiumError):
            document.init_forms()
        yield OpenedPdf(source.name, len(document), document, notes)


@contextlib.contextmanager
def read_by_pypdf(source: Source) -> Iterator[PdfReader]:
    """Open a file with pypdf; what goes wrong inside the `with` is told as a damaged file, too.

    Raises:
        FileReadFailed: It cannot be opened, needs a password, or has more objects than pypdf is
            good for.
    """
    if table_entries(source.path) > MOST_ENTRIES:
        raise FileReadFailed(f"{source.name} claims more than {MOST_ENTRIES:,} objects.")
    with (
        source.path.open("rb") as file,
        apply_configuration(**_LIMITS),
        warnings.catch_warnings(action="ignore"),
    ):
        try:
            reader = PdfReader(file)
            if reader.is_encrypted and not reader.decrypt(""):
                raise _locked(source.name)
            yield reader
        except (KbdError, MemoryError):
            raise
        except Exception as error:
            # Of a damaged file pypdf raises what Python does: KeyError, TypeError, RecursionError…
            raise FileReadFailed(f"{source.name} is damaged ({type(error).__name__}).") from error


def _by_pdfium(source: Source) -> tuple[pdfium.PdfDocument | None, bool]:
    """Return the file as pdfium opens it, or None and whether it wants a password."""
    try:
        return pdfium.PdfDocument(source.path), False
    except pdfium.PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            return None, True
    with contextlib.suppress(pdfium.PdfiumError):
        return pdfium.PdfDocument(_mended(source)), False
    return None, False


def _mended(source: Source) -> bytes:
    """Return a file's bytes with what pdfium cannot do without: a first line and a last entry.

    A file that was cut off has lost the entry that names its catalogue, though that itself often
    stands near the beginning.
    """
    data = source.path.read_bytes()
    head = b"" if b"%PDF" in data[:1024] else b"%PDF-1.7\n"
    roots = [found.start() for found in _CATALOGUE.finditer(data)]
    end = roots[-1] if roots else 0
    begun = _BEGINNING.findall(data[max(0, end - _BEGINNING_BYTES) : end])
    tail = b"\nendobj\ntrailer\n<</Root %s R>>\n%%%%EOF\n" % begun[-1] if begun else b""
    return head + data + tail


def _pages_by_pypdf(source: Source, *, is_locked: bool) -> int:
    """Return how many pages pypdf finds; raises FileReadFailed in the words that fit best."""
    try:
        with read_by_pypdf(source) as reader:
            count = len(reader.pages)
    except FileReadFailed as error:
        if is_locked:
            raise _locked(source.name) from error
        if not _has_mark(source):
            raise FileReadFailed(f"{source.name} is no PDF file.") from error
        raise
    if count == 0:
        raise FileReadFailed(f"{source.name} is damaged: no page of it is found.")
    return count


def _has_mark(source: Source) -> bool:
    with source.path.open("rb") as file:
        return b"%PDF" in file.read(4096)


def _locked(name: str) -> FileReadFailed:
    return FileReadFailed(
        f"{name} is encrypted and needs a password.",
        actions=("Save a copy without the password and add that.",),
    )


_CUT = "The file has no proper end: it may be cut off, and was read as far as it goes."
_SLOWLY = "The file is damaged: it was opened in a way that finds less text than usual."
