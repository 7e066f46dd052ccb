"""Places of workbooks: found by what people write, and followed from one version to another."""

import re
from collections.abc import Sequence

from kbd.errors import ValidationFailed
from kbd.formats import Change, ChangeKind, ChangeList, Place, Source, Trace
from kbd.opc.package import Package
from kbd.sheets.areas import MAX_COLUMN, MAX_ROW, Area, column_letters, overlaps
from kbd_xlsx.comparison.book_changes import BookComparison, SheetPair
from kbd_xlsx.comparison.book_side import BookSide, SheetSide
from kbd_xlsx.comparison.places import area_place, part_place, range_place, sheet_place
from kbd_xlsx.comparison.sheet_objects import find_object
from kbd_xlsx.parts.markup import area_of
from kbd_xlsx.workbook import SheetEntry, read_workbook

__all__ = ["locate", "trace"]

MAX_RECORDED = 100_000
"""Changes of a sheet that places are held against; with more, all of it counts as changed."""

_HOW = 'write places as Sheet1!B7, Sheet1!A1:C5, Sheet1!5:5, Sheet1!C:C, Sheet1, or "name Total"'
_RANGE = re.compile(r"\$?[A-Za-z]{0,3}\$?\d{0,7}(?::\$?[A-Za-z]{0,3}\$?\d{0,7})?")
_LINE = re.compile(
    r"(rows?|columns?|cells?|ranges?)\s+(\S+?)(?:\s*(?:-|to|:)\s*(\S+))?", re.IGNORECASE
)
_SIZES = frozenset(("height", "width"))


class _Recorder(ChangeList):
    """Where the changes of one sheet are."""

    def __init__(self) -> None:
        super().__init__()
        self.changes: list[tuple[Change, tuple[Area, ...]]] = []
        self.has_more = False

    @property
    def is_full(self) -> bool:
        """Whether no more changes are recorded."""
        return len(self.changes) >= MAX_RECORDED

    def add(self, change: Change) -> None:
        """Record a change."""
        if self.is_full:
            self.has_more = True
            return
        place = change.place
        words = (place.cell or place.range or "").split()
        areas = tuple(area for word in words if (area := area_of(word)) is not None)
        self.changes.append((change, areas))

    def count(self, kind: ChangeKind, what: str, more: int) -> None:
        """Note that there is more than is recorded."""
        del kind, what
        self.has_more = self.has_more or more > 0


def trace(
    before: Source, after: Source, places: tuple[Place, ...], *, forward: bool
) -> tuple[Trace, ...]:
    """Follow places from one version to the other.

    Raises:
        FileReadFailed: A version cannot be read.
    """
    with BookComparison(before, after) as book:
        tracer = _Tracer(book, forward=forward)
        return tuple(tracer.trace(place) for place in places)


class _Tracer:
    """Follows places one way."""

    def __init__(self, book: BookComparison, *, forward: bool) -> None:
        self._book = book
        self._forward = forward
        self._recorded: dict[int, _Recorder] = {}
        self._beside: _Recorder | None = None

    def trace(self, place: Place) -> Trace:
        """Follow one place."""
        if place.sheet is None:
            return self._trace_part(place)
        pair = self._pair(place.sheet)
        if pair is None or not pair.is_in_both:
            return Trace(None, is_changed=True)
        other = pair.after if self._forward else pair.before
        if place.part is not None:
            return self._trace_object(place, pair, other)
        text = place.cell or place.range
        if not text:
            changed = bool(self._recorder(pair).changes) or pair.before.name != pair.after.name
            return Trace(sheet_place(other.name), is_changed=changed)
        found = self._areas(pair, text)
        if found is None:
            return Trace(None, is_changed=True)
        here, there, title = found
        old, new = (here, there) if self._forward else (there, here)
        return Trace(range_place(other.name, title), is_changed=self._is_changed(pair, old, new))

    def _pair(self, name: str) -> SheetPair | None:
        for fold in (str, str.casefold):
            for pair in self._book.pairs:
                side = pair.before if self._forward else pair.after
                if side.entry is not None and fold(side.name) == fold(name):
                    return pair
        return None

    def _areas(self, pair: SheetPair, text: str) -> tuple[Area, Area, str] | None:
        """Return an area, what it is in the other version, and that as text."""
        area = area_of(text)
        if area is None:
            return None
        rows, columns = pair.alignment.rows, pair.alignment.columns
        if not self._forward:
            rows, columns = rows.inverted(), columns.inverted()
        top, bottom, left, right = area.top, area.bottom, area.left, area.right
        has_rows = not (top == 1 and bottom == MAX_ROW)
        has_columns = not (left == 1 and right == MAX_COLUMN)
        if has_rows:
            top, bottom = rows.first(top), rows.last(bottom)
        if has_columns:
            left, right = columns.first(left), columns.last(right)
        if top > bottom or left > right or not top or not left:
            return None
        there = Area(top, left, min(bottom, MAX_ROW), min(right, MAX_COLUMN))
        title = str(there)
        if not has_columns:
            title = f"{top}:{bottom}"
        elif not has_rows:
            title = f"{column_letters(left)}:{column_letters(right)}"
        return area, there, title

    def _is_changed(self, pair: SheetPair, old: Area, new: Area) -> bool:
        recorder = self._recorder(pair)
        if recorder.has_more:
            return True
        is_whole = new.right - new.left >= MAX_COLUMN - 1 or new.bottom - new.top >= MAX_ROW - 1
        is_single = new.top == new.bottom
        for change, areas in recorder.changes:
            is_size = change.what in _SIZES or (
                change.what in ("row", "column") and change.kind == "changed"
            )
            if is_size and not is_whole:
                continue
            # What stands in a row that moved is the same there.
            if change.kind == "moved" and is_single:
                continue
            mine = old if change.kind == "removed" else new
            if any(overlaps(area, mine) for area in areas):
                return True
        return False

    def _recorder(self, pair: SheetPair) -> _Recorder:
        found = self._recorded.get(id(pair))
        if found is None:
            found = self._recorded[id(pair)] = _Recorder()
            self._book.compare_sheet(pair, found)
        return found

    def _trace_object(self, place: Place, pair: SheetPair, other: SheetSide) -> Trace:
        for change, _ in self._recorder(pair).changes:
            if change.place.part == place.part:
                if change.kind == "changed":
                    return Trace(find_object(other, place.part or ""), is_changed=True)
                return Trace(None, is_changed=True)
        return Trace(find_object(other, place.part or ""))

    def _trace_part(self, place: Place) -> Trace:
        if self._beside is None:
            self._beside = _Recorder()
            self._book.compare_beside(self._beside)
        for change, _ in self._beside.changes:
            if place.part in (change.place.part, change.place.title):
                gone = change.kind == ("removed" if self._forward else "added")
                return Trace(None if gone else place, is_changed=True)
        return Trace(place)


def locate(source: Source, text: str) -> Place:
    """Return the place that a text names.

    Raises:
        FileReadFailed: The file cannot be read.
        ValidationFailed: The text is no place, or there is none such in the file.
    """
    wanted = text.strip()
    with Package(source) as package:
        sheets = read_workbook(package).sheets
        named = _sheet_of(sheets, wanted)
        if named is None:
            found = _beside(package, wanted)
            if found is not None:
                return found
            visible = [sheet for sheet in sheets if not sheet.hidden] or list(sheets)
            area = _range_of(wanted)
            if not area or not visible:
                listed = ", ".join(sheet.name for sheet in sheets[:20])
                raise ValidationFailed(
                    f"{wanted[:80]!r} is no place in {source.name}; {_HOW}; the sheets: {listed}"
                )
            if len(visible) > 1:
                raise ValidationFailed(f"{wanted[:80]} is on every sheet; {_HOW}")
            return _placed(visible[0].name, area)
        sheet, rest = named
        if not rest:
            return sheet_place(sheet.name)
        area = _range_of(rest)
        if area:
            return _placed(sheet.name, area)
        if rest.partition(" ")[0].casefold() in ("chart", "picture", "shape"):
            side = SheetSide(BookSide(package, {}), sheet)
            kind, _, name = rest.partition(" ")
            found = find_object(side, f"{kind.casefold()} {name}")
            if found is not None:
                return found
    raise ValidationFailed(f"sheet {sheet.name} has no place {rest[:80]!r}; {_HOW}")


def _sheet_of(sheets: Sequence[SheetEntry], text: str) -> tuple[SheetEntry, str] | None:
    """Return the sheet that a text begins with, and the rest; of several the longest name."""
    folded = text.casefold()
    best: tuple[SheetEntry, str] | None = None
    for sheet in sorted(sheets, key=lambda each: len(each.name)):
        quoted = "'" + sheet.name.replace("'", "''") + "'"
        for name in (sheet.name, quoted, f'"{sheet.name}"', f"sheet {sheet.name}"):
            if not sheet.name or not folded.startswith(name.casefold()):
                continue
            rest = text[len(name) :]
            if not rest or rest[0] in "!,:. ":
                best = sheet, rest.lstrip("!,:. ").strip()
    return best


def _range_of(text: str) -> str:
    """Return a range as places have it, "" if the text is none."""
    written = _LINE.fullmatch(text)
    if written is not None:
        first, last = written[2], written[3] or written[2]
        kind = written[1].casefold()
        is_line = kind.startswith(("row", "column"))
        if is_line and first.isdigit() == kind.startswith("column"):
            return ""
        text = f"{first}:{last}" if is_line or written[3] else first
    text = text.replace("$", "").replace(" ", "").upper()
    if not text or not _RANGE.fullmatch(text):
        return ""
    if text.isdigit() or (text.isalpha() and len(text) <= 3 and text == text.strip()):
        text = f"{text}:{text}"
    area = area_of(text)
    if area is None:
        return ""
    first, _, last = text.partition(":")
    if first.isdigit() and last.isdigit():
        return f"{area.top}:{area.bottom}"
    if first.isalpha() and last.isalpha():
        return f"{column_letters(area.left)}:{column_letters(area.right)}"
    return str(area)


def _placed(sheet: str, text: str) -> Place:
    area = area_of(text)
    if area is not None and ":" not in text:
        return area_place(sheet, area)
    return range_place(sheet, text)


def _beside(package: Package, text: str) -> Place | None:
    """Return a place beside the sheets: a name, a style, a property, a part."""
    if text in package and not text.endswith("/"):
        return part_place(text)
    folded = text.casefold()
    if folded == "workbook settings":
        return part_place("workbook settings")
    kind, _, rest = text.partition(" ")
    if not rest:
        return None
    match kind.casefold():
        case "property":
            return part_place("properties", f"property {rest}")
        case "style":
            names = BookSide(package, {}).looks.named_styles()
            found = next((name for name in names if name.casefold() == rest.casefold()), None)
            return part_place(f"style {found}") if found is not None else None
        case "table" if rest.casefold().startswith("style "):
            own = BookSide(package, {}).looks.table_styles()
            found = next(
                (name for name in own if f"style {name}".casefold() == rest.casefold()), ""
            )
            return part_place(f"table style {found}") if found else None
        case "name":
            root = package.root(read_workbook(package).identity.part)
            name = rest.rpartition(" of ")[0] or rest
            known = {
                each.get("name", "").casefold()
                for each in root.iterfind("{*}definedNames/{*}definedName")
            }
            is_one = name.casefold() in known or rest.casefold() in known
            return part_place(f"name {rest}") if is_one else None
        case _:
            return None
