"""The parts of a deck, parsed as they are asked for, within what a deck may hold."""

from collections.abc import Mapping

from lxml import etree

from kbd.errors import FileReadFailed
from kbd.opc import read_transitional
from kbd.opc.package import Package, Relation, reading_errors, xml_root
from kbd_pptx.reader.names import P

__all__ = ["SHAPE_TAGS", "ParsedParts"]

SHAPE_TAGS = tuple(
    f"{P}{name}" for name in ("sp", "pic", "graphicFrame", "grpSp", "cxnSp", "contentPart")
)
"""The shapes that there are (ECMA-376, part 1, 19.3.1.45)."""

MAX_PART_MARKS = 300_000
"""Angle brackets in one part. A parsed element takes some 100 bytes and up, so that a part of this
many stays within 60 MiB; the largest slide of the corpora has 5,000."""

MAX_DECK_MARKS = 2_000_000
"""The same of all parts that one call parses, for time: that many take some seconds. The largest
deck of the corpora has 48,000."""

MAX_SLIDE_SHAPES = 10_000
MAX_DECK_SHAPES = 100_000
"""Shapes on one slide, and of all slides that one call looks into: some seconds of work."""


class ParsedParts:
    """The parts of one package.

    Args:
        package: The package, open as long as parts are asked for.
    """

    def __init__(self, package: Package) -> None:
        self.package = package
        self._marks_left = MAX_DECK_MARKS
        self._shapes_left = MAX_DECK_SHAPES
        self._relations: dict[str, Mapping[str, Relation]] = {}

    def root(self, part: str) -> etree._Element:
        """Parse a part, with the usual names if it has the strict ones.

        Raises:
            FileReadFailed: There is no such part, it is damaged, or it is past a limit.
        """
        name = self.package.name
        data = read_transitional(self.package, part)
        marks = data.count(b"<")
        if marks > MAX_PART_MARKS:
            raise FileReadFailed(
                f"{name} is refused: a part of it has {marks // 2:,} elements or more; the limit "
                f"is {MAX_PART_MARKS // 2:,}."
            )
        self._marks_left -= marks
        if self._marks_left < 0:
            raise self._too_large()
        with reading_errors(name):
            return xml_root(data, name)

    def count_shapes(self, tree: etree._Element) -> None:
        """Count what may be shapes of a slide; raises FileReadFailed if they are too many."""
        shapes = sum(1 for _ in tree.iter(*SHAPE_TAGS))
        if shapes > MAX_SLIDE_SHAPES:
            raise FileReadFailed(
                f"{self.package.name} is refused: a slide has {shapes:,} shapes; the limit is "
                f"{MAX_SLIDE_SHAPES:,}."
            )
        self._shapes_left -= shapes
        if self._shapes_left < 0:
            raise self._too_large()

    def _too_large(self) -> FileReadFailed:
        name = self.package.name
        return FileReadFailed(
            f"{name} is too large to be read at once; read its slides one by one."
        )

    def relations(self, part: str) -> Mapping[str, Relation]:
        """Return a part's relations by id; raises FileReadFailed if they are damaged."""
        found = self._relations.get(part)
        if found is None:
            relations = self.package.relations(part)
            found = self._relations[part] = {relation.id: relation for relation in relations}
        return found

    def target(self, part: str, kind: str) -> str:
        """Return the first part that a part has a relation of a kind to, "" if there is none."""
        for relation in self.relations(part).values():
            if relation.kind == kind and self.has(relation):
                return relation.target
        return ""

    def has(self, relation: Relation | None) -> bool:
        """Tell whether a relation leads to a part that is there."""
        return relation is not None and not relation.external and relation.target in self.package
