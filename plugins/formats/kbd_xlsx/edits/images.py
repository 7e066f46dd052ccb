"""Pictures put onto sheets, and taken off them."""

import hashlib
import posixpath
from collections.abc import Mapping

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Source
from kbd.office.pictures import MAX_PICTURE_BYTES, PictureFacts, picture_facts
from kbd.sheets.areas import Area
from kbd_xlsx.drawings.anchors import image_anchor
from kbd_xlsx.drawings.drawing_part import (
    append_anchor,
    find_drawn,
    free_drawn_name,
    remove_anchor,
    require_drawing,
)
from kbd_xlsx.drawings.geometry import Corner, SheetGeometry, Span, parse_place
from kbd_xlsx.edits.book import BookEdit
from kbd_xlsx.operations import AddImage, DeleteImage
from kbd_xlsx.values import checked_text

__all__ = ["add_image", "delete_image", "put_picture"]


_KINDS = {"PNG": "png", "JPEG": "jpeg", "GIF": "gif", "BMP": "bmp"}
"""Kinds of pictures that programs show."""


def add_image(book: BookEdit, operation: AddImage, files: Mapping[str, Source]) -> str:
    """Put a picture of the workbench onto a sheet and say where.

    Args:
        book: The workbook.
        operation: What to put where.
        files: The pictures, by the paths that operations have.

    Raises:
        ValidationFailed: It is no picture, or cannot be at that place.
        FileReadFailed: It cannot be read.
    """
    title = book.title(operation.sheet)
    data, facts, file = _picture(book, operation.image, files)
    book.sheet(title)
    span = _span(book, title, operation, (facts.width, facts.height))
    name = _put(book, title, (data, facts), span, operation.description or "")
    return f"{title}!{span.area}: {name} of {file}"


def put_picture(
    book: BookEdit, title: str, area: Area, image: str, files: Mapping[str, Source]
) -> None:
    """Put a picture of the workbench onto cells, as large as they are at most.

    Args:
        book: The workbook.
        title: The sheet's title.
        area: The cells.
        image: The picture, by its path.
        files: The pictures, by the paths that operations have.

    Raises:
        ValidationFailed: It is no picture, or cannot be at that place.
        FileReadFailed: It cannot be read.
    """
    data, facts, _ = _picture(book, image, files)
    book.flush()
    geometry = SheetGeometry(book.rewriting.read(book.part(title)), title)
    room = geometry.covering(area)
    scale = min(room.width / facts.width, room.height / facts.height, 1)
    own = max(1, round(facts.width * scale)), max(1, round(facts.height * scale))
    span = geometry.span(Corner(area.top, area.left), None, own)
    _put(book, title, (data, facts), span, "")


def _picture(
    book: BookEdit, image: str, files: Mapping[str, Source]
) -> tuple[bytes, PictureFacts, str]:
    """Return the bytes of a picture, what it is, and the name of its file."""
    if book.rewriting.is_strict:
        raise ValidationFailed(
            "pictures cannot be added to a workbook of the strict variant; save it as an ordinary "
            ".xlsx first"
        )
    source = files.get(image)
    if source is None:
        raise ValidationFailed(f"the picture {image!r} was not given with the operations")
    data = _read(source)
    return data, picture_facts(data, source.name, _KINDS), source.name


def _put(
    book: BookEdit, title: str, picture: tuple[bytes, PictureFacts], span: Span, description: str
) -> str:
    """Put a picture into the drawing of a sheet, and return its name."""
    data, facts = picture
    drawing = require_drawing(book, title)
    part = _media(book, data, facts.suffix, facts.mime_type)
    relation = next(
        (each.id for each in book.rewriting.relations(drawing) if each.target == part), ""
    ) or book.rewriting.relate(drawing, "image", part)
    root = book.rewriting.root(drawing)
    name = free_drawn_name(root, "Picture")
    described = checked_text(description, "description")
    append_anchor(
        book.rewriting, drawing, image_anchor(root, name, described, span, image=relation)
    )
    return name


def delete_image(book: BookEdit, operation: DeleteImage) -> str:
    """Take a picture off a sheet, with the parts that only it needs, and say which."""
    title = book.title(operation.sheet)
    drawing, root, drawn = find_drawn(book, title, "image", operation.image)
    remove_anchor(book, drawing, root, drawn)
    return f"{title}: {drawn.name} deleted"


def _read(source: Source) -> bytes:
    try:
        with source.path.open("rb") as file:
            return file.read(MAX_PICTURE_BYTES + 1)
    except OSError as error:
        raise FileReadFailed(f"{source.name} cannot be read") from error


def _span(book: BookEdit, title: str, operation: AddImage, own: tuple[int, int]) -> Span:
    """Return where a picture lies: with one side given, the other keeps the proportions."""
    book.flush()
    geometry = SheetGeometry(book.rewriting.read(book.part(title)), title)
    area = parse_place(operation.place, "picture")
    size = operation.size
    if (area.top, area.left) != (area.bottom, area.right):
        if size is not None:
            raise ValidationFailed("give the picture a size, or a range as its place, not both")
        return geometry.covering(area)
    start = Corner(area.top, area.left)
    span = geometry.span(start, size, own)
    if size is not None and (size.width is None) != (size.height is None):
        width, height = own
        if size.height is None:
            own = span.width, max(1, round(span.width * height / width))
        else:
            own = max(1, round(span.height * width / height)), span.height
        span = geometry.span(start, size, own)
    return span


def _media(book: BookEdit, data: bytes, suffix: str, mime_type: str) -> str:
    """Return the part that holds a picture; one that is there already is not stored again."""
    rewriting = book.rewriting
    folder = posixpath.join(posixpath.dirname(book.main), "media")
    digest = hashlib.sha256(data).digest()
    for part in rewriting.parts():
        is_alike = part.startswith(f"{folder}/") and part.endswith(f".{suffix}")
        if not is_alike or rewriting.size(part) != len(data):
            continue
        if hashlib.sha256(rewriting.read(part)).digest() == digest:
            return part
    made = rewriting.free_name(f"{folder}/image{{}}.{suffix}")
    rewriting.set_default_type(suffix, mime_type)
    if rewriting.content_type(made) == mime_type:
        rewriting.put(made, data)
    else:
        # The suffix means another type in this package.
        rewriting.add(made, data, mime_type)
    return made
