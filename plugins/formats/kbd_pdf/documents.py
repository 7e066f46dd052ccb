"""A PDF file, opened by pdfium or pypdf after its streams were measured.

pdfium is fast and opens damaged files; pypdf opens some that pdfium refuses, and knows structure
that pdfium does not give. pypdf reports what it finds odd through logging, which nobody reads here.
"""

import contextlib
import logging
import mmap
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pypdfium2 as pdfium
from pypdf import PdfReader, apply_configuration
from pypdfium2 import raw

from kbd.errors import FileReadFailed, KbdError
from kbd.formats import Source
from kbd_pdf.forms import check_drawing, check_forms
from kbd_pdf.masks import may_be_shaded, may_cost_more
from kbd_pdf.streams import STREAM_BYTES, check_streams, may_paint_often

__all__ = [
    "MAX_ENTRIES",
    "MAX_PACKED",
    "DrawingCost",
    "OpenedPdf",
    "has_end_mark",
    "may_have_actions",
    "most_packed",
    "open_by_pypdf",
    "open_pdf",
    "table_entries",
]

MAX_ENTRIES = 300_000
"""Objects that pypdf is given: it needs 4 µs and 250 bytes for each."""

MAX_PACKED = 10_000
"""Objects in one stream of objects that pypdf is given: it makes all of them, at 0.25 ms each, when
it needs one. Most programs pack some hundred together; cairo packs all of a file."""

_PACK = b"/ObjStm"
_PACKED = re.compile(rb"/N\s{0,5}(\d{1,12})\b")
_DICTIONARY_BYTES = 300
"""How far from its type the entries of such a stream stand."""

# It begins with plain letters, which are found some ten times as fast as anything before them.
_TABLE = re.compile(rb"xref\s+\d+\s+(\d{1,12})\s")

_ESCAPED = re.compile(rb"/[A-Za-z]{0,8}#(?:41|4[eE]|6[eE]|6[fF]|74|4[fF]|62|6[aA]|53|6[dD])")
"""A letter of those names as a number (ISO 32000-1, 7.3.5)."""


def table_entries(path: Path) -> int:
    """Return how many entries the tables of objects claim that stand in the file as text."""
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        return sum(int(found[1]) for found in _TABLE.finditer(data))


def most_packed(path: Path) -> int:
    """Return how many objects a stream of objects claims to hold, the largest that there is."""
    most = 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        place = data.find(_PACK)
        while place >= 0:
            begin = max(data.rfind(b"obj", max(0, place - _DICTIONARY_BYTES), place), 0)
            near = data[begin : place + _DICTIONARY_BYTES].partition(b"stream\n")[0]
            most = max([most, *(int(found[1]) for found in _PACKED.finditer(near))])
            place = data.find(_PACK, place + 1)
    return most


def may_have_actions(path: Path) -> bool:
    """Tell whether a page may have annotations or actions.

    Where no object is packed and no name is written in a roundabout way, the bytes tell that none
    has; that saves pypdf half of its work on most plain files.
    """
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        marks = (b"/Annot", b"/AA", b"/ObjStm", b"/Encrypt")
        if any(data.find(mark) >= 0 for mark in marks):
            return True
        return _ESCAPED.search(data) is not None


def has_end_mark(path: Path) -> bool:
    """Tell whether the mark that ends a file stands near its end."""
    with path.open("rb") as file:
        size = file.seek(0, 2)
        file.seek(max(0, size - 2048))
        return b"%%EOF" in file.read()


for _name in ("pypdf", "pypdfium2"):
    _logger = logging.getLogger(_name)
    _logger.addHandler(logging.NullHandler())
    _logger.propagate = False

_CATALOG = re.compile(rb"/Type\s{0,5}/Catalog\b")
_OBJECT_START = re.compile(rb"\b(\d{1,10}\s{1,5}\d{1,5})\s{1,5}obj\b")
_OBJECT_START_BYTES = 1000
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
    """An open PDF file.

    Args:
        name: How it is called in messages.
        page_count: How many pages it has.
        document: As pdfium has it; None where pdfium cannot open it and pypdf can.
        warnings: What the reader must know of the whole file.
        cost: What drawing its pages costs.
    """

    name: str
    page_count: int
    document: pdfium.PdfDocument | None
    warnings: tuple[str, ...]
    cost: "DrawingCost"


class DrawingCost:
    """What drawing the pages of a file costs; found out where one is drawn."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._may_be_much: bool | None = None
        self._may_be_shaded: bool | None = None

    def is_little(self) -> bool:
        """Tell whether what pages cost is told by how many things are on them."""
        if self._may_be_shaded is None:
            self._may_be_shaded = may_be_shaded(self._source.path)
        return not self._may_be_shaded

    def check(self, index: int) -> None:
        """Check that a page, counted from 0, can be drawn; raises FileReadFailed."""
        if self._may_be_much is None:
            self._may_be_much = may_cost_more(self._source.path)
        if self._may_be_much:
            with open_by_pypdf(self._source, packed=MAX_ENTRIES) as reader:
                check_drawing(reader, index, self._source.name)


@contextlib.contextmanager
def open_pdf(source: Source) -> Iterator[OpenedPdf]:
    """Open a file.

    Raises:
        FileReadFailed: Neither library can, it needs a password, or it is past a limit.
    """
    # Before a library has the file: pdfium ends the process where memory for a stream runs out.
    check_streams(source.path, source.name)
    if may_paint_often(source.path):
        with open_by_pypdf(source, packed=MAX_ENTRIES) as reader:
            check_forms(reader, source.name)
    notes = () if has_end_mark(source.path) else (_TRUNCATED,)
    # pdfium goes first: all text of 1,000 pages takes it 1.5 s, pypdf 7.7 s.
    document, is_locked = _open_by_pdfium(source)
    if document is None:
        count = _count_pages_by_pypdf(source, is_locked=is_locked)
        warned = (*notes, _OPENED_BY_PYPDF)
        yield OpenedPdf(source.name, count, None, warned, DrawingCost(source))
        return
    with document:
        # Needed for the values of forms and for drawing them; nothing that they do is run.
        with contextlib.suppress(pdfium.PdfiumError):
            document.init_forms()
        yield OpenedPdf(source.name, len(document), document, notes, DrawingCost(source))


@contextlib.contextmanager
def open_by_pypdf(source: Source, *, packed: int = MAX_PACKED) -> Iterator[PdfReader]:
    """Open a file with pypdf; what goes wrong inside the `with` is told as a damaged file, too.

    Args:
        source: The file.
        packed: As many objects may be packed into one stream; more than by default where nothing
            can be told of the file without it.

    Raises:
        FileReadFailed: It cannot be opened, needs a password, or has more objects than pypdf is
            good for.
    """
    # Counted in the bytes: pypdf takes 12.5 s and 732 MB for a table of 3 million entries.
    if table_entries(source.path) > MAX_ENTRIES:
        raise FileReadFailed(f"{source.name} claims more than {MAX_ENTRIES:,} objects")
    if (most := most_packed(source.path)) > packed:
        msg = f"{source.name} packs {most:,} objects together; up to {packed:,} are looked at"
        raise FileReadFailed(msg)
    with (
        source.path.open("rb") as file,
        apply_configuration(**_LIMITS),
        warnings.catch_warnings(action="ignore"),
    ):
        try:
            reader = PdfReader(file)
            # A file that anybody may open, but not change, is encrypted with an empty password.
            if reader.is_encrypted and not reader.decrypt(""):
                raise _password_error(source.name)
            yield reader
        # Memory that runs out is the end of the worker, not damage of the file.
        except (KbdError, MemoryError):
            raise
        except Exception as error:
            # Of a damaged file pypdf raises what Python does: KeyError, TypeError, RecursionError…
            raise FileReadFailed(f"{source.name} is damaged ({type(error).__name__})") from error


def _open_by_pdfium(source: Source) -> tuple[pdfium.PdfDocument | None, bool]:
    """Return the file as pdfium opens it, or None and whether it wants a password."""
    try:
        return pdfium.PdfDocument(source.path), False
    except pdfium.PdfiumError as error:
        if error.err_code == raw.FPDF_ERR_PASSWORD:
            return None, True
    with contextlib.suppress(pdfium.PdfiumError):
        return pdfium.PdfDocument(_repaired(source)), False
    return None, False


def _repaired(source: Source) -> bytes:
    """Return a file's bytes with what pdfium cannot do without: a first line and a last entry.

    A file that was cut off has lost the entry that names its catalog, though that itself often
    stands near the beginning.
    """
    data = source.path.read_bytes()
    head = b"" if b"%PDF" in data[:1024] else b"%PDF-1.7\n"
    roots = [found.start() for found in _CATALOG.finditer(data)]
    end = roots[-1] if roots else 0
    begun = _OBJECT_START.findall(data[max(0, end - _OBJECT_START_BYTES) : end])
    tail = b"\nendobj\ntrailer\n<</Root %s R>>\n%%%%EOF\n" % begun[-1] if begun else b""
    return head + data + tail


def _count_pages_by_pypdf(source: Source, *, is_locked: bool) -> int:
    """Return how many pages pypdf finds; raises FileReadFailed in the words that fit best."""
    try:
        with open_by_pypdf(source, packed=MAX_ENTRIES) as reader:
            count = len(reader.pages)
    except FileReadFailed as error:
        if is_locked:
            raise _password_error(source.name) from error
        if not _has_pdf_header(source):
            raise FileReadFailed(f"{source.name} is no PDF file") from error
        raise
    if count == 0:
        raise FileReadFailed(f"{source.name} is damaged: no page of it is found")
    return count


def _has_pdf_header(source: Source) -> bool:
    with source.path.open("rb") as file:
        return b"%PDF" in file.read(4096)


def _password_error(name: str) -> FileReadFailed:
    return FileReadFailed(
        f"{name} is encrypted and needs a password",
        actions=("save a copy without the password and add that",),
        detail={"encrypted": True},
    )


_TRUNCATED = "The file has no proper end: it may be cut off, and was read as far as it goes."
_OPENED_BY_PYPDF = "The file is damaged: it was opened in a way that finds less text than usual."
