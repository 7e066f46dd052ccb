"""A document looked into: from its shelf where that has it, else from its file."""

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd_docx.family import opened
from kbd_docx.looking.building import build
from kbd_docx.looking.document import Document
from kbd_docx.looking.keeping import keep, kept

__all__ = ["looked_into"]


def looked_into(source: Source) -> Document:
    """Return what is found of a document.

    Raises:
        FileReadFailed: It is no document, is encrypted or damaged, or past a limit.
    """
    found = kept(source.shelf)
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
    keep(source.shelf, found)
    return found
