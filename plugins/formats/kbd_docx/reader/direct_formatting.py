"""Formatting that paragraphs have directly, in the words of operations.

Of text only that counts that all runs with text have alike, which is what people see of the
paragraph as a whole. ECMA-376, part 1, 17.3.1 (pPr) and 17.3.2 (rPr).
"""

from collections.abc import Iterator
from typing import Any

from lxml import etree

from kbd_docx.document import VAL, W, is_on
from kbd_docx.reader.contents import DocxFormatting
from kbd_docx.styles.properties import TWIPS_PER_POINT, inches, twips

__all__ = ["FormattingStretches"]

MAX_STRETCHES = 2_000
"""Stretches of paragraphs that are collected."""

_SETTINGS, _RUN, _LOOK, _TEXT = f"{W}pPr", f"{W}r", f"{W}rPr", f"{W}t"
_PLAIN = frozenset(f"{W}{name}" for name in (
    "pStyle", "numPr", "rPr", "sectPr", "pPrChange", "keepNext", "keepLines", "widowControl",
    "outlineLvl", "tabs",
))  # fmt: skip
"""What is told elsewhere, or is seen by nobody."""

_ALIGNMENTS = {"both": "justify", "start": "left", "end": "right", "distribute": "justify"}
_SWITCHES = {f"{W}b": "bold", f"{W}i": "italic", f"{W}strike": "strike", f"{W}caps": "caps"}
_HALF_POINTS = 2
_LINE = 240
"""Of a line's height in its parts (17.18.48, auto)."""


class FormattingStretches:
    """Collector of paragraphs with formatting of their own, alike ones in a row as one."""

    def __init__(self) -> None:
        self._found: list[DocxFormatting] = []
        self._last: tuple[int, int, dict[str, Any]] = (0, 0, {})

    def add(self, number: int, paragraph: etree._Element) -> None:
        """Add the next paragraph."""
        if len(self._found) >= MAX_STRETCHES:
            return
        if not _may_have(paragraph):
            if self._last[0]:
                self._end()
            return
        look = dict(_direct(paragraph))
        first, last, before = self._last
        if look and look == before and last == number - 1:
            self._last = first, number, look
            return
        self._end()
        self._last = number, number, look

    def found(self) -> tuple[DocxFormatting, ...]:
        """Return the stretches."""
        self._end()
        return tuple(self._found)

    def _end(self) -> None:
        first, last, look = self._last
        if look:
            self._found.append(DocxFormatting(first, last, look))
        self._last = 0, 0, {}


def _may_have(paragraph: etree._Element) -> bool:
    """Whether a paragraph or its first run says more than its style; most do not."""
    for child in paragraph:
        tag = child.tag
        if tag == _SETTINGS:
            if any(setting.tag not in _PLAIN for setting in child):
                return True
        elif tag == _RUN and len(child):
            return child[0].tag == _LOOK
    return False


def _direct(paragraph: etree._Element) -> Iterator[tuple[str, Any]]:
    common: dict[str, Any] | None = None
    for child in paragraph:
        tag = child.tag
        if tag == _SETTINGS:
            for setting in child:
                if setting.tag not in _PLAIN:
                    yield from _setting(setting)
        elif tag == _RUN and common != {} and child.find(_TEXT) is not None:
            look = child.find(_LOOK)
            own = {} if look is None or not len(look) else dict(_run_look(look))
            common = own if common is None else dict(common.items() & own.items())
    if common:
        yield from sorted(common.items())


def _setting(setting: etree._Element) -> Iterator[tuple[str, Any]]:
    match str(setting.tag).removeprefix(W):
        case "jc":
            value = setting.get(VAL, "")
            yield "alignment", _ALIGNMENTS.get(value, value)
        case "spacing":
            for name, key in (("space_before", "before"), ("space_after", "after")):
                if (length := _points(setting.get(f"{W}{key}"))) is not None:
                    yield name, length
            line = _number(setting.get(f"{W}line"))
            if line is not None and setting.get(f"{W}lineRule", "auto") == "auto":
                yield "line_spacing", round(line / _LINE, 2)
        case "ind":
            for name, keys in (
                ("indent_left", ("left", "start")),
                ("indent_right", ("right", "end")),
                ("indent_first_line", ("firstLine",)),
            ):
                texts = (setting.get(f"{W}{key}") for key in keys)
                if (length := inches(next(filter(None, texts), None))) is not None:
                    yield name, length
            if (hanging := inches(setting.get(f"{W}hanging"))) is not None:
                yield "indent_first_line", -hanging
        case "pageBreakBefore" if is_on(setting):
            yield "page_break_before", True
        case "shd" | "pBdr" | "framePr":
            names = {"shd": "shading", "pBdr": "borders", "framePr": "frame"}
            yield names[str(setting.tag).removeprefix(W)], setting.get(f"{W}fill") or True


def _run_look(look: etree._Element) -> Iterator[tuple[str, Any]]:
    for each in look:
        tag = str(each.tag)
        if tag in _SWITCHES:
            yield _SWITCHES[tag], is_on(each)
            continue
        value = each.get(VAL, "")
        match tag.removeprefix(W):
            case "u":
                yield "underline", value if value not in ("", "single") else True
            case "sz" if (size := _number(value)) is not None:
                yield "font_size", size / _HALF_POINTS
            case "color":
                yield "font_color", value if value == "auto" else f"#{value}"
            case "highlight":
                yield "highlight_color", value
            case "rFonts" if name := each.get(f"{W}ascii"):
                yield "font_name", name


def _number(text: str | None) -> float | None:
    return float(text) if text is not None and text.isdecimal() and len(text) < 7 else None


def _points(text: str | None) -> float | None:
    found = twips(text) if text else None
    return None if found is None else round(found / TWIPS_PER_POINT, 2)
