"""Forms of a PDF file: how much a page paints when what they draw is counted each time.

A form is a piece of a page that is drawn wherever it is named, also by other forms: nine forms that
each draw the next ten times are a thousand million things on a page, in a file of two kilobytes.
pdfium makes an object of each, and ends the process where it has no memory for them.

Two more things are drawn like forms and may draw forms: the letters of a font that is made of
drawings (Type 3), each time such a letter stands in a text, and the tile of a pattern, each time
something is filled with it.

That is what reading a page costs. Drawing one costs more, and that is counted where pages are
drawn: a soft mask is drawn anew for each thing that is painted through it, tiles are laid beside
each other, and a shading may compute each point by a program. See `kbd_pdf.masks`.
"""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from pypdf import PdfReader
from pypdf.generic import DictionaryObject, NameObject, StreamObject

from kbd.errors import FileReadFailed
from kbd_pdf.masks import masked, shading_cost, tiles_cost
from kbd_pdf.objects import array, dictionary, entry, plain, resolved
from kbd_pdf.streams import MAX_PAINTED, count_painted

__all__ = ["check_drawing", "check_forms"]

MAX_LEVELS = 40
"""Forms in forms that pdfium follows (kMaxFormLevel)."""

MAX_FORMS = 20_000
"""Forms that are looked at; pdfium would take as long for so many."""

_NAME = rb"/([^\s/<>\[\](){}%]+)"
_DRAW = re.compile(_NAME + rb"\s+Do\b")
_SHADE = re.compile(_NAME + rb"\s+sh\b")
_FONT = re.compile(_NAME + rb"\s+[-+.\d]+\s+Tf\b")
_COLORS = re.compile(
    # A pattern as the color; what paints with it; the colors kept and taken back.
    _NAME + rb"\s+(?:scn|SCN)\b|\b(?:(f\*|f|F|B\*|B|b\*|b|S|s|Tj|TJ)|(q)|(Q))(?=[\s/<\[(]|$)"
)
_STRINGS = re.compile(rb"\\[0-7]{1,3}|\\.|[()]|<([0-9A-Fa-f\s]+)>", re.DOTALL)


class _Resources(NamedTuple):
    """What the names of a stream mean.

    Args:
        own: Its own resources, or those of whoever draws it where it has none.
        page: Those of the page: pdfium looks there for each kind that its own have not.
    """

    own: DictionaryObject
    page: DictionaryObject

    def named(self, kind: str) -> DictionaryObject:
        """Return the things of a kind, by their names."""
        found = entry(self.own, kind)
        return found if isinstance(found, DictionaryObject) else dictionary(self.page.get(kind))


class _Form:
    """A form: what it paints itself, and which others it draws how often."""

    def __init__(self, stream: StreamObject, resources: _Resources, mask: Any) -> None:
        # Kept, for by their identities it is known.
        self.made_of = stream, resources, mask
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
    forms = _Forms(name, is_drawn=False)
    pages = [list(forms.of_page(page)) for page in reader.pages]
    forms.add_up()
    if any(_cost(drawn) > MAX_PAINTED for drawn in pages):
        msg = (
            f"{name} holds a page that paints more than {MAX_PAINTED:,} things, by forms that "
            "are drawn over and over: it is not read"
        )
        raise FileReadFailed(msg)


def check_drawing(reader: PdfReader, index: int, name: str) -> None:
    """Check that drawing a page does not cost more than painting `MAX_PAINTED` things.

    Args:
        reader: The file.
        index: Which page, from 0.
        name: How the file is called in messages.

    Raises:
        FileReadFailed: It does, or there are too many forms to tell.
    """
    forms = _Forms(name, is_drawn=True)
    drawn = list(forms.of_page(reader.pages[index]))
    forms.add_up()
    if _cost(drawn) > MAX_PAINTED:
        msg = (
            f"page {index + 1} of {name} costs more than painting {MAX_PAINTED:,} things, by "
            "masks, patterns or shadings that are drawn over and over: it is not drawn"
        )
        raise FileReadFailed(msg)


_OVER = MAX_PAINTED + 1

_Drawn = tuple[_Form | int, int]
"""A form, or what something else costs; and how often it is drawn."""


def _cost(drawn: list[_Drawn]) -> int:
    return sum((what if isinstance(what, int) else what.total) * times for what, times in drawn)


class _Forms:
    """The forms of pages, followed from page to form and from form to form.

    Args:
        name: How the file is called in messages.
        is_drawn: Whether what only drawing costs counts, too.
    """

    def __init__(self, name: str, *, is_drawn: bool) -> None:
        self._name, self._is_drawn = name, is_drawn
        self._known: dict[tuple[int, ...], _Form] = {}
        self._shadings: dict[int, tuple[Any, int]] = {}

    def add_up(self) -> None:
        """Set the totals of all forms, each with what it draws."""
        forms = list(self._known.values())
        for form in forms:
            form.total = form.painted
        # Each round follows forms one level deeper; most are at their end after two.
        for _ in range(MAX_LEVELS):
            totals = [
                min(
                    form.painted + sum(child.total * times for child, times in form.children), _OVER
                )
                for form in forms
            ]
            if totals == [form.total for form in forms]:
                break
            for form, total in zip(forms, totals, strict=True):
                form.total = total

    def of_page(self, page: Any) -> Iterator[_Drawn]:
        """Yield what a page draws, the forms of its annotations included, and how often."""
        contents = page.get_contents()
        of_page = dictionary(page.get("/Resources"))
        resources = _Resources(of_page, of_page)
        if contents is not None:
            yield from self._children(contents.get_data(), resources, None)
        for note in array(page.get("/Annots")):
            looks = dictionary(dictionary(note).get("/AP"))
            for look in looks.values():
                one = isinstance(resolved(look), StreamObject)
                for each in (look,) if one else dictionary(look).values():
                    if (form := self._form(each, resources, None)) is not None:
                        yield form, 1

    def _children(self, data: bytes, resources: _Resources, mask: Any) -> Iterator[_Drawn]:
        """Yield what a stream draws that may draw others, and how often.

        Args:
            data: The stream.
            resources: What its names mean.
            mask: The mask through which all of it is painted; None for none.
        """
        if not self._is_drawn:
            for drawn, inherited, times in _references(data, resources):
                if (form := self._form(drawn, inherited, None)) is not None:
                    yield form, times
            return
        named = resources.named("/XObject")
        for key, through, times in masked(data, resources.named("/ExtGState"), mask):
            if key and key in named and not _is_picture(named[key]):
                # The form is a thing that is painted through the mask, and so is what is in it.
                inner = None if _is_group(named[key]) else through
                if (form := self._form(named.raw_get(key), resources, inner)) is not None:
                    yield form, times
            if (form := self._form(through, resources, None)) is not None:
                yield MASK_COST, times
                yield form, times
        for drawn, inherited, times in _references(data, resources, with_forms=False):
            if (form := self._form(drawn, inherited, None)) is not None:
                yield form, times
                yield tiles_cost(drawn), times
        for shading, times in _shadings(data, resources):
            yield self._shading(shading), times

    def _shading(self, shading: Any) -> int:
        if id(shading) not in self._shadings:
            # Kept with its cost, so that no other object takes its identity.
            self._shadings[id(shading)] = shading, shading_cost(shading)
        return self._shadings[id(shading)][1]

    def _form(self, reference: Any, resources: _Resources, mask: Any) -> _Form | None:
        """Return what a reference leads to if it is a form; with all that it draws."""
        found = resolved(reference)
        if not isinstance(found, StreamObject):
            return None
        # One without resources of its own uses those of whoever draws it.
        own = entry(found, "/Resources")
        if isinstance(own, DictionaryObject):
            resources = _Resources(own, resources.page)
        key = (id(found), *map(id, resources), id(mask))
        form = self._known.get(key)
        if form is None:
            if len(self._known) >= MAX_FORMS:
                msg = f"{self._name} has more than {MAX_FORMS:,} forms: it is not read"
                raise FileReadFailed(msg)
            form = self._known[key] = _Form(found, resources, mask)
            # Known before it is followed, so that a circle ends.
            for what, times in self._children(form.data, resources, mask):
                if isinstance(what, int):
                    form.painted += what * times
                else:
                    form.children.append((what, times))
            form.data = b""
        return form


MASK_COST = 100
"""Things that take pdfium as long to paint as one mask, which is a picture of its own: 0.8 ms."""


def _is_picture(drawn: Any) -> bool:
    """Tell whether what `Do` names is no form; masks, tiles and letters are forms in any case."""
    return str(entry(dictionary(drawn), "/Subtype")) == "/Image"


def _is_group(form: Any) -> bool:
    """Tell whether a form is painted as one thing, through a mask that does not reach into it."""
    group = dictionary(dictionary(form).get("/Group"))
    return str(entry(group, "/S")) == "/Transparency"


def _shadings(data: bytes, resources: _Resources) -> Iterator[tuple[Any, int]]:
    """Yield the shadings that a stream paints, by themselves or as a filling, and how often."""
    named = resources.named("/Shading")
    for key, times in Counter(map(plain, _SHADE.findall(data))).items():
        if key in named:
            yield dictionary(named[key]), times
    named = resources.named("/Pattern")
    for key, times in (_filled(data) if named else Counter[str]()).items():
        shading = dictionary(dictionary(named.get(key)).get("/Shading"))
        if shading:
            yield shading, times


def _references(
    data: bytes, resources: _Resources, *, with_forms: bool = True
) -> Iterator[tuple[Any, _Resources, int]]:
    """Yield the references of what a stream draws, the resources that it has, and how often."""
    named = resources.named("/XObject") if with_forms else DictionaryObject()
    for key, times in Counter(map(plain, _DRAW.findall(data))).items():
        if key in named and not _is_picture(named[key]):
            yield named.raw_get(key), resources, times
    named = resources.named("/Pattern")
    for key, times in (_filled(data) if named else Counter[str]()).items():
        if key in named:
            yield named.raw_get(key), resources, times
    named = resources.named("/Font")
    fonts = [dictionary(named.get(key)) for key in set(map(plain, _FONT.findall(data)))]
    drawn = [font for font in fonts if entry(font, "/Subtype") == "/Type3"]
    codes = _shown_codes(data) if drawn else Counter[int]()
    for font in drawn:
        own = entry(font, "/Resources")
        used = _Resources(own, resources.page) if isinstance(own, DictionaryObject) else resources
        letters = dictionary(font.get("/CharProcs"))
        times_of = _letter_counts(font, codes)
        for key in letters:
            # A letter whose code the font does not tell may be any of them.
            times = times_of.get(key, 0) if times_of is not None else codes.total()
            if times:
                yield letters.raw_get(key), used, times


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
            current = plain(pattern)
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
    differences = array(dictionary(font.get("/Encoding")).get("/Differences"))
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
