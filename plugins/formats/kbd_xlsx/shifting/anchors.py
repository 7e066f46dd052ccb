"""Anchors of drawings, moved by the map of their sheet.

An object that moves and sizes with its cells spans the same cells as before, one that only moves
keeps its size, one that does neither stays where it is. An object whose cells all go keeps its size
and stands where they were.
"""

from kbd.sheets.areas import whole_number
from kbd_xlsx.shifting.line_map import LineMap, SheetMap
from kbd_xlsx.shifting.markup_tree import MarkupTree, Node

__all__ = ["move_anchor", "moved_ends"]


def move_anchor(tree: MarkupTree, start: Node, sheet: SheetMap) -> None:
    """Move the anchor that an element `from` begins."""
    anchor = start.parent
    if anchor is None:
        return
    # Of controls and embedded objects the attributes say it (moveWithCells, sizeWithCells).
    edit_as = anchor.get("editAs") or (
        "twoCell"
        if anchor.name != "anchor" or _is_true(anchor, "sizeWithCells")
        else "oneCell"
        if _is_true(anchor, "moveWithCells")
        else "absolute"
    )
    if anchor.name not in ("twoCellAnchor", "oneCellAnchor", "anchor") or edit_as == "absolute":
        return
    end = anchor.child("to")
    for name, offset_name, lines in (
        ("row", "rowOff", sheet.rows), ("col", "colOff", sheet.columns)
    ):  # fmt: skip
        first, first_offset = start.child(name), start.child(offset_name)
        if first is None or first_offset is None:
            continue
        last = end.child(name) if end is not None else None
        last_offset = end.child(offset_name) if end is not None else None
        old = _number(tree, first), _number(tree, last) if last is not None else None
        is_flush = last_offset is not None and _number(tree, last_offset) == 0
        new, is_first_gone, is_last_gone = moved_ends(
            lines, old[0], old[1], sizes=edit_as == "twoCell", is_flush=is_flush
        )
        if new[0] != old[0]:
            tree.set_text(first, str(new[0]))
        if is_first_gone:
            tree.set_text(first_offset, "0")
        if last is not None and new[1] != old[1]:
            tree.set_text(last, str(new[1]))
        if last_offset is not None and is_last_gone:
            tree.set_text(last_offset, "0")


def moved_ends(
    lines: LineMap, first: int, last: int | None, *, sizes: bool, is_flush: bool
) -> tuple[tuple[int, int | None], bool, bool]:
    """Return the lines at which an object begins and ends, counted from 0 as before.

    Args:
        lines: The map.
        first: Where it begins.
        last: Where it ends; None if it has a size instead.
        sizes: Whether it sizes with its cells.
        is_flush: Whether it ends with the beginning of that line, so that the line is not its own.

    Returns:
        Both ends, whether the first line is gone, so that it begins where the line did, and the
        same of the last one.
    """
    begin = lines.first(first + 1) - 1
    is_gone = lines.get(first + 1) is None
    if last is None:
        return (begin, None), is_gone, False
    length = last - first
    if not sizes:
        return (begin, begin + length), is_gone, False
    own = last if is_flush and last > first else last + 1
    end = lines.last(own)
    if lines.first(first + 1) > end:
        # All of its lines are gone: it keeps its size, or nobody would see it any more.
        return (begin, begin + length), is_gone, False
    if is_flush and last > first:
        return (begin, end), is_gone, False
    if lines.get(last + 1) is None:
        # It ends with the line before, which is the beginning of the next one.
        return (begin, end), is_gone, True
    return (begin, end - 1), is_gone, False


def _is_true(node: Node, name: str) -> bool:
    return node.get(name) in ("1", "true")


def _number(tree: MarkupTree, node: Node) -> int:
    return whole_number(tree.text(node).strip())
