"""Values that the strict variant spells otherwise.

Names of namespaces are the work of others; these are ISO/IEC 29500-1, 17.18.44 (ST_Jc), 17.3.1.12
(ind) and the sides of tables, against 29500-4, 14.11.2 and on. Programs read either spelling in
some places only, so what is copied is spelt as the target spells it.
"""

import re

from lxml import etree

from kbd_docx.blocks import W
from kbd_docx.styled.document import local_name

__all__ = ["spelt"]

_TO_STRICT = {"left": "start", "right": "end", "leftChars": "startChars", "rightChars": "endChars"}
_TO_USUAL = {strict: usual for usual, strict in _TO_STRICT.items()}
_ALIGNED = frozenset(("jc", "lvlJc", "tab"))
_SIDED = frozenset(("tblBorders", "tcBorders", "tblCellMar", "tcMar"))
_FIFTIETHS = 50


def spelt(element: etree._Element, *, is_strict: bool) -> None:
    """Spell the values in a copied element, and all in it, as a variant does."""
    words = _TO_STRICT if is_strict else _TO_USUAL
    for each in element.iter(f"{W}*"):
        name = local_name(each)
        if name in _ALIGNED:
            _respell(each, "val", words)
        elif name == "ind":
            for old, new in words.items():
                value = each.attrib.pop(f"{W}{old}", "")
                if value:
                    each.set(f"{W}{new}", value)
        elif name in _SIDED:
            for side in each.iterchildren(f"{W}*"):
                side.tag = W + words.get(local_name(side), local_name(side))
        if is_strict and each.get(f"{W}type") == "pct":
            share = each.get(f"{W}w", "")
            if re.fullmatch(r"\d{1,6}", share):
                each.set(f"{W}w", f"{int(share) / _FIFTIETHS:g}%")


def _respell(element: etree._Element, key: str, words: dict[str, str]) -> None:
    value = element.get(f"{W}{key}", "")
    if value in words:
        element.set(f"{W}{key}", words[value])
