"""Text fit: whether a text fits its shape, and how far it must shrink if it does not.

Programs that show slides measure this with the fonts at hand; this estimates it, a little on the
careful side. Where the shape shrinks its text (`normAutofit`), the scale is written as they do, so
that what opens the deck next shows all of it at once. What is written is always estimated: with
fonts that one machine has and another one lacks, the same edit would make other bytes. What is told
is measured where the fonts are installed.
"""

import unicodedata
from collections.abc import Callable, Iterator, Sequence

import msgspec
from lxml import etree

from kbd_pptx.edits.formatting import percent
from kbd_pptx.edits.placeholders import box_of, inherited_placeholders, text_body
from kbd_pptx.edits.textbody import level_of, paragraphs_of, text_of
from kbd_pptx.presentation import A, P

__all__ = ["EMU_A_POINT", "FONT_SIZE", "LETTER_EM", "LINE_EM", "Fit", "estimated_ems", "fit"]

EMU_A_POINT = 12_700
INSET_X, INSET_Y = 91_440, 45_720
"""ECMA-376, part 1, 21.1.2.1.1."""
FONT_SIZE = 1800
"""Where nothing tells another one (21.1.2.3.9)."""
_SIZE_DIGITS = 6
"""Of the largest size, 4,000 points."""
LETTER_EM = 0.52
"""The width of letters on average, in font sizes; of wide ones (East Asian) it is 1."""
LINE_EM = 1.2
_GAP_EM = 0.25
"""The space before a paragraph, in font sizes."""
_INDENT_EM = 1.2
"""What a bullet and a level push the text in."""

_STEPS = (
    (100_000, 0), (92_500, 10_000), (85_000, 20_000), (77_500, 20_000), (70_000, 20_000),
    (62_500, 20_000), (55_000, 20_000), (47_500, 20_000), (40_000, 20_000), (32_500, 20_000),
    (25_000, 20_000),
)  # fmt: skip
"""Scales of fonts and what is taken off the spacing of lines, as PowerPoint shrinks text."""

MEASURED_CHARACTERS = 100_000
"""Of a longer text it is known that it does not fit."""


class Fit(msgspec.Struct, frozen=True):
    """Fit of a text in its shape.

    Args:
        points: The size that its smallest text is shown in.
        is_shrunk: Whether it is shown smaller than it is written.
        is_cut: Whether some of it runs over the shape.
        bottom: Where it ends on the slide if it begins at the top of the shape, in EMU.
    """

    points: float
    is_shrunk: bool
    is_cut: bool
    bottom: int


class _Text(msgspec.Struct, frozen=True):
    """A paragraph to measure: its width in font sizes, estimated and measured; its size, level."""

    ems: float
    measured: float
    size: int
    level: int
    breaks: int


Measure = Callable[[str, str], float | None]
"""Returns how wide a text is in font sizes, in a font by name; None if that is not installed."""


def fit(
    shape: etree._Element,
    parents: Sequence[etree._Element],
    *,
    grown: bool,
    strict: bool,
    measure: Measure | None = None,
) -> Fit | None:
    """Shrink a shape's text as far as it must if the shape does that; None if nothing can tell.

    Args:
        shape: On a slide.
        parents: The slide's layout and master.
        grown: Whether text was added to what the shape had; then it is shown no larger than before.
        strict: How percentages are written.
        measure: Measures what is told.
    """
    box = box_of(shape, *parents)
    chain = [shape, *inherited_placeholders(shape, *parents)]
    body = text_body(shape)
    own = body.find(f"{A}bodyPr")
    if box is None or own is None:
        return None
    texts = list(_texts(shape, chain, parents, measure))
    if not texts:
        return None
    width = box.width / EMU_A_POINT - 2 * INSET_X / EMU_A_POINT
    height = box.height / EMU_A_POINT - 2 * INSET_Y / EMU_A_POINT
    shrinks = _autofit(chain) == "normAutofit"
    least = _current_step(own) if grown else 0
    steps = _STEPS[least:] if shrinks else _STEPS[:1]
    step = next((step for step in steps if _height(texts, width, step) <= height), None)
    scale, less = step or steps[-1]
    # Also where all fits now: the text may have been shrunk before.
    if shrinks:
        _write(own, scale, less, strict=strict)
    told = [msgspec.structs.replace(text, ems=text.measured) for text in texts]
    needed = _height(told, width, (scale, less))
    # Such a shape grows with its text, so nothing runs over it.
    is_cut = needed > height and _autofit(chain) != "spAutoFit"
    # Hundredths of a point by thousandths of a percent; every step but the first has some `less`.
    smallest = min(text.size for text in texts) * scale / 10_000_000
    bottom = box.y + round((needed + 2 * INSET_Y / EMU_A_POINT) * EMU_A_POINT)
    return Fit(smallest, less > 0, is_cut, bottom)


def _current_step(properties: etree._Element) -> int:
    """Return the step by which text is shrunk now."""
    autofit = properties.find(f"{A}normAutofit")
    scale = autofit.get("fontScale", "") if autofit is not None else ""
    number = scale.rstrip("%")
    if not number.replace(".", "", 1).isdecimal() or len(number) > _SIZE_DIGITS:
        return 0
    # Without a sign it counts thousandths of a percent.
    now = float(number) * (1000 if scale.endswith("%") else 1)
    return next((step for step, (scale, _) in enumerate(_STEPS) if scale <= now), len(_STEPS) - 1)


def _write(properties: etree._Element, scale: int, less: int, *, strict: bool) -> None:
    """Write how far text is shrunk; what takes that over and need not shrink stays as it is."""
    old = properties.find(f"{A}normAutofit")
    if old is None:
        if not less:
            return
        old = etree.Element(f"{A}normAutofit")
        # The schema has the autofit behind the warp and before all else (CT_TextBodyProperties).
        warp = properties.find(f"{A}prstTxWarp")
        if warp is None:
            properties.insert(0, old)
        else:
            warp.addnext(old)
    # 100 % is the default and is not written.
    for key, value in (("fontScale", scale % 100_000), ("lnSpcReduction", less)):
        if value:
            old.set(key, percent(value, strict=strict))
        else:
            old.attrib.pop(key, "")


def _autofit(chain: Sequence[etree._Element]) -> str:
    """Return the nearest autofit setting (`normAutofit`, `noAutofit`, `spAutoFit`)."""
    for shape in chain:
        for kind in ("normAutofit", "noAutofit", "spAutoFit"):
            if shape.find(f"{P}txBody/{A}bodyPr/{A}{kind}") is not None:
                return kind
    return "noAutofit"


def _height(texts: Sequence[_Text], width: float, step: tuple[int, int]) -> float:
    """Return how high texts stand at a scale, in points."""
    scale, less = step
    total = 0.0
    for text in texts:
        points = text.size / 100 * scale / 100_000
        # A few letters at least: in a narrow shape the indent of a deep level leaves none.
        room = max(width / points - _INDENT_EM * (text.level + 1), 4)
        # Rounded up, by negating twice: a line that is begun counts as one.
        lines = max(1, -(-text.ems // room)) + text.breaks
        total += points * (lines * LINE_EM * (1 - less / 100_000) + _GAP_EM)
    return total


def estimated_ems(text: str) -> float:
    """Return about how wide a text is, in font sizes."""
    return sum(1 if unicodedata.east_asian_width(each) in "WF" else LETTER_EM for each in text)


def _texts(
    shape: etree._Element,
    chain: Sequence[etree._Element],
    parents: Sequence[etree._Element],
    measure: Measure | None,
) -> Iterator[_Text]:
    left = MEASURED_CHARACTERS
    sizes: dict[int, int] = {}
    for paragraph in paragraphs_of(text_body(shape)):
        text = text_of(paragraph)[: max(left, 0)]
        # One more each, or any number of empty paragraphs would be free.
        left -= len(text) + 1
        level = level_of(paragraph)
        if level not in sizes:
            sizes[level] = _size(level, chain, parents)
        own = list(_own_sizes(paragraph))
        ems = estimated_ems(text)
        font = next((each.get("typeface", "") for each in paragraph.iter(f"{A}latin")), "")
        measured = None if measure is None else measure(text, font)
        yield _Text(
            ems,
            ems if measured is None else measured,
            max(own) if own else sizes[level],
            level,
            text.count("\v"),
        )
        if left <= 0:
            return


def _own_sizes(paragraph: etree._Element) -> Iterator[int]:
    for name in ("r", "br", "fld"):
        for run in paragraph.iterchildren(f"{A}{name}"):
            size = _points(run.find(f"{A}rPr"))
            if size:
                yield size


def _size(level: int, chain: Sequence[etree._Element], parents: Sequence[etree._Element]) -> int:
    """Return the font size of a level: the shape's, the layout's, the master's, the styles'."""
    path = f"{A}lvl{level + 1}pPr/{A}defRPr"
    found = [shape.find(f"{P}txBody/{A}lstStyle/{path}") for shape in chain]
    # A ctrTitle counts through the master's placeholder that it follows, whose type is title.
    is_title = any(shape.find(f"{P}nvSpPr/{P}nvPr/{P}ph[@type='title']") is not None
                   for shape in chain)  # fmt: skip
    styles = "titleStyle" if is_title else "bodyStyle"
    # A text box takes nothing over, and so no style of the master either.
    if len(chain) > 1:
        found.extend(parent.find(f"{P}txStyles/{P}{styles}/{path}") for parent in parents)
    for properties in found:
        size = _points(properties)
        if size:
            return size
    return FONT_SIZE


def _points(properties: etree._Element | None) -> int:
    """Return the font size of run properties, 0 if there is none or an absurd one."""
    size = properties.get("sz", "") if properties is not None else ""
    return int(size) if len(size) <= _SIZE_DIGITS and size.isdecimal() else 0
