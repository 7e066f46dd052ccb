"""The names of elements and attributes, as lxml names them, and how their values are read.

OpenDocument 1.3, part 3 (OASIS): 3 (structure), 4-9 (text and tables), 10 (drawings), 16 (styles).
"""

import re

__all__ = [
    "DC",
    "DRAW",
    "META",
    "OFFICE",
    "STYLE",
    "SVG",
    "TABLE",
    "TEXT",
    "XLINK",
    "XML",
    "count",
]

_OASIS = "urn:oasis:names:tc:opendocument:xmlns:"
OFFICE = f"{{{_OASIS}office:1.0}}"
TEXT = f"{{{_OASIS}text:1.0}}"
TABLE = f"{{{_OASIS}table:1.0}}"
DRAW = f"{{{_OASIS}drawing:1.0}}"
STYLE = f"{{{_OASIS}style:1.0}}"
SVG = f"{{{_OASIS}svg-compatible:1.0}}"
META = f"{{{_OASIS}meta:1.0}}"
DC = "{http://purl.org/dc/elements/1.1/}"
XLINK = "{http://www.w3.org/1999/xlink}"
XML = "{http://www.w3.org/XML/1998/namespace}"

_WHOLE = re.compile(r"\s*\+?(\d{1,15})\s*")


def count(text: str | None, most: int, default: int = 1) -> int:
    """Return a whole number that stands in an attribute, at most `most`.

    What is no number is the default; a number of more digits than any that means something is most.
    """
    found = _WHOLE.fullmatch(text or "")
    if found:
        return min(int(found[1]), most)
    return most if text and text.strip().isdecimal() else default
