"""Inheritance of formatting: from a shape to its layout, its master and their styles, by level.

A placeholder finds the one that it follows by its index in a layout, by its kind in a master
(ECMA-376 part 1, 19.3.1.36). What stands nearest to a text counts, for each property by itself.

The format of a level is an element like `a:lvl1pPr`: its attributes and children are those of the
paragraph, its `a:defRPr` has those of the letters (21.1.2.4.13 and 21.1.2.3.2). A style of text is
nine level formats: a master's for titles, bodies and other text, or that of a shape's text.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from itertools import islice

import msgspec
from lxml import etree

from kbd.opc.element_names import local_name
from kbd_pptx.presentation import A, P
from kbd_pptx.reader.boxes import Box, read_box
from kbd_pptx.styles.deck import (
    DeckParts,
    Master,
    PptxTheme,
    read_deck_theme,
    shorten,
    unique_names,
)

__all__ = [
    "KINDS",
    "LEVELS",
    "RUN_ATTRIBUTES",
    "FormattingScope",
    "PlaceholderKey",
    "copy_nearest",
    "formatting_scope",
    "has_own_formatting",
    "inherited_box",
    "is_written_run",
    "level_number",
    "level_of",
    "merge_formats",
    "placeholder_key",
    "placeholders",
    "portable_format",
    "resolve_theme",
    "run_defaults",
    "shape_formats",
    "shape_names",
    "shapes",
    "style_formats",
    "style_label",
    "style_sources",
]


LEVELS = 9

RUN_ATTRIBUTES = ("kern", "sz", "b", "i", "u", "strike", "cap", "spc", "baseline")
"""Of letters, those that tell how they look; others tell of their language."""

_FILLS = ("noFill", "solidFill", "gradFill", "blipFill", "pattFill", "grpFill")
_PARAGRAPH_GROUPS = (
    ("lnSpc",), ("spcBef",), ("spcAft",), ("buClrTx", "buClr"), ("buSzTx", "buSzPct", "buSzPts"),
    ("buFontTx", "buFont"), ("buNone", "buAutoNum", "buChar", "buBlip"), ("tabLst",),
)  # fmt: skip
_RUN_GROUPS = (
    ("ln",), _FILLS, ("effectLst", "effectDag"), ("highlight",), ("uLnTx", "uLn"),
    ("uFillTx", "uFill"), ("latin",), ("ea",), ("cs",), ("sym",),
)  # fmt: skip
"""The children in the order of the schema; of those in a group only one may stand."""

_MAX_ENTRIES = 50
"""Attributes and children of one element that are looked at; the schema has no more of them."""

_MAX_INSIDE = 200
"""Elements inside of one property, which is passed over if it has more: a fill of ten colors, each
changed five times, has 71."""

_NOT_INHERITED = frozenset(("lvl",))


def level_of(style: etree._Element | None, level: int) -> etree._Element | None:
    """Return the level format (from 0) of a list style (`a:lstStyle`, `p:titleStyle`).

    What it says of all levels stands for one that it does not tell apart.
    """
    if style is None:
        return None
    found = style.find(f"{A}lvl{level + 1}pPr")
    return found if found is not None else style.find(f"{A}defPPr")


def merge_formats(
    paragraphs: Iterable[etree._Element | None], runs: Iterable[etree._Element | None] = ()
) -> etree._Element:
    """Merge level formats into one, the nearest first.

    Args:
        paragraphs: What tells of paragraphs, and by `a:defRPr` of letters.
        runs: What tells of letters only, nearer than those.
    """
    chain = [each for each in paragraphs if each is not None]
    made = etree.Element(f"{A}lvl1pPr", nsmap={"a": A.strip("{}")})
    _copy_attributes(made, chain, None)
    copy_nearest(made, chain, _PARAGRAPH_GROUPS)
    own_properties = [*runs, *(each.find(f"{A}defRPr") for each in chain)]
    letters_chain = [each for each in own_properties if each is not None]
    inner = etree.SubElement(made, f"{A}defRPr")
    _copy_attributes(inner, letters_chain, RUN_ATTRIBUTES)
    copy_nearest(inner, letters_chain, _RUN_GROUPS)
    return made


def run_defaults(level_format: etree._Element) -> etree._Element:
    """Return the run properties of a level format (`a:defRPr`), created if missing."""
    found = level_format.find(f"{A}defRPr")
    return found if found is not None else etree.SubElement(level_format, f"{A}defRPr")


def copy_nearest(
    made: etree._Element,
    chain: Sequence[etree._Element],
    groups: Sequence[Sequence[str]] = _RUN_GROUPS,
) -> None:
    """Copy the nearest child of each group into an element, in the order of the groups."""
    places = {name: place for place, group in enumerate(groups) for name in group}
    nearest: dict[int, etree._Element] = {}
    for each in chain:
        for child in islice(each, _MAX_ENTRIES):
            place = places.get(local_name(child))
            if place is not None and _is_small(child):
                nearest.setdefault(place, child)
    for _, found in sorted(nearest.items()):
        copied = deepcopy(found)
        copied.tail = None
        made.append(copied)


def resolve_theme(level_format: etree._Element, source: PptxTheme, target: PptxTheme) -> None:
    """Resolve what a level format takes from a theme that differs from the target's.

    What both themes have alike stays the theme's; the rest becomes plain.
    """
    for element in list(level_format.iter()):
        match local_name(element):
            case "schemeClr":
                _fix_color(element, source, target)
            case "latin" | "ea" | "cs" | "sym" | "buFont":
                _fix_font(element, source, target)


def _is_small(element: etree._Element) -> bool:
    return sum(1 for _ in islice(element.iter(), _MAX_INSIDE + 1)) <= _MAX_INSIDE


def _fix_color(element: etree._Element, source: PptxTheme, target: PptxTheme) -> None:
    value = element.get("val", "")
    rgb = source.color(value)
    if rgb and target.color(value) != rgb:
        # Its children, such as `lumMod`, stay: they change the written color in the same way.
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
        # Left in place, it would mean a font of the target's theme.
        parent.remove(element)


def _copy_attributes(
    made: etree._Element, chain: Sequence[etree._Element], names: Sequence[str] | None
) -> None:
    for each in chain:
        for key, value in islice(each.attrib.items(), _MAX_ENTRIES):
            wanted = key not in _NOT_INHERITED if names is None else key in names
            if wanted and made.get(key) is None:
                made.set(key, value)


_SHAPES = frozenset(("sp", "pic", "graphicFrame", "cxnSp"))
_KINDS = {
    "title": "title", "ctrTitle": "title", "dt": "dt", "ftr": "ftr", "sldNum": "sldNum",
    "hdr": "hdr",
}  # fmt: skip
"""The kind of a master's placeholder that follows from a kind elsewhere; else it is the body."""

_STYLES = {"title": "titleStyle", "body": "bodyStyle"}


class PlaceholderKey(msgspec.Struct, frozen=True):
    """Key of a placeholder: its kind and index."""

    kind: str
    index: str

    @property
    def style(self) -> str:
        """The kind of text style that it follows: "title", "body" or "other"."""
        found = _KINDS.get(self.kind, "body")
        return found if found in _STYLES else "other"


class ParentPlaceholders(msgspec.Struct, frozen=True):
    """The placeholders of a layout or master by their kinds and by their indices; first ones."""

    by_kind: Mapping[str, etree._Element]
    by_index: Mapping[str, etree._Element]

    def followed(self, place: PlaceholderKey) -> etree._Element | None:
        """Return the placeholder that one below follows, None if there is none."""
        kind = _KINDS.get(place.kind, "body")
        # A layout has one title and one of each footer; only contents differ by their index.
        if kind != "body" or not self.by_index:
            return self.by_kind.get(kind)
        return self.by_index.get(place.index)


class FormattingScope(msgspec.Struct, frozen=True):
    """Sources of formatting for the shapes of a slide, a layout or a master.

    Args:
        above: What is followed, the nearest first: layout and master, or master.
        styles: The master's styles of text, None without a master.
        default: The presentation's style of text.
        palette: Its colors and fonts.
    """

    above: tuple[ParentPlaceholders, ...]
    styles: etree._Element | None
    default: etree._Element | None
    palette: PptxTheme

    def chain(self, shape: etree._Element) -> list[etree._Element]:
        """Return a shape and the placeholders that it follows, the nearest first."""
        found, place = [shape], placeholder_key(shape)
        for above in self.above if place is not None else ():
            followed = above.followed(place) if place is not None else None
            if followed is not None:
                found.append(followed)
                # A layout's placeholder may be of another kind than the slide says.
                place = placeholder_key(followed) or place
        return found

    def level_sources(self, shape: etree._Element, level: int) -> list[etree._Element | None]:
        """Return the formats of a level of a shape's text, the nearest first."""
        chain = self.chain(shape)
        found = [level_of(each.find(f"{P}txBody/{A}lstStyle"), level) for each in chain]
        # The last one in the chain, nearest to the master, decides which of its styles follows.
        place = placeholder_key(chain[-1])
        if place is not None:
            found.append(level_of(self.style(place.style), level))
        found.append(level_of(self.default, level))
        return found

    def style(self, kind: str) -> etree._Element | None:
        """Return a master's style of text by its kind: "title", "body" or "other"."""
        name = _STYLES.get(kind, "otherStyle")
        return self.styles.find(f"{P}{name}") if self.styles is not None else None


def formatting_scope(
    parts: DeckParts, master: Master | None, layout: str = "", *, of: str
) -> FormattingScope:
    """Return the scope of the shapes of a part.

    Args:
        parts: The deck.
        master: The master that it follows, or that it is; None if there is none.
        layout: The part of the layout that it follows, or that it is; "" if there is none.
        of: "slide", "layout" or "master".
    """
    default = parts.root(parts.main).find(f"{P}defaultTextStyle")
    if master is None:
        return FormattingScope((), None, default, PptxTheme())
    root = parts.root(master.part)
    theme = parts.root(master.theme) if master.theme else None
    palette = read_deck_theme(theme, root.find(f"{P}clrMap"))
    above = []
    if layout:
        palette = palette.mapped(parts.root(layout).find(f"{P}clrMapOvr"))
        if of == "slide":
            above.append(_parent_placeholders(parts.root(layout), by_index=True))
    if of != "master":
        above.append(_parent_placeholders(root, by_index=False))
    return FormattingScope(tuple(above), root.find(f"{P}txStyles"), default, palette)


def shapes(root: etree._Element) -> Iterator[etree._Element]:
    """Yield the shapes of a slide, layout or master, groups looked into, in order.

    Of what is there in a newer and an older form only the first is yielded.
    """
    tree = root.find(f"{P}cSld/{P}spTree")
    waiting = list(reversed(tree)) if tree is not None else []
    while waiting:
        element = waiting.pop()
        name = local_name(element)
        if name in _SHAPES:
            yield element
        elif name in ("grpSp", "AlternateContent", "Choice"):
            inner = list(element)
            waiting.extend(inner[:1] if name == "AlternateContent" else reversed(inner))


def placeholders(root: etree._Element) -> Iterator[tuple[etree._Element, PlaceholderKey]]:
    """Yield the placeholders of a slide, layout or master in order."""
    for shape in shapes(root):
        place = placeholder_key(shape)
        if place is not None:
            yield shape, place


def placeholder_key(shape: etree._Element) -> PlaceholderKey | None:
    """Return a shape's placeholder key, None if it is no placeholder."""
    found = shape.find(f"./*/{P}nvPr/{P}ph")
    if found is None:
        return None
    return PlaceholderKey(shorten(found.get("type")) or "obj", shorten(found.get("idx")) or "0")


def inherited_box(chain: Sequence[etree._Element]) -> Box | None:
    """Return a shape's box, its own or an inherited one; None if there is none."""
    for shape in chain:
        frame = shape.find(f"{P}xfrm")
        found = read_box(frame if frame is not None else shape.find(f"{P}spPr/{A}xfrm"))
        if found is not None:
            return found
    return None


def _parent_placeholders(root: etree._Element, *, by_index: bool) -> ParentPlaceholders:
    """Return the placeholders that those below follow; in a master these follow kinds alone."""
    kinds: dict[str, etree._Element] = {}
    indices: dict[str, etree._Element] = {}
    for shape, place in placeholders(root):
        kinds.setdefault(_KINDS.get(place.kind, "body"), shape)
        if by_index:
            indices.setdefault(place.index, shape)
    return ParentPlaceholders(kinds, indices)


KINDS = ("title", "body", "other")
"""The kinds of text that a master has styles for."""

_WRITTEN = frozenset((f"{A}r", f"{A}fld"))
_SPACINGS = frozenset(("lnSpc", "spcBef", "spcAft"))


def style_label(master: Master, kind: str, *, several: bool) -> str:
    """Return the label of a master's style: "title", or "Office Theme/title" of several."""
    return f"{master.label}/{kind}" if several else kind


def style_formats(
    scope: FormattingScope, master: etree._Element, kind: str, levels: int
) -> list[etree._Element] | None:
    """Return the merged level formats of a master's style; None if it has no such style."""
    if scope.style(kind) is None:
        return None
    found = []
    for level in range(levels):
        chain = style_sources(scope, master, kind, level)
        found.append(merge_formats((*chain, level_of(scope.default, level))))
    return found


def style_sources(
    scope: FormattingScope, master: etree._Element, kind: str, level: int
) -> list[etree._Element | None]:
    """Return the formats of a level of a master's style, the nearest first.

    Some programs write the styles into the master's placeholders, which count before its styles.
    """
    found = []
    for shape, place in placeholders(master):
        if kind != "other" and place.style == kind:
            found.append(level_of(shape.find(f"{P}txBody/{A}lstStyle"), level))
            break
    return [*found, level_of(scope.style(kind), level)]


def shape_names(root: etree._Element) -> dict[str, etree._Element]:
    """Return the shapes of a slide that have text, each by a name that no other has."""
    found = [shape for shape in shapes(root) if shape.find(f"{P}txBody") is not None]
    names = []
    for shape in found:
        properties = shape.find(f"./*/{P}cNvPr")
        names.append((shorten(properties.get("name")) if properties is not None else "") or "Shape")
    return dict(zip(unique_names(names), found, strict=True))


def shape_formats(scope: FormattingScope, shape: etree._Element) -> list[etree._Element]:
    """Return the level formats of a shape's text: of each level, that of its first text.

    A level without text has those of the nearest above it that has.
    """
    own: dict[int, tuple[etree._Element | None, etree._Element | None]] = {}
    first: tuple[etree._Element | None, etree._Element | None] = (None, None)
    for paragraph in shape.iterfind(f"{P}txBody/{A}p"):
        run = next((each for each in paragraph if is_written_run(each)), None)
        if run is None:
            continue
        properties = paragraph.find(f"{A}pPr")
        own_properties = (properties, run.find(f"{A}rPr"))
        if not own:
            first = own_properties
        own.setdefault(level_number(properties), own_properties)
    formats = []
    for level in range(LEVELS):
        first = own.get(level, first)
        properties, run_defaults = first
        source = level_number(properties) if own else level
        # `a:pPr` may hold a defRPr, which no program takes for its text.
        plain = [*_without_run_defaults(properties), *scope.level_sources(shape, source)]
        formats.append(merge_formats(plain, [run_defaults]))
    return formats


def portable_format(level_format: etree._Element) -> etree._Element:
    """Return the portable part of a level format: no bullets, no indents, no tabs."""
    made = merge_formats([level_format])
    for key in list(made.attrib):
        if key != "algn":
            del made.attrib[key]
    for child in list(made):
        if local_name(child) not in _SPACINGS | {"defRPr"}:
            made.remove(child)
    inner = made.find(f"{A}defRPr")
    if inner is not None:
        # What it does not say must not come from what the target says.
        for key, value in (("b", "0"), ("i", "0"), ("u", "none"), ("sz", "1800")):
            if inner.get(key) is None and key in RUN_ATTRIBUTES:
                inner.set(key, value)
    if made.get("algn") is None:
        made.set("algn", "l")
    return made


def has_own_formatting(shape: etree._Element) -> bool:
    """Tell whether runs of a shape have formatting of their own."""
    for element in shape.iterfind(f"{P}txBody/{A}p/{A}r/{A}rPr"):
        if any(element.get(key) is not None for key in RUN_ATTRIBUTES) or len(element):
            return True
    return False


def is_written_run(element: etree._Element) -> bool:
    """Tell whether an element of a paragraph is a run or a field with text in it."""
    return element.tag in _WRITTEN and bool(element.findtext(f"{A}t"))


def level_number(properties: etree._Element | None) -> int:
    """Return a paragraph's level from 0."""
    text = properties.get("lvl", "0") if properties is not None else "0"
    return min(int(text), LEVELS - 1) if text.isascii() and text.isdigit() and len(text) < 4 else 0


def _without_run_defaults(properties: etree._Element | None) -> Sequence[etree._Element]:
    if properties is None:
        return ()
    made = merge_formats([properties])
    for child in made.findall(f"{A}defRPr"):
        made.remove(child)
    return (made,)
