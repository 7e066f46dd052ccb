"""Forms of a PDF file: how much a page paints when what they draw is counted each time.

A form is a piece of a page that is drawn wherever it is named, also by other forms: nine forms that
each draw the next ten times are a thousand million things on a page, in a file of two kilobytes.
pdfium makes an object of each, and ends the process where it has no memory for them.
"""

import re
from collections.abc import Iterator
from typing import Any

from pypdf import PdfReader
from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject, StreamObject

from kbd.errors import FileReadFailed
from kbd_pdf.streams import MAX_PAINTED, count_painted

__all__ = ["check_forms"]

MAX_LEVELS = 40
"""Forms in forms that pdfium follows (kMaxFormLevel)."""

MAX_FORMS = 20_000
"""Forms that are looked at; pdfium would take as long for so many."""

_DRAW = re.compile(rb"/([^\s/<>\[\](){}%]+)\s+Do\b")
_ESCAPE = re.compile(rb"#([0-9a-fA-F]{2})")


class _Form:
    """A form: what it paints itself, and which others it draws how often."""

    def __init__(self, stream: StreamObject, resources: DictionaryObject) -> None:
        # Kept, for by their identities it is known.
        self.made_of = stream, resources
        data = stream.get_data()
        self.painted = count_painted(data) + 1
        self.draws = _draws(data)
        self.children: list[tuple[_Form, int]] = []
        self.total = 0


def check_forms(reader: PdfReader, name: str) -> None:
    """Check that no page paints more than `MAX_PAINTED` things.

    Where a form draws itself that counts as often as pdfium could follow it at most.

    Raises:
        FileReadFailed: One does, or there are too many forms to tell.
    """
    known: dict[tuple[int, int], _Form] = {}
    pages = [list(_drawn_by_page(page, known, name)) for page in reader.pages]
    forms = list(known.values())
    for form in forms:
        form.total = form.painted
    # Each round follows forms one level deeper; most are at their end after two.
    for _ in range(MAX_LEVELS):
        totals = [
            min(form.painted + sum(child.total * times for child, times in form.children), _OVER)
            for form in forms
        ]
        if totals == [form.total for form in forms]:
            break
        for form, total in zip(forms, totals, strict=True):
            form.total = total
    for drawn in pages:
        if sum(form.total * times for form, times in drawn) > MAX_PAINTED:
            msg = (
                f"{name} holds a page that paints more than {MAX_PAINTED:,} things, by forms that "
                "are drawn over and over: it is not read"
            )
            raise FileReadFailed(msg)


_OVER = MAX_PAINTED + 1


def _drawn_by_page(
    page: Any, known: dict[tuple[int, int], _Form], name: str
) -> Iterator[tuple[_Form, int]]:
    """Yield the forms that a page draws, those of its annotations among them, and how often."""
    contents = page.get_contents()
    draws = _draws(contents.get_data()) if contents is not None else {}
    resources = _dictionary(page.get("/Resources"))
    yield from _children(draws, resources, known, name)
    for note in _array(page.get("/Annots")):
        looks = _dictionary(_dictionary(note).get("/AP"))
        for look in looks.values():
            found = look.get_object() if isinstance(look, IndirectObject) else look
            one = isinstance(found, StreamObject)
            for each in (look,) if one else _dictionary(found).values():
                if (form := _form(each, resources, known, name)) is not None:
                    yield form, 1


def _children(
    draws: dict[str, int],
    resources: DictionaryObject,
    known: dict[tuple[int, int], _Form],
    name: str,
) -> Iterator[tuple[_Form, int]]:
    named = _dictionary(resources.get("/XObject"))
    for key, times in draws.items():
        if key in named and (form := _form(named.raw_get(key), resources, known, name)) is not None:
            yield form, times


def _form(
    reference: Any, resources: DictionaryObject, known: dict[tuple[int, int], _Form], name: str
) -> _Form | None:
    """Return what a reference leads to if it is a form; with all that it draws."""
    found = reference.get_object() if isinstance(reference, IndirectObject) else reference
    if not isinstance(found, StreamObject) or found.get("/Subtype") == "/Image":
        return None
    # One without resources of its own uses those of whoever draws it.
    own = _dictionary(found.get("/Resources"))
    key = (id(found), 0 if own else id(resources))
    form = known.get(key)
    if form is None:
        if len(known) >= MAX_FORMS:
            raise FileReadFailed(f"{name} has more than {MAX_FORMS:,} forms: it is not read")
        form = known[key] = _Form(found, resources)
        # Known before it is followed, so that a circle ends.
        form.children = list(_children(form.draws, own or resources, known, name))
    return form


def _draws(data: bytes) -> dict[str, int]:
    found: dict[str, int] = {}
    for match in _DRAW.finditer(data):
        plain = _ESCAPE.sub(lambda code: bytes([int(code[1], 16)]), match[1])
        key = "/" + plain.decode("utf-8", "replace")
        found[key] = found.get(key, 0) + 1
    return found


def _dictionary(value: Any) -> DictionaryObject:
    found = value.get_object() if isinstance(value, IndirectObject) else value
    return found if isinstance(found, DictionaryObject) else DictionaryObject()


def _array(value: Any) -> list[Any]:
    found = value.get_object() if isinstance(value, IndirectObject) else value
    return list(found) if isinstance(found, ArrayObject) else []
