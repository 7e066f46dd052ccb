"""Text boxes and other shapes put onto slides, and shapes moved, resized and described."""

import difflib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from lxml import etree
from pptx.enum.shapes import MSO_SHAPE

from kbd.errors import ValidationFailed
from kbd.office.formatting import FormattingField, folded, number, parse_color, read_formatting
from kbd_pptx.edits.deck import DeckEdit
from kbd_pptx.edits.fit_warnings import fit_text
from kbd_pptx.edits.formatting import (
    SlideTextPiece,
    format_paragraph,
    read_paragraph,
    read_pieces,
)
from kbd_pptx.edits.found_shapes import (
    FoundShape,
    SlideEdit,
    find_shape,
    names_of,
    slide_at,
    table_of,
)
from kbd_pptx.edits.new_places import (
    NewPlace,
    emu,
    inches,
    named_element,
    place_element,
    place_for,
    transform,
)
from kbd_pptx.edits.placeholders import PlaceholderBox, box_of
from kbd_pptx.edits.text_fit import EMU_A_POINT, FONT_SIZE, LINE_EM, estimated_ems
from kbd_pptx.edits.textbody import Line, rewrite, split_lines
from kbd_pptx.edits.warnings import quoted_list, shorten
from kbd_pptx.operations import AddShape, AddTextbox, SetShape
from kbd_pptx.presentation import P14, A, P

__all__ = ["add_shape", "add_textbox", "set_shape"]

_THEME = MappingProxyType({
    **{f"accent{each}": f"accent{each}" for each in range(1, 7)},
    "text1": "tx1", "text2": "tx2", "background1": "bg1", "background2": "bg2",
    "tx1": "tx1", "tx2": "tx2", "bg1": "bg1", "bg2": "bg2", "dark1": "tx1", "dark2": "tx2",
    "light1": "bg1", "light2": "bg2", "hyperlink": "hlink",
})  # fmt: skip
"""Colors of a theme (ECMA-376, part 1, 20.1.10.54), by how programs call them."""
_LIGHT_COLORS = frozenset(("bg1", "bg2"))
_NONE = "none"
_INSETS = 14.4, 7.2
"""Across and down, in points (ECMA-376, part 1, 21.1.2.1.1)."""
_SIDES = "left", "top", "width", "height"
_SHAPE_WIDTH, _SHAPE_HEIGHT = 2.5, 1.25
"""Of a shape that is given no size, in inches."""


def _parse_paint(value: Any) -> str | None:
    word = folded(value)
    return _NONE if word == _NONE else _THEME.get(word) or parse_color(value)


_PAINT = FormattingField(_parse_paint, '#RRGGBB, a color of the theme as "accent1", or "none"')
_LOOKS: Mapping[str, FormattingField] = {
    "fill": _PAINT,
    "line": _PAINT,
    "line_width": number(0, 1584, "pt"),
}

_OTHER_NAMES = MappingProxyType({
    "circle": "ellipse", "box": "rect", "square": "rect", "arrow": "rightArrow",
    "roundedrectangle": "roundRect", "roundedrect": "roundRect", "star": "star5",
    "callout": "wedgeRectCallout", "speechbubble": "wedgeRoundRectCallout", "line": "line",
    "cylinder": "can", "process": "flowChartProcess", "decision": "flowChartDecision",
    "terminator": "flowChartTerminator", "brace": "rightBrace", "checkbox": "rect",
})  # fmt: skip


def _presets() -> dict[str, str]:
    """Return the preset geometries by the names that they go under, written without blanks."""
    found = {}
    for each in MSO_SHAPE:
        value = each.xml_value
        if value:
            found[folded(value)] = value
            found.setdefault(folded(each.name), value)
    return {**found, **_OTHER_NAMES}


_PRESETS: Mapping[str, str] = MappingProxyType(_presets())


def add_textbox(deck: DeckEdit, operation: AddTextbox) -> str:
    """Add a text box to a slide, and return what changed; it is as high as its text.

    Raises:
        ValidationFailed: There is no such slide, or no text.
    """
    slide = slide_at(deck, operation.index)
    lines = _lines(deck, operation)
    if not lines:
        raise ValidationFailed("add_textbox: give a text, or runs")
    place = _own_place(deck, slide, operation)
    height = place.box.height
    if operation.height is None:
        height = _text_height(lines, place.box.width, operation.font_size)
    place = _resized(place, place.box.width, height)
    shape = etree.Element(f"{P}sp")
    about = named_element(slide, "nvSpPr", "TextBox", None)
    about[1].set("txBox", "1")
    shape.append(about)
    properties = _geometry(shape, place.box, "rect")
    etree.SubElement(properties, f"{A}noFill")
    body = etree.SubElement(shape, f"{P}txBody")
    settings = etree.SubElement(body, f"{A}bodyPr", {"wrap": "square", "rtlCol": "0"})
    etree.SubElement(settings, f"{A}spAutoFit" if operation.height is None else f"{A}noAutofit")
    _write(deck, body, operation, lines)
    place_element(deck, slide, place, shape, "text box")
    fit_text(deck, slide, shape, "text box")
    return f"slide {slide.index}: {about[0].get('name', '')}"


def add_shape(deck: DeckEdit, operation: AddShape) -> str:
    """Add a shape of a preset geometry to a slide, and return what changed.

    Raises:
        ValidationFailed: There is no such slide, or no such geometry.
    """
    slide = slide_at(deck, operation.index)
    preset = _preset(operation.shape)
    given = {"fill": operation.fill, "line": operation.line, "line_width": operation.line_width}
    looks = read_formatting(given, _LOOKS, deck.warnings.warn)
    lines = _lines(deck, operation)
    place = _own_place(deck, slide, operation)
    width = emu(_SHAPE_WIDTH) if operation.width is None else place.box.width
    height = emu(_SHAPE_HEIGHT) if operation.height is None else place.box.height
    place = _resized(place, width, height)
    shape = etree.Element(f"{P}sp")
    description = deck.warnings.clean_text(operation.description or "")
    about = named_element(slide, "nvSpPr", _title_of(preset), description)
    shape.append(about)
    properties = _geometry(shape, place.box, preset)
    _paint(properties, looks)
    shape.append(_style(looks.get("fill")))
    body = etree.SubElement(shape, f"{P}txBody")
    etree.SubElement(body, f"{A}bodyPr", {"rtlCol": "0", "anchor": "ctr"})
    _write(deck, body, operation, lines, centered=True)
    place_element(deck, slide, place, shape, "shape")
    if lines:
        fit_text(deck, slide, shape, f"text of {about[0].get('name', '')}")
    return f"slide {slide.index}: {about[0].get('name', '')}, {preset}"


def set_shape(deck: DeckEdit, operation: SetShape) -> str:
    """Move, resize or describe a shape, and return what changed.

    Raises:
        ValidationFailed: There is no such slide or shape, nothing is asked of it, or it is in a
            group.
    """
    slide = slide_at(deck, operation.index)
    shape = find_shape(slide, operation.shape, "shape")
    given = {name: getattr(operation, name) for name in _SIDES}  # the fields are these four
    asked = {name: emu(value) for name, value in given.items() if value is not None}
    if not asked and operation.description is None:
        raise ValidationFailed("set_shape: give left, top, width, height or a description")
    changed = []
    if asked:
        changed.append(_move(deck, slide, shape, asked))
    names = names_of(shape.element)
    if operation.description is not None and names is not None:
        names.set("descr", deck.warnings.clean_text(operation.description))
        changed.append("description")
    return f"slide {slide.index}: {shape.name}, {', '.join(changed)}"


def _move(deck: DeckEdit, slide: SlideEdit, shape: FoundShape, asked: Mapping[str, int]) -> str:
    if shape.group is not None:
        raise ValidationFailed(
            f"{shape.name} is in the group {shape.group!r}; move the group, which takes it along"
        )
    old = box_of(shape.element, *slide.parents)
    if old is None and len(asked) < len(_SIDES):
        raise ValidationFailed(f"{shape.name} has no place yet; give left, top, width and height")
    base = old or PlaceholderBox(0, 0, 0, 0)
    box = PlaceholderBox(
        asked.get("left", base.x),
        asked.get("top", base.y),
        asked.get("width", base.width),
        asked.get("height", base.height),
    )
    if box == old:
        return "stays where it is"
    is_resized = (box.width, box.height) != (base.width, base.height)
    table = table_of(shape.element)
    if table is not None and is_resized:
        box = _resize_table(shape, table, base, box)
    frame = _frame(shape.element)
    for name, sides in (
        ("off", {"x": box.x, "y": box.y}), ("ext", {"cx": box.width, "cy": box.height}),
    ):  # fmt: skip
        side = frame.find(f"{A}{name}")
        if side is None:
            side = frame.makeelement(f"{A}{name}")
            frame.insert(0 if name == "off" else 1, side)
        for key, length in sides.items():
            side.set(key, str(length))
    width, height = deck.size
    if box.x < 0 or box.y < 0 or box.x + box.width > width or box.y + box.height > height:
        deck.warnings.warn(
            f"Slide {slide.index}: {shape.name} reaches over the slide, which is {inches(width)} "
            f"by {inches(height)} inches."
        )
    if is_resized and shape.element.tag == f"{P}sp" and _has_text(shape.element):
        fit_text(deck, slide, shape.element, f"text of {shape.name}")
    return (
        f"at {inches(box.x)}, {inches(box.y)}, {inches(box.width)} by {inches(box.height)} inches"
    )


def _has_text(shape: etree._Element) -> bool:
    return any((text.text or "").strip() for text in shape.iter(f"{A}t"))


def _frame(shape: etree._Element) -> etree._Element:
    """Return the element that says where a shape is, made if there is none."""
    for path in (f"{P}xfrm", f"{P}grpSpPr/{A}xfrm", f"{P}spPr/{A}xfrm", f"{P14}xfrm"):
        found = shape.find(path)
        if found is not None:
            return found
    properties = shape.find(f"{P}spPr")
    if properties is None:
        raise ValidationFailed("what this shape is has no place that could be set")
    made = properties.makeelement(f"{A}xfrm")
    # The schema has the transform first (CT_ShapeProperties).
    properties.insert(0, made)
    return made


def _resize_table(
    shape: FoundShape,
    table: etree._Element,
    old: PlaceholderBox,
    new: PlaceholderBox,
) -> PlaceholderBox:
    """Have columns and rows share the new size of a table; return the box that they make."""
    columns = table.findall(f"{A}tblGrid/{A}gridCol")
    rows = table.findall(f"{A}tr")
    sizes = []
    for elements, key, was, now in (
        (columns, "w", old.width, new.width), (rows, "h", old.height, new.height),
    ):  # fmt: skip
        lengths = [int(e.get(key, "0")) if e.get(key, "0").isdecimal() else 0 for e in elements]
        total = sum(lengths) or was
        if was != now and total:
            lengths = [max(1, length * now // total) for length in lengths]
            lengths[-1] += now - sum(lengths)
            for element, length in zip(elements, lengths, strict=True):
                element.set(key, str(length))
        sizes.append(sum(lengths) if was != now else now)
    if min(sizes) <= 0:
        raise ValidationFailed(f"{shape.name} cannot be made that small")
    return PlaceholderBox(new.x, new.y, sizes[0], sizes[1])


def _own_place(deck: DeckEdit, slide: SlideEdit, operation: AddTextbox | AddShape) -> NewPlace:
    """Return where a shape with a text goes, which takes no placeholder."""
    return place_for(deck, slide, operation, "")


def _resized(place: NewPlace, width: int, height: int) -> NewPlace:
    return NewPlace(
        PlaceholderBox(place.box.x, place.box.y, width, height), is_given=place.is_given
    )


def _preset(wanted: str) -> str:
    """Return the preset geometry that a name means; raises ValidationFailed if there is none."""
    found = _PRESETS.get(folded(wanted))
    if found is None:
        near = difflib.get_close_matches(folded(wanted)[:60], list(_PRESETS), n=3, cutoff=0.6)
        names = list(dict.fromkeys(_PRESETS[each] for each in near))
        usual = ["rect", "roundRect", "ellipse", "rightArrow", "chevron", "line", "star5"]
        hint = f"near it: {quoted_list(names)}" if names else f"such are: {quoted_list(usual)}"
        raise ValidationFailed(f"there is no shape {shorten(wanted)!r}; {hint}")
    return found


def _title_of(preset: str) -> str:
    """Return what a shape of a geometry is called, before its number."""
    words = {"rect": "Rectangle", "roundRect": "Rounded Rectangle", "ellipse": "Oval"}
    spaced = "".join(f" {each}" if each.isupper() else each for each in preset)
    return words.get(preset, spaced[:1].upper() + spaced[1:])


def _geometry(shape: etree._Element, box: PlaceholderBox, preset: str) -> etree._Element:
    properties = etree.SubElement(shape, f"{P}spPr")
    properties.append(transform(f"{A}xfrm", box))
    outline = etree.SubElement(properties, f"{A}prstGeom", {"prst": preset})
    etree.SubElement(outline, f"{A}avLst")
    return properties


def _paint(properties: etree._Element, looks: Mapping[str, Any]) -> None:
    fill, line, width = looks.get("fill"), looks.get("line"), looks.get("line_width")
    if fill is not None:
        properties.append(_fill(fill))
    if line is not None or width is not None:
        drawn = etree.SubElement(properties, f"{A}ln")
        if width is not None:
            drawn.set("w", str(round(width * EMU_A_POINT)))
        if line is not None:
            drawn.append(_fill(line))


def _fill(paint: str) -> etree._Element:
    if paint == _NONE:
        return etree.Element(f"{A}noFill")
    made = etree.Element(f"{A}solidFill")
    is_theme = paint in _THEME.values()
    tag = f"{A}schemeClr" if is_theme else f"{A}srgbClr"
    etree.SubElement(made, tag, {"val": paint})
    return made


def _style(fill: str | None) -> etree._Element:
    """Return the style that programs give new shapes: the first accent, text that is seen on it."""
    style = etree.Element(f"{P}style")
    parts = (("lnRef", "2", "accent1"), ("fillRef", "1", "accent1"), ("effectRef", "0", "accent1"))
    for name, idx, color in parts:
        part = etree.SubElement(style, f"{A}{name}", {"idx": idx})
        etree.SubElement(part, f"{A}schemeClr", {"val": color})
    font = etree.SubElement(style, f"{A}fontRef", {"idx": "minor"})
    ink = "tx1" if fill is not None and _is_light(fill) else "lt1"
    etree.SubElement(font, f"{A}schemeClr", {"val": ink})
    return style


def _is_light(paint: str) -> bool:
    if paint == _NONE or paint in _LIGHT_COLORS:
        return True
    if paint in _THEME.values():
        return False
    red, green, blue = (int(paint[at : at + 2], 16) for at in (0, 2, 4))
    # Rec. 601 luma: what looks light takes dark text.
    return 0.299 * red + 0.587 * green + 0.114 * blue > 160


def _lines(deck: DeckEdit, operation: AddTextbox | AddShape) -> tuple[Line, ...]:
    if operation.text is not None and operation.runs is not None:
        raise ValidationFailed("give text or runs, not both")
    if operation.runs is not None:
        return split_lines(read_pieces(operation.runs, "runs", deck.warnings), levels=False)
    if not operation.text:
        return ()
    return split_lines((SlideTextPiece(deck.warnings.clean_text(operation.text)),), levels=False)


def _write(
    deck: DeckEdit,
    body: etree._Element,
    operation: AddTextbox | AddShape,
    lines: tuple[Line, ...],
    *,
    centered: bool = False,
) -> None:
    etree.SubElement(body, f"{A}lstStyle")
    model = etree.SubElement(body, f"{A}p")
    if centered:
        etree.SubElement(model, f"{A}pPr", {"algn": "ctr"})
    if operation.font_size is not None:
        etree.SubElement(model, f"{A}endParaRPr", {"sz": str(round(operation.font_size * 100))})
    if not lines:
        return
    formatting = read_paragraph(operation, deck.warnings)
    for paragraph in rewrite(body, lines):
        format_paragraph(paragraph, formatting, strict=deck.is_strict)


def _text_height(lines: tuple[Line, ...], width: int, size: float | None) -> int:
    """Return how high a text stands in a box of a width, in EMU."""
    total = _INSETS[1]
    for line in lines:
        sizes = [e.formatting.font_size for e in line.pieces if e.formatting.font_size is not None]
        points = max(sizes, default=size or FONT_SIZE / 100)
        room = max((width / EMU_A_POINT - _INSETS[0]) / points, 1)
        parts = line.text.split("\v")
        total += sum(max(1, -int(-estimated_ems(e) // room)) for e in parts) * points * LINE_EM
    return round(total * EMU_A_POINT)
