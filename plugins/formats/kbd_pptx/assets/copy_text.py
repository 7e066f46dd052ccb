"""Styles of text copied: from a master or a shape, to a master or a shape.

From master to master a style goes whole, bullets, indents and all. Where a shape is at one end only
the formatting of runs and lines goes: font, size, weight, color, alignment and spacing.
"""

from collections.abc import Sequence
from copy import deepcopy

import msgspec
from lxml import etree

from kbd.errors import ValidationFailed
from kbd.opc.element_names import local_name
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
    LEVELS,
    RUN_ATTRIBUTES,
    copy_nearest,
    formatting_scope,
    level_number,
    merge_formats,
    placeholders,
    portable_format,
    resolve_theme,
    run_defaults,
    shape_formats,
    style_sources,
)
from kbd_pptx.styles.style_list import describe_fill

__all__ = ["TextCopier"]

_RUN_CHILDREN = frozenset(
    (
        *("ln", "noFill", "solidFill", "gradFill", "blipFill", "pattFill", "grpFill", "effectLst"),
        *("effectDag", "highlight", "uLnTx", "uLn", "uFillTx", "uFill", "latin", "ea", "cs", "sym"),
    )
)
_SPACINGS = ("lnSpc", "spcBef", "spcAft")
_RUNS = (f"{A}r", f"{A}fld", f"{A}br")


class _Style(msgspec.Struct, frozen=True):
    """Text style being copied: nine level formats, and their source.

    Args:
        formats: By level.
        palette: The colors and fonts that they name.
        part: The part whose relations they name, "" where they must name none.
        kind: The kind of text of a master's style, "" of a shape's.
        place: Where it stands.
        is_whole: Whether the formats hold bullets and indents too.
    """

    formats: Sequence[etree._Element]
    palette: PptxTheme
    part: str
    kind: str
    place: DeckPlace | None
    is_whole: bool


class TextCopier:
    """Copier of text styles between masters and shapes.

    Args:
        source: The deck that has them.
        edit: The deck that gets them.
        copier: Copies the pictures of bullets.
    """

    def __init__(self, source: SourceDeck, edit: TargetDeck, copier: DeckPartCopier) -> None:
        self._source, self._edit, self._copier = source, edit, copier

    def copy(self, pick: PptxAssetRef) -> str:
        """Copy a style and return what changed; raises ValidationFailed."""
        source_place = parse_place(pick.name)
        if source_place is not None and source_place.kind == "slide":
            style = self._of_shape(source_place)
        else:
            style = self._of_master(pick.name, source_place)
        target = pick.target or style.place or DeckPlace("master", 0, style.kind)
        if target.kind == "slide":
            if not target.name:
                raise ValidationFailed(f"{target} names no text; name a shape: {target}/Title 1")
            where = self._to_shape(style, target)
        else:
            where = self._to_master(style, target)
        return f"{where}: {pick.asset_id}"

    def _of_shape(self, source_place: DeckPlace) -> _Style:
        if not source_place.name:
            raise ValidationFailed(
                f"{source_place} names no text; name a shape: {source_place}/Title 1"
            )
        found = find_shape(self._source.parts, self._source.deck, source_place, "source")
        formats = [
            portable_format(level_format)
            for level_format in shape_formats(found.scope, found.shape)
        ]
        return _Style(formats, found.scope.palette, "", "", found.place, is_whole=False)

    def _of_master(self, name: str, source_place: DeckPlace | None) -> _Style:
        if source_place is not None:
            master = find_master(self._source.deck, source_place.index, "source")
            kind = source_place.name
        else:
            master, kind = self._source.style(name)
        parts = self._source.parts
        scope = formatting_scope(parts, master, of="master")
        if kind not in KINDS or scope.style(kind) is None:
            raise ValidationFailed(
                f"master {master.name} has no style {kind or 'without a kind'} of text; the kinds "
                f"are {', '.join(KINDS)}"
            )
        root = parts.root(master.part)
        formats = [
            merge_formats(style_sources(scope, root, kind, level)) for level in range(LEVELS)
        ]
        return _Style(formats, scope.palette, master.part, kind, None, is_whole=True)

    def _to_shape(self, style: _Style, target: DeckPlace) -> str:
        deck = self._edit.deck()
        found = find_shape(self._edit, deck, target, "target")
        formats = [portable_format(level_format) for level_format in style.formats]
        self._adapt(formats, style, found.scope.palette)
        body = found.shape.find(f"{P}txBody")
        if body is None:
            raise ValidationFailed(f"{target} has no text")
        if not any(True for _ in body.iter(*_RUNS)):
            _write_list_style(body, formats)
        for paragraph in body.iterfind(f"{A}p"):
            _format_paragraph(paragraph, formats)
        self._edit.put(found.part, found.root)
        self._warn_of_color(formats[0], found.scope.palette, found.root, found.master)
        return str(found.place)

    def _to_master(self, style: _Style, target: DeckPlace) -> str:
        kind = target.name or style.kind
        if kind not in KINDS:
            raise ValidationFailed(
                f"{target} names no style of text; write one of "
                f"{', '.join(f'master:{target.index}/{each}' for each in KINDS)}"
            )
        master = find_master(self._edit.deck(), target.index, "target")
        scope = formatting_scope(self._edit, master, of="master")
        root = self._edit.parse(master.part)
        formats = [deepcopy(level_format) for level_format in style.formats]
        self._adapt(formats, style, scope.palette)
        if style.is_whole:
            relations = self._copier.relations(style.part)
            self._copier.relate_named(formats, relations, master.part)
        else:
            # A shape's style has no bullets and indents; those of the master stay.
            formats = [
                merge_formats([level_format, *style_sources(scope, root, kind, level)])
                for level, level_format in enumerate(formats)
            ]
        _set_style(root, kind, formats)
        self._edit.put(master.part, root)
        self._warn_of_color(formats[0], scope.palette, root)
        self._warn_of_layouts(master, kind)
        return str(DeckPlace("master", target.index, kind))

    def _adapt(self, formats: Sequence[etree._Element], style: _Style, palette: PptxTheme) -> None:
        """Adapt level formats to the target's theme and variant."""
        for level_format in formats:
            resolve_theme(level_format, style.palette, palette)
            self._edit.convert_percentages(level_format)
            inner = run_defaults(level_format)
            # The relations of a shape are not copied, so that the picture would be missing.
            if not style.is_whole and any(True for _ in inner.iter(f"{A}blip")):
                raise ValidationFailed("letters filled with a picture cannot be copied")

    def _warn_of_color(
        self, level_format: etree._Element, palette: PptxTheme, *below: etree._Element | None
    ) -> None:
        """Warn if text has the color of its background.

        Args:
            level_format: Their format.
            palette: The target's.
            below: What has a background, the nearest first: slide, master.
        """
        color = palette.rgb(run_defaults(level_format).find(f"{A}solidFill"))
        found = (each.find(f"{P}cSld/{P}bg/*") for each in below if each is not None)
        background = next((each for each in found if each is not None), None)
        if color and color == describe_fill(background, palette).get("color"):
            self._edit.warnings.warn(
                f"The letters are {color} now, as the background of the target is."
            )

    def _warn_of_layouts(self, master: Master, kind: str) -> None:
        """Warn of layouts whose own styles override the master's."""
        own = []
        for layout in master.layouts:
            for shape, place in placeholders(self._edit.root(layout.part)):
                existing = shape.find(f"{P}txBody/{A}lstStyle")
                if place.style == kind and existing is not None and len(existing):
                    own.append(layout.name)
                    break
        if own and kind != "other":
            shown = ", ".join(own[:10]) + (f" and {len(own) - 10} more" if len(own) > 10 else "")
            self._edit.warnings.warn(
                f"These layouts say something of {kind} text themselves, which still counts: "
                f"{shown}."
            )


def _set_style(root: etree._Element, kind: str, formats: Sequence[etree._Element]) -> None:
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
        if local_name(child).startswith("lvl"):
            style.remove(child)
    # The schema has `a:defPPr` before the levels (CT_TextListStyle).
    first = 1 if style.find(f"{A}defPPr") is not None else 0
    for level, level_format in enumerate(formats):
        level_format.tag = f"{A}lvl{level + 1}pPr"
        style.insert(first + level, level_format)
    # Date, footer and number count as "other"; their own styles stay.
    for shape, place in placeholders(root) if kind != "other" else ():
        if place.style == kind:
            existing = shape.find(f"{P}txBody/{A}lstStyle")
            if existing is not None:
                del existing[:]


def _write_list_style(body: etree._Element, formats: Sequence[etree._Element]) -> None:
    """Write level formats into a shape's list style, for text still to come."""
    listed = body.find(f"{A}lstStyle")
    if listed is None:
        listed = body.makeelement(f"{A}lstStyle")
        first = body.find(f"{A}bodyPr")
        body.insert(0 if first is None else body.index(first) + 1, listed)
    old = {local_name(child): child for child in listed}
    for level, level_format in enumerate(formats):
        name = f"lvl{level + 1}pPr"
        made = merge_formats([level_format, old.get(name)])
        made.tag = f"{A}{name}"
        if name in old:
            listed.remove(old[name])
        place = sum(1 for child in listed if local_name(child) in ("defPPr", *_levels_to(level)))
        listed.insert(place, made)


def _levels_to(level: int) -> list[str]:
    return [f"lvl{each + 1}pPr" for each in range(level)]


def _format_paragraph(paragraph: etree._Element, formats: Sequence[etree._Element]) -> None:
    """Format a paragraph and its runs by their level."""
    properties = paragraph.find(f"{A}pPr")
    if properties is None:
        properties = paragraph.makeelement(f"{A}pPr")
        paragraph.insert(0, properties)
    level_format = formats[level_number(properties)]
    properties.set("algn", level_format.get("algn", "l"))
    for child in list(properties):
        if local_name(child) in _SPACINGS:
            properties.remove(child)
    # In front of all other children, in the schema's order, which the format has already.
    for place, child in enumerate(each for each in level_format if local_name(each) in _SPACINGS):
        properties.insert(place, deepcopy(child))
    inner = run_defaults(level_format)
    for run in paragraph:
        if run.tag in _RUNS:
            existing = run.find(f"{A}rPr")
            if existing is None:
                existing = run.makeelement(f"{A}rPr")
                run.insert(0, existing)
            _format_run(existing, inner)
        elif run.tag == f"{A}endParaRPr":
            _format_run(run, inner)


def _format_run(existing: etree._Element, inner: etree._Element) -> None:
    """Replace the formatting of a run; its language, links and the like stay."""
    for key in RUN_ATTRIBUTES:
        existing.attrib.pop(key, "")
        if inner.get(key) is not None:
            existing.set(key, inner.get(key, ""))
    others = [child for child in existing if local_name(child) not in _RUN_CHILDREN]
    for child in list(existing):
        existing.remove(child)
    copy_nearest(existing, [inner])
    # Links and the like come behind what makes the looks (CT_TextCharacterProperties).
    existing.extend(others)
