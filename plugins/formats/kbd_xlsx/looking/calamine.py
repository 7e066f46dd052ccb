"""The values of sheets by calamine, a row at a time.

It knows neither formulas nor errors, both of which it shows as no value unless a result was stored,
nor what is hidden or merged. It can abort the process: only workers call it, and only after a
sheet's extent was bounded.
"""

import io
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import IO
from zipfile import ZipFile

import msgspec
from python_calamine import CalamineError, CalamineWorkbook

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.opc import Package
from kbd_xlsx.looking.blocks import Raw
from kbd_xlsx.looking.parts import UTF_16
from kbd_xlsx.references import Area

__all__ = ["CalamineBook", "Cells", "calamine_errors", "opened"]

_ALSO_UNPACKED = ("xl/sharedStrings.xml", "xl/styles.xml")
"""What calamine unpacks of a package beside its sheets, into memory."""

_DECLARATION = re.compile(r"^<\?xml[^>]*\?>")
_MACRO_SHEETS = "xl/macrosheets/"
"""Where sheets of Excel 4 macros lie, of which calamine says that it detects no format at all."""


class Cells(msgspec.Struct, frozen=True):
    """The rectangle around a sheet's values and its rows, which can be taken once."""

    area: Area
    rows: Iterator[list[Raw]]


class CalamineBook:
    """A workbook opened for its values."""

    def __init__(self, name: str, book: CalamineWorkbook) -> None:
        self._name = name
        self._book = book

    def cells(self, sheet: str) -> Cells | None:
        """Return a sheet's cells, None if it has none, as that of a chart.

        Raises:
            FileReadFailed: The sheet is damaged.
        """
        if sheet not in self._book.sheet_names:
            return None
        with calamine_errors(self._name):
            found = self._book.get_sheet_by_name(sheet)
            start, end = found.start, found.end
            if start is None or end is None:
                return None
            area = Area(start[0] + 1, start[1] + 1, end[0] + 1, end[1] + 1)
            # Blank rows above the rectangle are given too.
            return Cells(area, islice(found.iter_rows(), start[0], None))


@contextmanager
def opened(source: Source, package: Package) -> Iterator[CalamineBook]:
    """Open a workbook whose sheets were looked through before; raises FileReadFailed."""
    package.prove(*_ALSO_UNPACKED)
    with _readable(source, package) as file:
        if any(info.filename.startswith(_MACRO_SHEETS) for info in package.entries):
            raise FileReadFailed(
                f"{source.name} holds a sheet of Excel 4 macros, which cannot be read; save it "
                "without that sheet."
            )
        with calamine_errors(source.name):
            # By its bytes, not by its path, whose name means nothing.
            book = CalamineWorkbook.from_filelike(file)
        with book:
            yield CalamineBook(source.name, book)


def _readable(source: Source, package: Package) -> IO[bytes]:
    """Open the file, or a copy whose parts are all UTF-8: of others calamine finds no values."""
    names = [info.filename for info in package.entries if info.filename.endswith(".xml")]
    others = set(filter(partial(_is_utf_16, package), names))
    if not others:
        return source.path.open("rb")
    copy = io.BytesIO()
    with ZipFile(copy, "w") as archive:
        for info in package.entries:
            data = package.read(info.filename)
            if info.filename in others:
                data = _DECLARATION.sub("", data.decode("utf-16", "replace")).encode()
            archive.writestr(info.filename, data)
    copy.seek(0)
    return copy


def _is_utf_16(package: Package, part: str) -> bool:
    with package.open(part) as file:
        return file.read(2) in UTF_16


@contextmanager
def calamine_errors(name: str) -> Iterator[None]:
    """Turn what calamine raises, panics included, into FileReadFailed."""
    try:
        yield
    except (CalamineError, OSError, ValueError, OverflowError) as error:
        raise FileReadFailed(f"{name} is damaged: its cells cannot be read.") from error
    except BaseException as error:
        # A panic of the Rust code derives from BaseException; nothing else here may be swallowed.
        if type(error).__name__ == "PanicException":
            raise FileReadFailed(f"{name} is damaged: its cells cannot be read.") from error
        raise
