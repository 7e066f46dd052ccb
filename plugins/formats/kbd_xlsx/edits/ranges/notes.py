"""Links and notes of cells that a sort moves to other rows; and what stays over them."""

import re
from collections.abc import Mapping

from kbd.errors import ValidationFailed
from kbd.sheets.areas import Area, cell_name, overlaps, whole_number
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.parts.markup import area_of, attribute, start_tag, with_attributes
from kbd_xlsx.parts.sheet_elements import with_changed

__all__ = ["move_links", "move_notes", "warn_of_drawings"]

_SHAPE = re.compile(rb"<((?:\w+:)?shape)[\s>].*?</\1>", re.DOTALL)
_ROW = re.compile(rb"(<(?:\w+:)?Row>\s*)(\d{1,7})(\s*<)")
_COLUMN = re.compile(rb"<(?:\w+:)?Column>\s*(\d{1,5})\s*<")
_ANCHOR = re.compile(rb"(<(?:\w+:)?Anchor>)([^<]*)(<)")
_COMMENT_REF = re.compile(
    rb"(<(?:\w+:)?(?:comment|threadedComment)\s[^>]*?\bref=\")([A-Z]{1,3}\d{1,7})(\")"
)


def move_links(book: BookEdit, title: str, body: Area, moves: Mapping[int, int]) -> None:
    """Move the links of cells along.

    Raises:
        ValidationFailed: A link is of several rows.
    """
    part = book.part(title)
    data = book.rewriting.read(part)

    def changed(old: bytes, prefix: str) -> bytes:
        name = f"{prefix}hyperlink".encode()
        pattern = re.compile(start_tag(name))

        def moved(found: re.Match[bytes]) -> bytes:
            area = area_of(attribute(found[1], b"ref") or "")
            if area is None or not overlaps(area, body):
                return found[0]
            if area.top != area.bottom:
                if any(row in moves for row in range(area.top, area.bottom + 1)):
                    raise ValidationFailed(
                        f"{title}!{area} is one link over several rows, which a sort would part"
                    )
                return found[0]
            row = moves.get(area.top, area.top)
            ref = str(Area(row, area.left, row, area.right)).encode()
            return b"<" + name + with_attributes(found[1], {b"ref": ref}) + b">"

        return pattern.sub(moved, old)

    if b"hyperlinks" in data:
        book.flush()
        book.rewriting.put(part, with_changed(data, title, {"hyperlinks": changed}))


def move_notes(book: BookEdit, title: str, body: Area, moves: Mapping[int, int]) -> None:
    """Move notes and threads of comments along, and the boxes in which programs show them."""
    rewriting = book.rewriting

    def in_range(row: int, column: int) -> bool:
        return row in moves and body.left <= column <= body.right

    def comment(found: re.Match[bytes]) -> bytes:
        area = area_of(found[2].decode())
        if area is None or not in_range(area.top, area.left):
            return found[0]
        return found[1] + cell_name(moves[area.top], area.left).encode() + found[3]

    def shape(found: re.Match[bytes]) -> bytes:
        text = found[0]
        row, column = _ROW.search(text), _COLUMN.search(text)
        if row is None or column is None or not in_range(int(row[2]) + 1, int(column[1]) + 1):
            return text
        new = moves[int(row[2]) + 1] - 1
        text = _ROW.sub(rb"\g<1>%d\g<3>" % new, text)
        return _ANCHOR.sub(lambda anchor: _shifted(anchor, new - int(row[2])), text)

    for relation in rewriting.relations(book.part(title)):
        if relation.external or relation.target not in rewriting:
            continue
        if relation.kind in ("comments", "threadedComment"):
            old = rewriting.read(relation.target)
            new = _COMMENT_REF.sub(comment, old)
        elif relation.kind == "vmlDrawing":
            old = rewriting.read(relation.target)
            new = _SHAPE.sub(shape, old)
        else:
            continue
        if new != old:
            rewriting.put(relation.target, new)


def _shifted(anchor: re.Match[bytes], rows: int) -> bytes:
    """Return an anchor (column, offset, row, offset, and again) so many rows further down."""
    numbers = [part.strip() for part in anchor[2].split(b",")]
    if len(numbers) != 8 or not all(number.lstrip(b"-").isdigit() for number in numbers):
        return anchor[0]
    for place in (2, 6):
        numbers[place] = b"%d" % max(0, int(numbers[place]) + rows)
    return anchor[1] + b", ".join(numbers) + anchor[3]


def warn_of_drawings(book: BookEdit, title: str, body: Area) -> None:
    """Warn where pictures or charts lie over the rows: they stay."""
    rewriting = book.rewriting
    for relation in rewriting.relations(book.part(title)):
        if relation.kind != "drawing" or relation.target not in rewriting:
            continue
        for start in rewriting.root(relation.target).iterfind("*/{*}from"):
            row = whole_number(start.findtext("{*}row") or "") + 1
            column = whole_number(start.findtext("{*}col") or "") + 1
            if body.top <= row <= body.bottom and body.left <= column <= body.right:
                book.notices.warn(f"{title}: pictures and charts over the rows stayed.")
                return
