"""Tables and pivot tables of a sheet, moved by its map; what cannot be moved is refused by name."""

from collections.abc import Callable, Iterator

import msgspec

from kbd.errors import ValidationFailed
from kbd.opc.rewriter import Rewriting
from kbd.sheets.areas import Area, whole_number
from kbd_xlsx.calculation import names_column
from kbd_xlsx.parts.cells import escaped
from kbd_xlsx.parts.markup import area_of, masked, may_have_marks, utf8
from kbd_xlsx.shifting.formulas import FormulaMover
from kbd_xlsx.shifting.line_map import SheetMap
from kbd_xlsx.shifting.markup_tree import MarkupTree, Node
from kbd_xlsx.shifting.report import ShiftReport
from kbd_xlsx.shifting.surroundings import move_filter

__all__ = ["GrownTable", "check_pivots", "move_formulas_of_table", "move_table"]


class GrownTable(msgspec.Struct, frozen=True):
    """What a table that lines were put into needs in its new cells.

    Args:
        headers: The names of its new columns with the cells that hold them.
        filled: Columns whose formula new rows get, and the formula.
        rows: First and last of its new rows; None where there are none.
    """

    headers: tuple[tuple[int, int, str], ...] = ()
    filled: tuple[tuple[int, str], ...] = ()
    rows: tuple[int, int] | None = None


def check_pivots(rewriting: Rewriting, part: str, sheet: SheetMap) -> None:
    """Refuse to cut a pivot table of the sheet; move those that are not cut.

    Raises:
        ValidationFailed: Lines would be put into one, or taken out of it.
    """
    for relation in rewriting.relations(part):
        if relation.kind != "pivotTable" or relation.target not in rewriting:
            continue
        tree = _tree(rewriting.read(relation.target), relation.target)
        root = next(tree.elements(), None)
        place = root.child("location") if root is not None else None
        area = area_of(place.get("ref") or "") if place is not None else None
        if root is None or place is None or area is None:
            continue
        whole = _with_pages(area, place)
        new = sheet.area(whole)
        if new is None or _size(new) != _size(whole):
            raise ValidationFailed(
                f"the pivot table {root.get('name') or ''} stands at {whole} of {sheet.before}, "
                "which rows and columns cannot be put into or taken out of: choose others, or move "
                "the pivot table in a spreadsheet program first"
            )
        moved = sheet.area(area)
        if moved is not None and moved != area:
            tree.set(place, ref=str(moved))
            rewriting.put(relation.target, tree.result())


def _with_pages(area: Area, place: Node) -> Area:
    """Return the cells of a pivot table with its filters, which stand above a blank row."""
    pages = whole_number(place.get("rowPageCount") or "0")
    above = pages + 1 if pages else 0
    return Area(max(1, area.top - above), area.left, area.bottom, area.right)


def _size(area: Area) -> tuple[int, int]:
    return area.bottom - area.top, area.right - area.left


def move_formulas_of_table(
    rewriting: Rewriting, part: str, mover: FormulaMover, report: ShiftReport, *, is_home: bool
) -> None:
    """Move the formulas of the calculated columns and the totals of a table of any sheet."""
    tree = _tree(rewriting.read(part), part)
    for node in list(tree.elements()):
        if node.name not in ("calculatedColumnFormula", "totalsRowFormula"):
            continue
        old, lost = tree.text(node), mover.lost
        new = mover.moved(old, is_home=is_home)
        if mover.lost > lost:
            root = next(tree.elements())
            report.lose(f"table {root.get('displayName') or root.get('name')}")
        if new != old:
            tree.set_text(node, new)
    if tree.splices():
        rewriting.put(part, tree.result())


def move_table(
    rewriting: Rewriting,
    part: str,
    sheet: SheetMap,
    texts: Callable[[], Iterator[str]],
    report: ShiftReport,
) -> GrownTable:
    """Move a table of the sheet that is mapped; return what its new cells need.

    Args:
        rewriting: The package.
        part: The table's part.
        sheet: The map.
        texts: Returns all texts with formulas of the workbook.
        report: What else changed.

    Raises:
        ValidationFailed: Its header, all of its rows or a column that formulas name would go, or
            the table is filled from elsewhere and would get other columns.
    """
    tree = _tree(rewriting.read(part), part)
    root = next(tree.elements())
    area = area_of(root.get("ref") or "")
    if area is None:
        raise ValidationFailed(f"table {root.get('name')} has no range; leave its sheet as it is")
    name = root.get("displayName") or root.get("name") or ""
    header = whole_number(root.get("headerRowCount") or "1")
    totals = whole_number(root.get("totalsRowCount") or "0")
    _check_rows(sheet, area, name, header, totals)
    new = sheet.area(area)
    assert new is not None
    if totals and sheet.rows.get(area.bottom) is None:
        tree.set(root, totalsRowCount=None, totalsRowShown="0")
        report.note(f"Table {name} has no row of totals any more.")
    if new == area and sheet.columns.is_identity:
        if tree.splices():
            rewriting.put(part, tree.result())
        return GrownTable()
    tree.set(root, ref=_ref(new))
    for child in root.children:
        if child.name == "autoFilter":
            move_filter(tree, child, sheet)
    _move_order(tree, root, sheet)
    headers: tuple[tuple[int, int, str], ...] = ()
    if not sheet.columns.is_identity:
        is_bound = root.get("tableType") not in (None, "worksheet") or any(
            relation.kind == "queryTable" for relation in rewriting.relations(part)
        )
        headers = _Columns(tree, root, name, area, new, sheet).change(
            texts, is_bound=is_bound, has_header=bool(header)
        )
    rewriting.put(part, tree.result())
    return GrownTable(headers, _filled(tree, root, new), _new_rows(sheet, area, new))


def _check_rows(sheet: SheetMap, area: Area, name: str, header: int, totals: int) -> None:
    if header and sheet.rows.get(area.top) is None:
        raise ValidationFailed(
            f"row {area.top} of {sheet.before} is the header of table {name} ({area}), which "
            "cannot be deleted; delete rows below it"
        )
    top, bottom = area.top + header, area.bottom - totals
    if top <= bottom and sheet.rows.first(top) > sheet.rows.last(bottom):
        raise ValidationFailed(
            f"table {name} ({area}) would have no row left, but needs one: leave one of its rows "
            "and clear that with clear_range"
        )
    if sheet.columns.first(area.left) > sheet.columns.last(area.right):
        raise ValidationFailed(
            f"table {name} ({area}) would have no column left; delete its sheet, or leave a column"
        )


def _move_order(tree: MarkupTree, root: Node, sheet: SheetMap) -> None:
    order = root.child("sortState")
    if order is None:
        return
    for each in (order, *order.children):
        area = area_of(each.get("ref") or "")
        new = None if area is None else sheet.area(area)
        if new is None:
            tree.remove(order)
            return
        if new != area:
            tree.set(each, ref=_ref(new))


class _Columns:
    """The columns of a table whose sheet gets or loses columns."""

    def __init__(
        self, tree: MarkupTree, root: Node, name: str, old: Area, new: Area, sheet: SheetMap
    ) -> None:
        self._tree, self._root, self._name = tree, root, name
        self._old, self._new, self._sheet = old, new, sheet

    def change(
        self, texts: Callable[[], Iterator[str]], *, is_bound: bool, has_header: bool
    ) -> tuple[tuple[int, int, str], ...]:
        """Add and take out columns; return the names of new ones with their cells."""
        if _size(self._old) == _size(self._new) and not self._lost():
            return ()
        if is_bound:
            raise ValidationFailed(
                f"table {self._name} ({self._old}) is filled from outside, so its columns are "
                "those of its source: choose others, or unlink it in a spreadsheet program first"
            )
        listed = self._root.child("tableColumns")
        columns = [] if listed is None else [c for c in listed.children if c.name == "tableColumn"]
        if listed is None or len(columns) != self._old.right - self._old.left + 1:
            raise ValidationFailed(f"table {self._name} does not list its columns; leave it")
        for place in self._lost():
            self._take_out(columns[place], texts)
        made = self._add(columns, has_header=has_header)
        count = self._new.right - self._new.left + 1
        self._tree.set(listed, count=str(count))
        return made

    def _lost(self) -> list[int]:
        return [
            column - self._old.left
            for column in range(self._old.left, self._old.right + 1)
            if self._sheet.columns.get(column) is None
        ]

    def _take_out(self, column: Node, texts: Callable[[], Iterator[str]]) -> None:
        name = (column.get("name") or "").replace("_x000a_", "\n")
        own = self._tree.text(column) if not column.children else ""
        if any(names_column(text, name) for text in texts() if text != own):
            raise ValidationFailed(
                f"column {name!r} of table {self._name} is named by formulas, which would lose "
                "it; change these first"
            )
        self._tree.remove(column)

    def _add(self, columns: list[Node], *, has_header: bool) -> tuple[tuple[int, int, str], ...]:
        known = {(column.get("name") or "").casefold() for column in columns}
        number = max((whole_number(column.get("id") or "0") for column in columns), default=0)
        back = self._sheet.columns.inverted()
        prefix = self._tree.source(columns[0])[1:].partition(b"tableColumn")[0]
        made, markup, after = [], b"", columns[0]
        for column in range(self._new.left, self._new.right + 1):
            old = back.get(column)
            if old is not None:
                if markup:
                    self._tree.add_after(after, markup)
                    markup = b""
                after = columns[old - self._old.left]
                continue
            number += 1
            name = _free_name(known)
            made.append((self._new.top, column, name))
            text = escaped(name).encode()
            markup += b'<%btableColumn id="%d" name="%b"/>' % (prefix, number, text)
        return tuple(made) if has_header else ()


def _free_name(known: set[str]) -> str:
    """Return the name of a new column, which no other one has."""
    number = 1
    while f"column{number}" in known:
        number += 1
    known.add(f"column{number}")
    return f"Column{number}"


def _filled(tree: MarkupTree, root: Node, area: Area) -> tuple[tuple[int, str], ...]:
    """Return the columns whose formula every row has."""
    listed = root.child("tableColumns")
    found = []
    for place, column in enumerate(tree.left(listed) if listed is not None else ()):
        formula = column.child("calculatedColumnFormula")
        if formula is not None and formula.get("array") not in ("1", "true"):
            found.append((area.left + place, tree.text(formula)))
    return tuple(found)


def _new_rows(sheet: SheetMap, old: Area, new: Area) -> tuple[int, int] | None:
    if new.bottom - new.top <= old.bottom - old.top:
        return None
    back = sheet.rows.inverted()
    made = [row for row in range(new.top, new.bottom + 1) if back.get(row) is None]
    return (made[0], made[-1]) if made else None


def _ref(area: Area) -> str:
    """Write a range with both ends, as tables have it."""
    text = str(area)
    return text if ":" in text else f"{text}:{text}"


def _tree(data: bytes, name: str) -> MarkupTree:
    text = utf8(data, name)
    return MarkupTree(text, masked(text) if may_have_marks(text) else text)
