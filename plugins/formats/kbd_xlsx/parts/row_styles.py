"""Styles of whole rows, which their new cells take on."""

from collections.abc import Callable, Iterable

from kbd_xlsx.parts.markup import Splice, Tag, element, with_attributes
from kbd_xlsx.parts.outline import Outline, Rows
from kbd_xlsx.parts.row_writer import row_style
from kbd_xlsx.parts.sheet_elements import spliced

__all__ = ["with_row_styles"]


def with_row_styles(
    data: bytes, title: str, numbers: Iterable[int], restyle: Callable[[int], int]
) -> bytes:
    """Return a part with new styles of rows; their cells stay as they are.

    Args:
        data: The part.
        title: The sheet's title, for messages.
        numbers: The rows, in rising order; those that there are not are made.
        restyle: Returns the new style from the one that a row has.

    Raises:
        ValidationFailed: The part has a form that cannot be changed safely.
        FileReadFailed: It is damaged.
    """
    outline = Outline(data, title)
    rows, name = Rows(outline), outline.qualified(b"row")
    splices = []
    for number in numbers:
        place = rows.place(number)
        if place is None:
            attributes = b' r="%d" s="%d" customFormat="1"' % (number, restyle(0))
            at = rows.start_after(number)
            splices.append(Splice(at, at, element(Tag(name, attributes, b""))))
            continue
        row = rows.at(place)
        style = b"%d" % restyle(row_style(row.attributes) or 0)
        attributes = with_attributes(row.attributes, {b"s": style, b"customFormat": b"1"})
        inner = outline.data[row.inner : row.inner_end]
        splices.append(Splice(row.start, row.end, element(Tag(name, attributes, inner))))
    if not outline.is_closed or not splices:
        return spliced(outline.data, splices)
    start, end = outline.sheet_data
    tag = outline.data[start:end].removesuffix(b"/>").rstrip() + b">"
    inner = b"".join(each.text for each in splices)
    close = b"</" + outline.qualified(b"sheetData") + b">"
    return spliced(outline.data, [Splice(start, end, tag + inner + close)])
