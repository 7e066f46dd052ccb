"""A paragraph as the text that people see in it, and where each piece of that text stands.

A text goes over runs, links, content controls and inserted text alike. What is no text ends it: a
picture in the line, an equation, a page break. What people do not see in the line does not: notes'
marks, anchors of floating pictures, comments, deleted text. Of a field only its result is text,
not its instruction; fields go on over paragraphs, so that each begins in the state where the one
before ended.
"""

from collections.abc import Iterator

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd_docx.blocks import PARAGRAPH, W
from kbd_docx.edits.texts import T

__all__ = [
    "BARRIER",
    "MC",
    "Field",
    "FieldState",
    "FlowPiece",
    "RunFlow",
    "computing_field",
    "read_flow",
]

MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}"

BARRIER = "\0"
"""What stands for what is no text; no document can hold it."""

_MOST_NESTED = 100
"""Fields within each other; programs stop at twenty."""

_INSTRUCTION_CHARACTERS = 40
"""Of a field's instruction: enough for its first word."""

_STEADY_FIELDS = frozenset(("HYPERLINK", "FORMTEXT"))
"""Fields whose results programs do not compute."""

_WHITE = str.maketrans("\t\n\r", "   ")

_WRAPPERS = frozenset(
    f"{W}{name}"
    for name in (
        "bdo", "customXml", "dir", "fldSimple", "hyperlink", "ins", "moveTo", "r", "rubyBase",
        "sdt", "sdtContent", "smartTag", "ruby",
    )
)  # fmt: skip
_SIGNS = {
    f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-",
    f"{W}softHyphen": "",
}  # fmt: skip
_BARRIERS = frozenset(
    (
        f"{W}sym", f"{W}object", f"{W}drawing", f"{W}pict", f"{W}pgNum", f"{W}contentPart",
        f"{MC}AlternateContent", f"{_MATH}oMath", f"{_MATH}oMathPara",
    )
)  # fmt: skip
_BREAK, _FIELD, _INSTRUCTION, _SIMPLE_FIELD = (
    f"{W}br", f"{W}fldChar", f"{W}instrText", f"{W}fldSimple"
)  # fmt: skip

_LEAVES = frozenset((T, _FIELD, _INSTRUCTION, *_SIGNS))


class Field(msgspec.Struct, frozen=True):
    """A field that has begun: how its instruction begins, and whether that is over."""

    instruction: str = ""
    has_result: bool = False


FieldState = tuple[Field, ...]
"""The fields that have begun and not ended, the outermost first."""


class FlowPiece(msgspec.Struct, frozen=True):
    """One element of a flow: the text that it gives, where that begins, and the fields around."""

    element: etree._Element
    start: int
    text: str
    state: FieldState


class RunFlow(msgspec.Struct):
    """A paragraph, its text, and the state of fields where it begins."""

    paragraph: etree._Element
    text: str
    state: FieldState


def read_flow(
    paragraph: etree._Element, state: FieldState
) -> tuple[str, list[FlowPiece], FieldState]:
    """Return a paragraph's text, the pieces that it is made of, and the state in which it ends."""
    texts: list[str] = []
    pieces: list[FlowPiece] = []
    length = 0
    for element in _leaves(paragraph):
        tag = element.tag
        if tag == _FIELD:
            state = _after(element, state)
        elif tag == _INSTRUCTION:
            state = _instructed(element, state)
        elif not state or all(field.has_result for field in state):
            text = _text(element)
            pieces.append(FlowPiece(element, length, text, state))
            texts.append(text)
            length += len(text)
    return "".join(texts), pieces, state


def _leaves(paragraph: etree._Element) -> Iterator[etree._Element]:
    """Yield what gives text, ends text or belongs to a field, in order."""
    pending = [iter(paragraph)]
    while pending:
        child = next(pending[-1], None)
        if child is None:
            pending.pop()
            continue
        tag = child.tag
        if tag in _WRAPPERS:
            pending.append(iter(child))
        elif tag in _LEAVES or (tag in _BARRIERS and not _floats(child)):
            yield child


def _text(element: etree._Element) -> str:
    """Return the text that an element gives."""
    tag = element.tag
    if tag == T:
        # Line ends inside the XML are blanks to programs.
        return (element.text or "").translate(_WHITE)
    if tag == _BREAK and element.get(f"{W}type", "textWrapping") != "textWrapping":
        return BARRIER
    return _SIGNS.get(tag, BARRIER)


def _floats(element: etree._Element) -> bool:
    """Tell whether a drawing has its place apart from the line."""
    if element.tag in (f"{W}drawing", f"{MC}AlternateContent"):
        return next(element.iter(f"{_DRAWING}anchor"), None) is not None
    if element.tag == f"{W}pict":
        return any(
            "position:absolute" in (each.get("style") or "").replace(" ", "")
            for each in element.iterchildren()
        )
    return False


def _after(element: etree._Element, state: FieldState) -> FieldState:
    """Return the state behind a field's sign."""
    kind = element.get(f"{W}fldCharType")
    if kind == "begin":
        if len(state) >= _MOST_NESTED:
            raise ValidationFailed("The document's fields begin within each other without end.")
        return (*state, Field())
    if not state:
        return state
    if kind == "separate":
        return (*state[:-1], Field(state[-1].instruction, has_result=True))
    return state[:-1] if kind == "end" else state


def _instructed(element: etree._Element, state: FieldState) -> FieldState:
    """Return the state behind a piece of a field's instruction."""
    if not state or state[-1].has_result or len(state[-1].instruction) > _INSTRUCTION_CHARACTERS:
        return state
    return (*state[:-1], Field(state[-1].instruction + (element.text or "")))


def computing_field(piece: FlowPiece) -> str:
    """Return the first word of a field that computes what a piece shows, "" if none does."""
    instructions = [field.instruction for field in piece.state]
    for ancestor in piece.element.iterancestors():
        if ancestor.tag == PARAGRAPH:
            break
        if ancestor.tag == _SIMPLE_FIELD:
            instructions.append(ancestor.get(f"{W}instr") or "")
    firsts = [instruction.split(maxsplit=1)[:1] for instruction in instructions]
    words = [word.upper()[:_INSTRUCTION_CHARACTERS] for first in firsts for word in first]
    return next((word for word in words if word not in _STEADY_FIELDS), "")
