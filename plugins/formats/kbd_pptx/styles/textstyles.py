"""Styles of text: a master's for titles, bodies and other text, and that of a shape's own text.

A style is nine looks, one a level; see `levels`.
"""

from collections.abc import Sequence

from lxml import etree

from kbd_pptx.slides import A, P
from kbd_pptx.styles.deck import Master, short, unique
from kbd_pptx.styles.inheritance import FormattingScope, placeholders, shapes
from kbd_pptx.styles.levels import LETTER_ATTRIBUTES, LEVELS, level_of, local, merged

__all__ = [
    "KINDS",
    "has_own_look",
    "level_number",
    "run_looks",
    "shape_looks",
    "shape_names",
    "style_chain",
    "style_label",
    "style_looks",
    "written",
]

KINDS = ("title", "body", "other")
"""The kinds of text that a master has styles for."""

_WRITTEN = frozenset((f"{A}r", f"{A}fld"))
_SPACINGS = frozenset(("lnSpc", "spcBef", "spcAft"))


def style_label(master: Master, kind: str, *, several: bool) -> str:
    """Return what a master's style is called: "title", or "Office Theme/title" of several."""
    return f"{master.label}/{kind}" if several else kind


def style_looks(
    around: FormattingScope, master: etree._Element, kind: str, levels: int
) -> list[etree._Element] | None:
    """Return the looks of a master's style as they come out; None if it has no such style."""
    if around.style(kind) is None:
        return None
    found = []
    for level in range(levels):
        chain = style_chain(around, master, kind, level)
        found.append(merged((*chain, level_of(around.default, level))))
    return found


def style_chain(
    around: FormattingScope, master: etree._Element, kind: str, level: int
) -> list[etree._Element | None]:
    """Return what in a master tells of a level of a style, the nearest first.

    Some programs write the styles into the master's placeholders, which count before its styles.
    """
    found = []
    for shape, place in placeholders(master):
        if kind != "other" and place.style == kind:
            found.append(level_of(shape.find(f"{P}txBody/{A}lstStyle"), level))
            break
    return [*found, level_of(around.style(kind), level)]


def shape_names(root: etree._Element) -> dict[str, etree._Element]:
    """Return the shapes of a slide that have text, each by a name that no other has."""
    found = [shape for shape in shapes(root) if shape.find(f"{P}txBody") is not None]
    names = []
    for shape in found:
        properties = shape.find(f"./*/{P}cNvPr")
        names.append((short(properties.get("name")) if properties is not None else "") or "Shape")
    return dict(zip(unique(names), found, strict=True))


def shape_looks(around: FormattingScope, shape: etree._Element) -> list[etree._Element]:
    """Return the looks of a shape's text: of each level, those of the first text on it.

    A level without text has those of the nearest above it that has.
    """
    own: dict[int, tuple[etree._Element | None, etree._Element | None]] = {}
    first: tuple[etree._Element | None, etree._Element | None] = (None, None)
    for paragraph in shape.iterfind(f"{P}txBody/{A}p"):
        run = next((each for each in paragraph if written(each)), None)
        if run is None:
            continue
        properties = paragraph.find(f"{A}pPr")
        said = (properties, run.find(f"{A}rPr"))
        if not own:
            first = said
        own.setdefault(level_number(properties), said)
    looks = []
    for level in range(LEVELS):
        first = own.get(level, first)
        properties, letters = first
        source = level_number(properties) if own else level
        # `a:pPr` may hold a defRPr, which no program takes for its text.
        plain = [*_without_letters(properties), *around.looks(shape, source)]
        looks.append(merged(plain, [letters]))
    return looks


def run_looks(look: etree._Element) -> etree._Element:
    """Return of a look what text elsewhere can take on: no bullets, no indents, no tabulators."""
    made = merged([look])
    for key in list(made.attrib):
        if key != "algn":
            del made.attrib[key]
    for child in list(made):
        if local(child) not in _SPACINGS | {"defRPr"}:
            made.remove(child)
    inner = made.find(f"{A}defRPr")
    if inner is not None:
        # What it does not say must not come from what the target says.
        for key, value in (("b", "0"), ("i", "0"), ("u", "none"), ("sz", "1800")):
            if inner.get(key) is None and key in LETTER_ATTRIBUTES:
                inner.set(key, value)
    if made.get("algn") is None:
        made.set("algn", "l")
    return made


def has_own_look(shape: etree._Element) -> bool:
    """Tell whether letters of a shape say themselves how they look."""
    for element in shape.iterfind(f"{P}txBody/{A}p/{A}r/{A}rPr"):
        if any(element.get(key) is not None for key in LETTER_ATTRIBUTES) or len(element):
            return True
    return False


def written(element: etree._Element) -> bool:
    """Tell whether an element of a paragraph is a run or a field with text in it."""
    return element.tag in _WRITTEN and bool(element.findtext(f"{A}t"))


def level_number(properties: etree._Element | None) -> int:
    """Return a paragraph's level from 0."""
    text = properties.get("lvl", "0") if properties is not None else "0"
    return min(int(text), LEVELS - 1) if text.isascii() and text.isdigit() and len(text) < 4 else 0


def _without_letters(properties: etree._Element | None) -> Sequence[etree._Element]:
    if properties is None:
        return ()
    made = merged([properties])
    for child in made.findall(f"{A}defRPr"):
        made.remove(child)
    return (made,)
