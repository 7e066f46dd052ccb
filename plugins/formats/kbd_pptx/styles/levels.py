"""The looks of text by levels: what stands nearest to a text counts, for each property by itself.

A look is an element like `a:lvl1pPr`: its attributes and children are those of the paragraph, its
`a:defRPr` has those of the letters (ECMA-376 part 1, 21.1.2.4.13 and 21.1.2.3.2).
"""

from collections.abc import Iterable, Sequence
from copy import deepcopy
from itertools import islice

from lxml import etree

from kbd_pptx.slides import A
from kbd_pptx.styles.theme import PptxTheme

__all__ = [
    "LETTER_ATTRIBUTES",
    "LEVELS",
    "fixed",
    "letters",
    "level_of",
    "local",
    "merged",
    "pick_groups",
]

LEVELS = 9

LETTER_ATTRIBUTES = ("kern", "sz", "b", "i", "u", "strike", "cap", "spc", "baseline")
"""Of letters, those that tell how they look; others tell of their language."""

_FILLS = ("noFill", "solidFill", "gradFill", "blipFill", "pattFill", "grpFill")
_PARAGRAPH_GROUPS = (
    ("lnSpc",), ("spcBef",), ("spcAft",), ("buClrTx", "buClr"), ("buSzTx", "buSzPct", "buSzPts"),
    ("buFontTx", "buFont"), ("buNone", "buAutoNum", "buChar", "buBlip"), ("tabLst",),
)  # fmt: skip
_LETTER_GROUPS = (
    ("ln",), _FILLS, ("effectLst", "effectDag"), ("highlight",), ("uLnTx", "uLn"),
    ("uFillTx", "uFill"), ("latin",), ("ea",), ("cs",), ("sym",),
)  # fmt: skip
"""The children in the order of the schema; of those in a group only one may stand."""

_MOST_SAID = 50
"""Attributes and children of one element that are looked at; the schema has no more of them."""

_MOST_INSIDE = 200
"""Elements inside of one property, which is passed over if it has more: a fill of ten colors, each
changed five times, has 71."""

_NOT_CARRIED = frozenset(("lvl",))


def local(element: etree._Element) -> str:
    """Return an element's name without its namespace, "" for a comment."""
    tag = element.tag
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""


def level_of(style: etree._Element | None, level: int) -> etree._Element | None:
    """Return what a list of styles (`a:lstStyle`, `p:titleStyle`) says of a level from 0.

    What it says of all levels stands for one that it does not tell apart.
    """
    if style is None:
        return None
    found = style.find(f"{A}lvl{level + 1}pPr")
    return found if found is not None else style.find(f"{A}defPPr")


def merged(
    paragraphs: Iterable[etree._Element | None], runs: Iterable[etree._Element | None] = ()
) -> etree._Element:
    """Return one look of many, the nearest first.

    Args:
        paragraphs: What tells of paragraphs, and by `a:defRPr` of letters.
        runs: What tells of letters only, nearer than those.
    """
    chain = [each for each in paragraphs if each is not None]
    made = etree.Element(f"{A}lvl1pPr", nsmap={"a": A.strip("{}")})
    _take_attributes(made, chain, None)
    pick_groups(made, chain, _PARAGRAPH_GROUPS)
    said = [*runs, *(each.find(f"{A}defRPr") for each in chain)]
    letters_chain = [each for each in said if each is not None]
    inner = etree.SubElement(made, f"{A}defRPr")
    _take_attributes(inner, letters_chain, LETTER_ATTRIBUTES)
    pick_groups(inner, letters_chain, _LETTER_GROUPS)
    return made


def letters(look: etree._Element) -> etree._Element:
    """Return what a look says of letters."""
    found = look.find(f"{A}defRPr")
    return found if found is not None else etree.SubElement(look, f"{A}defRPr")


def pick_groups(
    made: etree._Element,
    chain: Sequence[etree._Element],
    groups: Sequence[Sequence[str]] = _LETTER_GROUPS,
) -> None:
    """Give an element a copy of the nearest child of each group, in the order of the groups."""
    places = {name: place for place, group in enumerate(groups) for name in group}
    nearest: dict[int, etree._Element] = {}
    for each in chain:
        for child in islice(each, _MOST_SAID):
            place = places.get(local(child))
            if place is not None and _is_sound(child):
                nearest.setdefault(place, child)
    for _, found in sorted(nearest.items()):
        copied = deepcopy(found)
        copied.tail = None
        made.append(copied)


def fixed(look: etree._Element, source: PptxTheme, target: PptxTheme) -> None:
    """Have a look come out in the target's theme as it does in its own.

    What both themes have alike stays the theme's; the rest becomes plain.
    """
    for element in list(look.iter()):
        match local(element):
            case "schemeClr":
                _fix_color(element, source, target)
            case "latin" | "ea" | "cs" | "sym" | "buFont":
                _fix_font(element, source, target)


def _is_sound(element: etree._Element) -> bool:
    return sum(1 for _ in islice(element.iter(), _MOST_INSIDE + 1)) <= _MOST_INSIDE


def _fix_color(element: etree._Element, source: PptxTheme, target: PptxTheme) -> None:
    value = element.get("val", "")
    rgb = source.color(value)
    if rgb and target.color(value) != rgb:
        element.tag = f"{A}srgbClr"
        element.set("val", rgb)


def _fix_font(element: etree._Element, source: PptxTheme, target: PptxTheme) -> None:
    typeface = element.get("typeface", "")
    if not typeface.startswith("+m") or source.font(typeface) == target.font(typeface):
        return
    name, parent = source.font(typeface), element.getparent()
    if name:
        # What else it says is of the typeface that it named.
        element.attrib.clear()
        element.set("typeface", name)
    elif parent is not None:
        parent.remove(element)


def _take_attributes(
    made: etree._Element, chain: Sequence[etree._Element], names: Sequence[str] | None
) -> None:
    for each in chain:
        for key, value in islice(each.attrib.items(), _MOST_SAID):
            wanted = key not in _NOT_CARRIED if names is None else key in names
            if wanted and made.get(key) is None:
                made.set(key, value)
