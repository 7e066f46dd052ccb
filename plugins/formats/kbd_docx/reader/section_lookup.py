"""Lookup of a section by its heading, else by its index."""

from collections.abc import Callable, Sequence
from difflib import get_close_matches

from kbd.errors import ValidationFailed
from kbd_docx.reader.document import DocxSection

__all__ = ["chosen"]

_SHOWN = 20
_SHOWN_CHARS = 80
_MOST_COMPARED = 500
_MOST_DIGITS = 9


def chosen(name: str, sections: Sequence[DocxSection], wanted: str | int) -> int:
    """Return the index of the section that is meant.

    A text is a heading, with or without the number that the program shows before it; where it is
    none exactly, blanks and case do not count; a number that is no heading is an index from 0.

    Raises:
        ValidationFailed: There is none, or more than one.
    """
    if isinstance(wanted, str):
        for spelt in (_exactly, _loosely):
            found = _those(sections, spelt(wanted), spelt)
            if len(found) == 1:
                return found[0]
            if found:
                shown = ", ".join(map(str, found[:_SHOWN]))
                raise ValidationFailed(
                    f'{len(found)} sections of {name} have the heading "{wanted[:_SHOWN_CHARS]}": '
                    f"{shown}. Give the index of one as section."
                )
        digits = wanted.strip()
        if not (digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS):
            raise ValidationFailed(_missing(name, sections, wanted))
        wanted = int(digits)
    if not 0 <= wanted < len(sections):
        raise ValidationFailed(
            f"There is no section {wanted} in {name}: it has {len(sections)}, counted from 0."
        )
    return wanted


def _exactly(text: str) -> str:
    return text


def _loosely(text: str) -> str:
    return "".join(text.split()).casefold()


def _those(sections: Sequence[DocxSection], wanted: str, spelt: Callable[[str], str]) -> list[int]:
    """Return the sections with a heading; those whose number belongs to the text come second."""
    found = [index for index, each in enumerate(sections) if spelt(each.heading) == wanted]
    return found or [
        index
        for index, each in enumerate(sections)
        if each.label and spelt(f"{each.label} {each.heading}") == wanted
    ]


def _missing(name: str, sections: Sequence[DocxSection], wanted: str) -> str:
    headings = {_loosely(each.heading): each.heading for each in sections[:_MOST_COMPARED]}
    near = get_close_matches(_loosely(wanted[:_SHOWN_CHARS]), headings, n=3)
    told = " or ".join(f'"{headings[each][:_SHOWN_CHARS]}"' for each in near)
    hint = f"Is it {told}?" if told else "The map lists the headings with their indices."
    return f'There is no section "{wanted[:_SHOWN_CHARS]}" in {name}. {hint}'
