"""Styles of text copied: from a master or a shape, to a master or a shape.

From master to master a style goes whole, bullets, indents and all. Where a shape is at one end only
what letters and lines look like goes: font, size, weight, colour, alignment and spacing.
"""

from collections.abc import Sequence
from copy import deepcopy

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd_pptx.assets.asset_refs import (
    DeckPlace,
    PptxAssetRef,
    SourceDeck,
    find_master,
    find_shape,
    parse_place,
)
from kbd_pptx.assets.target import DeckPartCopier, TargetDeck
from kbd_pptx.presentation import A, P
from kbd_pptx.styles.deck import Master, PptxTheme
from kbd_pptx.styles.inheritance import (
    KINDS,
    LETTER_ATTRIBUTES,
    LEVELS,
    fixed,
    letters,
    level_number,
    local,
    merged,
    pick_groups,
    placeholders,
    run_looks,
    scope,
    shape_looks,
    style_chain,
)
from kbd_pptx.styles.style_list import describe_fill

__all__ = ["TextCopier"]

_LETTER_CHILDREN = frozenset(
    (
        *("ln", "noFill", "solidFill", "gradFill", "blipFill", "pattFill", "grpFill", "effectLst"),
        *("effectDag", "highlight", "uLnTx", "uLn", "uFillTx", "uFill", "latin", "ea", "cs", "sym"),
    )
)
_SPACINGS = ("lnSpc", "spcBef", "spcAft")
_RUNS = (f"{A}r", f"{A}fld", f"{A}br")


class _Style(msgspec.Struct, frozen=True):
    """A style on its way: nine looks, and whence they come.

    Args:
        looks: By level.
        palette: The colours and fonts that they name.
        part: The part whose relations they name, "" where they must name none.
        kind: The kind of text of a master's style, "" of a shape's.
        spot: Where it stands.
        whole: Whether the looks tell of bullets and indents too.
    """

    looks: Sequence[etree._Element]
    palette: PptxTheme
    part: str
    kind: str
    spot: DeckPlace | None
    whole: bool


class TextCopier:
    """Copies styles of text.

    Args:
        source: The deck that has them.
        edit: The deck that gets them.
        copier: What carries the pictures of bullets.
    """

    def __init__(self, source: SourceDeck, edit: TargetDeck, copier: DeckPartCopier) -> None:
        self._source, self._edit, self._copier = source, edit, copier

    def copy(self, pick: PptxAssetRef) -> str:
        """Copy a style and return what changed; raises ValidationFailed."""
        spot = parse_place(pick.name)
        if spot is not None and spot.kind == "slide":
            style = self._of_shape(spot)
        else:
            style = self._of_master(pick.name, spot)
        target = pick.target or style.spot or DeckPlace("master", 0, style.kind)
        if target.kind == "slide":
            if not target.name:
                raise ValidationFailed(f"Which text on {target}? Name a shape: {target}/Title 1.")
            where = self._to_shape(style, target)
        else:
            where = self._to_master(style, target)
        return f"{where}: {pick.asset_id}"

    def _of_shape(self, spot: DeckPlace) -> _Style:
        if not spot.name:
            raise ValidationFailed(f"Which text on {spot}? Name a shape: {spot}/Title 1.")
        found = find_shape(self._source.parts, self._source.deck, spot, "source")
        looks = [run_looks(look) for look in shape_looks(found.around, found.shape)]
        return _Style(looks, found.around.palette, "", "", found.spot, whole=False)

    def _of_master(self, name: str, spot: DeckPlace | None) -> _Style:
        if spot is not None:
            master = find_master(self._source.deck, spot.index, "source")
            kind = spot.name
        else:
            master, kind = self._source.style(name)
        parts = self._source.parts
        around = scope(parts, master, of="master")
        if kind not in KINDS or around.style(kind) is None:
            raise ValidationFailed(
                f"Master {master.name} has no style {kind or 'without a kind'} of text; the kinds "
                f"are {', '.join(KINDS)}."
            )
        root = parts.root(master.part)
        looks = [merged(style_chain(around, root, kind, level)) for level in range(LEVELS)]
        return _Style(looks, around.palette, master.part, kind, None, whole=True)

    def _to_shape(self, style: _Style, target: DeckPlace) -> str:
        deck = self._edit.deck()
        found = find_shape(self._edit, deck, target, "target")
        looks = [run_looks(look) for look in style.looks]
        self._settle(looks, style, found.around.palette)
        body = found.shape.find(f"{P}txBody")
        if body is None:
            raise ValidationFailed(f"{target} has no text.")
        if not any(True for _ in body.iter(*_RUNS)):
            _list_looks(body, looks)
        for paragraph in body.iterfind(f"{A}p"):
            _dress(paragraph, looks)
        self._edit.put(found.part, found.root)
        self._warn_of_colour(looks[0], found.around.palette, found.root, found.master)
        return str(found.spot)

    def _to_master(self, style: _Style, target: DeckPlace) -> str:
        kind = target.name or style.kind
        if kind not in KINDS:
            raise ValidationFailed(
                f"Which text of {target} is meant? Write one of "
                f"{', '.join(f'master:{target.index}/{each}' for each in KINDS)}."
            )
        master = find_master(self._edit.deck(), target.index, "target")
        around = scope(self._edit, master, of="master")
        root = self._edit.fresh(master.part)
        looks = [deepcopy(look) for look in style.looks]
        self._settle(looks, style, around.palette)
        if style.whole:
            relations = self._copier.relations(style.part)
            self._copier.relate_named(looks, relations, master.part)
        else:
            looks = [
                merged([look, *style_chain(around, root, kind, level)])
                for level, look in enumerate(looks)
            ]
        _set_style(root, kind, looks)
        self._edit.put(master.part, root)
        self._warn_of_colour(looks[0], around.palette, root)
        self._warn_of_layouts(master, kind)
        return str(DeckPlace("master", target.index, kind))

    def _settle(self, looks: Sequence[etree._Element], style: _Style, palette: PptxTheme) -> None:
        """Have looks come out in the target as they do in the source."""
        for look in looks:
            fixed(look, style.palette, palette)
            self._edit.fit_numbers(look)
            inner = letters(look)
            if not style.whole and any(True for _ in inner.iter(f"{A}blip")):
                raise ValidationFailed("Letters filled with a picture cannot be copied.")

    def _warn_of_colour(
        self, look: etree._Element, palette: PptxTheme, *below: etree._Element | None
    ) -> None:
        """Tell of letters that have the colour of what they stand on.

        Args:
            look: How they look.
            palette: The target's.
            below: What has a background, the nearest first: slide, master.
        """
        colour = palette.rgb(letters(look).find(f"{A}solidFill"))
        found = (each.find(f"{P}cSld/{P}bg/*") for each in below if each is not None)
        ground = next((each for each in found if each is not None), None)
        if colour and colour == describe_fill(ground, palette).get("color"):
            self._edit.warnings.warn(
                f"The letters are {colour} now, as the background of the target is."
            )

    def _warn_of_layouts(self, master: Master, kind: str) -> None:
        """Name the layouts whose own styles still count before the master's."""
        own = []
        for layout in master.layouts:
            for shape, place in placeholders(self._edit.root(layout.part)):
                said = shape.find(f"{P}txBody/{A}lstStyle")
                if place.style == kind and said is not None and len(said):
                    own.append(layout.name)
                    break
        if own and kind != "other":
            shown = ", ".join(own[:10]) + (f" and {len(own) - 10} more" if len(own) > 10 else "")
            self._edit.warnings.warn(
                f"These layouts say something of {kind} text themselves, which still counts: "
                f"{shown}."
            )


def _set_style(root: etree._Element, kind: str, looks: Sequence[etree._Element]) -> None:
    """Replace a master's style, and take out what its own placeholder says instead."""
    styles = root.find(f"{P}txStyles")
    if styles is None:
        styles = root.makeelement(f"{P}txStyles")
        last = root.find(f"{P}extLst")
        root.insert(len(root) if last is None else root.index(last), styles)
    name = f"{P}{kind}Style"
    style = styles.find(name)
    if style is None:
        style = styles.makeelement(name)
        before = [f"{P}{each}Style" for each in KINDS[: KINDS.index(kind)]]
        styles.insert(sum(1 for each in styles if each.tag in before), style)
    for child in list(style):
        if local(child).startswith("lvl"):
            style.remove(child)
    first = 1 if style.find(f"{A}defPPr") is not None else 0
    for level, look in enumerate(looks):
        look.tag = f"{A}lvl{level + 1}pPr"
        style.insert(first + level, look)
    for shape, place in placeholders(root) if kind != "other" else ():
        if place.style == kind:
            said = shape.find(f"{P}txBody/{A}lstStyle")
            if said is not None:
                del said[:]


def _list_looks(body: etree._Element, looks: Sequence[etree._Element]) -> None:
    """Have text that is still to come in a shape look as it should."""
    listed = body.find(f"{A}lstStyle")
    if listed is None:
        listed = body.makeelement(f"{A}lstStyle")
        first = body.find(f"{A}bodyPr")
        body.insert(0 if first is None else body.index(first) + 1, listed)
    old = {local(child): child for child in listed}
    for level, look in enumerate(looks):
        name = f"lvl{level + 1}pPr"
        made = merged([look, old.get(name)])
        made.tag = f"{A}{name}"
        if name in old:
            listed.remove(old[name])
        place = sum(1 for child in listed if local(child) in ("defPPr", *_levels_to(level)))
        listed.insert(place, made)


def _levels_to(level: int) -> list[str]:
    return [f"lvl{each + 1}pPr" for each in range(level)]


def _dress(paragraph: etree._Element, looks: Sequence[etree._Element]) -> None:
    """Have a paragraph and its runs look as their level should."""
    properties = paragraph.find(f"{A}pPr")
    if properties is None:
        properties = paragraph.makeelement(f"{A}pPr")
        paragraph.insert(0, properties)
    look = looks[level_number(properties)]
    properties.set("algn", look.get("algn", "l"))
    for child in list(properties):
        if local(child) in _SPACINGS:
            properties.remove(child)
    for place, child in enumerate(each for each in look if local(each) in _SPACINGS):
        properties.insert(place, deepcopy(child))
    inner = letters(look)
    for run in paragraph:
        if run.tag in _RUNS:
            said = run.find(f"{A}rPr")
            if said is None:
                said = run.makeelement(f"{A}rPr")
                run.insert(0, said)
            _dress_letters(said, inner)
        elif run.tag == f"{A}endParaRPr":
            _dress_letters(run, inner)


def _dress_letters(said: etree._Element, inner: etree._Element) -> None:
    """Replace how letters look; their language, links and the like stay."""
    for key in LETTER_ATTRIBUTES:
        said.attrib.pop(key, "")
        if inner.get(key) is not None:
            said.set(key, inner.get(key, ""))
    kept = [child for child in said if local(child) not in _LETTER_CHILDREN]
    for child in list(said):
        said.remove(child)
    pick_groups(said, [inner])
    said.extend(kept)
