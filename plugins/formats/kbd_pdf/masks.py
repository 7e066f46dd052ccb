"""Masks, tiles and shadings of a page: what drawing costs beside what is painted.

pdfium draws the form of a soft mask anew for each thing that is painted through it, also inside of
another mask; it lays a tile for each step of a pattern, however short; and where each point of a
shading is computed by a program it runs that for each. Reading text does none of it.

Not counted is how large a thing is: a page that fills itself a hundred thousand times, or with
as many large triangles of a mesh, is left to the limit of processor time.
"""

import mmap
import re
from collections import Counter
from collections.abc import Iterator
from math import hypot
from pathlib import Path
from typing import Any

from isal import igzip_lib
from pypdf.generic import ArrayObject, DictionaryObject, StreamObject

from kbd_pdf.objects import array, dictionary, entry, plain, resolved
from kbd_pdf.streams import text_parts

__all__ = ["masked", "may_be_shaded", "may_cost_more", "shading_cost", "tiles_cost"]

MAX_TILES = 100_000
"""Tiles of a pattern on a page that cost nothing much: steps of two points."""

TILES_A_THING = 100
"""Tiles that take as long as painting one thing: 12 million take pdfium a second."""

BYTE_COST = 100
"""Things that take as long as a byte of a program that is run for each point of a page."""

_BY_FUNCTION, _PROGRAM = 1, 4
"""Kinds of a shading and of a function (ISO 32000-1, tables 78 and 38)."""

_PAGE_PT = 600 * 800
"""The area that tiles are counted on; a larger page is drawn smaller."""

_TRACES = re.compile(
    rb"/(?:G[\s\0%]|(?:Pattern|Shading)Type(?!\s{0,4}[2-7](?!\s+\d))|[A-Za-z]{0,11}#[4-7])"
)
"""What a file has that may cost more: the form of a mask, a kind 1 or one told elsewhere, and names
of which a letter is written as a number."""

_SHADED = re.compile(rb"/Shading|" + _TRACES.pattern)

_STATE = re.compile(
    rb"/([^\s/<>\[\](){}%]+)\s+(?:(gs)|(Do))\b"
    rb"|\b(?:(f\*|f|F|B\*|B|b\*|b|S|s|Tj|TJ|sh|EI)|(q)|(Q))(?=[\s/<\[(]|$)|(['\"])(?=\s|$)"
)


def may_cost_more(path: Path) -> bool:
    """Tell whether a file may have masks, tiles or programs; the bytes of most tell it has none."""
    return _has(path, _TRACES)


def may_be_shaded(path: Path) -> bool:
    """Tell whether a file may have those, or shadings of any kind, which may be large meshes."""
    return _has(path, _SHADED)


def _has(path: Path, traces: re.Pattern[bytes]) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if traces.search(data):
            return True
        # What is encrypted hides names only where objects are packed.
        if data.find(b"/Encrypt") >= 0 and data.find(b"/ObjStm") >= 0:
            return True
        try:
            return any(traces.search(part) for part in text_parts(data))
        except igzip_lib.IsalError:  # type: ignore[misc] # its stub declares an instance
            return True


def masked(data: bytes, states: DictionaryObject, mask: Any) -> Iterator[tuple[str, Any, int]]:
    """Yield what a stream paints: the name of a form or "", the form of its mask, how often.

    What is painted through no mask is yielded if it is a form.

    Args:
        data: The stream.
        states: What the names of states mean that it sets.
        mask: The form of the mask that is in force when the stream begins, or None.
    """
    masks: dict[int, Any] = {id(mask): mask}
    found: Counter[tuple[str, int]] = Counter()
    current, kept = mask, list[Any]()
    for match in _STATE.finditer(data):
        name, sets, draws, paints, keeps, takes_back, quotes = match.groups()
        if sets:
            current = _mask_of(dictionary(states.get(plain(name))), current)
            masks[id(current)] = current
        elif draws:
            found[plain(name), id(current)] += 1
        elif paints or quotes:
            found["", id(current)] += 1
        elif keeps:
            kept.append(current)
        elif takes_back and kept:
            current = kept.pop()
    for (name, key), times in found.items():
        if name or masks[key] is not None:
            yield name, masks[key], times


def _mask_of(state: DictionaryObject, current: Any) -> Any:
    """Return the form of the mask that a state sets; one that says nothing leaves it."""
    if "/SMask" not in state:
        return current
    return entry(dictionary(entry(state, "/SMask")), "/G")


def tiles_cost(reference: Any) -> int:
    """Return what the tiles of a pattern cost on a page; 0 for what is no pattern."""
    pattern = dictionary(reference)
    if entry(pattern, "/PatternType") != 1:
        return 0
    matrix = _numbers(pattern.get("/Matrix")) or [1.0, 0.0, 0.0, 1.0]
    if len(matrix) < len("abcd"):
        return 0
    wide = abs(_number(pattern.get("/XStep"))) * hypot(*matrix[:2])
    high = abs(_number(pattern.get("/YStep"))) * hypot(*matrix[2:4])
    area = wide * high
    # Without a step pdfium lays none.
    tiles = int(min(_PAGE_PT / area, 1e12)) if area > 0 else 0
    return tiles // TILES_A_THING if tiles > MAX_TILES else 0


def shading_cost(shading: Any) -> int:
    """Return what a shading costs whose points are each computed by a program (type 1)."""
    found = dictionary(shading)
    if entry(found, "/ShadingType") != _BY_FUNCTION:
        return 0
    given = entry(found, "/Function")
    functions = map(resolved, given if isinstance(given, ArrayObject) else [given])
    return sum(
        len(each.get_data()) * BYTE_COST
        for each in functions
        if isinstance(each, StreamObject) and entry(each, "/FunctionType") == _PROGRAM
    )


def _numbers(value: Any) -> list[float]:
    return [_number(each) for each in array(value)]


def _number(value: Any) -> float:
    found = resolved(value)
    return float(found) if isinstance(found, int | float) else 0.0
