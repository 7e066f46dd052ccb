"""Pictures copied onto slides of another deck, with all that they are made of."""

from copy import deepcopy

from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_name
from kbd.opc.package import Relation
from kbd_pptx.assets.asset_refs import DeckPlace, PptxAssetRef, SourceDeck
from kbd_pptx.assets.target import DeckPartCopier, TargetDeck
from kbd_pptx.presentation import A, P, R
from kbd_pptx.reader.boxes import EMU_PER_INCH, Box
from kbd_pptx.styles.deck import Deck
from kbd_pptx.styles.inheritance import formatting_scope, resolve_theme
from kbd_pptx.styles.pictures import DeckPicture, picture_box, pixel_size

__all__ = ["ImageCopier"]

_SLIDE_TYPE = "application/vnd.openxmlformats-officedocument.presentationml.slide+xml"
_FIRST_SLIDE_ID = 256
"""The least id that a slide may have (ECMA-376 part 1, 19.7.13)."""

_EMU_PER_PIXEL = EMU_PER_INCH // 96
_CLICKS = (f"{A}hlinkClick", f"{A}hlinkHover", f"{A}hlinkMouseOver")
_SLIDE = (
    f'<p:sld xmlns:a="{A.strip("{}")}" xmlns:r="{R.strip("{}")}" xmlns:p="{P.strip("{}")}">'
    '<p:cSld><p:spTree><p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/>'
    "</p:nvGrpSpPr><p:grpSpPr/></p:spTree></p:cSld>"
    "<p:clrMapOvr><a:masterClrMapping/></p:clrMapOvr></p:sld>"
).encode()


class ImageCopier:
    """Copier of pictures onto slides.

    Args:
        source: The deck that has them.
        edit: The deck that gets them.
        copier: Copies parts.
    """

    def __init__(self, source: SourceDeck, edit: TargetDeck, copier: DeckPartCopier) -> None:
        self._source, self._edit, self._copier = source, edit, copier

    def copy(self, pick: PptxAssetRef) -> str:
        """Copy a picture and return what changed.

        Raises:
            ValidationFailed: There is no such picture or slide, or it cannot be copied.
        """
        picture = self._source.picture(pick.name)
        deck = self._edit.deck()
        index = self._index(deck, pick.target)
        if not deck.slides:
            self._add_slide(deck)
            deck = self._edit.deck()
        part = deck.slides[index]
        if not part:
            raise ValidationFailed(f"slide {index} of the target is missing in its file")
        root = self._edit.parse(part)
        tree = root.find(f"{P}cSld/{P}spTree")
        if tree is None:
            raise ValidationFailed(f"slide {index} of the target has no room for shapes")
        copied = self._copy_picture(picture, deck, part)
        ids = (each.get("id", "") for each in tree.iter(f"{P}cNvPr"))
        highest = max((int(id_) for id_ in ids if id_.isdecimal() and len(id_) < 10), default=1)
        for count, each in enumerate(copied.iter(f"{P}cNvPr"), 1):
            # No two shapes of a slide may have one id.
            each.set("id", str(highest + count))
        last = tree.find(f"{P}extLst")
        tree.insert(len(tree) if last is None else tree.index(last), copied)
        self._edit.put(part, root)
        return f"slide:{index}: {pick.asset_id}"

    def _index(self, deck: Deck, target: DeckPlace | None) -> int:
        """Return the slide that a picture goes to; the last one if nothing is said."""
        if target is None:
            return max(0, len(deck.slides) - 1)
        if target.kind != "slide" or target.name:
            raise ValidationFailed(f"a picture goes onto a slide, not to {target}; write slide:0")
        # A deck without slides gets one, so slide:0 can be named in any deck.
        most = max(1, len(deck.slides))
        if target.index >= most:
            raise ValidationFailed(
                f"the target has no slide {target.index}; there are: slide:0 to slide:{most - 1}"
            )
        return target.index

    def _copy_picture(self, picture: DeckPicture, deck: Deck, part: str) -> etree._Element:
        """Return a copy of a picture for a slide of the target, its parts copied too."""
        if picture.element.getparent() is None:
            raise ValidationFailed("it stands on nothing")
        copied = deepcopy(picture.element)
        copied.tail = None
        self._detach(copied)
        # Called "it" below, for the message around it names the picture.
        self._copier.begin_asset()
        try:
            self._relate(copied, picture, part)
        except ValidationFailed as error:
            raise ValidationFailed(
                f"the picture {picture.name} cannot be copied: {error.message}"
            ) from error
        layout = self._edit.related(part, "slideLayout")
        master = deck.master_of(layout)
        ours = formatting_scope(self._edit, master, layout if master else "", of="slide")
        resolve_theme(copied, self._source.host_scope(picture.host).palette, ours.palette)
        self._edit.convert_percentages(copied)
        self._set_position(copied, picture, deck)
        return copied

    def _detach(self, copied: etree._Element) -> None:
        """Detach a picture from its slide: remove its placeholder and custom data."""
        # An idx would mean a place of the target's layout; custom data is another part of its deck.
        for properties in copied.iterfind(f"./*/{P}nvPr"):
            for child in list(properties):
                if local_name(child) in ("ph", "custDataLst"):
                    properties.remove(child)

    def _relate(self, copied: etree._Element, picture: DeckPicture, part: str) -> None:
        relations = self._copier.relations(picture.host.part)
        for element in list(copied.iter(*_CLICKS)):
            if self._is_local_action(element, relations):
                self._edit.warnings.warn(
                    f"A click on {picture.name} did something in its own deck; it does not here."
                )
                parent = element.getparent()
                if parent is not None:
                    parent.remove(element)
        self._copier.relate_named([copied], relations, part)

    def _is_local_action(self, click: etree._Element, relations: dict[str, Relation]) -> bool:
        """Tell whether a click works in its own deck only: goes to a slide, runs a macro."""
        action = click.get("action", "")
        relation = relations.get(click.get(f"{R}id", ""))
        inside = relation is not None and not relation.external
        # Steps of a show (to the next slide, to the end) have an action alone and work in any deck.
        return inside or action.startswith(("ppaction://macro", "ppaction://customshow"))

    def _set_position(self, copied: etree._Element, picture: DeckPicture, deck: Deck) -> None:
        """Set a picture's position: its own if that is on the slide, else scaled into it."""
        source = self._source
        box = picture_box(source.parts, source.deck, picture)
        if box is None:
            box = _centered(deck, self._natural_size(picture))
        elif (source.deck.width, source.deck.height) != (deck.width, deck.height):
            box = _scaled_box(box, source.deck, deck)
        properties = copied.find(f"{P}spPr")
        if properties is None:
            properties = copied.makeelement(f"{P}spPr")
            fill = copied.find(f"{P}blipFill")
            copied.insert(len(copied) if fill is None else copied.index(fill) + 1, properties)
        frame = properties.find(f"{A}xfrm")
        if frame is None:
            frame = properties.makeelement(f"{A}xfrm")
            properties.insert(0, frame)
        # Its children only: rotation and flips are attributes, and stay.
        for child in list(frame):
            frame.remove(child)
        off = {"x": str(round(box.x)), "y": str(round(box.y))}
        ext = {"cx": str(max(0, round(box.width))), "cy": str(max(0, round(box.height)))}
        etree.SubElement(frame, f"{A}off", off)
        etree.SubElement(frame, f"{A}ext", ext)
        # As a placeholder the picture may have had its outline from the layout.
        if not any(local_name(each) in ("prstGeom", "custGeom") for each in properties):
            outline = properties.makeelement(f"{A}prstGeom", {"prst": "rect"})
            etree.SubElement(outline, f"{A}avLst")
            properties.insert(1, outline)

    def _natural_size(self, picture: DeckPicture) -> tuple[float, float]:
        """Return a picture's own size in EMU, at 96 pixels an inch."""
        pixels = pixel_size(self._source.parts.read(picture.media)) if picture.media else None
        # What cannot be measured gets four inches by three.
        width, height = pixels or (384, 288)
        return width * _EMU_PER_PIXEL, height * _EMU_PER_PIXEL

    def _add_slide(self, deck: Deck) -> None:
        """Add a slide without anything on it to a deck that has none."""
        layouts = deck.layouts
        chosen = next((each for each in layouts if each.type == "blank"), None)
        chosen = chosen or (layouts[-1] if layouts else None)
        if chosen is None:
            raise ValidationFailed("the target has no slide and no layout to make one of")
        rewriting = self._edit.rewriting
        part = rewriting.free_name("ppt/slides/slide{}.xml")
        rewriting.add(part, self._edit.to_variant(_SLIDE), _SLIDE_TYPE)
        rewriting.relate(part, "slideLayout", chosen.part)
        relation_id = rewriting.relate(self._edit.main, "slide", part)
        root = self._edit.parse(self._edit.main)
        slides = root.find(f"{P}sldIdLst")
        if slides is None:
            slides = root.makeelement(f"{P}sldIdLst")
            # The schema has the slides behind the lists of all masters (CT_Presentation).
            before = ("sldMasterIdLst", "notesMasterIdLst", "handoutMasterIdLst")
            root.insert(sum(1 for each in root if local_name(each) in before), slides)
        entry = etree.SubElement(slides, f"{P}sldId", {"id": str(_FIRST_SLIDE_ID)})
        entry.set(f"{R}id", relation_id)
        self._edit.put(self._edit.main, root)


def _centered(deck: Deck, size: tuple[float, float]) -> Box:
    """Return a centered box of a size, scaled down to fit the slide."""
    scale = min(1.0, deck.width / size[0], deck.height / size[1])
    width, height = size[0] * scale, size[1] * scale
    return Box((deck.width - width) / 2, (deck.height - height) / 2, width, height)


def _scaled_box(box: Box, source: Deck, target: Deck) -> Box:
    """Return a box scaled to a slide of another size, unchanged if it fits."""
    inside = box.x >= 0 and box.y >= 0
    if inside and box.x + box.width <= target.width and box.y + box.height <= target.height:
        return box
    across, down = target.width / source.width, target.height / source.height
    # One scale for both directions keeps proportions; the middle moves with the slide.
    scale = min(across, down)
    middle = (box.x + box.width / 2) * across, (box.y + box.height / 2) * down
    width, height = box.width * scale, box.height * scale
    return Box(middle[0] - width / 2, middle[1] - height / 2, width, height)
