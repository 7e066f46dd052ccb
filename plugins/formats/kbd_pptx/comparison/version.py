"""One version of a deck as a comparison needs it: digests of its parts, sketches of its slides.

A slide whose parts are the same bytes in both versions is never parsed. Of the others a sketch is
made first, by which slides find each other; a tree of them is held no longer than it is compared.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterator
from typing import NamedTuple

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc import Identity
from kbd.opc.package import Package, Relation
from kbd_pptx.comparison.markup import Fact, PartValue, Resolve, Value, digest, read_facts
from kbd_pptx.presentation import P14, P
from kbd_pptx.reader.deck import DeckReader
from kbd_pptx.reader.slide import Slide, read_slide
from kbd_pptx.reader.unseen import SlideLooks

__all__ = ["DeckVersion", "SlideSketch"]

MAX_WORDS = 2_000
"""Of a slide, by which similar ones are found."""

MAX_DEPTH = 12
"""Parts that lead to each other; a chart with its drawing and a picture in it are four."""

_BORDERS = frozenset(
    ("slide", "slideLayout", "slideMaster", "notesSlide", "notesMaster", "handoutMaster", "theme")
)
"""Kinds of relations at which a part ends: what is there is compared for itself."""

_BELONGS = _BORDERS | {
    "comments", "hyperlink", "image", "hdphoto", "media", "video", "audio", "chart", "chartEx",
    "oleObject", "package", "diagramData", "diagramLayout", "diagramQuickStyle", "diagramColors",
}  # fmt: skip
"""Kinds that show nothing where nothing names them: programs leave some behind."""

_XML = (".xml", ".vml")
_WORD = re.compile(r"\w+")


class SlideSketch(NamedTuple):
    """What identifies a slide.

    Args:
        digest: Of all that is on it.
        words: Its words and what is embedded in it, counted.
        creation_id: What PowerPoint named it for good, "" if it did not.
        layout: The name of its layout.
        shapes: The ids and names of its shapes.
    """

    digest: str
    words: Counter[str]
    creation_id: str
    layout: str
    shapes: frozenset[tuple[str, str]]


class DeckVersion:
    """A version of a deck, open as long as it is compared.

    Args:
        package: Its package.
        identity: What it is.

    Attributes:
        deck: Its reader.
        looks: The looks of its layouts.
        slide_names: What a link to a slide is called, by the slide's part; filled once slides of
            both versions are matched, so that links to the same slide are the same.
        layout_names: What a layout is called after, by its part; filled likewise, so that one with
            a new name is the same layout.
        compared: The parts that belong to slides, layouts and masters; it grows.
    """

    def __init__(self, package: Package, identity: Identity) -> None:
        self.deck = DeckReader(package, identity)
        self.looks = SlideLooks(self.deck)
        self.package = package
        self.type = identity.type
        self.slide_names: dict[str, str] = {}
        self.layout_names: dict[str, str] = {}
        self.compared: set[str] = {identity.part}
        self._bytes: dict[str, PartValue] = {}
        self._digests: dict[str, str] = {}
        self._targets: dict[str, dict[str, Value]] = {}
        self._depth = 0

    @property
    def count(self) -> int:
        """How many slides there are."""
        return len(self.deck.slides)

    def slide(self, index: int) -> Slide | None:
        """Return a slide; None, with a warning, if it cannot be read."""
        with self.deck.skip_unreadable(f"Slide {index + 1}"):
            return read_slide(self.deck, index)
        return None

    def layout_name(self, index: int) -> str:
        """Return the name of a slide's layout; raises FileReadFailed."""
        parts = self.deck.parts
        part = parts.target(self.deck.slides[index].part, "slideLayout")
        return self.layout_names.get(part) or self.deck.layout(part).name

    def part_bytes(self, part: str) -> PartValue:
        """Return what identifies the bytes of a part that is there."""
        found = self._bytes.get(part)
        if found is None:
            info = self.package.entry(part)
            try:
                sums = hashlib.sha256(self.package.read(part)).hexdigest()
            except FileReadFailed:
                # Nobody can tell what a damaged part was; what the directory says of it will do.
                sums = f"damaged {info.CRC:08x}"
            found = self._bytes[part] = PartValue("", sums, info.file_size)
        return found

    def resolve(self, part: str) -> Resolve:
        """Return what tells what a part's relations lead to."""
        relations = self.deck.parts.relations(part)

        def target(id_: str) -> Value:
            return self._target(relations.get(id_))

        return target

    def _target(self, relation: Relation | None) -> Value:
        if relation is None:
            return "nothing"
        if relation.external:
            return relation.target
        if relation.target in self.deck.numbers:
            return self.slide_names.get(relation.target, "a slide")
        if not self.deck.parts.has(relation):
            return "nothing"
        if relation.kind in _BORDERS:
            return relation.kind
        size = self.package.entry(relation.target).file_size
        return PartValue(relation.kind, self.part_digest(relation.target), size)

    def targets(self, part: str) -> dict[str, Value]:
        """Return what a part's relations lead to, by their ids."""
        if part not in self._targets:
            relations = self.deck.parts.relations(part)
            self._targets[part] = {id_: self._target(each) for id_, each in relations.items()}
        return self._targets[part]

    def part_digest(self, part: str) -> str:
        """Return what identifies a part with all that it leads to; that of XML by its contents."""
        found = self._digests.get(part)
        if found is None:
            self.compared.add(part)
            # Entered first: parts may lead to each other in a circle.
            self._digests[part] = self.part_bytes(part).digest
            found = self._digests[part] = self._read_digest(part)
        return found

    def _read_digest(self, part: str) -> str:
        if not part.lower().endswith(_XML) or self._depth > MAX_DEPTH:
            return self.part_bytes(part).digest
        self._depth += 1
        try:
            return digest(self.part_facts(part, self.deck.parts.root(part)))
        except FileReadFailed:
            # Older drawings are often no XML that a parser takes.
            return self.part_bytes(part).digest
        finally:
            self._depth -= 1

    def part_facts(
        self, part: str, root: etree._Element, skipped: Collection[etree._Element] = frozenset()
    ) -> Iterator[Fact]:
        """Yield the facts of a part, then what else it leads to.

        Args:
            part: Its name.
            root: Its root.
            skipped: Elements that are left out.
        """
        resolve, used = self.resolve(part), set[str]()

        def recorded(id_: str) -> Value:
            used.add(id_)
            return resolve(id_)

        yield from read_facts(root, recorded, skipped)
        for kind, value in self.unnamed(part, used):
            yield f"relation {kind}", value

    def unnamed(self, part: str, used: Collection[str]) -> list[tuple[str, Value]]:
        """Return what a part leads to without naming it: kinds and values, in a steady order."""
        relations = self.deck.parts.relations(part)
        found = [
            (relation.kind, self._target(relation))
            for id_, relation in relations.items()
            if id_ not in used and relation.kind not in _BELONGS
        ]
        return sorted(found, key=str)

    def bytes_key(self, index: int) -> str:
        """Return what identifies a slide, with its notes and comments, by bytes alone."""
        sums = hashlib.sha256()
        waiting, seen = [self.deck.slides[index].part], set[str]()
        while waiting:
            part = waiting.pop()
            if not part or part in seen:
                continue
            seen.add(part)
            self.compared.add(part)
            sums.update(f"{part} {self.part_bytes(part).digest}\n".encode("utf-8", "replace"))
            for relation in self.deck.parts.relations(part).values():
                line = f"{relation.id} {relation.kind} {relation.target}\n"
                sums.update(line.encode("utf-8", "replace"))
                is_inside = relation.kind not in _BORDERS or relation.kind == "notesSlide"
                if is_inside and self.deck.parts.has(relation):
                    waiting.append(relation.target)
        return sums.hexdigest()

    def slide_links(self, index: int) -> tuple[str, ...]:
        """Return what the links of a slide to other slides lead to."""
        part = self.deck.slides[index].part
        relations = self.deck.parts.relations(part).values() if part else ()
        numbers = self.deck.numbers
        return tuple(str(self._target(each)) for each in relations if each.target in numbers)

    def sketch(self, index: int) -> SlideSketch:
        """Return the sketch of a slide; of one that cannot be read, that of its bytes."""
        slide = self.slide(index)
        if slide is None:
            part = self.deck.slides[index].part
            return SlideSketch(
                self.part_bytes(part).digest if part else "", Counter(), "", "", frozenset()
            )
        words: Counter[str] = Counter()

        def gathered() -> Iterator[Fact]:
            for path, value in self.part_facts(slide.part, slide.root):
                if isinstance(value, PartValue):
                    words[value.digest] += 1
                elif path.endswith("t#") and len(words) < MAX_WORDS:
                    words.update(_WORD.findall(value)[:MAX_WORDS])
                yield path, value

        found = digest(gathered())
        id_ = slide.root.find(f"{P}cSld/{P}extLst/{P}ext/{P14}creationId")
        creation_id = "" if id_ is None else id_.get("val", "")
        shapes = frozenset((shape.id, shape.name) for shape in slide.shapes)
        return SlideSketch(found, words, creation_id, slide.layout.name, shapes)
