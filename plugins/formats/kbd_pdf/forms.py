"""Forms of a PDF file: how much a page paints when what they draw is counted each time.

A form is a piece of a page that is drawn wherever it is named, also by other forms: nine forms that
each draw the next ten times are a thousand million things on a page, in a file of two kilobytes.
pdfium makes an object of each, and ends the process where it has no memory for them.

Two more things are drawn like forms and may draw forms: the letters of a font that is made of
drawings (Type 3), each time such a letter stands in a text, and the tile of a pattern, each time
something is filled with it. How many tiles a filling takes does not count, for pdfium makes one.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pypdf import PdfReader
from pypdf.generic import ArrayObject, DictionaryObject, IndirectObject, NameObject, StreamObject

from kbd.errors import FileReadFailed
from kbd_pdf.streams import MAX_PAINTED, count_painted

__all__ = ["check_forms"]

MAX_LEVELS = 40
"""Forms in forms that pdfium follows (kMaxFormLevel)."""

MAX_FORMS = 20_000
"""Forms that are looked at; pdfium would take as long for so many."""

_NAME = rb"/([^\s/<>\[\](){}%]+)"
_DRAW = re.compile(_NAME + rb"\s+Do\b")
_FONT = re.compile(_NAME + rb"\s+[-+.\d]+\s+Tf\b")
_COLORS = re.compile(
    # A pattern as the color; what paints with it; the colors kept and taken back.
    _NAME + rb"\s+(?:scn|SCN)\b|\b(?:(f\*|f|F|B\*|B|b\*|b|S|s|Tj|TJ)|(q)|(Q))(?=[\s/<\[(]|$)"
)
_STRINGS = re.compile(rb"\\[0-7]{1,3}|\\.|[()]|<([0-9A-Fa-f\s]+)>", re.DOTALL)
_ESCAPE = re.compile(rb"#([0-9a-fA-F]{2})")


class _Form:
    """A form: what it paints itself, and which others it draws how often."""

    def __init__(self, stream: StreamObject, resources: DictionaryObject) -> None:
        # Kept, for by their identities it is known.
        self.made_of = stream, resources
        self.data = stream.get_data()
        self.painted = count_painted(self.data) + 1
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
    resources = _dictionary(page.get("/Resources"))
    if contents is not None:
        yield from _children(contents.get_data(), resources, known, name)
    for note in _array(page.get("/Annots")):
        looks = _dictionary(_dictionary(note).get("/AP"))
        for look in looks.values():
            found = look.get_object() if isinstance(look, IndirectObject) else look
            one = isinstance(found, StreamObject)
            for each in (look,) if one else _dictionary(found).values():
                if (form := _form(each, resources, known, name)) is not None:
                    yield form, 1


def _children(
    data: bytes,
    resources: DictionaryObject,
    known: dict[tuple[int, int], _Form],
    name: str,
) -> Iterator[tuple[_Form, int]]:
    """Yield what a stream draws that may draw others, and how often."""
    for drawn, inherited, times in _references(data, resources):
        if (form := _form(drawn, inherited, known, name)) is not None:
            yield form, times


def _references(
    data: bytes, resources: DictionaryObject
) -> Iterator[tuple[Any, DictionaryObject, int]]:
    """Yield the references of what a stream draws, the resources that it has, and how often."""
    named = _dictionary(resources.get("/XObject"))
    for key, times in Counter(map(_plain, _DRAW.findall(data))).items():
        if key in named:
            yield named.raw_get(key), resources, times
    named = _dictionary(resources.get("/Pattern"))
    for key, times in (_filled(data) if named else Counter[str]()).items():
        if key in named:
            yield named.raw_get(key), resources, times
    named = _dictionary(resources.get("/Font"))
    fonts = [_dictionary(named.get(key)) for key in set(map(_plain, _FONT.findall(data)))]
    drawn = [font for font in fonts if font.get("/Subtype") == "/Type3"]
    codes = _shown_codes(data) if drawn else Counter[int]()
    for font in drawn:
        own = _dictionary(font.get("/Resources")) or resources
        letters = _dictionary(font.get("/CharProcs"))
        times_of = _letter_counts(font, codes)
        for key in letters:
            # A letter whose code the font does not tell may be any of them.
            times = times_of.get(key, 0) if times_of is not None else codes.total()
            if times:
                yield letters.raw_get(key), own, times


def _filled(data: bytes) -> Counter[str]:
    """Count how often something may be painted with each pattern of a stream.

    Lines and fillings have colors of their own, which are not told apart: the pattern that was set
    last counts for whatever follows.
    """
    found: Counter[str] = Counter()
    current, kept = "", list[str]()
    for match in _COLORS.finditer(data):
        pattern, paints, keeps, takes_back = match.groups()
        if pattern is not None:
            current = _plain(pattern)
        elif paints and current:
            found[current] += 1
        elif keeps:
            kept.append(current)
        elif takes_back and kept:
            current = kept.pop()
    return found


def _shown_codes(data: bytes) -> Counter[int]:
    """Count the codes of letters in the texts of a stream."""
    found: Counter[int] = Counter()
    depth = at = 0
    for match in _STRINGS.finditer(data):
        token = match[0]
        if depth:
            found.update(data[at : match.start()])
            at = match.end()
            if token[:1] == b"\\":
                is_number = token[1:].isdigit()
                found[int(token[1:], 8) & 255 if is_number else token[1]] += 1
            elif match[1] is not None:
                found.update(token)
        if token == b"(":
            depth, at = depth + 1, match.end()
        elif token == b")":
            depth = max(0, depth - 1)
        elif match[1] is not None and not depth:
            digits = b"".join(match[1].split())
            found.update(bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode()))
    return found


def _letter_counts(font: DictionaryObject, codes: Counter[int]) -> dict[str, int] | None:
    """Return how often each letter of a font is drawn; None if its codes are not told by names."""
    differences = _array(_dictionary(font.get("/Encoding")).get("/Differences"))
    if not differences:
        return None
    found: dict[str, int] = {}
    code = 0
    for each in differences:
        if isinstance(each, NameObject):
            found[each] = found.get(each, 0) + codes[code]
            code += 1
        elif isinstance(each, int):
            code = int(each)
    return found


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
        form.children = list(_children(form.data, own or resources, known, name))
        form.data = b""
    return form


def _plain(name: bytes) -> str:
    """Return a name as a resource has it, without numbers of letters."""
    plain = _ESCAPE.sub(lambda code: bytes([int(code[1], 16)]), name)
    return "/" + plain.decode("utf-8", "replace")


def _dictionary(value: Any) -> DictionaryObject:
    found = value.get_object() if isinstance(value, IndirectObject) else value
    return found if isinstance(found, DictionaryObject) else DictionaryObject()


def _array(value: Any) -> list[Any]:
    found = value.get_object() if isinstance(value, IndirectObject) else value
    return list(found) if isinstance(found, ArrayObject) else []
