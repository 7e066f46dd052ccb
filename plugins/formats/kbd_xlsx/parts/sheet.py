"""One worksheet part, changed by splicing: only what an edit addresses is written anew.

The element `mergeCells`.
"""

import re
from io import BytesIO

from kbd.errors import ValidationFailed
from kbd.sheets.areas import Area, cell_name, overlaps
from kbd_xlsx.parts.cells import AreaIndex, CellEdit, PendingCells, PutRow, Restyle, contains
from kbd_xlsx.parts.contents import CellContents, changed_areas, pending_box
from kbd_xlsx.parts.formulas import Groups, checked_groups
from kbd_xlsx.parts.markup import (
    EVERYWHERE,
    Tag,
    area_of,
    attribute,
    children,
    element,
    opened,
    start_tag,
    with_attributes,
)
from kbd_xlsx.parts.outline import Outline, RowMarkup, Rows
from kbd_xlsx.parts.row_writer import measure, row_splices, row_style
from kbd_xlsx.parts.sheet_elements import (
    ColumnStyles,
    SheetElements,
    has_custom_width,
    with_frozen,
    with_widths,
)

__all__ = ["SheetPart", "merged_areas", "with_merges"]


def merged_areas(text: bytes, prefix: str) -> list[Area]:
    """Return the areas of an element `mergeCells` in order."""
    found = (area_of(ref) for ref, _ in _entries(text, prefix))
    return [area for area in found if area is not None]


def with_merges(text: bytes, prefix: str, areas: list[Area]) -> bytes:
    """Return the element with just these areas, b"" for none; those that stay keep their bytes."""
    missing = dict.fromkeys(areas)
    kept = []
    for ref, entry in _entries(text, prefix):
        area = area_of(ref)
        # A range that cannot be read stays as it is, since another program may understand it.
        if area is None or area in missing:
            kept.append(entry)
            if area is not None:
                del missing[area]
    name = f"{prefix}mergeCell"
    kept += [f'<{name} ref="{area}"/>'.encode() for area in missing]
    if not kept:
        return b""
    tag = opened(text) if text else Tag(f"{name}s".encode(), b"", b"")
    attributes = with_attributes(tag.attributes, {b"count": b"%d" % len(kept)})
    return element(Tag(tag.name, attributes, b"".join(kept)))


def _entries(text: bytes, prefix: str) -> list[tuple[str, bytes]]:
    """Return the areas as written and the elements that hold them."""
    name = f"{prefix}mergeCell".encode()
    close = b"</" + re.escape(name) + rb"\s*>"
    found = re.finditer(start_tag(name) + rb"(?:(?<=/>)|[^<]*" + close + b")", text)
    return [(attribute(entry[1], b"ref") or "", entry[0]) for entry in found]


_MAX_NAMED = 5
"""Cells that a message names."""


# Not openpyxl: an edit of one cell kept all in 54 % of 778 real workbooks, and one cell of 100,000
# x 10 took it 18.4 s and 536 MB. Spliced bytes keep the rest, and take a second.
class SheetPart:
    """Worksheet part with its pending changes.

    Attributes:
        name: The sheet's title, for messages.
        prefix: The prefix of the part's names: "" or "x:".
        merges: The merged areas as they will be.
        elements: The elements around the rows, pending changes of them among them.

    Args:
        data: The part's bytes.
        name: The sheet's title.

    Raises:
        ValidationFailed: The part has a form that cannot be changed safely.
        FileReadFailed: The part is damaged.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self._original = data
        self._outline = Outline(data, name)
        self.prefix = self._outline.prefix
        self.elements = SheetElements(self._outline)
        self._columns = ColumnStyles(self.elements.seen("cols"), self.prefix)
        self._had_merges = merged_areas(self.elements.seen("mergeCells"), self.prefix)
        self.merges = list(self._had_merges)
        self._index: AreaIndex | None = None
        self._pending = PendingCells()
        self._widths: dict[int, str] = {}
        self._rows: Rows | None = None
        self._groups: Groups | None = None
        self._last_put = 0
        self._styles: tuple[int, dict[int, int]] = (0, {})

    @property
    def is_changed(self) -> bool:
        """Whether any change is pending."""
        return bool(
            self._pending or self._widths or self.elements or self.merges != self._had_merges
        )

    def style_at(self, row: int, column: int) -> int:
        """Return the style index that a cell has, or would inherit from its row or column.

        It is the style before pending ones.
        """
        number, styles = self._styles
        # Asked for cell by cell along a row, so the row that was asked for last is cached.
        if number != row:
            styles = self._styles_of(row)
            self._styles = row, styles
        style = styles.get(column)
        if style is None:
            style = styles.get(0)
        return self._columns.style(column) if style is None else style

    def _styles_of(self, number: int) -> dict[int, int]:
        """Return the styles of a row's cells by column; that of the row itself under 0."""
        rows = self._all_rows()
        put = self._pending.puts.get(number)
        place = rows.place(number)
        found: dict[int, int] = {}
        if place is not None:
            row = rows.at(place)
            own = row_style(row.attributes)
            found = {} if own is None else {0: own}
            found.update((cell.column, cell.style) for cell in rows.cells(row))
        if put is not None:
            end = len(put.cells)
            row = RowMarkup(number, put.cells, put.cells, 0, b"", 0, end, end)
            found.update((cell.column, cell.style) for cell in rows.cells(row))
        return found

    def set(self, row: int, column: int, edit: CellEdit) -> None:
        """Change a cell; later edits win, styles add up.

        Raises:
            ValidationFailed: A value would go into a merged area, but not its first cell.
        """
        # Styles and blanks may go anywhere; a value under a merge would be seen by nobody.
        if self.merges and edit.content is not None and edit.content.kind != "blank":
            self._check_merge(row, column)
        self._pending.set(row, column, edit)

    def _check_merge(self, row: int, column: int) -> None:
        if self._index is None:
            self._index = AreaIndex(self.merges)
        area = self._index.at(row, column)
        if area is not None and (row, column) != (area.top, area.left):
            raise ValidationFailed(
                f"{self.name}!{cell_name(row, column)} is inside the merged cells {area}; "
                f"only {cell_name(area.top, area.left)} can hold a value"
            )

    def clear(self, area: Area) -> None:
        """Empty the cells of an area; their styles stay. It costs only what there is."""
        self._pending.clear(area)

    def clear_all(self) -> None:
        """Take out all rows and merges."""
        self._pending = PendingCells(is_wiped=True)
        # The old rows are not searched, so that even rows out of order can be removed.
        self._rows = Rows(self._outline, are_gone=True)
        self._groups = Groups(self._outline, are_gone=True)
        self._last_put, self._styles = 0, (0, {})
        self.merges, self._index = [], None

    def forget(self, area: Area) -> None:
        """Drop the stored results of formulas in an area; the formulas stay, and all constants.

        Where it reaches an array, what a formula spills into, or a data table, all of it forgets.
        """
        self._pending.forgets.append(area)

    def put_row(self, row: int, cells: str) -> None:
        """Add ready XML of all cells of a row, with the part's prefix; rows come in rising order.

        Raises:
            ValidationFailed: The row has cells or pending edits, or a later one was put before.
        """
        rows = self._all_rows()
        place = rows.place(row)
        if place is not None and rows.cells(rows.at(place)):
            raise ValidationFailed(f"{self.name}: row {row} has cells; it cannot be put in")
        # Areas of ready rows are joined in the order in which they come, so it must be the sheet's.
        if row <= self._last_put or row in self._pending.edits:
            raise ValidationFailed(f"{self.name}: row {row} is filled already")
        self._last_put = row
        self._pending.puts[row] = PutRow(cells.encode(), len(self._pending.clears))

    def has_row(self, row: int) -> bool:
        """Tell whether there is a row, with cells or not, or an edit of one of its cells."""
        return self._all_rows().place(row) is not None or row in self._pending.edits

    def set_width(self, column: int, width: float) -> None:
        """Set a column's width, in characters."""
        self._widths[column] = measure(width)

    def has_width(self, column: int) -> bool:
        """Tell whether a column's width was asked for, in this call or before."""
        return column in self._widths or has_custom_width(
            self.elements.seen("cols"), self.prefix, column
        )

    def set_height(self, row: int, height: float) -> None:
        """Set a row's height, in points."""
        self._pending.heights[row] = height

    def freeze(self, rows: int, columns: int) -> None:
        """Keep rows at the top and columns at the left in view; 0 and 0 unfreezes.

        Raises:
            ValidationFailed: The views hold comments.
        """
        old = self.elements.text("sheetViews")
        views = with_frozen(old, self.prefix, rows, columns)
        if views != old:
            self.elements.put("sheetViews", views)

    def merge(self, area: Area) -> None:
        """Merge cells; an area that is merged already stays so.

        Raises:
            ValidationFailed: It overlaps other merged cells, or cells hold values that would go.
        """
        if area in self.merges:
            return
        if (area.top, area.left) == (area.bottom, area.right):
            raise ValidationFailed(f"{self.name}!{area} is one cell; there is nothing to merge")
        if other := next((known for known in self.merges if overlaps(known, area)), None):
            raise ValidationFailed(
                f"{self.name}!{area} overlaps the merged cells {other}; unmerge them first"
            )
        held = self._held_within(area)
        if held:
            more = " and more" if len(held) > _MAX_NAMED else ""
            raise ValidationFailed(
                f"{self.name}!{area}: {', '.join(held[:_MAX_NAMED])}{more} hold values that "
                "merging would hide; clear them first"
            )
        self.merges.append(area)
        self._index = None

    def _held_within(self, area: Area) -> list[str]:
        """Return the names of cells of an area, but its first, that hold something."""
        contents, held = self._contents(), []
        for number in contents.rows(area):
            held += [
                cell_name(number, column)
                for column in contents.columns(number)
                if area.left <= column <= area.right and (number, column) != (area.top, area.left)
            ]
            if len(held) > _MAX_NAMED:
                break
        return held

    def unmerge(self, area: Area) -> None:
        """Take apart the merged cells within an area.

        Raises:
            ValidationFailed: There are none.
        """
        left = [known for known in self.merges if not contains(area, known)]
        if len(left) == len(self.merges):
            partly = next((known for known in left if overlaps(known, area)), None)
            hint = f"; {partly} are, which it holds only a part of" if partly else ""
            raise ValidationFailed(f"{self.name}!{area} holds no merged cells{hint}")
        self.merges, self._index = left, None

    def auto_filter(self, area: Area) -> bool:
        """Set the filter's area; returns whether criteria of a former filter were dropped.

        Raises:
            ValidationFailed: The filter that there is holds comments.
        """
        old = self.elements.text("autoFilter")
        tag = opened(old) if old else Tag(f"{self.prefix}autoFilter".encode(), b"", b"")
        # Setting the same range again must not drop its criteria.
        if old and area_of(attribute(tag.attributes, b"ref") or "") == area:
            return False
        attributes = with_attributes(tag.attributes, {b"ref": str(area).encode()})
        self.elements.put("autoFilter", element(Tag(tag.name, attributes, b"")))
        return any(True for _ in children(tag.inner, 0, len(tag.inner)))

    def last_row(self) -> int:
        """Return the last row with content, 0 if there is none; pending edits count."""
        contents = self._contents()
        numbers = reversed(contents.rows(EVERYWHERE))
        return next((number for number in numbers if contents.columns(number)), 0)

    def used(self) -> Area | None:
        """Return the area of all content, None if there is none; pending edits count."""
        contents, found = self._contents(), []
        for number in contents.rows(EVERYWHERE):
            columns = contents.columns(number)
            if columns:
                found.append((number, columns[0], columns[-1]))
        if not found:
            return None
        left, right = min(row[1] for row in found), max(row[2] for row in found)
        return Area(found[0][0], left, found[-1][0], right)

    def changed_areas(self) -> list[Area]:
        """Return where edits and clears change values; areas may be larger than what was there.

        Raises:
            ValidationFailed: As `xml`.
        """
        if self._pending.is_wiped:
            return [EVERYWHERE]
        found = changed_areas(self._pending)
        if found:
            # What a dynamic formula no longer spills into has changed as well.
            found += checked_groups(self._all_groups(), self._pending, self._outline)
        return found

    def removes_or_adds_formulas(self) -> bool:
        """Whether an edit writes or removes a formula."""
        return self._contents().removes_or_adds_formulas()

    def xml(self, restyle: Restyle) -> bytes:
        """Return the part as it will be; where nothing is to change, the part as it was.

        Raises:
            ValidationFailed: An edit addresses what cannot be changed alone, or the rows are
                not in order.
        """
        if not self.is_changed:
            return self._original
        outline = self._outline
        splices = self.elements.splices(self._elements())
        if self._pending:
            rows = row_splices(
                outline, self._all_rows(), self._all_groups(), self._columns, self._pending, restyle
            )
            # Splices go out in the order of the file; those of the rows are made as they are
            # written.
            before = [splice for splice in splices if splice.end <= outline.sheet_data[0]]
            after = splices[len(before) :]
        else:
            before, rows, after = splices, iter(()), []
        # Written one after the other: a list of all pieces would be as large again.
        old, out, place = memoryview(outline.data), BytesIO(), 0
        for part in (before, rows, after):
            for splice in part:
                if splice.start > place:
                    out.write(old[place : splice.start])
                out.write(splice.text)
                place = splice.end
        out.write(old[place:])
        return out.getvalue()

    def _elements(self) -> dict[str, bytes]:
        """Return the elements around the rows that follow from what is to change."""
        found = {}
        if self._widths:
            found["cols"] = with_widths(self.elements.text("cols"), self.prefix, self._widths)
        if self.merges != self._had_merges:
            old = self.elements.text("mergeCells")
            found["mergeCells"] = with_merges(old, self.prefix, self.merges)
        old = self.elements.seen("dimension")
        if self._pending and old:
            tag = opened(old)
            known = area_of(attribute(tag.attributes, b"ref") or "")
            box = self._box(known)
            if known is not None and box != known:
                attributes = with_attributes(tag.attributes, {b"ref": str(box).encode()})
                found["dimension"] = element(Tag(tag.name, attributes, tag.inner))
        return found

    def _box(self, known: Area | None) -> Area | None:
        """Return the new `dimension` of the part, from the old one."""
        box = pending_box(self._pending)
        if known is None or not len(self._all_rows()):
            return box or (Area(1, 1, 1, 1) if self._pending.is_wiped else known)
        if box is None:
            return known
        return Area(
            # It only grows: shrinking it would mean to search all rows for the outermost cell.
            min(known.top, box.top),
            min(known.left, box.left),
            max(known.bottom, box.bottom),
            max(known.right, box.right),
        )

    def _all_rows(self) -> Rows:
        if self._rows is None:
            self._rows = Rows(self._outline)
        return self._rows

    def _all_groups(self) -> Groups:
        if self._groups is None:
            self._groups = Groups(self._outline)
        return self._groups

    def _contents(self) -> CellContents:
        return CellContents(self._outline, self._all_rows(), self._pending)
