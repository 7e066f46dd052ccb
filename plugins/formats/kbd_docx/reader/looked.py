"""A document looked into: from its shelf where that has it, else from its file."""

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.formats.shelves import keep, kept
from kbd_docx.family import opened
from kbd_docx.reader.building import build
from kbd_docx.reader.document import Document

__all__ = ["looked_into"]

_KEPT = "document.1"
"""The name on the shelf, with the version of what is in it."""


def looked_into(source: Source) -> Document:
    """Return what is found of a document.

    Raises:
        FileReadFailed: It is no document, is encrypted or damaged, or past a limit.
    """
    found = kept(source.shelf, _KEPT, Document)
    if found is not None:
        return found
    with opened(source) as (package, identity):
        try:
            found = build(package, identity)
        except MemoryError as error:
            raise FileReadFailed(
                f"{source.name} holds more than fits into the memory that reading a file may take."
            ) from error
        except RecursionError as error:
            raise FileReadFailed(f"{source.name} is nested too deeply to be read.") from error
    keep(source.shelf, _KEPT, found)
    return found
