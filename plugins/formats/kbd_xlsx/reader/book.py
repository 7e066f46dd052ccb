"""A workbook looked into: from its shelf where that has it, else from its file, once.

What is found of a sheet goes onto the shelf, so that a later call reads a few rows of it without
opening the workbook. The shelf is of these very bytes: what is there was checked when it was made.
"""

import contextlib
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Self, TypeVar

import msgspec

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.opc.package import Package
from kbd_xlsx.reader.builder import PackedSheet, build
from kbd_xlsx.reader.calamine import BookValues, opened
from kbd_xlsx.reader.section_file import SectionFile, ShelfDamagedError, keep
from kbd_xlsx.reader.sheet import SheetReader
from kbd_xlsx.workbook import SheetEntry, Workbook, find_sheet, read_workbook

__all__ = ["WorkbookReader", "with_workbook"]

T = TypeVar("T")


def with_workbook(source: Source, work: Callable[["WorkbookReader"], T]) -> T:
    """Do some work with a workbook; once more, and without what was kept, if that is damaged.

    Raises:
        FileReadFailed: It is no workbook, is encrypted or damaged, or is too large.
    """
    try:
        with WorkbookReader(source) as book:
            return work(book)
    except ShelfDamagedError:
        with WorkbookReader(source, anew=True) as book:
            return work(book)


class WorkbookReader:
    """A workbook; a context manager.

    Args:
        source: The file.
        anew: Whether what is kept of it is made anew.

    Raises:
        FileReadFailed: It is no workbook, is encrypted or damaged, or is too large.
    """

    def __init__(self, source: Source, *, anew: bool = False) -> None:
        self._source = source
        self._anew = anew
        self._open = ExitStack()
        self._package: Package | None = None
        self._values: BookValues | None = None
        self.workbook = self._find_workbook()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def find(self, name: str) -> SheetEntry:
        """Return a sheet by its name, without regard to case; raises ValidationFailed."""
        return find_sheet(self.workbook, name)

    def sheet(self, part: SheetEntry) -> SheetReader:
        """Look into a sheet.

        Raises:
            FileReadFailed: It is damaged, or its used range is too large.
        """
        place = self._place(f"{self.workbook.sheets.index(part)}.sheet")
        if place is not None and not self._anew:
            with contextlib.suppress(OSError, ShelfDamagedError, msgspec.MsgspecError):
                sections = SectionFile.opened(place)
                try:
                    return SheetReader(part, _decoded(sections, PackedSheet), sections)
                except msgspec.MsgspecError:
                    sections.close()
                    raise
        package = self._opened_package()
        sections, index = build(package, self._opened_values(package), part)
        if place is not None:
            keep(place, sections)
        return SheetReader(part, index, sections)

    def _place(self, name: str) -> Path | None:
        return None if self._source.shelf is None else self._source.shelf / name

    def _find_workbook(self) -> Workbook:
        """Return the workbook part, as kept or read."""
        place = self._place("book")
        if place is not None and not self._anew:
            kept = contextlib.suppress(OSError, ShelfDamagedError, msgspec.MsgspecError)
            with kept, SectionFile.opened(place) as sections:
                return _decoded(sections, Workbook)
        package = self._opened_package()
        try:
            workbook = read_workbook(package)
            if not workbook.sheets:
                raise FileReadFailed(f"{self._source.name} is damaged: it has no sheets.")
        except BaseException:
            self._open.close()
            raise
        if place is not None:
            sections = SectionFile()
            sections.index = msgspec.msgpack.encode(workbook)
            keep(place, sections)
        return workbook

    def _opened_package(self) -> Package:
        if self._package is None:
            self._package = self._open.enter_context(Package(self._source))
        return self._package

    def _opened_values(self, package: Package) -> BookValues:
        if self._values is None:
            self._values = self._open.enter_context(opened(self._source, package))
        return self._values


def _decoded(sections: SectionFile, kind: type[T]) -> T:
    return msgspec.msgpack.decode(sections.index, type=kind)
