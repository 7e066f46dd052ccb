"""Answer of `get_styles`: the formatting of a deck in words, and what of it can be copied.

Text and fills are told in the words of operations: points, RRGGBB. It is for a model to read, so it
is bounded everywhere; `left_out` says what there is more of.
"""

from collections import Counter
from itertools import islice
from typing import Any

from lxml import etree

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Source
from kbd.formats.styled import Answer
from kbd.office.theme import SLOTS, parse_share
from kbd.opc.element_names import local_name
from kbd_pptx.presentation import A, P, open_presentation
from kbd_pptx.reader.boxes import EMU_PER_INCH, box_in_inches
from kbd_pptx.styles.deck import (
    Deck,
    DeckLayout,
    DeckParts,
    Master,
    PptxTheme,
    parse_flag,
    read_deck,
    shorten,
)
from kbd_pptx.styles.inheritance import (
    KINDS,
    LEVELS,
    FormattingScope,
    formatting_scope,
    has_own_formatting,
    inherited_box,
    merge_formats,
    placeholder_key,
    placeholders,
    run_defaults,
    shape_formats,
    shape_names,
    style_formats,
    style_label,
)
from kbd_pptx.styles.pictures import (
    DeckPicture,
    PictureHost,
    host_root,
    media_type,
    picture_hosts,
    pictures,
    pixel_size,
)

__all__ = ["describe_fill", "describe_level", "describe_run", "get_styles"]


_LIMITS = {
    "masters": 20,
    "layouts": 100,
    "text_styles": 60,
    "fonts": 60,
    "images": 100,
    "table_styles": 40,
    "assets": 300,
}
_MAX_PLACEHOLDERS = 20
"""Of one layout."""

_MAX_PLACES = 20
"""Where a picture stands, of those that are listed."""

_TEXT_ASSETS = 60
"""Texts of shapes that are listed as assets; others can be named as well."""


def get_styles(source: Source, sheet: str | None) -> dict[str, Any]:
    """Return a deck's styles, formatting and assets as plain values.

    Args:
        source: The deck.
        sheet: None; a deck has no sheets.

    Raises:
        FileReadFailed: The file cannot be read.
        ValidationFailed: A sheet is asked for.
    """
    if sheet is not None:
        raise ValidationFailed("a deck has no sheets; leave sheet out")
    with open_presentation(source) as (package, identity):
        parts = DeckParts(package, identity.part)
        return _Listing(parts, read_deck(parts)).build()


class _Listing:
    """Builder of the answer for one deck."""

    def __init__(self, parts: DeckParts, deck: Deck) -> None:
        self._parts, self._deck = parts, deck
        self._answer = Answer(_LIMITS)
        self._media: dict[str, dict[str, Any]] = {}
        self._fonts: Counter[str] = Counter()
        self._theme_fonts: set[str] = set()
        self._texts: list[tuple[str, dict[str, Any]]] = []

    def build(self) -> dict[str, Any]:
        """Build the answer."""
        for index, master in enumerate(self._deck.masters):
            self._add_master(index, master)
        for host in picture_hosts(self._parts, self._deck):
            try:
                self._add_host(host)
            except FileReadFailed as error:
                self._answer.note(f"{host.place}: {error.message}")
        for entry in self._media.values():
            self._answer.add("images", entry)
        for name, entry in self._texts:
            self._add_asset("text_style", name, **entry)
        for name, count in self._fonts.most_common():
            theme = {"of_theme": True} if name in self._theme_fonts else {}
            self._answer.add("fonts", {"name": name, "mentions": count, **theme})
        self._add_table_styles()
        size = {
            "width": round(self._deck.width / EMU_PER_INCH, 3),
            "height": round(self._deck.height / EMU_PER_INCH, 3),
        }
        return {"format": "pptx", "slide_size": size, **self._answer.plain()}

    def _add_asset(self, kind: str, name: str, **beside: Any) -> None:
        self._answer.add_asset(kind, name, name=name, **beside)

    def _add_master(self, index: int, master: Master) -> None:
        root = self._parts.root(master.part)
        scope = formatting_scope(self._parts, master, of="master")
        palette = scope.palette
        for font in ("+mj-lt", "+mn-lt"):
            if name := palette.font(font):
                self._theme_fonts.add(name)
                # Listed even where no text names it: most texts have it from the theme.
                self._fonts.setdefault(name, 0)
        if not self._answer.room("masters"):
            self._answer.leave_out("masters", 1)
            self._answer.leave_out("layouts", len(master.layouts))
            return
        entry = {
            "index": index,
            "name": master.name,
            "theme": _describe_theme(palette),
            "background": describe_fill(_background(root), palette),
            "layouts": len(master.layouts),
        }
        self._answer.add("masters", entry)
        several = len(self._deck.masters) > 1
        for layout in master.layouts:
            self._add_layout(index, master, layout)
        for kind in KINDS:
            levels = LEVELS if kind == "body" else 1
            formats = style_formats(scope, root, kind, levels)
            if formats is None:
                continue
            name = style_label(master, kind, several=several)
            description = [
                {"level": level + 1, **describe_level(level_format, palette)}
                for level, level_format in enumerate(formats)
            ]
            style = {"master": index, "kind": kind, "levels": description}
            self._answer.add("text_styles", style | {"asset_id": f"text_style:{name}"})
            self._add_asset("text_style", name, font_name=description[0]["font_name"])
        if master.theme:
            self._add_asset("theme", master.label)

    def _add_layout(self, index: int, master: Master, layout: DeckLayout) -> None:
        self._add_asset("layout", layout.label)
        if not self._answer.room("layouts"):
            self._answer.leave_out("layouts", 1)
            return
        root = self._parts.root(layout.part)
        scope = formatting_scope(self._parts, master, layout.part, of="layout")
        entry: dict[str, Any] = {
            "index": layout.index,
            "name": layout.name,
            "type": layout.type,
            "master": index,
        }
        own = _background(root)
        if own is not None:
            entry["background"] = describe_fill(own, scope.palette)
        found = list(placeholders(root))
        entry["placeholders"] = [
            _describe_placeholder(scope, shape) for shape, _ in found[:_MAX_PLACEHOLDERS]
        ]
        if len(found) > _MAX_PLACEHOLDERS:
            entry["more_placeholders"] = len(found) - _MAX_PLACEHOLDERS
        self._answer.add("layouts", entry | {"asset_id": f"layout:{layout.label}"})

    def _add_host(self, host: PictureHost) -> None:
        """Add the pictures and fonts of a slide, layout or master."""
        root = host_root(self._parts, host)
        for picture in pictures(self._parts, host, root):
            self._add_picture(host.place, picture)
        for element in root.iter(f"{A}latin", f"{A}ea", f"{A}cs", f"{A}sym"):
            name = shorten(element.get("typeface"))
            if name and not name.startswith("+m"):
                self._fonts[name] += 1
        if host.place.startswith("slide:") and len(self._texts) < _TEXT_ASSETS:
            self._note_texts(host, root)

    def _note_texts(self, host: PictureHost, root: etree._Element) -> None:
        """Add the shapes of a slide whose text has formatting of its own."""
        found = {name: each for name, each in shape_names(root).items() if has_own_formatting(each)}
        if not found:
            return
        master = self._deck.master_of(host.layout)
        scope = formatting_scope(self._parts, master, host.layout if master else "", of="slide")
        for name, shape in islice(found.items(), _TEXT_ASSETS - len(self._texts)):
            description = describe_run(shape_formats(scope, shape)[0], scope.palette)
            entry = {"font_name": description["font_name"], "font_size": description["font_size"]}
            self._texts.append((f"{host.place}/{name}", entry))

    def _add_picture(self, place: str, picture: DeckPicture) -> None:
        if not picture.media:
            what = f"linked to {shorten(picture.link)}" if picture.link else "without a picture"
            self._answer.note(f"images: {picture.name}, {what}")
            return
        key = picture.media.casefold()
        entry = self._media.get(key)
        if entry is None:
            data = self._parts.read(picture.media)
            entry = {
                "name": picture.media.rpartition("/")[2],
                "type": media_type(picture.media),
                "size_bytes": len(data),
                "places": [],
                "slides": [],
                "alt_text": picture.alt_text,
                "asset_id": f"image:{picture.name}",
            }
            pixels = pixel_size(data)
            if pixels is not None:
                entry["width_px"], entry["height_px"] = pixels
            self._media[key] = entry
            self._add_asset("image", picture.name, type=entry["type"])
        if len(entry["places"]) < _MAX_PLACES:
            entry["places"].append(picture.name)
        number = place.removeprefix("slide:")
        # Slides come in order, so only the last one listed can be this one.
        if number.isdigit() and int(number) not in entry["slides"][-1:]:
            entry["slides"].append(int(number))

    def _add_table_styles(self) -> None:
        part = self._parts.related(self._parts.main, "tableStyles")
        if not part:
            return
        try:
            root = self._parts.parse(part)
        except FileReadFailed as error:
            self._answer.note(f"table_styles: {error.message}")
            return
        default = root.get("def", "")
        for entry in root.iterfind(f"{A}tblStyle"):
            id_ = entry.get("styleId", "")
            description = {"name": shorten(entry.get("styleName")), "id": shorten(id_)}
            self._answer.add(
                "table_styles", description | ({"default": True} if id_ == default else {})
            )


def _describe_theme(palette: PptxTheme) -> dict[str, Any]:
    """Return a theme's name, fonts and colors."""
    return {
        "name": shorten(palette.theme.name),
        "fonts": {"headings": palette.font("+mj-lt"), "body": palette.font("+mn-lt")},
        "colors": {word: palette.theme.colors.get(slot, "") for slot, word in SLOTS.items()},
    }


def _background(root: etree._Element) -> etree._Element | None:
    """Return the background element of a master or layout, None if it has none of its own."""
    return root.find(f"{P}cSld/{P}bg/*")


def _describe_placeholder(scope: FormattingScope, shape: etree._Element) -> dict[str, Any]:
    """Describe a placeholder with the formatting of its first level."""
    place = placeholder_key(shape)
    chain = scope.chain(shape)
    box = inherited_box(chain)
    properties = shape.find(f"./*/{P}cNvPr")
    level_format = merge_formats(scope.level_sources(shape, 0))
    description = describe_level(level_format, scope.palette)
    found: dict[str, Any] = {
        "name": shorten(properties.get("name")) if properties is not None else "",
        "kind": place.kind if place is not None else "",
        "idx": place.index if place is not None else "",
        "bounds": box_in_inches(box) if box is not None else None,
    }
    wanted = ("font_name", "font_size", "bold", "font_color", "alignment")
    return found | {key: description[key] for key in wanted}


_ALIGNMENTS = {
    "l": "left", "ctr": "center", "r": "right", "just": "justify", "justLow": "justify",
    "dist": "distribute", "thaiDist": "distribute",
}  # fmt: skip
_DEFAULT_SIZE = 18.0
"""What letters measure that nothing gives a size (21.1.2.3.9)."""


def describe_run(level_format: etree._Element, palette: PptxTheme) -> dict[str, Any]:
    """Describe the font, size and color of a level format."""
    inner = run_defaults(level_format)
    latin = inner.find(f"{A}latin")
    found: dict[str, Any] = {
        "font_name": palette.font(shorten(latin.get("typeface"))) if latin is not None else "",
        "font_size": _points(inner.get("sz")) or _DEFAULT_SIZE,
        "bold": bool(parse_flag(inner.get("b"))),
        "italic": bool(parse_flag(inner.get("i"))),
    }
    if not found["font_name"]:
        found["font_name"] = palette.font("+mn-lt")
    if inner.get("u", "none") != "none":
        found["underline"] = True
    if inner.get("cap", "none") != "none":
        found["caps"] = shorten(inner.get("cap"))
    fill = inner.find(f"{A}solidFill")
    if fill is None:
        # A run of colors is told by its first; what has no fill has the theme's text color.
        fill = inner.find(f"{A}gradFill/{A}gsLst/{A}gs")
    if fill is None:
        fill = etree.Element(f"{A}solidFill")
        etree.SubElement(fill, f"{A}schemeClr", val="tx1")
    found["font_color"] = palette.rgb(fill)
    if slot := palette.slot(fill):
        found["theme_color"] = slot
    return found


def describe_level(level_format: etree._Element, palette: PptxTheme) -> dict[str, Any]:
    """Describe the paragraph formatting of a level, with its font."""
    found = describe_run(level_format, palette)
    found["alignment"] = _ALIGNMENTS.get(level_format.get("algn", "l"), "left")
    for key, name in (
        ("line_spacing", "lnSpc"),
        ("space_before", "spcBef"),
        ("space_after", "spcAft"),
    ):
        value = _spacing(level_format.find(f"{A}{name}"))
        if value is not None:
            found[key] = value
    bullet = _bullet(level_format)
    if bullet:
        found["bullet"] = bullet
    for key, name in (("indent_left", "marL"), ("indent_first_line", "indent")):
        text = level_format.get(name, "")
        if text.lstrip("-").isdigit() and len(text) < 10 and int(text):
            found[key] = round(int(text) / EMU_PER_INCH, 4)
    return found


def describe_fill(element: etree._Element | None, palette: PptxTheme) -> dict[str, Any]:
    """Describe the fill of a background (`p:bgPr` or `p:bgRef`): kind, and color if any.

    Of a picture the kind alone is told.
    """
    if element is None:
        return {}
    if local_name(element) == "bgRef":
        # It names one of the theme's fills by number, with the color to draw it in.
        rgb = palette.rgb(element)
        return {"kind": "theme", **({"color": rgb} if rgb else {})}
    for child in element:
        match local_name(child):
            case "solidFill":
                return {"kind": "color", "color": palette.rgb(child)}
            case "gradFill":
                stops = child.findall(f"{A}gsLst/{A}gs")[:10]
                return {"kind": "gradient", "colors": [palette.rgb(stop) for stop in stops]}
            case "blipFill":
                return {"kind": "picture"}
            case "pattFill":
                return {"kind": "pattern"}
            case _:
                continue
    return {"kind": "none"}


def _points(text: str | None) -> float:
    text = text or ""
    return int(text) / 100 if text.isascii() and text.isdigit() and len(text) < 7 else 0.0


def _spacing(element: etree._Element | None) -> float | str | None:
    """Return a spacing: points, or a share of the line as text ("90%")."""
    if element is None:
        return None
    points, share = element.find(f"{A}spcPts"), element.find(f"{A}spcPct")
    if points is not None:
        return _points(points.get("val"))
    return f"{parse_share(share.get('val')):.0%}" if share is not None else None


def _bullet(level_format: etree._Element) -> str:
    """Return a bullet's sign, or the kind of numbering; "" for none."""
    char, auto = level_format.find(f"{A}buChar"), level_format.find(f"{A}buAutoNum")
    if char is not None:
        return shorten(char.get("char"))
    if auto is not None:
        return shorten(auto.get("type"))
    return "picture" if level_format.find(f"{A}buBlip") is not None else ""
