"""Drawing part of a sheet: made where there is none, its anchors added and taken out."""

import posixpath

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.rewriter import Rewriting, xml_bytes
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.parts.markup import masked, utf8
from kbd_xlsx.parts.sheet_elements import with_element
from kbd_xlsx.styles.drawings import RELATION_SPACES, DrawnObject, drawn_objects, why_not_copied

__all__ = [
    "CHART_SPACE",
    "DRAWING_SPACE",
    "MAIN_SPACE",
    "append_anchor",
    "drawing_part",
    "find_drawn",
    "free_drawn_name",
    "reached_parts",
    "related_ids",
    "remove_anchor",
    "require_drawing",
]

DRAWING_SPACE = "http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing"
MAIN_SPACE = "http://schemas.openxmlformats.org/drawingml/2006/main"
CHART_SPACE = "http://schemas.openxmlformats.org/drawingml/2006/chart"
_DRAWING_TYPE = "application/vnd.openxmlformats-officedocument.drawing+xml"
_HEAD = b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
_EMPTY = f'<xdr:wsDr xmlns:xdr="{DRAWING_SPACE}" xmlns:a="{MAIN_SPACE}"></xdr:wsDr>'.encode()
_MAX_LISTED = 20


def drawing_part(book: BookEdit, sheet: str) -> str:
    """Return the part of a sheet's drawing, "" if there is none; raises ValidationFailed."""
    part = book.part(sheet)
    for relation in book.rewriting.relations(part) if part else ():
        if relation.kind == "drawing" and relation.target in book.rewriting:
            return relation.target
    return ""


def require_drawing(book: BookEdit, sheet: str, empty: bytes = _HEAD + _EMPTY) -> str:
    """Return the part of a sheet's drawing, which is made if there is none.

    Args:
        book: The workbook.
        sheet: The sheet's title.
        empty: A drawing without anchors, for a sheet that has none.

    Raises:
        ValidationFailed: The sheet's part cannot be changed without a loss.
    """
    # What is pending on the sheet is written first: later it would undo what is put here.
    book.flush()
    if found := drawing_part(book, sheet):
        return found
    rewriting, part = book.rewriting, book.part(sheet)
    folder = posixpath.dirname(book.main)
    drawing = rewriting.free_name(posixpath.join(folder, "drawings/drawing{}.xml"))
    rewriting.add(drawing, empty, _DRAWING_TYPE)
    id_ = rewriting.relate(part, "drawing", drawing)
    space = RELATION_SPACES[rewriting.is_strict].strip("{}")

    def made(prefix: str) -> str:
        return f'<{prefix}drawing xmlns:r="{space}" r:id="{id_}"/>'

    rewriting.put(part, with_element(rewriting.read(part), sheet, "drawing", made))
    return drawing


def append_anchor(rewriting: Rewriting, drawing: str, anchor: bytes) -> None:
    """Put an anchor at the end of a drawing, over all others; the rest keeps its bytes.

    Args:
        rewriting: The package.
        drawing: The part.
        anchor: The element, which declares the prefixes that it uses.
    """
    data = utf8(rewriting.read(drawing), drawing)
    end = masked(data).rfind(b"</")
    if end < 0:
        # The root has no end tag to write before.
        root = rewriting.root(drawing)
        root.append(etree.fromstring(anchor))
        rewriting.put(drawing, xml_bytes(root))
        return
    rewriting.put(drawing, data[:end] + anchor + data[end:])


def find_drawn(
    book: BookEdit, sheet: str, kind: str, wanted: str | int, titles: dict[str, str] | None = None
) -> tuple[str, etree._Element, DrawnObject]:
    """Return a chart or picture: the part of its drawing, the root of that, and itself.

    Args:
        book: The workbook.
        sheet: The sheet's title.
        kind: "chart" or "image".
        wanted: Its name on the sheet, as "Chart 1" or "Sheet1/Chart 1", its title, or its index,
            which may be digits that are no name or title.
        titles: What is written over each, by its name.

    Raises:
        ValidationFailed: There is none, several, or it is part of a group.
    """
    drawing = drawing_part(book, sheet)
    root = book.rewriting.root(drawing) if drawing else None
    known = [] if root is None else [each for each in drawn_objects(root) if each.kind == kind]
    what = {"image": "picture"}.get(kind, kind)
    if root is None or not known:
        raise ValidationFailed(f"sheet {sheet} has no {what} on it")
    found = _chosen(known, sheet, wanted, titles or {})
    if not found:
        names = ", ".join(each.name for each in known[:_MAX_LISTED])
        raise ValidationFailed(f"sheet {sheet} has no {what} {wanted!r}; there are: {names}")
    if len(found) > 1:
        names = ", ".join(each.name for each in found[:_MAX_LISTED])
        raise ValidationFailed(f"{wanted!r} means several on {sheet}: {names}; give one's name")
    if reason := why_not_copied(found[0]):
        raise ValidationFailed(f"{what} {found[0].name} is one {reason}; it cannot be changed")
    return drawing, root, found[0]


def _chosen(
    known: list[DrawnObject], sheet: str, wanted: str | int, titles: dict[str, str]
) -> list[DrawnObject]:
    if isinstance(wanted, int):
        return known[wanted : wanted + 1] if wanted >= 0 else []
    folded = wanted.casefold()
    named = [
        each
        for each in known
        if folded in (each.name.casefold(), f"{sheet}/{each.name}".casefold())
    ]
    named = named or [each for each in known if titles.get(each.name, "").casefold() == folded]
    # An index may come as a text, as clients write any value of a field that takes either.
    if not named and wanted.isascii() and wanted.isdigit():
        return known[int(wanted) : int(wanted) + 1]
    return named


def free_drawn_name(root: etree._Element, word: str) -> str:
    """Return a name that no object of a drawing has: "Chart 1"."""
    taken = {(each.get("name") or "").casefold() for each in root.iter("{*}cNvPr")}
    number = 1
    while f"{word} {number}".casefold() in taken:
        number += 1
    return f"{word} {number}"


def related_ids(element: etree._Element) -> set[str]:
    """Return the ids of relations that an element and all in it name."""
    return {
        str(value)
        for each in element.iter()
        for key, value in each.attrib.items()
        if str(key).startswith(RELATION_SPACES)
    }


def remove_anchor(book: BookEdit, drawing: str, root: etree._Element, drawn: DrawnObject) -> None:
    """Take an object out of a drawing, with the parts that nothing else leads to."""
    rewriting = book.rewriting
    before = reached_parts(rewriting)
    ids = related_ids(drawn.anchor)
    parent = drawn.anchor.getparent()
    assert parent is not None
    parent.remove(drawn.anchor)
    rewriting.put(drawing, xml_bytes(root))
    for id_ in ids - related_ids(root):
        rewriting.unrelate(drawing, id_)
    for part in sorted(before - reached_parts(rewriting)):
        rewriting.drop(part)


def reached_parts(rewriting: Rewriting) -> set[str]:
    """Return the parts that relations lead to from the package on."""
    found: set[str] = set()
    waiting = [""]
    while waiting:
        for relation in rewriting.relations(waiting.pop()):
            target = relation.target
            if not relation.external and target in rewriting and target not in found:
                found.add(target)
                waiting.append(target)
    return found
