"""A deck as it is read: slide by slide, no more of it held than one.

Styles and masters come first, for they say what is hidden, how lists are labeled, and what slides
are painted with. OpenDocument 1.3, part 3: 3.6 (presentations), 10.10 (slides and notes).
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import IO, cast

import msgspec
from lxml import etree

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Source
from kbd.office.open_document import DC, DRAW, OFFICE, STYLE, TEXT, XLINK, open_parts
from kbd.office.open_text.pieces import read_open_pieces
from kbd.office.open_text.renderer import OpenNotices, OpenTextRenderer
from kbd.office.open_text.styles import GRADIENT, OpenStyles
from kbd.office.paint import CLEAR, UNKNOWN, Paints
from kbd_odp.backgrounds import DeckMaster, SlideStyle, read_slide_style
from kbd_odp.boxes import SlideBox, length
from kbd_odp.charts import EmbeddedObjects, open_objects
from kbd_odp.packages import KIND, MAX_MARKS, PRESENTATION
from kbd_odp.shapes import (
    DeckShape,
    PlacedElement,
    content_of,
    element_digest,
    place_elements,
    read_shape,
)

__all__ = ["MAX_SLIDES", "DeckLink", "DeckSlide", "OdpReader", "open_deck"]

MAX_SLIDES = 10_000
MAX_SLIDE_SHAPES = 10_000
MAX_DECK_SHAPES = 100_000
"""Shapes on one slide, and of all slides that one call looks into: some seconds of work."""

_MAX_BEHIND = 300
"""Shapes that are looked at for lying behind a text; behind more it counts as not known."""

_PAGE, _MASTER = f"{DRAW}page", f"{STYLE}master-page"
_LAYOUT, _STYLE = f"{STYLE}page-layout", f"{STYLE}style"
_BODY = f"{OFFICE}presentation"
_NONE = -(1 << 40)
"""No index of a slide."""
_STYLES = (_STYLE, f"{TEXT}list-style", f"{STYLE}default-style", _LAYOUT, GRADIENT)
_NAMING = ("}name", "list-style-name", "data-style-name")
"""Endings of attributes that say what something is called, here or in a list of its own."""

_DECLARED = {
    f"{PRESENTATION}footer-decl": "footer",
    f"{PRESENTATION}date-time-decl": "date-time",
}
_PIECES = (*_STYLES, _MASTER, *_DECLARED)
_KINDS = {f"{OFFICE}{name}": name for name in ("spreadsheet", "text", "drawing", "chart")}
_HOLDERS = (_BODY, f"{OFFICE}document", *_KINDS)
_DEFAULT_SIZE = (28 / 2.54, 21 / 2.54)
"""As programs make slides that say nothing of it."""


_LABELS = re.compile(r"\[(?:maybe )?hidden: ([^\]]*)\]")


class DeckLink(msgspec.Struct, frozen=True):
    """A link on a slide: the text that it stands on, "" for a shape, and where it leads."""

    text: str
    target: str


class DeckSlide(msgspec.Struct, frozen=True):
    """A slide.

    Args:
        index: Its index, from 0.
        name: Its name.
        layout: What people call its master.
        size: Its width and height, in inches.
        is_hidden: Whether a show skips it.
        shapes: In the order of the file.
        notes: The text of its notes.
        footers: What its footer and its date say, each with a label.
        comments: Those on it, each in a line.
        links: Those on it.
        digest: Equal for those that are alike but for their shapes and notes; "" if not wanted.
    """

    index: int
    name: str
    layout: str
    size: tuple[float, float]
    is_hidden: bool
    shapes: tuple[DeckShape, ...]
    notes: str = ""
    footers: tuple[str, ...] = ()
    comments: tuple[str, ...] = ()
    links: tuple[DeckLink, ...] = ()
    digest: str = ""

    @property
    def place(self) -> str:
        """Name of the slide, for people and for the next call."""
        return f"slide {self.index + 1} (slide_index {self.index})"

    @property
    def title(self) -> str | None:
        """Its title on one line, "" if its placeholder is empty, None without one."""
        title = next((shape for shape in self.shapes if shape.is_title), None)
        return None if title is None else " ".join(_LABELS.sub(r"\1", title.text).split())


class OdpReader:
    """A deck, open for one pass.

    Attributes:
        count: How many slides there are, once they were passed.
        masters: Its masters by the names that slides give.
        notices: What is shown with a label.
        warnings: What could not be read, but need not be.
    """

    def __init__(
        self,
        name: str,
        parts: Sequence[IO[bytes]],
        objects: EmbeddedObjects,
        *,
        has_digests: bool = False,
    ) -> None:
        self.name = name
        self._has_digests = has_digests
        self.count = 0
        self.masters: dict[str, DeckMaster] = {}
        self.notices = OpenNotices()
        self.warnings: list[str] = []
        self._parts, self._objects = parts, objects
        self._styles = OpenStyles()
        self._renderer = OpenTextRenderer(self._styles, self.notices)
        self._slide_styles: dict[str, SlideStyle] = {}
        self._sizes: dict[str, tuple[float, float]] = {}
        self._declared: dict[tuple[str, str], str] = {}
        self._said: dict[str, str] = {}
        self._shapes_left = MAX_DECK_SHAPES
        self._has_body = False

    @property
    def size(self) -> tuple[float, float]:
        """The width and height of its slides, in inches."""
        return next((master.size for master in self.masters.values()), _DEFAULT_SIZE)

    def slides(self, wanted: int | None = None) -> Iterator[DeckSlide]:
        """Yield the slides, or only the one of an index; all are counted.

        Raises:
            FileReadFailed: The deck is damaged, no deck, or past a limit.
            ValidationFailed: There is no slide of the index.
        """
        for part in self._parts:
            # The parser asks no more of a file than to be read.
            bounded = cast("IO[bytes]", _Bounded(part, self.name))
            for event, element in read_open_pieces(bounded, self.name, _PIECES, _HOLDERS):
                if event == "start":
                    self._enter(str(element.tag))
                elif event == "piece":
                    if element.tag != _PAGE or not self._has_body:
                        self._add(element, str(element.tag))
                        continue
                    index, self.count = self.count, self.count + 1
                    if self.count > MAX_SLIDES:
                        raise FileReadFailed(f"{self.name} has more than {MAX_SLIDES:,} slides")
                    if wanted in (None, index):
                        yield self._slide(element, index)
            # Automatic styles of one part are not those of the next.
            self._slide_styles.clear()
            self._said.clear()
        if not self._has_body:
            raise FileReadFailed(f"{self.name} is damaged: it holds no slides")
        if wanted not in (None, _NONE) and not 0 <= wanted < self.count:
            raise ValidationFailed(_out_of_range(self.name, self.count, wanted))

    def count_slides(self) -> int:
        """Return how many slides there are, without a look into them.

        Raises as `slides` does.
        """
        for _ in self.slides(_NONE):
            pass
        return self.count

    def _enter(self, tag: str) -> None:
        if tag == _BODY:
            self._has_body = True
        elif tag in _KINDS:
            raise FileReadFailed(
                f"{self.name} is not an OpenDocument presentation: it is a {_KINDS[tag]}; give it "
                "the suffix of its kind"
            )

    def _add(self, element: etree._Element, tag: str) -> None:
        """Add what stands before the slides."""
        if tag == _MASTER:
            self.masters[element.get(f"{STYLE}name", "")] = self._master(element)
        elif tag == _LAYOUT:
            told = element.find(f"{STYLE}page-layout-properties")
            fo = "{urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0}page-"
            sides = [
                None if told is None else length(told.get(f"{fo}{side}"))
                for side in ("width", "height")
            ]
            width, height = (side or 0.0 for side in sides)
            if width > 0 and height > 0:
                self._sizes[element.get(f"{STYLE}name", "")] = (width, height)
        elif tag in _DECLARED:
            key = (_DECLARED[tag], element.get(f"{PRESENTATION}name", ""))
            self._declared[key] = " ".join("".join(map(str, element.itertext())).split())
        elif tag in _STYLES:
            if element.get(f"{STYLE}family") == "drawing-page":
                self._slide_styles[element.get(f"{STYLE}name", "")] = read_slide_style(element)
            self._styles.add(element)
            if self._has_digests:
                self._add_said(element)

    def _add_said(self, element: etree._Element) -> None:
        """Note what an automatic style says: it may be called otherwise in the next version."""
        parent = element.getparent()
        if parent is None or parent.tag != f"{OFFICE}automatic-styles":
            return
        name = element.get(f"{STYLE}name", "")
        digest = hashlib.sha256(self._said.get(name, "").encode())
        for each in element.iter("{*}*"):
            told = ((str(key), str(value)) for key, value in each.items())
            facts = sorted(f"{key}={value}" for key, value in told if not key.endswith(_NAMING))
            digest.update("\0".join((str(each.tag), *facts)).encode())
        self._said[name] = digest.hexdigest()

    def _master(self, element: etree._Element) -> DeckMaster:
        name = element.get(f"{STYLE}display-name", element.get(f"{STYLE}name", ""))
        size = self._sizes.get(element.get(f"{STYLE}page-layout-name", ""), _DEFAULT_SIZE)
        style = self._slide_styles.get(element.get(f"{DRAW}style-name", ""), SlideStyle())
        drawn = [
            each
            for each in place_elements(element)[:_MAX_BEHIND]
            if not each.element.get(f"{PRESENTATION}class") and self._is_painted(each.element)
        ]
        boxes = tuple(each.box for each in drawn if each.box is not None)
        return DeckMaster(name, size, style, boxes, len(boxes) < len(drawn))

    def _slide(self, page: etree._Element, index: int) -> DeckSlide:
        master = self.masters.get(page.get(f"{DRAW}master-page-name", ""))
        if master is None:
            master = DeckMaster("", self.size, SlideStyle())
        style = self._slide_styles.get(
            page.get(f"{DRAW}style-name", ""), SlideStyle(shown=frozenset(("objects",)))
        )
        for number in page.iter(f"{TEXT}page-number"):
            number.text = str(index + 1)
        placed = place_elements(page)
        self._count(len(placed))
        paper = self._paper(style, master)
        shapes = []
        for at, each in enumerate(placed):
            self._styles.place_on(self._behind(placed, at, paper, style, master))
            shapes.append(self._shape(at, each, index))
        return DeckSlide(
            index,
            page.get(f"{DRAW}name", ""),
            master.name,
            master.size,
            style.is_hidden,
            _with_hidden_groups(shapes),
            self._notes(page),
            tuple(self._footers(page, style)),
            tuple(_comment(each, self._renderer) for each in page.iterchildren("{*}annotation")),
            tuple(dict.fromkeys(_links(page))),
            element_digest(page, self._said, is_whole=False) if self._has_digests else "",
        )

    def _count(self, shapes: int) -> None:
        if shapes > MAX_SLIDE_SHAPES:
            raise FileReadFailed(
                f"{self.name} is refused: a slide has {shapes:,} shapes; the limit is "
                f"{MAX_SLIDE_SHAPES:,}"
            )
        self._shapes_left -= shapes
        if self._shapes_left < 0:
            raise FileReadFailed(
                f"{self.name} is too large to be read at once; read its slides one by one"
            )

    def _shape(self, at: int, placed: PlacedElement, index: int) -> DeckShape:
        try:
            styles = self._said if self._has_digests else None
            return read_shape(at, placed, self._renderer, self._objects, styles)
        except FileReadFailed as error:
            name = placed.element.get(f"{DRAW}name", "")
            self.warnings.append(f"The object {name} of slide {index + 1} is not shown: {error}")
            return DeckShape(at, "ole_object", name, "", placed.parent, placed.box)

    def _notes(self, page: etree._Element) -> str:
        # Pages of notes are printed on paper of their own, which is white.
        self._styles.place_on(frozenset((CLEAR,)))
        texts = []
        for frame in page.iterfind(f"{PRESENTATION}notes/{DRAW}frame"):
            is_notes = frame.get(f"{PRESENTATION}class") == "notes"
            content = content_of(frame)
            if is_notes and content is not None and not frame.get(f"{PRESENTATION}placeholder"):
                texts.append(self._renderer.text(content))
        self._renderer.drawn.clear()
        return "\n".join(text for text in texts if text.strip()).strip("\n")

    def _footers(self, page: etree._Element, style: SlideStyle) -> Iterator[str]:
        for part, label in (("date-time", "Date"), ("footer", "Footer")):
            text = self._declared.get((part, page.get(f"{PRESENTATION}use-{part}-name", "")))
            if text and part in style.shown:
                yield f"{label}: {text}"

    def _is_painted(self, element: etree._Element) -> bool:
        """Tell whether something is seen of a shape that has no text."""
        content = content_of(element)
        if content is not None and content.tag != f"{DRAW}text-box":
            return True
        for family, name in (
            ("presentation", element.get(f"{PRESENTATION}style-name", "")),
            ("graphic", element.get(f"{DRAW}style-name", "")),
        ):
            if name and self._styles.drawn_paints(family, name) != CLEAR:
                return True
        return False

    def _paper(self, style: SlideStyle, master: DeckMaster) -> Paints:
        """Return what a slide is painted with."""
        for look in (style.look, master.style.look):
            if look.fill or look.block_ground:
                return self._styles.paints(look)
        return CLEAR

    def _behind(
        self,
        placed: list[PlacedElement],
        at: int,
        paper: Paints,
        style: SlideStyle,
        master: DeckMaster,
    ) -> frozenset[Paints]:
        """Return what is behind a shape: the slide, or none if something may lie between."""
        box = placed[at].box
        if box is None or at > _MAX_BEHIND or paper == UNKNOWN:
            return _NOT_KNOWN
        if "objects" in style.shown and (
            master.is_doubtful or any(map(box.overlaps, master.boxes))
        ):
            return _NOT_KNOWN
        if any(_may_overlap(box, each.box) and self._is_painted(each.element)
               for each in placed[:at]):  # fmt: skip
            return _NOT_KNOWN
        return frozenset((paper,))


_NOT_KNOWN: frozenset[Paints] = frozenset()


def _may_overlap(box: SlideBox, other: SlideBox | None) -> bool:
    return other is None or box.overlaps(other)


def _with_hidden_groups(shapes: list[DeckShape]) -> tuple[DeckShape, ...]:
    """Return shapes, those in hidden groups hidden; a group stands before what is in it."""
    found: list[DeckShape] = []
    for shape in shapes:
        is_hidden = shape.group >= 0 and found[shape.group].is_hidden and not shape.is_hidden
        found.append(msgspec.structs.replace(shape, is_hidden=True) if is_hidden else shape)
    return tuple(found)


def _comment(element: etree._Element, renderer: OpenTextRenderer) -> str:
    author = element.findtext(f"{DC}creator", "").strip() or "unknown"
    date = element.findtext(f"{DC}date", "").strip()[:10]
    text = " ".join(" ".join(map(renderer.paragraph, element.iter(f"{TEXT}p"))).split())
    return f"{', '.join(filter(None, (author, date)))}: {text}"


def _links(page: etree._Element) -> Iterator[DeckLink]:
    for element in page.iter(f"{TEXT}a", f"{DRAW}a", f"{PRESENTATION}event-listener"):
        href = element.get(f"{XLINK}href", "").strip()
        if href:
            said = element.itertext() if element.tag == f"{TEXT}a" else ()
            yield DeckLink(" ".join("".join(map(str, said)).split()), href)


def _out_of_range(name: str, count: int, index: int) -> str:
    if not count:
        return f"{name} has no slides; there is no slide_index {index}"
    return (
        f"{name} has {count} slide{'s' * (count > 1)}; slide_index {index} is none of them, for "
        f"they are counted from 0 to {count - 1}"
    )


class _Bounded:
    """A part as it is read, refused once it has more elements than a tree of them may have."""

    def __init__(self, file: IO[bytes], name: str) -> None:
        self._file, self._name = file, name
        self._left = MAX_MARKS

    def read(self, size: int = -1) -> bytes:
        """Return the next bytes; raises FileReadFailed past the limit."""
        data = self._file.read(size)
        self._left -= data.count(b"<")
        if self._left < 0:
            raise FileReadFailed(
                f"{self._name} is refused: its contents have more than {MAX_MARKS // 2:,} elements"
            )
        return data


@contextmanager
def open_deck(source: Source, *, has_digests: bool = False) -> Iterator[OdpReader]:
    """Open a deck for one pass.

    Args:
        source: The deck.
        has_digests: Whether its slides and shapes get the digests by which versions are compared.

    Raises:
        FileReadFailed: It is not of the format, encrypted, damaged, or past a limit.
    """
    is_flat = PurePath(source.name).suffix.lower() == KIND.flat_suffix
    with open_parts(source, KIND) as parts, open_objects(source, is_flat=is_flat) as objects:
        yield OdpReader(source.name, parts, objects, has_digests=has_digests)
