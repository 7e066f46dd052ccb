"""Tables of two versions: their rows matched, then the cells of rows that differ.

Rows and columns are counted as the operations on tables count them. Where the numbers of columns
differ, columns are matched first, so that a new one is one change and not one a row.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec
from lxml import etree

from kbd.formats import Change, ChangeList
from kbd.opc.element_names import local_name
from kbd_docx.comparison.body import XmlKeys
from kbd_docx.comparison.contents import Look, look_of
from kbd_docx.comparison.differences import ParagraphDifferences
from kbd_docx.comparison.digests import CONTROL_IDS, element_digest
from kbd_docx.comparison.looks import attributes_text, look_difference
from kbd_docx.comparison.matches import BlockMatches, listed_side, match_items
from kbd_docx.comparison.paragraphs import control_name
from kbd_docx.comparison.version import DocxVersion, word_count
from kbd_docx.document import M, W
from kbd_docx.reader.tables import grid_cells, grid_rows

__all__ = ["TableCells", "TableMatch", "compare_tables", "match_tables", "settings_look"]

_MAX_MATCHED_COLUMNS = 200
"""Columns of tables whose numbers of columns differ; of wider ones those of a number are one."""

MAX_LISTED_CELLS = 2_000
"""Cells of a table that came or went that its change lists."""

_WIDTHS = ("tcW", "tblGrid", "gridCol", "wAfter", "wBefore")
_NAMES = {
    "shd": "shading", "vAlign": "vertical_alignment", "gridSpan": "columns_spanned",
    "vMerge": "vertical_merge", "hMerge": "horizontal_merge", "tblStyle": "style",
    "jc": "alignment",
    "trHeight": "height", "tblHeader": "repeats_as_header", "cantSplit": "stays_on_one_page",
    "tblW": "width", "tblInd": "indent", "tblBorders": "borders", "tcBorders": "border",
    "noWrap": "no_wrap", "tblLayout": "layout", "tblLook": "style_parts",
}  # fmt: skip
_TRACKED = ("ins", "del", "tcPrChange", "trPrChange", "tblPrChange", "tblGridChange", "cellIns",
            "cellDel", "cellMerge")  # fmt: skip


class _Cell(msgspec.Struct, frozen=True):
    """A cell: where it begins, whether one above or before covers it, its text and its element."""

    column: int
    is_covered: bool
    text: str
    element: etree._Element


class _Row(msgspec.Struct, frozen=True):
    """A row: its number, its cells and its element; a tracked deletion has that of the next one."""

    number: int
    is_deleted: bool
    cells: tuple[_Cell, ...]
    element: etree._Element
    key: bytes


class TableCells:
    """The rows and cells of a table.

    Args:
        version: The version that it is in.
        index: The index of its block.
    """

    def __init__(self, version: DocxVersion, index: int) -> None:
        self.version = version
        self.number = version.block(index).number
        self.element = version.element(index)
        keys = XmlKeys(version.parts, version.main, dict(self.element.nsmap))
        self.rows: list[_Row] = []
        count = 0
        for element, is_deleted in grid_rows(self.element):
            cells = tuple(
                _Cell(column, is_covered, plain_text(cell), cell)
                for column, _, is_covered, cell in grid_cells(element)
            )
            self.rows.append(_Row(count, is_deleted, cells, element, keys.of(element)[1]))
            count += not is_deleted
        self.column_count = max(
            (cell.column + 1 for row in self.rows for cell in row.cells), default=0
        )

    def texts(self, row: int, columns: Sequence[int] | None = None) -> tuple[str, ...]:
        """Return the texts of a row by column, of chosen columns."""
        found = {cell.column: cell.text for cell in self.rows[row].cells}
        wanted = range(max(found, default=-1) + 1) if columns is None else columns
        return tuple(found.get(column, "") for column in wanted)

    def listed(self) -> tuple[list[list[str]], bool]:
        """Return the texts of as many rows as a change lists, and whether those are not all."""
        found: list[list[str]] = []
        left = MAX_LISTED_CELLS
        for index in range(len(self.rows)):
            texts = list(self.texts(index))
            left -= len(texts) + 1
            if left < 0:
                return found, True
            found.append(texts)
        return found, False

    def objects(self, column: int) -> tuple[bytes, ...]:
        """Return the digests of what the cells of a column show that is no text, by row."""
        return tuple(
            b"".join(map(element_digest, cell.element.iter(*_OBJECTS)))
            for row in self.rows
            for cell in row.cells
            if cell.column == column and not cell.text.strip()
        )

    def column(self, column: int) -> tuple[str, ...]:
        """Return the texts of a column by row."""
        return tuple(
            next((cell.text for cell in row.cells if cell.column == column), "")
            for row in self.rows
        )


_OBJECTS = tuple(f"{W}{name}" for name in ("drawing", "pict", "object", "fldChar", "sdt", "sym"))
_OBJECTS += (f"{M}oMath",)
"""What cells without text may show."""


class TableMatch(msgspec.Struct, frozen=True):
    """Match of a table: its rows, and columns before and after that are the same.

    Where all columns are the same none are listed.
    """

    rows: BlockMatches
    columns: tuple[tuple[int, int], ...]
    has_same_columns: bool


def match_tables(before: TableCells, after: TableCells) -> TableMatch:
    """Return which rows and columns of two versions of a table are the same."""
    counts = before.column_count, after.column_count
    same = counts[0] == counts[1] or max(counts) > _MAX_MATCHED_COLUMNS
    columns = () if same else _matched_columns(before, after)
    sides = []
    for cells, chosen in (
        (before, [one for one, _ in columns]), (after, [other for _, other in columns]),
    ):  # fmt: skip
        texts = [cells.texts(index, None if same else chosen) for index in range(len(cells.rows))]
        flags = [row.is_deleted for row in cells.rows]
        keys = list(zip(texts, flags, strict=True))
        sides.append(
            listed_side(
                keys,
                [_words(each) for each in texts],
                raw=[row.key for row in cells.rows] if same else None,
                move_keys=[each if any(each) else None for each in texts],
            )
        )
    return TableMatch(match_items(*sides, fills_gaps=True), columns, same)


def compare_tables(
    before: TableCells, after: TableCells, differences: ParagraphDifferences, out: ChangeList
) -> None:
    """Add what differs between two versions of a table."""
    found = match_tables(before, after)
    _compare_settings(before, after, out)
    places = after.version.places
    _add_columns(before, after, found, out)
    for event in found.rows.events:
        if event.kind == "removed":
            row = before.rows[event.before]
            place = before.version.places.table(before.number, row.number)
            out.add(Change(place, "removed", "row", before=list(before.texts(event.before))))
        elif event.kind == "added":
            row = after.rows[event.after]
            place = places.table(after.number, row.number)
            note = "a tracked insertion" if row.element.find(f"{W}trPr/{W}ins") is not None else ""
            out.add(Change(place, "added", "row", after=list(after.texts(event.after)), note=note))
        elif event.kind == "moved":
            _add_moved(before, after, event.before, event.after, event.length, out)
    widths: list[tuple[str, str]] = []
    for i, j in sorted(found.rows.forward.items(), key=lambda pair: pair[1]):
        if before.rows[i].key != after.rows[j].key or not found.has_same_columns:
            widths += _compare_rows(before, after, (i, j), found, differences, out)
    grid = _grid(before.element), _grid(after.element)
    if found.has_same_columns and (widths or grid[0] != grid[1]):
        details = {"columns": grid} if grid[0] != grid[1] else {"cell": widths[0]}
        out.add(Change(places.table(after.number), "changed", "width", details=details))


def _add_moved(
    before: TableCells, after: TableCells, start: int, other: int, length: int, out: ChangeList
) -> None:
    place = after.version.places.table(after.number, after.rows[other].number)
    source = before.version.places.table(before.number, before.rows[start].number)
    old = [list(before.texts(start + offset)) for offset in range(length)]
    new = [list(after.texts(other + offset)) for offset in range(length)]
    out.add(
        Change(
            place, "moved", "row", old[0] if length == 1 else old, new[0] if length == 1 else new,
            moved_from=source, note=f"{length} rows" if length > 1 else "",
        )
    )  # fmt: skip


def _add_columns(before: TableCells, after: TableCells, found: TableMatch, out: ChangeList) -> None:
    """Add the columns that came or went."""
    if found.has_same_columns:
        return
    old, new = {one for one, _ in found.columns}, {other for _, other in found.columns}
    for column in range(before.column_count):
        if column not in old:
            place = before.version.places.table(before.number, column=column)
            texts = list(before.column(column)[:MAX_LISTED_CELLS])
            out.add(Change(place, "removed", "column", before=texts))
    for column in range(after.column_count):
        if column not in new:
            place = after.version.places.table(after.number, column=column)
            texts = list(after.column(column)[:MAX_LISTED_CELLS])
            out.add(Change(place, "added", "column", after=texts))


def _compare_rows(
    before: TableCells,
    after: TableCells,
    rows: tuple[int, int],
    found: TableMatch,
    differences: ParagraphDifferences,
    out: ChangeList,
) -> list[tuple[str, str]]:
    """Add what differs between two rows; return the widths of cells before and after that do."""
    old, new = before.rows[rows[0]], after.rows[rows[1]]
    row_place = after.version.places.table(after.number, new.number)
    details = look_difference(_row_look(old.element), _row_look(new.element))
    if old.is_deleted != new.is_deleted:
        details["tracked_deletion"] = (old.is_deleted, new.is_deleted)
    if details:
        texts = list(after.texts(rows[1]))
        out.add(Change(row_place, "changed", "format", texts, texts, details=details))
    theirs = {cell.column: cell for cell in new.cells}
    ours = {cell.column: cell for cell in old.cells}
    widths: list[tuple[str, str]] = []
    readers = (
        before.version.reader(before.version.main), after.version.reader(after.version.main),
    )  # fmt: skip
    pairs = found.columns
    if found.has_same_columns:
        pairs = tuple((column, column) for column in sorted({*ours, *theirs}))
    for column, other in pairs:
        one, two = ours.get(column), theirs.get(other)
        place = after.version.places.table(after.number, new.number, other)
        if one is None or two is None:
            cell = one or two
            if cell is not None:
                kind = "removed" if two is None else "added"
                change = Change(place, "removed", "cell", before=cell.text)
                out.add(change if kind == "removed" else Change(place, "added", "cell",
                                                                after=cell.text))  # fmt: skip
            continue
        if _digest(before.version, one.element) == _digest(after.version, two.element):
            continue
        details = _cell_difference(one, two)
        pair = _width(one), _width(two)
        if pair[0] != pair[1] and "columns_spanned" not in details:
            widths.append(pair)
        differences.add_story(
            readers[0].paragraphs(one.element),
            readers[1].paragraphs(two.element),
            place,
            "cell",
            details=details,
        )
    return widths


def _width(cell: _Cell) -> str:
    found = cell.element.find(f"{W}tcPr/{W}tcW")
    return "" if found is None else attributes_text(found)


def _digest(version: DocxVersion, element: etree._Element) -> bytes:
    return version.parts.element(element, version.main)


def _cell_difference(before: _Cell, after: _Cell) -> dict[str, tuple[Any, Any]]:
    old, new = before.element.find(f"{W}tcPr"), after.element.find(f"{W}tcPr")
    found = look_difference(settings_look(old), settings_look(new))
    nested = [tuple(map(_frame_digest, cell.element.iter(f"{W}tbl"))) for cell in (before, after)]
    controls = [_controls(cell.element, ("tc",)) for cell in (before, after)]
    if controls[0] != controls[1]:
        found["content_controls"] = _named_controls(*controls)
    marks = [_marks_between(cell.element) for cell in (before, after)]
    if marks[0] != marks[1]:
        found["between_paragraphs"] = (marks[0], marks[1])
    if nested[0] != nested[1]:
        found["tables_inside"] = (len(nested[0]), len(nested[1]))
    return found


def _marks_between(cell: etree._Element) -> list[str]:
    """Return what stands between the paragraphs of a cell: bookmarks, formulas."""
    return [
        f"{local_name(each)} {each.get(f'{W}name') or element_digest(each).hex()}"
        for each in cell
        if local_name(each) not in _CELL_PARTS and each.get(f"{W}name") != "_GoBack"
    ]


_CELL_PARTS = ("", "tcPr", "p", "tbl", "sdt", "customXml", "proofErr", "bookmarkEnd",
               "commentRangeStart", "commentRangeEnd")  # fmt: skip
_AROUND_CELLS = ("tbl", "tr")
_PARAGRAPHS = frozenset((f"{W}p",))


def _frame_digest(table: etree._Element) -> bytes:
    """Return the digest of a table in a cell without what its paragraphs hold."""
    return element_digest(table, without=_PARAGRAPHS)


def _compare_settings(before: TableCells, after: TableCells, out: ChangeList) -> None:
    old = dict(settings_look(before.element.find(f"{W}tblPr")))
    new = dict(settings_look(after.element.find(f"{W}tblPr")))
    for version, look in ((before.version, old), (after.version, new)):
        if style := look.get("style"):
            look["style"] = version.looks.style_name("table", style)
    rows = [_controls(cells.element, _AROUND_CELLS) for cells in (before, after)]
    if rows[0] != rows[1]:
        old["content_controls"], new["content_controls"] = _named_controls(*rows)
    if details := look_difference(look_of(old), look_of(new)):
        place = after.version.places.table(after.number)
        out.add(Change(place, "changed", "format", details=details))


Controls = list[tuple[str, bytes]]
"""Content controls by name and digest."""


def _controls(element: etree._Element, parents: tuple[str, ...]) -> Controls:
    """Return the content controls in an element that stand right in some others."""
    found = []
    for control in element.iter(f"{W}sdt"):
        settings = control.find(f"{W}sdtPr")
        around = _first_around(control)
        if settings is not None and around in parents:
            digest = element_digest(settings, without=CONTROL_IDS)
            found.append((control_name(settings) or "unnamed", digest))
    return found


def _first_around(control: etree._Element) -> str:
    """Return the name of what a control stands in, whatever other controls are between."""
    for around in control.iterancestors():
        name = local_name(around)
        if name not in ("sdt", "sdtContent", "customXml"):
            return name
    return ""


def _named_controls(before: Controls, after: Controls) -> tuple[list[str], list[str]]:
    """Return controls by their names; with their digests where the names are the same."""
    names = [[name for name, _ in controls] for controls in (before, after)]
    if names[0] != names[1]:
        return names[0], names[1]
    told = [[f"{name} {digest.hex()}" for name, digest in each] for each in (before, after)]
    return told[0], told[1]


def _row_look(row: etree._Element) -> Look:
    found = dict(settings_look(row.find(f"{W}trPr")))
    exceptions = row.find(f"{W}tblPrEx")
    return look_of(found | {f"row_{name}": value for name, value in settings_look(exceptions)})


def settings_look(settings: etree._Element | None) -> Look:
    """Return what settings of a table, a row, a cell or a page say, by name.

    Args:
        settings: Their element; None says nothing.
    """
    found: dict[str, Any] = {}
    for child in settings if settings is not None else ():
        name = local_name(child)
        if not name or name in _WIDTHS or name == "cnfStyle":
            continue
        if name in _TRACKED:
            found[f"tracked {name}"] = child.get(f"{W}author", "")
        elif len(child):
            for each in child:
                key = f"{_NAMES.get(name, name)}_{local_name(each)}"
                found[key] = attributes_text(each) or element_digest(each).hex()
        else:
            found[_NAMES.get(name, name)] = attributes_text(child) or True
    return look_of(found)


def _matched_columns(before: TableCells, after: TableCells) -> tuple[tuple[int, int], ...]:
    sides = []
    for cells in (before, after):
        texts = [cells.column(column) for column in range(cells.column_count)]
        keys = [(each, cells.objects(column)) for column, each in enumerate(texts)]
        sides.append(listed_side(keys, [_words(each) for each in texts]))
    found = match_items(*sides, fills_gaps=True)
    return tuple(sorted(found.forward.items()))


def _grid(table: etree._Element) -> list[str]:
    """Return the widths of a table's columns as they are told."""
    grid = table.find(f"{W}tblGrid")
    columns = () if grid is None else grid.iterchildren(f"{W}gridCol")
    return [attributes_text(each) for each in columns]


def _words(texts: Sequence[str]) -> Counter[str]:
    """Return the texts of cells as words: whole ones, and what they are made of."""
    found = Counter(text.strip() for text in texts if text.strip())
    return found if found.total() > 1 else word_count(" ".join(texts))


def plain_text(element: etree._Element) -> str:
    """Return the text of a cell in lines, without what is deleted."""
    lines = []
    for paragraph in element.iter(f"{W}p"):
        pieces = [
            "\t" if each.tag == f"{W}tab" else each.text or ""
            for each in paragraph.iter(f"{W}t", f"{W}tab")
            if each.tag == f"{W}t" or _is_in(each, "r")
        ]
        lines.append("".join(pieces))
    return "\n".join(lines).strip("\n")


def _is_in(element: etree._Element, name: str) -> bool:
    parent = element.getparent()
    return parent is not None and local_name(parent) == name
