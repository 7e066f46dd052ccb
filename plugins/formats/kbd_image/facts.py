"""Facts of a picture: what it is, how large, how deep, which way up; also as text.

Pictures made of markup (svg) are read as text, never drawn, and nothing in them is followed. The
name of a color profile is read from its bytes: nothing of it is applied (ICC.1:2010).
"""

import math
import re
from collections.abc import Iterator
from typing import Any

from lxml import etree
from PIL import Image

from kbd.errors import FileReadFailed, ValidationFailed
from kbd.formats import Passage, Reading, Region, Source
from kbd.opc.element_names import local_name, local_part
from kbd.plaintext import detect, open_text
from kbd_image.decoder import (
    MAX_FRAMES,
    MAX_PIXELS,
    MAX_TOTAL_PIXELS,
    gif_frames,
    is_truncated,
    is_vector,
    kind_of,
    open_picture,
    suffix_warnings,
    webp_size,
)

__all__ = [
    "count_frames",
    "metadata",
    "orientation_of",
    "passages",
    "profile_name",
    "read",
    "vector_facts",
]

MAX_ELEMENTS = 200_000
"""Elements that are looked at."""

MAX_NAMED = 5
"""References that a warning names."""

_PIXELS = {
    "": 1.0, "px": 1.0, "in": 96.0, "cm": 96 / 2.54, "mm": 9.6 / 2.54, "q": 2.4 / 2.54,
    "pt": 96 / 72, "pc": 16.0, "em": 16.0, "rem": 16.0, "ex": 8.0,
}  # fmt: skip
"""Pixels of a unit (CSS Values 4, section 6), letters of 16 pixels."""

_NUMBER = r"[+-]?(?:\d{1,15}\.?\d{0,15}|\.\d{1,15})(?:[eE][+-]?\d{1,3})?"
_LENGTH = re.compile(rf"\s*({_NUMBER})\s*([a-zA-Z%]*)\s*")
_OUTSIDE = re.compile(r"url\(\s*['\"]?\s*([a-z][a-z0-9+.-]*:|//)[^)'\"]{0,200}", re.IGNORECASE)


def vector_facts(source: Source) -> dict[str, Any]:
    """Return the facts: the size in pixels by width and height, else by the view box.

    Raises:
        FileReadFailed: It is no svg file.
    """
    facts: dict[str, Any] = {"format": "SVG", "size_bytes": source.path.stat().st_size}
    dangers: dict[str, None] = {}
    outside: dict[str, None] = {}
    warnings = list(suffix_warnings(source, "SVG"))
    try:
        for place, element in enumerate(_elements(source)):
            if place == 0:
                if local_name(element) != "svg":
                    raise FileReadFailed(f"{source.name} is markup, but no svg picture")
                facts |= _size(element)
            if place == MAX_ELEMENTS:
                warnings.append(f"Only its first {MAX_ELEMENTS:,} elements were looked at.")
                break
            _inspect(element, dangers, outside)
    except (etree.LxmlError, OSError, ValueError) as error:
        if "width" not in facts:
            raise FileReadFailed(f"{source.name} is damaged, or no svg picture") from error
        warnings.append("Its markup is damaged; only its beginning was looked at.")
    if facts.get("width") is None:
        warnings.append("It does not say how large it is.")
    if dangers:
        warnings.append(f"It holds {', '.join(dangers)}, of which nothing is run here.")
    if outside:
        named = ", ".join(list(outside)[:MAX_NAMED])
        more = ", …" if len(outside) > MAX_NAMED else ""
        warnings.append(f"It refers to what is outside of it, which is not fetched: {named}{more}.")
    return {**facts, "warnings": warnings} if warnings else facts


def _elements(source: Source) -> Iterator[etree._Element]:
    """Yield each element as it begins, and forget those that have ended."""
    with source.path.open("rb") as file:
        # Entities and external files are never loaded: a picture may come from anybody.
        parsed = etree.iterparse(
            file, events=("start", "end"), resolve_entities=False, no_network=True, load_dtd=False
        )
        for event, element in parsed:
            if event == "start":
                yield element
                continue
            element.clear(keep_tail=False)
            parent = element.getparent()
            while parent is not None and element.getprevious() is not None:
                del parent[0]


def _size(root: etree._Element) -> dict[str, Any]:
    box = [float(each) for each in re.findall(_NUMBER, root.get("viewBox", "")[:200])]
    box_width, box_height = (box[2], box[3]) if len(box) == 4 else (None, None)
    width = _pixels(root.get("width"), box_width)
    height = _pixels(root.get("height"), box_height)
    if width and height is None and box_width and box_height:
        height = width * box_height / box_width
    if height and width is None and box_width and box_height:
        width = height * box_width / box_height
    facts: dict[str, Any] = {
        "width": _rounded(box_width if width is None else width),
        "height": _rounded(box_height if height is None else height),
    }
    declared = {name: root.get(name, "")[:40] for name in ("width", "height") if root.get(name)}
    if declared:
        facts["declared"] = declared
    if len(box) == 4:
        facts["view_box"] = [_rounded(each) for each in box]
    return facts


def _pixels(length: str | None, whole: float | None) -> float | None:
    found = _LENGTH.fullmatch(length or "")
    if found is None:
        return None
    number, unit = float(found[1]), found[2].lower()
    if unit == "%":
        return None if whole is None else whole * number / 100
    return number * _PIXELS[unit] if unit in _PIXELS else None


def _rounded(number: float | None) -> float | int | None:
    if number is None or not abs(number) < 1e15:
        return None
    return int(number) if number == int(number) else round(number, 2)


def _inspect(element: etree._Element, dangers: dict[str, None], outside: dict[str, None]) -> None:
    """Note scripts that an element would run, and addresses that it would fetch."""
    if not isinstance(element.tag, str):
        return
    match local_name(element):
        case "script":
            dangers["scripts"] = None
        case "foreignObject" | "iframe" | "object" | "embed":
            dangers["other documents"] = None
    for name, value in element.attrib.items():
        attribute = local_part(str(name)).lower()
        text = str(value)
        if attribute.startswith("on"):
            dangers["scripts"] = None
        elif attribute in ("href", "src"):
            target = text.strip()
            if target[:11].lower() == "javascript:":
                dangers["scripts"] = None
            elif target and not target.startswith("#") and target[:5].lower() != "data:":
                outside[target[:200]] = None
        # Bounded, for an attribute may be as long as the file.
        elif (found := _OUTSIDE.search(text[:10_000])) and found[1].lower() != "data:":
            outside[found[0][4:].strip(" '\"")[:200]] = None


MAX_NAME_CHARACTERS = 100
_MAX_TAGS = 100
_TABLE = 128
"""Where the tag table of a profile begins, behind its header (ICC.1:2010, 7.2)."""


def profile_name(profile: object) -> str:
    """Return the description of a color profile, "" where it has none in a known form."""
    if not isinstance(profile, bytes):
        return ""
    count = int.from_bytes(profile[_TABLE : _TABLE + 4])
    for number in range(min(count, _MAX_TAGS)):
        start = _TABLE + 4 + 12 * number
        entry = profile[start : start + 12]
        if entry[:4] == b"desc":
            offset, size = int.from_bytes(entry[4:8]), int.from_bytes(entry[8:12])
            return _text(profile[offset : offset + min(size, 2000)])
    return ""


def _text(tag: bytes) -> str:
    # Version 2 has ASCII (textDescriptionType), version 4 UTF-16 in several languages.
    if tag[:4] == b"desc":
        size = int.from_bytes(tag[8:12])
        words = tag[12 : 12 + size].decode("ascii", "ignore")
    elif tag[:4] == b"mluc":
        size, offset = int.from_bytes(tag[20:24]), int.from_bytes(tag[24:28])
        words = tag[offset : offset + size].decode("utf-16-be", "ignore")
    else:
        return ""
    return "".join(filter(str.isprintable, words.strip("\0 ")))[:MAX_NAME_CHARACTERS]


MAX_CHARACTERS = 100
"""Of a field that a camera wrote."""

_BITS = {
    "1": 1, "L": 8, "P": 8, "LA": 16, "La": 16, "PA": 16, "RGB": 24, "YCbCr": 24, "HSV": 24,
    "LAB": 24, "RGBA": 32, "RGBa": 32, "RGBX": 32, "CMYK": 32, "I": 32, "F": 32, "I;16": 16,
    "I;16B": 16, "I;16L": 16,
}  # fmt: skip
"""How many bits a pixel has, by Pillow's mode."""

_ALPHA = ("LA", "La", "PA", "RGBA", "RGBa")
_ORIENTATION, _GPS = 0x0112, 0x8825
_EXIF_FIELDS = {0x010F: "camera_make", 0x0110: "camera_model", 0x0132: "written_at"}
_TRANSPOSED = (5, 6, 7, 8)
"""EXIF orientations that swap width and height."""


def metadata(source: Source) -> dict[str, Any]:
    """Return the facts of a picture, decoding nothing.

    `width` and `height` are as stored; where EXIF says that the picture is turned, `upright` is its
    size as people see it. Where it was taken is not told, only that the file says so (`has_gps`).

    Raises:
        FileReadFailed: It is no picture of an allowed kind.
    """
    if is_vector(source):
        return vector_facts(source)
    try:
        return _facts(source, tolerant=False)
    except FileReadFailed as error:
        try:
            facts = _facts(source, tolerant=True)
        except FileReadFailed:
            size = webp_size(source)
            if size is None:
                raise error from None
            # Pillow opens these whole or not at all.
            facts = {"format": "WEBP", "width": size[0], "height": size[1]}
            facts["size_bytes"] = source.path.stat().st_size
            if limits := _limit_warnings(*size, 1):
                return {**facts, "warnings": limits}
    return {**facts, "warnings": [_DAMAGED, *facts.get("warnings", ())]}


def orientation_of(picture: Image.Image) -> int:
    """Return the EXIF orientation, 1 to 8; 1 where there is none."""
    found = _exif(picture).get(_ORIENTATION, 1)
    return found if isinstance(found, int) and 1 <= found <= 8 else 1


def count_frames(source: Source, picture: Image.Image) -> int:
    """Count frames or pages, up to `MAX_FRAMES` + 1."""
    match kind_of(picture):
        case "GIF":
            return max(1, gif_frames(source.path, MAX_FRAMES + 1))
        case "TIFF":
            # A page is found by the one before it; nothing of it is unpacked for that.
            frames = 0
            try:
                while frames <= MAX_FRAMES:
                    picture.seek(frames)
                    frames += 1
            except EOFError:
                pass
            picture.seek(0)
            return frames
        case "JPEG":
            # Further pictures are previews, or the same in another light.
            return 1
        case _:
            return min(getattr(picture, "n_frames", 1), MAX_FRAMES + 1)


def _facts(source: Source, *, tolerant: bool) -> dict[str, Any]:
    with open_picture(source, tolerant=tolerant) as picture:
        kind, (width, height) = kind_of(picture), picture.size
        orientation = orientation_of(picture)
        if kind == "TIFF" and orientation in _TRANSPOSED:
            # Pillow tells the size that it will have once it is turned.
            width, height = height, width
        info = dict(picture.info)
        bits = _BITS.get(picture.mode, 0)
        facts: dict[str, Any] = {
            "format": kind,
            "width": width,
            "height": height,
            "mode": picture.mode,
            "bits": bits,
            "depth": f"{bits} bit",
            "has_alpha": picture.mode in _ALPHA or "transparency" in info,
            "size_bytes": source.path.stat().st_size,
        }
        facts |= _upright(orientation, width, height)
        facts |= _exif_texts(picture)
        if dpi := _dpi(info.get("dpi")):
            facts["dpi"] = dpi
        if name := profile_name(info.get("icc_profile")):
            facts["colour_profile"] = name
        frames = count_frames(source, picture)
        facts["frames"] = min(frames, MAX_FRAMES)
        facts["animated"] = kind != "TIFF" and frames > 1
        warnings = [*suffix_warnings(source, kind), *_limit_warnings(width, height, frames)]
        if is_truncated(source.path, kind):
            warnings.append(_TRUNCATED)
        if warnings:
            facts["warnings"] = warnings
        return facts


def _limit_warnings(width: int, height: int, frames: int) -> list[str]:
    found = []
    if width * height > MAX_PIXELS:
        found.append(f"It has more than {MAX_PIXELS:,} pixels: no preview of it is made.")
    elif width * height * min(frames, MAX_FRAMES) > MAX_TOTAL_PIXELS:
        found.append("Only its first frames can be shown: all together have too many pixels.")
    if frames > MAX_FRAMES:
        found.append(f"It has more than {MAX_FRAMES} frames; the first {MAX_FRAMES} are counted.")
    return found


def _exif(picture: Image.Image) -> Image.Exif:
    if kind_of(picture) == "PNG" and not {"exif", "Raw profile type exif"} & set(picture.info):
        # Pillow would decode all of it, to look for what may stand at its end.
        return Image.Exif()
    return picture.getexif()


def _upright(orientation: int, width: int, height: int) -> dict[str, Any]:
    if orientation == 1:
        return {}
    if orientation in _TRANSPOSED:
        width, height = height, width
    return {"orientation": orientation, "upright": {"width": width, "height": height}}


def _exif_texts(picture: Image.Image) -> dict[str, Any]:
    exif = _exif(picture)
    facts: dict[str, Any] = {}
    for tag, name in _EXIF_FIELDS.items():
        words = exif.get(tag)
        if name == "written_at" and isinstance(words, str):
            # EXIF writes 2024:01:31 12:30:05.
            words = words.replace(":", "-", 2)
        if isinstance(words, str) and (words := "".join(filter(str.isprintable, words)).strip()):
            facts[name] = words[:MAX_CHARACTERS]
    if _GPS in exif:
        facts["has_gps"] = True
    return facts


def _dpi(given: object) -> list[float] | None:
    if not isinstance(given, tuple) or len(given) != 2:
        return None
    try:
        found = [round(float(each), 1) for each in given]
    except (TypeError, ValueError, ArithmeticError):
        return None
    # Where there is no unit, Pillow tells one of these an inch.
    return found if all(math.isfinite(each) and each > 1 for each in found) else None


_DAMAGED = "The file is damaged: what could be read of it is told."
_TRUNCATED = "The end of the file is missing: part of the picture may be, too."


MAX_MARKUP_CHARACTERS = 200_000
"""Of the markup of an svg."""

_DATA = re.compile(r"(data:[^,\"'()\s]{0,100},)[^\"'()\s<>]{200,}")


def read(source: Source, region: Region) -> Reading:
    """Return the facts, a line each, and of an svg its markup without pictures inside of it.

    Raises:
        FileReadFailed: It is no picture of an allowed kind.
        ValidationFailed: Coordinates are given; a picture has none.
    """
    if region.named():
        msg = f"{source.name} is a picture; it is read whole, not by {region.named()[0]}"
        raise ValidationFailed(msg)
    facts = metadata(source)
    warnings = tuple(facts.pop("warnings", ()))
    text = "".join(f"{name}: {_plain(value)}\n" for name, value in facts.items())
    if facts["format"] != "SVG":
        return Reading(text, warnings=warnings)
    markup, notes = _markup(source)
    return Reading(f"{text}\n{markup}", warnings=(*warnings, *notes))


def passages(source: Source) -> Iterator[Passage]:
    """Yield what `read` returns; raises FileReadFailed."""
    yield Passage(read(source, Region()).text, "the picture", Region())


def _plain(value: Any) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case dict():
            return ", ".join(f"{name} {each}" for name, each in value.items())
        case list():
            return " x ".join(str(each) for each in value)
        case None:
            return "unknown"
        case _:
            return str(value)


def _markup(source: Source) -> tuple[str, tuple[str, ...]]:
    with open_text(source.path, detect(source.path)) as file:
        # Pictures inside are most of a large file, and are left out.
        text = file.read(8 * MAX_MARKUP_CHARACTERS)
    text = _DATA.sub(r"\1…", text)
    if len(text) <= MAX_MARKUP_CHARACTERS:
        return text, ()
    return text[:MAX_MARKUP_CHARACTERS], (
        f"Only the first {MAX_MARKUP_CHARACTERS:,} characters are shown.",
    )
