"""Values of sheets whose cells are plain, searched for in their bytes on the way.

Most large sheets are written alike: a row is its cells from left to right, a cell its address, its
format, its type and its value. Of such rows one pattern takes all values at once, in half the time
of a library that makes a rectangle of the sheet first. What is written otherwise, or in any way
that readers could differ about, is not plain, and is left to those: nothing is guessed.

All is as they give it. Of texts only those without runs, escapes and signs by number are plain.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import cast

import msgspec

from kbd.errors import ValidationFailed
from kbd.opc.package import Package
from kbd.sheets.areas import MAX_ROW, Area, column_number
from kbd_xlsx.reader.blocks import BLANK, Cells, Raw
from kbd_xlsx.reader.cell_looks import WorkbookLooks
from kbd_xlsx.reader.fallback_parser import Meaning, is_from_1904, moment
from kbd_xlsx.reader.parts import XmlPiece

__all__ = ["BYTES_OF_COLUMN", "NotPlainError", "PlainCells", "PlainTexts", "PlainValues"]

MAX_PLAIN_CELLS = 4_000_000
"""Cells whose values are held until the sheet ends: some 200 MB."""

MAX_TEXT_BYTES = 64 * 1024 * 1024
"""Of shared texts that are held, with what each takes beside its bytes."""

_ITEM_COST = 48

BYTES_OF_COLUMN = 2_048
"""Bytes of a sheet for each column of a pattern: in fewer a pattern takes longer than it saves."""

_MAX_COLUMNS = 256
_MAX_PATTERNS = 24
_LOOK_BYTES = 1 << 15
_CHUNK_ROWS = 256
_MAX_REMEMBERED = 100_000


class NotPlainError(Exception):
    """Cells are written in a way, or hold what, other readers are for."""


_ITEM = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:<\?xml\s[^<>]*\?>)?\s*(?:<sst(?:\s[^<>]*)?>)?\s*"
    rb"<si><t( xml:space=\"preserve\")?>([^<]+)</t>"
)
_UNSURE = re.compile(rb"[\x00-\x08\x0b-\x1f]|&(?!(?:amp|lt|gt|quot|apos);)|_x|\xef\xbf[\xbd-\xbf]")
"""What readers of XML, or of texts, may take in different ways."""

_SPACE = " \t\r\n"


def _text(written: bytes, *, is_preserved: bool) -> str:
    """Return a text; raises NotPlainError where readers could differ about it."""
    if _UNSURE.search(written):
        raise NotPlainError
    try:
        text = written.decode()
    except UnicodeDecodeError as fault:
        raise NotPlainError from fault
    if "&" in text:
        for name, sign in (("lt", "<"), ("gt", ">"), ("quot", '"'), ("apos", "'"), ("amp", "&")):
            text = text.replace(f"&{name};", sign)
    if not is_preserved and text.strip(_SPACE) != text:
        raise NotPlainError
    return text


class PlainTexts:
    """The shared texts of a workbook, by the numbers that cells have; taken when the first is used.

    One that is not there, or is not plain, raises NotPlainError.
    """

    def __init__(self) -> None:
        self._items: list[bytes] = []
        self._bytes = 0
        self._is_dropped = False

    def take(self, items: Sequence[bytes]) -> None:
        """Take the next items, each up to its end tag; past a limit there is no text."""
        self._bytes += sum(map(len, items)) + len(items) * _ITEM_COST
        if self._bytes > MAX_TEXT_BYTES:
            self.drop()
        if not self._is_dropped:
            self._items += items

    def drop(self) -> None:
        """Have no text: they are written in a way that they are not searched for."""
        self._is_dropped = True
        self._items.clear()

    def found(self, written: Sequence[bytes]) -> "Values":
        """Return the texts of some numbers."""
        texts, are_all_plain = self._texts
        try:
            found = list(map(texts.__getitem__, _whole_numbers(written)))
        except IndexError as fault:
            raise NotPlainError from fault
        if not are_all_plain and None in found:
            raise NotPlainError
        return cast("Values", found)

    @cached_property
    def _texts(self) -> tuple[list[str | None], bool]:
        """The texts, None for one that is not plain, and whether there is no such."""
        texts: list[str | None] = []
        for start in range(0, len(self._items), _BATCH_ITEMS):
            items = self._items[start : start + _BATCH_ITEMS]
            try:
                texts += _alike(items)
            except NotPlainError:
                texts += map(_text_of, items)
        self._items.clear()
        return texts, not self._is_dropped and None not in texts


_BATCH_ITEMS = 500
_ALIKE = re.compile(rb"(?>(?:<si><t>(?![ \t\r\n])[^<]++(?<![ \t\r\n])</t>)*)")


def _alike(items: Sequence[bytes]) -> list[str]:
    """Return the texts of items that are all written as most are."""
    joined = b"".join(items)
    if not _ALIKE.fullmatch(joined):
        raise NotPlainError
    text = _text(joined, is_preserved=True)
    found = text.removeprefix("<si><t>").removesuffix("</t>").split("</t><si><t>")
    return _as_many(found, items)


def _as_many(found: list[str], written: Sequence[bytes]) -> list[str]:
    """Return pieces of a text; one that holds what parts them itself makes for more of them."""
    if len(found) != len(written):
        raise NotPlainError
    return found


def _text_of(item: bytes) -> str | None:
    """Return the text of an item, None where it is not plain."""
    found = _ITEM.fullmatch(item)
    try:
        return found and _text(found[2], is_preserved=found[1] is not None)
    except NotPlainError:
        return None


_DAY_MS = 86_400_000
_UNSURE_MS = 0.01
"""How near the middle of two milliseconds readers may round a moment to either."""

_UNSURE_CODE = re.compile("a/p", re.IGNORECASE)
"""In a number format readers differ whether this alone shows a time."""


class _Moments(dict[float, Raw]):
    """Dates, times or durations by the numbers that stand for them."""

    def __init__(self, meaning: Meaning, *, from_1904: bool) -> None:
        super().__init__()
        self._meaning, self._from_1904 = meaning, from_1904

    def __missing__(self, number: float) -> Raw:
        """Find what a number stands for; NotPlainError where readers could differ."""
        # Readers differ about a time below zero, too.
        if number < 0 or abs(number * _DAY_MS % 1 - 0.5) < _UNSURE_MS:
            raise NotPlainError
        value = moment(number, self._meaning, from_1904=self._from_1904)
        if len(self) < _MAX_REMEMBERED:
            self[number] = value
        return value

    def found(self, written: Sequence[bytes]) -> "Values":
        """Return what some numbers stand for."""
        return list(map(self.__getitem__, _numbers(written)))


Values = list[Raw]
_Converter = Callable[[Sequence[bytes]], Values]

_NUMBERS = msgspec.json.Decoder(list[float])
_WHOLE_NUMBERS = msgspec.json.Decoder(list[int])
_BOOLEANS: Mapping[bytes, bool] = {b"0": False, b"1": True}


def _numbers(written: Sequence[bytes]) -> list[float]:
    """Return numbers; those of JSON are a part of those that sheets have."""
    joined = b",".join(written)
    if joined.translate(None, b"0123456789.,-+eE"):
        raise NotPlainError
    try:
        found = _NUMBERS.decode(b"[%s]" % joined)
    except msgspec.MsgspecError as fault:
        raise NotPlainError from fault
    if len(found) != len(written):
        raise NotPlainError
    # A negative zero is one also without a point, which an integer has no sign for.
    return list(map(float, written)) if b"-0" in joined else found


def _whole_numbers(written: Sequence[bytes]) -> list[int]:
    """Return whole numbers that are written in digits alone."""
    joined = b",".join(written)
    if joined.translate(None, b"0123456789,"):
        raise NotPlainError
    try:
        found = _WHOLE_NUMBERS.decode(b"[%s]" % joined)
    except msgspec.MsgspecError as fault:
        raise NotPlainError from fault
    if len(found) != len(written):
        raise NotPlainError
    return found


def _booleans(written: Sequence[bytes]) -> Values:
    try:
        return [_BOOLEANS[value] for value in written]
    except KeyError as fault:
        raise NotPlainError from fault


def _formula_texts(written: Sequence[bytes]) -> Values:
    return [_text(value, is_preserved=False) for value in written]


_INLINE = re.compile(rb"(?>(?:>(?![ \t\r\n])[^<]++(?<![ \t\r\n])<)*)")


def _inline_texts(written: Sequence[bytes]) -> Values:
    """Return texts of cells, each with what ends the tag before it."""
    joined = b"<".join(written)
    try:
        if not _INLINE.fullmatch(joined + b"<"):
            raise NotPlainError
        found = _text(joined, is_preserved=True)[1:].split("<>")
        return cast("Values", _as_many(found, written))
    except NotPlainError:
        parted = (value.partition(b">") for value in written)
        return [_text(text, is_preserved=before != b"") for before, _, text in parted]


_ERROR = re.compile(rb"#[A-Z0-9_/!?]+")


def _errors(written: Sequence[bytes]) -> Values:
    if not all(map(_ERROR.fullmatch, set(written))):
        raise NotPlainError
    # As no value, though the rectangle around the values has them; `formulas` tells which.
    return [BLANK] * len(written)


_ATTRIBUTES = re.compile(
    rb"(?: s=\"(0|[1-9][0-9]{0,5})\")?(?: t=\"(?:(s|str|b|e|n)\"|(inlineStr)\">))?"
)


class PlainValues:
    """What the values of plain cells mean in a workbook.

    Args:
        package: The workbook.
        texts: Its shared texts.
        looks: Its looks, which tell what its cell formats make of numbers.
        bytes_of_column: Bytes of a sheet for each of its columns from which on its values are
            searched for.
    """

    def __init__(
        self,
        package: Package,
        texts: PlainTexts,
        looks: WorkbookLooks,
        bytes_of_column: int = BYTES_OF_COLUMN,
    ) -> None:
        self.bytes_of_column = bytes_of_column
        self._looks = looks
        main = next((r.target for r in package.relations("") if r.kind == "officeDocument"), "")
        from_1904 = bool(main) and is_from_1904(package.root(main))
        kinds: tuple[Meaning, ...] = ("moment", "duration")
        self._moments: Mapping[Meaning, _Converter] = {
            meaning: _Moments(meaning, from_1904=from_1904).found for meaning in kinds
        }
        self._kinds: Mapping[bytes, _Converter] = {
            b"s": texts.found, b"b": _booleans, b"e": _errors, b"str": _formula_texts,
            b"inlineStr": _inline_texts,
        }  # fmt: skip
        self._known: dict[bytes, _Converter] = {}

    def converter(self, attributes: bytes) -> _Converter:
        """Return what makes values of what cells hold, by their attributes after the address.

        Those of a cell with a text within end with the end of its tag.


        Raises:
            NotPlainError: They are others than nearly all programs write.
        """
        known = self._known.get(attributes)
        if known is None:
            found = _ATTRIBUTES.fullmatch(attributes)
            if found is None:
                raise NotPlainError
            known = self._known[attributes] = self._converter(
                found[1], found[2] or found[3] or b"n"
            )
        return known

    def _converter(self, style: bytes | None, kind: bytes) -> _Converter:
        if kind != b"n":
            return self._kinds[kind]
        place, looks = int(style or b"0"), self._looks
        if place >= len(looks.meanings):
            return _plain_numbers
        if _UNSURE_CODE.search(looks.looks[looks.of_format[place]].code):
            raise NotPlainError
        meaning = looks.meanings[place]
        return _plain_numbers if meaning == "number" else self._moments[meaning]


def _plain_numbers(written: Sequence[bytes]) -> Values:
    found: Values = list(_numbers(written))
    return found


class _Chunk(msgspec.Struct, frozen=True):
    """Rows that follow each other in a file: their numbers, and their values by column."""

    numbers: list[int]
    columns: dict[int, Values]


_LETTERS = re.compile(rb"<c r=\"([A-Z]{1,3})[0-9]")
_FORMULA = rb"(?:<f(?: [a-zA-Z0-9]++=\"[^\"<>&]*+\")*(?:/>|>[^<]*+</f>))?"
_INLINE_TEXT = rb"|><is><t((?: xml:space=\"preserve\")?>[^<]++)</t></is></c>"
_CELL = rb"(?:<c r=\"%s\1\"([^/>]*+)(?:/>|>%s(?:<v>([^<]++)</v>)?</c>%s))?"
_ROW = rb"<row r=\"([1-9][0-9]{0,6})\"[^/>]*+(?:/>|>%s</row>)"


def _pattern(
    columns: Sequence[bytes], *, with_formulas: bool, with_texts: bool
) -> re.Pattern[bytes]:
    """Return what matches a row with cells in some of the columns, and groups what they hold.

    The number of the row is followed by the attributes and the value of each cell, and its text
    where cells may have texts within.
    """
    formula, text = _FORMULA if with_formulas else b"", _INLINE_TEXT if with_texts else b""
    return re.compile(_ROW % b"".join(_CELL % (letters, formula, text) for letters in columns))


class PlainCells:
    """Collector of the values of a sheet from its rows as they come, as long as they are plain.

    Args:
        values: What they mean.
        size: The bytes of the sheet's part.
    """

    def __init__(self, values: PlainValues, size: int) -> None:
        self._values, self._size = values, size
        self._columns: list[bytes] = []
        self._numbers: list[int] = []
        self._with_formulas = self._with_texts = False
        self._patterns = 0
        self._pattern: re.Pattern[bytes] | None = None
        self._chunks: list[_Chunk] = []
        self._cells = 0
        self._last = 0
        self._area: Area | None = None
        self._is_taken = False
        self._is_plain = True

    @property
    def is_plain(self) -> bool:
        """Whether there were rows, and all were plain."""
        return self._is_taken and self._is_plain

    @property
    def reach(self) -> tuple[int, int]:
        """The last column and the last row of the cells so far, with or without values."""
        return max(self._numbers, default=1), max(self._last, 1)

    def take(self, piece: XmlPiece) -> bool:
        """Take whole rows and return whether they are plain, as all before them."""
        self._is_taken = True
        try:
            if self._is_plain:
                self._take(piece)
        except (NotPlainError, ValidationFailed):
            # Other readers are for the sheet.
            self._is_plain = False
            self._chunks.clear()
        return self._is_plain

    def cells(self) -> Cells | None:
        """Return the cells, None if none has a value; of a sheet that is plain."""
        assert self.is_plain
        return None if self._area is None else Cells(self._area, self._rows(self._area))

    def _take(self, piece: XmlPiece) -> None:
        if piece.prefix:
            raise NotPlainError
        data, at = piece.data, 0
        while at < len(data):
            rows: list[tuple[bytes | None, ...]] = []
            match = None if self._pattern is None else self._pattern.match
            while match is not None and len(rows) < _CHUNK_ROWS:
                found = match(data, at)
                if found is None:
                    match = None
                    break
                rows.append(found.groups())
                at = found.end()
            if rows:
                self._add(rows)
            if match is None and at < len(data):
                self._learn(data, at)

    def _learn(self, data: bytes, at: int) -> None:
        """Make a pattern for what the next rows have and the one so far has not."""
        end = at + _LOOK_BYTES
        columns = set(_LETTERS.findall(data, at, end)).union(self._columns)
        with_formulas = self._with_formulas or data.find(b"<f", at, end) >= 0
        with_texts = self._with_texts or data.find(b"<is>", at, end) >= 0
        known, wanted = (self._with_formulas, self._with_texts), (with_formulas, with_texts)
        is_new = self._pattern is None or known != wanted
        if not is_new and len(columns) == len(self._columns):
            raise NotPlainError
        self._patterns += 1
        is_worth = len(columns) * self._values.bytes_of_column <= self._size
        if len(columns) > _MAX_COLUMNS or self._patterns > _MAX_PATTERNS or not is_worth:
            raise NotPlainError
        # Length comes first, because column Z is before AA.
        self._columns = sorted(columns, key=lambda letters: (len(letters), letters))
        self._numbers = [column_number(letters.decode()) for letters in self._columns]
        self._with_formulas, self._with_texts = wanted
        self._pattern = _pattern(self._columns, with_formulas=with_formulas, with_texts=with_texts)

    def _add(self, rows: list[tuple[bytes | None, ...]]) -> None:
        """Add rows as the pattern grouped them."""
        numbers, *pairs = zip(*rows, strict=True)
        if self._with_texts:
            pairs = _without_texts(pairs)
        found = [int(number or b"") for number in numbers]
        if found[0] <= self._last or found[-1] > MAX_ROW:
            raise NotPlainError
        is_next = found[-1] - found[0] == len(found) - 1
        if not (is_next and found == list(range(found[0], found[-1] + 1))) and any(
            after <= before for before, after in pairwise(found)
        ):
            raise NotPlainError
        self._last = found[-1]
        columns = {}
        for number, attributes, values in zip(self._numbers, pairs[::2], pairs[1::2], strict=True):
            converted = self._column(attributes, values)
            if converted is not None:
                columns[number] = converted
        self._cells += len(columns) * len(rows)
        if self._cells > MAX_PLAIN_CELLS:
            raise NotPlainError
        if columns:
            self._widen(pairs[1::2], found, columns)
            self._chunks.append(_Chunk(found, columns))

    def _column(
        self, attributes: Sequence[bytes | None], values: Sequence[bytes | None]
    ) -> Values | None:
        """Return the values of a column of some rows, None if there are none."""
        # Cells without values are looked at, too: what they have besides may be no plain matter.
        kinds = {each: self._values.converter(each) for each in set(attributes) if each is not None}
        are_all = None not in values
        filled = cast("Sequence[bytes]", values) if are_all else list(filter(None, values))
        if not filled:
            return None
        converters = set(kinds.values())
        if len(converters) > 1:
            return [
                BLANK if each is None or value is None else kinds[each]((value,))[0]
                for each, value in zip(attributes, values, strict=True)
            ]
        converted = converters.pop()(filled)
        if len(filled) == len(values):
            return converted
        following = iter(converted)
        return [BLANK if value is None else next(following) for value in values]

    def _widen(
        self,
        written: Sequence[Sequence[bytes | None]],
        numbers: list[int],
        columns: Mapping[int, Values],
    ) -> None:
        """Widen the rectangle around the cells that have values, given by columns and by rows."""
        area, rows = self._area, len(numbers)
        bottom = next(n for n in range(rows - 1, -1, -1) if _is_any(written, n))
        if area is None:
            top = next(n for n in range(rows) if _is_any(written, n))
            self._area = Area(numbers[top], min(columns), numbers[bottom], max(columns))
        else:
            left, right = min(area.left, *columns), max(area.right, *columns)
            self._area = Area(area.top, left, numbers[bottom], right)

    def _rows(self, area: Area) -> Iterator[list[Raw]]:
        """Yield all rows of the area."""
        at, width = area.top, area.right - area.left + 1
        for chunk in self._chunks:
            numbers = chunk.numbers
            blank = [BLANK] * len(numbers)
            found = [chunk.columns.get(n, blank) for n in range(area.left, area.right + 1)]
            rows = map(list, zip(*found, strict=True))
            if numbers[0] == at and numbers[-1] == min(at + len(numbers) - 1, area.bottom):
                yield from rows
                at += len(numbers)
                continue
            for number, row in zip(numbers, rows, strict=True):
                if not area.top <= number <= area.bottom:
                    continue
                for _ in range(at, number):
                    yield [BLANK] * width
                yield row
                at = number + 1


def _is_any(columns: Sequence[Sequence[bytes | None]], place: int) -> bool:
    """Tell whether any column has a value at a place."""
    return any(values[place] is not None for values in columns)


def _without_texts(triples: Sequence[Sequence[bytes | None]]) -> list[tuple[bytes | None, ...]]:
    """Return attributes and values of cells whose texts are values; their attributes tell so."""
    pairs: list[tuple[bytes | None, ...]] = []
    for attributes, values, texts in zip(triples[::3], triples[1::3], triples[2::3], strict=True):
        if texts.count(None) == len(texts):
            pairs += [tuple(attributes), tuple(values)]
            continue
        cells = list(zip(attributes, values, texts, strict=True))
        pairs.append(
            tuple(each if text is None else (each or b"") + b">" for each, _, text in cells)
        )
        pairs.append(tuple(value if text is None else text for _, value, text in cells))
    return pairs
