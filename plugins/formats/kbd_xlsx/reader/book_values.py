"""Values of the sheets of a workbook by calamine, a row at a time.

A parser stands in where it cannot read, or would misread. It knows neither formulas nor errors,
both of which it shows as no value unless a result was stored, nor what is hidden or merged. It can
abort the process: only workers call it, and only after a sheet's extent was bounded.
"""

import contextlib
import io
import re
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cached_property, partial
from itertools import islice
from typing import IO
from zipfile import ZipFile

from lxml import etree
from python_calamine import CalamineError, CalamineWorkbook

from kbd.errors import FileReadFailed
from kbd.formats import Source
from kbd.opc.package import Package
from kbd.sheets.areas import Area
from kbd_xlsx.reader.blocks import Cells, Raw
from kbd_xlsx.reader.fallback_parser import ParsedBook
from kbd_xlsx.reader.parts import UTF_16

__all__ = ["BookValues", "open_values"]

_TEXTS = "xl/sharedStrings.xml"
_MAX_DIGITS = 20
_ALSO_UNPACKED = (_TEXTS, "xl/styles.xml")
"""Parts of a package that calamine unpacks into memory beside its sheets."""

_DECLARATION = re.compile(r"^<\?xml[^>]*\?>")


class BookValues:
    """A workbook opened for its values.

    Args:
        package: Where it is; it must stay open.
        book: The same, None if calamine cannot read it.
    """

    def __init__(self, package: Package, book: CalamineWorkbook | None) -> None:
        self._package = package
        self._book = book

    def cells(self, sheet: str, *, is_odd: bool = False) -> Cells | None:
        """Return a sheet's cells, None if it has none, as that of a chart.

        Args:
            sheet: Its title.
            is_odd: Whether calamine would misread values of it.

        Raises:
            FileReadFailed: The sheet is damaged, which may show only while the rows are taken.
        """
        if self._book is not None and not is_odd:
            try:
                return self._cells_by_calamine(self._book, sheet)
            except _CalamineFailedError:
                pass
        return self._parsed.cells(sheet)

    @cached_property
    def _parsed(self) -> ParsedBook:
        return ParsedBook(self._package)

    def _cells_by_calamine(self, book: CalamineWorkbook, sheet: str) -> Cells | None:
        if sheet not in book.sheet_names:
            return None
        with _calamine_errors():
            # Not openpyxl: 200,000 x 10 cells take it 36.4 s and 872 MB, calamine 1.6 s and 206 MB.
            found = book.get_sheet_by_name(sheet)
            start, end = found.start, found.end
            if start is None or end is None:
                return None
            area = Area(start[0] + 1, start[1] + 1, end[0] + 1, end[1] + 1)
            # Blank rows above the rectangle are given too.
            rows = islice(found.iter_rows(), start[0], None)
            return Cells(area, self._rows(sheet, area, rows))

    def _rows(self, sheet: str, area: Area, rows: Iterator[list[Raw]]) -> Iterator[list[Raw]]:
        """Yield rows; from one on that calamine cannot give, those of the other reader."""
        done = 0
        try:
            with _calamine_errors():
                for row in rows:
                    yield row
                    done += 1
        except _CalamineFailedError as fault:
            # A duration that no calendar could hold, say.
            parsed = self._parsed.cells(sheet)
            if parsed is None or parsed.area != area:
                name = self._package.name
                raise FileReadFailed(f"{name} is damaged: its cells cannot be read") from fault
            yield from islice(parsed.rows, done, None)


@contextmanager
def open_values(source: Source, package: Package) -> Iterator[BookValues]:
    """Open a workbook whose sheets were looked through before; raises FileReadFailed."""
    # calamine unpacks to the end of a stream, past what the directory claims and the guard counted.
    package.prove(*_ALSO_UNPACKED)
    _check_text_count(package)
    with _readable(source, package) as file:
        try:
            with _calamine_errors():
                # By its bytes, not by its path, whose name means nothing.
                book = CalamineWorkbook.from_filelike(file)
        except _CalamineFailedError:
            book = None
        with book or nullcontext():
            yield BookValues(package, book)


MIN_TEXT_BYTES = 5
"""A shared text takes `<si/>` at least."""

MAX_STALE_COUNT = 1_000_000
"""What a table of texts may claim however few it has, as programs do that do not count again."""


def _check_text_count(package: Package) -> None:
    """Check how many shared texts are told: calamine takes the memory for them before it reads one.

    Raises:
        FileReadFailed: They are more than the part can hold.
    """
    if _TEXTS not in package:
        return
    size = package.entry(_TEXTS).file_size
    told = "0"
    with package.open(_TEXTS) as file, contextlib.suppress(etree.LxmlError):
        for _, root in etree.iterparse(file, events=("start",), resolve_entities=False):
            told = root.get("uniqueCount", "0").strip()
            break
    count = int(told) if told.isdecimal() and len(told) < _MAX_DIGITS else 0
    if count > max(MAX_STALE_COUNT, size // MIN_TEXT_BYTES) or len(told) >= _MAX_DIGITS:
        raise FileReadFailed(
            f"{package.name} is damaged: it tells of {told[:_MAX_DIGITS]} shared texts, more than "
            "it can hold"
        )


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


class _CalamineFailedError(Exception):
    """Calamine cannot read it, which need not mean that it is damaged."""


@contextmanager
def _calamine_errors() -> Iterator[None]:
    """Turn what calamine raises, panics included, into _CalamineFailedError."""
    try:
        yield
    except (CalamineError, OSError, ValueError, OverflowError) as error:
        raise _CalamineFailedError from error
    except BaseException as error:
        # A panic of the Rust code derives from BaseException; nothing else here may be swallowed.
        if type(error).__name__ == "PanicException":
            raise _CalamineFailedError from error
        raise
