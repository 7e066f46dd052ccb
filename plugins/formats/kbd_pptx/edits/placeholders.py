"""Places for text on a slide: placeholders, what they inherit, and text boxes where there are none.

A placeholder of a slide is one of its layout by `idx`, one of a layout one of the master by `type`
(ECMA-376, part 1, 19.3.1.36).
"""

from collections.abc import Iterator, Sequence
from copy import deepcopy

import msgspec
from lxml import etree

from kbd_pptx.edits.textbody import paragraphs_of, text_of
from kbd_pptx.presentation import A, P

__all__ = [
    "FOOTERS",
    "PlaceholderBox",
    "SlidePlaceholder",
    "add_shape",
    "body_box",
    "body_placeholders",
    "box_of",
    "copy_placeholder",
    "find_text_box",
    "free_id",
    "inherited_placeholders",
    "overlaps_others",
    "parse_emu",
    "placeholders",
    "text_body",
    "title_box",
    "title_placeholder",
    "tree_of",
]


TITLES = frozenset(("title", "ctrTitle"))
FOOTERS = frozenset(("dt", "ftr", "sldNum", "hdr"))
_TEXTS = frozenset(("obj", "body", "subTitle"))
_FRAMES = (f"{P}spPr/{A}xfrm", f"{P}grpSpPr/{A}xfrm", f"{P}xfrm")
"""Where shapes and pictures, groups, and tables and charts say where they are."""
_LENGTH_DIGITS = 15
"""Of the longest length, 27,273,042,316,900 EMU (ECMA-376, part 1, 20.1.10.16), with its sign."""
_TWIN_RATIO = 0.6
"""How much smaller the second of two contents side by side may be."""


class PlaceholderBox(msgspec.Struct, frozen=True):
    """Box of a shape, in EMU."""

    x: int
    y: int
    width: int
    height: int

    @property
    def area(self) -> int:
        """Width by height."""
        return self.width * self.height


class SlidePlaceholder(msgspec.Struct, frozen=True):
    """A placeholder: its shape, its type ("obj" where it says none), its idx."""

    shape: etree._Element
    type: str
    idx: str


def tree_of(root: etree._Element) -> etree._Element:
    """Return the tree of shapes of a slide, a layout or a master; raises ValueError."""
    tree = root.find(f"{P}cSld/{P}spTree")
    if tree is None:
        raise ValueError
    return tree


def placeholders(root: etree._Element) -> Iterator[SlidePlaceholder]:
    """Yield the placeholders that are shapes, in their order; tables and pictures are none."""
    for shape in tree_of(root).iterchildren(f"{P}sp"):
        ph = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
        if ph is not None:
            # The schema's defaults for both (CT_Placeholder).
            yield SlidePlaceholder(shape, ph.get("type", "obj"), ph.get("idx", "0"))


def title_placeholder(root: etree._Element) -> SlidePlaceholder | None:
    """Return the title's placeholder."""
    return next((each for each in placeholders(root) if each.type in TITLES), None)


def body_placeholders(
    root: etree._Element, *parents: etree._Element
) -> tuple[SlidePlaceholder, ...]:
    """Return the placeholder of the body, or the two of two contents side by side, left first.

    It is the subtitle, else the largest for contents, else the largest for text. Others (captions,
    headings of columns) are no body.

    Args:
        root: Of a slide or a layout.
        parents: Its layout, if it is a slide, and its master.
    """
    found = [each for each in placeholders(root) if each.type in _TEXTS]
    for kind in ("subTitle", "obj", "body"):
        boxes = [(each, box_of(each.shape, *parents)) for each in found if each.type == kind]
        if not boxes:
            continue
        # Of equal ones the first counts, and one that nothing tells the size of is the last.
        main, box = max(boxes, key=lambda each: each[1].area if each[1] else -1)
        twins = [each for each in boxes if box and each[1] and _is_beside(each[1], box)]
        if kind == "subTitle" or len(twins) != 1:
            return (main,)
        pair = [(main, box), twins[0]]
        pair.sort(key=lambda each: each[1].x if each[1] else 0)
        return tuple(each for each, _ in pair)
    return ()


def inherited_placeholders(
    shape: etree._Element, *parents: etree._Element
) -> Iterator[etree._Element]:
    """Yield the placeholders that one inherits from, the nearest first."""
    ph = shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph")
    if ph is None:
        return
    type_, idx = ph.get("type", "obj"), ph.get("idx", "0")
    for parent in parents:
        found = list(placeholders(parent))
        is_master = parent.tag == f"{P}sldMaster"
        placeholder = None if is_master else next((each for each in found if each.idx == idx), None)
        if placeholder is None:
            plain = _master_type(type_)
            placeholder = next((each for each in found if _master_type(each.type) == plain), None)
        if placeholder is not None:
            yield placeholder.shape
            # A slide may name the idx alone; then the layout's type counts in the master.
            type_ = placeholder.type


def box_of(shape: etree._Element, *parents: etree._Element) -> PlaceholderBox | None:
    """Return a shape's box, its own or an inherited one."""
    for each in (shape, *inherited_placeholders(shape, *parents)):
        frame = next((found for path in _FRAMES for found in each.iterfind(path)), None)
        place = frame.find(f"{A}off") if frame is not None else None
        size = frame.find(f"{A}ext") if frame is not None else None
        if place is not None and size is not None:
            try:
                x, y = parse_emu(place.get("x", "")), parse_emu(place.get("y", ""))
                return PlaceholderBox(
                    x, y, parse_emu(size.get("cx", "")), parse_emu(size.get("cy", ""))
                )
            except ValueError:
                # Strict decks may have lengths with units, which are not understood here.
                return None
    return None


def parse_emu(text: str) -> int:
    """Return a length; raises ValueError for what is none, or longer than any can be."""
    if len(text) > _LENGTH_DIGITS:
        raise ValueError
    return int(text)


def text_body(shape: etree._Element) -> etree._Element:
    """Return a shape's text body, made if it has none."""
    body = shape.find(f"{P}txBody")
    if body is None:
        body = etree.Element(f"{P}txBody")
        etree.SubElement(body, f"{A}bodyPr")
        etree.SubElement(body, f"{A}lstStyle")
        etree.SubElement(body, f"{A}p")
        # The schema has extensions last (ECMA-376, CT_Shape).
        extensions = shape.find(f"{P}extLst")
        if extensions is None:
            shape.append(body)
        else:
            extensions.addprevious(body)
    return body


def copy_placeholder(placeholder: SlidePlaceholder, root: etree._Element) -> etree._Element:
    """Add an empty copy of a layout's placeholder to a slide, and return it.

    It inherits everything from the layout: place, size, formatting.

    Args:
        placeholder: The layout's placeholder.
        root: The slide.
    """
    number = free_id(tree_of(root))
    named = placeholder.shape.find(f"{P}nvSpPr/{P}cNvPr")
    name = (named.get("name", "") if named is not None else "").rstrip("0123456789 ")
    shape = etree.Element(f"{P}sp")
    about = etree.SubElement(shape, f"{P}nvSpPr")
    # PowerPoint numbers so: the tree itself has id 1, and "Title 1" has id 2.
    etree.SubElement(
        about, f"{P}cNvPr", {"id": str(number), "name": f"{name or 'Placeholder'} {number - 1}"}
    )
    locks = etree.SubElement(about, f"{P}cNvSpPr")
    etree.SubElement(locks, f"{A}spLocks", {"noGrp": "1"})
    ph = deepcopy(placeholder.shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph"))
    if ph is not None:
        ph.attrib.pop("hasCustomPrompt", "")
        etree.SubElement(about, f"{P}nvPr").append(ph)
    etree.SubElement(shape, f"{P}spPr")
    text_body(shape)
    add_shape(shape, root)
    return shape


def add_shape(shape: etree._Element, root: etree._Element) -> None:
    """Add a shape to a slide, in front of the others."""
    tree = tree_of(root)
    # Here, too, extensions come last (CT_GroupShape).
    extensions = tree.find(f"{P}extLst")
    if extensions is None:
        tree.append(shape)
    else:
        extensions.addprevious(shape)


def free_id(tree: etree._Element) -> int:
    """Return an id that no shape of a slide has."""
    taken = {each.get("id", "") for each in tree.iter(f"{P}cNvPr")}
    number = len(taken) + 1
    while str(number) in taken:
        number += 1
    return number


def _master_type(type_: str) -> str:
    """Return the type under which a master has a placeholder."""
    if type_ in TITLES:
        return "title"
    return type_ if type_ in FOOTERS else "body"


def _is_beside(one: PlaceholderBox, other: PlaceholderBox) -> bool:
    """Whether two boxes are of about one size and stand side by side."""
    apart = one.x >= other.x + other.width or other.x >= one.x + one.width
    level = one.y < other.y + other.height and other.y < one.y + one.height
    return apart and level and min(one.area, other.area) >= _TWIN_RATIO * max(one.area, other.area)


_TITLE, _BODY = "Title Text", "Body Text"
"""What the boxes that are made here are named, so that they are found again."""

_TITLE_SIZE, _BODY_SIZE = "3200", "2000"
_MARGIN = 0.07
"""Of a slide's width and height, on each side."""
_OVERLAP_SHARE = 0.25
"""Of the smaller of two shapes."""
_LOWEST = 0.7
"""Of a slide's height: where a body may begin at the latest."""


def title_box(root: etree._Element, size: tuple[int, int]) -> etree._Element:
    """Return the text box of a slide's title, made at its top if there is none."""
    found = _named(root, _TITLE)
    if found is not None:
        return found
    width, height = size
    box = PlaceholderBox(
        round(width * _MARGIN), round(height * _MARGIN / 2),
        round(width * (1 - 2 * _MARGIN)), round(height * 0.14),
    )  # fmt: skip
    return _add_text_box(root, _TITLE, box, _TITLE_SIZE, anchor="b")


def body_box(
    root: etree._Element, parents: Sequence[etree._Element], size: tuple[int, int]
) -> etree._Element:
    """Return a new text box for a slide's body, below what stands on the slide.

    Where that leaves too little room it is below the title, over what else is there.
    """
    width, height = size
    tops = []
    for shapes in (list(tree_of(root)), _titles(root)):
        boxes = [box_of(shape, *parents) for shape in shapes]
        tops.append(max((box.y + box.height for box in boxes if box), default=0))
    margin = round(height * _MARGIN)
    top = next((top for top in tops if 0 < top <= height * _LOWEST), 0)
    top = top + margin // 2 if top else margin
    box = PlaceholderBox(
        round(width * _MARGIN), top, round(width * (1 - 2 * _MARGIN)), height - top - margin
    )
    return _add_text_box(root, _BODY, box, _BODY_SIZE, anchor="t")


def find_text_box(root: etree._Element, *, filled: bool) -> etree._Element | None:
    """Return the text box that takes a slide's body, None if there is none.

    It is one that was made for it, else the only one beside the title's.

    Args:
        root: The slide.
        filled: Whether that only one may have text.
    """
    own = _named(root, _BODY)
    if own is not None:
        return own
    found = []
    for shape in tree_of(root).iterchildren(f"{P}sp"):
        kind = shape.find(f"{P}nvSpPr/{P}cNvSpPr")
        is_box = kind is not None and kind.get("txBox") in {"1", "true"}
        if is_box and not _name(shape).startswith(_TITLE):
            found.append(shape)
    if len(found) != 1:
        return None
    has_text = any(map(text_of, paragraphs_of(text_body(found[0]))))
    return found[0] if filled or not has_text else None


def overlaps_others(
    shape: etree._Element, root: etree._Element, parents: Sequence[etree._Element]
) -> bool:
    """Tell whether a shape and another one of the slide cover much of each other."""
    own = box_of(shape, *parents)
    others = [box_of(other, *parents) for other in tree_of(root) if other is not shape]
    return own is not None and any(_overlap(own, other) for other in others if other is not None)


def _overlap(one: PlaceholderBox, other: PlaceholderBox) -> bool:
    width = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
    height = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
    return min(width, height) > 0 and width * height > _OVERLAP_SHARE * min(one.area, other.area)


def _titles(root: etree._Element) -> list[etree._Element]:
    placeholder, box = title_placeholder(root), _named(root, _TITLE)
    return [
        shape for shape in (placeholder.shape if placeholder else None, box) if shape is not None
    ]


def _name(shape: etree._Element) -> str:
    named = shape.find(f"{P}nvSpPr/{P}cNvPr")
    return named.get("name", "") if named is not None else ""


def _named(root: etree._Element, name: str) -> etree._Element | None:
    for shape in tree_of(root).iterchildren(f"{P}sp"):
        if _name(shape).rstrip("0123456789 ") == name:
            return shape
    return None


def _add_text_box(
    root: etree._Element, name: str, box: PlaceholderBox, font_size: str, *, anchor: str
) -> etree._Element:
    number = free_id(tree_of(root))
    shape = etree.Element(f"{P}sp")
    about = etree.SubElement(shape, f"{P}nvSpPr")
    etree.SubElement(about, f"{P}cNvPr", {"id": str(number), "name": f"{name} {number - 1}"})
    etree.SubElement(about, f"{P}cNvSpPr", {"txBox": "1"})
    etree.SubElement(about, f"{P}nvPr")
    properties = etree.SubElement(shape, f"{P}spPr")
    frame = etree.SubElement(properties, f"{A}xfrm")
    etree.SubElement(frame, f"{A}off", {"x": str(box.x), "y": str(box.y)})
    etree.SubElement(frame, f"{A}ext", {"cx": str(box.width), "cy": str(box.height)})
    outline = etree.SubElement(properties, f"{A}prstGeom", {"prst": "rect"})
    etree.SubElement(outline, f"{A}avLst")
    etree.SubElement(properties, f"{A}noFill")
    body = text_body(shape)
    for settings in body.iterchildren(f"{A}bodyPr"):
        settings.set("wrap", "square")
        settings.set("anchor", anchor)
        # So that `text_fit` may shrink the text, as it does in placeholders.
        etree.SubElement(settings, f"{A}normAutofit")
    for paragraph in body.iterchildren(f"{A}p"):
        # The first text takes its looks from the end of the empty paragraph.
        etree.SubElement(paragraph, f"{A}endParaRPr", {"sz": font_size})
    add_shape(shape, root)
    return shape
