"""Active content of a file: what it would do in a program that lets it, and what is attached."""

import contextlib

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.formats.active import ActiveContent
from kbd_pdf.documents import open_by_pypdf
from kbd_pdf.structure import read_structure

__all__ = ["active_content"]


def active_content(source: Source, known: tuple[Source, ...]) -> tuple[str, ...]:
    """Return what is active in a file and in none of some others.

    Raises:
        FileReadFailed: The file cannot be read; of the others such count as empty.
    """
    return _found(source).new_texts(_found_or_nothing(each) for each in known)


def _found(source: Source) -> ActiveContent:
    with open_by_pypdf(source) as reader:
        return read_structure(reader).active()


def _found_or_nothing(source: Source) -> ActiveContent:
    with contextlib.suppress(FileReadFailed):
        return _found(source)
    return ActiveContent()
