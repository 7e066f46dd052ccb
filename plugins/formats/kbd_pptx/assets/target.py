"""Target deck of copied assets: its parts while they are changed, and the part copier."""

from typing import ClassVar

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.office.assets import PartCopier
from kbd.office.operations import EditWarnings
from kbd.opc import is_strict_part, strict, transitional
from kbd.opc.package import Package, Relation, reading_errors, xml_root
from kbd.opc.rewriter import Rewriting, xml_bytes
from kbd_pptx.edits.blank import blank_deck, new_package
from kbd_pptx.edits.formatting import write_strict_percentages, write_usual_percentages
from kbd_pptx.presentation import SUFFIXES, P
from kbd_pptx.styles.deck import Deck, DeckParts, read_deck

__all__ = ["DeckPartCopier", "TargetDeck", "new_deck"]


_FIRST_ID = 2147483648
"""The least id that a master or a layout may have (ECMA-376 part 1, 19.7.13)."""

_MAX_ID = 4294967295

_OFFICE_TYPES = ("application/vnd.openxmlformats-", "application/vnd.ms-")
"""How the types of parts begin that have the names of a variant; SVG and custom XML have none."""


class TargetDeck(DeckParts):
    """Target deck; what is read of it is what was written last.

    Args:
        rewriting: The deck's package.
        main: The part of its presentation.
        is_new: Whether it came from no file.

    Attributes:
        rewriting: The package.
        is_new: Whether it came from no file.
        warnings: What a reader must know of the change, and what the deck reaches out to now.
    """

    def __init__(self, rewriting: Rewriting, main: str, *, is_new: bool = False) -> None:
        super().__init__(rewriting, main)
        self.rewriting = rewriting
        self.is_new = is_new
        self.warnings = EditWarnings()

    def deck(self) -> Deck:
        """Read the deck's masters, layouts and slides as they are now."""
        return read_deck(self)

    def put(self, part: str, root: etree._Element) -> None:
        """Replace a part by a tree.

        Raises:
            ValidationFailed: The part mixes the two variants of the format.
        """
        was_strict = is_strict_part(self.rewriting.read(part), part, self.name)
        self.rewriting.put(part, strict(xml_bytes(root)) if was_strict else xml_bytes(root))
        self.invalidate(part)

    def to_variant(self, data: bytes) -> bytes:
        """Convert a part, or the type of a relation, to this deck's variant."""
        plain = transitional(data)
        return strict(plain) if self.rewriting.is_strict else plain

    def convert_percentages(self, root: etree._Element) -> None:
        """Convert percentages to this deck's variant: "75%" in a strict one, 75000 in others.

        ISO 29500-1, 22.9.2.9, against 29500-4, 20.1.10.40.
        """
        if self.rewriting.is_strict:
            write_strict_percentages(root)
        else:
            write_usual_percentages(root)

    def free_id(self) -> str:
        """Return an id for a master or a layout, which none of them has."""
        taken = set()
        lists = [(self.main, f"{P}sldMasterIdLst/{P}sldMasterId")]
        lists += [(each.part, f"{P}sldLayoutIdLst/{P}sldLayoutId") for each in self.deck().masters]
        for part, path in lists:
            for entry in self.root(part).iterfind(path):
                text = entry.get("id", "")
                if text.isascii() and text.isdigit() and len(text) < 11:
                    taken.add(int(text))
        highest = max(taken, default=_FIRST_ID - 1)
        # Masters and layouts share one range of ids.
        number = max(highest + 1, _FIRST_ID)
        if number > _MAX_ID:
            number = next(each for each in range(_FIRST_ID, _MAX_ID) if each not in taken)
        return str(number)


def new_deck(name: str) -> TargetDeck:
    """Return a new deck without slides.

    Args:
        name: Its file name, whose suffix says of which kind it is.

    Raises:
        ValidationFailed: It promises macros, or a template.
    """
    main_type = SUFFIXES.type_of_new(name)
    deck = blank_deck()
    main = str(deck.part.partname).lstrip("/")
    return TargetDeck(new_package(deck, name, main_type), main, is_new=True)


class DeckPartCopier(PartCopier):
    """Copies parts between decks.

    Args:
        source: Where they are.
        edit: Where they go.
    """

    kinds: ClassVar[frozenset[str]] = frozenset(
        (
            *("image", "hdphoto", "audio", "video", "media", "hyperlink", "tags", "theme"),
            *("themeOverride", "customXml", "customXmlProps", "chart", "chartStyle", "package"),
            *("chartColorStyle", "chartUserShapes", "diagramData", "diagramLayout"),
            *("diagramQuickStyle", "diagramColors", "diagramDrawing"),
        )
    )
    media_suffixes: ClassVar[frozenset[str]] = frozenset(
        (
            *("png", "jpg", "jpeg", "gif", "bmp", "tif", "tiff", "emf", "wmf", "svg", "wdp", "mp3"),
            *("mp4", "wav", "m4a", "m4v", "mov", "avi", "wmv", "wma"),
        )
    )
    relates_early = True

    def __init__(self, source: Package, edit: TargetDeck) -> None:
        super().__init__(source, edit.rewriting, edit.warnings)
        self._edit = edit

    def converted(self, data: bytes, content_type: str) -> bytes:
        """Return XML converted to the target's variant: namespaces and percentages."""
        # The type of VML ends in "vmlDrawing", but it is XML, too.
        is_office = content_type.startswith(_OFFICE_TYPES)
        is_xml = is_office and content_type.endswith(("xml", "vmlDrawing"))
        if not is_xml or self.source.is_strict == self.target.is_strict:
            return data
        with reading_errors(self.source.name):
            root = xml_root(transitional(data), self.source.name)
        self._edit.convert_percentages(root)
        return self._edit.to_variant(xml_bytes(root))

    def check(self, relation: Relation) -> None:
        """Refuse a relation that means nothing in another deck, or leads to nothing in its own."""
        super().check(relation)
        if not relation.external and relation.target not in self.source:
            raise ValidationFailed(f"{self.place} names {relation.target}, which is not there")
