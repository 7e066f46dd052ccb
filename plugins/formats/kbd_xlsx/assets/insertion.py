"""An element put into a worksheet's part, in the place that the schema gives it."""

from collections.abc import Callable

from kbd_xlsx.parts.ends import Ends
from kbd_xlsx.parts.outline import Outline

__all__ = ["with_element"]


def with_element(data: bytes, title: str, name: str, make: Callable[[str], str]) -> bytes:
    """Return a part with one more element, after those of its name that there are.

    Args:
        data: The part.
        title: The sheet's title, for messages.
        name: The element's name, without a prefix.
        make: Returns the element's XML for the prefix of the part's names ("" or "x:").

    Raises:
        ValidationFailed: The part has a form that cannot be changed safely.
        FileReadFailed: It is damaged.
    """
    outline = Outline(data, title)
    ends = Ends(outline)
    ends.put(name, ends.text(name) + make(outline.prefix).encode())
    pieces: list[bytes] = []
    place = 0
    for splice in ends.splices({}):
        pieces += (outline.data[place : splice.start], splice.text)
        place = splice.end
    pieces.append(outline.data[place:])
    return b"".join(pieces)
