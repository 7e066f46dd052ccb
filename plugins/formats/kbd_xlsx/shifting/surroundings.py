"""What stands around the rows of a sheet, moved by a map: merges, rules, links, views, widths.

The same elements are found by their names wherever they stand, so those of extensions (conditional
formats and validations of later versions, sparklines) and of customized views go along.
"""

from collections.abc import Callable

from kbd.sheets.areas import MAX_COLUMN, Area, cell_name, whole_number
from kbd_xlsx.parts.markup import area_of
from kbd_xlsx.parts.outline import Outline
from kbd_xlsx.shifting.anchors import move_anchor
from kbd_xlsx.shifting.formulas import LOST, FormulaMover, Offset
from kbd_xlsx.shifting.line_map import LineMap, SheetMap
from kbd_xlsx.shifting.markup_tree import MarkupTree, Node
from kbd_xlsx.shifting.report import ShiftReport

__all__ = ["Surroundings", "move_filter"]

_FORMULAS = frozenset({"f", "formula", "formula1", "formula2"})
_RANGE_LISTS = frozenset(
    {
        "conditionalFormatting", "dataValidation", "protectedRange", "ignoredError", "selection",
    }
)  # fmt: skip
"""Elements whose attribute `sqref` lists ranges."""

_CELLS = {"cellWatch": "r", "inputCells": "r", "cellSmartTags": "r"}
_CONTAINERS = frozenset(
    {
        "mergeCells", "dataValidations", "hyperlinks", "protectedRanges", "ignoredErrors",
        "rowBreaks", "colBreaks", "cellWatches", "conditionalFormattings", "sparklines",
        "sparklineGroup", "sparklineGroups", "ext", "extLst", "scenario", "scenarios",
        "smartTags", "dataRefs", "dataConsolidate",
    }
)  # fmt: skip
"""Elements that go with the last of those that they hold."""

_NAMES = {
    "conditionalFormatting": "a conditional format", "dataValidation": "a data validation",
    "hyperlink": "a link", "protectedRange": "a range that people may edit",
    "sparkline": "a sparkline",
}  # fmt: skip


class Surroundings:
    """The elements around the rows of a sheet.

    Attributes:
        lost_filter: Whether the sheet's filter went with its header.

    Args:
        outline: The part.
        mover: What moves formulas.
        report: What was lost.
        is_home: Whether it is the sheet that is mapped; else its formulas alone may change.
    """

    def __init__(
        self, outline: Outline, mover: FormulaMover, report: ShiftReport, *, is_home: bool
    ) -> None:
        self._outline, self._mover, self._report = outline, mover, report
        self._sheet, self._is_home = mover.sheet, is_home
        self._relations: list[str] = []
        self.lost_filter = False
        data, scan = outline.data, outline.scan
        self._head = MarkupTree(data, scan, outline.inside, outline.sheet_data[0])
        self._tail = MarkupTree(data, scan, outline.tail)
        self._movers: dict[str, Callable[[MarkupTree, Node], None]] = {
            "autoFilter": self._filter,
            "brk": self._break,
            "col": self._widths,
            "customSheetView": self._view,
            "dimension": self._dimension,
            "from": self._anchor,
            "hyperlink": self._linked_cell,
            "mergeCell": self._merge,
            "pane": self._pane,
            "selection": self._selection,
            "sheetView": self._view,
            "sortState": self._order,
            "sqref": self._range_list_text,
        }

    @property
    def dropped_relations(self) -> tuple[str, ...]:
        """Ids of relations that nothing of the sheet names any more."""
        return tuple(self._relations)

    def moved(self) -> tuple[bytes, bytes]:
        """Return all that stands before the rows, and all behind them."""
        for tree in (self._head, self._tail):
            # Formulas of rules come first: they are told from the ranges as they were.
            for node in tree.elements():
                self._formulas(tree, node)
            for node in list(tree.elements()) if self._is_home else ():
                if not tree.is_gone(node):
                    self._own(tree, node)
            self._drop_empty(tree)
        data, outline = self._outline.data, self._outline
        return (
            _spliced(data, self._head.splices(), 0, outline.sheet_data[0]),
            _spliced(data, self._tail.splices(), outline.tail, len(data)),
        )

    def _formulas(self, tree: MarkupTree, node: Node) -> None:
        """Move the formulas of an element, its own or those of its attributes."""
        if node.name in _FORMULAS and not node.children and node.inner_end > node.inner:
            old = tree.text(node)
            new = old if self._goes(tree, node) else self._rule(tree, node, old)
            if new != old:
                tree.set_text(node, new)
            return
        for name in ("linkedCell", "listFillRange", "sourceRef"):
            old_value = node.get(name)
            if old_value:
                new = self._moved(old_value, node.name)
                if new != old_value:
                    tree.set(node, **{name: new})
        match node.name:
            case "cfvo" if _is_formula(node.get("val") or "0"):
                old = node.get("val") or ""
                new = self._rule(tree, node, old)
                if new != old:
                    tree.set(node, val=new)
            case "hyperlink" if not node.get("id"):
                self._link(tree, node)
            case "dataRef":
                self._data_ref(tree, node)
            case _:
                pass

    def _goes(self, tree: MarkupTree, node: Node) -> bool:
        """Tell whether an element goes with the cell that it is shown in, as a sparkline does."""
        shown = node.parent.child("sqref") if node.parent is not None else None
        return self._is_home and shown is not None and self._sheet.ranges(tree.text(shown)) == LOST

    def _moved(self, formula: str, what: str) -> str:
        lost = self._mover.lost
        found = self._mover.moved(formula, is_home=self._is_home)
        if self._mover.lost > lost:
            self._report.lose(f"{self._outline.name} ({what})")
        return found

    def _rule(self, tree: MarkupTree, node: Node, formula: str) -> str:
        """Return a formula of a rule, which is written for the first cell of its ranges."""
        ranges = _ranges_of(tree, node)
        areas = [area for area in map(area_of, ranges.split()) if area is not None]
        if not areas:
            return self._moved(formula, node.name)
        base = min(area.top for area in areas), min(area.left for area in areas)
        mover, lost = self._mover, self._mover.lost
        # Relative references keep their distance, as those of most of its cells do: they are
        # moved as those of its last cell, and as those of its first one if that is gone.
        last = max(area.bottom for area in areas), max(area.right for area in areas)
        found = formula
        for cell in (last, base):
            offset = self._offset(base, cell, areas)
            if offset is None:
                continue
            mover.lost = lost
            found = mover.carried(formula, is_home=self._is_home, offset=offset)
            if mover.lost == lost:
                break
        if mover.lost > lost:
            self._report.lose(f"{self._outline.name}!{areas[0]} ({node.name})")
        return found

    def _offset(
        self, base: tuple[int, int], cell: tuple[int, int], areas: list[Area]
    ) -> Offset | None:
        rows, columns = cell[0] - base[0], cell[1] - base[1]
        if not self._is_home:
            return Offset(rows, columns, rows, columns)
        moved = [area for area in map(self._sheet.area, areas) if area is not None]
        new = _place(self._sheet, cell[0], cell[1])
        if not moved or new is None:
            return None
        top, left = min(area.top for area in moved), min(area.left for area in moved)
        return Offset(rows, columns, new[0] - top, new[1] - left)

    def _link(self, tree: MarkupTree, node: Node) -> None:
        location = node.get("location")
        area = area_of(node.get("ref") or "")
        goes = self._is_home and area is not None and self._sheet.area(area) is None
        if not location or "!" not in location or goes:
            return
        lost = self._mover.lost
        new = self._mover.carried(location.removeprefix("#"), is_home=self._is_home)
        if self._mover.lost > lost:
            self._report.lose(f"{self._outline.name}!{node.get('ref')} (link)")
        if new != location.removeprefix("#"):
            tree.set(node, location=new)

    def _data_ref(self, tree: MarkupTree, node: Node) -> None:
        sheet, ref = node.get("sheet") or "", node.get("ref") or ""
        area = area_of(ref)
        if area is None or node.get("id") or sheet.casefold() != self._sheet.before.casefold():
            return
        new = self._sheet.area(area)
        if new is None:
            self._report.lose(f"{self._outline.name} (consolidation of {sheet}!{ref})")
            tree.remove(node)
        elif new != area:
            tree.set(node, ref=str(new))

    def _own(self, tree: MarkupTree, node: Node) -> None:
        """Move an element of the sheet itself."""
        name = node.name
        if name in self._movers:
            self._movers[name](tree, node)
        elif name in _RANGE_LISTS:
            self._range_list(tree, node)
        elif name in _CELLS:
            self._single_cell(tree, node)

    def _view(self, tree: MarkupTree, node: Node) -> None:
        _set_cell(tree, node, "topLeftCell", self._sheet)

    def _dimension(self, tree: MarkupTree, node: Node) -> None:
        area = area_of(node.get("ref") or "")
        if area is not None and self._sheet.area(area) is None:
            tree.set(node, ref="A1")
        else:
            _set_area(tree, node, "ref", self._sheet)

    def _anchor(self, tree: MarkupTree, node: Node) -> None:
        move_anchor(tree, node, self._sheet.placed)

    def _filter(self, tree: MarkupTree, node: Node) -> None:
        if not move_filter(tree, node, self._sheet):
            self._report.note(
                f"The filter of {self._outline.name} is gone with the row or columns of its names; "
                "rows that it hid stay hidden."
            )
            tree.remove(node)
            self.lost_filter = self.lost_filter or node.parent is tree.top

    def _order(self, tree: MarkupTree, node: Node) -> None:
        # That of a filter moves with the filter.
        if node.parent is None or node.parent.name != "autoFilter":
            _move_order(tree, node, self._sheet)

    def _single_cell(self, tree: MarkupTree, node: Node) -> None:
        name = _CELLS[node.name]
        area = area_of(node.get(name) or "")
        if area is not None and self._sheet.area(area) is None:
            tree.remove(node)
        else:
            _set_area(tree, node, name, self._sheet.placed)

    def _pane(self, tree: MarkupTree, node: Node) -> None:
        """Keep the same rows and columns frozen."""
        if node.get("state") not in ("frozen", "frozenSplit"):
            return
        view = node.parent
        corner = area_of((view.get("topLeftCell") if view else None) or "A1") or Area(1, 1, 1, 1)
        begins = area_of(node.get("topLeftCell") or "")
        corner_after = [0, 0]
        for place, (name, lines, first, shown) in enumerate(
            (
                ("ySplit", self._sheet.rows.placed, corner.top, begins.top if begins else 0),
                ("xSplit", self._sheet.columns, corner.left, begins.left if begins else 0),
            )
        ):
            count = whole_number((node.get(name) or "0").partition(".")[0])
            corner_after[place] = shown if shown == 1 else lines.first(shown) if shown else 0
            if count:
                start = 1 if first == 1 else lines.first(first)
                # At least one stays: a pane without any is none.
                kept = max(1, lines.last(first + count - 1) - start + 1)
                if kept != count:
                    tree.set(node, **{name: str(kept)})
                # What is not scrolled is not afterwards: new lines behind the frozen ones show.
                if shown == first + count:
                    corner_after[place] = start + kept
        if begins is not None and corner_after != [begins.top, begins.left]:
            tree.set(node, topLeftCell=cell_name(*corner_after))

    def _selection(self, tree: MarkupTree, node: Node) -> None:
        # A selection never goes: where its cells do, what came in their place is selected.
        for name in ("activeCell", "sqref"):
            old = node.get(name)
            if old is None:
                continue
            found = []
            for word in old.split():
                area = area_of(word)
                moved = None if area is None else self._sheet.placed.area(area)
                new = None if area is None else moved or _nearest(area)
                found.append(word if new is None else str(new))
            if " ".join(found) != old:
                tree.set(node, **{name: " ".join(found)})

    def _range_list(self, tree: MarkupTree, node: Node) -> None:
        old = node.get("sqref")
        if old is None:
            return
        new = self._sheet.ranges(old)
        if new == LOST:
            self._gone(node, old)
            tree.remove(node)
        elif new != old:
            tree.set(node, sqref=new)

    def _range_list_text(self, tree: MarkupTree, node: Node) -> None:
        """Move the ranges of a rule, a validation or a sparkline of an extension."""
        old = tree.text(node)
        is_shown = node.parent is not None and node.parent.name == "sparkline"
        new = (self._sheet.placed if is_shown else self._sheet).ranges(old)
        if new == LOST and node.parent is not None:
            self._gone(node.parent, old)
            tree.remove(node.parent)
        elif new != old:
            tree.set_text(node, new)

    def _gone(self, node: Node, ranges: str) -> None:
        if node.name in _NAMES:
            name = _NAMES[node.name]
            self._report.note(f"{self._outline.name}!{ranges}: {name} went with its cells.")

    def _merge(self, tree: MarkupTree, node: Node) -> None:
        area = area_of(node.get("ref") or "")
        if area is None:
            return
        new = self._sheet.placed.area(area)
        if new is None or (new.top, new.left) == (new.bottom, new.right):
            tree.remove(node)
        elif new != area:
            tree.set(node, ref=str(new))

    def _linked_cell(self, tree: MarkupTree, node: Node) -> None:
        area = area_of(node.get("ref") or "")
        if area is not None and self._sheet.area(area) is None:
            self._gone(node, node.get("ref") or "")
            tree.remove(node)
            if node.get("id") is None:
                relation = _relation_id(node)
                if relation:
                    self._relations.append(relation)
            return
        _set_area(tree, node, "ref", self._sheet.placed)

    def _break(self, tree: MarkupTree, node: Node) -> None:
        """Have a page go on beginning with the same line; `id` is the line before it."""
        is_row = node.parent is not None and node.parent.name == "rowBreaks"
        lines: LineMap = self._sheet.rows if is_row else self._sheet.columns
        old = whole_number(node.get("id") or "0")
        new = lines.first(old + 1) - 1
        if new == old:
            return
        siblings = [] if node.parent is None else node.parent.children
        taken = {each.get("id") for each in siblings if each is not node and not tree.is_gone(each)}
        if new < 1 or str(new) in taken:
            tree.remove(node)
        else:
            tree.set(node, id=str(new))

    def _widths(self, tree: MarkupTree, node: Node) -> None:
        """Move the widths and styles of columns; new columns have those of the one to the left."""
        columns = self._sheet.columns
        first, last = whole_number(node.get("min") or ""), whole_number(node.get("max") or "")
        if columns.is_identity or not first or not last:
            return
        new_first, new_last = columns.first(first), columns.last(last)
        if new_first > new_last or new_first > MAX_COLUMN:
            tree.remove(node)
            return
        after = columns.get(last + 1)
        # What was put in right behind it, unless it hides columns.
        is_shown = node.get("hidden") not in ("1", "true")
        if is_shown and after is not None and columns.get(last) is not None and last < MAX_COLUMN:
            grown = after - 1
            if grown > new_last:
                new_last = grown
        if (new_first, new_last) != (first, last):
            tree.set(node, min=str(new_first), max=str(min(new_last, MAX_COLUMN)))

    def _drop_empty(self, tree: MarkupTree) -> None:
        """Take out what holds nothing any more, and have counts be right."""
        for node in reversed(list(tree.elements())):
            if not node.children or (node.name not in _CONTAINERS and node.name != "cols"):
                continue
            left = tree.left(node)
            if len(left) == len(node.children):
                continue
            if not [each for each in left if each.name != "f" or node.name != "sparklineGroup"] or (
                node.name == "sparklineGroup"
                and not any(each.name == "sparklines" for each in left)
            ):
                tree.remove(node)
            else:
                _set_counts(tree, node, left)


def _set_counts(tree: MarkupTree, node: Node, left: list[Node]) -> None:
    if node.get("count") is not None:
        tree.set(node, count=str(len(left)))
    if node.get("manualBreakCount") is not None:
        by_hand = sum(each.get("man") in ("1", "true") for each in left)
        tree.set(node, manualBreakCount=str(by_hand))


def move_filter(tree: MarkupTree, node: Node, sheet: SheetMap) -> bool:
    """Move a filter with its criteria and its order; return False if its header is gone."""
    area = area_of(node.get("ref") or "")
    if area is None:
        return True
    new = sheet.area(area)
    if new is None or sheet.rows.get(area.top) is None:
        return False
    if new != area:
        ref = str(new)
        tree.set(node, ref=ref if ":" in ref else f"{ref}:{ref}")
    for child in node.children:
        if child.name == "sortState":
            _move_order(tree, child, sheet)
        if child.name != "filterColumn":
            continue
        column = area.left + whole_number(child.get("colId") or "0")
        became = sheet.columns.get(column)
        if became is None:
            tree.remove(child)
        elif became - new.left != column - area.left:
            tree.set(child, colId=str(became - new.left))
    return True


def _move_order(tree: MarkupTree, node: Node, sheet: SheetMap) -> None:
    """Move how rows were sorted last; where a column of it is gone, all of it goes."""
    nodes = [node, *(child for child in node.children if child.name == "sortCondition")]
    for each in nodes:
        area = area_of(each.get("ref") or "")
        if area is not None and sheet.area(area) is None:
            tree.remove(node)
            return
    for each in nodes:
        _set_area(tree, each, "ref", sheet)


def _set_area(tree: MarkupTree, node: Node, name: str, sheet: SheetMap) -> None:
    """Set an area of an attribute to what it has become; one that is gone stays as it is."""
    text = node.get(name)
    area = area_of(text) if text else None
    new = None if area is None else sheet.area(area)
    if text is None or new is None or new == area:
        return
    written = str(new)
    both = ":" in text and ":" not in written
    tree.set(node, **{name: f"{written}:{written}" if both else written})


def _set_cell(tree: MarkupTree, node: Node, name: str, sheet: SheetMap) -> None:
    """Move the cell that stands in the upper left of a view; the first ones stay there."""
    text = node.get(name)
    area = area_of(text) if text else None
    if area is None:
        return
    row = area.top if area.top == 1 else sheet.rows.first(area.top)
    column = area.left if area.left == 1 else sheet.columns.first(area.left)
    if (row, column) != (area.top, area.left):
        tree.set(node, **{name: cell_name(row, min(column, MAX_COLUMN))})


def _place(sheet: SheetMap, row: int, column: int) -> tuple[int, int] | None:
    new = sheet.rows.get(row), sheet.columns.get(column)
    return None if new[0] is None or new[1] is None else (new[0], new[1])


def _nearest(area: Area) -> Area:
    return Area(area.top, area.left, area.top, area.left)


def _ranges_of(tree: MarkupTree, node: Node) -> str:
    """Return the ranges of the rule that an element is of, "" if it is of none."""
    at = node.parent
    while at is not None:
        found = at.get("sqref")
        if found is not None:
            return found
        # The ranges of a sparkline are where it is shown, not what its formula is told from.
        if at.name in ("conditionalFormatting", "dataValidation"):
            listed = next((each for each in at.children if each.name == "sqref"), None)
            if listed is not None:
                return tree.text(listed)
        at = at.parent
    return ""


def _is_formula(value: str) -> bool:
    return not value.lstrip("-").replace(".", "", 1).isdigit()


def _relation_id(node: Node) -> str:
    """Return the id of the relation that an element names, whatever its prefix."""
    words = node.attributes.decode("utf-8", "replace").split(":id=")
    return words[1].lstrip("\"'").split(words[1][0])[0] if len(words) == 2 and words[1] else ""


def _spliced(data: bytes, splices: list[tuple[int, int, bytes]], start: int, stop: int) -> bytes:
    pieces: list[bytes] = []
    place = start
    for begin, end, text in splices:
        pieces += (data[place:begin], text)
        place = end
    return b"".join((*pieces, data[place:stop]))
