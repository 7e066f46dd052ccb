"""Values that the strict variant spells otherwise.

Names of namespaces are changed with the whole part; these few words are not: ISO/IEC 29500-1,
17.18.44 (ST_Jc), 17.3.1.12 (ind), 17.4.38 and 17.4.42 (sides of tables), against 29500-4, 14.11.2
and on. Programs read either spelling in some places only.
"""

import re

from lxml import etree

from kbd_docx.blocks import W

__all__ = ["respell"]

_TO_STRICT = {"left": "start", "right": "end", "leftChars": "startChars", "rightChars": "endChars"}
_TO_USUAL = {strict: usual for usual, strict in _TO_STRICT.items()}
_ALIGNED = frozenset(("jc", "lvlJc", "tab"))
_SIDED = frozenset(("tblBorders", "tcBorders", "tblCellMar", "tcMar"))
_FIFTIETHS = 50


def respell(element: etree._Element, *, is_strict: bool) -> None:
    """Spell the values in a new element, and all in it, as a variant does."""
    words = _TO_STRICT if is_strict else _TO_USUAL
    for each in element.iter(f"{W}*"):
        name = etree.QName(each).localname
        if name in _ALIGNED:
            _respell(each, "val", words)
        elif name == "ind":
            for old, new in words.items():
                value = each.attrib.pop(f"{W}{old}", "")
                if value:
                    each.set(f"{W}{new}", value)
        elif name in _SIDED:
            for side in each.iterchildren(f"{W}*"):
                side.tag = W + words.get(etree.QName(side).localname, etree.QName(side).localname)
        elif name == "tblLook" and is_strict:
            # Its bits are attributes of their own there.
            each.attrib.pop(f"{W}val", "")
        if is_strict and each.get(f"{W}type") == "pct":
            share = each.get(f"{W}w", "")
            if re.fullmatch(r"\d{1,6}", share):
                each.set(f"{W}w", f"{int(share) / _FIFTIETHS:g}%")


def _respell(element: etree._Element, key: str, words: dict[str, str]) -> None:
    value = element.get(f"{W}{key}", "")
    if value in words:
        element.set(f"{W}{key}", words[value])
