"""Package of an OpenDocument spreadsheet: its XML parts, zipped or flat."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import IO

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.office import open_document
from kbd.office.open_document import DocumentKind
from kbd.opc.package import prolog_fault

__all__ = ["open_parts"]

_FLAT_SUFFIX = ".fods"

_SPREADSHEET = DocumentKind(
    "an OpenDocument spreadsheet",
    ("spreadsheet", "spreadsheet-template"),
    _FLAT_SUFFIX,
    parts=("settings.xml", "styles.xml", "content.xml"),
    # Read in pieces, none of which is kept but its values: the limit of parts of any package.
    max_bytes=150 << 20,
)


@contextmanager
def open_parts(source: Source) -> Iterator[tuple[IO[bytes], ...]]:
    """Open a spreadsheet and give its XML: settings, styles, contents.

    Raises:
        FileReadFailed: It is not of the format, encrypted, damaged, or past a limit.
    """
    with open_document.open_parts(source, _SPREADSHEET) as parts:
        if PurePath(source.name).suffix.lower() == _FLAT_SUFFIX:
            (file,) = parts
            # What a package's parts are held to; entities of a flat file could grow as well.
            fault = prolog_fault(io.BytesIO(file.read(1 << 20)))
            file.seek(0)
            if fault:
                raise FileReadFailed(f"{source.name} holds {fault}")
        yield parts
