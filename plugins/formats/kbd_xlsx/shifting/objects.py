"""What other parts than sheets say of a sheet's cells, moved by its map.

Charts, shapes that show a cell, controls, the sources of pivot tables; of the sheet itself also
where drawings and comments stand.
"""

import re
from collections.abc import Iterable

from kbd.errors import ValidationFailed
from kbd.opc.package import CONTENT_TYPES, read_types
from kbd.opc.rewriter import Rewriting
from kbd.sheets.areas import Area, cell_name, whole_number
from kbd_xlsx.parts.cells import escaped
from kbd_xlsx.parts.markup import area_of, masked, may_have_marks, plain, utf8
from kbd_xlsx.shifting.anchors import move_anchor, moved_ends
from kbd_xlsx.shifting.formulas import FormulaMover
from kbd_xlsx.shifting.line_map import SheetMap
from kbd_xlsx.shifting.markup_tree import MarkupTree, Node
from kbd_xlsx.shifting.report import ShiftReport

__all__ = ["move_objects", "move_references_of_parts"]

_CACHES = ("numCache", "strCache", "multiLvlStrCache", "lvl")
_FORMULA_ATTRIBUTES = (
    "textlink", "cellRange", "fmlaLink", "fmlaRange", "fmlaTxbx", "fmlaGroup", "fmlaPict",
)  # fmt: skip
_POINTS = frozenset({"cat", "val", "xVal", "yVal", "bubbleSize"})
_SINGLE = re.compile(r"[^!]*!(\$?[A-Za-z]{1,3}\$?[0-9]{1,7})")
_KINDS = re.compile(
    r"chart\+xml|chartex\+xml|drawing\+xml|controlproperties\+xml|pivotCacheDefinition\+xml"
    r"|connections\+xml|vmlDrawing",
    re.IGNORECASE,
)


def move_references_of_parts(
    rewriting: Rewriting, mover: FormulaMover, report: ShiftReport, drawings: Iterable[str]
) -> None:
    """Move what the parts besides sheets, tables and the workbook say of the sheet's cells.

    Args:
        rewriting: The package.
        mover: What moves formulas.
        report: What was lost.
        drawings: The drawings of the sheet, in which references without a sheet are to it.

    Raises:
        ValidationFailed: All cells that a pivot table shows would go.
        FileReadFailed: A part is damaged.
    """
    own = {part.casefold() for part in drawings}
    types = read_types(rewriting.root(CONTENT_TYPES))
    for part in rewriting.parts():
        if part.endswith(".rels"):
            _move_links(rewriting, part, mover, report)
            continue
        kind = types.of(part)
        if not _KINDS.search(kind):
            continue
        data = utf8(rewriting.read(part), part)
        if "vmlDrawing" in kind:
            is_home = part.casefold() in own
            new = _CONTROLS.sub(lambda found: _control(found, mover, is_home=is_home), data)  # noqa: B023
        else:
            tree = _tree(data)
            for node in list(tree.elements()):
                _move(tree, node, part, mover, report, is_home=part.casefold() in own)
            new = tree.result()
        if new != data:
            rewriting.put(part, new)


_LINK = re.compile(rb'(\sTarget="#)([^"]*![^"]*)(")')


def _move_links(rewriting: Rewriting, part: str, mover: FormulaMover, report: ShiftReport) -> None:
    """Move the places of the workbook that links of cells and shapes lead to."""
    data = rewriting.read(part)
    if b'Target="#' not in data:
        return
    lost = mover.lost

    def moved(found: re.Match[bytes]) -> bytes:
        text = mover.carried(plain(found[2]), is_home=False)
        return found[1] + escaped(text).replace('"', "&quot;").encode() + found[3]

    new = _LINK.sub(moved, data)
    if mover.lost > lost:
        report.lose(f"links of {part.rpartition('/')[2].removesuffix('.xml.rels')}")
    if new != data:
        rewriting.put(part, new)


def _tree(data: bytes) -> MarkupTree:
    return MarkupTree(data, masked(data) if may_have_marks(data) else data)


_CONTROLS = re.compile(rb"(<x:(?:Fmla\w+)>)([^<]*)(</x:)")


def _control(found: re.Match[bytes], mover: FormulaMover, *, is_home: bool) -> bytes:
    text = found[2].decode("utf-8", "replace")
    return found[1] + mover.moved(text, is_home=is_home).encode() + found[3]


def _move(
    tree: MarkupTree,
    node: Node,
    part: str,
    mover: FormulaMover,
    report: ShiftReport,
    *,
    is_home: bool,
) -> None:
    lost = mover.lost
    if node.name in ("f", "sqref") and not node.children and node.inner_end > node.inner:
        old = tree.text(node)
        new = mover.moved(old, is_home=False)
        new = _grown(node, old, new, mover)
        if new != old:
            tree.set_text(node, new)
            if _span_of(old) != _span_of(new):
                _drop_cache(tree, node)
    for name in _FORMULA_ATTRIBUTES:
        value = node.get(name) if name.encode() in node.attributes else None
        if value:
            new = mover.moved(value, is_home=is_home)
            if new != value:
                tree.set(node, **{name: new})
    if mover.lost > lost:
        report.lose(part.rpartition("/")[2].removesuffix(".xml"))
    if node.name in ("worksheetSource", "rangeSet"):
        _move_source(tree, node, mover.sheet, report)
    if node.name == "parameter" and node.get("cell"):
        new = mover.moved(node.get("cell") or "", is_home=False)
        if new != node.get("cell"):
            tree.set(node, cell=new)


def _grown(node: Node, old: str, new: str, mover: FormulaMover) -> str:
    """Return what a series draws: of one cell, all cells that it takes in now."""
    around = None if node.parent is None else node.parent.parent
    cells = _SINGLE.fullmatch(old), _SINGLE.fullmatch(new)
    if around is None or around.name not in _POINTS or cells[0] is None or cells[1] is None:
        return new
    found = mover.moved(f"{old}:{cells[0][1]}", is_home=False)
    return new if found == f"{new}:{cells[1][1]}" else found


def _span_of(formula: str) -> list[tuple[int, int]]:
    """Return the sizes of the ranges in a formula, to tell whether its cells are others."""
    found = []
    for word in re.split(r"[(),]", formula):
        area = area_of(word.rpartition("!")[2])
        if area is not None:
            found.append((area.bottom - area.top, area.right - area.left))
    return found


def _drop_cache(tree: MarkupTree, node: Node) -> None:
    """Take out the values that a chart keeps of a range that lost or got cells."""
    for sibling in node.parent.children if node.parent is not None else ():
        if sibling.name in _CACHES:
            tree.remove(sibling)


def _move_source(tree: MarkupTree, node: Node, sheet: SheetMap, report: ShiftReport) -> None:
    """Move the range whose data a pivot table keeps a copy of."""
    area = area_of(node.get("ref") or "")
    title = node.get("sheet") or ""
    # One with a relation is of another workbook.
    is_other = b":id=" in node.attributes
    if area is None or is_other or title.casefold() != sheet.before.casefold():
        return
    new = sheet.area(area)
    if new is None or sheet.rows.get(area.top) is None:
        raise ValidationFailed(
            f"a pivot table shows {title}!{area}, whose row of names would go; leave that row, or "
            "delete the pivot table first"
        )
    if _is_narrowed(area, new):
        raise ValidationFailed(
            f"a pivot table shows {title}!{area}, and would lose a field; give it another range "
            "in a spreadsheet program first"
        )
    if (
        new.bottom - new.top > area.bottom - area.top
        or new.right - new.left > area.right - area.left
    ):
        report.note(f"A pivot table still shows {title}!{new} as it was; refresh it.")
    if new != area:
        tree.set(node, ref=str(new))


def _is_narrowed(old: Area, new: Area) -> bool:
    return new.right - new.left < old.right - old.left


def move_objects(
    rewriting: Rewriting, part: str, sheet: SheetMap, title: str, report: ShiftReport
) -> None:
    """Move the drawings and comments of the sheet that is mapped.

    Args:
        rewriting: The package.
        part: The sheet's part.
        sheet: Its map.
        title: Its title.
        report: Which comments went.
    """
    gone: set[tuple[int, int]] = set()
    shapes = []
    for relation in rewriting.relations(part):
        target = relation.target
        if relation.external or target not in rewriting:
            continue
        match relation.kind:
            case "drawing":
                tree = _tree(utf8(rewriting.read(target), target))
                for node in list(tree.elements()):
                    if node.name == "from":
                        move_anchor(tree, node, sheet)
                _put(rewriting, target, tree)
            case "comments" | "threadedComment":
                gone.update(_move_comments(rewriting, target, sheet))
            case "tableSingleCells":
                _move_comments(rewriting, target, sheet)
            case "vmlDrawing":
                shapes.append(target)
            case _:
                pass
    for target in shapes:
        data = utf8(rewriting.read(target), target)
        new = _SHAPE.sub(lambda found: _shape(found, sheet), data)
        if new != data:
            rewriting.put(target, new)
    if gone:
        names = ", ".join(cell_name(*place) for place in sorted(gone)[:12])
        more = f" and {len(gone) - 12} more" if len(gone) > 12 else ""
        report.note(f"{title}: comments went with their cells: {names}{more}.")


def _put(rewriting: Rewriting, part: str, tree: MarkupTree) -> None:
    new = tree.result()
    if tree.splices():
        rewriting.put(part, new)


def _move_comments(rewriting: Rewriting, part: str, sheet: SheetMap) -> set[tuple[int, int]]:
    """Move comments to where their cells are; return the cells of those that went."""
    tree = _tree(utf8(rewriting.read(part), part))
    gone = set()
    for node in list(tree.elements()):
        name = "r" if node.name == "singleXmlCell" else "ref"
        if node.name not in ("comment", "threadedComment", "singleXmlCell"):
            continue
        area = area_of(node.get(name) or "")
        if area is None:
            continue
        new = sheet.area(area)
        if new is None:
            gone.add((area.top, area.left))
            tree.remove(node)
        elif new != area:
            tree.set(node, **{name: str(new)})
    _put(rewriting, part, tree)
    return gone


# This old format need not be XML in all of its parts, so the few values are found by themselves.
# Some programs write v: and x:, others number the prefixes.
_SHAPE = re.compile(rb"<((?:[\w.-]+:)?)shape\s.*?</\1shape>\s*", re.DOTALL)
_ROW = re.compile(rb"(<(?:[\w.-]+:)?Row>\s*)(\d+)(\s*</(?:[\w.-]+:)?Row>)")
_COLUMN = re.compile(rb"(<(?:[\w.-]+:)?Column>\s*)(\d+)(\s*</(?:[\w.-]+:)?Column>)")
_ANCHOR = re.compile(rb"(<(?:[\w.-]+:)?Anchor>)([^<]*)(</(?:[\w.-]+:)?Anchor>)")


def _shape(found: re.Match[bytes], sheet: SheetMap) -> bytes:
    """Return a shape of the old format where it is now: of a comment, or of a control."""
    text = found[0]
    row, column = _ROW.search(text), _COLUMN.search(text)
    if row is None or column is None:
        return _ANCHOR.sub(lambda anchor: _anchor(anchor, sheet, None), text)
    old = int(row[2]) + 1, int(column[2]) + 1
    new = sheet.rows.get(old[0]), sheet.columns.get(old[1])
    if new[0] is None or new[1] is None:
        return b""
    # The box of a comment stays at its cell.
    by = new[0] - old[0], new[1] - old[1]
    places = b"%d" % (new[0] - 1), b"%d" % (new[1] - 1)
    text = _ROW.sub(lambda each: each[1] + places[0] + each[3], text)
    text = _COLUMN.sub(lambda each: each[1] + places[1] + each[3], text)
    return _ANCHOR.sub(lambda anchor: _anchor(anchor, sheet, by), text)


def _anchor(found: re.Match[bytes], sheet: SheetMap, by: tuple[int, int] | None) -> bytes:
    """Return an anchor: column, offset, row, offset of the upper left, then of the lower right."""
    words = found[2].decode("ascii", "replace").split(",")
    if len(words) != 8 or not all(word.strip().lstrip("-").isdigit() for word in words):
        return found[0]
    numbers = [whole_number(word.strip()) for word in words]
    if by is None:
        rows = moved_ends(sheet.rows, numbers[2], numbers[6], sizes=False, is_flush=False)[0]
        columns = moved_ends(sheet.columns, numbers[0], numbers[4], sizes=False, is_flush=False)[0]
        changed = {0: columns[0], 2: rows[0], 4: columns[1] or 0, 6: rows[1] or 0}
    else:
        moves = {0: by[1], 2: by[0], 4: by[1], 6: by[0]}
        changed = {place: max(0, numbers[place] + move) for place, move in moves.items()}
    for place, number in changed.items():
        old = words[place].strip()
        words[place] = words[place].replace(old, str(number), 1)
    return found[1] + ",".join(words).encode() + found[3]
