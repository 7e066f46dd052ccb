"""Comments of cells: their texts, and the drawing (VML) without which Excel shows none of them.

Those that this format has are notes. Threads of later versions have parts of their own, with the
people who wrote them: a cell that has one is left alone.
"""

import posixpath
import re
from collections.abc import Sequence
from typing import Any

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import namespace_of
from kbd.opc.rewriter import xml_bytes
from kbd.sheets.areas import Area, cell_name, parse_cell
from kbd_xlsx.drawings.drawing_part import reached_parts
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.operations import SetComment
from kbd_xlsx.parts.markup import area_of
from kbd_xlsx.parts.sheet import SheetPart
from kbd_xlsx.parts.stylesheet import MAIN
from kbd_xlsx.styles.drawings import RELATION_SPACES
from kbd_xlsx.values import checked_text

__all__ = ["set_comment", "take_comments"]

_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.comments+xml"
_DRAWING_TYPE = "application/vnd.openxmlformats-officedocument.vmlDrawing"
_MAX_AUTHOR = 255
_PRESERVED = "{http://www.w3.org/XML/1998/namespace}space"

# Libraries write these names with prefixes of their own.
_SHAPE = re.compile(rb"<((?:[\w.-]+:)?shape)[\s>].*?</\1\s*>\s*", re.DOTALL)
_ELEMENT = re.compile(rb"<(?:[\w.-]+:)?([\w.-]+)")
_NO_SHAPES = frozenset(
    (b"xml", b"shapelayout", b"idmap", b"shapetype", b"stroke", b"path", b"formulas", b"f", b"lock")
)
"""What a drawing has that shows nothing: settings, and the kind that shapes of comments are of."""

_AT = {
    name: re.compile(rb"<((?:[\w.-]+:)?" + name + rb")>\s*(\d{1,7})\s*</\1\s*>")
    for name in (b"Row", b"Column")
}
_SPACES = {
    "v": "urn:schemas-microsoft-com:vml", "o": "urn:schemas-microsoft-com:office:office",
    "x": "urn:schemas-microsoft-com:office:excel",
}  # fmt: skip
_SHAPE_ID = re.compile(rb"_x0000_s(\d{1,9})")
_END = re.compile(rb"</(?:[\w.-]+:)?xml>\s*\Z")
_BLANK = """<xml xmlns:v="urn:schemas-microsoft-com:vml" \
xmlns:o="urn:schemas-microsoft-com:office:office" xmlns:x="urn:schemas-microsoft-com:office:excel">\
<o:shapelayout v:ext="edit"><o:idmap v:ext="edit" data="{number}"/></o:shapelayout></xml>"""
_SHAPE_TYPE = """<v:shapetype{spaces} id="_x0000_t202" coordsize="21600,21600" o:spt="202" \
path="m,l,21600r21600,l21600,xe"><v:stroke joinstyle="miter"/><v:path gradientshapeok="t" \
o:connecttype="rect"/></v:shapetype>"""
_NOTE = """<v:shape{spaces} id="_x0000_s{number}" type="#_x0000_t202" style='position:absolute;\
margin-left:59.25pt;margin-top:1.5pt;width:{width}pt;height:{height}pt;z-index:{depth};\
visibility:hidden' fillcolor="#ffffe1" o:insetmode="auto"><v:fill color2="#ffffe1"/>\
<v:shadow on="t" color="black" obscured="t"/><v:path o:connecttype="none"/>\
<v:textbox style='mso-direction-alt:auto'><div style='text-align:left'></div></v:textbox>\
<x:ClientData ObjectType="Note"><x:MoveWithCells/><x:SizeWithCells/>\
<x:Anchor>{anchor}</x:Anchor><x:AutoFill>False</x:AutoFill><x:Row>{row}</x:Row>\
<x:Column>{column}</x:Column></x:ClientData></v:shape>"""
_LINE = 28
"""Characters of a line of a comment, about."""

_LINE_HEIGHT, _WIDTH, _MAX_ROWS = 15, 144, 30


def set_comment(book: BookEdit, operation: SetComment) -> str:
    """Put a comment on a cell and say which; raises ValidationFailed."""
    sheet = book.sheet(operation.sheet)
    row, column = parse_cell(operation.cell)
    ref = cell_name(row, column)
    place = f"{sheet.name}!{ref}"
    # XML would keep a carriage return as a character of its own.
    lines = operation.text.replace("\r\n", "\n").replace("\r", "\n")
    text = checked_text(lines, f"{place}: the comment")
    if not text.strip():
        raise ValidationFailed(f"{place}: the comment is empty; clear_objects takes one away")
    _check_threads(book, sheet, [Area(row, column, row, column)])
    if book.rewriting.is_strict:
        raise ValidationFailed(
            f"{place}: the workbook is of the strict variant, which has no drawing for comments"
        )
    part = _related(book, sheet, "comments")
    root = book.rewriting.root(part) if part else _new_root()
    known = next(
        (each for each in root.iterfind("{*}commentList/{*}comment") if each.get("ref") == ref),
        None,
    )
    author = (operation.author or "").strip()
    if len(author) > _MAX_AUTHOR:
        raise ValidationFailed(f"{place}: an author has {_MAX_AUTHOR} characters at most")
    comment = _entry(root, ref) if known is None else known
    if known is None or author:
        comment.set("authorId", str(_author(root, checked_text(author or "kbd", place))))
    _set_text(comment, text)
    if part:
        book.rewriting.put(part, xml_bytes(root))
    else:
        folder = posixpath.dirname(book.main)
        part = book.rewriting.free_name(posixpath.join(folder, "comments{}.xml"))
        book.rewriting.add(part, xml_bytes(root), _TYPE)
        book.rewriting.relate(book.part(sheet.name), "comments", part)
    _draw(book, sheet, row, column, text)
    return f"{place}: comment" + (" instead of another one" if known is not None else "")


def take_comments(book: BookEdit, sheet: SheetPart, areas: Sequence[Area]) -> int:
    """Take the comments off some cells, and return how many; raises ValidationFailed."""
    _check_threads(book, sheet, areas)
    part = _related(book, sheet, "comments")
    if not part:
        return 0
    root = book.rewriting.root(part)
    gone: set[tuple[int, int]] = set()
    for comment in list(root.iterfind("{*}commentList/{*}comment")):
        at = area_of(comment.get("ref", ""))
        if at is not None and _holds(areas, at.top, at.left):
            parent = comment.getparent()
            assert parent is not None
            parent.remove(comment)
            gone.add((at.top, at.left))
    if gone:
        # An author whose every comment is gone stays: others are known by their place.
        book.rewriting.put(part, xml_bytes(root))
        _erase(book, sheet, gone)
        if root.find("{*}commentList/{*}comment") is None:
            _drop_parts(book, sheet, part)
    return len(gone)


def _drop_parts(book: BookEdit, sheet: SheetPart, comments: str) -> None:
    """Drop the parts of a sheet's comments, of which none is left, and their empty drawing."""
    rewriting, owner = book.rewriting, book.part(sheet.name)
    before = reached_parts(rewriting)
    drawing = sheet.elements.text("legacyDrawing")
    for relation in rewriting.relations(owner):
        is_drawing = f'"{relation.id}"'.encode() in drawing and relation.target in rewriting
        if relation.target == comments:
            rewriting.unrelate(owner, relation.id)
        # Controls and objects are drawn there, too.
        elif is_drawing and _NO_SHAPES.issuperset(
            _ELEMENT.findall(rewriting.read(relation.target))
        ):
            sheet.elements.put("legacyDrawing", b"")
            rewriting.unrelate(owner, relation.id)
    for part in sorted(before - reached_parts(rewriting)):
        rewriting.drop(part)


def _holds(areas: Sequence[Area], row: int, column: int) -> bool:
    return any(a.top <= row <= a.bottom and a.left <= column <= a.right for a in areas)


def _related(book: BookEdit, sheet: SheetPart, kind: str) -> str:
    """Return the part of a kind that a sheet has, "" for none."""
    relations = book.rewriting.relations(book.part(sheet.name))
    found = (each.target for each in relations if each.kind == kind and not each.external)
    return next((part for part in found if part in book.rewriting), "")


def _check_threads(book: BookEdit, sheet: SheetPart, areas: Sequence[Area]) -> None:
    for relation in book.rewriting.relations(book.part(sheet.name)):
        if relation.kind != "threadedComment" or relation.target not in book.rewriting:
            continue
        for each in book.rewriting.root(relation.target).iterfind("{*}threadedComment"):
            at = area_of(each.get("ref", ""))
            if at is not None and _holds(areas, at.top, at.left):
                raise ValidationFailed(
                    f"{sheet.name}!{each.get('ref')} has a thread of comments, with the people who "
                    "wrote them; answer or delete it in a spreadsheet program"
                )


def _new_root() -> etree._Element:
    # The stubs do not know that the plain namespace's prefix is None.
    nsmap: Any = {None: MAIN}
    root = etree.Element(f"{{{MAIN}}}comments", nsmap=nsmap)
    etree.SubElement(root, f"{{{MAIN}}}authors")
    etree.SubElement(root, f"{{{MAIN}}}commentList")
    return root


def _child(root: etree._Element, name: str, place: int) -> etree._Element:
    found = root.find(f"{{*}}{name}")
    if found is None:
        found = etree.Element(f"{{{namespace_of(root.tag)}}}{name}")
        root.insert(place, found)
    return found


def _entry(root: etree._Element, ref: str) -> etree._Element:
    """Make an entry for a cell, in the order of rows as programs keep them."""
    entries = _child(root, "commentList", 1)
    made = etree.Element(f"{{{namespace_of(root.tag)}}}comment")
    made.set("ref", ref)
    row, column = parse_cell(ref)
    for place, each in enumerate(entries):
        at = area_of(each.get("ref", "")) if isinstance(each.tag, str) else None
        if at is not None and (at.top, at.left) > (row, column):
            entries.insert(place, made)
            break
    else:
        entries.append(made)
    return made


def _author(root: etree._Element, name: str) -> int:
    """Return the place of an author, who is added if new."""
    authors = _child(root, "authors", 0)
    names = [each.text or "" for each in authors.iterfind("{*}author")]
    if name not in names:
        etree.SubElement(authors, f"{{{namespace_of(root.tag)}}}author").text = name
        names.append(name)
    return names.index(name)


def _set_text(comment: etree._Element, text: str) -> None:
    space = namespace_of(comment.tag)
    old = comment.find("{*}text")
    if old is None:
        old = etree.Element(f"{{{space}}}text")
        comment.insert(0, old)
    for child in list(old):
        old.remove(child)
    piece = etree.SubElement(old, f"{{{space}}}t")
    piece.text = text
    piece.set(_PRESERVED, "preserve")


def _draw(book: BookEdit, sheet: SheetPart, row: int, column: int, text: str) -> None:
    """Have the sheet's drawing show a comment, in the place where it showed one before."""
    part = _drawing(book, sheet)
    data = book.rewriting.read(part)
    if any(_is_note(found[0], {(row, column)}) for found in _SHAPE.finditer(data)):
        return
    end = _END.search(data)
    if end is None or b"\0" in data[:4]:
        raise ValidationFailed(f"{sheet.name}: the drawing of its comments is of an unknown form")
    ids = [int(number) for number in _SHAPE_ID.findall(data)]
    number = max((each for each in ids if each < 10**8), default=0) + 1
    if not ids:
        number = 1024 * _block(data) + 1
    root = data[: data.find(b">") + 1]
    # Elsewhere than at the root they may be declared for some shapes alone.
    spaces = "".join(
        f' xmlns:{prefix}="{space}"'
        for prefix, space in _SPACES.items()
        if f'xmlns:{prefix}="{space}"'.encode() not in root
    )
    kind = "" if b'id="_x0000_t202"' in data else _SHAPE_TYPE.format(spaces=spaces)
    shape = _note(number, len(ids) + 1, (row, column), text, spaces)
    made = data[: end.start()] + f"{kind}{shape}".encode() + data[end.start() :]
    book.rewriting.put(part, made)


def _block(data: bytes) -> int:
    found = re.search(rb"<(?:[\w.-]+:)?idmap[^<>]*\sdata=[\"'](\d{1,6})", data)
    return int(found[1]) if found else 1


def _note(number: int, depth: int, at: tuple[int, int], text: str, spaces: str) -> str:
    row, column = at
    lines = sum(1 + len(line) // _LINE for line in text.splitlines())
    rows = min(_MAX_ROWS, max(4, lines + 1))
    # From the next column, a row above the cell: as programs place them, counted from 0.
    top, left = max(0, row - 2), min(column, 16_380)
    top = min(top, 1_048_575 - rows)
    anchor = f"{left}, 15, {top}, 2, {left + 2}, 31, {top + rows}, 1"
    return _NOTE.format(
        spaces=spaces, number=number, depth=depth, width=_WIDTH, height=rows * _LINE_HEIGHT,
        anchor=anchor, row=row - 1, column=column - 1,
    )  # fmt: skip


def _drawing(book: BookEdit, sheet: SheetPart) -> str:
    """Return the part of a sheet's drawing for comments, which is made if there is none."""
    rewriting, part = book.rewriting, book.part(sheet.name)
    known = sheet.elements.text("legacyDrawing")
    for relation in rewriting.relations(part):
        is_named = f'"{relation.id}"'.encode() in known
        if relation.kind == "vmlDrawing" and is_named and relation.target in rewriting:
            return relation.target
    if known:
        raise ValidationFailed(f"{sheet.name}: the drawing of its comments is missing")
    folder = posixpath.dirname(book.main)
    made = rewriting.free_name(posixpath.join(folder, "drawings/vmlDrawing{}.vml"))
    rewriting.set_default_type("vml", _DRAWING_TYPE)
    # A number for its shapes' ids that no other sheet's drawing has.
    number = 1 + sum(name.endswith(".vml") for name in rewriting.parts())
    rewriting.put(made, _BLANK.format(number=number).encode())
    id_ = rewriting.relate(part, "vmlDrawing", made)
    space = RELATION_SPACES[False].strip("{}")
    entry = f'<{sheet.prefix}legacyDrawing xmlns:r="{space}" r:id="{id_}"/>'
    sheet.elements.put("legacyDrawing", entry.encode())
    return made


def _is_note(shape: bytes, places: set[tuple[int, int]]) -> bool:
    if b'ObjectType="Note"' not in shape:
        return False
    row, column = (_AT[name].search(shape) for name in (b"Row", b"Column"))
    return row is not None and column is not None and (
        (int(row[2]) + 1, int(column[2]) + 1) in places
    )  # fmt: skip


def _erase(book: BookEdit, sheet: SheetPart, places: set[tuple[int, int]]) -> None:
    """Take the shapes of comments out of the sheet's drawings."""
    for relation in book.rewriting.relations(book.part(sheet.name)):
        if relation.kind != "vmlDrawing" or relation.target not in book.rewriting:
            continue
        data = book.rewriting.read(relation.target)
        made = _SHAPE.sub(lambda found: b"" if _is_note(found[0], places) else found[0], data)
        if made != data:
            book.rewriting.put(relation.target, made)
