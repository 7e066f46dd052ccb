"""Fields: what is computed when a document is shown or printed. Their result is read.

A field is a mark where it begins, its instruction, a mark, its result, a mark where it ends, and
may hold others. ECMA-376, part 1, 17.16.
"""

import re

import msgspec
from lxml import etree

from kbd_docx.blocks import W
from kbd_docx.reader.names import VAL, is_on, number

__all__ = ["Fields", "address_of", "form_value", "reaches_out"]

_MOST_CHARS = 4_000
"""Of an instruction; what is longer is no address."""

_ADDRESS = re.compile(r'\s*HYPERLINK\s+(?:"([^"]+)"|([^\s\\"]\S*))', re.IGNORECASE)
_REACHES_OUT = re.compile(
    r"\s*(INCLUDEPICTURE|INCLUDETEXT|INCLUDE|IMPORT|DDEAUTO|DDE|LINK|DATABASE|RD)\b", re.IGNORECASE
)


class _Field(msgspec.Struct):
    """A field that has begun; `start` is where in the text its instruction or result does."""

    start: int
    value: str
    instruction: list[str] = []
    has_result: bool = False


class Fields:
    """The fields that are open in a paragraph."""

    def __init__(self) -> None:
        self._open: list[_Field] = []

    def begin(self, out: list[str], value: str) -> None:
        """Open a field; `value` is shown if it turns out to have no result."""
        self._open.append(_Field(len(out), value))

    def told(self, text: str) -> None:
        """Take a piece of an instruction."""
        if self._open:
            self._open[-1].instruction.append(text)

    def separate(self, out: list[str]) -> None:
        """Go on to the result; what was written since the beginning was instruction."""
        if self._open and not self._open[-1].has_result:
            field = self._open[-1]
            field.has_result = True
            del out[field.start :]

    def end(self, out: list[str]) -> tuple[str, int]:
        """Close a field, and return its instruction and where its result begins."""
        if not self._open:
            return "", len(out)
        field = self._open.pop()
        if not field.has_result:
            del out[field.start :]
        if field.value and not "".join(out[field.start :]).strip():
            out.append(field.value)
        return "".join(field.instruction)[:_MOST_CHARS], field.start


def address_of(instruction: str) -> str:
    """Return the address that a link's instruction names, "" if it is no link or one within."""
    found = _ADDRESS.match(instruction)
    return (found[1] or found[2]) if found else ""


def reaches_out(instruction: str) -> bool:
    """Whether a field fetches something from outside when it is computed."""
    return _REACHES_OUT.match(instruction) is not None


def form_value(mark: etree._Element) -> str:
    """Return what a form's field shows: a ticked box, or what is chosen; "" if it is text."""
    box = mark.find(f"{W}ffData/{W}checkBox")
    if box is not None:
        state = box.find(f"{W}checked")
        return "☒" if is_on(box.find(f"{W}default") if state is None else state) else "☐"
    choice = mark.find(f"{W}ffData/{W}ddList")
    if choice is not None:
        entries = choice.findall(f"{W}listEntry")
        state = choice.find(f"{W}result")
        place = number(None if state is None else state.get(VAL), 0, 0, len(entries))
        return entries[place].get(VAL, "") if place < len(entries) else ""
    return ""
